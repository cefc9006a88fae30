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

from agentrt.activity.performances import wait_in_words
from agentrt.body.codec import View, told, view
from agentrt.strategy.ask import OPEN, Accuracy, ForesightCounts, Outcome, TaskNode
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.strategy.gameplay import Gameplay
    from agentrt.strategy.solve import Solving


class OfferView(NamedTuple):
    """What a strategy said when it was asked for a dependency."""

    strategy: str  # who, in words
    cost: float | None  # the expected game seconds; None if it cannot
    reason: str = ""  # why it cannot; empty if it can


class ProvidedView(NamedTuple):
    """A dependency that can be asked for."""

    activity: str  # its name among activities
    strategies: tuple[str, ...]  # the names of those that provide it, in the order of loading


@view(sparse=True)
class TaskNodeView(View):
    """A node of a task tree."""

    kind: str  # a ``NodeKind``: ``dependency``, ``strategy`` and so on
    label: str  # what it is called
    outcome: str  # an ``Outcome``: ``planned``, ``running`` and so on
    # its stable id, as in ``"3.0.2"``: the number of the request, and at each level which child it is, counted as they
    # are made
    place: str
    began: int = 0  # the tick in which it began; 0 while it is planned
    ended: int = 0  # the tick in which it ended; 0 before
    cost: float | None = None  # the game seconds that were expected when it was chosen; None if nobody asked
    probability: float = 1.0  # how likely it is needed at all; 1 unless look-ahead says otherwise
    is_conditional: bool = False  # whether it is needed in some branches only
    reason: str = ""  # why it failed or was skipped
    offers: tuple[OfferView, ...] = ()  # for a dependency, what was said at the last decision, the cheapest first
    children: tuple[TaskNodeView, ...] = ()  # the nodes below it, in order
    left_out: int = 0  # how many nodes right below it are not shown

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.outcome in OPEN

    @property
    def is_under_way(self) -> bool:
        """Whether it has begun and not ended."""
        return self.outcome in (Outcome.RUNNING, Outcome.PAUSED)

    def walk(self) -> Iterator[TaskNodeView]:
        """This node and all below it, from top to bottom."""
        yield self
        for child in self.children:
            yield from child.walk()

    def under_way(self) -> Iterator[TaskNodeView]:
        """The nodes that are under way, from this one down to the innermost; of several branches the last."""
        node: TaskNodeView | None = self if self.is_under_way else None
        while node is not None:
            yield node
            node = next((child for child in reversed(node.children) if child.is_under_way), None)


@view()
class RequestView(View):
    """A request that is being solved."""

    wanted: str  # what was asked for, in words
    attempts: int  # how many there were
    stack: tuple[str, ...]  # the strategies that run, in words, the outermost first
    tree: TaskNodeView
    handled: tuple[str, ...] = ()  # what came up and is being dealt with; each was interrupted by the next
    pending: tuple[str, ...] = ()  # what came up and waits until it can be dealt with, in that order
    is_paused: bool = False  # whether it was told to pause
    forecast: tuple[str, ...] = ()  # the path that is expected from where the innermost strategy stands
    asked_by: str = ""  # the strategy that asked for it beside what it is run for; empty if none did
    awaits: str = told(default="", sparse=True)  # for whom it waits, so that it cannot go on by itself, in words


@view()
class GameplayView(View):
    """The strategies of an agent, and what it solves by them."""

    lookahead: int  # how many levels of needs are looked ahead
    takes_options: bool  # whether optional dependencies are considered
    order: str  # in which dependencies are solved that do not depend on each other
    params: tuple[tuple[str, str], ...]  # the global parameters, in words
    provided: tuple[ProvidedView, ...]  # what can be asked for, and who provides it
    strategies: int  # how many are loaded
    triggers: tuple[tuple[str, bool], ...]  # what it looks out for; whether that came up and was not dealt with yet
    foresight: ForesightCounts  # how far what was foreseen came true
    accuracy: tuple[Accuracy, ...]  # what strategies said that they cost, beside what they took
    requests: tuple[RequestView, ...]  # what is being solved, in the order in which it began
    finished: tuple[TaskNodeView, ...]  # the trees of the last requests that are over, the oldest first

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
        foresight=gameplay.foreseen,
        accuracy=gameplay.accuracy()[:_MOST_PROVIDED],
        requests=tuple(_request(solving) for solving in gameplay.running),
        finished=tuple(_over(root) for root in gameplay.finished[-_TREES_OVER:]),
    )


