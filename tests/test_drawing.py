"""Drawings of a world: plain data that is checked when it is made, wherever it comes from."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentrt as art
from agentrt.drawing import (
    MOST_CORNERS,
    MOST_IMAGE,
    MOST_LOOKS,
    MOST_MARKS,
    MOST_SIDE,
    MOST_TEXT,
    Drawing,
    Glyph,
    Mark,
    Overlay,
    Tile,
    Tiles,
    glyphs,
)
from agentrt.errors import DataFault
from agentrt.testing import Simulation, TraceDigest
from agentrt.words import plain

HEAD = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
PNG = HEAD + b"\x00\x00\x00\x04\x00\x00\x10\x00" + bytes(10)  # 4 x 4,096 pixels
GRASS = Tile("#263e24")
POND = Tile("#1c3868", "~", "#6ea0dc", True)
TILES = Tiles(("...", ".~."), {".": GRASS, "~": POND})


class Nameless:
    """What cannot be printed."""

    def __str__(self):
        raise ValueError

    __repr__ = __str__


def pond(**options):
    marks = {
        "ann": Mark(0, 1, "A", "#ffffff", label="Ann, a farmer", agent="Ann", layer=8, bold=True),
        "bed": Mark(2, 0, shape="square", holder="Ann", size=0.5),
        "way": Mark(0.5, 1, to=((1.0, 1.0), (2.0, 0.25))),
    }
    return Drawing(**{"width": 3, "height": 2, "tiles": TILES, "marks": marks, "image": PNG, **options})


def test_a_drawing_is_json_and_comes_back():
    drawing = pond()
    data = json.loads(json.dumps(drawing.as_json()))
    assert data["marks"] == {
        "ann": {"x": 0, "y": 1, "sign": "A", "color": "#ffffff", "label": "Ann, a farmer", "agent": "Ann", "layer": 8,
                "bold": True},
        "bed": {"x": 2, "y": 0, "shape": "square", "holder": "Ann", "size": 0.5},
        "way": {"x": 0.5, "y": 1, "to": [[1.0, 1.0], [2.0, 0.25]]},
    }  # fmt: skip
    assert data["tiles"] == {
        "rows": ["...", ".~."],
        "palette": {".": ["#263e24", "", "", False], "~": ["#1c3868", "~", "#6ea0dc", True]},
    }
    assert Drawing.from_json(data) == drawing
    assert Drawing.from_json(Drawing(4.5, 2).as_json()) == Drawing(4.5, 2)


def test_what_is_drawn_above_does_not_depend_on_who_came_first():
    marks = {"b": Mark(0, 1), "a": Mark(0, 1), "low": Mark(0, 0, layer=1), "first": Mark(5, 5, layer=-1)}
    backwards = dict(reversed(marks.items()))
    order = ["first", "a", "b", "low"]
    assert [key for key, _ in Drawing(9, 9, marks=marks).in_order()] == order
    assert [key for key, _ in Drawing(9, 9, marks=backwards).in_order()] == order


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Mark(math.nan, 0), r"#/x: here stands nan\. Write a number from -1e\+06 to 1e\+06"),
        (lambda: Mark(0, math.inf), "#/y: here stands inf"),
        (lambda: Mark(10**400, 0), "#/x: here stands"),
        (lambda: Mark(True, 0), "#/x: here stands True"),
        (lambda: Mark("1", 0), "#/x: here stands '1'"),
        (lambda: Mark(0, 0, "abc"), "#/sign: here stands 'abc'. Write one or two characters"),
        (lambda: Mark(0, 0, "\x1b"), r"#/sign: here stands '\\x1b'"),
        (lambda: Mark(0, 0, color="red"), "#/color: here stands 'red'. Write a color as '#rrggbb'"),
        (lambda: Mark(0, 0, color="#FFFFFF"), "#/color"),
        (lambda: Mark(0, 0, color="#ffffff\n"), "#/color"),
        (lambda: Mark(0, 0, shape="star"), "#/shape: here stands 'star'. Write 'dot', 'square', 'ring'"),
        (lambda: Mark(0, 0, shape=[]), "#/shape"),
        (lambda: Mark(0, 0, label="x" * 81), "#/label: .* Write a text of at most 80 characters"),
        (lambda: Mark(0, 0, agent=None), "#/agent: here stands None"),
        (lambda: Mark(0, 0, layer=1.5), "#/layer: here stands 1.5. Write a whole number from -1000 to 1000"),
        (lambda: Mark(0, 0, bold=1), "#/bold: here stands 1. Write true or false"),
        (lambda: Mark(0, 0, size=0), "#/size: here stands 0. Write a number from 0.01 to 1000"),
        (lambda: Mark(0, 0, to=[(1, 1)]), "#/to: .* Write a tuple of at most 256 pairs"),
        (lambda: Mark(0, 0, to=((0, 0),) * 257), "#/to: .* at most 256 pairs"),
        (lambda: Mark(0, 0, to=((0, 0, 0),)), "#/to/0: .* Write a pair of numbers"),
        (lambda: Mark(0, 0, to=((0, math.nan),)), "#/to/0: here stands nan"),
        (lambda: Tile("green"), "#/ground: here stands 'green'"),
        (lambda: Tiles((), {}), "#/rows: here stands .* Write a tuple of texts that are not empty"),
        (lambda: Tiles(["."], {".": GRASS}), "#/rows"),
        (lambda: Tiles(("..", "."), {".": GRASS}), "#/rows/1: here stands '.'. Write 2 characters, as in the first row"),
        (lambda: Tiles((".?",), {".": GRASS}), "#/rows/0: here stands '[?]'. Write characters of the palette"),
        (lambda: Tiles((".",), {".": "#ffffff"}), "#/palette/.: .* Write a Tile below a single character"),
        (lambda: Tiles((".",), {"..": GRASS}), "#/palette/..: .* Write a Tile"),
        (lambda: Tiles(("." * 257,) * 256, {".": GRASS}), "#/rows: here stands '257 x 256 cells'. Write at most 65536 cells"),
        (lambda: Tiles(("." * (MOST_SIDE + 1),), {".": GRASS}), "#/rows: .* Write at most 65536 cells, and 16384 each way"),
        (lambda: Tiles((".",) * (MOST_SIDE + 1), {".": GRASS}), "#/rows: .* Write at most 65536 cells, and 16384 each way"),
        (lambda: Tiles((".",), {Nameless(): GRASS}), "#/palette/.*Nameless.*: .* Write a Tile below"),
        (lambda: Tiles(("\ud83d\ude00",), {"\ud83d": GRASS}), "#/palette/.*: .* Write a Tile below"),
        (
            lambda: Tiles((".",), {chr(32 + one): GRASS for one in range(MOST_LOOKS + 1)}),
            "#/palette: .* a tile for each character, of which there are at most 10000",
        ),
        (lambda: Drawing(0, 1), "#/width: here stands 0"),
        (lambda: Drawing(1, math.nan), "#/height: here stands nan"),
        (lambda: pond(width=4), "#/tiles: here stands '3 x 2 cells'. Write 4 x 2 of them, as the drawing is large"),
        (lambda: pond(tiles="..."), "#/tiles: here stands '...'. Write Tiles, or none"),
        (lambda: pond(marks=[]), r"#/marks: here stands \[\]. Write at most 5000 marks"),
        (lambda: pond(marks={"a": 3}), "#/marks/a: here stands 3. Write a Mark below a key of at most 120 characters"),
        (lambda: pond(marks={"a" * 121: Mark(0, 0)}), "Write a Mark below a key"),
        (lambda: pond(marks={3: Mark(0, 0)}), "#/marks/3: .* Write a Mark below a key"),
        (lambda: pond(marks={str(one): Mark(0, 0) for one in range(MOST_MARKS + 1)}), "Write at most 5000 marks"),
        (
            lambda: pond(marks={str(one): Mark(0, 0, to=((1, 1),) * 256) for one in range(MOST_CORNERS // 256 + 1)}),
            "#/marks: here stands 'lines of 20224 corners'. Write at most 20000 of them",
        ),
        (lambda: pond(marks={Nameless(): Mark(0, 0)}), "#/marks/.*Nameless.*: .* Write a Mark below a key"),
        (
            lambda: pond(marks={str(one): Mark(0, 0, agent="x" * 4000) for one in range(MOST_TEXT // 4000)}),
            "#/marks: here stands 'keys and texts of 1000640 characters'. Write at most 1000000 of them",
        ),
        (lambda: pond(image=b"GIF89a"), "#/image: here stands b'GIF89a'. Write a PNG of at most 262144 bytes and 4096 pixels"),
        (lambda: pond(image=HEAD), "#/image: here stands"),
        (lambda: pond(image=HEAD + b"\x00\x00\x00\x04\x00\x00\x10\x01"), "#/image: .* 4096 pixels each way"),
        (lambda: pond(image=HEAD + bytes(8)), "#/image: here stands"),
        (lambda: pond(image=PNG + bytes(MOST_IMAGE)), "#/image: here stands"),
        (lambda: pond(image="x"), "#/image: here stands 'x'"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_an_error_that_says_where(make, words):
    with pytest.raises(DataFault, match=words):
        make()


def test_a_drawing_is_what_it_was_when_it_was_made_whatever_a_world_does_with_its_own_marks():
    palette, marks = {".": GRASS}, {"ann": Mark(0, 0)}
    drawing = Drawing(1, 1, Tiles((".",), palette), marks)
    palette["."] = POND
    marks["ann"] = Mark(1, 0)
    assert drawing == Drawing(1, 1, Tiles((".",), {".": GRASS}), {"ann": Mark(0, 0)})


def test_the_largest_are_drawn():
    rows = ("." * 256,) * 256
    marks = {str(one): Mark(0, 0) for one in range(MOST_MARKS)}
    assert len(Drawing(256, 256, Tiles(rows, {".": GRASS}), marks).marks) == MOST_MARKS


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "^.ART200. here stands None. Write an object"),
        ([], "Write an object"),
        ({"height": 1}, "#/width: here stands None. Write what belongs there"),
        ({"width": 1, "height": 1, "tiles": 3}, "#/tiles: here stands 3. Write an object"),
        ({"width": 1, "height": 1, "tiles": {"rows": ["."]}}, "#/tiles/palette: here stands None"),
        ({"width": 1, "height": 1, "tiles": {"rows": ".", "palette": {}}}, "#/tiles/rows: here stands '.'"),
        ({"width": 1, "height": 1, "tiles": {"rows": ["."], "palette": []}}, "#/tiles/palette: .* Write an object"),
        (
            {"width": 1, "height": 1, "tiles": {"rows": ["."], "palette": {".": 1}}},
            "#/tiles/palette/.: .* Write a list",
        ),
        (
            {"width": 1, "height": 1, "tiles": {"rows": ["."], "palette": {".": ["x", "", "", False]}}},
            "#/tiles/palette/./ground: here stands 'x'",
        ),
        ({"width": 1, "height": 1, "marks": []}, "#/marks: .* Write an object of at most 5000 marks"),
        ({"width": 1, "height": 1, "marks": {"a/b~": 3}}, "#/marks/a~1b~0: here stands 3. Write an object"),
        ({"width": 1, "height": 1, "marks": {"a": {"x": 1}}}, "#/marks/a/y: here stands None. Write what belongs"),
        ({"width": 1, "height": 1, "marks": {"a": {"x": 1, "y": []}}}, r"#/marks/a/y: here stands \[\]"),
        ({"width": 1, "height": 1, "marks": {"a": {"x": 1, "y": 1, "to": {}}}}, "#/marks/a/to: here stands {}"),
        ({"width": 1, "height": 1, "marks": {"a": {"x": 1, "y": 1, "to": [3]}}}, "#/marks/a/to/0: here stands 3"),
        ({"width": 1, "height": 1, "image": "%"}, "#/image: here stands '%'. Write a PNG in base64"),
        ({"width": 1, "height": 1, "image": "aGFsbG8="}, "#/image: here stands b'hallo'"),
        ({"width": 1, "height": 1, "image": 3}, "#/image: here stands 3"),
    ],
)
def test_what_comes_from_elsewhere_is_checked_by_the_same_code(data, words):
    with pytest.raises(DataFault, match=words):
        Drawing.from_json(data)


def test_fields_that_a_newer_writer_may_have_added_are_passed_over():
    data = {"width": 1, "height": 1, "fog": 3, "marks": {"a": {"x": 0, "y": 0, "spin": 4}}}
    assert Drawing.from_json(data) == Drawing(1, 1, marks={"a": Mark(0, 0)})


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["width", "height", "tiles", "marks", "rows", "palette", "image", "x", "y", "to", "."]),
            inner,
        )
    ),
    max_leaves=20,
)


@given(anything)
def test_nothing_else_comes_out_of_reading(data):
    try:
        drawing = Drawing.from_json(data)
    except DataFault:
        return
    json.dumps(drawing.as_json(), allow_nan=False)


# --- in a terminal ----------------------------------------------------------------------------------------------------


def test_a_terminal_shows_a_character_for_each_cell():
    marks = {
        "low": Mark(0, 1, "l", "#000001"),
        "ann": Mark(0.4, 1, "AB", "#ffffff", layer=8, bold=True),
        "dot": Mark(2, 0, shape="dot", color="#00ff00"),
        "line": Mark(0, 0, to=((1, 1),)),
        "away": Mark(3, 0, "x"),
        "word": Mark(1, 0, label="a pond"),
    }
    assert glyphs(pond(marks=marks)) == [
        [Glyph(" ", "", "#263e24"), Glyph(" ", "", "#263e24"), Glyph("\N{BULLET}", "#00ff00", "#263e24")],
        [Glyph("A", "#ffffff", "#263e24", True), Glyph("~", "#6ea0dc", "#1c3868", True), Glyph(" ", "", "#263e24")],
    ]


def test_a_terminal_shows_worlds_without_tiles_if_they_are_not_too_large():
    assert glyphs(Drawing(2.5, 1, marks={"a": Mark(1, 0, "a")})) == [[Glyph(" ", "", ""), Glyph("a", "", "")]]
    with pytest.raises(DataFault, match="#/width: here stands '1000 x 1000 cells'. Write at most 65536 of them"):
        glyphs(Drawing(1000, 1000))


# --- what an action offers --------------------------------------------------------------------------------------------


def test_an_overlay_is_plain_data_when_somebody_looks():
    places = [(0, 0), (1, 0)]
    overlay = Overlay("path", places)
    assert plain({"way": overlay}) == {"way": {"draws": "path", "points": [[0, 0], [1, 0]]}}
    places.append((1, 1))
    assert plain(overlay)["points"] == [[0, 0], [1, 0], [1, 1]]
    assert len(overlay) == 2
    with pytest.raises(KeyError):
        overlay["other"]


def test_an_overlay_of_a_function_asks_it_when_somebody_looks():
    places = []
    overlay = Overlay("seen", lambda: places)
    places.append((4, 2))
    assert plain({"eyes": overlay}) == {"eyes": {"draws": "seen", "points": [[4, 2]]}}


def test_an_overlay_that_fails_hides_nothing_beside_it():
    fails = Overlay("seen", lambda: 1 / 0)
    told = {"draws": "seen", "points": "ZeroDivisionError: division by zero"}
    assert plain({"eyes": fails, "goes": Overlay("target", [(1, 2)]), "note": 3}) == {
        "eyes": told, "goes": {"draws": "target", "points": [[1, 2]]}, "note": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    "place", ["ab", 3, None, (1,), (1, 2, 3), (1, "2"), (math.nan, 1), (True, 1), (10**400, 1), {1: 2}, object()]
)
def test_places_that_are_no_pairs_of_numbers_are_left_out(place):
    assert plain(Overlay("seen", [place, (2, 3.5)])) == {"draws": "seen", "points": [[2, 3.5]]}


@pytest.mark.parametrize("length", [199, 200, 201, 1000, 30_000])
def test_a_long_path_is_thinned_and_keeps_its_ends(length):
    points = plain(Overlay("path", [(one, 0) for one in range(length)]))["points"]
    assert len(points) <= 201
    assert (points[0], points[-1]) == ([0, 0], [min(length, 20_000) - 1, 0])


class Walk(art.Action):
    does = art.TOP
    utility = 0.5

    async def run(self, ctx, args):
        ctx.get_debug_info_datastore()["way"] = Overlay("path", ((0, 0), (4, 2)))
        await ctx.sleep_ticks(10)


def test_an_overlay_is_in_the_snapshot():
    runtime = art.Runtime(host="plain")
    agent = runtime.add(art.Agent(art.Entity("human", name="Ann"), actions=[Walk]))
    runtime.step()
    (unit,) = agent.snapshot().plan.units
    assert unit.debug == {"way": {"draws": "path", "points": [[0, 0], [4, 2]]}}
    runtime.close()


# --- the hook ---------------------------------------------------------------------------------------------------------


def test_a_world_without_a_hook_has_no_drawing():
    assert art.Runtime(host="plain").draw() is None


def test_the_hook_of_a_world():
    runtime = art.Runtime(host="plain")
    runtime.drawing = pond
    assert runtime.draw() == pond()
    runtime.drawing = lambda: None
    assert runtime.draw() is None
    assert runtime.drawing is not None  # nothing to show now is no failure


@pytest.mark.parametrize(
    ("hook", "words"),
    [
        (lambda: 1 / 0, "division by zero"),
        (lambda: Drawing(3, 2, marks={"a": Mark(0, 0, color="red")}), "#/color: here stands 'red'"),
        (dict, "runtime.drawing: it returned a dict. Return an agentrt.drawing.Drawing, or None."),
        (lambda: type("Own", (Drawing,), {})(1, 1), "runtime.drawing: it returned a Own. Return an agentrt.drawing."),
    ],
)
def test_a_hook_that_fails_is_dropped_and_told_once(hook, words):
    sim = Simulation()
    digest = TraceDigest(sim.runtime.trace)
    before = digest.hexdigest()
    faults = []
    sim.runtime.on_fault(faults.append)
    sim.runtime.drawing = hook
    for _ in range(3):
        assert sim.runtime.draw() is None
    (fault,) = faults
    assert fault.text == "the hook that draws the world failed; it is not asked again"
    assert words in str(fault.error)
    assert sim.runtime.drawing is None
    assert digest.hexdigest() == before  # it is no part of the run


@pytest.mark.parametrize("method", ["step", "close"])
def test_a_hook_cannot_drive_what_it_draws(method):
    runtime = art.Runtime(host="plain")
    faults = []
    runtime.on_fault(faults.append)

    def draw():
        getattr(runtime, method)()
        return pond()

    runtime.after_tick(runtime.draw)
    runtime.drawing = draw
    for _ in range(3):
        runtime.step()
    assert (runtime.tick, runtime.drawing) == (3, None)
    (fault,) = faults
    assert f"runtime.{method} cannot be called while a tick runs" in str(fault.error)
    runtime.drawing = pond
    assert runtime.draw() == pond()
    runtime.close()


def test_what_ends_the_program_ends_it():
    def interrupted():
        raise KeyboardInterrupt

    runtime = art.Runtime(host="plain")
    runtime.drawing = interrupted
    with pytest.raises(KeyboardInterrupt):
        runtime.draw()
