"""Models: who answers. One outside of the game, behind a server that speaks OpenAI's protocol, or a function in it.

``Model`` is called as any outside is (``Runtime.call``): what it returns comes in at an intake, a recording keeps it, a
replay needs neither it nor a network. One call is one request to the server: nobody below may ask again by himself, for
each request is in the books before it is made. It never raises; why there is no answer is part of what it returns, in
words of our own, with what the server said only as far as it cannot hold the key.

A connection lasts for one request. That costs a handshake, which is little beside what a model takes; nothing has to
be closed when a run ends, and a call that is cancelled is seen at the server at once.

``Scripted`` is a function of the game: deterministic, asked where it is due and answering after some game time, the
same on every host. A recording of it has nothing from outside.

Source: ours, minds.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from threading import Thread  # noqa: TID251 - of a call, which is outside of the game
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias

from agentrt.errors import DefinitionError, MissingExtraError
from agentrt.minds.asked import (
    BROKEN,
    BUSY,
    LATE,
    LOST,
    REFUSED,
    SERVER,
    UNREACHED,
    Asked,
    ModelRequest,
    Reply,
    Usage,
    tokens_of,
)
from agentrt.words import printable, repr_of

if TYPE_CHECKING:
    import ssl

    from openai import AsyncOpenAI
    from opentelemetry.trace import TracerProvider
    from pydantic_ai.messages import ModelResponsePart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.openai import OpenAIChatModel

_MOST_TOLD: Final = 200  # characters of what a server says about a failure
_KEYS: Final = re.compile(r"\b(?:sk|pk|key|gsk|xai|Bearer)[-_ ][\w*.\-]{6,}", re.IGNORECASE)  # what looks like one
_MOST_BYTES: Final = 4 * 1024 * 1024  # of a response
_TOOL: Final = "answer"
_SPANS: Final = 5  # the version of the spans' format, whatever the library's own default becomes


@dataclass(frozen=True)
class Model:
    """A language model outside of the game.

    Args:
        name: its name at the server: ``"gpt-5-mini"``; ``"openai:gpt-5-mini"`` is the same.
        base_url: where the server is; empty for OpenAI's own. Any that speaks its chat protocol will do.
        key: the environment variable in which its key stands. The key itself is read for each call and kept nowhere.
        timeout: real seconds that one call may take.
        temperature: how freely it chooses; None as the server has it.
        output: how it is told the form of an answer: ``"tool"``, a function to call; ``"native"``, a response format;
            ``"prompted"``, in words, for servers that know neither.
        count: says how many tokens a request has at most, the answer left out; None counts each byte as one.
        price: what a million tokens cost that are read, and that are written.
        spans: whether its calls are spans of OpenTelemetry, by the conventions for generative models; without what is
            said in them. True takes the global provider of tracers; another one is given itself.
    """

    name: str
    base_url: str = ""
    key: str = "OPENAI_API_KEY"
    timeout: float = 30.0
    temperature: float | None = None
    output: Literal["tool", "native", "prompted"] = "tool"
    count: Callable[[ModelRequest], int] | None = None
    price: tuple[float, float] = (0.0, 0.0)
    spans: bool | TracerProvider = False

    def __post_init__(self) -> None:
        name: object = self.name
        timeout: object = self.timeout
        if not isinstance(name, str) or not name:
            raise DefinitionError(
                "Model", f"name is {repr_of(self.name, 80)}.", "Write the model's name at its server."
            )
        key: object = self.key  # whoever gave the key itself does not see it in the error
        if not isinstance(key, str) or not re.fullmatch(r"[A-Za-z_]\w*", key):
            raise DefinitionError("Model", "key is no name of an environment variable.", 'Write key="OPENAI_API_KEY".')
        url: object = self.base_url
        if not isinstance(url, str) or (url and not re.match(r"https?://[^/\s@]+(/|$)", url)):  # it may hold a secret
            problem = "base_url is no address of a server, or one with a password in it."
            raise DefinitionError("Model", problem, 'Write base_url="http://127.0.0.1:8080/v1", or leave it empty.')
        _check_price("Model", self.price)
        if self.output not in ("tool", "native", "prompted"):
            problem = f"output is {repr_of(self.output, 80)}."
            raise DefinitionError("Model", problem, "Write 'tool', 'native' or 'prompted'.")
        if not (isinstance(timeout, (int, float)) and timeout > 0):
            raise DefinitionError("Model", f"timeout is {repr_of(self.timeout, 80)}.", "Write real seconds above 0.")

    @property
    def label(self) -> str:
        """What it is called in traces and views."""
        return self.name.removeprefix("openai:")

    def bound(self, request: ModelRequest) -> int:
        """How many tokens a call can use at most."""
        if self.count is None:
            return request.bound()
        counted: object = self.count(request)
        if type(counted) is not int or counted < 0:  # less than nothing would be room in every budget
            raise DefinitionError("Model", f"count gave {repr_of(counted, 80)}.", "Return a whole number from 0 on.")
        return counted + request.max_tokens

    def require(self) -> None:
        """Load what it needs, which takes longer than a call may; ``MissingExtraError`` if that is not there."""
        try:
            for name in ("pydantic_ai.direct", "pydantic_ai.models.openai"):
                import_module(name)
        except ImportError as error:
            raise MissingExtraError("llm", error.name or "pydantic_ai") from None
        _trusted()

    async def ask(self, data: dict[str, Any], keeps: bool = False) -> dict[str, Any]:
        """Make one call: a request as plain values, and a reply as plain values. Runs on an event loop.

        Args:
            data: the request, with its key.
            keeps: whether the reply has the request, too, for recordings.
        """
        import anyio

        request = ModelRequest(*(data[name] for name in ModelRequest._fields))
        reply = Reply(kind=LATE, text=f"no answer within {self.timeout:g} s")
        with anyio.move_on_after(self.timeout):
            reply = await self._ask(request)
        plain = reply._replace(key=data["key"]).plain()
        return {**plain, "asked": data} if keeps else plain

    def ask_here(self, data: dict[str, Any], keeps: bool = False) -> dict[str, Any]:
        """The same where no event loop runs; whoever calls waits."""
        import anyio

        return anyio.run(self.ask, data, keeps)

    def begin(self, data: dict[str, Any], keeps: bool = False) -> Future[dict[str, Any]]:
        """Begin a call on a thread, so that whoever calls waits only when its result is due: see ``collect``."""
        made: Future[dict[str, Any]] = Future()

        def run() -> None:
            try:
                made.set_result(self.ask_here(data, keeps))
            except BaseException as error:  # it is raised where the result is collected
                made.set_exception(error)

        Thread(target=run, name=f"agentrt call of {self.label}", daemon=True).start()
        return made

    def collect(self, data: dict[str, Any], keeps: bool, begun: Future[dict[str, Any]]) -> dict[str, Any]:
        """The result of a call that was begun; waits for it."""
        return begun.result()

    async def _ask(self, request: ModelRequest) -> Reply:
        from pydantic_ai import direct, messages, settings
        from pydantic_ai.models.instrumented import InstrumentationSettings

        system = request.system
        if self.output == "prompted":
            form = json.dumps(dict(request.schema))
            system += f"\nAnswer with one JSON object, and nothing else, of this schema:\n{form}"
        asked = messages.ModelRequest(
            parts=[messages.SystemPromptPart(content=system), messages.UserPromptPart(content=request.prompt)]
        )
        limits: settings.ModelSettings = {"max_tokens": request.max_tokens, "timeout": self.timeout}
        if self.temperature is not None:
            limits["temperature"] = self.temperature
        instrument = None
        if self.spans:
            provider = None if self.spans is True else self.spans
            instrument = InstrumentationSettings(tracer_provider=provider, include_content=False, version=_SPANS)
        secret = os.environ.get(self.key, "")
        try:
            async with self._opened(secret) as client:
                response = await direct.model_request(
                    _model(self.label, client, is_own=bool(self.base_url)),
                    [asked],
                    model_settings=limits,
                    model_request_parameters=self._form(request),
                    instrument=instrument,
                )
        except Exception as error:
            return _failure(error, secret)
        usage = Usage(_whole(response.usage.input_tokens), _whole(response.usage.output_tokens))
        value, problem = _value(response.parts)
        if problem:
            return Reply(None, usage, BROKEN, problem)
        return Reply(value, usage)

    def _form(self, request: ModelRequest) -> ModelRequestParameters:
        """How the model is told what an answer looks like."""
        from pydantic_ai import models, output, tools

        made = models.ModelRequestParameters(allow_text_output=False)
        schema = dict(request.schema)
        if self.output == "tool":
            tool = tools.ToolDefinition(name=_TOOL, parameters_json_schema=schema, kind="output")
            made.output_mode, made.output_tools = "tool", [tool]
        elif self.output == "native":
            made.output_mode = "native"
            made.output_object = output.OutputObjectDefinition(json_schema=schema, name=_TOOL)
        return made

    @asynccontextmanager
    async def _opened(self, secret: str) -> AsyncIterator[AsyncOpenAI]:
        import openai

        client = openai.AsyncOpenAI(
            api_key=secret or "none",  # servers of one's own need none, and the library insists
            base_url=self.base_url or None,
            max_retries=0,
            timeout=self.timeout,
            # Where it is sent on to is nowhere that anybody named, and a prompt would go there.
            http_client=openai.DefaultAsyncHttpxClient(
                verify=_trusted(), follow_redirects=False, event_hooks={"response": [_bounded]}
            ),
            default_headers={"Accept-Encoding": "identity"},
        )
        try:
            async with client:
                yield client
        finally:
            # It and its parts know each other. While a runtime runs, such a cycle stays for long (see ``collector``),
            # and with it all of the connection: a town would grow by some megabytes a day.
            vars(client).clear()


# A recording of one host is replayed on another, and knows calls by the name of the function.
Model.ask_here.__qualname__ = Model.collect.__qualname__ = Model.ask.__qualname__


class _TooLongError(Exception):
    """A response is longer than any answer."""


class _Stream(Protocol):
    """A body that comes in."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


