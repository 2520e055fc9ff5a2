"""Embedding models of any provider, through LiteLLM.

Texts over the model's limit
----------------------------
How many tokens a text has is known to its model only: counts by another tokenizer are too low for some texts. So a
text is sent whole, and when the model says that it is too long, its first half is, and so on. `truncates` then says
so. A server that cuts texts on its own without saying so cannot be told from one that does not.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from pydantic import SecretStr

from graphmem.embedding.base import Vectors, unit
from graphmem.embedding.instructions import instructions
from graphmem.errors import EmbedderAuthenticationFailed, EmbedderUnavailable, EmbeddingError
from graphmem.providers import Endpoint, Failure, Patience, import_litellm, within

TEXTS_AT_ONCE = 64
"""Texts in a request: below the limit of every provider that has one."""
CHARACTERS_AT_ONCE = 100_000
"""Characters in a request of more than one text."""
SHORTENED = 50_000
"""Texts that are remembered as shortened, the latest ones."""

_log = logging.getLogger("graphmem")


class LiteLLMEmbedder:
    """An embedding model of any provider that litellm knows, or of an OpenAI-compatible server.

    May be called from several threads at once. The dimension is found by embedding one text when it is made.

    Args:
        model: ``<provider>/<model>``, as litellm names it, e.g. ``openai/text-embedding-3-small``.
        api_base: The server's address; None: the provider's own.
        api_key: None: the provider's own environment variable.
        timeout: Seconds for one request.
        attempts: How many times a request is made, at most.
        max_wait: Seconds of waiting for rate limits and failing servers, all told, for one request.

    Raises:
        EmbedderAuthenticationFailed, EmbedderUnavailable, EmbeddingError: See `embed_documents`.
    """

    def __init__(
        self,
        model: str,
        *,
        api_base: str | None = None,
        api_key: SecretStr | None = None,
        timeout: float = 120,
        attempts: int = 3,
        max_wait: float = 120,
    ) -> None:
        self._endpoint = Endpoint(model, api_base, api_key, timeout, attempts, max_wait)
        self._litellm = import_litellm()
        self._for_query, self._for_document = _input_types(model)
        self._query_prefix, self._document_prefix = instructions(model)
        self._shortened: OrderedDict[bytes, None] = OrderedDict()
        self._lock = threading.Lock()
        self._dimension = 0
        self._dimension = len(self._embed_all([self._document_prefix + "dimension"], self._for_document)[0])

    @property
    def name(self) -> str:
        """``<provider>/<model>``."""
        return self._endpoint.model

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return self._dimension

    def __repr__(self) -> str:
        return f"LiteLLMEmbedder({self.name!r})"

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be stored; of a text over the model's limit only the beginning counts.

        Returns:
            Shape (len(texts), dimension), float32, each row of unit length.

        Raises:
            EmbedderAuthenticationFailed: When the provider refuses the key; not tried again.
            EmbedderUnavailable: When it gives no answer in time, fails, or limits the rate for longer than may be
                waited.
            EmbeddingError: When it refuses the request, or answers with something else than one vector of the right
                length for each text.
        """
        if not texts:
            return np.empty((0, self._dimension), dtype=np.float32)
        return np.stack(self._embed_all([self._document_prefix + text for text in texts], self._for_document))

    def embed_query(self, text: str) -> Vectors:
        """Embed a question about stored texts.

        Returns:
            Shape (dimension,), float32, unit length.

        Raises:
            EmbedderAuthenticationFailed, EmbedderUnavailable, EmbeddingError: See `embed_documents`.
        """
        return self._embed_all([self._query_prefix + text], self._for_query)[0]

    def truncates(self, text: str) -> bool:
        """Whether only the beginning of this text was embedded: true only of texts that this object embedded."""
        with self._lock:
            return _digest(self._document_prefix + text) in self._shortened

    def _embed_all(self, texts: Sequence[str], parameters: dict[str, str]) -> list[Vectors]:
        vectors: list[Vectors] = []
        for batch in _batches(texts):
            vectors += self._embed(batch, parameters)
        return vectors

    def _embed(self, texts: list[str], parameters: dict[str, str]) -> list[Vectors]:
        """Embed one batch; where it is too long, each half of it, down to half of a text."""
        found = self._request(texts, parameters)
        if not isinstance(found, Failure):
            return found
        if len(texts) > 1:
            half = len(texts) // 2
            return self._embed(texts[:half], parameters) + self._embed(texts[half:], parameters)
        (text,) = texts
        if len(text) < 2:
            raise _error(found, Patience(self._endpoint))
        shortened = self._embed([text[: len(text) // 2]], parameters)
        with self._lock:
            self._shortened[_digest(text)] = None
            while len(self._shortened) > SHORTENED:
                self._shortened.popitem(last=False)
        return shortened

    def _request(self, texts: list[str], parameters: dict[str, str]) -> list[Vectors] | Failure:
        """The vectors of these texts, or a failure of the kind ``too long``."""
        patience = Patience(self._endpoint)
        while True:
            answer = self._ask(texts, parameters, patience)
            if not isinstance(answer, Failure):
                return self._vectors(answer, len(texts))
            if answer.kind == "too long":
                return answer
            pause = patience.pause(answer)
            if pause is None:
                raise _error(answer, patience)
            _log.info("%s: %s; asking again in %.1f s", self._endpoint, answer.message, pause)
            time.sleep(pause)

    def _ask(self, texts: list[str], parameters: dict[str, str], patience: Patience) -> list[Any] | Failure:
        patience.requests += 1
        arguments = self._endpoint.arguments() | parameters

        def work() -> list[Any]:
            return list(self._litellm.embedding(**arguments, input=texts, encoding_format="float").data)

        try:
            return within(self._endpoint.timeout, work)
        except Exception as error:
            # litellm's errors have no common type. What is raised instead is raised outside of this block: the
            # original may hold the key.
            return self._endpoint.failure(error)

    def _vectors(self, items: list[Any], count: int) -> list[Vectors]:
        """The vectors of an answer in the order of the texts."""
        by_index = {item.get("index"): item.get("embedding") for item in items}
        if len(items) != count or set(by_index) != set(range(count)):
            raise self._unusable(f"{len(items)} vectors, numbered {sorted(map(str, by_index))}, for {count} texts")
        vectors: list[Vectors] = []
        for index in range(count):
            try:
                vector = np.asarray(by_index[index], dtype=np.float32)
            except (TypeError, ValueError):
                raise self._unusable("a vector that does not consist of numbers") from None
            if vector.ndim != 1 or not len(vector):
                raise self._unusable("a vector without numbers")
            if len(vector) != (self._dimension or len(vector)):
                raise self._unusable(f"a vector of {len(vector)} numbers; the first one had {self._dimension}")
            try:
                vectors.append(unit(vector))
            except EmbeddingError as error:
                raise self._unusable(f"an unusable vector: {error}") from error
        return vectors

    def _unusable(self, what: str) -> EmbeddingError:
        return EmbeddingError(f"{self._endpoint} gave {what}", remedy="choose another embedding model")


def _input_types(model: str) -> tuple[dict[str, str], dict[str, str]]:
    """Parameters that tell a provider whether a text is a query or a document."""
    provider, _, name = model.partition("/")
    key, query, document = "input_type", "", ""
    if provider == "cohere" or (provider in ("azure_ai", "bedrock") and "cohere" in name.lower()):
        query, document = "search_query", "search_document"
    elif provider == "voyage":
        query, document = "query", "document"
    elif provider == "nvidia_nim":
        query, document = "query", "passage"
    elif provider in ("gemini", "vertex_ai"):
        query, document = "RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"
    elif provider == "jina_ai" and "embeddings-v2" not in name:
        key, query, document = "task", "retrieval.query", "retrieval.passage"
    return ({key: query}, {key: document}) if query else ({}, {})


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == TEXTS_AT_ONCE or size + len(text) > CHARACTERS_AT_ONCE):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def _error(failure: Failure, patience: Patience) -> EmbeddingError:
    message = patience.told(failure)
    match failure.kind:
        case "authentication":
            remedy = "set GRAPHMEM_EMBEDDING_API_KEY, or the provider's own variable, to a valid key"
            return EmbedderAuthenticationFailed(message, remedy=remedy)
        case "rate limit":
            return EmbedderUnavailable(message, remedy="try later, or raise GRAPHMEM_MODEL_MAX_WAIT")
        case "no answer":
            remedy = "try later; check GRAPHMEM_EMBEDDING_API_BASE, or raise GRAPHMEM_MODEL_TIMEOUT"
            return EmbedderUnavailable(message, remedy=remedy)
        case "too long" | "format" | "refused":
            return EmbeddingError(message, remedy="check GRAPHMEM_EMBEDDING, and the account at the provider")
