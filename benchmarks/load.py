"""A store under load: whether memory and handles grow, and what retrieval takes beside other work as a ratio to idle.

    python -m benchmarks.load --memories 20000 --agents 20 --seconds 120 --out benchmarks/results/load.json
    python -m benchmarks.load --memories 1000000 --agents 100 --seconds 600 --heap 4g --data-dir store

Agents are filled; retrieval is timed alone; then, for so many seconds, readers retrieve while writers observe,
supersede and recompute, and the sizes of client and server are taken twenty times. It fails where they grow all along.
Of the server that is what its Java heap holds after a collection, for the heap itself fills up to its limit, and what
it takes beside the heap. A store in a folder of one's own is kept, and filling goes on where it stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.synthetic import NOW, Synthetic
from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.errors import AlreadyEnded, UnknownAgent, UnknownMemory
from graphmem.graph import embedded
from graphmem.models import PAPER, RECALL
from graphmem.settings import Settings

BATCH = 5_000
"""Memories of one transaction of filling."""
SAMPLES = 20
GROWTH = 1.15
"""By how much a size may be larger in the last quarter than in the one before; what is filled once is full by then."""
LEFT_OPEN = 10
"""File handles by which they may differ."""


def grew(what: str, megabytes: list[float]) -> str | None:
    """Whether a size grew from one quarter to the next when all was warm: the least of each counts, not its peaks."""
    quarter = len(megabytes) // 4
    before, after = min(megabytes[-2 * quarter : -quarter]), min(megabytes[-quarter:])
    return f"{what} grew from {before:.0f} to {after:.0f} MB" if after > GROWTH * before else None


@dataclass
class Process:
    """Sizes of a process, as the kernel has them."""

    pid: int
    megabytes: list[float] = field(default_factory=list[float])
    handles: list[int] = field(default_factory=list[int])

    def look(self) -> None:
        """Note them."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        (line,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
        self.megabytes.append(int(line.split()[1]) / 1024)
        self.handles.append(len(os.listdir(f"/proc/{self.pid}/fd")))

    def grew(self, name: str) -> list[str]:
        """What grew all along, if anything."""
        found = [grew(name, self.megabytes)]
        if self.handles[-1] > self.handles[len(self.handles) // 2] + LEFT_OPEN:
            found.append(f"{name} left handles open: {self.handles}")
        return [one for one in found if one]


@dataclass
class Server(Process):
    """The server, whose Java heap is looked into as well."""

    live: list[float] = field(default_factory=list[float])
    """What the heap holds after a collection, and"""
    committed: list[float] = field(default_factory=list[float])
    """what the heap takes, in MB."""

    async def look_inside(self, memory: AsyncMemory) -> None:
        """Note both sizes of the heap beside those of the process."""
        self.look()
        store = memory._engine.store
        records, _, _ = await store._driver.execute_query(_HEAP, database_=store.database)
        self.live.append(sum(record["live"] or 0 for record in records) / 2**20)
        self.committed.append(sum(record["committed"] or 0 for record in records) / 2**20)

    def grew(self, name: str) -> list[str]:
        """What grew all along; the heap's unused room does not count."""
        beside = [all_ - heap for all_, heap in zip(self.megabytes, self.committed, strict=True)]
        found = [grew(f"what {name} holds in its heap", self.live), grew(f"{name} beside its heap", beside)]
        handles = [one for one in super().grew(name) if "handles" in one]
        return [one for one in found if one] + handles


_HEAP = """
CALL dbms.queryJmx("java.lang:type=MemoryPool,*") YIELD attributes
WHERE attributes.Type.value = "HEAP"
RETURN
  attributes.CollectionUsage.value.properties.used AS live,
  attributes.Usage.value.properties.committed AS committed
"""


class Load:
    """Readers and writers on one store."""

    def __init__(self, memory: AsyncMemory, people: Synthetic, given: argparse.Namespace) -> None:
        self.memory, self.people, self.given = memory, people, given
        self.agents = [memory.agent(f"load-{n}") for n in range(given.agents)]
        self.queries = people.queries(500)
        self.done: Counter[str] = Counter()
        self.milliseconds: list[float] = []
        self.next = given.memories

    async def fill(self) -> float | None:
        """Memories a second; None when all were there."""
        began, written = time.perf_counter(), 0
        each = self.given.memories // self.given.agents
        for n, agent in enumerate(self.agents):
            for start in range(n * each, (n + 1) * each, BATCH):
                stop = min((n + 1) * each, start + BATCH)
                if await self.there(agent, f"m{stop - 1:07}"):
                    continue
                await agent.observe_many(list(self.people.items(start, stop)), now=NOW)
                written += stop - start
            print(f"{n + 1} of {len(self.agents)} agents filled", file=sys.stderr, flush=True)
        return written / (time.perf_counter() - began) if written else None

    async def there(self, agent: AsyncAgent, memory_id: str) -> bool:
        """Whether a batch that ends with this memory was written before."""
        try:
            await agent.get(memory_id)
        except (UnknownAgent, UnknownMemory):
            return False
        return True

    async def retrieve(self, rng: random.Random) -> None:
        """Time one retrieval, of either profile."""
        began = time.perf_counter()
        profile = rng.choice((PAPER, RECALL))
        await rng.choice(self.agents).retrieve(rng.choice(self.queries), profile=profile, now=NOW)
        self.milliseconds.append(1000 * (time.perf_counter() - began))
        self.done["retrieve"] += 1

    async def read(self, number: int, until: float) -> None:
        rng = random.Random(f"{self.given.seed} reader {number}")
        while time.monotonic() < until:
            await self.retrieve(rng)

    async def write(self, number: int, until: float) -> None:
        rng = random.Random(f"{self.given.seed} writer {number}")
        while time.monotonic() < until and self.next + 20 < len(self.people.vectors):
            agent = rng.choice(self.agents)
            verb = rng.choices(("observe", "supersede", "recompute"), (6, 3, 1))[0]
            if verb == "observe":
                start, self.next = self.next, self.next + 10
                await agent.observe_many(list(self.people.items(start, start + 10)), now=NOW)
            elif verb == "supersede":
                start, self.next = self.next, self.next + 1
                await self.supersede(agent, f"memory {start}", rng)
            else:
                await agent.recompute(limit=2, now=NOW)
            self.done[verb] += 1

    async def supersede(self, agent: AsyncAgent, text: str, rng: random.Random) -> None:
        each = self.given.memories // self.given.agents
        old = self.agents.index(agent) * each + rng.randrange(each)
        try:
            await agent.supersede(f"m{old:07}", text=text, now=NOW)
        except AlreadyEnded:
            self.done["ended before"] += 1

    async def run(self, server: int) -> dict[str, Any]:
        given = self.given
        speed = await self.fill()
        if given.only_fill:
            return {"filled": speed}
        rng = random.Random(given.seed)
        for _ in range(50):
            await self.retrieve(rng)
        self.milliseconds.clear()
        for _ in range(given.queries):
            await self.retrieve(rng)
        idle = self.percentiles()
        self.milliseconds.clear()
        self.done.clear()
        client, database = Process(os.getpid()), Server(server)
        until = time.monotonic() + given.seconds
        work = [asyncio.create_task(self.read(n, until)) for n in range(given.readers)]
        work += [asyncio.create_task(self.write(n, until)) for n in range(given.writers)]
        for _ in range(SAMPLES):
            await asyncio.sleep(given.seconds / SAMPLES)
            client.look()
            await database.look_inside(self.memory)
        await asyncio.gather(*work)
        busy = self.percentiles()
        wrong = [found for agent in self.agents[:5] for found in await agent.check()]
        return {
            "memories": given.memories, "agents": given.agents, "seconds": given.seconds, "seed": given.seed,
            "readers": given.readers, "writers": given.writers, "filled": speed, "idle": idle, "busy": busy,
            "ratio": busy["p95"] / idle["p95"], "done": dict(self.done),
            "client": {"megabytes": client.megabytes, "handles": client.handles},
            "server": {
                "megabytes": database.megabytes, "handles": database.handles, "live": database.live,
                "committed": database.committed,
            },
            "grew": [*client.grew("the client"), *database.grew("the server")],
            "wrong": [str(found) for found in wrong],
        }  # fmt: skip

    def percentiles(self) -> dict[str, float]:
        """Milliseconds of the retrievals so far."""
        return {name: float(np.percentile(self.milliseconds, at)) for name, at in (("p50", 50), ("p95", 95))}


async def measure(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Fill and load a server of its own."""
    settings = Settings(data_dir=folder, heap=given.heap)
    connection = embedded.ensure_running(settings)
    try:
        there = Settings(uri=connection.uri, password=connection.password, retry_timeout=60)
        people = Synthetic(given.memories + given.seconds * 500, given.seed)
        pid = embedded.status(settings).pid
        assert pid is not None
        async with await AsyncMemory.open(settings=there, embedder=people) as memory:
            return await Load(memory, people, given).run(pid)
    finally:
        embedded.down(settings)


def _told(sizes: list[float]) -> str:
    """The first and the last of each quarter."""
    return ", ".join(f"{sizes[at]:.0f}" for at in (0, *range(len(sizes) // 4 - 1, len(sizes), len(sizes) // 4)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--agents", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=120, help="of load")
    parser.add_argument("--queries", type=int, default=200, help="retrievals that are timed alone")
    parser.add_argument("--readers", type=int, default=4)
    parser.add_argument("--writers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=20260301)
    parser.add_argument("--heap", default="768m")
    parser.add_argument("--data-dir", type=Path, help="keep the store in this folder")
    parser.add_argument("--only-fill", action="store_true", help="fill the store of --data-dir, measure another time")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.data_dir:
        found = asyncio.run(measure(given, given.data_dir))
    else:
        with tempfile.TemporaryDirectory() as folder:
            found = asyncio.run(measure(given, Path(folder)))
    if given.only_fill:
        return
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(found, indent=1) + "\n")
    client, server = found["client"], found["server"]
    filled = f"filled at {found['filled']:.0f}/s" if found["filled"] else "filled before"
    print(f"{given.memories:,} memories of {given.agents} agents, {filled}")
    print(f"retrieve alone: {found['idle']['p50']:.0f} ms, p95 {found['idle']['p95']:.0f} ms")
    print(
        f"under load, {given.seconds} s: {found['busy']['p50']:.0f} ms, p95 {found['busy']['p95']:.0f} ms, "
        f"{found['ratio']:.1f} times as long; {found['done']}"
    )
    for name, sizes in (("client", client), ("server", server)):
        print(f"{name}: {_told(sizes['megabytes'])} MB; handles {min(sizes['handles'])} to {max(sizes['handles'])}")
    print(f"of the server its heap: {_told(server['committed'])} MB, of which in use {_told(server['live'])} MB")
    for problem in [*found["grew"], *found["wrong"]]:
        print(problem)
    sys.exit(bool(found["grew"] or found["wrong"]))


if __name__ == "__main__":
    main()
