"""Backup, restore and removal of the embedded server's store: its files, while no server has them open.

A backup is a ``.tar.gz``: first ``graphmem-backup.json`` (what it is), then the files below ``data/``, last
``checksums.json`` with the SHA-256 of each, so that one that was cut short is known as such. The password is not in it:
a restored store takes that of the data directory.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import tarfile
import tempfile
import time
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from pydantic import AwareDatetime, BaseModel, ValidationError

from graphmem.errors import LocalServerError
from graphmem.graph.data_dir import DataDir, is_newer
from graphmem.graph.embedded import Report, data_dir, down, ensure_running, status
from graphmem.graph.lock import NEO4J_VERSION
from graphmem.graph.new_file import new_file
from graphmem.settings import Settings

_HEAD = "graphmem-backup.json"
_SUMS = "checksums.json"
_FORMAT = 1
_LOCKS = frozenset({"store_lock", "database_lock"})
_NAME = re.compile(r"data(/[^/\0]+)*")
_CHUNK = 1 << 20
_WAIT = 30.0
"""Seconds to get hold of the data directory."""


class BackupInfo(BaseModel):
    """What a backup says of itself.

    Attributes:
        format: How the file is laid out.
        neo4j: Version of the Neo4j whose store it is.
        created_at: When it was made.
        size: Length of all files in it, in bytes.
    """

    format: int
    neo4j: str
    created_at: AwareDatetime
    size: int


@dataclass(frozen=True)
class Holding:
    """What a purge would delete.

    Attributes:
        paths: Files and directories.
        size: Their length in bytes.
    """

    paths: tuple[Path, ...]
    size: int


def backup(settings: Settings, file: Path, *, progress: Report | None = None) -> BackupInfo:
    """Write the store to a file. A server that runs is stopped for that time and started again.

    Args:
        settings: ``data_dir`` counts.
        file: Where to; must not be there yet.
        progress: Told what is being done, and the fraction of the store that is written.

    Raises:
        LocalServerError: When there is no store, the file is there or cannot be written, or the server does not stop or
            start.
    """
    target = file.expanduser().absolute()
    report = progress or _silent
    folder = data_dir(settings)
    if os.path.lexists(target):
        raise _taken(target)
    if not (folder.path / "data").exists():
        raise LocalServerError(f"there is no store in {folder.path}", remedy="see graphmem status for where it is")
    with _failures(f"the backup {target} cannot be written"), _alone(settings, report, again=True):
        try:
            return _write(folder, target, report)
        except FileExistsError as error:
            raise _taken(target) from error


def _taken(target: Path) -> LocalServerError:
    return LocalServerError(f"{target} is there already", remedy="name another file, or remove that one")


def inspect(file: Path) -> BackupInfo:
    """What a backup says of itself, without reading all of it.

    Raises:
        LocalServerError: When it is none, or one of a newer graphmem or Neo4j.
    """
    with _failures(f"the backup {file} cannot be read"), _reading(file) as archive:
        first = archive.next()
        if first is None or first.name != _HEAD:
            raise _damaged(file)
        return _head(file, _content(archive, first))


def restore(settings: Settings, file: Path, *, progress: Report | None = None) -> BackupInfo:
    """Put the store of a backup in the place of the present one.

    The backup is unpacked beside it and checked first. Then a server that runs is stopped, the two change places, and a
    server is started on the restored one; only when it answers is the old store deleted, and when it does not the old
    one comes back. Afterwards a server runs if one ran before.

    Raises:
        LocalServerError: When the file is not a whole backup, does not fit on the disk, or its store does not start.
            The present store is then as it was.
    """
    report = progress or _silent
    folder = data_dir(settings)
    info = inspect(file)
    with _failures(f"{file} cannot be restored to {folder.path}"):
        folder.create()
        unpacked = Path(tempfile.mkdtemp(prefix="data.restoring-", dir=folder.path))
        try:
            free = shutil.disk_usage(folder.path).free
            if free < info.size:
                raise LocalServerError(
                    f"the backup needs {info.size / 1e6:,.0f} MB on the disk of {folder.path}, which has "
                    f"{free / 1e6:,.0f} MB left",
                    remedy="free some space there, or set GRAPHMEM_DATA_DIR to a directory on another disk",
                )
            _unpack(file, unpacked, info, report)
            _exchange(settings, folder, unpacked / "data", info.neo4j, report)
        finally:
            shutil.rmtree(unpacked, ignore_errors=True)
    return info


def data_held(settings: Settings) -> Holding:
    """What there is of the embedded server's data directory: only what is graphmem's."""
    folder = data_dir(settings)
    with _failures(f"{folder.path} cannot be read"):
        kept = [*folder.path.glob("data.before-restore-*"), *folder.path.glob("data.restoring-*")]
        files = [folder.state, folder.password, folder.config, folder.lock]
        halves = [*(file.with_name(f"{file.name}.new") for file in files), folder.state.with_suffix(".part")]
        return _holding(folder.path / "data", *kept, folder.log.parent, *files, *halves)


def cache_held(settings: Settings) -> Holding:
    """What there is of fetched jars and models: only what is graphmem's."""
    cache = settings.cache_dir.expanduser().absolute()
    with _failures(f"{cache} cannot be read"):
        return _holding(cache / "maven", cache / "models")


