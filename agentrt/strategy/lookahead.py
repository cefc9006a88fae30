"""Looking ahead: what is expected to come is worked out while something is being solved, and compared with what comes.

Four things, each on the one before it:

* A *forecast* (``Foreseen``) is a tree: a dependency, who would be chosen for it, the likeliest branch of what he
  foresees, the needs of that branch, each in the world that those before it leave, and so on, down to where look-ahead
  ends. Making one asks nobody who was not asked for the decision: it is read off what estimating kept.
* An *outlook* is what is expected of one attempt that runs, from where it is. A strategy foresees branches before it
  begins. With each dependency that it asks for, some become impossible: those can still come true that foresaw most of
  what was asked for. What is left of them is what forecasts, supplies, opportunities and preparing work on.
* *Foresight*: each request has one, with an outlook for every attempt that runs. The task tree shows it: the needs of
  the likeliest branch are planned nodes, those of the others conditional ones. Whatever a strategy has solved is
  compared with its outlook: a ``hit`` if the likeliest branch has it left, an ``other`` if a less likely one has, a
  ``miss`` if none has; but for a hit, the forecast is made anew from there.
* *Preparing*: the decisions that come next are made in advance, in ticks in which nothing is decided. First those of
  the likeliest branch of the attempt that runs, each in the world that the ones before leave, and the one that whoever
  is above has to make when that attempt is over; then the same for the second and the third branch. When the world
  turns out to be one of those (``Scenario``), what was found out in it is taken over, and the decision asks nobody.
  That is bounded by ``prepare_asks`` for a tick, in whole asks: what the last one took more is taken off the next
  tick; and it takes of the runtime's think budget what others leave. There is no strand: a timer, which is there only
  while there is something to prepare, and gone with the request.

With ``lookahead`` at 0 there is nothing of all that.

Rejected: keeping prepared decisions themselves. A memo that holds in the real world serves every decision that looks at
the same things, and it cannot say anything that asking would not have said.

Source: prismarine-gameplay: "Planning Ahead Using Probability", "Task Tree"; "Heuristic Based Task Selection", question
4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agentrt.kernel.trace import TraceEvent
from agentrt.strategy.dependency import Branch, Dependency, Scenario, is_as_assumed, label_of, take_over
from agentrt.strategy.estimate import Chain, Estimator, Priced, likeliest
from agentrt.strategy.supplies import Amounts, together
from agentrt.strategy.tree import NodeKind, Outcome, TaskNode, seconds

if TYPE_CHECKING:
    from agentrt.activity.plan.tree import Unit
    from agentrt.kernel.kernel import Timer
    from agentrt.strategy.attempt import Attempt
    from agentrt.strategy.state import State


class Foreseen(NamedTuple):
    """A dependency that is expected to be solved.

    Source: prismarine-gameplay: "Planning Ahead Using Probability".
    """

    wanted: Dependency[Any]
    # the label of who is expected to provide it; empty if it will be met, if nobody can, and where look-ahead ends
    by: str
    cost: float  # the game seconds that are expected from there on
    probability: float = 1.0  # how likely it is that the path gets there
    is_met: bool = False  # whether it is expected to be met by then
    branch: str = ""  # the label of the branch that is expected; empty if it has none
    needs: tuple[Foreseen, ...] = ()  # what that branch needs, in order
    others: tuple[tuple[Dependency[Any], float], ...] = ()  # what only other branches need, with its probability

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Foreseen]]:
        """This node and all below it, from top to bottom, with their depths, from its own on."""
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
    world: Scenario,
    depth: int,
    *,
    branches: Sequence[Branch] | None = None,
    done: Sequence[Dependency[Any]] = (),
    probability: float = 1.0,
) -> Foreseen:
    """What is expected if a strategy is run, with this probability; who is run above is known to the estimator.

    Of its ``branches`` those count that are still possible (None: all), since it has asked for what is ``done``.
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
            world = estimator.after(need, world, depth)
    others: dict[Dependency[Any], float] = {}
    for one in possible[1:]:
        for need in dict.fromkeys(remaining(one, done)):
            if need not in first.needs:
                others[need] = others.get(need, 0.0) + probability * one.probability / total
    return Foreseen(wanted, label, cost, probability, False, first.label, tuple(needs), tuple(others.items()))


def forecast_need(
    estimator: Estimator, need: Dependency[Any], world: Scenario, depth: int, probability: float = 1.0
) -> Foreseen:
    """What is expected if a dependency is asked for, with this probability."""
    choice = estimator.choose(need, world, depth)
    if choice.by is None:
        return Foreseen(need, "", choice.cost, probability, choice.is_met)
    return forecast(estimator, choice.by, need, world, depth - 1, probability=probability)


