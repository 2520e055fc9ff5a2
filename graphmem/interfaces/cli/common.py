"""What all commands share: their common options, consoles, the store, JSON output, and how errors are told."""

from __future__ import annotations

import copy
import errno
import functools
import inspect
import json
import re
import shutil
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, get_args

import typer

from graphmem.errors import GraphmemError, InvalidFile, InvalidSettings
from graphmem.interfaces.cli.values import WrongValue

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from graphmem import AsyncMemory, Memory
    from graphmem.interfaces.progress import Progress
    from graphmem.settings import Settings
    from graphmem.views.tree import Tree

P = ParamSpec("P")

WRONG_USAGE, INTERRUPTED = 2, 130
_FULL = (errno.ENOSPC, errno.EDQUOT)

REMEMBER, BELIEVE, LOOK, SERVER = "Remember", "Believe", "Look", "Neo4j"
"""Headings under which commands are listed."""

_PIPE_WIDTH = 140
"""Columns where the output is not a terminal and COLUMNS is not set."""


_COMPLETION_SECONDS = 2.0
_MOST_COMPLETIONS = 100
_PLAIN = re.compile(r"[\w.@+=,/][\w.@+=,/-]*")
"""Ids that every shell takes as they are; others are not offered, since completion would have to quote them."""


def complete_agent(context: typer.Context, incomplete: str) -> list[str]:
    """Ids of agents that begin so, where a server runs; completing starts none."""
    from graphmem.memory import agents_on_running_server
    from graphmem.settings import load_settings

    given = {name: value for name, value in context.params.items() if name in _COMMON and name != "debug"}
    try:
        settings = load_settings(**given)
        found = agents_on_running_server(settings, incomplete, limit=_MOST_COMPLETIONS, seconds=_COMPLETION_SECONDS)
    except (GraphmemError, TimeoutError):
        # In the middle of a command line there is no place to tell an error; running the command tells it.
        return []
    return [agent for agent in found if _PLAIN.fullmatch(agent)]


def _checked(context: typer.Context, given: Any) -> Any:
    """Ids of agents, as a store could have them."""
    if not context.resilient_parsing:
        from pydantic import TypeAdapter, ValidationError

        from graphmem.models import Id

        ids: list[Any] = [given] if isinstance(given, str) or given is None else list(given)
        for id_ in ids:
            try:
                TypeAdapter(Id | None).validate_python(id_)
            except ValidationError as error:
                raise typer.BadParameter("") from error
    return given


def agent_option(help: str) -> Any:
    """The option ``--agent``, of one agent or of several: a name that a store could have, completed in the shell."""
    return typer.Option("--agent", "-a", metavar="ID", callback=_checked, help=help, autocompletion=complete_agent)


class AgentIds(tuple[str, ...]):
    """Ids of agents, each once, given in one word. For typer ``tuple[str, ...]`` would be as many words."""

    __slots__ = ()


def agents_option(help: str) -> Any:
    """The option ``--agents``, for a parameter of type :class:`AgentIds`."""

    def names(given: Any) -> AgentIds:
        found = AgentIds(dict.fromkeys(part.strip() for part in given.split(",") if part.strip()))
        if not found:
            raise WrongValue("--agents names nobody", such="graphmem agents lists those there are")
        return found

    return typer.Option("--agents", metavar="ID,ID…", parser=names, help=help, autocompletion=complete_agent)


Agent = Annotated[str, agent_option("Whose memory; graphmem agents lists them.")]
NewAgent = Annotated[str, agent_option("Whose memory: a name of your choice; the first observation makes the agent.")]

