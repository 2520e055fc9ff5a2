"""Which memories are given: filters, caps, budgets, evidence, variety; working context; sharing; calibration."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import numpy as np
import pytest

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.cognition.selection import tokens
from graphmem.errors import InvalidInput, InvalidTime, UnknownMemory
from graphmem.models import PAPER, RECALL, Filters, Profile, Weights

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ONLY_RELEVANCE = Weights(relevance=1, recency=0, importance=0)


@pytest.fixture(scope="module")
async def varied(memory: AsyncMemory) -> AsyncAgent:
    """600 memories, past the size that is scored whole; few at the pier, fewer at the mill."""
    agent = memory.agent(f"filters-{uuid4().hex}")
    await agent.observe_many(
        [
            {"text": f"the bell rings {n}", "id": f"m{n:03}", "kind": "fact" if n % 2 else "event",
             "place": "mill" if n % 150 == 7 else "pier" if n % 6 == 5 else "quay", "importance": 1 + n % 10,
             "source": "Ada" if n % 3 else "Mo", "occurred_at": T - timedelta(hours=n)}
            for n in range(600)
        ],
        now=T,
    )  # fmt: skip
    return agent


@pytest.mark.parametrize("profile", [PAPER, RECALL])
@pytest.mark.parametrize(
    ("filters", "passing"),
    [
        ({"place": "mill"}, {7, 157, 307, 457}),
        ({"place": "pier", "kinds": ["event"]}, set[int]()),
        ({"since": T - timedelta(hours=3), "until": T}, {1, 2, 3}),
        ({"until": T - timedelta(hours=590), "source": "Mo"}, {591, 594, 597}),
        ({"kinds": ["insight"]}, set[int]()),
        ({"place": "mill", "source": "Ada", "since": T - timedelta(hours=200)}, {7, 157}),
    ],
)
async def test_all_that_pass_the_filters_are_found_however_few(
    varied: AsyncAgent, profile: Profile, filters: dict[str, object], passing: set[int]
) -> None:
    hits = await varied.retrieve("bell", k=10, profile=profile, touch=False, now=T, **filters)  # pyright: ignore[reportArgumentType]
    assert {hit.memory.id for hit in hits} == {f"m{n:03}" for n in passing}
    assert hits.exact is (True if profile is PAPER else None)


async def test_filters_change_no_score_and_stay_exact(varied: AsyncAgent) -> None:
    whole = await varied.retrieve("bell", k=600, touch=False, now=T)
    by_id = {hit.memory.id: hit.score for hit in whole}
    for filters in ({"place": "pier"}, {"kinds": ("fact",)}, {"source": "Ada"}, {"place": "mill"}):
        some = await varied.retrieve("bell", k=10, touch=False, now=T, **filters)  # pyright: ignore[reportArgumentType]
        wanted = Filters.model_validate(filters)
        rest = [
            hit.score
            for hit in whole
            if (wanted.place in (None, getattr(hit.memory, "place", None)))
            and (wanted.source in (None, getattr(hit.memory, "source", None)))
            and (wanted.kinds is None or hit.memory.kind in wanted.kinds)
        ]
        assert some.exact
        assert [hit.score for hit in some] == pytest.approx(rest[:10], abs=1e-5)
        assert [hit.score for hit in some] == pytest.approx([by_id[hit.memory.id] for hit in some], abs=1e-5)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kinds": []}, {"kinds": "fact"}, {"place": ""}, {"source": "\x00"}, {"max_inferred": -1}, {"evidence": -1},
        {"max_inferred": True}, {"token_budget": 0}, {"token_budget": 2.5}, {"evidence": "1"},
    ],
)  # fmt: skip
async def test_what_selects_nothing_sensible_is_refused(agent: AsyncAgent, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        await agent.retrieve("bell", **wrong)  # pyright: ignore[reportArgumentType]


async def test_times_of_filters_need_a_zone_and_an_order(agent: AsyncAgent) -> None:
    with pytest.raises(InvalidTime):
        await agent.retrieve("bell", since="2026-03-01T10:00:00")
    with pytest.raises(InvalidTime):
        await agent.retrieve("bell", since=T, until=T)


@pytest.mark.parametrize("weights", [{"relevance": 1e308, "recency": 1e308}, {"support": 1e7}, {"importance": -0.1}])
def test_weights_that_overflow_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"less than or equal|greater than or equal"):
        Weights(**weights)


MURALS = [
    "Klara painted the mural at the school", "Klara painted a mural for the library", "Klara painted the harbour wall",
    "Jonas rows to the island", "Jonas rows against the tide", "Jonas rows before breakfast",
    "Klara painted the ferry house", "the bakery opens at six",
]  # fmt: skip


@pytest.mark.report("B15")
async def test_inferences_are_capped_and_brought_with_their_grounds(agent: AsyncAgent) -> None:
    await agent.observe_many([{"text": text, "id": f"p{n}", "source": "Ines"} for n, text in enumerate(MURALS)], now=T)
    report = await agent.reflect(force=True, now=T)
    assert report.reflections, report
    hits = await agent.retrieve("Klara mural", k=30, now=T, touch=False, evidence=2)
    inferred = [hit for hit in hits if hit.memory.type == "reflection"]
    assert inferred
    assert all(1 <= len(hit.evidence) <= 2 for hit in inferred)
    assert all(not hit.evidence for hit in hits if hit.memory.type != "reflection")
    capped = await agent.retrieve("Klara mural", k=8, now=T, touch=False, max_inferred=0)
    assert len(capped) == 8
    assert {hit.memory.type for hit in capped} == {"observation"}
    assert capped.exact


async def test_support_counts_and_is_explained(agent: AsyncAgent) -> None:
    await agent.observe_many([{"text": text, "id": f"p{n}", "source": "Ines"} for n, text in enumerate(MURALS)], now=T)
    await agent.reflect(force=True, now=T)
    hits = await agent.retrieve("Klara", k=20, weights=Weights(support=0.5), now=T, touch=False)
    for hit in hits:
        assert hit.support is not None
        parts = (hit.relevance, hit.recency, hit.importance, hit.support)
        assert hit.score == pytest.approx(sum(part.contribution for part in parts), abs=1e-9)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    told = {hit.support.raw for hit in hits if hit.support and hit.memory.type == "observation"}
    assert told == {1.0}


async def test_a_budget_takes_the_best_that_fit_and_names_the_others(agent: AsyncAgent) -> None:
    await agent.observe("bell " * 100, id="long", source="A", occurred_at=T)
    await agent.observe("bell", id="short", source="B", occurred_at=T)
    await agent.observe("a bell tower", id="other", source="C", occurred_at=T)
    hits = await agent.retrieve("bell", token_budget=20, weights=ONLY_RELEVANCE, now=T, touch=True)
    assert {hit.memory.id for hit in hits} == {"short", "other"}
    assert hits.left_out == ("long",)
    assert hits.tokens is not None
    assert hits.tokens <= 20
    assert tokens("abcde") == 2
    assert tokens("灯台") == 2


async def test_variety_prefers_what_is_new(agent: AsyncAgent) -> None:
    for n, text in enumerate(["the harbour bell rings", "the harbour bell rings twice", "a harbour of salt"]):
        await agent.observe(text, id=f"v{n}", importance=5, occurred_at=T)
    plain = await agent.retrieve("harbour bell rings", k=2, weights=ONLY_RELEVANCE, now=T, touch=False)
    assert {hit.memory.id for hit in plain} == {"v0", "v1"}
    profile = Profile(name="varied", weights=ONLY_RELEVANCE, diversity=0.9)
    varied = await agent.retrieve("harbour bell rings", k=2, profile=profile, now=T, touch=False)
    assert "v2" in {hit.memory.id for hit in varied}
    assert varied.exact is None


# --- working context ---------------------------------------------------------------------------------------------


async def test_a_context_fits_its_budget_and_names_what_it_leaves_out(agent: AsyncAgent) -> None:
    await agent.configure(name="Ines", traits="keeps the lighthouse")
    await agent.observe_many(
        [{"text": f"the lamp was trimmed,\nnight {n}", "id": f"n{n}", "occurred_at": T} for n in range(30)]
        + [{"text": "the lamp burns oil", "kind": "fact", "id": "oil", "occurred_at": T}],
        now=T,
    )
    found = await agent.context("Why is the lamp dark?", token_budget=200, now=T)
    assert found.text.startswith("This is the memory of Ines: keeps the lighthouse.")
    assert found.tokens == tokens(found.text) <= 200
    assert found.left_out
    assert {hit.memory.id for hit in found.hits}.isdisjoint(found.left_out)
    assert all(f"[{hit.memory.id}]" in found.text for hit in found.hits)
    assert "trimmed, night" in found.text  # One line a memory, whatever its text holds.
    with pytest.raises(InvalidInput, match="no room"):
        await agent.context("lamp", token_budget=3, now=T)


async def test_a_context_of_an_empty_memory_is_who_it_is(agent: AsyncAgent) -> None:
    found = await agent.context("anything", now=T)
    assert found.text == f"This is the memory of {agent.id}."
    assert (found.hits, found.left_out) == ((), ())


# --- sharing -----------------------------------------------------------------------------------------------------


async def test_what_is_shared_is_heard_from_the_original(
    agent: AsyncAgent, new_agent: Callable[[], AsyncAgent]
) -> None:
    other = new_agent()
    await agent.observe("the ferry leaves at nine", id="ferry", now=T)
    heard = await agent.share("ferry", with_=other.id, now=T)
    assert (heard.agent_id, heard.text, heard.source, heard.kind) == (
        other.id, "the ferry leaves at nine", agent.id, "utterance",
    )  # fmt: skip
    again = await agent.share("ferry", with_=other.id, now=T + timedelta(hours=1))
    assert again.id == heard.id
    assert len(await other.memories()) == 1
    assert await other.check() == ()
    await agent.supersede("ferry", text="the ferry leaves at ten", now=T)
    assert (await other.get(heard.id)).status == "active"  # Provenance only: no staleness crosses agents.
    with pytest.raises(InvalidInput, match="superseded"):
        await agent.share("ferry", with_=other.id)
    with pytest.raises(InvalidInput, match="itself"):
        await agent.share("ferry", with_=agent.id)
    with pytest.raises(UnknownMemory):
        await agent.share("nothing", with_=other.id)


# --- calibration -------------------------------------------------------------------------------------------------


async def test_calibrating_finds_the_signal_that_answers(agent: AsyncAgent) -> None:
    chance = np.random.default_rng(3)
    names = [f"word{n}" for n in range(40)]
    items = [
        {"text": f"{names[n]} and {names[int(chance.integers(40))]}", "id": f"m{n}", "source": "Ada",
         "importance": 10 if n % 2 else 1, "occurred_at": T - timedelta(hours=n)}
        for n in range(40)
    ]  # fmt: skip
    await agent.observe_many(items, now=T)
    questions = [{"query": f"what of {names[n]}?", "relevant": [f"m{n}"], "category": "word"} for n in range(0, 40, 2)]
    found = await agent.calibrate(questions, now=T)
    assert found.questions == 20
    assert 0 <= found.after.recall_at_10.low <= found.after.recall_at_10.mean <= found.after.recall_at_10.high <= 1
    assert found.after.ndcg_at_10.mean >= found.before.ndcg_at_10.mean - 0.1
    assert set(found.after.by_category) == {"word"}
    hits = await agent.retrieve("what of word4?", profile=found.profile, now=T, touch=False)
    assert "m4" in {hit.memory.id for hit in hits}
    with pytest.raises(InvalidInput, match="too few"):
        await agent.calibrate(questions[:3])
    with pytest.raises(UnknownMemory, match="m99"):
        await agent.calibrate([{"query": "x", "relevant": ["m99"]}] * 10)
