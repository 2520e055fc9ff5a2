"""Opening a store: the schema is made once, races are safe, and what does not fit is refused by name."""

from __future__ import annotations

import asyncio
import os
import sys
from itertools import pairwise

import database
import neo4j
import pytest

from graphmem import AsyncAgent, AsyncMemory
from graphmem.errors import IndexUnavailable, SchemaMismatch
from graphmem.graph import schema
from graphmem.graph.lock import NEO4J_VERSION
from graphmem.graph.queries import queries
from graphmem.graph.records import digest, scope_token
from graphmem.graph.schema import current_version, index_names
from graphmem.memory import look
from graphmem.models import StoreInfo
from graphmem.settings import Settings
from graphmem.testing import HashingEmbedder

pytestmark = pytest.mark.slow


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


async def test_looking_makes_nothing_and_works_on_what_does_not_fit(
    throw_away: Settings, bare: neo4j.AsyncDriver
) -> None:
    async def looked() -> StoreInfo:
        found = await asyncio.to_thread(look, throw_away)
        assert found is not None
        return found.info

    before = await names(bare)
    empty = await looked()
    assert (empty.server, empty.edition) == (NEO4J_VERSION, "community")
    assert (empty.schema_version, empty.embedding_model, empty.agents, empty.memories) == (None, None, 0, 0)
    assert await names(bare) == before
    assert (await bare.execute_query("MATCH (n) RETURN n")).records == []

    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)) as memory:
        for agent, texts in {"a": ("one", "two"), "b": ("three",)}.items():
            await memory.agent(agent).observe_many(texts)
        await memory.agent("a").retract((await memory.agent("a").memories())[0].id, reason="wrong")
        opened = await memory.info()
    assert (opened.schema_version, opened.embedding_model, opened.dimension) == (current_version(), "hashing-8", 8)
    assert (opened.uri, opened.agents, opened.memories) == (throw_away.uri, 2, 2)
    # Of another model than the settings say, and then by a newer graphmem.
    assert await looked() == opened
    await bare.execute_query("MATCH (s:GraphmemSchema) SET s.version = 999")
    assert (await looked()).schema_version == 999


async def test_a_newer_schema_is_refused(throw_away: Settings, bare: neo4j.AsyncDriver) -> None:
    await bare.execute_query(
        "CREATE (:GraphmemSchema {name: 'graphmem', version: 999, embeddingModel: 'hashing-8', dimension: 8})"
    )
    with pytest.raises(SchemaMismatch, match="version 999") as caught:
        await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8))
    assert "upgrade graphmem" in caught.value.remedy


async def named(agent: AsyncAgent, name: str) -> set[str]:
    return {memory.text for memory in await agent.about(name)}


def earlier_versions() -> list[int]:
    """An empty one, and those that were in use: numbers were left out after them."""
    steps = [number for number, _ in schema._steps()]
    return [0] + [before for before, after in pairwise(steps) if after > before + 1]


@pytest.mark.parametrize("version", earlier_versions())
async def test_every_earlier_version_is_brought_up_to_date(
    throw_away: Settings, bare: neo4j.AsyncDriver, version: int
) -> None:
    """As the version before left it: its steps taken, its record, and an agent that remembers something."""
    for number, name in schema._steps():
        if number <= version and "limit" not in queries[name].parameters:
            await bare.execute_query(queries[name].text, {"dimension": 8, "analyzer": "english"})
    await bare.execute_query(
        "CREATE (:GraphmemSchema {name: 'graphmem', version: $version, embeddingModel: 'hashing-8', dimension: 8}) "
        "CREATE (:Agent {id: 'old', name: 'old', timeZone: 'UTC', revision: 0, reflectionThreshold: 150, "
        "importanceSinceReflection: 3, createdAt: datetime()}) "
        "CREATE (:Memory:Observation {agentId: 'old', id: 'm', kind: 'event', text: 'The lamp is lit', "
        "textHash: $hash, status: 'active', held: true, depth: 0, importance: 3, importanceBy: 'caller', "
        "occurredAt: datetime(), recordedAt: datetime(), lastAccessedAt: datetime(), scopeToken: $token, "
        "subject: 'lamp', source: 'Jo', keywords: ['light', 'lamp'], "
        "embedding: [1.0, 0, 0, 0, 0, 0, 0, 0], embeddingModel: 'hashing-8'}) "
        "CREATE (:Memory:Observation {agentId: 'old', id: 'ended', kind: 'event', text: 'x', held: false, depth: 0, "
        "status: 'retracted', importance: 3, importanceBy: 'caller', occurredAt: datetime(), recordedAt: datetime(), "
        "lastAccessedAt: datetime()})",
        {"version": version, "hash": digest("the lamp is lit"), "token": scope_token("old")},
    )
    for number, name in schema._steps():
        if number <= version and "limit" in queries[name].parameters:
            await bare.execute_query(queries[name].text, {"limit": 100})
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)) as memory:
        agent = memory.agent("old")
        assert (await agent.info()).observations == 1
        await agent.observe("The lamp is out", importance=2, subject="lamp")
        assert await named(agent, "lamp") == {"The lamp is lit", "The lamp is out"}
        assert await named(agent, "Jo") == await named(agent, "light") == {"The lamp is lit"}
        assert {violation.rule for violation in await agent.check()} == {"ended"}
        assert {hit.memory.text for hit in await agent.retrieve("lamp")} == {"The lamp is lit", "The lamp is out"}
    (record,) = (await bare.execute_query("MATCH (s:GraphmemSchema) RETURN s.version AS v, s.leaseToken AS t")).records
    assert (record["v"], record["t"]) == (current_version(), None)
    (record,) = (await bare.execute_query("MATCH (a:Agent {id: 'old'}) RETURN a.held AS held")).records
    assert record["held"] == 2
    assert index_names() <= await names(bare)


