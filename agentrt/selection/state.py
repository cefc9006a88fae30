"""A selection tree as agents know it, and the state of one agent on it: its variables, and the behavior that it is in.

A ``SelectionTree`` is a name, and the program that is read under it now. It is shared by all agents and holds nothing
of theirs. Reading the folder again puts another program into it; whoever uses it sees that by one comparison, and takes
it over (``adopt``): values stay by name, what is new has its default. So the tree knows no agents, and tells nobody.

All that the tree knows about an agent is one integer with a bit for each variable. Who sets a variable (a signal, a
behavior, the game) only marks the state as *stale*; the tree is evaluated at the next ``drive``, and only then: an
update after which nothing changed costs one comparison. A decision is a leaf, and what counts is the behavior that it
selects. If that is the current one, nothing happens. Otherwise the current one leaves, then the next begins, on the
``_Stage``, which is the one place that selects, destructs and constructs, from ``Phase`` to ``Phase``.

``SelectionState`` is what behaviors and the game see of it, and the driver of a body. A ``LeafBehavior`` is what
authors write, and its callbacks are given the state. Tree, state and behavior name each other, so they stand here
together. Rules:

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

A behavior with control flags is selected like any other, and then has to have them (``_LeafFlags``). If somebody else
keeps one of them, its leaf is passed over, as if its condition did not hold, and the search goes on behind it. The most
preferred leaf of those waits in the ledger, and the tree is evaluated as soon as it has its flags; the others are asked
again at every drive. What one leaf holds counts as free for the others, so that a grant may be a promise: the current
behavior holds a flag until it has ended, and with it whoever follows. Whatever is given back therefore goes first to
those of the same tree that were granted it, and only then to others: a behavior that begins owns all of its flags in
the ledger. Who was to begin and does not gives back all of them, too. An agent whose behaviors have no flags has none
of this.

Rejected: evaluating whenever a variable is set (a signal that sets two of them would pass through a state that nobody
meant).

Source: CryEngine, selection trees: "Behavior Selection Tree Evaluation", constructor, destructor, ``OnSoundHeard``,
"not copied for each AI instance"; "Selection Variables", "each AI instance gets a copy of the selection variables".
Control flags of behaviors are ours.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, overload

from agentrt.body.codec import JsonObject
from agentrt.body.driver import SELECTION, Body, Routine, activity_name, give, note, number_in, take, tick_of
from agentrt.errors import ENDS_PROGRAM, DataFault, DefinitionError, WrongStateError
from agentrt.kernel.trace import TraceEvent
from agentrt.selection.views import NO_BEHAVIOR, SelectionView, mermaid, outline_of, passed_over
from agentrt.words import error_words, repr_of, type_name

if TYPE_CHECKING:
    from agentrt.body.driver import DeclaredActivity, O_co, P
    from agentrt.body.flags import Holder, Refusal
    from agentrt.body.views import Outline
    from agentrt.kernel.strand import Strand
    from agentrt.selection.program import Program, SelectionNode

# --- what authors write -----------------------------------------------------------------------------------------------


class LeafBehavior:
    """What an agent does while a leaf is selected. All callbacks do nothing by default.

    An *instance* that is registered is shared by all agents, a *class* is made anew whenever the behavior begins, for
    what has to be remembered while it lasts. ``constructor`` and the signals' methods may be coroutines, and ``run`` is
    one: each is a routine of its own, cancelled before the destructor. The destructor is a plain function: what follows
    begins in the same moment. A signal finds its method by name, so names of methods that no signal should reach begin
    with ``_``. Callbacks are given ``ai``, the agent's state of the tree.

    Raises:
        DefinitionError: the destructor of a class is a coroutine, or its ``run`` is none.

    Source: CryEngine, selection trees: "Behavior Selection Tree Evaluation".
    """

    flags: Collection[str] = ()  # the control flags that it needs; it is selected only when it can have all of them
    is_interruptible: bool = True  # whether it leaves when a claim of higher precedence wants one of its flags
    # the names of the signals for which the class has a method; made when the class is
    signals: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **options: object) -> None:
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
        """The behavior begins. May be a coroutine; the behavior has begun when it has returned."""

    def destructor(self, ai: SelectionState) -> None:
        """The behavior ends. Called once for each constructor that returned."""

    async def run(self, ai: SelectionState) -> None:
        """What it does meanwhile; begins after the constructor, in the same tick. It may return; the leaf stays."""

    def on_signal(self, ai: SelectionState, name: str, data: Mapping[str, Any]) -> Any:
        """A signal came while the behavior is current. By default the method with the signal's name is called.

        May be a coroutine, and so may that method.

        Args:
            name: of the signal.
            data: what was sent with it.
        """
        return getattr(self, name)(ai, **data) if name in self.signals else None


BehaviorSource = LeafBehavior | Callable[[], LeafBehavior]  # shared; or called whenever the behavior begins
Behaviors = Mapping[str, BehaviorSource]  # by name


def _made(factory: Callable[[], object]) -> LeafBehavior:
    """The behavior that begins now."""
    behavior = factory()
    if not isinstance(behavior, LeafBehavior):
        name = getattr(factory, "__qualname__", repr(factory))
        problem = f"it made a {type(behavior).__name__}."
        raise DefinitionError(name, problem, "Make a behavior: derive from LeafBehavior.")
    return behavior


# --- what is saved, and given -----------------------------------------------------------------------------------------


MOST_SAVED = 10_000  # variables of one saved state; a tree has no more parts than that
_LONGEST_SAVED = 4096  # characters of a name, as in a file


def _boolean(value: object, name: str) -> bool:
    """A value of an author that may stand for a boolean: 0, 1, and what other libraries have in place of them."""
    try:
        is_one = value in (False, True)  # not ``bool(value)``: a text from a console would be true whatever it says
    except ENDS_PROGRAM:
        raise
    except BaseException:  # it cannot even be compared
        is_one = False
    if is_one:
        return bool(value)
    variable = f"variable {repr_of(name, 80)}"
    raise DefinitionError(variable, f"it cannot be set to {repr_of(value, 80)}.", "Write True or False.")


def _saved_variables(saved: object, tree: str) -> list[tuple[str, bool]]:
    """What stands in a saved state of a tree, read before anything is changed."""
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
    except (DataFault, *ENDS_PROGRAM):
        raise
    except BaseException as error:
        raise DataFault(f"it cannot be read: {error_words(error, 80)}. Give what save() returned.") from None


# --- from behavior to behavior ---------------------------------------------------------------------------------------


class Phase(StrEnum):
    """How far a behavior is."""

    NONE = "none"  # there is no behavior
    BEGINNING = "beginning"  # the constructor runs; if it is a coroutine, for some ticks
    # the constructor has returned: ``run`` runs, signals reach its methods; or nobody registered the leaf's behavior
    ACTIVE = "active"
    LEAVING = "leaving"  # its coroutines were cancelled and clean up; then, or at once, the destructor is called


NONE, BEGINNING, ACTIVE, LEAVING = Phase
_OWN_HOOKS = ("constructor", "destructor", "run")  # all others are signals


class _Out(NamedTuple):
    """Why a behavior is out for an agent."""

    path: str  # at which it raised first
    is_for_good: bool  # and not only until the variables select another one


@dataclass(slots=True, eq=False, repr=False)
class _Stage:
    """The variables and the behavior of one agent, and how it comes to others."""

    ai: SelectionState  # what callbacks are given
    program: Program  # says which bit is which variable
    bits: int  # the variables
    driven: Body | None = None  # whom it drives
    # What the present values were evaluated with; None as soon as something changed. So one comparison with the
    # tree's program tells whether there is anything to do, which is all that most agents do in a tick.
    evaluated: Program | None = None
    phase: Phase = NONE
    leaf: SelectionNode | None = None  # the current one
    behavior: LeafBehavior | None = None  # of that leaf; None if nobody registered it
    constructed: bool = False  # its constructor has returned, so that its destructor is due
    routines: list[Routine] | None = None
    flags: _LeafFlags | None = None  # if a behavior has control flags
    out: dict[str, _Out] | None = None  # by behavior
    barred: frozenset[str] = frozenset()  # behaviors that are out by somebody's hand
    leaving: tuple[str, Callable[[], object]] | None = None  # the body: why, and who is told
    _due: bool = False  # to be evaluated now
    _busy: bool = False  # a callback is on the stack, or ``settle``
    _target: SelectionNode | None = None  # begins when the current behavior is gone

    # --- the variables ------------------------------------------------------------------------------------------------

    def adopt(self) -> Program:
        """The tree's program, taken over if it is another one."""
        tree, old = self.ai.tree, self.program
        program = tree.program
        if program is not old:
            self.bits = program.translated(self.bits, old)
            self.program = program
            self.evaluated = None
            if self.driven is not None:
                detail = (("reloaded", program.name), ("version", tree.version))
                note(self.driven, self.ai.name, TraceEvent.NOTE, detail)
            self.out = None
        return program

    def put(self, mask: int, value: bool, signal: str) -> bool:
        """Set the variable of a mask, because of a signal or not; whether it was different before."""
        old = self.bits
        bits = old | mask if value else old & ~mask
        if bits == old:
            return False
        self.bits = bits
        self.evaluated = None
        body = self.driven
        if body is not None:
            kernel = body.kernel
            if kernel is not None and kernel.trace.on:
                (name,) = (one.name for one in self.program.variables if one.mask == mask)
                detail = (("variable", name), ("value", bits > old), ("signal", signal or None))
                note(body, self.ai.name, TraceEvent.VARIABLE, detail)
        return True

    # --- the steps ----------------------------------------------------------------------------------------------------

    def decide(self) -> None:
        """Something changed: decide, and do what follows."""
        self._due = True
        self.settle()

    def abandon(self, reason: str) -> None:
        """Leave the current behavior before the next drive, which selects anew."""
        self.forget_target()
        if self.leaf is not None and self.phase is not LEAVING:
            self._begin_leaving(reason)
            self.settle()

    def forget_target(self) -> None:
        """Who was to follow does not; the next drive selects anew."""
        self._target = self.evaluated = None

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        if self.leaving is not None:
            first_reason, told = self.leaving  # with which its coroutines were stopped
            self.leaving = (first_reason, lambda: (told(), then()))
        else:
            self.leaving = (reason, then)
        self.forget_target()
        if self.flags is not None:
            self.flags.drop()
        self.settle()

    def settle(self) -> None:
        """Do what is to be done, step by step, until nothing is left, or something has to be waited for."""
        if self._busy or self.driven is None:
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
                self._select()
            if self.routines:
                return False
            self._end()
            return True
        if self.leaving is not None:
            if self.leaf is not None:
                self._begin_leaving(self.leaving[0])
                return True
            then, self.leaving, self._target, self.driven = self.leaving[1], None, None, None
            self._due, self.evaluated = False, None
            take(self.ai, self.ai.given_to)  # before anybody is told: that one may give it to another body at once
            then()
            return False
        if self._due:
            return self._change()
        if self.leaf is None and self._target is not None:
            self._begin(self._target)
            return True
        return False

    def _change(self) -> bool:
        """Decide, and leave the current behavior if it is another one; whether a step follows."""
        leaf = self.leaf
        target = self._select()
        if leaf is None:
            return target is not None
        if self.phase is LEAVING:
            return True  # it gave way while others were asked
        if target is not None and target.behavior == leaf.behavior:
            self.leaf, self._target = target, None
            return False
        self._begin_leaving("another one is selected" if target is not None else "none is selected")
        return True

    def _select(self) -> SelectionNode | None:
        """Who follows: the first leaf whose conditions hold, who is not out, and whose control flags can be had."""
        self._due = False
        self.evaluated = self.program  # before anybody is asked for flags: who gives way may change things
        self._target = self._selected()
        return self._target

    def _selected(self) -> SelectionNode | None:
        program, bits = self.program, self.bits
        if self.out:
            self._take_in()
        flags = self.flags
        out: Collection[str] | None = {*(self.out or ()), *self.barred} if self.barred else self.out
        leaf = program.walk(bits, out) if out else program.select(bits)
        if flags is None:
            if leaf is None or leaf is self.leaf or not self.flags_of(leaf):
                return leaf
            flags = self.flags = _LeafFlags(self)
        return flags.choose(program, leaf, bits, out or ())

    def _take_in(self) -> None:
        """Forget who is out for a signal, and would not be selected anyway: he may be entered again."""
        leaf = self.program.select(self.bits)
        stays = None if leaf is None else leaf.behavior
        self.out = {name: out for name, out in (self.out or {}).items() if out.is_for_good or name == stays} or None

    def flags_of(self, leaf: SelectionNode) -> Collection[str]:
        """The control flags that the behavior of a leaf needs."""
        flags: Collection[str] = getattr(self.ai.behaviors.get(leaf.behavior or ""), "flags", ())
        return flags

    def _begin_leaving(self, reason: str) -> None:
        self.phase = LEAVING
        for routine in tuple(self.routines or ()):
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

    # --- callbacks ----------------------------------------------------------------------------------------------------

    def call(self, hook: str, callback: Callable[..., Any], *args: object) -> bool:
        """Call an author's function; a coroutine becomes a routine. Whether it did not raise."""
        # Kept and put back: a callback may send a signal, whose method is called on top of it, and when that has
        # returned, the first one has not.
        busy, self._busy = self._busy, True
        try:
            result = callback(*args)
            if result is not None and isinstance(result, Coroutine):
                self._go(hook, result)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.ai.body.fault(self._path(), hook, error)
            self._put_out(hook)
            return False
        finally:
            self._busy = busy
        return True

    def _go(self, hook: str, coro: Coroutine[Any, Any, Any]) -> None:
        routine = Routine(self.ai.body, self._path(), hook, coro, self._ended)
        self.routines = [*(self.routines or ()), routine]
        if self.phase is LEAVING:  # the callback itself had it leave
            routine.stop("the behavior is leaving")

    def _ended(self, routine: Routine) -> None:
        self.routines = [one for one in self.routines or () if one is not routine] or None
        if routine.error is not None:
            self._put_out(routine.hook)
        elif not self.constructed and routine.hook == "constructor":
            if routine.strand.error is None:
                self._begun()
            elif self.phase is BEGINNING:  # what it awaited on the host was cancelled there
                self.evaluated = None
                self._begin_leaving("its constructor was cancelled")
        self.settle()

    def _put_out(self, hook: str) -> None:
        """The current behavior is out for this agent: it is left at the next drive at the latest."""
        if self.leaf is not None and self.leaf.behavior is not None:
            name, out = self.leaf.behavior, self.out or {}
            before = out.get(name, _Out(self._path(), is_for_good=False))
            self.out = {**out, name: before._replace(is_for_good=before.is_for_good or hook in _OWN_HOOKS)}
            self.evaluated = None
            self._note(TraceEvent.DISABLED, "hook", hook)

    def _path(self) -> str:
        return self.ai.name if self.leaf is None else f"{self.ai.name}/{self.leaf.path}"

    def _note(self, event: TraceEvent, key: str, value: str, *more: tuple[str, bool]) -> None:
        body = self.driven
        if body is not None:
            kernel = body.kernel
            if kernel is not None and kernel.trace.on:
                note(body, self._path(), event, ((key, value), *more))


