"""Exports in which one value is not what it was: refused by its line, or harmless to every verb and other agent."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest
from test_export import Edit, edited, node, set_property
from verbs.test_change import T

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.cognition.loadable import checked
from graphmem.embedding.base import Embedder
from graphmem.errors import InvalidInput, StoreInconsistent, UnknownAgent
from graphmem.graph import ogm
from graphmem.graph.shapes import NODES
from graphmem.settings import Settings

ODD: tuple[Any, ...] = ("abc", "", -1, 0, 1.5, True, ["a"], ["a", 1], {}, None, 2**63 - 1, 10**300, "x" * 10_000)
"""What may stand in the place of a value; besides, nothing at all."""
TIMES = ("0001-01-01T00:00:00+00:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999+00:00", "soon")
GONE = object()


@pytest.fixture
async def rich(memory: AsyncMemory, agent: AsyncAgent, tmp_path: Path) -> Path:
    """An agent with every kind of record but places, and its export."""
    await agent.observe_many(
        [{"text": f"Klara paints the mural, part {n}", "id": f"p{n}", "importance": 5} for n in range(6)], now=T
    )
    await agent.observe("Klara lives in Porto", id="k1", key="address", source="Bo", subject="Klara", now=T)
    await agent.observe("Klara lives in Lisbon", id="k2", key="address", now=T)
    await agent.reflect(force=True, now=T)
    await agent.supersede("p3", text="Klara paints the boat", reason="seen", now=T)
    await agent.plan_day(now=T)
    file = tmp_path / "rich.jsonl"
    await memory.export_graph(file, agents=[agent.id])
    return file


def set_agent(name: str, value: object) -> Edit:
    return set_property("agent", name, value)


def set_edge(name: str, field: str, value: object) -> Edit:
    def edit(lines: list[dict[str, Any]]) -> None:
        edge = next(line for line in lines if line.get("name") == name)
        edge.get("times", {}).pop(field, None)
        edge["properties"][field] = value

    return edit


def late(field: str) -> Edit:
    """A time that is missing."""
    return lambda lines: node(lines, "change")["times"].pop(field) and None


WRONG: dict[str, tuple[Edit, str]] = {
    "a time zone that is a number": (set_agent("timeZone", 5), "line 2: the agent .*timeZone"),
    "a time zone that there is not": (set_agent("timeZone", "Mars/X"), "timeZone: 'Mars/X' is not an IANA time zone"),
    "a name that is a number": (set_agent("name", 5), "line 2: the agent .*name"),
    "a clock that is a text": (set_agent("clock", "abc"), "line 2: the agent .*clock"),
    "a threshold that is a text": (set_agent("reflectionThreshold", "x"), "line 2: the agent .*reflectionThreshold"),
    "a revision that runs over": (set_agent("revision", 2**63 - 1), "line 2: the agent .*revision"),
    "a revision that is past": (set_agent("revision", 0), "seq: is beyond the revision of the agent, 0"),
    "marks of transactions": (set_agent("commits", "abc"), "line 2: the agent .*commits"),
    "another id of the agent": (set_agent("id", "x"), "line 2: the agent .*id: is 'x'"),
    "held as a text": (set_property("memory", "held", "abc"), "line 3: the memory .*held"),
    "held as a number": (set_property("memory", "held", 1.5), "line 3: the memory .*held"),
    "not said whether held": (
        lambda lines: node(lines, "memory")["properties"].pop("held") and None,
        "line 3: the memory .*held: Field required",
    ),
    "a subject that no index takes": (set_property("memory", "subject", "x" * 10_000), "line 3: the memory .*subject"),
    "a change without a verb": (set_property("change", "verb", -1), "the change .*verb"),
    "a change by nobody": (set_property("change", "by", 5), "the change .*by"),
    "a change without a time": (late("at"), "the change .*at: Field required"),
    "a run that refused a number": (set_property("run", "refused", 1.5), "the run .*refused"),
    "a run that refused what cannot be read": (set_property("run", "refused", ["{"]), "the run .*refused"),
    "a supersession for no reason": (set_edge("SUPERSEDES", "reason", 5), "the SUPERSEDES from .*reason"),
    "a supersession of no kind": (set_edge("SUPERSEDES", "mode", "foo"), "the SUPERSEDES from .*mode"),
    "a supersession at no time": (set_edge("SUPERSEDES", "at", "soon"), "the SUPERSEDES from .*at"),
    "a rank that is a text": (set_edge("CITES", "rank", "x"), "the CITES from .*rank"),
    "a citation since a text": (set_edge("CITES", "since", "soon"), "the CITES from .*since"),
    "a relationship that there is not": (
        lambda lines: node(lines, "relationship").__setitem__("name", "FOO"),
        "there is no relationship 'FOO'",
    ),
}


@pytest.mark.parametrize("name", WRONG)
async def test_a_record_that_is_not_what_it_must_be_is_refused(
    memory: AsyncMemory, rich: Path, agent: AsyncAgent, name: str
) -> None:
    edit, words = WRONG[name]
    await refused(memory, edited(rich, edit), agent, words)


async def refused(memory: AsyncMemory, file: Path, agent: AsyncAgent, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        await memory.import_graph(file, prefix="bad-")
    with pytest.raises(UnknownAgent):
        await memory.agent(f"bad-{agent.id}").info()


async def test_a_number_beyond_all_numbers_is_refused(memory: AsyncMemory, rich: Path, agent: AsyncAgent) -> None:
    file = edited(rich, set_property("memory", "importance", "NUMBER"))
    file.write_text(file.read_text("utf-8").replace('"NUMBER"', "1e400"), "utf-8")
    await refused(memory, file, agent, "line 3: importance is no number")


@pytest.mark.parametrize("name", ["CITES", "SUPERSEDES"])
async def test_a_circle_is_refused(memory: AsyncMemory, rich: Path, agent: AsyncAgent, name: str) -> None:
    """Of two, and of one alone."""

    def circle(lines: list[dict[str, Any]]) -> None:
        at, edge = next((n, line) for n, line in enumerate(lines) if line.get("name") == name)
        ends = [edge["from"], edge["from"]] if name == "CITES" else [edge["to"], edge["from"]]
        lines.insert(at, {**edge, "from": ends[0], "to": ends[1]})
        lines[-1]["lines"] += 1

    await refused(memory, edited(rich, circle), agent, "line .*: memories of agent .* themselves in a circle: ")


# --- any one value ----------------------------------------------------------------------------------------------


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def mutations(lines: list[dict[str, Any]]) -> Iterator[tuple[int, str, str, Any]]:
    """Line, its part, name and other value: of each kind of record every property, once."""
    seen: set[tuple[Any, ...]] = set()
    for number, line in enumerate(lines):
        kind = (line["type"], line.get("name"), *line.get("labels", ()))
        for part, values in (("properties", ODD), ("times", TIMES)):
            for name in line.get(part, ()):
                if (*kind, name) not in seen:
                    seen.add((*kind, name))
                    yield from ((number, part, name, value) for value in (GONE, *values))


def mutated(file: Path, mutation: tuple[int, str, str, Any]) -> Path:
    number, part, name, value = mutation

    def edit(lines: list[dict[str, Any]]) -> None:
        if value is GONE:
            del lines[number][part][name]
        else:
            lines[number][part][name] = value

    return edited(file, edit)


async def test_any_one_odd_value_is_refused_or_harms_nothing(
    memory: AsyncMemory, rich: Path, agent: AsyncAgent, embedder: Embedder
) -> None:
    chosen = random.Random(11).sample(list(mutations(read(rich))), 150)
    accepted: list[Path] = []
    for mutation in chosen:
        file = mutated(rich, mutation)
        try:
            checked(file, "", embedder)
        except InvalidInput:
            file.unlink()
        else:
            accepted.append(file)
    assert 5 < len(accepted) < len(chosen) / 2
    for n, file in enumerate(accepted[:5]):
        (id_,) = (await memory.import_graph(file, prefix=f"odd{n}-")).agents
        await read_all(memory, memory.agent(id_))
        await memory.forget_agent(id_)
    await agent.info()


async def test_citations_without_a_rank_are_recomputed(memory: AsyncMemory, rich: Path, agent: AsyncAgent) -> None:
    """A file may leave it out."""

    def edit(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if line.get("name") == "CITES":
                del line["properties"]["rank"]

    await memory.import_graph(edited(rich, edit), prefix="unranked-")
    odd = memory.agent(f"unranked-{agent.id}")
    assert await odd.memories(status="stale")
    await odd.recompute(now=T)
    assert not await odd.memories(status="stale")
    await memory.forget_agent(odd.id)


async def read_all(memory: AsyncMemory, odd: AsyncAgent) -> None:
    """What reads an agent, or all of them."""
    await memory.agents()
    await memory.status()
    await memory.info()
    await odd.info()
    for found in await odd.memories(limit=100):
        await odd.history(found.id)
        await odd.explain(found.id)
    await odd.tree()
    await odd.log()
    await odd.timeline()
    await odd.runs()
    await odd.check()
    await odd.retrieve("the mural", as_of=T)
    await memory.work_once(agent=odd.id)


# --- circles that are there already -----------------------------------------------------------------------------


@pytest.mark.usefixtures("rich")
async def test_a_change_in_a_circle_ends_and_names_the_doctor(settings: Settings, agent: AsyncAgent) -> None:
    """As an import once let through: nothing may wait for the end of it."""
    account = (settings.user, settings.password.get_secret_value() if settings.password else "")
    with neo4j.GraphDatabase.driver(str(settings.uri), auth=account) as driver:
        (found,) = driver.execute_query(
            "MATCH (r:Reflection {agentId: $id})-[edge:CITES]->() WITH r, edge LIMIT 1"
            " CREATE (r)-[:CITES {rank: 9, since: edge.since}]->(r) RETURN r.id AS id",
            id=agent.id,
        ).records
    with pytest.raises(StoreInconsistent, match="rest on themselves") as error:
        await asyncio.wait_for(agent.retract(found["id"], now=T), 60)
    assert "doctor" in (error.value.remedy or "")
    await agent.observe("It can be written to", now=T)


OF_THE_STORE = {
    "agentId", "scope", "scopeToken", "commits", "writtenAt",
    "embedding", "embeddingNext", "embeddingNextModel", "embeddingNextTruncated",
}  # fmt: skip
"""Properties that belong to a store, or stand beside the others in a file."""
CLASSES = {"agent": "Agent", "run": "Run", "change": "Change", "place": "Place"}


@pytest.mark.parametrize("kind", sorted(NODES))
def test_every_property_of_the_graph_may_stand_in_a_file(kind: str) -> None:
    node = getattr(ogm, CLASSES.get(kind, kind))
    known = {
        property_.get_db_property_name(name)
        for name, property_ in node.defined_properties(rels=False, aliases=False).items()
    }
    shape = {field.alias for field in NODES[kind].model_fields.values()}
    assert known - shape <= OF_THE_STORE
