"""JSON lines: what is read, what is refused and how it is named."""

import io
import json

import pytest

from graphmem.errors import InvalidInput
from graphmem.interfaces.jsonlines import MAX_LINE, Line, read_lines


def read(data: bytes) -> list[Line]:
    return list(read_lines(io.BytesIO(data)))


def refusal(line: bytes) -> str:
    [read_] = read(line)
    assert read_.item is None
    return read_.refusal


def test_every_field_is_read() -> None:
    fields = {
        "id": "D1:1",
        "text": "Hey Evan",
        "occurred_at": "2023-05-18T13:47:00Z",
        "source": "Sam",
        "session": "1",
        "kind": "utterance",
        "importance": 7,
        "place": "home",
        "subject": "Sam",
        "predicate": "greets",
        "object": "Evan",
        "keywords": ["hello"],
        "key": "Sam's greeting",
    }
    [line] = read(json.dumps(fields).encode())
    assert line.item is not None
    assert line.item.model_dump(mode="json") == fields


def test_mark_blank_lines_and_line_ends_are_harmless() -> None:
    data = b'\xef\xbb\xbf{"id": "a", "text": "x"}\r\n\r\n   \n{"id": "b", "text": "y"}'
    lines = read(data)
    assert [(line.number, line.item.id) for line in lines if line.item] == [(1, "a"), (4, "b")]
    assert lines[-1].end == len(data)


def test_a_file_of_nothing_gives_nothing() -> None:
    assert read(b"") == []
    assert read(b"\xef\xbb\xbf") == []
    assert read(b"\n\n") == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"text": "x"', "is not JSON: "),
        (b"not json", "is not JSON: "),
        (b'["a"]', "is not a JSON object but a list"),
        (b'"text"', "is not a JSON object but a string"),
        (b"null", "is not a JSON object but null"),
        (b"3", "is not a JSON object but a number"),
        (b'{"text": "caf\xe9"}', "is not UTF-8: byte 0xe9 at 14"),
        (b'{"text": ""}', "text: is empty or blank"),
        (b'{"text": " \\n "}', "text: is empty or blank"),
        (b'{"text": 5}', "text: "),
        (b"{}", "text: "),
        (b'{"text": "x", "importance": 11}', "importance: "),
        (b'{"text": "x", "importance": 0}', "importance: "),
        (b'{"text": "x", "importance": "9"}', "importance: is not a number"),
        (b'{"text": "x", "importance": true}', "importance: is not a number"),
        (b'{"text": "x", "importance": NaN}', "NaN is not a number in JSON"),
        (b'{"text": "x", "importance": -Infinity}', "-Infinity is not a number in JSON"),
        (b'{"text": "x", "occurred_at": "2023-05-18T13:47:00"}', "occurred_at: the time"),
        (b'{"text": "x", "occurred_at": "yesterday"}', "occurred_at: "),
        (b'{"text": "x", "kind": "insight"}', "kind: "),
        (b'{"text": "x", "mood": "good"}', "mood: "),
        (b'{"text": "x", "text": "y"}', "text: is given twice"),
        (b'{"text": "nul \\u0000"}', "text: holds the character U+0000"),
        (b'{"text": "half \\ud83e emoji"}', "text: "),
        (b'{"text": "x", "id": "' + b"i" * 513 + b'"}', "id: "),
        (b'{"text": "' + b"x" * 100_001 + b'"}', "text: "),
        (b'{"text": ' + b"[" * 100_000, "is not JSON"),
        (b'{"text": "x", "importance": ' + b"9" * 5_000 + b"}", "is not JSON"),
    ],
    ids=lambda value: value[:40] if isinstance(value, bytes) else "",
)
def test_refused_lines_say_why(line: bytes, words: str) -> None:
    assert refusal(line).startswith(words)


def test_what_is_refused_does_not_touch_the_others() -> None:
    lines = read(b'{"text": "a"}\n\xff\xff\n{bad\n{"text": "b"}\n')
    assert [line.number for line in lines if line.item] == [1, 4]
    assert [line.number for line in lines if not line.item] == [2, 3]


def test_a_line_that_is_too_long_is_skipped_without_being_kept() -> None:
    huge = b'{"text": "' + b"x" * (3 * MAX_LINE) + b'"}\n'
    lines = read(huge + b'{"text": "after"}\n')
    assert lines[0].refusal == f"is {len(huge):,} bytes long, at most {MAX_LINE:,} are read"
    assert lines[1].item is not None
    assert lines[1].number == 2


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_the_longest_line(extra: int) -> None:
    line = b'{"text": "x"' + b" " * (MAX_LINE + extra - 14) + b"}\n"
    assert len(line) == MAX_LINE + extra
    [first, second] = read(line + b'{"text": "y"}')
    assert (first.item is None) == (extra > 0)
    assert second.item is not None


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_refused_as_a_whole(encoding: str) -> None:
    with pytest.raises(InvalidInput, match="UTF-16"):
        read("\ufeff".encode(encoding) + '{"text": "x"}\n'.encode(encoding))


def test_lines_without_an_id_get_one_from_their_content() -> None:
    lines = read(
        b'{"text": "a", "source": "Sam"}\n'
        b'{"source": "Sam", "text": "a", "kind": "event"}\n'
        b'{"text": "a"}\n'
        b'{"text": "a", "occurred_at": "2023-05-18T13:00:00Z"}\n'
        b'{"text": "a", "occurred_at": "2023-05-18T15:00:00+02:00"}\n'
    )
    ids = [line.item.id for line in lines if line.item]
    assert len(ids) == 5
    assert ids[0] == ids[1]
    assert ids[3] == ids[4]
    assert len(set(ids)) == 3
