"""The arithmetic of a day: whatever clock times a model writes, the blocks fill the day, each minute once (B37–B39)."""

from __future__ import annotations

import itertools
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.cognition.day import Arranged, Block, Day, Entry, arrange, clock, divide, minute_of
from graphmem.language import reading
from graphmem.language.whens import meal_in

ZONES = ("UTC", "Europe/Lisbon", "Pacific/Auckland", "America/St_Johns", "Africa/Cairo", "Australia/Lord_Howe")
PLAIN = Day(date(2026, 3, 10), ZoneInfo("UTC"))


def entries(*spans: str) -> list[Entry]:
    return [Entry(*span.split("-")) for span in spans]


def rules(arranged: Arranged, item: int) -> list[tuple[str, bool]]:
    return [(issue.rule, issue.refused) for issue in arranged.issues if issue.item == item]


def shown(arranged: Arranged, zone: ZoneInfo) -> list[str]:
    return [f"{clock(block.start, zone)}-{clock(block.end, zone)} {block.item}" for block in arranged.blocks]


# --- what always holds ------------------------------------------------------------------------------------------

times = st.one_of(
    st.builds("{:02}:{:02}".format, st.integers(0, 24), st.integers(0, 59)),
    st.sampled_from(["24:00", "12:60", "25:00", "7:30 pm", "noonish", "", "００：００", "0:0"]),
)
days = st.builds(
    Day, st.dates(date(2025, 1, 1), date(2027, 12, 31)), st.sampled_from([ZoneInfo(name) for name in ZONES])
)


@given(days, st.lists(st.builds(Entry, times, times), max_size=12), st.integers(0, 1439), st.booleans())
def test_blocks_fill_the_day_each_minute_once(day: Day, given_: list[Entry], minute: int, from_now: bool) -> None:
    since = day.at(minute) if from_now else day.start
    if since >= day.end:
        return
    arranged = arrange(day, given_, since=since)
    blocks = arranged.blocks
    told = {issue.item for issue in arranged.issues if issue.refused}
    used = {block.item for block in blocks}
    assert used | told == set(range(len(given_)))  # Nothing vanishes without a word.
    if not blocks:
        return
    assert blocks[0].start == since
    assert blocks[-1].end >= day.end
    assert blocks[-1].end - day.end <= timedelta(hours=13)
    for block, after in itertools.pairwise(blocks):
        assert block.start < block.end == after.start
    assert all(block.start < day.end for block in blocks)


@given(days, st.lists(st.builds(Entry, times, times), min_size=1, max_size=8), st.integers(1, 1440))
def test_nothing_reaches_into_the_next_plan(day: Day, given_: list[Entry], minute: int) -> None:
    until = day.at(minute)
    if until <= day.start:
        return
    blocks = arrange(day, given_, since=day.start, until=until).blocks
    assert not blocks or (blocks[0].start, blocks[-1].end) == (day.start, until)


@given(st.integers(1, 600), st.lists(st.integers(-20, 700), max_size=20))
def test_parts_last_exactly_as_long_as_the_whole(length: int, minutes: list[int]) -> None:
    start = datetime(2026, 3, 28, 23, tzinfo=UTC)
    end = start + timedelta(minutes=length)
    divided = divide(start, end, minutes)
    told = {issue.item for issue in divided.issues if issue.refused}
    assert {block.item for block in divided.blocks} | told == set(range(len(minutes)))
    if any(value > 0 for value in minutes):
        assert sum(block.minutes for block in divided.blocks) == length
        assert (divided.blocks[0].start, divided.blocks[-1].end) == (start, end)
        assert all(block.minutes > 0 for block in divided.blocks)
        for block, after in zip(divided.blocks, divided.blocks[1:], strict=False):
            assert (block.end, block.item < after.item) == (after.start, True)
    else:
        assert divided.blocks == ()


@given(days)
def test_a_day_begins_where_the_one_before_ends(day: Day) -> None:
    assert day.end == day.next().start
    assert day.before().next() == day
    assert timedelta(hours=22) < day.end - day.start < timedelta(hours=26)
    assert Day.of(day.start, day.zone) == day


