"""Asking: what can be asked for, who provides it, and what that would cost. Nothing is done here; ``solve`` does it.

One module of more than 800 lines, since what it tells authors goes round: a dependency is asked with an ``Ask``, which
prices others through an ``Estimator``, which asks the strategies of a ``Catalog``, which are run with a
``StrategyContext``, which has dependencies solved and shows the task tree. From top to bottom: dependencies and what
may come of them (``Branch``); supplies; the task tree; strategies, who provides what, and what they offer; what one
agent knows (topics, its catalog, records, all in one ``State``); the memo of estimates, ``Ask``, ``Estimator``;
forecasts; the context. That is a handle over a *seat*, the attempt that runs the strategy, of which alone nothing is
known here.

*Dependencies.* A dependency is a typed record: ``Collect("diamond", 7)``. Its class is the name of an open, global list
of the strategies that provide it; a strategy of one plugin is considered by those of another that know the class and
not each other. Every dependency is an activity, too (``Collect.activity``), so that plans and compounds can ask for it.

* Values are hashable and are not changed: equal dependencies are one and the same for the memo of estimates and for
  the recursion guard.
* ``is_met`` and ``assume`` are two sides of one thing: what holds when the dependency is met. Before solving it is a
  shortcut, after a strategy returned it is the proof that the strategy did what it claims, and in look-ahead ``assume``
  is how the world will look.
* *Global parameters* (``Params``) are what all strategies may read, at any depth: may the agent look through walls,
  which ores matter most. They are read-only while something is being solved; other values make a set of their own.
* An ``Ask`` belongs to one question and is not kept, and it never changes anything.

*Strategies.* A strategy says which dependencies it provides, what it would cost, and what it would need, and is run as
a coroutine in which it may have further dependencies solved. It is a class, or made of a coroutine function by
``@strategy(...)``; what it declares is read once, when it is defined.

* What a strategy costs is always a number of *game seconds* that is to be expected, so that strategies whose authors
  never met can be compared. There are three ways to say it, from the roughest to the finest; the finest counts::

      cost = 30.0                        a constant
      def foresee(self, ask, wanted)     what may come of it: branches with probabilities, needs and effects
      def estimate(self, ask, wanted)    any computation; None, or ask.cannot(why), for "cannot"

* ``estimate`` and ``foresee`` are asked often, of one shared instance, and must not change anything; ``run`` has an
  instance of its own, so that an author may keep things on ``self``.
* ``run`` gets a ``StrategyContext``: all that an action can, and having dependencies solved. What is solved runs below
  the strategy in the plan of its agent, one thing at a time: awaiting a second one while the first is being solved is a
  ``WrongStateError``, as with ``execute``.
* A parent has a say in who is tried (``rank``), and it is checked: what it picks is something that it was offered, or
  nobody would ever be tried and nobody be told why.
* For each dependency and each strategy that is loaded there is a *generated call* (``Calls``) with its signature and
  its text. They are made when they are asked for, so that what was loaded a moment ago has its call.

*What one agent knows.* Estimating, solving and looking ahead work on a ``State`` and know nothing of
``agent.gameplay``, which is the door for authors, checks what they set, and stands above them all.

* *The catalog.* For each class of dependencies there is one list, open to everybody: a strategy joins the lists of what
  it provides, and whoever needs the dependency considers all that are in the list at that moment, in the order of
  loading, which breaks ties of cost. What is loaded several times (by two packs, say) is one entry as long as one of
  them holds it. Injection lists are narrower: a strategy names lists of its own (``Smelt.fuels``), others join them by
  that name (``injects``), and the owner has a say in who is tried.
* *Topics*, the words by which what was found out is tied to what changes. ``reads = {"stock"}`` and
  ``agent.gameplay.changed("stock")`` meet by a word that nobody declares. A slip would make no error, but estimates
  that hold for ever. So each word is looked at when it is first used, and refused if nothing is called so and something
  is called nearly so: for who reads it, the fields of CURRENT, what has changed before, and what the library tells of;
  for who changes it, what anybody reads.
* *Versions*: how many changes each topic had; and the *stamp*, how many there were in all, so that where nothing at all
  has changed nobody compares topics. They change in ``count_change`` and nowhere else.
* *Records*: what strategies said that they would cost, beside what they took of their own time. Old ones fade: each new
  one takes a tenth of the weight. From that comes a correction of estimates (``corrects``). What a strategy said is
  what it said by itself: beside the corrected cost, what is left of the mistake would be taken for all of it, and the
  correction would stay half-way for ever. It moves slowly at first, because one bad day says little: three attempts
  that took what was said are assumed besides, which fade sooner than others. Who says 0 is corrected by adding, all
  others by a factor, in sixteenths, so that estimates hold while nothing much happens.

*Estimating.* ``Estimator`` asks every provider of a dependency, and they may ask what they would need in turn: an
expected cost is the cheapest provider's, whose own is what it says, plus that of its needs. How deep that goes is the
*look-ahead*: below it a need counts with the constant that its providers declare.

* **A circle costs infinity.** A provider that is being asked, or run, for the same thing is not asked again below that.
* **Assumptions.** In look-ahead the state is CURRENT with what earlier needs bring about, one layer above the other:
  what the needs of the provider bring about that would be chosen (of its likeliest branch), what that branch expects
  besides, and what the dependency itself says (``assume``). A dependency that is met leaves the world as it is. Each
  such scenario is made once and kept in the table of the dependency in the one before it; so two strategies that need
  the same things look into the same future.
* **No decision takes too long.** One decision asks ``most_asks`` times at most; after that look-ahead ends, and
  constants count, for this decision only.
* An author's hook that raises, whatever it raises, or says no number, means "cannot", and is reported once.
* With ``corrects`` what a strategy says is corrected by what it took before (``Record``), constants too.

*Scenarios* are the memo of estimates, which a failure empties. A ``Scenario`` is CURRENT with a layer of assumptions;
the one without is the world as it is. In each stand *tables*, one for what can be asked for at a depth of look-ahead,
with what each provider said, who is chosen, and the scenario in which it has been met. So a scenario that follows from
another by meeting a need is made once, and what was found out in it is found again. While something is being asked an
``_Asking`` collects what it reads and prices, and hands that on to whoever asked it: an answer rests on all that the
answers below it rest on.

* *When an entry holds.* It remembers the topics that were read for it, with their versions, and holds while none of
  them has another. Whoever did not say what he reads is believed during one decision only.
* *Where it is found again.* It remembers which needs were priced for it, and who was left out there because he is being
  run or asked for the same: it is found again wherever that makes no difference, so that circles, of which there are
  many, do not empty the memo.
* *Taking over.* When the world turns out as it was assumed (every field that is written in the layer has that value in
  reality), what was found out in the scenario holds in the real one. Its topics have changed meanwhile, or nothing
  would have come true; so a topic that has the name of a field that was assumed stands for that field, and is as good
  as its value. All other topics must be unchanged.

*Forecasts.* A forecast (``Foreseen``) is a tree: a dependency, who would be chosen for it, the likeliest branch of what
he foresees, the needs of that branch, each in the world that those before it leave, and so on, down to where look-ahead
ends. Making one asks nobody who was not asked for the decision: it is read off what estimating kept.

*Supplies*: how much of what will be used up is enough. Strategies say what each branch uses up (``Branch.uses``), and
what a dependency will use is then a distribution over those branches, with what their needs use. The answer is the
least amount that is enough with a given confidence.

* Amounts are added and mixed exactly, but for rounding to a billionth, so that five times 0.2 is one. A distribution
  of more than 256 amounts is made coarser, upwards.
* What two needs use up is taken to be independent of each other.
* Only + - * / and comparisons: the same amounts on every host.

*The task tree* shows what is being done for what, with the outcome of every node. Two kinds of nodes take turns: what
was asked for (a dependency), and the strategies that were tried for it. Below a strategy stand the dependencies that it
has solved, is solving, and is expected to need; what came up meanwhile hangs below whoever was interrupted. The tree
grows while it is executed, from top to bottom.

* A node is made when it is known of: a child that is only expected is *planned*, and marked as conditional if it is
  needed in some branches only. When it is asked for, that node becomes the real one.
* Outcomes are final. A node has ended when all below it have.
* The tree is bounded: of the children of one node that have ended, the oldest are counted and forgotten.

Rejected: comparing whole states to find out whether an estimate still holds. It costs more than asking anew.

Source: prismarine-gameplay: "Global Dependency Lists", "Hard Dependencies", "Global Parameters", "Plugins", "Orderless
Dependencies", "Optional Dependencies", "Hierarchy", "Task Tree"; "Heuristic Based Task Selection", questions 2 to 5;
"Planning Ahead Using Probability".
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Awaitable, Callable, Collection, Coroutine, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Generic,
    NamedTuple,
    NoReturn,
    Protocol,
    TypeAlias,
    TypeVar,
    final,
    overload,
)

from agentrt.activity.author.action import Action, ActionSpec, default_hook, wrong_kind
from agentrt.activity.author.arguments import (
    ACTIVITY,
    REQUIRED,
    ActionArgs,
    Activity,
    Fields,
    Fresh,
    asked,
)
from agentrt.activity.author.context import Context
from agentrt.activity.author.control import Abort, Flow, is_on_own_stack, require_own_stack
from agentrt.activity.author.expected import Current, ExpectedStorage, StateReader, expected_fields, has_changes
from agentrt.activity.author.seat import ActingAgent
from agentrt.body.driver import Body, O_co, P
from agentrt.body.entity import E_co
from agentrt.body.slips import check_class
from agentrt.errors import (
    ENDS_PROGRAM,
    ArgumentError,
    DefinitionError,
    DependencyFailedError,
    UnknownDependencyError,
    did_you_mean,
)
from agentrt.kernel.fork import Fork
from agentrt.kernel.signals import Signal
from agentrt.kernel.traps import at_once
from agentrt.words import class_name, error_words, repr_of, seconds, type_name, words_of

if TYPE_CHECKING:
    from agentrt.activity.author.expected import CurrentFields
    from agentrt.activity.plan.tree import Planner, Unit
    from agentrt.body.budget import SearchWork
    from agentrt.kernel.clock import Clock
    from agentrt.kernel.kernel import Kernel

R = TypeVar("R")
T = TypeVar("T")

# --- dependencies -----------------------------------------------------------------------------------------------------

_MOST_NEEDS: Final = 6  # of a path that is told
_DEPENDENCY_HOOKS = ("is_met", "met_value", "assume", "guard_key", "label")
_CALL = re.compile(r"[a-z][a-z0-9_]*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def words(name: str) -> str:
    """The name of a class in words: ``MineOre`` is "Mine Ore"."""
    return _HUMP.sub(" ", name)


def snake_case(name: str) -> str:
    """The name of a class as that of a function: ``MineOre`` is "mine_ore"."""
    return _HUMP.sub("_", name).lower()


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


@typing.dataclass_transform(frozen_default=True)
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


# --- supplies ---------------------------------------------------------------------------------------------------------

MOST_TRIES: Final = 100_000  # more than that are no plan
_MOST_AMOUNTS: Final = 256  # of one distribution; more are put together, upwards, so that it stays enough
_DIGITS: Final = 9
_SLACK: Final = 1e-12  # sums of probabilities miss 1 by a few of these

Amounts = Mapping[str, Sequence[tuple[float, float]]]
"""By name: amounts, ascending, with their probabilities."""

_NONE: Final = ((0.0, 1.0),)


def tries_for(successes: int, probability: float, confidence: float = 0.9) -> int:
    """How many tries, 100,000 at most, it takes until something succeeded often enough.

    Args:
        successes: how often it has to succeed.
        probability: with which each try succeeds, apart from all others.
        confidence: how certain that has to be, from 0 to less than 1.

    Raises:
        ArgumentError: a number is out of its range.

    Source: prismarine-gameplay: "Planning Ahead Using Probability".
    """
    _require_number("tries_for", "successes", successes, successes >= 0, "0 or more")
    _require_number("tries_for", "probability", probability, 0 < probability <= 1, "more than 0, and 1 at most")
    _require_number("tries_for", "confidence", confidence, 0 <= confidence < 1, "from 0 to less than 1")
    lacking = [1.0] + [0.0] * (successes - 1) if successes else []  # how likely it is to have had so many
    tries = 0
    while sum(lacking) > 1.0 - confidence + _SLACK and tries < MOST_TRIES:
        tries += 1
        for had in range(successes - 1, 0, -1):
            lacking[had] = lacking[had] * (1.0 - probability) + lacking[had - 1] * probability
        lacking[0] *= 1.0 - probability
    return tries


def _require_number(call: str, name: str, value: object, is_right: bool, wanted: str) -> None:
    if not is_right:
        raise ArgumentError(call, name, f"is {repr_of(value)}. Give it {wanted}.")


def enough(amounts: Amounts, confidence: float) -> dict[str, float]:
    """The least amounts that are enough, in the order of names; without those of which nothing is needed."""
    _require_number("supplies", "confidence", confidence, 0 <= confidence < 1, "from 0 to less than 1")
    found: dict[str, float] = {}
    for name in sorted(amounts):
        certain = 0.0
        for amount, probability in amounts[name]:
            certain += probability
            if certain + _SLACK >= confidence:
                if amount > 0:
                    found[name] = amount
                break
    return found


def together(one: Amounts, other: Amounts) -> Amounts:
    if not one or not other:
        return one or other
    total = dict(one)
    for name, amounts in other.items():
        points: dict[float, float] = {}
        for first, chance in total.get(name, _NONE):
            for second, probability in amounts:
                amount = round(first + second, _DIGITS)
                points[amount] = points.get(amount, 0.0) + chance * probability
        total[name] = _coarser(points)
    return total


def mixed(found: Sequence[tuple[float, Amounts]]) -> Amounts:
    """One of several things comes true, each with its share."""
    total = 0.0
    for share, _ in found:
        total += share
    points_by_name: dict[str, Sequence[tuple[float, float]]] = {}
    for name in sorted({name for _, amounts in found for name in amounts}):
        points: dict[float, float] = {}
        for share, amounts in found:
            for amount, probability in amounts.get(name, _NONE):
                points[amount] = points.get(amount, 0.0) + probability * share / total
        points_by_name[name] = _coarser(points)
    return points_by_name


def _coarser(points: Mapping[float, float]) -> Sequence[tuple[float, float]]:
    amounts = sorted(points.items())
    size = -(-len(amounts) // _MOST_AMOUNTS)
    if size <= 1:
        return tuple(amounts)
    groups = [amounts[first : first + size] for first in range(0, len(amounts), size)]
    return tuple((group[-1][0], sum(probability for _, probability in group)) for group in groups)


# --- the task tree ----------------------------------------------------------------------------------------------------

MOST_CHILDREN = 48  # of a node that have ended are kept


class NodeKind(StrEnum):
    """What a node stands for."""

    DEPENDENCY = "dependency"
    STRATEGY = "strategy"
    OPTION = "option"  # an optional dependency, with what it was priced at
    INTERRUPTION = "interruption"
    ACTIVITY = "activity"  # a plain activity that a strategy executed


class Outcome(StrEnum):
    """What became of a node."""

    PLANNED = "planned"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    MET = "met"  # it held already: a shortcut
    FAILED = "failed"
    SKIPPED = "skipped"  # not worth it, or not needed after all
    CANCELLED = "cancelled"


OPEN = (Outcome.PLANNED, Outcome.RUNNING, Outcome.PAUSED)  # of what has not ended


@dataclass(slots=True, eq=False, repr=False)
class TaskNode:
    """One node of a task tree; below another one, unless it is the root."""

    kind: NodeKind
    _label: str | None  # of a dependency None until somebody asks: most are never read
    parent: TaskNode | None = None
    wanted: Dependency[Any] | None = None  # the dependency, if it is one
    outcome: Outcome = Outcome.PLANNED
    reason: str = ""  # why it failed or was skipped
    began: int = 0  # the tick; 0 while it is planned
    ended: int = 0  # the tick; 0 before
    cost: float | None = None  # the game seconds expected when it was chosen; None if nobody asked
    is_conditional: bool = False  # whether it is needed in some branches only
    probability: float = 1.0  # how likely it is needed at all, as far as it was looked ahead
    # of a root, the request's: the requests of an agent are counted; of others, which child it is, counted as they were
    # made. It stays when others are forgotten, or are not expected any more: ids in views are made of it
    number: int = 0
    # for a dependency, who offered to provide it at the last decision: label, cost (None: cannot), why not
    offers: tuple[tuple[str, float | None, str], ...] = ()
    children: list[TaskNode] = field(default_factory=list)  # the nodes below it, in order
    forgotten: int = 0  # how many of its children that have ended are not kept
    seen: object = None  # what whoever looks at it keeps of it, once it has ended and does not change any more
    _made: int = 0  # how many children it ever had

    def __post_init__(self) -> None:
        if self.parent is not None:
            self.parent._add(self)

    @property
    def label(self) -> str:
        """What it is called."""
        if self._label is None:
            assert self.wanted is not None
            self._label = label_of(self.wanted)
        return self._label

    def _add(self, child: TaskNode) -> None:
        child.number, self.seen = self._made, None
        self._made += 1
        self.children.append(child)
        if len(self.children) > MOST_CHILDREN:
            ended = next((one for one in self.children if one.outcome not in OPEN), None)
            if ended is not None:
                self.children.remove(ended)
                self.forgotten += 1

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.outcome in OPEN

    def begin(self, tick: int) -> None:
        """It is being done, from this tick on."""
        self.outcome = Outcome.RUNNING
        self.began = tick
        self.seen = None

    def end(self, outcome: Outcome, tick: int, reason: str = "") -> None:
        """It is over in this tick; so is whatever is still open below it."""
        for child in self.children:
            if child.is_open:
                was_planned = child.outcome is Outcome.PLANNED
                child.end(Outcome.SKIPPED if was_planned else Outcome.CANCELLED, tick, "" if was_planned else reason)
        self.outcome = outcome
        self.ended = tick
        self.reason = reason
        self.seen = None

    def walk(self, depth: int = 0) -> Iterator[tuple[int, TaskNode]]:
        """This node and all below it, from top to bottom, with their depths, from its own on."""
        yield depth, self
        for child in self.children:
            yield from child.walk(depth + 1)

    def render(self, ticks_per_second: int = 0) -> str:
        """The tree as text, one node a line, indented; planned children that are conditional begin with a star.

        With the ``ticks_per_second`` of the clock it shows how long each took, beside what was expected.

        Source: prismarine-gameplay: "Task Tree", the sample.
        """
        lines: list[str] = []
        for depth, node in self.walk():
            star = "* " if node.is_conditional else ""
            lines.append(f"{'   ' * depth}{star}{node.label}{node._became(ticks_per_second)}")
            if node.forgotten:
                lines.append(f"{'   ' * (depth + 1)}... {node.forgotten} earlier")
        return "\n".join(lines)

    def _became(self, rate: int) -> str:
        told = "" if self.outcome is Outcome.PLANNED else f" - {self.outcome}"
        if rate and self.ended and self.began and self.outcome in (Outcome.DONE, Outcome.FAILED):
            told += f" in {(self.ended - self.began) / rate:g} s"
        if rate and self.cost is not None:
            told += f" (expected {seconds(self.cost)})"
        return f"{told}: {self.reason}" if self.reason else told

    def __repr__(self) -> str:
        return f"<TaskNode {self.kind} {self.label}: {self.outcome}>"


# --- strategies -------------------------------------------------------------------------------------------------------

_HOOKS = {  # with what they are called
    "run": ("ctx", "wanted"),
    "estimate": ("ask", "wanted"),
    "foresee": ("ask", "wanted"),
    "interrupted": ("ctx", "interruption"),
}
_STRANGE = {  # words that authors bring along, and what they are here
    "does": "provides", "execute": "run", "on_interrupt": "interrupted", "on_run": "run", "priority": "cost",
    "solve": "run", "timeout": "patience", "utility": "cost",
}  # fmt: skip
LONGEST_COST = 1e9  # game seconds; more is a mistake


@dataclass(frozen=True, slots=True)
class Interruption:
    """Something that came up."""

    name: str
    value: Any = None  # what was said with it


class Interruptible(StrEnum):
    """What a strategy supports when something comes up while it is the one that runs.

    Source: prismarine-gameplay: "Pauseable/Cancelable Tasks".
    """

    PAUSE = "pause"  # it stands still at the await where it is, and goes on there afterwards
    RESTART = "restart"  # it is cancelled, and run again from its beginning afterwards
    WAIT = "wait"  # neither: what came up waits until it is completed, with all that is solved below it
    TREE = "tree"  # whatever runs below it is cancelled too, and it is run again from its own beginning afterwards


@final
class Fail(Flow):
    """The strategy cannot provide what it was run for: the next one is tried."""

    method = "fail"


@final
class BeginAgain(Flow):
    """The strategy begins again."""

    method = "restart"


class Strategy:
    """A way to provide one or several dependencies. Subclass it.

    Its hooks are given the dependency that is wanted; and before it, to look at the world as it is or is assumed, an
    ``Ask``, or to act in it, a ``StrategyContext``: ``await ctx.solve(Find("log"))``, and all that an action can.

    Source: prismarine-gameplay: "Plugins".
    """

    # the class of dependencies that it provides, or several; a class without any is a base class
    provides: ClassVar[type[Dependency[Any]] | Collection[type[Dependency[Any]]]] = ()
    name: ClassVar[str] = ""  # for tools and the generated call: that of its class in lower case with underscores
    cost: ClassVar[float | None] = None  # what it is expected to take, in game seconds, if it says nothing finer
    # the topics that ``estimate`` and ``foresee`` look at (see ``agent.gameplay.changed``), so that what they said is
    # kept until one of them changes; None if that is not known: then it is asked in each decision
    reads: ClassVar[Collection[str] | None] = None
    interruption: ClassVar[Interruptible] = Interruptible.RESTART  # what it supports when something comes up
    flags: ClassVar[Collection[str]] = ()  # that it holds while it runs, shared with what it has solved
    # after how many game seconds of its own (without those of what it has solved, and of interruptions) it counts as
    # hanging, is cancelled and fails; what it shields is waited for. None for ten times what it said that it costs, and
    # at least a minute
    patience: ClassVar[float | None] = None
    injects: ClassVar[Collection[str]] = ()  # the lists of other strategies that it joins: ``("Smelt.fuels",)``
    status_text_key: ClassVar[str | None] = None  # under which the game finds words for what the agent does

    spec: ClassVar[StrategySpec]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_class(cls, class_name(cls), _STRANGE, is_base=not cls.provides)
        if not cls.__dict__.get("name"):
            cls.name = snake_case(cls.__name__)
        if cls.provides:
            cls.spec = StrategySpec(cls)

    @default_hook
    def estimate(self, ask: Ask, wanted: Any) -> float | None:
        """What it would cost now, with all that it would need: the expected game seconds, or None if it cannot do it.

        The ask tells of the world, and of the costs of further dependencies: ``ask.cost(Find("log"))``.
        """
        if hasattr(type(self).foresee, "is_default_hook"):
            return type(self).cost
        return ask.expected(self.foresee(ask, wanted))

    @default_hook
    def foresee(self, ask: Ask, wanted: Any) -> Iterable[Branch]:
        """What may come of it, as branches; none if it cannot do it.

        Source: prismarine-gameplay: "Planning Ahead Using Probability".
        """
        return ()

    async def run(self, ctx: StrategyContext, wanted: Any) -> Any:
        """Do it: provide what is wanted, and return what solving that gives. Whatever it raises is a failure."""

    @default_hook
    def interrupted(self, ctx: StrategyContext, interruption: Interruption) -> None:
        """Something came up while it, or something below it, was run; it has been dealt with. Look at the world again.

        The strategy that was interrupted is told first, then those above it. Raise ``ctx.fail(why)`` if there is no
        sense in going on, ``ctx.restart()`` to begin again.

        Source: prismarine-gameplay: "Interrupting Tasks": a message to all parent tasks.
        """


class StrategySpec:
    """What a class of strategies declares, checked."""

    __slots__ = ("asks", "carriers", "cls", "foresees", "hears", "label", "name", "provides", "subject")

    def __init__(self, cls: type[Strategy]) -> None:
        self.cls: type[Strategy] = cls
        self.subject: str = class_name(cls)  # its module and name, for errors
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
        for what, instead in self._mistakes():
            raise DefinitionError(self.subject, what, instead)

    def _mistakes(self) -> Iterator[tuple[str, str]]:
        """What is wrong, and what to write instead."""
        cls = self.cls
        declared: tuple[object, ...] = self.provides
        for one in declared:
            if not (isinstance(one, type) and issubclass(one, Dependency)):
                yield f"it provides {one!r}.", "Name classes of dependencies: provides = Collect."
            elif not one.activity:
                yield f"it provides {one.__name__}, which is a base class.", "Name its subclasses."
        named: object = self.name
        if not (isinstance(named, str) and named.isidentifier()):
            yield f"its name is {repr_of(named)}.", "Write one such as 'mine_ore'."
        if cls.run is Strategy.run:
            yield "it has no 'run'.", "Write: async def run(self, ctx, wanted)."
        if not self.asks and cls.cost is None:
            yield "nothing says what it costs.", "Give it a 'cost' in game seconds, 'foresee' or 'estimate'."
        for name, parameters in _HOOKS.items():
            self._check_hook(name, parameters)
        for what, given in (("cost", cls.cost), ("patience", cls.patience)):
            seconds: object = given
            if seconds is not None and not (isinstance(seconds, (int, float)) and 0 <= seconds <= LONGEST_COST):
                yield f"its {what} is {seconds!r}.", "Write game seconds, 0 or more."
        for what, names in (("reads", cls.reads), ("flags", cls.flags), ("injects", cls.injects)):
            check_topics(self.subject, what, names)
        supported: object = cls.interruption
        if not isinstance(supported, Interruptible):
            yield f"its interruption is {supported!r}.", "Write Interruptible.PAUSE or another."

    def _check_hook(self, name: str, parameters: tuple[str, ...]) -> None:
        hook = getattr(self.cls, name)
        function, own = getattr(hook, "function", hook), ("self",)[: not hasattr(hook, "function")]
        if inspect.iscoroutinefunction(inspect.unwrap(function)) is not (name == "run"):
            raise DefinitionError(self.subject, *wrong_kind(name, (*own, *parameters), is_async=name == "run"))
        try:
            inspect.signature(function).bind(*own, *parameters)
        except TypeError as error:
            instead = f"Write {name}({', '.join((*own, *parameters))})."
            raise DefinitionError(self.subject, f"{name} cannot be called: {error}.", instead) from error


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
        estimate, foresee: functions of (ask, wanted).
        cost, reads, interruption, flags, patience, injects, status_text_key: as for ``Strategy``.

    Returns:
        The decorator, which gives the class of the strategy.

    Raises:
        DefinitionError: as for a class.

    Source: prismarine-gameplay: "Plugins".
    """

    def decorate(run: Runs) -> type[Strategy]:
        namespace: dict[str, Any] = {"name": run.__name__ if name is None else name, "run": _method(run)}
        namespace.update(provides=provides, cost=cost, reads=reads, interruption=interruption, patience=patience)
        namespace.update(flags=tuple(flags), injects=tuple(injects), status_text_key=status_text_key)
        namespace.update(__doc__=run.__doc__, __module__=run.__module__, __qualname__=run.__qualname__)
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


