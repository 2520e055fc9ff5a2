"""A TCP proxy on the loopback interface that breaks connections to Neo4j where a test tells it to."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""Bolt's message COMMIT in its chunk, as a client sends it."""

READING = b"\x84mode\x81r"
"""In Bolt's message BEGIN: the transaction only reads."""

Fault = Literal["before", "after", "during", "half", "gone", "delay", "stall", "cut"]
"""``before``: the COMMIT never arrives. ``after``: it does, and the answer to it is lost. ``during``: the connection
breaks while the server commits. ``half``: the server's answers end, what the client says still arrives. ``gone``: as
``after``, and there is no server any more. ``delay``: a piece is late. ``stall``: nothing arrives for a while. ``cut``:
both sides break, at whatever is said next."""


@dataclass
class Proxy:
    """Between clients and a server; faults are armed one at a time and strike once."""

    host: str
    server_port: int
    port: int = 0
    commits: int = 0
    """COMMITs that clients sent, of transactions that write unless ``reading`` counts."""
    reading: bool = False
    """Whether faults strike at the ends of transactions that only read as well."""
    struck: int = 0
    """Faults that have struck."""
    said: list[bytearray] | None = None
    """What clients said, a connection each, where it is a list."""
    pause: float = 0.3
    """Seconds of a delay or a stall."""
    _armed: tuple[Fault, int] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _open: list[socket.socket] = field(default_factory=list[socket.socket])

    def arm(self, fault: Fault, *, at: int = 1) -> None:
        """Strike at the so-many-th of these COMMITs; for ``cut``, ``delay`` and ``stall``, at that piece of data."""
        with self._lock:
            self._armed = (fault, at)

    def disarm(self) -> bool:
        """Whether a fault was still waiting."""
        with self._lock:
            armed, self._armed = self._armed, None
        return armed is not None

    def break_all(self) -> None:
        """Break every connection."""
        for one in tuple(self._open):
            _reset(one)

    def _strikes(self, data: bytes, *, reads: bool) -> Fault | None:
        """What happens to a piece of what a client says."""
        with self._lock:
            commits = data.count(COMMIT) if self.reading or not reads else 0
            self.commits += commits
            if self._armed is None:
                return None
            fault, at = self._armed
            counted = 1 if fault in ("cut", "delay", "stall") else commits
            if counted == 0:
                return None
            if at > counted:
                self._armed = (fault, at - counted)
                return None
            self._armed = None
            self.struck += 1
            return fault

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection((self.host, self.server_port), timeout=10)
        except OSError:  # no server: the client sees it as such
            _reset(client)
            return
        server.settimeout(None)
        self._open += [client, server]
        silent = threading.Event()
        record = bytearray()
        if self.said is not None:
            self.said.append(record)

        def say() -> None:
            with suppress(OSError):
                reads = False
                while data := client.recv(65_536):
                    if self.said is not None:
                        record.extend(data)
                    if b"\xb1\x11" in data:  # BEGIN
                        reads = READING in data
                    fault = self._strikes(data, reads=reads)
                    if fault in ("delay", "stall"):
                        time.sleep(self.pause)
                    if fault in ("before", "cut"):
                        break
                    if fault in ("after", "half", "gone"):
                        silent.set()
                    server.sendall(data)
                    if fault == "gone":
                        self.server_port = 1  # nothing listens there
                        for one in self._open:
                            if one not in (client, server):
                                _reset(one)
                    if fault == "during":
                        break
                    if fault == "half":
                        client.shutdown(socket.SHUT_WR)
                        continue  # What the client says goes on until it hangs up.
            if silent.is_set():
                return  # The other direction ends it.
            _reset(client)
            _reset(server)

        def answer() -> None:
            with suppress(OSError):
                while data := server.recv(65_536):
                    if silent.is_set():
                        break
                    client.sendall(data)
            _reset(client)
            _reset(server)

        for work in (say, answer):
            threading.Thread(target=work, daemon=True).start()


def _reset(connection: socket.socket) -> None:
    """Close so that the other side notices at once, as when a process or a machine dies."""
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


@contextmanager
def proxying(uri: str) -> Generator[Proxy]:
    """A proxy to the server of a Bolt address."""
    host, _, port = uri.rpartition("/")[2].partition(":")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = Proxy(host, int(port), listener.getsockname()[1])

        def accept() -> None:
            with suppress(OSError):  # closed at the end
                while True:
                    proxy._serve(listener.accept()[0])

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.break_all()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(timeout=5)


def statements(said: bytes) -> list[str]:
    """The texts of all RUN messages in what a client said: what it asked the server to execute."""
    found: list[str] = []
    for message in _messages(said):
        if message[:2] == b"\xb3\x10":
            found.append(_string(message[2:]))
    return found


def _messages(said: bytes) -> Generator[bytes]:
    """Bolt's messages, put together from their chunks; the handshake before the first is skipped."""
    at = said.find(b"\xb1\x01") - 2  # HELLO
    message = b""
    while 0 <= at <= len(said) - 2:
        size = int.from_bytes(said[at : at + 2], "big")
        if size == 0 and message:
            yield message
            message = b""
        message += said[at + 2 : at + 2 + size]
        at += 2 + size


def _string(packed: bytes) -> str:
    """The string at the beginning of PackStream data."""
    marker = packed[0]
    if 0x80 <= marker <= 0x8F:
        return packed[1 : 1 + marker - 0x80].decode()
    width = {0xD0: 1, 0xD1: 2, 0xD2: 4}[marker]
    size = int.from_bytes(packed[1 : 1 + width], "big")
    return packed[1 + width : 1 + width + size].decode()
