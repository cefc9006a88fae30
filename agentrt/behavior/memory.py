"""The memory of a tree: all that it keeps for one agent, and the tick.

The tree is shared; a memory is the active path, the time of the last Decide of each decider with a timer, and the
agent's stimuli. Decides are called with it. It is also how a tree drives an agent: ``agent.attach(tree.memory())``.

The steady path is the loop in ``tick``: down the active path, tick the behaviors, ask those of higher priority. It
makes nothing and looks nothing up. As soon as somebody accepts, fails, or has yet to choose, a ``Walk`` goes on from
there. Whatever is unusual (a disabled decider, a claim that waits, a clean-up, a log of every tick) turns ``_is_plain``
off, and the whole tick is a walk.

Rules:

* A memory is ticked once at a time: what is asked of it meanwhile (``leave``, giving way) happens at the end.
* ``tick`` raises what is wrong with the tree or its use; what the author's functions raise is reported, and disables
  their decider for this agent.

Source: seed 002, "S07: Memory & Blocks"; "S09: Initializing and Ticking the Behavior Tree"; "S10: Performance".

What a memory seldom needs: made when it is needed, so that an idle agent does not pay for it.

Source: design section 9 (memory of an idle agent).

The state of a tree on one agent, and what its parts ask of it.

This is the memory without its tick: the active path, the timers, the stimuli, who is disabled. Deciders, walks and the
views look at it; ``memory`` lets time pass in it.

What is seldom needed lies in ``rare`` and is made when it is needed.

Source: seed 002, "S07: Memory & Blocks".

What a memory does between ticks: clean-ups that take time, leaving, giving way.

All of it is rare. What is taken down while a coroutine cleans up stays in ``rare.unwinding``, and the tree does nothing
until that has ended. If a walk was interrupted by it (somebody was chosen, and is yet to be activated), the walk is
gone on with as soon as the clean-up has ended, if that is in the same tick; a choice of an earlier tick is stale, and
is dropped. The control flags that had passed on to it pass back to those that still clean up.

Source: design section 2, cancellation; section 3, control flags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from agentrt.behavior.activation import Activation, Stage
from agentrt.behavior.decide import SLACK, abandon, accepted, attempt, delegate, give_back, hand_back, release
from agentrt.behavior.log import Log
from agentrt.behavior.stimuli import Stimuli, Stimulus, token_name
from agentrt.behavior.views import TreeView, print_state, view_of
from agentrt.behavior.walk import Step, Unwinding, Walk
from agentrt.body.driver import BEHAVIOR, Body, LoneBody, give, note, require_seconds, take, tick_of
from agentrt.errors import ENDS_PROGRAM, AgentRTError, DefinitionError, NotRunningError, WrongStateError
from agentrt.kernel.rng import Stream, derive_seed
from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from agentrt.behavior.compile import Node
    from agentrt.behavior.decide import Choice
    from agentrt.behavior.tree import BehaviorTree
    from agentrt.body.driver import Routine
    from agentrt.body.views import Outline
    from agentrt.kernel.clock import Clock
    from agentrt.kernel.strand import Strand

__all__ = ["Rare", "TreeState", "drop_walk", "proceed", "settle", "unwind", "Memory"]


class Rare:
    """What a memory seldom needs."""

    __slots__ = (
        "delegated",
        "disabled",
        "giving",
        "is_settling",
        "leaving",
        "left",
        "redeciding",
        "refused",
        "renewed",
        "routines",
        "stream",
        "unwinding",
        "update_flags",
        "waiting",
        "walk",
    )

    def __init__(self) -> None:
        # what the children of a group answered that delegated its Decide to them: an activation of the group,
        # and whom it would choose
        self.delegated: tuple[Activation, Choice | None] | None = None
        self.redeciding: Activation | None = None  # the group whose Decide is called because a child failed
        self.stream: Stream | None = None  # its random numbers
        # computes the decision flags in each tick, when the tree drives an agent
        self.update_flags: Callable[[Any], int] | None = None
        # the deciders that are out for this agent: their numbers, with the path at which each raised
        self.disabled: dict[int, str] = {}
        # for whom a control flag is kept by somebody foreign: its path, with the flag and the holder
        self.refused: dict[str, tuple[str, str]] = {}
        self.waiting: list[Activation] = []  # who waits for control flags, or was granted them since
        self.renewed: list[Activation] = []  # those of them who were asked in this tick
        self.is_settling: bool = False  # whether what had to wait for the end of a tick is being done
        self.giving: list[tuple[Activation, str]] = []  # who is to give way at the end of the tick, with the reason
        # that the memory is to leave its body at the end of the tick: the reason, and whom to tell
        self.leaving: tuple[str, Callable[[], object]] | None = None
        # the entity of the body that it left last, which is not its agent any more when it joins another one
        self.left: Any = None
        self.unwinding: Unwinding | None = None  # what is being taken down while coroutines clean up
        self.walk: Walk | None = None  # the walk that waits for it
        self.routines: list[Routine] = []  # the coroutines that have not ended, in the order in which they began

    @property
    def is_quiet(self) -> bool:
        """Whether nothing in it keeps a tick from being an ordinary one."""
        return not (self.disabled or self.waiting or self.giving or self.leaving or self.unwinding)


_NEVER = float("-inf")
_NO_TIMERS: list[float] = []


class TreeState:
    """What a tree keeps for one agent.

    Attributes:
        tree: the tree.
        agent: the agent: any object.
        body: whom it drives; None before it has joined one.
        name: begins the paths of its deciders.
        precedence: of its claims for control flags.
        root: the activation of ROOT; None while ROOT is not active.
        timers: game seconds of the last Decide of each decider with a timer.
        asked: whose Decide is being called.
        asked_by: the group that asks it; None for ROOT.
        time: game seconds of this tick.
        dt: seconds since the last one.
        decision_flags: the word of this tick.

    Source: seed 002, "S07: Memory & Blocks"; "S09: Initializing and Ticking the Behavior Tree".
    """

    __slots__ = (
        "_clock",
        "_given_flags",
        "_is_plain",
        "_is_ticking",
        "_rare",
        "_stimuli",
        "agent",
        "asked",
        "asked_by",
        "body",
        "decision_flags",
        "dt",
        "name",
        "precedence",
        "root",
        "time",
        "timers",
        "tree",
    )

    def __init__(self, tree: BehaviorTree, agent: Any, name: str, precedence: int) -> None:
        self.tree: BehaviorTree = tree
        self.agent: Any = agent
        self.body: Body | None = None
        self.name: str = name
        self.precedence: int = precedence
        self.root: Activation | None = None
        self.timers: list[float] = [_NEVER] * tree.num_timers if tree.num_timers else _NO_TIMERS
        self.time: float = 0.0
        self.dt: float = 0.0
        self.decision_flags: int = 0
        self.asked: Node | None = None
        self.asked_by: Activation | None = None
        self._clock: Clock | None = None  # of the body that it drives
        self._given_flags: int | None = None
        self._stimuli: Stimuli | None = None
        self._rare: Rare | None = None
        self._is_plain: bool = True  # nothing unusual: the steady path may run
        self._is_ticking: bool = False

    # --- what deciding asks -------------------------------------------------------------------------------------------

    @property
    def stimuli_flags(self) -> int:
        """The word of stimuli flags."""
        if self._given_flags is not None:
            return self._given_flags
        return 0 if self._stimuli is None else self._stimuli.all_flags

    @property
    def stimuli(self) -> Stimuli:
        """What the agent perceives."""
        if self._stimuli is None:
            self.stimuli = Stimuli(self._perceived)
        assert self._stimuli is not None
        return self._stimuli

    @stimuli.setter
    def stimuli(self, stimuli: Stimuli) -> None:
        self.lose_time()
        self._stimuli = stimuli
        self.keep_time()

    @property
    def given_to(self) -> Body | None:
        """Whose it is: whom it drives, or will drive as soon as that one lives.

        Set by ``agentrt.body.driver.give`` and ``take`` alone.
        """
        return self.body

    @given_to.setter
    def given_to(self, body: Body | None) -> None:
        if body is None:
            self.lose_time()
            if self.body is not None:
                self.rare.left = self.body.entity
        elif self.agent is None or (self._rare is not None and self.agent is self._rare.left):
            self.agent = body.entity
        self.body = body

    def keep_time(self) -> None:
        """Take the time of the body, if one is driven, and let the stimuli run down by themselves."""
        kernel = None if self.body is None else self.body.kernel
        if kernel is not None:
            self._clock = kernel.clock
            if self._stimuli is not None:
                self._stimuli.keep_time(kernel)

    def lose_time(self) -> None:
        """The body is driven no more, or with other stimuli."""
        if self._clock is not None:
            self._clock = None
            if self._stimuli is not None:
                self._stimuli.lose_time()

    def perceived(self) -> list[Stimulus]:
        """The stimuli that are there, in the order in which they came."""
        return [] if self._stimuli is None else list(self._stimuli)

    def _perceived(self, token: int, is_on: bool) -> None:
        if self.body is not None:
            note(self.body, self.name, Event.STIMULUS, (("token", token_name(token)), ("on", is_on)))

    @property
    def random(self) -> Stream:
        """The random numbers of groups that draw, and of whoever wants some."""
        rare = self.rare
        if rare.stream is None:
            body = self.require_body()
            name = f"{body.name}/{self.name}"
            kernel = body.kernel
            rare.stream = Stream(derive_seed(0, name)) if kernel is None else kernel.stream(name)
        return rare.stream

    @property
    def rare(self) -> Rare:
        """What is seldom needed."""
        if self._rare is None:
            self._rare = Rare()
        return self._rare

    @property
    def has_claims(self) -> bool:
        """Whether somebody waits for control flags."""
        return self._rare is not None and bool(self._rare.waiting)

    @property
    def is_unwinding(self) -> bool:
        """Whether coroutines clean up, and the tree waits for them."""
        return self._rare is not None and self._rare.unwinding is not None

    @property
    def log(self) -> Log | None:
        """Who writes this tick down; None if nobody reads it."""
        output = self.tree.debug_output
        return Log(self, output) if output.level and output.is_for(self) else None

    def require_body(self) -> Body:
        """Whom it drives.

        Raises:
            NotRunningError: it has not joined anybody.
        """
        if self.body is None:
            raise NotRunningError(
                f"the memory of the tree {self.tree.name} drives nobody. Attach it to an agent, or tick it by hand."
            )
        return self.body

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The deciders of the tree, by number."""
        return self.tree.nodes

    def path(self) -> Iterator[Activation]:
        """The activations, from ROOT down."""
        return iter(()) if self.root is None else self.root.downward()

    def path_of(self, node: Node, parent: Activation | None) -> str:
        """The path of a decider below a group.

        Args:
            node: the decider.
            parent: the activation of the group; None for ROOT.
        """
        return f"{self.name if parent is None else parent.path}/{node.name}"

    def remember(self, at: Activation, choice: Choice | None) -> None:
        """A Decide delegated to the children of its group.

        Args:
            at: an activation of the group.
            choice: whom it would choose.
        """
        self.rare.delegated = (at, choice)
        self._is_plain = False  # it is forgotten when the tick is over

    def remembered(self, node: Node, parent: Activation | None) -> tuple[Activation, Choice | None] | None:
        """What was remembered of a group, once.

        Args:
            node: the group.
            parent: below whom.
        """
        found = None if self._rare is None else self._rare.delegated
        if found is None or found[0].node is not node or found[0].parent is not parent:
            return None
        self.rare.delegated = None
        return found

    # --- faults -------------------------------------------------------------------------------------------------------

    def fault(self, node: Node, path: str, hook: str, error: BaseException) -> None:
        """A function of an author raised: report it, and disable the decider for this agent.

        Args:
            node: the decider.
            path: its place.
            hook: which function.
            error: what it raised.
        """
        self.require_body().fault(path, hook, error)
        self.disable(node, path, hook)

    def disable(self, node: Node, path: str, hook: str) -> None:
        """A decider is out for this agent from now on.

        Args:
            node: the decider.
            path: its place.
            hook: which function raised.
        """
        disabled = self.rare.disabled
        if node.number not in disabled:
            disabled[node.number] = path
            self.update()
            note(self.require_body(), path, Event.DISABLED, (("hook", hook),))

    def is_disabled(self, node: Node) -> bool:
        """Whether a decider is out for this agent.

        Args:
            node: the decider.
        """
        return self._rare is not None and node.number in self._rare.disabled

    def enable(self, name: str) -> None:
        """Take a decider in again that was disabled.

        Args:
            name: its name.
        """
        node = self.tree.node(name)
        if self._rare is not None:
            self._rare.disabled.pop(node.number, None)
            self.update()

    def refused(self, path: str) -> tuple[str, str] | None:
        """The control flag that somebody foreign keeps from a decider, and who; None if nobody did when it was asked.

        Args:
            path: its place.
        """
        return None if self._rare is None else self._rare.refused.get(path)

    @property
    def disabled(self) -> tuple[str, ...]:
        """The paths at which deciders were disabled."""
        return () if self._rare is None else tuple(self._rare.disabled.values())

    def finish(self, walk: Walk) -> None:
        """A walk is over: masks are for one tick.

        Args:
            walk: the walk.
        """
        if self._rare is None or self._rare.walk is not walk:
            for at in walk.masked:
                at.more().mask = 0

    def update(self) -> None:
        """Find out whether the next tick may be an ordinary one."""
        self._is_plain = self._rare is None or self._rare.is_quiet

    # --- looking ------------------------------------------------------------------------------------------------------

    @property
    def active_path(self) -> tuple[str, ...]:
        """The names of the active deciders, from ROOT down."""
        return tuple(at.node.name for at in self.path())

    @property
    def behavior(self) -> str | None:
        """The name of the behavior at the end of the path, if there is one."""
        last = [at for at in self.path() if not at.node.children]
        return last[-1].node.behavior.name if last and last[-1].node.behavior is not None else None

    def activation(self, name: str) -> Activation | None:
        """The activation of a decider; None if it is not active.

        Args:
            name: of the decider.
        """
        return next((at for at in self.path() if at.node.name == name), None)


