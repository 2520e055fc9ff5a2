"""Answering and telling without a model: what a memory says, quoted, where it is really about the matter.

Words decide, not likeness in meaning, which may refuse but never affirm. What is told is told word for word, with who
said it, so that nothing can be added on the way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from graphmem.language import oneself, words
from graphmem.language.asking import MOST_SENTENCES, AnswerQuestion, CheckClaims
from graphmem.language.base import Statement
from graphmem.language.insights import read_back
from graphmem.language.text import normalise_text

MOST_QUOTED = 4
"""Memories that an answer quotes."""
LONGEST = 400
"""Characters of a quotation; of a longer text the sentences from the beginning that have room."""
_ABOUT = 0.5
"""From this share of the words of a question on, a memory is about it."""
_ASKING = words.vocabulary(
    """
    know tell say think remember recall describe explain mention hear happen name introduce want like do
    please anything something think about someone somebody
    """
)
"""Words of a question that ask and name no matter."""
_SAYINGS = (
    (re.compile(r"\bgoing\s+on\b", re.IGNORECASE), " "),
    (re.compile(r"\bfor\s+a\s+living\b", re.IGNORECASE), " work"),
)
"""What asks for something else than its words: what happens, and nobody's going; work, and nobody's living."""


@dataclass(frozen=True)
class Matter:
    """What a question, or a topic, is about."""

    names: frozenset[str]
    """Folded words that name somebody or something."""
    topics: frozenset[str]
    """Its other folded words that carry meaning."""

    def share(self, statement: Statement) -> float:
        """How far a memory is about it, in [0, 1]: all names, and at least half of the other words; else 0."""
        held = keys_of(statement)
        if self.names and not all(any(_same(name, key) for key in held) for name in self.names):
            return 0.0
        if not self.topics:
            return 1.0 if self.names else 0.0
        found = sum(any(_same(topic, key) for key in held) for topic in self.topics) / len(self.topics)
        return found if found >= _ABOUT else 0.0


def matter(text: str, *, besides: str = "") -> Matter:
    """What a question or topic is about.

    Args:
        text: The question.
        besides: Whose memory is asked: its own name says nothing.
    """
    own = {words.fold(word.text) for word in words.words(besides)}
    names: set[str] = set()
    topics: set[str] = set()
    for saying, meant in _SAYINGS:
        text = saying.sub(meant, text)
    for sentence in words.sentences(text):
        for word in words.words(sentence):
            if word.fold in words.FUNCTION or word.fold in words.FILLER or word.fold in _ASKING or word.fold in own:
                continue
            if word.fold in words.SECOND_PERSON or word.fold in words.FIRST_PERSON:
                continue
            (names if word.capital and not word.initial else topics).add(word.fold)
    return Matter(frozenset(names), frozenset(topics))


def keys_of(statement: Statement) -> frozenset[str]:
    """The folded words of a memory, of who said it and of its keywords."""
    text = " . ".join([statement.text, statement.source or "", *statement.keywords])
    return frozenset(word.fold for sentence in words.sentences(text) for word in words.words(sentence))


def _same(one: str, other: str) -> bool:
    """Whether two folded words are the same, or one the other with an ending: `invite`, `invitation`."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= 5 and long[:5] == short[:5] and len(long) - len(short) <= 6


