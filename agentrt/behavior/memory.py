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
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from agentrt.behavior.activation import Activation
from agentrt.behavior.asking import SLACK
from agentrt.behavior.choosing import accepted, attempt, delegate
from agentrt.behavior.printing import print_state
from agentrt.behavior.state import TreeState
from agentrt.behavior.unwinding import Unwinding
from agentrt.behavior.upkeep import drop_walk, proceed, settle, unwind
from agentrt.behavior.views import TreeView, view_of
from agentrt.behavior.walking import Step, Walk
from agentrt.body.driver import BEHAVIOR, Body, LoneBody, give, require_seconds
from agentrt.errors import ENDS_PROGRAM, AgentRTError, DefinitionError, NotRunningError, WrongStateError

if TYPE_CHECKING:
    from agentrt.behavior.choices import Choice
    from agentrt.behavior.nodes import Node
    from agentrt.body.model_views import Outline
    from agentrt.kernel.strand import Strand

__all__ = ["Memory"]

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
