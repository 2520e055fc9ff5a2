"""Making a plan: what the model is shown, and how its reply becomes blocks of the day with their grounds.

The same for a whole day and for the rest of one: whatever is unfinished and reaches beyond the moment from which it is
planned anew is superseded by the new block that has its time; what is behind that moment stays as it is, and rests on
nothing any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from graphmem.cognition import day as arithmetic
from graphmem.cognition import fitting, grounding, known, plan_store, summaries, truth
from graphmem.cognition.day import Day
from graphmem.cognition.dividing import Tally, scheduled
from graphmem.cognition.engine import Engine
from graphmem.cognition.plan_store import Draft, Planned
from graphmem.cognition.retrieve import search, touch_all
from graphmem.cognition.runs import FORGOTTEN, Run
from graphmem.cognition.summaries import Who
from graphmem.cognition.texts import date_text
from graphmem.errors import InvalidInput, ReplyRefused, RunLost
from graphmem.graph.records import to_memory
from graphmem.graph.store import Transaction
from graphmem.language.gates import normalise_text, refusal, shorten
from graphmem.language.planning import PlanDay, PlannedBlock, PlannedDay
from graphmem.language.whens import meal_in
from graphmem.models import PAPER, RECALL, Filters, Kind, Observation, Plan, Refused
from graphmem.models.planning import Adjusted

REMEMBERED: tuple[Kind, ...] = ("event", "utterance", "fact", "insight")
"""Kinds of memories that a day is planned from, beside summaries and lessons."""
_LEARNED: tuple[Kind, ...] = ("procedure",)
_LATEST = 100
_EACH = 20
"""Memories retrieved for each of the questions about a day."""
_LESSONS = 5
REPLANNED = "the rest of the day was planned anew"


@dataclass(frozen=True)
class Because:
    """What a rest of a day is planned anew for."""

    observation: Observation
    doing: str


@dataclass
class Made:
    """What came of making a plan."""

    tally: Tally
    new: list[str] = field(default_factory=list[str])
    superseded: list[str] = field(default_factory=list[str])
    later: int = 0
    """Memories that were not known yet when it was planned."""


class Outdated(Exception):
    """The plan of the day changed while a new one was made."""


@dataclass(frozen=True)
class Making:
    """One plan that is being made."""

    engine: Engine
    agent: Who
    run: Run
    day: Day
    since: datetime
    until: datetime | None
    held: Sequence[Planned]
    """The plans of the day that are held, as read."""
    because: Because | None = None

    @property
    def past(self) -> list[Planned]:
        """Blocks and what was said of plans, behind the moment from which it is planned."""
        return [entry for entry in self.held if entry.plan.end <= self.since or entry.plan.finished]

    @property
    def rest(self) -> list[Planned]:
        """Blocks that are to be replaced."""
        return [entry for entry in replaced(self.held, self.since) if entry.plan.kind == "day"]

    async def make(self) -> Made:
        """Ask, arrange, write.

        Raises:
            ReplyRefused: When no block can be used. Nothing was written.
            Outdated: When the plan of the day changed meanwhile. Nothing was written.
        """
        made = Made(Tally())
        shown = await self._shown(made)
        reply, memories = await fitting.ask(self.engine, self.run, shown, self._task)
        await touch_all(self.engine, self.agent.id, [memory.id for memory in memories], self.run.now)
        value: PlannedDay = reply.value
        items = self._allowed(value.plan, made)
        entries = [arithmetic.Entry(item.start, item.end) for item in items]
        arranged = arithmetic.arrange(self.day, entries, since=self.since, until=self.until)
        made.tally.adjusted += [
            Adjusted(rule=issue.rule, text=shorten(items[issue.item].text), reason=issue.reason, refused=issue.refused)
            for issue in arranged.issues
        ]
        if not arranged.blocks:
            raise ReplyRefused("of the plan no block can be used", gate="shape", remedy="try again, or another model")
        keep = self._unchanged(items, arranged.blocks)
        drafts = await self._drafts(
            items, [b for b in arranged.blocks if b not in keep], [m.id for m in memories], made
        )
        await self.engine.store.write(lambda tx: self._write(tx, drafts, {plan.id for plan in keep.values()}, made))
        return made

    def _task(self, statements: tuple[grounding.Statement, ...]) -> PlanDay:
        agent, zone = self.agent, self.agent.zone
        return PlanDay(
            agent=agent.described,
            day=date_text(datetime.combine(self.day.date, datetime.min.time())),
            date=self.day.date.isoformat(),
            time_zone=zone.key,
            since=arithmetic.clock(self.since, zone),
            now=arithmetic.clock(self.run.now, zone),
            past=tuple(
                scheduled(entry.plan, agent)
                for entry in self.past
                if entry.plan.kind != "step" or meal_in(entry.plan.text)
            ),
            rest=tuple(scheduled(entry.plan, agent) for entry in self.rest),
            reaction=self.because.doing if self.because else None,
            statements=statements,
        )

    async def _shown(self, made: Made) -> list[fitting.Shown]:
        """What the prompt shows: yesterday's digest, lessons, what is on that day, what is usual, the latest."""
        engine, agent_id, now = self.engine, self.agent.id, self.run.now
        found: dict[str, fitting.Shown] = {}
        known_by = known.by(now)
        made.later = await known.later(engine, agent_id, now)

        def add(*entries: fitting.Shown) -> None:
            for entry in entries:
                found.setdefault(entry.memory.id, entry)

        if self.because is not None:
            add(fitting.Shown(self.because.observation))
        try:
            yesterday = await summaries.digest(engine, agent_id, self.day.before().date, now=now)
            if yesterday is not None and yesterday.recorded_at <= known_by:
                add(fitting.Shown(yesterday))
        except ReplyRefused as error:
            made.tally.refused.append(refusal(error, "yesterday's digest"))
        named = date_text(datetime.combine(self.day.date, datetime.min.time()))
        texts = [entry.plan.text for entry in self.rest]
        asked = (
            (f"how to plan {', '.join(texts)}" if texts else "how to plan and do what it does every day", PAPER,
             _LEARNED, _LESSONS),
            (f"appointments, invitations and promises for {named}", RECALL, REMEMBERED, _EACH),
            ("what it usually does every day, at which time", RECALL, REMEMBERED, _EACH),
        )  # fmt: skip
        for question, profile, kinds, k in asked:
            filters = Filters(kinds=kinds)
            hits = await search(
                engine, agent_id, question, k=k, profile=profile, now=now, filters=filters, known_by=known_by
            )
            add(*(fitting.Shown(hit.memory, hit.score) for hit in hits))
        rows = await engine.store.query("reflect/latest", agentId=agent_id, limit=_LATEST, knownBy=known_by)
        add(*(fitting.Shown(memory) for row in rows if (memory := to_memory(row)).kind in REMEMBERED))
        return list(found.values())

    def _allowed(self, items: Sequence[PlannedBlock], made: Made) -> list[PlannedBlock]:
        """The blocks without a meal that is eaten twice, and without the mere echo of what is stale."""
        eaten = {meal for entry in self.past if (meal := meal_in(entry.plan.text))}
        stale = {normalise_text(entry.plan.text) for entry in self.rest if entry.plan.status == "stale"}
        begun = {meal_in(entry.plan.text) for entry in self.rest if entry.plan.start < self.since}
        kept: list[PlannedBlock] = []
        for item in items:
            meal = meal_in(item.text)
            if meal in eaten and not (meal in begun and self._begun(item)):
                self._refuse(made, "meal", item, f"{meal} is eaten or planned already")
            elif normalise_text(item.text) in stale and not item.evidence:
                self._refuse(made, "echo", item, "repeats what is stale, without a reason")
            else:
                kept.append(item)
                if meal is not None:
                    eaten.add(meal)
        return kept

    def _begun(self, item: PlannedBlock) -> bool:
        """Whether a block goes on with what had begun when the rest was planned anew."""
        try:
            return self.day.at(arithmetic.minute_of(item.start)) <= self.since
        except ValueError:
            return False  # The arithmetic refuses it.

    def _refuse(self, made: Made, rule: str, item: PlannedBlock, reason: str) -> None:
        made.tally.adjusted.append(Adjusted(rule=rule, text=shorten(item.text), reason=reason, refused=True))

    def _unchanged(
        self, items: Sequence[PlannedBlock], blocks: Sequence[arithmetic.Block]
    ) -> dict[arithmetic.Block, Plan]:
        """Old blocks that came out the same and rest on what holds: they stay, as does one that goes on."""
        old = {
            (normalise_text(entry.plan.text), max(entry.plan.start, self.since), entry.plan.end): entry.plan
            for entry in self.rest
            if entry.plan.status == "active"
        }
        found = {block: old.get((normalise_text(items[block.item].text), block.start, block.end)) for block in blocks}
        return {block: plan for block, plan in found.items() if plan is not None}

    async def _drafts(
        self, items: Sequence[PlannedBlock], blocks: Sequence[arithmetic.Block], shown: Sequence[str], made: Made
    ) -> list[Draft]:
        """Blocks with their reasons, ratings and vectors. A number that was not shown is dropped, and told."""
        grounds: dict[int, tuple[str, ...]] = {}
        for number in sorted({block.item for block in blocks}):
            item = items[number]
            if wrong := [n for n in item.evidence if not 1 <= n <= len(shown)]:
                reason = f"names {', '.join(map(str, wrong[:8]))}, but 1–{len(shown)} were shown; dropped"
                made.tally.refused.append(Refused(gate="index", reason=reason, item=shorten(item.text)))
            named = [shown[n - 1] for n in item.evidence if 1 <= n <= len(shown)]
            if self.because is not None:
                named.append(self.because.observation.id)
            grounds[number] = tuple(dict.fromkeys(named))
        texts = list(dict.fromkeys(items[block.item].text for block in blocks))
        ratings = dict(zip(texts, await grounding.rate(self.engine, texts, self.run), strict=True)) if texts else {}
        return await plan_store.embedded(
            self.engine,
            [
                Draft(
                    text=(item := items[block.item]).text,
                    grain="day",
                    start=block.start,
                    end=block.end,
                    place=item.place or None,
                    importance=ratings[item.text][0],
                    importance_by=ratings[item.text][1],
                    day=self.day.date.isoformat(),
                    time_zone=self.agent.zone.key,
                    grounds=grounds[block.item],
                )
                for block in blocks
            ],
        )

    async def _write(self, tx: Transaction, drafts: Sequence[Draft], keep: set[str], made: Made) -> None:
        """One transaction: the new rest, the old one superseded by it, what is behind it released."""
        agent_id, now = self.agent.id, self.run.now
        revision = await truth.begin(tx, agent_id, now)
        if await self.run.shown_forgotten(tx):
            raise RunLost(f"the plan was dropped: {FORGOTTEN}", remedy="plan again")
        end = max([self.day.end, *(draft.end for draft in drafts)])
        held = await plan_store.between(tx, agent_id, min(self.since, self.day.start), end)
        blocks = {entry.plan.id for entry in self.held if entry.plan.kind == "day"}
        ours = [entry for entry in held if belongs(entry, self.day, self.since)]
        if {entry.plan.id for entry in ours if entry.plan.kind == "day"} != blocks:
            raise Outdated
        kept = keep | {entry.plan.id for entry in ours if entry.parent in keep}
        kept |= {entry.plan.id for entry in ours if entry.parent in kept}
        old = [entry.plan for entry in replaced(ours, self.since) if entry.plan.id not in kept]
        over = [entry.plan.id for entry in ours if not entry.plan.finished and entry.plan.end <= self.since]
        await plan_store.write(tx, self.engine, agent_id, drafts, now, run_id=self.run.id)
        await plan_store.release(tx, revision, over)
        by = self.engine.language_model.name
        ended: list[tuple[str, str, str]] = []
        for plan in old if drafts else []:
            await truth.supersede(
                tx,
                revision,
                older=plan.id,
                newer=_in_place_of(plan, drafts, self.since).id,
                mode="update",
                reason=REPLANNED,
                by=by,
                cause="replan",
                made=True,
            )
            ended.append((plan.id, "plan:superseded", REPLANNED))
        if ended:
            await revision.log_all(tx, ended, by=by, run_id=self.run.id)
        await truth.relabel(tx, revision, [*(draft.id for draft in drafts), *(id_ for id_, _, _ in ended), *over])
        made.new = [draft.id for draft in drafts]
        made.superseded = [id_ for id_, _, _ in ended]


