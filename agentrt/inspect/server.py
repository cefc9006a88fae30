"""The server: a thread of its own with an event loop of its own, so that it answers whatever the runtime is doing.

It serves the page (``/`` and ``/static/``), a greeting (``/api/hello``), the socket (``/ws``), a recording as one file
(``/api/file``), and the last ticks of a run as a recording (``/api/past``), and takes edits of files (``/api/edit``).
It touches neither the runtime nor the recording: a source does, on another thread (see ``sessions``), and the one file
is made by one more, which opens the recording for itself.

* The socket to listen on is bound by the caller's thread, so that a port that is in use is the caller's error.
* Bounds: so many clients, connections, bytes in a message, messages in a second. A connection over which nothing was
  asked for within ten seconds is closed, so that nobody can use up the program's file descriptors. Messages are not
  compressed, so that a small one cannot become a large one.
* An edit is asked for by POST with JSON, which no page of another origin may send, and so often at most; see
  ``editing``.
* Of files one is made at a time, for who asks by POST (a page of another origin has to say that it is one) and only as
  long as it waits. Nothing is written here for it.
* Pages are sent with a policy that lets them load from here alone and be framed nowhere.
* Static files are looked up by a pattern that has no dots before the last one, below one folder of this package.
* uvicorn writes the path of a WebSocket into its log; the token is taken out of it before.

Rejected: running on the runtime's own event loop. A plain runtime has none, and one that hangs could not be looked at.

One module reads this one, the inspector's door, and only when an inspector starts: it needs the extra ``inspect``.
"""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn import Config
from uvicorn import Server as Uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from agentrt.errors import AgentRTError, InspectorError
from agentrt.inspect.doorkeeper import Doorkeeper
from agentrt.inspect.editing import MOST_ASKED
from agentrt.inspect.onefile import OneFile, write_html
from agentrt.inspect.protocol import LONGEST_MESSAGE, Denial, Pin, read, read_pins, write
from agentrt.inspect.sessions import Message, Session, Source
from agentrt.record.recording import Recording

_MOST_CONNECTIONS = 128
_SILENT_SECONDS = 10.0
_GRACE_SECONDS = 1


class _Connection(H11Protocol):
    """A connection that is one of not too many, and that is closed if nothing is asked for over it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # What it asks for has the token in it, and the log may be that of the program's own server. (Told to uvicorn by
        # its option, this would take the handlers from that one.)
        self.access_log = False
        self._answered: RequestResponseCycle | None = None  # the last request when it was looked at

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > _MOST_CONNECTIONS:
            transport.abort()
        else:
            self._wait_for_a_request()

    def _wait_for_a_request(self) -> None:
        self._answered = getattr(self, "cycle", None)
        self.loop.call_later(_SILENT_SECONDS, self._close_if_silent)

    def _close_if_silent(self) -> None:
        """However slowly a request comes in, it has so much time; the one that is being answered has more."""
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return  # it may have become a WebSocket
        cycle: RequestResponseCycle | None = getattr(self, "cycle", None)
        if cycle is self._answered and (cycle is None or cycle.response_complete):
            self.transport.abort()
        else:
            self._wait_for_a_request()


class _Socket(WebSocketsSansIOProtocol):
    """A WebSocket that writes no request, and no token, into anybody's log."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.conn.debug = False


def _http_server(app: ASGIApp) -> Uvicorn:
    options: dict[str, Any] = {
        "http": _Connection,
        "ws": _Socket,
        "ws_max_size": LONGEST_MESSAGE,
        "ws_per_message_deflate": False,
        "loop": "asyncio",
        "lifespan": "off",
        "log_config": None,
        "server_header": False,
        "date_header": False,
        "proxy_headers": False,
        "timeout_graceful_shutdown": _GRACE_SECONDS,
    }
    return Uvicorn(Config(app, **options))


_PER_SECOND = 50.0  # messages of one client, for long
_AT_ONCE = 200.0  # messages, in either direction
_POLICY = 1008  # closed because of what it does


