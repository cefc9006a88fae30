"""A tick of a tree: the steady path, and the walk that goes on from wherever something changes.

Most ticks change nothing: the path goes on, nobody of higher priority accepts. The *steady path* does those. It is one
loop, ``steady``: down the active path, tick the behaviors, ask those of higher priority. It makes nothing and looks
nothing up. What it asks is asked in the order of ``decide``, of which it is the part that most ticks need: a check that
is added there is wanted here, too. As soon as somebody accepts, fails, or has yet to choose, a ``Walk`` goes on from
there. Whatever is unusual (a claim that waits, a clean-up, a log of every tick) turns ``TreeState.is_plain`` off, and
the whole tick is a walk. So does a disabled decider, but it is only left out of the steady path.

A *walk* is a loop of steps, each a ``_Step``.

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

*Coroutines* of a behavior are strands of their own. They end between ticks of the tree, in the strands' phase; the tree
looks at the outcome when it comes by in its next tick:

    activate  until it ends, the activation is ACTIVATING: its children and its tick wait. False or an error: FAILED.
              Else it is ACTIVE, and ``run`` begins at once.
    run       when it ends, the behavior has ended: the decider fails.
    tick      one at a time; while it lasts, no further one begins. False or an error: the decider fails.
    deactivate  the path waits for it.

An error disables the decider, as one in a plain function does.

*Taking down* goes from the behavior upward. Of each activation, in this order: its coroutines are cancelled and clean
up; then ``deactivate`` is called, if its ``activate`` did not fail; then its block is disposed of, its control flags
are given back, and it is gone. Only then is it the turn of the one above. Plain functions are done on the spot. A
coroutine that cleans up takes a step of its own in the strands' phase, or several; the path waits for it, and whoever
is to be activated waits with it. That is why an ``Unwinding`` can be left and gone on with.

*Between ticks* what is taken down stays in ``Rare.unwinding``, and the tree does nothing until that has ended. If a
walk was interrupted by it (somebody was chosen, and is yet to be activated), the walk is gone on with as soon as the
clean-up has ended, if that is in the same tick; a choice of an earlier tick is stale, and is dropped. The control flags
that had passed on to it pass back to those that still clean up.

Source: Spore, behavior trees: "S01: Overview" (and its walk-through); "S04: How Deciders Decide"; "S05: Subset Rule";
"S07: Memory & Blocks"; "S08: Behaviors"; "S09: Initializing and Ticking the Behavior Tree"; "S10: Performance".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from agentrt.behavior.debug import log_of
from agentrt.behavior.decide import (
    GroupRound,
    abandon,
    attempt,
    call_decide,
    chosen,
    give_back,
    hand_back,
    release,
    release_all,
    secure,
)
from agentrt.behavior.declare import behavior_name
from agentrt.behavior.memory import NO_EXTRA, Activation, ActivationStage, Unwinding
from agentrt.behavior.stimuli import SLACK
from agentrt.body.driver import LoneBody, Routine, called, note, take, tick_of
from agentrt.errors import ENDS_PROGRAM, AgentRTError, RedecideLoopError
from agentrt.kernel.trace import TraceEvent

if TYPE_CHECKING:
    from agentrt.behavior.compile import DeciderNode
    from agentrt.behavior.debug import DecisionLog
    from agentrt.behavior.memory import DeciderChoice, Extra, Memory, Rare


def _fails(answer: object) -> bool:
    """Whether an answer of a hook fails the decider: it is false, and not None. True is the usual one."""
    return answer is not True and answer is not None and not answer


# --- coroutines -------------------------------------------------------------------------------------------------------


def _start(at: Activation, hook: str, fn: Callable[[Any], Any]) -> None:
    extra = at.more()
    memory = at.memory

    def ended(routine: Routine) -> None:
        extra.routines.remove(routine)
        rare = memory.state.rare
        rare.routines = tuple([one for one in rare.routines if one is not routine])
        if at.stage is ActivationStage.ENDING:
            if routine.error is not None:
                memory.state.disable(at.node, at.path, routine.hook)  # not ``fault``: the routine has reported it
            elif hook == "activate" and _went_well(routine):
                extra.is_due = True  # it came to its end although it was cancelled: what it set up is to be undone
            _proceed(memory)
        else:
            _outcome(at, extra, routine)

    routine = Routine(memory.state.body, at.path, hook, fn(at), ended)
    extra.routines.append(routine)
    rare = memory.state.rare
    rare.routines = (*rare.routines, routine)


def _went_well(routine: Routine) -> bool:
    return routine.strand.error is None and not _fails(routine.value)


def _outcome(at: Activation, extra: Extra, routine: Routine) -> None:
    hook = routine.hook
    if routine.error is not None:
        at.memory.state.disable(at.node, at.path, hook)
    is_bad = not _went_well(routine)
    if hook == "activate":
        at.stage = ActivationStage.FAILED if is_bad else ActivationStage.ACTIVE
        if not is_bad and at.node.run is not None:
            _start(at, "run", at.node.run)
    if is_bad or hook == "run":
        extra.has_failed = True


def look_after(at: Activation) -> Any:
    """What a tick does for a behavior with coroutines; the answer is that of a hook."""
    if at.stage is ActivationStage.ACTIVATING:
        return True
    if at.extra.has_failed:
        return False  # before its ``tick`` is called: what has ended is not ticked once more
    node = at.node
    if node.tick is None:
        return True
    if "tick" not in node.is_async:
        return node.tick(at)
    if not any(routine.hook == "tick" for routine in at.extra.routines):
        _start(at, "tick", node.tick)
    return True


# --- taking down ------------------------------------------------------------------------------------------------------


def _wind_on(unwinding: Unwinding) -> bool:
    """Go on with what is taken down; returns whether all have ended, or else a coroutine is to end first."""
    left = unwinding.left
    while left and _end(left[-1], unwinding.reason):
        left.pop()  # only now: who cleans up is found in it, and has its flags handed back
    return not left


def _end(at: Activation, reason: str) -> bool:
    """End one; returns whether it has ended, or else a coroutine is to end first, and this is called again."""
    extra, is_due = at.extra, False
    if at.stage is not ActivationStage.ENDING:
        is_due = at.stage is ActivationStage.ACTIVE
        at.stage = ActivationStage.ENDING
        log = log_of(at.memory)
        if log is not None and at.node.behavior is not None:
            log.deactivating(at)
        if extra is not NO_EXTRA:
            extra.is_due = is_due
            for routine in tuple(extra.routines):
                routine.stop(reason)
            release_all(extra.newcomers)
    if extra is not NO_EXTRA:
        if extra.routines:
            return False
        is_due, extra.is_due = extra.is_due, False  # a coroutine of activate may have come to its end meanwhile
    if is_due and not _deactivate(at):
        return False
    _dispose(at, reason)
    return True


def _deactivate(at: Activation) -> bool:
    """Call the hook; returns whether it is over, or else is a coroutine."""
    hook = at.node.deactivate
    if hook is None:
        return True
    if "deactivate" in at.node.is_async:
        return not _call(at, "deactivate", _start, at, "deactivate", hook)
    _call(at, "deactivate", hook, at)
    return True


def _dispose(at: Activation, reason: str) -> None:
    if at.block is not None:
        _call(at, "dispose", _dispose_of, at.block)
    if at.extra is not NO_EXTRA:
        at.extra.block = at.extra.dblock = None
    at.stage = ActivationStage.ENDED
    release(at)
    detail = (("behavior", behavior_name(at.node.behavior)), ("reason", reason))
    note(at.body, at.path, TraceEvent.DEACTIVATE, detail)


def _dispose_of(block: object) -> None:
    dispose = getattr(block, "dispose", None)  # an author's, too: it may be a property that raises
    if dispose is not None:
        dispose()


def _call(at: Activation, hook: str, function: Callable[..., object], *args: object) -> bool:
    """Call what is an author's; returns whether it did not raise."""
    try:
        function(*args)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        at.memory.state.fault(at.node, at.path, hook, error)
        return False
    return True


