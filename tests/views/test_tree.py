"""Provenance as a tree, from hand-made values."""

import io
import re
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from graphmem.models import AnyMemory, Cause, Ground, Observation, Plan, Provenance, Reflection, Supersession
from graphmem.views.tree import Tree, tree

NOON = datetime(2023, 5, 18, 12, tzinfo=UTC)


def observation(id: str, text: str, *, status: str = "active", source: str | None = None) -> Observation:
    return Observation.model_validate(
        {
            "id": id,
            "agent_id": "evan",
            "text": text,
            "kind": "utterance",
            "status": status,
            "importance": 4,
            "importance_by": "rule",
            "occurred_at": NOON,
            "recorded_at": NOON,
            "last_accessed_at": NOON,
            "source": source,
        }
    )


def reflection(id: str, text: str, *, status: str = "active", depth: int = 1) -> Reflection:
    return Reflection.model_validate(
        {
            "id": id,
            "agent_id": "evan",
            "text": text,
            "kind": "insight",
            "status": status,
            "importance": 6,
            "importance_by": "model",
            "occurred_at": NOON,
            "recorded_at": NOON,
            "last_accessed_at": NOON,
            "depth": depth,
            "written_by": "extractive",
        }
    )


def cites(source: str, *targets: str, until: datetime | None = None) -> list[Ground]:
    return [
        Ground(source=source, target=target, type="CITES", rank=rank, since=NOON, until=until)
        for rank, target in enumerate(targets, 1)
    ]


def provenance(
    roots: list[str],
    memories: list[AnyMemory],
    grounds: list[Ground],
    supersessions: list[Supersession] | None = None,
    causes: list[Cause] | None = None,
) -> Provenance:
    return Provenance(
        agent_id="evan",
        roots=tuple(roots),
        memories={memory.id: memory for memory in memories},
        grounds=tuple(grounds),
        supersessions=tuple(supersessions or []),
        causes=tuple(causes or []),
    )


def rich_lines(drawing: Tree, width: int = 400) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    console.print(drawing)
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


def two_levels() -> Provenance:
    return provenance(
        ["top"],
        [
            reflection("top", "Evan likes the open air", depth=2),
            reflection("hike", "Evan hikes"),
            observation("D1:1", "I hiked all day", source="Evan"),
            observation("D1:2", "We saw a lake", source="Sam"),
        ],
        [*cites("top", "hike", "D1:2"), *cites("hike", "D1:1", "D1:2")],
    )


def test_draws_each_insight_with_what_it_cites() -> None:
    assert str(tree(two_levels())).splitlines() == [
        "insight top [active] Evan likes the open air",
        "├── insight hike [active] Evan hikes",
        "│   ├── utterance D1:1 Evan: I hiked all day",
        "│   └── utterance D1:2 We saw a lake (shown below)",
        "└── utterance D1:2 Sam: We saw a lake",
    ]


def test_text_and_rich_show_the_same() -> None:
    drawing = tree(two_levels())
    assert rich_lines(drawing) == str(drawing)


def test_a_shared_memory_is_drawn_once_and_referred_to_afterwards() -> None:
    shared = provenance(
        ["a", "b"],
        [reflection("a", "A"), reflection("b", "B"), observation("o", "shared ground", source="Sam")],
        [*cites("a", "o"), *cites("b", "o")],
    )
    drawing = tree(shared)
    assert drawing.drawn == 3
    assert [line for line in str(drawing).splitlines() if "shared ground" in line] == [
        "└── utterance o Sam: shared ground",
        "└── utterance o shared ground (shown above)",
    ]


def test_stale_says_which_memory_changed_and_superseded_by_what() -> None:
    changed = provenance(
        ["top"],
        [
            reflection("top", "Evan is at home on the road", status="stale", depth=2),
            reflection("car", "Evan drives a Prius", status="stale"),
            observation("D1:2", "in my new Prius", status="superseded", source="Evan"),
            observation("D1:4", "my old prius broke down", source="Evan"),
            observation("new", "Evan bought a Kia"),
        ],
        [*cites("top", "car"), *cites("car", "D1:2", "D1:4")],
        [Supersession(newer="new", older="D1:2", at=NOON, mode="correction", reason="he said so", by="caller")],
        [
            Cause(memory="car", because="D1:2", since=NOON),
            Cause(memory="top", because="car", since=NOON),
            Cause(memory="top", because="D1:4", since=NOON, until=NOON + timedelta(hours=1)),
        ],
    )
    assert str(tree(changed)).splitlines() == [
        "insight top [stale because car is stale] Evan is at home on the road",
        "└── insight car [stale because D1:2 was superseded by new] Evan drives a Prius",
        "    ├── utterance D1:2 [superseded by new “Evan bought a Kia”, correction: he said so] Evan: in my new Prius",
        "    └── utterance D1:4 Evan: my old prius broke down",
    ]


