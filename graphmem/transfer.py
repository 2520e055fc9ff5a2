"""Moving whole agents between stores, synchronously: each verb is that of :class:`AsyncTransfer`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from graphmem.async_transfer import AsyncTransfer
from graphmem.models.exports import Exported, GraphImported
from graphmem.threads import documented_by

if TYPE_CHECKING:
    from graphmem.threads import Portal


@documented_by(AsyncTransfer)
class Transfer:
    """Exporting and importing agents, synchronously: see :class:`graphmem.memory.Memory`."""

    _transfer: AsyncTransfer
    _portal: Portal

    def export_graph(
        self,
        file: Path | str,
        *,
        agents: Sequence[str] | None = None,
        vectors: bool = True,
        progress: Callable[[int], None] | None = None,
    ) -> Exported:
        """See :meth:`AsyncTransfer.export_graph`."""
        return self._portal.call(
            partial(self._transfer.export_graph, file, agents=agents, vectors=vectors, progress=progress)
        )

    def import_graph(
        self, file: Path | str, *, prefix: str = "", progress: Callable[[int], None] | None = None
    ) -> GraphImported:
        """See :meth:`AsyncTransfer.import_graph`."""
        return self._portal.call(partial(self._transfer.import_graph, file, prefix=prefix, progress=progress))
