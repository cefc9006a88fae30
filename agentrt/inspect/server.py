"""The server: a thread of its own with an event loop of its own, so that it answers whatever the runtime is doing.

It serves the page (``/`` and ``/static/``), a greeting (``/api/hello``) and the socket (``/ws``). It touches neither
the runtime nor the recording: a source does, on another thread (see ``sessions``).

* The socket to listen on is bound by the caller's thread, so that a port that is in use is the caller's error.
* Bounds: so many clients, connections, bytes in a message, messages in a second. A connection over which nothing was
  asked for within ten seconds is closed, so that nobody can use up the program's file descriptors. Messages are not
  compressed, so that a small one cannot become a large one.
* Static files are looked up by a pattern that has no dots before the last one, below one folder of this package.
* uvicorn writes the path of a WebSocket into its log; the token is taken out of it before.

Rejected: running on the runtime's own event loop. A plain runtime has none, and one that hangs could not be looked at.

This module is imported when an inspector starts, and needs the extra ``inspect``.
"""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from agentrt.errors import InspectorError
from agentrt.inspect.clients import Client
from agentrt.inspect.listening import Listener
from agentrt.inspect.security import HEADERS, Doorkeeper
from agentrt.inspect.sessions import Source

__all__ = ["Server", "bind"]

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

_LAST_PORT = 65535
_START_SECONDS = 10.0
_STOP_SECONDS = 5.0
_FULL = 1013  # closed because there are too many


def bind(address: str, port: int) -> socket.socket:
    """Make the socket to listen on.

    Args:
        address: a number, or a name.
        port: 0 for any that is free.

    Raises:
        InspectorError: it cannot be had.
    """
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
    """The server of one inspector.

    Args:
        source: what it shows.
        doorkeeper: decides who may look.
        listener: the socket to listen on; it is closed with the server.
        max_clients: how many may look at the same time.
    """

    def __init__(self, source: Source, doorkeeper: Doorkeeper, listener: socket.socket, max_clients: int) -> None:
        self._source = source
        self._doorkeeper = doorkeeper
        self._socket = listener
        self._max_clients = max_clients
        self._clients = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._uvicorn: Listener | None = None
        self._error: BaseException | None = None
        self._is_up = threading.Event()
        self._thread = threading.Thread(target=self._run, name="agentrt inspector", daemon=True)

    # --- the thread ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start to serve.

        Raises:
            InspectorError: its thread could not begin.
        """
        try:
            self._thread.start()
            self._is_up.wait(_START_SECONDS)
        except RuntimeError as error:  # there can be no more threads
            self._error = error
        if self._error is not None:
            self._socket.close()
            raise InspectorError(f"its server did not start: {self._error}", "See the cause.") from self._error

    def leave(self) -> None:
        """Begin to send all clients away."""
        loop, uvicorn = self._loop, self._uvicorn
        if loop is not None and uvicorn is not None:
            try:
                loop.call_soon_threadsafe(uvicorn.leave)
            except RuntimeError:  # its loop has been closed: it has ended
                pass

    def join(self) -> None:
        """Wait until the thread has ended."""
        self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # told to who waits for it
            self._error = error
        finally:
            self._is_up.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._uvicorn = Listener(self._app())
        self._is_up.set()
        await self._uvicorn.serve(sockets=[self._socket])

    # --- what it answers ----------------------------------------------------------------------------------------------

    def _app(self) -> ASGIApp:
        app = Starlette(
            routes=[
                Route("/", self._page),
                Route("/static/{file:path}", self._static),
                Route("/api/hello", self._hello),
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
