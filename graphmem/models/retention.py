"""What putting memories away does, or would do."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from graphmem.models.memories import AnyMemory
from graphmem.models.values import Value

Kept = Literal["ground", "key", "chain"]
"""Why a memory stays although a policy is about it: another memory rests on it, it is the value of a key, or it
corrects another one or was corrected."""


class ArchiveReport(Value):
    """What ``archive`` did, or with ``dry_run`` would do."""

    agent_id: str
    dry_run: bool
    before: datetime
    """The policy was about what happened, was recorded and was last retrieved before this moment,"""
    importance_below: int
    """and is less important than this, from 2 to 11."""
    ids: tuple[str, ...] = ()
    """What was put away, the earliest first."""
    memories: tuple[AnyMemory, ...] = ()
    """The first hundred of these."""
    kept: dict[Kept, int] = Field(default_factory=dict[Kept, int])
    """How many memories stay although the policy is about them, and why."""
    revision: int | None = None
    """The agent's revision afterwards; None where nothing was put away."""


class UnarchiveReport(Value):
    """What ``unarchive`` did."""

    agent_id: str
    ids: tuple[str, ...] = ()
    """What is held again."""
    revision: int | None = None
    """The agent's revision afterwards; None where nothing had been archived."""
