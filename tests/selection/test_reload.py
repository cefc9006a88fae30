"""Reading a folder again while agents use it: what changes, what stays, and that nobody is left without a tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt.body.driver import LoneBody
from agentrt.errors import InvalidSelectionError, UnknownTreeError
from agentrt.kernel.kernel import Kernel
from agentrt.selection import LeafBehavior, SelectionLibrary

BLOCKS = '<Blocks><Block name="B"><Leaf name="A" condition="a"/><Leaf name="Idle"/></Block></Blocks>'
TREE = """<SelectionTree><Variables><Variable name="a"/><Variable name="b"/></Variables>
<Priority name="R"><Ref name="B"/></Priority></SelectionTree>"""


@pytest.fixture
def files():
    return {"b.xml": BLOCKS, "t.xml": TREE}


@pytest.fixture
def library(files):
    return SelectionLibrary.from_texts(files)


def test_nothing_changed(library, files):
    tree, program = library["t"], library["t"].program
    files["t.xml"] = "\n\n<!-- a comment -->" + TREE
    report = library.reload()
    assert report == ((), (), (), (), ())
    assert report.ok
    assert (library["t"] is tree, tree.program is program, tree.version) == (True, True, 0)


def test_a_block_changed(library, files, state_of, log):
    """The behavior that is there before and after goes on; the tree is evaluated again."""
    state = state_of(library["t"])
    state.set_variable("b", True)
    state.drive()
    files["b.xml"] = BLOCKS.replace("Idle", "Rest").replace('condition="a"', 'condition="a or b"')
    report = library.reload()
    assert (report.changed, report.added, report.removed, report.kept) == (("t",), (), (), ())
    assert state.behavior == "Idle"  # until the next update
    assert state.is_stale
    state.drive()
    assert state.behavior == "A"
    assert log == [("constructor", "Idle"), ("destructor", "Idle"), ("constructor", "A")]
    assert library["t"].version == 1


@pytest.mark.states("004: Overview: A reload keeps agents that run valid: variables by name, the current behavior ...")
def test_the_current_behavior_stays_if_it_is_still_selected(library, files, state_of, log):
    state = state_of(library["t"])
    state.set_variable("a", True)
    state.drive()
    files["t.xml"] = TREE.replace('<Ref name="B"/>', '<Priority name="Deeper"><Ref name="B"/></Priority>')
    library.reload()
    state.drive()
    assert state.leaf == "R/Deeper/A"
    assert log == [("constructor", "A")]


@pytest.mark.states(
    "004: Overview: A reload keeps agents that run valid: variables by name, the current behavior if it is still "
    "selected (decided)",
)
def test_variables_stay_by_name(library, files, body):
    state = library["t"].state(body=body)
    state.set_variable("a", True)
    state.set_variable("b", True)
    files["t.xml"] = TREE.replace(
        '<Variable name="a"/><Variable name="b"/>',
        '<Variable name="new" default="true"/><Variable name="B"/><Variable name="a"/><Variable name="other"/>',
    )
    library.reload()
    assert state.variables == {"new": True, "B": True, "a": True, "other": False}
    state.drive()
    assert state.variables == {"new": True, "B": True, "a": True, "other": False}
    files["t.xml"] = TREE.replace('<Variable name="b"/>', "")
    library.reload()
    state.set_variable("a", False)
    assert state.variables == {"a": False}
    files["t.xml"] = TREE
    library.reload()
    assert state.variables == {"a": False, "b": False}  # what was gone has its default again


@pytest.mark.states(
    "004: Overview: A file that is broken at a reload counts as it was when it was whole; a tree with errors stays; "
    "both are reported (decided)",
)
@pytest.mark.parametrize(
    ("name", "broken", "line"),
    [
        ("t.xml", "<SelectionTree>", 1),
        ("t.xml", TREE.replace('<Ref name="B"/>', '<Ref name="Nope"/>'), 2),
        ("t.xml", TREE.replace('name="R"', 'name="R" condition="a a"'), 2),
        ("b.xml", "<Blocks", 1),
        ("b.xml", BLOCKS.replace('"a"', '"nope"'), 1),
        ("b.xml", BLOCKS.replace("<Leaf", "<Leef"), 1),
    ],
)
def test_a_broken_file_keeps_the_old_tree_and_is_reported(library, files, state_of, name, broken, line):
    whole = files[name]
    state = state_of(library["t"])
    state.drive()
    files[name] = broken
    report = library.reload()
    assert not report.ok
    assert next((one.file, one.line) for one in report.problems) == (name, line)
    assert (report.changed, report.removed) == ((), ())
    assert library.problems == report.problems
    state.set_variable("a", True)
    state.drive()
    assert state.behavior == "A"
    assert library["t"].version == 0
    files[name] = whole.replace("Idle", "Rest")
    assert library.reload().ok
    assert library["t"].version == (1 if name == "b.xml" else 0)


@pytest.mark.states("004: Overview: A file that is broken at a reload counts as it was when it was whole; a tree ...")
def test_while_one_file_is_broken_others_change(library, files):
    files["u.xml"] = '<SelectionTree><Ref name="B"/></SelectionTree>'
    with_two_roots = library.reload()
    assert [one.file for one in with_two_roots.problems if one.is_error] == [
        "b.xml",
        "b.xml",
    ]  # two roots, undeclared a
    with pytest.raises(UnknownTreeError, match="It is there, and has errors"):
        library["u"]
    files["b.xml"] = "<Blocks"
    files["u.xml"] = '<SelectionTree><Leaf name="U"/></SelectionTree>'
    report = library.reload()
    assert (report.added, report.changed, [one.file for one in report.problems]) == (("u",), (), ["b.xml"])
    assert library.names == ("t", "u")


def test_a_new_file_with_an_error_adds_no_tree(library, files):
    files["u.xml"] = '<SelectionTree><Priority name="R"><Leef name="X"/><Leaf name="L"/></Priority></SelectionTree>'
    report = library.reload()
    assert (report.added, [one.line for one in report.problems]) == ((), [1])
    with pytest.raises(UnknownTreeError, match="It is there, and has errors"):
        library["u"]


@pytest.mark.states("004: Overview: A file that is broken at a reload counts as it was when it was whole; a tree ...")
def test_a_tree_that_is_kept_is_told(library, files):
    files["t.xml"] = TREE.replace('<Ref name="B"/>', '<Leaf name="L" condition="("/>')
    report = library.reload()
    assert report.kept == ("t",)


@pytest.mark.states("004: Overview: A tree that is added to the folder is picked up by a reload")
def test_trees_come_and_go(library, files, state_of):
    state = state_of(library["t"])
    del files["t.xml"]
    files["u.xml"] = TREE
    report = library.reload()
    assert (report.added, report.removed) == (("u",), ("t",))
    assert library.names == ("u",)
    state.drive()
    assert state.behavior == "Idle"  # who uses it may go on


@pytest.mark.states(
    "004: Overview: Agents follow a tree that was away and came back; a folder that is away changes nothing (ours)",
)
def test_agents_follow_a_tree_that_was_away_and_came_back(library, files, body):
    """An editor deletes a file and writes it again: to the agents it is the tree that they run on."""
    state = library["t"].state(body=body)
    state.set_variable("a", True)
    state.drive()
    text = files.pop("t.xml")
    assert library.reload().removed == ("t",)
    state.drive()
    assert state.behavior == "A"
    files["t.xml"] = text.replace('<Ref name="B"/>', '<Leaf name="Sleep"/>')
    assert library.reload().added == ("t",)
    state.drive()
    assert state.behavior == "Sleep"
    assert state.tree is library["t"]


@pytest.mark.states("004: Overview: Agents follow a tree that was away and came back; a folder that is away ...")
def test_a_folder_that_is_away_changes_nothing(tmp_path, body):
    folder = tmp_path / "trees"
    folder.mkdir()
    (folder / "b.xml").write_text(BLOCKS)
    (folder / "t.xml").write_text(TREE)
    library = SelectionLibrary.load(folder)
    folder.rename(tmp_path / "elsewhere")
    report = library.reload()
    assert (report.removed, report.changed, report.ok) == ((), (), False)
    assert [str(problem) for problem in report.problems] == [
        f"{folder}: error: it is not there any more. What was read before stays."
    ]
    assert "t" in library
    (tmp_path / "elsewhere").rename(folder)
    assert library.reload() == ((), (), (), (), ())


@pytest.mark.states("004: Overview: A tree that is added to the folder is picked up by a reload ...")
def test_a_folder(tmp_path, body):
    (tmp_path / "t.xml").write_text(TREE.replace('<Ref name="B"/>', '<Leaf name="A"/>'))
    library = SelectionLibrary.load(tmp_path)
    state = library["t"].state(body=body)
    (tmp_path / "t.xml").write_text(TREE.replace('<Ref name="B"/>', '<Leaf name="B"/>'))
    (tmp_path / "more.xml").write_text(TREE)
    report = library.reload()
    assert (report.changed, {one.file for one in report.problems}) == (("t",), {"more.xml"})
    state.drive()
    assert state.behavior == "B"
    (tmp_path / "t.xml").unlink()
    (tmp_path / "more.xml").unlink()
    assert [one.text for one in library.reload().problems] == [
        "there is no *.xml file in this folder. Name the folder of the trees."
    ]
    tmp_path.rmdir()
    assert not library.reload().ok


def test_what_was_out_is_in_again(library, files, body, faults):
    class A(LeafBehavior):
        def constructor(self, ai):
            raise ValueError

    state = library["t"].state({"A": A}, body=body)
    state.set_variable("a", True)
    state.drive()
    assert state.behavior == "Idle"
    files["b.xml"] = BLOCKS.replace("Idle", "Rest")
    library.reload()
    state.drive()
    assert (state.behavior, [hook for _, hook, _ in faults]) == ("Rest", ["constructor"])  # reported once
    state.behaviors = {"A": LeafBehavior}
    files["b.xml"] = BLOCKS
    library.reload()
    state.drive()
    assert state.behavior == "A"


def test_watching_takes_nothing_over_and_the_trace_tells(library, files):
    kernel = Kernel()
    records = []
    kernel.trace.listen(records.append)
    state = library["t"].state(body=LoneBody(kernel=kernel))
    state.drive()
    records.clear()
    files["b.xml"] = BLOCKS.replace("Idle", "Rest")
    library.reload()
    state.view()
    repr(state)
    assert records == []
    state.drive()
    assert next((str(one.event), dict(one.detail)) for one in records) == ("note", {"reloaded": "t", "version": 1})


def test_a_signal_uses_the_new_tree_at_once(library, files, body):
    state = library["t"].state(body=body)
    files["t.xml"] = TREE.replace(
        "<Priority", '<SignalVariables><Signal name="S" variable="a" value="true"/></SignalVariables><Priority'
    )
    library.reload()
    assert state.signal("S")
    state.drive()
    assert state.behavior == "A"


def test_a_compatible_library_stays_compatible(files):
    files["t.xml"] = TREE.replace('name="R"', 'name="R" condition="nobody == false"')
    library = SelectionLibrary.from_texts(files, "compatible")
    assert (library.mode, library["t"].select()) == ("compatible", "Idle")
    assert library.reload().ok
    with pytest.raises(InvalidSelectionError):
        SelectionLibrary.from_texts(files)


NAMES = st.lists(st.sampled_from("abcdef"), unique=True, max_size=6)


@pytest.mark.states("004: Overview: A reload keeps agents that run valid: variables by name, the current behavior ...")
@pytest.mark.slow
@given(
    versions=st.lists(NAMES, min_size=1, max_size=6),
    values=st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans())),
)
def test_names_keep_their_values_through_any_reloads(versions, values):
    """A dict that forgets what a version does not declare is the model."""

    def text(names):
        declared = "".join(f'<Variable name="{name}" default="{name in "ace"}"/>' for name in names)
        return f'<SelectionTree><Variables>{declared}</Variables><Leaf name="L"/></SelectionTree>'

    files = {"t.xml": text(versions[0])}
    library = SelectionLibrary.from_texts(files)
    state = library["t"].state(body=LoneBody())
    expected = {name: name in "ace" for name in versions[0]}
    for names in versions[1:]:
        for name, value in values:
            if name in expected:
                state.set_variable(name, value)
                expected[name] = value
        files["t.xml"] = text(names)
        library.reload()
        expected = {name: expected.get(name, name in "ace") for name in names}
        assert state.variables == expected
        state.drive()
        assert list(state.variables.items()) == list(expected.items())
