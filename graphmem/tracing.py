"""Spans of OpenTelemetry around verbs, statements and model calls, and the same as log lines; the one place for both.

A program that traces has imported OpenTelemetry; only then is there anything to do. Nothing is imported here: without
it a span costs one look into ``sys.modules``. The extra ``otel`` installs the API; provider and exporter are the
program's own choice (or that of ``opentelemetry-instrument``).

Spans hold names, counts, times and the types of errors: no texts, no parameters, no messages of errors, which may quote
texts. With ``Settings.trace_texts`` the arguments of verbs, prompts and replies as well. Passwords and keys never are.
"""

from __future__ import annotations

import functools
import inspect
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Concatenate, Protocol, TypeVar

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from graphmem.settings import Settings

C = TypeVar("C", bound=type)
Value = str | int | float | bool | None

_log = logging.getLogger("graphmem.calls")
"""Each verb, statement and model call with its duration, at DEBUG."""
_TEXT_LENGTH = 4_000
"""Most characters of a text in a span."""


class Recorder:
    """What is being recorded; notes that are None are left out."""

    __slots__ = ("_span",)

    def __init__(self, span: Span | None = None) -> None:
        self._span = span

    def note(self, attributes: Mapping[str, Value]) -> None:
        """Add to what the span says."""
        if self._span is not None:
            for name, value in attributes.items():
                if value is not None:
                    self._span.set_attribute(name, value[:_TEXT_LENGTH] if isinstance(value, str) else value)


_SILENT = nullcontext(Recorder())


def span(
    name: str, attributes: Mapping[str, Value] | None = None, *, client: bool = False
) -> AbstractContextManager[Recorder]:
    """Record what happens inside, where anybody looks.

    Args:
        name: What it is, of a fixed set: never a text of a caller's.
        attributes: What is known of it before.
        client: Whether it is a call of another program: the database, or a model.
    """
    if "opentelemetry.trace" not in sys.modules and not _log.isEnabledFor(logging.DEBUG):
        return _SILENT
    return _recorded(name, attributes or {}, client)


@contextmanager
def _recorded(name: str, attributes: Mapping[str, Value], client: bool) -> Generator[Recorder]:
    begun = time.perf_counter()
    failed = ""
    try:
        if "opentelemetry.trace" in sys.modules:
            with _span(name, attributes, client) as recorder:
                yield recorder
        else:
            yield Recorder()
    except BaseException as error:
        failed = f", {type(error).__name__}"
        raise
    finally:
        _log.debug("%s: %.4f s%s", name, time.perf_counter() - begun, failed)


@contextmanager
def _span(name: str, attributes: Mapping[str, Value], client: bool) -> Generator[Recorder]:
    from opentelemetry import trace

    kind = trace.SpanKind.CLIENT if client else trace.SpanKind.INTERNAL
    tracer = trace.get_tracer("graphmem")
    with tracer.start_as_current_span(
        name, kind=kind, record_exception=False, set_status_on_exception=False
    ) as current:
        recorder = Recorder(current)
        recorder.note(attributes)
        try:
            yield recorder
        except BaseException as error:
            recorder.note({"error.type": type(error).__name__})
            current.set_status(trace.StatusCode.ERROR, type(error).__name__)
            raise


class _Engine(Protocol):
    @property
    def settings(self) -> Settings: ...


class _Handle(Protocol):
    _engine: _Engine


def traced(handle: C) -> C:
    """Record each public coroutine method of a handle as a span ``graphmem.<verb>``, with the agent's id."""
    for name, method in list(vars(handle).items()):
        if not name.startswith("_") and inspect.iscoroutinefunction(method) and name != "close":
            setattr(handle, name, _verb(name, method))
    return handle


def _verb(
    name: str, method: Callable[Concatenate[_Handle, ...], Awaitable[object]]
) -> Callable[Concatenate[_Handle, ...], Awaitable[object]]:
    @functools.wraps(method)
    async def call(self: _Handle, *given: Any, **named: Any) -> object:
        with span(f"graphmem.{name}", {"graphmem.agent": getattr(self, "id", None)}) as recorder:
            if self._engine.settings.trace_texts:  # pyright: ignore[reportPrivateUsage] - one class with its methods
                told = [*map(repr, given), *(f"{key}={value!r}" for key, value in named.items())]
                recorder.note({"graphmem.arguments": ", ".join(told)})
            return await method(self, *given, **named)

    return call