# --- who provides, and what they say ----------------------------------------------------------------------------------


class Provider:
    """A strategy that an agent has."""

    __slots__ = ("holds", "number", "oracle", "spec")

    def __init__(self, spec: StrategySpec, number: int) -> None:
        self.spec: StrategySpec = spec
        self.number: int = number  # its place in the order of loading
        self.oracle: Strategy = spec.cls()  # the instance that is asked what it would cost
        self.holds: int = 0  # how many times it was loaded

    def __repr__(self) -> str:
        return f"<Provider {self.spec.name} #{self.number}>"


class Offer(NamedTuple):
    """What a strategy said when it was asked to provide a dependency."""

    provider: Provider
    cost: float  # the expected game seconds; infinity if it cannot
    reason: str = ""  # why it cannot; empty if it can
    said: float | None = None  # the game seconds that it said, before that was corrected; None if nothing was
    circle: str = ""  # the circle of needs because of which it cannot, in words; empty if there is none


Rank = Callable[[Sequence[Offer]], Iterable[Offer]]
"""How a parent has a say: from the offers of those that can, the cheapest first, to those that it will have tried."""


def ranked(rank: Rank, offers: Sequence[Offer], failed: Collection[Provider]) -> list[Offer]:
    """What a parent says to offers, of those that can and of those that cannot.

    Those that are to be tried come first, in the parent's order, then all others, which cannot or were left out. It may
    have kept offers of those that failed: they are passed over. What is no offer is an ``ArgumentError``.
    """
    able = {offer.provider: offer for offer in offers if offer.cost < inf}
    asked = {*failed, *(offer.provider for offer in offers)}
    picked = _several(rank(tuple(able.values())))
    chosen: dict[Provider, Offer] = {}
    for one in picked:
        if not isinstance(one, Offer) or one.provider not in asked:
            wrong = f"gave {repr_of(one, 200)}, which is none of the offers."
            instead = "of those that it was given: rank=lambda offers: [one for one in offers if one.cost < 20]."
            raise ArgumentError("ctx.solve", "rank", f"{wrong} Let it return a list {instead}")
        if one.provider in able:
            chosen[one.provider] = able[one.provider]
    left = [offer for offer in offers if offer.provider not in chosen]
    return [*chosen.values(), *(one._replace(cost=inf, reason=one.reason or "it was left out") for one in left)]