# --- B38: the case itself ---------------------------------------------------------------------------------------


def test_b38_midnight_overlaps_and_impossible_times() -> None:
    arranged = arrange(
        PLAIN,
        entries(
            "22:30-06:00",
            "06:00-07:00",
            "07:00-12:00",
            "11:30-12:30",
            "18:00-17:00",
            "24:00-24:00",
            "12:60-13:30",
            "09:00-09:00",
        ),
        since=PLAIN.start,
    )
    assert shown(arranged, PLAIN.zone) == [
        "00:00-06:00 0", "06:00-07:00 1", "07:00-11:30 2", "11:30-22:30 3", "22:30-06:00 0",
    ]  # fmt: skip
    assert arranged.blocks[-1].end == datetime(2026, 3, 11, 6, tzinfo=UTC)
    assert rules(arranged, 0) == [("night", False)]
    assert rules(arranged, 1) == []  # 06:00 touches, and is no overlap.
    assert rules(arranged, 2) == [("overlap", False)]
    assert rules(arranged, 3) == [("gap", False)]
    assert [rules(arranged, item) for item in range(4, 8)] == [
        [("reversed", True)], [("time", True)], [("time", True)], [("empty", True)],
    ]  # fmt: skip


def test_a_shorter_block_within_a_longer_one_leaves_what_is_around_it() -> None:
    arranged = arrange(PLAIN, entries("00:00-24:00", "12:00-12:30", "12:00-13:00"), since=PLAIN.start)
    assert shown(arranged, PLAIN.zone) == ["00:00-12:00 0", "12:00-12:30 1", "12:30-13:00 2", "13:00-00:00 0"]


def test_what_an_overlap_leaves_after_midnight_is_the_next_days() -> None:
    arranged = arrange(PLAIN, entries("12:01-24:00", "12:01-00:01"), since=PLAIN.start)
    assert shown(arranged, PLAIN.zone) == ["00:00-00:00 0"]
    assert rules(arranged, 1) == [("overlap", True)]


def test_what_is_said_twice_for_the_same_time_counts_once() -> None:
    arranged = arrange(PLAIN, entries("00:00-24:00", "00:00-24:00"), since=PLAIN.start)
    assert [block.item for block in arranged.blocks] == [1]
    assert rules(arranged, 0) == [("overlap", True)]


def test_the_rest_of_a_day_begins_now_and_no_night_is_put_before_it() -> None:
    since = PLAIN.at(14 * 60 + 30)
    arranged = arrange(PLAIN, entries("15:00-18:00", "22:00-06:00", "08:00-09:00"), since=since)
    assert shown(arranged, PLAIN.zone) == ["14:30-22:00 0", "22:00-06:00 1"]
    assert rules(arranged, 2) == [("past", True)]


@pytest.mark.parametrize("text", ["24:01", "12:60", "25:00", "-1:00", "noon", "", "1300:00", "13:00 pm", "0 am"])
def test_what_is_no_time_of_day(text: str) -> None:
    with pytest.raises(ValueError, match="no time of day"):
        minute_of(text)


@pytest.mark.parametrize(
    ("text", "minute"),
    [("00:00", 0), ("24:00", 1440), ("7:05", 425), ("07.30", 450), ("7h30", 450), ("７：３０", 450), ("7:30 pm", 1170),
     ("12 am", 0), ("12:30 p.m.", 750), ("18:00:00", 1080)],
)  # fmt: skip
def test_times_of_day(text: str, minute: int) -> None:
    assert minute_of(text) == minute


# --- B39: clock changes -----------------------------------------------------------------------------------------

LISBON, AUCKLAND = ZoneInfo("Europe/Lisbon"), ZoneInfo("Pacific/Auckland")
ORDINARY = entries("00:00-01:00", "01:00-02:00", "02:00-07:00", "07:00-12:00", "12:00-22:00", "22:00-07:00")


