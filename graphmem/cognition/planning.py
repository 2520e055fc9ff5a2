"""Planning: the day in blocks, then hours, then steps as they come near; what is planned now; what became of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import get_args

from graphmem.clock import as_date, as_utc
from graphmem.cognition import plan_store, truth
from graphmem.cognition.change import checked_reason
from graphmem.cognition.day import Day
from graphmem.cognition.dividing import FINER, Tally, divide, whole
from graphmem.cognition.engine import CALLER, Engine, checked_id, fetch_one
from graphmem.cognition.making import Because, Made, Making, Outdated, bounds
from graphmem.cognition.plan_store import LONGEST, Planned, planned
from graphmem.cognition.runs import Run, running
from graphmem.cognition.summaries import Who, who
from graphmem.errors import AlreadyEnded, InvalidInput, RunLost
from graphmem.graph.store import Transaction
from graphmem.language.planning import DividePlan, PlanDay
from graphmem.models import Plan
from graphmem.models.planning import CurrentPlan, PlanReport

_TRIES = 3
"""How often a plan is made when the plan of the day changes meanwhile."""
FINISHED = ("done", "missed", "dropped")


async def plan_day(
    engine: Engine,
    agent_id: str,
    day: object = None,
    *,
    now: object = None,
    progress: Callable[[int, int], None] | None = None,
) -> PlanReport:
    """Plan a day in blocks and divide them into hours; a day that is planned is only completed.

    Args:
        engine: The open store with its models.
        agent_id: Who plans.
        day: The date, in the agent's time zone; None: today.
        now: The time of the call. A day that has begun is planned from then on.
        progress: Called with how many blocks are divided, and how many there are.

    Raises:
        InvalidTime, InvalidInput: When the date cannot be read, or the day is over and was never planned.
        LanguageModelError, EmbeddingError: When the model fails, or nothing of what it planned can be used. Blocks that
            were written before stay, and the same call goes on.
    """
    at = await engine.now(agent_id, now)
    agent = await who(engine, agent_id)
    span = Day(as_date(day), agent.zone) if day is not None else Day.of(at, agent.zone)
    held = await _of_day(engine, agent, span)
    if any(entry.plan.kind == "day" for entry in held):
        return await _completed(engine, agent, span, at, progress)
    async with running(engine, agent_id, "plan", engine.asks(PlanDay, DividePlan), at) as run:
        for _ in range(_TRIES):
            since, until, near = await bounds(engine, agent, span, at)
            # A night that was planned the day before is kept.
            since = max([since, *(entry.plan.end for entry in near if entry.plan.start < span.start)])
            own = [entry for entry in near if entry.plan.start >= span.start]
            if any(entry.plan.kind == "day" for entry in own):
                return await _completed(engine, agent, span, at, progress)
            try:
                made = await Making(engine, agent, run, span, since, until, own).make()
            except Outdated:
                continue
            await divide_all(engine, agent, run, span, made.tally, at, progress)
            return await report(engine, agent, span, made, run, since)
    raise _too_often(span)


def _too_often(day: Day) -> RunLost:
    return RunLost(f"the plan of {day.date} changed each time while it was made", remedy="plan again")


async def _of_day(engine: Engine, agent: Who, day: Day) -> list[Planned]:
    """The held plans that begin on a day, or were made for it."""
    near = await plan_store.read_between(engine, agent.id, day.start, day.end)
    return [entry for entry in near if entry.plan.start >= day.start]


async def _completed(
    engine: Engine, agent: Who, day: Day, at: datetime, progress: Callable[[int, int], None] | None
) -> PlanReport:
    """Divide what of a planned day is not divided yet: an earlier call was cut off."""
    made = Made(Tally())
    left = [entry for entry in await _of_day(engine, agent, day) if _to_divide(entry, at)]
    if not left:
        return await report(engine, agent, day, made, None, None)
    async with running(engine, agent.id, "plan", engine.asks(DividePlan), at) as run:
        await divide_all(engine, agent, run, day, made.tally, at, progress)
    return await report(engine, agent, day, made, run, None)


def _to_divide(entry: Planned, at: datetime) -> bool:
    plan = entry.plan
    divisible = plan.status == "active" and not plan.finished and not plan.undivided and not entry.parts
    return divisible and plan.kind == "day" and plan.end > at


async def divide_all(
    engine: Engine,
    agent: Who,
    run: Run,
    day: Day,
    tally: Tally,
    at: datetime,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Divide the blocks of a day that are not divided yet and not over into hours."""
    held = await _of_day(engine, agent, day)
    blocks = [entry.plan for entry in held if entry.plan.kind == "day"]
    left = [entry for entry in held if _to_divide(entry, at)]
    for number, entry in enumerate(left, start=1):
        await divide(engine, agent, run, entry, _around(entry.plan, blocks), tally)
        if progress:
            progress(number, len(left))


