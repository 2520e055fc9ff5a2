"""``graphmem interview | evaluate``: an agent questioned under four conditions, rankings judged, three figures."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.interfaces.cli.common import LOOK, Agent, Cli, agent_option, command
from graphmem.interfaces.cli.values import time_option

if TYPE_CHECKING:
    from graphmem.models.interviews import Evaluation


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(
        app,
        panel=LOOK,
        example="graphmem interview --agent ines --out interview\ngraphmem interview --rankings interview/rankings.csv",
    )(interview)
    command(app, panel=LOOK, example="graphmem evaluate --agent ines --questions questions.jsonl")(evaluate)


def interview(
    cli: Cli,
    agent: Annotated[
        str | None,
        agent_option("Whom to interview."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write sheet, rankings to fill in, and key.")] = None,
    rankings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Judge rankings that were filled in; key.json lies beside them.")
    ] = None,
    at: Annotated[datetime | None, time_option("When it takes place, by default now")] = None,
) -> None:
    """Ask 25 questions of five kinds under four conditions over one history, for people to rank.

    The conditions: all memories, no reflections, neither reflections nor plans, none. With --rankings: TrueSkill
    ratings and Dunn's test.
    """
    if (agent is None) == (rankings is None):
        raise typer.BadParameter("give either --agent or --rankings", param_hint="--agent / --rankings")
    if rankings is not None:
        _judge(cli, rankings)
        return
    assert agent is not None
    with cli.memory(agent) as memory, cli.progress() as progress:

        def show(done: int, total: int) -> None:
            progress.step(f"interview with {agent}", done / total, f"{done} of {total} questions")

        found = memory.agent(agent).interview(now=at, progress=show)
        where = cli.where(memory, agent)
    from graphmem.interfaces.interviews import files

    if out is not None:
        _write(out, files(found))
    if cli.as_json:
        cli.emit({**where.as_dict(), **found.model_dump(mode="json")})
        return
    if out is None:
        cli.say(files(found)["sheet.md"])
    else:
        cli.say(f"wrote sheet.md, sheet.html, rankings.csv and key.json to {out}")
        for condition in found.asked[0].answers:
            known = sum(one.answers[condition].known for one in found.asked)
            cli.say(f"{condition}: {known} of {len(found.asked)} answered")
    cli.say(str(where))


def _write(out: Path, contents: dict[str, str]) -> None:
    from graphmem.errors import InvalidFile
    from graphmem.interfaces.files import write_text

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidFile(f"{out} cannot be written: {error.strerror}", remedy="name a folder of yours") from error
    for name, text in contents.items():
        write_text(out / name, text)


def _judge(cli: Cli, rankings: Path) -> None:
    from graphmem.interfaces.interviews import judged, read_rankings

    found = judged(read_rankings(rankings, rankings.parent / "key.json"))
    if cli.as_json:
        cli.emit(found)
        return
    cli.say(f"{found['rankings']} rankings; TrueSkill:")
    cli.fields({name: f"{value['mu']:.2f} ± {value['sigma']:.2f}" for name, value in found["trueskill"].items()})
    cli.say("Dunn's test, p by Holm:")
    cli.fields({name: f"{p:.4f}" for name, p in found["dunn"].items()})


def evaluate(
    cli: Cli,
    agent: Agent,
    questions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Questions about the past as JSON lines, as graphmem calibrate takes them."),
    ] = None,
    at: Annotated[datetime | None, time_option("Up to when, by default now")] = None,
) -> None:
    """Give three figures apart: answers about the past, consistency of plans, behaviour against the plan."""
    from graphmem.interfaces.questions import read_questions

    asked = read_questions(questions) if questions is not None else []
    with cli.memory(agent) as memory, cli.progress() as progress:
        progress.step(f"evaluating {agent}")
        found = memory.agent(agent).evaluate(questions=asked, now=at)
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **found.model_dump(mode="json")})
        return
    cli.fields(_told(found))
    cli.say(str(where))


def _told(found: Evaluation) -> dict[str, str]:
    past, plans, done = found.past, found.consistency, found.behaviour
    answers = f"{past.right} of {past.questions} right, {past.unknown} not known, {past.wrong} wrong"
    return {
        "answers about the past": answers if past.questions else "not asked: give --questions",
        "consistency of plans": f"{plans.plans} plans, {plans.overlaps} overlaps, {plans.impossible} impossible; "
        f"{plans.agrees} of {plans.asked} told as planned",
        "behaviour against the plan": f"of {done.over} that are over: {done.done} done, {done.missed} missed, "
        f"{done.dropped} dropped, {done.open} open",
    }
