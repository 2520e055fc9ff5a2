"""Connections that break at every end of every transaction of every verb; in a short run, in one of three ways each."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator

import pytest
from proxy import Fault, Proxy, proxying

from graphmem import AsyncMemory
from graphmem.embedding.base import Embedder
from graphmem.settings import Settings
from tests.faults.conftest import SEED, WHOLE, Tell
from tests.verbs.test_broken_connections import VERBS, Verb, at_every_commit, model

pytestmark = [pytest.mark.faults, pytest.mark.timeout(900)]
FAULTS: list[Fault] = ["before", "after", "during"]


@pytest.fixture
def proxy(settings: Settings) -> Iterator[Proxy]:
    with proxying(str(settings.uri)) as found:
        found.reading = True
        yield found


@pytest.fixture
async def breaking(proxy: Proxy, settings: Settings, embedder: Embedder) -> AsyncIterator[AsyncMemory]:
    through = settings.model_copy(update={"uri": f"bolt://127.0.0.1:{proxy.port}", "retry_timeout": 30})
    async with await AsyncMemory.open(settings=through, embedder=embedder, language_model=model()) as memory:
        yield memory


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
async def test_at_every_commit(verb: Verb, proxy: Proxy, breaking: AsyncMemory, tell: Tell) -> None:
    rng = random.Random(f"{SEED} {verb.__name__}")
    tried = await at_every_commit(verb, lambda: FAULTS if WHOLE else rng.sample(FAULTS, 1), proxy, breaking)
    told = "before, after and during" if WHOLE else "before, after or during"
    tell(f"connection broken {told} each commit of {verb.__name__}: {tried} times, seed {SEED}; lost 0, wrong 0")
