"""An attempt: one try of one strategy, as a frame of the planner.

The planner runs the strategy's carrier (``carrier``) in a frame below whoever needs the dependency, with nobody else to
elect. So control flags, leases, listeners, traces, snapshots and unwinding are those of any action, and a preemption of
the plan stops a strategy in the same way in which an interruption does. What the author's coroutine raises never
reaches the planner: it is the outcome of the attempt. The coroutine is driven through a gate (``gate``), so that it can
stand still while something that came up is dealt with below it.

How long it runs by itself is counted, without the time in which it has something solved or is interrupted; when that is
more than its patience, it is cancelled and has failed.

Source: seed 003, "Task Failure"; design section 6, "A strategy is an action".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agentrt.activity.control import Reject
from agentrt.activity.spawning import SpawnedFrame
from agentrt.activity.states import FINISHED, IDLE
from agentrt.errors import ActivityAbortedError, ActivityImpossibleError, ActivityRecursionError, DependencyFailedError
from agentrt.kernel.scope import CancelScope, outlast
from agentrt.strategy.asking import Cannot
from agentrt.strategy.carrier import carrier_of
from agentrt.strategy.context import StrategyContext
from agentrt.strategy.control import Fail, Restart
from agentrt.strategy.gate import Gate
from agentrt.strategy.lost import is_lost
from agentrt.strategy.strategy import Interruptible
from agentrt.strategy.tree import Outcome
from agentrt.words import error_words

if TYPE_CHECKING:
    from agentrt.activity.unit import Unit
    from agentrt.kernel.calls import Timer
    from agentrt.kernel.strand import Strand
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.interrupting import Interruption
    from agentrt.strategy.solving import Solving
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
        unit: below which action of the plan it runs.
        provider: whose strategy.
        wanted: what for.
        node: its node in the task tree.
        above: the attempt that needs the dependency; None at the root.

    Attributes:
        solving, provider, wanted, node, above: as given.
        context: what its strategy is run with; None before.
        outcome: what became of it; RUNNING until then.
        reason: why it failed.
        cause: the error that it failed with, if it was one.
        value: what it returned.
        interruptions: how many times something came up while it, or something below it, ran; one that begins again
            goes on counting.
        interrupted_ticks: how long that took, in all.
        is_again: whether it is to be run again.
        was_interrupted: whether it was unwound because something came up.
        is_held: whether its time stands still, because something came up.
        is_solving: whether it has something solved at this moment.
        executed: the plain activity that it executes at this moment.
    """

    __slots__ = (
        "_dealing",
        "_gate",
        "_own_began",
        "_own_ticks",
        "_scope",
        "_strategy",
        "_timer",
        "above",
        "cause",
        "context",
        "executed",
        "interrupted_ticks",
        "interruptions",
        "is_again",
        "is_held",
        "is_solving",
        "node",
        "outcome",
        "provider",
        "reason",
        "solving",
        "value",
        "wanted",
        "was_interrupted",
    )

    def __init__(
        self,
        solving: Solving,
        unit: Unit,
        provider: Provider,
        wanted: Dependency[Any],
        node: TaskNode,
        above: Attempt | None,
    ) -> None:
        chosen = carrier_of(provider.spec, type(wanted))
        args = dict(zip(wanted.field_names(), wanted.values_in_order(), strict=True))
        super().__init__(unit, type(wanted).activity, args, chosen, catches=True)
        self.solving: Solving = solving
        self.provider: Provider = provider
        self.wanted: Dependency[Any] = wanted
        self.node: TaskNode = node
        self.above: Attempt | None = above
        self.context: StrategyContext | None = None
        self.outcome: Outcome = Outcome.RUNNING
        self.reason: str = ""
        self.cause: BaseException | None = None
        self.value: Any = None
        self.interruptions: int = 0
        self.interrupted_ticks: int = 0
        self.is_again: bool = False
        self.was_interrupted: bool = False
        self.is_held: bool = False
        self.is_solving: bool = False
        self.executed: SpawnedFrame | None = None
        self._gate: Gate | None = None
        self._dealing: Strand | None = None  # the strand that deals with what came up, while the coroutine stands still
        self._strategy: Strategy | None = None
        self._scope: CancelScope | None = None
        self._timer: Timer | None = None
        self._own_ticks = 0  # how long it may still run by itself
        self._own_began = 0

    # --- running ------------------------------------------------------------------------------------------------------

    async def attempt(self) -> None:
        """Run the strategy to its end, whatever that is; ``outcome`` tells it.

        Raises:
            ActivityAbortedError: it is awaited behind a shield, and who awaits it is unwound.
        """
        self.solving.push(self)
        try:
            await self.execute()
        except ActivityRecursionError as error:
            self.fail("it would be nested too deep in the plan", error)
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
            self.solving.pop(self)
        if self.outcome is Outcome.RUNNING and not self.is_again:
            self.fail("it was stopped")

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
            self.count(running=False)

    async def _carry(self, unit: Unit, wanted: Any) -> None:
        self._strategy = strategy = self.provider.spec.cls()
        self.context = context = StrategyContext(unit, self)
        unit.context = context
        kernel = unit.frame.planner.kernel
        self._own_ticks = kernel.clock.ticks(self._patience())
        self._scope = CancelScope()
        try:
            with self._scope:
                self.count(running=True)
                self._gate = Gate(strategy.run(context, wanted))
                self.value = await self._gate
            if self._scope.cancelled_caught:
                self.fail(f"it ran for more than {self._patience():g} s by itself; it seems to hang")
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
        self.reason = reason
        self.cause = cause

    # --- interruptions ------------------------------------------------------------------------------------------------

    @property
    def interruption(self) -> Interruptible:
        """What it supports."""
        return self.provider.spec.cls.interruption

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
        try:
            strategy.interrupted(context, interruption)
        except (Fail, Cannot, Reject) as failure:
            self.fail(failure.reason)
        except Restart:
            self.is_again = True
        except Exception as error:
            self.fail(f"it raised {type(error).__name__} when it was interrupted: {error}", error)
            self.solving.gameplay.fault(spec.label, "interrupted", error)
        else:
            return False
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

    def count(self, *, running: bool) -> None:
        """Its own time goes on, or stands still while it has something solved or is interrupted.

        Args:
            running: whether it goes on.
        """
        kernel = self.frame.planner.kernel
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._own_ticks -= kernel.clock.tick - self._own_began
        if running and not self.is_held:
            self._own_began = kernel.clock.tick
            self._timer = kernel.call_later(max(1, self._own_ticks), self._hangs)

    def hold(self, *, is_held: bool) -> None:
        """Its time stands still from now on, whatever else happens, or does not any more.

        Args:
            is_held: which of the two.
        """
        self.is_held = is_held
        self.count(running=not is_held)

    def _hangs(self) -> None:
        self._timer = None
        if self._scope is not None:
            self._scope.cancel("it seems to hang")

    def __repr__(self) -> str:
        return f"<Attempt {self.provider.spec.label} for {self.wanted.label()}: {self.outcome}>"


def _words(failure: DependencyFailedError | ActivityAbortedError | ActivityImpossibleError) -> str:
    if isinstance(failure, ActivityAbortedError):
        return f"'{failure.activity}' was aborted: {failure.reason}"
    if isinstance(failure, ActivityImpossibleError):
        return f"nobody can perform '{failure.activity}' now"
    label = getattr(failure.wanted, "label", None)
    return f"{label() if callable(label) else failure.wanted} could not be solved"
