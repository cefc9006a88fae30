"""Slips: what an author's class says that nobody would ever read, told when the class is defined.

A class is read for the names that its model knows. Whatever else it says is the author's own, and a slip of the pen
looks just like that: ``stop_thinkng`` is never called, ``priority`` is never looked at. Python says nothing of it, and
the run does not either. Nor does it of ``ctx.sleep(1)`` without ``await``: what the call gives is dropped, and nobody
waits. Both can be seen while the class is defined, which costs a run nothing:

* A *name* of the class's own is a slip if it stands in the table of words that authors bring along from elsewhere
  (``on_start``), or is very near to a name that is read; unless code of the class or of its metaclass reads it itself,
  or it is annotated there or in a base class: ``priority: ClassVar[int] = 3`` says that somebody else does. A method is
  one only if it takes what a hook takes, and the class does not have that hook as well. What a base class says is
  looked at with the classes that are derived from it, since these may read it.
* A *call* is found in the bytecode: one through the context, or of ``sleep`` and its like, whose result is popped at
  once. From where the function is loaded, the way of the interpreter is followed to where it is called. So it is in
  mix-ins, too, and, with nothing but the text of a module (``agentrt check``), in every function of it.

Rejected: a ``__del__`` on what ``ctx.sleep`` gives (each wait would pay for it, and say it when the garbage collector
comes by); reading the source (there may be none, and parsing it takes longer than all the rest of a definition); what
has a method ``wait`` (a signal, but just as well a player who waits for a turn); where an instruction stands in the
source (it may not be known).
"""

from __future__ import annotations

import dis
import inspect
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, lru_cache, partialmethod, singledispatchmethod
from itertools import islice
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Final, NamedTuple, TypeAlias

from agentrt.errors import LONGEST_NAME, DefinitionError
from agentrt.kernel.traps import next_tick, sleep, sleep_ticks
from agentrt.words import class_name

_NEAR: Final = 0.8  # how alike two names are of which one is a slip: 'stop_thinkng', and not 'begin' for 'think'


def _ops(*names: str) -> frozenset[int]:
    """Instructions by their names, as far as this version of Python has them."""
    return frozenset(dis.opmap[name] for name in names if name in dis.opmap)


_METHOD, _GLOBAL, _KW_NAMES = _ops("LOAD_METHOD"), _ops("LOAD_GLOBAL"), _ops("KW_NAMES")
_ATTRIBUTE: Final = _METHOD | _ops("LOAD_ATTR")
_LOCAL: Final = _ops("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_DEREF")
_TWO: Final = _ops("LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW")
_CALL: Final = _ops("CALL")
_CALLS: Final = _ops("CALL", "CALL_KW", "CALL_FUNCTION_EX")
_POP: Final = _ops("POP_TOP")
_JUMPS: Final = _ops("JUMP_FORWARD", "FOR_ITER", "SEND")  # taken, so that each loop is over at once
_CACHE: Final = dis.opmap.get("CACHE", -1)  # room that the interpreter leaves behind an instruction
# A call whose result is popped, as far as bytes say. Most hooks have none, and are looked at no further.
_DROPPED: Final = re.compile(
    b"(?s)[%b].(?:%b.)*%b" % tuple(re.escape(bytes(ops)) for ops in (_CALLS, (max(_CACHE, 0),), _POP))
)
_SHIFT: Final = 0 if sys.version_info < (3, 12) else 1  # how much of the argument of LOAD_ATTR says something else

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
    library = _library_of(cls)
    known = {**_known(library), **(hooks or {})}
    check_calls(cls, subject, known)
    if is_base:
        return
    written = [one for one in cls.__mro__ if issubclass(one, library) and one not in library.__mro__]
    for one in written:
        own = vars(one)
        for name in own:
            if name in known or name.startswith("_"):
                continue
            value, meant = own[name], strange[name] if name in strange else _near(name, known)
            if not meant or not _may_be_meant(value, known.get(meant)):
                continue
            if isinstance(value, FunctionType) and any(meant in vars(other) for other in written):
                continue  # who has the hook as well means something else
            if name in _read_names(cls) or any(hasattr(base, name) for base in one.__mro__[1:]):
                continue
            if any(name in vars(base).get("__annotations__", ()) for base in cls.__mro__):
                continue
            own_word = "rename it" if callable(value) else f"annotate it: {name}: ClassVar[...] = ..."
            raise DefinitionError(
                subject if one is cls else class_name(one),
                f"nobody reads '{name}'. Did you mean '{meant}'?",
                f"If it is your own, {own_word}.",
            )


