"""The parse gate: what models write, and what is refused by name."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from graphmem.errors import ReplyRefused
from graphmem.language.gates import Shaped, parse, read
from graphmem.language.prompts import Insights, Questions, Ratings, Reconsidered

ANSWER = {"insights": [{"text": "Orla prefers the early shift", "evidence": [1, 2]}]}
JSON = json.dumps(ANSWER)


@pytest.mark.parametrize(
    "raw",
    [
        JSON,
        f"```json\n{JSON}\n```",
        f"```\n{JSON}",
        f"Here is what I found:\n\n{JSON}\n\nLet me know if you need more!",
        f"As [1] and [2] show {{as asked}}, the answer is:\n{JSON}",
        f"\ufeff  {JSON}  ",
        json.dumps(JSON),
        '{"insights": [{"text": "Orla prefers the early shift", "evidence": [1, 2,],},]}',
    ],
    ids=[
        "plain",
        "fence",
        "open fence",
        "chatter",
        "brackets in chatter",
        "byte order mark",
        "twice encoded",
        "commas",
    ],
)
def test_b01_json_in_fences_and_chatter_is_read(raw: str) -> None:
    assert parse(raw) == ANSWER


def test_b01_an_empty_list_in_a_fence_is_no_insight_and_no_error() -> None:
    shaped = read("```json\n[]\n```", Insights)
    assert shaped.value.insights == []
    assert shaped.refused == ()


def test_b02_control_characters_inside_strings_are_kept() -> None:
    shaped = read('{"insights": [{"text": "Orla\nprefers\tthe early shift", "evidence": [1]}]}', Insights)
    assert shaped.value.insights[0].text == "Orla\nprefers\tthe early shift"


@pytest.mark.parametrize(("escape", "named"), [(r"\u0000", "U+0000"), (r"\ud83e", "U+D83E")])
def test_b02_nul_and_lone_surrogates_are_refused_by_name_and_take_nothing_else(escape: str, named: str) -> None:
    raw = f'[{{"text": "Orla naps{escape}", "evidence": [1]}}, {{"text": "Tam naps at noon", "evidence": [2]}}]'
    shaped = read(raw, Insights)
    assert [insight.text for insight in shaped.value.insights] == ["Tam naps at noon"]
    (refused,) = shaped.refused
    assert refused.gate == "shape"
    assert named in refused.reason
    assert "insights.0.text" in refused.reason
    refused.item.encode("utf-8")


def test_b02_a_whole_emoji_written_as_escapes_is_kept() -> None:
    shaped = read(r'{"insights": [{"text": "Orla is happy \ud83e\udd17", "evidence": [1]}]}', Insights)
    assert shaped.value.insights[0].text == "Orla is happy 🤗"


@pytest.mark.parametrize(
    "cut", [JSON[:-1], JSON[:-5], JSON[:40], f"```json\n{JSON[:30]}", f"Sure!\n{JSON[:-2]}", f'{JSON}\n{{"insights": [']
)
def test_b04_truncated_json_is_refused_by_name_and_never_read_as_a_shorter_reply(cut: str) -> None:
    with pytest.raises(ReplyRefused, match="truncated") as refused:
        parse(cut)
    assert refused.value.gate == "parse"
    assert refused.value.remedy


def test_b04_every_cut_of_a_reply_is_refused() -> None:
    raw = json.dumps({"insights": [ANSWER["insights"][0], {"text": "Tam naps (at noon)", "evidence": [3]}]})
    for length in range(1, len(raw)):
        with pytest.raises(ReplyRefused):
            read(raw[:length], Insights)


def test_b06_the_bracketed_form_is_read() -> None:
    raw = (
        "Here are my insights:\n"
        "1. Klara cares about the mural (because of 1, 5, 3)\n"
        "2) Jonas bakes under pressure [because of observations 2 and 4].\n"
        "- The harbour is quiet (because of: 1-3)\n"
    )
    insights = read(raw, Insights).value.insights
    assert [(insight.text, insight.evidence) for insight in insights] == [
        ("Klara cares about the mural", [1, 5, 3]),
        ("Jonas bakes under pressure", [2, 4]),
        ("The harbour is quiet", [1, 2, 3]),
    ]


def test_b06_minus_signs_are_not_lost() -> None:
    (insight,) = read("Klara is tired (because of 0, -1)", Insights).value.insights
    assert insight.evidence == [0, -1]


@pytest.mark.parametrize("cited", ["1 to", "first two", "3-1", "1, 2, many", "1.5", "1-999999"])
def test_b06_what_cannot_be_read_completely_is_refused(cited: str) -> None:
    raw = f"1. Klara is tired (because of {cited})\n2. Jonas is awake (because of 2)"
    shaped = read(raw, Insights)
    assert [insight.text for insight in shaped.value.insights] == ["Jonas is awake"]
    assert "insights.0.evidence" in shaped.refused[0].reason


def test_b06_a_numbered_line_without_its_reason_fails_alone() -> None:
    shaped = read("1. Klara is tired (because of 1)\n2. Jonas is awake.\n3. Tom naps (because of 2)", Insights)
    assert [insight.text for insight in shaped.value.insights] == ["Klara is tired", "Tom naps"]
    assert shaped.refused[0].reason == "insights.1.evidence: the field is missing"


def test_b06_prose_without_brackets_is_refused() -> None:
    with pytest.raises(ReplyRefused, match="neither JSON nor"):
        parse("Klara is tired. Jonas is awake.")


@pytest.mark.parametrize(
    "raw", ["1. Klara is tired (because of 1, 2)\n2. Jonas is aw", "Klara is tired (because of 1,"]
)
def test_b04_a_bracketed_line_that_breaks_off_is_truncated(raw: str) -> None:
    with pytest.raises(ReplyRefused, match="truncated"):
        parse(raw)


@pytest.mark.parametrize("raw", ["", "   \n", "\ufeff"])
def test_an_empty_reply_is_refused_as_such(raw: str) -> None:
    with pytest.raises(ReplyRefused, match="empty"):
        parse(raw)


def test_deep_nesting_and_a_megabyte_are_refused_quickly() -> None:
    for raw in ["[" * 200_000, '{"a":' * 100_000, "[1," * 300_000, '{"' * 400_000, "(because of " * 80_000]:
        with pytest.raises(ReplyRefused):
            parse(raw)


def test_not_a_number_is_not_json() -> None:
    with pytest.raises(ReplyRefused):
        parse('{"ratings": [{"number": 1, "importance": NaN}]}')


def test_the_schema_beside_the_answer_is_passed_over() -> None:
    schema = json.dumps(Insights.model_json_schema())
    assert parse(f"Schema: {schema}\nAnswer: {JSON}") == ANSWER


_SCRAPS = st.sampled_from(
    [
        *["{", "}", "[", "]", '"', "\\", ",", ":", "```json\n", "(because of ", ")", "1", "-3", "null", "\n", "2. "],
        *["\ud83e", JSON, '"insights"', '"text"', '"evidence"', " . ", "é", "、", "３", "\x00"],
    ]
)
_JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["insights", "text", "evidence", "questions", "ratings", "number", "importance", "verdict"]
            ),
            children,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.lists(_SCRAPS, max_size=30).map("".join), st.text(), _JSON_VALUES.map(json.dumps)))
def test_fuzzed_replies_are_read_or_refused_and_nothing_else(raw: str) -> None:
    for reply_model in (Insights, Questions, Ratings, Reconsidered):
        shaped = _read_or_refused(raw, reply_model)
        if shaped is None:
            continue
        assert isinstance(shaped.value, reply_model)
        shaped.value.model_dump_json().encode("utf-8")
        for refused in shaped.refused:
            refused.item.encode("utf-8")
            refused.reason.encode("utf-8")


def _read_or_refused(raw: str, reply_model: type[BaseModel]) -> Shaped[BaseModel] | None:
    try:
        return read(raw, reply_model)
    except ReplyRefused as error:
        gate, reason = error.gate, str(error)
    assert gate in {"parse", "shape"}
    assert reason.encode("utf-8")
    return None


@settings(max_examples=200, deadline=None)
@given(_JSON_VALUES, st.integers(min_value=0, max_value=200))
def test_a_cut_object_is_never_accepted(value: object, at: int) -> None:
    raw = json.dumps({"insights": [{"text": "Orla naps", "evidence": [1]}, {"text": "x", "evidence": value}]})
    with pytest.raises(ReplyRefused):
        read(raw[: min(at, len(raw) - 1)], Insights)
