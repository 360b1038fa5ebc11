"""Chat completions as OpenAI's API defines them, over ``httpx``: every request ends at its deadline, bounded in size.

vLLM, Ollama, llama.cpp and the vendors of models speak this protocol.  The key comes from an environment variable and
is removed from every text that an endpoint sends back, so that it reaches no file and no message.
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from functools import cache
from http import HTTPStatus
from threading import Thread
from time import monotonic
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar
from urllib.parse import urlsplit

import msgspec

from infoset.errors import MissingExtraError, ParameterError, RemoteError, one_line, shorten

T = TypeVar("T")
Messages: TypeAlias = "Sequence[tuple[str, str]]"
"""(role, text) of each message of a conversation; roles are ``system``, ``user`` and ``assistant``."""

MAX_ANSWER = 1 << 20  # bytes
MAX_EXCUSE = 1 << 14  # bytes that are read of the answer to a failed request
MAX_EXCUSE_WORDS = 300
ATTEMPTS = 4  # requests for one answer
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds between two of them
PASSING = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS)
REFUSED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
SERVER_ERRORS = 500
VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
HEADER = re.compile(r"[\x21-\x7e]+")


class ClosedError(RemoteError):
    """A connection that was closed before the whole answer had come."""


class RefusedError(RemoteError):
    """A request that was answered by a status that is no success."""

    def __init__(self, text: str, status: int, pause: float | None = None) -> None:
        super().__init__(text)
        self.status, self.pause = status, pause

    @property
    def passing(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status >= SERVER_ERRORS or self.status in PASSING


class Reply(NamedTuple):
    """A model's answer to one conversation."""

    text: str
    model: str
    prompt_tokens: int | None
    completion_tokens: int | None
    """The endpoint's own count of tokens; ``None`` where it gives none."""


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Usage(msgspec.Struct):
    prompt_tokens: Annotated[int, msgspec.Meta(ge=0)] = 0
    completion_tokens: Annotated[int, msgspec.Meta(ge=0)] = 0


class _Completion(msgspec.Struct):
    choices: Annotated[list[_Choice], msgspec.Meta(min_length=1)]
    model: str | None = None
    usage: _Usage | None = None


class _Model(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Model]


class _Detail(msgspec.Struct):
    message: str = ""


class _Excuse(msgspec.Struct):
    error: _Detail | str = ""


