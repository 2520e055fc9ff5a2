"""Chat in, memory out: what is kept of a conversation, under which ids, and what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem import AsyncMemory, Memory
from graphmem.async_agent import AsyncAgent
from graphmem.cognition.messages import read_messages
from graphmem.errors import IdConflict, InvalidInput, InvalidText, InvalidTime, UnknownAgent
from graphmem.models import Observation

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
CALL: dict[str, Any] = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Lerwick"}'},
}
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "You are a helpful harbour master."},
    {"role": "user", "name": "Ines", "content": "Can I sail tomorrow?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "Gale, 9 Bft"},
    {"role": "assistant", "content": "No: a gale is coming."},
]


async def kept(agent: AsyncAgent) -> list[Observation]:
    """What the agent holds, in the order of its times."""
    found = [memory for memory in await agent.memories() if isinstance(memory, Observation)]
    return sorted(found, key=lambda memory: memory.occurred_at)


def said(*messages: Any, session: str | None = None) -> list[tuple[str | None, str]]:
    """Who said what."""
    return [(item.source, item.text) for item in read_messages(messages, session=session)]


async def test_a_conversation_becomes_utterances_in_their_order(agent: AsyncAgent) -> None:
    report = await agent.observe_messages(TALK, session="s1", now=NOW)
    assert (report.added, report.known, len(report.ids)) == (4, 0, 4)
    stored = await kept(agent)
    assert [(memory.source, memory.text) for memory in stored] == [
        ("Ines", "Can I sail tomorrow?"),
        ("assistant", '[calls get_weather({"city": "Lerwick"})]'),
        ("get_weather", "Gale, 9 Bft"),
        ("assistant", "No: a gale is coming."),
    ]
    assert [memory.id for memory in stored] == list(report.ids)
    assert {(memory.kind, memory.session, memory.recorded_at) for memory in stored} == {("utterance", "s1", NOW)}
    assert [memory.occurred_at - NOW for memory in stored] == [timedelta(microseconds=n) for n in range(4)]
    assert [memory.id for memory in await agent.about("Ines")] == [stored[0].id]


async def test_sent_again_nothing_is_stored_twice_and_grown_only_what_is_new(agent: AsyncAgent) -> None:
    first = await agent.observe_messages(TALK[:3], session="s1", now=NOW)
    again = await agent.observe_messages(TALK[:3], session="s1", now=NOW + timedelta(hours=1))
    assert (again.ids, again.added, again.known) == (first.ids, 0, 2)
    grown = await agent.observe_messages(TALK, session="s1", now=NOW + timedelta(hours=2))
    assert (grown.ids[:2], grown.added, grown.known) == (first.ids, 2, 2)
    stored = await kept(agent)
    assert [memory.text for memory in stored][-1] == "No: a gale is coming."
    assert stored[0].occurred_at == NOW
    info = await agent.info()
    assert info.observations == 4
    assert info.importance_since_reflection == sum(memory.importance for memory in stored)


async def test_a_conversation_cut_at_its_beginning_or_told_otherwise_what_to_do_is_the_same(agent: AsyncAgent) -> None:
    whole = await agent.observe_messages(TALK, session="s1", now=NOW)
    other = [{"role": "developer", "content": "It is noon now."}, {"role": "system", "content": "Be brief."}]
    cut = await agent.observe_messages([*other, *TALK[2:]], session="s1", now=NOW)
    assert (cut.added, cut.ids) == (0, whole.ids[1:])


async def test_an_edited_message_is_a_new_memory_and_those_after_it_are_not(agent: AsyncAgent) -> None:
    first = await agent.observe_messages(TALK, session="s1", now=NOW)
    edited = [{**message, "content": "Can I sail today?"} if message.get("name") else message for message in TALK]
    second = await agent.observe_messages(edited, session="s1", now=NOW)
    assert (second.added, second.known) == (1, 3)
    assert second.ids[0] != first.ids[0]
    assert second.ids[1:] == first.ids[1:]
    assert (await agent.get(first.ids[0])).text == "Can I sail tomorrow?"


async def test_what_is_said_twice_is_kept_twice(agent: AsyncAgent) -> None:
    yes = {"role": "user", "content": "yes"}
    talk = [yes, {"role": "assistant", "content": "Sure?"}, yes]
    report = await agent.observe_messages(talk, session="s1", now=NOW)
    assert (report.added, len(set(report.ids))) == (3, 3)
    assert (await agent.observe_messages([*talk, yes], session="s1", now=NOW)).added == 1
    assert (await agent.observe_messages(talk, session="s2", now=NOW)).added == 3


async def test_alone_and_with_a_time_the_same_words_are_told_apart(agent: AsyncAgent) -> None:
    for hour in range(3):
        message = {"role": "user", "content": "yes", "timestamp": (NOW + timedelta(hours=hour)).isoformat()}
        assert (await agent.observe_messages([message], session="s1", now=NOW)).added == 1
        assert (await agent.observe_messages([message], session="s1", now=NOW)).added == 0
    assert [memory.occurred_at for memory in await kept(agent)] == [NOW + timedelta(hours=hour) for hour in range(3)]


@pytest.mark.parametrize("field", ["timestamp", "created_at"])
@pytest.mark.parametrize("form", [NOW, NOW.timestamp(), NOW.isoformat(), "2026-03-01T13:00:00+01:00"])
def test_every_form_of_a_time_is_the_same_message(field: str, form: object) -> None:
    [item] = read_messages([{"role": "user", "content": "x", field: form}])
    [plain] = read_messages([{"role": "user", "content": "x", "timestamp": "2026-03-01T12:00:00Z"}])
    assert (item.occurred_at, item.id) == (NOW, plain.id)


async def test_two_processes_that_send_the_same_store_it_once(agent: AsyncAgent) -> None:
    reports = await asyncio.gather(*(agent.observe_messages(TALK, session="s1") for _ in range(8)))
    assert len({report.ids for report in reports}) == 1
    assert sum(report.added for report in reports) == 4
    assert (await agent.info()).observations == 4


async def test_of_two_agents_each_has_its_own(agent: AsyncAgent, new_agent: Callable[[], AsyncAgent]) -> None:
    other = new_agent()
    mine = await agent.observe_messages(TALK, session="s1", now=NOW)
    theirs = await other.observe_messages(TALK, session="s1", now=NOW)
    assert mine.ids == theirs.ids
    assert (mine.added, theirs.added) == (4, 4)


async def test_a_conversation_of_nothing_makes_no_agent(agent: AsyncAgent) -> None:
    silent = [{"role": "system", "content": "x"}, {"role": "user", "content": " \n"}, {"role": "assistant"}]
    for messages in ([], silent):
        assert (await agent.observe_messages(messages)).ids == ()
    with pytest.raises(UnknownAgent):
        await agent.info()


# --- what is kept of a message ----------------------------------------------------------------------------------


def test_parts_of_every_kind() -> None:
    content = [
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {"url": "https://x.example/a.png", "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "input_image", "image_url": "https://x.example/b.png"},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "file", "file": {"filename": "plan.pdf", "file_data": "AAAA"}},
        {"type": "input_file", "file_id": "file-7"},
        {"type": "refusal", "refusal": "I would rather not."},
        {"type": "output_text", "text": "Done."},
        {"type": "hologram", "data": [1, 2]},
        "and a plain string",
    ]
    assert said({"role": "user", "content": content}) == [
        (
            "user",
            "Look:\n[image: https://x.example/a.png]\n[image]\n[image: https://x.example/b.png]\n[audio]\n"
            "[file: plan.pdf]\n[file: file-7]\nI would rather not.\nDone.\n[hologram]\nand a plain string",
        )
    ]


def test_text_is_kept_as_it_is() -> None:
    text = "  two\n\n lines\t北 👨‍👩‍👧 \n"
    assert said({"role": "user", "content": text}) == [("user", text)]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "assistant", "content": None, "refusal": "I can't."}, ("assistant", "I can't.")),
        ({"role": "assistant", "audio": {"id": "a", "transcript": "Ahoy"}}, ("assistant", "Ahoy")),
        ({"role": "assistant", "audio": {"id": "a"}}, ("assistant", "[audio]")),
        ({"role": "assistant", "name": "Harbour", "content": "Ahoy"}, ("Harbour", "Ahoy")),
        ({"role": "tool", "tool_call_id": "unknown", "content": "42"}, ("tool", "42")),
        ({"role": "function", "name": "add", "content": "42"}, ("add", "42")),
        (
            {"role": "assistant", "content": "One moment.", "tool_calls": [CALL, {**CALL, "id": "call_2"}]},
            ("assistant", "One moment." + '\n[calls get_weather({"city": "Lerwick"})]' * 2),
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "c", "custom": {"name": "sh", "input": "ls"}}]},
            ("assistant", "[calls sh(ls)]"),
        ),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "now", "arguments": {}}}]},
            ("assistant", "[calls now({})]"),
        ),
        ({"role": "assistant", "function_call": {"name": "now", "arguments": ""}}, ("assistant", "[calls now()]")),
    ],
)  # fmt: skip
def test_messages_of_every_kind(message: dict[str, Any], expected: tuple[str, str]) -> None:
    assert said(message) == [expected]


def test_results_of_two_equal_calls_are_two() -> None:
    results = [{"role": "tool", "tool_call_id": f"call_{n}", "content": "ok"} for n in (1, 2)]
    both = [item.id for item in read_messages(results)]
    assert len(set(both)) == 2
    assert [item.id for item in read_messages(results[1:])] == both[1:]


def test_objects_say_the_same_as_mappings() -> None:
    @dataclass
    class Said:
        role: str
        content: object
        name: str | None = None

    function = SimpleNamespace(name="get_weather", arguments='{"city": "Lerwick"}')
    objects = [
        SimpleNamespace(role="system", content="You are a helpful harbour master."),
        Said("user", [SimpleNamespace(type="text", text="Can I sail tomorrow?")], "Ines"),
        SimpleNamespace(
            role="assistant",
            content=None,
            tool_calls=[SimpleNamespace(id="call_1", type="function", function=function)],
        ),
        SimpleNamespace(role="tool", tool_call_id="call_1", content="Gale, 9 Bft", name=None),
        Said("assistant", "No: a gale is coming."),
    ]
    assert read_messages(objects, session="s") == read_messages(TALK, session="s")


# --- what is refused --------------------------------------------------------------------------------------------

BAD: list[tuple[object, str]] = [
    (None, "role: is missing"),
    (7, "role: is missing"),
    ("hello", "role: is missing"),
    ([], "role: is missing"),
    ({}, "role: is missing"),
    ({"role": None, "content": "x"}, "role: is missing"),
    ({"role": 7, "content": "x"}, "role: int"),
    ({"role": "User", "content": "x"}, "'User'"),
    ({"role": "user", "content": 7}, "content: int"),
    ({"role": "user", "content": {"type": "text", "text": "x"}}, "content: dict"),
    ({"role": "user", "content": [7]}, r"content\[0\]: type: is missing"),
    ({"role": "user", "content": [{"type": "text", "text": 7}]}, r"content\[0\]: text: int"),
    ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": 7}}]}, r"content\[0\]: url"),
    ({"role": "user", "content": "x", "name": 7}, "name: int"),
    ({"role": "user", "content": "x", "name": " "}, "source"),
    ({"role": "user", "content": "x", "timestamp": "yesterday"}, "yesterday"),
    ({"role": "user", "content": "x", "timestamp": "2026-03-01T12:00:00"}, "no zone"),
    ({"role": "user", "content": "x", "created_at": True}, "True"),
    ({"role": "assistant", "tool_calls": 7}, "tool_calls: int"),
    ({"role": "assistant", "tool_calls": [7]}, r"tool_calls\[0\]"),
    ({"role": "assistant", "tool_calls": [{"function": {"arguments": "x"}}]}, r"tool_calls\[0\]: name"),
    ({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"x": {1, 2}}}}]}, "arguments"),
    ({"role": "tool", "tool_call_id": 7, "content": "x"}, "tool_call_id: int"),
    ({"role": "user", "content": "nul \x00"}, "U\\+0000"),
    ({"role": "user", "content": "lone \ud83e"}, "unicode string"),
    ({"role": "user", "content": "x" * 100_001}, "100000"),
]


@pytest.mark.parametrize(("message", "words"), BAD, ids=str)
async def test_a_message_that_is_none_is_named_and_nothing_is_written(
    agent: AsyncAgent, message: object, words: str
) -> None:
    with pytest.raises(InvalidInput, match=rf"^messages\[1\]: .*{words}"):
        await agent.observe_messages([TALK[1], message, TALK[4]], session="s1")
    with pytest.raises(UnknownAgent):
        await agent.info()


def test_errors_keep_their_kind() -> None:
    with pytest.raises(InvalidText):
        read_messages([{"role": "user", "content": "nul \x00"}])
    with pytest.raises(InvalidTime) as error:
        read_messages([{"role": "user", "content": "x", "timestamp": "2026-03-01T12:00:00"}])
    assert "zone" in error.value.remedy


@pytest.mark.parametrize("messages", ["hello", b"hello", TALK[1], None, 7])
async def test_what_is_no_list_of_messages_is_refused(agent: AsyncAgent, messages: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^messages: a list"):
        await agent.observe_messages(messages)


@pytest.mark.parametrize("session", ["", " ", 7, "x" * 513, "\ud800"])
async def test_a_session_that_is_none_is_refused_also_with_nothing_to_keep(agent: AsyncAgent, session: Any) -> None:
    for messages in ([], TALK):
        with pytest.raises(InvalidInput, match="session"):
            await agent.observe_messages(messages, session=session)


async def test_what_the_callers_own_iterator_raises_comes_through_and_nothing_is_written(agent: AsyncAgent) -> None:
    def broken() -> Any:
        yield TALK[1]
        raise ConnectionError("the chat server is gone")

    with pytest.raises(ConnectionError):
        await agent.observe_messages(broken())
    with pytest.raises(UnknownAgent):
        await agent.info()


# --- properties -------------------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(["yes", "", " ", "\x00", "\ud800", "北"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
PARTS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "refusal", "image_url", "input_audio", "file", "video"]) | ANYTHING},
    optional={"text": TEXTS | ANYTHING, "refusal": ANYTHING, "image_url": ANYTHING, "file": ANYTHING},
)
FUNCTIONS = st.fixed_dictionaries({"name": TEXTS | ANYTHING}, optional={"arguments": TEXTS | ANYTHING})
CALLS = st.fixed_dictionaries({}, optional={"id": TEXTS | ANYTHING, "function": FUNCTIONS | ANYTHING})
HOSTILE = ANYTHING | st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system", "developer"]) | ANYTHING},
    optional={
        "content": TEXTS | st.lists(PARTS | ANYTHING, max_size=3) | ANYTHING,
        "name": TEXTS | ANYTHING,
        "tool_calls": st.lists(CALLS | ANYTHING, max_size=2) | ANYTHING,
        "tool_call_id": TEXTS | ANYTHING,
        "timestamp": st.datetimes(timezones=st.just(UTC)) | ANYTHING,
        "refusal": ANYTHING,
        "audio": ANYTHING,
        "function_call": FUNCTIONS | ANYTHING,
    },
)
PLAIN = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "tool", "system"]),
        "content": st.sampled_from(["yes", "no", "", "é"]),
    },
    optional={"name": st.sampled_from(["Ines", "Lio"]), "tool_call_id": st.sampled_from(["c1", "c2"])},
)


@settings(max_examples=400, deadline=None)
@given(messages=st.lists(HOSTILE, max_size=4), session=st.none() | TEXTS)
def test_whatever_comes_is_read_or_refused_with_a_typed_error(messages: list[Any], session: str | None) -> None:
    try:
        items = read_messages(messages, session=session)
    except InvalidInput:
        return
    assert len({item.id for item in items}) == len(items) <= len(messages)
    assert read_messages(messages, session=session) == items


@given(messages=st.lists(PLAIN, max_size=12), cut=st.integers(0, 12))
def test_growing_changes_no_id(messages: list[Any], cut: int) -> None:
    whole = read_messages(messages, session="s")
    part = read_messages(messages[:cut], session="s")
    assert whole[: len(part)] == part
    assert len({item.id for item in whole}) == len(whole)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(messages=st.lists(HOSTILE | PLAIN, min_size=1, max_size=4))
def test_whatever_comes_is_stored_whole_or_not_at_all(sync_memory: Memory, messages: list[Any]) -> None:
    agent = sync_memory.agent(f"messages-{uuid4().hex}")
    try:
        report = agent.observe_messages(messages, session="s")
    except InvalidInput:
        assert agent.memories() == ()
        return
    assert report.added == len(report.ids) == len(agent.memories())
    assert [agent.get(id_).id for id_ in report.ids] == list(report.ids)
    again = agent.observe_messages(messages, session="s")
    assert (again.ids, again.added, again.known) == (report.ids, 0, len(report.ids))


async def test_a_conversation_goes_on_after_the_agent_was_moved(agent: AsyncAgent, memory: AsyncMemory) -> None:
    """An import does not tell how a message was first given; what it says is compared."""
    await agent.observe_messages(TALK, session="s1", now=NOW)
    moved = memory.agent(f"{agent.id}-moved")
    await moved.import_memories(await agent.export_memories())
    grown = [*TALK, {"role": "user", "name": "Ines", "content": "And on Sunday?"}]
    report = await moved.observe_messages(grown, session="s1", now=NOW + timedelta(days=1))
    assert (report.added, report.known) == (1, 4)
    with pytest.raises(IdConflict):
        await moved.observe("No: a storm is coming.", id=report.ids[3], source="assistant")
    with pytest.raises(IdConflict):
        await moved.observe("No: a gale is coming.", id=report.ids[3], source="Ines")
