"""Addresses of Neo4j: which are any, and why there is no connection to one."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Generator
from typing import cast

from graphmem.errors import InvalidSettings, StoreError, StoreUnavailable, UnsupportedServer

BOLT_PORT = "Bolt's port is 7687 unless it was changed"


def checked_address(uri: str) -> str:
    """An address that may be shown in messages and kept.

    Raises:
        InvalidSettings: When it holds a password, or is not one of Neo4j's.
    """
    scheme, separator, rest = uri.partition("://")
    if "@" in rest.partition("/")[0]:
        raise InvalidSettings(
            "the address of Neo4j has a user name or password in it",
            setting="uri",
            remedy=f"give {scheme}://{rest.rpartition('@')[2]}, and the account as GRAPHMEM_USER and GRAPHMEM_PASSWORD",
        )
    if not separator or scheme not in _SCHEMES:
        shown = f"bolt://{rest or uri}" if scheme not in ("http", "https") else "bolt://host:7687"
        raise InvalidSettings(
            f"{uri!r} is not a Neo4j address",
            setting="uri",
            remedy=f"use {shown}, or neo4j+s://… for Aura and clusters",
        )
    return uri


_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


def unreachable(error: BaseException, uri: str) -> StoreError:
    """Why there is no connection, by what lies under the driver's error."""
    causes = list(_causes(error))
    scheme, _, rest = uri.partition("://")
    told = " ".join(one_line(cause) for cause in causes)
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return StoreUnavailable(
                f"the certificate of {uri} is not trusted: {cause.verify_message}",
                remedy=f"have this machine trust its authority (SSL_CERT_FILE), or, if the server signed it itself, "
                f"use {scheme.partition('+')[0]}+ssc://{rest}",
            )
        if isinstance(cause, socket.gaierror):
            return StoreUnavailable(
                f"the host of {uri} is not known: {cause.strerror}", remedy="check the address and the network"
            )
    if "looks like HTTP" in told:
        return UnsupportedServer(
            f"{uri} is the port of a web server, such as Neo4j Browser's",
            remedy=f"use the Bolt port of that server; {BOLT_PORT}",
        )
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return StoreUnavailable(
            f"nothing listens at {uri}",
            remedy="start Neo4j there (the embedded one: graphmem up), or correct the address",
        )
    if any(type(cause).__name__ == "BoltSecurityError" for cause in causes):
        return StoreUnavailable(
            f"what listens at {uri} does not speak TLS",
            remedy=f"use {scheme.partition('+')[0]}://{rest} where the server has no encryption, or correct the port",
        )
    if "handshake" in told:
        return StoreUnavailable(
            f"what listens at {uri} does not speak Bolt, or only in TLS",
            remedy=f"{BOLT_PORT}; for a server with encryption use {scheme}+s://{rest}",
        )
    routed = "; behind a tunnel or a proxy use bolt:// in place of neo4j://" if scheme.startswith("neo4j") else ""
    return StoreUnavailable(
        f"no connection to Neo4j at {uri}: {one_line(error)}",
        remedy=f"check that the server runs (graphmem status) and that the address is right{routed}",
    )


def _causes(error: BaseException) -> Generator[BaseException]:
    """An error and all that lies under it, each once."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        cause = waiting.pop(0)
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        waiting += [cause.__cause__, cause.__context__]
        if isinstance(cause, BaseExceptionGroup):
            waiting += cast("BaseExceptionGroup[BaseException]", cause).exceptions


def one_line(value: object) -> str:
    """A text without line breaks."""
    return " ".join(str(value).split())