_STORE = "Store (each also a variable, such as GRAPHMEM_URI; the password is GRAPHMEM_PASSWORD only)"
_COMMON: dict[str, tuple[Any, Any]] = {
    "uri": (
        Annotated[
            str | None,
            typer.Option(
                help="Address of a Neo4j, such as neo4j+s://host:7687; embedded, or none: the embedded server,"
                " started when needed.",
                rich_help_panel=_STORE,
            ),
        ],
        None,
    ),
    "user": (
        Annotated[str | None, typer.Option(help="Account there; by default neo4j.", rich_help_panel=_STORE)],
        None,
    ),
    "database": (
        Annotated[str | None, typer.Option(help="Database there; by default neo4j.", rich_help_panel=_STORE)],
        None,
    ),
    "data_dir": (
        Annotated[
            Path | None,
            typer.Option(
                help="Where the embedded server keeps its store, password and logs; graphmem status shows it.",
                rich_help_panel=_STORE,
            ),
        ],
        None,
    ),
    "cache_dir": (
        Annotated[
            Path | None,
            typer.Option(help="Where fetched packages and models are kept.", rich_help_panel=_STORE),
        ],
        None,
    ),
    "embedding": (
        Annotated[
            str | None,
            typer.Option(
                help="Embedding model: auto (the default), onnx/bge-small-en-v1.5, onnx/all-MiniLM-L6-v2,"
                " sentence-transformers/NAME or litellm/PROVIDER/NAME; a store keeps the one it was made with.",
                rich_help_panel=_STORE,
            ),
        ],
        None,
    ),
    "debug": (Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")], False),
}
_JSON: dict[str, tuple[Any, Any]] = {
    "as_json": (Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")], False),
}


@dataclass(frozen=True, slots=True)
class Where:
    """Whose memory in which database a command worked on; every command says it."""

    uri: str
    database: str
    agent: str | None = None

    def __str__(self) -> str:
        from graphmem.views.text import one_line

        place = f"database {self.database} at {self.uri}"
        return one_line(place if self.agent is None else f"agent {self.agent} in {place}")

    def as_dict(self) -> dict[str, Any]:
        """The head of a JSON answer."""
        head: dict[str, Any] = {"store": {"uri": self.uri, "database": self.database}}
        return head if self.agent is None else {**head, "agent_id": self.agent}


@dataclass(frozen=True)
class Cli:
    """What a command gets: where to write, which store to use, and how it was asked to answer."""

    overrides: Mapping[str, Any]
    """Settings given as options; None where the environment or the default holds."""
    as_json: bool = False
    debug: bool = False

    @functools.cached_property
    def out(self) -> Console:
        """Standard output: results."""
        return console(stderr=False)

    @functools.cached_property
    def err(self) -> Console:
        """Standard error: progress, notes and errors."""
        return console(stderr=True)

    @functools.cached_property
    def settings(self) -> Settings:
        """The settings in force.

        Raises:
            InvalidSettings: When one is refused.
        """
        from graphmem.settings import load_settings

        return load_settings(**self.overrides)

    def progress(self) -> Progress:
        """A progress display on standard error, to be used as a context."""
        from graphmem.interfaces.progress import Progress

        return Progress(self.err)

    @contextmanager
    def memory(self, *agents: str) -> Generator[Memory]:
        """The store, open; a server is started and models are fetched when needed.

        Args:
            agents: Who must be there already: a name mistyped must not look like an empty memory, and is told before a
                model is fetched or loaded.

        Raises:
            UnknownAgent: When nothing was ever written for one of them.
            GraphmemError: When it cannot be opened.
        """
        from graphmem import Memory

        with self.progress() as progress:
            memory = Memory.open(settings=self.settings, agents=agents, progress=progress.step)
        with memory:
            yield memory

    def where(self, memory: Memory | AsyncMemory, agent: str | None = None) -> Where:
        """What this command works on."""
        return Where(memory.uri, memory.settings.database, agent)

    def say(self, *parts: RenderableType) -> None:
        """Write to standard output; strings are text, never markup. In files and pipes a line stays a line."""
        from rich.text import Text

        from graphmem.views.text import printable

        for part in parts:
            whole = isinstance(part, str | Text) and not self.out.is_terminal
            shown = printable(part) if isinstance(part, str) else part
            self.out.print(shown, markup=False, highlight=False, soft_wrap=whole)

    def draw(self, drawing: Tree) -> None:
        """Write a tree; in files and pipes a row is a line."""
        self.say(drawing if self.out.is_terminal else str(drawing))

    def fields(self, rows: Mapping[str, str], *, width: int = 0) -> None:
        """Write names and values, a line each; empty ones are left out, long ones stay whole, to be copied.

        Args:
            rows: Values by name.
            width: Columns that names take at least.
        """
        from rich.text import Text

        from graphmem.views.text import one_line

        shown = {name: one_line(value) for name, value in rows.items() if value}
        width = max([width, *map(len, shown)]) + 2
        for name, value in shown.items():
            self.out.print(Text.assemble((name.ljust(width), "dim"), value), soft_wrap=True)

    def note(self, text: str) -> None:
        """Write a line that is not part of the result to standard error."""
        from graphmem.views.text import one_line

        self.err.print(one_line(text), markup=False, highlight=False, soft_wrap=True, style="yellow")

    def emit(self, value: Mapping[str, Any]) -> None:
        """Write a result as JSON."""
        self.out.file.write(as_json(value) + "\n")
        self.out.file.flush()

    @contextmanager
    def _failures(self) -> Generator[None]:
        try:
            yield
        except (typer.TyperException, typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except GraphmemError as error:
            self._traceback()
            tell_error(str(error), remedy=error.remedy)
            raise typer.Exit(WRONG_USAGE if self._was_given(error) else 1) from error
        except Exception as error:
            self._traceback()
            if isinstance(error, OSError) and error.errno in _FULL:
                tell_error(f"what is shown cannot be written: {error.strerror}", remedy="free some space where it goes")
                raise typer.Exit(1) from error
            tell_error(
                f"unexpected {type(error).__name__}: {error}",
                remedy="this is a fault of graphmem: please report it with what --debug shows",
            )
            raise typer.Exit(1) from error

    def _was_given(self, error: GraphmemError) -> bool:
        """Whether what is refused was named on the command line: not a setting of the environment's, say."""
        if isinstance(error, InvalidSettings):
            return self.overrides.get(error.setting) is not None
        return isinstance(error, InvalidFile)

    def _traceback(self) -> None:
        if self.debug:
            import traceback

            traceback.print_exc(file=sys.stderr)


def command(
    app: typer.Typer,
    *,
    example: str,
    panel: str | None = None,
    name: str | None = None,
    json_output: bool = True,
) -> Callable[[Callable[Concatenate[Cli, P], None]], Callable[Concatenate[Cli, P], None]]:
    """Register a function as a command and give it the common options.

    The function's first parameter is the :class:`Cli`; the others are its own arguments and options. Its
    docstring is the help.

    Args:
        app: Where to register.
        example: Command lines that work, shown at the end of the help; several, a line each.
        panel: Under which heading the command is listed.
        name: The command's name; the function's without it.
        json_output: Whether it has ``--json``.
    """
    common = _COMMON | (_JSON if json_output else {})

    def register(function: Callable[Concatenate[Cli, P], None]) -> Callable[Concatenate[Cli, P], None]:
        own = [_shown(one) for one in list(inspect.signature(function, eval_str=True).parameters.values())[1:]]
        added = [
            inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for option, (annotation, default) in common.items()
        ]
        parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in [*own, *added]]

        def call(**given: Any) -> None:
            shared = {option: given.pop(option) for option in common}
            flags = {flag: shared.pop(flag) for flag in ("debug", "as_json") if flag in shared}
            cli = Cli(shared, **flags)
            with cli._failures():  # pyright: ignore[reportPrivateUsage]
                function(cli, **given)  # pyright: ignore[reportCallIssue]

        # typer reads the options from the signature; the function behind stays an ordinary one.
        call.__name__ = function.__name__
        call.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        paragraphs = (inspect.getdoc(function) or "").split("\n\n")
        told = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        shown = "\n\n".join(f"Example: {line}" for line in example.splitlines())
        app.command(name, help=told, epilog=shown, rich_help_panel=panel)(call)
        return function

    return register


def _shown(parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter whose argument is shown in capitals, as what a person puts there."""
    kind, *metadata = get_args(parameter.annotation)
    for at, info in enumerate(metadata):
        if isinstance(info, typer.models.ArgumentInfo) and info.metavar is None:
            metadata[at] = copy.copy(info)
            metadata[at].metavar = parameter.name.upper()
    return parameter.replace(annotation=Annotated[(kind, *metadata)])


def console(*, stderr: bool) -> Console:
    """A console; wide where it is not a terminal, so that lines stay whole in files and pipes."""
    from rich.console import Console

    target = Console(stderr=stderr, highlight=False, emoji=False)
    if not target.is_terminal:
        target.width = shutil.get_terminal_size((_PIPE_WIDTH, 24)).columns
    return target


def tell_error(message: str, *, remedy: str = "") -> None:
    """Write ``error: …`` and what to do about it to standard error, a line each."""
    from rich.text import Text

    from graphmem.views.text import one_line

    target = console(stderr=True)
    target.print(Text.assemble(("error: ", "bold red"), one_line(message)), soft_wrap=True)
    if remedy:
        target.print(Text.assemble(("remedy: ", "bold"), one_line(remedy)), soft_wrap=True)


_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def as_json(value: Mapping[str, Any]) -> str:
    """JSON in which every character that could steer a terminal is escaped; readable otherwise."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    # In JSON such characters stand within strings only, where the escape means the same.
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
