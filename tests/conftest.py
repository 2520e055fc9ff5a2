"""Every test that touches the graph runs on a real Neo4j: one server for the whole run, agents of its own each test."""

from __future__ import annotations

import gc
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from uuid import uuid4

import database
import neo4j
import pytest

from graphmem import AsyncMemory, Memory
from graphmem.async_agent import AsyncAgent
from graphmem.graph import embedded
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


KIND = pytest.StashKey[database.Kind]()


def pytest_configure(config: pytest.Config) -> None:
    """Choose the database, and end as after Ctrl-C when told to end: fixtures are torn down, their servers stopped."""
    database.isolate()
    config.stash[KIND] = database.choose()
    # Interrupts too: a shell that starts the run in the background has them ignored, here and in every process that is
    # started here.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what breaks servers for minutes, unless it is asked for by `-m faults`."""
    if "faults" not in config.option.markexpr:
        left_out = [item for item in items if item.get_closest_marker("faults")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish() -> None:
    """Leave the tests themselves out of every garbage collection to come: they stay to the end."""
    gc.collect()
    gc.freeze()


def pytest_report_header(config: pytest.Config) -> str:
    """Say which database the run uses, and of which version."""
    return database.describe(config.stash[KIND])


@pytest.fixture(scope="session")
def compose() -> database.Compose:
    """Ports and password of the run's containers."""
    return database.Compose.new()


@pytest.fixture(scope="session")
def docker_compose_file() -> str:
    """For pytest-docker: the project's own file."""
    return str(database.COMPOSE_FILE)


@pytest.fixture(scope="session")
def docker_compose_command(compose: database.Compose) -> str:
    """For pytest-docker."""
    return compose.command


@pytest.fixture(scope="session")
def settings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """How to reach the run's Neo4j, started for the first test that asks. Without one tests fail, never skip."""
    match request.config.stash[KIND]:
        case "environment":
            yield database.named()
        case "docker":
            request.getfixturevalue("docker_services")
            yield request.getfixturevalue("compose").settings()
        case "embedded":
            own = Settings(data_dir=tmp_path_factory.mktemp("neo4j"))
            try:
                with database.for_the_whole_run():
                    found = embedded.ensure_running(own)
                yield Settings(uri=found.uri, user=found.user, password=found.password, data_dir=own.data_dir)
            finally:
                embedded.down(own)


@pytest.fixture(scope="session")
def throw_away(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """An embedded server besides, for tests that change the schema or need one that serves nothing else."""
    own = Settings(data_dir=tmp_path_factory.mktemp("throw-away"))
    try:
        found = embedded.ensure_running(own)
        yield Settings(uri=found.uri, password=found.password, data_dir=own.data_dir, index_timeout=20)
    finally:
        embedded.down(own)


@pytest.fixture
async def bare(throw_away: Settings) -> AsyncIterator[neo4j.AsyncDriver]:
    """A driver on that server, emptied of everything."""
    assert throw_away.uri is not None
    assert throw_away.password is not None
    async with neo4j.AsyncGraphDatabase.driver(
        throw_away.uri, auth=("neo4j", throw_away.password.get_secret_value())
    ) as driver:
        await database.clear(driver)
        yield driver


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
