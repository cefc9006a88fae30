"""A frame: one activity at one place of a plan, and the election between the actions that perform it.

All actions of the activity think at once. Their immediate answers make one *round*: it is over when every strand that
the round started has made its first step and every compound in it has an answer or waits for something. Then the best
ready unit is elected; equals within the round are drawn by weight. After the round, whoever becomes ready later is
compared with the elected one at once, in the same tick; a tie changes nothing.

A round is over when ``pending``, the number of answers that are out, is 0: the frame's own marker, put into the ready
queue behind the strands of the round, and compounds whose steps think.

While the elected unit runs, only units that could beat it go on thinking; the others are idle until its utility falls
or it ends. A frame whose output is read by later steps does not change its unit once it is started: those steps were
bound to that output.

Its owner (a compound, say) is told four things: ready, unready, answered (a round brought nothing), finished.

Source: seed 001, "Making plans", "Comparing plans".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentrt.activity import hooks, states
from agentrt.activity.election import adjust, best_ready, boosted
from agentrt.activity.fields import NO_ARGS
from agentrt.activity.keeping import set_aside, take_up
from agentrt.activity.knowledge import learn
from agentrt.activity.protection import Protection, protect_arguments
from agentrt.activity.states import FINISHED, FRAME_MASKS, IDLE, IMPOSSIBLE, READY, RUNNING, STARTED, THINKING
from agentrt.activity.takeover import switch
from agentrt.kernel.batch import Batch
from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from agentrt.activity.current import Current
    from agentrt.activity.execution import Execution
    from agentrt.activity.owners import FrameOwner
    from agentrt.activity.planner import Planner
    from agentrt.activity.spawning import SpawnedFrame
    from agentrt.activity.spec import ActionSpec
    from agentrt.activity.unit import Unit

__all__ = ["Frame"]


class Frame:
    """One activity at one place of a plan.

    Attributes:
        execution: the stack that it is run on.
        planner: what all frames of the agent share.
        owner: who asked for the activity.
        parent: the unit that it is a step of, or None at the root.
        activity: what is to be performed.
        state: one of the constants of the module ``states``.
        units: the actions that could, in the order in which the agent learned them.
        active: the elected unit.
        args: what the activity was called with.
        expected: the expected state of the entity before it; None while nobody touched it.
        index: its number among the steps of its compound, from 1; 0 elsewhere.
        depth: how many frames lie above it.
        round: how often it began to think.
        round_open: whether immediate answers are awaited.
        pending: how many.
        is_bound: whether later steps read its output.
        keeps: whether some of its actions keep their thinking over the end of a plan.
        aside: those of its units that go on thinking while it is idle; None for none.
        since: the tick in which it began to think.
    """

    __slots__ = (
        "_is_looking",
        "_path",
        "active",
        "activity",
        "args",
        "aside",
        "depth",
        "execution",
        "expected",
        "has_filter",
        "index",
        "is_bound",
        "keeps",
        "owner",
        "parent",
        "pending",
        "planner",
        "protection",
        "round",
        "round_open",
        "since",
        "state",
        "units",
        "version",
    )

    chosen: tuple[ActionSpec, ...] | None = None  # who performs it, if somebody has chosen already
    is_choosy: bool = False  # whether it asks some of those that could, and more when there is reason to
    catcher: SpawnedFrame | None = None  # who is told of an abort below it, instead of the whole plan

    def __init__(
        self, execution: Execution, owner: FrameOwner, parent: Unit | None, activity: str, index: int, *, is_bound: bool
    ) -> None:
        self.execution: Execution = execution
        self.planner: Planner = execution.planner
        self.owner: FrameOwner = owner
        self.parent: Unit | None = parent
        self.activity: str = activity
        self.index: int = index
        self.is_bound: bool = is_bound
        self.depth: int = 0 if parent is None else parent.frame.depth + 1
        self.state: int = IDLE
        self.units: list[Unit] = []
        self.active: Unit | None = None
        self.args: Any = None
        self.expected: Current | None = None
        self.version: int = -1
        self.round_open: bool = False
        self.pending: int = 0
        self.round: int = 0
        self.since: int = 0
        self.has_filter: bool = False
        self.keeps: bool = False
        self.aside: list[Unit] | None = None
        self._is_looking = False
        self._path: str | None = None  # it stays the same for life, and records need it all the time
        self.protection: Protection | None = None

    # --- what it is ---------------------------------------------------------------------------------------------------

    def move(self, state: int) -> None:
        """Change the state, if the table allows it."""
        if not FRAME_MASKS[self.state] >> state & 1:
            raise states.illegal(self.path(), states.FRAME_NAMES, self.state, state)
        self.state = state

    def path(self) -> str:
        """Its place in the plan: activities and actions from the root, joined by slashes."""
        path = self._path
        if path is None:
            path = self._path = self._place()
        return path

    def _place(self) -> str:
        parent = self.parent
        if parent is None:
            return self.activity
        steps = parent.spec.steps
        label = self.activity if steps is None or not self.index else steps[self.index - 1].label
        return f"{parent.path()}/{label}"

    def note(self, event: Event, **detail: Any) -> None:
        """Put a record into the trace; ask ``trace.on`` first."""
        self.planner.record(self.path(), event, tuple(detail.items()))

    @property
    def is_running(self) -> bool:
        """Whether its elected unit was started."""
        return self.state >= STARTED

    # --- thinking -----------------------------------------------------------------------------------------------------

    def begin(self, args: Any, expected: Current | None) -> None:
        """Have all actions of the activity think.

        Args:
            args: what the activity is called with; a mapping.
            expected: the expected state of the entity.

        Raises:
            ArgumentError: the arguments do not fit the activity.
            ActivityRecursionError: the plan is nested too deep.
        """
        planner = self.planner
        if self.version != planner.version:
            learn(self)
        units = self.units
        if units:
            args = planner.build_args(units[0].spec, self.activity, args)
        planner.admit(self)
        self.move(THINKING)
        if self.keeps:
            units = take_up(self, args, expected)
        self.args = args
        self.expected = expected
        self.since = planner.kernel.clock.tick
        self.round += 1
        self.round_open = True
        self.pending = 1
        if self.has_filter and hooks.is_blocked(self):
            self._drop()
            self._answer()
            return
        if args is not NO_ARGS:
            self.protection = protect_arguments(self)
            if self.protection is not None and self.protection.missing is not None:
                self.round_open = False
                self._drop()
                self.owner.frame_rejected(self)
                return
        batch = Batch(planner.kernel)
        for unit in units:
            unit.begin(batch)
        if batch.members:
            batch.launch(self._marker, self.round)
        else:
            self._answer()

    def _drop(self) -> None:
        """Nobody is asked: those who were set aside and taken up are not, either."""
        if self.keeps:
            for unit in self.units:
                if unit.state != IDLE:
                    unit.end_thinking()

    def begin_anew(self) -> None:
        """A filter came or went while it thinks: ask them all again, and have all units think from the beginning."""
        args, expected, was_ready = dict(self.args), self.expected, self.state == READY
        self.stop()
        if was_ready:
            self.owner.frame_unready(self)
        self.begin(args, expected)

    def _marker(self, number: int) -> None:
        if number == self.round and self.round_open:
            self._answer()

    def _answer(self) -> None:
        """One of the immediate answers is in."""
        self.pending -= 1
        if self.pending == 0 and self.round_open:
            self.round_open = False
            if not self.execution.is_unwinding(self) and not self.elect():
                self._nobody()

    def open_answer(self) -> bool:
        """A compound asks whether its answer belongs to the round; if so, the round waits for it."""
        if self.round_open:
            self.pending += 1
        return self.round_open

    def close_answer(self) -> None:
        """The compound's answer is in."""
        self._answer()

    # --- election -----------------------------------------------------------------------------------------------------

    def elect(self) -> bool:
        """Elect the best ready unit, if there is one, and tell the owner."""
        best = best_ready(self, is_patient=True)
        if best is None:
            return False
        self.elected(best)
        self.owner.frame_ready(self)
        return True

    def elected(self, unit: Unit) -> None:
        """Note which unit is the best of those that are ready.

        Args:
            unit: it.
        """
        if self.state != READY:
            self.move(READY)
        self.active = unit
        unit.is_fresh = False
        if self.planner.trace.on:
            candidates = [one for one in self.units if one.state == READY and one.is_settled()]
            told = ", ".join(f"{one.spec.label} {one.utility:g}" for one in candidates)
            self.note(Event.ELECT, action=unit.spec.label, utility=unit.utility, ready=told)

    def look_again(self) -> None:
        """Something changed: compare the units once more when the ready queue comes to it."""
        if not self._is_looking and not self.round_open and self.state != IDLE:
            self._is_looking = True
            self.planner.kernel.call_soon(self._look)

    def _look(self) -> None:
        self._is_looking = False
        state = self.state
        if self.round_open or self.execution.is_unwinding(self):
            return
        if state == THINKING:
            if not self.elect():
                self._nobody()
        elif state == READY:
            self._look_ready()
        elif state == STARTED or state == RUNNING:
            self._look_running()

    def _look_ready(self) -> None:
        active = self.active
        assert active is not None
        best = best_ready(self)
        if best is None:
            self.move(THINKING)
            self.active = None
            self.owner.frame_unready(self)
            self._nobody()
        elif active.state != READY or best.utility > active.utility:
            self.elected(best)
            self.owner.frame_ready(self)
        elif active.is_fresh:
            active.is_fresh = False
            self.owner.frame_ready(self)
        else:
            self.owner.frame_utility(self)

    def _look_running(self) -> None:
        active = self.active
        assert active is not None
        self.owner.frame_utility(self)
        if self.is_bound:
            return
        best = best_ready(self)
        if best is not None and best.utility > boosted(self):
            switch(self, best)
        else:
            adjust(self)

    def begin_again(self, unit: Unit) -> None:
        """Have one idle unit think again.

        Args:
            unit: one of its units.
        """
        self.begin_late([unit])

    def begin_late(self, units: list[Unit]) -> None:
        """Have units think outside of a round."""
        kernel = self.planner.kernel
        batch = Batch(kernel)
        for unit in units:
            unit.since = kernel.clock.tick
            unit.begin(batch)
            if self.protection is not None and self.protection.missing is not None:
                unit.lose(self.protection.missing)  # the argument went while it did not think
        if batch.members:
            batch.launch()
        self.look_again()

    def look_further(self) -> None:
        """What there was to beat may be less: who asks only some looks whether more are to be asked."""

    def _nobody(self) -> None:
        """No unit is ready. If none is left, and one of them said that the arguments are to blame, others may help."""
        if (
            self.state == THINKING
            and self.units
            and all(unit.state == IMPOSSIBLE for unit in self.units)
            and any(unit.rejection is not None for unit in self.units)
        ):
            self.owner.frame_rejected(self)
        else:
            self.owner.frame_answered(self)

    def may_change(self) -> bool:
        """Whether a unit is ready or may become so by itself; else there is nothing to wait for."""
        return any(unit.state == READY or unit.may_change() for unit in self.units)

    # --- running ------------------------------------------------------------------------------------------------------

    def start(self) -> bool:
        """Start the elected unit; on a refusal, the next best takes its place.

        Returns:
            Whether a unit is started; if not, the caller's unit is refused, or the plan is being aborted.
        """
        while True:
            active = self.active
            assert active is not None
            if active.state == READY and (active.spec.steps is None or active.is_settled()):
                self.move(STARTED)
                if active.start():
                    adjust(self)
                    return not self.execution.is_aborting  # the hooks of those who lost may abort
                if self.execution.is_aborting:
                    return False
                self.move(READY)
            # Else it withdrew, or a step of it did; the look at that is still in the ready queue.
            best = None if self.is_bound else best_ready(self)
            if best is None:
                self.move(THINKING)
                self.active = None
                return False
            self.elected(best)

    def run(self) -> None:
        """Run the elected unit; the owner is told when it is finished."""
        self.move(RUNNING)
        assert self.active is not None
        self.active.run()

    def unit_finished(self) -> None:
        """The elected unit ran to its end."""
        self.move(FINISHED)
        adjust(self)
        self.owner.frame_finished(self)

    def stop(self) -> None:
        """Stop whatever it is doing; strands of ``run`` have ended before. It can begin again afterwards."""
        if self.state == IDLE:
            return
        self.round_open = False
        units = set_aside(self) if self.keeps and self.execution.renewing else self.units
        if self.protection is not None and self.aside is None:
            self.protection.release()
            self.protection = None
        for unit in units:
            if unit.state >= STARTED:
                unit.stop()
            elif unit.state != IDLE:
                unit.end_thinking()
        self.active = None
        self.move(IDLE)
        self.planner.busy_frames -= 1
        if self.aside is None:
            self.args = None
            self.expected = None
        if self.version != self.planner.version:
            learn(self)

    def __repr__(self) -> str:
        return f"<Frame {self.path()}: {states.FRAME_NAMES[self.state]}>"
