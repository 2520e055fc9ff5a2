"""``graphmem archive | unarchive``: put away what is old and unused, and take it out again."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.interfaces.cli.common import REMEMBER, Agent, Cli, command
from graphmem.interfaces.cli.values import age_option

if TYPE_CHECKING:
    from graphmem.interfaces.cli.common import Where
    from graphmem.models import ArchiveReport

_MOST_LISTED = 20
_WHY = {
    "ground": "that other memories rest on",
    "key": "that is the value of a key",
    "chain": "that corrects another or was corrected",
}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(
        app,
        panel=REMEMBER,
        example="graphmem archive --agent evan --older-than 90d --importance-below 3 --dry-run\n"
        "graphmem archive --agent evan --older-than 90d --importance-below 3",
    )(archive)
    command(app, panel=REMEMBER, example="graphmem unarchive D1:2 --agent evan\ngraphmem unarchive --all --agent evan")(
        unarchive
    )


def archive(
    cli: Cli,
    agent: Agent,
    older_than: Annotated[timedelta, age_option("What happened, was recorded and was retrieved longer ago")],
    importance_below: Annotated[int, typer.Option(min=2, max=11, help="What is less important than this.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be put away.")] = False,
) -> None:
    """Put old, unimportant, unused observations away: they stay in the graph but are not retrieved.

    What a memory rests on stays, and so do the values of keys and what corrects or was corrected. Nothing is lost:
    graphmem unarchive takes them out again, and retrieve --as-of still finds what was held then.
    """
    with cli.memory(agent) as memory, cli.progress() as progress:
        progress.step("looking for what is old and unused")
        report = memory.agent(agent).archive(older_than=older_than, importance_below=importance_below, dry_run=dry_run)
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **report.model_dump(mode="json")})
        return
    _show(cli, report, where)


def _show(cli: Cli, report: ArchiveReport, where: Where) -> None:
    from graphmem.views.lines import plain_line
    from graphmem.views.text import counted

    for memory in report.memories[:_MOST_LISTED]:
        cli.say(str(plain_line(memory, "  - ")))
    if len(report.ids) > _MOST_LISTED:
        cli.say(f"  … and {len(report.ids) - _MOST_LISTED:,} more")
    for why, many in sorted(report.kept.items()):
        cli.say(f"{counted(many, 'memory stays', 'memories stay')} {_WHY[why]}")
    done = "would archive" if report.dry_run else "archived"
    cli.say(f"{done} {counted(len(report.ids), 'observation')} of {where}")


def unarchive(
    cli: Cli,
    agent: Agent,
    memory_ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="What to take out.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Take out all that was put away.")] = False,
) -> None:
    """Take archived memories out again: they are retrieved as before.

    Ids may be shortened; graphmem memories --status archived lists what was put away.
    """
    if bool(memory_ids) == everything:
        raise typer.BadParameter("name what to take out, or give --all", param_hint="ID / --all")
    with cli.memory(agent) as memory, cli.progress() as progress:
        progress.step("taking out what was put away")
        handle = memory.agent(agent)
        report = handle.unarchive([handle.resolve(id_) for id_ in memory_ids] if memory_ids else None)
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **report.model_dump(mode="json")})
        return
    from graphmem.views.text import counted

    cli.say(f"took out {counted(len(report.ids), 'memory', 'memories')} of {where}")
