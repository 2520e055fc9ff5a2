"""Opening a store: the schema is made once, races are safe, and what does not fit is refused by name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import neo4j
import pytest
from pydantic import SecretStr

from graphmem import AsyncMemory
from graphmem.errors import AuthenticationFailed, IndexUnavailable, SchemaMismatch, StoreError, StoreUnavailable
from graphmem.graph.schema import current_version, index_names
from graphmem.settings import Settings
from graphmem.testing import HashingEmbedder

pytestmark = pytest.mark.slow


@pytest.fixture
async def bare(throw_away: Settings) -> AsyncIterator[neo4j.AsyncDriver]:
    """A driver on that server, emptied of everything, indexes and constraints included."""
    assert throw_away.uri is not None
    assert throw_away.password is not None
    async with neo4j.AsyncGraphDatabase.driver(
        throw_away.uri, auth=("neo4j", throw_away.password.get_secret_value())
    ) as driver:
        await driver.execute_query("MATCH (n) DETACH DELETE n")
        for kind, show in (("CONSTRAINT", "SHOW CONSTRAINTS"), ("INDEX", "SHOW INDEXES WHERE type <> 'LOOKUP'")):
            for record in (await driver.execute_query(f"{show} YIELD name" if kind == "CONSTRAINT" else show)).records:
                await driver.execute_query(f"DROP {kind} `{record['name']}` IF EXISTS")
        yield driver


async def names(driver: neo4j.AsyncDriver) -> set[str]:
    return {record["name"] for record in (await driver.execute_query("SHOW INDEXES")).records}


async def test_the_schema_is_made_at_the_first_opening_and_recorded(
    throw_away: Settings, bare: neo4j.AsyncDriver
) -> None:
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)):
        assert index_names() <= await names(bare)
    (record,) = (await bare.execute_query("MATCH (s:GraphmemSchema) RETURN s {.*} AS s")).records
    assert record["s"]["version"] == current_version()
    assert (record["s"]["embeddingModel"], record["s"]["dimension"]) == ("hashing-8", 8)


async def test_first_starts_at_once_make_one_schema(throw_away: Settings, bare: neo4j.AsyncDriver) -> None:
    memories = await asyncio.gather(
        *(AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)) for _ in range(6))
    )
    for memory in memories:
        await memory.close()
    (record,) = (await bare.execute_query("MATCH (s:GraphmemSchema) RETURN s.version AS v")).records
    assert record["v"] == current_version()


async def test_b16_another_dimension_or_model_is_refused_with_both(
    throw_away: Settings, bare: neo4j.AsyncDriver
) -> None:
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)) as memory:
        await memory.agent("a").observe_many([f"note {n}" for n in range(5)])
    with pytest.raises(SchemaMismatch, match=r"hashing-8 \(8 dimensions\).*hashing-12 \(12 dimensions\)") as caught:
        await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(12))
    assert "GRAPHMEM_EMBEDDING" in caught.value.remedy
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)) as memory:
        assert len(await memory.agent("a").retrieve("note")) == 5


async def test_racing_first_starts_with_different_models_agree_on_one(
    throw_away: Settings, bare: neo4j.AsyncDriver
) -> None:
    outcomes = await asyncio.gather(
        *(AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(n)) for n in (8, 12)), return_exceptions=True
    )
    opened = [outcome for outcome in outcomes if isinstance(outcome, AsyncMemory)]
    assert len(opened) == 1
    assert [type(o) for o in outcomes if not isinstance(o, AsyncMemory)] == [SchemaMismatch]
    await opened[0].close()


async def test_another_analyzer_can_be_chosen_when_the_store_is_made_and_only_then(
    throw_away: Settings, bare: neo4j.AsyncDriver
) -> None:
    german = throw_away.model_copy(update={"analyzer": "german"})
    async with await AsyncMemory.open(settings=german, embedder=HashingEmbedder(8)) as memory:
        await memory.agent("a").observe("Die Häuser am Hafen sind rot")
    query = "SHOW INDEXES YIELD name, options WHERE name = 'memoryText' RETURN options"
    (record,) = (await bare.execute_query(query)).records
    assert record["options"]["indexConfig"]["fulltext.analyzer"] == "german"
    found = "CALL db.index.fulltext.queryNodes('memoryText', 'haus') YIELD node RETURN node.text AS text"
    assert [record["text"] for record in (await bare.execute_query(found)).records] == ["Die Häuser am Hafen sind rot"]
    with pytest.raises(SchemaMismatch, match="'german', not 'english'") as caught:
        await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8))
    assert "GRAPHMEM_ANALYZER=german" in caught.value.remedy


async def test_a_newer_schema_is_refused(throw_away: Settings, bare: neo4j.AsyncDriver) -> None:
    await bare.execute_query(
        "CREATE (:GraphmemSchema {name: 'graphmem', version: 99, embeddingModel: 'hashing-8', dimension: 8})"
    )
    with pytest.raises(SchemaMismatch, match="version 99") as caught:
        await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8))
    assert "upgrade graphmem" in caught.value.remedy


async def test_an_older_schema_is_brought_up_to_date(throw_away: Settings, bare: neo4j.AsyncDriver) -> None:
    await bare.execute_query(
        "CREATE (:GraphmemSchema {name: 'graphmem', version: 3, embeddingModel: 'hashing-8', dimension: 8})"
    )
    for name in ("agentId", "memoryId", "changeSeq", "schemaName"):
        on = {"agentId": "Agent", "memoryId": "Memory", "changeSeq": "Change", "schemaName": "GraphmemSchema"}[name]
        await bare.execute_query(f"CREATE CONSTRAINT {name} FOR (n:{on}) REQUIRE n.x{name} IS UNIQUE")
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)):
        pass
    (record,) = (await bare.execute_query("MATCH (s:GraphmemSchema) RETURN s.version AS v")).records
    assert record["v"] == current_version()


async def test_a_schema_change_that_was_cut_off_is_taken_over_when_its_lease_ends(
    throw_away: Settings, bare: neo4j.AsyncDriver
) -> None:
    await bare.execute_query(
        "CREATE (:GraphmemSchema {name: 'graphmem', version: 0, embeddingModel: 'hashing-8', dimension: 8, "
        "leaseToken: 'dead', leaseUntil: datetime() + duration('PT2S')})"
    )
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)) as memory:
        await memory.agent("a").observe("it goes on")


async def test_b33_a_missing_index_is_named_not_an_empty_list(throw_away: Settings, bare: neo4j.AsyncDriver) -> None:
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)) as memory:
        await memory.agent("a").observe("something")
    await bare.execute_query("DROP INDEX memoryEmbedding")
    with pytest.raises(IndexUnavailable, match="memoryEmbedding"):
        await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8))


async def test_b33_an_observation_is_found_right_after_the_first_opening(
    throw_away: Settings, bare: neo4j.AsyncDriver
) -> None:
    for n in range(5):
        await bare.execute_query("MATCH (n) DETACH DELETE n")
        for name in ("memoryEmbedding", "memoryText", "memoryRanking"):
            await bare.execute_query(f"DROP INDEX {name} IF EXISTS")
        async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)) as memory:
            agent = memory.agent(f"a{n}")
            await agent.observe("the lamp is lit")
            assert [hit.memory.text for hit in await agent.retrieve("lamp")] == ["the lamp is lit"]


async def test_a_wrong_password_address_and_database_are_named(throw_away: Settings, bare: neo4j.AsyncDriver) -> None:
    wrong = throw_away.model_copy(update={"password": SecretStr("wrong-secret")})
    with pytest.raises(AuthenticationFailed) as caught:
        await AsyncMemory.open(settings=wrong, embedder=HashingEmbedder(8))
    assert "wrong-secret" not in f"{caught.value} {caught.value.remedy}"
    nowhere = throw_away.model_copy(update={"uri": "bolt://127.0.0.1:1"})
    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:1"):
        await AsyncMemory.open(settings=nowhere, embedder=HashingEmbedder(8))
    with pytest.raises(StoreError, match="not a Neo4j address"):
        await AsyncMemory.open(settings=throw_away.model_copy(update={"uri": "http://x"}), embedder=HashingEmbedder(8))
    with pytest.raises(StoreError, match="no database 'nope'") as missing:
        await AsyncMemory.open(settings=throw_away.model_copy(update={"database": "nope"}), embedder=HashingEmbedder(8))
    assert "GRAPHMEM_DATABASE" in missing.value.remedy
