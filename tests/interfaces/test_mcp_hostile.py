"""Hostile texts through the tools of the MCP server: kept as they are, or refused in words that the client can read."""

from __future__ import annotations

from uuid import uuid4

from hypothesis import HealthCheck, example, given, settings

from graphmem import AsyncMemory
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
        for tool, arguments in (
            ("recall", {"query": name}),
            ("why", {"id": name}),
            ("correct", {"id": name, "text": text, "reason": name}),
            ("forget", {"id": name}),
        ):
            result = await client.call_tool(tool, arguments)
            assert "Traceback" not in said(result)
            assert result.is_error == (tool != "recall"), "there is no memory of that id"
        assert [memory.text for memory in await agent.memories(limit=5)] == [memory.text for memory in kept]
