"""Reflecting, as in Park et al. 2023, section 4.2: the latest memories, questions, evidence, insights."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from graphmem.cognition import fitting, grounding, truth
from graphmem.cognition.engine import Engine, fetch, lock, tidy_up
from graphmem.cognition.retrieve import search, touch_all
from graphmem.cognition.runs import FORGOTTEN, Run
from graphmem.errors import ReplyRefused, RunLost, UnknownAgent
from graphmem.graph.records import to_memory
from graphmem.graph.store import Row, Transaction
from graphmem.language.gates import refusal, shorten
from graphmem.language.prompts import AskQuestions, InferInsights
from graphmem.models import PAPER, AnyMemory, Hits, Reflection, ReflectReport, Refused

LATEST = 100
"""Memories from which the questions are asked."""
QUESTIONS = 3
EVIDENCE = 30
"""Memories retrieved for each question."""
INSIGHTS = 5
"""Most insights for each question."""
FEWEST = 2
"""Memories that an agent needs before there is anything to reflect on."""


@dataclass
class _Written:
    """What came of a run so far."""

    questions: tuple[str, ...] = ()
    reflections: list[str] = field(default_factory=list[str])
    reinforced: list[str] = field(default_factory=list[str])
    shown: dict[str, AnyMemory] = field(default_factory=dict[str, AnyMemory])
    """What the prompts showed, by id."""
    retrieved: set[str] = field(default_factory=set[str])


async def reflect(engine: Engine, agent_id: str, *, force: bool = False, now: object = None) -> ReflectReport:
    """Reflect when it is due: when the importance of what came in since the last time reached the threshold.

    The sum is claimed on an open Run, so that it triggers once, and given back when the reflection fails or its
    process dies. Insights do not add to it. Each insight is one transaction, in which its evidence is checked again.

    Args:
        engine: The open store with its models.
        agent_id: Who reflects.
        force: Reflect although it is not due.
        now: The time of the reflection.

    Raises:
        LanguageModelError, EmbeddingError, StoreError: What was written before stays, the trigger is given back.
    """
    at = await engine.now(agent_id, now)
    rows = await engine.store.query("reflect/latest", agentId=agent_id, limit=LATEST, knownBy=None)
    # Those of one moment in the order of their texts: ids hold chance, and the index has no order for them.
    memories = [to_memory(row) for row in rows]
    latest = sorted(memories, key=lambda one: (one.occurred_at, one.text, one.id), reverse=True)
    run = Run(agent_id, at)
    try:
        refused_start = await engine.store.write(lambda tx: _claim(tx, engine, run, len(latest), force))
    except UnknownAgent:
        return ReflectReport(outcome="nothing_to_reflect_on")
    except asyncio.CancelledError:
        # It may have been committed all the same.
        await tidy_up(lambda: engine.store.write(lambda tx: _give_back(tx, run, "cancelled")))
        raise
    if refused_start is not None:
        return refused_start
    written = _Written()
    try:
        async with run.alive(engine):
            await _think(engine, run, latest, written)
        return await engine.store.write(lambda tx: _finish(tx, run, written))
    except BaseException as error:
        # Cancelled or killed by an error: the next call must be triggered again.
        message = f"{type(error).__name__}: {error}"
        await tidy_up(lambda: engine.store.write(lambda tx: _give_back(tx, run, message)))
        raise


async def _claim(tx: Transaction, engine: Engine, run: Run, memories: int, force: bool) -> ReflectReport | None:
    """Open the run and claim the trigger; a report when there is nothing to do."""
    await lock(tx, run.agent_id)
    state = await _state(tx, run.agent_id)
    if state["openRun"] is not None:
        if state["openRunLives"]:
            return _report("busy", state)
        dead = Run(run.agent_id, run.now, id=state["openRun"])
        await _return_sum(tx, dead, "its process died: the lease ended")
        state = await _state(tx, run.agent_id)
    if memories < FEWEST:
        return _report("nothing_to_reflect_on", state)
    if not force and state["importance"] < state["threshold"]:
        return _report("not_due", state)
    await run.open(tx, engine, "reflect", engine.asks(AskQuestions, InferInsights))
    await tx.run("reflect/claim", agentId=run.agent_id, runId=run.id)
    return None


async def _state(tx: Transaction, agent_id: str) -> Row:
    state = await tx.one("reflect/state", agentId=agent_id)
    assert state is not None  # The agent was locked, so it is there.
    return state


def _report(outcome: str, state: Row) -> ReflectReport:
    return ReflectReport.model_validate(
        {
            "outcome": outcome,
            "importance_since_reflection": state["importance"],
            "threshold": state["threshold"],
        }
    )


async def _return_sum(tx: Transaction, run: Run, error: str) -> None:
    await tx.run("reflect/give_back", agentId=run.agent_id, runId=run.id)
    await run.close(tx, "failed", error)


async def _give_back(tx: Transaction, run: Run, error: str) -> None:
    await lock(tx, run.agent_id)
    state = await _state(tx, run.agent_id)
    if state["openRun"] == run.id:  # Another process may have taken this run for dead.
        await _return_sum(tx, run, error)


async def _think(engine: Engine, run: Run, latest: Sequence[AnyMemory], written: _Written) -> None:
    reply, shown = await fitting.ask(
        engine,
        run,
        [fitting.Shown(memory) for memory in latest],
        lambda statements: AskQuestions(statements=statements, count=QUESTIONS),
        priority=lambda entry: (-entry.memory.importance, -entry.memory.occurred_at.timestamp(), entry.memory.id),
    )
    written.shown |= {memory.id: memory for memory in shown}
    written.questions = tuple(reply.value.questions[:QUESTIONS])
    # All evidence is retrieved before anything is written: the order of the questions changes nothing.
    evidence = [
        await search(engine, run.agent_id, question, k=EVIDENCE, profile=PAPER, now=run.now)
        for question in written.questions
    ]
    failed: list[ReplyRefused] = []
    for question, hits in zip(written.questions, evidence, strict=True):
        try:
            await _infer(engine, run, question, hits, written)
        except ReplyRefused as error:
            # One question without an acceptable answer costs the others nothing.
            run.refused.append(refusal(error, question))
            failed.append(error)
    if failed and len(failed) == len(written.questions):
        raise failed[-1]
    if written.retrieved:
        await touch_all(engine, run.agent_id, sorted(written.retrieved), run.now)


async def _infer(engine: Engine, run: Run, question: str, hits: Hits, written: _Written) -> None:
    if not hits:
        return
    reply, memories = await fitting.ask(
        engine,
        run,
        [fitting.Shown(hit.memory, hit.score) for hit in hits],
        lambda statements: InferInsights(question=question, statements=statements, count=INSIGHTS),
    )
    written.shown |= {memory.id: memory for memory in memories}
    written.retrieved.update(memory.id for memory in memories)
    found: list[grounding.Grounded] = []
    for insight in reply.value.insights[:INSIGHTS]:
        grounded = grounding.ground(insight, memories)
        if isinstance(grounded, Refused):
            run.refused.append(grounded)
            continue
        run.refused += grounded.notes
        found.append(grounded)
    drafts = await grounding.drafts(engine, run, found, question)
    known = await grounding.known_already(engine, run, drafts)
    for draft in drafts:

        async def work(tx: Transaction, new: grounding.Draft = draft) -> str | Refused:
            return await _write(tx, engine, run, new, known.get(new.id))

        outcome = await engine.store.write(work)
        if isinstance(outcome, Refused):
            run.refused.append(outcome)
        elif outcome == draft.id:
            written.reflections.append(outcome)
        elif outcome not in written.reinforced and outcome not in written.reflections:
            written.reinforced.append(outcome)


async def _write(tx: Transaction, engine: Engine, run: Run, new: grounding.Draft, same: str | None) -> str | Refused:
    """Write one insight, or let the reflection that says the same gain its evidence; returns whose id it is.

    ``same``: a reflection of which the language model says so, in other words.
    """
    cited = new.grounded.cited
    await _keep(tx, run)
    if await run.shown_forgotten(tx):
        return Refused(gate="write", reason=FORGOTTEN, item="")
    existing = await grounding.same_text(tx, run.agent_id, new.grounded.text)
    if existing is None and same is not None:
        # It may have ended while the model thought.
        existing = same if (await truth.statuses(tx, run.agent_id, [same])).get(same) == "active" else None
    reason = await grounding.not_active(tx, run.agent_id, cited)
    if existing and await truth.resting_on(tx, run.agent_id, existing, [item.id for item in cited]):
        reason = f"the evidence rests on {existing}, which says the same"
    if reason:
        return Refused(gate="write", reason=reason, item=shorten(new.grounded.text))
    revision = await truth.begin(tx, run.agent_id, run.now)
    await revision.not_before(tx, [item.id for item in cited])
    if existing is None:
        await grounding.write(tx, engine, run, new, revision.now)
        await revision.log(tx, new.id, "reflect", by=engine.language_model.name, reason="")
    else:
        await grounding.cite(tx, run.agent_id, existing, cited, revision.now)
        await revision.log(tx, existing, "reinforce", by=engine.language_model.name, reason="")
    await truth.relabel(tx, revision, [existing or new.id])
    return existing or new.id


async def _keep(tx: Transaction, run: Run) -> None:
    """Lock the agent, and keep the run from being taken for dead.

    Raises:
        RunLost: When it was already, and another may have begun.
    """
    await lock(tx, run.agent_id)
    if (await _state(tx, run.agent_id))["openRun"] != run.id:
        raise RunLost(
            "this reflection took so long that it was taken for dead; what it wrote before stays",
            remedy="reflect again; if it happens often, use a faster language model",
        )
    await run.renew(tx)


async def _finish(tx: Transaction, run: Run, written: _Written) -> ReflectReport:
    await _keep(tx, run)
    progress = await tx.one("reflect/progress", agentId=run.agent_id, runId=run.id)
    assert progress is not None  # The run was claimed by this agent.
    since = progress["since"]
    new = [
        memory
        for memory in written.shown.values()
        if memory.type == "observation" and (since is None or memory.recorded_at > since)
    ]
    up_to = max((memory.recorded_at for memory in written.shown.values()), default=since)
    outcome = "reflected" if written.reflections or written.reinforced else "no_insight"
    await run.close(tx, outcome)
    await tx.run("reflect/finish", agentId=run.agent_id, runId=run.id, upTo=up_to)
    state = await _state(tx, run.agent_id)
    found = await fetch(tx, run.agent_id, written.reflections)
    reflections = [found[id_] for id_ in written.reflections if id_ in found]  # One may have been forgotten since.
    return ReflectReport(
        outcome=outcome,
        run_id=run.id,
        questions=written.questions,
        reflections=tuple(memory for memory in reflections if isinstance(memory, Reflection)),
        reinforced=tuple(written.reinforced),
        refused=tuple(run.refused),
        not_shown=max(0, progress["observations"] - len(new)),
        importance_since_reflection=state["importance"],
        threshold=state["threshold"],
    )
