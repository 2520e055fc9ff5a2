"""What the extractive engine writes: insights over memories that share a topic, and how they are read back.

A text is a function of the memories it cites and of nothing else: it tells how many they are, over which time, what
they have in common, and how the first and the last of them put it. Take one away, and the text is another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.language import topics, words
from graphmem.language.topics import Memo

MAX_CITED = 8
"""Most memories that one insight cites."""
_QUOTE = 72
"""Longest fragment that is quoted, in characters."""

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


def compose(topic: str, members: Sequence[Memo]) -> Written:
    """Write what memories, given in order of time, say together about the topic they share."""
    topic = topics.widest(topic, members)
    name = topics.display(topic, members)
    speakers = sorted({memo.who for memo in members if memo.who is not None})
    spoken = all(memo.who is not None for memo in members)
    others = [topics.display(key, members) for key in topics.companions(topic, members)]
    along = f", along with {joined(others)}" if others else ""
    times = "twice" if len(members) == 2 else f"{number_word(len(members))} times"
    when = span([memo.statement.occurred_at for memo in members])
    first, last = quote(members[0], topic), quote(members[-1], topic)
    if spoken and len(speakers) == 1:
        if topics.owned(topic, members):
            head = f"{speakers[0]}’s {bare(name)} comes up {times}{along}, {when}"
        else:
            head = f"{speakers[0]} comes back to {name} {times}{along}, {when}"
        tail = f"first “{first}”, later “{last}”" if first != last else f"each time “{first}”"
    elif spoken and len(speakers) == 2:
        head = f"{joined(speakers)} both come back to {name}, {times}{along}, {when}"
        tail = f"first {members[0].who} with “{first}”, later {members[-1].who} with “{last}”"
    else:
        head = f"{capitalised(name)} runs through {number_word(len(members))} memories{along}, {when}"
        tail = f"first {_said(members[0], first)}, later {_said(members[-1], last)}"
    return Written(f"{head}: {tail}.", tuple(memo.number for memo in members))


def _said(memo: Memo, fragment: str) -> str:
    if memo.statement.type == "plan":
        return f"“{fragment}” (planned)"
    return f"“{fragment}” ({memo.who})" if memo.who else f"“{fragment}”"


# --- over insights ---------------------------------------------------------------------------------------------


def compose_over(tie: str, who: str | None, members: Sequence[tuple[Memo, ReadBack]]) -> Written:
    """Write what insights have in common: their topics, and what ties them together.

    Args:
        tie: What they share, as written; nothing when they only share of whom they speak.
        who: Of whom all of them speak.
        members: The insights with what they are about, in order of time.
    """
    count = number_word(len(members))
    level = max(read.level for _, read in members) + 1
    kind = "insights" if level == 2 else "broader insights"
    listed = list(dict.fromkeys(read.topic for _, read in members if same_topic(read.topic, tie) is False))
    about = joined(listed) or joined([read.topic for _, read in members[:1]])
    if tie:
        head = f"{capitalised(tie)} ties {count} {kind}"
        text = f"{head} about {who} together: {about}." if who else f"{head} together: {about}."
    else:
        text = f"{capitalised(count)} {kind} show what occupies {who}: {about}."
    return Written(text, tuple(memo.number for memo, _ in members))


def same_topic(first: str, second: str) -> bool:
    """Whether two topics as written share a word that carries meaning."""
    return bool(keys(first) & keys(second))


def keys(written: str) -> set[str]:
    """The folded words of a topic as written."""
    return {word.fold for word in words.words(written) if not words.is_stop(word.fold)} or {
        word.fold for word in words.words(written) if word.fold not in words.FUNCTION
    }


_TIMES = rf"(?:twice|(?:{'|'.join(_COUNTS)}|\d+) times)"
_SPAN = r"(?:on|from) \d{1,2}\b[^:“]*"
_FORMS = (
    re.compile(rf"^(?P<who>[^:“]+?)’s (?P<topic>[^:“]+?) comes up {_TIMES}(?:, along with (?P<others>[^:“]+?))?, {_SPAN}:"),
    re.compile(
        rf"^(?P<who>[^:“]+?) (?:comes|both come) back to (?P<topic>[^:“]+?),? {_TIMES}"
        rf"(?:, along with (?P<others>[^:“]+?))?, {_SPAN}:"
    ),
    re.compile(
        rf"^(?P<topic>[^:“]+?) runs through (?:{'|'.join(_COUNTS)}|\d+) memories"
        rf"(?:, along with (?P<others>[^:“]+?))?, {_SPAN}:"
    ),
    re.compile(
        r"^(?P<topic>[^:“]+?) ties \w+ (?P<kind>insights|broader insights)(?: about (?P<who>[^:“]+?))? together: "
        r"(?P<others>[^:“]+)\.$"
    ),
    re.compile(r"^\w+ (?P<kind>insights|broader insights) show what occupies (?P<who>[^:“]+?): (?P<others>[^:“]+)\.$"),
)  # fmt: skip


def read_back(text: str) -> ReadBack | None:
    """Read one of the engine's own insights; None when another wrote it."""
    for form in _FORMS:
        if match := form.match(text):
            groups = match.groupdict()
            others = _split(groups.get("others") or "")
            topic = groups.get("topic") or ""
            level = {"insights": 2, "broader insights": 3}.get(groups.get("kind") or "", 1)
            return ReadBack(_split(groups.get("who") or ""), _lowered(topic), others, level)
    return None


