"""Looking at the graph in Neo4j Browser: ready queries (``cypher/browser/``), and its address with one filled in."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from graphmem.errors import InvalidInput
from graphmem.graph.queries import DIALECT, queries

_AREA = "browser/"


def browser_queries() -> dict[str, str]:
    """The ready queries: what each shows, in a sentence."""
    found = {name.removeprefix(_AREA): query for name, query in queries.items() if name.startswith(_AREA)}
    return {name: _first_sentence(query.description) for name, query in found.items()}


def _first_sentence(description: str) -> str:
    lines = description.splitlines()
    told = lines[: next((at for at, line in enumerate(lines) if line.startswith(":param")), len(lines))]
    return " ".join(told)


def browser_query(name: str, *, agents: Sequence[str] = (), id: str | None = None) -> str:
    """A ready query with the ids in place of its parameters, to be run as it stands.

    Args:
        name: One of :func:`browser_queries`.
        agents: Whose memories it shows.
        id: Which memory, or which run.

    Raises:
        InvalidInput: When there is no such query, or it needs other things than were given.
    """
    if (query := queries.get(_AREA + name)) is None:
        raise InvalidInput(
            f"there is no query {name!r} for Neo4j Browser", remedy=f"choose one of {', '.join(browser_queries())}"
        )
    given: dict[str, str | Sequence[str]] = {}
    if "agentIds" in query.parameters:
        given["agentIds"] = tuple(agents)
    elif len(agents) != 1:
        raise InvalidInput(f"{name} shows the memories of one agent", remedy="name it: --agent ID")
    else:
        given["agentId"] = agents[0]
    if "id" in query.parameters:
        if id is None:
            what = "run" if name == "run" else "memory"
            raise InvalidInput(f"{name} shows one {what}", remedy=f"name it: graphmem browser {name} ID --agent …")
        given["id"] = id
    elif id is not None:
        raise InvalidInput(f"{name} is not about one memory", remedy="leave the id out")
    filled = query.filled(given)
    if given.get("agentIds") == ():
        # No agent named: of all. The condition is a line of its own, and left out rather than made always true.
        lines = zip(query.text.removeprefix(DIALECT).splitlines(), filled.splitlines(), strict=True)
        filled = "\n".join(shown for line, shown in lines if "$agentIds" not in line)
    return filled


def browser_address(browser_url: str, query: str) -> str:
    """Browser's address with a query filled in; it has no password."""
    return f"{browser_url}&cmd=edit&arg={quote(query, safe='')}"