# --- control flags ----------------------------------------------------------------------------------------------------


class _LeafHold:
    """A holder of control flags: a behavior that has them, or waits for them."""

    __slots__ = ("_owner", "behavior", "flag_name", "flags", "is_granted")

    def __init__(self, owner: _LeafFlags, leaf: SelectionNode, flags: Collection[str]) -> None:
        self._owner = owner
        self.flag_name: str = f"{owner.stage.ai.name}/{leaf.path}"
        self.behavior: str = leaf.behavior or ""
        self.flags: tuple[str, ...] = tuple(sorted(flags))  # a set has another order in each run
        # whether it has them: in the ledger, or from the behavior before it, when that has ended
        self.is_granted: bool = False

    @property
    def runs_for(self) -> Holder | None:
        return self._owner.stage.ai.body.holder

    @property
    def precedence(self) -> int:
        return self._owner.stage.ai.precedence

    @property
    def is_interruptible(self) -> bool:
        """Whether the behavior gives way. One that raises here does: the fault is its own, and not the claimant's."""
        stage = self._owner.stage
        if self is not self._owner.held or stage.behavior is None:
            return True
        try:
            return bool(stage.behavior.is_interruptible)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            stage.ai.body.fault(self.flag_name, "is_interruptible", error)
            return True

    def give_way(self, flag: str, claimant: str) -> None:
        self._owner.give_way(self, flag, claimant)

    def flags_granted(self) -> None:
        self.is_granted = True
        self._owner.stage.evaluated = None


