"""What the database does for a retrieval: no label scan, and no sort over all that an agent remembers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.cognition.retrieve import retrieve
from graphmem.graph.queries import queries
from graphmem.graph.store import Row
from graphmem.graph.values import encode
from graphmem.models import PAPER, RECALL, Profile

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MANY = 6_000
BLEND_LOOKS_AT = 2_500
FILTERED_BLEND_LOOKS_AT = 5_000
"""A blend scores two lists of 500 with their neighbours; filtered, of 2,000."""


@pytest.fixture(scope="module")
async def large(memory: AsyncMemory) -> AsyncAgent:
    """More memories than any list of candidates takes."""
    agent = memory.agent(f"profiled-{uuid4().hex}")
    await agent.observe_many(
        [
            {"text": f"the bell rings {n}", "place": "mill" if n % 500 == 7 else "quay", "importance": 1 + n % 10,
             "source": "Ada" if n % 2 else "Mo", "kind": "fact" if n % 3 else "event",
             "session": f"s{n // 50}", "occurred_at": T - timedelta(hours=n)}
            for n in range(MANY)
        ],
        now=T,
    )  # fmt: skip
    return agent


class Recording:
    """The store, keeping what it was asked."""

    def __init__(self, engine: Any) -> None:
        self._store, self.asked = engine.store, list[tuple[str, Row]]()

    async def query(self, name: str, **parameters: Any) -> list[Row]:
        self.asked.append((name, parameters))
        return await self._store.query(name, **parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def walk(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("children", []):
        yield from walk(child)


async def profiled(memory: AsyncMemory, name: str, parameters: Row) -> list[dict[str, Any]]:
    """The operators of a statement that was run, with the rows each gave."""
    store = memory._engine.store
    async with store._driver.session(database=store.database) as session:
        result = await session.run(f"PROFILE {queries[name].text}", encode(parameters))
        summary = await result.consume()
    assert summary.profile is not None
    return list(walk(summary.profile))


async def statements(memory: AsyncMemory, agent: AsyncAgent, profile: Profile, **filters: Any) -> list[tuple[str, Row]]:
    """What one retrieval runs."""
    from dataclasses import replace

    recording = Recording(memory._engine)
    engine = replace(memory._engine, store=recording)  # pyright: ignore[reportArgumentType]
    hits = await retrieve(engine, agent.id, "bell 17", profile=profile, touch=False, now=T, **filters)
    assert hits
    return recording.asked


@pytest.mark.parametrize(
    ("profile", "filters", "most"),
    [
        (PAPER, {}, MANY // 2),
        (PAPER, {"source": "Ada"}, MANY // 2),
        (PAPER, {"kinds": ["fact"]}, MANY // 2),
        (PAPER, {"place": "mill"}, MANY // 2),
        (PAPER, {"since": T - timedelta(hours=9)}, MANY // 2),
        (RECALL, {}, BLEND_LOOKS_AT),
        (RECALL, {"place": "mill"}, FILTERED_BLEND_LOOKS_AT),
    ],
)
async def test_nothing_is_scanned_and_not_all_are_sorted(
    memory: AsyncMemory, large: AsyncAgent, profile: Profile, filters: dict[str, Any], most: int
) -> None:
    asked = await statements(memory, large, profile, **filters)
    assert any(name in ("retrieve/score", "retrieve/blend") for name, _ in asked)
    for name, parameters in asked:
        for operator in await profiled(memory, name, parameters):
            kind = operator["operatorType"].split("@")[0]
            details = operator["args"].get("Details", "")
            assert not kind.endswith(("NodeByLabelScan", "AllNodesScan", "NodeIndexScan")) or "Agent" in details, name
            if "Sort" in kind or kind.startswith("Top"):
                sorted_rows = sum(child.get("rows", 0) for child in operator.get("children", []))
                assert sorted_rows <= most, (name, kind, details)


async def test_the_profile_sees_a_sort_over_all(memory: AsyncMemory, large: AsyncAgent) -> None:
    """That the check above can fail: a statement that sorts everything is seen."""
    store = memory._engine.store
    async with store._driver.session(database=store.database) as session:
        result = await session.run(
            "PROFILE MATCH (m:Memory {agentId: $agentId}) RETURN m.id AS id ORDER BY m.importance * 2 LIMIT 10",
            agentId=large.id,
        )
        summary = await result.consume()
    assert summary.profile is not None
    rows = [
        sum(child.get("rows", 0) for child in operator["children"])
        for operator in walk(summary.profile)
        if operator["operatorType"].startswith(("Top", "Sort"))
    ]
    assert max(rows) == MANY
