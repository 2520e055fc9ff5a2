"""What is stored beside a memory's text so that it can be found: the same for all kinds of memories."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from graphmem.cognition.engine import Engine
from graphmem.graph.records import digest, scope_token
from graphmem.language.gates import normalise_text


def spoken(text: str, source: str | None) -> str:
    """What is embedded: "source: text", since questions name speakers (recall 0.44 to 0.55 on real conversations)."""
    return f"{source}: {text}" if source else text


def date_text(time: datetime) -> str:
    """A date as people write it, for the full-text index: ``Thursday 18 May 2023``."""
    return f"{time:%A} {time.day} {time:%B %Y}"


def derived(
    engine: Engine, agent_id: str, text: str, source: str | None, occurred_at: datetime, *, embedded: bool
) -> dict[str, Any]:
    """Properties that follow from the text, the speaker, the date and the agent."""
    return {
        "textHash": digest(normalise_text(text)),
        "dateText": date_text(occurred_at),
        "scopeToken": scope_token(agent_id),
        "embeddingModel": engine.embedder.name if embedded else None,
        "notEmbedded": None if embedded else True,
        "embeddingTruncated": embedded and engine.embedder.truncates(spoken(text, source)),
    }
