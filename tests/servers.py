"""Servers for tests: an embedded Neo4j with more configuration than graphmem gives it, and ports where none listens."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import trustme

from graphmem.artifacts import fetch
from graphmem.graph import embedded, java
from graphmem.graph.data_dir import DataDir, choose_ports
from graphmem.graph.lock import read_lock
from graphmem.settings import Settings


@dataclass(frozen=True)
class Certificate:
    """Files of a certificate for 127.0.0.1 by an authority that nobody trusts yet."""

    authority: Path
    chain: Path
    key: Path

    @classmethod
    def new(cls, folder: Path) -> Certificate:
        authority = trustme.CA()
        issued = authority.issue_cert("127.0.0.1", key_type=trustme.KeyType.RSA)
        files = cls(folder / "authority.pem", folder / "chain.pem", folder / "key.pem")
        authority.cert_pem.write_to_path(files.authority)
        for blob in issued.cert_chain_pems:
            blob.write_to_path(files.chain, append=True)
        issued.private_key_pem.write_to_path(files.key)
        return files

    @property
    def neo4j_config(self) -> str:
        """Lines of ``neo4j.conf`` by which Bolt is also spoken in TLS."""
        policy = "dbms.ssl.policy.bolt"
        return (
            f"server.bolt.tls_level=OPTIONAL\n{policy}.enabled=true\n{policy}.base_directory={self.key.parent}\n"
            f"{policy}.private_key={self.key.name}\n{policy}.public_certificate={self.chain.name}\n"
            f"{policy}.client_auth=NONE\n"
        )


def start_with(settings: Settings, configuration: str) -> embedded.Connection:
    """Start the embedded server of a data directory that has a store with further lines of ``neo4j.conf``."""
    folder = DataDir(settings.data_dir)
    folder.create()
    lock = folder.take_lock()
    assert lock is not None
    state = choose_ports(folder.read_state())
    folder.write_state(state)
    folder.make_password()
    folder.write_config(embedded._neo4j_config(state) + configuration)
    jvm, options = java.virtual_machine(None)
    jars = fetch(read_lock(), cache=settings.cache_dir, base_url=settings.maven_url)
    launch = {
        "home": str(folder.path),
        "config_file": str(folder.config),
        "password_file": str(folder.password),
        "state_file": str(folder.state),
        "state": state.model_dump(),
        "lock_fd": lock,
        "jvm": str(jvm),
        "jvm_options": [f"-Xmx{settings.heap}", *options],
        "class_path": [str(jar) for jar in jars.values()],
    }
    script = Path(embedded.__file__).with_name("server_process.py")
    with folder.log.open("ab") as log:
        subprocess.run(
            [sys.executable, "-P", script], input=json.dumps(launch).encode(), stdout=log, stderr=log, pass_fds=(lock,)
        )
    os.close(lock)
    return embedded.ensure_running(settings)


Talk = Callable[[socket.socket], None]
"""What a server does with a connection."""


def closes(connection: socket.socket) -> None:
    """Says nothing."""


def greets(connection: socket.socket) -> None:
    """As an SSH server does."""
    connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
    time.sleep(0.2)


def answers_http(connection: socket.socket) -> None:
    """As a web server does to what it does not understand."""
    connection.recv(1024)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def refuses_bolt(connection: socket.socket) -> None:
    """As a server does that speaks other versions of Bolt."""
    connection.recv(1024)
    connection.sendall(bytes(4))


@contextmanager
def listening(talk: Talk, *, tls: Certificate | None = None) -> Generator[int]:
    """A server on the loopback interface that talks so; gives its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if tls is not None:
        context.load_cert_chain(tls.chain, tls.key)

    def serve(connection: socket.socket) -> None:
        with (
            suppress(OSError),
            connection if tls is None else context.wrap_socket(connection, server_side=True) as stream,
        ):
            talk(stream)

    def accept() -> None:
        with suppress(OSError):  # closed at the end
            while True:
                serve(server.accept()[0])

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(timeout=5)
