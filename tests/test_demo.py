"""The demo on a real Neo4j with the models that users get; what it tells is checked against the graph."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from neo4j import GraphDatabase
from rich.console import Console

from graphmem import Memory
from graphmem.errors import InvalidInput
from graphmem.interfaces import demo
from graphmem.interfaces.seeds import default_folder, load_seeds
from graphmem.models import Reflection
from graphmem.settings import Settings

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store(settings: Settings) -> Iterator[Memory]:
    """The run's store with the default embedder: which insights come up depends on it."""
    with Memory.open(settings=settings) as memory:
        yield memory


def play(store: Memory, seeds: Path | None = None) -> tuple[str, list[str]]:
    """Run the demo; what it wrote, and the ids of the agents that it made."""
    before = {info.id for info in store.agents()}
    written = StringIO()
    demo.run(store, load_seeds(seeds or default_folder()), Console(file=written, width=200))
    return written.getvalue(), sorted({info.id for info in store.agents()} - before)


@pytest.fixture(scope="module")
def played(store: Memory) -> tuple[str, list[str]]:
    """One run on the stories that come with graphmem."""
    return play(store)


def ended(store: Memory, agents: list[str], status: str) -> list[Reflection]:
    found = [
        memory
        for agent in agents
        for memory in store.agent(agent).memories(type="reflection", status=status)  # pyright: ignore[reportArgumentType]
    ]
    return [memory for memory in found if isinstance(memory, Reflection)]


def test_shows_every_outcome_at_more_than_one_depth(store: Memory, played: tuple[str, list[str]]) -> None:
    text, agents = played
    assert len(agents) == 2
    for status, word in (("superseded", "revised"), ("retracted", "retracted")):
        reflections = ended(store, agents, status)
        assert {1, 2} <= {reflection.depth for reflection in reflections}
        assert len(re.findall(rf"^{word} ", text, re.MULTILINE)) == len(reflections)
    assert re.search(r"^confirmed ", text, re.MULTILINE)
    assert not ended(store, agents, "stale")


def test_tells_what_turned_stale_and_why(played: tuple[str, list[str]]) -> None:
    text, _ = played
    assert re.search(r"^stale, depth 1 .* stale because d1-0645 was superseded by ", text, re.MULTILINE)
    assert re.search(r"^stale, depth 2 .* stale because \w+ is stale", text, re.MULTILINE)


def test_shows_every_part_of_a_score(played: tuple[str, list[str]]) -> None:
    text, _ = played
    assert re.search(r"2\.\d{3} +0\.\d{3} → [01]\.\d{3} × 1 +[01]\.\d{3} → [01]\.\d{3} × 1 +0\.\d{3} → ", text)


def test_insights_cite_at_least_two_memories(store: Memory, played: tuple[str, list[str]]) -> None:
    for agent in played[1]:
        provenance = store.agent(agent).tree()
        reflections = [memory for memory in provenance.memories.values() if memory.type == "reflection"]
        assert reflections
        for reflection in reflections:
            assert len(provenance.grounds_of(reflection.id)) >= 2


def test_the_query_for_the_browser_draws_the_agents(settings: Settings, played: tuple[str, list[str]]) -> None:
    text, agents = played
    query = re.search(r"^run +(MATCH .*?)\s*$", text, re.MULTILINE)
    assert query is not None
    assert settings.uri is not None
    assert settings.password is not None
    auth = (settings.user, settings.password.get_secret_value())
    with GraphDatabase.driver(settings.uri, auth=auth) as driver:
        graph = driver.execute_query(query[1]).records  # pyright: ignore[reportArgumentType]
    drawn = {node["agentId"] for record in graph for node in record["path"].nodes}
    kinds = {edge.type for record in graph for edge in record["path"].relationships}
    assert drawn == set(agents)
    assert {"CITES", "SUPERSEDES"} <= kinds


def test_a_second_run_has_agents_of_its_own(store: Memory, played: tuple[str, list[str]]) -> None:
    before = {agent: store.agent(agent).info() for agent in played[1]}
    text, agents = play(store)
    assert len(agents) == 2
    assert not set(agents) & set(before)
    assert "retracted" in text
    assert {agent: store.agent(agent).info() for agent in before} == before


def test_says_what_a_folder_does_not_offer(store: Memory, tmp_path: Path) -> None:
    home = tmp_path / "mara"
    home.mkdir()
    (home / "agent.toml").write_text('name = "[bold]Mara[/bold]"\n')
    (home / "day-1.jsonl").write_text('{"occurred_at": "2026-06-12T06:05:00Z", "text": "Lit the [red]lamp[/red]."}\n')
    text, (agent,) = play(store, tmp_path)
    assert agent == "demo-mara"
    assert "no [[ask]] in changes.toml" in text
    assert "no [[change]] in changes.toml" in text
    assert "No insight yet" in text
    assert "[bold]Mara[/bold]" in text
    assert "too few memories to reflect on" in text


def test_reflects_though_it_is_not_due(store: Memory, tmp_path: Path) -> None:
    shutil.copytree(default_folder() / "ines", tmp_path / "ines")
    (tmp_path / "ines" / "agent.toml").write_text("reflection_threshold = 150\n")
    text, (agent,) = play(store, tmp_path)
    assert "is under 150, reflecting all the same" in text
    assert store.agent(agent).info().reflections > 0


def test_says_when_nothing_rests_on_a_change(store: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "stories"
    shutil.copytree(default_folder() / "ines", folder / "ines")
    (folder / "changes.toml").write_text(
        '[[change]]\nagent = "ines"\nmemory = "d1-1230"\nreason = "it was herring"\ntext = "Ate herring."\n'
        "at = 2026-06-14T09:00:00+01:00\n"
    )
    text, _ = play(store, folder)
    assert "nothing turned stale" in text
    assert "nothing to recompute" in text


def test_a_folder_that_is_wrong_writes_nothing(store: Memory, tmp_path: Path) -> None:
    shutil.copytree(default_folder(), tmp_path / "stories")
    with (tmp_path / "stories" / "tobias" / "day-2.jsonl").open("a") as day:
        day.write("{}\n")
    before = store.agents()
    with pytest.raises(InvalidInput, match=r"day-2\.jsonl:22: text: "):
        play(store, tmp_path / "stories")
    assert store.agents() == before


def test_ids_of_a_run_end_in_the_same_number() -> None:
    assert demo.free_ids(["a", "b"], []) == {"a": "demo-a", "b": "demo-b"}
    assert demo.free_ids(["a", "b"], ["demo-b", "demo-a-2", "a"]) == {"a": "demo-a-3", "b": "demo-b-3"}
