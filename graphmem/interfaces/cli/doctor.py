"""``graphmem doctor``: whether all that must hold in an agent's graph holds, and whether the model can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.interfaces.cli.common import LOOK, Cli, agent_option, command

if TYPE_CHECKING:
    from graphmem.models import ModelCheck


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, panel=LOOK, example="graphmem doctor --agent evan\ngraphmem doctor --model")(doctor)


def doctor(
    cli: Cli,
    agent: Annotated[
        str | None,
        agent_option("Whose graph to check."),
    ] = None,
    model: Annotated[
        bool, typer.Option("--model", help="Instead: whether the configured language model can be trusted.")
    ] = False,
) -> None:
    """Check that an agent's graph keeps every rule, and say what to do about what breaks one.

    Exit code 1 when something is wrong. graphmem itself keeps the rules: what breaks one is a fault of it, to be
    reported, or was changed by hand.

    With --model the language model is asked for the importance of texts on which all agree, and for insights over a
    small story; nothing is stored.
    """
    if model == (agent is not None):
        raise typer.BadParameter("give either --agent or --model", param_hint="--agent / --model")
    if agent is None:
        _model(cli)
        return
    with cli.memory(agent) as memory:
        handle = memory.agent(agent)
        found = handle.check()
        # What lacks a property that each has cannot be read.
        info = None if any(violation.rule == "whole" for violation in found) else handle.info()
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), "violations": [violation.model_dump(mode="json") for violation in found]})
    else:
        from rich.text import Text

        from graphmem.views.text import counted, one_line

        for violation in found:
            head = Text.assemble((f"{violation.rule}: ", "bold red"), (one_line(violation.id), "cyan"))
            cli.say(head.append(f" {one_line(violation.problem)}"))
            cli.say(Text.assemble(("  remedy: ", "bold"), one_line(violation.remedy)))
        told = counted(len(found), "rule") + " broken" if found else "all is well"
        if info is not None:
            held = counted(info.observations + info.reflections + info.plans, "memory", "memories")
            told += f": {held} held and {info.ended:,} ended checked"
        cli.say(f"{told} of {where}")
    if found:
        raise typer.Exit(1)


def _model(cli: Cli) -> None:
    with cli.memory() as memory, cli.progress() as progress:
        progress.step("asking the language model")
        found = memory.check_model()
        where = cli.where(memory)
    if cli.as_json:
        cli.emit({**where.as_dict(), **found.model_dump(mode="json"), "trusted": found.trusted})
    else:
        _tell(cli, found)
    if not found.trusted:
        raise typer.Exit(1)


def _tell(cli: Cli, found: ModelCheck) -> None:
    from rich.text import Text

    from graphmem.views.text import counted, one_line, shortened

    for anchor in found.anchors:
        rating = "–" if anchor.rating is None else str(anchor.rating)
        style = "green" if anchor.holds else "bold red"
        expected = f" expected {anchor.lowest} to {anchor.highest}: {anchor.text}"
        cli.say(Text.assemble((f"{rating:>3}", style), expected))
    for refused in found.refused:
        cli.say(f"  refused ({refused.gate}): {one_line(refused.reason)}: {shortened(refused.item, 200)}")
    if found.error:
        cli.say(Text.assemble(("  error: ", "bold red"), one_line(found.error)))
    verdict = "can be trusted" if found.trusted else "cannot be trusted with a memory"
    judged = f"{len(found.anchors) - len(found.misjudged)} of {len(found.anchors)} ratings as expected"
    cli.say(f"{one_line(found.model)} {verdict}: {judged}, {counted(found.insights, 'grounded insight')} over a story")
