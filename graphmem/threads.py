"""Threads between synchronous and asynchronous code; none of them keeps a program from ending.

A program that forgets to close its memory, a notebook above all, must still be able to end. So the loop and blocking
work get daemon threads of their own rather than those of a pool, for which the interpreter waits.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import selectors
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from graphmem.errors import GraphmemError

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike

T = TypeVar("T")
C = TypeVar("C", bound=type)


async def in_thread(function: Callable[[], T], *, stop: threading.Event | None = None) -> T:
    """Run a blocking function off the event loop.

    When the caller is cancelled, a function that heeds ``stop`` is told by it and its end is waited for; any other runs
    on to its end, and its result is dropped.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            value = context.run(function)
        except StopIteration as error:
            # A future cannot hold it: it would end the generator that waits for the future.
            deliver(result.set_exception, RuntimeError(f"StopIteration: {error}"))
        except BaseException as error:
            deliver(result.set_exception, error)
        else:
            deliver(result.set_result, value)

    def deliver(settle: Callable[..., None], outcome: object) -> None:
        with suppress(RuntimeError):  # The loop has ended; nobody waits any more.
            loop.call_soon_threadsafe(lambda: None if result.done() else settle(outcome))

    threading.Thread(target=work, name="graphmem worker", daemon=True).start()
    if stop is None:
        return await result
    try:
        return await asyncio.shield(result)
    except asyncio.CancelledError:
        stop.set()
        with suppress(Exception):  # that it was stopped
            await result
        raise


class _Selector(selectors.DefaultSelector):
    """Watches the files of a loop; what a forked copy of the process drops, such as connections, stays watched here.

    Both processes have the same epoll, from which a copy that tidies up would take the files of the loop that runs.
    """

    def __init__(self) -> None:
        super().__init__()
        self._process = os.getpid()

    def unregister(self, fileobj: FileDescriptorLike) -> selectors.SelectorKey:
        """Stop watching a file, unless another process is the one that watches."""
        return super().unregister(fileobj) if os.getpid() == self._process else self.get_key(fileobj)


class Portal:
    """An event loop in a thread of its own, to which synchronous code hands its calls, from any thread."""

    def __init__(self) -> None:
        self._closed = False
        self._process = os.getpid()
        self._lock = threading.Lock()
        """Held while a call is handed over, so that none comes after the last one."""
        self._running: set[asyncio.Task[object] | None] = set()
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="graphmem", daemon=True)
        self._thread.start()
        ready.wait()

    def _run(self, ready: threading.Event) -> None:
        with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(_Selector())) as runner:
            runner.run(self._serve(ready))

    async def _serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        ready.set()
        await self._ended.wait()

    def call(self, function: Callable[..., Awaitable[T]], *args: object) -> T:
        """Run a coroutine function on the loop and wait for its result; when interrupted, it is cancelled.

        Raises:
            GraphmemError: When the portal is closed, or this is called on the loop itself or in a forked process, which
                would wait for ever.
        """
        self._check_thread()
        if self._forked():
            raise GraphmemError(
                "this memory was opened before the process was forked",
                remedy="open a memory in each process, or start processes by spawn instead of fork",
            )

        async def run() -> T:
            task = asyncio.current_task()
            self._running.add(task)
            try:
                return await function(*args)
            finally:
                self._running.discard(task)

        with self._lock:
            if self._closed:
                raise GraphmemError("this memory is closed", remedy="open it again")
            future = asyncio.run_coroutine_threadsafe(run(), self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Nothing happens where it was the call that failed.
            raise

    def close(self, last: Callable[[], Awaitable[None]] | None = None) -> None:
        """Wait for the calls of other threads and for what interrupted ones tidy up, run ``last``, and stop the loop.

        Calling it again does nothing, nor does it in a forked process, which has neither the loop nor its connections.

        Raises:
            GraphmemError: When this is called on the loop itself.
        """
        if self._forked():
            return
        self._check_thread()
        with self._lock:
            if self._closed:
                return
            self._closed = True

        async def end() -> None:
            try:
                await asyncio.gather(*filter(None, self._running), return_exceptions=True)
                if last is not None:
                    await last()
            finally:
                self._ended.set()

        try:
            asyncio.run_coroutine_threadsafe(end(), self._loop).result()
        finally:
            self._thread.join()

    def _forked(self) -> bool:
        """Whether this is a copy of the process in which the loop runs: threads are not copied."""
        return os.getpid() != self._process

    def _check_thread(self) -> None:
        if threading.current_thread() is self._thread:
            raise GraphmemError(
                "a synchronous memory cannot be used in a callback that it calls itself",
                remedy="note what is to be done, and do it after the call",
            )


def documented_by(asynchronous: type) -> Callable[[C], C]:
    """Give each method of a synchronous class that only points at its asynchronous twin the twin's own docstring.

    ``help(agent.observe)`` must say what ``observe`` does, and the words must not be written twice.
    """

    def copy(synchronous: C) -> C:
        for name, member in vars(synchronous).items():
            method = getattr(member, "__func__", member)
            if (getattr(method, "__doc__", None) or "").startswith("See :meth:"):
                method.__doc__ = getattr(asynchronous, name).__doc__
        return synchronous

    return copy
