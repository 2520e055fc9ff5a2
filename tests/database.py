"""Which Neo4j a run of the tests uses: one that the environment names, Docker's where an engine answers, or our own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe
from typing import Literal

import neo4j
import pytest
from pydantic import SecretStr

from graphmem.graph.lock import NEO4J_VERSION
from graphmem.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
COMPOSE_FILE = ROOT / "docker-compose.yml"
DOCKER_SECONDS = 3
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For servers that a few tests use: Java's second compiler would take more from them than it could give back."""
_LEAD_ELSEWHERE = ("URI", "USER", "PASSWORD", "DATABASE", "DATA_DIR")

Kind = Literal["environment", "docker", "embedded"]


def isolate() -> None:
    """Take away the settings of the person who runs the tests that would lead them to another store."""
    for name in _LEAD_ELSEWHERE:
        os.environ.pop(f"GRAPHMEM_{name}", None)
    os.environ["GRAPHMEM_CONFIG"] = os.devnull
    os.environ.setdefault("JAVA_TOOL_OPTIONS", QUICK_START)
    os.environ.pop("COLUMNS", None)  # What is piped is as wide as in a shell that does not say.


@contextmanager
def for_the_whole_run() -> Generator[None]:
    """Start a server with Java's defaults, which pay in the long run."""
    with pytest.MonkeyPatch.context() as patch:
        if os.environ["JAVA_TOOL_OPTIONS"] == QUICK_START:
            patch.delenv("JAVA_TOOL_OPTIONS")
        yield


def choose() -> Kind:
    """What GRAPHMEM_TEST_URI says: an address, "docker" or "embedded". Without it Docker where an engine answers."""
    asked = os.environ.get("GRAPHMEM_TEST_URI", "")
    if asked in ("docker", "embedded"):
        return asked
    if asked:
        return "environment"
    return "docker" if _docker_answers() else "embedded"


def _docker_answers() -> bool:
    if shutil.which("docker") is None:
        return False
    for command in (["docker", "info"], ["docker", "compose", "version"]):
        try:
            subprocess.run(command, capture_output=True, check=True, timeout=DOCKER_SECONDS)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return False
    return True


def named() -> Settings:
    """The database that GRAPHMEM_TEST_URI, _USER, _PASSWORD and _DATABASE name."""
    return Settings(
        uri=os.environ["GRAPHMEM_TEST_URI"],
        user=os.environ.get("GRAPHMEM_TEST_USER", "neo4j"),
        password=SecretStr(os.environ.get("GRAPHMEM_TEST_PASSWORD", "")),
        database=os.environ.get("GRAPHMEM_TEST_DATABASE", "neo4j"),
    )


@dataclass(frozen=True)
class Compose:
    """The project's own docker-compose.yml on free ports, so that a person's own containers are left alone."""

    bolt_port: int
    http_port: int
    password: str

    @classmethod
    def new(cls) -> Compose:
        with socket.create_server(("127.0.0.1", 0)) as bolt, socket.create_server(("127.0.0.1", 0)) as http:
            return cls(bolt.getsockname()[1], http.getsockname()[1], token_urlsafe(16))

    @property
    def command(self) -> str:
        """How pytest-docker calls it. In the environment of that command only: tests read these variables as well."""
        return (
            f"GRAPHMEM_BOLT_PORT={self.bolt_port} GRAPHMEM_HTTP_PORT={self.http_port} "
            f"GRAPHMEM_PASSWORD={self.password} docker compose"
        )

    def settings(self) -> Settings:
        return Settings(uri=f"bolt://127.0.0.1:{self.bolt_port}", password=SecretStr(self.password))


def describe(kind: Kind) -> str:
    """One line for the head of the report."""
    if kind == "embedded":
        return f"neo4j: embedded {NEO4J_VERSION}"
    if kind == "docker":
        images = [line.split()[1] for line in COMPOSE_FILE.read_text("utf-8").splitlines() if "image:" in line]
        return f"neo4j: Docker, {', '.join(images)} of docker-compose.yml"
    settings = named()
    assert settings.password is not None
    try:
        with neo4j.GraphDatabase.driver(
            str(settings.uri), auth=(settings.user, settings.password.get_secret_value()), connection_timeout=5
        ) as driver:
            found = driver.get_server_info().agent
    except Exception as error:  # the tests fail with it; here it is only told
        found = f"no answer: {type(error).__name__}"
    return f"neo4j: {settings.uri}, database {settings.database} (GRAPHMEM_TEST_URI): {found}"


async def clear(driver: neo4j.AsyncDriver) -> None:
    """Delete everything, indexes and constraints included."""
    await driver.execute_query("MATCH (n) DETACH DELETE n")
    for record in (await driver.execute_query("SHOW CONSTRAINTS YIELD name")).records:
        await driver.execute_query(f"DROP CONSTRAINT `{record['name']}` IF EXISTS")
    for record in (await driver.execute_query("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'")).records:
        await driver.execute_query(f"DROP INDEX `{record['name']}` IF EXISTS")
