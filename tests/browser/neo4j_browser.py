"""Neo4j Browser as a person uses it: opened at an address, signed in to, styled, and asked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

_SETTLE_MS = 100
_DRAW_MS = 30_000


@dataclass(frozen=True)
class DrawnNode:
    """A circle: its fill, and its caption without white space, as much of it as there was room for."""

    fill: str
    caption: str


@dataclass(frozen=True)
class Drawing:
    """What a frame shows."""

    nodes: dict[int, DrawnNode]
    """By the number at the end of the node's element id."""
    types: list[str]
    """The type of each relationship drawn, sorted."""
    counts: dict[str, int]
    """How many Browser says that there are of each label and each type; ``*``: of all nodes."""
    command: str
    """What was run, on one line."""


class Neo4jBrowser:
    """One page with Neo4j Browser."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def sign_in(self, address: str, password: str) -> None:
        """Open an address, which has no password, and type it."""
        assert password not in address
        self.page.goto(address)
        self.page.get_by_test_id("password").fill(password)
        self.page.get_by_test_id("connect").click()
        expect(self.page.get_by_text("You are connected as user")).to_be_visible(timeout=_DRAW_MS)

    def open(self, address: str) -> None:
        """Open an address while signed in, until what it fills in stands in the editor, not yet run."""
        self.page.goto(address)
        expect(self.page.get_by_test_id("disconnectedBannerCode")).to_have_count(0, timeout=_DRAW_MS)
        expect(self._editor).not_to_have_text(re.compile(r"^\s*\$?\s*$"), timeout=_DRAW_MS)

    def command(self, text: str) -> None:
        """Type a command of Browser's and run it."""
        self._editor.click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(text)
        self._run()

    def configure(self, name: str, value: str) -> None:
        """Change a setting of Browser's, and wait until it is kept: an address that is opened starts it anew."""
        self.command(f":config {name}: {value}")
        self._until_kept("settings", f'"{name}":{value}')

    def _until_kept(self, where: str, what: str) -> None:
        self.page.wait_for_function(
            "([where, what]) => (localStorage['neo4j.' + where] ?? '').includes(what)", arg=[where, what]
        )

    def load_style(self, sheet: Path) -> None:
        """Drop a style sheet onto the page, as a person does from the file manager."""
        self.page.evaluate(
            """([name, text]) => {
                const files = new DataTransfer()
                files.items.add(new File([text], name))
                document.querySelector('.filedrop').dispatchEvent(
                    new DragEvent('drop', {dataTransfer: files, bubbles: true}))
            }""",
            [sheet.name, sheet.read_text("utf-8")],
        )
        self._until_kept("grass", '"node.Observation"')

    def run(self) -> Drawing:
        """Run what stands in the editor, and read what is drawn once it rests."""
        self._run()
        expect(self.frame.get_by_text(re.compile(r"Displaying \d+ nodes?"))).to_be_visible(timeout=_DRAW_MS)
        self._rest()
        return self._read()

    def picture(self, file: Path) -> None:
        """Save the drawing as a PNG."""
        self.frame.screenshot(path=file)

    @property
    def frame(self) -> Locator:
        """The newest frame."""
        return self.page.get_by_test_id("frame").first

    @property
    def _editor(self) -> Locator:
        return self.page.get_by_test_id("activeEditor")

    def _run(self) -> None:
        frames = self.page.get_by_test_id("frame").count()
        self.page.get_by_test_id("editor-Run").click()
        expect(self.page.get_by_test_id("frame")).not_to_have_count(frames, timeout=_DRAW_MS)

    def _rest(self) -> None:
        """Until the nodes stand still."""
        before: list[Any] = []
        while before != (
            before := self.frame.locator("svg g.node").evaluate_all("all => all.map(g => g.getAttribute('transform'))")
        ):
            self.page.wait_for_timeout(_SETTLE_MS)

    def _read(self) -> Drawing:
        nodes = self.frame.locator("svg g.node").evaluate_all(
            """all => all.map(g => [
                g.getAttribute('aria-label'),
                g.querySelector('circle.b-outline').getAttribute('fill'),
                [...g.querySelectorAll('text.caption')].map(t => t.textContent).join(''),
            ])"""
        )
        types = self.frame.locator("svg g.relationship text").evaluate_all("all => all.map(t => t.textContent)")
        return Drawing(
            {
                int(label.removeprefix("graph-node")): DrawnNode(fill, "".join(caption.split()))
                for label, fill, caption in nodes
            },
            sorted(types),
            self._counts(),
            self.frame.get_by_test_id("frameCommand").inner_text(),
        )

    def _counts(self) -> dict[str, int]:
        # Its sentence "Displaying … relationships" counts one again for each row that it is in.
        told: list[str] = self.frame.locator("[data-testid^=property-details-overview-]").all_inner_texts()
        counts: dict[str, int] = {}
        for text in told:
            name, number = re.fullmatch(r"(\S+) \((\d+)\)", text).groups()  # pyright: ignore[reportOptionalMemberAccess]
            counts.setdefault(name, int(number))  # nodes come before relationships
        return counts
