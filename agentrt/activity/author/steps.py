"""The steps of a compound action, and the placeholders by which they refer to what is known only when it thinks.

A step is an activity and its arguments, each a value or a *placeholder*: ``ENTITY``, ``ARGS.field``, ``PREV.field``,
``BACK(n).field``, ``OUT["name"].field``, ``CURRENT.field``, ``CALL(fn, ...)``, ``NOT(...)``; attributes, items and
method calls on any of them; any of them inside lists, tuples, the values of dicts, dataclasses and records. In a set or
as the key of a dict there can be none: what it will be equal to is not known. A placeholder has a hash all the same, so
that the compound in which that is written can say where.

A placeholder knows how it is written and how it is compiled. When the compound is defined it is compiled into a
function of one argument, the *scope* of a thinking compound (``Scope``), so that binding a step is a few calls. What
cannot resolve is an error at that moment: too far back, an unknown step name, an argument that the compound does not
declare. Whether a step's output has a field is checked when the agent learns the actions that perform it
(``Compiler.uses``), also where it is read inside ``CALL`` or ``NOT``. A new kind of placeholder is a function here, and
a name on the façade.

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
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar, overload

from agentrt.activity.author.arguments import ACTIVITY, Fields, inner_values
from agentrt.errors import DefinitionError, PlaceholderError, did_you_mean
from agentrt.words import repr_of

A = TypeVar("A", bound=Fields)

_LOOKUPS: Final = frozenset({"CONTAINS_OP", "BINARY_SUBSCR", "BINARY_OP"})  # the last one from Python 3.14 on


class Placeholder:
    """A value that is known only when a compound thinks. Attributes, items and calls of it are placeholders too.

    So all that it has of its own begins with an underscore: any other name is a field of what it stands for.
    """

    __slots__ = ("_compile", "_words")

    def __init__(self, written: Callable[[], str], compiled: Callable[[Compiler], Resolver]) -> None:
        self._words = written  # as its author wrote it
        self._compile = compiled

    def _compile_field(self, compiler: Compiler, name: str) -> Resolver:
        return compiler.field_of(self._compile(compiler), name)

    def __getattr__(self, name: str) -> Placeholder:
        if name.startswith("__"):
            raise AttributeError(name)
        return Placeholder(lambda: f"{self!r}.{name}", lambda compiler: self._compile_field(compiler, name))

    def _field_at(self, name: str, key: object) -> Placeholder:
        """A field that is written as an item, as records can be read: so that it is checked like one."""
        return Placeholder(lambda: f"{self!r}[{key!r}]", lambda compiler: self._compile_field(compiler, name))

    def __getitem__(self, key: object) -> Placeholder:
        if isinstance(key, str) and isinstance(self, (_Result, Arguments)):
            return self._field_at(key, key)

        def compiled(compiler: Compiler) -> Resolver:
            base, at = self._compile(compiler), compiler.resolver(key)
            return lambda scope: base(scope)[at(scope)]

        return Placeholder(lambda: f"{self!r}[{key!r}]", compiled)

    def __call__(self, *args: object, **kwargs: object) -> Placeholder:
        """A method call, made when it is known."""
        return _call(lambda: f"{self!r}({', '.join(_written(args, kwargs))})", self._compile, args, kwargs)

    def __repr__(self) -> str:
        return self._words()

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

    def __str__(self) -> str:  # to look at one, ``repr`` shows it
        raise self._too_early("put into a text")


def _computed(self: Placeholder, _other: object = None) -> Any:
    raise self._too_early("computed with", f"Write CALL(function, {self!r}).")


for _operator in (
    "abs", "add", "and", "floordiv", "ge", "gt", "invert", "le", "lt", "mod", "mul", "neg", "or", "pow", "radd", "rand",
    "rfloordiv", "rmod", "rmul", "ror", "rpow", "rsub", "rtruediv", "sub", "truediv",
):  # fmt: skip
    setattr(Placeholder, f"__{_operator}__", _computed)  # in a loop: to a type checker it is Any, which has them all


def _written(args: tuple[object, ...], kwargs: Mapping[str, object]) -> list[str]:
    """The arguments of a call, as they are written."""
    return [*map(repr, args), *(f"{key}={value!r}" for key, value in kwargs.items())]


def _call(
    written: Callable[[], str],
    called: Callable[[Compiler], Resolver],
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> Placeholder:
    def compiled(compiler: Compiler) -> Resolver:
        fn = called(compiler)
        parts = [compiler.resolver(arg) for arg in args]
        named = [(name, compiler.resolver(arg)) for name, arg in kwargs.items()]
        return lambda scope: fn(scope)(*[part(scope) for part in parts], **{name: part(scope) for name, part in named})

    return Placeholder(written, compiled)


class _Result(Placeholder):
    """The think output of an earlier step; ``number`` finds out of which one."""

    __slots__ = ("_number",)

    def __init__(self, written: Callable[[], str], number: Callable[[Compiler, _Result], int]) -> None:
        self._number = number
        super().__init__(written, self._whole)

    def _whole(self, compiler: Compiler) -> Resolver:
        number = self._number(compiler, self)
        compiler.use(number)
        return compiler.written(f"scope.results[{number}]")

    def _compile_field(self, compiler: Compiler, name: str) -> Resolver:
        number = self._number(compiler, self)
        compiler.use(number, name)
        return compiler.written_field(f"scope.results[{number}]", name)


class Arguments(Placeholder):
    """The arguments of the compound; ``ARGS[Args]`` says, too, of which class they are."""

    __slots__ = ("_kind",)

    def __init__(self, kind: type[Fields] | None = None) -> None:
        self._kind = kind
        super().__init__(lambda: "ARGS" if kind is None else f"ARGS[{kind.__qualname__}]", self._whole)

    def _check_kind(self, compiler: Compiler) -> None:
        if self._kind is not None and not issubclass(compiler.kind, self._kind):
            raise compiler.fail(
                f"{self!r} are not the arguments of this action.", f"Write ARGS[{compiler.kind.__qualname__}]."
            )
        compiler.reads.add(ARGUMENTS)

    def _whole(self, compiler: Compiler) -> Resolver:
        self._check_kind(compiler)
        return compiler.written("scope.frame.args")

    def _compile_field(self, compiler: Compiler, name: str) -> Resolver:
        self._check_kind(compiler)
        declared = compiler.kind.field_names()
        if name not in declared:
            raise compiler.fail(
                f"{self!r}.{name} is not an argument of this action.{did_you_mean(name, declared)}",
                f"Declare it in Args; declared: {', '.join(declared) or 'none'}.",
            )
        return compiler.written_field("scope.frame.args", name)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

        @overload
        def __getitem__(self, key: type[A]) -> A: ...
        @overload
        def __getitem__(self, key: object) -> Any: ...
        def __getitem__(self, key: object) -> Any: ...

    else:

        def __getitem__(self, key: object) -> Placeholder:
            if isinstance(key, type) and issubclass(key, Fields):
                return Arguments(key)
            return self._field_at(key.__qualname__, key) if isinstance(key, type) else super().__getitem__(key)


class _Outputs:
    """``OUT["name"]``: the think output of the step with that name."""

    __slots__ = ()

    def __getitem__(self, step: str) -> Any:
        return _Result(lambda: f"OUT[{step!r}]", lambda compiler, written: compiler.step_named(step, written))

    def __repr__(self) -> str:
        return "OUT"


ARGUMENTS: Final = -1  # stands for the compound's own arguments among the elements that are read


def _entity(compiler: Compiler) -> Resolver:
    return compiler.written("scope.frame.planner.entity")


def _current(compiler: Compiler) -> Resolver:
    compiler.reads.update(range(compiler.step))  # whoever came before may have changed it
    return lambda scope: scope.current_here()


def _back(steps: int) -> Placeholder:
    word = "PREV" if steps == 1 else f"BACK({steps})"
    return _Result(lambda: word, lambda compiler, written: compiler.step_before(steps, written))


ENTITY: Any = Placeholder(lambda: "ENTITY", _entity)
"""The entity that runs the action."""

ARGS = Arguments()
"""The arguments of the compound action: ``ARGS.field``; ``ARGS[Args].field`` for a type checker that knows its type."""

CURRENT: Any = Placeholder(lambda: "CURRENT", _current)
"""The expected state of the entity at that step: ``CURRENT.location``."""

PREV: Any = _back(1)
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
    return _back(steps)


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

    def written() -> str:
        return f"CALL({', '.join([getattr(fn, '__qualname__', repr(fn)), *_written(args, kwargs)])})"

    return _call(written, lambda _compiler: lambda _scope: fn, args, kwargs)


def NOT(inner: object) -> Any:  # noqa: N802 - the source's name for it
    """The opposite of a placeholder."""

    def compiled(compiler: Compiler) -> Resolver:
        resolve = compiler.resolver(inner)
        return lambda scope: not resolve(scope)

    return Placeholder(lambda: f"NOT({inner!r})", compiled)


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


class Scope(Protocol):
    """What placeholders are resolved against: a compound that thinks, at its place, with the results so far."""

    frame: Any
    results: list[Any]

    def current_here(self) -> Any:
        """The expected state of the entity at the step being bound."""


Resolver = Callable[[Scope], Any]
Binder = Callable[[Scope], dict[str, object]]

_DEEPEST: Final = 50  # lists within lists; what lies deeper lies in itself


class Compiler:
    """Turns placeholders of one compound action into functions."""

    def __init__(self, subject: str, names: Mapping[str, int], kind: type[Fields]) -> None:
        self.subject = subject
        self.names = names  # of steps, to their numbers, from 1
        self.kind = kind  # of the compound's arguments
        # for each step number that is referred to, the output fields that are read, in order; "" for the whole
        self.uses: dict[int, list[str]] = {}
        # the elements that were read since somebody cleared it, and ``ARGUMENTS`` for the compound's arguments
        self.reads: set[int] = set()
        self.step: int = 0  # where a placeholder stands; the output stands behind the last step
        self._place = 0  # what errors call that place
        self._field = ""
        self._depth = 0  # how many containers a placeholder lies in
        self._sources: dict[Resolver, str] = {}  # of those functions that are one expression

    def written(self, source: str) -> Resolver:
        """The function that an expression is, of our own making: it quotes nothing but numbers and identifiers."""
        made: Resolver = eval(f"lambda scope: {source}")  # noqa: S307
        self._sources[made] = source
        return made

    def field_of(self, inner: Resolver, name: str) -> Resolver:
        """The function that reads a field of what another one gives."""
        source = self._sources.get(inner)
        return (lambda scope: getattr(inner(scope), name)) if source is None else self.written_field(source, name)

    def written_field(self, source: str, name: str) -> Resolver:
        """The function that reads a field of what an expression gives; it alone is made, and not that of the whole."""
        if name.isidentifier() and not iskeyword(name):
            return self.written(f"{source}.{name}")
        whole = self.written(source)
        return lambda scope: getattr(whole(scope), name)

    def binder(self, constants: Mapping[str, object], bound: Iterable[tuple[str, Resolver]]) -> Binder:
        """Generate what makes the arguments of a step. A loop over those that are bound takes twice as long."""
        names: dict[str, Any] = {}
        values: list[str] = []
        for number, (field, value) in enumerate(constants.items()):
            names[f"value{number}"] = value
            values.append(f"{field!r}: value{number}")
        for number, (field, resolve) in enumerate(bound):
            source = self._sources.get(resolve)
            if source is None:
                names[f"resolve{number}"] = resolve
                source = f"resolve{number}(scope)"
            values.append(f"{field!r}: {source}")
        made: Binder = eval(f"lambda scope: {{{', '.join(values)}}}", names)  # noqa: S307 - as above
        return made

    def compile(self, step: int, field: str, value: object, place: int) -> tuple[Resolver | None, object]:
        """Compile one argument of a step: a function of a scope and None, or None and the constant value."""
        self.step, self._field, self._place = step, field, place
        return (self.resolver(value), None) if has_placeholder(value) else (None, value)

    def fail(self, problem: str, remedy: str) -> PlaceholderError:
        return PlaceholderError(self.subject, self._place, self._field, problem, remedy)

    def use(self, number: int, field: str = "") -> None:
        """Note that the output of a step is read, or a field of it."""
        self.reads.add(number)
        used = self.uses.setdefault(number, [])
        if field not in used:
            used.append(field)

    def resolver(self, value: object) -> Resolver:
        """The function that a value becomes, with the placeholders in it."""
        if isinstance(value, Placeholder):
            return value._compile(self)
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self.fail("a placeholder lies in something that contains itself.", "Write it without the circle.")
        try:
            return self._container(value)
        finally:
            self._depth -= 1

    def _container(self, value: Any) -> Resolver:
        if isinstance(value, dict):
            for key in value:
                self._refuse(key, f"is, or is in, the key {key!r} of a dict", "Write CALL(dict, [(key, value), ...]).")
            pairs = [(key, self.resolver(item)) for key, item in value.items()]
            return lambda scope: {key: resolve(scope) for key, resolve in pairs}
        if isinstance(value, (list, tuple)):
            parts = [self.resolver(item) for item in value]
            kind = getattr(type(value), "_make", type(value))  # a named tuple does not take a list
            return lambda scope: kind([resolve(scope) for resolve in parts])
        if isinstance(value, (set, frozenset)):
            kind = type(value)
            for one in value:
                self._refuse(one, f"is in a {kind.__name__}", f"Write CALL({kind.__name__}, [...]), or a list.")
        elif isinstance(value, Fields):
            fields = [(name, self.resolver(inner)) for name, inner in value.__dict__.items()]
            return lambda scope: type(value).open({name: resolve(scope) for name, resolve in fields})
        elif dataclasses.is_dataclass(value) and has_placeholder(value):
            return self._dataclass(value)
        return lambda scope: value

    def _refuse(self, value: object, where: str, remedy: str) -> None:
        """What is hashed has to be known."""
        if has_placeholder(value):
            raise self.fail(f"a placeholder {where}, and what it will be equal to is not known yet.", remedy)

    def _dataclass(self, value: Any) -> Resolver:
        """A copy with what its fields will be, those too that its ``__init__`` does not take.

        ``__init__`` and ``__post_init__`` are not called again: they may have taken what is not kept (``InitVar``).
        """
        kind = type(value)
        names = [field.name for field in dataclasses.fields(value) if hasattr(value, field.name)]
        kept = [(name, getattr(value, name)) for name in names]
        fields = [(name, inner, self.resolver(inner) if has_placeholder(inner) else None) for name, inner in kept]
        put = object.__setattr__  # a frozen one has another

        def resolve(scope: Scope) -> Any:
            made = object.__new__(kind)
            if hasattr(value, "__dict__"):
                made.__dict__.update(value.__dict__)
            for name, inner, resolver in fields:
                put(made, name, inner if resolver is None else resolver(scope))
            return made

        return resolve

    def step_named(self, name: str, written: Placeholder) -> int:
        """The number of the step that has a name."""
        number = self.names.get(name)
        if number is None:
            raise self.fail(
                f"{repr_of(written)} names no step.{did_you_mean(str(name), self.names)}",
                f"Give the step a name: step(..., name={name!r}).",
            )
        if number >= self.step:
            raise self.fail(
                f"{repr_of(written)} is step {number}, which has not thought yet.", "Refer only to earlier steps."
            )
        return number

    def step_before(self, steps: int, written: Placeholder) -> int:
        """The number of the step that is so many back; 0 is the compound's own thinking."""
        number = self.step - steps
        if number < 0:
            raise self.fail(
                f"{repr_of(written)} reaches {-number} before the beginning.",
                f"BACK({self.step}) is this action's own think output; nothing lies before it.",
            )
        return number


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


