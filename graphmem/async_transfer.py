"""What moves whole agents between stores: the part of the store's handle that is about files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from graphmem.cognition import export, load
from graphmem.cognition.engine import Engine
from graphmem.cognition.given import checked_list
from graphmem.models.exports import Exported, GraphImported
from graphmem.tracing import traced


@traced
class AsyncTransfer:
    """Exporting and importing agents: see :class:`graphmem.memory.AsyncMemory`."""

    _engine: Engine

    async def export_graph(
        self,
        file: Path | str,
        *,
        agents: Sequence[str] | None = None,
        vectors: bool = True,
        progress: Callable[[int], None] | None = None,
    ) -> Exported:
        """Write all that belongs to these agents (all of them) to a new file of JSON lines.

        Memories of every status, relationships with their properties, runs, changes and places; each agent as it was at
        one moment. The file is there only once it is whole, and for its owner only. Without ``vectors`` it is a fifth
        as long, and texts are embedded again after an import. ``progress`` is told how many memories are written.

        Raises:
            InvalidInput: When the file is there already or cannot be written.
            UnknownAgent: When there is no such agent.
            ChangedMeanwhile: When an agent is written to all the time.
        """
        given = checked_list(agents, "agents") if agents is not None else None
        return await export.export_graph(self._engine, Path(file), agents=given, vectors=vectors, progress=progress)

    async def import_graph(
        self, file: Path | str, *, prefix: str = "", progress: Callable[[int], None] | None = None
    ) -> GraphImported:
        """Store the agents of an export as they were: the same ids, times, statuses, relationships, ranking.

        The whole file is checked before anything is written; cut off while it writes, the same call goes on, and done
        it adds nothing. ``prefix`` is put before each agent's id. ``progress`` is told which line is reached.

        Raises:
            InvalidInput: When the file cannot be read, has an unknown version, or a line is damaged: it is named.
            AgentNotEmpty: When one of the agents remembers something already that is not of this file.
        """
        return await load.import_graph(self._engine, Path(file), prefix=prefix, progress=progress)
