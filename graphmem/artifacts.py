"""Fetches artifacts of a Maven repository by coordinate, in parallel, each verified before it may be used.

Under its final name a file is always whole and verified: it is downloaded under a temporary name, checked, and
renamed. Two processes that fetch the same artifact at once both download it; the second rename replaces a file
by its equal.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphmem.errors import LocalServerError, MissingExtra

if TYPE_CHECKING:
    import httpx

PARALLEL = 16
"""Downloads at a time."""
ATTEMPTS = 3
"""Tries per file: only for failures that pass, such as a broken connection or an overloaded host."""
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_ABANDONED_AFTER = 3600.0
_NAME_IT = "a mirror can be set with GRAPHMEM_MAVEN_URL"


@dataclass(frozen=True)
class Artifact:
    """A file of a Maven repository, pinned.

    Attributes:
        coordinate: ``group:artifact:version``.
        sha256: Checksum of the jar, 64 lower-case hexadecimal digits.
        size: Length of the jar in bytes.
    """

    coordinate: str
    sha256: str
    size: int

    @property
    def path(self) -> str:
        """Where a Maven repository keeps the jar, relative to its base address."""
        group, name, version = self.coordinate.split(":")
        return f"{group.replace('.', '/')}/{name}/{version}/{name}-{version}.jar"


def fetch(
    artifacts: Sequence[Artifact],
    *,
    cache: Path,
    base_url: str | None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Path]:
    """Give the local file of each artifact, downloading those that are missing or damaged.

    Safe to call from several threads and processes at once. A file that was verified once and not touched
    since is not read again.

    Args:
        artifacts: What is needed.
        cache: Directory under which ``maven/`` is laid out as a Maven repository.
        base_url: Base address of the repository; None: Maven Central.
        progress: Called from this thread as ``progress(done_bytes, total_bytes)``, the total being that of
            the files to download; not called when nothing is missing.

    Returns:
        The file of each coordinate, in the order given.

    Raises:
        LocalServerError: When a file cannot be had, or is not the one that was pinned.
        MissingExtra: When something must be downloaded and the extra ``local`` is not installed.
    """
    root = cache / "maven"
    files = {artifact.coordinate: root / artifact.path for artifact in artifacts}
    try:
        missing = [a for a in artifacts if not _verified(files[a.coordinate], a)]
        if missing:
            parts = root / ".part"
            parts.mkdir(parents=True, exist_ok=True)
            _sweep(parts)
            _check_space(parts, sum(artifact.size for artifact in missing))
            _Download(root, parts, base_url or _maven_central(), missing).run(progress)
    except OSError as error:
        raise LocalServerError(
            f"cannot keep fetched files in {cache}: {error.strerror or error}",
            remedy="free some space there, or set GRAPHMEM_CACHE_DIR to another directory",
        ) from error
    return files


def _check_space(directory: Path, needed: int) -> None:
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise LocalServerError(
            f"{needed / 1e6:.0f} MB are to be fetched to {directory}, and its disk has {free / 1e6:.0f} MB left",
            remedy="free some space there, or set GRAPHMEM_CACHE_DIR to a directory on another disk",
        )


def sha256_of(file: Path) -> str:
    """SHA-256 of a file, as lower-case hexadecimal digits."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _maven_central() -> str:
    try:
        from jgo.constants import MAVEN_CENTRAL_URL
    except ImportError as error:
        raise MissingExtra(
            "the local server and the built-in models need packages that are not installed",
            remedy="pip install 'graphmem[local]'",
        ) from error
    return MAVEN_CENTRAL_URL


def _stamp(artifact: Artifact) -> int:
    """The modification time, in seconds, that marks a file as verified to be this artifact.

    It is taken from the checksum, so that anything that writes to the file, or another pinned checksum, makes
    the file be read and checked again. That costs one ``stat`` a file, where hashing 190 MB at each start would
    cost a second. Even, because some file systems keep time in steps of two seconds.
    """
    return 1_000_000_000 + (int(artifact.sha256[:7], 16) & ~1)


def _verified(file: Path, artifact: Artifact) -> bool:
    try:
        found = file.stat()
    except FileNotFoundError:
        return False
    if found.st_size == artifact.size:
        if int(found.st_mtime) == _stamp(artifact):
            return True
        if sha256_of(file) == artifact.sha256:
            os.utime(file, (time.time(), _stamp(artifact)))
            return True
    # Not deleted: another process may be putting a good one in its place right now.
    return False


def _sweep(parts: Path) -> None:
    """Remove what killed processes left behind; younger files may be another process's, at work."""
    for part in parts.iterdir():
        try:
            if time.time() - part.stat().st_mtime > _ABANDONED_AFTER:
                part.unlink()
        except FileNotFoundError:
            continue  # the process at work renamed it meanwhile


class _Stopped(Exception):
    """Another download failed, so this one ends as well."""


