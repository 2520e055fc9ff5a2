"""When something is: clock times, days and routines as sentences name them, and appointments that follow from them.

Read are English phrases and digits only; what is not read is left out, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from graphmem.language import words
from graphmem.language.base import Statement

HOUR = 60
DAY = 24 * HOUR

_MEAL = r"(breakfast|brunch|lunch|dinner|supper)"
_EATS = re.compile(
    rf"(?:^|[“:])\W*{_MEAL}\b|\b(?:eat|eats|eating|ate|have|has|having|had|enjoy|grab|take)\s+(?:\w+\s+){{0,3}}?{_MEAL}\b|"
    rf"\b(?:go(?:es|ing)?\s+to|host\w*)\s+(?:[\w'’&-]+\s+){{1,6}}?{_MEAL}\b|"
    rf"\bmeet\w*\s+(?:[\w'’&-]+\s+){{1,5}}?for\s+(?:\w+\s+)?{_MEAL}\b",
    re.IGNORECASE,
)
_SAME_MEAL = {"supper": "dinner", "brunch": "lunch"}


def meal_in(text: str) -> str | None:
    """The meal that is eaten in a plan; to prepare one or to clean up after it is not to eat it."""
    match = _EATS.search(text)
    if match is None:
        return None
    name = (match[1] or match[2] or match[3] or match[4]).casefold()
    return _SAME_MEAL.get(name, name)


_COMMON_MEAL = words.listed(
    """
    a an the some my our her his their own then and up to in at home quick light late early simple small warm cold
    usual have has had having eat eats eating ate take grab enjoy get gets up wash dress dressed make makes go goes
    breakfast brunch lunch dinner supper
    """
)


def common_meal(text: str) -> str | None:
    """The meal of a plan that is nothing but a meal; None where it says more, such as with whom it is, or where."""
    said = {word.text.casefold() for word in words.words(text)}
    return meal_in(text) if said <= _COMMON_MEAL else None


# --- times of day ------------------------------------------------------------------------------------------------

_TIME = r"(?:(\d{1,2})(?:[:.](\d{2}))?\s*(a\.?m\b\.?|p\.?m\b\.?|o'clock\b|h\b|uhr\b)?|(noon|midday|midnight))"
_AT = re.compile(
    rf"(?:\b(?:at|from|around|about|by|until|till|to)\s+|,\s*)(?:about\s+|around\s+)?{_TIME}", re.IGNORECASE
)
_SPAN = re.compile(rf"(?:\bfrom\s+|\bbetween\s+)?{_TIME}\s*(?:-|–|—|\bto\b|\buntil\b|\btill\b|\band\b)\s*{_TIME}", re.I)


def _minute(hour: str | None, minute: str | None, half: str | None, named: str | None) -> int | None:
    if named:
        return 0 if named.casefold() == "midnight" else 12 * HOUR
    if hour is None or (minute is None and not half):
        return None  # `At 5` may be a number of anything.
    value = int(hour)
    marker = (half or "").casefold().replace(".", "")
    if marker in ("am", "pm"):
        if not 1 <= value <= 12:
            return None
        value = value % 12 + (12 if marker == "pm" else 0)
    total = value * HOUR + int(minute or 0)
    return total if value <= 24 and int(minute or 0) < 60 and total <= DAY else None


def span_in(text: str) -> tuple[int, int | None] | None:
    """From when to when a sentence says something is, in minutes of the day; the end only where it says one."""
    for match in _SPAN.finditer(text):
        parts = match.groups()
        # `5–7 pm`: both are in the afternoon.
        first = _minute(parts[0], parts[1], parts[2] or parts[6], parts[3])
        last = _minute(*parts[4:8])
        if first is not None and last is not None and first != last:
            return first, last
    for match in _AT.finditer(text):
        found = _minute(*match.groups())
        if found is not None and not match[0].casefold().startswith(("until", "till", "to ")):
            return found, None
    return None


# --- days --------------------------------------------------------------------------------------------------------

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = "(" + "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS) + r")\b\.?"
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+(\d{{4}}))?", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b{_MONTH}\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}}))?", re.IGNORECASE)
_WEEKDAY = re.compile(rf"\b(?:on|this|next|coming)\s+({'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)
_TODAY = re.compile(r"\b(?:today|tonight|this\s+(?:morning|noon|afternoon|evening))\b", re.IGNORECASE)
_TOMORROW = re.compile(r"\btomorrow\b", re.IGNORECASE)
_DATED = re.compile(
    "|".join(each.pattern for each in (_ISO, _DAY_MONTH, _MONTH_DAY, _WEEKDAY, _TODAY, _TOMORROW)), re.I
)
_NAMED = ((re.compile(r"\bvalentine['’]?s?(?:\s+day)?\b", re.IGNORECASE), (2, 14)),)


def day_in(text: str, said: date) -> date | None:
    """The day that a sentence names, as of the day on which it was said; the next one where the year is left out."""
    if match := _ISO.search(text):
        return _date(int(match[1]), int(match[2]), int(match[3]))
    for pattern, day, month in ((_DAY_MONTH, 1, 2), (_MONTH_DAY, 2, 1)):
        if match := pattern.search(text):
            number = next(i for i, name in enumerate(_MONTHS, 1) if name.startswith(match[month].casefold()[:3]))
            return _next(int(match[3]) if match[3] else None, number, int(match[day]), said)
    if _TOMORROW.search(text):
        return said + timedelta(days=1)
    if _TODAY.search(text):
        return said
    for pattern, (month, day) in _NAMED:
        if pattern.search(text):
            return _next(None, month, day, said)
    if match := _WEEKDAY.search(text):
        ahead = (_WEEKDAYS.index(match[1].casefold()) - said.weekday()) % 7
        return said + timedelta(days=ahead or 7)
    return None


def _next(year: int | None, month: int, day: int, said: date) -> date | None:
    found = _date(year or said.year, month, day)
    if year is None and found is not None and found < said:
        return _date(said.year + 1, month, day)
    return found


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


# --- appointments --------------------------------------------------------------------------------------------------

_EVENT = (
    r"(?:party|celebration|wedding|concert|meeting|appointment|dinner|lunch|breakfast|supper|class|lesson|lecture|"
    r"interview|rehearsal|game|match|race|regatta|visit|picnic|market|show|film|movie|reception|opening|election|"
    r"debate|walk|date|festival|exhibition|funeral|service|training|workshop|talk|dance|feast|f[eê]te|barbecue|recital|"
    r"bonfire|gathering|ceremony)"
)
_EVENT_WORD = re.compile(rf"\b{_EVENT}\b", re.IGNORECASE)
_NAME = r"(?:the\s+)?[A-Z][\w'’&-]*(?:\s+[A-Z][\w'’&-]*)*"
_PHRASE = re.compile(
    rf"((?:[\w'’&-]+\s+){{0,4}}?)\b((?i:{_EVENT}))\b"
    rf"((?:\s+of\s+(?:the|our)\s+[\w'’&-]+)?(?:\s+(?:at|in|with|for|of|on(?=\s+the\s))\s+{_NAME})*)",
)
_MEETS = re.compile(
    rf"\b(meet|see|visit)(?:s|ing)?\s+({_NAME}(?:\s+and\s+{_NAME})?(?:\s+for\s+(?:an?\s+)?\w+)?"
    rf"(?:\s+(?:at|in)\s+{_NAME})?)"
)
"""Somebody is met: who it is is the matter."""
_OWNERS = frozenset({"the", "a", "an", "my", "our", "her", "his", "their", "your"})
_LONG = re.compile(
    r"\b(?:party|celebration|wedding|concert|festival|reception|game|match|regatta|dance|feast|f[eê]te)\b",
    re.IGNORECASE,
)
_INVITES = re.compile(
    r"\b(?:you|your|everyone|everybody|all of us|invit\w+|come|join|welcome|let'?s|we|us|our|together|guests?)\b", re.I
)
_INVITES_ALL = re.compile(
    r"\b(?:invit\w+|everyone|everybody|all\s+(?:are|of\s+you)|welcome|come\s+(?:along|and|to|by)|join\s+(?:us|me|in)|"
    r"open\s+to\s+all)\b",
    re.IGNORECASE,
)
_HOSTS = re.compile(r"\b(?:host\w*|throw\w*|organi[sz]\w*|giv(?:e|es|ing)\s+a|hold\w*)\b", re.IGNORECASE)
_OFF = re.compile(r"\b(?:cancel\w*|called\s+off|calls?\s+off|postpon\w*|does\s+not\s+take\s+place|is\s+off)\b", re.I)
_UNWILLING = re.compile(
    r"\b(?:hates?|dislikes?|avoids?|refuses?|declin\w+|can(?:no|')t\s+stand|not\s+interested|"
    r"(?:do|does|did)(?:\s+not|n'?t)\s+(?:want|like|feel\s+like|enjoy|care)|(?:wo|will\s+|would\s+)n(?:'t|ot)|"
    r"never\s+goes?|has\s+no\s+time|have\s+no\s+time)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:(?:at|in)\s+(?:the\s+)?|on\s+the\s+)([A-Z][\w'’&-]*(?:\s+(?:[A-Z][\w'’&-]*|of|and|the)){0,4})"
)
_NO_PLACE = frozenset({*_MONTHS, *_WEEKDAYS, *(name[:3] for name in _MONTHS), "valentine's", "valentine"})


@dataclass(frozen=True)
class Appointment:
    """Something that is to be at a time of a day."""

    start: int
    end: int
    text: str
    """What the agent does then."""
    place: str
    number: int
    """The memory that says so."""


def is_off(text: str) -> bool:
    """Whether a text says that something does not take place."""
    return bool(_OFF.search(text))


def invites(text: str) -> bool:
    """Whether a text invites to something that is to be: whoever hears of it may come."""
    return bool(_INVITES_ALL.search(text)) and bool(_EVENT_WORD.search(text) or _DATED.search(text))


def is_over(text: str, said: datetime, now: datetime, zone: ZoneInfo) -> bool:
    """Whether what a text says is to be on a day is over; False where it names no day.

    Args:
        text: The text.
        said: When it was said, and
        now: the moment that is asked about; both aware.
        zone: In which its times are told.
    """
    local = now.astimezone(zone)
    day = day_in(text, said.astimezone(zone).date())
    if day is None or day > local.date():
        return False
    if day < local.date():
        return True
    span = span_in(text)
    if span is None:
        return False
    start, end = span
    if end is None or end <= start:
        end = start + (2 * HOUR if _LONG.search(text) else HOUR)
    return local.hour * HOUR + local.minute >= end


def topic_words(text: str) -> set[str]:
    """The words by which two texts are about the same event: neither names of days nor of times."""
    return {
        word.fold
        for word in words.words(text)
        if not words.is_stop(word.fold)
        and word.text.casefold() not in _NO_PLACE
        and not word.text[0].isdigit()
        and word.text.casefold() not in {"cancelled", "canceled", "postponed", "today", "tomorrow", "invite", "invited"}
    }


def concerns(text: str, plan: str) -> bool:
    """Whether a text is about what a plan is for: the same event, else two words in common."""
    named = [{match.casefold() for match in _EVENT_WORD.findall(each)} for each in (text, plan)]
    if all(named):
        return bool(named[0] & named[1])
    return len(topic_words(text) & topic_words(plan)) > 1


def appointments(
    statements: Sequence[Statement], day: date, zone: ZoneInfo, name: str, traits: str | None
) -> list[Appointment]:
    """What of the statements is to be on a day, and concerns the agent, and is not called off, and it is willing to.

    Args:
        statements: What the agent remembers.
        day: The day.
        zone: Where it lives.
        name: Its name, and
        traits: what it is like.
    """
    told = sorted(statements, key=lambda statement: (statement.occurred_at, statement.number))
    found: dict[tuple[int, str], Appointment] = {}
    for place, statement in enumerate(told):
        if statement.type == "plan" or (read := _appointment(statement, day, zone, name)) is None:
            continue
        about = topic_words(read.text)
        later = told[place + 1 :]
        if is_off(statement.text) or any(is_off(other.text) and concerns(other.text, read.text) for other in later):
            continue
        if unwilling(read.text, told, name, traits):
            continue
        same = next((key for key in found if key[0] == read.start and about & topic_words(found[key].text)), None)
        if same is None:
            found[read.start, read.text] = read
    return sorted(found.values(), key=lambda item: (item.start, item.number))


def unwilling(what: str, statements: Iterable[Statement], name: str, traits: str | None) -> bool:
    """Whether something that the agent is, said or holds says that it does not want this, or the like of it."""
    about = topic_words(what) - topic_words(name)
    own = [statement.text for statement in statements if _own(statement, name)]
    for text in [*own, traits or ""]:
        for sentence in words.sentences(text):
            if _UNWILLING.search(sentence) and about & topic_words(sentence):
                return True
    return False


def _own(statement: Statement, name: str) -> bool:
    """Whether a statement is the agent's own word, or says something of it."""
    if statement.source is not None:
        return statement.source == name
    return not _of_another(statement.text, name)


