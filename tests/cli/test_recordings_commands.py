"""``agentrt replay``, ``diff`` and ``export``: what goes where, and what the exit code says."""

from __future__ import annotations

import importlib.metadata
import itertools
import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from click.testing import CliRunner
from modules import load

from agentrt import worlds
from agentrt.cli import groups, main
from agentrt.record import Recording

yard = load("tests/replay/yard.py")


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    module = ModuleType("pretended_yards")
    module.yard, module.louder = yard.YardWorld("yard"), yard.YardWorld("louder")
    monkeypatch.setitem(sys.modules, "pretended_yards", module)
    points = [EntryPoint(name, f"pretended_yards:{name}", worlds.ENTRY_POINT_GROUP) for name in ("yard", "louder")]
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda *, group: points if group == worlds.ENTRY_POINT_GROUP else []
    )


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "run.sqlite"
    runtime = yard.YardWorld("yard").make(seed=3, host="plain")
    runtime.record(path, world="yard")
    yard.outside.shut = False
    yard.drive(runtime, 30, between=yard.ringing)
    yard.outside.shut = True
    yield path
    yard.outside.shut = False


def run(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


# --- replay -----------------------------------------------------------------------------------------------------------


def test_a_replay_that_is_the_same(recording):
    result = run("replay", recording)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:2] == [
        f"replayed {recording} up to tick 30 of 30: 8 inputs, 6 results of calls",
        "the same as recorded, compared in 30 ticks",
    ]
    assert result.stderr == ""


def test_a_replay_to_a_tick_on_another_host_without_comparing(recording):
    result = run("replay", recording, "--to", 12, "--host", "trio", "--no-verify")
    assert result.exit_code == 0
    assert "up to tick 12 of 12: 4 inputs" in result.stdout
    assert "trio host" in result.stdout
    assert "the same as" not in result.stdout


def test_a_replay_that_differs_prints_both_sides(recording):
    result = run("replay", recording, "--verify", "--world", "louder")
    assert result.exit_code == 1
    assert "first difference in tick 9: " in result.stdout
    assert "\n  - nothing\n  + 9 note text='psst'\n" in result.stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--world", "yrd"], "there is no world 'yrd'. Did you mean 'yard'?"),
        (["--to", "99"], "tick 99 is after its last tick, 30"),
        (["--ticks", "5"], "a branch needs --to"),
        (["--to", "5", "--ticks", "5", "--no-verify"], "--no-verify does not go with it"),
        (["--to", "5", "--ticks", "5", "--from-last-save"], "--from-last-save does not go with it"),
        (["--to", "5", "--edit", "nowhere.json"], "the script cannot be read"),
    ],
)
def test_what_cannot_be_done_is_one_message(recording, args, words):
    result = run("replay", recording, *args)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
    assert result.stdout == ""


def test_what_is_no_recording_is_one_message(tmp_path):
    (tmp_path / "x.sqlite").write_text("no")
    for command in (["replay"], ["diff", tmp_path / "y"], ["export", "--to", "otel", "-o", tmp_path / "out"]):
        result = run(*command, tmp_path / "x.sqlite")
        assert result.exit_code == 2
        assert "ART230" in result.stderr


def test_the_schema_of_scripts_is_printed():
    result = run("replay", "--schema")
    assert result.exit_code == 0
    assert json.loads(result.output)["title"] == "Script of a branch"


def test_branches_are_kept_of_a_recording_that_may_be_branched(recording, tmp_path):
    for args in ((recording, "--branches", tmp_path), ("--controls", "--branches", tmp_path)):
        result = run("inspect", *args)
        assert result.exit_code == 2
        assert "--branches goes with a RECORDING and --controls." in result.output


def test_a_branch_is_compared_and_recorded(recording, tmp_path):
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"tick": 20, "send": "say", "args": {"text": "hush"}}]))
    result = run(
        "replay", recording, "--to", 15, "--edit", script, "--ticks", 10, "--record", tmp_path / "branch.sqlite"
    )
    assert result.exit_code == 0, result.output
    assert f"branched {recording} after tick 15, went on to tick 25: " in result.stdout
    assert "\nthe runtime from tick 20 on:\n  - nothing\n  + 20 note text='hush'\n" in result.stdout
    assert run("replay", tmp_path / "branch.sqlite").exit_code == 0
    assert run("replay", recording, "--to", 28, "--live", "--ticks", 1).exit_code == 0
    with Recording.open(tmp_path / "branch.sqlite") as branched:
        assert (branched.last_tick, branched.meta["world"]) == (25, "yard")


# --- diff -------------------------------------------------------------------------------------------------------------