def unwind(memory: Memory, unwinding: Unwinding) -> bool:
    """Take down what was cut off the path.

    Returns:
        Whether it is done; otherwise it is gone on with when a coroutine has ended.
    """
    rare = memory.rare
    if rare.unwinding is not None:  # what was above it follows
        rare.unwinding.left[:0] = unwinding.left
        return False
    if unwinding.proceed():
        return True
    rare.unwinding = unwinding
    memory.update()
    return False


def proceed(memory: Memory) -> None:
    """A coroutine of something that ends has ended."""
    rare = memory.rare
    unwinding = rare.unwinding
    if unwinding is None or not unwinding.proceed():
        return
    rare.unwinding = None
    walk, rare.walk = rare.walk, None
    if walk is not None:
        if rare.leaving is None and walk.tick == tick_of(memory.require_body()):
            memory.resume(walk)
        else:
            walk.drop()
            memory.finish(walk)
    rare.renewed.clear()  # what the walk asked for has to be asked for again in the next tick
    memory.settle()


def drop_walk(memory: Memory) -> None:
    """A walk waits, and what it waits for takes too long: forget whom it would have activated."""
    walk, memory.rare.walk = memory.rare.walk, None
    if walk is not None:
        unwinding = memory.rare.unwinding
        if unwinding is not None:  # who cleans up goes on using the flags that were to pass on
            hand_back(memory, walk.newcomers, unwinding.left)
        walk.drop()
        memory.finish(walk)


