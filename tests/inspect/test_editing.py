"""Editing in the page: which files, what is checked, how they are saved; and that nothing else is read or written."""

from __future__ import annotations

import json
import os
import sys
import threading

import pytest
from edited import GROUPS, PACK, TREE, Den, Elsewhere, Howl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from modules import load

from agentrt import Agent, Entity, Runtime
from agentrt.errors import InspectorError
from agentrt.goals import GoalSelector
from agentrt.inspect import Inspector
from agentrt.inspect.editing import (
    MOST_BYTES,
    Workbench,
    checked_editor,
    shown_text,
    written_text,
)
from agentrt.inspect.live import LiveSource
from agentrt.inspect.protocol import write
from agentrt.kernel.trace import TraceDigest
from agentrt.reload import Reloader
from agentrt.selection import SelectionLibrary

of = load("tests/inspect/village.py")


class World(Den):
    """A den, and a client that edits in it."""

    def __init__(self, folder, outside, **options):
        super().__init__(folder, outside)
        options.setdefault("controls", True)
        self.bench = Workbench(self.reloader, **options)
        self.source = LiveSource(
            self.runtime,
            "wolves",
            controls=options["controls"],
            past=0,
            clock=(clock := of.Clock()),
            workbench=self.bench,
        )
        self.clock = clock
        self.source.attach()
        self.client = of.Client(self.source)
        self.look()

    def look(self):
        self.client.ask("watch", editing=True, agent="Akela")
        self.pass_time()

    def pass_time(self, ticks=1):
        for _ in range(ticks):
            self.clock.now += 2
            self.runtime.step()

    def ask(self, do, file="packs/wolf.json", **fields):
        return self.source.edit(json.dumps({"do": do, "file": file, **fields}).encode())

    def opened(self, file="packs/wolf.json"):
        status, message = self.ask("open", file)
        assert status == 200, message
        return message

    def save(self, text, file="packs/wolf.json", version=None):
        return self.ask("save", file, text=text, version=version or self.opened(file)["version"])

    def close(self):
        self.source.detach()
        self.runtime.close()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "game"


@pytest.fixture
def world(folder, tmp_path):
    world = World(folder, tmp_path)
    yield world
    world.close()


# --- which files --------------------------------------------------------------------------------------------------------


def test_what_the_world_has_loaded_may_be_edited_and_nothing_else(world):
    rows = world.client.last("files")
    assert [row[:2] for row in rows["rows"]] == [
        ["packs/base.json", "pack"],
        ["packs/groups.json", "task_groups"],
        ["packs/wolf.json", "pack"],
        ["trees/wolf.xml", "selection"],
    ]
    assert [row[2] for row in rows["rows"]][-2:] == [["mod:ai_pack:wolf"], ["Wolf"]]
    assert rows["outside"] >= 1  # with what the installed packages offer, if anybody has asked for that before


@pytest.mark.states(
    "tools: Inspector: Only files below the folder of the world, which it has loaded, can be edited; no path leads "
    "elsewhere, and no link",
    source="design 10",
)
@pytest.mark.parametrize(
    "file",
    [
        "", ".", "/", "..", "packs", "packs/other.json", "packs//wolf.json", "./packs/wolf.json", "packs/../packs/wolf.json",
        "../outside.json", "packs/wolf.json\0", "packs\\wolf.json", "PACKS/WOLF.JSON", "%2e%2e/outside.json", "\ud800",
        "packs/wolf.json ", "a" * 1000,
    ],
)  # fmt: skip
def test_a_client_names_no_path(world, file):
    before = world.read("packs/other.json")
    for do in ("open", "check", "save"):
        status, message = world.ask(do, file, text="{}", version="0")
        assert (status, message["code"]) == (404, "unknown_file")
    assert world.read("packs/other.json") == before
    assert world.outside.read_text() == "{}"


def test_the_absolute_path_is_no_name_either(world):
    assert world.ask("open", str(world.folder / "packs/wolf.json"))[0] == 404
    assert world.ask("open", str(world.outside))[0] == 404