def _around(plan: Plan, plans: Sequence[Plan]) -> list[Plan]:
    """What comes right before and after a plan."""
    before = [other for other in plans if other.end <= plan.start]
    after = [other for other in plans if other.start >= plan.end]
    return [*before[-1:], *after[:1]]


async def report(
    engine: Engine, agent: Who, day: Day, made: Made, run: Run | None, since: datetime | None
) -> PlanReport:
    """What was done, with the plan of the day as it stands."""
    held = await _of_day(engine, agent, day)
    written = set(made.new) | set(made.tally.new)

    async def work(tx: Transaction) -> tuple[Plan, ...]:
        return await plan_store.fetch_plans(tx, agent.id, made.superseded)

    superseded = await engine.store.read(work) if made.superseded else ()
    plans = tuple(entry.plan for entry in held)
    if run is not None:
        run.refused += made.tally.refused
    return PlanReport(
        day=day.date,
        time_zone=agent.zone.key,
        since=since,
        plans=plans,
        new=tuple(plan for plan in plans if plan.id in written),
        superseded=superseded,
        adjusted=tuple(made.tally.adjusted),
        refused=tuple(run.refused if run is not None else made.tally.refused),
        later=made.later,
        run_id=run.id if run is not None else None,
    )


async def plans(engine: Engine, agent_id: str, day: object = None, *, grain: object = None) -> tuple[Plan, ...]:
    """The held plans of a day, by when they begin, the coarser first; one that began the evening before is left out.

    Raises:
        InvalidTime, InvalidInput: When the date cannot be read, or the grain is unknown.
    """
    if grain is not None and grain not in get_args(plan_store.Grain):
        raise InvalidInput(f"grain: {grain!r} is not one of {', '.join(get_args(plan_store.Grain))}")
    agent = await who(engine, agent_id)
    span = Day(as_date(day), agent.zone) if day is not None else Day.of(await engine.now(agent_id), agent.zone)
    held = await _of_day(engine, agent, span)
    return tuple(entry.plan for entry in held if grain is None or entry.plan.kind == grain)


