"""Typed arguments and think outputs: what an activity is called with, and what thinking found out.

A class that lists annotated fields, in the manner of a dataclass, is compiled once, when it is defined, into a table of
(name, default, accepted types). Making one checks each value against that table; there is no other check at run time.

An ``Activity`` is a name with both, declared once: who performs it has them from there, and who asks for it is checked
against them, by type checkers and when it is asked.

What is checked: classes, unions, ``None``, ``Literal``, ``type[...]``, and the outer class of a generic
(``list[int]`` is checked as a list, since looking at every item would cost more than it finds). ``int`` is accepted
for ``float``. A protocol that cannot be checked at run time, a type variable and ``Any`` accept anything.

Rejected: pydantic and msgspec (good, but nothing below the agent imports a third party, and both convert where an
argument should be refused); dataclasses (they neither check nor take unknown names with a sentence that helps).
"""

from __future__ import annotations

import collections.abc
import copy
import dataclasses
import inspect
import re
import sys
import types
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final, Generic, Literal, NamedTuple, ParamSpec, TypeVar, Union, get_args, get_origin

from agentrt.body.driver import O_co, P, activity_name
from agentrt.body.entity import destroyed_signal, is_gone
from agentrt.errors import ENDS_PROGRAM, ArgumentError, DefinitionError, did_you_mean
from agentrt.words import class_name, error_words, repr_of, type_name, words_of


class _Required:
    def __repr__(self) -> str:
        return "required"


REQUIRED: Any = _Required()


class Fresh(NamedTuple):
    """A default that can be changed in place: each record gets a copy."""

    value: Any


def plain_default(default: object) -> Any:
    return default.value if isinstance(default, Fresh) else default


_T = TypeVar("_T")
_CONTAINERS: Final = (bytearray, collections.deque, dict, list, set)


def _copied(value: _T) -> _T:
    """A copy of a default, and of the containers in its lists and dicts. Nothing else: it may be an entity."""
    made = copy.copy(value)
    inside = made.items() if isinstance(made, dict) else enumerate(made) if isinstance(made, list) else ()
    for key, one in inside:
        if isinstance(one, _CONTAINERS):
            made[key] = _copied(one)  # type: ignore[index]  # a dict or a list, and still of its own class
    return made


_UNKNOWN: Any = object()  # stands for a value that will be known when the call is made


class _Accept(NamedTuple):
    """Which values a field accepts."""

    classes: tuple[type, ...] | None  # None accepts anything
    values: tuple[Any, ...]
    text: str

    def takes(self, value: Any) -> bool:
        classes = self.classes
        if classes is None or value is _UNKNOWN or isinstance(value, classes):
            return True
        return any(type(value) is type(one) and value == one for one in self.values)


_ANYTHING = _Accept(None, (), "anything")
_CALLABLE: object = collections.abc.Callable  # a class, though type checkers do not take it for one


def _evaluate(owner: type, name: str) -> Any:
    """The annotation of one field; a string is looked up in its module.

    One at a time, so that one unknown name does not hide the others.
    """

    def holder() -> None:
        pass

    holder.__annotations__ = {name: inspect.get_annotations(owner)[name]}
    return typing.get_type_hints(holder, vars(sys.modules[owner.__module__]), dict(vars(owner)))[name]


def _compile(hint: Any) -> _Accept:
    if hint is Any or hint is object or isinstance(hint, (typing.TypeVar, str, typing.ForwardRef)):
        return _ANYTHING
    if hint is None or hint is type(None):
        return _Accept((type(None),), (), "None")
    if isinstance(hint, typing.NewType):
        return _compile(hint.__supertype__)
    if type(hint).__name__ == "TypeAliasType":  # ``type Where = ...``, from Python 3.12 on
        return _compile(hint.__value__)
    origin = get_origin(hint)
    if origin in (typing.Annotated, Final, typing.ClassVar):
        return _compile(get_args(hint)[0])
    if origin is Literal:
        return _Accept((), get_args(hint), " or ".join(repr(value) for value in get_args(hint)))
    if origin is Union or origin is types.UnionType:
        return _union([_compile(part) for part in get_args(hint)])
    if origin is not None:
        hint = origin
    if not isinstance(hint, type):
        return _ANYTHING
    if getattr(hint, "_is_protocol", False) and not getattr(hint, "_is_runtime_protocol", False):
        return _ANYTHING
    if typing.is_typeddict(hint):
        return _Accept((dict,), (), "dict")
    classes: tuple[type, ...] = (float, int) if hint is float else (hint,)
    return _Accept(classes, (), "a callable" if hint is _CALLABLE else hint.__name__)


