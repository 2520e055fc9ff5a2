"""What may go wrong with the embedded server, each told in one line with what to do and where the log is."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.errors import LocalServerError, StoreUnavailable
from graphmem.graph.embedded import down, ensure_running, status
from graphmem.graph.lock import NEO4J_VERSION
from graphmem.settings import Settings
from graphmem.testing import HashingEmbedder


def refused(settings: Settings) -> LocalServerError:
    with pytest.raises(LocalServerError) as caught:
        ensure_running(settings)
    assert "\n" not in f"{caught.value}{caught.value.remedy}"
    assert caught.value.remedy
    return caught.value


def until_gone(pid: int) -> None:
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def until_java_runs(pid: int) -> None:
    """Until the runtime has a thread of its own, and with that its handlers of signals."""

    def threads() -> Iterator[str]:
        for file in Path(f"/proc/{pid}/task").glob("*/comm"):
            with suppress(OSError):  # It has ended meanwhile.
                yield file.read_text().strip()

    deadline = time.monotonic() + 60
    while "VM Thread" not in threads():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_store_of_a_newer_neo4j_is_refused_before_anything_is_touched(tmp_path: Path) -> None:
    state = {"bolt_port": 4000, "http_port": 4001, "version": "2099.01.2"}
    (tmp_path / "server.json").write_text(json.dumps(state))
    error = refused(Settings(data_dir=tmp_path))
    assert f"belongs to Neo4j 2099.01.2; this graphmem brings {NEO4J_VERSION}" in str(error)
    assert "upgrade graphmem" in error.remedy
    assert json.loads((tmp_path / "server.json").read_text()) == state
    assert not (tmp_path / "data").exists()


def test_without_network_the_first_fetch_names_host_and_setting(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", cache_dir=tmp_path / "cache", maven_url="https://mirror.invalid/m2")
    error = refused(settings)
    assert "could not be fetched from mirror.invalid" in str(error)
    assert "GRAPHMEM_MAVEN_URL" in error.remedy
    assert not status(settings).starting


@pytest.mark.slow
def test_a_store_that_another_server_has_open_is_refused(throw_away: Settings, tmp_path: Path) -> None:
    """Such as that of a container: the lock of our own does not help there, Neo4j's does."""
    ensure_running(Settings(data_dir=throw_away.data_dir))
    (tmp_path / "data").symlink_to(throw_away.data_dir / "data")
    error = refused(Settings(data_dir=tmp_path))
    assert f"another process has the store in {tmp_path / 'data'} open" in str(error)
    assert str(tmp_path / "logs" / "server.log") in str(error)
    assert "GRAPHMEM_DATA_DIR" in error.remedy
    ended = status(Settings(data_dir=tmp_path)).ended
    assert ended is not None
    assert "FileLockException" in ended


@pytest.mark.faults
def test_a_crash_of_the_java_runtime_is_told_with_its_reason_and_report(throw_away: Settings) -> None:
    own = Settings(data_dir=throw_away.data_dir)
    ensure_running(own)
    embedder = HashingEmbedder(16)  # the size of all that use this server
    report = own.data_dir / "logs" / "jvm-crash.log"
    hasty = throw_away.model_copy(update={"retry_timeout": 0.5})
    with Memory.open(settings=hasty, embedder=embedder) as memory:
        memory.agent("crash").observe("The lamp is lit")
        pid = status(own).pid
        assert pid is not None
        os.kill(pid, signal.SIGSEGV)
        until_gone(pid)
        for bound in (4, 1):  # tried again for a while; and not a second time by the next call
            began = time.monotonic()
            with pytest.raises(StoreUnavailable, match="nothing listens at") as caught:
                memory.agent("crash").reflect(force=True)
            assert time.monotonic() - began < bound
            assert "graphmem up" in caught.value.remedy
    with pytest.raises(StoreUnavailable, match="nothing listens at"):
        Memory.open(settings=throw_away, embedder=embedder)
    found = status(own)
    assert not found.running
    assert found.ended is not None
    assert found.ended.startswith("the Java runtime crashed: SIGSEGV")
    assert str(report) in found.ended
    assert report.exists()
    # While it starts: the same reason, not waited out.
    errors: list[LocalServerError] = []
    starter = threading.Thread(target=lambda: errors.append(refused(own)))
    starter.start()
    while (starting := status(own).pid) is None or starting == pid:
        time.sleep(0.02)
    until_java_runs(starting)  # before, the process would end by the signal itself
    os.kill(starting, signal.SIGSEGV)
    starter.join(timeout=60)
    assert "Neo4j did not start: the Java runtime crashed: SIGSEGV" in str(errors[0])
    assert str(found.log) in str(errors[0])
    # The next start says why it is one, and nothing is lost.
    said: list[str] = []
    ensure_running(own, progress=lambda message, _fraction: said.append(message))
    assert said[0].startswith(f"starting Neo4j {NEO4J_VERSION} again: the Java runtime crashed")
    with Memory.open(settings=throw_away, embedder=embedder) as memory:
        assert [hit.memory.text for hit in memory.agent("crash").retrieve("lamp")] == ["The lamp is lit"]


