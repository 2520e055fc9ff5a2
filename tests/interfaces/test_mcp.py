"""The MCP server as a client sees it: the SDK's own client, over pipes to a real process and over HTTP."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult, TextContent

from graphmem import AsyncMemory
from graphmem.async_agent import AsyncAgent
from graphmem.interfaces.mcp.server import make_server
from graphmem.settings import Settings
from tests.interfaces.conftest import RunCli, environment

TOOLS = {"remember", "recall", "reflect", "correct", "why", "ask", "plan", "forget"}
READING = {"recall", "why"}
DESTRUCTIVE = {"correct", "forget"}
GRAPHMEM = [sys.executable, "-m", "graphmem"]


@pytest.fixture
def env(settings: Settings) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    return {**kept, **environment(settings)}


@asynccontextmanager
async def connected(agent: AsyncAgent) -> AsyncIterator[Client]:
    """A client of a server in this process, for what does not depend on how they are joined."""
    async with Client(make_server(agent)) as client:
        yield client


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, said(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def said(result: CallToolResult) -> str:
    return " ".join(part.text for part in result.content if isinstance(part, TextContent))


async def text_of(client: Client, uri: str) -> Any:
    return json.loads(getattr((await client.read_resource(uri)).contents[0], "text"))  # noqa: B009


# --- a session ------------------------------------------------------------------------------------------------


async def a_session(client: Client, agent_id: str) -> None:
    """What a client does with a memory, from remembering to forgetting."""
    assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
    first = await called(client, "remember", text="Ana's dog is called Rex", kind="fact", importance=6)
    await called(client, "remember", text="The bakery opens at seven", kind="fact", importance=2)
    found = await called(client, "recall", query="What is Ana's dog called?", k=1)
    assert [memory["text"] for memory in found["memories"]] == ["Ana's dog is called Rex"]
    assert found["note"] == "1 of 2 memories"
    id_ = first["memory"]["id"]
    changed = await called(client, "correct", id=id_, text="Ana's dog is called Max", reason="misheard")
    found = await called(client, "recall", query="What is Ana's dog called?", k=1)
    assert [memory["id"] for memory in found["memories"]] == [changed["now"]["id"]]
    answer = await called(client, "ask", question="What is Ana's dog called?")
    assert (answer["known"], "Max" in answer["text"]) == (True, True)
    assert changed["now"]["id"] in answer["sentences"][0]["citations"]
    why = await called(client, "why", id=id_)
    assert any("superseded" in line and "misheard" in line for line in why["history"])
    provenance = await text_of(client, f"graphmem://memories/{quote(id_, safe='')}/provenance")
    assert provenance["memories"][id_]["status"] == "superseded"
    gone = await called(client, "forget", id=changed["now"]["id"])
    assert gone["forgotten"] == [changed["now"]["id"]]
    assert (await text_of(client, "graphmem://agent"))["id"] == agent_id


async def test_a_session_over_pipes_with_a_real_process(env: dict[str, str], agent_id: str) -> None:
    command, *arguments = [*GRAPHMEM, "mcp", "--agent", agent_id]
    async with Client(StdioServerParameters(command=command, args=arguments, env=env)) as client:
        await a_session(client, agent_id)


def test_nothing_but_the_protocol_is_on_standard_output(env: dict[str, str], agent_id: str) -> None:
    """Line by line, with a failing call among them, whose traceback or log must not get there."""
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"},
        },
    }
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    calls = [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(
            [("remember", {"text": "one"}), ("why", {"id": "nothing"}), ("recall", {"k": "many"})], start=2
        )
    ]
    command = [*GRAPHMEM, "mcp", "--agent", agent_id]
    with subprocess.Popen(
        command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers = []
        for message in (hello, ready, *calls):
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            if "id" in message:
                answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait(60) == 0
    assert [answer["id"] for answer in answers] == [1, 2, 3, 4]
    assert [answer["result"].get("isError", False) for answer in answers[1:]] == [False, True, True]


# --- over HTTP --------------------------------------------------------------------------------------------------


@pytest.fixture
def served(env: dict[str, str], agent_id: str) -> Iterator[str]:
    """The address of a server on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [*GRAPHMEM, "mcp", "--agent", agent_id, "--http", "--port", str(port)]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines: list[str] = []
        while "is served at" not in (line := process.stderr.readline()):
            assert line, "".join(lines)
            lines.append(line)
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
    assert out == ""
    assert "Traceback" not in err


async def test_a_session_over_http_and_who_is_refused(served: str, agent_id: str) -> None:
    async with Client(served) as client:
        await a_session(client, agent_id)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with httpx.AsyncClient() as browser:

        async def status(**headers: str) -> int:
            accept = {"Accept": "application/json, text/event-stream"}
            return (await browser.post(served, json=message, headers={**accept, **headers})).status_code

        assert await status(Host="evil.example") == 421
        assert await status(Origin="https://evil.example") == 403
        assert await status(Origin="null") == 403


