"""Serving an agent's memory over standard input and output, or over HTTP on this machine."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphmem.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from graphmem import AsyncAgent

PATH = "/mcp"


@dataclass(frozen=True, slots=True)
class Address:
    """Where to serve over HTTP, and whom to answer.

    A browser that is led to a name which resolves to this machine sends that name as ``Host``, and the page it shows as
    ``Origin``: other names than those expected are refused (DNS rebinding).
    """

    host: str
    port: int
    hosts: Sequence[str] = ()
    """Further names by which clients call this server, e.g. ``memory.example:8765``."""
    origins: Sequence[str] = ()
    """Web pages that may call it, e.g. ``https://app.example``."""

    def __post_init__(self) -> None:
        if not self.loopback and not self.hosts:
            raise InvalidInput(
                f"{self.host} can be reached from other machines, and whoever reaches it has the whole memory",
                remedy="serve on 127.0.0.1, or name each address that clients call with --allow-host, behind a proxy"
                " that asks who they are",
            )

    @property
    def loopback(self) -> bool:
        """Whether only this machine reaches it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"http://{_bracketed(self.host)}:{self.port}{PATH}"

    @property
    def expected_hosts(self) -> list[str]:
        """What ``Host`` may say."""
        names = {_bracketed(self.host), "localhost", "127.0.0.1", "[::1]"} if self.loopback else set[str]()
        return sorted({f"{name}:{self.port}" for name in names} | set(self.hosts))

    @property
    def expected_origins(self) -> list[str]:
        """What ``Origin`` may say, where there is one."""
        return sorted({f"http://{host}" for host in self.expected_hosts} | set(self.origins))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def require_sdk() -> None:
    """Say at once what is missing, before a store is opened.

    Raises:
        MissingExtra: When the extra ``mcp`` is not installed.
    """
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise MissingExtra("the MCP SDK is not installed", remedy="pip install 'graphmem[mcp]'")


async def serve_stdio(agent: AsyncAgent) -> None:
    """Serve one client over standard input and output until it hangs up."""
    await _server(agent).run_stdio_async()


async def serve_http(agent: AsyncAgent, address: Address, *, ready: Callable[[], None]) -> None:
    """Serve any number of clients over streamable HTTP until interrupted.

    Args:
        agent: Whose memory all of them get.
        address: Where.
        ready: Called once clients can connect.

    Raises:
        InvalidInput: When the address cannot be served on.
    """
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready()

    app = _server(agent).streamable_http_app(
        streamable_http_path=PATH,
        host=address.host,
        transport_security=TransportSecuritySettings(
            allowed_hosts=address.expected_hosts, allowed_origins=address.expected_origins
        ),
    )
    # Without a configuration of its own uvicorn logs as everything here does, to standard error.
    config = uvicorn.Config(app, host=address.host, port=address.port, log_config=None, access_log=False)
    try:
        await Server(config).serve()
    except SystemExit as error:  # how uvicorn says that it cannot listen; it has logged why
        raise InvalidInput(
            f"port {address.port} of {address.host} cannot be served on", remedy="choose another one with --port"
        ) from error


def _server(agent: AsyncAgent) -> MCPServer[Any]:
    from graphmem.interfaces.mcp.server import make_server

    return make_server(agent)
