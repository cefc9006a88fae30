"""Findings: everything that is wrong with a folder of selection trees, in one report.

Nothing in here stops at the first mistake. Whoever reads files collects *problems*, each with a file, a line and a
sentence; the report at the end has them all, in the order of the files and lines, and each of them once, however many
trees splice the block that it stands in.

A problem is an *error* or a *warning*. What is an error depends on the mode: in the strict one nearly everything, since
a file that means something else than it says is worse than one that is refused; in the compatible one only that
without which a tree cannot be. ``Findings.lenient`` is for what the compatible mode lets pass.

Text from a file is shown shortened and escaped: a hostile file does not write to anybody's terminal.

Source: design section 5, "Selection tree"; section 10.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Literal, NamedTuple

from agentrt.errors import InvalidSelectionError, did_you_mean

__all__ = ["COMPATIBLE", "MODES", "STRICT", "Findings", "Mode", "SelectionProblem", "shown"]

Mode = Literal["strict", "compatible"]
STRICT: Mode = "strict"
COMPATIBLE: Mode = "compatible"
MODES: tuple[Mode, ...] = (STRICT, COMPATIBLE)

MOST_TOLD = 100  # problems in one exception
MOST_KEPT = 1000  # problems that are collected at all
_SHOWN = 60  # characters of a name
_MOST_NEAR = 20  # problems for which near names are sought, and a few names each: comparing is slow
_NEAR_AMONG = 100


class SelectionProblem(NamedTuple):
    """One thing that is wrong.

    Attributes:
        file: where, as the library names it.
        line: where in it, from 1; 0 for the file as a whole.
        text: what is wrong and what to write instead.
        is_error: whether it keeps a tree from being; otherwise a warning.
    """

    file: str
    line: int
    text: str
    is_error: bool = True

    @property
    def place(self) -> str:
        """File and line, as compilers write them."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def __str__(self) -> str:
        return f"{self.place}: {'error' if self.is_error else 'warning'}: {self.text}"


def shown(text: str) -> str:
    """A name from a file for a sentence: quoted, escaped and not long.

    Args:
        text: as it stands in the file.
    """
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")


class Findings:
    """Collects problems.

    Args:
        mode: strict or compatible.

    Attributes:
        mode: as given.
        omitted: how many problems were not kept, because there were too many.
    """

    def __init__(self, mode: Mode) -> None:
        self.mode: Mode = mode
        self.omitted: int = 0
        self.errors: int = 0
        self._kept: dict[tuple[str, int, str], SelectionProblem] = {}

    def error(self, file: str, line: int, text: str) -> None:
        """Something without which a tree cannot be, in either mode.

        Args:
            file: where.
            line: where in it.
            text: what is wrong and what to write instead.
        """
        self._add(SelectionProblem(file, line, text))

    def lenient(self, file: str, line: int, text: str) -> None:
        """An error in the strict mode, a warning in the compatible one.

        Args:
            file: where.
            line: where in it.
            text: what is wrong and what to write instead.
        """
        self._add(SelectionProblem(file, line, text, self.mode == STRICT))

    def warning(self, file: str, line: int, text: str) -> None:
        """Something that works and is probably not meant.

        Args:
            file: where.
            line: where in it.
            text: what is strange.
        """
        self._add(SelectionProblem(file, line, text, is_error=False))

    def near(self, name: str, known: Iterable[str]) -> str:
        """The words that offer near names, as long as there are few problems.

        Args:
            name: what was written.
            known: what could have been written.
        """
        return did_you_mean(name, islice(known, _NEAR_AMONG)) if len(self._kept) < _MOST_NEAR else ""

    def _add(self, problem: SelectionProblem) -> None:
        self.errors += problem.is_error
        key = problem[:3]
        if key in self._kept:
            return
        if len(self._kept) >= MOST_KEPT:
            self.omitted += 1
        else:
            self._kept[key] = problem

    def take(self, problems: tuple[SelectionProblem, ...]) -> None:
        """Add what was found before.

        Args:
            problems: they keep what they are, errors or warnings.
        """
        for problem in problems:
            self._add(problem)

    def sorted(self) -> tuple[SelectionProblem, ...]:
        """All problems by file and line."""
        return tuple(sorted(self._kept.values(), key=lambda one: (one.file, one.line)))

    def raise_errors(self) -> None:
        """Raise the errors, if there are any.

        Raises:
            InvalidSelectionError: with all of them.
        """
        errors = [one[:3] for one in self.sorted() if one.is_error]
        if errors:
            told = errors[:MOST_TOLD]
            raise InvalidSelectionError(told, omitted=len(errors) - len(told) + self.omitted)