def answer_question(task: AnswerQuestion) -> dict[str, Any]:
    """The memories that are about the question, quoted; what their speaker said right after goes with them."""
    if moments := [datetime.fromisoformat(f"{day}T{clock}:00+00:00") for day, clock in _MOMENT.findall(task.question)]:
        planned = [one for one in task.statements if any(_planned_for(one, moment) for moment in moments)]
        finest = sorted(planned, key=lambda one: (one.end or moments[0]) - (one.start or moments[0]))[:1]
        return {"sentences": [{"text": told(one, task.who), "evidence": [one.number]} for one in finest]}
    if task.day is not None and (planned := _planned_on(task, *task.day)):
        return {"sentences": [{"text": told(one, task.who), "evidence": [one.number]} for one in planned]}
    of_self = oneself.asked_of(task.question, task.who)
    own = oneself.told_of(task.own, of_self) if task.own is not None else []
    asked = matter(task.question, besides=task.who)
    question = normalise_text(task.question)
    specific = _OPEN.search(task.question) is None
    course = bool(_COURSE.search(task.question))
    about = {
        statement.number: share
        for statement in task.statements
        if (share := asked.share(statement))
        and (normalise_text(statement.text) != question or (specific and _only_asks(statement)))
        # What it works at is in the description; where it lives may have changed.
        and (not of_self or (oneself.is_of(statement, task.who) and ("home" in of_self or not own)))
        # That memories return to something is an answer only where it is asked what came of it.
        and (course or statement.type != "reflection" or read_back(statement.text) is None)
    }
    # A summary quotes what is shown beside it.
    summaries = {one.number for one in task.statements if one.type == "reflection" and one.kind == "summary"}
    if about.keys() - summaries:
        about = {number: share for number, share in about.items() if number not in summaries}
    shown = {statement.number: statement for statement in task.statements}
    if specific:
        about = _answered(about, shown)
    ranked = sorted(about, key=lambda number: (-about[number], number))[:MOST_QUOTED]
    further = (
        more for number in ranked for more in said_next(shown[number], shown) if _adds(task, shown, number, more)
    )
    ranked = list(dict.fromkeys([*ranked, *further]))
    chosen: list[Statement] = []
    said: set[str] = set()
    for number in sorted(ranked):
        key = normalise_text(_PART.sub("", shown[number].text))
        if key not in said:
            said.add(key)
            chosen.append(shown[number])
    quoted = [{"text": told(one, task.who), "evidence": [one.number]} for one in chosen]
    return {"sentences": [*({"text": text, "evidence": [oneself.OWN]} for text in own), *quoted]}


_OPEN = re.compile(
    r"\b(?:know|tell|told|hear|heard|say|said|asks?|asked|question|wants?|invit\w+|think|happen\w*|going\s+on|been|remember|"
    r"mention\w*|about)\b",
    re.IGNORECASE,
)
"""A question for all that is known of something: that somebody asks about it belongs to that."""


def _answered(about: Mapping[int, float], shown: Mapping[int, Statement]) -> dict[int, float]:
    """A question is no answer to a question: what another said to it right after stands in its place."""
    found: dict[int, float] = {}
    for number, share in about.items():
        numbers = _replies(shown[number], shown) if _only_asks(shown[number]) else [number]
        for one in numbers:
            found[one] = max(share, found.get(one, 0.0))
    return found


def _only_asks(statement: Statement) -> bool:
    return statement.kind == "utterance" and all(
        sentence.rstrip("\"'”’)").endswith("?") for sentence in words.sentences(statement.text)
    )


def _replies(question: Statement, shown: Mapping[int, Statement]) -> list[int]:
    """What was said to a question first, by another than who asked it, if it says something."""
    after = [
        other
        for other in shown.values()
        if other.kind == "utterance" and timedelta() < other.occurred_at - question.occurred_at <= _NEXT
    ]
    first = min(after, key=lambda other: (other.occurred_at, other.number), default=None)
    if first is None or first.source == question.source or _only_asks(first) or not _says_something(first):
        return []
    return [first.number]


_WHEN = re.compile(r"\b(?:when|what\s+time|(?:what|which)\s+(?:day|date|year|month))\b", re.IGNORECASE)
_TIME = re.compile(
    r"\d|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|"
    r"october|november|december|today|tonight|tomorrow|yesterday|noon|midnight|morning|evening|afternoon|week(?:end)?|"
    r"month|year|o['’]clock|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b",
    re.IGNORECASE,
)


def _adds(task: AnswerQuestion, shown: Mapping[int, Statement], number: int, more: int) -> bool:
    """Whether what a speaker said next belongs to the answer: it says something, and a time where that is asked."""
    if not _says_something(shown[more]):
        return False
    if not _WHEN.search(task.question):
        return True
    return _TIME.search(shown[number].text) is None and _TIME.search(shown[more].text) is not None


def _says_something(statement: Statement) -> bool:
    """Whether a turn holds more than common words, a time, and the name of who speaks."""
    own = {word.fold for word in words.words(statement.source or "")}
    keys = {word.fold for sentence in words.sentences(statement.text) for word in words.words(sentence)}
    return bool(_TIME.search(statement.text)) or any(not words.is_stop(key) for key in keys - own)


_COURSE = re.compile(r"\b(?:happening|happened|come\s+to\s+think|think|been\s+saying|connects|gather)\b", re.IGNORECASE)
"""A question for what came of something, or what is thought of it."""
_PART = re.compile(r"\s+\(\d+ of \d+\)$")
"""How the built-in engine numbers the steps of one plan."""
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})(?:T| at | )(\d{2}:\d{2})(?: ?UTC|Z)")


_SLEEPS = re.compile(r"\b(?:sleep|asleep)\b", re.IGNORECASE)