class Client:
    """One client, at its socket: one task reads, and one writes.

    JSON is made here of what was composed, so that the runtime's thread does not spend its time on that.
    """

    def __init__(self, websocket: WebSocket, source: Source) -> None:
        self._websocket = websocket
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._outgoing: asyncio.Queue[Message | None] = asyncio.Queue()  # None: the end of a batch
        self._session = Session(self._hand_over)
        self._allowance = _AT_ONCE
        self._counted = self._loop.time()

    async def serve(self) -> None:
        await self._websocket.accept()
        for message in self._source.greeting():
            self._outgoing.put_nowait(message)
        self._source.open(self._session)  # after the greeting: nothing that is composed is told before it
        writer = asyncio.create_task(self._write(), name="agentrt inspector: writer")
        try:
            await self._read()
        except WebSocketDisconnect:
            pass
        finally:
            self._session.is_open = False
            self._source.close(self._session)
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    # --- reading ------------------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        while True:
            event = await self._websocket.receive()
            if event["type"] == "websocket.disconnect":
                return
            if not self._may_speak():
                await self._websocket.close(_POLICY, "too many messages")
                return
            text = event.get("text")
            command = Denial("a message is text", "bad_message") if text is None else read(text)
            if isinstance(command, Denial):
                self._tell(command)
            elif not self._session.submit(command):
                self._tell(Denial("too much was asked for already; nobody runs the ticks", "busy"))

    def _may_speak(self) -> bool:
        """Whether it keeps to its number of messages a second."""
        now = self._loop.time()
        self._allowance = min(_AT_ONCE, self._allowance + (now - self._counted) * _PER_SECOND) - 1
        self._counted = now
        return self._allowance >= 0

    def _tell(self, denial: Denial) -> None:
        if self._outgoing.qsize() < _AT_ONCE:  # who does not read is not told again and again
            self._outgoing.put_nowait({"is": "error", "message": denial.message, "code": denial.code})

    # --- writing ------------------------------------------------------------------------------------------------------

    def _hand_over(self, batch: list[Message]) -> bool:
        try:
            self._loop.call_soon_threadsafe(self._deliver, batch)
        except RuntimeError:  # the loop has been closed meanwhile
            return False
        return True

    def _deliver(self, batch: list[Message]) -> None:
        for message in (*batch, None):
            self._outgoing.put_nowait(message)

    async def _write(self) -> None:
        try:
            while True:
                message = await self._outgoing.get()
                if message is None:
                    self._session.arrived()
                else:
                    await self._websocket.send_text(write(message))
        except (WebSocketDisconnect, RuntimeError):  # it has gone; who reads hears of it, too
            pass


