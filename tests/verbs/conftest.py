"""Fixtures of the verbs: stores with a scripted language model, and the invariants after every test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from scripted import Open

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.embedding.base import Embedder
from graphmem.language.base import LanguageModel


@pytest.fixture
async def thinking(memory: AsyncMemory, embedder: Embedder, agent_id: str) -> AsyncIterator[Open]:
    """Gives this test's agent with a language model of its own."""
    async with AsyncExitStack() as stack:

        async def open_with(model: LanguageModel) -> AsyncAgent:
            other = await AsyncMemory.open(settings=memory.settings, embedder=embedder, language_model=model)
            await stack.enter_async_context(other)
            return other.agent(agent_id)

        yield open_with


@pytest.fixture
async def born(memory: AsyncMemory, agent_id: str) -> None:
    """This test's agent is there, and remembers nothing: nobody comes into being by being asked."""
    await memory.agent(agent_id).configure(time_zone="UTC")


@pytest.fixture(autouse=True)
async def invariants(memory: AsyncMemory, agent_id: str) -> AsyncIterator[None]:
    """Every test leaves a graph in which all rules hold."""
    yield
    assert await memory.agent(agent_id).check() == ()
