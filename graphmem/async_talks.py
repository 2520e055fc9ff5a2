"""What a store's handle does with several agents that talk: conversations, and who knows what. One line a verb."""

from __future__ import annotations

from graphmem.cognition import converse
from graphmem.cognition.engine import Engine
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
            LanguageModelError, EmbeddingError: When a model failed; what was said before stays.
        """
        return await converse.converse(self._engine, a, b, about=about, turns=turns, id=id, place=place, now=now)
