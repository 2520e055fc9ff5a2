"""A language model without a model: deterministic, offline, the default.

It rates importance by cues, asks about the topics that memories keep returning to, and writes insights over groups of
memories that share one. It claims only what can be read off them: who, what, how often, over which time, together
with what, and how the first and the last put it. Its replies are written as JSON and pass the same gates as those of
any model.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel

from graphmem.errors import LanguageModelError
from graphmem.language import days, gates, insights, quoting, retrospect, telling, topics, words
from graphmem.language.asking import AnswerQuestion, CheckClaims
from graphmem.language.base import EXTRACTIVE, Reply, Task
from graphmem.language.dialogue import Speak, SummariseTalk
from graphmem.language.insights import ReadBack, Written
from graphmem.language.places import ChoosePlace, choose_place
from graphmem.language.planning import DecideReaction, DividePlan, LearnLessons, PlanDay, SumUp
from graphmem.language.prompts import AskQuestions, InferInsights, RateImportance, Reappraise, Reconsider, Resolve
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
        return EXTRACTIVE

    async def reply(self, task: Task[Any]) -> Reply[Any]:
        """Answer a task.

        Raises:
            LanguageModelError: When the task is none of :mod:`graphmem.language.prompts`.
        """
        answer = next((_ANSWERS[kind] for kind in type(task).__mro__ if kind in _ANSWERS), None)
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


def reappraise(task: Reappraise) -> dict[str, Any]:
    """The rating by rule, one more for what an insight rests on, two more for what three or more rest on."""
    return {
        "ratings": [
            {"number": number, "importance": min(10, rate(item.text) + (item.citations > 0) + (item.citations > 2))}
            for number, item in enumerate(task.items, start=1)
        ]
    }


# --- questions -------------------------------------------------------------------------------------------------


def ask_questions(task: AskQuestions) -> dict[str, Any]:
    """One question for each of the weightiest topics, and one for what earlier insights have in common."""
    reader = Reader(task.statements)
    questions = [_connecting(read) for written in _over(reader)[:1] if (read := insights.read_back(written.text))]
    questions = questions[: task.count - 1]
    clusters = _fresh(reader)
    mains = _distinct(clusters, task.count - len(questions), min)
    taken = [*mains]
    for main in mains:
        related = [cluster for cluster in clusters if _related(cluster, main)]
        sides = [cluster for cluster in _distinct([*taken, *related], len(taken) + 2) if cluster not in taken]
        taken += sides
        questions.append(_question(main, sides))
    return {"questions": questions}


_CONNECTS = "What connects "


def _connecting(read: ReadBack) -> str:
    """The question that an insight over insights answers."""
    which = f" with {read.topic}" if read.topic else ""
    whose = f" for {insights.joined(read.who)}" if read.who else ""
    return f"{_CONNECTS}{insights.joined(read.others)}{which}{whose}?"


def _fresh(reader: Reader) -> list[Cluster]:
    """Groups of memories on one topic, best first, without those that an insight shown has told already."""
    told = [
        (read, memo.statement.occurred_at)
        for memo in reader.memos
        if memo.derived and (read := insights.read_back(memo.statement.text)) and read.level == 1
    ]
    found: list[Cluster] = []
    for cluster in reader.clusters(among=_perceived(reader)):
        parts = set(cluster.topic.split())
        who = {memo.who for memo in cluster.members if memo.who}
        since = [
            at
            for read, at in told
            if parts & insights.keys(read.topic) and (not read.who or not who or who <= set(read.who))
        ]
        members = tuple(memo for memo in cluster.members if not since or memo.statement.occurred_at > max(since))
        if len(members) > 1:
            found.append(dataclasses.replace(cluster, members=members))
    return found


def _perceived(reader: Reader) -> list[Memo]:
    """What was perceived: to plan something says nothing of what happened."""
    return [memo for memo in reader.memos if memo.statement.type == "observation"]


def _related(cluster: Cluster, main: Cluster) -> bool:
    """Whether a topic belongs to a weightier one: the same speaker's, at home in the same memories."""
    ours, theirs = ({memo.number for memo in cluster.members} for cluster in (cluster, main))
    return cluster.who == main.who and len(ours) > 2 and 2 * len(ours & theirs) >= len(ours)


def _question(main: Cluster, sides: Sequence[Cluster]) -> str:
    members = insights.select(main.members)
    name = topics.display(topics.widest(main.topic, members), members)
    others = [topics.display(topics.widest(side.topic, side.members), side.members) for side in sides]
    speakers = sorted({memo.who for memo in members if memo.who})
    if len(speakers) == 1 and all(memo.who for memo in members) and topics.owned(main.topic, members):
        subject = insights.joined([f"{speakers[0]}’s {insights.bare(name)}", *others])
        return f"What has been happening with {subject}?"
    subject = insights.joined([name, *others])
    if len(speakers) in {1, 2} and all(memo.who for memo in members):
        have = "has" if len(speakers) == 1 else "have"
        return f"What {have} {insights.joined(speakers)} been saying about {subject}?"
    return f"What has been happening with {subject}?"


