"""Resolving conflicts: a language model says what a new observation means for those that are held.

Optional, and reversible: every change it makes is in the log with its reason and its run, ``review`` lists them, and
``restore`` undoes them. It may only name what it was shown. Precedence: what the caller told as a fact, then what was
observed, then what was inferred; nothing is ended on account of what it outranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from graphmem.cognition import grounding, truth
from graphmem.cognition.engine import Engine, fetch, fetch_one, lock, tidy_up
from graphmem.cognition.retrieve import search
from graphmem.cognition.runs import Run
from graphmem.graph.records import to_memory
from graphmem.graph.store import Transaction
from graphmem.language.gates import shorten
from graphmem.language.prompts import Conflict, Resolve, Resolved
from graphmem.models import AnyMemory, Changed, Observation, Profile, Refused, RunRef, Weights

CANDIDATES = 10
"""Memories near the new one in meaning that the model is shown."""
_EQUAL = 3
"""Of those, most that say the same."""
_NEAR = Profile(name="near", weights=Weights(relevance=1, recency=0, importance=0))


def rank(memory: AnyMemory) -> int:
    """How much a memory counts against another: told by the caller 2, observed 1, inferred or planned 0."""
    if not isinstance(memory, Observation):
        return 0
    return 2 if memory.kind == "fact" else 1


@dataclass
class _Outcome:
    """What one transaction changed, for the listeners."""

    changed: Changed | None = None


async def resolve(engine: Engine, agent_id: str, memory_id: str, now: datetime) -> None:
    """Ask the language model about a new observation, and do what it says where that is allowed.

    What it names that it was not shown, that changed meanwhile, or that outranks the new observation, is refused and
    stands on the run. Nothing is done for an observation that is not active.

    Raises:
        LanguageModelError, EmbeddingError: The observation stays; nothing was resolved.
    """
    new = await engine.store.read(lambda tx: fetch_one(tx, agent_id, memory_id))
    assert isinstance(new, Observation)
    if new.status != "active":
        return
    hits = await search(engine, agent_id, new.text, k=CANDIDATES + 1, profile=_NEAR, now=now)
    equal = await engine.store.query("resolve/equal", agentId=agent_id, id=new.id, limit=_EQUAL)
    found = {memory.id: memory for memory in [*map(to_memory, equal), *(hit.memory for hit in hits)]}
    shown = [memory for memory in found.values() if memory.id != new.id][:CANDIDATES]
    if not shown:
        return
    run = Run(agent_id, now)

    async def open_run(tx: Transaction) -> None:
        await lock(tx, agent_id)
        await run.open(tx, engine, "resolve", Resolve.prompt_version)

    refused, outcome = list[Refused](), _Outcome()

    async def work(tx: Transaction) -> None:
        await lock(tx, agent_id)
        run.refused = list(refused)  # The transaction may be tried again.
        outcome.changed = await _apply(tx, engine, run, new, shown, reply.value)
        await run.close(tx, "resolved" if outcome.changed else "nothing_to_resolve")

    try:
        await engine.store.write(open_run)
        statement, *others = grounding.statements([new, *shown])
        renumbered = tuple(other.model_copy(update={"number": n}) for n, other in enumerate(others, start=1))
        rows = [{"id": new.id, "rank": 0, "score": None}]
        rows += [{"id": memory.id, "rank": n, "score": None} for n, memory in enumerate(shown, start=1)]
        async with run.alive(engine):
            reply = await run.ask(engine, Resolve(new=statement, statements=renumbered), rows)
        refused += run.refused
        await engine.store.write(work)
    except BaseException as error:
        message = f"{type(error).__name__}: {error}"
        await tidy_up(lambda: engine.store.write(lambda tx: run.abandon(tx, message)))
        raise
    if outcome.changed is not None:
        await engine.tell(outcome.changed)


async def _apply(
    tx: Transaction, engine: Engine, run: Run, new: Observation, shown: list[AnyMemory], reply: Resolved
) -> Changed | None:
    agent_id = run.agent_id
    today = await fetch(tx, agent_id, [new.id, *(memory.id for memory in shown)])
    if new.id not in today or today[new.id].status != "active":
        run.refused.append(Refused(gate="write", reason="the new memory changed meanwhile", item=""))
        return None
    by = engine.language_model.name
    revision: truth.Revision | None = None
    ended: list[str] = []
    held = [new.id]
    if reply.known is not None:
        known = _named(run, shown, today, reply.known, f"known: {reply.known}")
        if known is not None and (reason := _not_known(new, known)):
            run.refused.append(Refused(gate="support", reason=reason, item=shorten(known.text)))
        elif known is not None:
            revision = await truth.begin(tx, agent_id, run.now)
            await revision.not_before(tx, [new.id, known.id])
            await _supersede(
                tx, revision, run, older=new, newer=known, by=by, mode="correction", reason="known already"
            )
            ended, held = [new.id], [known.id]
    if not ended:
        for conflict in _once(reply.conflicts):
            item = f"{conflict.verdict}: {conflict.number}"
            old = _named(run, shown, today, conflict.number, item)
            if old is None:
                continue
            if reason := await _refusal(tx, agent_id, new, old):
                run.refused.append(Refused(gate="write", reason=reason, item=shorten(old.text)))
                continue
            revision = revision or await truth.begin(tx, agent_id, run.now)
            await revision.not_before(tx, [new.id, old.id])
            if conflict.verdict == "supersede":
                await _supersede(
                    tx, revision, run, older=old, newer=new, by=by, mode=conflict.mode, reason=conflict.reason
                )
            else:
                await truth.end(tx, revision, old.id, "retracted", cause="resolve")
                await revision.log(tx, old.id, "resolve:retracted", by=by, reason=conflict.reason, run_id=run.id)
            ended.append(old.id)
    if revision is None:
        return None
    relabelled = await truth.relabel(tx, revision, ended)
    used_by = await tx.run("truth/used_by", agentId=agent_id, ids=ended)
    return Changed(
        agent_id=agent_id,
        verb="resolve",
        revision=revision.seq,
        ended=tuple(ended),
        held=tuple(held),
        stale=relabelled.stale,
        active=relabelled.active,
        used_by=tuple(RunRef.model_validate(row) for row in used_by if row["id"] != run.id),
    )


def _once(conflicts: list[Conflict]) -> list[Conflict]:
    """Each number once, as it was named first."""
    return list({conflict.number: conflict for conflict in reversed(conflicts)}.values())[::-1]


def _named(run: Run, shown: list[AnyMemory], today: dict[str, AnyMemory], number: int, item: str) -> AnyMemory | None:
    """The memory of a number that was shown, as it is today, if it still holds."""
    if not 1 <= number <= len(shown):
        run.refused.append(Refused(gate="index", reason=f"{number} was not shown", item=item))
        return None
    memory = today.get(shown[number - 1].id)
    if memory is None or memory.status != "active":
        run.refused.append(Refused(gate="write", reason="it changed meanwhile", item=item))
        return None
    return memory


def _not_known(new: Observation, known: AnyMemory) -> str:
    """Why an observation may not be taken for known already: it would be put away on account of the other."""
    if new.key is not None:
        return "a value of a key is known by its key alone"
    return "it outranks what is said to say the same" if rank(new) > rank(known) else ""


async def _refusal(tx: Transaction, agent_id: str, new: Observation, old: AnyMemory) -> str:
    """Why a memory may not be ended on account of the new one."""
    if rank(old) > rank(new):
        return "it outranks the new memory"
    if isinstance(old, Observation) and old.key is not None:
        return "it is the value of a key, which only a later value of that key replaces"
    if await truth.resting_on(tx, agent_id, old.id, [new.id]):
        return "the new memory rests on it"
    return ""


async def _supersede(
    tx: Transaction,
    revision: truth.Revision,
    run: Run,
    *,
    older: AnyMemory,
    newer: AnyMemory,
    by: str,
    mode: truth.Mode,
    reason: str,
) -> None:
    await truth.supersede(
        tx, revision, older=older.id, newer=newer.id, mode=mode, reason=reason, by=by, cause="resolve", made=False
    )
    await revision.log(tx, older.id, "resolve:superseded", by=by, reason=reason, run_id=run.id)
