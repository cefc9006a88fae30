"""What an agent solves, as frozen, plain data: requests with their task trees, and what the strategies said.

A view keeps nothing alive, and can be written as JSON and read again, so that a tick of a recording is shown and
explained by the same code as the present one. ``view_of`` makes one of what lives. Rules:

* Looking changes nothing, and nothing of an author's is called for it but the ``str()`` of global parameters.
* ``as_json`` leaves out whatever of a node has its default: most nodes say nothing unusual.
* A view is bounded, whatever runs: so many nodes of each tree, and so many levels. Of a request that is being solved
  all that is open is shown, since it says what is going on; and of what has ended beside it, the newest and innermost
  first, each with a few levels below it. Of a request that is over what is near the root is shown. What is not shown is
  counted by the node above it (``left_out``).
* The view of what has ended is made once and kept with its node: a request may have hundreds of them, and each looks
  the same in every tick from then on. So looking costs as much as there is under way.

Source: prismarine-gameplay: "Task Tree".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

from agentrt.activity.plan.waits import wait_in_words
from agentrt.body.codec import View, told, view
from agentrt.strategy.state import Accuracy
from agentrt.strategy.tree import Outcome, TaskNode
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.strategy.gameplay import Gameplay
    from agentrt.strategy.solve import Solving

__all__ = ["ForesightView", "GameplayView", "OfferView", "ProvidedView", "RequestView", "TaskView", "view_of"]

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
    """A dependency that can be asked for."""

    activity: str  # its name among activities
    strategies: tuple[str, ...]  # the names of those that provide it, in the order of loading


class ForesightView(NamedTuple):
    """How far what was foreseen came true."""

    hits: int = 0  # how many times the likeliest branch came true
    others: int = 0  # how many times another branch that was foreseen
    misses: int = 0  # how many times something that nobody had foreseen
    prepared: int = 0  # how many decisions were made in advance
    taken: int = 0  # how many times the world turned out as it was assumed, so that a decision had been made already


@view(sparse=True)
class TaskView(View):
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


@view
class RequestView(View):
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
    awaits: str = told(default="", sparse=True)


@view
class GameplayView(View):
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


_MOST_NODES: Final = 120  # of a request that is being solved
_MOST_BELOW: Final = 24  # of what has ended in it
_LEVELS_BELOW: Final = 3
_MOST_OVER: Final = 40  # of a request that is over
_TREES_OVER: Final = 3
_MOST_LEVELS: Final = 80
_MOST_OFFERS: Final = 24
_MOST_LINES: Final = 24  # of a forecast
_MOST_PROVIDED: Final = 64  # dependencies, and names for each
_LONGEST: Final = 300  # characters of a text that an author made


def view_of(gameplay: Gameplay) -> GameplayView:
    """What an agent solves now."""
    catalog, busy = gameplay.catalog, gameplay.triggers.busy
    return GameplayView(
        lookahead=gameplay.lookahead,
        takes_options=bool(gameplay.takes_options),
        order=str(gameplay.order),
        params=tuple((name, words_of(value, _LONGEST)) for name, value in gameplay.params.items()),
        provided=tuple(
            ProvidedView(wanted.activity, tuple(one.spec.name for one in catalog.of(wanted)[:_MOST_PROVIDED]))
            for wanted in catalog.dependencies[:_MOST_PROVIDED]
        ),
        strategies=len(catalog.providers),
        triggers=tuple((name, name in busy) for name in gameplay.triggers.names[:_MOST_PROVIDED]),
        foresight=ForesightView(*(getattr(gameplay.foreseen, name) for name in ForesightView._fields)),
        accuracy=gameplay.accuracy()[:_MOST_PROVIDED],
        requests=tuple(_request(solving) for solving in gameplay.running),
        finished=tuple(_over(root) for root in gameplay.finished[-_TREES_OVER:]),
    )


def _request(solving: Solving) -> RequestView:
    interruptions = solving.interruptions
    return RequestView(
        wanted=solving.root.label[:_LONGEST],
        attempts=solving.attempts,
        stack=tuple(attempt.provider.spec.label for attempt in solving.stack),
        tree=_live(solving.root, str(solving.root.number), 1, _Room(_MOST_NODES)),
        handled=tuple(one.name for one in interruptions.handled),
        pending=tuple(one.interruption.name for one in interruptions.pending),
        is_paused=interruptions.is_paused,
        forecast=_forecast(solving),
        asked_by="" if solving.asker is None else solving.asker.provider.spec.label,
        awaits=wait_in_words(solving.unit.frame.execution)[:_LONGEST],
    )


def _forecast(solving: Solving) -> tuple[str, ...]:
    outlooks = solving.foresight.outlooks
    expected = outlooks[-1].forecast if outlooks else None
    return () if expected is None else tuple(line[:_LONGEST] for line in expected.render().splitlines()[:_MOST_LINES])


class _Room:
    """How many nodes of a tree may still be shown."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left: int = left


