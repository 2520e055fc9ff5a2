"""Files that are there only once they are whole, and never in the place of another's."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_NAME = 100
"""How much of the file's name its part is called by: names have an end."""


@contextmanager
def new_file(target: Path) -> Generator[BinaryIO]:
    """Open a new file, for its owner only, to write and read; it gets its name when the block ends well.

    Meanwhile it is a file of its own name beside it, so that nobody else's is touched, and deleted when anything fails.

    Raises:
        FileExistsError: When something has that name, be it only at the end; that stays as it is.
        OSError: When it cannot be written.
    """
    if os.path.lexists(target):
        raise FileExistsError
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f"{target.name[:_NAME]}.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(descriptor, "w+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        _put(part, target)
    finally:
        part.unlink(missing_ok=True)


def _put(part: Path, target: Path) -> None:
    """Give a file its name, unless something has it."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links. The name is taken first, which only one can do.
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            part.replace(target)
        except BaseException:
            with suppress(FileNotFoundError):
                target.unlink()
            raise
