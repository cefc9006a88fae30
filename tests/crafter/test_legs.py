"""The skills of the body, each on a little world of the game itself, driven by a runtime of one tick a step."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import load

pytest.importorskip("crafter")

from examples.crafter import legs
from examples.crafter.legs import CannotAct
from examples.crafter.reach import START
from examples.crafter.rules import COW, MATERIALS, SIDES

scenes = load("tests/crafter/scenes.py")
Scene = scenes.Scene

ALL = {"wood_pickaxe": 1, "stone_pickaxe": 1, "iron_pickaxe": 1}
LEFT, RIGHT, UP, DOWN = "move_left", "move_right", "move_up", "move_down"


# --- go ---------------------------------------------------------------------------------------------------------------


def test_it_goes_the_shortest_way():
    with Scene("""
        ~~~~~
        ~@.~~
        ~~.x~
    """) as scene:
        scene.do(legs.go, scene["x"])
        assert scene.did == [RIGHT, DOWN, RIGHT]
        assert scene.place == scene["x"]


def test_who_is_there_goes_nowhere():
    with Scene("@") as scene:
        scene.do(legs.go, START)
        assert scene.did == []


def test_it_digs_where_that_is_shorter():
    with Scene("~~~~~~\n~@#Tx~\n~~~~~~", ALL) as scene:
        scene.do(legs.go, scene["x"])
        assert scene.did == [RIGHT, "do", RIGHT, "do", RIGHT, RIGHT]
        assert scene.player.inventory["stone"] == scene.player.inventory["wood"] == 1


def test_it_walks_round_where_that_is_shorter():
    with Scene("......\n.@##x.\n~~~~~~", ALL) as scene:
        scene.do(legs.go, scene["x"])
        assert scene.did == [UP, RIGHT, RIGHT, RIGHT, DOWN]


@pytest.mark.parametrize(("mark", "items"), [("#", {}), ("i", {"wood_pickaxe": 1}), ("t", ALL), ("~", ALL), ("L", ALL)])
def test_where_there_is_no_way_it_says_so_at_once(mark, items):
    with Scene(f"~~~~~\n~@{mark}x~\n~~~~~", items) as scene:
        with pytest.raises(CannotAct, match="there is no way") as caught:
            scene.do(legs.go, scene["x"])
        assert caught.value.reason == "there is no way"
        assert scene.did == []


def test_what_was_never_seen_is_no_way():
    with Scene("@" + "." * 10 + "x", knows=False) as scene:
        with pytest.raises(CannotAct):
            scene.do(legs.go, scene["x"])
        assert scene.did == []


def test_far_enough_is_what_it_is_told():
    with Scene("@....x") as scene:
        scene.do(legs.go, scene["x"], lambda: len(scene.did) == 2)
        assert scene.did == [RIGHT, RIGHT]


def test_it_goes_round_a_cow_that_comes_in_the_way():
    with Scene("""
        .......
        .@...x.
        .......
        .C.....
    """) as scene:
        cow = scene.garden.creatures[0]

        def moves():
            if scene.game._step == 3:
                scene.game._world.move(cow, scene.true((START[0] + 3, START[1])))

        cow.update = moves
        scene.do(legs.go, scene["x"])
        assert scene.place == scene["x"]
        assert len(scene.did) == 6
        assert "noop" not in scene.did


def test_it_waits_for_a_cow_that_nobody_gets_past():
    with Scene("""
        ~~~~~~~
        ~@.C.x~
        ~~~.~~~
    """) as scene:
        cow = scene.garden.creatures[0]
        cow.update = lambda: scene.game._step == 7 and cow.move((0, 1))
        scene.do(legs.go, scene["x"])
        assert scene.did == [RIGHT, *["noop"] * 5, RIGHT, RIGHT, RIGHT]


def test_it_does_not_wait_for_ever():
    with Scene("~~~~~~\n~@C.x~\n~~~~~~") as scene:
        with pytest.raises(CannotAct, match="there is no way"):
            scene.do(legs.go, scene["x"])
        assert set(scene.did) == {"noop"}
        assert len(scene.did) < 60


def test_it_turns_back_where_water_comes_to_light():
    """What was taken for grass is what it is when it is seen."""
    with Scene("..........\n@.....~~.x") as scene:
        scene.player.atlas.ground[START[0] + 6, START[1]] = MATERIALS["grass"]
        scene.player.atlas.ground[START[0] + 7, START[1]] = MATERIALS["grass"]
        scene.player.atlas.version += 1
        scene.do(legs.go, scene["x"])
        assert scene.did.count(RIGHT) == 9
        assert sorted(set(scene.did)) == [DOWN, RIGHT, UP]
        assert len(scene.did) == 11


# --- lava -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.text("...L.#_", min_size=25, max_size=25),
    st.integers(0, 24),
    st.sampled_from(["go", "aim", "approach", "place"]),
)
def test_lava_is_never_stepped_on(text, goal, skill):
    """Whatever is asked, and whether it knows the place or sees it for the first time."""
    rows = ["".join(text[5 * y : 5 * y + 5]) for y in range(5)]
    rows[2] = rows[2][:2] + "@" + rows[2][3:]
    cell = (START[0] - 2 + goal % 5, START[1] - 2 + goal // 5)
    with Scene("\n".join(rows), {"wood_pickaxe": 1, "stone": 5}, beyond="lava", knows=goal % 2 == 0) as scene:
        try:
            if skill == "place":
                scene.do(legs.place, "stone", cell)
            else:
                scene.do(getattr(legs, skill), cell)
        except CannotAct:
            pass
        assert scene.body.health > 0
        assert scene.material(scene.place) != "lava"


def test_nobody_turns_toward_lava():
    with Scene("...\n.@L\n...") as scene:
        with pytest.raises(CannotAct, match="lava"):
            scene.do(legs.face, (START[0] + 1, START[1]))
        with pytest.raises(CannotAct, match="lava"):
            scene.do(legs.approach, (START[0] + 1, START[1]))
        assert scene.did == []


def test_nobody_turns_toward_what_was_not_seen():
    with Scene("...\n.@L\n...") as scene:
        scene.player.atlas.ground[START[0] + 1, START[1]] = 0
        with pytest.raises(CannotAct):
            scene.do(legs.dig, (START[0] + 1, START[1]))
        assert scene.did == []


def test_lava_is_closed_from_a_step_away():
    with Scene("....\n.@L.\n....", {"stone": 1}) as scene:
        scene.do(legs.place, "stone", (START[0] + 1, START[1]))
        assert scene.did == [LEFT, RIGHT, "place_stone"]
        assert scene.material((START[0] + 1, START[1])) == "stone"


# --- dig, face, approach ----------------------------------------------------------------------------------------------


def test_it_digs():
    with Scene(".#.\n#@#\n.#.", {"wood_pickaxe": 1}) as scene:
        for x, y in SIDES:
            scene.do(legs.dig, (START[0] + x, START[1] + y))
            assert scene.material((START[0] + x, START[1] + y)) == "path"
        assert scene.did == [LEFT, "do", RIGHT, "do", UP, "do", DOWN, "do"]


def test_what_does_not_give_way_is_given_up():
    with Scene("d@") as scene:
        with pytest.raises(CannotAct, match="does not give way"):
            scene.do(legs.dig, scene["d"])
        assert scene.did == [LEFT, "do", "do", "do", "do"]


def test_nobody_digs_through_a_cow():
    with Scene("C@") as scene, pytest.raises(CannotAct, match="somebody"):
        scene.do(legs.dig, scene["C"])


def test_it_faces_what_it_faces_already_in_no_time():
    with Scene("T@") as scene:
        scene.do(legs.face, scene["T"])
        scene.do(legs.face, scene["T"])
        assert scene.did == [LEFT]


@pytest.mark.parametrize("mark", "T~#t")
def test_it_comes_up_to_what_blocks_the_way(mark):
    with Scene(f"......\n@....{mark}\n......") as scene:
        scene.do(legs.approach, scene[mark])
        assert scene.did == [RIGHT] * 4
        assert scene.player.ahead == scene[mark]
        scene.do(legs.approach, scene[mark])
        assert len(scene.did) == 4


def test_it_comes_up_from_a_side_where_it_can_stand():
    with Scene("~~~~~~\n@~~T~~\n....~~") as scene:
        scene.do(legs.approach, scene["T"])
        assert scene.did == [DOWN, RIGHT, RIGHT, RIGHT, UP]
        assert tuple(scene.body.facing) == (0, -1)


def test_what_nobody_comes_up_to_is_given_up():
    with Scene("@.~T~") as scene:
        with pytest.raises(CannotAct, match="there is no way"):
            scene.do(legs.approach, scene["T"])
        assert scene.did == []


def test_an_approach_ends_where_it_is_told():
    with Scene("@....T") as scene:
        scene.do(legs.approach, scene["T"], lambda: len(scene.did) == 2)
        assert scene.did == [RIGHT, RIGHT]


# --- aim, place -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("side", "move"), [((-1, 0), LEFT), ((1, 0), RIGHT), ((0, -1), UP), ((0, 1), DOWN)])
@pytest.mark.parametrize("far", [1, 2, 3])
def test_it_aims_at_free_ground_from_each_side(side, move, far):
    """It steps up to it in a straight line, from two cells away if there is no better place."""
    row = "." * 11
    with Scene("\n".join([row] * 5 + ["." * 5 + "@" + "." * 5] + [row] * 5)) as scene:
        cell = (START[0] + far * side[0], START[1] + far * side[1])
        scene.do(legs.aim, cell)
        assert scene.player.ahead == cell
        assert tuple(scene.body.pos) == scene.true(scene.player.place)
        assert tuple(scene.body.facing) == scene.player.facing
        if far > 1:
            assert scene.did == [move] * (far - 1)
        elif side == (0, 1):
            assert scene.did == []  # it faces that way at the beginning
        else:
            assert 2 <= len(scene.did) <= 5


def test_what_it_faces_it_aims_at_already():
    with Scene("...\n.@.\n...") as scene:
        scene.do(legs.aim, (START[0], START[1] + 1))
        assert scene.did == []


def test_it_aims_from_where_it_may_stand():
    with Scene("""
        .......
        ...x...
        .......
        ...@...
        .......
    """) as scene:
        stand = (scene["x"][0] + 1, scene["x"][1])
        scene.do(legs.aim, scene["x"], {stand})
        assert scene.player.place == stand
        assert scene.player.ahead == scene["x"]


def test_it_leaves_the_ground_that_it_aims_at():
    with Scene(".....\n..@..\n.....") as scene:
        scene.do(legs.aim, START)
        assert scene.player.ahead == START
        assert scene.material(START) == "grass"


def test_in_a_narrow_place_there_is_nowhere_to_aim_from():
    with Scene("~~~~\n~@.~\n~~~~") as scene:
        with pytest.raises(CannotAct, match="no place"):
            scene.do(legs.aim, (START[0] + 1, START[1]))
        assert scene.did == []


def test_it_aims_at_a_sapling_as_at_what_blocks_the_way():
    with Scene("~~~~\n~@P~\n~~~~") as scene:
        scene.do(legs.aim, scene["P"])
        assert scene.did == [RIGHT]
        assert scene.player.ahead == scene["P"]


@pytest.mark.parametrize(
    ("thing", "mark"),
    [("stone", "~"), ("stone", "."), ("table", "."), ("table", ","), ("furnace", "_"), ("plant", ".")],
)
def test_it_places(thing, mark):
    with Scene(f".......\n...@..{mark}\n.......", {"stone": 9, "wood": 9, "sapling": 1}) as scene:
        cell = (START[0] + 3, START[1])
        scene.do(legs.place, thing, cell)
        assert scene.did == [RIGHT, RIGHT, f"place_{thing}"]
        assert thing == "plant" or scene.material(cell) == thing
        assert scene.achieved == {f"place_{thing}"}


@pytest.mark.parametrize(("thing", "mark"), [("plant", ","), ("table", "~"), ("stone", "T"), ("furnace", ".")])
def test_what_cannot_be_placed_there_is_given_up(thing, mark):
    with Scene(f".......\n...@..{mark}\n.......", {"stone": 1, "wood": 9, "sapling": 1}) as scene:
        with pytest.raises(CannotAct, match="cannot be placed"):
            scene.do(legs.place, thing, (START[0] + 3, START[1]))
        assert scene.achieved == set()


def test_a_bar_that_falls_in_that_step_is_no_placing():
    with Scene("...@..T") as scene:
        scene.do(legs.aim, scene["T"])
        scene.body._hunger = 25
        with pytest.raises(CannotAct, match="cannot be placed"):
            scene.do(legs.place, "stone", scene["T"])
        assert scene.player.inventory["food"] == 8


def test_nothing_is_placed_on_a_cow():
    with Scene("...@.C.", {"stone": 1}) as scene:
        with pytest.raises(CannotAct, match="somebody stands there"):
            scene.do(legs.place, "stone", scene["C"])
        assert "place_stone" not in scene.did


# --- creatures --------------------------------------------------------------------------------------------------------


def test_it_follows_a_cow_and_strikes_until_it_is_gone():
    with Scene("~~~~~~\n~@..C~\n~~~~~~", alive=True, seed=3) as scene:

        async def hunt(player):
            while "eat_cow" not in player.diary.achieved:
                cell = await legs.walk_up_to(player, lambda: player.closest(COW), 60)
                await legs.strike(player, cell, 6)

        scene.do(hunt)
        assert scene.achieved == {"eat_cow"}
        assert scene.did.count("do") >= 3


def test_who_is_out_of_sight_has_got_away():
    with Scene("@.....") as scene, pytest.raises(CannotAct, match="got away"):
        scene.do(legs.walk_up_to, lambda: None, 10)


def test_a_chase_is_given_up():
    with Scene("~~~~~~~~~~~~~~~~~~~~~~\n~@.C................~~\n~~~~~~~~~~~~~~~~~~~~~~") as scene:
        cow = scene.garden.creatures[0]
        cow.update = lambda: cow.move((1, 0))
        with pytest.raises(CannotAct, match="got away"):
            scene.do(legs.walk_up_to, lambda: scene.player.closest(COW), 8)
        assert scene.did == [RIGHT] * 8


def test_blows_have_a_limit_and_hit_nobody_else():
    with Scene("Z@.") as scene:
        scene.do(legs.face, scene["Z"])
        scene.do(legs.strike, scene["Z"], 3)
        assert scene.did == [LEFT, "do", "do", "do"]
        assert scene.garden.creatures[0].health == 2
        scene.do(legs.strike, (START[0] + 1, START[1]), 3)
        assert len(scene.did) == 4


def test_a_sleeper_acts_when_it_is_awake():
    with Scene("...@...", steps=60) as scene:
        scene.body.inventory["energy"] = 8
        scene.step("sleep")
        scene.do(legs.go, (START[0] + 2, START[1]))
        assert scene.did[-2:] == [RIGHT, RIGHT]
        assert set(scene.did[1:-2]) == {"noop"}
        assert scene.achieved == {"wake_up"}
