"""Files and folders: what a file may be, where blocks are found, what a Ref stands for, and what the seed shows."""

from __future__ import annotations

import pytest

from agentrt.errors import DefinitionError, InvalidSelectionError, UnknownTreeError
from agentrt.selection import SelectionLibrary

SEED = """<SelectionTree name="Grunt">
<Variables>
  <Variable name="AwareOfSound" default="false"/>
  <Variable name="AwareOfEnemy"/>
</Variables>
<SignalVariables>
  <Signal name="OnHearSound" variable="AwareOfSound" value="true"/>
  <Signal name="OnEnemySeen" variable="AwareOfEnemy" value="true"/>
  <Signal name="OnNoTarget" variable="AwareOfSound" value="false"/>
  <Signal name="OnNoTarget" variable="AwareOfEnemy" value="false"/>
</SignalVariables>
<LeafTranslations>
  <Map node="Idle" target="GruntIdle"/>
  <Map node="Investigate" target="GruntInvestigate"/>
  <Map node="Attack" target="GruntAttack"/>
</LeafTranslations>
<Priority name="Root">
  <Priority name="Combat" condition="AwareOfEnemy">
    <Leaf name="Attack"/>
  </Priority>
  <Leaf name="Investigate" condition="AwareOfSound"/>
  <Leaf name="Idle"/>
</Priority>
</SelectionTree>"""


def library_of(mode="strict", **texts):
    return SelectionLibrary.from_texts({f"{name}.xml": text for name, text in texts.items()}, mode)


def selected(tree):
    """What each of the four states of the example selects."""
    return [tree.select(AwareOfSound=sound, AwareOfEnemy=enemy) for enemy in (False, True) for sound in (False, True)]


def problems_of(mode="strict", **texts):
    """All problems, as the report tells them."""
    if mode == "compatible":
        return [str(one) for one in library_of(mode, **texts).problems]
    with pytest.raises(InvalidSelectionError) as caught:
        library_of(**texts)
    return [f"{file}:{line}: {text}" for file, line, text in caught.value.problems]


# --- the examples of the seed -----------------------------------------------------------------------------------------


@pytest.mark.states("004: Overview: The Grunt: idle by default, investigates what it hears, attacks what it sees ...")
@pytest.mark.states("004: Concept and anatomy: It is defined by an XML file")
@pytest.mark.states("004: Selection Variables: A default may be given; without one a variable is false ...")
@pytest.mark.states("004: Signal Variables: Each entry has the name of the signal, the variable, and the value ...")
@pytest.mark.states("004: Leaf Translations: They map generic names to the behaviors of an archetype")
@pytest.mark.states("004: The Selection Tree: Leaf names are either the mapped or the raw name of a behavior")
@pytest.mark.states("004: The Selection Tree: Attack comes before Investigate if both could be selected")
@pytest.mark.states("004: The Selection Tree: A leaf without condition is the default")
def test_the_grunt_of_the_seed():
    tree = library_of(Grunt=SEED)["Grunt"]
    assert tree.variables == {"AwareOfSound": False, "AwareOfEnemy": False}
    assert tree.signals == ("OnHearSound", "OnEnemySeen", "OnNoTarget")
    assert tree.behaviors == ("GruntAttack", "GruntInvestigate", "GruntIdle")
    assert selected(tree) == ["GruntIdle", "GruntInvestigate", "GruntAttack", "GruntAttack"]


@pytest.mark.states("004: Leaf Translations: They are not necessary: a leaf may have the name of its behavior")
@pytest.mark.states("004: The Selection Tree: Leaf names are either the mapped or the raw name of a behavior ...")
def test_without_translations_a_leaf_names_the_behavior_itself():
    raw = SEED.replace('<Leaf name="', '<Leaf name="Grunt').partition("<LeafTranslations>")
    text = raw[0] + raw[2].partition("</LeafTranslations>")[2]
    assert selected(library_of(Grunt=text)["Grunt"]) == ["GruntIdle", "GruntInvestigate", "GruntAttack", "GruntAttack"]


