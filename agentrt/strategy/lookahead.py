"""Preparing: the decisions that come next are made in advance, in ticks in which nothing is decided.

First those of the likeliest branch of the attempt that runs, each in the world that the ones before leave, and the one
that whoever is above has to make when that attempt is over; then the same for the second and the third branch. When the
world turns out to be one of those (``worlds``), what was found out in it is taken over, and the decision asks nobody.

That is bounded by ``gameplay.prepare_asks`` for a tick, in whole asks: what the last one took more is taken off the
next tick. It takes part in the think budget of the runtime with what others leave of it. There is no strand: a timer,
which is there only while there is something to prepare, and gone with the request.

Rejected: keeping prepared decisions themselves. A memo that holds in the real world serves every decision that looks at
the same things, and it cannot say anything that asking would not have said.

Source: seed 003, "Planning Ahead Using Probability": "the second or third most likely events".

Forecasts: the path that is expected to be taken, down to where look-ahead ends.

A forecast is a tree: a dependency, who would be chosen for it, the likeliest branch of what he foresees, the needs of
that branch, each in the world that those before it leave, and so on. At every node stand the cost that is expected from
there on, and how likely it is that the path gets there at all. Making one asks nobody who was not asked for the
decision: it is read off what estimating kept.

Source: seed 003, "Planning Ahead Using Probability": "the path that will be taken ahead of time up to a certain depth".

Outlooks: what is expected of an attempt that runs, from where it is.

A strategy foresees branches before it begins. With each dependency that it asks for, some of them become impossible:
those can still come true that foresaw most of what was asked for. What is left of them, and how likely each is against
the others, is what forecasts, supplies, opportunities and preparing work on.

Source: seed 003, "Planning Ahead Using Probability".

Foresight: what is expected to come is worked out while something is being solved, and compared with what comes.

Each request has one. For every attempt that runs it keeps an *outlook*: the branches that its strategy foresaw, those
of them that can still be the one that comes true after what has been asked for, and the forecast of the likeliest. The
task tree shows it: the needs of the likeliest branch are planned nodes, those of the others conditional ones.

*Comparing.* Whatever a strategy has solved is compared with its outlook: a ``hit`` if the likeliest branch has it left,
an ``other`` if a less likely one has, a ``miss`` if none has; but for a hit, the forecast is made anew from there.

*Preparing.* In between, the decisions that come next are made in advance (``preparing``). With ``gameplay.lookahead``
at 0 there is nothing of all that.

Source: seed 003, "Planning Ahead Using Probability", "Task Tree"; design section 6.

The part of an agent's gameplay that looks ahead: its switches, and what came of it.

Apart from ``gameplay`` because it is asked for other reasons: how far, how much, and how well. Nothing here does
anything; ``estimating`` and ``foresight`` read the switches, and count.

Source: seed 003, "Planning Ahead Using Probability"; "Heuristic Based Task Selection", questions 3 and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.trace import Event
from agentrt.strategy.declare import label_of
from agentrt.strategy.tree import Accuracy, NodeKind, Outcome, Records, TaskNode, seconds
from agentrt.strategy.worlds import (
    Amounts,
    World,
    after,
    amounts_left,
    is_as_assumed,
    likeliest,
    outcome,
    take_over,
    together,
)

if TYPE_CHECKING:
    from agentrt.activity.plan.tree import Unit
    from agentrt.kernel.agenda import Timer
    from agentrt.strategy.attempt import Attempt
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.declare import Branch, Dependency, StrategySpec
    from agentrt.strategy.estimate import Estimator, Priced
    from agentrt.strategy.gameplay import Gameplay, GameplayOwner
    from agentrt.strategy.solve import Solving

__all__ = [
    "Foreseen",
    "forecast",
    "forecast_need",
    "remaining",
    "Outlook",
    "Preparing",
    "Foresight",
    "ForesightCounts",
    "LOOKAHEAD",
    "MOST_ASKS",
    "PREPARE_ASKS",
    "Looking",
]


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A dependency that is expected to be solved.

    Attributes:
        wanted: it.
        by: the label of the strategy that is expected to provide it; empty if it will be met, if nobody can provide it,
            and where look-ahead ends.
        cost: the game seconds that are expected from there on.
        probability: how likely it is that the path gets there.
        is_met: whether it is expected to be met by then.
        branch: the label of the branch that is expected; empty if it has none.
        needs: what that branch needs, in order.
        others: what only other branches need, each with its probability.

    Source: seed 003, "Planning Ahead Using Probability".
    """

    wanted: Dependency[Any]
    by: str
    cost: float
    probability: float = 1.0
    is_met: bool = False
    branch: str = ""
    needs: tuple[Foreseen, ...] = ()
    others: tuple[tuple[Dependency[Any], float], ...] = ()

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Foreseen]]:
        """This node and all below it, from top to bottom, with their depths.

        Args:
            depth: its own.
        """
        yield depth, self
        for need in self.needs:
            yield from need.walk(depth + 1)

    def render(self) -> str:
        """The forecast as text, one node a line; what only other branches need begins with a star."""
        return "\n".join(self._lines(""))

    def _lines(self, indent: str) -> Iterator[str]:
        how = "met" if self.is_met else seconds(self.cost) + (f" by {self.by}" if self.by else "")
        chance = "" if self.probability >= 1 else f", {100 * self.probability:.0f} %"
        yield f"{indent}{label_of(self.wanted)}: {how}{chance}"
        indent += "   "
        for need in self.needs:
            yield from need._lines(indent)
        for one, share in self.others:
            yield f"{indent}* {label_of(one)}: {100 * share:.0f} %"