@dataclass(slots=True, eq=False, repr=False)
class _LeafFlags:
    """The control flags of one state: what its current behavior holds, and what the next one shall."""

    stage: _Stage
    held: _LeafHold | None = None  # of the current behavior; None if it has no flags
    wanted: _LeafHold | None = None  # of the behavior that shall follow it, granted
    waiting: _LeafHold | None = None  # of the most preferred behavior that was refused
    _refused: dict[str, str] = field(default_factory=dict)  # behavior -> by whom, at the last choice

    def choose(
        self, program: Program, leaf: SelectionNode | None, bits: int, out: Collection[str]
    ) -> SelectionNode | None:
        """The first leaf that can have its flags, from the first one on whose conditions hold."""
        refused: dict[str, str] = {}
        while leaf is not None:
            holder = self._refuser(leaf, refused)
            if holder is None:
                self._keep_only(leaf, refused)
                if self._has(leaf):
                    break
                holder = ""  # who was served with what the others gave back took it away
            refused[leaf.behavior or ""] = holder
            leaf = program.walk(bits, {*refused, *out})
        self._refused = refused
        if leaf is None:
            self._keep_only(None, refused)
        return leaf

    def _keep_only(self, leaf: SelectionNode | None, refused: Collection[str]) -> None:
        """Nobody but a leaf follows, and nobody waits but for one of the refused ones."""
        waiting, wanted = self.waiting, self.wanted
        if waiting is not None and waiting.behavior not in refused:
            self.waiting = None
            self._release(waiting)
        if wanted is not None and wanted is self.wanted and (leaf is None or leaf.behavior != wanted.behavior):
            self.wanted = None
            self._release(wanted)

    def _has(self, leaf: SelectionNode) -> bool:
        """Whether a leaf has its control flags, or needs none."""
        held, wanted = self.held, self.wanted
        if held is not None and held.behavior == leaf.behavior and self.stage.phase is not LEAVING:
            return True
        return (wanted is not None and wanted.behavior == leaf.behavior) or not self.stage.flags_of(leaf)

    def _refuser(self, leaf: SelectionNode, refused: dict[str, str]) -> str | None:
        """Who keeps a leaf from its control flags; None if it has them, or needs none."""
        if self._has(leaf):
            return None
        waiting = self.waiting
        if waiting is not None and waiting.behavior == leaf.behavior:
            if not waiting.is_granted:
                return self._refused.get(waiting.behavior, "")
            self.waiting = None
            self._follow(waiting)
            return None
        return self._claim(_LeafHold(self, leaf, self.stage.flags_of(leaf)), wait=not refused)

    def _claim(self, hold: _LeafHold, wait: bool) -> str | None:
        """Claim control flags; who keeps one of them, or None."""
        refusal = self._ask_for(hold, (self.held, self.wanted, self.waiting), wait)
        if refusal is None:
            self._follow(hold)
            return None
        body = self.stage.ai.body
        if self._refused.get(hold.behavior) != refusal.holder:
            flag, holder = ("flag", refusal.flag), ("holder", refusal.holder)
            note(body, hold.flag_name, TraceEvent.REFUSED, (flag, holder))
        if body.flags.is_waiting(hold):
            before, self.waiting = self.waiting, hold
            if before is not None:
                self._release(before)
        return refusal.holder

    def _ask_for(self, hold: _LeafHold, own: tuple[_LeafHold | None, ...], wait: bool) -> Refusal | None:
        """Claim from the ledger. Who is refused and does not wait has nothing, and is asked again at the next drive."""
        body = self.stage.ai.body
        shared = tuple(one for one in own if one is not None)
        refusal = body.flags.claim(hold.flags, hold, tick_of(body), shared_with=shared, wait=wait)
        hold.is_granted = refusal is None
        if refusal is not None and not body.flags.is_waiting(hold):
            self.stage.evaluated = None  # the ledger will not tell
            self._release(hold)  # it may have been served, and then one whose flags it shared gave way
        return refusal

    def _follow(self, hold: _LeafHold) -> None:
        """A behavior that has its flags shall be next."""
        before, self.wanted = self.wanted, hold
        if self.waiting is not None:
            self._pass_on(self.waiting, hold)  # which was served while others gave way to this one
        if before is not None:
            self._release(before)
        waiting = self.waiting
        if waiting is None:
            return
        # What it waits for may be held by the next one now, and counts as free for it.
        if waiting.is_granted or self._ask_for(waiting, (self.wanted, self.held), wait=True) is None:
            self.stage.evaluated = None
        elif self.waiting is waiting and not self.stage.ai.body.flags.is_waiting(waiting):
            self.waiting = None

    def _pass_on(self, hold: _LeafHold, heir: _LeafHold) -> None:
        """Give one leaf what another one holds of its flags."""
        body = self.stage.ai.body
        ledger = body.flags
        flags = [flag for flag in heir.flags if (now := ledger.holder(flag)) is not None and now.owner is hold]
        if flags:
            ledger.hand_over(flags, heir, tick_of(body), holders=(hold,))

    def _release(self, hold: _LeafHold) -> None:
        """Give back what a leaf holds, except what others were granted because it was in the same tree."""
        if self.wanted is not None and self.wanted is not hold:
            self._pass_on(hold, self.wanted)
        waiting = self.waiting
        if waiting is not None and waiting is not hold and waiting.is_granted:
            self._pass_on(hold, waiting)
        self.stage.ai.body.flags.release(hold)

    def begin(self, behavior: str) -> None:
        if self.wanted is not None and self.wanted.behavior == behavior:
            self.held, self.wanted = self.wanted, None

    def end(self) -> None:
        """The current behavior has ended: give back what it held, except what the next one takes over."""
        held, self.held = self.held, None
        if held is not None:
            self._release(held)

    def drop(self) -> None:
        """Nobody shall follow any more."""
        before = self.wanted, self.waiting
        self.wanted = self.waiting = None
        for hold in before:
            if hold is not None:
                self._release(hold)

    def give_way(self, hold: _LeafHold, flag: str, claimant: str) -> None:
        if hold is self.held:
            self.stage.abandon(f"gives {flag} to {claimant}")
            return
        if hold is self.wanted:
            self.wanted = None
        elif hold is self.waiting:
            self.waiting = None
        self.stage.forget_target()
        self._release(hold)


