"""Each ready query in the real Neo4j Browser: what is drawn is what the query returns, in the colours of the style."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest
from lake import Lake, make_lake
from neo4j.graph import Node, Relationship
from neo4j.graph import Path as GraphPath
from playwright.sync_api import Page

from browser.neo4j_browser import Drawing, Neo4jBrowser
from graphmem import Memory
from graphmem.graph.browser import browser_address, browser_queries, browser_query
from graphmem.settings import Settings

pytestmark = pytest.mark.browser

STYLE = Path(__file__).parents[2] / "cypher" / "browser" / "style.grass"
PICTURES = os.environ.get("GRAPHMEM_TEST_PICTURES")
"""A folder for pictures of what is drawn: those of the documentation are taken so."""
ENOUGH = 150_000
"""Most bytes of a picture."""


def colours() -> list[tuple[frozenset[str], str]]:
    """Of the style sheet, in order: labels and the fill of nodes that have them all."""
    rules = re.findall(r"^node([.\w]*) \{(.*?)^\}", STYLE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    found = [
        (frozenset(filter(None, labels.split("."))), re.search(r"^ +color: (#\w+);", body, re.M))
        for labels, body in rules
    ]
    return [(labels, colour[1]) for labels, colour in found if colour]


def fill(node: Node) -> str:
    """The colour that the style sheet gives a node: that of the last rule that fits."""
    return [colour for labels, colour in colours() if labels <= node.labels][-1]


def entities(values: Iterable[Any]) -> Iterator[Node | Relationship]:
    for value in values:
        if isinstance(value, GraphPath):
            yield from [*value.nodes, *value.relationships]
        elif isinstance(value, Node | Relationship):
            yield value


Expected = tuple[dict[int, Node], list[str]]
Ask = Callable[[str], Expected]


@pytest.fixture(scope="module")
def ask(settings: Settings) -> Iterator[Ask]:
    """Runs a query without Browser: its nodes by number, and the types of its relationships."""
    assert settings.password is not None
    account = (settings.user, settings.password.get_secret_value())
    with neo4j.GraphDatabase.driver(str(settings.uri), auth=account) as driver:

        def run(query: str) -> Expected:
            rows = driver.execute_query(query).records  # pyright: ignore[reportArgumentType]
            found = {entity.element_id: entity for row in rows for entity in entities(row.values())}
            nodes = {int(id_.split(":")[-1]): node for id_, node in found.items() if isinstance(node, Node)}
            return nodes, sorted(edge.type for edge in found.values() if isinstance(edge, Relationship))

        yield run


def check(drawing: Drawing, expected: Expected) -> None:
    """What is drawn is exactly what the query returns, as the style sheet says."""
    nodes, types = expected
    assert nodes
    labels = Counter(label for node in nodes.values() for label in node.labels)
    assert drawing.counts == {"*": len(nodes), **labels, **Counter(types)}
    assert drawing.nodes.keys() == nodes.keys()
    for number, drawn in drawing.nodes.items():
        node = nodes[number]
        assert drawn.fill == fill(node), node
        whole = "".join(str(node.get("text") or node.get("name") or node.get("verb") or node.get("path")).split())
        caption = drawn.caption.replace("…", "")
        # Where a line has no room for a word, Browser leaves out what it has no room for, and goes on.
        assert caption[:4] == whole[: len(caption[:4])] != "", node
        rest = iter(whole)
        assert all(char in rest for char in caption), node
    assert len(drawing.types) == len(types)
    if not any(told.endswith("…") for told in drawing.types):
        assert drawing.types == types


@pytest.fixture(scope="module")
def lake(sync_memory: Memory, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return make_lake(sync_memory, tmp_path_factory.mktemp("save") / "lake")


@pytest.fixture(scope="module")
def browser(page: Page, browser_url: str, settings: Settings) -> Neo4jBrowser:
    """Signed in, with the project's style, and drawing only what is asked for."""
    assert settings.password is not None
    browser = Neo4jBrowser(page)
    browser.sign_in(browser_url, settings.password.get_secret_value())
    browser.configure("autoComplete", "false")  # else it adds relationships that the query does not return
    browser.load_style(STYLE)
    return browser


