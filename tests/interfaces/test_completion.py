"""Completion in the shell: it installs, completes commands, values and agents, and starts nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.settings import Settings
from tests.interfaces.conftest import environment

Complete = Callable[..., list[str]]


@pytest.fixture
def env(settings: Settings, tmp_path: Path) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    bin_dir = str(Path(sys.executable).parent)
    return {**kept, **environment(settings), "HOME": str(tmp_path), "PATH": f"{bin_dir}:{os.environ['PATH']}"}


@pytest.fixture
def complete(env: Mapping[str, str]) -> Complete:
    """What bash is offered for the last word of a command line."""

    def call(*words: str, **more: str) -> list[str]:
        asked = {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
        done = subprocess.run(
            ["graphmem"],
            env={**env, **asked, "_GRAPHMEM_COMPLETE": "complete_bash", **more},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout.split("\n")[:-1] if done.stdout.strip() else []

    return call


def test_commands_options_and_values(complete: Complete) -> None:
    assert set(complete("graphmem", "re")) >= {"reflect", "retract", "retrieve", "recompute"}
    assert complete("graphmem", "memories", "--sta") == ["--status"]
    assert complete("graphmem", "memories", "--status", "sup") == ["superseded"]
    assert complete("graphmem", "observe", "x", "--kind", "f") == ["fact"]
    assert complete("graphmem", "retrieve", "x", "--kind", "ins") == ["insight"]
    assert complete("graphmem", "plan", "--agent", "x", "--at", "25:00", "--an") == ["--anew"]


def test_agents_of_the_server_that_runs(complete: Complete, sync_memory: Memory, agent_id: str) -> None:
    stem = agent_id.replace("[", "").replace("]", "")
    for name in (
        f"{stem}-a",
        f"{stem}-b",
        f"{stem} c",
        f"{stem}$(touch x)",
        f"{stem}`x`",
        f"{stem}\x1b[31m",
        f"{stem}*",
    ):
        sync_memory.agent(name).configure(name="x")
    for option in ("--agent", "-a"):
        assert complete("graphmem", "tree", option, stem) == [f"{stem}-a", f"{stem}-b"]
    assert complete("graphmem", "browser", "--agent", f"{stem}-b") == [f"{stem}-b"]
    assert complete("graphmem", "tree", "--agent", f"{stem}-x") == []


def test_where_no_server_runs_none_is_started(complete: Complete, tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert complete("graphmem", "tree", "--agent", "", GRAPHMEM_URI="bolt://127.0.0.1:1") == []
    assert complete("graphmem", "tree", "--uri", "bolt://127.0.0.1:1", "--agent", "") == []
    assert complete("graphmem", "tree", "--agent", "", GRAPHMEM_HEAP="nonsense") == []
    # An empty variable is no address; the embedded server of the folder is meant, which does not run.
    code = (
        "import os, sys\n"
        "os.environ.pop('GRAPHMEM_URI')\n"
        "from graphmem.interfaces.cli import main\n"
        "sys.argv = ['graphmem']\n"
        "main()\n"
    )
    words = {"COMP_WORDS": "graphmem\ntree\n--agent\n", "COMP_CWORD": "3", "_GRAPHMEM_COMPLETE": "complete_bash"}
    env = {**os.environ, **words, "GRAPHMEM_URI": "", "GRAPHMEM_DATA_DIR": str(data), "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("", "")
    assert not data.exists()


def test_it_installs_for_the_shell_it_is_called_from(env: Mapping[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", "graphmem --install-completion; exit $?"], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    script = tmp_path / ".bash_completions" / "graphmem.sh"
    assert str(script) in done.stdout
    assert f"source '{script}'" in (tmp_path / ".bashrc").read_text()
    typed = (
        "source ~/.bashrc; COMP_WORDS=(graphmem memor); COMP_CWORD=1; "
        "_graphmem_completion graphmem; echo ${COMPREPLY[@]}"
    )
    tried = subprocess.run(["bash", "-c", typed], env=env, capture_output=True, text=True, check=True)
    assert tried.stdout == "memories\n"
