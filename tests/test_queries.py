"""The query files: loaded, all used, all valid on the server, all within one agent's scope."""

from __future__ import annotations

import re
from pathlib import Path

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


@pytest.mark.parametrize("name", sorted(name for name in queries if not name.startswith("schema/")))
async def test_every_statement_passes_explain_on_the_server(memory: AsyncMemory, name: str) -> None:
    """Without parameters: EXPLAIN plans a statement and does not run it."""
    query = queries[name]
    if "SHOW INDEXES" in query.text:
        assert await memory._engine.store.query(name)  # SHOW has no plan; it is run.
        return
    driver = memory._engine.store._driver
    async with driver.session(database=memory.settings.database) as session:
        result = await session.run(f"EXPLAIN {query.text}")
        summary = await result.consume()
    assert summary.plan is not None
