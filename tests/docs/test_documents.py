"""The code in the README and in docs/ runs, and prints what the page says; see tools/record_docs.py for the convention."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentrt.errors import ERRORS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "README.md",
    "docs/README.md",
    "docs/coming-from/behaviortree_cpp.md",
    "docs/coming-from/minecraft.md",
    "docs/coming-from/py_trees.md",
    "docs/coming-from/stonehearth.md",
    "docs/coming-from/temporal.md",
    "docs/coming-from/unreal.md",
    "docs/explanation/architecture.md",
    "docs/explanation/sources.md",
    "docs/explanation/speed.md",
    "docs/how-to/builds.md",
    "docs/how-to/chaos.md",
    "docs/how-to/drawing.md",
    "docs/how-to/durable.md",
    "docs/how-to/embedding.md",
    "docs/how-to/ensembles.md",
    "docs/how-to/epochs.md",
    "docs/how-to/hot-reload.md",
    "docs/how-to/inspector.md",
    "docs/how-to/metrics.md",
    "docs/how-to/minds.md",
    "docs/how-to/models.md",
    "docs/how-to/packs.md",
    "docs/how-to/recording.md",
    "docs/how-to/replay.md",
    "docs/how-to/shards.md",
    "docs/how-to/testing.md",
    "docs/how-to/types.md",
    "docs/how-to/values.md",
    "docs/how-to/worlds.md",
    "docs/reference/api/agentrt.activity.md",
    "docs/reference/api/agentrt.behavior.md",
    "docs/reference/api/agentrt.body.md",
    "docs/reference/api/agentrt.bridges.md",
    "docs/reference/api/agentrt.drawing.md",
    "docs/reference/api/agentrt.ensembles.md",
    "docs/reference/api/agentrt.errors.md",
    "docs/reference/api/agentrt.expressions.md",
    "docs/reference/api/agentrt.goals.md",
    "docs/reference/api/agentrt.inspect.md",
    "docs/reference/api/agentrt.kernel.md",
    "docs/reference/api/agentrt.md",
    "docs/reference/api/agentrt.minds.md",
    "docs/reference/api/agentrt.rebuild.md",
    "docs/reference/api/agentrt.record.md",
    "docs/reference/api/agentrt.selection.md",
    "docs/reference/api/agentrt.shards.md",
    "docs/reference/api/agentrt.snapshot.md",
    "docs/reference/api/agentrt.strategy.md",
    "docs/reference/api/agentrt.tasks.md",
    "docs/reference/api/agentrt.testing.md",
    "docs/reference/api/agentrt.testing.strategies.md",
    "docs/reference/api.md",
    *(f"docs/reference/errors/{code}.md" for code in ERRORS),
    "docs/reference/errors.md",
    "docs/reference/library.md",
    "docs/reference/mistakes.md",
    "docs/reference/runtime.md",
    "docs/reference/snapshot.md",
    "docs/tutorials/actions.md",
    "docs/tutorials/behavior.md",
    "docs/tutorials/first-project.md",
    "docs/tutorials/goals.md",
    "docs/tutorials/minds.md",
    "docs/tutorials/plans.md",
    "docs/tutorials/selection.md",
    "docs/tutorials/strategies.md",
    "docs/tutorials/tasks.md",
    "docs/tutorials/tour.md",
]
LANGUAGES = {"python", "text", "console", "json", "mermaid", "toml"}
THEIRS = {"cpp", "java", "lua", "py", "xml"}  # code for other frameworks, which is not executed
SITE = {"eval-rst"}  # what only the site shows


def test_these_are_all_pages(record_docs):
    assert [page.relative_to(ROOT).as_posix() for page in record_docs.PAGES] == PAGES


@pytest.mark.states("003: Packs: Any node of the dependency map can be where a request begins: each dependency and ...")
@pytest.mark.states("003: Packs: A strategy joins the list of another by name ...")
@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_the_code_prints_what_the_page_says(name, record_docs):
    for block, expected, printed in record_docs.run(ROOT / name):
        assert printed == expected, f"{name}, line {block.line}"


@pytest.mark.parametrize("name", PAGES)
def test_every_block_has_a_known_language(name, record_docs):
    known = LANGUAGES | (THEIRS if "/coming-from/" in name else SITE if "/api/" in name else set())
    assert {block.language for block in record_docs.blocks_of((ROOT / name).read_text(encoding="utf-8"))} <= known


@pytest.mark.parametrize("name", PAGES)
def test_lines_fit(name, record_docs):
    """120 columns, except in tables and in what programs print."""
    text = (ROOT / name).read_text(encoding="utf-8")
    printed = {
        line
        for block in record_docs.blocks_of(text)
        if block.language == "text"
        for line in range(block.line, block.line + block.code.count("\n"))
    }
    assert [
        number
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > 120 and number not in printed and not line.startswith("|")
    ] == []


def test_the_commands_exist():
    """Each ``make TARGET`` and ``agentrt COMMAND`` in a console block."""
    from agentrt.cli import main

    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    for name in PAGES:
        for line in re.findall(r"^\$ (.*)$", (ROOT / name).read_text(encoding="utf-8"), flags=re.MULTILINE):
            program, *words = line.split("#")[0].split()
            if program == "make":
                assert words[0] in targets, line
            elif program == "agentrt":
                command = main.commands[words[0]]
                if words[0] in ("packs", "strategies"):
                    command = command.commands[words[1]]
                elif words[0] == "sweep":  # short for "sweep run"
                    command = command.commands.get(words[1], command.commands["run"])
                options = {option for parameter in command.params for option in parameter.opts}
                assert {word for word in words if word.startswith("--")} <= options, line


class TestRecording:
    PAGE = "# A page\n\n```python\nx = 1\nprint(x)\n```\n\n```text\n1\n```\n\n```python\nx += 1\n```\n"

    def test_what_is_recorded_already_stays(self, record_docs, tmp_path):
        page = tmp_path / "page.md"
        page.write_text(self.PAGE)
        assert record_docs.recorded(page) == self.PAGE

    def test_what_is_printed_otherwise_is_replaced(self, record_docs, tmp_path):
        page = tmp_path / "page.md"
        page.write_text(self.PAGE.replace("x = 1", "x = 2\nprint(0)"))
        assert record_docs.recorded(page) == self.PAGE.replace("x = 1", "x = 2\nprint(0)").replace("\n1\n", "\n0\n2\n")

    def test_a_missing_text_block_is_added(self, record_docs, tmp_path):
        page = tmp_path / "page.md"
        page.write_text("```python\nprint(1)\n```\nmore\n")
        assert record_docs.recorded(page) == "```python\nprint(1)\n```\n\n```text\n1\n```\nmore\n"

    def test_errors_carry_the_line_of_the_page(self, record_docs, tmp_path):
        page = tmp_path / "page.md"
        page.write_text("# A page\n\n```python\nx = 1\n\nx / 0\n```\n")
        with pytest.raises(ZeroDivisionError) as caught:
            list(record_docs.run(page))
        assert caught.traceback[-1].lineno + 1 == 6

    @pytest.mark.parametrize(
        "text", ["```python\nx\n", "```text\n1\n```\n", "```python\n```\n```text\n```\n```text\n```\n"]
    )
    def test_a_page_that_breaks_the_convention_is_refused(self, record_docs, text):
        with pytest.raises(ValueError, match="line"):
            record_docs.expected_outputs(record_docs.blocks_of(text))
