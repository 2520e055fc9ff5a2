"""kill -9 of the embedded server and of its clients while they observe, change their minds, reflect and recompute."""

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

from graphmem import Memory
from graphmem.graph.embedded import down, ensure_running, status
from graphmem.settings import Settings
from graphmem.testing import HashingEmbedder
from tests.faults.conftest import KILLS, SEED, Tell

pytestmark = [pytest.mark.faults, pytest.mark.timeout(KILLS * 120 + 600)]
WORKER = Path(__file__).with_name("worker.py")
AGENT = "bo"
VERIFY_EVERY = 10
PATIENCE = 300
"""Seconds in which something must have been acknowledged again after a kill."""


class Client:
    """One of the processes that are killed; it is started again with what it has written down."""

    def __init__(self, role: str, settings: Settings, folder: Path) -> None:
        self.role = role
        self.journal = folder / f"{role}.jsonl"
        self.errors = folder / f"{role}.err"
        self.journal.touch()
        assert settings.uri is not None
        assert settings.password is not None
        self._environment = {
            **os.environ,
            "GRAPHMEM_URI": settings.uri,
            "GRAPHMEM_PASSWORD": settings.password.get_secret_value(),
            "PYTHONWARNINGS": "error",
        }
        self.lives = 0
        self.start()

    def start(self) -> None:
        self.lives += 1
        with self.errors.open("a") as errors:
            self.process = subprocess.Popen(
                [sys.executable, WORKER, self.role, AGENT, str(SEED), self.journal],
                env=self._environment | {"LIFE": str(self.lives)}, stderr=errors, stdout=errors,
            )  # fmt: skip

    def kill(self) -> None:
        assert self.process.poll() is None, self.errors.read_text()
        self.process.kill()
        self.process.wait()

    def acknowledged(self) -> list[dict[str, Any]]:
        """What was; the last line may be cut off, as its writer was."""
        lines = self.journal.read_text().split("\n")[:-1]
        return [line for line in map(json.loads, lines) if line["state"] == "done"]

    def mend(self) -> None:
        """Cut off a last line that is not whole."""
        text = self.journal.read_text()
        self.journal.write_text(text[: text.rfind("\n") + 1])


def verify(settings: Settings, writer: Client, thinker: Client) -> list[str]:
    """All that was acknowledged and is not there, and all that breaks a rule."""
    wanted: dict[str, tuple[str | None, str]] = {}
    """Id: text or None where it was forgotten, status."""
    for change in writer.acknowledged():
        match change["verb"]:
            case "observe":
                for item in change["items"]:
                    wanted[item["id"]] = (item["text"], "any" if "key" in item else "active")
            case "supersede" | "update":
                wanted[change["id"]] = (wanted[change["id"]][0], "superseded")
                wanted[change["new"]] = (change["text"], "active")
            case "retract":
                wanted[change["id"]] = (wanted[change["id"]][0], "retracted")
            case "restore":
                wanted[change["id"]] = (wanted[change["id"]][0], "active")
            case "forget":
                wanted[change["id"]] = (None, "forgotten")
            case _:
                pass
    last = json.loads(writer.journal.read_text().splitlines()[-1])
    if last["state"] == "begun" and "id" in last:
        wanted.pop(last["id"])  # It may have been made or not.
    wrong: list[str] = []
    assert settings.uri is not None
    assert settings.password is not None
    with neo4j.GraphDatabase.driver(settings.uri, auth=("neo4j", settings.password.get_secret_value())) as driver:
        rows, _, _ = driver.execute_query("MATCH (m:Memory {agentId: $a}) RETURN m {.*} AS m", a=AGENT)
        found = {row["m"]["id"]: row["m"] for row in rows}
        for id_, (text, state) in wanted.items():
            if id_ not in found:
                wrong.append(f"lost: {id_}")
            elif text is not None and found[id_]["text"] != text:
                wrong.append(f"changed: {id_}")
            elif state not in ("any", found[id_]["status"]):
                wrong.append(f"{id_} is {found[id_]['status']}, not {state}")
        made = {id_ for change in thinker.acknowledged() for id_ in change["made"]}
        wrong += [f"lost insight: {id_}" for id_ in made - found.keys()]
        (sums,), _, _ = driver.execute_query(
            "MATCH (a:Agent {id: $a}) "
            "CALL (a) { MATCH (m:Observation {agentId: a.id}) RETURN count(m) AS n, sum(m.importance) AS importance } "
            "CALL (a) { MATCH (r:Run {agentId: a.id, verb: 'reflect'}) "
            "  RETURN sum(coalesce(r.claimed, 0)) AS claimed } "
            "RETURN a.observed AS observed, a.importanceObserved AS counted, n, importance, claimed, "
            "  a.importanceSinceReflection AS since, a.revision AS revision, "
            "  COLLECT { MATCH (c:Change {agentId: a.id}) RETURN DISTINCT c.seq ORDER BY c.seq } AS seqs, "
            "  COUNT { MATCH (r:Reflection {agentId: a.id}) WHERE NOT (r)-[:CITES]->() } AS uncited, "
            "  COUNT { MATCH (c:Change {agentId: a.id}) WHERE NOT (c)-[:OF]->() } AS loose, "
            "  COUNT { MATCH (m:Memory {agentId: a.id}) WHERE m.text IS NULL AND m.status <> 'forgotten' } AS hollow",
            a=AGENT,
        )
        if (sums["observed"], sums["counted"]) != (sums["n"], sums["importance"]):
            wrong.append(f"counters: {dict(sums)}")
        if sums["since"] + sums["claimed"] != sums["importance"]:
            wrong.append(f"trigger: since {sums['since']}, claimed {sums['claimed']}, all {sums['importance']}")
        if sums["seqs"] and sums["seqs"][-1] > sums["revision"]:
            wrong.append("a change without its revision")
        wrong += [name for name in ("uncited", "loose", "hollow") if sums[name]]
    with Memory.open(settings=settings, embedder=HashingEmbedder(16)) as memory:
        wrong += [f"{one.rule}: {one.id} {one.problem}" for one in memory.agent(AGENT).check()]
    return wrong


