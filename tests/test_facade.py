"""The public face: what is exported, that both facades are the same, and that threads and event loops do no harm."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import graphmem
from graphmem import Agent, AsyncAgent, AsyncMemory, Memory
from graphmem.embedding.base import Embedder
from graphmem.errors import GraphmemError, InvalidInput
from graphmem.memory import _Told
from graphmem.settings import Settings
from graphmem.testing import HashingEmbedder
from graphmem.threads import Portal, in_thread
from tests.interfaces.conftest import environment

TWINS = [(AsyncAgent, Agent), (AsyncMemory, Memory)]


def public(kind: type) -> dict[str, Any]:
    """What a person can use of a class, by name, context managers included."""
    context = {"__aenter__": "__enter__", "__aexit__": "__exit__"}
    members = {name: value for base in reversed(kind.__mro__[:-1]) for name, value in vars(base).items()}
    names = {context.get(name, name): value for name, value in members.items()}
    return {name: value for name, value in names.items() if not name.startswith("_") or name in context.values()}


def called(function: Any) -> inspect.Signature:
    return inspect.signature(function.__func__ if isinstance(function, classmethod) else function)


# --- what there is ----------------------------------------------------------------------------------------------


def test_what_is_exported() -> None:
    """Sorted as linters have it: constants, classes, functions."""
    assert graphmem.__all__ == sorted(graphmem.__all__, key=lambda name: (not name.isupper(), name))
    assert graphmem.__all__ == [
        "PAPER",
        "Agent",
        "AsyncAgent",
        "AsyncMemory",
        "GraphmemError",
        "Memory",
        "NewObservation",
        "Profile",
        "Weights",
    ]
    for name in graphmem.__all__:
        assert getattr(graphmem, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Memories'"):
        graphmem.Memories  # noqa: B018


@pytest.mark.parametrize(("asynchronous", "synchronous"), TWINS)
def test_each_facade_has_what_the_other_has(asynchronous: type, synchronous: type) -> None:
    there = set(public(asynchronous)) | set(inspect.get_annotations(asynchronous))
    if asynchronous is AsyncAgent:
        there |= {"id"}  # set when it is made
    if asynchronous is AsyncMemory:
        there |= {"browser_url"}
    assert set(public(synchronous)) == there


METHODS = [(a, s, name) for a, s in TWINS for name in sorted(public(s)) if not isinstance(public(s)[name], property)]


@pytest.mark.parametrize(("asynchronous", "synchronous", "name"), METHODS)
def test_the_twins_take_and_give_the_same(asynchronous: type, synchronous: type, name: str) -> None:
    one, other = called(public(asynchronous)[name]), called(public(synchronous)[name])
    assert list(one.parameters.values()) == list(other.parameters.values())
    assert str(one.return_annotation).replace("Async", "") == other.return_annotation


@pytest.mark.parametrize(("asynchronous", "synchronous", "name"), METHODS)
def test_every_public_method_is_documented(asynchronous: type, synchronous: type, name: str) -> None:
    if name.startswith("__"):
        return
    assert (told := inspect.getdoc(getattr(asynchronous, name)))
    assert inspect.getdoc(getattr(synchronous, name)) == told


# --- threads and loops ------------------------------------------------------------------------------------------


@pytest.mark.report("B31")
def test_one_memory_from_many_threads(sync_memory: Memory, agent_id: str) -> None:
    agent = sync_memory.agent(agent_id)

    def live(number: int) -> str:
        stored = agent.observe(f"thread {number}", id=f"t{number}", importance=2)
        assert len(agent.retrieve(f"thread {number}", k=3)) >= 1
        assert agent.get(stored.id).text == f"thread {number}"
        return stored.id

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(live, range(24))) == sorted(f"t{n}" for n in range(24))
    assert agent.info().importance_since_reflection == 48


@pytest.mark.report("B31")
async def test_a_synchronous_memory_inside_a_running_loop(
    settings: Settings, embedder: Embedder, agent_id: str
) -> None:
    """As in a notebook, where a loop runs already."""
    assert asyncio.get_running_loop().is_running()
    with Memory.open(settings=settings, embedder=embedder) as memory:
        agent = memory.agent(agent_id)
        agent.observe("in a notebook", importance=2)
        assert agent.info().observations == 1


def test_in_a_callback_of_its_own_it_says_so_instead_of_waiting_for_ever(sync_memory: Memory, agent_id: str) -> None:
    agent = sync_memory.agent(agent_id)
    with pytest.raises(GraphmemError, match="callback"):
        agent.observe_many(["one"], progress=lambda done: print(agent.info()))  # noqa: T201
    assert agent.info().observations == 1


def test_after_closing_one_clear_error_and_closing_again_is_nothing(
    settings: Settings, embedder: Embedder, agent_id: str
) -> None:
    memory = Memory.open(settings=settings, embedder=embedder)
    agent = memory.agent(agent_id)
    memory.close()
    memory.close()
    for call in (memory.agents, agent.info, lambda: agent.observe("x"), agent.check):
        with pytest.raises(GraphmemError, match="closed") as error:
            call()
        assert error.value.remedy


async def test_after_closing_the_asynchronous_one_says_the_same(
    settings: Settings, embedder: Embedder, agent_id: str
) -> None:
    memory = await AsyncMemory.open(settings=settings, embedder=embedder)
    await memory.close()
    await memory.close()
    with pytest.raises(GraphmemError, match="closed"):
        await memory.agent(agent_id).observe("x")


def test_closing_waits_for_the_calls_of_other_threads(settings: Settings, embedder: Embedder, agent_id: str) -> None:
    memory = Memory.open(settings=settings, embedder=embedder)
    agent = memory.agent(agent_id)
    begun = threading.Event()
    outcome: list[object] = []

    def work() -> None:
        def items() -> Any:
            begun.set()
            time.sleep(0.3)
            yield "while closing"

        outcome.append(agent.observe_many(items()).added)

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(10)
    memory.close()
    thread.join()
    assert outcome == [1]


def test_b31_an_asynchronous_memory_in_another_loop_gives_one_clear_error(
    settings: Settings, embedder: Embedder, agent_id: str
) -> None:
    """``asyncio.run`` makes a loop each time; the connections belong to the first."""
    opened: list[AsyncMemory] = []
    with asyncio.Runner() as first:
        opened.append(first.run(AsyncMemory.open(settings=settings, embedder=embedder)))
        agent = opened[0].agent(agent_id)
        calls: list[Callable[[], Any]] = [
            lambda: agent.observe("x"),
            lambda: agent.retrieve("x"),
            agent.info,
            agent.reflect,
            opened[0].agents,
            opened[0].close,
        ]
        for call in calls:
            with pytest.raises(GraphmemError, match="another event loop") as error:
                run_elsewhere(call)
            assert "asyncio.run" in error.value.remedy
        # The loop that it belongs to goes on with it as if nothing had been.
        assert first.run(agent.observe("x", importance=1)).text == "x"
        first.run(opened[0].close())
    run_elsewhere(opened[0].close)


def run_elsewhere(call: Callable[[], Any]) -> object:
    """Run a coroutine in a thread, in a loop of its own."""
    with ThreadPoolExecutor(1) as pool:

        async def run() -> object:
            return await call()

        return pool.submit(asyncio.run, run()).result()


async def test_b31_three_runs_each_with_a_memory_of_its_own(
    settings: Settings, embedder: Embedder, agent_id: str
) -> None:
    async def live(number: int) -> None:
        async with await AsyncMemory.open(settings=settings, embedder=embedder) as memory:
            await memory.agent(agent_id).observe(f"run {number}", importance=1)

    for number in range(3):
        await asyncio.to_thread(asyncio.run, live(number))
    async with await AsyncMemory.open(settings=settings, embedder=embedder) as memory:
        assert (await memory.agent(agent_id).info()).observations == 3


@pytest.mark.parametrize("given", ["gpt-4o", HashingEmbedder, 7])
def test_what_is_no_model_is_refused_before_anything_is_opened(given: Any) -> None:
    with pytest.raises(InvalidInput, match="is not a LanguageModel") as refused:
        Memory.open(uri="bolt://127.0.0.1:1", language_model=given)
    assert "GRAPHMEM_LANGUAGE_MODEL" in refused.value.remedy
    for function in (Memory.open, Memory.reembed):
        with pytest.raises(InvalidInput, match="is not an Embedder") as refused:
            function(embedder=given)
        assert "GRAPHMEM_EMBEDDING" in refused.value.remedy


SCRIPT = """
import asyncio, sys
from graphmem import AsyncMemory, Memory
from graphmem.testing import HashingEmbedder

