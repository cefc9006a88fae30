"""The world that an ensemble is of: found again in each worker by its name, and known by a hash of its sources.

A worker is another process, perhaps on another machine, so it is told names and no objects: it imports the world as
this process has, and makes sure that its code is the same. The *version of the code* is that of agentrt, and a hash of
the sources that a world can be made of:

* agentrt itself, but for what only looks at runs or makes them (``_ASIDE``);
* the packages of installed manifests (actions, packs, strategies), which a world's packs may name;
* the world's own: all of a project's folder, or else the package that the world is in.

Sources are Python, JSON, XML and TOML, with their names, and without tests, which no run depends on. What else a world
reads (a library, another kind of file, the environment) is not seen. Rejected: the modules that are loaded (other ones
in another program, and those that are imported later are missed); a commit (what is edited has none).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from agentrt.errors import ProjectError
from agentrt.folders import files_below
from agentrt.installed import library_version
from agentrt.worlds import ENTRY_POINT_GROUP, World, find_project, load_world, project_world

_SUFFIXES: Final = (".py", ".json", ".xml", ".toml")
_CONTENT: Final = ("agentrt.actions", "agentrt.packs", "agentrt.strategies")  # groups of entry points
_TESTS: Final = frozenset(("test", "tests", "conftest.py"))
_ASIDE: Final = frozenset(("cli", "ensembles", "inspect", "record", "testing"))


class Subject(NamedTuple):
    """How a world is found: by names alone, so that another process can."""

    name: str  # of the world
    app: str  # where the world of the project is, if not where the project says
    folder: str  # the working directory, from which the project is looked for

    @staticmethod
    def of(name: str, app: str = "") -> Subject:
        """A world by its name; without one, that of the project.

        Raises:
            AgentRTError: there is none, or it cannot be used.
        """
        if not name:
            own = project_world(app)
            if own is None:
                remedy = "Name a world, such as colony, or run this in a project."
                raise ProjectError(str(Path.cwd()), "there is no project, and no world was named.", remedy)
            name = own.name
        subject = Subject(name, app, str(Path.cwd()))
        subject.world()
        return subject

    def world(self) -> World:
        """Import it."""
        return _world(self)

    def code(self) -> str:
        """The version of the code that it is made of here."""
        return _code(self)


@contextlib.contextmanager
def without_children() -> Iterator[None]:
    """A block of a world's code. A child that it forks and lets go on ends where the block does: it is not us."""
    process = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != process:
            os._exit(0)


@cache
def _world(subject: Subject) -> World:
    with contextlib.suppress(OSError):  # another machine may have no such folder, and an installed world needs none
        os.chdir(subject.folder)
    with without_children():
        return load_world(subject.name, subject.app)


@cache  # code that is edited while a sweep runs is not what its workers have imported
def _code(subject: Subject) -> str:
    told = blake2b(digest_size=6)
    for part, file in _sources(subject):
        told.update(part.encode("utf-8", "surrogateescape") + b"\0")
        told.update(blake2b(file.read_bytes()).digest())
    return f"{library_version()}+{told.hexdigest()}"


def _sources(subject: Subject) -> Iterator[tuple[str, Path]]:
    """The files, each with the name under which it counts, in order."""
    for package in ("agentrt", *sorted({name for group in _CONTENT for name in _offering(group)})):
        for name, file in _files_of(package):
            if not (package == "agentrt" and name.split("/")[1] in _ASIDE):
                yield name, file
    own = project_world(subject.app)
    if own is None or own.name != subject.name:
        for package in sorted(_offering(ENTRY_POINT_GROUP, subject.name)):
            yield from _files_of(package)
    elif (project := find_project()) is not None:
        yield from _files_in(project.folder, "project")
    else:
        yield from _files_of(subject.app.partition(":")[0].partition(".")[0])


def _offering(group: str, name: str = "") -> set[str]:
    """The top-level packages of a group of entry points, or of one of them."""
    points = entry_points(group=group, name=name) if name else entry_points(group=group)
    return {point.module.partition(".")[0] for point in points}


def _files_of(package: str) -> Iterator[tuple[str, Path]]:
    """The files of a package, or of a module that is none; an entry point may lead to what is not there."""
    try:
        spec = find_spec(package)
    except ValueError:  # a module that was made otherwise, such as that of a notebook
        return
    if spec is None:
        return
    for folder in spec.submodule_search_locations or ():
        yield from _files_in(Path(folder), package)
    if spec.submodule_search_locations is None and spec.origin is not None and Path(spec.origin).is_file():
        yield f"{package}/", Path(spec.origin)


def _files_in(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    for suffix in _SUFFIXES:
        for file in files_below(folder, suffix):
            within = file.relative_to(folder)
            if not (_TESTS & set(within.parts) or file.name.startswith("test_")):
                yield f"{name}/{within.as_posix()}", file
