"""From what a model wrote to a reflection with its citations: shown statements, gates, and the write."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.cognition import truth
from graphmem.cognition.engine import Engine, answer, new_id
from graphmem.cognition.runs import Run
from graphmem.cognition.texts import derived
from graphmem.embedding.base import Vectors
from graphmem.errors import ReplyRefused, StoreInconsistent
from graphmem.graph.records import digest
from graphmem.graph.store import Row, Transaction
from graphmem.language.base import EXTRACTIVE, LanguageModel, Statement
from graphmem.language.gates import Indexed, index, normalise_text, rated, support
from graphmem.language.prompts import Insight, RateImportance
from graphmem.models import AnyMemory, ImportanceBy, Observation, Refused

_log = logging.getLogger("graphmem")

DEFAULT_IMPORTANCE = 5
"""What a memory gets that the model did not rate; marked ``default``."""
RATED_AT_ONCE = 50
"""Texts per request to the language model."""


def statements(memories: Sequence[AnyMemory]) -> tuple[Statement, ...]:
    """Memories as a prompt shows them, numbered from 1."""
    return tuple(
        Statement(
            number=number,
            text=memory.text,
            kind=memory.kind,
            type=memory.type,
            status=memory.status,
            occurred_at=memory.occurred_at,
            source=memory.source if isinstance(memory, Observation) else None,
            importance=memory.importance,
            keywords=memory.keywords,
        )
        for number, memory in enumerate(memories, start=1)
    )


@dataclass(frozen=True)
class Cited:
    """One memory that an insight rests on."""

    id: str
    rank: int
    """1-based, in the order that the model gave."""
    support: float | None
    """How far the memory supports the text, in [0, 1]; None where nothing was measured."""


@dataclass(frozen=True)
class Grounded:
    """An insight that passed the index and support gates."""

    text: str
    cited: tuple[Cited, ...]
    notes: tuple[Refused, ...] = ()


def ground(insight: Insight, shown: Sequence[AnyMemory]) -> Grounded | Refused:
    """Pass an insight through the index and support gates, against the memories that the prompt showed."""
    numbered = statements(shown)
    indexed = index(insight, [statement.number for statement in numbered])
    if isinstance(indexed, Refused):
        return indexed
    assert isinstance(indexed, Indexed)
    supported = support(indexed.text, [numbered[number - 1] for number in indexed.evidence])
    if isinstance(supported, Refused):
        return supported
    cited = tuple(
        Cited(shown[number - 1].id, rank, supported.get(number))
        for rank, number in enumerate(indexed.evidence, start=1)
    )
    return Grounded(indexed.text, cited, indexed.notes)


async def rate(model: LanguageModel, texts: Sequence[str]) -> list[tuple[int, ImportanceBy]]:
    """Importance of each text, 1–10, and who set it; what the model did not rate is a default and marked so."""
    by: ImportanceBy = "rule" if model.name == EXTRACTIVE else "model"
    ratings: list[tuple[int, ImportanceBy]] = []
    for start in range(0, len(texts), RATED_AT_ONCE):
        batch = tuple(texts[start : start + RATED_AT_ONCE])
        try:
            reply = await answer(model, RateImportance(texts=batch))
        except ReplyRefused as error:
            _log.warning("%s did not rate %d memories: %s", model.name, len(batch), error)
            found: dict[int, int] = {}
        else:
            found = rated(reply.value.ratings, len(batch)).importance
        for number in range(1, len(batch) + 1):
            ratings.append((found[number], by) if number in found else (DEFAULT_IMPORTANCE, "default"))
    return ratings


@dataclass(frozen=True)
class Draft:
    """A reflection that is rated and embedded, ready to be written."""

    id: str
    grounded: Grounded
    question: str | None
    importance: int
    importance_by: ImportanceBy
    vector: Vectors | None


async def draft(engine: Engine, grounded: Grounded, question: str | None) -> Draft:
    """Rate and embed an insight: everything that needs a model, outside any transaction."""
    (importance, by), *_ = await rate(engine.language_model, [grounded.text])
    vector, *_ = await engine.embed_documents([grounded.text])
    return Draft(new_id(), grounded, question, importance, by, vector)


async def write(tx: Transaction, engine: Engine, run: Run, new: Draft, now: datetime) -> None:
    """Create the reflection with its citations; the agent is locked and the evidence was checked.

    Raises:
        StoreInconsistent: When not every citation could be written; nothing is kept.
    """
    text = new.grounded.text
    properties: Row = {
        "id": new.id,
        "text": text,
        "kind": "insight",
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
        **derived(engine, run.agent_id, text, None, now, embedded=new.vector is not None),
    }
    created = await tx.run(
        "reflect/create", agentId=run.agent_id, runId=run.id, properties=properties, vector=new.vector
    )
    if len(created) != 1:
        raise StoreInconsistent(f"the run {run.id!r} vanished while it wrote a reflection")
    await tx.run("entity/link", agentId=run.agent_id, ids=[new.id])
    await cite(tx, run.agent_id, new.id, new.grounded.cited, now)


async def cite(tx: Transaction, agent_id: str, reflection_id: str, cited: Sequence[Cited], now: datetime) -> None:
    """Let a reflection cite memories.

    Raises:
        StoreInconsistent: When one of them is not there; the whole change is rolled back.
    """
    evidence = [{"id": item.id, "rank": item.rank, "support": item.support} for item in cited]
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