class _Ended(NamedTuple):
    """The view of a node that has ended."""

    view: TaskView
    size: int  # how many nodes it has


def _live(node: TaskNode, place: str, level: int, room: _Room) -> TaskView:
    """A node of a request that is being solved. What is deeper takes its room first, and what is newer."""
    room.left -= 1
    shown: dict[TaskNode, TaskView] = {}
    newest = node.children[::-1] if level < _MOST_LEVELS else []
    for child in newest:
        if child.is_open and room.left > 0:
            shown[child] = _live(child, f"{place}.{child.number}", level + 1, room)
    for child in newest:
        if not child.is_open and room.left > 0:
            below = f"{place}.{child.number}"
            ended = _ended(child, below)
            if ended.size > room.left:
                ended = _Ended(_made(child, below, ()), 1)
            shown[child] = ended.view
            room.left -= ended.size
    return _made(node, place, tuple(shown[child] for child in node.children if child in shown))


def _ended(node: TaskNode, place: str) -> _Ended:
    """A node that has ended, with as many levels below it as fit."""
    found = node.seen if isinstance(node.seen, _Ended) else None
    levels = _LEVELS_BELOW
    while found is None:
        view, size = _down_to(node, place, levels)
        if size <= _MOST_BELOW or levels == 0:
            found = node.seen = _Ended(view, size)
        levels -= 1
    return found


def _down_to(node: TaskNode, place: str, levels: int) -> tuple[TaskView, int]:
    below = [_down_to(child, f"{place}.{child.number}", levels - 1) for child in node.children] if levels else []
    return _made(node, place, tuple(view for view, _ in below)), 1 + sum(size for _, size in below)


def _over(root: TaskNode) -> TaskView:
    """The tree of a request that is over: level by level, as much as there is room for."""
    found = root.seen if isinstance(root.seen, _Ended) else None
    if found is None:
        shown: dict[TaskNode, None] = {}
        level = deque([root])
        while level and len(shown) < _MOST_OVER:
            node = level.popleft()
            shown[node] = None
            level.extend(node.children)
        found = root.seen = _Ended(_cut(root, shown, str(root.number), 1), len(shown))
    return found.view


def _cut(node: TaskNode, shown: Mapping[TaskNode, None], place: str, level: int) -> TaskView:
    children = tuple(
        _cut(child, shown, f"{place}.{child.number}", level + 1)
        for child in node.children
        if child in shown and level < _MOST_LEVELS
    )
    return _made(node, place, children)


def _made(node: TaskNode, place: str, children: tuple[TaskView, ...]) -> TaskView:
    return TaskView(
        kind=str(node.kind),
        label=node.label[:_LONGEST],
        outcome=str(node.outcome),
        place=place,
        began=node.began,
        ended=node.ended,
        cost=node.cost if node.cost is not None and node.cost < inf else None,
        probability=node.probability,
        is_conditional=node.is_conditional,
        reason=node.reason[:_LONGEST],
        offers=tuple(OfferView(who, cost, why[:_LONGEST]) for who, cost, why in node.offers[:_MOST_OFFERS]),
        children=children,
        left_out=node.forgotten + len(node.children) - len(children),
    )
