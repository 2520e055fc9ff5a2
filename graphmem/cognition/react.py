"""Reacting, as in Park et al. 2023, section 4.3.1: two queries for context, a decision, and another rest of the day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from graphmem.cognition import fitting, known, plan_store, planning
from graphmem.cognition import observe as observing
from graphmem.cognition.day import Day
from graphmem.cognition.dividing import scheduled
from graphmem.cognition.engine import Engine, checked_id, fetch
from graphmem.cognition.making import Because, Made, replaced
from graphmem.cognition.retrieve import checked_query, search, touch_all
from graphmem.cognition.runs import Run, running
from graphmem.cognition.summaries import Who, who
from graphmem.cognition.texts import date_text
from graphmem.errors import InvalidInput, NotActive
from graphmem.language.planning import DecideReaction, Decision, DividePlan, PlanDay
from graphmem.models import MAX_ID, PAPER, Filters, Observation, Refused
from graphmem.models.planning import Reaction

_EACH = 15
"""Memories retrieved for each of the two questions."""
_REMEMBERED = ("event", "utterance", "fact", "insight", "procedure")


async def react(
    engine: Engine, agent_id: str, observation: str, *, about: str | None = None, now: object = None
) -> Reaction:
    """Decide whether to react to an observation; if so, plan the rest of the day anew from now on, or begin to talk.

    The context is what is retrieved for two questions: what the agent has to do with whom or what it observed, and what
    that one is doing, or what state it is in. The new plans rest on the observation; the old rest is superseded.

    Args:
        engine: The open store with its models.
        agent_id: Who reacts.
        observation: The id of one of its observations, else a text, which is observed first.
        about: Whom or what it is about, an agent's id or any name; else who said it, or its subject.
        now: The time of the call.

    Raises:
        InvalidInput, NotActive: When it is no observation, or one that is not held.
        LanguageModelError, EmbeddingError: When the model fails; what was observed stays, and so does the old plan.
    """
    if about is not None and about.strip():
        checked_id(about, "about")
    at = await engine.now(agent_id, now)
    agent = await who(engine, agent_id)
    observed = await _observed(engine, agent_id, observation, at)
    topic = about if about is not None else observed.source or observed.subject
    other = await _other(engine, agent_id, topic)
    name = other["name"] if other else topic or observed.text
    day = Day.of(at, agent.zone)
    held = await plan_store.read_between(engine, agent_id, at, day.end)
    async with running(engine, agent_id, "react", engine.asks(DecideReaction, PlanDay, DividePlan), at) as run:
        entries: dict[str, fitting.Shown] = {observed.id: fitting.Shown(observed)}
        for question in (f"What is {agent.name}'s relationship with {name}?", f"{name}: {observed.text}"):
            hits = await search(
                engine,
                agent_id,
                question,
                k=_EACH,
                profile=PAPER,
                now=at,
                filters=Filters(kinds=_REMEMBERED),
                known_by=known.by(at),
            )
            entries |= {
                hit.memory.id: fitting.Shown(hit.memory, hit.score) for hit in hits if hit.memory.id not in entries
            }
        current = await planning.current_plan(engine, agent_id, at)
        reply, shown = await fitting.ask(
            engine,
            run,
            list(entries.values()),
            lambda statements: DecideReaction(
                agent=agent.described,
                now=_moment(at, agent),
                time_zone=agent.zone.key,
                doing=current.plan.text if current else None,
                rest=tuple(scheduled(e.plan, agent) for e in replaced(held, at) if e.plan.kind == "day"),
                people=(name,) if other else (),
                statements=statements,
            ),
            priority=lambda entry: (entry.memory.id != observed.id, -(entry.score or 0), entry.memory.id),
        )
        await touch_all(engine, agent_id, [memory.id for memory in shown], at)
        decision: Decision = reply.value
        converse_with = _partner(decision, other, run)
        changes = decision.react and bool(decision.doing or decision.replan)
        reaction = Reaction(
            observation=observed,
            reacted=decision.react,
            reason=decision.reason,
            doing=decision.doing if decision.react else "",
            converse_with=converse_with if decision.react else None,
            run_id=run.id,
        )
        if not changes:
            return reaction.model_copy(update={"refused": tuple(run.refused)})
        made, since = await planning.remake(engine, agent, run, day, at, because=Because(observed, decision.doing))
        return await _told(engine, agent, day, reaction, made, run, since)


def _moment(at: datetime, agent: Who) -> str:
    local = at.astimezone(agent.zone)
    return f"{local:%H:%M} on {date_text(local)}"


async def _observed(engine: Engine, agent_id: str, given: str, at: datetime) -> Observation:
    """The observation of that id, else one of that text, which is stored."""
    checked_query(given)
    if len(given) <= MAX_ID:
        found = await engine.store.read(lambda tx: fetch(tx, agent_id, [checked_id(given)]))
        if memory := found.get(given):
            if not isinstance(memory, Observation):
                raise InvalidInput(f"memory {given!r} is no observation but of kind {memory.kind}")
            if memory.status != "active":
                raise NotActive(f"observation {given!r} is {memory.status}: there is nothing to react to")
            return memory
    return await observing.observe(engine, agent_id, {"text": given}, now=at)


async def _other(engine: Engine, agent_id: str, name: str | None) -> Mapping[str, str] | None:
    """The other agent of that id or name, if there is one."""
    if name is None or not name.strip():
        return None
    rows = await engine.store.query("agent/named", called=name)
    return rows[0] if rows and rows[0]["id"] != agent_id else None


def _partner(decision: Decision, other: Mapping[str, str] | None, run: Run) -> str | None:
    """With whom the model lets the agent talk, by the number that was shown."""
    if decision.converse_with is None:
        return None
    if other is not None and decision.converse_with == 1:
        return other["id"]
    shown = "1 was" if other else "nobody was"
    reason = f"talks to person {decision.converse_with}, but {shown} shown"
    run.refused.append(Refused(gate="index", reason=reason, item=str(decision.converse_with)))
    return None


async def _told(
    engine: Engine, agent: Who, day: Day, reaction: Reaction, made: Made, run: Run, since: datetime
) -> Reaction:
    report = await planning.report(engine, agent, day, made, run, since)
    return reaction.model_copy(
        update={
            "dropped": report.superseded,
            "new": report.new,
            "adjusted": report.adjusted,
            "refused": report.refused,
        }
    )
