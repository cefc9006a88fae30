"""Move the statements of docs/conformance.md, as it was kept by hand, onto the tests that show them. Once.

``python tools/move_statements.py [REVISION]`` reads the page of a revision, puts a mark on each test that a row names,
makes the page anew from the marks, and compares: the same statements in the same sections with the same sources, shown
by the same tests. What is marked already stays as it is, so that it can be run again on a tree that has changed.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import conformance
from conformance import PAGE, ROOT, TESTS, marks, statements, updated

OLD = "536afbd"
WIDTH = 120
TEST = re.compile(r"`((?:[\w/]+/)?[\w]+\.py)::(\w+)`")

# The headings of the old page, and the section that stands for each; seed sections that belong to one follow it.
PARTS = {
    "Seed 001: the activity planner": "001",
    "Seed 000: goal selectors": "000",
    "Seed 002: the behavior tree": "002",
    "Seed 004: selection trees": "004",
    "Seed 003: strategies": "003",
    "In the colony: the other models": "colony",
    "Seeing and proving": "tools",
}
SECTIONS = {
    ("001", "Leaf action: metadata"): "Leaf action, Metadata",
    ("001", "Leaf action: methods"): "Leaf action, Methods",
    ("001", "Compound actions"): "Compound action, Methods",
    ("001", "Task groups"): "Task group example",
    ("001", "In the colony"): "In the colony",
    ("000", "Usage and priorities"): "Usage",
    ("000", "Goals come and go"): "Adding and Removing Goals",
    ("000", "Ours: faults, coroutines, other models"): "Ours",
    ("002", "S01: Overview"): "S01",
    ("002", "S02: Design principles; S03: Differences from Halo"): "S02",
    ("002", "S04: How deciders decide; S05: Subset Rule"): "S04",
    ("002", "S06: Preconditions & Stimuli"): "S06",
    ("002", "S07: Memory & Blocks; S08: Behaviors"): "S07",
    ("002", "S09: Initializing and ticking; S10: Performance"): "S09",
    ("002", "S11: Debugging; S12: Macros; notes"): "S11",
    ("002", "Ours: coroutines, control flags, faults"): "Ours",
    ("004", "The concept and anatomy"): "Concept and anatomy",
    ("004", "Selection variables"): "Selection Variables",
    ("004", "Signal variables"): "Signal Variables",
    ("004", "Leaf translations"): "Leaf Translations",
    ("004", "The selection tree"): "The Selection Tree",
    ("004", "Sharing blocks"): "Sharing Behavior Blocks",
    ("003", "Infinite state machine, hierarchy"): "Hierarchy",
    ("003", "Plugins, parameters, reuse"): "Plugins",
    ("003", "Hard dependencies: heuristics and injection"): "Hard Dependencies",
    ("003", "Interrupting tasks"): "Interrupting Tasks",
    ("003", "Global dependency lists"): "Global Dependency Lists",
    ("003", "Orderless and optional dependencies"): "Orderless Dependencies",
    ("003", "Task failure"): "Task Failure",
    ("003", "Task tree"): "Task Tree",
    ("003", "Planning ahead"): "Planning Ahead Using Probability",
    ("003", "Ours: plans, flags, hosts, proof"): "Ours",
    ("003", "Requests and interruptions: what the seed leaves open"): "Left open, requests",
    ("003", "Looking ahead: what the seed leaves open"): "Left open, looking ahead",
    ("003", "Plugins, packs and the command"): "Packs",
    ("003", "On a real server"): "A real server",
    ("003", "In a game of somebody else's"): "Crafter",
    ("003", "Views, explanation, test kit"): "Views",
    ("colony", ""): "Other models",
    ("tools", "What comes from outside"): "Outside",
    ("tools", "What comes in, and the gate"): "Intake",
    ("tools", "Replay and branch"): "Replay",
    ("tools", "The inspector"): "Inspector",
    ("tools", "The page"): "Page",
    ("tools", "The test kit and the log"): "Test kit and log",
    ("tools", "Hang and harm"): "Hang",
    ("tools", "Fault injection"): "Faults",
}
# What is no section of a seed, or cannot stand between colons; it becomes the source of the statement.
NO_SECTION = re.compile(r'[:;"`()]|^design|^-$|^seed|^\d')

INTRO = """One row for each statement of the source texts, in our words, and the tests that show it, by their file in
`tests/`; `::test_b` alone is of the file before it. The tables are made by `python tools/conformance.py` from marks on
the tests, `@pytest.mark.states("001: Making plans: ...")`; the script says how. A row whose test is gone fails the test
run, and so does "open", which is work that is not done yet.
"""


@dataclass
class Row:
    """One row of the old page."""

    heading: tuple[str, str]
    text: str
    source: str
    tests: list[tuple[str, str]]
    place: str = ""

    def key(self) -> tuple[str, str, str, str, frozenset[tuple[str, str]]]:
        """What must be there before and after; first the test that comes first."""
        first = "::".join(self.tests[0])
        return (*self.heading, self.text, f"{self.source} [{first}]", frozenset(self.tests))


def old_rows(page: str) -> list[Row]:
    """The rows of the page as it was."""
    found, part, section = [], "", ""
    for line in page.splitlines():
        if line.startswith("## "):
            part, section = PARTS[line[3:]], ""
        elif line.startswith("### "):
            section = line[4:]
        elif line.startswith("|"):
            text, source, shown = (cell.strip() for cell in line.strip()[1:-1].split("|"))
            if text in ("statement", "---"):
                continue
            tests = [(file if "/" in file else f"activity/{file}", name) for file, name in TEST.findall(shown)]
            assert tests, line
            found.append(Row((part, section), text, source, tests))
    return found


def give_places(rows: list[Row]) -> dict[tuple[str, str], list[str]]:
    """Which sections belong to each heading: its own, and those of the seed that are mostly there."""
    homes: dict[tuple[str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
    for row in rows:
        homes[row.heading[0], row.source][row.heading] += 1
    sections: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        sections.setdefault(row.heading, [SECTIONS.get(row.heading, row.heading[1])])
    named = {(heading[0], own[0]) for heading, own in sections.items()}
    for row in rows:
        part = row.heading[0]
        mine = sections[row.heading]
        is_home = homes[part, row.source].most_common(1)[0][0] == row.heading
        if is_home and part.isdigit() and not NO_SECTION.search(row.source) and (part, row.source) not in named:
            mine.append(row.source)
            named.add((part, row.source))
        row.place = f"{part}: {row.source if row.source in mine else mine[0]}"
    return sections


def default_source(place: str) -> str:
    """The source of a statement that names none."""
    part, _, section = place.partition(": ")
    return section if part.isdigit() else "(ours)"


def quoted(text: str) -> str:
    """A literal as the formatter writes it."""
    quote = "'" if '"' in text and "'" not in text else '"'
    return quote + text.replace("\\", "\\\\").replace(quote, f"\\{quote}") + quote


def in_full(row: Row, indent: str) -> list[str]:
    """The mark of a statement's first test."""
    source = "" if row.source == default_source(row.place) else f", source={quoted(row.source)}"
    line = f"{indent}@pytest.mark.states({quoted(f'{row.place}: {row.text}')}{source})"
    if len(line) <= WIDTH:
        return [line]
    inner = indent + "    "
    lines, words = [], f"{row.place}: {row.text}".split(" ")
    while words:
        count = len(words)
        while len(f"{inner}{quoted(' '.join(words[:count]) + ' ')},") > WIDTH:
            count -= 1
        lines.append(inner + quoted(" ".join(words[:count]) + (" " if words[count:] else "")))
        words = words[count:]
    lines[-1] += ","
    if source:
        lines.append(f"{inner}{source[2:]},")
    return [f"{indent}@pytest.mark.states(", *lines, f"{indent})"]


