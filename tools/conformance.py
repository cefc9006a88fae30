"""Make the tables of docs/reference/conformance.md from the tests.

What a test shows of the source texts is said by marks on it::

    @pytest.mark.states("001: Making plans: An action may become ready later")

That is: the seed's number, a section of it, and the statement in our words, with "(decided)" or "(ours)" where that is
to be said. ``source="..."`` names the place in the text where that is another than the section. The parts of the page
that follow no seed have a word for the number: ``"tools: Recording: ..."``; what has no source there is ours. Where
several tests show one statement it stands in full on one of them, which comes first on the page; the others give its
beginning, or all of it, and three dots, so that it is worded in one place::

    @pytest.mark.states("001: Making plans: An action may ...")

A table of the page stands between ``<!-- 001: Making plans; start_thinking -->``, which lists the sections that belong
into it, and ``<!-- end -->``. What is between them is made here; headings and prose are the page's own. A row that is
there keeps its place; a new one comes at the end of its table, and may be moved by hand.

The committed page is the list of what has to be shown: a row whose test is gone, or that is worded in another way, is
not dropped, but named, until somebody runs this with ``--drop`` and says in the commit why. A statement that no test
shows yet is written into the page by hand, with "open" in the last column, and fails the tests as long as it stands
there. One that no test can show has "none: " and the reason there.

Marks are read from the sources; nothing is imported. A test compares the page with what this script would write:
``python tools/conformance.py`` writes it, ``--check`` only says whether it would be another.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "conformance.md"
TESTS = ROOT / "tests"

_MARK = "mark.states("
_TABLE = re.compile(r"(?P<comment><!-- (?P<part>\w+): (?P<sections>[^>]+?)\s-->\n)(?P<rows>.*?)<!-- end -->", re.DOTALL)
_CELL = re.compile(r"(?<!\\)\|")
_DOTS = " ..."


class ConformanceError(ValueError):
    """The marks, or the page, say something that cannot be."""


@dataclass(frozen=True)
class Mark:
    """One mark on one test."""

    file: str
    test: str
    line: int
    place: str
    """Seed and section, such as ``"001: Making plans"``."""
    text: str
    source: str

    @property
    def where(self) -> str:
        """File and line, for people."""
        return f"tests/{self.file}:{self.line}"


@dataclass
class Statement:
    """One statement, and who shows it."""

    place: str
    text: str
    source: str
    tests: list[tuple[str, str]] = field(default_factory=list)
    """File and name of each; first the one on which it stands in full."""

    def row(self) -> str:
        """Its row of the page; of a file that was just named only the test is told."""
        told, before = [], ""
        for file, test in self.tests:
            told.append(f"`{'' if file == before else file}::{test}`")
            before = file
        return f"| {_cell(self.text)} | {_cell(self.source)} | {', '.join(told)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in _CELL.split(row)[1:-1]]


# --- reading the tests ------------------------------------------------------------------------------------------------


def _functions(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body)


def _read(call: ast.Call, file: str, test: str) -> Mark:
    """One mark; whatever is no plain text is an error."""
    where = f"tests/{file}:{call.lineno}"
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    values = [*call.args, *given.values()]
    texts = [node.value for node in values if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    if len(call.args) != 1 or len(texts) != len(values) or given.keys() - {"source"}:
        raise ConformanceError(f'{where}: a mark is states("001: Section: statement"), and may have source="..."')
    part, _, rest = texts[0].partition(": ")
    section, _, text = rest.partition(": ")
    if not text:
        raise ConformanceError(f'{where}: "{texts[0]}" has no seed, section and statement: "001: Section: statement"')
    # What stands in no seed, and has no source, is ours.
    source = texts[1] if given else section if part.isdigit() else "(ours)"
    if given and text.endswith(_DOTS):
        raise ConformanceError(f"{where}: the source stands where the statement stands in full")
    return Mark(file, test, call.lineno, f"{part}: {section}", text, source)


def marks(tests: Path) -> list[Mark]:
    """All marks of a folder of tests, by file and line.

    Raises:
        ConformanceError: one is not written as it has to be, or does not stand on a test.
    """
    found: list[Mark] = []
    for path in sorted(tests.rglob("test_*.py")):
        code = path.read_text(encoding="utf-8")
        file = path.relative_to(tests).as_posix()
        if _MARK not in code:
            continue
        here = [
            _read(decorator, file, node.name)
            for node in _functions(ast.parse(code).body)
            if node.name.startswith("test")
            for decorator in node.decorator_list
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.states"
        ]
        if len(here) != code.count(_MARK):
            raise ConformanceError(f"tests/{file}: a mark stands on something that is no test function")
        found += here
    return found


def statements(found: Iterable[Mark]) -> list[Statement]:
    """What marks state, each once, with its tests.

    Raises:
        ConformanceError: one stands in full on two tests, or on none.
    """
    full: dict[tuple[str, str], Statement] = {}
    others: list[Mark] = []
    for mark in found:
        if mark.text.endswith(_DOTS):
            others.append(mark)
        elif (mark.place, mark.text) in full:
            raise ConformanceError(
                f'{mark.where}: "{mark.text}" stands in full on another test, too; '
                f'here write its beginning and three dots: "{mark.place}: {mark.text.partition(" ")[0]}{_DOTS}"'
            )
        else:
            full[mark.place, mark.text] = Statement(mark.place, mark.text, mark.source, [(mark.file, mark.test)])
    for mark in others:
        beginning = mark.text.removesuffix(_DOTS)
        meant = [one for one in full.values() if one.place == mark.place and one.text.startswith(beginning)]
        meant = [one for one in meant if one.text == beginning] or meant
        if len(meant) != 1:
            raise ConformanceError(
                f'{mark.where}: {len(meant)} statements of "{mark.place}" begin with "{beginning}", and not one; '
                "on one test it has to stand in full"
            )
        if (mark.file, mark.test) not in meant[0].tests:
            meant[0].tests.append((mark.file, mark.test))
    return list(full.values())


# --- the page ---------------------------------------------------------------------------------------------------------


def _places(table: re.Match[str]) -> list[str]:
    return [f"{table['part']}: {section}" for section in " ".join(table["sections"].split()).split("; ")]


def _rows(table: re.Match[str]) -> list[str]:
    """The rows of a table as it stands, without its head."""
    return [line for line in table["rows"].splitlines() if line.startswith("| ")][2:]


def _has_tests(row: str) -> bool:
    return not _cells(row)[-1].startswith(("open", "none: "))


def lost(page: str, stated: Iterable[Statement]) -> list[str]:
    """The rows of a page that name tests, but stand on no test any more."""
    known = {(one.place, _cell(one.text)) for one in stated}
    return [
        row
        for table in _TABLE.finditer(page)
        for row in _rows(table)
        if _has_tests(row) and not any((place, _cells(row)[0]) in known for place in _places(table))
    ]


def open_rows(page: str) -> list[str]:
    """The statements of a page that are open work."""
    return [row for table in _TABLE.finditer(page) for row in _rows(table) if _cells(row)[-1].startswith("open")]


def updated(page: str, stated: Iterable[Statement]) -> str:
    """Put the tables into a page.

    Args:
        page: its text.
        stated: all that the tests show.

    Returns:
        The text with fresh tables. What was lost is not in it.

    Raises:
        ConformanceError: a statement belongs into no table of the page, or two of one table have the same words.
    """
    waiting: dict[str, list[Statement]] = {}
    for one in stated:
        waiting.setdefault(one.place, []).append(one)

    def table(old: re.Match[str]) -> str:
        here = [one for place in _places(old) for one in waiting.pop(place, ())]
        rows = {_cell(one.text): one.row() for one in here}
        if len(rows) < len(here):
            twice = sorted({one.text for one in here if [other.text for other in here].count(one.text) > 1})
            raise ConformanceError(f"two statements of one table have the same words: {'; '.join(twice)}")
        told = []
        for row in _rows(old):
            text = _cells(row)[0]
            if text in rows:
                told.append(rows.pop(text))
            elif not _has_tests(row):
                told.append(row)
        head = ["", "| statement | source | test |", "| --- | --- | --- |"]
        lines = "\n".join([*head, *told, *rows.values()])
        return f"{old['comment']}{lines}\n\n<!-- end -->"

    fresh = _TABLE.sub(table, page)
    if waiting:
        raise ConformanceError(
            f"no table of {PAGE.name} has these sections; put them into the comment above one: {', '.join(waiting)}"
        )
    return fresh


def main(arguments: list[str] | None = None) -> str | None:
    """Write the page, or say why not."""
    parser = argparse.ArgumentParser(description="Make the tables of docs/reference/conformance.md from the tests.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page would be another")
    parser.add_argument("--drop", action="store_true", help="drop the rows whose tests are gone")
    options = parser.parse_args(arguments)
    page = PAGE.read_text(encoding="utf-8")
    try:
        stated = statements(marks(TESTS))
        fresh = updated(page, stated)
    except ConformanceError as error:
        return str(error)
    for row in open_rows(page):
        print(f"open: {row}")
    gone = lost(page, stated)
    if gone and not options.drop:
        return "\n".join(["No test shows these any more; put the mark on one that does, or run with --drop:", *gone])
    if options.check:
        return None if fresh == page else f"{PAGE.name} is not what the tests say; run: python tools/conformance.py"
    PAGE.write_text(fresh, encoding="utf-8")
    return None


if __name__ == "__main__":
    sys.exit(main())
