"""Two agents meet in a simulation: they talk, and each may plan the rest of its day anew for what it heard."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from graphmem.cognition.converse import converse
from graphmem.cognition.engine import Engine
from graphmem.cognition.places import whereabouts
from graphmem.cognition.react import react
from graphmem.language import scenes, whens
from graphmem.language.text import shorten
from graphmem.models.places import Whereabouts

TURNS = 6
"""Most utterances of a conversation."""
NEWS = 6
"""From this importance on, something is news."""
_LATELY = timedelta(hours=36)
_LONGEST = 500
"""Characters of what a conversation is about."""


@dataclass(frozen=True)
class Met:
    """A conversation between two."""

    conversation: str
    names: dict[str, str]
    """By agent id."""

    def other(self, agent_id: str) -> str:
        """With whom an agent talked."""
        return next(id_ for id_ in self.names if id_ != agent_id)


async def reacted(engine: Engine, agent_id: str, observation: str) -> bool:
    """Whether an agent planned something because of an observation already."""
    rows = await engine.store.query("society/reacted", agentId=agent_id, id=observation)
    return bool(rows) and rows[0]["reacted"]


async def _news(engine: Engine, a: Whereabouts, b: Whereabouts, conversation: str, now: datetime) -> str | None:
    """What they talk about: what one of them has learned lately and the other does not know.

    An invitation to what is still to be before the weightiest else; neither what is over, nor what somebody was seen
    doing. None where there is no news: then they talk of whatever matters to each other.
    """
    found: list[tuple[bool, int, datetime, str, str]] = []
    for me, you in ((a, b), (b, a)):
        speaker, other, zone = me.agent_id, you.agent_id, ZoneInfo(me.time_zone)
        rows = await engine.store.query(
            "society/news", agentId=speaker, other=other, session=conversation, least=NEWS, since=now - _LATELY
        )
        for row in rows:
            text = row["text"]
            if row["known"] or scenes.is_scene(text) or whens.is_over(text, row["at"], now, zone):
                continue
            found.append((whens.invites(text), row["importance"], row["at"], row["id"], text))
    return shorten(max(found)[-1], _LONGEST) if found else None


async def meet(engine: Engine, a: str, b: str, *, conversation: str, place: str | None, now: datetime) -> Met:
    """Have two agents talk, ``a`` first; then each reacts to what it heard. The same again goes on where it was."""
    people = await whereabouts(engine, [a, b])
    about = await _news(engine, people[a], people[b], conversation, now)
    talk = await converse(engine, a, b, about=about, turns=TURNS, id=conversation, place=place, now=now)
    for said in talk.utterances:
        # What is only a greeting tells nothing to react to.
        if said.citations and not await reacted(engine, said.listener, said.id):
            await react(engine, said.listener, said.id, about=said.speaker, now=said.at)
    return Met(conversation, {id_: person.name for id_, person in people.items()})