@dataclasses.dataclass(eq=False, repr=False, slots=True)
class Step:
    """One step of a compound action. Made by ``step``."""

    activity: str
    args: dict[str, object]
    name: str | None
    think_timeout: float | None = None

    def __repr__(self) -> str:
        return f"step({', '.join(_written((self.activity,), self.args))})"


@dataclasses.dataclass(eq=False, repr=False, slots=True)
class Output:
    """The declared think output of a compound action. Made by ``output``."""

    fields: dict[str, object]


@dataclasses.dataclass(eq=False, repr=False, slots=True)
class CompiledStep:
    """A step with its placeholders compiled."""

    activity: str  # what it performs
    label: str  # what paths call it: the activity; with its number, if one before performs the same
    constants: dict[str, object]  # arguments that never change
    bound: tuple[str, ...]  # the names of those that are resolved when it thinks
    bind: Binder  # makes a dict of all of them
    is_used: bool = False  # whether a later step, or the compound's output, reads its think output
    # the elements that its arguments come from, the nearest first: numbers of earlier steps, 0 for the own thinking of
    # the compound, and ``ARGUMENTS`` last
    reads: tuple[int, ...] = ()
    think_timeout: float | None = None  # in how many game seconds it has to be ready; None for no limit


def with_constants(activity: str, label: str, constants: dict[str, object]) -> CompiledStep:
    """A step whose arguments are all known."""
    return CompiledStep(activity, label, constants, (), lambda _scope: constants.copy())


class CompiledSteps(NamedTuple):
    """All steps of a compound action, and its output."""

    steps: tuple[CompiledStep, ...]
    output: tuple[tuple[str, Resolver | None, object], ...] | None  # the fields of the declared output, if there is one
    output_reads: tuple[int, ...]  # the elements that the output comes from, the nearest first
    uses: dict[int, list[str]]  # which output fields of which step are read


def compile_steps(subject: str, steps: object, output: object, arguments: type[Fields]) -> CompiledSteps:
    """Check and compile what a compound action declares as its steps and its output.

    Args:
        subject: its module and name, for errors.
        arguments: the class of its arguments.
    """
    declared_steps = _check_steps(subject, steps)
    names = _names_of(subject, declared_steps)
    if output is not None and not isinstance(output, Output):
        raise DefinitionError(subject, f"output is {output!r}.", "Write output = output(field=...).")
    compiler = Compiler(subject, names, arguments)
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
        bind = compiler.binder(constants, bound)
        made = CompiledStep(declared.activity, label, constants, tuple([field for field, _ in bound]), bind)
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
