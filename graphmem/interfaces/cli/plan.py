"""``graphmem plan | react | finish | learn``: an agent's day, what it does about it, and what it learns from it."""

from __future__ import annotations

from datetime import date as Date
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphmem.clock import system_now
from graphmem.interfaces.cli.common import BELIEVE, Agent, Cli, command
from graphmem.interfaces.cli.values import day_option, time_option

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from graphmem.interfaces.cli.common import Where
    from graphmem.models import Refused
    from graphmem.models.planning import Adjusted, CurrentPlan, PlanReport

_TEXT = 120


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(
        app,
        panel=BELIEVE,
        example="graphmem plan --agent ines --date 2026-06-14\ngraphmem plan --agent ines --now",
    )(plan)
    command(
        app,
        panel=BELIEVE,
        example='graphmem react "Smoke at the shed" --agent ines\ngraphmem react D1:2 --agent ines --about tobias',
    )(react)
    command(
        app,
        panel=BELIEVE,
        example='graphmem finish 0195a2 --agent ines --state missed --reason "the pitch did not dry"',
    )(finish)
    command(app, panel=BELIEVE, example="graphmem learn --agent ines")(learn)


def plan(
    cli: Cli,
    agent: Agent,
    date: Annotated[Date | None, day_option("The day, where the agent lives; today without it.")] = None,
    now: Annotated[bool, typer.Option("--now", help="Only what is planned for this moment, to the step.")] = False,
    at: Annotated[datetime | None, time_option("Only what is planned for that moment")] = None,
    anew: Annotated[bool, typer.Option("--anew", help="Plan the rest of the day anew where a plan is stale.")] = False,
) -> None:
    """Plan an agent's day, or show the plan there is.

    The day is planned in blocks and hours from now on; steps are made as they come near. A plan whose grounds have
    ended is stale until it is made anew.
    """
    if sum([now, at is not None, anew, date is not None]) > 1:
        raise typer.BadParameter("give only one of --date, --now, --at and --anew")
    with cli.memory(agent) as memory, cli.progress() as progress:
        handle = memory.agent(agent)
        where = cli.where(memory, agent)
        progress.step(f"agent {agent} plans")
        if now or at is not None:
            current = handle.current_plan(at)
            _show_current(cli, current, where)
            return
        report = handle.replan() if anew else handle.plan_day(date)
        clock_now = handle.info().clock or system_now()
    if cli.as_json:
        cli.emit({**where.as_dict(), **(report.model_dump(mode="json") if report else {"plans": None})})
        return
    if report is None:
        cli.say(f"nothing that is planned is stale: {where}")
        return
    _show_day(cli, report, clock_now, where)


def _show_current(cli: Cli, current: CurrentPlan | None, where: Where) -> None:
    if cli.as_json:
        cli.emit({**where.as_dict(), "current": current.model_dump(mode="json") if current else None})
        return
    if current is None:
        cli.say(f"nothing is planned for that moment: {where}")
        cli.note(f"plan the day with: graphmem plan --agent {where.agent}")
        return
    from graphmem.views.plans import plan_line
    from graphmem.views.text import short_ids

    chain = [*reversed(current.within), current.plan]
    ids = short_ids(item.id for item in chain)
    for item in chain:
        cli.say(plan_line(item, current.time_zone, ids))
    if current.stale and current.over:
        cli.note("what it rested on has ended; it is over, and nothing is planned in its place")
    elif current.stale:
        cli.note("what it rests on has ended: graphmem plan --anew makes the rest of the day anew")
    cli.say(str(where))


def _show_day(cli: Cli, report: PlanReport, clock_now: datetime, where: Where) -> None:
    from graphmem.views.plans import clock, day_lines
    from graphmem.views.text import counted

    since = f", from {clock(report.since, report.time_zone)} on" if report.since else ""
    cli.say(f"{report.day:%A} {report.day} ({report.time_zone}){since}")
    for line in day_lines(report.plans, report.time_zone):
        cli.say(line)
    if report.superseded:
        cli.say(f"superseded: {counted(len(report.superseded), 'plan')} of the old rest of the day")
    _tell(cli, report.adjusted, report.refused)
    if report.later:
        cli.note(f"{counted(report.later, 'memory', 'memories')} recorded later than that: not known yet, so not used")
    if any(item.status == "stale" and not item.finished and item.end > clock_now for item in report.plans):
        cli.note("what is stale rests on what has ended: graphmem plan --anew makes the rest of the day anew")
    cli.say(str(where))