class _Response(Protocol):
    """A response of the client's library."""

    headers: Mapping[str, str]
    stream: _Stream


async def _bounded(response: _Response) -> None:
    """Have a response end with an error where it is too long: a client reads all of it, and unpacks it, too."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise _TooLongError  # nobody asked for that, and how long it becomes nobody knows
    response.stream = _stream(type(response).__module__.partition(".")[0], response.stream)


def _stream(library: str, of: _Stream) -> _Stream:
    """A stream of the client's own library, whichever of two of one kind that is."""
    kind: type[Any] = import_module(library).AsyncByteStream

    class Bounded(kind):  # type: ignore[misc]  # mypy knows neither
        async def __aiter__(self) -> AsyncIterator[bytes]:
            length = 0
            async for part in of:
                length += len(part)
                if length > _MOST_BYTES:
                    raise _TooLongError
                yield part

        async def aclose(self) -> None:
            await of.aclose()

    return Bounded()


@functools.cache
def _trusted() -> ssl.SSLContext:
    """Whom to trust; reading that takes longer than all else about a call."""
    import ssl

    return ssl.create_default_context()


def _model(name: str, client: AsyncOpenAI, *, is_own: bool) -> OpenAIChatModel:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider

    # Other servers bound an answer by the older name of the setting, and let it run on for the newer one.
    profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False) if is_own else None
    return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client), profile=profile)


