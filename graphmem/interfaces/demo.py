"""The demo: agents' days, what they conclude, a memory that turns out wrong, and what follows from it.

Everything it says happened is read back from the store, and what must hold by the rules is checked on the way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import contextmanager
from datetime import datetime
from itertools import count

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from graphmem.agent import Agent
from graphmem.errors import GraphmemError
from graphmem.graph.browser import browser_address, browser_query
from graphmem.interfaces.progress import Progress
from graphmem.interfaces.seeds import AgentSeed, Ask, Change, Day, Seeds
from graphmem.memory import Memory
from graphmem.models import ChangeReport, Provenance, RecomputeReport, ReflectReport, Weights
from graphmem.views.scores import Scores
from graphmem.views.text import one_line, shortened
from graphmem.views.tree import StatusWords, tree

_ROWS = 60
"""Rows of a tree; it counts what is left out."""
_LONGEST = 300
_COLOURS = {"confirmed": "green", "revised": "yellow", "retracted": "red", "failed": "bold red"}


def run(memory: Memory, seeds: Seeds, console: Console) -> None:
    """Play a folder of stories on a store, telling what happens.

    The agents get ids of their own, ``demo-<folder>``, from the second run on ``demo-<folder>-2`` and so on, so that
    a run neither meets what an earlier one left nor touches an agent of the same name.

    Args:
        memory: An open store.
        seeds: The stories, as :func:`~graphmem.interfaces.seeds.load_seeds` reads them.
        console: Where to tell it.

    Raises:
        GraphmemError: When a verb fails, or something is not as the rules have it.
    """
    _Demo(memory, seeds, console).run()


class _Demo:
    """One run; a method a scene."""

    def __init__(self, memory: Memory, seeds: Seeds, console: Console) -> None:
        self.memory = memory
        self.seeds = seeds
        self.console = console
        taken = {info.id for info in memory.agents()}
        self.agents: dict[str, Agent] = {
            seed: memory.agent(given) for seed, given in free_ids([a.id for a in seeds.agents], taken).items()
        }
        self._scenes = 0

    def run(self) -> None:
        self._introduce()
        self._live()
        for ask in self.seeds.asks:
            self._ask(ask)
        for seed in self.seeds.agents:
            self._believe(seed)
            if self._changes(seed):
                self._change_mind(seed)
        self._look()

    # --- scenes ---------------------------------------------------------------------------------------------------

    def _introduce(self) -> None:
        self._scene("The stories", str(self.seeds.folder))
        for seed in self.seeds.agents:
            line = Text(seed.name, style="bold")
            line.append(f"  agent {self.agents[seed.id].id}", style="not bold cyan")
            line.append(f"  {_count(len(seed.days), 'day')}, {_count(len(seed.observations), 'observation')}")
            self.console.print(line)
            if seed.config.traits:
                self.console.print(Padding(Text(one_line(seed.config.traits), style="dim"), (0, 0, 0, 2)))
        if not self.seeds.asks:
            self._note("There is no [[ask]] in changes.toml, so nothing will be retrieved.")
        if not self.seeds.changes:
            self._note("There is no [[change]] in changes.toml, so nothing will be superseded and recomputed.")

    def _live(self) -> None:
        self._scene("Their days", "each evening the agent reflects, if enough of importance happened")
        for seed in self.seeds.agents:
            handle = self.agents[seed.id]
            handle.configure(**seed.config.model_dump(exclude_none=True))
            for day in seed.days:
                self._observe(seed, day)
                self._reflect(seed, day)
            stored = handle.info().observations
            _must(stored == len(seed.observations), f"{stored} of {len(seed.observations)} observations stored")

    def _observe(self, seed: AgentSeed, day: Day) -> None:
        total = len(day.observations)
        with self._bar(f"{seed.name}, {day.name}: observes") as show:
            report = self.agents[seed.id].observe_many(
                day.observations, now=day.ends, progress=lambda done: show(done, total - done)
            )
        if report.not_embedded:
            self._note(f"{len(report.not_embedded)} of them could not be embedded and count as relevance 0.")

    def _reflect(self, seed: AgentSeed, day: Day) -> None:
        handle = self.agents[seed.id]
        gathered = handle.info().importance_since_reflection
        with self._bar(f"{seed.name}, {day.name}: reflects"):
            report = handle.reflect(now=day.ends)
            if report.outcome == "not_due":
                told = f"importance {gathered} is under {report.threshold}, reflecting all the same: "
                report = handle.reflect(force=True, now=day.ends)
            elif report.outcome == "reflected":
                _must(gathered >= report.threshold, f"reflected at {gathered} of {report.threshold}")
                told = f"importance {gathered} has reached {report.threshold}: "
            else:
                told = ""
        self.console.print(Padding(Text(told, "dim").append_text(_reflected(report)), (0, 0, 0, 2)))

    def _ask(self, ask: Ask) -> None:
        self._scene("A retrieval", "score = relevance + recency + importance, each scaled to 0–1 over all memories")
        self._retrieve(ask, ask.at, Weights())

    def _ask_again(self, ask: Ask, now: datetime) -> None:
        # What replaced a memory is as old as it and was never accessed: recency would hide that it is found.
        self._scene("The same question again", "by relevance alone, whenever it happened and however important")
        self._retrieve(ask, now, Weights(recency=0, importance=0))

    def _retrieve(self, ask: Ask, now: datetime, weights: Weights) -> None:
        handle = self.agents[ask.agent]
        with self._bar("retrieving"):
            hits = handle.retrieve(ask.query, k=ask.k, weights=weights, now=now)
        self.console.print(Text.assemble((handle.id, "cyan"), f"  “{one_line(ask.query)}”"))
        self.console.print(Scores(hits))
        for hit in hits:
            total = hit.relevance.contribution + hit.recency.contribution + hit.importance.contribution
            _must(abs(hit.score - total) < 1e-6, f"a score of {hit.score} whose parts add up to {total}")
            _must(hit.memory.status == "active", f"{hit.memory.id} is {hit.memory.status} and was retrieved")

    def _believe(self, seed: AgentSeed) -> None:
        """Draw what is about to change, or everything where nothing is."""
        self._scene(f"What {seed.name} believes, and why", "each insight above the memories that it cites")
        provenance = self.agents[seed.id].tree()
        changes = self._changes(seed)
        shown = _part(provenance, [change.memory for change in changes]) if changes else provenance
        if shown.roots:
            self.console.print(tree(shown, limit=_ROWS))
        if more := len(provenance.roots) - len(shown.roots):
            self._note(f"… and {_count(more, 'more tree')}: graphmem tree --agent {self.agents[seed.id].id}")
        if not provenance.roots:
            self._note("No insight yet: these days do not come back to the same things often enough.")

    def _change_mind(self, seed: AgentSeed) -> None:
        handle = self.agents[seed.id]
        changes = self._changes(seed)
        self._scene(f"{seed.name} learns better", "what rests on it turns stale in the same transaction")
        stale = [memory.id for change in changes for memory in self._supersede(seed, change).stale]
        if not stale:
            self._note("Nothing rested on what was superseded, so there is nothing to recompute.")
            return

        self._scene("Recomputing what is stale", "from the bottom up, each on the evidence that holds now")
        now = max(change.at for change in changes)
        with self._bar("recomputing") as show:
            report = handle.recompute(now=now, progress=show)
        self.console.print(_outcomes(report))
        provenance = handle.tree()
        _sound(provenance)
        if not report.count("failed"):
            _must(not report.remaining, f"{report.remaining} memories are stale after recomputing")

        self._scene(f"What {seed.name} believes now", "what was retracted is gone from it, but still in the graph")
        held = {item.new_id or item.id for item in report.items if item.outcome != "retracted"}
        after = _part(provenance, held)
        if after.roots:
            self.console.print(tree(after, limit=_ROWS))
        else:
            self._note("None of what had turned stale is held any more.")
        for ask in self.seeds.asks:
            if ask.agent == seed.id:
                self._ask_again(ask, now)

    def _supersede(self, seed: AgentSeed, change: Change) -> ChangeReport:
        handle = self.agents[seed.id]
        before = handle.tree()
        expected = {id_ for id_ in _above(before, change.memory) if before.memories[id_].status == "active"}
        report = handle.supersede(
            change.memory, text=change.text, mode=change.mode, reason=change.reason, now=change.at
        )
        after = handle.tree()
        self.console.print(_told(change, report, after))
        ended = handle.get(change.memory).status
        _must(ended == "superseded", f"{change.memory} is {ended} after it was superseded")
        turned = {memory.id for memory in report.stale}
        _must(turned == expected, f"{sorted(turned)} turned stale, {sorted(expected)} rest on {change.memory}")
        for id_ in turned:
            _must(after.memories[id_].status == "stale", f"{id_} is {after.memories[id_].status}, not stale")
        return report

    def _look(self) -> None:
        self._scene("See it as a picture")
        settings = self.memory.settings
        ids = [agent.id for agent in self.agents.values()]
        query = browser_query("beliefs", agents=ids)
        if self.memory.browser_url is None:
            self._line("open", f"Neo4j Browser of your server at {self.memory.uri}")
            self._line("sign in", f"as {settings.user}, with your password")
        else:
            # Terminals that know links open it with the query filled in.
            link = f"cyan link {browser_address(self.memory.browser_url, query)}"
            self._line("open", self.memory.browser_url, link)
            password = settings.data_dir / "password"
            self._line(
                "sign in", f"as {settings.user}; the password is in {password} (graphmem browser --show-password)"
            )
        self._line("run", one_line(query), "cyan")
        for id_ in ids:
            self._line("go on", f"graphmem tree --agent {id_}")

    # --- how it is told -------------------------------------------------------------------------------------------

    def _changes(self, seed: AgentSeed) -> list[Change]:
        return [change for change in self.seeds.changes if change.agent == seed.id]

    def _scene(self, title: str, more: str = "") -> None:
        self._scenes += 1
        self.console.print()
        self.console.rule(Text(f"{self._scenes}  {title}", style="bold"), align="left", style="dim")
        if more:
            self.console.print(Text(more, style="dim italic"))

    def _line(self, label: str, text: str, style: str = "") -> None:
        """A line that the terminal wraps, so that what is copied from it stays whole."""
        self.console.print(Text.assemble((f"{label:<9}", "dim"), (text, style)), soft_wrap=True)

    def _note(self, text: str) -> None:
        self.console.print(Text(text, style="yellow"))

    @contextmanager
    def _bar(self, label: str) -> Generator[Callable[[int, int], None]]:
        """A progress bar; gives a function that takes how many are done and how many are left."""
        with Progress(self.console) as progress:
            progress.step(label)
            yield lambda done, left: progress.step(label, done / (done + left) if left else 1.0)


def free_ids(names: Iterable[str], taken: Collection[str]) -> dict[str, str]:
    """An id for each agent that no agent of the store has; all of a run end in the same number."""
    names = list(names)
    for run_number in count(1):
        ids = {name: f"demo-{name}" + (f"-{run_number}" if run_number > 1 else "") for name in names}
        if not set(ids.values()) & set(taken):
            return ids
    raise AssertionError("the numbers do not end")


def _must(holds: bool, otherwise: str) -> None:
    """Check what the rules guarantee.

    Raises:
        GraphmemError: When it does not hold.
    """
    if not holds:
        raise GraphmemError(f"the demo found what must not be: {otherwise}", remedy="please report this")


def _reflected(report: ReflectReport) -> Text:
    if report.outcome == "nothing_to_reflect_on":
        return Text("too few memories to reflect on", style="yellow")
    text = Text(_count(len(report.reflections), "insight"), style="bold")
    if report.reflections:
        deepest = max(reflection.depth for reflection in report.reflections)
        text.append(f", the highest at depth {deepest}", style="not bold")
    if report.reinforced:
        text.append(f", {_count(len(report.reinforced), 'earlier one')} reinforced", style="not bold")
    if report.refused:
        text.append(f", {len(report.refused)} refused by a gate", style="not bold")
    return text


def _told(change: Change, report: ChangeReport, after: Provenance) -> Table:
    """What was superseded by what and why, and everything that turned stale, with the reason."""
    table = _grid()
    table.add_row("was", Text(one_line(report.memory.text), style="strike dim"))
    table.add_row("is", Text(one_line(change.text), style="green"))
    table.add_row("because", Text(f"{one_line(change.reason)} ({change.mode})"))
    if not report.stale:
        table.add_row("so", Text("nothing turned stale: nothing rested on it, or that was stale already"))
    words = StatusWords(after)
    for memory in report.stale:
        text = Text(shortened(memory.text, 90))
        table.add_row(f"stale, depth {memory.depth}", text.append(f"  {words.of(memory.id)}", style="yellow"))
    table.add_row()
    return table


def _outcomes(report: RecomputeReport) -> Table:
    table = _grid()
    for item in report.items:
        told = Text(shortened(item.before, _LONGEST), style="" if item.outcome == "confirmed" else "dim")
        if item.outcome == "revised" and item.after is not None:
            told.append(f"\n→ {shortened(item.after, _LONGEST)}", style="not dim")
        if item.reason:
            told.append(f"\n{one_line(item.reason)}", style="not dim italic")
        table.add_row(Text(item.outcome, style=_COLOURS[item.outcome]), told)
    return table


def _grid() -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    return table


# --- reading a provenance -----------------------------------------------------------------------------------------


def _above(provenance: Provenance, memory_id: str) -> set[str]:
    """Everything that rests on a memory through current grounds, at any depth."""
    upper: dict[str, list[str]] = {}
    for ground in provenance.grounds:
        if ground.until is None:
            upper.setdefault(ground.target, []).append(ground.source)
    found: set[str] = set()
    queue = deque([memory_id])
    while queue:
        for source in upper.get(queue.popleft(), []):
            if source not in found:
                found.add(source)
                queue.append(source)
    return found


def _part(provenance: Provenance, wanted: Iterable[str]) -> Provenance:
    """The trees in which one of these memories stands."""
    keep: set[str] = set()
    for memory_id in wanted:
        keep |= {memory_id, *_above(provenance, memory_id)}
    return provenance.model_copy(update={"roots": tuple(root for root in provenance.roots if root in keep)})


def _sound(provenance: Provenance) -> None:
    """Check the one rule: nothing active rests on anything that has ended or is stale."""
    for ground in provenance.grounds:
        upper = provenance.memories[ground.source]
        lower = provenance.memories[ground.target]
        if ground.until is None and upper.status == "active":
            _must(lower.status == "active", f"{upper.id} is active and rests on {lower.id}, {lower.status}")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
