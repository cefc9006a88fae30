"""The live view: what is drawn of a known state, literally, in whatever room there is."""

from __future__ import annotations

import dataclasses
import io
from types import SimpleNamespace

import pytest

pytest.importorskip("crafter")

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

import agentrt as art
from agentrt.drawing import glyphs
from agentrt.goals import LOOK, MOVE, Goal, GoalSelector
from agentrt.strategy import Branch, Dependency, RequestView, Strategy, StrategyContext, TaskNodeView, strategy
from agentrt.testing import Simulation
from examples.crafter.chart import cells, draw
from examples.crafter.game import Episode
from examples.crafter.player import Player
from examples.crafter.reach import START
from examples.crafter.rules import ACHIEVEMENTS, COW, EDGE, MATERIALS, UNKNOWN, ZOMBIE
from examples.crafter.screen import Screen

MARKS = {"~": "water", ".": "grass", "#": "stone", "_": "path", ":": "sand", "t": "tree", "l": "lava", "c": "coal",
         "i": "iron", "d": "diamond", "T": "table", "F": "furnace"}  # fmt: skip
NUMBERS = {**{mark: MATERIALS[name] for mark, name in MARKS.items()}, "?": UNKNOWN, "|": EDGE}

MAP = """
    ???????????????
    ?~~~~~::...tt?|
    ?~~~~::....tt.|
    ?~~~::.......t|
    ?::::........t|
    ?.......@.....|
    ?..T..__.....#|
    ?..F.__##...##|
    ?....__#ci..##|
    ?tt..___dl####|
    ???????????????
"""


def put(player, text):
    rows = text.split()
    [(here, middle)] = [(row.index("@"), number) for number, row in enumerate(rows) if "@" in row]
    for y, row in enumerate(rows):
        for x, mark in enumerate(row):
            player.atlas.ground[START[0] + x - here, START[1] + y - middle] = NUMBERS.get(mark, MATERIALS["grass"])


class Have(Dependency[None], activity="screen:have"):
    """A thing is there."""

    item: str


class Craft(Strategy):
    """Make it of wood."""

    provides = Have
    status_text_key = "makes a sword"

    def foresee(self, ask, wanted):
        if wanted.item != "sword":
            ask.cannot("that is not made")
        return [Branch(1.0, 8.0, (Have("wood"), Have("wood_table"), Have("string")))]

    async def run(self, ctx, wanted):
        await ctx.solve(Have("wood"))
        await ctx.solve(Have("wood_table"))
        await ctx.solve(Have("string"))


@strategy(Have, estimate=lambda ask, wanted: None if wanted.item == "sword" else 20.0)
async def find(ctx: StrategyContext, wanted: Have) -> None:
    """Look for it."""
    await ctx.sleep(3 if wanted.item == "wood" else 40)


class Ambition(art.Action):
    does = art.TOP
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.agent.gameplay.have("sword")


class Rest(art.Action):
    does = art.TOP
    utility = 0.31

    async def run(self, ctx, args):
        await ctx.sleep(99)


class Ride(Rest):
    utility = 0.9

    async def think(self, ctx, args):
        ctx.reject("there is nobody to ride")


class Watch(Goal):
    flags = {LOOK}

    def can_use(self):
        return True


class Flee(Watch):
    flags = {MOVE}

    def can_use(self):
        return False


@pytest.fixture
def shown():
    """A screen of a state that was put together by hand."""
    player = Player()
    put(player, MAP)
    player.step, player.facing = 96, (1, 0)
    player.inventory.update(health=7, food=5, drink=2, wood=5, stone=1, wood_pickaxe=1, stone_pickaxe=1, wood_sword=1)
    x, y = START
    player.atlas.creatures = {(x + 2, y - 2): COW, (x - 3, y + 1): ZOMBIE}
    player.atlas.herd = {(x + 2, y - 2): 96, (x - 6, y + 4): 50}
    player.atlas.plants = {(x, y - 1): 12, (x + 5, y): 301}
    selector = GoalSelector(name="reflexes")
    for priority, goal in enumerate((Flee(), Watch()), 1):
        selector.add_goal(priority, goal)
    runtime = art.Runtime(1, ticks_per_second=1, host="plain")
    agent = runtime.add(art.Agent(player, name="player", actions=[Ambition, Rest, Ride], drivers=[selector]))
    agent.gameplay.add_strategy(Craft, find)
    for _ in range(8):
        runtime.step()
    yield Screen(player, agent, {"collect_wood": 4, "place_table": 21, "eat_cow": 90}, "Crafter, seed 3", "move_left")
    runtime.close()


