"""Drawings of the world in a recording: small, whole after the oldest ticks went, and hostile until looked at."""

from __future__ import annotations

import json
import shutil
import sqlite3

import pytest

import agentrt as art
from agentrt.drawing import Drawing, Mark, Tile, Tiles
from agentrt.errors import RecordingError
from agentrt.record import storage as storage_module
from agentrt.record import views
from agentrt.testing import TraceDigest

DAY = {".": Tile("#263e24")}
NIGHT = {".": Tile("#101020")}


class Walk(art.Action):
    does = art.TOP
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3)
        ctx.entity.steps += 1


class Walker:
    def __init__(self, name):
        self.name = name
        self.steps = 0


def make_field(names=("Ann", "Bob"), *, draws=True):
    """Some who walk to the right, a tree, and a night that falls in tick 30."""
    runtime = art.Runtime(3, host="plain")
    walkers = [runtime.add(art.Agent(Walker(name), actions=[Walk])) for name in names]

    def draw():
        marks = {one.name: Mark(one.entity.steps, row, one.name[0], agent=one.name) for row, one in enumerate(walkers)}
        marks["tree"] = Mark(5, 1, "T", "#00ff00")
        return Drawing(99, 2, Tiles(("." * 99,) * 2, NIGHT if runtime.tick >= 30 else DAY), marks)

    if draws:
        runtime.drawing = draw
    return runtime


def record(path, ticks, make=make_field, **options):
    """Record so many ticks; gives what was true in each."""
    runtime = make()
    truth = {}
    with runtime.record(path, **options):
        truth[0] = runtime.draw()
        for _ in range(ticks):
            runtime.step()
            truth[runtime.tick] = runtime.draw()
    runtime.close()
    return truth


