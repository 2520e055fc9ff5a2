"""``graphmem demo``: the whole cycle on two agents' days, in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphmem.interfaces.cli.common import Cli, command


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, example="graphmem demo\ngraphmem demo --seeds my-stories", json_output=False)(demo)


def demo(
    cli: Cli,
    seeds: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A folder of stories; without it, those that come with graphmem."),
    ] = None,
) -> None:
    """Show observing, retrieving, reflecting, superseding and recomputing on a real Neo4j; takes about a minute.

    Two people of a harbour town live two days. They stay as agents demo-…, to be looked at; graphmem forget removes
    them.
    """
    from graphmem.interfaces.demo import run
    from graphmem.interfaces.seeds import default_folder, load_seeds

    stories = load_seeds(seeds or default_folder())
    with cli.memory() as memory:
        run(memory, stories, cli.out)