def _several(given: object) -> list[Any]:
    """What an author's function gave as several; what is none is one that is no offer."""
    if inspect.iscoroutine(given):
        given.close()
        return [given]
    if isinstance(given, (str, bytes, Offer)) or not isinstance(given, Iterable):
        return [repr_of(given, 200) if isinstance(given, Offer) else given]
    return list(given)


# --- topics -----------------------------------------------------------------------------------------------------------

_OWN: Final = ("strategies", "requests", "accuracy")  # what the library tells of by itself
_LONG: Final = 8  # letters from which on two may be wrong


def near(word: str, known: Iterable[str]) -> list[str]:
    """Which known words somebody may have meant who wrote another one; none that differs in digits only."""
    one_each = dict.fromkeys(known)
    return [one for one in one_each if one != word and _bare(one) != _bare(word) and _is_slip(word, one)]


def _bare(word: str) -> str:
    return "".join(letter for letter in word if not letter.isdigit())


def _is_slip(word: str, other: str) -> bool:
    """Whether a letter, or two in a long word, is too many, missing, exchanged or swapped (Damerau, Levenshtein)."""
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
    """The words that one agent's gameplay knows."""

    __slots__ = ("_agent", "_changed", "_read", "_said")

    def __init__(self, agent: GameplayOwner) -> None:
        self._agent = agent
        self._said: set[str] = set(_OWN)
        self._read: dict[str, None] = {}
        self._changed: dict[str, None] = {}

    def add(self, topics: Iterable[str]) -> None:
        """Take words as they are."""
        for topic in topics:
            _require("gameplay.add_topics", topic)
            self._said.add(topic)

    def is_read(self, topics: Iterable[str]) -> str:
        """Somebody reads topics; says what is wrong with one of them, and what may be meant; or nothing."""
        for topic in topics:
            given: object = topic
            if not isinstance(given, str):
                return f"{repr_of(given, 200)} is no word."
            if topic not in self._read:
                known = self._said | self._changed.keys()
                if topic not in known:
                    fields = self._fields()
                    meant = [] if topic in fields else near(topic, [*fields, *sorted(known)])
                    if meant:
                        return f"the topic {topic!r} is nothing that changes. {_meant(topic, meant)}"
                self._read[topic] = None
        return ""

    def changes(self, topics: Iterable[str]) -> None:
        """Topics changed; ``ArgumentError`` if nobody reads one, and somebody reads one that is called nearly so."""
        for topic in topics:
            _require("gameplay.changed", topic)
            if topic not in self._changed:
                meant = [] if topic in self._read or topic in self._said else near(topic, self._read)
                if meant:
                    told = f"is a topic that nobody reads. {_meant(topic, meant)}"
                    raise ArgumentError("gameplay.changed", repr(topic), told)
                self._changed[topic] = None

    def _fields(self) -> list[str]:
        """The names of the fields of the entity, as far as they are known."""
        entity, expected = self._agent.entity, self._agent.expected
        names = dict.fromkeys(() if expected is None else expected.field_names())
        names.update(dict.fromkeys(getattr(entity, "__dict__", ())))
        names.update((one, None) for one in dir(type(entity)) if isinstance(getattr(type(entity), one, None), property))
        return [one for one in names if not one.startswith("_")]


def _require(method: str, topic: object) -> None:
    if not isinstance(topic, str) or not topic:
        raise ArgumentError(method, "topics", f"takes words, not {repr_of(topic, 200)}. Write 'stock', 'place'.")


