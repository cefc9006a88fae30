"""The closure of packs: everything that they and the packs they require hold.

The walk goes depth first along ``ai_packs``. A pack is listed after all that it requires, and once, however many ways
lead to it; what it names is listed where it is first named. So the order depends on what is written in the packs and
on nothing else. A circle is an error that prints it, with the reference that closes it.

The walk keeps its own stack: a chain of packs may be longer than Python's.

Two doors lead in. ``closure_of`` is for whoever injects: the first fault is raised, with the others as its notes.
``survey`` is for whoever reports: faults are collected, and the walk goes on without what is broken.

A component that several packs name keeps its place and takes the settings of the last pack that gives some: a pack
comes after those it requires, so it overrules them.

``check_files`` makes the report behind ``agentrt packs check``. It is for the author of a mod, who has a folder of
files, some of them broken, many of them referring to things that are not installed here. So nothing stops it. An alias
is known if it is registered; a file's name never says anything about its alias.

Source: Stonehearth, AI: "Injecting actions" (references to other packs are traversed recursively).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from agentrt.errors import DataFault, InvalidPackError, PackCycleError, UnknownAliasError
from agentrt.folders import files_below
from agentrt.packs.alias import kind_of
from agentrt.packs.document import Document, lines_of, parse, read
from agentrt.packs.loader import Pack, Reference, load_pack
from agentrt.packs.registry import Registry
from agentrt.packs.task_groups import TaskGroupsDocument, load_task_groups, looks_like
from agentrt.words import counted

if TYPE_CHECKING:  # `import agentrt` comes by here, and it is slow to import
    from pathlib import Path

MOST_FAULTS = 50
_LISTED = ("actions", "observers", "components", "task_groups", "strategies")


@dataclass(frozen=True, slots=True)
class Closure:
    """What a character knows that takes these packs."""

    packs: tuple[str, ...] = ()  # names of all packs, each after those that it requires
    actions: tuple[str, ...] = ()  # aliases of actions, each once, in the order in which they are first named
    observers: tuple[str, ...] = ()  # aliases of observers, likewise
    components: tuple[str, ...] = ()  # aliases of components, likewise
    task_groups: tuple[str, ...] = ()  # aliases of personal task groups, likewise
    strategies: tuple[str, ...] = ()  # aliases of strategies, likewise
    # for components that were given settings, these
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType({}))
    # for each alias that is listed, the reference that counts: the one that gave a component its settings, else
    # the first
    places: Mapping[str, Reference] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    unresolved: tuple[Reference, ...] = ()  # references to what nobody registered, the first one to each alias
    # packs that are broken or require each other in a circle, the first ``MOST_FAULTS`` of them; the closure is
    # what is left without them
    faults: tuple[DataFault, ...] = ()


def closure_of(packs: Iterable[Pack | str], registry: Registry, *, allow_unresolved: bool = False) -> Closure:
    """Find everything that packs hold and require. The first fault is raised; what is unresolved may be no fault."""
    found = survey(packs, registry)
    faults = _faults_of(found, registry, allow_unresolved)
    if faults:
        for other in faults[1:]:
            faults[0].add_note(str(other))
        raise faults[0]
    return found


def survey(packs: Iterable[Pack | str], registry: Registry) -> Closure:
    """Find everything that packs hold and require, and everything that is wrong with it."""
    return _Walk(registry).run(packs)


def _faults_of(found: Closure, registry: Registry, allow_unresolved: bool) -> list[DataFault]:
    """All that is wrong with a closure, an unresolved reference with the nearest names of its kind."""
    missing = () if allow_unresolved else found.unresolved
    return [*found.faults, *(_unknown(one, registry.aliases(kind_of(one.alias))) for one in missing)]


def _unknown(reference: Reference, known: Sequence[str]) -> UnknownAliasError:
    return UnknownAliasError(reference.alias, known, **reference.place)


class _Walk:
    """One walk."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._path: dict[str, None] = {}  # the packs that are open, by name, the outermost first
        self._done: dict[str, bool] = {}  # those that are not any more; False: it could not be loaded
        self._listed: dict[str, dict[str, None]] = {key: {} for key in _LISTED}
        self._settings: dict[str, Mapping[str, Any]] = {}
        self._places: dict[str, Reference] = {}
        self._unresolved: dict[str, Reference] = {}
        self._faults: dict[tuple[str, str], DataFault] = {}  # by requiring pack and required name

    def run(self, packs: Iterable[Pack | str]) -> Closure:
        for number, item in enumerate(packs, start=1):
            root = Reference(item) if isinstance(item, str) else item
            self._descend(root, f"(pack {number} from code)")
        return Closure(
            packs=tuple(name for name, loaded in self._done.items() if loaded),
            **{key: tuple(listed) for key, listed in self._listed.items()},
            settings=MappingProxyType(self._settings),
            places=MappingProxyType(self._places),
            unresolved=tuple(self._unresolved.values()),
            faults=tuple(self._faults.values()),
        )

    def _descend(self, root: Reference | Pack, label: str) -> None:
        stack: list[tuple[str, Pack, Iterator[Reference | Pack]]] = []
        upcoming: Reference | Pack | None = root
        while True:
            if upcoming is not None:
                opened = self._open(upcoming, label)
                if opened is not None:
                    name, pack = opened
                    self._path[name] = None
                    stack.append((name, pack, iter(pack.ai_packs)))
            if not stack:
                return
            name, pack, required = stack[-1]
            upcoming = next(required, None)
            if upcoming is None:
                stack.pop()
                del self._path[name]
                self._done[name] = True
                self._list(pack)

    def _open(self, item: Reference | Pack, label: str) -> tuple[str, Pack] | None:
        """Load what is required next, unless it is known, missing, broken, or open already."""
        if isinstance(item, Pack):
            name = item.name if item.alias or item.file else f"{label}{'#' if item.pointer else ''}{item.pointer}"
            return None if name in self._done else (name, item)
        name = item.alias
        if name in self._done:
            return None
        inner = next(reversed(self._path), "")
        if name in self._path:
            names = list(self._path)
            circle = [*names[names.index(name) :], name]
            self._fault(inner, name, PackCycleError(circle, **item.place))
            return None
        if name not in self._registry:
            self._unresolved.setdefault(name, item)
            return None
        try:
            return name, self._registry.pack(name, **item.place)
        except DataFault as fault:
            if inner:
                fault.add_note(f"{inner} requires it.")
            self._fault(inner, name, fault)
            self._done[name] = False
            return None

    def _fault(self, inner: str, name: str, fault: DataFault) -> None:
        if len(self._faults) < MOST_FAULTS:
            self._faults.setdefault((inner, name), fault)

    def _list(self, pack: Pack) -> None:
        for key, listed in self._listed.items():
            references: tuple[Reference, ...] = getattr(pack, key)
            for reference in references:
                listed.setdefault(reference.alias)
                self._places.setdefault(reference.alias, reference)
                if reference.settings is not None:
                    self._settings[reference.alias] = reference.settings
                    self._places[reference.alias] = reference
                if reference.alias not in self._registry:
                    self._unresolved.setdefault(reference.alias, reference)


