"""The report behind ``agentrt packs check``: what files of packs and of task groups hold, require and miss.

It is made for the author of a mod, who has a folder of files, some of them broken, many of them referring to things
that are not installed here. So nothing stops it: every file is reported, with all of its problems. An alias is
known if it is registered; a file's name never says anything about its alias. A file that says so (``"type":
"task_groups"``), or that has an object under ``task_groups``, is a document of task groups; any other is a pack.

The report is data. ``as_json`` and ``as_text`` write it down; the command line only prints it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentrt.errors import DataFault, InvalidPackError, UnknownAliasError
from agentrt.packs.closure import Closure, survey, unknown
from agentrt.packs.document import read
from agentrt.packs.loader import Pack, Reference, load_pack
from agentrt.packs.registry import Registry
from agentrt.packs.task_groups import TaskGroupsDocument, load_task_groups, looks_like

__all__ = ["CheckReport", "FileReport", "check_files", "find_files"]

_CLOSURE_KEYS = ("packs", "actions", "observers", "components", "task_groups", "strategies")


@dataclass(frozen=True, slots=True)
class FileReport:
    """What was found out about one file."""

    file: str  # the file, as it was named
    pack: Pack | None  # what it holds, or None when it is no pack
    closure: Closure  # what it holds together with all that it requires
    # everything that is wrong; a reference that nobody registered only if that was to be a fault
    faults: tuple[DataFault, ...]
    groups: TaskGroupsDocument | None = None  # what it holds if it is a document of task groups

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults

    def as_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        pack = self.pack or Pack()
        groups = {} if self.groups is None else {"groups": list(self.groups.groups)}
        return {
            "file": self.file,
            "ok": self.ok,
            "alias": pack.alias or None,
            "actions": [reference.alias for reference in pack.actions],
            "observers": [reference.alias for reference in pack.observers],
            "components": [reference.alias for reference in pack.components],
            "task_groups": [reference.alias for reference in pack.task_groups],
            "strategies": [reference.alias for reference in pack.strategies],
            "dependencies": _requires(pack),
            "closure": {key: list(getattr(self.closure, key)) for key in _CLOSURE_KEYS},
            "unresolved": [
                {"alias": reference.alias, "file": reference.file, "pointer": reference.pointer}
                for reference in self.closure.unresolved
            ],
            "problems": [problem for fault in self.faults for problem in _problems(fault)],
            **groups,
        }

    def as_text(self) -> Iterator[str]:
        """The report as lines."""
        known_as = f" ({self.pack.alias})" if self.pack and self.pack.alias else ""
        yield f"{self.file}{known_as}: {'ok' if self.ok else 'FAILED'}"
        for fault in self.faults:
            for number, line in enumerate(str(fault).splitlines()):
                yield f"  {'  ' if number else 'error: '}{line}"
        if self.groups is not None:
            yield from self._groups_as_text(self.groups)
        if self.pack is None:
            return
        own = {key: tuple(ref.alias for ref in getattr(self.pack, key)) for key in _CLOSURE_KEYS[1:]}
        for key, aliases in own.items():
            yield from _listed(key.replace("_", " "), aliases, always=key == "actions")
        yield from _listed("dependencies", _requires(self.pack), always=True)
        if all(set(getattr(self.closure, key)) == set(aliases) for key, aliases in own.items()):
            yield "  closure: nothing beyond the pack itself"
        else:
            for key in _CLOSURE_KEYS:
                yield from _listed(f"closure: {key.replace('_', ' ')}", getattr(self.closure, key))
        yield from _listed("unresolved", [reference.alias for reference in self.closure.unresolved], always=True)

    def _groups_as_text(self, document: TaskGroupsDocument) -> Iterator[str]:
        groups = document.groups.values()
        declared = [entry.alias for entry in groups if not entry.extends and not entry.is_reference]
        yield from _listed("task groups", declared, always=True)
        yield from _listed("registered elsewhere", [entry.alias for entry in groups if entry.is_reference])
        yield from _listed("extends", [entry.extends for entry in groups if entry.extends])
        yield from _listed("unresolved", [reference.alias for reference in self.closure.unresolved], always=True)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What was found out about all files."""

    files: tuple[FileReport, ...] = field(default=())  # one report for each, in the order in which they were named

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong with any file."""
        return all(report.ok for report in self.files)

    def as_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {"ok": self.ok, "files": [report.as_json() for report in self.files]}

    def as_text(self) -> Iterator[str]:
        """The report as lines; the last one sums up."""
        for report in self.files:
            yield from report.as_text()
            yield ""
        failed = sum(not report.ok for report in self.files)
        unresolved = {reference.alias for report in self.files for reference in report.closure.unresolved}
        yield (
            f"{_count(len(self.files), 'file')}: {len(self.files) - failed} ok, {failed} failed; "
            f"{_count(len(unresolved), 'unresolved alias', 'unresolved aliases')}"
        )


def find_files(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The files to check: a file stands for itself, a folder for all ``*.json`` below it, sorted by path.

    Args:
        paths: files and folders. One that does not exist is kept, so that it is reported.

    Raises:
        InvalidPackError: a folder holds no such file.
    """
    found: dict[Path, None] = {}
    for path in paths:
        below = sorted(item for item in path.rglob("*.json") if item.is_file()) if path.is_dir() else [path]
        if not below:
            raise InvalidPackError(
                [("", "there is no *.json file in this folder. Name the folder of the packs.")], file=str(path)
            )
        found.update(dict.fromkeys(below))
    return tuple(found)


