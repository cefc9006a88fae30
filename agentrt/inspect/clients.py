"""One client at its socket: reads what it asks for, sends what was composed for it. All on the server's thread.

Two tasks: one reads, one writes. The reader gives commands to the session; a message that is not understood is answered
with an error, and a client that sends more than fifty a second for long is sent away. The writer makes JSON of the
messages here, so that the runtime's thread does not spend its time on that.
"""

from __future__ import annotations

import asyncio
from collections import deque

from starlette.websockets import WebSocket, WebSocketDisconnect

from agentrt.inspect.protocol import Refusal, read, write
from agentrt.inspect.sessions import Message, Session, Source

__all__ = ["Client"]

_PER_SECOND = 50.0
_AT_ONCE = 200.0

_POLICY = 1008  # closed because of what it does


class Client:
    """One client.

    Args:
        websocket: its socket, not accepted yet.
        source: what it looks at.
    """

    def __init__(self, websocket: WebSocket, source: Source) -> None:
        self._websocket = websocket
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._outgoing: deque[Message | None] = deque()  # None: the end of a batch
        self._wake = asyncio.Event()
        self._session = Session(self._hand_over)
        self._allowance = _AT_ONCE
        self._counted = self._loop.time()

    async def serve(self) -> None:
        """Talk to it until it goes."""
        await self._websocket.accept()
        self._outgoing.extend(self._source.greeting())
        self._source.open(self._session)
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
            command = Refusal("a message is text", "bad_message") if text is None else read(text)
            if isinstance(command, Refusal):
                self._tell(command)
            elif not self._session.submit(command):
                self._tell(Refusal("too much was asked for already; nobody runs the ticks", "busy"))

    def _may_speak(self) -> bool:
        """Whether it keeps to its number of messages a second."""
        now = self._loop.time()
        self._allowance = min(_AT_ONCE, self._allowance + (now - self._counted) * _PER_SECOND) - 1
        self._counted = now
        return self._allowance >= 0

    def _tell(self, refusal: Refusal) -> None:
        if len(self._outgoing) < _AT_ONCE:  # who does not read is not told again and again
            self._outgoing.append({"is": "error", "message": refusal.message, "code": refusal.code})
            self._wake.set()

    # --- writing ------------------------------------------------------------------------------------------------------

    def _hand_over(self, batch: list[Message]) -> bool:
        """Take a batch, on the composing thread."""
        try:
            self._loop.call_soon_threadsafe(self._deliver, batch)
        except RuntimeError:  # the loop has been closed meanwhile
            return False
        return True

    def _deliver(self, batch: list[Message]) -> None:
        self._outgoing.extend(batch)
        self._outgoing.append(None)
        self._wake.set()

    async def _write(self) -> None:
        try:
            while True:
                while self._outgoing:
                    message = self._outgoing.popleft()
                    if message is None:
                        self._session.arrived()
                    else:
                        await self._websocket.send_text(write(message))
                await self._wake.wait()
                self._wake.clear()
        except (WebSocketDisconnect, RuntimeError):  # it has gone; who reads hears of it, too
            pass