def misfit(hint: object, value: object) -> str:
    """What a type hint accepts, in words, if it does not accept a value of plain data; empty if it does.

    A list is accepted for any collection: plain data has no other. Of a hint that names what is no plain data, an enum
    or a path, nothing is known: whoever wrote it may make that of a text.
    """
    accept = _compile(hint)
    classes = set(accept.classes or ())
    if accept.takes(value) or not classes <= _DATA or (isinstance(value, list) and classes & _LISTED):
        return ""
    return accept.text


_LISTED: Final[frozenset[type]] = frozenset({tuple, set, frozenset})
_DATA: Final[frozenset[type]] = _LISTED | {bool, int, float, str, list, dict, type(None)}


def _union(parts: list[_Accept]) -> _Accept:
    classes: tuple[type, ...] = ()
    values: tuple[Any, ...] = ()
    for part in parts:
        if part.classes is None:
            return _ANYTHING
        classes += part.classes
        values += part.values
    return _Accept(classes, values, " or ".join(part.text for part in parts))


Fits: typing.TypeAlias = "collections.abc.Callable[[dict[str, Any]], bool]"


# have no signals and hold nothing
PLAIN: Final[frozenset[type]] = frozenset({bool, bytes, float, int, str, type(None)})


def _unknown(_values: dict[str, Any]) -> bool:
    """The types are not known yet."""
    return False


def _fitting(fields: Mapping[str, tuple[type, ...] | None]) -> Fits:
    """Generate what tells whether all fields are given, each with a value of one of its classes, as nearly always.

    A loop over the fields takes twice as long, and whoever says that it is ready comes here.
    """
    names: dict[str, Any] = {}
    tests = [f"len(values) == {len(fields)}"]
    for number, (name, classes) in enumerate(fields.items()):
        if classes is None:
            tests.append(f"{name!r} in values")
        else:
            tests.append(f"isinstance(values[{name!r}], kinds{number})")
            names[f"kinds{number}"] = classes[0] if len(classes) == 1 else classes
    source = f"""
def fits(values):
    try:
        return {" and ".join(tests)}
    except KeyError:
        return False
"""
    exec(source, names)  # noqa: S102 - of our own making: it quotes nothing but names of fields
    fits: Fits = names["fits"]
    return fits


