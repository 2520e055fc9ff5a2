"""A language model without a model: deterministic, offline, the default.

It rates importance by cues, asks about the topics that memories keep returning to, and writes insights over groups of
memories that share one. It claims only what can be read off them: who, what, how often, over which time, together
with what, and how the first and the last put it. Its replies are written as JSON and pass the same gates as those of
any model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel

from graphmem.errors import LanguageModelError
from graphmem.language import gates, insights, topics, words
from graphmem.language.base import Reply, Statement, Task
from graphmem.language.insights import ReadBack, Written
from graphmem.language.prompts import AskQuestions, InferInsights, RateImportance, Reconsider
from graphmem.language.rating import rate
from graphmem.language.topics import Cluster, Memo, Reader

_OVERLAP = 0.6
"""Two groups that share more of their memories than this say the same."""
_HIGHEST = 3
"""Insights of this level are not combined further."""


class Extractive:
    """The built-in engine; it keeps nothing between calls."""

    @property
    def name(self) -> str:
        """Stored with all it writes."""
        return "extractive"

    async def reply(self, task: Task[Any]) -> Reply[Any]:
        """Answer a task.

        Raises:
            LanguageModelError: When the task is none of :mod:`graphmem.language.prompts`.
        """
        answer = _ANSWERS.get(type(task))
        if answer is None:
            raise LanguageModelError(
                f"extractive cannot answer {type(task).__name__}", remedy="configure a language model for it"
            )
        raw = json.dumps(answer(task), ensure_ascii=False)
        reply_model: type[BaseModel] = task.reply_model
        shaped = gates.read(raw, reply_model)
        return Reply(value=shaped.value, raw=raw, refused=shaped.refused)


def rate_importance(task: RateImportance) -> dict[str, Any]:
    """Each text by :func:`graphmem.language.rating.rate`."""
    return {
        "ratings": [{"number": number, "importance": rate(text)} for number, text in enumerate(task.texts, start=1)]
    }


# --- questions -------------------------------------------------------------------------------------------------


def ask_questions(task: AskQuestions) -> dict[str, Any]:
    """One question for each of the weightiest topics, and one for what earlier insights have in common."""
    reader = Reader(task.statements)
    base = [memo for memo in reader.memos if not memo.derived]
    questions: list[str] = []
    over = _over(reader)
    if over and task.count > 1:
        read = insights.read_back(over[0].text)
        if read is not None and len(read.others) > 1:
            who = f" for {insights.joined(read.who)}" if read.who else ""
            questions.append(f"What connects {insights.joined(read.others[:4])}{who}?")
    for cluster in _distinct(reader.clusters(among=base), task.count - len(questions)):
        questions.append(_question(cluster))
    return {"questions": questions}


def _question(cluster: Cluster) -> str:
    members = insights.select(cluster.members)
    topic = topics.widest(cluster.topic, members)
    name = topics.display(topic, members)
    others = [topics.display(key, members) for key in topics.companions(topic, members, 1)]
    subject = insights.joined([name, *others])
    speakers = sorted({memo.who for memo in members if memo.who})
    if len(speakers) in {1, 2} and all(memo.who for memo in members):
        return f"What has {insights.joined(speakers)} been saying about {subject}?"
    return f"What has been happening with {subject}?"


def _distinct(clusters: Sequence[Cluster], limit: int) -> list[Cluster]:
    """The first clusters that neither share a word of their topic nor most of their memories."""
    chosen: list[Cluster] = []
    for cluster in clusters:
        if len(chosen) >= limit:
            break
        if not any(_alike(cluster, other) for other in chosen):
            chosen.append(cluster)
    return chosen


def _alike(first: Cluster, second: Cluster) -> bool:
    if set(first.topic.split()) & set(second.topic.split()):
        return True
    ours, theirs = ({memo.number for memo in cluster.members} for cluster in (first, second))
    return len(ours & theirs) > _OVERLAP * min(len(ours), len(theirs))


# --- insights --------------------------------------------------------------------------------------------------


def infer_insights(task: InferInsights) -> dict[str, Any]:
    """Insights over the topics of the question first, then over the others that stand out."""
    reader = Reader(task.statements)
    asked = {word.fold for word in words.words(task.question)}
    named = {speaker for speaker in reader.speakers if words.fold(speaker.split()[0]) in asked}
    base = [memo for memo in reader.memos if not memo.derived]

    def relevance(cluster: Cluster) -> float:
        parts = set(cluster.topic.split())
        factor = 4.0 if parts <= asked else 2.0 if parts & asked else 1.0
        if named and cluster.who is not None and cluster.who not in named:
            factor /= 4
        return factor * cluster.weight

    ranked = sorted(reader.clusters(among=base), key=lambda c: (-relevance(c), c.topic, c.who or ""))
    # Two memories that happen to share a word are no insight unless the question is about it.
    ranked = [c for c in ranked if len(c.members) > 2 or set(c.topic.split()) & asked or len(base) < 8]
    written = _over(reader, asked)[:2]
    for cluster in _distinct(ranked, max(0, task.count - len(written))):
        written.append(insights.compose(cluster.topic, insights.select(cluster.members)))
    return {"insights": [_item(insight) for insight in written[: task.count]]}


def _item(insight: Written) -> dict[str, Any]:
    return {"text": insight.text, "evidence": list(insight.evidence)}


def _over(reader: Reader, asked: set[str] | None = None) -> list[Written]:
    """Insights over insights: by what they share, then by whom they speak of; the widest first."""
    memos = [memo for memo in reader.memos if memo.derived]
    found: list[Written] = []
    for level in range(1, _HIGHEST):
        reads = [(memo, read) for memo in memos if (read := about(memo)).level == level]
        found.extend(_ties(reads, asked or set()))
    return found


def _ties(reads: Sequence[tuple[Memo, ReadBack]], asked: set[str]) -> list[Written]:
    groups: dict[str, list[tuple[Memo, ReadBack]]] = {}
    shown: dict[str, str] = {}
    for memo, read in reads:
        for phrase in dict.fromkeys([read.topic, *read.others]):
            key = " ".join(sorted(insights.keys(phrase))) if phrase else ""
            if key and (memo, read) not in groups.setdefault(key, []):
                groups[key].append((memo, read))
                shown.setdefault(key, phrase)
    ranked = sorted(
        (key for key in groups if len(_topics(groups[key])) > 1),
        key=lambda key: (not set(key.split()) & asked, -len(groups[key]), key),
    )
    written: list[Written] = []
    used: set[int] = set()
    for key in ranked:
        members = groups[key][: insights.MAX_CITED]
        numbers = {memo.number for memo, _ in members}
        if len(numbers - used) < 2:
            continue
        used |= numbers
        who = {read.who for _, read in members}
        single = next(iter(who)) if len(who) == 1 else ()
        written.append(insights.compose_over(shown[key], insights.joined(single) or None, members))
    for who in sorted({read.who for _, read in reads if len(read.who) == 1}):
        members = [(memo, read) for memo, read in reads if read.who == who and memo.number not in used]
        members = members[: insights.MAX_CITED]
        if len(_topics(members)) > 1:
            written.append(insights.compose_over("", who[0], members))
    return written


def _topics(members: Sequence[tuple[Memo, ReadBack]]) -> set[str]:
    return {read.topic for _, read in members if read.topic}


def about(memo: Memo) -> ReadBack:
    """What an insight is about: read back where the engine wrote it, else its first topics."""
    if read := insights.read_back(memo.statement.text):
        return read
    nouns = [key for key, mention in memo.mentions.items() if mention.noun >= 0.6]
    named = [topics.display(key, [memo]) for key in nouns[:3]]
    return ReadBack((), named[0] if named else "", tuple(named[1:]))


# --- reconsidering ---------------------------------------------------------------------------------------------


def reconsider(task: Reconsider) -> dict[str, Any]:
    """Derive the insight again from the evidence that holds now, and compare.

    Only equal text confirms. What still shares the topic of the hypothesis is told anew; where fewer than two
    memories do, the insight is retracted.
    """
    reader = Reader(task.statements)
    read = insights.read_back(task.hypothesis)
    candidates = _over_again(reader, read) if read and read.level > 1 else _again(reader, read, task)
    wanted = gates.normalise_text(task.hypothesis)
    for candidate in candidates:
        if gates.normalise_text(candidate.text) == wanted:
            return {"verdict": "confirmed", "text": candidate.text, "evidence": list(candidate.evidence)}
    if candidates:
        best = candidates[0]
        return {"verdict": "revised", "text": best.text, "evidence": list(best.evidence)}
    matter = read.topic if read and read.topic else "what it was about"
    count = len(task.statements)
    held = "none of its memories is" if count == 0 else f"fewer than two of the {count} memories that are"
    return {
        "verdict": "retracted",
        "reason": f"{held} left speak of {matter}" if count else f"{held} left",
    }


def _again(reader: Reader, read: ReadBack | None, task: Reconsider) -> list[Written]:
    if read is not None:
        wanted = insights.keys(read.topic)
    else:
        # Another model wrote it: whatever it names, and whatever was asked, outside of quotations.
        named = f"{topics.without_quotes(task.hypothesis)} {task.question or ''}"
        wanted = insights.keys(named) - {words.fold(word) for who in reader.speakers for word in who.split()}
    groups = {topic: reader.holding(topic) for topic in wanted}
    groups = {topic: members for topic, members in groups.items() if len(members) > 1}
    ranked = sorted(groups, key=lambda topic: (-len(groups[topic]), topic))
    return [insights.compose(topic, insights.select(groups[topic])) for topic in ranked]


def _over_again(reader: Reader, read: ReadBack) -> list[Written]:
    reads = [(memo, about(memo)) for memo in reader.memos if memo.derived]
    reads = [entry for entry in reads if entry[1].level < _HIGHEST]
    if read.topic:
        members = [
            (memo, own)
            for memo, own in reads
            if any(insights.same_topic(phrase, read.topic) for phrase in (own.topic, *own.others))
        ]
    else:
        members = [(memo, own) for memo, own in reads if own.who == read.who]
    if len(_topics(members)) < 2:
        return []
    who = {own.who for _, own in members}
    single = next(iter(who)) if len(who) == 1 else ()
    return [insights.compose_over(read.topic, insights.joined(single) or None, members[: insights.MAX_CITED])]


_ANSWERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    RateImportance: rate_importance,
    AskQuestions: ask_questions,
    InferInsights: infer_insights,
    Reconsider: reconsider,
}
