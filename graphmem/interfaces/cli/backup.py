"""``graphmem backup | restore | purge``: the files of the embedded Neo4j."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.errors import InvalidInput
from graphmem.interfaces.cli.common import SERVER, Cli, command
from graphmem.interfaces.cli.server import embedded_only

if TYPE_CHECKING:
    from graphmem.graph.backup import Holding

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, panel=SERVER, example="graphmem backup memories-2026-11-30.tar.gz")(backup)
    command(app, panel=SERVER, example="graphmem restore memories-2026-11-30.tar.gz")(restore)
    command(app, panel=SERVER, example="graphmem purge --cache\ngraphmem purge --data --yes")(purge)


def backup(cli: Cli, file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to; a .tar.gz.")]) -> None:
    """Write the store of the embedded Neo4j to a file; all agents, all memories.

    A server that runs is stopped for that time and started again. The password is not in the file. A Neo4j of your own
    has neo4j-admin database dump for this.
    """
    from graphmem.graph import backup as files

    settings = embedded_only(cli.settings)
    with cli.progress() as progress:
        info = files.backup(settings, file, progress=progress.step)
    size = file.expanduser().stat().st_size
    if cli.as_json:
        cli.emit({"file": str(file), "bytes": size, "backup": info.model_dump(mode="json")})
    else:
        cli.say(f"{size / 1e6:,.1f} MB written to {file}: the store of {settings.data_dir}")


def restore(
    cli: Cli,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What graphmem backup wrote.")],
    yes: Yes = False,
) -> None:
    """Put the store of a backup in the place of the present one, which is lost; asks before.

    The backup is checked first, and the present store is deleted only when a server answers on the restored one.
    """
    from graphmem.graph import backup as files
    from graphmem.interfaces.files import checked_file

    settings = embedded_only(cli.settings)
    info = files.inspect(checked_file(file))
    held = files.data_held(settings)
    if any(path.name == "data" for path in held.paths):
        _confirm(
            cli,
            f"The backup of {info.created_at:%Y-%m-%d %H:%M} UTC ({info.size / 1e6:,.1f} MB) replaces what is stored "
            f"in {settings.data_dir} ({held.size / 1e6:,.1f} MB).",
            yes,
        )
    with cli.progress() as progress:
        files.restore(settings, file, progress=progress.step)
    if cli.as_json:
        cli.emit({"file": str(file), "data_dir": str(settings.data_dir), "backup": info.model_dump(mode="json")})
    else:
        cli.say(f"the store of {settings.data_dir} is that of {file}, made {info.created_at:%Y-%m-%d %H:%M} UTC")


def purge(
    cli: Cli,
    data: Annotated[bool, typer.Option("--data", help="The embedded Neo4j: every memory, password and logs.")] = False,
    cache: Annotated[
        bool, typer.Option("--cache", help="Fetched jars and models; the next start fetches them.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Delete what graphmem keeps on this machine; asks before. An embedded server that runs is stopped.

    Files that are not graphmem's stay, in its folders too.
    """
    from graphmem.graph import backup as files

    if not (data or cache):
        raise InvalidInput("nothing was named to delete", remedy="add --data, --cache, or both")
    # Fetched models also serve a Neo4j of the user's own.
    settings = embedded_only(cli.settings) if data else cli.settings
    holdings: dict[str, Holding] = {}
    if data:
        holdings[f"all memories, password and logs in {settings.data_dir}"] = files.data_held(settings)
    if cache:
        holdings[f"fetched jars and models in {settings.cache_dir}"] = files.cache_held(settings)
    found = {what: holding for what, holding in holdings.items() if holding.paths}
    if found:
        listed = " and ".join(f"{what} ({holding.size / 1e6:,.1f} MB)" for what, holding in found.items())
        _confirm(cli, f"This deletes {listed}.", yes)
    with cli.progress() as progress:
        freed = files.purge(settings, *found.values(), progress=progress.step)
    if cli.as_json:
        deleted = [str(path) for holding in found.values() for path in holding.paths]
        cli.emit({"deleted": deleted, "bytes": freed})
    else:
        cli.say(f"deleted, {freed / 1e6:,.1f} MB freed" if found else "there is nothing to delete")


def _confirm(cli: Cli, what: str, yes: bool) -> None:
    """Ask on standard error; without a terminal nobody can answer.

    Raises:
        InvalidInput: When there is nobody to ask.
        typer.Exit: When the answer is no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidInput(f"{what} Nobody confirmed it", remedy="add --yes")
    if not typer.confirm(f"{what} Go on?", err=True):
        cli.note("nothing was changed")
        raise typer.Exit(1)
