"""Planning: blocks, hours and steps; what is planned now; what became of it; grounds that change (B37–B39)."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from scripted import Open, Scripted, numbers_of

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.errors import AlreadyEnded, InvalidInput, InvalidTime, LanguageModelError, ReplyRefused
from graphmem.language.planning import DividePlan, PlanDay
from graphmem.language.whens import meal_in
from graphmem.models import Plan

pytestmark = pytest.mark.usefixtures("born")
DAY = "2026-06-12"
LONDON = ZoneInfo("Europe/London")


def at(hour: int, minute: int = 0, day: int = 12) -> datetime:
    return datetime(2026, 6, day, hour, minute, tzinfo=UTC)


def block(span: str, text: str, *evidence: int, place: str | None = None) -> dict[str, Any]:
    start, end = span.split("-")
    return {"start": start, "end": end, "text": text, "place": place, "evidence": list(evidence)}


PLAIN = [
    block("07:00-08:00", "have breakfast"),
    block("08:00-12:00", "caulk the hull"),
    block("12:00-13:00", "have lunch"),
    block("13:00-17:00", "paint the mast"),
    block("17:00-22:00", "read"),
    block("22:00-07:00", "sleep"),
]


def day_of(*blocks: dict[str, Any]) -> Any:
    return lambda task: {"plan": list(blocks)}


def quarters(task: Any) -> dict[str, Any]:
    """Hours, or steps of a quarter of an hour."""
    length = 60 if task.into == "hour" else 15
    count, rest = divmod(task.minutes, length)
    parts = [{"text": f"{task.text}, {task.into} {n}", "minutes": length} for n in range(1, count + 1)]
    return {"parts": parts + ([{"text": f"{task.text}, the rest", "minutes": rest}] if rest else [])}


def spans(plans: Any, zone: ZoneInfo | type[UTC] = UTC) -> list[str]:  # type: ignore[valid-type]
    return [f"{p.start.astimezone(zone):%H:%M}-{p.end.astimezone(zone):%H:%M} {p.text}" for p in plans]


def blocks(plans: Any) -> list[Plan]:
    return [plan for plan in plans if plan.grain == "day"]


async def each_minute(agent: AsyncAgent, start: datetime, end: datetime, every: int = 7) -> Counter[str]:
    """What is planned at moments all over a span: how often each grain is the finest."""
    found: Counter[str] = Counter()
    moment = start
    while moment < end:
        current = await agent.current_plan(moment)
        assert current is not None, moment
        assert current.plan.start <= moment < current.plan.end
        for inner, outer in zip([current.plan, *current.within], current.within, strict=False):
            assert outer.start <= inner.start < inner.end <= outer.end
        found[current.plan.grain] += 1
        moment += timedelta(minutes=every)
    return found


# --- the day ----------------------------------------------------------------------------------------------------


async def test_a_day_is_blocks_and_hours_with_their_grounds(thinking: Open) -> None:
    def plan(task: PlanDay) -> Any:
        (number,) = numbers_of(task, "pitch")
        return {"plan": [*PLAIN[:1], block("08:00-12:00", "caulk the hull", number, place="boatyard"), *PLAIN[2:]]}

    agent = await thinking(Scripted(plan=plan, divide=quarters))
    pitch = await agent.observe("The pitch has come", now=at(6))
    report = await agent.plan_day(DAY, now=at(6, 30))
    # The night that ends the day begins it as well, from now on.
    assert spans(blocks(report.plans)) == [
        "06:30-08:00 have breakfast", "08:00-12:00 caulk the hull", "12:00-13:00 have lunch",
        "13:00-17:00 paint the mast", "17:00-22:00 read", "22:00-07:00 sleep",
    ]  # fmt: skip
    assert [item.rule for item in report.adjusted] == ["gap"]
    caulk = blocks(report.plans)[1]
    assert (caulk.place, caulk.state, caulk.status, caulk.day, caulk.time_zone) == (
        "boatyard", "planned", "active", date(2026, 6, 12), "UTC",
    )  # fmt: skip
    hours = [plan for plan in report.plans if plan.grain == "hour" and plan.text.startswith("caulk")]
    assert [plan.start for plan in hours] == [at(8), at(9), at(10), at(11)]
    assert {plan.place for plan in hours} == {"boatyard"}
    assert not [plan for plan in report.plans if plan.grain == "step"]
    provenance = await agent.explain(hours[0].id)
    assert {ground.target for ground in provenance.grounds_of(hours[0].id)} == {caulk.id}
    assert {ground.target for ground in provenance.grounds_of(caulk.id)} == {pitch.id}
    run = await agent.run(report.run_id or "")
    assert (run.run.verb, run.run.outcome) == ("plan", "done")
    assert {memory.id for memory in run.wrote} >= {caulk.id, hours[0].id}
    assert pitch.id in {shown.memory.id for shown in run.shown}


async def test_exactly_one_step_at_any_minute_over_midnight(thinking: Open) -> None:
    model = Scripted(plan=day_of(*PLAIN), divide=quarters)
    agent = await thinking(model)
    await agent.plan_day(DAY, now=at(0))
    assert await agent.current_plan(at(23, 59, day=11)) is None
    found = await each_minute(agent, at(0), at(7, 0, day=13))
    assert set(found) == {"step"}
    assert await agent.current_plan(at(7, 0, day=13)) is None
    asked = len(model.asked(DividePlan))
    await each_minute(agent, at(0), at(7, 0, day=13), every=61)
    assert len(model.asked(DividePlan)) == asked  # What is divided is not divided again.
    steps = await agent.plans(DAY, "step")
    assert all(first.end <= second.start for first, second in itertools.pairwise(steps))
    night = await agent.current_plan(at(2, 0, day=13))
    assert night is not None
    assert (night.plan.text, night.plan.end) == ("sleep", at(7, 0, day=13))


async def test_a_planned_day_stays_and_is_completed_where_it_was_cut_off(thinking: Open) -> None:
    broken = ["paint the mast"]

    def divide(task: DividePlan) -> Any:
        if task.text in broken:
            raise LanguageModelError("the provider is down")
        return quarters(task)

    model = Scripted(plan=day_of(*PLAIN), divide=divide)
    agent = await thinking(model)
    with pytest.raises(LanguageModelError, match="down"):
        await agent.plan_day(DAY, now=at(0))
    before = await agent.plans(DAY)
    assert [plan.text for plan in before if plan.grain == "hour"].count("paint the mast, hour 1") == 0
    broken.clear()
    report = await agent.plan_day(DAY, now=at(0, 5))
    assert report.since is None
    assert {plan.id for plan in before} < {plan.id for plan in report.plans}
    assert {plan.text.split(",")[0] for plan in report.new} >= {"paint the mast"}
    assert len(model.asked(PlanDay)) == 1
    again = await agent.plan_day(DAY, now=at(9))
    assert (again.plans, again.new, again.run_id) == (report.plans, (), None)


async def test_two_plan_the_same_day_at_once(thinking: Open) -> None:
    agent = await thinking(Scripted(plan=day_of(*PLAIN), divide=quarters))
    reports = await asyncio.gather(*(agent.plan_day(DAY, now=at(0)) for _ in range(3)))
    assert len({frozenset(plan.id for plan in blocks(report.plans)) for report in reports}) == 1
    await each_minute(agent, at(0), at(24 - 1), every=97)
    steps = [plan for plan in await agent.plans(DAY) if plan.grain == "hour"]
    assert Counter(plan.start for plan in steps).most_common(1)[0][1] == 1


async def test_numbers_that_were_not_shown_are_dropped_and_told(thinking: Open) -> None:
    agent = await thinking(Scripted(plan=day_of(block("00:00-24:00", "fish", 0, 1, -1, 99)), divide=quarters))
    eel = await agent.observe("The eels are running", now=at(0))
    report = await agent.plan_day(DAY, now=at(0))
    assert [(item.gate, item.reason[:14]) for item in report.refused] == [("index", "names 0, -1, 9")]
    (fish,) = blocks(report.plans)
    grounds = (await agent.explain(fish.id)).grounds_of(fish.id)
    assert [ground.target for ground in grounds] == [eel.id]


async def test_nothing_is_written_where_nothing_can_be_used(thinking: Open) -> None:
    replies: list[Any] = [{"plan": [block("25:00-26:00", "fly")]}, {"plan": []}, "I plan to be happy.", {"plan": [{}]}]
    for reply in replies:
        agent = await thinking(Scripted(plan=lambda task, reply=reply: reply))
        with pytest.raises(ReplyRefused):
            await agent.plan_day(DAY, now=at(0))
    assert await agent.plans(DAY) == ()
    assert {run.outcome for run in await agent.runs()} == {"failed"}


async def test_no_meal_is_eaten_twice(thinking: Open) -> None:
    twice = [*PLAIN[:3], block("13:00-14:00", "eat lunch with Klaus"), block("14:00-22:00", "read"), PLAIN[5]]
    agent = await thinking(Scripted(plan=day_of(*twice), divide=quarters))
    report = await agent.plan_day(DAY, now=at(0))
    assert [(item.rule, item.text) for item in report.adjusted if item.refused] == [("meal", "eat lunch with Klaus")]
    assert [plan.text for plan in blocks(report.plans) if meal_in(plan.text) == "lunch"] == ["have lunch"]


async def test_dates_that_cannot_be_planned(agent: AsyncAgent) -> None:
    with pytest.raises(InvalidInput, match="2026-06-11 is over"):
        await agent.plan_day("2026-06-11", now=at(9))
    for wrong in ("tomorrow", "2026-13-01", "", 5, at(9)):
        with pytest.raises(InvalidTime, match="is not a date"):
            await agent.plan_day(wrong, now=at(9))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="grain"):
        await agent.plans(DAY, "minute")
    assert await agent.current_plan(at(9)) is None
    assert await agent.replan(now=at(9)) is None


# --- B37: parts that do not fit ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("minutes", "lengths"),
    [
        ((15, 20, 20), [15, 20, 25]),
        ((30, 20, 45), [30, 20, 10]),
        ((0, 30, 30), [30, 30]),
        ((-10, 20, 40), [20, 40]),
        ((600,), [60]),
        (("30 minutes", "３０分"), [30, 30]),
        (("a while", 40), [60]),
    ],
)
async def test_b37_steps_fill_the_hour_exactly(thinking: Open, minutes: tuple[Any, ...], lengths: list[int]) -> None:
    def divide(task: DividePlan) -> Any:
        if task.into == "hour":
            return quarters(task)
        return {"parts": [{"text": f"網を繕う {n}", "minutes": value} for n, value in enumerate(minutes)]}

    agent = await thinking(Scripted(plan=day_of(block("00:00-24:00", "mend nets")), divide=divide))
    await agent.plan_day(DAY, now=at(0))
    current = await agent.current_plan(at(9, 59))
    assert current is not None
    steps = await agent.plans(DAY, "step")
    assert [round((step.end - step.start).total_seconds() / 60) for step in steps] == lengths
    assert (steps[0].start, steps[-1].end, current.plan.id) == (at(9), at(10), steps[-1].id)
    assert all(step.text.startswith("網を繕う") for step in steps)


@pytest.mark.parametrize("reply", [{"parts": []}, "Steps:\n\n1. nothing", {"parts": [{"text": "x", "minutes": 0}]}])
async def test_b37_what_cannot_be_divided_stays_whole(thinking: Open, reply: Any) -> None:
    model = Scripted(
        plan=day_of(block("00:00-24:00", "mend nets")),
        divide=lambda task: quarters(task) if task.into == "hour" else reply,
    )
    agent = await thinking(model)
    await agent.plan_day(DAY, now=at(0))
    for _ in range(2):
        current = await agent.current_plan(at(9, 30))
        assert current is not None
        assert (current.plan.grain, current.plan.undivided, current.plan.text) == ("hour", True, "mend nets, hour 10")
    assert len([task for task in model.asked(DividePlan) if task.into == "step"]) == 1
    assert await agent.plans(DAY, "step") == ()


# --- B38 and B39: midnight, zones, clock changes ----------------------------------------------------------------


async def test_b38_the_night_is_found_after_midnight(thinking: Open) -> None:
    given = ["22:30-06:00", "06:00-07:00", "07:00-12:00", "11:30-12:30", "18:00-17:00", "24:00-24:30", "12:60-13:00",
             "09:00-09:00"]  # fmt: skip
    model = Scripted(plan=day_of(*(block(span, f"do {span}") for span in given)), divide=quarters)
    agent = await thinking(model)
    report = await agent.plan_day(DAY, now=at(0))
    assert spans(blocks(report.plans)) == [
        "00:00-06:00 do 22:30-06:00", "06:00-07:00 do 06:00-07:00", "07:00-11:30 do 07:00-12:00",
        "11:30-22:30 do 11:30-12:30", "22:30-06:00 do 22:30-06:00",
    ]  # fmt: skip
    assert {item.text for item in report.adjusted if item.refused} == {f"do {span}" for span in given[4:]}
    night = await agent.current_plan(at(2, 0, day=13))
    six = await agent.current_plan(at(6))
    assert night is not None
    assert six is not None
    assert night.within[-1].start == at(22, 30)
    assert six.within[-1].text == "do 06:00-07:00"
    # The next day goes on where the night ends.
    after = await agent.plan_day("2026-06-13", now=at(20))
    assert after.since == at(6, 0, day=13)
    await each_minute(agent, at(22, day=12), at(12, day=13), every=31)


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-06-10", 24)])
async def test_b39_days_of_23_and_25_hours(thinking: Open, day: str, hours: int) -> None:
    ordinary = [
        block("00:00-01:00", "one"), block("01:00-02:00", "two"), block("02:00-07:00", "three"),
        block("07:00-22:00", "four"), block("22:00-24:00", "five"),
    ]  # fmt: skip
    agent = await thinking(Scripted(plan=day_of(*ordinary), divide=quarters))
    zone = ZoneInfo("Europe/Lisbon")
    await agent.configure(time_zone=zone.key)
    start = datetime.combine(date.fromisoformat(day), datetime.min.time(), zone).astimezone(UTC)
    report = await agent.plan_day(day, now=start - timedelta(hours=3))
    found = blocks(report.plans)
    assert (found[0].start, found[-1].end - found[0].start) == (start, timedelta(hours=hours))
    assert all(first.end == second.start for first, second in itertools.pairwise(found))
    (four,) = [plan for plan in found if plan.text == "four"]
    # Told by the clock of where the agent lives, at a fixed offset, so that lengths are real.
    assert f"{four.start:%Y-%m-%d %H:%M}" == f"{day} 07:00"
    assert all(p.start.utcoffset() == p.start.astimezone(zone).utcoffset() for p in report.plans)
    assert sum(((p.end - p.start) for p in found), timedelta()) == timedelta(hours=hours)
    rows = await agent._engine.store.query("plan/between", agentId=agent.id, since=start - timedelta(days=1),
                                           until=start + timedelta(days=1), **{"from": start})  # fmt: skip
    assert {row["memory"]["start"].utcoffset() for row in rows} == {timedelta()}  # as stored
    assert {plan.time_zone for plan in report.plans} == {zone.key}
    assert set(await each_minute(agent, start, start + timedelta(hours=hours), every=47)) == {"step"}


async def test_b39_today_is_the_agents_own_date(agent: AsyncAgent) -> None:
    await agent.configure(time_zone="Pacific/Auckland")
    report = await agent.plan_day(now=datetime(2026, 6, 12, 23, 30, tzinfo=UTC))
    assert (report.day, report.since) == (date(2026, 6, 13), datetime(2026, 6, 12, 23, 30, tzinfo=UTC))


# --- grounds that change ----------------------------------------------------------------------------------------

PARTY = [*PLAIN[:3], block("13:00-17:00", "bake for the party"), block("17:00-22:00", "go to the party"), PLAIN[5]]


def party_or_not(task: PlanDay) -> Any:
    """Plans for the party as long as somebody says that there is one."""
    numbers = numbers_of(task, "There is a party")
    if not numbers:
        return {"plan": PLAIN}
    return {"plan": [{**item, "evidence": numbers if "party" in item["text"] else []} for item in PARTY]}


async def test_the_afternoon_is_another_and_the_morning_the_same(thinking: Open) -> None:
    model = Scripted(plan=party_or_not, divide=quarters)
    agent = await thinking(model)
    await agent.observe("There is a party at five", id="party", now=at(5))
    before = await agent.plan_day(DAY, now=at(6))
    await each_minute(agent, at(6), at(18), every=30)
    morning = [plan for plan in await agent.plans(DAY) if plan.end <= at(12)]
    await agent.finish(morning[0].id, now=at(8))
    change = await agent.supersede("party", text="The party was called off", now=at(12, 5))
    stale = {plan.text for plan in change.stale}
    assert {"bake for the party", "go to the party", "bake for the party, hour 1"} <= stale
    assert not [text for text in stale if "party" not in text]
    now = await agent.current_plan(at(17, 20))
    assert now is not None
    assert now.stale
    assert "party" in now.plan.text
    calm = await agent.current_plan(at(15, 0, day=11))
    assert calm is None

    report = await agent.replan(now=at(12, 30))
    assert report is not None
    assert report.since == at(12, 30)
    after = await agent.plans(DAY)
    assert [(p.id, p.text, p.status) for p in after if p.end <= at(12)] == [(p.id, p.text, "active") for p in morning]
    assert spans(blocks(after))[2:] == [
        "12:00-13:00 have lunch", "13:00-17:00 paint the mast", "17:00-22:00 read", "22:00-07:00 sleep",
    ]  # fmt: skip
    # What came out the same and rests on what holds stays.
    kept = {plan.id for plan in blocks(before.plans)} & {plan.id for plan in blocks(after)}
    assert {plan.text for plan in blocks(after) if plan.id in kept} == {
        "have breakfast",
        "caulk the hull",
        "have lunch",
        "sleep",
    }
    for old in report.superseded:
        (event,) = [e for e in await agent.history(old.id) if e.type == "superseded"]
        assert event.other in {plan.id for plan in blocks(report.new)}
    assert {plan.text for plan in blocks(report.superseded)} == {"bake for the party", "go to the party"}
    later = await agent.current_plan(at(17, 20))
    assert later is not None
    assert not later.stale
    assert later.plan.text.startswith("read")
    # What was planned then is still told of moments before the change.
    earlier = await agent.current_plan(at(12, 10))
    assert earlier is not None
    assert earlier.plan.text.startswith("have lunch")
    assert await agent.replan(now=at(12, 40)) is None


async def test_a_stale_plan_is_planned_anew_in_the_background(
    thinking: Open, memory: AsyncMemory, agent_id: str
) -> None:
    agent = await thinking(Scripted(plan=party_or_not, divide=quarters))
    await agent.configure(clock=at(6))
    await agent.observe("There is a party at five", id="party")
    await agent.plan_day(DAY)
    await agent.retract("party", reason="a joke")
    assert (await agent.info()).stale > 0
    assert (await agent.recompute()).remaining == 0  # Plans are not recomputed as texts.
    report = await memory.work_once(agent=agent_id)
    assert report.planned == 1
    assert (await agent.info()).stale == 0


async def test_what_is_over_is_history(thinking: Open) -> None:
    agent = await thinking(Scripted(plan=party_or_not, divide=quarters))
    await agent.observe("There is a party at five", id="party", now=at(5))
    plans = await agent.plan_day(DAY, now=at(6))
    party = next(plan for plan in blocks(plans.plans) if plan.text == "go to the party")
    await agent.retract("party", reason="it never was", now=at(9, day=14))
    assert (await agent.get(party.id)).status == "stale"
    evening = await agent.current_plan(at(18))
    assert evening is not None
    assert (evening.stale, evening.over) == (True, True)
    assert await agent.replan(now=at(10, day=14)) is None
    found = await agent.get(party.id)
    assert isinstance(found, Plan)
    assert (found.status, found.state) == ("active", "planned")  # Nobody said that it was done.
    provenance = await agent.explain(party.id)
    assert provenance.grounds_of(party.id) == ()
    # What it rested on, and until when, is told all the same.
    assert [(g.target, g.until) for g in provenance.grounds_of(party.id, ended=True)] == [("party", at(10, day=14))]
    change = await agent.restore("party", now=at(11, day=14))
    assert change.active == ()


async def test_an_echo_of_what_is_stale_needs_a_reason(thinking: Open) -> None:
    def stubborn(task: PlanDay) -> Any:
        return {"plan": [{**item, "evidence": numbers_of(task, "There is a party")} for item in PARTY]}

    agent = await thinking(Scripted(plan=stubborn, divide=quarters))
    await agent.observe("There is a party at five", id="party", now=at(5))
    await agent.plan_day(DAY, now=at(12))
    await agent.retract("party", now=at(12, 5))
    with pytest.raises(ReplyRefused, match="no block can be used"):
        await agent.replan(now=at(12, 30))
    assert (await agent.info()).stale > 0
    current = await agent.current_plan(at(17, 20))
    assert current is not None
    assert current.stale


async def test_grounds_that_came_back_make_the_plan_fresh_again(thinking: Open) -> None:
    agent = await thinking(Scripted(plan=party_or_not, divide=quarters))
    await agent.observe("There is a party at five", id="party", now=at(5))
    await agent.plan_day(DAY, now=at(6))
    await agent.retract("party", now=at(7))
    await agent.restore("party", now=at(8))
    current = await agent.current_plan(at(17, 20))
    assert current is not None
    assert not current.stale
    assert current.plan.grain == "step"


async def test_a_plan_made_while_its_ground_ended_is_stale_from_the_start(
    thinking: Open, memory: AsyncMemory, agent_id: str
) -> None:
    async def retract() -> None:
        await memory.agent(agent_id).retract("party", now=at(6))

    class Meanwhile(Scripted):
        async def reply(self, task: Any) -> Any:
            reply = await super().reply(task)
            if isinstance(task, PlanDay):
                await retract()
            return reply

    agent = await thinking(Meanwhile(plan=party_or_not, divide=quarters))
    await agent.observe("There is a party at five", id="party", now=at(5))
    await agent.plan_day(DAY, now=at(6))
    current = await agent.current_plan(at(17, 20))
    assert current is not None
    assert current.stale


# --- what became of it ------------------------------------------------------------------------------------------


async def test_what_became_of_a_plan_and_of_its_parts(thinking: Open) -> None:
    agent = await thinking(Scripted(plan=day_of(*PLAIN), divide=quarters))
    await agent.observe("The hull is dry", now=at(5))
    await agent.plan_day(DAY, now=at(6))
    await each_minute(agent, at(8), at(10), every=15)
    steps = [step for step in await agent.plans(DAY, "step") if at(8) <= step.start < at(10)]
    for step in steps[:3]:
        done = await agent.finish(step.id, now=at(9))
        assert (done.state, done.finished_at, done.status) == ("done", at(9), "active")
    hour = next(plan for plan in await agent.plans(DAY, "hour") if plan.start == at(8))
    assert hour.state == "planned"
    await agent.finish(steps[3].id, state="missed", reason="it rained", now=at(9))
    found = await agent.get(hour.id)
    assert isinstance(found, Plan)
    assert found.state == "done"  # Its parts are over, and some were done.
    (caulk,) = [plan for plan in await agent.plans(DAY, "day") if plan.text == "caulk the hull"]
    assert caulk.state == "planned"
    dropped = await agent.finish(caulk.id, state="dropped", reason="the pitch ran out", now=at(10))
    assert (dropped.state, dropped.reason) == ("dropped", "the pitch ran out")
    states = Counter(plan.state for plan in await agent.plans(DAY) if at(8) <= plan.start < at(12))
    assert states == {"dropped": 1 + 3 + 4, "done": 3 + 1, "missed": 1}
    assert [event.type for event in await agent.history(caulk.id)] == ["planned", "finished"]
    with pytest.raises(AlreadyEnded, match="dropped already: the pitch ran out"):
        await agent.finish(caulk.id, state="done")
    assert await agent.finish(caulk.id, state="dropped", now=at(11)) == dropped
    context = await agent.context("caulk the hull", now=at(12))
    assert "(dropped)" in context.text


async def test_finishing_what_is_no_plan(thinking: Open) -> None:
    agent = await thinking(Scripted(plan=day_of(*PLAIN), divide=quarters))
    await agent.observe("The hull is dry", id="hull", now=at(5))
    report = await agent.plan_day(DAY, now=at(6))
    with pytest.raises(InvalidInput, match="no plan"):
        await agent.finish("hull")
    with pytest.raises(InvalidInput, match="state"):
        await agent.finish(report.plans[0].id, state="planned")
    await agent.retract(report.plans[0].id, now=at(6))
    with pytest.raises(AlreadyEnded, match="retracted"):
        await agent.finish(report.plans[0].id)


async def test_finished_plans_keep_what_they_were(thinking: Open) -> None:
    agent = await thinking(Scripted(plan=party_or_not, divide=quarters))
    await agent.observe("There is a party at five", id="party", now=at(5))
    report = await agent.plan_day(DAY, now=at(6))
    party = next(plan for plan in blocks(report.plans) if plan.text == "go to the party")
    await agent.finish(party.id, now=at(22))
    change = await agent.retract("party", reason="it was a wedding", now=at(23))
    assert party.id not in change.stale_ids
    assert [(g.target, g.until) for g in (await agent.explain(party.id)).grounds_of(party.id, ended=True)] == [
        ("party", at(22))
    ]