def drawn(screen, width, height):
    file = io.StringIO()
    console = Console(
        file=file, width=width, height=height, force_terminal=True, color_system=None, legacy_windows=False
    )
    console.print(screen, height=height)
    return file.getvalue().removesuffix("\n").split("\n")


SMALL = """\
╭─ Crafter, seed 3 ────────────────────╮╭─ awake ──────────────────────────────╮
│                                      ││step 96  day 1, day, light 95 %       │
│    ~ ~ ~ ~ ~ : : . . . ♣ ♣           ││health ███████░░ 7  food   █████░░░░ 5│
│    ~ ~ ~ ~ : : . . . . ♣ ♣ .         ││drink  ██░░░░░░░ 2  energy █████████ 9│
│    ~ ~ ~ : : . . . . C . . ♣         ││5 wood, 1 stone, pickaxe: wood stone  │
│    : : : : . . . + . . . . ♣         ││sword: wood                           │
│    . . . . . . . ▶ . . . . ♠         ││achieved 3 of 22                      │
│    . . T . Z     . . . . . #         ││eat cow 90, place table 21            │
│    . . F .     # # . . . # #         ││collect wood 4, missing: collect coal │
│    . . . .     # o i . . # #         ││collect diamond, collect drink        │
│    ♣ c . .       ♦ % # # # #         ││collect iron, collect sapling         │
│                                      ││collect stone, defeat skeleton        │
╰────────────────────── what it knows ─╯╰───────────────────── Ctrl-C ends it ─╯
╭─ what it does, and why ──────────────────────────────────────────────────────╮
│makes a sword  now: move left                                                 │
│plan ambition  reflexes Watch                                                 │
│> Have [sword] by Craft, 7 of about 68 steps                                  │
│  ✓ Have [wood], 3 steps                                                      │
│  > Have [wood table] by Find, 4 of about 20 steps                            │
│  · Have [string] (about 20 steps)                                            │
│ambition 0.50+0.05 over rest 0.31                                             │
│  not ride 0.90: rejected: there is nobody to ride                            │
│Find 20 steps  Have [wood table]                                              │
╰──────────────────────────────────────────────────────────────────────────────╯
"""


def test_eighty_columns_and_twenty_four_rows(shown):
    assert "\n".join(drawn(shown, 80, 24)) == SMALL.rstrip("\n")


def test_it_uses_what_room_there_is(shown):
    lines = drawn(shown, 140, 45)
    right = "\n".join(line[88:] for line in lines[:26])
    assert all(name.replace("_", " ") in right for name in ACHIEVEMENTS)
    assert "health ███████░░ 7\n" in "\n".join(line[89:].rstrip(" │") for line in lines[:26]) + "\n"
    assert any(line.startswith("╭─ what it does ──") and "╭─ why ──" in line for line in lines)


@pytest.mark.slow
@given(st.integers(60, 180), st.integers(16, 60))
def test_it_fits_into_any_room(shown_once, width, height):
    lines = drawn(shown_once, width, height)
    assert len(lines) == height
    assert {len(line) for line in lines} == {width}


@pytest.fixture(scope="module")
def shown_once():
    yield from shown._get_wrapped_function()()


def signs(player, columns=15, rows=11):
    return ["".join(glyph.sign for glyph in row) for row in cells(player, columns, rows)]


def test_the_player_looks_where_it_faces_and_sleeps(shown):
    player = shown.player
    for facing, sign in {(-1, 0): "◀", (1, 0): "▶", (0, -1): "▲", (0, 1): "▼"}.items():
        player.facing = facing
        assert signs(player)[5][7] == sign
    player.is_asleep = True
    assert signs(player)[5][7] == "z"


def test_beyond_the_end_of_the_world_there_is_nothing(shown):
    shown.player.atlas.ground[:] = EDGE
    shown.player.atlas.ground[START] = MATERIALS["grass"]
    shown.player.atlas.creatures, shown.player.atlas.plants, shown.player.atlas.herd = {}, {}, {}
    for place in ((0, 0), START):
        shown.player.place = place
        picture = cells(shown.player, 9, 7)
        others = {glyph for y, row in enumerate(picture) for x, glyph in enumerate(row) if (x, y) != (4, 3)}
        assert others == {(" ", "#000000", "#000000", False)}


def test_what_the_night_hides_is_veiled(shown):
    player = shown.player
    player.atlas.ground[8:-8, 8:-8] = MATERIALS["grass"]
    player.atlas.creatures, player.atlas.plants, player.atlas.herd = {}, {}, {}
    player.step = 210  # the darkest step of the first day
    hidden = np.array([[sign == "░" for sign in row] for row in signs(player)])
    view = hidden[2:9, 3:12]
    assert view.sum() == hidden.sum()  # nothing outside of what it could see
    assert np.concatenate([view[0], view[-1], view[:, 0], view[:, -1]]).all()
    assert not view[1:-1, 2:-2].any()
    player.step = 60
    assert not any("░" in row for row in signs(player))