def test_b39_an_hour_that_does_not_exist() -> None:
    day = Day(date(2026, 3, 29), LISBON)
    arranged = arrange(day, ORDINARY, since=day.start)
    assert day.end - day.start == timedelta(hours=23)
    assert rules(arranged, 1) == [("skipped", True)]
    assert shown(arranged, LISBON) == [
        "00:00-02:00 0", "02:00-07:00 2", "07:00-12:00 3", "12:00-22:00 4", "22:00-07:00 5",
    ]  # fmt: skip
    assert [block.minutes for block in arranged.blocks] == [60, 300, 300, 600, 540]


def test_b39_an_hour_that_comes_twice() -> None:
    day = Day(date(2026, 10, 25), LISBON)
    arranged = arrange(day, ORDINARY, since=day.start)
    assert day.end - day.start == timedelta(hours=25)
    assert arranged.issues == ()
    assert [block.minutes for block in arranged.blocks] == [60, 120, 300, 300, 600, 540]
    assert clock(arranged.blocks[3].start, LISBON) == "07:00"


def test_b39_the_night_into_a_clock_change_lasts_real_minutes() -> None:
    spring, autumn = Day(date(2026, 3, 28), LISBON), Day(date(2026, 10, 24), LISBON)
    night = entries("07:00-22:00", "22:00-07:00")
    assert arrange(spring, night, since=spring.at(420)).blocks[-1].minutes == 480
    assert arrange(autumn, night, since=autumn.at(420)).blocks[-1].minutes == 600


def test_b39_today_is_the_agents_date() -> None:
    assert Day.of(datetime(2026, 6, 1, 23, 30, tzinfo=UTC), AUCKLAND).date == date(2026, 6, 2)


def test_midnight_itself_may_not_exist() -> None:
    cairo = Day(date(2026, 4, 24), ZoneInfo("Africa/Cairo"))  # 00:00 is 01:00 there.
    assert clock(cairo.start, cairo.zone) == "01:00"
    assert cairo.before().end == cairo.start
    blocks = arrange(cairo, entries("00:00-08:00", "08:00-24:00"), since=cairo.start).blocks
    assert [block.minutes for block in blocks] == [7 * 60, 16 * 60]


# --- B37: minutes as models write them --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "minutes"),
    [(30, 30), (7.5, 8), ("30 minutes", 30), ("３０分", 30), ("about 15 min", 15), ("1 hour", 60), ("0.5 h", 30),
     (-10, -10), ("0", 0), ("1時間", 60)],
)  # fmt: skip
def test_minutes_are_read(value: object, minutes: int) -> None:
    assert reading.minutes(value) == minutes


@pytest.mark.parametrize("value", ["", "a while", "10 to 15 minutes", None, True, [30], float("nan"), 10**9])
def test_what_is_no_number_of_minutes(value: object) -> None:
    with pytest.raises(ValueError, match="number of minutes"):
        reading.minutes(value)


def test_b37_sums_that_do_not_match() -> None:
    start = datetime(2026, 3, 10, 9, tzinfo=UTC)
    end = start + timedelta(hours=1)

    def lengths(*minutes: int) -> list[int]:
        return [block.minutes for block in divide(start, end, minutes).blocks]

    assert lengths(15, 20, 20) == [15, 20, 25]
    assert lengths(30, 30, 35) == [30, 30]
    assert lengths(30, 20, 35, 10) == [30, 20, 10]
    assert lengths(0, -10, 20, 40) == [20, 40]
    assert lengths(600) == [60]
    assert lengths() == []
    assert divide(start, end, [15, 45]).issues == ()
    assert divide(start, end, [15, 45]).blocks[0] == Block(start, start + timedelta(minutes=15), 0)


@pytest.mark.parametrize(
    ("text", "meal"),
    [("have lunch", "lunch"), ("eat a quiet lunch", "lunch"), ("Lunch with Klaus", "lunch"), ("make lunch", None),
     ("clean up after lunch", None), ("get up, wash and have breakfast", "breakfast"), ("have supper", "dinner"),
     ("go to Tobias’s dinner at the Ice House", "dinner"), ("meet Rosa for lunch at the Mill", "lunch"),
     ("shop for lunch", None), ("work on the launch", None)],
)  # fmt: skip
def test_which_plans_are_a_meal(text: str, meal: str | None) -> None:
    assert meal_in(text) == meal
