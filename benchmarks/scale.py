"""Retrieval and writing at several sizes, as ratios to what bare Neo4j and numpy take in the same run.

    python -m benchmarks.scale --sizes 1000 10000 100000 --out benchmarks/results/scale.json

A server of its own is started in a temporary folder (``--data-dir`` to keep it).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
from neo4j.vector import Vector

from benchmarks.synthetic import NOW, Synthetic
from graphmem import AsyncMemory
from graphmem.cognition.retrieve import Asked, score
from graphmem.graph import embedded
from graphmem.graph.values import epoch_millis
from graphmem.models import PAPER, RECALL, Filters
from graphmem.settings import Settings

K = 10
BARE = """CYPHER 25 MATCH (m:Memory)
SEARCH m IN (VECTOR INDEX memoryEmbedding FOR $vector WHERE m.agentId = $agentId AND m.held = true LIMIT 10)
SCORE AS s RETURN m.id, s"""
# What a program without indexes for recency and importance would run: every memory is read and scored.
SCAN = """CYPHER 25 MATCH (m:Memory {agentId: $agentId, status: 'active'})
WITH m, vector.similarity.cosine(m.embedding, $vector) AS c,
  0.995 ^ (($nowMillis - m.lastAccessedAt.epochMillis) / 3600000.0) AS r, m.importance / 10.0 AS i
WITH collect({m: m, c: c, r: r, i: i}) AS all, min(c) AS c0, max(c) AS c1, min(r) AS r0, max(r) AS r1,
  min(i) AS i0, max(i) AS i1
