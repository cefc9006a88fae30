"""Dependencies: what can be asked for, and what is found by whoever is asked what that would cost.

A dependency is a typed record: ``Collect("diamond", 7)``. Its class is the name of an open, global list of the
strategies that provide it; a strategy of one plugin is considered by those of another that know the class and not each
other. Every dependency is an activity, too (``Collect.activity``), so that plans and compounds can ask for it. Rules:

* Values are hashable and are not changed: equal dependencies are one and the same for the memo of estimates and for
  the recursion guard.
* ``is_met`` and ``assume`` are two sides of one thing: what holds when the dependency is met. Before solving it is a
  shortcut, after a strategy returned it is the proof that the strategy did what it claims, and in look-ahead ``assume``
  is how the world will look.
* *Global parameters* (``Params``) are what all strategies may read, at any depth: may the agent look through walls,
  which ores matter most. They are read-only while something is being solved; other values make a set of their own.
* An ``Ask`` belongs to one question and is not kept, and it never changes anything. Who works out what it asks, an
  ``Estimator``, stands above.

Dependencies and ``Ask`` name each other in what they take, and so does ``Branch``, which has needs and is priced: that
is why they stand in one module.

*Scenarios* are the memo of estimates. A ``Scenario`` is CURRENT with a layer of assumptions; the one without is the
world as it is. In each stand *tables*, one for what can be asked for at a depth of look-ahead, with what each provider
said, who is chosen, and the scenario in which it has been met. So a scenario that follows from another by meeting a
need is made once, and what was found out in it is found again. Who is asked for what are but keys to it.

* *When an entry holds.* It remembers the topics that were read for it, with their versions, and holds while none of
  them has another. Whoever did not say what he reads is believed during one decision only.
* *Where it is found again.* It remembers which needs were priced for it, and who was left out there because he is being
  run or asked for the same: it is found again wherever that makes no difference, so that circles, of which there are
  many, do not empty the memo.
* *Taking over.* When the world turns out as it was assumed (every field that is written in the layer has that value in
  reality), what was found out in the scenario holds in the real one. Its topics have changed meanwhile, or nothing
  would have come true; so a topic that has the name of a field that was assumed stands for that field, and is as good
  as its value. All other topics must be unchanged.

Rejected: comparing whole states to find out whether an estimate still holds. It costs more than asking anew.

Source: prismarine-gameplay: "Global Dependency Lists", "Global Parameters", "Heuristic Based Task Selection", "Planning
Ahead Using Probability".
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, NoReturn, Protocol, TypeAlias, TypeVar, final

from agentrt.activity.author.action import Action, default_hook
from agentrt.activity.author.arguments import REQUIRED, ActionArgs, Fields, Fresh
from agentrt.activity.author.expected import Current, ExpectedStorage, expected_fields
from agentrt.activity.author.steps import ACTIVITY
from agentrt.errors import ENDS_PROGRAM, ArgumentError, DefinitionError
from agentrt.strategy.supplies import Amounts, enough
from agentrt.words import class_name, repr_of, type_name, words_of

if TYPE_CHECKING:
    from agentrt.kernel.clock import Clock

_MOST_TABLES: Final = 1024  # of a scenario; then it begins with none
_MOST_CONTEXTS: Final = 8  # of one thing, each with others left out; a ring of providers makes one for each of them

T_co = TypeVar("T_co", covariant=True)

Versions = tuple[tuple[str, int], ...]  # the topics that were read, with the number of changes that each had had
Need = tuple[type, object]  # a class of dependencies, and its ``guard_key``
LeftOut = frozenset[tuple[Need, object]]  # who is being asked or run for what, as far as it matters


@dataclass(slots=True, eq=False)
class Kept(Generic[T_co]):
    """Something that was found out, and when it holds."""

    value: T_co
    topics: Versions | None  # what was read for it; None if that is not known
    needs: Set[Need]  # what was priced for it
    context: LeftOut  # who of those who provide one of these needs was left out
    decision: int  # the number of the one in which it was found out
    stamp: int  # how many changes there had been

    def holds(self, decision: int, stamp: int, versions: Mapping[str, int]) -> bool:
        """Whether it still holds, in its context."""
        if self.decision == decision:
            return True  # nothing changes within a decision, and nobody is asked twice in it
        topics = self.topics
        if topics is None:
            return False
        if self.stamp != stamp:
            for topic, version in topics:
                if versions.get(topic, 0) != version:
                    return False
            self.stamp = stamp  # the next time there is nothing to compare, as long as nothing changes at all
        return True

    def keep_in(self, table: Table, key: object) -> None:
        """Add it to a table."""
        entries = table.setdefault(key, [])
        if len(entries) >= _MOST_CONTEXTS:
            del entries[0]  # the oldest: what is asked now is asked from where the last ones were
        entries.append(self)

    def fits(self, running: Mapping[Need, Mapping[Any, int]]) -> bool:
        """Whether it was found out in a context that makes no difference now that these are being asked or run."""
        needs, context = self.needs, self.context
        if not needs or not running:
            return not context
        met = 0
        for need in running:
            if need in needs:
                for provider in running[need]:
                    if (need, provider) not in context:
                        return False
                    met += 1
        return met == len(context)


# What was found out about one dependency at one depth, by provider or by what it is: one for each context, the latest
# last.
Table: TypeAlias = dict[object, list[Kept[Any]]]


@dataclass(slots=True, eq=False)
class Scenario:
    """The world as it is, or as look-ahead assumes it."""

    state: Current | None = None  # a layer of CURRENT with what is assumed; None for the world as it is
    tables: dict[tuple[Hashable, int], Table] = field(default_factory=dict)  # what was found out in it

    def table(self, wanted: Hashable, depth: int) -> Table:
        """The table of what can be asked for, at a depth of look-ahead; made if there is none."""
        key = (wanted, depth)
        found = self.tables.get(key)
        if found is None:
            if len(self.tables) >= _MOST_TABLES:
                self.tables.clear()  # all: to count uses would cost something with every look
            found = self.tables[key] = {}
        return found


def is_as_assumed(state: Current, real: Current) -> Collection[str] | None:
    """The names of the fields that a layer assumes, if the real one has the same values; else None."""
    assumed = expected_fields(state)
    for name, value in assumed.items():
        try:
            found = getattr(real, name)
            if isinstance(value, ExpectedStorage) and isinstance(found, ExpectedStorage):
                value, found = dict(value.items), dict(found.items)
            if not bool(value == found):
                return None
        except ENDS_PROGRAM:
            raise
        except BaseException:  # an author's type that cannot be compared: nobody knows
            return None
    return assumed.keys()


def take_over(
    source: Scenario, into: Scenario, fields: Collection[str], versions: Mapping[str, int], stamp: int
) -> int:
    """Let what was found out in one scenario hold in another, since the fields that were assumed are so."""
    count = 0
    for (wanted, depth), table in source.tables.items():
        target = into.table(wanted, depth)
        for key, entries in table.items():
            for kept in entries:
                topics = _as_of_now(kept.topics, fields, versions)
                if topics is not None and not isinstance(kept.value, Scenario):  # its layers would hide what changes
                    Kept(kept.value, topics, kept.needs, kept.context, -1, stamp).keep_in(target, key)  # of no decision
                    count += 1
    return count


def _as_of_now(topics: Versions | None, fields: Collection[str], versions: Mapping[str, int]) -> Versions | None:
    if topics is None:
        return None
    now: list[tuple[str, int]] = []
    for topic, version in topics:
        present = versions.get(topic, 0)
        if present != version and topic not in fields:
            return None
        now.append((topic, present))
    return tuple(now)


_MOST_NEEDS: Final = 6  # of a path that is told


def check_topics(subject: str, what: str, topics: object) -> None:
    """Check what was declared as topics: words, several of them; else raise ``DefinitionError``."""
    if isinstance(topics, str):
        raise DefinitionError(subject, f"its {what} are one text.", f"Write a tuple: ({topics!r},).")
    is_several = isinstance(topics, Collection) and not isinstance(topics, (bytes, bytearray))
    wrong = [topics] if not is_several else [one for one in topics if not isinstance(one, str) or not one]  # type: ignore[attr-defined]
    if topics is not None and wrong:
        raise DefinitionError(subject, f"its {what} have {repr_of(wrong[0], 200)}.", "Write words: {'stock', 'place'}.")


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
        """The same, but for some values, by name; ``ArgumentError`` if one is unknown or of the wrong type."""
        return Params(self._declared, {**self._values, **changes})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._values:
            there = ", ".join(self._values) or "none are given"
            instead = f"Give it to the agent's gameplay, or read it with params.get({name!r}, default)."
            raise ArgumentError("parameters", name, f"is not there: {there}. {instead}")
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
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def words(name: str) -> str:
    """The name of a class in words: ``MineOre`` is "Mine Ore"."""
    return _HUMP.sub(" ", name)


def snake_case(name: str) -> str:
    """The name of a class as that of a function: ``MineOre`` is "mine_ore"."""
    return _HUMP.sub("_", name).lower()


@typing.dataclass_transform()
class Dependency(ActionArgs, Generic[R]):
    """Something that can be asked for. Subclass it with annotated fields; ``Dependency[int]`` gives an int.

    A subclass may say, as an argument of the class, its ``activity`` (``"gameplay:collect"`` by default, from the name
    of the class), of which the last part is the call that is generated for it. A class whose name begins with an
    underscore is a base class for others, unless it says ``activity``.

    Raises:
        ArgumentError: a value is missing, unknown, of the wrong type, or not hashable.
        DefinitionError: it is a base class; or, when it is defined, what it declares is wrong.

    Source: prismarine-gameplay: "Global Dependency Lists".
    """

    __slots__ = ()

    if TYPE_CHECKING:  # what is annotated when the class is made is a field
        activity: ClassVar[str]
        call: ClassVar[str]
        reads: ClassVar[Collection[str] | None]
        cost: ClassVar[float]
        _solver: ClassVar[type[Action]]  # the action that has it solved in a plan
        _signature: ClassVar[inspect.Signature]

    activity = ""  # its name among activities; empty for a base class
    call = ""  # what is generated on ``agent.gameplay``
    # the topics that ``is_met`` looks at, so that what was found out is kept until one of them changes; None if that is
    # not known: then it is asked in each decision
    reads = None
    cost = 10.0  # the game seconds to assume where look-ahead ends and no provider says more

    def __init_subclass__(cls, activity: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        subject = class_name(cls)
        name = snake_case(cls.__name__)
        cls.activity = activity or ("" if name.startswith("_") else f"gameplay:{name}")
        cls.call = cls.activity.rpartition(":")[2]
        if cls.activity and not (ACTIVITY.fullmatch(cls.activity) and _CALL.fullmatch(cls.call)):
            instead = "Write one such as 'gameplay:collect': its last part is the name of a function."
            raise DefinitionError(subject, f"its activity is {cls.activity!r}.", instead)
        for name in cls.field_names():
            if hasattr(Dependency, name):
                raise DefinitionError(subject, f"the field '{name}' has the name of a method.", "Call it otherwise.")
        check_topics(subject, "reads", cls.reads)
        for hook in _DEPENDENCY_HOOKS:
            if inspect.iscoroutinefunction(getattr(cls, hook)):
                what = f"its {hook} is a coroutine function."
                raise DefinitionError(subject, what, "Write a plain one: it must not wait.")

    def __init__(self, *args: Any, **values: Any) -> None:
        if not self.activity:
            subject = class_name(type(self))
            what = "it is a base class of dependencies, and cannot be asked for."
            raise DefinitionError(subject, what, "Ask for one of its subclasses.")
        names = self.field_names()
        if len(args) > len(names):
            takes = ", ".join(names) or "none"
            raise ArgumentError(self.activity, str(len(args)), f"is one value too many: it takes {takes}.")
        for name, value in zip(names, args, strict=False):
            if name in values:
                raise ArgumentError(self.activity, name, "is given twice. Give it once, by place or by name.")
            values[name] = value
        self._fill(self.activity, values)
        try:
            hash(self)
        except TypeError as error:
            what = f"cannot be hashed ({words_of(error)}). Give a tuple instead of a list."
            raise ArgumentError(self.activity, "a value", what) from None

    # --- what an author may say ---------------------------------------------------------------------------------------

    @default_hook
    def is_met(self, ask: Ask) -> bool:
        """Whether it holds already. If so, nothing is done for it; after a strategy returned, it has to hold.

        It is asked of the world as it is, or as look-ahead assumes it (``ask.CURRENT``). Without this hook it never
        holds beforehand, and strategies are believed.
        """
        return False

    def met_value(self, ask: Ask) -> Any:
        """What solving it gives when it was met already, or when who provided it returned nothing."""
        return None

    @default_hook
    def assume(self, state: Current) -> None:
        """Write into a layer of CURRENT what holds when it is met; for look-ahead."""

    def guard_key(self) -> object:
        """What must not be asked for by a strategy that is solving it already; hashable.

        By default all values. A dependency with an amount leaves that out: who makes a pickaxe must not need one.
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
            hint = next(known[name] for known in map(inspect.get_annotations, cls.__mro__) if name in known)
            given = default.value if isinstance(default, Fresh) else default
            empty = inspect.Parameter.empty
            found.append(inspect.Parameter(name, kind, default=empty if given is REQUIRED else given, annotation=hint))
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
    """Raise ``ArgumentError`` if one is no dependency: classes of them, and plain values, are given by mistake."""
    for one in wanted:
        if not isinstance(one, Dependency):
            meant = 'Write one, such as Collect("log", 4).'
            if isinstance(one, type) and issubclass(one, Dependency):
                meant = f"Give it its values: {one.__name__}(...)."
            raise ArgumentError(method, "wanted", f"takes a dependency, not {repr_of(one, 200)}. {meant}")


