"""One task, one good answer, and the adapter set to a scripted server: what the tests of the adapter share."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from openai_server import Server
from pydantic import SecretStr

from graphmem.language.base import Statement
from graphmem.language.litellm_model import LiteLLM
from graphmem.language.prompts import InferInsights, Insights

KEY = "sk-testing-0123456789abcdef"
INSIGHTS = Insights.model_validate({"insights": [{"text": "Orla prefers the early shift", "evidence": [1, 2]}]})
SAID = json.dumps(INSIGHTS.model_dump())
TASK = InferInsights(
    question="What does Orla like?",
    statements=tuple(
        Statement(number=n, text=text, kind="event", type="observation", occurred_at=datetime(2026, 5, n, tzinfo=UTC))
        for n, text in enumerate(["Orla took the early shift", "Orla swapped into the early shift"], start=1)
    ),
)
PROMPT = [message.model_dump() for message in TASK.messages()]


def model(server: Server | str, name: str = "openai/scripted", **options: Any) -> LiteLLM:
    url = server if isinstance(server, str) else server.url
    return LiteLLM(name, **{"api_base": url, "api_key": SecretStr(KEY), "timeout": 20, "max_wait": 5} | options)