def _meant(topic: str, meant: list[str]) -> str:
    words = " or ".join(repr(one) for one in meant[:3])
    return f"Did you mean {words}? If it is right as it is, say so first: agent.gameplay.add_topics({topic!r})."


# --- the catalog, and the generated calls -----------------------------------------------------------------------------


class Catalog:
    """The strategies of one agent."""

    def __init__(self, topics: Topics) -> None:
        self.reserved: frozenset[str] = frozenset()  # what no call may be called: the gameplay has something there
        self.topics: Topics = topics  # the words that are known
        self.providers: tuple[Provider, ...] = ()  # all of them, in the order of loading
        # the classes of dependencies that anybody provides, in the order in which they were first loaded
        self.dependencies: tuple[type[Dependency[Any]], ...] = ()
        self._providers: dict[type[Strategy], Provider] = {}
        self._by_dependency: dict[type[Dependency[Any]], tuple[Provider, ...]] = {}
        self._by_name: dict[str, Provider] = {}
        self._lists: dict[str, tuple[Provider, ...]] = {}
        self._counter = 0

    def add(self, cls: type[Strategy]) -> Provider:
        """Load a strategy, or hold it once more. One whose name is taken, or reserved, is a ``DefinitionError``."""
        provider = self._providers.get(cls)
        if provider is None:
            spec = self._checked(cls)
            self._counter += 1  # and not how many there are: who comes back is the last, and no two have one number
            try:
                provider = Provider(spec, self._counter)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                what = f"it cannot be made: {error_words(error)}."
                raise DefinitionError(spec.subject, what, "Give it no arguments.") from error
            self._providers[cls] = provider
            self._changed()
        provider.holds += 1
        return provider

    def check(self, strategies: Iterable[type[Strategy]], without: Collection[type[Strategy]] = ()) -> None:
        """Find out whether strategies can be loaded, when others will have been let go of once; nothing changes."""
        trial = Catalog(self.topics)
        trial.reserved = self.reserved
        trial._providers = {cls: one for cls, one in self._providers.items() if cls not in without or one.holds > 1}
        trial._changed()
        for cls in strategies:
            if cls not in trial._providers:
                trial.add(cls)

    def _checked(self, cls: type[Strategy]) -> StrategySpec:
        spec: StrategySpec | None = getattr(cls, "spec", None)
        if spec is None or spec.cls is not cls:
            subject = f"{getattr(cls, '__module__', '')}.{getattr(cls, '__qualname__', cls)}"
            raise DefinitionError(subject, "it is no strategy.", "Subclass Strategy and say what it 'provides'.")
        for what, instead in self._clashes(spec):
            raise DefinitionError(spec.subject, what, instead)
        return spec

    def _clashes(self, spec: StrategySpec) -> Iterator[tuple[str, str]]:
        """What does not go with what is here already, and what to write instead."""
        other = self._by_name.get(spec.name)
        if other is not None:
            yield f"{other.spec.subject} is called {spec.name!r}, too.", "Give it a 'name' of its own."
        for name in (spec.name, *(wanted.call for wanted in spec.provides)):
            if name in self.reserved:
                instead = "Give it another name; or another activity, of which the last word is the call."
                yield f"its call would be 'agent.gameplay.{name}', which is something else.", instead
        known = (*self._by_dependency, *spec.provides)
        for wanted in spec.provides:
            for one in known:
                if one.call == wanted.call and one is not wanted:
                    instead = "Give one of them another activity: class Collect(Dependency, activity='mine:collect')."
                    yield f"{wanted.__qualname__} and {one.__qualname__} are both called {wanted.call!r}.", instead
        # The last: a word that is right is known from then on, and who is refused must leave nothing behind.
        for reads in (spec.cls.reads, *(wanted.reads for wanted in spec.provides)):
            wrong = self.topics.is_read(reads or ())
            if wrong:
                yield f"of what it reads, {wrong}", "Write the word that is changed."

    def renew(self) -> bool:
        """Strategies may read otherwise now: take that up; whether any does."""
        changed = [one for one in self._providers.values() if one.spec is not one.spec.cls.spec]
        for one in changed:
            one.spec = one.spec.cls.spec
        if changed:
            self._changed()
        return bool(changed)

    def remove(self, cls: type[Strategy]) -> None:
        """Let go of a strategy once; when nobody holds it any more, it is not considered from then on."""
        provider = self._providers.get(cls)
        if provider is not None:
            provider.holds -= 1
            if provider.holds <= 0:
                del self._providers[cls]
                self._changed()

    def _changed(self) -> None:
        lists: dict[type[Dependency[Any]], list[Provider]] = {}
        joined: dict[str, list[Provider]] = {}
        for provider in self._providers.values():
            for wanted in provider.spec.provides:
                lists.setdefault(wanted, []).append(provider)
            for name in provider.spec.cls.injects:
                joined.setdefault(name, []).append(provider)
        self._by_dependency = {wanted: tuple(found) for wanted, found in lists.items()}
        self._by_name = {provider.spec.name: provider for provider in self._providers.values()}
        self._lists = {name: tuple(found) for name, found in joined.items()}
        self.providers, self.dependencies = tuple(self._providers.values()), tuple(lists)

    # --- looking up ---------------------------------------------------------------------------------------------------

    def of(self, wanted: type[Dependency[Any]]) -> tuple[Provider, ...]:
        """Who provides a dependency, in the order of loading."""
        return self._by_dependency.get(wanted, ())

    def named(self, name: str) -> Provider | None:
        """The strategy of a name; None if there is none."""
        return self._by_name.get(name)

    def chosen(self, among: str | Iterable[type[Strategy]], wanted: type[Dependency[Any]]) -> list[Provider]:
        """Who may provide a dependency: those who joined a list, or some strategies, as far as they are loaded."""
        if isinstance(among, str):
            return [one for one in self._joined(among) if wanted in one.spec.provides]
        method = "ctx.solve"
        given: object = among
        if isinstance(given, type) or not isinstance(given, Iterable):
            told = repr_of(given, 200)
            raise ArgumentError(method, "among", f"takes a list of strategies, not {told}. Write [Mine].")
        found: list[Provider] = []
        for cls in among:
            one: object = cls
            spec: StrategySpec | None = getattr(one, "spec", None) if isinstance(one, type) else None
            if spec is None or spec.cls is not cls:
                meant = ""
                if isinstance(one, str):
                    named = self._by_name.get(one)
                    known = did_you_mean(one, self._by_name)
                    meant = known if named is None else f" Write the class: {named.spec.cls.__name__}."
                raise ArgumentError(method, "among", f"has {repr_of(one, 200)}, which is no strategy.{meant}")
            if wanted not in spec.provides:
                provides = ", ".join(one.__qualname__ for one in spec.provides)
                told = f"has {cls.__qualname__}, which provides {provides} and not {wanted.__qualname__}."
                raise ArgumentError(method, "among", told)
            if cls in self._providers:  # one that is not may be so later: that is no mistake
                found.append(self._providers[cls])
        return found

    def _joined(self, name: str) -> tuple[Provider, ...]:
        """Who joined a list; nobody, if its name is not just a slip."""
        found = self._lists.get(name, ())
        meant = near(name, () if found else self._lists)
        if meant:
            known = " or ".join(repr(one) for one in meant)
            raise ArgumentError("ctx.solve", "among", f"{name!r} is a list that nobody joins. Did you mean {known}?")
        return found


class Calls:
    """The generated calls, for one place: the agent, a strategy that runs, or other global parameters."""

    __slots__ = ("_catalog", "_name", "_solve")

    def __init__(self, catalog: Catalog, name: str, solve: Callable[[Any, Provider | None], Awaitable[Any]]) -> None:
        self._catalog = catalog  # what is loaded
        self._name = name  # the agent's, for errors
        self._solve = solve  # solves a dependency from that place, by one strategy or by anybody

    def solve(self, wanted: Dependency[R], /) -> Awaitable[R]:
        """Solve a dependency; typed, where the generated calls are known at run time only. Await what that gives."""
        return self._solve(wanted, None)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name.startswith("__"):
            raise AttributeError(name)
        for wanted in self._catalog.dependencies:
            if wanted.call == name:
                return self._made(name, wanted, None)
        provider = self._catalog.named(name)
        if provider is None:
            raise UnknownDependencyError(name, self._name, dir(self))
        only = provider.spec.provides[0] if len(provider.spec.provides) == 1 else None
        return self._made(name, only, provider)

    def _made(
        self, name: str, kind: type[Dependency[Any]] | None, provider: Provider | None
    ) -> Callable[..., Awaitable[Any]]:
        def call(*args: Any, **values: Any) -> Awaitable[Any]:
            provides = (kind,) if provider is None else provider.spec.provides
            if len(args) == 1 and not values and type(args[0]) in provides:
                return self._solve(args[0], provider)
            if kind is None:
                names = " or ".join(one.__qualname__ for one in provides if one is not None)
                raise ArgumentError(name, "wanted", f"is missing: give it a {names}, since it provides several.")
            return self._solve(kind(*args, **values), provider)

        call.__name__ = call.__qualname__ = name
        call.__doc__ = inspect.getdoc(kind if provider is None else provider.spec.cls)
        if kind is not None:
            call.__signature__ = kind.call_signature()  # type: ignore[attr-defined]
        return call

    def __dir__(self) -> list[str]:
        names = [wanted.call for wanted in self._catalog.dependencies]
        return [*names, *(one.spec.name for one in self._catalog.providers if one.spec.name not in names)]


# --- how well it went -------------------------------------------------------------------------------------------------

