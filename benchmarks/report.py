"""Tables and plots of the documentation from the results of a run: ``docs/benchmarks.md`` and ``docs/images/``.

python -m benchmarks.report
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- figures: written by benchmarks/report.py -->", "<!-- end of figures -->"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def scale(found: dict[str, Any], images: Path) -> str:
    sizes = list(found["sizes"].items())
    rows = [
        [f"{int(size):,}"]
        + [f"{of[name]['p50']:.0f} / {of[name]['p95']:.0f}" for name in ("retrieve", "recall", "bare", "scan", "numpy")]
        + [
            f"{of['retrieve']['p50'] / of['bare']['p50']:.1f}",
            f"{of['scan']['p50'] / of['retrieve']['p50']:.1f}",
            f"{of['agreement']['overlap']:.3f}",
            f"{of['agreement']['index_recall']:.3f}",
            f"{of['agreement']['exact']:.0%}",
        ]
        for size, of in sizes
    ]
    head = ["memories", "retrieve", "profile recall", "bare vector query", "full scan", "numpy in memory"]
    head += ["retrieve ÷ bare", "scan ÷ retrieve", "same ten as scoring all", "index's recall", "exact"]
    text = "Milliseconds, p50 / p95.\n\n" + table(head, rows)
    if len(sizes) > 1:
        text += (
            "\n\n"
            + "; ".join(
                f"retrieve at {int(b):,} ÷ at {int(a):,}: {y['retrieve']['p50'] / x['retrieve']['p50']:.1f}"
                for (a, x), (b, y) in itertools.pairwise(sizes)
            )
            + "."
        )
    if "hard" in found:
        rows = [[name, f"{of['share']:.0%}", f"{of['queries']}"] for name, of in found["hard"].items()]
        text += "\n\nQueries that close (`exact=True`) at the largest size:\n\n" + table(["", "share", "queries"], rows)
    writing = found["writing"]
    text += (
        f"\n\nWriting 3,000 observations with their embeddings given: `observe_many` {writing['observe_many']:.0f} a "
        f"second, a bare UNWIND of the same rows {writing['bare UNWIND']:.0f}: {writing['ratio']:.2f} of its rate. "
        f"`observe`, one by one: {writing['observe']:.1f} a second."
    )
    if "profile" in found:
        listing = "\n".join(found["profile"])
        text += (
            f"\n\nThe PROFILE of the main query at the largest size (rows, db hits, operator):\n\n```\n{listing}\n```"
        )
    _plot(
        images / "retrieval.svg",
        {
            name: [(int(size), of[key]["p50"]) for size, of in sizes]
            for key, name in (
                ("retrieve", "retrieve, paper"), ("recall", "retrieve, recall"), ("bare", "bare vector query"),
                ("scan", "full scan in Cypher"), ("numpy", "numpy in memory"),
            )
        },
        "memories of one agent", "ms, median", logarithmic=True,
    )  # fmt: skip
    return text


def recall(found: dict[str, Any], images: Path) -> str:
    names = list(found["profiles"])
    categories = sorted(
        {key for name in names for of in found["profiles"][name].values() for key in of} - {"recall@10"}
    )
    rows = [
        [name, profile, *(f"{of.get(key, float('nan')):.3f}" for key in ("recall@10", *categories))]
        for name in names
        for profile, of in found["profiles"][name].items()
    ]
    text = table(["conversation", "profile", "recall@10", *categories], rows)
    text += "\n\nMeasured in the database with the profile recall: " + ", ".join(
        f"{name} {value:.3f}" for name, value in found["database"].items()
    )
    text += ".\n\nTuned on one (rows), measured on the other (columns), recall@10:\n\n"
    text += table(["", *names], [[a, *(f"{found['tuned'][a][b]:.3f}" for b in names)] for a in names])
    labels = list(found["ablation"][names[0]])
    text += "\n\nThe paper's weights (recency, relevance, importance) and recencies on the same questions:\n\n"
    text += table(
        ["", *labels], [[name, *(f"{found['ablation'][name][label]:.3f}" for label in labels)] for name in names]
    )
    text += "\n\nWith distractors, every fifth question:\n\n"
    profiles = list(found["profiles"][names[0]])
    many = list(found["distractors"][names[0]])
    text += table(
        ["conversation", "profile", *(f"{int(n):,}" for n in many)],
        [
            [name, profile, *(f"{found['distractors'][name][n][profile]:.3f}" for n in many)]
            for name in names
            for profile in profiles
        ],
    )
    _plot(
        images / "distractors.svg",
        {
            f"{profile}, {name}": [(int(n), found["distractors"][name][n][profile]) for n in many]
            for name in names
            for profile in profiles
        },
        "distractors added", "recall@10", logarithmic=False,
    )  # fmt: skip
    return text


def _plot(file: Path, lines: dict[str, list[tuple[int, float]]], along: str, up: str, *, logarithmic: bool) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "graphmem"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    for (name, points), marker in zip(lines.items(), itertools.cycle("os^vDxP*"), strict=False):
        axes.plot([x for x, _ in points], [y for _, y in points], marker=marker, label=name)
    axes.set_xscale("log" if logarithmic else "symlog", **({} if logarithmic else {"linthresh": 1000}))
    if logarithmic:
        axes.set_yscale("log")
    axes.set_xlabel(along)
    axes.set_ylabel(up)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results")
    given = parser.parse_args()
    images, page = ROOT / "docs" / "images", ROOT / "docs" / "benchmarks.md"
    parts: list[str] = []
    for name, title, write in (
        ("scale", "Speed and exactness", scale),
        ("recall", "Finding what is asked for", recall),
    ):
        file = given.results / f"{name}.json"
        if file.exists():
            parts.append(f"## {title}\n\n{write(json.loads(file.read_text()), images)}")
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n\n" + "\n\n".join(parts) + f"\n\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
