"""The living half of an agent's handle: planning, reacting, talking, answering, being somewhere. One line a verb."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date as Date

from graphmem.async_reading import AsyncReading
from graphmem.cognition import acting, ask, interview, lessons, planning, say, summaries
from graphmem.cognition import places as placing
from graphmem.cognition import react as reacting
from graphmem.models import RECALL, Observation, Plan, PlanState, Profile, Reflection
from graphmem.models.answers import Answer, MemoryType
from graphmem.models.calibration import Question
from graphmem.models.interviews import Area, Evaluation, Interview
from graphmem.models.places import Acted, Perceived, Place, Settled, Whereabouts
from graphmem.models.planning import CurrentPlan, LearnReport, PlanReport, Reaction
from graphmem.tracing import traced


@traced
class AsyncLiving(AsyncReading):
    """What an agent does with its memory: see :class:`graphmem.async_agent.AsyncAgent`.

    Nobody comes into being by being asked: of an agent to which nothing was ever written every verb here raises
    ``UnknownAgent``, and nothing is written. Only ``settle``, and what is told to somebody (``say``, ``share``), make
    an agent of an id that there was not, as ``observe`` and ``configure`` do.
    """

    async def summarise(self, *, now: object = None) -> Reflection:
        """The agent's description: traits, occupation, recent progress; a summary that cites what it is made of.

        The one that is held is used again while it is active, at most a day old and written for the same traits; else a
        new one supersedes it.

        Raises:
            InvalidInput: When the agent remembers nothing that it could be described from.
            LanguageModelError, EmbeddingError: Nothing was written.
        """
        return await summaries.summarise(self._engine, self.id, now=now)

    async def digest(self, date: Date | str, *, now: object = None) -> Reflection | None:
        """What a day came to, in the agent's time zone, citing it; None where nothing of that day is remembered.

        Raises:
            InvalidTime: When the date cannot be read.
            LanguageModelError, EmbeddingError: Nothing was written.
        """
        return await summaries.digest(self._engine, self.id, date, now=now)

    async def plan_day(
        self,
        date: Date | str | None = None,
        *,
        now: object = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> PlanReport:
        """Plan a day (today) in blocks and hours; steps are made as they come near. Planned again, it stays as it is.

        Dates and clock times are those of the agent's time zone. A day that has begun is planned from ``now`` on, from
        what had been recorded by ``now`` (``later`` of the report counts what was recorded after it).
        ``adjusted`` of the report tells every time that was repaired or refused.

        Raises:
            InvalidTime, InvalidInput: When the date cannot be read, or the day is over.
            LanguageModelError, EmbeddingError: What was written before stays, and the same call goes on.
        """
        return await planning.plan_day(self._engine, self.id, date, now=now, progress=progress)

    async def plans(self, date: Date | str | None = None, grain: str | None = None) -> tuple[Plan, ...]:
        """The held plans that begin on a day (today), in order: of grain ``day`` (blocks), ``hour``, ``step``, or all.

        Raises:
            InvalidTime, InvalidInput: When the date cannot be read, or the grain is unknown.
        """
        return await planning.plans(self._engine, self.id, date, grain=grain)

    async def current_plan(self, at: object = None) -> CurrentPlan | None:
        """The one step that is planned for a moment (now), divided on demand; None where nothing is planned.

        ``stale``: something that it rests on has ended; it stays so until ``replan``.

        Raises:
            InvalidTime: When the moment cannot be read.
            LanguageModelError, EmbeddingError: When the model fails while a plan is divided.
        """
        return await planning.current_plan(self._engine, self.id, at)

    async def react(self, observation: str, *, about: str | None = None, now: object = None) -> Reaction:
        """Decide whether to react to an observation (its id, or a text that is observed first), and how.

        If so the rest of the day is planned anew from ``now`` on, resting on the observation, or the agent begins to
        talk: ``converse_with`` is the other's id.

        Raises:
            InvalidInput, NotActive: When it is no observation, or one that is not held.
            LanguageModelError, EmbeddingError: What was observed stays, and so does the old plan.
        """
        return await reacting.react(self._engine, self.id, observation, about=about, now=now)

    async def replan(self, *, now: object = None) -> PlanReport | None:
        """Plan anew the rest of each day of which an unfinished plan is stale, what is past kept; None where none is.

        Raises:
            LanguageModelError, EmbeddingError: That day's plan stays as it was, stale.
        """
        return await planning.replan(self._engine, self.id, now=now)

    async def finish(self, plan_id: str, *, state: PlanState = "done", reason: str = "", now: object = None) -> Plan:
        """Say that a plan was ``done``, ``missed`` or ``dropped``, and why; its unfinished parts end with it.

        Raises:
            InvalidInput: When the state is refused, or the memory is no plan.
            UnknownAgent, UnknownMemory: When there is no such agent, or it has no such memory.
            AlreadyEnded: When it was superseded, or something else is known to have become of it.
        """
        return await planning.finish(self._engine, self.id, plan_id, state=state, reason=reason, now=now)

    async def learn(self, *, now: object = None) -> LearnReport:
        """Reflect on what became of plans since the last time: procedures, each citing the plans it comes from.

        Raises:
            LanguageModelError, EmbeddingError: The same plans are looked at again the next time.
        """
        return await lessons.learn(self._engine, self.id, now=now)

    async def ask(
        self,
        question: str,
        *,
        token_budget: int = ask.TOKEN_BUDGET,
        profile: Profile = RECALL,
        types: Iterable[MemoryType] | None = None,
        as_of: object = None,
        now: object = None,
    ) -> Answer:
        """Answer a question from memory and nothing else; each sentence cites what bears it out.

        What is not known is said so, what is inferred or intended is marked. The answer's run is kept: whoever
        supersedes, retracts or forgets a memory that it was made from is told of it. ``types`` leaves only these types
        of memory (observation, reflection, plan); ``token_budget`` bounds the memories that are looked at.
        With ``as_of`` it is answered from what the agent believed at that moment, as ``retrieve`` finds it; that
        notes no access, and only a change dated by then is reported to concern the answer.

        Raises:
            InvalidInput: When a value is refused; InvalidTime where it is a time.
            EmbeddingError: When the question cannot be embedded.
            LanguageModelError: When the language model failed; an answer is never made up instead.
        """
        return await ask.ask(
            self._engine,
            self.id,
            question,
            token_budget=token_budget,
            profile=profile,
            types=types,
            as_of=as_of,
            now=now,
        )

    async def say(
        self,
        to: str,
        message: str,
        *,
        telling: Sequence[str] = (),
        id: str | None = None,
        session: str | None = None,
        place: str | None = None,
        now: object = None,
    ) -> Observation:
        """Say something to another agent: both remember it under one id, the listener as heard from this one.

        ``telling`` names the memories of its own that it tells, by which news is followed back to its origin. Said
        again under the same ``id`` it is said once.

        Raises:
            InvalidInput: When a value is refused, the listener is the speaker, or what is told is not held.
            IdConflict: When the id is taken by something else.
            UnknownAgent, UnknownMemory: When the speaker is not there, or has no such memory to tell.
            Forgotten: When one of them has forgotten it.
        """
        return await say.say(
            self._engine, self.id, to, message, telling=telling, id=id, session=session, place=place, now=now
        )

    async def settle(self, home: str, *, knows: Iterable[str] = (), now: object = None) -> Settled:
        """Give the agent a home (an arena's path) in the world, and tell it of places; it begins at home.

        Raises:
            InvalidInput: When one of the paths is no place of the world.
        """
        return await placing.settle(self._engine, self.id, home, knows=knows, now=now)

    async def places(self) -> tuple[Place, ...]:
        """The part of the world that the agent knows, as it last saw it, dated; it may be another by now."""
        return await placing.places(self._engine, self.id)

    async def whereabouts(self) -> Whereabouts:
        """Where the agent is, and what it is doing.

        Raises:
            UnknownAgent: When nothing was ever written for it.
        """
        return await placing.whereabouts_of(self._engine, self.id)

    async def perceive(self, *, now: object = None) -> Perceived:
        """Look around: what is new is remembered, and the known part of the world is brought up to date, there only.

        Raises:
            UnknownAgent: When nothing was ever written for it.
        """
        return await placing.perceive(self._engine, self.id, now=now)

    async def act(self, at: object = None) -> Acted:
        """Do what is planned for a moment, where it can be done; the things that it uses change their state.

        Raises:
            UnknownAgent: When nothing was ever written for it.
            LanguageModelError, EmbeddingError: When the model fails; nothing changed.
        """
        return await acting.act(self._engine, self.id, at)

    async def interview(
        self,
        *,
        questions: Sequence[tuple[Area, str]] | None = None,
        now: object = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Interview:
        """Ask 25 questions of five kinds, each under four conditions, over one history that is left as it is.

        The conditions: all memories; without reflections; without reflections and plans; none. ``questions`` of one's
        own take the place of the 25. ``progress`` gets how many were asked, and how many there are.

        Raises:
            EmbeddingError, LanguageModelError: When a model failed.
        """
        return await interview.interview(self._engine, self.id, questions=questions, now=now, progress=progress)

    async def evaluate(self, *, questions: Sequence[Question] = (), now: object = None) -> Evaluation:
        """Three figures apart: answers about the past, consistency of plans, behaviour against the plan.

        ``questions`` are about the past, each with the memories that answer it.

        Raises:
            EmbeddingError, LanguageModelError: When a model failed.
        """
        return await interview.evaluate(self._engine, self.id, questions=questions, now=now)
