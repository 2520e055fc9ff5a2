"""Conversations: what is told, to whom, from where; nothing made up, nothing twice, killed at any moment."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from scripted import Open, Scripted, numbers_of

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.errors import InvalidInput, LanguageModelError
from graphmem.language.base import Reply, Task
from graphmem.language.dialogue import Speak
from graphmem.language.extractive import Extractive
from graphmem.models import Observation

T = datetime(2026, 6, 12, 8, tzinfo=UTC)
NewAgent = Callable[[], AsyncAgent]
FEAST = "I am giving a lantern feast in the net loft on Friday at seven, everybody is invited."


async def edges(memory: AsyncMemory, agent: AsyncAgent, id_: str) -> list[tuple[str, str]]:
    """Whose memory one was heard from, as the browser's query shows it."""
    rows = await memory._engine.store.query("say/session", agentId=agent.id, session=id_.split("/")[0], prefix=id_)
    return [(row["memory"]["id"], "heard" if row["heard"] else "said") for row in rows]


async def named(*agents: AsyncAgent) -> None:
    for agent, name in zip(agents, ("Ines", "Tobias", "Klara"), strict=False):
        await agent.configure(name=name)


async def test_saying_is_remembered_by_both(memory: AsyncMemory, agent: AsyncAgent, new_agent: NewAgent) -> None:
    other = new_agent()
    await named(agent, other)
    said = await agent.say(other.id, "The ferry is late.", id="talk/u001", session="talk", now=T)
    again = await agent.say(other.id, "The ferry is late.", id="talk/u001", session="talk", now=T)
    assert said == again
    assert (said.source, said.kind) == ("Ines", "utterance")
    heard = await other.get("talk/u001")
    assert heard.text == said.text
    assert await edges(memory, agent, "talk/u001") == [("talk/u001", "said")]
    assert await edges(memory, other, "talk/u001") == [("talk/u001", "heard")]
    assert await other.check() == ()


async def test_saying_to_oneself_or_what_is_not_held_is_refused(agent: AsyncAgent, new_agent: NewAgent) -> None:
    with pytest.raises(InvalidInput, match="itself"):
        await agent.say(agent.id, "hello")
    await agent.observe("The ferry is late", id="f")
    await agent.retract("f")
    with pytest.raises(InvalidInput, match="not held"):
        await agent.say(new_agent().id, "The ferry is late", telling=["f"])


async def test_news_travels_with_who_said_it(memory: AsyncMemory, agent: AsyncAgent, new_agent: NewAgent) -> None:
    other, third = new_agent(), new_agent()
    await named(agent, other, third)
    await agent.observe(FEAST, id="feast", importance=8, now=T)
    talk = await memory.converse(agent.id, other.id, about="the lantern feast", now=T)
    assert [(said.speaker, said.text, said.citations) for said in talk.utterances] == [(agent.id, FEAST, ("feast",))]
    assert talk.ended == "over"
    second = await memory.converse(other.id, third.id, about="the lantern feast", now=T)
    assert [said.text for said in second.utterances] == [f"Ines told me: “{FEAST}”"]
    for who, summary in {**talk.summaries, **second.summaries}.items():
        assert summary.kind == "summary"
        assert (await memory.agent(who).explain(summary.id)).grounds_of(summary.id)
    assert set(talk.summaries) == {agent.id, other.id}
    answer = await third.ask("Who gives the lantern feast?", now=T)
    assert "I heard from Tobias what Ines said: “I am giving a lantern feast" in answer.text
    for one in (other, third):
        assert await one.check() == ()


async def test_nothing_is_told_twice_nor_back(memory: AsyncMemory, agent: AsyncAgent, new_agent: NewAgent) -> None:
    other = new_agent()
    await named(agent, other)
    await agent.observe(FEAST, id="feast", importance=8, now=T)
    assert len((await memory.converse(agent.id, other.id, now=T)).utterances) == 1
    assert (await memory.converse(agent.id, other.id, now=T)).utterances == ()
    assert (await memory.converse(other.id, agent.id, now=T)).utterances == ()


async def test_an_invitation_goes_before_all_else(memory: AsyncMemory, agent: AsyncAgent, new_agent: NewAgent) -> None:
    """Also before weightier things, and before what has to do with the other; what was seen or planned is not told."""
    other = new_agent()
    await named(agent, other)
    await agent.observe("My grandmother died last winter.", importance=10, now=T)
    await agent.observe("Tobias mends nets.", kind="fact", importance=5, now=T)
    await agent.observe("Tobias is in the surgery: treat patients at the Clinic", importance=8, now=T)
    await agent.observe("There is a dance tonight at 19:00, everyone is invited.", id="dance", importance=7, now=T)
    await agent.plan_day(now=T)
    talk = await memory.converse(agent.id, other.id, now=T)
    said = [said.text for said in talk.utterances if said.speaker == agent.id]
    assert said[0] == "There is a dance tonight at 19:00, everyone is invited."
    assert not [text for text in said if "surgery" in text or "plan" in text]


async def test_what_is_over_is_no_invitation(memory: AsyncMemory, agent: AsyncAgent, new_agent: NewAgent) -> None:
    other = new_agent()
    await named(agent, other)
    await agent.observe("A storm took the mast.", importance=7, now=T)
    await agent.observe("There is a dance today at 9:00, everyone is invited.", importance=6, now=T)
    talk = await memory.converse(agent.id, other.id, now=T.replace(hour=12))
    assert talk.utterances[0].text == "A storm took the mast."


