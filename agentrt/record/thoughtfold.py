"""Thoughts of a recorded run: what a mind was asked and what became of it, folded from trace records.

A runtime that lives tells how it stands with its mind; of a run that was recorded its trace tells nearly as much, and
the fold makes a ``MindView`` of that, for any tick.

* Folded from the first record on, in order. A thought whose beginning is not there is known from its next record on.
* Not in a trace, and so not in the view: budgets and what is left of them, places in the queue, how many calls may be
  under way, when a mind rests. Their fields have what stands for "nobody knows": 0, or None.
* What was asked is in no trace. Of what was answered it has the number of the call outside, under which the result
  stands among the inputs of the recording; a scripted model's answer is in no recording.
* Prices are no part of a run: the header of the recording has those of its models.
* Bounded whatever a file holds: of thoughts that are over the newest are kept, as by a mind; of those that go on, and
  of agents, so many.

It reads records and nothing else, and can be copied: who looks at one tick after the other keeps some on the way.

Source: ours, minds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Self

from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.snapshot.views import MindView, ThoughtView

EVENTS: Final = frozenset({TraceEvent.THOUGHT, TraceEvent.EPOCH})

_MOST_KEPT: Final = 64  # of those that are over, as a mind keeps
_MOST_OPEN: Final = 5_000  # that go on
_MOST_AGENTS: Final = 5_000
_MOST_MODELS: Final = 100
_MOST_REPLIES: Final = 8  # of one thought, the newest: a mind asks seldom more than three times
_MOST_NUMBER: Final = 1 << 53
_OVER: Final = frozenset({"answered", "failed", "outpaced"})


class CameIn(NamedTuple):
    """The result of a call of a thought."""

    tick: int
    call: int  # its number among the calls of the run
    untaken: str  # why it was not taken; empty if it was


@dataclass(slots=True)
class FoldedThought:
    """One thought, as far as records have told of it."""

    number: int
    agent: str
    path: str
    asked: int
    model: str = ""
    purpose: str = ""
    state: str = "queued"
    reason: str = ""
    began: int = 0
    ended: int = 0
    tokens: int = 0
    read: int = 0
    written: int = 0
    is_from_cache: bool = False
    is_outpaced: bool = False  # whether its call goes on for the cache
    replies: tuple[CameIn, ...] = ()

    def view(self) -> ThoughtView:
        return ThoughtView(
            self.number, self.agent, self.path, self.purpose, self.model, self.state, self.asked, self.began,
            self.ended, 0, self._words(), self.tokens, self.is_from_cache,
        )  # fmt: skip

    def _words(self) -> str:
        if self.state == "called":
            return f"{self.model} was asked" + (f", asked again since {self.reason}" if self.reason else "")
        return self.reason or self.state


@dataclass(slots=True)
class _Used:
    """What one agent has used."""

    calls: int = 0
    tokens: int = 0
    money: float = 0.0


class ThoughtFold:
    """Folds the thoughts of a run; ``tick`` is up to which one it was fed.

    Args:
        prices: of models, by name: what a million tokens cost that are read, and that are written.
        first: the first tick of which there are records.
    """

    def __init__(self, prices: Mapping[str, tuple[float, float]], first: int) -> None:
        self.first: int = first
        self.tick: int = first - 1
        self._prices = prices
        self._open: dict[int, FoldedThought] = {}  # by number
        self._over: deque[FoldedThought] = deque(maxlen=_MOST_KEPT)
        self._used: dict[str, _Used] = {}
        self._models: dict[str, None] = {}
        self._calls = self._hits = self._answers = self._tokens = self._read = self._written = 0
        self._money = 0.0

    def copy(self) -> Self:
        """The same, to be fed on its own."""
        made = type(self)(self._prices, self.first)
        vars(made).update(vars(self))
        made._open = {number: replace(one) for number, one in self._open.items()}
        made._over = self._over.copy()  # nothing more becomes of these
        made._used = {name: replace(one) for name, one in self._used.items()}
        made._models = dict(self._models)
        return made

    def feed(self, record: TraceRecord) -> bool:
        """Take a record of ``EVENTS`` in; whether anything differs since."""
        if record.event == TraceEvent.EPOCH:  # the world was rebuilt, and what was asked before is asked by nobody
            was_open = bool(self._open)
            self._open.clear()
            return was_open
        told = dict(record.detail)
        number, became = _whole(told.get("thought")), told.get("became")
        if not number:
            return False
        thought = self._open.get(number)
        if thought is None or became == "asked":
            if became in _OVER and any(one.number == number for one in self._over):
                return False
            thought = self._begun(record, number)
        self._learn(thought, record.tick, str(became), told)
        return True

    def _begun(self, record: TraceRecord, number: int) -> FoldedThought:
        made = self._open[number] = FoldedThought(number, record.agent, record.path, record.tick)
        if len(self._open) > _MOST_OPEN:
            del self._open[next(iter(self._open))]
        return made

    def _learn(self, thought: FoldedThought, tick: int, became: str, told: dict[str, Any]) -> None:
        if became == "asked":
            thought.model, thought.purpose = str(told.get("model", "")), str(told.get("purpose", ""))
            if len(self._models) < _MOST_MODELS:
                self._models[thought.model] = None
        elif became == "called":
            thought.state, thought.began = "called", tick
            self._calls += 1
            self._of(thought).calls += 1
        elif became == "again":
            thought.state = "queued"
            self._settle(thought, told)
        elif became in _OVER:
            self._end(thought, tick, became, told)
        if became not in ("asked", "called"):
            thought.reason = str(told.get("reason", ""))
        call = told.get("call")
        if type(call) is int and 0 <= call < _MOST_NUMBER:
            thought.replies = (*thought.replies, CameIn(tick, call, thought.reason))[-_MOST_REPLIES:]

    def _end(self, thought: FoldedThought, tick: int, became: str, told: dict[str, Any]) -> None:
        if told.get("goes_on"):
            thought.is_outpaced = True
            return
        thought.state = "outpaced" if thought.is_outpaced and became == "answered" else became
        thought.ended = tick
        thought.is_from_cache = told.get("cached") is True
        del self._open[thought.number]
        self._over.append(thought)
        self._answers += became == "answered"
        self._hits += thought.is_from_cache
        self._settle(thought, told)

    def _settle(self, thought: FoldedThought, told: dict[str, Any]) -> None:
        """Count what its calls have used since it was told last; a record has all of it."""
        tokens, read, written = (
            max(0, _whole(told.get(name)) - getattr(thought, name)) for name in ("tokens", "read", "written")
        )
        thought.tokens, thought.read, thought.written = (
            thought.tokens + tokens,
            thought.read + read,
            thought.written + written,
        )
        cost_read, cost_written = self._prices.get(thought.model, (0.0, 0.0))
        money = (read * cost_read + written * cost_written) / 1e6
        used = self._of(thought)
        used.tokens += tokens
        used.money += money
        self._tokens, self._money = self._tokens + tokens, self._money + money
        self._read, self._written = self._read + read, self._written + written

    def _of(self, thought: FoldedThought) -> _Used:
        if thought.agent not in self._used and len(self._used) >= _MOST_AGENTS:
            return _Used()
        return self._used.setdefault(thought.agent, _Used())

    def find(self, number: int) -> FoldedThought | None:
        """A thought that goes on, or is over not long ago."""
        over = (one for one in self._over if one.number == number)
        return self._open.get(number) or next(over, None)

    def view(self) -> MindView:
        """How it stands."""
        running = [one for one in self._open.values() if one.state == "called"]
        waiting = [one for one in self._open.values() if one.state != "called"]
        thoughts = [*running, *waiting, *reversed(self._over)]
        return MindView(
            models=tuple(one for one in self._models if one), at_once=0, running=len(running), waiting=len(waiting),
            calls=self._calls, hits=self._hits, answers=self._answers, tokens=self._tokens, read=self._read,
            written=self._written, tokens_left=None, calls_left=None, money=round(self._money, 6), rests_until=0,
            overruns=0,
            by_agent={
                name: {"calls": one.calls, "tokens": one.tokens, "money": round(one.money, 6)}
                for name, one in self._used.items()
            },
            thoughts=tuple(one.view() for one in thoughts),
        )  # fmt: skip


def prices_of(meta: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """What models cost, by the header of a recording; older ones do not say, and a file may hold anything."""
    given = meta.get("prices")
    found: dict[str, tuple[float, float]] = {}
    for name, price in list(given.items())[:_MOST_MODELS] if isinstance(given, dict) else ():
        if isinstance(price, list) and len(price) == 2 and all(_is_price(one) for one in price):
            found[name] = (float(price[0]), float(price[1]))
    return found


def _is_price(value: object) -> bool:
    return type(value) in (int, float) and 0 <= float(value) < 1e9  # type: ignore[arg-type]  # of these two types


def _whole(value: object) -> int:
    return value if type(value) is int and 0 < value < _MOST_NUMBER else 0
