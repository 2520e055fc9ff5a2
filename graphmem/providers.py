"""Model providers, reached through LiteLLM: what language and embedding models have in common.

litellm is imported here only, and quietly. What it raises is sorted by what can be done about it, without the keys
that providers and their libraries repeat in messages. How often something is asked again, and how long is waited, is
decided here and nowhere below: litellm's own retries and those of the libraries under it are off.
"""

from __future__ import annotations

import logging
import queue
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import random
from typing import Any, Literal, TypeVar, cast
from urllib.parse import urlsplit

from pydantic import SecretStr

from graphmem.settings import keep_litellm_local

T = TypeVar("T")
Kind = Literal["authentication", "rate limit", "no answer", "too long", "format", "refused"]


def import_litellm() -> Any:
    """The package litellm, kept from calling home, printing, and logging what is raised here anyway.

    The first call takes seconds: make it in a worker thread.
    """
    keep_litellm_local()
    import litellm as package

    litellm: Any = package
    if getattr(litellm, "telemetry", None) is True:  # Gone from newer versions.
        litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.disable_hf_tokenizer_download = True  # Counting tokens is no reason to fetch anything.
    log = logging.getLogger("LiteLLM")
    if log.level == logging.NOTSET:  # Whoever set a level wants to read it.
        log.setLevel(logging.ERROR)
    return litellm


def within(seconds: float, work: Callable[[], T]) -> T:
    """Do something that may hang, such as looking up a host or reading an answer that trickles in.

    It runs in a thread of its own, which is left behind when it hangs and does not keep the process from ending.

    Raises:
        TimeoutError: When it is not done in time; besides, whatever it raises itself.
    """
    outcome: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put((work(), None))
        except BaseException as error:  # Handed over to the thread that waits.
            outcome.put((None, error))

    threading.Thread(target=run, name="graphmem-provider", daemon=True).start()
    try:
        value, error = outcome.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(f"no answer within {seconds:g} s") from None
    if error is not None:
        raise error
    return cast("T", value)


class _Zero(int):
    """A zero that is true: litellm takes a false number of retries for "the default", which is 2."""

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True)
class Failure:
    """Why a request came to nothing, and what can be done about it."""

    kind: Kind
    """``too long``: the prompt or text is over the model's limit; ``format``: the reply format is not supported."""
    message: str
    """One line that holds no key."""
    retry_after: float | None = None
    """Seconds that the provider asks to wait."""


@dataclass(frozen=True)
class Endpoint:
    """A model and where it is asked."""

    model: str
    """As litellm names it: ``<provider>/<model>``."""
    api_base: str | None = None
    api_key: SecretStr | None = None
    timeout: float = 120
    """Seconds for one request."""
    attempts: int = 3
    max_wait: float = 120
    """Seconds of waiting, all told, for one thing asked."""

    def arguments(self) -> dict[str, Any]:
        """Arguments of litellm's functions; they hold the key."""
        given: dict[str, Any] = {
            "model": self.model,
            "timeout": self.timeout,
            "max_retries": _Zero(),
            "num_retries": 0,
            "drop_params": True,
            "caching": False,  # A response cache of the program's would give a refused reply again.
        }
        if self.api_base is not None:
            given["api_base"] = self.api_base
        if self.api_key is not None:
            given["api_key"] = self.api_key.get_secret_value()
        return given

    def __str__(self) -> str:
        if self.api_base is None:
            return self.model
        return f"{self.model} at {urlsplit(self.api_base).hostname or 'an address without a host'}"

    def failure(self, error: BaseException) -> Failure:
        """Sort what a call to litellm raised."""
        status = _status(error)
        message = self._clean(error)
        headers = _headers(error)
        kind = _kind(error, status, message)
        if isinstance(error, TimeoutError) or (kind == "no answer" and status in (408, 504)):
            message = f"no answer within {self.timeout:g} s"
        return Failure(kind, message, _retry_after(headers, message))

    def _clean(self, error: BaseException) -> str:
        text = " ".join(str(error).split())
        while (bare := _PREFIX.sub("", text)) != text:
            text = bare
        secret = self.api_key.get_secret_value() if self.api_key else ""
        if len(secret) >= 4:  # Shorter ones are stand-ins such as "x".
            text = text.replace(secret, "***")
        text = _SECRET.sub(lambda match: f"{match['name'] or ''}***", text)
        return (text if len(text) <= 400 else text[:399] + "…") or type(error).__name__


