"""The benchmark under load can fail: a process that grows or keeps files open is noticed, one that is full is not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.load import SAMPLES, Process, grew

CHILD = """
import sys
kept, files = [], []
full = b"x" * (60 << 20)
for line in sys.stdin:
    if line.strip() == "memory":
        kept.append(b"x" * (4 << 20))
    elif line.strip() == "handles":
        files.append(open(sys.executable))
    print("done", flush=True)
"""


@pytest.mark.parametrize(
    ("leak", "told"), [("none", 0), ("memory", "the client grew from"), ("handles", "the client left handles open")]
)
def test_what_a_real_process_leaks_is_noticed(leak: str, told: str | int) -> None:
    with subprocess.Popen([sys.executable, "-c", CHILD], stdin=-1, stdout=-1, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        process = Process(child.pid)
        for _ in range(SAMPLES):
            for _ in range(3):
                child.stdin.write(leak + "\n")
                child.stdin.flush()
                child.stdout.readline()
            process.look()
        child.stdin.close()
    found = process.grew("the client")
    if told:
        assert len(found) == 1
        assert found[0].startswith(str(told))
    else:
        assert found == []


def test_what_fills_up_once_and_peaks_are_no_leak() -> None:
    filling = [100.0 + 20 * min(n, 10) for n in range(20)]
    peaks = [100.0 + 80 * (n % 3 == 0) for n in range(20)]
    assert grew("it", filling) is None
    assert grew("it", peaks) is None
    assert grew("it", [100.0 + 5 * n for n in range(20)]) == "it grew from 150 to 175 MB"
