"""``graphmem tree | explain | agents | memories | about``: looking at what is there."""

from __future__ import annotations

import functools
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphmem.interfaces.cli.common import LOOK, Agent, Cli, Where, command
from graphmem.interfaces.cli.pictures import Format, Output, check_format, write_picture
from graphmem.interfaces.cli.values import time_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.models import AnyMemory, Provenance

_LIMIT = 200
_PAGE = 100

Limit = Annotated[int, typer.Option(min=1, max=10_000, help="At most this many.")]
After = Annotated[str | None, typer.Option(metavar="ID", help="The last id of the page before, for the next page.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    look = functools.partial(command, app, panel=LOOK)
    look(example="graphmem tree --agent evan --depth 2\ngraphmem tree D1:2 --agent evan --format mermaid")(tree)
    html = "graphmem explain D1:2 --agent evan --format html --output why.html"
    look(example=f"graphmem explain D1:2 --agent evan\n{html}")(explain)
    look(example="graphmem agents --json")(agents)
    look(example="graphmem memories --agent evan --status stale")(memories)
    look(example="graphmem about Evan --agent sam\ngraphmem about Evan --agent sam --all --json")(about)


def tree(
    cli: Cli,
    agent: Agent,
    memory_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="A memory to start from; without it, every insight.")
    ] = None,
    depth: Annotated[
        int | None, typer.Option(min=0, help="How many levels of citations to draw; all without it.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many rows, or memories of a picture.")] = _LIMIT,
    format: Format = "text",
    output: Output = None,
) -> None:
    """Draw insights with the memories they cite, what is stale and why, and what replaced what.

    A memory that several insights cite is drawn once and referred to elsewhere.
    """
    check_format(cli, format, output)
    from graphmem.views.tree import tree as draw

    with cli.memory(agent) as memory:
        handle = memory.agent(agent)
        provenance = handle.tree() if memory_id is None else handle.explain(handle.resolve(memory_id))
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **provenance.model_dump(mode="json")})
        return
    if not provenance.roots:
        cli.say(
            f"nothing to draw: {where} has no reflections; make some with: graphmem reflect --agent {agent} --force"
        )
        return
    if format != "text":
        write_picture(cli, provenance, format, output, depth=depth, limit=limit, ended=False)
        return
    drawing = draw(provenance, depth=depth, limit=limit)
    cli.draw(drawing)
    cli.say(f"{_counts(provenance)}, {where}")
    if drawing.not_drawn:
        cli.note(
            "not all of it is drawn: raise --limit or --depth,"
            f" or start from one insight with: graphmem tree ID --agent {agent}"
        )


def _counts(provenance: Provenance) -> str:
    from graphmem.views.text import counted
    from graphmem.views.tree import ENDED

    reflections = {id_ for id_, memory in provenance.memories.items() if memory.type == "reflection"}
    held = {id_ for id_ in reflections if provenance.memories[id_].status not in ENDED}
    stale = sum(provenance.memories[id_].status == "stale" for id_ in held)
    cited = {g.target for g in provenance.grounds if g.until is None and g.source in held} - reflections
    return f"{counted(len(held), 'reflection')} ({stale:,} stale) on {counted(len(cited), 'memory', 'memories')}"


def explain(
    cli: Cli,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory.")],
    agent: Agent,
    as_of: Annotated[datetime | None, time_option("As it was at that time, by default now")] = None,
    depth: Annotated[int | None, typer.Option(min=0, help="How many levels below it to draw; all without it.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many rows, or memories of a picture.")] = _LIMIT,
    format: Format = "text",
    output: Output = None,
) -> None:
    """Show everything about one memory: its fields, the run that made it, what it rests on and rested on."""
    check_format(cli, format, output)
    from graphmem.views.tree import tree as draw

    with cli.memory(agent) as memory:
        handle = memory.agent(agent)
        provenance = handle.explain(handle.resolve(memory_id), as_of=as_of)
        where = cli.where(memory, agent)
    if cli.as_json:
        cli.emit({**where.as_dict(), **provenance.model_dump(mode="json")})
        return
    if format != "text":
        write_picture(cli, provenance, format, output, depth=depth, limit=limit, ended=True)
        return
    _card(cli, provenance)
    drawing = draw(provenance, depth=depth, limit=limit, ended=True)
    if len(drawing.rows) > 1:
        cli.say("")
        cli.draw(drawing)
    if drawing.not_drawn:
        cli.note("not all of it is drawn: raise --limit or --depth; --json gives everything")
    cli.say(str(where))


