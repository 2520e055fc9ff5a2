"""What the vectors of the real models are like."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from subprocess import run

import numpy as np
import pytest
from onnxruntime import InferenceSession
from tokenizers import Tokenizer

from graphmem.embedding import Embedder, Vectors, usable
from graphmem.embedding.base import unit
from graphmem.embedding.onnx import MODELS, OnnxEmbedder, OnnxModel
from graphmem.errors import EmbeddingError

TEXTS = [
    "Mara: The bakery on Quay Street opens at six.",
    "Mara: I have baked two trays of rye loaves and put the sourdough aside for tomorrow morning, since the "
    "oven door does not close properly any more and the repairman only comes on Thursday, if at all.",
    "ok",
    "Joren said that the ferry is late again.",
    "café, naïve, Zürich, Ελλάδα, Москва",
    "The tide table for the harbour hangs beside the door of the chandler's shop.",
]


def cosine(a: Vectors, b: Vectors) -> float:
    return float(a @ b)


def test_vectors_are_float32_of_unit_length(embedder: OnnxEmbedder) -> None:
    vectors = embedder.embed_documents(TEXTS)

    assert isinstance(embedder, Embedder)
    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-6
    query = embedder.embed_query("When does the bakery open?")
    assert query.shape == (embedder.dimension,)
    assert query.dtype == np.float32
    assert usable(query, embedder.dimension)


def test_no_texts_give_no_vectors(embedder: OnnxEmbedder) -> None:
    assert embedder.embed_documents([]).shape == (0, embedder.dimension)


def test_the_models_are_what_their_authors_say(bge: OnnxEmbedder, minilm: OnnxEmbedder) -> None:
    assert {model.name: model.max_tokens for model in MODELS.values()} == {
        "bge-small-en-v1.5": 512,
        "all-MiniLM-L6-v2": 256,
    }
    assert (bge.name, bge.dimension) == ("bge-small-en-v1.5", 384)
    assert (minilm.name, minilm.dimension) == ("all-MiniLM-L6-v2", 384)


@pytest.mark.parametrize(
    ("text", "paraphrase", "unrelated"),
    [
        (
            "The man is playing a guitar.",
            "Someone is making music on a guitar.",
            "The ship sank in the storm.",
        ),
        ("She lost her keys.", "She cannot find the keys to her home.", "He is fond of boiled potatoes."),
        (
            "The meeting was moved to Friday.",
            "They rescheduled the meeting for Friday.",
            "The cat slept on the warm stove.",
        ),
        (
            "My car broke down on the way.",
            "The automobile stopped working en route.",
            "I read a book of poems.",
        ),
    ],
)
def test_a_paraphrase_is_nearer_than_an_unrelated_text(
    embedder: OnnxEmbedder, text: str, paraphrase: str, unrelated: str
) -> None:
    a, b, c = embedder.embed_documents([text, paraphrase, unrelated])

    assert cosine(a, b) > cosine(a, c) + 0.2


def test_a_question_finds_its_answer(embedder: OnnxEmbedder) -> None:
    stored = [
        "Ida: I bought a green bicycle last week.",
        "Ida: My sister is a nurse at the city hospital.",
        "Ida: We ate fish soup at the harbour.",
        "Ida: The roof leaks when it rains from the west.",
    ]
    vectors = embedder.embed_documents(stored)

    questions = [
        "What does Ida ride?",
        "Who works in health care?",
        "What was for dinner?",
        "What needs repair?",
    ]
    found = [int(np.argmax(vectors @ embedder.embed_query(question))) for question in questions]

    assert found == [0, 1, 2, 3]


def test_bge_puts_its_instruction_before_queries_only(bge: OnnxEmbedder) -> None:
    text = "Who works in health care?"
    instructed = "Represent this sentence for searching relevant passages: " + text

    query = bge.embed_query(text)
    document, instructed_document = bge.embed_documents([text, instructed])

    assert np.array_equal(query, instructed_document)
    assert cosine(query, document) < 0.99


def test_minilm_embeds_queries_as_documents(minilm: OnnxEmbedder) -> None:
    text = "Who works in health care?"

    assert np.array_equal(minilm.embed_query(text), minilm.embed_documents([text])[0])


POOLED = {
    "bge-small-en-v1.5": lambda hidden: hidden[0],
    "all-MiniLM-L6-v2": lambda hidden: hidden.sum(axis=0) / len(hidden),
}
"""From the outputs for all tokens of one text, shape (tokens, dimension), as the models' authors state it."""