class QuickEmbedder(HashingEmbedder):
    def __init__(self):
        super().__init__(384)
    @property
    def name(self):
        return "bge-small-en-v1.5"

mode, agent_id = sys.argv[1:]
if mode == "closed":
    with Memory.open(embedder=QuickEmbedder()) as memory:
        memory.agent(agent_id).observe("from a process", importance=1)
elif mode == "asynchronous":
    async def main():
        async with await AsyncMemory.open(embedder=QuickEmbedder()) as memory:
            await memory.agent(agent_id).observe("from a process", importance=1)
    asyncio.run(main())
else:
    memory = Memory.open(embedder=QuickEmbedder())
    memory.agent(agent_id).observe("from a process", importance=1)
print("done")
"""


@pytest.fixture
def env(settings: Settings) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    return {**kept, **environment(settings)}


@pytest.mark.report("B31")
@pytest.mark.parametrize("mode", ["closed", "asynchronous"])
def test_a_program_that_closes_ends_without_a_warning(env: Mapping[str, str], agent_id: str, mode: str) -> None:
    command = [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", SCRIPT, mode, agent_id]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_a_program_that_forgets_to_close_ends_all_the_same(
    env: Mapping[str, str], sync_memory: Memory, agent_id: str
) -> None:
    command = [sys.executable, "-c", SCRIPT, "forgets", agent_id]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert sync_memory.agent(agent_id).info().observations == 1


FORKED = """
import os, sys
from graphmem import Memory
from graphmem.errors import GraphmemError
from graphmem.testing import HashingEmbedder

