"""The living half of the synchronous handle: each verb is that of :class:`AsyncLiving`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date as Date
from functools import partial
from typing import TYPE_CHECKING

from graphmem.async_living import AsyncLiving
from graphmem.cognition.ask import TOKEN_BUDGET
from graphmem.models import RECALL, Observation, Plan, PlanState, Profile, Reflection
from graphmem.models.answers import Answer, MemoryType
from graphmem.models.calibration import Question
from graphmem.models.interviews import Area, Evaluation, Interview
from graphmem.models.places import Acted, Perceived, Place, Settled, Whereabouts
from graphmem.models.planning import CurrentPlan, LearnReport, PlanReport, Reaction
from graphmem.threads import documented_by

if TYPE_CHECKING:
    from graphmem.async_agent import AsyncAgent
    from graphmem.threads import Portal


@documented_by(AsyncLiving)
class Living:
    """What an agent does with its memory, synchronously: see :class:`graphmem.agent.Agent`."""

    def __init__(self, agent: AsyncAgent, portal: Portal) -> None:
        self._agent = agent
        self._portal = portal

    @property
    def id(self) -> str:
        """The agent's id."""
        return self._agent.id

    def summarise(self, *, now: object = None) -> Reflection:
        """See :meth:`AsyncLiving.summarise`."""
        return self._portal.call(partial(self._agent.summarise, now=now))

    def digest(self, date: Date | str, *, now: object = None) -> Reflection | None:
        """See :meth:`AsyncLiving.digest`."""
        return self._portal.call(partial(self._agent.digest, date, now=now))

    def plan_day(
        self,
        date: Date | str | None = None,
        *,
        now: object = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> PlanReport:
        """See :meth:`AsyncLiving.plan_day`."""
        return self._portal.call(partial(self._agent.plan_day, date, now=now, progress=progress))

    def plans(self, date: Date | str | None = None, grain: str | None = None) -> tuple[Plan, ...]:
        """See :meth:`AsyncLiving.plans`."""
        return self._portal.call(partial(self._agent.plans, date, grain))

    def current_plan(self, at: object = None) -> CurrentPlan | None:
        """See :meth:`AsyncLiving.current_plan`."""
        return self._portal.call(partial(self._agent.current_plan, at))

    def react(self, observation: str, *, about: str | None = None, now: object = None) -> Reaction:
        """See :meth:`AsyncLiving.react`."""
        return self._portal.call(partial(self._agent.react, observation, about=about, now=now))

    def replan(self, *, now: object = None) -> PlanReport | None:
        """See :meth:`AsyncLiving.replan`."""
        return self._portal.call(partial(self._agent.replan, now=now))

    def finish(self, plan_id: str, *, state: PlanState = "done", reason: str = "", now: object = None) -> Plan:
        """See :meth:`AsyncLiving.finish`."""
        return self._portal.call(partial(self._agent.finish, plan_id, state=state, reason=reason, now=now))

    def learn(self, *, now: object = None) -> LearnReport:
        """See :meth:`AsyncLiving.learn`."""
        return self._portal.call(partial(self._agent.learn, now=now))

    def ask(
        self,
        question: str,
        *,
        token_budget: int = TOKEN_BUDGET,
        profile: Profile = RECALL,
        types: Iterable[MemoryType] | None = None,
        as_of: object = None,
        now: object = None,
    ) -> Answer:
        """See :meth:`AsyncLiving.ask`."""
        return self._portal.call(
            partial(
                self._agent.ask,
                question,
                token_budget=token_budget,
                profile=profile,
                types=types,
                as_of=as_of,
                now=now,
            )
        )

    def say(
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
        """See :meth:`AsyncLiving.say`."""
        return self._portal.call(
            partial(self._agent.say, to, message, telling=telling, id=id, session=session, place=place, now=now)
        )

    def settle(self, home: str, *, knows: Iterable[str] = (), now: object = None) -> Settled:
        """See :meth:`AsyncLiving.settle`."""
        return self._portal.call(partial(self._agent.settle, home, knows=knows, now=now))

    def places(self) -> tuple[Place, ...]:
        """See :meth:`AsyncLiving.places`."""
        return self._portal.call(self._agent.places)

    def whereabouts(self) -> Whereabouts:
        """See :meth:`AsyncLiving.whereabouts`."""
        return self._portal.call(self._agent.whereabouts)

    def perceive(self, *, now: object = None) -> Perceived:
        """See :meth:`AsyncLiving.perceive`."""
        return self._portal.call(partial(self._agent.perceive, now=now))

    def act(self, at: object = None) -> Acted:
        """See :meth:`AsyncLiving.act`."""
        return self._portal.call(partial(self._agent.act, at))

    def interview(
        self,
        *,
        questions: Sequence[tuple[Area, str]] | None = None,
        now: object = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Interview:
        """See :meth:`AsyncLiving.interview`."""
        return self._portal.call(partial(self._agent.interview, questions=questions, now=now, progress=progress))

    def evaluate(self, *, questions: Sequence[Question] = (), now: object = None) -> Evaluation:
        """See :meth:`AsyncLiving.evaluate`."""
        return self._portal.call(partial(self._agent.evaluate, questions=questions, now=now))
