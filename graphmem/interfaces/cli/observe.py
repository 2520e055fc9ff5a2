"""``graphmem observe``: one observation from the command line."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from graphmem.interfaces.cli.common import REMEMBER, Cli, NewAgent, command
from graphmem.interfaces.cli.values import WrongValue, time_option, wrong_usage

if TYPE_CHECKING:
    from graphmem.models import NewObservation

_STDIN = "-"


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(
        app,
        panel=REMEMBER,
        example='graphmem observe "Evan sold his Prius" --agent evan --importance 6\n'
        'graphmem observe "I drive a Kia now" --agent evan --kind utterance --source Evan --session D2'
        " --at 2023-05-19T08:30:00Z --id D2:1",
    )(observe)


def observe(
    cli: Cli,
    text: Annotated[str, typer.Argument(help="What was perceived or heard; - takes it from standard input.")],
    agent: NewAgent,
    kind: Annotated[Literal["event", "utterance", "fact"], typer.Option(help="What sort of thing it is.")] = "event",
    importance: Annotated[
        int | None, typer.Option(min=1, max=10, help="1 is mundane, 10 poignant; rated when it is not given.")
    ] = None,
    at: Annotated[datetime | None, time_option("When it happened, by default now")] = None,
    source: Annotated[str | None, typer.Option(help="Who or what said it.")] = None,
    session: Annotated[str | None, typer.Option(help="The conversation it belongs to.")] = None,
    place: Annotated[str | None, typer.Option(help="Where it happened.")] = None,
    key: Annotated[
        str | None, typer.Option(help="What it is the value of: of one key only the latest is held.")
    ] = None,
    id: Annotated[
        str | None, typer.Option(metavar="ID", help="An id of its own: the same again is then the same memory.")
    ] = None,
    subject: Annotated[str | None, typer.Option(help="Whom it is about, for graphmem about.")] = None,
    predicate: Annotated[str | None, typer.Option(help="What it says of the subject.")] = None,
    object: Annotated[str | None, typer.Option(help="Whom or what it relates the subject to.")] = None,
    keyword: Annotated[list[str] | None, typer.Option(help="A name it is found by; again for more.")] = None,
    resolve: Annotated[
        bool, typer.Option("--resolve", help="Ask the language model what it changes; see graphmem review.")
    ] = False,
) -> None:
    """Store one observation; with --id, running it again stores nothing twice.

    Many at once, from a file: graphmem ingest.
    """
    item = _item(
        text=_read() if text == _STDIN else text,
        kind=kind,
        importance=importance,
        occurred_at=at,
        source=source,
        session=session,
        place=place,
        key=key,
        id=id,
        subject=subject,
        predicate=predicate,
        object=object,
        keywords=keyword or None,
    )
    with cli.memory() as memory:
        handle = memory.agent(agent)
        report = handle.observe_many([item], resolve=resolve)
        stored = handle.get(report.ids[0])
        superseded = [handle.get(id_) for id_ in report.superseded]
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit(
            {
                **where.as_dict(),
                "added": bool(report.added),
                "memory": stored.model_dump(mode="json"),
                "superseded": report.superseded,
                "stale": report.stale,
            }
        )
        return
    from graphmem.views.lines import plain_line
    from graphmem.views.text import counted

    cli.say(plain_line(stored, "observed: " if report.added else "known already: "), str(where))
    for memory in superseded:
        cli.say(plain_line(memory, "holds no longer: "))
    if report.stale:
        cli.note(f"{counted(len(report.stale), 'memory', 'memories')} resting on that turned stale; graphmem recompute")
    if report.not_embedded:
        cli.note("it has no vector, as the embedder failed on it; graphmem work tries again")


def _item(**given: Any) -> NewObservation:
    """The observation, checked before a store is opened.

    Raises:
        WrongValue: When a value is refused.
    """
    from graphmem.models import NewObservation, validated

    with wrong_usage():
        return validated(NewObservation, {name: value for name, value in given.items() if value is not None})


def _read() -> str:
    """Standard input as text, without the line break at its end.

    Raises:
        WrongValue: When it is not UTF-8.
    """
    try:
        return sys.stdin.buffer.read().decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise WrongValue(f"text: standard input is not UTF-8: byte {error.start + 1}", such="") from error
