"""Files that a person names: what is wrong with one is told alike by every command, before a store is opened."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem.errors import InvalidFile
from graphmem.interfaces.files import read_text, write_text
from tests.interfaces.conftest import RunCli

READING: dict[str, Callable[[str], list[str]]] = {
    "ingest": lambda file: ["ingest", file, "--agent", "a"],
    "try": lambda file: ["try", file, "Where is the key?"],
    "import": lambda file: ["import", file],
    "import mem0": lambda file: ["import", file, "--format", "mem0"],
    "import letta": lambda file: ["import", file, "--format", "letta"],
    "calibrate": lambda file: ["calibrate", file, "--agent", "a"],
    "evaluate": lambda file: ["evaluate", "--agent", "a", "--questions", file],
    "interview": lambda file: ["interview", "--rankings", file],
    "simulate --world": lambda file: ["simulate", "--world", f"{file}.toml"],
    "restore": lambda file: ["restore", file, "--yes"],
    "retrieve --profile": lambda file: ["retrieve", "x", "--agent", "a", "--profile", file],
}
"""Every command that takes a file to read."""
FOLDERS: dict[str, Callable[[str], list[str]]] = {
    "demo": lambda folder: ["demo", "--seeds", folder],
    "simulate --seeds": lambda folder: ["simulate", "--seeds", folder],
    "import-simulation": lambda folder: ["import-simulation", folder],
}
LINES = {"ingest", "import", "restore"}
"""What is read line by line, or is no text: that names the line, or says that it is none of its files."""


def call(offline: RunCli, arguments: list[str]) -> tuple[str, str]:
    """Error and remedy of a command that must not come as far as the server."""
    own = [] if arguments[0] == "restore" else ["--uri", "bolt://127.0.0.1:1"]
    result = offline(*arguments, *own)
    assert (result.code, result.out) == (2, ""), result.err
    error, remedy = result.complaints.splitlines()
    return error.removeprefix("error: "), remedy.removeprefix("remedy: ")


@pytest.fixture(params=READING)
def reading(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Path]:
    """A command, and the file that it is given."""
    monkeypatch.chdir(tmp_path)
    name = request.param
    return name, Path("given.toml" if name == "simulate --world" else "given")


def arguments_for(reading: tuple[str, Path]) -> list[str]:
    return READING[reading[0]]("given")


def test_a_file_that_is_missing(reading: tuple[str, Path], offline: RunCli, tmp_path: Path) -> None:
    name, file = reading
    error, remedy = call(offline, arguments_for(reading))
    if name == "retrieve --profile":
        assert error == "there is no profile 'given', and no file of that name"
        assert remedy.startswith("name paper or recall, or a file")
    else:
        assert error == f"there is no file {file}"
        assert remedy == f"check its name, or where you are: {tmp_path}"


def test_a_folder_in_the_place_of_a_file(reading: tuple[str, Path], offline: RunCli) -> None:
    reading[1].mkdir()
    assert call(offline, arguments_for(reading)) == (f"{reading[1]} is a folder, not a file", "name a file in it")


def test_a_file_that_is_empty(reading: tuple[str, Path], offline: RunCli) -> None:
    reading[1].touch()
    if reading[0] == "simulate --world":
        return  # A world of which nothing is said is told by what it lacks.
    assert call(offline, arguments_for(reading))[0] == f"{reading[1]} is empty"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(reading: tuple[str, Path], offline: RunCli) -> None:
    reading[1].write_text("x\n", "utf-8")
    reading[1].chmod(0)
    error, remedy = call(offline, arguments_for(reading))
    assert (error, remedy) == (f"{reading[1]} may not be read", "give yourself the right to: chmod u+r")


def test_a_file_that_is_not_utf_8(reading: tuple[str, Path], offline: RunCli) -> None:
    if reading[0] in LINES:
        return
    reading[1].write_bytes(b"caf\xe9\n")
    error, remedy = call(offline, arguments_for(reading))
    assert error == f"{reading[1]} is not UTF-8: byte 0xe9 at 4"
    assert remedy.endswith(f"iconv -f LATIN1 -t UTF-8 {reading[1]}")


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_is_none(name: str, offline: RunCli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = FOLDERS[name]("given")
    assert call(offline, arguments) == ("there is no folder given", f"check its name, or where you are: {tmp_path}")
    Path("given").write_text("x", "utf-8")
    assert call(offline, arguments) == ("given is a file, not a folder", "name the folder that it is in")


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (["interview", "--rankings", "there.csv"], "key.json"),
        (["demo", "--seeds", "stories"], "stories/ada/agent.toml"),
        (["simulate", "--seeds", "stories"], "stories/world.toml"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_file_beside_the_one_named_is_told_by_its_own_name(
    arguments: list[str], file: str, offline: RunCli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("stories/ada").mkdir(parents=True)
    Path("there.csv").write_text("rater,question,A,B,C,D\n", "utf-8")
    assert call(offline, arguments)[0] == f"there is no file {file}"


def test_a_pipe_is_read_once_and_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    marked = tmp_path / "marked"
    marked.write_bytes(b"\xef\xbb\xbftext")
    assert read_text(marked) == "text"
    ours, theirs = os.pipe()
    os.write(theirs, b"from a pipe")
    os.close(theirs)
    assert read_text(Path(f"/dev/fd/{ours}")) == "from a pipe"
    os.close(ours)


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=r"no/such cannot be written: No such file or directory"):
        write_text(tmp_path / "no" / "such", "text")
    with pytest.raises(InvalidFile, match=r"cannot be written: Is a directory"):
        write_text(tmp_path, "text")
