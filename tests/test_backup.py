"""Backups of the embedded server's store: whole or refused, and never a store lost for one."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import stat
import tarfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.errors import LocalServerError
from graphmem.graph.backup import backup, cache_held, data_held, inspect, purge, restore
from graphmem.graph.data_dir import DataDir
from graphmem.graph.embedded import down, ensure_running, status
from graphmem.graph.lock import NEO4J_VERSION
from graphmem.settings import Settings
from graphmem.testing import HashingEmbedder


def write(file: Path, files: Mapping[str, bytes], *, sums: Mapping[str, str] | None = None, **head: object) -> Path:
    """A backup of these files, as graphmem lays it out."""
    info = {"format": 1, "neo4j": NEO4J_VERSION, "created_at": datetime.now(UTC).isoformat(), "size": 100} | head
    found = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    members = {"graphmem-backup.json": json.dumps(info).encode(), **files}
    members["checksums.json"] = json.dumps(found if sums is None else sums).encode()
    with tarfile.open(file, "w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return file


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A data directory with a store in which nobody has ever looked."""
    own = Settings(data_dir=tmp_path / "server", cache_dir=tmp_path / "cache", heap="512m")
    (own.data_dir / "data").mkdir(parents=True)
    (own.data_dir / "data" / "present").write_text("the present store")
    return own


def refused(settings: Settings, file: Path) -> LocalServerError:
    """The refusal of a restore; the present store is as it was, and nothing is left beside it."""
    with pytest.raises(LocalServerError) as caught:
        restore(settings, file)
    assert caught.value.remedy
    assert (settings.data_dir / "data" / "present").read_text() == "the present store"
    assert not list(settings.data_dir.glob("data.*"))
    assert not list(settings.data_dir.parent.glob("escaped*"))
    return caught.value


@pytest.mark.parametrize("name", ["../escaped", "data/../../escaped", "/escaped", "other/x", "data//x", "datax"])
def test_names_that_lead_elsewhere_are_refused(settings: Settings, tmp_path: Path, name: str) -> None:
    error = refused(settings, write(tmp_path / "b.tar.gz", {"data/a": b"a", name: b"x"}))
    assert "is damaged" in str(error)


