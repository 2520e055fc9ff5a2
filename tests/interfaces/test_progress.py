"""Progress: told when something takes more than a second, in a log as on a terminal."""

import io
import time

from rich.console import Console

from graphmem.interfaces.progress import Progress


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def a_log() -> Console:
    return Console(file=io.StringIO(), width=100, force_terminal=False)


def a_terminal() -> Console:
    return Console(file=io.StringIO(), width=100, force_terminal=True)


def test_what_is_quick_is_not_told_in_a_log() -> None:
    console = a_log()
    with Progress(console) as progress:
        progress.step("connecting")
        progress.step("reading", 0.5)
    assert shown(console) == ""


def test_a_step_that_reports_nothing_is_told_after_a_second() -> None:
    console = a_log()
    with Progress(console) as progress:
        progress.step("quick")
        progress.step("starting [red]Neo4j\x1b[31m")
        time.sleep(1.3)
    assert shown(console) == "starting [red]Neo4j[31m …, 1 s\n"


def test_a_long_step_is_not_told_again_at_every_report() -> None:
    console = a_log()
    with Progress(console) as progress:
        for done in range(15):
            progress.step("reading", done / 20, f"{done} added")
            time.sleep(0.1)
        progress.step("writing", 0.1)
        time.sleep(1.2)
    reading, writing = shown(console).splitlines()
    assert reading.startswith("reading …, ")
    assert reading.endswith("added, 1 s")
    assert "%" in reading
    assert writing == "writing …, 10%, 1 s"


def test_a_terminal_gets_a_bar_that_vanishes() -> None:
    console = a_terminal()
    with Progress(console) as progress:
        progress.step("reading [b]file[/b]\x1b[31m", 0.25, "5 [i]added")
        time.sleep(0.3)
        during = shown(console)
        progress.step("starting")
    assert "reading [b]file[/b][31m" in during
    assert "25%" in during
    assert "5 [i]added" in during
    assert shown(console).rstrip().endswith("\x1b[2K")


def test_an_error_ends_the_display() -> None:
    for console in (a_log(), a_terminal()):
        try:
            with Progress(console) as progress:
                progress.step("reading")
                raise RuntimeError
        except RuntimeError:
            pass
        before = shown(console)
        time.sleep(1.2)
        assert shown(console) == before