@dataclass(slots=True, eq=False)
class Outlook:
    """What is expected of one attempt that runs."""

    attempt: Attempt
    branches: list[Branch] = field(default_factory=list)  # what its strategy foresees, the likeliest first
    done: list[Dependency[Any]] = field(default_factory=list)  # what it has had solved, or has solved at this moment
    forecast: Foreseen | None = None  # the path that is expected; None if it foresees nothing

    @property
    def open(self) -> list[Branch]:
        """The branches that can still come true, the likeliest first: those that foresaw most of what was done."""
        fits = [len(one.needs) - len(remaining(one, self.done)) for one in self.branches]
        most = max(fits, default=0)
        return [one for one, fit in zip(self.branches, fits, strict=True) if fit == most]

    def left(self, rank: int = 0) -> tuple[Branch | None, list[Dependency[Any]]]:
        """A branch that can still come true, and what is left of it."""
        shares = self.shares()
        return shares[rank] if rank < len(shares) else (None, [])

    def shares(self) -> list[tuple[Branch, list[Dependency[Any]]]]:
        """The branches that can still come true, each with what is left of it."""
        return [(one, remaining(one, self.done)) for one in self.open]


_OVER: Final = object()
_MOST_BRANCHES: Final = 3  # the likeliest, "the second or third most likely"
_MOST_PREPARED: Final = 16  # worlds
_MOST_PLANNED: Final = 24  # nodes below one


