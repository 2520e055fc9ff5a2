"""From what a model wrote to a reflection with its citations: shown statements, gates, and the write."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graphmem.cognition import truth
from graphmem.cognition.engine import Engine, new_id, window_of
from graphmem.cognition.runs import Run
from graphmem.cognition.texts import derived
from graphmem.embedding.base import Vectors
from graphmem.errors import PromptTooLong, ReplyRefused, RunLost, StoreInconsistent
from graphmem.graph.records import digest
from graphmem.graph.store import Row, Transaction
from graphmem.language.base import EXTRACTIVE, Statement, Window
from graphmem.language.gates import Indexed, index, normalise_text, rated, refusal, support
from graphmem.language.oneself import OWN, Oneself
from graphmem.language.prompts import Insight, RateImportance, SaySame
from graphmem.language.rating import rate as by_rule
from graphmem.language.text import shorten
from graphmem.models import AnyMemory, ImportanceBy, Kind, Observation, Plan, Reflection, Refused

_log = logging.getLogger("graphmem")

DEFAULT_IMPORTANCE = 5
"""What a memory gets that the model did not rate; marked ``default``."""
RATED_AT_ONCE = 50
"""Most texts per request to the language model."""
_LEAST_RATED = 200
"""Characters of a text that are rated at least."""


def statements(memories: Sequence[AnyMemory]) -> tuple[Statement, ...]:
    """Memories as a prompt shows them, numbered from 1."""
    return tuple(statement(memory, number) for number, memory in enumerate(memories, start=1))


def statement(memory: AnyMemory, number: int) -> Statement:
    """A memory as a prompt shows it under this number."""
    shown = Statement(
        number=number,
        text=memory.text,
        kind=memory.kind,
        type=memory.type,
        status=memory.status,
        occurred_at=memory.occurred_at,
        source=memory.source if isinstance(memory, Observation) else None,
        importance=memory.importance,
        keywords=memory.keywords,
        true_until=memory.ended_at if memory.status == "superseded" else None,
        place=memory.place if not isinstance(memory, Reflection) else None,
    )
    if not isinstance(memory, Plan):
        return shown
    planned = {"state": memory.state, "reason": memory.reason or None, "start": memory.start, "end": memory.end}
    return shown.model_copy(update=planned)


@dataclass(frozen=True)
class Cited:
    """One memory that an insight rests on."""

    id: str
    rank: int
    """1-based, in the order that the model gave."""
    support: float | None
    """How far the memory supports the text, in [0, 1]; None where nothing was measured."""
    past: bool = False
    """It is cited as it was: an update has superseded it since."""


@dataclass(frozen=True)
class Grounded:
    """An insight that passed the index and support gates."""

    text: str
    cited: tuple[Cited, ...]
    notes: tuple[Refused, ...] = ()
    described: bool = False
    """It rests on what the agent is told to be as well, or on nothing else."""


def ground(
    insight: Insight,
    shown: Sequence[AnyMemory],
    *,
    given: Sequence[Statement] = (),
    own: Oneself | None = None,
    quoting: bool = False,
) -> Grounded | Refused:
    """Pass an insight through the index and support gates, against the memories that the prompt showed.

    ``given``: what the prompt said besides and may be repeated, but not cited: who the agent is, which day it was.
    ``own``: what the agent is told to be, shown as number 0: it may be cited, and what is said from it is marked.
    ``quoting``: it may say what one memory says and no more.
    """
    numbered = statements(shown)
    own_number = [] if own is None else [OWN]
    indexed = index(insight, [*own_number, *(statement.number for statement in numbered)])
    if isinstance(indexed, Refused):
        return indexed
    assert isinstance(indexed, Indexed)
    described = OWN in indexed.evidence
    numbers = [number for number in indexed.evidence if number != OWN]
    evidence = [numbered[number - 1] for number in numbers]
    if own is None:
        supported = support(indexed.text, evidence, given=given, quoting=quoting)
    elif not evidence:
        supported = support(indexed.text, [own.statement()], given=given, quoting=quoting)
    else:
        # The name needs no citation. What is said from the rest of the description without citing it, is said from it.
        told = evidence[0].occurred_at
        name = own.statement(told, name_only=not described)
        supported = support(indexed.text, evidence, given=[*given, name], quoting=quoting)
        if isinstance(supported, Refused) and not described:
            described = True
            supported = support(indexed.text, evidence, given=[*given, own.statement(told)], quoting=quoting)
    if isinstance(supported, Refused):
        return supported
    cited = tuple(
        Cited(shown[number - 1].id, rank, supported.get(number), past=shown[number - 1].status == "superseded")
        for rank, number in enumerate(numbers, start=1)
    )
    return Grounded(indexed.text, cited, indexed.notes, described)


async def rate(engine: Engine, texts: Sequence[str], run: Run | None) -> list[tuple[int, ImportanceBy]]:
    """Importance of each text, 1–10, and who set it; what the model did not rate is a default and marked so.

    Args:
        engine: The open store with its models.
        texts: What to rate; of very long ones the beginning is rated.
        run: Where it is accounted for; None: by rule, whatever the language model is.
    """
    if run is None or engine.language_model.name == EXTRACTIVE:
        return [(by_rule(text), "rule") for text in texts]
    ratings: list[tuple[int, ImportanceBy]] = []
    for batch in _batches(texts, await window_of(engine)):
        found = await _rated(engine, run, batch)
        for number in range(1, len(batch) + 1):
            ratings.append((found[number], "model") if number in found else (DEFAULT_IMPORTANCE, "default"))
    return ratings


def _batches(texts: Sequence[str], window: Window) -> Iterator[tuple[str, ...]]:
    """Texts in groups that have room in a prompt, shortened where they are very long."""
    room = window.prompt // 2  # The other half is for the instructions and for quoting a refused reply.
    batch: list[str] = []
    taken = 0
    for text in texts:
        shown = shorten(text, max(_LEAST_RATED, room // 4)) if len(text) > room // 4 else text
        size = window.count(shown) + 10
        if batch and (taken + size > room or len(batch) == RATED_AT_ONCE):
            yield tuple(batch)
            batch, taken = [], 0
        batch.append(shown)
        taken += size
    if batch:
        yield tuple(batch)


async def _rated(engine: Engine, run: Run, batch: tuple[str, ...]) -> dict[int, int]:
    """Ratings by number; in two halves where the prompt or the reply is too long for the model."""
    try:
        reply = await run.ask(engine, RateImportance(texts=batch), [])
    except (PromptTooLong, ReplyRefused) as error:
        if isinstance(error, ReplyRefused):
            run.refused.append(refusal(error, ""))
        if (isinstance(error, PromptTooLong) or error.truncated) and len(batch) > 1:
            half = len(batch) // 2
            first = await _rated(engine, run, batch[:half])
            second = await _rated(engine, run, batch[half:])
            return first | {number + half: importance for number, importance in second.items()}
        _log.warning("%s did not rate %d memories: %s", engine.language_model.name, len(batch), error)
        return {}
    found = rated(reply.value.ratings, len(batch))
    run.refused += found.refused
    return found.importance


@dataclass(frozen=True)
class Draft:
    """A reflection that is rated and embedded, ready to be written."""

    id: str
    grounded: Grounded
    question: str | None
    importance: int
    importance_by: ImportanceBy
    vector: Vectors | None
    kind: Kind = "insight"
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What its kind has besides."""


