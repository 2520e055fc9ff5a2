"""Connecting: what does not fit is refused with what was found and what to do about it."""

from __future__ import annotations

import json
from pathlib import Path

import neo4j
import pytest
from neo4j.exceptions import Neo4jError
from pydantic import SecretStr
from servers import Certificate, Talk, answers_http, closes, greets, listening, refuses_bolt, start_with

from graphmem import AsyncMemory
from graphmem.errors import (
    AuthenticationFailed,
    GraphmemError,
    InvalidSettings,
    NotPermitted,
    StoreError,
    StoreUnavailable,
    UnsupportedServer,
)
from graphmem.graph import embedded, schema, store
from graphmem.graph.store import Store
from graphmem.settings import Settings
from graphmem.testing import HashingEmbedder


async def refused(settings: Settings, **changes: object) -> GraphmemError:
    """The refusal that opening ends in; each says in one line what to do."""
    with pytest.raises(GraphmemError) as caught:
        await AsyncMemory.open(settings=settings.model_copy(update=changes), embedder=HashingEmbedder(8))
    told = f"{caught.value} {caught.value.remedy}"
    assert "\n" not in told
    assert caught.value.remedy
    if settings.password:
        assert settings.password.get_secret_value() not in told
    return caught.value


# Without a Neo4j


@pytest.mark.parametrize(
    ("uri", "remedy"),
    [
        ("http://127.0.0.1:7474", "bolt://host:7687"),
        ("localhost:7687", "bolt://localhost:7687"),
        ("db.example", "bolt://db.example"),
        ("bolt://[::1", "bolt://host:7687"),
        ("bolt://h:1?policy=eu", "bolt://host:7687"),
    ],
)
async def test_what_is_no_address_of_neo4j_is_refused(uri: str, remedy: str) -> None:
    error = await refused(Settings(uri=uri))
    assert isinstance(error, InvalidSettings)
    assert repr(uri) in str(error)
    assert remedy in error.remedy


async def test_an_address_with_a_password_in_it_is_refused_and_not_repeated() -> None:
    error = await refused(Settings(uri="neo4j+s://ines:hush-hush@db.example:7687"))
    assert isinstance(error, InvalidSettings)
    assert "hush-hush" not in f"{error} {error.remedy}"
    assert "neo4j+s://db.example:7687" in error.remedy
    assert "GRAPHMEM_PASSWORD" in error.remedy


async def test_an_unknown_host_and_a_closed_port_are_told_apart() -> None:
    error = await refused(Settings(uri="bolt://no-such-host.invalid:7687"))
    assert isinstance(error, StoreUnavailable)
    assert "no-such-host.invalid:7687 is not known" in str(error)
    for scheme in ("bolt", "neo4j"):
        error = await refused(Settings(uri=f"{scheme}://127.0.0.1:1"))
        assert isinstance(error, StoreUnavailable)
        assert str(error) == f"nothing listens at {scheme}://127.0.0.1:1"


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
@pytest.mark.parametrize(
    ("talk", "kind", "told"),
    [
        (answers_http, UnsupportedServer, "the port of a web server"),
        (closes, StoreUnavailable, "does not speak Bolt, or only in TLS"),
        (greets, UnsupportedServer, "is not a Neo4j"),
        (refuses_bolt, UnsupportedServer, "is not a Neo4j"),
    ],
)
async def test_what_is_not_bolt_is_told_so(talk: Talk, kind: type[GraphmemError], told: str, scheme: str) -> None:
    with listening(talk) as port:
        error = await refused(Settings(uri=f"{scheme}://127.0.0.1:{port}"))
    assert isinstance(error, kind)
    assert told in str(error)
    assert "7687" in error.remedy


