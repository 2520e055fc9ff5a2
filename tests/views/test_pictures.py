"""Pictures without a server: everything is in them once, nothing in a text can leave its label, the rest is told."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pydot
import pytest
from views.test_tree import NOON, cites, observation, provenance, reflection

from graphmem.models import AnyMemory, Cause, Ground, Provenance, Supersession
from graphmem.views.diagram import diagram
from graphmem.views.pictures import picture

HOSTILE = [
    'quotes " \' ` and \\ backslash \\" \\n',
    "</script><script>alert(1)</script><!-- ]]>",
    "<b>bold</b> &amp; &#34; &lt; #quot; #35;",
    "line\nbreak\r\ttab \x1b[31m\x00 \u202e",
    '"]; n0 --> n1["x',
    '"]; evil [label="x',
    "end subgraph %% comment %%{init: {}}%% click n0 call alert(1)",
    "`markdown **string**` $$x^2$$ @{shape: circ}",
    "\N{GRINNING FACE} 北京 é العربية",
    "x" * 5000,
    "",
]


def hostile() -> Provenance:
    """An insight on memories whose texts, sources and ids are hostile."""
    memories = [
        observation(f'id "{number}" <\\>', text or " ", source=text[:200] or None)
        for number, text in enumerate(HOSTILE)
    ]
    grounds = cites("top", *(memory.id for memory in memories))
    return provenance(["top"], memories=[reflection("top", HOSTILE[1]), *memories], grounds=grounds)


def believed() -> Provenance:
    """Every state that there is, a missing ground, one of the past, and a replacement."""
    return provenance(
        ["top"],
        memories=[
            reflection("top", "on top", depth=2, status="stale"),
            reflection("low", "below", status="stale"),
            observation("old", "it was so", status="superseded"),
            observation("new", "it is so"),
            observation("past", "it was thought so"),
        ],
        grounds=[*cites("top", "low"), *cites("low", "old", "gone"), *cites("low", "past", until=NOON)],
        causes=[Cause(memory="low", because="old", since=NOON), Cause(memory="top", because="low", since=NOON)],
        supersessions=[Supersession(newer="new", older="old", at=NOON, mode="correction", reason="seen", by="caller")],
    )


def test_every_memory_is_a_node_and_every_citation_a_line() -> None:
    drawn = diagram(believed(), ended=True)
    by_key = {node.key: node for node in drawn.nodes}
    assert {(node.head, node.look) for node in drawn.nodes} == {
        ("insight top [stale]", "stale"),
        ("insight low [stale]", "stale"),
        ("utterance old [superseded]", "ended"),
        ("utterance new", "observation"),
        ("utterance past", "observation"),
        ("missing gone", "missing"),
    }
    lines = {
        (by_key[line.source].head.split()[1], by_key[line.target].head.split()[1], line.kind) for line in drawn.lines
    }
    assert lines == {
        ("top", "low", "stale because"),
        ("low", "old", "stale because"),
        ("low", "gone", "rests on"),
        ("low", "past", "rested on"),
        ("new", "old", "replaced"),
    }
    assert drawn.note == ""
    assert "past" not in " ".join(node.head for node in diagram(believed()).nodes)


def big(levels: int, fan: int) -> Provenance:
    """A tree of so many levels in which each insight rests on so many memories."""
    memories: list[AnyMemory] = [reflection("r", "the root", depth=levels)]
    grounds: list[Ground] = []
    above = ["r"]
    for level in range(1, levels + 1):
        for parent in above:
            grounds += cites(parent, *(f"{parent}.{number}" for number in range(fan)))
        above = [f"{parent}.{number}" for parent in above for number in range(fan)]
        leaves = level == levels
        memories += [observation(id_, id_) if leaves else reflection(id_, id_, depth=levels - level) for id_ in above]
    return provenance(["r"], memories=memories, grounds=grounds)


def test_a_thousand_memories_are_collapsed_by_depth_and_that_is_told() -> None:
    provenance = big(3, 10)
    assert len(provenance.memories) == 1111
    drawn = diagram(provenance, limit=200)
    shown = [node for node in drawn.nodes if node.memory]
    assert len(shown) == 200
    assert sum(node.memory.id.count(".") <= 2 for node in shown if node.memory) == 111  # upper levels whole
    more = [node for node in drawn.nodes if node.look == "more"]
    told = sum(int(node.head.split()[0]) for node in more)
    assert told == drawn.left_out == 911
    assert drawn.note == "911 memories further below not drawn: raise the limit or the depth"
    flat = diagram(provenance, depth=1)
    assert len([node for node in flat.nodes if node.memory]) == 11
    assert {node.head for node in flat.nodes if node.look == "more"} == {"10 more memories"}
    for format in ("mermaid", "dot", "html"):
        text, note = picture(provenance, format, limit=200)
        assert note == drawn.note
        assert note in html.unescape(text)


def labels(graph: pydot.Dot) -> dict[str, str]:
    """The label of each node, as Graphviz understands it."""
    found: dict[str, str] = {}
    for node in graph.get_nodes():
        if (label := node.get("label")) is not None:
            quoted = str(label)[1:-1]
            found[node.get_name()] = html.unescape(re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], quoted))
    return found


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # pydot's, of its own parser
@pytest.mark.parametrize("given", [believed(), hostile(), big(3, 5)], ids=["believed", "hostile", "big"])
def test_dot_is_read_as_it_was_meant(given: Provenance) -> None:
    drawn = diagram(given, ended=True)
    text, _ = picture(given, "dot", ended=True)
    parsed = pydot.graph_from_dot_data(text)
    assert parsed is not None
    (graph,) = parsed
    assert labels(graph) == {node.key: "\n".join((node.head, *node.lines)) for node in drawn.nodes}
    edges = [(edge.get_source(), edge.get_destination()) for edge in graph.get_edges()]
    assert sorted(edges) == sorted((line.source, line.target) for line in drawn.lines)


@pytest.mark.parametrize("given", [believed(), hostile(), big(3, 5)], ids=["believed", "hostile", "big"])
def test_mermaid_has_a_line_for_each_thing(given: Provenance) -> None:
    """That Mermaid draws it is tried in tests/browser."""
    drawn = diagram(given, ended=True)
    text, _ = picture(given, "mermaid", ended=True)
    nodes = re.findall(r'^  (\w+)\["([\w .,:!?()\'…\-–—#;]|<br/>)*"\]:::\w+$', text, re.MULTILINE)
    assert len(nodes) == len(drawn.nodes)
    assert len(re.findall(r"^  [nm]\d+ \S.* [nm]\d+$", text, re.MULTILINE)) == len(drawn.lines)
    looks = len(re.findall(r"^  classDef ", text, re.MULTILINE))
    assert len(text.splitlines()) == 1 + len(drawn.nodes) + len(drawn.lines) + looks


def test_the_page_holds_its_data_and_no_markup_of_a_text() -> None:
    given = hostile()
    text, _ = picture(given, "html")
    (data,) = re.findall(r'<script type="application/json" id="neo4j-viz-data">(.*?)</script>', text)
    assert "<" not in data
    nodes: list[dict[str, Any]] = json.loads(data)["nodes"]
    assert {node["properties"]["text"] for node in nodes} == {memory.text for memory in given.memories.values()}
    assert "<title>graphmem: what it rests on</title>" in text
    assert not re.search(r"<(script|link|img|iframe)[^>]* (src|href)=", text.partition("</head>")[0])
