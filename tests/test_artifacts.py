"""Fetching pinned files, against a real HTTP server on the loopback interface."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from graphmem.artifacts import ATTEMPTS, Artifact, fetch
from graphmem.errors import LocalServerError


class Repository(ThreadingHTTPServer):
    """A Maven repository; for a path it serves content, first going through the faults listed for it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.faults: dict[str, list[int | str]] = {}
        self.requests: list[str] = []
        self.guard = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/maven2"

    def add(self, name: str, content: bytes) -> Artifact:
        artifact = Artifact(f"org.example.jars:{name}:1.0", hashlib.sha256(content).hexdigest(), len(content))
        self.files[f"/maven2/org/example/jars/{name}/1.0/{name}-1.0.jar"] = content
        return artifact

    def fail(self, name: str, *faults: int | str) -> None:
        """Answer with these first: a status, "short" (fewer bytes than announced) or "stall"."""
        self.faults[f"/maven2/org/example/jars/{name}/1.0/{name}-1.0.jar"] = list(faults)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is part of these tests."""


class Handler(BaseHTTPRequestHandler):
    server: Repository

    def do_GET(self) -> None:
        with self.server.guard:
            self.server.requests.append(self.path)
            faults = self.server.faults.get(self.path)
            fault = faults.pop(0) if faults else None
        content = self.server.files.get(self.path)
        if content is None or isinstance(fault, int):
            self.send_error(fault if isinstance(fault, int) else 404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if fault == "short":
            self.wfile.write(content[: len(content) // 2])
            return
        if fault == "stall":
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
            time.sleep(20)
            return
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the test's output."""


@pytest.fixture
def repository() -> Iterator[Repository]:
    with Repository() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def jars(repository: Repository, count: int, size: int = 50_000) -> list[Artifact]:
    return [repository.add(f"jar{i}", os.urandom(size + i)) for i in range(count)]


def parts(cache: Path) -> list[Path]:
    return list((cache / "maven" / ".part").iterdir())


def test_fetches_all_in_the_order_given_and_lays_them_out_as_maven_does(repository: Repository, tmp_path: Path) -> None:
    artifacts = jars(repository, 40)
    files = fetch(artifacts, cache=tmp_path, base_url=repository.url)
    assert list(files) == [artifact.coordinate for artifact in artifacts]
    for artifact in artifacts:
        assert hashlib.sha256(files[artifact.coordinate].read_bytes()).hexdigest() == artifact.sha256
    assert files["org.example.jars:jar3:1.0"] == tmp_path / "maven/org/example/jars/jar3/1.0/jar3-1.0.jar"
    assert parts(tmp_path) == []


def test_progress_ends_at_the_total_and_never_goes_back(repository: Repository, tmp_path: Path) -> None:
    artifacts = jars(repository, 5)
    seen: list[tuple[int, int]] = []
    fetch(artifacts, cache=tmp_path, base_url=repository.url, progress=lambda done, total: seen.append((done, total)))
    total = sum(artifact.size for artifact in artifacts)
    assert seen[-1] == (total, total)
    assert seen == sorted(seen)
    seen.clear()
    fetch(artifacts, cache=tmp_path, base_url=repository.url, progress=lambda done, total: seen.append((done, total)))
    assert seen == [], "nothing is fetched, so there is nothing to report"


def test_what_is_cached_needs_no_network(repository: Repository, tmp_path: Path) -> None:
    artifacts = jars(repository, 3)
    first = fetch(artifacts, cache=tmp_path, base_url=repository.url)
    repository.requests.clear()
    assert fetch(artifacts, cache=tmp_path, base_url="http://127.0.0.1:1/nowhere") == first
    assert repository.requests == []


def test_a_base_address_may_end_in_a_slash(repository: Repository, tmp_path: Path) -> None:
    fetch(jars(repository, 1), cache=tmp_path, base_url=repository.url + "/")


@pytest.mark.parametrize("damage", ["same size", "shorter", "longer", "empty"])
def test_a_damaged_file_is_fetched_again(repository: Repository, tmp_path: Path, damage: str) -> None:
    artifacts = jars(repository, 3)
    files = fetch(artifacts, cache=tmp_path, base_url=repository.url)
    victim = files[artifacts[1].coordinate]
    good = victim.read_bytes()
    damaged = {"same size": b"\0" * len(good), "shorter": good[:1000], "longer": good + b"x", "empty": b""}
    victim.write_bytes(damaged[damage])
    repository.requests.clear()
    fetch(artifacts, cache=tmp_path, base_url=repository.url)
    assert victim.read_bytes() == good
    assert len(repository.requests) == 1, "only the damaged one"


