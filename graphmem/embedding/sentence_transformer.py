"""Any sentence model of the model hub or in a folder, by sentence-transformers (torch; floats, not quantised).

Importing torch takes seconds, so nothing here does so before a text is embedded, or a model whose dimension is not
known is loaded. Weights that are on this machine are loaded from there, without asking the hub; for others it is
first seen, within a bounded time, whether the hub answers at all.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from graphmem.embedding import onnx
from graphmem.embedding.base import Embedder, Vectors, unit
from graphmem.embedding.instructions import instructions
from graphmem.errors import EmbeddingError, MissingExtra
from graphmem.providers import within

HUB_SECONDS = 10.0
"""How long the model hub may take to answer when a model was asked for by name."""
_EXTRA = "pip install 'graphmem[sentence-transformers]'"
_OWNER = "sentence-transformers"
_KNOWN = {"BAAI/bge-small-en-v1.5": "bge-small-en-v1.5", f"{_OWNER}/all-MiniLM-L6-v2": "all-MiniLM-L6-v2"}
"""Models that run in ONNX as well, and their name there: a store may be used with either."""
_DIMENSIONS = {model.name: model.dimension for model in onnx.MODELS.values()}

_log = logging.getLogger("graphmem")


def missing() -> str:
    """Which package is not installed; empty when all are."""
    return next((package for package in ("sentence_transformers", "torch") if find_spec(package) is None), "")


def source(model: str, *, seconds: float = HUB_SECONDS) -> str:
    """Where a model is loaded from: a folder on this machine, or its name on a hub that answers.

    Args:
        model: A folder, or a name on the model hub; without an owner: one of sentence-transformers' own.
        seconds: How long the hub may take to answer.

    Raises:
        EmbeddingError: When it is not on this machine and the hub does not answer, or does not have it.
    """
    if Path(model).is_dir():
        return model
    repository = model if "/" in model else f"{_OWNER}/{model}"
    import huggingface_hub

    hub: Any = huggingface_hub
    config = hub.try_to_load_from_cache(repository, "config.json")
    if isinstance(config, str):
        folder = Path(config).parent
        if any(folder.glob("*.safetensors")) or any(folder.glob("*.bin")):
            return str(folder)
    remedy = "check its name and the network, or give the folder that holds it: sentence-transformers/<folder>"
    if hub.constants.HF_HUB_OFFLINE:
        raise EmbeddingError(
            f"the weights of {repository} are not on this machine, and HF_HUB_OFFLINE is set", remedy=remedy
        )

    try:
        within(seconds, lambda: hub.get_hf_file_metadata(hub.hf_hub_url(repository, "config.json"), timeout=seconds))
    except Exception as error:  # The hub's, the HTTP client's and the socket's errors have no common type.
        problem = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise EmbeddingError(
            f"the weights of {repository} are not on this machine, and the model hub {hub.constants.ENDPOINT} does not "
            f"give them: {problem}",
            remedy=remedy,
        ) from error
    return repository


@contextmanager
def _no_progress_bars() -> Generator[None]:
    """Keep the model hub and transformers from drawing on the terminal; what was set is set again."""
    hub = import_module("huggingface_hub.utils")
    weights = import_module("transformers.utils.logging")
    hub_shown, weights_shown = not hub.are_progress_bars_disabled(), weights.is_progress_bar_enabled()
    hub.disable_progress_bars()
    weights.disable_progress_bar()
    try:
        yield
    finally:
        if hub_shown:
            hub.enable_progress_bars()
        if weights_shown:
            weights.enable_progress_bar()


class SentenceTransformerEmbedder:
    """Embeds with a model of sentence-transformers; may be called from several threads, one works at a time.

    Args:
        model: A folder, or a name on the model hub. A folder's name is taken for the model's.
        seconds: How long the hub may take to answer where the model is not on this machine.

    Raises:
        MissingExtra: When the extra ``sentence-transformers`` is not installed.
        EmbeddingError: When the model is neither on this machine nor given by the hub.
    """

    def __init__(self, model: str, *, seconds: float = HUB_SECONDS) -> None:
        if package := missing():
            raise MissingExtra(
                f"the embedding model sentence-transformers/{model} needs the package {package}, which is not "
                "installed",
                remedy=_EXTRA,
            )
        folder = Path(model).is_dir()
        repository = model if folder or "/" in model else f"{_OWNER}/{model}"
        self._name = Path(model).resolve().name if folder else _KNOWN.get(repository, repository)
        self._source = source(model, seconds=seconds)
        self._prefixes = instructions(self._name)
        self._lock = threading.RLock()
        self._model: Any = None
        self._dimension = _DIMENSIONS.get(self._name)

    @property
    def name(self) -> str:
        """The model's name on the hub, or its folder's; ``bge-small-en-v1.5`` for the model that ONNX has as well."""
        return self._name

    @property
    def dimension(self) -> int:
        """Length of each vector; loads the model where that is not known.

        Raises:
            EmbeddingError: When the model cannot be loaded.
        """
        if self._dimension is None:
            self._dimension = len(self.embed_query("dimension"))
        return self._dimension

    def __repr__(self) -> str:
        return f"SentenceTransformerEmbedder({self._name!r})"

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be stored; of a text over the model's limit only the beginning counts.

        Returns:
            Shape (len(texts), dimension), float32, each row of unit length.

        Raises:
            EmbeddingError: When the model cannot be loaded, or fails.
        """
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return self._embed("encode_document", [self._prefixes[1] + text for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Embed a question about stored texts.

        Returns:
            Shape (dimension,), float32, unit length.

        Raises:
            EmbeddingError: When the model cannot be loaded, or fails.
        """
        return self._embed("encode_query", [self._prefixes[0] + text])[0]

    def truncates(self, text: str) -> bool:
        """Whether only the beginning of this text is embedded, the rest being over the model's limit.

        Raises:
            EmbeddingError: When the model cannot be loaded, or its tokenizer fails.
        """
        with self._lock:
            model = self.load()
            limit: int | None = model.max_seq_length
            if limit is None:
                return False
            text = self._prefixes[1] + text
            if text[onnx.CHARACTERS_PER_TOKEN * limit :].strip():
                return True
            try:
                tokens = model.tokenizer(text, truncation=False, verbose=False)["input_ids"]
            except Exception as error:  # Tokenizers' errors have no common type.
                raise self._failed(error) from error
            return len(tokens) > limit

    def load(self) -> Any:
        """Load the model now instead of at the first text.

        Raises:
            EmbeddingError: When it cannot be loaded.
        """
        with self._lock:
            if self._model is None:
                self._model = self._read()
            return self._model

    def _read(self) -> Any:
        try:
            package = import_module("sentence_transformers")
            with _no_progress_bars():
                return package.SentenceTransformer(self._source, local_files_only=Path(self._source).is_dir())
        except Exception as error:  # torch's, the hub's and the files' errors have no common type.
            raise EmbeddingError(
                f"the model {self._name} could not be loaded from {self._source}: {type(error).__name__}: {error}",
                remedy="reinstall sentence-transformers and torch, or set GRAPHMEM_EMBEDDING to an onnx/… model",
            ) from error

    def _embed(self, how: str, texts: list[str]) -> Vectors:
        with self._lock:  # Its tokenizer may not be used by two threads at once.
            model = self.load()
            limit: int | None = model.max_seq_length
            if limit is not None:
                texts = [text[: onnx.CHARACTERS_PER_TOKEN * limit] for text in texts]
            try:
                vectors: Any = getattr(model, how)(texts, show_progress_bar=False, convert_to_numpy=True)
            except Exception as error:  # torch's and the tokenizer's errors have no common type.
                raise self._failed(error) from error
        return np.stack([unit(np.asarray(vector, dtype=np.float32)) for vector in vectors])

    def _failed(self, error: Exception) -> EmbeddingError:
        return EmbeddingError(
            f"{self._name} failed: {type(error).__name__}: {error}", remedy="leave that text out, or report it"
        )


class AutoEmbedder:
    """bge-small-en-v1.5 by sentence-transformers, or in ONNX where that cannot be loaded: one name for both.

    Args:
        first: Tried at the first text: loading it takes long, and may fail.
        instead: Makes the other.
    """

    def __init__(self, first: SentenceTransformerEmbedder, instead: Callable[[str], Embedder]) -> None:
        self._first = first
        self._instead = instead
        self._lock = threading.Lock()
        self._chosen: Embedder | None = None

    @property
    def name(self) -> str:
        """``bge-small-en-v1.5``."""
        return self._first.name

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return self._first.dimension

    def __repr__(self) -> str:
        return f"AutoEmbedder({self._chosen or self._first!r})"

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """See the embedder that was chosen."""
        return self.chosen().embed_documents(texts)

    def embed_query(self, text: str) -> Vectors:
        """See the embedder that was chosen."""
        return self.chosen().embed_query(text)

    def truncates(self, text: str) -> bool:
        """See the embedder that was chosen."""
        return self.chosen().truncates(text)

    def chosen(self) -> Embedder:
        """The one that is used; loads it when it is asked for the first time."""
        with self._lock:
            if self._chosen is None:
                try:
                    self._first.load()
                except EmbeddingError as error:
                    self._chosen = self._instead(str(error))
                else:
                    _log.info("embedding with %s by sentence-transformers", self._first.name)
                    self._chosen = self._first
            return self._chosen
