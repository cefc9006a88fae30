"""The steps of a compound action, and the placeholders by which they refer to what is known only when it thinks.

A step is an activity and its arguments, each a value or a *placeholder*: ``ENTITY``, ``ARGS.field``, ``PREV.field``,
``BACK(n).field``, ``OUT["name"].field``, ``CURRENT.field``, ``CALL(fn, ...)``, ``NOT(...)``; attributes, items and
method calls on any of them; any of them inside lists, tuples, the values of dicts, dataclasses and records. In a set or
as the key of a dict there can be none: what it will be equal to is not known. A placeholder has a hash all the same, so
that the compound in which that is written can say where.

A placeholder is an expression tree. When the compound is defined it is compiled into a function of one argument, the
*scope* of a thinking compound (``Scope``), so that binding a step is a few calls. What cannot resolve is an error at
that moment: too far back, an unknown step name, an argument that the compound does not declare. Whether a step's output
has a field is checked when the agent learns the actions that perform it (``Compiler.uses``), also where it is read
inside ``CALL`` or ``NOT``. A new kind of placeholder is a class here, a line in ``Compiler._placeholder``, and a name
on the façade.

Element 0 of the results is the compound's own think output: ``BACK(k)`` in step *k* reaches it.

What each step depends on is known then, too (``CompiledStep.reads``): the earlier steps, element 0 among them, whose
outputs its arguments come from, directly or through the arguments of a step between. When a step rejects its arguments,
nobody else can have chosen them; the planner asks nobody else for others (``plan.compound``).

Source: Stonehearth, AI: "Step declarations"; `reject`.
"""

from __future__ import annotations

import dataclasses
import dis
import inspect
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from agentrt.activity.author.arguments import Fields, inner_values
from agentrt.errors import DefinitionError, InternalError, PlaceholderError, did_you_mean
from agentrt.words import repr_of

__all__ = [
    "ACTIVITY",
    "ARGS",
    "ARGUMENTS",
    "BACK",
    "CALL",
    "CURRENT",
    "ENTITY",
    "NOT",
    "OUT",
    "PREV",
    "CompiledStep",
    "Output",
    "Resolver",
    "Step",
    "check_seconds",
    "compile_steps",
    "has_placeholder",
]

_LOOKUPS: Final = frozenset({"CONTAINS_OP", "BINARY_SUBSCR", "BINARY_OP"})  # the last one from Python 3.14 on


