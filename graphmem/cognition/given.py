"""What callers give, checked before anything is done with it: not all of them are typed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from graphmem.errors import InvalidInput


def checked_model(value: object, protocol: type, what: str, *, setting: str) -> None:
    """Refuse what a caller gave as a model of his own and is none, such as the name of one.

    Raises:
        InvalidInput: When it lacks what the protocol asks for.
    """
    if value is not None and (isinstance(value, type) or not isinstance(value, protocol)):
        raise InvalidInput(
            f"{what}: {value!r:.80} is not {'an' if what == 'embedder' else 'a'} {protocol.__name__}",
            remedy=f"give an instance of one, or name a model in the settings: GRAPHMEM_{setting.upper()}",
        )


def checked_function(value: object, what: str) -> None:
    """Refuse what cannot be called, before it is kept to be called later.

    Raises:
        InvalidInput: As it says.
    """
    if not callable(value):
        raise InvalidInput(f"{what}: {value!r:.80} is not a function")


def checked_list(value: object, what: str) -> list[Any]:
    """What a caller gave where several are asked for: a text is one, not a list of its letters.

    Raises:
        InvalidInput: When it is not iterable, or a text.
    """
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InvalidInput(f"{what}: {value!r:.80} is not a list", remedy=f"give a list, such as [{value!r:.80}]")
    return list(cast("Iterable[Any]", value))