def purge(settings: Settings, *holdings: Holding, progress: Report | None = None) -> int:
    """Delete what :func:`data_held` or :func:`cache_held` found, after stopping a server, which uses both.

    Returns:
        The bytes deleted.

    Raises:
        LocalServerError: When something cannot be deleted, or the server does not stop.
    """
    report = progress or _silent
    folder = data_dir(settings)
    paths = [path for holding in holdings for path in holding.paths]
    if not paths:
        return 0
    with _failures("not everything could be deleted"), _alone(settings, report, again=False):
        for number, path in enumerate(path for path in paths if path != folder.lock):
            report("deleting", number / len(paths))
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        # Last, and while it is held: nobody can start a server in between.
        if folder.lock in paths:
            folder.lock.unlink(missing_ok=True)
    for directory in {path.parent for path in paths}:
        with suppress(OSError):  # somebody else's files are in it
            directory.rmdir()
    return sum(holding.size for holding in holdings)


def _holding(*paths: Path) -> Holding:
    there = tuple(path for path in paths if path.is_symlink() or path.exists())
    return Holding(there, sum(_size(path) for path in there))


def _size(path: Path) -> int:
    if path.is_symlink() or path.is_file():
        return path.lstat().st_size
    return sum(inner.lstat().st_size for inner in path.rglob("*") if not inner.is_dir())


def _silent(_message: str, _fraction: float | None) -> None:
    """Nobody wants to know."""


@contextmanager
def _alone(settings: Settings, report: Report, *, again: bool) -> Generator[None]:
    """Stop the server and keep others from starting one; start it again afterwards, where asked and one ran."""
    folder = data_dir(settings)
    found = status(settings)
    if not folder.path.exists():
        yield
        return
    deadline = time.monotonic() + _WAIT
    while (lock := folder.take_lock()) is None:
        report("stopping Neo4j", None)
        down(settings)
        if time.monotonic() > deadline:
            raise LocalServerError(
                f"other processes keep starting the server of {folder.path}", remedy="end them, then try again"
            )
    try:
        folder.recover()
        yield
    finally:
        os.close(lock)
        if again and (found.running or found.starting):
            ensure_running(settings, progress=report)


