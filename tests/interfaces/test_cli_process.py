"""The installed command as a process: signals, pipes, terminals, encodings."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.settings import Settings
from tests.interfaces.conftest import environment

GRAPHMEM = [sys.executable, "-m", "graphmem"]


@pytest.fixture
def env(settings: Settings) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    return {**kept, **environment(settings)}


def lines(count: int) -> bytes:
    items = ({"id": f"n{n}", "text": f"note {n} é 北", "importance": 2} for n in range(count))
    return "".join(json.dumps(item) + "\n" for item in items).encode()


def test_ctrl_c_ends_cleanly_and_keeps_what_was_stored(
    env: Mapping[str, str], sync_memory: Memory, agent_id: str
) -> None:
    command = [*GRAPHMEM, "ingest", "-", "--agent", agent_id]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=env, **pipes) as process:
        assert process.stdin is not None
        process.stdin.write(lines(100))  # a whole batch; the end of the input never comes
        process.stdin.flush()
        deadline = time.monotonic() + 120
        while not sync_memory.agent(agent_id).memories():
            assert time.monotonic() < deadline
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"error: interrupted" in err
    # Seen in the store a moment before the answer to its commit, which is what the command counts.
    assert re.search(rb"\b(0|100) added, 0 known, 0 refused until then", err)
    assert b"Traceback" not in err
    assert len(sync_memory.agent(agent_id).memories()) == 100


@pytest.mark.parametrize("count", [1, 90])
def test_a_closed_pipe_is_no_error(env: Mapping[str, str], agent_id: str, count: int) -> None:
    subprocess.run([*GRAPHMEM, "ingest", "-", "--agent", agent_id], input=lines(count), env=env, check=True)
    for extra in ([], ["--json"]):
        command = [*GRAPHMEM, "memories", "--agent", agent_id, *extra]
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            err = process.stderr.read()
        # Anything else would be a traceback; a slow machine may tell of its progress.
        assert [line for line in err.splitlines() if not line.endswith(b" s")] == []
        assert process.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_a_full_disk_where_the_output_goes_is_told(env: Mapping[str, str], agent_id: str, extra: list[str]) -> None:
    command = [*GRAPHMEM, "agents", *extra]
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(command, env=env, stdout=full, stderr=subprocess.PIPE, check=False)
    assert run.returncode == 1
    assert b"what is shown cannot be written: No space left on device" in run.stderr
    assert b"Traceback" not in run.stderr
    assert b"fault of graphmem" not in run.stderr


def test_characters_that_the_terminal_lacks_do_not_stop_it(env: Mapping[str, str], agent_id: str) -> None:
    subprocess.run([*GRAPHMEM, "ingest", "-", "--agent", agent_id], input=lines(1), env=env, check=True)
    ascii_only = {**env, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    for name in (["tree", "n0"], ["memories"], ["retrieve", "note"]):
        run = subprocess.run([*GRAPHMEM, *name, "--agent", agent_id], env=ascii_only, capture_output=True, check=True)
        assert rb"note 0 \xe9 \u5317" in run.stdout


def test_a_file_that_is_a_pipe(env: Mapping[str, str], agent_id: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [*GRAPHMEM, "ingest", str(pipe), "--agent", agent_id]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE) as process:
        pipe.write_bytes(lines(3))
        out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert b"3 added" in out


def test_a_terminal_sees_a_bar_and_colours(env: Mapping[str, str], agent_id: str, tmp_path: Path) -> None:
    file = tmp_path / ("deep" * 30) / "notes.jsonl"
    file.parent.mkdir()
    file.write_bytes(lines(250) + b"not json\n")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*GRAPHMEM, "ingest", str(file), "--agent", agent_id],
        env={**env, "TERM": "xterm-256color", "COLUMNS": "120"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = bytearray()
    while process.poll() is None or select.select([ours], [], [], 0.2)[0]:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                seen += os.read(ours, 65536)
            except OSError:  # Linux reports the closed end of a terminal so
                break
    os.close(ours)
    assert process.wait() == 1
    text = seen.decode()
    assert "reading " in text
    assert "%" in text  # However long the label is: the file lies deep.
    assert "\x1b[" in text
    assert "250 added, 0 known, 1 refused" in text
    assert ":251: " in text
