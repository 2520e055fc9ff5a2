"""Interviewing an agent over one finished history, and evaluating it; no answer changes the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC
from itertools import pairwise
from typing import get_args

from graphmem.cognition import grounding
from graphmem.cognition.ask import ask, name_of
from graphmem.cognition.engine import Engine, fetch
from graphmem.cognition.given import checked_list
from graphmem.cognition.look_up import must_exist
from graphmem.cognition.retrieve import checked_query
from graphmem.errors import InvalidInput
from graphmem.graph.records import to_memory
from graphmem.language import topics
from graphmem.models import AnyMemory, Observation, Plan, validated
from graphmem.models.answers import Answer
from graphmem.models.calibration import Question
from graphmem.models.interviews import (
    CONDITIONS,
    Area,
    Asked,
    Behaviour,
    Condition,
    Consistency,
    Evaluation,
    Interview,
    Past,
)

_READ = 1_000
"""Latest memories from which people and topics to ask about are chosen."""
_HOURS = (6, 10, 13, 18, 22)
"""Hours of the day, in UTC, for which plans are asked."""
_PLANS_ASKED = 10
"""Plans about whose time an evaluation asks."""
Progress = Callable[[int, int], None]


async def interview(
    engine: Engine,
    agent_id: str,
    *,
    questions: Sequence[tuple[Area, str]] | None = None,
    now: object = None,
    progress: Progress | None = None,
) -> Interview:
    """Ask 25 questions of five kinds under four conditions, by filters on one history (Park et al. 2023, section 6)."""
    at = await engine.now(agent_id, now)
    name = await name_of(engine, agent_id)
    if questions is not None:
        chosen = [_checked(item) for item in checked_list(questions, "questions")]
    else:
        chosen = await _questions(engine, agent_id, name, f"{at:%Y-%m-%d}")
    asked: list[Asked] = []
    cited: set[str] = set()
    for number, (area, question) in enumerate(chosen, start=1):
        answers: dict[Condition, Answer] = {
            condition: await ask(engine, agent_id, question, types=types, touch=False, now=at)
            for condition, types in CONDITIONS.items()
        }
        cited |= {id_ for answer in answers.values() for id_ in answer.citations}
        asked.append(Asked(area=area, question=question, answers=answers))
        if progress:
            progress(number, len(chosen))
    found = await engine.store.read(lambda tx: fetch(tx, agent_id, sorted(cited)))
    grounds = {id_: memory.text for id_, memory in found.items()}
    return Interview(agent_id=agent_id, name=name, now=at, asked=tuple(asked), grounds=grounds)


def _checked(item: object) -> tuple[Area, str]:
    """Refuse a question before any is asked."""
    pair = checked_list(item, "questions")
    if len(pair) != 2:
        raise InvalidInput(f"questions: {item!r:.80} is not an area and a question")
    area, question = pair
    if area not in get_args(Area):
        raise InvalidInput(f"area: {area!r} is none of {', '.join(get_args(Area))}")
    checked_query(question)
    return area, question


async def _questions(engine: Engine, agent_id: str, name: str, day: str) -> list[tuple[Area, str]]:
    rows = await engine.store.query("reflect/latest", agentId=agent_id, limit=_READ, knownBy=None)
    memories: list[AnyMemory] = [to_memory(row) for row in rows]
    sources = Counter(
        memory.source
        for memory in memories
        if isinstance(memory, Observation) and memory.source is not None and memory.source not in (name, agent_id)
    )
    people = [who for who, _ in sorted(sources.items(), key=lambda entry: (-entry[1], entry[0]))]
    one = people[0] if people else "your best friend"
    other = people[1] if len(people) > 1 else "your neighbour"
    first, second = _topics(memories)
    by_area: dict[Area, Iterable[str]] = {
        "self-knowledge": (
            "Who are you, and what do you do all day?",
            "What is your occupation?",
            "What interests you most?",
            "With whom do you live?",
            "What does a usual weekday of yours look like?",
        ),
        "memory": (
            f"Who is {one}?",
            f"Who is {other}?",
            f"What did {one} tell you last?",
            f"What do you know of {first}?",
            f"What do you know of {second}?",
        ),
        "plans": [f"What will you be doing on {day} at {hour:02d}:00 UTC?" for hour in _HOURS],
        "reactions": (
            "Your breakfast is burning! What do you do?",
            "Somebody is in the bathroom that you need. What do you do?",
            "There is nothing to cook in the house tonight. What do you do?",
            f"You meet {one} in the street. What do you say?",
            f"{other} asks you for help. What do you answer?",
        ),
        "reflections": (
            f"What have you come to think of {one}?",
            f"What has been happening with {first}, and why?",
            f"What would be the right present for {one}, and why?",
            "With whom would you like to spend more time, and why?",
            "What inspires you most right now, and why?",
        ),
    }
    return [(area, question) for area, questions in by_area.items() for question in questions]


def _topics(memories: Sequence[AnyMemory]) -> tuple[str, str]:
    """Two matters that the memories keep returning to."""
    told = [memory for memory in memories if isinstance(memory, Observation)]
    clusters = topics.Reader(grounding.statements(told)).clusters()
    named = list(dict.fromkeys(topics.display(cluster.topic, cluster.members) for cluster in clusters))
    return named[0] if named else "the weather", named[1] if len(named) > 1 else "the news"


async def evaluate(
    engine: Engine, agent_id: str, *, questions: Sequence[Question] = (), now: object = None
) -> Evaluation:
    """Three figures apart: answers about the past, consistency of plans, behaviour against the plan.

    Args:
        engine: The open store with its models.
        agent_id: Who is evaluated.
        questions: About the past, each with the memories that answer it; without them there is no first figure.
        now: Up to when.
    """
    at = await engine.now(agent_id, now)
    await must_exist(engine.store, agent_id)
    right = unknown = 0
    for labelled in [validated(Question, item) for item in checked_list(questions, "questions")]:
        answer = await ask(engine, agent_id, labelled.query, touch=False, now=at)
        right += bool(set(answer.citations) & set(labelled.relevant))
        unknown += not answer.known
    rows = await engine.store.query("diffusion/plans", agentId=agent_id)
    plans = [memory for row in rows if isinstance(memory := to_memory(row), Plan)]
    finest = _finest(plans)
    agrees = 0
    sample = finest[:: max(1, len(finest) // _PLANS_ASKED)][:_PLANS_ASKED]
    for plan in sample:
        middle = (plan.start + (plan.end - plan.start) / 2).astimezone(UTC)
        question = f"What do you plan on {middle:%Y-%m-%d at %H:%M} UTC?"
        answer = await ask(engine, agent_id, question, touch=False, now=at)
        agrees += plan.id in answer.citations
    over = [plan for plan in finest if plan.end <= at]
    states = Counter(plan.state for plan in over)
    return Evaluation(
        agent_id=agent_id,
        now=at,
        past=Past(questions=len(questions), right=right, unknown=unknown, wrong=len(questions) - right - unknown),
        consistency=Consistency(
            plans=len(plans),
            overlaps=sum(later.start < earlier.end for earlier, later in pairwise(finest)),
            impossible=sum(plan.end <= plan.start for plan in plans),
            asked=len(sample),
            agrees=agrees,
        ),
        behaviour=Behaviour(
            over=len(over),
            done=states["done"],
            missed=states["missed"],
            dropped=states["dropped"],
            open=states["planned"] + states["active"],
        ),
    )


def _finest(plans: Sequence[Plan]) -> list[Plan]:
    """Plans that no finer one divides, in order; what was dropped has given its time to another."""
    order = ("day", "hour", "step")
    held = [plan for plan in plans if plan.state != "dropped"]
    finest = [
        plan
        for plan in held
        if not any(
            order.index(other.kind) > order.index(plan.kind) and other.start < plan.end and plan.start < other.end
            for other in held
        )
    ]
    return sorted(finest, key=lambda plan: (plan.start, plan.end, plan.id))
