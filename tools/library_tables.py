"""Make the tables of docs/reference/library.md from the standard actions and packs.

Each table stands between two marks, ``<!-- actions -->`` and ``<!-- end -->``; what is between them is replaced, the
rest of the page is left alone. Run it after a change of an action or a pack: ``python tools/library_tables.py``. A test
compares the page with what this script would write.

What an action needs is read from its source: every protocol by which it, or a function or base class that it uses, asks
an entity for a component; and for a plan of steps, what the actions that perform its steps need.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import agentrt_actions
import agentrt_packs
from agentrt import Action, CompoundAction, Registry
from agentrt.tasks import TaskGroupAction
from agentrt_actions import protocols, things
from marks import put

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "library.md"
SOURCES = sorted(Path(agentrt_actions.__file__).parent.glob("*.py"))

PROTOCOLS = (
    *(
        name
        for module in (protocols, things)
        for name in module.__all__
        if hasattr(getattr(module, name), "_is_protocol")
    ),
    "LeaseBook",
    "Finder",
)

# Asked for only if the entity has it.
OPTIONAL = ("Surveyor", "Finder", "Changing", "IdleEffects")


def _definitions() -> dict[str, ast.AST]:
    """Every function and class of the library, by name."""
    found: dict[str, ast.AST] = {}
    for file in SOURCES:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                found[node.name] = node
    return found


DEFINITIONS = _definitions()


def _asked(node: ast.AST) -> Iterator[str]:
    """The protocols by which a piece of code asks for components: ``entity[Mover]``, ``entity.get(Mover)``."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Name):
            name = inner.slice.id
        elif (
            isinstance(inner, ast.Call)
            and isinstance(inner.func, ast.Attribute)
            and inner.func.attr == "get"
            and inner.args
            and isinstance(inner.args[0], ast.Name)
        ):
            name = inner.args[0].id
        else:
            continue
        if name in PROTOCOLS:
            yield name


def _own_needs(name: str, seen: set[str]) -> set[str]:
    if name in seen or name not in DEFINITIONS:
        return set()
    seen.add(name)
    node = DEFINITIONS[name]
    needs = set(_asked(node))
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            needs |= _own_needs(inner.id, seen)
    return needs


def _activities(cls: type[Action]) -> set[str]:
    """What an action performs through others: its steps, and what it executes."""
    strings = (node.value for node in ast.walk(DEFINITIONS[cls.__name__]) if isinstance(node, ast.Constant))
    return {text for text in strings if isinstance(text, str) and text.startswith("agentrt:")} - {cls.does}


def _needs(cls: type[Action], actions: Mapping[str, type[Action]], seen: set[str]) -> set[str]:
    needs = _own_needs(cls.__name__, set())
    for activity in sorted(_activities(cls) - seen):
        seen.add(activity)
        for other in actions.values():
            if other.does == activity:
                needs |= _needs(other, actions, seen)
    return needs


def _told_needs(cls: type[Action], actions: Mapping[str, type[Action]]) -> str:
    needs = sorted(_needs(cls, actions, set()), key=lambda name: (name in OPTIONAL, name))
    return ", ".join(f"`{name}`{' (if any)' if name in OPTIONAL else ''}" for name in needs) or "-"


def _told_fields(text: str) -> str:
    inner = text.strip("()").replace("|", "\\|")
    return f"`{inner}`" if inner else "-"


def _output(cls: type[Action]) -> str:
    if issubclass(cls, CompoundAction) and cls.output is not None:
        return f"`{', '.join(cls.output.fields)}`"
    return _told_fields(cls.Output.describe()) if cls.Output is not None else "its arguments"