@pytest.mark.states("004: Concept and anatomy: A tree may include shared blocks")
@pytest.mark.states("004: Leaf Translations: Each tree has its own, also for leaves in shared blocks")
@pytest.mark.states("004: Sharing Behavior Blocks: Behaviors are reused between trees ...")
@pytest.mark.states("004: Sharing Behavior Blocks: A shared tree has leaves that each tree maps to its own behaviors")
@pytest.mark.states("004: Sharing Behavior Blocks: The Alien has the Grunt's tree, and behaviors of its own")
def test_the_files_of_the_example_share_their_blocks(examples):
    library = SelectionLibrary.load(examples)
    assert library.names == ("Alien", "Grunt")
    assert library.problems == ()
    assert selected(library["Grunt"]) == selected(library_of(Grunt=SEED)["Grunt"])
    assert selected(library["Alien"]) == ["AlienIdle", "AlienInvestigate", "AlienAttack", "AlienAttack"]
    assert library["Grunt"].variables == {"AwareOfSound": False, "AwareOfEnemy": False}
    assert library["Grunt"].signals == ("OnHearSound", "OnEnemySeen", "OnNoTarget")


@pytest.mark.states(
    "004: The Selection Tree: There is no limit on variables, mappings and entries; within bounds for hostile files "
    "(decided)",
)
def test_there_is_no_limit_on_how_much_a_tree_has():
    names = [f"V{number}" for number in range(600)]
    text = "<SelectionTree>"
    text += "<Variables>" + "".join(f'<Variable name="{name}"/>' for name in names) + "</Variables>"
    text += "<LeafTranslations>" + "".join(f'<Map node="L{name}" target="B{name}"/>' for name in names)
    text += '</LeafTranslations><Priority name="Root">'
    text += "".join(f'<Leaf name="L{name}" condition="{name}"/>' for name in names) + "</Priority></SelectionTree>"
    tree = library_of(Large=text)["Large"]
    assert (len(tree.variables), len(tree.behaviors)) == (600, 600)
    assert (tree.select(v599=True), tree.select(v17=True, V599=True), tree.select()) == ("BV599", "BV17", None)


# --- what a file may be -----------------------------------------------------------------------------------------------


