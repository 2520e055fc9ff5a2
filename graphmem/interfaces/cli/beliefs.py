"""``graphmem reflect | supersede | retract | recompute``: what an agent believes, and how that changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphmem.interfaces.cli.common import BELIEVE, Agent, Cli, command

if TYPE_CHECKING:
    from rich.text import Text

    from graphmem.interfaces.cli.common import Where
    from graphmem.models import ChangeReport, Recomputed, RecomputeReport, ReflectReport

_TEXT_LENGTH = 200
_MOST_LISTED = 50
"""Memories that turned stale are listed up to here and then counted."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, panel=BELIEVE, example="graphmem reflect --agent evan --force")(reflect)
    command(
        app,
        panel=BELIEVE,
        example='graphmem supersede D1:2 --agent evan --text "Evan drives a Kia" --reason "he sold it"',
    )(supersede)
    command(app, panel=BELIEVE, example='graphmem retract D1:2 --agent evan --reason "was a joke"')(retract)
    command(app, panel=BELIEVE, example='graphmem undo D1:2 --agent evan --reason "it was right after all"')(undo)
    command(app, panel=BELIEVE, example="graphmem recompute --agent evan")(recompute)


def reflect(
    cli: Cli,
    agent: Agent,
    force: Annotated[bool, typer.Option("--force", help="Even when it is not due yet.")] = False,
) -> None:
    """Infer insights from what was observed, each citing the memories it rests on.

    Due when the importance observed since the last time reaches the agent's threshold.
    """
    with cli.memory(agent) as memory, cli.progress() as progress:
        progress.step(f"agent {agent} reflects")
        report = memory.agent(agent).reflect(force=force)
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **report.model_dump(mode="json")})
        return
    from graphmem.views.lines import plain_line
    from graphmem.views.text import shortened

    cli.say(_reflect_words(report))
    for memory_ in report.reflections:
        cli.say(plain_line(memory_, "  + "))
    for known in report.reinforced:
        cli.say(f"  = {known} said so already and gained evidence")
    for refused in report.refused:
        item = shortened(refused.item, _TEXT_LENGTH)
        cli.note(_one_line(f"  - refused ({refused.gate}: {refused.reason}): {item}"))
    if report.not_shown:
        cli.note(f"  {report.not_shown:,} observations since the last reflection were in none of its prompts")
    cli.say(str(where))


def _reflect_words(report: ReflectReport) -> str:
    from graphmem.views.text import counted

    match report.outcome:
        case "reflected":
            asked = counted(len(report.questions), "question")
            return f"{counted(len(report.reflections), 'new insight')} from {asked}"
        case "no_insight":
            return "no insight followed from what was observed"
        case "not_due":
            return (
                f"not due: importance {report.importance_since_reflection} of {report.threshold}"
                " since the last reflection; --force reflects now"
            )
        case "nothing_to_reflect_on":
            return "nothing to reflect on: there are no observations"
        case "busy":
            return "another process is reflecting for this agent"


def supersede(
    cli: Cli,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory that is wrong or outdated.")],
    agent: Agent,
    text: Annotated[str | None, typer.Option(help="What holds instead, as a new fact.")] = None,
    by: Annotated[str | None, typer.Option(metavar="ID", help="The memory that holds instead.")] = None,
    mode: Annotated[
        Literal["correction", "update"], typer.Option(help="correction: it was wrong; update: it was true until now.")
    ] = "correction",
    reason: Annotated[str, typer.Option(help="Why; kept with the change.")] = "",
) -> None:
    """Replace a memory; everything that rested on it turns stale in the same transaction.

    Give either --text or --by. Ids may be shortened to a beginning that no other memory of the agent shares.
    """
    if (text is None) == (by is None):
        raise typer.BadParameter("give either --text or --by", param_hint="--text / --by")
    with cli.memory(agent) as memory:
        handle = memory.agent(agent)
        old = handle.resolve(memory_id)
        new = handle.resolve(by) if by is not None else None
        report = handle.supersede(old, text=text, by=new, mode=mode, reason=reason)
        where = cli.where(memory, agent)
    _show_change(cli, report, where)


def retract(
    cli: Cli,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory that no longer holds.")],
    agent: Agent,
    reason: Annotated[str, typer.Option(help="Why; kept with the change.")] = "",
) -> None:
    """Stop believing a memory, with nothing in its place; what rested on it turns stale.

    The id may be shortened to a beginning that no other memory of the agent shares.
    """
    with cli.memory(agent) as memory:
        handle = memory.agent(agent)
        report = handle.retract(handle.resolve(memory_id), reason=reason)
        where = cli.where(memory, agent)
    _show_change(cli, report, where)