HEADERS: Mapping[str, str] = {  # what every answer carries
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
_STATIC = Path(__file__).parent / "static"
_FILE = re.compile(r"(?:[A-Za-z0-9_-]+/){0,3}[A-Za-z0-9_-]+\.(css|js|svg|png|ico|json)", re.ASCII)
_TYPES = {
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
    "json": "application/json",
}

_EDITS_PER_SECOND, _EDITS_AT_ONCE = 20.0, 40.0  # requests of all clients together, for long and in one go
_FORBIDDEN = 403
_MOST_EDITING = 4  # requests that are waited for at a time
_BODY_SECONDS = 10.0  # in which a request has to have come in

_TICK = re.compile(r"[0-9]{1,15}", re.ASCII)

_LAST_PORT = 65535
_LOOKS_SECONDS = 0.5  # how often it is asked whether somebody still waits for a file
_DIGITS = 10  # of a number of ticks
_START_SECONDS, _STOP_SECONDS = 10.0, 5.0  # for its thread
_FULL = 1013  # closed because there are too many


def bind(address: str, port: int) -> socket.socket:
    """Make the socket to listen on; ``InspectorError`` if it cannot be had."""
    where = f"it cannot listen on {address!r}, port {port}"
    remedy = "Choose another port, or 0 for any that is free."
    if not 0 <= port <= _LAST_PORT:
        raise InspectorError(f"{where}: a port is a number up to {_LAST_PORT}", remedy)
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise InspectorError(f"{where}: {error}", "Give it an address of this machine.") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(64)
    except OSError as error:
        listener.close()
        raise InspectorError(f"{where}: {error}", remedy) from error
    return listener


class Server:
    """The server of one inspector; the socket to listen on is closed with it."""

    def __init__(self, source: Source, doorkeeper: Doorkeeper, listener: socket.socket, max_clients: int) -> None:
        self._source = source
        self._doorkeeper = doorkeeper
        self._socket = listener
        self._max_clients = max_clients
        self._clients = 0
        self._is_making = False  # a file
        self._edits = _EDITS_AT_ONCE, 0.0  # how many may be asked for, as of when
        self._editing = 0
        self._http = _http_server(self._app())
        self._error: BaseException | None = None
        self._is_up = threading.Event()
        self._thread = threading.Thread(target=self._run, name="agentrt inspector", daemon=True)

    # --- the thread ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start to serve; ``InspectorError`` if its thread cannot begin."""
        try:
            self._thread.start()
            self._is_up.wait(_START_SECONDS)
        except RuntimeError as error:  # there can be no more threads
            self._error = error
        if self._error is not None:
            self._socket.close()
            raise InspectorError(f"its server did not start: {self._error}", "See the cause.") from self._error

    def leave(self) -> None:
        self._http.should_exit = True  # it looks ten times a second

    def join(self) -> None:
        self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # told to who waits for it
            self._error = error
        finally:
            self._socket.close()  # who is told to leave before it has begun does not
            self._is_up.set()

    async def _serve(self) -> None:
        self._is_up.set()
        await self._http.serve(sockets=[self._socket])

    # --- what it answers ----------------------------------------------------------------------------------------------

    def _app(self) -> ASGIApp:
        app = Starlette(
            routes=[
                Route("/", self._page),
                Route("/static/{file:path}", self._static),
                Route("/api/hello", self._hello),
                Route("/api/file", self._one_file, methods=["POST"]),
                Route("/api/past", self._saved, methods=["GET"]),
                Route("/api/edit", self._edit, methods=["POST"]),
                WebSocketRoute("/ws", self._client),
            ]
        )

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] in ("http", "websocket") and not self._doorkeeper.admits(_headers(HTTPConnection(scope))):
                await _refuse(scope, receive, send, 403, "not from here")
            else:
                await app(scope, receive, send)

        return guarded

    async def _page(self, request: Request) -> Response:
        return _file("index.html", "text/html")

    async def _static(self, request: Request) -> Response:
        name = str(request.path_params["file"])
        found = _FILE.fullmatch(name)
        if found is None:
            return PlainTextResponse("not found", 404, HEADERS)
        return _file(name, _TYPES[found[1]])

    async def _hello(self, request: Request) -> Response:
        if not self._doorkeeper.knows(_token(request)):
            return PlainTextResponse("a token is needed", 401, HEADERS)
        return JSONResponse(self._source.greeting()[0], headers=HEADERS)

    async def _one_file(self, request: Request) -> Response:
        if not self._doorkeeper.knows(_token(request)):
            return PlainTextResponse("a token is needed", 401, HEADERS)
        found = self._source.recorded()
        if found is None:
            return PlainTextResponse("a run that keeps no past is no file: record it", 404, HEADERS)
        first, last = _tick(request.query_params.get("first")), _tick(request.query_params.get("last"))
        pins = read_pins(request.query_params.get("pins", ""))
        if isinstance(pins, Denial):
            return PlainTextResponse(pins.message, 400, HEADERS)
        if self._is_making:
            return PlainTextResponse("another file is being made: try it again soon", 429, HEADERS)
        text = _Text()
        self._is_making = True
        try:
            making = asyncio.ensure_future(asyncio.to_thread(_make, found, text, first, last, pins))
            while not (await asyncio.wait({making}, timeout=_LOOKS_SECONDS))[0]:
                if await request.is_disconnected():
                    text.is_wanted = False
            made = await making
        except AgentRTError as error:
            return PlainTextResponse(str(error), 422, HEADERS)
        finally:
            text.is_wanted = False
            self._is_making = False
        told = {"Content-Disposition": "attachment", "X-Ticks": f"{made.first}-{made.last}"}
        return Response("".join(text.parts), 200, {**HEADERS, **told}, "text/html; charset=utf-8")

    async def _saved(self, request: Request) -> Response:
        """The last ticks of a run, as a recording to be kept."""
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return PlainTextResponse("not from here", 403, HEADERS)  # a page of somebody else's may not even start it
        if not self._doorkeeper.knows(_token(request)):
            return PlainTextResponse("a token is needed", 401, HEADERS)
        wanted = request.query_params.get("ticks", "")
        if wanted and not (wanted.isascii() and wanted.isdecimal() and len(wanted) < _DIGITS and int(wanted)):
            return PlainTextResponse("'ticks' has to be a whole number above 0", 400, HEADERS)
        try:
            name, data = await run_in_threadpool(self._source.save, int(wanted) if wanted else None)
        except AgentRTError as error:
            return PlainTextResponse(str(error), 409, HEADERS)
        shown = {"Content-Type": "application/vnd.sqlite3", "Content-Disposition": f'attachment; filename="{name}"'}
        return Response(data, headers={**HEADERS, **shown})

    async def _edit(self, request: Request) -> Response:
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return PlainTextResponse("not from here", 403, HEADERS)
        if not self._doorkeeper.knows(_token(request)):
            return PlainTextResponse("a token is needed", 401, HEADERS)
        if request.headers.get("content-type", "").partition(";")[0].strip().casefold() != "application/json":
            return PlainTextResponse("a request is JSON", 415, HEADERS)
        left, since = self._edits
        now = asyncio.get_running_loop().time()
        left = min(_EDITS_AT_ONCE, left + (now - since) * _EDITS_PER_SECOND) - 1
        if left < 0 or self._editing >= _MOST_EDITING:
            return PlainTextResponse("too many edits are asked for: try it again soon", 429, HEADERS)
        self._edits = left, now
        self._editing += 1
        try:
            body = b""
            async with asyncio.timeout(_BODY_SECONDS):
                async for part in request.stream():
                    body += part
                    if len(body) > MOST_ASKED:
                        return PlainTextResponse(f"a request has at most {MOST_ASKED} bytes", 413, HEADERS)
            status, message = await run_in_threadpool(self._source.edit, body)
        except (TimeoutError, ClientDisconnect):
            return PlainTextResponse("the request did not come in", 408, HEADERS)
        finally:
            self._editing -= 1
        # What the source says has been answered: a browser would write each other status into its console, as an error.
        told = {**message, "status": status}
        return Response(write(told), 403 if status == _FORBIDDEN else 200, HEADERS, "application/json")

    async def _client(self, websocket: WebSocket) -> None:
        token = _token(websocket)
        websocket.scope["query_string"] = b""  # uvicorn logs it
        if not self._doorkeeper.knows(token):
            await websocket.close()  # before it is accepted: 403
            return
        if self._clients >= self._max_clients:
            await websocket.accept()
            await websocket.close(_FULL, "too many look already")
            return
        self._clients += 1
        try:
            await Client(websocket, self._source).serve()
        finally:
            self._clients -= 1


