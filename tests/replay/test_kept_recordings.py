"""Recordings that are kept are replayed on every change, on every Python and host; and what ``kill -9`` leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from modules import ROOT, load
from players import HOSTS

from agentrt.record.recording import Recording
from agentrt.record.replay import replay
from agentrt.worlds import load_world

yard = load("tests/replay/yard.py")
FOLDER = ROOT / "tests" / "data" / "recordings"


@pytest.mark.states("tools: Replay: Recordings are kept with the code and replayed on every change", source="design 7")
@pytest.mark.parametrize("host", HOSTS)
def test_the_yard_that_was_recorded_with_threads(outside, host):
    outside.shut = True
    with Recording.open(FOLDER / "yard.sqlite") as recording:
        report = replay(recording, yard.Yard(clerks=3), host=host)
        inputs = [one.kind for one in recording.inputs()]
    assert report.is_same, report.as_text()
    assert (report.compared, report.sent, report.answered) == (70, inputs.count("sent"), inputs.count("answered"))
    assert (inputs.count("sent"), inputs.count("answered")) == (22, 18)


@pytest.mark.states("tools: Replay: Recordings are kept with the code and replayed on every change ...")
@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_the_colony_that_was_recorded_with_wolves_and_orders(host):
    """After a change that is meant: ``python tools/make_recordings.py colony``."""
    report = replay(FOLDER / "colony.sqlite", host=host)
    assert report.is_same, report.as_text()
    assert (report.compared, report.sent) == (60, 4)


@pytest.mark.slow
def test_another_colony_is_another_run():
    world = load_world("colony")
    report = replay(FOLDER / "colony.sqlite", lambda seed, host: with_a_wolf_more(world.make(seed=seed, host=host)))
    assert not report.is_same
    assert report.difference.tick < 10


def with_a_wolf_more(runtime):
    runtime.send("wolves", count=1)
    return runtime


RUN_FOR_EVER = """
import sys
from agentrt.worlds import load_world

runtime = load_world("colony").make(seed=5, host="plain")
runtime.record(sys.argv[1], world="colony")
while True:
    if runtime.tick == 5:
        runtime.send("wolves", count=2)
    runtime.step()
    print(runtime.tick, flush=True)
"""


@pytest.mark.states(
    "tools: Replay: A recording that was cut off by `kill -9` replays to its last tick",
    source="design 7",
)
@pytest.mark.slow
def test_a_recording_that_was_cut_off_replays_to_its_last_tick(tmp_path):
    path = tmp_path / "cut.sqlite"
    with subprocess.Popen([sys.executable, "-c", RUN_FOR_EVER, path], stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            if int(line) >= 15:
                os.kill(child.pid, signal.SIGKILL)
                break
        rest = child.stdout.read().split()
    assert child.returncode == -signal.SIGKILL
    published = int(rest[-1]) if rest else 15
    with Recording.open(path) as recording:
        assert recording.meta["ended"] == ""
        assert recording.last_tick - published in (0, 1)  # it was killed before it could tell the last one
        report = replay(recording)
    assert report.is_same, report.as_text()
    assert (report.compared, report.sent) == (report.tick, 1)
    assert report.tick >= 15
