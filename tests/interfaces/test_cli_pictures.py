"""``explain`` and ``tree`` as pictures, and the timeline, from the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pydot
import pytest

from graphmem import Agent
from tests.interfaces.conftest import RunCli


@pytest.fixture
def insight(thinker: Agent) -> str:
    (found, *_) = thinker.reflect(force=True).reflections
    return found.id


def test_explain_in_mermaid_draws_what_it_rests_on(cli: RunCli, thinker: Agent, insight: str) -> None:
    result = cli("explain", insight, "--agent", thinker.id, "--format", "mermaid")
    assert result.code == 0
    assert result.out.startswith("flowchart TD\n")
    assert len(re.findall(r"^  n0 --> n\d+$", result.out, re.MULTILINE)) == len(thinker.explain(insight).grounds)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # pydot's, of its own parser
def test_tree_in_dot_goes_to_a_file_and_says_what_is_left_out(
    cli: RunCli, thinker: Agent, insight: str, tmp_path: Path
) -> None:
    file = tmp_path / "tree.dot"
    result = cli("tree", insight, "--agent", thinker.id, "--format", "dot", "--output", str(file), "--limit", "1")
    assert result.code == 0
    assert f"wrote {file}" in result.out
    assert "further below not drawn" in result.err
    parsed = pydot.graph_from_dot_file(str(file))
    assert parsed is not None
    assert len(parsed[0].get_edges()) == 1


def test_a_page_is_written_whole(cli: RunCli, thinker: Agent, insight: str, tmp_path: Path) -> None:
    file = tmp_path / "why.html"
    result = cli("explain", insight, "--agent", thinker.id, "--format", "html", "--output", str(file))
    assert result.code == 0
    page = file.read_text("utf-8")
    assert page.rstrip().endswith("</html>")
    assert insight in page


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--format", "html"], "--output why.html"),
        (["--format", "dot", "--json"], "leave one of them out"),
        (["--output", "x.dot"], "add --format"),
        (["--format", "dot", "--output", "/nowhere/x.dot"], "a folder that you may write to"),
    ],
)
def test_what_does_not_go_together_is_told(
    options: list[str], told: str, cli: RunCli, thinker: Agent, insight: str
) -> None:
    result = cli("explain", insight, "--agent", thinker.id, *options)
    assert result.code == (2 if "/nowhere/x.dot" in options else 1)
    assert told in result.err


def test_the_timeline_tells_what_happened(cli: RunCli, thinker: Agent, insight: str) -> None:
    result = cli("timeline", "--agent", thinker.id)
    assert result.code == 0
    kinds = re.findall(r"UTC  (observed|inferred) ", result.out)
    assert kinds.count("observed") == 4
    assert "inferred" in kinds
    events = cli("timeline", "--agent", thinker.id, "--json").json["events"]
    assert [event["type"] for event in events] == kinds
    assert "may be more" in cli("timeline", "--agent", thinker.id, "--limit", "2").err
