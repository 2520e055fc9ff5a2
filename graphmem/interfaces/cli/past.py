"""``graphmem history | timeline | log | review | runs | run``: what happened, and what a language model was asked."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.interfaces.cli.common import LOOK, Agent, Cli, command
from graphmem.interfaces.cli.values import time_option

if TYPE_CHECKING:
    from rich.text import Text

    from graphmem.interfaces.cli.common import Where
    from graphmem.models import LogEntry, RunDetails, RunInfo

_MOST_LISTED = 50
"""Memories that a run showed are listed up to here and then counted."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    look = functools.partial(command, app, panel=LOOK)
    look(example="graphmem history D1:2 --agent evan")(history)
    look(example="graphmem timeline --agent evan --limit 20")(timeline)
    look(example="graphmem log --agent evan")(log)
    look(
        example='graphmem review --agent evan\ngraphmem review --agent evan --undo D1:2 --reason "he looks after both"'
    )(review)
    look(example="graphmem runs --agent evan")(runs)
    look(example="graphmem run 0199aa20c1f2b8d6e3f4a5b6 --agent evan")(run)


def history(
    cli: Cli, memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory.")], agent: Agent
) -> None:
    """Tell all that happened to one memory: how it came about, what changed about it, when, why and by whom."""
    with cli.memory(agent) as memory:
        handle = memory.agent(agent)
        found = handle.get(handle.resolve(memory_id))
        events = handle.history(found.id)
        where = cli.where(memory, agent)
    if cli.as_json:
        told = [event.model_dump(mode="json") for event in events]
        cli.emit({**where.as_dict(), "memory": found.model_dump(mode="json"), "events": told})
        return
    from graphmem.views.history import history as lines
    from graphmem.views.lines import full_line

    cli.say(full_line(found), *lines(events), str(where))


_Limit = Annotated[int, typer.Option(min=1, max=10_000, help="At most this many.")]
_Before = Annotated[int | None, typer.Option(metavar="REVISION", help="Only what came before it, for the next page.")]


def timeline(
    cli: Cli,
    agent: Agent,
    limit: _Limit = 100,
    before: Annotated[datetime | None, time_option("Only what happened earlier, for the page before")] = None,
) -> None:
    """Tell what happened to all of an agent's memories: observed, inferred, turned stale, recomputed, in order."""
    with cli.memory(agent) as memory:
        events = memory.agent(agent).timeline(limit=limit, before=before)
        where = cli.where(memory, agent)
    if cli.as_json:
        told = [
            {**item.event.model_dump(mode="json"), "memory": item.memory.model_dump(mode="json")} for item in events
        ]
        cli.emit({**where.as_dict(), "events": told})
        return
    from graphmem.views.history import timeline as lines

    if not events:
        cli.say(f"nothing has happened yet: {where}")
        return
    cli.say(*lines(events), str(where))
    if len(events) == limit:
        cli.note(f"there may be more: --before {events[0].event.at.isoformat()}")


def log(cli: Cli, agent: Agent, limit: _Limit = 100, before: _Before = None) -> None:
    """List every change of an agent's beliefs, latest first: what changed, by whom and why."""
    with cli.memory(agent) as memory:
        entries = memory.agent(agent).log(limit=limit, before=before)
        where = cli.where(memory, agent)
    _show_log(cli, entries, where, limit, nothing="no changes yet")


def review(
    cli: Cli,
    agent: Agent,
    undo: Annotated[str | None, typer.Option(metavar="ID", help="Hold this memory again after all.")] = None,
    reason: Annotated[str, typer.Option(help="Why it is undone; kept with the change.")] = "",
    limit: _Limit = 100,
    before: _Before = None,
) -> None:
    """List what a language model ended on its own (observe --resolve), with reason and run; --undo takes one back."""
    with cli.memory(agent) as memory:
        handle = memory.agent(agent)
        if undo is not None:
            handle.restore(handle.resolve(undo), reason=reason or "reviewed")
        entries = handle.review(limit=limit, before=before)
        where = cli.where(memory, agent)
    _show_log(cli, entries, where, limit, nothing="nothing was ended automatically")


