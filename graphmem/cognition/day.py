"""The arithmetic of a planned day: clock times as a model wrote them become blocks that fill it, each minute once.

Nothing here reads a clock or a database. The rules, which every repair and refusal names:

- A time that there is not (12:60, 24:01) is refused; 24:00 is the end of the day and begins nothing.
- An end before its start is after midnight where the block then lasts at most twelve hours; else it is refused, and so
  is a block of no time.
- Of two that overlap the one that begins later has the time; of two that begin together, the shorter. What is left of
  the other before and after stays.
- A gap belongs to the block before it. Before the first block it belongs to the night that ends the day, where the day
  ends in one; else the first block begins earlier.
- Clock times are those of the agent's zone. One that the clock skips is as much later; of two moments with the same
  name the first counts, for an end the first that comes after the start.
- The parts of a block fill it exactly: what is over is cut, what is missing belongs to the last part.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

DAY_MINUTES = 24 * 60
LONGEST_NIGHT = 12 * 60
"""Minutes that a block over midnight lasts at most, by the clock."""
_EARLY = 6 * 60
"""A gap before the first block that begins before this minute of the day is part of the night."""

Rule = Literal["time", "reversed", "empty", "skipped", "past", "overlap", "gap", "night", "cut", "minutes", "over"]


@dataclass(frozen=True)
class Issue:
    """Something that was repaired or refused, by which rule."""

    item: int
    """Place in what was given, from 0."""
    rule: Rule
    reason: str
    refused: bool
    """Whether nothing is left of the item."""


@dataclass(frozen=True)
class Entry:
    """A block as it was given: from one clock time to another."""

    start: str
    end: str


@dataclass(frozen=True)
class Block:
    """A part of the day, from one moment to another, both in UTC."""

    start: datetime
    end: datetime
    item: int
    """Which of the entries it comes from; one may give several blocks, or none."""

    @property
    def minutes(self) -> int:
        """How long it lasts, in real minutes."""
        return round((self.end - self.start).total_seconds() / 60)


@dataclass(frozen=True)
class Arranged:
    """Blocks without gap or overlap, in order, and what was done to get them so."""

    blocks: tuple[Block, ...]
    issues: tuple[Issue, ...] = ()


@dataclass(frozen=True)
class Day:
    """A date in a time zone: 23, 24 or 25 hours, or whatever the zone's clock makes of it."""

    date: date
    zone: ZoneInfo

    @property
    def start(self) -> datetime:
        """Its first moment, in UTC."""
        return self.at(0)

    @property
    def end(self) -> datetime:
        """The first moment of the next day, in UTC."""
        return self.at(DAY_MINUTES)

    def at(self, minute: int, *, after: datetime | None = None) -> datetime:
        """The moment at which the clock shows this minute, counted from 00:00; 1440 and more is the next day.

        Args:
            minute: From 0 up.
            after: Of two moments with that name, the second is taken where the first does not come after this.

        Returns:
            The moment in UTC; where the clock skips that minute, as much later as it skips.
        """
        days, rest = divmod(minute, DAY_MINUTES)
        local = datetime.combine(self.date + timedelta(days=days), time(*divmod(rest, 60)), self.zone)
        first = local.astimezone(UTC)
        if after is not None and first <= after:
            return local.replace(fold=1).astimezone(UTC)
        return first

    @classmethod
    def of(cls, moment: datetime, zone: ZoneInfo) -> Day:
        """The day that a moment belongs to, where the agent is."""
        return cls(moment.astimezone(zone).date(), zone)

    def next(self) -> Day:
        """The day after."""
        return replace(self, date=self.date + timedelta(days=1))

    def before(self) -> Day:
        """The day before."""
        return replace(self, date=self.date - timedelta(days=1))


_CLOCK = re.compile(r"^(\d{1,2})(?:[:.h](\d{2}))?(?::00)?\s*(?:([ap])\.?m\.?|uhr|o'clock)?$")


def minute_of(text: str) -> int:
    """The minute of the day that a clock time names, from 0 (00:00) to 1440 (24:00).

    Read are ``07:30``, ``7.30``, ``7h30``, ``7:30 pm`` and full-width digits.

    Raises:
        ValueError: When it is no time of day.
    """
    plain = unicodedata.normalize("NFKC", text).strip().casefold()
    match = _CLOCK.match(plain)
    if match is None:
        raise ValueError(f"{text.strip()[:40]!r} is no time of day")
    hour, minute, half = int(match[1]), int(match[2] or 0), match[3]
    if half is not None:
        if not 1 <= hour <= 12:
            raise ValueError(f"{text.strip()!r} is no time of day")
        hour = hour % 12 + (12 if half == "p" else 0)
    if minute > 59 or hour * 60 + minute > DAY_MINUTES:
        raise ValueError(f"{text.strip()!r} is no time of day")
    return hour * 60 + minute


def clock(moment: datetime, zone: ZoneInfo) -> str:
    """What the clock shows at a moment, as ``HH:MM``."""
    return f"{moment.astimezone(zone):%H:%M}"


def arrange(day: Day, entries: Sequence[Entry], *, since: datetime, until: datetime | None = None) -> Arranged:
    """Make blocks of clock times that fill the day from ``since`` on, by the rules of this module.

    Args:
        day: The day that the clock times are of.
        entries: What was given, in any order.
        since: Where the blocks begin: the day's start, or the moment up to which it is past or planned already.
        until: Where they end at the latest; None: the end of the day, or of the last block over midnight.

    Returns:
        The blocks, none where no entry can be used, and every repair and refusal.
    """
    work = _Arranging(day, since, until)
    read = [block for item, entry in enumerate(entries) if (block := work.read(item, entry)) is not None]
    work.lay(sorted(read, key=lambda block: (block.start, block.start - block.end, block.item)))
    work.fill()
    return Arranged(tuple(work.blocks), tuple(sorted(work.issues, key=lambda issue: issue.item)))


