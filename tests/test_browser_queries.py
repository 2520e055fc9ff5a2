"""The ready queries for Neo4j Browser: filled in for any id, and each shows what it says."""

from __future__ import annotations

import re

import neo4j
import pytest

from graphmem import Memory
from graphmem.graph.browser import browser_address, browser_queries, browser_query
from graphmem.graph.queries import parse, queries
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


def forms() -> list[str]:
    """Every ready query as it is pasted: for one agent, for two, for all."""
    found: list[str] = []
    for name in browser_queries():
        parameters = queries[f"browser/{name}"].parameters
        many = [(), ("ines",), ("ines", "tobias")] if "agentIds" in parameters else [("ines",)]
        found += [browser_query(name, agents=agents, id="d1-0645" if "id" in parameters else None) for agents in many]
    return found


@pytest.mark.parametrize("text", forms(), ids=lambda text: text.splitlines()[0][:60])
def test_what_a_person_pastes_can_be_read(text: str, settings: Settings) -> None:
    """Nothing in it is for the planner or for a program, and the server takes it as it stands, on one line too."""
    assert not re.search(r"USING|HINT|\[\]|\$|CYPHER|\btrue\b|IS NULL OR", text)
    assert max(map(len, text.splitlines())) <= 100
    assert settings.password is not None
    with neo4j.GraphDatabase.driver(
        str(settings.uri), auth=(settings.user, settings.password.get_secret_value())
    ) as driver:
        for statement in (text, " ".join(text.split())):
            driver.execute_query(f"EXPLAIN {statement}")  # pyright: ignore[reportArgumentType]


def test_no_agent_named_means_all_and_one_named_only_that_one(
    settings: Settings, sync_memory: Memory, agent_id: str
) -> None:
    ids = [f"{agent_id}-a", f"{agent_id}-b"]
    for id_ in ids:
        agent = sync_memory.agent(id_)
        agent.observe("The kite is red.", id="k", importance=3, source="Mo", kind="utterance")
        agent.supersede("k", text="The kite is blue.", reason="seen in the light")
    assert settings.password is not None
    with neo4j.GraphDatabase.driver(
        str(settings.uri), auth=(settings.user, settings.password.get_secret_value())
    ) as driver:
        for name, path in (("beliefs", "path"), ("heard", "said")):
            for agents, shown in ((ids, ids), (ids[:1], ids[:1]), ((), ids)):
                # All agents of a shared server may have more than the 300 that are drawn.
                text = browser_query(name, agents=agents).replace("LIMIT 300", "LIMIT 1000000")
                rows = driver.execute_query(text).records  # pyright: ignore[reportArgumentType]
                found = {node["agentId"] for row in rows for node in row[path].nodes}
                assert found == set(shown) if agents else found >= set(shown)