def _show_log(cli: Cli, entries: Sequence[LogEntry], where: Where, limit: int, *, nothing: str) -> None:
    from graphmem.views.history import entry_line
    from graphmem.views.text import counted

    if cli.as_json:
        cli.emit({**where.as_dict(), "entries": [entry.model_dump(mode="json") for entry in entries]})
        return
    cli.say(*(entry_line(entry) for entry in entries))
    cli.say(f"{counted(len(entries), 'entry', 'entries')} of {where}" if entries else f"{nothing}: {where}")
    if len(entries) == limit:
        cli.note(f"there may be more: --before {entries[-1].seq}")


def runs(
    cli: Cli, agent: Agent, limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most this many.")] = 100
) -> None:
    """List what a language model was asked for an agent, newest first: when, for what, how it ended, what it took."""
    from graphmem.views.text import counted

    with cli.memory(agent) as memory:
        found = memory.agent(agent).runs(limit=limit)
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), "runs": [item.model_dump(mode="json") for item in found]})
        return
    if not found:
        cli.say(f"no runs of {where}: no language model was asked yet")
        return
    for item in found:
        cli.say(_line(item))
    cli.say(f"{counted(len(found), 'run')} of {where}")
    if len(found) == limit:
        cli.note("there may be more: raise --limit")


def _line(run: RunInfo) -> Text:
    from rich.text import Text

    from graphmem.views.text import moment, one_line, shortened

    line = Text.assemble(
        (f"{moment(run.started_at)} ", "dim"), (one_line(run.verb), "bold"), " ", (one_line(run.id), "cyan")
    )
    line.append(f" {one_line(run.outcome)}", "red" if run.error else "")
    line.append(f" by {one_line(run.model)}")
    if spent := run.prompt_tokens + run.completion_tokens:
        line.append(f", {spent:,} tokens")
    if run.refused:
        line.append(f", {len(run.refused):,} refused", "yellow")
    if run.error:
        line.append(f": {shortened(run.error, 200)}")
    return line


def run(
    cli: Cli,
    run_id: Annotated[str, typer.Argument(metavar="ID", help="The run, as graphmem runs shows it.")],
    agent: Agent,
) -> None:
    """Show one run: what the language model was asked and shown, what it wrote, and what of that was refused and why.

    Every refused item names the gate that it did not pass.
    """
    with cli.memory(agent) as memory:
        details = memory.agent(agent).run(run_id)
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **details.model_dump(mode="json")})
        return
    _card(cli, details)
    _memories(cli, details)
    for refused in details.run.refused:
        cli.say(_refused(refused.gate, refused.reason, refused.item))
    cli.say(str(where))


def _card(cli: Cli, details: RunDetails) -> None:
    from graphmem.views.text import moment

    run = details.run
    questions = dict.fromkeys(memory.question for memory in details.wrote if memory.type == "reflection")
    cli.fields(
        {
            "run": run.id,
            "verb": run.verb,
            "outcome": run.outcome,
            "error": run.error or "",
            "model": run.model,
            "prompts": run.prompt_version,
            "started": f"{moment(run.started_at)} UTC",
            "ended": f"{moment(run.ended_at)} UTC" if run.ended_at else "not yet",
            "tokens": f"{run.prompt_tokens:,} in the prompts, {run.completion_tokens:,} in the replies",
            "cost": f"${run.cost:.4f}" if run.cost is not None else "",
            "answered": " · ".join(question for question in questions if question),
        }
    )


def _memories(cli: Cli, details: RunDetails) -> None:
    from graphmem.views.lines import plain_line
    from graphmem.views.text import counted

    cli.say(f"shown: {counted(len(details.shown), 'memory', 'memories')}")
    for item in details.shown[:_MOST_LISTED]:
        score = "" if item.score is None else f" ({item.score:.3f})"
        cli.say(plain_line(item.memory, f"  {item.rank}.{score} "))
    if len(details.shown) > _MOST_LISTED:
        cli.say(f"  … {len(details.shown) - _MOST_LISTED:,} more, not listed (all with --json)")
    cli.say(f"wrote: {counted(len(details.wrote), 'memory', 'memories')}")
    for memory in details.wrote:
        cli.say(plain_line(memory, "  + "))
    cli.say(f"refused: {counted(len(details.run.refused), 'item')}")


def _refused(gate: str, reason: str, item: str) -> Text:
    from rich.text import Text

    from graphmem.views.text import one_line, shortened

    return Text.assemble("  - ", (one_line(gate), "bold"), f": {shortened(reason, 300)}: {shortened(item, 200)}")