# --- between ticks ----------------------------------------------------------------------------------------------------


def _unwind(memory: Memory, unwinding: Unwinding) -> bool:
    """Take down what was cut off the path; returns whether it is done, or else goes on when a coroutine has ended."""
    rare = memory.state.rare
    if rare.unwinding is not None:  # what was above it follows
        rare.unwinding.left[:0] = unwinding.left
        return False
    if _wind_on(unwinding):
        return True
    rare.unwinding = unwinding
    memory.state.update()
    return False


def _proceed(memory: Memory) -> None:
    """A coroutine of something that ends has ended."""
    rare = memory.state.rare
    unwinding = rare.unwinding
    if unwinding is None or not _wind_on(unwinding):
        return
    rare.unwinding = None
    walk, rare.walk = rare.walk, None
    if walk is not None:
        if rare.leaving is None and walk.tick == tick_of(memory.state.body):
            walk.resume()
        else:
            walk.give_up()
    rare.renewed = ()  # what the walk asked for has to be asked for again in the next tick
    settle(memory, False)


def _drop_walk(memory: Memory) -> None:
    """A walk waits, and what it waits for takes too long: forget whom it would have activated."""
    rare = memory.state.rare
    walk, rare.walk = rare.walk, None
    if walk is not None:
        if rare.unwinding is not None:  # who cleans up goes on using the flags that were to pass on
            hand_back(memory, walk.newcomers, rare.unwinding.left)
        walk.give_up()