class _Download:
    """One parallel download of several artifacts."""

    def __init__(self, root: Path, parts: Path, base_url: str, artifacts: Sequence[Artifact]) -> None:
        self.root = root
        self.parts = parts
        self.base_url = base_url.rstrip("/")
        self.artifacts = artifacts
        self.total = sum(artifact.size for artifact in artifacts)
        self.done = 0
        self.lock = threading.Lock()
        self.stop = threading.Event()

    def run(self, progress: Callable[[int, int], None] | None) -> None:
        try:
            import httpx
        except ImportError as error:
            raise MissingExtra(
                "downloading needs a package that is not installed", remedy="pip install 'graphmem[local]'"
            ) from error
        limits = httpx.Limits(max_connections=PARALLEL, max_keepalive_connections=PARALLEL)
        # httpx brings certificates of its own. The system's count as well: that is where the ones of a company's
        # proxy are, and what it serves is compared with the pinned checksums in any case.
        trusted = httpx.create_ssl_context()
        trusted.load_default_certs()
        with (
            httpx.Client(verify=trusted, limits=limits, timeout=httpx.Timeout(30.0), follow_redirects=True) as client,
            ThreadPoolExecutor(PARALLEL, thread_name_prefix="graphmem-fetch") as pool,
        ):
            # The longest first, so that none is left running alone at the end.
            order = sorted(self.artifacts, key=lambda artifact: -artifact.size)
            jobs = [pool.submit(self._one, client, artifact) for artifact in order]
            try:
                self._wait(jobs, progress)
            finally:
                self.stop.set()
                for job in jobs:
                    job.cancel()

    def _wait(self, jobs: list[Future[None]], progress: Callable[[int, int], None] | None) -> None:
        pending = set(jobs)
        while pending:
            finished, pending = wait(pending, timeout=0.1, return_when=FIRST_EXCEPTION)
            if progress:
                progress(self.done, self.total)
            for job in finished:
                job.result()

    def _one(self, client: httpx.Client, artifact: Artifact) -> None:
        import httpx

        url = f"{self.base_url}/{artifact.path}"
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._attempt(client, url, artifact)
                return
            except httpx.HTTPStatusError as error:
                status = error.response.status_code
                if status not in _PASSING or attempt == ATTEMPTS:
                    raise LocalServerError(
                        f"{artifact.coordinate}: {error.request.url.host} answered {status} for {url}",
                        remedy=f"check that the address is that of a Maven repository; {_NAME_IT}"
                        if status not in _PASSING
                        else f"try again later; {_NAME_IT}",
                    ) from error
            except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
                raise _bad_address(self.base_url) from error
            except httpx.HTTPError as error:
                if attempt == ATTEMPTS:
                    reason = str(error) or type(error).__name__
                    raise LocalServerError(
                        f"{artifact.coordinate} could not be fetched from {httpx.URL(url).host}: {reason}",
                        remedy=f"check the network connection to {httpx.URL(url).host}; {_NAME_IT}",
                    ) from error
            if self.stop.wait(0.5 * 2 ** (attempt - 1)):
                raise _Stopped

    def _attempt(self, client: httpx.Client, url: str, artifact: Artifact) -> None:
        descriptor, name = tempfile.mkstemp(dir=self.parts, suffix=".part")
        part = Path(name)
        counted = 0
        try:
            digest, size = hashlib.sha256(), 0
            # A jar is compressed already; "identity" also makes the length on the wire the file's own.
            with (
                os.fdopen(descriptor, "wb") as out,
                client.stream("GET", url, headers={"Accept-Encoding": "identity"}) as response,
            ):
                response.raise_for_status()
                for chunk in response.iter_bytes(1 << 16):
                    if self.stop.is_set():
                        raise _Stopped
                    size += len(chunk)
                    if size > artifact.size:
                        break
                    digest.update(chunk)
                    out.write(chunk)
                    counted += len(chunk)
                    self._count(len(chunk))
            self._check(artifact, url, size, digest.hexdigest())
            # mkstemp makes the file private; a cache shared by several users must be readable by them.
            part.chmod(0o644)
            os.utime(part, (time.time(), _stamp(artifact)))
            file = self.root / artifact.path
            file.parent.mkdir(parents=True, exist_ok=True)
            part.replace(file)
        except BaseException:
            part.unlink(missing_ok=True)
            self._count(-counted)
            raise

    def _count(self, size: int) -> None:
        with self.lock:
            self.done += size

    @staticmethod
    def _check(artifact: Artifact, url: str, size: int, sha256: str) -> None:
        if size == artifact.size and sha256 == artifact.sha256:
            return
        if size == artifact.size:
            found = f"SHA-256 {sha256} instead of {artifact.sha256}"
        elif size > artifact.size:
            found = f"more than {artifact.size} bytes"
        else:
            found = f"{size} bytes instead of {artifact.size}"
        raise LocalServerError(
            f"{artifact.coordinate}: {url} served another file than the one pinned ({found}); it was deleted",
            remedy=f"try again; if it stays so, the repository or a proxy alters files ({_NAME_IT})",
        )


def _bad_address(base_url: str) -> LocalServerError:
    return LocalServerError(
        f"{base_url!r} is not the address of a Maven repository",
        remedy="set GRAPHMEM_MAVEN_URL to an https:// address, or unset it",
    )