def _split(listed: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r", | and ", listed) if part)


def _lowered(topic: str) -> str:
    """A topic without the capital of a sentence's first word, where that is an article."""
    return topic[0].lower() + topic[1:] if re.match(r"(?:The|A|An) ", topic) else topic


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


def quote(memo: Memo, topic: str) -> str:
    """A short fragment of a memory around a topic, without greeting or address."""
    mention = memo.mentions.get(topic)
    sentence = mention.sentence if mention else words.sentences(memo.statement.text)[0]
    fragment = _without_opening(sentence).translate({0x201C: "‘", 0x201D: "’", 0x22: "'", 0x5B: "(", 0x5D: ")"})
    fragment = " ".join(fragment.split()).rstrip(" .,;:!?…-–—")
    if len(fragment) <= _QUOTE:
        return fragment
    surface = mention.surface if mention else ""
    at = max(0, fragment.find(surface))
    start, end = _window(fragment, at, at + len(surface))
    cut = fragment[start:end].strip(" ,;:–—-")
    return ("… " if start > 0 else "") + cut + (" …" if end < len(fragment) else "")


def _window(fragment: str, start: int, end: int) -> tuple[int, int]:
    """The part of a long fragment to quote: whole clauses around the topic, or words where they are too long."""
    clauses = [match.span() for match in re.finditer(r"[^,:;–—]+(?:[,:;–—]+\s*|$)", fragment)]
    low, high = next(((a, b) for a, b in clauses if a <= start < b), (0, len(fragment)))
    for a, b in clauses:
        if a == high and b - low <= _QUOTE:
            high = b
    for a, b in reversed(clauses):
        if b == low and high - a <= _QUOTE:
            low = a
    if high - low <= _QUOTE:
        return low, high
    if end - low > _QUOTE:
        wanted = max(low, start - _QUOTE // 2)
        space = fragment.find(" ", wanted, start)
        low = space + 1 if space >= 0 else wanted
    high = min(high, low + _QUOTE)
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


def most_common(items: Sequence[str]) -> str | None:
    """The item that occurs most often, at least twice; the first in the alphabet of equals."""
    counts = Counter(items)
    best = min(counts, key=lambda item: (-counts[item], item), default=None)
    return best if best is not None and counts[best] > 1 else None
