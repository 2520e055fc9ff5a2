"""A simulation as one web page that holds all it needs: who was where, said what, planned what, and on what grounds.

Everything that a memory says is text: it is escaped, never markup. The page loads nothing and sends nothing.
"""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from graphmem.models import Observation, Plan
from graphmem.models.society import Remembered, Replay, Step

_COLOURS = (
    "#4e79a7",
    "#f28e2b",
    "#59a14f",
    "#b07aa1",
    "#e15759",
    "#76b7b2",
    "#9c755f",
    "#edc948",
    "#ff9da7",
    "#86bcb6",
)
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; } h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
table { border-collapse: collapse; } td, th { padding: .15rem .5rem; text-align: left; vertical-align: top; }
.figures td, .figures th { border-bottom: 1px solid #8884; } .num { text-align: right; }
.scroll { overflow-x: auto; } .line { display: flex; height: 1.6rem; min-width: 60rem; }
.line i { display: block; overflow: hidden; white-space: nowrap; font: 11px/1.6rem system-ui; padding-left: 3px;
  color: #fff; box-sizing: border-box; border-right: 1px solid #fff8; }
.hours { display: flex; min-width: 60rem; font-size: 11px; opacity: .7; } .hours span { box-sizing: border-box; }
.talk { border-left: 3px solid #8886; padding-left: .7rem; margin: .6rem 0; }
.dim { opacity: .65; font-size: .85em; } .broken { color: #c22; font-weight: 600; }
li { margin: .15rem 0; } li:target, p:target { background: #fd06; }
.superseded { text-decoration: line-through; opacity: .6; }
.now { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .6rem; }
.card { border: 1px solid #8884; border-radius: .4rem; padding: .4rem .6rem; min-height: 4.5rem; }
input[type=range] { width: 100%; }
"""
_SCRIPT = """
const slider = document.getElementById('step');
const show = () => {
  document.querySelectorAll('[data-step]').forEach(e => { e.hidden = e.dataset.step !== slider.value; });
};
slider.addEventListener('input', show); show();
"""


def replay_html(replay: Replay) -> str:
    """The page, as text."""
    return _Page(replay).text()


class _Page:
    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.zone = ZoneInfo(replay.time_zone)
        self.memories = {(entry.memory.agent_id, entry.memory.id): entry for entry in replay.memories}
        self.anchors = {key: f"m{number}" for number, key in enumerate(self.memories)}
        self.agents = replay.report.simulation.agents
        arenas = sorted({step.place for step in replay.steps if step.place is not None})
        self.colours = {place: _COLOURS[number % len(_COLOURS)] for number, place in enumerate(arenas)}

    def text(self) -> str:
        simulation = self.replay.report.simulation
        title = f"Simulation {simulation.name}"
        parts = [
            f"<h1>{_e(title)}</h1>",
            f"<p>{self.day(simulation.start)}, {self.clock(simulation.start)} to "
            f"{self.clock(simulation.at(self.replay.report.done))} ({_e(self.replay.time_zone)}): "
            f"{self.replay.report.done} steps of {simulation.minutes} minutes.</p>",
            self.figures(),
            "<h2>Moment by moment</h2>",
            self.moments(),
            "<h2>Who was where</h2>",
            self.lines(),
            "<h2>What was said</h2>",
            self.talks(),
            "<h2>What each planned, perceived and inferred</h2>",
            *(self.mind(agent) for agent in self.agents),
        ]
        head = (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{_e(title)}</title><style>{_STYLE}</style></head><body>"
        )
        return head + "\n".join(parts) + f"<script>{_SCRIPT}</script></body></html>\n"

    # --- parts ---------------------------------------------------------------------------------------------------

    def figures(self) -> str:
        names = ("moves", "conversations", "observations", "reflections", "plans", "done", "missed", "dropped")
        head = "".join(f'<th class="num">{name}</th>' for name in names)
        rows: list[str] = []
        for one in self.replay.report.people:
            rounds = ", ".join(f"{day.rounds} on {day.day}" for day in one.rounds)
            broken = ", ".join(f"{norm} {count}×" for norm, count in one.broken.items()) or "none"
            cells = "".join(f'<td class="num">{getattr(one, name)}</td>' for name in names)
            rows.append(
                f'<tr><td><a href="#{self.anchor_of(one.agent_id)}">{_e(one.name)}</a></td>{cells}'
                f"<td>{_e(rounds)}</td><td>{_e(broken)}</td></tr>"
            )
        return (
            f'<div class="scroll"><table class="figures"><tr><th>agent</th>{head}<th>reflection rounds</th>'
            f"<th>norms broken</th></tr>{''.join(rows)}</table></div>"
        )

    def anchor_of(self, agent_id: str) -> str:
        return f"a{self.agents.index(agent_id)}"

    def moments(self) -> str:
        by_step: dict[int, list[Step]] = defaultdict(list)
        for step in self.replay.steps:
            by_step[step.number].append(step)
        if not by_step:
            return "<p>Nothing was simulated yet.</p>"
        shown: list[str] = []
        for number, steps in sorted(by_step.items()):
            cards = "".join(
                f'<div class="card"><b>{_e(self.replay.names[step.agent_id])}</b> '
                f'<span class="dim">{_e(_short(step.place))}</span><br>{self.doing(step)}</div>'
                for step in steps
            )
            when = f"{self.day(steps[0].at)}, {self.clock(steps[0].at)}"
            hidden = "" if number == 0 else " hidden"
            shown.append(f'<div data-step="{number}"{hidden}><p><b>{when}</b></p><div class="now">{cards}</div></div>')
        last = max(by_step)
        slider = f'<input type="range" id="step" min="0" max="{last}" value="0" aria-label="step">'
        return slider + "".join(shown)

    def doing(self, step: Step) -> str:
        told = [_e(step.doing)] if step.doing else []
        if step.with_ is not None:
            told = [f"talks with {_e(self.replay.names.get(step.with_, step.with_))}"]
        if step.plan_id is not None:
            told.append(self.link(step.agent_id, step.plan_id, "plan"))
        told += [f'<span class="broken">{_e(norm)}</span>' for norm in step.broken]
        return " ".join(told) or '<span class="dim">nothing in particular</span>'

    def lines(self) -> str:
        by_agent: dict[str, list[Step]] = defaultdict(list)
        for step in self.replay.steps:
            by_agent[step.agent_id].append(step)
        total = max(1, self.replay.report.done)
        per_hour = 60 / self.replay.report.simulation.minutes
        start = self.replay.report.simulation.start
        hours = [
            f'<span style="width:{100 * per_hour / total:.3f}%">'
            f"{self.clock(self.replay.report.simulation.at(round(hour * per_hour)))}</span>"
            for hour in range(int(total / per_hour) + 1)
            if per_hour >= 1
        ]
        rows = [f"<p class='dim'>{self.day(start)}</p><div class='scroll'><div class='hours'>{''.join(hours)}</div>"]
        for agent in self.agents:
            bars: list[str] = []
            for place, steps in _spans(by_agent[agent]):
                told = f"{self.clock(steps[0].at)} {place or 'nowhere'}"
                colour = self.colours.get(place or "", "#8888")
                bars.append(
                    f'<i style="width:{100 * len(steps) / total:.3f}%;background:{colour}" title="{_e(told)}">'
                    f"{_e(_short(place))}</i>"
                )
            rows.append(f"<h3>{_e(self.replay.names.get(agent, agent))}</h3><div class='line'>{''.join(bars)}</div>")
        return "".join(rows) + "</div>"

    def talks(self) -> str:
        said = [
            entry for entry in self.replay.memories
            if isinstance(entry.memory, Observation) and entry.memory.kind == "utterance"
        ]  # fmt: skip
        seen: set[tuple[str, str]] = set()
        sessions: dict[str, list[Remembered]] = defaultdict(list)
        for entry in said:
            memory = entry.memory
            assert isinstance(memory, Observation)
            if any(origin in self.memories for origin in entry.heard_from) and memory.session is not None:
                continue  # The speaker's own memory of it is shown.
            key = (memory.session or f"{memory.occurred_at}", memory.text)
            if key not in seen:
                seen.add(key)
                sessions[key[0]].append(entry)
        if not sessions:
            return "<p>Nobody talked.</p>"
        return "".join(
            f'<div class="talk"><p class="dim">{self.clock(entries[0].memory.occurred_at)}</p>'
            f"{''.join(map(self.utterance, entries))}</div>"
            for entries in sessions.values()
        )

    def utterance(self, entry: Remembered) -> str:
        memory = entry.memory
        assert isinstance(memory, Observation)
        by = memory.source or memory.agent_id
        return (
            f"<p><b>{_e(self.replay.names.get(by, by))}</b>: {_e(memory.text)} "
            f"{self.link(memory.agent_id, memory.id, 'memory')}</p>"
        )

    def mind(self, agent: str) -> str:
        own = [entry for entry in self.replay.memories if entry.memory.agent_id == agent]
        plans = [entry for entry in own if isinstance(entry.memory, Plan)]
        plans.sort(key=lambda entry: _start(entry))
        kinds = (
            ("Plans", plans),
            ("Reflections", [entry for entry in own if entry.memory.type == "reflection"]),
            ("Perceived and heard", [entry for entry in own if entry.memory.type == "observation"]),
        )
        name = self.replay.names.get(agent, agent)
        lists = "".join(
            f"<details><summary>{title}: {len(entries)}</summary><ul>{''.join(map(self.item, entries))}</ul></details>"
            for title, entries in kinds
        )
        return f'<h3 id="{self.anchor_of(agent)}">{_e(name)} <span class="dim">{_e(agent)}</span></h3>{lists}'

    def item(self, entry: Remembered) -> str:
        memory = entry.memory
        when = self.clock(memory.occurred_at)
        told = ""
        if isinstance(memory, Plan):
            when = f"{self.clock(memory.start)}–{self.clock(memory.end)}"
            told = f" ({_e(memory.kind)}, {_e(memory.state)})"
        status = "" if memory.status == "active" else f' class="{_e(memory.status)}"'
        grounds = [self.link(memory.agent_id, ground, "rests on") for ground in entry.grounds]
        grounds += [self.link(agent, id_, "heard from") for agent, id_ in entry.heard_from]
        anchor = self.anchors[memory.agent_id, memory.id]
        return (
            f'<li id="{anchor}"><span class="dim">{when}</span> <span{status}>{_e(memory.text)}</span>{told} '
            f'<span class="dim">{_e(memory.id)} {", ".join(grounds)}</span></li>'
        )

    # --- words ---------------------------------------------------------------------------------------------------

    def link(self, agent: str, memory: str, label: str) -> str:
        """A link to a memory on this page; what was there before the simulation is named."""
        anchor = self.anchors.get((agent, memory))
        told = f"{label} {memory}" if label in ("rests on", "heard from") else label
        if anchor is None:
            return f'<span class="dim">{_e(told)}</span>'
        return f'<a href="#{anchor}" title="{_e(self.memories[agent, memory].memory.text)}">{_e(told)}</a>'

    def clock(self, moment: datetime) -> str:
        return f"{moment.astimezone(self.zone):%H:%M}"

    def day(self, moment: datetime) -> str:
        local = moment.astimezone(self.zone)
        return f"{local:%A} {local.day} {local:%B %Y}"


def _e(text: str | None) -> str:
    return html.escape(text or "", quote=True)


def _short(place: str | None) -> str:
    """A place without its world."""
    return " · ".join((place or "nowhere").split(":")[1:] or [place or "nowhere"])


def _start(entry: Remembered) -> tuple[datetime, datetime]:
    memory = entry.memory
    return (memory.start, memory.occurred_at) if isinstance(memory, Plan) else (memory.occurred_at, memory.occurred_at)


def _spans(steps: Sequence[Step]) -> Iterable[tuple[str | None, list[Step]]]:
    """Steps in a row that were spent in one place."""
    held: list[Step] = []
    for step in steps:
        if held and held[-1].place != step.place:
            yield held[0].place, held
            held = []
        held.append(step)
    if held:
        yield held[0].place, held
