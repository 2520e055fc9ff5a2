"""``graphmem up | down | status | browser``: the embedded Neo4j, and how to look into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphmem.errors import InvalidSettings
from graphmem.interfaces.cli.common import SERVER, Cli, Where, command, complete_agent
from graphmem.interfaces.picture import picture_query, picture_url

if TYPE_CHECKING:
    from graphmem.graph.embedded import ServerStatus
    from graphmem.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, panel=SERVER, example="graphmem up")(up)
    command(app, panel=SERVER, example="graphmem down")(down)
    command(app, panel=SERVER, example="graphmem status --json")(status)
    command(app, panel=SERVER, example="graphmem browser --show-password")(browser)


def up(cli: Cli) -> None:
    """Start the embedded Neo4j of the data directory, or find it running.

    The first time fetches Neo4j. The server is shared by all processes and runs until graphmem down.
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
    """Stop the embedded Neo4j of the data directory; what is stored stays."""
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
            remedy="leave out --uri and GRAPHMEM_URI for the embedded server",
        )
    return settings


def status(cli: Cli) -> None:
    """Show the server, the store and its agents; starts nothing."""
    server = None
    if cli.settings.uri is None:
        from graphmem.graph import embedded

        server = embedded.status(cli.settings)
        if not cli.as_json:
            cli.fields(_server_rows(server))
        if not server.running:
            if cli.as_json:
                cli.emit({"server": _server(server), "store": None, "agents": []})
            else:
                cli.note("the store is not open; start its server with: graphmem up")
            return
    with cli.memory() as memory:
        agents = memory.agents()
        where = cli.where(memory)
    settings = cli.settings
    if cli.as_json:
        models = {"embedding": settings.embedding, "language_model": settings.language_model}
        listed = [agent.model_dump(mode="json") for agent in agents]
        told = _server(server) if server else None
        cli.emit({"server": told, **where.as_dict(), "models": models, "agents": listed})
        return
    total = sum(agent.observations + agent.reflections + agent.plans for agent in agents)
    rows = {
        "store": str(where),
        "embedding": settings.embedding,
        "language": settings.language_model,
        "agents": f"{len(agents):,} (graphmem agents lists them)",
        "memories": f"{total:,} held, {sum(agent.stale for agent in agents):,} of them stale,"
        f" {sum(agent.ended for agent in agents):,} ended,"
        f" {sum(agent.not_embedded for agent in agents):,} not embedded",
    }
    cli.fields(rows)


def _server_rows(server: ServerStatus) -> dict[str, str]:
    state = "running" if server.running else "starting" if server.starting else "not running"
    rows = {"server": f"Neo4j {server.version}, {state}" + (f", process {server.pid}" if server.pid else "")}
    if server.ended:
        rows["ended"] = f"not stopped: {server.ended}"
    if server.running:
        rows |= {"address": server.uri or "", "browser": server.browser_url or ""}
    return {**rows, "data": str(server.data_dir), "log": str(server.log)}


def _server(server: ServerStatus) -> dict[str, Any]:
    return {
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


def browser(
    cli: Cli,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            "-a",
            metavar="ID",
            help="Whose memories the query shows; again for more.",
            autocompletion=complete_agent,
        ),
    ] = None,
    show_password: Annotated[
        bool, typer.Option("--show-password", help="Show the password itself, not where it is kept.")
    ] = False,
) -> None:
    """Tell how to look at the memories as a picture in Neo4j Browser: address, sign-in, and a ready query."""
    query = picture_query(agent or [])
    settings = cli.settings
    if settings.uri is None:
        from graphmem.graph import embedded

        with cli.progress() as progress:
            connection = embedded.ensure_running(settings, progress=progress.step)
        user, password, url = connection.user, connection.password, connection.browser_url
        uri, kept = connection.uri, f"in the file {embedded.status(settings).password_file}"
    else:
        user, password, url = settings.user, settings.password, None
        uri, kept = settings.uri, "that of GRAPHMEM_PASSWORD"
    address = picture_url(url, query) if url else None
    secret = password.get_secret_value() if show_password and password else None
    if cli.as_json:
        head = Where(uri, settings.database).as_dict()
        shown = {} if secret is None else {"password": secret}
        cli.emit({**head, "browser_url": url, "url": address, "user": user, **shown, "query": query})
        return
    cli.fields(
        {
            "open": address or f"Neo4j Browser of the server at {uri}, often http://HOST:7474/browser/",
            "sign in": f"to {uri}, database {settings.database}, as {user}",
            "password": secret or kept,
            "query": query,
        }
    )