# --- the report -------------------------------------------------------------------------------------------------------


class FileReport(NamedTuple):
    """What was found out about one file."""

    file: str  # the file, as it was named
    pack: Pack | None  # None when it is no pack
    closure: Closure
    faults: tuple[DataFault, ...]  # with references that nobody registered only if these were to be faults
    groups: TaskGroupsDocument | None = None  # what it holds if it is a document of task groups

    @property
    def ok(self) -> bool:
        return not self.faults

    def as_json(self) -> dict[str, Any]:
        pack = self.pack or Pack()
        groups = {} if self.groups is None else {"groups": list(self.groups.groups)}
        return {
            "file": self.file,
            "ok": self.ok,
            "alias": pack.alias or None,
            **{key: [reference.alias for reference in getattr(pack, key)] for key in _LISTED},
            "dependencies": _requires(pack),
            "closure": {key: list(getattr(self.closure, key)) for key in ("packs", *_LISTED)},
            "unresolved": [{"alias": reference.alias, **reference.place} for reference in self.closure.unresolved],
            "problems": [problem for fault in self.faults for problem in problems_of(fault)],
            **groups,
        }

    def as_text(self) -> Iterator[str]:
        known_as = f" ({self.pack.alias})" if self.pack and self.pack.alias else ""
        yield f"{self.file}{known_as}: {'ok' if self.ok else 'FAILED'}"
        for fault in self.faults:
            for number, line in enumerate(str(fault).splitlines()):
                yield f"  {'  ' if number else 'error: '}{line}"
        if self.groups is not None:
            groups = self.groups.groups.values()
            yield from _listed("task groups", _declared(self.groups), always=True)
            yield from _listed("registered elsewhere", [entry.alias for entry in groups if entry.is_reference])
            yield from _listed("extends", [entry.extends for entry in groups if entry.extends])
        if self.pack is not None:
            yield from self._pack_as_text(self.pack)
        if self.pack is not None or self.groups is not None:
            yield from _listed("unresolved", [reference.alias for reference in self.closure.unresolved], always=True)

    def _pack_as_text(self, pack: Pack) -> Iterator[str]:
        own = {key: tuple(reference.alias for reference in getattr(pack, key)) for key in _LISTED}
        for key, aliases in own.items():
            yield from _listed(key.replace("_", " "), aliases, always=key == "actions")
        yield from _listed("dependencies", _requires(pack), always=True)
        if all(set(getattr(self.closure, key)) == set(aliases) for key, aliases in own.items()):
            yield "  closure: nothing beyond the pack itself"
        else:
            for key in ("packs", *_LISTED):
                yield from _listed(f"closure: {key.replace('_', ' ')}", getattr(self.closure, key))


