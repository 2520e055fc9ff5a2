"""What a store's handle does with several agents that talk: conversations, and who knows what. One line a verb."""

from __future__ import annotations

from collections.abc import Iterable

from graphmem.cognition import converse, diffusion
from graphmem.cognition.engine import Engine
from graphmem.models.diffusion import Diffusion
from graphmem.models.talks import Conversation
from graphmem.tracing import traced


@traced
class AsyncTalks:
    """Conversations and what spreads by them: see :class:`graphmem.memory.AsyncMemory`."""

    _engine: Engine

    async def converse(
        self,
        a: str,
        b: str,
        *,
        about: str | None = None,
        turns: int = 8,
        id: str | None = None,
        place: str | None = None,
        now: object = None,
    ) -> Conversation:
        """Let two agents talk, ``a`` first: each from its memories of the other, of the matter and of what was said.

        Each hears what the other says (HEARD_FROM) and keeps a summary, a reflection that cites the utterances. It ends
        when neither has anything more to say, or after so many ``turns``. Each utterance is one transaction under an id
        made of ``id``: the same call again goes on where it was stopped, or gives the conversation as it was.

        Raises:
            InvalidInput: When a value is refused.
            UnknownAgent: When one of them is not there.
            LanguageModelError, EmbeddingError: When a model failed; what was said before stays.
        """
        return await converse.converse(self._engine, a, b, about=about, turns=turns, id=id, place=place, now=now)

    async def diffusion(self, fact: str, *, from_: str | None = None, agents: Iterable[str] | None = None) -> Diffusion:
        """Who knows a fact, and from whom: how far each agent came (heard, willing, planned, attended), and why.

        ``fact`` is the id of a memory of the agent ``from_``, or a text, such as "the lantern feast": then it began
        with the memories that hold all of its words that carry meaning and that nobody told. A memory speaks of it that
        shares two of these words, or the only one.

        Raises:
            InvalidInput: When a value is refused.
            UnknownAgent, UnknownMemory: When there is no such agent, or it began nowhere.
        """
        return await diffusion.diffusion(self._engine, fact, from_=from_, agents=agents)