@pytest.mark.states(
    "tools: Inspector: Only files below the folder of the world, which it has loaded, can be edited; ..."
)
@pytest.mark.skipif(sys.platform == "win32", reason="links")
@pytest.mark.parametrize("what", ["the file", "its folder"])
def test_a_link_that_is_put_there_leads_nowhere(world, tmp_path, what):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "wolf.json").write_text(PACK)
    version = world.opened()["version"]
    file = world.folder / "packs/wolf.json"
    if what == "the file":
        file.unlink()
        file.symlink_to(elsewhere / "wolf.json")
    else:
        (world.folder / "packs").rename(world.folder / "old")
        (world.folder / "packs").symlink_to(elsewhere, target_is_directory=True)
    for do in ("open", "save"):
        status, message = world.ask(do, text=PACK.replace("nap", "howl"), version=version)
        assert (status, message["code"]) == (409, "no_file")
        assert str(tmp_path) not in json.dumps(message)
    assert (elsewhere / "wolf.json").read_text() == PACK
    assert [one.name for one in elsewhere.iterdir()] == ["wolf.json"]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="links")
def test_a_link_in_the_place_of_a_pack_that_another_requires_tells_nothing_of_what_it_leads_to(world, tmp_path):
    secret = tmp_path / "secret.json"
    secret.write_text('{"actions": ["canary"], "canary": "canary"}')
    assert world.opened()["problems"] == []
    base = world.folder / "packs/base.json"
    base.unlink()
    base.symlink_to(secret)
    (problem,) = world.opened()["problems"]
    assert (problem["file"], problem["text"]) == (
        "packs/base.json",
        "cannot be read: a link was put in its place since the world began.",
    )
    for _ in range(3):  # the page looks again, and finds that the file has gone elsewhere
        world.pass_time()
    status, message = world.ask("check", text=PACK)
    assert (status, "canary" in json.dumps(message)) == (200, False)
    assert {one["text"] for one in message["problems"]} == {
        "something is wrong in there: look at that file in an editor"
    }


@pytest.mark.states(
    "tools: Inspector: Only files below the folder of the world, which it has loaded, can be edited; ..."
)
@pytest.mark.skipif(not hasattr(os, "symlink"), reason="links")
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("packs/base.json", '{"actions": ["canary"], "canary": "canary"}'),
        ("trees/wolf.xml", "<SelectionTrees><canary canary='1'/>canary</SelectionTrees>"),
    ],
)
def test_a_reload_does_not_read_what_a_link_leads_to_that_was_put_there_meanwhile(
    world, tmp_path, monkeypatch, file, text
):
    (tmp_path / "secret").write_text(text)
    is_news = world.reloader._is_news

    def and_then_it_is_a_link(path, is_watched):
        (world.folder / file).unlink()
        (world.folder / file).symlink_to(tmp_path / "secret")
        return is_news(path, is_watched)

    monkeypatch.setattr(world.reloader, "_is_news", and_then_it_is_a_link)
    world.reloader.reload([world.folder / ("packs/wolf.json" if "base" in file else file)])
    world.pass_time()
    (report,) = world.runtime.reloads
    assert "a link was put in its place since the world began" in report.error
    assert "canary" not in json.dumps(world.client.last("reloads"))


def test_a_link_of_the_author_s_own_is_read_again(folder, tmp_path):
    (tmp_path / "shared.json").write_text('{"actions": []}')
    den = Den(folder, tmp_path)
    base = folder / "packs/base.json"
    base.unlink()
    base.symlink_to(tmp_path / "shared.json")
    reloader = Reloader(den.runtime, folder)
    (tmp_path / "shared.json").write_text('{"actions": ["mod:actions:nap", "mod:actions:nop"]}')
    den.write("packs/wolf.json", PACK.replace("what", "all"))
    reloader.reload([folder / "packs/wolf.json"])
    den.runtime.step()
    (report,) = den.runtime.reloads
    assert "Did you mean 'mod:actions:nap'" in report.error
    den.runtime.close()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes")
def test_a_pipe_hangs_nothing(world):
    file = world.folder / "packs/wolf.json"
    file.unlink()
    os.mkfifo(file)
    status, message = world.ask("open")
    assert (status, message["code"]) == (409, "no_file")


def test_a_file_that_is_gone_too_large_or_no_text(world):
    file = world.folder / "packs/wolf.json"
    file.write_bytes(b" " * (MOST_BYTES + 1))
    assert world.ask("open")[1]["code"] == "too_large"
    file.write_bytes(b"\xff\xfe")
    assert world.ask("open")[1]["code"] == "no_text"
    file.unlink()
    status, message = world.ask("open")
    assert (status, message["code"]) == (409, "no_file")
    assert str(world.folder) not in message["message"]