UNWIND all AS x
WITH x.m AS m, (x.c - c0) / (c1 - c0) + (x.r - r0) / (r1 - r0) + (x.i - i0) / (i1 - i0) AS s
ORDER BY s DESC LIMIT 10 RETURN m.id, s"""
UNWIND = """CYPHER 25 UNWIND $rows AS row CREATE (m:Memory:Observation)
SET m = row.properties, m.agentId = $agentId, m.embedding = toFloatList(row.embedding)"""


class Bench:
    """One store with one synthetic population."""

    def __init__(self, memory: AsyncMemory, people: Synthetic, agent: str) -> None:
        self.memory, self.people, self.id = memory, people, agent
        self.agent = memory.agent(agent)
        self.driver = memory._engine.store._driver

    async def raw(self, text: str, **parameters: Any) -> list[Any]:
        async with self.driver.session() as session:
            return [record.values() async for record in await session.run(text, agentId=self.id, **parameters)]

    async def load(self, count: int) -> float:
        """Observations a second, through the public verb, in its own batches."""
        start = time.perf_counter()
        for at in range(0, count, 5_000):
            await self.agent.observe_many(list(self.people.items(at, min(count, at + 5_000))), now=NOW)
        return count / (time.perf_counter() - start)

    async def settle(self, most: float = 300) -> None:
        """Wait until the vector index has merged what was loaded: until a bare query takes no less than before."""
        vectors = [Vector.from_numpy(self.people.embed_query(query)) for query in self.people.queries(20)]
        ends, before = time.monotonic() + most, float("inf")
        while time.monotonic() < ends:
            times: list[float] = []
            for vector in vectors:
                start = time.perf_counter()
                await self.raw(BARE, vector=vector)
                times.append(time.perf_counter() - start)
            now = float(np.median(times))
            if now > 0.95 * before:
                return
            before = now
            await asyncio.sleep(10)

    async def timed(
        self, works: dict[str, tuple[Callable[[str], Awaitable[Any]], int]], queries: list[str], warm: int = 10
    ) -> dict[str, dict[str, float]]:
        """Milliseconds of each; taken in turns, so that what else the machine does falls on all alike."""
        times: dict[str, list[float]] = {name: [] for name in works}
        for n, query in enumerate(queries):
            for name, (work, most) in works.items():
                if n >= most:
                    continue
                start = time.perf_counter()
                await work(query)
                times[name].append(1000 * (time.perf_counter() - start))
        kept = {name: found[min(warm, len(found) - 1) :] for name, found in times.items()}
        return {
            name: {"p50": float(np.median(of)), "p95": float(np.percentile(of, 95)), "queries": len(of)}
            for name, of in kept.items()
        }

    def by_numpy(self, query: str, hours: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The original algorithm: everything in memory, each part min–max scaled, the sum sorted."""
        cosine = self.people.vectors[:count] @ self.people.embed_query(query)
        parts = (cosine, 0.995 ** (hours - hours.min()), self.people.importance[:count] / 10)
        total = sum((p - p.min()) / (p.max() - p.min()) if p.max() > p.min() else np.ones(count) for p in parts)
        return np.argsort(-total, kind="stable"), total

    async def speeds(self, count: int, many: int) -> dict[str, Any]:
        queries = self.people.queries(many)
        hours = self.people.hours[:count]

        async def bare(query: str) -> None:
            await self.raw(BARE, vector=Vector.from_numpy(self.people.embed_query(query)))

        async def scan(query: str) -> None:
            vector = Vector.from_numpy(self.people.embed_query(query))
            await self.raw(SCAN, vector=vector, nowMillis=epoch_millis(NOW))

        async def numpy(query: str) -> None:
            self.by_numpy(query, hours, count)

        async def paper(query: str) -> None:
            await self.agent.retrieve(query, k=K, now=NOW, touch=False)

        async def recall(query: str) -> None:
            await self.agent.retrieve(query, k=K, now=NOW, touch=False, profile=RECALL)

        works = {"retrieve": (paper, many), "recall": (recall, many), "bare": (bare, many), "numpy": (numpy, many)}
        return await self.timed({**works, "scan": (scan, 20)}, queries)

    async def agreement(self, count: int, many: int) -> dict[str, float]:
        """The same ten as scoring all (up to equal scores), the share that says exact, and the index's own recall."""
        same: list[float] = []
        index: list[float] = []
        exact = 0
        for query in self.people.queries(many):
            hits = await self.agent.retrieve(query, k=K, now=NOW, touch=False)
            exact += bool(hits.exact)
            order, total = self.by_numpy(query, self.people.hours[:count], count)
            tenth = total[order[K - 1]]
            same.append(float(np.mean([total[int(hit.memory.id[1:])] >= tenth - 1e-6 for hit in hits])))
            nearest = await self.raw(BARE, vector=Vector.from_numpy(self.people.embed_query(query)))
            cosine = self.people.vectors[:count] @ self.people.embed_query(query)
            best = np.sort(cosine)[-K]
            index.append(float(np.mean([cosine[int(row[0][1:])] >= best - 1e-6 for row in nearest])))
        return {"overlap": float(np.mean(same)), "index_recall": float(np.mean(index)), "exact": exact / many}

    async def closes(self, many: int, **filters: Any) -> dict[str, float]:
        queries = self.people.queries(many)
        exact: list[bool] = []

        async def ask(query: str) -> None:
            hits = await self.agent.retrieve(query, k=K, now=NOW, touch=False, **filters)
            exact.append(bool(hits.exact))

        found = await self.timed({"ask": (ask, many)}, queries)
        return {**found["ask"], "share": float(np.mean(exact))}

    async def set_accesses(self, hours: np.ndarray) -> None:
        for start in range(0, len(hours), 5_000):
            rows = [{"id": f"m{n:07}", "hours": float(hours[n])} for n in range(start, min(len(hours), start + 5_000))]
            await self.raw(
                "CYPHER 25 UNWIND $rows AS row MATCH (m:Memory {agentId: $agentId, id: row.id}) "
                "SET m.lastAccessedAt = $now - duration({milliseconds: toInteger(row.hours * 3600000)}) "
                "RETURN count(*)",
                rows=rows,
                now=NOW,
            )

    async def hard(self, count: int, many: int) -> dict[str, Any]:
        """How often it closes where that is hard."""
        found: dict[str, Any] = {
            "plain": await self.closes(many),
            "filter of 1 %": await self.closes(many, place="rare"),
            "filter of 0.01 %": await self.closes(many, place="rarest"),
        }
        await self.set_accesses(np.zeros(count))
        found["equal access times"] = await self.closes(many)
        # Opposed: the nearer to what is asked for, the longer ago.
        (query,) = self.people.queries(1)
        cosine = self.people.vectors[:count] @ self.people.embed_query(query)
        await self.set_accesses(24 * 60 * (cosine - cosine.min()) / (cosine.max() - cosine.min()))
        asked = Asked(self.id, self.people.embed_query(query), K, PAPER, NOW, Filters())
        from graphmem.cognition.retrieve import best

        _, closed = await best(self.memory._engine, asked, count)
        found["relevance opposed to recency"] = {"share": float(closed), "queries": 1}
        await self.set_accesses(self.people.hours[:count])
        return found

    async def writing(self, many: int) -> dict[str, float]:
        """observe_many against a bare UNWIND of the same rows, embeddings given; and observe one by one."""
        from graphmem.cognition.observe import checked, rows_for

        engine = self.memory._engine
        rates: dict[str, list[float]] = {"observe_many": [], "bare": []}
        for turn in range(3):
            items = list(self.people.items(0, many))
            start = time.perf_counter()
            await self.memory.agent(f"{self.id}-w{turn}").observe_many(items, now=NOW)
            rates["observe_many"].append(many / (time.perf_counter() - start))
            given = {str(item["id"]): checked(item) for item in items}
            rows = await rows_for(engine, f"{self.id}-b{turn}", given, NOW)
            batches = [
                [
                    {
                        "properties": row["properties"]
                        | {"recordedAt": NOW, "lastAccessedAt": row["properties"]["occurredAt"]},
                        "embedding": Vector.from_numpy(row["embedding"]),
                    }
                    for row in rows[at : at + 500]
                ]
                for at in range(0, many, 500)
            ]
            start = time.perf_counter()
            async with self.driver.session() as session:
                for batch in batches:
                    await (await session.run(UNWIND, agentId=f"{self.id}-b{turn}", rows=batch)).consume()
            rates["bare"].append(many / (time.perf_counter() - start))
        one = self.memory.agent(f"{self.id}-one")
        start = time.perf_counter()
        for item in self.people.items(0, 50):
            await one.observe(**item)  # pyright: ignore[reportArgumentType]
        return {
            "observe_many": float(np.median(rates["observe_many"])),
            "bare UNWIND": float(np.median(rates["bare"])),
            "ratio": float(np.median(np.array(rates["observe_many"]) / np.array(rates["bare"]))),
            "observe": 50 / (time.perf_counter() - start),
        }

    async def profile(self) -> list[str]:
        """The operators of the main query with their rows and hits."""
        (query,) = self.people.queries(1)
        kept: dict[str, Any] = {}
        engine = self.memory._engine

        class Kept:
            async def query(self, name: str, **parameters: Any) -> Any:
                kept[name] = parameters
                return await engine.store.query(name, **parameters)

        asked = Asked(self.id, self.people.embed_query(query), K, PAPER, NOW, Filters())
        await score(type("E", (), {"store": Kept()})(), asked, near=500, ranked=125)
        from graphmem.graph.queries import queries
        from graphmem.graph.values import encode

        lines: list[str] = []

        def walk(plan: dict[str, Any], depth: int) -> None:
            details = str(plan["args"].get("Details", "")).replace("\n", " ")[:90]
            operator = plan["operatorType"].split("@")[0]
            lines.append(f"{plan.get('rows', 0):7,} {plan.get('dbHits', 0):8,}  {' ' * depth}{operator}  {details}")
            for child in plan.get("children", []):
                walk(child, depth + 1)

        async with self.driver.session() as session:
            parameters = {name: encode(value) for name, value in kept["retrieve/score"].items()}
            result = await session.run("PROFILE " + queries["retrieve/score"].text, parameters)
            summary = await result.consume()
        walk(summary.profile, 0)
        return lines


