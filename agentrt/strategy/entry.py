"""The two ways into solving: a request beside the plan, and an action of the plan.

``SolveRequest`` is what ``agent.gameplay.collect(...)`` has the planner perform; whoever awaits the call hears of a
failure.

For plans, each dependency has an action of its own that performs its activity, so that a compound can have a step
``gameplay:collect`` and a task group can rank it among other things to do. It is ready while somebody can provide the
dependency, asks anew when something changed, and competes like any action. When nobody could provide it after all, that
is no failure of the agent's plan: it is thought again, and the dependency is not tried for a while, longer each time.
What a plan is doing it goes on to know, also when the last strategy for it was taken away: what runs, runs to its end.

Source: seed 003, "Hierarchy": any node can be an entry point; design section 6, "A dependency list is an activity".
"""

from __future__ import annotations

from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

from agentrt.activity.action import Action
from agentrt.activity.catching import catcher_of
from agentrt.activity.fields import ActionArgs
from agentrt.activity.performing import Performance
from agentrt.errors import DependencyFailedError
from agentrt.kernel.traps import park
from agentrt.strategy.dependency import label_of
from agentrt.strategy.solving import Solving

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentrt.activity.context import Context
    from agentrt.activity.utility import UtilityRange
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.gameplay import Gameplay
    from agentrt.strategy.owner import GameplayOwner

__all__ = ["SolveRequest", "Solvers", "solver_of"]


class SolveRequest(Action):
    """Solve what a call of the gameplay asked for."""

    does: ClassVar[str] = "gameplay:request"
    utility: ClassVar[float | UtilityRange] = 1.0

    class Args(ActionArgs):
        """What it is called with."""

        solving: Any

    async def run(self, ctx: Context, args: Any) -> None:
        """Solve it. A failure is no fault of the plan: whoever made the request finds it there."""
        unit: Any = ctx.holder
        with suppress(DependencyFailedError):
            await args.solving.run(unit)


class _Solver(Action):
    """The action of a plan that has a dependency solved."""

    async def think(self, ctx: Context, args: Any) -> None:
        gameplay: Gameplay = ctx.agent.gameplay
        while True:
            await ctx.sleep_ticks(max(0, gameplay.postponed.until(args) - ctx.clock.tick))
            if gameplay.cost(args) < inf:
                ctx.set_think_output()
            else:
                ctx.clear_think_output()
            await gameplay.changes.wait()

    def start(self, ctx: Context, args: Any) -> None:
        ctx.agent.gameplay.solvers.hold(type(args))

    def stop(self, ctx: Context, args: Any) -> None:
        ctx.agent.gameplay.solvers.let_go(type(args))

    async def run(self, ctx: Context, args: Any) -> None:
        gameplay: Gameplay = ctx.agent.gameplay
        unit: Any = ctx.holder
        try:
            await Solving(gameplay, gameplay.estimator, args).run(unit)
        except DependencyFailedError as failure:
            execution, reason = unit.frame.execution, f"{label_of(args)} could not be solved: {failure.reason}"
            gameplay.postponed.put_off(args, ctx.clock)
            if isinstance(execution, Performance) or catcher_of(unit) is not None:
                ctx.abort(reason)  # somebody awaits it, and hears of it
            execution.replan(reason, unit)
            await park()
        else:
            gameplay.postponed.solved(args)


def solver_of(wanted: type[Dependency[Any]]) -> type[Action]:
    """The action that performs the activity of a dependency in a plan; made once, and kept with the dependency.

    Args:
        wanted: the class of the dependency.
    """
    found: type[Action] | None = wanted.__dict__.get("_solver")
    if found is None:
        declared = {
            "__module__": wanted.__module__,
            "__qualname__": wanted.__qualname__,
            "__doc__": f"Has {wanted.__name__} solved.",
            "does": wanted.activity,
            "utility": 1.0,
            "Args": wanted,
        }
        found = wanted._solver = type(wanted.__name__, (_Solver,), declared)
    return found


class Solvers:
    """What the plan of an agent knows to have solved.

    Args:
        agent: whose.
    """

    __slots__ = ("_agent", "_held", "_known", "_provided")

    def __init__(self, agent: GameplayOwner) -> None:
        self._agent: GameplayOwner = agent
        self._provided: tuple[type[Dependency[Any]], ...] = ()
        self._known: dict[type[Dependency[Any]], Callable[[], None]] = {}
        self._held: dict[type[Dependency[Any]], int] = {}  # how many times a plan is doing it

    def fit(self, provided: tuple[type[Dependency[Any]], ...]) -> None:
        """Know just what strategies provide, and what is being done.

        Args:
            provided: the classes of dependencies.

        Raises:
            DefinitionError: the agent knows an action that does the same with other arguments.
        """
        self._provided = provided
        self._forget()
        for wanted in provided:
            if wanted not in self._known:
                self._known[wanted] = self._agent.learn_solver(solver_of(wanted))

    def hold(self, wanted: type[Dependency[Any]]) -> None:
        """A plan begins to do it.

        Args:
            wanted: the class of the dependency.
        """
        self._held[wanted] = self._held.get(wanted, 0) + 1

    def let_go(self, wanted: type[Dependency[Any]]) -> None:
        """A plan does not do it any more.

        Args:
            wanted: the class of the dependency.
        """
        self._held[wanted] -= 1
        kernel = self._agent.kernel
        if not self._held[wanted]:
            del self._held[wanted]
            if wanted not in self._provided and kernel is not None:
                kernel.call_soon(self._forget)  # the plan is just being stopped

    def _forget(self) -> None:
        for wanted in [one for one in self._known if one not in self._provided and one not in self._held]:
            self._known.pop(wanted)()
