"""Faults in real processes, for minutes: run by `make test-faults`, in part by .ci/run.

GRAPHMEM_FAULTS_KILLS says how many kills (50), GRAPHMEM_FAULTS_SEED which (a run tells its own), so that a run can be
repeated; processes are never in step, so that not every moment is the same again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

KILLS = int(os.environ.get("GRAPHMEM_FAULTS_KILLS", "50"))
SEED = int(os.environ.get("GRAPHMEM_FAULTS_SEED", "20260301"))
WHOLE = KILLS >= 50
"""Whether everything is tried; a shorter run tries some of it, chosen by the seed."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave them out unless they are asked for by `-m faults`."""
    return True if "faults" not in config.option.markexpr and collection_path.name.startswith("test_") else None


Tell = Callable[[str], None]


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Tell:
    """Writes a line of the report where it is seen."""

    def write(line: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\n{line}\n")

    return write
