"""The real models, from the user's cache (fetched when they are not there)."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphmem.embedding import onnx
from graphmem.settings import load_settings


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs torch, unless it is asked for by `-m torch`: everything else runs without it."""
    if "torch" not in config.option.markexpr:
        needing = [item for item in items if item.get_closest_marker("torch")]
        config.hook.pytest_deselected(items=needing)
        items[:] = [item for item in items if item not in needing]


MINILM = onnx.MODELS["onnx/all-MiniLM-L6-v2"]


def load(model: onnx.OnnxModel, cache: Path | None = None) -> onnx.OnnxEmbedder:
    settings = load_settings()
    return onnx.load(model, cache=cache or settings.cache_dir, maven_url=settings.maven_url)


@pytest.fixture(scope="session", params=sorted(onnx.MODELS))
def model(request: pytest.FixtureRequest) -> onnx.OnnxModel:
    return onnx.MODELS[request.param]


@pytest.fixture(scope="session")
def embedder(model: onnx.OnnxModel) -> onnx.OnnxEmbedder:
    return load(model)


@pytest.fixture(scope="session")
def bge() -> onnx.OnnxEmbedder:
    return load(onnx.MODELS["onnx/bge-small-en-v1.5"])


@pytest.fixture(scope="session")
def minilm() -> onnx.OnnxEmbedder:
    return load(MINILM)