async def test_tls_where_there_is_none_and_none_where_there_is(tmp_path: Path) -> None:
    with listening(answers_http) as port:
        error = await refused(Settings(uri=f"neo4j+s://127.0.0.1:{port}"))
        assert "does not speak TLS" in str(error)
        assert f"use neo4j://127.0.0.1:{port}" in error.remedy
    with listening(answers_http, tls=Certificate.new(tmp_path)) as port:
        error = await refused(Settings(uri=f"bolt://127.0.0.1:{port}"))
        assert "only in TLS" in str(error)
        assert f"bolt+s://127.0.0.1:{port}" in error.remedy
        error = await refused(Settings(uri=f"bolt+s://127.0.0.1:{port}"))
        assert "is not trusted: " in str(error)
        assert f"bolt+ssc://127.0.0.1:{port}" in error.remedy
        error = await refused(Settings(uri=f"bolt+ssc://127.0.0.1:{port}"))
        assert "web server" in str(error), "the certificate was taken"


@pytest.mark.parametrize(
    ("agent", "told"),
    [
        ("Neo4j/5.26.12", "is Neo4j 5.26.12; graphmem needs 2026.09 or newer"),
        ("Neo4j/2026.08.3", "is Neo4j 2026.08.3; graphmem needs 2026.09 or newer"),
        ("Neo4j/v5.11.0 compatible graph database server - Memgraph", "Memgraph'; graphmem needs Neo4j"),
    ],
)
def test_an_older_neo4j_and_another_product_are_refused(agent: str, told: str) -> None:
    with pytest.raises(UnsupportedServer, match=told) as caught:
        schema.check_server(agent, "bolt://h:1")
    assert "embedded server" in caught.value.remedy


@pytest.mark.parametrize("agent", ["Neo4j/2026.09.0", "Neo4j/2026.09-aura", "Neo4j/2027.01.0-12", "Neo4j/2030.1"])
def test_a_newer_neo4j_is_taken(agent: str) -> None:
    schema.check_server(agent, "bolt://h:1")


def test_roles_that_may_not_are_named() -> None:
    """Community has no roles: the code that Enterprise gives, as the driver hands it over."""
    forbidden = Neo4jError._hydrate_neo4j(
        code="Neo.ClientError.Security.Forbidden",
        message="Create node with labels 'Agent' on database 'neo4j' is not allowed for user 'reader'.",
    )
    error = store._translate(forbidden, store._Target("bolt://h:1", "neo4j", "reader", has_password=True))
    assert isinstance(error, NotPermitted)
    assert "'reader' may not do this in database 'neo4j' at bolt://h:1" in str(error)


# On a Neo4j


@pytest.mark.slow
async def test_a_wrong_account_is_told_apart_from_a_missing_a_new_and_a_locked_one(throw_away: Settings) -> None:
    wrong = await refused(throw_away, password=SecretStr("wrong-secret"))
    assert isinstance(wrong, AuthenticationFailed)
    assert "wrong-secret" not in f"{wrong} {wrong.remedy}"
    assert "GRAPHMEM_PASSWORD" in wrong.remedy
    assert "none was given" in str(await refused(throw_away, password=None))

    assert throw_away.uri is not None
    assert throw_away.password is not None
    auth = (throw_away.user, throw_away.password.get_secret_value())
    with neo4j.GraphDatabase.driver(throw_away.uri, auth=auth) as driver:
        driver.execute_query("CREATE USER newcomer SET PASSWORD 'first-password' CHANGE REQUIRED", database_="system")
    new = await refused(throw_away, user="newcomer", password=SecretStr("first-password"))
    assert isinstance(new, AuthenticationFailed)
    assert "changed before anything else" in str(new)
    assert "ALTER CURRENT USER" in new.remedy
    locked = [str(await refused(throw_away, user="newcomer", password=SecretStr("guess"))) for _ in range(4)]
    assert "too many wrong passwords" in locked[-1]


@pytest.mark.slow
async def test_a_wrong_database_is_named(throw_away: Settings) -> None:
    for uri in (str(throw_away.uri), str(throw_away.uri).replace("bolt://", "neo4j://")):
        missing = await refused(throw_away, uri=uri, database="nope")
        assert isinstance(missing, StoreError)
        assert f"there is no database 'nope' at {uri}" in str(missing)
        assert "GRAPHMEM_DATABASE" in missing.remedy
    assert "holds accounts, no graph" in str(await refused(throw_away, database="system"))


