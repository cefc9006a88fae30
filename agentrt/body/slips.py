"""Slips: what an author's class says that nobody would ever read, told when the class is defined.

A class is read for the names that its model knows. Whatever else it says is the author's own, and a slip of the pen
looks just like that: ``stop_thinkng`` is never called, ``priority`` is never looked at. Python says nothing of it, and
the run does not either. Nor does it of ``ctx.sleep(1)`` without ``await``: what the call gives is dropped, and nobody
waits. Both can be seen while the class is defined, which costs a run nothing:

* A *name* of the class's own is a slip if it stands in the table of words that authors bring along from elsewhere
  (``on_start``), or is very near to a name that is read; unless code of the class reads it itself, or it is annotated:
  ``priority: ClassVar[int] = 3`` says that somebody else does. A method is one only if it takes what a hook takes.
* A *call* is found in the bytecode: one through the context, or of a trap that the module holds, whose result is popped
  at once. Where it begins, and what it calls, the position of the instruction says, which spans the whole expression.

Rejected: a ``__del__`` on what ``ctx.sleep`` gives (each wait would pay for it, and say it when the garbage collector
comes by); reading the source (there may be none, and parsing it takes longer than all the rest of a definition).
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Final, TypeAlias

from agentrt.errors import LONGEST_NAME, DefinitionError
from agentrt.kernel import traps
from agentrt.kernel.signals import Signal

_NEAR: Final = 0.8  # how alike two names are of which one is a slip: 'stop_thinkng', and not 'begin' for 'think'
_CALLS: Final = frozenset(
    dis.opmap[name] for name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX") if name in dis.opmap
)  # ``CALL_KW`` from Python 3.13 on
_CACHE: Final = dis.opmap.get("CACHE", 0)
_POP: Final = dis.opmap["POP_TOP"]

WAITS: Final = frozenset((
    "all", "call", "execute", "first", "next_tick", "sleep", "sleep_ticks", "solve", "solve_all", "solve_if_worth",
    "suspend", "work",
))  # fmt: skip
"""What of a context does nothing unless it is awaited."""

_NAMES: Final = ("LOAD_FAST", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME", "LOAD_CLASSDEREF")
_ATTRIBUTES: Final = ("LOAD_METHOD", "LOAD_ATTR")
_TRAPS: Final = frozenset((traps.next_tick, traps.sleep, traps.sleep_ticks, Signal.wait))
"""What else waits only if it is awaited, and is no coroutine function: of these, Python itself tells."""
_NAMED: Final = {"set_think_output": "ctx.set_think_output(item=log)"}  # what takes fields by name alone, and how
_TOLD: Final = frozenset((*WAITS, *_NAMED, "wait"))


# --- names ------------------------------------------------------------------------------------------------------------

Hooks: TypeAlias = "Mapping[str, tuple[str, ...]]"
"""Hooks by name, with what each is called with."""


def check_class(cls: type, subject: str, strange: Mapping[str, str], hooks: Hooks | None = None) -> None:
    """Refuse what a class says that nobody reads, where something else was meant.

    Args:
        cls: the class; what its bases say was looked at when they were defined.
        subject: what errors call it.
        strange: words from elsewhere that are no names here, with what is meant; an empty text if that is told later.
        hooks: those that stand in the base class as something else than a method.

    Raises:
        DefinitionError: there is such a thing.
    """
    own = vars(cls)
    known = {
        **_known(next(base for base in cls.__mro__[1:] if base.__module__.startswith("agentrt."))),
        **(hooks or {}),
    }
    check_calls(cls, subject, known)
    annotated = own.get("__annotations__", ())
    slips = [name for name in own if name not in known and not name.startswith("_") and name not in annotated]
    for name in slips:
        value, meant = own[name], strange[name] if name in strange else _near(name, known)
        if not meant or not _may_be_meant(value, known.get(meant)):
            continue
        if name in _read_names(cls) or any(hasattr(base, name) for base in cls.__mro__[1:]):
            continue
        own_word = "rename it" if callable(value) else f"annotate it: {name}: ClassVar[...] = ..."
        raise DefinitionError(
            subject, f"nobody reads '{name}'. Did you mean '{meant}'?", f"If it is your own, {own_word}."
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


def _near(name: str, known: Collection[str]) -> str | None:
    if len(name) > LONGEST_NAME:
        return None
    likely = [one for one in known if one[0] == name[0] and abs(len(one) - len(name)) <= 2]
    if not likely:
        return None  # most names: the comparison is slow to import, and only needed here
    import difflib

    near = difflib.get_close_matches(name, likely, 1, _NEAR)
    return near[0] if near and name != near[0] + "s" else None  # several weights are something else than a weight


def _may_be_meant(value: object, parameters: tuple[str, ...] | None) -> bool:
    """Whether something might stand for a hook, by what it takes; or for what is no hook."""
    if not isinstance(value, FunctionType):
        return parameters is None and not hasattr(value, "__get__")  # a property is somebody's
    if parameters is None:
        return False
    try:
        inspect.signature(value).bind("self", *parameters)
    except TypeError:
        return False
    return True


def _read_names(cls: type) -> set[str]:
    """All names that the code of a class and of its bases uses, in a class in it as well."""
    names: set[str] = set()
    for base in cls.__mro__[:-1]:
        for code in _codes(base):
            names.update(code.co_names)
            names.update(one for one in code.co_consts if isinstance(one, str))  # getattr(self, "priority")
    return names


def _codes(cls: type) -> Iterator[CodeType]:
    for value in vars(cls).values():
        for one in (value, *(getattr(value, part, None) for part in ("fget", "fset", "func", "__func__"))):
            function = inspect.unwrap(one) if callable(one) and not isinstance(one, type) else one
            if isinstance(function, FunctionType):
                yield from _nested(function.__code__)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _nested(one)


# --- calls ------------------------------------------------------------------------------------------------------------


def check_calls(cls: type, subject: str, hooks: Collection[str] = ()) -> None:
    """Refuse what methods of a class call and drop although it is to be awaited, or call wrongly.

    Args:
        cls: the class.
        subject: what errors call it.
        hooks: the methods whose second parameter is a context, whatever it is called.

    Raises:
        DefinitionError: there is one; it names the file and the line.
    """
    for name, value in vars(cls).items():
        function = getattr(value, "function", value)  # of a strategy that was made of one
        if isinstance(function, FunctionType):
            for what, instead in calls_that_slip(function, is_hook=name in hooks or function is not value):
                raise DefinitionError(subject, what, instead)


def calls_that_slip(function: FunctionType, *, is_hook: bool = True) -> Iterator[tuple[str, str]]:
    """Calls in a function that do nothing, or cannot work: what is wrong, and what to write.

    Seen are calls through the context, which is what is called ``ctx``, or the second parameter of a hook; and those of
    what a module holds: ``art.sleep(1)``, ``rustling.wait()``.
    """
    code = function.__code__
    contexts = {"ctx", *(code.co_varnames[1 : min(2, code.co_argcount)] if is_hook else ())}
    for inner in _nested(code):
        if not _TOLD.isdisjoint(inner.co_names) and _drops(inner):
            yield from _slips_of(inner, contexts, function.__globals__)


def _drops(code: CodeType) -> bool:
    """Whether the result of a call is popped anywhere: a quick look, since that is seldom all that a hook does."""
    last = -1
    for op in code.co_code[::2]:
        if op == _POP and last in _CALLS:
            return True
        if op != _CACHE:
            last = op
    return False


def _slips_of(code: CodeType, contexts: Collection[str], names: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    steps = list(dis.get_instructions(code))
    for index, step in enumerate(steps[:-1]):
        if step.opcode not in _CALLS or steps[index + 1].opcode != _POP:
            continue
        called = _called(steps, index)
        if called is None or called[1][-1] not in _TOLD:
            continue
        is_global, (root, *attributes) = called
        text = ".".join((root, *attributes))
        place = f"{code.co_filename}:{step.positions.lineno if step.positions else 0}"
        if len(attributes) == 1 and root in contexts and attributes[0] in _NAMED:
            if (
                step.opname == "CALL"
                and step.arg
                and "KW_NAMES" not in (steps[index - 1].opname, steps[index - 2].opname)
            ):
                yield (
                    f"{place} gives {text}() something without a name: it takes each field by its name.",
                    f"Write {_NAMED[attributes[0]]}, or **fields for a mapping.",
                )
        elif (len(attributes) == 1 and root in contexts) or (is_global and _held(names, root, attributes) in _TRAPS):
            yield (
                f"{place} calls {text}(...) without 'await': nothing waits, and nothing happens.",
                f"Write: await {text}(...).",
            )


def _called(steps: list[dis.Instruction], call: int) -> tuple[bool, list[str]] | None:
    """What an instruction calls, as a name and attributes, and whether the name is the module's; None for all else."""
    where = steps[call].positions
    last, ends = None, (-1, -1)  # of what is called: of all that begins where the call does, what ends last
    for index in range(call):
        step, at = steps[index], steps[index].positions
        if at is None or where is None or (at.lineno, at.col_offset) != (where.lineno, where.col_offset):
            continue
        end = (at.end_lineno or 0, at.end_col_offset or 0)
        if step.opname.startswith((*_NAMES, *_ATTRIBUTES)) and end > ends:
            last, ends = index, end
    path: list[str] = []
    while last is not None and last >= 0 and steps[last].opname in _ATTRIBUTES:
        path.insert(0, str(steps[last].argval))
        last -= 1  # a name and its attributes stand one after the other
    if last is None or last < 0 or not steps[last].opname.startswith(_NAMES):
        return None
    name = steps[last].argval
    path.insert(0, str(name[-1] if isinstance(name, tuple) else name))  # two loads may be one
    return steps[last].opname == "LOAD_GLOBAL", path


def _held(names: Mapping[str, object], root: str, attributes: list[str]) -> object:
    """What a module holds under a name, looked up without running anything: a method as its function."""
    held = names.get(root)
    for attribute in attributes:
        kinds = (held,) if isinstance(held, ModuleType) else type(held).__mro__
        held = next((vars(kind)[attribute] for kind in kinds if attribute in vars(kind)), None)
    return held if isinstance(held, FunctionType) else None
