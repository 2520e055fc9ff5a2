"""A language model for tests that answers as it is told. It is given to ``open`` as any user's own would be."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from graphmem.async_agent import AsyncAgent
from graphmem.language import gates
from graphmem.language.asking import AnswerQuestion, CheckClaims
from graphmem.language.base import LanguageModel, Reply, Statement, Task
from graphmem.language.dialogue import Speak, SummariseTalk
from graphmem.language.places import ChoosePlace, choose_place
from graphmem.language.planning import DecideReaction, DividePlan, LearnLessons, PlanDay, SumUp
from graphmem.language.prompts import (
    AskQuestions,
    InferInsights,
    RateImportance,
    Reappraise,
    Reconsider,
    Resolve,
    SaySame,
)

Answer = Callable[[Any], object]
Open = Callable[[LanguageModel], Awaitable[AsyncAgent]]
"""What the fixture ``thinking`` gives: this test's agent with a language model of its own."""


class Scripted:
    """Answers each kind of task with what its function returns: an object, as JSON, or raw text, through the gates."""

    name = "scripted"

    def __init__(
        self,
        *,
        rate: Answer | None = None,
        ask: Answer | None = None,
        infer: Answer | None = None,
        reconsider: Answer | None = None,
        reappraise: Answer | None = None,
        same: Answer | None = None,
        resolve: Answer | None = None,
        plan: Answer | None = None,
        divide: Answer | None = None,
        react: Answer | None = None,
        sum_up: Answer | None = None,
        learn: Answer | None = None,
        answer: Answer | None = None,
        check: Answer | None = None,
        speak: Answer | None = None,
        summarise: Answer | None = None,
    ) -> None:
        self.tasks: list[Any] = []
        self.answers: dict[type, Answer] = {
            RateImportance: rate or rate_as(5),
            AskQuestions: ask or (lambda task: {"questions": ["What matters most here?"]}),
            InferInsights: infer or (lambda task: {"insights": []}),
            SaySame: same or (lambda task: {"pairs": []}),
            Reappraise: reappraise or (lambda task: {"ratings": []}),
            Reconsider: reconsider or (lambda task: {"verdict": "retracted", "reason": "it no longer follows"}),
            Resolve: resolve or (lambda task: {"known": None, "conflicts": []}),
            ChoosePlace: choose_place,
            PlanDay: plan or (lambda task: {"plan": [{"start": "00:00", "end": "24:00", "text": "be at home"}]}),
            DividePlan: divide or (lambda task: {"parts": [{"text": task.text, "minutes": task.minutes}]}),
            DecideReaction: react or (lambda task: {"react": False, "reason": "nothing asks for it"}),
            SumUp: sum_up or (lambda task: {"text": "It is " + task.statements[0].text, "evidence": [1]}),
            LearnLessons: learn or (lambda task: {"insights": []}),
            AnswerQuestion: answer or (lambda task: {"sentences": []}),
            CheckClaims: check or all_follow,
            Speak: speak or (lambda task: {"sentences": []}),
            SummariseTalk: summarise or (lambda task: {"summaries": []}),
        }

    async def reply(self, task: Task[Any]) -> Reply[Any]:
        self.tasks.append(task)
        answer = next(self.answers[kind] for kind in type(task).__mro__ if kind in self.answers)(task)
        raw = answer if isinstance(answer, str) else json.dumps(answer)
        shaped = gates.read(raw, task.reply_model)
        return Reply(value=shaped.value, raw=raw, refused=shaped.refused, prompt_tokens=10, completion_tokens=3)

    def asked(self, kind: type) -> list[Any]:
        """The tasks of one kind so far."""
        return [task for task in self.tasks if isinstance(task, kind)]


def rate_as(importance: int) -> Answer:
    """Rates everything the same."""
    return lambda task: {
        "ratings": [{"number": number, "importance": importance} for number in range(1, len(task.texts) + 1)]
    }


def all_follow(task: Any) -> object:
    """Finds every sentence borne out."""
    return {"verdicts": [{"number": number, "follows": True} for number in range(1, len(task.claims) + 1)]}


def numbers_of(task: Any, *words: str) -> list[int]:
    """The numbers of the shown statements whose text holds one of the words."""
    found: list[Statement] = [s for s in task.statements if any(word in s.text for word in words)]
    return [statement.number for statement in found]