def test_other_machines_are_served_only_when_that_is_meant(offline: RunCli, agent_id: str) -> None:
    refused = offline("mcp", "--agent", agent_id, "--http", "--host", "0.0.0.0")
    assert refused.code == 1
    assert "can be reached from other machines" in refused.err
    assert "--allow-host" in refused.err
    assert offline("mcp", "--agent", agent_id, "--allow-host", "a:1").code == 1


# --- tools --------------------------------------------------------------------------------------------------------


async def test_each_tool_says_what_it_does_to_the_memory(agent: AsyncAgent) -> None:
    async with connected(agent) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    annotations = {name: tool.annotations for name, tool in tools.items()}
    assert {name for name, told in annotations.items() if told and told.read_only_hint} == READING
    assert {name for name, told in annotations.items() if told and told.destructive_hint} == DESTRUCTIVE
    for tool in tools.values():
        assert tool.description
        # Whose memory it is, and in which store, is not for the model to say.
        assert not {"agent", "agent_id", "database", "uri", "scope"} & set(tool.input_schema.get("properties", {}))
        for name, field in tool.input_schema.get("properties", {}).items():
            assert name == "force" or "description" in json.dumps(field), (tool.name, name)


async def test_a_day_is_planned_and_said_to_be_intended(agent: AsyncAgent) -> None:
    await agent.configure(name="Ana", traits="a baker who opens her shop at seven")
    await agent.observe("Ana bakes bread in the morning", importance=5)
    async with connected(agent) as client:
        plan = await called(client, "plan")
        assert plan["plans"]
        assert {told["type"] for told in plan["plans"]} == {"plan"}
        assert (await called(client, "plan", date=plan["day"]))["note"] == "planned before"
        assert (await client.call_tool("plan", {"date": "soon"})).is_error


async def test_an_error_is_a_tool_error_that_says_what_to_do(agent: AsyncAgent) -> None:
    memory = await agent.observe("Rex is a dog", importance=3)
    await agent.retract(memory.id)
    cases = {
        "why": {"id": "nothing-of-that-id"},
        "correct": {"id": memory.id, "text": "Rex is a cat"},
        "remember": {"text": "  "},
        "recall": {"query": "Rex", "since": "yesterday"},
    }
    async with connected(agent) as client:
        for tool, arguments in cases.items():
            result = await client.call_tool(tool, arguments)
            assert result.is_error, tool
            assert result.structured_content is None
            assert len(said(result)) > 30, tool
        assert "what to do" in said(await client.call_tool("why", cases["why"]))
        with pytest.raises(MCPError, match="nothing"):
            await client.read_resource("graphmem://memories/nothing/history")


async def test_a_store_that_fails_is_no_empty_answer(settings: Settings, agent_id: str) -> None:
    from tests.conftest import QuickEmbedder

    async with await AsyncMemory.open(settings=settings, embedder=QuickEmbedder()) as memory:
        agent = memory.agent(agent_id)
        await agent.observe("something", importance=2)
    async with connected(agent) as client:  # its connections are closed
        result = await client.call_tool("recall", {"query": "something"})
    assert result.is_error
    assert "memories" not in (result.structured_content or {})


async def test_another_agents_memory_cannot_be_reached(memory: AsyncMemory, agent: AsyncAgent, agent_id: str) -> None:
    other = memory.agent(f"{agent_id}-other")
    secret = await other.observe("the other's secret", importance=9)
    async with connected(agent) as client:
        found = await called(client, "recall", query="the other's secret")
        assert found == {"memories": [], "note": "nothing is remembered yet"}
        for tool in ("why", "correct", "forget"):
            result = await client.call_tool(tool, {"id": secret.id, "agent": other.id, "agent_id": other.id})
            assert result.is_error, tool
        with pytest.raises(MCPError):
            await client.read_resource(f"graphmem://memories/{secret.id}/provenance")
    assert (await other.get(secret.id)).status == "active"


@pytest.mark.parametrize("id_", ["D1:1", "a/b", "../x", "/etc/passwd", "ä ö?#%"])
async def test_resources_of_any_id(agent: AsyncAgent, id_: str) -> None:
    await agent.observe("it has an id of its own", id=id_, importance=3)
    async with connected(agent) as client:
        uri = f"graphmem://memories/{quote(id_, safe='')}"
        assert (await text_of(client, f"{uri}/provenance"))["roots"] == [id_]
        assert [event["type"] for event in await text_of(client, f"{uri}/history")] == ["observed"]
