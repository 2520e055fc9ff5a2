"""What ends in the graph when a model over HTTP answers well, badly, late or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from openai_server import RESET, Answer, Behaviour, Request, Server, fails, hangs, says, serve, writes
from pydantic import SecretStr
from scripted import Open

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.errors import (
    LanguageModelError,
    ModelAuthenticationFailed,
    ModelUnavailable,
    PromptTooLong,
    ReplyRefused,
)
from graphmem.language.litellm_model import LiteLLM
from graphmem.language.prompts import Insights
from graphmem.providers import import_litellm

KEY = "sk-testing-0123456789abcdef"
INSIGHT = "Orla took the early shift again and again"
SAID = json.dumps({"insights": [{"text": INSIGHT, "evidence": [1, 2]}]})
Infer = list[Behaviour]


@pytest.fixture(scope="module", autouse=True)
def _imported() -> None:
    """Importing litellm takes seconds, which belong to no test's time."""
    import_litellm()


def thinks(infer: Infer) -> Callable[[Request], Answer]:
    """A model that rates and asks well; insights are answered with this script, whose last behaviour is repeated."""
    script = iter(infer)
    last = infer[-1]

    def behave(request: Request) -> Answer:
        asked = request.messages[1]["content"]
        if "Rate each" in asked:
            numbers = re.findall(r'^\{"number": (\d+)', asked, re.MULTILINE)
            return says(json.dumps({"ratings": [{"number": int(number), "importance": 4} for number in numbers]}))
        if "high-level questions" in asked:
            return says('{"questions": ["When does Orla work?"]}')
        behaviour = next(script, last)
        return behaviour if isinstance(behaviour, Answer) else behaviour(request)

    return behave


@pytest.fixture
def server() -> Iterator[Server]:
    with serve(says("")) as server:
        yield server


async def orla(thinking: Open, server: Server, infer: Infer, **options: Any) -> AsyncAgent:
    """An agent with two memories that are due to be reflected on."""
    server.then(thinks(infer))
    given = {"api_base": server.url, "api_key": SecretStr(KEY), "timeout": 5, "max_wait": 5} | options
    agent = await thinking(LiteLLM("openai/scripted", **given))
    await agent.configure(reflection_threshold=10)
    await agent.observe("Orla took the early shift on Monday", importance=6)
    await agent.observe("Orla took the early shift on Tuesday", importance=6)
    return agent


@pytest.mark.parametrize(
    ("infer", "attempts", "gates"),
    [
        ([says(SAID)], 1, []),
        ([says(f"```json\n{SAID}\n```")], 1, []),
        ([says(f"Of course!\n\n{SAID}\n\nAnything else?")], 1, []),
        ([says(f"1. {INSIGHT} (because of 1, 2)")], 1, []),
        ([writes(SAID, 3000)], 2, ["parse"]),
        ([says(json.dumps(Insights.model_json_schema())), says(SAID)], 2, ["shape"]),
        ([says('{"insights": [{"text": "Orla \\u0000", "evidence": [1]}]}'), says(SAID)], 2, ["shape"]),
        ([says(""), says(SAID)], 2, ["parse"]),
        ([fails(429, "slow down", headers={"Retry-After": "1"}), says(SAID)], 2, []),
        ([fails(500, "on fire"), says(SAID)], 2, []),
        ([RESET, says(SAID)], 2, []),
    ],
    ids=["good", "fenced", "chatty", "bracketed", "truncated", "schema", "nul", "empty", "429", "500", "reset"],
)
async def test_what_is_good_in_the_end_becomes_a_reflection(
    thinking: Open, server: Server, infer: Infer, attempts: int, gates: list[str]
) -> None:
    agent = await orla(thinking, server, infer)
    report = await agent.reflect()

    assert report.outcome == "reflected"
    (reflection,) = report.reflections
    assert (reflection.text, reflection.importance, reflection.importance_by) == (INSIGHT, 4, "model")
    provenance = await agent.explain(reflection.id)
    assert len(provenance.grounds_of(reflection.id)) == 2
    asked = [request for request in server.requests if "Which insights" in request.messages[1]["content"]]
    assert len(asked) == attempts
    (run,) = await agent.runs()
    assert (run.model, run.outcome, run.cost) == ("openai/scripted", "reflected", None)
    assert [item.gate for item in run.refused] == gates
    answered = 2 + attempts - (0 if gates else attempts - 1)  # The question and the rating besides.
    assert run.prompt_tokens == 100 * answered
    assert report.importance_since_reflection == 0


