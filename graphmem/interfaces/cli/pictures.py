"""``--format`` and ``--output`` of ``tree`` and ``explain``: provenance as a picture, printed or in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphmem.errors import InvalidInput
from graphmem.interfaces.cli.common import Cli

if TYPE_CHECKING:
    from graphmem.models import Provenance
    from graphmem.views.pictures import PictureFormat

Format = Annotated[
    Literal["text", "mermaid", "dot", "html"],
    typer.Option(help="Text for people, or a picture: Mermaid, DOT for Graphviz, a web page that needs no network."),
]
Output = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the picture there; a web page needs it.")]


def check_format(cli: Cli, format: str, output: Path | None) -> None:
    """Refuse what does not go together, before anything is asked of a store.

    Raises:
        InvalidInput: As it says.
    """
    if cli.as_json and format != "text":
        raise InvalidInput("--json and --format are two answers", remedy="leave one of them out")
    if format == "text" and output is not None:
        raise InvalidInput("--output is for pictures", remedy="add --format mermaid, dot or html")
    if format == "html" and output is None:
        raise InvalidInput("a web page is too long for a terminal", remedy="name a file: --output why.html")


def write_picture(
    cli: Cli,
    provenance: Provenance,
    format: PictureFormat,
    output: Path | None,
    *,
    depth: int | None,
    limit: int,
    ended: bool,
) -> None:
    """Write a picture; what is left out of it is told.

    Raises:
        InvalidFile: When the file cannot be written.
        MissingExtra: For a web page, when neo4j-viz is not installed.
    """
    from graphmem.views.pictures import picture

    text, note = picture(provenance, format, depth=depth, limit=limit, ended=ended)
    write_text(cli, text, output)
    if note:
        cli.note(note)


def write_text(cli: Cli, text: str, output: Path | None) -> None:
    """Write a picture to a file, or to standard output.

    Raises:
        InvalidFile: When the file cannot be written.
    """
    if output is None:
        cli.out.file.write(text)
        cli.out.file.flush()
    else:
        from graphmem.interfaces import files

        files.write_text(output, text)
        cli.say(f"wrote {output}")
