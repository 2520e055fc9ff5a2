"""Forgetting: a memory's text is removed wherever the agent's graph holds it, in one transaction.

What is left of a memory is a tombstone with its id, times and hashes, so that it is not stored a second time and the
graph stays whole. Paraphrases cannot be found: the report names all that rested on what was forgotten.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, get_args

from graphmem.cognition import keyed, truth
from graphmem.cognition.engine import CALLER, Engine, checked_id, fetch, fetch_one, lock, unknown_agent
from graphmem.cognition.given import checked_list
from graphmem.errors import HasDependents, InvalidInput, NamesTerm, StoreInconsistent
from graphmem.graph.records import refused_from, refused_to
from graphmem.graph.store import Row, Transaction
from graphmem.language.text import normalise_text
from graphmem.models import (
    MAX_TEXT,
    AgentForgotten,
    AnyMemory,
    Changed,
    Copy,
    Dependents,
    ForgetReport,
    Observation,
    Stripped,
    storable,
)

EQUAL_BELOW = 12
"""Texts shorter than this, in characters, are looked for as a whole text only: within others they would be a word."""
_BATCH = 5_000
"""Nodes deleted in one transaction when a whole agent is forgotten."""
_PLAIN = (
    "agentId", "embedding", "status", "kind", "importanceBy", "endedBy", "textHash", "contentHash", "embeddingModel",
    "embeddingNext", "embeddingNextModel",
    "scopeToken", "dateText", "keyRank", "leaseToken", "workToken", "writtenBy", "verb", "outcome", "model",
    "promptVersion", "mode", "openReflection", "timeZone", "state", "day", "covers", "traitsHash",
)  # fmt: skip
"""Properties that hold nothing that was said: hashes, names of models, words of a fixed set, what times say as well."""
_NAMES = ("id", "key", "movedTo")
"""Names by which memories are found; they cannot be emptied."""
_WORLD = ("path", "place", "object")
"""What places are called, on a place or a step of a simulation: the world's to say, not the agent's."""


@dataclass(frozen=True)
class _Wanted:
    """What is looked for."""

    text: str
    """Normalised; empty where the memory was forgotten before."""
    terms: tuple[re.Pattern[str], ...]

    def held_by(self, value: str) -> bool:
        """Whether a text holds the text or one of the terms."""
        return self._quoted(value) or self.named_in(value)

    def named_in(self, value: str) -> bool:
        """Whether a text holds one of the terms, as whole words."""
        folded = _folded(value)
        return any(term.search(folded) for term in self.terms)

    def _quoted(self, value: str) -> bool:
        said = normalise_text(value)
        if not self.text:
            return False
        return said == self.text if len(self.text) < EQUAL_BELOW else self.text in said


def _folded(value: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", value).casefold().split())


def _term(value: object) -> re.Pattern[str]:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"terms: {value!r} is not a word or name")
    if len(value) > MAX_TEXT:
        raise InvalidInput(f"terms: one has {len(value)} characters; no text has more than {MAX_TEXT}")
    try:
        folded = _folded(storable(value))
    except ValueError as error:
        raise InvalidInput(f"terms: {error}") from error
    return re.compile(rf"(?<!\w){re.escape(folded)}(?!\w)")


@dataclass
class _Found:
    """Where what is to be forgotten stands."""

    memories: list[str]
    """Whose text it is in: these become tombstones."""
    nodes: list[Row] = field(default_factory=list[Row])
    edges: list[Row] = field(default_factory=list[Row])
    stripped: list[Stripped] = field(default_factory=list[Stripped])
    named: list[str] = field(default_factory=list[str])
    """Ids and keys that hold a term."""
    places: list[str] = field(default_factory=list[str])
    """Places that are called by a term, by path."""


async def forget(
    engine: Engine,
    agent_id: str,
    memory_id: str,
    *,
    dependents: Dependents = "recompute",
    terms: Iterable[str] = (),
    dry_run: bool = False,
    now: object = None,
) -> ForgetReport:
    """Remove a memory's text from the agent's graph, and each of the terms, wherever they stand.

    Args:
        engine: The open store with its models.
        agent_id: Whose memory it is.
        memory_id: What to forget, whatever its status; when it was forgotten before, only terms are looked for.
        dependents: What becomes of what rests on it: ``recompute`` (stale, recomputed without it), ``retract``, or
            ``refuse`` (nothing is forgotten while something held rests on it).
        terms: Words or names to remove as well, compared as whole words without regard to case.
        dry_run: Only tell what would be done.
        now: The time of the change.

    Raises:
        InvalidInput: When a value is refused.
        UnknownAgent, UnknownMemory: When there is no such agent or memory of that agent.
        HasDependents: When something rests on it and ``dependents`` is ``refuse``. Nothing was written.
        NamesTerm: When the id or key of a memory holds a term. Nothing was written.
    """
    memory_id = checked_id(memory_id)
    if dependents not in get_args(Dependents):
        raise InvalidInput(f"dependents: {dependents!r} is not one of {', '.join(get_args(Dependents))}")
    patterns = tuple(_term(term) for term in checked_list(terms, "terms"))
    at = await engine.now(agent_id, now)
    if dry_run:
        return await engine.store.read(lambda tx: _impact(tx, agent_id, memory_id, patterns, dependents))

    async def work(tx: Transaction) -> ForgetReport:
        await lock(tx, agent_id)
        return await _carry_out(tx, agent_id, memory_id, patterns, dependents, at)

    report = await engine.store.write(work)
    await engine.tell(
        Changed(
            agent_id=agent_id,
            verb="forget",
            revision=report.revision or 0,
            ended=(*(memory.id for memory in report.forgotten), *report.retracted),
            stale=report.stale,
        )
    )
    return report


async def _look(
    tx: Transaction, agent_id: str, memory_id: str, patterns: tuple[re.Pattern[str], ...], dependents: Dependents
) -> tuple[AnyMemory, _Found]:
    """Find all that would be removed.

    Raises:
        UnknownMemory, NamesTerm, HasDependents: See :func:`forget`.
    """
    memory = await fetch_one(tx, agent_id, memory_id)
    wanted = _Wanted(normalise_text(memory.text), patterns)
    found = _Found([memory_id] if memory.status != "forgotten" else [])
    if wanted.text or patterns:
        for name, stripped in (("forget/nodes", found.nodes), ("forget/edges", found.edges)):
            for row in await tx.run(name, agentId=agent_id, plain=list(_PLAIN)):
                _examine(row, wanted, found, stripped, agent_id)
    if found.named:
        raise NamesTerm(
            f"a term is part of the id or key {', '.join(repr(name) for name in sorted(set(found.named))[:3])}",
            remedy="forget that memory without the term, and observe what is to stay under another id or key",
        )
    found.memories = sorted(set(found.memories))
    buried = set(found.memories)
    found.nodes = [row for row in found.nodes if row["memory"] not in buried]
    found.stripped = [item for item in found.stripped if not (item.where == "Memory" and item.id in buried)]
    if dependents == "refuse" and found.memories:
        above = await tx.run("forget/above", agentId=agent_id, ids=found.memories)
        if above:
            ids = sorted(row["id"] for row in above)
            raise HasDependents(
                f"{len(ids)} {'memory rests' if len(ids) == 1 else 'memories rest'} on it: {', '.join(ids[:3])}",
                remedy="let them be recomputed or retracted: dependents recompute or retract",
            )
    return memory, found


def _examine(row: Row, wanted: _Wanted, found: _Found, stripped: list[Row], agent_id: str) -> None:
    """Look through the texts of one node or relationship."""
    memory = row["id"] if row["label"] in ("Memory", "Observation", "Reflection", "Plan") else None
    for name, value in row["texts"]:
        values: list[str] = [value] if isinstance(value, str) else value
        if name in _NAMES:
            # An agent's own id is its name in the store, and is no memory.
            if row["label"] != "Agent" and wanted.named_in(value):
                found.named.append(value)
        elif name in _WORLD and row["label"] in ("Place", "Step"):
            if wanted.named_in(value):
                found.places.append(value)
        elif any(wanted.held_by(item) for item in values):
            if memory is not None and name == "text":
                found.memories.append(memory)
                continue
            found.stripped.append(Stripped(where="Memory" if memory else row["label"], id=row["id"], property=name))
            stripped.append(
                {
                    "element": row["element"],
                    "memory": memory,
                    "property": name,
                    "value": _without(row["label"], name, value, wanted, agent_id),
                    "embed": memory is not None and name == "source",
                }
            )


def _without(label: str, name: str, value: Any, wanted: _Wanted, agent_id: str) -> object:
    """What stands in the place of a text that is taken away."""
    if name == "refused":
        return refused_to(
            tuple(
                item.model_copy(update={"reason": "forgotten", "item": ""})
                if wanted.held_by(item.reason) or wanted.held_by(item.item)
                else item
                for item in refused_from(value)
            )
        )
    if isinstance(value, list):
        return [item for item in value if not wanted.held_by(item)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if label == "Agent" and name == "name":
        return agent_id
    return "" if name in ("reason", "by") else None


async def _told(
    tx: Transaction, agent_id: str, memory_id: str, found: _Found, before: Mapping[str, AnyMemory]
) -> dict[str, Any]:
    """What both the report and its dry run say."""
    rows = await tx.run("forget/dependents", agentId=agent_id, ids=found.memories)
    dependents = await fetch(tx, agent_id, [row["id"] for row in rows])
    copies = await tx.run("forget/copies", agentId=agent_id, id=memory_id)
    return {
        "agent_id": agent_id,
        "id": memory_id,
        "forgotten": [before[id_] for id_ in found.memories],
        "stripped": found.stripped,
        "dependents": sorted(dependents.values(), key=lambda memory: (memory.depth, memory.id)),
        "places": sorted(set(found.places)),
        "copies": [Copy(agent_id=row["agentId"], id=row["id"]) for row in copies],
    }


async def _impact(
    tx: Transaction, agent_id: str, memory_id: str, patterns: tuple[re.Pattern[str], ...], dependents: Dependents
) -> ForgetReport:
    _, found = await _look(tx, agent_id, memory_id, patterns, dependents)
    before = await fetch(tx, agent_id, found.memories)
    told = await _told(tx, agent_id, memory_id, found, before)
    above = [row["id"] for row in await tx.run("forget/above", agentId=agent_id, ids=found.memories)]
    active = sorted(memory.id for memory in told["dependents"] if memory.id in above and memory.status == "active")
    if dependents == "retract":
        return ForgetReport(dry_run=True, retracted=tuple(sorted(above)), **told)
    return ForgetReport(dry_run=True, stale=tuple(active), **told)


async def _carry_out(
    tx: Transaction,
    agent_id: str,
    memory_id: str,
    patterns: tuple[re.Pattern[str], ...],
    dependents: Dependents,
    now: datetime,
) -> ForgetReport:
    _, found = await _look(tx, agent_id, memory_id, patterns, dependents)
    before = await fetch(tx, agent_id, found.memories)
    revision = await truth.begin(tx, agent_id, now)
    above = [row["id"] for row in await tx.run("forget/above", agentId=agent_id, ids=found.memories)]
    buried = await tx.one("forget/bury", agentId=agent_id, ids=found.memories, now=now)
    if found.memories and (buried is None or buried["buried"] != len(found.memories)):
        raise StoreInconsistent(f"{len(found.memories)} memories were to be forgotten, not {buried}")
    await _strip(tx, agent_id, found)
    renamed = sorted({*found.memories, *(row["memory"] for row in found.nodes if row["memory"])})
    await tx.run("entity/unlink", agentId=agent_id, ids=renamed)
    await tx.run("entity/link", agentId=agent_id, ids=renamed)
    await tx.run("entity/prune", agentId=agent_id)
    await revision.log_all(tx, [(id_, "forget", "") for id_ in found.memories], by=CALLER)
    retracted = sorted(above) if dependents == "retract" else []
    if retracted:
        await truth.end_all(tx, revision, retracted, "retracted", cause="caller")
        await revision.log_all(tx, [(id_, "retract", "what it rests on was forgotten") for id_ in retracted], by=CALLER)
    values = [memory for memory in before.values() if isinstance(memory, Observation)]
    where = keyed.spans((memory.key, memory.occurred_at) for memory in values if memory.key is not None)
    settled = await keyed.settle(tx, agent_id, where, now, by=CALLER, revision=revision)
    relabelled = await truth.relabel(tx, revision, [*found.memories, *retracted, *settled.changed])
    told = await _told(tx, agent_id, memory_id, found, before)
    return ForgetReport(
        dry_run=False, stale=relabelled.stale, retracted=tuple(retracted), revision=revision.seq, **told
    )


async def _strip(tx: Transaction, agent_id: str, found: _Found) -> None:
    for name, rows in (("forget/strip_nodes", found.nodes), ("forget/strip_edges", found.edges)):
        wanted = [{k: row[k] for k in ("element", "property", "value", "embed")} for row in rows]
        if name == "forget/strip_nodes":
            stripped = await tx.one("forget/strip_nodes", agentId=agent_id, rows=wanted) if rows else None
        else:
            stripped = await tx.one("forget/strip_edges", rows=wanted) if rows else None
        if rows and (stripped is None or stripped["stripped"] != len(rows)):
            raise StoreInconsistent(f"{len(rows)} texts were to be removed, not {stripped}")


async def forget_agent(engine: Engine, agent_id: str, *, dry_run: bool = False) -> AgentForgotten:
    """Delete a whole agent: its memories, runs and changes, and the agent itself.

    The deepest memories go first, in batches, so that at no moment one is left that rests on nothing. When it is cut
    off, calling it again goes on.

    Raises:
        UnknownAgent: When there is none of that id.
    """
    rows = await engine.store.query("forget/agent_counts", agentId=agent_id)
    if not rows:
        raise unknown_agent(agent_id)
    report = AgentForgotten(agent_id=agent_id, dry_run=dry_run, **rows[0])
    if dry_run:
        return report

    async def some(tx: Transaction) -> bool:
        await lock(tx, agent_id)
        deleted: Sequence[Row] = await tx.run("forget/agent_memories", agentId=agent_id, limit=_BATCH)
        if not deleted[0]["deleted"]:
            deleted = await tx.run("forget/agent_rest", agentId=agent_id, limit=_BATCH)
        if not deleted[0]["deleted"]:
            await tx.run("forget/agent", agentId=agent_id)
            return False
        return True

    while await engine.store.write(some):
        pass
    return report
