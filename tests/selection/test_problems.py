"""What is wrong with files: each kind once, with file and line, all of them in one report; and the compatible mode."""

from __future__ import annotations

import pytest

from agentrt.errors import DataFault, InvalidSelectionError
from agentrt.selection import SelectionLibrary

HEAD = '<SelectionTree name="T"><Variables><Variable name="Seen"/><Variable name="heard" default="1"/></Variables>'
BODY = '<Priority name="R"><Leaf name="L"/></Priority>'


def found(text, mode="strict"):
    """The problems of one file, as they are told."""
    texts = {"t.xml": text}
    if mode == "strict":
        with pytest.raises(InvalidSelectionError) as caught:
            SelectionLibrary.from_texts(texts)
        return [f"{line}: {text}" for _, line, text in caught.value.problems]
    return [f"{one.line}: {one.text}" for one in SelectionLibrary.from_texts(texts, "compatible").problems]


WRONG = {
    "undeclared variable": (
        HEAD + '\n<Leaf name="L" condition="seen or heart"/></SelectionTree>',
        ["2: the condition 'seen or heart' asks for the variable 'heart', which the tree 'T' does not declare. Did you mean "
         "'heard'? Add it to the <Variables>."],
        None,
    ),
    "undeclared in a signal": (
        HEAD + '\n<SignalVariables>\n<Signal name="S" variable="Sen" value="true"/>'
        '<Signal name="S" variable="seen" value="x"/></SignalVariables>' + BODY + "</SelectionTree>",
        ["3: sets the variable 'Sen', which the tree 'T' does not declare. Did you mean 'Seen'? Add it to the <Variables>.",
         "3: the condition 'x' asks for the variable 'x', which the tree 'T' does not declare. Add it to the <Variables>."],
        "L",
    ),
    "trailing text": (
        HEAD + '\n<Priority name="R"><Leaf name="L" condition="heard seen &amp; x"/></Priority></SelectionTree>',
        ["2: 'seen & x' follows the complete condition 'heard seen & x' and has no effect."],
        "L",
    ),
    "unresolved Ref": (
        HEAD + '<Priority name="R">\n<Ref name="Nope"/><Leaf name="L"/></Priority></SelectionTree>',
        ["2: no block is called 'Nope'. The tree 'T' needs it: put it into a file of <Blocks> in the same folder."],
        "L",
    ),
    "unknown tag": (
        HEAD + '<Priority name="R">\n<Leef name="X"/><Leaf name="L"/></Priority></SelectionTree>',
        ["2: there is no element <Leef>. Did you mean 'Leaf'? <Priority>: It may hold Priority, Leaf or Ref."],
        "L",
    ),
    "a tag in the wrong place": (
        HEAD + '<Priority name="R"><Variable name="x"/><Leaf name="L"><Leaf name="M"/></Leaf></Priority></SelectionTree>',
        ["1: <Variable> has no place in <Priority>. It may hold Priority, Leaf or Ref.",
         "1: <Leaf> has no place in <Leaf>. It holds nothing."],
        "L",
    ),
    "unknown attribute": (
        HEAD + '<Priority name="R" condit="x"><Leaf name="L"/></Priority></SelectionTree>',
        ["1: <Priority> has no attribute 'condit'. Did you mean 'condition'? It takes name or condition."],
        "L",
    ),
    "an attribute twice": (
        HEAD + '<Leaf name="L" NAME="M"/></SelectionTree>',
        ["1: <Leaf> has the attribute 'NAME' twice: names ignore case. Keep one of them."],
        "L",
    ),
    "no name": (
        HEAD + '<Priority name="R"><Leaf/><Leaf name=""/><Leaf name="L"/></Priority></SelectionTree>',
        ["1: <Leaf> has no attribute 'name'. Write it down.", "1: <Leaf> has an empty attribute 'name'. Write it down."],
        "L",
    ),
    "text": (
        HEAD + "<Priority name='R'>\n\n well\n<Leaf name='L'/></Priority></SelectionTree>",
        ["3: text has no meaning here, inside <Priority>. Remove it."],
        "L",
    ),
    "a variable twice": (
        '<SelectionTree name="T"><Variables><Variable name="a" default="true"/>\n<Variable name="A"/></Variables>'
        '<Leaf name="L" condition="a"/></SelectionTree>',
        ["2: the variable 'A' is declared twice in the tree 'T'. Remove one."],
        "L",
    ),
    "a translation twice": (
        HEAD + '<LeafTranslations><Map node="L" target="X"/>\n<Map node="l" target="Y"/></LeafTranslations>' + BODY
        + "</SelectionTree>",
        ["2: the node 'l' is translated twice in the tree 'T'. Remove one <Map>."],
        "X",
    ),
    "a group twice": (
        HEAD + '<Priority name="R"><Priority name="P"><Leaf name="X" condition="seen"/></Priority>\n<Priority name="p">'
        '<Leaf name="L"/></Priority></Priority></SelectionTree>',
        ["2: 'R' has another group 'p', at t.xml:1. Rename one of them: a path names one place."],
        "L",
    ),
    "a block twice": (
        HEAD + '<Blocks><Block name="B"><Leaf name="L"/></Block>\n<Block name="b"><Leaf name="M"/></Block></Blocks>'
        '<Ref name="B"/></SelectionTree>',
        ["2: there is another block 'b', at t.xml:1. Rename one of them."],
        "L",
    ),
    "a tree twice": (
        f'<SelectionTrees>{HEAD}{BODY}</SelectionTree>\n<SelectionTree name="t"><Leaf name="M"/></SelectionTree></SelectionTrees>',
        ["2: there is another tree 't', at t.xml:1. Rename one of them."],
        "L",
    ),
    "a section twice": (
        HEAD + '\n<Variables><Variable name="third"/></Variables><Leaf name="L" condition="!third"/></SelectionTree>',
        ["2: the tree 'T' has <Variables> already, in line 1. Put them together."],
        "L",
    ),
    "two roots": (
        HEAD + BODY + '\n<Leaf name="M"/></SelectionTree>',
        ["2: the tree 'T' has a root already. Put both into one <Priority>."],
        "L",
    ),
    "no root": (
        HEAD + "</SelectionTree>",
        ["1: the tree 'T' has no root. Give it a <Priority> that holds its leaves."],
        None,
    ),
    "a default that is none": (
        '<SelectionTree name="T"><Variables><Variable name="a" default="yes"/></Variables><Leaf name="L" condition="!a"/>'
        "</SelectionTree>",
        ["1: the default of 'a' is 'yes'. Write 'true' or 'false'."],
        "L",
    ),
    "a variable that no condition can name": (
        '<SelectionTree name="T"><Variables><Variable name="1st"/><Variable name="Or"/></Variables><Leaf name="L"/>'
        "</SelectionTree>",
        ["1: no condition can name a variable '1st'. A name has letters, digits, '_' and '.', begins with a letter or '_', "
         "and is no word such as 'and' or 'true'.",
         "1: no condition can name a variable 'Or'. A name has letters, digits, '_' and '.', begins with a letter or '_', "
         "and is no word such as 'and' or 'true'."],
        "L",
    ),
    "a block of another kind": (
        HEAD + '<Blocks><Block name="B"><Variable name="x"/>\n<Leaf name="L"/></Block></Blocks><Ref name="B"/></SelectionTree>',
        ["1: the block 'B' is spliced into the tree, which takes <Priority> and <Leaf>, not this."],
        "L",
    ),
}  # fmt: skip


