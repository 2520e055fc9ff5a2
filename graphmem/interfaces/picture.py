"""The query that shows memories as a picture in Neo4j Browser, ready to run."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

_MOST_PATHS = 300
"""More than this Browser draws only slowly, and nobody can read it."""


def picture_query(agent_ids: Iterable[str]) -> str:
    """Cypher for what agents remember and believe, as paths; no agent: of all.

    It is for people to paste, so the ids stand in it; they are quoted and cannot end their strings.
    """
    quoted = ", ".join(_quoted(agent_id) for agent_id in agent_ids)
    where = f"WHERE memory.agentId IN [{quoted}] " if quoted else ""
    edges = "CITES|DERIVED_FROM|SUPERSEDES|STALE_BECAUSE"
    return f"MATCH path = (memory:Memory)-[:{edges}]->(:Memory) {where}RETURN path LIMIT {_MOST_PATHS}"


def picture_url(browser_url: str, query: str) -> str:
    """Browser's address with the query filled in."""
    return f"{browser_url}&cmd=edit&arg={quote(query, safe='')}"


def _quoted(text: str) -> str:
    """A Cypher string; what is not plain is written as its code, which also keeps terminals safe."""
    plain = (char if char.isprintable() and char not in "'\\" else f"\\u{ord(char):04x}" for char in text)
    return "'" + "".join(plain) + "'"