async def current_plan(engine: Engine, agent_id: str, at: object = None) -> CurrentPlan | None:
    """What is planned for a moment: one step, divided on demand; None where nothing is planned.

    Of a stale plan nothing finer is made: the finest there is comes back, marked stale, until it is planned anew. The
    step of this very moment (no ``at``) is noted to be carried out.

    Raises:
        InvalidTime: When the moment cannot be read.
        LanguageModelError, EmbeddingError: When the model fails while the plan is divided.
    """
    moment = as_utc(at) if at is not None else await engine.now(agent_id)
    agent = await who(engine, agent_id)
    chain = await _chain(engine, agent_id, moment)
    if not chain:
        return None
    while _divisible(chain[0]):
        entry = chain[0]
        around = await plan_store.read_between(engine, agent_id, entry.plan.start - LONGEST / 2, entry.plan.end)
        alike = [other.plan for other in around if other.plan.kind == entry.plan.kind]
        if whole(entry.plan):
            divided = await divide(engine, agent, Run(agent_id, moment), entry, (), Tally())
        else:
            # What is looked at ahead of time is made now; a caller's own time may lie before the machine's.
            now = min(moment, await engine.now(agent_id))
            async with running(engine, agent_id, "plan", engine.asks(DividePlan), now) as run:
                tally = Tally()
                divided = await divide(engine, agent, run, entry, _around(entry.plan, alike), tally)
                run.refused += tally.refused
        before, chain = chain, await _chain(engine, agent_id, moment)
        if not chain:
            return None
        if not divided and chain[0].plan.id == before[0].plan.id:
            break
    if at is None:
        planned_now = [entry.plan.id for entry in chain if entry.plan.state == "planned"]
        if planned_now:
            await plan_store.mark(engine, agent_id, planned_now, active=True)
            chain = await _chain(engine, agent_id, moment)
            if not chain:
                return None  # Taken back since.
    return CurrentPlan(
        plan=chain[0].plan,
        within=tuple(entry.plan for entry in chain[1:]),
        stale=any(entry.plan.status == "stale" for entry in chain),
        over=chain[0].plan.end <= await engine.now(agent_id),
        at=moment,
        time_zone=agent.zone.key,
    )


def _divisible(entry: Planned) -> bool:
    plan = entry.plan
    open_ = plan.status == "active" and not plan.finished and not plan.undivided
    return open_ and plan.kind in FINER and not entry.parts


async def _chain(engine: Engine, agent_id: str, moment: datetime) -> list[Planned]:
    """The finest plan around a moment and what it is a part of, the finest first; one of each grain at most."""
    rows = await engine.store.query("plan/at", agentId=agent_id, at=moment, since=moment - LONGEST)
    found = [planned(row) for row in rows]
    by_id = {entry.plan.id: entry for entry in found}
    for grain in reversed(get_args(plan_store.Grain)):
        for entry in found:
            if entry.plan.kind == grain:
                chain = [entry]
                while (above := chain[-1].parent) is not None and above in by_id:
                    chain.append(by_id[above])
                return chain
    return []


async def finish(
    engine: Engine, agent_id: str, plan_id: str, *, state: object = "done", reason: str = "", now: object = None
) -> Plan:
    """Say what became of a plan: its unfinished parts end with it, and what it is a part of when all its parts did.

    It then rests on nothing any more: it is history, whatever becomes of its grounds.

    Raises:
        InvalidInput: When the state or reason is refused, or the memory is no plan.
        UnknownAgent, UnknownMemory: When there is no such agent, or it has no such memory.
        AlreadyEnded: When it was superseded or forgotten, or something else is known to have become of it.
    """
    plan_id = checked_id(plan_id)
    if state not in FINISHED:
        raise InvalidInput(f"state: {state!r} is not one of {', '.join(FINISHED)}")
    reason = checked_reason(reason)
    at = await engine.now(agent_id, now)

    async def work(tx: Transaction) -> Plan:
        revision = await truth.begin(tx, agent_id, at)
        plan = await fetch_one(tx, agent_id, plan_id)
        if not isinstance(plan, Plan):
            raise InvalidInput(f"memory {plan_id!r} is no plan but of kind {plan.kind}")
        if plan.status not in ("active", "stale"):
            raise AlreadyEnded(f"plan {plan_id!r} is {plan.status}", remedy="see what is planned now: graphmem plan")
        if plan.finished:
            if plan.state == state:
                return plan
            raise AlreadyEnded(f"plan {plan_id!r} is {plan.state} already: {plan.reason or 'no reason was given'}")
        below = [row["id"] for row in await tx.run("plan/below", agentId=agent_id, id=plan_id)]
        entries = [(plan_id, str(state), reason), *((id_, str(state), reason) for id_ in below)]
        await _finish(tx, revision, entries)
        child = plan_id
        while (above := await tx.one("plan/above", agentId=agent_id, id=child)) is not None:
            if above["undone"] or not above["complete"]:
                break
            became = "done" if above["done"] else "missed" if above["missed"] else "dropped"
            rolled = (above["id"], became, "" if became == "done" else reason)
            await _finish(tx, revision, [rolled])
            child = above["id"]
        found = await fetch_one(tx, agent_id, plan_id)
        assert isinstance(found, Plan)
        return found

    return await engine.store.write(work)


