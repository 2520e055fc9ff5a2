"""``status`` on a store with something in it."""

from __future__ import annotations

import re

from graphmem.agent import Agent
from tests.interfaces.conftest import RunCli


def test_status_tells_what_waits_and_what_it_cost(cli: RunCli, thinker: Agent) -> None:
    thinker.reflect(force=True)
    thinker.supersede("D1:2", text="I drive a Kia")
    stale = list(thinker.memories(status="stale"))
    assert stale
    answer = cli("status", "--json").json
    waiting = next(item for item in answer["backlog"] if item["agent_id"] == thinker.id)
    assert waiting["since"] is not None
    mine = next(agent for agent in answer["agents"] if agent["id"] == thinker.id)
    assert (mine["stale"], mine["reflection_threshold"], mine["not_embedded"]) == (len(stale), 150, 0)
    counts = {(item["kind"], item["status"]): item["memories"] for item in answer["counts"]}
    assert counts["insight", "stale"] >= len(stale)
    assert counts["utterance", "superseded"] >= 1
    assert {index["state"] for index in answer["indexes"]} == {"ONLINE"}
    assert answer["runs"] >= 1
    assert answer["prompt_tokens"] > 0
    shown = cli("status").out
    assert re.search(r"^insight +.*\d+ stale", shown, re.MULTILINE)
    assert re.search(r"^stale +of \d+ agents?, recomputed by graphmem work; the oldest for \d+ ", shown, re.MULTILINE)
    assert re.search(r"^reflection +due for \d+ agents?; nearest is ", shown, re.MULTILINE)
    assert re.search(r"^indexes +\d+ online$", shown, re.MULTILINE)
    assert re.search(r"^cost +[\d,]+ runs? of a language model, ", shown, re.MULTILINE)
