"""The state of one agent: its variables, and the behavior that it is in.

All that the tree knows about an agent is one integer with a bit for each variable. Who sets a variable (a signal, a
behavior, the game) only marks the state as *stale*; the tree is evaluated at the next ``drive``, and only then: an
update after which nothing changed costs one comparison.

A decision is a leaf, and what counts is the behavior that it selects. If that is the current one, nothing happens.
Otherwise the current one leaves, then the next begins; how, is in ``stage``. This module is what others see of it: the
driver of a body, and what behaviors and the game call.

Rejected: evaluating whenever a variable is set (a signal that sets two of them would pass through a state that nobody
meant).

Source: seed 004, "Behavior Selection Tree Evaluation".

The variables of one agent: one integer with a bit for each, and the tree that says which is which.

Rules:

* Setting a variable evaluates nothing; it marks the state as *stale*, and only if the value is another one.
* The program is that of the tree when it was looked at last. Whoever sets or asks takes a new one over first
  (``adopt``): values stay by name, what is new has its default.
* Names ignore case. One that the tree does not declare is an error; in the compatible mode it is false and stays so.

Source: seed 004, "Selection Variables", "each AI instance gets a copy of the selection variables".

From behavior to behavior: the one place that selects, destructs and constructs.

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

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, cast

from agentrt.body.codec import Fields
from agentrt.body.driver import SELECTION, Body, Routine, give, note, number_in, take
from agentrt.errors import ENDS_PROGRAM, DataFault, DefinitionError, WrongStateError
from agentrt.kernel.trace import Event
from agentrt.selection.holding import LeafFlags
from agentrt.selection.leaf import Behaviors, BehaviorSource, LeafBehavior, made
from agentrt.selection.views import NO_BEHAVIOR, SelectionView, passed_over
from agentrt.words import error_words, repr_of, type_name

if TYPE_CHECKING:
    from agentrt.body.views import Outline
    from agentrt.kernel.strand import Strand
    from agentrt.selection.program import Node, Program
    from agentrt.selection.tree import SelectionTree

__all__ = ["TreeVariables", "Phase", "Stage", "SelectionState"]


class TreeVariables:
    """What an agent has of a tree.

    Args:
        tree: the tree.
        name: of the driver, for traces.

    Attributes:
        tree: as given.
        name: as given.
    """

    __slots__ = ("_bits", "_body", "_program", "_stale", "name", "tree")

    def __init__(self, tree: SelectionTree, name: str) -> None:
        self.tree: SelectionTree = tree
        self.name: str = name
        self._program: Program = tree.program
        self._bits: int = tree.program.defaults
        self._body: Body | None = None
        self._stale: bool = True  # to be evaluated at the next drive

    @property
    def variables(self) -> dict[str, bool]:
        """The variables by name, in the order of declaration; a copy."""
        program, old = self.tree.program, self._program
        return program.values(self._bits if program is old else program.translated(self._bits, old))

    @property
    def is_stale(self) -> bool:
        """Whether the tree is evaluated at the next drive."""
        return self._stale or self._program is not self.tree.program

    def is_set(self, name: str) -> bool:
        """Whether a variable is true.

        Args:
            name: in any case.

        Raises:
            UnknownVariableError: the tree declares no such variable; in the compatible mode it is false.
        """
        program = self._adopt()
        return self._bits & program.mask(name) != 0

    def set_variable(self, name: str, value: bool) -> bool:
        """Turn a variable on or off; the tree is evaluated at the next drive.

        Args:
            name: in any case.
            value: what it is from now on.

        Returns:
            Whether it was different before.

        Raises:
            UnknownVariableError: the tree declares no such variable; in the compatible mode nothing happens.
            DefinitionError: the value is neither True nor False.

        Source: seed 004, "Selection Variables": "externally by both the AI system and the behaviors themselves".
        """
        given: object = value
        if given is not True and given is not False:
            value = _boolean(given, name)
        program = self._program
        if program is not self.tree.program:
            program = self._adopt()
        mask = program.masks.get(name)
        if mask is None:
            mask = program.mask(name)
            if not mask and self._body is not None:
                note(self._body, self.name, Event.IGNORED, (("variable", name),))
        return self._put(mask, value, "")

    def save(self) -> dict[str, Any]:
        """What has to be kept of it, as JSON values: the tree's name and the variables. The behavior follows."""
        return {"tree": self.tree.name, "variables": self.variables}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take saved variables over; those that the tree does not declare any more are left out.

        What is not there keeps its value. Whatever is given, either all of it is taken over or nothing.

        Args:
            saved: what ``save`` returned, of a tree of the same name.

        Raises:
            DataFault: it is nothing that ``save`` returns, it is of another tree, or there is far too much of it.
        """
        program = self._adopt()
        found = _saved_variables(saved, program.name)
        changes: dict[int, bool] = {}
        for name, value in found:
            mask = program.masks.get(str.lower(name), 0)
            if changes.setdefault(mask, value) is not value and mask:
                text = f"the variable {repr_of(name, 80)} stands here twice, as true and as false. Remove one of them."
                raise DataFault(text, pointer="/variables")
        for mask, value in changes.items():
            self._put(mask, value, "")

    # --- for the state ------------------------------------------------------------------------------------------------

    def _adopt(self) -> Program:
        """Take the tree's program over if it is another one."""
        program, old = self.tree.program, self._program
        if program is not old:
            self._bits = program.translated(self._bits, old)
            self._program = program
            self._stale = True
            if self._body is not None:
                note(self._body, self.name, Event.NOTE, (("reloaded", program.name), ("version", self.tree.version)))
            self._adopted()
        return program

    def _adopted(self) -> None:
        """A new program was taken over."""

    def _put(self, mask: int, value: bool, signal: str) -> bool:
        old = self._bits
        bits = old | mask if value else old & ~mask
        if bits == old:
            return False
        self._bits = bits
        self._stale = True
        body = self._body
        if body is not None:
            kernel = body.kernel
            if kernel is not None and kernel.trace.on:
                (name,) = (one.name for one in self._program.variables if one.mask == mask)
                detail = (("variable", name), ("value", bits > old), ("signal", signal or None))
                note(body, self.name, Event.VARIABLE, detail)
        return True


