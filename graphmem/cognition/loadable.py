"""Whether an export can be stored: all of it is read once, and held against what the verbs could have written."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

from pydantic import ValidationError

from graphmem.cognition.engine import checked_id
from graphmem.embedding.base import Embedder, usable
from graphmem.errors import InvalidInput
from graphmem.graph import exported
from graphmem.graph.exported import Line, Reference
from graphmem.graph.records import to_memory
from graphmem.graph.shapes import EDGES, NODES, problem
from graphmem.graph.store import Row

HEARD = "HEARD_FROM"
"""The relationship that leads to another agent."""
JOINS = {
    ("memory", "memory"): "load/memory_memory",
    ("memory", "run"): "load/memory_run",
    ("run", "memory"): "load/run_memory",
    ("change", "memory"): "load/change_memory",
    ("place", "place"): "load/place_place",
}
"""By what they join, the statements that store relationships."""
_TYPES = frozenset({"Observation", "Reflection", "Plan"})
_OTHER_LABELS = frozenset({"Stale", "Ended", "Archived"})
_SHOWN = 60


@dataclass
class Checked:
    """What the reading found."""

    digest: str = ""
    """SHA-256 of the file, in hexadecimal."""
    agents: dict[str, str] = field(default_factory=dict[str, str])
    """The agents' ids: in the file, and here."""


@dataclass
class _Agent:
    """What must be known of an agent to check what follows."""

    id: str
    revision: int
    nodes: dict[Reference, str] = field(default_factory=dict[Reference, str])
    """By node, its label or kind."""
    rests: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """What rests on what, with the line that says so."""
    supersedes: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])


def checked(file: Path, prefix: str, embedder: Embedder) -> Checked:
    """Read all of the file and refuse it where anything is wrong; of each agent only ids are kept.

    Raises:
        InvalidInput: When the file is none or damaged; the line, the record and its field are named.
        OSError: When it cannot be read.
    """
    found = Checked()
    digest = hashlib.sha256()
    agents: dict[str, _Agent] = {}
    agent: _Agent | None = None
    with file.open("rb") as stream:
        for line in exported.read(stream, digest.update):
            match line.kind:
                case "head":
                    continue
                case "end":
                    if line.data.get("lines") != line.number:
                        raise line.damaged(f"the export had {line.data.get('lines')} lines, this one included")
                case "agent":
                    _end(agent)
                    agent = _agent(line)
                    if agent.id in agents:
                        raise line.damaged(f"the agent {agent.id!r} stands in the file twice")
                    found.agents[agent.id] = _own_id(line, f"{prefix}{agent.id}")
                    agents[agent.id] = agent
                case "relationship" if line.name() == HEARD:
                    _heard(line, agents)
                case _ if agent is None:
                    raise line.damaged("stands before the first agent")
                case "relationship":
                    _relationship(line, agent)
                case _:
                    _node(line, agent, embedder)
    _end(agent)
    found.digest = digest.hexdigest()
    return found


def _own_id(line: Line, id_: str) -> str:
    try:
        return checked_id(id_, "agent")
    except InvalidInput as error:
        raise line.damaged(str(error)) from error


def _hold(line: Line, row: Row, shape: str, name: str) -> None:
    """Hold properties against the shape of their kind."""
    if wrong := problem(NODES[shape], row):
        raise line.damaged(f"the {line.kind} {name}: {wrong}")


# --- nodes ------------------------------------------------------------------------------------------------------


def _agent(line: Line) -> _Agent:
    id_, row = line.text("id"), line.properties()
    _hold(line, row, "agent", repr(id_[:_SHOWN]))
    if row["id"] != id_:
        raise line.damaged(f"the agent {id_[:_SHOWN]!r}: id: is {row['id'][:_SHOWN]!r} among its properties")
    return _Agent(id_, row.get("revision", 0))


def _node(line: Line, agent: _Agent, embedder: Embedder) -> None:
    row = line.properties()
    shape = _type_of(line) if line.kind == "memory" else line.kind
    known = {"change": "seq", "place": "path"}.get(line.kind, "id")
    _hold(line, row, shape, repr(row.get(known))[:_SHOWN])
    id_ = f"{row['seq']}.{row['ordinal']}" if line.kind == "change" else row[known]
    if line.kind == "memory":
        _memory(line, row, embedder)
    if line.kind == "change" and row["seq"] > agent.revision:
        raise line.damaged(f"the change {id_}: seq: is beyond the revision of the agent, {agent.revision}")
    if (line.kind, id_) in agent.nodes:
        raise line.damaged(f"the {line.kind} {id_!r} of agent {agent.id!r} stands there twice")
    agent.nodes[line.kind, id_] = shape