def remaining(branch: Branch, done: Sequence[Dependency[Any]]) -> list[Dependency[Any]]:
    """What is left of the needs of a branch, in order."""
    spent = list(done)
    left: list[Dependency[Any]] = []
    for need in branch.needs:
        if need in spent:
            spent.remove(need)
        else:
            left.append(need)
    return left


def forecast(
    estimator: Estimator,
    priced: Priced,
    wanted: Dependency[Any],
    world: World,
    depth: int,
    *,
    branches: Sequence[Branch] | None = None,
    done: Sequence[Dependency[Any]] = (),
    probability: float = 1.0,
) -> Foreseen:
    """What is expected if a strategy is run.

    Args:
        estimator: who asks; whoever is run above is known to it (``deciding``).
        priced: the strategy, with what it foresees.
        depth: how many levels it is looked ahead.
        branches: those that are still possible; None for all.
        done: what it has asked for already.
        probability: how likely it is that it is run.
    """
    possible = likeliest(priced.branches if branches is None else branches)
    provider, cost = priced.offer.provider, priced.offer.cost
    label = provider.spec.label
    if not possible:
        return Foreseen(wanted, label, cost, probability)
    total = 0.0
    for one in possible:
        total += one.probability
    first = possible[0]
    share = probability * first.probability / total
    needs: list[Foreseen] = []
    with estimator.deciding(((provider, wanted),)):
        for need in remaining(first, done):
            needs.append(forecast_need(estimator, need, world, depth, share))
            world = after(estimator, need, world, depth)
    others: dict[Dependency[Any], float] = {}
    for one in possible[1:]:
        for need in dict.fromkeys(remaining(one, done)):
            if need not in first.needs:
                others[need] = others.get(need, 0.0) + probability * one.probability / total
    return Foreseen(wanted, label, cost, probability, False, first.label, tuple(needs), tuple(others.items()))


def forecast_need(
    estimator: Estimator, need: Dependency[Any], world: World, depth: int, probability: float = 1.0
) -> Foreseen:
    """What is expected if a dependency is asked for.

    Args:
        depth: how many levels it is looked ahead.
        probability: how likely it is that it is asked for.
    """
    choice = estimator.choose(need, world, depth)
    if choice.by is None:
        return Foreseen(need, "", choice.cost, probability, choice.is_met)
    return forecast(estimator, choice.by, need, world, depth - 1, probability=probability)


