"""``graphmem retrieve``: memories by relevance, recency and importance, with every part of their score."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, cast

import typer

from graphmem.errors import InvalidInput
from graphmem.interfaces.cli.common import REMEMBER, Agent, Cli, command
from graphmem.interfaces.cli.values import WrongValue, choices_option, time_option

if TYPE_CHECKING:
    from graphmem.interfaces.cli.common import Where
    from graphmem.models import Hits, Kind, Weights

KINDS = ("event", "utterance", "fact", "insight", "summary", "procedure", "day", "hour", "step")


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(
        app,
        panel=REMEMBER,
        example='graphmem retrieve "What car does Evan drive?" --agent evan --profile recall\n'
        'graphmem retrieve "the Prius" --agent evan --k 3 --since 2026-05-01T00:00Z --weights recency=0',
    )(retrieve)


def retrieve(
    cli: Cli,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    agent: Agent,
    k: Annotated[int, typer.Option("--k", "-k", min=1, max=10_000, help="At most this many.")] = 10,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=NUMBER,…",
            help="How much relevance, recency, importance and support count; one not named keeps the profile's.",
        ),
    ] = None,
    profile: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="paper counts relevance, recency and importance alike; recall is for questions, where what fits best"
            " comes first; or a file that graphmem calibrate has written.",
        ),
    ] = "paper",
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of, as bars.")] = False,
    kind: Annotated[
        list[str] | None, choices_option(choices=KINDS, help="Only this kind of memory; may be given again")
    ] = None,
    since: Annotated[datetime | None, time_option("Only what happened then or later")] = None,
    until: Annotated[datetime | None, time_option("Only what happened before then")] = None,
    place: Annotated[str | None, typer.Option(help="Only what happened there.")] = None,
    source: Annotated[str | None, typer.Option(help="Only what was said by this one.")] = None,
    max_inferred: Annotated[int | None, typer.Option(min=0, metavar="N", help="At most N reflections.")] = None,
    evidence: Annotated[int, typer.Option(min=0, metavar="N", help="Give each reflection with N of its grounds.")] = 0,
    token_budget: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the best that fit into N tokens.")
    ] = None,
    touch: Annotated[
        bool, typer.Option("--touch/--no-touch", help="Whether the memories found count as accessed now.")
    ] = True,
    as_of: Annotated[datetime | None, time_option("What was believed at that time, by default now")] = None,
) -> None:
    """List the memories that matter most to a query, best first.

    The score is the sum of relevance, recency and importance, each normalised over the agent's active memories and
    weighted. For the answer to a question, with what bears it out: graphmem ask.
    """
    from graphmem.interfaces.questions import read_profile

    used = read_profile(profile)
    chosen = _weights(weights, used.weights) if weights is not None else None
    with cli.memory(agent) as memory:
        hits = memory.agent(agent).retrieve(
            query,
            k=k,
            profile=used,
            weights=chosen,
            kinds=cast("list[Kind] | None", kind),
            since=since,
            until=until,
            place=place,
            source=source,
            max_inferred=max_inferred,
            evidence=evidence,
            token_budget=token_budget,
            touch=touch,
            as_of=as_of,
        )
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **hits.model_dump(mode="json")})
        return
    if hits:
        from graphmem.views.scores import Scores, explained

        cli.say(explained(hits) if explain else Scores(hits))
    _tell(cli, hits, agent, where)


def _tell(cli: Cli, hits: Hits, agent: str, where: Where) -> None:
    """What the table does not show: how much was looked at, and what was left out and why."""
    from graphmem.views.text import counted

    if not hits.considered:
        cli.say(f"nothing found: {where} has no memories")
    elif not hits:
        cli.say(f"nothing found among {counted(hits.considered, 'memory', 'memories')} of {where}")
    else:
        cli.say(f"{len(hits)} of {counted(hits.considered, 'memory', 'memories')} of {where}")
    if hits.left_out:
        cli.note(
            f"{counted(len(hits.left_out), 'memory')} did not fit into the budget ({hits.tokens} tokens used):"
            f" {', '.join(hits.left_out)}"
        )
    if hits.exact is False:
        cli.note("a memory that was not looked at could score higher than the last of these")
    if hits.withheld_stale:
        withheld = counted(hits.withheld_stale, "stale memory is", "stale memories are")
        cli.note(
            f"{withheld} withheld that would have been among these;"
            f" bring them up to date with: graphmem recompute --agent {agent}"
        )
    if hits.not_embedded:
        lacking = counted(hits.not_embedded, "memory has", "memories have")
        cli.note(f"{lacking} no vector yet, so that relevance counts 0 there")


def _weights(text: str, base: Weights) -> Weights:
    """Weights as typed: ``relevance=1,recency=0,importance=0``.

    Raises:
        WrongValue: When a name is unknown or given twice, a number cannot be read or is negative, or all are 0.
    """
    from graphmem.models import Weights, validated

    def wrong(problem: str) -> WrongValue:
        remedy = "write them as in: --weights relevance=1,recency=0.5,importance=0"
        return WrongValue(problem, such=remedy, hint="--weights")

    given: dict[str, float] = {}
    for item in text.split(","):
        name, equals, number = (part.strip() for part in item.partition("="))
        if not equals or name not in Weights.model_fields:
            raise wrong(f"{item.strip()!r} is not NAME=NUMBER, the names being {', '.join(Weights.model_fields)}")
        if name in given:
            raise wrong(f"{name} is given twice")
        try:
            given[name] = float(number)
        except ValueError as error:
            raise wrong(f"{number!r} is not a number") from error
    try:
        return validated(Weights, {**base.model_dump(), **given})
    except InvalidInput as error:
        raise wrong(str(error)) from error
