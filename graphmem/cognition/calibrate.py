"""Calibrating: a profile fitted on questions whose answers are known, and an honest estimate of what it is worth.

Every candidate's raw signals are read once; profiles are then tried with the formulas of :mod:`graphmem.scoring`. The
fit is a coordinate search over few values, which a hundred questions can carry; what it gains is measured on questions
that it has not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmem.cognition.engine import Engine
from graphmem.cognition.given import checked_list
from graphmem.cognition.question import searches_for
from graphmem.errors import InvalidInput, UnknownMemory
from graphmem.graph.store import Row
from graphmem.models import RECALL, Blend, Profile, validated
from graphmem.models.calibration import Calibration, Estimate, Measured, Question
from graphmem.scoring import Turns, blend, hours_since, recency
from graphmem.threads import in_thread

MOST_MEMORIES = 20_000
"""Active memories of an agent up to which it can be calibrated: all are held in memory."""
LEAST_QUESTIONS = 10
FOLDS = 5
_BOOTSTRAPS = 2_000
_GRID: Mapping[str, Sequence[float]] = {
    "text": (0.25, 0.5, 0.75, 1.0, 1.5),
    "speaker": (0.0, 0.05, 0.1, 0.15, 0.2),
    "date": (0.0, 1.0, 2.0, 4.0),
    "around": (0.0, 0.5, 0.75, 1.0, 1.25),
    "vectors": (0.0, 0.1, 0.15, 0.3, 0.5),
    "recency": (0.0, 0.02, 0.1, 0.3),
    "importance": (0.0, 0.02, 0.1, 0.3),
}
"""Values tried, the vectors' weight being 0.5 and that of relevance 1; around scales the shares of the neighbours."""
_ROUNDS = 2

Floats = NDArray[np.float64]
Setting = dict[str, float]
START: Setting = {
    "text": 0.5, "speaker": 0.1, "date": 2.0, "around": 1.0, "vectors": 0.15, "recency": 0.02, "importance": 0.0,
}  # fmt: skip
"""The profile recall."""


@dataclass(frozen=True)
class Case:
    """A question with the raw signals of all memories."""

    turns: Turns
    hours: Floats
    importance: Floats
    relevant: NDArray[np.bool_]
    category: str


def profile_of(setting: Setting, name: str = "calibrated") -> Profile:
    """The profile that a point of the grid stands for."""
    around = RECALL.blend.neighbours if RECALL.blend else Blend().neighbours
    shares = {
        side: [min(1.0, round(share * setting["around"], 4)) for share in getattr(around, side)]
        for side in ("before", "after")
    }
    fields: dict[str, Any] = {
        "name": name,
        "recency_floor": RECALL.recency_floor,
        "weights": {"relevance": 1.0, "recency": setting["recency"], "importance": setting["importance"]},
        "blend": {
            "vector": 0.5,
            **{key: setting[key] for key in ("text", "speaker", "date")},
            "neighbours": {**shares, "vectors": setting["vectors"]},
        },
    }
    return validated(Profile, fields)


def scores(case: Case, profile: Profile) -> Floats:
    """The score of every memory for a question, by the formulas of :mod:`graphmem.scoring`."""
    if profile.blend is None:
        cosines = case.turns.cosines
        relevance = np.nan_to_num(_scaled(cosines, np.nanmin(cosines), np.nanmax(cosines)))
    else:
        weights = np.append(np.ones(len(case.turns.match_weights) - 1), profile.blend.date)
        weights = weights[: len(case.turns.match_weights)]
        turns = Turns(
            cosines=case.turns.cosines,
            matches=case.turns.matches,
            match_weights=weights,
            spoke=case.turns.spoke,
            earlier=case.turns.earlier[: len(profile.blend.neighbours.before)],
            later=case.turns.later[: len(profile.blend.neighbours.after)],
        )
        relevance = blend(turns, profile.blend).relevance
    newest, oldest = case.hours.min(), case.hours.max()
    fresh = profile.decay ** (case.hours - newest)
    least = recency(max(float(oldest - newest), profile.recency_floor), profile.decay)
    rated = _scaled(case.importance, case.importance.min(), case.importance.max())
    w = profile.weights
    return w.relevance * relevance + w.recency * _scaled(fresh, least, 1.0) + w.importance * rated


