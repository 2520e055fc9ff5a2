"""The graph as objects to walk: neomodel classes for its nodes and relationships.

    with ogm.connect():
        insight = ogm.Reflection.nodes.filter(agentId="ines").order_by("-occurredAt").first()
        for ground in insight.grounds:
            print(ground.text)

For reading: what changes a belief must take its dependents with it, which the verbs of ``Agent`` do. Every write of
neomodel's is refused, here or by the server. Properties have the names that they have in the graph and in Neo4j
Browser (docs/graph-model.md), but for ``id``, which neomodel keeps to itself: it is ``uid`` here.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Literal, NoReturn, Self, cast

from neomodel import (
    ArrayProperty,
    BooleanProperty,
    DateTimeNeo4jFormatProperty,
    FloatProperty,
    IntegerProperty,
    NodeSet,
    RelationshipFrom,
    RelationshipTo,
    StringProperty,
    StructuredNode,
    StructuredRel,
    ZeroOrMore,
    db,
)

from graphmem.errors import InvalidInput
from graphmem.graph.queries import queries
from graphmem.graph.store import Reader
from graphmem.settings import Settings, load_settings


def connect(settings: Settings | None = None) -> Connection:
    """Let the classes of this module read a store; a Memory's own settings are ``memory.settings``.

    neomodel has one connection a process, so this is refused while there is one.

    Args:
        settings: Where the store is; by default what the environment and the settings file say. The embedded server
            is started when it does not run.

    Raises:
        InvalidInput: When neomodel is connected already.
        InvalidSettings: When a setting is refused.
        LocalServerError: When the embedded server cannot be fetched or started.
        StoreUnavailable, AuthenticationFailed: When the server cannot be reached, or refuses the account.
    """
    if db.driver is not None:
        raise InvalidInput(
            "neomodel is connected already, and has one connection a process",
            remedy="close that connection first: neomodel.db.close_connection()",
        )
    settings = settings or load_settings()
    if settings.uri is None:
        from graphmem.graph import embedded

        found = embedded.ensure_running(settings)
        address, account, secret = found.uri, found.user, found.password
    else:
        address, account, secret = settings.uri, settings.user, settings.password
    reader = Reader.connect(address, account, secret.get_secret_value() if secret else "", settings.database)
    # neomodel asks a driver for sessions and nothing else.
    db.set_connection(driver=cast("Any", reader))
    return Connection(reader)


class Connection:
    """neomodel's connection to a store; close it, or use it as a context."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def close(self) -> None:
        """Disconnect; calling it again does nothing."""
        if cast("object", db.driver) is self._reader:
            db.close_connection()
        self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _refuse(what: str) -> NoReturn:
    raise InvalidInput(
        f"{what} would write to the graph, which these classes only read",
        remedy="change beliefs with the verbs of an agent: observe, supersede, retract, restore, recompute",
    )


class _Related(ZeroOrMore):
    """The nodes at the other end of one type of relationship."""

    def connect(self, node: StructuredNode, properties: dict[str, Any] | None = None) -> NoReturn:
        _refuse("connect()")

    def reconnect(self, old_node: StructuredNode, new_node: StructuredNode) -> NoReturn:
        _refuse("reconnect()")

    def replace(self, node: StructuredNode, properties: dict[str, Any] | None = None) -> NoReturn:
        _refuse("replace()")

    def disconnect(self, node: StructuredNode) -> NoReturn:
        _refuse("disconnect()")

    def disconnect_all(self) -> NoReturn:
        _refuse("disconnect_all()")


class _Edge(StructuredRel):
    """A relationship; ``start_node()`` and ``end_node()`` are its ends."""

    def save(self) -> NoReturn:
        _refuse("save()")


class Cites(_Edge):
    """What a reflection rests on, or, with ``until``, once rested on."""

    rank = IntegerProperty()
    support = FloatProperty()
    since = DateTimeNeo4jFormatProperty()
    until = DateTimeNeo4jFormatProperty()
    past = BooleanProperty()
    movedTo = StringProperty()


class DerivedFrom(_Edge):
    """What a plan rests on: the plan that it is a part of (part), and the memories that are its reasons, in order."""

    part = BooleanProperty()
    rank = IntegerProperty()
    since = DateTimeNeo4jFormatProperty()
    until = DateTimeNeo4jFormatProperty()


class Supersedes(_Edge):
    """A newer memory took the place of an older one."""

    at = DateTimeNeo4jFormatProperty()
    mode = StringProperty()
    reason = StringProperty()
    by = StringProperty()
    made = BooleanProperty()
    revokedAt = DateTimeNeo4jFormatProperty()