def test_a_whole_file_that_was_only_touched_is_kept(repository: Repository, tmp_path: Path) -> None:
    artifacts = jars(repository, 1)
    files = fetch(artifacts, cache=tmp_path, base_url=repository.url)
    files[artifacts[0].coordinate].touch()
    repository.requests.clear()
    fetch(artifacts, cache=tmp_path, base_url=repository.url)
    assert repository.requests == []


def test_another_pin_for_the_same_coordinate_is_another_file(repository: Repository, tmp_path: Path) -> None:
    old = repository.add("jar", b"a" * 1000)
    fetch([old], cache=tmp_path, base_url=repository.url)
    new = repository.add("jar", b"b" * 1000)
    files = fetch([new], cache=tmp_path, base_url=repository.url)
    assert files[new.coordinate].read_bytes() == b"b" * 1000


def test_a_wrong_checksum_is_refused_by_name_and_leaves_nothing(repository: Repository, tmp_path: Path) -> None:
    good = repository.add("good", b"g" * 5000)
    bad = repository.add("bad", b"what was pinned")
    repository.add("bad", b"what is served!")
    with pytest.raises(LocalServerError, match=r"org\.example\.jars:bad:1\.0.*deleted") as caught:
        fetch([good, bad], cache=tmp_path, base_url=repository.url)
    assert bad.sha256 in str(caught.value)
    assert "GRAPHMEM_MAVEN_URL" in caught.value.remedy
    assert not (tmp_path / "maven" / bad.path).exists()
    assert parts(tmp_path) == []


@pytest.mark.parametrize("served", [b"x" * 999, b"x" * 1001, b""])
def test_another_length_than_the_pinned_one_is_refused(repository: Repository, tmp_path: Path, served: bytes) -> None:
    artifact = repository.add("jar", b"x" * 1000)
    repository.add("jar", served)
    with pytest.raises(LocalServerError, match="1000"):
        fetch([artifact], cache=tmp_path, base_url=repository.url)
    assert not (tmp_path / "maven" / artifact.path).exists()


def test_a_download_cut_short_is_tried_again(repository: Repository, tmp_path: Path) -> None:
    artifact = repository.add("jar", os.urandom(100_000))
    repository.fail("jar", "short")
    seen: list[int] = []
    fetch([artifact], cache=tmp_path, base_url=repository.url, progress=lambda done, _: seen.append(done))
    assert len(repository.requests) == 2
    assert seen[-1] == artifact.size, "the half that was thrown away is not counted"


def test_a_download_always_cut_short_fails_and_leaves_nothing(repository: Repository, tmp_path: Path) -> None:
    artifact = repository.add("jar", os.urandom(100_000))
    repository.fail("jar", *["short"] * ATTEMPTS)
    with pytest.raises(LocalServerError, match=r"org\.example\.jars:jar:1\.0"):
        fetch([artifact], cache=tmp_path, base_url=repository.url)
    assert len(repository.requests) == ATTEMPTS
    assert parts(tmp_path) == []


def test_an_overloaded_host_is_asked_again(repository: Repository, tmp_path: Path) -> None:
    artifact = repository.add("jar", b"content")
    repository.fail("jar", 503, 429)
    fetch([artifact], cache=tmp_path, base_url=repository.url)
    assert len(repository.requests) == 3


def test_a_missing_file_is_not_asked_for_again(repository: Repository, tmp_path: Path) -> None:
    absent = Artifact("org.example.jars:absent:1.0", "0" * 64, 10)
    with pytest.raises(LocalServerError, match=r"127\.0\.0\.1 answered 404 for http.*absent-1\.0\.jar") as caught:
        fetch([absent], cache=tmp_path, base_url=repository.url)
    assert len(repository.requests) == 1
    assert "GRAPHMEM_MAVEN_URL" in caught.value.remedy


