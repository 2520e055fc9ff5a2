"""``graphmem ask | converse | diffusion``: what an agent can say, what two say to each other, and how far that came."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, cast

import typer

from graphmem.interfaces.cli.common import LOOK, REMEMBER, Agent, AgentIds, Cli, agents_option, command
from graphmem.interfaces.cli.pictures import Format, Output, check_format, write_text
from graphmem.interfaces.cli.values import choices_option, time_option

TYPES = ("observation", "reflection", "plan")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(
        app,
        panel=REMEMBER,
        example='graphmem ask "What do you know of the lantern feast?" --agent ines\n'
        'graphmem ask "Where does Anna live?" --agent ines --as-of 2026-04-15T12:00:00Z',
    )(ask)
    command(app, panel=REMEMBER, example='graphmem converse ines tobias --about "the lantern feast"')(converse)
    command(
        app,
        panel=LOOK,
        example='graphmem diffusion "the lantern feast"\ngraphmem diffusion d1-0645 --from ines --format mermaid',
    )(diffusion)


def ask(
    cli: Cli,
    question: Annotated[str, typer.Argument(help="What to ask.")],
    agent: Agent,
    types: Annotated[
        list[str] | None,
        choices_option("--type", choices=TYPES, help="Only memories of this type; may be given again"),
    ] = None,
    token_budget: Annotated[
        int, typer.Option(min=1, metavar="N", help="Tokens of memories that are looked at.")
    ] = 3_000,
    as_of: Annotated[datetime | None, time_option("From what was believed at that time, by default now")] = None,
    at: Annotated[datetime | None, time_option("When it is asked, by default now")] = None,
) -> None:
    """Answer a question from an agent's memory and what it is told to be, with what bears out each sentence.

    What is not known is said so; that is no error.
    """
    from graphmem.models.answers import MemoryType
    from graphmem.views.text import counted, shortened

    with cli.memory(agent) as memory:
        answer = memory.agent(agent).ask(
            question, types=cast("list[MemoryType] | None", types), token_budget=token_budget, as_of=as_of, now=at
        )
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **answer.model_dump(mode="json")})
        return
    if not answer.known:
        cli.say(answer.text, f"looked at {counted(len(answer.looked_at), 'memory', 'memories')}")
    for sentence in answer.sentences:
        marks = ["described"] * sentence.described + ["inferred"] * sentence.inferred
        rests_on = [", ".join(sentence.citations)] if sentence.citations else []
        cli.say(f"{sentence.text}  [{'; '.join([*marks, *rests_on])}]")
    for refused in answer.refused:
        cli.note(shortened(f"  - refused ({refused.gate}: {refused.reason}): {refused.item}", 400))
    if answer.withheld_stale:
        cli.note(f"{counted(answer.withheld_stale, 'stale memory', 'stale memories')} withheld")
    cli.say(f"run {answer.run_id} of {where}")


def converse(
    cli: Cli,
    a: Annotated[str, typer.Argument(metavar="AGENT", help="Who begins.")],
    b: Annotated[str, typer.Argument(metavar="OTHER", help="Who answers.")],
    about: Annotated[str | None, typer.Option(help="The matter; by default whatever matters to the other.")] = None,
    turns: Annotated[int, typer.Option(min=1, max=100, help="Most utterances.")] = 8,
    id: Annotated[
        str | None, typer.Option("--id", help="Of the conversation, to go on with it later; a new one without it.")
    ] = None,
    at: Annotated[datetime | None, time_option("When it begins, by default now")] = None,
) -> None:
    """Let two agents talk; each hears what the other says and keeps a summary."""
    from graphmem.views.lines import plain_line
    from graphmem.views.text import counted, shortened

    with cli.memory(a, b) as memory, cli.progress() as progress:
        progress.step(f"{a} and {b} talk")
        talk = memory.converse(a, b, about=about, turns=turns, id=id, now=at)
        where = cli.where(memory)
    if cli.as_json:
        cli.emit({**where.as_dict(), **talk.model_dump(mode="json")})
        return
    for said in talk.utterances:
        cites = f"  [{', '.join(said.citations)}]" if said.citations else ""
        cli.say(f"{said.speaker}: {said.text}{cites}")
    for who, summary in talk.summaries.items():
        cli.say(plain_line(summary, f"{who} keeps "))
    for refused in talk.refused:
        cli.note(shortened(f"  - refused ({refused.gate}: {refused.reason}): {refused.item}", 400))
    cli.say(f"{counted(len(talk.utterances), 'utterance')} of conversation {talk.id} in {where}")


def diffusion(
    cli: Cli,
    fact: Annotated[str, typer.Argument(help="A few words that name it, or with --from the id of a memory.")],
    from_: Annotated[
        str | None, typer.Option("--from", metavar="AGENT", help="With whom it began; with anybody without it.")
    ] = None,
    agents: Annotated[
        AgentIds | None,
        agents_option("Look at these; without it at those of the simulation of --from, or at all."),
    ] = None,
    format: Format = "text",
    output: Output = None,
) -> None:
    """Show who knows a fact and from whom: heard, willing, planned, attended, and why each came no further."""
    from graphmem.views.spreading import spreading, told

    check_format(cli, format, output)
    with cli.memory(*filter(None, [from_, *(agents or ())])) as memory:
        found = memory.diffusion(fact, from_=from_, agents=agents)
        where = cli.where(memory)
    if cli.as_json:
        density = {"before": found.before.value, "after": found.after.value}
        cli.emit({**where.as_dict(), **found.model_dump(mode="json"), "density": density})
    elif format == "text":
        cli.say(*told(found), str(where))
    else:
        write_text(cli, spreading(found, format), output)