def belongs(entry: Planned, day: Day, since: datetime) -> bool:
    """Whether a plan is one of a day's: it begins on it, or reaches into it beyond the moment of planning."""
    return entry.plan.start < day.end and (entry.plan.start >= day.start or entry.plan.end > since)


def replaced(held: Sequence[Planned], since: datetime) -> list[Planned]:
    """Unfinished plans that reach beyond a moment."""
    return [entry for entry in held if not entry.plan.finished and entry.plan.end > since]


def _in_place_of(plan: Plan, drafts: Sequence[Draft], since: datetime) -> Draft:
    """The new block that has most of an old plan's time, of several the first; the nearest where none has any."""

    def common(draft: Draft) -> timedelta:
        return min(plan.end, draft.end) - max(plan.start, since, draft.start)

    return max(drafts, key=lambda draft: (common(draft), -draft.start.timestamp()))


async def bounds(
    engine: Engine, agent: Who, day: Day, now: datetime
) -> tuple[datetime, datetime | None, list[Planned]]:
    """From when on a day can be planned, up to where, and the plans of it that are held.

    Raises:
        InvalidInput: When the day is over.
    """
    if now >= day.end:
        raise InvalidInput(
            f"{day.date} is over: it is {now.astimezone(agent.zone):%Y-%m-%d %H:%M} where {agent.name} is",
            remedy="plan today or a later day, or give now",
        )
    since = max(day.start, now.replace(second=0, microsecond=0))
    near = await plan_store.read_between(engine, agent.id, day.start, day.end + timedelta(days=1))
    held = [entry for entry in near if belongs(entry, day, since)]
    later = [entry.plan.start for entry in near if entry.plan.start >= day.end and not entry.plan.finished]
    return since, min(later, default=None), held
