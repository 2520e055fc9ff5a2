"""One agent under random operations, held against the rules: what the staleness benchmark runs many times."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks.staleness_rules import Belief, Beliefs
from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.language import gates
from graphmem.language.base import Reply, Task
from graphmem.language.prompts import AskQuestions, InferInsights, RateImportance, Reconsider, SaySame

START = datetime(2026, 1, 1, tzinfo=UTC)
KEYS = ("the depth of the well", "the name of the boat")
OPERATIONS = {
    "observe": 16, "observe a keyed fact": 12, "reflect": 18, "plan": 5, "supersede": 10, "supersede by another": 4,
    "retract": 8, "restore": 10, "recompute": 12, "forget": 2, "retrieve": 8,
}  # fmt: skip
"""How often each is drawn."""
WRONGS = ("stale served", "wrongly stale", "left unrecomputed", "wrongly retracted", "unfounded")
_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]


def word(number: int) -> str:
    """A made-up word of its own for each number: texts share no rare words by chance, and hold no names or digits."""
    found = ""
    for _ in range(3):
        number, rest = divmod(number, len(_SYLLABLES))
        found += _SYLLABLES[rest]
    return found


@dataclass
class Naive:
    """The baseline: what is replaced is deleted and the new text added; nothing else follows."""

    served: set[str] = field(default_factory=set[str])
    checks: int = 0
    wrong_checks: int = 0
    wrong: int = 0
    looked: int = 0

    def check(self, beliefs: Beliefs) -> None:
        wrong = sum(beliefs.status(id) != "active" for id in self.served)
        self.checks += 1
        self.wrong_checks += wrong > 0
        self.wrong += wrong
        self.looked += len(self.served)


@dataclass
class _Pending:
    id: str
    verdict: str
    text: str
    before: dict[str, tuple[str, str, bool]]
    past: set[str]
    """What was true until it changed, and is cited as that."""


class World:
    """One agent; it is also the agent's language model, which answers by dice and lets things happen meanwhile."""

    name = "dice"

    def __init__(self, memory: AsyncMemory, agent_id: str, seed: int, naive: Naive) -> None:
        self.memory = memory
        self.agent_id = agent_id
        self.dice = random.Random(seed)
        self.beliefs = Beliefs()
        self.naive = naive
        self.naive.served = set()
        self.wrong: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.trace: list[str] = []
        self.numbers = itertools.count(1)
        self.minutes = itertools.count(1)
        self._pending: _Pending | None = None
        self._applied: list[tuple[str, str]] = []
        self._insight: tuple[str, list[str]] | None = None
        self.agent: AsyncAgent = memory.agent(agent_id)

    # --- helpers ------------------------------------------------------------------------------------------------

    def now(self) -> datetime:
        return START + timedelta(minutes=next(self.minutes))

    def text(self, what: str) -> str:
        return f"{what} the {word(next(self.numbers))} by the harbour"

    def pick(self, status: tuple[str, ...], *, type: str | None = None) -> Belief | None:
        found = [
            b for b in self.beliefs.all.values()
            if self.beliefs.status(b.id) in status and (type is None or b.type == type)
        ]  # fmt: skip
        return self.dice.choice(found) if found else None

    def note(self, what: str, count: int = 1, detail: str = "") -> None:
        if count:
            self.wrong[what] += count
            self.trace.append(f"  !! {what} ×{count} {detail}")

    # --- the operations -----------------------------------------------------------------------------------------

    async def run(self, operations: int) -> int:
        """Run until something is wrong or enough was done; returns how many operations were done."""
        for done in range(1, operations + 1):
            name = self.dice.choices(list(OPERATIONS), list(OPERATIONS.values()))[0]
            if len(self.beliefs.all) < 4:
                name = "observe"
            self.trace.append(name)
            await getattr(self, "_" + name.replace(" ", "_"))()
            self.done[name] += 1
            await self.compare()
            self.naive.check(self.beliefs)
            if self.wrong:
                return done
        violations = await self.agent.check()
        self.note("unfounded", len(violations), str(violations))
        return operations

    async def compare(self) -> None:
        """Hold every memory's status in the store against the rules."""
        found = {m.id: m.status for m in await self.agent.memories(limit=10_000)} if self.beliefs.all else {}
        self.note("unfounded", len(found.keys() - self.beliefs.all.keys()), "memories that no rule knows")
        for id in self.beliefs.all:
            expected, actual = self.beliefs.status(id), found.get(id, "missing")
            if expected == actual:
                continue
            detail = f"{id}: {actual}, should be {expected}"
            if actual == "active":
                self.note("stale served", detail=detail)
            elif actual == "stale":
                self.note("wrongly stale", detail=detail)
            else:
                self.note("wrongly retracted", detail=detail)

    async def _observe(self) -> None:
        stored = await self.agent.observe(self.text("we saw"), importance=5, now=self.now())
        self.beliefs.add(Belief(stored.id, stored.text))
        self.naive.served.add(stored.id)

    async def _observe_a_keyed_fact(self) -> None:
        key = self.dice.choice(KEYS)
        values = [b for b in self.beliefs.all.values() if b.key == key]
        # Equal texts, equal times and late arrivals are all meant to happen.
        live = [b.text for b in values if b.text]
        text = self.dice.choice(live) if live and self.dice.random() < 0.3 else self.text("it measured")
        at = START - timedelta(days=self.dice.randrange(30))
        if values and self.dice.random() < 0.5:
            at = START + timedelta(minutes=next(self.minutes))
        stored = await self.agent.observe(text, importance=5, key=key, occurred_at=at, now=self.now())
        for belief in values:
            if belief.id in self.naive.served:
                self.naive.served.discard(belief.id)
        self.naive.served.add(stored.id)
        self.beliefs.add(Belief(stored.id, text, key=key, order=(at.timestamp(), stored.id, stored.id)))
        self.trace.append(f"  {stored.id} {key} at {at}")

    async def _plan(self) -> None:
        """Plans have no verb of their own yet: written as the graph model says."""
        grounds = [b.id for b in self.dice.sample(self.beliefs.active(), min(2, len(self.beliefs.active())))]
        if not grounds:
            return
        id, text, at = f"plan-{next(self.numbers)}", self.text("we mean to see"), self.now()
        store = self.memory._engine.store
        await store._driver.execute_query(
            """
            MATCH (agent:Agent {id: $agent})
            SET agent.held = agent.held + 1
            CREATE (plan:Memory:Plan {agentId: $agent, id: $id, text: $text, kind: 'hour', status: 'active', held: true,
              depth: 0, importance: 5, importanceBy: 'caller', occurredAt: $at, recordedAt: $at, lastAccessedAt: $at,
              start: $at, end: $at, state: 'planned', textHash: $id, scopeToken: $id, keywords: [],
              embedding: toFloatList($vector), embeddingModel: $model})
            WITH plan
            MATCH (ground:Memory {agentId: $agent})
            WHERE ground.id IN $grounds
            CREATE (plan)-[:DERIVED_FROM {since: $at}]->(ground)
            """,
            agent=self.agent_id, id=id, text=text, at=at, grounds=grounds, database_=store.database,
            vector=self.memory._engine.embedder.embed_query(text).tolist(), model=self.memory._engine.embedder.name,
        )  # fmt: skip
        self.beliefs.add(Belief(id, text, type="plan", grounds=set(grounds)))
        self.naive.served.add(id)

    async def _reflect(self) -> None:
        self._insight = None
        report = await self.agent.reflect(force=True, now=self.now())
        if self._insight is None:
            return
        text, grounds = self._insight
        holds = all(self.beliefs.status(ground) == "active" for ground in grounds)
        written = [reflection for reflection in report.reflections if reflection.text == text]
        self.note("unfounded", len(written) if not holds else 0, "written on evidence that had ended")
        if holds and not written:
            self.note("wrongly retracted", detail=f"an insight was not written: {report.refused}")
        for reflection in written:
            self.beliefs.add(Belief(reflection.id, text, type="reflection", grounds=set(grounds)))
            self.naive.served.add(reflection.id)
            self.trace.append(f"  {reflection.id} on {grounds}")

    async def _supersede(self, old: Belief | None = None) -> None:
        old = old or self.pick(("active", "stale"))
        if old is None:
            return
        correction = self.dice.random() < 0.5
        now = self.now()
        report = await self.agent.supersede(
            old.id, text=self.text("now we see"), mode="correction" if correction else "update", now=now
        )
        new = report.replacement
        assert new is not None
        belief = Belief(new.id, new.text, key=old.key, order=(now.timestamp(), new.id, new.id))
        takes_place = correction or now.timestamp() <= old.order[0]
        self.trace.append(f"  {old.id} by {new.id}, correction {correction}")
        self.beliefs.supersede(old.id, belief, correction=takes_place, made=True, update=not correction)
        self.naive.served = (self.naive.served - {old.id}) | {new.id}

    async def _supersede_by_another(self) -> None:
        old, new = self.pick(("active", "stale")), self.pick(("active",))
        if old is None or new is None or old.key is not None:
            return
        if old.id == new.id or self.beliefs.rests_on(new.id, old.id):
            return
        update = self.dice.random() < 0.5
        await self.agent.supersede(old.id, by=new.id, mode="update" if update else "correction", now=self.now())
        self.trace.append(f"  {old.id} by {new.id}, update {update}")
        self.beliefs.supersede(old.id, new, correction=True, made=False, update=update)
        self.naive.served.discard(old.id)

    async def _retract(self, old: Belief | None = None) -> None:
        old = old or self.pick(("active", "stale"))
        if old is None:
            return
        await self.agent.retract(old.id, now=self.now())
        self.trace.append(f"  {old.id}")
        self.beliefs.retract(old.id)
        self.naive.served.discard(old.id)

    async def _restore(self) -> None:
        from graphmem.errors import BeliefError

        old = self.pick(("superseded", "retracted"))
        if old is None:
            return
        allowed = self.beliefs.restorable(old.id)
        self.trace.append(f"  {old.id}, allowed: {allowed}")
        try:
            await self.agent.restore(old.id, now=self.now())
        except BeliefError as error:
            self.note("wrongly retracted", int(allowed), f"a restore was refused: {error}")
            return
        self.note("stale served", int(not allowed), "a restore was not refused")
        if allowed:
            if old.replaced_by and old.made:
                self.naive.served.discard(old.replaced_by)
            self.beliefs.restore(old.id)
            self.naive.served.add(old.id)

    async def _forget(self) -> None:
        old = self.pick(("active", "stale", "superseded"))
        if old is None:
            return
        text = old.text
        await self.agent.forget(old.id, now=self.now())
        same = [b.id for b in self.beliefs.all.values() if text in b.text]
        self.trace.append(f"  {same}")
        for id in same:
            self.beliefs.forget(id)
        self.naive.served -= set(same)

    async def _retrieve(self) -> None:
        some = self.pick(("active", "stale", "superseded"))
        hits = await self.agent.retrieve(some.text if some else "harbour", k=1_000, now=self.now(), touch=False)
        found = {hit.memory.id for hit in hits}
        self.note("stale served", sum(self.beliefs.status(id) != "active" for id in found), "by retrieve")
        texts = {hit.memory.text for hit in hits}
        missing = [b.id for b in self.beliefs.active() if b.text not in texts]
        self.note("wrongly stale", len(missing), f"not retrieved: {missing}")

    async def _recompute(self) -> None:
        self._pending, self._applied = None, []
        limit = self.dice.choice((None, None, 1, 2, 4))
        report = await self.agent.recompute(limit=limit, now=self.now())
        await self._settle()
        outcomes = [(item.id, item.outcome) for item in report.items]
        for item in report.items:
            if (item.id, item.outcome) not in self._applied:
                self._without_evidence(item.id)
        self.trace.append(f"  limit {limit}: {outcomes}")
        if Counter(outcomes) != Counter(self._applied):
            self.note("unfounded", detail=f"outcomes {outcomes}, by the rules {self._applied}")
        if limit is None:
            left = [id for id in self.beliefs.all if self.beliefs.ready(id)]
            self.note("left unrecomputed", len(left), str(left))

    # --- the language model -------------------------------------------------------------------------------------

    async def reply(self, task: Task[Any]) -> Reply[Any]:
        if isinstance(task, RateImportance):
            answer: object = {"ratings": [{"number": n + 1, "importance": 5} for n in range(len(task.texts))]}
        elif isinstance(task, AskQuestions):
            answer = {"questions": [self.dice.choice(task.statements).text]}
        elif isinstance(task, SaySame):
            answer = {"pairs": [{"number": n + 1, "same": False} for n in range(len(task.pairs))]}
        elif isinstance(task, InferInsights):
            answer = await self._infer(task)
        else:
            assert isinstance(task, Reconsider)
            answer = await self._reconsider(task)
        raw = json.dumps(answer)
        shaped = gates.read(raw, task.reply_model)
        return Reply(value=shaped.value, raw=raw, refused=shaped.refused)

    async def _infer(self, task: InferInsights) -> object:
        named: dict[str, list[str]] = {}
        for belief in self.beliefs.active():
            named.setdefault(belief.text, []).append(belief.id)
        ended = [s.text for s in task.statements if s.text not in named]
        self.note("stale served", len(ended), "in the prompt of a reflection")
        usable = [s for s in task.statements if len(named.get(s.text, ())) == 1]
        if not usable:
            return {"insights": []}
        chosen = self.dice.sample(usable, min(len(usable), self.dice.choice((1, 2, 2, 3))))
        text, grounds = self.text("so we plan for"), [named[s.text][0] for s in chosen]
        self._insight = (text, grounds)
        await self._meanwhile(grounds, 0.25)
        return {"insights": [{"text": text, "evidence": [s.number for s in chosen]}]}

    async def _meanwhile(self, ids: list[str], chance: float) -> None:
        """While the model thinks, something that it was shown changes."""
        held = [self.beliefs[id] for id in ids if self.beliefs[id].held]
        if held and self.dice.random() < chance:
            self.trace.append("  meanwhile")
            await self.dice.choice((self._supersede, self._retract))(self.dice.choice(held))

    async def _reconsider(self, task: Reconsider) -> object:
        await self._settle()
        (id,) = [b.id for b in self.beliefs.all.values() if b.type == "reflection" and b.text == task.hypothesis]
        self._retract_below(id)
        was = self.beliefs.shown_past(id)
        texts = Counter(self.beliefs[standing].text for standing in [*self.beliefs.shown(id), *was])
        if not self.beliefs.ready(id):
            self.note("unfounded", detail=f"{id} was recomputed before it was ready")
        elif Counter(s.text for s in task.statements) != texts:
            self.note("unfounded", detail=f"{id} was shown {[s.text for s in task.statements]}, not {list(texts)}")
        marked = {s.text for s in task.statements if s.true_until is not None}
        if marked != {self.beliefs[ground].text for ground in was}:
            self.note("stale served", detail=f"{id} was shown {marked} as true until it changed, not {was}")
        before = self._standing(id)
        chosen = {text for text in sorted(marked) if self.dice.random() < 0.5}
        past = {ground for ground in was if self.beliefs[ground].text in chosen}
        self.trace.append(f"  asked about {id} on {self.beliefs.evidence(id)}")
        await self._meanwhile(sorted(self.beliefs.shown(id)), 0.15)
        verdict = self.dice.choices(("confirmed", "revised", "retracted"), (4, 3, 2))[0]
        text = self.text("rather we plan for") if verdict == "revised" else ""
        self._pending = _Pending(id, verdict, text, before, past)
        numbers = [s.number for s in task.statements if s.true_until is None or s.text in chosen]
        return {"verdict": verdict, "text": text, "evidence": numbers, "reason": "by dice"}

    def _standing(self, id: str) -> dict[str, tuple[str, str, bool]]:
        """What became of each ground."""
        return {
            ground: (to, self.beliefs.status(to), self.beliefs.was(ground))
            for ground, to in self.beliefs.evidence(id).items()
        }

    async def _settle(self) -> None:
        """Apply the last answer, unless what it was about has changed: then it came too late."""
        pending, self._pending = self._pending, None
        if pending is None or not self.beliefs.stale(pending.id) or self._standing(pending.id) != pending.before:
            return
        if pending.verdict == "confirmed":
            self.beliefs.confirm(pending.id, pending.past)
        elif pending.verdict == "revised":
            stored = [m.id for m in await self.agent.memories(limit=10_000) if m.text == pending.text]
            self.note("left unrecomputed", int(not stored), f"{pending.id} was not revised")
            self.beliefs.revise(
                pending.id, Belief((stored or [pending.text])[0], pending.text, type="reflection"), pending.past
            )
        else:
            self.beliefs.drop(pending.id)
        self._applied.append((pending.id, pending.verdict))

    def _retract_below(self, id: str) -> None:
        """What has no evidence left is retracted without asking, before what rests on it is asked about."""
        changed = True
        while changed and not self.beliefs.ready(id):
            changed = False
            for ground in {self.beliefs.stands_for(g) for g in self._below(id)}:
                if self.beliefs.ready(ground) and not self.beliefs.shown(ground):
                    self._without_evidence(ground)
                    changed = True

    def _below(self, id: str) -> set[str]:
        found: set[str] = set()
        todo = [id]
        while todo:
            for ground in self.beliefs[todo.pop()].grounds:
                for reached in (ground, self.beliefs.stands_for(ground)):
                    if reached not in found:
                        found.add(reached)
                        todo.append(reached)
        return found

    def _without_evidence(self, id: str) -> None:
        if id in self.beliefs.all and self.beliefs.ready(id) and not self.beliefs.shown(id):
            self.beliefs.drop(id)
            self._applied.append((id, "retracted"))