def in_short(row: Row, indent: str, rows: list[Row]) -> list[str]:
    """The mark of its other tests: as much of it as stands on one line."""
    words = row.text.split(" ")
    for count in range(len(words), 0, -1):
        beginning = " ".join(words[:count]).rstrip(",;:")
        line = f"{indent}@pytest.mark.states({quoted(f'{row.place}: {beginning} ...')})"
        if len(line) > WIDTH:
            continue
        meant = [one for one in rows if one.place == row.place and one.text.startswith(beginning)]
        exact = [one for one in meant if one.text == beginning]
        assert (exact or meant) == [row], line
        return [line]
    raise AssertionError(row)


def file_of(file: str, test: str) -> str:
    """Where a test lies now: it may have been moved to another file since."""

    def has(path: Path) -> bool:
        return re.search(rf"^ *(async )?def {test}\(", path.read_text(encoding="utf-8"), re.MULTILINE) is not None

    if (TESTS / file).exists() and has(TESTS / file):
        return file
    found = [path for path in sorted(TESTS.rglob("test_*.py")) if has(path)]
    same = [path for path in found if path.name == Path(file).name] or found
    if len(same) != 1:
        sys.exit(f"{file}::{test} is not there any more, and {len(same)} files have a test of that name")
    return same[0].relative_to(TESTS).as_posix()