class StaleBecause(_Edge):
    """A ground changed."""

    since = DateTimeNeo4jFormatProperty()
    until = DateTimeNeo4jFormatProperty()


class ProducedBy(_Edge):
    """A run wrote a memory."""


class Used(_Edge):
    """A run's prompt showed a memory."""

    rank = IntegerProperty()
    score = FloatProperty()


class About(_Edge):
    """A memory names something, in these roles: subject, object, source, keyword."""

    roles = ArrayProperty(StringProperty())


class In(_Edge):
    """A place is part of another."""


class Tells(_Edge):
    """An utterance tells a memory of its speaker."""

    rank = IntegerProperty()


class HeardFrom(_Edge):
    """An agent heard what another one said; the only relationship between agents."""


class Of(_Edge):
    """A change is about a memory."""


# In full: a bare name is first looked for among the globals of whoever imports this module.
_MEMORY, _REFLECTION, _PLAN, _PLACE, _ENTITY, _RUN, _CHANGE = (
    f"{__name__}.{label}" for label in ("Memory", "Reflection", "Plan", "Place", "Entity", "Run", "Change")
)


class _Node(StructuredNode):
    """A node of the graph."""

    __abstract_node__ = True

    def save(self) -> NoReturn:
        _refuse("save()")

    def delete(self) -> NoReturn:
        _refuse("delete()")

    def __str__(self) -> str:
        # neomodel's own shows every property, vectors included.
        return str(getattr(self, "uid", self.element_id))


class Agent(_Node):
    """Whose memory it is. Its memories have its id as their ``agentId``."""

    uid = StringProperty(db_property="id")
    name = StringProperty()
    traits = StringProperty()
    timeZone = StringProperty()
    clock = DateTimeNeo4jFormatProperty()
    revision = IntegerProperty()
    held = IntegerProperty()
    reflectionThreshold = IntegerProperty()
    reflectionEvery = IntegerProperty()
    importanceSinceReflection = IntegerProperty()
    observedSinceReflection = IntegerProperty()
    observed = IntegerProperty()
    importanceObserved = IntegerProperty()
    openReflection = StringProperty()
    reflectedUpTo = DateTimeNeo4jFormatProperty()
    learnedUpTo = DateTimeNeo4jFormatProperty()
    home = StringProperty()
    place = StringProperty()
    placeSince = DateTimeNeo4jFormatProperty()
    object = StringProperty()
    doing = StringProperty()
    doingSince = DateTimeNeo4jFormatProperty()
    actingOn = StringProperty()
    createdAt = DateTimeNeo4jFormatProperty()
    writtenAt = DateTimeNeo4jFormatProperty()
    commits = ArrayProperty(IntegerProperty())
    workToken = StringProperty()
    workUntil = DateTimeNeo4jFormatProperty()
    importedAt = DateTimeNeo4jFormatProperty()
    importedFrom = StringProperty()
    fileRest = StringProperty()
    loadedFrom = StringProperty()
    loadedAt = DateTimeNeo4jFormatProperty()
    loadingLine = IntegerProperty()

    @property
    def memories(self) -> NodeSet[Memory]:
        """All that it remembers, to be filtered and ordered."""
        return Memory.nodes.filter(agentId=self.uid)

    @property
    def reflections(self) -> NodeSet[Reflection]:
        """What it inferred, to be filtered and ordered."""
        return Reflection.nodes.filter(agentId=self.uid)


