"""Slips: what an author's class says that nobody would ever read, told when the class is defined.

A class is read for the names that its model knows. Whatever else it says is the author's own, and a slip of the pen
looks just like that: ``stop_thinkng`` is never called, ``priority`` is never looked at. Python says nothing of it, and
the run does not either. Nor does it of ``ctx.sleep(1)`` without ``await``: what the call gives is dropped, and nobody
waits. Both can be seen while the class is defined, which costs a run nothing:

* A *name* of the class's own is a slip if it stands in the table of words that authors bring along from elsewhere
  (``on_start``), or is very near to a name that is read; unless code of the class reads it itself, or it is annotated:
  ``priority: ClassVar[int] = 3`` says that somebody else does. A method is one only if it takes what a hook takes, and
  the class does not have that hook as well. What a base class says is looked at with the classes that are derived from
  it, since these may read it.
* A *call* is found in the bytecode: one through the context whose result is popped at once. Where it begins, and which
  method it calls, the position of the instruction says, which spans the whole expression.

Rejected: a ``__del__`` on what ``ctx.sleep`` gives (each wait would pay for it, and say it when the garbage collector
comes by); reading the source (there may be none, and parsing it takes longer than all the rest of a definition).
"""

from __future__ import annotations

import dis
import inspect
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, lru_cache, partialmethod, singledispatchmethod
from types import CodeType, FunctionType
from typing import Final, TypeAlias

from agentrt.errors import LONGEST_NAME, DefinitionError
from agentrt.words import class_name

_NEAR: Final = 0.8  # how alike two names are of which one is a slip: 'stop_thinkng', and not 'begin' for 'think'
_CALLS: Final = frozenset(
    dis.opmap[name] for name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX") if name in dis.opmap
)  # ``CALL_KW`` from Python 3.13 on
_POP: Final = dis.opmap["POP_TOP"]
# A call whose result is popped; between the two there is room for what the interpreter caches. It looks ahead, so that
# one that is found in the wrong place, from an argument on, hides none.
_DROPPED: Final = re.compile(
    b"(?s)(?=[%b].(?:%b.)*%b)"
    % (re.escape(bytes(_CALLS)), re.escape(bytes([dis.opmap.get("CACHE", 0)])), re.escape(bytes([_POP])))
)
_LOADS: Final = frozenset(dis.opmap.get(name, -1) for name in ("LOAD_METHOD", "LOAD_ATTR"))
_SHIFT: Final = 0 if sys.version_info < (3, 12) else 1  # how much of their argument says something else
_KW_NAMES: Final = dis.opmap.get("KW_NAMES", dis.opmap["NOP"])  # Python 3.13 has ``CALL_KW`` instead

WAITS: Final = frozenset((
    "all", "call", "execute", "first", "next_tick", "sleep", "sleep_ticks", "solve", "solve_all", "solve_if_worth",
    "suspend", "work",
))  # fmt: skip
"""What of a context does nothing unless it is awaited."""

_CONTEXT: Final = "ctx"  # what hooks call it
_NAMED: Final = {"set_think_output": "ctx.set_think_output(item=log)"}  # what takes fields by name alone, and how


# --- names ------------------------------------------------------------------------------------------------------------

Hooks: TypeAlias = "Mapping[str, tuple[str, ...]]"
"""Hooks by name, with what each is called with."""


def check_class(
    cls: type, subject: str, strange: Mapping[str, str], hooks: Hooks | None = None, *, is_base: bool = False
) -> None:
    """Refuse what a class says that nobody reads, where something else was meant.

    Args:
        cls: the class.
        subject: what errors call it.
        strange: words from elsewhere that are no names here, with what is meant; an empty text if that is told later.
        hooks: those that stand in the base class as something else than a method.
        is_base: whether others are to be derived from it: what it says is looked at with them, who may read it.

    Raises:
        DefinitionError: there is such a thing.
    """
    library = next(base for base in cls.__mro__[1:] if str(base.__module__).startswith("agentrt."))
    known = {**_known(library), **(hooks or {})}
    check_calls(cls, subject, known)
    if is_base:
        return
    written = [one for one in cls.__mro__ if issubclass(one, library) and one not in library.__mro__]
    for one in written:
        own = vars(one)
        annotated = own.get("__annotations__", ())
        for name in own:
            if name in known or name in annotated or name.startswith("_"):
                continue
            value, meant = own[name], strange[name] if name in strange else _near(name, known)
            if not meant or not _may_be_meant(value, known.get(meant)):
                continue
            if isinstance(value, FunctionType) and any(meant in vars(other) for other in written):
                continue  # who has the hook as well means something else
            if name in _read_names(cls) or any(hasattr(base, name) for base in one.__mro__[1:]):
                continue
            own_word = "rename it" if callable(value) else f"annotate it: {name}: ClassVar[...] = ..."
            raise DefinitionError(
                subject if one is cls else class_name(one),
                f"nobody reads '{name}'. Did you mean '{meant}'?",
                f"If it is your own, {own_word}.",
            )