@typing.dataclass_transform(kw_only_default=True, frozen_default=True)
class Fields:
    """A record with named, typed fields. Subclass ``ActionArgs`` or ``ThinkOutput`` instead.

    Args:
        values: one for each field without a default, by name.

    Raises:
        ArgumentError: a value is missing, unknown or of the wrong type.
    """

    __slots__ = ("__dict__",)  # and no ``__weakref__``: each frame that thinks has a record

    _fields: ClassVar[dict[str, tuple[Any, _Accept]]] = {}
    _unresolved: ClassVar[bool] = False
    # whether values can be taken as they are
    _fits: ClassVar[Fits]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        fields: dict[str, Any] = {}
        for base in reversed(cls.__mro__[1:]):  # the nearest base has the last word
            for name, (default, _) in getattr(base, "_fields", {}).items():
                fields[name] = default
        _refuse_what_nobody_reads(cls)
        for name in _annotated_fields(cls):
            if name.startswith("_"):
                raise DefinitionError(
                    cls.__qualname__, f"the field '{name}' starts with an underscore.", "Name it without one."
                )
            default = cls.__dict__.get(name, REQUIRED)
            if isinstance(default, dataclasses.Field):
                raise DefinitionError(
                    class_name(cls),
                    f"the default of '{name}' is a dataclasses.field.",
                    "Write the default itself: each record has a copy of a list, a dict or a set.",
                )
            fields[name] = Fresh(default) if isinstance(default, _CONTAINERS) else default
            if name in cls.__dict__:
                # A class attribute would be found on instances and hide what is missing.
                delattr(cls, name)
        cls._fields = {name: (default, _ANYTHING) for name, default in fields.items()}
        cls._fits = staticmethod(_unknown if fields else _fitting({}))
        cls._unresolved = bool(fields) and not cls._resolve()

    @classmethod
    def _resolve(cls, *, finally_: bool = False) -> bool:
        """Look the annotations up; says whether nothing is left to look up.

        Finally, a name that is still not defined is given up: its field accepts anything. Such a name is known to the
        type checker only.
        """
        subject = class_name(cls)
        resolved: dict[str, tuple[Any, _Accept]] = {}
        for name, (default, _) in cls._fields.items():
            owner = next(base for base in cls.__mro__ if name in inspect.get_annotations(base))
            try:
                accept = _compile(_evaluate(owner, name))
            except NameError:
                if not finally_:
                    return False
                accept = _ANYTHING
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                problem = f"the type of '{name}' cannot be read: {error_words(error)}."
                raise DefinitionError(subject, problem, "Write a type that exists.") from None
            given = plain_default(default)
            if given is not REQUIRED and not accept.takes(given):
                problem = f"the default of '{name}' is {repr_of(given)}, but it takes {accept.text}."
                raise DefinitionError(subject, problem, "Correct one of the two.")
            resolved[name] = (default, accept)
        cls._fields = resolved
        cls._unresolved = False
        cls._fits = staticmethod(_fitting({name: accept.classes for name, (_, accept) in resolved.items()}))
        return True

    def __init__(self, **values: Any) -> None:
        self._fill("", values)

    @classmethod
    def build(cls, activity: str, values: dict[str, Any]) -> Fields:
        """Make one, which takes the dict over; errors name the activity."""
        made = _new(cls)
        if cls._fits(values):
            _put_values(made, values)
        else:
            made._fill(activity, values)
        return made

    @classmethod
    def check_call(cls, activity: str, constants: Mapping[str, Any], bound: Collection[str]) -> None:
        """Check what is known of a call before it is made. Does nothing while an annotation is not defined yet.

        Args:
            constants: the values that are known, by field name.
            bound: the fields whose values are not known yet.
        """
        if cls._unresolved and not cls._resolve():
            return
        cls.__new__(cls)._fill(activity, {**constants, **dict.fromkeys(bound, _UNKNOWN)})

    @classmethod
    def open(cls, values: Mapping[str, Any]) -> Fields:
        """Make one with any fields, unchecked: for outputs whose types are those of what they were taken from."""
        made = cls.__new__(cls)
        made.__dict__.update(values)
        return made

    def _fill(self, activity: str, values: Mapping[str, Any]) -> None:
        cls = type(self)
        if cls._unresolved:
            cls._resolve(finally_=True)
        subject = activity or cls.__qualname__
        place = self.__dict__
        found = 0
        for name, (default, accept) in cls._fields.items():
            if name in values:
                found += 1
                value = values[name]
                if not accept.takes(value):
                    text = f"takes {accept.text}, not {type_name(value)} {repr_of(value)}."
                    raise ArgumentError(subject, name, text)
            elif default is REQUIRED:
                if not cls._fields.keys() >= values.keys():
                    break  # told below: this one is probably written otherwise
                text = f"is missing. Give it, or declare a default for it in {cls.__qualname__}."
                raise ArgumentError(subject, name, text)
            else:
                value = _copied(default.value) if isinstance(default, Fresh) else default
            place[name] = value
        if found != len(values):
            unknown = next(name for name in values if name not in cls._fields)
            raise ArgumentError(
                subject,
                unknown,
                f"is not declared.{did_you_mean(unknown, cls._fields)} Declared: {', '.join(cls._fields) or 'none'}.",
            )

    @classmethod
    def _known_fields(cls) -> dict[str, tuple[Any, _Accept]]:
        if cls._unresolved:
            cls._resolve(finally_=True)
        return cls._fields

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """The names of the declared fields, in order."""
        return tuple(cls._fields)

    @classmethod
    def declared(cls) -> dict[str, tuple[Any, Any]]:
        """Each field's type, as it was annotated, and its default; ``REQUIRED`` for none.

        A type that is known to the type checker only is ``Any``.
        """
        found: dict[str, tuple[Any, Any]] = {}
        for name, (default, _) in cls._known_fields().items():
            owner = next(base for base in cls.__mro__ if name in inspect.get_annotations(base))
            try:
                hint = _evaluate(owner, name)
            except NameError:
                hint = Any
            found[name] = hint, plain_default(default)
        return found

    @classmethod
    def signature(cls) -> dict[str, tuple[frozenset[str], str]]:
        """Accepted types and default of each field, in words; to compare declarations."""
        return {
            name: (frozenset(accept.text.split(" or ")), repr(plain_default(default)))
            for name, (default, accept) in cls._known_fields().items()
        }

    @classmethod
    def describe(cls) -> str:
        """The declaration in words, for errors."""
        told = []
        for name, (default, accept) in cls._known_fields().items():
            given = plain_default(default)
            told.append(f"{name}: {accept.text}" + ("" if given is REQUIRED else f" = {repr_of(given)}"))
        return f"({', '.join(told)})"

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} is read-only: actions share it. Keep what changes on self.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} is read-only: actions share it.")

    def keys(self) -> collections.abc.KeysView[str]:
        """The names of the fields; makes ``**args`` work."""
        return self.__dict__.keys()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fields) and self.__dict__ == other.__dict__

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={repr_of(value)}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({inner})"


