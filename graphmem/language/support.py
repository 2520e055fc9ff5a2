"""The support gate: whether cited memories bear out a text, as far as that shows without a model.

It is a floor: it refuses what cannot be right, and affirms nothing. A name or number that no cited memory holds, a
denial where the memories affirm (or the other way round), what a memory says of somebody else or of another time, a
plan told as done, the bare repetition of one memory, and a text that shares no word with what it cites are refused.
docs/support.md tells how well it does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from graphmem.language import clauses, words
from graphmem.language.base import Statement
from graphmem.language.clauses import Clause
from graphmem.language.text import normalise_text, shorten
from graphmem.language.words import Word, fold
from graphmem.models import Refused

_SAME_MATTER = 0.6
"""From this share of common words on, two clauses speak of the same matter, and may contradict each other."""
_DECIMALS = 3


def support(
    text: str, evidence: Sequence[Statement], *, given: Sequence[Statement] = (), quoting: bool = False
) -> dict[int, float] | Refused:
    """Check a text against the memories it cites.

    Args:
        text: What was inferred, without its citations.
        evidence: The cited memories; at least one.
        given: What is known without being cited, such as who the agent is; it bears out names and numbers.
        quoting: Whether it may say what a memory says and no more, as answers and utterances may.

    Returns:
        By the number of each memory, the share of the text's words that it holds, in [0, 1]; or a refusal.
    """
    known = [*evidence, *given]
    claimed = _without_literal(text, known)
    reason = (
        ("" if quoting else _repeats(text, evidence))
        or _told_as_done(text, evidence)
        or _unknown_name(claimed, known)
        or _unknown_number(claimed, known)
        or _disagrees(claimed, known)
    )
    scores = {statement.number: _score(text, statement) for statement in evidence}
    if not reason and not any(scores.values()):
        reason = "shares no word with the memories it cites"
    return Refused(gate="support", reason=reason, item=shorten(text)) if reason else scores


def _repeats(text: str, evidence: Sequence[Statement]) -> str:
    said = normalise_text(text)
    for statement in evidence:
        if said in {normalise_text(statement.text), normalise_text(f"{statement.source}: {statement.text}")}:
            return f"repeats memory {statement.number} instead of saying something over it"
    return ""


INTENTION = re.compile(
    r"\b(?:plan\w*|intend\w*|intention|will|going\s+to|hop(?:e|es|ing)\s+to|aims?\s+to|wants?\s+to|would\s+like|"
    r"schedul\w*|upcoming|looking\s+forward|next|tomorrow|later\s+today)\b",
    re.IGNORECASE,
)


_OUTCOMES = ("done", "missed", "dropped")
"""States of plans of which it is known what became of them."""


def _told_as_done(text: str, evidence: Sequence[Statement]) -> str:
    open_plans = [statement.type == "plan" and statement.state not in _OUTCOMES for statement in evidence]
    if evidence and all(open_plans) and not INTENTION.search(text):
        return "tells as done what the memories only plan"
    return ""


# --- names -----------------------------------------------------------------------------------------------------

_COMMON_ENDING = re.compile(
    r"(?:ing|ship|ness|tion|sion|ment|ity|ism|ance|ence|hood|dom|ure|acy|ology|ly|ful|less|ive|able|ible|ous|ical|"
    r"ung|ungen|heit|heiten|keit|keiten|schaft|schaften|tät|nis|nisse)s?$"
)
_PARTICIPLE = re.compile(r"(?:at|it|int|ct|ss|is|iz|os|us|uc|eas|iv|ow|ish|ch|id|end|ry|r[ks])ed$")
_FOREIGN = words.listed(
    """
    der die das den dem des ein eine einen einem einer es er sie wir ihr sein seine ihre mein weil obwohl wenn als
    nachdem seit seitdem zum zur im am trotz während beim vom auf in mit ohne für gegen nach vor bei unter über zwischen
    wegen da doch auch beide alle viele le la les un une des il elle ils elles on nous vous je ce cette ces selon depuis
    pendant après avant parce comme quand si malgré sans avec pour dans sur grâce el los las una unos unas él ella ellos
    según desde después antes porque cuando aunque sin con para en del al gli lo uno dopo prima perché quando con per
    het een de zij hij wij omdat hoewel toen sinds door voor met
    """
)
"""Words of other languages that open sentences and are no names."""
_ARTICLE = re.compile(
    r"\b(?:der|die|das|den|dem|des|ein|eine|einen|einem|einer|im|am|zum|zur|beim|vom|kein|keine|"
    r"keinen|sein|seine|seinen|ihr|ihre|ihren|mein|meine)\s+$",
    re.IGNORECASE,
)
_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|nicht|ein|eine|mit|von|zu|im|dem|den|hat|auf)\b")
_GERMAN_WORDS = 3
"""From this number of German function words on, a text is read as German, where every noun has a capital."""


def _unknown_name(text: str, evidence: Sequence[Statement]) -> str:
    known = {word.fold for statement in evidence for word in _words_of(statement)}
    spoken_to = _only_addressed(evidence)
    subject: Word | None = None
    for word, certain in _names(text):
        ordinary = word.fold in words.ORDINARY or bool(
            _COMMON_ENDING.search(word.fold) or _PARTICIPLE.search(word.text.casefold())
        )
        if not any(_same_name(word.fold, other) for other in known):
            if certain or not ordinary:
                return f"names {word.text}, whom or which no cited memory names"
        elif subject is None and not ordinary:
            subject = word
    if subject is not None and subject.fold in spoken_to:
        return f"is about {subject.text}, who is only spoken to in the cited memories"
    return ""


def _names(text: str) -> Iterator[tuple[Word, bool]]:
    """Words that are or may be names, and whether that is certain: a sentence's first word may be any."""
    german = len(_GERMAN.findall(text)) >= _GERMAN_WORDS
    for sentence in words.sentences(text):
        tokens = words.words(sentence)
        for position, word in enumerate(tokens):
            if not word.capital or words.is_stop(word.fold) or (len(word.text) == 1 and word.text.isascii()):
                continue
            if word.text.casefold() in _FOREIGN or (german and _ARTICLE.search(sentence[: word.start])):
                continue
            opens = word.initial or sentence[word.start - 1 : word.start] in {"“", "‘", '"', "'", "("}
            after_stop = position > 0 and sentence[: word.start].rstrip()[-1:] in {".", "!", "?", ":", "…"}
            yield word, not (opens or after_stop) or bool(re.search(r"['’]s$", word.text)) or _upper(word.text)


