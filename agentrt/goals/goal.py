"""A goal: one thing that a body may do, as its author writes it.

A goal is an object of one body: it may keep what it likes in itself. It knows nothing about others; which goals run
is decided by the selector that it is added to. What an author says about it:

* ``flags``: which parts of the body it uses, for the class, or by ``set_flags`` for the one goal;
* ``can_use`` and ``can_continue_to_use``: plain functions, asked in full ticks;
* ``start``, ``tick``, ``stop``: plain functions or coroutines; ``stop`` is called exactly once for each ``start``;
* ``run``: instead of ``tick``, or beside it, the whole goal as one coroutine.

What can be wrong with a class is said when it is defined. A question that is a coroutine would be an object, which is
always true, so it is refused there.

Flags have a fixed order, in which they are taken: as given in a list or a tuple; of a set, MOVE, LOOK, JUMP and TARGET
first, then the others by name, since a set has no order that two runs would share.

Source: Minecraft, goal selectors: "Usage", "Flags", "Operation".
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Collection, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, overload

from agentrt.body.driver import activity_name
from agentrt.body.entity import E_co
from agentrt.body.flags import JUMP, LOOK, MOVE, TARGET, Holder
from agentrt.body.slips import check_class, check_hooks
from agentrt.errors import DefinitionError, WrongStateError

if TYPE_CHECKING:
    from agentrt.body.driver import Body, DeclaredActivity, O_co, P

_FIRST = {MOVE: 0, LOOK: 1, JUMP: 2, TARGET: 3}
_QUESTIONS = ("can_use", "can_continue_to_use", "is_interruptible", "requires_update_every_tick")
_CALLBACKS = ("start", "tick", "stop", "run")
_STRANGE = {  # words that authors bring along, and what they are here
    "can_continue": "can_continue_to_use", "can_start": "can_use", "can_stop": "is_interruptible",
    "interruptible": "is_interruptible", "on_start": "start", "on_stop": "stop", "on_tick": "tick",
    "should_continue": "can_continue_to_use", "should_execute": "can_use", "should_start": "can_use", "update": "tick",
}  # fmt: skip


def in_order(flags: object, subject: str) -> tuple[str, ...]:
    """Control flags in their fixed order, each once; what is no collection of names is an error."""
    if isinstance(flags, str) or not isinstance(flags, Collection) or not all(isinstance(one, str) for one in flags):
        raise DefinitionError(subject, f"flags is {flags!r}.", "Write a set of names: flags = {MOVE}.")
    if isinstance(flags, Sequence | Mapping):
        return tuple(dict.fromkeys(flags))
    return tuple(sorted(flags, key=lambda flag: (_FIRST.get(flag, len(_FIRST)), flag)))


class Nobody:
    """What ``Goal.entity`` is while it is not known; whatever is asked of it is an error that says so.

    It stands in a slot of the goal: a property would cost every ``can_use`` more than the rest of its work, and a
    ``__getattr__`` of the goal would make all of its attributes slow.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # what is asked of every object, by copy and the like
        raise WrongStateError(
            f"goal.entity.{name}",
            "the goal drives nobody",
            "Add it to a selector, selector.add_goal(1, goal), and have that join a body: agent.attach(selector).",
        )

    def __repr__(self) -> str:
        return "<nobody: the goal drives nobody yet>"


NOBODY: Any = Nobody()


class GoalPlace(Protocol):
    """What a goal knows of the selector that it is in: whom it drives, and who holds the goal's control flags there."""

    @property
    def body(self) -> Body: ...

    def holder_of(self, goal: Goal, /) -> Holder: ...