def _scaled(values: Floats, low: float, high: float) -> Floats:
    return np.ones_like(values) if high == low else (values - low) / (high - low)


def ndcg(ranked: NDArray[np.bool_], relevant: int, k: int = 10) -> float:
    """Normalised discounted cumulative gain of the first k; ``ranked`` says which are relevant, best first."""
    discounts = 1 / np.log2(np.arange(2, k + 2))
    ideal = discounts[: min(relevant, k)].sum()
    return float((ranked[:k] * discounts[: len(ranked[:k])]).sum() / ideal)


def measured(cases: Sequence[Case], profiles: Sequence[Profile]) -> dict[str, Floats]:
    """nDCG@10 and recall@5, 10, 20 of each question with its profile; a question counts as the mean over its ids."""
    found: dict[str, list[float]] = {"ndcg_at_10": [], "recall_at_5": [], "recall_at_10": [], "recall_at_20": []}
    for case, profile in zip(cases, profiles, strict=True):
        order = np.lexsort((case.hours, -scores(case, profile)))
        ranked = case.relevant[order]
        relevant = int(ranked.sum())
        found["ndcg_at_10"].append(ndcg(ranked, relevant))
        for k in (5, 10, 20):
            found[f"recall_at_{k}"].append(float(ranked[:k].sum() / relevant))
    return {name: np.array(values) for name, values in found.items()}


def fit(cases: Sequence[Case]) -> Setting:
    """The values with the highest mean of nDCG@10 and recall@10, one parameter after the other.

    nDCG alone would give up memories among the ten for a better place of one. Of equal values the first tried stays.
    """
    best = dict(START)
    value = _value(cases, best)
    for _ in range(_ROUNDS):
        before = value
        for name, tried in _GRID.items():
            for candidate in tried:
                setting = {**best, name: candidate}
                if setting != best and (reached := _value(cases, setting)) > value + 1e-9:
                    best, value = setting, reached
        if value == before:
            break
    return best


def _value(cases: Sequence[Case], setting: Setting) -> float:
    found = measured(cases, [profile_of(setting)] * len(cases))
    return float((found["ndcg_at_10"].mean() + found["recall_at_10"].mean()) / 2)


