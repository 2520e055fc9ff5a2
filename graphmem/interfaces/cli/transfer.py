"""``graphmem export | import``: whole agents to and from files that people can read."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from graphmem.interfaces.cli.common import SERVER, Cli, agent_option, command

if TYPE_CHECKING:
    from graphmem.interfaces.cli.common import Where
    from graphmem.interfaces.foreign import Format
    from graphmem.models.exports import Exported, GraphImported

_STDIN = Path("-")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(
        app,
        panel=SERVER,
        name="export",
        example="graphmem export --agent evan --output evan.jsonl\ngraphmem export --output all.jsonl",
    )(export)
    command(
        app,
        panel=SERVER,
        name="import",
        example="graphmem import evan.jsonl\ngraphmem import evan.jsonl --prefix copy/\n"
        "graphmem import memories.json --format mem0",
    )(import_)


def export(
    cli: Cli,
    agent: Annotated[
        list[str] | None,
        agent_option("Only this agent; again for more; all without it."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", dir_okay=False, help="A new file; standard output without it.")
    ] = None,
    vectors: Annotated[
        bool, typer.Option("--vectors/--no-vectors", help="Without vectors, texts are embedded again after an import.")
    ] = True,
) -> None:
    """Write agents as JSON lines: every memory, relationship, run and change; what graphmem import reads.

    For people and other programs to read, agent by agent, from any store. The embedded server's whole store is copied
    faster by graphmem backup.
    """
    from graphmem.errors import InvalidInput

    if cli.as_json and output is None:
        raise InvalidInput("--json tells about a file", remedy="name one with --output")
    with cli.memory(*(agent or ())) as memory, _target(output) as file:
        with cli.progress() as progress:

            def show(done: int) -> None:
                progress.step("exporting", None, f"{done:,} memories")

            report = memory.export_graph(file, agents=agent, vectors=vectors, progress=show)
        where = cli.where(memory)
    if cli.as_json:
        cli.emit({**where.as_dict(), "file": str(output), **report.model_dump(mode="json")})
        return
    told = f"{_counts(report, len(report.agents))} of {where}"
    if output is None:
        cli.note(f"exported {told}")
    else:
        cli.say(f"{output}: {told}")


@contextmanager
def _target(output: Path | None) -> Generator[Path]:
    """Where to write: the file named, or one that is copied to standard output once it is whole."""
    if output is not None:
        yield output
        return
    with tempfile.TemporaryDirectory(prefix="graphmem-") as folder:
        file = Path(folder) / "export.jsonl"
        yield file
        with file.open("rb") as stream:
            shutil.copyfileobj(stream, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def import_(
    cli: Cli,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="What graphmem export wrote; - is standard input."),
    ],
    prefix: Annotated[
        str, typer.Option(help="Put before each agent's id, e.g. to have a copy beside the original.")
    ] = "",
    format: Annotated[
        Literal["graphmem", "mem0", "letta", "zep"],
        typer.Option(help="Whose file it is: mem0's get_all, Letta's agent file, episodes of Zep or Graphiti."),
    ] = "graphmem",
    agent: Annotated[
        str | None,
        agent_option("Whose it is where another program's file does not say."),
    ] = None,
) -> None:
    """Store the agents of an export as they were; running it again adds nothing, after a break it goes on.

    The whole file is checked first: of one that is damaged nothing is stored. An agent that remembers something else
    already is refused.

    With --format, memories of other programs become observations of new agents, with the dates that they have there;
    docs/export.md says what is taken over.

    Exit code 1 also when something in the imported agents breaks a rule, or could not be taken over.
    """
    if format != "graphmem":
        _import_foreign(cli, file, format, agent, prefix)
        return
    if agent is not None:
        raise typer.BadParameter("--agent is for the files of other programs; an export says whose it is")
    with _source(file) as path, cli.memory() as memory:
        with cli.progress() as progress:
            progress.step("checking the file")

            def show(line: int) -> None:
                progress.step("importing", None, f"line {line:,}")

            report = memory.import_graph(path, prefix=prefix, progress=show)
        where = cli.where(memory)
    if cli.as_json:
        cli.emit({**where.as_dict(), **report.model_dump(mode="json")})
    else:
        _tell(cli, report, where)
    if report.violations:
        raise typer.Exit(1)


def _import_foreign(cli: Cli, file: Path, format: Format, agent: str | None, prefix: str) -> None:
    from graphmem.interfaces.foreign import read_foreign

    with _source(file) as path:
        people = read_foreign(path, format, agent=agent, prefix=prefix)
    with cli.memory() as memory, cli.progress() as progress:
        reports: list[dict[str, Any]] = []
        for person, given in people:
            progress.step(f"importing {person.agent_id}")
            done = memory.agent(person.agent_id).import_memories(given)
            left_out = list(person.left_out)
            reports.append({"id": person.agent_id, "added": done.added, "known": done.known, "left_out": left_out})
        where = cli.where(memory)
    if cli.as_json:
        cli.emit({**where.as_dict(), "agents": reports})
    else:
        for report in reports:
            cli.say(f"agent {report['id']}: {report['added']:,} added, {report['known']:,} known, {where}")
            for told in report["left_out"]:
                cli.note(f"left out: {told}")
    if any(report["left_out"] for report in reports):
        raise typer.Exit(1)


@contextmanager
def _source(file: Path) -> Generator[Path]:
    """The file; standard input becomes one, since it is read twice."""
    if file != _STDIN:
        from graphmem.interfaces.files import checked_file

        yield checked_file(file)
        return
    with tempfile.TemporaryDirectory(prefix="graphmem-") as folder:
        copy = Path(folder) / "import.jsonl"
        with copy.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        yield copy


def _counts(report: Exported | GraphImported, agents: int) -> str:
    from graphmem.views.text import counted

    return (
        f"{counted(agents, 'agent')} with {counted(report.memories, 'memory', 'memories')},"
        f" {counted(report.relationships, 'relationship')}, {counted(report.runs, 'run')} and"
        f" {counted(report.changes, 'change')}"
    )


def _tell(cli: Cli, report: GraphImported, where: Where) -> None:
    """One thing that is true: what was stored now, or that there was nothing to do."""
    new, known = len(report.agents) - len(report.known), ", ".join(report.known)
    if new:
        cli.say(f"{_counts(report, new)} imported into {where}")
    elif known:
        cli.say(f"nothing to do: this file was imported before, as {known}, into {where}")
    else:
        cli.say(f"nothing to do: there is no agent in the file; {where}")
    if new and known:
        cli.note(f"imported before, and left as they are: {known}")
    if report.not_embedded:
        cli.note(f"{report.not_embedded:,} have no vector of this store's model; graphmem work makes them")
    if report.not_joined:
        cli.note(f"{report.not_joined:,} were heard from agents that are not here, and are not joined with them")
    if report.violations:
        cli.note(f"{report.violations:,} things break a rule, as they did in the file; graphmem doctor names them")
