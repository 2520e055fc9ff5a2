"""What the extractive engine writes: insights over memories that share a topic, and how they are read back.

A text is a function of the memories it cites and of nothing else: it tells how many they are, over which time, what
they have in common, and how the first and the last of them put it. Take one away, and the text is another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.language import topics, words
from graphmem.language.base import Statement
from graphmem.language.topics import Memo, Reader

MAX_CITED = 8
"""Most memories that one insight cites."""
MAX_LENGTH = 300
"""Length that an insight keeps to, in characters, by quoting less."""
_QUOTE, _SHORT_QUOTE = 76, 44
"""Longest fragment that is quoted, in characters."""

_LISTED = 5

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_COUNTS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Written:
    """An insight and the numbers of the memories it rests on."""

    text: str
    evidence: tuple[int, ...]


@dataclass(frozen=True)
class ReadBack:
    """What an insight is about, from its text."""

    who: tuple[str, ...]
    topic: str
    """Its main topic as written, with its article."""
    others: tuple[str, ...] = ()
    level: int = 1
    """1: over memories that were perceived; 2 and 3: over insights."""


def select(members: Sequence[Memo], limit: int = MAX_CITED) -> tuple[Memo, ...]:
    """The memories to cite: the first, the last, and the most important between; in order of time."""
    if len(members) <= limit:
        return tuple(members)
    inner = sorted(members[1:-1], key=lambda memo: (-memo.statement.importance, memo.number))[: limit - 2]
    chosen = {members[0].number, members[-1].number} | {memo.number for memo in inner}
    return tuple(memo for memo in members if memo.number in chosen)


# --- over memories ---------------------------------------------------------------------------------------------


def compose(topic: str, statements: Sequence[Statement]) -> Written | None:
    """Write what memories say together about a topic.

    They are read by themselves, so that the text is the same whatever else was shown beside them.

    Returns:
        None when fewer than two of them are about it.
    """
    members = select(Reader(statements).holding(topic))
    if len(members) < len(statements):
        members = select(Reader([memo.statement for memo in members]).holding(topic))
    if len(members) < 2:
        return None
    topic = topics.widest(topic, members)
    text = _told(topic, members, _QUOTE)
    if len(text) > MAX_LENGTH:
        text = _told(topic, members, _SHORT_QUOTE)
    return Written(text, tuple(memo.number for memo in members))


def _told(topic: str, members: Sequence[Memo], longest: int) -> str:
    name = topics.display(topic, members)
    speakers = sorted({memo.who for memo in members if memo.who is not None})
    spoken = all(memo.who is not None for memo in members)
    others = [topics.display(key, members) for key in topics.companions(topic, members)]
    along = f", along with {joined(others)}" if others else ""
    times = "twice" if len(members) == 2 else f"{number_word(len(members))} times"
    when = span([memo.statement.occurred_at for memo in members])
    early, late = members[0], members[-1]
    if spoken and len(speakers) == 2:
        late = next(memo for memo in reversed(members) if memo.who != early.who)
    first, last = quote(early, topic, longest), quote(late, topic, longest)
    if spoken and len(speakers) == 1:
        if topics.owned(topic, members):
            verb = "come up" if topics.plural(name) else "comes up"
            head = f"{speakers[0]}’s {bare(name)} {verb} {times}{along}, {when}"
        else:
            head = f"{speakers[0]} comes back to {name} {times}{along}, {when}"
        tail = f"first “{first}”, later “{last}”" if first != last else f"each time “{first}”"
        return f"{head}: {tail}."
    if spoken and len(speakers) == 2:
        head = f"{joined(speakers)} both come back to {name}, {times}{along}, {when}"
        return f"{head}: {early.who} with “{first}”, {late.who} with “{last}”."
    head = f"It was about {name} {times}{along}, {when}"
    return f"{head}: first {_said(early, first)}, later {_said(late, last)}."


def _said(memo: Memo, fragment: str) -> str:
    return f"“{fragment}” ({memo.who})" if memo.who else f"“{fragment}”"


# --- over insights ---------------------------------------------------------------------------------------------


def compose_over(tie: str, who: str | None, members: Sequence[tuple[Memo, ReadBack]]) -> Written:
    """Write what insights have in common: their topics, and what ties them together.

    Args:
        tie: What they share, as written; nothing when they only share of whom they speak.
        who: Of whom all of them speak.
        members: The insights with what they are about, in order of time.
    """
    count = capitalised(number_word(len(members)))
    kind = "insights" if max(read.level for _, read in members) == 1 else "broader insights"
    others = listed(tie, [read for _, read in members])
    about = joined(others)
    if tie and len(others) == 1:
        text = f"{count} {kind}{f' about {who}' if who else ''} tie {tie} to {about}."
    elif tie:
        whom = f" about {who}" if who else ""
        text = f"{count} {kind}{whom} meet in {tie}: {about}."
    else:
        text = f"{count} {kind} show what occupies {who}: {about}."
    return Written(text, tuple(memo.number for memo, _ in members))


def listed(tie: str, reads: Sequence[ReadBack]) -> list[str]:
    """The topics of insights apart from what ties them; where all have the same one, what goes along with it."""
    mains = [read.topic for read in reads if read.topic and not same_topic(read.topic, tie)]
    if not mains:
        mains = [other for read in reads for other in read.others if not same_topic(other, tie)]
    found: list[str] = []
    for topic in mains:
        if not any(same_topic(topic, other) for other in found):
            found.append(topic)
    return found[:_LISTED]


def same_topic(first: str, second: str) -> bool:
    """Whether two topics as written share a word that carries meaning."""
    return bool(keys(first) & keys(second))


def keys(written: str) -> set[str]:
    """The folded words of a topic as written."""
    return {word.fold for word in words.words(written) if not words.is_stop(word.fold)} or {
        word.fold for word in words.words(written) if word.fold not in words.FUNCTION
    }


_NUMBER = rf"(?:{'|'.join(_COUNTS)}|\d+)"
_REST = rf"(?:twice|{_NUMBER} times)(?:, along with (?P<others>[^:“]+?))?, (?:on|from) \d[^:“]*:"
_KIND = r"(?P<kind>insights|broader insights)"
_FORMS = (
    re.compile(rf"^(?P<who>[^:“]+?)’s (?P<topic>[^:“]+?) comes? up {_REST}"),
    re.compile(rf"^(?P<who>[^:“]+?) (?:comes|both come) back to (?P<topic>[^:“]+?),? {_REST}"),
    re.compile(rf"^It was about (?P<topic>[^:“]+?) {_REST}"),
    re.compile(
        rf"^{_NUMBER} {_KIND}(?: about (?P<who>[^:“]+?))? meet in (?P<topic>[^:“]+?): (?P<others>[^“]+)\.$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^{_NUMBER} {_KIND}(?: about (?P<who>[^:“]+?))? tie (?P<topic>[^:“]+?) to (?P<others>[^:“]+?)\.$",
        re.IGNORECASE,
    ),
    re.compile(rf"^{_NUMBER} {_KIND} show what occupies (?P<who>[^:“]+?): (?P<others>[^“]+)\.$", re.IGNORECASE),
)


def read_back(text: str) -> ReadBack | None:
    """Read one of the engine's own insights; None when another wrote it."""
    for form in _FORMS:
        if match := form.match(text):
            groups = match.groupdict()
            others = _split(groups.get("others") or "")
            topic = groups.get("topic") or ""
            level = {"insights": 2, "broader insights": 3}.get(groups.get("kind") or "", 1)
            return ReadBack(_split(groups.get("who") or ""), topic, others, level)
    return None


