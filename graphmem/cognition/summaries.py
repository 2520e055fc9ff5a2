"""Summaries as memories: who the agent is, and what its days came to; reflections of kind summary that cite.

They go stale and are recomputed like everything derived. A summary is *of* something (``covers``), and of that one is
held: a newer one supersedes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from graphmem.clock import as_date
from graphmem.cognition import fitting, grounding, known, truth
from graphmem.cognition.day import Day
from graphmem.cognition.engine import Engine, fetch_one, lock, unknown_agent
from graphmem.cognition.retrieve import search, touch_all
from graphmem.cognition.runs import FORGOTTEN, Run, running
from graphmem.cognition.texts import date_text
from graphmem.errors import InvalidInput, ReplyRefused, RunLost
from graphmem.graph.records import digest as hashed
from graphmem.graph.records import to_memory
from graphmem.graph.store import Transaction
from graphmem.language.base import Statement
from graphmem.language.planning import SumUp
from graphmem.language.prompts import Insight
from graphmem.models import PAPER, Filters, Reflection, Refused

SELF = "self"
"""What the agent's own description covers."""
FRESH = timedelta(hours=24)
"""How long the agent's description is used again, by the agent's clock."""
_SHOWN = 60
"""Memories of a day that its digest is made of."""
_EACH = 15
"""Memories retrieved for each of the three questions about an agent."""
_SUMMED_UP = ("event", "utterance", "fact", "insight", "procedure")
"""Kinds of memories that an agent's description is made of: what happened and what was inferred, no plans."""


@dataclass(frozen=True)
class Who:
    """An agent as prompts introduce it."""

    id: str
    name: str
    traits: str | None
    zone: ZoneInfo
    learned_up_to: datetime | None = None

    @property
    def described(self) -> str:
        """Its name with its traits."""
        return f"{self.name}: {self.traits}" if self.traits else self.name

    def given(self, now: datetime, *more: str) -> tuple[Statement, ...]:
        """What a text about the agent may say without citing it."""
        text = " . ".join([self.described, *more])
        return (Statement(number=0, text=text, kind="fact", type="observation", occurred_at=now),)


async def who(engine: Engine, agent_id: str) -> Who:
    """The agent.

    Raises:
        UnknownAgent: When nothing was ever written for it.
    """
    rows = await engine.store.query("plan/agent", agentId=agent_id)
    if not rows:
        raise unknown_agent(agent_id)
    row = rows[0]
    return Who(agent_id, row["name"], row["traits"], ZoneInfo(row["timeZone"]), row["learnedUpTo"])


async def summarise(engine: Engine, agent_id: str, *, now: object = None) -> Reflection:
    """The agent's description: traits, occupation, what it has been making progress with.

    The one that is held is used again while it is active, at most a day old by the agent's clock, and written for the
    traits that the agent has; else a new one is made, which supersedes it.

    Raises:
        InvalidInput: When the agent remembers nothing that it could be described from.
        LanguageModelError, EmbeddingError: When the model fails or what it wrote was refused. Nothing was written.
    """
    at = await engine.now(agent_id, now)
    agent = await who(engine, agent_id)
    traits_hash = hashed(agent.described)
    rows = await engine.store.query("summary/latest", agentId=agent_id, covers=SELF)
    if rows:
        held = to_memory(rows[0])
        assert isinstance(held, Reflection)
        if rows[0]["traitsHash"] == traits_hash and abs(at - held.recorded_at) < FRESH:
            return held
    questions = (
        f"{agent.name}'s core characteristics",
        f"{agent.name}'s current occupation and what it does every day",
        f"{agent.name}'s recent progress in life",
    )
    found: dict[str, fitting.Shown] = {}
    filters = Filters(kinds=_SUMMED_UP)
    for question in questions:
        hits = await search(engine, agent_id, question, k=_EACH, profile=PAPER, now=at, filters=filters)
        found |= {hit.memory.id: fitting.Shown(hit.memory, hit.score) for hit in hits if hit.memory.id not in found}
    if not found:
        raise InvalidInput(
            f"agent {agent_id!r} remembers nothing that it could be described from", remedy="observe something first"
        )
    shown = sorted(found.values(), key=lambda entry: (entry.memory.occurred_at, entry.memory.id))
    task = _Summary(SELF, f"Who is {agent.name}, and what is going on in its life?", None, {"traitsHash": traits_hash})
    return await _sum_up(engine, agent, task, shown, at)