async def run(sizes: list[int], many: int, hard: int, data_dir: Path, heap: str, out: Path) -> None:
    results: dict[str, Any] = {"sizes": {}}
    settings = Settings(data_dir=data_dir, heap=heap, index_timeout=600)
    people = Synthetic(max(sizes), seed=7)
    try:
        async with await AsyncMemory.open(settings=settings, embedder=people) as memory:
            results["writing"] = await Bench(memory, people, "writing").writing(3_000)
            print(json.dumps(results["writing"]), flush=True)
            for size in sizes:
                bench = Bench(memory, people, f"bench-{size}")
                found: dict[str, Any] = {"loaded_per_second": await bench.load(size)}
                await bench.settle()
                found |= await bench.speeds(size, many)
                found["agreement"] = await bench.agreement(size, hard)
                print(size, json.dumps(found), flush=True)
                results["sizes"][str(size)] = found
                keep(results, out)
            results["profile"] = await bench.profile()
            keep(results, out)
            results["hard"] = await bench.hard(sizes[-1], hard)
            print(json.dumps(results["hard"]), flush=True)
            keep(results, out)
    finally:
        embedded.down(settings)


def keep(results: dict[str, Any], out: Path) -> None:
    """Write what there is: a long run that is stopped has told what it found."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(results, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[1_000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--hard", type=int, default=200, help="queries for overlap and exactness")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--heap", default="2g")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/scale.json"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="graphmem-bench-") as folder:
        asyncio.run(
            run(sorted(given.sizes), given.queries, given.hard, given.data_dir or Path(folder), given.heap, given.out)
        )


if __name__ == "__main__":
    main()