@pytest.mark.states("004: Overview: All trees are below one folder")
@pytest.mark.states(
    "004: Concept and anatomy: The elements around them (SelectionTrees, SelectionTree, Blocks) are those of the "
    "engine's files; a tree that fills a file may take its name (decided)",
)
@pytest.mark.states("004: Sharing Behavior Blocks: Blocks stand in files of their own, in the folder or below it")
def test_several_trees_in_a_file_and_in_folders(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    tree = '<SelectionTree name="{}"><Priority name="R"><Ref name="Shared"/></Priority></SelectionTree>'
    (tmp_path / "two.xml").write_text(f"<SelectionTrees>{tree.format('One')}{tree.format('Two')}</SelectionTrees>")
    (tmp_path / "deep" / "Three.XML").write_text(tree.format("Three"))
    (tmp_path / "deep" / "er" / "blocks.xml").write_text(
        '<Blocks><Block name="Shared"><Leaf name="X"/></Block></Blocks>'
    )
    (tmp_path / "deep" / "notes.txt").write_text("no XML")
    library = SelectionLibrary.load(tmp_path)
    assert library.names == ("Three", "One", "Two")  # in the order of the paths
    assert [tree.file for tree in library] == ["deep/Three.XML", "two.xml", "two.xml"]
    assert {tree.select() for tree in library} == {"X"}
    assert len(library) == 3
    assert repr(library) == "<SelectionLibrary: Three, One, Two>"


@pytest.mark.states("004: Concept and anatomy: It is defined by an XML file ...")
@pytest.mark.states("004: Concept and anatomy: The elements around them (SelectionTrees, SelectionTree, Blocks) ...")
def test_one_file_by_itself(tmp_path):
    (tmp_path / "Rat.xml").write_text('<SelectionTree type="BehaviorSelectionTree"><Leaf name="Flee"/></SelectionTree>')
    library = SelectionLibrary.load(str(tmp_path / "Rat.xml"))
    assert library["Rat"].select() == "Flee"  # the name is that of the file
    assert library["Rat"].type == "BehaviorSelectionTree"


@pytest.mark.states("004: Sharing Behavior Blocks: It is written `ref` or `Ref`: tags and names in files ignore case")
def test_tags_attributes_and_names_in_files_ignore_case():
    text = """<selectiontree NAME="Rat"><blocks><BLOCK name="Both"><variable Name="Hungry"/></BLOCK></blocks>
        <VARIABLES><REF name="bOTH"/></VARIABLES>
        <leaftranslations><map NODE="eat" target="RatEat"/></leaftranslations>
        <signalvariables><signal name="OnSmell" variable="HUNGRY" value="TRUE"/></signalvariables>
        <priority name="Root"><leaf name="EAT" condition="hungry"/></priority></selectiontree>"""
    library = library_of(x=text)
    assert "RAT" in library
    assert "rat" in library
    assert library["rAt"].variables == {"Hungry": False}
    assert library["Rat"].select(HUNGRY=True) == "RatEat"


@pytest.mark.states(
    "004: Concept and anatomy: It has four parts: variables, signal variables, leaf translations, the tree; they may "
    "stand in any order (decided)",
)
def test_sections_may_stand_in_any_order():
    text = """<SelectionTree><Leaf name="A" condition="v"/>
        <SignalVariables><Signal name="S" variable="v" value="!v"/></SignalVariables>
        <LeafTranslations><Map node="A" target="B"/></LeafTranslations>
        <Variables><Variable name="v"/></Variables></SelectionTree>"""
    assert library_of(x=text)["x"].select(v=True) == "B"


@pytest.mark.states("004: Selection Variables: A default may be given; without one a variable is false")
@pytest.mark.parametrize(
    ("default", "value"),
    [("true", True), ("TRUE", True), ("1", True), ("false", False), ("False", False), ("0", False)],
)
def test_defaults(default, value):
    text = f'<SelectionTree><Variables><Variable name="v" default="{default}"/></Variables><Leaf name="A"/></SelectionTree>'
    assert library_of(x=text)["x"].variables == {"v": value}


def test_characters_and_comments():
    text = """<?xml version="1.0" encoding="utf-8"?>\n<!-- a comment --><?a processing instruction?>
        <SelectionTree name="&#x47;runt"><!-- here, too --><Leaf name="Tom &amp; Jerry"/></SelectionTree>"""
    assert library_of(x="\N{BYTE ORDER MARK}" + text)["Grunt"].select() == "Tom & Jerry"


def test_the_folder_has_to_be_there(tmp_path):
    with pytest.raises(InvalidSelectionError, match="there is no such folder"):
        SelectionLibrary.load(tmp_path / "absent")
    with pytest.raises(InvalidSelectionError, match=r"there is no \*.xml file in this folder"):
        SelectionLibrary.load(tmp_path)
    assert len(SelectionLibrary.load(tmp_path, "compatible")) == 0


def test_there_are_two_modes():
    with pytest.raises(DefinitionError, match="Write 'strict' or 'compatible'"):
        SelectionLibrary.from_texts({}, "lenient")


@pytest.mark.states(
    "004: Overview: A tree is chosen by its name, which ignores case; a wrong one is an error with the nearest names "
    "(decided)",
)
def test_a_tree_that_is_not_there():
    library = library_of(Grunt=SEED)
    with pytest.raises(UnknownTreeError) as caught:
        library["Grnt"]
    assert str(caught.value) == (
        "[ART221] there is no selection tree 'Grnt'. Did you mean 'Grunt'? The library holds Grunt."
    )
    assert "Grnt" not in library
    broken = library_of("compatible", Grunt=SEED.replace('"AwareOfSound"/>', '"and"/>'))
    with pytest.raises(UnknownTreeError, match="It is there, and has errors: they are in the problems"):
        broken["Grunt"]


# --- blocks -----------------------------------------------------------------------------------------------------------


@pytest.mark.states("004: Sharing Behavior Blocks: A file may hold any number of blocks, each separate from all others")
@pytest.mark.states(
    "004: Sharing Behavior Blocks: A reference includes a block in a section: variables, signal variables, leaf "
    "translations, the tree",
)
def test_a_ref_in_every_section_and_in_blocks():
    blocks = """<Blocks>
        <Block name="V"><Variable name="a"/><Ref name="V2"/><Variable name="d"/></Block>
        <Block name="V2"><Variable name="b" default="true"/><Variable name="c"/></Block>
        <Block name="S"><Ref name="S2"/></Block>
        <Block name="S2"><Signal name="Go" variable="a" value="b"/></Block>
        <Block name="M"><Map node="L" target="M"/></Block>
        <Block name="T"><Priority name="P"><Ref name="T2"/></Priority><Leaf name="N"/></Block>
        <Block name="T2"><Leaf name="L" condition="a"/></Block></Blocks>"""
    tree = """<SelectionTree><Variables><Ref name="V"/></Variables><SignalVariables><ref name="S"/></SignalVariables>
        <LeafTranslations><Ref name="M"/></LeafTranslations>
        <Priority name="R"><Leaf name="First" condition="d"/><Ref name="T"/></Priority></SelectionTree>"""
    made = library_of(blocks=blocks, tree=tree)["tree"]
    assert list(made.variables) == ["a", "b", "c", "d"]
    assert [node.path for node in made.program.nodes] == ["R", "R/First", "R/P", "R/P/L", "R/N"]
    assert (made.select(), made.select(a=True), made.select(a=True, d=True)) == ("N", "M", "First")


@pytest.mark.states("004: Sharing Behavior Blocks: A reference includes a block in a section: variables, signal ...")
def test_a_ref_can_be_the_root():
    blocks = '<Blocks><Block name="T"><Leaf name="L"/></Block></Blocks>'
    assert library_of(b=blocks, t='<SelectionTree><Ref name="T"/></SelectionTree>')["t"].select() == "L"


@pytest.mark.states(
    "004: Sharing Behavior Blocks: The blocks of a tree come before the global ones, also for Refs in global blocks "
    "(decided)",
)
def test_the_blocks_of_a_tree_come_before_the_global_ones():
    """Also for a Ref inside a global block: so a tree replaces a part of what it shares."""
    blocks = """<Blocks><Block name="Outer"><Priority name="P"><Ref name="Inner"/></Priority></Block>
        <Block name="Inner"><Leaf name="Shared"/></Block></Blocks>"""
    own = '<Blocks><Block name="Inner"><Leaf name="Own"/></Block></Blocks>'
    tree = '<SelectionTree>{}<Ref name="Outer"/></SelectionTree>'
    library = library_of(b=blocks, one=tree.format(own), two=tree.format(""))
    assert (library["one"].select(), library["two"].select()) == ("Own", "Shared")


@pytest.mark.states("004: Sharing Behavior Blocks: A block may be used more than once (decided)")
def test_a_block_may_be_spliced_more_than_once():
    text = """<SelectionTree><Variables><Variable name="a"/></Variables>
        <Blocks><Block name="B"><Leaf name="X" condition="a"/></Block></Blocks>
        <Priority name="R"><Priority name="P"><Ref name="B"/></Priority><Ref name="B"/></Priority></SelectionTree>"""
    assert [node.path for node in library_of(x=text)["x"].program.nodes] == ["R", "R/P", "R/P/X", "R/X"]


@pytest.mark.states(
    "004: Sharing Behavior Blocks: Unresolved and circular references, and blocks of another kind, are errors with "
    "file and line (decided)",
)
def test_circles():
    blocks = """<Blocks>
        <Block name="A"><Priority name="P"><Ref name="B"/></Priority></Block>
        <Block name="B"><Ref name="C"/></Block>
        <Block name="C"><Ref name="a"/></Block></Blocks>"""
    tree = '<SelectionTree><Ref name="A"/></SelectionTree>'
    assert problems_of(b=blocks, t=tree) == [
        "b.xml:4: these blocks stand for each other in a circle: A -> B -> C -> A. Take one of the Refs out."
    ]
    alone = '<SelectionTree><Blocks><Block name="A"><Ref name="A"/></Block></Blocks><Ref name="A"/></SelectionTree>'
    assert problems_of(t=alone)[0] == (
        "t.xml:1: these blocks stand for each other in a circle: A -> A. Take one of the Refs out."
    )


@pytest.mark.states("004: Sharing Behavior Blocks: Blocks that no tree uses are checked, too (ours)")
def test_blocks_that_no_tree_uses_are_checked_as_far_as_they_mean_anything():
    blocks = """<Blocks><Block name="A"><Leaf name="L" condition="x and"/></Block>
        <Block name="B"><Ref name="A"/><Ref name="Nope"/><Variable name="v"/></Block>
        <Block name="C"><Ref name="C"/><Leaf name="M" condition="anything"/></Block></Blocks>"""
    told = problems_of(b=blocks, t='<SelectionTree><Leaf name="L"/></SelectionTree>')
    assert [line.partition(": ")[2][:44] for line in told] == [
        "the condition 'x and' is wrong at its end: h",
        "no block is called 'Nope'. The tree 'B' need",
        "these blocks stand for each other in a circl",
    ]


def grunts(text):
    return SelectionLibrary.from_texts({"Grunt.xml": text})


@pytest.mark.states(
    "004: Leaf Translations: They are for leaves: a group of that name is none (decided), and a translation is not "
    "translated again (decided)",
)
def test_a_translation_means_leaves_alone(tree_text):
    """A group of that name stays a group; and the library says that the translation concerns nobody."""
    root = '<Priority name="Combat"><Leaf name="Attack"/></Priority>'
    library = grunts(tree_text(root, maps='<Map node="Combat" target="GruntCombat"/>'))
    assert library["Grunt"].behaviors == ("Attack",)
    assert library["Grunt"].select() == "Attack"
    assert [str(problem) for problem in library.problems] == [
        "Grunt.xml:4: warning: no leaf of the tree 'Grunt' is called 'Combat'."
    ]


@pytest.mark.states("004: Leaf Translations: They are for leaves: a group of that name is none (decided), and a ...")
def test_a_translation_is_not_translated_again(tree_text):
    maps = '<Map node="X" target="Y"/><Map node="Y" target="Z"/>'
    root = '<Priority name="R"><Leaf name="X" condition="a"/><Leaf name="Y"/></Priority>'
    tree = grunts(tree_text(root, variables="a", maps=maps))["Grunt"]
    assert (tree.select(a=True), tree.select()) == ("Y", "Z")


@pytest.mark.states("004: Signal Variables: Names of signals count exactly (decided)")
def test_names_of_signals_count_exactly(tree_text):
    signals = '<Signal name="OnNoise" variable="a" value="true"/>'
    tree = grunts(tree_text('<Priority name="R"><Leaf name="X"/></Priority>', variables="a", signals=signals))["Grunt"]
    state = tree.state()
    assert (state.signal("onnoise"), state.is_set("a")) == (False, False)
    assert (state.signal("OnNoise"), state.is_set("a")) == (True, True)


@pytest.mark.parametrize("value", ["false", "", 2, None])
def test_a_variable_is_true_or_false_and_nothing_else(tree_text, value):
    """A text from a console or a file would be true whatever it says."""
    state = grunts(tree_text('<Priority name="R"><Leaf name="X"/></Priority>', variables="a"))["Grunt"].state()
    with pytest.raises(DefinitionError, match=r"variable 'a'.* Write True or False"):
        state.set_variable("a", value)
    assert not state.is_set("a")
    state.set_variable("a", 1)
    assert state.is_set("a")