def _library_of(cls: type) -> type:
    """The class of the library from which an author's is derived."""
    return next(base for base in cls.__mro__[1:] if str(base.__module__).startswith("agentrt."))


def check_hooks(hooks: Mapping[str, object], subject: str, known: Hooks, *, first: str = "self") -> None:
    """Refuse hooks that cannot be called with what they are called with.

    Args:
        hooks: what stands for each, by name; what is no function is passed over.
        subject: what errors call it.
        known: by name, what each is called with.
        first: what comes before; empty if nothing does.

    Raises:
        DefinitionError: there is one.
    """
    for name, parameters in known.items():
        hook = hooks.get(name)
        takes = (first, *parameters) if first else parameters
        if not isinstance(hook, FunctionType):
            continue
        try:
            inspect.signature(hook).bind(*takes)
        except TypeError as error:
            write = f"{name}({', '.join(takes)})" if first else f"{hook.__name__}({', '.join(takes)})"
            raise DefinitionError(subject, f"{name} cannot be called: {error}.", f"Write {write}.") from None


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
    """All names that the code of a class, of its bases and of its metaclass uses, and those read in its body."""
    names = _read_in_body(cls)
    metaclasses = inspect.getmro(type(cls))
    for base in (*cls.__mro__[:-1], *metaclasses):
        for function in (_unwrapped(one) for value in vars(base).values() for one in functions_in(value)):
            for code in _nested(function.__code__):
                names.update(code.co_names)
                names.update(one for one in code.co_consts if isinstance(one, str))  # getattr(self, "priority")
    return names


