"""Is anything served that is known to be wrong? Random beliefs, random changes, held against the rules after each.

    python -m benchmarks.staleness                     # 10,000 operations
    python -m benchmarks.staleness --mutations         # and the product broken on purpose: the benchmark must notice

Worlds of 100 operations each, every one an agent of its own on a throw-away server: observations, keyed facts that
arrive late, reflections many levels deep, plans, corrections, updates, retractions, restores, forgetting, recomputing
with a model that answers by dice, and changes while the model thinks. `staleness_rules.py` states what must hold,
written from docs/truth.md alone. The baseline deletes what is replaced, adds the new text, and propagates nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from secrets import token_hex

from benchmarks.staleness_world import WRONGS, Naive, World
from graphmem import AsyncMemory
from graphmem.settings import Settings
from graphmem.testing import HashingEmbedder

ROOT = Path(__file__).parents[1]
WORLD = 100
"""Operations of one world."""
MUTANT = 2_000
"""Operations in which a mutation must be noticed."""


@dataclass
class Mutation:
    """The product broken in one way."""

    name: str
    edits: list[tuple[str, str, str]]
    """File, what stands there, what stands there instead."""


RELABEL, CLAIM = "cypher/truth/relabel.cypher", "cypher/recompute/claim.cypher"
RECOMPUTE, REFLECT = "graphmem/cognition/recompute.py", "graphmem/cognition/reflect.py"
CHANGE = "graphmem/cognition/change.py"
MUTATIONS = [
    Mutation("depth 1 only", [(RELABEL, "WHERE upper.held)){0,}", "WHERE upper.held)){0,1}")]),
    Mutation("DERIVED_FROM ignored", [(RELABEL, "CITES|DERIVED_FROM", "CITES")]),
    Mutation(
        "no status filter in retrieval",
        [("cypher/retrieve/score.cypher", "memory.status = 'active' AS active", "true AS active")],
    ),
    Mutation(
        "no re-check before writing",
        [
            (RECOMPUTE, "if now.same(evidence):", "if now is not None:"),
            (REFLECT, "reason = await grounding.not_active(tx, run.agent_id, cited)", "reason = None"),
        ],
    ),
    Mutation(
        "stale evidence dropped",
        [
            (RECOMPUTE, "                waits = True\n", ""),
            (CLAIM, "{status: 'stale'})\n  }", "{status: 'none'})\n  }"),
        ],
    ),
    Mutation(
        "nothing turns active again",
        [(RELABEL, "SET memory.status = 'active'", "SET memory.status = 'stale'")],
    ),
    Mutation(
        "restore leaves what recompute made of it",
        [(CHANGE, "    while level:\n", "    while level and False:\n")],
    ),
    Mutation(
        "keyed facts by arrival",
        [("cypher/keyed/window.cypher", "ORDER BY key, memory.occurredAt,", "ORDER BY key, memory.recordedAt,")],
    ),
]


def mutated(source: str, edit: tuple[str, str, str]) -> str:
    """A file's text with one edit.

    Raises:
        ValueError: When what is to be replaced is not there: the mutation would show nothing.
    """
    file, old, new = edit
    if old not in source:
        raise ValueError(f"{file} does not hold {old!r} any more")
    return source.replace(old, new)


@contextmanager
def broken(mutation: Mutation) -> Iterator[Path]:
    """A copy of the product with a mutation; the tree itself is never touched."""
    with tempfile.TemporaryDirectory(prefix="graphmem-mutant-") as folder:
        root = Path(folder)
        for name in ("graphmem", "cypher", "benchmarks"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        for edit in mutation.edits:
            path = root / edit[0]
            path.write_text(mutated(path.read_text("utf-8"), edit), "utf-8")
        yield root


@dataclass
class Result:
    """What a run found."""

    name: str
    operations: int = 0
    worlds: int = 0
    memories: int = 0
    seconds: float = 0
    wrong: dict[str, int] = field(default_factory=lambda: dict.fromkeys(WRONGS, 0))
    done: dict[str, int] = field(default_factory=dict[str, int])
    first: int | None = None
    """The operation at which something was wrong for the first time."""
    trace: list[str] = field(default_factory=list[str])
    naive: dict[str, float] = field(default_factory=dict[str, float])


async def run(
    memory: AsyncMemory,
    operations: int,
    seed: int,
    *,
    name: str = "graphmem",
    stop: bool = False,
    prefix: str = "world",
) -> Result:
    """Run worlds until so many operations are done; with ``stop`` only until something is wrong."""
    result, naive, done = Result(name), Naive(), Counter[str]()
    started = time.monotonic()
    while result.operations < operations:
        number = result.worlds
        world = World(memory, f"{prefix}-{seed}-{number}", seed * 1_000_003 + number, naive)
        engine = memory._engine
        other = AsyncMemory(type(engine)(engine.store, engine.embedder, world, engine.settings), None)
        world.memory, world.agent = other, other.agent(world.agent_id)
        before = result.operations
        result.operations += await world.run(min(WORLD, operations - result.operations))
        result.worlds += 1
        result.memories += len(world.beliefs.all)
        done += world.done
        for what, count in world.wrong.items():
            result.wrong[what] += count
        if world.wrong and result.first is None:
            result.first = result.operations
            result.trace = [f"world {world.agent_id}, operations {before}–{result.operations}", *world.trace[-25:]]
            if not stop:
                # At once: ids are drawn anew in each run, so a run that is ended early could not be repeated.
                print("\n".join(result.trace), file=sys.stderr, flush=True)
        await memory.forget_agent(world.agent_id)
        if stop and world.wrong:
            break
        if not stop and number % 5 == 4:
            print(f"{result.operations:,} operations, {result.wrong}", file=sys.stderr, flush=True)
    result.seconds = round(time.monotonic() - started, 1)
    result.done = dict(done)
    result.naive = {
        "operations after which something wrong was active": naive.wrong_checks / max(1, naive.checks),
        "share of what was active that was wrong": naive.wrong / max(1, naive.looked),
    }
    return result


async def _open_and_run(settings: Settings, arguments: argparse.Namespace) -> Result:
    async with await AsyncMemory.open(settings=settings, embedder=HashingEmbedder(384)) as memory:
        return await run(
            memory,
            arguments.ops,
            arguments.seed,
            name=arguments.name,
            stop=arguments.stop,
            prefix=f"world-{token_hex(4)}",
        )


def _mutant(mutation: Mutation, settings: Settings, arguments: argparse.Namespace) -> Result:
    """Run the same worlds on a broken product, in a process of its own."""
    assert settings.password is not None
    with broken(mutation) as root:
        environment = {
            **os.environ,
            "PYTHONPATH": str(root),
            "GRAPHMEM_URI": str(settings.uri),
            "GRAPHMEM_PASSWORD": settings.password.get_secret_value(),
        }
        command = [
            sys.executable, "-m", "benchmarks.staleness", "--ops", str(MUTANT), "--seed", str(arguments.seed),
            "--name", mutation.name, "--stop", "--json",
        ]  # fmt: skip
        done = subprocess.run(command, env=environment, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    return Result(**json.loads(done.stdout))


def _both(settings: Settings, arguments: argparse.Namespace) -> tuple[Result, list[Result]]:
    """The product, and where it was asked for each mutant."""
    mutants: list[Result] = []
    for mutation in MUTATIONS if arguments.mutations else ():
        mutants.append(_mutant(mutation, settings, arguments))
        print(f"{mutation.name}: noticed after {mutants[-1].first}", file=sys.stderr, flush=True)
    return asyncio.run(_open_and_run(settings, arguments)), mutants


def table(result: Result, mutants: list[Result]) -> str:
    """The report, as Markdown."""
    head = ["", "operations", *WRONGS]
    rows = [[result.name, f"{result.operations:,}", *(str(result.wrong[what]) for what in WRONGS)]]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    lines += [
        "",
        f"{result.worlds:,} agents, {result.memories:,} memories, {result.seconds:,.0f} s. Operations: "
        + ", ".join(f"{name} {count:,}" for name, count in sorted(result.done.items()))
        + ".",
    ]
    lines += ["", "The baseline (delete and re-add, no propagation) over the same operations:", ""]
    lines += [f"- {what}: {share:.0%}" for what, share in result.naive.items()]
    if mutants:
        lines += ["", "| the product, broken on purpose | noticed after operation | as |", "|---|---:|---|"]
        for mutant in mutants:
            found = ", ".join(what for what, count in mutant.wrong.items() if count)
            lines.append(f"| {mutant.name} | {mutant.first if mutant.first is not None else '**never**'} | {found} |")
    return "\n".join(lines)


def main() -> int:
    """Run the benchmark; 1 when something was wrong, or a mutation was not noticed."""
    from graphmem.graph import embedded
    from graphmem.settings import load_settings

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--ops", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutations", action="store_true", help="also run the product broken in each way")
    parser.add_argument("--stop", action="store_true", help="stop when something is wrong")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--name", default="graphmem")
    arguments = parser.parse_args()
    if os.environ.get("GRAPHMEM_URI"):
        result, mutants = _both(load_settings(), arguments)
    else:
        with tempfile.TemporaryDirectory(prefix="graphmem-staleness-") as folder:
            own = Settings(data_dir=Path(folder))
            try:
                found = embedded.ensure_running(own)
                settings = Settings(uri=found.uri, user=found.user, password=found.password, data_dir=own.data_dir)
                result, mutants = _both(settings, arguments)
            finally:
                embedded.down(own)
    if arguments.json:
        print(json.dumps(asdict(result)))
        return 0
    print(table(result, mutants))
    return int(any(result.wrong.values()) or any(mutant.first is None for mutant in mutants))


if __name__ == "__main__":
    sys.exit(main())