_FADE: Final = 0.9  # of the weight of all before, with each attempt
_DOUBT: Final = 3  # attempts as expected that are assumed besides those that were seen
_DOUBT_FADES: Final = 0.7
_MOST: Final = 1000.0  # times what it says, and its inverse: more says that it means something else
_STEP: Final = 16.0  # of a second, or of one time longer: finer steps would empty the memo with each attempt


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What a strategy said and took."""

    strategy: str  # its name
    count: int  # how many attempts were completed
    expected: float  # the mean of what it said, in game seconds; the newest count most
    actual: float  # the mean of what it took, in game seconds
    ratio: float  # how many times longer it took than it said; 1 if it said 0


@dataclass(slots=True)
class Record:
    """What is known of one strategy: sums, in which older attempts weigh less."""

    count: int = 0  # how many attempts there were
    weight: float = 0.0  # of all of them
    expected: float = 0.0  # what it said
    actual: float = 0.0  # what it took
    doubt: float = float(_DOUBT)  # the weight of attempts as expected that are assumed besides
    factor: float = 1.0  # how what it says is corrected: times this
    more: float = 0.0  # and then so much more

    def add(self, said: float, actual: float) -> bool:
        """One more; returns whether it is corrected otherwise now."""
        self.count += 1
        if self.count > _DOUBT:
            self.doubt *= _DOUBT_FADES
        self.weight = self.weight * _FADE + 1.0
        self.expected = self.expected * _FADE + said
        self.actual = self.actual * _FADE + actual
        before = (self.factor, self.more)
        if self.expected > 0:  # of sums, and not the mean of ratios: a short attempt that took long would rule them all
            doubt = self.doubt * self.expected / self.weight
            self.factor, self.more = _stepped((self.actual + doubt) / (self.expected + doubt)), 0.0
        else:
            self.more = int(self.actual / (self.weight + self.doubt) * _STEP + 0.5) / _STEP
        return (self.factor, self.more) != before

    def corrected(self, said: float) -> float:
        return said * self.factor + self.more

    def accuracy(self, name: str) -> Accuracy:
        """What is known of it, for people."""
        ratio = self.actual / self.expected if self.expected > 0 else 1.0
        return Accuracy(name, self.count, self.expected / self.weight, self.actual / self.weight, ratio)


def _stepped(factor: float) -> float:
    """A factor in steps of a sixteenth; one below 1 in steps of its inverse."""
    factor = max(1.0 / _MOST, min(_MOST, factor))
    return int(factor * _STEP + 0.5) / _STEP if factor >= 1 else _STEP / int(_STEP / factor + 0.5)


class ForesightCounts(NamedTuple):
    """How far what was foreseen came true, for one agent."""

    hits: int = 0  # how many times the likeliest branch came true
    others: int = 0  # how many times another branch that was foreseen
    misses: int = 0  # how many times something that nobody had foreseen
    prepared: int = 0  # how many decisions were made in advance
    taken: int = 0  # how many times the world turned out as it was assumed, so that a decision had been made already

    def __repr__(self) -> str:
        return (
            f"<{self.hits} hits, {self.others} others, {self.misses} misses; {self.prepared} decisions prepared, "
            f"{self.taken} taken>"
        )


# --- what one agent knows ---------------------------------------------------------------------------------------------


class GameplayOwner(Body, ActingAgent, Protocol):
    """The agent, as its gameplay sees it."""

    planner: Planner | None

    @property
    def expected(self) -> type[CurrentFields] | None:
        """The fields of CURRENT with their types; None for any field."""
        ...

    @property
    def search(self) -> SearchWork | None:
        """The think budget that it shares with all others; None outside a runtime."""
        ...

    @property
    def read_state(self) -> StateReader:
        """How to read a field of the entity's state."""
        ...

    def require_life(self, activity: str) -> Planner:
        """Its planner; raises if it is in no runtime."""
        ...

    async def wait_outside(self, connect: Callable[[Callable[[], None]], object]) -> None:
        """Wait in a task of an event loop, until the function that ``connect`` is given is called; from any thread."""

    def learn_solver(self, action: type[Action]) -> Callable[[], None]:
        """Have its plan know how to perform the activity of a dependency; returns how to undo that."""
        ...


class Order(StrEnum):
    """In which order several dependencies are solved that do not depend on each other.

    Source: prismarine-gameplay: "Orderless Dependencies".
    """

    GIVEN = "given"
    CHEAPEST = "cheapest"  # first, as it looks natural
    DEAREST = "dearest"  # first, to have it out of the way
    EXCEPTIONAL = "exceptional"  # as CHEAPEST, but one that costs three times as much as all others comes first


class State:
    """What one agent's gameplay knows, and how it is set."""

    def __init__(self, agent: GameplayOwner) -> None:
        self.agent: GameplayOwner = agent
        self.topics: Topics = Topics(agent)
        self.catalog: Catalog = Catalog(self.topics)
        self.changes: Signal = Signal()  # emitted whenever something changed that estimates rest on
        self.versions: dict[str, int] = {}  # topic to the number of its changes
        self.stamp: int = 0  # how many changes there were
        self.records: dict[StrategySpec, Record] = {}  # of those that were completed, in the order of the first time
        self.foreseen: ForesightCounts = ForesightCounts()
        # the settings, which ``Gameplay`` explains and checks
        self.lookahead: int = 4
        self.most_asks: int = 4_000
        self.prepare_asks: int = 32
        self.corrects: bool = False
        self.takes_options: bool = True
        self.order: Order = Order.CHEAPEST

    # --- what changes -------------------------------------------------------------------------------------------------

    def count_change(self, *topics: str) -> None:
        """What was read of some topics does not hold any more."""
        for topic in topics:
            self.versions[topic] = self.versions.get(topic, 0) + 1
        self.stamp += 1

    def took(self, spec: StrategySpec, said: float, actual: float) -> None:
        """A strategy was completed, in so many game seconds of its own time; what it said is not corrected yet."""
        # A correction that moved by less than a step is none: or all estimates would be made anew after each attempt.
        if self.records.setdefault(spec, Record()).add(said, actual) and self.corrects:
            self.count_change("accuracy")

    def count(self, name: str) -> None:
        self.foreseen = self.foreseen._replace(**{name: getattr(self.foreseen, name) + 1})

    # --- the agent ----------------------------------------------------------------------------------------------------

    @property
    def kernel(self) -> Kernel:
        kernel = self.agent.kernel
        assert kernel is not None
        return kernel

    @property
    def tick(self) -> int:
        """The tick that it is; 0 while the agent is in no runtime."""
        kernel = self.agent.kernel
        return 0 if kernel is None else kernel.clock.tick

    def layer(self, below: Current | None) -> Current:
        return Current(below, self.agent.entity, self.agent.read_state, self.agent.expected)

    def contained(self, place: str, hook: str, otherwise: T, call: Callable[..., T], *args: object) -> T:
        """What a hook gives; one that raises is reported, and something else counts."""
        try:
            return call(*args)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.fault(place, hook, error)
            return otherwise

    def fault(self, place: str, hook: str, error: BaseException) -> None:
        self.agent.fault(f"gameplay/{place}", hook, error)


# --- the memo ---------------------------------------------------------------------------------------------------------

_MOST_TABLES: Final = 1024  # of a scenario; then it begins with none
_MOST_CONTEXTS: Final = 8  # of one thing, each with others left out; a ring of providers makes one for each of them
Versions = tuple[tuple[str, int], ...]  # the topics that were read, with the number of changes that each had had
Need = tuple[type, object]  # a class of dependencies, and its ``guard_key``
LeftOut = frozenset[tuple[Need, object]]  # who is being asked or run for what, as far as it matters


@dataclass(slots=True, eq=False)
class Kept(Generic[T]):
    """Something that was found out, and when it holds."""

    value: T
    topics: Versions | None  # what was read for it; None if that is not known
    needs: Collection[Need]  # what was priced for it
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


# --- asking -----------------------------------------------------------------------------------------------------------


@final
class Cannot(BaseException):
    """What ``ask.cannot`` raises. Control flow; let it pass."""

    def __init__(self, reason: str) -> None:
        self.reason: Final = words_of(reason)
        super().__init__(self.reason)


class Ask(Generic[E_co]):
    """What ``estimate``, ``foresee``, ``is_met`` get as their first argument; ``Ask[Miner]`` if a miner asks."""

    __slots__ = ("_estimator", "_state", "depth", "wanted", "world")

    def __init__(
        self, estimator: Estimator, world: Scenario, depth: int, wanted: Dependency[Any] | None = None
    ) -> None:
        self._estimator = estimator
        self.world: Scenario = world  # as it is assumed
        self.depth: int = depth  # how many levels further it may be looked ahead
        self.wanted: Dependency[Any] | None = wanted  # what it is about; None outside ``estimate`` and ``foresee``
        self._state: Current | None = None

    # --- the world ----------------------------------------------------------------------------------------------------

    @property
    def agent(self) -> Any:
        """The agent."""
        return self._estimator.state.agent

    @property
    def entity(self) -> E_co:
        """The entity, as it is."""
        found: E_co = self._estimator.state.agent.entity
        return found

    @property
    def params(self) -> Params:
        """The global parameters."""
        return self._estimator.params

    @property
    def clock(self) -> Clock:
        """The clock of the runtime."""
        return self._estimator.state.kernel.clock

    @property
    def CURRENT(self) -> Current:  # noqa: N802 - the source's name for it
        """The state that the entity has, or is assumed to have. What is written to it is lost."""
        if self._state is None:
            self._state = self._estimator.state.layer(self.world.state)
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
        wrong = self._estimator.state.topics.is_read(topics)
        if wrong:
            raise ArgumentError("ask.reads", "topics", f"are not right: {wrong}")
        self._estimator.read(topics)

    # --- costs --------------------------------------------------------------------------------------------------------

    def cannot(self, reason: str) -> NoReturn:
        """It cannot be provided now, for a reason in words for trees and errors. Raises ``Cannot``: let it pass."""
        raise Cannot(reason)

    def is_met(self, wanted: Dependency[Any]) -> bool:
        """Whether a dependency holds."""
        return self._estimator.is_met(wanted, self.world)

    def cost(self, wanted: Dependency[Any]) -> float:
        """The expected game seconds of a dependency: 0 if it is met, infinity if nobody can provide it."""
        required("ask.cost", wanted)
        return self._estimator.need(wanted, self.world, self.depth)

    def can(self, wanted: Dependency[Any]) -> bool:
        """Whether anybody can provide a dependency, or it is met."""
        return self.cost(wanted) < inf

    def total(self, needs: Iterable[Dependency[Any]]) -> float:
        """The game seconds of several dependencies, each in the world that the ones before leave; or infinity."""
        estimator, world, depth = self._estimator, self.world, self.depth
        total = 0.0
        last: Dependency[Any] | None = None
        with estimator.deciding():
            for need in needs:
                required("ask.total", need)
                if last is not None:  # not after the last one: nobody looks into the world that it leaves
                    world = estimator.after(last, world, depth)
                cost = estimator.need(need, world, depth)
                if cost == inf:
                    return inf
                total += cost
                last = need
        return total

    def option(self, wanted: Dependency[Any], then: Sequence[Dependency[Any]]) -> float:
        """What something would cost with or without an optional dependency before it, whichever is less.

        Source: prismarine-gameplay: "Optional Dependencies": calculated twice, the smaller is selected.
        """
        with self._estimator.deciding():
            return min(self.total(then), self.total((wanted, *then)))

    def expected(self, branches: Iterable[Branch]) -> float:
        """The game seconds to expect of what may come of a strategy; infinity if no branch can succeed.

        It is the mean over the branches of their own costs and those of their needs. A branch that fails, or that needs
        what nobody can provide, costs its own, and what the next best strategy would cost; with nobody else it counts
        as tried again until it succeeds.

        Source: prismarine-gameplay: "Planning Ahead Using Probability".
        """
        total = shares = lost = succeeds = 0.0
        with self._estimator.deciding():
            # Each need is priced even in a branch that fails: what it costs is spent before it turns out to fail.
            for branch in self._estimator.foreseen(branches):
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
                instead = self._estimator.need(self.wanted, self.world, self.depth)
                if instead < inf:
                    return (total + lost * instead) / shares
        return total / succeeds  # tried again until it succeeds: 1/p times, by the geometric distribution

    def supplies(self, *wanted: Dependency[Any], confidence: float = 0.9) -> dict[str, float]:
        """How much will be used up for dependencies, one after the other; see ``StrategyContext.supplies``.

        Source: prismarine-gameplay: "Planning Ahead Using Probability".
        """
        with self._estimator.deciding():
            return enough(self._estimator.amounts_of(wanted, self.world, self.depth), confidence)

    # --- assuming -----------------------------------------------------------------------------------------------------

    def after(self, need: Dependency[Any], world: Scenario | None = None) -> Scenario:
        """The world in which a dependency has been met, after another one or that of this question.

        It is the same world, if it is met, or if nobody says what holds then.
        """
        return self._estimator.after(need, world or self.world, self.depth)

    def when(self, expect: Expect, world: Scenario | None = None) -> Scenario:
        """The world in which fields of CURRENT have other values, after another one or that of this question.

        Raises:
            ExpectedStateError: there is no such field, or it takes another type.
        """
        layer = self._estimator.state.layer((world or self.world).state)
        _write(layer, expect)
        return Scenario(layer)

    def within(self, world: Scenario) -> Ask[E_co]:
        """The same questions in another world: ``ask.within(ask.after(Collect("axe"))).cost(Collect("log"))``."""
        return Ask(self._estimator, world, self.depth, self.wanted)


