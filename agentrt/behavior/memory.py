"""The memory of a tree: all that it keeps for one agent, and what authors and the tree's machine see of it.

The tree is shared; a memory is the active path, the time of the last Decide of each decider with a timer, and the
agent's stimuli. Decides are called with it. It is also how a tree drives an agent: ``agent.attach(tree.memory())``.

The active path is a chain of *activations*, from ROOT down to a behavior: each knows its parent and its active child.
An activation is what the hooks of a behavior are called with, it keeps their block, and it is who holds the control
flags of its decider. Activations are made and dropped as deciders come and go.

``index`` is the number of the active child. While there is no child, it is the number of one that failed and was taken
down already (the group has yet to redecide), or -1 (the group has yet to begin). ``mask`` has a bit for each child that
failed in this tick.

What stands above works on a memory: ``decide`` and ``walk``. Those keep what is theirs in ``TreeState``, so that
authors, who hold the memory, do not meet it; what they seldom need lies in ``Rare``, which is made when it is needed,
so that an idle agent does not pay for it. A memory calls them by the ``Machine`` that its tree gave it. Rules:

* A memory is ticked once at a time: what is asked of it meanwhile (``leave``, giving way) happens at the end.
* ``tick`` raises what is wrong with the tree or its use; what the author's functions raise is reported, and disables
  their decider for this agent.
* Whatever makes a tick unusual is told to ``TreeState.update``, or the steady path would pass it by.

Rejected: a memory that is a face for a state below it: Decides look at the memory's own fields in each tick, and every
one of them would be a call.

Source: Spore, behavior trees: "S07: Memory & Blocks"; "S08: Behaviors"; "S09: Initializing and Ticking the Behavior
Tree".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Protocol, TypeVar, overload

from agentrt.behavior.declare import behavior_name
from agentrt.behavior.stimuli import SLACK, Stimuli, Stimulus, token_name
from agentrt.behavior.views import TreeView
from agentrt.body.driver import BEHAVIOR, Body, activity_name, give, note, require_seconds
from agentrt.errors import ENDS_PROGRAM, AgentRTError, DefinitionError, NotRunningError, WrongStateError
from agentrt.kernel.rng import Stream, derive_seed
from agentrt.kernel.trace import TraceEvent

if TYPE_CHECKING:
    from agentrt.behavior.compile import DeciderNode
    from agentrt.body.driver import DeclaredActivity, O_co, P, Routine
    from agentrt.body.flags import Holder
    from agentrt.body.views import Outline
    from agentrt.kernel.clock import Clock
    from agentrt.kernel.strand import Strand

K = TypeVar("K")
V = TypeVar("V")

_ENDLESS = float(2**62)  # seconds
_NEVER = float("-inf")
_NO_TIMERS: list[float] = []
_NOBODY: Mapping[Any, Any] = {}  # all memories share it: what is said of nobody


# --- the active path --------------------------------------------------------------------------------------------------


class ActivationStage(Enum):
    """What becomes of an activation."""

    CANDIDATE = "candidate"  # it was made to ask for control flags, and is not on the path
    WAITING = "waiting"  # the same, while the ledger keeps its place
    GRANTED = "granted"  # the same, and the ledger gave it what it waits for
    ACTIVATING = "activating"  # on the path; the coroutine of its ``activate`` has not ended
    ACTIVE = "active"  # on the path; its ``deactivate`` is due
    FAILED = "failed"  # on the path; its ``activate`` failed, and no ``deactivate`` is due
    ENDING = "ending"  # cut off the path, while coroutines clean up
    ENDED = "ended"  # gone


@dataclass(slots=True, eq=False)
class Extra:
    """What most activations never need."""

    block: Any = None
    dblock: Any = None  # what its Decide left for it
    mask: int = 0  # a bit for each child that failed in this tick
    order: list[int] | None = None  # of a group that shuffles: the numbers of its children
    routines: list[Routine] = field(default_factory=list)  # those that have not ended, in the order in which they began
    has_failed: bool = False  # whether the decider fails when the tree comes by, because a coroutine of it did
    is_due: bool = False  # while it is ending and coroutines are: whether ``deactivate`` has yet to be called
    # whom to activate below when ``activate`` has ended, because they were chosen together with it
    newcomers: list[Activation] = field(default_factory=list)


NO_EXTRA: Final = Extra()  # of all who never needed one; nobody writes into it, see ``Activation.more``


class Activation:
    """A decider that is active on one agent.

    Source: Spore, behavior trees: "S07: Memory & Blocks".
    """

    __slots__ = ("child", "extra", "index", "memory", "node", "parent", "since", "stage")

    def __init__(self, memory: Memory, node: DeciderNode, parent: Activation | None) -> None:
        self.memory: Memory = memory  # the agent's memory of the tree
        self.node: DeciderNode = node  # the decider
        self.parent: Activation | None = parent  # that of the group that chose it; None for ROOT
        self.child: Activation | None = None  # that of the child that is active
        self.index: int = -1  # the number of the active child; see the module
        self.since: float = 0.0  # game seconds at which it was activated
        self.stage: ActivationStage = ActivationStage.CANDIDATE
        self.extra: Extra = NO_EXTRA  # what most never need

    # --- for hooks ----------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the decider."""
        return self.node.name

    @property
    def block(self) -> Any:
        """Its block; None if its behavior declares none."""
        return self.extra.block

    @property
    def dblock(self) -> Any:
        """What its Decide left for it; None if the decider declares none."""
        return self.extra.dblock

    @property
    def agent(self) -> Any:
        """The agent: any object."""
        return self.memory.agent

    @property
    def body(self) -> Body:
        """Whom the tree drives."""
        return self.memory.state.body

    @property
    def stimuli(self) -> Stimuli:
        """What the agent perceives."""
        return self.memory.stimuli

    @property
    def random(self) -> Stream:
        """The agent's random numbers."""
        return self.memory.random

    @property
    def time(self) -> float:
        """Game seconds of this tick."""
        return self.memory.time

    @property
    def dt(self) -> float:
        """Seconds since the last tick."""
        return self.memory.dt

    @property
    def duration(self) -> float:
        """Seconds since it was activated."""
        return self.memory.time - self.since

    @property
    def behavior_flags(self) -> int:
        """The bits that the decider hands to its behavior."""
        return self.node.behavior_flags

    @property
    def path(self) -> str:
        """Its place: the name of the memory, then the deciders from ROOT on."""
        names = [at.node.name for at in self.upward()]
        return "/".join([self.memory.name, *reversed(names)])

    @overload
    def perform(self, activity: DeclaredActivity[P, O_co], /, *args: P.args, **more: P.kwargs) -> Awaitable[O_co]: ...
    @overload
    def perform(self, activity: str, /, **args: object) -> Awaitable[Any]: ...

    def perform(  # type: ignore[misc]  # fields have names, so nothing else is given by its place
        self, activity: str | DeclaredActivity[..., Any], /, **args: Any
    ) -> Awaitable[Any]:
        """Perform an activity of the agent's planner, from within a coroutine; it shares what flags are held here."""
        return self.body.perform(activity_name(activity, args), args, self)

    # --- as a holder of control flags ---------------------------------------------------------------------------------

    @property
    def flag_name(self) -> str:
        """What the ledger calls it."""
        return self.path

    @property
    def runs_for(self) -> Holder | None:
        """For whom it runs: its group, and ROOT for whoever the whole tree acts for."""
        return self.body.holder if self.parent is None else self.parent

    @property
    def precedence(self) -> int:
        """Whose claims win."""
        return self.memory.precedence

    @property
    def is_interruptible(self) -> bool:
        """Whether it gives way."""
        return self.node.interruptible

    def give_way(self, flag: str, claimant: str) -> None:
        """A claim of higher precedence wants one of its flags: it ends, and its group redecides in the next tick."""
        state = self.memory.state
        rare = state.rare
        rare.giving = (*rare.giving, (self, f"gives {flag} to {claimant}"))
        state.at_the_end()

    def flags_granted(self) -> None:
        """The ledger serves its claim; the next tick goes on from here."""
        self.stage = ActivationStage.GRANTED

    # --- what most never need -----------------------------------------------------------------------------------------

    def leave(self, dblock: object) -> None:
        """Its Decide left something for it, or None for nothing."""
        if dblock is not None or self.extra is not NO_EXTRA:
            self.more().dblock = dblock

    def more(self) -> Extra:
        """Room for what most never need, to write into."""
        if self.extra is NO_EXTRA:
            self.extra = Extra()
        return self.extra

    # --- along the path -----------------------------------------------------------------------------------------------

    def downward(self) -> Iterator[Activation]:
        """Itself and what is active below."""
        at: Activation | None = self
        while at is not None:
            yield at
            at = at.child

    def upward(self) -> Iterator[Activation]:
        """Itself and what is above."""
        at: Activation | None = self
        while at is not None:
            yield at
            at = at.parent

    @property
    def depth(self) -> int:
        """How many deciders are above it."""
        return sum(1 for _ in self.upward()) - 1

    def __repr__(self) -> str:
        return f"<Activation {self.path}: {self.stage.value}>"


