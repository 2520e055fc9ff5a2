"""Language models of any provider, through LiteLLM, with replies that passed the parse and shape gates.

A reply is asked for by JSON schema where litellm knows that the model takes one, or knows nothing of it, else in JSON
mode, else by the prompt alone; and for less where the server refuses the form. A reply that is refused is asked for
again together with the reason; one that was cut at its token limit, with a higher limit. Every request is counted, and
so is every token.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, cast

import anyio
from anyio.lowlevel import RunVar
from pydantic import BaseModel, SecretStr

from graphmem.errors import (
    BudgetExceeded,
    LanguageModelError,
    ModelAuthenticationFailed,
    ModelRequestRefused,
    ModelUnavailable,
    PromptTooLong,
    ReplyRefused,
)
from graphmem.language.base import Message, Reply, Task, Window, estimate_tokens, over_budget
from graphmem.language.gates import Shaped, read, refusal, shorten
from graphmem.language.parsing import REMEDY
from graphmem.language.prompts import quote
from graphmem.models import Refused
from graphmem.providers import Endpoint, Failure, Patience, import_litellm
from graphmem.threads import in_thread

Format = Literal["schema", "json", "plain"]
"""How a reply's form is asked for, besides by the prompt."""

_COUNTED = 200_000
"""Characters of a text up to which its tokens are counted and not estimated."""
_PER_MESSAGE = 8
"""Tokens around each message, at most."""
QUOTED = 4_000
"""Characters of a refused reply that the model is shown again."""

_LESS = "ask about less at a time, or raise GRAPHMEM_MODEL_MAX_TOKENS"

_log = logging.getLogger("graphmem")


