"""The state of one agent on a selection tree: its variables, and the behavior that it is in.

All that the tree knows about an agent is one integer with a bit for each variable (``Variables``). Who sets a variable
(a signal, a behavior, the game) only marks the state as *stale*; the tree is evaluated at the next ``drive``, and only
then: an update after which nothing changed costs one comparison. A decision is a leaf, and what counts is the behavior
that it selects. If that is the current one, nothing happens. Otherwise the current one leaves, then the next begins, on
the ``Stage``, which is the one place that selects, destructs and constructs:

    NONE       no behavior
    BEGINNING  the constructor runs; if it is a coroutine, for some ticks
    ACTIVE     the constructor has returned: ``run`` runs, signals reach its methods; also a leaf whose behavior nobody
               registered
    LEAVING    its coroutines were cancelled and clean up; then the destructor is called, at once if there are none

``SelectionState`` is both as behaviors and the game see them, and the driver of a body. It is also what a
``LeafBehavior`` is given, by whose callbacks authors say what an agent does; the two name each other, so they stand
here together. Rules:

* The program is that of the tree when it was looked at last. Whoever sets or asks takes a new one over first
  (``adopt``): values stay by name, what is new has its default.
* Names ignore case. One that the tree does not declare is an error; in the compatible mode it is false and stays so.
* A destructor belongs to a constructor that has returned, once. What was cancelled or raised before has neither.
* One decision for each drive: variables that constructors set count at the next one, so that behaviors that select each
  other in turn do not hang the world. Who follows a behavior that takes time to leave is the newest decision.
* A callback that raises is reported once, and its behavior is out for this agent, until the tree changes or the state
  joins a body again: it leaves, and its leaves are passed over. A constructor is replaced in the same drive.
* What a signal's method raised says more about what was sent than about the behavior: that one is out only until the
  variables select another behavior, so that it is back when it is entered again.
* ``settle`` alone moves from phase to phase, one step after the other, and it is not re-entered: what a callback asks
  for (leave, drive) happens when the callback has returned.

Rejected: evaluating whenever a variable is set (a signal that sets two of them would pass through a state that nobody
meant).

Source: CryEngine, selection trees: "Behavior Selection Tree Evaluation", constructor, destructor, ``OnSoundHeard``;
"Selection Variables", "each AI instance gets a copy of the selection variables".
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from agentrt.body.codec import JsonObject
from agentrt.body.driver import SELECTION, Body, Routine, give, note, number_in, take
from agentrt.errors import ENDS_PROGRAM, DataFault, DefinitionError, WrongStateError
from agentrt.kernel.trace import TraceEvent
from agentrt.selection.holding import LeafFlags
from agentrt.selection.views import NO_BEHAVIOR, SelectionView, passed_over
from agentrt.words import error_words, repr_of, type_name

if TYPE_CHECKING:
    from agentrt.body.views import Outline
    from agentrt.kernel.strand import Strand
    from agentrt.selection.program import Program, SelectionNode

__all__ = ["BehaviorSource", "Behaviors", "LeafBehavior", "Phase", "SelectionState", "Stage", "SharedTree", "Variables"]


class SharedTree(Protocol):
    """What a state knows of its tree, which is shared by all agents that use it; ``SelectionTree`` is it."""

    @property
    def name(self) -> str:
        """As it was written."""
        ...

    @property
    def program(self) -> Program:
        """What it is now."""
        ...

    @property
    def version(self) -> int:
        """How often it was replaced."""
        ...

    @property
    def variables(self) -> dict[str, bool]:
        """The declared variables and their defaults, in the order of declaration."""
        ...

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals that set variables, in the order of the file."""
        ...

    @property
    def behaviors(self) -> tuple[str, ...]:
        """The names of the behaviors that its leaves select, after translation."""
        ...

    def select(self, **variables: bool) -> str | None:
        """What is selected for given variables, without any agent."""
        ...

    def outline(self, name: str = "selection") -> Outline:
        """The whole tree as its file has it, for tools."""
        ...


# --- what authors write -----------------------------------------------------------------------------------------------