@pytest.fixture
def draw(browser: Neo4jBrowser, browser_url: str, ask: Ask) -> Callable[..., Expected]:
    """Draws a ready query in Browser and checks it; gives what it shows."""

    def drawn(name: str, picture: str = "", **given: Any) -> Expected:
        query = browser_query(name, **given)
        browser.open(browser_address(browser_url, query))
        drawing = browser.run()
        assert "".join(query.split()) in "".join(drawing.command.split())
        expected = ask(query)
        check(drawing, expected)
        if PICTURES and picture:
            file = Path(PICTURES) / f"{picture}.png"
            browser.picture(file)
            assert file.stat().st_size < ENOUGH
        return expected

    return drawn


# In the order of the story: what is believed, that it was wrong, and what is believed then.


def test_before(draw: Callable[..., Expected], lake: Lake) -> None:
    nodes, types = draw("tree", "tree-before", agents=[lake.nadia.id], id=lake.top)
    provenance = lake.nadia.explain(lake.top)
    assert {node["id"] for node in nodes.values()} == set(provenance.memories)
    assert len(types) == len(provenance.grounds)
    assert max(node["depth"] for node in nodes.values()) == 10
    assert not any("Stale" in node.labels for node in nodes.values())


def test_what_agents_believe(draw: Callable[..., Expected], lake: Lake) -> None:
    nodes, _ = draw("beliefs", agents=[lake.nadia.id, lake.emil.id])
    assert {node["agentId"] for node in nodes.values()} == {lake.nadia.id, lake.emil.id}


def test_what_all_agents_believe(draw: Callable[..., Expected], lake: Lake) -> None:
    nodes, _ = draw("beliefs")
    assert {node["agentId"] for node in nodes.values()} >= {lake.nadia.id, lake.emil.id}


def test_today(draw: Callable[..., Expected], lake: Lake) -> None:
    nodes, _ = draw("plan", "plan", agents=[lake.nadia.id])
    plans = [found for found in lake.nadia.memories(type="plan", limit=1000) if found.status == "active"]
    assert {node["id"] for node in nodes.values() if "Plan" in node.labels} == {plan.id for plan in plans}
    assert len(plans) == 11


def test_who_heard_what_from_whom(draw: Callable[..., Expected], lake: Lake) -> None:
    nodes, types = draw("heard", "heard", agents=[lake.nadia.id, lake.emil.id])
    assert {node["name"] for node in nodes.values() if "Entity" in node.labels} >= {"Nadia Sorel", "Emil Brandt"}
    assert {node["agentId"] for node in nodes.values()} == {lake.nadia.id, lake.emil.id}
    assert set(types) == {"ABOUT", "HEARD_FROM"}


def test_what_most_rests_on(draw: Callable[..., Expected], lake: Lake) -> None:
    nodes, types = draw("cited", agents=[lake.nadia.id])
    assert set(types) <= {"CITES", "DERIVED_FROM"}
    assert lake.seen in {node["id"] for node in nodes.values()}


def test_what_went_stale_and_why(draw: Callable[..., Expected], lake: Lake) -> None:
    """The tree again, and the stale ones with the cause at the bottom."""
    stale = {memory.id for memory in lake.learn().stale}
    nodes, _ = draw("tree", "tree-stale", agents=[lake.nadia.id], id=lake.top)
    assert {node["id"] for node in nodes.values() if "Stale" in node.labels} == stale & {
        n["id"] for n in nodes.values()
    }
    assert {node["id"] for node in nodes.values() if "Ended" in node.labels} == {lake.seen}
    assert sum("Stale" in node.labels for node in nodes.values()) == 10
    nodes, types = draw("stale", "stale", agents=[lake.nadia.id])
    shown = {node["id"] for node in nodes.values() if "Stale" in node.labels}
    explained = {memory.id for memory in lake.nadia.memories(status="stale", limit=1000)} - missing(lake)
    assert explained <= shown
    assert {"STALE_BECAUSE", "SUPERSEDES"} == set(types)


