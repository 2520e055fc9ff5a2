"""Embedding models of providers, over HTTP, against a server that plays what they do wrong."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any, cast

import numpy as np
import pytest
from openai_server import RESET, Answer, Behaviour, Request, Server, embeds, fails, hangs, serve
from pydantic import SecretStr

from graphmem.cognition.engine import Engine
from graphmem.embedding import load
from graphmem.embedding.base import Embedder, usable
from graphmem.embedding.litellm_model import LiteLLMEmbedder
from graphmem.errors import (
    EmbedderAuthenticationFailed,
    EmbedderUnavailable,
    EmbeddingError,
    InvalidSettings,
)
from graphmem.providers import import_litellm
from graphmem.settings import Settings, load_settings

KEY = "sk-testing-0123456789abcdef"


@pytest.fixture(scope="module", autouse=True)
def _imported() -> None:
    """Importing litellm takes seconds, which belong to no test's time."""
    import_litellm()


def letters(text: str) -> list[float]:
    """How often some letters occur: eight numbers that tell the texts of these tests apart."""
    return [1.0, *(float(text.count(letter)) for letter in "abcdeno")]


GOOD = embeds(letters)


def model(server: Server, name: str = "openai/scripted", **options: Any) -> LiteLLMEmbedder:
    given = {"api_base": server.url, "api_key": SecretStr(KEY), "timeout": 20, "max_wait": 5} | options
    return LiteLLMEmbedder(name, **given)


def inputs(server: Server) -> list[list[str]]:
    """The texts of each request but the first, by which the dimension was found."""
    return [request.body["input"] for request in server.requests[1:]]


def unit(text: str) -> np.ndarray[Any, Any]:
    vector = np.array(letters(text))
    return vector / np.linalg.norm(vector)


def test_vectors_are_of_unit_length_and_in_the_order_of_the_texts() -> None:
    with serve(GOOD) as server:
        embedder = model(server)
        vectors = embedder.embed_documents(["a banana", "an ode", "a banana"])
        query = embedder.embed_query("an ode")

    assert isinstance(embedder, Embedder)
    assert (embedder.name, embedder.dimension) == ("openai/scripted", 8)
    assert vectors.dtype == np.float32
    assert vectors == pytest.approx(np.stack([unit(text) for text in ("a banana", "an ode", "a banana")]))
    assert query == pytest.approx(unit("an ode"))
    assert all(usable(vector, 8) for vector in [*vectors, query])
    assert len(server.requests) == 3
    request = server.requests[1]
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "scripted",
        "input": ["a banana", "an ode", "a banana"],
        "encoding_format": "float",
    }


def test_no_texts_are_no_request() -> None:
    with serve(GOOD) as server:
        assert model(server).embed_documents([]).shape == (0, 8)

    assert len(server.requests) == 1


def test_many_texts_are_sent_in_batches() -> None:
    texts = [f"bead {number}" for number in range(150)]
    with serve(GOOD) as server:
        vectors = model(server).embed_documents(texts)

    assert [len(batch) for batch in inputs(server)] == [64, 64, 22]
    assert vectors == pytest.approx(np.stack([unit(text) for text in texts]))


def test_long_texts_are_sent_few_at_a_time() -> None:
    with serve(GOOD) as server:
        model(server).embed_documents(["a" * 40_000] * 5)

    assert [len(batch) for batch in inputs(server)] == [2, 2, 1]


def test_several_threads_may_embed_at_once() -> None:
    texts = [f"ode {'a' * number}" for number in range(12)]
    with serve(GOOD) as server, ThreadPoolExecutor(6) as pool:
        vectors = list(pool.map(model(server).embed_query, texts))

    assert np.stack(vectors) == pytest.approx(np.stack([unit(text) for text in texts]))


# --- queries and documents ---------------------------------------------------------------------------------------


def cohere(request: Request) -> Answer:
    vectors = [letters(text) for text in request.body["texts"]]
    return Answer(body={"id": "1", "embeddings": {"float": vectors}, "meta": {"billed_units": {"input_tokens": 1}}})


