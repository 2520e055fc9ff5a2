"""``graphmem up | down | status``: the embedded Neo4j."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from graphmem.errors import InvalidSettings
from graphmem.interfaces.cli.common import SERVER, Cli, Where, command

if TYPE_CHECKING:
    from datetime import timedelta

    from graphmem.graph.embedded import ServerStatus
    from graphmem.models import StoreStatus
    from graphmem.settings import Settings


_WIDTH = len("reflection")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, panel=SERVER, example="graphmem up")(up)
    command(app, panel=SERVER, example="graphmem down")(down)
    command(app, panel=SERVER, example="graphmem status --json")(status)


def up(cli: Cli) -> None:
    """Start the embedded Neo4j of the data directory, or find it running.

    Every command and program does that by itself when it needs the server. The first time fetches Neo4j (190 MB); a
    start takes some ten seconds. The server is shared by all processes and runs until graphmem down.
    """
    from graphmem.graph import embedded

    settings = embedded_only(cli.settings)
    with cli.progress() as progress:
        embedded.ensure_running(settings, progress=progress.step)
    found = embedded.status(settings)
    if cli.as_json:
        cli.emit({"server": _server(found)})
    else:
        cli.say(f"Neo4j {found.version} runs at {found.uri}", f"browser: {found.browser_url}")


def down(cli: Cli) -> None:
    """Stop the embedded Neo4j of the data directory; what is stored stays. The next command that needs it starts it."""
    from graphmem.graph import embedded

    settings = embedded_only(cli.settings)
    with cli.progress() as progress:
        progress.step("stopping Neo4j")
        stopped = embedded.down(settings)
    if cli.as_json:
        cli.emit({"stopped": stopped})
    else:
        cli.say("stopped" if stopped else f"no server was running in {settings.data_dir}")


def embedded_only(settings: Settings) -> Settings:
    """The settings, where they mean the embedded server.

    Raises:
        InvalidSettings: When they name another one, which graphmem neither starts nor stops.
    """
    if settings.uri is not None:
        raise InvalidSettings(
            f"the Neo4j at {settings.uri} is not one that graphmem starts or stops",
            remedy="for the embedded server add --uri embedded, or unset GRAPHMEM_URI (uri in the settings file)",
        )
    return settings


def status(cli: Cli) -> None:
    """Show the server, what the store was made for, how much is in it, what waits, and what thinking has cost.

    Only looks: starts no server, fetches no model, makes no schema; so it also works on a store that does not fit.
    """
    from graphmem.memory import look

    server = None
    if cli.settings.uri is None:
        from graphmem.graph import embedded

        server = embedded.status(cli.settings)
        if not cli.as_json:
            cli.fields(_server_rows(server), width=_WIDTH)
    found = look(cli.settings)
    settings = cli.settings
    models = {"embedding": settings.embedding, "language_model": settings.language_model}
    if found is None:
        if cli.as_json:
            cli.emit({"server": _server(server), "store": None, "info": None, "models": models, "agents": []})
        else:
            cli.note("the store is not open; start its server with: graphmem up")
        return
    store = found.info
    where = Where(store.uri, store.database)
    if cli.as_json:
        told = found.model_dump(mode="json", exclude={"info", "agents"})
        info = store.model_dump(exclude={"uri", "database"})
        listed = [agent.model_dump(mode="json") for agent in found.agents]
        cli.emit(
            {"server": _server(server), **where.as_dict(), "info": info, "models": models, "agents": listed, **told}
        )
        return
    made = "nothing yet; the first command that opens the store makes it"
    if store.schema_version is not None:
        made = f"version {store.schema_version}, for {store.embedding_model} ({store.dimension} dimensions), analyzer"
        made += f" {store.analyzer}"
    moving = f"{store.moving_to}: go on with graphmem reembed" if store.moving_to is not None else ""
    rows = {
        "store": f"{where}, Neo4j {store.server} {store.edition}",
        "schema": made,
        "moving to": moving,
        "embedding": f"{settings.embedding} (setting)",
        "language": f"{settings.language_model} (setting)",
        "agents": f"{store.agents:,} (graphmem agents lists them)",
        "memories": f"{store.memories:,} held, {sum(agent.stale for agent in found.agents):,} of them stale,"
        f" {sum(agent.archived for agent in found.agents):,} archived,"
        f" {sum(agent.ended for agent in found.agents):,} ended,"
        f" {sum(agent.not_embedded for agent in found.agents):,} not embedded",
        **_state_rows(found),
    }
    cli.fields(rows, width=_WIDTH)


def _state_rows(found: StoreStatus) -> dict[str, str]:
    """What there is, what waits, and what it has cost."""
    from graphmem.clock import system_now
    from graphmem.views.text import counted

    by_kind: dict[str, list[str]] = {}
    for item in found.counts:
        by_kind.setdefault(item.kind, []).append(f"{item.memories:,} {item.status}")
    stale = ""
    if found.backlog:
        clocks = {agent.id: agent.clock for agent in found.agents}  # An agent may live in a simulated time.
        ages = [(clocks.get(item.agent_id) or system_now()) - item.since for item in found.backlog if item.since]
        stale = f"of {counted(len(found.backlog), 'agent')}, recomputed by graphmem work"
        stale += f"; the oldest for {_age(max(ages))}" if ages else ""
        failing = sum(item.failing for item in found.backlog)
        stale += f"; {failing:,} failed before" if failing else ""
    near = max(
        found.agents, key=lambda agent: agent.importance_since_reflection / agent.reflection_threshold, default=None
    )
    due = ""
    if near is not None:
        due = f"due for {counted(len(found.due), 'agent')}"
        due += f"; nearest is {near.id}: {near.importance_since_reflection:,} of {near.reflection_threshold:,}"
    broken = [
        f"{index.name} {index.state} ({index.percent:.0f} %)" for index in found.indexes if index.state != "ONLINE"
    ]
    cost = "" if found.cost is None else f", ${found.cost:.4f}"
    return {
        **{kind: ", ".join(counts) for kind, counts in by_kind.items()},
        "stale": stale,
        "reflection": due,
        "indexes": ", ".join(broken) or f"{len(found.indexes)} online",
        "cost": f"{counted(found.runs, 'run')} of a language model, {found.prompt_tokens:,} tokens read and"
        f" {found.completion_tokens:,} written{cost}",
    }


def _age(time: timedelta) -> str:
    """How long something waits, in the unit that fits."""
    from graphmem.views.text import counted

    minutes = int(time.total_seconds() // 60)
    if minutes < 120:
        return counted(max(minutes, 0), "minute")
    return counted(minutes // 60, "hour") if minutes < 2 * 24 * 60 else counted(minutes // (24 * 60), "day")


def _server_rows(server: ServerStatus) -> dict[str, str]:
    state = "running" if server.running else "starting" if server.starting else "not running"
    rows = {"server": f"Neo4j {server.version}, {state}" + (f", process {server.pid}" if server.pid else "")}
    if server.ended:
        rows["ended"] = f"not stopped: {server.ended}"
    if server.running:
        rows |= {"address": server.uri or "", "browser": server.browser_url or ""}
    return {**rows, "data": str(server.data_dir), "log": str(server.log)}


def _server(server: ServerStatus | None) -> dict[str, Any] | None:
    return server and {
        "running": server.running,
        "starting": server.starting,
        "version": server.version,
        "pid": server.pid,
        "ended": server.ended,
        "uri": server.uri,
        "browser_url": server.browser_url,
        "data_dir": str(server.data_dir),
        "log": str(server.log),
    }
