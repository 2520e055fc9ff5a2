"""Between the graph's camelCase rows and the values of :mod:`graphmem.models`; the only place that knows both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from typing import Any

from pydantic.alias_generators import to_snake

from graphmem.clock import in_zone
from graphmem.errors import StoreInconsistent
from graphmem.graph.store import Row
from graphmem.models import AgentInfo, NewObservation, Observation, Plan, Reflection, Refused, RunInfo, StoreInfo
from graphmem.models.places import Place, Whereabouts, kind_of

_TYPES = {"Observation": Observation, "Reflection": Reflection, "Plan": Plan}


def to_memory(row: Row) -> Observation | Reflection | Plan:
    """Build a memory from a row with ``memory`` (its properties) and ``labels``."""
    kinds = [model for label, model in _TYPES.items() if label in row["labels"]]
    if len(kinds) != 1:
        raise StoreInconsistent(
            f"memory {row['memory'].get('id')!r} has the labels {row['labels']}",
            remedy="it was changed by hand: give it exactly one of Observation, Reflection and Plan beside Memory",
        )
    model = kinds[0]
    properties = {to_snake(name): value for name, value in row["memory"].items()}
    if model is Plan and (zone := properties.get("time_zone")) is not None:
        # Whoever plans looks at the clock of where it lives.
        properties |= {name: in_zone(properties[name], zone) for name in ("start", "end")}
    return model.model_validate({name: properties[name] for name in model.model_fields if name in properties})


def to_agent(row: Row) -> AgentInfo:
    """Build an agent's description from a row of ``agent/info``."""
    values = {to_snake(name): value for name, value in {**row, **row["agent"]}.items()}
    return AgentInfo.model_validate({name: values[name] for name in AgentInfo.model_fields if name in values})


def to_store(uri: str, database: str, rows: Iterable[Row], agents: Collection[AgentInfo]) -> StoreInfo:
    """Build a store's description from the rows of ``store/server`` and ``store/schema``, and its agents."""
    values = {to_snake(name): value for row in rows for name, value in row.items()}
    held = sum(agent.observations + agent.reflections + agent.plans for agent in agents)
    return StoreInfo(uri=uri, database=database, agents=len(agents), memories=held, **values)


def to_run(properties: dict[str, Any]) -> RunInfo:
    """Build a run from its node's properties."""
    values = {to_snake(name): value for name, value in properties.items()}
    values["refused"] = refused_from(values.get("refused"))
    return RunInfo.model_validate({name: values[name] for name in RunInfo.model_fields if name in values})


def to_place(properties: dict[str, Any]) -> Place:
    """Build a place from its node's properties; one that was imported has no kind, and is what its level says."""
    values = {to_snake(name): value for name, value in properties.items() if value is not None}
    values.setdefault("kind", kind_of(values["path"]))
    return Place.model_validate({name: values[name] for name in Place.model_fields if name in values})


def to_whereabouts(properties: dict[str, Any]) -> Whereabouts:
    """Build where an agent is from its node's properties."""
    values = {to_snake(name): value for name, value in properties.items() if value is not None}
    return Whereabouts.model_validate({name: values[name] for name in Whereabouts.model_fields if name in values})


def refused_to(refused: tuple[Refused, ...]) -> list[str]:
    """Refused items as a property: a list of JSON strings, since Neo4j has no maps in properties."""
    return [item.model_dump_json() for item in refused]


def refused_from(values: list[str] | None) -> tuple[Refused, ...]:
    """The reverse of :func:`refused_to`."""
    return tuple(Refused.model_validate_json(value) for value in values or ())


def digest(text: str) -> str:
    """SHA-256 in hexadecimal; long texts are indexed and compared by it."""
    return hashlib.sha256(text.encode()).hexdigest()


def content_hash(item: NewObservation) -> str:
    """Hash of what the caller gave, by which a second write under the same id is known or refused."""
    given = item.model_dump(mode="json", exclude_unset=True, exclude={"id"}, exclude_none=True)
    return digest(json.dumps(given, sort_keys=True, ensure_ascii=False))


def scope_token(agent_id: str) -> str:
    """An agent's word in the full-text index: letters around hexadecimal digits, so that stemming leaves it alone."""
    return f"s{digest(agent_id)[:24]}0"
