"""Which of the memories found are given: inferences capped, support weighed, variety, a token budget, evidence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from graphmem.cognition.engine import Engine
from graphmem.cognition.texts import spoken
from graphmem.graph.records import to_memory
from graphmem.models import MAX_K, AnyMemory, Hit, Kind, Part, Profile

INFERRED: tuple[Kind, ...] = ("insight", "summary", "procedure")
"""Kinds of reflections."""
_TOLD: tuple[Kind, ...] = ("event", "utterance", "fact", "day", "hour", "step")
_MORE = 4
"""Hits among which variety is sought, for each that is given."""

Find = Callable[[int, "tuple[Kind, ...] | None"], Awaitable[tuple[list[Hit], bool | None]]]
"""Finds the best: how many, of which kinds (None: as asked); and whether that is exact."""


def by_score(hit: Hit) -> tuple[float, float, str]:
    """The order of hits: score, then recency, then id."""
    return -hit.score, -(hit.recency.raw or 0), hit.memory.id


def tokens(text: str) -> int:
    """An estimate that is rather too high: a token for four ASCII characters, and one for every other character."""
    plain = sum(map(str.isascii, text))
    return -(-plain // 4) + len(text) - plain


def shown(memory: AnyMemory) -> str:
    """A memory's text as a prompt shows it, for which tokens are counted."""
    return spoken(memory.text, memory.source if memory.type == "observation" else None)


async def chosen(
    engine: Engine,
    agent_id: str,
    find: Find,
    *,
    k: int,
    profile: Profile,
    kinds: tuple[Kind, ...] | None,
    max_inferred: int | None,
) -> tuple[list[Hit], bool | None]:
    """The ``k`` hits that are given, and whether they are exact; None where variety was sought."""
    wide = min(MAX_K, _MORE * k) if profile.diversity else k
    hits, exact = await _supported(engine, agent_id, find, wide, profile, None)
    if max_inferred is not None:
        inferred = [hit for hit in hits if hit.memory.type == "reflection"]
        if len(inferred) > max_inferred:
            told: tuple[Kind, ...] = tuple(kind for kind in _TOLD if kinds is None or kind in kinds)
            others: list[Hit] = []
            if told:
                others, closed = await _supported(engine, agent_id, find, wide, profile, told)
                exact = exact and closed
            hits = sorted([*inferred[:max_inferred], *others], key=by_score)[:wide]
    if profile.diversity:
        return await _varied(engine, agent_id, hits, k, profile.diversity), None
    return hits[:k], exact


async def _supported(
    engine: Engine, agent_id: str, find: Find, k: int, profile: Profile, kinds: tuple[Kind, ...] | None
) -> tuple[list[Hit], bool | None]:
    """The ``k`` best with support weighed.

    Support adds at most its weight: with more looked at until nothing that was not can come among the best.
    """
    weight = profile.weights.support
    if not weight:
        return await find(k, kinds)
    many = k
    while True:
        found, exact = await find(many, kinds)
        ids = [hit.memory.id for hit in found if hit.memory.type == "reflection"]
        rows = await engine.store.query("retrieve/support", agentId=agent_id, ids=ids)
        measured = {row["id"]: row["support"] for row in rows}
        weighed = sorted((_with_support(hit, measured.get(hit.memory.id, 1.0), weight) for hit in found), key=by_score)
        closed = len(found) < many or weighed[k - 1].score >= found[-1].score + weight
        if closed or many == MAX_K:
            return weighed[:k], exact and closed
        many = min(MAX_K, 2 * many)


def _with_support(hit: Hit, support: float, weight: float) -> Hit:
    part = Part(raw=support, normalised=support, weight=weight)
    return hit.model_copy(update={"support": part, "score": hit.score + part.contribution})


async def _varied(engine: Engine, agent_id: str, hits: Sequence[Hit], k: int, diversity: float) -> list[Hit]:
    """The next one is always that with the best of its score and its distance from those chosen before."""
    rows = await engine.store.query("retrieve/vectors", agentId=agent_id, ids=[hit.memory.id for hit in hits])
    vectors = {row["id"]: np.asarray(row["embedding"], dtype=np.float64) for row in rows}
    nearest = {hit.memory.id: 0.0 for hit in hits}
    left = list(hits)
    picked: list[Hit] = []
    while left and len(picked) < k:
        best = min(left, key=lambda hit: diversity * nearest[hit.memory.id] - (1 - diversity) * hit.score)
        left.remove(best)
        picked.append(best)
        mine = vectors.get(best.memory.id)
        if mine is None:
            continue
        for hit in left:
            other = vectors.get(hit.memory.id)
            if other is not None:
                cosine = float(mine @ other / (np.linalg.norm(mine) * np.linalg.norm(other)))
                nearest[hit.memory.id] = max(nearest[hit.memory.id], cosine)
    return picked


async def with_evidence(engine: Engine, agent_id: str, hits: Sequence[Hit], evidence: int) -> list[Hit]:
    """The hits, reflections with their first grounds."""
    ids = [hit.memory.id for hit in hits if hit.memory.type == "reflection"]
    if not ids or not evidence:
        return list(hits)
    grounds: dict[str, list[AnyMemory]] = {}
    for row in await engine.store.query("retrieve/evidence", agentId=agent_id, ids=ids, evidence=evidence):
        grounds.setdefault(row["id"], []).append(to_memory(row))
    return [hit.model_copy(update={"evidence": tuple(grounds.get(hit.memory.id, ()))}) for hit in hits]


def within(hits: Sequence[Hit], budget: int) -> tuple[list[Hit], list[str], int]:
    """The best that fit into a budget of tokens, the ids of the others, and the tokens used.

    One that does not fit is passed over, so that a long memory does not keep shorter ones out.
    """
    kept: list[Hit] = []
    left_out: list[str] = []
    used = 0
    for hit in hits:
        cost = sum(tokens(shown(memory)) for memory in (hit.memory, *hit.evidence))
        if used + cost <= budget:
            kept.append(hit)
            used += cost
        else:
            left_out.append(hit.memory.id)
    return kept, left_out, used
