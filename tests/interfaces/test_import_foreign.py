"""Files of mem0, Letta and Zep become agents, with the dates that they have there; written in the public shapes."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest

from graphmem import Memory
from tests.interfaces.conftest import RunCli

SALT = uuid4().hex[:8]
MEM0 = {
    "results": [
        {
            "id": "m1",
            "memory": "Ana prefers tea",
            "user_id": f"ana-{SALT}",
            "created_at": "2025-03-01T10:00:00-07:00",
            "updated_at": "2025-03-02T10:00:00-07:00",
            "metadata": {"type": "preference"},
        },
        {"id": "m2", "memory": "Bo lives in Kiel", "user_id": f"bo-{SALT}", "created_at": "2025-04-01T10:00:00Z"},
        {"id": "m3", "memory": "", "user_id": f"bo-{SALT}", "created_at": "2025-04-01T10:00:00Z"},
        {"id": "m4", "memory": "undated", "user_id": f"bo-{SALT}"},
        {"id": "m2", "memory": "Bo lives in Bonn", "user_id": f"bo-{SALT}", "created_at": "2025-04-01T10:00:00Z"},
    ],
    "relations": [{"source": "ana", "relationship": "works_at", "target": "the mill"}],
}
LETTA = {
    "agents": [
        {
            "name": f"sam-{SALT}",
            "timezone": "Europe/Berlin",
            "block_ids": ["block-0"],
            "messages": [
                {"id": "message-0", "role": "system", "content": [{"type": "text", "text": "instructions"}]},
                {
                    "id": "message-1",
                    "role": "user",
                    "content": [{"type": "text", "text": "My name is Chad"}],
                    "created_at": "2025-10-31T22:56:56.459100+00:00",
                },
            ],
        }
    ],
    "blocks": [{"id": "block-0", "label": "human", "value": "Chad sails"}],
}
ZEP = {
    "episodes": [
        {
            "uuid": "e1",
            "content": "Ana: the ferry is late",
            "source": "message",
            "role": "Ana",
            "group_id": f"zep-{SALT}",
            "created_at": "2025-06-02T00:00:00Z",
            "valid_at": "2025-06-01T08:00:00Z",
        },
        {"uuid": "e2", "content": "harbour log", "source": "text", "created_at": "2025-06-03T00:00:00Z"},
    ]
}


def written(folder: Path, data: object) -> str:
    file = folder / "file.json"
    file.write_text(json.dumps(data), "utf-8")
    return str(file)


def test_mem0_with_the_relations_of_its_graph(cli: RunCli, sync_memory: Memory, tmp_path: Path) -> None:
    file = written(tmp_path, MEM0)
    done = cli("import", file, "--format", "mem0", "--json")
    assert done.code == 1
    told = {agent["id"]: agent for agent in done.json["agents"]}
    assert {id_: agent["added"] for id_, agent in told.items()} == {f"ana-{SALT}": 2, f"bo-{SALT}": 1}
    assert [line.split(":")[0] for line in told[f"bo-{SALT}"]["left_out"]] == [
        "memory 3",
        "memory 4",
        "memory 5",
    ]
    ana = sync_memory.agent(f"ana-{SALT}")
    kept = ana.get("m1")
    assert (kept.text, kept.occurred_at.isoformat()) == ("Ana prefers tea", "2025-03-01T17:00:00+00:00")
    assert kept.imported_at is not None
    assert kept.imported_at > kept.recorded_at == kept.occurred_at
    (relation,) = ana.about("the mill")
    assert (relation.text, relation.subject, relation.predicate) == ("ana works at the mill", "ana", "works_at")
    again = cli("import", file, "--format", "mem0", "--json").json
    assert {agent["added"] for agent in again["agents"]} == {0}


def test_an_agent_file_of_letta(cli: RunCli, sync_memory: Memory, tmp_path: Path) -> None:
    done = cli("import", written(tmp_path, LETTA), "--format", "letta")
    assert done.code == 0, done.err
    sam = sync_memory.agent(f"sam-{SALT}")
    assert sam.info().time_zone == "Europe/Berlin"
    told = {memory.id: memory for memory in sam.memories()}
    assert {id_: memory.text for id_, memory in told.items()} == {
        "message-1": "My name is Chad",
        "block-0": "Chad sails",
    }
    assert told["message-1"].occurred_at == told["block-0"].occurred_at
    assert told["message-1"].kind == "utterance"


def test_episodes_of_zep(cli: RunCli, sync_memory: Memory, tmp_path: Path) -> None:
    file = written(tmp_path, ZEP)
    refused = cli("import", file, "--format", "zep")
    assert (refused.code, "episode 2 does not say whose it is" in refused.err) == (1, True)
    assert cli("import", file, "--format", "zep", "--agent", f"rest-{SALT}").code == 0
    first = sync_memory.agent(f"zep-{SALT}").get("e1")
    assert first.occurred_at.isoformat() == "2025-06-01T08:00:00+00:00"
    assert sync_memory.agent(f"rest-{SALT}").get("e2").kind == "event"


@pytest.mark.parametrize("format", ["mem0", "letta", "zep"])
def test_other_files_are_refused_in_a_line(cli: RunCli, tmp_path: Path, format: str) -> None:
    for data in ({"something": 1}, "text", 3):
        refused = cli("import", written(tmp_path, data), "--format", format)
        assert refused.code == 1
        assert "the file has no list of" in refused.err
    assert "is not JSON" in cli("import", __file__, "--format", format).err
