"""Recall on conversations of your own: profiles, tuning on one and measuring on the others, ablations, distractors.

    python -m benchmarks.recall a.jsonl:a.questions.jsonl b.jsonl:b.questions.jsonl --out benchmarks/results/recall.json

With ``--archive-older-than 90d --importance-below 3`` only what retention costs is measured: recall@10 before and after
what the policy is about was put away.

A conversation is what ``graphmem ingest`` reads, its questions what ``graphmem calibrate`` reads. Nothing is kept: the
server of the run is in a temporary folder. The figures of profiles are computed from raw signals by the formulas that
the tests hold the database to; the line "measured in the database" is the check on that.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

from graphmem import AsyncAgent, AsyncMemory
from graphmem.cognition.calibrate import Case, fit, gather, measured, profile_of
from graphmem.graph import embedded
from graphmem.interfaces.questions import read_questions
from graphmem.models import PAPER, RECALL, Profile, Weights
from graphmem.models.calibration import Question
from graphmem.settings import Settings

PROFILES = {
    "relevance alone": Profile(name="dense", weights=Weights(relevance=1, recency=0, importance=0)),
    "paper": PAPER,
    "recall": RECALL,
}
ABLATION = {  # recency, relevance, importance
    "1, 1, 1": Weights(),
    "1, 2, 1": Weights(relevance=2),
    "0.5, 3, 2": Weights(recency=0.5, relevance=3, importance=2),
    "recency off": Weights(recency=0),
}


def by_order(case: Case, inverted: bool) -> Case:
    """Recency by place in the list, as the published code has it; inverted: the oldest counts as the newest."""
    place = np.argsort(np.argsort(case.hours)).astype(np.float64)
    return Case(case.turns, place[::-1].copy() if inverted else place, case.importance, case.relevant, case.category)


def recall(cases: list[Case], profile: Profile) -> float:
    return float(measured(cases, [profile] * len(cases))["recall_at_10"].mean())


def by_category(cases: list[Case], profile: Profile) -> dict[str, float]:
    found = measured(cases, [profile] * len(cases))["recall_at_10"]
    names = sorted({case.category for case in cases})
    return {name: float(found[[case.category == name for case in cases]].mean()) for name in names}


def with_distractors(case: Case, many: int, chance: np.random.Generator) -> Case:
    """More memories that answer nothing: signals drawn from those of the wrong ones, scattered a little.

    They have no neighbours. Their cosines are normal with mean and deviation of the wrong ones', their words those of
    wrong ones drawn at random, their ages and importance likewise.
    """
    wrong = np.flatnonzero(~case.relevant)
    drawn = chance.choice(wrong, many)
    cosines = case.turns.cosines[wrong]
    turns = case.turns
    none = np.full((len(turns.earlier), many), -1)
    more = type(turns)(
        cosines=np.concatenate([turns.cosines, chance.normal(cosines.mean(), cosines.std(), many)]),
        matches=np.concatenate([turns.matches, turns.matches[:, drawn]], axis=1),
        match_weights=turns.match_weights,
        spoke=np.concatenate([turns.spoke, turns.spoke[drawn]]),
        earlier=np.concatenate([turns.earlier, none], axis=1),
        later=np.concatenate([turns.later, none], axis=1),
    )
    return Case(
        more,
        np.concatenate([case.hours, case.hours[drawn]]),
        np.concatenate([case.importance, case.importance[drawn]]),
        np.concatenate([case.relevant, np.zeros(many, dtype=np.bool_)]),
        case.category,
    )


async def run(pairs: list[tuple[Path, Path]], distractors: list[int], data_dir: Path) -> dict[str, Any]:
    settings = Settings(data_dir=data_dir)
    results: dict[str, Any] = {"profiles": {}, "tuned": {}, "ablation": {}, "distractors": {}, "database": {}}
    cases: dict[str, list[Case]] = {}
    try:
        async with await AsyncMemory.open(settings=settings) as memory:
            for file, asked in pairs:
                rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
                agent = memory.agent(file.stem)
                await agent.observe_many(rows)
                questions = read_questions(asked)
                now = max(memory_.occurred_at for memory_ in await agent.memories(limit=10_000)) + timedelta(hours=1)
                cases[file.stem] = await gather(memory._engine, agent.id, questions, now)
                results["database"][file.stem] = float(np.mean(await found_in(agent, questions, RECALL, now)))
    finally:
        embedded.down(settings)
    for name, own in cases.items():
        results["profiles"][name] = {
            label: {"recall@10": recall(own, profile), **by_category(own, profile)}
            for label, profile in PROFILES.items()
        }
        results["ablation"][name] = {
            **{label: recall(own, Profile(name=label, weights=weights)) for label, weights in ABLATION.items()},
            "by ordinal": recall([by_order(case, inverted=False) for case in own], PAPER),
            "inverted": recall([by_order(case, inverted=True) for case in own], PAPER),
        }
        tuned = profile_of(fit(own))
        results["tuned"][name] = {other: recall(cases[other], tuned) for other in cases}
        some = own[::5]
        chance = np.random.default_rng(11)
        results["distractors"][name] = {}
        for many in distractors:
            crowded = [with_distractors(case, many, chance) for case in some] if many else some
            results["distractors"][name][many] = {
                label: recall(crowded, profile) for label, profile in PROFILES.items()
            }
    return results


async def found_in(agent: AsyncAgent, questions: list[Question], profile: Profile, now: datetime) -> list[float]:
    """Recall@10 of each question, asked of the database."""
    shares: list[float] = []
    for question in questions:
        ids = {hit.memory.id for hit in await agent.retrieve(question.query, profile=profile, touch=False, now=now)}
        shares.append(float(np.mean([id_ in ids for id_ in question.relevant])))
    return shares


async def retention(
    pairs: list[tuple[Path, Path]], older_than: str, importance_below: int, settings: Settings
) -> dict[str, Any]:
    """Recall@10 before and after a policy put away what it is about.

    Nothing is retrieved in between and nothing was reflected on, so that all that is old and unimportant goes: more
    than of an agent that uses its memory. Ages count from the end of each conversation.
    """
    results: dict[str, Any] = {}
    async with await AsyncMemory.open(settings=settings) as memory:
        for file, asked in pairs:
            rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
            agent = memory.agent(f"{file.stem}-{token_hex(4)}")
            times = [datetime.fromisoformat(row["occurred_at"]) for row in rows]
            await agent.observe_many(rows, now=min(times))
            questions = read_questions(asked.read_text("utf-8").splitlines())
            now = max(times) + timedelta(hours=1)
            before = {profile.name: await found_in(agent, questions, profile, now) for profile in (PAPER, RECALL)}
            report = await agent.archive(older_than=older_than, importance_below=importance_below, now=now)
            gone = set(report.ids)
            whole = np.array([not gone & set(question.relevant) for question in questions])
            told: dict[str, Any] = {
                "memories": len(rows), "archived": len(gone), "questions": len(questions),
                "questions whose answers all stay": int(whole.sum()),
            }  # fmt: skip
            for profile in (PAPER, RECALL):
                first = np.array(before[profile.name])
                after = np.array(await found_in(agent, questions, profile, now))
                told[profile.name] = {
                    "before": float(first.mean()), "after": float(after.mean()),
                    "before, answers stay": float(first[whole].mean()) if whole.any() else None,
                    "after, answers stay": float(after[whole].mean()) if whole.any() else None,
                }  # fmt: skip
            results[file.stem] = told
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+", metavar="CONVERSATION:QUESTIONS")
    parser.add_argument("--distractors", nargs="+", type=int, default=[0, 10_000, 100_000])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/recall.json"))
    parser.add_argument("--archive-older-than", metavar="AGE", help="such as 90d; measures retention only")
    parser.add_argument("--importance-below", type=int, default=3)
    given = parser.parse_args()
    pairs = [(Path(first), Path(second)) for first, _, second in (pair.partition(":") for pair in given.pairs)]
    with tempfile.TemporaryDirectory(prefix="graphmem-recall-") as folder:
        if given.archive_older_than:
            settings = Settings() if Settings().uri else Settings(data_dir=Path(folder))
            try:
                measured_ = asyncio.run(retention(pairs, given.archive_older_than, given.importance_below, settings))
            finally:
                if settings.uri is None:
                    embedded.down(settings)
            print(json.dumps(measured_, indent=2))
            return
        results = asyncio.run(run(pairs, given.distractors, Path(folder)))
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(results, indent=2) + "\n")
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
