"""``agentrt selection check``: exit codes, every error with file and line, clean messages."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from agentrt.cli import main

BROKEN = """<SelectionTree>
  <Variables><Variable name="Seen"/></Variables>
  <Priority name="Root">
    <Leaf name="Attack" condition="seen and"/>
    <Leaf name="Hide" condition="heard"/>
    <Loaf name="Idle"/>
    <Ref name="Common"/>
  </Priority>
</SelectionTree>
"""


@pytest.fixture
def run():
    return lambda *args: CliRunner().invoke(main, ["selection", "check", *(str(arg) for arg in args)])


@pytest.fixture
def examples(root):
    return root / "examples" / "selection"


@pytest.mark.states("004: Sharing Behavior Blocks: The Alien has the Grunt's tree, and behaviors of its own ...")
def test_the_example(run, examples):
    result = run(examples)
    assert result.exit_code == 0
    assert result.output.replace(str(examples), "trees") == (
        "Alien (trees/Alien.xml): AlienAttack, AlienInvestigate, AlienIdle\n"
        "Grunt (trees/Grunt.xml): GruntAttack, GruntInvestigate, GruntIdle\n"
        "3 files, 2 trees: 0 errors, 0 warnings\n"
    )


@pytest.mark.states("004: Sharing Behavior Blocks: All errors are in one report, by file and line; `agentrt ...")
def test_every_error_with_file_and_line(run, tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "Grunt.xml").write_text(BROKEN)
    (tmp_path / "Alien.xml").write_text("<SelectionTree>\n</SelectionTrees>")
    (tmp_path / "Rat.xml").write_text(
        '<SelectionTree>\n<Priority name="R">\n<Leaf name="A"/><Leaf name="B"/></Priority></SelectionTree>'
    )
    result = run(tmp_path)
    assert result.exit_code == 1
    assert [line.replace(str(tmp_path), "trees") for line in result.output.splitlines()] == [
        "trees/Alien.xml:2: error: it is not XML: mismatched tag, in column 3.",
        "trees/Rat.xml:3: warning: 'B' is never selected: 'A' before it has no condition.",
        "trees/deep/Grunt.xml:4: error: the condition 'seen and' is wrong at its end: here a variable, 'true', 'false' or "
        "an opening bracket is expected.",
        "trees/deep/Grunt.xml:5: error: the condition 'heard' asks for the variable 'heard', which the tree 'Grunt' does "
        "not declare. Add it to the <Variables>.",
        "trees/deep/Grunt.xml:6: error: there is no element <Loaf>. Did you mean 'Leaf'? <Priority>: It may hold Priority, "
        "Leaf or Ref.",
        "trees/deep/Grunt.xml:7: error: no block is called 'Common'. The tree 'Grunt' needs it: put it into a file of "
        "<Blocks> in the same folder.",
        "Rat (trees/Rat.xml): A, B",
        "3 files, 2 trees: 5 errors, 1 warning",
    ]


def test_the_compatible_mode(run, tmp_path):
    (tmp_path / "Grunt.xml").write_text(BROKEN.replace("seen and", "seen x"))
    result = run(tmp_path, "--compatible")
    assert result.exit_code == 0
    assert [line.split(":")[2] for line in result.output.splitlines()[:-2]] == [" warning"] * 4
    assert run(tmp_path).exit_code == 1


def test_as_json(run, tmp_path):
    file = tmp_path / "Grunt.xml"
    file.write_text(
        '<SelectionTree><Variables><Variable name="a" default="1"/></Variables><Leaf name="A" condition="b"/></SelectionTree>'
    )
    result = run(file, "--json")
    assert result.exit_code == 1
    text = "the condition 'b' asks for the variable 'b', which the tree 'Grunt' does not declare. Did you mean 'a'?"
    text = text.removesuffix(" Did you mean 'a'?") + " Add it to the <Variables>."
    assert json.loads(result.output) == {
        "ok": False,
        "files": 1,
        "trees": [],
        "broken": ["grunt"],
        "problems": [{"file": str(file), "line": 1, "is_error": True, "text": text}],
        "omitted": 0,
    }
    (tree,) = json.loads(run(file, "--json", "--compatible").output)["trees"]
    assert tree == {"name": "Grunt", "file": str(file), "variables": {"a": True}, "signals": [], "behaviors": ["A"]}


def test_mistakes_on_the_command_line(run, tmp_path):
    assert run().exit_code == 2
    result = run(tmp_path / "absent")
    assert result.exit_code == 2
    assert result.output == (
        f"Error: [ART220] {tmp_path / 'absent'}: there is no such folder. Name the folder of the trees.\n"
        "More about it: agentrt explain ART220\n"
    )
    result = run(tmp_path)
    assert result.exit_code == 1
    assert result.output.splitlines()[0] == (
        f"{tmp_path}: error: there is no *.xml file in this folder. Name the folder of the trees."
    )


def test_a_hostile_file_does_not_write_to_the_terminal(run, tmp_path):
    (tmp_path / "x.xml").write_text('<SelectionTree><Ref name="&#x202e;evil"/></SelectionTree>')
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in run(tmp_path).output
