"""Who knows what, and from whom, as text and as a picture."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

from graphmem.models.diffusion import Density, Diffusion, Knowing
from graphmem.views.diagram import Diagram, Line, Look, Node
from graphmem.views.pictures import PictureFormat, dot, mermaid, page
from graphmem.views.text import counted, moment, shortened

_TEXT = 80
_REASON = 96
_WIDTH = 32
_UNAWARE = 10
"""Agents that know nothing of it, from which on they are only counted."""


def spreading(found: Diffusion, format: PictureFormat) -> str:
    """Draw how a fact spread: an agent a node, coloured by how far it came, and who told whom.

    Raises:
        MissingExtra: For ``html``, when the extra ``pictures`` is not installed.
    """
    keys = {one.agent_id: f"n{number}" for number, one in enumerate(found.agents)}
    nodes = [_node(one, keys[one.agent_id]) for one in found.agents]
    lines = [
        Line(keys[one.heard_from], keys[one.agent_id], "told")
        for one in found.agents
        if one.heard_from is not None and one.heard_from in keys
    ]
    writers: dict[PictureFormat, Callable[[Diagram], str]] = {"mermaid": mermaid, "dot": dot, "html": page}
    return writers[format](Diagram(tuple(nodes), tuple(lines), left_out=0))


def _node(one: Knowing, key: str) -> Node:
    look: Look = "origin" if one.origin and one.stage == "heard" else one.stage
    lines = [*textwrap.wrap(shortened(one.reason, _REASON), _WIDTH)] if one.reason else []
    if one.way:
        lines += textwrap.wrap(f"{moment(one.way[0].at)}: {shortened(one.way[0].text, _TEXT)}", _WIDTH)
    return Node(key, look, f"{shortened(one.name, _WIDTH)}: {_stage(one)}", tuple(lines), None)


def _stage(one: Knowing) -> str:
    return f"origin, {one.stage}" if one.origin and one.stage != "heard" else "origin" if one.origin else one.stage


def told(found: Diffusion) -> list[str]:
    """How a fact spread, in lines."""
    lines = [f"it began with {step.agent_id}: {shortened(step.text, _TEXT)} ({step.id})" for step in found.origins]
    names = {one.agent_id: one.name for one in found.agents}
    unaware = [one for one in found.agents if one.stage == "unaware"]
    for one in found.agents:
        if one.stage == "unaware" and len(unaware) > _UNAWARE:
            continue
        from_ = f" from {names.get(one.heard_from, one.heard_from)}" if one.heard_from is not None else ""
        when = f" at {moment(one.heard_at)} UTC" if one.heard_at is not None else ""
        reason = f": {shortened(one.reason, _REASON)}" if one.reason else ""
        lines.append(f"{one.name}  {_stage(one)}{from_}{when}{reason}")
        for number, step in enumerate(one.way):
            who = names.get(step.agent_id, step.agent_id)
            lines.append(f"    {'<- ' if number else ''}{who}: {shortened(step.text, _TEXT)}")
    if len(unaware) > _UNAWARE:
        lines.append(f"{counted(len(unaware), 'agent')} unaware: nobody told them")
    counts = ", ".join(f"{len(found.reached(stage))} {stage}" for stage in ("heard", "willing", "planned", "attended"))
    lines.append(f"of {counted(len(found.agents), 'agent')}: {counts}")
    lines.append(f"{counted(len(found.claims), 'claim')}, {len(found.hallucinated)} without a source in the graph")
    lines.append(f"network density: {_density(found.before)} before, {_density(found.after)} after")
    return lines


def _density(density: Density) -> str:
    return f"{density.value:.3f}"