class CheckReport(NamedTuple):
    """What was found out about all files."""

    files: tuple[FileReport, ...] = ()  # in the order in which they were named

    @property
    def ok(self) -> bool:
        return all(report.ok for report in self.files)

    def as_json(self) -> dict[str, Any]:
        return {"ok": self.ok, "files": [report.as_json() for report in self.files]}

    def as_text(self) -> Iterator[str]:
        """The report as lines; the last one sums up."""
        for report in self.files:
            yield from report.as_text()
            yield ""
        failed = sum(not report.ok for report in self.files)
        unresolved = {reference.alias for report in self.files for reference in report.closure.unresolved}
        yield (
            f"{counted(len(self.files), 'file')}: {len(self.files) - failed} ok, {failed} failed; "
            f"{counted(len(unresolved), 'unresolved alias', 'unresolved aliases')}"
        )


def find_files(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The files to check: a file stands for itself, a folder for all ``*.json`` below it, of which there has to be one.

    What begins with a dot in there, ``site-packages`` and the like are passed over. A file that does not exist is kept,
    so that it is reported.
    """
    found: dict[Path, None] = {}
    for path in paths:
        below = list(files_below(path, ".json")) if path.is_dir() else [path]
        if not below:
            text = "there is no *.json file in this folder. Name the folder of the packs."
            raise InvalidPackError([("", text)], file=str(path))
        found.update(dict.fromkeys(below))
    return tuple(found)


def check_files(files: Iterable[Path], registry: Registry, *, allow_unresolved: bool = False) -> CheckReport:
    """Check pack files, all of them: nothing that stands in one is raised. What is unresolved may be no fault."""
    return CheckReport(tuple(_check_file(file, registry, allow_unresolved) for file in files))


def check_document(data: bytes, file: str, path: str, registry: Registry) -> FileReport:
    """Check what a file would hold, with everything that refers to it; nothing is raised, and the registry stays.

    Args:
        data: what it would hold.
        file: what errors call it.
        path: its real path.
        registry: the one whose aliases are known; it may read that file for one of them.
    """
    try:
        document = parse(data, file)
    except DataFault as fault:
        return FileReport(file, None, Closure(), (fault,))
    there = registry.reading(lambda other: document if other == path else None)
    return _check(document, registry.alias_of(path), there, allow_unresolved=False)


def _check_file(file: Path, registry: Registry, allow_unresolved: bool) -> FileReport:
    try:
        document = read(file)
    except DataFault as fault:
        return FileReport(str(file), None, Closure(), (fault,))
    return _check(document, registry.alias_of(file), registry, allow_unresolved)


def _check(document: Document, alias: str, registry: Registry, allow_unresolved: bool) -> FileReport:
    file = document.file
    try:
        if looks_like(document.value):
            return _check_groups(document, registry, allow_unresolved)
        pack = load_pack(document, alias=alias)
    except DataFault as fault:
        return FileReport(file, None, Closure(), (fault,))
    closure = survey([alias or pack], registry)
    return FileReport(file, pack, closure, tuple(_faults_of(closure, registry, allow_unresolved)))


def _check_groups(source: Document, registry: Registry, allow_unresolved: bool) -> FileReport:
    document, lines = load_task_groups(source), lines_of(source.text)
    declared = _declared(document)
    missing: list[Reference] = []
    faults: list[DataFault] = []
    for entry in document.groups.values():
        if entry.is_reference and entry.alias not in registry:
            missing.append(Reference(entry.alias, document.file, entry.pointer, entry.line))
        elif entry.extends and entry.extends not in declared and entry.extends not in registry:
            line = lines[("task_groups", entry.alias, "extends")]
            missing.append(Reference(entry.extends, document.file, f"{entry.pointer}/extends", line))
        elif not entry.extends and not entry.is_reference:
            try:
                entry.make_class()
            except DataFault as fault:
                faults.append(fault)
    if not allow_unresolved:
        known = (*declared, *registry.aliases("task_groups"))
        faults.extend(_unknown(one, known) for one in missing)
    return FileReport(source.file, None, Closure(unresolved=tuple(missing)), tuple(faults), document)


def _declared(document: TaskGroupsDocument) -> list[str]:
    return [entry.alias for entry in document.groups.values() if not entry.extends and not entry.is_reference]


def _requires(pack: Pack) -> list[str]:
    return [item.name if isinstance(item, Pack) else item.alias for item in pack.ai_packs]


def problems_of(fault: DataFault) -> Iterator[dict[str, Any]]:
    """The problems that a fault tells of, each with its place and its text."""
    if isinstance(fault, InvalidPackError):
        problems = [(*problem, line) for problem, line in zip(fault.problems, fault.lines, strict=True)]
        if fault.omitted:
            problems.append(("", f"and {fault.omitted} more problems", 0))
    else:
        problems = [(fault.pointer, fault.text.removeprefix(f"{fault.place}: "), fault.line)]
    for pointer, text, line in problems:
        yield {"code": fault.code, "file": fault.file, "pointer": pointer, "line": line, "text": text}


def _listed(title: str, aliases: Sequence[str], *, always: bool = False) -> Iterator[str]:
    if aliases or always:
        yield f"  {title} ({len(aliases)})"
        for alias in aliases:
            yield f"    {alias}"
