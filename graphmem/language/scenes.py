"""Scenes: what somebody is seen doing somewhere, in one sentence that can be told from other memories again."""

from __future__ import annotations

import re

_SCENE = re.compile(r"[^:“”]{1,200}? is (?:in|at) the [^:“”]{1,200}: \S")


def scene(who: str, place: str, doing: str, *, room: bool) -> str:
    """What somebody does where.

    Args:
        who: Its name.
        place: Name of the place.
        doing: As its plan says it.
        room: Whether it is a room with things in it: one is *in* the taproom, but *at* the well.
    """
    return f"{who} is {'in' if room else 'at'} the {place}: {doing}"


def is_scene(text: str) -> bool:
    """Whether a memory is no more than that somebody was seen doing something: no news to anybody."""
    return _SCENE.match(text) is not None