@pytest.mark.parametrize(
    ("infer", "error", "gates"),
    [
        ([says("no idea")], ReplyRefused, ["parse", "parse", "parse"]),
        ([says("")], ReplyRefused, ["parse", "parse", "parse"]),
        ([says(json.dumps(Insights.model_json_schema()))], ReplyRefused, ["shape", "shape", "shape"]),
        ([says(SAID, finish="length")], ReplyRefused, ["parse", "parse", "parse"]),
        ([fails(500, "on fire")], ModelUnavailable, []),
        ([says("no idea"), fails(500, "on fire")], ModelUnavailable, ["parse"]),
        ([fails(429, "slow down", headers={"Retry-After": "600"})], ModelUnavailable, []),
        ([hangs()], ModelUnavailable, []),
        ([RESET], ModelUnavailable, []),
        ([fails(401, f"Incorrect API key provided: {KEY}")], ModelAuthenticationFailed, []),
        ([fails(400, "This model's maximum context length is 8192 tokens")], PromptTooLong, []),
    ],
    ids=["prose", "empty", "schema", "truncated", "500", "prose-500", "429", "hangs", "reset", "401", "too-long"],
)
async def test_a_failure_is_an_error_on_the_run_and_never_a_memory(
    thinking: Open, server: Server, infer: Infer, error: type[LanguageModelError], gates: list[str]
) -> None:
    agent = await orla(thinking, server, infer, timeout=1)
    with pytest.raises(error) as failed:
        await agent.reflect()

    assert await agent.memories(type="reflection") == ()
    (run,) = await agent.runs()
    assert run.outcome == "failed"
    assert [item.gate for item in run.refused] == gates
    # The question was answered, and what was refused was paid for as well.
    assert run.prompt_tokens == 100 + 100 * len(gates)
    assert KEY not in run.model_dump_json() + str(failed.value)
    info = await agent.info()
    assert info.importance_since_reflection == 12  # Given back: the next call is triggered again.

    server.then(thinks([says(SAID)]))
    assert (await agent.reflect()).outcome == "reflected"


async def test_b34_ratings_wait_out_a_rate_limit_and_what_is_not_rated_in_the_end_is_rated_later(
    thinking: Open, server: Server
) -> None:
    rates = says(json.dumps({"ratings": [{"number": 1, "importance": 9}]}))
    limited = fails(429, "slow down", headers={"Retry-After": "1"})
    agent = await thinking(
        LiteLLM("openai/scripted", api_base=server.url, api_key=SecretStr(KEY), timeout=5, max_wait=5)
    )
    server.then(limited, limited, rates)
    first = await agent.observe("Orla took the early shift", now="2026-03-01T12:00Z", ask=True)
    assert (first.importance, first.importance_by) == (9, "model")
    assert len(server.requests) == 3

    server.then(fails(401, f"Incorrect API key provided: {KEY}"))
    with pytest.raises(ModelAuthenticationFailed):
        await agent.observe("Orla took the late shift", now="2026-03-01T13:00Z", ask=True)
    assert len(server.requests) == 4  # Not tried again.
    assert [memory.text for memory in await agent.memories()] == ["Orla took the early shift"]

    # Without waiting for the model it is stored at once, and rated when the model is back.
    await agent.observe("Orla took the late shift", id="late", now="2026-03-01T13:00Z")
    server.then(rates)
    report = await AsyncMemory(agent._engine, None).work_once(agent=agent.id)
    assert report.rated == 1
    late = await agent.get("late")
    assert (late.importance, late.importance_by) == (9, "model")
    assert [run.outcome for run in await agent.runs() if run.verb == "rate"] == ["done", "failed", "done"]