async def digest(engine: Engine, agent_id: str, day: object, *, now: object = None) -> Reflection | None:
    """What a day came to, in the agent's time zone: what it observed, and what became of its plans, as known by now.

    The one that is held is used again while it is active, unless it was written before the day was over, and the
    agent has observed more of it since. None where nothing of the day is remembered.

    Raises:
        InvalidTime: When the date cannot be read.
        LanguageModelError, EmbeddingError: When the model fails or what it wrote was refused. Nothing was written.
    """
    wanted = as_date(day)
    at = await engine.now(agent_id, now)
    agent = await who(engine, agent_id)
    span = Day(wanted, agent.zone)
    covers = f"day {wanted.isoformat()}"
    known_by = known.by(at)
    rows = await engine.store.query(
        "summary/of_day",
        agentId=agent_id,
        **{"from": span.start, "until": span.end},
        knownBy=known_by,
        limit=_SHOWN,
    )
    observed = [to_memory(row) for row in rows]
    planned = [
        memory
        for row in await engine.store.query(
            "plan/between",
            agentId=agent_id,
            since=span.start,
            until=span.end,
            **{"from": span.start},
        )
        if (memory := to_memory(row)).type == "plan"
        and memory.finished
        and memory.kind == "day"
        and memory.recorded_at <= known_by
    ]
    memories = sorted([*observed, *planned], key=lambda memory: (memory.occurred_at, memory.id))
    held = await engine.store.query("summary/latest", agentId=agent_id, covers=covers)
    if held:
        before = to_memory(held[0])
        assert isinstance(before, Reflection)
        since = [memory for memory in memories if memory.recorded_at > before.recorded_at]
        if before.recorded_at >= span.end or not since:
            return before
    if not memories:
        return None
    title = _title(wanted)
    task = _Summary(covers, f"What did {title} come to?", title, {})
    return await _sum_up(engine, agent, task, [fitting.Shown(memory) for memory in memories], at)


@dataclass(frozen=True)
class _Summary:
    """What is to be summed up."""

    covers: str
    question: str
    day: str | None
    properties: Mapping[str, Any]


async def _sum_up(
    engine: Engine, agent: Who, wanted: _Summary, shown: Sequence[fitting.Shown], now: datetime
) -> Reflection:
    async with running(engine, agent.id, "summarise", engine.asks(SumUp), now) as run:
        reply, memories = await fitting.ask(
            engine,
            run,
            shown,
            lambda statements: SumUp(
                agent=agent.described, name=agent.name, traits=agent.traits, day=wanted.day, statements=statements
            ),
            priority=lambda entry: (-(entry.score or 0), -entry.memory.importance, entry.memory.id),
        )
        insight: Insight = reply.value
        given = agent.given(now, *([wanted.day] if wanted.day else []))
        grounded = grounding.ground(insight, memories, given=given)
        if isinstance(grounded, Refused):
            run.refused.append(grounded)
            raise ReplyRefused(f"the summary was refused: {grounded.reason}", gate=grounded.gate)
        run.refused += grounded.notes
        (draft,) = await grounding.drafts(
            engine,
            run,
            [grounded],
            wanted.question,
            kind="summary",
            properties={"covers": wanted.covers, **wanted.properties},
        )
        await touch_all(engine, agent.id, [memory.id for memory in memories], now)
        return await engine.store.write(lambda tx: replace_summary(tx, engine, run, draft))


async def replace_summary(tx: Transaction, engine: Engine, run: Run, new: grounding.Draft) -> Reflection:
    """Write a summary and let it supersede those that are held of the same.

    Raises:
        RunLost: When something that it was shown was forgotten, or does not hold any more. Nothing was written.
    """
    await lock(tx, run.agent_id)
    if await run.shown_forgotten(tx):
        raise RunLost(f"the summary was dropped: {FORGOTTEN}", remedy="ask for it again")
    if reason := await grounding.not_active(tx, run.agent_id, new.grounded.cited):
        raise RunLost(f"the summary was dropped: {reason}", remedy="ask for it again")
    older = await tx.run("summary/older", agentId=run.agent_id, covers=new.properties["covers"], **{"except": new.id})
    cited = [item.id for item in new.grounded.cited]
    revision = await truth.begin(tx, run.agent_id, run.now)
    await revision.not_before(tx, [*cited, *(row["id"] for row in older)])
    by = engine.language_model.name
    await grounding.write(tx, engine, run, new, revision.now)
    await revision.log(tx, new.id, "reflect", by=by, reason="")
    for row in older:
        if await truth.resting_on(tx, run.agent_id, row["id"], cited):
            raise RunLost(f"the summary was dropped: it rests on {row['id']}, which it replaces", remedy="ask again")
        await truth.supersede(
            tx,
            revision,
            older=row["id"],
            newer=new.id,
            mode="update",
            reason="a newer summary",
            by=by,
            cause="summarise",
            made=True,
        )
        await revision.log(tx, row["id"], "summarise:superseded", by=by, reason="a newer summary", run_id=run.id)
    await truth.relabel(tx, revision, [new.id, *(row["id"] for row in older)])
    memory = await fetch_one(tx, run.agent_id, new.id)
    assert isinstance(memory, Reflection)
    return memory


@dataclass(frozen=True)
class About:
    """What a derived memory that is written again may say beside its evidence, and what of it stays."""

    described: str | None = None
    given: tuple[Statement, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])


async def about(engine: Engine, memory: Reflection, now: datetime) -> About:
    """Of a summary who the agent is, and which day it was; nothing of an insight."""
    if memory.kind == "insight":
        return About()
    agent = await who(engine, memory.agent_id)
    if memory.covers is None:
        return About(agent.described, agent.given(now))
    covers, _, day = memory.covers.partition(" ")
    kept: dict[str, Any] = {"covers": memory.covers}
    if memory.covers == SELF:
        kept["traitsHash"] = hashed(agent.described)
    title = [_title(as_date(day))] if covers == "day" else []
    return About(agent.described, agent.given(now, *title), kept)


def _title(day: date) -> str:
    return date_text(datetime.combine(day, datetime.min.time()))
