"""The report behind ``agentrt selection check``: what a folder of selection trees holds, and everything that is wrong.

It is made for the author of the files. So nothing stops it: all problems of all files are told, errors and warnings,
with file and line as compilers write them. It is data; ``as_json`` and ``as_text`` write it down.

Source: seed 004, Overview; design section 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentrt.errors import InvalidSelectionError
from agentrt.selection.findings import STRICT, Mode, SelectionProblem
from agentrt.selection.survey import Folder, Survey
from agentrt.selection.tree import SelectionTree

__all__ = ["SelectionReport", "check_path"]


@dataclass(frozen=True, slots=True)
class SelectionReport:
    """What was found out.

    Attributes:
        files: how many files were read.
        trees: those without an error, in the order of the files.
        broken: the names of those with one.
        problems: everything that is wrong, by file and line.
        omitted: how many further problems there are.
    """

    files: int
    trees: tuple[SelectionTree, ...]
    broken: tuple[str, ...]
    problems: tuple[SelectionProblem, ...]
    omitted: int = 0

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not any(one.is_error for one in self.problems)

    def as_json(self) -> dict[str, Any]:
        """The report as JSON values."""
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
            yield f"and {_count(self.omitted, 'problem')} more"
        for tree in self.trees:
            yield f"{tree.name} ({tree.file}): {', '.join(tree.behaviors) or 'no behavior'}"
        errors = sum(one.is_error for one in self.problems)
        yield (
            f"{_count(self.files, 'file')}, {_count(len(self.trees) + len(self.broken), 'tree')}: "
            f"{_count(errors, 'error')}, {_count(len(self.problems) - errors, 'warning')}"
        )


def check_path(path: Path, mode: Mode = STRICT) -> SelectionReport:
    """Check a folder, or one file.

    Args:
        path: the folder, or a file that needs no blocks of another.
        mode: strict, or compatible for old files.

    Returns:
        The report. Nothing in a file is raised.

    Raises:
        InvalidSelectionError: there is no such folder or file.
    """
    if not path.exists():
        raise InvalidSelectionError([(str(path), 0, "there is no such folder. Name the folder of the trees.")])
    survey = Survey(Folder(path), mode, {})
    base = path if path.is_dir() else path.parent
    problems = tuple(
        one if Path(one.file).is_absolute() or one.file == str(path) else one._replace(file=str(base / one.file))
        for one in survey.findings.sorted()
    )
    trees = tuple(SelectionTree(program, str(base / file)) for program, file in survey.programs.values())
    return SelectionReport(survey.seen, trees, tuple(sorted(survey.broken)), problems, survey.findings.omitted)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
