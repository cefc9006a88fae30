"""From behavior to behavior: the one place that selects, destructs and constructs.

    NONE       no behavior
    BEGINNING  the constructor runs; if it is a coroutine, for some ticks
    ACTIVE     the constructor has returned: ``run`` runs, signals reach its methods; also a leaf whose behavior nobody
               registered
    LEAVING    its coroutines were cancelled and clean up; then the destructor is called, at once if there are none

Rules:

* A destructor belongs to a constructor that has returned, once. What was cancelled or raised before has neither.
* One decision for each drive: variables that constructors set count at the next one, so that behaviors that select each
  other in turn do not hang the world. Who follows a behavior that takes time to leave is the newest decision.
* A callback that raises is reported once, and its behavior is out for this agent, until the tree changes or the state
  joins a body again: it leaves, and its leaves are passed over. A constructor is replaced in the same drive.
* What a signal's method raised says more about what was sent than about the behavior: that one is out only until the
  variables select another behavior, so that it is back when it is entered again.
* ``_settle`` alone moves from phase to phase, one step after the other, and it is not re-entered: what a callback asks
  for (leave, drive) happens when the callback has returned.

Source: seed 004, "Behavior Selection Tree Evaluation".
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from agentrt.body.driver import Body, Routine, note, take
from agentrt.errors import ENDS_PROGRAM, WrongStateError
from agentrt.kernel.trace import Event
from agentrt.selection.holding import LeafFlags
from agentrt.selection.leaf import Behaviors, BehaviorSource, LeafBehavior, made
from agentrt.selection.variables import TreeVariables

if TYPE_CHECKING:
    from agentrt.selection.program import Node
    from agentrt.selection.state import SelectionState
    from agentrt.selection.tree import SelectionTree

__all__ = ["Phase", "Stage"]


class Phase(StrEnum):
    """How far a behavior is; see the module's text."""

    NONE = "none"
    BEGINNING = "beginning"
    ACTIVE = "active"
    LEAVING = "leaving"


NONE, BEGINNING, ACTIVE, LEAVING = Phase
_OWN_HOOKS = ("constructor", "destructor", "run")  # all others are signals


