"""Dividing plans as they come near: a block of the day into hours, an hour into steps.

The parts of a plan last exactly as long as it does. Where a model gives no part that can be used, the plan stays as it
is and is marked undivided; nothing is made up in its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from graphmem.cognition import day, fitting, known, truth
from graphmem.cognition.engine import Engine, fetch, lock
from graphmem.cognition.plan_store import Draft, Grain, Planned, embedded, mark, write
from graphmem.cognition.retrieve import search
from graphmem.cognition.runs import FORGOTTEN, Run
from graphmem.cognition.summaries import Who
from graphmem.errors import ReplyRefused
from graphmem.graph.store import Transaction
from graphmem.language.gates import refusal, shorten
from graphmem.language.planning import DividePlan, Part, Parts, Scheduled
from graphmem.models import PAPER, AnyMemory, Filters, Plan, Refused
from graphmem.models.planning import Adjusted

_HOUR = 60
_STEP = 15
_LESSONS = 3
"""Procedures that are shown when a plan is divided."""
_SLEEPS = re.compile(r"\b(?:sleep\w*|asleep|slumber\w*|night'?s rest|schl(?:ä|a)f\w*)\b", re.IGNORECASE)
FINER: dict[str, Grain] = {"day": "hour", "hour": "step"}


@dataclass
class Tally:
    """What came of dividing."""

    new: list[str] = field(default_factory=list[str])
    adjusted: list[Adjusted] = field(default_factory=list[Adjusted])
    refused: list[Refused] = field(default_factory=list[Refused])


def whole(plan: Plan) -> bool:
    """Whether a plan is one part of itself: it is short enough, or it is sleep, which nobody divides."""
    return minutes(plan) <= (_HOUR if plan.kind == "day" else _STEP) or bool(_SLEEPS.search(plan.text))


def minutes(plan: Plan) -> int:
    """How long it lasts, in real minutes."""
    return round((plan.end - plan.start).total_seconds() / 60)


def scheduled(plan: Plan, agent: Who) -> Scheduled:
    """A plan as a prompt shows it, in the clock times of the agent."""
    return Scheduled(
        start=day.clock(plan.start, agent.zone),
        end=day.clock(plan.end, agent.zone),
        text=plan.text,
        place=plan.place,
        state=plan.state,
        stale=plan.status == "stale",
    )


async def divide(engine: Engine, agent: Who, run: Run, entry: Planned, around: Sequence[Plan], tally: Tally) -> bool:
    """Divide a plan into parts of the next grain; whether it has parts now.

    Args:
        engine: The open store with its models.
        agent: Whose plan it is.
        run: The open run; nothing is asked for a plan that is one part of itself.
        entry: The plan, active and without parts.
        around: What comes before and after it, for the prompt.
        tally: Where it is told what came of it.

    Raises:
        LanguageModelError, EmbeddingError, StoreError: Nothing of it was written.
    """
    plan = entry.plan
    grain = FINER[plan.kind]
    if whole(plan):
        parts = [Part(text=plan.text, minutes=minutes(plan), place=plan.place or "")]
    else:
        try:
            parts = await _asked(engine, agent, run, plan, around, grain)
        except ReplyRefused as error:
            tally.refused.append(refusal(error, plan.text))
            parts = []
    arranged = day.divide(plan.start, plan.end, [part.minutes for part in parts])
    tally.adjusted += [
        Adjusted(rule=issue.rule, text=shorten(parts[issue.item].text), reason=issue.reason, refused=issue.refused)
        for issue in arranged.issues
    ]
    if not arranged.blocks:
        await mark(engine, agent.id, [plan.id], undivided=True)
        tally.adjusted.append(
            Adjusted(
                rule="empty", text=shorten(plan.text), reason="no part could be used: it stays whole", refused=False
            )
        )
        return False
    drafts = await embedded(
        engine,
        [
            Draft(
                text=parts[block.item].text,
                grain=grain,
                start=block.start,
                end=block.end,
                place=parts[block.item].place or plan.place,
                # A part is as important as the whole.
                importance=plan.importance,
                importance_by=plan.importance_by,
                day=plan.day.isoformat() if plan.day else f"{plan.start.astimezone(agent.zone):%Y-%m-%d}",
                time_zone=plan.time_zone or agent.zone.key,
                parent=plan.id,
            )
            for block in arranged.blocks
        ],
    )
    written = await engine.store.write(lambda tx: _write(tx, engine, run, plan, drafts, asked=not whole(plan)))
    if isinstance(written, Refused):
        tally.refused.append(written)
        return False
    tally.new += written
    return True


async def _asked(engine: Engine, agent: Who, run: Run, plan: Plan, around: Sequence[Plan], grain: Grain) -> list[Part]:
    hits = await search(
        engine,
        agent.id,
        plan.text,
        k=_LESSONS,
        profile=PAPER,
        now=run.now,
        filters=Filters(kinds=("procedure",)),
        known_by=known.by(run.now),
    )
    candidates = [fitting.Shown(memory) for memory in await reasons(engine, agent.id, plan.id)]
    candidates += [fitting.Shown(hit.memory, hit.score) for hit in hits]
    reply, _ = await fitting.ask(
        engine,
        run,
        candidates,
        lambda statements: DividePlan(
            agent=agent.described,
            text=plan.text,
            start=day.clock(plan.start, agent.zone),
            end=day.clock(plan.end, agent.zone),
            minutes=minutes(plan),
            place=plan.place,
            into="hour" if grain == "hour" else "step",
            around=tuple(scheduled(other, agent) for other in around),
            statements=statements,
        ),
    )
    value: Parts = reply.value
    return value.parts


async def reasons(engine: Engine, agent_id: str, plan_id: str) -> list[AnyMemory]:
    """The memories, active ones, that are the reasons of a plan or of what it is a part of."""

    async def work(tx: Transaction) -> list[AnyMemory]:
        rows = await tx.run("plan/reasons", agentId=agent_id, id=plan_id)
        found = await fetch(tx, agent_id, [row["id"] for row in rows])
        return [found[row["id"]] for row in rows]

    return await engine.store.read(work)


async def _write(
    tx: Transaction, engine: Engine, run: Run, plan: Plan, drafts: Sequence[Draft], *, asked: bool
) -> list[str] | Refused:
    """Write the parts, unless the plan changed or was divided meanwhile."""
    await lock(tx, run.agent_id)
    if await run.shown_forgotten(tx):
        return Refused(gate="write", reason=FORGOTTEN, item="")
    row = await tx.one("plan/state", agentId=run.agent_id, id=plan.id)
    if row is None or row["status"] != "active" or row["finished"]:
        return Refused(gate="write", reason="the plan changed while it was divided", item=shorten(plan.text))
    if row["parts"]:
        return []
    revision = await truth.begin(tx, run.agent_id, run.now)
    await write(tx, engine, run.agent_id, drafts, run.now, run_id=run.id if asked else None)
    ids = [draft.id for draft in drafts]
    await truth.relabel(tx, revision, ids)
    return ids
