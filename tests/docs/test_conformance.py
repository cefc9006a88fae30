"""The conformance page says what the marks on the tests say, and no statement is without a test."""

from __future__ import annotations

import re

import pytest
from modules import load

conformance = load("tools/conformance.py")

WRITE = "run: python tools/conformance.py"


@pytest.fixture(scope="module")
def page():
    return conformance.PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def stated():
    return conformance.statements(conformance.marks(conformance.TESTS))


@pytest.mark.slow
def test_every_statement_of_the_page_stands_on_a_test(page, stated):
    gone = conformance.lost(page, stated)
    said = ["put the marks on tests that show these; if they are to go, run: python tools/conformance.py --drop", *gone]
    assert not gone, "\n".join(said)


@pytest.mark.slow
def test_the_page_is_what_the_tool_would_write(page, stated):
    assert conformance.updated(page, stated) == page, WRITE


def test_nothing_is_open(page):
    assert conformance.open_rows(page) == []


# --- the tool ---------------------------------------------------------------------------------------------------------

PAGE = """# A page

<!-- 001: Plans; run -->

| statement | source | test |
| --- | --- | --- |
| One waits | Plans | `a/test_a.py::test_one` |
| One runs | run | `a/test_a.py::test_two`, `::test_three`, `a/test_b.py::test_four` |

<!-- end -->

What it says of itself.

<!-- tools: Kit -->

| statement | source | test |
| --- | --- | --- |

<!-- end -->
"""
TEST_A = """
@states("001: Plans: One waits")
def test_one(): ...

class TestThat:
    @states(
        "001: run: One "
        "runs",
    )
    @pytest.mark.parametrize("x", [1])
    async def test_two(self, x): ...

@states("001: run: One ...")
def test_three(): ...
"""
TEST_B = """
@states("001: run: One ru ...")
def test_four(): ...
"""


@pytest.fixture
def written(tmp_path):
    """What files of tests state; ``states`` in them is short for the mark, which must not stand in this file."""

    def written(a, b="", folder="a"):
        (tmp_path / folder).mkdir(exist_ok=True)
        for name, code in (("test_a.py", a), ("test_b.py", b)):
            text = "import pytest\n" + re.sub(r"\bstates\b", "pytest.mark.states", code)
            (tmp_path / folder / name).write_text(text, encoding="utf-8")
        return conformance.statements(conformance.marks(tmp_path))

    return written


def refused(written, *code):
    with pytest.raises(conformance.ConformanceError) as caught:
        conformance.updated(PAGE, written(*code))
    return str(caught.value)


class TestMaking:
    def test_what_is_there_already_stays(self, written):
        assert conformance.updated(PAGE, written(TEST_A, TEST_B)) == PAGE

    def test_a_new_one_comes_at_the_end_of_its_table(self, written):
        new = '@states("001: Plans: A new | one", source="design 2")\ndef test_five(): ...\n'
        row = "| A new \\| one | design 2 | `a/test_b.py::test_five` |\n"
        fresh = conformance.updated(PAGE, written(TEST_A, TEST_B + new))
        assert fresh == PAGE.replace("test_four` |\n", f"test_four` |\n{row}")
        assert conformance.updated(fresh, written(TEST_A, TEST_B + new)) == fresh

    def test_rows_that_were_moved_by_hand_stay_there(self, written):
        one, two = (line for line in PAGE.splitlines() if line.startswith("| One"))
        moved = PAGE.replace(f"{one}\n{two}", f"{two}\n{one}")
        assert conformance.updated(moved, written(TEST_A, TEST_B)) == moved

    def test_what_is_in_no_seed_and_names_no_source_is_ours(self, written):
        kit = '@states("tools: Kit: It stubs: all")\ndef test_five(): ...\n'
        fresh = conformance.updated(PAGE, written(TEST_A, TEST_B + kit))
        assert "| --- | --- | --- |\n| It stubs: all | (ours) | `a/test_b.py::test_five` |\n\n<!-- end -->" in fresh

    def test_a_comment_may_have_several_lines(self, written):
        page = PAGE.replace("Plans; run", "Plans;\nrun")
        assert conformance.updated(page, written(TEST_A, TEST_B)) == page

    def test_a_whole_statement_with_which_another_one_begins(self, written):
        more = (
            '@states("001: Plans: One waits and waits")\n@states("001: Plans: One waits ...")\ndef test_five(): ...\n'
        )
        waits, waits_long = (one for one in written(TEST_A, TEST_B + more) if one.text.startswith("One waits"))
        assert waits.tests == [("a/test_a.py", "test_one"), ("a/test_b.py", "test_five")]
        assert waits_long.tests == [("a/test_b.py", "test_five")]