class Stage(TreeVariables):
    """The behavior of one agent, and how it comes to another.

    Args:
        tree: the tree.
        behaviors: what the leaves select, by name.
        name: of the driver.
        precedence: of its claims for control flags.

    Attributes:
        behaviors: as given.
        precedence: as given.
        phase: how far the behavior is.
    """

    __slots__ = (
        "_behavior",
        "_busy",
        "_constructed",
        "_due",
        "_flags",
        "_given",
        "_leaf",
        "_leaving",
        "_lost",
        "_out",
        "_routines",
        "_target",
        "behaviors",
        "phase",
        "precedence",
    )

    def __init__(self, tree: SelectionTree, behaviors: Behaviors, name: str, precedence: int) -> None:
        super().__init__(tree, name)
        self.behaviors: Behaviors = behaviors
        self.precedence: int = precedence
        self.phase: Phase = NONE
        self._due: bool = False  # to be evaluated now
        self._busy: bool = False  # a callback is on the stack, or _settle
        self._leaf: Node | None = None
        self._behavior: LeafBehavior | None = None
        self._constructed: bool = False
        self._target: Node | None = None  # begins when the current behavior is gone
        self._flags: LeafFlags | None = None  # if a behavior has control flags
        self._routines: list[Routine] | None = None
        self._out: dict[str, str] | None = None  # behavior -> the path at which it raised
        self._lost: frozenset[str] | None = None  # those of them that only could not take a signal
        self._given: Body | None = None  # whose it is, also before it drives
        self._leaving: tuple[str, Callable[[], object]] | None = None  # the body: why, and who is told

    @property
    def body(self) -> Body:
        """Whom it drives.

        Raises:
            WrongStateError: nobody.
        """
        body = self._body or self._given
        if body is None:
            remedy = "Attach the state to an agent, or join it to a LoneBody."
            raise WrongStateError("SelectionState.body", "it drives nobody", remedy)
        return body

    @property
    def current(self) -> LeafBehavior | None:
        """The current behavior itself; None if there is none, or nobody registered it."""
        return self._behavior

    @property
    def _state(self) -> SelectionState:
        """Itself, as authors know it."""
        return cast("SelectionState", self)

    # --- the steps ----------------------------------------------------------------------------------------------------

    def _update(self) -> None:
        """Something changed: decide, and do what follows."""
        if self._body is None:
            remedy = "Attach it to an agent, or join it to a LoneBody."
            raise WrongStateError("SelectionState.drive", "it drives nobody", remedy)
        if self._program is not self.tree.program:
            self._adopt()
        self._due = True
        self._settle()

    def _settle(self) -> None:
        """Do what is to be done, step by step, until nothing is left, or something has to be waited for."""
        if self._busy or self._body is None:
            return
        self._busy = True
        try:
            while self._step():
                pass
        finally:
            self._busy = False

    def _step(self) -> bool:
        """One step; whether there may be another."""
        if self.phase is LEAVING:
            if self._due and self._leaving is None:
                self._due = self._stale = False
                self._target = self._select()
            if self._routines:
                return False
            self._end()
            return True
        if self._leaving is not None:
            if self._leaf is not None:
                self._begin_leaving(self._leaving[0])
                return True
            self._depart()
            return False
        if self._due:
            return self._change()
        if self._leaf is None and self._target is not None:
            self._begin(self._target)
            return True
        return False

    def _change(self) -> bool:
        """Decide, and leave the current behavior if it is another one; whether a step follows."""
        self._due = self._stale = False
        leaf = self._leaf
        target = self._target = self._select()
        if leaf is None:
            return target is not None
        if self.phase is LEAVING:
            return True  # it gave way while others were asked
        if target is not None and target.behavior == leaf.behavior:
            self._leaf, self._target = target, None
            return False
        self._begin_leaving("another one is selected" if target is not None else "none is selected")
        return True

    def _begin_leaving(self, reason: str) -> None:
        self.phase = LEAVING
        if self._routines:
            for routine in tuple(self._routines):
                routine.stop(reason)
        self._note(Event.DEACTIVATE, "reason", reason)

    def _end(self) -> None:
        """All coroutines have ended: the destructor is called, and the behavior is gone."""
        behavior = self._behavior
        if behavior is not None and self._constructed:
            self._call("destructor", behavior.destructor, self._state)
        self._forget()

    def _forget(self) -> None:
        self.phase = NONE
        self._leaf = self._behavior = None
        self._constructed = False
        if self._flags is not None:
            self._flags.end()

    def _begin(self, leaf: Node) -> None:
        """The leaf becomes current, and its behavior begins."""
        self._target = None
        name = leaf.behavior or ""
        if self._out is not None and name in self._out:
            self._due = True  # it came back while it was leaving, and broke
            return
        if self._flags is not None:
            self._flags.begin(name)
        self._leaf = leaf
        source = self.behaviors.get(name)
        if source is None:
            self.phase = ACTIVE
            self._note(Event.ACTIVATE, "behavior", name, ("registered", False))
            return
        self.phase = BEGINNING
        self._note(Event.ACTIVATE, "behavior", name)
        if not self._call("constructor", self._construct, source):
            if self.phase is BEGINNING:
                self._note(Event.DEACTIVATE, "reason", "its constructor raised")
            self._due = True
            self._forget()
        elif not self._routines:  # it was no coroutine
            self._begun()

    def _construct(self, source: BehaviorSource) -> Any:
        behavior = self._behavior = source if isinstance(source, LeafBehavior) else made(source)
        return behavior.constructor(self._state)

    def _begun(self) -> None:
        """The constructor has returned."""
        self._constructed = True
        behavior = self._behavior
        if self.phase is BEGINNING and behavior is not None:  # else it is leaving already
            self.phase = ACTIVE
            if type(behavior).run is not LeafBehavior.run:
                self._call("run", behavior.run, self._state)

    def _depart(self) -> None:
        assert self._leaving is not None
        _, then = self._leaving
        self._leaving = self._target = self._body = None
        self._due, self._stale = False, True
        take(self, self._given)
        then()

    # --- callbacks ----------------------------------------------------------------------------------------------------

    def _call(self, hook: str, callback: Callable[..., Any], *args: Any) -> bool:
        """Call an author's function; a coroutine becomes a routine. Whether it did not raise."""
        busy, self._busy = self._busy, True
        try:
            result = callback(*args)
            if result is not None and isinstance(result, Coroutine):
                self._go(hook, result)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.body.fault(self._path(), hook, error)
            self._put_out(hook)
            return False
        finally:
            self._busy = busy
        return True

    def _go(self, hook: str, coro: Coroutine[Any, Any, Any]) -> None:
        """Let a coroutine of the current behavior run."""
        routine = Routine(self.body, self._path(), hook, coro, self._ended)
        self._routines = [*(self._routines or ()), routine]
        if self.phase is LEAVING:  # the callback itself had it leave
            routine.stop("the behavior is leaving")

    def _ended(self, routine: Routine) -> None:
        """A routine ended; called by it."""
        self._routines = [one for one in self._routines or () if one is not routine] or None
        if routine.error is not None:
            self._put_out(routine.hook)
        elif not self._constructed and routine.hook == "constructor":
            if routine.strand.error is None:
                self._begun()
            elif self.phase is BEGINNING:  # what it awaited on the host was cancelled there
                self._stale = True
                self._begin_leaving("its constructor was cancelled")
        self._settle()

    def _put_out(self, hook: str) -> None:
        """The current behavior is out for this agent: it is left at the next drive at the latest."""
        if self._leaf is not None and self._leaf.behavior is not None:
            name = self._leaf.behavior
            if self._out is None:
                self._out = {}
            if hook in _OWN_HOOKS:
                self._lost = (self._lost or frozenset()) - {name}
            elif name not in self._out:
                self._lost = (self._lost or frozenset()) | {name}
            self._out.setdefault(name, self._path())
            self._stale = True
            self._note(Event.DISABLED, "hook", hook)

    def _path(self) -> str:
        return self.name if self._leaf is None else f"{self.name}/{self._leaf.path}"

    def _note(self, event: Event, key: str, value: str, *more: tuple[str, bool]) -> None:
        body = self._body
        if body is not None:
            kernel = body.kernel
            if kernel is not None and kernel.trace.on:
                note(body, self._path(), event, ((key, value), *more))

    def _adopted(self) -> None:
        self._out = self._lost = None

    def _take_in(self) -> None:
        """Forget who is out for a signal, and would not be selected anyway: he may be entered again."""
        leaf = self._program.select(self._bits)
        stays = "" if leaf is None else leaf.behavior or ""
        back = (self._lost or frozenset()) - {stays}
        if back and self._out is not None:
            self._lost = (self._lost or frozenset()) & {stays} or None
            self._out = {name: path for name, path in self._out.items() if name not in back} or None

    # --- choosing, and control flags ----------------------------------------------------------------------------------

    def _select(self) -> Node | None:
        """The first leaf whose conditions hold, whose behavior is not out, and whose control flags can be had."""
        if self._lost:
            self._take_in()
        out = self._out
        leaf = self._program.walk(self._bits, out) if out else self._program.select(self._bits)
        flags = self._flags
        if flags is None:
            if leaf is None or leaf is self._leaf or not getattr(self.behaviors.get(leaf.behavior or ""), "flags", ()):
                return leaf
            flags = self._flags = LeafFlags(self._state)
        return flags.choose(self._program, leaf, self._bits, out or ())

    def flags_of(self, leaf: Node) -> tuple[str, ...]:
        """The control flags that the behavior of a leaf needs, in a fixed order.

        Args:
            leaf: the leaf.
        """
        return tuple(sorted(getattr(self.behaviors.get(leaf.behavior or ""), "flags", ())))

    @property
    def is_leaving(self) -> bool:
        """Whether the current behavior was told to leave and has not ended."""
        return self.phase is LEAVING

    def abandon(self, reason: str) -> None:
        """Leave the current behavior before the next drive, which selects anew.

        Args:
            reason: why, in words.
        """
        self.forget_target()
        if self._leaf is not None and self.phase is not LEAVING:
            self._begin_leaving(reason)
            self._settle()

    def forget_target(self) -> None:
        """Who was to follow does not; the next drive selects anew."""
        self._target = None
        self._stale = True

    def look_again(self) -> None:
        """Evaluate at the next drive, whether or not a variable changes."""
        self._stale = True
