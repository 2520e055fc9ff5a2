"""The command line as a person uses it: arguments in; exit code, standard output and standard error out."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from graphmem.interfaces.cli.app import run
from graphmem.settings import Settings


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

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