# --- estimating -------------------------------------------------------------------------------------------------------


class Priced(NamedTuple):
    """An offer, with what the strategy foresees."""

    offer: Offer  # what it said
    branches: tuple[Branch, ...] = ()  # what may come of it; empty if it does not foresee anything
    # if it cannot since it needs itself, the needs from what it was asked for down to what is needed again
    circle: tuple[Dependency[Any], ...] = ()


class Cheapest(NamedTuple):
    """What a dependency costs, and by whom."""

    cost: float  # the expected game seconds; 0 if it is met, infinity if nobody can provide it
    by: Priced | None = None  # the cheapest offer; None if it is met, if nobody can, and where look-ahead ends
    is_met: bool = False  # whether it holds
    # if nobody can since each would need itself, the needs from it down to what is needed again
    circle: tuple[Dependency[Any], ...] = ()


class _Asking:
    """What an answer will rest on, while it is asked for: a provider's, or the choice between providers."""

    __slots__ = ("branches", "circle", "lack", "needs", "topics")

    def __init__(self) -> None:
        self.topics: dict[str, int] | None = {}  # what was read; None once somebody did not say what he reads
        self.needs: set[Need] = set()  # what was priced
        self.branches: tuple[Branch, ...] = ()  # what the provider foresees
        self.lack: Dependency[Any] | None = None  # the last need of the provider that turned out to be impossible
        # if that is since it needs itself, the needs from it down to what is needed again
        self.circle: tuple[Dependency[Any], ...] = ()


_AS_BEFORE: AbstractContextManager[None] = nullcontext()
_ANYWHERE: LeftOut = frozenset()
_NOBODY: Mapping[Provider, int] = {}
# Who is being run above, for what: nobody of them is asked for the same again.
Chain = Iterable[tuple[Provider, Dependency[Any]]]


class Estimator:
    """Asks the providers of one agent, under one set of global parameters."""

    def __init__(self, state: State, params: Params) -> None:
        self.state: State = state
        self.params: Params = params
        self.world: Scenario = Scenario()  # the world as it is
        self.asked: int = 0  # how many times an author's hook was asked, ever
        self.epoch: int = 0  # how many times everything was forgotten
        self._decision = 0  # the number of the present one, or of the last
        self._nested = 0  # how many ``deciding`` there are, one within the other
        self._limit = 0  # of asked, in this decision
        self._stack: list[_Asking] = []  # who is being asked, each by the one before
        self._open: dict[Need, dict[Provider, int]] = {}  # who is asked or run for what, how often

    # --- what an ask is given -----------------------------------------------------------------------------------------

    def need(self, wanted: Dependency[Any], world: Scenario, depth: int) -> float:
        """What a need of whoever is being asked would cost; if nobody can provide it, that is why he cannot."""
        found = self.choose(wanted, world, depth)
        if found.cost == inf and self._stack:
            self._stack[-1].lack, self._stack[-1].circle = wanted, found.circle
        return found.cost

    def foreseen(self, branches: Iterable[Branch]) -> tuple[Branch, ...]:
        """What whoever is being asked foresees; raises ``TypeError`` or ``ValueError`` if that is no branches."""
        found = tuple(branches)
        for one in found:
            given: object = one
            if not isinstance(given, Branch):
                raise TypeError(f"it foresees {repr_of(given, 200)}: write Branch(probability, cost, needs)")
            if not one.probability >= 0:
                raise ValueError(f"the probability of a branch is {repr_of(one.probability, 200)}: write 0 or more")
            for need in one.needs:
                wanted: object = need
                if not isinstance(wanted, Dependency):
                    raise TypeError(f"a branch needs {repr_of(wanted, 200)}: write dependencies")
        if self._stack:
            self._stack[-1].branches = found
        return found

    def forget(self) -> None:
        """Everything may be otherwise now: ask anew."""
        self.epoch += 1
        self.world.tables.clear()

    # --- the decision -------------------------------------------------------------------------------------------------

    def deciding(self, chain: Chain = ()) -> AbstractContextManager[None]:
        """Ask several things as one decision: nothing changes meanwhile, and nobody is asked twice."""
        return _AS_BEFORE if self._nested and not chain else self._deciding(chain)

    @contextmanager
    def _deciding(self, chain: Chain) -> Iterator[None]:
        above = [(self.need_of(one), provider) for provider, one in chain]  # which may raise, so it comes first
        if self._nested == 0:  # else the decision around it goes on, with its limit
            self._decision += 1
            self._limit = self.asked + self.state.most_asks
        self._nested += 1
        for who in above:
            self._enter(who).topics = None  # no answer of theirs is kept, so what is read below need not be noted
        try:
            yield
        finally:
            for who in reversed(above):
                self._leave(who)
            self._nested -= 1

    def offers(
        self, wanted: Dependency[Any], among: Collection[Provider] | None = None, chain: Chain = ()
    ) -> list[Offer]:
        """What each of these providers says, or each there is, the cheapest first; those that cannot come last."""
        chain = tuple(chain)
        with self.deciding(chain):
            asked = self.state.catalog.of(type(wanted)) if among is None else among
            prices = self._prices(wanted, asked, self.world, self.state.lookahead)
            found = [self._told(one, chain) if one.circle else one.offer for one in prices]
        found.sort(key=lambda offer: (offer.cost, offer.provider.number))
        return found

    def _told(self, priced: Priced, chain: Chain) -> Offer:
        """The offer of a strategy that cannot since it needs itself, with the circle in words."""
        path = [*(wanted for _, wanted in chain), *priced.circle]
        needs = [self.need_of(one) for one in path]
        circle = f"a circle: {told_path(path[needs.index(needs[-1]) :])}"
        return priced.offer._replace(circle=circle)

    def price(
        self, provider: Provider, wanted: Dependency[Any], world: Scenario, chain: Chain = ()
    ) -> tuple[Priced, bool]:
        """What one provider says and foresees, and whether that is kept beyond this decision."""
        with self.deciding(chain):
            depth = self.state.lookahead
            table = world.table(wanted, depth)  # before they are asked: an ask may clear the tables of the world
            [found] = self._prices(wanted, (provider,), world, depth)
            entries = table.get(provider, ())
        return found, any(kept.topics is not None for kept in entries)

    def choose(self, wanted: Dependency[Any], world: Scenario, depth: int) -> Cheapest:
        """What a dependency costs in a world, and by whom, if so many levels are looked ahead."""
        if self._nested:  # not through a context that does nothing: needs are priced more often than anything else
            return self._remembered(Estimator._chosen, wanted, world, depth)
        with self.deciding():
            return self._remembered(Estimator._chosen, wanted, world, depth)

    def cost(self, wanted: Dependency[Any], world: Scenario | None = None, depth: int | None = None) -> float:
        """The expected game seconds of solving a dependency; 0 if it is met, infinity if nobody can."""
        return self.choose(wanted, world or self.world, self.state.lookahead if depth is None else depth).cost

    def is_met(self, wanted: Dependency[Any], world: Scenario | None = None) -> bool:
        """Whether a dependency holds already, in the world as it is if no other is given."""
        kind = type(wanted)
        if not kind.has_condition():
            return False
        self.read(kind.reads)
        try:
            return bool(wanted.is_met(Ask(self, world or self.world, 0)))
        except Cannot:
            return False
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.state.fault(kind.activity, "is_met", error)
            return False

    def need_of(self, wanted: Dependency[Any]) -> Need:
        """What must not be asked for again below whoever solves it; raises what its ``guard_key`` raises."""
        try:
            need = (type(wanted), wanted.guard_key())
            hash(need)
        except (Exception, *ENDS_PROGRAM):
            raise
        except BaseException as error:  # it would be taken for the end of whoever asks
            raise RuntimeError(f"guard_key raised {error_words(error)}") from error
        return need

    # --- asking -------------------------------------------------------------------------------------------------------

    def _chosen(self, wanted: Dependency[Any], world: Scenario, depth: int) -> Cheapest:
        self.read(("strategies",))
        if self.is_met(wanted, world):
            return Cheapest(0.0, None, True)
        if self.asked >= self._limit:
            self.read(None)  # it is rougher than the next decision may be: it must not outlive this one
            depth = 0
        providers = self.state.catalog.of(type(wanted))
        need = self.need_of(wanted)
        self._stack[-1].needs.add(need)  # even if nobody is left out here: elsewhere somebody may be
        if depth <= 0:
            return Cheapest(self._constant(wanted, need, providers))
        best: Priced | None = None
        prices = self._prices(wanted, providers, world, depth - 1)
        # Not ``min`` with a key: this is the innermost loop of look-ahead. A tie goes to the first.
        for one in prices:
            if best is None or one.offer.cost < best.offer.cost:
                best = one
        if best is None or best.offer.cost == inf:
            return Cheapest(inf, circle=best.circle if best is not None and all(one.circle for one in prices) else ())
        return Cheapest(best.offer.cost, best)

    def _constant(self, wanted: Dependency[Any], need: Need, providers: Iterable[Provider]) -> float:
        """Where look-ahead ends: the least that anybody declares."""
        running = self._open.get(need, _NOBODY)
        least = inf
        for provider in providers:
            if provider not in running:
                spec = provider.spec
                declared = spec.cls.cost
                if declared is None:
                    least = min(least, type(wanted).cost)
                else:
                    least = min(least, declared if spec.asks else self._corrected(provider, declared))
        return least

    def _prices(
        self, wanted: Dependency[Any], providers: Iterable[Provider], world: Scenario, depth: int
    ) -> list[Priced]:
        table = world.table(wanted, depth)
        need = self.need_of(wanted)
        running = self._open.get(need, _NOBODY)
        ask = Ask(self, world, depth, wanted)
        found: list[Priced] = []
        for provider in providers:
            if provider in running:
                found.append(Priced(Offer(provider, inf, "it would need itself"), (), (wanted,)))
                continue
            kept: Kept[Priced] | None = self._known(table, provider)
            if kept is None:
                level = self._enter((need, provider))
                try:
                    said, reason = self._asked(provider, wanted, ask)
                    cost = self._corrected(provider, said) if self.state.corrects else said
                finally:
                    self._leave((need, provider))
                offer = Offer(provider, cost, reason, None if cost == said else said)
                circle = (wanted, *level.circle) if cost == inf and level.circle else ()
                kept = self._keep(table, provider, level, Priced(offer, level.branches, circle))
            found.append(kept.value)
        return found

    def _asked(self, provider: Provider, wanted: Dependency[Any], ask: Ask) -> tuple[float, str]:
        spec = provider.spec
        if not spec.asks:  # nothing is read for it, so this holds until all is forgotten
            return float(spec.cls.cost or 0.0), ""
        self.read(spec.cls.reads)
        self.asked += 1
        try:
            cost: Any = provider.oracle.estimate(ask, wanted)
            # An ``estimate`` of its own need not price what it foresees; look-ahead goes by that all the same.
            if spec.foresees and not self._stack[-1].branches and cost is not None:
                self.foreseen(provider.oracle.foresee(ask, wanted))
            if cost is None:
                return inf, "it says that it cannot"
            if isinstance(cost, (int, float)) and 0 <= cost <= LONGEST_COST:
                return float(cost), ""
            if cost == inf:
                lack = self._stack[-1].lack
                return inf, f"nobody can provide {'what it needs' if lack is None else label_of(lack)}"
        except Cannot as cannot:
            return inf, words_of(cannot.reason)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.state.fault(spec.label, "estimate", error)
            return inf, f"estimate raised {error_words(error)}"
        told = repr_of(cost, 200)
        wrong = ValueError(f"the estimate of {spec.subject} is {told}: it takes game seconds, 0 or more, or None")
        self.state.fault(spec.label, "estimate", wrong)
        return inf, f"its estimate is {told}, which is no cost"

    def _corrected(self, provider: Provider, said: float) -> float:
        """What a strategy says, corrected by what it took before, if the agent wants that."""
        if not self.state.corrects or said == inf:
            return said
        self.read(("accuracy",))
        record = self.state.records.get(provider.spec)
        return said if record is None else min(LONGEST_COST, record.corrected(said))

    # --- levels and the memo ------------------------------------------------------------------------------------------

    def _remembered(
        self,
        find: Callable[[Estimator, Dependency[Any], Scenario, int], T],
        wanted: Dependency[Any],
        world: Scenario,
        depth: int,
    ) -> T:
        """What was found out before, if it still holds; else what a method of this class finds out now."""
        table = world.table(wanted, depth)
        kept: Kept[T] | None = self._known(table, find)
        if kept is None:
            level = self._enter(None)
            try:
                value = find(self, wanted, world, depth)
            finally:
                self._leave(None)
            kept = self._keep(table, find, level, value)
        return kept.value

    def _enter(self, who: tuple[Need, Provider] | None) -> _Asking:
        level = _Asking()
        self._stack.append(level)
        if who is not None:
            running = self._open.setdefault(who[0], {})
            running[who[1]] = running.get(who[1], 0) + 1
        return level

    def _leave(self, who: tuple[Need, Provider] | None) -> None:
        self._stack.pop()
        if who is not None:
            running = self._open[who[0]]
            running[who[1]] -= 1
            if not running[who[1]]:
                del running[who[1]]
                if not running:
                    del self._open[who[0]]

    def read(self, topics: Collection[str] | None) -> None:
        """Whoever is being asked reads topics; None if nobody knows which."""
        if self._stack:
            into = self._stack[-1]
            if topics is None:
                into.topics = None
            elif into.topics is not None:
                versions = self.state.versions
                for topic in topics:
                    into.topics[topic] = versions.get(topic, 0)

    def _known(self, table: Table, key: object) -> Kept[Any] | None:
        entries = table.get(key)
        if entries:
            decision, stamp, versions = self._decision, self.state.stamp, self.state.versions
            for kept in entries:
                if kept.fits(self._open):
                    if not kept.holds(decision, stamp, versions):
                        entries.remove(kept)  # what replaces it stands for the same context
                        return None
                    self._pass_on(kept)
                    return kept
        return None

    def _pass_on(self, found: Kept[Any]) -> None:
        """Whoever asked has read, and priced, what the one that he asked did."""
        if self._stack:
            into = self._stack[-1]
            into.needs.update(found.needs)
            if found.topics is None:
                into.topics = None
            elif into.topics is not None:
                into.topics.update(found.topics)

    def _keep(self, table: Table, key: object, level: _Asking, value: T) -> Kept[T]:
        topics = None if level.topics is None else tuple(level.topics.items())
        needs = level.needs
        context = _ANYWHERE
        if needs and self._open:
            context = frozenset((need, one) for need, running in self._open.items() if need in needs for one in running)
        kept = Kept(value, topics, needs, context, self._decision, self.state.stamp)
        self._pass_on(kept)
        kept.keep_in(table, key)
        return kept

    # --- assuming -----------------------------------------------------------------------------------------------------

    def after(self, need: Dependency[Any], world: Scenario, depth: int) -> Scenario:
        """The world in which a dependency has been met: the same, if it is met, or if nobody says what holds then."""
        with self.deciding():
            return self._remembered(Estimator._met, need, world, depth)

    def _met(self, need: Dependency[Any], world: Scenario, depth: int) -> Scenario:
        self.read(type(need).reads)
        choice = self.choose(need, world, depth)
        if choice.is_met:
            return world
        branches = likeliest(choice.by.branches) if choice.by is not None else []
        branch = branches[0] if branches else None
        return self.outcome(need, branch, () if branch is None else branch.needs, world, depth - 1)

    def outcome(
        self, need: Dependency[Any], branch: Branch | None, left: Iterable[Dependency[Any]], world: Scenario, depth: int
    ) -> Scenario:
        """The world in which a branch has come true (None if none was foreseen), with its needs that are left."""
        for one in left:
            world = self.after(one, world, depth)
        if branch is not None and branch.expect:
            expect = branch.expect
            world = self.layered(world, need, "foresee", lambda state: _write(state, expect))
        if type(need).has_effect():
            world = self.layered(world, need, "assume", need.assume)
        return world

    def layered(self, world: Scenario, need: Dependency[Any], hook: str, write: Callable[[Current], None]) -> Scenario:
        """A world with a layer more: the same world, if nothing was written, or if the author's hook raises."""
        layer = self.state.layer(world.state)
        failed = object()
        if self.state.contained(type(need).activity, hook, failed, write, layer) is failed:
            return world
        # Where nothing was written the same scenario goes on, and with it all that was found out in it.
        return Scenario(layer) if has_changes(layer, world.state) else world

    # --- supplies -----------------------------------------------------------------------------------------------------

    def amounts_of(self, needs: Iterable[Dependency[Any]], world: Scenario, depth: int) -> Amounts:
        """What dependencies will use up, one after the other, down to where look-ahead ends."""
        total: Amounts = {}
        for need in needs:
            total = together(total, self._remembered(Estimator._uses, need, world, depth))
            world = self.after(need, world, depth)
        return total

    def _uses(self, need: Dependency[Any], world: Scenario, depth: int) -> Amounts:
        choice = self.choose(need, world, depth)
        if choice.by is None:
            return {}
        with self.deciding(((choice.by.offer.provider, need),)):
            return self.amounts_left([(one, one.needs) for one in choice.by.branches], world, depth - 1)

    def amounts_left(
        self, shares: Iterable[tuple[Branch, Sequence[Dependency[Any]]]], world: Scenario, depth: int
    ) -> Amounts:
        """What will be used up if one of several branches comes true, each with what is left of its needs."""
        found: list[tuple[float, Amounts]] = []
        for branch, needs in shares:
            if branch.probability > 0:
                own = {name: ((float(amount), 1.0),) for name, amount in branch.uses.items()}
                found.append((branch.probability, together(own, self.amounts_of(needs, world, depth))))
        return mixed(found)


