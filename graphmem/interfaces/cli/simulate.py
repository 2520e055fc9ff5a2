"""``graphmem simulate``: agents live together in simulated time."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.interfaces.cli.common import REMEMBER, AgentIds, Cli, agents_option, command
from graphmem.interfaces.cli.values import WrongValue, step_option, time_option

if TYPE_CHECKING:
    from graphmem import Memory
    from graphmem.interfaces.society import Society
    from graphmem.models.society import Simulation, SimulationReport


def register(app: typer.Typer) -> None:
    """Add the command."""
    example = "graphmem simulate --hours 12 --step 10m --report society.html\n"
    example += 'graphmem simulate --agents "Isabella Rodriguez,Klaus Mueller" --hours 4'
    command(app, panel=REMEMBER, example=example)(simulate)


def simulate(
    cli: Cli,
    seeds: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A society's folder (world.toml beside its people); without it, ours."),
    ] = None,
    world: Annotated[Path | None, typer.Option(metavar="FILE", help="The same by its world.toml.")] = None,
    agents: Annotated[
        AgentIds | None, agents_option("Agents that are in the store already, such as imported ones.")
    ] = None,
    hours: Annotated[
        float, typer.Option(min=0.02, max=24 * 366, help="How long they are to live, from the start on.")
    ] = 12,
    step: Annotated[timedelta, step_option("How long a step is")] = timedelta(minutes=10),
    start: Annotated[datetime | None, time_option("When it begins, by default as world.toml says")] = None,
    name: Annotated[
        str | None, typer.Option(help="Another simulation of the same society, with agents and a world of its own.")
    ] = None,
    talk: Annotated[bool, typer.Option("--talk/--no-talk", help="Whether they talk with each other.")] = True,
    reflect: Annotated[bool, typer.Option("--reflect/--no-reflect", help="Whether they reflect and learn.")] = True,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the replay here, as one HTML file.")
    ] = None,
) -> None:
    """Have agents live together in simulated time: they perceive, react, talk, act and reflect, step by step.

    Cut off anywhere, the same command goes on with the step it was in; with more --hours it goes on from the end.
    """
    from graphmem.interfaces.society import default_society, load_society
    from graphmem.models.society import Simulation

    if sum(given is not None for given in (seeds, world, agents)) > 1:
        raise typer.BadParameter("give only one of --seeds, --world and --agents")
    minutes = step // timedelta(minutes=1)
    steps = round(hours * 60 / minutes)
    if steps < 1:
        wrong = f"{hours} hours are shorter than a step of {minutes} minutes"
        raise WrongValue(wrong, such="give more --hours or a shorter --step", hint="--hours")
    society = load_society(seeds or world or default_society()) if agents is None else None
    with cli.memory(*(agents or ())) as memory:
        if society is not None:
            called, who, at = _prepared(cli, memory, society, name, start)
        else:
            called, who, at = _known(memory, agents or (), name, start)
        simulation = Simulation(
            name=called, agents=who, start=at, minutes=minutes, steps=steps, talk=talk, reflect=reflect
        )
        told = _run(cli, memory, simulation)
        if report is not None:
            from graphmem.interfaces.files import write_text
            from graphmem.views.replay import replay_html

            write_text(report, replay_html(memory.replay(called)))
        where = cli.where(memory)
    if cli.as_json:
        cli.emit({**where.as_dict(), **told.model_dump(mode="json"), "report": str(report) if report else None})
        return
    _say(cli, told)
    if report is not None:
        cli.say(f"replay: {report}")
    cli.say(str(where))


def _known(
    memory: Memory, ids: tuple[str, ...], name: str | None, start: datetime | None
) -> tuple[str, tuple[str, ...], datetime]:
    """Agents that are there: an earlier simulation of them goes on where it began."""
    from graphmem.interfaces.society import prepare_known

    called = name or "+".join(ids)
    at = prepare_known(memory, ids, start=start or _begun(memory, called))
    return called, ids, at


def _begun(memory: Memory, name: str) -> datetime | None:
    return next((one.start for one in memory.simulations() if one.name == name), None)


def _prepared(
    cli: Cli, memory: Memory, society: Society, name: str | None, start: datetime | None
) -> tuple[str, tuple[str, ...], datetime]:
    from graphmem.interfaces.society import prepare

    called = name or society.name
    at = start or society.start
    with cli.progress() as progress:
        progress.step(f"making {society.world.name}")
        return called, prepare(memory, society, called, start=at), at


def _run(cli: Cli, memory: Memory, simulation: Simulation) -> SimulationReport:
    with cli.progress() as progress:
        label = f"simulating {simulation.name}"
        progress.step(label, 0)

        def show(done: int, steps: int, at: datetime) -> None:
            progress.step(label, done / steps, f"step {done:,} of {steps:,}, {at:%d %b %H:%M} UTC")

        try:
            return memory.simulate(simulation, progress=show)
        except BaseException:
            cli.note("stopped; what was simulated stays. Running it again goes on from there.")
            raise


def _say(cli: Cli, told: SimulationReport) -> None:
    from graphmem.views.text import counted, one_line

    for one in told.people:
        rounds = ", ".join(f"{day.rounds} on {day.day}" for day in one.rounds)
        broken = ", ".join(f"{norm} {count}×" for norm, count in one.broken.items())
        cli.say(
            f"{one_line(one.name)} ({one_line(one.agent_id)}): {counted(one.moves, 'move')}, "
            f"{counted(one.conversations, 'conversation')}, {counted(one.observations, 'observation')}, "
            f"{counted(one.reflections, 'reflection')} (rounds: {rounds}); plans: {one.done:,} done, "
            f"{one.missed:,} missed, {one.dropped:,} dropped" + (f"; norms broken: {broken}" if broken else "")
        )
    for failure in told.failures:
        cli.note(f"the language model failed: {failure}")
    simulation = told.simulation
    broken = sum(told.broken.values())
    cli.say(
        f"simulation {one_line(simulation.name)}: {counted(told.done, 'step')} of {simulation.minutes} minutes "
        f"({told.before:,} of them before), {counted(broken, 'norm')} broken"
    )
