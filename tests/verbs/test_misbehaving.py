"""What callers and their own models may do wrong: a typed error, and nothing half written or left claimed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from scripted import Open, Scripted

from graphmem import AsyncMemory, NewObservation
from graphmem.async_agent import AsyncAgent
from graphmem.embedding.base import Embedder
from graphmem.errors import InvalidInput, LanguageModelError, ReplyRefused
from graphmem.language.base import Reply, Task
from graphmem.language.prompts import InferInsights, RateImportance, Rating, Ratings

WATCH = [{"text": f"Orla keeps the early watch at the {place}", "importance": 8} for place in ("quay", "lock", "mole")]


class Odd(Scripted):
    """Raises or answers something odd to one kind of task."""

    def __init__(self, to: type, error: Exception | None = None, reply: object = None) -> None:
        super().__init__()
        self.to, self.error, self.odd = to, error, reply

    async def reply(self, task: Task[Any]) -> Reply[Any]:
        if isinstance(task, self.to):
            if self.error is not None:
                raise self.error
            return self.odd  # pyright: ignore[reportReturnType]
        return await super().reply(task)


@pytest.mark.parametrize(
    ("model", "raised"),
    [
        (Odd(InferInsights, ValueError("no \ud800 text")), LanguageModelError),
        (Odd(InferInsights, KeyError("choices")), LanguageModelError),
        (Odd(InferInsights, ReplyRefused("no \ud800 text " + "x" * 9_000, gate="shape")), ReplyRefused),
        (Odd(InferInsights, reply=None), LanguageModelError),
        (Odd(InferInsights, reply=Reply(value=Ratings(ratings=[]), raw="")), LanguageModelError),
    ],
)
async def test_whatever_a_model_does_the_trigger_is_given_back(
    thinking: Open, model: Odd, raised: type[Exception]
) -> None:
    agent = await thinking(model)
    await agent.observe_many(WATCH)
    with pytest.raises(raised):
        await agent.reflect(force=True)
    assert (await agent.info()).importance_since_reflection == 24
    (run,) = await agent.runs()
    assert run.outcome == "failed"
    assert all(len(item.reason) <= 2_000 for item in run.refused)
    model.to = type(None)  # It has recovered: nothing holds the next reflection up.
    assert (await agent.reflect(force=True)).outcome == "no_insight"


async def test_a_rating_that_was_never_checked_is_not_taken(thinking: Open) -> None:
    rating = Rating.model_construct(number=1, importance=99)
    model = Odd(RateImportance, reply=Reply(value=Ratings.model_construct(ratings=[rating]), raw=""))
    agent = await thinking(model)
    watch = await agent.observe("The lock is shut", ask=True)
    assert (watch.importance, watch.importance_by) == (5, "default")


@pytest.mark.parametrize("items", ["one text", b"bytes", {"text": "one mapping"}, NewObservation(text="one"), None, 3])
async def test_many_observations_are_a_list(agent: AsyncAgent, items: Any) -> None:
    with pytest.raises(InvalidInput, match="items"):
        await agent.observe_many(items)
    assert await agent.memories() == ()


async def test_values_are_checked_however_they_were_made(agent: AsyncAgent) -> None:
    for item in (
        NewObservation.model_construct(text=""),
        NewObservation(text="a").model_copy(update={"importance": 99}),
    ):
        with pytest.raises(InvalidInput):
            await agent.observe_many([item])
    with pytest.raises(InvalidInput, match="importance"):
        await agent.observe("The lock is shut", importance=10**400)
    with pytest.raises(InvalidInput, match="threshold"):
        await agent.configure(reflection_threshold=10**30)
    assert await agent.memories() == ()


@pytest.mark.parametrize(
    "odd",
    [{"weights": {"relevance": 1}}, {"profile": "paper"}, {"profile": None}, {"kinds": 3}, {"kinds": "event"},
     {"kinds": [None]}, {"kinds": [["event"]]}],
)  # fmt: skip
async def test_what_retrieve_is_told_is_checked(agent: AsyncAgent, odd: Any) -> None:
    with pytest.raises(InvalidInput, match=next(iter(odd))):
        await agent.retrieve("Who keeps watch?", **odd)


@pytest.mark.parametrize(
    "ask",
    [
        lambda agent: agent.log(before="x"), lambda agent: agent.log(before=1.5),
        lambda agent: agent.log(before=10**30), lambda agent: agent.review(before=-1),
        lambda agent: agent.forget("m", terms=None),
        lambda agent: agent.forget("m", terms="Ana"), lambda agent: agent.unarchive(5),
        lambda agent: agent.unarchive("m"), lambda agent: agent.interview(questions=5),
        lambda agent: agent.interview(questions=[("memory", "Who?", "now")]),
        lambda agent: agent.interview(questions=["memory"]), lambda agent: agent.evaluate(questions=[5]),
        lambda agent: agent.evaluate(questions="Who?"), lambda agent: agent.calibrate(5),
    ],
)  # fmt: skip
async def test_what_is_no_list_or_number_is_refused(
    agent: AsyncAgent, ask: Callable[[AsyncAgent], Awaitable[object]]
) -> None:
    await agent.observe("Ana keeps watch", id="m")
    with pytest.raises(InvalidInput) as refused:
        await ask(agent)
    assert str(refused.value)


async def test_what_moves_agents_is_told_of_is_checked(memory: AsyncMemory, agent: AsyncAgent, tmp_path: Path) -> None:
    await agent.observe("Ana keeps watch", id="m")
    with pytest.raises(InvalidInput, match=r"agents: .* is not a list"):
        await memory.export_graph(tmp_path / "a.jsonl", agents=agent.id)
    report = await memory.export_graph(str(tmp_path / "a.jsonl"), agents=[agent.id])
    assert (tmp_path / "a.jsonl").exists()
    assert report.agents == (agent.id,)
    with pytest.raises(InvalidInput, match="cannot be read"):
        await memory.import_graph(str(tmp_path / "none.jsonl"))
    with pytest.raises(InvalidInput, match="5 is not a function"):
        memory.on_change(5)  # pyright: ignore[reportArgumentType]


async def test_what_was_forgotten_or_is_not_held_is_not_shared(agent: AsyncAgent) -> None:
    await agent.observe("Ana keeps watch", id="m")
    await agent.forget("m")
    with pytest.raises(InvalidInput, match="is forgotten: what is not held cannot be told"):
        await agent.share("m", with_=f"{agent.id}-friend")


async def test_vectors_that_are_lists_serve_and_what_is_none_does_not(
    memory: AsyncMemory, embedder: Embedder, agent_id: str
) -> None:
    class Lists:
        """Gives lists for one text, and nothing at all for several."""

        name = embedder.name
        dimension = embedder.dimension
        truncates = embedder.truncates

        def embed_documents(self, texts: Any) -> Any:
            return embedder.embed_documents(texts).tolist() if len(texts) == 1 else None

        def embed_query(self, text: str) -> Any:
            return embedder.embed_query(text).tolist()

    async with await AsyncMemory.open(settings=memory.settings, embedder=Lists()) as other:
        agent = other.agent(agent_id)
        report = await agent.observe_many(WATCH)
        assert (report.added, report.not_embedded) == (3, ())
        assert len(await agent.retrieve("Who keeps the watch at the quay?")) == 3
