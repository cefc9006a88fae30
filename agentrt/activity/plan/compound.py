"""A compound unit: an action whose run is a list of frames.

It thinks first; its own output is element 0 of ``results``. Then its steps think in order, each with its placeholders
bound to the results before it; when the last is ready, the compound is. A step whose output changes has the steps
after it think again; a step that withdraws takes them back.

``start`` is its own, then the steps' in order; ``run`` is the steps'; ``stop`` is the steps' in order, its own last.
What it gives, and what it expects of the entity, is made of its steps: ``think_output`` binds the fields that it
declares, ``expected_after`` is the layer of the last step, ``compose_utility`` sees the steps through
``ChildUtilities``.

When all actions of a step reject their arguments, somebody may have others (the module ``choosing``); else the compound
thinks again from its own beginning, after a delay.

A step can lose its action while the compound runs, when a better one was to take over and then could not. The step
thinks again where it stands, and goes on when an action is ready; with nothing to wait for the plan is aborted.

From step to step it goes in a loop and not by recursion (``_is_stepping``): a plan of sixty steps that answer at once
would else be sixty frames of Python deep for each level of nesting.

Source: seed 001, "Compound action example", "Step declarations"; `reject`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from agentrt.activity.author.arguments import ThinkOutput
from agentrt.activity.plan import hooks
from agentrt.activity.plan.choosing import rejected, think_again
from agentrt.activity.plan.election import refuse
from agentrt.activity.plan.hooks import forget_steps, limit_step, limit_unit
from agentrt.activity.plan.search import Backoff
from agentrt.activity.plan.tree import Frame, Unit
from agentrt.activity.states import FINISHED, IDLE, READY, RUNNING, STARTED, THINKING
from agentrt.errors import ENDS_PROGRAM, did_you_mean
from agentrt.kernel.trace import Event
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.activity.author.action import ActionSpec
    from agentrt.activity.author.expected import Current
    from agentrt.activity.plan.choosing import Search
    from agentrt.kernel.batch import Batch

__all__ = ["ChildUtilities", "expected_after", "think_output", "CompoundUnit"]


class ChildUtilities:
    """The utilities of a compound's steps, by activity name or by number from 1.

    A step without an elected action has utility 0. ``child_utilities[step]`` raises ``LookupError`` if there is no such
    step: a misspelt one would count as 0 for ever, and nobody would notice. ``get`` asks without obligation.
    """

    __slots__ = ("_frames",)

    def __init__(self, frames: list[Frame]) -> None:
        self._frames = frames

    def get(self, step: str | int, default: float = 0.0) -> float:
        """The utility of a step.

        Args:
            step: the activity (the first step that performs it), or the step's number from 1.
            default: what to return when there is no such step, or nothing is elected in it.
        """
        for frame in self._frames:
            if step == frame.activity or (step == frame.index and step is not True):
                return default if frame.active is None else frame.active.utility
        return default

    def __getitem__(self, step: str | int) -> float:
        for frame in self._frames:
            if step == frame.activity or (step == frame.index and step is not True):
                return 0.0 if frame.active is None else frame.active.utility
        activities = [frame.activity for frame in self._frames]
        hint = did_you_mean(step, activities) if isinstance(step, str) else ""
        raise LookupError(f"child_utilities[{repr_of(step, 80)}] names no step.{hint} It has: {self._known()}")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)  # what Python asks of anything
        raise AttributeError(f"child_utilities.{name}: ask for a step by its activity, {self._known()}")

    def _known(self) -> str:
        return ", ".join(f"{frame.activity!r} ({frame.index})" for frame in self._frames) or "no step that has thought"


def expected_after(frames: list[Frame], own: Current | None) -> Current | None:
    """The state that is expected after the steps of a compound.

    Args:
        frames: the steps; those without an elected action change nothing.
        own: the state that is expected before the first.

    Returns:
        The topmost layer; None while nobody touched it.
    """
    for frame in reversed(frames):
        if frame.active is not None:
            return frame.active.expected()
    return own


def think_output(unit: CompoundUnit) -> Any:
    """What a compound gives when all its steps are ready: the fields that it declares, else its arguments.

    Raises:
        Exception: what a placeholder raised.
    """
    declared = unit.spec.output
    if declared is None:
        return unit.frame.args
    return ThinkOutput.open(
        {field: constant if resolve is None else resolve(unit) for field, resolve, constant in declared}
    )


class CompoundUnit(Unit):
    """A compound action at one place of a plan."""

    __slots__ = (
        "_is_open",
        "_is_stepping",
        "backoff",
        "frames",
        "is_due",
        "own_output",
        "results",
        "search",
        "self_utility",
        "step",
    )

    def __init__(self, frame: Frame, spec: ActionSpec) -> None:
        super().__init__(frame, spec)
        self.frames: list[Frame] = []  # its steps; made when they first think
        self.results: list[Any] = []  # think outputs: its own, then the steps'
        self.step: int = 0  # the number of the step that runs, from 1; 0 before
        self.self_utility: float = spec.low  # what ``ctx.set_utility`` made of it
        self.own_output: Any = None  # what its own think gave; None while it has not
        self._is_open = False  # whether the round of its frame waits for its answer
        # whether the steps are to think with a new output of its own, when the ready queue comes to it
        self.is_due: bool = False
        self.search: Search | None = None  # what is remembered of rejections; None while there was none
        self._is_stepping = False  # whether a loop below goes from step to step
        self.backoff: Backoff = Backoff()  # how long it waits before it thinks again

    def children(self) -> Iterable[Frame]:
        """The frames of its steps, and those that it spawned."""
        return self.frames if self.extras is None else (*self.frames, *self.extras.frames())

    def running_child(self) -> Frame | None:
        """The step that runs."""
        return self.frames[self.step - 1] if self.step else None

    # --- the scope of placeholders ------------------------------------------------------------------------------------

    def _expected_here(self) -> Current | None:
        """The expected state before the step that is being bound; None while nobody touched it."""
        done = len(self.results) - 1
        active = self.frames[done - 1].active if done else None
        return Unit.expected(self) if active is None else active.expected()

    def current_here(self) -> Current:
        """The expected state before the step that is being bound, for the placeholder CURRENT."""
        return self.frame.planner.layer(self._expected_here())

    def expected(self) -> Current | None:
        """The expected state after the last step that has an elected unit."""
        return expected_after(self.frames, Unit.expected(self))

    # --- thinking -----------------------------------------------------------------------------------------------------

    def begin(self, batch: Batch) -> None:
        """Start thinking: its own hook first, if it has one."""
        self.backoff.reset()
        self._begin(batch)

    def _begin(self, batch: Batch) -> None:
        self.self_utility = self.spec.low
        self.step = 0
        self.results = []
        if self.spec.has_think:
            Unit.begin(self, batch)
            return
        self.utility = self.spec.low
        self.current: Current | None = None
        self.rejection: str | None = None
        self.move(THINKING)
        if self.frame.planner.trace.on:
            self.note(Event.THINK)
        if self.spec.think_timeout is not None:
            limit_unit(self, self.spec.think_timeout)
        self._is_open = self.frame.open_answer()
        self._steps_think(self.frame.args)

    def set_output(self, output: Any) -> None:
        """Its own think has an output: the steps think. Called on the author's stack."""
        if self.is_handed_over(output):
            return
        if not self._is_open and self.own_output is None:
            self._is_open = self.frame.open_answer()
        self.own_output = output
        if not self.is_due:
            self.is_due = True
            self.frame.planner.kernel.call_soon(self._own_ready)

    def _own_ready(self) -> None:
        self.is_due = False
        if self.own_output is None or self.state not in (THINKING, READY):
            return
        if self.state == READY:
            self.withdraw(THINKING)
        self._steps_think(self.own_output)

    def clear_output(self) -> None:
        """Its own think takes its output back."""
        self.own_output = None
        self._stop_steps(1)
        super().clear_output()
        self._answered()

    def is_settled(self) -> bool:
        """Whether no step has changed since the compound became ready."""
        if self.is_due:
            return False
        for frame in self.frames:
            unit = frame.active
            if unit is None or unit.state != READY or unit.is_fresh or (unit.spec.steps and not unit.is_settled()):
                return False
        return True

    def may_change(self) -> bool:
        """Whether its own thinking goes on, or that of an action of a step."""
        if self.state != THINKING and self.state != READY:
            return False
        if self.is_due or self.backoff.is_waiting or (self.search is not None and self.search.is_waiting):
            return True
        frames = [frame for frame in self.frames if frame.state != IDLE]
        return Unit.may_change(self) or any(unit.may_change() for frame in frames for unit in frame.units)

    def round_is_over(self) -> None:
        """Nobody waits for its immediate answer any more."""
        self._is_open = False

    def _steps_think(self, own: Any) -> None:
        self._stop_steps(1)
        self.results = [own]
        self._think(1)

    def _think(self, number: int) -> None:
        """Have a step think, and those after it as long as they answer at once; the results before it are in."""
        steps = self.spec.steps
        assert steps is not None
        while number <= len(steps):
            step = steps[number - 1]
            if len(self.frames) < number:
                made = Frame(self.frame.execution, self, self, step.activity, number, is_bound=step.is_used)
                self.frames.append(made)
            frame = self.frames[number - 1]
            self._is_stepping = True
            try:
                frame.begin(step.bind(self), self._expected_here())
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self.disable(f"step {number} ({step.activity})", error)
                return
            finally:
                self._is_stepping = False
            if frame.state != READY or self.state not in (THINKING, READY):
                if step.think_timeout is not None and frame.state == THINKING:
                    limit_step(self, frame, step.think_timeout)
                return
            assert frame.active is not None
            self.results[number:] = [frame.active.output]
            number += 1
        self._all_ready()

    def _stop_steps(self, number: int) -> None:
        """Take back the thinking of a step and those after it."""
        del self.results[number:]
        if self.search is not None:
            self.search.forget(number)
        if self.extras is not None:
            forget_steps(self.extras, number)
        for frame in self.frames[number - 1 :]:
            if frame.state != IDLE:
                frame.stop()

    def _all_ready(self) -> None:
        self.backoff.reset()
        try:
            output = think_output(self)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.disable("output", error)
            return
        if self.spec.composes:
            self.utility: float = self._composed()
        self.output = output
        self.is_fresh = True
        if self.extras is not None:
            self.extras.cuts = 0
        if self.state == THINKING:
            self.move(READY)
        if self.frame.planner.trace.on:
            self.note(Event.READY, utility=self.utility)
        self.frame.look_again()
        self._answered()

    def _answered(self) -> None:
        """Its immediate answer is in, whatever it is."""
        if self._is_open:
            self._is_open = False
            self.frame.close_answer()

    def stop_think(self) -> None:
        """Stop thinking, and, unless it was elected, the steps with it."""
        is_over = self.state < STARTED
        if is_over:
            self._forget_steps()
        Unit.stop_think(self)
        if is_over:
            self._answered()

    def _forget_steps(self) -> None:
        self._stop_steps(1)
        self.own_output = None
        self._cancel_retries()

    def _cancel_retries(self) -> None:
        self.backoff.cancel()
        if self.search is not None:
            self.search.cancel()

    def _think_ended(self, error: BaseException | None) -> None:
        if error is None and self.own_output is not None:
            return  # its own answer stands; the steps may still think
        Unit._think_ended(self, error)

    def turn_has_come(self) -> None:
        """It waited in line for a lease: think again, if it only waits for that."""
        if self.state == THINKING and self.backoff.is_waiting:
            think_again(self)
        else:
            super().turn_has_come()

    # --- what its frames tell -----------------------------------------------------------------------------------------

    def frame_ready(self, frame: Frame) -> None:
        """A step has an elected unit, or another one than before."""
        if self._is_stepping:
            return  # the loop goes on with it
        if self.state >= STARTED:
            if frame.start() and frame.index == self.step:
                self.begin_run()
            return
        if self.state not in (THINKING, READY):
            return
        number = frame.index
        assert frame.active is not None
        if self.state == READY and number < len(self.frames):
            self.withdraw(THINKING)
        self._stop_steps(number + 1)  # first: they were bound to what the step gave before
        self.results[number:] = [frame.active.output]
        self._think(number + 1)

    def frame_unready(self, frame: Frame) -> None:
        """A step lost its elected unit."""
        if self.state in (THINKING, READY):
            self._stop_steps(frame.index + 1)
            del self.results[frame.index :]
            if self.state == READY:
                self.withdraw(THINKING)

    def frame_answered(self, frame: Frame) -> None:
        """A step has nothing ready, for now."""
        if self._is_open:
            self._answered()
        elif self.state == THINKING:
            self.frame.look_again()
        elif self.state >= STARTED and not frame.may_change():
            self.frame.execution.abort(f"no action can perform step {frame.index} ({frame.activity}) any more", self)

    def frame_rejected(self, frame: Frame) -> None:
        """All actions of a step rejected their arguments: ask for others, or think again, a little later."""
        rejected(self, frame)

    def frame_utility(self, frame: Frame) -> None:
        """The utility of a step changed."""
        self._compose()

    def frame_finished(self, frame: Frame) -> None:
        """A step ran to its end: the next one runs."""
        if not self._is_stepping and not self.frame.execution.is_aborting:
            self._next_step()

    def _next_step(self) -> None:
        if self.step == len(self.frames):
            self.finish()
            return
        self.step += 1
        self._compose()
        self.begin_run()

    def begin_run(self) -> None:
        """Run the step, and those after it as long as they take no time; unless it still waits for control flags."""
        if self.extras is not None and self.extras.awaits_flags:
            return
        while True:
            frame = self.frames[self.step - 1]
            if frame.state != STARTED:
                return  # it lost its action, and is run when it has another one
            self._is_stepping = True
            try:
                frame.run()
            finally:
                self._is_stepping = False
            if frame.state != FINISHED or self.frame.execution.is_aborting:
                return
            if self.step == len(self.frames):
                break
            self.step += 1
            self._compose()
        self.finish()

    # --- utility ------------------------------------------------------------------------------------------------------

    def set_utility(self, utility: float) -> None:
        """Its own part of the utility changed."""
        self.self_utility = utility
        if self.spec.composes:
            self._compose()
        else:
            Unit.set_utility(self, utility)

    def _compose(self) -> None:
        if self.spec.composes and self.state in (READY, STARTED, RUNNING):
            Unit.set_utility(self, self._composed())

    def _composed(self) -> float:
        current = self.frames[self.step - 1].activity if self.step else None
        composed = hooks.compose_utility(self, self.self_utility, ChildUtilities(self.frames), current)
        return self.self_utility if composed is None else composed

    # --- running ------------------------------------------------------------------------------------------------------

    def start(self) -> bool:
        """Its own start, then the steps' in order, then it stops thinking."""
        self.move(STARTED)
        if self.frame.planner.trace.on:
            self.note(Event.START)
        self._cancel_retries()  # it is elected: what it waited for, or was to search for, is of the thinking before
        if self.spec.has_start and not hooks.start(self):
            return False
        for frame in self.frames:
            if not frame.start():
                if self.frame.execution.is_aborting:
                    self.stop_think()
                else:
                    refuse(self, f"step {frame.index} ({frame.activity}) was refused")
                return False
        self._started()
        return True

    def run(self) -> None:
        """Run the steps in order."""
        self.move(RUNNING)
        planner = self.frame.planner
        self.since: int = planner.kernel.clock.tick
        if planner.trace.on:
            self.note(Event.RUN)
        self.step = 1
        self._compose()
        if not self.spec.flags or self.claim_flags():
            self.begin_run()

    def stop(self, state: int = IDLE) -> None:
        """Stop the steps in order, then itself."""
        self._forget_steps()  # the steps first: a compound's own ``stop`` clears up after them
        Unit.stop(self, state)
        self.results = []
        self.step = 0
