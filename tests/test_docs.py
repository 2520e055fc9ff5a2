"""The documents keep up: what they list is what there is."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from graphmem.graph.schema import index_names

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("seeds/*.md")])


def section(document: str, heading: str) -> str:
    """What stands under a heading, up to the next of its level."""
    text = (ROOT / document).read_text("utf-8")
    level, _, _ = heading.partition(" ")
    return text.split(f"\n{heading}\n", 1)[1].split(f"\n{level} ", 1)[0]


def listed(table: str) -> set[str]:
    """Everything in backticks in the first columns of tables."""
    cells = re.findall(r"^\| (`[^|]*`[^|]*) \|", table, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def requirements() -> set[str]:
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"].values()
    lines = [*project["dependencies"], *(line for extra in extras for line in extra)]
    names = {re.split(r"[\s<>=~!;]", line, maxsplit=1)[0] for line in lines}
    return {name for name in names if not name.startswith("graphmem")}


def test_each_dependency_has_its_reason() -> None:
    assert listed(section("docs/decisions.md", "## Dependencies")) == requirements()


def test_each_index_is_described() -> None:
    assert listed(section("docs/graph-model.md", "## Constraints and indexes")) == index_names()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    text = document.read_text("utf-8")
    for link, fragment in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", text):
        if link.startswith("http"):
            continue
        target = (document.parent / link).resolve() if link else document
        assert target.is_file(), link
        if fragment:
            headings = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert fragment in slugs, fragment