class LeafBehavior:
    """What an agent does while a leaf is selected. All callbacks do nothing by default.

    An *instance* that is registered is shared by all agents, a *class* is made anew whenever the behavior begins, for
    what has to be remembered while it lasts. ``constructor`` and the signals' methods may be coroutines, and ``run`` is
    one: each is a routine of its own, cancelled before the destructor. The destructor is a plain function: what follows
    begins in the same moment. A signal finds its method by name, so names of methods that no signal should reach begin
    with ``_``.

    Attributes:
        flags: the control flags that it needs; it is selected only when it can have all of them.
        is_interruptible: whether it leaves when a claim of higher precedence wants one of its flags.
        signals: the names of the signals for which the class has a method; made when the class is.

    Raises:
        DefinitionError: the destructor of a class is a coroutine, or its ``run`` is none.

    Source: CryEngine, selection trees: "Behavior Selection Tree Evaluation".
    """

    flags: Collection[str] = ()
    is_interruptible: bool = True
    signals: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if inspect.iscoroutinefunction(cls.destructor):
            raise DefinitionError(
                cls.__qualname__,
                "its destructor is a coroutine, and the next behavior does not wait for it.",
                "Make it a plain function; clean up what takes time in a 'finally' of 'run'.",
            )
        if not inspect.iscoroutinefunction(cls.run):
            raise DefinitionError(cls.__qualname__, "its 'run' is no coroutine.", "Write 'async def run(self, ai)'.")
        taken = dir(LeafBehavior)
        cls.signals = frozenset(
            name
            for name in dir(cls)
            if not name.startswith("_") and name not in taken and callable(getattr(cls, name, None))
        )

    def constructor(self, ai: SelectionState) -> Any:
        """The behavior begins. May be a coroutine; the behavior has begun when it has returned.

        Args:
            ai: the agent's state of the tree.
        """

    def destructor(self, ai: SelectionState) -> None:
        """The behavior ends. Called once for each constructor that returned.

        Args:
            ai: the agent's state of the tree.
        """

    async def run(self, ai: SelectionState) -> None:
        """What it does meanwhile; begins after the constructor, in the same tick. It may return; the leaf stays.

        Args:
            ai: the agent's state of the tree.
        """

    def on_signal(self, ai: SelectionState, name: str, data: Mapping[str, Any]) -> Any:
        """A signal came while the behavior is current. By default the method with the signal's name is called.

        May be a coroutine, and so may that method.

        Args:
            ai: the agent's state of the tree.
            name: of the signal.
            data: what was sent with it.

        Returns:
            Nothing, or a coroutine.
        """
        return getattr(self, name)(ai, **data) if name in self.signals else None


BehaviorSource = LeafBehavior | Callable[[], LeafBehavior]
"""An instance, which is shared; or a class or factory, called whenever the behavior begins."""

Behaviors = Mapping[str, BehaviorSource]
"""Name of a behavior -> what it is."""


def _made(factory: Callable[[], object]) -> LeafBehavior:
    """The behavior that begins now.

    Raises:
        DefinitionError: what it made is no behavior.
    """
    behavior = factory()
    if not isinstance(behavior, LeafBehavior):
        name = getattr(factory, "__qualname__", repr(factory))
        raise DefinitionError(
            name, f"it made a {type(behavior).__name__}.", "Make a behavior: derive from LeafBehavior."
        )
    return behavior


# --- the variables ----------------------------------------------------------------------------------------------------


