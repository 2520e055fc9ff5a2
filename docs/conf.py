"""How the documentation is built: ``make docs``.

The pages are Markdown that also reads well in a repository's web view. What stands outside docs/ (the changelog and the
like) is read in from there, and the catalogue of statements is made from the files that graphmem runs.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import graphmem  # noqa: E402 - found by the line above
from graphmem.graph.queries import queries  # noqa: E402

project = "graphmem"
author = "The graphmem authors"
release = version = graphmem.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinxcontrib.mermaid"]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"graphmem {release}"
html_copy_source = False

# Anchors as they are in a repository's web view, which the tests follow as well.
myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]
suppress_warnings = [
    "myst.header",  # a page may begin with a smaller heading where it is part of another
    "ref.python",  # fields of several values share a name, and no reference was meant
]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_class_signature = "separated"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "inherited-members": "BaseModel,BaseSettings,Exception"}
napoleon_google_docstring = True
napoleon_numpy_docstring = False

_OUTSIDE = {"changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md", "stories": "seeds/README.md"}
"""Pages that are read in from elsewhere."""
_INSIDE = {"README.md": "index.md", **{file: f"{page}.md" for page, file in _OUTSIDE.items()}}
"""Files outside, by the page that stands for each."""
_LINK = re.compile(r"\[([^\]\[]*)\]\((?!https?:)([^)#\s]+)((?:#[^)]*)?)\)")


def _read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Give a page its text, and let links to what stands outside lead to the page that stands for it."""
    folder = ROOT / "docs"
    if docname in _OUTSIDE:
        file = ROOT / _OUTSIDE[docname]
        source[0], folder = file.read_text("utf-8"), file.parent

    def within(match: re.Match[str]) -> str:
        text, link, fragment = match.groups()
        target = (folder / link).resolve()
        if target.is_relative_to(ROOT / "docs"):
            return f"[{text}]({target.relative_to(ROOT / 'docs').as_posix()}{fragment})"
        name = target.relative_to(ROOT).as_posix()
        if name not in _INSIDE:
            return text  # a file of the repository that has no page
        return f"[{text}]({_INSIDE[name]}{fragment if name != 'README.md' else ''})"

    source[0] = _LINK.sub(within, source[0])
    if docname == "api":
        modules = sorted(path.stem for path in (ROOT / "graphmem" / "models").glob("[a-z]*.py"))
        shown = "\n".join(f".. automodule:: graphmem.models.{module}" for module in modules)
        source[0] = source[0].replace(".. every module of graphmem.models", shown)
    if docname == "index":
        named = set(source[0].split())
        if more := [page for page in sorted(app.env.found_docs) if page != "index" and page not in named]:
            source[0] += "\n".join(["\n```{toctree}", ":caption: More", ":maxdepth: 1", "", *more, "```", ""])


def _drawn(_app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
    """Show a tree that is drawn in a docstring as it stands."""
    drawn = [n for n, line in enumerate(lines) if line.startswith(("├", "│", "└"))]
    if drawn:
        first, last = drawn[0] - 1, drawn[-1]
        lines[first : last + 1] = ["::", "", *(f"    {line}" for line in lines[first : last + 1])]


class CypherCatalogue(Directive):
    """Every statement under ``cypher/``, by area: what it is for, as the head of its file says, and the statement."""

    def run(self) -> list[nodes.Node]:
        """Make a section for each area."""
        areas: dict[str, list[str]] = {}
        for name in sorted(queries):
            areas.setdefault(name.partition("/")[0], []).append(name)
        return [_area(area, names) for area, names in areas.items()]


def _area(area: str, names: list[str]) -> nodes.section:
    section = nodes.section(ids=[f"cypher-{area}"])
    section += nodes.title(text=area)
    for name in names:
        query = queries[name]
        part = nodes.section(ids=[nodes.make_id(f"cypher-{name}")])
        part += nodes.title(text=name)
        described = nodes.line_block()
        for line in query.description.splitlines():
            described += nodes.line(text=line)
        part += described
        text = query.text.removeprefix("CYPHER 25\n")
        part += nodes.literal_block(text, text, language="cypher", force=True)  # Pygments knows no parameters
        section += part
    return section


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the above to Sphinx."""
    app.connect("source-read", _read)
    app.connect("autodoc-process-docstring", _drawn)
    app.add_directive("cypher-catalogue", CypherCatalogue)
    return {"parallel_read_safe": True}