# --- what is checked ----------------------------------------------------------------------------------------------------


def test_a_text_is_checked_by_the_loaders_with_place_and_remedy(world):
    assert world.opened()["problems"] == []
    _, message = world.ask("check", text=PACK.replace("mod:actions:nap", "mod:actions:nup"))
    (problem,) = message["problems"]
    assert (message["ok"], problem["line"], problem["pointer"], problem["file"]) == (False, 5, "/actions/1", "")
    assert "Did you mean 'mod:actions:nap'" in problem["text"]
    _, message = world.ask("check", text=PACK.replace('"actions"', '"actoins"'))
    assert [(one["line"], one["pointer"]) for one in message["problems"]] == [(3, "/actoins")]
    _, message = world.ask("check", text=PACK + "}")
    (problem,) = message["problems"]
    assert "is not JSON" in problem["text"]
    assert problem["line"] == PACK.count("\n") + 1


def test_packs_that_would_require_each_other_in_a_circle_are_told(world):
    _, message = world.ask("check", "packs/base.json", text='{"ai_packs": ["mod:ai_pack:wolf"]}')
    assert not message["ok"]
    assert "require each other in a circle" in message["problems"][0]["text"]
    assert world.registry.pack("mod:ai_pack:base").ai_packs == ()  # what runs knows nothing of it


def test_task_groups_and_trees_likewise(world):
    _, message = world.ask("check", "packs/groups.json", text=GROUPS.replace("[0.2, 0.4]", "[0.4, 0.2]"))
    (problem,) = message["problems"]
    assert (problem["line"], problem["pointer"]) == (5, "/task_groups/mod:task_groups:chores/utility")
    _, message = world.ask("check", "trees/wolf.xml", text=TREE.replace('condition="Late"', 'condition="Lat"'))
    (problem,) = message["problems"]
    assert (message["ok"], problem["line"]) == (False, 8)
    assert "Lat" in problem["text"]
    assert world.library["Wolf"].select() == "Roam"


BOMBS = {
    "entities": '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><Blocks>&b;</Blocks>',
    "outside": '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><Blocks>&a;</Blocks>',
    "deep": "<Priority>" * 5000,
    "nothing": "",
    "zero": "\0",
}
JSON_BOMBS = {
    "deep": "[" * 100_000,
    "wide": "[" + "0," * 60_000 + "0]",
    "number": '{"_": 1' + "0" * 100_000 + "}",
    "twice": '{"actions": [], "actions": []}',
    "no object": "3",
    "nan": '{"_": NaN}',
    "markup": '{"<img src=x onerror=alert(1)>": []}',
}


@pytest.mark.states("tools: Inspector: A hostile text is a problem, is not saved, and harms nobody")
@pytest.mark.parametrize("bomb", BOMBS)
def test_hostile_xml_is_a_problem_and_nothing_else(world, bomb):
    status, message = world.ask("check", "trees/wolf.xml", text=BOMBS[bomb])
    assert status == 200
    assert not message["ok"]
    assert "root:" not in json.dumps(message)
    assert world.save(BOMBS[bomb], "trees/wolf.xml")[0] == 422
    assert world.read("trees/wolf.xml") == TREE.encode()


@pytest.mark.states("tools: Inspector: A hostile text is a problem, ...")
@pytest.mark.parametrize("bomb", JSON_BOMBS)
def test_hostile_json_is_a_problem_and_nothing_else(world, bomb):
    status, message = world.ask("check", text=JSON_BOMBS[bomb])
    assert status == 200
    assert not message["ok"]
    assert len(json.dumps(message)) < 100_000
    assert world.save(JSON_BOMBS[bomb])[0] == 422
    assert world.read("packs/wolf.json") == PACK.encode()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400), (b"[]", 400), (b"{}", 400), (b"\xff", 400), (b"[" * 100_000, 400), (b'{"do": "delete"}', 400),
        (b'{"do": ["open"]}', 400), (b'{"do": "open", "file": 3}', 400), (b'{"do": "save", "file": "a", "text": {}}', 400),
    ],
)  # fmt: skip
def test_a_request_that_is_none(world, body, status):
    assert world.source.edit(body)[0] == status


