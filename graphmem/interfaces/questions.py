"""Labelled questions and profiles, as files."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from graphmem.errors import InvalidInput
from graphmem.models import PROFILES, Profile, validated
from graphmem.models.calibration import Question


def read_questions(file: Path) -> list[Question]:
    """Questions as JSON lines: ``{"query": …, "relevant": [ids], "category": …}``; blank lines are skipped.

    Raises:
        InvalidInput: When the file cannot be read, or a line is not one; the message has its number.
    """
    try:
        lines = file.read_text("utf-8").split("\n")  # no other line break: one may stand in a text
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInput(f"{file} cannot be read: {reason}", remedy="give a file of JSON lines in UTF-8") from error
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
        InvalidInput: When there is no such profile or file, or the file holds none.
    """
    if name in PROFILES:
        return PROFILES[name]
    file = Path(name)
    remedy = f"name {' or '.join(PROFILES)}, or a file that graphmem calibrate has written"
    try:
        return Profile.model_validate_json(file.read_text("utf-8"))
    except OSError as error:
        raise InvalidInput(f"there is no profile {name!r}, and no file: {error.strerror}", remedy=remedy) from error
    except (ValidationError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidInput(f"{file} holds no profile: {reason}", remedy=remedy) from error