class Endpoint:
    """The address of a model: ``url`` of the API, usually ending in ``/v1``, and the environment variable of the key.

    Redirects are not followed and proxies of the environment not used: a model is at its address.
    """

    def __init__(self, url: str, variable: str, required: bool) -> None:
        """Check the address and the variable; the key is read from it whenever it is needed.

        Raises ``ParameterError`` for an invalid address, or where ``variable`` is ``required`` and not set.
        """
        self.url, self.variable = _address(url), variable
        self.requests = 0
        """The number of requests for completions so far."""
        if not VARIABLE.fullmatch(variable):  # it may be the key itself, which must not be repeated
            raise ParameterError("chat: key is not the name of an environment variable; allowed: letters A-Z, 0-9, _")
        if required and not self.key():
            raise ParameterError(f"chat: the environment variable {variable}, which should contain the key, is not set")

    def key(self) -> str:
        """Return the key; "" without one.  Raises ``ParameterError`` where it cannot be part of a header."""
        key = os.environ.get(self.variable, "").strip()
        if key and not HEADER.fullmatch(key):
            raise ParameterError(f"chat: the key in {self.variable} contains characters other than visible ASCII")
        return key

    async def models(self, seconds: float) -> list[str]:
        """Return the names of the models.  Raises ``RemoteError``, also where they do not come within ``seconds``."""
        body = await self._request("GET", "/models", None, monotonic() + seconds)
        return [self.clean(found.id) for found in self._decode(body, _Models, "a list of models").data]

    async def complete(self, settings: dict[str, Any], messages: Messages, deadline: float, most: int) -> Reply:
        """Return the model's answer; a request that the server puts off is repeated after a pause.

        No more than ``most`` requests are made.  Raises ``RemoteError`` for whatever else happens before ``deadline``,
        and at it.
        """
        body = msgspec.json.encode({**settings, "messages": [{"role": r, "content": text} for r, text in messages]})
        most = min(most, ATTEMPTS)
        for attempt in range(most):
            self.requests += 1
            try:
                found = self._decode(
                    await self._request("POST", "/chat/completions", body, deadline), _Completion, "a chat completion"
                )
                break
            except (RefusedError, ClosedError) as error:
                pause = getattr(error, "pause", None)
                pause = min(FIRST_PAUSE * 2**attempt, LONGEST_PAUSE) if pause is None else pause
                lasting = isinstance(error, RefusedError) and not error.passing
                if lasting or attempt == most - 1 or monotonic() + pause >= deadline:
                    raise
                await asyncio.sleep(pause)
        usage = found.usage
        return Reply(
            self.clean(found.choices[0].message.content or ""),
            one_line(self.clean(found.model or "")),
            None if usage is None else usage.prompt_tokens,
            None if usage is None else usage.completion_tokens,
        )

    def clean(self, text: str) -> str:
        """Return a text of the endpoint without the key, should it repeat it."""
        key = self.key()
        return text.replace(key, "[key]") if key else text

    def _decode(self, body: bytes, kind: type[T], what: str) -> T:
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            began = one_line(self.clean(body[:MAX_EXCUSE].decode(errors="replace"))) or "nothing"
            raise RemoteError(f"{self.url}: the answer is not {what}: {began}") from None

    async def _request(self, method: str, path: str, body: bytes | None, deadline: float) -> bytes:
        """Return the body of the answer to one request.  Raises ``RemoteError``."""
        httpx = _httpx()
        started = monotonic()
        try:
            async with asyncio.timeout(max(deadline - started, 0.0)):
                return await self._exchange(httpx, method, path, body)
        except RemoteError:
            raise
        except TimeoutError:
            raise RemoteError(f"{self.url}: no complete answer within {monotonic() - started:.3g} s") from None
        except httpx.ConnectError as error:
            why = "no such host" if "getaddrinfo" in str(error) or "Name or service" in str(error) else str(error)
            raise RemoteError(f"{self.url}: cannot be reached: {self._text(why)}") from None
        except (httpx.RemoteProtocolError, httpx.NetworkError) as error:
            raise ClosedError(f"{self.url}: the connection ended early: {self._text(str(error) or 'closed')}") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise RemoteError(f"{self.url}: {self._text(str(error) or type(error).__name__)}") from None

    async def _exchange(self, httpx: Any, method: str, path: str, body: bytes | None) -> bytes:
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}  # so that the limit holds
        if key := self.key():
            headers["Authorization"] = f"Bearer {key}"
        secure = _certificates() if self.url.startswith("https") else False
        async with (
            httpx.AsyncClient(timeout=None, trust_env=False, verify=secure, http2=False) as client,
            client.stream(method, f"{self.url}{path}", content=body, headers=headers) as answer,
        ):
            if answer.status_code != HTTPStatus.OK:
                raise await self._refusal(answer)
            found = bytearray()
            async for part in answer.aiter_raw():
                found += part
                if len(found) > MAX_ANSWER:
                    raise RemoteError(f"{self.url}: the answer has more than {MAX_ANSWER:,} bytes")
            return bytes(found)

    async def _refusal(self, answer: Any) -> RefusedError:
        """Return the error for an answer without success, with what the endpoint says about it."""
        found = bytearray()
        async for part in answer.aiter_raw():
            found += part
            if len(found) > MAX_EXCUSE:
                break
        text = found.decode(errors="replace")
        try:
            error = msgspec.json.decode(found, type=_Excuse).error
            text = error if isinstance(error, str) else error.message
        except (msgspec.MsgspecError, ValueError, RecursionError):
            pass
        status = answer.status_code
        why = f"{self.url} answered {status} {answer.reason_phrase}"
        if answer.is_redirect:
            why += " (redirects are not followed)"
        elif status in REFUSED:
            given = "refuses the key in" if self.key() else "needs a key in"
            why += f" ({given} the environment variable {self.variable})"
        why += f": {self._text(text)}" if text.strip() else ""
        after = answer.headers.get("retry-after", "")  # seconds, or a date
        return RefusedError(why, status, float(after) if re.fullmatch(r"[0-9]{1,6}", after) else None)

    def _text(self, text: str) -> str:
        return one_line(self.clean(text), MAX_EXCUSE_WORDS)


def _address(url: str) -> str:
    """Return the address of an API without what a client adds; an address without a path gets ``/v1``."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ParameterError(f"chat: {shorten(url)!r} is not an address: {error}") from None
    if parts.username or parts.password:  # which would be written into every replay
        raise ParameterError("chat: an address contains no password; name the key's environment variable: key=NAME")
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ParameterError(f"chat: {shorten(url)!r} is not an address; allowed: http://HOST:PORT/v1")
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return f"{parts.scheme}://{parts.netloc}{path or '/v1'}"


def _httpx() -> Any:
    try:
        import httpx
    except ImportError:
        raise MissingExtraError("the agent chat", "chat") from None
    return httpx


@cache
def _certificates() -> ssl.SSLContext:
    return ssl.create_default_context()


def submit(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Run a coroutine in the thread of this process that waits for all endpoints; the future's result is its own."""
    return asyncio.run_coroutine_threadsafe(work, _loop(os.getpid()))


@cache
def _loop(process: int) -> asyncio.AbstractEventLoop:
    """Return the event loop of a process; a forked one gets its own."""
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="infoset-chat", daemon=True).start()
    return loop
