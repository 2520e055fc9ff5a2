"""Passwords and keys are in no log, repr, error or traceback, whatever goes wrong."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Generator

import pytest
from pydantic import SecretStr

from graphmem import Memory
from graphmem.embedding.base import Embedder
from graphmem.errors import AuthenticationFailed, GraphmemError
from graphmem.graph.store import Store
from graphmem.settings import Settings

WRONG = "wr0ng-s3cret/%40@:"
KEY = "sk-k3y-that-nobody-may-see"


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Generator[list[str]]:
    """What a test saw; with all that was logged by anyone it must hold no secret."""
    seen: list[str] = []
    with caplog.at_level(logging.DEBUG):
        for name in ("neo4j", "neo4j.io", "neo4j.pool", "graphmem", "asyncio"):
            caplog.set_level(logging.DEBUG, logger=name)
        yield seen
    seen += [caplog.text, *(repr(record.__dict__) for record in caplog.records)]


def everything(error: BaseException) -> str:
    """An error with all that lies under it, as a program that reports crashes has it: values of variables included."""
    lines = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "".join(lines.format(chain=True))


def test_a_memory_that_works_tells_no_password(
    settings: Settings, embedder: Embedder, agent_id: str, told: list[str]
) -> None:
    assert settings.password is not None
    given = settings.model_copy(update={"model_api_key": SecretStr(KEY), "embedding_api_key": SecretStr(KEY)})
    with Memory.open(settings=given, embedder=embedder) as memory:
        agent = memory.agent(agent_id)
        agent.observe("The lamp is lit", importance=1)
        agent.retrieve("lamp")
        engine = memory._memory._engine
        told += [repr(thing) for thing in (memory, memory.settings, memory.info(), agent, engine, engine.store)]
        told += [memory.settings.model_dump_json(), memory.uri, str(vars(engine.store))]
        with pytest.raises(GraphmemError) as caught:
            agent.retract("nothing of that id")
        told.append(everything(caught.value))
    text = "".join(told)
    assert "bolt" in text, "there was something to look through"
    for secret in (settings.password.get_secret_value(), KEY):
        assert secret not in text


async def test_a_password_that_is_refused_is_not_told(settings: Settings, told: list[str]) -> None:
    assert settings.uri is not None
    with pytest.raises(AuthenticationFailed) as caught:
        await Store.connect(settings.uri, "nobody", WRONG, "neo4j", retry_seconds=1)
    told += [str(caught.value), caught.value.remedy, repr(caught.value), *map(repr, _chain(caught.value))]
    assert WRONG not in "".join(told)


def _chain(error: BaseException | None) -> Generator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
