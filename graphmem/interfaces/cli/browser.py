"""``graphmem browser``: Neo4j Browser's address with a ready query filled in."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote, urlsplit

import typer

from graphmem.errors import InvalidInput
from graphmem.interfaces.cli.common import SERVER, Cli, Where, agent_option, command

_EVERYTHING = "beliefs"
_HTTP_PORT = 7474
"""Neo4j's own default, which docker-compose.yml keeps."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    example = "graphmem browser\ngraphmem browser tree d1-0645 --agent ines --open"
    command(app, panel=SERVER, example=example)(browser)


def complete_query(incomplete: str) -> list[str]:
    """Names of ready queries that begin so."""
    from graphmem.graph.browser import browser_queries

    return [name for name in browser_queries() if name.startswith(incomplete)]


def browser(
    cli: Cli,
    query: Annotated[
        str | None,
        typer.Argument(
            help="A ready query; without it all that agents believe, and a list of the others.",
            autocompletion=complete_query,
        ),
    ] = None,
    id: Annotated[str | None, typer.Argument(metavar="ID", help="The memory, or the run, that it shows.")] = None,
    agent: Annotated[
        list[str] | None,
        agent_option("Whose memories the query shows; again for more."),
    ] = None,
    show_password: Annotated[
        bool, typer.Option("--show-password", help="Show the password itself, not where it is kept.")
    ] = False,
    open_it: Annotated[bool, typer.Option("--open", help="Open the address in your web browser.")] = False,
) -> None:
    """Tell how to look at the memories as a picture in Neo4j Browser: address, sign-in, and a ready query.

    The address has the query filled in, and no password. Colours come from cypher/browser/style.grass, once it was
    dragged onto Browser. Starts the embedded server when it is not running.
    """
    from graphmem.graph.browser import browser_address, browser_queries, browser_query

    named, agents = query or _EVERYTHING, agent or []
    browser_query(named, agents=agents, id=id)  # Wrong usage is told before a server is started.
    if id is not None and named != "run":
        with cli.memory(*agents) as memory:
            id = memory.agent(agents[0]).resolve(id)
    text = browser_query(named, agents=agents, id=id)
    settings = cli.settings
    if settings.uri is None:
        from graphmem.graph import embedded

        with cli.progress() as progress:
            connection = embedded.ensure_running(settings, progress=progress.step)
        user, password, url = connection.user, connection.password, connection.browser_url
        uri, kept = connection.uri, f"in the file {embedded.status(settings).password_file}"
    else:
        user, password, uri = settings.user, settings.password, settings.uri
        url, kept = _usual_address(uri, user), "that of GRAPHMEM_PASSWORD"
    address = browser_address(url, text) if url else None
    secret = password.get_secret_value() if show_password and password else None
    if cli.as_json:
        head = Where(uri, settings.database).as_dict()
        shown = {} if secret is None else {"password": secret}
        ready = {} if query else {"queries": browser_queries()}
        cli.emit({**head, "browser_url": url, "url": address, "user": user, **shown, "query": text, **ready})
    else:
        if query is None:
            cli.say("Ready queries: graphmem browser QUERY")
            cli.fields(browser_queries())
            cli.say("")
        cli.fields(
            {
                "open": address or f"Neo4j Browser for the server at {uri}, where it has one",
                "sign in": f"to {uri}, database {settings.database}, as {user}",
                "password": secret or kept,
                "query": text,
            }
        )
        if settings.uri is not None and address is not None:
            cli.note(f"the address holds where the server's web port is {_HTTP_PORT}, as it is unless it was changed")
    if open_it:
        _open(address)


def _usual_address(uri: str, user: str) -> str | None:
    """Where a server has Neo4j Browser unless that was changed; None where the address does not tell."""
    found = urlsplit(uri)
    # With encryption it is Aura, whose Browser is in its console, or a server with a name of its own for it.
    if found.hostname is None or "+" in found.scheme:
        return None
    host = f"[{found.hostname}]" if ":" in found.hostname else found.hostname
    port = f":{found.port}" if found.port else ""
    dbms = quote(f"{found.scheme}://{user}@{host}{port}", safe=":/@[]")
    return f"http://{host}:{_HTTP_PORT}/browser/?dbms={dbms}"


def _open(address: str | None) -> None:
    import webbrowser

    remedy = "open it yourself, or paste the query into the Browser that you have"
    if address is None:
        raise InvalidInput("the address of Neo4j Browser is not known for this server", remedy=remedy)
    if not webbrowser.open(address):
        raise InvalidInput("no web browser could be started here", remedy=remedy)