def settle(memory: Memory, is_over: bool) -> None:
    """Do what had to wait for the end of a tick, whether one is over or not; between ticks, claims stay as they are."""
    rare = memory.state.seldom
    if rare is not None:
        _settle(memory, rare, is_over)
    memory.state.update()


def _settle(memory: Memory, rare: Rare, is_over: bool) -> None:
    rare.delegated = None  # an answer of children is good for the tick in which they gave it
    if rare.is_settling:  # somebody was served on the way, and wants more: it is done as soon as that is
        return
    rare.is_settling = True
    try:
        if is_over and rare.waiting:
            give_back(memory)
        while rare.giving:
            (at, reason), *others = rare.giving
            rare.giving = tuple(others)
            _cut(memory, rare, at, reason)
        if rare.leaving is not None:
            _end_all(memory, rare, rare.leaving[0])
    finally:
        rare.is_settling = False
    if rare.leaving is not None and rare.unwinding is None:
        then, rare.leaving = rare.leaving[1], None
        take(memory, memory.state.body)  # before anybody is told: that one may give it to another body at once
        then()


def _cut(memory: Memory, rare: Rare, at: Activation, reason: str) -> None:
    """End an activation and what is below it; its group redecides in the next tick."""
    if _is_yet_to_come(memory, rare, at):
        return
    if at.stage is ActivationStage.GRANTED:
        abandon(at)
    elif at in memory.path():  # what was cut off already, and waits for what is below it, may be asked for flags again
        _drop_walk(memory)
        if at.parent is None:
            memory.root = None
        else:
            at.parent.child = None
        _unwind(memory, Unwinding(list(at.downward()), reason))


def _is_yet_to_come(memory: Memory, rare: Rare, at: Activation) -> bool:
    """Whether somebody was chosen, and has to wait for a coroutine before it is activated; then it is not chosen."""
    walk = rare.walk
    if walk is not None and at in walk.newcomers:
        _drop_walk(memory)
        return True
    for group in memory.path():
        if at in group.extra.newcomers:
            release_all(group.extra.newcomers)
            return True
    return False


