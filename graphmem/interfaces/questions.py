"""Labelled questions and profiles, as files."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from graphmem.errors import InvalidFile, InvalidInput
from graphmem.interfaces.files import read_text
from graphmem.models import PROFILES, Profile, validated
from graphmem.models.calibration import Question


def read_questions(file: Path) -> list[Question]:
    """Questions as JSON lines: ``{"query": …, "relevant": [ids], "category": …}``; blank lines are skipped.

    Raises:
        InvalidFile: When the file cannot be read.
        InvalidInput: When a line is not one; the message has its number.
    """
    lines = read_text(file).split("\n")  # no other line break: one may stand in a text
    questions: list[Question] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            questions.append(validated(Question, json.loads(line)))
        except (ValueError, RecursionError, InvalidInput) as error:
            raise InvalidInput(
                f"{file}, line {number}: {error}", remedy='write a line like {"query": "Who …?", "relevant": ["D1:2"]}'
            ) from error
    return questions


def read_profile(name: str) -> Profile:
    """A built-in profile by its name, or one from a JSON file, such as calibrating writes.

    Raises:
        InvalidFile: When there is no such profile or file, it cannot be read, or holds none.
    """
    if name in PROFILES:
        return PROFILES[name]
    file = Path(name)
    remedy = f"name {' or '.join(PROFILES)}, or a file that graphmem calibrate has written"
    if not file.exists():
        raise InvalidFile(f"there is no profile {name!r}, and no file of that name", remedy=remedy)
    text = read_text(file)
    try:
        return Profile.model_validate_json(text)
    except ValidationError as error:
        reason = str(error).splitlines()[0]
        raise InvalidFile(f"{file} holds no profile: {reason}", remedy=remedy) from error