def missing(lake: Lake) -> set[str]:
    """What is stale because a ground is missing from the save: no memory is to blame."""
    return {
        memory.id
        for memory in lake.nadia.memories(status="stale", limit=1000)
        if not [cause for cause in lake.nadia.explain(memory.id).causes if cause.memory == memory.id]
    }


def test_after(draw: Callable[..., Expected], lake: Lake) -> None:
    report = lake.recompute()
    assert report.items
    history, types = draw("history", "history", agents=[lake.nadia.id], id=lake.seen)
    assert {"SUPERSEDES", "OF"} == set(types)
    assert sum("Change" in node.labels for node in history.values()) >= 1
    (revised, *_) = (item for item in report.items if item.new_id)
    nodes, types = draw("tree", "tree-after", agents=[lake.nadia.id], id=revised.new_id)
    assert not any("Stale" in node.labels or "Ended" in node.labels for node in nodes.values())
    nodes, types = draw("provenance", "provenance", agents=[lake.nadia.id], id=revised.new_id)
    assert {"CITES", "PRODUCED_BY"} <= set(types)
    run = lake.nadia.explain(str(revised.new_id)).runs[str(revised.new_id)]
    nodes, types = draw("run", "run", agents=[lake.nadia.id], id=run.id)
    details = lake.nadia.run(run.id)
    assert {node["id"] for node in nodes.values() if "Memory" in node.labels} == {
        *(shown.memory.id for shown in details.shown), *(wrote.id for wrote in details.wrote)
    }  # fmt: skip


def test_who_was_told_of_it(draw: Callable[..., Expected], lake: Lake) -> None:
    known = lake.nadia.observe("The regatta begins at noon.", importance=5)
    heard = lake.nadia.share(known.id, with_=lake.emil.id)
    nodes, types = draw("diffusion", agents=[lake.nadia.id], id=known.id)
    assert {node["id"] for node in nodes.values()} == {known.id, heard.id}
    assert set(types) == {"HEARD_FROM"}


def test_every_ready_query_is_drawn_here() -> None:
    source = Path(__file__).read_text("utf-8")
    assert [name for name in browser_queries() if f'draw("{name}"' not in source] == []


def test_hostile_text_is_only_text(draw: Callable[..., Expected], sync_memory: Memory, page: Page) -> None:
    agent = sync_memory.agent("o'brien & co. #1 \\u0027 // $id")
    said: list[str] = []
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    odd = agent.observe(
        "<script>alert(1)</script><img src=x onerror=alert(2)> </text>{name}", id="'] //\n&#", importance=5
    )
    agent.observe("<b>bold</b> \"quoted\" 'single' `ticks`", id="other", importance=5)
    nodes, _ = draw("tree", agents=[agent.id], id=odd.id)
    assert len(nodes) == 1
    assert said == []


def test_the_command_gives_an_address_that_opens(
    lake: Lake, settings: Settings, browser: Neo4jBrowser, ask: Ask
) -> None:
    assert settings.password is not None
    if Settings().data_dir == settings.data_dir:
        pytest.skip("only the embedded server's own address is known to the command")
    done = subprocess.run(
        [sys.executable, "-m", "graphmem", "browser", "tree", lake.top, "--agent", lake.nadia.id, "--json"],
        env={**os.environ, "GRAPHMEM_DATA_DIR": str(settings.data_dir)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert settings.password.get_secret_value() not in done.stdout
    browser.open(answer["url"])
    check(browser.run(), ask(answer["query"]))