def _end_all(memory: Memory, rare: Rare, reason: str) -> None:
    # Who wants to begin goes first: what ends after that gives back flags, and the ledger would grant them to it.
    _drop_walk(memory)
    for at in tuple(rare.waiting.values()):
        abandon(at)
    if memory.root is not None:
        path, memory.root = list(memory.path()), None
        _unwind(memory, Unwinding(path, reason))
    rare.giving = ()  # all have


# --- the walk ---------------------------------------------------------------------------------------------------------


class _Step(Enum):
    """What a walk does next."""

    VISIT = "visit"  # a decider on the path: its behavior ticks; a behavior decider is the end of the walk
    DECIDE = "decide"  # a group: somebody takes over, or the active child is visited, or (nobody) the group fails
    FAIL = "fail"  # a decider: it is masked in its group for this tick, which redecides; nobody: the group fails


_MOST_REPEATED = 100  # how often a decider may fail at one place in one tick; a circle comes by once in each round

_Next = tuple[Activation | None, _Step]
_OVER: _Next = (None, _Step.VISIT)


@dataclass(slots=True, eq=False, repr=False)
class Walk:
    """One walk."""

    _memory: Memory
    _log: DecisionLog | None
    tick: int  # the tick of the kernel in which the walk began
    _redecides: int = 0  # failures, wherever
    _counts: dict[int, int] = field(default_factory=dict)  # of groups, by their numbers: whom to name
    _repeated: dict[int, int] = field(default_factory=dict)  # of places
    _places: dict[tuple[int, int], int] = field(default_factory=dict)  # the place above and a decider -> the place
    is_busy: bool = False  # whether a behavior ticked, or a coroutine is at work
    masked: list[Activation] = field(default_factory=list)  # the groups that have a mask
    newcomers: list[Activation] = field(default_factory=list)  # who was chosen together and is yet to be activated
    base: Activation | None = None  # whose child the next newcomer becomes

    def from_root(self) -> None:
        memory = self._memory
        if memory.root is not None:
            self.go(memory.root, _Step.VISIT)
            return
        choice = attempt(memory, None, memory.tree.nodes[0], self._log)
        if choice is not None:
            self.take(choice)

    def take(self, choice: DeciderChoice, asker: Activation | None = None) -> None:
        """Activate who was chosen by a group (None for ROOT), and go on from there. Their control flags are taken."""
        self.go(*self._switch(choice, asker, "interrupted"))

    def after(self, at: Activation, asked: DeciderNode) -> None:
        """Go on in a group: one of its children is active, those of higher priority were asked up to this one."""
        choice = GroupRound(self._memory, at, self._log).interrupting(at.node.children.index(asked) + 1)
        if choice is not None:
            self.take(choice, at)
        else:
            self.go(at.child, _Step.VISIT)

    def go(self, at: Activation | None, step: _Step) -> None:
        while at is not None:
            if step is _Step.VISIT:
                at, step = self._visit(at)
            elif step is _Step.DECIDE:
                at, step = self._decide(at)
            else:
                at, step = self._fail(at)

    def resume(self) -> None:
        state = self._memory.state
        state.is_ticking = True
        try:
            self.go(*self._enter())
        except AgentRTError as error:
            state.body.fault(self._memory.name, "tick", error)
        finally:
            self.finish()
            state.is_ticking = False

    def give_up(self) -> None:
        """The clean-up takes too long: who was chosen is not activated."""
        release_all(self.newcomers)
        self.finish()

    # --- visiting -----------------------------------------------------------------------------------------------------

    def _visit(self, at: Activation) -> _Next:
        if self._log is not None:
            self._log.visiting(at)
        return self._beat(at)

    def _beat(self, at: Activation) -> _Next:
        beat = at.node.beat
        if beat is None:
            return at, _Step.DECIDE
        if self._log is not None:
            self._log.ticking(at)
        try:
            return at, _Step.FAIL if _fails(beat(at)) else _Step.DECIDE
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self._memory.state.fault(at.node, at.path, "tick", error)
            return at, _Step.FAIL

    def _decide(self, at: Activation) -> _Next:
        if at.stage is ActivationStage.ACTIVATING:
            if self.newcomers:
                self._leave_to(at)
            self.is_busy = True
            return _OVER
        if not at.node.children:
            self.is_busy = True
            if self._log is not None:
                self._log.current(at)
            return _OVER
        if at.extra.newcomers:
            self.base, self.newcomers, at.extra.newcomers = at, at.extra.newcomers, []
        if self.newcomers:  # chosen together with it: nobody is asked again
            return self._enter()
        if at.child is not None:
            return self._continue(at, at.child)
        if at.index >= 0:
            return self._redecide(at, at.index, "failed before")
        return self._decided(at, GroupRound(self._memory, at, self._log).choose(-1), "interrupted")

    def _continue(self, at: Activation, child: Activation) -> _Next:
        choice = GroupRound(self._memory, at, self._log).interrupting()
        if self._log is not None:
            self._log.returned(at, choice)
            if choice is None:
                self._log.continuing(at)
        return (child, _Step.VISIT) if choice is None else self._switch(choice, at, "interrupted")

    def _decided(self, at: Activation, choice: DeciderChoice | None, reason: str) -> _Next:
        """A group without a child, or with one that failed, has asked its children."""
        if self._log is not None:
            self._log.returned(at, choice)
        if choice is not None:
            return self._switch(choice, at, reason)
        if at.parent is not None:
            return at, _Step.FAIL
        self._take_down(at, "failed")  # ROOT has nowhere to fail to
        at.index = -1
        return _OVER

    # --- failing ------------------------------------------------------------------------------------------------------

    def _fail(self, at: Activation) -> _Next:
        release_all(self.newcomers)  # those who were chosen together with it, to be activated below
        parent = at.parent
        if self._log is not None:
            self._log.failing(at)
        if parent is None:
            self._take_down(None, "failed")
            return _OVER
        if at.node.children:  # the error names a group
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
        # A place is known by that above it and a decider: a key of all numbers on the way would grow with the depth.
        place = -1
        for one in reversed(list(at.upward())):
            place = self._places.setdefault((place, one.node.number), len(self._places))
        count = self._repeated[place] = self._repeated.get(place, 0) + 1
        if count > _MOST_REPEATED:
            return f"{at.path} failed more than {_MOST_REPEATED} times"
        if self._redecides > _MOST_REPEATED * len(tree.nodes):
            return f"more than {_MOST_REPEATED} for each of its {len(tree.nodes)} deciders"
        return ""

    def _redecide(self, at: Activation, index: int, reason: str) -> _Next:
        choice: DeciderChoice | None = None
        if not at.extra.mask:
            self.masked.append(at)
        at.more().mask |= 1 << index
        if self._log is not None:
            self._log.redeciding(at)
        if at.node.calls_decide_on_redecide:
            accepts, choice = self._ask_again(at)
            if not accepts:
                return at, _Step.FAIL
        if choice is None:
            choice = GroupRound(self._memory, at, self._log).choose(index)
        return self._decided(at, choice, reason)

    def _ask_again(self, at: Activation) -> tuple[bool, DeciderChoice | None]:
        """Call the Decide of a group whose child failed: whether it accepts, and whom it chose if it asked children."""
        rare = self._memory.state.rare
        rare.redeciding, rare.delegated = at, None
        accepts, _, dblock = call_decide(self._memory, at.node, at.parent)
        rare.redeciding = None
        if accepts and at.node.dblock is not None:
            at.leave(dblock)
        found = self._memory.state.remembered(at.node, at.parent) if accepts else None
        choice = None if found is None else found[1]
        return accepts, choice if choice is not None and secure(self._memory, choice) else None

    def _give_up(self, at: Activation, bound: str) -> None:
        """There were too many redecides: leave the group without a child, for the next tick."""
        memory = self._memory
        most = max(self._counts, key=lambda number: self._counts[number], default=at.node.number)
        self._take_down(at, "redecided too often")
        at.index = -1
        raise RedecideLoopError(
            memory.tree.name,
            memory.tree.nodes[most].name,
            self._redecides,
            bound=bound,
            agent=called(memory.state.body),
            path=at.path,
            tick=self.tick,
        )

    # --- switching ----------------------------------------------------------------------------------------------------

    def _switch(self, choice: DeciderChoice, asker: Activation | None, reason: str) -> _Next:
        self.base = choice.base
        self.newcomers = choice.newcomers
        for at in _between(asker, choice.base):  # a jump within the active child: they stay, and have their tick
            if self._visit(at)[1] is _Step.FAIL:
                staying = [] if choice.base is None else list(choice.base.downward())[1:]
                hand_back(self._memory, self.newcomers, staying)  # their flags had passed on when they were chosen
                return at, _Step.FAIL
        if choice.base is not None:
            release_all(choice.base.extra.newcomers)  # chosen before, and waiting for the end of its activate
        if not self._take_down(choice.base, reason):
            self._memory.state.rare.walk = self
            self.is_busy = True
            return _OVER
        return self._enter()

    def _enter(self) -> _Next:
        if self.base is not None and self.base.stage is ActivationStage.ACTIVATING:
            self._leave_to(self.base)
            return _OVER
        at = self.newcomers.pop(0)
        base = self.base
        if base is None:
            self._memory.root = at
        else:
            base.index = base.node.children.index(at.node)
            base.child = at
        self.base = at
        if self._log is not None:
            self._log.entering(at)
        if not self._activate(at):
            return at, _Step.FAIL
        return self._beat(at)

    def _leave_to(self, at: Activation) -> None:
        """Somebody's activate has to end before the newcomers below him may be activated."""
        at.more().newcomers, self.newcomers = self.newcomers, []
        self.is_busy = True

    def _activate(self, at: Activation) -> bool:
        memory, node = self._memory, at.node
        at.since = memory.time
        note(memory.state.body, at.path, TraceEvent.ACTIVATE, (("behavior", behavior_name(node.behavior)),))
        at.stage = ActivationStage.FAILED  # until it has begun: taken down before, it has no ``deactivate`` due
        hook = "block"
        try:
            if node.block is not None:
                at.more().block = node.block()
            hook = "activate"
            if node.activate is not None:
                if "activate" in node.is_async:
                    at.stage = ActivationStage.ACTIVATING
                    _start(at, hook, node.activate)
                    return True
                if _fails(node.activate(at)):
                    return False
            at.stage = ActivationStage.ACTIVE
            hook = "run"
            if node.run is not None:
                _start(at, hook, node.run)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            memory.state.fault(node, at.path, hook, error)
            return False
        return True

    def _take_down(self, base: Activation | None, reason: str) -> bool:
        """End all below an activation, or all; returns whether it is done, or else a coroutine cleans up."""
        memory = self._memory
        top = memory.root if base is None else base.child
        if top is None:
            return True
        path = list(top.downward())
        if base is None:
            memory.root = None
        else:
            base.child = None
            if not base.extra.mask >> base.index & 1:  # of who failed the number stays: the group has yet to redecide
                base.index = -1
        return _unwind(memory, Unwinding(path, reason))

    def finish(self) -> None:
        """It is over, unless it waits for a clean-up: masks are for one tick."""
        rare = self._memory.state.seldom
        if rare is None or rare.walk is not self:
            for at in self.masked:
                at.more().mask = 0


