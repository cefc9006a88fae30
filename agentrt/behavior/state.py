"""The state of a tree on one agent, and what its parts ask of it.

This is the memory without its tick: the active path, the timers, the stimuli, who is disabled. Deciders, walks and the
views look at it; ``memory`` lets time pass in it.

What is seldom needed lies in ``rare`` and is made when it is needed.

Source: seed 002, "S07: Memory & Blocks".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from agentrt.behavior.activation import Activation
from agentrt.behavior.debugging import Log
from agentrt.behavior.rare import Rare
from agentrt.behavior.stimuli import Stimuli, Stimulus, token_name
from agentrt.body.driver import Body, note
from agentrt.errors import NotRunningError
from agentrt.kernel.rng import Stream, derive_seed
from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from agentrt.behavior.choices import Choice
    from agentrt.behavior.nodes import Node
    from agentrt.behavior.tree import BehaviorTree
    from agentrt.behavior.walking import Walk
    from agentrt.kernel.clock import Clock

__all__ = ["TreeState"]

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
