"""LangChain, pydantic-ai and the OpenAI Agents SDK use a memory, with a scripted model that answers over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from agents import Agent as OpenAIAgent
from agents import OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI
from openai_server import Answer, Request, says, serve
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from graphmem import AsyncMemory, Memory
from graphmem.async_agent import AsyncAgent
from graphmem.errors import InvalidInput, InvalidTime
from graphmem.interfaces.adapters import openai_agents, pydantic_ai
from graphmem.interfaces.adapters.langchain import GraphmemRetriever

FACT = "Ana's dog is called Rex"
TOOLS = {"remember", "recall", "reflect", "correct", "why", "ask", "plan", "forget"}


def calls(name: str, **arguments: Any) -> Answer:
    """A model that calls a tool."""
    answer = says(None, finish="tool_calls")
    assert isinstance(answer.body, dict)
    answer.body["choices"][0]["message"]["tool_calls"] = [
        {
            "id": f"call-{uuid4().hex}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
    ]
    return answer


def results(request: Request) -> str:
    """What the tools told the model."""
    return " ".join(str(message["content"]) for message in request.messages if message["role"] == "tool")


async def in_pydantic_ai(agent: AsyncAgent, url: str) -> str:
    provider = OpenAIProvider(base_url=url, api_key="none")
    assistant = PydanticAgent(OpenAIChatModel("scripted", provider=provider), tools=pydantic_ai.memory_tools(agent))
    return str((await assistant.run("What is Ana's dog called?")).output)


async def in_openai_agents(agent: AsyncAgent, url: str) -> str:
    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel("scripted", AsyncOpenAI(base_url=url, api_key="none"))
    assistant = OpenAIAgent("assistant", model=model, tools=list(openai_agents.memory_tools(agent)))
    return str((await Runner.run(assistant, "What is Ana's dog called?")).final_output)


FRAMEWORKS = [in_pydantic_ai, in_openai_agents]


@pytest.mark.parametrize("run", FRAMEWORKS)
async def test_a_model_remembers_recalls_and_is_told_errors(run: Callable[..., Any], agent: AsyncAgent) -> None:
    script = [
        calls("remember", text=FACT, kind="fact", importance=6),
        calls("recall", query="What is Ana's dog called?", k=1),
        calls("why", id="nothing-of-that-id"),
        says("Rex"),
    ]
    with serve(*script) as server:
        assert await run(agent, server.url) == "Rex"
        asked = server.requests
    offered = {tool["function"]["name"]: tool["function"]["parameters"] for tool in asked[0].body["tools"]}
    assert set(offered) == TOOLS
    assert all("agent" not in schema.get("properties", {}) for schema in offered.values())
    assert "1 of 1 memories" in results(asked[2])
    assert FACT in results(asked[2])
    assert "has no memory" in str(asked[3].messages)
    assert "what to do" in str(asked[3].messages)
    assert [memory.text for memory in await agent.memories()] == [FACT]


def test_some_of_the_tools_and_forgetting_needs_an_approval(memory: AsyncMemory, agent: AsyncAgent) -> None:
    for module in (pydantic_ai, openai_agents):
        assert [tool.name for tool in module.memory_tools(agent, "recall", "remember")] == ["remember", "recall"]
        with pytest.raises(ValueError, match="no tool 'recal'"):
            module.memory_tools(agent, "recal")
    asked = {tool.name for tool in pydantic_ai.memory_tools(agent) if tool.requires_approval}
    assert asked == {tool.name for tool in openai_agents.memory_tools(agent) if tool.needs_approval} == {"forget"}


async def test_a_retriever_of_langchain(memory: AsyncMemory, agent: AsyncAgent, sync_memory: Memory) -> None:
    kept = await agent.observe(FACT, importance=6, source="Ana")
    await agent.observe("The bakery opens at seven", importance=3)
    for handle in (agent, sync_memory.agent(agent.id)):
        (found,) = await GraphmemRetriever(agent=handle, k=1).ainvoke("What is Ana's dog called?")
        assert (found.page_content, found.id, found.metadata["source"]) == (FACT, kept.id, "Ana")
        assert found.metadata["score"] > 0
    with pytest.raises(InvalidTime):
        await GraphmemRetriever(agent=agent, options={"since": "yesterday"}).ainvoke("dog")


def test_what_is_no_agent_is_refused_at_once(sync_memory: Memory, agent_id: str) -> None:
    with pytest.raises(InvalidInput, match="'evan' is not an Agent or AsyncAgent"):
        GraphmemRetriever(agent="evan")
    for module in (pydantic_ai, openai_agents):
        for given in ("evan", sync_memory.agent(agent_id)):
            with pytest.raises(InvalidInput, match="is not an AsyncAgent") as refused:
                module.memory_tools(given)  # pyright: ignore[reportArgumentType]
            assert refused.value.remedy == 'give memory.agent("…") of an AsyncMemory'


def test_a_retriever_synchronously(sync_memory: Memory, agent_id: str) -> None:
    agent = sync_memory.agent(agent_id)
    agent.observe(FACT, importance=6)
    assert [document.page_content for document in GraphmemRetriever(agent=agent).invoke("Ana's dog")] == [FACT]