class Memory(_Node):
    """What observations, reflections and plans share."""

    __optional_labels__ = ("Stale", "Ended", "Archived")

    agentId = StringProperty()
    uid = StringProperty(db_property="id")
    text = StringProperty()
    kind = StringProperty()
    status = StringProperty()
    held = BooleanProperty()
    importance = IntegerProperty()
    importanceBy = StringProperty()
    ratingDue = BooleanProperty()
    reappraisedAt = DateTimeNeo4jFormatProperty()
    occurredAt = DateTimeNeo4jFormatProperty()
    recordedAt = DateTimeNeo4jFormatProperty()
    importedAt = DateTimeNeo4jFormatProperty()
    lastAccessedAt = DateTimeNeo4jFormatProperty()
    endedAt = DateTimeNeo4jFormatProperty()
    endedBy = StringProperty()
    forgottenAt = DateTimeNeo4jFormatProperty()
    depth = IntegerProperty()
    embedding = ArrayProperty(FloatProperty())
    embeddingModel = StringProperty()
    embeddingTruncated = BooleanProperty()
    embeddingNext = ArrayProperty(FloatProperty())
    embeddingNextModel = StringProperty()
    embeddingNextTruncated = BooleanProperty()
    notEmbedded = BooleanProperty()
    embeddingAttempts = IntegerProperty()
    nextEmbeddingAt = DateTimeNeo4jFormatProperty()
    textHash = StringProperty()
    dateText = StringProperty()
    scopeToken = StringProperty()
    subject = StringProperty()
    predicate = StringProperty()
    object = StringProperty()
    keywords = ArrayProperty(StringProperty())
    contentHash = StringProperty()
    fileRest = StringProperty()

    citedBy = RelationshipFrom(_REFLECTION, "CITES", cardinality=_Related, model=Cites)
    reasonFor = RelationshipFrom(_PLAN, "DERIVED_FROM", cardinality=_Related, model=DerivedFrom)
    about = RelationshipTo(_ENTITY, "ABOUT", cardinality=_Related, model=About)
    supersedes = RelationshipTo(_MEMORY, "SUPERSEDES", cardinality=_Related, model=Supersedes)
    supersededBy = RelationshipFrom(_MEMORY, "SUPERSEDES", cardinality=_Related, model=Supersedes)
    madeStale = RelationshipFrom(_MEMORY, "STALE_BECAUSE", cardinality=_Related, model=StaleBecause)
    producedBy = RelationshipTo(_RUN, "PRODUCED_BY", cardinality=_Related, model=ProducedBy)
    usedBy = RelationshipFrom(_RUN, "USED", cardinality=_Related, model=Used)
    changes = RelationshipFrom(_CHANGE, "OF", cardinality=_Related, model=Of)

    def __str__(self) -> str:
        return f"{self.uid} [{self.status}] {self.text}"

    @property
    def grounds(self) -> list[Memory]:
        """What it rests on now, in order."""
        return self._walk("ogm/grounds")

    @property
    def dependents(self) -> list[Memory]:
        """What rests on it now and is held, earliest first."""
        return self._walk("ogm/dependents")

    @property
    def history(self) -> list[Change]:
        """The changes of belief about it, in order."""
        return self._walk("ogm/history")

    def _walk(self, name: Literal["ogm/grounds", "ogm/dependents", "ogm/history"]) -> list[Any]:
        """The nodes that a statement returns for this memory."""
        given = {"agentId": self.agentId, "id": self.uid}
        rows = cast("Any", db).cypher_query(queries[name].text, given, resolve_objects=True)[0]
        return [row[0] for row in rows]


class Observation(Memory):
    """Perceived or heard."""

    source = StringProperty()
    session = StringProperty()
    place = StringProperty()
    key = StringProperty()
    keyRank = StringProperty()

    heardFrom = RelationshipTo(_MEMORY, "HEARD_FROM", cardinality=_Related, model=HeardFrom)
    tells = RelationshipTo(_MEMORY, "TELLS", cardinality=_Related, model=Tells)


class Reflection(Memory):
    """Inferred from other memories."""

    question = StringProperty()
    covers = StringProperty()
    traitsHash = StringProperty()
    writtenBy = StringProperty()
    fileDepth = IntegerProperty()
    missingGrounds = IntegerProperty()
    missingGroundIds = ArrayProperty(StringProperty())
    attempts = IntegerProperty()
    lastError = StringProperty()
    nextAttemptAt = DateTimeNeo4jFormatProperty()
    leaseToken = StringProperty()
    leaseUntil = DateTimeNeo4jFormatProperty()

    citations = RelationshipTo(_MEMORY, "CITES", cardinality=_Related, model=Cites)
    """All that it cites or cited; ``grounds`` are those that hold."""
    staleBecause = RelationshipTo(_MEMORY, "STALE_BECAUSE", cardinality=_Related, model=StaleBecause)


class Plan(Memory):
    """Intended; what became of it its state says."""

    start = DateTimeNeo4jFormatProperty()
    end = DateTimeNeo4jFormatProperty()
    place = StringProperty()
    state = StringProperty()
    reason = StringProperty()
    finishedAt = DateTimeNeo4jFormatProperty()
    day = StringProperty()
    timeZone = StringProperty()
    undivided = BooleanProperty()

    parents = RelationshipTo(_MEMORY, "DERIVED_FROM", cardinality=_Related, model=DerivedFrom)
    """All that it comes from, or came from before it was over: the plan that it is part of, and reasons."""


