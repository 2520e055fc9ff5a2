"""Looking back without a model: descriptions, digests and lessons of the built-in engine, and their recomputing.

What it writes quotes the memories it cites, so that it says nothing that they do not say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from graphmem.language import insights
from graphmem.language.base import Statement
from graphmem.language.planning import LearnLessons, SumUp
from graphmem.language.prompts import Reconsider
from graphmem.language.quoting import names_speaker
from graphmem.language.text import normalise_text, shorten

_QUOTED = 4
"""Memories that a summary quotes."""
_LONGEST = 160
_LATELY = " Lately: "
_OUTCOMES = ("done", "missed", "dropped")


def sum_up(task: SumUp) -> dict[str, Any]:
    """Who the agent is and what its weightiest latest memories say, or what the weightiest of a day say, in order."""
    if task.day is None:
        head = f"{task.name}: {task.traits.strip()}" if task.traits else f"{task.name}."
        return _described(head, task.statements)
    return _digested(task.day, task.statements)


def _described(head: str, statements: Sequence[Statement]) -> dict[str, Any]:
    chosen = _chosen([s for s in statements if s.type == "observation"] or list(statements))
    if head and head[-1] not in ".!?…":
        head += "."
    return {"text": f"{head}{_LATELY}{_listed(chosen)}.", "evidence": [statement.number for statement in chosen]}


def _digested(title: str, statements: Sequence[Statement]) -> dict[str, Any]:
    happened = [statement for statement in statements if statement.type != "plan"]
    plans = [statement for statement in statements if statement.state in _OUTCOMES]
    chosen = _chosen(happened)
    parts = [f"{title}: {_listed(chosen)}." if chosen else f"{title}."]
    cited = [*chosen]
    for state in _OUTCOMES:
        if became := [statement for statement in plans if statement.state == state][:_QUOTED]:
            parts.append(f"Planned and {state}: {_listed(became)}.")
            cited += became
    return {"text": " ".join(parts), "evidence": [statement.number for statement in cited]}


def _chosen(statements: Sequence[Statement]) -> list[Statement]:
    """The weightiest, each on another topic where they have topics, in order of time."""
    ranked = sorted(statements, key=lambda s: (-s.importance, -s.occurred_at.timestamp(), s.number))
    chosen: list[Statement] = []
    said: set[str] = set()
    for statement in ranked:
        if (text := normalise_text(statement.text)) not in said:
            said.add(text)
            chosen.append(statement)
        if len(chosen) == _QUOTED:
            break
    return sorted(chosen, key=lambda statement: (statement.occurred_at, statement.number))


def _listed(statements: Sequence[Statement]) -> str:
    return "; ".join(_quote(statement) for statement in statements)


def _quote(statement: Statement) -> str:
    text = " ".join(statement.text.split()).translate({0x201C: "‘", 0x201D: "’"}).rstrip(" .")
    said = f"“{shorten(text, _LONGEST)}”"
    named = statement.source is None or names_speaker(statement.text, statement.source)
    return said if named else f"{statement.source} said {said}"


# --- lessons -------------------------------------------------------------------------------------------------------


def learn_lessons(task: LearnLessons) -> dict[str, Any]:
    """One lesson for each thing that was planned more than once, or once and did not come to be with a reason."""
    groups: dict[str, list[Statement]] = defaultdict(list)
    for statement in task.statements:
        if statement.state in _OUTCOMES:
            groups[normalise_text(statement.text)].append(statement)
    lessons = [lesson for _, members in sorted(groups.items()) if (lesson := _lesson(members)) is not None]
    lessons.sort(key=lambda lesson: (-len(lesson["evidence"]), lesson["text"]))
    return {"insights": lessons[: task.count]}


def _lesson(members: Sequence[Statement]) -> dict[str, Any] | None:
    ordered = sorted(members, key=lambda statement: (statement.occurred_at, statement.number))
    text = " ".join(ordered[-1].text.split()).translate({0x201C: "‘", 0x201D: "’"}).rstrip(" .")
    failed = [statement for statement in ordered if statement.state != "done"]
    numbers = [statement.number for statement in ordered][-insights.MAX_CITED :]
    if not failed:
        if len(ordered) < 2:
            return None
        return {
            "text": f"“{text}” got done each time that it was planned: plan it like that again.",
            "evidence": numbers,
        }
    last = failed[-1]
    if 2 * len(failed) < len(ordered) or (len(ordered) == 1 and not last.reason):
        return None
    why = f" (“{' '.join(last.reason.split())}”)" if last.reason else ""
    return {
        "text": f"“{text}” was {last.state}{why}: leave it out, or plan it for another time, unless that has changed.",
        "evidence": numbers,
    }


# --- reconsidering ---------------------------------------------------------------------------------------------------


def reconsider(task: Reconsider) -> dict[str, Any]:
    """Write the summary or lesson again from the evidence that holds now; only equal text confirms."""
    again = _again(task)
    if again is None:
        return {"verdict": "retracted", "reason": "what it rests on now does not bear it out any more"}
    same = normalise_text(again["text"]) == normalise_text(task.hypothesis)
    return {"verdict": "confirmed" if same else "revised", **again}


def _again(task: Reconsider) -> dict[str, Any] | None:
    if not task.statements:
        return None
    if task.kind == "procedure":
        lessons = learn_lessons(LearnLessons(agent="", statements=task.statements))["insights"]
        return lessons[0] if lessons else None
    head, lately, _ = task.hypothesis.partition(_LATELY)
    if lately:
        return _described(head, task.statements)
    return _digested(task.hypothesis.partition(":")[0].rstrip("."), task.statements)