def test_links_are_refused(settings: Settings, tmp_path: Path) -> None:
    file = write(tmp_path / "b.tar.gz", {"data/a": b"a"})
    plain = gzip.decompress(file.read_bytes())
    with tarfile.open(tmp_path / "c.tar.gz", "w:gz") as out, tarfile.open(fileobj=io.BytesIO(plain)) as archive:
        for entry in archive:
            out.addfile(entry, archive.extractfile(entry))
        link = tarfile.TarInfo("data/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        out.addfile(link)
    refused(settings, tmp_path / "c.tar.gz")


def test_damage_of_every_kind_is_refused(settings: Settings, tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.tar.gz", {f"data/{n}": bytes(range(256)) * 40 for n in range(9)}).read_bytes()
    for length in (0, 1, 30, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        (tmp_path / "cut.tar.gz").write_bytes(whole[:length])
        refused(settings, tmp_path / "cut.tar.gz")
    for position in range(20, len(whole), 37):
        turned = bytearray(whole)
        turned[position] ^= 0xFF
        (tmp_path / "turned.tar.gz").write_bytes(turned)
        refused(settings, tmp_path / "turned.tar.gz")
    (tmp_path / "text.tar.gz").write_text("not an archive")
    assert "not a backup of graphmem" in str(refused(settings, tmp_path / "text.tar.gz"))
    for missing in ({}, {"data/a": hashlib.sha256(b"b").hexdigest()}, {"data/a": "x", "data/b": "y"}):
        refused(settings, write(tmp_path / "sums.tar.gz", {"data/a": b"a"}, sums=missing))
    refused(settings, write(tmp_path / "empty.tar.gz", {}))


def test_a_newer_one_and_a_missing_one_and_one_too_large_are_told(settings: Settings, tmp_path: Path) -> None:
    for head in ({"format": 2}, {"neo4j": "2099.01.0"}):
        error = refused(settings, write(tmp_path / "new.tar.gz", {"data/a": b"a"}, **head))
        assert "newer graphmem" in str(error)
        assert error.remedy == "upgrade graphmem"
    assert "No such file" in str(refused(settings, tmp_path / "nowhere.tar.gz"))
    large = refused(settings, write(tmp_path / "large.tar.gz", {"data/a": b"a"}, size=10**17))
    assert "needs 100,000,000,000 MB" in str(large)


def test_a_restore_that_was_killed_between_the_stores_is_undone_at_the_next_start(settings: Settings) -> None:
    folder = DataDir(settings.data_dir)
    (folder.path / "data").rename(folder.path / "data.before-restore-17")
    folder.recover()
    assert (folder.path / "data" / "present").exists()
    (folder.path / "data.before-restore-18").mkdir()
    folder.recover()
    assert (folder.path / "data" / "present").exists(), "there is one, so nothing is taken back"


def test_a_backup_without_a_store_or_over_a_file_is_refused(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(LocalServerError, match="no store in"):
        backup(Settings(data_dir=tmp_path / "never"), tmp_path / "b.tar.gz")
    assert not (tmp_path / "never").exists()
    file = tmp_path / "b.tar.gz"
    file.write_text("precious")
    with pytest.raises(LocalServerError, match="is there already"):
        backup(settings, file)
    assert file.read_text() == "precious"
    with pytest.raises(LocalServerError, match="No such file"):
        backup(settings, tmp_path / "no" / "folder.tar.gz")


def test_a_purge_leaves_what_is_not_ours(settings: Settings) -> None:
    for name in ("server.json", "password", "neo4j.conf", "logs/server.log", "data.restoring-x/data/a", "notes.part"):
        (settings.data_dir / name).parent.mkdir(parents=True, exist_ok=True)
        (settings.data_dir / name).write_text("12345")
    for name in ("maven/org/x.jar", "models/m/model.onnx", "pip/wheel"):
        (settings.cache_dir / name).parent.mkdir(parents=True)
        (settings.cache_dir / name).write_text("12345")
    assert purge(settings, cache_held(settings)) == 10
    assert [path.name for path in settings.cache_dir.iterdir()] == ["pip"]
    assert data_held(settings).size == 5 * 5 + len("the present store")
    purge(settings, data_held(settings))
    assert [path.name for path in settings.data_dir.iterdir()] == ["notes.part"]
    assert purge(settings, data_held(settings), cache_held(settings)) == 0
    assert [path.name for path in settings.data_dir.iterdir()] == ["notes.part"]


def remembered(settings: Settings) -> list[str]:
    """What ines of the server in that data directory remembers."""
    connection = ensure_running(settings)
    there = Settings(uri=connection.uri, password=connection.password)
    with Memory.open(settings=there, embedder=HashingEmbedder(8)) as memory:
        return sorted(kept.text for kept in memory.agent("ines").memories())


def observe(settings: Settings, text: str) -> None:
    connection = ensure_running(settings)
    there = Settings(uri=connection.uri, password=connection.password)
    with Memory.open(settings=there, embedder=HashingEmbedder(8)) as memory:
        memory.agent("ines").observe(text)


@pytest.mark.faults
def test_what_is_no_store_of_neo4j_brings_back_the_one_before(tmp_path: Path) -> None:
    own = Settings(data_dir=tmp_path / "server", heap="512m")
    try:
        observe(own, "before the backup")
        unusable = write(tmp_path / "unusable.tar.gz", {"data/databases": b"a file where a folder should be"})
        with pytest.raises(LocalServerError, match="does not start, and the one before is back") as caught:
            restore(own, unusable)
        assert str(status(own).log) in str(caught.value)
        assert status(own).running
        assert remembered(own) == ["before the backup"]
    finally:
        down(own)


@pytest.mark.slow
def test_backup_change_restore_purge_on_a_server(tmp_path: Path) -> None:
    own = Settings(data_dir=tmp_path / "server", heap="512m")
    file = tmp_path / "b.tar.gz"
    try:
        observe(own, "before the backup")
        steps: list[tuple[str, float | None]] = []
        info = backup(own, file, progress=lambda message, fraction: steps.append((message, fraction)))
        assert status(own).running, "it ran before"
        assert inspect(file) == info
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        fractions = [
            fraction for message, fraction in steps if message == "writing the backup" and fraction is not None
        ]
        assert fractions == sorted(fractions)
        assert fractions[-1] == 1.0
        password = (own.data_dir / "password").read_bytes()
        assert password not in gzip.decompress(file.read_bytes())

        observe(own, "after the backup")
        # As if a newer graphmem had upgraded the store since: the backup is the way back.
        down(own)
        state = json.loads((own.data_dir / "server.json").read_text())
        (own.data_dir / "server.json").write_text(json.dumps(state | {"version": "2099.01.0"}))
        with pytest.raises(LocalServerError, match=r"belongs to Neo4j 2099\.01\.0"):
            ensure_running(own)
        restore(own, file)
        assert not status(own).running, "it did not run before"
        ensure_running(own)
        assert remembered(own) == ["before the backup"]
        assert not list(own.data_dir.glob("data.*"))
        readable = [p for p in (own.data_dir / "data").rglob("*") if p.is_file() and p.stat().st_mode & 0o077]
        assert readable == []

        # Onto another machine, so to say: another data directory, with a password of its own.
        own = Settings(data_dir=tmp_path / "elsewhere", heap="512m")
        down(Settings(data_dir=tmp_path / "server"))
        restore(own, file)
        assert remembered(own) == ["before the backup"]
        assert (own.data_dir / "password").read_bytes() != password
        purge(own, data_held(own))
        assert not own.data_dir.exists()
    finally:
        down(own)
        down(Settings(data_dir=tmp_path / "server"))