MOST_SAVED = 10_000  # variables of one saved state; a tree has no more parts than that
_LONGEST_SAVED = 4096  # characters of a name, as in a file


def _boolean(value: object, name: str) -> bool:
    """A value of an author that may stand for a boolean: 0, 1, and what other libraries have in place of them.

    A text from a file or a console would be true whatever it says.

    Args:
        name: of the variable, for the error.
    """
    try:
        is_one = value in (False, True)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # it cannot even be compared
        is_one = False
    if is_one:
        return bool(value)
    raise DefinitionError(
        f"variable {repr_of(name, 80)}", f"it cannot be set to {repr_of(value, 80)}.", "Write True or False."
    )


def _saved_variables(saved: object, tree: str) -> list[tuple[str, bool]]:
    """What stands in a saved state, read before anything is changed.

    Args:
        tree: the name of the tree that it has to be of.
    """
    plain = _plain_dict(saved)
    of = Fields(plain).text("tree")
    if str.lower(of) != tree.lower():
        text = f"it was saved of the tree {repr_of(of, 80)}, and this is {repr_of(tree, 80)}. Restore it into a state"
        raise DataFault(f"{text} of that tree.", pointer="/tree")
    inner = _plain_dict(plain.get("variables") if isinstance(plain, dict) else None)
    variables = Fields(inner, "/variables")
    names = variables.names()
    if any(len(name) > _LONGEST_SAVED for name in names):
        raise DataFault(f"a name here is longer than {_LONGEST_SAVED} characters.", pointer="/variables")
    return [(name, variables.flag(name)) for name in names]


def _plain_dict(given: object) -> object:
    """A mapping as a dict, so that what somebody else wrote is asked once and not believed afterwards."""
    if not isinstance(given, Mapping):
        return given
    try:
        if len(given) > MOST_SAVED:
            raise DataFault(f"it has more than {MOST_SAVED} entries, and no tree has so many. It is no saved state.")
        return dict(islice(given.items(), MOST_SAVED))
    except ENDS_PROGRAM:
        raise
    except DataFault:
        raise
    except BaseException as error:
        raise DataFault(f"it cannot be read: {error_words(error, 80)}. Give what save() returned.") from None


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


_NOTHING: Behaviors = {}


