"""Leases: the right to work on something, which ends by itself when its holder dies, and lasts as long as it lives."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from graphmem.errors import GraphmemError

LEASE_SECONDS = 60
"""How long somebody may give no sign of life before it is taken for dead; by the server's clock."""
RENEWALS = 4
"""Signs of life in that time: some may fail."""

_log = logging.getLogger("graphmem")


@asynccontextmanager
async def kept(renew: Callable[[], Awaitable[object]], *, seconds: float = LEASE_SECONDS) -> AsyncGenerator[None]:
    """Renew a lease for as long as the block works, however long a model takes to answer.

    A renewal that fails is logged and tried again when the next is due. One that was lost is not noticed here but by
    the transaction that writes, which asks whether the lease is still its own.

    Args:
        renew: Prolongs the lease.
        seconds: How long it lasts each time.
    """

    async def keep() -> None:
        while True:
            await asyncio.sleep(seconds / RENEWALS)
            try:
                await renew()
            except GraphmemError as error:
                _log.warning("could not renew a lease: %s", error)

    keeper = asyncio.create_task(keep())
    try:
        yield
    finally:
        keeper.cancel()
        # Not by awaiting it, which could not tell its cancellation from the caller's.
        await asyncio.wait([keeper])
        if not keeper.cancelled():
            keeper.result()
