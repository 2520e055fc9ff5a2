"""Connections that break in mid-transaction, also while it is committed: nothing is lost, done twice or half done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from proxy import Fault, Proxy, proxying
from scripted import Scripted, numbers_of

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.embedding.base import Embedder
from graphmem.errors import OutcomeUnknown, StoreUnavailable
from graphmem.settings import Settings

T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = T + timedelta(days=1)
MILL = "Bo works at the mill these days"


@pytest.fixture
def proxy(settings: Settings) -> Iterator[Proxy]:
    """A proxy before the run's Neo4j."""
    with proxying(str(settings.uri)) as found:
        yield found


def model() -> Scripted:
    """Concludes one thing, and finds that it still follows."""
    return Scripted(
        infer=lambda task: {"insights": [{"text": "Bo likes what he does", "evidence": numbers_of(task, "Bo")}]},
        reconsider=lambda task: {"verdict": "confirmed", "evidence": numbers_of(task, "Bo"), "reason": "it holds"},
    )


@pytest.fixture
async def breaking(proxy: Proxy, settings: Settings, embedder: Embedder) -> AsyncIterator[AsyncMemory]:
    """A memory whose connections go through the proxy."""
    through = settings.model_copy(update={"uri": f"bolt://127.0.0.1:{proxy.port}", "retry_timeout": 5})
    async with await AsyncMemory.open(settings=through, embedder=embedder, language_model=model()) as memory:
        yield memory


Verb = Callable[[AsyncAgent], Awaitable[object]]


async def observe(agent: AsyncAgent) -> object:
    return (await agent.observe("Bo whistles", importance=4, now=LATER)).text


async def observe_many(agent: AsyncAgent) -> object:
    report = await agent.observe_many([{"text": f"Bo counts to {n}", "importance": 2} for n in range(3)], now=LATER)
    return report.added, report.known, len(report.ids)


async def observe_keyed(agent: AsyncAgent) -> object:
    return (await agent.observe("Bo wears red", key="coat", importance=3, now=LATER)).status


async def supersede(agent: AsyncAgent) -> object:
    report = await agent.supersede("o1", text=MILL, reason="he moved", now=LATER)
    return report.memory.status, report.replacement and report.replacement.text, len(report.stale_ids)


async def retract(agent: AsyncAgent) -> object:
    report = await agent.retract("o1", now=LATER)
    return report.memory.status, len(report.stale_ids)


async def restore(agent: AsyncAgent) -> object:
    await agent.retract("o1", now=LATER)
    report = await agent.restore("o1", now=LATER)
    return report.memory.status, len(report.active)


async def forget(agent: AsyncAgent) -> object:
    report = await agent.forget("o2", now=LATER)
    return len(report.forgotten), len(report.stale)


async def reflect(agent: AsyncAgent) -> object:
    report = await agent.reflect(force=True, now=LATER)
    return report.outcome, len(report.reflections), len(report.reinforced), report.importance_since_reflection


async def recompute(agent: AsyncAgent) -> object:
    await agent.supersede("o1", text=MILL, now=LATER)
    report = await agent.recompute(now=LATER)
    return [item.outcome for item in report.items], report.remaining


async def retrieve(agent: AsyncAgent) -> object:
    return [hit.memory.id for hit in await agent.retrieve("Bo works", k=2, now=LATER)]


async def feedback(agent: AsyncAgent) -> object:
    changed = await agent.feedback("o1", useful=True, now=LATER)
    return changed.before, changed.after


async def configure(agent: AsyncAgent) -> object:
    return (await agent.configure(reflection_threshold=99)).reflection_threshold


async def share(agent: AsyncAgent) -> object:
    return (await agent.share("o1", with_=f"{agent.id}-friend", now=LATER)).text


VERBS = [
    observe, observe_many, observe_keyed, supersede, retract, restore, forget, reflect, recompute, retrieve, feedback,
    configure, share,
]  # fmt: skip


async def lived(memory: AsyncMemory) -> AsyncAgent:
    """An agent that has observed and reflected."""
    agent = memory.agent(f"breaks-{uuid4().hex[:12]}")
    await agent.observe_many(
        [
            {"text": "Bo works at the harbour", "id": "o1", "importance": 5},
            {"text": "Bo lifts crates there", "id": "o2", "importance": 5},
            {"text": "Bo wears green", "id": "o3", "key": "coat", "importance": 3},
        ],
        now=T,
    )
    await agent.reflect(force=True, now=T)
    return agent


async def state(agent: AsyncAgent) -> object:
    """All that can be seen of an agent, without ids that are made anew each time."""
    memories = [(m.text, m.status, m.importance, m.last_accessed_at) for m in await agent.memories(limit=1000)]
    log = [(entry.verb, entry.memory.text, entry.seq) for entry in await agent.log(limit=1000)]
    runs = [(run.verb, run.outcome, run.prompt_tokens) for run in await agent.runs()]
    info = await agent.info()
    assert await agent.check() == ()
    counted = (info.observations, info.reflections, info.ended, info.importance_since_reflection, info.revision)
    return sorted(memories, key=str), log, sorted(runs), counted