class _Text:
    """A text that is written piece by piece, as long as somebody waits for it."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.is_wanted = True

    def write(self, text: str, /) -> None:
        if not self.is_wanted:
            raise InspectorError("nobody waits for the file any more", "Ask for it again.")
        self.parts.append(text)


def _make(
    found: AbstractContextManager[tuple[str, str]],
    text: _Text,
    first: int | None,
    last: int | None,
    pins: Sequence[Pin],
) -> OneFile:
    with found as (path, title), Recording.open(path) as recording:
        return write_html(recording, text, first=first, last=last, title=title, pins=pins)


def _tick(text: str | None) -> int | None:
    """A tick of a query; None for whatever is none, which means all of them."""
    return int(text) if text is not None and _TICK.fullmatch(text) else None


def _headers(connection: HTTPConnection) -> dict[str, str]:
    """The headers of a request; one that is there twice is not believed."""
    headers: dict[str, str] = {}
    for name, value in connection.headers.items():
        headers[name] = "" if name in headers else value
    return headers


def _token(connection: HTTPConnection) -> str | None:
    kind, _, token = connection.headers.get("authorization", "").partition(" ")
    if kind.casefold() == "bearer":
        return token.strip()
    return connection.query_params.get("token")


def _file(name: str, kind: str) -> Response:
    try:
        content = (_STATIC / name).read_bytes()
    except OSError:
        return PlainTextResponse("not found", 404, HEADERS)
    return Response(content, headers={**HEADERS, "Content-Type": f"{kind}; charset=utf-8"})


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, text: str) -> None:
    if scope["type"] == "websocket":
        await WebSocket(scope, receive, send).close()
    else:
        await PlainTextResponse(text, status, HEADERS)(scope, receive, send)
