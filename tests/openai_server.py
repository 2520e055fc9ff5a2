"""A scripted OpenAI-compatible server on loopback: each request gets the next answer of a script, and is recorded.

It is a real HTTP server; what is tested against it goes through litellm and a socket as it would to a provider.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic
from typing import Any, cast

Body = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """What the server was asked."""

    path: str
    headers: Mapping[str, str]
    """By lower-case name."""
    body: Body
    at: float
    """Seconds, monotonic."""

    @property
    def messages(self) -> list[Body]:
        return self.body["messages"]

    @property
    def limit(self) -> int:
        """The most tokens that the reply may have."""
        return self.body.get("max_completion_tokens") or self.body["max_tokens"]


@dataclass(frozen=True)
class Answer:
    """What the server does with a request."""

    status: int = 200
    body: Body | str = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    reset: bool = False
    """Cut the connection instead of answering."""
    delay: float = 0
    """Seconds before anything is sent; ends early when the server closes."""
    trickle: float = 0
    """Seconds between one byte and the next."""


Behaviour = Answer | Callable[[Request], Answer]


def says(
    content: str | None,
    *,
    finish: str = "stop",
    refusal: str | None = None,
    prompt_tokens: int = 100,
    completion_tokens: int = 20,
) -> Answer:
    """A chat completion."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return Answer(
        body={
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {
                "prompt_tokens": prompt_tokens,
                "completion_tokens": completion_tokens,
                "total_tokens": prompt_tokens + completion_tokens,
            },
        }
    )


def writes(content: str, tokens: int) -> Callable[[Request], Answer]:
    """A model whose reply takes so many tokens: below that limit it is cut, with ``finish_reason`` length."""

    def behave(request: Request) -> Answer:
        if request.limit >= tokens:
            return says(content, completion_tokens=tokens)
        cut = content[: len(content) * request.limit // tokens]
        return says(cut, finish="length", completion_tokens=request.limit)

    return behave


def fails(status: int, message: str, *, code: str | None = None, headers: Mapping[str, str] | None = None) -> Answer:
    """An error in OpenAI's form."""
    error = {"message": message, "type": "error", "param": None, "code": code}
    return Answer(status, {"error": error}, headers or {})


def hangs(seconds: float = 60) -> Answer:
    """Nothing for so long."""
    return Answer(body={}, delay=seconds)


RESET = Answer(reset=True)


def embeds(vector: Callable[[str], Sequence[float]], *, longest: int | None = None) -> Callable[[Request], Answer]:
    """An embedding model; with ``longest``, texts of more characters are refused as over its context length."""

    def behave(request: Request) -> Answer:
        texts = request.body["input"]
        texts = [texts] if isinstance(texts, str) else texts
        if longest is not None and any(len(text) > longest for text in texts):
            most = max(len(text) for text in texts)
            return fails(
                400,
                f"This model's maximum context length is {longest} tokens, however you requested {most} tokens "
                f"({most} in your prompt; 0 for the completion). Please reduce your prompt.",
            )
        data = [{"object": "embedding", "index": i, "embedding": list(vector(text))} for i, text in enumerate(texts)]
        # The order of the list means nothing; the index does.
        return Answer(
            body={
                "object": "list",
                "data": data[::-1],
                "model": "scripted",
                "usage": {"prompt_tokens": 5 * len(texts), "total_tokens": 5 * len(texts)},
            }
        )

    return behave


class Server:
    """The server; ``requests`` is what it was asked so far."""

    def __init__(self, script: Sequence[Behaviour]) -> None:
        self.requests: list[Request] = []
        self.most_at_once = 0
        self._script = list(script)
        self._lock = threading.Lock()
        self._at_once = 0
        self._closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def then(self, *script: Behaviour) -> None:
        """Play this from now on; the last behaviour is repeated."""
        with self._lock:
            self._script = list(script)

    def close(self) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _next(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append(request)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            behaviour = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        return behaviour if isinstance(behaviour, Answer) else behaviour(request)

    def _done(self) -> None:
        with self._lock:
            self._at_once -= 1

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer = server._next(Request(self.path, headers, cast("Body", json.loads(raw)), monotonic()))
                try:
                    self._play(answer)
                except OSError:
                    self.close_connection = True  # The client gave up waiting: that is what some tests are about.
                finally:
                    server._done()

            def _play(self, answer: Answer) -> None:
                if answer.delay and server._closing.wait(answer.delay):
                    self.close_connection = True
                    return
                if answer.reset:
                    # Closing with a linger time of zero sends a reset.
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.close_connection = True
                    self.connection.close()
                    return
                body = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
                data = body.encode()
                self.send_response(answer.status)
                for name, value in ({"content-type": "application/json"} | dict(answer.headers)).items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                # Otherwise litellm keeps the connection for later, and pytest reports it as a leak.
                self.send_header("connection", "close")
                self.end_headers()
                if not answer.trickle:
                    self.wfile.write(data)
                    return
                for byte in data:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    if server._closing.wait(answer.trickle):
                        return

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


@contextmanager
def serve(*script: Behaviour) -> Iterator[Server]:
    """A server that plays a script; its last behaviour is repeated."""
    server = Server(script)
    try:
        yield server
    finally:
        server.close()
