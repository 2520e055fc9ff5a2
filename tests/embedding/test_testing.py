"""The embedders that graphmem ships for tests."""

from __future__ import annotations

import sys
from subprocess import run

import numpy as np
import pytest

from graphmem.embedding import Embedder, usable
from graphmem.testing import FaultyEmbedder, HashingEmbedder

NAN = float("nan")
TEXTS = ["the red boat", "the red boat sails", "a green hill far away", "", "!?", "漢字", "\ud800"]


class TestHashingEmbedder:
    @pytest.mark.parametrize("dimension", [1, 2, 64, 384])
    def test_every_text_has_a_unit_vector(self, dimension: int) -> None:
        embedder = HashingEmbedder(dimension)
        vectors = embedder.embed_documents(TEXTS)

        assert isinstance(embedder, Embedder)
        assert embedder.dimension == dimension
        assert vectors.shape == (len(TEXTS), dimension)
        assert vectors.dtype == np.float32
        assert all(usable(vector, dimension) for vector in vectors)
        assert embedder.embed_documents([]).shape == (0, dimension)

    def test_the_dimension_is_in_the_name(self) -> None:
        assert HashingEmbedder().name == "hashing-64"
        assert HashingEmbedder(8).name == "hashing-8"

    @pytest.mark.parametrize("dimension", [0, -1])
    def test_a_dimension_below_one_is_refused(self, dimension: int) -> None:
        with pytest.raises(ValueError, match="dimension"):
            HashingEmbedder(dimension)

    def test_texts_that_share_words_are_near(self) -> None:
        embedder = HashingEmbedder()
        boat, sails, hill = embedder.embed_documents(TEXTS[:3])

        assert boat @ sails > 0.6
        assert abs(float(boat @ hill)) < 0.4
        assert embedder.embed_query("The RED boat!") @ boat > 0.8

    def test_words_that_cancel_out_leave_a_direction(self) -> None:
        embedder = HashingEmbedder(1)
        words = [f"w{number}" for number in range(200)]

        assert all(usable(vector, 1) for vector in embedder.embed_documents([f"{a} {b}" for a in words for b in words]))

    def test_a_query_is_embedded_as_a_document(self) -> None:
        embedder = HashingEmbedder()

        assert np.array_equal(embedder.embed_query("a boat"), embedder.embed_documents(["hill", "a boat"])[1])

    @pytest.mark.parametrize("seed", ["0", "1"])
    def test_other_processes_give_the_same_bits(self, seed: str) -> None:
        code = (
            "import sys; from graphmem.testing import HashingEmbedder; "
            "sys.stdout.write(HashingEmbedder().embed_documents(sys.argv[1:]).tobytes().hex())"
        )
        other = run(
            [sys.executable, "-c", code, *TEXTS[:6]],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )

        assert other.stdout == HashingEmbedder().embed_documents(TEXTS[:6]).tobytes().hex()

    def test_it_never_truncates(self) -> None:
        assert not HashingEmbedder().truncates("word " * 100_000)


class TestFaultyEmbedder:
    """B17: embedding servers really give NaN, zeros or nothing for particular texts."""

    GOOD = ("one boat", "two boats", "three boats", "four boats", "five boats")

    @pytest.mark.parametrize(
        "fault",
        [
            [NAN] * 8, [1.0] + [NAN] * 7, [float("inf")] + [0.0] * 7, [0.0] * 8, np.zeros(8), np.full(8, NAN),
            [1e30] * 8, [1e300] * 8, [1.0], [1.0] + [0.0] * 8, [], None, "a string", [[1.0] + [0.0] * 7],
        ],
    )  # fmt: skip
    def test_only_the_chosen_texts_have_what_was_chosen(self, fault: object) -> None:
        inner = HashingEmbedder(8)
        embedder = FaultyEmbedder(inner, {"poison": fault})

        rows = embedder.embed_documents([*self.GOOD[:2], "poison", *self.GOOD[2:]])

        assert len(rows) == 6
        assert [usable(row, 8) for row in rows] == [True, True, False, True, True, True]
        good = [row for index, row in enumerate(rows) if index != 2]
        assert np.array_equal(good, inner.embed_documents(self.GOOD))
        assert not usable(embedder.embed_documents(["poison"])[0], 8)
        assert not usable(embedder.embed_query("poison"), 8)
        assert usable(embedder.embed_query("one boat"), 8)

    def test_an_exception_fails_the_whole_batch_and_the_query(self) -> None:
        embedder = FaultyEmbedder(HashingEmbedder(), {"poison": ConnectionError("500 from the server")})

        with pytest.raises(ConnectionError):
            embedder.embed_documents([*self.GOOD, "poison"])
        with pytest.raises(ConnectionError):
            embedder.embed_query("poison")
        assert embedder.embed_documents(self.GOOD).shape == (5, 64)

    def test_it_recovers_when_the_fault_is_taken_out(self) -> None:
        faults: dict[str, object] = {"poison": None}
        embedder = FaultyEmbedder(HashingEmbedder(), faults)
        assert not usable(embedder.embed_documents(["poison"])[0], 64)

        faults.clear()

        assert usable(embedder.embed_documents(["poison"])[0], 64)

    def test_the_rest_is_the_inner_embedders(self) -> None:
        embedder = FaultyEmbedder(HashingEmbedder(8), {})

        assert isinstance(embedder, Embedder)
        assert (embedder.name, embedder.dimension, embedder.truncates("x")) == ("hashing-8", 8, False)
        assert np.array_equal(embedder.embed_documents(["x"]), HashingEmbedder(8).embed_documents(["x"]))
