"""Strategies: what authors write to provide dependencies.

A strategy is an action that says which dependencies it provides, what it would cost, and what it would need, and that
is run as a coroutine in which it may have further dependencies solved. It is a class, or made of a coroutine function
by ``@strategy(...)``; what it declares is read once, when it is defined.

What a strategy costs is always a number of *game seconds* that is to be expected, so that strategies whose authors
never met can be compared. There are three ways to say it, from the roughest to the finest; the finest counts::

    cost = 30.0                        a constant
    def foresee(self, ask, wanted)     what may come of it: branches with probabilities, needs and effects
    def estimate(self, ask, wanted)    any computation; None, or ask.cannot(why), for "cannot"

``estimate`` and ``foresee`` are asked often, of one shared instance, and must not change anything; ``run`` has an
instance of its own, so that an author may keep things on ``self``.

Underneath, each strategy has one ``Action`` class for each dependency that it provides (its *carrier*). That is what
the planner runs: flags, leases, traces, snapshots and unwinding are those of any action.

Source: seed 003, "Plugins", "Global Dependency Lists"; design section 6.

Topics: the words by which what was found out is tied to what changes.

``reads = {"stock"}`` and ``agent.gameplay.changed("stock")`` meet by a word, and nobody declares it. A slip in one of
them would make no error, but estimates that hold for ever. So each word is looked at when it is first used, and refused
if nothing is called so and something that is known is called nearly so:

* who reads it (``reads`` of strategies and dependencies, ``ask.reads``): beside the fields of CURRENT, what has
  changed before, and what the library itself tells of;
* who changes it (``changed``): beside what anybody reads.

*Nearly* is one letter too many, missing, exchanged or swapped, and two in a long word. Words that differ in digits only
are meant as they are. A word that is right, however near it comes to another, is made known by ``add_topics``.

Source: seed 003, "Heuristic Based Task Selection", question 3.

Control flow of strategies: what ``ctx.fail`` and ``ctx.restart`` raise. Not errors; let them pass.

As with ``ctx.abort``, they are raised in the strategy's own code and nowhere else; see ``activity.control``.

Global parameters: what all strategies may read, at any depth.

They say what is expected of the agent (may it look through walls, should it ignore hunger, which ores matter most),
and each strategy decides for itself which of them it reads. They are read-only while something is being solved; other
values for one request make a set of their own (``agent.gameplay.using(xray=True)``).

Source: seed 003, "Global Parameters".

Dependencies: what a strategy may need, and what strategies provide.

A dependency is a typed record: ``Collect("diamond", 7)``. Its class is the name of an open, global list of the
strategies that provide it; a strategy of one plugin is considered by those of another that know the class and not each
other. Every dependency is an activity, too (``Collect.activity``), so that plans and compounds can ask for it.

Rules:

* Values are hashable and are not changed: equal dependencies are one and the same for the memo of estimates and for
  the recursion guard.
* A class whose name begins with an underscore, and that does not say ``activity``, is a base class for others: no
  activity, not to be asked for, and nothing provides it.
* ``is_met`` and ``assume`` are two sides of one thing: what holds when the dependency is met. Before solving it is a
  shortcut, after a strategy returned it is the proof that the strategy did what it claims, and in look-ahead ``assume``
  is how the world will look.

Source: seed 003, "Global Dependency Lists"; design section 6.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeAlias, TypeVar, final

from agentrt.activity.author.action import default_hook
from agentrt.activity.author.arguments import REQUIRED, ActionArgs, Fields, Fresh
from agentrt.activity.author.control import Flow
from agentrt.activity.author.steps import ACTIVITY
from agentrt.errors import ENDS_PROGRAM, ArgumentError, DefinitionError
from agentrt.words import repr_of, type_name, words_of

if TYPE_CHECKING:
    from agentrt.activity.author.action import ActionSpec
    from agentrt.activity.author.expected import Current
    from agentrt.strategy.context import StrategyContext
    from agentrt.strategy.estimate import Ask
    from agentrt.strategy.interrupt import Interruption

__all__ = [
    "Topics",
    "check_topics",
    "near",
    "Fail",
    "Restart",
    "Params",
    "Dependency",
    "label_of",
    "required",
    "words",
    "Branch",
    "Expect",
    "Interruptible",
    "Strategy",
    "StrategySpec",
    "strategy",
]

_OWN: Final = ("strategies", "requests", "accuracy")  # what the library tells of by itself
_LONG: Final = 8  # letters from which on two may be wrong


def check_topics(subject: str, what: str, topics: object) -> None:
    """Check what was declared as topics: words, several of them.

    Raises:
        DefinitionError: it is something else.
    """
    if isinstance(topics, str):
        raise DefinitionError(subject, f"its {what} are one text.", f"Write a tuple: ({topics!r},).")
    is_several = isinstance(topics, Collection) and not isinstance(topics, (bytes, bytearray))
    wrong = [topics] if not is_several else [one for one in topics if not isinstance(one, str) or not one]  # type: ignore[attr-defined]
    if topics is not None and wrong:
        raise DefinitionError(subject, f"its {what} have {repr_of(wrong[0], 200)}.", "Write words: {'stock', 'place'}.")


def near(word: str, known: Iterable[str]) -> list[str]:
    """Which known words somebody may have meant who wrote another one; none that differs in digits only."""
    found = dict.fromkeys(one for one in known if one != word and _bare(one) != _bare(word) and _is_slip(word, one))
    return list(found)


def _bare(word: str) -> str:
    return "".join(letter for letter in word if not letter.isdigit())


def _is_slip(word: str, other: str) -> bool:
    most = 2 if min(len(word), len(other)) >= _LONG else 1
    if abs(len(word) - len(other)) > most or min(len(word), len(other)) < 3:
        return False
    above: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        above, before, row = row, above, [i]
        for j, there in enumerate(other, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != there))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == there:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
    return row[-1] <= most


class Topics:
    """The words that one agent's gameplay knows.

    Args:
        fields: gives the names of the fields of its entity.
    """

    __slots__ = ("_changed", "_fields", "_read", "_said")

    def __init__(self, fields: Callable[[], Iterable[str]]) -> None:
        self._fields = fields
        self._said: set[str] = set(_OWN)
        self._read: dict[str, None] = {}
        self._changed: dict[str, None] = {}

    def add(self, topics: Iterable[str]) -> None:
        """Take words as they are."""
        for topic in topics:
            _require("gameplay.add_topics", topic)
            self._said.add(topic)

    def is_read(self, topics: Iterable[str]) -> str:
        """Somebody reads topics.

        Returns:
            What is wrong with one of them, and what may be meant; empty if nothing is.
        """
        for topic in topics:
            given: object = topic
            if not isinstance(given, str):
                return f"{repr_of(given, 200)} is no word."
            if topic not in self._read:
                known = self._said | self._changed.keys()
                if topic not in known:
                    fields = list(self._fields())
                    meant = [] if topic in fields else near(topic, [*fields, *sorted(known)])
                    if meant:
                        return f"the topic {topic!r} is nothing that changes. {_meant(topic, meant)}"
                self._read[topic] = None
        return ""

    def changes(self, topics: Iterable[str]) -> None:
        """Topics changed.

        Raises:
            ArgumentError: one is no word, or nobody reads it and somebody reads one that is called nearly so.
        """
        for topic in topics:
            _require("gameplay.changed", topic)
            if topic not in self._changed:
                meant = [] if topic in self._read or topic in self._said else near(topic, self._read)
                if meant:
                    raise ArgumentError(
                        "gameplay.changed", repr(topic), f"is a topic that nobody reads. {_meant(topic, meant)}"
                    )
                self._changed[topic] = None


def _require(method: str, topic: object) -> None:
    if not isinstance(topic, str) or not topic:
        raise ArgumentError(method, "topics", f"takes words, not {repr_of(topic, 200)}. Write 'stock', 'place'.")


def _meant(topic: str, meant: list[str]) -> str:
    words = " or ".join(repr(one) for one in meant[:3])
    return f"Did you mean {words}? If it is right as it is, say so first: agent.gameplay.add_topics({topic!r})."


@final
class Fail(Flow):
    """The strategy cannot provide what it was run for: the next one is tried.

    Source: seed 003, "Task Failure".
    """

    method = "fail"


@final
class Restart(Flow):
    """The strategy begins again.

    Source: seed 003, "Pauseable/Cancelable Tasks".
    """

    method = "restart"


class Params(Mapping[str, Any]):
    """A set of global parameters. Read one as an attribute, or with ``get`` if it may not be there.

    Args:
        declared: their types and defaults; None for any names. Subclass ``ActionArgs`` for it.
        values: by name.

    Raises:
        ArgumentError: a value is missing, unknown, of the wrong type, or has the name of a method.
    """

    __slots__ = ("_declared", "_values")

    def __init__(self, declared: type[Fields] | None = None, values: Mapping[str, Any] | None = None) -> None:
        self._declared: type[Fields] | None = declared
        given = dict(values or {})
        for name in given:
            if hasattr(Params, name):
                raise ArgumentError("parameters", name, "has the name of a method. Call it otherwise.")
        self._values: dict[str, Any] = given if declared is None else dict(declared.build("parameters", given))

    def using(self, changes: Mapping[str, Any]) -> Params:
        """The same, but for some values.

        Args:
            changes: by name.

        Raises:
            ArgumentError: a value is unknown or of the wrong type.
        """
        return Params(self._declared, {**self._values, **changes})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._values:
            raise ArgumentError(
                "parameters",
                name,
                f"is not there: {', '.join(self._values) or 'none are given'}. Give it to the agent's gameplay, or "
                f"read it with params.get({name!r}, default).",
            )
        return self._values[name]

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Params({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"


R = TypeVar("R")

_DEPENDENCY_HOOKS = ("is_met", "met_value", "assume", "guard_key", "label")
_CALL = re.compile(r"[a-z][a-z0-9_]*")


def words(name: str) -> str:
    """The name of a class in words: ``MineOre`` is "Mine Ore"."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)


