"""An agent's handle: the only way to its memories, so that scope is enforced in one place. One line a verb."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from graphmem.async_living import AsyncLiving
from graphmem.cognition import (
    calibrate,
    change,
    context,
    forget,
    importance,
    imports,
    look_up,
    observe,
    recompute,
    reflect,
    retention,
    retrieve,
    share,
)
from graphmem.cognition import messages as chat
from graphmem.cognition.messages import Message
from graphmem.cognition.observe import NewItem
from graphmem.models import (
    PAPER,
    RECALL,
    AgentImport,
    AgentInfo,
    ArchiveReport,
    ChangeReport,
    Dependents,
    ForgetReport,
    Hits,
    Imported,
    Kind,
    Mode,
    Observation,
    Observed,
    Profile,
    Reappraised,
    ReappraiseReport,
    RecomputeReport,
    ReflectReport,
    UnarchiveReport,
    Weights,
)
from graphmem.models.calibration import Calibration, Question
from graphmem.models.context import Context
from graphmem.tracing import traced


@traced
class AsyncAgent(AsyncLiving):
    """One agent's memory. Get it from ``AsyncMemory.agent``; the agent is created by the first write.

    Looking into a memory that was never written to finds nothing (``must_exist`` tells it from an empty one); living by
    it (planning, asking, talking: :class:`AsyncLiving`) raises ``UnknownAgent``.

    Every method may raise ``StoreError`` when the database fails. ``now`` is the time of the call: an aware
    datetime, an ISO 8601 string with a zone, or epoch seconds; by default the agent's clock, else the machine's.
    """

    async def configure(
        self,
        *,
        name: str | None = None,
        traits: str | None = None,
        time_zone: str | None = None,
        clock: datetime | None = None,
        reflection_threshold: int | None = None,
        reflection_every: int | None = None,
    ) -> AgentInfo:
        """Set what is given on the agent, creating it when it is new.

        A reflection is due at a sum of importance of ``reflection_threshold`` (150), or of ``reflection_every`` times
        the mean importance of what the agent observed, which does not depend on how generously its model rates.

        Raises:
            InvalidInput: When a value is refused.
        """
        return await look_up.configure(
            self._engine,
            self.id,
            name=name,
            traits=traits,
            time_zone=time_zone,
            clock=clock,
            reflection_threshold=reflection_threshold,
            reflection_every=reflection_every,
        )

    async def observe(
        self,
        text: str,
        *,
        kind: str | None = None,
        importance: int | None = None,
        occurred_at: object = None,
        source: str | None = None,
        session: str | None = None,
        place: str | None = None,
        key: str | None = None,
        id: str | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        keywords: Sequence[str] | None = None,
        now: object = None,
        ask: bool = False,
        resolve: bool = False,
    ) -> Observation:
        """Store one observation: rated when no importance (1–10) is given, embedded, idempotent on ``id``.

        A language model is not waited for: it rates later, in ``work``, and until then the memory is rated by rule.
        With ``ask`` it is asked at once. Of observations with the same ``key`` only the latest by ``occurred_at`` is
        held; what rested on an earlier one turns stale. With ``resolve`` the language model is asked which memories
        near it in meaning no longer hold beside it, or say the same already: ``review`` lists what it did.

        Raises:
            InvalidInput: When a value is refused; nothing was written.
            IdConflict: When the id is taken by other content.
        """
        given = {
            "text": text,
            "kind": kind,
            "importance": importance,
            "occurred_at": occurred_at,
            "source": source,
            "session": session,
            "place": place,
            "key": key,
            "id": id,
            "subject": subject,
            "predicate": predicate,
            "object": object,
            "keywords": keywords,
        }
        return await observe.observe(self._engine, self.id, given, now=now, ask=ask, resolve=resolve)

    async def observe_many(
        self,
        items: Iterable[NewItem],
        *,
        now: object = None,
        ask: bool = False,
        resolve: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Observed:
        """Store many observations (strings, mappings or ``NewObservation``), 500 a transaction.

        Raises:
            InvalidInput: When any item is refused; nothing was written.
            IdConflict: When an id is taken by other content; earlier batches of 500 are stored.
        """
        return await observe.observe_many(
            self._engine, self.id, items, now=now, ask=ask, resolve=resolve, progress=progress
        )

    async def observe_messages(
        self, messages: Iterable[Message], *, session: str | None = None, now: object = None, ask: bool = False
    ) -> Observed:
        """Store a conversation, in the form of OpenAI's messages, as utterances; sent again, only what is new.

        Users, assistants and tools speak, under their name, else their role; ``system`` and ``developer`` messages
        are instructions and not kept, nor are empty ones: the report has an id for each of the others, in order. Ids
        are made of the session and what was said, so that retries and growing conversations store nothing twice; an
        edited message is a new memory. :func:`graphmem.cognition.messages.read_messages` states the rules.

        Raises:
            InvalidInput: When a message is refused; it is named, and nothing was written.
        """
        return await chat.observe_messages(self._engine, self.id, messages, session=session, now=now, ask=ask)

    async def import_memories(self, given: AgentImport, *, progress: Callable[[int], None] | None = None) -> Imported:
        """Make this agent remember what a person remembers elsewhere: ids, times, ratings and citations are kept.

        Depth and status are computed here; what rests on something that cannot be found is stale. 200 memories are one
        transaction: cut off, the same call goes on; done, it adds nothing.

        Raises:
            InvalidInput: When a value is refused; nothing was written.
            AgentNotEmpty: When the agent remembers something from elsewhere; nothing was written.
            IdConflict: When an id is taken by other content; earlier batches are stored.
        """
        return await imports.import_memories(self._engine, self.id, given, progress=progress)

    async def retrieve(
        self,
        query: str,
        *,
        k: int = 10,
        profile: Profile = PAPER,
        weights: Weights | None = None,
        kinds: Sequence[Kind] | None = None,
        since: object = None,
        until: object = None,
        place: str | None = None,
        source: str | None = None,
        max_inferred: int | None = None,
        evidence: int = 0,
        token_budget: int | None = None,
        touch: bool = True,
        as_of: object = None,
        now: object = None,
    ) -> Hits:
        """The ``k`` (1–10,000) active memories with the highest score, best first, with every part of it.

        An agent without memories gives none. With ``touch`` the access is noted on what was retrieved. With ``as_of``
        it is what the agent believed at that moment, whatever changed since, and no access is noted.

        ``profile``: ``PAPER``, ``RECALL`` (questions over a long history), or your own; ``weights`` replace its own.
        Filters are ``kinds``, ``since``, ``until`` (when it happened), ``place`` and ``source``. At most
        ``max_inferred`` hits are reflections, each with so many of its grounds as ``evidence`` says. Of the ``k`` best
        only those are given that fit into ``token_budget``, by an estimate; ``left_out`` names the others.

        Raises:
            InvalidInput: When a value is refused.
            EmbeddingError: When the query cannot be embedded.
        """
        return await retrieve.retrieve(
            self._engine,
            self.id,
            query,
            k=k,
            profile=profile,
            weights=weights,
            kinds=kinds,
            since=since,
            until=until,
            place=place,
            source=source,
            max_inferred=max_inferred,
            evidence=evidence,
            token_budget=token_budget,
            touch=touch,
            as_of=as_of,
            now=now,
        )

    async def calibrate(
        self,
        questions: Iterable[Question | Mapping[str, Any]],
        *,
        start: Profile = RECALL,
        now: object = None,
        progress: Callable[[str], None] | None = None,
    ) -> Calibration:
        """Fit a profile on questions with the ids of the memories that answer them, and tell what it is worth.

        Each question is ``{"query": …, "relevant": [ids], "category": …}``; 10 are needed, a hundred tell more. The
        figures of ``after`` are cross-validated. Use the ``profile`` with ``retrieve``.

        Raises:
            InvalidInput: When a question is refused, they are too few, or the agent has over 20,000 memories.
            UnknownMemory: When a question names a memory that is not an active one.
        """
        return await calibrate.calibrate(self._engine, self.id, questions, start=start, now=now, progress=progress)

    async def context(
        self,
        task: str,
        *,
        token_budget: int = 1500,
        profile: Profile = RECALL,
        touch: bool = True,
        now: object = None,
    ) -> Context:
        """What a prompt about a task needs: who the agent is, and its most relevant memories by kind, with ids.

        ``text`` never takes more than ``token_budget`` tokens, by an estimate that is rather too high; ``left_out``
        names relevant memories that did not fit.

        Raises:
            InvalidInput: When the task is no text, or the budget is too small for who the agent is.
            EmbeddingError: When the task cannot be embedded.
        """
        return await context.context(
            self._engine, self.id, task, token_budget=token_budget, profile=profile, touch=touch, now=now
        )

    async def share(self, id: str, *, with_: str, now: object = None) -> Observation:
        """Tell another agent a memory; it remembers an utterance of this agent, HEARD_FROM the original.

        Telling the same again tells nothing new.

        Raises:
            InvalidInput: When the other is this agent, or the memory is not active.
            UnknownMemory: When this agent has none of that id.
        """
        return await share.share(self._engine, self.id, id, with_=with_, now=now)

    async def reflect(self, *, force: bool = False, now: object = None) -> ReflectReport:
        """Infer insights when they are due (or with ``force``), each citing what it rests on.

        Raises:
            LanguageModelError, EmbeddingError: The trigger is given back; insights written before stay.
        """
        return await reflect.reflect(self._engine, self.id, force=force, now=now)

    async def supersede(
        self,
        old: str,
        *,
        text: str | None = None,
        by: str | None = None,
        mode: Mode = "correction",
        reason: str = "",
        now: object = None,
    ) -> ChangeReport:
        """Replace a memory by a text or by another memory; all that rests on it turns stale in the same transaction.

        ``mode``: ``correction`` when it was wrong, ``update`` when it was true until now.

        Raises:
            InvalidInput: When not exactly one of ``text`` and ``by`` is given, or a value is refused.
            UnknownAgent, UnknownMemory: When there is no such agent, or it has no such memory.
            SelfSupersession, AlreadyEnded, NotActive, RestsOnItself: When a rule would be broken.
        """
        return await change.supersede(self._engine, self.id, old, text=text, by=by, mode=mode, reason=reason, now=now)

    async def retract(self, id: str, *, reason: str = "", now: object = None) -> ChangeReport:
        """Stop holding a memory, with nothing in its place; all that rests on it turns stale.

        Raises:
            UnknownAgent, UnknownMemory: When there is no such agent, or it has no such memory.
            AlreadyEnded, NotActive: When it ended before, or is archived.
        """
        return await change.retract(self._engine, self.id, id, reason=reason, now=now)

    async def restore(self, id: str, *, reason: str = "", now: object = None) -> ChangeReport:
        """Undo the newest change of a memory; what recompute had changed for it is undone where its grounds hold again.

        Raises:
            UnknownAgent, UnknownMemory: When there is no such agent, or it has no such memory.
            NotEnded: When the memory is held.
            NotNewest: When what replaced it has ended as well.
        """
        return await change.restore(self._engine, self.id, id, reason=reason, now=now)

    async def forget(
        self,
        id: str,
        *,
        dependents: Dependents = "recompute",
        terms: Iterable[str] = (),
        dry_run: bool = False,
        now: object = None,
    ) -> ForgetReport:
        """Remove a memory's text, and each of the terms, from all that the agent's graph holds; a tombstone stays.

        Each memory whose text holds it is forgotten as well. What rests on them is recomputed without them, retracted,
        or (``refuse``) keeps anything from being forgotten. The report names all that may say it in other words.

        Raises:
            UnknownAgent, UnknownMemory: When there is no such agent or memory of that agent.
            HasDependents, NamesTerm: When it is refused. Nothing was written.
        """
        return await forget.forget(
            self._engine, self.id, id, dependents=dependents, terms=terms, dry_run=dry_run, now=now
        )

    async def archive(
        self, *, older_than: object, importance_below: int, dry_run: bool = False, now: object = None
    ) -> ArchiveReport:
        """Put observations away that are old, of little importance and unused: they stay, but are not retrieved.

        ``older_than`` is a timedelta or a text such as ``90d``, ``importance_below`` from 2 to 11. What a memory rests
        on, values of keys, and what corrects or was corrected stay. ``unarchive`` takes them out again.

        Raises:
            InvalidInput: When the policy is refused; InvalidTime where it is the age or the time.
            UnknownAgent: When there is no such agent.
        """
        return await retention.archive(
            self._engine, self.id, older_than=older_than, importance_below=importance_below, dry_run=dry_run, now=now
        )

    async def unarchive(self, ids: Iterable[str] | None = None, *, now: object = None) -> UnarchiveReport:
        """Take out what was put away, all of it or these: it is retrieved again.

        Raises:
            InvalidInput: When an id is refused.
            UnknownAgent, UnknownMemory: When there is no such agent, or it has no such memory.
            NotArchived: When one of them is not archived. Nothing was taken out.
        """
        return await retention.unarchive(self._engine, self.id, ids, now=now)

    async def recompute(
        self,
        *,
        limit: int | None = None,
        now: object = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> RecomputeReport:
        """Work off what is stale and ready, lowest first; ``progress`` gets how many are done and how many remain.

        Raises:
            InvalidInput: When the limit is not above 0.
            LanguageModelError, EmbeddingError: The rest stays stale.
        """
        return await recompute.recompute(self._engine, self.id, limit=limit, now=now, progress=progress)

    async def feedback(self, id: str, *, useful: bool, reason: str = "", now: object = None) -> Reappraised:
        """Say that a memory was of use, or not: its importance goes up or down by one, within 1 and 10.

        Raises:
            UnknownAgent, UnknownMemory: When there is no such agent, or it has no such memory.
            AlreadyEnded: When it is not held any more.
        """
        return await importance.feedback(self._engine, self.id, id, useful=useful, reason=reason, now=now)

    async def reappraise(self, *, limit: int = 50, now: object = None) -> ReappraiseReport:
        """Rate memories anew in the light of what came of them, those first that were longest not looked at.

        What the caller rated stays as it is.

        Raises:
            InvalidInput: When the limit is not from 1 to 10,000.
            LanguageModelError: What was rated before stays.
        """
        return await importance.reappraise(self._engine, self.id, limit=limit, now=now)
