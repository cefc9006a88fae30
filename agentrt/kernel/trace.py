"""The trace: what happened, as records, for whoever listens.

Rules: a record is made only when somebody listens (callers ask ``hub.on`` first, so a run that nobody watches pays one
attribute look-up a transition); a listener never changes the run, and one that raises is dropped and reported; records
carry only names, numbers and text, never objects, so that equal runs give equal records on every host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple, TypeGuard

from agentrt.errors import ENDS_PROGRAM
from agentrt.words import LONGEST, plain, printable, words_of

Detail = tuple[tuple[str, str | int | float | bool | None], ...]

_PLAIN = frozenset((str, int, float, bool, type(None)))
_made = tuple.__new__
_HUGE = 1 << 4000  # a number with more digits has no text


class TraceEvent(StrEnum):
    """What kinds of records there are."""

    ADDED = "added"  # an agent joined a runtime
    REMOVED = "removed"
    INJECTED = "injected"  # an agent learned something
    REVOKED = "revoked"
    THINK = "think"  # a unit started thinking
    READY = "ready"
    UNREADY = "unready"
    REJECT = "reject"
    STOP_THINKING = "stop_thinking"
    BLOCKED = "blocked"  # a filter forbade the activity
    ELECT = "elect"
    START = "start"
    RUN = "run"
    FINISH = "finish"  # run returned
    STOP = "stop"
    PREEMPT = "preempt"
    ABORT = "abort"
    UTILITY = "utility"
    PROGRESS = "progress"
    STATUS = "status"
    DISABLED = "disabled"  # a hook raised: the unit is out until its branch is thought again
    REFUSED = "refused"  # a control flag was held by somebody else
    STORM = "storm"  # rejects repeat
    TASK = "task"  # something became of a task
    FULL = "full"  # a task has no room for one more worker
    COMPLETE = "complete"  # a whole plan ran to its end
    KILLED = "killed"  # the planner gave up
    EPOCH = "epoch"  # the world was rebuilt of what it saved; see ``agentrt.runtime.epochs``
    RESTARTED = "restarted"  # it begins again, by the restart policy
    IGNORED = "ignored"  # a call of an author that came too early or too late to mean anything
    LATE = "late"  # a call through the context of a thinking or a run that is over
    TIMEOUT = "timeout"  # not ready within the declared time
    RECONSIDER = "reconsider"  # a chooser is asked for another choice
    FAULT = "fault"  # an error, reported and survived
    ACTIVATE = "activate"  # a decider of a behavior tree, or the leaf of a selection tree
    DEACTIVATE = "deactivate"
    VARIABLE = "variable"  # of a selection tree
    STIMULUS = "stimulus"  # an agent perceives something, or does not any more
    TRY = "try"  # a strategy is run for a dependency
    SOLVED = "solved"  # a dependency is met; by nobody if it was met already
    FAILED = "failed"  # a strategy failed
    FORECAST = "forecast"  # what a strategy has solved, beside what was foreseen
    INTERRUPTED = "interrupted"  # something came up while a strategy ran; it is dealt with now
    RESUMED = "resumed"  # it was
    NOTE = "note"  # written by the world or by an author
    THOUGHT = "thought"  # what became of something that a mind was asked
    HAND = "hand"  # somebody who looks has changed something; see ``agentrt.record.hands``


class TraceRecord(NamedTuple):
    """One thing that happened."""

    tick: int
    agent: str  # its name; empty for the runtime itself
    path: str  # where in its plan: activities and actions from the root, joined by ``/``
    event: TraceEvent
    detail: Detail = ()  # pairs of a name and a plain value, in a fixed order

    def line(self) -> str:
        """The record as one line of text, for people: what does not print is escaped, so that it stays one line."""
        detail = " ".join(f"{key}={value!r}" for key, value in self.detail)
        parts = (str(self.tick), self.agent, self.path, self.event.value, detail)
        return printable(" ".join(part for part in parts if part))


Kept = tuple[int, str, str, str, Detail]
"""A record as it is kept by who has many: tick, agent, path, kind of event, detail.

