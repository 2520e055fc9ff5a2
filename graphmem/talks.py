"""Conversations and what spreads by them, synchronously: each verb is that of :class:`AsyncTalks`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from graphmem.async_talks import AsyncTalks
from graphmem.models.diffusion import Diffusion
from graphmem.models.talks import Conversation
from graphmem.threads import documented_by

if TYPE_CHECKING:
    from graphmem.threads import Portal


@documented_by(AsyncTalks)
class Talks:
    """Conversations and what spreads by them, synchronously: see :class:`graphmem.memory.Memory`."""

    _talks: AsyncTalks
    _portal: Portal

    def converse(
        self,
        a: str,
        b: str,
        *,
        about: str | None = None,
        turns: int = 8,
        id: str | None = None,
        place: str | None = None,
        now: object = None,
    ) -> Conversation:
        """See :meth:`AsyncTalks.converse`."""
        return self._portal.call(
            partial(self._talks.converse, a, b, about=about, turns=turns, id=id, place=place, now=now)
        )

    def diffusion(self, fact: str, *, from_: str | None = None, agents: Iterable[str] | None = None) -> Diffusion:
        """See :meth:`AsyncTalks.diffusion`."""
        return self._portal.call(partial(self._talks.diffusion, fact, from_=from_, agents=agents))