def undo(
    cli: Cli,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory that was superseded or retracted.")],
    agent: Agent,
    reason: Annotated[str, typer.Option(help="Why; kept with the change.")] = "",
) -> None:
    """Undo the newest change of a memory: it is held again, and so are the insights that its change had cost.

    A replacement that was written for the change is retracted. The id may be shortened to a beginning that no other
    memory of the agent shares.
    """
    with cli.memory(agent) as memory:
        handle = memory.agent(agent)
        report = handle.restore(handle.resolve(memory_id), reason=reason)
        where = cli.where(memory, agent)
    _show_change(cli, report, where)


def _show_change(cli: Cli, report: ChangeReport, where: Where) -> None:
    from graphmem.views.lines import plain_line
    from graphmem.views.text import counted

    if cli.as_json:
        cli.emit({**where.as_dict(), **report.model_dump(mode="json")})
        return
    cli.say(plain_line(report.memory, f"{report.memory.status}: "))
    if report.replacement is not None:
        undone = report.verb == "restore"
        cli.say(plain_line(report.replacement, f"{report.replacement.status}: " if undone else "by: "))
    for memory in report.restored:
        cli.say(plain_line(memory, "holds again: "))
    if report.active:
        cli.say(f"active again: {len(report.active):,}")
    for memory in report.active[:_MOST_LISTED]:
        cli.say(plain_line(memory, "  + "))
    if not (report.stale or report.active or report.restored):
        cli.say("nothing rested on it")
    if report.stale:
        cli.say(f"turned stale: {len(report.stale_ids):,}")
    for memory in report.stale[:_MOST_LISTED]:
        cli.say(plain_line(memory, "  ~ "))
    if len(report.stale_ids) > _MOST_LISTED:
        cli.say(f"  … {len(report.stale_ids) - _MOST_LISTED:,} more, not listed (all with --json)")
    if report.used_by:
        verbs = ", ".join(dict.fromkeys(run.verb for run in report.used_by))
        cli.say(f"shown before to {counted(len(report.used_by), 'run')}: {verbs}")
    cli.say(str(where))


def recompute(
    cli: Cli,
    agent: Agent,
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many memories; all without it.")] = None,
) -> None:
    """Bring stale memories up to date, from the bottom up: confirmed, revised or retracted.

    One that fails stays stale and can be tried again; the exit code is 1 then.
    """
    with cli.memory(agent) as memory, cli.progress() as progress:
        label = f"agent {agent} recomputes"
        progress.step(label)

        def show(done: int, remaining: int) -> None:
            progress.step(label, done / (done + remaining), f"{done:,} done, {remaining:,} stale")

        report = memory.agent(agent).recompute(limit=limit, progress=show)
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **report.model_dump(mode="json")})
    else:
        _show_recomputed(cli, report)
        cli.say(str(where))
    if report.count("failed"):
        raise typer.Exit(1)


def _show_recomputed(cli: Cli, report: RecomputeReport) -> None:
    if not report.items:
        cli.say("nothing was recomputed" if report.remaining else "nothing is stale")
    for item in report.items:
        cli.say(_recomputed(item))
    if report.items:
        outcomes = ("confirmed", "revised", "retracted", "failed")
        cli.say(", ".join(f"{report.count(outcome)} {outcome}" for outcome in outcomes))
    if report.remaining:
        cli.note(f"{report.remaining:,} still stale")


_OUTCOME_STYLES = {"confirmed": "green", "revised": "cyan", "retracted": "red", "failed": "bold red"}


def _recomputed(item: Recomputed) -> Text:
    from rich.text import Text

    from graphmem.views.text import shortened

    line = Text.assemble(
        (f"{item.outcome} ", _OUTCOME_STYLES[item.outcome]), (item.id, "cyan"), f" {shortened(item.before, 200)}"
    )
    if item.outcome == "revised" and item.after is not None:
        line.append("\n  → ", "dim")
        line.append(f"{item.new_id} ", "cyan")
        line.append(shortened(item.after, _TEXT_LENGTH))
    if item.reason:
        line.append(f"\n  because {shortened(item.reason, _TEXT_LENGTH)}", "dim")
    return line


def _one_line(text: str) -> str:
    from graphmem.views.text import shortened

    return shortened(text, 400)