def test_no_network_names_the_host_and_the_mirror_setting(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/maven2"
        with pytest.raises(LocalServerError, match=r"could not be fetched from 127\.0\.0\.1") as caught:
            fetch([Artifact("a:b:1", "0" * 64, 10)], cache=tmp_path, base_url=url)
    assert "127.0.0.1" in caught.value.remedy
    assert "GRAPHMEM_MAVEN_URL" in caught.value.remedy


@pytest.mark.parametrize("address", ["nonsense", "ftp://127.0.0.1/maven2", "http://[::1"])
def test_an_address_that_is_none_is_refused_as_a_setting(tmp_path: Path, address: str) -> None:
    with pytest.raises(LocalServerError, match="is not the address") as caught:
        fetch([Artifact("a:b:1", "0" * 64, 10)], cache=tmp_path, base_url=address)
    assert "GRAPHMEM_MAVEN_URL" in caught.value.remedy


def test_one_failure_ends_the_other_downloads(repository: Repository, tmp_path: Path) -> None:
    artifacts = [*jars(repository, 30), Artifact("org.example.jars:absent:1.0", "0" * 64, 9_999_999)]
    for i in range(30):
        repository.fail(f"jar{i}", "short", "short", "short")
    began = time.monotonic()
    with pytest.raises(LocalServerError, match="absent"):
        fetch(artifacts, cache=tmp_path, base_url=repository.url)
    assert time.monotonic() - began < 5
    assert parts(tmp_path) == []


def test_a_cache_that_cannot_be_written_is_told_as_such(repository: Repository, tmp_path: Path) -> None:
    blocked = tmp_path / "cache"
    blocked.write_text("a file where the directory should be")
    with pytest.raises(LocalServerError, match="cannot keep fetched files") as caught:
        fetch(jars(repository, 1), cache=blocked, base_url=repository.url)
    assert "GRAPHMEM_CACHE_DIR" in caught.value.remedy


FETCH = """
import sys
from pathlib import Path
from graphmem.artifacts import Artifact, fetch
cache, url, *rest = sys.argv[1:]
artifacts = [Artifact(*row.split(",")[:2], int(row.split(",")[2])) for row in rest]
print(len(fetch(artifacts, cache=Path(cache), base_url=url)))
"""


def fetching(cache: Path, url: str, artifacts: list[Artifact]) -> subprocess.Popen[str]:
    rows = [f"{artifact.coordinate},{artifact.sha256},{artifact.size}" for artifact in artifacts]
    return subprocess.Popen(
        [sys.executable, "-c", FETCH, str(cache), url, *rows],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_processes_that_fetch_the_same_at_once_all_get_whole_files(repository: Repository, tmp_path: Path) -> None:
    artifacts = jars(repository, 20, size=300_000)
    running = [fetching(tmp_path, repository.url, artifacts) for _ in range(3)]
    for process in running:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out.strip()) == (0, "20"), err
    for artifact in artifacts:
        content = (tmp_path / "maven" / artifact.path).read_bytes()
        assert hashlib.sha256(content).hexdigest() == artifact.sha256
    assert parts(tmp_path) == []


def test_threads_that_fetch_the_same_at_once_all_get_whole_files(repository: Repository, tmp_path: Path) -> None:
    artifacts = jars(repository, 20)
    results: list[dict[str, Path]] = []

    def run() -> None:
        results.append(fetch(artifacts, cache=tmp_path, base_url=repository.url))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(result == results[0] for result in results)


def test_a_killed_fetch_leaves_no_half_file_under_a_final_name(repository: Repository, tmp_path: Path) -> None:
    artifact = repository.add("jar", os.urandom(200_000))
    repository.fail("jar", "stall")
    process = fetching(tmp_path, repository.url, [artifact])
    deadline = time.monotonic() + 30
    while not ((tmp_path / "maven" / ".part").exists() and parts(tmp_path)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "maven" / artifact.path).exists()
    left = parts(tmp_path)
    assert len(left) == 1
    fetch([artifact], cache=tmp_path, base_url=repository.url)
    assert parts(tmp_path) == left, "a young one may be another process's"
    two_hours_ago = time.time() - 7200
    os.utime(left[0], (two_hours_ago, two_hours_ago))
    fetch(jars(repository, 1), cache=tmp_path, base_url=repository.url)
    assert parts(tmp_path) == []
