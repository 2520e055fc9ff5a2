"""What happened to a memory, a line an event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from graphmem.models import AnyMemory, HistoryEvent, HistoryType, LogEntry, TimelineEvent
from graphmem.views.text import moment, one_line, short_ids, shortened
from graphmem.views.tree import kind_words

if TYPE_CHECKING:
    from rich.text import Text

_QUOTED_LENGTH = 80
_REASON_LENGTH = 200
_CALLER = "caller"

_STYLES: dict[HistoryType, str] = {
    "stale": "yellow",
    "active": "green",
    "confirmed": "green",
    "restored": "green",
    "superseded": "red",
    "retracted": "red",
    "forgotten": "red",
    "archived": "blue",
}
_WORDS: dict[HistoryType, str] = {
    "supersedes": "took the place of",
    "stale": "turned stale",
    "active": "active again",
    "reinforced": "gained evidence",
    "gave_way": "gave way to",
    "rated": "importance",
}
_ENDINGS = {
    "supersede": "was superseded",
    "retract": "was retracted",
    "recompute": "was changed by recompute",
    "replan": "was superseded by another plan",
    "summarise": "was superseded by a newer summary",
    "observe": "was superseded by a later value",
    "forget": "was forgotten",
}
"""What a verb did to the ground that made a memory stale."""


def history(events: Sequence[HistoryEvent]) -> list[Text]:
    """Events as lines: when, what, with which other memory, by whom and why."""
    ids = short_ids(event.other for event in events if event.other is not None)
    return [_line(event, ids) for event in events]


def entry_line(entry: LogEntry) -> Text:
    """One entry of the log of changes."""
    from rich.text import Text

    memory = entry.memory
    line = Text.assemble((f"{entry.seq} {moment(entry.at)} UTC  ", "dim"), (entry.verb, "bold"), " ")
    line.append(one_line(memory.id), "cyan")
    text = "(forgotten)" if memory.status == "forgotten" else f"“{shortened(memory.text, _QUOTED_LENGTH)}”"
    line.append(f" {text}")
    if entry.replacement is not None:
        line.append(f" by {one_line(entry.replacement)} “{shortened(entry.replacement_text or '', _QUOTED_LENGTH)}”")
    if entry.undone:
        line.append(" [undone]", "green")
    if entry.by != _CALLER:
        line.append(f" (by {one_line(entry.by)}{f', run {one_line(entry.run_id)}' if entry.run_id else ''})", "dim")
    if entry.reason.strip():
        line.append(f": {shortened(entry.reason, _REASON_LENGTH)}")
    return line


def timeline(events: Sequence[TimelineEvent]) -> list[Text]:
    """What happened to all of an agent's memories as lines: when, what, and to which memory."""
    others = (told.event.other for told in events if told.event.other is not None)
    ids = short_ids([*(told.memory.id for told in events), *others])
    return [_line(told.event, ids, told.memory) for told in events]


def _line(event: HistoryEvent, ids: dict[str, str], memory: AnyMemory | None = None) -> Text:
    from rich.text import Text

    what = _WORDS.get(event.type, event.type)
    line = Text.assemble((f"{moment(event.at)} UTC  ", "dim"), (what, _STYLES.get(event.type, "bold")))
    if memory is not None:
        line.append(f" {kind_words(memory)}").append(f" {ids[memory.id]}", "cyan")
        line.append(" (forgotten)" if memory.status == "forgotten" else f" “{shortened(memory.text, _QUOTED_LENGTH)}”")
    if event.type == "rated":
        line.append(f" {event.importance_before} → {event.importance_after} by {one_line(event.verb or '')}")
    if event.type == "changed":
        line.append(f" by {one_line(event.verb or '')}")
    if event.other is not None:
        text = shortened(event.other_text or "", _QUOTED_LENGTH)
        line.append(f" {_other(event, f'{ids[event.other]} “{text}”')}")
    if circumstances := ", ".join(_circumstances(event)):
        line.append(f" ({circumstances})", "dim")
    if event.reason.strip():
        line.append(f": {shortened(event.reason, _REASON_LENGTH)}")
    return line


def _other(event: HistoryEvent, named: str) -> str:
    match event.type:
        case "superseded":
            return f"by {named}"
        case "stale":
            return f"as {named} {_ENDINGS.get(event.verb or '', 'turned stale')}"
        case "active":
            return f"as {named} holds"
        case "retracted":
            return f"as {named} was restored"
        case _:
            return named


def _circumstances(event: HistoryEvent) -> Iterable[str]:
    if event.mode is not None:
        yield event.mode
    # That a caller observed, superseded or retracted it is what the words say already.
    if event.verb in ("reflect", "recompute") and event.type != "stale":
        yield event.verb
    if event.by not in ("", _CALLER):
        yield f"by {one_line(event.by)}"
    if event.run_id is not None:
        yield f"run {one_line(event.run_id)}"
