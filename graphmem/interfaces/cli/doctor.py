"""``graphmem doctor``: whether all that must hold in an agent's graph holds."""

from __future__ import annotations

import typer

from graphmem.interfaces.cli.common import LOOK, Agent, Cli, command


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, panel=LOOK, example="graphmem doctor --agent evan")(doctor)


def doctor(cli: Cli, agent: Agent) -> None:
    """Check that an agent's graph keeps every rule, and say what to do about what breaks one.

    Exit code 1 when something is wrong. graphmem itself keeps the rules: what breaks one is a fault of it, to be
    reported, or was changed by hand.
    """
    with cli.memory() as memory:
        handle = memory.agent(agent)
        info = handle.info()
        found = handle.check()
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
        held = counted(info.observations + info.reflections + info.plans, "memory", "memories")
        wrong = f"{counted(len(found), 'rule')} broken" if found else "all is well"
        cli.say(f"{wrong}: {held} held and {info.ended:,} ended checked of {where}")
    if found:
        raise typer.Exit(1)
