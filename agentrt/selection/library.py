"""The library: all selection trees below a folder, and how they are read again while agents use them.

Every ``*.xml`` below the folder is read, in the order of the paths. First the blocks of all files, then the trees: a
tree may refer to a block of any file. All that is wrong comes in one report.

* In the strict mode a folder with an error does not load: ``InvalidSelectionError`` tells all of them.
* In the compatible mode what can be used is used; what is wrong with the rest is in ``problems``.

``reload`` reads the folder again. A file that is broken now counts as it was when it was last whole, and a tree that
has errors now stays as it was; both are in the problems. So no agent is ever left without the tree that it uses. A
``SelectionTree`` is the name under which programs follow each other: agents hold it, and see by one comparison that it
has another program now (see ``state``). A tree whose file is gone is no longer in the library; who uses it may go on.

Source: seed 004, Overview ("automatically picked up in the game on an 'ai_reload'"), "Sharing Behavior Blocks"; design
section 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from agentrt.errors import DefinitionError, InvalidSelectionError, UnknownTreeError
from agentrt.selection.document import Element
from agentrt.selection.findings import MODES, STRICT, Mode, SelectionProblem
from agentrt.selection.survey import Folder, Sources, Survey, Texts
from agentrt.selection.tree import SelectionTree

__all__ = ["ReloadReport", "SelectionLibrary"]


class ReloadReport(NamedTuple):
    """What reading again brought.

    Attributes:
        changed: trees that were there and mean something else now, by name.
        added: trees that were not there.
        removed: trees that are not there any more.
        kept: trees that have errors now and stay as they were.
        problems: everything that is wrong now.
    """

    changed: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    problems: tuple[SelectionProblem, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not any(one.is_error for one in self.problems)


class SelectionLibrary:
    """Selection trees by name, which ignores case. Made by ``load`` or ``from_texts``.

    Attributes:
        mode: strict or compatible.
        problems: what the last reading found: warnings, and in the compatible mode or after a reload errors, too.
    """

    __slots__ = ("_broken", "_files", "_gone", "_sources", "_trees", "mode", "problems")

    def __init__(self, sources: Sources, mode: Mode) -> None:
        if mode not in MODES:
            remedy = "Write 'strict' or 'compatible'."
            raise DefinitionError(f"SelectionLibrary(mode={mode!r})", "there is no such mode.", remedy)
        self.mode: Mode = mode
        self._sources = sources
        survey = Survey(sources, mode, {})
        if mode == STRICT:
            survey.findings.raise_errors()
        self._files: dict[str, Element] = survey.files
        self._broken: set[str] = survey.broken
        self._trees: dict[str, SelectionTree] = {
            name: SelectionTree(program, file) for name, (program, file) in survey.programs.items()
        }
        self._gone: dict[str, SelectionTree] = {}  # agents may still run on them; one that comes back is the same again
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

        Source: seed 004, Overview.
        """
        path = Path(folder)
        if not path.exists():
            raise InvalidSelectionError([(str(path), 0, "there is no such folder. Name the folder of the trees.")])
        return cls(Folder(path), mode)

    @classmethod
    def from_texts(cls, texts: Mapping[str, str], mode: Mode = STRICT) -> SelectionLibrary:
        """Take files from memory. ``reload`` looks into the same mapping again.

        Args:
            texts: name of a file -> its text.
            mode: as for ``load``.

        Returns:
            The library.

        Raises:
            InvalidSelectionError: strict, and something is wrong.
        """
        return cls(Texts(texts), mode)

    def reload(self) -> ReloadReport:
        """Read everything again. Agents that run take a changed tree over at their next tick.

        Returns:
            What changed, and what is wrong. Nothing in a file is raised.

        Source: seed 004, Overview ('ai_reload'); design section 5.
        """
        survey = Survey(self._sources, self.mode, self._files)
        old = self._trees
        trees: dict[str, SelectionTree] = {}
        changed, added, kept = [], [], []
        for name, (program, file) in survey.programs.items():
            if name in old:
                trees[name] = old[name]
                if old[name].replace(program, file):
                    changed.append(program.name)
            else:
                trees[name] = tree = self._gone.pop(name, None) or SelectionTree(program, file)
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

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the trees, in the order of the files."""
        return tuple(tree.name for tree in self._trees.values())

    def __getitem__(self, name: str) -> SelectionTree:
        """A tree by name.

        Args:
            name: in any case.

        Raises:
            UnknownTreeError: there is none, or it has errors.
        """
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