@dataclass
class Patience:
    """How often one thing is asked, and how long is waited for it."""

    endpoint: Endpoint
    requests: int = field(default=0, init=False)
    """Made so far."""
    waited: float = field(default=0, init=False)
    """Seconds, so far."""
    _spent: int = field(default=0, init=False)
    _pauses: int = field(default=0, init=False)

    def another(self) -> bool:
        """Whether there is an attempt left, after one that was answered but not with what was asked for."""
        self._spent += 1
        return self._spent < self.endpoint.attempts

    def pause(self, failure: Failure) -> float | None:
        """Seconds to wait before the same is asked again; None: give up.

        A rate limit costs no attempt, only waiting; what the provider asks for is the least that is waited.
        """
        if failure.kind not in ("rate limit", "no answer"):
            return None
        if failure.kind == "no answer" and not self.another():
            return None
        # Growing, and never quite the same, so that several that wait do not come back at once for ever.
        seconds = max(failure.retry_after or 0, min(0.5 * 2**self._pauses, 30)) * (1 + random() / 10)  # noqa: S311
        if self.waited + seconds > self.endpoint.max_wait:
            return None
        self._pauses += 1
        self.waited += seconds
        return seconds

    def told(self, failure: Failure) -> str:
        """What to say when it was given up: the failure, how often it was asked, how long was waited."""
        asked = f"{self.requests} request" + ("" if self.requests == 1 else "s")
        if self.waited:
            asked += f", {self.waited:.0f} s of waiting"
        if failure.retry_after is not None and self.waited + failure.retry_after > self.endpoint.max_wait:
            asked += f"; it asks to wait {failure.retry_after:.0f} s"
        return f"{self.endpoint}: {failure.message} ({asked})"


# What litellm and the libraries under it put before a provider's own words, e.g.
# "litellm.RateLimitError: RateLimitError: OpenAIException - Error code: 429 - ".
_PREFIX = re.compile(r"^(?:litellm\.)?\w*(?:Error|Exception|Timeout)\b\s*[:-]\s*|^Error code: \d+\s*-\s*")
_SECRET = re.compile(
    r"(?P<name>\bbearer\s+|\b(?:api[-_]?key|key|token)[=:]\s*[\"']?)[^\s\"'&,;]{6,}"
    r"|\b(?:(?:sk|pk|rk|gsk|xai|pplx|hf|r8)[-_]|AIza)[A-Za-z0-9*_-]{8,}",
    re.IGNORECASE,
)
_NO_KEY = re.compile(
    r"missing credentials|no api[ _]?key|(?:invalid|incorrect) api[ _]?key|unauthorized|"
    r"api[ _]?key\b.{0,40}\b(?:missing|must be set|required|not (?:set|found|provided|valid))",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|maximum (?:context|input|sequence)|(?:input|prompt|text|sequence)\b.{0,40}"
    r"\b(?:too long|too many tokens|exceeds?)|too many (?:input )?tokens|(?:less|fewer) than \d+ tokens|"
    r"maximum (?:number of )?tokens|exceeds the (?:maximum|limit)|token limit",
    re.IGNORECASE,
)
_FORMAT = re.compile(r"response_format|json_schema|json_object|json mode|response schema|structured output", re.I)
_NO_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing|credit balance", re.IGNORECASE)
_WAIT = re.compile(r"(?:retryDelay\W+|try again in )(?P<number>\d+(?:\.\d+)?)(?P<unit>ms|s)\b")


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _kind(error: BaseException, status: int | None, message: str) -> Kind:
    if isinstance(error, TimeoutError):
        return "no answer"
    if status in (401, 403) or (status in (None, 400, 422, 500) and _NO_KEY.search(message)):
        return "authentication"
    if status == 402 or (status == 429 and _NO_QUOTA.search(message)):
        return "refused"
    if status == 429:
        return "rate limit"
    if status in (400, 413, 422):
        if type(error).__name__ == "ContextWindowExceededError" or _TOO_LONG.search(message):
            return "too long"
        return "format" if _FORMAT.search(message) else "refused"
    if status in (408, 409, 425) or status is None or status >= 500:
        # Without a status: the connection broke, or litellm could not read the answer.
        return "no answer"
    return "refused"


def _headers(error: BaseException) -> Mapping[str, str]:
    headers: object = getattr(error, "litellm_response_headers", None)
    if not headers:
        headers = getattr(getattr(error, "response", None), "headers", None)
    return cast("Mapping[str, str]", headers) if isinstance(headers, Mapping) else {}


def _retry_after(headers: Mapping[str, str], message: str) -> float | None:
    """Seconds that a provider asks to wait: by header, as a number or a date, or in its message."""
    told = {name.lower(): value for name, value in headers.items()}
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1)):
        value = told.get(name, "").strip()
        if re.fullmatch(r"\d+(?:\.\d+)?", value):
            return float(value) * scale
    if value := told.get("retry-after"):
        try:
            until = parsedate_to_datetime(value)
        except (ValueError, OverflowError):
            pass  # Neither a number nor a date: as if it were not there.
        else:
            until = until if until.tzinfo else until.replace(tzinfo=UTC)
            return max(0.0, (until - datetime.now(UTC)).total_seconds())
    if match := _WAIT.search(message):
        return float(match["number"]) * (0.001 if match["unit"] == "ms" else 1)
    return None
