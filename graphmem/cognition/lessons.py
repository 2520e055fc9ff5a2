"""Lessons: what became of plans, reflected on; reflections of kind procedure that cite the plans they come from.

They are retrieved when the like is planned again. With observations as episodic memory, insights as semantic memory and
``context()`` as working memory they are the procedural memory of Sumers et al. 2023 (CoALA).
"""

from __future__ import annotations

from graphmem.cognition import fitting, grounding, truth
from graphmem.cognition.engine import Engine, fetch, lock
from graphmem.cognition.runs import FORGOTTEN, Run, running
from graphmem.cognition.summaries import who
from graphmem.graph.records import to_memory
from graphmem.graph.store import Transaction
from graphmem.language.gates import shorten
from graphmem.language.planning import LearnLessons
from graphmem.models import Plan, Reflection, Refused
from graphmem.models.planning import LearnReport

LATEST = 100
"""Plans that are looked at in one call, the latest."""
LESSONS = 5
"""Most lessons of one call."""
QUESTION = "How is this done, or planned, the next time?"


async def learn(engine: Engine, agent_id: str, *, now: object = None) -> LearnReport:
    """Reflect on what became of plans since the last time, together with earlier ones; each lesson cites its plans.

    Raises:
        LanguageModelError, EmbeddingError: Nothing is lost: the same plans are looked at again the next time.
    """
    at = await engine.now(agent_id, now)
    agent = await who(engine, agent_id)
    since = agent.learned_up_to
    rows = await engine.store.query("lesson/finished", agentId=agent_id, since=since, limit=1)
    if not rows:
        return LearnReport(outcome="nothing_finished")
    # Earlier outcomes are shown as well: that something fails again and again shows over days.
    rows = await engine.store.query("lesson/finished", agentId=agent_id, since=None, limit=LATEST)
    plans = [memory for row in rows if isinstance(memory := to_memory(row), Plan)]
    plans.sort(key=lambda plan: (plan.start, plan.id))
    async with running(engine, agent_id, "learn", engine.asks(LearnLessons), at) as run:
        reply, shown = await fitting.ask(
            engine,
            run,
            [fitting.Shown(plan) for plan in plans],
            lambda statements: LearnLessons(agent=agent.described, statements=statements, count=LESSONS),
            priority=lambda entry: (-entry.memory.importance, -entry.memory.occurred_at.timestamp(), entry.memory.id),
        )
        found: list[grounding.Grounded] = []
        for insight in reply.value.insights[:LESSONS]:
            grounded = grounding.ground(insight, shown, given=agent.given(at))
            if isinstance(grounded, Refused):
                run.refused.append(grounded)
                continue
            run.refused += grounded.notes
            found.append(grounded)
        drafts = await grounding.drafts(engine, run, found, QUESTION, kind="procedure")
        new: list[str] = []
        reinforced: list[str] = []
        for draft in drafts:

            async def work(tx: Transaction, draft: grounding.Draft = draft) -> str | Refused:
                return await _write(tx, engine, run, draft)

            outcome = await engine.store.write(work)
            if isinstance(outcome, Refused):
                run.refused.append(outcome)
            else:
                (new if outcome == draft.id else reinforced).append(outcome)
        latest = max((plan.finished_at for plan in plans if plan.finished_at is not None), default=at)
        await engine.store.write(lambda tx: _note(tx, agent_id, latest))
        memories = await engine.store.read(lambda tx: fetch(tx, agent_id, new))
        return LearnReport(
            outcome="learned" if new or reinforced else "no_lesson",
            run_id=run.id,
            considered=len(shown),
            procedures=tuple(memory for id_ in new if isinstance(memory := memories[id_], Reflection)),
            reinforced=tuple(reinforced),
            refused=tuple(run.refused),
        )


async def _write(tx: Transaction, engine: Engine, run: Run, new: grounding.Draft) -> str | Refused:
    """Write one lesson, or let the reflection that says the same gain its evidence; returns whose id it is."""
    await lock(tx, run.agent_id)
    cited = new.grounded.cited
    item = shorten(new.grounded.text)
    if await run.shown_forgotten(tx):
        return Refused(gate="write", reason=FORGOTTEN, item="")
    if reason := await grounding.not_active(tx, run.agent_id, cited):
        return Refused(gate="write", reason=reason, item=item)
    existing = await grounding.same_text(tx, run.agent_id, new.grounded.text)
    revision = await truth.begin(tx, run.agent_id, run.now)
    await revision.not_before(tx, [item.id for item in cited])
    by = engine.language_model.name
    if existing is None:
        await grounding.write(tx, engine, run, new, revision.now)
        await revision.log(tx, new.id, "reflect", by=by, reason="")
    else:
        await grounding.cite(tx, run.agent_id, existing, cited, revision.now)
        await revision.log(tx, existing, "reinforce", by=by, reason="")
    await truth.relabel(tx, revision, [existing or new.id])
    return existing or new.id


async def _note(tx: Transaction, agent_id: str, up_to: object) -> None:
    await lock(tx, agent_id)
    await tx.run("lesson/learned", agentId=agent_id, upTo=up_to)
