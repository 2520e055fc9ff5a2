"""The run's database is found in the promised order, and a run that is ended leaves nothing running."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import database
import pytest
from pydantic import SecretStr

from graphmem.settings import Settings

TESTS = Path(__file__).parent


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only ``docker`` on the path; what it does is written by the test."""
    monkeypatch.delenv("GRAPHMEM_TEST_URI", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    script = tmp_path / "docker"
    script.touch(mode=0o755)
    return script


@pytest.mark.parametrize(
    ("script", "chosen"),
    [
        ("exit 0", "docker"),
        ("exit 1", "embedded"),
        ("test $1 = info", "embedded"),  # an engine, but no compose
        ("sleep 30", "embedded"),
    ],
)
def test_docker_is_chosen_where_an_engine_answers(docker: Path, script: str, chosen: str) -> None:
    docker.write_text(f"#!/bin/sh\n{script}\n")
    began = time.monotonic()
    assert database.choose() == chosen
    assert time.monotonic() - began < 2 * database.DOCKER_SECONDS


def test_the_environment_comes_first(docker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docker.write_text("#!/bin/sh\nexit 0\n")
    for uri, chosen in {"bolt://x:1": "environment", "docker": "docker", "embedded": "embedded"}.items():
        monkeypatch.setenv("GRAPHMEM_TEST_URI", uri)
        assert database.choose() == chosen
    monkeypatch.setenv("GRAPHMEM_TEST_URI", "bolt://x:1")
    monkeypatch.setenv("GRAPHMEM_TEST_PASSWORD", "pass word")
    monkeypatch.setenv("GRAPHMEM_TEST_DATABASE", "scratch")
    assert database.named() == Settings(uri="bolt://x:1", password=SecretStr("pass word"), database="scratch")


def test_the_head_of_the_report_says_which_and_never_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_TEST_URI", "bolt://127.0.0.1:1")
    monkeypatch.setenv("GRAPHMEM_TEST_PASSWORD", "pass-word")
    told = database.describe("environment")
    assert "bolt://127.0.0.1:1" in told
    assert "no answer: ServiceUnavailable" in told
    assert "pass-word" not in told
    assert "neo4j:2026.09.0" in database.describe("docker")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_ended_tears_its_fixtures_down(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "test_long.py").write_text(
        "import pathlib, time, pytest\n"
        "here = pathlib.Path(__file__).parent\n"
        "@pytest.fixture(scope='session')\n"
        "def server():\n"
        "    yield\n"
        "    (here / 'torn-down').touch()\n"
        "def test_long(server):\n"
        "    (here / 'running').touch()\n"
        "    time.sleep(60)\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "-q", str(tmp_path)],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(TESTS), "GRAPHMEM_TEST_URI": "embedded"},
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "running").exists():
        assert run.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    run.send_signal(number)
    assert run.wait(timeout=30) == pytest.ExitCode.INTERRUPTED
    assert (tmp_path / "torn-down").exists()
