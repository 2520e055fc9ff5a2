"""Thirty tasks and four processes that observe, retrieve, supersede, reflect and recompute one agent at once."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from graphmem import AsyncMemory
from graphmem.settings import Settings
from graphmem.testing import HashingEmbedder
from tests.faults.conftest import SEED, Tell
from tests.faults.racer import SAME, SHARED, Done, T, race

pytestmark = [pytest.mark.faults, pytest.mark.timeout(900)]
TASKS = 30
PROCESSES = 4
OPERATIONS = int(os.environ.get("GRAPHMEM_FAULTS_OPERATIONS", "12"))
THRESHOLD = 60


async def in_a_process(settings: Settings, agent_id: str, name: str) -> Done:
    assert settings.uri is not None
    assert settings.password is not None
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", str(Path(__file__).with_name("racer.py")),
        agent_id, name, str(SEED), str(OPERATIONS * 3),
        env={
            **os.environ,
            "GRAPHMEM_URI": settings.uri,
            "GRAPHMEM_PASSWORD": settings.password.get_secret_value(),
            "GRAPHMEM_RETRY_TIMEOUT": "60",
        },
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    assert (process.returncode, err.decode()) == (0, ""), err.decode()
    told = json.loads(out)
    return Done(**told | {"verbs": Counter(told["verbs"])})


@pytest.mark.report("B30", "B22")
async def test_b30_many_writers_of_one_agent_lose_nothing_and_count_exactly(throw_away: Settings, tell: Tell) -> None:
    patient = throw_away.model_copy(update={"retry_timeout": 60})
    began = time.monotonic()
    async with await AsyncMemory.open(settings=patient, embedder=HashingEmbedder(16)) as memory:
        agent = memory.agent("raced for")
        await agent.configure(reflection_threshold=THRESHOLD)
        await agent.observe_many(
            [{"text": f"Bo mends net s{n}", "id": f"s{n}", "importance": 2} for n in range(SHARED)], now=T
        )
        await agent.reflect(now=T)
        done = await asyncio.gather(
            *(race(agent, f"t{n}", SEED, OPERATIONS) for n in range(TASKS)),
            *(in_a_process(patient, agent.id, f"p{n}") for n in range(PROCESSES)),
        )
        assert await agent.check() == ()

        # Each shared memory was ended by exactly one of those that tried, each same id stored by one.
        ended = [id_ for one in done for id_ in one.ended]
        assert len(ended) == len(set(ended))
        for number in range(SHARED):
            status = (await agent.get(f"s{number}")).status
            assert (status in ("superseded", "retracted")) == (f"s{number}" in ended)
        same = sorted(id_ for one in done for id_ in one.same)
        assert same == sorted(set(same))
        assert len(same) == SAME

        # Counters and the trigger.
        stored = SHARED + len(same) + sum(one.stored for one in done)
        importance = 2 * (SHARED + len(same)) + sum(one.importance for one in done)
        (record,), _, _ = await memory._engine.store._driver.execute_query(
            "MATCH (a:Agent {id: $a}) "
            "CALL (a) { MATCH (r:Run {agentId: a.id, verb: 'reflect'}) WITH r ORDER BY r.id "
            "  RETURN collect(r.claimed) AS claimed, collect(DISTINCT r.outcome) AS outcomes } "
            "RETURN a.observed AS observed, a.importanceObserved AS importance, claimed, outcomes, "
            "  a.importanceSinceReflection AS since, COUNT { MATCH (:Observation {agentId: a.id}) } AS there",
            a=agent.id,
        )
        assert (record["observed"], record["there"], record["importance"]) == (stored, stored, importance)
        assert record["since"] + sum(record["claimed"]) == importance
        assert all(claimed >= THRESHOLD for claimed in record["claimed"]), "a round for each trigger, no other"
        assert len(record["claimed"]) == 1 + sum(one.reflected for one in done)
        assert "open" not in record["outcomes"]

        # The last access is the newest, not that of the last to commit.
        newest: dict[str, str] = {}
        for one in done:
            for id_, moment in one.touched.items():
                newest[id_] = max(newest.get(id_, ""), moment)
        for id_, moment in newest.items():
            assert (await agent.get(id_)).last_accessed_at.isoformat() == moment, id_
    verbs = sum((one.verbs for one in done), Counter[str]())
    tell(
        f"{TASKS} tasks and {PROCESSES} processes on one agent, seed {SEED}, {time.monotonic() - began:.0f} s: "
        f"{dict(verbs)}, {len(ended)} of {len(ended) + sum(one.refused for one in done)} changes of the same memories "
        f"were the first, {len(record['claimed'])} reflection rounds; lost 0, wrong 0, deadlocks 0"
    )
