"""docker-compose.yml says what it must, as far as that can be seen without an engine; tests in Docker use it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import neo4j
import pytest
import yaml

from graphmem.graph import embedded
from graphmem.graph.data_dir import ServerState
from graphmem.graph.lock import NEO4J_VERSION
from graphmem.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
SERVICE: dict[str, Any] = COMPOSE["services"]["neo4j"]


def test_the_image_is_the_neo4j_that_the_embedded_server_is() -> None:
    assert SERVICE["image"] == f"neo4j:{NEO4J_VERSION}"


def test_it_listens_on_loopback_only_on_ports_that_can_be_chosen() -> None:
    published = [re.fullmatch(r"127\.0\.0\.1:\$\{(\w+):-(\d+)\}:(\d+)", port) for port in SERVICE["ports"]]
    assert [match and match.groups() for match in published] == [
        ("GRAPHMEM_BOLT_PORT", "7687", "7687"),
        ("GRAPHMEM_HTTP_PORT", "7474", "7474"),
    ]
    # What clients are told must be where they find it: neo4j:// and Browser go by it.
    for name, port in (("bolt", "GRAPHMEM_BOLT_PORT:-7687"), ("http", "GRAPHMEM_HTTP_PORT:-7474")):
        assert SERVICE["environment"][f"NEO4J_server_{name}_advertised__address"] == f"127.0.0.1:${{{port}}}"


def test_the_password_is_taken_from_the_environment_and_must_be_there() -> None:
    assert re.fullmatch(r"neo4j/\$\{GRAPHMEM_PASSWORD:\?[^}]+\}", SERVICE["environment"]["NEO4J_AUTH"])


def test_what_is_stored_outlives_the_container() -> None:
    mounted = dict(volume.split(":") for volume in SERVICE["volumes"])
    assert "/data" in mounted.values()
    assert set(mounted) <= set(COMPOSE["volumes"])


def test_it_tells_when_it_is_healthy() -> None:
    check = SERVICE["healthcheck"]
    assert check["test"][0] == "CMD"
    assert check["test"][-1] == "http://127.0.0.1:7474"
    assert {"interval", "timeout", "retries", "start_period"} <= check.keys()


@pytest.mark.parametrize("document", ["README.md", "docs/connecting.md"])
def test_it_is_shown_as_a_way(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    for command in ("export GRAPHMEM_PASSWORD=", "docker compose up --detach --wait", "export GRAPHMEM_URI="):
        assert command in text


async def test_every_setting_is_one_that_neo4j_has(settings: Settings) -> None:
    """The image makes ``server.memory.heap.max_size`` of ``NEO4J_server_memory_heap_max__size``."""
    names = {
        re.sub(r"_{1,2}", lambda found: "." if len(found[0]) == 1 else "_", name.removeprefix("NEO4J_"))
        for name in SERVICE["environment"]
        if name != "NEO4J_AUTH"
    }
    assert len(names) > 5
    assert settings.password is not None
    auth = (settings.user, settings.password.get_secret_value())
    async with neo4j.AsyncGraphDatabase.driver(str(settings.uri), auth=auth) as driver:
        found = await driver.execute_query("SHOW SETTINGS YIELD name RETURN collect(name) AS names")
    # Neo4j does not show internal ones; the embedded server, which refuses those it does not know, starts with these.
    state = ServerState(bolt_port=1, http_port=2)
    known = {line.split("=")[0] for line in embedded._neo4j_config(state).splitlines() if line.startswith("internal.")}
    assert names <= set(found.records[0]["names"]) | known
