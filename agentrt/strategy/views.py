"""What an agent solves, as frozen, plain data: requests with their task trees, and what the strategies said.

A view keeps nothing alive, and can be written as JSON and read again, so that a tick of a recording is shown and
explained by the same code as the present one. ``viewing`` makes one of what lives. ``as_json`` leaves out whatever of a
node has its default: most nodes say nothing unusual.

Source: seed 003, "Task Tree"; design section 7, "Snapshot".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from agentrt.body.reading import Fields
from agentrt.strategy.records import Accuracy
from agentrt.strategy.tree import Outcome

__all__ = ["ForesightView", "GameplayView", "OfferView", "ProvidedView", "RequestView", "TaskView"]

_OPEN: Final = (Outcome.PLANNED, Outcome.RUNNING, Outcome.PAUSED)


class OfferView(NamedTuple):
    """What a strategy said when it was asked for a dependency.

    Attributes:
        strategy: who, in words.
        cost: the expected game seconds; None if it cannot.
        reason: why it cannot; empty if it can.
    """

    strategy: str
    cost: float | None
    reason: str = ""


class ProvidedView(NamedTuple):
    """A dependency that can be asked for.

    Attributes:
        activity: its name among activities.
        strategies: the names of those that provide it, in the order of loading.
    """

    activity: str
    strategies: tuple[str, ...]


class ForesightView(NamedTuple):
    """How far what was foreseen came true.

    Attributes:
        hits: how many times the likeliest branch came true.
        others: how many times another branch that was foreseen.
        misses: how many times something that nobody had foreseen.
        prepared: how many decisions were made in advance.
        taken: how many times the world turned out as it was assumed, so that a decision had been made already.
    """

    hits: int = 0
    others: int = 0
    misses: int = 0
    prepared: int = 0
    taken: int = 0


@dataclass(frozen=True, slots=True)
class TaskView:
    """A node of a task tree.

    Attributes:
        kind: ``dependency``, ``strategy``, ``option``, ``interruption`` or ``activity``.
        label: what it is called.
        outcome: planned, running, paused, done, met, failed, skipped or cancelled.
        place: its stable id, as in ``"3.0.2"``: the number of the request, and at each level which child it is, counted
            as they are made.
        began: the tick in which it began; 0 while it is planned.
        ended: the tick in which it ended; 0 before.
        cost: the game seconds that were expected when it was chosen; None if nobody asked.
        probability: how likely it is needed at all; 1 unless look-ahead says otherwise.
        is_conditional: whether it is needed in some branches only.
        reason: why it failed or was skipped.
        offers: for a dependency, what the strategies said at the last decision, the cheapest first.
        children: the nodes below it, in order.
        left_out: how many nodes right below it are not shown.
    """

    kind: str
    label: str
    outcome: str
    place: str
    began: int = 0
    ended: int = 0
    cost: float | None = None
    probability: float = 1.0
    is_conditional: bool = False
    reason: str = ""
    offers: tuple[OfferView, ...] = ()
    children: tuple[TaskView, ...] = ()
    left_out: int = 0

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.outcome in _OPEN

    @property
    def is_under_way(self) -> bool:
        """Whether it has begun and not ended."""
        return self.outcome in (Outcome.RUNNING, Outcome.PAUSED)

    def walk(self) -> Iterator[TaskView]:
        """This node and all below it, from top to bottom."""
        yield self
        for child in self.children:
            yield from child.walk()

    def under_way(self) -> Iterator[TaskView]:
        """The nodes that are under way, from this one down to the innermost; of several branches the last."""
        node: TaskView | None = self if self.is_under_way else None
        while node is not None:
            yield node
            node = next((child for child in reversed(node.children) if child.is_under_way), None)

    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values, without what has its default."""
        data: dict[str, Any] = {
            "kind": self.kind,
            "label": self.label,
            "outcome": self.outcome,
            "place": self.place,
        }
        for name in ("began", "ended", "is_conditional", "reason", "left_out"):
            value = getattr(self, name)
            if value:
                data[name] = value
        if self.cost is not None:
            data["cost"] = self.cost
        if self.probability != 1.0:
            data["probability"] = self.probability
        if self.offers:
            data["offers"] = [one._asdict() for one in self.offers]
        if self.children:
            data["children"] = [child.as_json() for child in self.children]
        return data

    @classmethod
    def read(cls, fields: Fields) -> TaskView:
        """Read what ``as_json`` wrote.

        Args:
            fields: its object.

        Raises:
            DataFault: it is no such view.
        """
        return cls(
            kind=fields.text("kind"),
            label=fields.text("label"),
            outcome=fields.text("outcome"),
            place=fields.text("place"),
            began=fields.whole("began", 0),
            ended=fields.whole("ended", 0),
            cost=_seconds(fields),
            probability=fields.number("probability", 1.0),
            is_conditional=fields.flag("is_conditional", False),
            reason=fields.text("reason", ""),
            offers=fields.each("offers", _offer),
            children=fields.each("children", cls.read),
            left_out=fields.whole("left_out", 0),
        )


