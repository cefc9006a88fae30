"""The conformance page: every row names a test that exists, or says that it is open work."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "conformance.md"
TEST = re.compile(r"`((?:[\w/]+/)?[\w]+\.py)::(\w+)`")


def rows():
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and cells[0] not in ("statement", "---"):
            yield cells


@cache
def functions_of(path):
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


ROWS = list(rows())


def test_there_are_rows():
    assert len(ROWS) > 80


@pytest.mark.parametrize("row", ROWS, ids=[row[0][:60] for row in ROWS])
def test_each_row_names_tests_that_exist_or_is_open(row):
    _, _, shown = row
    named = TEST.findall(shown)
    if not named:
        assert shown.startswith("open"), f"names neither a test nor open work: {shown}"
    for path, name in named:
        where = path if "/" in path else f"activity/{path}"
        assert name in functions_of(where), f"{where} has no {name}"
