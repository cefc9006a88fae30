"""``agentrt packs``: exit codes, one report for all files, clean messages."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from agentrt.cli import main
from agentrt.packs.registry import Manifest, Registry
from agentrt.packs.schema import schema_text


@pytest.fixture
def run(monkeypatch):
    registered = {"actions:eat": object, "actions:sleep": object, "observers:o": object, "ai_pack:core": {}}
    monkeypatch.setattr(Registry, "discover", classmethod(lambda cls, **_: cls([Manifest("m", registered)])))
    return lambda *args: CliRunner().invoke(main, [str(arg) for arg in args])


def test_the_ace_packs(run, ace_packs):
    result = run("packs", "check", ace_packs, "--allow-unresolved")
    assert result.exit_code == 0
    assert result.output.splitlines()[-1] == "17 files: 17 ok, 0 failed; 70 unresolved aliases"
    assert run("packs", "check", ace_packs).exit_code == 1


def test_the_ace_packs_as_json(run, ace_packs):
    result = run("packs", "check", ace_packs / "tend_planters_ai_pack.json", "--allow-unresolved", "--json")
    file = str(ace_packs / "tend_planters_ai_pack.json")
    actions = [
        "stonehearth_ace:actions:herbalist:tend_herbalist_planter",
        "stonehearth_ace:actions:herbalist:tend_herbalist_planter_adjacent",
    ]
    assert json.loads(result.output) == {
        "ok": True,
        "files": [
            {
                "file": file,
                "ok": True,
                "alias": None,
                "actions": actions,
                "observers": [],
                "components": [],
                "task_groups": ["stonehearth_ace:task_groups:planters"],
                "strategies": [],
                "dependencies": ["stonehearth:ai_pack:core", "stonehearth:ai_pack:movement"],
                "closure": {
                    "packs": [file],
                    "actions": actions,
                    "observers": [],
                    "components": [],
                    "task_groups": ["stonehearth_ace:task_groups:planters"],
                    "strategies": [],
                },
                "unresolved": [
                    {"alias": "stonehearth:ai_pack:core", "file": file, "pointer": "/ai_packs/0", "line": 8},
                    {"alias": "stonehearth:ai_pack:movement", "file": file, "pointer": "/ai_packs/1", "line": 9},
                    {"alias": actions[0], "file": file, "pointer": "/actions/0", "line": 4},
                    {"alias": actions[1], "file": file, "pointer": "/actions/1", "line": 5},
                    {
                        "alias": "stonehearth_ace:task_groups:planters",
                        "file": file,
                        "pointer": "/task_groups/0",
                        "line": 12,
                    },
                ],
                "problems": [],
            }
        ],
    }


def test_all_problems_of_all_files_in_one_report(run, tmp_path):
    (tmp_path / "a.json").write_text('{"actions": ["m:actions:eat", "m:actions:eet"]}')
    (tmp_path / "b.json").write_text("{")
    (tmp_path / "c.json").write_text('{"actions": ["m:actions:sleep"]}')
    result = run("packs", "check", tmp_path, tmp_path / "absent.json")
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert [line.removeprefix(f"{tmp_path}/") for line in lines if not line.startswith(" ") and line] == [
        "a.json: FAILED",
        "b.json: FAILED",
        "c.json: ok",
        "absent.json: FAILED",
        "4 files: 1 ok, 3 failed; 1 unresolved alias",
    ]
    assert [line.partition("json")[2] for line in lines if "error:" in line] == [
        ":1#/actions/1: nobody registered 'm:actions:eet'. Did you mean 'm:actions:eat' or 'm:actions:sleep'? Register it in "
        "a manifest of the entry-point groups 'agentrt.actions', 'agentrt.strategies' or 'agentrt.packs', or correct the reference.",
        ":1: is not JSON: Expecting property name enclosed in double quotes, in column 2.",
        ": does not exist, or is not a regular file. Name a JSON file.",
    ]


def test_documents_of_task_groups(run, tmp_path):
    file = tmp_path / "groups.json"
    file.write_text(
        '{"task_groups": {"m:task_groups:farming": {"does": "m:work", "utility": 2}, "m:task_groups:x": {}}}'
    )
    result = run("packs", "check", file)
    assert result.exit_code == 1
    assert [line.replace(str(file), "FILE") for line in result.output.splitlines()] == [
        "FILE: FAILED",
        "  error: [ART202] FILE:1#/task_groups/m:task_groups:farming/utility: a utility is from 0 to 1, and this is the "
        "number 2.",
        "",
        "1 file: 0 ok, 1 failed; 0 unresolved aliases",
    ]
    assert run("packs", "schema", "task_groups").output == schema_text("task_groups")
    assert run("packs", "schema").output == run("packs", "schema", "ai_pack").output == schema_text()


def test_files_can_be_given_aliases_for_a_check(run, tmp_path):
    (tmp_path / "a.json").write_text('{"ai_packs": ["x:ai_pack:b", "m:ai_pack:core"]}')
    (tmp_path / "b.json").write_text('{"ai_packs": ["x:ai_pack:a"]}')
    a, b = f"x:ai_pack:a={tmp_path / 'a.json'}", f"x:ai_pack:b={tmp_path / 'b.json'}"
    result = run("packs", "check", tmp_path / "a.json", "--alias", a, "--alias", b)
    assert result.exit_code == 1
    assert (
        f"error: [ART204] {tmp_path / 'b.json'}:1#/ai_packs/0: these packs require each other in a circle: "
        "x:ai_pack:a -> x:ai_pack:b -> x:ai_pack:a." in result.output
    )
    (tmp_path / "b.json").write_text('{"actions": ["m:actions:eat"]}')
    result = run("packs", "check", tmp_path / "a.json", "--alias", b)
    assert result.exit_code == 0
    assert "  closure: actions (1)\n    m:actions:eat\n  unresolved (0)\n" in result.output


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (["check"], 2, "Error: Missing argument 'PATH...'."),
        (
            ["check", "x.json", "--alias", "nope"],
            2,
            "'nope' is not ALIAS=FILE, as in my_mod:ai_pack:core=packs/core.json.",
        ),
        (["check", "x.json", "--alias", "nope=x.json"], 2, "Error: [ART106] --alias: 'nope' does not make an alias"),
        (["check", "x.json", "--alias", "m:ai_pack:core=x.json"], 2, "Error: [ART103] the alias 'm:ai_pack:core' is"),
        (["list", "--kind", "action"], 2, "there is no kind 'action'. Did you mean 'actions'? The kinds are actions, "),
    ],
)
def test_mistakes_on_the_command_line(run, args, code, text):
    result = run("packs", *args)
    assert (result.exit_code, text in result.output) == (code, True), result.output


def test_an_empty_folder(run, tmp_path):
    result = run("packs", "check", tmp_path)
    assert result.exit_code == 2
    assert result.output == (
        f"Error: [ART202] {tmp_path}: there is no *.json file in this folder. Name the folder of the packs.\n"
        "More about it: agentrt explain ART202\n"
    )


def test_the_schema(run):
    result = run("packs", "schema")
    assert result.exit_code == 0
    assert result.output == schema_text()
    assert json.loads(result.output)["title"] == "AI pack"


def test_the_list(run):
    assert run("packs", "list").output == "m:actions:eat\nm:actions:sleep\nm:ai_pack:core\nm:observers:o\n"
    assert run("packs", "list", "--kind", "observers", "--origin").output == "m:observers:o  from the manifest of 'm'\n"


def test_notes_of_an_error_are_told(run, monkeypatch):
    def fail(_cls, **_):
        from agentrt.errors import ManifestError

        error = ManifestError("x", "it is broken.", "Repair it.")
        error.add_note("and so is y")
        raise error

    monkeypatch.setattr(Registry, "discover", classmethod(fail))
    result = run("packs", "list")
    assert (result.exit_code, result.output) == (
        2,
        "Error: [ART106] x: it is broken. Repair it.\nMore about it: agentrt explain ART106\nand so is y\n",
    )
