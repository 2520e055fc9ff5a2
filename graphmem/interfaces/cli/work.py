"""``graphmem work``: what observing left for later, once or for as long as it runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.interfaces.cli.common import BELIEVE, Cli, Where, agent_option, command

if TYPE_CHECKING:
    from graphmem.models import WorkReport


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, panel=BELIEVE, example="graphmem work\ngraphmem work --every 30")(work)


def work(
    cli: Cli,
    agent: Annotated[
        str | None,
        agent_option("Only for this agent; for all without it."),
    ] = None,
    every: Annotated[
        float | None,
        typer.Option(
            min=0.1, metavar="SECONDS", help="Go on until interrupted, with so long a pause; once without it."
        ),
    ] = None,
) -> None:
    """Make missing embeddings and ratings, recompute and plan anew what is stale, and reflect where it is due.

    Several workers can run side by side: each takes an agent for itself, and goes on where one that died stopped.
    Exit code 1 when something failed in the last round.
    """
    with cli.memory(*([agent] if agent is not None else [])) as memory:
        where = cli.where(memory, agent)
        while True:
            with cli.progress() as progress:
                progress.step("working")
                report = memory.work_once(agent=agent)
            _show(cli, report, where)
            if every is None:
                break
            time.sleep(every)
    if report.failures:
        raise typer.Exit(1)


def _show(cli: Cli, report: WorkReport, where: Where) -> None:
    if cli.as_json:
        cli.emit({**where.as_dict(), **report.model_dump(mode="json")})
        return
    done = {
        "embedded": report.embedded,
        "rated": report.rated,
        "recomputed": report.recomputed,
        "planned anew": report.planned,
        "new insights": report.reflections,
    }
    told = ", ".join(f"{count:,} {what}" for what, count in done.items() if count)
    cli.say(f"{told or 'nothing to do'}: {where}")
    for failure in report.failures:
        cli.note(f"agent {failure.agent_id}: {failure.error}" + (f" ({failure.remedy})" if failure.remedy else ""))
    if report.pending:
        cli.note(f"still pending for {', '.join(report.pending)}")
