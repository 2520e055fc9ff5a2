"""The adapter for real models, over HTTP: providers that fail, hang, limit and refuse; concurrency and settings."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from subprocess import run
from time import monotonic
from typing import Any

import anyio
import pytest
from openai_server import RESET, Answer, Behaviour, Request, fails, hangs, says, serve, writes

from graphmem import language
from graphmem.errors import (
    InvalidSettings,
    LanguageModelError,
    ModelAuthenticationFailed,
    ModelRequestRefused,
    ModelUnavailable,
    PromptTooLong,
    ReplyRefused,
)
from graphmem.language.extractive import Extractive
from graphmem.language.litellm_model import LiteLLM
from graphmem.settings import Settings, load_settings

from .asking import INSIGHTS, KEY, PROMPT, SAID, TASK, model

pytestmark = pytest.mark.usefixtures("litellm_imported")


@pytest.fixture
def unreachable() -> str:
    """The address of a server that is gone."""
    with serve(says(SAID)) as server:
        url = server.url
    return url


def everything(error: BaseException) -> str:
    """All that a log or a report of this error may show, the errors behind it included."""
    shown: list[str] = []
    current: BaseException | None = error
    while current is not None:
        shown += [str(current), repr(current), repr(vars(current))]
        current = current.__cause__ or current.__context__
    return "\n".join([*shown, *traceback.format_exception(error)])


# --- providers that fail -----------------------------------------------------------------------------------------


def in_two_seconds() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=2.9), usegmt=True)


@pytest.mark.parametrize(
    ("told", "least"),
    [
        ({"Retry-After": "1"}, 1.0),
        ({"retry-after-ms": "900"}, 0.9),
        (None, 1.0),
        ({"Retry-After": "soon"}, 0.5),
        ({"Retry-After": "Wed, 21 Oct 99999999999 07:28:00 GMT"}, 0.5),
    ],
    ids=["seconds", "milliseconds", "date", "nonsense", "no-such-year"],
)
async def test_b34_a_rate_limit_is_waited_out_as_told(told: dict[str, str] | None, least: float) -> None:
    def limits(request: Request) -> Answer:
        return fails(429, "slow down", headers=told or {"Retry-After": in_two_seconds()})

    with serve(limits, limits, says(SAID)) as server:
        reply = await model(server, attempts=1, max_wait=10).reply(TASK)  # Waiting costs no attempt.

    assert reply.value == INSIGHTS
    first, second, third = (request.at for request in server.requests)
    assert second - first >= least
    assert third - second >= least
    assert all(request.messages == PROMPT for request in server.requests)


@pytest.mark.parametrize("message", ["Please try again in 1.3s.", '{"@type": "RetryInfo", "retryDelay": "1.3s"}'])
async def test_b34_some_providers_only_write_how_long_to_wait(message: str) -> None:
    with serve(fails(429, message), says(SAID)) as server:
        await model(server).reply(TASK)

    first, second = (request.at for request in server.requests)
    assert second - first >= 1.3


async def test_a_rate_limit_that_does_not_end_is_given_up() -> None:
    with (
        serve(fails(429, "slow down", headers={"Retry-After": "0"})) as server,
        pytest.raises(ModelUnavailable, match="slow down") as failed,
    ):
        await model(server, max_wait=2).reply(TASK)

    assert len(server.requests) == 3  # After half a second and after one more; two more would be too long.
    assert failed.value.retryable
    assert "GRAPHMEM_MODEL_MAX_WAIT" in failed.value.remedy


async def test_a_wait_longer_than_allowed_is_not_begun() -> None:
    began = monotonic()
    with (
        serve(fails(429, "slow down", headers={"Retry-After": "3600"})) as server,
        pytest.raises(ModelUnavailable, match="asks to wait 3600 s"),
    ):
        await model(server).reply(TASK)

    assert len(server.requests) == 1
    assert monotonic() - began < 3


@pytest.mark.parametrize(
    ("behaviour", "says_why"),
    [
        (fails(500, "the engine is on fire"), "the engine is on fire"),
        (fails(503, "overloaded"), "overloaded"),
        (RESET, "openai/scripted at 127.0.0.1"),
        (Answer(body="<html>Bad gateway</html>", headers={"content-type": "text/html"}), "Bad gateway"),
        (Answer(body={"id": "1", "object": "chat.completion", "choices": []}), "index out of range"),
    ],
    ids=["500", "503", "reset", "html", "no-choices"],
)
async def test_a_provider_that_fails_is_asked_a_bounded_number_of_times(behaviour: Behaviour, says_why: str) -> None:
    with serve(behaviour) as server, pytest.raises(ModelUnavailable, match=says_why) as failed:
        await model(server).reply(TASK)

    assert len(server.requests) == 3
    assert "3 requests" in str(failed.value)
    assert failed.value.retryable
    assert KEY not in everything(failed.value)


async def test_a_provider_that_recovers() -> None:
    with serve(fails(500, "on fire"), RESET, says(SAID)) as server:
        reply = await model(server).reply(TASK)

    assert reply.value == INSIGHTS
    assert reply.refused == ()  # Nothing was written that could be refused.
    assert len(server.requests) == 3


async def test_refusals_and_failures_share_the_attempts() -> None:
    with (
        serve(says("no idea"), fails(500, "on fire"), says("no idea"), says(SAID)) as server,
        pytest.raises(ReplyRefused, match="neither JSON"),
    ):
        await model(server).reply(TASK)

    assert len(server.requests) == 3
    assert "neither JSON" in server.requests[1].messages[-1]["content"]
    assert server.requests[1].messages == server.requests[2].messages


async def test_a_hanging_provider_is_given_up_in_time() -> None:
    began = monotonic()
    with serve(hangs()) as server, pytest.raises(ModelUnavailable, match=r"no answer within 0\.5 s"):
        await model(server, timeout=0.5, attempts=2).reply(TASK)

    assert len(server.requests) == 2
    assert monotonic() - began < 6


async def test_a_provider_that_trickles_is_given_up_in_time() -> None:
    began = monotonic()
    slow = Answer(body=says(SAID).body, trickle=0.2)
    with serve(slow) as server, pytest.raises(ModelUnavailable, match="no answer within 1 s"):
        await model(server, timeout=1, attempts=1).reply(TASK)

    assert monotonic() - began < 5


async def test_a_server_that_is_gone(unreachable: str) -> None:
    with pytest.raises(ModelUnavailable, match=r"openai/scripted at 127\.0\.0\.1") as failed:
        await model(unreachable, attempts=2).reply(TASK)

    assert "GRAPHMEM_MODEL_API_BASE" in failed.value.remedy


# --- what is not tried again -------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 403])
async def test_b34_a_refused_key_is_not_tried_again_and_never_told(
    status: int, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG, logger="graphmem")
    with serve(fails(status, f"Incorrect API key provided: {KEY}. Authorization: Bearer {KEY}")) as server:
        scripted = model(server)
        with pytest.raises(ModelAuthenticationFailed, match="Incorrect API key provided") as failed:
            await scripted.reply(TASK)

    assert len(server.requests) == 1
    assert not failed.value.retryable
    assert "GRAPHMEM_MODEL_API_KEY" in failed.value.remedy
    printed = capfd.readouterr()
    assert KEY not in everything(failed.value) + repr(scripted) + caplog.text + printed.out + printed.err


async def test_a_missing_key_is_named(unreachable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OPENAI_")]:
        monkeypatch.delenv(name)

    with pytest.raises(ModelAuthenticationFailed) as failed:
        await model(unreachable, api_key=None).reply(TASK)

    assert "GRAPHMEM_MODEL_API_KEY" in failed.value.remedy


async def test_the_providers_own_variable_gives_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serve(says(SAID)) as server:
        await model(server, api_key=None).reply(TASK)

    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("behaviour", "error", "why"),
    [
        (fails(404, "The model `scripted` does not exist"), ModelRequestRefused, "does not exist"),
        (fails(400, "messages: too many roles"), ModelRequestRefused, "too many roles"),
        (fails(429, "You exceeded your current quota", code="insufficient_quota"), ModelRequestRefused, "quota"),
        (fails(400, "This model's maximum context length is 8192 tokens"), PromptTooLong, "8192 tokens"),
        (fails(413, "Input validation error: `inputs` must have less than 512 tokens"), PromptTooLong, "512 tokens"),
    ],
    ids=["no-model", "bad-request", "no-quota", "context", "too-large"],
)
async def test_a_refused_request_is_not_tried_again(
    behaviour: Behaviour, error: type[LanguageModelError], why: str
) -> None:
    with serve(behaviour) as server, pytest.raises(error, match=why) as failed:
        await model(server).reply(TASK)

    assert type(failed.value) is error
    assert len(server.requests) == 1
    assert not failed.value.retryable
    assert "litellm" not in str(failed.value)


async def test_an_unknown_provider_is_named() -> None:
    with pytest.raises(ModelRequestRefused, match="nosuch/scripted"):
        await model("http://127.0.0.1:9", "nosuch/scripted").reply(TASK)


# --- concurrency -------------------------------------------------------------------------------------------------


async def test_requests_at_a_time_are_limited() -> None:
    slow = Answer(body=says(SAID).body, delay=0.3)
    with serve(slow) as server:
        scripted = model(server, concurrency=2)
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(scripted.reply, TASK)

    assert len(server.requests) == 6
    assert server.most_at_once == 2


async def test_cancelling_ends_the_request_and_frees_its_place() -> None:
    with serve(hangs(), says(SAID)) as server:
        scripted = model(server, concurrency=1)
        began = monotonic()
        with anyio.move_on_after(0.5) as scope:
            await scripted.reply(TASK)
        took = monotonic() - began
        reply = await scripted.reply(TASK)

    assert scope.cancelled_caught
    assert took < 3
    assert reply.value == INSIGHTS


def test_one_adapter_serves_several_event_loops() -> None:
    with serve(says(SAID)) as server:
        scripted = model(server)
        replies = [asyncio.run(scripted.reply(TASK)) for _ in range(3)]

    assert [reply.value for reply in replies] == [INSIGHTS] * 3


# --- settings ----------------------------------------------------------------------------------------------------


def test_the_settings_choose_the_model() -> None:
    assert isinstance(language.load(Settings(language_model="extractive")), Extractive)
    chosen = language.load(Settings(language_model="litellm/openai/org/some-model"))
    assert isinstance(chosen, LiteLLM)
    assert chosen.name == "openai/org/some-model"


@pytest.mark.parametrize("name", ["", "gpt-4o", "litellm", "litellm/", "litellm/gpt-4o", "openai/gpt-4o", "Extractive"])
def test_another_form_is_refused_naming_the_forms(name: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        load_settings(language_model=name)

    assert "'extractive'" in str(refused.value)
    assert "'litellm/<provider>/<model>'" in str(refused.value)
    assert "language_model" in refused.value.remedy


async def test_everything_can_be_set_by_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(writes(SAID, 3000)) as server:
        for name, value in {
            "LANGUAGE_MODEL": "litellm/openai/scripted",
            "MODEL_API_BASE": server.url,
            "MODEL_API_KEY": KEY,
            "MODEL_TIMEOUT": "20",
            "MODEL_ATTEMPTS": "2",
            "MODEL_MAX_WAIT": "1",
            "MODEL_MAX_TOKENS": "500",
            "MODEL_CONCURRENCY": "1",
        }.items():
            monkeypatch.setenv(f"GRAPHMEM_{name}", value)
        settings = load_settings()
        with pytest.raises(ReplyRefused, match="1000 tokens"):
            await language.load(settings).reply(TASK)

    assert [request.limit for request in server.requests] == [500, 1000]
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(settings)


def python(code: str, **options: Any) -> str:
    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=True, **options)
    return done.stdout + done.stderr


def test_litellm_is_imported_only_when_something_is_asked() -> None:
    said = python(
        "import sys, graphmem; from graphmem import language; from graphmem.settings import Settings\n"
        "language.load(Settings(language_model='litellm/openai/gpt-4o-mini'))\n"
        "print('litellm' in sys.modules)"
    )

    assert said == "False\n"


def test_importing_litellm_is_silent_and_reads_neither_network_nor_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=of-somebody-else\n")

    said = python(
        "import os, sys; sys.path.insert(0, ''); from graphmem.providers import import_litellm\n"
        "litellm = import_litellm()\n"
        "assert len(litellm.model_cost) > 1000\n"
        "print(os.environ['LITELLM_LOCAL_MODEL_COST_MAP'], os.environ.get('OPENAI_API_KEY'))",
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "LITELLM_"))},
    )

    assert said == "True None\n"
