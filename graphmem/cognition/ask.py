"""Asking: an answer from memory and nothing else, each sentence with what bears it out, or that it is not known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import get_args
from zoneinfo import ZoneInfo

from graphmem.clock import as_utc
from graphmem.cognition import fitting, grounding, past, plan_store, truth
from graphmem.cognition.day import Day
from graphmem.cognition.engine import Engine, fetch, lock, unknown_agent
from graphmem.cognition.retrieve import checked_query, search, search_past, touch_all
from graphmem.cognition.runs import FORGOTTEN, Run, running
from graphmem.cognition.selection import shown as shown_text
from graphmem.cognition.selection import tokens
from graphmem.errors import InvalidInput
from graphmem.graph.records import to_memory
from graphmem.graph.store import Row, Transaction
from graphmem.language.asking import MOST_SENTENCES, AnswerQuestion, CheckClaims, Claim
from graphmem.language.base import EXTRACTIVE
from graphmem.language.oneself import OWN, Doings, Oneself, doings_asked
from graphmem.language.text import shorten
from graphmem.models import RECALL, AnyMemory, Filters, Hits, Kind, Profile, Refused
from graphmem.models.answers import UNKNOWN, Answer, MemoryType, Sentence

TOKEN_BUDGET = 3_000
"""Tokens of the memories that an answer is made from."""
_LOOKED_AT = 40
"""Memories among which those that fit are chosen."""
_COMPLETED = 8
"""Of the best, the turns around them are looked at as well: what was found may be a fragment."""
_TURNS = 2
"""On either side."""
_LONGEST_PLAN = timedelta(days=2)
KINDS: dict[MemoryType, tuple[Kind, ...]] = {
    "observation": ("event", "utterance", "fact"),
    "reflection": ("insight", "summary", "procedure"),
    "plan": ("day", "hour", "step"),
}


async def ask(
    engine: Engine,
    agent_id: str,
    question: str,
    *,
    token_budget: int = TOKEN_BUDGET,
    profile: Profile = RECALL,
    types: Iterable[MemoryType] | None = None,
    touch: bool = True,
    as_of: object = None,
    now: object = None,
) -> Answer:
    """Answer a question from the agent's memory.

    The run is kept with all that its prompts showed, so that whoever changes one of these memories is told of it.

    Args:
        engine: The open store with its models.
        agent_id: Who is asked.
        question: What is asked.
        token_budget: Most tokens of memories that the answer is made from, from 1 up.
        profile: How they are retrieved.
        types: Only these types of memory; None: all. None of them: nothing is known.
        touch: Whether the memories looked at count as accessed.
        as_of: Only from what the agent believed at that moment, found by meaning alone; no access is noted.
        now: The time of the question.

    Raises:
        InvalidInput: When a value is refused; InvalidTime where it is a time.
        EmbeddingError: When the question cannot be embedded.
        LanguageModelError: When the model failed, or no reply passed the parse and shape gates.
    """
    checked_query(question)
    if isinstance(token_budget, bool) or not isinstance(token_budget, int) or token_budget < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"token_budget: {token_budget!r} is not a whole number from 1 up")
    kinds = _kinds(types)
    then = as_utc(as_of) if as_of is not None else None
    at = await engine.now(agent_id, now)
    asked = then or at
    own = await _oneself(engine, agent_id, asked)
    # Of who it was at a moment, or planned then, nothing is kept: the past is answered from what it believed.
    present = then is None and kinds != ()
    described = own if present and (own.traits or own.home or own.name != agent_id) else None
    doings, day = _asked_day(question, own) if present else (None, None)
    found = await _look(engine, agent_id, question, kinds, profile, token_budget, at, then, day)
    async with running(engine, agent_id, "ask", engine.asks(AnswerQuestion, CheckClaims), at) as run:
        sentences: list[Sentence] = []
        shown: tuple[AnyMemory, ...] = ()
        if found.memories or described is not None:
            reply, shown = await fitting.ask(
                engine,
                run,
                found.memories,
                lambda statements: AnswerQuestion(
                    question=question,
                    who=own.name,
                    own=described,
                    day=None if day is None else (day.start, day.end),
                    done=doings is not None and doings.past,
                    now=asked,
                    statements=statements,
                ),
            )
            run.refused += reply_refused(reply.value.sentences[MOST_SENTENCES:])
            grounded = [
                one
                for said in reply.value.sentences[:MOST_SENTENCES]
                if (one := _grounded(run, said, shown, described)) is not None
            ]
            borne_out = await check(engine, run, grounded, shown, own=described)
            sentences = await engine.store.write(lambda tx: _keep(tx, run, question, borne_out, shown, then))
    if shown and touch and then is None:
        await touch_all(engine, agent_id, [memory.id for memory in shown], at)
    return Answer(
        agent_id=agent_id,
        question=question,
        text=_text(sentences),
        sentences=tuple(sentences),
        known=bool(sentences),
        looked_at=tuple(memory.id for memory in shown),
        refused=tuple(run.refused),
        run_id=run.id,
        withheld_stale=found.withheld_stale,
        left_out=found.left_out,
        as_of=then,
        now=asked,
    )


async def name_of(engine: Engine, agent_id: str) -> str:
    """The agent's name, else its id.

    Raises:
        UnknownAgent: When nothing was ever written for it.
    """
    return (await _agent(engine, agent_id)).get("name") or agent_id


async def _oneself(engine: Engine, agent_id: str, at: datetime) -> Oneself:
    agent = await _agent(engine, agent_id)
    return Oneself(
        name=agent.get("name") or agent_id,
        traits=agent.get("traits"),
        home=agent.get("home"),
        at=at,
        time_zone=agent["timeZone"],
    )


async def _agent(engine: Engine, agent_id: str) -> Row:
    rows = await engine.store.query("agent/info", agentId=agent_id)
    if not rows:
        raise unknown_agent(agent_id)
    return rows[0]["agent"]


def reply_refused(more: Sequence[grounding.Insight]) -> list[Refused]:
    """Sentences beyond those that were asked for."""
    return [
        Refused(gate="shape", reason=f"sentences: more than {MOST_SENTENCES}", item=shorten(said.text)) for said in more
    ]


def _grounded(
    run: Run, said: grounding.Insight, shown: Sequence[AnyMemory], own: Oneself | None
) -> grounding.Grounded | None:
    found = grounding.ground(said, shown, own=own, quoting=True)
    if isinstance(found, Refused):
        run.refused.append(found)
        return None
    run.refused += found.notes
    return found


def _kinds(types: Iterable[MemoryType] | None) -> tuple[Kind, ...] | None:
    if types is None:
        return None
    given: set[str] = {types} if isinstance(types, str) else set(types)
    if unknown := sorted(given - set(get_args(MemoryType))):
        raise InvalidInput(f"types: {unknown[0]!r} is none of {', '.join(get_args(MemoryType))}")
    return tuple(kind for type_, kinds in KINDS.items() if type_ in given for kind in kinds)


@dataclass(frozen=True)
class _Found:
    """What an answer can be made from, best first."""

    memories: tuple[fitting.Shown, ...] = ()
    left_out: tuple[str, ...] = ()
    withheld_stale: int = 0


async def _look(
    engine: Engine,
    agent_id: str,
    question: str,
    kinds: tuple[Kind, ...] | None,
    profile: Profile,
    token_budget: int,
    now: datetime,
    then: datetime | None,
    day: Day | None,
) -> _Found:
    if kinds == ():
        return _Found()
    filters = Filters(kinds=kinds)
    if then is None:
        hits: Hits = await search(engine, agent_id, question, k=_LOOKED_AT, profile=profile, now=now, filters=filters)
    else:
        hits = await search_past(
            engine, agent_id, question, k=_LOOKED_AT, profile=profile, filters=filters, moment=then
        )
    best = {hit.memory.id: fitting.Shown(hit.memory, hit.score) for hit in hits}
    ids = list(best)
    rows = await engine.store.query("ask/around", agentId=agent_id, ids=ids[:_COMPLETED], most=_TURNS, asOf=then)
    around = await engine.store.read(lambda tx: _fetch(tx, agent_id, [row["id"] for row in rows], then))
    # The turns around the best come right after them: with little room they matter more than what is less like it.
    plans = then is None and (kinds is None or "step" in kinds)
    planned = await _planned_then(engine, agent_id, question) if plans else {}
    if day is not None and (kinds is None or "day" in kinds):
        planned |= await _planned_on(engine, agent_id, day)
    around |= planned
    order = [*planned, *ids[:_COMPLETED], *sorted(around), *ids[_COMPLETED:]]
    kept: list[fitting.Shown] = []
    left_out: list[str] = []
    used = 0
    for id_ in dict.fromkeys(order):
        entry = best.get(id_) or fitting.Shown(around[id_])
        if kinds is not None and entry.memory.kind not in kinds:
            continue
        cost = tokens(shown_text(entry.memory))
        if used + cost <= token_budget:
            kept.append(entry)
            used += cost
        else:
            left_out.append(id_)
    return _Found(tuple(kept), tuple(left_out), hits.withheld_stale)


async def _fetch(tx: Transaction, agent_id: str, ids: Sequence[str], then: datetime | None) -> dict[str, AnyMemory]:
    """These memories; of a moment only those that were believed, as they were."""
    found = await fetch(tx, agent_id, ids)
    if then is None:
        return found
    held = await past.believed(tx, agent_id, ids, then)
    return {id_: past.as_it_was(found[id_], was) for id_, was in held.items() if was.status == "active"}


def _asked_day(question: str, own: Oneself) -> tuple[Doings | None, Day | None]:
    """Whether it is asked what the agent did or is going to do on a day, and that day by its clock."""
    zone = ZoneInfo(own.time_zone)
    doings = None
    if not _MOMENT.search(question):
        doings = doings_asked(question, own.name, own.at.astimezone(zone).date())
    return doings, None if doings is None else Day(doings.day, zone)


async def _planned_on(engine: Engine, agent_id: str, day: Day) -> dict[str, AnyMemory]:
    """What is planned for a day in large, and what became of it."""
    entries = await plan_store.read_between(engine, agent_id, day.start, day.end)
    return {entry.plan.id: entry.plan for entry in entries if entry.plan.status == "active" and entry.parent is None}


_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})(?:T| at | )(\d{2}:\d{2})(?: ?UTC|Z)")


async def _planned_then(engine: Engine, agent_id: str, question: str) -> dict[str, AnyMemory]:
    """What is planned for a moment that the question names, such as ``2026-06-12 at 13:00 UTC``, the finest plan."""
    found: dict[str, AnyMemory] = {}
    for day, clock in _MOMENT.findall(question):
        at = as_utc(f"{day}T{clock}:00Z")
        rows = await engine.store.query("plan/at", agentId=agent_id, at=at, since=at - _LONGEST_PLAN)
        held = [to_memory(row) for row in rows if row["memory"]["held"] and not row["parts"]]
        active = [memory for memory in held if memory.status == "active"]
        found |= {memory.id: memory for memory in active[:1]}
    return found


async def check(
    engine: Engine,
    run: Run,
    grounded: Sequence[grounding.Grounded],
    shown: Sequence[AnyMemory],
    *,
    own: Oneself | None = None,
) -> list[grounding.Grounded]:
    """The sentences that the language model, asked apart, finds borne out by what they cite; others are refused.

    What is a quotation needs no model to tell; one that gives no verdict on a sentence does not bear it out.
    """
    if not grounded or engine.language_model.name == EXTRACTIVE:
        return list(grounded)
    cited = list(dict.fromkeys(item.id for one in grounded for item in one.cited))
    memories = {memory.id: memory for memory in shown}
    number = {id_: place for place, id_ in enumerate(cited, start=1)}
    claims = tuple(
        Claim(text=one.text, evidence=(*([OWN] if one.described else []), *(number[item.id] for item in one.cited)))
        for one in grounded
    )
    reply, _ = await fitting.ask(
        engine,
        run,
        [fitting.Shown(memories[id_]) for id_ in cited],
        lambda statements: CheckClaims(claims=claims, own=own, statements=statements),
    )
    verdicts = {verdict.number: verdict for verdict in reply.value.verdicts}
    kept: list[grounding.Grounded] = []
    for place, one in enumerate(grounded, start=1):
        verdict = verdicts.get(place)
        if verdict is not None and verdict.follows:
            kept.append(one)
            continue
        reason = "no verdict on whether it follows" if verdict is None else "does not follow from what it cites"
        if verdict is not None and verdict.reason:
            reason = f"{reason}: {verdict.reason}"
        run.refused.append(Refused(gate="support", reason=shorten(reason, 300), item=shorten(one.text)))
    return kept


async def _keep(
    tx: Transaction,
    run: Run,
    question: str,
    grounded: Sequence[grounding.Grounded],
    shown: Sequence[AnyMemory],
    then: datetime | None,
) -> list[Sentence]:
    """Check under the agent's lock that what is cited still holds, or held then, and note the answer on its run."""
    await lock(tx, run.agent_id)
    types = {memory.id: memory.type for memory in shown}
    sentences: list[Sentence] = []
    forgotten = await run.shown_forgotten(tx)
    cited = [item.id for one in grounded for item in one.cited]
    if then is None:
        found = await truth.statuses(tx, run.agent_id, cited)
    else:
        found = {id_: was.status for id_, was in (await past.believed(tx, run.agent_id, cited, then)).items()}
    for one in grounded:
        ids = tuple(item.id for item in one.cited)
        changed = [f"{id_} is {found.get(id_, 'gone')}" for id_ in ids if found.get(id_) != "active"]
        if forgotten or changed:
            reason = FORGOTTEN if forgotten else f"evidence changed meanwhile: {', '.join(changed)}"
            run.refused.append(Refused(gate="write", reason=reason, item="" if forgotten else shorten(one.text)))
            continue
        inferred = bool(ids) and all(types[id_] != "observation" for id_ in ids)
        sentences.append(Sentence(text=one.text, citations=ids, inferred=inferred, described=one.described))
    if not forgotten:
        await tx.run(
            "run/answer", agentId=run.agent_id, runId=run.id, question=question, answer=_text(sentences), asOf=then
        )
    return sentences


def _text(sentences: Sequence[Sentence]) -> str:
    return " ".join(_stopped(sentence.text) for sentence in sentences) or UNKNOWN


def _stopped(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…", "”")) else f"{text}."
