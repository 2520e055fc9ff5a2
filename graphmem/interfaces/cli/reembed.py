"""``graphmem reembed``: move the store to another embedding model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from graphmem.interfaces.cli.common import SERVER, Cli, command

if TYPE_CHECKING:
    from graphmem.models import Reembedded


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, panel=SERVER, example="graphmem reembed --embedding onnx/all-MiniLM-L6-v2")(reembed)


def reembed(cli: Cli) -> None:
    """Move the store to the embedding model that --embedding names; what was cut off goes on when called again.

    All texts are embedded anew while the store is in use. Then the vectors are switched, which takes seconds to a
    minute: programs that have the store open for the old model are refused from then on, with an error that says so,
    and have to open it for the new one. No two models are ever ranked together.
    """
    from graphmem import Memory

    if cli.overrides.get("embedding") is None:
        raise typer.BadParameter("name the model to move to", param_hint="--embedding")
    settings = cli.settings
    with cli.progress() as progress:
        report = Memory.reembed(settings=settings, progress=progress.step)
    if cli.as_json:
        cli.emit(report.model_dump(mode="json"))
        return
    _show(cli, report, settings.embedding)


def _show(cli: Cli, report: Reembedded, setting: str) -> None:
    from graphmem.views.text import counted

    if report.before == report.after and not report.memories:
        cli.say(f"the store is for {report.after} ({report.dimension} dimensions) already")
    else:
        many = counted(report.memories, "memory", "memories")
        cli.say(f"moved {many} from {report.before} to {report.after} ({report.dimension} dimensions)")
    if report.not_embedded:
        cli.note(f"{counted(report.not_embedded, 'text')} could not be embedded; graphmem work tries again")
    cli.say(f"from now on: export GRAPHMEM_EMBEDDING={setting} (or embedding in the settings file)")