@pytest.mark.slow
async def test_the_browsers_port_and_tls_are_told(throw_away: Settings) -> None:
    state = json.loads((throw_away.data_dir / "server.json").read_text())
    http = await refused(throw_away, uri=f"bolt://127.0.0.1:{state['http_port']}")
    assert "the port of a web server" in str(http)
    for scheme in ("bolt+s", "bolt+ssc", "neo4j+s"):
        tls = await refused(throw_away, uri=f"{scheme}://127.0.0.1:{state['bolt_port']}")
        assert "does not speak TLS" in str(tls)


@pytest.mark.slow
async def test_features_are_asked_for_and_named_when_they_are_not_there(throw_away: Settings) -> None:
    """The database system of a real server plans no SEARCH and no index."""
    assert throw_away.uri is not None
    assert throw_away.password is not None
    connected = await Store.connect(
        throw_away.uri, "neo4j", throw_away.password.get_secret_value(), "neo4j", retry_seconds=1
    )
    try:
        await schema._check_features(connected, HashingEmbedder(8), "english")
        lacking = Store(connected._driver, store._Target(throw_away.uri, "system", "neo4j", has_password=True))
        with pytest.raises(UnsupportedServer, match="lacks vector indexes with properties to filter by") as caught:
            await schema._check_features(lacking, HashingEmbedder(8), "english")
        assert "2026.09" in caught.value.remedy
    finally:
        await connected.close()


def test_a_statement_is_planned_alike_for_lists_of_any_length(throw_away: Settings) -> None:
    """So that it is planned once: by default Neo4j plans it anew for every order of magnitude."""
    assert throw_away.uri is not None
    assert throw_away.password is not None
    auth = (throw_away.user, throw_away.password.get_secret_value())
    with neo4j.GraphDatabase.driver(throw_away.uri, auth=auth) as driver:
        for given in (["a"], ["a"] * 5_000):
            plan = driver.execute_query("EXPLAIN UNWIND $given AS one RETURN one", given=given).summary.plan
            assert plan is not None
            assert plan["args"]["EstimatedRows"] == 10.0


async def test_a_routed_connection_sees_its_own_writes(
    settings: Settings, embedder: HashingEmbedder, agent_id: str
) -> None:
    """neo4j:// sends reads to readers; the bookmarks make them wait for what was written."""
    routed = settings.model_copy(update={"uri": str(settings.uri).replace("bolt", "neo4j", 1)})
    async with await AsyncMemory.open(settings=routed, embedder=embedder) as memory:
        agent = memory.agent(agent_id)
        for n in range(10):
            kept = await agent.observe(f"The tide is at mark {n}")
            assert (await agent.get(kept.id)).text == kept.text


@pytest.mark.slow
async def test_a_database_that_can_only_be_read_is_named_also_in_tls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = Certificate.new(tmp_path)
    own = Settings(data_dir=tmp_path / "data")
    try:
        # Neo4j makes a database that is to be read-only one that is not, at the start that creates it.
        embedded.ensure_running(own)
        embedded.down(own)
        found = start_with(own, "server.databases.read_only=neo4j\n" + certificate.neo4j_config)
        read_only = own.model_copy(update={"uri": found.uri, "password": found.password})
        error = await refused(read_only)
        assert isinstance(error, NotPermitted)
        assert f"database 'neo4j' at {found.uri} can only be read" in str(error)
        assert "server.databases.read_only" in error.remedy
        for scheme in ("bolt", "neo4j"):
            secure, any_certificate = (found.uri.replace("bolt", f"{scheme}+{s}", 1) for s in ("s", "ssc"))
            monkeypatch.delenv("SSL_CERT_FILE", raising=False)
            error = await refused(read_only, uri=secure)
            assert f"the certificate of {secure} is not trusted" in str(error)
            assert "SSL_CERT_FILE" in error.remedy
            assert any_certificate in error.remedy
            assert isinstance(await refused(read_only, uri=any_certificate), NotPermitted), "as the remedy says"
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate.authority))
            assert isinstance(await refused(read_only, uri=secure), NotPermitted), "as the remedy says"
    finally:
        embedded.down(own)
