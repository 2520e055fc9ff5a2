"""Between Python's values and the driver's: times, vectors, and what a node that was deleted meanwhile looks like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from datetime import UTC, datetime
from typing import Any, cast

import numpy as np
from neo4j.time import DateTime
from neo4j.vector import Vector


class Vanished(Exception):
    """A node was deleted while a statement was reading it: it came without properties, or without labels.

    Neo4j reads what is committed, without locks: what a statement has found may be gone when it reads its properties.
    Whoever reads begins again.

    Args:
        surely: Nothing but a deletion looks so; else the node may lack something for good, changed by hand.
    """

    def __init__(self, *, surely: bool = False) -> None:
        super().__init__()
        self.surely = surely


def encode(value: Any) -> Any:
    """Turn numpy vectors into the driver's and times into UTC, at any depth; everything else the driver knows."""
    if isinstance(value, np.ndarray):
        return Vector.from_numpy(np.asarray(value, dtype=np.float32))  # pyright: ignore[reportUnknownMemberType]
    if isinstance(value, datetime):
        return value.astimezone(UTC)  # All times are stored, and compared, in UTC.
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [encode(item) for item in cast("Sequence[Any]", value)]
    return value


_MEMORY = {
    "id", "agentId", "kind", "text", "status", "held", "depth", "importance", "importanceBy",
    "occurredAt", "recordedAt", "lastAccessedAt",
}  # fmt: skip
ALWAYS: Mapping[str, Set[str]] = {
    "memory": _MEMORY,
    "past": _MEMORY,
    "change": {"agentId", "seq", "ordinal", "verb", "at", "by", "reason"},
    "run": {"agentId", "id", "verb", "model", "promptVersion", "startedAt", "outcome"},
    "place": {"scope", "path", "name"},
    "agent": {"id", "name", "timeZone", "revision", "held", "reflectionThreshold", "importanceSinceReflection"},
    "simulation": {"name", "steps", "done"},
    "step": {"agentId", "simulation", "number"},
}
"""What each node has that statements return under these names with all its properties. Of one that is deleted in the
very moment some may be read and others not."""
_NOTHING: Set[str] = frozenset()


def decode(value: Any) -> Any:
    """Turn the driver's times into aware datetimes in UTC, at any depth.

    Raises:
        Vanished: When one of the nodes returned was deleted meanwhile. Each that is returned has its ``id`` or its
            ``labels`` beside it, and both are there while the node is.
    """
    if isinstance(value, DateTime):
        return value.to_native().astimezone(UTC)
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        if found.get("labels") == []:
            raise Vanished(surely=True)  # It was found by its label.
        if found.get("id", "") is None:
            raise Vanished
        for name, item in found.items():
            if isinstance(item, dict) and not ALWAYS.get(name, _NOTHING) <= cast("dict[str, Any]", item).keys():
                raise Vanished
        return {key: decode(item) for key, item in found.items()}
    if isinstance(value, list):
        return [decode(item) for item in cast("list[Any]", value)]
    return value


def epoch_millis(time: datetime) -> float:
    """Milliseconds since 1970, as Neo4j's ``datetime.epochMillis`` counts them."""
    return time.timestamp() * 1000
