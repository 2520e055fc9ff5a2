"""How far reflections are from the observations at their leaves, and how well those support them, level by level.

    python benchmarks/drift.py --agent "monday/Isabella Rodriguez" --agent "monday/Klaus Mueller"

reads agents' graphs as ``agent.tree()`` gives them: every held reflection with its current citations. Texts are
embedded anew, as they are stored ("source: text"). docs/drift.md explains the columns and shows a result.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphmem import Memory
from graphmem.embedding import load
from graphmem.language.base import Statement
from graphmem.language.support import support
from graphmem.language.text import normalise_text
from graphmem.models import AnyMemory, Observation, Provenance, Refused
from graphmem.settings import load_settings

SAMPLES = 50
"""Random sets of leaves that each reflection is compared with."""
SEED = 20261130

Vectors = NDArray[np.float64]


@dataclass
class Level:
    """The reflections of one depth, one entry each."""

    leaves: list[int] = field(default_factory=list)
    step: list[float] = field(default_factory=list)
    drift: list[float] = field(default_factory=list)
    nearest: list[float] = field(default_factory=list)
    chance: list[float] = field(default_factory=list)
    echo: list[float] = field(default_factory=list)
    by_grounds: list[float | None] = field(default_factory=list)
    by_leaves: list[float | None] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)


def spoken(memory: AnyMemory) -> str:
    source = memory.source if isinstance(memory, Observation) else None
    return f"{source}: {memory.text}" if source else memory.text


def distance(one: Vectors, others: Vectors) -> float:
    """Cosine distance, in [0, 2], from a vector to the mean of others, all of unit length."""
    mean = others.mean(axis=0)
    return 1 - float(one @ mean / np.linalg.norm(mean))


def supported(text: str, memories: Sequence[AnyMemory]) -> float | None:
    """The largest share of the text's words that one memory holds; None where the gate refuses the text."""
    statements = [
        Statement(
            number=number, text=memory.text, kind=memory.kind, type=memory.type, status=memory.status,
            occurred_at=memory.occurred_at, source=memory.source if isinstance(memory, Observation) else None,
            importance=memory.importance, keywords=memory.keywords,
        )
        for number, memory in enumerate(memories, start=1)
    ]  # fmt: skip
    found = support(text, statements)
    return None if isinstance(found, Refused) else max(found.values())


def leaves_of(provenance: Provenance) -> dict[str, frozenset[str]]:
    """By reflection, what is not inferred under it: observations, and the day's plan where it is cited."""
    grounds: dict[str, list[str]] = defaultdict(list)
    for ground in provenance.grounds:
        if ground.until is None:
            grounds[ground.source].append(ground.target)
    found: dict[str, frozenset[str]] = {}
    for memory in sorted(provenance.memories.values(), key=lambda memory: memory.depth):
        below = (found.get(ground, frozenset()) for ground in grounds[memory.id])
        found[memory.id] = frozenset().union(*below) if memory.type == "reflection" else frozenset({memory.id})
    return found


def measure(provenance: Provenance, embed: Callable[[Sequence[str]], Vectors], levels: Mapping[int, Level]) -> None:
    """Add one agent's reflections to the levels."""
    memories = provenance.memories
    order = list(memories)
    vectors = dict(zip(order, embed([spoken(memories[id_]) for id_ in order]), strict=True))
    leaves = leaves_of(provenance)
    everything = np.stack([vectors[id_] for id_ in order if memories[id_].type != "reflection"])
    random = np.random.default_rng(SEED)
    for memory in memories.values():
        under = sorted(leaves[memory.id])
        if memory.type != "reflection" or memory.status != "active" or not under:
            continue
        level, vector = levels[memory.depth], vectors[memory.id]
        own = np.stack([vectors[id_] for id_ in under])
        grounds = [ground.target for ground in provenance.grounds_of(memory.id)]
        picks = (random.choice(len(everything), size=len(under), replace=False) for _ in range(SAMPLES))
        level.texts.add(memory.text)
        level.leaves.append(len(under))
        level.step.append(distance(vector, np.stack([vectors[id_] for id_ in grounds])))
        level.drift.append(distance(vector, own))
        level.nearest.append(1 - float((own @ vector).max()))
        level.chance.append(float(np.mean([distance(vector, everything[pick]) for pick in picks])))
        said = {normalise_text(memories[id_].text) for id_ in grounds}
        level.echo.append(normalise_text(memory.text) in said)
        level.by_grounds.append(supported(memory.text, [memories[id_] for id_ in grounds]))
        level.by_leaves.append(supported(memory.text, [memories[id_] for id_ in under]))


def summary(depth: str, level: Level) -> dict[str, object]:
    """Means with standard errors; the shares that pass the gate, and the support of those that do."""

    def mean(values: Sequence[float]) -> list[float]:
        error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
        return [round(float(np.mean(values)), 3), round(float(error), 3)]

    def gate(values: Sequence[float | None]) -> dict[str, float | None]:
        passed = [value for value in values if value is not None]
        score = round(float(np.mean(passed)), 3) if passed else None
        return {"passed": round(len(passed) / len(values), 3), "support": score}

    return {
        "depth": depth,
        "reflections": len(level.drift),
        "distinct": len(level.texts),
        "leaves": float(np.median(level.leaves)),
        "step": mean(level.step),
        "drift": mean(level.drift),
        "nearest": mean(level.nearest),
        "chance": mean(level.chance),
        "echo": f"{np.mean(level.echo):.0%}",
        "by_grounds": gate(level.by_grounds),
        "by_leaves": gate(level.by_leaves),
    }


def together(levels: Sequence[Level]) -> Level:
    whole = Level()
    for level in levels:
        for name, values in vars(level).items():
            getattr(whole, name).update(values) if name == "texts" else getattr(whole, name).extend(values)
    return whole


def table(rows: Sequence[dict[str, object]]) -> str:
    def figure(value: object) -> str:
        if isinstance(value, list):
            return f"{value[0]:.3f} ± {value[1]:.3f}"
        if isinstance(value, dict):
            return f"{value['passed']:.0%}" + (f", {value['support']:.2f}" if value["support"] is not None else "")
        return f"{value:g}" if isinstance(value, float) else str(value)

    heads = list(rows[0])
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(figure(row[head]) for head in heads) + " |" for row in rows)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", action="append", required=True, help="whose reflections; may be given several times")
    parser.add_argument("--embedding", help="model to embed with; by default that of the settings")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    settings = load_settings()
    embedder = load(load_settings(embedding=arguments.embedding) if arguments.embedding else settings)

    def embed(texts: Sequence[str]) -> Vectors:
        distinct = list(dict.fromkeys(texts))
        vectors = dict(zip(distinct, np.asarray(embedder.embed_documents(distinct), dtype=np.float64), strict=True))
        return np.stack([vectors[text] for text in texts])

    levels: dict[int, Level] = defaultdict(Level)
    with Memory.open(settings=settings) as memory:
        for agent in arguments.agent:
            measure(memory.agent(agent).tree(), embed, levels)
    rows = [summary(str(depth), level) for depth, level in sorted(levels.items())]
    rows.append(summary("all", together(list(levels.values()))))
    print(json.dumps({"embedding": embedder.name, "rows": rows}, indent=2) if arguments.json else table(rows))


if __name__ == "__main__":
    main()
