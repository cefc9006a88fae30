"""The walk: one tick of a tree in full, from wherever something changes.

Most ticks change nothing: the path goes on, nobody of higher priority accepts. ``memory`` does those by itself, and
calls for a walk when somebody accepts, fails, or has yet to choose. A walk is a loop of three steps:

    VISIT   a decider on the path: its behavior ticks; a behavior decider is the end of the walk
    DECIDE  a group: somebody takes over, or the active child is visited, or (nobody) the group fails
    FAIL    a decider: it is masked in its group for this tick, and the group redecides; nobody: the group fails

Rules:

* Nothing is deactivated before somebody accepts. While a group redecides, what failed is still in place.
* ROOT has nowhere to fail to: when nobody accepts it stays, without a child, and begins anew in the next tick. It ends
  only when its own behavior or its own Decide fails it.
* Masks last for the tick, and for as long as the group is active.
* Who was activated is ticked in the same tick, so that a tick ends with a behavior that ticked or with nobody left to
  ask.
* The guard is against circles that masks do not break (references that lead to each other): it counts how often one and
  the same place of the tree fails in a walk. A place is a way down from ROOT, so that a decider that stands in many
  groups is at many places, and a long list, each of whose members fails once, is no circle. A shared group can be
  reached in exponentially many ways; so all failures together are bounded as well, by the size of the tree.
* An author who declares ``max_redecides`` has all failures of a tick counted instead, whichever they are.

A coroutine that cleans up interrupts a walk; it is gone on with when the clean-up ends in the same tick, and dropped
otherwise.

Source: seed 002, "S01: Overview"; "S04: How Deciders Decide"; "S05: Subset Rule"; "S08: Behaviors".

Coroutines of behaviors: which of an activation's there are, and what their ends mean.

Each is a strand of its own. They end between ticks of the tree, in the strands' phase; the tree looks at the outcome
when it comes by in its next tick:

    activate  until it ends, the activation is ACTIVATING: its children and its tick wait. False or an error: FAILED.
              Else it is ACTIVE, and ``run`` begins at once.
    run       when it ends, the behavior has ended: the decider fails.
    tick      one at a time; while it lasts, no further one begins. False or an error: the decider fails.
    deactivate  the path waits for it, see ``unwinding``.

An error disables the decider, as one in a plain function does.

Source: seed 002, "S08: Behaviors"; design section 5 ("A behavior may be one coroutine").

Taking deciders down: the part of the path that ends, from the behavior upward.

Of each activation, in this order: its coroutines are cancelled and clean up; then ``deactivate`` is called, if its
``activate`` did not fail; then its block is disposed of, its control flags are given back, and it is gone. Only then is
it the turn of the one above.

Plain functions are done on the spot. A coroutine that cleans up takes a step of its own in the strands' phase, or
several; the path waits for it, and whoever is to be activated waits with it. That is why unwinding is an object that
can be left and gone on with.

Source: seed 002, "S01: Overview" (the walk-through); "S07: Memory & Blocks"; design section 2, cancellation.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any

from agentrt.behavior.activation import Activation, Stage
from agentrt.behavior.decide import Round, attempt, call_decide, hand_back, release, secure
from agentrt.behavior.declare import behavior_name
from agentrt.body.driver import Routine, called, note, tick_of
from agentrt.errors import ENDS_PROGRAM, RedecideLoopError
from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from agentrt.behavior.decide import Choice, Newcomer
    from agentrt.behavior.memory import Memory

__all__ = ["Work", "failed", "look_after", "start", "Unwinding", "Step", "Walk"]


class Work:
    """The coroutines of one activation."""

    __slots__ = ("has_failed", "is_due", "newcomers", "routines")

    def __init__(self) -> None:
        self.routines: list[Routine] = []  # those that have not ended, in the order in which they began
        self.has_failed: bool = False  # whether the decider fails when the tree comes by
        self.is_due: bool = False  # while it is ending: whether ``deactivate`` has yet to be called
        # whom to activate below when ``activate`` has ended, because they were chosen together with it
        self.newcomers: list[Newcomer] = []


def failed(answer: object) -> bool:
    """Whether an answer of a hook fails the decider: it is false, and not None."""
    return answer is not True and answer is not None and not answer


def work_of(at: Activation) -> Work:
    """The coroutines of an activation."""
    extra = at.more()
    if extra.work is None:
        extra.work = Work()
    return extra.work


def start(at: Activation, hook: str, fn: Callable[[Any], Any]) -> None:
    """Begin a coroutine."""
    work = work_of(at)
    memory = at.memory

    def ended(routine: Routine) -> None:
        work.routines.remove(routine)
        memory.rare.routines.remove(routine)
        if at.stage is Stage.ENDING:
            if routine.error is not None:
                memory.disable(at.node, at.path, routine.hook)
            elif hook == "activate" and _went_well(routine):
                work.is_due = True  # it came to its end although it was cancelled: what it set up is to be undone
            memory.proceed()
        else:
            _outcome(at, work, routine)

    routine = Routine(memory.require_body(), at.path, hook, fn(at), ended)
    work.routines.append(routine)
    memory.rare.routines.append(routine)


def _went_well(routine: Routine) -> bool:
    return routine.strand.error is None and not failed(routine.value)


def _outcome(at: Activation, work: Work, routine: Routine) -> None:
    hook = routine.hook
    if routine.error is not None:
        at.memory.disable(at.node, at.path, hook)
    is_bad = not _went_well(routine)
    if hook == "activate":
        at.stage = Stage.FAILED if is_bad else Stage.ACTIVE
        if not is_bad and at.node.run is not None:
            start(at, "run", at.node.run)
    if is_bad or hook == "run":
        work.has_failed = True


def look_after(at: Activation) -> Any:
    """What a tick does for a behavior with coroutines.

    Returns:
        Something false, other than None, if the decider fails.
    """
    if at.stage is Stage.ACTIVATING:
        return True
    work = work_of(at)
    if work.has_failed:
        return False
    node = at.node
    if node.tick is None:
        return True
    if "tick" not in node.is_async:
        return node.tick(at)
    if not any(routine.hook == "tick" for routine in work.routines):
        start(at, "tick", node.tick)
    return True


class Unwinding:
    """Activations that end."""

    __slots__ = ("left", "reason", "then")

    def __init__(self, path: list[Activation], reason: str) -> None:
        self.left: list[Activation] = path  # those that have not ended, the next one last
        self.reason: str = reason
        self.then: Callable[[], object] | None = None  # what to do when the last one has ended; None for nothing

    def proceed(self) -> bool:
        """Go on.

        Returns:
            Whether all have ended; otherwise a coroutine is to end first.
        """
        while self.left:
            if not self._end(self.left[-1]):
                return False
            self.left.pop()
        return True

    def _end(self, at: Activation) -> bool:
        work = at.work
        if work is None and at.stage is not Stage.ENDING:  # the steady case
            is_due = at.stage is Stage.ACTIVE
            self._begin(at)
            if is_due and at.node.deactivate is not None and not self._deactivate(at):
                return False
        elif not self._end_coroutines(at):
            return False
        self._dispose(at)
        return True

    @staticmethod
    def _begin(at: Activation) -> None:
        at.stage = Stage.ENDING
        log = at.memory.log
        if log is not None and at.node.behavior is not None:
            log.deactivating(at)

    def _end_coroutines(self, at: Activation) -> bool:
        work = work_of(at)
        if at.stage is not Stage.ENDING:
            work.is_due = at.stage is Stage.ACTIVE
            self._begin(at)
            for routine in tuple(work.routines):
                routine.stop(self.reason)
            for one in work.newcomers:
                release(one.at)
        if work.routines:
            return False
        if work.is_due:
            work.is_due = False
            if not self._deactivate(at):
                return False
        return True

    def _deactivate(self, at: Activation) -> bool:
        """Call the hook."""
        node = at.node
        hook = node.deactivate
        if hook is None:
            return True
        try:
            if "deactivate" in node.is_async:
                start(at, "deactivate", hook)
                return False
            hook(at)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            at.memory.fault(node, at.path, "deactivate", error)
        return True

    def _dispose(self, at: Activation) -> None:
        memory = at.memory
        dispose = getattr(at.block, "dispose", None)
        if dispose is not None:
            try:
                dispose()
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                memory.fault(at.node, at.path, "dispose", error)
        if at.extra is not None:
            at.extra.block = at.extra.dblock = None
        at.stage = Stage.ENDED
        release(at)
        note(
            memory.require_body(),
            at.path,
            Event.DEACTIVATE,
            (("behavior", behavior_name(at.node.behavior)), ("reason", self.reason)),
        )


class Step(Enum):
    """What a walk does next."""

    VISIT = "visit"
    DECIDE = "decide"
    FAIL = "fail"


MOST_REPEATED = 100
"""How often a decider may fail at one place in one tick. A circle comes by at least once in each round."""

Next = tuple[Activation | None, Step]
_OVER: Next = (None, Step.VISIT)


class Walk:
    """One walk."""

    __slots__ = (
        "_counts",
        "_log",
        "_memory",
        "_places",
        "_redecides",
        "_repeated",
        "base",
        "is_busy",
        "masked",
        "newcomers",
        "tick",
    )

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._log = memory.log
        self._redecides = 0  # failures, wherever
        self._counts: dict[int, int] = {}  # of groups, by their numbers: whom to name
        self._repeated: dict[int, int] = {}  # of places
        self._places: dict[tuple[int, int], int] = {}  # the place above and a decider -> the place
        self.is_busy: bool = False  # whether a behavior ticked, or a coroutine is at work
        self.masked: list[Activation] = []  # the groups that have a mask
        self.newcomers: list[Newcomer] = []  # those who were chosen together and are yet to be activated
        self.base: Activation | None = None  # whose child the next newcomer becomes
        self.tick: int = tick_of(memory.require_body())  # the tick of the kernel in which the walk began

    def from_root(self) -> None:
        """Walk the whole path."""
        memory = self._memory
        root = memory.root
        if root is not None:
            self.go(root, Step.VISIT)
            return
        choice = attempt(memory, None, 0, memory.nodes[0], self._log)
        if choice is not None:
            self.take(choice)

    def take(self, choice: Choice, asker: Activation | None = None) -> None:
        """Activate who was chosen, and go on from there.

        Args:
            choice: who; their control flags are taken.
            asker: the group that chose; None for ROOT.
        """
        self.go(*self._switch(choice, asker, "interrupted"))

    def after(self, at: Activation, index: int) -> None:
        """Go on in a group, with the children of higher priority that have not been asked.

        Args:
            at: the group; one of its children is active.
            index: the first that has not been asked.
        """
        choice = Round(self._memory, at, self._log).interrupting(index)
        if choice is not None:
            self.take(choice, at)
        else:
            self.go(at.child, Step.VISIT)

    def go(self, at: Activation | None, step: Step) -> None:
        """Walk."""
        while at is not None:
            if step is Step.VISIT:
                at, step = self._visit(at)
            elif step is Step.DECIDE:
                at, step = self._decide(at)
            else:
                at, step = self._fail(at)

    def resume(self) -> None:
        """The clean-up that interrupted the walk has ended: activate who was chosen."""
        self.go(*self._enter())

    # --- visiting -----------------------------------------------------------------------------------------------------

    def _visit(self, at: Activation) -> Next:
        log = self._log
        if log is not None:
            log.visiting(at)
        return self._beat(at)

    def _beat(self, at: Activation) -> Next:
        """Tick its behavior."""
        beat = at.node.beat
        if beat is not None:
            if self._log is not None:
                self._log.ticking(at)
            try:
                is_over = failed(beat(at))
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self._memory.fault(at.node, at.path, "tick", error)
                is_over = True
            if is_over:
                return at, Step.FAIL
        return at, Step.DECIDE

    def _decide(self, at: Activation) -> Next:
        if at.stage is Stage.ACTIVATING:
            if self.newcomers:
                self._leave_to(at)
            self.is_busy = True
            return _OVER
        if not at.node.children:
            self.is_busy = True
            if self._log is not None:
                self._log.current(at)
            return _OVER
        work = at.work
        if work is not None and work.newcomers:
            self.base, self.newcomers, work.newcomers = at, work.newcomers, []
        if self.newcomers:
            return self._enter()
        if at.child is not None:
            return self._continue(at, at.child)
        if at.index >= 0:
            return self._redecide(at, at.index, "failed before")
        return self._begin(at)

    def _continue(self, at: Activation, child: Activation) -> Next:
        choice = Round(self._memory, at, self._log).interrupting()
        if self._log is not None:
            self._log.returned(at, choice)
        if choice is not None:
            return self._switch(choice, at, "interrupted")
        if self._log is not None:
            self._log.continuing(at)
        return child, Step.VISIT

    def _begin(self, at: Activation) -> Next:
        choice = Round(self._memory, at, self._log).choose(-1)
        if self._log is not None:
            self._log.returned(at, choice)
        if choice is not None:
            return self._switch(choice, at, "interrupted")
        return _OVER if at.parent is None else (at, Step.FAIL)

    # --- failing ------------------------------------------------------------------------------------------------------

    def _fail(self, at: Activation) -> Next:
        self.drop()
        parent = at.parent
        if self._log is not None:
            self._log.failing(at)
        if parent is None:
            self._take_down(None, "failed")
            return _OVER
        if at.node.children:
            self._counts[at.node.number] = self._counts.get(at.node.number, 0) + 1
        self._redecides += 1
        bound = self._passed_bound(at)
        if bound:
            self._give_up(parent, bound)
        return self._redecide(parent, parent.index, "failed")

    def _passed_bound(self, at: Activation) -> str:
        """The bound beyond which this failure is, in words; empty if it is within all of them."""
        tree = self._memory.tree
        most = tree.max_redecides
        if most is not None:
            return f"max_redecides={most}" if self._redecides > most else ""
        place = -1
        for one in reversed(list(at.upward())):
            place = self._places.setdefault((place, one.node.number), len(self._places))
        count = self._repeated[place] = self._repeated.get(place, 0) + 1
        if count > MOST_REPEATED:
            return f"{at.path} failed more than {MOST_REPEATED} times"
        if self._redecides > MOST_REPEATED * len(tree.nodes):
            return f"more than {MOST_REPEATED} for each of its {len(tree.nodes)} deciders"
        return ""

    def _redecide(self, at: Activation, index: int, reason: str) -> Next:
        memory = self._memory
        choice: Choice | None = None
        if not at.mask:
            self.masked.append(at)
        at.more().mask |= 1 << index
        if self._log is not None:
            self._log.redeciding(at)
        if at.node.calls_decide_on_redecide:
            if not self._is_asked_again(at):
                return at, Step.FAIL
            choice = self._remembered(at)
        if choice is None:
            choice = Round(memory, at, self._log).choose(index)
        if self._log is not None:
            self._log.returned(at, choice)
        if choice is not None:
            return self._switch(choice, at, reason)
        if at.parent is not None:
            return at, Step.FAIL
        self._take_down(at, "failed")
        at.index = -1
        return _OVER

    def _is_asked_again(self, at: Activation) -> bool:
        """Call the Decide of a group whose child failed; returns whether it accepts."""
        rare = self._memory.rare
        rare.redeciding, rare.delegated = at, None
        accepted, _, dblock = call_decide(self._memory, at.node, at.parent)
        rare.redeciding = None
        if accepted and at.node.dblock is not None:
            at.leave(dblock)
        return accepted

    def _remembered(self, at: Activation) -> Choice | None:
        """Whom a group would choose whose Decide just asked its children, if it did."""
        found = self._memory.remembered(at.node, at.parent)
        choice = None if found is None else found[1]
        return choice if choice is not None and secure(self._memory, choice) else None

    def _give_up(self, at: Activation, bound: str) -> None:
        """There were too many redecides: leave the group without a child, for the next tick."""
        memory = self._memory
        most = max(self._counts, key=lambda number: self._counts[number], default=at.node.number)
        self._take_down(at, "redecided too often")
        at.index = -1
        raise RedecideLoopError(
            memory.tree.name,
            memory.nodes[most].name,
            self._redecides,
            bound=bound,
            agent=called(memory.require_body()),
            path=at.path,
            tick=self.tick,
        )

    # --- switching ----------------------------------------------------------------------------------------------------

    def _switch(self, choice: Choice, asker: Activation | None, reason: str) -> Next:
        self.base = choice.base
        self.newcomers = choice.newcomers
        for at in _between(asker, choice.base):  # a jump within the active child: they stay, and have their tick
            if self._visit(at)[1] is Step.FAIL:
                hand_back(self._memory, self.newcomers, _below(choice.base))
                return at, Step.FAIL
        self._forget_pending(choice.base)
        if not self._take_down(choice.base, reason):
            self._memory.rare.walk = self
            self.is_busy = True
            return _OVER
        return self._enter()

    def _enter(self) -> Next:
        """Activate the next newcomer."""
        if self.base is not None and self.base.stage is Stage.ACTIVATING:
            self._leave_to(self.base)
            return _OVER
        newcomer = self.newcomers.pop(0)
        at = newcomer.at
        base = self.base
        if base is None:
            self._memory.root = at
        else:
            base.index = newcomer.place
            base.child = at
        self.base = at
        if self._log is not None:
            self._log.entering(at)
        if not self._activate(at):
            return at, Step.FAIL
        return self._beat(at)

    def _leave_to(self, at: Activation) -> None:
        """Somebody's activate has to end before the newcomers below him may be activated."""
        work_of(at).newcomers, self.newcomers = self.newcomers, []
        self.is_busy = True

    @staticmethod
    def _forget_pending(at: Activation | None) -> None:
        """Others are chosen than those who were to be activated below as soon as somebody's activate has ended."""
        work = None if at is None else at.work
        if work is not None and work.newcomers:
            pending, work.newcomers = work.newcomers, []
            for one in pending:
                release(one.at)

    def _activate(self, at: Activation) -> bool:
        memory, node = self._memory, at.node
        at.since = memory.time
        note(memory.require_body(), at.path, Event.ACTIVATE, (("behavior", behavior_name(node.behavior)),))
        at.stage = Stage.FAILED
        hook = "block"
        try:
            if node.block is not None:
                at.more().block = node.block()
            hook = "activate"
            if node.activate is not None:
                if "activate" in node.is_async:
                    at.stage = Stage.ACTIVATING
                    start(at, hook, node.activate)
                    return True
                if failed(node.activate(at)):
                    return False
            at.stage = Stage.ACTIVE
            hook = "run"
            if node.run is not None:
                start(at, hook, node.run)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            memory.fault(node, at.path, hook, error)
            return False
        return True

    def _take_down(self, base: Activation | None, reason: str) -> bool:
        """End all below an activation, or all.

        Returns:
            Whether it is done; otherwise a coroutine cleans up.
        """
        memory = self._memory
        top = memory.root if base is None else base.child
        if top is None:
            return True
        path = list(top.downward())
        if base is None:
            memory.root = None
        else:
            base.child = None
            if not base.mask >> base.index & 1:
                base.index = -1
        return memory.unwind(Unwinding(path, reason))

    def drop(self) -> None:
        """Forget who was chosen and not activated."""
        for one in self.newcomers:
            release(one.at)
        self.newcomers = []


def _between(asker: Activation | None, base: Activation | None) -> list[Activation]:
    """The groups below the one that chose that stay active, from the top down."""
    found: list[Activation] = []
    while base is not None and base is not asker:
        found.append(base)
        base = base.parent
    return [] if base is None else found[::-1]


def _below(at: Activation | None) -> list[Activation]:
    return [] if at is None else list(at.downward())[1:]
