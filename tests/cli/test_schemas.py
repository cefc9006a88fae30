"""``agentrt packs schema --write``: one line comes into each pack, and nothing else of anything is changed."""

from __future__ import annotations

import json
import sys

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from agentrt.cli import main
from agentrt.cli.schemas import write_schemas
from agentrt.packs.loader import load_pack
from agentrt.packs.schema import schema_text
from agentrt.packs.task_groups import load_task_groups


def write(*paths):
    args = [one for path in paths for one in ("--write", str(path))]
    return CliRunner().invoke(main, ["packs", "schema", *args])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project with a folder of packs, in which commands are given."""
    (tmp_path / "pyproject.toml").write_text('[tool.agentrt]\napp = "no_such_module:world"\n')  # it is not imported
    (tmp_path / "game" / "packs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "game")
    return tmp_path


WAY = '"$schema": "../../.agentrt/ai_pack.schema.json"'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n  "actions": []\n}\n', f'{{\n  {WAY},\n  "actions": []\n}}\n'),
        ('{\r\n\t"actions": []\r\n}\r\n', f'{{\r\n\t{WAY},\r\n\t"actions": []\r\n}}\r\n'),
        ('{"actions": []}', f'{{{WAY}, "actions": []}}'),
        ('{ "actions": [] }', f'{{{WAY}, "actions": [] }}'),
        ('\n  {"actions":[]}', f'\n  {{{WAY}, "actions":[]}}'),
        ('{\n\n  "actions": ["m:actions:ä"]\n}', f'{{\n\n  {WAY},\n\n  "actions": ["m:actions:ä"]\n}}'),
        ('{"type": "ai_pack"}', f'{{{WAY}, "type": "ai_pack"}}'),
        ('{"$schema": "mine.json", "actions": []}', '{"$schema": "mine.json", "actions": []}'),
        ('{"actoins": [], "components": 7}', f'{{{WAY}, "actoins": [], "components": 7}}'),
    ],
)
def test_one_line_comes_into_a_pack(folder, before, after):
    file = folder / "game" / "packs" / "wolf.json"
    file.write_bytes(before.encode())
    for _ in range(2):  # and no second one
        assert write("packs").exit_code == 0
        assert file.read_bytes().decode() == after


@given(st.dictionaries(st.sampled_from(["actions", "_note", "ai_packs"]), st.lists(st.text())), st.integers(0, 5))
def test_it_reads_as_before(tmp_path_factory, value, indent):
    folder = tmp_path_factory.mktemp("packs")
    file = folder / "a.json"
    file.write_text(json.dumps({"type": "ai_pack", **value}, indent=indent or None), encoding="utf-8")
    write_schemas(folder, [file])
    loaded = json.loads(file.read_text(encoding="utf-8"))
    assert loaded.pop("$schema") == ".agentrt/ai_pack.schema.json"
    assert loaded == {"type": "ai_pack", **value}


def test_all_that_is_written(folder):
    packs = folder / "game" / "packs"
    (packs / "wolf.json").write_text('{"actions": []}')
    (packs / "groups.json").write_text('{"task_groups": {}}')
    (packs / "numbers.json").write_text('{"speed": 3}')
    (packs / "broken.json").write_text("{")
    result = write("packs")
    assert result.exit_code == 0
    assert [line.replace(str(folder), "HERE") for line in result.stdout.replace("\\", "/").splitlines()] == [
        "wrote HERE/.agentrt/ai_pack.schema.json",
        "wrote HERE/.agentrt/task_groups.schema.json",
        "wrote packs/wolf.json",
        "wrote packs/groups.json",
        "wrote HERE/.vscode/settings.json",
    ]
    assert [line.replace("\\", "/").partition(":")[0] for line in result.stderr.splitlines()] == [
        "left alone packs/broken.json",
        "left alone packs/numbers.json",
    ]
    for kind in ("ai_pack", "task_groups"):
        assert (folder / ".agentrt" / f"{kind}.schema.json").read_text(encoding="utf-8") == schema_text(kind)
    assert json.loads((folder / ".vscode" / "settings.json").read_text()) == {
        "json.schemas": [
            {
                "fileMatch": ["/game/packs/*.json", "!/game/packs/groups.json"],
                "url": "./.agentrt/ai_pack.schema.json",
            },
            {"fileMatch": ["/game/packs/groups.json"], "url": "./.agentrt/task_groups.schema.json"},
        ]
    }
    assert load_pack(packs / "wolf.json").actions == ()
    assert load_task_groups(packs / "groups.json").groups == {}
    assert write("packs").stdout == ""


def test_settings_that_are_there_are_kept(folder):
    (folder / "game" / "packs" / "wolf.json").write_text('{"actions": []}')
    settings = folder / ".vscode" / "settings.json"
    settings.parent.mkdir()
    theirs = {"fileMatch": ["/x.json"], "url": "./x.schema.json"}
    settings.write_text(json.dumps({"editor.tabSize": 3, "json.schemas": [theirs]}))
    write("packs")
    kept = json.loads(settings.read_text())
    assert (kept["editor.tabSize"], kept["json.schemas"][0], len(kept["json.schemas"])) == (3, theirs, 2)


@pytest.mark.parametrize("text", ['// mine\n{"a": 1}', "[]", '{"json.schemas": 7}', ""])
def test_settings_that_are_no_plain_json_are_left_alone(folder, text):
    (folder / "game" / "packs" / "wolf.json").write_text('{"actions": []}')
    settings = folder / ".vscode" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(text)
    result = write("packs")
    assert settings.read_text() == text
    assert "settings.json: it is no plain JSON. Put in yourself: " in result.stderr


def test_without_a_project_all_of_it_comes_into_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wolf.json").write_text('{"actions": []}')
    write("wolf.json")
    assert json.loads((tmp_path / "wolf.json").read_text())["$schema"] == ".agentrt/ai_pack.schema.json"
    settings = json.loads((tmp_path / ".vscode" / "settings.json").read_text())
    assert settings["json.schemas"][0]["fileMatch"] == ["/*.json"]


def test_a_pack_outside_of_the_project_is_no_matter_of_its_settings(folder, tmp_path_factory):
    file = tmp_path_factory.mktemp("elsewhere") / "wolf.json"
    file.write_text('{"actions": []}')
    write(file)
    assert (folder / ".agentrt" / "ai_pack.schema.json").is_file()
    assert not (folder / ".vscode").exists()
    way = json.loads(file.read_text())["$schema"]
    assert (file.parent / way).resolve() == (folder / ".agentrt" / "ai_pack.schema.json").resolve()


def test_what_cannot_be_written_is_said(folder, monkeypatch):
    (folder / "game" / "packs" / "wolf.json").write_text('{"actions": []}')
    (folder / ".agentrt").write_text("a file where a folder is to be")
    result = write("packs")
    assert result.exit_code == 2
    assert ".agentrt" in result.output
    assert "Traceback" not in result.output
    assert (folder / "game" / "packs" / "wolf.json").read_text() == '{"actions": []}'


def test_a_folder_without_packs_and_a_file_that_is_not_there(folder):
    assert write("packs").exit_code == 2
    result = write("wolf.json")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "left alone wolf.json: does not exist, or is not a regular file. Name a JSON file.\n"


def test_hidden_folders_are_passed_over(folder):
    (folder / "game" / "packs" / "wolf.json").write_text('{"actions": []}')
    write(".")
    assert write(folder).stdout == ""
    checked = CliRunner().invoke(main, ["packs", "check", str(folder), "--app", "nothing:at_all"])
    assert checked.exit_code == 2  # the project's own world is wanted there
    (folder / "pyproject.toml").unlink()
    checked = CliRunner().invoke(main, ["packs", "check", str(folder)])
    assert checked.stdout.splitlines()[-1] == "1 file: 1 ok, 0 failed; 0 unresolved aliases"
    assert "no_such_module" not in sys.modules