async def _finish(tx: Transaction, revision: truth.Revision, entries: Sequence[tuple[str, str, str]]) -> None:
    """Note what became of plans of one state and reason, and let them rest on nothing."""
    ids = [id_ for id_, _, _ in entries]
    _, state, reason = entries[0]
    await tx.run("plan/finish", agentId=revision.agent_id, ids=ids, state=state, reason=reason, now=revision.now)
    await plan_store.release(tx, revision, ids)
    await revision.log_all(tx, [(id_, f"plan:{state}", reason) for id_ in ids], by=CALLER)
    await truth.relabel(tx, revision, ids)


async def remake(
    engine: Engine, agent: Who, run: Run, day: Day, at: datetime, *, because: Because | None = None
) -> tuple[Made, datetime]:
    """Plan the rest of a day anew and divide it into hours; what is behind the moment stays.

    Raises:
        LanguageModelError, EmbeddingError: When the model fails, or nothing of what it planned can be used. The old
            plan stays.
    """
    for _ in range(_TRIES):
        since, until, held = await bounds(engine, agent, day, at)
        try:
            made = await Making(engine, agent, run, day, since, until, held, because).make()
        except Outdated:
            continue
        await divide_all(engine, agent, run, day, made.tally, at, None)
        return made, since
    raise _too_often(day)


async def replan(engine: Engine, agent_id: str, *, now: object = None) -> PlanReport | None:
    """Plan anew the rest of each day of which an unfinished plan is stale; None where none is.

    What is behind is kept: it rests on nothing any more. The report is that of the first of these days, with what was
    written and superseded on all of them.

    Raises:
        LanguageModelError, EmbeddingError: When the model fails; that day's plan stays stale.
    """
    at = await engine.now(agent_id, now)
    agent = await who(engine, agent_id)
    rows = await engine.store.query("plan/stale", agentId=agent_id)
    stale = [plan for row in rows if not (plan := planned({**row, "parent": None, "parts": 0}).plan).finished]
    if not stale:
        return None
    over = [plan.id for plan in stale if plan.end <= at]
    if over:
        await engine.store.write(lambda tx: _let_be(tx, agent_id, over, at))
    days = sorted({Day.of(max(plan.start, at), agent.zone).date for plan in stale if plan.end > at})
    if not days:
        return None
    reports: list[PlanReport] = []
    for date in days:
        day = Day(date, agent.zone)
        async with running(engine, agent_id, "replan", engine.asks(PlanDay, DividePlan), at) as run:
            made, since = await remake(engine, agent, run, day, at)
            reports.append(await report(engine, agent, day, made, run, since))
    return reports[0].model_copy(
        update={
            "new": tuple(plan for one in reports for plan in one.new),
            "superseded": tuple(plan for one in reports for plan in one.superseded),
            "adjusted": tuple(item for one in reports for item in one.adjusted),
            "refused": tuple(item for one in reports for item in one.refused),
        }
    )


async def _let_be(tx: Transaction, agent_id: str, ids: Sequence[str], now: datetime) -> None:
    """Plans whose time is over are history: nothing is planned in their place."""
    revision = await truth.begin(tx, agent_id, now)
    await plan_store.release(tx, revision, ids)
    await truth.relabel(tx, revision, ids)