def _upper(text: str) -> bool:
    return len(text) > 1 and text.isupper()


def _same_name(name: str, known: str) -> bool:
    """Whether two folded words may be one name: equal, the first short for the second, or `Canadian` for `Canada`."""
    if name == known or (len(name) >= 3 and known.startswith(name) and len(known) - len(name) <= 6):
        return True
    return min(len(name), len(known)) >= 6 and name[:5] == known[:5]


def _only_addressed(evidence: Sequence[Statement]) -> set[str]:
    """Names that memories only call out (`Hey Sam!`), of people who say nothing in them."""
    called = {name for statement in evidence if statement.source for name in words.addressed(statement.text)}
    speakers = {word.fold for statement in evidence for word in words.words(statement.source or "")}
    told = {
        word.fold
        for statement in evidence
        for sentence in words.sentences(statement.text)
        for word in words.words(words.without_address(sentence) if statement.source else sentence)
    }
    return called - speakers - told


# --- numbers ---------------------------------------------------------------------------------------------------

_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBER_WORDS = (
    {word: str(value) for value, word in enumerate(_UNITS)}
    | {word: str(10 * value) for value, word in enumerate(_TENS, start=2)}
    | {"twice": "2", "thrice": "3", "dozen": "12", "hundred": "100", "thousand": "1000"}
)
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMERAL = re.compile(r"\d+(?:[.,:]\d+)*")
_COUNTED = re.compile(
    r"^\s*(?:\w+\s+){0,2}?(?:times?|memor(?:y|ies)|insights?|observations?|statements?|mentions?|occasions?|"
    r"conversations?|talks?|reflections?)\b",
    re.IGNORECASE,
)


