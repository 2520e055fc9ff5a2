"""Indexes that are filling, failed or gone: a named error or a wait that ends, never an answer of nothing."""

from __future__ import annotations

import asyncio
import time

import neo4j
import pytest

from graphmem import AsyncMemory
from graphmem.errors import IndexUnavailable
from graphmem.graph.queries import queries
from graphmem.models import RECALL
from graphmem.settings import Settings
from graphmem.testing import HashingEmbedder

pytestmark = pytest.mark.faults
MANY = 1_000
BOUND = 60
"""Seconds in which an index must have filled."""


def creation(name: str) -> str:
    """The statement that makes an index."""
    return next(
        query.text for step, query in queries.items() if step.startswith("schema/") and f"INDEX {name} " in query.text
    )


async def make_again(driver: neo4j.AsyncDriver, name: str) -> None:
    await driver.execute_query(creation(name), {"dimension": 8, "analyzer": "english"})


@pytest.mark.report("B33")
@pytest.mark.parametrize("index", ["memoryEmbedding", "memoryText"])
async def test_an_index_that_goes_while_the_memory_is_open_is_an_error_and_back_again(
    throw_away: Settings, bare: neo4j.AsyncDriver, index: str
) -> None:
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)) as memory:
        agent = memory.agent("a")
        await agent.observe_many([f"The lamp {n} is lit" for n in range(MANY)])
        await bare.execute_query(f"DROP INDEX {index}")
        with pytest.raises(IndexUnavailable) as caught:
            await agent.retrieve("lamp 7", profile=RECALL)
        assert caught.value.remedy
        # Filling again: an error or everything, never a part that passes for all.
        await make_again(bare, index)
        deadline = time.monotonic() + BOUND
        hits = None
        while hits is None:
            try:
                hits = await agent.retrieve("lamp 7", profile=RECALL, touch=False)
            except IndexUnavailable:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.05)
        assert "The lamp 7 is lit" in [hit.memory.text for hit in hits]


@pytest.mark.report("B33", "B19")
async def test_an_index_that_failed_is_named_at_the_opening(throw_away: Settings, bare: neo4j.AsyncDriver) -> None:
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)):
        pass
    (record,) = (
        await bare.execute_query("SHOW INDEXES YIELD name WHERE name STARTS WITH 'memorySource' RETURN name")
    ).records
    name = record["name"]
    await bare.execute_query(f"DROP INDEX {name}")
    # No index takes a value as long as this; graphmem itself stores none that long under an indexed property.
    await bare.execute_query(
        "CREATE (:Memory:Observation {agentId: 'a', id: 'x', source: $long, occurredAt: datetime()})",
        {"long": "x" * 40_000},
    )
    await make_again(bare, name)
    with pytest.raises(IndexUnavailable, match=rf"failed: {name}") as caught:
        await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8))
    assert "drop them and open the store again" in caught.value.remedy
    await bare.execute_query("MATCH (m:Memory {agentId: 'a', id: 'x'}) DELETE m")
    await bare.execute_query(f"DROP INDEX {name}")
    await bare.execute_query("MATCH (s:GraphmemSchema) SET s.version = 0")
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)) as memory:
        await memory.agent("a").observe("as the remedy says")


@pytest.mark.report("B33")
async def test_opening_waits_until_the_indexes_have_filled(throw_away: Settings, bare: neo4j.AsyncDriver) -> None:
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)) as memory:
        await memory.agent("a").observe_many([f"The lamp {n} is lit" for n in range(MANY)])
    await bare.execute_query("DROP INDEX memoryEmbedding")
    await make_again(bare, "memoryEmbedding")
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)) as memory:
        hits = await memory.agent("a").retrieve("The lamp 7 is lit", k=1)
        assert [hit.memory.text for hit in hits] == ["The lamp 7 is lit"]
        assert hits[0].relevance.raw == pytest.approx(1, abs=1e-3)
