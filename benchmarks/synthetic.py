"""Synthetic memories, seeded: clustered vectors, skewed importance, ages that thin out exponentially."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DIMENSION = 384
CLUSTERS = 200


class Synthetic:
    """A population of memories, and an embedder that knows the vector of each by its text."""

    name = "synthetic"
    dimension = DIMENSION

    def __init__(self, count: int, seed: int) -> None:
        chance = np.random.default_rng(seed)
        self._chance = chance
        self.centres = chance.normal(size=(CLUSTERS, DIMENSION))
        self.cluster = chance.integers(0, CLUSTERS, count)
        self.vectors = np.empty((count, DIMENSION), dtype=np.float32)
        for start in range(0, count, 10_000):
            part = self.cluster[start : start + 10_000]
            self.vectors[start : start + 10_000] = _unit(
                self.centres[part] + 0.9 * chance.normal(size=(len(part), DIMENSION))
            )
        self.importance = np.clip(chance.geometric(0.3, count), 1, 10)
        self.hours = chance.exponential(24 * 60, count)
        self._queries: dict[str, NDArray[np.float32]] = {}

    def items(self, start: int, stop: int) -> Iterator[dict[str, object]]:
        """Observations; one in 100 is at ``rare``, one in 10,000 at ``rarest``."""
        for n in range(start, stop):
            place = "rarest" if n % 10_000 == 0 else "rare" if n % 100 == 1 else "usual"
            yield {"id": f"m{n:07}", "text": f"memory {n}", "place": place, "importance": int(self.importance[n]),
                   "occurred_at": NOW - timedelta(hours=float(self.hours[n]))}  # fmt: skip

    def queries(self, many: int) -> list[str]:
        """Queries near a memory each."""
        names: list[str] = []
        for n in self._chance.integers(0, len(self.vectors), many):
            name = f"query {len(self._queries)}"
            self._queries[name] = _unit(self.vectors[n] + 0.03 * self._chance.normal(size=DIMENSION)).astype(np.float32)
            names.append(name)
        return names

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.vectors[[int(text.split()[1]) for text in texts]]

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._queries[text]

    def truncates(self, text: str) -> bool:
        return False


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
