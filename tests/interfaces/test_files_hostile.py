"""Files of other programs, of questions and of raters, with anything in them: taken over, or refused in a line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from graphmem import Memory
from graphmem.errors import InvalidInput
from graphmem.interfaces.foreign import Format, read_foreign
from graphmem.interfaces.interviews import read_rankings
from graphmem.interfaces.questions import read_questions
from graphmem.models.interviews import CONDITIONS
from tests.hostile import EXAMPLES, PIECES, TEXTS, can_be_kept, told
from tests.interfaces.conftest import RunCli

AT = "2025-03-01T10:00:00Z"
ODD = st.one_of(
    TEXTS,
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.lists(TEXTS, max_size=2),
    st.dictionaries(TEXTS, TEXTS, max_size=2),
    st.just("x" * 1_000_000),
)
"""What may stand where a text belongs."""
FORMATS: dict[Format, Any] = {
    "mem0": {
        "results": [{"id": "m1", "memory": "Ana prefers tea", "user_id": "ana", "run_id": "r", "created_at": AT}],
        "relations": [{"source": "ana", "relationship": "works_at", "target": "the mill", "user_id": "ana"}],
    },
    "letta": {
        "agents": [
            {
                "name": "sam",
                "timezone": "Europe/Berlin",
                "block_ids": ["b1"],
                "messages": [{"id": "t1", "role": "user", "content": "I am Sam", "created_at": AT, "name": "Sam"}],
            }
        ],
        "blocks": [{"id": "b1", "label": "human", "value": "Sam sails"}],
    },
    "zep": {
        "episodes": [
            {"uuid": "e1", "content": "The ferry is late", "source": "message", "role": "Ana", "group_id": "zep",
             "created_at": AT, "valid_at": AT, "name": "n", "thread_id": "t"},
        ]
    },
}  # fmt: skip
WITHIN = {"mem0": ("results", "relations"), "letta": ("agents", "blocks"), "zep": ("episodes",)}
hostile = settings(
    max_examples=10 * EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def places_of(data: Any) -> list[tuple[Any, Any]]:
    """Where a value stands: what holds it, and under what."""
    found: list[tuple[Any, Any]] = []
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        found.append((data, key))
        if isinstance(value, dict | list):
            found += places_of(value)
    return found


@hostile
@given(format=st.sampled_from(list(FORMATS)), place=st.integers(0, 1_000), odd=ODD)
@example(format="mem0", place=8, odd="\ud83e")
@example(format="letta", place=4, odd=[["b1"]])
def test_whatever_stands_in_a_file_of_another_program(tmp_path: Path, format: Format, place: int, odd: object) -> None:
    """One value of it is something else: the rest is taken over, or the file is refused, in a line."""
    data = json.loads(json.dumps(FORMATS[format]))
    where = places_of(data)
    holder, key = where[place % len(where)]
    holder[key] = odd
    file = tmp_path / "file.json"
    file.write_text(json.dumps(data), "utf-8")
    try:
        people = read_foreign(file, format, agent="somebody")
    except InvalidInput as refused:
        told(refused)
        return
    for foreign, given_ in people:
        assert can_be_kept(foreign.agent_id)
        assert given_.memories or foreign.left_out or format == "letta"
        for item in given_.memories:
            assert can_be_kept(item.text)
            assert "None" not in item.text


@pytest.mark.parametrize("piece", [piece for piece in PIECES if piece.strip()] + ["x" * 100_001])
def test_texts_are_taken_over_as_they_are_or_left_out(tmp_path: Path, piece: str) -> None:
    file = tmp_path / "file.json"
    for format, at in {"mem0": ("results", "memory"), "zep": ("episodes", "content")}.items():
        data = json.loads(json.dumps(FORMATS[cast("Format", format)]))
        data[at[0]].append(data[at[0]][0] | {"id": "x", "uuid": "x", at[1]: piece})
        file.write_text(json.dumps(data), "utf-8")
        ((foreign, given_),) = read_foreign(file, cast("Format", format))
        kept = [item.text for item in given_.memories if item.id == "x"]
        good = can_be_kept(piece) and len(piece) <= 100_000
        assert kept == ([piece] if good else [])
        assert len(foreign.left_out) == (not good)
        assert not foreign.left_out or len(foreign.left_out[0]) < 1_000


def test_one_bad_name_among_agents_stops_the_import_before_the_first(
    cli: RunCli, sync_memory: Memory, tmp_path: Path
) -> None:
    good, file = f"ana-{uuid4().hex}", tmp_path / "file.json"
    for bad in ("a\0b", "\ud83e", "x" * 513):
        items = [{"id": f"m{n}", "memory": "Ana prefers tea", "user_id": who, "created_at": AT}
                 for n, who in enumerate((good, bad))]  # fmt: skip
        file.write_text(json.dumps(items), "utf-8")
        done = cli("import", str(file), "--format", "mem0")
        assert (done.code, done.out) == (1, "")
        assert done.complaints.startswith("error: agent: ")
        assert good not in {agent.id for agent in sync_memory.agents()}


def test_a_relation_without_an_end_or_a_date_that_cannot_be_read_costs_no_other(tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    data = json.loads(json.dumps(FORMATS["mem0"]))
    data["results"].append({"id": "m2", "memory": "Ana sails", "user_id": "ana", "created_at": "some day"})
    data["relations"].append({"source": "ana", "relationship": "knows", "user_id": "ana"})
    file.write_text(json.dumps(data), "utf-8")
    ((foreign, given_),) = read_foreign(file, "mem0")
    assert [item.text for item in given_.memories] == ["Ana prefers tea", "ana works at the mill"]
    assert [told.split(":")[0] for told in foreign.left_out] == ["memory 2", "relation 2"]


@hostile
@given(odd=ODD, text=TEXTS)
@example(odd={"1": {"A": "full"}}, text="a\u2028b")
@example(odd="\0", text="[" * 100_000)
def test_questions_and_rankings_with_anything_in_them(tmp_path: Path, odd: object, text: str) -> None:
    questions = tmp_path / "questions.jsonl"
    asked = {"query": text, "relevant": ["o1"]}
    questions.write_text(json.dumps(asked, ensure_ascii=not can_be_kept(text)) + "\n", "utf-8")
    if can_be_kept(text):
        assert [question.query for question in read_questions(questions)] == [text]
    else:
        with pytest.raises(InvalidInput, match="line 1"):
            read_questions(questions)
    key, rankings = tmp_path / "key.json", tmp_path / "rankings.csv"
    letters = dict(zip("ABCD", CONDITIONS, strict=True))
    row = io.StringIO()
    csv.writer(row).writerows([["rater", "question", *"ABCD"], [text, "1", 1, 2, 3, 4]])
    good = can_be_kept(text) and "\r" not in text
    rankings.write_text(row.getvalue(), "utf-8", errors="replace", newline="")
    for conditions in ({"1": letters}, odd, {"1": odd}, {"1": letters | {"B": odd}}):
        key.write_text(json.dumps({"conditions": conditions}), "utf-8")
        try:
            found = read_rankings(rankings, key)
        except InvalidInput as refused:
            told(refused)
            if good and conditions == {"1": letters}:
                raise
        else:
            assert [sorted(ranks) for ranks in found] == [sorted(CONDITIONS)]
