"""A day's plan as lines: blocks, hours and steps, in the clock times of the agent."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from graphmem.models import Plan
from graphmem.views.text import one_line, short_ids, shortened

if TYPE_CHECKING:
    from rich.text import Text

_INDENT = {"day": "", "hour": "  ", "step": "    "}
_TEXT = 90
_STYLES = {"active": "bold green", "done": "dim", "missed": "yellow", "dropped": "yellow"}


def clock(moment: datetime, zone: str) -> str:
    """A moment as the agent's clock shows it: ``07:30``."""
    return f"{moment.astimezone(ZoneInfo(zone)):%H:%M}"


def when(plan: Plan) -> str:
    """From when to when a plan is, by the clock of where its agent lives: it carries the offset itself."""
    same = plan.start.date() == plan.end.date()
    end = f"{plan.end:%H:%M}" if same else f"{plan.end:%Y-%m-%d %H:%M}"
    return f"{plan.start:%Y-%m-%d %H:%M} to {end} ({plan.time_zone or 'UTC'})"


def plan_line(plan: Plan, zone: str, ids: dict[str, str]) -> Text:
    """One plan: from when to when, what, where, and what became of it."""
    from rich.text import Text

    indent = _INDENT[plan.kind]
    line = Text(f"{indent}{clock(plan.start, zone)}–{clock(plan.end, zone)}  ", style="dim" if indent else "")
    line.append(shortened(plan.text, _TEXT), _STYLES.get(plan.state, "" if indent else "bold"))
    if plan.place:
        line.append(f"  @ {shortened(plan.place, _TEXT)}", "cyan")
    if plan.state != "planned":
        line.append(f"  {plan.state}", _STYLES.get(plan.state, ""))
        if plan.reason:
            line.append(f" ({shortened(plan.reason, _TEXT)})")
    if plan.status == "stale":
        line.append("  stale", "yellow")
    line.append(f"  {ids.get(plan.id, one_line(plan.id))}", "dim")
    return line


def day_lines(plans: Sequence[Plan], zone: str) -> list[Text]:
    """The plans of a day, in order; a whole that is all one part of itself is one line."""
    ids = short_ids(plan.id for plan in plans)
    shown: list[Plan] = []
    for plan in plans:
        same = shown and (shown[-1].text, shown[-1].start, shown[-1].end) == (plan.text, plan.start, plan.end)
        if not same:
            shown.append(plan)
    return [plan_line(plan, zone, ids) for plan in shown]
