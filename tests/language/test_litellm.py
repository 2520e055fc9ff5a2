"""The adapter for real models, over HTTP: replies that are accepted, refused, truncated, and asked for again."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import anyio
import pytest
from openai_server import Answer, Request, fails, says, serve, writes

from graphmem.errors import ModelRequestRefused, ReplyRefused
from graphmem.language.litellm_model import strict_schema
from graphmem.language.prompts import Insights, Questions, Ratings, Reconsidered, ReplyModel
from graphmem.providers import import_litellm

from .asking import INSIGHTS, KEY, PROMPT, SAID, TASK, model

pytestmark = pytest.mark.usefixtures("litellm_imported")


# --- replies that are accepted ----------------------------------------------------------------------------------


async def test_a_good_reply() -> None:
    with serve(says(SAID, prompt_tokens=321, completion_tokens=12)) as server:
        reply = await model(server).reply(TASK)

    assert reply.value == INSIGHTS
    assert (reply.raw, reply.refused) == (SAID, ())
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cost) == (321, 12, None)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "scripted",
        "messages": PROMPT,
        "max_tokens": 2048,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "Insights", "schema": strict_schema(Insights), "strict": True},
        },
    }


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        (f"```json\n{SAID}\n```", ["Orla prefers the early shift"]),
        (f"Sure! Here is what I found:\n\n{SAID}\n\nLet me know if you need more.", ["Orla prefers the early shift"]),
        ('```json\n{"insights": []}\n```', []),
        ('{"insights": [{"text": "Orla rises\n\tearly", "evidence": [1]}]}', ["Orla rises\n\tearly"]),
        ("1. Orla prefers the early shift (because of 1, 2)", ["Orla prefers the early shift"]),
        ('[{"text": "Orla prefers the early shift", "evidence": [1]}]', ["Orla prefers the early shift"]),
    ],
    ids=["fenced", "chatty", "fenced-empty-list", "control-characters", "bracketed", "bare-list"],
)
async def test_b01_what_can_be_read_is_not_asked_for_again(said: str, texts: list[str]) -> None:
    with serve(says(said)) as server:
        reply = await model(server).reply(TASK)

    assert [insight.text for insight in reply.value.insights] == texts
    assert reply.refused == ()
    assert len(server.requests) == 1


async def test_an_item_that_is_refused_is_reported_and_the_others_are_kept() -> None:
    items = [*INSIGHTS.model_dump()["insights"], {"text": "Orla is tall", "evidence": None}]
    with serve(says(json.dumps({"insights": items}))) as server:
        reply = await model(server).reply(TASK)

    assert reply.value == INSIGHTS
    assert [(item.gate, item.reason[:10]) for item in reply.refused] == [("shape", "insights.1")]
    assert len(server.requests) == 1


# --- the form of the reply ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "form"), [("gpt-4o-mini", "json_schema"), ("gpt-3.5-turbo", "json_object"), ("scripted", "json_schema")]
)
async def test_the_reply_is_asked_for_in_the_form_that_the_model_takes(name: str, form: str) -> None:
    with serve(says(SAID)) as server:
        await model(server, f"openai/{name}").reply(TASK)

    assert server.requests[0].body["response_format"]["type"] == form


async def test_a_model_that_is_known_has_a_price() -> None:
    with serve(says("no idea"), says(SAID)) as server:
        reply = await model(server, "openai/gpt-4o-mini").reply(TASK)

    assert reply.cost == pytest.approx(2 * (100 * 0.15e-6 + 20 * 0.6e-6))


@pytest.mark.parametrize("reply_model", [Ratings, Questions, Insights, Reconsidered])
def test_schemas_hold_only_what_every_provider_takes(reply_model: type[ReplyModel]) -> None:
    def check(schema: dict[str, Any]) -> None:
        assert set(schema) <= {"type", "enum", "items", "properties", "required", "additionalProperties"}
        if schema["type"] == "object":
            assert list(schema["properties"]) == schema["required"]
            assert schema["additionalProperties"] is False
            for value in schema["properties"].values():
                check(value)
        if schema["type"] == "array":
            check(schema["items"])

    schema = strict_schema(reply_model)
    assert list(schema["properties"]) == list(reply_model.model_fields)
    check(schema)


def form_of(request: Request) -> str | None:
    return (request.body.get("response_format") or {}).get("type")


@pytest.mark.parametrize("message", ["'response_format.type' must be 'text'", "json_schema is not supported here"])
async def test_a_server_that_refuses_the_form_is_asked_for_less_from_then_on(message: str) -> None:
    def old(request: Request) -> Answer:
        return fails(400, message) if form_of(request) else says(SAID)

    with serve(old) as server:
        scripted = model(server, attempts=1)  # Finding out costs no attempt.
        await scripted.reply(TASK)
        await scripted.reply(TASK)

    assert [form_of(request) for request in server.requests] == ["json_schema", "json_object", None, None]


async def test_a_server_that_only_knows_json_mode_is_asked_in_it() -> None:
    def old(request: Request) -> Answer:
        return fails(422, "response_format: unknown type") if form_of(request) == "json_schema" else says(SAID)

    with serve(old) as server:
        scripted = model(server)
        await scripted.reply(TASK)
        await scripted.reply(TASK)

    assert [form_of(request) for request in server.requests] == ["json_schema", "json_object", "json_object"]


async def test_several_tasks_find_out_together() -> None:
    def old(request: Request) -> Answer:
        form = form_of(request)
        return replace(fails(400, "json_schema?") if form == "json_schema" else says(SAID), delay=0.3)

    with serve(old) as server:
        scripted = model(server, attempts=1)
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(scripted.reply, TASK)

    assert [form_of(request) for request in server.requests] == ["json_schema"] * 3 + ["json_object"] * 3


async def test_a_server_that_refuses_every_form_is_given_up() -> None:
    with (
        serve(fails(400, "Invalid schema for response_format 'Insights'")) as server,
        pytest.raises(ModelRequestRefused, match="Invalid schema"),
    ):
        await model(server).reply(TASK)

    assert [form_of(request) for request in server.requests] == ["json_schema", "json_object", None]


# --- replies that are refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "gate", "reason"),
    [
        (json.dumps(Insights.model_json_schema()), "shape", "repeats the schema"),
        ('{"insights": [{"text": "Orla \\u0000 rises", "evidence": [1]}]}', "shape", "insights.0.text"),
        ('{"insights": [{"text": "Orla \\ud83e rises", "evidence": [1]}]}', "shape", "insights.0.text"),
        ('{"insights": [{"insight": {"text": "Tam naps at noon"}}]}', "shape", "insights.0.text"),
        ('{"insights": [{"text": {"text": "Tam naps"}, "evidence": [1]}]}', "shape", "insights.0.text"),
        ('{"insights": [{"text": "Tam naps at noon"}]}', "shape", "insights.0.evidence"),
        ('{"insights": [{"text": "your insight here", "evidence": [1]}]}', "shape", "placeholder"),
        ("null", "shape", "null"),
        ('{"insights": "none"}', "shape", "not a list"),
        ("I would rather not say.", "parse", "neither JSON"),
        (SAID[:40], "parse", "truncated"),
    ],
    ids=[
        "schema-echoed",
        "nul",
        "lone-surrogate",
        "object-for-text",
        "text-is-an-object",
        "no-evidence",
        "placeholder",
        "null",
        "text-for-list",
        "prose",
        "cut-but-stop",
    ],
)
async def test_b02_b03_a_refused_reply_is_asked_for_again_with_the_reason(said: str, gate: str, reason: str) -> None:
    with serve(says(said), says(SAID)) as server:
        reply = await model(server).reply(TASK)

    assert reply.value == INSIGHTS
    assert (reply.prompt_tokens, reply.completion_tokens) == (200, 40)
    (refused,) = reply.refused
    assert refused.gate == gate
    assert reason in refused.reason
    first, second = server.requests
    assert first.messages == PROMPT
    assert second.messages[:-2] == PROMPT
    assert second.messages[-2] == {"role": "assistant", "content": said}
    assert second.messages[-1]["role"] == "user"
    assert reason in second.messages[-1]["content"]


@pytest.mark.parametrize("said", ["", "  \n", None])
async def test_an_empty_reply_is_not_shown_again(said: str | None) -> None:
    with serve(says(said), says(SAID)) as server:
        reply = await model(server).reply(TASK)

    assert [(item.gate, item.reason) for item in reply.refused] == [("parse", "the reply is empty")]
    again = server.requests[1].messages
    assert [message["role"] for message in again] == [message["role"] for message in PROMPT]
    assert again[-1]["content"].startswith(PROMPT[-1]["content"])
    assert "the reply is empty" in again[-1]["content"]


async def test_a_huge_reply_is_shown_again_in_part() -> None:
    with serve(says("blah " * 200_000), says(SAID)) as server:
        reply = await model(server).reply(TASK)

    assert len(server.requests[1].messages[-2]["content"]) <= 4_000
    assert len(reply.refused[0].item) <= 2_000


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (says("", finish="content_filter"), "content_filter"),
        (says(None, refusal="I can't help with that."), "declined to answer: I can't help"),
    ],
)
async def test_a_reply_that_is_withheld_is_named(answer: Answer, reason: str) -> None:
    with serve(answer) as server, pytest.raises(ReplyRefused, match=reason):
        await model(server, attempts=2).reply(TASK)

    assert len(server.requests) == 2


@pytest.mark.parametrize("attempts", [1, 3, 5])
async def test_attempts_are_bounded_and_the_last_refusal_is_the_error(attempts: int) -> None:
    bad = '{"insights": [{"text": "Tam naps at noon"}]}'
    with (
        serve(says(bad)) as server,
        pytest.raises(ReplyRefused, match=r"insights\.0\.evidence: the field is missing") as refused,
    ):
        await model(server, attempts=attempts).reply(TASK)

    assert len(server.requests) == attempts
    assert refused.value.gate == "shape"
    assert len(refused.value.refused) == attempts - 1
    assert refused.value.prompt_tokens == attempts * 100
    assert refused.value.completion_tokens == attempts * 20
    assert refused.value.remedy
    # Each retry shows the last refusal only: the prompt does not grow with the attempts.
    assert len({len(request.messages) for request in server.requests[1:]}) <= 1


async def test_b04_a_response_cache_is_never_asked() -> None:
    from litellm.caching.caching import Cache

    litellm = import_litellm()
    with serve(says("no idea"), says(SAID), says("no idea"), says(SAID)) as server:
        litellm.cache = Cache(type="local")
        try:
            scripted = model(server)
            await scripted.reply(TASK)
            await asyncio.sleep(0.2)  # Caches are written in the background.
            reply = await scripted.reply(TASK)
        finally:
            litellm.cache = None

    assert [len(request.messages) for request in server.requests] == [2, 4, 2, 4]
    assert reply.value == INSIGHTS


# --- truncation --------------------------------------------------------------------------------------------------


async def test_b04_a_truncated_reply_is_asked_for_with_a_higher_limit() -> None:
    with serve(writes(SAID, 3000)) as server:
        reply = await model(server, max_tokens=1000).reply(TASK)

    assert reply.value == INSIGHTS
    assert [request.limit for request in server.requests] == [1000, 2000, 4000]
    assert all(request.messages == PROMPT for request in server.requests)
    assert [item.gate for item in reply.refused] == ["parse", "parse"]
    assert "truncated at its limit of 1000 tokens" in reply.refused[0].reason
    assert reply.completion_tokens == 1000 + 2000 + 3000


async def test_b04_a_truncated_reply_is_never_a_shorter_one() -> None:
    whole = json.dumps(
        {"insights": [*INSIGHTS.model_dump()["insights"], {"text": "Orla sleeps at noon", "evidence": [2]}]}
    )
    shorter = whole[: whole.index(', {"text": "Orla sleeps')] + "]}"
    with (
        serve(says(shorter, finish="length")) as server,
        pytest.raises(ReplyRefused, match="truncated at its limit of 400 tokens") as refused,
    ):
        await model(server, max_tokens=100).reply(TASK)

    assert [request.limit for request in server.requests] == [100, 200, 400]
    assert "GRAPHMEM_MODEL_MAX_TOKENS" in refused.value.remedy


async def test_b04_a_truncated_reply_without_room_for_more_is_named() -> None:
    def small(request: Request) -> Answer:
        if request.limit > 600:
            return fails(
                400, "prompt of 300 tokens and a reply of 1000 exceed the context", code="context_length_exceeded"
            )
        return says(SAID[:50], finish="length")

    with serve(small) as server, pytest.raises(ReplyRefused, match="truncated at its limit of 500 tokens") as refused:
        await model(server, max_tokens=500).reply(TASK)

    assert "exceed the context" in str(refused.value)
    assert [request.limit for request in server.requests] == [500, 1000]


async def test_b04_what_the_model_cannot_write_is_not_tried() -> None:
    with (
        serve(says(SAID[:30], finish="length")) as server,
        pytest.raises(ReplyRefused, match=r"4096 tokens .*the most that this model writes"),
    ):
        await model(server, "openai/gpt-4", max_tokens=3000).reply(TASK)

    assert [request.limit for request in server.requests] == [3000, 4096]