async def test_news_that_both_have_from_a_third_is_not_told_back(
    memory: AsyncMemory, agent: AsyncAgent, new_agent: NewAgent
) -> None:
    one, other = new_agent(), new_agent()
    await named(agent, one, other)
    await agent.observe(FEAST, id="feast", importance=8, now=T)
    for who in (one, other):
        await memory.converse(agent.id, who.id, about="the lantern feast", now=T)
    talk = await memory.converse(one.id, other.id, about="the lantern feast", now=T)
    assert [said.speaker for said in talk.utterances] == [one.id]
    assert (await memory.converse(other.id, one.id, about="the lantern feast", now=T)).utterances == ()


async def test_who_has_nothing_to_say_says_nothing(memory: AsyncMemory, agent: AsyncAgent, new_agent: NewAgent) -> None:
    other = new_agent()
    await named(agent, other)
    await agent.observe("Gulls stole the bread.", importance=2, now=T)
    talk = await memory.converse(agent.id, other.id, about="the lantern feast", now=T)
    assert (talk.utterances, talk.summaries, talk.ended) == ((), {}, "over")


async def test_the_bound_on_turns_holds(memory: AsyncMemory, agent: AsyncAgent, new_agent: NewAgent) -> None:
    other = new_agent()
    await named(agent, other)
    for number in range(4):
        await agent.observe(f"A storm took mast number {number}", importance=9, now=T)
    talk = await memory.converse(agent.id, other.id, turns=2, now=T)
    assert (len(talk.utterances), talk.ended) == (2, "turns")


class Dies(Extractive):
    """Fails at the n-th thing that it is asked to say or note."""

    def __init__(self, at: int) -> None:
        self.left = at

    async def reply(self, task: Task[object]) -> Reply[object]:  # pyright: ignore[reportIncompatibleMethodOverride]
        self.left -= 1
        if self.left < 0:
            raise LanguageModelError("killed")
        return await super().reply(task)


@pytest.mark.faults
async def test_killed_at_any_moment_it_goes_on_and_nothing_is_said_twice(
    memory: AsyncMemory, thinking: Open, agent: AsyncAgent, new_agent: NewAgent
) -> None:
    async def meet(one: AsyncAgent, other: AsyncAgent) -> None:
        await one.configure(name="Ines")
        await other.configure(name="Tobias")
        for number in range(2):
            await one.observe(f"A storm took mast number {number}", id=f"m{number}", importance=9, now=T)
        await other.observe("The mill burned down", id="mill", importance=9, now=T)

    whole, listener = agent, new_agent()
    await meet(whole, listener)
    wanted = [
        (said.id, said.text) for said in (await memory.converse(whole.id, listener.id, id="talk", now=T)).utterances
    ]
    assert len(wanted) == 3
    one, other = new_agent(), new_agent()
    await meet(one, other)
    deaths = 0
    for at in range(12):
        dying = await thinking(Dies(1 if at else 0))
        try:
            talk = await AsyncMemory(dying._engine, None).converse(one.id, other.id, id="talk", now=T)
            break
        except LanguageModelError:
            deaths += 1
    else:
        talk = await memory.converse(one.id, other.id, id="talk", now=T)
    assert deaths >= 4
    assert [(said.id, said.text) for said in talk.utterances] == wanted
    assert set(talk.summaries) == {one.id, other.id}
    assert await memory.converse(one.id, other.id, id="talk", now=T) == talk.model_copy(
        update={"resumed": 3, "refused": ()}
    )
    heard = [item for item in await other.memories() if isinstance(item, Observation) and item.source == "Ines"]
    assert len(heard) == 2
    assert await one.check() == await other.check() == ()


async def test_a_model_may_greet_but_not_invent(thinking: Open, agent: AsyncAgent, new_agent: NewAgent) -> None:
    said = iter(
        [
            [
                {"text": "Good morning, Tobias!"},
                {"text": "Margot Duval sold the mill to Otto.", "evidence": []},
                {"text": "A lantern feast is on Friday.", "evidence": "feast"},
            ],
            [{"text": "Good morning, Ines!"}],
            [{"text": "Good morning, Ines!"}],
            [],
        ]
    )

    def speak(task: Speak) -> object:
        sentences = next(said)
        for one in sentences:
            if one.get("evidence") == "feast":
                one["evidence"] = numbers_of(task, "lantern")
        return {"sentences": sentences}

    mine = await thinking(Scripted(speak=speak))
    other = new_agent()
    await named(mine, other)
    await mine.observe("A lantern feast is on Friday, says the poster", id="feast", now=T)
    talk = await AsyncMemory(mine._engine, None).converse(mine.id, other.id, now=T)
    assert [one.text for one in talk.utterances] == [
        "Good morning, Tobias! A lantern feast is on Friday.",
        "Good morning, Ines!",
    ]
    assert talk.utterances[0].citations == ("feast",)
    assert [refused.gate for refused in talk.refused] == ["support", "shape"]
    assert "Margot" in talk.refused[0].reason
    assert talk.summaries == {}