def _appointment(statement: Statement, day: date, zone: ZoneInfo, name: str) -> Appointment | None:
    text = statement.text
    span = span_in(text)
    if span is None:
        return None
    local = statement.occurred_at.astimezone(zone)
    wanted = day_in(text, local.date())
    if wanted is None and statement.source is not None and _INVITES.search(text):
        wanted = local.date()
    start, end = span
    if wanted != day or datetime.combine(day, time(*divmod(start % DAY, 60)), zone) <= local:
        return None
    if not _concerns(statement, name):
        return None
    if end is None or end <= start:
        end = start + (2 * HOUR if _LONG.search(text) else HOUR)
    return Appointment(start, min(end, DAY), _told(statement, name), place_in(text), statement.number)


def _concerns(statement: Statement, name: str) -> bool:
    """Whether it is the agent that is to be there: its own matter, or one to which it is invited."""
    if statement.source is not None and statement.source != name:
        return bool(_INVITES.search(statement.text))
    return not _of_another(statement.text, name) or bool(_INVITES.search(statement.text))


_SUBJECT = re.compile(
    r"^\W*([A-Z][\w'’-]*)(?:\s+[A-Z][\w'’-]*)?\s+(?:has|have|had|is|was|will|wants?|plans?|goes|must|needs?|hosts?|throws?|"
    r"organi[sz]es|gives|holds|visits|meets|works|said|told|asked|would|does|did|likes?|loves?|hates?|dislikes?|avoids?|"
    r"refuses?|never|always|usually)\b"
)


