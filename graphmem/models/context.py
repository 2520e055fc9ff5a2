"""Working context: what a prompt needs of a memory."""

from __future__ import annotations

from datetime import datetime

from graphmem.models.retrieval import Hit
from graphmem.models.values import Value


class Context(Value):
    """What an agent should have in mind for a task, ready to be put into a prompt."""

    agent_id: str
    task: str
    text: str
    """Who the agent is, and its memories by kind, each with its id in brackets to be cited by."""
    hits: tuple[Hit, ...]
    """The memories in ``text``, best first."""
    left_out: tuple[str, ...]
    """Ids of relevant memories that did not fit, best first; bring them in with ``agent.get(id)``."""
    tokens: int
    """Estimated tokens of ``text``, never above the budget."""
    considered: int
    """How many memories the agent holds; ``agent.retrieve(…, k=…)`` looks for others."""
    withheld_stale: int
    now: datetime