# --- what the game holds ----------------------------------------------------------------------------------------------


def _class_of(source: BehaviorSource) -> type:
    return source if isinstance(source, type) else type(source)


_NOTHING: Behaviors = {}  # one for all who register none


class SelectionState:
    """The variables and the behavior of one agent; the driver of its body. Made by ``SelectionTree.state``.

    Variables are named in any case. One that the tree does not declare is an ``UnknownVariableError``; in the
    compatible mode it is false, and setting it does nothing.

    Source: CryEngine, selection trees: "each AI instance gets a copy of the selection variables".
    """

    __slots__ = ("_stage", "behaviors", "given_to", "name", "precedence", "tree")

    rank = SELECTION  # where it stands in a tick
    view_type: ClassVar[type[SelectionView]] = SelectionView  # what ``view`` returns

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
        self.tree: SelectionTree = tree
        self.behaviors: Behaviors = given
        self.name: str = name
        self.precedence: int = precedence
        # whose it is: whom it drives, or will as soon as that one lives; ``body.driver.give`` and ``take`` set it
        self.given_to: Body | None = None
        self._stage: _Stage = _Stage(self, tree.program, tree.program.defaults)
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
        program, stage = self.tree.program, self._stage
        old, bits = stage.program, stage.bits
        return program.values(bits if program is old else program.translated(bits, old))

    @property
    def is_stale(self) -> bool:
        """Whether the tree is evaluated at the next drive."""
        return self._stage.evaluated is not self.tree.program

    def is_set(self, name: str) -> bool:
        """Whether a variable is true."""
        program = self._stage.adopt()
        return self._stage.bits & program.mask(name) != 0

    def set_variable(self, name: str, value: bool) -> bool:
        """Turn a variable on or off, for the next drive; whether it was different before.

        ``DefinitionError`` if the value is neither True nor False.

        Source: CryEngine, selection trees: "Selection Variables": "externally by both the AI system and the behaviors
        themselves".
        """
        given: object = value
        if given is not True and given is not False:
            value = _boolean(given, name)
        stage = self._stage
        program = stage.program
        if program is not self.tree.program:
            program = stage.adopt()
        mask = program.masks.get(name)  # as it was written, which is what nearly everybody writes
        if mask is None:
            mask = program.mask(name)
            if not mask and stage.driven is not None:
                note(stage.driven, self.name, TraceEvent.IGNORED, (("variable", name),))
        return stage.put(mask, value, "")

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
        program = self._stage.adopt()
        changes: dict[int, bool] = {}
        for name, value in _saved_variables(saved, program.name):
            mask = program.masks.get(str.lower(name), 0)
            if changes.setdefault(mask, value) is not value and mask:
                text = f"the variable {repr_of(name, 80)} stands here twice, as true and as false. Remove one of them."
                raise DataFault(text, pointer="/variables")
        for mask, value in changes.items():
            self._stage.put(mask, value, "")

    # --- the driver of a body -----------------------------------------------------------------------------------------

    def join(self, body: Body) -> None:
        """Begin to drive a body, with the variables as they are; ``WrongStateError`` if it drives one already."""
        stage = self._stage
        if stage.driven is not None:
            raise WrongStateError(
                "SelectionState.join", "it drives a body", "Make a state for each agent: tree.state()."
            )
        give(self, body, "SelectionState.join")
        stage.driven = body
        stage.evaluated = stage.out = None
        stage.barred = frozenset()

    def drive(self) -> None:
        """Evaluate the tree if a variable or the tree changed, and change the behavior if another one is selected.

        Raises:
            WrongStateError: it drives nobody.

        Source: CryEngine, selection trees: "On each AI system update of an AI".
        """
        stage = self._stage
        if stage.evaluated is not self.tree.program:
            if stage.driven is None:
                remedy = "Attach it to an agent, or join it to a LoneBody."
                raise WrongStateError("SelectionState.drive", "it drives nobody", remedy)
            stage.adopt()  # first: bits of the old program would be other variables in the new one
            stage.decide()

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """Stop for good, or until it joins a body again: the behavior leaves; see ``Driver``."""
        if self._stage.driven is None:
            then()
        else:
            self._stage.leave(reason, then)

    def reloaded(self, classes: frozenset[type], trees: frozenset[object]) -> bool:
        """Behaviors read otherwise now: one of them that is current begins anew, those that were out are in again."""
        del trees  # one of its own it takes over when it drives the next time
        stage = self._stage
        known = {*map(_class_of, self.behaviors.values()), type(stage.behavior)}
        if not any(not classes.isdisjoint(one.__mro__) for one in known):
            return False
        stage.out = stage.evaluated = None
        if not classes.isdisjoint(type(stage.behavior).__mro__):
            stage.abandon("its code was read again")
        return True

    def steer(self, disabled: frozenset[str], forced: frozenset[str]) -> None:
        """Say which leaves are out by somebody's hand, and which are the only ones, by their names or behaviors.

        Whether the conditions of one that is forced hold is still asked. It replaces what was said before, and counts
        from the next drive on.
        """
        stage = self._stage
        leaves = [one for one in stage.adopt().nodes if one.behavior is not None]
        mine = frozenset(one.behavior for one in leaves if not forced.isdisjoint((one.name, one.path, one.behavior)))
        stage.barred = frozenset(
            one.behavior or ""
            for one in leaves
            if (mine and one.behavior not in mine) or not disabled.isdisjoint((one.name, one.path, one.behavior))
        )
        stage.evaluated = None

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
            leaf=self.leaf,
            behavior=NO_BEHAVIOR if leaf is None else leaf.behavior or "",
            is_registered=stage.behavior is not None,
            phase=str(stage.phase),
            variables=tuple(self.variables.items()),
            flags=() if held is None else held.flags,
            waits_for="" if waiting is None else waiting.behavior,
            out=tuple((name, out.path) for name, out in (stage.out or {}).items()),
            routines=tuple(routine.hook for routine in stage.routines or ()),
            failed=passed_over(stage.program, stage.bits, leaf, self.name),
            version=self.tree.version,
        )

    def outline(self) -> Outline:
        """The whole tree as its file has it, with the paths that this state gives it; made once for each version."""
        return self.tree.outline(self.name)

    # --- for behaviors and for the game -------------------------------------------------------------------------------

    @property
    def body(self) -> Body:
        """Whom it drives, or will drive; ``WrongStateError`` if nobody."""
        body = self._stage.driven or self.given_to
        if body is None:
            remedy = "Attach the state to an agent, or join it to a LoneBody."
            raise WrongStateError("SelectionState.body", "it drives nobody", remedy)
        return body

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

    def signal(self, name: str, /, **data: object) -> bool:
        """Tell it that something happened.

        First the signal variables are set, in the order of the file, then the current behavior is told.

        Args:
            name: of the signal; case counts.
            data: for the behavior.

        Returns:
            Whether anybody took notice.

        Source: CryEngine, selection trees: "Signal Variables", "Behavior Selection Tree Evaluation".
        """
        stage = self._stage
        effects = stage.adopt().signals.get(name, ())
        for effect in effects:
            stage.put(effect.mask, effect.test(stage.bits), name)
        behavior = stage.behavior
        if stage.phase is not ACTIVE or behavior is None:
            return bool(effects)
        kind = type(behavior)
        if name not in kind.signals and kind.on_signal is LeafBehavior.on_signal:
            return bool(effects)
        stage.call(name, behavior.on_signal, self, name, data)
        stage.settle()
        return True

    @overload
    def perform(self, activity: DeclaredActivity[P, O_co], /, *args: P.args, **more: P.kwargs) -> Awaitable[O_co]: ...
    @overload
    def perform(self, activity: str, /, **args: object) -> Awaitable[Any]: ...

    def perform(  # type: ignore[misc]  # fields have names, so nothing else is given by its place
        self, activity: str | DeclaredActivity[..., Any], /, **args: object
    ) -> Awaitable[Any]:
        """Perform an activity of the planner from within a coroutine of the behavior, with its control flags."""
        return self.body.perform(
            activity_name(activity, args), args, None if self._stage.flags is None else self._stage.flags.held
        )

    def __repr__(self) -> str:
        return f"<SelectionState {self.tree.name}: {self.leaf or NO_BEHAVIOR}, {self.phase}>"