class Placeholder:
    """A value that is known only when a compound thinks. Attributes, items and calls of it are placeholders too."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Placeholder:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Attribute(self, name)

    def __getitem__(self, key: object) -> Placeholder:
        return _Item(self, key)

    def __call__(self, *args: object, **kwargs: object) -> Placeholder:
        """A method call, made when it is known."""
        return _Invoke(self, args, kwargs)

    def _too_early(self, verb: str, remedy: str = "Use CALL(fn, ...).") -> TypeError:
        return TypeError(f"{self!r} is known only when the action thinks, so it cannot be {verb} here. {remedy}")

    def __bool__(self) -> bool:
        raise self._too_early("tested", "Use NOT(...) or CALL(fn, ...).")

    def __iter__(self) -> Any:
        raise self._too_early("iterated")

    def __eq__(self, other: object) -> bool:  # ``!=`` asks it, too
        raise self._too_early("compared")

    def __hash__(self) -> int:
        # To be found in a set by the compound. But ``PREV.kind in KINDS`` and ``TABLE[PREV.kind]`` ask for it as well,
        # and would be told that it is not there, which is no answer. What is asked stands in the caller's bytecode.
        caller = sys._getframe(1)
        if dis.opname[caller.f_code.co_code[caller.f_lasti]] in _LOOKUPS:
            raise self._too_early("looked up")
        return object.__hash__(self)

    def __format__(self, spec: str) -> str:
        raise self._too_early("put into a text")


class _Attribute(Placeholder):
    __slots__ = ("_base", "_name")

    def __init__(self, base: Placeholder, name: str) -> None:
        self._base = base
        self._name = name

    def __repr__(self) -> str:
        return f"{self._base!r}.{self._name}"


class _Item(Placeholder):
    __slots__ = ("_base", "_key")

    def __init__(self, base: Placeholder, key: object) -> None:
        self._base = base
        self._key = key

    def __repr__(self) -> str:
        return f"{self._base!r}[{self._key!r}]"


class _Invoke(Placeholder):
    __slots__ = ("_args", "_base", "_kwargs")

    def __init__(self, base: Placeholder, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        self._base = base
        self._args = args
        self._kwargs = kwargs

    def __repr__(self) -> str:
        return f"{self._base!r}({', '.join(_written(self._args, self._kwargs))})"


def _written(args: tuple[object, ...], kwargs: Mapping[str, object]) -> list[str]:
    """The arguments of a call, as they are written."""
    return [*map(repr, args), *(f"{key}={value!r}" for key, value in kwargs.items())]


class _Given(Placeholder):
    """What is there without a step: the entity, the arguments, the expected state."""

    __slots__ = ("_word",)

    def __init__(self, word: str) -> None:
        self._word = word

    def __repr__(self) -> str:
        return self._word


class _Back(Placeholder):
    __slots__ = ("_steps",)

    def __init__(self, steps: int) -> None:
        self._steps = steps

    def __repr__(self) -> str:
        return "PREV" if self._steps == 1 else f"BACK({self._steps})"


class _Named(Placeholder):
    __slots__ = ("_step",)

    def __init__(self, step: str) -> None:
        self._step = step

    def __repr__(self) -> str:
        return f"OUT[{self._step!r}]"


class _Call(Placeholder):
    __slots__ = ("_args", "_fn", "_kwargs")

    def __init__(self, fn: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        self._fn = fn
        self._args = args
        self._kwargs = kwargs

    def __repr__(self) -> str:
        name = getattr(self._fn, "__qualname__", repr(self._fn))
        return f"CALL({', '.join([name, *_written(self._args, self._kwargs)])})"


class _Not(Placeholder):
    __slots__ = ("_inner",)

    def __init__(self, inner: object) -> None:
        self._inner = inner

    def __repr__(self) -> str:
        return f"NOT({self._inner!r})"


class _Outputs:
    """``OUT["name"]``: the think output of the step with that name."""

    __slots__ = ()

    def __getitem__(self, step: str) -> Placeholder:
        return _Named(step)

    def __repr__(self) -> str:
        return "OUT"


ENTITY: Any = _Given("ENTITY")
"""The entity that runs the action."""

ARGS: Any = _Given("ARGS")
"""The arguments of the compound action: ``ARGS.field``."""

CURRENT: Any = _Given("CURRENT")
"""The expected state of the entity at that step: ``CURRENT.location``."""

PREV: Any = _Back(1)
"""The think output of the step before: ``PREV.field``."""

OUT = _Outputs()
"""The think output of a step that was given a name: ``OUT["name"].field``."""


def BACK(steps: int) -> Any:  # noqa: N802 - the source's name for it
    """The think output of an earlier step.

    Args:
        steps: how many steps back; 1 is the step before.

    Raises:
        ValueError: it is not a whole number of at least 1.
    """
    given: object = steps
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise ValueError(f"BACK({steps!r}): it takes a whole number of steps, from 1")
    return _Back(steps)


def CALL(fn: Callable[..., Any], /, *args: object, **kwargs: object) -> Any:  # noqa: N802 - the source's name for it
    """The result of a function, called when the step is bound.

    Args:
        fn: a plain function.
        args: placeholders or values.
        kwargs: placeholders or values, by keyword.

    Raises:
        TypeError: it is not a plain function.
    """
    given: object = fn
    if isinstance(given, Placeholder) or not callable(given) or inspect.iscoroutinefunction(fn):
        raise TypeError(f"CALL({fn!r}): it takes a plain function and its arguments: CALL(fn, PREV.x)")
    return _Call(fn, args, kwargs)


def NOT(inner: object) -> Any:  # noqa: N802 - the source's name for it
    """The opposite of a placeholder."""
    return _Not(inner)


def has_placeholder(value: object) -> bool:
    """Whether a value is a placeholder, or something with one in it: a list, tuple, dict, set, dataclass or record."""
    left: list[object] = [value]
    seen: dict[int, object] = {}  # what lies in a cycle is looked at once
    while left:
        one = left.pop()
        if isinstance(one, Placeholder):
            return True
        if id(one) not in seen:
            seen[id(one)] = one
            left.extend(inner_values(one))
    return False


ARGUMENTS: Final = -1  # stands for the compound's own arguments among the elements that are read


class Scope(Protocol):
    """What placeholders are resolved against: a compound that thinks, at its place, with the results so far."""

    frame: Any
    results: list[Any]

    def current_here(self) -> Any:
        """The expected state of the entity at the step being bound."""


Resolver = Callable[[Scope], Any]

_DEEPEST: Final = 50  # lists within lists; what lies deeper lies in itself


class Compiler:
    """Turns placeholders of one compound action into functions."""

    def __init__(self, subject: str, names: Mapping[str, int], args: Sequence[str]) -> None:
        self.subject = subject
        self.names = names  # of steps, to their numbers, from 1
        self.args = args  # the fields that the compound declares
        # for each step number that is referred to, the output fields that are read, in order; "" for the whole
        self.uses: dict[int, list[str]] = {}
        # the elements that were read since somebody cleared it, and ``ARGUMENTS`` for the compound's arguments
        self.reads: set[int] = set()
        self._step = 0  # where a placeholder stands; the output stands behind the last step
        self._place = 0  # what errors call that place
        self._field = ""
        self._depth = 0  # how many containers a placeholder lies in

    def compile(self, step: int, field: str, value: object, place: int) -> tuple[Resolver | None, object]:
        """Compile one argument of a step: a function of a scope and None, or None and the constant value."""
        self._step, self._field, self._place = step, field, place
        return (self._resolver(value), None) if has_placeholder(value) else (None, value)

    def _fail(self, problem: str, remedy: str) -> PlaceholderError:
        return PlaceholderError(self.subject, self._place, self._field, problem, remedy)

    def _element(self, number: int, field: str = "") -> None:
        self.reads.add(number)
        used = self.uses.setdefault(number, [])
        if field not in used:
            used.append(field)

    def _resolver(self, value: object) -> Resolver:
        if isinstance(value, Placeholder):
            return self._placeholder(value)
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._fail("a placeholder lies in something that contains itself.", "Write it without the circle.")
        try:
            return self._container(value)
        finally:
            self._depth -= 1

    def _container(self, value: Any) -> Resolver:
        if isinstance(value, dict):
            for key in value:
                self._refuse(key, f"is, or is in, the key {key!r} of a dict", "Write CALL(dict, [(key, value), ...]).")
            pairs = [(key, self._resolver(item)) for key, item in value.items()]
            return lambda scope: {key: resolve(scope) for key, resolve in pairs}
        if isinstance(value, (list, tuple)):
            parts = [self._resolver(item) for item in value]
            kind = getattr(type(value), "_make", type(value))  # a named tuple does not take a list
            return lambda scope: kind([resolve(scope) for resolve in parts])
        if isinstance(value, (set, frozenset)):
            kind = type(value)
            for one in value:
                self._refuse(one, f"is in a {kind.__name__}", f"Write CALL({kind.__name__}, [...]), or a list.")
        elif isinstance(value, Fields):
            fields = [(name, self._resolver(inner)) for name, inner in value.__dict__.items()]
            return lambda scope: type(value).open({name: resolve(scope) for name, resolve in fields})
        elif dataclasses.is_dataclass(value) and has_placeholder(value):
            return self._dataclass(value)
        return lambda scope: value

    def _refuse(self, value: object, where: str, remedy: str) -> None:
        """What is hashed has to be known."""
        if has_placeholder(value):
            raise self._fail(f"a placeholder {where}, and what it will be equal to is not known yet.", remedy)

    def _dataclass(self, value: Any) -> Resolver:
        """A copy with what its fields will be, those too that its ``__init__`` does not take.

        ``__init__`` and ``__post_init__`` are not called again: they may have taken what is not kept (``InitVar``).
        """
        kind = type(value)
        names = [field.name for field in dataclasses.fields(value) if hasattr(value, field.name)]
        kept = [(name, getattr(value, name)) for name in names]
        fields = [(name, inner, self._resolver(inner) if has_placeholder(inner) else None) for name, inner in kept]
        put = object.__setattr__  # a frozen one has another

        def resolve(scope: Scope) -> Any:
            made = object.__new__(kind)
            if hasattr(value, "__dict__"):
                made.__dict__.update(value.__dict__)
            for name, inner, resolver in fields:
                put(made, name, inner if resolver is None else resolver(scope))
            return made

        return resolve

    def _placeholder(self, value: Placeholder) -> Resolver:
        if isinstance(value, _Attribute):
            return self._attribute(value)
        if isinstance(value, _Item):
            base, key = self._resolver(value._base), self._resolver(value._key)
            return lambda scope: base(scope)[key(scope)]
        if isinstance(value, _Invoke):
            base = self._resolver(value._base)
            parts = [self._resolver(arg) for arg in value._args]
            named = [(name, self._resolver(arg)) for name, arg in value._kwargs.items()]
            return lambda scope: base(scope)(
                *[part(scope) for part in parts], **{name: part(scope) for name, part in named}
            )
        if isinstance(value, _Call):
            fn, args = value._fn, [self._resolver(arg) for arg in value._args]
            if not value._kwargs:
                return lambda scope: fn(*[arg(scope) for arg in args])
            more = [(name, self._resolver(arg)) for name, arg in value._kwargs.items()]
            return lambda scope: fn(*[arg(scope) for arg in args], **{name: arg(scope) for name, arg in more})
        if isinstance(value, _Not):
            inner = self._resolver(value._inner)
            return lambda scope: not inner(scope)
        if isinstance(value, (_Back, _Named)):
            number = self._number(value)
            self._element(number)
            return lambda scope: scope.results[number]
        return self._given(value)

    def _given(self, value: Placeholder) -> Resolver:
        if value is ENTITY:
            return lambda scope: scope.frame.planner.entity
        if value is ARGS:
            self.reads.add(ARGUMENTS)
            return lambda scope: scope.frame.args
        if value is not CURRENT:
            raise InternalError(f"nothing says how the placeholder {repr_of(value)} is resolved.")
        self.reads.update(range(self._step))  # whoever came before may have changed it
        return lambda scope: scope.current_here()

    def _attribute(self, value: _Attribute) -> Resolver:
        base, name = value._base, value._name
        if isinstance(base, (_Back, _Named)):
            number = self._number(base)
            self._element(number, name)
            return lambda scope: getattr(scope.results[number], name)
        if base is ARGS:
            if name not in self.args:
                raise self._fail(
                    f"{repr_of(value)} is not an argument of this action.{did_you_mean(name, self.args)}",
                    f"Declare it in Args; declared: {', '.join(self.args) or 'none'}.",
                )
            self.reads.add(ARGUMENTS)
            return lambda scope: getattr(scope.frame.args, name)
        inner = self._resolver(base)
        return lambda scope: getattr(inner(scope), name)

    def _number(self, value: _Back | _Named) -> int:
        if isinstance(value, _Named):
            number = self.names.get(value._step)
            if number is None:
                raise self._fail(
                    f"{repr_of(value)} names no step.{did_you_mean(str(value._step), self.names)}",
                    f"Give the step a name: step(..., name={value._step!r}).",
                )
            if number >= self._step:
                raise self._fail(
                    f"{repr_of(value)} is step {number}, which has not thought yet.", "Refer only to earlier steps."
                )
            return number
        number = self._step - value._steps
        if number < 0:
            raise self._fail(
                f"{repr_of(value)} reaches {-number} before the beginning.",
                f"BACK({self._step}) is this action's own think output; nothing lies before it.",
            )
        return number


ACTIVITY = re.compile(r"[^\s/]+")  # what the name of an activity is made of: paths join them by slashes
_LONGEST = 1e9  # game seconds; more is a mistake


def check_seconds(subject: str, what: str, value: object) -> float | None:
    """Check a declared time limit: game seconds, or None for no limit."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < _LONGEST:
        raise DefinitionError(
            subject, f"{what} is {value!r}.", "Write a number of game seconds above 0, or None for no limit."
        )
    return float(value)


