"""The embedder protocol and the one check that every vector passes before it may be stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import EmbeddingError

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


def unit(vector: NDArray[np.float32]) -> Vectors:
    """Scale a vector to unit length.

    Args:
        vector: Shape (dimension,).

    Returns:
        Shape (dimension,), float32, of unit length.

    Raises:
        EmbeddingError: When it has no direction: a number that is not finite, or all zeros.
    """
    wide = vector.astype(np.float64)
    length = float(np.sqrt(np.square(wide).sum()))
    if not np.isfinite(length) or length == 0:
        raise EmbeddingError("the model gave a vector of zeros or with numbers that are not finite")
    return (wide / length).astype(np.float32)
