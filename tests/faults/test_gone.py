"""An agent that is forgotten again and again while others use it: they are told so, and no rule is broken."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable

import pytest

from graphmem import Agent, Memory
from graphmem.errors import (
    BeliefError,
    Forgotten,
    InvalidInput,
    OutcomeUnknown,
    RunLost,
    UnknownAgent,
    UnknownMemory,
    UnknownRun,
)
from graphmem.settings import Settings
from graphmem.testing import HashingEmbedder
from tests.faults.conftest import WHOLE, Tell

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]
SECONDS = 30 if WHOLE else 15
NAME = "comes and goes"
TOLD = (UnknownAgent, UnknownMemory, UnknownRun, InvalidInput, BeliefError, Forgotten, RunLost, OutcomeUnknown)
"""What a verb may say to somebody whose agent is taken away; a fault of the store is not among it."""
Verbs = dict[str, Callable[[Agent], object]]
VERBS: Verbs = {
    "retrieve": lambda agent: agent.retrieve("Who mends the boat?"),
    "ask": lambda agent: agent.ask("Who mends the boat?"),
    "context": lambda agent: agent.context("mend the boat"),
    "reflect": lambda agent: agent.reflect(force=True),
    "summarise": lambda agent: agent.summarise(),
    "plan": lambda agent: agent.plan_day(),
    "observe": lambda agent: agent.observe("the boat again"),
    "recompute": lambda agent: agent.recompute(),
    "about": lambda agent: agent.about("boat"),
    "supersede": lambda agent: agent.supersede("3", text="It is tight now"),
    "forget": lambda agent: agent.forget("5"),
    "timeline": lambda agent: agent.timeline(),
}
READS: Verbs = {
    "retrieve": lambda agent: agent.retrieve("Who mends the boat?", k=12),
    "past": lambda agent: agent.retrieve("Who mends the boat?", as_of="2100-01-01T00:00:00Z"),
    "about": lambda agent: agent.about("boat"),
    "timeline": lambda agent: agent.timeline(),
    "memories": lambda agent: agent.memories(),
    "log": lambda agent: agent.log(),
    "runs": lambda agent: [agent.run(run.id) for run in agent.runs(limit=5)],
    "explain": lambda agent: agent.explain("3"),
    "tree": lambda agent: agent.tree(),
    "history": lambda agent: agent.history("3"),
    "get": lambda agent: agent.get("3"),
    "plans": lambda agent: agent.plans(),
    "export": lambda agent: agent.export_memories(),
    "info": lambda agent: agent.info(),
}


@pytest.mark.parametrize("verbs", [VERBS, READS], ids=["verbs", "reads"])
def test_whoever_uses_an_agent_that_is_forgotten_is_told_so(throw_away: Settings, tell: Tell, verbs: Verbs) -> None:
    done: Counter[str] = Counter()
    unhandled: Counter[str] = Counter()
    with Memory.open(settings=throw_away, embedder=HashingEmbedder(16)) as memory:
        end = time.monotonic() + SECONDS
        over = threading.Event()

        def use() -> None:
            agent = memory.agent(NAME)
            while not over.is_set():
                for name, verb in {**verbs, "work": lambda _: memory.work_once()}.items():
                    try:
                        verb(agent)
                        done[name] += 1
                    except TOLD as error:
                        done[type(error).__name__] += 1
                    except Exception as error:  # counted, and nothing else is let through
                        unhandled[f"{name}: {type(error).__name__}: {error}"[:200]] += 1

        threads = [threading.Thread(target=use) for _ in range(3)]
        for thread in threads:
            thread.start()
        forgotten = 0
        try:
            while time.monotonic() < end or forgotten < 2:  # However slow the machine is.
                agent = memory.agent(NAME)
                agent.observe_many(
                    [{"text": f"Bo mends plank {n} of the boat", "importance": 9, "id": str(n)} for n in range(24)]
                )
                time.sleep(0.1)
                for n in range(20, 24):
                    agent.forget(str(n))
                memory.forget_agent(NAME)
                forgotten += 1
        finally:
            over.set()
        for thread in threads:
            thread.join()
        tell(f"forgotten {forgotten} times in {SECONDS} s: {sum(done.values())} calls, {dict(done)}; {dict(unhandled)}")
        assert unhandled == {}
        assert done["UnknownAgent"] > 0
        assert memory.agent(NAME).check() == ()