def estimate(values: Floats, seed: int = 1) -> Estimate:
    """Mean and 95 % interval by the percentile bootstrap over questions."""
    chance = np.random.default_rng(seed)
    means = values[chance.integers(0, len(values), (_BOOTSTRAPS, len(values)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Estimate(mean=float(values.mean()), low=float(low), high=float(high))


def _told(values: Mapping[str, Floats], cases: Sequence[Case]) -> Measured:
    recall = values["recall_at_10"]
    categories = sorted({case.category for case in cases if case.category})
    return Measured(
        **{name: estimate(array) for name, array in values.items()},
        by_category={name: float(recall[[case.category == name for case in cases]].mean()) for name in categories},
    )


def calibrated(cases: Sequence[Case], start: Profile, progress: Callable[[str], None] | None = None) -> Calibration:
    """Fit a profile and measure, by cross-validation, what fitting is worth against ``start``."""
    order = np.random.default_rng(1).permutation(len(cases))
    folds = np.array_split(order, FOLDS)
    chosen: list[Profile] = [start] * len(cases)
    for number, fold in enumerate(folds, 1):
        if progress:
            progress(f"fold {number} of {FOLDS}")
        held_out = set(fold.tolist())
        profile = profile_of(fit([case for n, case in enumerate(cases) if n not in held_out]))
        for n in held_out:
            chosen[n] = profile
    before, after = measured(cases, [start] * len(cases)), measured(cases, chosen)
    if progress:
        progress("all questions")
    return Calibration(
        questions=len(cases),
        folds=FOLDS,
        before=_told(before, cases),
        after=_told(after, cases),
        gain=estimate(after["ndcg_at_10"] - before["ndcg_at_10"]),
        profile=profile_of(fit(cases)),
    )


def checked_questions(items: Iterable[Question | Mapping[str, Any]]) -> list[Question]:
    """Questions as a caller gave them.

    Raises:
        InvalidInput: When one is refused, or there are fewer than 10.
    """
    questions = [validated(Question, item) for item in checked_list(items, "questions")]
    if len(questions) < LEAST_QUESTIONS:
        raise InvalidInput(f"{len(questions)} questions are too few to fit a profile on: {LEAST_QUESTIONS} are needed")
    return questions


async def calibrate(
    engine: Engine,
    agent_id: str,
    items: Iterable[Question | Mapping[str, Any]],
    *,
    start: Profile = RECALL,
    now: object = None,
    progress: Callable[[str], None] | None = None,
) -> Calibration:
    """Fit a profile on questions whose relevant memories are known.

    Raises:
        InvalidInput: When there are fewer than 10 questions, or more than 20,000 memories.
        UnknownMemory: When a relevant id is not an active memory of the agent.
        EmbeddingError: When a question cannot be embedded.
    """
    questions = checked_questions(items)
    at = await engine.now(agent_id, now)
    cases = await gather(engine, agent_id, questions, at, progress)
    return await in_thread(partial(calibrated, cases, start, progress))


async def gather(
    engine: Engine,
    agent_id: str,
    questions: Sequence[Question],
    now: datetime,
    progress: Callable[[str], None] | None = None,
) -> list[Case]:
    """The raw signals of every memory for every question."""
    rows = await engine.store.query("calibrate/memories", agentId=agent_id, limit=MOST_MEMORIES + 1)
    if len(rows) > MOST_MEMORIES:
        raise InvalidInput(f"agent {agent_id!r} has more than {MOST_MEMORIES:,} active memories, too many to calibrate")
    rows.sort(key=lambda row: (row["occurredAt"], row["id"]))
    place = {row["id"]: n for n, row in enumerate(rows)}
    if missing := [id_ for question in questions for id_ in question.relevant if id_ not in place]:
        raise UnknownMemory(f"agent {agent_id!r} has no active memory {missing[0]!r}, which a question names")
    vectors = np.array([row["embedding"] or [np.nan] * engine.embedder.dimension for row in rows], dtype=np.float64)
    earlier, later = _around(rows, 5)
    hours = np.array([hours_since(row["accessedAt"], now) for row in rows])
    importance = np.array([row["importance"] for row in rows], dtype=np.float64)
    cases: list[Case] = []
    for number, question in enumerate(questions, 1):
        if progress:
            progress(f"question {number} of {len(questions)}")
        query = (await engine.embed_query(question.query)).astype(np.float64)
        searches = await searches_for(engine, agent_id, question.query, Blend())
        matches = np.zeros((len(searches.searches), len(rows)))
        for row, search in enumerate(searches.searches):
            for found in await engine.store.query(
                "calibrate/matches", agentId=agent_id, search=search, limit=MOST_MEMORIES
            ):
                if found["id"] in place:
                    matches[row, place[found["id"]]] = found["score"]
        speakers = set(searches.speakers)
        turns = Turns(
            cosines=vectors @ query,
            matches=matches,
            match_weights=np.array(searches.weights),
            spoke=np.array([bool(speakers & set((row["source"] or "").lower().split(" "))) for row in rows]),
            earlier=earlier,
            later=later,
        )
        relevant = np.zeros(len(rows), dtype=np.bool_)
        relevant[[place[id_] for id_ in question.relevant]] = True
        cases.append(Case(turns, hours, importance, relevant, question.category))
    return cases


def _around(rows: Sequence[Row], reach: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Who comes 1, 2, … turns earlier and later in the same session; rows are in order of time."""
    earlier = np.full((reach, len(rows)), -1, dtype=np.intp)
    later = np.full((reach, len(rows)), -1, dtype=np.intp)
    sessions: dict[str, list[int]] = {}
    for n, row in enumerate(rows):
        if row["session"] is not None:
            sessions.setdefault(row["session"], []).append(n)
    for line in sessions.values():
        for at, n in enumerate(line):
            for distance in range(1, reach + 1):
                if at >= distance:
                    earlier[distance - 1, n] = line[at - distance]
                if at + distance < len(line):
                    later[distance - 1, n] = line[at + distance]
    return earlier, later