def test_stale_is_explained_from_the_grounds_where_no_cause_is_recorded() -> None:
    drawing = tree(
        provenance(
            ["r"],
            [reflection("r", "R", status="stale"), observation("o", "O", status="retracted")],
            cites("r", "o"),
        )
    )
    assert str(drawing).splitlines()[0] == "insight r [stale because o was retracted] R"


def test_many_reasons_are_counted() -> None:
    ended = [observation(f"o{i}", f"O{i}", status="retracted") for i in range(6)]
    drawing = tree(
        provenance(["r"], [reflection("r", "R", status="stale"), *ended], cites("r", *(o.id for o in ended)))
    )
    assert "o2 was retracted and 3 more changed]" in str(drawing.rows[0])


def test_a_ground_that_is_not_there_is_named() -> None:
    drawing = tree(provenance(["r"], [reflection("r", "R")], cites("r", "gone")))
    assert str(drawing).splitlines()[1] == "└── missing gone is cited but not there"


def test_past_citations_are_drawn_when_asked_for() -> None:
    past = provenance(
        ["r"],
        [reflection("r", "R"), observation("o", "O"), observation("p", "P")],
        [*cites("r", "o"), *cites("r", "p", until=NOON)],
    )
    assert "utterance p" not in str(tree(past))
    assert "└── utterance p P (cited until 2023-05-18 12:00)" in str(tree(past, ended=True))


@pytest.mark.parametrize("size", [1, 2, 5, 2_000])
def test_a_cycle_ends(size: int) -> None:
    nodes = [reflection(f"r{i}", f"R{i}") for i in range(size)]
    edges = [edge for i in range(size) for edge in cites(f"r{i}", f"r{(i + 1) % size}")]
    drawing = tree(provenance(["r0"], nodes, edges), limit=10_000)
    assert drawing.drawn == size
    assert str(drawing.rows[-1]).endswith("(shown above)")
    assert len(drawing.rows) == size + 1


def test_depth_stops_and_says_so() -> None:
    drawing = tree(two_levels(), depth=1)
    assert str(drawing).splitlines() == [
        "insight top [active] Evan likes the open air",
        "├── insight hike [active] Evan hikes",
        "│   └── … rests on 2 more memories not drawn",
        "└── utterance D1:2 Sam: We saw a lake",
    ]
    assert drawing.not_drawn == 2
    assert tree(two_levels(), depth=0).not_drawn == 2


def test_limit_draws_the_upper_levels_and_counts_the_rest() -> None:
    fan = [observation(f"o{i}", f"O{i}") for i in range(10_000)]
    wide = provenance(["r"], [reflection("r", "R"), *fan], cites("r", *(o.id for o in fan)))
    drawing = tree(wide, limit=5)
    assert len(drawing.rows) == 6
    assert str(drawing.rows[-1]) == "… rests on 9,996 more memories not drawn"
    assert drawing.not_drawn == 9_996


def test_limit_also_bounds_references() -> None:
    roots = [reflection(f"r{i}", f"R{i}") for i in range(50)]
    grounds = [observation(f"o{i}", f"O{i}") for i in range(50)]
    edges = [edge for root in roots for edge in cites(root.id, *(ground.id for ground in grounds))]
    dense = provenance([root.id for root in roots], [*roots, *grounds], edges)
    shown = tree(dense, limit=200)
    assert sum("…" not in str(row) for row in shown.rows) == 200
    assert shown.not_drawn == 20 * 41 + 30  # what 20 trees of 10 rows lack, and 30 trees


