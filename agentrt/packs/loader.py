"""Packs: a checked document, as frozen values.

``load_pack`` takes a file, a mapping from code, or a part of another document, and returns a ``Pack``. A text is always
an alias and is looked up in a registry; a file is always a ``Path`` or a resource, so that no pack can name one.

A ``Reference`` keeps beside each alias where it is written, so that whoever cannot resolve it later can say so with
file and pointer. A pack that is written in place becomes a ``Pack`` among the ``ai_packs`` of the one around it.

``mix`` merges two packs by the rule that the second one declares for each key: append what the first does not have, or
override it. A key that the mixin does not have at all is left alone, whatever it declares for it. This is how a mod
changes a pack that is not its own; what it mixes into, its manifest says.

Nothing here resolves anything: dependencies are walked in ``closure``.

Source: Stonehearth, AI: "Injecting actions".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from agentrt.errors import FilePlace, ManifestError
from agentrt.packs import schema
from agentrt.packs.alias import KEYS, pointer_to
from agentrt.packs.document import Document, Readable, copy_inline, is_document, lines_of, read
from agentrt.packs.document import Path as Way

if TYPE_CHECKING:  # `import agentrt` comes by here, and these are slow to import
    from importlib.resources.abc import Traversable
    from pathlib import Path

PackSource: TypeAlias = "Path | Traversable | Readable | Document | Mapping[str, object]"
"""What a pack is loaded from: a file, one that was read already, or the pack itself as Python values."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An alias, and where it is written."""

    alias: str  # what is referred to
    file: str = field(default="", compare=False)  # the file that holds the reference; empty when it came from code
    pointer: str = field(default="", compare=False)  # its place in that file, as a JSON pointer
    line: int = field(default=0, compare=False)  # the line of that place, from 1; 0 if it came from code
    settings: Mapping[str, Any] | None = field(default=None, hash=False)  # of a component, if the pack gives it some

    @property
    def place(self) -> FilePlace:
        """Where it is written, for whoever tells what is wrong with it."""
        return {"file": self.file, "pointer": self.pointer, "line": self.line}


@dataclass(frozen=True, slots=True)
class Pack:
    """One AI pack as it is written, checked and frozen.

    Source: Stonehearth, AI: "Injecting actions".
    """

    alias: str = ""  # the alias under which it is registered; empty for others
    file: str = ""  # the file that it was read from; for a registered mapping its alias; empty for others from code
    pointer: str = ""  # its place in that file; empty for a whole file
    actions: tuple[Reference, ...] = ()  # the actions that it names
    observers: tuple[Reference, ...] = ()  # the observers that it names
    components: tuple[Reference, ...] = ()  # the components that it names, with their settings
    task_groups: tuple[Reference, ...] = ()  # the personal task groups that it names
    strategies: tuple[Reference, ...] = ()  # the strategies that it names
    ai_packs: tuple[Reference | Pack, ...] = ()  # the packs that it requires: references, or packs written in place
    # for each key, ``"append"`` or ``"override"``: what this pack does as a mixin
    mixintypes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)

    @property
    def name(self) -> str:
        """What messages call this pack: its alias, else its place, else that it has neither."""
        place = self.file + (f"#{self.pointer}" if self.pointer else "")
        return self.alias or place or "(a pack from code)"

    def as_json(self) -> dict[str, Any]:
        """The pack as the document that it was loaded from, without what that left out or had ignored."""
        written: dict[str, Any] = {}
        for key in KEYS:
            items = getattr(self, key)
            if items and key == "components":  # only an object can give settings; it loses nothing by giving none
                written[key] = {item.alias: deepcopy(dict(item.settings or {})) for item in items}
            elif items:
                written[key] = [item.as_json() if isinstance(item, Pack) else item.alias for item in items]
        if self.mixintypes:
            written["mixintypes"] = dict(self.mixintypes)
        return written


def load_pack(source: PackSource, *, alias: str = "", file: str = "", pointer: str = "") -> Pack:
    """Load a pack from a file or from Python values.

    Args:
        source: a ``Path`` or a resource of a package, which is read as JSON; or the pack as a mapping.
        alias: the alias that it is registered under, if any.
        file: for a mapping that is a part of another document, what errors call that document.
        pointer: for such a mapping, its place in there.

    Returns:
        The pack, frozen; nothing that ``source`` does later changes it.

    Raises:
        InvalidPackError: it cannot be read or is not a pack; with all of its problems.
        ManifestError: ``source`` is neither a file nor a mapping.
    """
    if isinstance(source, Mapping):
        file = file or alias
        document = copy_inline(source, file + (f"#{pointer}" if pointer else ""))
    elif is_document(source):
        document = source if isinstance(source, Document) else read(source)
        file, pointer = document.file, ""
    else:
        raise ManifestError(
            alias or "load_pack",
            f"a pack is loaded from a Path, a resource or a mapping, and this is a {type(source).__name__}.",
            "Write pathlib.Path(...) around the name of a file; ask a Registry for an alias.",
        )
    schema.check(document, schema.PACK)
    return _from_value(document.value, alias, file, pointer, (), lines_of(document.text))


def mix(base: Pack, mixin: Pack) -> Pack:
    """Merge a mixin into a pack, which keeps its name and its own ``mixintypes``; references keep their places."""
    changes: dict[str, Any] = {}
    for key in KEYS:
        ours, theirs = getattr(base, key), getattr(mixin, key)
        if theirs:
            is_override = mixin.mixintypes.get(key) == "override"
            changes[key] = theirs if is_override else _append(ours, theirs)
    return replace(base, **changes)


def _append(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Append what is new. A component that both have keeps its place and takes the mixin's settings, if it has any."""
    merged: dict[str | int, Any] = {}
    for position, item in enumerate((*ours, *theirs)):
        if isinstance(item, Pack):
            merged[position] = item
        elif item.alias not in merged or item.settings is not None:
            merged[item.alias] = item
    return tuple(merged.values())


def _from_value(value: dict[str, Any], alias: str, file: str, pointer: str, way: Way, lines: Mapping[Way, int]) -> Pack:
    """A pack of what stands in a document, ``way`` down from its top; the document itself may be a part of another."""

    def refer(name: str, *to: str | int, settings: Mapping[str, Any] | None = None) -> Reference:
        return Reference(name, file, pointer + pointer_to(to), lines.get((*way, *to), 0), settings)

    def items(key: str) -> Iterator[Reference | Pack]:
        written = value.get(key, ())
        if isinstance(written, dict):  # components with their settings
            for name, settings in written.items():
                if not name.startswith("_"):
                    yield refer(name, key, name, settings=MappingProxyType(settings))
            return
        for index, item in enumerate(written):
            if isinstance(item, dict):
                yield _from_value(item, "", file, pointer + pointer_to((key, index)), (*way, key, index), lines)
            else:
                yield refer(item, key, index)

    listed: dict[str, Any] = {key: tuple(items(key)) for key in KEYS}
    rules = {key: rule for key, rule in value.get("mixintypes", {}).items() if not key.startswith("_")}
    return Pack(alias, file, pointer, **listed, mixintypes=MappingProxyType(rules))
