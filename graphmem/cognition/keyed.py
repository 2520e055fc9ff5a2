"""Keyed facts: observations of one agent with the same key are about the same thing, and the latest of them holds.

They are ordered by when they happened, then by id, whatever the order in which they arrive. Each is superseded by the
next; one that was retracted, or corrected by the caller, is left out. A forgotten one keeps its place. What arrives
late ends, or is ended, when the agent had both (:mod:`graphmem.cognition.restated`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, zip_longest

from graphmem.cognition import truth
from graphmem.cognition.restated import Course, ahead, restated
from graphmem.graph.records import scope_token
from graphmem.graph.store import Row, Transaction

_REASON = "a later value of the same key"
_RESTORED = "no later value of the same key holds"


@dataclass(frozen=True)
class Span:
    """Where in the order of a key something changed."""

    key: str
    since: datetime
    until: datetime


def spans(placed: Iterable[tuple[str, datetime]]) -> list[Span]:
    """For each key, from the first to the last of these times."""
    found: dict[str, Span] = {}
    for key, at in placed:
        span = found.get(key, Span(key, at, at))
        found[key] = Span(key, min(span.since, at), max(span.until, at))
    return [found[key] for key in sorted(found)]


@dataclass
class _Plan:
    """What has to change so that each value is superseded by the next and the last one holds."""

    ended: list[str]
    links: list[Row]
    revived: list[tuple[str, str | None]]
    """Values that hold again, each with what had superseded it."""
    latest: list[str]
    """Values that hold, the last of their keys."""


def _plan(rows: Sequence[Row]) -> _Plan:
    plan = _Plan([], [], [], [])
    for _, values in groupby(rows, key=lambda row: row["key"]):
        standing = [row for row in values if row["standing"]]
        for row, following in zip_longest(standing, standing[1:]):
            if row["after"]:
                continue  # Nothing changed at it, nor after it.
            newer = following["id"] if following else None
            if row["newer"] != newer:
                plan.links.append({"older": row["id"], "newer": newer})
            if newer and row["held"]:
                plan.ended.append(row["id"])
            if newer is None and not row["forgotten"]:
                plan.latest.append(row["id"])
                if not row["held"]:
                    plan.revived.append((row["id"], row["newer"]))
    return plan


@dataclass(frozen=True)
class Settled:
    """What became of the keys."""

    changed: tuple[str, ...] = ()
    """Memories above which staleness must be looked at again."""
    revived: tuple[str, ...] = ()
    """Earlier values that hold again."""
    ended: tuple[str, ...] = ()
    """Values that a later one superseded."""
    latest: tuple[str, ...] = ()
    """Values that hold, the last of their keys."""
    revision: truth.Revision | None = None
    """Under which it is logged; None where nothing changed."""


async def settle(
    tx: Transaction,
    agent_id: str,
    where: Sequence[Span],
    now: datetime,
    *,
    by: str,
    revision: truth.Revision | None = None,
    arrived: bool = False,
) -> Settled:
    """Restore the order of keys where values were written, ended or restored; the agent is locked.

    A revision is begun unless one is given, but only when a belief changes. Relabelling is left to the caller.
    ``arrived``: nothing happened but that values arrived, all of them now.
    """
    if not where:
        return Settled(revision=revision)
    told = [{"key": span.key, "since": span.since, "until": span.until} for span in where]
    rows = await tx.run("keyed/window", agentId=agent_id, spans=told)
    plan = _plan(rows)
    late = await ahead(tx, agent_id, [span.key for span in where], now)
    of_late = [span for span in told if span["key"] in late]
    courses = {course.id: course for course in await restated(tx, agent_id, of_late, now, arrived=arrived)}
    if not (plan.links or plan.ended or plan.revived or courses):
        return Settled(revision=revision)
    revision = revision or await truth.begin(tx, agent_id, now)
    if plan.ended:
        await truth.end_all(tx, revision, plan.ended, "superseded", cause="key")
    moved: list[Row] = []
    for id_, newer in plan.revived:
        await tx.run("truth/revive", agentId=agent_id, id=id_, scopeToken=scope_token(agent_id))
        if newer:
            moved += await tx.run("truth/move_back", agentId=agent_id, restored=id_, newer=newer, now=now)
    await _log(tx, revision, plan, courses, now, by)
    if courses:
        ends = [{"id": c.id, "at": c.ended, "before": c.ended_before} for c in courses.values() if c.ended is not None]
        await tx.run("keyed/date", agentId=agent_id, ends=ends)
    if plan.links:
        links = [{**link, "at": _ended(courses.get(link["older"])) or now} for link in plan.links]
        await tx.run("keyed/link", agentId=agent_id, links=links, now=now, reason=_REASON, by=by)
    moved += await tx.run("keyed/move", agentId=agent_id, ids=plan.latest, now=now)
    revived = tuple(id_ for id_, _ in plan.revived)
    return Settled(
        changed=(*plan.ended, *revived, *plan.latest, *(row["id"] for row in moved)),
        revived=revived,
        ended=tuple(plan.ended),
        latest=tuple(plan.latest),
        revision=revision,
    )


def _ended(course: Course | None) -> datetime | None:
    return course.ended if course is not None else None


async def _log(
    tx: Transaction, revision: truth.Revision, plan: _Plan, courses: Mapping[str, Course], now: datetime, by: str
) -> None:
    """Append what became of the values, each thing at its time: now, unless something is known that came later."""
    turns = [(now, id_, False) for id_ in plan.ended if id_ not in courses]
    turns += [(now, id_, True) for id_, _ in plan.revived if id_ not in courses]
    turns += sorted((at, course.id, held) for course in courses.values() for at, held in course.turns)
    if turns:
        await revision.log_all(
            tx,
            [(id_, "key:restored", _RESTORED) if held else (id_, "key:superseded", _REASON) for _, id_, held in turns],
            by=by,
            moments=[at for at, _, _ in turns],
        )
