"""Where to do something: one level of the tree of places at a time, asked of a model or chosen by rule."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator

from graphmem.language import words
from graphmem.language.base import Message, Task
from graphmem.language.prompts import OptionalWritten, ReplyModel, chat, quote

__all__ = ["TASKS", "Choice", "ChoosePlace", "PlaceOption", "choose_place"]


class Choice(ReplyModel):
    """Reply to :class:`ChoosePlace`."""

    number: int | None = None
    """Of the option; None: none of them fits."""
    state: Annotated[OptionalWritten, BeforeValidator(lambda value: "" if value is None else value)] = ""
    """Of an object: what it is doing while it is used so."""


class PlaceOption(BaseModel, frozen=True):
    """A place to choose, as the agent knows it."""

    name: str
    holds: tuple[str, ...] = ()
    """Names of what is in it, and what that is good for."""
    uses: tuple[str, ...] = ()
    """What it is good for itself."""
    closed: bool = False
    """As far as the agent knows its opening hours."""
    here: bool = False
    """Whether the agent is there."""
    home: bool = False


class ChoosePlace(Task[Choice]):
    """Choose where something is done, among the places of one level of the tree."""

    prompt_version: ClassVar[str] = "choose-place/1"
    reply_model: ClassVar[type[BaseModel]] = Choice

    agent: str
    doing: str
    hint: str | None = None
    """Where the plan says that it is done, in whatever words."""
    within: str | None = None
    """What was chosen before: the place that these are in."""
    objects: bool = False
    """Whether the options are things in a room."""
    options: tuple[PlaceOption, ...]

    def messages(self) -> list[Message]:
        """The prompt."""
        lines = [quote({"number": n, **option.model_dump()}) for n, option in enumerate(self.options, start=1)]
        plan = {"does": self.doing, "where": self.hint, "in": self.within}
        what = "which of these things does it use" if self.objects else "to which of these places does it go"
        state = (
            ' "state" says in at most six words what the thing is doing meanwhile, such as "brewing coffee".'
            if self.objects
            else ""
        )
        return chat(
            f"The agent {quote(self.agent)} now does this: {quote(plan)}. To do it, {what}? It stays where it is if it "
            "can be done there, and enters nothing that is closed. Choose null where none of them is needed."
            f'{state}\nAnswer as {{"number": N | null, "state": "…" | null}}.',
            "\n".join(["<places>", *lines, "</places>"]),
        )


_CUES = {
    "sleep": "bed bedroom home",
    "nap": "bed sofa couch",
    "wake": "bed bedroom home",
    "dress": "closet wardrobe bedroom",
    "wash": "bathroom shower sink",
    "shower": "bathroom shower",
    "breakfast": "kitchen table cafe home",
    "lunch": "kitchen table cafe restaurant",
    "supper": "kitchen table restaurant home",
    "dinner": "kitchen table restaurant home",
    "cook": "kitchen stove",
    "read": "library desk sofa bookshelf",
    "study": "library desk classroom",
    "write": "desk",
    "shop": "shop store market counter",
    "drink": "cafe pub bar",
    "walk": "park garden",
    "relax": "sofa couch garden park",
}
"""What is done where, for worlds whose places don't say what they are good for."""


def choose_place(task: ChoosePlace) -> dict[str, Any]:
    """The rule: the words of the plan that a place, what it is good for or what it holds have in common with it.

    What the plan says of the place counts most. Where nothing speaks for any, the agent stays where it is if it is in
    one of them, else it goes home; an object is used only where something speaks for it.
    """
    hint, doing = _folded([task.hint or ""]), _folded([task.doing])
    cues = _folded(_CUES[word] for word in doing if word in _CUES)
    trades = _stems(task.doing)

    def fits(option: PlaceOption) -> float:
        name, uses, holds = _folded([option.name]), _folded(option.uses), _folded(option.holds)
        both = name | holds
        score = 6.0 * len(hint & name) + 2 * len(hint & holds) + 3.0 * len(doing & name) + 3.0 * len(doing & uses)
        score += 1.5 * len(doing & holds) + 0.5 * len(cues & both)
        # A miller works at the mill: unless a place says that it is for millers.
        score += 1.0 * any(word.startswith(stem) for stem in trades for word in name | uses)
        score += 0.5 * any(word.startswith(stem) for stem in trades for word in holds)
        return score + (0.25 if option.here and score else 0.0) + (0.2 if option.home and score else 0.0)

    scored = [(fits(option), -number) for number, option in enumerate(task.options) if not option.closed]
    best, place = max(scored, default=(0.0, 0))
    if best > 0:
        return {"number": 1 - place}
    if task.objects:
        return {"number": None}
    if task.doing.startswith("work ") and hint & _folded([task.within or ""]):
        # In the house where it works somebody who lives there as well works in another room, if there is one.
        rooms = [n for n, option in enumerate(task.options, start=1) if not option.home and not option.closed]
        if rooms:
            return {"number": next((n for n in rooms if task.options[n - 1].here), rooms[0])}
    stays = [n for n, option in enumerate(task.options, start=1) if option.here and not option.closed]
    goes = [n for n, option in enumerate(task.options, start=1) if option.home]
    return {"number": next(iter([*stays, *goes]), None)}


def _folded(texts: Iterable[str]) -> set[str]:
    return {word.fold for text in texts for word in words.words(text) if len(word.fold) > 2 and word.fold not in _EMPTY}


_WORKS_AS = re.compile(r"\bwork as an? (?:[\w’'-]+ )*?([\w’'-]+)(?: and |$)", re.IGNORECASE)
_OF_TRADE = re.compile(r"(?:keeper|master|mistress|monger|wright|maid|woman|man|ess|ist|er|r)$")
_SHORTEST = 3
"""Letters of a stem."""


def _stems(doing: str) -> tuple[str, ...]:
    """How the words for a trade and for its place begin: the baker's is the bakery, the innkeeper's the inn."""
    if (match := _WORKS_AS.search(doing)) is None:
        return ()
    stem = _OF_TRADE.sub("", match[1].casefold())
    return (stem,) if len(stem) >= _SHORTEST else ()


_EMPTY = frozenset("the and for with her his their its this that from into out off then".split())  # noqa: SIM905

TASKS: tuple[type[Task[Any]], ...] = (ChoosePlace,)
"""Everything that is asked about places."""