def _request(solving: Solving) -> RequestView:
    interruptions, asker = solving.interruptions, solving.within.asker
    expected = solving.stack[-1].forecast if solving.stack else None
    lines = [] if expected is None else expected.render().splitlines()[:_MOST_LINES]
    return RequestView(
        wanted=solving.root.label[:_LONGEST],
        attempts=solving.attempts,
        stack=tuple(attempt.provider.spec.label for attempt in solving.stack),
        tree=_live(solving.root, str(solving.root.number), 1, _MOST_NODES).view,
        handled=tuple(one.name for one in interruptions.handled),
        pending=tuple(one.interruption.name for one in interruptions.pending),
        is_paused=interruptions.is_paused,
        forecast=tuple(line[:_LONGEST] for line in lines),
        asked_by="" if asker is None else asker.provider.spec.label,
        awaits=wait_in_words(solving.unit.frame.execution)[:_LONGEST],
    )


class _Sized(NamedTuple):
    """The view of a node, and how large it is."""

    view: TaskNodeView
    size: int  # how many nodes it has


def _live(node: TaskNode, place: str, level: int, room: int) -> _Sized:
    """A node of a request that is being solved. What is deeper takes its room first, and what is newer."""
    size = 1
    shown: dict[TaskNode, TaskNodeView] = {}
    newest = node.children[::-1] if level < _MOST_LEVELS else []
    for child in sorted(newest, key=lambda one: not one.is_open):
        if size < room:
            below, left = f"{place}.{child.number}", room - size
            one = _live(child, below, level + 1, left) if child.is_open else _ended(child, below)
            if one.size > left:
                one = _Sized(_made(child, below, ()), 1)
            shown[child] = one.view
            size += one.size
    return _Sized(_made(node, place, tuple(shown[child] for child in node.children if child in shown)), size)


def _ended(node: TaskNode, place: str) -> _Sized:
    """A node that has ended, with as many levels below it as fit."""
    found = node.seen if isinstance(node.seen, _Sized) else None
    levels = _LEVELS_BELOW
    while found is None or found.size > _MOST_BELOW:  # the last without any below it, which always fits
        found = node.seen = _down_to(node, place, levels)
        levels -= 1
    return found


def _down_to(node: TaskNode, place: str, levels: int, shown: Mapping[TaskNode, None] | None = None) -> _Sized:
    """A node, with so many levels below it; of these what is to be shown, or all."""
    below = [
        _down_to(child, f"{place}.{child.number}", levels - 1, shown)
        for child in node.children
        if levels and (shown is None or child in shown)
    ]
    return _Sized(_made(node, place, tuple(view for view, _ in below)), 1 + sum(size for _, size in below))


def _over(root: TaskNode) -> TaskNodeView:
    """The tree of a request that is over: level by level, as much as there is room for."""
    found = root.seen if isinstance(root.seen, _Sized) else None
    if found is None:
        shown: dict[TaskNode, None] = {}
        level = deque([root])
        while level and len(shown) < _MOST_OVER:
            node = level.popleft()
            shown[node] = None
            level.extend(node.children)
        found = root.seen = _down_to(root, str(root.number), _MOST_LEVELS - 1, shown)
    return found.view


def _made(node: TaskNode, place: str, children: tuple[TaskNodeView, ...]) -> TaskNodeView:
    return TaskNodeView(
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
