"""Archive and unarchive, as a person uses them."""

from __future__ import annotations

from tests.interfaces.conftest import RunCli, jsonl


def test_archive_after_a_dry_run_and_back(cli: RunCli, agent_id: str) -> None:
    items = [
        {"id": f"g{n}", "text": f"gull {n}", "importance": n, "occurred_at": "2020-01-01T00:00:00Z"} for n in (1, 2, 5)
    ]
    assert cli("ingest", "-", "--agent", agent_id, stdin=jsonl(*items).encode()).code == 0
    asked = ("archive", "--agent", agent_id, "--older-than", "0d", "--importance-below", "3")
    plan = cli(*asked, "--dry-run")
    assert plan.code == 0
    assert "would archive 2 observations" in plan.out
    assert "gull 2" in plan.out
    assert cli("memories", "--agent", agent_id, "--status", "archived", "--json").json["memories"] == []
    answer = cli(*asked, "--json").json
    assert (set(answer["ids"]), answer["dry_run"]) == ({"g1", "g2"}, False)
    assert "gull 1" not in cli("retrieve", "gull", "--agent", agent_id).out
    assert cli("unarchive", "--agent", agent_id).code == 2
    assert "took out 1 memory" in cli("unarchive", "g1", "--agent", agent_id).out
    assert cli("unarchive", "--all", "--agent", agent_id, "--json").json["ids"] == ["g2"]
    assert "gull 1" in cli("retrieve", "gull", "--agent", agent_id).out
    wrong = cli("archive", "--agent", agent_id, "--older-than", "soon", "--importance-below", "3")
    assert wrong.code == 2
    assert "as in: --older-than 90d" in wrong.err