def functions(path: Path) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The tests of a file, by name."""
    found = list(conformance._functions(ast.parse(path.read_text(encoding="utf-8")).body))
    return {node.name: node for node in found}


def with_import(lines: list[str]) -> list[str]:
    """Lines of a file that imports pytest."""
    tree = ast.parse("\n".join(lines))
    if any(isinstance(node, ast.Import) and any(one.name == "pytest" for one in node.names) for node in tree.body):
        return lines
    first = next(
        node
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom) and getattr(node, "module", "") != "__future__"
    )
    return [*lines[: first.lineno - 1], "import pytest", *lines[first.lineno - 1 :]]


def put_marks(rows: list[Row]) -> None:
    """Write the marks that are not there yet above the tests."""
    there = {(mark.file, mark.test, mark.place, mark.text) for mark in marks(TESTS)}
    wanted: dict[str, list[tuple[str, Row, bool]]] = defaultdict(list)
    for row in rows:
        for number, (file, test) in enumerate(row.tests):
            known = [text for f, t, place, text in there if (f, t, place) == (file, test, row.place)]
            if any(text == row.text or (number and row.text.startswith(text.removesuffix(" ..."))) for text in known):
                continue
            wanted[file].append((test, row, number == 0))
    for file, here in wanted.items():
        path = TESTS / file
        lines = path.read_text(encoding="utf-8").split("\n")
        nodes = functions(path)
        above: dict[int, list[str]] = defaultdict(list)
        for test, row, is_first in here:
            node = nodes[test]
            line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
            indent = " " * node.col_offset
            above[line] += in_full(row, indent) if is_first else in_short(row, indent, rows)
        for line in sorted(above, reverse=True):
            lines[line:line] = above[line]
        path.write_text("\n".join(with_import(lines)), encoding="utf-8")
        print(f"{file}: {len(here)} marks")
    changed = [str(TESTS / file) for file in wanted]
    if changed:
        ruff = str(Path(sys.executable).with_name("ruff"))
        subprocess.run([ruff, "check", "--quiet", "--select", "I001", "--fix", *changed], check=True, cwd=ROOT)
        subprocess.run([ruff, "format", "--quiet", *changed], check=True, cwd=ROOT)


def skeleton(page: str, sections: dict[tuple[str, str], list[str]]) -> str:
    """The old page with comments around its tables, and what it says of itself now."""
    told, part, section = [], "", ""
    for line in page.splitlines():
        if line.startswith("## "):
            part, section = PARTS[line[3:]], ""
        elif line.startswith("### "):
            section = line[4:]
        if line.startswith("| statement "):
            comment = f"<!-- {part}: {'; '.join(sections[part, section])} -->"
            told += [*textwrap.wrap(comment, WIDTH, break_long_words=False, break_on_hyphens=False), ""]
        if line.startswith("|") or (not line and told[-1].startswith("|")):
            told.append(line)
            if not line:
                told += ["<!-- end -->", ""]
        else:
            told.append(line)
    if told[-1].startswith("|"):
        told += ["", "<!-- end -->"]
    text = "\n".join(told) + "\n"
    begin, end = text.index("One row for each"), text.index('\n"(decided)" marks')
    return text[:begin] + INTRO + text[end:]


def main() -> None:
    """Move, make the page, compare."""
    revision = sys.argv[1] if sys.argv[1:] else OLD
    old = subprocess.run(
        ["git", "show", f"{revision}:docs/conformance.md"], check=True, cwd=ROOT, capture_output=True, text=True
    ).stdout
    rows = old_rows(old)
    for row in rows:
        row.tests = [(file_of(*test), test[1]) for test in row.tests]
    sections = give_places(rows)
    put_marks(rows)
    stated = statements(marks(TESTS))
    PAGE.write_text(updated(skeleton(old, sections), stated), encoding="utf-8")

    heading_of = {f"{part}: {own}": (part, section) for (part, section), owns in sections.items() for own in owns}
    new = [Row(heading_of[one.place], one.text, one.source, one.tests) for one in stated]
    before, after = Counter(map(Row.key, rows)), Counter(map(Row.key, new))
    for key in before - after:
        print("lost:", key)
    for key in after - before:
        print("new:", key)
    print(f"{len(rows)} rows before, {len(new)} after, {sum((before & after).values())} are the same")
    sys.exit(before != after)


if __name__ == "__main__":
    main()
