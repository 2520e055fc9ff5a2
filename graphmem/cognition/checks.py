"""The invariants, as queries that find what breaks them."""

from __future__ import annotations

from graphmem.cognition.engine import Engine
from graphmem.graph.queries import queries
from graphmem.models import Violation


async def check(engine: Engine) -> tuple[Violation, ...]:
    """Everything in the database that breaks an invariant, by the name of the check under ``cypher/check/``."""
    found: list[Violation] = []
    for name in sorted(name for name in queries if name.startswith("check/")):
        rows = await engine.store.query(name)
        rule = name.removeprefix("check/")
        found += [Violation(rule=rule, agent_id=row["agentId"], id=row["id"], problem=row["problem"]) for row in rows]
    return tuple(found)
