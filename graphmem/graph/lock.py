"""The lock of the embedded server's class path: read at each start, made by ``python -m graphmem.graph.lock``.

Making it walks the dependencies of three coordinates, downloads every jar, and writes coordinate, size and SHA-256
of each, in class path order. It takes a minute or two and is done once per Neo4j version, by a maintainer; users
fetch exactly what the lock pins. The lock names no repository, so that a mirror serves as well.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from pathlib import Path
from typing import Any

from graphmem.artifacts import PARALLEL, Artifact, sha256_of

NEO4J_VERSION = "2026.09.0"
ROOTS = (
    f"org.neo4j:neo4j:{NEO4J_VERSION}",
    f"org.neo4j.app:neo4j-server:{NEO4J_VERSION}",
    "org.neo4j.client:neo4j-browser:5.24.0",
)
"""What the class path is resolved from: the database, its web server, Neo4j Browser."""
LOCK = f"neo4j-{NEO4J_VERSION}.lock"
_HEADER = f"""\
# Class path of the embedded Neo4j {NEO4J_VERSION} Community: coordinate, size in bytes, SHA-256.
# Made by: python -m graphmem.graph.lock
"""


def read_lock() -> tuple[Artifact, ...]:
    """The pinned jars, in class path order."""
    text = resources.files("graphmem.graph").joinpath(LOCK).read_text("utf-8")
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return tuple(Artifact(coordinate=coordinate, sha256=sha256, size=int(size)) for coordinate, size, sha256 in rows)


def _download(jar: Any) -> Path:
    return Path(jar.resolve())


def write_lock(target: Path) -> int:
    """Resolve ``ROOTS``, download every jar from Maven Central and write the lock.

    Args:
        target: The file to write.

    Returns:
        The number of jars.
    """
    import jgo

    with tempfile.TemporaryDirectory(prefix="graphmem-lock-") as scratch:
        # Jars with a classifier are native transports of single platforms; Netty does without them.
        jars: list[Any] = [jar for jar in jgo.resolve("+".join(ROOTS)) if not jar.classifier]
        for jar in jars:
            # Another cache than ~/.m2, so that the sums are of what the repository serves today.
            jar.context.repo_cache = Path(scratch)
        with ThreadPoolExecutor(PARALLEL) as pool:
            files = list(pool.map(_download, jars))
        lines = [
            f"{jar.groupId}:{jar.artifactId}:{jar.version} {file.stat().st_size} {sha256_of(file)}\n"
            for jar, file in zip(jars, files, strict=True)
        ]
    target.write_text(_HEADER + "".join(lines), "utf-8")
    return len(lines)


if __name__ == "__main__":
    from rich.console import Console

    console = Console()
    path = Path(__file__).with_name(LOCK)
    with console.status("resolving and downloading the class path"):
        count = write_lock(path)
    console.print(f"{count} jars written to {path}")
