"""A session: one client, between the thread that composes for it and the thread that sends to it.

Two threads share a session, and each field belongs to one of them. The composing thread (the runtime's own, or that of
a recording) reads commands, keeps what the client watches and what it was told last, and composes. The server's thread
reads and writes the socket. They hand things over in two places only:

* ``Session.submit`` puts a command into a queue, which the composing thread empties;
* ``Session.post`` hands a batch of messages to the event loop of the server.

A client that reads slowly must not fill the memory. So there is at most one batch on the way to each: while it is,
nothing is composed for that client, and what it would have been told is counted (``held_back``). What has to be told
in any case (an error, an answer) waits in ``notices``, which is bounded, too.

Source: design section 7, "queues outward are bounded and count what they dropped".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from agentrt.inspect.positions import Position
from agentrt.inspect.protocol import Command, Watch

__all__ = ["Message", "Session", "Source"]

Message = dict[str, Any]
"""What is sent, before it is JSON."""

_UPDATE_SECONDS = 0.1
_MOST_NOTICES = 32
_MOST_COMMANDS = 64


class Session:
    """One client.

    Args:
        hand_over: gives a batch to the server's thread; returns False if nobody is there any more.

    Attributes:
        commands: what it asked for and was not done yet.
        watch: what it looks at.
        cursor: the number of the first record of the trace that it was not told of.
        wants_reset: whether it has to be told the whole of its event log.
        missed: how many records of the trace it was not told of.
        told: what it was told last, by the kind of message: what is the same is not sent again.
        held_back: how many updates were not composed because it reads slowly, and how many notices were lost.
        is_open: False when its socket is closed.
        at: the tick of a recording that it looks at.
        position: where it is going in that recording.
    """

    __slots__ = (
        "_hand_over", "_is_held", "_is_on_the_way", "_next", "_notices", "_rarely", "at", "commands", "cursor",
        "held_back", "is_open", "missed", "position", "told", "wants_reset", "watch",
    )  # fmt: skip

    def __init__(self, hand_over: Callable[[list[Message]], bool]) -> None:
        self.commands: deque[Command] = deque()
        self.watch: Watch = Watch()
        self.cursor: int = 0
        self.wants_reset: bool = True
        self.told: dict[str, Any] = {}
        self.held_back: int = 0
        self.is_open: bool = True
        self.at: int = 0
        self.position: Position = Position()
        self.missed: int = 0
        self._hand_over = hand_over
        self._notices: deque[Message] = deque()
        self._next = 0.0
        self._rarely: dict[str, float] = {}
        self._is_on_the_way = False
        self._is_held = False

    # --- on the composing thread --------------------------------------------------------------------------------------

    def is_due(self, now: float) -> bool:
        """Whether it is time to compose for it: a tenth of a second has passed, and it has what it was sent.

        Args:
            now: real seconds, from any start.
        """
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
        """Whether something that is dear to compose may be composed again; if so, it counts as done.

        Args:
            seconds: how often.
            kind: what.
            now: real seconds.
        """
        if now < self._rarely.get(kind, 0.0):
            return False
        self._rarely[kind] = now + seconds
        return True

    def look_at(self, watch: Watch) -> None:
        """It looks at something else from now on.

        Args:
            watch: at what.
        """
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
        """Tell it that it is not done what it asked for.

        Args:
            message: why, in words.
            code: for programs.
        """
        self.notify({"is": "error", "message": message, "code": code})

    def notify(self, message: Message) -> None:
        """Tell it something with the next batch, whatever it watches.

        Args:
            message: what.
        """
        if len(self._notices) >= _MOST_NOTICES:
            self._notices.popleft()
            self.held_back += 1
        self._notices.append(message)

    def post(self, messages: list[Message], now: float) -> None:
        """Send a batch.

        Args:
            messages: composed for it; the notices go before them.
            now: real seconds.
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

        Args:
            command: what.

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
        """A client has come.

        Args:
            session: its session.
        """

    def close(self, session: Session) -> None:
        """A client has gone.

        Args:
            session: its session.
        """
