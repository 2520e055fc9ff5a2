"""The command line as a person uses it: arguments in; exit code, standard output and standard error out."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from graphmem import Memory
from graphmem.agent import Agent
from graphmem.interfaces.cli.app import run
from graphmem.language.prompts import InferInsights
from graphmem.settings import Settings
from tests.scripted import Scripted, numbers_of

PROGRESS = re.compile(r".+ …, .*\d+ s")


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def complaints(self) -> str:
        """Standard error without the lines of progress, which a slow machine writes and a fast one does not."""
        return "".join(line for line in self.err.splitlines(keepends=True) if not PROGRESS.fullmatch(line.rstrip()))

    @property
    def json(self) -> Any:
        return json.loads(self.out)


RunCli = Callable[..., Result]


def environment(settings: Settings) -> Mapping[str, str]:
    """The variables that lead a command to the run's Neo4j."""
    assert settings.uri is not None
    assert settings.password is not None
    return {
        "GRAPHMEM_URI": settings.uri,
        "GRAPHMEM_USER": settings.user,
        "GRAPHMEM_PASSWORD": settings.password.get_secret_value(),
        "GRAPHMEM_DATABASE": settings.database,
    }


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunCli:
    """Runs a command that needs no store."""

    def call(*arguments: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = run(arguments)
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def cli(offline: RunCli, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> RunCli:
    """Runs a command on the run's Neo4j."""
    for name, value in environment(settings).items():
        monkeypatch.setenv(name, value)
    return offline


# --- agents with memories -----------------------------------------------------------------------------------------


def jsonl(*items: dict[str, object]) -> str:
    return "".join(json.dumps(item) + "\n" for item in items)


TURNS = [
    {"id": "D1:1", "text": "What car do you drive, Evan?", "source": "Sam", "kind": "utterance"},
    {"id": "D1:2", "text": "I drive a new Prius", "source": "Evan", "kind": "utterance"},
    {"id": "D1:3", "text": "My Prius broke down near the lake", "source": "Evan", "kind": "utterance"},
    {"id": "D1:12", "text": "We hiked the trails last week", "source": "Evan", "kind": "utterance"},
]
for number, turn in enumerate(TURNS):
    turn["occurred_at"] = f"2023-05-18T13:4{number}:00Z"
    turn["importance"] = 4 + number


@pytest.fixture
def turns(tmp_path: Path) -> Path:
    file = tmp_path / "turns.jsonl"
    file.write_text(jsonl(*TURNS), "utf-8")
    return file


@pytest.fixture
def evan(cli: RunCli, turns: Path, agent_id: str) -> str:
    """An agent that has heard the turns."""
    assert cli("ingest", str(turns), "--agent", agent_id).code == 0
    return agent_id


@pytest.fixture
def thinker(settings: Settings, evan: str) -> Iterator[Agent]:
    """The same agent with a language model that concludes two things, one from the other."""

    def infer(task: InferInsights) -> object:
        if numbers_of(task, "likes cars"):
            return {"insights": []}
        return {"insights": [{"text": "Evan likes cars, his Prius most", "evidence": numbers_of(task, "Prius")}]}

    with Memory.open(settings=settings, language_model=Scripted(infer=infer)) as memory:
        yield memory.agent(evan)


@pytest.fixture
def alike(cli: RunCli, agent_id: str) -> str:
    """An agent with two memories whose ids share the first 8 characters."""
    items = [{"id": f"deadbeef-{n}", "text": f"number {n}", "importance": 2} for n in (1, 2, 22)]
    assert cli("ingest", "-", "--agent", agent_id, stdin=jsonl(*items).encode()).code == 0
    return agent_id


@pytest.fixture
def kits(cli: RunCli) -> tuple[str, str]:
    """Two agents, the id of one beginning that of the other, each with a word of its own."""
    kit = f"kit-{uuid4().hex[:8]}"
    for agent, word in ((kit, "quokka"), (f"{kit}2", "narwhal")):
        items = [
            {"id": f"{word}-id", "text": f"the word is {word}", "importance": 5, "source": word, "subject": "the word"}
        ]
        assert cli("ingest", "-", "--agent", agent, stdin=jsonl(*items).encode()).code == 0
    return kit, f"{kit}2"
