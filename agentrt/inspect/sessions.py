"""A session: one client, between the thread that composes for it and the thread that sends to it.

Two threads share a session, and each field belongs to one of them. The composing thread (the runtime's own, or that of
a recording) reads commands, keeps what the client watches and what it was told last, and composes. The server's thread
reads and writes the socket. They hand things over in two places only:

* ``Session.submit`` puts a command into a queue, which the composing thread empties;
* ``Session.post`` hands a batch of messages to the event loop of the server.

A client that reads slowly must not fill the memory. So there is at most one batch on the way to each: while it is,
nothing is composed for that client, and what it would have been told is counted (``held_back``). What has to be told
in any case (an error, an answer) waits in ``notices``, which is bounded, too.

Source: ours.

In a recording, a client is at a tick, or on its way through it at some speed. A position that is played is computed
from the time that has passed since, not added up, so that it does not matter how often it is asked for.

At a client's socket, on the server's thread, are two tasks: one reads, one writes. The reader gives commands to the
session; a message that is not understood is answered with an error, and a client that sends more than fifty a second
for long is sent away. The writer makes JSON of the messages here, so that the runtime's thread does not spend its time
on that.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from starlette.websockets import WebSocket, WebSocketDisconnect

from agentrt.inspect.protocol import Command, Refusal, Watch, read, write

__all__ = ["Position", "Message", "Session", "Source", "Client"]


class Position:
    """Where a client is in a recording."""

    __slots__ = ("_since", "_tick", "speed")

    def __init__(self) -> None:
        self.speed: float = 1.0  # at which it plays: game seconds for each real second
        self._tick: int = 0
        self._since: float | None = None

    @property
    def is_playing(self) -> bool:
        """Whether it is on its way."""
        return self._since is not None

    def go(self, tick: int) -> None:
        """Go to a tick, and stay there.

        Args:
            tick: which; what lies outside of the recording means its nearest end.
        """
        self._tick = tick
        self._since = None

    def play(self, now: float, tick: int) -> None:
        """Start to play."""
        if self._since is None:
            self._tick = tick
            self._since = now

    def change_speed(self, now: float, tick: int, speed: float) -> None:
        """Go on at another speed.

        Args:
            speed: game seconds for each real second.
        """
        self.speed = speed
        if self._since is not None:
            self._tick = tick
            self._since = now

    def now(self, now: float, first: int, last: int, ticks_per_second: float) -> int:
        """Where it is. At the end it stays.

        Args:
            first: the first tick of the recording.
        """
        tick = self._tick
        if self._since is not None:
            tick += int((now - self._since) * self.speed * ticks_per_second)
            if tick >= last:
                self.go(last)
        return max(first, min(tick, last))


Message = dict[str, Any]
"""What is sent, before it is JSON."""

_UPDATE_SECONDS = 0.1
_MOST_NOTICES = 32
_MOST_COMMANDS = 64


class Session:
    """One client.

    Args:
        hand_over: gives a batch to the server's thread; returns False if nobody is there any more.
    """

    __slots__ = (
        "_hand_over", "_is_held", "_is_on_the_way", "_next", "_notices", "_rarely", "at", "commands", "cursor",
        "held_back", "is_open", "missed", "position", "told", "wants_reset", "watch",
    )  # fmt: skip

    def __init__(self, hand_over: Callable[[list[Message]], bool]) -> None:
        self.commands: deque[Command] = deque()  # what it asked for and was not done yet
        self.watch: Watch = Watch()  # what it looks at
        self.cursor: int = 0  # the number of the first record of the trace that it was not told of
        self.wants_reset: bool = True  # whether it has to be told the whole of its event log
        # what it was told last, by the kind of message: what is the same is not sent again
        self.told: dict[str, Any] = {}
        # how many updates were not composed because it reads slowly, and how many notices were lost
        self.held_back: int = 0
        self.is_open: bool = True  # false when its socket is closed
        self.at: int = 0  # the tick of a recording that it looks at
        self.position: Position = Position()  # where it is going in that recording
        self.missed: int = 0  # how many records of the trace it was not told of
        self._hand_over = hand_over
        self._notices: deque[Message] = deque()
        self._next = 0.0
        self._rarely: dict[str, float] = {}
        self._is_on_the_way = False
        self._is_held = False

    # --- on the composing thread --------------------------------------------------------------------------------------

    def is_due(self, now: float) -> bool:
        """Whether it is time to compose for it: a tenth of a second has passed, and it has what it was sent."""
        if now < self._next:
            return False
        if self._is_on_the_way:
            self.held_back += not self._is_held
            self._is_held = True  # counted once for each batch
            self._next = now + _UPDATE_SECONDS
            return False
        return True

    def hurry(self) -> None:
        """It asked for something: do not wait for the tenth of a second."""
        self._next = 0.0

    def at_most_every(self, seconds: float, kind: str, now: float) -> bool:
        """Whether something that is dear to compose may be composed again; if so, it counts as done."""
        if now < self._rarely.get(kind, 0.0):
            return False
        self._rarely[kind] = now + seconds
        return True

    def look_at(self, watch: Watch) -> None:
        """It looks at something else from now on."""
        if watch.events != self.watch.events:
            self.wants_reset = True
        for kind in ("agents", "agent", "timeline"):
            if getattr(watch, kind) != getattr(self.watch, kind):
                self.told.pop(kind, None)
                self._rarely.pop(kind, None)
        if watch.agent != self.watch.agent:
            self.told.pop("outlines", None)
        self.watch = watch

    def forget(self) -> None:
        """What it was to be told was lost: tell it all again."""
        self.told.clear()
        self.wants_reset = True

    def refuse(self, message: str, code: str) -> None:
        """Tell it that it is not done what it asked for."""
        self.notify({"is": "error", "message": message, "code": code})

    def notify(self, message: Message) -> None:
        """Tell it something with the next batch, whatever it watches."""
        if len(self._notices) >= _MOST_NOTICES:
            self._notices.popleft()
            self.held_back += 1
        self._notices.append(message)

    def post(self, messages: list[Message], now: float) -> None:
        """Send a batch.

        Args:
            messages: composed for it; the notices go before them.
        """
        self._next = now + _UPDATE_SECONDS
        batch = [*self._notices, *messages]
        self._notices.clear()
        if batch:
            self._is_on_the_way, self._is_held = True, False
            if not self._hand_over(batch):
                self.is_open = False

    # --- on the server's thread ---------------------------------------------------------------------------------------

    def submit(self, command: Command) -> bool:
        """Ask for something.

        Returns:
            False if so much was asked for already that this is dropped.
        """
        if len(self.commands) >= _MOST_COMMANDS:
            return False
        self.commands.append(command)
        return True

    def arrived(self) -> None:
        """The batch was sent."""
        self._is_on_the_way = False


class Source(Protocol):
    """What an inspector shows: a runtime that lives, or a recording. These methods are for the server's thread."""

    def greeting(self) -> list[Message]:
        """What every client is told first: a hello, and the state, as far as it is known."""
        ...

    def open(self, session: Session) -> None:
        """A client has come."""

    def close(self, session: Session) -> None:
        """A client has gone."""


_PER_SECOND = 50.0
_AT_ONCE = 200.0

_POLICY = 1008  # closed because of what it does


class Client:
    """One client."""

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