def gemini(request: Request) -> Answer:
    texts = [item["content"]["parts"][0]["text"] for item in request.body["requests"]]
    return Answer(body={"embeddings": [{"values": letters(text)} for text in texts]})


@pytest.mark.parametrize(
    ("name", "behaviour", "sent", "document", "query"),
    [
        ("cohere/embed-v4.0", cohere, lambda body: body["input_type"], "search_document", "search_query"),
        ("voyage/voyage-3", GOOD, lambda body: body["input_type"], "document", "query"),
        ("nvidia_nim/nv-embed", GOOD, lambda body: body["input_type"], "passage", "query"),
        ("jina_ai/jina-embeddings-v3", GOOD, lambda body: body["task"], "retrieval.passage", "retrieval.query"),
        (
            "gemini/gemini-embedding-001",
            gemini,
            lambda body: body["requests"][0]["taskType"],
            "RETRIEVAL_DOCUMENT",
            "RETRIEVAL_QUERY",
        ),
    ],
)
def test_providers_are_told_which_text_is_a_query(
    name: str, behaviour: Behaviour, sent: Callable[[Any], str], document: str, query: str
) -> None:
    with serve(behaviour) as server:
        embedder = model(server, name)
        assert embedder.embed_documents(["a banana"])[0] == pytest.approx(unit("a banana"))
        assert embedder.embed_query("an ode") == pytest.approx(unit("an ode"))

    assert [sent(request.body) for request in server.requests] == [document, document, query]


@pytest.mark.parametrize(
    ("name", "document", "query"),
    [
        ("openai/intfloat/multilingual-e5-small", "passage: tide", "query: tide"),
        ("hosted_vllm/BAAI/bge-small-en-v1.5", "tide", "Represent this sentence for searching relevant passages: tide"),
        ("openai/text-embedding-3-small", "tide", "tide"),
    ],
)
def test_open_models_are_given_what_they_want_before_a_text(name: str, document: str, query: str) -> None:
    with serve(GOOD) as server:
        embedder = model(server, name)
        embedder.embed_documents(["tide"])
        embedder.embed_query("tide")

    assert inputs(server) == [[document], [query]]


# --- texts over the limit ----------------------------------------------------------------------------------------