@dataclass(frozen=True, slots=True)
class RequestView:
    """A request that is being solved.

    Attributes:
        wanted: what was asked for, in words.
        attempts: how many attempts there were.
        stack: the strategies that run, in words, the outermost first.
        tree: its task tree.
        handled: what came up and is being dealt with; each was interrupted by the next.
        pending: what came up and waits until it can be dealt with, in that order.
        is_paused: whether it was told to pause.
        forecast: the path that is expected from where the innermost strategy stands, a line for each need.
        asked_by: the strategy that asked for it beside what it is run for; empty if none did.
        awaits: for whom it waits, so that it cannot go on by itself, in words; empty if it does not.
    """

    wanted: str
    attempts: int
    stack: tuple[str, ...]
    tree: TaskView
    handled: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    is_paused: bool = False
    forecast: tuple[str, ...] = ()
    asked_by: str = ""
    awaits: str = ""

    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values; without whom it waits for, if it does not wait."""
        data: dict[str, Any] = {
            "wanted": self.wanted,
            "attempts": self.attempts,
            "stack": list(self.stack),
            "tree": self.tree.as_json(),
            "handled": list(self.handled),
            "pending": list(self.pending),
            "is_paused": self.is_paused,
            "forecast": list(self.forecast),
            "asked_by": self.asked_by,
        }
        if self.awaits:
            data["awaits"] = self.awaits
        return data

    @classmethod
    def read(cls, fields: Fields) -> RequestView:
        """Read what ``as_json`` wrote.

        Args:
            fields: its object.

        Raises:
            DataFault: it is no such view.
        """
        return cls(
            fields.text("wanted"),
            fields.whole("attempts"),
            fields.texts("stack"),
            TaskView.read(fields.inner("tree")),
            fields.texts("handled"),
            fields.texts("pending"),
            fields.flag("is_paused", False),
            fields.texts("forecast"),
            fields.text("asked_by", ""),
            fields.text("awaits", ""),
        )


@dataclass(frozen=True, slots=True)
class GameplayView:
    """The strategies of an agent, and what it solves by them.

    Attributes:
        lookahead: how many levels of needs are looked ahead.
        takes_options: whether optional dependencies are considered.
        order: in which order dependencies are solved that do not depend on each other.
        params: the global parameters, in words.
        provided: what can be asked for, and who provides it.
        strategies: how many strategies are loaded.
        triggers: what it looks out for, and whether that came up and was not dealt with yet.
        foresight: how far what was foreseen came true.
        accuracy: what strategies said that they cost, beside what they took.
        requests: what is being solved, in the order in which it began.
        finished: the trees of the last requests that are over, the oldest first.
    """

    lookahead: int
    takes_options: bool
    order: str
    params: tuple[tuple[str, str], ...]
    provided: tuple[ProvidedView, ...]
    strategies: int
    triggers: tuple[tuple[str, bool], ...]
    foresight: ForesightView
    accuracy: tuple[Accuracy, ...]
    requests: tuple[RequestView, ...]
    finished: tuple[TaskView, ...]

    def doing(self) -> str:
        """What runs innermost in each request, in a few words; empty if nothing is being solved."""
        return " + ".join(request.stack[-1] for request in self.requests if request.stack)

    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values."""
        return {
            "lookahead": self.lookahead,
            "takes_options": self.takes_options,
            "order": self.order,
            "params": [list(pair) for pair in self.params],
            "provided": [{"activity": one.activity, "strategies": list(one.strategies)} for one in self.provided],
            "strategies": self.strategies,
            "triggers": [list(pair) for pair in self.triggers],
            "foresight": self.foresight._asdict(),
            "accuracy": [asdict(one) for one in self.accuracy],
            "requests": [request.as_json() for request in self.requests],
            "finished": [tree.as_json() for tree in self.finished],
        }

    @classmethod
    def read(cls, fields: Fields) -> GameplayView:
        """Read what ``as_json`` wrote.

        Args:
            fields: its object.

        Raises:
            DataFault: it is no such view.
        """
        return cls(
            lookahead=fields.whole("lookahead"),
            takes_options=fields.flag("takes_options"),
            order=fields.text("order"),
            params=fields.pairs("params", str),
            provided=fields.each("provided", _provided),
            strategies=fields.whole("strategies"),
            triggers=fields.pairs("triggers", bool),
            foresight=_foresight(fields.inner("foresight")),
            accuracy=fields.each("accuracy", _accuracy),
            requests=fields.each("requests", RequestView.read),
            finished=fields.each("finished", TaskView.read),
        )


def _seconds(fields: Fields) -> float | None:
    return None if fields.is_null("cost") else fields.number("cost")


def _offer(fields: Fields) -> OfferView:
    return OfferView(fields.text("strategy"), _seconds(fields), fields.text("reason", ""))


def _provided(fields: Fields) -> ProvidedView:
    return ProvidedView(fields.text("activity"), fields.texts("strategies"))


def _foresight(fields: Fields) -> ForesightView:
    return ForesightView(*(fields.whole(name) for name in ForesightView._fields))


def _accuracy(fields: Fields) -> Accuracy:
    return Accuracy(
        strategy=fields.text("strategy"),
        count=fields.whole("count"),
        expected=fields.number("expected"),
        actual=fields.number("actual"),
        ratio=fields.number("ratio"),
    )
