"""Writes saved simulations as the published Generative Agents code leaves them: own texts, all that goes wrong there.

``write_simulation`` gives two people who live by a lake: chains of thoughts ten levels deep, a conversation that both
remember, a day's schedule, places, and thoughts whose evidence is missing, of a wrong type, or a filler.
``write_stream`` gives one person in the later format. Every expectation that a test has can be read from the
:class:`Person` returned, which holds what was written, as it was written.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

DEPTH = 10
"""How deep the first person's thoughts go, over observations; by the files a level more, for what was told counts."""
DAY = datetime(2023, 4, 3)  # noqa: DTZ001 - the files have no zone
NOW = DAY + timedelta(hours=15, minutes=20)
"""The simulation's own time."""
LAKE = "Lake Town"
LOOKED_FORWARD = "Nadia Sorel is preparing the lantern evening at the boathouse on April 5th"
"""What the first person looks forward to."""

Node = dict[str, Any]


@dataclass
class Person:
    """One person's files."""

    name: str
    nodes: dict[str, Node] = field(default_factory=dict)
    """By id, oldest first; the file has them newest first."""
    scratch: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Any] = field(default_factory=dict)
    _next: int = 1

    def add(self, kind: str, text: str, *, after: int, filling: object = None, **more: Any) -> str:
        """One node, ``after`` so many minutes of the day; the depth is reckoned as the published code does."""
        number = self._next
        self._next += 1
        created = DAY + timedelta(minutes=after)
        depth = 0
        if kind == "thought":
            cited = filling if isinstance(filling, list) else []
            known = [self.nodes[item]["depth"] for item in cited if isinstance(item, str) and item in self.nodes]
            # One missing ground and the published code falls back to 1.
            depth = 1 + max(known, default=0) if len(known) == len(cited) else 1
        node: Node = {
            "node_count": number,
            "type_count": 1 + sum(other["type"] == kind for other in self.nodes.values()),
            "type": kind,
            "depth": depth,
            "created": f"{created:%Y-%m-%d %H:%M:%S}",
            "expiration": f"{created + timedelta(days=30):%Y-%m-%d %H:%M:%S}" if kind == "thought" else None,
            "subject": self.name,
            "predicate": "is",
            "object": "busy",
            "description": text,
            "embedding_key": text,
            "poignancy": 4,
            "keywords": [self.name, "is", "busy"],
            "filling": [] if kind == "event" and filling is None else filling,
            **more,
        }
        self.nodes[f"node_{number}"] = node
        return f"node_{number}"

    def skip(self) -> str:
        """Leave a number out, as where a node was lost; the id that is missing."""
        self._next += 1
        return f"node_{self._next - 1}"

    def sees(self, path: str, state: str, *, after: int) -> str:
        """A thing is seen; an idle one recurs many times with one text."""
        thing = path.split(":")[-1]
        return self.add(
            "event", f"{thing} is {state}", after=after,
            subject=path, object=state, keywords=[state, thing], poignancy=1 if state == "idle" else 3,
        )  # fmt: skip


def thinks(person: Person, text: str, evidence: object, *, after: int, **more: Any) -> str:
    """A thought that rests on others."""
    return person.add(
        "thought", text, after=after, filling=evidence, predicate="think", object="lantern evening",
        keywords=["think", person.name, "lantern evening"], poignancy=6, **more,
    )  # fmt: skip


