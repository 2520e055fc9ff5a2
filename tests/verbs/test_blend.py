"""The profile recall: relevance blended from vectors, words, speaker, date and neighbouring turns."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.cognition.question import searches_for, words_of
from graphmem.embedding.base import Embedder
from graphmem.models import RECALL, Blend, Hits, Neighbours, Profile, Weights
from graphmem.scoring import Turns, blend, hours_since, recency, scale

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WORDS = ["tide", "bell", "gull", "rope", "salt", "mast", "oar", "harbour", "lamp"]


def ids(hits: Hits) -> list[str]:
    return [hit.memory.id for hit in hits]


def turn(n: int, text: str, source: str, **more: object) -> dict[str, object]:
    return {"id": f"t{n:03}", "text": text, "source": source, "session": "s", "kind": "utterance",
            "occurred_at": T - timedelta(hours=1) + timedelta(seconds=30 * n), "importance": 3, **more}  # fmt: skip


# --- what counts -----------------------------------------------------------------------------------------------


async def test_words_speaker_and_neighbours_are_found_and_explained(agent: AsyncAgent) -> None:
    await agent.observe_many(
        [
            turn(0, "What did you buy in the end?", "Mo"),
            turn(1, "A cello, from the shop on Pier Street.", "Ada"),
            turn(2, "How lovely.", "Mo"),
            turn(3, "The weather has been dreadful all week.", "Ada"),
            turn(4, "Mine has been fine, cloudless even.", "Mo"),
        ]
    )
    hits = await agent.retrieve("Which cello did Ada buy?", profile=RECALL, now=T, touch=False)
    assert hits.exact is None
    best = hits[0]
    assert best.memory.id == "t001"
    assert best.signals is not None
    assert best.signals.speaker.raw == 1
    assert best.signals.text.normalised == 1
    by_id = {hit.memory.id: hit for hit in hits}
    assert (by_id["t000"].signals or best.signals).speaker.raw == 0
    # It has no word of the query, but its neighbour before has.
    lent = by_id["t002"].signals
    assert lent is not None
    assert lent.text.raw is not None
    assert lent.text.raw > 0
    for hit in hits:
        assert hit.signals is not None
        signals = (hit.signals.vector, hit.signals.text, hit.signals.speaker)
        assert hit.relevance.normalised == pytest.approx(sum(part.contribution for part in signals), abs=1e-12)
        parts = hit.relevance.contribution + hit.recency.contribution + hit.importance.contribution
        assert hit.score == pytest.approx(parts, abs=1e-12)


async def test_the_date_of_a_session_can_be_asked_for(agent: AsyncAgent) -> None:
    for n, month in enumerate((3, 5, 7)):
        await agent.observe("We went to the lake", id=f"m{month}", source=f"p{n}", occurred_at=T.replace(month=month))
    # Three memories of one sentence, which differ by their speakers' vectors: only the words shall decide.
    by_words = RECALL.model_copy(update={"blend": Blend(vector=0)})
    hits = await agent.retrieve("Who went to the lake in May 2026?", profile=by_words, now=T, touch=False)
    assert hits[0].memory.id == "m5"


async def test_neighbours_are_those_of_the_same_session_and_agent(
    agent: AsyncAgent, new_agent: Callable[[], AsyncAgent]
) -> None:
    other = new_agent()
    await other.observe(**turn(1, "a walnut cake", "Ada"))  # pyright: ignore[reportArgumentType]
    await agent.observe_many(
        [
            turn(0, "nothing to tell", "Ada"),
            turn(1, "a walnut cake", "Mo", session="another"),
            turn(2, "no news", "Mo"),
        ]
    )
    hits = await agent.retrieve("walnut", profile=RECALL, now=T, touch=False)
    assert ids(hits)[0] == "t001"
    assert [hit.signals.text.raw for hit in hits[1:] if hit.signals] == [0.0, 0.0]


async def test_what_was_superseded_is_neither_found_nor_lends(agent: AsyncAgent) -> None:
    await agent.observe_many([turn(0, "the key is under the walnut tree", "Ada"), turn(1, "good to know", "Mo")])
    await agent.supersede("t000", text="the key is with Bo", now=T)
    hits = await agent.retrieve("walnut", profile=RECALL, now=T, touch=False)
    assert "t000" not in ids(hits)
    assert {hit.signals.text.raw for hit in hits if hit.signals} == {0.0}


# --- queries that are hard on full text (B20) --------------------------------------------------------------------


@pytest.fixture(scope="module")
async def notes(memory: AsyncMemory) -> AsyncAgent:
    agent = memory.agent(f"b20-{uuid4().hex}")
    await agent.observe_many(
        [
            {"text": text, "id": id_, "source": id_}
            for id_, text in {
                "code": "the part is called mk-12", "logic": "AND gates and NOT gates", "east": "北の灯台は古い",
                "right": "שלום לכולם", "slash": "pause/resume is broken", "plain": "nothing of note",
            }.items()
        ],
        now=T,
    )  # fmt: skip
    return agent


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("why pause/resume?!", "slash"), ("mk-", "code"), ("A++ (v2)", None), ('"open quote', None),
        ("AND gates", "logic"), ("not OR", "logic"), ("*", None), ("~", None), ("a:b", None), ("\\", None),
        ("北の灯台", "east"), ("שלום", "right"), ("🦭", None), ("text:gates^9 OR scopeToken:*", "logic"),
        ("[a TO z]", None), ("gates~2 && -AND", "logic"), ("the of and", None), ("word " * 3000, None),
        (" ".join(f"w{n}" for n in range(3000)), None),
    ],
)  # fmt: skip
async def test_b20_no_query_breaks_full_text(notes: AsyncAgent, query: str, best: str | None) -> None:
    hits = await notes.retrieve(query, profile=RECALL, now=T, touch=False)
    assert len(hits) == 6  # Of this agent, and all of them.
    assert {hit.memory.agent_id for hit in hits} == {notes.id}
    if best is not None:
        found = max(hits, key=lambda hit: hit.signals.text.raw or 0 if hit.signals else 0)
        assert (found.memory.id, hits[0].memory.id) == (best, best)


def test_words_are_letters_and_digits_and_asking_words_are_left_out() -> None:
    assert words_of("What kind of car does Evan’s dad drive in May?", "english") == (
        "kind", "of", "car", "evan's", "dad", "drive", "in", "may",
    )  # fmt: skip
    assert words_of("What did who", "english") == ("what", "did", "who")
    assert words_of("+scopeToken:* -x AND (y)", "english") == ("scopetoken", "x", "and", "y")
    assert words_of("was did", "german") == ("was", "did")


# --- scope -------------------------------------------------------------------------------------------------------


async def test_b15_a_small_agent_gets_its_own_beside_large_ones(memory: AsyncMemory, agent: AsyncAgent) -> None:
    large = [memory.agent(f"{agent.id}-{n}") for n in range(3)]
    for other in large:
        await other.observe_many([f"the harbour bell rings at {n}" for n in range(700)], now=T)
    await agent.observe_many([f"a harbour sound, far from any bell {n}" for n in range(5)], now=T)
    hits = await agent.retrieve("harbour bell", k=5, profile=RECALL, now=T, touch=False)
    assert {hit.memory.agent_id for hit in hits} == {agent.id}
    assert len(hits) == 5
    assert all(hit.signals is not None and hit.signals.text.raw for hit in hits)


# --- against the oracle ------------------------------------------------------------------------------------------

spoken = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
        st.sampled_from(["Ada", "Mo"]),
        st.sampled_from(["a", "b", None]),
        st.integers(0, 10),
        st.integers(1, 10),
    ),
    min_size=1,
    max_size=20,
)
share = st.sampled_from([0.0, 0.3, 0.8, 1.0])


@hypothesis_settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    turns=spoken,
    blended=st.builds(
        Blend,
        vector=st.sampled_from([0.0, 0.5, 2.0]),
        text=st.sampled_from([0.5, 1.0]),
        speaker=st.sampled_from([0.0, 0.1]),
        date=st.sampled_from([0.0, 2.0]),
        vector_floor=st.sampled_from([0.0, 0.5]),
        neighbours=st.builds(
            Neighbours,
            before=st.lists(share, max_size=3).map(tuple),
            after=st.lists(share, max_size=3).map(tuple),
            vectors=share,
        ),
    ),
    floor=st.sampled_from([0.0, 300.0]),
    weights=st.tuples(st.sampled_from([0.5, 1.0]), st.sampled_from([0.0, 0.1]), st.sampled_from([0.0, 0.2])),
)
async def test_the_blend_equals_the_oracles(
    memory: AsyncMemory,
    embedder: Embedder,
    turns: list[tuple[list[str], str, str | None, int, int]],
    blended: Blend,
    floor: float,
    weights: tuple[float, float, float],
) -> None:
    agent = memory.agent(f"blend-{uuid4().hex}")
    items = [
        {"text": " ".join(words) + f" {n}", "id": f"m{n:02}", "source": source, "importance": importance,
         "occurred_at": T - timedelta(days=gap) + timedelta(seconds=n), **({"session": session} if session else {})}
        for n, (words, source, session, gap, importance) in enumerate(turns)
    ]  # fmt: skip
    await agent.observe_many(items, now=T)
    query = "When did Ada hear the bell and the gull in February?"
    weighted = Weights(relevance=weights[0], recency=weights[1], importance=weights[2])
    profile = Profile(name="p", weights=weighted, recency_floor=floor, blend=blended)
    hits = await agent.retrieve(query, k=len(items), profile=profile, now=T, touch=False)

    everything = [await agent.get(str(item["id"])) for item in items]
    raw = {hit.memory.id: hit.relevance.raw for hit in hits}
    by_blend = blend(await _turns(memory, agent.id, query, items, raw, blended), blended)
    hours = [hours_since(found.last_accessed_at, T) for found in everything]
    fresh = [recency(hour - min(hours)) for hour in hours]
    least = recency(max(max(hours) - min(hours), profile.recency_floor))
    rated = [found.importance for found in everything]
    expected = {
        found.id: (
            weighted.relevance * by_blend.relevance[n]
            + weighted.recency * scale(fresh[n], least, 1.0)
            + weighted.importance * scale(rated[n], min(rated), max(rated)),
            by_blend.vector[n],
            by_blend.text[n],
            by_blend.speaker[n],
        )
        for n, found in enumerate(everything)
    }
    assert len(hits) == len(items)
    for hit in hits:
        assert hit.signals is not None
        mine = (hit.score, hit.signals.vector.normalised, hit.signals.text.normalised, hit.signals.speaker.normalised)
        assert mine == pytest.approx(expected[hit.memory.id], abs=1e-6)
    assert ids(hits) == [
        hit.memory.id for hit in sorted(hits, key=lambda hit: (-hit.score, -(hit.recency.raw or 0), hit.memory.id))
    ]


async def _turns(
    memory: AsyncMemory,
    agent_id: str,
    query: str,
    items: list[dict[str, object]],
    raw: dict[str, float | None],
    blended: Blend,
) -> Turns:
    """What the oracle needs: BM25 straight from the index, neighbours by sorting here."""
    searches = await searches_for(memory._engine, agent_id, query, blended)
    place = {str(item["id"]): n for n, item in enumerate(items)}
    matches = np.zeros((len(searches.searches), len(items)))
    async with memory._engine.store._driver.session() as session:
        for row, search in enumerate(searches.searches):
            result = await session.run(
                "CYPHER 25 MATCH (m:Memory) SEARCH m IN (FULLTEXT INDEX memoryText FOR $search LIMIT 1000) SCORE AS s "
                "RETURN m.id AS id, m.agentId AS agent, s",
                search=search,
            )
            async for record in result:
                assert record["agent"] == agent_id
                matches[row, place[record["id"]]] = record["s"]
    order = sorted(range(len(items)), key=lambda n: (items[n]["occurred_at"], items[n]["id"]))
    around = blended.neighbours
    earlier = np.full((len(around.before), len(items)), -1)
    later = np.full((len(around.after), len(items)), -1)
    for name in {item.get("session") for item in items} - {None}:
        line = [n for n in order if items[n].get("session") == name]
        for at, n in enumerate(line):
            for distance in range(len(around.before)):
                earlier[distance, n] = line[at - distance - 1] if at > distance else -1
            for distance in range(len(around.after)):
                later[distance, n] = line[at + distance + 1] if at + distance + 1 < len(line) else -1
    return Turns(
        cosines=np.array([raw[str(item["id"])] for item in items], dtype=np.float64),
        matches=matches,
        match_weights=np.array(searches.weights),
        spoke=np.array([str(item["source"]).lower() in searches.speakers for item in items]),
        earlier=earlier,
        later=later,
    )
