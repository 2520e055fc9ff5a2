"""What is told when the command line itself is wrong: one line that names the option, and a remedy."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperGroup

from graphmem.interfaces.cli.values import WrongValue

_MOST_SUGGESTIONS = 3
_NEAR = 0.75
"""How alike a name must be to be suggested, in [0, 1]: ``retreive`` is to ``retrieve`` 0.88, to ``tree`` 0.67."""
_BEGINNING = 3
"""Characters after which what begins so is suggested, however much longer it is."""


_OTHER_NAMES = {"remember": "observe", "recall": "retrieve", "why": "explain", "correct": "supersede"}
"""What the tools of MCP call what commands do."""


class Group(TyperGroup):
    """The commands; of those there are, only the ones near to a name mistyped are suggested."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """See typer."""
        name = args[0]
        if not name.startswith("-") and not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            known = _OTHER_NAMES.get(name)
            meant = f"; at the command line it is {known}" if known else _suggestions(name, self.commands)
            ctx.fail(f"there is no command {name!r}{meant}")
        return super().resolve_command(ctx, args)


def told(error: typer.TyperException) -> tuple[str, str]:
    """The message and the remedy."""
    context: Any = getattr(error, "ctx", None)
    see = f"see {context.command_path if context is not None else 'graphmem'} --help"
    option: str | None = getattr(error, "option_name", None)
    if context is not None and option is not None and hasattr(error, "possibilities"):
        there = [name for parameter in context.command.params for name in parameter.opts + parameter.secondary_opts]
        return f"there is no option {option}{_suggestions(option, there)}", see
    if (cause := error.__cause__) is not None and hasattr(cause, "errors"):
        error.message = _refusal(cause)
    return error.format_message(), (isinstance(error, WrongValue) and error.remedy) or see


def _suggestions(name: str, there: Iterable[str]) -> str:
    """What was probably meant; nothing where nothing is near."""
    known = [one for one in there if one.startswith("--") or not one.startswith("-")]
    near = get_close_matches(name, known, n=_MOST_SUGGESTIONS, cutoff=_NEAR)
    if len(name.strip("-")) >= _BEGINNING:
        near += sorted(one for one in known if one.startswith(name))
    near = list(dict.fromkeys(near))[:_MOST_SUGGESTIONS]
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _refusal(error: Any) -> str:
    """Why a value was refused, in words that are not the validator's own."""
    first = error.errors(include_url=False)[0]
    given, limits = first["input"], first.get("ctx", {})
    match first["type"]:
        case "int_parsing" | "int_type" | "int_from_float":
            return f"{given!r} is not a whole number"
        case "float_parsing" | "float_type":
            return f"{given!r} is not a number"
        case "greater_than_equal":
            return f"{given} is too little, {limits['ge']:,} is the least"
        case "less_than_equal":
            return f"{given} is too much, {limits['le']:,} is the most"
        case _:
            return str(first["msg"]).removeprefix("Value error, ")
