"""Conversing: two agents in turn, each from its own memories of the other and of what was said so far.

Every utterance is one transaction, under an id made of the conversation's: killed at any moment, the same call again
goes on where it was, and nothing is said twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import cast

from graphmem.cognition import fitting, grounding, places, truth
from graphmem.cognition.ask import check, name_of
from graphmem.cognition.engine import Engine, checked_id, fetch, lock, new_id
from graphmem.cognition.retrieve import checked_filters, checked_query, search, touch_all
from graphmem.cognition.runs import FORGOTTEN, Run, running
from graphmem.cognition.say import say
from graphmem.errors import InvalidInput
from graphmem.graph.records import to_memory
from graphmem.graph.store import Transaction
from graphmem.language.asking import CheckClaims
from graphmem.language.base import Statement
from graphmem.language.dialogue import MOST_REMARKS, Line, Remark, Speak, SummariseTalk
from graphmem.language.support import support
from graphmem.language.text import normalise_text, shorten
from graphmem.models import PAPER, RECALL, AnyMemory, Observation, Reflection, Refused
from graphmem.models.talks import Conversation, Utterance

MOST_TURNS = 100
_OF_EACH = 20
"""Memories of the other, and as many of the matter, that an utterance is made from."""
_PASSES = 2
"""Turns without anything to say, one after the other, after which a conversation is over."""


@dataclass
class _Talk:
    """A conversation under way."""

    id: str
    names: dict[str, str]
    """By agent id, in the order of who began."""
    zones: dict[str, str]
    """Of their clocks, by agent id."""
    about: str | None
    place: str | None
    begun: datetime
    utterances: list[Utterance] = field(default_factory=list[Utterance])
    refused: list[Refused] = field(default_factory=list[Refused])

    @property
    def prefix(self) -> str:
        return f"{self.id}/u"

    def scene(self) -> Statement:
        """What is known to both without being remembered: who talks, and of what."""
        text = ". ".join([*self.names.values(), *([self.about] if self.about else [])])
        return Statement(number=0, text=text, kind="event", type="observation", occurred_at=self.begun)

    def other(self, agent_id: str) -> str:
        return next(who for who in self.names if who != agent_id)


async def converse(
    engine: Engine,
    a: str,
    b: str,
    *,
    about: str | None = None,
    turns: int = 8,
    id: str | None = None,
    place: str | None = None,
    now: object = None,
) -> Conversation:
    """Let two agents talk, ``a`` first, until neither has anything more to say, or for so many turns.

    Args:
        engine: The open store with its models.
        a: Id of the agent who begins.
        b: Id of the other.
        about: The matter; None: whatever matters to the other.
        turns: Most utterances, 1 to 100.
        id: Of the conversation: the same id again goes on where it stopped, or gives it as it was.
        place: Where they talk.
        now: When it begins; each utterance is a second after the one before.

    Raises:
        InvalidInput: When a value is refused.
        UnknownAgent: When one of them is not there.
        LanguageModelError, EmbeddingError, StoreError: What was said before stays.
    """
    a, b = checked_id(a, "a"), checked_id(b, "b")
    if a == b:
        raise InvalidInput(f"b: {b!r} is the agent itself", remedy="name two agents")
    if about is not None:
        checked_query(about)
    if isinstance(turns, bool) or not isinstance(turns, int) or not 1 <= turns <= MOST_TURNS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"turns: {turns!r} is not a whole number from 1 to {MOST_TURNS}")
    talk_id = checked_id(id) if id is not None else new_id()
    checked_id(f"{talk_id}/summary")  # the longest of the ids that are made of it
    checked_filters(place=place)
    names = {who: await name_of(engine, who) for who in (a, b)}
    zones = {who: (await places.whereabouts_of(engine, who)).time_zone for who in names}
    talk = _Talk(talk_id, names, zones, about, place, await engine.now(a, now))
    await _resume(engine, talk)
    resumed = len(talk.utterances)
    summaries = await _noted(engine, talk)
    if not summaries:
        await _go_on(engine, talk, turns)
    if talk.utterances:
        for who in names:
            if who not in summaries and (summary := await _summarise(engine, talk, who)) is not None:
                summaries[who] = summary
    return Conversation(
        id=talk_id,
        a=a,
        b=b,
        about=about,
        utterances=tuple(talk.utterances),
        ended="turns" if len(talk.utterances) >= turns else "over",
        summaries=summaries,
        refused=tuple(talk.refused),
        resumed=resumed,
    )


async def _resume(engine: Engine, talk: _Talk) -> None:
    """Take up what was said before under this id."""
    said: list[Utterance] = []
    for who in talk.names:
        rows = await engine.store.query("say/session", agentId=who, session=talk.id, prefix=talk.prefix)
        for row in rows:
            if not row["heard"]:
                memory = to_memory(row)
                told = tuple(sorted(row["told"]))
                said.append(
                    Utterance(
                        id=memory.id,
                        speaker=who,
                        listener=talk.other(who),
                        text=memory.text,
                        at=memory.occurred_at,
                        citations=told,
                    )
                )
    talk.utterances = sorted(said, key=lambda utterance: utterance.id)
    if talk.utterances:
        talk.begun = talk.utterances[0].at - timedelta(seconds=1)


async def _noted(engine: Engine, talk: _Talk) -> dict[str, Reflection]:
    """The summaries that were written before."""
    found: dict[str, Reflection] = {}
    for who in talk.names:

        async def read(tx: Transaction, agent_id: str = who) -> dict[str, AnyMemory]:
            return await fetch(tx, agent_id, [_summary_id(talk)])

        summary = (await engine.store.read(read)).get(_summary_id(talk))
        if isinstance(summary, Reflection):
            found[who] = summary
    return found


def _summary_id(talk: _Talk) -> str:
    return f"{talk.id}/summary"


async def _go_on(engine: Engine, talk: _Talk, turns: int) -> None:
    first, second = talk.names
    speaker = first if not talk.utterances else talk.other(talk.utterances[-1].speaker)
    passed = 0
    while len(talk.utterances) < turns and passed < _PASSES:
        passed = 0 if await _speak(engine, talk, speaker) else passed + 1
        speaker = second if speaker == first else first


async def _speak(engine: Engine, talk: _Talk, speaker: str) -> bool:
    """One turn: something new is said and heard, or nothing."""
    listener = talk.other(speaker)
    at = talk.begun + timedelta(seconds=len(talk.utterances) + 1)
    memories = await _remembered(engine, talk, speaker, at)
    rows = await engine.store.query(
        "say/told", agentId=speaker, other=listener, ids=[entry.memory.id for entry in memories]
    )
    known = {row["id"] for row in rows}
    lines = tuple(Line(speaker=talk.names[said.speaker], text=said.text) for said in talk.utterances)

    def task(statements: tuple[Statement, ...], shown: Sequence[fitting.Shown]) -> Speak:
        return Speak(
            who=talk.names[speaker],
            other=talk.names[listener],
            about=talk.about,
            now=at,
            time_zone=talk.zones[speaker],
            statements=statements,
            told=tuple(n for n, entry in enumerate(shown[: len(statements)], start=1) if entry.memory.id in known),
            lines=lines,
        )

    # What the other knows already comes last, so that the numbers of the rest do not depend on how much has room.
    ordered = sorted(memories, key=lambda entry: entry.memory.id in known)
    async with running(engine, speaker, "say", engine.asks(Speak, CheckClaims), at) as run:
        reply, shown = await fitting.ask(engine, run, ordered, lambda statements: task(statements, ordered))
        said, told = await _checked(engine, run, talk, reply.value.sentences, shown)
        talk.refused += run.refused
        if not said:
            return False
        if normalise_text(said) in {normalise_text(line.text) for line in lines}:
            talk.refused.append(Refused(gate="shape", reason="repeats what was said", item=shorten(said)))
            return False
        utterance = await say(
            engine,
            speaker,
            listener,
            said,
            telling=told,
            id=f"{talk.prefix}{len(talk.utterances) + 1:03d}",
            session=talk.id,
            place=talk.place,
            run_id=run.id,
            now=at,
        )
    if shown:
        await touch_all(engine, speaker, [memory.id for memory in shown], at)
    talk.utterances.append(
        Utterance(id=utterance.id, speaker=speaker, listener=listener, text=said, at=at, citations=tuple(sorted(told)))
    )
    return True


async def _remembered(engine: Engine, talk: _Talk, speaker: str, at: datetime) -> list[fitting.Shown]:
    """What the speaker remembers of the other, and of the matter or what was said last (Park et al. 2023, 4.3)."""
    other = talk.names[talk.other(speaker)]
    queries = [(other, PAPER), (talk.about or (talk.utterances[-1].text if talk.utterances else other), RECALL)]
    found: dict[str, fitting.Shown] = {}
    for query, profile in queries:
        hits = await search(engine, speaker, query, k=_OF_EACH, profile=profile, now=at)
        for hit in hits:
            if not (isinstance(hit.memory, Observation) and hit.memory.session == talk.id):
                found.setdefault(hit.memory.id, fitting.Shown(hit.memory, hit.score))
    return list(found.values())


async def _checked(
    engine: Engine, run: Run, talk: _Talk, sentences: Sequence[Remark], shown: Sequence[AnyMemory]
) -> tuple[str, list[str]]:
    """What of an utterance passes the gates, as one text, and the ids of the memories that it tells."""
    for more in sentences[MOST_REMARKS:]:
        run.refused.append(
            Refused(gate="shape", reason=f"sentences: more than {MOST_REMARKS}", item=shorten(more.text))
        )
    kept: list[tuple[str, grounding.Grounded | None]] = []
    for sentence in sentences[:MOST_REMARKS]:
        if sentence.evidence:
            grounded = grounding.ground(sentence, shown, given=[talk.scene()], quoting=True)
            if isinstance(grounded, Refused):
                run.refused.append(grounded)
                continue
            run.refused += grounded.notes
            kept.append((grounded.text, grounded))
        elif refused := _ungrounded(talk, sentence.text, shown):
            run.refused.append(refused)
        else:
            kept.append((sentence.text, None))
    borne_out = {id(one) for one in await check(engine, run, [one for _, one in kept if one is not None], shown)}
    final = [(text, one) for text, one in kept if one is None or id(one) in borne_out]
    told = list(dict.fromkeys(item.id for _, one in final if one is not None for item in one.cited))
    return " ".join(text for text, _ in final), told


def _ungrounded(talk: _Talk, text: str, shown: Sequence[AnyMemory]) -> Refused | None:
    """A sentence that cites nothing may name nobody and nothing that neither the memories nor the talk name."""
    known = list(grounding.statements(shown))
    heard = [
        Statement(
            number=0,
            text=said.text,
            source=talk.names[said.speaker],
            kind="utterance",
            type="observation",
            occurred_at=said.at,
        )
        for said in talk.utterances
    ]
    found = support(text, [*known, *heard, talk.scene()], quoting=True)
    if isinstance(found, Refused) and not found.reason.startswith("shares no word"):
        return found
    return None


async def _summarise(engine: Engine, talk: _Talk, who: str) -> Reflection | None:
    """One side's summary of the conversation, citing what was said; None where none passed the gates."""
    at = talk.utterances[-1].at
    summary_id = _summary_id(talk)
    ids = [utterance.id for utterance in talk.utterances]
    said = await engine.store.read(lambda tx: fetch(tx, who, ids))
    utterances = [memory for id_ in ids if (memory := said.get(id_)) is not None and memory.status == "active"]
    if not utterances:
        return None
    names = talk.names
    async with running(engine, who, "summarise", engine.asks(SummariseTalk, CheckClaims), at) as run:
        reply, shown = await fitting.ask(
            engine,
            run,
            [fitting.Shown(memory) for memory in utterances],
            lambda statements: SummariseTalk(who=names[who], other=names[talk.other(who)], statements=statements),
        )
        grounded: list[grounding.Grounded] = []
        for insight in reply.value.summaries[:1]:
            one = grounding.ground(insight, shown, given=[talk.scene()], quoting=True)
            if isinstance(one, Refused):
                run.refused.append(one)
            else:
                grounded.append(one)
        drafts = await grounding.drafts(engine, run, await check(engine, run, grounded, shown), None)
        for draft in drafts:
            new = grounding.Draft(
                summary_id,
                draft.grounded,
                None,
                draft.importance,
                draft.importance_by,
                draft.vector,
                "summary",
            )

            async def work(tx: Transaction, new: grounding.Draft = new) -> None:
                await _write(tx, engine, run, new, at)

            await engine.store.write(work)
        talk.refused += run.refused
    found = await engine.store.read(lambda tx: fetch(tx, who, [summary_id]))
    return cast("Reflection | None", found.get(summary_id))


async def _write(tx: Transaction, engine: Engine, run: Run, new: grounding.Draft, at: datetime) -> None:
    await lock(tx, run.agent_id)
    if await truth.statuses(tx, run.agent_id, [new.id]):
        return  # Another process has written it.
    reason = await grounding.not_active(tx, run.agent_id, new.grounded.cited)
    if reason or await run.shown_forgotten(tx):
        run.refused.append(Refused(gate="write", reason=reason or FORGOTTEN, item=""))
        return
    revision = await truth.begin(tx, run.agent_id, at)
    await revision.not_before(tx, [item.id for item in new.grounded.cited])
    await grounding.write(tx, engine, run, new, revision.now)
    await revision.log(tx, new.id, "reflect", by=engine.language_model.name, reason="")
    await truth.relabel(tx, revision, [new.id])