async def test_a_step_that_changes_what_is_stored_goes_on_where_it_was_cut_off(
    throw_away: Settings, bare: neo4j.AsyncDriver
) -> None:
    """More agents than one transaction changes; some were changed before, by a process that was killed."""
    await bare.execute_query(
        "UNWIND range(1, 2500) AS n CREATE (agent:Agent {id: 'a' + n}) "
        "SET agent.held = CASE WHEN n <= 1000 THEN 7 END "
        "WITH count(*) AS made "
        "CREATE (:GraphmemSchema {name: 'graphmem', version: 12, embeddingModel: 'hashing-8', dimension: 8, "
        "leaseToken: 'dead', leaseUntil: datetime() - duration('PT1S')})"
    )
    for number, name in schema._steps():
        if number <= 12:
            await bare.execute_query(queries[name].text, {"dimension": 8, "analyzer": "english"})
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)):
        pass
    counts = (await bare.execute_query("MATCH (a:Agent) RETURN a.held AS held, count(*) AS n")).records
    assert {record["held"]: record["n"] for record in counts} == {7: 1000, 0: 1500}


@pytest.mark.report("B16")
async def test_an_index_of_another_dimension_is_refused_not_left_empty(
    throw_away: Settings, bare: neo4j.AsyncDriver
) -> None:
    """Such as one that stayed when somebody deleted all nodes to begin again with another model."""
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)):
        pass
    await bare.execute_query("MATCH (n) DETACH DELETE n")
    with pytest.raises(SchemaMismatch, match=r"memoryEmbedding .* of 8 dimensions; the embedder gives 12") as caught:
        await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(12))
    assert "DROP INDEX memoryEmbedding" in caught.value.remedy
    for statement in ("DROP INDEX memoryEmbedding", "MATCH (s:GraphmemSchema) SET s.version = 0"):
        await bare.execute_query(statement)
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(12)) as memory:
        await memory.agent("a").observe("the remedy helps")
        assert len(await memory.agent("a").retrieve("remedy")) == 1


RACE = """
import asyncio, sys
from graphmem import AsyncMemory
from graphmem.errors import SchemaMismatch
from graphmem.settings import load_settings
from graphmem.testing import HashingEmbedder

async def main():
    settings = load_settings(index_timeout=60)
    for line in sys.stdin:
        try:
            async with await AsyncMemory.open(settings=settings, embedder=HashingEmbedder(8)) as memory:
                await memory.agent("shared").observe(f"process {sys.argv[1]} in race {line.strip()}")
        except Exception as error:
            print(type(error).__name__, error, flush=True)
        else:
            print("opened", flush=True)

asyncio.run(main())
"""
PROCESSES = 4
RACES = int(os.environ.get("GRAPHMEM_TEST_RACES", "3"))


@pytest.mark.report("B22")
async def test_processes_that_open_an_empty_store_at_once(throw_away: Settings, bare: neo4j.AsyncDriver) -> None:
    """One makes the schema, the others wait; what each then writes is there. GRAPHMEM_TEST_RACES says how often."""
    assert throw_away.uri is not None
    assert throw_away.password is not None
    environment = {
        **os.environ,
        "GRAPHMEM_URI": throw_away.uri,
        "GRAPHMEM_PASSWORD": throw_away.password.get_secret_value(),
    }
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            RACE,
            str(n),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment,
        )
        for n in range(PROCESSES)
    ]

    async def race(process: asyncio.subprocess.Process, number: int) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{number}\n".encode())
        return (await process.stdout.readline()).decode().strip()

    try:
        for number in range(RACES):
            await database.clear(bare)
            answers = await asyncio.gather(*(race(process, number) for process in processes))
            assert answers == ["opened"] * PROCESSES, f"race {number}"
            (record,) = (
                await bare.execute_query(
                    "MATCH (s:GraphmemSchema) WITH collect([s.version, s.leaseToken]) AS records "
                    "MATCH (a:Agent {id: 'shared'}) RETURN records, a.held AS held, COUNT { (:Observation) } AS stored"
                )
            ).records
            assert record.values() == [[[current_version(), None]], PROCESSES, PROCESSES]
            assert index_names() <= await names(bare)
    finally:
        for process in processes:
            await process.communicate(b"")  # which also closes its standard input


async def test_a_schema_change_that_was_cut_off_is_taken_over_when_its_lease_ends(
    throw_away: Settings, bare: neo4j.AsyncDriver
) -> None:
    await bare.execute_query(
        "CREATE (:GraphmemSchema {name: 'graphmem', version: 0, embeddingModel: 'hashing-8', dimension: 8, "
        "leaseToken: 'dead', leaseUntil: datetime() + duration('PT2S')})"
    )
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)) as memory:
        await memory.agent("a").observe("it goes on")


async def test_memories_of_before_get_the_labels_of_their_status(throw_away: Settings, bare: neo4j.AsyncDriver) -> None:
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)) as memory:
        agent = memory.agent("a")
        await agent.observe("it holds")
        await agent.observe("it does not", id="ended")
        await agent.retract("ended", reason="misheard")
    await bare.execute_query("MATCH (m:Ended) REMOVE m:Ended")
    await bare.execute_query("MATCH (m:Memory {id: 'ended'}) SET m:Stale")
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)) as memory:
        assert [found.rule for found in await memory.agent("a").check()] == ["labels"]
    await bare.execute_query("MATCH (s:GraphmemSchema) SET s.version = 49")
    async with await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(8)) as memory:
        assert await memory.agent("a").check() == ()
    (record,) = (await bare.execute_query("MATCH (m:Ended) RETURN collect(m.id) AS ids")).records
    assert record["ids"] == ["ended"]


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