class Outlook:
    """What is expected of one attempt that runs."""

    __slots__ = ("attempt", "branches", "done", "forecast")

    def __init__(self, attempt: Attempt) -> None:
        self.attempt: Attempt = attempt
        self.branches: list[Branch] = []  # what its strategy foresees, the likeliest first
        self.done: list[Dependency[Any]] = []  # what it has had solved, or has solved at this moment
        self.forecast: Foreseen | None = None  # the path that is expected; None if it foresees nothing

    @property
    def open(self) -> list[Branch]:
        """The branches that can still come true, the likeliest first: those that foresaw most of what was done."""
        fits = [len(one.needs) - len(remaining(one, self.done)) for one in self.branches]
        most = max(fits, default=0)
        return [one for one, fit in zip(self.branches, fits, strict=True) if fit == most]

    def left(self, rank: int = 0) -> tuple[Branch | None, list[Dependency[Any]]]:
        """A branch that can still come true, and what is left of it."""
        branches = self.open
        if rank >= len(branches):
            return None, []
        return branches[rank], remaining(branches[rank], self.done)

    def shares(self) -> list[tuple[Branch, list[Dependency[Any]]]]:
        """The branches that can still come true, each with what is left of it."""
        return [(one, remaining(one, self.done)) for one in self.open]

    def __repr__(self) -> str:
        return f"<Outlook of {self.attempt!r}: {len(self.open)} of {len(self.branches)} branches>"


_OVER: Final = object()
_MOST_BRANCHES: Final = 3
_MOST_PREPARED: Final = 16  # worlds