@pytest.mark.states(
    "004: Selection Variables: One that is declared twice, or that no condition can name, is an error (decided)",
)
@pytest.mark.states(
    "004: Signal Variables: Each entry has the name of the signal, the variable, and the value; all three are needed",
)
@pytest.mark.states("004: Leaf Translations: One that no leaf uses is a warning, and two for one node are an error ...")
@pytest.mark.states("004: The Selection Tree: Leaves of one name may stand side by side, groups may not (decided)")
@pytest.mark.states("004: Sharing Behavior Blocks: Unresolved and circular references, and blocks of another kind ...")
@pytest.mark.parametrize("name", WRONG)
def test_strict_tells_what_is_wrong(name):
    text, told, _ = WRONG[name]
    assert found(text) == told


@pytest.mark.states("004: Sharing Behavior Blocks: The compatible mode reads what it can and lists the rest (ours)")
@pytest.mark.parametrize("name", WRONG)
def test_compatible_tells_the_same_and_goes_on(name):
    """What means nothing is left out; the first of two equal names stays; a condition is read as far as it goes."""
    text, told, selected = WRONG[name]
    library = SelectionLibrary.from_texts({"t.xml": text}, "compatible")
    assert [f"{one.line}: {one.text}" for one in library.problems] == told
    assert not any(one.is_error for one in library.problems)
    assert library["T"].select() == selected


