"""Moving a store to another embedding model: complete, resumable after a kill, and never two models in one ranking."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import Any

import neo4j
import numpy as np
import pytest

from graphmem import AsyncMemory
from graphmem.embedding.base import Vectors
from graphmem.errors import EmbedderUnavailable, EmbeddingError, EmbeddingModelChanged, SchemaMismatch
from graphmem.memory import look
from graphmem.models import Reembedded, Weights
from graphmem.settings import Settings
from graphmem.testing import FaultyEmbedder, HashingEmbedder

pytestmark = pytest.mark.slow

OLD, NEW = HashingEmbedder(64), HashingEmbedder(96)
T = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MANY = 250
SEVENTH = "Bo: gull 7 of the bay"
ALONE = Weights(relevance=1, recency=0, importance=0)


class Other(HashingEmbedder):
    """Another model of the same dimension: its vectors are those of the first, turned around."""

    @property
    def name(self) -> str:
        return "other-64"

    def embed_query(self, text: str) -> Vectors:
        return np.roll(super().embed_query(text), 3)


async def fill(settings: Settings, many: int = MANY) -> None:
    async with await AsyncMemory.open(settings=settings, embedder=OLD) as memory:
        agent = memory.agent("a")
        gulls = [{"text": f"gull {n} of the bay", "id": f"g{n:04}", "source": "Bo"} for n in range(many)]
        await agent.observe_many(gulls)
        await agent.observe("It was a tern", id="ended")
        await agent.retract("ended")
        await agent.observe("A secret", id="gone")
        await agent.forget("gone")
        await memory.agent("b").observe("the lamp of the harbour", id="lamp")


async def vectors(driver: neo4j.AsyncDriver) -> dict[str, tuple[str | None, int]]:
    """By id, the model and the length of each stored vector."""
    found = await driver.execute_query(
        "MATCH (m:Memory) RETURN m.id AS id, m.embeddingModel AS model, size(m.embedding) AS size, keys(m) AS keys"
    )
    assert not [key for record in found.records for key in record["keys"] if "embeddingNext" in key]
    return {record["id"]: (record["model"], record["size"]) for record in found.records}


async def complete(settings: Settings, driver: neo4j.AsyncDriver, many: int = MANY) -> None:
    """All is of the new model, and found by it."""
    stored = await vectors(driver)
    assert stored.pop("gone") == (None, None)
    assert len(stored) == many + 2
    assert set(stored.values()) == {(NEW.name, 96)}
    async with await AsyncMemory.open(settings=settings, embedder=NEW) as memory:
        agent = memory.agent("a")
        hits = await agent.retrieve(SEVENTH, weights=ALONE, touch=False)
        assert hits[0].memory.id == "g0007"
        assert hits[0].relevance.raw == pytest.approx(1, abs=1e-4)
        assert (hits.exact, len(hits)) == (True, 10)
        (lamp,) = await memory.agent("b").retrieve("the lamp of the harbour")
        assert lamp.relevance.raw == pytest.approx(1, abs=1e-4)
        assert await agent.check() == ()
        assert (await memory.info()).moving_to is None
    with pytest.raises(SchemaMismatch, match=r"hashing-96 \(96 dimensions\).*hashing-64"):
        await AsyncMemory.open(settings=settings, embedder=OLD)


async def test_to_another_dimension_while_it_is_in_use(throw_away: Settings, bare: neo4j.AsyncDriver) -> None:
    await fill(throw_away)
    told: list[tuple[str, float | None]] = []
    using = await AsyncMemory.open(settings=throw_away, embedder=OLD)
    agent = using.agent("a")
    outcomes: list[object] = []
    over, begun = asyncio.Event(), asyncio.Event()

    async def use() -> None:
        """Retrieve and observe all along: whole answers of the old model, or the named error, nothing else."""
        n = 0
        while not over.is_set():
            try:
                hits = await agent.retrieve(SEVENTH, weights=ALONE, touch=False)
                assert len(hits) == 10
                assert hits[0].memory.id == "g0007"
                await agent.observe(f"later {n}", id=f"later-{n}")
                outcomes.append(n)
                begun.set()
                n += 1
            except EmbeddingModelChanged as error:
                outcomes.append(error)
                await asyncio.sleep(0.05)

    user = asyncio.create_task(use())
    await begun.wait()
    report = await AsyncMemory.reembed(
        settings=throw_away, embedder=NEW, progress=lambda message, fraction: told.append((message, fraction))
    )
    over.set()
    await user
    later = sum(isinstance(outcome, int) for outcome in outcomes)
    assert (report.before, report.after, report.dimension, report.not_embedded) == ("hashing-64", "hashing-96", 96, 0)
    assert report.memories == report.embedded == MANY + 2 + later
    fractions = [fraction for message, fraction in told if message == "embedding with the new model"]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1
    refused = [outcome for outcome in outcomes if isinstance(outcome, EmbeddingModelChanged)]
    for verb in (agent.retrieve("gull"), agent.observe("too late"), agent.retrieve("gull", as_of=T)):
        with pytest.raises(EmbeddingModelChanged, match="moved from hashing-64 to hashing-96") as late:
            await verb
        refused.append(late.value)
    assert all("GRAPHMEM_EMBEDDING" in error.remedy for error in refused)
    assert (await agent.get("g0001")).text == "gull 1 of the bay"  # What needs no vector goes on.
    await using.close()
    await complete(throw_away, bare, MANY + later)
    # Again: there is nothing to do.
    again = await AsyncMemory.reembed(settings=throw_away, embedder=NEW)
    assert again == Reembedded(before=NEW.name, after=NEW.name, dimension=96)


async def test_models_of_one_dimension_are_never_mixed(throw_away: Settings, bare: neo4j.AsyncDriver) -> None:
    await fill(throw_away, 30)
    async with await AsyncMemory.open(settings=throw_away, embedder=OLD) as before:
        await AsyncMemory.reembed(settings=throw_away, embedder=Other(64))
        with pytest.raises(EmbeddingModelChanged, match="moved from hashing-64 to other-64"):
            await before.agent("a").retrieve("gull 7 of the bay")
        with pytest.raises(EmbeddingModelChanged):
            await before.agent("a").observe("of the old model")
    assert {model for model, _ in (await vectors(bare)).values()} == {"other-64", None}
    async with await AsyncMemory.open(settings=throw_away, embedder=Other(64)) as after:
        hits = await after.agent("b").retrieve("the lamp of the harbour")
        assert hits[0].relevance.raw == pytest.approx(1, abs=1e-4)


KILLED = """
import os, signal, sys
from graphmem import Memory
from graphmem.settings import Settings
from graphmem.testing import HashingEmbedder

