"""The embedding model that a store is for, and how a program notices that it is for another one by now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from graphmem.errors import EmbeddingModelChanged

Row = dict[str, Any]
"""A row that a statement returns."""


@dataclass(frozen=True)
class EmbeddingModel:
    """The embedding model whose vectors a program reads and writes."""

    name: str
    dimension: int

    def check(self, rows: Sequence[Row]) -> None:
        """Hold it against what the store is for, by the rows of ``store/schema``.

        Raises:
            EmbeddingModelChanged: When that is another model, or is about to be.
        """
        for row in rows:
            if row["switching"]:
                raise moving(row)
            if (row["embeddingModel"], row["dimension"]) != (self.name, self.dimension):
                raise EmbeddingModelChanged(
                    f"the store was moved from {self.name} to {row['embeddingModel']} since it was opened",
                    remedy=f"open it again, for {row['embeddingModel']} (GRAPHMEM_EMBEDDING)",
                )


def moving(row: Row) -> EmbeddingModelChanged:
    """The error for a store that is being moved to another embedding model, by its row of ``store/schema``."""
    return EmbeddingModelChanged(
        f"the store is being moved from {row['embeddingModel']} to {row['movingTo']}",
        remedy=f"open it again in a while, for {row['movingTo']} (GRAPHMEM_EMBEDDING); a move that was cut off goes on "
        "with the same graphmem reembed",
    )


def with_vectors(parameters: Mapping[str, Any]) -> bool:
    """Whether a statement's parameters hold vectors, as such or in a list of rows."""
    for value in parameters.values():
        if isinstance(value, np.ndarray):
            return True
        if isinstance(value, list | tuple):
            rows = cast("Sequence[Any]", value)
            if any(isinstance(row, Mapping) and "embedding" in row for row in rows):
                return True
    return False
