"""Embedders for tests, yours and ours: small, deterministic, failing on request. Not for real memories."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphmem.embedding.base import Embedder, Vectors

__all__ = ["FaultyEmbedder", "HashingEmbedder"]

_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Texts that share words are near each other; nothing else is understood.

    A text's vector is the sum of one pseudo-random vector per word (case ignored), taken from the word's
    hash, scaled to unit length. The same text gives the same vector in every process and on every machine.
    """

    def __init__(self, dimension: int = 64) -> None:
        if dimension < 1:
            raise ValueError(f"dimension must be at least 1, not {dimension}")
        self._dimension = dimension

    @property
    def name(self) -> str:
        """``hashing-`` and the dimension."""
        return f"hashing-{self._dimension}"

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return self._dimension

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be stored: shape (len(texts), dimension), float32, unit length."""
        vectors = np.empty((len(texts), self._dimension), dtype=np.float32)
        for index, text in enumerate(texts):
            vectors[index] = self.embed_query(text)
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Embed a question about stored texts, as the texts are: shape (dimension,), float32, unit length."""
        # Half the vector of the text as a whole is added. Sums of ±1 are whole, so no number of the total is
        # zero: every text has a direction, also one without words or whose words cancel out.
        total = 0.5 * self._signs("text", text)
        for word in _WORD.findall(text.casefold()):
            total += self._signs("word", word)
        return (total / np.linalg.norm(total)).astype(np.float32)

    def truncates(self, text: str) -> bool:
        """Never: every word counts."""
        return False

    def _signs(self, kind: str, value: str) -> NDArray[np.float64]:
        """Pseudo-random numbers, each -1 or 1, shape (dimension,)."""
        digest = hashlib.shake_128(f"{kind}:{value}".encode("utf-8", "surrogatepass")).digest(self._dimension)
        return np.where(np.frombuffer(digest, dtype=np.uint8) < 128, -1.0, 1.0)


class FaultyEmbedder:
    """Another embedder that fails on chosen texts, as embedding servers do.

    Args:
        inner: Embeds all other texts.
        faults: For a text (exactly as it is embedded, so ``"source: text"`` where there is a source): an
            exception to raise, or what to give in place of its vector, such as ``[nan, …]``, ``[0.0, …]``,
            ``[]`` or None. It is read at each call: take an entry out and the embedder has recovered.
    """

    def __init__(self, inner: Embedder, faults: Mapping[str, object]) -> None:
        self._inner = inner
        self._faults = faults

    @property
    def name(self) -> str:
        """The inner embedder's name."""
        return self._inner.name

    @property
    def dimension(self) -> int:
        """The inner embedder's dimension."""
        return self._inner.dimension

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; an exception set for one is raised for all, as by a server that refuses a batch.

        Returns:
            Shape (len(texts), dimension), float32; where a fault is given as anything but an array of shape
            (dimension,), a list of what each text has, one entry a text.
        """
        rows: list[Any] = list(self._inner.embed_documents(texts))
        for index, text in enumerate(texts):
            if text in self._faults:
                rows[index] = self._fault(text)
        shape = (self.dimension,)
        if all(isinstance(row, np.ndarray) and cast(Any, row).shape == shape for row in rows):
            return np.asarray(rows, dtype=np.float32).reshape(len(texts), self.dimension)
        return cast(Vectors, rows)

    def embed_query(self, text: str) -> Vectors:
        """Embed a question; the faults apply to it as well."""
        return self._fault(text) if text in self._faults else self._inner.embed_query(text)

    def truncates(self, text: str) -> bool:
        """As the inner embedder."""
        return self._inner.truncates(text)

    def _fault(self, text: str) -> Any:
        fault = self._faults[text]
        if isinstance(fault, BaseException):
            raise fault
        return fault