@pytest.mark.faults
@pytest.mark.report("B32")
@pytest.mark.parametrize("verb", [observe, supersede], ids=lambda verb: verb.__name__)
async def test_b32_a_commit_whose_answer_is_lost_is_made_once_and_told(
    verb: Verb, proxy: Proxy, breaking: AsyncMemory
) -> None:
    """At every commit of a write; `make test-faults` breaks all verbs, before and during commits, and reads as well."""
    await at_every_commit(verb, lambda: ["after"], proxy, breaking)


async def at_every_commit(
    verb: Verb, faults: Callable[[], Sequence[Fault]], proxy: Proxy, breaking: AsyncMemory
) -> int:
    """How often a connection was broken, at each commit in the ways given; what each time is as if it had held."""
    control = await lived(breaking)
    before = proxy.commits
    wanted = await verb(control)
    commits = proxy.commits - before
    assert commits
    wanted_state = await state(control)
    tried = 0
    for at in range(1, commits + 1):
        for fault in faults():
            agent = await lived(breaking)
            proxy.arm(fault, at=at)
            assert await verb(agent) == wanted, (fault, at)
            proxy.disarm()
            assert await state(agent) == wanted_state, (fault, at)
            tried += 1
    return tried


@pytest.mark.faults
async def test_what_breaks_before_a_commit_is_tried_again(proxy: Proxy, breaking: AsyncMemory) -> None:
    agent = await lived(breaking)
    revision = (await agent.info()).revision
    for at in range(1, 7):
        proxy.arm("cut", at=at)
        await agent.observe(f"Bo counts {at}", importance=1, now=LATER)
        proxy.disarm()
    for fault in ("delay", "stall", "half"):
        proxy.arm(fault)
        await agent.observe(f"Bo waits out {fault}", importance=1, now=LATER)
        assert not proxy.disarm()
    info = await agent.info()
    assert (info.observations, info.importance_since_reflection) == (12, 9)
    assert info.revision == revision


@pytest.mark.faults
async def test_a_connection_that_always_breaks_is_given_up_in_time(proxy: Proxy, breaking: AsyncMemory) -> None:
    agent = await lived(breaking)

    async def keep_breaking() -> None:
        while True:
            if not proxy._armed:
                proxy.arm("before")
            await asyncio.sleep(0.001)

    breaker = asyncio.create_task(keep_breaking())
    began = time.monotonic()
    with pytest.raises(StoreUnavailable) as caught:
        await agent.observe("Bo never gets through", now=LATER)
    breaker.cancel()
    proxy.disarm()
    assert caught.value.remedy
    assert time.monotonic() - began < 30
    assert len(await agent.memories()) == 4


async def test_an_outcome_that_cannot_be_asked_for_is_named(
    settings: Settings, embedder: Embedder, agent_id: str
) -> None:
    """The network is gone for good after the COMMIT: whether it was made is said to be unknown, never guessed."""
    with proxying(str(settings.uri)) as proxy:
        through = settings.model_copy(update={"uri": f"bolt://127.0.0.1:{proxy.port}", "retry_timeout": 0.5})
        async with await AsyncMemory.open(settings=through, embedder=embedder) as memory:
            agent = memory.agent(agent_id)
            await agent.observe("it is known", importance=1)
            proxy.arm("gone")
            with pytest.raises(OutcomeUnknown, match="whether it was made is not known") as caught:
                await agent.observe("it is not known", id="x", importance=1)
            assert "without harm" in caught.value.remedy


async def test_more_marks_than_are_kept_are_no_answer(memory: AsyncMemory, agent: AsyncAgent) -> None:
    """A mark that is gone among newer ones proves nothing."""
    store = memory._engine.store
    kept = []

    async def first(tx: object) -> None:
        kept.append(tx)
        await tx.one("agent/create", agentId=agent.id)  # pyright: ignore[reportAttributeAccessIssue]

    await store.write(first)
    transaction = kept[0]
    before = transaction.marked[agent.id]
    assert before == []

    row = await store.write(lambda tx: tx.one("agent/commits", agentId=agent.id))
    assert row is not None
    assert transaction.is_among(row["commits"], before) is True
    for _ in range(32):
        await store.write(lambda tx: tx.one("agent/lock", agentId=agent.id))
    row = await store.write(lambda tx: tx.one("agent/commits", agentId=agent.id))
    assert row is not None
    assert len(row["commits"]) == 32
    assert transaction.is_among(row["commits"], before) is None
    assert transaction.is_among([1, 2], [2, 3]) is False
    assert transaction.is_among([], []) is False
