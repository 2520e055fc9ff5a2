"""The query files: loaded, all used, all valid on the server, all within one agent's scope."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from graphmem import AsyncMemory
from graphmem.graph.queries import Queries, parse, queries

ROOT = Path(__file__).parents[1]
UNSCOPED = ("schema/", "browser/")
"""Areas whose statements are about the whole database, or for people."""
MEMORY_LABELS = re.compile(r":(Memory|Observation|Reflection|Plan)\b")


def test_parameters_are_found_outside_strings_comments_and_quoted_names() -> None:
    query = parse(
        "some/name",
        "// What it does, $notThis\n// Returns: x\nMATCH (n {a: $first}) // $second\n"
        "WHERE n.b = '$third \\' $fourth' AND n.`$fifth` = \"$sixth\" /* $seventh\n$eighth */ RETURN $ninth",
    )
    assert query.parameters == {"first", "ninth"}
    assert query.description == "What it does, $notThis\nReturns: x"
    assert query.text.startswith("CYPHER 25\nMATCH")


def test_missing_and_unknown_parameters_are_named_before_sending() -> None:
    query = parse("a/b", "RETURN $x, $y")
    query.check({"x": 1, "y": None})
    with pytest.raises(TypeError, match=r"a/b: missing parameters \['y'\], unknown parameters \['z'\]"):
        query.check({"x": 1, "z": 2})


def test_what_a_statement_promises_is_read_from_what_it_says() -> None:
    query = parse(
        "a/b",
        "// Some of it. Not this STRING.\n// Returns: id, name STRING (of a, b STRING), at ZONED\n"
        "// DATETIME or null, memory MAP {id STRING}\n// or null; edge MAP or empty, labels LIST<STRING>, first\n"
        "RETURN 1",
    )
    assert query.columns == {
        "id": True, "name": True, "at": False, "memory": False, "edge": False, "labels": True
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "whole"),
    [
        ({"id": "x", "run": {"id": "y"}, "end": None}, True),
        ({"id": "", "run": {"id": None, "verb": "reflect"}, "end": None}, True),
        ({"id": None, "run": {"id": "y"}, "end": None}, False),
        ({"id": "x", "run": {}, "end": 1}, False),
        ({"id": "x", "run": {"embedding": None}, "end": 1}, False),
        ({"id": "x", "run": None, "end": 1}, False),
    ],
)
def test_a_row_is_whole_where_all_that_is_promised_has_a_value(row: dict[str, Any], whole: bool) -> None:
    query = parse("a/b", "// Returns: id STRING, run MAP, end INTEGER or null\nRETURN 1")
    assert query.whole(row) is whole


def test_a_folder_without_queries_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no query files"):
        len(Queries(tmp_path))


def test_every_file_is_used_by_the_code() -> None:
    source = "\n".join(path.read_text() for path in (ROOT / "graphmem").rglob("*.py"))
    unused = [name for name in queries if not name.startswith((*UNSCOPED, "check/")) and f'"{name}"' not in source]
    assert not unused


def test_every_query_that_the_code_names_exists() -> None:
    source = "\n".join(path.read_text() for path in (ROOT / "graphmem").rglob("*.py"))
    named = set(re.findall(r'\.(?:run|one|query|schema)\(\s*"([a-z_]+/[a-z0-9_-]+)"', source))
    assert len(named) > 20
    assert not named - set(queries)


def test_every_statement_that_touches_memories_is_scoped_by_agent() -> None:
    scoped = [
        name for name, query in queries.items() if MEMORY_LABELS.search(query.text) and not name.startswith(UNSCOPED)
    ]
    assert len(scoped) > 20
    assert [name for name in scoped if "agentId" not in queries[name].parameters] == []


def test_every_file_says_what_it_is_for() -> None:
    assert [name for name, query in queries.items() if not query.description] == []


def test_no_statement_ends_in_a_semicolon_or_holds_two() -> None:
    assert [name for name, query in queries.items() if ";" in re.sub(r"'[^']*'|//[^\n]*", "", query.text)] == []


def operators(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The operators of a plan with their details."""
    yield plan["operatorType"].split("@")[0], plan["args"].get("Details", "")
    for child in plan.get("children", []):
        yield from operators(child)


@pytest.fixture(scope="module")
async def inhabited(memory: AsyncMemory) -> AsyncMemory:
    """A store with an agent that has observed, reflected and learned better, among others: plans depend on them."""
    for _ in range(8):
        other = memory.agent(f"plans-{uuid4().hex[:8]}")
        await other.observe_many([{"text": f"Jun counts the tiles, row {n}", "importance": 3} for n in range(150)])
    agent = memory.agent(f"plans-{uuid4().hex[:8]}")
    await agent.observe_many([{"text": f"Klara paints the mural, part {n}", "id": f"p{n}"} for n in range(20)])
    await agent.reflect(force=True)
    await agent.supersede("p3", text="Klara paints the boat")
    store = memory._engine.store
    async with store._driver.session(database=store.database) as session:
        # A plan is kept for some seconds that other tests had made where there was nearly nothing.
        await (await session.run("CALL db.clearQueryCaches()")).consume()
    return memory


@pytest.mark.parametrize("name", sorted(name for name in queries if not name.startswith("schema/")))
async def test_every_statement_passes_explain_and_reads_by_index(inhabited: AsyncMemory, name: str) -> None:
    """Without parameters: EXPLAIN plans a statement and does not run it."""
    store = inhabited._engine.store
    if "SHOW INDEXES" in queries[name].text:
        assert {*(await store.query(name))[0]} == {*queries[name].columns}  # SHOW has no plan; it is run.
        return
    async with store._driver.session(database=store.database) as session:
        result = await session.run(f"EXPLAIN {queries[name].text}")
        columns = result.keys()
        plan = (await result.consume()).plan
    assert {*columns} == {*queries[name].columns}, "what it returns is not what it says that it returns"
    assert plan is not None
    if name.startswith("check/"):
        return  # Checks read everything.
    scans = [
        (operator, details)
        for operator, details in operators(plan)
        if operator.endswith("Scan") and not any(few in details for few in ("Agent", "Schema", "Simulation"))
    ]
    if name.startswith("browser/"):
        # They carry no hints, so that people can read them: the planner may begin at a relationship that is rare.
        scans = [(operator, details) for operator, details in scans if "Relationship" not in operator]
    assert scans == []
