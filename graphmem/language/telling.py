"""Speaking without a model: news told on word for word, with who said it; nothing is made up."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from graphmem.language import scenes, whens, words
from graphmem.language.base import Statement
from graphmem.language.dialogue import Speak, SummariseTalk
from graphmem.language.quoting import Matter, inner, keys_of, matter, names_speaker, said_next, told
from graphmem.language.text import normalise_text, shorten

NEWS = 6
"""From this importance on, something is news to anybody."""
INVITATION = 3.0
"""Weight of an invitation where no matter is given: that goes before all else."""
_MOST_SUMMED_UP = 4
"""Utterances that a summary quotes."""
_QUOTED = 160
"""Characters of each."""


def speak(task: Speak) -> dict[str, Any]:
    """The weightiest thing that the other was not told yet and that is about the matter, then invitations.

    Without a matter: invitations, what has to do with the other, and news. What somebody was seen doing is told to
    nobody, nor what the speaker itself had planned for a time that is over.
    """
    topic = matter(task.about, besides=task.who) if task.about is not None else None
    said = [normalise_text(line.text) for line in task.lines]
    untold = {
        one.number: one
        for one in task.statements
        if one.number not in task.told
        and one.type != "reflection"
        and not (one.type == "plan" and normalise_text(told(one, task.who)) in said)
    }
    ranked = [(_weight(task, topic, one), one) for one in untold.values()]
    ranked = sorted(
        ((weight, one) for weight, one in ranked if weight > 0),
        key=lambda entry: (-entry[0], -entry[1].importance, -entry[1].occurred_at.timestamp(), entry[1].number),
    )
    if not ranked:
        return {"sentences": []}
    first = ranked[0][1]
    chosen = [first, *(untold[number] for number in said_next(first, untold))]
    return {"sentences": [{"text": told(one, task.who), "evidence": [one.number]} for one in chosen]}


def _weight(task: Speak, topic: Matter | None, statement: Statement) -> float:
    """How much it belongs into this conversation; 0: not at all."""
    if statement.source is not None and statement.source.casefold() == task.other.casefold():
        return 0.0
    if statement.type == "plan":
        # Of its plans it tells those that are still to be, after what it knows of the matter.
        to_be = statement.start is not None and statement.start > task.now and statement.state == "planned"
        return topic.share(statement) / 2 if topic is not None and to_be else 0.0
    if statement.kind == "event" and scenes.is_scene(statement.text):
        return 0.0
    if share := topic.share(statement) if topic is not None else 0.0:
        return share
    if _invites(task, statement):
        return INVITATION if topic is None else 0.1
    if topic is not None:
        return 0.0
    if statement.importance < NEWS and statement.kind == "event":
        return 0.0  # What somebody was seen doing is no news to that one.
    other = {words.fold(word.text) for word in words.words(task.other)}
    return 2.0 if other & keys_of(statement) else float(statement.importance >= NEWS)


def _invites(task: Speak, statement: Statement) -> bool:
    """Whether it is an invitation to what is still to be."""
    return whens.invites(statement.text) and not whens.is_over(
        statement.text, statement.occurred_at, task.now, ZoneInfo(task.time_zone)
    )


def summarise_talk(task: SummariseTalk) -> dict[str, Any]:
    """With whom it was, and what was said, in quotations."""
    shown = task.statements[:_MOST_SUMMED_UP]
    parts = [f"I talked with {task.other}."]
    for one in shown:
        mine = one.source is not None and one.source.casefold() == task.who.casefold()
        text = shorten(inner(" ".join(one.text.split())), _QUOTED)
        if not mine and names_speaker(one.text, one.source or task.other):
            parts.append(f"“{text}”")
        else:
            parts.append(f"I said: “{text}”" if mine else f"{one.source or task.other} said: “{text}”")
    return {"summaries": [{"text": " ".join(parts), "evidence": [one.number for one in shown]}]}