async def drafts(
    engine: Engine,
    run: Run,
    found: Sequence[Grounded],
    question: str | None,
    *,
    kind: Kind = "insight",
    properties: Mapping[str, Any] | None = None,
) -> list[Draft]:
    """Rate and embed reflections together: everything that needs a model, outside any transaction."""
    texts = [grounded.text for grounded in found]
    ratings = await rate(engine, texts, run) if texts else []
    vectors = await engine.embed_documents(texts)
    return [
        Draft(new_id(), grounded, question, importance, by, vector, kind, properties or {})
        for grounded, (importance, by), vector in zip(found, ratings, vectors, strict=True)
    ]


_ALIKE = 0.8
"""Cosine from which on two insights may say the same, and the language model is asked; it affirms nothing itself."""
_ALIKE_AT_MOST = 3


async def known_already(engine: Engine, run: Run, drafts: Sequence[Draft]) -> dict[str, str]:
    """By the id of a draft, the active reflection that says the same in other words, as the language model says.

    Similarity chooses what is asked about and affirms nothing; without a model there are none.
    """
    if engine.language_model.name == EXTRACTIVE:
        return {}
    pairs: list[tuple[str, str, str, str]] = []
    for new in drafts:
        if new.vector is None:
            continue
        rows = await engine.store.query(
            "reflect/similar", agentId=run.agent_id, vector=new.vector, least=_ALIKE, limit=_ALIKE_AT_MOST
        )
        pairs += [(new.id, new.grounded.text, row["id"], row["text"]) for row in rows]
    if not pairs:
        return {}
    shown: list[Row] = [
        {"id": old, "rank": rank, "score": None} for rank, old in enumerate(dict.fromkeys(pair[2] for pair in pairs), 1)
    ]
    try:
        reply = await run.ask(engine, SaySame(pairs=tuple((text, known) for _, text, _, known in pairs)), shown)
    except ReplyRefused as error:
        # Nobody says that any of them is known: they are new.
        run.refused.append(refusal(error, ""))
        return {}
    said: dict[int, bool] = {}
    for pair in reply.value.pairs:
        said[pair.number] = pair.same and said.get(pair.number, True)  # Said both ways: not affirmed.
    found: dict[str, str] = {}
    for number, (new_id_, _, old, _) in enumerate(pairs, start=1):
        if said.get(number):
            found.setdefault(new_id_, old)
    return found


