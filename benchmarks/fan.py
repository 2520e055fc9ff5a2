"""How long superseding takes that thousands of memories rest on, beside a bare SET of their status.

    python -m benchmarks.fan            # 10,000 dependents

Both on the same rows in one run, on a throw-away server: the ratio says what truth maintenance costs, whatever else the
machine does.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from graphmem import AsyncMemory
from graphmem.settings import Settings, load_settings
from graphmem.testing import HashingEmbedder

DIMENSION = 384
ROUNDS = 3
CREATE = """
CYPHER 25
UNWIND range(1, $count) AS n
MATCH (hub:Memory {agentId: $agent, id: 'hub'})
MATCH (rim:Memory {agentId: $agent, id: 'rim'})
CREATE (memory:Memory:Reflection {
  agentId: $agent, id: 'r' + toString(n), text: 'insight ' + toString(n), kind: 'insight', status: 'active', held: true,
  depth: 1, importance: 5, importanceBy: 'rule', occurredAt: $now, recordedAt: $now, lastAccessedAt: $now,
  writtenBy: 'benchmark', scopeToken: 's0', textHash: toString(n), keywords: [],
  embedding: [i IN range(1, 384) | rand() - 0.5]
})
CREATE (memory)-[:CITES {rank: 1, since: $now}]->(hub)
CREATE (memory)-[:CITES {rank: 2, since: $now}]->(rim)
WITH count(*) AS written
MATCH (agent:Agent {id: $agent})
SET agent.held = agent.held + written
"""
BARE = """
CYPHER 25
MATCH (hub:Memory {agentId: $agent, id: 'hub'})<-[:CITES]-(memory:Memory)
SET memory.status = $status
RETURN count(memory) AS written
"""


async def measure(memory: AsyncMemory, count: int) -> None:
    """Supersede and restore the hub some times, with bare writes of the same rows between."""
    agent, now = memory.agent(f"fan-{time.time_ns()}"), datetime.now(UTC)
    await agent.observe_many(
        [{"text": "the hub of all", "id": "hub"}, {"text": "the rim of all", "id": "rim"}], now=now
    )
    store = memory._engine.store

    async def run(query: str, **parameters: object) -> None:
        await store._driver.execute_query(query, agent=agent.id, database_=store.database, **parameters)  # type: ignore[arg-type]

    await run(CREATE, count=count, now=now)
    taken: dict[str, list[float]] = {"supersede": [], "restore": [], "SET status": []}
    for number in range(ROUNDS):
        for status in ("stale", "active"):
            started = time.monotonic()
            await run(BARE, status=status)
            taken["SET status"].append(time.monotonic() - started)
        started = time.monotonic()
        report = await agent.supersede("hub", text=f"another hub, {number}")
        taken["supersede"].append(time.monotonic() - started)
        assert len(report.stale_ids) == count
        started = time.monotonic()
        await agent.restore("hub")
        taken["restore"].append(time.monotonic() - started)
    assert await agent.check() == ()
    bare = statistics.median(taken["SET status"])
    print(f"{count:,} dependents, {ROUNDS} rounds, medians (least):")
    for what, seconds in taken.items():
        middle = statistics.median(seconds)
        print(f"  {what:<11} {middle:6.2f} s ({min(seconds):.2f} s)  {middle / bare:4.1f} × a bare SET status")
    await memory.forget_agent(agent.id)


async def _open(settings: Settings, count: int) -> None:
    async with await AsyncMemory.open(settings=settings, embedder=HashingEmbedder(DIMENSION)) as memory:
        await measure(memory, count)


def main() -> int:
    """Run it on the store that GRAPHMEM_URI names, else on a server of its own."""
    from graphmem.graph import embedded

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=10_000)
    count = parser.parse_args().count
    if os.environ.get("GRAPHMEM_URI"):
        asyncio.run(_open(load_settings(), count))
        return 0
    with tempfile.TemporaryDirectory(prefix="graphmem-fan-") as folder:
        own = Settings(data_dir=Path(folder))
        try:
            found = embedded.ensure_running(own)
            asyncio.run(_open(Settings(uri=found.uri, user=found.user, password=found.password), count))
        finally:
            embedded.down(own)
    return 0


if __name__ == "__main__":
    sys.exit(main())
