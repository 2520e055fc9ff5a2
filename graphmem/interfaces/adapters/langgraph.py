"""A store for LangGraph: items are keyed facts of an agent, so that what a put replaces stays, with its history.

``GraphmemStore(memory.agent("evan"))`` keeps items under an agent: namespace and key are the fact's ``key``, the value
is its text, as JSON. A put under the same key is a later value: it supersedes the earlier one, and whatever was
concluded from that turns stale. So does a deletion, which is the value ``null``. What the store holds is found by
``retrieve``, ``explain`` and ``history`` like all that the agent observed.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    validate_op_namespace,
)

from graphmem import Agent, NewObservation
from graphmem.async_agent import AsyncAgent
from graphmem.errors import InvalidInput
from graphmem.interfaces.tools import checked_handle
from graphmem.models import MAX_ID, RECALL, AnyMemory, Observation, validated

T = TypeVar("T")

SOURCE = "langgraph"
"""Who says what the store keeps; ``agent.about("langgraph")`` lists it."""
_PAGE = 1_000
_MOST = 10_000
_REFUSED = re.compile("[\ud800-\udfff]")


class GraphmemStore(BaseStore):
    """LangGraph's ``BaseStore`` on an agent's memory.

    With the handle of a synchronous ``Memory`` all methods work, the asynchronous ones in a thread; with that of an
    ``AsyncMemory`` the asynchronous ones. ``search`` with a query ranks by meaning and words (profile ``recall``),
    without one it lists by namespace and key. Every value is embedded as a whole, whatever ``index`` says. Items have
    no time to live: a ``ttl`` is refused by the base class.
    """

    __slots__ = ("_agent",)

    def __init__(self, agent: Agent | AsyncAgent) -> None:
        """Of the handle of an agent.

        Raises:
            InvalidInput: When it is none.
        """
        checked_handle(agent, Agent, AsyncAgent)
        self._agent = agent

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do what is asked as LangGraph's stores do: reads see what was before, of puts under a key the last counts.

        Raises:
            InvalidInput: When a value is not JSON, or the handle is an ``AsyncAgent``; nothing was written.
        """
        agent = self._agent
        if not isinstance(agent, Agent):
            raise InvalidInput(
                "an AsyncAgent is awaited",
                remedy="use abatch, aget, aput, …, or the agent of a synchronous Memory",
            )

        async def now(function: Callable[..., T], *args: Any, **named: Any) -> T:
            return function(*args, **named)

        return _finished(_Batch(agent, now).do(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """See :meth:`batch`."""
        agent = self._agent
        if isinstance(agent, Agent):
            return await asyncio.to_thread(self.batch, list(ops))

        async def wait(function: Callable[..., Awaitable[T]], *args: Any, **named: Any) -> T:
            return await function(*args, **named)

        return await _Batch(agent, wait).do(list(ops))


def _finished(work: Awaitable[T]) -> T:
    """The result of a coroutine that never waits."""
    steps = work.__await__()
    try:
        next(steps)
    except StopIteration as done:
        return cast(T, done.value)
    raise RuntimeError("a synchronous call was awaited")


class _Batch:
    """One batch on either handle; ``call`` calls its methods."""

    def __init__(self, agent: Agent | AsyncAgent, call: Callable[..., Awaitable[Any]]) -> None:
        self._agent: Any = agent
        self._call = call

    async def do(self, ops: Sequence[Op]) -> list[Result]:
        results: list[Result] = []
        puts: dict[str, NewObservation] = {}
        for op in ops:
            validate_op_namespace(op)
            if isinstance(op, PutOp):
                key = _key(op.namespace, op.key)
                puts[key] = _observation(key, op.value)
                results.append(None)
            elif isinstance(op, GetOp):
                results.append(await self._get(_key(op.namespace, op.key)))
            elif isinstance(op, SearchOp):
                results.append(await self._search(op))
            else:
                results.append(_namespaces(op, await self._all()))
        if puts:
            await self._call(self._agent.observe_many, list(puts.values()))
        return results

    async def _get(self, key: str) -> Item | None:
        found = _items(await self._call(self._agent.about, key, status="active"))
        return next((item for item in found if _key(item.namespace, item.key) == key), None)

    async def _all(self) -> list[Item]:
        """Every item, by namespace and key."""
        items: list[Item] = []
        after: str | None = None
        while page := await self._call(self._agent.about, SOURCE, status="active", limit=_PAGE, after=after):
            items += _items(page)
            after = page[-1].id
        return sorted(items, key=lambda item: (item.namespace, item.key))

    async def _search(self, op: SearchOp) -> list[SearchItem]:
        wanted = op.offset + op.limit
        if not op.query:
            there = [_found(item, None) for item in await self._all() if _passes(op, item)]
            return there[op.offset : wanted]
        k = min(_MOST, max(100, 4 * wanted))
        while True:
            hits = await self._call(
                self._agent.retrieve, op.query, k=k, profile=RECALL, source=SOURCE, kinds=("fact",), touch=False
            )
            ranked = [(item, hit.score) for hit in hits for item in _items([hit.memory])]
            there = [_found(item, score) for item, score in ranked if _passes(op, item)]
            if len(there) >= wanted or len(hits) < k or k == _MOST:
                return there[op.offset : wanted]
            k = min(_MOST, 4 * k)


def _key(namespace: tuple[str, ...], key: str) -> str:
    """The fact's key: a JSON list of the namespace's labels and the item's key.

    Raises:
        InvalidInput: When it is longer than a key may be.
    """
    found = _json([*namespace, key])
    if len(found) > MAX_ID:
        raise InvalidInput(
            f"namespace and key have {len(found)} characters together, at most {MAX_ID} are allowed",
            remedy="use shorter labels, or a hash as the key",
        )
    return found


def _observation(key: str, value: Mapping[str, Any] | None) -> NewObservation:
    """What is observed when an item is put; a deletion is a value as well, that there is none."""
    if not (value is None or isinstance(value, Mapping)):  # pyright: ignore[reportUnnecessaryIsInstance] - callers
        raise InvalidInput(f"the value is no dict: {value!r:.80}", remedy='put it in one: {"value": …}')
    text = _json(value)
    if json.loads(text) != value:
        raise InvalidInput(
            "the value is not JSON: it would not come back as it is", remedy="use texts as names, and lists for tuples"
        )
    # As a subject it is an entity, by which the item is found without a search.
    return validated(NewObservation, {"text": text, "kind": "fact", "source": SOURCE, "key": key, "subject": key})


def _json(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"the value is not JSON: {error}", remedy="put what json.dumps takes") from error
    return _REFUSED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _items(memories: Iterable[AnyMemory]) -> list[Item]:
    """The items among an agent's memories; deletions are none."""
    found: list[Item] = []
    for memory in memories:
        if not isinstance(memory, Observation) or memory.source != SOURCE or memory.key is None:
            continue
        value: Any = json.loads(memory.text) if memory.key == memory.subject else None
        if isinstance(value, dict):
            *namespace, key = cast("list[str]", json.loads(memory.key))
            at = memory.recorded_at
            item = Item(
                value=cast("dict[str, Any]", value), key=key, namespace=tuple(namespace), created_at=at, updated_at=at
            )
            found.append(item)
    return found


def _found(item: Item, score: float | None) -> SearchItem:
    return SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score=score)


def _passes(op: SearchOp, item: Item) -> bool:
    if item.namespace[: len(op.namespace_prefix)] != op.namespace_prefix:
        return False
    return all(_compares(item.value.get(name), wanted) for name, wanted in (op.filter or {}).items())


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, wanted: value == wanted,
    "$ne": lambda value, wanted: value != wanted,
    "$gt": lambda value, wanted: float(value) > float(wanted),
    "$gte": lambda value, wanted: float(value) >= float(wanted),
    "$lt": lambda value, wanted: float(value) < float(wanted),
    "$lte": lambda value, wanted: float(value) <= float(wanted),
}


