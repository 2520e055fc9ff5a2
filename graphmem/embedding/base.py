"""The embedder protocol and the one check that every vector passes before it may be stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""Shape (n, dimension), float32, each row of unit length."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of unit length. Calls block; graphmem runs them in worker threads."""

    @property
    def name(self) -> str:
        """The model's name, stored with every vector, e.g. ``bge-small-en-v1.5``."""
        ...

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be stored: shape (len(texts), dimension), float32, unit length.

        Raises:
            EmbeddingError: When the model fails.
        """
        ...

    def embed_query(self, text: str) -> Vectors:
        """Embed a question about stored texts: shape (dimension,), float32, unit length.

        Raises:
            EmbeddingError: When the model fails.
        """
        ...

    def truncates(self, text: str) -> bool:
        """Whether only the beginning of this text is embedded, the rest being over the model's limit."""
        ...


def usable(vector: object, dimension: int) -> bool:
    """Whether a vector may be stored: the right length, every number finite, unit length to within 1e-3."""
    with np.errstate(over="ignore"):  # huge numbers become infinite, which is refused
        try:
            array = np.asarray(vector, dtype=np.float32)
        except (TypeError, ValueError):
            return False
        if array.shape != (dimension,) or not bool(np.isfinite(array).all()):
            return False
        return bool(abs(float(np.linalg.norm(array)) - 1.0) < 1e-3)