def told_path(path: Sequence[Dependency[Any]]) -> str:
    """Needs in words, each of the one before it: "Have [plank] needs Have [log]"."""
    told = [label_of(one) for one in path[:_MOST_NEEDS]]
    if len(path) > _MOST_NEEDS:
        told += ["...", label_of(path[-1])] if path[-1] in path[:_MOST_NEEDS] else ["..."]
    return " needs ".join(told)


# --- what may come of a strategy --------------------------------------------------------------------------------------

Expect: TypeAlias = "Mapping[str, Any] | Callable[[Current], None]"  # fields of CURRENT, or a function that writes them


@dataclass(frozen=True, slots=True)
class Branch:
    """One thing that may come of a strategy, as it declares it for look-ahead.

    Source: prismarine-gameplay: "Planning Ahead Using Probability".
    """

    probability: float = 1.0  # how likely, against the other branches; they are taken as shares of their sum
    cost: float = 0.0  # the strategy's own game seconds in it, without those of its needs
    needs: tuple[Dependency[Any], ...] = ()  # what it will have solved, in this order
    # fields of CURRENT as they will be when it is over, besides what its needs bring about; or a function that writes
    # them into the state which its needs leave, for what is used up of it
    expect: Expect = field(default_factory=dict)
    uses: Mapping[str, float] = field(default_factory=dict)  # what it will use up: ``{"wooden_pickaxe": 0.2}``
    fails: bool = False  # whether that outcome is a failure, so that the next strategy would be tried
    label: str = ""  # for people