def _distinct(clusters: Sequence[Cluster], limit: int, against: Callable[[int, int], int] = max) -> list[Cluster]:
    """The first clusters that neither share a word of their topic nor most of their memories.

    Args:
        clusters: Best first.
        limit: How many at most.
        against: Which of two groups the shared memories are measured against: the larger (``max``) keeps a part of a
            larger group, the smaller (``min``) drops it.
    """
    chosen: list[Cluster] = []
    for cluster in clusters:
        if len(chosen) >= limit:
            break
        if not any(_alike(cluster, other, against) for other in chosen):
            chosen.append(cluster)
    return chosen


def _alike(first: Cluster, second: Cluster, against: Callable[[int, int], int]) -> bool:
    if set(first.topic.split()) & set(second.topic.split()):
        return True
    ours, theirs = ({memo.number for memo in cluster.members} for cluster in (first, second))
    return len(ours & theirs) > _OVERLAP * against(len(ours), len(theirs))


# --- insights --------------------------------------------------------------------------------------------------


def infer_insights(task: InferInsights) -> dict[str, Any]:
    """Insights over the topics of the question, and over those that are told along with them."""
    reader = Reader(task.statements)
    asked = {word.fold for word in words.words(task.question)}
    named = {speaker for speaker in reader.speakers if words.fold(speaker.split()[0]) in asked}
    asked -= {word.fold for speaker in reader.speakers for word in words.words(speaker)}
    if task.question.startswith(_CONNECTS) and (over := _over(reader, asked)):
        return {"insights": [_item(insight) for insight in over[: min(2, task.count)]]}

    def relevance(cluster: Cluster) -> float:
        """How well a group of memories answers the question; 0 when it is about something else."""
        parts = set(cluster.topic.split())
        if not parts & asked:
            # It belongs to the topic that it is most often told along with, and so to no more than one question.
            nearest = topics.companions(cluster.topic, cluster.members, 1)
            if len(cluster.members) < 3 or not nearest or not set(nearest[0].split()) & asked:
                return 0.0
        factor = 4.0 if parts <= asked else 2.0 if parts & asked else 0.5
        if named and cluster.who is not None and cluster.who not in named:
            factor /= 4
        return factor * cluster.weight

    scored = [(relevance(cluster), cluster) for cluster in _fresh(reader)]
    scored.sort(key=lambda entry: (-entry[0], entry[1].topic, entry[1].who or ""))
    written: list[Written] = []
    for cluster in _distinct([cluster for score, cluster in scored if score > 0], task.count):
        members = [memo.statement for memo in insights.select(cluster.members)]
        if insight := insights.compose(cluster.topic, members):
            written.append(insight)
    return {"insights": [_item(insight) for insight in written]}


def _item(insight: Written) -> dict[str, Any]:
    return {"text": insight.text, "evidence": list(insight.evidence)}


def _over(reader: Reader, asked: set[str] | None = None) -> list[Written]:
    """Insights over insights: by what they share, then by whom they speak of; the widest first."""
    reads = _derived(reader)
    found: list[Written] = []
    for level in range(1, _HIGHEST):
        told = [(memo, read) for memo, read in reads if read.level == level + 1]
        found.extend(_ties([entry for entry in reads if entry[1].level == level], told, asked or set()))
    return found


Entry = tuple[Memo, ReadBack]
"""An insight with what it is about."""


def _derived(reader: Reader) -> list[Entry]:
    return [(memo, about(memo)) for memo in reader.memos if memo.derived]


def _ties(reads: Sequence[Entry], told: Sequence[Entry], asked: set[str]) -> list[Written]:
    """Insights over insights of one level, without what one of the next level has told already."""
    groups: dict[str, list[Entry]] = {}
    shown: dict[str, str] = {}
    for memo, read in reads:
        for phrase in dict.fromkeys([read.topic, *read.others]):
            key = " ".join(sorted(insights.keys(phrase))) if phrase else ""
            if key and (memo, read) not in groups.setdefault(key, []):
                groups[key].append((memo, read))
                shown.setdefault(key, phrase)
    written: list[Written] = []
    used: set[int] = set()
    for key in sorted(groups, key=lambda key: (not set(key.split()) & asked, -len(groups[key]), key)):
        tie = shown[key]
        members = _untold(groups[key], [memo for memo, read in told if _tells_of(read, tie)])
        if _joins(tie, members) and len({memo.number for memo, _ in members} - used) > 1:
            used |= {memo.number for memo, _ in members}
            written.append(insights.compose_over(tie, _whom(members), members))
    for who in sorted({read.who for _, read in reads if len(read.who) == 1}):
        members = [(memo, read) for memo, read in reads if read.who == who and memo.number not in used]
        members = _untold(members, [memo for memo, read in told if not read.topic and read.who == who])
        if _joins("", members):
            written.append(insights.compose_over("", who[0], members))
    return written