def end_leases(settings: Settings) -> None:
    """As if the minutes had passed after which a process is taken for dead."""
    assert settings.uri is not None
    assert settings.password is not None
    with neo4j.GraphDatabase.driver(settings.uri, auth=("neo4j", settings.password.get_secret_value())) as driver:
        for statement in (
            "MATCH (r:Run {agentId: $a, outcome: 'open'}) SET r.leaseUntil = datetime() - duration('PT1S')",
            "MATCH (m:Memory {agentId: $a}) WHERE m.leaseUntil IS NOT NULL "
            "SET m.leaseUntil = datetime() - duration('PT1S')",
            "MATCH (a:Agent {id: $a}) WHERE a.workUntil IS NOT NULL SET a.workUntil = datetime() - duration('PT1S')",
        ):
            driver.execute_query(statement, a=AGENT)


def test_kill_9_of_server_and_clients_loses_nothing_that_was_acknowledged(tmp_path: Path, tell: Tell) -> None:
    own = Settings(data_dir=tmp_path / "server", heap="512m")
    rng = random.Random(SEED)
    killed: Counter[str] = Counter()
    clients: list[Client] = []
    began = time.monotonic()
    try:
        connection = ensure_running(own)
        there = Settings(uri=connection.uri, password=connection.password)
        writer, thinker = Client("writer", there, tmp_path), Client("thinker", there, tmp_path)
        clients = [writer, thinker]

        def until_it_works(victim: str, before: int) -> None:
            deadline = time.monotonic() + PATIENCE
            while len(writer.acknowledged()) <= before + 2:
                for client in clients:
                    assert client.process.poll() is None, f"{client.role}: {client.errors.read_text()}"
                assert time.monotonic() < deadline, f"nothing goes on after the kill of the {victim}"
                time.sleep(0.05)

        until_it_works("nobody", 0)
        for number in range(1, KILLS + 1):
            victim = rng.choices(("server", "writer", "thinker"), (3, 4, 3))[0]
            before = len(writer.acknowledged())
            time.sleep(rng.uniform(0.0, 2.0))
            if victim == "server":
                pid = status(own).pid
                assert pid is not None
                os.kill(pid, signal.SIGKILL)
                time.sleep(rng.uniform(0.0, 1.0))
                assert ensure_running(own).uri == connection.uri
            else:
                client = writer if victim == "writer" else thinker
                client.kill()
                client.mend()
                end_leases(there)
                client.start()
            killed[victim] += 1
            until_it_works(victim, before)
            if number % VERIFY_EVERY == 0 or number == KILLS:
                for client in clients:
                    client.kill()
                    client.mend()
                assert verify(there, writer, thinker) == [], f"after {number} kills, seed {SEED}"
                if number < KILLS:
                    for client in clients:
                        client.start()
    finally:
        for client in clients:
            if client.process.poll() is None:
                client.process.kill()
                client.process.wait()
        down(own)
    verbs = Counter(change["verb"] for change in writer.acknowledged())
    thoughts = thinker.acknowledged()
    tell(
        f"kill -9: {KILLS} kills {dict(killed)}, seed {SEED}, {time.monotonic() - began:.0f} s: acknowledged "
        f"{dict(verbs)}, {len(thoughts)} rounds of thinking with {sum(len(t['made']) for t in thoughts)} insights; "
        "lost 0, wrong 0, unhandled 0"
    )
