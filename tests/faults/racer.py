"""One of many that use the same agent at once: in a task, or as a process of its own that prints what it did as JSON.

Usage: racer.py AGENT NAME SEED OPERATIONS, with the server in GRAPHMEM_URI and _PASSWORD.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.errors import AlreadyEnded, NotActive
from graphmem.settings import load_settings
from graphmem.testing import HashingEmbedder

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SHARED = 40
"""Observations that all race for: ``s0``, ``s1``, …"""
SAME = 10
"""Ids that all observe: ``same0``, …"""


@dataclass
class Done:
    """What one racer was told that it did."""

    stored: int = 0
    importance: int = 0
    same: list[str] = field(default_factory=list[str])
    ended: list[str] = field(default_factory=list[str])
    """Shared memories that it superseded."""
    touched: dict[str, str] = field(default_factory=dict[str, str])
    """Memory: the newest time at which it retrieved it."""
    reflected: int = 0
    verbs: Counter[str] = field(default_factory=Counter[str])
    refused: int = 0
    """Changes of what another had changed before."""


async def race(agent: AsyncAgent, name: str, seed: int, operations: int) -> Done:
    """Do so many things at random."""
    rng = random.Random(f"{seed} {name}")
    done = Done()
    for number in range(operations):
        verb = rng.choices(
            ("observe", "same", "retrieve", "supersede", "retract", "recompute", "reflect"), (6, 3, 6, 3, 1, 2, 2)
        )[0]
        done.verbs[verb] += 1
        match verb:
            case "observe":
                items = [
                    {"text": f"Bo hums {name} {number} {i}", "id": f"{name}-{number}-{i}", "importance": number % 3 + 1}
                    for i in range(rng.choice((1, 4)))
                ]  # fmt: skip
                report = await agent.observe_many(items, now=T)
                assert report.added == len(items)
                done.stored += report.added
                done.importance += sum(item["importance"] for item in items)
            case "same":
                id_ = f"same{rng.randrange(SAME)}"
                report = await agent.observe_many([{"text": f"Bo says {id_}", "id": id_, "importance": 2}], now=T)
                done.same += [id_] * report.added
            case "retrieve":
                now = T + timedelta(seconds=rng.randint(1, 100_000))
                hits = await agent.retrieve(f"Bo s{rng.randrange(SHARED)}", k=20, now=now)
                for hit in hits:
                    done.touched[hit.memory.id] = max(done.touched.get(hit.memory.id, ""), now.isoformat())
            case "supersede" | "retract":
                id_ = f"s{rng.randrange(SHARED)}"
                try:
                    if verb == "supersede":
                        await agent.supersede(id_, text=f"Bo put {id_} right, says {name} {number}", now=T)
                        done.stored += 1
                        done.importance += 2
                    else:
                        await agent.retract(id_, now=T)
                    done.ended.append(id_)
                except (AlreadyEnded, NotActive):
                    done.refused += 1
            case "recompute":
                await agent.recompute(limit=3, now=T)
            case _:
                done.reflected += (await agent.reflect(now=T)).outcome in ("reflected", "no_insight")
    return done


async def main() -> None:
    agent_id, name, seed, operations = sys.argv[1:]
    async with await AsyncMemory.open(settings=load_settings(), embedder=HashingEmbedder(16)) as memory:
        done = await race(memory.agent(agent_id), name, int(seed), int(operations))
    sys.stdout.write(json.dumps(vars(done)))


if __name__ == "__main__":
    asyncio.run(main())
