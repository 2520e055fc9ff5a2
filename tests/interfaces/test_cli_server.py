"""``up``, ``down``, ``status`` and ``browser`` on a server of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.interfaces.conftest import RunCli


@pytest.fixture
def alone(offline: RunCli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> RunCli:
    """Runs a command on the embedded server of an empty data directory."""
    for name in ("GRAPHMEM_URI", "GRAPHMEM_PASSWORD", "GRAPHMEM_USER", "GRAPHMEM_DATABASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GRAPHMEM_DATA_DIR", str(tmp_path / "data"))
    return offline


def test_status_and_down_without_a_server_start_and_create_nothing(alone: RunCli, tmp_path: Path) -> None:
    result = alone("status")
    assert result.code == 0
    assert "not running" in result.out
    assert str(tmp_path / "data") in result.out
    assert "graphmem up" in result.err
    answer = alone("status", "--json").json
    assert (answer["server"]["running"], answer["store"], answer["agents"]) == (False, None, [])
    assert "no server was running" in alone("down").out
    assert alone("down", "--json").json == {"stopped": False}
    assert not (tmp_path / "data").exists()


@pytest.mark.slow
def test_up_status_browser_down(alone: RunCli, tmp_path: Path) -> None:
    try:
        started = alone("up", "--json")
        assert started.code == 0
        server = started.json["server"]
        assert server["running"]
        assert server["data_dir"] == str(tmp_path / "data")

        again = alone("up")
        assert again.code == 0
        assert server["uri"] in again.out

        status = alone("status", "--json").json
        assert status["server"] == server
        assert status["store"] == {"uri": server["uri"], "database": "neo4j"}
        assert status["info"] == {
            "server": server["version"],
            "edition": "community",
            "schema_version": None,
            "embedding_model": None,
            "dimension": None,
            "analyzer": None,
            "moving_to": None,
            "switching": False,
            "agents": 0,
            "memories": 0,
        }
        assert status["agents"] == []
        assert re.search("^schema +nothing yet", alone("status").out, re.MULTILINE)
        assert "no agents in database neo4j" in alone("agents").out
        made = alone("status")
        assert re.search(r"^schema +version \d+, for bge-small-en-v1.5 \(384 dimensions\)", made.out, re.MULTILINE)
        assert made.complaints == ""

        password = (tmp_path / "data" / "password").read_text()
        hidden = alone("browser", "--agent", "evan")
        assert hidden.code == 0
        assert server["browser_url"] in hidden.out
        assert str(tmp_path / "data" / "password") in hidden.out
        assert "MATCH path" in hidden.out
        assert password not in hidden.out + alone("browser", "--json").out
        assert password in alone("browser", "--show-password").out
        assert alone("browser", "--show-password", "--json").json["password"] == password
    finally:
        stopped = alone("down")
    assert (stopped.code, stopped.out) == (0, "stopped\n")
    assert not alone("status", "--json").json["server"]["running"]


def test_reembed_wants_a_model_and_knows_when_there_is_nothing_to_do(cli: RunCli, evan: str) -> None:
    asked = cli("reembed")
    assert (asked.code, asked.out) == (2, "")
    assert "--embedding" in asked.err
    done = cli("reembed", "--embedding", "onnx/bge-small-en-v1.5")
    assert done.code == 0
    assert "the store is for bge-small-en-v1.5 (384 dimensions) already" in done.out
    unknown = cli("reembed", "--embedding", "onnx/nothing")
    assert unknown.code == 2
    assert "there is no model" in unknown.err