def test_texts_that_are_too_large_or_no_texts(world):
    assert world.ask("check", text=" " * (MOST_BYTES + 1))[0] == 413
    assert world.save(" " * (MOST_BYTES + 1))[0] == 413
    assert world.ask("check", text="\ud800")[0] == 400
    assert world.save("\ud800")[0] == 400


# --- what is saved ------------------------------------------------------------------------------------------------------


def test_one_number_is_a_diff_of_one_line_and_is_taken_up(world):
    text = GROUPS.replace("0.4]", "0.3]")
    status, message = world.save(text, "packs/groups.json")
    assert (status, message["removed"], message["added"]) == (200, 1, 1)
    assert world.read("packs/groups.json") == text.encode()
    assert world.runtime.reloads == type(world.runtime.reloads)()
    world.pass_time()
    assert world.runtime.reloads[-1].changed == ("packs/groups.json",)


def test_a_pack_and_a_tree_are_taken_up_by_the_running_agent(world):
    assert [one.__name__ for one in world.agent.actions] == ["Howl", "Nap"]
    assert world.save(PACK.replace(',\n    "mod:actions:nap"', ""))[0] == 200
    assert (
        world.save(TREE.replace('"Late"/>\n    </Var', '"Late" default="true"/>\n    </Var'), "trees/wolf.xml")[0]
        == 200
    )
    world.pass_time(2)
    assert [one.__name__ for one in world.agent.actions] == ["Howl"]
    assert world.library["Wolf"].variables == {"Late": True}
    assert [one.ok for one in world.runtime.reloads] == [True, True]


def test_what_has_mistakes_is_not_saved(world):
    status, message = world.save(PACK.replace("nap", "nup"))
    assert (status, message["code"]) == (422, "mistakes")
    assert len(message["problems"]) == 1
    assert world.read("packs/wolf.json") == PACK.encode()


def test_a_file_that_was_changed_meanwhile_is_told_and_stays(world):
    version = world.opened()["version"]
    other = PACK.replace("what a wolf knows", "of somebody else")
    world.write("packs/wolf.json", other)
    status, message = world.save(PACK.replace("what", "all"), version=version)
    assert (status, message["code"], message["text"]) == (409, "changed", other)
    assert world.read("packs/wolf.json") == other.encode()
    assert world.save(PACK, version=message["version"])[0] == 200  # it was looked at, and this one is wanted


