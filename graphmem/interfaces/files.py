"""Files that a person names: opened in one place, so that what is wrong with one is told alike everywhere."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from graphmem.errors import InvalidFile


def checked_file(file: Path, *, empty: bool = False) -> Path:
    """A file that is there and may be read. It is not opened: a pipe can be opened only once.

    Args:
        file: What a person named.
        empty: Whether it may be empty.

    Raises:
        InvalidFile: When it is missing, a folder, empty, or may not be read.
    """
    try:
        if file.is_dir():
            raise InvalidFile(f"{file} is a folder, not a file", remedy="name a file in it")
        if not file.exists():
            raise InvalidFile(f"there is no file {file}", remedy=_look(file))
        if not os.access(file, os.R_OK):
            raise InvalidFile(f"{file} may not be read", remedy="give yourself the right to: chmod u+r")
        if not empty and file.is_file() and not file.stat().st_size:
            raise InvalidFile(f"{file} is empty", remedy="name a file with something in it")
    except OSError as error:
        raise _unreadable(file, error) from error
    return file


def checked_folder(folder: Path) -> Path:
    """A folder that is there and may be read.

    Raises:
        InvalidFile: When it is missing, a file, or may not be read.
    """
    if folder.is_file():
        raise InvalidFile(f"{folder} is a file, not a folder", remedy="name the folder that it is in")
    if not folder.is_dir():
        raise InvalidFile(f"there is no folder {folder}", remedy=_look(folder))
    if not os.access(folder, os.R_OK | os.X_OK):
        raise InvalidFile(f"{folder} may not be read", remedy="give yourself the right to: chmod u+rx")
    return folder


@contextmanager
def opened(file: Path, *, empty: bool = False) -> Generator[BinaryIO]:
    """A file to be read as bytes, from its beginning.

    Raises:
        InvalidFile: As :func:`checked_file`, or when it cannot be opened.
    """
    checked_file(file, empty=empty)
    try:
        stream = file.open("rb")
    except OSError as error:
        raise _unreadable(file, error) from error
    with stream:
        yield stream


def read_text(file: Path, *, empty: bool = False) -> str:
    """All of a text in UTF-8; a byte order mark at its beginning is left out.

    Raises:
        InvalidFile: As :func:`opened`, when reading fails, or when it is not UTF-8.
    """
    with opened(file, empty=empty) as stream:
        try:
            raw = stream.read()
        except OSError as error:
            raise _unreadable(file, error) from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidFile(
            f"{file} is not UTF-8: byte 0x{raw[error.start]:02x} at {error.start + 1:,}",
            remedy=f"save it as UTF-8; from Latin-1, say: iconv -f LATIN1 -t UTF-8 {file.name}",
        ) from error


def write_text(file: Path, text: str) -> None:
    """Write a text in UTF-8, over what was there.

    Raises:
        InvalidFile: When it cannot be written.
    """
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise InvalidFile(
            f"{file} cannot be written: {error.strerror}", remedy="name a file in a folder that you may write to"
        ) from error


def _look(path: Path) -> str:
    """Where the name leads, for whoever was in another folder than they thought."""
    return f"check its name, or where you are: {path.absolute().parent}"


def _unreadable(file: Path, error: OSError) -> InvalidFile:
    return InvalidFile(f"{file} cannot be read: {error.strerror}", remedy="check the file and the disk that it is on")
