"""``graphmem mcp``: an agent's memory for clients of the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from graphmem.interfaces.cli.common import SERVER, Cli, NewAgent, command


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(
        app,
        panel=SERVER,
        name="mcp",
        example="graphmem mcp --agent evan\ngraphmem mcp --agent evan --http --port 8765",
        json_output=False,
    )(mcp)


def mcp(
    cli: Cli,
    agent: NewAgent,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of standard input and output.")] = False,
    host: Annotated[str, typer.Option(help="Address to serve on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to serve on.")] = 8765,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME:PORT", help="A further address that clients call it by; again for more."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(metavar="URL", help="A web page that may call it; again for more.")
    ] = None,
) -> None:
    """Serve an agent's memory to a client of the Model Context Protocol (MCP): an assistant, an editor.

    Tools: remember, recall, ask, why, reflect, plan, correct, forget. They work on this agent only; no argument names
    another. Over HTTP whoever reaches the port has the whole memory, so it is served to this machine only, and to no
    web page, unless told otherwise.
    """
    import anyio

    from graphmem import AsyncMemory
    from graphmem.errors import InvalidInput
    from graphmem.interfaces.mcp.serve import Address, require_sdk, serve_http, serve_stdio

    require_sdk()
    if not http and (allow_host or allow_origin):
        raise InvalidInput("--allow-host and --allow-origin are for HTTP", remedy="add --http")
    address = Address(host, port, tuple(allow_host or ()), tuple(allow_origin or ()))

    async def serve() -> None:
        with cli.progress() as progress:
            memory = await AsyncMemory.open(settings=cli.settings, progress=progress.step)
        async with memory:
            handle = memory.agent(agent)
            if http:
                told = f"{cli.where(memory, agent)} is served at {address.url}"
                await serve_http(handle, address, ready=lambda: cli.note(told))
            else:
                await serve_stdio(handle)

    anyio.run(serve)
