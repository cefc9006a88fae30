"""The registry: what every alias names, filled by manifests.

A mod offers a ``Manifest``: its name, and a table from ``kind:name`` to the thing itself, which is a class or any other
object for code, and a file or a mapping for a pack. Manifests are found through the entry-point groups
``agentrt.actions``, ``agentrt.strategies`` and ``agentrt.packs``; agentrt's own content takes the same road as
anybody's. A program may also register things itself.

Rules:

* An alias names one thing. Registering it again is an error that names both origins, and a manifest that fails
  changes nothing.
* Discovery is in one order everywhere: the group of actions, that of strategies, that of packs; in each by the entry
  point's name, then by its value; manifests that the caller has come last. The order in which packages were installed
  has no part in it.
* The worlds to look at that come in the wheel of agentrt are offered like anybody's content, and are nobody's but their
  own: they are taken only by who asks for ``examples``, as these worlds do for their agents.
* An entry point is code of somebody else's, which may raise anything while it is imported, ``SystemExit`` too: that is
  a ``ManifestError`` with the distribution's name. What agents share (``default_registry``) goes without that manifest
  and has all others; ``discover`` raises, unless it is told to do the same.
* A registry answers lookups only from its table. An alias never becomes an import path.
* A mod may mix a pack of its own into a pack of another mod (``mixins``). They are merged, in the order in which they
  were registered, when that pack is loaded. A mixin into a pack that nobody registered waits without effect.

Packs are loaded when they are first asked for and then kept: they are frozen, so all agents share them. What a kind is
good for (that an action is an ``Action``) is not known on this floor; whoever injects it checks that. Task groups are
the exception: they may be registered to a class, a file or a mapping, and ``task_group_of`` makes one thing of the
three; a document that is registered under an alias has an entry of that name.

Source: Stonehearth, AI: "Writing actions" (the manifest's aliases) and "Injecting actions".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Unpack

from agentrt.activity.tasks.declare import TaskGroupAction
from agentrt.errors import (
    AuthorError,
    DefinitionError,
    DuplicateAliasError,
    FilePlace,
    InvalidPackError,
    ManifestError,
    UnknownAliasError,
    did_you_mean,
)
from agentrt.packs.alias import KINDS, is_alias, kind_of, shown
from agentrt.packs.document import is_document
from agentrt.packs.loader import Pack, PackSource, load_pack, mix
from agentrt.packs.task_groups import GroupEntry, TaskGroupsDocument, load_task_groups
from agentrt.words import error_words, repr_of, type_name, words_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from pathlib import Path

T = TypeVar("T")

ENTRY_POINT_GROUPS = ("agentrt.actions", "agentrt.strategies", "agentrt.packs")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a mod offers.

    Raises:
        ManifestError: the mod's name or a key is not well formed.
    """

    mod: str  # the first word of all of its aliases
    # from ``kind:name`` to the thing: ``{"actions:wander": Wander, "ai_pack:core": FOLDER / "core.json"}``
    aliases: Mapping[str, object] = field(default_factory=dict)
    # from the full alias of a pack, usually another mod's, to the pack that is mixed into it
    mixins: Mapping[str, PackSource] = field(default_factory=dict)

    def __post_init__(self) -> None:
        where = f"the manifest of '{self.mod}'"
        if not is_alias(f"{self.mod}:x") or ":" in self.mod:
            raise ManifestError(where, "this is no name for a mod.", "Use letters, digits, '_', '.' and '-'.")
        for key in self.aliases:
            _check_alias(f"{self.mod}:{key}", where, key)
        for alias in self.mixins:
            _check_mixed_into(alias, where)
        object.__setattr__(self, "aliases", MappingProxyType(dict(self.aliases)))
        object.__setattr__(self, "mixins", MappingProxyType(dict(self.mixins)))


class _Entry(NamedTuple):
    thing: object
    origin: str
    manifest: Manifest | None = None  # that offers it; None for what was registered by itself


