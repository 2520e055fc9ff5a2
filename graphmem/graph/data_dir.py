"""The embedded server's data directory: its files, its lock, its password, the ports remembered in it.

In the directory::

    server.lock     held by the server for its lifetime, and by whoever is about to start it
    server.json     the ports it listens on (kept for the next start), its process id, whether it is ready,
                    and which Neo4j opened the store last
    password        generated at the first start, readable by its owner only
    neo4j.conf      Neo4j's configuration, written anew at each start
    logs/           server.log: the process; debug.log and others: Neo4j's own
    data/           the store; data.before-restore-… and data.restoring-… beside it while a backup is restored
"""

from __future__ import annotations

import os
import re
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from graphmem.errors import LocalServerError
from graphmem.graph.lock import NEO4J_VERSION

HOST = "127.0.0.1"
USER = "neo4j"
_LOG_LIMIT = 5_000_000


class ServerState(BaseModel):
    """What ``server.json`` holds.

    Attributes:
        bolt_port: Where the server speaks Bolt, on the loopback interface.
        http_port: Where it serves Neo4j Browser.
        version: Neo4j's version.
        pid: The server process; None between the choice of ports and its start, and after it was stopped. It counts
            only while the lock is held, since the number may be another process's later; without the lock it says
            that the server ended by itself.
        ready: Whether the database answered.
        log_offset: Where this server's part of the log begins, in bytes.
    """

    bolt_port: int = Field(ge=1, le=65535)
    http_port: int = Field(ge=1, le=65535)
    version: str = NEO4J_VERSION
    pid: int | None = None
    ready: bool = False
    log_offset: int = Field(default=0, ge=0)

    @property
    def uri(self) -> str:
        """Bolt address."""
        return f"bolt://{HOST}:{self.bolt_port}"

    @property
    def browser_url(self) -> str:
        """Address of Neo4j Browser with database and user filled in."""
        return f"http://{HOST}:{self.http_port}/browser/?dbms=bolt://{USER}@{HOST}:{self.bolt_port}"