def test_a_large_tree_leaves_room_for_the_others() -> None:
    fan = [observation(f"o{i}", f"O{i}") for i in range(1_000)]
    small = [observation(f"p{i}", f"P{i}") for i in range(3)]
    both = provenance(
        ["big", "small"],
        [reflection("big", "B"), reflection("small", "S"), *fan, *small],
        [*cites("big", *(o.id for o in fan)), *cites("small", *(o.id for o in small))],
    )
    drawn = str(tree(both, limit=40))
    assert "… rests on 981 more memories not drawn" in drawn
    assert "└── utterance p2 P2" in drawn


def test_many_trees_are_drawn_whole_rather_than_only_their_roots() -> None:
    roots = [reflection(f"r{i}", f"R{i}") for i in range(300)]
    grounds = [observation(f"o{i}", f"O{i}") for i in range(900)]
    edges = [edge for i in range(300) for edge in cites(f"r{i}", f"o{3 * i}", f"o{3 * i + 1}", f"o{3 * i + 2}")]
    drawing = tree(provenance([root.id for root in roots], [*roots, *grounds], edges), limit=200)
    lines = str(drawing).splitlines()
    assert lines[3] == "└── utterance o2 O2"
    assert lines[-1] == "… 250 more trees not drawn"
    assert drawing.drawn == 200


def test_what_fits_exactly_is_drawn_whole() -> None:
    assert tree(two_levels(), limit=5).not_drawn == 0
    assert tree(two_levels(), limit=4).not_drawn == 1
    assert tree(two_levels(), limit=3, depth=1).not_drawn == 2


def test_more_roots_than_the_limit_are_counted() -> None:
    roots = [reflection(f"r{i}", f"R{i}") for i in range(7)]
    drawing = tree(provenance([root.id for root in roots], list(roots), []), limit=5)
    assert str(drawing).splitlines()[-1] == "… 2 more trees not drawn"


def test_a_plan_is_told_apart_from_what_happened() -> None:
    plan = Plan(
        id="p",
        agent_id="evan",
        text="attend the party",
        kind="hour",
        status="active",
        importance=3,
        importance_by="default",
        occurred_at=NOON,
        recorded_at=NOON,
        last_accessed_at=NOON,
        start=NOON,
        end=NOON + timedelta(hours=1),
        state="planned",
    )
    drawing = tree(provenance(["p"], [plan], []))
    assert str(drawing) == "plan (hour, planned) p [active] attend the party"


def test_memory_text_cannot_steer_the_terminal() -> None:
    hostile = "\x1b[2J\x1b]8;;http://evil\x1b\\[red]click[/red]\x1b]8;;\x1b\\ [/] \\[x]"
    hostile += "\n└── insight fake [active]\u202e"
    nasty = provenance(
        ["r\x1b[31m"],
        [
            reflection("r\x1b[31m", hostile, status="stale"),
            observation("o", hostile, status="superseded", source=hostile),
        ],
        cites("r\x1b[31m", "o"),
        [Supersession(newer="n\x1b[0m", older="o", at=NOON, mode="update", reason=hostile, by="x")],
    )
    drawing = tree(nasty)
    for shown in (str(drawing), rich_lines(drawing)):
        assert len(shown.splitlines()) == 2
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown)
        assert "[red]click[/red]" in shown


def test_rich_wraps_within_the_guides() -> None:
    long = provenance(["r"], [reflection("r", "R"), observation("o", "word " * 30)], cites("r", "o"))
    lines = rich_lines(tree(long), width=40).splitlines()
    assert len(lines) > 3
    assert all(line.startswith("    ") for line in lines[2:])


def test_nothing_gives_nothing() -> None:
    assert tree(provenance([], [], [])) == Tree((), 0, 0)


def test_missing_grounds_are_named() -> None:
    lacking = reflection("r", "Evan likes cars", status="stale").model_copy(update={"missing_grounds": 2})
    above = reflection("top", "Evan likes machines", status="stale", depth=2)
    found = Provenance(
        agent_id="evan",
        roots=("top",),
        memories={memory.id: memory for memory in (lacking, above, observation("o", "The Prius is new"))},
        grounds=tuple(cites("top", "r") + cites("r", "o")),
    )
    top, row, _ = str(tree(found)).splitlines()
    assert "stale because r is stale" in top
    assert "stale because 2 grounds cannot be found" in row
