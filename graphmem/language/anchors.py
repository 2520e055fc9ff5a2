"""Texts whose importance is agreed on, and a small story: what a language model is tried with before it is trusted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from graphmem.language.base import Statement
from graphmem.models import AnchorRating

ANCHORS = tuple(
    AnchorRating(text=text, lowest=lowest, highest=highest)
    for text, lowest, highest in (
        # Park et al. 2023, section 4.1 and its prompt: brushing teeth and making the bed are 1, a break-up and being
        # accepted by a college 10; their examples rate cleaning up the room 2 and asking a crush out 8.
        ("Brushed my teeth", 1, 2),
        ("Made the bed", 1, 2),
        ("Cleaned up the room", 1, 3),
        ("Had toast for breakfast, as always", 1, 3),
        ("Asked my crush out on a date", 7, 10),
        ("Broke up with my partner of six years", 8, 10),
        ("Was accepted by the college of my dreams", 8, 10),
        ("My mother died last night", 9, 10),
    )
)
"""In ascending order; a model that rates them otherwise rates an agent's life otherwise."""

QUESTION = "What is it that Ines does at the lighthouse?"
STORY = tuple(
    Statement(
        number=number,
        text=text,
        kind="event",
        type="observation",
        occurred_at=datetime(2026, 5, 4, 19, tzinfo=UTC) + timedelta(days=number),
    )
    for number, text in enumerate(
        (
            "Ines polished the lamp of the lighthouse before dusk.",
            "Ines wrote the wind and the visibility into the lighthouse log.",
            "Ines mended the railing of the lighthouse stairs.",
            "Ines polished the lamp of the lighthouse again, as on every evening.",
        ),
        start=1,
    )
)
"""Something simple follows from it: that Ines looks after the lighthouse."""