class SelectionState(Stage):
    """The variables and the behavior of one agent; the driver of its body. Made by ``SelectionTree.state``.

    Args:
        tree: the tree.
        behaviors: what the leaves select, by name; kept, not copied.
        body: whom it drives, at once; None if it joins one later.
        name: begins the paths of its leaves.
        precedence: of its claims for control flags.

    Attributes:
        rank: where it stands in a tick.
        view_type: what ``view`` returns.

    Raises:
        DefinitionError: something in ``behaviors`` is neither a behavior nor makes one.

    Source: seed 004, "each AI instance gets a copy of the selection variables".
    """

    __slots__ = ()

    rank = SELECTION
    view_type: ClassVar[type[SelectionView]] = SelectionView

    def __init__(
        self,
        tree: SelectionTree,
        behaviors: Behaviors | None = None,
        *,
        body: Body | None = None,
        name: str = "selection",
        precedence: int = 0,
    ) -> None:
        given: object = _NOTHING if behaviors is None else behaviors
        if not isinstance(given, Mapping):
            raise DefinitionError(
                "SelectionTree.state",
                f"its behaviors are {repr_of(given, 80)}.",
                'Give a mapping of their names: tree.state({"Idle": Idle}). An agent attaches the state: '
                "agent.attach(tree.state(...)).",
            )
        number_in(precedence, "SelectionTree.state", "precedence")
        super().__init__(tree, given, name, precedence)
        for key, source in self.behaviors.items():
            if not isinstance(source, LeafBehavior) and not callable(source):
                raise DefinitionError(
                    f"behaviors[{repr_of(key, 80)}]",
                    f"it is a {type_name(source)}.",
                    "Give an instance or a class derived from LeafBehavior, or a function that makes one.",
                )
        if body is not None:
            self.join(body)

    # --- the driver of a body -----------------------------------------------------------------------------------------

    def join(self, body: Body) -> None:
        """Begin to drive a body. Nothing is decided before the first ``drive``; variables stay as they are.

        Args:
            body: whom.

        Raises:
            WrongStateError: it drives one already.
        """
        if self._body is not None:
            raise WrongStateError(
                "SelectionState.join", "it drives a body", "Make a state for each agent: tree.state()."
            )
        give(self, body, "SelectionState.join")
        self._body = body
        self._stale = True
        self._out = self._lost = None

    @property
    def given_to(self) -> Body | None:
        """Whose it is: whom it drives, or will drive as soon as that one lives.

        Set by ``agentrt.body.driver.give`` and ``take`` alone.
        """
        return self._given

    @given_to.setter
    def given_to(self, body: Body | None) -> None:
        self._given = body

    def drive(self) -> None:
        """Evaluate the tree if a variable or the tree changed, and change the behavior if another one is selected.

        Raises:
            WrongStateError: it drives nobody.

        Source: seed 004, "On each AI system update of an AI".
        """
        if self._stale or self._program is not self.tree.program:
            self._update()

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """Stop for good, or until it joins a body again: the behavior leaves.

        Args:
            reason: why, in words.
            then: called when all has ended; at once if no coroutine runs.
        """
        if self._body is None:
            then()
            return
        before = self._leaving
        if before is not None:
            told = before[1]
            self._leaving = (before[0], lambda: (told(), then()))
        else:
            self._leaving = (reason, then)
        self.forget_target()
        if self._flags is not None:
            self._flags.drop()
        self._settle()

    def strands(self) -> list[Strand]:
        """The strands of its coroutines that have not ended, in the order in which they began."""
        return [routine.strand for routine in self._routines or ()]

    def view(self) -> SelectionView:
        """What it is doing, as plain values."""
        leaf = self._leaf
        held = waiting = None
        if self._flags is not None:
            held, waiting = self._flags.held, self._flags.waiting
        return SelectionView(
            name=self.name,
            tree=self.tree.name,
            leaf="" if leaf is None else leaf.path,
            behavior=NO_BEHAVIOR if leaf is None else leaf.behavior or "",
            is_registered=self._behavior is not None,
            phase=str(self.phase),
            variables=tuple(self.variables.items()),
            flags=() if held is None else held.flags,
            waits_for="" if waiting is None else waiting.behavior,
            out=tuple((self._out or {}).items()),
            routines=tuple(routine.hook for routine in self._routines or ()),
            failed=passed_over(self._program, self._bits, leaf, self.name),
            version=self.tree.version,
        )

    def outline(self) -> Outline:
        """The whole tree as its file has it, with the paths that this state gives it; made once for each version."""
        return self.tree.outline(self.name)

    # --- for behaviors and for the game -------------------------------------------------------------------------------

    @property
    def entity(self) -> Any:
        """The entity of the body."""
        return self.body.entity

    @property
    def leaf(self) -> str:
        """The path of the current leaf from the root on, such as ``Root/Combat/Attack``; empty if there is none."""
        return "" if self._leaf is None else self._leaf.path

    @property
    def behavior(self) -> str | None:
        """The name of the current behavior, after translation; None if no leaf is selected."""
        return None if self._leaf is None else self._leaf.behavior

    def signal(self, name: str, /, **data: Any) -> bool:
        """Tell it that something happened.

        First the signal variables are set, in the order of the file, then the current behavior is told.

        Args:
            name: of the signal; case counts.
            data: for the behavior.

        Returns:
            Whether anybody took notice.

        Source: seed 004, "Signal Variables", "Behavior Selection Tree Evaluation".
        """
        effects = self._adopt().signals.get(name, ())
        for effect in effects:
            self._put(effect.mask, effect.test(self._bits), name)
        behavior = self._behavior
        if self.phase is not Phase.ACTIVE or behavior is None:
            return bool(effects)
        kind = type(behavior)
        if name not in kind.signals and kind.on_signal is LeafBehavior.on_signal:
            return bool(effects)
        self._call(name, behavior.on_signal, self, name, data)
        self._settle()
        return True

    def perform(self, activity: str, **args: Any) -> Awaitable[Any]:
        """Perform an activity of the agent's planner from within a coroutine of the behavior, with its control flags.

        Args:
            activity: what to perform.
            args: its arguments.
        """
        return self.body.perform(activity, args, None if self._flags is None else self._flags.held)

    def __repr__(self) -> str:
        return f"<SelectionState {self.tree.name}: {self.leaf or NO_BEHAVIOR}, {self.phase}>"
