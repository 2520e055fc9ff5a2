"""``ask``, ``converse`` and ``diffusion`` at the command line."""

from __future__ import annotations

import pytest

from .conftest import RunCli, jsonl


@pytest.fixture
def pair(cli: RunCli, agent_id: str) -> tuple[str, str]:
    """One who gives a feast, and one who does not know."""
    one, other = f"{agent_id}-a", f"{agent_id}-b"
    items = {"id": "feast", "text": "A lantern feast is in the net loft on Friday.", "importance": 8}
    assert cli("ingest", "-", "--agent", one, stdin=jsonl(items).encode()).code == 0
    assert cli("observe", "The tide is high", "--agent", other).code == 0
    return one, other


def test_asking_tells_what_bears_it_out(cli: RunCli, pair: tuple[str, str]) -> None:
    found = cli("ask", "Where is the lantern feast?", "--agent", pair[0])
    assert found.code == 0
    assert "A lantern feast is in the net loft on Friday.  [feast]" in found.out
    unknown = cli("ask", "Who discovered penicillin?", "--agent", pair[0], "--json")
    assert (unknown.code, unknown.json["known"], unknown.json["text"]) == (0, False, "I do not know.")
    assert unknown.json["looked_at"] == ["feast"]
    assert cli("ask", "Who?", "--agent", pair[0], "--type", "dream").code == 2
    then = cli("ask", "Where is the lantern feast?", "--agent", pair[0], "--as-of", "2020-01-01T00:00:00Z", "--json")
    assert (then.code, then.json["known"], then.json["as_of"]) == (0, False, "2020-01-01T00:00:00Z")


def test_what_is_told_is_followed(cli: RunCli, pair: tuple[str, str]) -> None:
    talk = cli("converse", *pair, "--about", "the lantern feast", "--id", "quay")
    assert talk.code == 0
    assert f"{pair[0]}: A lantern feast is in the net loft on Friday.  [feast]" in talk.out
    assert cli("converse", *pair, "--about", "the lantern feast", "--id", "quay", "--json").json["resumed"] == 1
    among = ["--agents", ",".join(pair)]
    text = cli("diffusion", "feast", "--from", pair[0], *among)
    assert f"{pair[1]}  heard from {pair[0]}" in text.out
    assert "network density: 0.000 before" in text.out
    answer = cli("diffusion", "the lantern feast", *among, "--json").json
    assert [one["stage"] for one in answer["agents"]] == ["heard", "heard"]
    drawn = cli("diffusion", "feast", "--from", pair[0], *among, "--format", "mermaid").out
    assert "n0 -- told --> n1" in drawn
    dot = cli("diffusion", "feast", "--from", pair[0], *among, "--format", "dot").out
    assert dot.count("n0 -> n1") == dot.count(" -> ") == 1


def test_who_may_be_meant_is_named(cli: RunCli, agent_id: str) -> None:
    assert cli("observe", "The tide is high", "--agent", f"{agent_id}/mara").code == 0
    refused = cli("diffusion", "tide", "--from", "mara")
    assert refused.code == 1
    assert "error: there is no agent 'mara'" in refused.err
    assert "remedy: did you mean '" in refused.err
    other = cli("diffusion", "tide", "--from", f"{agent_id}/MARA")
    assert f"remedy: did you mean '{agent_id}/mara'?" in other.err


def test_a_picture_as_a_page(cli: RunCli, pair: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> None:
    page = tmp_path_factory.mktemp("pages") / "feast.html"
    among = ["--agents", ",".join(pair)]
    found = cli("diffusion", "feast", "--from", pair[0], *among, "--format", "html", "--output", str(page))
    assert found.code == 0
    assert "<html" in page.read_text("utf-8").lower()
    assert cli("diffusion", "nothing of the kind", *among).code == 1
