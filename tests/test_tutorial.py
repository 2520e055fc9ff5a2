"""docs/tutorial.md runs as it stands, one block after the other, as a reader would type it."""

from __future__ import annotations

import re
from pathlib import Path
from uuid import uuid4

import pytest

from graphmem.settings import Settings
from tests.interfaces.conftest import environment

TUTORIAL = (Path(__file__).resolve().parents[1] / "docs" / "tutorial.md").read_text("utf-8")

pytestmark = pytest.mark.slow


def test_the_tutorial_runs(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in environment(settings).items():
        monkeypatch.setenv(name, value)
    agent = f"tam-{uuid4().hex[:8]}"
    blocks = re.findall(r"^```python\n(.*?)^```$", TUTORIAL, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 9
    shown: list[str] = []
    session: dict[str, object] = {"__name__": "__main__"}
    for number, block in enumerate(blocks, start=1):
        code = compile(block.replace('"tam"', f'"{agent}"'), f"docs/tutorial.md, python block {number}", "exec")
        exec(code, session)
        shown.append(capsys.readouterr().out)
    _, retrieved, parts, reflected, changed, _, recomputed, told, _ = shown
    assert len(retrieved.splitlines()) == 3
    assert "ferry" in retrieved
    assert len(parts.split()) == 3
    assert reflected.count("because: ") >= 2
    assert re.match(r"stale: \['.+'", changed)
    assert re.search(r"^(confirmed|revised|retracted) \| .+ -> ", recomputed, re.MULTILINE)
    assert "superseded Rosa had mixed them up" in told
    assert "Rosa said that the fog horn of the ferry is broken." in told.splitlines()[-1]
