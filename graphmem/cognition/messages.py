"""Chat in, memory out: messages of a conversation, in the form of OpenAI's chat completions, as utterances.

What is kept of each message, and under which id, is stated in :func:`read_messages`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, cast

from graphmem.clock import as_utc
from graphmem.cognition.engine import Engine, checked_id
from graphmem.cognition.observe import store
from graphmem.errors import InvalidInput
from graphmem.models import NewObservation, Observed, validated

Message = Mapping[str, Any] | object
"""A mapping with the fields of a message, or an object that has them as attributes."""

INSTRUCTIONS = frozenset({"system", "developer"})
"""Roles that instruct the assistant: no part of what happened."""
SPEAKERS = frozenset({"user", "assistant"})
TOOLS = frozenset({"tool", "function"})
MAX_ADDRESS = 2_000
"""Longest address of an image that is kept, in characters."""
_MAX_TYPE = 64


async def observe_messages(
    engine: Engine,
    agent_id: str,
    messages: Iterable[Message],
    *,
    session: str | None = None,
    now: object = None,
    ask: bool = False,
) -> Observed:
    """Store the messages of a conversation that are not stored yet, all checked before the first is written.

    Messages without a time of their own happened at ``now``, a microsecond apart, so that their order is kept.

    Raises:
        InvalidInput: When a message is refused; it is named, and nothing was written.
    """
    items = read_messages(messages, session=session)
    at = await engine.now(agent_id, now)
    moments = {item.id: at + timedelta(microseconds=place) for place, item in enumerate(items) if item.id}
    return await store(engine, agent_id, items, at, moments=moments, ask=ask)


def read_messages(messages: Iterable[Message], *, session: str | None = None) -> list[NewObservation]:
    """What of a conversation becomes memory, with ids that are the same whenever it is sent again.

    Kept are the messages of users, assistants and tools, as utterances whose source is the ``name``, else the role;
    a tool's result has the name of the function that was called. Texts and refusals are kept as they are, the calls
    of an assistant as ``[calls name(arguments)]``; of an image its address, of other parts only what they are, in
    square brackets. ``system`` and ``developer`` messages are instructions and not kept, nor are empty ones.

    The id is made of the session, the role, the source, the text, the ids of calls, the time if the message has one
    (``timestamp`` or ``created_at``), and of how many equal messages precede it in what was given. So a conversation
    that is sent again with more messages adds those only, also when it was cut at its beginning or its instructions
    were changed, and an edited message is a new memory. Send the whole conversation, or give messages a time: a
    second "yes" that is sent alone cannot be told from the first.

    Raises:
        InvalidInput: When something is not a message, or cannot be stored; the message names it.
    """
    if session is not None:
        session = checked_id(session, "session")
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"messages: a list of messages is needed, not {type(cast(object, messages)).__name__}")
    items: list[NewObservation] = []
    seen: Counter[str] = Counter()
    called: dict[str, str] = {}
    for number, message in enumerate(messages):
        try:
            if (item := _read(message, session, called, seen)) is not None:
                items.append(item)
        except InvalidInput as error:
            raise type(error)(f"messages[{number}]: {error}", remedy=error.remedy) from error
    return items


def _read(message: Message, session: str | None, called: dict[str, str], seen: Counter[str]) -> NewObservation | None:
    """One message; ``called`` learns which function each call was of, ``seen`` how often a message came."""
    role = _string(message, "role")
    if role is None:
        raise InvalidInput(f"role: is missing; {type(message).__name__} is no message")
    if role in INSTRUCTIONS:
        return None
    if role not in SPEAKERS | TOOLS:
        known = ", ".join(sorted(INSTRUCTIONS | SPEAKERS | TOOLS))
        raise InvalidInput(f"role: {role!r} is not one of {known}")
    calls = _calls(message)
    called.update({id_: name for id_, name, _ in calls if id_ is not None})
    answers = _string(message, "tool_call_id")
    source = _string(message, "name")
    if source is None:
        source = called.get(answers, role) if role in TOOLS and answers is not None else role
    pieces = [*_content(message), *(f"[calls {name}({arguments})]" for _, name, arguments in calls)]
    text = "\n".join(piece for piece in pieces if piece.strip())
    if not text:
        return None
    time = _time(message)
    identity = [session, role, source, text, time, answers, [id_ for id_, _, _ in calls]]
    given = {"text": text, "kind": "utterance", "source": source, "session": session, "occurred_at": time}
    return validated(NewObservation, {**_without_none(given), "id": _id(identity, seen)})


def _id(identity: list[Any], seen: Counter[str]) -> str:
    # Escaped, since a lone surrogate has no bytes; the text that holds one is refused right after.
    content = json.dumps(identity)
    earlier = seen[content]
    seen[content] += 1
    return f"message-{hashlib.sha256(f'{earlier} {content}'.encode()).hexdigest()[:24]}"


def _without_none(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _field(holder: Message, name: str) -> Any:
    if isinstance(holder, Mapping):
        return cast("Mapping[str, Any]", holder).get(name)
    return getattr(holder, name, None)


def _string(holder: Message, name: str) -> str | None:
    value = _field(holder, name)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"{name}: {type(value).__name__} is not a string")
    return value


def _list(holder: Message, name: str) -> list[Any]:
    value = _field(holder, name)
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise InvalidInput(f"{name}: {type(value).__name__} is not a list")
    return list(cast("list[Any]", value))


def _time(message: Message) -> str | None:
    """When it was said, where the message tells, in one form for every way to write it."""
    for name in ("timestamp", "created_at"):
        if (value := _field(message, name)) is not None:
            return as_utc(value).isoformat()
    return None


# --- content ---------------------------------------------------------------------------------------------------


def _content(message: Message) -> list[str]:
    content = _field(message, "content")
    pieces: list[str] = []
    if isinstance(content, str):
        pieces.append(content)
    else:
        for number, part in enumerate(_list(message, "content")):
            try:
                pieces.append(_part(part))
            except InvalidInput as error:
                raise InvalidInput(f"content[{number}]: {error}") from error
    pieces.append(_string(message, "refusal") or "")
    if (audio := _field(message, "audio")) is not None:
        pieces.append(_string(audio, "transcript") or "[audio]")
    return pieces


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    type_ = _string(part, "type")
    if type_ is None:
        raise InvalidInput(f"type: is missing; {type(part).__name__} is no part of a message")
    match type_:
        case "text" | "input_text" | "output_text":
            return _string(part, "text") or ""
        case "refusal":
            return _string(part, "refusal") or ""
        case "image_url" | "input_image":
            return _image(_field(part, "image_url"))
        case "input_audio":
            return "[audio]"
        case "file" | "input_file":
            return _file(_field(part, "file") or part)
        case _:
            # Of what else there may be, only that it was there.
            return f"[{' '.join(type_.split())[:_MAX_TYPE]}]"


def _image(image: Any) -> str:
    """The address of an image; never the image itself, which is no text."""
    url = image if isinstance(image, str) else _string(image, "url") if image is not None else None
    if url is None or url[:5].lower() == "data:" or len(url) > MAX_ADDRESS:
        return "[image]"
    return f"[image: {url}]"


def _file(file: Any) -> str:
    name = _string(file, "filename") or _string(file, "file_id")
    return f"[file: {name}]" if name else "[file]"


def _calls(message: Message) -> list[tuple[str | None, str, str]]:
    """The calls of an assistant: id, what is called, and its arguments as text."""
    calls = [_call(call, number) for number, call in enumerate(_list(message, "tool_calls"))]
    if (function := _field(message, "function_call")) is not None:  # how calls were written before there were tools
        calls.append((None, *_function(function, "function_call")))
    return calls


def _call(call: Any, number: int) -> tuple[str | None, str, str]:
    where = f"tool_calls[{number}]"
    try:
        id_ = _string(call, "id")
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from error
    for form in ("function", "custom"):
        if (called := _field(call, form)) is not None:
            return (id_, *_function(called, where))
    raise InvalidInput(f"{where}: calls neither a function nor a custom tool")


def _function(function: Any, where: str) -> tuple[str, str]:
    try:
        name = _string(function, "name")
        if name is None or not name.strip():
            raise InvalidInput("name: is missing")
        arguments = _field(function, "arguments")
        if arguments is None:
            arguments = _field(function, "input")
        return name, _arguments(arguments)
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from error


def _arguments(arguments: Any) -> str:
    if arguments is None:
        return ""
    if isinstance(arguments, str):
        return arguments.strip()
    try:
        return json.dumps(arguments, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"arguments: cannot be written as JSON: {error}") from error
