"""Surveys: one reading of all files, from bytes to programs, with everything that is wrong.

First the blocks of all files, then the trees, each in the order of the files' names. A file that is broken is looked at
as far as it goes, for more problems; what counts instead of it is the version that was whole the last time, if there
was one. The size of all files together and the work for all trees together are bounded.

Source: seed 004, Overview, "Sharing Behavior Blocks between Behavior Selection Trees"; design section 10.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from agentrt.errors import InvalidSelectionError
from agentrt.selection import document
from agentrt.selection.blocks import BlockScope, Budget
from agentrt.selection.compiling import check_blocks, compile_tree
from agentrt.selection.document import Element
from agentrt.selection.findings import Findings, Mode, shown
from agentrt.selection.program import Program
from agentrt.selection.shape import shaped

__all__ = ["MAX_FILES", "MAX_TOTAL", "Folder", "Sources", "Survey", "Texts"]

MAX_FILES = 2000
MAX_TOTAL = 32 << 20  # bytes

Reader = Callable[[], bytes]
Sources = Callable[[Findings], Mapping[str, Reader] | None]
"""Finds the files: name -> how to read it; None if they cannot be reached."""


class Folder:
    """The ``*.xml`` files below a folder, or one file.

    Args:
        path: the folder or the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, findings: Findings) -> Mapping[str, Reader] | None:
        """Find the files.

        Args:
            findings: told if there is nothing to read.

        Returns:
            The files by name; None if they cannot be reached now, so that nobody knows whether they changed.
        """
        path = self._path
        if not path.exists():
            findings.error(str(path), 0, "it is not there any more. What was read before stays.")
            return None
        if not path.is_dir():
            name = path.name if path.is_file() else str(path)
            return {name: _reader(path, name)}
        try:
            found = sorted(
                (one.relative_to(path).as_posix(), one) for one in path.rglob("*") if one.suffix.lower() == ".xml"
            )
        except OSError as error:
            findings.error(str(path), 0, f"the folder cannot be read: {error.strerror or error}.")
            return None
        if not found:
            findings.lenient(str(path), 0, "there is no *.xml file in this folder. Name the folder of the trees.")
        if len(found) > MAX_FILES:
            findings.error(str(path), 0, f"there are more than {MAX_FILES} files here; the others are not read.")
        return {name: _reader(one, name) for name, one in found[:MAX_FILES]}


class Texts:
    """Files in memory.

    Args:
        texts: name of a file -> its text.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def __call__(self, findings: Findings) -> Mapping[str, Reader]:
        """Give the files, by name.

        Args:
            findings: not needed.
        """
        return {name: _encoder(text) for name, text in sorted(self._texts.items())}


def _reader(path: Path, name: str) -> Reader:
    return lambda: document.read_bytes(path, name)


def _encoder(text: str) -> Reader:
    return lambda: text.encode("utf-8", "surrogatepass")


class Survey:
    """One reading of all files.

    Args:
        sources: finds the files.
        mode: strict or compatible.
        before: files that were whole the last time.

    Attributes:
        findings: what is wrong.
        files: the files that can be used, as they are now or were when they were whole.
        programs: name of a tree, in lower case -> its program, and its file.
        broken: names of trees with errors, in lower case.
        seen: how many files there are, whole or not.
    """

    def __init__(self, sources: Sources, mode: Mode, before: Mapping[str, Element]) -> None:
        self.findings: Findings = Findings(mode)
        self.files: dict[str, Element] = {}
        self.programs: dict[str, tuple[Program, str]] = {}
        self.broken: set[str] = set()
        self.seen: int = 0
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
                root = shaped(document.parse(data, name), self.findings, PurePosixPath(name).stem)
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
        findings, budget = self.findings, Budget()
        roots = [*self.files.values(), *self._failed]
        blocks = BlockScope()
        for root in roots:
            if root.tag == "blocks":
                blocks.add_all(root, findings)
        used: set[str] = set()
        first: dict[str, Element] = {}
        for root in roots:
            for tree in _trees_of(root):
                if budget.left < 0:
                    return
                key = tree.name.lower()
                other = first.setdefault(key, tree)
                if other is not tree:
                    text = (
                        f"there is another tree {shown(tree.name)}, at {other.file}:{other.line}. Rename one of them."
                    )
                    findings.lenient(tree.file, tree.line, text)
                    continue
                program = compile_tree(tree, blocks, findings, budget, used)
                if program is None or any(root is one for one in self._failed):
                    self.broken.add(key)
                else:
                    self.programs[key] = (program, tree.file)
        check_blocks(blocks, used, findings, budget)


def _trees_of(root: Element) -> list[Element]:
    if root.tag == "selectiontrees":
        return root.children
    return [root] if root.tag == "selectiontree" else []