def _between(asker: Activation | None, base: Activation | None) -> list[Activation]:
    """The groups below the one that chose that stay active, from the top down."""
    found: list[Activation] = []
    while base is not None and base is not asker:
        found.append(base)
        base = base.parent
    return [] if base is None else found[::-1]


# --- the tick ---------------------------------------------------------------------------------------------------------

_FAIL = _Step.FAIL  # a member of an enum is looked up in its class, in each tick


def steady(memory: Memory, at: Activation, out: Collection[int] = ()) -> bool:  # noqa: C901 - one frame, for speed
    """Go down the active path, until something changes; ``out`` has the numbers of those who are not asked."""
    child: DeciderNode | None = None
    choice: DeciderChoice | None = None
    step, state = _FAIL, memory.state
    try:
        while True:
            node = at.node
            beat = node.beat
            if beat is not None:
                answer = beat(at)  # ``_fails`` is written out: a call less for each behavior in each tick
                if answer is not True and answer is not None and not answer:
                    break
            below = at.child
            if below is None:
                if not node.children:
                    return True
                step = _Step.DECIDE
                break
            state.asked_by = at
            for child in node.higher[at.index] if not out else _left(node.higher[at.index], out):
                decide = child.ask
                if decide is None:
                    choice = _ask_guarded(memory, at, child)
                    if choice is not None:
                        break
                else:
                    state.asked = child  # for a Decide that delegates to its children
                    if decide(memory) > 0.0:
                        break
            else:
                state.asked = child = None  # by ``child`` an error is the tick's of a behavior, or of a Decide
                at = below
                continue
            break
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        return _raised(memory, at, child, error)
    if child is None:
        return _run(memory, Walk.go, at, step)
    return _accepted(memory, at, child, choice)


