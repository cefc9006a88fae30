"""A compound unit: an action whose run is a list of frames.

It thinks first; its own output is element 0 of ``results``. Then its steps think in order, each with its placeholders
bound to the results before it; when the last is ready, the compound is. A step whose output changes has the steps
after it think again; a step that withdraws takes them back.

``start`` is its own, then the steps' in order; ``run`` is the steps'; ``stop`` is the steps' in order, its own last.
Its output, the expected state after it and its utility are made of its steps, as placeholders, layers of CURRENT and
``compose_utility`` say.

When all actions of a step reject their arguments, somebody may have others (the first part of this module); else the
compound thinks again from its own beginning, after a delay. A step can also lose its action while the compound runs,
when a better one was to take over and then could not. The step thinks again where it stands, and goes on when an action
is ready; with nothing to wait for, the plan is aborted.

From step to step it goes in a loop and not by recursion (``_is_stepping``): a plan of sixty steps that answer at once
would else be sixty frames of Python deep for each level of nesting. It calls what it extends by name
(``Unit.stop_think(self)``): ``super()`` would make an object for each call.

Source: Stonehearth, AI: "Compound action example", "Step declarations"; `reject`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from agentrt.activity.author.answering import FRESH, NO_NEWS, moved
from agentrt.activity.author.arguments import Fields, ThinkOutput, take
from agentrt.activity.author.context import offer_next
from agentrt.activity.author.control import composed, ends_thinking
from agentrt.activity.author.seat import ChildUtilities
from agentrt.activity.author.steps import ARGUMENTS
from agentrt.activity.backoff import Backoff
from agentrt.activity.plan.tree import (
    Frame,
    Unit,
    call_start,
    keep_place,
    limit,
    line_up,
    refuse,
    restore_place,
    unit_expired,
)
from agentrt.activity.states import FINISHED, IDLE, IMPOSSIBLE, READY, RUNNING, STARTED, THINKING
from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.trace import TraceEvent
from agentrt.native import mypyc_attr

if TYPE_CHECKING:
    from agentrt.activity.author.answering import Declared
    from agentrt.activity.author.expected import Current
    from agentrt.kernel.kernel import Timer


MOST_CHOICES: Final = 64
"""How many other choices one compound asks for in one tick."""

OUTSIDE: Final = ARGUMENTS - 1
"""Stands for the compound around among those who are to blame."""


class Search:
    """What a compound remembers of the rejections in it. Made with the first one."""

    __slots__ = ("_asked", "_step", "_tick", "_timer", "blame")

    def __init__(self) -> None:
        # for each element that was asked: who else had a part in the rejection of its choices
        self.blame: dict[int, set[int]] = {}
        self._tick = 0
        self._asked = 0  # how many other choices were asked for in that tick
        self._timer: Timer | None = None
        self._step = 0  # which step's rejection waits for the next tick

    @property
    def is_waiting(self) -> bool:
        return self._timer is not None

    def forget(self, number: int) -> None:
        """Elements think from the beginning: what became of their choices before does not count."""
        for element in [element for element in self.blame if element >= number]:
            del self.blame[element]
        if self._step >= number:
            self._stop_waiting()

    def cancel(self) -> None:
        self.blame.clear()
        self._stop_waiting()

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def may_ask(self, tick: int) -> bool:
        """Whether one more choice may be asked for in a tick; counts it."""
        if tick != self._tick:
            self._tick = tick
            self._asked = 0
        self._asked += 1
        return self._asked <= MOST_CHOICES

    def put_off(self, unit: CompoundUnit, frame: Frame) -> None:
        if self._timer is not None:
            return
        if unit.frame.planner.trace.on:
            unit.note(TraceEvent.STORM, step=frame.activity, reason="too many choices in one tick")
        self._step = frame.index
        self._timer = unit.frame.planner.kernel.call_later(1, self._go_on, unit, frame)

    def _go_on(self, unit: CompoundUnit, frame: Frame) -> None:
        self._timer = None
        if unit.state == THINKING and frame.active is None and not frame.may_change():
            unit.frame_rejected(frame)


def choose_again(unit: CompoundUnit, frame: Frame) -> bool:
    """All actions of a step rejected their arguments: whether somebody has other ones, or the search goes on."""
    steps = unit.spec.steps
    assert steps is not None
    reads = steps[frame.index - 1].reads
    search = unit.search
    if search is None:
        if not reads:
            return False
        search = unit.search = Search()
    conflict = set(reads)
    conflict |= search.blame.pop(frame.index, conflict)
    if not conflict:
        return False
    if not search.may_ask(frame.planner.clock.tick):
        search.put_off(unit, frame)
        return True
    reason = _reason(frame)
    left = _ask(unit, search, conflict, frame.activity, reason)
    if left is None:
        return True
    if OUTSIDE in left:
        unit.reject(f"what it gave was rejected, and it has nothing else: {reason}")
        return True
    return ARGUMENTS in left and _ask_outside(unit)


def _reason(frame: Frame) -> str:
    """What the actions of a step said, each word once."""
    told = dict.fromkeys(filter(None, [unit.rejection for unit in frame.units]))
    return "; ".join(told) or f"{frame.activity} is not possible with that"


def _ask(unit: CompoundUnit, search: Search, conflict: set[int], step: str, reason: str) -> set[int] | None:
    """Ask who is to blame, the nearest first; None if one has something else or is out, else which marks are left."""
    steps = unit.spec.steps
    assert steps is not None
    while True:
        number = max(conflict, default=OUTSIDE)
        if number < 0:
            return conflict
        conflict.discard(number)
        # If it has something else now, but runs out of choices later, these may have been the reason.
        search.blame.setdefault(number, set()).update(conflict)
        if number:
            frame = unit.frames[number - 1]
            if frame.state != READY or frame.active is None or _has_other(frame.active, step, reason):
                return None
            conflict |= set(steps[number - 1].reads)
        else:
            if _offers(unit, step, reason):
                return None
            conflict.add(ARGUMENTS)
        conflict |= search.blame.pop(number)


def _has_other(unit: Unit, step: str, reason: str) -> bool:
    """Whether the elected action of a step gives something else than what was rejected, or is out now."""
    if unit.state != READY or unit.news is FRESH or not unit.is_settled():
        return True  # it is changing at this moment, and will be asked again if that does not help
    if not isinstance(unit, CompoundUnit):
        return _offers(unit, step, reason)
    # Of a compound those are asked of whose outputs its own is made, and its own action.
    if unit.search is None:
        unit.search = Search()
    conflict = {*unit.spec.output_reads, 0, OUTSIDE}
    has_other = _ask(unit, unit.search, conflict, step, reason) is None
    return has_other or unit.state != READY or not unit.is_settled()


def _offers(unit: Unit, step: str, reason: str) -> bool:
    """Ask one action, its hook and then its candidates; whether its output is another one now, or it is out."""
    spec, extras = unit.spec, unit.extras
    choices = None if extras is None else extras.candidates
    if not spec.has_on_reject and choices is None:
        return False
    if unit.frame.planner.trace.on:
        unit.note(TraceEvent.RECONSIDER, step=step, reason=reason)
    if spec.has_on_reject:
        before = unit.state
        context = unit.context or unit.make_context()
        if (
            ends_thinking(unit, "on_reject", unit.action.on_reject, context, unit.frame.args, reason)
            or unit.state != before
        ):
            return True
        if unit.is_due if isinstance(unit, CompoundUnit) else unit.news is FRESH:
            return True  # its author set an output that nobody has looked at yet
    if extras is None or extras.candidates is None:
        return False
    if offer_next(unit, extras.candidates):
        return True
    if spec.steps is None:
        unit.reject(f"no candidate is left: {reason}")
        return True
    return False  # a compound thinks again, after a delay, and so offers them all again


def _ask_outside(unit: CompoundUnit) -> bool:
    """Nobody inside can help, and the compound's own arguments are to blame: those come from the compound around."""
    frame = unit.frame
    if any(other is not unit and other.state != IMPOSSIBLE for other in frame.units):
        return False  # another action may do it with these arguments
    outer = frame.parent
    if not frame.index or not isinstance(outer, CompoundUnit) or outer.state != THINKING:
        return False  # it is no step of a compound
    if not choose_again(outer, frame):
        return False
    if outer.search is not None and outer.search.is_waiting:
        outer.frame_answered(frame)
    return True