def _tells_of(read: ReadBack, tie: str) -> bool:
    """Whether an insight over insights is about this tie; one that ties two topics is about both."""
    ties = [read.topic, *read.others] if len(read.others) == 1 else [read.topic]
    return any(insights.same_topic(topic, tie) for topic in ties if topic)


def _untold(members: Sequence[Entry], told: Sequence[Memo]) -> list[Entry]:
    """The latest insights of a group, without those from before it was last told."""
    since = max((memo.statement.occurred_at for memo in told), default=None)
    fresh = [(memo, read) for memo, read in members if since is None or memo.statement.occurred_at > since]
    return fresh[-insights.MAX_CITED :]


def _joins(tie: str, members: Sequence[Entry]) -> bool:
    """Whether insights have enough in common to say something over them: at least two, on at least two topics."""
    reads = [read for _, read in members]
    mains = {read.topic for read in reads}
    others = insights.listed(tie, reads)
    if len(reads) < 2 or not others or (len(others) == 1 and (not tie or len(mains) == 1)):
        return False
    return reads[0].level == 1 or len(mains) > 1


def _whom(members: Sequence[Entry]) -> str | None:
    """Of whom all of them speak."""
    who = {read.who for _, read in members}
    return insights.joined(next(iter(who))) or None if len(who) == 1 else None


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
    holding = tuple(statement for statement in task.statements if statement.true_until is None)
    if task.kind in ("summary", "procedure"):
        return retrospect.reconsider(task.model_copy(update={"statements": holding}))
    reader = Reader(holding)
    read = insights.read_back(task.hypothesis)
    candidates = _over_again(reader, read) if read and read.level > 1 else _again(reader, read, task)
    wanted = gates.normalise_text(task.hypothesis)
    for candidate in candidates:
        if gates.normalise_text(candidate.text) == wanted:
            return {"verdict": "confirmed", "text": candidate.text, "evidence": list(candidate.evidence)}
    if candidates:
        best = candidates[0]
        return {"verdict": "revised", "text": best.text, "evidence": list(best.evidence)}
    return {"verdict": "retracted", "reason": _why_not(len(holding), read)}


def _why_not(count: int, read: ReadBack | None) -> str:
    matter = (read.topic or insights.joined(read.who)) if read else "what it was about"
    if count == 0:
        return "nothing that it rested on is left"
    if count == 1:
        return f"of what it rested on only one memory is left, too little to say anything about {matter}"
    return f"of the {insights.number_word(count)} memories that it rests on now, fewer than two are about {matter}"


def _again(reader: Reader, read: ReadBack | None, task: Reconsider) -> list[Written]:
    if read is not None:
        wanted = insights.keys(read.topic)
    else:
        # Another model wrote it: whatever it names, and whatever was asked, outside of quotations.
        named = f"{topics.without_quotes(task.hypothesis)} {task.question or ''}"
        wanted = insights.keys(named) - {words.fold(word) for who in reader.speakers for word in who.split()}
    base = _perceived(reader)
    holding = {topic: reader.holding(topic, among=base) for topic in wanted}
    ranked = sorted(wanted, key=lambda topic: (-len(holding[topic]), topic))
    told = [insights.compose(topic, [memo.statement for memo in holding[topic]]) for topic in ranked]
    told = [insight for insight in told if insight is not None]
    return told or _ties([entry for entry in _derived(reader) if entry[1].level < _HIGHEST], [], wanted)[:1]


def _over_again(reader: Reader, read: ReadBack) -> list[Written]:
    reads = [entry for entry in _derived(reader) if entry[1].level < _HIGHEST]
    if read.topic:
        members = [
            (memo, own)
            for memo, own in reads
            if any(insights.same_topic(phrase, read.topic) for phrase in (own.topic, *own.others))
        ]
    else:
        members = [(memo, own) for memo, own in reads if own.who == read.who]
    if not _joins(read.topic, members):
        return []
    who = _whom(members) if read.topic else insights.joined(read.who)
    return [insights.compose_over(read.topic, who, members[-insights.MAX_CITED :])]


def resolve(task: Resolve) -> dict[str, Any]:
    """Equal text is known already; that texts contradict each other takes a model to tell, so nothing conflicts."""
    said = gates.normalise_text(task.new.text)
    same = [s.number for s in task.statements if s.source == task.new.source and gates.normalise_text(s.text) == said]
    return {"known": same[0] if same else None, "conflicts": []}


_ANSWERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    RateImportance: rate_importance,
    AskQuestions: ask_questions,
    InferInsights: infer_insights,
    Reconsider: reconsider,
    Reappraise: reappraise,
    Resolve: resolve,
    PlanDay: days.plan_day,
    ChoosePlace: choose_place,
    DividePlan: days.divide_plan,
    DecideReaction: days.decide_reaction,
    SumUp: retrospect.sum_up,
    LearnLessons: retrospect.learn_lessons,
    AnswerQuestion: quoting.answer_question,
    CheckClaims: quoting.check_claims,
    Speak: telling.speak,
    SummariseTalk: telling.summarise_talk,
}
