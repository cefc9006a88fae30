"""Typed stubs of the generated calls: a protocol that a type checker reads.

The calls on ``agent.gameplay`` are made at run time, so a checker sees functions of anything. ``calls_module`` writes
a module with a protocol that has them all, with the types of the dependencies' fields and of what they give; a program
says once ``calls = cast(GameplayCalls, agent.gameplay)``, or the same of ``ctx.gameplay``, and is checked from then on.
(Where one call is enough, ``gameplay.solve(Collect("diamond", 7))`` is typed without any of this.)

Classes are written with their full module names, so that two of one name never meet. What cannot be named from another
module (a class inside a function, a type variable, a name that does not resolve) is ``Any``.

Source: prismarine-gameplay: "Plugins", the generated function call.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Iterable
from typing import Any, Literal, get_args, get_origin

from agentrt.strategy.declare import Strategy
from agentrt.strategy.dependency import Dependency

__all__ = ["calls_module", "signature_of"]

Wanted = type[Dependency[Any]]

_HEAD = '''"""The generated calls of these strategies, as a type checker is to see them.

Written by ``agentrt strategies calls``; write it again when the strategies change.
"""

from __future__ import annotations

'''


def calls_module(strategies: Iterable[type[Strategy]], name: str = "GameplayCalls") -> str:
    """Write a module with a protocol of the generated calls."""
    names = _Names()
    methods: dict[str, str] = {}
    given = tuple(strategies)
    for wanted in dict.fromkeys(one for strategy in given for one in strategy.spec.provides):
        methods[wanted.call] = _method(wanted.call, _parameters(wanted, names), result_of(wanted, names), wanted)
    for strategy in given:
        provides = strategy.spec.provides
        results = list(dict.fromkeys(result_of(wanted, names) for wanted in provides))
        if len(provides) == 1:
            parameters = _parameters(provides[0], names)
        else:
            parameters = ["wanted: " + " | ".join(names.of(wanted) for wanted in provides), "/"]
        call = strategy.spec.name
        methods.setdefault(call, _method(call, parameters, " | ".join(results), strategy))
    modules = sorted({"collections.abc", "typing", "agentrt.strategy", *names.modules})
    return (
        _HEAD
        + "".join(f"import {module}\n" for module in modules)
        + f'\nR = typing.TypeVar("R")\n\n\nclass {name}(typing.Protocol):\n'
        + '    """``typing.cast`` the gameplay of an agent, or of a context, to this."""\n'
        + _method("solve", ["wanted: agentrt.strategy.Dependency[R]", "/"], "R", None)
        + "".join(methods.values())
    )


def signature_of(wanted: Wanted) -> str:
    """The generated call of a dependency, for people: ``collect(item: str, count: int = 1) -> int``."""
    names = _Names(is_short=True)
    parameters = ", ".join(
        text + ("" if one.default is inspect.Parameter.empty else f" = {one.default!r}")
        for text, one in zip(_parameters(wanted, names, defaults=False), wanted.parameters(), strict=True)
    )
    return f"{wanted.call}({parameters}) -> {result_of(wanted, names)}"


def _method(name: str, parameters: list[str], result: str, of: type | None) -> str:
    told = inspect.cleandoc(of.__doc__ or "").partition("\n")[0] if of is not None else ""
    text = told.replace("\\", "/").replace('"', "'") or "Solve a dependency."
    listed = "".join(f", {one}" for one in parameters)
    return (
        f"\n    def {name}(self{listed}) -> collections.abc.Awaitable[{result}]:\n"
        f'        """{text}"""\n'
        f"        ...\n"
    )  # fmt: skip


def _parameters(wanted: Wanted, names: _Names, *, defaults: bool = True) -> list[str]:
    found: list[str] = []
    for one in wanted.parameters():
        owner = next(base for base in wanted.__mro__ if one.name in inspect.get_annotations(base))
        has_default = defaults and one.default is not inspect.Parameter.empty
        found.append(f"{one.name}: {names.of(_resolved(owner, one.annotation))}{' = ...' if has_default else ''}")
    return found


def result_of(wanted: Wanted, names: _Names) -> str:
    """What solving a dependency gives, as it is written in a type."""
    for cls in wanted.__mro__:
        for base in cls.__dict__.get("__orig_bases__", ()):
            if get_origin(base) is Dependency:
                return names.of(_resolved(cls, get_args(base)[0]))
    return names.of(Any)


def _resolved(owner: type, hint: Any) -> Any:
    """A type that may be written as a text, looked up where it is written; Any if it cannot be found."""

    def holder() -> None:
        pass

    holder.__annotations__ = {"it": hint}
    try:
        return typing.get_type_hints(holder, vars(sys.modules[owner.__module__]))["it"]
    except Exception:
        return Any


class _Names:
    """Writes types, and keeps in mind what has to be imported for it."""

    def __init__(self, *, is_short: bool = False) -> None:
        self.modules: dict[str, None] = {}
        self._is_short = is_short

    def of(self, hint: Any) -> str:
        """A type, as a text."""
        origin, args = get_origin(hint), get_args(hint)
        if hint is None or hint is type(None):
            return "None"
        if origin in (typing.Union, types.UnionType):
            return " | ".join(self.of(one) for one in args)
        if origin is Literal:
            return f"{self._qualified('typing', 'Literal')}[{', '.join(repr(one) for one in args)}]"
        if origin is typing.Annotated:
            return self.of(args[0])
        if origin is not None and isinstance(origin, type):
            return f"{self.of(origin)}[{', '.join(self._argument(one) for one in args)}]"
        if isinstance(hint, type) and "<" not in hint.__qualname__ and hint.__module__ != "__main__":
            return (
                hint.__name__ if hint.__module__ == "builtins" else self._qualified(hint.__module__, hint.__qualname__)
            )
        return self._qualified("typing", "Any")

    def _argument(self, one: Any) -> str:
        if one is Ellipsis:
            return "..."
        if isinstance(one, list):
            return f"[{', '.join(self.of(inner) for inner in one)}]"
        return self.of(one)

    def _qualified(self, module: str, name: str) -> str:
        self.modules.setdefault(module)
        return name if self._is_short else f"{module}.{name}"
