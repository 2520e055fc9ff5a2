"""``graphmem try``: one question about one's own text file, without any set-up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.interfaces.cli.common import Cli, command

if TYPE_CHECKING:
    from graphmem import Memory
    from graphmem.interfaces.passages import Passage

_LARGEST = 5_000_000
"""Bytes of a file that is read; embedding one of this size takes some minutes."""
_SHOWN = 4
"""Passages nearest in meaning that are shown."""
_BATCH = 200


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, name="try", example='graphmem try notes.txt "Where is the key of the boathouse?"')(try_file)


def try_file(
    cli: Cli,
    file: Annotated[Path, typer.Argument(help="A text in UTF-8: notes, a diary, a transcript.")],
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the agent that has read the file, for more questions and commands.")
    ] = False,
) -> None:
    """Answer a question from a text file of yours, and say on which lines the answer rests.

    Nothing is to be set up: a local Neo4j is fetched and started when none runs (the first time takes a minute or two).
    Without a language model the answer is what the file says, word for word, where it has the words of the question;
    else the passages nearest in meaning are shown. What was read is removed again unless you say --keep.
    """
    from graphmem.errors import InvalidFile
    from graphmem.interfaces.passages import passages
    from graphmem.models import RECALL

    read = passages(_text(file))
    if not read:
        raise InvalidFile(f"{file} holds no text", remedy="name a file with something in it")
    agent = _agent_id(file, read)
    with cli.memory() as memory:
        try:
            with cli.progress() as progress:
                for start in range(0, len(read), _BATCH):
                    progress.step(f"reading {file.name}", start / len(read))
                    _observe(memory, agent, read, start)
            answer = memory.agent(agent).ask(question)
            hits = memory.agent(agent).retrieve(question, k=_SHOWN, profile=RECALL, touch=False)
        finally:
            if not keep:
                _forget(memory, agent)
    sentences = [(sentence.text, [read[int(id_)] for id_ in sentence.citations]) for sentence in answer.sentences]
    nearest = [read[int(hit.memory.id)] for hit in hits]
    if cli.as_json:
        told = [{"text": text, "passages": [_told(one) for one in rests_on]} for text, rests_on in sentences]
        cli.emit(
            {
                "file": str(file),
                "question": question,
                "known": answer.known,
                "answer": answer.text,
                "sentences": told,
                "nearest": [_told(one) for one in nearest],
                "agent_id": agent if keep else None,
            }
        )
        return
    _show(cli, file, sentences, nearest)
    if keep:
        cli.say("", f'kept as agent {agent}: graphmem retrieve "…" --agent {agent} --profile recall')


def _text(file: Path) -> str:
    from graphmem.errors import InvalidFile
    from graphmem.interfaces.files import checked_file, read_text

    size = checked_file(file).stat().st_size
    if size > _LARGEST:
        raise InvalidFile(
            f"{file} has {size / 1e6:,.1f} MB, at most {_LARGEST / 1e6:.0f} are read",
            remedy="cut it, or make JSON lines of it for graphmem ingest",
        )
    return read_text(file).replace("\x00", " ")


def _agent_id(file: Path, read: list[Passage]) -> str:
    """An agent of its own for each content, so that a file that changed is another one."""
    import hashlib

    told = "\n".join(passage.text for passage in read)
    return f"try-{file.stem[:60]}-{hashlib.sha256(told.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _observe(memory: Memory, agent: str, read: list[Passage], start: int) -> None:
    """Store passages in the order of the file: neighbours in it are neighbours in a conversation."""
    from datetime import UTC, datetime, timedelta

    begun = datetime(2000, 1, 1, tzinfo=UTC)  # Only the order counts.
    memory.agent(agent).observe_many(
        {
            "id": str(at),
            "text": read[at].text,
            "importance": 5,
            "session": "file",
            "occurred_at": begun + timedelta(seconds=at),
        }
        for at in range(start, min(start + _BATCH, len(read)))
    )


def _forget(memory: Memory, agent: str) -> None:
    from graphmem.errors import UnknownAgent

    try:
        memory.forget_agent(agent)
    except UnknownAgent:
        return  # Reading failed before anything was stored.


def _told(passage: Passage) -> dict[str, object]:
    return {"text": passage.text, "first_line": passage.first, "last_line": passage.last}


def _show(cli: Cli, file: Path, sentences: list[tuple[str, list[Passage]]], nearest: list[Passage]) -> None:
    """The answer with the lines that it rests on; without one, or besides, the passages nearest in meaning."""
    from graphmem.views.text import one_line

    for text, rests_on in sentences:
        cli.say(one_line(text), f"  {file}, {', '.join(passage.lines for passage in rests_on)}")
    answering = [passage for _, rests_on in sentences for passage in rests_on]
    others = [passage for passage in nearest if passage not in answering]
    if not sentences:
        cli.note("the file does not say it in the words of the question; nearest in meaning:")
    elif others:
        cli.say("", "Nearest besides:")
    for passage in others:
        cli.say(f"  {passage.lines}: {one_line(passage.text)}")