@dataclass
class _Arranging:
    day: Day
    since: datetime
    until: datetime | None
    blocks: list[Block] = field(default_factory=list[Block])
    issues: list[Issue] = field(default_factory=list[Issue])

    def note(self, item: int, rule: Rule, reason: str, *, refused: bool = False) -> None:
        self.issues.append(Issue(item, rule, reason, refused))

    def told(self, moment: datetime) -> str:
        return clock(moment, self.day.zone)

    def read(self, item: int, entry: Entry) -> Block | None:
        """One entry as a block within the bounds; None where it is refused."""
        try:
            begin, end = minute_of(entry.start), minute_of(entry.end)
        except ValueError as error:
            return self.note(item, "time", str(error), refused=True)
        named = f"{entry.start.strip()}–{entry.end.strip()}"
        if begin == DAY_MINUTES:
            return self.note(item, "time", f"{named} begins when the day is over", refused=True)
        if begin == end:
            return self.note(item, "empty", f"{named} lasts no time", refused=True)
        if end < begin:
            end += DAY_MINUTES
            if end - begin > LONGEST_NIGHT:
                return self.note(item, "reversed", f"{named} ends before it begins", refused=True)
        start = self.day.at(begin)
        stop = self.day.at(end, after=start)
        if stop <= start:
            return self.note(item, "skipped", f"{named} does not exist: the clock skips it on this day", refused=True)
        if stop <= self.since or start >= min(self.day.end, self.until or self.day.end):
            return self.note(item, "past", f"{named} lies outside of what is planned", refused=True)
        if self.until is not None and stop > self.until:
            self.note(item, "cut", f"{named} ends at {self.told(self.until)}, where the next plan begins")
            stop = self.until
        return Block(max(start, self.since), stop, item)

    def lay(self, blocks: Sequence[Block]) -> None:
        """Lay blocks over each other in this order: each has its time, what is below keeps what is left."""
        gone: list[tuple[int, str]] = []
        for block in blocks:
            kept: list[Block] = []
            for below in self.blocks:
                if below.end <= block.start or block.end <= below.start:
                    kept.append(below)
                    continue
                span = f"{self.told(max(below.start, block.start))}–{self.told(min(below.end, block.end))}"
                rest = [replace(below, end=block.start), replace(below, start=block.end)]
                # What would begin after midnight is the next day's.
                kept += [piece for piece in rest if piece.start < min(piece.end, self.day.end)]
                gone.append((below.item, span))
            self.blocks = [*kept, block]
        left = {block.item for block in self.blocks}
        for item, span in gone:
            self.note(item, "overlap", f"gives {span} to what begins later or is shorter", refused=item not in left)
        self.blocks.sort(key=lambda block: block.start)

    def fill(self) -> None:
        """Close the gaps: before the first block, between blocks, and up to the end of the day."""
        if not self.blocks:
            return
        end = self.day.end if self.until is None else min(self.day.end, self.until)
        first, last = self.blocks[0], self.blocks[-1]
        if self.since < first.start:
            span = f"{self.told(self.since)}–{self.told(first.start)}"
            if last.end >= end and last is not first and self.since < self.day.at(_EARLY):
                self.note(last.item, "night", f"has {span} as well: as the day ends, so it begins")
                self.blocks.insert(0, Block(self.since, first.start, last.item))
            else:
                self.note(first.item, "gap", f"begins at {self.told(self.since)}: nothing was said of {span}")
                self.blocks[0] = replace(first, start=self.since)
        ends = [block.start for block in self.blocks[1:]] + [max(end, self.blocks[-1].end)]
        for place, (block, stop) in enumerate(zip(self.blocks, ends, strict=True)):
            if block.end < stop:
                span = f"{self.told(block.end)}–{self.told(stop)}"
                self.note(block.item, "gap", f"lasts until {self.told(stop)}: nothing was said of {span}")
                self.blocks[place] = replace(block, end=stop)


def divide(start: datetime, end: datetime, minutes: Sequence[int]) -> Arranged:
    """Divide a block into parts of so many minutes each, in order; together they last exactly as long as it does.

    Args:
        start: Where the block begins.
        end: Where it ends.
        minutes: How long each part lasts; what is not above 0 is refused.

    Returns:
        The parts, none where none can be used, and every repair and refusal.
    """
    blocks: list[Block] = []
    issues: list[Issue] = []
    at = start
    for item, length in enumerate(minutes):
        if length <= 0:
            issues.append(Issue(item, "minutes", f"{length} minutes are no time", True))
        elif at >= end:
            issues.append(Issue(item, "over", "the block was full already", True))
        else:
            stop = min(at + timedelta(minutes=length), end)
            if stop < at + timedelta(minutes=length):
                left = round((stop - at).total_seconds() / 60)
                issues.append(Issue(item, "cut", f"{length} minutes cut to the {left} that are left", False))
            blocks.append(Block(at, stop, item))
            at = stop
    if blocks and at < end:
        last = blocks[-1]
        missing = round((end - at).total_seconds() / 60)
        issues.append(Issue(last.item, "gap", f"lasts the {missing} minutes longer that no part was given", False))
        blocks[-1] = replace(last, end=end)
    return Arranged(tuple(blocks), tuple(issues))
