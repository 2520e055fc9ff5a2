"""``graphmem import-simulation``: saved simulations of Generative Agents become agents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.interfaces.cli.common import LOOK, REMEMBER, AgentIds, Cli, agents_option, command

if TYPE_CHECKING:
    from graphmem import Memory
    from graphmem.interfaces.progress import Progress
    from graphmem.interfaces.simulation import Person
    from graphmem.interfaces.simulation.report import Report


def register(app: typer.Typer) -> None:
    """Add the command."""
    example = "graphmem import-simulation environment/frontend_server/storage/my-save\n"
    example += "graphmem import-simulation my-save --prefix monday/"
    command(app, panel=REMEMBER, name="import-simulation", example=example)(import_simulation)
    example = 'graphmem export-simulation my-save-2 --agents "Isabella Rodriguez,Klaus Mueller"'
    command(app, panel=LOOK, name="export-simulation", example=example)(export_simulation)


def export_simulation(
    cli: Cli,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write the save; it must not be there yet.")],
    agents: Annotated[AgentIds, agents_option("Whose memories.")],
) -> None:
    """Write agents as a saved simulation of Generative Agents, as far as its files have room for what they hold."""
    from graphmem.interfaces.simulation.export import write_original

    with cli.memory(*agents) as memory:
        written = write_original(folder, [memory.agent(id_).export_memories() for id_ in agents])
        where = cli.where(memory)
    if cli.as_json:
        told = [
            {"name": one.name, "folder": str(one.folder), "nodes": one.nodes, "left_out": one.left_out}
            for one in written
        ]
        cli.emit({**where.as_dict(), "folder": str(folder), "people": told})
        return
    from graphmem.views.text import counted, one_line

    for one in written:
        left = f"; {counted(one.left_out, 'plan')} of other days left out" if one.left_out else ""
        cli.say(f"{one_line(one.name)}: {counted(one.nodes, 'node')}{left}")
    cli.say(f"{where} → {folder}")


def _known_zone(name: str) -> str:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise typer.BadParameter(f"{name!r} is not an IANA time zone, such as Europe/Berlin") from error
    return name


def import_simulation(
    cli: Cli,
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="A saved simulation; docs/simulations.md."),
    ],
    prefix: Annotated[
        str, typer.Option(help="Put before each person's name to make the agent's id, e.g. to import two saves.")
    ] = "",
    time_zone: Annotated[
        str, typer.Option(callback=_known_zone, metavar="ZONE", help="In which the times of the save are read.")
    ] = "UTC",
) -> None:
    """Import a saved simulation of Generative Agents; running it again adds nothing twice.

    Each person becomes an agent that lives in the simulation's own time. Events and conversations become observations,
    thoughts become reflections that cite what they rest on, the day's schedule becomes plans.

    Whatever is odd in the files is reported with its place and what was done about it. The exit code is 1 where a node
    could not be stored.
    """
    from graphmem.interfaces.files import checked_folder
    from graphmem.interfaces.simulation import read_simulation

    people = read_simulation(checked_folder(folder), time_zone=time_zone, prefix=prefix)
    with cli.memory() as memory, cli.progress() as progress:
        reports: list[Report] = []
        try:
            for person in people:
                reports.append(_import(memory, progress, person))
            # What somebody heard is joined with the memory of who said it, and that is there only now.
            for report in reports:
                report.join(memory)
        except BaseException:
            cli.note("stopped; what is stored stays. Running it again goes on from there.")
            raise
        where = cli.where(memory)
    if cli.as_json:
        cli.emit({**where.as_dict(), "folder": str(folder), "people": [report.as_dict() for report in reports]})
    else:
        for report in reports:
            for line in report.lines():
                cli.say(line)
        cli.say(f"{folder} → {where}: {_total(reports)}")
    if not all(report.complete for report in reports):
        raise typer.Exit(1)


def _import(memory: Memory, progress: Progress, person: Person) -> Report:
    from graphmem.interfaces.simulation.report import Report

    agent = memory.agent(person.agent_id)
    all_of_it = len(person.items) or 1
    label = f"importing {person.name}"

    def show(done: int) -> None:
        progress.step(label, done / all_of_it, f"{done:,} of {all_of_it:,}")

    show(0)
    imported = agent.import_memories(person.snapshot, progress=show)
    return Report(person, agent.info(), imported)


def _total(reports: list[Report]) -> str:
    told = [report.as_dict() for report in reports]
    names = ("nodes", "memories", "added", "known", "citing", "citations")
    nodes, memories, added, known, citing, citations = (sum(person[name] for person in told) for name in names)
    return (
        f"{nodes:,} nodes of {len(reports):,} people, {memories:,} memories ({added:,} added, {known:,} known); "
        f"{citing:,} thoughts with {citations:,} citations"
    )
