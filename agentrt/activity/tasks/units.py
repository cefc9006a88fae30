"""Groups and tasks in the plan tree of a member, and which tasks of many a member is asked about.

``GroupUnit`` is a compound of one step, whose frame (``TaskFrame``) takes its actions from the group instead of from
what the agent knows. ``TaskUnit`` is one of these actions: a compound of one step again, the activity of the task. So
thinking, electing, running and unwinding are those of compounds; what is added here is where tasks come and go, the two
remappings of utility, and the places of a task. Both are known to what they stand for while they are not idle (the
planner's ``group_places``, ``Task.units``), so that a change finds those whom it concerns; that is why both override
``move``, and why a unit without steps may set its state itself.

A group may have thousands of tasks, and a member does one. Up to ``WINDOW`` tasks are all asked, as the actions of any
activity are. Of more, only as many as can matter; who is elected is who would have been elected if all had been asked:

* A task has a *bound*: the utility that it has if the best action that the member knows for its activity is as good as
  it can be. Tasks are asked in the order of their bounds, a window at a time, and the next window only while what is
  ready is worse than the bound of what is left. So whoever is not asked could not have been elected.
* Of tasks with one bound, those that are asked are *drawn* from the agent's own stream. Equals are drawn by weight, and
  all tasks weigh the same: to draw one of those that are asked, which were drawn before, is to draw one of all. Whoever
  has fewer equals than a window holds asks them all, and draws once.
* Who waits goes on thinking and keeps nobody else from being asked; so does who rejects. A task whose places are all
  taken is not asked, until one is free.
* What was asked and is neither among the best nor waits for anything is let go of, and its utility is remembered: it is
  asked again if that becomes good enough, because what was better withdrew, say.
* One member asks so many in one tick, all members of a group together ``MOST_ASKED`` and a window each at the least,
  and goes on in the next; what is best by then is begun meanwhile, and gives way to what is better, like to any
  action that becomes ready later.

What members know that nobody has to be asked about stands in the ``OpenTasks`` of the group, one for each activity and
utility; so what a task costs when it comes, goes or gets a worker does not depend on how many there are.

Rejected: asking the oldest first. Tasks without an end would have the first few done for ever; and all members would
think about the same few, of which each but one comes too late.

Source: Stonehearth, AI: "Task group example", "Utility", "Comparing plans", "Tasks"; the bounds are ours.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Final, Protocol

from agentrt.activity.author.utility import remap
from agentrt.activity.plan.compound import ChildUtilities, CompoundUnit
from agentrt.activity.plan.tree import Frame, asides_below, call_compose_utility, take_up
from agentrt.activity.states import FINISHED, IDLE, READY, RUNNING, STARTED, SWITCHING, THINKING
from agentrt.activity.tasks.declare import GroupSpec, TaskSpec
from agentrt.kernel.trace import TraceEvent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentrt.activity.author.expected import Current
    from agentrt.activity.plan.tree import Unit
    from agentrt.activity.tasks.declare import Doable

__all__ = ["MOST_ASKED", "WINDOW", "OpenTasks", "TaskFrame", "GroupUnit", "TaskUnit"]

WINDOW: Final = 8  # how many tasks a member is asked about at first
MOST_ASKED: Final = 512  # how many all members of a group are in one tick, if that is more than a window for each
_NOTHING: Final = -1.0  # the utility of nothing, and the bound of what nobody can do
_EVERYTHING: Final = 2.0  # a bar that no bound reaches


class Tasks(Protocol):
    """A task group, as the places see it where a member considers or does what is in it."""

    known: dict[int, TaskSpec]
    lines: dict[tuple[str, float, float], OpenTasks]
    version: int
    spec: GroupSpec  # the action that it is to the member

    @property
    def specs(self) -> tuple[TaskSpec, ...]:
        """What members know of its tasks."""
        ...

    @property
    def members(self) -> tuple[Any, ...]:
        """Who considers them."""
        ...

    def is_known(self, spec: TaskSpec) -> bool:
        """Whether members know a task still."""
        ...

    def is_open(self, spec: TaskSpec) -> bool:
        """The same, and it has room for one more."""
        ...

    def line_of(self, spec: TaskSpec) -> OpenTasks:
        """Where it stands while it has room."""
        ...


class OpenTasks:
    """Tasks of one activity and utility that members know and that have room for one more worker."""

    __slots__ = ("_places", "activity", "arrivals", "high", "low", "specs")

    def __init__(self, activity: str, low: float, high: float) -> None:
        self.activity: str = activity
        self.low: float = low
        self.high: float = high
        # the tasks, in no order that means anything, and in the same one in every equal run
        self.specs: list[TaskSpec] = []
        self.arrivals: int = 0  # how often one came
        self._places: dict[TaskSpec, int] = {}

    def __contains__(self, spec: object) -> bool:
        return spec in self._places

    def add(self, spec: TaskSpec) -> bool:
        """Put one in."""
        if spec in self._places:
            return False
        self._places[spec] = len(self.specs)
        self.specs.append(spec)
        self.arrivals += 1
        return True

    def discard(self, spec: TaskSpec) -> None:
        """Take one out, if it is in; the last one takes its place."""
        place = self._places.pop(spec, None)
        if place is not None:
            last = self.specs.pop()
            if last is not spec:
                self.specs[place] = last
                self._places[last] = place


class _Pool:
    """What one member has not been asked about yet, of all tasks with one bound."""

    __slots__ = ("_left", "_seen", "bound", "is_begun", "lines")

    def __init__(self, bound: float) -> None:
        self.bound: float = bound  # what they could be worth
        self.lines: list[OpenTasks] = []  # where they stand
        self.is_begun: bool = False  # whether one was asked
        self._left: list[TaskSpec] | None = None  # counted one by one only when a second window is asked
        self._seen = 0  # how many had come by then

    def draw(self, frame: TaskFrame, count: int) -> list[TaskSpec]:
        """Some that were not asked: all, or drawn ones."""
        total = sum([len(line.specs) for line in self.lines])
        if not self.is_begun:
            self.is_begun = True
            # Only where a draw is nearly always a new one: drawing again costs more than to count, from here on.
            if total > 4 * count and total > 2 * len(frame.asked):
                return self._sample(frame, total, count)
        chosen: list[TaskSpec] = []
        while len(chosen) < count:
            left = self._fill(frame)
            if not left:
                break
            if len(left) > count - len(chosen):
                index = frame.planner.random.below(len(left))
                left[index], left[-1] = left[-1], left[index]
            spec = left.pop()
            if spec not in frame.asked and any(spec in line for line in self.lines):
                frame.asked[spec] = None
                chosen.append(spec)
        return chosen

    def _sample(self, frame: TaskFrame, total: int, count: int) -> list[TaskSpec]:
        """Drawn from many, without looking at all of them; most are new."""
        chosen: list[TaskSpec] = []
        while len(chosen) < count:
            spec = self._at(frame.planner.random.below(total))
            if spec not in frame.asked:
                frame.asked[spec] = None
                chosen.append(spec)
        return chosen

    def _at(self, index: int) -> TaskSpec:
        for line in self.lines:
            if index < len(line.specs):
                return line.specs[index]
            index -= len(line.specs)
        raise IndexError(index)

    def _fill(self, frame: TaskFrame) -> list[TaskSpec]:
        """What is left; counted anew when it is used up and more have come."""
        arrivals = sum([line.arrivals for line in self.lines])
        if self._left is None or (not self._left and self._seen != arrivals):
            self._seen = arrivals
            self._left = [spec for line in self.lines for spec in line.specs if spec not in frame.asked]
            self._left.sort(key=_number, reverse=True)  # who asks them all asks the oldest first
        return self._left

    def has_more(self, frame: TaskFrame) -> bool:
        """Whether one is left that has room."""
        left = self._fill(frame)
        while left and (left[-1] in frame.asked or not any(left[-1] in line for line in self.lines)):
            left.pop()
        return bool(left) or (self._seen != sum([line.arrivals for line in self.lines]) and bool(self._fill(frame)))


def _number(spec: TaskSpec) -> int:
    return spec.task.number


class TaskFrame(Frame):
    """The place in a member's plan where the tasks of a group compete."""

    __slots__ = (
        "_asked_now",
        "_asked_tick",
        "_is_beginning",
        "_is_due",
        "_let_go",
        "_pools",
        "_pools_of",
        "_untidy",
        "_width",
        "asked",
        "group",
        "is_choosy",
    )

    def __init__(self, unit: GroupUnit, activity: str) -> None:
        super().__init__(unit.frame.execution, unit, unit, activity, 1, is_bound=False)
        self.group: Tasks = unit.group  # whose tasks they are
        self.is_choosy: bool = False  # whether there are more tasks than all are asked
        # the tasks that were asked since it began to think, or have a unit at least; with the utility of those that it
        # let go of, None for the others
        self.asked: dict[TaskSpec, float | None] = {}
        self._let_go: list[tuple[float, int, TaskSpec]] = []  # a heap: the best first
        self._pools: list[_Pool] = []
        self._pools_of: tuple[int, int] = (-1, -1)  # what the agent knew, and how many lines there were, then
        self._width = WINDOW
        self._untidy = 2 * WINDOW  # how many units there are when it lets go of some
        self._asked_tick = 0
        self._asked_now = 0
        self._is_due = False  # whether it goes on in the next tick
        self._is_beginning = False

    # --- who performs -------------------------------------------------------------------------------------------------

    def performers(self) -> tuple[TaskSpec, ...]:
        """The tasks that are asked: all; or of many the first window, and then those that are and still are known."""
        group = self.group
        is_beginning, self._is_beginning = self._is_beginning, False
        self.is_choosy = len(group.known) > WINDOW
        if not self.is_choosy:
            return group.specs
        if is_beginning:
            if self.execution.asides:
                for unit in self.units:
                    if group.is_known(_spec(unit)) and any(asides_below(unit)):
                        self.asked[_spec(unit)] = None  # somebody who does it goes on thinking
            self._count(len(self._draw(WINDOW, _NOTHING, is_first=True)))
            return tuple(sorted(self.asked, key=_number))
        if self.state == IDLE:
            return ()
        if len(self.asked) > 2 * len(group.known) + WINDOW:  # it may think for hours, while tasks come and go
            self.asked = {spec: utility for spec, utility in self.asked.items() if group.is_known(spec)}
        kept = tuple([spec for spec in map(_spec, self.units) if group.is_known(spec)])
        for spec in kept:
            self.asked.setdefault(spec)
        return kept

    def begin(self, args: Any, expected: Current | None, *, at_once: bool = True) -> None:
        """Have the tasks think, or a window of them."""
        self.asked.clear()
        self._let_go.clear()
        self._pools_of = (-1, -1)
        self._width = WINDOW
        self._untidy = 2 * WINDOW
        self._is_due = False
        if self.is_choosy or len(self.group.known) > WINDOW:
            self.version: int = -1
            self._is_beginning = True
        super().begin(args, expected, at_once=at_once)

    # --- asking more --------------------------------------------------------------------------------------------------

    def close_answer(self) -> None:
        """An answer is in; with the last one the round is over, unless somebody who was not asked could be better."""
        while self.pending == 1 and self.round_open and self.is_choosy and not self.execution.is_unwinding(self):
            specs = self._next()
            if not specs:
                break
            self.pending: int = 2  # else the answer of one who knows it at once would end the round, inside this loop
            self._ask(specs)
            self.pending -= 1
        super().close_answer()

    def _look(self) -> None:
        if not self.round_open:
            self._is_looking = False
            if self.ask_more():
                return  # they answer first
        super()._look()

    def ask_more(self) -> bool:
        """Ask more tasks, if one of them could be better than what is ready; says whether some were asked."""
        if not self.is_choosy or self.round_open or self.execution.is_unwinding(self):
            return False
        specs = self._next()
        if specs:
            self._ask(specs)
            self.look_again()
        return bool(specs)

    def begin_late(self, units: list[Unit]) -> None:
        """Have units think outside of a round, and newcomers with them: before what is due in this tick."""
        self.look_further()
        super().begin_late(units)

    def look_further(self) -> None:
        """What there was to beat may be less, or more tasks be there: see whether more are to be asked."""
        if not self._is_due:
            self.ask_more()

    def _nobody(self) -> None:
        if self.may_ask():
            self.owner.frame_answered(self)
        else:
            super()._nobody()

    def may_ask(self) -> bool:
        """Whether more are asked in the next tick."""
        return self.is_choosy and self._is_due

    def may_change(self) -> bool:
        """Whether a task is ready or may become so, or is still to be asked."""
        return self.may_ask() or super().may_change()

    def _ask(self, specs: Sequence[TaskSpec]) -> None:
        """Have more tasks think."""
        self._tidy()
        made = [unit for spec in specs if (unit := self.planner.make_unit(self, spec)) is not None]
        self.units: list[Unit] = [*self.units, *made]
        asked: list[Unit] = []
        for unit in made:
            unit.begin(asked)

    def _next(self) -> list[TaskSpec]:
        """Whom to ask now: nobody, if that could change nothing, or there were enough in this tick."""
        bar = self._bar()
        if not self._is_wanting():
            return []
        self._count(0)
        most = max(WINDOW, MOST_ASKED // max(1, len(self.group.members)))
        count = min(self._width, most - self._asked_now)
        if count <= 0:
            if not self._is_due:
                self._is_due = True
                self.planner.kernel.call_later(1, self._go_on, self.round)
            return []
        self._width *= 2
        chosen = self._draw(count, bar)
        self._count(len(chosen))
        return chosen

    def _count(self, number: int) -> None:
        """So many more are asked in this tick."""
        tick = self.planner.kernel.clock.tick
        self._asked_now = number + (self._asked_now if tick == self._asked_tick else 0)
        self._asked_tick = tick

    def _go_on(self, number: int) -> None:
        if number == self.round and self.state != IDLE:
            self._is_due = False
            self.look_again()  # while a round is open it goes on by itself

    def _bar(self) -> float:
        """What is to be beaten."""
        state = self.state
        if state == THINKING or state == READY:
            return max([unit.utility for unit in self.units if unit.state == READY], default=_NOTHING)
        if state in (IDLE, FINISHED, SWITCHING) or self.active is None:
            return _EVERYTHING
        return self.active.utility

    def _is_wanting(self) -> bool:
        """Whether somebody who is not asked could be better than what is ready."""
        bar = self._bar()
        if bar == _EVERYTHING or not self.planner.has_places_left:
            return False
        if self._best_let_go() > bar:
            return True
        for pool in self._sorted_pools():
            if pool.bound < bar or pool.bound == _NOTHING:
                return False
            if (pool.bound > bar or self._is_tie(pool)) and pool.has_more(self):
                return True
        return False

    def _is_tie(self, pool: _Pool) -> bool:
        """Whether it may be as good as what is ready, and in the same round; a draw between them takes one window."""
        return self.state == THINKING and not pool.is_begun

    def _draw(self, count: int, bar: float, *, is_first: bool = False) -> list[TaskSpec]:
        """Up to so many that could be better, the best bounds first; what nobody knows at the first time only."""
        chosen: list[TaskSpec] = []
        for pool in self._sorted_pools():
            while len(chosen) < count and self._best_let_go() > max(bar, pool.bound):
                chosen.append(self._take_back())
            if len(chosen) == count or pool.bound < bar or (pool.bound == _NOTHING and not is_first):
                break
            if pool.bound > bar or is_first or self._is_tie(pool):
                chosen += pool.draw(self, count - len(chosen))
        while len(chosen) < count and self._best_let_go() > bar:
            chosen.append(self._take_back())
        return chosen

    def _sorted_pools(self) -> list[_Pool]:
        planner, lines = self.planner, self.group.lines
        if self._pools_of != (planner.version, len(lines)):
            self._pools_of = (planner.version, len(lines))
            pools: dict[float, _Pool] = {}
            for line in lines.values():
                bound = self._bound(line)
                pools.setdefault(bound, _Pool(bound)).lines.append(line)
            self._pools = [pools[bound] for bound in sorted(pools, reverse=True)]
        return self._pools

    def _bound(self, line: OpenTasks) -> float:
        """What a task could be worth for this member."""
        planner = self.planner
        known = (*planner.known.get(line.activity, ()), *planner.groups.get(line.activity, ()))
        tops = [spec.high for spec in known if not spec.is_filter]
        return remap(max(tops), line.low, line.high) if tops else _NOTHING

    # --- letting go ---------------------------------------------------------------------------------------------------

    def _tidy(self) -> None:
        """Let go of those that answered, for the time being, and are not among the best."""
        if len(self.units) < self._untidy:
            return
        self._untidy = max(2 * WINDOW, 2 * len(self.units))  # so each is looked at a few times, however many wait
        answered = [unit for unit in self.units if unit is not self.active and not unit.may_change()]
        ready = [unit for unit in answered if unit.state == READY and unit.is_settled()]
        ready.sort(key=_worth, reverse=True)
        bar = self._bar()
        gone = [unit for unit in ready[WINDOW:] if unit.utility < bar]
        gone += [unit for unit in answered if unit.state == THINKING][WINDOW:]
        if not gone:
            return
        for unit in gone:
            spec = _spec(unit)
            if unit.state == READY:
                self.asked[spec] = unit.utility
                heappush(self._let_go, (-unit.utility, spec.task.number, spec))
        dropped = set(gone)
        self.units = [unit for unit in self.units if unit not in dropped]
        self._untidy = max(2 * WINDOW, 2 * len(self.units))
        for unit in gone:
            unit.end_thinking()  # last: it may wake others, who are to find the books of this frame in order

    def _best_let_go(self) -> float:
        """The utility of the best of those that were let go of and can be done still."""
        heap, group = self._let_go, self.group
        while heap and not group.is_open(heap[0][2]):
            self.asked.pop(heappop(heap)[2], None)  # if it can be done again, it is asked as a new one
        return -heap[0][0] if heap else _NOTHING

    def _take_back(self) -> TaskSpec:
        spec = heappop(self._let_go)[2]
        self.asked[spec] = None
        return spec

    # --- for people ---------------------------------------------------------------------------------------------------

    def note(self, event: TraceEvent, **detail: Any) -> None:
        """Put a record into the trace; an election says how many were not asked."""
        if event is TraceEvent.ELECT and self.is_choosy:
            detail["unasked"] = self.unasked
        super().note(event, **detail)

    @property
    def unasked(self) -> int:
        """How many tasks were not asked, of those that the member knows."""
        if not self.is_choosy or self.state == IDLE:
            return 0
        return len(self.group.known) - sum([self.group.is_known(spec) for spec in self.asked])

    def why_unasked(self) -> str:
        """Why they were not, in words."""
        total = self.unasked
        if total <= 0:
            return ""
        left = {pool.bound: sum([len(line.specs) for line in pool.lines]) for pool in self._sorted_pools()}
        for spec in self.asked:
            if self.group.is_open(spec):
                left[self._bound(self.group.line_of(spec))] -= 1
        unknown = left.pop(_NOTHING, 0)
        bar = self._bar()
        better = sum([number for bound, number in left.items() if bound > bar])
        equal_or_worse = sum(left.values()) - better
        parts = [(total - unknown - better - equal_or_worse, "have no place left")]
        parts.append((unknown, "are beyond what the agent knows"))
        parts.append((better, "are asked in the next ticks" if self._is_due else "could be better"))
        parts.append((equal_or_worse, f"could not be better than {bar:g}"))
        return ", ".join(f"{number} {words}" for number, words in parts if number > 0)


def _worth(unit: Unit) -> float:
    return unit.utility


def _spec(unit: Unit) -> TaskSpec:
    spec = unit.spec
    assert isinstance(spec, TaskSpec)
    return spec


class GroupUnit(CompoundUnit):
    """A task group at one place of a member's plan."""

    __slots__ = ("_seen", "group")

    def __init__(self, frame: Frame, spec: GroupSpec, group: Tasks) -> None:
        super().__init__(frame, spec)
        self.group: Tasks = group
        self._seen = -1  # which version of the group its frame knows

    def move(self, state: int) -> None:
        """Change the state, if the table allows it."""
        was = self.state
        super().move(state)
        if was == IDLE:
            self.frame.planner.group_places().append(self)
        elif state == IDLE:
            self.frame.planner.group_places().remove(self)

    def _steps_think(self, own: Any) -> None:
        group = self.group
        if not self.frames:
            assert self.spec.steps is not None
            self.frames.append(TaskFrame(self, self.spec.steps[0].activity))
        elif self._seen != group.version:
            self.frames[0].version = -1
        self._seen = group.version
        super()._steps_think(own)

    def look_further(self) -> None:
        """A task of the group has room again: see whether to ask it."""
        if self.frames:
            self.frames[0].look_further()

    def take_up_tasks(self) -> None:
        """Tasks of the group came or went."""
        group = self.group
        if not self.frames:
            return
        frame = self.frames[0]
        self._seen = group.version
        frame.version = -1
        lost = take_up(frame)
        if lost is not None:
            self.frame.execution.replan(f"{lost.spec.name} was taken back", lost)

    def may_change(self) -> bool:
        """Whether it may become ready: also if a task is still to be asked."""
        return super().may_change() or (
            self.state in (THINKING, READY) and bool(self.frames) and self.frames[0].may_change()
        )

    def _composed(self) -> float:
        task_utility = ChildUtilities(self.frames)[1]
        spec = self.group.spec
        if spec.composes_group:
            composed = call_compose_utility(self, task_utility)
            if composed is not None:
                return composed
        # Not up to ``high``, which is 1 for a group that composes: no more than that is known of what it returns.
        return remap(task_utility, spec.low, spec.low + spec.span)


class TaskUnit(CompoundUnit):
    """A task at one place of a member's plan."""

    __slots__ = ("_is_full", "task")

    def __init__(self, frame: Frame, spec: TaskSpec) -> None:
        super().__init__(frame, spec)
        self.task: Doable = spec.task
        self._is_full = False  # whether there is no room for one more worker

    def move(self, state: int) -> None:
        """Change the state, if the table allows it."""
        was = self.state
        super().move(state)
        if was == IDLE:
            self.task.units.append(self)
        elif state == IDLE:
            self.task.units.remove(self)
        if was == READY and state != STARTED:
            self.leave_place()

    def _steps_think(self, own: Any) -> None:
        task = self.task
        if task.annotation:
            self.own_extras().progress = task.annotation
        self._is_full = not task.has_room()
        if self._is_full:
            self._answered()  # it waits for a place, and nobody waits for it
        else:
            super()._steps_think(own)

    def may_change(self) -> bool:
        """Whether it may become ready: a place may become free, or an action of its activity become ready."""
        return (self._is_full and self.state == THINKING) or super().may_change()

    def room_changed(self) -> None:
        """A worker of the task came or went."""
        task = self.task
        if (self.state != THINKING and self.state != READY) or self in task.working:
            return
        has_room = task.has_room()
        if self._is_full and has_room:
            self.end_thinking()
            self.frame.begin_late([self])
        elif not self._is_full and not has_room:
            self._wait_for_room()

    def _wait_for_room(self) -> None:
        self._is_full = True
        self._stop_steps(1)
        if self.state == READY:
            self.withdraw(THINKING)
        if self.frame.planner.trace.on:
            self.note(TraceEvent.FULL)
        self._answered()

    def start(self) -> bool:
        """Take a place, and start the activity; if there is no place left, it waits for one."""
        return self.take_place() and super().start()

    def take_place(self) -> bool:
        """Take a place among the workers; if there is none, it waits for one."""
        task = self.task
        if self in task.working or task.take(self):
            return True
        self._wait_for_room()
        return False

    def leave_place(self) -> None:
        """It was not started after all."""
        self.task.leave(self, is_interrupted=False)

    def finish(self) -> None:
        """It is done."""
        self.task.finish(self)
        super().finish()

    def stop(self, state: int = IDLE) -> None:
        """Stop it; if it was not done, it is interrupted."""
        was_working = self.state in (STARTED, RUNNING)
        super().stop(state)
        if self.state != FINISHED:  # else ``finish`` has given the place back
            self.task.leave(self, is_interrupted=was_working and state == IDLE)

    def _composed(self) -> float:
        return remap(ChildUtilities(self.frames)[1], self.spec.low, self.spec.high)
