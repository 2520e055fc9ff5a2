"""What memories are about: topics, who speaks of them, and which memories share them.

A topic is a word or pair of words that several memories have in common and that stands where a noun stands. Whatever
is found depends on the given memories alone, so that the same memories always give the same topics.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from graphmem.language import words
from graphmem.language.base import Statement
from graphmem.language.words import Word, fold, is_stop

_HEAD, _GERUND, _PLAIN, _MODIFIER, _VERB, _PREDICATE = 1.0, 0.75, 0.6, 0.35, 0.15, 0.05
"""How well a place in a sentence suits a noun: after an article best, after a pronoun or `very` worst."""
_NOUN_ENOUGH = 0.45
_COMPANION = 0.65
_ORDINARY = ("ing", "ed", "ly", "s", "hood", "ship", "ness", "ment", "tion", "ity", "th")
"""Endings of words that often open a sentence without being names."""
_DESCRIBING = ("ed", "able", "ible", "ful", "less", "ous")
"""Endings of words that describe others rather than name something."""
_TWO_REMARKS = 0.7
"""Two remarks share a word by chance more often than two events do."""


@dataclass(frozen=True)
class Mention:
    """A word or pair of words in a sentence of a memory."""

    key: str
    surface: str
    sentence: str
    noun: float
    """0–1: how much its place is that of a noun."""
    before: str
    """The folded word before it, or nothing."""
    name: bool


@dataclass(frozen=True)
class Memo:
    """A statement with the topics it mentions, in order."""

    statement: Statement
    mentions: dict[str, Mention] = field(default_factory=dict[str, Mention])

    @property
    def number(self) -> int:
        """What it is cited by."""
        return self.statement.number

    @property
    def who(self) -> str | None:
        """Who said it."""
        return self.statement.source

    @property
    def derived(self) -> bool:
        """Whether it was inferred."""
        return self.statement.type == "reflection"


@dataclass(frozen=True)
class Cluster:
    """Memories that share a topic."""

    topic: str
    who: str | None
    """The only one who speaks of it; None when several do, or when nobody speaks."""
    members: tuple[Memo, ...]
    weight: float


class Reader:
    """Reads a set of statements together: names and speakers are known from all of them."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.statements = tuple(sorted(statements, key=lambda s: (s.occurred_at, s.number)))

    @cached_property
    def speakers(self) -> tuple[str, ...]:
        """Everyone who said something, sorted."""
        return tuple(sorted({s.source for s in self.statements if s.source}))

    @cached_property
    def _addressed(self) -> frozenset[str]:
        """Folded words by which people are called: the names of speakers, and whoever is addressed (`Hey Sam!`)."""
        called = {fold(word.text) for speaker in self.speakers for word in words.words(speaker)}
        for statement in self.statements:
            if statement.source is not None:
                called.update(words.addressed(words.without_captions(statement.text)))
        return frozenset(called)

    def is_speaker(self, word: Word) -> bool:
        """Whether a word names somebody who speaks or is spoken to, possibly shortened."""
        if word.fold in self._addressed:
            return True
        short = word.fold.rstrip("l") if word.capital and len(word.fold) <= 5 else ""
        return len(short) >= 2 and any(name.startswith(short) for name in self._addressed)

    @cached_property
    def names(self) -> frozenset[str]:
        """Folded words that are names: never without a capital, and not only because they open a sentence."""
        inside: Counter[str] = Counter()
        opening: Counter[str] = Counter()
        lower: Counter[str] = Counter()
        before_name: set[str] = set()
        for statement in self.statements:
            for sentence in words.sentences(words.without_captions(statement.text)):
                tokens = words.words(sentence)
                for word, after in zip(tokens, [*tokens[1:], None], strict=False):
                    if not word.capital:
                        lower[word.fold] += 1
                    elif not word.initial:
                        inside[word.fold] += 1
                    elif not word.text.endswith(_ORDINARY) and word.fold not in words.ORDINARY:
                        opening[word.fold] += 1
                        if after and after.capital:
                            before_name.add(word.fold)
        often = {key for key, n in opening.items() if (n > 1 or key in before_name) and not lower[key]}
        return frozenset(
            key for key in {*inside, *often} if (inside[key] > lower[key] or key in often) and not is_stop(key)
        )

    @cached_property
    def memos(self) -> tuple[Memo, ...]:
        """The statements with their mentions, in order of time."""
        return tuple(self._memo(statement) for statement in self.statements)

    def _memo(self, statement: Statement) -> Memo:
        mentions: dict[str, Mention] = {}
        for sentence in own_sentences(statement):
            for mention in self._mentions(sentence):
                known = mentions.get(mention.key)
                if known is None or mention.noun > known.noun:
                    mentions[mention.key] = mention
        return Memo(statement, mentions)

    def _mentions(self, sentence: str) -> Iterable[Mention]:
        tokens = words.words(sentence)
        for position, word in enumerate(tokens):
            before = tokens[position - 1] if position else None
            after = tokens[position + 1] if position + 1 < len(tokens) else None
            adjoining = after if after and not sentence[word.end : after.start].strip() else None
            if before and sentence[before.end : word.start].strip(" '\"“”‘’("):
                before = None
            name = word.fold in self.names and word.capital
            noun = self._noun(word, before, adjoining, name)
            article = before.fold if before else ""
            if name and noun < _HEAD:
                article = ""  # the article of what the name describes: `the LGBTQ community`
            elif before and position > 1 and article not in words.FUNCTION:
                article = tokens[position - 2].fold  # `a soccer accident`
            if not is_stop(word.fold) and not self.is_speaker(word):
                yield Mention(word.fold, word.text, sentence, noun, article, name)
            if adjoining and self._pairs(word, adjoining):
                key = f"{word.fold} {adjoining.fold}"
                surface = f"{word.text} {adjoining.text}"
                beyond = tokens[position + 2] if position + 2 < len(tokens) else None
                if beyond and sentence[adjoining.end : beyond.start].strip():
                    beyond = None
                both = name and adjoining.capital
                noun = max(_PLAIN, self._noun(adjoining, before, beyond, both))
                yield Mention(key, surface, sentence, noun, article, both)

    def _pairs(self, first: Word, second: Word) -> bool:
        """Whether two adjoining words can be one topic, such as `tide gauge`."""
        loose = words.FUNCTION | words.FILLER
        if first.fold in loose or second.fold in loose or self.is_speaker(first) or self.is_speaker(second):
            return False
        if first.fold == second.fold or first.text[0].isdigit() or second.text[0].isdigit():
            return False
        if first.fold in words.STOP and not (first.capital and not first.initial):
            return False
        if is_stop(second.fold) and second.fold not in words.COMMON_NOUNS:
            return False
        return len(second.fold) > 2 and not first.text.endswith(("'s", "’s"))

    def _noun(self, word: Word, before: Word | None, after: Word | None, name: bool) -> float:
        if name:
            return _PLAIN if after and words.is_nominal(after.fold) else _HEAD
        if word.text.endswith(_DESCRIBING) and len(word.text) > 4:
            return _MODIFIER
        if after and words.is_nominal(after.fold):
            return _MODIFIER
        if before is None:
            return _GERUND if word.text.endswith("ing") else _PLAIN
        if before.fold in words.BEING:
            return _PREDICATE
        if before.fold in words.BEFORE_VERBS:
            return _VERB
        if before.fold in words.DETERMINERS or before.fold in words.PREPOSITIONS or before.text.endswith(("'s", "’s")):
            return _HEAD
        return _GERUND if word.text.endswith("ing") else _PLAIN

    # --- clusters ----------------------------------------------------------------------------------------------

    def holding(self, topic: str, who: str | None = None, *, among: Iterable[Memo] | None = None) -> tuple[Memo, ...]:
        """The memories that mention a topic, in order of time; of one speaker where given."""
        memos = self.memos if among is None else among
        return tuple(memo for memo in memos if topic in memo.mentions and (who is None or memo.who == who))

    def clusters(self, *, among: Iterable[Memo] | None = None) -> list[Cluster]:
        """Every group of two or more memories that share a topic, best first.

        The weight grows with what the memories are worth and how rare their topic is among all, and a little with the
        time that they span.
        """
        memos = tuple(self.memos if among is None else among)
        groups: dict[tuple[str, str | None], list[Memo]] = defaultdict(list)
        for memo in memos:
            for key in memo.mentions:
                groups[key, None].append(memo)
                if memo.who is not None:
                    groups[key, memo.who].append(memo)
        found: list[Cluster] = []
        for (topic, who), members in groups.items():
            if len(members) < 2 or noun_share(topic, members) < _NOUN_ENOUGH:
                continue
            weight = self._weight(topic, members, len(memos))
            if who is None and (shares := Counter(memo.who for memo in members)) and None not in shares:
                if len(shares) == 1:
                    continue  # the same as the speaker's own group
                # What both speak of counts when both do, and not one in passing.
                weight *= 0.5 + min(shares.values()) / len(members)
            found.append(Cluster(topic, who, tuple(members), weight))
        return sorted(found, key=lambda cluster: (-cluster.weight, cluster.topic, cluster.who or ""))

    def _weight(self, topic: str, members: Sequence[Memo], total: int) -> float:
        worth = sum(memo.statement.importance for memo in members) ** 0.9
        rarity = math.log(1 + total / len(members))
        first, last = members[0].statement.occurred_at, members[-1].statement.occurred_at
        span = 1 + 0.1 * min(3.0, math.log1p((last - first).total_seconds() / 86_400))
        shape = noun_share(topic, members) * (1.25 if " " in topic else 1.0)
        if len(members) == 2 and members[0].who is not None:
            shape *= _TWO_REMARKS
        return worth * rarity * span * shape


