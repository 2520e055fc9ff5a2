"""Nobody comes into being by being asked: verbs of an agent that is not there raise, and write nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
from scripted import Open, Scripted

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.async_living import AsyncLiving
from graphmem.async_talks import AsyncTalks
from graphmem.errors import UnknownAgent

T = datetime(2026, 6, 12, 8, tzinfo=UTC)

ASKED: dict[str, Callable[[AsyncAgent], Awaitable[object]]] = {
    "summarise": lambda agent: agent.summarise(now=T),
    "digest": lambda agent: agent.digest("2026-06-12", now=T),
    "plan_day": lambda agent: agent.plan_day(now=T),
    "plans": lambda agent: agent.plans("2026-06-12"),
    "current_plan": lambda agent: agent.current_plan(T),
    "react": lambda agent: agent.react("Smoke at the shed", now=T),
    "replan": lambda agent: agent.replan(now=T),
    "finish": lambda agent: agent.finish("plan", now=T),
    "learn": lambda agent: agent.learn(now=T),
    "ask": lambda agent: agent.ask("Where is the ferry?", now=T),
    "say": lambda agent: agent.say(f"{agent.id}-friend", "The ferry is late", now=T),
    "places": lambda agent: agent.places(),
    "whereabouts": lambda agent: agent.whereabouts(),
    "perceive": lambda agent: agent.perceive(now=T),
    "act": lambda agent: agent.act(T),
    "interview": lambda agent: agent.interview(now=T),
    "evaluate": lambda agent: agent.evaluate(now=T),
}
TALKS: dict[str, Callable[[AsyncMemory, str, str], Awaitable[object]]] = {
    "converse": lambda memory, one, other: memory.converse(one, other, now=T),
    "diffusion": lambda memory, one, other: memory.diffusion("The ferry is late", agents=[one, other]),
}
MAKES = {"settle"}
"""Verbs that make an agent, as observe does."""


def verbs(half: type) -> set[str]:
    return {name for name in vars(half) if not name.startswith("_")}


def test_every_verb_was_decided_on() -> None:
    assert verbs(AsyncLiving) == set(ASKED) | MAKES
    assert verbs(AsyncTalks) == set(TALKS)


@pytest.mark.parametrize("verb", sorted(ASKED))
async def test_who_is_not_there_cannot_be_asked(memory: AsyncMemory, agent: AsyncAgent, verb: str) -> None:
    with pytest.raises(UnknownAgent, match=f"no agent '{agent.id[:20]}"):
        await ASKED[verb](agent)
    ids = {info.id for info in await memory.agents()}
    assert not {agent.id, f"{agent.id}-friend"} & ids


@pytest.mark.parametrize("verb", sorted(TALKS))
async def test_who_is_not_there_cannot_be_talked_to(memory: AsyncMemory, agent: AsyncAgent, verb: str) -> None:
    await agent.observe("The ferry is late", importance=8, now=T)
    for one, other in ((agent.id, f"{agent.id}-friend"), (f"{agent.id}-friend", agent.id)):
        with pytest.raises(UnknownAgent, match="-friend'"):
            await TALKS[verb](memory, one, other)
    assert f"{agent.id}-friend" not in {info.id for info in await memory.agents()}
    assert await agent.runs() == ()


async def test_the_first_thing_observed_may_be_rated_by_a_model_at_once(thinking: Open) -> None:
    agent = await thinking(Scripted(rate=lambda _: {"ratings": [{"number": 1, "importance": 9}]}))
    assert (await agent.observe("The shed is on fire", ask=True, now=T)).importance == 9
    assert [run.verb for run in await agent.runs()] == ["rate"]