def _write(folder: DataDir, target: Path, report: Report) -> BackupInfo:
    root = folder.path / "data"
    found = sorted(path for path in root.rglob("*") if path.name not in _LOCKS)
    size = sum(path.stat().st_size for path in found if path.is_file())
    state = folder.read_state()
    version = state.version if state else NEO4J_VERSION  # of the Neo4j that opened it last
    info = BackupInfo(format=_FORMAT, neo4j=version, created_at=datetime.now(UTC), size=size)
    sums: dict[str, str] = {}
    done = 0
    with (
        new_file(target) as out,
        # Little is gained by more: vectors do not compress.
        gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        _add(archive, _HEAD, info.model_dump_json().encode())
        for path in found:
            entry = archive.gettarinfo(path, path.relative_to(folder.path).as_posix())
            if not path.is_file():
                archive.addfile(entry)
                continue
            with path.open("rb") as source:
                counted = _Hashing(
                    source, lambda read, done=done: report("writing the backup", (done + read) / max(size, 1))
                )
                archive.addfile(entry, counted)
            sums[entry.name] = counted.digest.hexdigest()
            done += counted.size
        _add(archive, _SUMS, json.dumps(sums).encode())
    return info


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o600
    archive.addfile(entry, io.BytesIO(content))


class _Hashing:
    """A file that is summed up while it is read."""

    def __init__(self, source: IO[bytes], read: Callable[[int], None]) -> None:
        self.digest = hashlib.sha256()
        self.size = 0
        self._source = source
        self._read = read

    def read(self, length: int = _CHUNK, /) -> bytes:
        """The next bytes."""
        content = self._source.read(length)
        self.digest.update(content)
        self.size += len(content)
        self._read(self.size)
        return content


@contextmanager
def _reading(file: Path) -> Generator[tarfile.TarFile]:
    """A backup, open; whatever shows that it is none or damaged is told as such."""
    try:
        with tarfile.open(file, "r:gz") as archive:
            yield archive
    except (
        tarfile.TarError,
        EOFError,
        zlib.error,
        gzip.BadGzipFile,
        json.JSONDecodeError,
        UnicodeDecodeError,
    ) as error:
        raise _damaged(file) from error


def _damaged(file: Path) -> LocalServerError:
    return LocalServerError(
        f"{file} is not a backup of graphmem, or is damaged; nothing was changed", remedy="use another backup"
    )


def _content(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(entry)
    return b"" if stream is None else stream.read()


def _head(file: Path, content: bytes) -> BackupInfo:
    try:
        info = BackupInfo.model_validate_json(content)
    except ValidationError as error:
        raise _damaged(file) from error
    if info.format > _FORMAT or is_newer(info.neo4j):
        raise LocalServerError(
            f"{file} was made by a newer graphmem, with Neo4j {info.neo4j}; this one brings {NEO4J_VERSION}",
            remedy="upgrade graphmem",
        )
    return info


def _unpack(file: Path, target: Path, info: BackupInfo, report: Report) -> None:
    """Unpack all files and hold each to its checksum, so that what is there afterwards is what was backed up."""
    found: dict[str, str] = {}
    expected: object = None
    done = 0
    (target / "data").mkdir(mode=0o700)
    with _reading(file) as archive:
        for entry in archive:
            if entry.name == _SUMS:
                expected = json.loads(_content(archive, entry))
            elif (
                _NAME.fullmatch(entry.name) and ".." not in entry.name.split("/") and (entry.isfile() or entry.isdir())
            ):
                path = target / entry.name
                if entry.isdir():
                    path.mkdir(mode=0o700, parents=True, exist_ok=True)
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                source = archive.extractfile(entry)
                assert source is not None, "it is a file"
                digest = hashlib.sha256()
                with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
                    while chunk := source.read(_CHUNK):
                        digest.update(chunk)
                        out.write(chunk)
                        done += len(chunk)
                        report("checking the backup", min(done / max(info.size, 1), 1.0))
                found[entry.name] = digest.hexdigest()
            elif entry.name != _HEAD:
                raise _damaged(file)
        assert archive.fileobj is not None
        while archive.fileobj.read(_CHUNK):
            pass  # to the end, where gzip keeps its own checksum
    if not found or found != expected:
        raise _damaged(file)
    os.sync()  # on the disk before the old store is given up


def _exchange(settings: Settings, folder: DataDir, restored: Path, version: str, report: Report) -> None:
    """Put the restored store in the place of the present one, and back when no server starts on it."""
    ran = status(settings).pid is not None
    present = folder.path / "data"
    before = folder.path / f"data.before-restore-{time.time_ns()}"
    with _alone(settings, report, again=False):
        # Should this process end between the two, then the next start finds no store, and takes the old one back.
        if there := present.exists():
            present.rename(before)
        restored.rename(present)
        # Whatever Neo4j the present store belongs to: a backup is the way back from an upgrade.
        if state := folder.read_state():
            folder.write_state(state.model_copy(update={"version": version}))
    try:
        ensure_running(settings, progress=report)
    except BaseException as error:
        with _alone(settings, report, again=False):
            shutil.rmtree(present)
            if there:
                before.rename(present)
            if state:
                folder.write_state(state.model_copy(update={"pid": None, "ready": False}))
        if ran and there:
            ensure_running(settings, progress=report)
        if isinstance(error, LocalServerError):
            raise LocalServerError(
                f"the store of the backup does not start, and the one before is back: {error}", remedy=error.remedy
            ) from error
        raise
    if before.is_symlink():
        before.unlink()  # and leave what it leads to
    elif there:
        shutil.rmtree(before)
    if not ran:
        down(settings)


@contextmanager
def _failures(what: str) -> Generator[None]:
    """The system's errors, told as ours."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise LocalServerError(
            f"{what}: {error.strerror or error}",
            remedy="free some space there, or use another disk" if full else "check the path and its permissions",
        ) from error
