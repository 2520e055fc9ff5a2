"""The embedded server: a real Neo4j on this machine, started when needed, without Docker or an installed Java.

There is one server process per data directory. It is shared by every process that uses the directory, outlives
them, and runs until :func:`down`.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from graphmem.artifacts import fetch
from graphmem.errors import LocalServerError
from graphmem.graph import java
from graphmem.graph.data_dir import (
    CRASH_REPORT,
    HOST,
    USER,
    DataDir,
    ServerState,
    choose_ports,
    is_free,
    is_newer,
    speaks_bolt,
)
from graphmem.graph.lock import NEO4J_VERSION, read_lock
from graphmem.settings import Settings, child_environment

Report = Callable[[str, float | None], None]
"""Called with a message and the fraction that is done, or None where that is not known."""

STOP_TIMEOUT = 10.0
"""Seconds that a server may take to shut down before it is killed; it takes about one."""
SPACE = 32_000_000
"""Bytes that must be free on the disk of the data directory for a start; an empty store takes 2 MB."""
_POLL = 0.05
_LAUNCHES = 3


@dataclass(frozen=True)
class Connection:
    """How to reach the server; ``repr`` hides the password.

    Attributes:
        uri: Bolt address.
        user: User name.
        password: Password.
        browser_url: Address of Neo4j Browser, with database and user filled in.
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
        starting: Whether it is being started, by whatever process.
        pid: Its process id while it runs or starts.
        ended: How the last server ended, in a line, where it was neither stopped nor runs; else None.
        uri: Bolt address; None when no server was ever started here.
        browser_url: Address of Neo4j Browser; None when no server was ever started here.
        data_dir: The data directory.
        log: The log of the server process; Neo4j's own logs are beside it.
        password_file: Where the generated password is kept; there once a server was started here.
        version: Neo4j's version.
    """

    running: bool
    starting: bool
    pid: int | None
    ended: str | None
    uri: str | None
    browser_url: str | None
    data_dir: Path
    log: Path
    password_file: Path
    version: str


def ensure_running(
    settings: Settings, *, progress: Report | None = None, stop: threading.Event | None = None
) -> Connection:
    """Find this data directory's server, or start it, and wait until it answers.

    Safe to call from several threads and processes at once: one starts the server, the others wait for it. What
    is missing on this machine (the jars of Neo4j, once, 190 MB) is fetched first.

    Args:
        settings: ``data_dir``, ``cache_dir``, ``maven_url``, ``heap``, ``start_timeout`` and ``java_home`` count.
        progress: Called with what is being done and, while fetching, the fraction done; only when it changes.
        stop: Gives up when set, as Ctrl-C does: a server that was being started for this call ends.

    Returns:
        How to connect.

    Raises:
        LocalServerError: When the server cannot be fetched or started; names the log. Or when it was given up.
        MissingExtra: When the extra ``local`` is not installed.
    """
    with _opened(settings) as folder:
        folder.create()
        return _find_or_start(settings, folder, _Reporter(progress, stop))


def status(settings: Settings) -> ServerStatus:
    """Tell whether the data directory's server runs, without starting it or changing anything.

    Raises:
        LocalServerError: When the data directory cannot be read.
    """
    with _opened(settings) as folder:
        alive = folder.in_use()
        state = folder.read_state()
        running = alive and state is not None and state.ready and speaks_bolt(state.bolt_port)
        return ServerStatus(
            running=running,
            starting=alive and not running,
            pid=state.pid if state and alive else None,
            ended=None if alive else folder.ended(state),
            uri=state.uri if state else None,
            browser_url=state.browser_url if state else None,
            data_dir=folder.path,
            log=folder.log,
            password_file=folder.password,
            version=state.version if state else NEO4J_VERSION,
        )


def find(settings: Settings) -> Connection | None:
    """The data directory's server where one runs; nothing is started or changed.

    Raises:
        LocalServerError: When the data directory cannot be read.
    """
    with _opened(settings) as folder:
        return _answering(folder) if folder.in_use() else None


def _answering(folder: DataDir) -> Connection | None:
    state = folder.read_state()
    if state and state.ready and speaks_bolt(state.bolt_port):
        return Connection(state.uri, USER, SecretStr(folder.read_password()), state.browser_url)
    return None


def down(settings: Settings) -> bool:
    """Stop the data directory's server, also one that is still starting. What was committed is kept in any case.

    Returns:
        Whether one was running.

    Raises:
        LocalServerError: When it cannot be stopped.
    """
    with _opened(settings) as folder:
        if not folder.in_use():
            return False
        asked = _signal_until_gone(folder, signal.SIGTERM)
        # Neo4j writes ahead: a killed server recovers at its next start and has lost nothing committed.
        if asked is not None and _signal_until_gone(folder, signal.SIGKILL) is not None:
            raise LocalServerError(
                f"the server of {folder.path}, process {asked}, does not end (log: {folder.log})",
                remedy=f"end process {asked} yourself, with the rights of its owner",
            )
        return True


def _find_or_start(settings: Settings, folder: DataDir, report: _Reporter) -> Connection:
    launched: _Launched | None = None
    deadline: float | None = None
    try:
        while True:
            lock = folder.take_lock()
            if lock is not None:
                # So nobody runs or starts a server; if we launched one, it is dead.
                try:
                    if launched is not None and not launched.lost_its_port():
                        raise _died(folder, settings, launched)
                    launched = _launch(settings, folder, lock, report, launched.number + 1 if launched else 1)
                finally:
                    os.close(lock)
                deadline = time.monotonic() + settings.start_timeout
            if found := _answering(folder):
                return found
            if launched is None:
                report("waiting for Neo4j, which another process is starting")
                # Before its server process exists that one may be fetching, which has bounds of its own.
                if deadline is None and (state := folder.read_state()) and state.pid:
                    deadline = time.monotonic() + settings.start_timeout
            if deadline is not None and time.monotonic() > deadline:
                raise _too_slow(settings, folder, launched)
            report.check()
            time.sleep(_POLL)
    except (KeyboardInterrupt, _GivenUp):
        if launched is not None:
            _signal_until_gone(folder, signal.SIGKILL)
            if (lock := folder.take_lock()) is not None:
                folder.write_state(launched.state)  # in which there is no process: it did not end by itself
                os.close(lock)
        raise


@dataclass(frozen=True)
class _Launched:
    """A server process that this process launched.

    Attributes:
        state: Its ports.
        number: How many launches this is.
    """

    state: ServerState
    number: int

    def lost_its_port(self) -> bool:
        """Whether another program may have taken a port after we chose it and before Neo4j opened it."""
        taken = not (is_free(self.state.bolt_port) and is_free(self.state.http_port))
        return taken and self.number < _LAUNCHES


def _launch(settings: Settings, folder: DataDir, lock: int, report: _Reporter, number: int) -> _Launched:
    """Start a server process, to which the lock passes."""
    folder.recover()
    before = folder.read_state()
    _check_version(folder, before)
    _check_space(folder)
    state = choose_ports(before).model_copy(update={"log_offset": folder.rotate_log()})
    message = f"starting Neo4j {NEO4J_VERSION}"
    if before and before.bolt_port != state.bolt_port:
        message += f" on port {state.bolt_port}, since another program has {before.bolt_port}"
    if before and before.version != NEO4J_VERSION:
        message += f", which upgrades the store of {before.version}"
    if ended := folder.ended(before):
        message += f" again: {ended}"
    # Also says that no server is there, should the last one have died without saying so.
    folder.write_state(state)
    jvm, options = java.virtual_machine(settings.java_home)
    jars = fetch(
        read_lock(),
        cache=settings.cache_dir.expanduser().absolute(),
        base_url=settings.maven_url,
        progress=lambda done, total: report(f"fetching Neo4j {NEO4J_VERSION}", done / total),
    )
    report(message)
    folder.make_password()
    folder.write_config(_neo4j_config(state))
    launch: dict[str, Any] = {
        "home": str(folder.path),
        "config_file": str(folder.config),
        "password_file": str(folder.password),
        "state_file": str(folder.state),
        "state": state.model_dump(),
        "lock_fd": lock,
        "jvm": str(jvm),
        "jvm_options": [f"-Xmx{settings.heap}", f"-XX:ErrorFile={folder.log.parent / CRASH_REPORT}", *options],
        "class_path": [str(jar) for jar in jars.values()],
    }
    script = Path(__file__).with_name("server_process.py")
    with folder.log.open("ab") as log:
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
            check=False,  # should it fail, then the lock is free again, and the log tells why
        )
    return _Launched(state, number)


def _neo4j_config(state: ServerState) -> str:
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
        # A statement is planned once, not anew for every order of magnitude of its texts and lists.
        "internal.cypher.use_parameter_size": "false",
        "server.memory.pagecache.size": "512m",  # a bound: pages are allocated as they are used
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.size": "64m",
        "db.tx_log.rotation.retention_policy": "1 files",
        # Stopping takes ten seconds with the defaults, and a minute when a client has a transaction open.
        "internal.server.bolt.thread_pool_shutdown_wait_time": "200ms",
        "internal.server.bolt.connection_shutdown_wait_time": "200ms",
        "db.shutdown_transaction_end_timeout": "500ms",
        "internal.db.transaction.shutdown_terminated_transaction_wait_timeout": "500ms",
    }
    return "".join(f"{name}={value}\n" for name, value in values.items())


def _signal_until_gone(folder: DataDir, number: signal.Signals) -> int | None:
    """Send the server a signal, once its process is known, and wait for its end.

    Returns:
        None when it is gone, else its process id.

    Raises:
        LocalServerError: When no process is known in time: another one is still fetching what the server needs.
    """
    deadline = time.monotonic() + STOP_TIMEOUT
    pid: int | None = None
    while folder.in_use():
        if time.monotonic() > deadline:
            if pid is None:
                raise LocalServerError(
                    f"another process is about to start the server of {folder.path}",
                    remedy="end that process, or try again when it is done",
                )
            return pid
        state = folder.read_state()
        if state and state.pid and pid is None:
            pid = state.pid
            with suppress(ProcessLookupError):  # it ended by itself just now, and its lock with it
                os.kill(pid, number)
        time.sleep(_POLL)
    return None


def _check_version(folder: DataDir, before: ServerState | None) -> None:
    """Refuse a store that a newer Neo4j has opened: it may have changed its format, which cannot be undone.

    One of an older Neo4j is upgraded by Neo4j itself as it opens it.
    """
    if before and is_newer(before.version):
        raise LocalServerError(
            f"the store in {folder.path} belongs to Neo4j {before.version}; this graphmem brings {NEO4J_VERSION}",
            remedy="upgrade graphmem, or set GRAPHMEM_DATA_DIR to another directory",
        )


def _check_space(folder: DataDir) -> None:
    """Refuse to start where Neo4j would stop at its first writes."""
    free = shutil.disk_usage(folder.path).free
    if free < SPACE:
        raise LocalServerError(
            f"{free / 1e6:.0f} MB are left on the disk of {folder.path}; Neo4j needs {SPACE / 1e6:.0f} MB to start",
            remedy="free some space there, or set GRAPHMEM_DATA_DIR to a directory on another disk",
        )


def _died(folder: DataDir, settings: Settings, launched: _Launched) -> LocalServerError:
    told = folder.last_words(launched.state.log_offset) or "its process was killed"
    if "FileLockException" in told:
        told = f"another process has the store in {folder.path / 'data'} open"
        remedy = "stop that Neo4j, or set GRAPHMEM_DATA_DIR to another directory"
    elif re.search(r"heap|memory", told, re.IGNORECASE):
        remedy = f"set GRAPHMEM_HEAP, now {settings.heap}, to what this machine can give"
    elif "No space left" in told:
        remedy = f"free some space on the disk of {folder.path}, or set GRAPHMEM_DATA_DIR to another one"
    else:
        remedy = f"see {folder.log} and debug.log beside it"
    return LocalServerError(f"Neo4j did not start: {told} (log: {folder.log})", remedy=remedy)


def _too_slow(settings: Settings, folder: DataDir, launched: _Launched | None) -> LocalServerError:
    last = folder.last_words(launched.state.log_offset) if launched else ""
    return LocalServerError(
        f"Neo4j did not answer within {settings.start_timeout:g} s (log: {folder.log}, last: {last or 'nothing'})",
        remedy="it goes on starting: try again, with a larger GRAPHMEM_START_TIMEOUT, or end it: graphmem down",
    )


def data_dir(settings: Settings) -> DataDir:
    """The data directory of the embedded server.

    Raises:
        LocalServerError: On a system where there is no embedded server.
    """
    if sys.platform == "win32":
        raise LocalServerError(
            "the embedded server runs on Linux and macOS only",
            remedy="run Neo4j with Docker (docker compose up -d) and set GRAPHMEM_URI and GRAPHMEM_PASSWORD",
        )
    return DataDir(settings.data_dir.expanduser().absolute())


@contextmanager
def _opened(settings: Settings) -> Generator[DataDir]:
    """The data directory, with the system's errors about it told as ours."""
    folder = data_dir(settings)
    try:
        yield folder
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise LocalServerError(
            f"the data directory {folder.path} cannot be used: {error.strerror or error}",
            remedy="free some space there, or set GRAPHMEM_DATA_DIR to a directory on another disk"
            if full
            else "set GRAPHMEM_DATA_DIR to a directory of your own",
        ) from error


class _GivenUp(LocalServerError):
    """The start of the embedded server was given up."""


class _Reporter:
    """Passes on what is new, since the loops above say the same many times a second; and heeds the end of it all."""

    def __init__(self, progress: Report | None, stop: threading.Event | None) -> None:
        self._progress = progress
        self._stop = stop
        self._last: tuple[str, float | None] | None = None

    def check(self) -> None:
        if self._stop is not None and self._stop.is_set():
            raise _GivenUp(remedy="nothing was changed; the same call can be made again")

    def __call__(self, message: str, fraction: float | None = None) -> None:
        self.check()
        if self._progress is not None and self._last != (message, fraction):
            self._last = message, fraction
            self._progress(message, fraction)