# --- what the machine keeps -------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class DeciderChoice:
    """Who is to be activated."""

    value: float  # what Decide answered
    asked: DeciderNode  # the child that the group asked; or ROOT
    base: Activation | None  # whose child the first newcomer becomes; None for ROOT
    newcomers: list[Activation]  # from the top down

    def and_then(self, inner: DeciderChoice, value: float) -> DeciderChoice:
        """This choice of a group, together with what the group would choose; a jump takes the place of all of it."""
        if inner.base is not self.newcomers[-1]:
            inner.value = value
            inner.asked = self.asked
            return inner
        return DeciderChoice(value, self.asked, self.base, self.newcomers + inner.newcomers)


class Unwinding(NamedTuple):
    """Activations that end, while coroutines of theirs may have to end first."""

    left: list[Activation]  # those that have not ended, the next one last
    reason: str


class _PausedWalk(Protocol):
    """A walk that waits for a clean-up: a ``Walk``, which explains these."""

    tick: int
    newcomers: list[Activation]

    def resume(self) -> None: ...

    def give_up(self) -> None: ...


_Delegated = tuple[Activation, DeciderChoice | None]  # an activation of a group, and whom it would choose


@dataclass(slots=True, eq=False)
class Rare:
    """What a memory seldom needs. Of its collections most have nothing in them: they are replaced, not changed."""

    precedence: int = 0  # of its claims for control flags
    delegated: _Delegated | None = None  # what the children of a group answered that delegated its Decide to them
    redeciding: Activation | None = None  # the group whose Decide is called because a child failed
    stream: Stream | None = None  # its random numbers
    update_flags: Callable[[Any], int] | None = None  # computes the decision flags, in each tick in which it drives
    # the deciders that are out for this agent: their numbers, with the path at which each raised
    disabled: Mapping[int, str] = field(default_factory=lambda: _NOBODY)
    # those that are out by somebody's hand: their numbers, with their names; see ``Memory.steer``
    barred: Mapping[int, str] = field(default_factory=lambda: _NOBODY)
    steered: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())  # the names that this was made of
    # for whom a control flag is kept by somebody foreign: its path, with the flag and the holder
    refused: Mapping[str, tuple[str, str]] = field(default_factory=lambda: _NOBODY)
    # by their paths, who waits for control flags, or was granted them since
    waiting: Mapping[str, Activation] = field(default_factory=lambda: _NOBODY)
    renewed: tuple[Activation, ...] = ()  # those of them who were asked in this tick
    is_settling: bool = False  # whether what had to wait for the end of a tick is being done
    giving: tuple[tuple[Activation, str], ...] = ()  # who is to give way at the end of the tick, why
    # that the memory is to leave its body at the end of the tick: the reason, and whom to tell
    leaving: tuple[str, Callable[[], object]] | None = None
    left: object = (
        None  # the entity of the body that it left last, which is its agent no more when it joins another one
    )
    unwinding: Unwinding | None = None  # what is being taken down while coroutines clean up
    walk: _PausedWalk | None = None  # the walk that waits for it
    routines: tuple[Routine, ...] = ()  # the coroutines that have not ended, as they began

    @property
    def is_unusual(self) -> bool:
        """Whether more is to be done in a tick than to ask whom it always asks, but for those who are disabled."""
        return bool(self.waiting or self.giving or self.leaving or self.unwinding)