_MOST_OUTLINES = 64  # of one tree: states may all have names of their own


class Rereadable(Protocol):
    """What a tree knows of its library, which explains it."""

    def reload(self) -> Any: ...


class SelectionTree:
    """A selection tree of a library. Agents share it."""

    __slots__ = ("_outlines", "file", "library", "program", "version")
    _attach_instead = "A tree is shared by all; attach a state of it: tree.state(behaviors)."

    def __init__(self, program: Program, file: str) -> None:
        self.program: Program = program  # what it is now
        self.version: int = 0  # how often it was replaced
        self.file: str = file  # in which it stands
        self.library: Rereadable | None = None  # whose it is, if it is in one
        self._outlines: dict[str, tuple[Program, Outline]] = {}  # by the name of the state: most agents use one name

    @property
    def name(self) -> str:
        """As it was written."""
        return self.program.name

    @property
    def type(self) -> str:
        """The attribute ``type`` of the file; it means nothing here."""
        return self.program.type

    @property
    def variables(self) -> dict[str, bool]:
        """The declared variables and their defaults, in the order of declaration."""
        return self.program.values(self.program.defaults)

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals that set variables, in the order of the file."""
        return tuple(self.program.signals)

    @property
    def behaviors(self) -> tuple[str, ...]:
        """The names of the behaviors that its leaves select, after translation; each once, in the order of the file."""
        return tuple(dict.fromkeys(node.behavior for node in self.program.nodes if node.behavior is not None))

    def missing(self, behaviors: Behaviors) -> tuple[str, ...]:
        """The behaviors that somebody would have to register, beside those that are."""
        return tuple(name for name in self.behaviors if name not in behaviors)

    def select(self, **variables: bool) -> str | None:
        """The behavior that is selected for given variables, without any agent; None if no leaf passes.

        They are named as for a ``SelectionState``; the others have their defaults.

        Source: CryEngine, selection trees: "Behavior Selection Tree Evaluation".
        """
        bits = self.program.defaults
        for name, value in variables.items():
            mask = self.program.mask(name)
            bits = bits | mask if value else bits & ~mask
        leaf = self.program.select(bits)
        return None if leaf is None else leaf.behavior

    def state(
        self,
        behaviors: Behaviors | None = None,
        *,
        body: Body | None = None,
        name: str = "selection",
        precedence: int = 0,
    ) -> SelectionState:
        """Make the state of one agent, which drives its body by this tree.

        Args:
            behaviors: what the leaves select, by name. It is kept and not copied: agents may share it. A leaf whose
                behavior is not in it is selected like any other, and does nothing.
            body: whom it drives, at once; otherwise an agent attaches it.
            name: begins the paths of its leaves.
            precedence: of its claims for control flags.

        Raises:
            DefinitionError: something in ``behaviors`` is neither a behavior nor makes one.
        """
        return SelectionState(self, behaviors, body=body, name=name, precedence=precedence)

    def diagram(self, current: str = "") -> str:
        """The tree as a Mermaid flowchart, in which the leaf of a path may be marked as the current one."""
        return mermaid(self.program, current)

    def outline(self, name: str = "selection") -> Outline:
        """The whole tree as its file has it, for tools. The name of a state begins the paths; made once for each."""
        kept = self._outlines.get(name)
        if kept is None or kept[0] is not self.program:
            if len(self._outlines) >= _MOST_OUTLINES:
                self._outlines.clear()
            kept = self._outlines[name] = (self.program, outline_of(self.program, name))
        return kept[1]

    def replace(self, program: Program, file: str) -> bool:
        """Put another program in, which stands in a file; whether it means anything else. Called by its library."""
        self.file = file
        if program.says() == self.program.says():
            return False
        self.program = program
        self.version += 1
        return True

    def __repr__(self) -> str:
        return f"<SelectionTree {self.name}: {len(self.program.nodes)} nodes, version {self.version}>"
