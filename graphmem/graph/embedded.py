"""The embedded server: a real Neo4j on this machine, started when needed, without Docker or an installed Java.

There is one server process per data directory. It is shared by every process that uses the directory, outlives
them, and runs until :func:`down`. In the data directory::

    server.lock     held by the server for its lifetime, and by whoever is about to start it
    server.json     the ports it listens on (kept for the next start), its process id, whether it is ready
    password        generated at the first start, readable by its owner only
    neo4j.conf      Neo4j's configuration, written anew at each start
    logs/           server.log: the process; debug.log and others: Neo4j's own
    data/           the store
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr, ValidationError

from graphmem.artifacts import fetch
from graphmem.errors import LocalServerError
from graphmem.graph import java
from graphmem.graph.lock import NEO4J_VERSION, read_lock
from graphmem.settings import Settings, child_environment

Report = Callable[[str, float | None], None]
"""Called with a message and the fraction that is done, or None where that is not known."""

HOST = "127.0.0.1"
USER = "neo4j"
STOP_TIMEOUT = 10.0
"""Seconds that a server may take to shut down before it is killed; it takes about one."""
_POLL = 0.05
_LOG_LIMIT = 5_000_000


@dataclass(frozen=True)
class Connection:
    """How to reach the server; ``repr`` hides the password.

    Attributes:
        uri: Bolt address.
        user: User name.
        password: Password.
        browser_url: Address of Neo4j Browser, with the database's address filled in.
    """

    uri: str
    user: str
    password: SecretStr
    browser_url: str | None


@dataclass(frozen=True)
class ServerStatus:
    """What is known of a data directory's server.

    Attributes:
        running: Whether it answers.
        starting: Whether a process is starting it.
        pid: Its process id while it runs or starts.
        uri: Bolt address; None when no server was ever started here.
        browser_url: Address of Neo4j Browser; None when no server was ever started here.
        data_dir: The data directory.
        log: The log of the server process; Neo4j's own logs are beside it.
        version: Neo4j's version.
    """

    running: bool
    starting: bool
    pid: int | None
    uri: str | None
    browser_url: str | None
    data_dir: Path
    log: Path
    version: str


class _State(BaseModel):
    """What ``server.json`` holds."""

    bolt_port: int
    http_port: int
    version: str = NEO4J_VERSION
    pid: int | None = None
    ready: bool = False

    @property
    def uri(self) -> str:
        return f"bolt://{HOST}:{self.bolt_port}"

    @property
    def browser_url(self) -> str:
        return f"http://{HOST}:{self.http_port}/browser/?dbms=bolt://{USER}@{HOST}:{self.bolt_port}"


@dataclass(frozen=True)
class _Folder:
    """The data directory's files."""

    path: Path

    @property
    def lock(self) -> Path:
        return self.path / "server.lock"

    @property
    def state(self) -> Path:
        return self.path / "server.json"

    @property
    def password(self) -> Path:
        return self.path / "password"

    @property
    def config(self) -> Path:
        return self.path / "neo4j.conf"

    @property
    def log(self) -> Path:
        return self.path / "logs" / "server.log"

    def read_state(self) -> _State | None:
        try:
            return _State.model_validate_json(self.state.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None  # never started, or damaged: then new ports are chosen

    def write_state(self, state: _State) -> None:
        part = self.state.with_suffix(".new")
        part.write_text(state.model_dump_json(), "utf-8")
        part.replace(self.state)


def ensure_running(settings: Settings, *, progress: Report | None = None) -> Connection:
    """Find this data directory's server, or start it, and wait until it answers.

    Safe to call from several threads and processes at once: one starts the server, the others wait for it. What is
    missing on this machine (the jars of Neo4j, once, 190 MB) is fetched first.

    Args:
        settings: ``data_dir``, ``cache_dir``, ``maven_url``, ``heap``, ``start_timeout`` and ``java_home`` count.
        progress: Called with what is being done and, while fetching, the fraction done.

    Returns:
        How to connect.

    Raises:
        LocalServerError: When the server cannot be fetched or started; names the log.
        MissingExtra: When the extra ``local`` is not installed.
    """
    report = progress or _silent
    folder = _Folder(settings.data_dir.expanduser().absolute())
    with _failures(folder):
        return _find_or_start(settings, folder, report)


def status(settings: Settings) -> ServerStatus:
    """Tell whether the data directory's server runs, without starting it or changing anything.

    Raises:
        LocalServerError: When the data directory cannot be read.
    """
    folder = _Folder(settings.data_dir.expanduser().absolute())
    with _failures(folder):
        alive = _alive(folder)
        state = folder.read_state()
        running = alive and state is not None and state.ready and _answers(state.bolt_port)
        return ServerStatus(
            running=running,
            starting=alive and not running,
            pid=state.pid if state and alive else None,
            uri=state.uri if state else None,
            browser_url=state.browser_url if state else None,
            data_dir=folder.path,
            log=folder.log,
            version=state.version if state else NEO4J_VERSION,
        )


def down(settings: Settings) -> bool:
    """Stop the data directory's server; what was committed is kept, however it ends.

    Returns:
        Whether one was running.

    Raises:
        LocalServerError: When it cannot be stopped.
    """
    folder = _Folder(settings.data_dir.expanduser().absolute())
    with _failures(folder):
        if not _alive(folder):
            return False
        deadline = time.monotonic() + STOP_TIMEOUT
        sent: int | None = None
        while time.monotonic() < deadline:
            state = folder.read_state()
            if sent is None and state and state.pid:
                sent = _send(state.pid, signal.SIGTERM)
            time.sleep(_POLL)
            if not _alive(folder):
                return True
        # Neo4j writes ahead: a killed server recovers at its next start and has lost nothing committed.
        if sent is not None:
            _send(sent, signal.SIGKILL)
            if _dies(folder, STOP_TIMEOUT):
                return True
        raise LocalServerError(
            f"the server of {folder.path} could not be stopped within {2 * STOP_TIMEOUT:.0f} s"
            if sent is not None
            else f"another process is starting the server of {folder.path}",
            remedy=f"try again; its log is {folder.log}",
        )


def _find_or_start(settings: Settings, folder: _Folder, report: Report) -> Connection:
    _check_platform()
    _make_private(folder)
    launched: _Launched | None = None
    deadline: float | None = None
    try:
        while True:
            lock = _take_lock(folder)
            if lock is not None:
                # Nobody runs or starts a server; if we launched one, it is dead.
                try:
                    if launched is not None and not _lost_its_port(launched):
                        raise _died(folder, launched)
                    launched = _launch(settings, folder, lock, report)
                finally:
                    os.close(lock)
                deadline = time.monotonic() + settings.start_timeout
            state = folder.read_state()
            if state and state.ready and _answers(state.bolt_port):
                return _connection(folder, state)
            # Before its server process exists another starter may be fetching, which has its own bounds.
            if deadline is None and state and state.pid:
                deadline = time.monotonic() + settings.start_timeout
            if deadline is not None and time.monotonic() > deadline:
                raise _too_slow(settings, folder)
            if launched is None:
                report("waiting for Neo4j, which another process is starting", None)
            else:
                report(f"starting Neo4j {NEO4J_VERSION}", None)
            time.sleep(_POLL)
    except KeyboardInterrupt:
        if launched is not None:
            _abandon(folder)
        raise


@dataclass(frozen=True)
class _Launched:
    """A server process that this process launched: its ports and where its part of the log begins."""

    state: _State
    log_offset: int
    attempt: int


def _launch(settings: Settings, folder: _Folder, lock: int, report: Report, attempt: int = 1) -> _Launched:
    """Start a server process, to which the lock passes."""
    state = _choose_ports(folder.read_state())
    # Also says that no server is there, should the last one have died without saying so.
    folder.write_state(state)
    jvm, options = java.virtual_machine(settings.java_home)
    jars = fetch(
        read_lock(),
        cache=settings.cache_dir.expanduser().absolute(),
        base_url=settings.maven_url,
        progress=lambda done, total: report(f"fetching Neo4j {NEO4J_VERSION}", done / total),
    )
    _make_password(folder)
    folder.config.write_text(_neo4j_config(state), "utf-8")
    _rotate(folder.log)
    launch: dict[str, Any] = {
        "lock_fd": lock,
        "state_file": str(folder.state),
        "state": state.model_dump(),
        "password_file": str(folder.password),
        "home": str(folder.path),
        "config_file": str(folder.config),
        "jvm": str(jvm),
        "jvm_options": [f"-Xmx{settings.heap}", *options, f"-XX:ErrorFile={folder.log.parent}/jvm-crash.log"],
        "class_path": [str(jar) for jar in jars.values()],
    }
    script = Path(__file__).with_name("server_process.py")
    with folder.log.open("ab") as log:
        offset = log.tell()
        # -P: the script's own directory, which holds our modules, does not go on the module path.
        subprocess.run(  # noqa: S603 - our own script, no shell
            [sys.executable, "-P", str(script), str(folder.path)],
            input=json.dumps(launch).encode(),
            stdout=log,
            stderr=log,
            cwd=folder.path,
            env=child_environment(),
            pass_fds=(lock,),
            start_new_session=True,
            check=False,  # should it fail, the lock is free again, and its log tells why
        )
    return _Launched(state, offset, attempt)


def _neo4j_config(state: _State) -> str:
    """Neo4j's configuration file. Its directories are the defaults, below its home, the data directory."""
    bolt, http = f"{HOST}:{state.bolt_port}", f"{HOST}:{state.http_port}"
    values = {
        "dbms.security.auth_enabled": "true",
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": bolt,
        "server.bolt.advertised_address": bolt,
        "server.http.enabled": "true",
        "server.http.listen_address": http,
        "server.http.advertised_address": http,
        # The default lets any web page that is open on this machine talk to the server.
        "dbms.security.http_access_control_allow_origin": f"http://{http}",
        # Nothing leaves this machine: no usage report, no telemetry of the Browser, no discovery broadcast.
        "dbms.usage_report.enabled": "false",
        "client.allow_telemetry": "false",
        "dbms.fleet_manager.enabled": "false",
        "server.fleet_discovery.enabled": "false",
        # The query log would keep the text of every memory, a second time and after it was forgotten.
        "db.logs.query.enabled": "OFF",
        "server.memory.pagecache.size": "512m",  # a bound: pages are allocated as they are used
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.size": "64m",
        "db.tx_log.rotation.retention_policy": "1 files",
        # Stopping takes ten seconds with the defaults, which are those of a server with many clients.
        "internal.server.bolt.thread_pool_shutdown_wait_time": "200ms",
        "db.shutdown_transaction_end_timeout": "500ms",
    }
    return "".join(f"{name}={value}\n" for name, value in values.items())


def _connection(folder: _Folder, state: _State) -> Connection:
    password = folder.password.read_text("ascii")
    return Connection(uri=state.uri, user=USER, password=SecretStr(password), browser_url=state.browser_url)


def _check_platform() -> None:
    if sys.platform == "win32":
        raise LocalServerError(
            "the embedded server runs on Linux and macOS only",
            remedy="run Neo4j with Docker (docker compose up -d) and set GRAPHMEM_URI and GRAPHMEM_PASSWORD",
        )


def _make_private(folder: _Folder) -> None:
    if not folder.path.exists():
        folder.path.parent.mkdir(parents=True, exist_ok=True)
        folder.path.mkdir(mode=0o700, exist_ok=True)
    folder.log.parent.mkdir(mode=0o700, exist_ok=True)
    # What was there before may be open to others; a directory of someone else's is refused by the system.
    folder.path.chmod(0o700)


def _make_password(folder: _Folder) -> None:
    try:
        descriptor = os.open(folder.password, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(24))


def _take_lock(folder: _Folder) -> int | None:
    """Take the lock exclusively: an open file descriptor, or None when a server or a starter holds it."""
    import fcntl

    descriptor = os.open(folder.lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _alive(folder: _Folder) -> bool:
    """Whether a server or a starter holds the lock.

    Looking takes the lock, shared, for a moment: a starter that comes just then finds it taken and tries again.
    """
    _check_platform()
    import fcntl

    try:
        descriptor = os.open(folder.lock, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _dies(folder: _Folder, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while _alive(folder):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL)
    return True


def _send(pid: int, number: signal.Signals) -> int:
    with suppress(ProcessLookupError):  # it ended by itself just now, and its lock with it
        os.kill(pid, number)
    return pid


def _abandon(folder: _Folder) -> None:
    """End the server that this process was starting when it was interrupted."""
    deadline = time.monotonic() + 1.0
    while _alive(folder) and time.monotonic() < deadline:
        state = folder.read_state()
        if state and state.pid:
            _send(state.pid, signal.SIGKILL)
        time.sleep(_POLL)


def _choose_ports(remembered: _State | None) -> _State:
    """The remembered ports if no other program has taken one meanwhile, else new ones."""
    if remembered and _free(remembered.bolt_port) and _free(remembered.http_port):
        return _State(bolt_port=remembered.bolt_port, http_port=remembered.http_port)
    with socket.socket() as bolt, socket.socket() as http:
        bolt.bind((HOST, 0))
        http.bind((HOST, 0))
        return _State(bolt_port=bolt.getsockname()[1], http_port=http.getsockname()[1])


def _free(port: int) -> bool:
    with socket.socket() as probe:
        # As Neo4j does: connections of the last server that linger in TIME_WAIT do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _lost_its_port(launched: _Launched) -> bool:
    """Whether another program took a port between our choosing it and Neo4j's opening it."""
    state = launched.state
    return launched.attempt < 3 and not (_free(state.bolt_port) and _free(state.http_port))


def _answers(port: int) -> bool:
    """Whether something that speaks Bolt answers there."""
    try:
        with socket.create_connection((HOST, port), timeout=1.0) as connection:
            # Magic number, then four versions that the client can speak: 5.8 down to 5.0, none, none, none.
            connection.sendall(bytes.fromhex("6060b017 00080805 00000000 00000000 00000000"))
            return connection.recv(4)[-1:] == b"\x05"
    except OSError:
        return False


def _rotate(log: Path) -> None:
    if log.exists() and log.stat().st_size > _LOG_LIMIT:
        log.replace(log.with_suffix(".log.1"))


def _last_lines(log: Path, offset: int) -> str:
    """What the server process said last, in one line, or an empty string."""
    try:
        with log.open("rb") as file:
            file.seek(offset)
            lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines()]
    except FileNotFoundError:
        return ""
    told = [line for line in lines if line and not line.startswith("WARNING:")]
    return told[-1].removeprefix("graphmem: ") if told else ""


def _died(folder: _Folder, launched: _Launched) -> LocalServerError:
    last = _last_lines(folder.log, launched.log_offset) or "its process ended without a word"
    return LocalServerError(
        f"Neo4j did not start: {last.removeprefix('Neo4j did not start: ')} (log: {folder.log})",
        remedy=f"read {folder.log} and debug.log beside it; a heap too large is set with GRAPHMEM_HEAP",
    )


def _too_slow(settings: Settings, folder: _Folder) -> LocalServerError:
    last = _last_lines(folder.log, 0)
    return LocalServerError(
        f"Neo4j did not answer within {settings.start_timeout:g} s (log: {folder.log}; last line: {last!r})",
        remedy="it goes on starting: try again, with a larger GRAPHMEM_START_TIMEOUT, or stop it: graphmem down",
    )


@contextmanager
def _failures(folder: _Folder) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise LocalServerError(
            f"the data directory {folder.path} cannot be used: {error.strerror or error}",
            remedy="set GRAPHMEM_DATA_DIR to a directory of your own, on a disk with free space",
        ) from error


def _silent(_message: str, _fraction: float | None) -> None:
    """Report to nobody."""