def _type_of(line: Line) -> str:
    """Which of the three kinds of memory it is."""
    labels = set(line.labels())
    types = labels & _TYPES
    if len(types) != 1 or labels - _TYPES - _OTHER_LABELS:
        raise line.damaged(f"a memory cannot have the labels {sorted(labels)}")
    return types.pop()


def _memory(line: Line, row: Row, embedder: Embedder) -> None:
    """Refuse a memory that cannot be read back, or whose vector cannot be ranked."""
    try:
        to_memory({"memory": {**row, "agentId": "-"}, "labels": ["Memory", *line.labels()]})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise line.damaged(f"the memory {row['id'][:_SHOWN]!r}: {where}: {first['msg']}") from error
    except OverflowError as error:
        raise line.damaged(f"the memory {row['id'][:_SHOWN]!r}: start, end: no time of its time zone") from error
    vector = line.vector()
    if vector is not None and row.get("embeddingModel") == embedder.name and not usable(vector, embedder.dimension):
        raise line.damaged(f"the vector is not one of {embedder.name}")


# --- relationships ----------------------------------------------------------------------------------------------


def _relationship(line: Line, agent: _Agent) -> None:
    name, start, end = line.name(), line.reference("from"), line.reference("to")
    if (start[0], end[0]) not in JOINS:
        raise line.damaged(f"a {start[0]} cannot be joined with a {end[0]}")
    for node in (start, end):
        if node not in agent.nodes:
            raise line.damaged(f"there is no {node[0]} {node[1]!r} before it")
    row = _properties(line, name, agent.nodes[start], agent.nodes[end])
    joined = start[1], end[1]
    if (row.get("until") is None and name in ("CITES", "DERIVED_FROM")) or row.get("part"):
        agent.rests[joined] = line.number
    elif name == "SUPERSEDES" and (row.get("revokedAt") is None or start == end):
        agent.supersedes[joined] = line.number
    elif name == "IN" and not start[1].startswith(f"{end[1]}:"):
        raise line.damaged(f"the IN from {start[1]!r} to {end[1]!r}: that is not the place around it")


def _properties(line: Line, name: str, start: str, end: str | None) -> Row:
    """The properties of a relationship that may lead from the one to the other; None: to any memory."""
    edge, row = EDGES.get(name), line.properties()
    if edge is None:
        raise line.damaged(f"there is no relationship {name[:_SHOWN]!r}")
    if start not in edge.starts or (end is not None and end not in edge.ends):
        raise line.damaged(f"a {name} cannot lead from {start} to {end}")
    if wrong := problem(edge.shape, row):
        raise line.damaged(f"the {name} from {line.reference('from')[1][:_SHOWN]!r}: {wrong}")
    return row


def _heard(line: Line, agents: dict[str, _Agent]) -> None:
    agent, start, end = line.text("agent"), line.reference("from"), line.reference("to")
    listener = agents.get(agent)
    if listener is None or start not in listener.nodes or start[0] != "memory":
        raise line.damaged(f"agent {agent!r} has no {start[0]} {start[1]!r} before it")
    if len(end) != 3 or end[0] != "memory" or end[2] == agent:
        raise line.damaged("what was heard is a memory of another agent")
    for id_, kind in ((end[1], "memory"), (end[2], "agent")):
        try:
            checked_id(id_, kind)
        except InvalidInput as error:
            raise line.damaged(f"the {HEARD} from {start[1][:_SHOWN]!r}: to: {error}") from error
    _properties(line, HEARD, listener.nodes[start], None)


def _end(agent: _Agent | None) -> None:
    """Refuse an agent of whose memories some rest on themselves, or supersede themselves."""
    if agent is None:
        return
    for edges, what in ((agent.rests, "rest on"), (agent.supersedes, "supersede")):
        sorter: TopologicalSorter[str] = TopologicalSorter()
        for source, target in edges:
            sorter.add(source, target)
        try:
            sorter.prepare()
        except CycleError as error:
            # Each of these is a predecessor, that is a target, of the next one.
            circle: list[str] = error.args[1]
            number = max(edges[source, target] for target, source in pairwise(circle))
            names = " and ".join(repr(id_[:_SHOWN]) for id_ in circle[:3])
            wrong = f"memories of agent {agent.id!r} {what} themselves in a circle: {names}"
            raise exported.damaged(number, wrong) from error