def _whole(value: object) -> int:
    return value if type(value) is int and value > 0 else 0


def _value(parts: Sequence[ModelResponsePart]) -> tuple[object, str]:
    """The answer in a response: of the call of our tool, or of the text; and what is wrong with it."""
    from pydantic_ai import messages

    texts: list[Any] = [part.args for part in parts if isinstance(part, messages.ToolCallPart)][:1]
    texts = texts or ["".join(part.content for part in parts if isinstance(part, messages.TextPart))]
    found: object = texts[0]
    if isinstance(found, Mapping):
        return dict(found), ""
    text = str(found or "").strip().removeprefix("```json").strip("`").strip()
    try:
        value = json.loads(text, parse_constant=_no_number)
        # Half a pair is no character, and whoever keeps or sends the text would fail.
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")), ""
    except (ValueError, RecursionError):
        return None, "it is no JSON" if text else "it is empty"


def _check_price(subject: str, price: object) -> None:
    given = price if isinstance(price, tuple) else ()
    if len([one for one in given if isinstance(one, (int, float)) and 0 <= one < float("inf")]) != 2:
        problem = f"price is {repr_of(price, 80)}."
        raise DefinitionError(subject, problem, "Write what a million tokens cost, read and written: (0.25, 2.0).")


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _failure(error: Exception, secret: str) -> Reply:
    """Why there is no answer, in words that hold no secret."""
    from pydantic_ai import exceptions

    after = getattr(error, "retry_after", None) or 0.0
    status = getattr(error, "status_code", None)
    if isinstance(error, exceptions.ModelHTTPError) and isinstance(status, int):
        if status in (401, 403):  # servers like to quote the key there, in part
            return Reply(kind=REFUSED, text=f"the server does not take the key ({status})")
        kind = BUSY if status in (408, 429, 503, 529) else SERVER if status >= 500 else REFUSED
        said = _said(getattr(error, "body", None))
        told = f"the server answered {status}" + (f": {_safe(said, secret)}" if said else "")
        return Reply(kind=kind, text=told, after=after)
    if any(isinstance(one, _TooLongError) for one in _causes(error)):
        return Reply(kind=BROKEN, text=f"what came is no answer: it is packed, or longer than {_MOST_BYTES >> 20} MiB")
    sent_on = next((one for one in map(_status, _causes(error)) if 300 <= one < 400), 0)
    if sent_on:
        return Reply(
            kind=REFUSED, text=f"the server sends one on to another place ({sent_on}): base_url is to name that"
        )
    names = {kind.__name__ for kind in type(error).__mro__}
    if names & {"ModelTimeoutError", "TimeoutError", "APITimeoutError"}:
        return Reply(kind=LATE, text="the server took too long")
    if names & {"ModelConnectionError", "APIConnectionError", "OSError", "ModelAPIError"}:
        if any(type(one).__name__ in ("ConnectError", "ConnectTimeout") for one in _causes(error)):
            return Reply(kind=UNREACHED, text="the server cannot be reached")
        return Reply(kind=LOST, text=f"the connection broke: {_safe(str(error), secret)}")
    # Not in its words: they may quote what came.
    return Reply(kind=BROKEN, text=f"what came is no answer ({type(error).__name__})")


