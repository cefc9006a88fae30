"""A frame: one activity at one place of a plan, and the election between the actions that perform it.

All actions of the activity think at once. Their immediate answers make one *round*: it is over when every strand that the
round started has made its first step and every compound in it has an answer or waits for something. Then the best ready
unit is elected; equals within the round are drawn by weight. After the round, whoever becomes ready later is compared with
the elected one at once, in the same tick; a tie changes nothing.

How a round knows that it is over: ``pending`` counts the answers that are out. One of them is the frame's own marker, put
into the ready queue behind the strands of the round; the others are compounds whose steps think.

While the elected unit runs, only units that could beat it go on thinking; the others are idle until its utility falls or
it ends. A frame whose output is read by later steps does not change its unit once it is started: those steps were bound
to that output.

Who owns a frame (a compound, the execution, ``ctx.execute``) is told four things: ready, unready, answered (the round is
over and nothing is ready), finished.

Source: seed 001, "Making plans", "Comparing plans".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from agentrt.activity import states
from agentrt.activity.fields import NO_ARGS
from agentrt.activity.states import (
    FINISHED,
    FRAME_MASKS,
    FRAME_NAMES,
    IDLE,
    IMPOSSIBLE,
    READY,
    RUNNING,
    STARTED,
    SWITCHING,
    THINKING,
)
from agentrt.activity.utility import DECIMALS, draw
from agentrt.errors import ActivityRecursionError
from agentrt.kernel.batch import Batch
from agentrt.kernel.signals import Connection, Signal
from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from agentrt.activity.current import Current
    from agentrt.activity.execution import Execution
    from agentrt.activity.unit import Unit

__all__ = ["MAX_DEPTH", "MAX_FRAMES", "Frame", "FrameOwner"]

MAX_DEPTH = 64
"""How deep activities may nest."""

MAX_FRAMES = 4096
"""At how many places one agent may think and run at a time: activities that branch and recur grow faster than deep."""


class FrameOwner(Protocol):
    """Who asked for the activity."""

    def frame_ready(self, frame: Frame) -> None:
        """A unit is elected, or its output changed, or another one took its place; nothing was started yet."""

    def frame_unready(self, frame: Frame) -> None:
        """The elected unit withdrew and no other is ready."""

    def frame_answered(self, frame: Frame) -> None:
        """No unit is ready: the round of immediate answers is over, or one that might have become ready gave up."""

    def frame_finished(self, frame: Frame) -> None:
        """The elected unit ran to its end."""

    def frame_rejected(self, frame: Frame) -> None:
        """All units rejected their arguments."""

    def frame_utility(self, frame: Frame) -> None:
        """The utility of the elected unit changed."""


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
        round_open: whether immediate answers are awaited.
        pending: how many.
        is_bound: whether later steps read its output.
    """

    __slots__ = (
        "_connections",
        "_has_filter",
        "_is_looking",
        "_round",
        "active",
        "activity",
        "args",
        "depth",
        "execution",
        "expected",
        "index",
        "is_bound",
        "owner",
        "parent",
        "pending",
        "planner",
        "round_open",
        "state",
        "units",
        "version",
    )

    def __init__(
        self, execution: Execution, owner: FrameOwner, parent: Unit | None, activity: str, index: int, *, is_bound: bool
    ) -> None:
        self.execution = execution
        self.planner = execution.planner
        self.owner = owner
        self.parent = parent
        self.activity = activity
        self.index = index
        self.is_bound = is_bound
        self.depth = 0 if parent is None else parent.frame.depth + 1
        self.state: int = IDLE
        self.units: list[Unit] = []
        self.active: Unit | None = None
        self.args: Any = None
        self.expected: Current | None = None
        self.version = -1
        self.round_open = False
        self.pending = 0
        self._round = 0
        self._has_filter = False
        self._is_looking = False
        self._connections: list[Connection] | None = None

    # --- what it is ---------------------------------------------------------------------------------------------------

    def move(self, state: int) -> None:
        """Change the state, if the table allows it."""
        if not FRAME_MASKS[self.state] >> state & 1:
            raise states.illegal(self.path(), FRAME_NAMES, self.state, state)
        self.state = state

    def path(self) -> str:
        """Its place in the plan: activities and actions from the root, joined by slashes."""
        parent = self.parent
        if parent is None:
            return self.activity
        steps = parent.spec.steps
        label = self.activity if steps is None or not self.index else steps[self.index - 1].label
        return f"{parent.path()}/{label}"

    def ancestors(self) -> Iterator[Unit]:
        """The units that it runs for, the nearest first."""
        unit = self.parent
        while unit is not None:
            yield unit
            unit = unit.frame.parent

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
            self.learn()
        units = self.units
        if units:
            args = planner.build_args(units[0].spec, self.activity, args)
        if self.depth > MAX_DEPTH:
            raise ActivityRecursionError(
                self.depth, agent=planner.name, path=self.activity, tick=planner.kernel.clock.tick
            )
        if planner.busy_frames >= MAX_FRAMES:
            raise ActivityRecursionError(
                self.depth, agent=planner.name, path=self.activity, tick=planner.kernel.clock.tick, places=MAX_FRAMES
            )
        self.move(THINKING)
        planner.busy_frames += 1
        self.args = args
        self.expected = expected
        self._round += 1
        self.round_open = True
        self.pending = 1
        if self._has_filter and self._is_blocked():
            self._answer()
            return
        if args is not NO_ARGS:
            self._protect()
        batch = Batch(planner.kernel)
        for unit in units:
            unit.begin(batch)
        if batch.members:
            batch.launch(self._marker, self._round)
        else:
            self._answer()

    def learn(self) -> None:
        """Make units for actions that the agent has learned since, and let go of idle ones that it forgot."""
        planner = self.planner
        self.version = planner.version
        specs = planner.known.get(self.activity, ())
        kept = {unit.spec: unit for unit in self.units}
        units = [kept.get(spec) or planner.make_unit(self, spec) for spec in specs]
        self.units = [unit for unit in units if unit is not None]
        self._has_filter = any(spec.has_filter for spec in specs)

    def take_up(self) -> Unit | None:
        """The agent's knowledge changed: let units of forgotten actions go, and have those of new ones think.

        Returns:
            The elected unit, if it is started and was forgotten: the plan around it has to be unwound.
        """
        if self.state == IDLE or self.version == self.planner.version:
            return None
        before, had_filter = self.units, self._has_filter
        self.learn()
        gone = [unit for unit in before if unit not in self.units]
        lost = None
        for unit in gone:
            if unit.state >= STARTED:
                lost = None if unit.state == FINISHED else unit
                self.units.append(unit)  # until the plan is unwound; then it learns again
                self.version = -1
            elif unit.state != IDLE:
                unit.end_thinking()
        if self.state in (THINKING, READY):
            if had_filter or self._has_filter:
                self._begin_anew()
            else:
                self._begin_late([unit for unit in self.units if unit not in before])
        elif self.active is not None:
            self.adjust()
        return lost

    def _begin_anew(self) -> None:
        """A filter came or went while it thinks: ask them all again, and have all units think from the beginning."""
        args, expected, was_ready = dict(self.args), self.expected, self.state == READY
        self.stop()
        if was_ready:
            self.owner.frame_unready(self)
        self.begin(args, expected)

    def _is_blocked(self) -> bool:
        """Whether a filter action forbids the activity."""
        planner = self.planner
        for unit in self.units:
            if unit.spec.has_filter and not planner.ask_filter(unit):
                if planner.trace.on:
                    unit.note(Event.BLOCKED)
                return True
        return False

    def _marker(self, number: int) -> None:
        if number == self._round and self.round_open:
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

    def best(self) -> Unit | None:
        """The ready unit with the highest utility; equals are drawn by weight."""
        found: list[Unit] = []
        top = -1.0
        for unit in self.units:
            if unit.state == READY and (unit.spec.steps is None or unit.is_settled()):
                if unit.utility > top:
                    top = unit.utility
                    found = [unit]
                elif unit.utility == top:
                    found.append(unit)
        if len(found) < 2:
            return found[0] if found else None
        return draw(found, [unit.spec.weight for unit in found], self.planner.random)

    def elect(self) -> bool:
        """Elect the best ready unit, if there is one, and tell the owner."""
        best = self.best()
        if best is None:
            return False
        self._elected(best)
        self.owner.frame_ready(self)
        return True

    def _elected(self, unit: Unit) -> None:
        if self.state != READY:
            self.move(READY)
        self.active = unit
        unit.is_fresh = False
        if self.planner.trace.on:
            rivals = ", ".join(f"{one.spec.cls.__name__} {one.utility:g}" for one in self.units if one.state == READY)
            self.note(Event.ELECT, action=unit.spec.cls.__name__, utility=unit.utility, ready=rivals)

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
        best = self.best()
        if best is None:
            self.move(THINKING)
            self.active = None
            self.owner.frame_unready(self)
            self._nobody()
        elif active.state != READY or best.utility > active.utility:
            self._elected(best)
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
        best = self.best()
        if best is not None and best.utility > self.boosted():
            self.switch(best)
        else:
            self.adjust()

    def boosted(self) -> float:
        """The utility of the elected unit, with its boost once it has run for a while."""
        active = self.active
        assert active is not None
        if active.state == RUNNING:
            planner = self.planner
            if planner.kernel.clock.tick - active.since >= planner.sunk_ticks:
                return round(active.utility + active.spec.boost, DECIMALS)
        return active.utility

    def adjust(self) -> None:
        """While a unit is started: let think who could beat it, and nobody else."""
        active = self.active
        assert active is not None
        bar = 2.0 if self.is_bound or self.state == FINISHED else active.utility
        idle: list[Unit] | None = None
        for unit in self.units:
            if unit is active:
                continue
            state = unit.state
            if unit.spec.high > bar:
                if state == IDLE:
                    if idle is None:
                        idle = []
                    idle.append(unit)
            elif state == THINKING or state == READY:
                unit.end_thinking()
        if idle is not None:
            self._begin_late(idle)

    def begin_again(self, unit: Unit) -> None:
        """Have one idle unit think again.

        Args:
            unit: one of its units.
        """
        self._begin_late([unit])

    def _begin_late(self, units: list[Unit]) -> None:
        """Have units think outside of a round."""
        batch = Batch(self.planner.kernel)
        for unit in units:
            unit.begin(batch)
        if batch.members:
            batch.launch()
        self.look_again()

    def _nobody(self) -> None:
        """No unit is ready. If none is left, and one of them said that the arguments are to blame, others may help."""
        self.owner.frame_answered(self)
        if self.state == THINKING and self.units and all(unit.state == IMPOSSIBLE for unit in self.units):
            if any(unit.has_rejected for unit in self.units):
                self.owner.frame_rejected(self)

    def may_change(self) -> bool:
        """Whether a unit is ready or may become so by itself; else there is nothing to wait for."""
        return any(unit.state == READY or unit.may_change() for unit in self.units)

    def try_again(self, unit: Unit, delay: float) -> None:
        """A unit refused to be started: have it think again, a little later.

        Args:
            unit: one of its units.
            delay: game seconds.
        """
        kernel = self.planner.kernel
        kernel.call_later(max(1, kernel.clock.ticks(delay)), self._try_again, unit, self._round)

    def _try_again(self, unit: Unit, number: int) -> None:
        if number != self._round or unit.state != IMPOSSIBLE or unit not in self.units or self.state in (IDLE, FINISHED):
            return
        unit.end_thinking()
        if self.active is not None and self.state != READY:
            self.adjust()
        else:
            self.begin_again(unit)

    # --- running ------------------------------------------------------------------------------------------------------

    def start(self) -> bool:
        """Start the elected unit; on a refusal, the next best takes its place.

        Returns:
            Whether a unit is started; if not, the caller's unit is refused, or the plan is being aborted.
        """
        while True:
            active = self.active
            assert active is not None
            if active.state == READY and active.is_settled():
                self.move(STARTED)
                if active.start():
                    self.adjust()
                    return True
                if self.execution.is_aborting:
                    return False
                self.move(READY)
            # Else it withdrew, or a step of it did, and the look at that is still in the ready queue.
            best = None if self.is_bound else self.best()
            if best is None:
                self.move(THINKING)
                self.active = None
                return False
            self._elected(best)

    def run(self) -> None:
        """Run the elected unit; the owner is told when it is finished."""
        self.move(RUNNING)
        assert self.active is not None
        self.active.run()

    def unit_finished(self) -> None:
        """The elected unit ran to its end."""
        self.move(FINISHED)
        self.adjust()
        self.owner.frame_finished(self)

    def switch(self, best: Unit) -> None:
        """A better unit takes over: the old one unwinds first.

        Args:
            best: the better one, as of now.
        """
        active = self.active
        assert active is not None
        if self.planner.trace.on:
            active.note(
                Event.PREEMPT, by=best.spec.cls.__name__, utility=best.utility, against=self.boosted()
            )
        was_running = self.state == RUNNING
        self.move(SWITCHING)
        if was_running:
            self.execution.unwind(self, f"preempted by {best.spec.name}", was_running)
        else:
            # A later step of a plan that runs: nothing of it has run, so there is nobody to wait for.
            self.unwound(was_running)

    def unwound(self, was_running: bool) -> None:
        """The old unit's strands have ended: stop it, and let the best take its place."""
        active = self.active
        assert active is not None
        active.stop()
        best = self.best()
        if best is None:
            # The better one withdrew meanwhile.
            self.move(THINKING)
            self.active = None
        else:
            self._elected(best)
            if self.start():
                if was_running:
                    self.run()
                return
            if self.execution.is_aborting:
                return
        # Nothing is elected any more: who is idle thinks again, the old unit among them.
        self._begin_late([unit for unit in self.units if unit.state == IDLE])

    def stop(self) -> None:
        """Stop whatever it is doing; strands of ``run`` have ended before. It can begin again afterwards."""
        if self.state == IDLE:
            return
        self.round_open = False
        self._unprotect()
        for unit in self.units:
            if unit.state >= STARTED:
                unit.stop()
            elif unit.state != IDLE:
                unit.end_thinking()
        self.active = None
        self.move(IDLE)
        self.planner.busy_frames -= 1
        self.args = None
        self.expected = None
        if self.version != self.planner.version:
            self.learn()

    # --- protected arguments ------------------------------------------------------------------------------------------

    def _protect(self) -> None:
        """Watch the entities among the arguments."""
        for name in self.args or ():
            destroyed = getattr(self.args[name], "destroyed", None)
            if isinstance(destroyed, Signal):
                entity = self.args[name]
                if self._connections is None:
                    self._connections = []
                self._connections.append(destroyed.connect(lambda _gone, entity=entity: self.lost(entity, None)))

    def _unprotect(self) -> None:
        if self._connections is not None:
            for connection in self._connections:
                connection.close()
            self._connections = None

    def lost(self, entity: Any, only: Unit | None) -> None:
        """A protected entity was destroyed: thinking with it is over, and a plan that needs it later is aborted.

        A unit that runs is left alone: it may be the one that destroys it, and can listen itself.

        Args:
            entity: the entity.
            only: the unit that protected it, or None for an argument of the activity, which concerns all units.
        """
        name = str(getattr(entity, "name", entity))
        for unit in list(self.units):
            if only is not None and unit is not only:
                continue
            if unit.extras is not None and unit.extras.is_unprotected(entity):
                continue
            if unit.state == THINKING or unit.state == READY:
                unit.lose(name)
            elif unit.state == STARTED:
                self.execution.abort(f"the entity {name} was destroyed", unit)

    def __repr__(self) -> str:
        return f"<Frame {self.path()}: {FRAME_NAMES[self.state]}>"