class Registry:
    """A table of aliases. A runtime has one; tests make their own.

    An alias that nobody registered is an ``UnknownAliasError`` with the nearest names, whatever is asked of it; that
    tells of a ``file``, and a ``pointer`` and a ``line`` in it, the place that refers to the alias.

    Args:
        manifests: taken in order, as by ``add``.
    """

    def __init__(self, manifests: Iterable[Manifest] = ()) -> None:
        self._entries: dict[str, _Entry] = {}
        self._broken: list[AuthorError] = []
        self._told = 0  # how many of these
        self._mixins: dict[str, list[PackSource]] = {}
        self._loaded: dict[str, Pack] = {}
        self._groups: dict[str, TaskGroupsDocument] = {}
        self._classes: dict[GroupEntry, type[TaskGroupAction]] = {}
        for manifest in manifests:
            self.add(manifest)

    @classmethod
    def discover(cls, *own: Manifest, strict: bool = True, examples: bool = False) -> Registry:
        """Make a registry of everything that the installed packages offer.

        Args:
            own: manifests of the caller's, which may be installed as well.
            strict: whether a manifest that cannot be taken is raised; else it is passed over as a whole, and the error
                is in ``broken``.
            examples: whether to take what the worlds to look at bring that are installed with agentrt.

        Raises:
            ManifestError: an entry point cannot be loaded, or offers something else than a ``Manifest``.
            DuplicateAliasError: two packages register the same alias.
        """
        from importlib.metadata import entry_points  # slow to import, and only needed here

        registry = cls()
        taken: list[Manifest] = []
        for group in ENTRY_POINT_GROUPS:
            for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
                if _is_example(point) and not examples:
                    continue
                try:
                    manifest = _load_manifest(point)
                    if not any(manifest is known for known in taken):  # one manifest may stand in both groups
                        registry.add(manifest, origin=origin_of(point))
                        taken.append(manifest)
                except AuthorError as error:
                    if strict:
                        raise
                    registry._broken.append(error)
        for manifest in own:
            if not any(manifest is known for known in taken):
                registry.add(manifest)
        return registry

    @property
    def broken(self) -> tuple[AuthorError, ...]:
        """What was wrong with the manifests that were passed over, in their order."""
        return tuple(self._broken)

    def take_untold(self) -> tuple[AuthorError, ...]:
        """Those of ``broken`` that were not taken like this before: for who tells of each of them once."""
        untold = tuple(self._broken[self._told :])
        self._told = len(self._broken)
        return untold

    def add(self, manifest: Manifest, *, origin: str = "") -> None:
        """Register all that a manifest offers, or nothing.

        Args:
            manifest: of a mod.
            origin: what errors call the place it came from.

        Raises:
            ManifestError: it is no manifest.
            DuplicateAliasError: one of its aliases is registered already.
        """
        given: object = manifest
        if not isinstance(given, Manifest):
            remedy = 'Write Manifest("mod", {"actions:walk": Walk}).'
            raise ManifestError("a registry", f"{repr_of(given, 80)} is no manifest.", remedy)
        origin = origin or f"the manifest of '{manifest.mod}'"
        entries = {f"{manifest.mod}:{key}": _Entry(thing, origin, manifest) for key, thing in manifest.aliases.items()}
        for alias in entries:  # all of them before any is put in
            self._check_free(alias, origin)
        self._entries.update(entries)
        for alias, source in manifest.mixins.items():
            self.register_mixin(alias, source)

    def register(self, alias: str, thing: object, *, origin: str = "code") -> None:
        """Register one thing.

        Args:
            alias: ``mod:kind:name``.
            thing: any object for code; for a pack a ``Path``, a resource or a mapping.
            origin: what errors call the place it came from.

        Raises:
            ManifestError: the alias is not well formed.
            DuplicateAliasError: it is registered already.
        """
        _check_alias(alias, origin, alias)
        self._check_free(alias, origin)
        self._entries[alias] = _Entry(thing, origin)

    def register_mixin(self, alias: str, source: PackSource) -> None:
        """Mix a pack into another one, whenever that is loaded from now on.

        Args:
            alias: the pack that is changed. It need not be registered, now or ever.
            source: the mixin.

        Raises:
            ManifestError: the alias is not one of a pack.
        """
        _check_mixed_into(alias, "code")
        self._mixins.setdefault(alias, []).append(source)
        self._loaded.pop(alias, None)  # who has that pack keeps it as it is

    def files(self) -> set[str]:
        """The real paths of the packs and documents that it reads from files, or did."""
        things = [entry.thing for entry in self._entries.values()]
        things += [one for mixins in self._mixins.values() for one in mixins]
        things += [entry.file for entry in self._classes if entry.file]
        return {os.path.realpath(one) for one in things if isinstance(one, (str, os.PathLike))}

    def documents(self) -> dict[str, tuple[str, ...]]:
        """The real paths of the files that it reads, each with the aliases of what is in it, or is mixed into."""
        found: dict[str, dict[str, None]] = {}
        things = [(alias, entry.thing) for alias, entry in self._entries.items()]
        things += [(alias, one) for alias, mixins in self._mixins.items() for one in mixins]
        for alias, thing in things:
            if isinstance(thing, os.PathLike):
                found.setdefault(os.path.realpath(thing), {})[alias] = None
        return {path: tuple(aliases) for path, aliases in found.items()}

    def reading(self, instead: Callable[[str], PackSource | None] | None = None) -> Registry:
        """Another registry with the same aliases, which reads something else in the place of files; this one stays.

        Args:
            instead: gives what is read instead of a file, by its real path; None for the file itself. Without it
                all files are read as they are.
        """
        other = Registry()

        def taken(thing: T) -> T | PackSource:
            found = instead(os.path.realpath(thing)) if instead and isinstance(thing, os.PathLike) else None
            return thing if found is None else found

        other._entries = {alias: one._replace(thing=taken(one.thing)) for alias, one in self._entries.items()}
        other._mixins = {alias: [taken(one) for one in mixins] for alias, mixins in self._mixins.items()}
        other._broken = list(self._broken)
        return other

    def refresh(
        self, files: Collection[str], manifests: Iterable[tuple[Manifest, Manifest]] = ()
    ) -> tuple[Callable[[], None], dict[type, type]]:
        """Have packs and documents read again when they are asked for the next time, since files changed.

        Args:
            files: real paths of documents.
            manifests: those that others take the place of, with these; what they offer is registered anew.

        Returns:
            A function that puts all back; and which class of a task group stands for which one now.

        Raises:
            InvalidPackError: a document of task groups among the files is broken.
            DuplicateAliasError: a manifest offers an alias that somebody else has.
        """
        tables: list[dict[Any, Any]] = [self._entries, self._loaded, self._groups, self._classes]
        kept: list[dict[Any, Any]] = [dict(table) for table in tables]
        mixins = {alias: list(sources) for alias, sources in self._mixins.items()}

        def put_back() -> None:
            for table, before in zip(tables, kept, strict=True):
                table.clear()
                table.update(before)
            self._mixins = mixins

        try:
            for old, new in manifests:
                self._replace(old, new)
            self._loaded.clear()
            for alias, thing in [(alias, entry.thing) for alias, entry in self._entries.items()]:
                if isinstance(thing, os.PathLike) and os.path.realpath(thing) in files:
                    self._groups.pop(alias, None)
            return put_back, self._read_groups_again(files)
        except BaseException:
            put_back()
            raise

    def _replace(self, old: Manifest, new: Manifest) -> None:
        ours = {alias: entry for alias, entry in self._entries.items() if entry.manifest is old}
        if not ours and old.aliases:
            return  # it is not from here
        origin = next((entry.origin for entry in ours.values()), f"the manifest of '{new.mod}'")
        for alias in ours:
            del self._entries[alias]
        for alias, source in old.mixins.items():
            self._mixins[alias] = [one for one in self._mixins.get(alias, ()) if one is not source]
        self.add(new, origin=origin)

    def _read_groups_again(self, files: Collection[str]) -> dict[type, type]:
        """The classes that were made of entries of documents, for those of which there is another one now."""
        from pathlib import Path  # slow to import

        changed: dict[type, type] = {}
        documents: dict[str, TaskGroupsDocument] = {}
        for entry, cls in tuple(self._classes.items()):
            path = os.path.realpath(entry.file) if entry.file else ""
            if path not in files:
                continue
            if path not in documents:
                documents[path] = load_task_groups(Path(entry.file), file=entry.file)
            del self._classes[entry]
            now = documents[path].groups.get(entry.alias)
            if now is not None and not now.extends and not now.is_reference:
                if (now.metadata, now.tasks) == (entry.metadata, entry.tasks):
                    self._classes[now] = cls
                else:
                    changed[cls] = self.group_class(now)
        return changed

    def __contains__(self, alias: object) -> bool:
        return alias in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def aliases(self, kind: str = "") -> tuple[str, ...]:
        """The aliases that are registered, of one kind or all, in alphabetical order."""
        return tuple(sorted(alias for alias in self._entries if not kind or kind_of(alias) == kind))

    def origin(self, alias: str) -> str:
        """Where an alias was registered, in words."""
        return self._entry(alias).origin

    def get(self, alias: str, **place: Unpack[FilePlace]) -> object:
        """What an alias names."""
        return self._entry(alias, **place).thing

    def pack(self, alias: str, **place: Unpack[FilePlace]) -> Pack:
        """Load the pack that an alias names, with what others mix into it.

        Raises:
            InvalidPackError: the alias is of another kind, or what it names, or a mixin of it, is not a pack.
        """
        loaded = self._loaded.get(alias)
        if loaded is None:
            if kind_of(alias) != "ai_pack":
                near = did_you_mean(alias, self.aliases("ai_pack"))
                text = f"{shown(alias)} is not the alias of a pack.{near} Write 'mod:ai_pack:name'."
                raise _at(place, text)
            thing = self.get(alias, **place)
            loaded = thing if isinstance(thing, Pack) else load_pack(thing, alias=alias)  # type: ignore[arg-type]
            for number, source in enumerate(self._mixins.get(alias, ()), start=1):
                loaded = mix(loaded, load_pack(source, file=f"(mixin {number} of {alias})"))
            self._loaded[alias] = loaded
        return loaded

    def task_groups(self, alias: str) -> TaskGroupsDocument:
        """The document of task groups that an alias names, a file or a mapping; ``InvalidPackError`` if it is none."""
        if alias not in self._groups:
            thing: Any = self.get(alias)
            self._groups[alias] = load_task_groups(thing, file=alias)
        return self._groups[alias]

    def group_class(self, entry: GroupEntry) -> type[TaskGroupAction]:
        """The class of a group that is declared in a document; the same one each time, so that all agents share it."""
        if entry not in self._classes:
            self._classes[entry] = entry.make_class()
        return self._classes[entry]

    def name_of(self, thing: object) -> str:
        """The alias under which the very object is registered, or an empty string."""
        return next((alias for alias, entry in self._entries.items() if entry.thing is thing), "")

    def alias_of(self, file: Path | str) -> str:
        """The alias under which a file is registered as a pack, or an empty string."""
        wanted = os.path.realpath(file)
        for alias, entry in self._entries.items():
            if isinstance(entry.thing, os.PathLike) and os.path.realpath(entry.thing) == wanted:
                return alias
        return ""

    def _entry(self, alias: str, **place: Unpack[FilePlace]) -> _Entry:
        entry = self._entries.get(alias)
        if entry is None:
            error = UnknownAliasError(alias, self.aliases(kind_of(alias)), **place)
            for broken in self._broken:  # it may be one of theirs
                error.add_note(f"Passed over: {broken}")
            raise error
        return entry

    def _check_free(self, alias: str, origin: str) -> None:
        if alias in self._entries:
            raise DuplicateAliasError(alias, self._entries[alias].origin, origin)