FULL_DISK = """
import shutil, sys
from pathlib import Path
from graphmem import Memory
from graphmem.artifacts import fetch
from graphmem.errors import GraphmemError
from graphmem.graph import embedded
from graphmem.graph.lock import read_lock
from graphmem.settings import Settings
from graphmem.testing import HashingEmbedder

disk = Path(sys.argv[1])
settings = Settings(data_dir=disk / "data", heap="512m")

def tell(what, call):
    try:
        call()
    except GraphmemError as error:
        print(f"{what}: {type(error).__name__}: {error} | {error.remedy}", flush=True)
    else:
        print(f"{what}: done", flush=True)

tell("fetch", lambda: fetch(read_lock(), cache=disk / "cache", base_url=None))
connection = embedded.ensure_running(settings)
there = Settings(uri=connection.uri, password=connection.password)
with Memory.open(settings=there, embedder=HashingEmbedder(8)) as memory:
    kept = memory.agent("a").observe("The lamp is lit").id
    (disk / "ballast").write_bytes(bytes(shutil.disk_usage(disk).free - 3_000_000))

    def fill():
        for n in range(60):
            memory.agent("a").observe_many([f"{n} {i} " + "long " * 500 for i in range(100)])

    tell("fill", fill)
    tell("then", lambda: memory.agent("a").observe("One more"))
print("down:", embedded.down(settings), flush=True)
tell("start", lambda: embedded.ensure_running(settings))
(disk / "ballast").unlink()
tell("with space", lambda: embedded.ensure_running(settings))
with Memory.open(settings=there, embedder=HashingEmbedder(8)) as memory:
    print("kept:", memory.agent("a").get(kept).text, flush=True)
embedded.down(settings)
"""


@pytest.mark.faults
def test_a_full_disk_is_told_and_nothing_committed_is_lost(tmp_path: Path) -> None:
    """In a namespace of its own, where everybody may mount a small disk."""
    disk = tmp_path / "disk"
    disk.mkdir()
    prepare = f"mount -t tmpfs -o size=90m tmpfs '{disk}' && exec \"$@\""
    inside = ["unshare", "--map-root-user", "--mount", "sh", "-c", prepare, "sh"]
    if shutil.which("unshare") is None or subprocess.run([*inside, "true"], capture_output=True).returncode:
        pytest.skip("nobody may mount a small disk here")
    done = subprocess.run([*inside, sys.executable, "-c", FULL_DISK, str(disk)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert "MB are to be fetched" in told["fetch"]
    assert "GRAPHMEM_CACHE_DIR" in told["fetch"]
    for step in ("fill", "then"):
        assert "has stopped after a failure of its own" in told[step]
        assert "full disk" in told[step]
    assert told["down"] == "True"
    assert "left on the disk of" in told["start"]
    assert "free some space" in told["start"]
    assert (told["with space"], told["kept"]) == ("done", "The lamp is lit")


@pytest.mark.faults
def test_a_taken_port_and_the_upgrade_of_a_store_are_said(throw_away: Settings) -> None:
    """Last: the server of these tests gets another address; whoever asks for it finds it."""
    own = Settings(data_dir=throw_away.data_dir)
    before = ensure_running(own)
    down(own)
    file = own.data_dir / "server.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"version": "2026.08.1"}))
    said: list[str] = []
    port = int(before.uri.rsplit(":", 1)[1])
    with socket.create_server(("127.0.0.1", port)):
        ensure_running(own, progress=lambda message, _fraction: said.append(message))
    assert f"since another program has {port}" in said[0]
    assert "which upgrades the store of 2026.08.1" in said[0]
    assert json.loads(file.read_text())["version"] == NEO4J_VERSION
    down(own)
    file.write_text(json.dumps(json.loads(file.read_text()) | {"bolt_port": port}))
    assert ensure_running(own).uri == before.uri