def first(depth: int = DEPTH) -> Person:
    """Who has a deep chain, and every kind of fault."""
    nadia = Person("Nadia Sorel")
    given = [
        nadia.add("thought", "Nadia Sorel repairs lanterns in the boathouse.", after=0, object="lanterns", poignancy=5),
        nadia.add("thought", "Nadia Sorel is planning a swim.", after=0, predicate="plan", object="a swim"),
    ]
    nadia.add(
        "thought", "This is Nadia Sorel's plan for Monday April 03: wake up at 7:00 am, repair lanterns, rest.",
        after=0, predicate="plan", object="Monday April 03", keywords=["plan"], poignancy=5,
    )  # fmt: skip
    boathouse = f"{LAKE}:Boathouse:workshop"
    events = [nadia.sees(f"{boathouse}:workbench", "idle", after=430 + n) for n in range(12)]
    events += [nadia.sees(f"{boathouse}:stove", f"being lit for the {n}th time", after=450 + n) for n in range(4, 9)]
    lit = nadia.add(
        "event", "Nadia Sorel is cutting paper for the lantern evening on April 5th", after=470,
        object="lantern evening", keywords=["cutting", "lantern evening"], poignancy=7,
    )  # fmt: skip
    chain = [thinks(nadia, f"{LOOKED_FORWARD}, part 1", [lit, events[0], given[0]], after=500)]
    for level in range(2, depth + 1):
        evidence = [chain[-1], events[level], *([chain[0]] if level % 3 == 0 else [])]
        chain.append(thinks(nadia, f"{LOOKED_FORWARD}, part {level}", evidence, after=500 + 10 * level))
    # Twice the same thought: ids tell them apart.
    for _ in range(2):
        thinks(nadia, "Nadia Sorel is a patient person", [events[13], events[14]], after=620)
    lost = nadia.skip()
    dangling = thinks(nadia, "Nadia Sorel trusts the ferryman", [lit, lost, "node_900"], after=640)
    thinks(nadia, "Nadia Sorel would lend the ferryman her boat", [dangling, events[15]], after=645)
    thinks(nadia, "Nadia Sorel knows the weather", ["node_901"], after=650)
    nadia.add("thought", "this is blank", after=655, filling="node_1", keywords=["this", "is", "blank"])
    thinks(nadia, "For Nadia Sorel's planning: ...", [lit], after=656)
    thinks(nadia, "Nadia Sorel likes the smell of glue", "node_4", after=660)
    thinks(nadia, "Nadia Sorel dislikes fog", [3, lit, None], after=665)
    thinks(nadia, "Nadia Sorel is hopeful", [], after=670)
    later = f"node_{nadia._next + 1}"
    thinks(nadia, "Nadia Sorel foresees what she will think", [later, lit], after=675)
    thinks(nadia, "Nadia Sorel rests on herself alone", [f"node_{nadia._next}"], after=680)
    talk(nadia, "Emil Brandt", after=700)
    nadia.add("event", "the bell of the boathouse is ringing very loud", after=710, poignancy=14)
    nadia.add("event", "the ferry is late", after=715, poignancy="high", subject=None, keywords=["ferry", "", 7])
    nadia.scratch = scratch(nadia.name, trigger=150 - 37)
    nadia.places = {LAKE: {"Boathouse": {"workshop": ["workbench", "stove"], "jetty": []}, "Ferry": {"deck": ["bell"]}}}
    return nadia


def second() -> Person:
    """Who has heard of it, and no fault."""
    emil = Person("Emil Brandt")
    emil.add("thought", "Emil Brandt steers the ferry.", after=0, object="ferry")
    events = [emil.sees(f"{LAKE}:Ferry:deck:bell", "idle", after=480 + n) for n in range(5)]
    chat = talk(emil, "Nadia Sorel", after=700)
    heard = thinks(emil, "Emil Brandt is invited to the lantern evening at the boathouse", [chat], after=705)
    thinks(emil, "Emil Brandt will need the evening of April 5th off", [heard, events[2]], after=720)
    emil.scratch = scratch(emil.name, trigger=150)
    emil.places = {LAKE: {"Ferry": {"deck": ["bell"]}}}
    return emil


TALK = [
    ["Nadia Sorel", "Emil, will you come to the lantern evening at the boathouse on the 5th?"],
    ["Emil Brandt", "Gladly, if the ferry can do without me."],
    ["Nadia Sorel", "Then I make a lantern for you as well."],
]


def talk(person: Person, other: str, *, after: int) -> str:
    """The conversation, and the event that stands for it; the id of the conversation."""
    about = "conversing about the lantern evening at the boathouse"
    chat = person.add(
        "chat", about, after=after, filling=TALK, predicate="chat with", object=other,
        keywords=[person.name, other], poignancy=7,
    )  # fmt: skip
    person.add(
        "event", f"{person.name} is {about}", after=after, filling=[chat], predicate="chat with", object=other,
        keywords=[person.name, other, "chat with"],
    )  # fmt: skip
    return chat