class Step:
    """One step of a compound action. Made by ``step``."""

    __slots__ = ("activity", "args", "name", "think_timeout")

    def __init__(
        self, activity: str, args: Mapping[str, object], name: str | None, think_timeout: float | None = None
    ) -> None:
        self.activity: str = activity
        self.args: dict[str, object] = dict(args)
        self.name: str | None = name
        self.think_timeout: float | None = think_timeout

    def __repr__(self) -> str:
        return f"step({', '.join(_written((self.activity,), self.args))})"


class Output:
    """The declared think output of a compound action. Made by ``output``."""

    __slots__ = ("fields",)

    def __init__(self, fields: Mapping[str, object]) -> None:
        self.fields: dict[str, object] = dict(fields)


class CompiledStep:
    """A step with its placeholders compiled."""

    __slots__ = ("activity", "bound", "constants", "is_used", "label", "reads", "think_timeout")

    def __init__(
        self, activity: str, label: str, constants: dict[str, object], bound: tuple[tuple[str, Resolver], ...]
    ) -> None:
        self.activity: str = activity  # what it performs
        self.label: str = label  # what paths call it: the activity; with its number, if one before performs the same
        self.constants: dict[str, object] = constants  # arguments that never change
        self.bound: tuple[tuple[str, Resolver], ...] = bound  # arguments with the functions that resolve them
        self.is_used: bool = False  # whether a later step, or the compound's output, reads its think output
        # the elements that its arguments come from, the nearest first: numbers of earlier steps, 0 for the own thinking
        # of the compound, and ``ARGUMENTS`` last
        self.reads: tuple[int, ...] = ()
        self.think_timeout: float | None = None  # in how many game seconds it has to be ready; None for no limit

    def bind(self, scope: Scope) -> dict[str, object]:
        """The arguments of the step."""
        values = self.constants.copy()
        for field, resolve in self.bound:
            values[field] = resolve(scope)
        return values


