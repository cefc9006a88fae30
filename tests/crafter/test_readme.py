"""The page of the agent that plays Crafter: its code prints what it says, its commands exist, its scores agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from modules import load

pytest.importorskip("crafter")

from examples.crafter.__main__ import main
from examples.crafter.report import PUBLISHED

NAME = "examples/crafter/README.md"
PAGE = Path(__file__).resolve().parents[2] / NAME
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.mark.states("003: Crafter: Strategies, needs and reflexes play a game that was not written for them; it ...")
@pytest.mark.slow
def test_the_code_prints_what_the_page_says():
    blocks = list(load("tools/record_docs.py").run(PAGE))
    assert blocks
    for block, expected, printed in blocks:
        assert printed == expected, f"line {block.line}"


@pytest.mark.parametrize("check", ["test_every_block_has_a_known_language", "test_lines_fit"])
def test_it_keeps_to_the_form_of_the_other_pages(check):
    getattr(load("tests/docs/test_documents.py"), check)(NAME, load("tools/record_docs.py"))


def test_the_commands_and_their_options_exist():
    lines = re.findall(r"python -m examples\.crafter +([^`#\n]+)", TEXT)
    assert lines
    for line in lines:
        name, *words = line.split()
        command = main.get_command(None, name)
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= options, line
    table = set(re.findall(r"^\| `(--[\w-]+)", TEXT, flags=re.MULTILINE))
    assert table == {option for parameter in main.get_command(None, "score").params for option in parameter.opts}


def test_published_scores_are_those_that_a_run_is_shown_beside():
    """In the same order, with the same numbers and papers."""
    rows = re.findall(r"^\| (.+?) \| ([\d.]+) ± [\d.]+ % \| .*\[(arXiv:[\w.]+)\]", TEXT, flags=re.MULTILINE)
    assert [(float(value), paper) for _, value, paper in rows] == [
        (value, source.rpartition(" ")[2]) for _, value, source in PUBLISHED
    ]