def _summary(thing: object) -> str:
    return (thing.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ").replace("  ", "")


def _packs_of(registry: Registry) -> dict[str, str]:
    """Each alias, and the pack in which it stands."""
    return {
        reference.alias: alias
        for alias in registry.aliases("ai_pack")
        for kind in ("actions", "observers", "task_groups")
        for reference in getattr(registry.pack(alias), kind)
    }


def tables() -> dict[str, list[str]]:
    """The tables of the page, by the titles of their marks."""
    registry = Registry([agentrt_actions.manifest, agentrt_packs.manifest])
    packs = _packs_of(registry)
    actions: dict[str, Any] = {alias: registry.get(alias) for alias in registry.aliases("actions")}
    told = ["| activity | action | arguments | output | needs | pack |", "| --- | --- | --- | --- | --- | --- |"]
    for alias, cls in sorted(actions.items(), key=lambda pair: (pair[1].does, pair[0])):
        cells = (
            f"`{cls.does}`",
            f"`{cls.__name__}`: {_summary(cls)}",
            _told_fields(cls.Args.describe()),
            _output(cls),
            _told_needs(cls, actions),
            f"`{packs[alias].removeprefix('agentrt:ai_pack:')}`",
        )
        told.append(f"| {' | '.join(cells)} |")
    return {
        "actions": told,
        "packs": list(_pack_rows(registry)),
        "protocols": list(_protocol_rows()),
        "groups": list(_group_rows(registry, packs)),
        "helpers": list(_helper_rows()),
    }


def _pack_rows(registry: Registry) -> Iterator[str]:
    yield "| pack | actions | observers and task groups | requires |"
    yield "| --- | --- | --- | --- |"
    for alias in registry.aliases("ai_pack"):
        pack = registry.pack(alias)
        more = [*pack.observers, *pack.task_groups]
        requires = [getattr(item, "alias", "") for item in pack.ai_packs]
        names = ", ".join(f"`{item.alias.rsplit(':', 1)[1]}`" for item in pack.actions)
        yield (
            f"| `{alias}` | {names} | {', '.join(f'`{item.alias}`' for item in more) or '-'} | "
            f"{', '.join(f'`{name}`' for name in requires) or '-'} |"
        )


def _protocol_rows() -> Iterator[str]:
    yield "| protocol | what it is | what it has |"
    yield "| --- | --- | --- |"
    for module in (protocols, things):
        for name in module.__all__:
            found = getattr(module, name)
            if name in PROTOCOLS:
                members = (_told_member(*item) for item in vars(found).items() if not item[0].startswith("_"))
                yield f"| `{name}` | {_summary(found)} | {'<br>'.join(f'`{member}`' for member in members)} |"


def _told_member(name: str, member: Any) -> str:
    """A property with its type, a method with its signature."""
    if isinstance(member, property):
        return f"{name}: {_told_signature(member.fget).rpartition(' -> ')[2]}"
    return name + _told_signature(member).replace("(self, ", "(").replace("(self)", "()")


def _told_signature(function: Any) -> str:
    return str(inspect.signature(function)).replace("'", "").replace("|", "\\|")


def _helper_rows() -> Iterator[str]:
    yield "| name | what it does |"
    yield "| --- | --- |"
    for name in sorted(agentrt_actions.__all__, key=str.lower):
        found = getattr(agentrt_actions, name)
        is_helper = inspect.isfunction(found) and not name.startswith("observe_")
        if is_helper or name in ("Change", "Finder", "Only", "Path", "RegionPart"):
            told = _told_signature(found) if is_helper else ""
            yield f"| `{name}{told}` | {_summary(found)} |"


def _group_rows(registry: Registry, packs: Mapping[str, str]) -> Iterator[str]:
    yield "| alias | what it is | pack |"
    yield "| --- | --- | --- |"
    for kind in ("task_groups", "observers"):
        for alias in registry.aliases(kind):
            found: Any = registry.get(alias)
            declared = ""
            if isinstance(found, type) and issubclass(found, TaskGroupAction):
                declared = " " + ", ".join(
                    f"`{one.activity}` {one.low:g}{'' if one.low == one.high else f' to {one.high:g}'}"
                    f"{', permanent' if one.is_permanent else ''}"
                    for one in found.tasks
                )
                declared += f"; within {found.spec.low:g} and {found.spec.high:g} at `{found.does}`."
            yield f"| `{alias}` | {_summary(found)}{declared} | `{packs[alias].removeprefix('agentrt:ai_pack:')}` |"


def updated(page: str) -> str:
    """Put the tables into a page.

    Args:
        page: its text.

    Returns:
        The text with fresh tables.

    Raises:
        ValueError: the page does not have the marks of a table exactly once.
    """
    for title, rows in tables().items():
        page = put(page, "table", title, "\n" + "\n".join(rows) + "\n\n")
    return page


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
