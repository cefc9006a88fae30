"""Bridges between the models: one carries out what another one has decided.

* ``DriverAction``: an action of a plan that hands the body to a behavior tree, a goal selector or a selection tree
  while it runs.
* ``PerformGoal`` and ``perform_behavior``: a goal, and the behavior of a tree, that perform an activity of the agent's
  planner, beside its own plan.
* ``injects``, ``attaches`` and ``performs``: leaves of a selection tree that switch packs, drivers or activities. What
  they return is registered as the behavior of a leaf.

Whoever carries something out does it for whoever decided it, and shares the control flags of that one (``runs_for``).
What was begun ends with it: the tree leaves when the action is stopped, the performance is unwound when the goal stops,
the pack is revoked when the leaf is left. That an activity cannot be performed now, or was aborted, is no fault of a
goal or a behavior: it is over then, and its model decides anew.

Each of them is a few lines on what the models offer anyway; write your own the same way where these do not fit.

Source: ours.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentrt.activity.author.action import Action
from agentrt.agent.agent import Agent
from agentrt.behavior.declare import Behavior, behavior
from agentrt.body.driver import give, take
from agentrt.errors import ENDS_PROGRAM, ActivityAbortedError, ActivityImpossibleError, NotRunningError, WrongStateError
from agentrt.goals.goal import Goal
from agentrt.kernel.signals import Event
from agentrt.kernel.strand import outlast
from agentrt.kernel.traps import next_tick, sleep
from agentrt.selection.state import LeafBehavior

if TYPE_CHECKING:
    from agentrt.activity.author.context import Context
    from agentrt.agent.knowledge import Injectable
    from agentrt.behavior.memory import Activation
    from agentrt.body.driver import Body, Driver
    from agentrt.body.flags import FlagLedger, Holder
    from agentrt.kernel.kernel import Kernel
    from agentrt.selection.state import SelectionState

__all__ = ["DriverAction", "PerformGoal", "attaches", "injects", "perform_behavior", "performs"]

_TRY_AGAIN = 1.0  # game seconds after which a goal asks again for what could not be performed


# --- an action that hands the body on ---------------------------------------------------------------------------------


class _ActionBody:
    """The agent's body, as an action hands it on: all that happens to it is for the action."""

    __slots__ = ("_agent", "entity", "flags", "holder", "name", "number")

    def __init__(self, ctx: Context) -> None:
        self._agent: Agent = ctx.agent
        self.holder: Holder = ctx.holder
        # These are the same as long as an action runs.
        self.name: str = self._agent.name
        self.entity: object = self._agent.entity
        self.number: int = self._agent.number
        self.flags: FlagLedger = self._agent.flags

    @property
    def flags_if_made(self) -> FlagLedger:
        return self.flags

    @property
    def kernel(self) -> Kernel | None:
        return self._agent.kernel

    @property
    def is_ending(self) -> bool:
        return self._agent.is_ending

    def fault(self, path: str, hook: str, error: BaseException) -> None:
        self._agent.fault(path, hook, error)

    def perform(self, activity: str, args: Mapping[str, Any], holder: Holder | None, /) -> Awaitable[Any]:
        return self._agent.perform(activity, args, self.holder if holder is None else holder)


@dataclass(eq=False, slots=True)
class _Doing:
    """What a driver is doing, in words, for the snapshot of the action; found out when somebody looks."""

    _driver: Driver

    def __str__(self) -> str:
        return "; ".join(self._driver.view().lines())


class DriverAction(Action):
    """An action that hands the body to another model while it runs: a behavior tree, a goal selector, a selection tree.

    The model drives in each tick, in the action's own turn, and shares the control flags of the action. When the action
    is stopped for any reason, the model leaves, and its coroutines clean up before anything else begins.

    Source: ours; "an action that ticks a behavior tree".
    """

    @abstractmethod
    def make_driver(self, ctx: Context, args: Any) -> Driver:
        """A fresh driver, such as ``TREE.memory()``, made when the action begins to run."""

    def goes_on(self, ctx: Context, driver: Driver) -> bool:
        """Whether the action is not done yet; asked after each tick of the driver that was made.

        True by default: it runs until something better takes its place.
        """
        return True

    async def run(self, ctx: Context, args: Any) -> None:
        """Have the driver drive, tick after tick."""
        driver = self.make_driver(ctx, args)
        body = _ActionBody(ctx)
        give(driver, body, "DriverAction.make_driver")
        driver.precedence = ctx.holder.precedence
        ctx.get_debug_info_datastore()[driver.name] = _Doing(driver)
        try:
            driver.join(body)
        except BaseException:
            take(driver, body)
            raise
        has_left = Event()
        is_stepped = True
        agent: Agent = ctx.agent
        agent.drivers.lend(driver)

        def left() -> None:
            take(driver, body)
            agent.drivers.take_back(driver)
            has_left.set()

        try:
            _drive(ctx, driver)
            while self.goes_on(ctx, driver):
                await ctx.next_tick()
                _drive(ctx, driver)
        except GeneratorExit:  # it is thrown away: to await now would be a RuntimeError
            is_stepped = False
            raise
        finally:
            driver.leave("its action ended", left)
            if is_stepped:
                await outlast(lambda: has_left.is_set, has_left.wait)


def _drive(ctx: Context, driver: Driver) -> None:
    try:
        driver.drive()
    except ENDS_PROGRAM:
        raise
    except BaseException as error:  # as in the drivers' phase: this tick is lost, the next one goes on
        ctx.agent.fault(f"{ctx.path}/{driver.name}", "drive", error)