def settle(memory: Memory, rare: Rare, *, is_over: bool) -> None:
    """Do what had to wait for the end of a tick.

    Args:
        is_over: whether a tick of the tree ends; between ticks, claims stay as they are.
    """
    rare.delegated = None
    if rare.is_settling:  # somebody was served on the way, and wants more: it is done as soon as that is
        return
    rare.is_settling = True
    try:
        if is_over and rare.waiting:
            give_back(memory)
        while rare.giving:
            at, reason = rare.giving.pop(0)
            _cut(memory, rare, at, reason)
        if rare.leaving is not None:
            _end_all(memory, rare, rare.leaving[0])
    finally:
        rare.is_settling = False
    if rare.leaving is not None and rare.unwinding is None:
        _leave(memory, rare)


def _cut(memory: Memory, rare: Rare, at: Activation, reason: str) -> None:
    """End an activation and what is below it; its group redecides in the next tick."""
    if _is_yet_to_come(memory, rare, at):
        return
    if at.stage is Stage.GRANTED:
        abandon(at)
    elif at.stage in (Stage.ACTIVATING, Stage.ACTIVE, Stage.FAILED) and at in memory.path():
        # On the path: what was cut off already, and waits for what is below it, may be asked for its flags again.
        drop_walk(memory)
        if at.parent is None:
            memory.root = None
        else:
            at.parent.child = None
        unwind(memory, Unwinding(list(at.downward()), reason))


