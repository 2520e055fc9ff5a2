"""A retriever for LangChain: memories as documents, whose metadata say where each comes from."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, field_validator

from graphmem import Agent, Profile
from graphmem.async_agent import AsyncAgent
from graphmem.interfaces.tools import checked_handle
from graphmem.models import RECALL, Hit, Hits


class GraphmemRetriever(BaseRetriever):
    """Retrieves an agent's memories: ``GraphmemRetriever(agent=memory.agent("evan")).invoke("…")``.

    With the handle of a ``Memory`` it is for ``invoke`` and works in ``ainvoke`` (in a thread); with that of an
    ``AsyncMemory`` it is for ``ainvoke``. Errors are graphmem's own: none looks like an empty memory.
    """

    agent: Any
    """An ``Agent`` or ``AsyncAgent``."""
    k: int = 10
    profile: Profile = RECALL
    options: dict[str, Any] = Field(default_factory=dict[str, Any])
    """What else ``retrieve`` takes: filters, ``as_of``, ``token_budget``, …"""

    @field_validator("agent")
    @classmethod
    def _handle(cls, value: object) -> object:
        checked_handle(value, Agent, AsyncAgent)
        return value

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        if not isinstance(self.agent, Agent):
            raise TypeError("an AsyncAgent is awaited: use ainvoke, or the agent of a synchronous Memory")
        return _documents(self.agent.retrieve(query, k=self.k, profile=self.profile, **self.options))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        if isinstance(self.agent, AsyncAgent):
            return _documents(await self.agent.retrieve(query, k=self.k, profile=self.profile, **self.options))
        return await super()._aget_relevant_documents(query, run_manager=run_manager)


def _documents(hits: Hits) -> list[Document]:
    return [_document(hit) for hit in hits]


def _document(hit: Hit) -> Document:
    memory = hit.memory
    told = memory.model_dump(mode="json", exclude={"text"}, exclude_none=True)
    return Document(page_content=memory.text, id=memory.id, metadata={**told, "score": hit.score})
