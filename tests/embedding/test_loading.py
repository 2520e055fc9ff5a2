"""Fetching, unpacking and loading the models, and what is said when that goes wrong."""

from __future__ import annotations

import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import run

import numpy as np
import pytest

from graphmem.embedding import load
from graphmem.embedding.onnx import OnnxEmbedder
from graphmem.errors import EmbeddingError, InvalidSettings
from graphmem.settings import Settings, load_settings

from .conftest import MINILM
from .conftest import load as load_onnx


@pytest.fixture
def cache(minilm: OnnxEmbedder, tmp_path: Path) -> Path:
    """A cache of its own that holds the fetched artifact, nothing unpacked."""
    kept = Path("maven") / MINILM.artifact.path
    (tmp_path / kept).parent.mkdir(parents=True)
    shutil.copy2(load_settings().cache_dir / kept, tmp_path / kept)
    return tmp_path


def python(code: str, *arguments: str) -> str:
    done = run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def patched(file: Path, tensor: bytes, value: float, to: Path) -> Path:
    """A copy of a network in which the 384-dimensional tensors of that name hold one value throughout."""
    data = bytearray(file.read_bytes())
    header = tensor + b"\x4a\x80\x0c"  # the field raw_data, of 1,536 bytes
    at = data.find(header)
    assert at >= 0
    while at >= 0:
        start = at + len(header)
        data[start : start + 1536] = np.full(384, value, dtype="<f4").tobytes()
        at = data.find(header, start)
    to.write_bytes(data)
    return to


def test_load_gives_the_model_of_that_name() -> None:
    embedder = load(load_settings(embedding="onnx/all-MiniLM-L6-v2"))

    assert embedder.name == "all-MiniLM-L6-v2"
    assert embedder.embed_documents(["a", "b"]).shape == (2, 384)


@pytest.mark.parametrize(
    "name",
    ["", "bge-small-en-v1.5", "onnx/BGE-small-en-v1.5", "onnx/unheard-of", "auto/x", "sentence-transformers/", "Auto"],
)
def test_an_unknown_model_is_refused_naming_those_there_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings) as refused:
        load(Settings(embedding=name, cache_dir=tmp_path))

    assert repr(name) in str(refused.value)
    assert "onnx/all-MiniLM-L6-v2, onnx/bge-small-en-v1.5" in refused.value.remedy
    assert not list(tmp_path.iterdir())


def test_the_default_is_the_onnx_model_where_sentence_transformers_is_not_installed() -> None:
    said = python(
        "import logging, sys; sys.modules['sentence_transformers'] = None\n"
        "logging.basicConfig(level='WARNING', format='%(levelname)s %(message)s', stream=sys.stdout)\n"
        "logging.getLogger('graphmem').setLevel('INFO')\n"
        "from graphmem.embedding import load; from graphmem.settings import load_settings\n"
        "embedder = load(load_settings())\n"
        "print(type(embedder).__name__, embedder.name, embedder.dimension, 'torch' in sys.modules)"
    )

    assert said.splitlines() == [
        "INFO embedding with bge-small-en-v1.5 in ONNX: the package sentence_transformers is not installed",
        "OnnxEmbedder bge-small-en-v1.5 384 False",
    ]


def test_sentence_transformers_is_named_where_it_is_missing() -> None:
    said = python(
        "import sys; sys.modules['sentence_transformers'] = None\n"
        "from graphmem.embedding import load; from graphmem.errors import MissingExtra\n"
        "from graphmem.settings import load_settings\n"
        "try: load(load_settings(embedding='sentence-transformers/all-MiniLM-L6-v2'))\n"
        "except MissingExtra as error: sys.stdout.write(f'{error}\\n{error.remedy}')"
    )

    assert "the package sentence_transformers" in said
    assert said.endswith("pip install 'graphmem[sentence-transformers]'")