def _is_yet_to_come(memory: Memory, rare: Rare, at: Activation) -> bool:
    """Whether somebody was chosen, and has to wait for a coroutine before it is activated; then it is not chosen."""
    walk = rare.walk
    if walk is not None and any(one.at is at for one in walk.newcomers):
        drop_walk(memory)
        return True
    for group in memory.path():
        work = group.work
        if work is not None and any(one.at is at for one in work.newcomers):
            for one in work.newcomers:
                release(one.at)
            work.newcomers = []
            return True
    return False


def _end_all(memory: Memory, rare: Rare, reason: str) -> None:
    drop_walk(memory)
    for at in tuple(rare.waiting):
        abandon(at)
    if memory.root is not None:
        path, memory.root = list(memory.path()), None
        unwind(memory, Unwinding(path, reason))
    rare.giving.clear()  # all have


def _leave(memory: Memory, rare: Rare) -> None:
    assert rare.leaving is not None
    then = rare.leaving[1]
    rare.leaving = None
    take(memory, memory.require_body())
    then()


_ENDLESS = float(2**62)  # seconds
_FAIL = Step.FAIL  # a member of an enum is looked up in its class, in each tick


class Memory(TreeState):
    """The memory of a tree for one agent, which is also what Decides are called with. Made by ``BehaviorTree.memory``.

    Source: seed 002, "S07: Memory & Blocks"; "S09: Initializing and Ticking the Behavior Tree".
    """

    __slots__ = ()

    rank = BEHAVIOR
    view_type: ClassVar[type[TreeView]] = TreeView

    # --- the tick -----------------------------------------------------------------------------------------------------

    def tick(
        self,
        dt: float,
        decision_flags: int | None = None,
        stimuli_flags: int | None = None,
        time: float | None = None,
    ) -> bool:
        """Tick the tree once.

        Args:
            dt: seconds since the last tick.
            decision_flags: the word of decision flags from now on; None to leave it.
            stimuli_flags: what ``stimuli.update(dt)`` returned; None for the live word of the agent's stimuli, so that
                one that comes during the tick counts in it.
            time: game seconds; None for those of the last tick, and dt.

        Returns:
            Whether a behavior ticked, or a coroutine of one is at work.

        Raises:
            DefinitionError: the time is no number, or goes back; nothing happened.
            RedecideLoopError: groups accept what their children refuse, over and over. Nothing ticked; the next tick
                goes on.
            WrongStateError: the memory is being ticked.

        Source: seed 002, "S09: Initializing and Ticking the Behavior Tree".
        """
        if self._is_ticking:
            raise WrongStateError("Memory.tick", "it is being ticked", "A behavior does not tick its own tree.")
        try:
            if not 0.0 <= dt < _ENDLESS:  # NaN neither
                require_seconds(dt, "Memory.tick", "dt")
        except TypeError:
            require_seconds(dt, "Memory.tick", "dt")
        if time is None:
            time = self.time + dt
        elif time.__class__ is not float or not self.time <= time < _ENDLESS:
            self._require_later(time)
        self.dt: float = dt
        self.time: float = time
        if decision_flags is not None:
            self.decision_flags: int = decision_flags
        self._given_flags = stimuli_flags
        at = self.root
        self._is_ticking = True
        try:
            if at is not None and self._is_plain and self.tree.debug_output.level < 3:
                return self._steady(at)
            return self._tick_in_full()
        finally:
            self._is_ticking = False
            if not self._is_plain:
                self.settle(is_over=True)

    def _require_later(self, time: float) -> None:
        """Refuse a time that is none, or before the last one: timers and durations would run backwards."""
        if require_seconds(time, "Memory.tick", "time") < self.time - SLACK:
            raise DefinitionError(
                "Memory.tick",
                f"time is {time}, after {self.time} in the last tick.",
                "Time never goes back. Make another memory, or have it leave and join again, for another clock.",
            )

    def _steady(self, at: Activation) -> bool:  # noqa: C901 - one frame, for speed
        """Go down the active path, until something changes."""
        child: Node | None = None
        choice: Choice | None = None
        step = _FAIL
        try:
            while True:
                node = at.node
                beat = node.beat
                if beat is not None:
                    answer = beat(at)
                    if answer is not True and answer is not None and not answer:
                        break
                below = at.child
                if below is None:
                    if not node.children:
                        return True
                    step = Step.DECIDE
                    break
                self.asked_by: Activation | None = at
                for child in node.higher[at.index]:
                    decide = child.ask
                    if decide is None:
                        choice = self._attempt(at, child)
                        if choice is not None:
                            break
                    else:
                        self.asked = child
                        if decide(self) > 0.0:
                            break
                else:
                    self.asked = child = None
                    at = below
                    continue
                break
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            return self._raised(at, child, error)
        if child is None:
            return self.run(Walk.go, at, step)
        return self._accepted(at, child, choice)

    def _attempt(self, at: Activation, child: Node) -> Choice | None:
        """Ask a child that has preconditions, unless one of them fails at a glance."""
        check = child.decision
        if check is not None and self.decision_flags & check.mask != check.pattern:
            return None
        check = child.stimuli
        if check is not None and self.stimuli_flags & check.mask != check.pattern:
            return None
        # Nothing of this memory waits for control flags, else the tick would be walked in full.
        if child.timer >= 0 and self.time - self.timers[child.timer] < child.every - SLACK:
            return None
        return attempt(self, at, at.node.children.index(child), child, None)

    def _raised(self, at: Activation, child: Node | None, error: BaseException) -> bool:
        """The tick of a behavior raised, or the Decide of a child."""
        if child is None:
            self.fault(at.node, at.path, "tick", error)
            return self.run(Walk.go, at, Step.FAIL)
        self.fault(child, self.path_of(child, at), "decide", error)
        return self.run(Walk.after, at, at.node.children.index(child) + 1)

    def _accepted(self, at: Activation, child: Node, choice: Choice | None) -> bool:
        """A child of higher priority takes over."""
        index = at.node.children.index(child)
        if choice is None:
            choice = accepted(self, at, index, child)
        if choice is None:
            return self.run(Walk.after, at, index + 1)
        return self.run(Walk.take, choice, at)

    def run(self, way: Callable[..., object], *args: Any) -> bool:
        """Walk.

        Args:
            way: the method of a new walk to call.
            args: its arguments.

        Returns:
            Whether a behavior ticked, or a coroutine of one is at work.
        """
        walk = Walk(self)
        try:
            way(walk, *args)
        finally:
            self.finish(walk)
        return walk.is_busy

    def resume(self, walk: Walk) -> None:
        """Go on with a walk that was interrupted by a clean-up.

        Args:
            walk: the walk.
        """
        self._is_ticking = True
        try:
            walk.resume()
        except AgentRTError as error:
            self.require_body().fault(self.name, "tick", error)
        finally:
            self.finish(walk)
            self._is_ticking = False

    def _tick_in_full(self) -> bool:
        if self.body is None:
            self.join(LoneBody(self.agent))
        if self.is_unwinding:
            drop_walk(self)
            return True
        log = self.log
        if log is not None:
            log.starting()
        try:
            return self.run(Walk.from_root)
        finally:
            if log is not None:
                log.finished()

    def settle(self, *, is_over: bool = False) -> None:
        """Do what had to wait for the end of a tick.

        Args:
            is_over: whether a tick ends; else it is between two of them.
        """
        if self._rare is not None:
            settle(self, self._rare, is_over=is_over)
        self.update()

    def delegate_decide_to_children(self) -> float:
        """Within the Decide of a group: ask its children, by its policy.

        Whom the group would choose is remembered, and activated without being asked again if the Decide accepts.

        Returns:
            What the chosen child answered; 0.0 if nobody accepts.

        Raises:
            WrongStateError: no Decide of a group is being called.

        Source: seed 002, "S04: How Deciders Decide", 3; "S05: Subset Rule".
        """
        return delegate(self)

    # --- as a driver --------------------------------------------------------------------------------------------------

    def join(self, body: Body) -> None:
        """Begin to drive a body.

        Args:
            body: whom.

        Raises:
            WrongStateError: it drives another one.
        """
        self.lose_time()
        try:
            give(self, body, "Memory.join")
        finally:
            self.keep_time()
        if body.kernel is not None:
            self.time = body.kernel.clock.now
        self.update()

    def drive(self) -> None:
        """Tick, once in a tick of the agent; its stimuli have run down before."""
        clock = self._clock
        if clock is None:
            self.require_body()
            raise NotRunningError("a body without a kernel has no time: call memory.tick(dt) in place of drive().")
        now = clock.tick / clock.ticks_per_second
        if now < self.time:  # it was ticked by hand as well, and ran ahead
            self.time = now
        rare = self._rare
        try:
            if rare is not None and rare.update_flags is not None:
                self.decision_flags = rare.update_flags(self.agent)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.require_body().fault(self.name, "decision_flags", error)
        if self._stimuli is not None:
            self._stimuli.pass_to(now)
        try:
            self.tick(now - self.time, None, None, now)
        except AgentRTError as error:
            self.require_body().fault(self.name, "tick", error)

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """Take everything down.

        Args:
            reason: why, in words.
            then: called when the last coroutine has ended; at once if there is none.
        """
        self.rare.leaving = (reason, then)
        self._at_the_end()

    def give_way(self, at: Activation, reason: str) -> None:
        """An activation ends, and its group redecides in the next tick.

        Args:
            at: the activation.
            reason: why, in words.
        """
        self.rare.giving.append((at, reason))
        self._at_the_end()

    def _at_the_end(self) -> None:
        """Do what was asked for: now, or at the end of the tick that runs."""
        if self._is_ticking:
            self.update()
        else:
            self.settle()

    def proceed(self) -> None:
        """A coroutine of something that ends has ended."""
        proceed(self)

    def unwind(self, unwinding: Unwinding) -> bool:
        """Take down what was cut off the path.

        Args:
            unwinding: it.

        Returns:
            Whether it is done; otherwise the tree waits.
        """
        return unwind(self, unwinding)

    def strands(self) -> list[Strand]:
        """The strands of coroutines that have not ended."""
        return [] if self._rare is None else [routine.strand for routine in self._rare.routines]

    def debug_print_state(self, whole_tree: bool = False) -> str:
        """The state as indented text, a line for each decider.

        Args:
            whole_tree: whether to show those that are not active, too.

        Source: seed 002, "S11: Debugging", 1.
        """
        return print_state(self, whole_tree)

    def view(self) -> TreeView:
        """What it is doing, as plain values."""
        return view_of(self)

    def outline(self) -> Outline:
        """The whole tree as it was declared, with the paths that this memory gives it; made once for each tree."""
        return self.tree.outline(self.name)

    def __repr__(self) -> str:
        return f"<Memory {self.name} of {self.tree.name}: {'/'.join(self.active_path) or 'not active'}>"