@dataclass(frozen=True)
class DataDir:
    """The files of one embedded server; methods raise ``OSError`` as the system does."""

    path: Path

    @property
    def lock(self) -> Path:
        """Held while a server lives or is being started."""
        return self.path / "server.lock"

    @property
    def state(self) -> Path:
        """See :class:`ServerState`."""
        return self.path / "server.json"

    @property
    def password(self) -> Path:
        """The password of user neo4j."""
        return self.path / "password"

    @property
    def config(self) -> Path:
        """Neo4j's configuration."""
        return self.path / "neo4j.conf"

    @property
    def log(self) -> Path:
        """What the server process printed; Neo4j's logs are beside it."""
        return self.path / "logs" / "server.log"

    def create(self) -> None:
        """Create what is missing, closed to other users."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.mkdir(mode=0o700, exist_ok=True)
        # A directory that holds other things keeps its mode; the files made here are closed by their own.
        if self.lock.exists() or not any(self.path.iterdir()):
            self.path.chmod(0o700)
        self.log.parent.mkdir(mode=0o700, exist_ok=True)

    def recover(self) -> None:
        """Take the store back that a restore had put aside when it was killed. Only for the holder of the lock."""
        present = self.path / "data"
        if not present.exists() and (put_aside := sorted(self.path.glob("data.before-restore-*"))):
            put_aside[-1].rename(present)

    def read_state(self) -> ServerState | None:
        """The state; None before the first start, and when the file is damaged: then it is made anew."""
        try:
            return ServerState.model_validate_json(self.state.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def write_state(self, state: ServerState) -> None:
        """Replace the state in one step."""
        _write_private(self.state, state.model_dump_json())

    def write_config(self, text: str) -> None:
        """Replace the configuration in one step."""
        _write_private(self.config, text)

    def make_password(self) -> None:
        """Generate a password if there is none. Only for the holder of the lock."""
        if not self.password.exists():
            _write_private(self.password, secrets.token_urlsafe(24))

    def read_password(self) -> str:
        """The password.

        Raises:
            LocalServerError: When the file is gone.
        """
        try:
            return self.password.read_text("ascii")
        except FileNotFoundError:
            raise LocalServerError(
                f"the password file {self.password} is gone",
                remedy="graphmem down: the next start makes a new one, and what is stored stays",
            ) from None

    def take_lock(self) -> int | None:
        """Take the lock: an open file descriptor, or None when a server or a starter holds it."""
        import fcntl

        descriptor = os.open(self.lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Not so when the directory was purged since: the lock of a file that is gone keeps nobody out.
            current = os.path.samestat(os.fstat(descriptor), self.lock.stat())
        except (BlockingIOError, FileNotFoundError):
            current = False
        except BaseException:
            os.close(descriptor)
            raise
        if not current:
            os.close(descriptor)
            return None
        return descriptor

    def in_use(self) -> bool:
        """Whether a server or a starter holds the lock.

        Looking takes the lock, shared, for a moment: a starter that comes just then finds it taken and tries
        again.
        """
        import fcntl

        try:
            descriptor = os.open(self.lock, os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def rotate_log(self) -> int:
        """Put a log that has grown long aside; gives the length of what is left, where new lines begin."""
        try:
            size = self.log.stat().st_size
        except FileNotFoundError:
            return 0
        if size > _LOG_LIMIT:
            self.log.replace(self.log.with_suffix(".log.1"))
            return 0
        return size

    def last_words(self, offset: int) -> str:
        """What the server process logged last after ``offset``, in a line; empty when it ended without a word."""
        try:
            with self.log.open("rb") as file:
                file.seek(offset)
                lines = file.read().decode("utf-8", "replace").splitlines()
        except FileNotFoundError:
            return ""
        for number, line in enumerate(lines):
            if _CRASH in line:
                reason = next((told for told in (after.strip("# ") for after in lines[number + 1 :]) if told), "")
                return f"the Java runtime crashed: {reason} (its report: {self.log.parent / CRASH_REPORT})"
        told = [line.strip() for line in lines if line.strip() and not line.startswith("WARNING:")]
        last = told[-1].removeprefix("graphmem: ") if told else ""
        return "" if last.startswith(READY) else last

    def ended(self, state: ServerState | None) -> str | None:
        """How the server of a state that is not running any more ended; None when it was stopped, or never ran."""
        if state is None or state.pid is None:
            return None
        return self.last_words(state.log_offset) or "its process was killed"


CRASH_REPORT = "jvm-crash.log"
READY = "ready, process"
"""How the server process begins the line that says it is ready."""
_CRASH = "A fatal error has been detected by the Java Runtime Environment"


def is_newer(version: str) -> bool:
    """Whether a version of Neo4j is newer than the one that this graphmem brings."""
    ours, theirs = ([int(part) for part in re.findall(r"\d+", text)] for text in (NEO4J_VERSION, version))
    return theirs > ours


def choose_ports(remembered: ServerState | None) -> ServerState:
    """A new state with the remembered ports if no other program has taken one meanwhile, else with free ones."""
    if remembered and is_free(remembered.bolt_port) and is_free(remembered.http_port):
        return ServerState(bolt_port=remembered.bolt_port, http_port=remembered.http_port)
    with socket.socket() as bolt, socket.socket() as http:
        bolt.bind((HOST, 0))
        http.bind((HOST, 0))
        return ServerState(bolt_port=bolt.getsockname()[1], http_port=http.getsockname()[1])


def is_free(port: int) -> bool:
    """Whether a server could listen there."""
    with socket.socket() as probe:
        # As Neo4j does: connections of the last server that linger in TIME_WAIT do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def speaks_bolt(port: int) -> bool:
    """Whether a Neo4j 5 or later answers there."""
    try:
        with socket.create_connection((HOST, port), timeout=1.0) as connection:
            # Bolt's magic number, then what the client can speak: 5.8 down to 5.0, and nothing else.
            connection.sendall(bytes.fromhex("6060b017 00080805 00000000 00000000 00000000"))
            return connection.recv(4)[-1:] == b"\x05"
    except OSError:
        return False


def _write_private(file: Path, text: str) -> None:
    """Write a file that only its owner can read; whoever reads sees the old content or the new."""
    part = file.with_name(file.name + ".new")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(text)
    part.replace(file)
