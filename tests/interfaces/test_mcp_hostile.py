"""Hostile texts through the tools of the MCP server: kept as they are, or refused in words that the client can read."""

from __future__ import annotations

from uuid import uuid4

from hypothesis import HealthCheck, example, given, settings

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.models import Observation
from tests.hostile import EXAMPLES, TEXTS, can_be_kept
from tests.interfaces.test_mcp import connected, said


@settings(max_examples=EXAMPLES // 4, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=TEXTS, name=TEXTS)
@example(text="x}) DETACH DELETE n //", name="o'brien`")
@example(text="\0", name="n")
async def test_what_a_client_sends_is_text(memory: AsyncMemory, text: str, name: str) -> None:
    agent = memory.agent(f"mcp-{uuid4().hex}")
    async with connected(agent) as client:
        try:
            stored = await client.call_tool("remember", {"text": text, "importance": 2})
        except UnicodeEncodeError:  # the client's own: what it cannot send never arrives
            assert not can_be_kept(text)
            return
        assert stored.is_error != can_be_kept(text), said(stored)
        assert "Traceback" not in said(stored)
        kept = await agent.memories(limit=5)
        assert [memory.text for memory in kept] == ([text] if can_be_kept(text) else [])
        if not can_be_kept(name):
            return
        labelled = {"text": "lamp", "importance": 2, "source": name, "session": name, "place": name, "keywords": [name]}
        assert not (await client.call_tool("remember", labelled)).is_error
        found = next(one for one in await agent.memories(limit=5) if one.text == "lamp" and one.source == name)
        assert isinstance(found, Observation)
        assert (found.session, found.place, found.keywords) == (name, name, (name,))
        kept = await agent.memories(limit=5)
        for tool, arguments in (
            ("recall", {"query": name}),
            ("recall", {"query": "lamp", "source": name}),
            ("recall", {"query": "lamp", "as_of": name}),
            ("ask", {"question": name}),
            ("plan", {"date": name}),
            ("why", {"id": name}),
            ("correct", {"id": name, "text": text, "reason": name}),
            ("forget", {"id": name}),
        ):
            result = await client.call_tool(tool, arguments)
            assert "Traceback" not in said(result)
            fine = tool in ("recall", "ask") and "as_of" not in arguments
            assert result.is_error != fine, "there is no memory of that id, no such time, no such day"
        assert [memory.text for memory in await agent.memories(limit=5)] == [memory.text for memory in kept]


async def test_a_megabyte_is_refused_in_few_words(memory: AsyncMemory, agent: AsyncAgent) -> None:
    large = "lamp " * 200_000
    await agent.observe("The lamp is lit", id="o1", importance=3)
    async with connected(agent) as client:
        for tool, arguments in (
            ("remember", {"text": large}),
            ("remember", {"text": "lamp", "source": large}),
            ("recall", {"query": large}),
            ("ask", {"question": large}),
            ("plan", {"date": large}),
            ("why", {"id": large}),
            ("correct", {"id": "o1", "text": large}),
            ("correct", {"id": "o1", "text": "off", "reason": large}),
            ("forget", {"id": large}),
        ):
            result = await client.call_tool(tool, arguments)
            assert result.is_error, tool
            assert len(said(result)) < 3_000, tool
    assert [(memory.id, memory.status) for memory in await agent.memories()] == [("o1", "active")]