@lru_cache(64)
def _known(base: type) -> dict[str, tuple[str, ...] | None]:
    """The names that a class of the library reads, each with what it is called with; None for what is no method."""
    known: dict[str, tuple[str, ...] | None] = {}
    for one in reversed(base.__mro__[:-1]):
        known.update(dict.fromkeys(inspect.get_annotations(one)))
        for name, value in vars(one).items():
            is_hook = isinstance(value, FunctionType)
            known[name] = tuple(inspect.signature(value).parameters)[1:] if is_hook else None
    return {name: parameters for name, parameters in known.items() if not name.startswith("_")}


def _near(name: str, known: Mapping[str, tuple[str, ...] | None]) -> str | None:
    """The known name of which another one is a slip; None if it is none.

    One that only goes on, or ends earlier, is a word of its own ('names', 'starts'), unless it takes what a hook takes.
    """
    if len(name) > LONGEST_NAME:
        return None
    likely = [
        one
        for one, parameters in known.items()
        if one[0] == name[0] and abs(len(one) - len(name)) <= 2
        if parameters or not (name.startswith(one) or one.startswith(name))
    ]
    if not likely:
        return None  # most names: the comparison is slow to import, and only needed here
    import difflib

    near = difflib.get_close_matches(name, likely, 1, _NEAR)
    return near[0] if near else None


def _may_be_meant(value: object, parameters: tuple[str, ...] | None) -> bool:
    """Whether something might stand for a hook, by what it takes and what it calls that; or for what is no hook."""
    if not isinstance(value, FunctionType):
        return parameters is None and not hasattr(type(value), "__get__")  # a property is somebody's
    if parameters is None:
        return False
    try:
        takes = inspect.signature(value)
        takes.bind("self", *parameters)
    except (TypeError, ValueError):
        return False
    return not parameters or not takes.parameters.keys().isdisjoint(parameters)


def _read_names(cls: type) -> set[str]:
    """All names that the code of a class and of its bases uses."""
    names: set[str] = set()
    for base in cls.__mro__[:-1]:
        for function in (_unwrapped(one) for value in vars(base).values() for one in functions_in(value)):
            for code in _nested(function.__code__):
                names.update(code.co_names)
                names.update(one for one in code.co_consts if isinstance(one, str))  # getattr(self, "priority")
    return names


_PARTS: Final[tuple[tuple[type, tuple[str, ...]], ...]] = (  # where descriptors keep their functions
    (property, ("fget", "fset", "fdel")),
    (classmethod, ("__func__",)),
    (staticmethod, ("__func__",)),
    (cached_property, ("func",)),
    (partialmethod, ("func",)),
    (singledispatchmethod, ("func",)),
)


def functions_in(value: object) -> Iterator[FunctionType]:
    """The functions in an attribute of a class. Of anything else nothing is asked: it may do anything then."""
    names = next((names for kind, names in _PARTS if isinstance(value, kind)), ())
    for one in (value, *(getattr(value, name) for name in names)):
        if isinstance(one, FunctionType):
            yield one


def _unwrapped(function: FunctionType) -> FunctionType:
    """What a decorator was put around; a function itself if there is none."""
    seen = {function}
    while isinstance(inner := function.__dict__.get("__wrapped__"), FunctionType) and inner not in seen:
        function = inner
        seen.add(inner)
    return function


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _nested(one)


# --- calls ------------------------------------------------------------------------------------------------------------