def think_again(unit: CompoundUnit) -> None:
    """Have a compound think again from its beginning, if it thinks still."""
    if unit.state != THINKING:
        return
    backoff, extras = unit.backoff, unit.extras
    assert backoff is not None
    delay = backoff.delay
    timeout = None
    if extras is not None and extras.timeouts is not None:
        timeout = extras.timeouts.pop(0, None)  # it goes on: there is no more time than before
    place = keep_place(unit)
    unit.end_thinking()
    restore_place(unit, place)
    if extras is not None and timeout is not None:
        extras.timeouts = {0: timeout}
    backoff.delay = delay  # before it begins, since it may be rejected in the very call
    unit.frame.begin_late([unit])


def _step_expired(unit: CompoundUnit, frame: Frame, seconds: float) -> None:
    if unit.state == THINKING and frame.state == THINKING:
        if frame.planner.trace.on:
            frame.note(TraceEvent.TIMEOUT, seconds=seconds)
        frame.stop()
        unit.frame_rejected(frame)


@mypyc_attr(allow_interpreted_subclasses=True)
class CompoundUnit(Unit):
    """A compound action at one place of a plan."""

    __slots__ = (
        "_answered_last", "_is_bound_to_current", "_is_open", "_is_stepping", "backoff", "frames", "is_due",
        "own_output", "results", "search", "self_utility", "step",
    )  # fmt: skip

    def __init__(self, frame: Frame, spec: Declared) -> None:
        super().__init__(frame, spec)
        self.frames: list[Frame] = []  # its steps; made when they first think
        self.results: list[Any] = []  # think outputs: its own, then the steps'
        self.step: int = 0  # the number of the step that runs, from 1; 0 before
        self.self_utility: float = spec.low  # what ``ctx.set_utility`` made of it
        self.own_output: Any = None  # what its own think gave; None while it has not
        self._answered_last: int = 0  # which of ``results`` came last; those behind it are as new, since bound to it
        self._is_bound_to_current = False  # whether a step was given something of CURRENT
        self._is_open = False  # whether the round of its frame waits for its answer
        # whether the steps are to think with a new output of its own, when the ready queue comes to it
        self.is_due: bool = False
        self.search: Search | None = None  # what is remembered of rejections; None while there was none
        self._is_stepping = False  # whether a loop below goes from step to step
        self.backoff: Backoff | None = None  # how long it waits before it thinks again; None while it never had to

    @property
    def waits_again(self) -> bool:
        """Whether it thinks again after a delay that has begun."""
        return self.backoff is not None and self.backoff.is_waiting

    def children(self) -> Iterable[Frame]:
        return self.frames if self.extras is None else (*self.frames, *self.extras.frames())

    def running_child(self) -> Frame | None:
        return self.frames[self.step - 1] if self.step else None

    # --- the scope of placeholders ------------------------------------------------------------------------------------

    def _expected_here(self) -> Current | None:
        """The expected state before the step that is being bound; None while nobody touched it."""
        done = len(self.results) - 1
        active = self.frames[done - 1].active if done else None
        if active is not None:
            return active.expected()
        return self.current if self.current is not None else self.frame.expected

    def current_here(self) -> Current:
        self._is_bound_to_current = True
        return self.frame.planner.layer(self._expected_here())

    def expected(self) -> Current | None:
        for frame in reversed(self.frames):
            if frame.active is not None:
                return frame.active.expected()
        return Unit.expected(self)

    # --- thinking -----------------------------------------------------------------------------------------------------

    def begin(self, asked: list[Unit]) -> None:
        """Start thinking: its own hook first, if it has one."""
        self.self_utility = self.spec.low
        self.step = 0
        self.results = []
        self.news: object = NO_NEWS
        self._is_bound_to_current = False
        if self.spec.has_think:
            Unit.begin(self, asked)
            return
        self.utility = self.spec.low
        self.since: int = self.frame.planner.clock.tick
        self.current: Current | None = None
        self.move(THINKING)
        if self.frame.planner.trace.on:
            self.tell(TraceEvent.THINK)
        if self.spec.think_timeout is not None:
            limit(self, 0, self.spec.think_timeout, unit_expired, self)
        self._is_open = self.frame.open_answer()
        self._steps_think(self.frame.args)

    def set_output(self, output: object) -> None:
        """Its own think has an output: the steps think. Called on the author's stack."""
        if not self._is_open and self.own_output is None:
            self._is_open = self.frame.open_answer()
        if type(output) is dict:
            assert self.spec.output_type is not None
            output = take(self.spec.output_type, output)
        self.own_output = self.frame.args if output is None else output
        if not self.is_due:
            self.is_due = True
            planner = self.frame.planner
            if planner.inline.owner is not self or planner.inline.coro is None:  # else its round calls it, behind all
                planner.kernel.call_soon(self.own_ready)

    def own_ready(self) -> None:
        """Have the steps think with a new output of its own, if there is one; not on the author's stack."""
        if not self.is_due:
            return
        self.is_due = False
        if self.own_output is None or self.state not in (THINKING, READY):
            return
        if self.state == READY:
            self.withdraw(THINKING)
        self._steps_think(self.own_output)

    def clear_output(self) -> None:
        self.own_output = None
        self._stop_steps(1)
        super().clear_output()
        self._answered()

    def is_settled(self) -> bool:
        """Whether no step of it, which is ready, has changed since it became so."""
        if self.is_due:
            return False
        if not self.frame.planner.looks:
            return True  # a step that changes is looked at when the ready queue comes to that: there is none
        for frame in self.frames:
            unit = frame.active
            if unit is None or unit.state != READY or unit.news is FRESH or (unit.spec.steps and not unit.is_settled()):
                return False
        return True

    def may_change(self) -> bool:
        """Whether its own thinking goes on, or that of an action of a step."""
        if self.state != THINKING and self.state != READY:
            return False
        if self.is_due or self.waits_again or (self.search is not None and self.search.is_waiting):
            return True
        frames = [frame for frame in self.frames if frame.state != IDLE]
        return Unit.may_change(self) or any(unit.may_change() for frame in frames for unit in frame.units)

    def only_waits(self) -> bool:
        """As of any action, before a step was asked."""
        return not self.results and Unit.only_waits(self)

    def is_news_of(self, step: int) -> bool:
        """Whether it is ready by an answer of that step, or of one before it, at which nobody has looked yet."""
        return self._answered_last <= step and self.is_news()

    def is_own_news(self) -> bool:
        """As of any action, if it has a think: its steps were asked since then, and are as new."""
        return self.spec.has_think and self._answered_last == 0 and self.is_news()

    def asks_current(self) -> bool:
        if self.current is not None or self._is_bound_to_current:
            return True
        return any(frame.active is not None and frame.active.asks_current() for frame in self.frames)

    def round_is_over(self) -> None:
        self._is_open = False

    def _steps_think(self, own: Any) -> None:
        if self.results:
            self._stop_steps(1)
        self.results = [own]
        self._answered_last = 0
        self._think(1)

    def _think(self, number: int) -> None:
        """Have a step think, and those after it as long as they answer at once; the results before it are in."""
        steps = self.spec.steps
        assert steps is not None
        results, frames = self.results, self.frames
        active: Unit | None = None  # of the step before; None for the first that thinks here
        while number <= len(steps):
            step = steps[number - 1]
            if len(frames) < number:
                frames.append(Frame(self.frame.execution, self, self, step.activity, number, is_bound=step.is_used))
            frame = frames[number - 1]
            self._is_stepping = True
            try:
                frame.begin(step.bind(self), self._expected_here() if active is None else active.expected())
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self.disable(f"step {number} ({step.activity})", error)
                return
            finally:
                self._is_stepping = False
            if self.results is not results:
                return  # what a step's think did had it begin from the beginning
            if frame.state != READY or self.state not in (THINKING, READY):
                if step.think_timeout is not None and frame.state == THINKING:
                    limit(self, number, step.think_timeout, _step_expired, self, frame)
                return
            active = frame.active
            assert active is not None
            if len(results) == number:
                results.append(active.given())
            else:
                results[number:] = [active.given()]
            number += 1
        self._all_ready()

    def _stop_steps(self, number: int) -> None:
        """Take back the thinking of a step and those after it."""
        del self.results[number:]
        if self.search is not None:
            self.search.forget(number)
        if self.extras is not None and self.extras.timeouts:
            timeouts = self.extras.timeouts
            for step in [step for step in timeouts if step >= number]:
                timeouts.pop(step).cancel()
        for frame in self.frames[number - 1 :]:
            if frame.state != IDLE:
                frame.stop()

    def _all_ready(self) -> None:
        if self.backoff is not None:
            self.backoff.reset()
        declared = self.spec.output
        try:  # placeholders call what authors wrote
            if declared is None:
                output: Fields = self.frame.args
            else:
                values = {name: value if bind is None else bind(self) for name, bind, value in declared}
                kind = self.spec.gives
                output = ThinkOutput.open(values) if kind is None else kind.build(self.spec.output_label, values)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.disable("output", error)
            return
        if self.spec.composes:
            self.utility: float = self._composed()
        self.output = output
        self.news = FRESH
        if self.extras is not None:
            self.extras.cuts = 0
        if self.state == THINKING:
            self.move(READY)
        frame = self.frame
        if frame.planner.trace.on:
            self.tell(TraceEvent.READY, (("utility", self.utility),))
        if not frame.round_open:
            frame.look_again()
        if self._is_open:
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
        if self.results:
            self._stop_steps(1)
        self.own_output = None
        self._cancel_retries()

    def _cancel_retries(self) -> None:
        if self.backoff is not None:
            self.backoff.cancel()
            self.backoff.reset()
        if self.search is not None:
            self.search.cancel()

    def think_ended(self, error: BaseException | None) -> None:
        if error is None and self.own_output is not None:
            return  # its own answer stands; the steps may still think
        Unit.think_ended(self, error)

    def turn_has_come(self) -> None:
        """It waited in line for a lease: think again, if it only waits for that."""
        if self.state == THINKING and self.waits_again:
            think_again(self)
        else:
            super().turn_has_come()

    # --- what its frames tell -----------------------------------------------------------------------------------------

    def frame_ready(self, frame: Frame) -> None:
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
        self.results[number:] = [frame.active.given()]
        self._answered_last = number
        self._think(number + 1)

    def frame_unready(self, frame: Frame) -> None:
        if self.state in (THINKING, READY):
            self._stop_steps(frame.index + 1)
            del self.results[frame.index :]
            if self.state == READY:
                self.withdraw(THINKING)

    def frame_answered(self, frame: Frame) -> None:
        if self._is_open:
            self._answered()
        elif self.state == THINKING:
            self.frame.look_again()
        elif self.state >= STARTED and not frame.may_change():
            self.frame.execution.abort(f"no action can perform step {frame.index} ({frame.activity}) any more", self)

    def frame_rejected(self, frame: Frame) -> None:
        """All actions of a step rejected their arguments: ask for others, or think again, a little later."""
        if self.state == THINKING and not self.waits_again:
            if choose_again(self, frame):
                if self.search is not None and self.search.is_waiting:
                    self.frame_answered(frame)
                return
            planner, backoff = self.frame.planner, self.backoff
            if backoff is None:
                backoff = self.backoff = Backoff()
            if planner.trace.on and backoff.is_storm:
                self.note(TraceEvent.STORM, step=frame.activity, delay=backoff.delay)
            for unit in frame.units:
                if unit.extras is not None and unit.extras.refusal is not None:
                    line_up(self, unit.extras.refusal)
                    break
            backoff.wait(planner.kernel, think_again, self)
        self.frame_answered(frame)

    def frame_utility(self, frame: Frame) -> None:
        self._compose()

    def frame_finished(self, frame: Frame) -> None:
        if self._is_stepping or self.frame.execution.is_aborting:
            return
        if self.step == len(self.frames):
            self.finish()
        else:
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

    def retune(self, spec: Declared) -> float:
        before = self.spec
        self.spec: Declared = spec
        return moved(self.self_utility, before, spec)

    def set_utility(self, utility: float) -> None:
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
        own = composed(self, self.action, self.self_utility, ChildUtilities(self.frames), current)
        return self.self_utility if own is None else own

    # --- running ------------------------------------------------------------------------------------------------------

    def start(self) -> bool:
        """Its own start, then the steps' in order, then it stops thinking."""
        self.move(STARTED)
        if self.frame.planner.trace.on:
            self.tell(TraceEvent.START)
        self._cancel_retries()  # it is elected: what it waited for, or was to search for, is of the thinking before
        if self.spec.has_start and not call_start(self):
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
        self.move(RUNNING)
        planner = self.frame.planner
        self.since = planner.clock.tick
        if planner.trace.on:
            self.tell(TraceEvent.RUN)
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