class Preparing:
    """What is prepared for one request.

    Args:
        outlooks: gives what is expected of the attempts that run, the outermost first.
    """

    __slots__ = ("_credit", "_epoch", "_estimator", "_gameplay", "_outlooks", "_stamp", "_timer", "_work", "_worlds")

    def __init__(self, gameplay: Gameplay, estimator: Estimator, outlooks: Callable[[], Sequence[Outlook]]) -> None:
        self._gameplay = gameplay
        self._estimator = estimator
        self._outlooks = outlooks
        self._worlds: list[World] = []  # in which something was decided in advance
        self._work: Iterator[None] | None = None
        self._timer: Timer | None = None
        self._credit = 0  # of asks; negative if the last one took more than there was
        self._stamp = -1  # as of when the work was laid out
        self._epoch = 0  # of the estimator: what was prepared before a failure is worth nothing

    def lay_out(self) -> None:
        """What is next is otherwise: prepare that from the next tick on."""
        self._work = None
        self.arm()

    def arm(self) -> None:
        """Go on in the next tick, if there is anything to prepare."""
        if self._timer is None and self._gameplay.prepare_asks > 0 and self._outlooks():
            self._timer = self._gameplay.kernel.call_later(1, self._prepare)

    def close(self) -> None:
        """The request is over."""
        self._worlds = []
        self._work = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is to be prepared."""
        return self._timer is None

    def _prepare(self) -> None:
        """Ask as much as a tick allows, and go on in the next one."""
        self._timer = None
        if self._work is None or self._stamp != self._gameplay.stamp:
            self._stamp = self._gameplay.stamp
            self._work = self._steps()
        self._credit = min(self._credit, 0) + self._gameplay.prepare_asks
        while self._credit > 0:
            before = self._estimator.asked
            if self._is_over(self._work):
                return  # all is prepared, until something happens
            spent = self._estimator.asked - before
            self._credit -= spent
            if spent and not self._gameplay.spare(spent):
                break
        self.arm()

    def _is_over(self, work: Iterator[None]) -> bool:
        """Go on by one step; a hook that raises ends it, and is no harm to who will decide."""
        try:
            return next(work, _OVER) is _OVER
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self._gameplay.fault("preparing", "estimate", error)
            return True

    def _steps(self) -> Iterator[None]:
        for rank in range(_MOST_BRANCHES):
            yield from self._branch(rank)

    def _branch(self, rank: int) -> Iterator[None]:
        """Decide in advance what comes if one of the branches of the innermost attempt comes true."""
        estimator, depth = self._estimator, self._gameplay.lookahead
        outlooks = tuple(self._outlooks())
        world = estimator.world
        for index in range(len(outlooks) - 1, -1, -1):
            outlook = outlooks[index]
            is_innermost = index == len(outlooks) - 1
            branch, left = outlook.left(rank if is_innermost else 0)
            if is_innermost and rank and branch is None:
                return
            chain = outlook.attempt.chain()
            for need in left:
                yield from self._decide(need, chain, world)
                world = after(estimator, need, world, depth)
            if left and not is_innermost:
                return
            if outlook.attempt.above is None:
                return
            world = outcome(estimator, outlook.attempt.wanted, branch, (), world, depth)
            yield

    def _decide(
        self, need: Dependency[Any], chain: Sequence[tuple[Provider, Dependency[Any]]], world: World
    ) -> Iterator[None]:
        if self._estimator.is_met(need, world):
            return
        is_kept = False
        for provider in self._gameplay.catalog.of(type(need)):
            is_kept = self._estimator.price(provider, need, chain, None, world)[1] or is_kept
            yield
        if is_kept:
            self._gameplay.foreseen.prepared += 1
            if world.state is not None and world not in self._worlds:
                self._worlds = [*self._worlds, world][-_MOST_PREPARED:]

    def take_over(self) -> None:
        """If the world is one that was assumed, what was found out in it holds."""
        gameplay, estimator = self._gameplay, self._estimator
        if self._epoch != estimator.epoch:
            self._epoch = estimator.epoch
            self._worlds = []
        if not self._worlds:
            return
        real = gameplay.layer(None)
        kept: list[World] = []
        taken = 0
        for world in self._worlds:
            fields = None if world.state is None else is_as_assumed(world.state, real)
            if fields is None:
                kept.append(world)
            else:
                taken += take_over(world, estimator.world, fields, gameplay.versions, gameplay.stamp)
        gameplay.foreseen.taken += taken > 0
        self._worlds = kept


_MOST_PLANNED: Final = 24  # nodes below one


class ForesightCounts:
    """How far what was foreseen came true, for one agent."""

    __slots__ = ("hits", "misses", "others", "prepared", "taken")

    def __init__(self) -> None:
        self.hits: int = 0  # how many times the likeliest branch came true
        self.others: int = 0  # how many times another branch that was foreseen
        self.misses: int = 0  # how many times something that nobody had foreseen
        self.prepared: int = 0  # how many decisions were made in advance
        # how many times the world turned out as it was assumed, so that a decision had been made already
        self.taken: int = 0

    def __repr__(self) -> str:
        return (
            f"<{self.hits} hits, {self.others} others, {self.misses} misses; "
            f"{self.prepared} decisions prepared, {self.taken} taken>"
        )


class Foresight:
    """The foresight of one request."""

    __slots__ = ("_solving", "outlooks", "preparing")

    def __init__(self, solving: Solving) -> None:
        self.outlooks: list[Outlook] = []  # of the attempts that run, the outermost first
        # makes the decisions that come next in advance
        self.preparing: Preparing = Preparing(solving.gameplay, solving.estimator, lambda: self.outlooks)
        self._solving = solving

    # --- what happens -------------------------------------------------------------------------------------------------

    def begins(self, attempt: Attempt) -> None:
        """An attempt begins."""
        outlook = Outlook(attempt)
        self.outlooks.append(outlook)
        if self._is_on:
            self._look(outlook)

    def ends(self, attempt: Attempt) -> None:
        """An attempt is over."""
        self.outlooks = [one for one in self.outlooks if one.attempt is not attempt]
        solving = self._solving
        wanted = attempt.wanted
        ticks = attempt.time.taken() if attempt.outcome is Outcome.DONE else None
        if ticks is not None and (not type(wanted).has_condition() or solving.estimator.is_met(wanted)):
            rate = solving.gameplay.kernel.clock.ticks_per_second
            solving.gameplay.took(attempt.provider.spec, attempt.said, ticks / rate)
        if self._is_on:
            self.preparing.lay_out()

    def asked(self, unit: Unit, wanted: Dependency[Any], above: Attempt | None, node: TaskNode) -> None:
        """A dependency is about to be solved: compare it with what was foreseen.

        Args:
            unit: below which action of the plan.
            above: the attempt that needs it; None at the root.
            node: its node; an option that nobody foresaw is no surprise.
        """
        if not self._is_on:
            return
        self.preparing.take_over()
        outlook = next((one for one in self.outlooks if one.attempt is above), None)
        if outlook is None:
            return
        _, left = outlook.left()
        expected = label_of(left[0]) if left else ""
        what = self._compared(outlook, wanted)
        if not outlook.branches or (what == "miss" and node.kind is NodeKind.OPTION):
            return
        self._count(what)
        outlook.done.append(wanted)
        planner = unit.frame.planner
        if planner.trace.on:
            detail = (("wanted", label_of(wanted)), ("foreseen", expected), ("what", what))
            planner.record(unit.path(), Event.FORECAST, detail)
        self._come_true(outlook, wanted)
        if what == "hit":
            self._show(outlook)
            self.preparing.lay_out()
        else:
            self._look(outlook)

    def _come_true(self, outlook: Outlook, wanted: Dependency[Any]) -> None:
        """What was planned and is done now stands below what was done before, and is no more to come."""
        children = outlook.attempt.node.children
        for child in reversed(children):
            if child.outcome is Outcome.RUNNING and child.wanted == wanted:
                children.remove(child)
                children.append(child)
                break
        if outlook.forecast is not None:
            needs = list(outlook.forecast.needs)
            come = next((one for one in needs if one.wanted == wanted), None)
            if come is not None:
                needs.remove(come)
                outlook.forecast = replace(outlook.forecast, needs=tuple(needs))

    def _compared(self, outlook: Outlook, wanted: Dependency[Any]) -> str:
        for rank, branch in enumerate(outlook.open):
            if wanted in remaining(branch, outlook.done):
                return "hit" if rank == 0 else "other"
        return "miss"

    def _count(self, what: str) -> None:
        counts = self._solving.gameplay.foreseen
        counts.hits += what == "hit"
        counts.others += what == "other"
        counts.misses += what == "miss"

    def stir(self) -> None:
        """Something changed that estimates rest on: what comes next may be prepared anew."""
        if self._is_on:
            self.preparing.arm()

    def close(self) -> None:
        """The request is over."""
        self.outlooks = []
        self.preparing.close()

    @property
    def _is_on(self) -> bool:
        return self._solving.gameplay.lookahead > 0

    # --- forecasts ----------------------------------------------------------------------------------------------------

    def supplies(self, attempt: Attempt) -> Amounts:
        """What an attempt and those above it will still use up."""
        estimator, depth = self._solving.estimator, self._solving.gameplay.lookahead
        total: Amounts = {}
        one: Attempt | None = attempt
        while one is not None:
            with estimator.deciding(one.chain()):
                for outlook in self.outlooks:
                    if outlook.attempt is one:
                        total = together(total, amounts_left(estimator, outlook, estimator.world, depth))
            one = one.above
        return total

    def _look(self, outlook: Outlook) -> None:
        """Ask a strategy what it foresees now, and make its forecast from where it is."""
        estimator, depth = self._solving.estimator, self._solving.gameplay.lookahead
        attempt = outlook.attempt
        with estimator.deciding(attempt.chain()[:-1]):
            priced, _ = estimator.price(attempt.provider, attempt.wanted)
            if not outlook.done or priced.branches:
                outlook.branches = likeliest(priced.branches)
            if outlook.branches:
                outlook.forecast = forecast(
                    estimator,
                    priced,
                    attempt.wanted,
                    estimator.world,
                    depth,
                    branches=outlook.open,
                    done=outlook.done,
                )
        self._show(outlook)
        self.preparing.lay_out()

    def _show(self, outlook: Outlook) -> None:
        """The direct children that are expected, in the task tree."""
        node = outlook.attempt.node
        node.children = [child for child in node.children if child.outcome is not Outcome.PLANNED]
        seen = outlook.forecast
        costs = {} if seen is None else {one.wanted: one.cost for one in seen.needs}
        branch, left = outlook.left()
        others: dict[Dependency[Any], None] = {}
        for one in outlook.open[1:]:
            others.update(dict.fromkeys(remaining(one, outlook.done)))
        for need in left[:_MOST_PLANNED]:
            self._plan(node, need).cost = costs.get(need)
        chances = {} if seen is None else dict(seen.others)
        for need in list(others)[: max(0, _MOST_PLANNED - len(left))]:
            if branch is None or need not in branch.needs:
                planned = self._plan(node, need)
                planned.is_conditional = True
                planned.probability = chances.get(need, 1.0)

    def _plan(self, node: TaskNode, need: Dependency[Any]) -> TaskNode:
        return TaskNode(NodeKind.DEPENDENCY, label_of(need), node, need)


LOOKAHEAD: Final = 4
"""How many levels of needs are looked ahead, unless the agent says otherwise."""

MOST_ASKS: Final = 4_000
"""How many times strategies are asked for one decision, unless the agent says otherwise."""

PREPARE_ASKS: Final = 32
"""How many times strategies are asked in a tick for decisions that come later, unless the agent says otherwise."""


class Looking:
    """What ``agent.gameplay`` has for looking ahead.

    Args:
        agent: whose.

    Attributes:
        agent: as given.
        lookahead: how many levels of needs are looked ahead when a strategy is chosen; 0 takes the constants that
            strategies declare, and foresees, prepares and picks up nothing.
        most_asks: how many times strategies are asked for one decision; after that it looks ahead no further.
        prepare_asks: how many times strategies are asked in a tick, for each request, for decisions that come later; 0
            prepares nothing.
        corrects: whether what strategies say is corrected by what they took before.
        foreseen: how far what was foreseen came true.
        records: what strategies took, beside what they said.
        versions: topic to the number of its changes.
        stamp: how many changes there were.
    """

    def __init__(self, agent: GameplayOwner) -> None:
        self.agent: GameplayOwner = agent
        self.lookahead: int = LOOKAHEAD
        self.most_asks: int = MOST_ASKS
        self.prepare_asks: int = PREPARE_ASKS
        self.corrects: bool = False
        self.foreseen: ForesightCounts = ForesightCounts()
        self.records: Records = Records()
        self.versions: dict[str, int] = {}
        self.stamp: int = 0

    def accuracy(self) -> tuple[Accuracy, ...]:
        """What strategies said that they cost, beside what they took; of each that was completed."""
        return self.records.all()

    def took(self, spec: StrategySpec, said: float, actual: float) -> None:
        """A strategy was completed.

        Args:
            spec: which one.
            said: what it said, before that was corrected, in game seconds.
            actual: what it took of its own time, in game seconds.
        """
        if self.records.add(spec, said, actual) and self.corrects:
            self.count_change("accuracy")

    def count_change(self, *topics: str) -> None:
        """What was read of some topics does not hold any more.

        Args:
            topics: their names.
        """
        for topic in topics:
            self.versions[topic] = self.versions.get(topic, 0) + 1
        object.__setattr__(self, "stamp", self.stamp + 1)  # it is no setting, and each change comes by here

    def spare(self, units: int) -> bool:
        """Take units of the think budget of the runtime for work that can wait.

        Args:
            units: how many.

        Returns:
            Whether they were there; always, if there is no budget.
        """
        search, planner = self.agent.search, self.agent.planner
        return search is None or planner is None or search.spare(planner, units)