class QuickEmbedder(HashingEmbedder):
    def __init__(self):
        super().__init__(384)
    @property
    def name(self):
        return "bge-small-en-v1.5"

agent_id = sys.argv[1]
with Memory.open(embedder=QuickEmbedder()) as memory:
    agent = memory.agent(agent_id)
    agent.observe("before the fork", importance=1)
    child = os.fork()
    if child == 0:
        try:
            agent.observe("in the child", importance=1)
        except GraphmemError as error:
            print(f"{error}; {error.remedy}", flush=True)
        with Memory.open(embedder=QuickEmbedder()) as own:
            own.agent(agent_id).observe("in the child, by its own", importance=1)
    else:
        assert os.waitpid(child, 0)[1] == 0
        agent.observe("after the fork", importance=1)
        print(agent.info().observations, flush=True)
"""


@pytest.mark.report("B31")
def test_after_a_fork_one_clear_error_and_the_parent_goes_on(env: Mapping[str, str], agent_id: str) -> None:
    command = [sys.executable, "-c", FORKED, agent_id]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    told, stored = done.stdout.splitlines()
    assert "opened before the process was forked; open a memory in each process" in told
    assert stored == "3"


# --- what is under it -------------------------------------------------------------------------------------------


async def test_a_blocking_function_in_a_thread() -> None:
    assert await in_thread(threading.get_ident) != threading.get_ident()
    for error in (InvalidInput("bad"), SystemExit(3), KeyError("k")):
        with pytest.raises(type(error)):
            await in_thread(lambda error=error: (_ for _ in ()).throw(error))
    with pytest.raises(RuntimeError, match="StopIteration"):
        await in_thread(lambda: next(iter(())))


async def test_a_cancelled_caller_does_not_wait_for_the_function() -> None:
    release = threading.Event()
    waiting = asyncio.create_task(in_thread(release.wait))
    await asyncio.sleep(0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(waiting, timeout=5)
    release.set()


def test_an_interrupted_call_is_cancelled_and_tidied_up_before_the_loop_stops() -> None:
    portal = Portal()
    told: list[str] = []

    async def long() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.2)
            told.append("tidied up")
            raise

    async def last() -> None:
        told.append("last")

    def interrupt() -> None:
        time.sleep(0.2)
        os.kill(os.getpid(), 2)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        portal.call(long)
    portal.close(last)
    assert told == ["tidied up", "last"]
    with pytest.raises(GraphmemError, match="closed"):
        portal.call(last)


def test_what_takes_long_is_told_where_a_person_looks_on_and_logged_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delattr(sys, "ps1", raising=False)
    with caplog.at_level(logging.INFO, "graphmem"):
        _Told()("starting Neo4j", None)
    assert caplog.messages == ["starting Neo4j"]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    told = _Told()
    for fraction in (0.1, 0.5, 1.0):
        told("fetching Neo4j", fraction)
    told("starting Neo4j", None)
    assert capsys.readouterr() == ("", "graphmem: fetching Neo4j …\ngraphmem: starting Neo4j …\n")
