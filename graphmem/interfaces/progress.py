"""Progress on standard error: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from graphmem.views.text import one_line, shortened

_SECONDS_TO_FIRST_LINE = 1.0
_SECONDS_BETWEEN_LINES = 5.0
_BAR = 20
"""Columns of the bar."""
_BESIDE_LABEL = 70
"""Columns that the bar and all the others take."""
_SHORTEST_LABEL = 12


class Progress:
    """Shows one step after the other; a context.

    On a terminal the bars vanish at the end. Elsewhere a line is written once a step has lasted a second, and
    every five seconds from then on, so that a log tells what takes so long without being filled.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._shown: _Bar | _Log = _Bar(console) if console.is_terminal else _Log(console)

    def __enter__(self) -> Progress:
        self._shown.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shown.stop()

    def step(self, label: str, fraction: float | None = None, detail: str = "") -> None:
        """Say what is being done and how far it is.

        Args:
            label: What is done; a new label is a new step.
            fraction: In [0, 1]; None when it cannot be known.
            detail: More about the state of this step.
        """
        self._shown.show(_State(one_line(label), fraction, one_line(detail)))


@dataclass(frozen=True, slots=True)
class _State:
    label: str
    fraction: float | None
    detail: str


class _Bar:
    """One bar, of the present step."""

    def __init__(self, console: Console) -> None:
        self._label = ""
        self._task: TaskID | None = None
        self._bars = Bars(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=_BAR),
            TaskProgressColumn(),
            TextColumn("{task.fields[detail]}", markup=False, style="dim"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )

    def start(self) -> None:
        self._bars.start()

    def stop(self) -> None:
        self._bars.stop()

    def show(self, state: _State) -> None:
        if self._task is None or state.label != self._label:
            if self._task is not None:
                self._bars.remove_task(self._task)
            # Where a line is too short for all, rich takes the bar and the per cent away first.
            label = shortened(state.label, max(_SHORTEST_LABEL, self._bars.console.width - _BESIDE_LABEL))
            self._task = self._bars.add_task(label, total=None, detail=state.detail)
            self._label = state.label
        if state.fraction is None:
            self._bars.update(self._task, detail=state.detail)
        else:
            self._bars.update(self._task, total=1.0, completed=state.fraction, detail=state.detail)


class _Log:
    """Lines, written by a thread, so that a step which reports nothing is told of too."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._state: _State | None = None
        self._since = 0.0
        self._changed = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._write, name="progress", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify()
        self._thread.join()

    def show(self, state: _State) -> None:
        with self._changed:
            if self._state is None or state.label != self._state.label:
                self._since = time.monotonic()
                self._changed.notify()
            self._state = state

    def _write(self) -> None:
        told = 0.0
        with self._changed:
            while not self._stopped:
                now = time.monotonic()
                first = told < self._since
                due = self._since + _SECONDS_TO_FIRST_LINE if first else told + _SECONDS_BETWEEN_LINES
                if self._state is None:
                    self._changed.wait()
                elif now < due:
                    self._changed.wait(due - now)
                else:
                    self._console.print(_line(self._state, now - self._since), markup=False, soft_wrap=True)
                    told = now


def _line(state: _State, seconds: float) -> str:
    percent = "" if state.fraction is None else f"{state.fraction:.0%}"
    return ", ".join(part for part in (f"{state.label} …", percent, state.detail, f"{seconds:.0f} s") if part)