class LiteLLM:
    """A language model of any provider that litellm knows, or of an OpenAI-compatible server.

    It may be used in several event loops; the limit on concurrent requests holds for each.

    Args:
        model: ``<provider>/<model>``, as litellm names it, e.g. ``anthropic/claude-sonnet-4-5`` or, for any
            OpenAI-compatible server, ``openai/<model>`` with ``api_base``.
        api_base: The server's address; None: the provider's own.
        api_key: None: the provider's own environment variable.
        timeout: Seconds for one request.
        attempts: How many times a task is asked, at most.
        max_wait: Seconds of waiting for rate limits and failing servers, all told, for one task.
        max_tokens: Tokens that a reply may have at first.
        prompt_tokens: Tokens that a prompt may have; fewer where litellm knows that the model reads less.
        concurrency: Requests at a time.
    """

    def __init__(
        self,
        model: str,
        *,
        api_base: str | None = None,
        api_key: SecretStr | None = None,
        timeout: float = 120,
        attempts: int = 3,
        max_wait: float = 120,
        max_tokens: int = 2048,
        prompt_tokens: int = 16_000,
        concurrency: int = 4,
    ) -> None:
        self._endpoint = Endpoint(model, api_base, api_key, timeout, attempts, max_wait)
        self._max_tokens = max_tokens
        self._prompt_tokens = prompt_tokens
        self._concurrency = concurrency
        self._slots: RunVar[anyio.Semaphore] = RunVar(f"graphmem requests to {model}")
        self._known: _Known | None = None

    @property
    def name(self) -> str:
        """``<provider>/<model>``; stored with all it writes."""
        return self._endpoint.model

    def __repr__(self) -> str:
        return f"LiteLLM({self._endpoint.model!r})"

    async def window(self) -> Window:
        """What it reads and writes at a time, counted with the model's tokenizer where litellm has it."""
        known = await self._look_up()
        reply = known.most(self._max_tokens)
        prompt = self._prompt_tokens
        if known.max_input is not None:
            prompt = min(prompt, max(known.max_input - reply, known.max_input // 2))
        return Window(prompt, reply, known.count)

    async def _look_up(self) -> _Known:
        if self._known is None:
            self._known = await in_thread(partial(_look_up, self._endpoint))
        return self._known

    async def reply(self, task: Task[Any]) -> Reply[Any]:
        """Answer a task with a value of its ``reply_model``.

        Raises:
            ReplyRefused: When no reply passed the parse and shape gates; the message names the last refusal,
                ``refused`` the earlier ones.
            ModelUnavailable: When the provider gave no answer in time, failed, or limits the rate for longer than may
                be waited.
            ModelAuthenticationFailed: When it refuses the key; not tried again.
            PromptTooLong: When the prompt does not fit in the model's context window.
            ModelRequestRefused: When it refuses the request for another reason.
            BudgetExceeded: When the next request could take more than the task's allowance.
        """
        async with self._slot():
            known = await self._look_up()
            asking = _Asking(task, known.most(self._max_tokens), Patience(self._endpoint))
            while True:
                form = known.format
                if over := asking.over_allowance(known):
                    raise asking.bill(over)
                answer = await self._request(known, asking)
                if isinstance(answer, Failure):
                    # Another task may have found out in the meantime.
                    if answer.kind == "format" and (known.format != form or known.lower(self.name)):
                        continue
                    pause = asking.patience.pause(answer)
                    if pause is None:
                        raise asking.bill(_error(answer, asking))
                    _log.info("%s: %s; asking again in %.1f s", self._endpoint, answer.message, pause)
                    await anyio.sleep(pause)
                    continue
                asking.account(answer)
                shaped = _read(answer, asking, known)
                if not isinstance(shaped, ReplyRefused):
                    return asking.reply(shaped, answer)
                exhausted = answer.cut and asking.limit == known.most(asking.limit * 2)
                if not asking.patience.another() or exhausted:
                    raise asking.bill(_exhausted(shaped, asking))
                _log.info("%s: %s; asking again", self._endpoint, shaped)
                asking.refuse(shaped, answer, known)

    def _slot(self) -> anyio.Semaphore:
        slots = self._slots.get(None)
        if slots is None:
            slots = anyio.Semaphore(self._concurrency)
            self._slots.set(slots)
        return slots

    async def _request(self, known: _Known, asking: _Asking) -> _Answer | Failure:
        arguments = self._endpoint.arguments() | known.response_format(asking.task.reply_model)
        asking.patience.requests += 1
        try:
            with anyio.fail_after(self._endpoint.timeout):
                response: Any = await known.litellm.acompletion(
                    **arguments, messages=asking.messages(), max_tokens=asking.limit
                )
            return _Answer.of(response)
        except Exception as error:
            # litellm's errors have no common type, and some of them are plain IndexErrors. What is raised instead
            # is raised outside of this block: the original may hold the key.
            return self._endpoint.failure(error)


@dataclass
class _Known:
    """litellm and what it knows of a model."""

    litellm: Any
    format: Format
    max_output: int | None
    """The most tokens that the model writes; None: not known."""
    max_input: int | None
    """The most tokens that it reads; None: not known."""
    model: str

    def count(self, text: str) -> int:
        """Tokens of a text. Where litellm has no tokenizer for the model, what it takes instead may count too few."""
        if len(text) > _COUNTED:
            return estimate_tokens(text)
        counted = cast("int", self.litellm.token_counter(model=self.model, text=text))
        return counted if self.max_input is not None else counted + counted // 5

    def most(self, limit: int) -> int:
        return min(limit, self.max_output) if self.max_output else limit

    def lower(self, name: str) -> bool:
        """Ask for less than before, since the server refused the form; False when there is nothing less."""
        if self.format == "plain":
            return False
        self.format = "json" if self.format == "schema" else "plain"
        _log.info("%s does not take this reply format: trying %s", name, self.format)
        return True

    def response_format(self, reply_model: type[BaseModel]) -> dict[str, Any]:
        match self.format:
            case "schema":
                schema = {"name": reply_model.__name__, "schema": strict_schema(reply_model), "strict": True}
                return {"response_format": {"type": "json_schema", "json_schema": schema}}
            case "json":
                return {"response_format": {"type": "json_object"}}
            case "plain":
                return {}


def _look_up(endpoint: Endpoint) -> _Known:
    litellm = import_litellm()
    model = endpoint.model
    try:
        info = cast("Mapping[str, object] | None", litellm.get_model_info(model=model))
    except Exception:  # A bare one is what it raises for a model that is not on its list.
        info = None
    most, reads = ((info or {}).get(name) for name in ("max_output_tokens", "max_input_tokens"))
    parameters = cast("list[str] | None", litellm.get_supported_openai_params(model=model)) or []
    # Of a model on a server of one's own litellm knows nothing, and most such servers take a schema; one that does not
    # says so, and is asked for less.
    own = info is None and endpoint.api_base is not None
    if "response_format" not in parameters:
        form: Format = "plain"
    else:
        form = "schema" if own or litellm.supports_response_schema(model=model) else "json"
    known = _Known(litellm, form, _positive(most), _positive(reads), model)
    known.count("")  # Loads the tokenizer, which takes a second, here in this thread.
    return known


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


@dataclass(frozen=True)
class _Answer:
    """What a provider answered."""

    text: str
    finish_reason: str
    declined: str
    """The model's own words where it declined to answer."""
    prompt_tokens: int
    completion_tokens: int
    cost: float | None

    @property
    def cut(self) -> bool:
        return self.finish_reason == "length"

    @classmethod
    def of(cls, response: Any) -> _Answer:
        choice = response.choices[0]
        cost = cast("dict[str, Any]", getattr(response, "_hidden_params", None) or {}).get("response_cost")
        usage = getattr(response, "usage", None)
        return cls(
            text=choice.message.content or "",
            finish_reason=choice.finish_reason or "",
            declined=getattr(choice.message, "refusal", None) or "",
            prompt_tokens=_tokens(getattr(usage, "prompt_tokens", 0)),
            completion_tokens=_tokens(getattr(usage, "completion_tokens", 0)),
            cost=cost if isinstance(cost, float | int) and 0 <= cost < _MOST else None,
        )


_MOST = 10**9
"""Tokens, or dollars, that no single reply can have cost."""


def _tokens(count: object) -> int:
    """A provider's count; one that cannot be is as if it had counted none."""
    return count if isinstance(count, int) and 0 <= count < _MOST else 0


@dataclass
class _Asking:
    """One task while it is asked."""

    task: Task[Any]
    limit: int
    """Tokens that the reply may have."""
    patience: Patience
    refused: list[Refused] = field(default_factory=list[Refused])
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    cut_at: int = 0
    """The limit at which the last truncated reply was cut; 0: none was."""
    _last: tuple[str, str] | None = None
    """The last reply that was refused, and why."""

    def messages(self) -> list[dict[str, str]]:
        messages = [*self.task.messages()]
        if self._last is not None:
            raw, reason = self._last
            again = (
                f"That reply was refused: {quote(reason)}\n"
                "Do the task again, with one complete JSON object and nothing else."
            )
            # Many servers want the roles to alternate and no message to be empty.
            if raw.strip():
                messages += [Message(role="assistant", content=raw), Message(role="user", content=again)]
            else:
                messages[-1] = Message(role="user", content=f"{messages[-1].content}\n\n{again}")
        return [message.model_dump() for message in messages]

    def over_allowance(self, known: _Known) -> BudgetExceeded | None:
        """The error when the next request could take more than what is left of the task's allowance."""
        if self.task.allowance is None:
            return None
        left = self.task.allowance - self.prompt_tokens - self.completion_tokens
        prompt = sum(known.count(message["content"]) + _PER_MESSAGE for message in self.messages())
        if prompt + self.limit <= left:
            return None
        return over_budget(prompt, self.limit, left)

    def account(self, answer: _Answer) -> None:
        self.prompt_tokens += answer.prompt_tokens
        self.completion_tokens += answer.completion_tokens
        if answer.cost is not None:
            self.cost = (self.cost or 0) + answer.cost

    def refuse(self, error: ReplyRefused, answer: _Answer, known: _Known) -> None:
        """Keep what was refused, and prepare to ask again."""
        self.refused.append(refusal(error, answer.text))
        if answer.cut:
            self.cut_at = self.limit
            self.limit = known.most(self.limit * 2)
        else:
            self._last = (shorten(answer.text, QUOTED), str(error))

    def reply(self, shaped: Shaped[Any], answer: _Answer) -> Reply[Any]:
        return Reply(
            value=shaped.value,
            raw=answer.text,
            refused=(*self.refused, *shaped.refused),
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            cost=self.cost,
        )

    def bill(self, error: LanguageModelError) -> LanguageModelError:
        """Put what was spent on an error."""
        error.refused = tuple(self.refused)
        error.prompt_tokens = self.prompt_tokens
        error.completion_tokens = self.completion_tokens
        error.cost = self.cost
        return error


def _read(answer: _Answer, asking: _Asking, known: _Known) -> Shaped[Any] | ReplyRefused:
    """Pass an answer through the parse and shape gates."""
    refuse = partial(ReplyRefused, gate="parse", remedy=REMEDY)
    if answer.cut:
        # Whatever was cut off, even if what is left can be read: the reply is not whole.
        reason = f"the reply was truncated at its limit of {asking.limit} tokens (finish_reason length)"
        if asking.limit == known.most(asking.limit * 2):
            reason += ", the most that this model writes"
        return refuse(reason, remedy=_LESS, truncated=True)
    if answer.finish_reason == "content_filter":
        return refuse("the provider withheld the reply (finish_reason content_filter)")
    if answer.declined and not answer.text.strip():
        return refuse(f"the model declined to answer: {shorten(answer.declined)}")
    try:
        return read(answer.text, asking.task.reply_model)
    except ReplyRefused as error:
        return error


def _exhausted(last: ReplyRefused, asking: _Asking) -> ReplyRefused:
    asked = asking.patience.requests
    message = f"{asking.patience.endpoint.model}, after {asked} request{'' if asked == 1 else 's'}: {last}"
    return ReplyRefused(message, gate=last.gate, remedy=last.remedy, truncated=last.truncated)


def _error(failure: Failure, asking: _Asking) -> LanguageModelError:
    message = asking.patience.told(failure)
    if failure.kind == "too long" and asking.cut_at:
        message = (
            f"the reply was truncated at its limit of {asking.cut_at} tokens, and a higher one is refused: {message}"
        )
        return ReplyRefused(message, gate="parse", remedy=_LESS, truncated=True)
    match failure.kind:
        case "authentication":
            remedy = "set GRAPHMEM_MODEL_API_KEY, or the provider's own variable, to a key that is valid for this model"
            return ModelAuthenticationFailed(message, remedy=remedy)
        case "too long":
            return PromptTooLong(message, remedy="choose a model with a larger context window")
        case "format" | "refused":
            return ModelRequestRefused(message, remedy="check GRAPHMEM_LANGUAGE_MODEL, and the account at the provider")
        case "rate limit":
            remedy = "try later, raise GRAPHMEM_MODEL_MAX_WAIT, or lower GRAPHMEM_MODEL_CONCURRENCY"
            return ModelUnavailable(message, remedy=remedy)
        case "no answer":
            remedy = "try later; check GRAPHMEM_MODEL_API_BASE, or raise GRAPHMEM_MODEL_TIMEOUT"
            return ModelUnavailable(message, remedy=remedy)


def strict_schema(reply_model: type[BaseModel]) -> dict[str, Any]:
    """A reply model's JSON schema in the subset that every provider takes.

    No references, every field required, no others allowed, and no bounds or defaults: the gates check those.
    """
    full = reply_model.model_json_schema()
    definitions = cast("Mapping[str, object]", full.get("$defs", {}))
    return cast("dict[str, Any]", _strict(full, definitions))


_KEPT = ("type", "enum", "const", "items", "anyOf")


def _strict(schema: object, definitions: Mapping[str, object]) -> object:
    if isinstance(schema, list):
        return [_strict(item, definitions) for item in cast("list[object]", schema)]
    if not isinstance(schema, Mapping):
        return schema
    fields = cast("Mapping[str, object]", schema)
    if isinstance(reference := fields.get("$ref"), str):
        return _strict(definitions[reference.rpartition("/")[2]], definitions)
    strict = {key: _strict(fields[key], definitions) for key in _KEPT if key in fields}
    if fields.get("type") == "object":
        properties = cast("Mapping[str, object]", fields.get("properties", {}))
        strict["properties"] = {name: _strict(value, definitions) for name, value in properties.items()}
        strict["required"] = list(properties)
        strict["additionalProperties"] = False
    return strict
