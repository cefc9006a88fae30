"""Dependencies: what a strategy may need, and what strategies provide.

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
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from agentrt.activity.fields import REQUIRED, ActionArgs, Fresh
from agentrt.activity.spec import default_hook
from agentrt.activity.steps import ACTIVITY
from agentrt.errors import ENDS_PROGRAM, ArgumentError, DefinitionError
from agentrt.strategy.topics import check_topics
from agentrt.words import repr_of, type_name, words_of

if TYPE_CHECKING:
    from agentrt.activity.current import Current
    from agentrt.strategy.asking import Ask

__all__ = ["Dependency", "label_of", "required", "words"]

R = TypeVar("R")

_HOOKS = ("is_met", "met_value", "assume", "guard_key", "label")
_CALL = re.compile(r"[a-z][a-z0-9_]*")


def words(name: str) -> str:
    """The name of a class in words: ``MineOre`` is "Mine Ore".

    Args:
        name: the name.
    """
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
        for hook in _HOOKS:
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
    """What trees and errors call a dependency, whatever its author's ``label`` and the values in it do.

    Args:
        wanted: the dependency.
    """
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
        wanted: what was given.

    Raises:
        ArgumentError: one is none.
    """
    for one in wanted:
        if not isinstance(one, Dependency):
            meant = 'Write one, such as Collect("log", 4).'
            if isinstance(one, type) and issubclass(one, Dependency):
                meant = f"Give it its values: {one.__name__}(...)."
            raise ArgumentError(method, "wanted", f"takes a dependency, not {repr_of(one, 200)}. {meant}")
