"""The command line: ``graphmem COMMAND``.

Exit codes: 0 done; 1 an error, or something was refused, failed or found wrong; 2 wrong usage; 130 interrupted.
"""

from __future__ import annotations

import io
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line on ``sys.argv`` and exit."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its code instead of a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")

    try:
        from graphmem.interfaces.cli.app import run

        code = run(sys.argv[1:] or ["--help"])
    except KeyboardInterrupt:  # before a command began, or again while it was ending
        code = 130
    sys.exit(code)