def test_b18_a_text_over_the_limit_is_embedded_by_its_beginning_and_says_so() -> None:
    end = " The key is under the blue pot."
    texts = ["o", "bead " * 6_000 + end, "code " * 80_000 + end, "潮" * 9_000]
    with serve(embeds(letters, longest=8_000)) as server:
        embedder = model(server)
        vectors = embedder.embed_documents(texts)

    assert all(usable(vector, 8) for vector in vectors)
    assert [embedder.truncates(text) for text in texts] == [False, True, True, True]
    accepted = [text for batch in inputs(server) for text in batch if len(text) <= 8_000]
    assert {next(whole for whole in texts if whole.startswith(text)) for text in accepted} == set(texts)
    assert vectors[1] == pytest.approx(unit(texts[1][: len(texts[1]) // 4]), abs=1e-6)
    assert len(server.requests) < 25


def test_b18_a_text_over_the_limit_costs_its_neighbours_nothing() -> None:
    texts = [*(f"bead {number}" for number in range(10)), "ode " * 5_000]
    with serve(embeds(letters, longest=8_000)) as server:
        embedder = model(server)
        vectors = embedder.embed_documents(texts)

    assert [text for text in texts if embedder.truncates(text)] == texts[-1:]
    assert vectors[:10] == pytest.approx(np.stack([unit(text) for text in texts[:10]]))


@pytest.mark.parametrize(
    "refusal",
    [
        fails(400, "the input length exceeds the context length"),
        fails(413, "Input validation error: `inputs` must have less than 512 tokens. Given: 1000"),
        fails(400, "Requested token count exceeds the model's maximum context length of 512 tokens."),
        fails(400, "Too many input tokens. Max input tokens: 512, request input token count: 1000"),
    ],
    ids=["ollama", "text-embeddings-inference", "azure", "bedrock"],
)
def test_b18_servers_name_their_limit_in_many_ways(refusal: Answer) -> None:
    def limited(request: Request) -> Answer:
        return refusal if any(len(text) > 500 for text in request.body["input"]) else cast("Any", GOOD)(request)

    text = "bead " * 300
    with serve(limited) as server:
        embedder = model(server)
        embedder.embed_documents([text])

    assert embedder.truncates(text)
    assert [len(batch[0]) for batch in inputs(server)] == [1500, 750, 375]


def test_a_query_over_the_limit_is_embedded_by_its_beginning() -> None:
    with serve(embeds(letters, longest=100)) as server:
        assert model(server).embed_query("a" * 250) == pytest.approx(unit("a" * 62))


def test_a_model_that_takes_no_text_at_all_is_given_up() -> None:
    with serve(GOOD) as server:
        embedder = model(server)
        server.then(fails(400, "maximum context length is 0 tokens"))
        with pytest.raises(EmbeddingError, match="maximum context length is 0"):
            embedder.embed_documents(["a" * 1_000])

    assert len(server.requests) < 15


# --- providers that fail -----------------------------------------------------------------------------------------


def everything(error: BaseException) -> str:
    shown: list[str] = []
    current: BaseException | None = error
    while current is not None:
        shown += [str(current), repr(current), repr(vars(current))]
        current = current.__cause__ or current.__context__
    return "\n".join([*shown, *traceback.format_exception(error)])


def test_b34_a_rate_limit_is_waited_out_as_told() -> None:
    limited = fails(429, "slow down", headers={"Retry-After": "1"})
    with serve(GOOD) as server:
        embedder = model(server, attempts=1)
        server.then(limited, limited, GOOD)
        vector = embedder.embed_query("an ode")

    assert vector == pytest.approx(unit("an ode"))
    assert len(server.requests) == 4  # None of litellm's own in between.
    first, second, third = (request.at for request in server.requests[1:])
    assert min(second - first, third - second) >= 1


@pytest.mark.parametrize(
    ("behaviour", "why", "requests"),
    [
        (fails(500, "the engine is on fire"), "the engine is on fire", 3),
        (fails(503, "overloaded"), "overloaded", 3),
        (RESET, "openai/scripted at 127.0.0.1", 3),
        (Answer(body="<html>Bad gateway</html>", headers={"content-type": "text/html"}), "openai/scripted", 3),
        (fails(429, "slow down", headers={"Retry-After": "3600"}), "asks to wait 3600 s", 1),
    ],
    ids=["500", "503", "reset", "html", "long-wait"],
)
def test_a_provider_that_fails_is_asked_a_bounded_number_of_times(
    behaviour: Behaviour, why: str, requests: int
) -> None:
    with serve(GOOD) as server:
        embedder = model(server)
        server.then(behaviour)
        with pytest.raises(EmbedderUnavailable, match=why) as failed:
            embedder.embed_documents(["an ode"])

    assert len(server.requests) == 1 + requests
    assert failed.value.retryable
    assert KEY not in everything(failed.value)


@pytest.mark.parametrize("behaviour", [hangs(), Answer(body={"data": []}, trickle=0.2)], ids=["hangs", "trickles"])
def test_a_provider_that_does_not_end_is_given_up_in_time(behaviour: Behaviour) -> None:
    with serve(GOOD) as server:
        embedder = model(server, timeout=0.5, attempts=2)
        server.then(behaviour)
        began = monotonic()
        with pytest.raises(EmbedderUnavailable, match=r"no answer within 0\.5 s"):
            embedder.embed_query("an ode")
        took = monotonic() - began

    assert len(server.requests) == 3
    assert took < 5


@pytest.mark.parametrize("status", [401, 403])
def test_b34_a_refused_key_is_not_tried_again_and_never_told(
    status: int, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG, logger="graphmem")
    refused = fails(status, f"Incorrect API key provided: {KEY}")
    with serve(refused) as server, pytest.raises(EmbedderAuthenticationFailed, match="Incorrect API key") as failed:
        model(server)

    assert len(server.requests) == 1
    assert "GRAPHMEM_EMBEDDING_API_KEY" in failed.value.remedy
    printed = capfd.readouterr()
    assert KEY not in everything(failed.value) + caplog.text + printed.out + printed.err


def test_a_refused_request_is_not_tried_again() -> None:
    with (
        serve(fails(404, "The model `scripted` does not exist")) as server,
        pytest.raises(EmbeddingError, match="does not exist") as failed,
    ):
        model(server)

    assert type(failed.value) is EmbeddingError
    assert len(server.requests) == 1
    assert "GRAPHMEM_EMBEDDING" in failed.value.remedy


@pytest.mark.parametrize(
    "behaviour",
    [fails(401, "no such key"), fails(429, "slow down", headers={"Retry-After": "3600"}), fails(500, "on fire")],
    ids=["401", "429", "500"],
)
async def test_b34_a_provider_that_is_down_is_not_asked_text_by_text(behaviour: Behaviour) -> None:
    nothing = cast("Any", None)
    with serve(GOOD) as server:
        engine = Engine(nothing, model(server, attempts=1), nothing, Settings())
        server.then(behaviour)
        vectors = await engine.embed_documents(["an ode", "a banana", "a bead"])

    assert vectors == [None, None, None]
    assert len(server.requests) == 2


# --- vectors that cannot be used ---------------------------------------------------------------------------------


def answering(*vectors: object, first: int = 0) -> Answer:
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors, first)]
    return Answer(body=json.dumps({"object": "list", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}))


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        (answering([1.0, float("nan"), *[0.0] * 6]), "not finite"),
        (answering([1.0, float("inf"), *[0.0] * 6]), "not finite"),
        (answering([0.0] * 8), "zeros"),
        (answering([1.0] * 7), "7 numbers; the first one had 8"),
        (answering(), "0 vectors"),
        (answering([1.0] * 8, [1.0] * 8), "2 vectors"),
        (answering([1.0] * 8, first=1), "numbered"),
        pytest.param(
            answering(["one"] * 8),
            "does not consist of numbers",
            marks=pytest.mark.filterwarnings("ignore:Pydantic serializer warnings"),  # litellm's own, before ours
        ),
        (answering([]), "without numbers"),
    ],
    ids=["nan", "infinite", "zeros", "other-length", "none", "too-many", "other-index", "words", "empty"],
)
def test_b16_b17_a_vector_that_cannot_be_used_is_refused(behaviour: Behaviour, why: str) -> None:
    with serve(GOOD) as server:
        embedder = model(server)
        server.then(behaviour)
        with pytest.raises(EmbeddingError, match=why) as refused:
            embedder.embed_documents(["an ode"])

    assert len(server.requests) == 2
    assert refused.value.remedy


# --- settings ----------------------------------------------------------------------------------------------------


def test_the_settings_choose_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(GOOD) as server:
        monkeypatch.setenv("GRAPHMEM_EMBEDDING", "litellm/openai/scripted")
        monkeypatch.setenv("GRAPHMEM_EMBEDDING_API_BASE", server.url)
        monkeypatch.setenv("GRAPHMEM_EMBEDDING_API_KEY", KEY)
        settings = load_settings()
        embedder = load(settings)

    assert (embedder.name, embedder.dimension) == ("openai/scripted", 8)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(settings)


@pytest.mark.parametrize("name", ["litellm", "litellm/", "litellm/text-embedding-3-small"])
def test_a_model_without_its_provider_is_refused(name: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        load(Settings(embedding=name))

    assert "litellm/<provider>/<model>" in refused.value.remedy