def _compares(value: Any, wanted: Any) -> bool:
    """Whether a value is as a filter wants it, as LangGraph's stores compare."""
    if isinstance(wanted, dict):
        asked = cast("dict[str, Any]", wanted)
        if any(name.startswith("$") for name in asked):
            if unknown := [name for name in asked if name not in _OPERATORS]:
                raise ValueError(f"Unsupported operator: {unknown[0]}")
            return all(_OPERATORS[name](value, limit) for name, limit in asked.items())
        there = cast("dict[str, Any]", value) if isinstance(value, dict) else None
        return there is not None and all(_compares(there.get(name), item) for name, item in asked.items())
    if isinstance(wanted, list | tuple):
        items, asked_items = cast("Sequence[Any]", value), cast("Sequence[Any]", wanted)
        if not isinstance(value, list | tuple) or len(items) != len(asked_items):
            return False
        return all(_compares(item, other) for item, other in zip(items, asked_items, strict=True))
    return value == wanted


def _namespaces(op: ListNamespacesOp, items: Iterable[Item]) -> list[tuple[str, ...]]:
    """Namespaces with an item in them, in order."""
    there = {item.namespace for item in items}
    there = {name for name in there if all(_fits(condition, name) for condition in op.match_conditions or ())}
    if op.max_depth is not None:
        there = {name[: op.max_depth] for name in there}
    return sorted(there)[op.offset : op.offset + op.limit]


def _fits(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