class Place(_Node):
    """A place of the world (its ``scope`` is empty), or one that an agent knows (its ``scope`` is the agent's id)."""

    scope = StringProperty()
    path = StringProperty()
    name = StringProperty()
    kind = StringProperty()
    capacity = IntegerProperty()
    hours = ArrayProperty(StringProperty())
    staff = ArrayProperty(StringProperty())
    uses = ArrayProperty(StringProperty())
    state = StringProperty()
    rest = StringProperty()
    stateSince = DateTimeNeo4jFormatProperty()
    stateBy = StringProperty()
    timeZone = StringProperty()
    lastSeenAt = DateTimeNeo4jFormatProperty()

    within = RelationshipTo(_PLACE, "IN", cardinality=_Related, model=In)
    holds = RelationshipFrom(_PLACE, "IN", cardinality=_Related, model=In)


class Simulation(_Node):
    """Agents that live together in simulated time, step by step."""

    name = StringProperty()
    agents = ArrayProperty(StringProperty())
    start = DateTimeNeo4jFormatProperty()
    minutes = IntegerProperty()
    steps = IntegerProperty()
    done = IntegerProperty()
    talk = BooleanProperty()
    reflect = BooleanProperty()
    createdAt = DateTimeNeo4jFormatProperty()
    touchedAt = DateTimeNeo4jFormatProperty()
    leaseToken = StringProperty()
    leaseUntil = DateTimeNeo4jFormatProperty()

    def __str__(self) -> str:
        return str(self.name)


class Step(_Node):
    """What an agent did in one step of a simulation."""

    agentId = StringProperty()
    simulation = StringProperty()
    number = IntegerProperty()
    at = DateTimeNeo4jFormatProperty()
    place = StringProperty()
    object = StringProperty()
    planId = StringProperty()
    moved = BooleanProperty()
    conversation = StringProperty()
    talkedWith = StringProperty()
    broken = ArrayProperty(StringProperty())


class Entity(_Node):
    """What memories of an agent name, by its exact name."""

    agentId = StringProperty()
    name = StringProperty()

    memories = RelationshipFrom(_MEMORY, "ABOUT", cardinality=_Related, model=About)

    def __str__(self) -> str:
        return str(self.name)


class Run(_Node):
    """One reflect or recompute by a language model."""

    agentId = StringProperty()
    uid = StringProperty(db_property="id")
    verb = StringProperty()
    model = StringProperty()
    promptVersion = StringProperty()
    promptTokens = IntegerProperty()
    completionTokens = IntegerProperty()
    cost = FloatProperty()
    claimed = IntegerProperty()
    claimedObservations = IntegerProperty()
    startedAt = DateTimeNeo4jFormatProperty()
    endedAt = DateTimeNeo4jFormatProperty()
    leaseUntil = DateTimeNeo4jFormatProperty()
    outcome = StringProperty()
    error = StringProperty()
    refused = ArrayProperty(StringProperty())
    question = StringProperty()
    answer = StringProperty()
    asOf = DateTimeNeo4jFormatProperty()

    used = RelationshipTo(_MEMORY, "USED", cardinality=_Related, model=Used)
    produced = RelationshipFrom(_MEMORY, "PRODUCED_BY", cardinality=_Related, model=ProducedBy)


class Change(_Node):
    """One change of belief."""

    agentId = StringProperty()
    seq = IntegerProperty()
    ordinal = IntegerProperty()
    verb = StringProperty()
    at = DateTimeNeo4jFormatProperty()
    by = StringProperty()
    reason = StringProperty()
    runId = StringProperty()
    importanceBefore = IntegerProperty()
    importanceAfter = IntegerProperty()

    memory = RelationshipTo(_MEMORY, "OF", cardinality=_Related, model=Of)


class GraphmemSchema(_Node):
    """The store's own record: the schema's version and the embedding model that its vectors are by."""

    name = StringProperty()
    version = IntegerProperty()
    embeddingModel = StringProperty()
    dimension = IntegerProperty()
    analyzer = StringProperty()
    touchedAt = DateTimeNeo4jFormatProperty()
    leaseToken = StringProperty()
    leaseUntil = DateTimeNeo4jFormatProperty()
    movingTo = StringProperty()
    movingToDimension = IntegerProperty()
    moveToken = StringProperty()
    moveUntil = DateTimeNeo4jFormatProperty()
    switching = BooleanProperty()