def test_what_is_in_view_is_brighter_than_what_is_remembered(shown):
    player = shown.player
    player.atlas.ground[8:-8, 8:-8] = MATERIALS["grass"]
    player.atlas.creatures, player.atlas.plants, player.atlas.herd = {}, {}, {}
    player.step = 60
    bright = np.array([[sum(bytes.fromhex(glyph.ground[1:])) for glyph in row] for row in cells(player, 15, 11)])
    seen = np.zeros((11, 15), bool)
    seen[2:9, 3:12] = True
    assert len(set(bright[seen])) == len(set(bright[~seen])) == 1
    assert bright[seen].min() > bright[~seen].max()


def lives(looks):
    """The digest of thirty ticks of an agent that somebody looks at, so often in each."""
    sim = Simulation(seed=1)
    agent = sim.add(art.Agent(Player(), name="player", actions=[Ambition, Rest, Ride]))
    agent.gameplay.add_strategy(Craft, find)
    for _ in range(30):
        sim.tick()
        for _ in range(looks):
            drawn(Screen(agent.entity, agent, {}), 80, 24)
    sim.close()
    return sim.digest()


@pytest.mark.slow
def test_looking_changes_nothing():
    assert lives(0) == lives(3)


SHORT = """\
makes a sword  now: move left
plan ambition  reflexes Watch
> Have [sword] by Craft, 7 of about 68 steps
  > Have [wood table] by Find, 4 of about 20 steps
"""


def test_where_there_is_little_room_what_is_under_way_stays(shown):
    lines = [line.strip("│").rstrip() for line in drawn(shown, 80, 18)]
    assert "\n".join(lines[-8:-4]) == SHORT.rstrip("\n")


def test_of_a_deep_tree_the_outermost_and_the_innermost_are_shown(shown):
    node = TaskNodeView("dependency", "Thing 9", "running", "9", began=5)
    for number in range(8, -1, -1):
        node = TaskNodeView("dependency", f"Thing {number}", "running", f"{number}", began=5, children=(node,))
        node = dataclasses.replace(node, kind="activity")
    request = RequestView("", 1, (), node)
    lived = shown.agent.snapshot()
    deep = dataclasses.replace(lived, strategies=dataclasses.replace(lived.strategies, requests=(request,)))
    screen = Screen(shown.player, SimpleNamespace(snapshot=lambda: deep), {})
    things = [line.strip("│ ") for line in drawn(screen, 80, 24) if "Thing" in line]
    assert [line.partition(",")[0] for line in things] == ["> Thing 0", "> Thing 7", "> Thing 8", "> Thing 9"]


def test_no_text_controls_the_terminal():
    from examples.crafter.screen import _cut, _panel

    out = io.StringIO()
    console = Console(file=out, width=60, color_system=None, force_terminal=True)
    line = Text("why\x1b[2J\x9b\u202e ")
    line.append("[red]", "bold")
    console.print(_panel(_cut([line], 50), "a title\x9b[link=x]", foot="\x07"), no_wrap=True)
    assert "why\ufffd[2J\ufffd\ufffd [red]" in out.getvalue()
    assert all(one.isprintable() for one in out.getvalue().splitlines())


# --- the drawing that the world offers ----------------------------------------------------------------------------------


@pytest.mark.states("tools: World: The colony, the miner and Crafter offer theirs; terminal views are made of the same")
def test_the_world_offers_the_whole_map():
    with Episode(2, length=200) as episode:
        for _ in range(120):
            episode.advance()
        drawing = episode.runtime.draw()
        assert (drawing.width, drawing.height) == (64, 64)
        (me,) = [mark for mark in drawing.marks.values() if mark.agent == episode.agent.name]
        x, y = episode.player.place
        assert (me.x, me.y) == (x - 8, y - 8)
        seen = glyphs(drawing)
        around = [row[x - 8 - 4 : x - 8 + 5] for row in seen[y - 8 - 3 : y - 8 + 4]]
        assert around == cells(episode.player, 9, 7)


def test_the_way_that_it_goes_is_drawn(shown):
    shown.player.way = [(41, 40), (42, 40), (42, 41)]
    shown.player.place = (40, 40)
    way = draw(shown.player).marks["way"]
    assert [(way.x, way.y), *way.to] == [(32, 32), (33, 32), (34, 32), (34, 33)]
    shown.player.way = []
    assert "way" not in draw(shown.player).marks