class Foresight:
    """The foresight of one request."""

    def __init__(self, estimator: Estimator) -> None:
        self.outlooks: list[Outlook] = []  # of the attempts that run, the outermost first
        self._estimator = estimator
        self._state: State = estimator.state
        self._worlds: list[Scenario] = []  # in which something was decided in advance
        self._work: Iterator[None] | None = None  # what is left to prepare; None to lay it out anew
        self._timer: Timer | None = None
        self._credit = 0  # of asks; negative if the last one took more than there was
        self._stamp = -1  # as of when the work was laid out
        self._epoch = 0  # of the estimator: what was prepared before a failure is worth nothing

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
        wanted = attempt.wanted
        ticks = attempt.time.taken() if attempt.outcome is Outcome.DONE else None
        # Asked here, too: that what it claims holds is checked only after this, and what does not hold took no time.
        if ticks is not None and (not type(wanted).has_condition() or self._estimator.is_met(wanted)):
            rate = self._state.kernel.clock.ticks_per_second
            self._state.took(attempt.provider.spec, attempt.said, ticks / rate)
        if self._is_on:
            self._lay_out()

    def asked(self, unit: Unit, wanted: Dependency[Any], above: Attempt | None, node: TaskNode) -> None:
        """A dependency is about to be solved: compare it with what was foreseen."""
        if not self._is_on:
            return
        self._take_over()  # whatever comes below: the decision that follows is to find what was found out
        outlook = next((one for one in self.outlooks if one.attempt is above), None)
        if outlook is None:
            return
        left = [needs for _, needs in outlook.shares()]
        expected = label_of(left[0][0]) if left and left[0] else ""
        ranks = [rank for rank, needs in enumerate(left) if wanted in needs]
        what = "miss" if not ranks else "hit" if ranks[0] == 0 else "other"
        if not outlook.branches or (what == "miss" and node.kind is NodeKind.OPTION):
            return
        self._state.count({"hit": "hits", "other": "others", "miss": "misses"}[what])
        outlook.done.append(wanted)  # after it was compared: from now on it is left of no branch
        if unit.frame.planner.trace.on:
            unit.note(TraceEvent.FORECAST, wanted=label_of(wanted), foreseen=expected, what=what)
        self._come_true(outlook, wanted)
        if what == "hit":
            self._show(outlook)
            self._lay_out()
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
            needs = outlook.forecast.needs
            come = next((place for place, one in enumerate(needs) if one.wanted == wanted), len(needs))
            outlook.forecast = outlook.forecast._replace(needs=(*needs[:come], *needs[come + 1 :]))

    def close(self) -> None:
        """The request is over."""
        self.outlooks, self._worlds, self._work = [], [], None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def _is_on(self) -> bool:
        return self._state.lookahead > 0

    # --- forecasts ----------------------------------------------------------------------------------------------------

    def supplies(self, attempt: Attempt) -> Amounts:
        """What an attempt and those above it will still use up."""
        estimator, depth = self._estimator, self._state.lookahead
        total: Amounts = {}
        one: Attempt | None = attempt
        while one is not None:
            with estimator.deciding(one.chain()):
                for outlook in self.outlooks:
                    if outlook.attempt is one:
                        total = together(total, estimator.amounts_left(outlook.shares(), estimator.world, depth))
            one = one.above
        return total

    def _look(self, outlook: Outlook) -> None:
        """Ask a strategy what it foresees now, and make its forecast from where it is."""
        estimator, depth = self._estimator, self._state.lookahead
        attempt = outlook.attempt
        with estimator.deciding(attempt.chain()[:-1]):  # without itself, who would be left out
            priced, _ = estimator.price(attempt.provider, attempt.wanted, estimator.world)
            # Amid its run it may foresee nothing any more: then what it foresaw when it began is all there is.
            if not outlook.done or priced.branches:
                outlook.branches = likeliest(priced.branches)
            if outlook.branches:
                wanted, world, done = attempt.wanted, estimator.world, outlook.done
                outlook.forecast = forecast(estimator, priced, wanted, world, depth, branches=outlook.open, done=done)
        self._show(outlook)
        self._lay_out()

    def _show(self, outlook: Outlook) -> None:
        """The direct children that are expected, in the task tree."""
        node = outlook.attempt.node
        node.children = [child for child in node.children if child.outcome is not Outcome.PLANNED]
        seen = outlook.forecast
        costs = {} if seen is None else {one.wanted: one.cost for one in seen.needs}
        branch, left = outlook.left()
        others = dict.fromkeys(need for _, needs in outlook.shares()[1:] for need in needs)
        for need in left[:_MOST_PLANNED]:
            TaskNode(NodeKind.DEPENDENCY, None, node, need).cost = costs.get(need)
        chances = {} if seen is None else dict(seen.others)
        for need in list(others)[: max(0, _MOST_PLANNED - len(left))]:
            if branch is None or need not in branch.needs:
                planned = TaskNode(NodeKind.DEPENDENCY, None, node, need)
                planned.is_conditional = True
                planned.probability = chances.get(need, 1.0)

    # --- preparing ----------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        """What is next is otherwise: prepare that from the next tick on."""
        self._work = None
        self._arm()

    def stir(self) -> None:
        """Something changed that estimates rest on: what comes next may be prepared anew."""
        if self._is_on:
            self._arm()

    def _arm(self) -> None:
        if self._timer is None and self._state.prepare_asks > 0 and self.outlooks:
            self._timer = self._state.kernel.call_later(1, self._prepare)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is to be prepared."""
        return self._timer is None

    def _prepare(self) -> None:
        """Ask as much as a tick allows, and go on in the next one."""
        self._timer = None
        if self._work is None or self._stamp != self._state.stamp:
            self._stamp = self._state.stamp
            self._work = (step for rank in range(_MOST_BRANCHES) for step in self._branch(rank))
        # What is left of a tick is not saved up: many quiet ones would make one long one.
        self._credit = min(self._credit, 0) + self._state.prepare_asks
        while self._credit > 0:
            before = self._estimator.asked
            # A hook that raises ends it, and is no harm to who will decide.
            if self._state.contained("preparing", "estimate", _OVER, next, self._work, _OVER) is _OVER:
                return  # all is prepared, until something happens
            spent = self._estimator.asked - before
            self._credit -= spent
            if spent and not self._state.spare(spent):
                break
        self._arm()

    def _branch(self, rank: int) -> Iterator[None]:
        """Decide in advance what comes if one of the branches of the innermost attempt comes true."""
        estimator, depth = self._estimator, self._state.lookahead
        outlooks = tuple(self.outlooks)
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
                world = estimator.after(need, world, depth)
            if left and not is_innermost:
                return
            if outlook.attempt.above is None:
                return
            world = estimator.outcome(outlook.attempt.wanted, branch, (), world, depth)
            yield

    def _decide(self, need: Dependency[Any], chain: Chain, world: Scenario) -> Iterator[None]:
        if self._estimator.is_met(need, world):
            return
        is_kept = False
        for provider in self._state.catalog.of(type(need)):
            is_kept = self._estimator.price(provider, need, world, chain)[1] or is_kept
            yield
        if is_kept:
            self._state.count("prepared")
            if world.state is not None and world not in self._worlds:
                self._worlds = [*self._worlds, world][-_MOST_PREPARED:]

    def _take_over(self) -> None:
        """If the world is one that was assumed, what was found out in it holds."""
        state, estimator = self._state, self._estimator
        if self._epoch != estimator.epoch:
            self._epoch = estimator.epoch
            self._worlds = []
        if not self._worlds:
            return
        real = state.layer(None)
        kept: list[Scenario] = []
        taken = 0
        for world in self._worlds:
            fields = None if world.state is None else is_as_assumed(world.state, real)
            if fields is None:
                kept.append(world)
            else:
                taken += take_over(world, estimator.world, fields, state.versions, state.stamp)
        if taken:
            state.count("taken")
        self._worlds = kept