@pytest.mark.states("004: Selection Variables: One that is not declared cannot be set or asked for; in the ...")
def test_compatible_reads_undeclared_variables_as_false():
    text, _, _ = WRONG["undeclared variable"]
    tree = SelectionLibrary.from_texts({"t.xml": text}, "compatible")["T"]
    assert (tree.select(), tree.select(seen=True), tree.select(heart=True)) == (None, "L", None)
    state = SelectionLibrary.from_texts({"t.xml": text}, "compatible")["T"].state()
    assert state.set_variable("heart", True) is False
    assert state.is_set("heart") is False


NEITHER = {
    "a condition that is none": (
        HEAD + '<Priority name="R">\n<Leaf name="L" condition="seen or or heard"/></Priority></SelectionTree>',
        "2: the condition 'seen or or heard' is wrong at 'or': here a variable, 'true', 'false' or an opening bracket is "
        "expected.",
    ),
    "an empty condition": (
        HEAD + '<Leaf name="L" condition=""/></SelectionTree>',
        "1: the condition '' is wrong at its end: it is empty; leave the attribute out if there is nothing to ask.",
    ),
    "a signal's value": (
        HEAD + '<SignalVariables><Signal name="S" variable="seen" value="!!heard"/></SignalVariables>' + BODY
        + "</SelectionTree>",
        "1: the condition '!!heard' is wrong at '!': here a variable, 'true', 'false' or an opening bracket is expected.",
    ),
    "another file": (
        "<Behaviors/>",
        "1: a file is one of SelectionTrees, SelectionTree or Blocks, and this is <Behaviors>.",
    ),
    "no XML": ("<SelectionTree>\n<Leaf></SelectionTree>", "2: it is not XML: mismatched tag, in column 9."),
    "nothing": ("", "1: it is not XML: no element found, in column 1."),
    "an attribute twice": ('<Leaf a="" a=""/>', "1: it is not XML: duplicate attribute, in column 12."),
}  # fmt: skip


@pytest.mark.states("004: Sharing Behavior Blocks: The compatible mode reads what it can and lists the rest (ours) ...")
@pytest.mark.parametrize("mode", ["strict", "compatible"])
@pytest.mark.parametrize("name", NEITHER)
def test_what_no_mode_reads(name, mode):
    text, told = NEITHER[name]
    assert found(text, mode) == [told]
    if mode == "compatible":
        library = SelectionLibrary.from_texts(
            {"t.xml": text, "u.xml": '<SelectionTree><Leaf name="U"/></SelectionTree>'}, mode
        )
        assert library.names == ("u",)  # the others are there
        assert [one.is_error for one in library.problems] == [True]


@pytest.mark.states(
    "004: Sharing Behavior Blocks: All errors are in one report, by file and line; `agentrt selection check` prints "
    "it (ours)",
)
def test_all_problems_of_all_files_in_one_report_by_file_and_line():
    texts = {
        "b.xml": '<SelectionTree>\n<Leaf name="L" condition="x"/>\n<Loaf/>\n</SelectionTree>',
        "a.xml": "<Blocks",
        "c/d.xml": '<Blocks><Block name="B">\n<Leaf name="Q" condition="("/>\n</Block></Blocks>',
    }
    with pytest.raises(InvalidSelectionError) as caught:
        SelectionLibrary.from_texts(texts)
    assert str(caught.value).splitlines() == [
        "[ART220] 4 problems in these selection trees:",
        "  a.xml:1: it is not XML: unclosed token, in column 1.",
        "  b.xml:2: the condition 'x' asks for the variable 'x', which the tree 'b' does not declare. Add it to the "
        "<Variables>.",
        "  b.xml:3: there is no element <Loaf>. Did you mean 'Leaf'? <SelectionTree>: It may hold Variables, SignalVariables, "
        "LeafTranslations, Blocks, Priority, Leaf or Ref.",
        "  c/d.xml:2: the condition '(' is wrong at its end: here a variable, 'true', 'false' or an opening bracket is "
        "expected.",
    ]
    assert isinstance(caught.value, DataFault)
    assert (caught.value.file, caught.value.omitted) == ("a.xml", 0)