def _of_another(text: str, name: str) -> bool:
    """Whether a sentence opens with somebody else of whom it says something."""
    match = _SUBJECT.match(text)
    nobody = {"I", "We", "You", "It", "There", "This", "That", "Everybody", "Everyone", *name.split()}
    return match is not None and match[1] not in nobody


def _told(statement: Statement, name: str) -> str:
    """What the agent does: it meets whom the sentence names, or goes to the event, with its name and place."""
    if met := _MEETS.search(statement.text):
        return f"{met[1]} {met[2]}"
    match = _PHRASE.search(statement.text)
    if match is None:
        return f"keep the appointment: “{statement.text.strip()}”"
    before = match[1].split()
    kept: list[str] = []
    while (
        before
        and before[-1].casefold() not in _OWNERS
        and (before[-1][:1].isupper() or not words.is_stop(words.fold(before[-1])))
    ):
        kept.insert(0, before.pop())
    owner = before[-1].casefold() if before and before[-1].casefold() in _OWNERS else "the"
    by = statement.source if statement.source and statement.source != name else None
    article = f"{by}’s" if by and owner in ("my", "our") else "the" if owner in ("a", "an", "your") else owner
    event = match[2].lower() if match.start(2) == 0 else match[2]
    whose = not before and any(word[:1].isupper() and word.endswith(("'s", "’s")) for word in kept)
    what = " ".join([*([] if whose else [article]), *kept, event]) + match[3]
    hosts = _HOSTS.search(statement.text) and by is None and _opens_with(statement.text, name)
    return f"{'host' if hosts else 'go to'} {what}"


def _opens_with(text: str, name: str) -> bool:
    first = words.words(text)[:1]
    return bool(first) and first[0].text in (name.split()[0], "I", "We", "Host", "Hosting")


def place_in(text: str) -> str:
    """The place that a sentence names with a capital after `at`, `in` or `on the`; empty where it names none."""
    for match in _PLACE.finditer(text):
        found = re.sub(r"\s+(?:of|and|the)$", "", match[1])
        if found.split()[0].casefold() not in _NO_PLACE:
            return found
    return ""
