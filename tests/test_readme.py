"""README.md tells the truth: its Python runs, its commands run, its links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

import pytest
from simulations import write_simulation

from graphmem.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")

pytestmark = pytest.mark.slow


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def environment(settings: Settings) -> dict[str, str]:
    """What points graphmem at the database of this run: its data folder when it is embedded, else its address."""
    if Settings().data_dir != settings.data_dir:
        return {"GRAPHMEM_DATA_DIR": str(settings.data_dir)}
    assert settings.password is not None
    password = settings.password.get_secret_value()
    return {"GRAPHMEM_URI": str(settings.uri), "GRAPHMEM_USER": settings.user, "GRAPHMEM_PASSWORD": password}


def test_python_runs_as_shown(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    agent = f"ines-{uuid4().hex[:8]}"
    python = blocks("python")
    assert len(python) >= 7
    shown: list[str] = []
    session: dict[str, object] = {"__name__": "__main__"}
    for number, block in enumerate(python, start=1):
        code = compile(block.replace('"ines"', f'"{agent}"'), f"README.md, python block {number}", "exec")
        exec(code, session)
        shown.append(capsys.readouterr().out)
    retrieved, reflected, changed, looked_up, chatted, asynchronous, walked = shown[:7]
    assert len(retrieved.splitlines()) == 3
    assert reflected.count("because: ") >= 2
    assert re.match(r"[1-9]\d* beliefs turned stale", changed)
    assert re.search(r"^(confirmed|revised|retracted) .+ -> ", changed, re.MULTILINE)
    assert "Is the Petrel going to sink?" in looked_up
    assert re.search(r"superseded The water came in past the sea cock .* could be seen$", looked_up, re.MULTILINE)
    assert chatted.split() == ["2", "1"]
    assert asynchronous.strip()
    assert re.search(r"^\S+ \[active\] .+\n  \S+ \[active\] ", walked, re.MULTILINE)


def test_the_python_of_retrieval_runs_as_shown(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    ending = uuid4().hex[:8]
    shown: list[str] = []
    session: dict[str, object] = {"__name__": "__main__"}
    text = (ROOT / "docs" / "retrieval.md").read_text("utf-8")
    for number, block in enumerate(blocks("python", text), start=1):
        named = block.replace('"rosa"', f'"rosa-{ending}"').replace('"wim"', f'"wim-{ending}"')
        exec(compile(named, f"docs/retrieval.md, python block {number}", "exec"), session)
        shown.append(capsys.readouterr().out)
    retrieved, profiles, filtered, context, shared = shown
    assert len(retrieved.splitlines()) == 2
    assert [len(line.split(",")) for line in profiles.splitlines()] == [3, 3]
    assert filtered.startswith("1 ")
    assert "[elsa]" in context
    assert shared == f"wim-{ending} rosa-{ending} The barge Elsa is due on Friday.\n"


def test_the_python_of_planning_runs_as_shown(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    (block,) = blocks("python", (ROOT / "docs" / "planning.md").read_text("utf-8"))
    exec(block.replace('"ines"', f'"ines-{uuid4().hex[:8]}"'), {"__name__": "__main__"})
    *plans, before, stale, after = capsys.readouterr().out.splitlines()
    assert len(plans) > 20
    assert (before[:26], stale) == ("go to the harbour party at", "True")
    assert "party" not in after


def test_commands_run_as_shown(environment: Mapping[str, str], tmp_path: Path) -> None:
    agent = f"ines-{uuid4().hex[:8]}"
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("graphmem ")]
    assert len(lines) >= 8
    write_simulation(tmp_path / "save")
    own = {
        "--agent ines": f"--agent {agent}",
        "path/to/storage/my-save": f"{tmp_path / 'save'} --prefix {agent}/",
        "Isabella Rodriguez": f"{agent}/Nadia Sorel",
        # A few steps of it; the whole day is lived in tests/society.
        "--hours 12 --report society.html": f"--hours 0.5 --name {agent} --report {tmp_path / 'society.html'}",
        "--output ines.jsonl": f"--output {tmp_path / 'ines.jsonl'}",
    }
    for line in lines:
        typed = line
        for shown, used in own.items():
            typed = typed.replace(shown, used)
        command = shlex.split(typed, comments=True)[1:]
        if command[0] == "up" and "GRAPHMEM_URI" in environment:
            continue  # there is nothing to start
        done = subprocess.run(
            [sys.executable, "-m", "graphmem", *command],
            cwd=ROOT,
            env={**inherited(), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        # A server over pipes says nothing unless it is asked.
        assert done.stdout.strip() or command[0] == "mcp", line
        if command[0] == "recompute":
            assert re.search(r"[1-9]\d* (confirmed|revised|retracted)", done.stdout)


def inherited() -> dict[str, str]:
    """The environment without what would point elsewhere."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"\bmake ([a-z-]+)", README))
    assert {"demo", "test"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
