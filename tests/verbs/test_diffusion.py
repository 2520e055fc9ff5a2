"""Who knows what, and from whom: ways back to the origin, stages with reasons, claims without a source, density."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from scripted import Scripted

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.embedding.base import Embedder
from graphmem.errors import InvalidInput, UnknownAgent, UnknownMemory
from graphmem.models.diffusion import Density

T = datetime(2026, 6, 12, 8, tzinfo=UTC)
FEAST = "I am giving a lantern feast in the net loft on Friday at seven, everybody is invited."
ABOUT = "the lantern feast"


@dataclass
class Town:
    memory: AsyncMemory
    ines: AsyncAgent
    tobias: AsyncAgent
    klara: AsyncAgent
    otto: AsyncAgent

    @property
    def ids(self) -> list[str]:
        return [self.ines.id, self.tobias.id, self.klara.id, self.otto.id]


@pytest.fixture
async def town(memory: AsyncMemory, new_agent: Callable[[], AsyncAgent]) -> AsyncIterator[Town]:
    """Ines tells Tobias, and Tobias tells Klara; Otto talks to nobody."""
    agents = [new_agent() for _ in range(4)]
    for agent, name in zip(agents, ("Ines", "Tobias", "Klara", "Otto"), strict=True):
        await agent.configure(name=f"{name} {agent.id[-5:]}x")
        await agent.observe("The tide was high.", importance=2, now=T)
    found = Town(memory, *agents)
    await found.ines.observe(FEAST, id="feast", importance=8, now=T)
    await memory.converse(found.ines.id, found.tobias.id, about=ABOUT, id="one", now=T + timedelta(hours=1))
    await memory.converse(found.tobias.id, found.klara.id, about=ABOUT, id="two", now=T + timedelta(hours=2))
    yield found
    for agent in agents:
        assert await agent.check() == ()


async def test_somebody_learns_of_it_second_hand_and_the_way_leads_back(town: Town) -> None:
    found = await town.memory.diffusion("feast", from_=town.ines.id, agents=town.ids)
    ines, tobias, klara, otto = found.agents
    assert [one.agent_id for one in found.agents] == town.ids
    assert ines.origin
    assert [(step.agent_id, step.id) for step in tobias.way] == [
        (town.tobias.id, "one/u001"),
        (town.ines.id, "one/u001"),
        (town.ines.id, "feast"),
    ]
    assert klara.heard_from == town.tobias.id
    assert [(step.agent_id, step.id) for step in klara.way] == [
        (town.klara.id, "two/u001"),
        (town.tobias.id, "two/u001"),
        (town.tobias.id, "one/u001"),
        (town.ines.id, "one/u001"),
        (town.ines.id, "feast"),
    ]
    assert (otto.stage, otto.reason) == ("unaware", "nobody told it")
    assert [one.stage for one in (tobias, klara)] == ["heard", "heard"]
    assert all(one.reason for one in found.agents if one.stage != "attended")
    assert found.hallucinated == ()
    assert len(found.claims) == 2


async def test_a_text_finds_where_it_began(town: Town) -> None:
    found = await town.memory.diffusion(ABOUT, agents=town.ids)
    assert [(step.agent_id, step.id) for step in found.origins] == [(town.ines.id, "feast")]
    assert len(found.reached("heard")) == 3


async def test_without_talking_nobody_learns_of_it(town: Town) -> None:
    await town.otto.observe("A wreck lies off the sandbank.", id="wreck", now=T)
    found = await town.memory.diffusion("the wreck off the sandbank", agents=town.ids)
    assert [one.agent_id for one in found.reached("heard")] == [town.otto.id]


async def test_wanting_is_not_planning_and_a_refusal_is_told(town: Town) -> None:
    later = T + timedelta(hours=3)
    await town.tobias.say(town.ines.id, "I would love to come to the lantern feast!", now=later)
    await town.klara.say(town.ines.id, "I can't come to the lantern feast, I have no time.", now=later)
    found = await town.memory.diffusion("feast", from_=town.ines.id, agents=town.ids)
    stages = {one.agent_id: one for one in found.agents}
    assert stages[town.tobias.id].stage == "willing"
    assert stages[town.tobias.id].reason == "it is in no plan"
    assert stages[town.klara.id].stage == "heard"
    assert "no time" in stages[town.klara.id].reason


async def test_a_plan_for_it_counts_though_it_tells_neither_when_nor_who_is_invited(town: Town) -> None:
    text = "There is a dance on the Green tonight at 19:00, everyone is invited."
    await town.otto.observe(text, id="dance", kind="fact", importance=8, now=T)
    await town.otto.plan_day("2026-06-12", now=T)
    found = await town.memory.diffusion("dance", from_=town.otto.id, agents=town.ids)
    otto = next(one for one in found.agents if one.agent_id == town.otto.id)
    assert otto.stage == "planned"
    assert otto.plan is not None
    assert otto.plan.text.startswith("go to the dance on the Green")


async def test_a_claim_that_nobody_told_counts_as_hallucinated(town: Town) -> None:
    await town.otto.say(town.klara.id, "The lantern feast has fireworks.", id="made-up", now=T + timedelta(hours=3))
    found = await town.memory.diffusion("feast", from_=town.ines.id, agents=town.ids)
    assert [(claim.agent_id, claim.id) for claim in found.hallucinated] == [(town.otto.id, "made-up")]
    assert len(found.claims) == 3


async def test_talking_makes_the_network_denser(town: Town) -> None:
    found = await town.memory.diffusion("feast", from_=town.ines.id, agents=town.ids)
    assert (found.before.pairs, found.before.value) == (0, 0.0)
    # Klara was told by Tobias what Ines said; Ines has never heard of Klara.
    assert found.after.pairs == 2
    assert found.after.value == pytest.approx(2 * 2 / (4 * 3))
    assert Density(agents=1, pairs=0).value == 0.0


async def test_what_cannot_be_followed_is_refused(town: Town) -> None:
    with pytest.raises(UnknownMemory):
        await town.memory.diffusion("the volcano of Lipari", agents=town.ids)
    with pytest.raises(InvalidInput, match="carries meaning"):
        await town.memory.diffusion("what is it", agents=town.ids)
    with pytest.raises(UnknownAgent):
        await town.memory.diffusion("feast", from_="nobody at all")


async def test_planning_and_attending_are_told_apart(town: Town, embedder: Embedder) -> None:
    """Tobias plans to go and goes, Klara plans to and drops it."""
    day = [
        {"start": "00:00", "end": "19:00", "text": "mend nets"},
        {"start": "19:00", "end": "24:00", "text": "plan to be at the lantern feast in the net loft"},
    ]
    later = T + timedelta(hours=3)
    model = Scripted(plan=lambda task: {"plan": day})
    async with await AsyncMemory.open(settings=town.memory.settings, embedder=embedder, language_model=model) as own:
        for agent, state, reason in ((town.tobias, "done", ""), (town.klara, "dropped", "fell ill")):
            await own.agent(agent.id).plan_day(now=later)
            (plan,) = [one for one in await agent.plans(later.date(), "day") if "lantern" in one.text]
            found = await town.memory.diffusion("feast", from_=town.ines.id, agents=town.ids)
            (before,) = [one for one in found.agents if one.agent_id == agent.id]
            assert before.stage == "planned"
            assert "planned for 2026-06-12" in before.reason
            await agent.finish(plan.id, state=state, reason=reason, now=later + timedelta(hours=15))
    found = await town.memory.diffusion("feast", from_=town.ines.id, agents=town.ids)
    stages = {one.agent_id: (one.stage, one.reason) for one in found.agents}
    assert stages[town.tobias.id] == ("attended", "")
    assert stages[town.klara.id] == ("planned", "dropped: fell ill")
    assert 0 < len(found.reached("attended")) < len(found.agents)