@cache
def default_registry() -> Registry:
    """The registry of all that the installed packages offer, discovered once for the process; what is broken is not."""
    return Registry.discover(strict=False)


def _at(place: FilePlace, text: str) -> InvalidPackError:
    problem = [(place.get("pointer", ""), text)]
    return InvalidPackError(problem, file=place.get("file", ""), lines=[place.get("line", 0)])


def task_group_of(alias: str, registry: Registry, **place: Unpack[FilePlace]) -> type[TaskGroupAction] | GroupEntry:
    """What an alias of a task group stands for: the class of the group; or the entry of an extension."""
    thing = registry.get(alias, **place)
    if isinstance(thing, type) and issubclass(thing, TaskGroupAction):
        return thing
    if not is_document(thing):
        raise DefinitionError(
            alias,
            f"it names {thing!r}.",
            "Register a class derived from agentrt.tasks.TaskGroupAction, or a JSON document.",
        )
    document = registry.task_groups(alias)
    entry = document.groups.get(alias)
    if entry is None:
        text = (
            f"it is registered as '{alias}', but declares no group of that name."
            f"{did_you_mean(alias, document.groups)} It declares: {', '.join(document.groups) or 'none'}."
        )
        raise InvalidPackError([("/task_groups", text)], file=document.file)
    if entry.is_reference:
        text = f"the group is registered elsewhere, it says, but '{alias}' is registered to this very document."
        raise _at(entry.place, f"{text} Declare the group here.")
    return entry if entry.extends else registry.group_class(entry)


