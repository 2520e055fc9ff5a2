"""``graphmem ingest``: observations from a file of JSON lines into an agent's memory."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from graphmem.interfaces.cli.common import REMEMBER, Cli, NewAgent, command

if TYPE_CHECKING:
    from graphmem import Agent as AgentHandle
    from graphmem.interfaces.jsonlines import Line
    from graphmem.interfaces.progress import Progress

_BATCH = 100
"""Lines per call: few enough that the bar moves, enough that embedding runs at full speed."""

_STDIN = Path("-")


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, panel=REMEMBER, example="graphmem ingest diary.jsonl --agent evan\ngraphmem ingest - --agent evan")(
        ingest
    )


def ingest(
    cli: Cli,
    file: Annotated[Path, typer.Argument(help="A file of JSON lines; - is standard input.")],
    agent: NewAgent,
) -> None:
    """Store observations from JSON lines; running it again adds nothing twice.

    One JSON object a line, UTF-8, such as {"text": "Evan sold his Prius", "occurred_at": "2026-05-18T13:47Z"}: text,
    and optionally id, occurred_at (with a zone), source, session, kind (event, utterance or fact), importance (1 to
    10), place, key, subject, predicate, object, keywords (a list). A line without an id gets one made from its content.

    A line that is refused is named and left out; the others are stored, and the exit code is 1.
    """
    from graphmem.interfaces.files import checked_file
    from graphmem.views.text import one_line

    if file != _STDIN:
        checked_file(file)  # Before a server is started.
    name = "standard input" if file == _STDIN else one_line(str(file))
    with cli.memory() as memory, _opened(file) as (stream, size), cli.progress() as progress:
        reading = _Ingest(name, size, memory.agent(agent), progress)
        try:
            reading.run(stream)
        except BaseException:
            cli.note(f"stopped; {reading.counts()} until then. Running it again goes on from there.")
            raise
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), "file": name, **reading.as_dict()})
    else:
        cli.say(f"{name} → {where}: {reading.counts()}")
    if reading.refused:
        if not reading.added + reading.known and not cli.as_json:
            cli.note('a line is an object such as {"text": "…"}; of a text as it is: graphmem try FILE QUESTION --keep')
        raise typer.Exit(1)


@contextmanager
def _opened(file: Path) -> Generator[tuple[BinaryIO, int | None]]:
    """The stream, and its size in bytes where that is known."""
    if file == _STDIN:
        yield sys.stdin.buffer, None
        return
    from graphmem.interfaces.files import opened

    with opened(file) as stream:
        # A pipe or device has no size to measure progress by.
        size = file.stat().st_size if file.is_file() else None
        yield stream, size


@dataclass
class _Ingest:
    """One run over one stream."""

    name: str
    size: int | None
    agent: AgentHandle
    progress: Progress
    added: int = 0
    known: int = 0
    not_embedded: list[str] = field(default_factory=list[str])
    refused: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def run(self, stream: BinaryIO) -> None:
        from graphmem.interfaces.jsonlines import read_lines

        self._show(0)
        batch: list[Line] = []
        for line in read_lines(stream):
            if line.item is None:
                self._refuse(line, line.refusal)
                continue
            batch.append(line)
            if len(batch) == _BATCH:
                self._store(batch)
                self._show(line.end)
                batch = []
        self._store(batch)
        self._show(self.size or 0)

    def _store(self, lines: list[Line]) -> None:
        """Store lines; those whose ids are taken by other content are named and left out."""
        from graphmem.errors import IdConflict

        while lines:
            try:
                report = self.agent.observe_many([line.item for line in lines if line.item is not None])
            except IdConflict as error:
                for position in error.positions:
                    item = lines[position].item
                    assert item is not None
                    self._refuse(lines[position], f"the id {item.id!r} is taken by other content")
                # Once more is enough, unless another process takes an id meanwhile.
                lines = [line for position, line in enumerate(lines) if position not in error.positions]
                continue
            self.added += report.added
            self.known += report.known
            self.not_embedded += report.not_embedded
            return

    def _refuse(self, line: Line, reason: str) -> None:
        from rich.text import Text

        from graphmem.views.text import shortened

        reason = shortened(reason, 300)
        self.refused.append((line.number, reason))
        told = Text.assemble((f"{self.name}:{line.number}: ", "bold"), ("refused: ", "red"), reason)
        self.progress.console.print(told, soft_wrap=True)

    def _show(self, done: int) -> None:
        fraction = min(1.0, done / self.size) if self.size else None
        self.progress.step(f"reading {self.name}", fraction, self.counts())

    def counts(self) -> str:
        words = f"{self.added:,} added, {self.known:,} known, {len(self.refused):,} refused"
        return f"{words}, {len(self.not_embedded):,} not embedded" if self.not_embedded else words

    def as_dict(self) -> dict[str, object]:
        return {
            "added": self.added,
            "known": self.known,
            "not_embedded": self.not_embedded,
            "refused": [{"line": number, "reason": reason} for number, reason in sorted(self.refused)],
        }