class Variables:
    """The variables of one agent: a bit for each, and the program that says which is which."""

    __slots__ = ("ai", "bits", "body", "evaluated", "program")

    def __init__(self, ai: SelectionState) -> None:
        self.ai: SelectionState = ai
        self.program: Program = ai.tree.program
        self.bits: int = self.program.defaults
        self.body: Body | None = None  # whom the state drives
        # What the present values were evaluated with; None as soon as something changed. So one comparison with the
        # tree's program tells whether there is anything to do, which is all that most agents do in a tick.
        self.evaluated: Program | None = None

    def adopt(self) -> bool:
        """Take the tree's program over; whether it is another one."""
        tree, old = self.ai.tree, self.program
        program = tree.program
        if program is old:
            return False
        self.bits = program.translated(self.bits, old)
        self.program = program
        self.evaluated = None
        if self.body is not None:
            note(self.body, self.ai.name, TraceEvent.NOTE, (("reloaded", program.name), ("version", tree.version)))
        return True

    def put(self, mask: int, value: bool, signal: str) -> bool:
        """Set the variable of a mask, because of a signal or not; whether it was different before."""
        old = self.bits
        bits = old | mask if value else old & ~mask
        if bits == old:
            return False
        self.bits = bits
        self.evaluated = None
        body = self.body
        if body is not None:
            kernel = body.kernel
            if kernel is not None and kernel.trace.on:
                (name,) = (one.name for one in self.program.variables if one.mask == mask)
                detail = (("variable", name), ("value", bits > old), ("signal", signal or None))
                note(body, self.ai.name, TraceEvent.VARIABLE, detail)
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
    of = JsonObject(plain).text("tree")
    if str.lower(of) != tree.lower():
        text = f"it was saved of the tree {repr_of(of, 80)}, and this is {repr_of(tree, 80)}. Restore it into a state"
        raise DataFault(f"{text} of that tree.", pointer="/tree")
    inner = _plain_dict(plain.get("variables") if isinstance(plain, dict) else None)
    variables = JsonObject(inner, "/variables")
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


# --- from behavior to behavior ---------------------------------------------------------------------------------------


class Phase(StrEnum):
    """How far a behavior is; see the module."""

    NONE = "none"
    BEGINNING = "beginning"
    ACTIVE = "active"
    LEAVING = "leaving"


NONE, BEGINNING, ACTIVE, LEAVING = Phase
_OWN_HOOKS = ("constructor", "destructor", "run")  # all others are signals