def test_two_recordings_are_compared(recording, tmp_path):
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"tick": 20, "send": "ring", "args": {"guard": 1}}]))
    assert run("replay", recording, "--to", 15, "--edit", script, "--record", tmp_path / "branch.sqlite").exit_code == 0
    result = run("diff", recording, tmp_path / "branch.sqlite")
    assert result.exit_code == 1
    assert result.stdout.startswith(
        "run.sqlite (-) and branch.sqlite (+) in ticks 1 to 30: 1 agent with other records, 1 with the same\n"
        "the runtime from tick 20 on:\n  - nothing\n  + 20 note text='rang' guard=1 loud=1\n"
    )
    result = run("diff", recording, recording)
    assert result.exit_code == 0
    assert result.stdout == f"{recording} and {recording} are the same in ticks 1 to 30\n"


def test_recordings_of_other_ticks_cannot_be_compared(recording, tmp_path):
    runtime = yard.YardWorld("yard").make(seed=3, host="plain")
    runtime.record(tmp_path / "late.sqlite")
    runtime.close()
    result = run("diff", recording, tmp_path / "late.sqlite")
    assert result.exit_code == 2
    assert "it has no tick in common with" in result.stderr


# --- export -----------------------------------------------------------------------------------------------------------


def test_a_recording_is_exported(recording, tmp_path):
    result = run("export", recording, "--to", "perfetto", "-o", tmp_path / "run.json")
    assert (result.exit_code, result.stdout) == (0, "")
    data = json.loads((tmp_path / "run.json").read_text())
    assert result.stderr == f"{len(data['traceEvents'])} events written to {tmp_path / 'run.json'}\n"
    result = run("export", recording, "--to", "otel", "-o", "-", "--first", 3, "--last", 12)
    assert result.exit_code == 0
    assert [list(json.loads(line)) for line in result.stdout.splitlines()] == [["resourceSpans"]]
    result = run("export", recording, "--to", "otel", "-o", tmp_path / "no" / "run.json")
    assert result.exit_code == 2
    assert "No such file" in result.stderr


def test_a_recording_is_one_file(recording, tmp_path):
    result = run("export", recording, "--html", "-o", tmp_path / "run.html", "--first", 3, "--last", 12)
    assert (result.exit_code, result.stdout) == (0, "")
    made = (tmp_path / "run.html").read_text(encoding="ascii")
    assert result.stderr == f"{len(made) / 1e6:.1f} MB (ticks 3 to 12, 3 agents) written to {tmp_path / 'run.html'}\n"
    assert run("export", recording, "--to", "html", "-o", "-", "--first", 3, "--last", 12).stdout == made
    result = run("export", recording, "--html", "-o", tmp_path / "out", "--first", 500)
    assert (result.exit_code, (tmp_path / "out").exists()) == (2, False)
    assert "it has no such ticks" in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "Say for whom: --html, --to perfetto, or --to otel."),
        (["--html", "--to", "otel"], "Say for whom"),
        (["--to", "otel", "--max-mb", "3"], "--max-mb is for --html: what is written for otel has no limit."),
        (["--html", "--max-mb", "0"], "0 is not in the range"),
    ],
)
def test_an_export_for_nobody(recording, tmp_path, options, said):
    result = run("export", recording, "-o", tmp_path / "out", *options)
    assert (result.exit_code, (tmp_path / "out").exists()) == (2, False)
    assert said in result.stderr


def test_nothing_is_written_over(recording, tmp_path):
    before = recording.read_bytes()
    result = run("export", recording, "--to", "perfetto", "-o", recording)
    assert result.exit_code == 2
    assert "is there already: choose another name" in result.stderr
    assert recording.read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_one_message(recording):
    result = run("export", recording, "--to", "otel", "-o", "/dev/full")
    assert result.exit_code == 2
    assert "No space left on device" in result.stderr


def test_a_long_replay_says_how_far_it_has_come(recording, monkeypatch):
    seconds = itertools.count()
    monkeypatch.setattr(groups, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    result = run("replay", recording)
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "tick 1/30, 3 %",
        "tick 6/30, 20 %, 24 s left",
        "tick 11/30, 36 %, 19 s left",
        "tick 16/30, 53 %, 14 s left",
        "tick 21/30, 70 %, 9 s left",
        "tick 26/30, 86 %, 4 s left",
    ]


def test_an_export_that_fails_leaves_no_half_of_a_file(recording, tmp_path, monkeypatch):
    def write(opened, out, **_):
        out.write("{")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agentrt.record.export.write_perfetto", write)
    result = run("export", recording, "--to", "perfetto", "-o", tmp_path / "out")
    assert (result.exit_code, (tmp_path / "out").exists()) == (2, False)
    assert "No space left on device" in result.stderr
    (tmp_path / "mine").write_text("mine")
    assert "there already" in run("export", recording, "--to", "perfetto", "-o", tmp_path / "mine").stderr
    assert (tmp_path / "mine").read_text() == "mine"