def _split(listed: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r", | and ", listed) if part)


# --- phrases ---------------------------------------------------------------------------------------------------


def joined(items: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def capitalised(text: str) -> str:
    """A text with its first letter as a capital."""
    return text[:1].upper() + text[1:]


def bare(topic: str) -> str:
    """A topic as written, without its article."""
    return re.sub(r"^(?:the|an?) ", "", topic)


def number_word(count: int) -> str:
    """A count, in words up to ten."""
    return _COUNTS[count] if count < len(_COUNTS) else str(count)


def span(times: Sequence[datetime]) -> str:
    """``on 13 June 2026``, ``from 12 to 13 June 2026`` or ``from 31 May to 2 June 2026``."""
    first, last = min(times), max(times)
    end = f"{last.day} {_MONTHS[last.month - 1]} {last.year}"
    if first.date() == last.date():
        return f"on {end}"
    if (first.year, first.month) == (last.year, last.month):
        return f"from {first.day} to {end}"
    month = f"{first.day} {_MONTHS[first.month - 1]}"
    return f"from {month} to {end}" if first.year == last.year else f"from {month} {first.year} to {end}"


def quote(memo: Memo, topic: str, longest: int = _QUOTE) -> str:
    """A short fragment of a memory around a topic, without greeting or address."""
    mention = next((memo.mentions[key] for key in (topic, *reversed(topic.split())) if key in memo.mentions), None)
    sentence = mention.sentence if mention else words.sentences(memo.statement.text)[0]
    fragment = _without_opening(sentence).translate({0x201C: "‘", 0x201D: "’", 0x22: "'", 0x5B: "(", 0x5D: ")"})
    fragment = " ".join(fragment.split()).rstrip(" .,;:!?…-–—")
    if len(fragment) <= longest:
        return fragment
    surface = mention.surface if mention else ""
    at = max(0, fragment.find(surface))
    start, end = _window(fragment, at, at + len(surface), longest)
    cut = fragment[start:end].strip(" ,;:–—-")
    return ("… " if start > 0 else "") + cut + (" …" if end < len(fragment) else "")


def _window(fragment: str, start: int, end: int, longest: int) -> tuple[int, int]:
    """The part of a long fragment to quote: whole clauses around the topic, or words where they are too long."""
    clauses = [match.span() for match in re.finditer(r"[^,:;–—]+(?:[,:;–—]+\s*|$)", fragment)]
    low, high = next(((a, b) for a, b in clauses if a <= start < b), (0, len(fragment)))
    for a, b in clauses:
        if a == high and b - low <= longest:
            high = b
    for a, b in reversed(clauses):
        if b == low and high - a <= longest:
            low = a
    if high - low <= longest:
        return low, high
    if end - low > longest:
        wanted = max(low, start - longest // 2)
        space = fragment.find(" ", wanted, start)
        low = space + 1 if space >= 0 else wanted
    high = min(high, low + longest)
    if high < len(fragment):
        space = fragment.rfind(" ", max(end, low), high + 1)
        high = space if space > 0 else high
    return low, high


_OPENING = re.compile(r"^\W*([^\W\d_]+(?:['’][^\W\d_]+)*)\s*([,!:]?)\s*")
_JOINING = frozenset({"so", "and", "but", "also", "plus", "then"})


def _without_opening(sentence: str) -> str:
    """A sentence without `Hey Sam!`, `Yeah,` or `Thanks, Evan -` before it."""
    text = sentence
    while match := _OPENING.match(text):
        word = words.fold(match[1])
        filler = word in words.FILLER or word in _JOINING
        address = bool(match[2]) and match[1][:1].isupper() and text != sentence
        if not (filler or address) or len(text) - match.end() < 15:
            break
        text = text[match.end() :]
    return text.lstrip(" ,.!-–—")
