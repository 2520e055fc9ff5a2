"""What planning, reacting and learning report."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from graphmem.models.memories import Observation, Plan, Reflection
from graphmem.models.runs import Refused
from graphmem.models.values import Value


class Adjusted(Value):
    """Something that a model planned and that was repaired or refused by a rule of the day's arithmetic."""

    rule: str
    """time | reversed | empty | skipped | past | overlap | gap | night | cut | minutes | over | meal | echo"""
    text: str
    """What was to be done."""
    reason: str
    refused: bool
    """Whether nothing is left of it."""


class PlanReport(Value):
    """What ``plan_day`` or ``replan`` did, and the plan of the day as it stands."""

    day: date
    """In the agent's time zone."""
    time_zone: str
    since: datetime | None = None
    """From when on it was planned by this call; None where it had been before."""
    plans: tuple[Plan, ...] = ()
    """All held plans of the day: blocks, hours and steps, by when they begin, the coarser first."""
    new: tuple[Plan, ...] = ()
    """What this call wrote."""
    superseded: tuple[Plan, ...] = ()
    """The old rest of the day, each replaced by one of the new blocks."""
    adjusted: tuple[Adjusted, ...] = ()
    refused: tuple[Refused, ...] = ()
    later: int = 0
    """Active memories that were recorded after the time of the call: a plan is made from what was known by then."""
    run_id: str | None = None


class CurrentPlan(Value):
    """What an agent has planned for a moment."""

    plan: Plan
    """The finest plan around the moment: a step, unless it could not be divided or is stale."""
    within: tuple[Plan, ...] = ()
    """What it is a part of, the nearest first."""
    stale: bool
    """Whether something that it rests on has ended: it is to be planned anew, unless it is over."""
    over: bool
    """Whether its time has passed by the agent's clock: then it is history, and nothing is planned in its place."""
    at: datetime
    time_zone: str


class Reaction(Value):
    """What an agent made of something that it observed."""

    observation: Observation
    reacted: bool
    reason: str = ""
    doing: str = ""
    """What it does from now on instead; empty where its plan stays."""
    converse_with: str | None = None
    """The agent with whom it begins to talk."""
    dropped: tuple[Plan, ...] = ()
    """The old rest of the day, which was superseded."""
    new: tuple[Plan, ...] = ()
    """The new rest of the day, which rests on the observation."""
    adjusted: tuple[Adjusted, ...] = ()
    refused: tuple[Refused, ...] = ()
    run_id: str | None = None


LearnOutcome = Literal["learned", "no_lesson", "nothing_finished"]


class LearnReport(Value):
    """What ``learn`` did."""

    outcome: LearnOutcome
    run_id: str | None = None
    considered: int = 0
    """Plans that were looked at: those that were done, missed or dropped since the last time."""
    procedures: tuple[Reflection, ...] = ()
    """New ones, and"""
    reinforced: tuple[str, ...] = ()
    """those that said the same already and gained evidence."""
    refused: tuple[Refused, ...] = ()
