"""``graphmem retrieve``: memories by relevance, recency and importance, with every part of their score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.interfaces.cli.common import REMEMBER, Agent, Cli, command

if TYPE_CHECKING:
    from graphmem.interfaces.cli.common import Where
    from graphmem.models import Hits, Weights


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(
        app,
        panel=REMEMBER,
        example='graphmem retrieve "What car does Evan drive?" --agent evan'
        " --weights relevance=1,recency=0,importance=0",
    )(retrieve)


def retrieve(
    cli: Cli,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    agent: Agent,
    k: Annotated[int, typer.Option("--k", "-k", help="At most this many, 1 to 10,000.")] = 10,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=NUMBER,…",
            help="How much relevance, recency and importance count; one not named keeps 1.",
        ),
    ] = None,
    touch: Annotated[
        bool, typer.Option("--touch/--no-touch", help="Whether the memories found count as accessed now.")
    ] = True,
    as_of: Annotated[
        str | None, typer.Option(metavar="TIME", help="What was believed at that time, with a zone; by default now.")
    ] = None,
) -> None:
    """List the memories that matter most to a query, best first.

    The score is the sum of three parts, each normalised over the agent's active memories and weighted.
    """
    chosen = _weights(weights) if weights is not None else None
    with cli.memory() as memory:
        hits = memory.agent(agent).retrieve(query, k=k, weights=chosen, touch=touch, as_of=as_of)
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **hits.model_dump(mode="json")})
        return
    if hits:
        from graphmem.views.scores import scores

        cli.say(scores(hits))
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
    if hits.withheld_stale:
        withheld = counted(hits.withheld_stale, "stale memory is", "stale memories are")
        cli.note(
            f"{withheld} withheld that would have been among these;"
            f" bring them up to date with: graphmem recompute --agent {agent}"
        )
    if hits.not_embedded:
        lacking = counted(hits.not_embedded, "memory has", "memories have")
        cli.note(f"{lacking} no vector yet, so that relevance counts 0 there")


def _weights(text: str) -> Weights:
    """Weights as typed: ``relevance=1,recency=0,importance=0``.

    Raises:
        InvalidInput: When a name is unknown or given twice, a number cannot be read or is negative, or all are 0.
    """
    from graphmem.errors import InvalidInput
    from graphmem.models import Weights, validated

    remedy = "write them like --weights relevance=1,recency=0.5,importance=0"
    given: dict[str, float] = {}
    for item in text.split(","):
        name, equals, number = (part.strip() for part in item.partition("="))
        if not equals or name not in Weights.model_fields:
            raise InvalidInput(f"weights: {item.strip()!r} is not NAME=NUMBER", remedy=remedy)
        if name in given:
            raise InvalidInput(f"weights: {name} is given twice", remedy=remedy)
        try:
            given[name] = float(number)
        except ValueError as error:
            raise InvalidInput(f"weights: {number!r} is not a number", remedy=remedy) from error
    return validated(Weights, given)