def test_pooling_is_the_models(embedder: OnnxEmbedder) -> None:
    network, tokenizer = embedder.files
    tokens = np.array([Tokenizer.from_file(str(tokenizer)).encode(TEXTS[0]).ids])
    tokens = tokens[:, tokens[0] != 0]  # this tokenizer's file may ask for padding
    inputs = {"input_ids": tokens, "attention_mask": tokens**0, "token_type_ids": tokens * 0}
    hidden = InferenceSession(str(network), providers=["CPUExecutionProvider"]).run(None, inputs)[0][0]
    expected = POOLED[embedder.name](hidden)

    vector = embedder.embed_documents(TEXTS[:1])[0]

    assert vector == pytest.approx(expected / np.linalg.norm(expected), abs=1e-5)


class TestSameTextSameVector:
    """Bit for bit: a batch normally changes the vectors of a dynamically quantised model."""

    def test_alone_and_among_others(self, embedder: OnnxEmbedder) -> None:
        alone = np.concatenate([embedder.embed_documents([text]) for text in TEXTS])

        assert np.array_equal(embedder.embed_documents(TEXTS), alone)
        assert np.array_equal(embedder.embed_documents(TEXTS[::-1])[::-1], alone)
        assert np.array_equal(embedder.embed_documents([*TEXTS, "a long text " * 200])[:-1], alone)

    def test_several_times_in_a_batch(self, embedder: OnnxEmbedder) -> None:
        a, b = TEXTS[:2]

        vectors = embedder.embed_documents([a, b, a, a, b])

        assert np.array_equal(vectors[[0, 0, 0]], vectors[[0, 2, 3]])
        assert np.array_equal(vectors[1], vectors[4])
        assert np.array_equal(vectors[:2], embedder.embed_documents([a, b]))

    def test_from_many_threads(self, embedder: OnnxEmbedder) -> None:
        expected = embedder.embed_documents(TEXTS)

        with ThreadPoolExecutor(8) as pool:
            batches = list(pool.map(lambda _: embedder.embed_documents(TEXTS), range(16)))

        assert all(np.array_equal(batch, expected) for batch in batches)

    def test_when_the_first_calls_come_from_many_threads(self, model: OnnxModel, embedder: OnnxEmbedder) -> None:
        fresh = OnnxEmbedder(model, *embedder.files)

        with ThreadPoolExecutor(8) as pool:
            vectors = list(pool.map(fresh.embed_query, ["the same question"] * 8))

        assert np.array_equal(vectors, [embedder.embed_query("the same question")] * 8)

    def test_in_another_process(self, model: OnnxModel, embedder: OnnxEmbedder) -> None:
        code = (
            "import sys; from pathlib import Path; from graphmem.embedding.onnx import MODELS, OnnxEmbedder; "
            f"e = OnnxEmbedder(MODELS['onnx/{model.name}'], *map(Path, sys.argv[1:3])); "
            "sys.stdout.write(e.embed_documents(sys.argv[3:]).tobytes().hex())"
        )
        files = [str(file) for file in embedder.files]

        other = run([sys.executable, "-c", code, *files, *TEXTS], capture_output=True, text=True, check=True)

        assert other.stdout == embedder.embed_documents(TEXTS).tobytes().hex()


