"""The staleness benchmark in short, and that each of its mutations still breaks something that is there."""

from __future__ import annotations

from uuid import uuid4

import pytest

from benchmarks.staleness import MUTATIONS, ROOT, Mutation, mutated, run
from graphmem import AsyncMemory


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_random_changes_leave_nothing_stale_served_and_nothing_wrongly_withheld(memory: AsyncMemory) -> None:
    result = await run(memory, 200, seed=20261130, stop=True, prefix=f"world-{uuid4().hex[:6]}")
    assert not any(result.wrong.values()), "\n".join(result.trace)
    assert result.operations == 200
    assert result.naive["share of what was active that was wrong"] > 0  # Something was to be noticed.


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_each_mutation_applies(mutation: Mutation) -> None:
    for edit in mutation.edits:
        source = (ROOT / edit[0]).read_text("utf-8")
        assert mutated(source, edit) != source
