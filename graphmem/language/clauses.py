"""Clauses for the support gate: what each is about, what it denies, who does what to whom, and when.

Read by closed classes of words only: negators and function words of some languages, units of time.
What a sentence means is not known here; only that two clauses which share their words differ in one of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graphmem.language import words
from graphmem.language.words import Word

_CLAUSE = re.compile(
    r"[,:](?!\d)|[;()]|\s[-–—]\s|"
    r"\b(?:but|because|although|though|while|whereas|and|since|so that|who|which|"
    r"aber|weil|obwohl|während|und|mais|parce|quoique|et|pero|porque|aunque|y)\b",
    re.IGNORECASE,
)
_ELISION = re.compile(r"(?:[ldjmtsc]|qu|n)['’](?=\w{2})", re.IGNORECASE)

_NEGATORS = words.listed(
    """
    not no never none nobody nothing nowhere neither nor cannot hardly barely no-one
    nicht kein keine keinen keinem keiner keines nie niemals niemand nirgends
    ne pas jamais aucun aucune rien nunca jamás nadie ningún ninguna ninguno non nessuno nessuna não nunca nenhum
    niet geen nooit niemand inte ingen inget aldrig не нет никогда никто nie nigdy
    """
)
_WITHOUT = words.listed("without ohne sans sin senza sem zonder utan без bez")
_NO_DENIAL = re.compile(r"\s+(?:only|just|merely|simply|until|doubt|wonder|matter|sooner|less|fewer|later)\b", re.I)
"""What follows a negator that denies nothing: `not only`, `not until`, `no doubt`."""
_PASSED_OVER = words.vocabulary("longer more yet ever any even really actually quite able like a far")

_REVERSES = words.vocabulary(
    """
    refuse fail forget stop quit resign cancel reject avoid decline miss lose abandon drop lack give-up gave given
    giving refusal prevent forbid cease end skip deny doubt unable impossible instead empty run
    """
)
"""Words that turn what follows into what is not so: where only one of two clauses has one, they may agree."""

_TIMES = (
    words.vocabulary("second minute hour day week fortnight month year decade"),
    words.vocabulary("morning noon midday afternoon evening night midnight"),
    words.vocabulary("spring summer autumn fall winter"),
)
_SAME_TIME = {"fall": "autumn", "midday": "noon"}
_EARLIER, _LATER = frozenset({"before"}), frozenset({"after"})

_PRONOUNS = words.vocabulary("he she they him her his hers their them it its who whom whose")


@dataclass(frozen=True)
class Token:
    """A word of a clause that carries meaning."""

    key: str
    denied: bool
    name: bool
    after: str
    """The word right before it, folded: a preposition, a determiner, or nothing."""


@dataclass(frozen=True)
class Clause:
    """One clause, reduced to its words that carry meaning, in their order."""

    text: str
    tokens: tuple[Token, ...]
    heads: frozenset[str]
    """What is denied first of all: the first word of meaning after each negator."""

    @property
    def matter(self) -> frozenset[str]:
        """The keys of its words; what denies is left out."""
        return frozenset(token.key for token in self.tokens)

    @property
    def names(self) -> frozenset[str]:
        """The keys of its words that begin with a capital."""
        return frozenset(token.key for token in self.tokens if token.name)

    @property
    def reversing(self) -> frozenset[str]:
        """The keys of its words that turn a meaning round."""
        return self.matter & _REVERSES

    def denies(self, key: str) -> bool:
        """Whether a word stands within the reach of a negator."""
        return any(token.denied for token in self.tokens if token.key == key)


def clauses(text: str) -> list[Clause]:
    """The clauses of a text that hold two words of meaning or more; shorter ones belong to the one before."""
    found: list[Clause] = []
    for sentence in words.sentences(words.without_captions(text)):
        parts: list[str] = []
        start = 0
        for match in [*_CLAUSE.finditer(sentence), None]:
            end = match.start() if match else len(sentence)
            piece = sentence[start:end]
            if piece.strip():
                parts.append(piece)
            start = match.end() if match else end
        found.extend(clause for part in parts if len((clause := read(part)).tokens) > 0)
    return found


def read(text: str) -> Clause:
    """Read one clause."""
    tokens: list[Token] = []
    heads: set[str] = set()
    denied = without = False
    awaited = False  # A negator stands before, and the word that it denies first is still to come.
    before = ""
    for word, negator in _tokens(text):
        plain = word.text.casefold().replace("’", "'")
        if negator or plain.endswith("n't") or plain in _NEGATORS:
            if not _NO_DENIAL.match(text[word.end :]):
                awaited = awaited or not denied
                denied = True
            before = plain
            continue
        if plain in _WITHOUT:
            # `Not without` leaves one head, what it cannot be without; alone it denies what follows.
            heads.clear()
            without, awaited, before = True, True, plain
            continue
        if _means(word):
            if awaited and word.fold not in _PASSED_OVER:
                heads.add(word.fold)
                awaited = False
            tokens.append(Token(word.fold, denied != without, word.capital, before))
        before = plain
    if awaited and tokens and denied and not heads:
        # The negator stands at the end, as in German: it denies the word before it.
        heads.add(tokens[-1].key)
        tokens[-1] = Token(tokens[-1].key, True, tokens[-1].name, tokens[-1].after)
    return Clause(text, tuple(tokens), frozenset(heads))


def _tokens(text: str) -> Iterator[tuple[Word, bool]]:
    """Words, each with whether it is a negator that was elided into the next word, as in `n'aime`."""
    for word in words.words(text):
        match = _ELISION.match(word.text)
        if match is None:
            yield word, False
            continue
        if word.text[0].casefold() == "n":
            yield Word("ne", "ne", word.start, word.start + 1, word.initial), True
        rest = word.text[match.end() :]
        yield Word(rest, words.fold(rest), word.start + match.end(), word.end, word.initial), False


def _means(word: Word) -> bool:
    return word.fold not in words.FUNCTION and word.fold not in words.FILLER


# --- two clauses -----------------------------------------------------------------------------------------------


def closeness(ours: Clause, theirs: Clause, also: frozenset[str] = frozenset()) -> tuple[float, float]:
    """How far two clauses speak of the same matter: the share of our words in theirs, then of both in common.

    Args:
        ours: What was written.
        theirs: A clause of a memory.
        also: What is said along with it: the words of its source.
    """
    matter = theirs.matter | also
    common = ours.matter & matter
    if not common:
        return 0.0, 0.0
    return len(common) / len(ours.matter), len(common) / len(ours.matter | theirs.matter)


def contradicts(ours: Clause, theirs: Clause) -> str:
    """``denies`` or ``affirms``, where ours does so with what theirs affirms or denies; else nothing.

    The word that is denied first has to be in both: that somebody `has not been paid` does not contradict that
    somebody `owes`.
    """
    if ours.reversing != theirs.reversing:
        return ""
    common = ours.matter & theirs.matter
    for key in sorted(ours.heads & common):
        if ours.denies(key) != theirs.denies(key):
            return "denies" if ours.denies(key) else "affirms"
    for key in sorted(theirs.heads & common):
        if ours.denies(key) != theirs.denies(key):
            return "denies" if ours.denies(key) else "affirms"
    return ""


def bears_out(ours: Clause, theirs: Clause) -> bool:
    """Whether theirs says or denies what ours does: the word that ours denies first, or any where it denies none."""
    disputed = ours.heads or frozenset(token.key for token in ours.tokens if not token.name)
    return any(ours.denies(key) == theirs.denies(key) for key in disputed & theirs.matter)


_TURNS_ROUND = words.listed(
    "by from of to with for than von vom durch zu mit par de à avec por a con da di till av från"
)
"""Prepositions that give a name the other part: `gets tips from`, `was found by`."""


def swaps(ours: Clause, theirs: Clause) -> tuple[str, str] | None:
    """Two names that have changed places around a word that both clauses have between them."""
    names = [token.key for token in theirs.tokens if token.name and token.key in ours.names]
    for first in names:
        for second in names[names.index(first) + 1 :]:
            them, us = _between(theirs, first, second), _between(ours, second, first)
            if them and us and them[0] & us[0] and them[1] == us[1]:
                return first, second
    return None


def _between(clause: Clause, first: str, second: str) -> tuple[frozenset[str], bool] | None:
    """The words between two names, and whether the second one follows a preposition."""
    keys = [token.key for token in clause.tokens]
    if first not in keys or second not in keys or keys.index(first) >= keys.index(second):
        return None
    start, end = keys.index(first), keys.index(second)
    inner = frozenset(token.key for token in clause.tokens[start + 1 : end] if not token.name)
    return inner, clause.tokens[end].after in _TURNS_ROUND or clause.tokens[start].after in _TURNS_ROUND


def other_time(ours: Clause, theirs: Clause) -> tuple[str, str] | None:
    """A unit or part of time that ours has and theirs has not, with the one of the same kind that theirs has."""
    for kind in _TIMES:
        mine = {_SAME_TIME.get(key, key) for key in ours.matter & kind}
        other = {_SAME_TIME.get(key, key) for key in theirs.matter & kind}
        if mine and other and not mine & other:
            return min(mine), min(other)
    return _other_order(ours.text, theirs.text)


def _other_order(ours: str, theirs: str) -> tuple[str, str] | None:
    """`Before` and `after` the same."""
    mine, other = _ordered(ours), _ordered(theirs)
    for word, key in mine:
        if any(key == known and word != told for told, known in other) and (word, key) not in other:
            return word, "after" if word in _EARLIER else "before"
    return None


def _ordered(text: str) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    order = ""
    for word in words.words(text):
        plain = word.text.casefold()
        if plain in _EARLIER | _LATER:
            order = plain
        elif order and _means(word):
            found.add((order, word.fold))
            order = ""
    return found


def speaks_of_others(clause: Clause) -> bool:
    """Whether a pronoun in a clause stands for somebody that is not named before it."""
    for word in words.words(clause.text):
        if word.capital and word.fold in clause.names and not words.is_stop(word.fold):
            return False
        if word.fold in _PRONOUNS:
            return True
    return False