def _planned_on(task: AnswerQuestion, start: datetime, end: datetime) -> list[Statement]:
    """What begins on a day, in large and in its order, and became of it, or is still ahead; sleep is left out."""
    plans = [
        one for one in task.statements if one.type == "plan" and one.start is not None and start <= one.start < end
    ]
    plans = [one for one in plans if one.kind == "day"] or plans
    plans = [one for one in plans if (one.state in ("done", "missed", "dropped")) == task.done]
    plans = [one for one in plans if not _SLEEPS.search(one.text)] or plans
    return sorted(plans, key=lambda one: (one.start or start, one.number))[:MOST_SENTENCES]


def _planned_for(statement: Statement, moment: datetime) -> bool:
    """Whether it is a plan for that moment."""
    return statement.start is not None and statement.end is not None and statement.start <= moment < statement.end


_NEXT = timedelta(minutes=5)
"""How soon after one another two utterances of a speaker belong together."""


def said_next(statement: Statement, shown: Mapping[int, Statement]) -> list[int]:
    """What the same speaker said right after: the topic alone, without its invitation, is a fragment."""
    if statement.kind != "utterance":
        return []
    after = [
        other
        for other in shown.values()
        if other.source == statement.source
        and other.kind == "utterance"
        and timedelta() < other.occurred_at - statement.occurred_at <= _NEXT
    ]
    return [other.number for other in sorted(after, key=lambda other: other.occurred_at)[:1]]


def check_claims(task: CheckClaims) -> dict[str, Any]:
    """Without a model nothing is affirmed: a sentence follows where all that it says is quoted."""
    shown = {statement.number: statement for statement in task.statements}
    verdicts: list[dict[str, Any]] = []
    for number, claim in enumerate(task.claims, start=1):
        said = " ".join(normalise_text(shown[n].text) for n in claim.evidence if n in shown)
        quoted = re.findall("“([^“”]*)”", claim.text) or [claim.text]
        verdicts.append({"number": number, "follows": all(normalise_text(part) in said for part in quoted)})
    return {"verdicts": verdicts}


def told(statement: Statement, who: str) -> str:
    """A memory as its owner tells it: as it stands, with who said it, or as what it is where it was not perceived."""
    text = " ".join(beginning(statement.text).split())
    match statement.type:
        case "plan":
            return f"{_PLANNED.get(statement.state or '', 'I plan')}: “{inner(_PART.sub('', text))}”"
        case "reflection":
            return f"{_INFERRED.get(statement.kind, 'I gather')}: “{inner(text)}”"
        case _:
            pass
    if (
        statement.source is None
        or statement.source.casefold() == who.casefold()
        or names_speaker(text, statement.source)
    ):
        return text
    if found := _RELAYED.fullmatch(text):
        # What somebody was told and tells on: who said it first, and who told of it.
        origin = found["first"] or found["origin"]
        return f"I heard from {statement.source} what {origin} said: “{found['text']}”"
    return f"{statement.source} told me: “{inner(text)}”"


_PLANNED = {
    "done": "I planned and did this",
    "missed": "I planned this and missed it",
    "dropped": "I planned this and dropped it",
}
_INFERRED = {"summary": "In short", "procedure": "I have learned"}
_SAYS = (
    r"(?:(?:has|just|once)\s+)?"
    r"(?:said|says|told|tells|asked|asks|mentioned|wrote|writes|explained|replied|answered)\b"
)


def names_speaker(text: str, source: str) -> bool:
    """Whether a text opens with who says it, as in ``Pavel said: the ferry is late``: then no speaker goes before."""
    names = "|".join(re.escape(name) for name in dict.fromkeys([source, *source.split()[:1]]))
    return re.match(rf"\W*(?:{names})\s+{_SAYS}", text, re.IGNORECASE) is not None


_RELAYED = re.compile(
    r"(?:(?P<first>[^“”:]{1,80}) told me|I heard from [^“”:]{1,80}? what (?P<origin>[^“”:]{1,80}) said): "
    r"“(?P<text>[^“”]*)”"
)


def inner(text: str) -> str:
    """A text within quotation marks, its own ones made single."""
    return text.replace("“", "‘").replace("”", "’").replace('"', "'")


def beginning(text: str) -> str:
    """The sentences of a text that have room, from its beginning; at least the first one, cut."""
    if len(text) <= LONGEST:
        return text
    kept = ""
    for sentence in words.sentences(text):
        if len(kept) + len(sentence) + 1 > LONGEST:
            break
        kept = f"{kept} {sentence}".strip()
    return kept or text[:LONGEST].rsplit(" ", 1)[0]