def _read_in_body(cls: type) -> set[str]:
    """The names that the body of a class reads, which is being defined: its code is a constant of who defines it."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        for code in frame.f_code.co_consts:
            if isinstance(code, CodeType) and code.co_qualname == cls.__qualname__:
                return {str(one.argval) for one in dis.get_instructions(code) if one.opname in _READS_NAME}
        frame = frame.f_back
    return set()


_READS_NAME: Final = ("LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_CLASSDEREF")

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
    if isinstance(value, FunctionType):
        yield value
        return
    for kind, names in _PARTS:
        if isinstance(value, kind):
            yield from (one for one in (getattr(value, name) for name in names) if isinstance(one, FunctionType))
            return


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
    """Refuse what methods of a class, and of its mix-ins, call and drop, or call wrongly.

    Args:
        cls: the class.
        subject: what errors call it.
        known: its hooks among others, with what each is called with.

    Raises:
        DefinitionError: there is one; it names the file and the line.
    """
    library = _library_of(cls)
    for base in cls.__mro__[:-1]:
        if base is cls or not (issubclass(base, library) or base in library.__mro__):  # those were looked at before
            _check_own_calls(base, subject, known)


def _check_own_calls(cls: type, subject: str, known: Mapping[str, tuple[str, ...] | None]) -> None:
    for name, value in vars(cls).items():
        for one in functions_in(value):
            function, place = _unwrapped(one), int(not isinstance(value, staticmethod))
            made_of = one.__dict__.get("function")  # of a strategy that was made of one, which has no ``self``
            if isinstance(made_of, FunctionType):
                function, place = made_of, 0
            code = function.__code__
            is_hook = (known.get(name) or ("",))[0] == _CONTEXT and code.co_argcount > place
            for what, instead in calls_that_slip(function, code.co_varnames[place] if is_hook else ""):
                raise DefinitionError(subject, what, instead)


def calls_that_slip(function: FunctionType, context: str = "") -> Iterator[tuple[str, str]]:
    """Calls in a function that do nothing, or cannot work: what is wrong, and what to write.

    Args:
        function: the function; those that are made in it are looked at, too.
        context: the name of the parameter that is a context. Empty if that is not known: then it is what is called
            ``ctx`` in a coroutine function. In a plain function that may be anybody's.
    """
    yield from slips_in(function.__code__, function.__globals__, frozenset((context,)) if context else frozenset())


def slips_in(
    code: CodeType, names: Mapping[str, object], contexts: frozenset[str] = frozenset()
) -> Iterator[tuple[str, str]]:
    """The same of code, and of all functions in it: of a module that was compiled, say, and not run.

    Args:
        code: the code.
        names: its global ones, as far as they are known.
        contexts: those that are a context.
    """
    if code.co_flags & inspect.CO_COROUTINE and _CONTEXT in code.co_varnames[: code.co_argcount]:
        contexts |= {_CONTEXT}
    if not (WAITS.isdisjoint(code.co_names) and _NAMED.keys().isdisjoint(code.co_names)):
        yield from _slips_of(code, contexts, names)
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from slips_in(one, names, contexts.intersection(one.co_freevars))  # else it has one of its own


def _slips_of(code: CodeType, contexts: Collection[str], names: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    if not _DROPPED.search(code.co_code):
        return
    steps = _Steps(code.co_code[::2], code.co_code[1::2])
    for at, op in enumerate(steps.ops):
        if op in _ATTRIBUTE:
            name = code.co_names[steps.arg(at) >> _SHIFT]
            if name not in WAITS and name not in _NAMED:
                continue
            base, is_global = _loaded_before(code, steps, at)
            module = names.get(base) if is_global else None
            is_ours = _is_wait(vars(module).get(name)) if isinstance(module, ModuleType) else base in contexts
        elif op in _GLOBAL:
            base, name = "", code.co_names[steps.arg(at) >> 1]
            is_ours = name in WAITS and _is_wait(names.get(name))
        else:
            continue
        call = _dropped_call_of(steps, at) if is_ours else 0
        if not call:
            continue
        line = next(islice(code.co_positions(), call, None))[0] or code.co_firstlineno
        place, said = f"{code.co_filename}:{line}", f"{base}.{name}" if base else name
        if name not in _NAMED:
            yield (
                f"{place} calls {said}(...) without 'await': nothing waits, and nothing happens.",
                f"Write: await {said}(...).",
            )
        elif steps.ops[call] in _CALL and steps.arg(call) and _KW_NAMES.isdisjoint(steps.ops[call - 3 : call]):
            yield (
                f"{place} gives {said}() something without a name: it takes each field by its name.",
                f"Write {_NAMED[name]}, or **fields for a mapping.",
            )


def _is_wait(thing: object) -> bool:
    return thing is sleep or thing is sleep_ticks or thing is next_tick


class _Steps(NamedTuple):
    """The instructions of a function."""

    ops: bytes
    args: bytes

    def arg(self, at: int) -> int:
        """The argument of an instruction, with what goes before it if it is large."""
        value, shift = self.args[at], 8
        while at and self.ops[at - 1] == dis.EXTENDED_ARG:
            at -= 1
            value |= self.args[at] << shift
            shift += 8
        return value


def _loaded_before(code: CodeType, steps: _Steps, at: int) -> tuple[str, bool]:
    """The name that is loaded right before an instruction, and whether it is a global one; empty if it is none."""
    at -= 1
    while at > 0 and steps.ops[at] in (dis.EXTENDED_ARG, _CACHE):
        at -= 1
    op, arg = steps.ops[at], steps.arg(at)
    if op in _GLOBAL:
        return code.co_names[arg >> 1], True
    if op not in _LOCAL and op not in _TWO:
        return "", False
    cells = (one for one in code.co_cellvars if one not in code.co_varnames)
    return (*code.co_varnames, *cells, *code.co_freevars)[arg & 15 if op in _TWO else arg], False


def _dropped_call_of(steps: _Steps, at: int) -> int:
    """The instruction that calls what is loaded at another one, if what that gives is popped at once; else 0.

    The way that the interpreter would go is followed, and how high its stack is above what was loaded. Where an
    instruction stands in the source is not asked for: it may not be known (``-X no_debug_ranges``).
    """
    ops = steps.ops
    height = 2 if ops[at] in _METHOD or (steps.arg(at) & 1 and (_SHIFT or ops[at] in _GLOBAL)) else 1
    for _ in range(len(ops)):
        at += 1
        while at < len(ops) and ops[at] in (_CACHE, dis.EXTENDED_ARG):
            at += 1
        if at >= len(ops) or (height == 1 and ops[at] in _ATTRIBUTE):
            return 0
        op, arg, is_jump = ops[at], steps.arg(at), ops[at] in _JUMPS
        height += dis.stack_effect(op, arg if op >= dis.HAVE_ARGUMENT else None, jump=is_jump)
        after = at + 1
        while after < len(ops) and ops[after] == _CACHE:
            after += 1
        if op in _CALLS and height <= 1:
            return at if ops[after] in _POP else 0
        if height < 1:
            return 0
        if is_jump:
            at = after + arg - 1
    return 0
