"""uvicorn, as the inspector needs it: in a thread, on a socket that is bound already, within bounds.

This module is imported when an inspector starts, and needs the extra ``inspect``.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from uvicorn import Config
from uvicorn import Server as Uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from agentrt.inspect.protocol import LONGEST_MESSAGE

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["Listener"]

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
        self._answered: Any = None  # the last request when it was looked at

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody connects.

        Args:
            transport: the connection.
        """
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
        cycle: Any = getattr(self, "cycle", None)
        if cycle is self._answered and (cycle is None or cycle.response_complete):
            self.transport.abort()
        else:
            self._wait_for_a_request()


class _Socket(WebSocketsSansIOProtocol):
    """A WebSocket that writes no request, and no token, into anybody's log."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.conn.debug = False


class Listener(Uvicorn):
    """The HTTP server.

    Args:
        app: answers the requests.
    """

    def __init__(self, app: ASGIApp) -> None:
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
        super().__init__(Config(app, **options))
        self._leave = asyncio.Event()

    async def main_loop(self) -> None:
        """Serve until ``leave`` is called."""
        await self.on_tick(0)
        await self._leave.wait()

    def leave(self) -> None:
        """Stop serving; called on the thread of the server."""
        self._leave.set()