def _tell(cli: Cli, adjusted: Sequence[Adjusted], refused: Sequence[Refused]) -> None:
    from graphmem.views.text import shortened

    for item in adjusted:
        cli.note(
            f"{'refused' if item.refused else 'repaired'} ({item.rule}): {shortened(item.text, _TEXT)}: {item.reason}"
        )
    for one in refused:
        cli.note(f"refused ({one.gate}): {shortened(one.item, _TEXT)}: {one.reason}")


def react(
    cli: Cli,
    observation: Annotated[str, typer.Argument(help="An observation's id, or what is observed now.")],
    agent: Agent,
    about: Annotated[
        str | None, typer.Option("--about", metavar="WHOM", help="Whom or what it is about; an agent, or any name.")
    ] = None,
) -> None:
    """Let an agent decide whether to react to what it observes, and plan the rest of its day anew if it does."""
    with cli.memory(agent) as memory, cli.progress() as progress:
        progress.step(f"agent {agent} looks")
        handle = memory.agent(agent)
        reaction = handle.react(observation, about=about)
        zone = handle.info().time_zone
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **reaction.model_dump(mode="json")})
        return
    from graphmem.views.plans import day_lines
    from graphmem.views.text import counted

    cli.say(f"{'reacts' if reaction.reacted else 'does not react'}: {reaction.reason or 'no reason was given'}")
    if reaction.doing:
        cli.say(f"does now: {reaction.doing}")
    if reaction.converse_with:
        cli.say(f"begins to talk with {reaction.converse_with}")
    for line in day_lines(reaction.new, zone):
        cli.say(line)
    if reaction.dropped:
        cli.say(f"superseded: {counted(len(reaction.dropped), 'plan')} of the old rest of the day")
    _tell(cli, reaction.adjusted, reaction.refused)
    cli.say(str(where))


def finish(
    cli: Cli,
    plan: Annotated[str, typer.Argument(help="The plan's id, or enough of its beginning.")],
    agent: Agent,
    state: Annotated[Literal["done", "missed", "dropped"], typer.Option("--state", help="What became of it.")] = "done",
    reason: Annotated[str, typer.Option("--reason", help="Why; lessons are learned from it.")] = "",
) -> None:
    """Say what became of a plan; its unfinished parts end with it."""
    with cli.memory(agent) as memory:
        handle = memory.agent(agent)
        finished = handle.finish(handle.resolve(plan), state=state, reason=reason)
        zone = handle.info().time_zone
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), "plan": finished.model_dump(mode="json")})
        return
    from graphmem.views.plans import plan_line

    cli.say(plan_line(finished, zone, {}))
    cli.say(str(where))


def learn(cli: Cli, agent: Agent) -> None:
    """Learn from what became of plans: lessons that cite them, shown when the like is planned again."""
    with cli.memory(agent) as memory, cli.progress() as progress:
        progress.step(f"agent {agent} learns")
        report = memory.agent(agent).learn()
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **report.model_dump(mode="json")})
        return
    from graphmem.views.lines import plain_line
    from graphmem.views.text import counted

    match report.outcome:
        case "learned":
            cli.say(f"learned from {counted(report.considered, 'plan')}")
        case "no_lesson":
            cli.say(f"no lesson follows from {counted(report.considered, 'plan')}")
        case "nothing_finished":
            cli.say("nothing has become of a plan since the last time: graphmem finish says what did")
    for lesson in report.procedures:
        cli.say(plain_line(lesson, "  + "))
    for known in report.reinforced:
        cli.say(f"  = {known} said so already and gained evidence")
    _tell(cli, (), report.refused)
    cli.say(str(where))
