"""The commands put together, and what happens when the command line itself is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, cast

import typer

from graphmem.interfaces.cli import (
    backup,
    beliefs,
    browser,
    calibrate,
    demo,
    doctor,
    forget,
    importance,
    ingest,
    interview,
    look,
    mcp,
    observe,
    past,
    plan,
    reembed,
    retention,
    retrieve,
    server,
    simulate,
    simulation,
    talk,
    transfer,
    try_file,
    usage,
    work,
)
from graphmem.interfaces.cli.common import INTERRUPTED, tell_error

app = typer.Typer(
    name="graphmem",
    cls=usage.Group,
    help="A memory for language-model agents that is a graph in Neo4j.",
    epilog="A first look: graphmem demo, or graphmem try FILE QUESTION. Each explains itself: graphmem retrieve --help"
    "\n\n"
    "Thinking (reflect, ask, plan, …) is done by words that memories share, unless there is a language model:"
    " export GRAPHMEM_LANGUAGE_MODEL=litellm/PROVIDER/MODEL and the provider's key."
    "\n\n"
    "Exit codes: 0 done; 1 an error, or something was refused, failed or found wrong; 2 wrong usage; 130 interrupted.",
    pretty_exceptions_enable=False,
)
for group in (
    try_file,
    demo,
    observe,
    ingest,
    simulation,
    simulate,
    retrieve,
    calibrate,
    talk,
    interview,
    beliefs,
    importance,
    forget,
    plan,
    retention,
    work,
    look,
    past,
    doctor,
    server,
    browser,
    backup,
    reembed,
    transfer,
    mcp,
):
    group.register(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"graphmem {version('graphmem')}")
        raise typer.Exit


@app.callback()
def _root(  # pyright: ignore[reportUnusedFunction]
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; wrong usage is told in one line, as every error is."""
    try:
        code = cast("int | None", app(list(arguments), prog_name="graphmem", standalone_mode=False))
    except typer.TyperException as error:
        message, remedy = usage.told(error)
        tell_error(message, remedy=remedy)
        return error.exit_code
    except typer.Abort:
        code = INTERRUPTED
    if code == INTERRUPTED:
        tell_error("interrupted", remedy="what was stored before is kept; the same command can be run again")
    return code or 0