# --- goals and behaviors that perform an activity ---------------------------------------------------------------------


async def _is_performed(body: Body, perform: Callable[[], Awaitable[Any]]) -> bool:
    """Perform something. False if that cannot be done now, or was aborted, or the agent ends."""
    try:
        await perform()
    except (ActivityImpossibleError, ActivityAbortedError):
        return False
    except NotRunningError:
        if getattr(body, "is_ending", False):  # its plan, and what that ticks, is unwound when its drivers have left
            return False
        raise
    return True


class PerformGoal(Goal):
    """A goal that performs an activity of the agent's planner; it is over when that is done.

    Args:
        activity: what to perform.
        args: its arguments.
        flags: the control flags that the goal holds meanwhile, and the actions share.
        when: whether it can be used now, asked with the entity; None for always.
    """

    def __init__(
        self,
        activity: str,
        args: Mapping[str, Any] | None = None,
        *,
        flags: Collection[str] = (),
        when: Callable[[Any], bool] | None = None,
    ) -> None:
        self.activity: str = activity
        self.args: Mapping[str, Any] = dict(args or {})
        self.when: Callable[[Any], bool] | None = when
        self._again = 0
        self._asked: Kernel | None = None  # whose ticks those are: it may be attached in another runtime later
        self.name: str = f"Perform {activity}"
        self.set_flags(flags)

    def can_use(self) -> bool:
        """Whether it is asked for, and was not found impossible a moment ago."""
        kernel = self.body.kernel
        if kernel is not None and kernel is self._asked and kernel.clock.tick < self._again:
            return False
        return self.when is None or self.when(self.entity)

    def can_continue_to_use(self) -> bool:
        """Whether it is still asked for."""
        return self.when is None or self.when(self.entity)

    async def run(self) -> None:
        """Perform it."""
        kernel = self.body.kernel
        assert kernel is not None
        if not await _is_performed(self.body, lambda: self.perform(self.activity, **self.args)):
            self._asked = kernel
            self._again = kernel.clock.tick + kernel.clock.ticks(_TRY_AGAIN)


def perform_behavior(activity: str, args: Mapping[str, Any] | None = None, *, flags: Collection[str] = ()) -> Behavior:
    """A behavior of a tree that performs an activity of the agent's planner; it is over when that is done.

    Its decider holds the control flags meanwhile, and the actions share them.
    """
    given = dict(args or {})

    async def run(at: Activation) -> None:
        await _is_performed(at.body, lambda: at.perform(activity, **given))

    return behavior(activity.replace(":", "_").upper(), run=run, flags=tuple(flags))


# --- leaves of a selection tree ---------------------------------------------------------------------------------------


def _agent(body: Body, leaf: str) -> Agent:
    if not isinstance(body, Agent):
        raise WrongStateError(leaf, f"{body.name!r} is no agent", "Attach the tree to an agent: agent.attach(state).")
    return body


class _WhileLeaf(LeafBehavior):
    """Something is so while the leaf is selected: what begins it gives what ends it."""

    def __init__(self, begin: Callable[[SelectionState], Callable[[], object]]) -> None:
        self._begin = begin

    def constructor(self, ai: SelectionState) -> None:
        self._end = self._begin(ai)

    def destructor(self, ai: SelectionState) -> None:
        self._end()


class _PerformLeaf(LeafBehavior):
    """The agent performs an activity, again and again, while the leaf is selected."""

    def __init__(self, activity: str, args: Mapping[str, Any]) -> None:
        self._activity = activity
        self._args = dict(args)

    async def run(self, ai: SelectionState) -> None:
        while True:
            if await _is_performed(ai.body, lambda: ai.body.perform(self._activity, self._args, None)):
                await next_tick()
            else:
                await sleep(_TRY_AGAIN)


def injects(*what: Injectable) -> Callable[[], LeafBehavior]:
    """A leaf that gives the agent packs or actions, whatever ``Agent.inject`` takes, while it is selected.

    Source: ours: "a selection-tree leaf that switches packs or behaviors".
    """

    def begin(ai: SelectionState) -> Callable[[], object]:
        agent = _agent(ai.body, "injects")
        # Not saved: after loading, the tree selects its leaf and gives it again.
        return agent.inject(*what, source=f"a leaf of {ai.name}", is_saved=False).revoke

    return lambda: _WhileLeaf(begin)


def attaches(
    make: Callable[[], Driver], *, every: int = 1, precedence: int | None = None
) -> Callable[[], LeafBehavior]:
    """A leaf that has another model drive the agent while it is selected.

    Args:
        make: makes the driver, such as ``TREE.memory``; called whenever the leaf is selected.
        every: as for ``agent.attach``.
        precedence: as for ``agent.attach``.

    Returns:
        What to register as the behavior of a leaf.

    Source: ours.
    """

    def begin(ai: SelectionState) -> Callable[[], object]:
        attachment = _agent(ai.body, "attaches").attach(make(), every=every, precedence=precedence)
        return lambda: attachment.detach("its leaf was left")

    return lambda: _WhileLeaf(begin)


def performs(activity: str, args: Mapping[str, Any] | None = None) -> Callable[[], LeafBehavior]:
    """A leaf that has the agent perform an activity, beside its plan, again and again while it is selected."""
    return lambda: _PerformLeaf(activity, args or {})