def own_sentences(statement: Statement) -> list[str]:
    """The sentences in which a statement says something of its own.

    Of what somebody says, questions and remarks only about the other are left out, unless nothing else is there. Of a
    reflection, what it quotes is left out: that belongs to the memories below it.
    """
    text = words.without_captions(statement.text)
    if statement.type == "reflection":
        text = without_quotes(text)
    parts = words.sentences(text)
    if statement.source is None:
        return parts
    own = [part for part in parts if not part.rstrip("\"'”’) ").endswith(("?", "？")) and not _about_other(part)]
    return own


def _about_other(sentence: str) -> bool:
    folded = {word.fold for word in words.words(sentence)}
    return bool(folded & words.SECOND_PERSON) and not folded & words.FIRST_PERSON


def without_quotes(text: str) -> str:
    """A text without what stands in typographic quotation marks."""
    kept: list[str] = []
    depth = 0
    for char in text:
        if char == "“":
            depth += 1
        elif char == "”":
            depth = max(0, depth - 1)
        elif depth == 0:
            kept.append(char)
    return "".join(kept)


def noun_share(topic: str, members: Iterable[Memo]) -> float:
    """0–1: how much the places where memories mention a topic are those of a noun."""
    shares = [memo.mentions[topic].noun for memo in members if topic in memo.mentions]
    return sum(shares) / len(shares) if shares else 0.0


