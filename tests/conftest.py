"""Every test that touches the graph runs on a real Neo4j: one server for the whole run, agents of its own each test."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import SecretStr

from graphmem import AsyncMemory, Memory
from graphmem.agent import AsyncAgent
from graphmem.graph import embedded
from graphmem.graph.lock import NEO4J_VERSION
from graphmem.settings import Settings
from graphmem.testing import HashingEmbedder

DIMENSION = 384
MODEL = "bge-small-en-v1.5"


class QuickEmbedder(HashingEmbedder):
    """Stands in for the default model under its name, where a test is not about meaning: agents are not shared."""

    def __init__(self) -> None:
        super().__init__(DIMENSION)

    @property
    def name(self) -> str:
        return MODEL


class Database:
    """The server of this run, started when the first test asks for it."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self._settings: Settings | None = None

    def settings(self, folder: Path) -> Settings:
        if self._settings is None:
            if uri := os.environ.get("GRAPHMEM_TEST_URI"):
                password = SecretStr(os.environ.get("GRAPHMEM_TEST_PASSWORD", ""))
                user = os.environ.get("GRAPHMEM_TEST_USER", "neo4j")
                self._settings = Settings(uri=uri, user=user, password=password)
            else:
                self.folder = folder
                connection = embedded.ensure_running(Settings(data_dir=folder))
                self._settings = Settings(
                    uri=connection.uri, user=connection.user, password=connection.password, data_dir=folder
                )
        return self._settings

    def stop(self) -> None:
        if self.folder is not None:
            embedded.down(Settings(data_dir=self.folder))


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """How to reach the run's Neo4j. Without one the test fails; it is never skipped."""
    database = Database()
    try:
        yield database.settings(tmp_path_factory.mktemp("neo4j"))
    finally:
        database.stop()


@pytest.fixture(scope="session")
def embedder() -> QuickEmbedder:
    """A quick embedder in which texts that share words are near each other."""
    return QuickEmbedder()


@pytest.fixture(scope="session")
async def memory(settings: Settings, embedder: QuickEmbedder) -> AsyncIterator[AsyncMemory]:
    """The run's store, with the quick embedder and the extractive engine."""
    async with await AsyncMemory.open(settings=settings, embedder=embedder) as memory:
        yield memory


@pytest.fixture(scope="session")
def sync_memory(settings: Settings, embedder: QuickEmbedder) -> Iterator[Memory]:
    """The same store through the synchronous facade."""
    with Memory.open(settings=settings, embedder=embedder) as memory:
        yield memory


@pytest.fixture
def agent_id(request: pytest.FixtureRequest) -> str:
    """An agent that no other test uses."""
    return f"{request.node.name[:60]}-{uuid4().hex[:8]}"


@pytest.fixture
def agent(memory: AsyncMemory, agent_id: str) -> AsyncAgent:
    """A handle of an agent that no other test uses; nothing is written yet."""
    return memory.agent(agent_id)


@pytest.fixture
def new_agent(memory: AsyncMemory) -> Callable[[], AsyncAgent]:
    """Makes handles of further agents."""
    return lambda: memory.agent(f"another-{uuid4().hex[:12]}")


# A shell that starts the run in the background has interrupts ignored, and every process started here inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header() -> str:
    """Say which database the run uses."""
    if uri := os.environ.get("GRAPHMEM_TEST_URI"):
        return f"neo4j: {uri} (GRAPHMEM_TEST_URI)"
    return f"neo4j: embedded {NEO4J_VERSION}"