def test_a_file_that_changes_while_it_is_written_stays(world, monkeypatch):
    version = world.opened()["version"]
    other = PACK.replace("what a wolf knows", "of somebody else")
    sync = os.fsync

    def write_meanwhile(descriptor):
        sync(descriptor)
        world.write("packs/wolf.json", other)

    monkeypatch.setattr(os, "fsync", write_meanwhile)
    status, message = world.save(PACK.replace("what", "all"), version=version)
    assert (status, message["code"]) == (409, "changed")
    assert world.read("packs/wolf.json") == other.encode()
    assert sorted(one.name for one in (world.folder / "packs").iterdir()) == [
        "base.json",
        "groups.json",
        "other.json",
        "wolf.json",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_folder_that_becomes_a_link_while_it_is_written_leads_nowhere(world, tmp_path, monkeypatch):
    version = world.opened()["version"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "wolf.json").write_text("theirs")
    packs = world.folder / "packs"
    sync = os.fsync

    def swap(descriptor):
        sync(descriptor)
        packs.rename(world.folder / "moved")
        packs.symlink_to(elsewhere, target_is_directory=True)

    monkeypatch.setattr(os, "fsync", swap)
    world.save(PACK.replace("what", "all"), version=version)
    assert [one.name for one in elsewhere.iterdir()] == ["wolf.json"]
    assert (elsewhere / "wolf.json").read_text() == "theirs"
    assert "all a wolf" in (world.folder / "moved/wolf.json").read_text()


@pytest.mark.states("tools: Inspector: A file is written as a whole, with its permissions, line ends and comments")
def test_a_disk_that_is_full_loses_nothing(world, monkeypatch):
    version = world.opened()["version"]

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    status, message = world.save(PACK.replace("what", "all"), version=version)
    assert (status, message["message"]) == (409, "packs/wolf.json cannot be reached: No space left on device")
    assert world.read("packs/wolf.json") == PACK.encode()
    assert len(list((world.folder / "packs").iterdir())) == 4


@pytest.mark.states("tools: Inspector: A file is written as a whole, ...")
@pytest.mark.skipif(sys.platform == "win32", reason="permissions")
def test_permissions_are_kept_and_obeyed(world):
    file = world.folder / "packs/wolf.json"
    file.chmod(0o640)
    assert world.save(PACK.replace("what", "all"))[0] == 200
    assert file.stat().st_mode & 0o777 == 0o640
    file.chmod(0o444)
    assert world.opened()["why_not"] == "it is read-only: nobody may write it"
    status, message = world.save(PACK)
    assert (status, message["code"]) == (409, "no_file")
    assert "all a wolf" in file.read_text()


def test_of_two_that_save_at_once_one_is_told(world):
    version = world.opened()["version"]
    texts = [PACK.replace("what", f"number {number}: what") for number in range(8)]
    came = []
    threads = [
        threading.Thread(target=lambda text=text: came.append(world.save(text, version=version))) for text in texts
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(status for status, _ in came) == [200] + [409] * 7
    assert world.read("packs/wolf.json").decode() in texts


@pytest.mark.states("tools: Inspector: A file is written as a whole, ...")
@pytest.mark.parametrize(
    "old",
    [
        b"\xef\xbb\xbfa\r\nb\r\nc\r\n",
        b"a\r\nb\nc\r\nd\re",
        b"a\r\n\r\n\r\nb\r\n",
        b"a\r\nb",
        b"\r\n",
        b"a\nb\n",
        b"",
    ],
)
def test_line_ends_and_a_mark_stay(old):
    text = shown_text(old)
    assert "\r" not in text
    assert written_text(text, old) == old
    for index, letter in enumerate(text):
        if letter != "\n":
            edited = text[:index] + "X" + text[index + 1 :]
            assert shown_text(written_text(edited, old)) == edited
            assert sum(one != other for one, other in zip(old, written_text(edited, old), strict=True)) == 1
    more = text + "new\nline\n"
    assert shown_text(written_text(more, old)) == more


def test_new_lines_end_as_most_do():
    assert written_text("a\nX\nb\nc\n", b"a\r\nb\r\nc\r\n") == b"a\r\nX\r\nb\r\nc\r\n"
    assert written_text("a\nc\n", b"a\r\nb\r\nc\r\n") == b"a\r\nc\r\n"
    assert written_text("", b"a\r\nb\r\nc\r\n") == b""
    assert written_text("x", b"a\r\nb\r\nc\r\n") == b"x"


# --- who may ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("do", ["open", "check", "save"])
def test_without_controls_nothing_is_read_or_written(folder, tmp_path, do):
    world = World(folder, tmp_path, controls=False)
    assert world.client.told("files") == []
    status, message = world.ask(do, text="{}", version="0")
    assert (status, message["code"]) == (403, "read_only")
    assert world.read("packs/wolf.json") == PACK.encode()
    world.close()


def test_without_a_reloader_it_says_how_to_get_one(village):
    watched = of.Watched(village)
    assert "editing=Reloader(runtime, folder)" in watched.source.greeting()[0]["editing"]
    assert watched.source.edit(b'{"do": "open", "file": "a"}')[0] == 403
    watched.close()


def test_what_fails_is_told_and_harms_nobody(world, monkeypatch):
    monkeypatch.setattr(SelectionLibrary, "check", lambda *_: 1 / 0)
    status, message = world.ask("check", "trees/wolf.xml", text=TREE)
    assert (status, message["code"]) == (500, "failed")
    world.pass_time()


def test_an_edit_while_it_is_paused_is_told_as_waiting(world):
    world.client.ask("pause")
    world.pass_time(2)
    assert world.save(PACK.replace(',\n    "mod:actions:nap"', ""))[0] == 200
    world.pass_time()
    state = world.client.last("state")
    assert (state["paused"], state["waiting"]) == (True, ["packs/wolf.json"])
    world.client.ask("step", ticks=1)
    world.pass_time(2)
    assert world.client.last("state")["waiting"] == []
    assert world.runtime.reloads[-1].ok


# --- what is written in Python ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "template",
    [
        "javascript:alert('{path}')",
        "data:text/html,{path}",
        "{path}",
        "//x/{path}",
        "vscode://file/",
        "JAVASCRIPT:{path}",
    ],
)
def test_an_editor_that_is_none(template):
    with pytest.raises(InspectorError, match="its editor is"):
        checked_editor(template)


def test_a_reloader_of_another_runtime(world):
    with pytest.raises(InspectorError, match="its reloader is of another runtime"):
        Inspector(Runtime(), editing=world.reloader)


def test_goals_and_actions_lead_to_their_lines(tmp_path, monkeypatch):
    (tmp_path / "edited_goals.py").write_text(
        "from agentrt.goals import Goal\n\n\nclass Stare(Goal):\n    def can_use(self):\n        return True\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import edited_goals

    runtime = Runtime(host="plain")
    selector = GoalSelector()
    selector.add_goal(1, edited_goals.Stare())
    selector.add_goal(2, Elsewhere())
    agent = runtime.add(Agent(Entity("cat"), actions=[Howl], drivers=[selector]))
    bench = Workbench(Reloader(runtime, tmp_path), controls=True, editor="vscode://file/{path}:{line}")
    told = {
        one["is"]: one for one in bench.messages(of.Client(LiveSource(runtime, "", controls=True)).session, agent, 5.0)
    }
    place = (tmp_path / "edited_goals.py").as_posix()
    assert told["places"]["rows"] == [["goal", "Stare", "edited_goals.py", 4, f"vscode://file{place}:4"]]
    bench = Workbench(Reloader(runtime, tmp_path), controls=True)
    assert bench._places(agent, bench._reloader)["rows"] == [["goal", "Stare", "edited_goals.py", 4, ""]]
    runtime.close()
    del sys.modules["edited_goals"]


# --- whatever comes -----------------------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FILES = st.sampled_from(["packs/wolf.json", "packs/groups.json", "trees/wolf.xml"]) | st.text(max_size=40)
PIECES = st.lists(
    st.sampled_from(
        [*'{}[]":,<>/&;!', "actions", "mod:actions:howl", "<Leaf", "<!DOCTYPE", "]]>", "\\u", "\r\n", "\ufeff"]
    )
    | st.text(max_size=4),
    max_size=30,
).map("".join)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.fixed_dictionaries(
        {"do": st.sampled_from(["open", "check", "save"]) | VALUES, "file": FILES | VALUES, "text": PIECES | VALUES},
        optional={"version": VALUES},
    )
)
def test_whatever_is_asked_for_is_answered_and_nothing_is_written(world, body):
    before = {one: one.read_bytes() for one in world.folder.rglob("*") if one.is_file()}
    status, message = world.source.edit(json.dumps(body).encode())
    assert status in (200, 400, 404, 409, 413)
    assert write(message)
    assert {one: one.read_bytes() for one in world.folder.rglob("*") if one.is_file()} == before


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=PIECES, file=st.sampled_from(["packs/wolf.json", "packs/groups.json", "trees/wolf.xml"]))
def test_whatever_is_saved_can_be_loaded(world, text, file):
    before = world.read(file)
    status, _ = world.save(text, file)
    assert (status == 200) or world.read(file) == before
    if status == 200:
        world.pass_time()
        assert all(one.ok for one in world.runtime.reloads)


def test_who_has_the_page_of_edits_open_changes_no_run(tmp_path):
    def digest(name, is_watched):
        (tmp_path / name).mkdir()
        den = Den(tmp_path / name / "game", tmp_path / name)
        digest = TraceDigest(den.runtime.trace)
        bench = Workbench(den.reloader, controls=True)
        source = LiveSource(den.runtime, "wolves", controls=True, past=0, clock=of.Clock(), workbench=bench)
        source.attach()
        if is_watched:
            client = of.Client(source)
            client.ask("watch", editing=True, agent="Akela")
        for _ in range(40):
            source._clock.now += 0.3
            den.runtime.step()
        if is_watched:
            assert client.told("files")
            assert source.edit(b'{"do": "open", "file": "packs/wolf.json"}')[0] == 200
        source.detach()
        den.runtime.close()
        return digest.hexdigest()

    assert digest("one", is_watched=True) == digest("two", is_watched=False)
