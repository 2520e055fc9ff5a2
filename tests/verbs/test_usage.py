"""What is spent is counted, by run and by agent, and a budget stops a request before it is exceeded."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from openai_server import says, serve
from pydantic import SecretStr
from scripted import Open, Scripted, numbers_of, rate_as

from graphmem import AsyncMemory
from graphmem.embedding.base import Embedder
from graphmem.errors import BudgetExceeded
from graphmem.language.litellm_model import LiteLLM
from graphmem.language.prompts import RateImportance

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SHIFTS = [
    {"text": "Orla swaps her late shift away", "id": "o1"},
    {"text": "Orla is cheerful at the early shift", "id": "o2"},
]


def likes_early(task: object) -> object:
    return {"insights": [{"text": "Orla likes the early shift", "evidence": numbers_of(task, "Orla")}]}


async def test_what_runs_cost_is_summed_by_verb_and_model(thinking: Open) -> None:
    agent = await thinking(Scripted(rate=rate_as(9), infer=likes_early))
    assert (await agent.usage()).runs == 0
    await agent.observe_many(SHIFTS, now=T, ask=True)
    await agent.reflect(force=True, now=T)
    usage = await agent.usage()
    # Questions, insights and the rating of the insight on one run, the ratings of what was observed on another.
    assert [(part.verb, part.model, part.runs, part.prompt_tokens) for part in usage.by] == [
        ("rate", "scripted", 1, 10),
        ("reflect", "scripted", 1, 30),
    ]
    assert (usage.runs, usage.prompt_tokens, usage.completion_tokens, usage.cost) == (2, 40, 12, None)
    assert usage.tokens_lately == 52


async def test_what_a_model_failed_at_is_on_the_run_of_its_ratings(thinking: Open) -> None:
    agent = await thinking(Scripted(rate=lambda task: {"ratings": [{"number": 1, "importance": 99}]}))
    await agent.observe("Orla swaps her shift", now=T, ask=True)
    (memory,) = await agent.memories()
    assert memory.importance_by == "default"
    (run,) = await agent.runs()
    assert (run.verb, run.outcome) == ("rate", "done")
    assert ["outside 1–10" in item.reason for item in run.refused] == [True]


async def test_a_budget_stops_before_it_is_exceeded_and_what_was_stopped_goes_on_later(
    memory: AsyncMemory, embedder: Embedder, agent_id: str
) -> None:
    settings = memory.settings.model_copy(update={"model_tokens_per_day": 2_000})
    model = Scripted(rate=rate_as(9), infer=likes_early)
    async with await AsyncMemory.open(settings=settings, embedder=embedder, language_model=model) as other:
        agent = other.agent(agent_id)
        await agent.configure(reflection_threshold=10)
        await agent.observe_many([{**item, "importance": 8} for item in SHIFTS], now=T)
        # A prompt and the 2,048 tokens that a reply may have are more than all that is allowed.
        with pytest.raises(BudgetExceeded, match="2,048 of reply; 2,000 are left") as stopped:
            await agent.reflect(now=T)
        assert "GRAPHMEM_MODEL_TOKENS_PER_DAY" in stopped.value.remedy
        assert model.tasks == []
        assert (await agent.info()).importance_since_reflection == 16
        assert (await other.work_once(agent=agent_id, now=T)).failures[0].error.startswith("the next request")
    async with await AsyncMemory.open(settings=memory.settings, embedder=embedder, language_model=model) as other:
        assert (await other.agent(agent_id).reflect(now=T)).outcome == "reflected"


async def test_a_budget_holds_for_every_attempt(memory: AsyncMemory, embedder: Embedder, agent_id: str) -> None:
    with serve(says("no idea", prompt_tokens=400, completion_tokens=100)) as server:
        settings = memory.settings.model_copy(update={"model_tokens_per_day": 1_400})
        model = LiteLLM(
            "openai/scripted", api_base=server.url, api_key=SecretStr("sk-testing-1"), attempts=9, max_tokens=300
        )
        async with await AsyncMemory.open(settings=settings, embedder=embedder, language_model=model) as other:
            agent = other.agent(agent_id)
            with pytest.raises(BudgetExceeded):
                await agent.observe("Orla swaps her shift", ask=True, now=T)
            usage = await agent.usage()
        assert 0 < usage.tokens_lately <= 1_400
        assert usage.tokens_lately == 500 * len(server.requests)
        assert usage.tokens_per_day == 1_400


async def test_ratings_that_are_cut_short_are_asked_for_in_halves(thinking: Open) -> None:
    from graphmem.errors import ReplyRefused

    def rate(task: RateImportance) -> object:
        if len(task.texts) > 3:
            raise ReplyRefused("the reply was truncated", gate="parse", truncated=True)
        return rate_as(7)(task)

    model = Scripted(rate=rate)
    agent = await thinking(model)
    await agent.observe_many([f"Orla does thing {n}" for n in range(10)], now=T, ask=True)
    assert {(m.importance, m.importance_by) for m in await agent.memories()} == {(7, "model")}
    assert [len(task.texts) for task in model.asked(RateImportance)] == [10, 5, 2, 3, 5, 2, 3]


@pytest.mark.parametrize("tokens", [10**25, 2**62, -5])
async def test_a_count_that_cannot_be_is_none(
    memory: AsyncMemory, embedder: Embedder, agent_id: str, tokens: int
) -> None:
    with serve(says('{"ratings": [{"number": 1, "importance": 7}]}', prompt_tokens=tokens, completion_tokens=6)) as it:
        model = LiteLLM("openai/scripted", api_base=it.url, api_key=SecretStr("sk-testing-1"))
        async with await AsyncMemory.open(settings=memory.settings, embedder=embedder, language_model=model) as other:
            agent = other.agent(agent_id)
            assert (await agent.observe("Orla swaps her late shift away", ask=True)).importance == 7
            usage = await agent.usage()
    assert (usage.prompt_tokens, usage.completion_tokens) == (0, 6)