def scratch(name: str, *, trigger: int) -> dict[str, Any]:
    """Who somebody is, where, when, and the day's schedule in steps and hours."""
    parts = [["preparing (cutting paper)", 20], ["preparing (gluing)", 25], ["preparing (drying)", 15]]
    return {
        "name": name,
        "first_name": name.split()[0],
        "last_name": name.split()[1],
        "age": 41,
        "innate": "patient, curious",
        "learned": f"{name} has lived by the lake for twenty years.",
        "currently": f"{name} has much to do before the lantern evening.",
        "lifestyle": f"{name} goes to bed around 10pm, awakes around 7am.",
        "living_area": f"{LAKE}:Boathouse:workshop",
        "curr_time": f"{NOW:%B %d, %Y, %H:%M:%S}",
        "daily_req": ["wake up at 7:00 am", "prepare the lantern evening", "rest"],
        "daily_plan_req": f"{name} prepares the lantern evening.",
        "f_daily_schedule": [["sleeping", 420], *parts, ["resting (reading)", 480], ["sleeping", 480]],
        "f_daily_schedule_hourly_org": [["sleeping", 420], ["preparing", 60], ["resting", 480], ["sleeping", 480]],
        "act_address": f"{LAKE}:Boathouse:workshop:workbench",
        "importance_trigger_max": 150,
        "importance_trigger_curr": trigger,
        "importance_ele_n": 9,
    }


def write_simulation(folder: Path, *, depth: int = DEPTH) -> list[Person]:
    """Write a save of both people to a folder that is not there yet; returns what was written."""
    people = [first(depth), second()]
    for person in people:
        write_person(folder, person)
    write(
        folder / "reverie" / "meta.json",
        {
            "fork_sim_code": "lake", "start_date": "April 03, 2003", "curr_time": f"{NOW:%B %d, 2003, %H:%M:%S}",
            "sec_per_step": 10, "maze_name": "lake", "persona_names": [person.name for person in people], "step": 5520,
        },
    )  # fmt: skip
    return people


def write_person(folder: Path, person: Person) -> None:
    """Write one person's files; embeddings.json is missing, as it is from many saves."""
    home = folder / "personas" / person.name / "bootstrap_memory"
    write(home / "associative_memory" / "nodes.json", dict(reversed(person.nodes.items())))
    write(home / "associative_memory" / "kw_strength.json", {"kw_strength_event": {}, "kw_strength_thought": {}})
    write(home / "scratch.json", person.scratch)
    write(home / "spatial_memory.json", person.places)


STREAM: list[Node] = [
    {"node_id": 0, "node_type": "observation", "content": "Oda Lind keeps bees on the roof", "importance": 30},
    {"node_id": 1, "node_type": "observation", "content": "The bees of Oda Lind swarmed today", "importance": 84},
    {"node_id": 2, "node_type": "reflection", "content": "Oda Lind worries for her bees", "importance": 70,
     "pointer_id": [0, 1]},
    {"node_id": 3, "node_type": "reflection", "content": "Oda Lind would rather stay at home", "importance": 100,
     "pointer_id": [2]},
    {"node_id": 5, "node_type": "reflection", "content": "Oda Lind trusts her neighbours", "importance": 0,
     "pointer_id": [4, 1]},
    {"node_id": 6, "node_type": "reflection", "content": "Oda Lind is generous", "importance": 41, "pointer_id": None},
]  # fmt: skip


def write_stream(folder: Path) -> list[Node]:
    """Write one person in the later format to a folder; returns the nodes."""
    nodes = [{"created": n, "last_retrieved": n + 2, "pointer_id": None, **node} for n, node in enumerate(STREAM)]
    write(folder / "memory_stream" / "nodes.json", nodes)
    write(folder / "memory_stream" / "embeddings.json", {})
    write(folder / "scratch.json", {"first_name": "Oda", "last_name": "Lind", "age": 60, "town": "Nordby"})
    write(folder / "meta.json", {"id": "7a0c"})
    return nodes


def write(file: Path, value: object) -> None:
    """Write a JSON file with its folders."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value), "utf-8")
