"""A reflection whose process is killed is soon taken up by another; one whose model is slow is not taken from it."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted, numbers_of

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.cognition.leases import LEASE_SECONDS
from graphmem.language.base import Reply, Task
from graphmem.settings import Settings
from graphmem.testing import HashingEmbedder
from tests.faults.conftest import Tell

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]
SOON = 120
"""Seconds after which a killed process must no longer be in the way."""
SLOW = LEASE_SECONDS * 1.2


class Slow(Scripted):
    """Takes longer for its first answer than a lease lasts."""

    def __init__(self) -> None:
        super().__init__(
            infer=lambda task: {"insights": [{"text": "Bo likes the harbour", "evidence": numbers_of(task, "Bo")}]}
        )

    async def reply(self, task: Task[Any]) -> Reply[Any]:
        if not self.tasks:
            self.tasks.append(task)
            await asyncio.sleep(SLOW)
        return await super().reply(task)


async def lived(agent: AsyncAgent) -> None:
    await agent.observe_many([{"text": f"Bo walks to the harbour {n}", "importance": 5} for n in range(3)])


async def killed_while_it_reflects(settings: Settings, agent_id: str) -> None:
    """A process that is killed while its model thinks."""
    assert settings.uri is not None
    assert settings.password is not None
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(Path(__file__).with_name("stuck.py")), agent_id,
        env={
            **os.environ,
            "GRAPHMEM_URI": settings.uri,
            "GRAPHMEM_PASSWORD": settings.password.get_secret_value(),
        },
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert await process.stdout.readline() == b"asked\n"
    process.kill()
    await process.communicate()


async def test_who_is_killed_is_soon_replaced_and_who_is_slow_is_not(throw_away: Settings, tell: Tell) -> None:
    async with (
        await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(16), language_model=Slow()) as slow,
        await AsyncMemory.open(settings=throw_away, embedder=HashingEmbedder(16)) as other,
    ):
        killed, patient = other.agent("killed while it reflects"), slow.agent("slow to reflect")
        await lived(killed)
        await lived(patient)
        await killed_while_it_reflects(throw_away, killed.id)
        began = time.monotonic()
        importance = (await killed.info()).importance_since_reflection
        thinking = asyncio.create_task(patient.reflect(force=True))

        # Nobody takes the slow one's from it, however long its model thinks.
        tried = 0
        taken_after = None
        while not thinking.done() or taken_after is None:
            if taken_after is None:
                report = await killed.reflect(force=True)
                if report.outcome != "busy":
                    taken_after = time.monotonic() - began
                    assert report.outcome in ("reflected", "no_insight")
            assert time.monotonic() - began < max(SOON, 2 * SLOW)
            if (await other.agent(patient.id).runs())[:1]:
                outcome = (await other.agent(patient.id).reflect(force=True)).outcome
                tried += outcome == "busy"
                assert outcome == "busy" or time.monotonic() - began > SLOW
            await asyncio.sleep(2)
        assert taken_after <= SOON
        assert tried > LEASE_SECONDS / 4
        assert (await thinking).outcome == "reflected"

        # What the killed one had claimed was given back, and claimed once.
        assert importance == 0
        outcomes = [(run.outcome, run.error) for run in await killed.runs() if run.verb == "reflect"]
        assert outcomes[1:] == [("failed", "its process died: the lease ended")]
        assert len(outcomes) == 2
        assert (await killed.info()).importance_since_reflection == 0
        assert await killed.check() == ()
        assert await patient.check() == ()
    tell(
        f"a reflection that was killed was taken up after {taken_after:.0f} s; one whose model took {SLOW:.0f} s "
        f"was not, though it was tried {tried} times"
    )