def test_importing_loads_no_heavy_package() -> None:
    heavy = python(
        "import sys, graphmem.embedding, graphmem.embedding.onnx, graphmem.testing\n"
        "heavy = {'onnxruntime', 'tokenizers', 'httpx', 'jgo', 'litellm', 'huggingface_hub', 'torch'}\n"
        "sys.stdout.write(' '.join(heavy & set(sys.modules)))"
    )

    assert heavy == ""


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_a_missing_package_is_named_with_the_command_that_installs_it(package: str, tmp_path: Path) -> None:
    said = python(
        "import sys; sys.modules[sys.argv[1]] = None\n"
        "from graphmem.embedding import load; from graphmem.errors import MissingExtra\n"
        "from graphmem.settings import Settings\n"
        "where = {'cache_dir': sys.argv[2], 'maven_url': 'http://127.0.0.1:9'}\n"
        "try: load(Settings(embedding='onnx/all-MiniLM-L6-v2', **where))\n"
        "except MissingExtra as error: sys.stdout.write(f'{error}\\n{error.remedy}')",
        package,
        str(tmp_path),
    )

    assert package in said
    assert said.endswith("pip install 'graphmem[local]'")


def test_files_are_unpacked_once(cache: Path) -> None:
    first = load_onnx(MINILM, cache).files
    before = [file.stat().st_mtime_ns for file in first]
    second = load_onnx(MINILM, cache).files

    assert first == second
    assert [file.stat().st_mtime_ns for file in second] == before
    assert sorted(path.name for path in first[0].parent.iterdir()) == sorted(path.name for path in first)


@pytest.mark.parametrize("index", [0, 1])
def test_a_file_cut_short_is_unpacked_again(cache: Path, minilm: OnnxEmbedder, index: int) -> None:
    file = load_onnx(MINILM, cache).files[index]
    file.write_bytes(file.read_bytes()[:1000])

    repaired = load_onnx(MINILM, cache)

    assert np.array_equal(repaired.embed_query("the tide"), minilm.embed_query("the tide"))


def test_several_may_unpack_at_once(cache: Path, minilm: OnnxEmbedder) -> None:
    with ThreadPoolExecutor(4) as pool:
        embedders = list(pool.map(lambda _: load_onnx(MINILM, cache), range(4)))

    for embedder in embedders:
        assert np.array_equal(embedder.embed_query("the tide"), minilm.embed_query("the tide"))
    assert len(list(embedders[0].files[0].parent.iterdir())) == 2


def test_a_folder_that_cannot_be_made_is_named(cache: Path) -> None:
    (cache / "models").write_text("in the way")

    with pytest.raises(EmbeddingError, match="could not be unpacked") as refused:
        load_onnx(MINILM, cache)

    assert str(cache / "models") in str(refused.value)
    assert refused.value.remedy


@pytest.mark.parametrize("index", [0, 1])
def test_a_file_that_cannot_be_read_is_told(minilm: OnnxEmbedder, tmp_path: Path, index: int) -> None:
    files = list(minilm.files)
    files[index] = tmp_path / "damaged"
    files[index].write_bytes(b"\x00not a model")

    with pytest.raises(EmbeddingError, match="could not be loaded") as refused:
        OnnxEmbedder(MINILM, *files).embed_query("anything")

    assert refused.value.remedy


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0])
def test_b17_a_vector_of_a_network_that_went_wrong_is_refused(
    minilm: OnnxEmbedder, tmp_path: Path, value: float
) -> None:
    network, tokenizer = minilm.files
    weight, bias = b"layer.5.output.LayerNorm.weight", b"layer.5.output.LayerNorm.bias"
    damaged = patched(patched(network, weight, value, tmp_path / "a.onnx"), bias, value, tmp_path / "b.onnx")
    embedder = OnnxEmbedder(MINILM, damaged, tokenizer)

    with pytest.raises(EmbeddingError, match=r"texts\[0\]: .*not finite"):
        embedder.embed_documents(["any text"])
    with pytest.raises(EmbeddingError, match=r"the query: .*not finite"):
        embedder.embed_query("any text")
