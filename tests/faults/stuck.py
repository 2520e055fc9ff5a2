"""Reflects with a language model that never answers, and says when it is asked: to be killed. Usage: stuck.py AGENT."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from graphmem import AsyncMemory
from graphmem.language.base import Reply, Task
from graphmem.settings import load_settings
from graphmem.testing import HashingEmbedder


class Silent:
    """Never answers."""

    name = "silent"

    async def reply(self, task: Task[Any]) -> Reply[Any]:
        sys.stdout.write("asked\n")
        sys.stdout.flush()
        await asyncio.Event().wait()
        raise AssertionError


async def main() -> None:
    settings = load_settings()
    async with await AsyncMemory.open(
        settings=settings, embedder=HashingEmbedder(16), language_model=Silent()
    ) as memory:
        await memory.agent(sys.argv[1]).reflect(force=True)


if __name__ == "__main__":
    asyncio.run(main())