The garbage collector soon leaves such a tuple alone, whereas it would go through tens of thousands of named ones again
and again, and a tick of the game would wait for it (measured with 1,000 agents: a third of what listening costs).
"""

Listener = Callable[[TraceRecord], None]
Keeper = Callable[[Kept], object]
Stamper = tuple[Callable[[], float], Callable[[float], object]]
"""A clock, and who takes what it tells, right after each record."""


def _is_plain(value: Any) -> TypeGuard[str | int | float | bool | None]:
    kind = type(value)
    if kind is str:
        return len(value) <= LONGEST and value.isascii()
    return kind is float or kind is bool or value is None or (kind is int and -_HUGE < value < _HUGE)


def plain_detail(value: Any) -> str | int | float | bool | None:
    """A value as a record can hold it."""
    value = plain(value)
    return value if value.__class__ in _PLAIN else words_of(value)


def _told(value: object) -> str | int | float | bool | None:
    return value if _is_plain(value) else plain_detail(value)


class TraceHub:
    """Where records are handed to listeners.

    The last door before them: whatever an author put into a record is plain and bounded from here on, so that no value
    of one agent's can end a recording, or a digest, for all.
    """

    __slots__ = ("_hearing", "_is_silent", "_keepers", "_keeping", "_listeners", "_only", "_only_keeps", "on", "report")

    def __init__(self, report: Callable[[str, BaseException], None]) -> None:
        self._listeners: dict[object, Listener] = {}  # by a key of each, since one may listen twice
        self._hearing: tuple[tuple[object, Listener], ...] = ()  # the same, as it is gone through for each record
        self._keepers: dict[object, tuple[Keeper, Stamper | None]] = {}
        self._keeping: tuple[tuple[object, tuple[Keeper, Stamper | None]], ...] = ()
        self._only: tuple[object, Any] = (None, None)  # if nobody else listens, and whether he keeps: mostly it is so
        self._only_keeps = False
        self._is_silent = False
        self.on: bool = False  # whether anybody listens; ask it before you compose a record
        # called with what a listener raised, after that listener was dropped
        self.report: Callable[[str, BaseException], None] = report

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Hand every record from now on to a listener, in order, on the runtime's own thread.

        Returns:
            A function that ends it; calling it twice does nothing.
        """
        key = object()
        self._listeners[key] = listener
        self._look_around()
        return partial(self._drop, key)

    def keep(self, keeper: Keeper, stamper: Stamper | None = None) -> Callable[[], None]:
        """As ``listen``, for who keeps what he hears and looks at little of it: he is handed plain tuples.

        Making them out of records would cost as much again as making these. Who wants to know when each was made gives
        a clock, which is read here: so two lists, by their ``append``, take both without a function in Python.
        """
        key = object()
        self._keepers[key] = keeper, stamper
        self._look_around()
        return partial(self._drop, key)

    def _drop(self, key: object) -> None:
        self._listeners.pop(key, None)
        self._keepers.pop(key, None)
        self._look_around()

    def _look_around(self) -> None:
        self._hearing = () if self._is_silent else tuple(self._listeners.items())
        self._keeping = () if self._is_silent else tuple(self._keepers.items())
        everybody = *self._hearing, *self._keeping
        self._only = everybody[0] if len(everybody) == 1 else (None, None)
        self._only_keeps = not self._hearing
        self.on = bool(everybody)

    @contextmanager
    def silence(self) -> Iterator[None]:
        """A block of which nobody hears anything; who comes to listen meanwhile hears what follows."""
        self._is_silent = True
        self._look_around()
        try:
            yield
        finally:
            self._is_silent = False
            self._look_around()

    def emit(self, record: TraceRecord) -> None:
        """Hand a record to the listeners."""
        self.tell(*record)

    def tell(self, tick: int, agent: str, path: str, event: TraceEvent, detail: Detail = ()) -> None:
        """Make a record of it, and hand it to who listens. Each record of a plan passes here, with no call more."""
        pairs: tuple[tuple[str, object], ...] = detail  # whatever an author gave, though it is to be plain
        for _, value in pairs:
            # The first two are nearly all of it: a call for each value would be a good part of what a record costs.
            kind = type(value)
            if kind is float or (kind is str and len(value) <= LONGEST and value.isascii()):  # type: ignore[arg-type, attr-defined]
                continue
            if not _is_plain(value):
                # What is plain stays as it is: a value must not read otherwise because of its neighbor.
                detail = tuple([(name, _told(one)) for name, one in pairs])
                break
        key, only = self._only
        if only is None:
            self._tell_all(tick, agent, path, event, detail)
            return
        try:
            if self._only_keeps:
                keeper, stamper = only
                keeper((tick, agent, path, event._value_, detail))
                if stamper is not None:
                    clock, stamp = stamper
                    stamp(clock())
            else:
                # ``TraceRecord(...)`` is the same, by one more function in Python.
                only(_made(TraceRecord, (tick, agent, path, event, detail)))
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self._failed(key, error)

    def _tell_all(self, tick: int, agent: str, path: str, event: TraceEvent, detail: Detail) -> None:
        hearing, keeping = self._hearing, self._keeping
        record = TraceRecord(tick, agent, path, event, detail)
        for key, listener in hearing:
            try:
                listener(record)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self._failed(key, error)
        for key, (keeper, stamper) in keeping:
            try:
                keeper((tick, agent, path, event._value_, detail))
                if stamper is not None:
                    clock, stamp = stamper
                    stamp(clock())
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self._failed(key, error)

    def _failed(self, key: object, error: BaseException) -> None:
        self._drop(key)  # first: the report may be a record itself
        self.report("a trace listener raised and was dropped", error)


EMPTY_DIGEST = blake2b(digest_size=16).digest()
"""Of no records at all."""


class TraceDigest:
    """A hash over every record of a hub, in order. Two runs with equal digests had equal traces.

    Where the world is rebuilt (a record ``epoch``) it begins anew, with the digest so far: so it needs no records of
    before to go on from there.

    Args:
        hub: which hands out the records.
        before: the digest of what came before, in hexadecimal digits, for a run that begins with an epoch.

    Raises:
        ValueError: ``before`` is no digest.
    """

    def __init__(self, hub: TraceHub, before: str = "") -> None:
        self._before = bytes.fromhex(before) if before else EMPTY_DIGEST  # as long as there is no record
        if len(self._before) != len(EMPTY_DIGEST):
            raise ValueError(f"before is {before[:80]!r}: it takes a digest, or an empty text")
        self._hash = blake2b(digest_size=16)
        self.records: int = 0
        self.close: Callable[[], None] = hub.listen(self._add)

    def _add(self, record: TraceRecord) -> None:
        if record.event is TraceEvent.EPOCH:
            self._hash = blake2b(self._hash.digest() if self.records else self._before, digest_size=16)
        self.records += 1
        # ascii() and not line(): quotes keep the fields apart whatever is in them, and which characters repr() escapes
        # depends on the Python version.
        self._hash.update(ascii((record.tick, record.agent, record.path, record.event.value, record.detail)).encode())

    def hexdigest(self) -> str:
        """The digest so far, as 32 hexadecimal digits."""
        return self._hash.hexdigest() if self.records else self._before.hex()