class CompiledSteps(NamedTuple):
    """All steps of a compound action, and its output."""

    steps: tuple[CompiledStep, ...]
    output: tuple[tuple[str, Resolver | None, object], ...] | None  # the fields of the declared output, if there is one
    output_reads: tuple[int, ...]  # the elements that the output comes from, the nearest first
    uses: dict[int, list[str]]  # which output fields of which step are read


def compile_steps(subject: str, steps: object, output: object, arguments: Collection[str]) -> CompiledSteps:
    """Check and compile what a compound action declares as its steps and its output.

    Args:
        subject: its module and name, for errors.
        arguments: the names of its arguments.
    """
    declared_steps = _check_steps(subject, steps)
    names = _names_of(subject, declared_steps)
    if output is not None and not isinstance(output, Output):
        raise DefinitionError(subject, f"output is {output!r}.", "Write output = output(field=...).")
    compiler = Compiler(subject, names, tuple(arguments))
    compiled: list[CompiledStep] = []
    for number, declared in enumerate(declared_steps, 1):
        compiler.reads.clear()
        constants: dict[str, object] = {}
        bound: list[tuple[str, Resolver]] = []
        for field, value in declared.args.items():
            resolver, constant = compiler.compile(number, field, value, number)
            if resolver is None:
                constants[field] = constant
            else:
                bound.append((field, resolver))
        is_first = all(declared.activity != other.activity for other in compiled)
        label = declared.activity if is_first else f"{declared.activity}#{number}"
        made = CompiledStep(declared.activity, label, constants, tuple(bound))
        made.reads = _all_reads(compiler.reads, compiled)
        made.think_timeout = check_seconds(subject, f"think_timeout of step {number}", declared.think_timeout)
        compiled.append(made)
    fields = None
    compiler.reads.clear()
    if output is not None:
        behind = len(compiled) + 1
        fields = tuple((field, *compiler.compile(behind, field, value, 0)) for field, value in output.fields.items())
    for number in compiler.uses:
        if number:
            compiled[number - 1].is_used = True
    return CompiledSteps(tuple(compiled), fields, _all_reads(compiler.reads, compiled), compiler.uses)