class Goal(ABC, Generic[E_co]):
    """One thing that a body may do. Derive from it, and add it to a ``GoalSelector``.

    In a ``Goal[Wolf]`` a type checker knows that ``self.entity`` is a ``Wolf``.

    Source: Minecraft, goal selectors: "Usage", "Flags", "Operation".
    """

    __slots__ = ("_place", "entity")
    _attach_instead = "Add it to a selector, selector.add_goal(1, goal), and attach that."

    flags: ClassVar[Collection[str]] = ()  # the control flags that it uses, for the whole class
    _flags: tuple[str, ...] = ()  # in order; of the class, unless a goal was given flags of its own
    name: str = "Goal"  # what traces and errors call it; the name of its class unless it says otherwise
    # Whether a goal of a lower priority number may take its place, and whether it is ticked in partial ticks, too: a
    # value, a property or a method. A type checker lets nothing but Any be a value here and a method there.
    is_interruptible: Any = True
    requires_update_every_tick: Any = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        subject = cls.__qualname__
        own = vars(cls)
        check_class(cls, subject, _STRANGE, is_base=hasattr(cls.can_use, "__isabstractmethod__"))
        check_hooks(own, subject, dict.fromkeys((*_QUESTIONS, *_CALLBACKS), ()))
        if "name" not in own:
            cls.name = cls.__name__
        if "flags" in own:
            cls.flags = cls._flags = in_order(cls.flags, subject)
        for name in _QUESTIONS:
            if inspect.iscoroutinefunction(own.get(name)):
                raise DefinitionError(
                    subject,
                    f"{name} is a coroutine; it is asked within a tick and has to answer at once.",
                    "Write a plain function; whatever takes time belongs into run, start, tick or stop.",
                )
        for name in _CALLBACKS:
            hook = inspect.unwrap(own[name]) if callable(own.get(name)) else None
            if inspect.isgeneratorfunction(hook) or inspect.isasyncgenfunction(hook):
                raise DefinitionError(subject, f"{name} uses yield, and would never run.", "Use await in a coroutine.")
            if name == "run" and hook is not None and not inspect.iscoroutinefunction(hook):
                raise DefinitionError(
                    subject, "run is a plain function.", "Write: async def run(self). What is done at once is start."
                )

    def __new__(cls, *_args: Any, **_options: Any) -> Self:
        """Made here and not in ``__init__``, which an author may replace without calling it."""
        goal = super().__new__(cls)
        goal._place = None
        goal.entity = NOBODY
        return goal

    _place: GoalPlace | None  # in a selector; see ``put``
    entity: E_co  # of whom it drives, any object; known from when its selector has a body

    # --- whom it drives -----------------------------------------------------------------------------------------------

    @property
    def body(self) -> Body:
        """Whom it drives: the agent, say. It is an error to ask while it is in no selector."""
        if self._place is None:
            raise WrongStateError(
                "Goal.body", "the goal is in no selector", "Add it first: selector.add_goal(1, goal)."
            )
        return self._place.body

    @property
    def control_flags(self) -> tuple[str, ...]:
        """The control flags that this goal uses, in the order in which they are taken."""
        return self._flags

    def set_flags(self, flags: Collection[str]) -> None:
        """Say which control flags this one goal uses, in place of those of its class; in ``__init__``, say.

        Raises:
            DefinitionError: it is no collection of names, or the class has ``__slots__``, and so no room for it.
            WrongStateError: it is in a selector.

        Source: Minecraft, goal selectors: "Flags".
        """
        subject = type(self).__qualname__
        if self._place is not None:
            raise WrongStateError("Goal.set_flags", "the goal is in a selector", "Call it in __init__.")
        ordered = in_order(flags, subject)
        if not hasattr(self, "__dict__"):
            raise DefinitionError(subject, "its __slots__ leave no room for flags of one goal.", "Leave __slots__ out.")
        vars(self)["_flags"] = ordered

    @overload
    def perform(self, activity: DeclaredActivity[P, O_co], /, *args: P.args, **more: P.kwargs) -> Awaitable[O_co]: ...
    @overload
    def perform(self, activity: str, /, **args: object) -> Awaitable[Any]: ...

    def perform(  # type: ignore[misc]  # fields have names, so nothing else is given by its place
        self, activity: str | DeclaredActivity[..., Any], /, **args: Any
    ) -> Awaitable[Any]:
        """Perform an activity of the agent's planner, beside its plan. To be awaited in a coroutine of this goal.

        What is performed shares the control flags that this goal holds, and is unwound when the goal is stopped.

        Returns:
            An awaitable for what the activity returns.

        Raises:
            NotRunningError: whom it drives has no planner.
        """
        holder = None if self._place is None else self._place.holder_of(self)
        return self.body.perform(activity_name(activity, args), args, holder)

    # --- what an author writes ----------------------------------------------------------------------------------------

    @abstractmethod
    def can_use(self) -> bool:
        """Whether it can begin now. Asked in each full tick while it does not run and its flags are free.

        Source: Minecraft, goal selectors: "Operation", step 3.
        """

    def can_continue_to_use(self) -> bool:
        """Whether it can go on. Asked in each full tick while it runs; by default the same as ``can_use``.

        Source: Minecraft, goal selectors: "Operation", step 1.
        """
        return self.can_use()

    def start(self) -> Coroutine[Any, Any, None] | None:
        """It begins. Plain or a coroutine; ticks and ``run`` come when that has returned."""
        return None

    def tick(self) -> Coroutine[Any, Any, None] | None:
        """It goes on: in each full tick, and in partial ones if it asks for that. Not called while one is not over."""
        return None

    def stop(self) -> Coroutine[Any, Any, None] | None:
        """It ends, whatever the reason; called once for each ``start``, when its other coroutines have ended."""
        return None

    async def run(self) -> None:
        """The whole goal as one coroutine: begins after ``start``, is cancelled on stop, and ends the goal."""

    def __repr__(self) -> str:
        return f"<{self.name}: {', '.join(self._flags) or 'no flags'}>"


# Functions and not methods: the names of a goal are its author's.


def is_placed(goal: Goal) -> bool:
    """Whether a goal is in a selector, or was removed from one and still cleans up."""
    return goal._place is not None


def put(goal: Goal, place: GoalPlace | None) -> None:
    """A goal was added to a selector; or it is gone from there: None."""
    goal._place = place
