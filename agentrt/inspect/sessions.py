"""A session: one client, between the thread that composes for it and the thread that sends to it.

Two threads share a session, and each field belongs to one of them. The composing thread (the runtime's own, or that of
a recording) reads commands, keeps what the client watches and what it was told last, and composes. The server's thread
reads and writes the socket. They hand things over in two places only:

* ``Session.submit`` puts a command into a queue, which the composing thread empties;
* ``Session.post`` hands a batch of messages to the event loop of the server.

A client that reads slowly must not fill the memory. So there is at most one batch on the way to each: while it is,
nothing is composed for that client, and what it would have been told is counted (``held_back``). What has to be told
in any case (an error, an answer) waits in ``notices``, which is bounded, too.

In a recording, a client is at a tick, or on its way through it at some speed. A position that is played is computed
from the time that has passed since, not added up, so that it does not matter how often it is asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from agentrt.agent.logs import get_logger
from agentrt.errors import InspectorError
from agentrt.inspect.protocol import Command, WatchQuery


@dataclass(eq=False, slots=True)
class Position:
    """Where a client is in a recording."""

    speed: float = 1.0  # at which it plays: game seconds for each real second
    _tick: int = 0
    _since: float | None = None

    @property
    def is_playing(self) -> bool:
        return self._since is not None

    @property
    def tick(self) -> int:
        """Where it was sent last, or began to play."""
        return self._tick

    def go(self, tick: int) -> None:
        """Go to a tick, and stay there; what lies outside of the recording means its nearest end."""
        self._tick = tick
        self._since = None

    def play(self, now: float, tick: int) -> None:
        if not self.is_playing:
            self._tick, self._since = tick, now

    def change_speed(self, now: float, tick: int, speed: float) -> None:
        self.speed = speed
        if self.is_playing:
            self._tick, self._since = tick, now

    def now(self, now: float, first: int, last: int, ticks_per_second: float) -> int:
        """Where it is. At the end it stays."""
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


@dataclass(eq=False, slots=True)
class Session:
    """One client; ``hand_over`` gives a batch to the server's thread, and returns False if nobody is there any more."""

    _hand_over: Callable[[list[Message]], bool]
    commands: deque[Command] = field(default_factory=deque)  # what it asked for and was not done yet
    watch: WatchQuery = field(default_factory=WatchQuery)  # what it looks at
    cursor: int = 0  # the number of the first record of the trace that it was not told of
    wants_reset: bool = True  # whether it has to be told the whole of its event log
    # what it was told last, by the kind of message: what is the same is not sent again
    told: dict[str, object] = field(default_factory=dict)
    held_back: int = 0  # how many updates were not composed because it reads slowly, and how many notices were lost
    is_open: bool = True  # false when its socket is closed
    at: int = 0  # the tick of a recording that it looks at
    position: Position = field(default_factory=Position)  # where it is going in that recording
    missed: int = 0  # how many records of the trace it was not told of
    _notices: deque[Message] = field(default_factory=deque)
    _next: float = 0.0
    _rarely: dict[str, float] = field(default_factory=dict)
    _is_on_the_way: bool = False
    _is_held: bool = False

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

    def is_news(self, kind: str, told: object) -> bool:
        """Whether it was told something else of this kind last; from now on it was told this."""
        if self.told.get(kind) == told:
            return False
        self.told[kind] = told
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

    def look_at(self, watch: WatchQuery) -> None:
        if watch.events != self.watch.events:
            self.wants_reset = True
        for kind in ("agents", "agent", "timeline"):
            if getattr(watch, kind) != getattr(self.watch, kind):
                self.told.pop(kind, None)
                self._rarely.pop(kind, None)
        if watch.agent != self.watch.agent:
            self.told.pop("outlines", None)
            self._rarely.pop("mind", None)  # its thoughts are among those that are told
        if (watch.branches, watch.branch) != (self.watch.branches, self.watch.branch):
            for kind in ("branches", "branch", "sides", "inputs"):
                self.told.pop(kind, None)
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
        """Send what was composed for it, behind the notices."""
        self._next = now + _UPDATE_SECONDS
        batch: list[Message] = []
        while self._notices:  # another thread may add to them; see ``past``
            batch.append(self._notices.popleft())
        batch += messages
        if batch:
            self._is_on_the_way, self._is_held = True, False
            if not self._hand_over(batch):
                self.is_open = False

    # --- on the server's thread ---------------------------------------------------------------------------------------

    def submit(self, command: Command) -> bool:
        """Ask for something; False if so much was asked for already that this is dropped."""
        if len(self.commands) >= _MOST_COMMANDS:
            return False
        self.commands.append(command)
        return True

    def arrived(self) -> None:
        self._is_on_the_way = False


class Inspectable(Protocol):
    """What brings its own source, and is no runtime and no recording."""

    def source(self, title: str, *, controls: bool) -> Source:
        """What an inspector of it shows."""
        ...


class Source:
    """What an inspector shows: a runtime that lives, or a recording; its clock gives real seconds, from any start.

    Its public methods here are for the server's thread, all else for the thread that composes.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._open: dict[Session, None] = {}  # changed by the server's thread, one step at a time
        self._has_failed = False

    def attach(self) -> None:
        """Begin to look; on the thread of what is looked at, between two ticks."""
        raise NotImplementedError

    def detach(self) -> None:
        """Leave it as if nobody had looked."""
        raise NotImplementedError

    def pause(self) -> None:
        """Pause what lives before its next tick; a recording stands anyway."""

    def greeting(self) -> list[Message]:
        """What every client is told first: a hello, and the state, as far as it is known."""
        raise NotImplementedError

    def recorded(self) -> AbstractContextManager[tuple[str, str]] | None:
        """The path and the title of the recording that can be made a file of, while it is there; None if there is none.

        Whoever enters it may have to wait until it is written: it is not for the event loop.
        """
        return None

    def open(self, session: Session) -> None:
        self._open[session] = None

    def close(self, session: Session) -> None:
        self._open.pop(session, None)

    def save(self, ticks: int | None) -> tuple[str, bytes]:
        """A recording of the last so many ticks, None for all that are kept: the name of a file, and what it holds.

        Raises:
            AgentRTError: there is none, in words.
        """
        raise InspectorError("a recording has no past to be saved", "Copy its file.")

    def edit(self, body: bytes) -> tuple[int, Message]:
        """Do what a client asks for of a file: the status of HTTP, and what it is told."""
        words = "a recording has no files to be edited: edit those of the world, and run it"
        return 409, {"is": "refusal", "code": "not_live", "message": words}

    def _failed(self, text: str, error: BaseException, **bound: int) -> None:
        """Something failed in here: it is logged, the first time."""
        if not self._has_failed:
            self._has_failed = True
            get_logger(**bound).error(text, exc_info=error)