def check_files(files: Iterable[Path], registry: Registry, *, allow_unresolved: bool = False) -> CheckReport:
    """Check pack files, all of them.

    Args:
        allow_unresolved: whether a reference that nobody registered is listed without being a fault.

    Returns:
        The report. Nothing that stands in a file is raised.
    """
    return CheckReport(tuple(_check_file(file, registry, allow_unresolved) for file in files))


def _check_file(file: Path, registry: Registry, allow_unresolved: bool) -> FileReport:
    alias = registry.alias_of(file)
    try:
        if looks_like(read(file).value):
            return _check_groups(file, registry, allow_unresolved)
        pack = load_pack(file, alias=alias)
    except DataFault as fault:
        return FileReport(str(file), None, Closure(), (fault,))
    closure = survey([alias or pack], registry)
    faults = list(closure.faults)
    if not allow_unresolved:
        faults.extend(unknown(reference, registry) for reference in closure.unresolved)
    return FileReport(str(file), pack, closure, tuple(faults))


def _check_groups(file: Path, registry: Registry, allow_unresolved: bool) -> FileReport:
    document = load_task_groups(file)
    declared = [entry.alias for entry in document.groups.values() if not entry.extends and not entry.is_reference]
    missing: list[Reference] = []
    faults: list[DataFault] = []
    for entry in document.groups.values():
        if entry.is_reference and entry.alias not in registry:
            missing.append(Reference(entry.alias, document.file, entry.pointer))
        elif entry.extends and entry.extends not in declared and entry.extends not in registry:
            missing.append(Reference(entry.extends, document.file, f"{entry.pointer}/extends"))
        elif not entry.extends and not entry.is_reference:
            try:
                entry.make_class()
            except DataFault as fault:
                faults.append(fault)
    if not allow_unresolved:
        known = (*declared, *registry.aliases("task_groups"))
        faults.extend(UnknownAliasError(one.alias, known, file=one.file, pointer=one.pointer) for one in missing)
    return FileReport(str(file), None, Closure(unresolved=tuple(missing)), tuple(faults), document)


def _requires(pack: Pack) -> list[str]:
    return [item.name if isinstance(item, Pack) else item.alias for item in pack.ai_packs]


def _problems(fault: DataFault) -> Iterator[dict[str, str]]:
    if isinstance(fault, InvalidPackError):
        places: Sequence[tuple[str, str]] = fault.problems
        if fault.omitted:
            places = (*places, ("", f"and {fault.omitted} more problems"))
        for pointer, text in places:
            yield {"code": fault.code, "file": fault.file, "pointer": pointer, "text": text}
    else:
        place = fault.file + (f"#{fault.pointer}" if fault.pointer else "")
        text = fault.text.removeprefix(f"{place}: ")
        yield {"code": fault.code, "file": fault.file, "pointer": fault.pointer, "text": text}


def _listed(title: str, aliases: Sequence[str], *, always: bool = False) -> Iterator[str]:
    if aliases or always:
        yield f"  {title} ({len(aliases)})"
        for alias in aliases:
            yield f"    {alias}"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