def without(found: Mapping[K, V], key: K) -> Mapping[K, V]:
    """The same without one of its keys, if it has it."""
    return {other: value for other, value in found.items() if other != key} if key in found else found


@dataclass(slots=True, eq=False, repr=False)
class TreeState:
    """What the machine keeps for a memory, and authors have no use for."""

    memory: Memory
    asked: DeciderNode | None = None  # whose Decide is being called
    asked_by: Activation | None = None  # the group that asks it; None for ROOT
    is_plain: bool = True  # nothing unusual: the steady path may run
    is_ticking: bool = False
    seldom: Rare | None = None  # see ``rare``

    @property
    def rare(self) -> Rare:
        if self.seldom is None:
            self.seldom = Rare()
        return self.seldom

    @property
    def has_claims(self) -> bool:
        return self.seldom is not None and bool(self.seldom.waiting)

    @property
    def is_unwinding(self) -> bool:
        """Whether coroutines clean up, and the tree waits for them."""
        return self.seldom is not None and self.seldom.unwinding is not None

    @property
    def body(self) -> Body:
        """Whom it drives; raises if it has not joined anybody."""
        body = self.memory.body
        if body is None:
            name = self.memory.tree.name
            raise NotRunningError(
                f"the memory of the tree {name} drives nobody. Attach it to an agent, or tick it by hand."
            )
        return body

    def path_of(self, node: DeciderNode, parent: Activation | None) -> str:
        return f"{self.memory.name if parent is None else parent.path}/{node.name}"

    def remembered(self, node: DeciderNode, parent: Activation | None) -> _Delegated | None:
        """What was remembered of a group, once."""
        found = None if self.seldom is None else self.seldom.delegated
        if found is None or found[0].node is not node or found[0].parent is not parent:
            return None
        self.rare.delegated = None
        return found

    def fault(self, node: DeciderNode, path: str, hook: str, error: BaseException) -> None:
        self.body.fault(path, hook, error)
        self.disable(node, path, hook)

    def disable(self, node: DeciderNode, path: str, hook: str) -> None:
        rare = self.rare
        if node.number not in rare.disabled:
            rare.disabled = {**rare.disabled, node.number: path}
            self.update()
            note(self.body, path, TraceEvent.DISABLED, (("hook", hook),))

    def is_disabled(self, node: DeciderNode) -> bool:
        rare = self.seldom
        return rare is not None and (node.number in rare.disabled or node.number in rare.barred)

    def update(self) -> None:
        """Find out whether the next tick may be an ordinary one."""
        rare = self.seldom
        self.is_plain = rare is None or not (rare.disabled or rare.barred or rare.is_unusual)

    def at_the_end(self) -> None:
        """Do what was asked for: now, or at the end of the tick that runs."""
        if self.is_ticking:
            self.update()
        else:
            self.memory.tree._machine.settle(self.memory, False)


