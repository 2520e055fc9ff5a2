"""kill -9 of a process that simulates, and of its server: what is simulated in the end is what it would have been."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import neo4j
import pytest

from graphmem.graph.embedded import Connection, down, ensure_running, status
from graphmem.settings import Settings
from tests.faults.conftest import KILLS, SEED, WHOLE, Tell

pytestmark = [pytest.mark.faults, pytest.mark.timeout(3600)]
STEPS = 8 if WHOLE else 5
"""Half an hour each, from the morning on."""
FEWER = 5
"""One kill for so many of the other test."""


class Simulator:
    """The process, started with the server's address."""

    def __init__(self, connection: Connection) -> None:
        environment = {
            **os.environ,
            "GRAPHMEM_URI": connection.uri,
            "GRAPHMEM_PASSWORD": connection.password.get_secret_value(),
            "GRAPHMEM_RETRY_TIMEOUT": "60",
        }
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("simulator.py"), str(STEPS)],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def result(self) -> dict[str, Any]:
        out, err = self.process.communicate()
        assert self.process.returncode == 0, err
        told = json.loads(out)
        assert told["wrong"] == 0, err
        return told["report"]

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def clear(connection: Connection) -> None:
    """Forget everything but the schema."""
    with neo4j.GraphDatabase.driver(connection.uri, auth=("neo4j", connection.password.get_secret_value())) as driver:
        driver.execute_query("MATCH (n) WHERE NOT n:GraphmemSchema DETACH DELETE n")


def steps_done(connection: Connection) -> int:
    """How many steps are simulated."""
    with neo4j.GraphDatabase.driver(connection.uri, auth=("neo4j", connection.password.get_secret_value())) as driver:
        rows, _, _ = driver.execute_query("MATCH (s:Simulation) RETURN s.done AS done")
        return rows[0]["done"] if rows else 0


def end_leases(connection: Connection) -> None:
    """As if the time had passed after which a process is taken for dead."""
    with neo4j.GraphDatabase.driver(connection.uri, auth=("neo4j", connection.password.get_secret_value())) as driver:
        driver.execute_query(
            "MATCH (n) WHERE n.leaseUntil IS NOT NULL SET n.leaseUntil = datetime() - duration('PT1S')"
        )


def test_a_simulation_that_is_killed_becomes_what_it_would_have_been(tmp_path: Path, tell: Tell) -> None:
    own = Settings(data_dir=tmp_path / "server", heap="512m")
    rng = random.Random(SEED)
    kills = max(1, KILLS // FEWER)
    killed: Counter[str] = Counter()
    began = time.monotonic()
    running: list[Simulator] = []
    try:
        connection = ensure_running(own)
        wanted = Simulator(connection).result()
        clear(connection)
        for _ in range(kills):
            begun = steps_done(connection)
            if begun > STEPS - 3:
                break  # It would be through before it is killed.
            running = [Simulator(connection)]
            stop = rng.randint(begun + 1, STEPS - 2)
            while steps_done(connection) < stop:
                assert running[0].process.poll() is None
                time.sleep(0.05)
            time.sleep(rng.uniform(0, 0.5))
            victim = rng.choice(("simulator", "simulator", "server"))
            killed[victim] += 1
            if victim == "server":
                pid = status(own).pid
                assert pid is not None
                os.kill(pid, signal.SIGKILL)
                assert ensure_running(own).uri == connection.uri
                time.sleep(rng.uniform(0, 2))  # It goes on with the new one, until it is killed as well.
            running[0].kill()
            end_leases(connection)
        running = []
        found = Simulator(connection).result()
    finally:
        for simulator in running:
            simulator.kill()
        down(own)
    assert killed
    assert found["done"] == wanted["done"] == STEPS
    assert found["failures"] == wanted["failures"] == []
    assert found["people"] == wanted["people"]
    tell(
        f"a simulation of {STEPS} steps, killed {sum(killed.values())} times {dict(killed)}, seed {SEED}, "
        f"{time.monotonic() - began:.0f} s: as if it had not been; lost 0, wrong 0"
    )
