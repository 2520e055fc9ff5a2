"""LangGraph's store: the same tests on its own InMemoryStore and on ours, with the same results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypedDict
from uuid import uuid4

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore, GetOp, InvalidNamespaceError, Item, ListNamespacesOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from graphmem import AsyncMemory, Memory
from graphmem.errors import InvalidInput
from graphmem.interfaces.adapters.langgraph import SOURCE, GraphmemStore
from tests.conftest import DIMENSION, QuickEmbedder

KINDS = ("LangGraph's", "ours")


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, embedder: QuickEmbedder) -> BaseStore:
    if request.param == "ours":
        memory: Memory = request.getfixturevalue("sync_memory")
        return GraphmemStore(memory.agent(f"langgraph-{uuid4().hex[:10]}"))

    def embed(texts: Any) -> list[list[float]]:
        return [vector.tolist() for vector in embedder.embed_documents(list(texts))]

    return InMemoryStore(index={"dims": DIMENSION, "embed": embed})


def told(item: Item | None) -> Any:
    """What both must say of an item; times and scores are each store's own."""
    return item and (item.namespace, item.key, item.value)


def keys(items: list[Any]) -> list[str]:
    return [item.key for item in items]


def test_put_get_and_what_is_not_there(store: BaseStore) -> None:
    value = {"theme": "dark", "n": 1, "half": 0.5, "deep": {"list": [1, None, True, "ä北\x00"]}, "": ""}
    store.put(("users", "ana"), "prefs", value)
    item = store.get(("users", "ana"), "prefs")
    assert told(item) == (("users", "ana"), "prefs", value)
    assert item is not None
    assert item.created_at <= item.updated_at
    assert item.created_at.tzinfo is not None
    assert store.get(("users", "ana"), "other") is None
    assert store.get(("users",), "prefs") is None
    assert store.get(("users", "bo"), "prefs") is None


def test_a_put_replaces_and_a_deletion_ends(store: BaseStore) -> None:
    for theme in ("dark", "light", "blue"):
        store.put(("users",), "prefs", {"theme": theme})
    assert told(store.get(("users",), "prefs")) == (("users",), "prefs", {"theme": "blue"})
    assert keys(store.search(("users",))) == ["prefs"]
    store.delete(("users",), "prefs")
    assert store.get(("users",), "prefs") is None
    assert store.search(("users",)) == []
    store.delete(("users",), "never")
    store.put(("users",), "prefs", {"theme": "red"})
    assert told(store.get(("users",), "prefs")) == (("users",), "prefs", {"theme": "red"})


def test_search_by_prefix_filter_limit_and_offset(store: BaseStore) -> None:
    for n in range(6):
        store.put(("docs", "a" if n % 2 == 0 else "b"), f"k{n}", {"n": n, "kind": {"odd": n % 2 == 1}, "tags": [n]})
    store.put(("other",), "x", {"n": 0})
    assert keys(store.search(("docs",))) == ["k0", "k2", "k4", "k1", "k3", "k5"]
    assert keys(store.search(("docs", "b"))) == ["k1", "k3", "k5"]
    assert keys(store.search(("docs",), limit=2, offset=1)) == ["k2", "k4"]
    assert keys(store.search(("doc",))) == []
    for wanted, found in (
        ({"n": 3}, ["k3"]),
        ({"n": {"$gt": 3}}, ["k4", "k5"]),
        ({"n": {"$gte": 2, "$lt": 4}}, ["k2", "k3"]),
        ({"n": {"$lte": 0}}, ["k0"]),
        ({"n": {"$ne": 1}, "kind": {"odd": True}}, ["k3", "k5"]),
        ({"tags": [4]}, ["k4"]),
        ({"n": {"$eq": 9}}, []),
        ({"none": None}, ["k0", "k2", "k4", "k1", "k3", "k5"]),
    ):
        assert keys(store.search(("docs",), filter=wanted)) == found, wanted
    with pytest.raises(ValueError, match="Unsupported operator"):
        store.search(("docs",), filter={"n": {"$like": 1}})


def test_search_by_meaning(store: BaseStore) -> None:
    store.put(("notes",), "dog", {"text": "Rex the dog sleeps by the stove"})
    store.put(("notes",), "boat", {"text": "the ferry leaves the harbour at seven"})
    store.put(("notes", "deep"), "bread", {"text": "sourdough bread needs a long night"})
    found = store.search(("notes",), query="when does the ferry leave the harbour", limit=1)
    assert [told(item) for item in found] == [
        (("notes",), "boat", {"text": "the ferry leaves the harbour at seven"}),
    ]
    assert found[0].score is not None
    assert keys(store.search(("notes", "deep"), query="ferry harbour")) == ["bread"]
    assert len(store.search(("notes",), query="bread")) == 3
    assert store.search(("none",), query="bread") == []


def test_namespaces(store: BaseStore) -> None:
    for namespace in (("a", "b", "c"), ("a", "b", "d"), ("a", "x"), ("z", "c")):
        store.put(namespace, "k", {"v": 1})
    assert store.list_namespaces() == [("a", "b", "c"), ("a", "b", "d"), ("a", "x"), ("z", "c")]
    assert store.list_namespaces(prefix=("a", "b")) == [("a", "b", "c"), ("a", "b", "d")]
    assert store.list_namespaces(suffix=("c",)) == [("a", "b", "c"), ("z", "c")]
    assert store.list_namespaces(prefix=("a", "*", "d")) == [("a", "b", "d")]
    assert store.list_namespaces(max_depth=2) == [("a", "b"), ("a", "x"), ("z", "c")]
    assert store.list_namespaces(limit=1, offset=2) == [("a", "x")]


