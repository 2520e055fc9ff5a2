"""Who knows what, and from whom: a fact followed from utterance to utterance, and how far each agent came with it.

Nothing here asks a model: what was heard is read off HEARD_FROM and TELLS; whether a text speaks of the fact is decided
by words, by one rule.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations

from graphmem.cognition.engine import Engine, checked_id, fetch
from graphmem.cognition.look_up import must_exist
from graphmem.cognition.question import search
from graphmem.cognition.retrieve import checked_query
from graphmem.errors import InvalidInput, UnknownMemory
from graphmem.graph.records import scope_token, to_memory
from graphmem.graph.store import Row
from graphmem.language import words
from graphmem.language.support import INTENTION
from graphmem.models import AnyMemory, Observation, Plan
from graphmem.models.diffusion import Claim, Density, Diffusion, Knowing, Stage, Step

_MOST = 1_000
"""Memories of an agent that are looked at, and ways that a fact is followed."""
_SHARED = 2
"""Words that carry meaning which a text and a fact must share, where the fact has so many."""
_DECLINES = re.compile(
    r"\b(?:can(?:no|['’])t|won['’]t|will not|not able|no time|don['’]t want|rather not)\b", re.IGNORECASE
)
_WISHES = re.compile(
    r"\b(?:love to|glad to|happy to|like to come|count me in|i(?:['’]ll| will) (?:be there|come|join|bring|help)|"
    r"looking forward|can['’]?t wait)\b",
    re.IGNORECASE,
)


_WHEN_AND_WHOM = words.vocabulary(
    """
    today tonight tomorrow morning noon afternoon evening night week monday tuesday wednesday thursday friday saturday
    sunday everyone everybody all invite invited invitation welcome come join hour
    """
)


@dataclass
class _Mentions:
    """What one agent holds that speaks of the fact."""

    id: str
    name: str
    memories: list[AnyMemory] = field(default_factory=list[AnyMemory])
    heard: set[str] = field(default_factory=set[str])
    """Ids of those that it heard from another agent."""
    tells: set[str] = field(default_factory=set[str])
    """Ids of utterances that tell another memory."""

    def own(self, memory: AnyMemory) -> bool:
        """Whether nobody told it: it was perceived, or is what the agent itself said or knew."""
        if not isinstance(memory, Observation) or memory.id in self.heard or memory.id in self.tells:
            return False
        return memory.source is None or memory.source in (self.id, self.name)

    def untold(self, memory: AnyMemory) -> bool:
        """Whether nobody had told the agent by then: what it sees of it afterwards is no beginning."""
        told = [one.occurred_at for one in self.memories if one.id in self.heard]
        return not told or memory.occurred_at < min(told)

    def said(self) -> list[Observation]:
        """Its own utterances among them."""
        return [
            memory
            for memory in self.memories
            if isinstance(memory, Observation)
            and memory.kind == "utterance"
            and memory.id not in self.heard
            and memory.source in (self.id, self.name)
        ]


async def diffusion(
    engine: Engine, fact: str, *, from_: str | None = None, agents: Iterable[str] | None = None
) -> Diffusion:
    """Follow a fact from where it began to everybody who was told of it.

    Args:
        engine: The open store with its models.
        fact: The id of a memory of ``from_``, or a text: then it began with the memories that hold all of its words
            that carry meaning and that nobody told.
        from_: The agent with whom it began; None: anybody.
        agents: Which agents are looked at; None: those of the simulations in which ``from_`` lived, or all.

    Raises:
        InvalidInput: When a value is refused, or no word of the text carries meaning.
        UnknownAgent: When there is no such agent.
        UnknownMemory: When it began nowhere: no memory of that id, or none that holds the words.
    """
    checked_query(fact)
    names = {row["agent"]["id"]: row["agent"]["name"] for row in await engine.store.query("agent/info", agentId=None)}
    chosen = await _chosen(engine, names, agents, from_)
    text, origins = await _by_id(engine, fact, from_)
    keys = keys_of(text)
    if not keys:
        raise InvalidInput(
            f"fact: no word of {fact!r} carries meaning", remedy="name the fact by what is special about it"
        )
    mentions = {who: await _mentions(engine, who, names[who], keys) for who in chosen}
    if not origins:
        begun = [from_] if from_ is not None else chosen
        origins = [
            (who, memory)
            for who in begun
            for memory in mentions[who].memories
            if mentions[who].own(memory) and mentions[who].untold(memory) and keys <= keys_of(_text(memory))
        ]
    if not origins:
        raise UnknownMemory(
            f"no memory that nobody told holds {', '.join(sorted(keys))}",
            remedy="give the id of the memory that it began with, and its agent with from_",
        )
    ways = [way for who, memory in origins for way in await _ways(engine, who, memory.id)]
    first = min(memory.recorded_at for _, memory in origins)
    hosts = {who for who, _ in origins}
    told = dict(reversed(origins))
    times = [
        plan for who in chosen if who in hosts for plan in await _plans(engine, who) if _speaks(plan, _matter(keys))
    ]
    known = [await _knowing(engine, mentions[who], told.get(who), ways, keys, times) for who in chosen]
    order = {who: position for position, who in enumerate(chosen)}
    return Diffusion(
        fact=fact,
        origins=tuple(_step(who, memory) for who, memory in origins),
        agents=tuple(
            sorted(
                known,
                key=lambda one: (
                    not one.origin,
                    one.stage == "unaware",
                    one.heard_at.timestamp() if one.heard_at else 0.0,
                    order[one.agent_id],
                ),
            )
        ),
        claims=tuple(_claims(mentions.values(), origins, ways)),
        before=await _density(engine, chosen, names, until=first),
        after=await _density(engine, chosen, names, until=None),
    )


def keys_of(text: str) -> frozenset[str]:
    """The folded words of a text that carry meaning: what is common in any text is left out."""
    found = (word.fold for sentence in words.sentences(text) for word in words.words(sentence))
    return frozenset(key for key in found if not words.is_stop(key))


def _speaks(memory: AnyMemory, keys: Collection[str]) -> bool:
    """Whether a memory speaks of the fact: it shares two of its words, or its only one."""
    return len(keys_of(_text(memory)) & set(keys)) >= min(_SHARED, len(keys))


def _matter(keys: frozenset[str]) -> frozenset[str]:
    """Of the words of a fact those that a plan for it may repeat: neither its time nor whom it invites."""
    return frozenset(key for key in keys if not key[0].isdigit() and key not in _WHEN_AND_WHOM) or keys


def _text(memory: AnyMemory) -> str:
    return " . ".join([memory.text, *memory.keywords])


def _step(agent_id: str, memory: AnyMemory) -> Step:
    return Step(agent_id=agent_id, id=memory.id, text=memory.text, at=memory.occurred_at)


async def _chosen(engine: Engine, names: dict[str, str], agents: Iterable[str] | None, from_: str | None) -> list[str]:
    if isinstance(agents, str):
        raise InvalidInput("agents: a list of ids is needed, not one string")
    given = [checked_id(who, "agents") for who in agents] if agents is not None else []
    if from_ is not None:
        given = [checked_id(from_, "from_"), *given]
    await must_exist(engine.store, *(who for who in given if who not in names))
    if agents is None:
        rows = await engine.store.query("society/list")
        lived = [row["simulation"]["agents"] for row in rows if from_ in row["simulation"]["agents"]]
        given += [who for together in lived for who in together if who in names] or sorted(names)
    return list(dict.fromkeys(given))


async def _by_id(engine: Engine, fact: str, from_: str | None) -> tuple[str, list[tuple[str, AnyMemory]]]:
    """The memory of that id where there is one, and the text that the fact is known by."""
    if from_ is not None:
        found = await engine.store.read(lambda tx: fetch(tx, from_, [fact]))
        if fact in found:
            return found[fact].text, [(from_, found[fact])]
    return fact, []


async def _mentions(engine: Engine, agent_id: str, name: str, keys: Collection[str]) -> _Mentions:
    found = _Mentions(agent_id, name)
    rows = await engine.store.query(
        "diffusion/mentions", agentId=agent_id, search=search(agent_id, "text", sorted(keys)), limit=_MOST
    )
    for row in rows:
        memory = to_memory(row)
        if _speaks(memory, keys):
            found.memories.append(memory)
            found.heard |= {memory.id} if row["heard"] else set()
            found.tells |= {memory.id} if row["tells"] else set()
    found.memories.sort(key=lambda memory: (memory.occurred_at, memory.id))
    return found


async def _ways(engine: Engine, agent_id: str, memory_id: str) -> list[list[Row]]:
    rows = await engine.store.query("diffusion/told", agentId=agent_id, id=memory_id, limit=_MOST)
    return [row["way"] for row in rows if row["way"][0]["status"] != "forgotten"]


async def _plans(engine: Engine, agent_id: str) -> list[Plan]:
    rows = await engine.store.query("diffusion/plans", agentId=agent_id)
    plans = [memory for row in rows if isinstance(memory := to_memory(row), Plan)]
    # The finest first: a step says more of when than the block around it.
    return sorted(plans, key=lambda plan: (plan.end - plan.start, plan.start, plan.id))


async def _knowing(
    engine: Engine,
    mentions: _Mentions,
    origin: AnyMemory | None,
    ways: Sequence[Sequence[Row]],
    keys: frozenset[str],
    times: Sequence[Plan],
) -> Knowing:
    """How far one agent came."""
    mine = sorted(
        (way for way in ways if way[0]["agentId"] == mentions.id and way[0]["heard"]),
        key=lambda way: (way[0]["at"], len(way), way[0]["id"]),
    )
    way = tuple(
        Step(agent_id=row["agentId"], id=row["id"], text=row["text"], at=row["at"]) for row in (mine[0] if mine else ())
    )
    base = Knowing(agent_id=mentions.id, name=mentions.name, stage="unaware", origin=origin is not None)
    if origin is None and not way:
        return base.model_copy(update={"reason": "nobody told it"})
    since = origin.occurred_at if origin is not None else way[0].at
    heard = {"way": () if origin is not None else way}
    if origin is None:
        heard |= {"heard_from": way[1].agent_id, "heard_at": way[0].at}
    plans = await _plans(engine, mentions.id)
    about = [plan for plan in plans if _speaks(plan, _matter(keys)) and plan.end >= since]
    wish = _wish(mentions, since)
    base = base.model_copy(update=heard)
    if about:
        return await _planned(engine, base, about, wish)
    if wish is not None:
        step, wants = wish
        if wants:
            reason = _conflict(plans, times) or "it is in no plan"
            return _at(base, "willing", reason, willing=step)
        return _at(base, "heard", f"does not want to: {step.text}", willing=step)
    if origin is not None:
        return _at(base, "heard", "it began here, and is in no plan")
    return _at(base, "heard", _conflict(plans, times) or "nothing that it said or planned shows that it wants to")


def _at(base: Knowing, stage: Stage, reason: str, **more: object) -> Knowing:
    return base.model_copy(update={"stage": stage, "reason": reason, **more})


async def _planned(engine: Engine, base: Knowing, about: Sequence[Plan], wish: tuple[Step, bool] | None) -> Knowing:
    order = {"done": 0, "active": 1, "planned": 2, "missed": 3, "dropped": 4}
    plan = min(about, key=lambda one: order[one.state])
    willing = wish[0] if wish is not None else None
    if plan.state == "done":
        return _at(base, "attended", "", plan=plan, willing=willing)
    if plan.place is not None:
        rows = await engine.store.query(
            "diffusion/present", agentId=base.agent_id, place=plan.place, since=plan.start, until=plan.end
        )
        if rows:
            return _at(
                base, "attended", "", plan=plan, willing=willing, attended=_step(base.agent_id, to_memory(rows[0]))
            )
    reason = f"{plan.state}: {plan.reason}" if plan.reason else plan.state
    if not plan.finished:
        reason = f"planned for {plan.start:%Y-%m-%d %H:%M %Z}, and not known to be done"
    return _at(base, "planned", reason, plan=plan, willing=willing)


def _wish(mentions: _Mentions, since: datetime) -> tuple[Step, bool] | None:
    """The last thing that the agent said or concluded of it that shows whether it wants to."""
    own = [memory for memory in mentions.memories if memory.type == "reflection"] + list(mentions.said())
    own = sorted((memory for memory in own if memory.occurred_at >= since), key=lambda memory: memory.occurred_at)
    for memory in reversed(own):
        text = re.sub("“[^“”]*”", " ", memory.text)  # What others said is not what it wants.
        if _DECLINES.search(text) and not _WISHES.search(text):
            return _step(mentions.id, memory), False
        if memory.id not in mentions.tells and (_WISHES.search(text) or INTENTION.search(text)):
            return _step(mentions.id, memory), True
    return None


def _conflict(plans: Sequence[Plan], times: Sequence[Plan]) -> str:
    """What else is planned while it takes place, as far as who gives it has planned it."""
    if not times:
        return ""
    # The longest is the thing itself: its parts are shorter, and so is what gets ready for it.
    event = max(times, key=lambda plan: (plan.end - plan.start, plan.start))
    meanwhile = {
        plan.text: min(plan.end, event.end) - max(plan.start, event.start)
        for plan in plans
        if plan.state != "dropped" and min(plan.end, event.end) > max(plan.start, event.start)
    }
    return f"has another plan then: {max(meanwhile, key=lambda text: meanwhile[text])}" if meanwhile else ""


def _claims(
    mentions: Iterable[_Mentions], origins: Sequence[tuple[str, AnyMemory]], ways: Sequence[Sequence[Row]]
) -> Iterable[Claim]:
    """Every utterance about the fact, with whether a way leads from it to an origin."""
    traced = {(one["agentId"], one["id"]) for way in ways for one in way}
    traced |= {(who, memory.id) for who, memory in origins}
    for one in mentions:
        for memory in one.said():
            yield Claim(agent_id=one.id, id=memory.id, text=memory.text, sourced=(one.id, memory.id) in traced)


async def _density(engine: Engine, chosen: Sequence[str], names: dict[str, str], *, until: datetime | None) -> Density:
    """Pairs of agents that know of each other by then: each holds a memory that names the other."""
    knows: set[tuple[str, str]] = set()
    for who in chosen:
        others = [{"id": other, "search": _naming(who, names[other], other)} for other in chosen if other != who]
        for row in await engine.store.query("diffusion/acquainted", agentId=who, others=others):
            if until is None or row["since"] <= until:
                knows.add((who, row["id"]))
    pairs = sum((a, b) in knows and (b, a) in knows for a, b in combinations(chosen, 2))
    return Density(agents=len(chosen), pairs=pairs)


def _naming(agent_id: str, *names: str) -> str:
    """A search for memories that name somebody, in their text or as who said them.

    Phrases are of letters and digits alone, so that nothing in a name is syntax.
    """
    phrases = {" ".join(re.findall(r"[^\W_]+", name.casefold())) for name in names}
    parts = [f'{where}:"{phrase}"' for phrase in sorted(phrases) if phrase for where in ("text", "source")]
    return f"+scopeToken:{scope_token(agent_id)}^0 +({' '.join(parts)})"
