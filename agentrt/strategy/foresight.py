"""Foresight: what is expected to come is worked out while something is being solved, and compared with what comes.

Each request has one. For every attempt that runs it keeps an *outlook*: the branches that its strategy foresaw, those
of them that can still be the one that comes true after what has been asked for, and the forecast of the likeliest. The
task tree shows it: the needs of the likeliest branch are planned nodes, those of the others conditional ones.

*Comparing.* Whatever a strategy has solved is compared with its outlook: a ``hit`` if the likeliest branch has it left,
an ``other`` if a less likely one has, a ``miss`` if none has; but for a hit, the forecast is made anew from there.

*Preparing.* In between, the decisions that come next are made in advance (``preparing``). With ``gameplay.lookahead``
at 0 there is nothing of all that.

Source: seed 003, "Planning Ahead Using Probability", "Task Tree"; design section 6.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from agentrt.kernel.trace import Event
from agentrt.strategy.assuming import likeliest
from agentrt.strategy.dependency import label_of
from agentrt.strategy.forecast import forecast, remaining
from agentrt.strategy.outlooks import Outlook
from agentrt.strategy.preparing import Preparing
from agentrt.strategy.supplies import Amounts, amounts_left, together
from agentrt.strategy.tree import NodeKind, Outcome, TaskNode

if TYPE_CHECKING:
    from agentrt.activity.unit import Unit
    from agentrt.strategy.attempt import Attempt
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.solving import Solving

__all__ = ["Foresight", "ForesightCounts"]

_MOST_PLANNED: Final = 24  # nodes below one


class ForesightCounts:
    """How far what was foreseen came true, for one agent.

    Attributes:
        hits: how many times the likeliest branch came true.
        others: how many times another branch that was foreseen.
        misses: how many times something that nobody had foreseen.
        prepared: how many decisions were made in advance.
        taken: how many times the world turned out as it was assumed, so that a decision had been made already.
    """

    __slots__ = ("hits", "misses", "others", "prepared", "taken")

    def __init__(self) -> None:
        self.hits: int = 0
        self.others: int = 0
        self.misses: int = 0
        self.prepared: int = 0
        self.taken: int = 0

    def __repr__(self) -> str:
        return (
            f"<{self.hits} hits, {self.others} others, {self.misses} misses; "
            f"{self.prepared} decisions prepared, {self.taken} taken>"
        )


class Foresight:
    """The foresight of one request.

    Args:
        solving: the request.

    Attributes:
        outlooks: of the attempts that run, the outermost first.
        preparing: makes the decisions that come next in advance.
    """

    __slots__ = ("_solving", "outlooks", "preparing")

    def __init__(self, solving: Solving) -> None:
        self.outlooks: list[Outlook] = []
        self.preparing: Preparing = Preparing(solving.gameplay, solving.estimator, lambda: self.outlooks)
        self._solving = solving

    # --- what happens -------------------------------------------------------------------------------------------------

    def begins(self, attempt: Attempt) -> None:
        """An attempt begins.

        Args:
            attempt: it.
        """
        outlook = Outlook(attempt)
        self.outlooks.append(outlook)
        if self._is_on:
            self._look(outlook)

    def ends(self, attempt: Attempt) -> None:
        """An attempt is over.

        Args:
            attempt: it.
        """
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
            wanted: the dependency.
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
        """What an attempt and those above it will still use up.

        Args:
            attempt: it.
        """
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
