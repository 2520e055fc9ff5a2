"""Spans: of verbs, statements and model calls, nested, without texts unless asked; and nothing where nobody looks."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from scripted import Scripted

from graphmem import AsyncMemory, Memory
from graphmem.embedding.base import Embedder
from graphmem.errors import InvalidText, LanguageModelError
from graphmem.settings import Settings

SECRET = "the word is quokka-17"


@pytest.fixture(scope="session")
def exporter() -> InMemorySpanExporter:
    """The spans of this process: it has one provider for good."""
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)
    return kept


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[InMemorySpanExporter]:
    exporter.clear()
    yield exporter
    exporter.clear()


def named(spans: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in spans.get_finished_spans() if span.name == name]


def told(spans: InMemorySpanExporter) -> str:
    return "\n".join(span.to_json() for span in spans.get_finished_spans())


async def test_a_verb_its_statements_and_its_embedding(
    memory: AsyncMemory, agent_id: str, spans: InMemorySpanExporter
) -> None:
    agent = memory.agent(agent_id)
    await agent.observe(SECRET, id="one")
    await agent.retrieve(SECRET)
    (observed,), (retrieved,) = named(spans, "graphmem.observe"), named(spans, "graphmem.retrieve")
    assert observed.attributes is not None
    assert dict(observed.attributes) == {"graphmem.agent": agent_id}
    assert retrieved.context is not None
    inside = [
        span
        for span in spans.get_finished_spans()
        if span.parent is not None and span.parent.span_id == retrieved.context.span_id
    ]
    names = [span.name for span in inside]
    assert {"embeddings", "neo4j retrieve/score", "neo4j retrieve/touch"} <= set(names)
    score = next(span for span in inside if span.name == "neo4j retrieve/score")
    assert score.attributes is not None
    assert dict(score.attributes) == {
        "db.system.name": "neo4j", "db.operation.name": "retrieve/score", "db.response.returned_rows": 1
    }  # fmt: skip
    embedded = next(span for span in inside if span.name == "embeddings")
    assert embedded.attributes is not None
    assert embedded.attributes["gen_ai.request.model"] == "bge-small-en-v1.5"
    assert "quokka" not in told(spans)


async def test_model_calls_tell_tokens_and_texts_only_when_asked(
    settings: Settings, embedder: Embedder, agent_id: str, spans: InMemorySpanExporter
) -> None:
    for texts in (False, True):
        open_to = settings.model_copy(update={"trace_texts": texts})
        async with await AsyncMemory.open(settings=open_to, embedder=embedder, language_model=Scripted()) as memory:
            agent = memory.agent(agent_id)
            await agent.observe_many([SECRET, "the lamp is lit", "the door is shut"])
            await agent.reflect(force=True)
        chats = named(spans, "chat")
        assert chats
        attributes = [dict(span.attributes or {}) for span in chats]
        assert {attribute["gen_ai.request.model"] for attribute in attributes} == {"scripted"}
        assert attributes[0]["gen_ai.usage.input_tokens"] == 10
        assert ("quokka" in told(spans)) == texts
        assert all(("graphmem.prompt" in attribute) == texts for attribute in attributes)
        spans.clear()


async def test_failures_are_told_by_their_type_alone(
    settings: Settings, embedder: Embedder, memory: AsyncMemory, agent_id: str, spans: InMemorySpanExporter
) -> None:
    agent = memory.agent(agent_id)
    with pytest.raises(InvalidText):
        await agent.observe("quokka-17" * 20_000)

    def fail(task: object) -> object:
        raise RuntimeError("quokka-17")

    async with await AsyncMemory.open(settings=settings, embedder=embedder, language_model=Scripted(ask=fail)) as other:
        await other.agent(agent_id).observe_many(["something", "something else"])
        with pytest.raises(LanguageModelError):
            await other.agent(agent_id).reflect(force=True)
    failed = {
        span.name: span for span in spans.get_finished_spans() if not span.status.is_ok and span.status.description
    }
    assert failed["graphmem.observe"].status.description == "InvalidText"
    assert failed["chat"].status.description == "RuntimeError"
    assert "quokka" not in told(spans)


def test_spans_of_the_synchronous_memory_belong_to_the_callers(
    sync_memory: Memory, agent_id: str, spans: InMemorySpanExporter
) -> None:
    with trace.get_tracer("program").start_as_current_span("request"):
        sync_memory.agent(agent_id).observe("something")
    (request,), (observed,) = named(spans, "request"), named(spans, "graphmem.observe")
    assert observed.parent is not None
    assert request.context is not None
    assert observed.parent.span_id == request.context.span_id


async def test_calls_are_log_lines_as_well(
    memory: AsyncMemory, agent_id: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "graphmem.calls"):
        await memory.agent(agent_id).observe(SECRET)
    lines = [record.getMessage() for record in caplog.records]
    assert any(line.startswith("graphmem.observe: 0.") or line.startswith("graphmem.observe: ") for line in lines)
    assert "quokka" not in "\n".join(lines)


def test_without_opentelemetry_nothing_is_imported() -> None:
    code = (
        "import sys\n"
        "from graphmem import tracing, async_agent, memory\n"
        "with tracing.span('x') as recorder:\n"
        "    recorder.note({'a': 1})\n"
        "assert tracing.span('x') is tracing.span('y')\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