def _status(error: BaseException) -> int:
    status = getattr(error, "status_code", 0)
    return status if isinstance(status, int) else 0


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and len(found) < 16:  # a circle has no end
        found.append(one)
        one = one.__cause__ or one.__context__
    return found


def _said(body: object) -> str:
    """What a server says about a failure."""
    inner = body.get("error", body) if isinstance(body, dict) else body
    said = inner.get("message", "") if isinstance(inner, dict) else inner
    return said if isinstance(said, str) else ""


def _safe(text: str, secret: str) -> str:
    if secret:
        text = text.replace(secret, "***")
    return printable(_KEYS.sub("***", text))[:_MOST_TOLD]


# What a function of the game answers: the answer, or that and what it used; or it raises.
Script: TypeAlias = "Callable[[Asked], Any]"


@dataclass(frozen=True)
class Scripted:
    """A function of the game in place of a model: the same answers in every run of a seed, without a server.

    Args:
        answer: called with an ``Asked``; returns the answer, an object of the request's schema. What it raises is why
            there is none.
        latency: in how many game seconds the answer comes, or a function that says it of an ``Asked``.
        name: what it is called in traces and views.
        price: as for ``Model``.
        usage: says what an answer has used, called with the ``Asked`` and the answer; None counts a token for each four
            bytes, as models roughly do.
    """

    answer: Script
    latency: float | Callable[[Asked], float] = 0.5
    name: str = "scripted"
    price: tuple[float, float] = (0.0, 0.0)
    usage: Callable[[Asked, Any], tuple[int, int]] | None = None

    def __post_init__(self) -> None:
        _check_price("Scripted", self.price)

    @property
    def label(self) -> str:
        return self.name

    def bound(self, request: ModelRequest) -> int:
        return request.bound()

    def require(self) -> None:
        """It needs nothing."""

    def seconds(self, asked: Asked) -> float:
        """How long an answer takes, in game seconds."""
        return float(self.latency(asked) if callable(self.latency) else self.latency)

    def reply(self, asked: Asked) -> Reply:
        """What it answers; whatever it does, a reply comes out."""
        from agentrt.errors import ENDS_PROGRAM
        from agentrt.words import error_words

        key = asked.request.key
        try:
            value = self.answer(asked)
            text = json.dumps(value, ensure_ascii=False)  # an answer is plain, as one from outside is
            read, written = self._used(asked, value, text)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            return Reply(kind=SERVER, text=f"{self.name}: {error_words(error)}", key=key)
        return Reply(json.loads(text), Usage(read, written), key=key)

    def _used(self, asked: Asked, value: object, text: str) -> tuple[int, int]:
        if self.usage is not None:
            read, written = self.usage(asked, value)
            return _whole(read), _whole(written)
        request = asked.request
        return _quarter(request.system + request.prompt), min(_quarter(text), request.max_tokens)


def _quarter(text: str) -> int:
    return -(-tokens_of(text) // 4)


AnyModel: TypeAlias = "Model | Scripted"
