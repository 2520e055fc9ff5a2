"""What a query asks of the full-text index: its words, each as a search within one agent's memories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graphmem.cognition.engine import Engine
from graphmem.graph.records import scope_token
from graphmem.models import Blend

MOST_WORDS = 24
"""Different words of a query that are searched for; a longer query is looked for by its first ones and its vector."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ASKING = frozenset(
    {
        *("what", "when", "where", "who", "whom", "whose", "which", "how", "why"),
        *("did", "does", "do", "done", "has", "have", "had", "would", "could", "should", "can", "might"),
        *("i", "you", "he", "she", "we", "me", "my", "your", "his", "her", "our"),
        *("am", "been", "being", "were", "from", "about", "any", "some", "so", "than", "too", "very", "just", "also"),
    }
)
"""English words that ask and say nothing of what is asked for, beyond those that the analyzer leaves out."""


@dataclass(frozen=True)
class Searches:
    """Searches of the index ``memoryText``, with the weight of each."""

    searches: tuple[str, ...]
    weights: tuple[float, ...]
    speakers: tuple[str, ...]
    """Words of the query that name somebody who speaks, in lower case."""


def words_of(query: str, analyzer: str) -> tuple[str, ...]:
    """The different words of a query in lower case, at most 24; letters and digits only, so that none is syntax."""
    found = dict.fromkeys(match[0].lower().replace("’", "'") for match in _WORD.finditer(query))
    if analyzer == "english" and (telling := [word for word in found if word not in _ASKING]):
        found = dict.fromkeys(telling)
    return tuple(found)[:MOST_WORDS]


def search(agent_id: str, field: str, words: Sequence[str]) -> str:
    """A search for any of these words in one field, among what the agent holds.

    The agent's token is required and counts nothing. Words are of letters, digits and apostrophes, in lower case:
    Lucene's syntax has none of these.
    """
    return f"+scopeToken:{scope_token(agent_id)}^0 +{field}:({' '.join(words)})"


async def searches_for(engine: Engine, agent_id: str, query: str, blend: Blend) -> Searches:
    """One search a word of the query, so that a word counts once where several neighbouring turns have it.

    A word that names a speaker counts for who spoke and not for texts that mention them, unless there are no others.
    """
    words = words_of(query, engine.settings.analyzer)
    if not words:
        return Searches((), (), ())
    asked = [{"word": word, "search": search(agent_id, "source", [word])} for word in words]
    rows = await engine.store.query("retrieve/speakers", agentId=agent_id, words=asked)
    named = {row["word"] for row in rows}
    texts = [word for word in words if word not in named] or list(words)
    searches = [search(agent_id, "text", [word]) for word in texts]
    return Searches(
        searches=(*searches, search(agent_id, "dateText", words)),
        weights=(*(1.0 for _ in searches), blend.date),
        speakers=tuple(sorted({form for word in named for form in (word, re.sub(r"'s?$", "", word))})),
    )