def _unknown_number(text: str, evidence: Sequence[Statement]) -> str:
    # Whoever speaks may have a number in their name.
    told = [f"{statement.text} {statement.source or ''}" for statement in evidence]
    known = {value for text_ in told for value, _, _ in _numbers(text_)}
    for statement in evidence:
        known |= {str(statement.occurred_at.year), f"{statement.occurred_at:%H:%M}"}
        known |= {f"{statement.occurred_at.hour}:{statement.occurred_at:%M}"}
    dates = {(statement.occurred_at.day, statement.occurred_at.month) for statement in evidence}
    for value, start, end in _numbers(text):
        if value in known or value == "1":
            continue
        count = value.isdigit() and int(value) <= len(evidence)
        if count and (_COUNTED.match(text[end:]) or text[start:end].casefold() in {"twice", "thrice"}):
            continue
        if value.isdigit() and any(int(value) == day and _dated(text, start, end, month) for day, month in dates):
            continue
        return f"says {text[start:end]}, which no cited memory says"
    return _unknown_date(text, evidence)


def _numbers(text: str) -> Iterator[tuple[str, int, int]]:
    """Numbers of a text in one notation, with where they stand; `one` is too often no number."""
    folded = unicodedata.normalize("NFKC", text) if not text.isascii() else text
    source = folded if len(folded) == len(text) else text
    for match in _NUMERAL.finditer(source):
        yield _canonical(match[0]), match.start(), match.end()
    for match in re.finditer(r"[^\W\d_]+", source):
        value = _NUMBER_WORDS.get(match[0].casefold())
        if value is not None and value != "1":
            yield value, match.start(), match.end()


def _canonical(numeral: str) -> str:
    if ":" in numeral:
        return numeral
    plain = re.sub(r"[.,](?=\d{3}(?:\D|$))", "", numeral).replace(",", ".")
    whole, _, fraction = plain.partition(".")
    whole = whole.lstrip("0") or "0"
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def _dated(text: str, start: int, end: int, month: int) -> bool:
    """Whether a number stands beside the name of this month: `12 June`, `June 12`, `12 to 13 June`."""
    name = _MONTHS[month - 1][:3]
    after = re.match(rf"(?:st|nd|rd|th)?(?:\s+(?:to|and|of|[-–])?\s*\d{{1,2}})?\s+(?:of\s+)?{name}", text[end:], re.I)
    before = re.search(rf"{name}\w*\.?\s+(?:\d{{1,2}}\s*(?:to|and|[-–])\s*)?$", text[:start], re.I)
    return bool(after or before)


def _unknown_date(text: str, evidence: Sequence[Statement]) -> str:
    """A month or weekday that no cited memory names and on which none happened."""
    known = {fold(word.text) for statement in evidence for word in _words_of(statement)}
    known |= {fold(_MONTHS[statement.occurred_at.month - 1]) for statement in evidence}
    known |= {fold(_DAYS[statement.occurred_at.weekday()]) for statement in evidence}
    # Said on a Monday, "last Friday" and "tomorrow" are dates that only a reader of calendars can check.
    for match in re.finditer(r"\b[A-Z][a-z]+\b", text):
        name = match[0].casefold()
        name = name.removesuffix("s") if name.removesuffix("s") in _DAYS else name
        sure = name not in {"may", "march"} or bool(re.search(r"\d\s*$|\bin\s*$", text[: match.start()]))
        if name in {*_MONTHS, *_DAYS} and sure and fold(name) not in known:
            return f"says {match[0]}, which no cited memory says"
    return ""


# --- what is said of whom, and when ------------------------------------------------------------------------------


