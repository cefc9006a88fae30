"""Tools for authors of strategies: what may need what, and the generated calls as type checkers are to see them.

*The dependency map*. What a strategy needs is decided when it runs, so no map can be complete. This one is read from
the code of strategies without running any of it: the classes of dependencies that are named in their methods, and the
generated calls (``ctx.gameplay.find``) that stand there. Rules:

* Functions that a method names are followed as long as they belong to the same package, lambdas and inner functions
  always.
* A strategy that provides what it names needs it only if it is called there: ``isinstance(wanted, Find)`` is no need.
* What is computed (a dependency out of a table, say, or out of the library's own helpers) is not seen; a need that is
  seen may never come up. The map shows what *may* be, the task tree what was.

Compiled code is read, and not the text: the text of a lambda in the middle of a statement cannot be had reliably, and
that of a package need not be installed.

*Typed stubs*: the calls on ``agent.gameplay`` are made at run time, so a checker sees functions of anything.
``calls_module`` writes a module with a protocol that has them all, with the types of the dependencies' fields and of
what they give; a program says once ``calls = cast(GameplayCalls, agent.gameplay)``, or the same of ``ctx.gameplay``,
and is checked from then on. (Where one call is enough, ``gameplay.solve(Collect("diamond", 7))`` is typed without any
of this.) Classes are written with their full module names, so that two of one name never meet. What cannot be named
from another module (a class inside a function, a type variable, a name that does not resolve) is ``Any``.

Source: prismarine-gameplay: "Hierarchy", the dependency map; "Plugins", the generated function call.
"""

from __future__ import annotations

import dis
import inspect
import sys
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, get_args, get_origin

from agentrt.strategy.ask import Dependency, Strategy

Wanted = type[Dependency[Any]]

# --- the dependency map -----------------------------------------------------------------------------------------------

_GAMEPLAY: Final = object()  # stands for the generated calls while code is read
_UNKNOWN: Final = object()


class DependencyMap:
    """Which of some strategies provide what, and what they may need."""

    __slots__ = ("missing", "needs", "providers", "strategies")

    def __init__(self, strategies: Iterable[type[Strategy]]) -> None:
        self.strategies: tuple[type[Strategy], ...] = tuple(strategies)  # as given, in that order
        providers: dict[Wanted, list[type[Strategy]]] = {}
        for strategy in self.strategies:
            for wanted in strategy.spec.provides:
                providers.setdefault(wanted, []).append(strategy)
        calls = {wanted.call: wanted for wanted in providers}
        # for each dependency that is provided, who does; in the order in which they are first named
        self.providers: Mapping[Wanted, tuple[type[Strategy], ...]] = {
            wanted: tuple(found) for wanted, found in providers.items()
        }
        # for each strategy, the dependencies that it may need, by their activities
        self.needs: Mapping[type[Strategy], tuple[Wanted, ...]] = {
            strategy: tuple(sorted(_CodeReader(strategy, calls).read(), key=lambda one: one.activity))
            for strategy in self.strategies
        }
        missing = {need for needs in self.needs.values() for need in needs if need not in providers}
        # the dependencies that somebody may need and nobody provides, by their activities
        self.missing: tuple[Wanted, ...] = tuple(sorted(missing, key=lambda one: one.activity))

    @property
    def roots(self) -> tuple[Wanted, ...]:
        """The dependencies that no strategy needs but those that provide it; all, if each is needed by another."""
        needed = {
            need for strategy, needs in self.needs.items() for need in needs if need not in strategy.spec.provides
        }
        return tuple(one for one in self.providers if one not in needed) or tuple(self.providers)

    def as_text(self) -> Iterator[str]:
        """The map as a tree, one node a line: below a dependency who provides it, below a strategy what it may need.

        What stands further above is not repeated. What cannot be reached from a root comes at the end.
        """
        shown: set[Wanted] = set()
        for wanted in (*self.roots, *self.providers):
            if wanted not in shown:
                yield from self._tree(wanted, shown)

    def _tree(self, top: Wanted, shown: set[Wanted]) -> Iterator[str]:
        open_nodes: list[tuple[int, Wanted | type[Strategy]]] = [(0, top)]
        while open_nodes:
            depth, node = open_nodes.pop()
            if issubclass(node, Strategy):
                yield f"{'   ' * depth}{node.spec.name}"
                below: tuple[Wanted | type[Strategy], ...] = self.needs[node]
            else:
                ending = " (see above)" if node in shown else "" if node in self.providers else " (nobody provides it)"
                yield f"{'   ' * depth}{node.call}{ending}"
                below = () if node in shown else self.providers.get(node, ())
                shown.add(node)
            open_nodes += [(depth + 1, one) for one in reversed(below)]

    def as_mermaid(self) -> Iterator[str]:
        """The map as a flow chart in the language of Mermaid: dependencies are round, strategies are boxes."""
        numbers = {wanted: f"d{number}" for number, wanted in enumerate((*self.providers, *self.missing), 1)}
        yield "flowchart TD"
        for wanted, number in numbers.items():
            yield f'    {number}(["{wanted.call}"])' + ("" if wanted in self.providers else ":::missing")
        for index, strategy in enumerate(self.strategies, 1):
            yield f'    s{index}["{strategy.spec.name}"]'
            for wanted in strategy.spec.provides:
                yield f"    {numbers[wanted]} --> s{index}"
            for need in self.needs[strategy]:
                yield f"    s{index} -.-> {numbers[need]}"
        if self.missing:
            yield "    classDef missing stroke-dasharray: 4"

    def as_json(self) -> dict[str, Any]:
        """The map as JSON values; strategies by module and class, since those of two packages may have one name."""
        return {
            "dependencies": {
                wanted.activity: {"call": wanted.call, "providers": [one.spec.subject for one in providers]}
                for wanted, providers in self.providers.items()
            },
            "strategies": {
                strategy.spec.subject: {
                    "name": strategy.spec.name,
                    "provides": [one.activity for one in strategy.spec.provides],
                    "may_need": [one.activity for one in needs],
                    "joins": list(strategy.injects),
                }
                for strategy, needs in self.needs.items()
            },
            "missing": [one.activity for one in self.missing],
        }

    def __repr__(self) -> str:
        return f"<DependencyMap: {len(self.strategies)} strategies for {len(self.providers)} dependencies>"


