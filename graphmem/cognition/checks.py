"""The invariants, as queries that find what breaks them."""

from __future__ import annotations

from graphmem.cognition.engine import Engine
from graphmem.graph.queries import queries
from graphmem.graph.store import Row, Transaction
from graphmem.graph.values import ALWAYS
from graphmem.models import Violation

REMEDIES = {
    "archived": "take it out again: graphmem unarchive {id} --agent {agent}",
    "causes": "it explains and decides nothing; where the memory is stale: graphmem recompute --agent {agent}",
    "depth": "set it in Neo4j Browser: MATCH (m:Memory {{agentId: …, id: …}}) SET m.depth = the number told",
    "entities": "undo what was changed by hand in the database, or go back to a backup",
    "ended": "undo what was changed by hand in the database, or go back to a backup",
    "grounds": "stop believing it: graphmem retract {id} --agent {agent}",
    "held": "set it in Neo4j Browser: MATCH (a:Agent {{id: …}}) SET a.held = the number that it holds",
    "keys": "retract the wrong values with: graphmem retract {id} --agent {agent}, and observe the right one again",
    "labels": "set them in Neo4j Browser: MATCH (m:Memory {{agentId: …, id: …}}) SET or REMOVE m:Stale:Ended:Archived",
    "scope": "delete that relationship in Neo4j Browser: only HEARD_FROM may join two agents",
    "staleness": "where stale: graphmem recompute --agent {agent}; where active: graphmem retract {id} --agent {agent}",
    "steps": "undo what was changed by hand in the database, or go back to a backup",
    "supersession": "delete the SUPERSEDES that is wrong, in Neo4j Browser",
    "whole": "set what is missing in Neo4j Browser, or go back to a backup",
}
"""What to do about each violation, by the name of its check."""


async def check(engine: Engine, agent_id: str) -> tuple[Violation, ...]:
    """Everything about an agent that breaks an invariant, by the name of the check under ``cypher/check/``."""
    rules = sorted(name.removeprefix("check/") for name in queries if name.startswith("check/"))

    always = {kind: sorted(names) for kind, names in ALWAYS.items()}

    async def body(tx: Transaction) -> list[tuple[str, Row]]:
        rows: list[tuple[str, Row]] = []
        for rule in rules:
            takes = queries[f"check/{rule}"].parameters
            given = {"agentId": agent_id, "always": always}
            found = await tx.run(f"check/{rule}", **{name: value for name, value in given.items() if name in takes})
            rows += [(rule, row) for row in found]
        return rows

    found: list[Violation] = []
    for rule, row in await engine.store.read(body):
        remedy = REMEDIES[rule].format(agent=agent_id, id=row["id"])
        found.append(Violation(rule=rule, agent_id=row["agentId"], id=row["id"], problem=row["problem"], remedy=remedy))
    return tuple(found)
