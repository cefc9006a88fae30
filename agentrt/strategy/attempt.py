"""An attempt: one try of one strategy, as a frame of the planner.

The planner runs the strategy's carrier (``carrier``) in a frame below whoever needs the dependency, with nobody else to
elect. So control flags, leases, listeners, traces, snapshots and unwinding are those of any action, and a preemption of
the plan stops a strategy in the same way in which an interruption does. What the author's coroutine raises never
reaches the planner: it is the outcome of the attempt. The coroutine is driven through a gate (``gate``), so that it can
stand still while something that came up is dealt with below it.

How long it runs by itself is counted (``own_time``); when that is more than its patience, it is cancelled and has
failed. Whoever had to wait for its control flags is asked about again before it runs: it was chosen for a world of
before.

Source: seed 003, "Task Failure"; design section 6, "A strategy is an action".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agentrt.activity.control import Flow, Reject
from agentrt.activity.spawning import SpawnedFrame
from agentrt.activity.states import FINISHED, IDLE
from agentrt.activity.surroundings import ignored
from agentrt.errors import (
    ENDS_PROGRAM,
    ActivityAbortedError,
    ActivityImpossibleError,
    ActivityRecursionError,
    DependencyFailedError,
)
from agentrt.kernel.scope import CancelScope, outlast
from agentrt.strategy.asking import Cannot
from agentrt.strategy.carrier import carrier_of
from agentrt.strategy.context import StrategyContext
from agentrt.strategy.control import Fail, Restart
from agentrt.strategy.gate import Gate
from agentrt.strategy.lost import is_lost
from agentrt.strategy.own_time import OwnTime
from agentrt.strategy.story import regress_of
from agentrt.strategy.strategy import Interruptible
from agentrt.strategy.tree import Outcome
from agentrt.words import error_words, type_name, words_of

if TYPE_CHECKING:
    from agentrt.activity.unit import Unit
    from agentrt.kernel.strand import Strand
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.interrupting import Interruption
    from agentrt.strategy.solving import Errand, Solving
    from agentrt.strategy.strategy import Strategy
    from agentrt.strategy.tree import TaskNode

__all__ = ["Attempt"]

_LEAST_PATIENCE: Final = 60.0  # game seconds
_PATIENCE: Final = 10.0  # times what it said that it costs
_UNWOUND: Final = "the strategy that was interrupted is unwound"


class Attempt(SpawnedFrame):
    """One try of one strategy.

    Args:
        solving: what it is part of.
        errand: what for: the dependency, and how whoever needs it wants it solved.
        provider: whose strategy.
        node: its node in the task tree.

    Attributes:
        solving, errand, provider, node: as given.
        wanted: the dependency.
        above: the attempt that needs the dependency; None at the root.
        time: what it takes.
        context: what its strategy is run with; None before.
        outcome: what became of it; RUNNING until then, SKIPPED if it was not the best any more when it could begin.
        reason: why it failed.
        cause: the error that it failed with, if it was one.
        circle: the circle of needs, or the endless regress, that it failed of, in words; empty if it did not.
        said: what its strategy said that it costs, before that was corrected, in game seconds.
        value: what it returned.
        interruptions: how many times something came up while it, or something below it, ran; one that begins again
            goes on counting.
        is_again: whether it is to be run again.
        was_interrupted: whether it was unwound because something came up.
        is_hearing: whether its strategy is being told of an interruption; it may have been unwound for that already.
        is_solving: whether it has something solved at this moment.
        executed: the plain activity that it executes at this moment.
    """

    __slots__ = (
        "_dealing",
        "_gate",
        "_is_kept_waiting",
        "_scope",
        "_strategy",
        "above",
        "cause",
        "circle",
        "context",
        "errand",
        "executed",
        "interruptions",
        "is_again",
        "is_hearing",
        "is_solving",
        "node",
        "outcome",
        "provider",
        "reason",
        "said",
        "solving",
        "time",
        "value",
        "wanted",
        "was_interrupted",
    )

    def __init__(self, solving: Solving, errand: Errand, provider: Provider, node: TaskNode) -> None:
        wanted, above = errand.wanted, errand.above
        chosen = carrier_of(provider.spec, type(wanted))
        args = dict(zip(wanted.field_names(), wanted.values_in_order(), strict=True))
        super().__init__(errand.unit, type(wanted).activity, args, chosen, catches=True)
        self.solving: Solving = solving
        self.errand: Errand = errand
        self.provider: Provider = provider
        self.wanted: Dependency[Any] = wanted
        self.node: TaskNode = node
        self.above: Attempt | None = above
        self.time: OwnTime = OwnTime(solving.gameplay.kernel, None if above is None else above.time, self._hangs)
        self.context: StrategyContext | None = None
        self.outcome: Outcome = Outcome.RUNNING
        self.reason: str = ""
        self.cause: BaseException | None = None
        self.circle: str = ""
        self.said: float = node.cost or 0.0
        self.value: Any = None
        self.interruptions: int = errand.interruptions.get(provider, 0)
        self.is_again: bool = False
        self.was_interrupted: bool = False
        self.is_solving: bool = False
        self.executed: SpawnedFrame | None = None
        self._gate: Gate | None = None
        self._dealing: Strand | None = None  # the strand that deals with what came up, while the coroutine stands still
        self._strategy: Strategy | None = None
        self._scope: CancelScope | None = None
        self._is_kept_waiting = False  # whether whoever needs it waits until it has its control flags
        self.is_hearing: bool = False

    # --- running ------------------------------------------------------------------------------------------------------

    async def attempt(self) -> None:
        """Run the strategy to its end, whatever that is; ``outcome`` tells it.

        Raises:
            ActivityAbortedError: it is awaited behind a shield, and who awaits it is unwound.
        """
        self.solving.push(self)
        self._wait_for_flags()
        try:
            await self.execute()
        except ActivityRecursionError as error:
            self.fail_of_depth("it would be nested too deep in the plan", error)
        except ActivityImpossibleError as error:
            self.fail("it cannot begin: an entity that it is about is gone", error)
        except ActivityAbortedError as error:
            if self.was_taken:
                self.is_again = True
            elif is_lost(self._unit):
                raise
            else:
                self.fail(error.reason, error)
        finally:
            self._has_flags()
            self.solving.pop(self)
        if self.outcome is Outcome.RUNNING and not self.is_again:
            self.fail("it was stopped")

    def _wait_for_flags(self) -> None:
        """Whoever needs it waits until it begins; that is nobody's own time."""
        if self.above is not None:
            self.above.time.stop()
            self._is_kept_waiting = True

    def _has_flags(self) -> None:
        if self._is_kept_waiting and self.above is not None:
            self._is_kept_waiting = False
            self.above.time.go()

    async def carry(self, unit: Unit, wanted: Any) -> None:
        """Run the author's coroutine; called by the carrier."""
        try:
            await self._carry(unit, wanted)
        except GeneratorExit:  # nobody steps this coroutine any more
            if self._dealing is not None:
                self.frame.planner.dismiss(self._dealing)
            raise
        except BaseException:
            await self._end_dealing(is_stopped=True)
            raise
        else:
            await self._end_dealing(is_stopped=False)
        finally:
            self.time.end()

    async def _carry(self, unit: Unit, wanted: Any) -> None:
        self._has_flags()
        if unit.own_extras().was_kept_waiting and not self.solving.is_still_best(self):
            self.outcome, self.reason = Outcome.SKIPPED, "it had to wait, and is not the best any more"
            return
        self._strategy = strategy = self.provider.spec.cls()
        self.context = context = StrategyContext(unit, self)
        unit.context = context
        patience = self._patience()
        self.time.begin(unit.frame.planner.kernel.clock.ticks(patience))
        self._scope = CancelScope()
        try:
            with self._scope:
                self._gate = Gate(strategy.run(context, wanted))
                self.value = await self._gate
            if self._scope.cancelled_caught:
                self.fail(f"it ran for more than {patience:g} s by itself; it seems to hang")
        except (Fail, Cannot, Reject) as failure:
            self.fail(failure.reason)
        except Restart:
            self.is_again = True
        except (DependencyFailedError, ActivityAbortedError, ActivityImpossibleError) as failure:
            # Behind a shield, being unwound may come as such an error: it is decided already what becomes of it.
            if self.outcome is Outcome.RUNNING and not self.is_again:
                self.fail(_words(failure), failure)
        except Exception as error:
            self.fail(f"it raised {error_words(error)}", error)
            unit.frame.planner.fault(unit, "run", error)
        else:
            if self.outcome is Outcome.RUNNING:
                self.outcome = Outcome.DONE

    def fail(self, reason: str, cause: BaseException | None = None) -> None:
        """It has failed.

        Args:
            reason: why, in words.
            cause: the error, if it was one.
        """
        self.outcome = Outcome.FAILED
        self.reason = words_of(reason)
        self.cause = cause
        self.circle = cause.circle if isinstance(cause, DependencyFailedError) else ""

    def fail_of_depth(self, reason: str, cause: BaseException | None = None) -> None:
        """There was no end to what is needed, or nobody waited for it.

        Args:
            reason: what the limit was, in words.
            cause: the error, if it was one.
        """
        circle = regress_of(self.chain()) or self.solving.regress
        self.fail(reason, cause)
        self.circle = self.solving.regress = circle

    # --- interruptions ------------------------------------------------------------------------------------------------

    @property
    def interruption(self) -> Interruptible:
        """What it supports."""
        return self.provider.spec.cls.interruption

    @property
    def interrupted_ticks(self) -> int:
        """How many ticks of its time were not its own, up to now."""
        return self.time.left_out

    @property
    def has_begun(self) -> bool:
        """Whether anything of its strategy has run; not so while it waits for its control flags."""
        return self.context is not None

    def interrupt(self) -> None:
        """Something came up while it is the innermost one: do what it supports, unless a breakpoint is near."""
        is_over = self.outcome is not Outcome.RUNNING or self.frame.state in (IDLE, FINISHED)
        if is_over or self.is_solving or self._dealing is not None:
            return
        if not self.has_begun or self.interruption is not Interruptible.PAUSE:
            self.begin_again()
        elif self.executed is not None:
            self._stop_executed(self.executed)
        elif self.frame.active is not None and self.frame.active.running_child() is None:
            self._stand_still(self.frame.active)

    def begin_again(self) -> None:
        """Have it unwound, to be run again from its beginning."""
        frame = self.frame
        if self.outcome is Outcome.RUNNING and frame.state not in (IDLE, FINISHED):
            self.is_again = True
            if not frame.execution.is_unwinding(frame):
                self.was_interrupted = True
                self.stop()

    def _stop_executed(self, executed: SpawnedFrame) -> None:
        """Have it come to a breakpoint, and execute its activity anew, unless that has just ended."""
        if executed.frame.state not in (IDLE, FINISHED):
            self.executed = None
            executed.stop()

    def _stand_still(self, unit: Unit) -> None:
        gate = self._gate
        if gate is not None and not self.frame.execution.is_unwinding(self.frame):
            gate.close_gate()
            unit.own_extras().unwinding = self._let_go
            name = f"{self.provider.spec.name} is interrupted"
            self._dealing = self.frame.planner.kernel.spawn(self._deal(unit, gate), name, None)

    def _let_go(self) -> None:
        """It is unwound; behind a shield it may wait for what is dealt with before it hears of that."""
        if self._gate is not None:
            self._gate.open_gate()
        if self._dealing is not None:
            self._dealing.stop(_UNWOUND)

    async def _deal(self, unit: Unit, gate: Gate) -> None:
        try:
            await self.solving.interruptions.deal(unit, self.node, self, Interruptible.PAUSE)
        finally:
            self._dealing = None
            unit.own_extras().unwinding = None
            gate.open_gate()

    async def _end_dealing(self, *, is_stopped: bool) -> None:
        """It is over; what is done in between below it ends before it does."""
        dealing = self._dealing
        if dealing is None:
            return
        try:
            if not is_stopped:
                await dealing.join()  # a deadline of its author's ended it
        except GeneratorExit:
            raise
        finally:
            if not dealing.is_done:
                dealing.stop(_UNWOUND)
                await outlast(lambda: dealing.is_done, dealing.join)

    async def rest(self) -> None:
        """Wait until what came up was dealt with: a deadline of the author's goes through to one that stands still."""
        if self._dealing is not None:
            await self._dealing.join()

    def hear(self, interruption: Interruption) -> bool:
        """Something came up while it, or something below it, ran, and was dealt with: the author looks at the world.

        Args:
            interruption: what it was.

        Returns:
            Whether it gave up or begins again, and is being unwound.
        """
        self.interruptions += 1
        strategy, context, spec = self._strategy, self.context, self.provider.spec
        if strategy is None or context is None or not spec.hears or self.outcome is not Outcome.RUNNING:
            return False
        kernel = self.frame.planner.kernel
        outer, kernel.acting = kernel.acting, context.holder
        self.is_hearing = True
        try:
            try:
                strategy.interrupted(context, interruption)
            finally:
                kernel.acting = outer
                self.is_hearing = False
        except (Fail, Cannot, Reject) as failure:
            self.fail(failure.reason)
        except Restart:
            self.is_again = True
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.fail(f"it raised {type_name(error)} when it was interrupted: {words_of(error)}", error)
            self.solving.gameplay.fault(spec.label, "interrupted", error)
        else:
            return False
        return self._unwind()

    def give_up(self, flow: Flow) -> None:
        """Somebody else than the strategy itself says, through its context, that it fails or begins again.

        Args:
            flow: what is said.
        """
        if self.outcome is not Outcome.RUNNING or self.is_again or self.frame.state in (IDLE, FINISHED):
            ignored(self._unit, flow.method)
            return
        if isinstance(flow, Restart):
            self.is_again = True
        else:
            self.fail(flow.reason)
        self._unwind()

    def _unwind(self) -> bool:
        """What becomes of it is decided: have it unwound. Says whether there was anything to unwind."""
        if self.frame.state in (IDLE, FINISHED):
            return False  # it was unwound before
        self.stop()
        return True

    def chain(self) -> list[tuple[Provider, Dependency[Any]]]:
        """Who is run, for what: this one and those above it, the outermost first."""
        found: list[tuple[Provider, Dependency[Any]]] = []
        one: Attempt | None = self
        while one is not None and one.outcome is Outcome.RUNNING:
            found.append((one.provider, one.wanted))
            one = one.solving.asker if one.above is None else one.above
        return found[::-1]

    # --- patience -----------------------------------------------------------------------------------------------------

    def _patience(self) -> float:
        declared = self.provider.spec.cls.patience
        if declared is not None:
            return declared
        return max(_LEAST_PATIENCE, _PATIENCE * (self.node.cost or 0.0))

    def _hangs(self) -> None:
        if self._scope is not None:
            self._scope.cancel("it seems to hang")

    def awaits_others(self, *, is_waiting: bool) -> None:
        """Its coroutine awaits what others do; that is not its own time.

        Args:
            is_waiting: whether it begins to wait, or has waited.
        """
        if is_waiting:
            self.time.stop()
        else:
            self.time.go()

    def __repr__(self) -> str:
        return f"<Attempt {self.provider.spec.label} for {self.node.label}: {self.outcome}>"


def _words(failure: DependencyFailedError | ActivityAbortedError | ActivityImpossibleError) -> str:
    if isinstance(failure, ActivityAbortedError):
        return f"'{failure.activity}' was aborted: {failure.reason}"
    if isinstance(failure, ActivityImpossibleError):
        return f"nobody can perform '{failure.activity}' now"
    return f"{failure.label} could not be solved"