@pytest.mark.states("tools: World: A recording has the drawing of any tick, in little room")
def test_any_tick_can_be_drawn(tmp_path, opened):
    truth = record(tmp_path / "run.sqlite", 130)
    recording = opened(tmp_path / "run.sqlite")
    assert recording.has_drawings
    assert truth[130] != truth[100] != truth[0]
    for tick in (0, 1, 29, 30, 77, 130):
        assert recording.drawing(tick) == truth[tick]
    rows = list(recording._rows("SELECT whole, length(data) FROM views WHERE agent = 0 ORDER BY tick"))
    assert [whole for whole, _ in rows].count(1) < 3  # each fiftieth that is written
    assert sorted(size for _, size in rows)[len(rows) // 2] < 150
    assert len(rows) < 50  # nothing is written in a tick in which nobody moved
    assert recording.view("Ann", 77)["name"] == "Ann"  # views of agents are what they were


def test_none_are_kept_if_nobody_asks_and_a_world_without_any_has_none(tmp_path, opened):
    for name, make, options in (
        ("none", make_field, {"drawings": "none"}),
        ("off", lambda: make_field(draws=False), {}),
    ):
        record(tmp_path / f"{name}.sqlite", 10, make, **options)
        recording = opened(tmp_path / f"{name}.sqlite")
        assert (recording.has_drawings, recording.drawing(10)) == (False, None)
    assert opened(tmp_path / "none.sqlite").meta["drawings"] == "none"


def test_at_most_one_in_so_many_ticks(tmp_path, opened):
    truth = record(tmp_path / "run.sqlite", 45, drawings=20)
    recording = opened(tmp_path / "run.sqlite")
    assert [tick for (tick,) in recording._rows("SELECT tick FROM views WHERE agent = 0 ORDER BY tick")] == [0, 20, 40]
    assert recording.drawing(39) == truth[20]
    assert recording.drawing(45) == truth[40]


def test_a_world_that_is_drawn_from_a_later_tick_on(tmp_path, opened):
    runtime = make_field(draws=False)
    with runtime.record(tmp_path / "run.sqlite"):
        runtime.step()
        runtime.drawing = lambda: Drawing(4, runtime.tick)
        runtime.step()
        runtime.drawing = lambda: None
        runtime.step()
        runtime.drawing = lambda: Drawing(4, runtime.tick)
        runtime.step()
        runtime.drawing = lambda: 1 / 0
        runtime.step()
        runtime.step()
    recording = opened(tmp_path / "run.sqlite")
    drawn = [recording.drawing(tick) for tick in range(7)]
    assert drawn == [None, None, Drawing(4, 2), None, Drawing(4, 4), None, None]
    assert runtime.drawing is None
    assert recording.last_tick == 6  # a hook that fails ends no recording
    runtime.close()


@pytest.mark.states("tools: World: Drawing changes nothing: a run that is drawn has the digest of one that is not")
@pytest.mark.parametrize("options", [None, {}, {"drawings": "none"}, {"drawings": 7}])
def test_drawing_changes_nothing(tmp_path, options):
    digests = []
    for draws in (False, True):
        runtime = make_field(draws=draws)
        digest = TraceDigest(runtime.trace)
        if options is not None:
            runtime.record(tmp_path / f"run{draws}.sqlite", **options)
        for _ in range(30):
            runtime.step()
        digests.append(digest.hexdigest())
        runtime.close()
    assert digests[0] == digests[1]


@pytest.mark.states("tools: World: Drawings of ticks that are kept stay whole when the oldest go")
def test_what_is_kept_stays_whole(tmp_path, opened, monkeypatch):
    monkeypatch.setattr(storage_module, "_LOOK_EVERY", 8)
    monkeypatch.setattr(views, "WHOLE_EVERY", 5)
    truth = record(tmp_path / "run.sqlite", 350, keep_ticks=50)
    recording = opened(tmp_path / "run.sqlite")
    first = recording.first_tick
    assert 250 < first <= 301
    for tick in range(first, 351):
        assert recording.drawing(tick) == truth[tick]
    (oldest,) = recording._row("SELECT min(tick) FROM views WHERE agent = 0")
    assert first - 60 < oldest <= first


# --- files that somebody else made --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("drawings") / "run.sqlite"
    record(path, 8)
    return path


def spoilt(path, tmp_path, data, where="whole"):
    copy = tmp_path / "spoilt.sqlite"
    shutil.copy(path, copy)
    with sqlite3.connect(copy) as connection:
        connection.execute(f"UPDATE views SET data = ? WHERE agent = 0 AND {where}", (data,))
    connection.close()
    return copy


MARKUP = "<img src=x onerror=alert(1)>"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"text", "cannot be read|is broken"),
        (b" 3", "the drawing in tick 0 is broken: .* here stands 3. Write an object"),
        (b" {}", "#/width: here stands None"),
        (b' {"width": 1e999, "height": 1}', "#/width: here stands inf"),
        (b' {"width": NaN, "height": 1}', "#/width: here stands nan"),
        (b' {"width": 9, "height": 9, "marks": {"a": {"x": NaN, "y": 1}}}', "#/marks/a/x: here stands nan"),
        (b' {"width": 9, "height": 9, "marks": {"a": {"x": 1' + b"0" * 400 + b', "y": 1}}}', "#/marks/a/x"),
        (b' {"width": 9, "height": 9, "image": "PHN2Zz4="}', "#/image: here stands b'<svg>'"),
        (b' {"width": 9, "height": 9, "marks": {"a": {"x": 1, "y": 1, "color": "url(x)"}}}', "#/marks/a/color"),
        (json.dumps({"width": 9, "height": 9, "marks": {"a": {"x": 1, "y": 1, "sign": MARKUP}}}).encode(), "text|sign"),
    ],
)
@pytest.mark.states("tools: World: A hostile drawing is a RecordingError, or is text", source="design 10")
def test_a_drawing_that_is_none_is_a_recording_error(whole, tmp_path, opened, data, words):
    data = data if data[:1] == b" " or data == b"text" else b" " + data
    recording = opened(spoilt(whole, tmp_path, data))
    with pytest.raises(RecordingError, match=words):
        recording.drawing(0)


def test_a_patch_that_does_not_fit_is_a_recording_error(whole, tmp_path, opened):
    recording = opened(spoilt(whole, tmp_path, b' {"~": {"marks": {"~": {"x": {"#": 3}}}}}', "NOT whole"))
    assert recording.drawing(0).width == 99
    with pytest.raises(RecordingError):
        recording.drawing(8)


def test_what_a_drawing_is_put_together_of_is_bounded(whole, tmp_path, opened, monkeypatch):
    monkeypatch.setattr("agentrt.record.recording._LARGEST_CHAIN", 100_000)
    patch = b' {"~": {}, "more": "' + b"x" * 60_000 + b'"}'
    recording = opened(spoilt(whole, tmp_path, patch, "NOT whole"))
    assert recording.drawing(0) is not None
    with pytest.raises(RecordingError, match="what makes the view in tick 8 is longer than 100000 bytes"):
        recording.drawing(8)
