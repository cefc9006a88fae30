"""The report of ``agentrt packs check``: every file, every problem, in one piece."""

from __future__ import annotations

import json

import pytest

from agentrt.errors import InvalidPackError
from agentrt.packs.closure import CheckReport, check_files, find_files
from agentrt.packs.registry import Manifest, Registry


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    packs = tmp_path / "packs"
    (packs / "inner").mkdir(parents=True)
    (packs / "eat.json").write_text('{"actions": ["m:actions:eat"], "ai_packs": ["m:ai_pack:core", {"_inline": 1}]}')
    (packs / "bad.json").write_text('{"action": [], "actions": ["eat"]}')
    (packs / "inner" / "a.json").write_text('{"ai_packs": ["m:ai_pack:b"]}')
    (packs / "inner" / "b.json").write_text('{"ai_packs": ["m:ai_pack:a"], "components": {"m:components:c": {"x": 1}}}')
    (packs / "notes.txt").write_text("not a pack")
    return packs.relative_to(tmp_path)


@pytest.fixture
def registry(folder):
    return Registry(
        [
            Manifest(
                "m",
                {
                    "actions:eat": object,
                    "actions:idle": object,
                    "ai_pack:core": {"actions": ["m:actions:idle"]},
                    "ai_pack:a": folder / "inner" / "a.json",
                    "ai_pack:b": folder / "inner" / "b.json",
                },
            )
        ]
    )


def test_files_are_found_in_order(folder):
    assert [str(file) for file in find_files([folder / "notes.txt", folder, folder / "eat.json"])] == [
        "packs/notes.txt",
        "packs/bad.json",
        "packs/eat.json",
        "packs/inner/a.json",
        "packs/inner/b.json",
    ]


def test_a_folder_without_packs(tmp_path):
    with pytest.raises(InvalidPackError, match=r"there is no \*\.json file in this folder"):
        find_files([tmp_path])


def test_the_report_as_text(folder, registry):
    report = check_files(find_files([folder]), registry)
    assert not report.ok
    assert "\n".join(report.as_text()) == (
        """\
packs/bad.json: FAILED
  error: [ART202] packs/bad.json: 2 problems in this pack:
      line 1 #/action: a pack has no key 'action'. Did you mean 'actions'? The keys are type, actions, observers, components, \
task_groups, strategies, ai_packs, mixintypes; keys that start with '_' are ignored.
      line 1 #/actions/0: 'eat' is not an alias. Write "mod:actions:name", with letters, digits, '_', '.' and '-'.

packs/eat.json: ok
  actions (1)
    m:actions:eat
  dependencies (2)
    m:ai_pack:core
    packs/eat.json#/ai_packs/1
  closure: packs (3)
    m:ai_pack:core
    packs/eat.json#/ai_packs/1
    packs/eat.json
  closure: actions (2)
    m:actions:idle
    m:actions:eat
  unresolved (0)

packs/inner/a.json (m:ai_pack:a): FAILED
  error: [ART204] packs/inner/b.json:1#/ai_packs/0: these packs require each other in a circle: \
m:ai_pack:a -> m:ai_pack:b -> m:ai_pack:a. Move what they share into a pack that requires neither.
  error: [ART203] packs/inner/b.json:1#/components/m:components:c: nobody registered 'm:components:c'. \
Register it in a manifest of the entry-point groups 'agentrt.actions', 'agentrt.strategies' or 'agentrt.packs', or correct the reference.
  actions (0)
  dependencies (1)
    m:ai_pack:b
  closure: packs (2)
    m:ai_pack:b
    m:ai_pack:a
  closure: components (1)
    m:components:c
  unresolved (1)
    m:components:c

packs/inner/b.json (m:ai_pack:b): FAILED
  error: [ART204] packs/inner/a.json:1#/ai_packs/0: these packs require each other in a circle: \
m:ai_pack:b -> m:ai_pack:a -> m:ai_pack:b. Move what they share into a pack that requires neither.
  error: [ART203] packs/inner/b.json:1#/components/m:components:c: nobody registered 'm:components:c'. \
Register it in a manifest of the entry-point groups 'agentrt.actions', 'agentrt.strategies' or 'agentrt.packs', or correct the reference.
  actions (0)
  components (1)
    m:components:c
  dependencies (1)
    m:ai_pack:a
  closure: nothing beyond the pack itself
  unresolved (1)
    m:components:c

4 files: 1 ok, 3 failed; 1 unresolved alias"""
    )


def test_the_report_as_json(folder, registry):
    report = check_files([folder / "inner" / "b.json", folder / "bad.json"], registry, allow_unresolved=True)
    assert json.loads(json.dumps(report.as_json())) == {
        "ok": False,
        "files": [
            {
                "file": "packs/inner/b.json",
                "ok": False,
                "alias": "m:ai_pack:b",
                "actions": [],
                "observers": [],
                "components": ["m:components:c"],
                "task_groups": [],
                "strategies": [],
                "dependencies": ["m:ai_pack:a"],
                "closure": {
                    "packs": ["m:ai_pack:a", "m:ai_pack:b"],
                    "actions": [],
                    "observers": [],
                    "components": ["m:components:c"],
                    "task_groups": [],
                    "strategies": [],
                },
                "unresolved": [
                    {
                        "alias": "m:components:c",
                        "file": "packs/inner/b.json",
                        "pointer": "/components/m:components:c",
                        "line": 1,
                    }
                ],
                "problems": [
                    {
                        "code": "ART204",
                        "file": "packs/inner/a.json",
                        "pointer": "/ai_packs/0",
                        "line": 1,
                        "text": "these packs require each other in a circle: m:ai_pack:b -> m:ai_pack:a -> m:ai_pack:b. "
                        "Move what they share into a pack that requires neither.",
                    }
                ],
            },
            {
                "file": "packs/bad.json",
                "ok": False,
                "alias": None,
                "actions": [],
                "observers": [],
                "components": [],
                "task_groups": [],
                "strategies": [],
                "dependencies": [],
                "closure": {
                    "packs": [],
                    "actions": [],
                    "observers": [],
                    "components": [],
                    "task_groups": [],
                    "strategies": [],
                },
                "unresolved": [],
                "problems": [
                    {
                        "code": "ART202",
                        "file": "packs/bad.json",
                        "pointer": "/action",
                        "line": 1,
                        "text": "a pack has no key 'action'. Did you mean 'actions'? The keys are type, actions, observers, "
                        "components, task_groups, strategies, ai_packs, mixintypes; keys that start with '_' are ignored.",
                    },
                    {
                        "code": "ART202",
                        "file": "packs/bad.json",
                        "pointer": "/actions/0",
                        "line": 1,
                        "text": "'eat' is not an alias. Write \"mod:actions:name\", with letters, digits, '_', '.' and '-'.",
                    },
                ],
            },
        ],
    }


def test_problems_that_are_left_out_are_counted(tmp_path):
    file = tmp_path / "p.json"
    file.write_text(json.dumps({"actions": [1] * 60}))
    problems = check_files([file], Registry()).as_json()["files"][0]["problems"]
    assert len(problems) == 51
    assert problems[-1]["text"] == "and 10 more problems"


def test_an_empty_report():
    assert CheckReport().ok
    assert list(CheckReport().as_text()) == ["0 files: 0 ok, 0 failed; 0 unresolved aliases"]