def _disagrees(text: str, evidence: Sequence[Statement]) -> str:
    """A clause that says of the same matter the contrary, of somebody else, or of another time."""
    told = [
        (statement, clause, frozenset(word.fold for word in words.words(statement.source or "")))
        for statement in evidence
        for clause in clauses.clauses(statement.text)
    ]
    for ours in clauses.clauses(text):
        if len(ours.tokens) < 2:
            continue
        ranked = [(clauses.closeness(ours, clause, source), statement, clause) for statement, clause, source in told]
        closest = max((rank for rank, _, _ in ranked), default=(0.0, 0.0))
        if closest[0] < _SAME_MATTER:
            continue
        near = [(statement, clause) for rank, statement, clause in ranked if rank == closest]
        number = near[0][0].number
        if verdict := _contradicted(ours, [entry for entry in ranked if entry[0][0] >= _SAME_MATTER]):
            return verdict
        swaps = [clauses.swaps(ours, clause) for _, clause in near]
        if (pair := swaps[0]) is not None and all(swaps):
            return f"says of {pair[1].title()} and {pair[0].title()} what memory {number} says the other way round"
        times = [clauses.other_time(ours, clause) for _, clause in near]
        if all(times) and times[0] is not None:
            return f"says {times[0][0]}, where memory {number} says {times[0][1]}"
        if other := _said_of_another(ours, [(statement, clause) for statement, clause, _ in told]):
            return other
    return ""


def _contradicted(ours: Clause, told: Sequence[tuple[tuple[float, float], Statement, Clause]]) -> str:
    """What the closest clause denies or affirms to the contrary, unless one at least as close bears it out."""
    against = (0.0, 0.0)
    borne_out = (0.0, 0.0)
    reason = ""
    for rank, statement, clause in told:
        if verdict := clauses.contradicts(ours, clause):
            if rank > against:
                against = rank
                reason = f"{verdict} what memory {statement.number} {'affirms' if verdict == 'denies' else 'denies'}"
        elif clauses.bears_out(ours, clause):
            borne_out = max(borne_out, rank)
    return reason if against > borne_out else ""


def _said_of_another(ours: Clause, told: Sequence[tuple[Statement, Clause]]) -> str:
    """A clause on one person alone, all of whose words one memory says of somebody else."""
    rest = ours.matter - ours.names
    if len(rest) < 2 or not ours.names or not all(token.name for token in ours.tokens[: len(ours.names)]):
        return ""
    for statement, clause in told:
        if not rest <= clause.matter or ours.names & _spoken_of(statement, clause):
            continue
        somebody = bool(clause.names - rest) or (statement.source is not None and _first_person(statement.text))
        if not somebody or clauses.speaks_of_others(clause):
            continue
        of_ours = [other for one, other in told if ours.names & _spoken_of(one, other)]
        if not any(2 * len(rest & other.matter) >= len(rest) for other in of_ours):
            return f"says of {ours.tokens[0].key.title()} what memory {statement.number} says of another"
    return ""


def _spoken_of(statement: Statement, clause: Clause) -> frozenset[str]:
    """The names that a memory may speak of; its source counts unless another name opens what it says."""
    names = frozenset(word.fold for word in _words_of(statement) if word.capital)
    source = frozenset(word.fold for word in words.words(statement.source or ""))
    if source and clause.tokens and clause.tokens[0].name and not _first_person(clause.text):
        opening = clause.tokens[0].key
        if opening not in source and not words.is_stop(opening):
            return names - source | frozenset(token.key for token in clause.tokens if token.name)
    return names


def _first_person(text: str) -> bool:
    return any(word.fold in words.FIRST_PERSON for word in words.words(text))


def _without_literal(text: str, evidence: Sequence[Statement]) -> str:
    """A text without the quotations that stand word for word in a cited memory."""
    said = [_plain(f"{statement.text} {statement.reason or ''}") for statement in evidence]

    def known(match: re.Match[str]) -> str:
        pieces = [_plain(piece) for piece in match[1].split("…")]
        return " " if any(all(piece in one for piece in pieces) for one in said) else match[0]

    return re.sub("“([^“”]*)”", known, text)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


# --- score -----------------------------------------------------------------------------------------------------


def _words_of(statement: Statement) -> list[Word]:
    text = " . ".join([statement.text, statement.source or "", statement.reason or "", *statement.keywords])
    return [word for sentence in words.sentences(text) for word in words.words(sentence)]


def _score(text: str, statement: Statement) -> float:
    ours = {word.fold for sentence in words.sentences(text) for word in words.words(sentence)}
    ours = {key for key in ours if not words.is_stop(key)} or ours
    theirs = {word.fold for word in _words_of(statement)}
    return round(len(ours & theirs) / len(ours), _DECIMALS) if ours else 0.0
