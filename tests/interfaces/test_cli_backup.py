"""``backup``, ``restore`` and ``purge`` as a person types them; tests/test_backup.py has them on a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.conftest import RunCli


@pytest.fixture
def alone(offline: RunCli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> RunCli:
    """Runs a command on an empty data directory and an empty cache."""
    monkeypatch.setenv("GRAPHMEM_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("GRAPHMEM_CACHE_DIR", str(tmp_path / "cache"))
    return offline


def test_there_is_nothing_to_back_up_or_delete(alone: RunCli, tmp_path: Path) -> None:
    result = alone("backup", str(tmp_path / "b.tar.gz"))
    assert result.code == 1
    assert "there is no store in" in result.err
    assert "remedy: " in result.err
    result = alone("restore", str(tmp_path / "b.tar.gz"))
    assert result.code == 2
    assert "there is no file " in result.err
    assert alone("purge", "--data", "--cache", "--yes").out == "there is nothing to delete\n"
    assert not (tmp_path / "data").exists()


def test_purge_wants_to_be_told_what(alone: RunCli) -> None:
    result = alone("purge", "--yes")
    assert result.code == 1
    assert "--data" in result.err
    assert "--cache" in result.err


def test_nothing_is_deleted_that_nobody_confirmed(alone: RunCli, tmp_path: Path) -> None:
    jar = tmp_path / "cache" / "maven" / "a.jar"
    jar.parent.mkdir(parents=True)
    jar.write_bytes(bytes(2_000_000))
    result = alone("purge", "--cache")
    assert result.code == 1
    assert f"fetched jars and models in {tmp_path / 'cache'} (2.0 MB)" in result.err
    assert "--yes" in result.err
    assert jar.exists()
    result = alone("purge", "--cache", "--yes")
    assert (result.code, result.out) == (0, "deleted, 2.0 MB freed\n")
    assert not jar.exists()


def test_the_files_of_another_server_are_not_ours(alone: RunCli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_URI", "bolt://db.example:7687")
    for command in (("backup", "x"), ("restore", "x"), ("purge", "--data")):
        result = alone(*command)
        assert result.code == 1
        assert "not one that graphmem starts or stops" in result.err
    assert alone("purge", "--cache", "--yes").code == 0, "what was fetched is ours all the same"