def _annotated_fields(kind: type) -> list[str]:
    """The names that a class annotates, without those of the class itself (``ClassVar``)."""
    return [
        name
        for name, hint in inspect.get_annotations(kind).items()
        if not (_CLASS_VAR.match(hint) if isinstance(hint, str) else ClassVar in (hint, get_origin(hint)))
    ]


_CLASS_VAR: Final = re.compile(r"(\w+\.)?ClassVar\b")  # an annotation that is not evaluated yet


def _refuse_what_nobody_reads(kind: type[Fields]) -> None:
    """Refuse what looks like a part of a record and is none: a default without a type, a hook of dataclasses."""
    if kind.__module__.startswith("agentrt."):
        return
    base, annotated = kind.__mro__[1], inspect.get_annotations(kind)
    for name, value in vars(kind).items():
        if name == "__post_init__" or (name == "__init__" and getattr(base, name) is vars(Fields)[name]):
            raise DefinitionError(
                class_name(kind),
                f"nobody calls its {name}: a record is filled in by the names of its fields.",
                "Leave it out, and have whoever asks give each field.",
            )
        is_field = not (name.startswith("_") or hasattr(type(value), "__get__") or isinstance(value, type))
        if is_field and name not in annotated and not hasattr(base, name):
            of = type_name(value)
            raise DefinitionError(
                class_name(kind),
                f"'{name}' has no type, and so it is no field with a default.",
                f"Write {name}: {of} = {repr_of(value, 40)}; or {name}: ClassVar[{of}], if it is to be none.",
            )


# What a record is made with: it is read-only to everybody else.
_new: collections.abc.Callable[[type[Fields]], Fields] = object.__new__
_put_values: collections.abc.Callable[[Fields, dict[str, Any]], None] = Fields.__dict__["__dict__"].__set__
Fields._fits = staticmethod(_fitting({}))


def take(kind: type[Fields], values: dict[str, Any]) -> Fields:
    """Make a record of values that fit; it takes the dict over."""
    made = _new(kind)
    _put_values(made, values)
    return made


def are_equal(before: object, now: object) -> bool:
    """Whether two records are; those that raise when they are compared are not."""
    if before is now:
        return True
    try:
        return bool(before == now)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # values of the author's that cannot be compared: nobody knows, so it is asked anew
        return False


def holds_plain(kind: type[Fields]) -> bool:
    """Whether each field of a record takes numbers and strings alone, as far as that is known by now."""
    return not kind._unresolved and all(
        accept.classes is not None and PLAIN.issuperset(accept.classes) for _, accept in kind._fields.values()
    )


class ActionArgs(Fields):
    """The arguments of an activity. Nest a subclass named ``Args`` in an action.

    Source: Stonehearth, AI: "Leaf action example", `args`.
    """

    __slots__ = ()


