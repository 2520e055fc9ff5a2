"""``graphmem feedback | reappraise | usage``: how important memories turned out to be, and what thinking has cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.interfaces.cli.common import BELIEVE, LOOK, Agent, Cli, command

if TYPE_CHECKING:
    from graphmem.models import Usage

_TEXT_LENGTH = 100


def register(app: typer.Typer) -> None:
    """Add the commands."""
    example = "graphmem feedback D1:2 --agent evan --useful\n"
    example += 'graphmem feedback D1:2 --agent evan --useless --reason "a joke"'
    command(app, panel=BELIEVE, example=example)(feedback)
    command(app, panel=BELIEVE, example="graphmem reappraise --agent evan")(reappraise)
    command(app, panel=LOOK, example="graphmem usage --agent evan")(usage)


def feedback(
    cli: Cli,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory.")],
    agent: Agent,
    useful: Annotated[bool, typer.Option("--useful/--useless", help="Whether it was of use.")],
    reason: Annotated[str, typer.Option(help="Why; kept in the history.")] = "",
) -> None:
    """Say that a memory was of use, or not: its importance (1 to 10) goes up or down by one."""
    with cli.memory(agent) as memory:
        handle = memory.agent(agent)
        found = handle.feedback(handle.resolve(memory_id), useful=useful, reason=reason)
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **found.model_dump(mode="json")})
        return
    from graphmem.views.text import one_line, shortened

    end = " (the end of the scale)" if found.before == found.after else ""
    cli.say(
        f"importance {found.before} → {found.after}{end}: {one_line(found.id)} {shortened(found.text, _TEXT_LENGTH)}"
    )
    cli.say(str(where))


def reappraise(
    cli: Cli,
    agent: Agent,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Look at so many memories at most.")] = 50,
) -> None:
    """Rate memories anew in the light of what came of them; what you rated yourself stays as it is."""
    with cli.memory(agent) as memory, cli.progress() as progress:
        progress.step(f"agent {agent} looks back")
        report = memory.agent(agent).reappraise(limit=limit)
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **report.model_dump(mode="json")})
        return
    from graphmem.views.text import counted, one_line, shortened

    for item in report.changed:
        cli.say(f"  {item.before} → {item.after}  {one_line(item.id)} {shortened(item.text, _TEXT_LENGTH)}")
    changed = counted(len(report.changed), "memory changed", "memories changed")
    cli.say(f"{changed}, {report.unchanged:,} as before: {where}")
    if report.not_rated:
        cli.note(f"{counted(report.not_rated, 'memory', 'memories')} got no rating that could be used")


def usage(cli: Cli, agent: Agent) -> None:
    """Tell what an agent's runs of a language model have cost: tokens, and dollars where prices are known."""
    with cli.memory(agent) as memory:
        handle = memory.agent(agent)
        found = handle.usage()
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **found.model_dump(mode="json")})
        return
    from graphmem.views.text import counted, one_line

    for part in found.by:
        spent = _spent(part.prompt_tokens, part.completion_tokens, part.cost)
        cli.say(f"  {one_line(part.verb)} by {one_line(part.model)}: {counted(part.runs, 'run')}, {spent}")
    total = _spent(found.prompt_tokens, found.completion_tokens, found.cost)
    cli.say(f"{counted(found.runs, 'run')}, {total} of {where}", _lately(found))


def _spent(prompt: int, completion: int, cost: float | None) -> str:
    told = f"{prompt:,} tokens read and {completion:,} written"
    return told if cost is None else f"{told}, ${cost:.4f}"


def _lately(found: Usage) -> str:
    if found.tokens_per_day is None:
        return f"{found.tokens_lately:,} tokens in the last 24 hours, without a limit (GRAPHMEM_MODEL_TOKENS_PER_DAY)"
    return f"{found.tokens_lately:,} of {found.tokens_per_day:,} tokens in the last 24 hours"
