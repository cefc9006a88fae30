"""The library: all selection trees below a folder, how they are read again while agents use them, and the report.

Every ``*.xml`` below the folder is read, in the order of the paths. One reading of all files, from bytes to programs,
is a ``_Survey``: first the blocks of all files, then the trees, since a tree may refer to a block of any file. All that
is wrong comes in one report; a file that is broken is looked at as far as it goes, for more problems. The size of all
files together and the work for all trees together are bounded.

``reload`` reads the folder again. A file that is broken now counts as it was when it was last whole, and a tree that
has errors now stays as it was; both are in the problems. So no agent is ever left without the tree that it uses. A
``SelectionTree`` is the name under which programs follow each other: agents hold it, and see by one comparison that it
has another program now (see ``state``). A tree whose file is gone is no longer in the library; who uses it may go on.
``read_again`` does the first half, so that whoever wants all or nothing sees what is wrong before anything changes;
``check`` does it with a text in the place of a file, and changes nothing.

``check_path`` is behind ``agentrt selection check``. It is made for the author of the files, so nothing stops it.

Source: CryEngine, selection trees, Overview ("automatically picked up in the game on an 'ai_reload'"), "Sharing
Behavior Blocks".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from agentrt.errors import DefinitionError, InvalidSelectionError, UnknownTreeError
from agentrt.folders import files_below
from agentrt.selection import xml
from agentrt.selection.program import Folder, Program, add_blocks, check_blocks, compile_tree
from agentrt.selection.state import SelectionTree
from agentrt.selection.xml import MODES, STRICT, Element, Findings, Mode, SelectionProblem, shaped, shown
from agentrt.words import counted

MAX_FILES = 2000
MAX_TOTAL = 32 << 20  # bytes

Files = Mapping[str, Callable[[], bytes]]  # by name: how to read it
Sources = Callable[[Findings], Files | None]  # finds them; None if they cannot be reached now


def _below(path: Path, findings: Findings) -> Files | None:
    """The ``*.xml`` files below a folder, or one file."""
    if not path.exists():
        findings.error(str(path), 0, "it is not there any more. What was read before stays.")
        return None
    if not path.is_dir():
        name = path.name if path.is_file() else str(path)
        return {name: partial(xml.read_bytes, path, name)}
    found = sorted((one.relative_to(path).as_posix(), one) for one in files_below(path, ".xml"))
    if not found:
        findings.lenient(str(path), 0, "there is no *.xml file in this folder. Name the folder of the trees.")
    if len(found) > MAX_FILES:
        findings.error(str(path), 0, f"there are more than {MAX_FILES} files here; the others are not read.")
    return {name: partial(xml.read_bytes, one, name) for name, one in found[:MAX_FILES]}


def _in_memory(texts: Mapping[str, str], _findings: Findings) -> Files:
    # A lone surrogate is encoded all the same: the check of the bytes then says where it stands.
    return {name: partial(text.encode, "utf-8", "surrogatepass") for name, text in sorted(texts.items())}


class _Survey:
    """One reading of all files."""

    def __init__(self, sources: Sources, mode: Mode, before: Mapping[str, Element]) -> None:
        self.findings: Findings = Findings(mode)
        self.files: dict[str, Element] = {}  # those that can be used, as they are now or were when they were whole
        self.programs: dict[str, tuple[Program, str]] = {}  # name of a tree, in lower case -> its program, and its file
        self.broken: set[str] = set()  # names of trees with errors, in lower case
        self.seen: int = 0  # how many files there are, whole or not
        self._failed: list[Element] = []  # files that have errors, and never were whole: looked at for more of them
        self._read_all(sources, before)
        self._compile_all()

    def _read_all(self, sources: Sources, before: Mapping[str, Element]) -> None:
        size = 0
        found = sources(self.findings)
        if found is None:
            self.files = dict(before)
            self.seen = len(before)
            return
        for name, reader in found.items():
            self.seen += 1
            errors = self.findings.errors
            root: Element | None = None
            try:
                data = reader()
                size += len(data)
                if size > MAX_TOTAL:
                    self.findings.error(name, 0, f"with this file the folder is larger than {MAX_TOTAL >> 20} MiB.")
                    return
                root = shaped(xml.parse(data, name), self.findings, PurePosixPath(name).stem)
            except InvalidSelectionError as error:
                for place in error.problems:
                    self.findings.error(*place)
            if self.findings.errors == errors and root is not None:
                self.files[name] = root
            elif name in before:
                self.files[name] = before[name]
            elif root is not None:
                self._failed.append(root)

    def _compile_all(self) -> None:
        folder, findings = Folder(self.findings), self.findings
        roots = [*self.files.values(), *self._failed]
        for root in roots:
            if root.tag == "blocks":
                add_blocks(folder.blocks, root, findings)
        first: dict[str, Element] = {}
        for root in roots:
            for tree in _trees_of(root):
                if folder.left < 0:
                    return
                key = tree.name.lower()
                other = first.setdefault(key, tree)
                if other is not tree:
                    text = f"there is another tree {shown(tree.name)}, at {other.file}:{other.line}."
                    findings.lenient(tree.file, tree.line, f"{text} Rename one of them.")
                    continue
                program = compile_tree(tree, folder)
                if program is None or root in self._failed:
                    self.broken.add(key)
                else:
                    self.programs[key] = (program, tree.file)
        check_blocks(folder)


def _trees_of(root: Element) -> list[Element]:
    if root.tag == "selectiontrees":
        return root.children
    return [root] if root.tag == "selectiontree" else []


class ReloadReport(NamedTuple):
    """What reading again brought."""

    changed: tuple[str, ...]  # trees that were there and mean something else now, by name
    added: tuple[str, ...]  # trees that were not there
    removed: tuple[str, ...]  # trees that are not there any more
    kept: tuple[str, ...]  # trees that have errors now and stay as they were
    problems: tuple[SelectionProblem, ...]  # everything that is wrong now

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not any(one.is_error for one in self.problems)


class Reread(NamedTuple):
    """A library that was read again, and did not change yet."""

    problems: tuple[SelectionProblem, ...]  # everything that is wrong now
    commit: Callable[[], ReloadReport]  # has the library be what was read


class SelectionLibrary:
    """Selection trees by name, which ignores case. Made by ``load`` or ``from_texts``."""

    __slots__ = ("_broken", "_files", "_gone", "_path", "_sources", "_trees", "mode", "problems")
    _attach_instead = 'Attach a state of one of its trees: library["Name"].state(behaviors).'

    def __init__(self, sources: Sources, mode: Mode, path: Path | None = None) -> None:
        if mode not in MODES:
            remedy = "Write 'strict' or 'compatible'."
            raise DefinitionError(f"SelectionLibrary(mode={mode!r})", "there is no such mode.", remedy)
        self.mode: Mode = mode  # strict or compatible
        self._sources = sources
        self._path = path  # where its files are; None if they are in memory
        survey = _Survey(sources, mode, {})
        if mode == STRICT:
            survey.findings.raise_errors()
        self._files: dict[str, Element] = survey.files
        self._broken: set[str] = survey.broken
        self._trees: dict[str, SelectionTree] = {
            name: self._tree(program, file) for name, (program, file) in survey.programs.items()
        }
        self._gone: dict[str, SelectionTree] = {}  # agents may still run on them; one that comes back is the same again
        # what the last reading found: warnings, and in the compatible mode or after a reload errors, too
        self.problems: tuple[SelectionProblem, ...] = survey.findings.sorted()

    @classmethod
    def load(cls, folder: Path | str, mode: Mode = STRICT) -> SelectionLibrary:
        """Read all ``*.xml`` below a folder.

        Args:
            folder: the folder; or one file.
            mode: ``"strict"``, or ``"compatible"`` for old files.

        Returns:
            The library.

        Raises:
            InvalidSelectionError: strict, and something is wrong; or there is no such folder.

        Source: CryEngine, selection trees, Overview.
        """
        path = Path(folder)
        _require(path)
        return cls(partial(_below, path), mode, path)

    @classmethod
    def from_texts(cls, texts: Mapping[str, str], mode: Mode = STRICT) -> SelectionLibrary:
        """Take files from memory, by name. All is as for ``load``; ``reload`` looks into the same mapping again."""
        return cls(partial(_in_memory, texts), mode)

    def reload(self) -> ReloadReport:
        """Read everything again. Agents that run take a changed tree over at their next tick.

        Returns:
            What changed, and what is wrong. Nothing in a file is raised.

        Source: CryEngine, selection trees, Overview ('ai_reload').
        """
        return self.read_again().commit()

    def read_again(self) -> Reread:
        """Read everything again, and change nothing before that is committed."""
        survey = _Survey(self._sources, self.mode, self._files)
        return Reread(survey.findings.sorted(), partial(self._take, survey))

    def check(self, file: str, data: bytes) -> tuple[SelectionProblem, ...]:
        """Everything that were wrong if a file held something else. Nothing in a file is raised, and nothing changes.

        Args:
            file: which, as ``files`` calls it.
            data: what it would hold.
        """

        def sources(findings: Findings) -> Files | None:
            found = self._sources(findings)
            return None if found is None else {**found, file: lambda: data}

        return _Survey(sources, self.mode, {}).findings.sorted()

    @property
    def files(self) -> dict[str, Path]:
        """The files that it was read from, by the names that problems call them; none if they are in memory."""
        if self._path is None:
            return {}
        names = dict.fromkeys((*self._files, *(one.file for one in self.problems)))
        if not self._path.is_dir():
            return {self._path.name: self._path} if self._path.name in names else {}
        return {name: self._path / name for name in names if not Path(name).is_absolute()}

    def _take(self, survey: _Survey) -> ReloadReport:
        old = self._trees
        trees: dict[str, SelectionTree] = {}
        changed, added, kept = [], [], []
        for name, (program, file) in survey.programs.items():
            if name in old:
                trees[name] = old[name]
                if old[name].replace(program, file):
                    changed.append(program.name)
            else:
                # The very tree that went, if it did: agents may have run on it all the time.
                trees[name] = tree = self._gone.pop(name, None) or self._tree(program, file)
                tree.replace(program, file)
                added.append(program.name)
        for name in sorted(survey.broken):
            if name in old and name not in trees:
                trees[name] = old[name]
                kept.append(old[name].name)
        gone = {name: tree for name, tree in old.items() if name not in trees}
        removed = [tree.name for tree in gone.values()]
        self._gone.update(gone)
        self._trees, self._files, self._broken = trees, survey.files, survey.broken
        self.problems = survey.findings.sorted()
        return ReloadReport(tuple(changed), tuple(added), tuple(removed), tuple(kept), self.problems)

    def _tree(self, program: Program, file: str) -> SelectionTree:
        tree = SelectionTree(program, file)
        tree.library = self
        return tree

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the trees, in the order of the files."""
        return tuple(tree.name for tree in self._trees.values())

    def __getitem__(self, name: str) -> SelectionTree:
        """A tree by name, in any case; ``UnknownTreeError`` if there is none, or it has errors."""
        tree = self._trees.get(name.lower())
        if tree is None:
            raise UnknownTreeError(name, self.names, is_broken=name.lower() in self._broken)
        return tree

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._trees

    def __iter__(self) -> Iterator[SelectionTree]:
        return iter(self._trees.values())

    def __len__(self) -> int:
        return len(self._trees)

    def __repr__(self) -> str:
        return f"<SelectionLibrary: {', '.join(self.names) or 'empty'}>"


