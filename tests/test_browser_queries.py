"""The ready queries for Neo4j Browser: filled in for any id, and each shows what it says."""

from __future__ import annotations

import neo4j
import pytest

from graphmem.graph.browser import browser_address
from graphmem.graph.queries import parse
from graphmem.settings import Settings

HOSTILE = [
    "o'brien",
    'a "b" `c`',
    "back\\slash \\u0041",
    "two\nlines\ttab",
    "a  b   c ",
    "x&cmd=play#top?arg=1+1%41%",
    "$id // comment /* no */",
    "😀 \U0001f1e6 \u202e\u200b\x07",
    "'] DETACH DELETE n //",
]


@pytest.mark.parametrize("value", HOSTILE)
def test_values_arrive_as_they_are(value: str, settings: Settings) -> None:
    query = parse("some/query", "// What it does\nMATCH (n)\nRETURN $one AS one, $many AS many, '$one' AS text LIMIT 1")
    filled = query.filled({"one": value, "many": [value, "", value]})
    assert "\nRETURN '" in filled
    assert not set(filled) & set("&#\t\x07\u202e")
    assert settings.password is not None
    with neo4j.GraphDatabase.driver(
        str(settings.uri), auth=(settings.user, settings.password.get_secret_value())
    ) as driver:
        for statement in (filled, " ".join(filled.split())):
            (row,) = driver.execute_query(statement.replace("MATCH (n)", "")).records  # pyright: ignore[reportArgumentType]
            assert (row["one"], row["many"], row["text"]) == (value, [value, "", value], "$one")
    assert browser_address("http://h/browser/?dbms=bolt://h:1", filled).count("&") == 2