def test_a_batch_reads_what_was_before_and_the_last_put_counts(store: BaseStore) -> None:
    store.put(("n",), "k", {"v": 0})
    results = store.batch(
        [
            PutOp(("n",), "k", {"v": 1}),
            GetOp(("n",), "k"),
            PutOp(("n",), "k", {"v": 2}),
            PutOp(("n",), "new", {"v": 3}),
            SearchOp(("n",)),
            ListNamespacesOp(),
        ]
    )
    assert [results[0], results[2], results[3]] == [None, None, None]
    assert told(results[1]) == (("n",), "k", {"v": 0})
    assert [told(item) for item in results[4]] == [(("n",), "k", {"v": 0})]
    assert results[5] == [("n",)]
    assert told(store.get(("n",), "k")) == (("n",), "k", {"v": 2})
    assert keys(store.search(("n",))) == ["k", "new"]


def test_what_is_refused(store: BaseStore) -> None:
    for namespace in ((), ("a.b",), ("",), ("langgraph",)):
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {"v": 1})
    with pytest.raises(NotImplementedError, match="TTL"):
        store.put(("a",), "k", {"v": 1}, ttl=5)


async def test_asynchronously(store: BaseStore) -> None:
    await asyncio.gather(*(store.aput(("n",), f"k{n}", {"n": n}) for n in range(5)))
    assert told(await store.aget(("n",), "k3")) == (("n",), "k3", {"n": 3})
    assert sorted(keys(await store.asearch(("n",), filter={"n": {"$gt": 2}}))) == ["k3", "k4"]
    await store.adelete(("n",), "k3")
    assert await store.aget(("n",), "k3") is None
    assert await store.alist_namespaces() == [("n",)]
    (found,) = await store.abatch([GetOp(("n",), "k4")])
    assert told(found) == (("n",), "k4", {"n": 4})


class State(TypedDict):
    said: str
    known: list[str]


def test_in_a_graph_of_langgraph(store: BaseStore) -> None:
    """The example of docs/adapters.md."""

    def remember(state: State, runtime: Runtime) -> dict[str, Any]:
        assert runtime.store is not None
        known = [item.value["said"] for item in runtime.store.search(("said",))]
        runtime.store.put(("said",), f"{len(known)}", {"said": state["said"]})
        return {"known": known}

    graph = StateGraph(State).add_node("remember", remember).add_edge(START, "remember").add_edge("remember", END)
    app = graph.compile(store=store)
    assert app.invoke({"said": "one", "known": []})["known"] == []
    assert app.invoke({"said": "two", "known": []})["known"] == ["one"]


# --- ours alone -------------------------------------------------------------------------------------------------


def test_what_a_put_replaces_stays_with_its_history(sync_memory: Memory, agent_id: str) -> None:
    agent = sync_memory.agent(agent_id)
    store = GraphmemStore(agent)
    store.put(("users", "ana"), "home", {"city": "Kiel"})
    store.put(("users", "ana"), "home", {"city": "Bergen"})
    store.delete(("users", "ana"), "home")
    values = sorted(agent.about(SOURCE, status=None), key=lambda memory: memory.recorded_at)
    assert [(memory.text, memory.status) for memory in values] == [
        ('{"city": "Kiel"}', "superseded"),
        ('{"city": "Bergen"}', "superseded"),
        ("null", "active"),
    ]
    assert [event.type for event in agent.history(values[0].id)] == ["observed", "superseded"]
    assert agent.check() == ()


def test_what_is_no_json_is_refused_and_nothing_is_written(sync_memory: Memory, agent_id: str) -> None:
    store = GraphmemStore(sync_memory.agent(agent_id))
    nothing: Callable[[], None] = lambda: None  # noqa: E731
    for value in ({"x": {1, 2}}, {"x": float("nan")}, {1: "x"}, {"x": (1, 2)}, {"x": nothing}):
        with pytest.raises(InvalidInput) as refused:
            store.batch([PutOp(("a",), "fine", {"v": 1}), PutOp(("a",), "k", value)])
        assert refused.value.remedy
    with pytest.raises(InvalidInput, match="no dict: 'a text'"):
        store.put(("a",), "k", "a text")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidInput, match="at most 512"):
        store.put(("a",), "k" * 600, {"v": 1})
    assert store.search(("a",)) == []


async def test_on_an_asynchronous_memory(memory: AsyncMemory, agent_id: str) -> None:
    store = GraphmemStore(memory.agent(agent_id))
    await store.aput(("n",), "k", {"v": 1})
    assert told(await store.aget(("n",), "k")) == (("n",), "k", {"v": 1})
    with pytest.raises(InvalidInput, match="awaited"):
        store.batch([GetOp(("n",), "k")])


@pytest.mark.parametrize("given", ["evan", None, GraphmemStore])
def test_what_is_no_agent_is_refused_at_once(given: Any) -> None:
    with pytest.raises(InvalidInput, match="not an Agent or AsyncAgent") as refused:
        GraphmemStore(given)
    assert "memory.agent" in refused.value.remedy