def _left(nodes: Iterable[DeciderNode], out: Collection[int]) -> list[DeciderNode]:
    return [node for node in nodes if node.number not in out]


def in_full(memory: Memory) -> bool:
    if memory.body is None:
        memory.join(LoneBody(memory.agent))
    if memory.state.is_unwinding:
        _drop_walk(memory)  # whom it would activate was chosen in an earlier tick
        return True
    root, rare = memory.root, memory.state.seldom
    if root is not None and rare is not None and not rare.is_unusual and memory.tree.debug_output.level < 3:
        return steady(memory, root, {**rare.disabled, **rare.barred} if rare.barred else rare.disabled)
    log = log_of(memory)
    if log is not None:
        log.starting()
    try:
        return _run(memory, Walk.from_root)
    finally:
        if log is not None:
            log.finished()


def _ask_guarded(memory: Memory, at: Activation, child: DeciderNode) -> DeciderChoice | None:
    """Ask a child that has preconditions, unless one of them fails at a glance."""
    check = child.decision
    if check is not None and memory.decision_flags & check.mask != check.pattern:
        return None
    check = child.stimuli
    if check is not None and memory.stimuli_flags & check.mask != check.pattern:
        return None
    # Nothing of this memory waits for control flags, else the tick would be walked in full.
    if child.timer >= 0 and memory.time - memory.timers[child.timer] < child.every - SLACK:
        return None
    return attempt(memory, at, child, None)


def _raised(memory: Memory, at: Activation, child: DeciderNode | None, error: BaseException) -> bool:
    """The tick of a behavior raised, or the Decide of a child."""
    if child is None:
        memory.state.fault(at.node, at.path, "tick", error)
        return _run(memory, Walk.go, at, _Step.FAIL)
    memory.state.fault(child, memory.state.path_of(child, at), "decide", error)
    return _run(memory, Walk.after, at, child)


def _accepted(memory: Memory, at: Activation, child: DeciderNode, choice: DeciderChoice | None) -> bool:
    """A child of higher priority takes over."""
    if choice is None:  # its Decide was called right here; it needs no control flags, but whom it delegated to may
        choice = chosen(memory, at, child, 1.0)
        if not secure(memory, choice):
            return _run(memory, Walk.after, at, child)
    return _run(memory, Walk.take, choice, at)


def _run(memory: Memory, way: Callable[..., object], *args: object) -> bool:
    """Walk in a way; returns whether a behavior ticked, or a coroutine of one is at work."""
    walk = Walk(memory, log_of(memory), tick_of(memory.state.body))
    try:
        way(walk, *args)
    finally:
        walk.finish()
    return walk.is_busy