def _check_alias(alias: str, origin: str, written: str) -> None:
    if is_alias(alias) and kind_of(alias):
        return
    words = alias.split(":")
    near = did_you_mean(words[1], KINDS) if len(words) > 1 else ""
    raise ManifestError(
        origin,
        f"'{written}' does not make an alias 'mod:kind:name'.{near}",
        f"The kinds are {', '.join(KINDS)}; a manifest writes 'kind:name', code writes all three.",
    )


def _check_mixed_into(alias: str, origin: str) -> None:
    if not is_alias(alias) or kind_of(alias) != "ai_pack":
        raise ManifestError(origin, f"'{alias}' is not the alias of a pack.", "A mixin goes into 'mod:ai_pack:name'.")


def origin_of(point: EntryPoint) -> str:
    """What errors call an entry point: its name, its group, what it names, and whose it is, as far as that is known."""
    whose = words_of(point.dist.name) if point.dist is not None else ""
    return f"the entry point '{point.name}' of '{point.group}' ({point.value}{f', from {whose}' if whose else ''})"


def _is_example(point: EntryPoint) -> bool:
    """Whether it is one of agentrt's own wheel, and not the standard actions and packs, which are called like it."""
    return point.dist is not None and point.dist.name == "agentrt" and point.name != "agentrt"


def load_entry_point(point: EntryPoint) -> object:
    """Import what an entry point names; whatever that raises is a ``ManifestError``."""
    try:
        thing: object = point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module that ends the program when it is imported is broken, and ends nothing
        problem = f"loading it raised {error_words(error)}."
        raise ManifestError(origin_of(point), problem, "Repair or uninstall that package.") from error
    return thing


def _load_manifest(point: EntryPoint) -> Manifest:
    manifest = load_entry_point(point)
    if not isinstance(manifest, Manifest):
        raise ManifestError(
            origin_of(point),
            f"it is a {type_name(manifest)} and not an agentrt.Manifest.",
            "Point it at a Manifest object, as in 'my_mod:manifest'.",
        )
    return manifest