async def write(tx: Transaction, engine: Engine, run: Run, new: Draft, now: datetime) -> None:
    """Create the reflection with its citations; the agent is locked and the evidence was checked.

    Raises:
        StoreInconsistent: When not every citation could be written; nothing is kept.
        RunLost: When the run is there no more, nor the agent for which it was begun.
    """
    text = new.grounded.text
    properties: Row = {
        "id": new.id,
        "text": text,
        "kind": new.kind,
        "question": new.question,
        "status": "active",
        "held": True,
        "depth": 1,
        "importance": new.importance,
        "importanceBy": new.importance_by,
        "occurredAt": now,
        "recordedAt": now,
        "lastAccessedAt": now,
        "keywords": [],
        "writtenBy": engine.language_model.name,
        **new.properties,
        **derived(engine, run.agent_id, text, None, now, embedded=new.vector is not None),
    }
    created = await tx.run(
        "reflect/create", agentId=run.agent_id, runId=run.id, properties=properties, vector=new.vector
    )
    if len(created) != 1:
        raise RunLost(
            f"what run {run.id!r} wrote was dropped: agent {run.agent_id!r} was forgotten meanwhile",
            remedy="the same call begins anew",
        )
    await tx.run("entity/link", agentId=run.agent_id, ids=[new.id])
    await cite(tx, run.agent_id, new.id, new.grounded.cited, now)


async def cite(tx: Transaction, agent_id: str, reflection_id: str, cited: Sequence[Cited], now: datetime) -> None:
    """Let a reflection cite memories.

    Raises:
        StoreInconsistent: When one of them is not there; the whole change is rolled back.
    """
    evidence = [
        {"id": item.id, "rank": item.rank, "support": item.support, "past": item.past or None} for item in cited
    ]
    rows = await tx.run("truth/cite", agentId=agent_id, id=reflection_id, evidence=evidence, now=now)
    if len(rows) != len(cited):
        raise StoreInconsistent(f"{reflection_id!r} was to cite {len(cited)} memories, {len(rows)} are there")


async def not_active(tx: Transaction, agent_id: str, cited: Sequence[Cited]) -> str | None:
    """Which of these memories may no longer be cited, re-checked under the agent's lock; None when all may."""
    found = await truth.statuses(tx, agent_id, [item.id for item in cited])
    changed = [f"{c.id} is {found.get(c.id, 'gone')}" for c in cited if found.get(c.id) != "active"]
    return f"evidence changed meanwhile: {', '.join(changed)}" if changed else None


async def same_text(tx: Transaction, agent_id: str, text: str, *, besides: str = "") -> str | None:
    """The active reflection that says the same, by equal normalised text."""
    row = await tx.one(
        "reflect/same_text", agentId=agent_id, textHash=digest(normalise_text(text)), **{"except": besides}
    )
    return row["id"] if row else None