def check_calls(cls: type, subject: str, known: Mapping[str, tuple[str, ...] | None]) -> None:
    """Refuse what methods of a class call through their context and drop, or call wrongly.

    Args:
        cls: the class.
        subject: what errors call it.
        known: its hooks among others, with what each is called with.

    Raises:
        DefinitionError: there is one; it names the file and the line.
    """
    for name, value in vars(cls).items():
        if not isinstance(value, FunctionType):
            continue
        function, place = _unwrapped(value), 1
        made_of = value.__dict__.get("function")  # of a strategy that was made of one, which has no ``self``
        if isinstance(made_of, FunctionType):
            function, place = made_of, 0
        code = function.__code__
        is_hook = (known.get(name) or ("",))[0] == _CONTEXT and code.co_argcount > place
        for what, instead in calls_that_slip(function, code.co_varnames[place] if is_hook else ""):
            raise DefinitionError(subject, what, instead)


def calls_that_slip(function: FunctionType, context: str = "") -> Iterator[tuple[str, str]]:
    """Calls through the context in a function that do nothing, or cannot work: what is wrong, and what to write.

    Args:
        function: the function; those that are made in it are looked at, too.
        context: the name of the parameter that is a context. Empty if that is not known: then it is what is called
            ``ctx`` in a coroutine function. In a plain function that may be anybody's.
    """
    yield from _slips_in(function.__code__, {context} if context else set())


def _slips_in(code: CodeType, contexts: set[str]) -> Iterator[tuple[str, str]]:
    if code.co_flags & inspect.CO_COROUTINE and _CONTEXT in code.co_varnames[: code.co_argcount]:
        contexts = {*contexts, _CONTEXT}
    names = code.co_names
    if contexts and not (WAITS.isdisjoint(names) and _NAMED.keys().isdisjoint(names)) and _drops(code):
        yield from _slips_of(code, contexts)
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _slips_in(one, contexts.intersection(one.co_freevars))  # else it has one of its own


def _drops(code: CodeType) -> bool:
    """Whether the result of such a call may be popped. A quick look: to decode all of it takes fifty times as long."""
    ops, args, names = code.co_code[::2], code.co_code[1::2], code.co_names
    calls = [found.start() // 2 for found in _DROPPED.finditer(code.co_code) if not found.start() % 2]
    begins = [(line, column) for line, _, column, _ in code.co_positions()] if calls else []
    for call in calls:
        for at in range(call):
            if ops[at] not in _LOADS or begins[at] != begins[call]:
                continue
            if at and ops[at - 1] == dis.EXTENDED_ARG:
                return True
            name = names[args[at] >> _SHIFT]
            if name in WAITS or (name in _NAMED and args[call] and _KW_NAMES not in ops[max(0, call - 3) : call]):
                return True
    return False


def _slips_of(code: CodeType, contexts: Collection[str]) -> Iterator[tuple[str, str]]:
    steps = list(dis.get_instructions(code))
    for index, step in enumerate(steps[:-1]):
        if step.opcode not in _CALLS or steps[index + 1].opcode != _POP:
            continue
        found = _method_of(steps, index, contexts)
        if found is None:
            continue
        context, method = found
        if method not in WAITS and method not in _NAMED:
            continue
        place = f"{code.co_filename}:{step.positions.lineno if step.positions else 0}"
        if method in WAITS:
            yield (
                f"{place} calls {context}.{method}(...) without 'await': nothing waits, and nothing happens.",
                f"Write: await {context}.{method}(...).",
            )
        elif (
            step.opname == "CALL" and step.arg and "KW_NAMES" not in (steps[index - 1].opname, steps[index - 2].opname)
        ):
            yield (
                f"{place} gives {context}.{method}() something without a name: it takes each field by its name.",
                f"Write {_NAMED[method]}, or **fields for a mapping.",
            )


def _method_of(steps: list[dis.Instruction], call: int, contexts: Collection[str]) -> tuple[str, str] | None:
    """The context and the method of it that an instruction calls; None if it calls something else."""
    where = steps[call].positions
    if where is None:
        return None
    best: tuple[tuple[int, int], tuple[str, str]] | None = None
    for index in range(call - 1, 0, -1):
        step, before, at = steps[index], steps[index - 1], steps[index].positions
        if step.opname not in ("LOAD_METHOD", "LOAD_ATTR") or at is None or None in (at.end_lineno, at.end_col_offset):
            continue
        if (at.lineno, at.col_offset) != (where.lineno, where.col_offset):
            continue
        end = (at.end_lineno or 0, at.end_col_offset or 0)
        base = before.argval[-1] if isinstance(before.argval, tuple) else before.argval  # two loads may be one
        if best is None or end > best[0]:
            best = (end, (str(base) if base in contexts else "", str(step.argval)))
    return None if best is None or not best[1][0] else best[1]
