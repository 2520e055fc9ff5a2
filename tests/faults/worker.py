"""A client that is killed: does what its journal has not finished, then goes on at random, until it is.

A line of the journal is written before each change and after it was acknowledged; the test holds what was acknowledged
against the store. Usage: worker.py writer|thinker AGENT SEED JOURNAL, with the server in GRAPHMEM_URI and _PASSWORD.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from graphmem import Memory
from graphmem.agent import Agent
from graphmem.errors import AlreadyEnded, Forgotten, NotEnded, StoreError
from graphmem.settings import load_settings
from graphmem.testing import HashingEmbedder

BEGAN = datetime(2026, 3, 1, tzinfo=UTC)
PEOPLE = ("Bo", "Mira", "Tam", "Orla")
DOINGS = ("works at the harbour", "mends nets by the pier", "paints the old boat", "sings in the choir")


class Journal:
    """What was begun and what was acknowledged, a JSON object a line."""

    def __init__(self, file: Path) -> None:
        lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        self.done = [line for line in lines if line["state"] == "done"]
        last = lines[-1] if lines else None
        self.open: dict[str, Any] | None = last if last and last["state"] == "begun" else None
        self._file = file.open("a")

    def write(self, state: str, change: dict[str, Any]) -> None:
        self._file.write(json.dumps(change | {"state": state}) + "\n")
        self._file.flush()


def next_change(rng: random.Random, number: int, held: list[str], retracted: list[str]) -> dict[str, Any]:
    """What the writer does next."""
    at = (BEGAN + timedelta(minutes=number)).isoformat()
    what = rng.choices(
        ("observe", "supersede", "update", "retract", "restore", "keyed", "retrieve", "forget"),
        (45, 14, 6, 8, 6, 10, 8, 3),
    )[0]
    if what in ("supersede", "update", "retract", "forget") and held:
        text = f"{rng.choice(PEOPLE)} {rng.choice(DOINGS)}, as was put right by change {number}"
        return {"verb": what, "id": rng.choice(held), "text": text, "at": at, "number": number}
    if what == "restore" and retracted:
        return {"verb": what, "id": rng.choice(retracted), "at": at, "number": number}
    if what == "retrieve":
        return {"verb": what, "text": f"{rng.choice(PEOPLE)} {rng.choice(DOINGS)}", "at": at, "number": number}
    if what == "keyed":
        items = [{"id": f"k{number}", "text": f"Bo wears coat {number}", "key": "coat", "importance": 2}]
    else:
        items = [
            {
                "id": f"o{number}-{i}",
                "text": f"{rng.choice(PEOPLE)} {rng.choice(DOINGS)}, time {number}-{i}",
                "importance": rng.randint(1, 5),
            }
            for i in range(rng.choice((1, 3, 30)))
        ]
    return {"verb": "observe", "items": items, "at": at, "number": number}


def make(agent: Agent, change: dict[str, Any], *, again: bool) -> dict[str, Any]:
    """Make a change; ``again``: it may have been made already by the process before."""
    now = change["at"]
    match change["verb"]:
        case "observe":
            report = agent.observe_many(change["items"], now=now)
            assert len(report.ids) == len(change["items"])
            return {}
        case "supersede" | "update":
            mode = "update" if change["verb"] == "update" else "correction"
            try:
                replacement = agent.supersede(change["id"], text=change["text"], mode=mode, now=now).replacement
            except AlreadyEnded:
                if not again:
                    raise
                (replacement,) = (m for m in agent.memories(limit=10_000) if m.text == change["text"])
            assert replacement is not None
            return {"new": replacement.id}
        case "retract" | "restore":
            try:
                getattr(agent, change["verb"])(change["id"], now=now)
            except (AlreadyEnded, NotEnded):
                if not again:
                    raise
            return {}
        case "forget":
            try:
                agent.forget(change["id"], dependents="recompute", now=now)
            except Forgotten:
                if not again:
                    raise
            return {}
        case _:
            assert len(agent.retrieve(change["text"], k=5, now=now)) <= 5
            return {}


def patiently(work: Any) -> Any:
    """Do it until the server is there; how often it takes is not what is tried here."""
    while True:
        try:
            return work()
        except StoreError as error:
            if not error.retryable and type(error).__name__ != "OutcomeUnknown":
                raise
            time.sleep(0.2)


def write(agent: Agent, rng: random.Random, journal: Journal) -> None:
    held: list[str] = []
    retracted: list[str] = []

    def note(change: dict[str, Any]) -> None:
        match change["verb"]:
            case "observe":
                held.extend(item["id"] for item in change["items"] if "key" not in item)
            case "supersede" | "update":
                held.remove(change["id"])
                held.append(change["new"])
            case "retract":
                held.remove(change["id"])
                retracted.append(change["id"])
            case "restore":
                retracted.remove(change["id"])
                held.append(change["id"])
            case "forget":
                held.remove(change["id"])
            case _:
                pass

    for change in journal.done:
        note(change)
    number = len(journal.done)
    change, again = journal.open, True
    while True:
        if change is None:
            change, again = next_change(rng, number, held, retracted), False
            journal.write("begun", change)

        def attempt(change: dict[str, Any] = change) -> dict[str, Any]:
            nonlocal again
            try:
                return make(agent, change, again=again)
            except StoreError:
                again = True  # It may have been made although it failed.
                raise

        done = change | patiently(attempt)
        journal.write("done", done)
        note(done)
        number += 1
        change = None


def think(agent: Agent, memory: Memory, rng: random.Random, journal: Journal) -> None:
    while True:
        made: list[str] = []
        match rng.choice(("reflect", "recompute", "work")):
            case "reflect":
                made = [kept.id for kept in patiently(lambda: agent.reflect(force=True)).reflections]
            case "recompute":
                patiently(lambda: agent.recompute(limit=5))
            case _:
                patiently(lambda: memory.work_once(agent=agent.id))
        journal.write("done", {"verb": "think", "made": made})


def main() -> None:
    role, agent_id, seed, file = sys.argv[1:]
    journal = Journal(Path(file))
    rng = random.Random(f"{seed} {len(journal.done)} {os.environ.get('LIFE', '')}")
    settings = load_settings(retry_timeout=60)
    with patiently(lambda: Memory.open(settings=settings, embedder=HashingEmbedder(16))) as memory:
        agent = memory.agent(agent_id)
        if role == "writer":
            write(agent, rng, journal)
        else:
            think(agent, memory, rng, journal)


if __name__ == "__main__":
    main()