class Stage:
    """The behavior of one agent, and how it comes to another."""

    __slots__ = (
        "_busy",
        "_due",
        "_lost",
        "_target",
        "ai",
        "behavior",
        "constructed",
        "flags",
        "given",
        "leaf",
        "leaving",
        "out",
        "phase",
        "routines",
        "variables",
    )

    def __init__(self, ai: SelectionState, variables: Variables) -> None:
        self.ai: SelectionState = ai  # what callbacks are given
        self.variables: Variables = variables
        self.phase: Phase = NONE
        self.leaf: SelectionNode | None = None  # the current one
        self.behavior: LeafBehavior | None = None  # of that leaf; None if nobody registered it
        self.constructed: bool = False  # its constructor has returned, so that its destructor is due
        self.flags: LeafFlags | None = None  # if a behavior has control flags
        self.routines: list[Routine] | None = None
        self.out: dict[str, str] | None = None  # behavior -> the path at which it raised
        self.given: Body | None = None  # whose it is, also before it drives
        self.leaving: tuple[str, Callable[[], object]] | None = None  # the body: why, and who is told
        self._due: bool = False  # to be evaluated now
        self._busy: bool = False  # a callback is on the stack, or ``settle``
        self._target: SelectionNode | None = None  # begins when the current behavior is gone
        self._lost: frozenset[str] | None = None  # who of ``out`` only could not take a signal

    # --- for its control flags ----------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Of the driver."""
        return self.ai.name

    @property
    def precedence(self) -> int:
        """Of its claims."""
        return self.ai.precedence

    @property
    def body(self) -> Body:
        """Whom it drives, or will drive.

        Raises:
            WrongStateError: nobody.
        """
        body = self.variables.body or self.given
        if body is None:
            remedy = "Attach the state to an agent, or join it to a LoneBody."
            raise WrongStateError("SelectionState.body", "it drives nobody", remedy)
        return body

    @property
    def current(self) -> LeafBehavior | None:
        """The current behavior itself."""
        return self.behavior

    def flags_of(self, leaf: SelectionNode) -> tuple[str, ...]:
        """The control flags that the behavior of a leaf needs, in a fixed order."""
        return tuple(sorted(getattr(self.ai.behaviors.get(leaf.behavior or ""), "flags", ())))

    @property
    def is_leaving(self) -> bool:
        """Whether the current behavior was told to leave and has not ended."""
        return self.phase is LEAVING

    def abandon(self, reason: str) -> None:
        """Leave the current behavior before the next drive, which selects anew."""
        self.forget_target()
        if self.leaf is not None and self.phase is not LEAVING:
            self._begin_leaving(reason)
            self.settle()

    def forget_target(self) -> None:
        """Who was to follow does not; the next drive selects anew."""
        self._target = None
        self.variables.evaluated = None

    def look_again(self) -> None:
        """Evaluate at the next drive, whether or not a variable changes."""
        self.variables.evaluated = None

    # --- the steps ----------------------------------------------------------------------------------------------------

    def decide(self) -> None:
        """Something changed: decide, and do what follows."""
        self._due = True
        self.settle()

    def forget_faults(self) -> None:
        """The tree changed, or another body is joined: who was out is not any more."""
        self.out = self._lost = None

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """Have the behavior leave, and then the body."""
        before = self.leaving
        if before is not None:
            told = before[1]
            self.leaving = (before[0], lambda: (told(), then()))
        else:
            self.leaving = (reason, then)
        self.forget_target()
        if self.flags is not None:
            self.flags.drop()
        self.settle()

    def settle(self) -> None:
        """Do what is to be done, step by step, until nothing is left, or something has to be waited for."""
        if self._busy or self.variables.body is None:
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
            if self._due and self.leaving is None:
                self._due = False
                self.variables.evaluated = self.variables.program
                self._target = self._select()
            if self.routines:
                return False
            self._end()
            return True
        if self.leaving is not None:
            if self.leaf is not None:
                self._begin_leaving(self.leaving[0])
                return True
            self._depart()
            return False
        if self._due:
            return self._change()
        if self.leaf is None and self._target is not None:
            self._begin(self._target)
            return True
        return False

    def _change(self) -> bool:
        """Decide, and leave the current behavior if it is another one; whether a step follows."""
        self._due = False
        self.variables.evaluated = self.variables.program  # before ``_select``: who is asked there may change things
        leaf = self.leaf
        target = self._target = self._select()
        if leaf is None:
            return target is not None
        if self.phase is LEAVING:
            return True  # it gave way while others were asked
        if target is not None and target.behavior == leaf.behavior:
            self.leaf, self._target = target, None
            return False
        self._begin_leaving("another one is selected" if target is not None else "none is selected")
        return True

    def _begin_leaving(self, reason: str) -> None:
        self.phase = LEAVING
        if self.routines:
            for routine in tuple(self.routines):
                routine.stop(reason)
        self._note(TraceEvent.DEACTIVATE, "reason", reason)

    def _end(self) -> None:
        """All coroutines have ended: the destructor is called, and the behavior is gone."""
        behavior = self.behavior
        if behavior is not None and self.constructed:
            self.call("destructor", behavior.destructor, self.ai)
        self._forget()

    def _forget(self) -> None:
        self.phase = NONE
        self.leaf = self.behavior = None
        self.constructed = False
        if self.flags is not None:
            self.flags.end()

    def _begin(self, leaf: SelectionNode) -> None:
        """The leaf becomes current, and its behavior begins."""
        self._target = None
        name = leaf.behavior or ""
        if self.out is not None and name in self.out:
            self._due = True  # it came back while it was leaving, and broke
            return
        if self.flags is not None:
            self.flags.begin(name)
        self.leaf = leaf
        source = self.ai.behaviors.get(name)
        if source is None:
            self.phase = ACTIVE
            self._note(TraceEvent.ACTIVATE, "behavior", name, ("registered", False))
            return
        self.phase = BEGINNING
        self._note(TraceEvent.ACTIVATE, "behavior", name)
        if not self.call("constructor", self._construct, source):
            if self.phase is BEGINNING:
                self._note(TraceEvent.DEACTIVATE, "reason", "its constructor raised")
            self._due = True
            self._forget()
        elif not self.routines:  # it was no coroutine
            self._begun()

    def _construct(self, source: BehaviorSource) -> Any:
        behavior = self.behavior = source if isinstance(source, LeafBehavior) else _made(source)
        return behavior.constructor(self.ai)

    def _begun(self) -> None:
        """The constructor has returned."""
        self.constructed = True
        behavior = self.behavior
        if self.phase is BEGINNING and behavior is not None:  # else it is leaving already
            self.phase = ACTIVE
            if type(behavior).run is not LeafBehavior.run:
                self.call("run", behavior.run, self.ai)

    def _depart(self) -> None:
        assert self.leaving is not None
        _, then = self.leaving
        self.leaving = self._target = self.variables.body = None
        self._due, self.variables.evaluated = False, None
        take(self.ai, self.given)  # before anybody is told: that one may give it to another body at once
        then()

    # --- callbacks ----------------------------------------------------------------------------------------------------

    def call(self, hook: str, callback: Callable[..., Any], *args: Any) -> bool:
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
        self.routines = [*(self.routines or ()), routine]
        if self.phase is LEAVING:  # the callback itself had it leave
            routine.stop("the behavior is leaving")

    def _ended(self, routine: Routine) -> None:
        """A routine ended; called by it."""
        self.routines = [one for one in self.routines or () if one is not routine] or None
        if routine.error is not None:
            self._put_out(routine.hook)
        elif not self.constructed and routine.hook == "constructor":
            if routine.strand.error is None:
                self._begun()
            elif self.phase is BEGINNING:  # what it awaited on the host was cancelled there
                self.variables.evaluated = None
                self._begin_leaving("its constructor was cancelled")
        self.settle()

    def _put_out(self, hook: str) -> None:
        """The current behavior is out for this agent: it is left at the next drive at the latest."""
        if self.leaf is not None and self.leaf.behavior is not None:
            name = self.leaf.behavior
            if self.out is None:
                self.out = {}
            if hook in _OWN_HOOKS:
                self._lost = (self._lost or frozenset()) - {name}
            elif name not in self.out:
                self._lost = (self._lost or frozenset()) | {name}
            self.out.setdefault(name, self._path())
            self.variables.evaluated = None
            self._note(TraceEvent.DISABLED, "hook", hook)

    def _path(self) -> str:
        return self.name if self.leaf is None else f"{self.name}/{self.leaf.path}"

    def _note(self, event: TraceEvent, key: str, value: str, *more: tuple[str, bool]) -> None:
        body = self.variables.body
        if body is not None:
            kernel = body.kernel
            if kernel is not None and kernel.trace.on:
                note(body, self._path(), event, ((key, value), *more))

    def _take_in(self) -> None:
        """Forget who is out for a signal, and would not be selected anyway: he may be entered again."""
        leaf = self.variables.program.select(self.variables.bits)
        stays = "" if leaf is None else leaf.behavior or ""
        back = (self._lost or frozenset()) - {stays}
        if back and self.out is not None:
            self._lost = (self._lost or frozenset()) & {stays} or None
            self.out = {name: path for name, path in self.out.items() if name not in back} or None

    # --- choosing, and control flags ----------------------------------------------------------------------------------

    def _select(self) -> SelectionNode | None:
        """The first leaf whose conditions hold, whose behavior is not out, and whose control flags can be had."""
        if self._lost:
            self._take_in()
        out, flags = self.out, self.flags
        program, bits = self.variables.program, self.variables.bits
        leaf = program.walk(bits, out) if out else program.select(bits)
        if flags is None:
            if leaf is None or leaf is self.leaf:
                return leaf
            if not getattr(self.ai.behaviors.get(leaf.behavior or ""), "flags", ()):
                return leaf
            flags = self.flags = LeafFlags(self)
        return flags.choose(program, leaf, bits, out or ())


