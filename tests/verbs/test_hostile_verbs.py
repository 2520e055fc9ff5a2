"""Hostile texts through the verbs of living and talking: kept as they are, or refused by name before anything is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from hostile import EXAMPLES, TEXTS, can_be_kept, told
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis_settings

from graphmem import Memory
from graphmem.agent import Agent
from graphmem.errors import GraphmemError, InvalidInput
from graphmem.models.calibration import Question
from tests.verbs.test_hostile_text import nodes

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
pytestmark = pytest.mark.slow
hostile = hypothesis_settings(max_examples=EXAMPLES // 4, deadline=None, suppress_health_check=list(HealthCheck))
MEGABYTE = "lamp " * 200_000
KNOWN = {"o6": "The lamp is lit at 6 in the evening", "o7": "The lamp is lit at 7 in the evening"}


def lived(memory: Memory) -> tuple[Agent, Agent]:
    """Two who know something, and of each other."""
    tag = uuid4().hex[:12]
    bo, ana = memory.agent(f"bo-{tag}"), memory.agent(f"ana-{tag}")
    for agent in (bo, ana):
        agent.configure(name=agent.id[:3].strip("-"), time_zone="Europe/Lisbon")
        agent.observe_many([{"text": text, "id": id_, "importance": 3} for id_, text in KNOWN.items()], now=T)
    return bo, ana


def calls(memory: Memory, bo: Agent, ana: Agent, text: str, name: str) -> dict[str, Callable[[], object]]:
    """Every call that takes a text, by what is given there."""
    world = {"name": f"w{uuid4().hex}", "places": [{"path": ["w", "house", "room"]}]}
    simulation = {"name": "s", "agents": [bo.id], "start": T, "steps": 1}
    simulate, build = memory.simulate, memory.build_world
    return {
        "ask": partial(bo.ask, text, now=T),
        "ask, types": partial(bo.ask, "the lamp", types=[name], now=T),  # pyright: ignore[reportArgumentType]
        "context": partial(bo.context, text, now=T),
        "calibrate": partial(bo.calibrate, [{"query": text, "relevant": [name]}], now=T),
        "interview": partial(bo.interview, questions=[("memory", "Where is the lamp?"), ("memory", text)], now=T),
        "interview, area": partial(bo.interview, questions=[(name, "Where is the lamp?")], now=T),  # pyright: ignore[reportArgumentType]
        "react": partial(bo.react, text, now=T),
        "react, about": partial(bo.react, "o6", about=name, now=T),
        "react, text and about": partial(bo.react, "The lamp fell", about=name, now=T),
        "say": partial(bo.say, ana.id, text, now=T),
        "say, to": partial(bo.say, name, "Hello", now=T),
        "say, telling": partial(bo.say, ana.id, "Hello", telling=[name], now=T),
        "say, session": partial(bo.say, ana.id, "Hello", session=name, now=T),
        "say, place": partial(bo.say, ana.id, "Hello", place=name, now=T),
        "converse": partial(memory.converse, bo.id, ana.id, about=text, turns=2, now=T),
        "converse, id": partial(memory.converse, bo.id, ana.id, id=name, turns=2, now=T),
        "converse, place": partial(memory.converse, bo.id, ana.id, place=name, turns=2, now=T),
        "converse, b": partial(memory.converse, bo.id, name, turns=2, now=T),
        "plan_day": partial(bo.plan_day, text, now=T),
        "plans": partial(bo.plans, text),
        "plans, grain": partial(bo.plans, "2026-03-01", name),
        "current_plan": partial(bo.current_plan, text),
        "finish": partial(bo.finish, name, reason=text, now=T),
        "digest": partial(bo.digest, text, now=T),
        "settle": partial(bo.settle, text, now=T),
        "settle, knows": partial(bo.settle, "w:house:room", knows=[name], now=T),
        "act": partial(bo.act, text),
        "archive": partial(bo.archive, older_than=text, importance_below=3, now=T),
        "unarchive": partial(bo.unarchive, [name], now=T),
        "share": partial(bo.share, "o6", with_=name, now=T),
        "diffusion": partial(memory.diffusion, text, agents=[bo.id, ana.id]),
        "diffusion, from": partial(memory.diffusion, "the lamp", from_=name),
        "diffusion, agents": partial(memory.diffusion, "the lamp", agents=[name]),
        "explain, as of": partial(bo.explain, "o6", as_of=text),
        "simulate, name": partial(simulate, simulation | {"name": name}),
        "simulate, agents": partial(simulate, simulation | {"agents": [bo.id, name]}),
        "simulate, start": partial(simulate, simulation | {"start": text}),
        "simulate, field": partial(simulate, simulation | {name: text}),
        "replay": partial(memory.replay, name),
        "build_world, name": partial(build, world | {"name": name}),
        "build_world, path": partial(build, world | {"places": [{"path": ["w", name]}]}),
        "build_world, uses": partial(build, world | {"places": [{"path": ["w"], "uses": [text], "staff": [name]}]}),
        "build_world, hours": partial(build, world | {"places": [{"path": ["w"], "hours": [text]}]}),
        "build_world, zone": partial(build, world | {"time_zone": text}),
        "world": partial(memory.world, name),
        "forget_agent": partial(memory.forget_agent, name),
        "evaluate": partial(bo.evaluate, questions=[Question.model_construct(query=text, relevant=(name,))], now=T),
    }  # fmt: skip


@hostile
@given(text=TEXTS, name=TEXTS)
@example(text="x}) DETACH DELETE n //", name="o'brien`")
@example(text='"*:* AND \\ (~', name="a lone \ud83e surrogate")
@example(text="\0", name="n\0")
def test_whatever_is_given_to_a_verb_is_kept_or_refused_before_anything_is(
    sync_memory: Memory, text: str, name: str
) -> None:
    bo, ana = lived(sync_memory)
    for what, call in calls(sync_memory, bo, ana, text, name).items():
        before = nodes(sync_memory)
        try:
            call()
        except GraphmemError as refused:
            told(refused)
            if nodes(sync_memory) != before:
                pytest.fail(f"{what} was refused and left something: {refused}")
    assert bo.check() == ()
    assert ana.check() == ()
    assert {id_: bo.get(id_).text for id_ in KNOWN} == KNOWN


@hostile
@given(text=TEXTS, name=TEXTS)
@example(text="x}) DETACH DELETE n //", name="o'brien`")
def test_what_is_kept_is_kept_as_it_was_given(sync_memory: Memory, text: str, name: str) -> None:
    if not (can_be_kept(text) and can_be_kept(name)):
        return
    bo, ana = lived(sync_memory)
    said = bo.say(ana.id, text, session=name, place=name, telling=["o6"], id=name, now=T)
    heard = ana.get(name)
    assert (said.text, said.session, said.place) == (heard.text, heard.session, heard.place) == (text, name, name)  # pyright: ignore[reportAttributeAccessIssue]
    reaction = bo.react(text, about=name, now=T)
    assert reaction.observation.text == text
    assert bo.ask(text, now=T).question == text
    talk = sync_memory.converse(bo.id, ana.id, about=text, place=name, turns=2, now=T)
    assert talk.about == text
    assert {bo.get(said.id).place for said in talk.utterances} <= {name}  # pyright: ignore[reportAttributeAccessIssue]
    interview = bo.interview(questions=[("memory", text)], now=T)
    assert [asked.question for asked in interview.asked] == [text]
    if ":" not in name:
        world = f"w{uuid4().hex}"
        path = [world, name, "room"]
        sync_memory.build_world({"name": world, "places": [{"path": path, "uses": [name]}]})
        address = ":".join(path)
        assert address in {place.path for place in sync_memory.world(world)}
        assert bo.settle(address, now=T).home == address
        assert bo.whereabouts().place == address
    assert bo.check() == ()
    assert ana.check() == ()


LARGE: dict[str, Any] = {"text": MEGABYTE, "name": MEGABYTE}


def test_a_megabyte_is_refused_by_every_verb(sync_memory: Memory) -> None:
    bo, ana = lived(sync_memory)
    before = nodes(sync_memory)
    for what, call in calls(sync_memory, bo, ana, **LARGE).items():
        with pytest.raises(GraphmemError) as caught:
            call()
        assert isinstance(caught.value, InvalidInput) or "no " in str(caught.value), what
        told(caught.value)
        assert nodes(sync_memory) == before, what
