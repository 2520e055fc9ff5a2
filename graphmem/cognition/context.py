"""Working context: who the agent is and what it knows that matters to a task, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphmem.cognition.engine import Engine
from graphmem.cognition.retrieve import checked_query, search, touch_all
from graphmem.cognition.selection import shown, tokens
from graphmem.errors import InvalidInput
from graphmem.models import RECALL, AnyMemory, Hit, Profile
from graphmem.models.context import Context

_LOOKED_AT = 60
"""Memories among which those that fit are chosen."""
_SECTIONS = {
    "plan": "It intends (not done unless it says so):",
    "reflection": "It has inferred:",
    "fact": "It knows:",
    "observation": "It has seen or heard:",
}
"""A reader is always told the kind: an intention must never read as done, nor an inference as seen."""


async def context(
    engine: Engine,
    agent_id: str,
    task: str,
    *,
    token_budget: int = 1500,
    profile: Profile = RECALL,
    touch: bool = True,
    now: object = None,
) -> Context:
    """What a prompt about a task needs: never more than the budget; what stayed outside is named.

    Raises:
        InvalidInput: When the task is no text, or the budget has no room even for who the agent is.
        EmbeddingError: When the task cannot be embedded.
    """
    checked_query(task)
    if isinstance(token_budget, bool) or not isinstance(token_budget, int) or token_budget < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"token_budget: {token_budget!r} is not a whole number from 1 up")
    rows = await engine.store.query("agent/info", agentId=agent_id)
    who: dict[str, str | None] = rows[0]["agent"] if rows else {}
    at = await engine.now(agent_id, now)
    hits = await search(engine, agent_id, task, k=_LOOKED_AT, profile=profile, now=at)
    head = _head(agent_id, who)
    if tokens(head) > token_budget:
        raise InvalidInput(
            f"token_budget: {token_budget} tokens have no room for who the agent is ({tokens(head)})",
            remedy="give a larger budget, or shorter traits with configure",
        )
    kept: list[Hit] = []
    left_out: list[str] = []
    for hit in hits:
        if tokens(_text(head, [*kept, hit])) <= token_budget:
            kept.append(hit)
        else:
            left_out.append(hit.memory.id)
    text = _text(head, kept)
    if touch and kept:
        await touch_all(engine, agent_id, [hit.memory.id for hit in kept], at)
    return Context(
        agent_id=agent_id,
        task=task,
        text=text,
        hits=tuple(kept),
        left_out=tuple(left_out),
        tokens=tokens(text),
        considered=hits.considered,
        withheld_stale=hits.withheld_stale,
        now=at,
    )


def _head(agent_id: str, who: Mapping[str, str | None]) -> str:
    told = who.get("traits")
    traits = f": {told.rstrip('.')}" if told else ""
    return f"This is the memory of {who.get('name') or agent_id}{traits}."


def _text(head: str, hits: Iterable[Hit]) -> str:
    by_section: dict[str, list[AnyMemory]] = {}
    for hit in hits:
        by_section.setdefault(_section(hit.memory), []).append(hit.memory)
    parts = [head]
    for section, title in _SECTIONS.items():
        if memories := by_section.get(section):
            ordered = sorted(memories, key=lambda memory: (memory.occurred_at, memory.id))
            parts.append("\n".join([title, *map(_line, ordered)]))
    return "\n\n".join(parts)


def _section(memory: AnyMemory) -> str:
    return "fact" if memory.kind == "fact" else memory.type


def _line(memory: AnyMemory) -> str:
    """One memory on one line: its id to cite, when, and the text, in which a line break could pass for another."""
    state = f" ({memory.state})" if memory.type == "plan" else ""
    return f"- [{memory.id}] {memory.occurred_at:%Y-%m-%d %H:%M}{state} {' '.join(shown(memory).split())}"