class ThinkOutput(Fields):
    """What thinking found out. Nest a subclass named ``Output`` in an action.

    Source: Stonehearth, AI: "Leaf action example", `think_output`.
    """

    __slots__ = ()


NO_ARGS = ActionArgs()

# --- activities that are declared -------------------------------------------------------------------------------------

ACTIVITY: Final = re.compile(r"[^\s/]+")  # what the name of an activity is made of: paths join them by slashes

_Q = ParamSpec("_Q")
_A = TypeVar("_A", bound=ActionArgs)
_O = TypeVar("_O", bound=ThinkOutput)


class Activity(Generic[P, O_co]):
    """An activity that is declared once: its name, its arguments and what it gives.

    ::

        PAINT = Activity("demo:paint", PaintArgs, Picture)


        class Draw(Action):
            does = PAINT  # and so it takes PaintArgs, and gives a Picture


        picture = await ctx.execute(PAINT, subject=cat)

    Who asks for it is checked, by type checkers, too. Its name may still be written wherever an activity is named.

    Args:
        name: by convention ``mod:verb``.
        args: the class of its arguments; none by default.
        output: the class of the think output of all actions that perform it; by default that is the arguments.

    Raises:
        DefinitionError: the name is none, or the classes are of another kind.

    Source: Stonehearth, AI: "Overview of the AI system", activity; that it can be declared is ours.
    """

    __slots__ = ("args", "name", "output")

    @typing.overload
    def __init__(self: Activity[[], ActionArgs], name: str) -> None: ...
    @typing.overload
    def __init__(self: Activity[[], _O], name: str, *, output: type[_O]) -> None: ...
    @typing.overload
    def __init__(self: Activity[_Q, _A], name: str, args: collections.abc.Callable[_Q, _A]) -> None: ...
    @typing.overload
    def __init__(
        self: Activity[_Q, _O], name: str, args: collections.abc.Callable[_Q, ActionArgs], output: type[_O]
    ) -> None: ...

    def __init__(
        self,
        name: str,
        args: collections.abc.Callable[..., ActionArgs] = ActionArgs,
        output: type[ThinkOutput] | None = None,
    ) -> None:
        subject = f"Activity({repr_of(name, 80)})"
        given: object = name
        if not isinstance(given, str) or not ACTIVITY.fullmatch(given):
            raise DefinitionError(subject, "that is no name of an activity.", "Write one such as 'demo:paint'.")
        if not (isinstance(args, type) and issubclass(args, ActionArgs)):
            raise DefinitionError(subject, f"args is {repr_of(args, 80)}.", "Give a subclass of ActionArgs.")
        kind: object = output
        if kind is not None and not (isinstance(kind, type) and issubclass(kind, ThinkOutput)):
            raise DefinitionError(subject, f"output is {repr_of(output, 80)}.", "Give a subclass of ThinkOutput.")
        self.name: str = name
        self.args: type[ActionArgs] = args
        self.output: type[ThinkOutput] | None = output  # None: it gives its arguments

    def check(self, args: Mapping[str, Any]) -> None:
        """Raise ``ArgumentError`` if it does not take these arguments."""
        self.args.check_call(self.name, args, ())

    if typing.TYPE_CHECKING:  # what makes it a ``DeclaredActivity``

        def _called(self, *args: P.args, **more: P.kwargs) -> O_co: ...

    def __repr__(self) -> str:
        return f"Activity({self.name!r}, {self.args.__qualname__})"


