"""A lease is renewed while its holder works, and a renewal that fails is no more than that."""

from __future__ import annotations

import asyncio
import logging

import pytest

from graphmem.cognition.leases import RENEWALS, kept
from graphmem.errors import StoreUnavailable


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