def companions(topic: str, members: Sequence[Memo], limit: int = 2) -> list[str]:
    """What else most of these memories mention, most frequent first: at least two of them, and a third of all."""
    parts = set(topic.split())
    counts: Counter[str] = Counter(key for memo in members for key in memo.mentions)
    wanted = max(2, math.ceil(len(members) / 3))
    ranked = sorted(
        (
            key
            for key, n in counts.items()
            if n >= wanted and noun_share(key, [m for m in members if key in m.mentions]) >= _NOUN_ENOUGH
        ),
        key=lambda key: (-counts[key], " " not in key, key),
    )
    found: list[str] = []
    for key in ranked:
        if parts & set(key.split()):
            continue
        found.append(key)
        parts |= set(key.split())
        if len(found) == limit:
            break
    return found


def widest(topic: str, members: Sequence[Memo]) -> str:
    """The pair of words that a topic is part of in most of these memories, else the topic."""
    if " " in topic:
        return topic
    counts: Counter[str] = Counter(
        key for memo in members for key in memo.mentions if " " in key and topic in key.split()
    )
    best = min(counts, key=lambda key: (-counts[key], key), default=None)
    return best if best is not None and counts[best] >= 2 and counts[best] >= 0.6 * len(members) else topic


def display(topic: str, members: Iterable[Memo]) -> str:
    """How a topic is written: as the memories write it where it stands as a noun, with the article they give it."""
    mentions = [memo.mentions[topic] for memo in members if topic in memo.mentions]
    surfaces: Counter[str] = Counter()
    for mention in mentions:
        surfaces[_surface(mention)] += 1 + round(4 * mention.noun)
    if not surfaces:
        return topic
    gerunds = [surface for surface in surfaces if surface.endswith("ing")]
    best = min(surfaces, key=lambda surface: (-surfaces[surface], surface))
    verbal = all(mention.noun < _PLAIN for mention in mentions if _surface(mention) == best)
    if gerunds and verbal:
        best = min(gerunds)
    shown = [mention for mention in mentions if _surface(mention) == best]
    shown = [mention for mention in shown if mention.noun >= _PLAIN] or shown
    befores = Counter(mention.before for mention in shown)
    counted = befores["the"] + befores["a"] + befores["an"]
    if 3 * counted >= len(shown):  # `my trip` is `the trip` where others say `a trip`, `my health` stays `health`
        counted += sum(befores[word] for word in _SINGULAR)
    if shown[0].name or plural(best) or best.endswith("ing"):
        counted = befores["the"]
    return f"the {best}" if counted * 2 > len(shown) else best


_SINGULAR = frozenset(["my", "our", "your", "his", "her", "their", "its", "this", "that", "another", "each", "every"])


def plural(written: str) -> bool:
    """Whether a topic as written is a plural."""
    last = written.split()[-1].casefold()
    return (last.endswith("s") and fold(last) != last and len(last) > 3) or last in {"people", "children", "feet"}


def owned(topic: str, members: Iterable[Memo]) -> bool:
    """Whether a speaker calls the topic `my` or `our` in at least half of the memories."""
    befores = [memo.mentions[topic].before for memo in members if topic in memo.mentions]
    return 2 * sum(before in {"my", "our"} for before in befores) >= len(befores)


def _surface(mention: Mention) -> str:
    surface = mention.surface if mention.name else mention.surface.lower()
    return surface.removesuffix("'s").removesuffix("’s")