# --- what authors hold ------------------------------------------------------------------------------------------------


class DebugOutput:
    """Where the log of a tree goes, and how much of it.

    Source: Spore, behavior trees: "S11: Debugging", 2.
    """

    __slots__ = ("agent", "current_decider", "current_level", "current_memory", "current_time", "function", "level")

    def __init__(self) -> None:
        self.level: int = 0  # from 0, nothing, to 5, everything
        self.function: Callable[[str], object] | None = None  # called with each line; None for nobody
        self.agent: Memory | int | None = None  # the memory, or the number of the agent, that is logged; None, 0: all
        # while ``function`` is called: whose memory, the name of the decider at work or "", of the line, game seconds
        self.current_memory: Memory | None = None
        self.current_decider: str = ""
        self.current_level: int = 0
        self.current_time: float = 0.0

    def is_for(self, memory: Memory) -> bool:
        """Whether an agent is logged."""
        if self.function is None:
            return False
        return self.agent in (None, 0, memory, number_of(memory))


def number_of(memory: Memory) -> int:
    return 0 if memory.body is None else memory.body.number


class _StaticTree(Protocol):
    """What a memory knows of its tree, which all agents share that use it: a ``BehaviorTree``, which explains these."""

    name: str
    id: int
    max_redecides: int | None
    debug_output: DebugOutput
    nodes: tuple[DeciderNode, ...]
    num_timers: int
    _machine: ClassVar[Machine]

    def node(self, name: str) -> DeciderNode: ...

    def outline(self, name: str = "tree") -> Outline: ...