class SelectionReport(NamedTuple):
    """What was found out."""

    files: int  # how many files were read
    trees: tuple[SelectionTree, ...]  # those without an error, in the order of the files
    broken: tuple[str, ...]  # the names of those with one
    problems: tuple[SelectionProblem, ...]  # everything that is wrong, by file and line
    omitted: int  # how many further problems there are

    @property
    def ok(self) -> bool:
        return not any(one.is_error for one in self.problems)

    def as_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "files": self.files,
            "trees": [
                {
                    "name": tree.name,
                    "file": tree.file,
                    "variables": tree.variables,
                    "signals": list(tree.signals),
                    "behaviors": list(tree.behaviors),
                }
                for tree in self.trees
            ],
            "broken": list(self.broken),
            "problems": [
                {"file": one.file, "line": one.line, "is_error": one.is_error, "text": one.text}
                for one in self.problems
            ],
            "omitted": self.omitted,
        }

    def as_text(self) -> Iterator[str]:
        """The report as lines; the last one sums up."""
        for problem in self.problems:
            yield str(problem)
        if self.omitted:
            yield f"and {counted(self.omitted, 'problem')} more"
        for tree in self.trees:
            yield f"{tree.name} ({tree.file}): {', '.join(tree.behaviors) or 'no behavior'}"
        errors = sum(one.is_error for one in self.problems)
        yield (
            f"{counted(self.files, 'file')}, {counted(len(self.trees) + len(self.broken), 'tree')}: "
            f"{counted(errors, 'error')}, {counted(len(self.problems) - errors, 'warning')}"
        )


def check_path(path: Path, mode: Mode = STRICT) -> SelectionReport:
    """Check a folder, or one file that needs no blocks of another. Nothing in a file is raised."""
    _require(path)
    survey = _Survey(partial(_below, path), mode, {})
    base = path if path.is_dir() else path.parent
    problems = tuple(
        one if Path(one.file).is_absolute() or one.file == str(path) else one._replace(file=str(base / one.file))
        for one in survey.findings.sorted()
    )
    trees = tuple(SelectionTree(program, str(base / file)) for program, file in survey.programs.values())
    return SelectionReport(survey.seen, trees, tuple(sorted(survey.broken)), problems, survey.findings.omitted)


def _require(path: Path) -> None:
    if not path.exists():
        raise InvalidSelectionError([(str(path), 0, "there is no such folder. Name the folder of the trees.")])