def _all_reads(read: set[int], before: list[CompiledStep]) -> tuple[int, ...]:
    """What is read, and what that was made of. The compound's own thinking is made of its arguments."""
    reads = set(read)
    for number in read:
        reads.update(before[number - 1].reads if number > 0 else (ARGUMENTS,))
    return tuple(sorted(reads, reverse=True))


def _check_steps(subject: str, steps: object) -> Sequence[Step]:
    remedy = "Give it a list: steps = [step('activity'), ...]."
    if not isinstance(steps, (list, tuple)):
        raise DefinitionError(subject, f"steps is {steps!r}.", remedy)
    if not steps:
        raise DefinitionError(subject, "it has no steps.", remedy)
    return steps


def _names_of(subject: str, steps: Sequence[Step]) -> dict[str, int]:
    """Check each step; the numbers of those that have a name."""
    names: dict[str, int] = {}
    for number, declared in enumerate(steps, 1):
        if not isinstance(declared, Step):
            raise DefinitionError(subject, f"step {number} is {declared!r}.", "Write step('activity', ...).")
        activity: object = declared.activity
        if not isinstance(activity, str) or not ACTIVITY.fullmatch(activity):
            raise DefinitionError(
                subject,
                f"step {number} performs {declared.activity!r}.",
                "Write an activity such as 'demo:paint'.",
            )
        if declared.name is not None and names.setdefault(declared.name, number) != number:
            raise DefinitionError(subject, f"two steps are named {declared.name!r}.", "Rename one.")
    return names
