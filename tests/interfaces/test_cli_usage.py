"""The command line itself: help, usage errors, exit codes, start-up time. Nothing here needs a store."""

import json
import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

import pytest
import typer

from graphmem.interfaces.cli.app import app
from graphmem.interfaces.cli.common import as_json
from graphmem.interfaces.cli.retrieve import KINDS
from graphmem.interfaces.cli.talk import TYPES
from graphmem.interfaces.cli.values import AGE, DAY, STEP, TIME
from graphmem.interfaces.tools import EFFECTS
from graphmem.models import Kind, Status
from graphmem.models.answers import MemoryType
from tests.interfaces.conftest import RunCli

ROOT: Any = typer.main.get_command(app)
COMMANDS = sorted(ROOT.commands)


def test_the_commands_there_are() -> None:
    assert set(COMMANDS) >= {
        "demo",
        "observe",
        "about",
        "history",
        "runs",
        "run",
        "doctor",
        "work",
        "up",
        "down",
        "status",
        "ingest",
        "retrieve",
        "reflect",
        "supersede",
        "retract",
        "recompute",
        "tree",
        "explain",
        "agents",
        "memories",
        "browser",
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_help_explains_and_ends_with_an_example(name: str, offline: RunCli) -> None:
    result = offline(name, "--help")
    assert result.code == 0
    assert f"graphmem {name}" in result.out
    assert "Example: graphmem" in result.out
    assert "--uri" in result.out
    assert "--debug" in result.out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_of_each_argument_and_option_what_it_is_for(name: str) -> None:
    """In a sentence; what is there without it where that is not said as a default; and who may be new."""
    command = ROOT.commands[name]
    assert re.match(r"[A-Z][^\n]+[.;:]", command.help)
    for parameter in command.params:
        if parameter.name == "help":
            continue
        assert re.fullmatch(r"\S.*\.", parameter.help, re.DOTALL), (parameter.opts, parameter.help)
        if parameter.name == "agent":
            assert ("makes the agent" in parameter.help) == (name in ("observe", "ingest", "mcp"))


@pytest.mark.parametrize("name", COMMANDS)
def test_arguments_are_shown_as_what_a_person_puts_there(name: str) -> None:
    for parameter in ROOT.commands[name].params:
        if parameter.param_type_name == "argument":
            assert re.fullmatch(r"[A-Z_|-]+", str(parameter.metavar)), parameter.metavar


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_are_such_as_parse(name: str) -> None:
    command = ROOT.commands[name]
    for example in command.epilog.split("\n\n"):
        program, called, *arguments = shlex.split(example.removeprefix("Example: "))
        assert (program, called) == ("graphmem", name)
        there = {"ingest": "-", "import-simulation": "."}
        there |= dict.fromkeys(("calibrate", "try", "import"), __file__)
        if name in there:
            arguments[0] = there[name]  # what the example names is not
        assert command.make_context(name, arguments).params


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("demo", "mcp")])
def test_every_command_with_a_result_has_json(name: str) -> None:
    assert any("--json" in parameter.opts for parameter in ROOT.commands[name].params)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["retrieve", "x"], "--agent"),
        (["retrieve", "--agent", "a"], "QUERY"),
        (["retrieve", "x", "--agent", "a", "--k", "five"], "'--k'"),
        (["nonsense"], "nonsense"),
        (["tree", "--agent", "a", "--depth", "-1"], "--depth"),
        (["tree", "--agent", "a", "--limit", "0"], "--limit"),
        (["recompute", "--agent", "a", "--limit", "0"], "--limit"),
        (["supersede", "x", "--agent", "a"], "--text"),
        (["supersede", "x", "--agent", "a", "--text", "t", "--by", "y"], "--text"),
        (["supersede", "x", "--agent", "a", "--text", "t", "--mode", "oops"], "oops"),
        (["memories", "--agent", "a", "--status", "sleepy"], "sleepy"),
        (["memories", "--agent", "a", "--limit", "0"], "--limit"),
        (["about", "x", "--agent", "a", "--limit", "10001"], "--limit"),
        (["about", "--agent", "a"], "ENTITY"),
        (["runs", "--agent", "a", "--limit", "-1"], "--limit"),
        (["run", "--agent", "a"], "ID"),
        (["history", "--agent", "a"], "ID"),
        (["doctor"], "--agent"),
        (["observe", "--agent", "a"], "TEXT"),
        (["observe", "x"], "--agent"),
        (["observe", "x", "--agent", "a", "--importance", "11"], "--importance"),
        (["observe", "x", "--agent", "a", "--importance", "high"], "--importance"),
        (["observe", "x", "--agent", "a", "--kind", "insight"], "insight"),
        (["--no-such-option"], "--no-such-option"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_told_in_a_line_with_a_remedy(arguments: list[str], words: str, offline: RunCli) -> None:
    result = offline(*arguments)
    assert result.code == 2
    assert result.out == ""
    error, remedy = result.complaints.splitlines()
    assert error.startswith("error: ")
    assert words in error
    assert re.fullmatch(r"remedy: see graphmem.* --help", remedy)


TIMES = {
    TIME: ("25:00", "yesterdy", "2026-13-40T10:00Z", "2026-05-18T13:47:00", "2026-05-18", ""),
    DAY: ("2026-13-40", "yesterdy", "18.5.2026", ""),
    AGE: ("3y", "-1d", "a week", "9" * 40 + "d", ""),
    STEP: ("0m", "90", "1.5m", "2d", "now", ""),
}


def options_of_times() -> list[tuple[str, str, str]]:
    return [
        (name, parameter.opts[0], parameter.metavar)
        for name, command in sorted(ROOT.commands.items())
        for parameter in command.params
        if parameter.metavar in TIMES
    ]


def test_no_option_takes_a_time_in_a_way_of_its_own() -> None:
    """Whatever is called as options of times are, or speaks of a zone, is one of the options that are tried below."""
    known = {(name, option) for name, option, _ in options_of_times()}
    assert len(known) >= 13
    for name, command in ROOT.commands.items():
        for parameter in command.params:
            told = f"{getattr(parameter, 'help', '')}"
            times = {"at", "as_of", "since", "until", "start", "date", "older_than", "step"} & {parameter.name}
            if parameter.metavar in ("REVISION", "NAME|FILE"):
                continue
            if times or parameter.name == "before" or " with a zone" in told:
                assert (name, parameter.opts[0]) in known


def required(name: str, but: str) -> list[str]:
    """What a command cannot be called without, apart from one option."""
    given: list[str] = []
    for parameter in ROOT.commands[name].params:
        if parameter.required and parameter.opts[0] != but:
            value = {"older_than": "90d", "importance_below": "3"}.get(parameter.name, "x")
            given += [value] if parameter.param_type_name == "argument" else [parameter.opts[0], value]
    return [*given, "--agent", "x"] if name == "interview" else given


@pytest.mark.parametrize(
    ("name", "option", "wrong"),
    [(name, option, wrong) for name, option, kind in options_of_times() for wrong in TIMES[kind]],
)
def test_a_time_that_is_none_is_wrong_usage_and_told_what_to_write_instead(
    name: str, option: str, wrong: str, offline: RunCli
) -> None:
    result = offline(name, *required(name, option), option, wrong, "--uri", "bolt://127.0.0.1:1")
    assert (result.code, result.out) == (2, "")
    error, remedy = result.complaints.splitlines()
    assert error.startswith("error: ")
    assert f"'{option}'" in error
    assert wrong in error
    assert not re.search(r"datetime|isoformat|timedelta|Value error|Error", result.err)
    assert re.fullmatch(rf"remedy: .+, as in: {option} \S+", remedy)


@pytest.mark.parametrize(("name", "option", "kind"), options_of_times())
def test_what_the_remedy_says_can_be_pasted(name: str, option: str, kind: str, offline: RunCli) -> None:
    call = (name, *required(name, option), "--uri", "bolt://127.0.0.1:1", option)
    instead = offline(*call, TIMES[kind][0]).err.rstrip().split(f"as in: {option} ")[1]
    result = offline(*call, instead)  # It goes as far as the server, which is not there.
    assert result.code == 1
    assert "bolt://127.0.0.1:1" in result.err


@pytest.mark.parametrize(
    ("arguments", "words", "instead"),
    [
        (["retrieve", "x", "-a", "a", "--kind", "fax"], "'fax'", "choose of event, utterance, "),
        (["ask", "x", "-a", "a", "--type", "fax"], "'fax'", "choose of observation, reflection, plan"),
        (["retrieve", "x", "-a", "a", "--k", "0"], "0 is too little, 1 is the least", "see graphmem retrieve --help"),
        (["retrieve", "x", "-a", "a", "--k", "10001"], "10,000 is the most", "see graphmem retrieve --help"),
        (["retrieve", "x", "-a", "a", "--k", "five"], "'five' is not a whole number", "see graphmem retrieve --help"),
        (["simulate", "--hours", "long"], "'long' is not a number", "see graphmem simulate --help"),
        (["simulate", "--hours", "0.1", "--step", "1h"], "shorter than a step", "give more --hours"),
        (["retrieve", "x", "-a", "a", "--token-budget", "0"], "1 is the least", "see graphmem retrieve --help"),
        (["converse", "a", "b", "--turns", "101"], "100 is the most", "see graphmem converse --help"),
        (["retrieve", "x", "-a", " "], "is empty", "see graphmem retrieve --help"),
        (["work", "-a", "y" * 513], "512", "see graphmem work --help"),
        (["export", "-a", "a", "-a", ""], "is empty", "see graphmem export --help"),
        (["agents", "--embedding", "nonsense"], "'nonsense'", "choose auto, one of onnx/"),
        (["agents", "--uri", "nonsense"], "'nonsense' is not a Neo4j address", "use bolt://nonsense"),
        (["observe", "x", "-a", "a", "--source", " "], "source: is empty", "see graphmem observe --help"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_value_that_is_refused_is_wrong_usage(
    arguments: list[str], words: str, instead: str, offline: RunCli
) -> None:
    result = offline(*arguments, *([] if "--uri" in arguments else ["--uri", "bolt://127.0.0.1:1"]))
    assert (result.code, result.out) == (2, "")
    error, remedy = result.complaints.splitlines()
    assert words in error
    assert remedy.startswith(f"remedy: {instead}")


def test_a_setting_of_the_environments_that_is_refused_is_no_wrong_usage(
    offline: RunCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHMEM_EMBEDDING", "nonsense")
    assert offline("agents", "--uri", "bolt://127.0.0.1:1").code == 1


def test_the_kinds_and_types_to_choose_from_are_those_there_are() -> None:
    assert set(KINDS) == set(get_args(Kind))
    assert set(TYPES) == set(get_args(MemoryType))


@pytest.mark.parametrize(
    ("arguments", "suggested"),
    [
        (["retreive", "x"], ["retrieve"]),
        (["recomp"], ["recompute"]),
        (["exprot"], ["export"]),
        (["simulat"], ["simulate"]),
        (["import-"], ["import", "import-simulation"]),
        (["re"], []),
        (["ls"], []),
        (["whyy"], []),
        (["nonsense"], []),
        (["retrieve", "x", "--agnt", "a"], ["--agent"]),
        (["retrieve", "x", "--embeding", "a"], ["--embedding"]),
        (["retrieve", "x", "--no-tuch"], ["--no-touch", "--touch"]),
        (["retrieve", "x", "--colour"], []),
    ],
    ids=lambda value: " ".join(value),
)
def test_only_what_is_near_to_a_slip_is_suggested(arguments: list[str], suggested: list[str], offline: RunCli) -> None:
    result = offline(*arguments)
    assert result.code == 2
    _, asked, names = result.complaints.splitlines()[0].partition("; did you mean ")
    assert names.rstrip("?").split(" or ") == suggested if suggested else not asked


@pytest.mark.parametrize("tool", EFFECTS)
def test_a_tool_of_mcp_is_a_command_or_leads_to_one(tool: str, offline: RunCli) -> None:
    if tool not in COMMANDS:
        result = offline(tool)
        told = re.fullmatch(
            r"error: there is no command '\w+'; at the command line it is (\w+)", result.complaints.split("\n")[0]
        )
        assert told is not None
        assert told[1] in COMMANDS


def test_three_names_at_most_are_suggested(offline: RunCli) -> None:
    for name in ("rec", "ret", "import-simulation-", "simulat"):
        told = offline(name).complaints.splitlines()[0]
        assert told.count(" or ") <= 2


@pytest.mark.parametrize(
    "weights",
    ["relevance", "speed=1", "relevance=x", "relevance=1,relevance=2", "relevance=nan", "relevance=-1", "",
     "relevance=0,recency=0,importance=0"],
)  # fmt: skip
def test_weights_that_make_no_sense_are_refused_before_a_store_is_opened(weights: str, offline: RunCli) -> None:
    result = offline("retrieve", "x", "--agent", "a", "--weights", weights, "--uri", "bolt://127.0.0.1:1")
    assert result.code == 2
    assert result.complaints.startswith("error: ")
    assert "connection" not in result.err


@pytest.mark.parametrize(
    ("arguments", "stdin", "words"),
    [
        ([""], b"", "text: is empty"),
        ([" \n"], b"", "text: is empty"),
        (["-"], b"\n\n", "text: is empty"),
        (["-"], b"caf\xe9", "not UTF-8: byte 4"),
        (["-"], b"nul \0 inside", "U+0000"),
        (["-"], b"x" * 100_001, "100000 characters"),
        (["x", "--source", " "], b"", "source: is empty"),
        (["x", "--keyword", "a", "--keyword", ""], b"", "keywords.1: is empty"),
        (["x", "--id", "y" * 513], b"", "id: "),
    ],
)
def test_an_observation_that_cannot_be_is_refused_before_a_store_is_opened(
    arguments: list[str], stdin: bytes, words: str, offline: RunCli
) -> None:
    result = offline("observe", *arguments, "--agent", "a", "--uri", "bolt://127.0.0.1:1", stdin=stdin)
    assert (result.code, result.out) == (2, "")
    assert result.complaints.startswith("error: ")
    assert words in result.err
    assert "connection" not in result.err


def test_no_server_is_one_line_with_a_remedy_and_debug_shows_more(offline: RunCli) -> None:
    arguments = ["agents", "--uri", "bolt://127.0.0.1:1", "--user", "neo4j"]
    result = offline(*arguments)
    assert result.code == 1
    assert result.out == ""
    error, remedy = result.complaints.splitlines()
    assert error.startswith("error: ")
    assert "bolt://127.0.0.1:1" in error
    assert remedy.startswith("remedy: ")
    assert "Traceback" in offline(*arguments, "--debug").err


@pytest.mark.parametrize("command", ["up", "down"])
def test_up_and_down_leave_other_servers_alone(command: str, offline: RunCli) -> None:
    result = offline(command, "--uri", "bolt://127.0.0.1:1")
    assert result.code == 1
    assert "not one that graphmem starts or stops" in result.err


def test_an_unknown_embedding_model_is_refused_with_those_there_are(offline: RunCli) -> None:
    result = offline("agents", "--uri", "bolt://127.0.0.1:1", "--embedding", "nonsense")
    assert result.code == 2
    assert "onnx/bge-small-en-v1.5" in result.err


def test_the_statuses_to_choose_from_are_those_there_are(offline: RunCli) -> None:
    assert offline("memories", "--agent", "a", "--status", "sleepy").err.count("'") >= len(get_args(Status))


def test_browser_for_another_server_needs_no_connection(offline: RunCli) -> None:
    result = offline("browser", "--uri", "bolt://example.test:7687", "--database", "lab", "--agent", "o'brien")
    assert result.code == 0
    assert "bolt://example.test:7687, database lab" in result.out
    assert r"'o\'brien'" in result.out
    assert "http://example.test:7474/browser/?dbms=bolt://neo4j@example.test:7687&cmd=edit&arg=MATCH" in result.out
    answer = offline("browser", "--uri", "bolt://example.test:7687", "--database", "lab", "--json").json
    assert answer["store"] == {"uri": "bolt://example.test:7687", "database": "lab"}
    assert "embedding" not in answer["query"]


def test_browser_for_docker_composes_server_is_at_its_web_port(offline: RunCli) -> None:
    answer = offline("browser", "cited", "--agent", "a", "--uri", "bolt://127.0.0.1:7687", "--json").json
    assert answer["browser_url"] == "http://127.0.0.1:7474/browser/?dbms=bolt://neo4j@127.0.0.1:7687"
    assert answer["url"] == f"{answer['browser_url']}&cmd=edit&arg={quote(answer['query'], safe='')}"
    assert "{agentId: 'a'}" in answer["query"]
    assert offline("browser", "--uri", "neo4j+s://example.test", "--json").json["url"] is None


def test_browser_lists_its_queries_with_what_each_shows(offline: RunCli) -> None:
    there = {path.stem for path in (Path(__file__).parents[2] / "cypher" / "browser").glob("*.cypher")}
    uri = ("--uri", "bolt://example.test:7687")
    listed = offline("browser", *uri, "--json").json["queries"]
    assert set(listed) == there
    out = offline("browser", *uri).out
    for name, shows in listed.items():
        assert re.search(rf"^{name} +{re.escape(shows)}$", out, re.MULTILINE)
        assert ":param" not in shows


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["sleeping"], "choose one of beliefs, cited,"),
        (["tree", "x"], "--agent ID"),
        (["tree", "--agent", "a"], "graphmem browser tree ID --agent"),
        (["run", "--agent", "a"], "shows one run"),
        (["cited", "x", "--agent", "a"], "leave the id out"),
        (["stale", "--agent", "a", "--agent", "b"], "one agent"),
        (["--open"], "not known for this server"),
    ],
)
def test_browser_says_what_a_query_needs(arguments: list[str], told: str, offline: RunCli) -> None:
    result = offline("browser", *arguments, "--uri", "neo4j+s://example.test")
    assert result.code == 1
    assert told in result.err


def test_browser_opens_the_address(offline: RunCli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opener, opened = tmp_path / "opener", tmp_path / "opened"
    opener.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}\n')
    opener.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{opener} %s")
    result = offline("browser", "--uri", "bolt://example.test:7687", "--open", "--json")
    assert result.code == 0
    assert opened.read_text() == result.json["url"]


def test_json_holds_no_character_that_steers_a_terminal() -> None:
    hostile = "\x1b[31m \x9b2J \u202e \ufeff \ud83e \x7f 北 👨‍👩‍👧"
    text = as_json({"text": hostile, hostile: [1.5, None, True]})
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ufeff\ud800-\udfff]", text)
    assert "北 👨‍👩‍👧" in text
    assert json.loads(text) == {"text": hostile, hostile: [1.5, None, True]}


def test_version() -> None:
    run = subprocess.run([sys.executable, "-m", "graphmem", "--version"], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"graphmem \d+\.\d+\.\d+\n", run.stdout)


def test_no_arguments_show_the_help() -> None:
    run = subprocess.run([sys.executable, "-m", "graphmem"], capture_output=True, text=True, check=True)
    assert "Usage" in run.stdout
    assert all(name in run.stdout for name in COMMANDS)


def test_help_imports_nothing_heavy_and_is_quick() -> None:
    code = (
        "import sys\n"
        "from graphmem.interfaces.cli.app import run\n"
        "assert run(['retrieve', '--help']) == 0\n"
        "heavy = {'neo4j', 'numpy', 'litellm', 'onnxruntime', 'jpype', 'anyio'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    def seconds(*arguments: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    needed = min(seconds("-c", "import pydantic, typer.rich_utils") for _ in range(3))
    assert min(seconds("-m", "graphmem", "--help") for _ in range(3)) < 4 * needed
