"""Pictures without a server, where people see them: the web page, and what Mermaid draws."""

from __future__ import annotations

import html
import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from views.test_pictures import believed, big, hostile

from graphmem.models import Provenance
from graphmem.views.diagram import diagram
from graphmem.views.pictures import picture

pytestmark = pytest.mark.browser

MERMAID = Path(__file__).parents[2] / ".venv" / "mermaid" / "package" / "dist" / "mermaid.min.js"
PICTURES = os.environ.get("GRAPHMEM_TEST_PICTURES")
GIVEN = [
    pytest.param(believed(), id="believed"),
    pytest.param(hostile(), id="hostile"),
    pytest.param(big(3, 10), id="big"),
]


class Visit:
    """A page without any network, and all that it tried."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.asked: list[str] = []
        self.said: list[str] = []
        self.failed: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: self.failed.append(str(error)))

    def check(self, opened: Path) -> None:
        """It asked for nothing but itself, ran nothing that a text holds, and no script failed."""
        assert [url for url in self.asked if not url.startswith(("data:", "blob:"))] == [opened.as_uri()]
        assert self.said == []
        assert self.failed == []


@pytest.fixture
def visit(chromium: Browser) -> Visit:
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, offline=True)
    return Visit(context.new_page())


@pytest.mark.parametrize("given", GIVEN)
def test_the_page_draws_without_a_network(given: Provenance, visit: Visit, tmp_path: Path) -> None:
    file = tmp_path / "why.html"
    text, note = picture(given, "html", limit=200, ended=True)
    file.write_text(text, "utf-8")
    visit.page.goto(file.as_uri())
    canvas = visit.page.locator("canvas").first
    expect(canvas).to_be_visible(timeout=30_000)
    # More than one colour of the nodes on the canvas: something is drawn.
    visit.page.wait_for_function(
        """() => [...document.querySelectorAll('canvas')].some(canvas => {
            const context = canvas.getContext('2d')
            if (!context) return false
            const data = context.getImageData(0, 0, canvas.width, canvas.height).data
            const seen = new Set()
            for (let at = 0; at < data.length; at += 4)
                if (data[at + 3] === 255) seen.add(data.slice(at, at + 3).join())
            return seen.size > 2
        })""",
        timeout=30_000,
    )
    if note:
        expect(visit.page.get_by_text(note)).to_be_visible()
    assert visit.page.title() == "graphmem: what it rests on"
    visit.check(file)
    if PICTURES and not note and "top" in given.memories and "old" in given.memories:
        visit.page.wait_for_timeout(1500)
        visit.page.screenshot(path=Path(PICTURES) / "page.png")


@pytest.mark.parametrize("given", GIVEN)
def test_mermaid_draws_every_label_as_it_is(given: Provenance, visit: Visit, tmp_path: Path) -> None:
    file = tmp_path / "mermaid.html"
    text, _ = picture(given, "mermaid", limit=100, ended=True)
    file.write_text(
        f"<!doctype html><meta charset=utf-8><pre id=text>{html.escape(text)}</pre><div id=out></div>"
        f"<script>{MERMAID.read_text('utf-8')}</script>",
        "utf-8",
    )
    visit.page.goto(file.as_uri())
    shown = visit.page.evaluate(
        """async () => {
            mermaid.initialize({startOnLoad: false, maxTextSize: 500000, maxEdges: 5000})
            const {svg} = await mermaid.render('drawn', document.getElementById('text').textContent)
            document.getElementById('out').innerHTML = svg
            return {
                nodes: [...document.querySelectorAll('#out g.node')].map(
                    g => g.textContent.replace(/[\\s\u200b]+/g, '')),
                edges: document.querySelectorAll('#out path.flowchart-link').length,
            }
        }"""
    )
    drawn = diagram(given, limit=100, ended=True)
    expected = ["".join("".join((node.head, *node.lines)).split()) for node in drawn.nodes]
    if drawn.note:
        expected.append("".join(drawn.note.split()))
    assert sorted(shown["nodes"]) == sorted(expected)
    assert shown["edges"] == len(drawn.lines)
    visit.check(file)
