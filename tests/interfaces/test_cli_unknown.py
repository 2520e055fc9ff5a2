"""An agent that is not there: told by every command that needs one, before a model is fetched, loaded or asked."""

from pathlib import Path
from typing import Any

import pytest
import typer

from graphmem import Memory
from graphmem.errors import UnknownAgent
from graphmem.interfaces.cli.app import app
from graphmem.settings import Settings
from tests.interfaces.conftest import RunCli

ROOT: Any = typer.main.get_command(app)
MAKING = {"observe", "ingest", "import", "mcp"}
"""Commands whose agent may be new."""
VALUES = {"older_than": "90d", "importance_below": "3", "questions": __file__, "agents": "nobody-at-all"}
MORE: dict[str, list[str]] = {
    "browser": ["tree", "x"],
    "feedback": ["--useful"],
    "supersede": ["--text", "x"],
    "unarchive": ["--all"],
}


def calls() -> list[list[str]]:
    """Every command with ``--agent``, with no more than it needs; and those that name agents otherwise."""
    found: list[list[str]] = []
    for name, command in sorted(ROOT.commands.items()):
        if name in MAKING or not any("--agent" in parameter.opts for parameter in command.params):
            continue
        call = [name, *MORE.get(name, ())]
        for parameter in command.params:
            if parameter.required and parameter.name not in ("agent", "useful"):
                value = VALUES.get(parameter.name, "x")
                call += [value] if parameter.param_type_name == "argument" else [parameter.opts[0], value]
        found.append([*call, "--agent", "nobody-at-all"])
    nobody = "nobody-at-all"
    return [
        *found,
        ["converse", nobody, nobody],
        ["diffusion", "x", "--from", nobody],
        ["diffusion", "x", "--agents", nobody],
        ["simulate", "--agents", nobody],
        ["export-simulation", "folder", "--agents", nobody],
    ]


@pytest.fixture
def no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No model can be fetched or asked: whoever tries to fails with another error."""
    monkeypatch.setenv("GRAPHMEM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("GRAPHMEM_MAVEN_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("GRAPHMEM_EMBEDDING", "litellm/openai/no-model")
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_API_BASE", "http://127.0.0.1:1")
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_API_KEY", "none")
    monkeypatch.setenv("GRAPHMEM_MODEL_ATTEMPTS", "1")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("call", calls(), ids=" ".join)
def test_an_unknown_agent_is_told_before_a_model_is_loaded(call: list[str], cli: RunCli, no_model: None) -> None:
    if call[0] == "calibrate":
        Path("questions.jsonl").write_text('{"query": "x", "relevant": ["y"]}\n' * 10, "utf-8")
        call = [call[0], "questions.jsonl", *call[2:]]
    result = cli(*call)
    assert (result.code, result.out) == (1, "")
    assert result.complaints.splitlines() == [
        "error: there is no agent 'nobody-at-all'",
        "remedy: graphmem agents lists those there are",
    ]


def test_the_model_is_what_the_others_would_have_failed_at(cli: RunCli, no_model: None) -> None:
    result = cli("agents")
    assert result.code == 1
    assert "no-model" in result.err


def test_a_program_can_ask_for_agents_that_must_be_there(settings: Settings, evan: str) -> None:
    with Memory.open(settings=settings, agents=[evan]) as memory:
        assert memory.agent(evan).info().observations
    with pytest.raises(UnknownAgent, match="nobody-at-all"):
        Memory.open(settings=settings, agents=[evan, "nobody-at-all"])
