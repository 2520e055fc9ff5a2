"""A lease is renewed while its holder works, a renewal that fails is no more than that, cancelled work leaves none."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import neo4j
import pytest

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.cognition.leases import RENEWALS, kept
from graphmem.cognition.runs import running
from graphmem.errors import StoreUnavailable
from graphmem.settings import Settings


async def test_a_lease_is_renewed_until_the_work_is_done_though_some_renewals_fail(
    caplog: pytest.LogCaptureFixture,
) -> None:
    renewed = 0
    often = asyncio.Event()

    async def renew() -> None:
        nonlocal renewed
        renewed += 1
        if renewed == 2:
            raise StoreUnavailable("it is down", remedy="wait")
        if renewed == RENEWALS:
            often.set()

    with caplog.at_level(logging.WARNING, "graphmem"):
        async with kept(renew, seconds=0.04):
            await asyncio.wait_for(often.wait(), 10)
    assert [record.getMessage() for record in caplog.records] == ["could not renew a lease: it is down"]
    before = renewed
    await asyncio.sleep(0.05)
    assert renewed == before


async def test_what_leaves_the_work_ends_the_renewals() -> None:
    async def renew() -> None:
        raise AssertionError("it is not due yet")

    before = asyncio.all_tasks()
    for failure in (ValueError, asyncio.CancelledError):
        with pytest.raises(failure):
            async with kept(renew, seconds=600):
                raise failure
    assert asyncio.all_tasks() == before


async def test_whoever_is_cancelled_while_a_renewal_ends_is_cancelled() -> None:
    renewing, ending = asyncio.Event(), asyncio.Event()

    async def renew() -> None:
        renewing.set()
        try:
            await asyncio.sleep(600)
        finally:
            ending.set()
            await asyncio.sleep(0.1)  # As long as a connection takes to be given up.

    async def work() -> None:
        async with kept(renew, seconds=0.01):
            await renewing.wait()

    working = asyncio.create_task(work())
    await ending.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working


@asynccontextmanager
async def locked(settings: Settings, agent: AsyncAgent) -> AsyncIterator[None]:
    """Hold the agent's lock, so that whatever writes to it waits."""
    assert settings.password is not None
    auth = (settings.user, settings.password.get_secret_value())
    async with (
        neo4j.AsyncGraphDatabase.driver(str(settings.uri), auth=auth) as driver,
        driver.session(database=settings.database) as session,
        await session.begin_transaction() as other,
    ):
        await (await other.run("MATCH (a:Agent {id: $id}) SET a.writtenAt = datetime()", id=agent.id)).consume()
        yield
        await other.commit()


@pytest.mark.parametrize("times", [1, 2])
async def test_a_run_that_is_cancelled_as_it_ends_is_not_left_open(
    settings: Settings, memory: AsyncMemory, agent: AsyncAgent, times: int
) -> None:
    """Once, and again while it is tidied up, as a timeout within a timeout does."""
    await agent.configure(name="Ines")
    begun, ending = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        async with running(memory._engine, agent.id, "ask", "ask-1", await memory._engine.now(agent.id)):
            begun.set()
            await ending.wait()

    working = asyncio.create_task(work())
    await begun.wait()
    async with locked(settings, agent):
        ending.set()
        for _ in range(times):
            await asyncio.sleep(0.2)
            working.cancel()
        await asyncio.sleep(0.2)
        assert not working.done()
    with pytest.raises(asyncio.CancelledError):
        await working
    (run,) = await agent.runs()
    assert run.outcome == "failed"


async def test_a_run_that_has_ended_stays_so_when_it_is_abandoned(memory: AsyncMemory, agent: AsyncAgent) -> None:
    """As when it was cancelled right after the commit."""
    await agent.configure(name="Ines")
    async with running(memory._engine, agent.id, "ask", "ask-1", await memory._engine.now(agent.id)) as run:
        pass
    await memory._engine.store.write(lambda tx: run.abandon(tx, "cancelled"))
    (found,) = await agent.runs()
    assert (found.outcome, found.error) == ("done", None)


# The driver leaves a socket to the garbage collector whose connecting is cancelled, which is told when it is collected.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_what_is_cancelled_wherever_it_is_leaves_nothing_in_the_way(
    memory: AsyncMemory, agent: AsyncAgent
) -> None:
    """Begin and end of a run, the lease of a worker, and that of a stale memory."""
    await agent.observe_many([{"text": f"Ines paints part {n}", "id": f"p{n}", "importance": 9} for n in range(8)])
    await agent.reflect(force=True)
    await agent.retract("p1")
    assert await agent.memories(status="stale")
    for step in range(12):
        for verb in (partial(memory.work_once, agent=agent.id), agent.reappraise, agent.recompute):
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(verb(), 0.004 + 0.003 * step)
    gc.collect()  # Here, not in a test that comes later.
    await memory.work_once(agent=agent.id)
    assert not await agent.memories(status="stale")
    assert "open" not in {run.outcome for run in await agent.runs()}
