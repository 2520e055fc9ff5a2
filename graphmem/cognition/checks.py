"""The invariants, as queries that find what breaks them."""

from __future__ import annotations

from graphmem.cognition.engine import Engine
from graphmem.graph.queries import queries
from graphmem.models import Violation


async def check(engine: Engine, agent_id: str) -> tuple[Violation, ...]:
    """Everything about an agent that breaks an invariant, by the name of the check under ``cypher/check/``."""
    found: list[Violation] = []
    for name in sorted(name for name in queries if name.startswith("check/")):
        rule = name.removeprefix("check/")
        for row in await engine.store.query(name, agentId=agent_id):
            found.append(Violation(rule=rule, agent_id=row["agentId"], id=row["id"], problem=row["problem"]))
    return tuple(found)
