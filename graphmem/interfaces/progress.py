"""Progress on standard error: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from graphmem.views.text import one_line

_SECONDS_BETWEEN_LINES = 5.0


class Progress:
    """Shows one step after the other; a context.

    On a terminal the bars vanish at the end. Elsewhere a line is written when a step begins, and every five
    seconds while it lasts, so that a log tells what takes so long without being filled.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._label = ""
        self._task: TaskID | None = None
        self._told = 0.0
        self._bars: Bars | None = None
        if console.is_terminal:
            self._bars = Bars(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TaskProgressColumn(),
                TextColumn("{task.fields[detail]}", markup=False, style="dim"),
                TimeElapsedColumn(),
                console=console,
                transient=True,
            )

    def __enter__(self) -> Progress:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def step(self, label: str, fraction: float | None = None, detail: str = "") -> None:
        """Say what is being done and how far it is.

        Args:
            label: What is done; a new label is a new step.
            fraction: In [0, 1]; None when it cannot be known.
            detail: More about the state of this step.
        """
        label = one_line(label)
        if self._bars is None:
            self._line(label, fraction, detail)
        else:
            self._bar(self._bars, label, fraction, detail)
        self._label = label

    def _bar(self, bars: Bars, label: str, fraction: float | None, detail: str) -> None:
        if self._task is None or label != self._label:
            if self._task is not None:
                bars.remove_task(self._task)
            self._task = bars.add_task(label, total=None, detail=detail)
        if fraction is None:
            bars.update(self._task, detail=detail)
        else:
            bars.update(self._task, total=1.0, completed=fraction, detail=detail)

    def _line(self, label: str, fraction: float | None, detail: str) -> None:
        now = time.monotonic()
        if label == self._label and now - self._told < _SECONDS_BETWEEN_LINES:
            return
        self._told = now
        percent = f"{fraction:.0%}" if fraction is not None and label == self._label else ""
        state = ", ".join(part for part in (percent, detail) if part)
        self.console.print(f"{label}: {state}" if state else f"{label} …", markup=False, soft_wrap=True)