class TestLongTexts:
    def test_the_limit_is_the_models(self, embedder: OnnxEmbedder, model: OnnxModel) -> None:
        fits = "word " * (model.max_tokens - 2)  # two tokens mark beginning and end

        assert not embedder.truncates(fits)
        assert embedder.truncates(fits + "more")

    def test_only_the_beginning_is_embedded(self, embedder: OnnxEmbedder, model: OnnxModel) -> None:
        words = ["the", "river", "runs"] * model.max_tokens
        fits, longer, shorter = (" ".join(words[: model.max_tokens - 2 + more]) for more in (0, 50, -1))
        start, longer, shorter = embedder.embed_documents([fits, longer, shorter])

        assert not embedder.truncates(fits)
        assert np.array_equal(start, longer)
        assert not np.array_equal(start, shorter)

    @pytest.mark.parametrize("unit_of_text", ["the otter swims ", "漢字かな", "a", "!", "😀", "e\u0301"])
    def test_400_000_characters_take_no_longer_than_the_limit(self, embedder: OnnxEmbedder, unit_of_text: str) -> None:
        text = (unit_of_text * 400_000)[:400_000]
        embedder.embed_query("loads the model")
        began = time.monotonic()

        vector = embedder.embed_documents([text])[0]

        assert embedder.truncates(text)
        assert time.monotonic() - began < 5, "the whole text was read"
        assert usable(vector, embedder.dimension)

    def test_no_more_is_read_than_a_bound(self, embedder: OnnxEmbedder) -> None:
        """Blanks make no tokens, so that only the bound on characters can keep the word from being read."""
        text = " " * 400_000 + "hello"

        assert embedder.truncates(text)
        assert np.array_equal(embedder.embed_documents([text]), embedder.embed_documents([""]))

    def test_blanks_at_the_end_are_not_text(self, embedder: OnnxEmbedder) -> None:
        assert not embedder.truncates("short" + " " * 400_000)

    def test_a_long_word_alone_is_within_the_limit(self, embedder: OnnxEmbedder) -> None:
        assert not embedder.truncates("x" * 5_000)


class TestOddTexts:
    @pytest.mark.parametrize(
        "text",
        [
            "", " ", "\n\t", "\x00\x01\x1b\x7f", "😀🏳️‍🌈👩‍👩‍👧", "漢字かな交じり文", "한국어", "שלום עולם",
            "\u200b\u202e\ufeff", "e\u0301" * 9, "[MASK] [SEP]",
        ],
    )  # fmt: skip
    def test_each_has_a_vector(self, embedder: OnnxEmbedder, text: str) -> None:
        vectors = embedder.embed_documents(["before", text, "after"])

        assert all(usable(vector, embedder.dimension) for vector in vectors)
        assert np.array_equal(vectors[0], embedder.embed_documents(["before"])[0])
        assert usable(embedder.embed_query(text), embedder.dimension)
        assert not embedder.truncates(text)

    def test_one_that_is_not_utf8_is_named(self, embedder: OnnxEmbedder) -> None:
        with pytest.raises(EmbeddingError, match=r"texts\[2\]") as refused:
            embedder.embed_documents(["good", "also good", "half a pair \ud83d", "good again"])
        assert refused.value.remedy
        with pytest.raises(EmbeddingError, match="the query"):
            embedder.embed_query("\udc00")


@pytest.mark.parametrize("bad", [[0.0, 0.0, 0.0], [1.0, np.nan, 0.0], [1.0, np.inf, 0.0]])
def test_what_has_no_direction_is_refused(bad: list[float]) -> None:
    with pytest.raises(EmbeddingError):
        unit(np.array(bad, dtype=np.float32))


def test_large_and_small_numbers_are_scaled() -> None:
    for size in (1e-30, 1.0, 1e30):
        assert unit(np.array([3 * size, 4 * size], dtype=np.float32)) == pytest.approx([0.6, 0.8])