def likeliest(branches: Iterable[Branch]) -> list[Branch]:
    """The branches that are likely at all, the likeliest first, those that fail last; of equals, the first."""
    return sorted((one for one in branches if one.probability > 0), key=lambda one: (one.fails, -one.probability))


def _write(state: Current, expect: Expect) -> None:
    if isinstance(expect, Mapping):
        for name, value in expect.items():
            setattr(state, name, value)
    else:
        expect(state)


# --- forecasts --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A dependency that is expected to be solved.

    Source: prismarine-gameplay: "Planning Ahead Using Probability".
    """

    wanted: Dependency[Any]
    # the label of who is expected to provide it; empty if it will be met, if nobody can, and where look-ahead ends
    by: str
    cost: float  # the game seconds that are expected from there on
    probability: float = 1.0  # how likely it is that the path gets there
    is_met: bool = False  # whether it is expected to be met by then
    branch: str = ""  # the label of the branch that is expected; empty if it has none
    needs: tuple[Foreseen, ...] = ()  # what that branch needs, in order
    others: tuple[tuple[Dependency[Any], float], ...] = ()  # what only other branches need, with its probability

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Foreseen]]:
        """This node and all below it, from top to bottom, with their depths, from its own on."""
        yield depth, self
        for need in self.needs:
            yield from need.walk(depth + 1)

    def render(self) -> str:
        """The forecast as text, one node a line; what only other branches need begins with a star."""
        return "\n".join(self._lines(""))

    def _lines(self, indent: str) -> Iterator[str]:
        how = "met" if self.is_met else seconds(self.cost) + (f" by {self.by}" if self.by else "")
        chance = "" if self.probability >= 1 else f", {100 * self.probability:.0f} %"
        yield f"{indent}{label_of(self.wanted)}: {how}{chance}"
        indent += "   "
        for need in self.needs:
            yield from need._lines(indent)
        for one, share in self.others:
            yield f"{indent}* {label_of(one)}: {100 * share:.0f} %"


def forecast(
    estimator: Estimator,
    priced: Priced,
    wanted: Dependency[Any],
    world: Scenario,
    depth: int,
    shares: Sequence[tuple[Branch, Sequence[Dependency[Any]]]],
    probability: float = 1.0,
) -> Foreseen:
    """What is expected if a strategy is run, with this probability; who is run above is known to the estimator.

    It is told the branches that are still possible, the likeliest first, each with what is left of its needs.
    """
    provider, cost = priced.offer.provider, priced.offer.cost
    label = provider.spec.label
    if not shares:
        return Foreseen(wanted, label, cost, probability)
    total = 0.0
    for one, _ in shares:
        total += one.probability
    first, to_come = shares[0]
    share = probability * first.probability / total
    needs: list[Foreseen] = []
    with estimator.deciding(((provider, wanted),)):
        for need in to_come:
            needs.append(forecast_need(estimator, need, world, depth, share))
            world = estimator.after(need, world, depth)
    others: dict[Dependency[Any], float] = {}
    for one, left in shares[1:]:
        for need in dict.fromkeys(left):
            if need not in first.needs:
                others[need] = others.get(need, 0.0) + probability * one.probability / total
    return Foreseen(wanted, label, cost, probability, False, first.label, tuple(needs), tuple(others.items()))


def forecast_need(
    estimator: Estimator, need: Dependency[Any], world: Scenario, depth: int, probability: float = 1.0
) -> Foreseen:
    """What is expected if a dependency is asked for, with this probability."""
    choice = estimator.choose(need, world, depth)
    if choice.by is None:
        return Foreseen(need, "", choice.cost, probability, choice.is_met)
    shares = [(one, one.needs) for one in likeliest(choice.by.branches)]
    return forecast(estimator, choice.by, need, world, depth - 1, shares, probability)


# --- what a strategy is given -----------------------------------------------------------------------------------------


_EXCEPTIONAL: Final = 3.0  # times what all others cost together


class _AttemptSeat(Protocol):
    """What a context is a handle of: the ``Attempt`` that runs its strategy, which explains these."""

    node: TaskNode
    outcome: Outcome
    interruptions: int
    is_hearing: bool
    estimator: Estimator

    def chain(self) -> Chain: ...

    def supplies(self) -> Amounts: ...

    async def rest(self) -> None: ...

    async def solve(
        self, wanted: Dependency[Any], node: TaskNode, who: Collection[Provider] | None, rank: Rank | None
    ) -> Any: ...

    async def perform(self, activity: str, args: Mapping[str, Any]) -> Any: ...

    def give_up(self, flow: Flow) -> None: ...

    def beside(self, coro: Coroutine[Any, Any, Any]) -> Any: ...


class StrategyContext(Context[E_co]):
    """What a strategy gets as the first argument of ``run`` and ``interrupted``."""

    __slots__ = ("_attempt",)

    def __init__(self, unit: Unit, attempt: _AttemptSeat) -> None:
        super().__init__(unit)
        self._attempt = attempt

    # --- what there is ------------------------------------------------------------------------------------------------

    @property
    def gameplay(self) -> Calls:
        """The generated calls, for dependencies of this strategy: ``await ctx.gameplay.find("log")``."""

        def solve(wanted: Dependency[Any], provider: Provider | None) -> Awaitable[Any]:
            return self.solve(wanted, among=None if provider is None else (provider.spec.cls,))

        return Calls(self.agent.gameplay.catalog, self.agent.name, solve)

    @property
    def params(self) -> Params:
        """The global parameters of the request."""
        return self.ask.params

    @property
    def interruptions(self) -> int:
        """How many times something came up while it, or one below it, ran: if more, the world may be otherwise."""
        return self._attempt.interruptions

    @property
    def node(self) -> TaskNode:
        """Its node in the task tree."""
        return self._attempt.node

    @property
    def ask(self) -> Ask[E_co]:
        """The world and what things would cost, as ``estimate`` sees them."""
        estimator = self._attempt.estimator
        return Ask(estimator, estimator.world, estimator.state.lookahead)

    def _fork(self, method: str, waits: tuple[Awaitable[Any], ...]) -> Fork:
        return Fork(self._home.kernel, method, waits, self._attempt.beside)  # they stand still when it does

    # --- solving ------------------------------------------------------------------------------------------------------

    async def solve(
        self, wanted: Dependency[R], *, among: str | Iterable[type[Strategy]] | None = None, rank: Rank | None = None
    ) -> R:
        """Have a dependency solved, and get what the strategy that provided it returned.

        Args:
            wanted: the dependency.
            among: who may provide it: the name of an injection list, such as ``"Smelt.fuels"``, or classes of
                strategies; None for all that provide it.
            rank: picks from the offers of those that can, the cheapest first, and orders them.

        Raises:
            DependencyFailedError: it could not be solved.
            ActivityAbortedError: it is awaited behind a shield, while the strategy is unwound.
            WrongStateError: the strategy does not run, or has something else solved at this moment.
        """
        await at_once(is_dear=True)  # it may be met already, or refused
        required("ctx.solve", wanted)
        given: object = rank
        if rank is not None and (not callable(given) or inspect.iscoroutinefunction(given)):
            meant = "Write a plain function: rank=lambda offers: offers[:2]."
            raise ArgumentError("ctx.solve", "rank", f"takes a function of the offers, not {repr_of(rank)}. {meant}")
        self._own("solve")
        await self._attempt.rest()
        attempt = self._attempt
        who = None if among is None else attempt.estimator.state.catalog.chosen(among, type(wanted))
        children = attempt.node.children
        node = next((one for one in children if one.outcome is Outcome.PLANNED and one.wanted == wanted), None)
        if node is None:
            node = TaskNode(NodeKind.DEPENDENCY, None, attempt.node, wanted)
        node.is_conditional = False  # it is needed now
        found: R = await attempt.solve(wanted, node, who, rank)
        return found

    async def solve_all(self, wanted: Iterable[Dependency[Any]], order: Order | None = None) -> list[Any]:
        """Have several dependencies solved that do not depend on each other; gives what each gave, in the order given.

        They are solved in an ``order``, by default that of the agent's gameplay; costs are asked anew after each.
        ``DependencyFailedError`` if one of them could not be solved.

        Source: prismarine-gameplay: "Orderless Dependencies".
        """
        await at_once(is_dear=True)
        left = list(enumerate(wanted))
        required("ctx.solve_all", *(one for _, one in left))
        order = self._attempt.estimator.state.order if order is None else order
        found: dict[int, Any] = {}
        while left:
            index, chosen = left.pop(self._next_of([one for _, one in left], order))
            found[index] = await self.solve(chosen)
        return [found[index] for index in sorted(found)]

    def _next_of(self, wanted: Sequence[Dependency[Any]], order: Order) -> int:
        """Which of several dependencies comes first in an order."""
        if order is Order.GIVEN or len(wanted) == 1:
            return 0
        costs = self._prices(self._attempt.chain(), [(one,) for one in wanted])
        highest = max(costs)
        dearest = costs.index(highest)
        others = sum(cost for index, cost in enumerate(costs) if index != dearest)
        is_exceptional = order is Order.EXCEPTIONAL and highest < inf and highest > _EXCEPTIONAL * others
        return dearest if is_exceptional or order is Order.DEAREST else costs.index(min(costs))

    def _prices(self, chain: Chain, needs: Iterable[Sequence[Dependency[Any]]]) -> list[float]:
        with self._attempt.estimator.deciding(chain):
            ask = self.ask
            return [ask.total(one) for one in needs]

    async def solve_if_worth(
        self, wanted: Dependency[Any], then: Sequence[Dependency[Any]], *, limit: float = inf
    ) -> bool:
        """Have an optional dependency solved, if what is to be done anyway is cheaper with it; whether it holds now.

        It is priced twice, without and with it, where "with" counts what the dependency itself costs, and "without"
        that nobody provides it. If solving it fails, nothing is lost but the time.

        Args:
            wanted: the optional dependency.
            then: what is to be done anyway; that may be what this strategy itself is run for.
            limit: the most that it may cost by itself, in game seconds.

        Source: prismarine-gameplay: "Optional Dependencies".
        """
        await at_once(is_dear=True)
        required("ctx.solve_if_worth", wanted)
        given: object = then
        if not isinstance(given, Sequence):
            raise ArgumentError("ctx.solve_if_worth", "then", "takes a list of dependencies. Write [Build()].")
        required("ctx.solve_if_worth", *then)
        self._own("solve_if_worth")
        await self._attempt.rest()
        attempt, state = self._attempt, self._attempt.estimator.state
        if not state.takes_options:
            return False
        if self.ask.is_met(wanted):
            return True
        # What is done then may be what it is run for: who runs for that is no circle, but who goes on.
        chain = [who for who in attempt.chain() if who[1] not in then]
        own, having = self._prices(chain, ((wanted,), (wanted, *then)))
        # What is done anyway may count on the option by itself: without it means that nobody provides it.
        nobody = [(provider, wanted) for provider in state.catalog.of(type(wanted))]
        [without] = self._prices([*chain, *nobody], (then,))
        node = TaskNode(NodeKind.OPTION, f"Option {label_of(wanted)}", attempt.node, wanted)
        node.cost = own
        if own > limit or having >= without:
            gain = f"{seconds(having)} with it, {seconds(without)} without"
            node.end(Outcome.SKIPPED, state.tick, f"{seconds(own)} is too dear" if own > limit else gain)
            return False
        try:
            await attempt.solve(wanted, node, None, None)
        except DependencyFailedError:
            return False
        return True

    def cost(self, wanted: Dependency[Any]) -> float:
        """The expected game seconds of a dependency now: 0 if it is met, infinity if nobody can provide it."""
        required("ctx.cost", wanted)
        return self._prices(self._attempt.chain(), ((wanted,),))[0]

    def supplies(self, *wanted: Dependency[Any], confidence: float = 0.9) -> dict[str, float]:
        """How much will be used up: the least amounts that are enough, by name, such as ``{"wooden_pickaxe": 2.4}``.

        Args:
            wanted: for these dependencies, one after the other; none for what this strategy and those above it will
                still use in the request, as they foresee it.
            confidence: how certain it has to be that it is enough, from 0 to less than 1.

        Raises:
            ArgumentError: the confidence is out of its range.

        Source: prismarine-gameplay: "Planning Ahead Using Probability": "how many pickaxes to bring into a mine".
        """
        if wanted:
            with self._attempt.estimator.deciding(self._attempt.chain()):
                return self.ask.supplies(*wanted, confidence=confidence)
        return enough(self._attempt.supplies(), confidence)

    @overload
    async def execute(self, activity: Activity[P, O_co], /, *args: P.args, **more: P.kwargs) -> O_co: ...
    @overload
    async def execute(self, activity: str, args: Mapping[str, Any] | None = None, /, **more: object) -> Any: ...

    async def execute(  # type: ignore[misc]  # as in Context
        self, activity: str | Activity[..., Any], args: Mapping[str, Any] | None = None, /, **more: Any
    ) -> Any:
        """Think and run a plain activity of the agent, anew if something of it was taken; gives the think output.

        Raises:
            WrongStateError: the strategy does not run, or has something else done at this moment.
            ActivityImpossibleError: no action can perform it now.
            ActivityAbortedError: it was aborted.
            ArgumentError: the arguments do not fit.
        """
        await at_once(is_dear=True)
        self._own("execute")
        await self._attempt.rest()
        return await self._attempt.perform(*asked(activity, args, more))

    # --- giving up ----------------------------------------------------------------------------------------------------

    def fail(self, reason: str) -> NoReturn:
        """The strategy cannot provide what it was run for; the next one is tried.

        In its own ``run`` and ``interrupted`` it raises ``Fail``: let it pass. From anywhere else (a callback, another
        strand, another thread) it returns, and the strategy fails all the same, if it still runs.

        The reason, in words, is shown in trees and errors.

        Source: prismarine-gameplay: "Task Failure".
        """
        self._ask_for(Fail(reason, self._tell))

    def restart(self, reason: str = "") -> NoReturn:
        """The strategy is unwound, and in the next tick the choice is made anew: begins again, if it still is the best.

        It raises ``BeginAgain`` where ``fail`` would raise, and returns elsewhere.

        Source: prismarine-gameplay: "Pauseable/Cancelable Tasks".
        """
        self._ask_for(BeginAgain(reason, self._tell))

    def _ask_for(self, flow: Flow) -> NoReturn:
        if self._attempt.is_hearing and is_on_own_stack(self._seat):
            raise flow
        super()._ask_for(flow)

    def _obey(self, flow: Flow) -> None:
        if isinstance(flow, Abort):
            super()._obey(flow)
        elif self._attempt.outcome is Outcome.RUNNING:
            self._attempt.give_up(flow)

    def _own(self, method: str) -> None:
        self._running(method)
        require_own_stack(self._seat, method)

    def __repr__(self) -> str:
        return f"<StrategyContext of {self._attempt!r}>"
