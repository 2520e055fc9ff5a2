"""Observing: what is stored, what is refused, and that the same again is the same memory."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest

from graphmem import AsyncMemory, NewObservation
from graphmem.async_agent import AsyncAgent
from graphmem.errors import IdConflict, InvalidInput, InvalidText, InvalidTime, UnknownAgent
from graphmem.testing import FaultyEmbedder

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


async def test_an_observation_is_stored_with_all_that_was_given(agent: AsyncAgent) -> None:
    stored = await agent.observe(
        "Mira moved her desk to room 12",
        kind="fact",
        importance=7,
        occurred_at="2026-02-01T09:30:00+05:30",
        source="Tam",
        session="s1",
        place="office",
        id="o1",
        subject="Mira",
        predicate="moved",
        object="desk",
        keywords=["desk", "room 12"],
        now=NOW,
    )
    assert stored == await agent.get("o1")
    assert stored.text == "Mira moved her desk to room 12"
    assert (stored.kind, stored.importance, stored.importance_by) == ("fact", 7, "caller")
    assert (stored.source, stored.session, stored.place) == ("Tam", "s1", "office")
    assert (stored.subject, stored.predicate, stored.object) == ("Mira", "moved", "desk")
    assert stored.keywords == ("desk", "room 12")
    assert stored.occurred_at == datetime(2026, 2, 1, 4, 0, tzinfo=UTC)
    assert stored.last_accessed_at == stored.occurred_at
    assert stored.recorded_at == NOW
    assert (stored.status, stored.depth, stored.embedding_model) == ("active", 0, "bge-small-en-v1.5")


async def test_defaults_are_event_now_and_a_rating_by_rule(agent: AsyncAgent) -> None:
    stored = await agent.observe("Tam waters the plants", now=NOW)
    assert (stored.kind, stored.occurred_at, stored.importance_by) == ("event", NOW, "rule")
    assert 1 <= stored.importance <= 10
    assert len(stored.id) == 24


async def test_the_agents_clock_is_its_now(agent: AsyncAgent) -> None:
    clock = datetime(2003, 2, 14, 6, 30, tzinfo=UTC)
    assert (await agent.configure(clock=clock, name="Isa", reflection_threshold=20)).clock == clock
    stored = await agent.observe("The sun rises")
    assert stored.occurred_at == stored.recorded_at == clock
    info = await agent.info()
    assert (info.name, info.reflection_threshold) == ("Isa", 20)


async def test_the_same_id_with_the_same_content_is_the_same_memory(agent: AsyncAgent) -> None:
    first = await agent.observe("The ferry leaves at 07:40", id="f", source="Jo", importance=3)
    again = await agent.observe("The ferry leaves at 07:40", id="f", source="Jo", importance=3)
    assert again == first
    info = await agent.info()
    assert (info.observations, info.importance_since_reflection) == (1, 3)


@pytest.mark.parametrize(
    "other",
    [
        {"text": "The ferry leaves at 07:50", "source": "Jo"},
        {"text": "The ferry leaves at 07:40", "source": "Al"},
        {"text": "The ferry leaves at 07:40", "source": "Jo", "session": "2"},
    ],
)
async def test_the_same_id_with_other_content_is_a_conflict(agent: AsyncAgent, other: dict[str, str]) -> None:
    first = await agent.observe("The ferry leaves at 07:40", id="f", source="Jo")
    with pytest.raises(IdConflict, match="'f'"):
        await agent.observe_many([{**other, "id": "f"}, "Something else"])
    assert await agent.get("f") == first
    assert (await agent.info()).observations == 1


async def test_a_conflict_within_one_call_writes_nothing(agent: AsyncAgent) -> None:
    with pytest.raises(IdConflict):
        await agent.observe_many([{"text": "one", "id": "x"}, {"text": "two", "id": "x"}])
    with pytest.raises(UnknownAgent):
        await agent.info()


async def test_a_conflict_names_every_item_that_is_refused_so_that_the_others_can_be_given_again(
    agent: AsyncAgent,
) -> None:
    await agent.observe_many([{"text": f"old {n}", "id": f"m{n}", "importance": 1} for n in (3, 501, 502, 503, 504)])
    items = [{"text": f"new {n}", "id": f"m{n}", "importance": 1} for n in range(506)]
    items.append({"text": "once more, and not the same", "id": "m505", "importance": 1})
    with pytest.raises(IdConflict, match=r"the id 'm3'$") as first:
        await agent.observe_many(items)
    assert (first.value.ids, first.value.positions) == (("m3",), (3,))
    assert (await agent.info()).observations == 5
    del items[3]
    with pytest.raises(IdConflict, match=r"the ids 'm501', 'm502', 'm503' and 2 more$") as second:
        await agent.observe_many(items)
    assert second.value.ids == ("m501", "m502", "m503", "m504", "m505")
    assert second.value.positions == (500, 501, 502, 503, 505)
    rest = [item for position, item in enumerate(items) if position not in second.value.positions]
    report = await agent.observe_many(rest)
    assert (report.added, report.known) == (1, 500)
    assert (await agent.get("m505")).text == "new 505"


async def test_two_agents_may_use_the_same_ids(agent: AsyncAgent, new_agent: Callable[[], AsyncAgent]) -> None:
    other = new_agent()
    await agent.observe("mine", id="D1:1")
    await other.observe("theirs", id="D1:1")
    assert (await agent.get("D1:1")).text == "mine"
    assert (await other.get("D1:1")).text == "theirs"


async def test_observe_many_takes_strings_mappings_and_values_in_order(agent: AsyncAgent) -> None:
    seen: list[int] = []
    report = await agent.observe_many(
        ["a plain string", {"text": "a mapping", "id": "m"}, NewObservation(text="a value", id="v")],
        progress=seen.append,
    )
    assert (report.added, report.known, seen) == (3, 0, [3])
    assert report.ids[1:] == ("m", "v")
    assert (await agent.get(report.ids[0])).text == "a plain string"
    again = await agent.observe_many([{"text": "a mapping", "id": "m"}, {"text": "a mapping", "id": "m"}, "new"])
    assert (again.added, again.known) == (1, 2)


async def test_more_than_one_batch_is_stored_once_each(agent: AsyncAgent) -> None:
    seen: list[int] = []
    items = [{"text": f"note {n}", "id": f"n{n}", "importance": 1} for n in range(1100)]
    assert (await agent.observe_many(items, progress=seen.append)).added == 1100
    assert seen == [500, 1000, 1100]
    assert (await agent.observe_many(items)).known == 1100
    assert (await agent.info()).importance_since_reflection == 1100


# --- bad input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", " \n\t ", "x" * 100_001, "nul \x00 inside", "lone \ud83e surrogate"])
async def test_a_text_that_cannot_be_kept_is_refused(agent: AsyncAgent, text: str) -> None:
    with pytest.raises(InvalidText, match="text"):
        await agent.observe_many(["fine", text])
    with pytest.raises(UnknownAgent):  # Nothing half written: not even the agent.
        await agent.info()


@pytest.mark.parametrize("importance", [0, 11, -3, 7.5, math.nan, math.inf, True, "7", [7], {}])
async def test_an_importance_that_is_no_whole_number_from_1_to_10_is_refused(
    agent: AsyncAgent, importance: object
) -> None:
    with pytest.raises(InvalidInput, match="importance"):
        await agent.observe("text", importance=importance)  # pyright: ignore[reportArgumentType]


async def test_whole_floats_are_importances(agent: AsyncAgent) -> None:
    assert (await agent.observe("text", importance=7.0)).importance == 7  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "time",
    [
        datetime(2026, 1, 1),  # noqa: DTZ001 - a naive time is the point
        "2026-01-01T00:00:00",
        "yesterday",
        math.nan,
        math.inf,
        True,
        10**20,
        [],
        "2026-13-01T00:00Z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
    ],
)
async def test_a_time_that_is_naive_or_none_is_refused(agent: AsyncAgent, time: object) -> None:
    with pytest.raises(InvalidTime, match="occurred_at"):
        await agent.observe("text", occurred_at=time)
    with pytest.raises(InvalidTime):
        await agent.observe("text", now=time)


async def test_b09_every_form_of_the_same_instant_is_stored_as_one_utc_time(agent: AsyncAgent) -> None:
    instant = datetime(2026, 5, 1, 6, 30, tzinfo=UTC)
    forms = [
        instant,
        instant.astimezone(timezone(timedelta(hours=5, minutes=30))),
        "2026-05-01T06:30:00Z",
        "2026-05-01T12:00:00+05:30",
        instant.timestamp(),
    ]
    for form in forms:
        assert (await agent.observe("the same moment", occurred_at=form)).occurred_at == instant
    hits = await agent.retrieve("moment", k=10, now=instant + timedelta(hours=2), touch=False)
    assert [hit.recency.raw for hit in hits] == pytest.approx([0.995**2] * len(hits))


@pytest.mark.parametrize(
    "field",
    [
        {"kind": "insight"},
        {"id": " "},
        {"id": "x" * 513},
        {"source": ""},
        {"keywords": ["a", ""]},
        {"key": " "},
        {"unheard": "k"},
    ],
)
async def test_other_bad_fields_are_named(agent: AsyncAgent, field: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(field))):
        await agent.observe_many([{"text": "text", **field}])


@pytest.mark.parametrize("item", [None, 7, ["text"], b"text"])
async def test_what_is_no_observation_is_refused(agent: AsyncAgent, item: object) -> None:
    with pytest.raises(InvalidInput):
        await agent.observe_many([item])  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("name", ["", " ", None, 7, "x" * 513, "nul\x00", "\ud800"])
async def test_b36_an_agent_needs_a_name_for_reading_and_writing_alike(memory: AsyncMemory, name: object) -> None:
    with pytest.raises(InvalidInput, match="agent"):
        memory.agent(name)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("k", [1, 400])
async def test_b19_texts_of_every_length_come_back_unchanged(agent: AsyncAgent, k: int) -> None:
    """B19: no index refuses a long text."""
    for text in ("x" * 8_164 * k, "x" * 8_165, "x" * 20_000, "\U0001f30a" * 3_000, "long " * 19_999 + "end!."):
        if len(text) <= 100_000:
            stored = await agent.observe(text, id=None)
            assert (await agent.get(stored.id)).text == text


STRANGE = ["o'brien", "a`b", "x}) DETACH DELETE n //", "non-smoker", "群体", "a\nb", "$agent", "y" * 300, "*", "KIT"]


@pytest.mark.parametrize("name", STRANGE)
async def test_b21_names_are_values_never_cypher(
    memory: AsyncMemory, agent: AsyncAgent, agent_id: str, name: str
) -> None:
    await agent.observe("a bystander", id="bystander")
    strange = memory.agent(f"{name}{agent_id}")
    stored = await strange.observe("hello", id=name, source=name, session=name, place=name, keywords=[name])
    assert (stored.id, stored.agent_id, stored.source) == (name, f"{name}{agent_id}", name)
    assert [hit.memory.id for hit in await strange.retrieve(name)] == [name]
    report = await strange.supersede(name, text=name, reason=name)
    assert report.memory.status == "superseded"
    info = await strange.info()
    assert (info.observations, info.ended) == (1, 1)
    assert (await agent.info()).observations == 1


# --- embedding failures ----------------------------------------------------------------------------------------


async def test_b17_bad_vectors_cost_only_their_own_text(memory: AsyncMemory, embedder: object, agent_id: str) -> None:
    faults: dict[str, object] = {
        "is nan": [math.nan] * 384,
        "is inf": [math.inf] * 384,
        "is zero": [0.0] * 384,
        "is short": [1.0] * 7,
        "is empty": [],
        "is none": None,
        "is raised": RuntimeError("out of memory"),
    }
    faulty = FaultyEmbedder(embedder, faults)  # pyright: ignore[reportArgumentType]
    async with await AsyncMemory.open(settings=memory.settings, embedder=faulty) as other:
        agent = other.agent(agent_id)
        report = await agent.observe_many([*faults, *(f"a good note {n}" for n in range(5))])
        assert (report.added, len(report.not_embedded)) == (12, 7)
        assert report.not_embedded == report.ids[:7]
        assert (await agent.get(report.ids[0])).embedding_model is None
        hits = await agent.retrieve("a good note", k=20)
        assert len(hits) == 12
        assert hits.not_embedded == 7
        assert sorted(hit.memory.text for hit in hits[:5]) == [f"a good note {n}" for n in range(5)]
        assert all(hit.relevance.raw is None and hit.relevance.normalised == 0 for hit in hits[5:])
        assert (await agent.info()).not_embedded == 7


# --- concurrency -----------------------------------------------------------------------------------------------


async def test_b22_racing_writers_of_one_id_make_one_memory(agent: AsyncAgent) -> None:
    stored = await asyncio.gather(*(agent.observe("only once", id="once", importance=4) for _ in range(20)))
    assert len({memory.id for memory in stored}) == 1
    info = await agent.info()
    assert (info.observations, info.importance_since_reflection) == (1, 4)


# --- agents ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["", "0", "\U0001f6a2", "\uffff", "群"])
async def test_every_agent_is_listed_and_worked_for_whatever_its_id(
    memory: AsyncMemory, agent_id: str, suffix: str
) -> None:
    """Ids at the end of any order of strings, and those that begin another's."""
    names = [f"{suffix}{agent_id}", f"{suffix}{agent_id}{suffix}x"]
    for name in names:
        await memory.agent(name).observe("something", importance=3)
    listed = {info.id: info for info in await memory.agents()}
    assert [listed[name].observations for name in names] == [1, 1]
    assert (await memory.agent(names[0]).info()).id == names[0]
    await memory.agent(names[0]).configure(reflection_threshold=1)
    await memory.agent(names[0]).observe("something else", importance=3)
    pending = await memory._engine.store.query("work/pending", agentId=None)
    assert names[0] in {row["id"] for row in pending}
    assert [row["id"] for row in await memory._engine.store.query("work/pending", agentId=names[0])] == names[:1]