def progress(message, fraction):
    if message == sys.argv[1] and (fraction is None or fraction >= float(sys.argv[2])):
        os.kill(os.getpid(), signal.SIGKILL)

settings = Settings(uri=sys.argv[3], password=sys.argv[4])
Memory.reembed(settings=settings, embedder=HashingEmbedder(96), progress=progress)
"""


@pytest.mark.faults
@pytest.mark.parametrize(
    ("message", "fraction", "switching"),
    [
        ("embedding with the new model", 0.3, False),
        ("switching to the new vectors", 0.0, True),
        ("building the index", 0.0, True),
    ],
)
async def test_after_a_kill_it_goes_on(
    throw_away: Settings, bare: neo4j.AsyncDriver, message: str, fraction: float, switching: bool
) -> None:
    await fill(throw_away)
    assert throw_away.uri is not None
    assert throw_away.password is not None
    killed = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", KILLED, message, str(fraction), throw_away.uri, throw_away.password.get_secret_value()],
        capture_output=True,
        text=True,
    )
    assert killed.returncode == -9, killed.stderr
    found = await asyncio.to_thread(look, throw_away)
    assert found is not None
    assert (found.info.embedding_model, found.info.moving_to, found.info.switching) == (OLD.name, NEW.name, switching)
    quick = throw_away.model_copy(update={"index_timeout": 0.5})
    if switching:
        # Nobody gets in, for either model, and a third one has to wait for the second.
        for embedder in (OLD, NEW):
            with pytest.raises(EmbeddingModelChanged, match="being moved from hashing-64 to hashing-96") as refused:
                await AsyncMemory.open(settings=quick, embedder=embedder)
            assert "graphmem reembed" in refused.value.remedy
        with pytest.raises(EmbeddingModelChanged, match="to hashing-96"):
            await AsyncMemory.reembed(settings=throw_away, embedder=HashingEmbedder(16))
    else:
        async with await AsyncMemory.open(settings=throw_away, embedder=OLD) as memory:
            assert len(await memory.agent("a").retrieve("gull 7 of the bay", touch=False)) == 10
    begun = time.monotonic()
    report = await AsyncMemory.reembed(settings=throw_away, embedder=NEW)
    assert time.monotonic() - begun < 40  # The lease of the one that was killed ends by itself.
    # What it had embedded is not embedded again.
    assert report.embedded <= (MANY + 2 - 100 if not switching else 0)
    await complete(throw_away, bare)


async def test_a_model_that_fails_changes_nothing_and_texts_that_fail_are_tried_again(
    throw_away: Settings, bare: neo4j.AsyncDriver
) -> None:
    await fill(throw_away, 20)

    class Down(HashingEmbedder):
        def embed_documents(self, texts: Any) -> Vectors:
            raise EmbedderUnavailable("no answer")

        def embed_query(self, text: str) -> Vectors:
            raise EmbedderUnavailable("no answer")

    with pytest.raises(EmbeddingError, match="no answer"):
        await AsyncMemory.reembed(settings=throw_away, embedder=Down(96))
    async with await AsyncMemory.open(settings=throw_away, embedder=OLD) as memory:
        assert len(await memory.agent("a").retrieve("gull")) == 10
    poisoned = FaultyEmbedder(NEW, faults={SEVENTH: None})
    report = await AsyncMemory.reembed(settings=throw_away, embedder=poisoned)
    assert (report.not_embedded, report.memories) == (1, 22)
    async with await AsyncMemory.open(settings=throw_away, embedder=NEW) as memory:
        assert (await memory.agent("a").info()).not_embedded == 1
        assert (await memory.work_once()).embedded == 1
        (hit,) = await memory.agent("a").retrieve(SEVENTH, weights=ALONE, k=1)
        assert hit.memory.id == "g0007"