class _Declared:
    """What a class of dependencies declares besides its fields. Apart, since annotations of the class are fields."""

    activity: ClassVar[str] = ""
    call: ClassVar[str] = ""
    reads: ClassVar[Collection[str] | None] = None
    cost: ClassVar[float] = 10.0
    _solver: ClassVar[Any] = None  # the action that has it solved in a plan
    _signature: ClassVar[Any] = None

    @classmethod
    def _take_name(cls, activity: str) -> None:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
        cls.activity = activity or ("" if name.startswith("_") else f"gameplay:{name}")
        cls.call = cls.activity.rpartition(":")[2]


@typing.dataclass_transform()
class Dependency(_Declared, ActionArgs, Generic[R]):
    """Something that can be asked for. Subclass it with annotated fields; ``Dependency[int]`` gives an int.

    A subclass may say, as arguments of the class: ``activity``, its name among activities (``"gameplay:collect"`` by
    default, from the name of the class), of which the last part is the call that is generated for it. A class whose
    name begins with an underscore is a base class for others, unless it says ``activity``.

    Args:
        args: values, in the order of the fields.
        values: values by name.

    Attributes:
        activity: its name among activities; empty for a base class.
        call: what is generated on ``agent.gameplay``.
        reads: the topics that ``is_met`` looks at, so that what was found out is kept until one of them changes; None
            if that is not known: then it is asked in each decision.
        cost: what to assume that it costs where look-ahead ends and no provider says more, in game seconds.

    Raises:
        ArgumentError: a value is missing, unknown, of the wrong type, or not hashable.
        DefinitionError: it is a base class; or, when it is defined, what it declares is wrong.

    Source: seed 003, "Global Dependency Lists".
    """

    __slots__ = ()

    def __init_subclass__(cls, activity: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        subject = f"{cls.__module__}.{cls.__qualname__}"
        cls._take_name(activity)
        if cls.activity and not (ACTIVITY.fullmatch(cls.activity) and _CALL.fullmatch(cls.call)):
            raise DefinitionError(
                subject,
                f"its activity is {cls.activity!r}.",
                "Write one such as 'gameplay:collect': its last part is the name of a function.",
            )
        for name in cls.field_names():
            if hasattr(Dependency, name):
                raise DefinitionError(subject, f"the field '{name}' has the name of a method.", "Call it otherwise.")
        check_topics(subject, "reads", cls.reads)
        for hook in _DEPENDENCY_HOOKS:
            if inspect.iscoroutinefunction(getattr(cls, hook)):
                raise DefinitionError(
                    subject, f"its {hook} is a coroutine function.", "Write a plain one: it must not wait."
                )

    def __init__(self, *args: Any, **values: Any) -> None:
        if not self.activity:
            raise DefinitionError(
                f"{type(self).__module__}.{type(self).__qualname__}",
                "it is a base class of dependencies, and cannot be asked for.",
                "Ask for one of its subclasses.",
            )
        names = self.field_names()
        if len(args) > len(names):
            raise ArgumentError(
                self.activity, str(len(args)), f"is one value too many: it takes {', '.join(names) or 'none'}."
            )
        for name, value in zip(names, args, strict=False):
            if name in values:
                raise ArgumentError(self.activity, name, "is given twice. Give it once, by place or by name.")
            values[name] = value
        self._fill(self.activity, values)
        try:
            hash(self)
        except TypeError as error:
            raise ArgumentError(
                self.activity, "a value", f"cannot be hashed ({words_of(error)}). Give a tuple instead of a list."
            ) from None

    # --- what an author may say ---------------------------------------------------------------------------------------

    @default_hook
    def is_met(self, ask: Ask) -> bool:
        """Whether it holds already. If so, nothing is done for it; after a strategy returned, it has to hold.

        Args:
            ask: the world as it is, or as look-ahead assumes it (``ask.CURRENT``).

        Returns:
            Without this hook it never holds beforehand, and strategies are believed.
        """
        return False

    def met_value(self, ask: Ask) -> Any:
        """What solving it gives when it was met already, or when the strategy that provided it returned nothing.

        Args:
            ask: the world.
        """
        return None

    @default_hook
    def assume(self, state: Current) -> None:
        """Write into an expected state what holds when it is met; for look-ahead.

        Args:
            state: a layer of CURRENT.
        """

    def guard_key(self) -> object:
        """What must not be asked for by a strategy that is solving it already; hashable.

        Returns:
            All values, by default. A dependency with an amount leaves that out: who makes a pickaxe must not need one.
        """
        return self.values_in_order()

    def label(self) -> str:
        """What trees and errors call it: "Collect [diamond, 7]"."""
        found = self.values_in_order()
        values = ", ".join(_shown(value, is_alone=len(found) == 1) for value in found)
        name = words(type(self).__name__)
        return f"{name} [{values}]" if values else name

    # --- identity -----------------------------------------------------------------------------------------------------

    def values_in_order(self) -> tuple[Any, ...]:
        """Its values, in the order of the fields."""
        return tuple(self.__dict__.values())  # filled in that order

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((type(self).activity, *self.__dict__.values()))

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """Its fields as parameters of a call, with types and defaults."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        found: list[inspect.Parameter] = []
        for name, (default, _) in cls._fields.items():
            owner = next(base for base in cls.__mro__ if name in inspect.get_annotations(base))
            given = (
                inspect.Parameter.empty
                if default is REQUIRED
                else default.value
                if isinstance(default, Fresh)
                else default
            )
            hint = inspect.get_annotations(owner)[name]
            found.append(inspect.Parameter(name, kind, default=given, annotation=hint))
        return found

    @classmethod
    def call_signature(cls) -> inspect.Signature:
        """That of a call; made once."""
        found: inspect.Signature | None = cls.__dict__.get("_signature")
        if found is None:
            found = cls._signature = inspect.Signature(cls.parameters())
        return found

    @classmethod
    def has_condition(cls) -> bool:
        """Whether it says when it is met."""
        return not hasattr(cls.is_met, "is_default_hook")

    @classmethod
    def has_effect(cls) -> bool:
        """Whether it says what holds when it is met."""
        return not hasattr(cls.assume, "is_default_hook")


def label_of(wanted: Dependency[Any]) -> str:
    """What trees and errors call a dependency, whatever its author's ``label`` and the values in it do."""
    try:
        return words_of(wanted.label())
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        return f"{words(type(wanted).__name__)} <its label cannot be made: {type_name(error)}>"


def _shown(value: object, *, is_alone: bool = False) -> str:
    """A value for people: by its name; a tuple by its items, in parentheses unless nothing can be mistaken."""
    if type(value) is tuple and value:
        items = ", ".join(_shown(item) for item in value)
        return items if is_alone or len(value) == 1 else f"({items})"
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else str(value)


def required(method: str, *wanted: object) -> None:
    """Check that what was given are dependencies: classes of them, and plain values, are given by mistake.

    Args:
        method: what was called, for the error.

    Raises:
        ArgumentError: one is none.
    """
    for one in wanted:
        if not isinstance(one, Dependency):
            meant = 'Write one, such as Collect("log", 4).'
            if isinstance(one, type) and issubclass(one, Dependency):
                meant = f"Give it its values: {one.__name__}(...)."
            raise ArgumentError(method, "wanted", f"takes a dependency, not {repr_of(one, 200)}. {meant}")


_HOOKS = {
    "run": ("ctx", "wanted"),
    "estimate": ("ask", "wanted"),
    "foresee": ("ask", "wanted"),
    "interrupted": ("ctx", "interruption"),
}
LONGEST_COST = 1e9  # game seconds; more is a mistake

Expect: TypeAlias = "Mapping[str, Any] | Callable[[Current], None]"
"""What is expected of CURRENT: its fields, or a function that writes them."""


class Interruptible(StrEnum):
    """What a strategy supports when something comes up while it is the one that runs.

    Source: seed 003, "Pauseable/Cancelable Tasks".
    """

    PAUSE = "pause"
    """It stands still at the await where it is, and goes on there afterwards."""
    RESTART = "restart"
    """It is cancelled, and run again from its beginning afterwards."""
    WAIT = "wait"
    """Neither: what came up waits until it is completed, and so it does for all that is solved below it."""
    TREE = "tree"
    """Whatever runs below it is cancelled too, and it is run again from its own beginning afterwards."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One thing that may come of a strategy, as it declares it for look-ahead.

    Attributes:
        probability: how likely, against the other branches; they are taken as shares of their sum.
        cost: the strategy's own game seconds in it, without those of its needs.
        needs: the dependencies that it will have solved, in this order.
        expect: fields of CURRENT as they will be when it is over, besides what its needs bring about; or a function
            that writes them into the state which its needs leave, for what is used up of it.
        uses: what it will use up, by name: ``{"wooden_pickaxe": 0.2}``.
        fails: whether that outcome is a failure, so that the next strategy would be tried.
        label: for people.

    Source: seed 003, "Planning Ahead Using Probability".
    """

    probability: float = 1.0
    cost: float = 0.0
    needs: tuple[Dependency[Any], ...] = ()
    expect: Expect = field(default_factory=dict)
    uses: Mapping[str, float] = field(default_factory=dict)
    fails: bool = False
    label: str = ""


class Strategy:
    """A way to provide one or several dependencies. Subclass it.

    Attributes:
        provides: the class of dependencies that it provides, or several; a class without any is a base class.
        name: what tools and the generated call use: the name of its class in lower case with underscores.
        cost: what it is expected to take, in game seconds, if it says nothing finer.
        reads: the topics that ``estimate`` and ``foresee`` look at (see ``agent.gameplay.changed``), so that what they
            said is kept until one of them changes; None if that is not known: then it is asked in each decision.
        interruption: what it supports when something comes up.
        flags: control flags that it holds while it runs, shared with what it has solved.
        patience: after how many game seconds of its own (without those of what it has solved, and of interruptions) it
            counts as hanging, is cancelled and fails; what it shields is waited for. None for ten times what it said
            that it costs, and at least a minute.
        injects: the names of the lists of other strategies that it joins: ``("Smelt.fuels",)``.
        status_text_key: as for an action: a key under which the game finds words for what the agent does.

    Source: seed 003, "Plugins".
    """

    provides: ClassVar[type[Dependency[Any]] | Collection[type[Dependency[Any]]]] = ()
    name: ClassVar[str] = ""
    cost: ClassVar[float | None] = None
    reads: ClassVar[Collection[str] | None] = None
    interruption: ClassVar[Interruptible] = Interruptible.RESTART
    flags: ClassVar[Collection[str]] = ()
    patience: ClassVar[float | None] = None
    injects: ClassVar[Collection[str]] = ()
    status_text_key: ClassVar[str | None] = None

    spec: ClassVar[StrategySpec]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__dict__.get("name"):
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
        if cls.provides:
            cls.spec = StrategySpec(cls)

    @default_hook
    def estimate(self, ask: Ask, wanted: Any) -> float | None:
        """What it would cost now, with all that it would need.

        Args:
            ask: the world, and the costs of further dependencies: ``ask.cost(Find("log"))``.
            wanted: the dependency.

        Returns:
            The expected game seconds; None if it cannot do it.
        """
        if hasattr(type(self).foresee, "is_default_hook"):
            return type(self).cost
        return ask.expected(self.foresee(ask, wanted))

    @default_hook
    def foresee(self, ask: Ask, wanted: Any) -> Iterable[Branch]:
        """What may come of it.

        Args:
            ask: the world as it is, or as look-ahead assumes it.
            wanted: the dependency.

        Returns:
            The branches; none if it cannot do it.

        Source: seed 003, "Planning Ahead Using Probability".
        """
        return ()

    async def run(self, ctx: StrategyContext, wanted: Any) -> Any:
        """Do it. It has provided the dependency when this returns; whatever it raises is a failure.

        Args:
            ctx: what it can do: ``await ctx.solve(Find("log"))``, ``ctx.fail(why)``, and all that an action can.
            wanted: the dependency.

        Returns:
            What solving the dependency gives.
        """

    @default_hook
    def interrupted(self, ctx: StrategyContext, interruption: Interruption) -> None:
        """Something came up while it, or something below it, was run; it has been dealt with. Look at the world again.

        The strategy that was interrupted is told first, then those above it. Raise ``ctx.fail(why)`` if there is no
        sense in going on, ``ctx.restart()`` to begin again.

        Args:
            ctx: its context.
            interruption: what it was.

        Source: seed 003, "Interrupting Tasks": a message to all parent tasks.
        """


class StrategySpec:
    """What a class of strategies declares, checked."""

    __slots__ = ("asks", "carriers", "cls", "foresees", "hears", "label", "name", "provides", "subject")

    def __init__(self, cls: type[Strategy]) -> None:
        self.cls: type[Strategy] = cls
        self.subject: str = f"{cls.__module__}.{cls.__qualname__}"  # its module and name, for errors
        self.name: str = cls.name  # what the generated call is called
        self.label: str = words(cls.__name__)  # what trees call it, in words
        given: Any = cls.provides
        # the classes of dependencies
        self.provides: tuple[type[Dependency[Any]], ...] = tuple(given) if isinstance(given, Collection) else (given,)
        self.foresees: bool = not hasattr(cls.foresee, "is_default_hook")  # whether it has the hook ``foresee``
        # whether it has ``estimate`` or ``foresee``; else its constant counts
        self.asks: bool = self.foresees or not hasattr(cls.estimate, "is_default_hook")
        self.hears: bool = not hasattr(cls.interrupted, "is_default_hook")  # whether it has the hook ``interrupted``
        # what the planner runs for each of the dependencies; made when it is first needed
        self.carriers: dict[type[Dependency[Any]], ActionSpec] = {}
        self._check()

    def _check(self) -> None:
        cls = self.cls
        declared: tuple[object, ...] = self.provides
        for one in declared:
            if not (isinstance(one, type) and issubclass(one, Dependency)):
                raise DefinitionError(
                    self.subject, f"it provides {one!r}.", "Name classes of dependencies: provides = Collect."
                )
            if not one.activity:
                raise DefinitionError(
                    self.subject, f"it provides {one.__name__}, which is a base class.", "Name its subclasses."
                )
        named: object = self.name
        if not (isinstance(named, str) and named.isidentifier()):
            raise DefinitionError(self.subject, f"its name is {repr_of(named)}.", "Write one such as 'mine_ore'.")
        self._check_hooks()
        for what, given in (("cost", cls.cost), ("patience", cls.patience)):
            seconds: object = given
            if seconds is not None and not (isinstance(seconds, (int, float)) and 0 <= seconds <= LONGEST_COST):
                raise DefinitionError(self.subject, f"its {what} is {seconds!r}.", "Write game seconds, 0 or more.")
        for what, names in (("reads", cls.reads), ("flags", cls.flags), ("injects", cls.injects)):
            check_topics(self.subject, what, names)
        supported: object = cls.interruption
        if not isinstance(supported, Interruptible):
            raise DefinitionError(
                self.subject, f"its interruption is {supported!r}.", "Write Interruptible.PAUSE or another."
            )

    def _check_hooks(self) -> None:
        cls = self.cls
        if cls.run is Strategy.run:
            raise DefinitionError(self.subject, "it has no 'run'.", "Write: async def run(self, ctx, wanted).")
        if not self.asks and cls.cost is None:
            raise DefinitionError(
                self.subject,
                "nothing says what it costs.",
                "Give it a 'cost' in game seconds, 'foresee' or 'estimate'.",
            )
        for name, parameters in _HOOKS.items():
            hook = getattr(cls, name)
            function, own = getattr(hook, "function", hook), ("self",)[: not hasattr(hook, "function")]
            if inspect.iscoroutinefunction(inspect.unwrap(function)) is not (name == "run"):
                word = "an 'async def'" if name == "run" else "a plain 'def', not 'async def'"
                raise DefinitionError(self.subject, f"{name} has the wrong kind.", f"Make it {word}.")
            try:
                inspect.signature(function).bind(*own, *parameters)
            except TypeError as error:
                raise DefinitionError(
                    self.subject,
                    f"{name} cannot be called: {error}.",
                    f"Write {name}({', '.join((*own, *parameters))}).",
                ) from error

    def __repr__(self) -> str:
        return f"<StrategySpec {self.subject}>"


Runs = Callable[..., Coroutine[Any, Any, Any]]


def strategy(
    *provides: type[Dependency[Any]],
    name: str | None = None,
    cost: float | None = None,
    estimate: Callable[[Ask, Any], float | None] | None = None,
    foresee: Callable[[Ask, Any], Iterable[Branch]] | None = None,
    reads: Collection[str] | None = None,
    interruption: Interruptible = Interruptible.RESTART,
    flags: Collection[str] = (),
    patience: float | None = None,
    injects: Collection[str] = (),
    status_text_key: str | None = None,
) -> Callable[[Runs], type[Strategy]]:
    """Make a strategy of a coroutine function ``run(ctx, wanted)``; a decorator.

    Args:
        provides: what it provides.
        name: what tools and the generated call use; None for the name of the function.
        cost: as for ``Strategy``; so are the others.
        estimate: a function of (ask, wanted).
        foresee: a function of (ask, wanted).
        reads: topics.
        interruption: what it supports.
        flags: control flags.
        patience: game seconds.
        injects: lists that it joins.
        status_text_key: a key of the game's texts.

    Returns:
        The decorator, which gives the class of the strategy.

    Raises:
        DefinitionError: as for a class.

    Source: seed 003, "Plugins"; design section 6, "by subclass or decorator".
    """

    def decorate(run: Runs) -> type[Strategy]:
        namespace: dict[str, Any] = {
            "__doc__": run.__doc__,
            "__module__": run.__module__,
            "__qualname__": run.__qualname__,
            "provides": provides,
            "name": run.__name__ if name is None else name,
            "cost": cost,
            "reads": reads,
            "interruption": interruption,
            "flags": tuple(flags),
            "patience": patience,
            "injects": tuple(injects),
            "status_text_key": status_text_key,
            "run": _method(run),
        }
        if estimate is not None:
            namespace["estimate"] = _method(estimate)
        if foresee is not None:
            namespace["foresee"] = _method(foresee)
        title = "".join(part.capitalize() for part in str(namespace["name"]).split("_"))
        return type(title, (Strategy,), namespace)

    return decorate


def _method(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """A function as a method of a strategy that keeps nothing on itself."""

    def method(_: Strategy, context: Any, wanted: Any) -> Any:
        return function(context, wanted)

    method.function = function  # type: ignore[attr-defined]
    return method