# --- asking -----------------------------------------------------------------------------------------------------------


@final
class Cannot(BaseException):
    """What ``ask.cannot`` raises. Control flow; let it pass."""

    def __init__(self, reason: str) -> None:
        self.reason: Final = words_of(reason)
        super().__init__(self.reason)


class _Pricing(Protocol):
    """Who works out what an author asks, under one set of global parameters: an ``Estimator``, which explains these."""

    params: Params
    agent: Any  # as authors know it

    @property
    def clock(self) -> Clock: ...

    def layer(self, world: Scenario) -> Current: ...

    def read_words(self, topics: Collection[str]) -> str: ...

    def deciding(self) -> AbstractContextManager[None]: ...

    def is_met(self, wanted: Dependency[Any], world: Scenario) -> bool: ...

    def need(self, wanted: Dependency[Any], world: Scenario, depth: int) -> float: ...

    def foreseen(self, branches: Iterable[Branch]) -> tuple[Branch, ...]: ...

    def amounts_of(self, needs: Iterable[Dependency[Any]], world: Scenario, depth: int) -> Amounts: ...

    def after(self, need: Dependency[Any], world: Scenario, depth: int) -> Scenario: ...

    def when(self, expect: Expect, world: Scenario) -> Scenario: ...


class Ask:
    """What ``estimate``, ``foresee``, ``is_met`` get as their first argument."""

    __slots__ = ("_pricing", "_state", "depth", "wanted", "world")

    def __init__(self, pricing: _Pricing, world: Scenario, depth: int, wanted: Dependency[Any] | None = None) -> None:
        self._pricing = pricing
        self.world: Scenario = world  # as it is assumed
        self.depth: int = depth  # how many levels further it may be looked ahead
        self.wanted: Dependency[Any] | None = wanted  # what it is about; None outside ``estimate`` and ``foresee``
        self._state: Current | None = None

    # --- the world ----------------------------------------------------------------------------------------------------

    @property
    def agent(self) -> Any:
        """The agent."""
        return self._pricing.agent

    @property
    def entity(self) -> Any:
        """The entity, as it is."""
        return self._pricing.agent.entity

    @property
    def params(self) -> Params:
        """The global parameters."""
        return self._pricing.params

    @property
    def clock(self) -> Clock:
        """The clock of the runtime."""
        return self._pricing.clock

    @property
    def CURRENT(self) -> Current:  # noqa: N802 - the source's name for it
        """The state that the entity has, or is assumed to have. What is written to it is lost."""
        if self._state is None:
            self._state = self._pricing.layer(self.world)
        return self._state

    @property
    def is_assumed(self) -> bool:
        """Whether the world is not as it is, but as look-ahead assumes it."""
        return self.world.state is not None

    def reads(self, *topics: str) -> None:
        """What is said depends on topics, besides those that are declared; see ``agent.gameplay.changed``.

        Raises:
            ArgumentError: nothing is called so that changes, and something is called nearly so.
        """
        wrong = self._pricing.read_words(topics)
        if wrong:
            raise ArgumentError("ask.reads", "topics", f"are not right: {wrong}")

    # --- costs --------------------------------------------------------------------------------------------------------

    def cannot(self, reason: str) -> NoReturn:
        """It cannot be provided now, for a reason in words for trees and errors. Raises ``Cannot``: let it pass."""
        raise Cannot(reason)

    def is_met(self, wanted: Dependency[Any]) -> bool:
        """Whether a dependency holds."""
        return self._pricing.is_met(wanted, self.world)

    def cost(self, wanted: Dependency[Any]) -> float:
        """The expected game seconds of a dependency: 0 if it is met, infinity if nobody can provide it."""
        required("ask.cost", wanted)
        return self._pricing.need(wanted, self.world, self.depth)

    def can(self, wanted: Dependency[Any]) -> bool:
        """Whether anybody can provide a dependency, or it is met."""
        return self.cost(wanted) < inf

    def total(self, needs: Iterable[Dependency[Any]]) -> float:
        """The game seconds of several dependencies, each in the world that the ones before leave; or infinity."""
        pricing, world, depth = self._pricing, self.world, self.depth
        total = 0.0
        last: Dependency[Any] | None = None
        with pricing.deciding():
            for need in needs:
                required("ask.total", need)
                if last is not None:  # not after the last one: nobody looks into the world that it leaves
                    world = pricing.after(last, world, depth)
                cost = pricing.need(need, world, depth)
                if cost == inf:
                    return inf
                total += cost
                last = need
        return total

    def option(self, wanted: Dependency[Any], then: Sequence[Dependency[Any]]) -> float:
        """What something would cost with or without an optional dependency before it, whichever is less.

        Source: prismarine-gameplay: "Optional Dependencies": calculated twice, the smaller is selected.
        """
        with self._pricing.deciding():
            return min(self.total(then), self.total((wanted, *then)))

    def expected(self, branches: Iterable[Branch]) -> float:
        """The game seconds to expect of what may come of a strategy; infinity if no branch can succeed.

        It is the mean over the branches of their own costs and those of their needs. A branch that fails, or that needs
        what nobody can provide, costs its own, and what the next best strategy would cost; with nobody else it counts
        as tried again until it succeeds.

        Source: prismarine-gameplay: "Planning Ahead Using Probability".
        """
        total = shares = lost = succeeds = 0.0
        with self._pricing.deciding():
            # Each need is priced even in a branch that fails: what it costs is spent before it turns out to fail.
            for branch in self._pricing.foreseen(branches):
                if branch.probability > 0:
                    shares += branch.probability
                    needs = self.total(branch.needs)
                    total += branch.probability * (branch.cost + (needs if needs < inf else 0.0))
                    if branch.fails or needs == inf:
                        lost += branch.probability
                    else:
                        succeeds += branch.probability
            if not succeeds:
                return inf
            if lost and self.wanted is not None:
                # Whoever asks is in a circle there, so this is what all others cost: the one who is tried next.
                instead = self._pricing.need(self.wanted, self.world, self.depth)
                if instead < inf:
                    return (total + lost * instead) / shares
        return total / succeeds  # tried again until it succeeds: 1/p times, by the geometric distribution

    def supplies(self, *wanted: Dependency[Any], confidence: float = 0.9) -> dict[str, float]:
        """How much will be used up for dependencies, one after the other; see ``StrategyContext.supplies``.

        Source: prismarine-gameplay: "Planning Ahead Using Probability".
        """
        with self._pricing.deciding():
            return enough(self._pricing.amounts_of(wanted, self.world, self.depth), confidence)

    # --- assuming -----------------------------------------------------------------------------------------------------

    def after(self, need: Dependency[Any], world: Scenario | None = None) -> Scenario:
        """The world in which a dependency has been met, after another one or that of this question.

        It is the same world, if it is met, or if nobody says what holds then.
        """
        return self._pricing.after(need, world or self.world, self.depth)

    def when(self, expect: Expect, world: Scenario | None = None) -> Scenario:
        """The world in which fields of CURRENT have other values, after another one or that of this question.

        Raises:
            ExpectedStateError: there is no such field, or it takes another type.
        """
        return self._pricing.when(expect, world or self.world)

    def within(self, world: Scenario) -> Ask:
        """The same questions in another world: ``ask.within(ask.after(Collect("axe"))).cost(Collect("log"))``."""
        return Ask(self._pricing, world, self.depth, self.wanted)
