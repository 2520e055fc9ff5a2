"""What is known by a moment: a plan is made from what the agent had recorded by then, whatever it came to know later.

Days are planned to the minute, so what was recorded within the minute of the call is known.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from graphmem.cognition.engine import Engine


def by(now: datetime) -> datetime:
    """The last moment of the minute of a call."""
    return now.replace(second=0, microsecond=0) + timedelta(minutes=1, microseconds=-1)


async def later(engine: Engine, agent_id: str, now: datetime) -> int:
    """How many active observations and reflections were recorded after the minute of a call."""
    (row,) = await engine.store.query("plan/later", agentId=agent_id, knownBy=by(now))
    return row["later"]
