"""Whether the configured language model can be trusted: tasks whose answers are known, asked before any memory is."""

from __future__ import annotations

from graphmem.cognition.engine import Engine, answer
from graphmem.errors import LanguageModelError
from graphmem.language.anchors import ANCHORS, QUESTION, STORY
from graphmem.language.base import Reply
from graphmem.language.gates import Indexed, index, rated, support
from graphmem.language.prompts import InferInsights, Insights, RateImportance, Ratings
from graphmem.models import ModelCheck, Refused


async def check_model(engine: Engine) -> ModelCheck:
    """Ask the language model for the importance of texts on which all agree, and for insights over a small story.

    Nothing is stored. A model that fails is reported and no error: that is what is asked.
    """
    model = engine.language_model
    spent: list[Reply[Ratings] | Reply[Insights] | LanguageModelError] = []
    anchors = ANCHORS
    refused: list[Refused] = []
    insights = 0
    problem = ""
    try:
        ratings = await answer(model, engine.own(RateImportance(texts=tuple(anchor.text for anchor in ANCHORS))))
        spent.append(ratings)
        found = rated(ratings.value.ratings, len(ANCHORS))
        refused += [*ratings.refused, *found.refused]
        anchors = tuple(
            anchor.model_copy(update={"rating": found.importance.get(number)})
            for number, anchor in enumerate(ANCHORS, start=1)
        )
        reply = await answer(model, engine.own(InferInsights(question=QUESTION, statements=STORY, count=3)))
        spent.append(reply)
        refused += reply.refused
        for insight in reply.value.insights:
            indexed = index(insight, range(1, len(STORY) + 1))
            verdict = (
                support(indexed.text, [STORY[number - 1] for number in indexed.evidence])
                if isinstance(indexed, Indexed)
                else indexed
            )
            if isinstance(verdict, Refused):
                refused.append(verdict)
            else:
                insights += 1
    except LanguageModelError as error:
        spent.append(error)
        refused += error.refused
        gate = getattr(error, "gate", None)
        if gate is not None:
            refused.append(Refused(gate=gate, reason=str(error), item=""))
        problem = str(error)
    costs = [item.cost for item in spent if item.cost is not None]
    return ModelCheck(
        model=model.name,
        anchors=anchors,
        insights=insights,
        refused=tuple(refused),
        error=problem,
        prompt_tokens=sum(item.prompt_tokens for item in spent),
        completion_tokens=sum(item.completion_tokens for item in spent),
        cost=sum(costs) if costs else None,
    )