_NOTHING: Behaviors = {}


class SelectionState:
    """The variables and the behavior of one agent; the driver of its body. Made by ``SelectionTree.state``.

    Args:
        tree: the tree.
        behaviors: what the leaves select, by name; kept, not copied.
        body: whom it drives, at once; None if it joins one later.
        name: begins the paths of its leaves.
        precedence: of its claims for control flags.

    Attributes:
        tree: as given.
        behaviors: as given.
        name: as given.
        precedence: as given.
        rank: where it stands in a tick.
        view_type: what ``view`` returns.

    Raises:
        DefinitionError: something in ``behaviors`` is neither a behavior nor makes one.

    Source: CryEngine, selection trees: "each AI instance gets a copy of the selection variables".
    """

    __slots__ = ("_stage", "_variables", "behaviors", "name", "precedence", "tree")

    rank = SELECTION
    view_type: ClassVar[type[SelectionView]] = SelectionView

    def __init__(
        self,
        tree: SharedTree,
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
        self.tree: SharedTree = tree
        self.behaviors: Behaviors = given
        self.name: str = name
        self.precedence: int = precedence
        self._variables: Variables = Variables(self)
        self._stage: Stage = Stage(self, self._variables)
        for key, source in self.behaviors.items():
            if not isinstance(source, LeafBehavior) and not callable(source):
                raise DefinitionError(
                    f"behaviors[{repr_of(key, 80)}]",
                    f"it is a {type_name(source)}.",
                    "Give an instance or a class derived from LeafBehavior, or a function that makes one.",
                )
        if body is not None:
            self.join(body)

    # --- its variables ------------------------------------------------------------------------------------------------

    @property
    def variables(self) -> dict[str, bool]:
        """The variables by name, in the order of declaration; a copy."""
        program, mine = self.tree.program, self._variables
        old, bits = mine.program, mine.bits
        return program.values(bits if program is old else program.translated(bits, old))

    @property
    def is_stale(self) -> bool:
        """Whether the tree is evaluated at the next drive."""
        return self._variables.evaluated is not self.tree.program

    def is_set(self, name: str) -> bool:
        """Whether a variable is true.

        Args:
            name: in any case.

        Raises:
            UnknownVariableError: the tree declares no such variable; in the compatible mode it is false.
        """
        program = self._adopt()
        return self._variables.bits & program.mask(name) != 0

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

        Source: CryEngine, selection trees: "Selection Variables": "externally by both the AI system and the behaviors
        themselves".
        """
        given: object = value
        if given is not True and given is not False:
            value = _boolean(given, name)
        mine = self._variables
        program = mine.program
        if program is not self.tree.program:
            program = self._adopt()
        mask = program.masks.get(name)
        if mask is None:
            mask = program.mask(name)
            if not mask and mine.body is not None:
                note(mine.body, self.name, TraceEvent.IGNORED, (("variable", name),))
        return mine.put(mask, value, "")

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
            self._variables.put(mask, value, "")

    def _update(self) -> None:
        """Something changed: decide, and do what follows."""
        if self._variables.body is None:
            remedy = "Attach it to an agent, or join it to a LoneBody."
            raise WrongStateError("SelectionState.drive", "it drives nobody", remedy)
        if self._variables.program is not self.tree.program:
            self._adopt()
        self._stage.decide()

    def _adopt(self) -> Program:
        """The tree's program, taken over if it is another one."""
        if self._variables.adopt():
            self._stage.forget_faults()
        return self._variables.program

    # --- the driver of a body -----------------------------------------------------------------------------------------

    def join(self, body: Body) -> None:
        """Begin to drive a body. Nothing is decided before the first ``drive``; variables stay as they are.

        Args:
            body: whom.

        Raises:
            WrongStateError: it drives one already.
        """
        if self._variables.body is not None:
            raise WrongStateError(
                "SelectionState.join", "it drives a body", "Make a state for each agent: tree.state()."
            )
        give(self, body, "SelectionState.join")
        self._variables.body = body
        self._variables.evaluated = None
        self._stage.forget_faults()

    @property
    def given_to(self) -> Body | None:
        """Whose it is: whom it drives, or will drive as soon as that one lives.

        Set by ``agentrt.body.driver.give`` and ``take`` alone.
        """
        return self._stage.given

    @given_to.setter
    def given_to(self, body: Body | None) -> None:
        self._stage.given = body

    def drive(self) -> None:
        """Evaluate the tree if a variable or the tree changed, and change the behavior if another one is selected.

        Raises:
            WrongStateError: it drives nobody.

        Source: CryEngine, selection trees: "On each AI system update of an AI".
        """
        if self._variables.evaluated is not self.tree.program:
            self._update()

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """Stop for good, or until it joins a body again: the behavior leaves.

        Args:
            reason: why, in words.
            then: called when all has ended; at once if no coroutine runs.
        """
        if self._variables.body is None:
            then()
        else:
            self._stage.leave(reason, then)

    def strands(self) -> list[Strand]:
        """The strands of its coroutines that have not ended, in the order in which they began."""
        return [routine.strand for routine in self._stage.routines or ()]

    def view(self) -> SelectionView:
        """What it is doing, as plain values."""
        stage = self._stage
        leaf = stage.leaf
        held = waiting = None
        if stage.flags is not None:
            held, waiting = stage.flags.held, stage.flags.waiting
        return SelectionView(
            name=self.name,
            tree=self.tree.name,
            leaf="" if leaf is None else leaf.path,
            behavior=NO_BEHAVIOR if leaf is None else leaf.behavior or "",
            is_registered=stage.behavior is not None,
            phase=str(stage.phase),
            variables=tuple(self.variables.items()),
            flags=() if held is None else held.flags,
            waits_for="" if waiting is None else waiting.behavior,
            out=tuple((stage.out or {}).items()),
            routines=tuple(routine.hook for routine in stage.routines or ()),
            failed=passed_over(self._variables.program, self._variables.bits, leaf, self.name),
            version=self.tree.version,
        )

    def outline(self) -> Outline:
        """The whole tree as its file has it, with the paths that this state gives it; made once for each version."""
        return self.tree.outline(self.name)

    # --- for behaviors and for the game -------------------------------------------------------------------------------

    @property
    def body(self) -> Body:
        """Whom it drives.

        Raises:
            WrongStateError: nobody.
        """
        return self._stage.body

    @property
    def phase(self) -> Phase:
        """How far the behavior is."""
        return self._stage.phase

    @property
    def current(self) -> LeafBehavior | None:
        """The current behavior itself; None if there is none, or nobody registered it."""
        return self._stage.behavior

    @property
    def entity(self) -> Any:
        """The entity of the body."""
        return self.body.entity

    @property
    def leaf(self) -> str:
        """The path of the current leaf from the root on, such as ``Root/Combat/Attack``; empty if there is none."""
        return "" if self._stage.leaf is None else self._stage.leaf.path

    @property
    def behavior(self) -> str | None:
        """The name of the current behavior, after translation; None if no leaf is selected."""
        return None if self._stage.leaf is None else self._stage.leaf.behavior

    def signal(self, name: str, /, **data: Any) -> bool:
        """Tell it that something happened.

        First the signal variables are set, in the order of the file, then the current behavior is told.

        Args:
            name: of the signal; case counts.
            data: for the behavior.

        Returns:
            Whether anybody took notice.

        Source: CryEngine, selection trees: "Signal Variables", "Behavior Selection Tree Evaluation".
        """
        effects = self._adopt().signals.get(name, ())
        mine, stage = self._variables, self._stage
        for effect in effects:
            mine.put(effect.mask, effect.test(mine.bits), name)
        behavior = stage.behavior
        if stage.phase is not ACTIVE or behavior is None:
            return bool(effects)
        kind = type(behavior)
        if name not in kind.signals and kind.on_signal is LeafBehavior.on_signal:
            return bool(effects)
        stage.call(name, behavior.on_signal, self, name, data)
        stage.settle()
        return True

    def perform(self, activity: str, **args: Any) -> Awaitable[Any]:
        """Perform an activity of the agent's planner from within a coroutine of the behavior, with its control flags.

        Args:
            activity: what to perform.
            args: its arguments.
        """
        return self.body.perform(activity, args, None if self._stage.flags is None else self._stage.flags.held)

    def __repr__(self) -> str:
        return f"<SelectionState {self.tree.name}: {self.leaf or NO_BEHAVIOR}, {self.phase}>"
