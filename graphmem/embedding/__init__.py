"""Embedding models: what they are called and how they are loaded."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

from graphmem.embedding.base import Embedder, Vectors, usable
from graphmem.errors import EmbeddingError, InvalidSettings
from graphmem.settings import Settings

__all__ = ["Embedder", "Vectors", "load", "usable"]

DEFAULT = "bge-small-en-v1.5"
"""The model of ``auto``, by whatever runs it."""
HUB_SECONDS = 1.5
"""How long ``auto`` waits for the model hub before it takes the model in ONNX."""

_FORM = re.compile(r"auto|sentence-transformers/.+|litellm/[^/]*/.*")

_log = logging.getLogger("graphmem")


def load(settings: Settings, *, progress: Callable[[int, int], None] | None = None) -> Embedder:
    """The embedder that ``settings.embedding`` names, its files fetched where they are missing.

    A model that runs in this process is read at the first text, so that a program which embeds nothing does not wait
    for it; unless its dimension is not known before.

    Args:
        settings: ``embedding`` is ``auto``, ``onnx/bge-small-en-v1.5``, ``onnx/all-MiniLM-L6-v2``,
            ``sentence-transformers/<model>`` or ``litellm/<provider>/<model>``.
        progress: Called with the bytes fetched so far and those there are in all, while ONNX files are fetched.

    Raises:
        InvalidSettings: When there is no model of that name.
        MissingExtra: When the extra that it needs is not installed.
        LocalServerError: When the files cannot be fetched.
        EmbeddingError: When the model cannot be found, unpacked or reached.
    """
    check_name(settings.embedding)
    runtime, _, model = settings.embedding.partition("/")
    match runtime:
        case "auto":
            return _auto(settings, progress)
        case "onnx":
            return _onnx(settings, progress)
        case "sentence-transformers":
            from graphmem.embedding.sentence_transformer import SentenceTransformerEmbedder

            return SentenceTransformerEmbedder(model)
        case _:
            from graphmem.embedding.litellm_model import LiteLLMEmbedder

            return LiteLLMEmbedder(
                model,
                api_base=settings.embedding_api_base,
                api_key=settings.embedding_api_key,
                timeout=settings.model_timeout,
                attempts=settings.model_attempts,
                max_wait=settings.model_max_wait,
            )


def check_name(name: str) -> None:
    """Refuse what names no model, without loading one.

    Raises:
        InvalidSettings: When it is none of those that :func:`load` knows.
    """
    if name.startswith("onnx/"):
        from graphmem.embedding import onnx

        known = name in onnx.MODELS
    else:
        known = _FORM.fullmatch(name) is not None
    if not known:
        raise _unknown(name)


def _onnx(settings: Settings, progress: Callable[[int, int], None] | None, name: str | None = None) -> Embedder:
    from graphmem.embedding import onnx

    model = onnx.MODELS[name or settings.embedding]
    return onnx.load(model, cache=settings.cache_dir, maven_url=settings.maven_url, progress=progress)


def _auto(settings: Settings, progress: Callable[[int, int], None] | None) -> Embedder:
    from graphmem.embedding import sentence_transformer

    def instead(reason: str) -> Embedder:
        _log.info("embedding with %s in ONNX: %s", DEFAULT, reason)
        return _onnx(settings, progress, f"onnx/{DEFAULT}")

    if package := sentence_transformer.missing():
        return instead(f"the package {package} is not installed")
    try:
        first = sentence_transformer.SentenceTransformerEmbedder(f"BAAI/{DEFAULT}", seconds=HUB_SECONDS)
    except EmbeddingError as error:
        return instead(str(error))
    return sentence_transformer.AutoEmbedder(first, instead)


def _unknown(name: str) -> InvalidSettings:
    from graphmem.embedding import onnx

    return InvalidSettings(
        f"embedding: there is no model {name!r}",
        setting="embedding",
        remedy=f"choose auto, one of {', '.join(sorted(onnx.MODELS))}, "
        "or sentence-transformers/<model> or litellm/<provider>/<model>",
    )