@dataclass(slots=True, eq=False)
class Machine:
    """What ticks a memory and shows it, and stands above it; ``BehaviorTree`` has it."""

    steady: Callable[[Memory, Activation], bool]  # go down the active path, until something changes
    in_full: Callable[[Memory], bool]  # tick a tree that is not active, or about which something is unusual
    settle: Callable[[Memory, bool], None]  # do what had to wait for the end of a tick, or of none, between two of them
    delegate: Callable[[Memory], float]  # within the Decide of a group: ask its children, and remember whom it chooses
    view: Callable[[Memory], TreeView]  # what it is doing, as plain values
    text: Callable[[Memory, bool], str]  # its state as indented text; of the whole tree, or of what is active


class Memory:
    """The memory of a tree for one agent, which is also what Decides are called with. Made by ``BehaviorTree.memory``.

    Source: Spore, behavior trees: "S07: Memory & Blocks"; "S09: Initializing and Ticking the Behavior Tree".
    """

    __slots__ = (
        "_clock", "_given_flags", "_stimuli", "agent", "body", "decision_flags", "dt", "name", "root", "state",
        "time", "timers", "tree",
    )  # fmt: skip

    rank = BEHAVIOR  # where it stands in a tick
    view_type: ClassVar[type[TreeView]] = TreeView  # what ``view`` returns

    def __init__(self, tree: _StaticTree, agent: Any, name: str, precedence: int) -> None:
        self.tree: _StaticTree = tree
        self.agent: Any = agent  # any object
        self.body: Body | None = None  # whom it drives; None before it has joined one
        self.name: str = name  # begins the paths of its deciders
        self.root: Activation | None = None  # the activation of ROOT; None while ROOT is not active
        # game seconds of the last Decide of each decider with a timer
        self.timers: list[float] = [_NEVER] * tree.num_timers if tree.num_timers else _NO_TIMERS
        self.time: float = 0.0  # game seconds of this tick
        self.dt: float = 0.0  # seconds since the last one
        self.decision_flags: int = 0  # the word of this tick
        self.state: TreeState = TreeState(self)
        self.precedence = precedence
        self._clock: Clock | None = None  # of the body that it drives
        self._given_flags: int | None = None  # the word of stimuli that this tick was given
        self._stimuli: Stimuli | None = None

    @property
    def precedence(self) -> int:
        """Of its claims for control flags: the higher one wins."""
        return 0 if self.state.seldom is None else self.state.seldom.precedence

    @precedence.setter
    def precedence(self, precedence: int) -> None:
        if precedence != self.precedence:  # that of most is 0, for which no room is needed
            self.state.rare.precedence = precedence

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

        Source: Spore, behavior trees: "S09: Initializing and Ticking the Behavior Tree".
        """
        state = self.state
        if state.is_ticking:
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
        self.dt = dt
        self.time = time
        if decision_flags is not None:
            self.decision_flags = decision_flags
        self._given_flags = stimuli_flags
        at = self.root
        state.is_ticking = True
        try:
            if at is not None and state.is_plain and self.tree.debug_output.level < 3:
                steady = self.tree._machine.steady  # a slot, and not a method: quicker looked up in a step of its own
                return steady(self, at)
            return self.tree._machine.in_full(self)
        finally:
            state.is_ticking = False
            if not state.is_plain:
                self.tree._machine.settle(self, True)

    def _require_later(self, time: float) -> None:
        """Refuse a time that is none, or before the last one: timers and durations would run backwards."""
        if require_seconds(time, "Memory.tick", "time") < self.time - SLACK:
            raise DefinitionError(
                "Memory.tick",
                f"time is {time}, after {self.time} in the last tick.",
                "Time never goes back. Make another memory, or have it leave and join again, for another clock.",
            )

    def delegate_decide_to_children(self) -> float:
        """Within the Decide of a group: ask its children, by its policy.

        Whom the group would choose is remembered, and activated without being asked again if the Decide accepts.

        Returns:
            What the chosen child answered; 0.0 if nobody accepts.

        Raises:
            WrongStateError: no Decide of a group is being called.

        Source: Spore, behavior trees: "S04: How Deciders Decide", 3; "S05: Subset Rule".
        """
        return self.tree._machine.delegate(self)

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
        self._lose_time()
        self._stimuli = stimuli
        self._keep_time()

    @property
    def given_to(self) -> Body | None:
        """Whose it is: whom it drives, or will as soon as that one lives. ``body.driver.give`` and ``take`` set it."""
        return self.body

    @given_to.setter
    def given_to(self, body: Body | None) -> None:
        if body is None:
            self._lose_time()
            if self.body is not None:
                self.state.rare.left = self.body.entity
        elif self.agent is None or (self.state.seldom is not None and self.agent is self.state.seldom.left):
            self.agent = body.entity
        self.body = body

    def _keep_time(self) -> None:
        """Take the time of the body, if one is driven, and let the stimuli run down by themselves."""
        kernel = None if self.body is None else self.body.kernel
        if kernel is not None:
            self._clock = kernel.clock
            if self._stimuli is not None:
                self._stimuli.keep_time(kernel)

    def _lose_time(self) -> None:
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
            note(self.body, self.name, TraceEvent.STIMULUS, (("token", token_name(token)), ("on", is_on)))

    @property
    def random(self) -> Stream:
        """The random numbers of groups that draw, and of whoever wants some."""
        rare = self.state.rare
        if rare.stream is None:
            body = self.state.body
            name = f"{body.name}/{self.name}"
            kernel = body.kernel
            rare.stream = Stream(derive_seed(0, name)) if kernel is None else kernel.stream(name)
        return rare.stream

    def path(self) -> Iterator[Activation]:
        """The activations, from ROOT down."""
        return iter(()) if self.root is None else self.root.downward()

    # --- looking ------------------------------------------------------------------------------------------------------

    @property
    def active_path(self) -> tuple[str, ...]:
        """The names of the active deciders, from ROOT down."""
        return tuple(at.node.name for at in self.path())

    @property
    def behavior(self) -> str | None:
        """The name of the behavior at the end of the path, if there is one."""
        return next((behavior_name(at.node.behavior) for at in self.path() if not at.node.children), None)

    def activation(self, name: str) -> Activation | None:
        """The activation of a decider of that name; None if it is not active."""
        return next((at for at in self.path() if at.node.name == name), None)

    def enable(self, name: str) -> None:
        """Take a decider of that name in again that was disabled."""
        node = self.tree.node(name)
        state = self.state
        if state.seldom is not None:
            state.seldom.disabled = without(state.seldom.disabled, node.number)
            state.update()

    @property
    def disabled(self) -> tuple[str, ...]:
        """The paths at which deciders were disabled."""
        return () if self.state.seldom is None else tuple(self.state.seldom.disabled.values())

    def debug_print_state(self, whole_tree: bool = False) -> str:
        """The state as indented text, a line for each active decider, or for each of the whole tree.

        Source: Spore, behavior trees: "S11: Debugging", 1.
        """
        return self.tree._machine.text(self, whole_tree)

    def view(self) -> TreeView:
        """What it is doing, as plain values."""
        return self.tree._machine.view(self)

    def outline(self) -> Outline:
        """The whole tree as it was declared, with the paths that this memory gives it; made once for each tree."""
        return self.tree.outline(self.name)

    # --- as a driver --------------------------------------------------------------------------------------------------

    def join(self, body: Body) -> None:
        """Begin to drive a body; ``WrongStateError`` if it drives another one."""
        self._lose_time()
        try:
            give(self, body, "Memory.join")
        finally:
            self._keep_time()
        if body.kernel is not None:
            self.time = body.kernel.clock.now
        if self.state.seldom is not None:
            self.state.seldom.barred, self.state.seldom.steered = _NOBODY, (frozenset(), frozenset())
        self.state.update()

    def drive(self) -> None:
        """Tick, once in a tick of the agent; its stimuli have run down before."""
        clock = self._clock
        if clock is None:
            _ = self.state.body  # which raises, if it has joined none
            raise NotRunningError("a body without a kernel has no time: call memory.tick(dt) in place of drive().")
        now = clock.begun
        if now < self.time:  # it was ticked by hand as well, and ran ahead
            self.time = now
        rare = self.state.seldom
        try:
            if rare is not None and rare.update_flags is not None:
                self.decision_flags = rare.update_flags(self.agent)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.state.body.fault(self.name, "decision_flags", error)
        if self._stimuli is not None:
            self._stimuli.pass_to(now)
        try:
            passed = now - self.time
            self.tick(clock.passed if passed == clock.passed else passed, None, None, now)
        except AgentRTError as error:
            self.state.body.fault(self.name, "tick", error)

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """Take everything down; see ``Driver``."""
        self.state.rare.leaving = (reason, then)
        self.state.at_the_end()

    def reloaded(self, classes: frozenset[type], trees: frozenset[object]) -> bool:
        """Its tree may be another one: what is active is taken down, and the tree begins anew, with its stimuli.

        When each decider was asked last begins anew as well, and those that were out are in again.
        """
        if self.tree not in trees:
            return False
        body = self.body
        if body is None:
            self._begin_anew()
        else:

            def begin_anew() -> None:
                steered = self.state.rare.steered
                self._begin_anew()
                self.join(body)
                self.steer(*steered)

            self.leave("its code was read again", begin_anew)
        return True

    def _begin_anew(self) -> None:
        self.timers = [_NEVER] * self.tree.num_timers if self.tree.num_timers else _NO_TIMERS
        if self.state.seldom is not None:
            self.state.seldom.disabled = _NOBODY

    def steer(self, disabled: frozenset[str], forced: frozenset[str]) -> None:
        """Say which deciders are out by somebody's hand, and which their groups ask alone, by their names.

        Of one that is forced all groups above it ask nobody else than whoever leads there; whether it is chosen it
        still says itself. What is out and active ends. It replaces what was said before, and ends when the memory
        joins another body.
        """
        state = self.state
        if state.seldom is None and not disabled and not forced:
            return
        nodes = self.tree.nodes
        barred = {node.number: node.name for node in nodes[1:] if node.name in disabled}
        leading = {node.number for node in nodes if node.name in forced}
        known = 0
        while len(leading) > known:  # a group may come after what it shares with another one
            known = len(leading)
            leading |= {node.number for node in nodes if any(child.number in leading for child in node.children)}
        for node in nodes:
            below = [child.number for child in node.children]
            if node.number in leading and node.name not in forced and not leading.isdisjoint(below):
                barred |= {child.number: child.name for child in node.children if child.number not in leading}
        rare = state.rare
        rare.barred, rare.steered = barred, (disabled, forced)
        first = next((at for at in self.path() if at.node.number in barred), None)
        if first is not None:
            rare.giving = (*rare.giving, (first, "it is out by hand"))
        state.at_the_end()
        state.update()

    def strands(self) -> list[Strand]:
        """The strands of coroutines that have not ended."""
        return [] if self.state.seldom is None else [routine.strand for routine in self.state.seldom.routines]

    def __repr__(self) -> str:
        return f"<Memory {self.name} of {self.tree.name}: {'/'.join(self.active_path) or 'not active'}>"