def test_a_block_that_several_trees_share_is_told_once():
    block = '<Blocks><Block name="B">\n<Leaf name="L" condition="v w"/></Block></Blocks>'
    tree = '<SelectionTree name="{}"><Variables><Variable name="v"/></Variables><Ref name="B"/></SelectionTree>'
    texts = {"b.xml": block} | {f"{name}.xml": tree.format(name) for name in "pqr"}
    with pytest.raises(InvalidSelectionError) as caught:
        SelectionLibrary.from_texts(texts)
    assert [place[:2] for place in caught.value.problems] == [("b.xml", 2)]


def test_a_block_that_does_not_fit_one_tree_names_it():
    block = '<Blocks><Block name="B">\n<Leaf name="L" condition="v"/></Block></Blocks>'
    texts = {
        "b.xml": block,
        "p.xml": '<SelectionTree><Variables><Variable name="v"/></Variables><Ref name="B"/></SelectionTree>',
        "q.xml": '<SelectionTree><Ref name="B"/></SelectionTree>',
    }
    with pytest.raises(InvalidSelectionError, match=r"b.xml:2: .* which the tree 'q' does not declare"):
        SelectionLibrary.from_texts(texts)


@pytest.mark.states(
    "004: Leaf Translations: One that no leaf uses is a warning, and two for one node are an error (decided)",
)
@pytest.mark.states("004: The Selection Tree: What stands behind it is never selected, which is a warning (ours)")
@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ('<Priority name="R"><Leaf name="A"/>\n<Leaf name="B"/></Priority>',
         "2: 'B' is never selected: 'A' before it has no condition."),
        ('<Priority name="R">\n<Priority name="P"/><Leaf name="A"/></Priority>',
         "2: the group 'P' is empty: it selects nothing."),
        ('<LeafTranslations>\n<Map node="B" target="C"/></LeafTranslations><Leaf name="A"/>',
         "2: no leaf of the tree 'T' is called 'B'."),
    ],
)  # fmt: skip
def test_what_works_and_is_probably_not_meant_is_a_warning(text, warned):
    library = SelectionLibrary.from_texts({"t.xml": f'<SelectionTree name="T">{text}</SelectionTree>'})
    assert [f"{one.line}: {one.text}" for one in library.problems] == [warned]
    assert library["T"].select() == "A"
    assert str(library.problems[0]) == f"t.xml:2: warning: {warned[3:]}"


def test_a_hostile_folder_does_not_fill_a_screen():
    leaves = "".join(f'<Leaf name="L{number}" condition="nope{number}"/>' for number in range(3000))
    with pytest.raises(InvalidSelectionError) as caught:
        SelectionLibrary.from_texts({"t.xml": f'<SelectionTree><Priority name="R">{leaves}</Priority></SelectionTree>'})
    assert (len(caught.value.problems), caught.value.omitted) == (100, 2900)
    assert str(caught.value).splitlines()[-1] == "  and 2900 more"


def test_names_from_a_file_are_shown_escaped_and_short():
    text = f'<SelectionTree><Ref name="&#x1b;[2J{"x" * 500}"/></SelectionTree>'.replace(
        "&#x1b;", "\N{RIGHT-TO-LEFT OVERRIDE}"
    )
    with pytest.raises(InvalidSelectionError) as caught:
        SelectionLibrary.from_texts({"t.xml": text})
    assert "\\u202e[2Jxxx" in str(caught.value)
    assert "x" * 61 not in str(caught.value)