def asked(activity: object, args: Mapping[str, Any] | None, more: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The name of an activity that is asked for, and its arguments; those of one that is declared are checked.

    Raises:
        ArgumentError: they do not fit the declaration.
    """
    given = given_to(activity, args, more)
    return activity_name(activity, given), given


def given_to(activity: object, args: Mapping[str, Any] | None, more: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments of an activity that is asked for: those in a mapping, and those by name.

    Raises:
        ArgumentError: one is given by its place.
        DefinitionError: it is a class that is asked for, and not what that performs.
    """
    if isinstance(activity, type):
        does = getattr(activity, "does", "")
        instead = f"Ask for {does!r}, which it performs." if does else "Ask for an activity such as 'demo:paint'."
        raise DefinitionError(class_name(activity), "it is a class, and no activity.", instead)
    given: object = args
    if given is not None and not isinstance(given, Mapping):
        name = activity.name if isinstance(activity, Activity) else words_of(activity)
        raise ArgumentError(
            name, repr_of(given, 80), "is given by its place. Give each by its name, or a dict of them."
        )
    return {**(args or {}), **more}


_KINDS: Final[tuple[Any, ...]] = (list, tuple, set, frozenset)


def inner_values(value: object) -> Collection[Any]:
    """What a container holds that an author may have filled, the keys of a dict too; nothing for what is none."""
    if isinstance(value, _KINDS):
        given: Any = value
        if type(given) in _KINDS:
            held: Collection[Any] = given
            return held
        of: Any = next(kind for kind in _KINDS if isinstance(given, kind))
        return tuple(of.__iter__(given))  # whatever a subclass tells
    if isinstance(value, dict):
        return (*dict.keys(value), *dict.values(value))
    if isinstance(value, Fields):
        return value.__dict__.values()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    return ()


# --- the entities among them ------------------------------------------------------------------------------------------

# Whatever has a ``destroyed`` signal is one, also inside containers, dataclasses and records as they are when thinking
# begins, down to ``_DEEPEST``; what lies inside an entity is its own affair. Beyond ``_MOST`` values nothing is looked
# for: a container of thousands is a map or a path, and nobody should pay for it with each thought. They are counted for
# each argument and by whole levels, so that the order of a set decides nothing.

_PLAIN: Final[set[type]] = set(PLAIN)  # and what ``hold_no_entities`` was told
_FLAT: Final = frozenset({frozenset, list, set, tuple})  # containers of values without keys
_DEEPEST: Final = 8  # lists within lists
_MOST: Final = 10_000  # values that are looked at in one argument
_LONGEST: Final = 100  # characters of an entity's name


def hold_no_entities(kind: type) -> None:
    """Values of a type of the library's own, given as an argument, need not be looked into for entities."""
    _PLAIN.add(kind)


def entities_of(args: Any) -> list[Any] | None:
    """The entities among the arguments of an activity; None if there are none.

    A dict is taken, too: that of the record, or what nobody checked because nobody performs the activity.
    """
    found: list[Any] | None = None
    for value in (args if args.__class__ is dict else args.__dict__).values():
        if type(value) in _PLAIN:
            continue
        entities = entities_in(value)
        if entities:
            found = [*entities] if found is None else [*found, *entities]
    return found


def entities_in(value: object) -> Collection[Any]:
    """The entities that a value is or holds, each once."""
    if destroyed_signal(value) is not None:
        return (value,)
    found: list[Any] = []
    seen: dict[int, object] = {id(value): value}
    level, left = _inside(value), _MOST
    for _ in range(_DEEPEST):
        left -= len(level)
        if left < 0 or _PLAIN.issuperset(map(type, level)):
            break
        deeper: list[Any] = []
        for one in level:
            kind = type(one)
            if kind in _PLAIN or id(one) in seen:
                continue
            seen[id(one)] = one
            if kind in _FLAT and len(one) <= _MOST and _PLAIN.issuperset(map(type, one)):
                left -= len(one)  # the cells of a path, say: there is nothing to be found, though it counts
            elif destroyed_signal(one) is not None:
                found.append(one)
            else:
                deeper.extend(_inside(one))
        level = deeper
    return found


def _inside(value: Any) -> Collection[Any]:
    try:
        if (type(value) in _FLAT or type(value) is dict) and len(value) > _MOST:
            return ()
        return inner_values(value)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # an author's own, that cannot be looked into: nobody can protect what is in there
        return ()


def first_gone(entities: Iterable[Any]) -> Any:
    """The first by its name of those that were destroyed, in whichever order they come; None while all are there."""
    gone = [one for one in entities if is_gone(one)]
    return min(gone, key=name_of) if gone else None


def name_of(entity: object) -> str:
    try:
        name = getattr(entity, "name", entity)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # a property of the author's that does not work for this one
        name = entity
    return words_of(name, _LONGEST)