class _CodeReader:
    """Reads the code of one strategy."""

    def __init__(self, strategy: type[Strategy], calls: Mapping[str, Wanted]) -> None:
        self._strategy = strategy
        self._package = strategy.__module__.partition(".")[0]
        self._calls = calls
        self._found: dict[Wanted, None] = {}
        self._seen: set[types.CodeType] = set()
        self._open: list[tuple[types.CodeType, Mapping[str, Any], Mapping[str, Any]]] = []

    def read(self) -> tuple[Wanted, ...]:
        for cls in self._strategy.__mro__:
            if cls is Strategy:
                break
            for value in vars(cls).values():
                self._follow(getattr(value, "__func__", value))
        while self._open:
            self._read_code(*self._open.pop(0))
        return tuple(self._found)

    def _follow(self, value: Any) -> None:
        if isinstance(value, types.FunctionType):
            cells: dict[str, Any] = {}
            for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
                try:
                    cells[name] = cell.cell_contents
                except ValueError:  # it is not assigned yet
                    continue
            self._open.append((value.__code__, value.__globals__, cells))

    def _read_code(self, code: types.CodeType, names: Mapping[str, Any], cells: Mapping[str, Any]) -> None:
        if code in self._seen:  # functions may name each other in a circle
            return
        self._seen.add(code)
        self._open += [(inner, names, cells) for inner in code.co_consts if isinstance(inner, types.CodeType)]
        value: Any = _UNKNOWN
        for one in dis.get_instructions(code):
            if one.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                value = names.get(one.argval, _UNKNOWN)
            elif one.opname in ("LOAD_DEREF", "LOAD_FROM_DICT_OR_DEREF"):
                value = cells.get(one.argval, _UNKNOWN)
            elif one.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                value = self._attribute(value, one.argval)
            else:
                value = _UNKNOWN
            self._take(value, is_called="NULL" in one.argrepr or one.opname == "LOAD_METHOD")

    def _attribute(self, value: Any, name: str) -> Any:
        if name == "gameplay":
            return _GAMEPLAY
        if value is _GAMEPLAY:
            return self._calls.get(name, _UNKNOWN)
        return vars(value).get(name, _UNKNOWN) if isinstance(value, types.ModuleType) else _UNKNOWN

    def _take(self, value: Any, *, is_called: bool) -> None:
        if isinstance(value, type) and issubclass(value, Dependency):
            if value.activity and (is_called or value not in self._strategy.spec.provides):
                self._found.setdefault(value)
        elif isinstance(value, types.FunctionType) and str(value.__module__).partition(".")[0] == self._package:
            self._follow(value)


# --- typed stubs ------------------------------------------------------------------------------------------------------

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
    head = f"\n    def {name}(self{listed}) -> collections.abc.Awaitable[{result}]:\n"
    return f'{head}        """{text}"""\n        ...\n'


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
    holder = types.SimpleNamespace(__annotations__={"it": hint})
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
