"""The past: what an agent believed at a moment, by the log of changes and the times on the relationships.

A memory was active then when the agent had it by then, the last change about it did not end it, and no cause of
staleness was open. Of what was forgotten since, nothing is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem.cognition.engine import Engine
from graphmem.cognition.truth import ENDS, HOLDS
from graphmem.graph.store import Row, Transaction
from graphmem.graph.values import epoch_millis
from graphmem.models import AnyMemory, Status

_TURNS = [*ENDS, *HOLDS]
_FIRST = 500
"""Candidates that are looked at first."""
_LARGEST = 8_000
"""Candidates after which no more are looked at."""


@dataclass(frozen=True)
class Held:
    """A memory's standing at a moment."""

    status: Status
    ended_at: datetime | None


async def believed(tx: Transaction, agent_id: str, ids: Sequence[str], moment: datetime) -> dict[str, Held]:
    """How each of these memories stood at a moment; those that the agent did not have yet are left out."""
    rows = await tx.run("past/believed", agentId=agent_id, ids=list(ids), asOf=moment, ends=ENDS, turns=_TURNS)
    return {row["id"]: Held(row["status"], row["endedAt"]) for row in rows}


def as_it_was(memory: AnyMemory, held: Held) -> AnyMemory:
    """A memory with the status that it had."""
    return memory.model_copy(update={"status": held.status, "ended_at": held.ended_at})


async def best(engine: Engine, parameters: Mapping[str, Any], moment: datetime) -> Row:
    """The best memories of what the agent believed at a moment: ever more candidates, until there are enough.

    Args:
        engine: The open store with its models.
        parameters: What any scoring takes: agent, vector, weights and so on.
        moment: Belief time; recency is counted to it.
    """
    given = {name: value for name, value in parameters.items() if name not in ("now", "nowMillis")}
    candidates = max(_FIRST, 10 * given["k"])
    while True:
        (found,) = await engine.store.query(
            "past/retrieve", **given, nowMillis=epoch_millis(moment), asOf=moment, n=candidates, ends=ENDS, turns=_TURNS
        )
        if found["kept"] >= given["k"] or found["looked"] < candidates or candidates >= _LARGEST:
            return found
        candidates = min(2 * candidates, max(_LARGEST, candidates))


def restricted(row: Row, moment: datetime) -> Row:
    """A relationship as it was at a moment: what ended later had not ended."""
    properties = dict(row["properties"])
    for name in ("until", "revokedAt"):
        if properties.get(name) is not None and properties[name] > moment:
            del properties[name]
    return {**row, "properties": properties}
