"""``graphmem calibrate``: a profile fitted on labelled questions, and what it is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.interfaces.cli.common import REMEMBER, Agent, Cli, command

if TYPE_CHECKING:
    from graphmem.models.calibration import Calibration, Estimate


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, panel=REMEMBER, example="graphmem calibrate questions.jsonl --agent evan --out evan.profile.json")(
        calibrate
    )


def calibrate(
    cli: Cli,
    questions: Annotated[Path, typer.Argument(help="Questions, a JSON object a line.")],
    agent: Agent,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the fitted profile is written; nowhere without it.")
    ] = None,
    start: Annotated[str, typer.Option(metavar="NAME|FILE", help="The profile that it is compared with.")] = "recall",
) -> None:
    """Fit a retrieval profile on questions whose answers are known.

    One JSON object a line, such as {"query": "What car does Evan drive?", "relevant": ["D1:2"]}: relevant are the ids
    of the memories that answer it; optionally a category. At least 10; a hundred tell more. What the fit is worth is
    measured on questions that it has not seen.
    """
    from graphmem.interfaces.files import write_text
    from graphmem.interfaces.questions import read_profile, read_questions

    asked = read_questions(questions)
    profile = read_profile(start)
    with cli.memory(agent) as memory:
        with cli.progress() as progress:
            found = memory.agent(agent).calibrate(asked, start=profile, progress=progress.step)
        where = cli.where(memory, agent)
    if out is not None:
        write_text(out, found.profile.model_dump_json(indent=2) + "\n")
    if cli.as_json:
        cli.emit({**where.as_dict(), **found.model_dump(mode="json")})
        return
    _tell(cli, found, profile.name)
    cli.say(f"calibrated on {found.questions} questions of {where}")
    if out is not None:
        cli.say(f"written to {out}; use it with: graphmem retrieve … --profile {out}")
    elif found.gain.low > 0:
        cli.note("the profile was not kept: give --out FILE")


def _tell(cli: Cli, found: Calibration, start: str) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("", start, "calibrated"):
        table.add_column(name, justify="right" if name else "left")
    for name, label in (
        ("ndcg_at_10", "nDCG@10"),
        ("recall_at_5", "recall@5"),
        ("recall_at_10", "recall@10"),
        ("recall_at_20", "recall@20"),
    ):
        table.add_row(label, _interval(getattr(found.before, name)), _interval(getattr(found.after, name)))
    for category, before in found.before.by_category.items():
        table.add_row(f"  {category}, recall@10", f"{before:.3f}", f"{found.after.by_category[category]:.3f}")
    table.add_row("gain in nDCG@10", "", _interval(found.gain))
    cli.say(table, f"means with 95 % intervals; calibrated: {found.folds}-fold cross-validated")


def _interval(value: Estimate) -> str:
    return f"{value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]"
