"""``graphmem forget``: remove what was said, wherever the agent's graph holds it, or a whole agent."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphmem.interfaces.cli.common import BELIEVE, Agent, Cli, command

if TYPE_CHECKING:
    from graphmem.interfaces.cli.common import Where
    from graphmem.models import ForgetReport

_MOST_LISTED = 50


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(
        app,
        panel=BELIEVE,
        example="graphmem forget D1:2 --agent evan --dry-run\n"
        'graphmem forget D1:2 --agent evan --term Prius --term "blue car" --yes\n'
        "graphmem forget --agent evan",
    )(forget)


def forget(
    cli: Cli,
    agent: Agent,
    memory_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="What to forget; without it the whole agent.")
    ] = None,
    term: Annotated[
        list[str] | None, typer.Option(help="A word or name to remove everywhere as well; again for more.")
    ] = None,
    dependents: Annotated[
        Literal["recompute", "retract", "refuse"],
        typer.Option(
            help="What becomes of what rests on it: stale until it is recomputed, retracted, or nothing is forgotten."
        ),
    ] = "recompute",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")] = False,
) -> None:
    """Remove a memory's text wherever the agent's graph holds it, or a whole agent. This cannot be undone.

    Each memory that quotes it is forgotten too; a tombstone keeps id and times. Shows what it removes, then asks.
    """
    if memory_id is None:
        if term or dependents != "recompute":
            raise typer.BadParameter("--term and --dependents are about one memory: name its ID", param_hint="ID")
        _forget_agent(cli, agent, dry_run=dry_run, yes=yes)
        return
    with cli.memory(agent) as memory:
        handle = memory.agent(agent)
        id_ = handle.resolve(memory_id)
        where = cli.where(memory, agent)
        if dry_run or not yes:
            impact = handle.forget(id_, dependents=dependents, terms=term or (), dry_run=True)
            if dry_run:
                _show(cli, impact, where)
                return
            for line in _lines(impact):
                cli.note(line)
            _confirm("Remove this for good?")
        report = handle.forget(id_, dependents=dependents, terms=term or ())
    _show(cli, report, where)


def _forget_agent(cli: Cli, agent: str, *, dry_run: bool, yes: bool) -> None:
    from graphmem.views.text import counted, one_line

    with cli.memory(agent) as memory:
        where = cli.where(memory, agent)
        impact = memory.forget_agent(agent, dry_run=True)
        what = f"{counted(impact.memories, 'memory', 'memories')}, {counted(impact.runs, 'run')} and all changes"
        if not dry_run and not yes:
            cli.note(f"agent {one_line(agent)}: {what}")
            _confirm("Delete the whole agent for good?")
        report = impact if dry_run else memory.forget_agent(agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **report.model_dump(mode="json")})
        return
    cli.say(f"{'would delete' if dry_run else 'deleted'} agent {one_line(agent)}: {what}")


def _confirm(question: str) -> None:
    """Ask at the terminal.

    Raises:
        BadParameter: When there is none: then --yes must say so.
    """
    if not sys.stdin.isatty():
        raise typer.BadParameter("there is no terminal to ask at: say --yes, or look first with --dry-run")
    if not typer.confirm(question, err=True):
        raise typer.Exit(1)


def _lines(report: ForgetReport) -> Iterator[str]:
    """What is removed, and what may say the same in other words."""
    from graphmem.views.lines import plain_line
    from graphmem.views.text import counted

    yield f"{counted(len(report.forgotten), 'memory', 'memories')} to forget:"
    yield from (str(plain_line(memory, "  - ")) for memory in report.forgotten[:_MOST_LISTED])
    if report.stripped:
        yield f"removed from {counted(len(report.stripped), 'other text')} as well:"
    yield from (f"  - {item.property} of {item.where} {item.id}" for item in report.stripped[:_MOST_LISTED])
    if report.dependents:
        yield "what rests or rested on it may say the same in other words:"
    yield from (str(plain_line(memory, "  ? ")) for memory in report.dependents[:_MOST_LISTED])
    for copy in report.copies[:_MOST_LISTED]:
        yield f"agent {copy.agent_id} holds it too, as {copy.id}, which is not touched"
    for path in report.places[:_MOST_LISTED]:
        yield f"the place {path} is called so in its world, and stays"


def _show(cli: Cli, report: ForgetReport, where: Where) -> None:
    from graphmem.views.text import counted

    if cli.as_json:
        cli.emit({**where.as_dict(), **report.model_dump(mode="json")})
        return
    for line in _lines(report):
        cli.say(line)
    turned = f"{counted(len(report.stale), 'memory', 'memories')} stale" if report.stale else ""
    retracted = f"{counted(len(report.retracted), 'memory', 'memories')} retracted" if report.retracted else ""
    done = "would forget" if report.dry_run else "forgot"
    parts = [f"{done} {counted(len(report.forgotten), 'memory', 'memories')}", turned, retracted]
    cli.say(", ".join(part for part in parts if part), str(where))
