"""Interviews as files: a sheet for raters whose order tells nothing, a key beside it, and what rankings come to.

The sheet calls the answers to each question A to D in an order of its own; only the key says which condition is which.
"""

from __future__ import annotations

import csv
import hashlib
import html
import importlib
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from graphmem.errors import InvalidInput, MissingExtra
from graphmem.interfaces.files import read_text
from graphmem.models.interviews import CONDITIONS, Asked, Condition, Interview
from graphmem.views.text import one_line

LETTERS = "ABCD"
_REMEDY = "pip install 'graphmem[interview]'"


def order_of(interview: Interview, number: int) -> list[Condition]:
    """The conditions of one question in the order of its letters: by a hash, so that no place tells anything."""
    seed = f"{interview.agent_id}\n{interview.now.isoformat()}\n{number}"
    return sorted(CONDITIONS, key=lambda condition: hashlib.sha256(f"{seed}\n{condition}".encode()).hexdigest())


def files(interview: Interview) -> dict[str, str]:
    """The files of an interview by name: ``sheet.md``, ``sheet.html``, ``rankings.csv`` to fill in, ``key.json``."""
    key = {str(number): dict(zip(LETTERS, order_of(interview, number), strict=True)) for number in _numbers(interview)}
    rows = io.StringIO()
    writer = csv.writer(rows, lineterminator="\n")
    writer.writerow(["rater", "question", *LETTERS])
    writer.writerows(["", number, "", "", "", ""] for number in _numbers(interview))
    return {
        "sheet.md": _markdown(interview),
        "sheet.html": _page(interview),
        "rankings.csv": rows.getvalue(),
        "key.json": json.dumps({"agent": interview.agent_id, "conditions": key}, indent=2, ensure_ascii=False) + "\n",
    }


def _numbers(interview: Interview) -> range:
    return range(1, len(interview.asked) + 1)


def _answers(interview: Interview, number: int, asked: Asked) -> list[tuple[str, str, list[str]]]:
    """Letter, answer and the texts that it cites, numbered within the question: their ids could tell the condition."""
    places: dict[str, int] = {}
    found: list[tuple[str, str, list[str]]] = []
    for letter, condition in zip(LETTERS, order_of(interview, number), strict=True):
        answer = asked.answers[condition]
        said: list[str] = []
        for sentence in answer.sentences:
            marks = "".join(f"[{places.setdefault(id_, len(places) + 1)}]" for id_ in sentence.citations)
            said.append(f"{one_line(sentence.text)} {marks}")
        cited = [f"[{places[id_]}] {one_line(interview.grounds.get(id_, ''))}" for id_ in answer.citations]
        found.append((letter, " ".join(said) or answer.text, cited))
    return found


_INTRODUCTION = (
    "Rank the four answers to each question by how believable they are of this person: 1 is best, 4 worst; equal ranks "
    "are allowed. Write the ranks into rankings.csv, a row a question, with your name as the rater. Texts in brackets "
    "are what an answer rests on."
)


def _markdown(interview: Interview) -> str:
    lines = [f"# Interview with {one_line(interview.name)}", "", _INTRODUCTION, ""]
    for number, asked in enumerate(interview.asked, start=1):
        lines += [f"## {number}. {one_line(asked.question)}", f"*{asked.area}*", ""]
        for letter, text, cited in _answers(interview, number, asked):
            lines += [f"**{letter}.** {_plain(text)}", "", *(f"> {_plain(line)}" + "\n>" for line in cited), ""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join(f"\\{char}" if char in "\\`*_{}<>#|~" else char for char in text)


def _page(interview: Interview) -> str:
    parts = [
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Interview</title>',
        "<style>body{max-width:46em;margin:2em auto;font-family:sans-serif}small{color:#555}</style>",
        f"<h1>Interview with {html.escape(one_line(interview.name))}</h1><p>{html.escape(_INTRODUCTION)}</p>",
    ]
    for number, asked in enumerate(interview.asked, start=1):
        parts.append(f"<h2>{number}. {html.escape(one_line(asked.question))}</h2><p><small>{asked.area}</small></p>")
        for letter, text, cited in _answers(interview, number, asked):
            below = "<br>".join(html.escape(line) for line in cited)
            parts.append(f"<p><b>{letter}.</b> {html.escape(text)}<br><small>{below}</small></p>")
    return "\n".join(parts) + "</html>\n"


_KEY = TypeAdapter(dict[str, dict[str, Condition]])
"""By question, the condition of each letter."""


def read_rankings(file: Path, key: Path) -> list[dict[str, float]]:
    """Rankings as filled in: for each rater and question, the rank of each condition.

    Raises:
        InvalidFile: When a file cannot be read.
        InvalidInput: When a row is no ranking; the message has its number.
    """
    filled_in, keys = read_text(file), read_text(key)
    try:
        conditions = _KEY.validate_python(json.loads(keys)["conditions"])
        rows = list(csv.DictReader(io.StringIO(filled_in)))
    except (ValueError, KeyError, TypeError, RecursionError, csv.Error) as error:
        reason = str(error).splitlines()[0]
        raise InvalidInput(
            f"{file} with {key} cannot be read: {reason}", remedy="give rankings.csv as filled in, beside its key.json"
        ) from error
    found: list[dict[str, float]] = []
    for number, row in enumerate(rows, start=2):
        letters = {letter: (row.get(letter) or "").strip() for letter in LETTERS}
        if not any(letters.values()):
            continue
        try:
            names = conditions[(row.get("question") or "").strip()]
            found.append({names[letter]: _rank(rank) for letter, rank in letters.items()})
        except (KeyError, ValueError) as error:
            raise InvalidInput(
                f"{file}, line {number}: {error} is no question of the key, or no rank from 1 to 4",
                remedy="write a row like: Ada,3,1,2,4,3",
            ) from error
    if not found:
        raise InvalidInput(f"{file} holds no ranking", remedy="fill in a rank from 1 to 4 for each answer")
    return found


def _rank(text: str) -> float:
    rank = float(text)
    if not 1 <= rank <= len(LETTERS):
        raise ValueError(text)
    return rank


def judged(rankings: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """TrueSkill ratings of the conditions (mu ± sigma), and Dunn's test between them with Holm's correction.

    Args:
        rankings: Ranks by condition, 1 is best.

    Raises:
        MissingExtra: When the extra ``interview`` is not installed.
    """
    try:
        trueskill: Any = importlib.import_module("trueskill")
        posthocs: Any = importlib.import_module("scikit_posthocs")
    except ImportError as error:
        raise MissingExtra(f"rankings need {error.name}, which is not installed", remedy=_REMEDY) from error
    names = list(CONDITIONS)
    ratings: dict[str, Any] = {name: trueskill.Rating() for name in names}
    for ranking in rankings:
        groups = [{name: ratings[name]} for name in names]
        for group in trueskill.rate(groups, ranks=[ranking[name] for name in names]):
            ratings |= group
    table = posthocs.posthoc_dunn([[ranking[name] for ranking in rankings] for name in names], p_adjust="holm")
    p_values: Any = table.to_numpy()
    return {
        "rankings": len(rankings),
        "trueskill": {name: {"mu": float(ratings[name].mu), "sigma": float(ratings[name].sigma)} for name in names},
        "dunn": {
            f"{first} / {second}": float(p_values[names.index(first)][names.index(second)])
            for place, first in enumerate(names)
            for second in names[place + 1 :]
        },
    }