class TestLosing:
    def test_a_row_whose_test_is_gone_is_named(self, written):
        stated = written(TEST_A.replace("@states(", "#", 1), TEST_B)
        assert conformance.lost(PAGE, stated) == ["| One waits | Plans | `a/test_a.py::test_one` |"]
        assert "One waits" not in conformance.updated(PAGE, stated)

    def test_a_row_with_another_test_is_not_lost_and_the_page_is_another(self, written):
        stated = written(TEST_A)
        assert conformance.lost(PAGE, stated) == []
        assert conformance.updated(PAGE, stated) == PAGE.replace(", `a/test_b.py::test_four`", "")

    def test_one_that_stands_nowhere_in_full(self, written):
        message = refused(written, "", TEST_B)
        assert message.startswith('tests/a/test_b.py:3: 0 statements of "001: run" begin with "One ru", and not one')

    def test_what_is_open_stays_and_is_told_until_a_test_shows_it(self, written):
        rows = "| It flies | run | open: wings |\n| It is fun | run | none: a matter of taste |\n"
        page = PAGE.replace("test_four` |\n", f"test_four` |\n{rows}")
        stated = written(TEST_A, TEST_B)
        assert conformance.updated(page, stated) == page
        assert conformance.lost(page, stated) == []
        assert conformance.open_rows(page) == ["| It flies | run | open: wings |"]
        stated = written(TEST_A, TEST_B + '@states("001: run: It flies")\ndef test_five(): ...\n')
        fresh = conformance.updated(page, stated)
        assert fresh == page.replace("open: wings", "`a/test_b.py::test_five`")
        assert conformance.open_rows(fresh) == []


class TestRefusing:
    def test_in_full_twice(self, written):
        message = refused(written, TEST_A, '@states("001: Plans: One waits")\ndef test_five(): ...\n')
        assert message == (
            'tests/a/test_b.py:2: "One waits" stands in full on another test, too; '
            'here write its beginning and three dots: "001: Plans: One ..."'
        )

    def test_a_beginning_of_two(self, written):
        code = '@states("001: run: One rusts")\ndef test_five(): ...\n'
        message = refused(written, TEST_A, TEST_B + code)
        assert message.startswith('tests/a/test_a.py:14: 2 statements of "001: run" begin with "One", and not one')

    def test_the_same_words_twice_in_one_table(self, written):
        code = '@states("001: Plans: One runs")\ndef test_five(): ...\n'
        assert refused(written, TEST_A, code) == "two statements of one table have the same words: One runs"

    def test_a_section_that_no_table_has(self, written):
        message = refused(written, TEST_A, '@states("001: Walk: One waits")\ndef test_five(): ...\n')
        assert message.startswith("no table of conformance.md has these sections")
        assert message.endswith(": 001: Walk")

    @pytest.mark.parametrize(
        "mark",
        [
            "",
            '"001: run: A", "001: run: B"',
            "TEXT",
            '"001: run: A", ours="yes"',
            '"001: run: A", source=TEXT',
            '*["A"]',
        ],
    )
    def test_what_is_no_plain_text(self, written, mark):
        message = refused(written, TEST_A, f"@states({mark})\ndef test_five(): ...\n")
        assert message.startswith("tests/a/test_b.py:2: a mark is states(")

    @pytest.mark.parametrize("text", ["", "One waits", "001: One waits", "001: run: "])
    def test_a_part_that_is_missing(self, written, text):
        message = refused(written, TEST_A, f'@states("{text}")\ndef test_five(): ...\n')
        assert message.startswith(f'tests/a/test_b.py:2: "{text}" has no seed, section and statement')

    def test_a_source_beside_a_beginning(self, written):
        message = refused(written, TEST_A, '@states("001: run: One ru ...", source="run")\ndef test_five(): ...\n')
        assert message == "tests/a/test_b.py:2: the source stands where the statement stands in full"

    @pytest.mark.parametrize(
        "code",
        [
            '@states("001: run: A")\nclass TestIt: ...\n',
            '@states("001: run: A")\ndef helper(): ...\n',
            "pytestmark = states('001: run: A')\n",
        ],
    )
    def test_what_is_no_test(self, written, code):
        message = refused(written, TEST_A, code)
        assert message == "tests/a/test_b.py: a mark stands on something that is no test function"


class TestCommand:
    @pytest.fixture
    def run(self, tmp_path, monkeypatch, written):
        (tmp_path / "page.md").write_text(PAGE, encoding="utf-8")
        monkeypatch.setattr(conformance, "PAGE", tmp_path / "page.md")
        monkeypatch.setattr(conformance, "TESTS", tmp_path)

        def run(*options):
            return conformance.main(list(options)), (tmp_path / "page.md").read_text(encoding="utf-8")

        return run

    def test_nothing_to_do(self, run, written):
        written(TEST_A, TEST_B)
        assert run("--check") == (None, PAGE)
        assert run() == (None, PAGE)

    def test_check_writes_nothing(self, run, written):
        written(TEST_A)
        assert run("--check") == ("page.md is not what the tests say; run: python tools/conformance.py", PAGE)

    def test_what_is_lost_is_dropped_only_on_demand(self, run, written):
        written("", TEST_B.replace(" ru ...", " runs"))
        said, page = run()
        assert said.startswith("No test shows these any more")
        assert said.endswith("\n| One waits | Plans | `a/test_a.py::test_one` |")
        assert page == PAGE
        said, page = run("--drop")
        assert said is None
        assert "One waits" not in page
        assert "| One runs | run | `a/test_b.py::test_four` |" in page

    def test_what_is_open_is_listed(self, run, written, tmp_path, capsys):
        open_row = "| It flies | run | open |"
        (tmp_path / "page.md").write_text(PAGE.replace("test_four` |\n", f"test_four` |\n{open_row}\n"))
        written(TEST_A, TEST_B)
        assert run()[0] is None
        assert capsys.readouterr().out == f"open: {open_row}\n"

    def test_what_is_refused_is_said(self, run, written):
        with pytest.raises(conformance.ConformanceError) as caught:
            written("", TEST_B)
        assert run() == (str(caught.value), PAGE)
