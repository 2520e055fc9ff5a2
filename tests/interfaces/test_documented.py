"""The examples of docs/adapters.md and docs/mcp.md run as they stand, and print what they say they print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from openai_server import says, serve

from graphmem import Memory
from graphmem.settings import Settings
from tests.interfaces.conftest import environment
from tests.interfaces.test_adapters import FACT, calls, results

DOCS = Path(__file__).resolve().parents[2] / "docs"


def examples(document: str) -> list[str]:
    """The blocks of Python of a document."""
    return re.findall(r"^```python\n(.*?)^```$", (DOCS / document).read_text("utf-8"), re.MULTILINE | re.DOTALL)


def promised(example: str) -> list[str]:
    """What an example says that it prints."""
    return re.findall(r"^ *print\(.*\)  # (.*)$", example, re.MULTILINE)


@pytest.fixture
def env(settings: Settings) -> Mapping[str, str]:
    """As for a person whose settings lead to the run's Neo4j."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GRAPHMEM_", "OPENAI_"))}
    bin_dir = str(Path(sys.executable).parent)
    return {**kept, **environment(settings), "PATH": f"{bin_dir}:{os.environ['PATH']}"}


def ran(example: str, agent_id: str, env: Mapping[str, str], *, before: str = "", **more: str) -> list[str]:
    """The lines that an example prints, run by itself; the agent is this test's own."""
    code = before + example.replace('"evan"', repr(agent_id))
    done = subprocess.run(
        [sys.executable, "-c", code], env={**env, **more}, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


ADAPTERS = examples("adapters.md")
OPENAI = [example for example in ADAPTERS if "gpt-4o" in example]


def test_every_example_is_run() -> None:
    assert (len(ADAPTERS), len(OPENAI), len(examples("mcp.md"))) == (5, 2, 1)
    assert all(promised(example) for example in ADAPTERS + examples("mcp.md"))


def test_langgraph_and_langchain(agent_id: str, env: Mapping[str, str]) -> None:
    for example in ADAPTERS[:3]:
        assert ran(example, agent_id, env) == promised(example)


@pytest.mark.parametrize("example", OPENAI, ids=["pydantic-ai", "openai-agents"])
def test_tools(example: str, agent_id: str, env: Mapping[str, str], sync_memory: Memory) -> None:
    """With a model that answers over HTTP in the place of OpenAI's: it uses the tools, which reach this memory."""
    (said,) = promised(example)
    asked = "Remember" in example
    if asked:
        script = [calls("remember", text=FACT, kind="fact", importance=6), says(said)]
    else:
        sync_memory.agent(agent_id).observe(FACT, importance=6)
        script = [calls("recall", query="What is Ana's dog called?", k=1), says(said)]
    # The SDK's own switch: the scripted server speaks the older of OpenAI's two interfaces.
    before = "" if asked else "import agents; agents.set_default_openai_api('chat_completions')\n"
    with serve(*script) as server:
        account = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.url, "OPENAI_AGENTS_DISABLE_TRACING": "1"}
        assert ran(example, agent_id, env, before=before, **account) == [said]
        requests: list[Any] = list(server.requests)
    assert FACT in results(requests[-1])
    assert [memory.text for memory in sync_memory.agent(agent_id).memories()] == [FACT]


def test_a_client_of_mcp(agent_id: str, env: Mapping[str, str]) -> None:
    (example,) = examples("mcp.md")
    # The server is started by the SDK, which hands these on only where it is told to; see the document.
    told = example.replace('"evan"])', '"evan"], env=dict(__import__("os").environ))')
    assert told != example
    assert ran(told, agent_id, env) == promised(example)