def _card(cli: Cli, provenance: Provenance) -> None:
    from graphmem.views.plans import when
    from graphmem.views.text import moment, printable
    from graphmem.views.tree import StatusWords, kind_words

    memory = provenance.memories[provenance.roots[0]]
    rows = {
        "id": memory.id,
        "kind": f"{memory.type}, {kind_words(memory)}",
        "status": StatusWords(provenance).of(memory.id),
        "importance": f"{memory.importance} of 10, set by {memory.importance_by}",
        "occurred": f"{moment(memory.occurred_at)} UTC",
        "recorded": f"{moment(memory.recorded_at)} UTC",
        "accessed": f"{moment(memory.last_accessed_at)} UTC",
        "ended": f"{moment(memory.ended_at)} UTC" if memory.ended_at else "",
        "embedded": _embedded(memory),
        "triple": " · ".join(part for part in (memory.subject, memory.predicate, memory.object) if part),
        "keywords": ", ".join(memory.keywords),
    }
    match memory.type:
        case "observation":
            rows |= {"source": memory.source or "", "session": memory.session or "", "place": memory.place or ""}
        case "reflection":
            rows |= {"question": memory.question or "", "depth": str(memory.depth), "by": memory.written_by}
        case "plan":
            rows |= {"time": when(memory), "place": memory.place or ""}
    if run := provenance.runs.get(memory.id):
        rows["run"] = f"{run.verb} {run.id} by {run.model}, {moment(run.started_at)} UTC, {run.outcome}"
    cli.fields(rows)
    cli.say("", printable(memory.text))


def _embedded(memory: AnyMemory) -> str:
    if memory.embedding_model is None:
        return "no, the embedder failed on this text"
    return memory.embedding_model + (", its beginning only" if memory.embedding_truncated else "")


def agents(cli: Cli) -> None:
    """List the agents and how much each remembers."""
    with cli.memory() as memory:
        found = memory.agents()
        where = cli.where(memory)
    if cli.as_json:
        cli.emit({**where.as_dict(), "agents": [agent.model_dump(mode="json") for agent in found]})
        return
    if not found:
        cli.say(f"no agents in {where}; the first observation makes one: graphmem ingest FILE --agent ID")
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from graphmem.views.text import counted, shortened

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("agent", style="cyan", overflow="fold")
    table.add_column("name", overflow="fold")
    counts = ("observations", "reflections", "plans", "stale", "ended", "not embedded")
    for name in (*counts, "to reflect"):
        table.add_column(name, justify="right")
    for agent in found:
        numbers = [f"{getattr(agent, name.replace(' ', '_')):,}" for name in counts]
        due = f"{agent.importance_since_reflection} of {agent.reflection_threshold}"
        table.add_row(Text(shortened(agent.id, 60)), Text(shortened(agent.name, 60)), *numbers, due)
    cli.say(table, f"{counted(len(found), 'agent')} in {where}")


def memories(
    cli: Cli,
    agent: Agent,
    type: Annotated[Literal["observation", "reflection", "plan"] | None, typer.Option(help="Only these.")] = None,
    status: Annotated[
        Literal["active", "stale", "archived", "superseded", "retracted", "forgotten"] | None,
        typer.Option(help="Only those of this status."),
    ] = None,
    limit: Limit = _PAGE,
    after: After = None,
) -> None:
    """List an agent's memories in the order of their ids, a line each."""
    with cli.memory(agent) as memory:
        handle = memory.agent(agent)
        behind = handle.resolve(after) if after is not None else None
        found = handle.memories(type=type, status=status, limit=limit, after=behind)
        where = cli.where(memory, agent)
    _list(cli, found, limit, where, f"no such memories of {where}")


def about(
    cli: Cli,
    entity: Annotated[str, typer.Argument(help="A name, exactly as it was given.")],
    agent: Agent,
    everything: Annotated[bool, typer.Option("--all", help="Also what is stale or has ended.")] = False,
    limit: Limit = _PAGE,
    after: After = None,
) -> None:
    """List the memories that name someone or something as subject, object, source or keyword, latest first.

    The name must be the whole name, letter by letter. To search in texts: graphmem retrieve.
    """
    with cli.memory(agent) as memory:
        handle = memory.agent(agent)
        behind = handle.resolve(after) if after is not None else None
        status = None if everything else "active"
        found = handle.about(entity, status=status, limit=limit, after=behind)
        ended = not found and not everything and bool(handle.about(entity, status=None, limit=1))
        where = cli.where(memory, agent)
    none = f"no {'active ' if ended else ''}memory of {where} names {entity!r} as subject, object, source or keyword"
    _list(cli, found, limit, where, none)
    if ended:
        cli.note("what names it is stale or has ended: --all shows it")


def _list(cli: Cli, found: Sequence[AnyMemory], limit: int, where: Where, none: str) -> None:
    """A page of memories, a line each; ``none`` is said when there are none."""
    from graphmem.views.lines import full_line
    from graphmem.views.text import counted

    if cli.as_json:
        cli.emit({**where.as_dict(), "memories": [memory.model_dump(mode="json") for memory in found]})
        return
    if not found:
        cli.say(none)
        return
    for memory in found:
        cli.say(full_line(memory))
    cli.say(f"{counted(len(found), 'memory', 'memories')} of {where}")
    if len(found) == limit:
        cli.note(f"there may be more: --after {found[-1].id}")
