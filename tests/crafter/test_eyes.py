"""What a player sees, and that nothing else gets into it: not by symbols, not by the place, not by any other key."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from modules import load

pytest.importorskip("crafter")

from agentrt import TOP, Action, Agent
from examples.crafter import eyes, game, legs, sites
from examples.crafter.eyes import DAY, VIEW, Eyes
from examples.crafter.rules import (
    ACTIONS,
    ARROW,
    COW,
    CREATURES,
    EDGE,
    HIDDEN,
    MATERIALS,
    PLANT,
    PLAYER,
    SKELETON,
    ZOMBIE,
)

scenes = load("tests/crafter/scenes.py")
Scene = scenes.Scene

NAMES = {number: name for name, number in {**MATERIALS, **CREATURES}.items()}
MIDNIGHT = 210  # the first step in which it is darkest


class Watched:
    """The symbols of the game, which can be cut into and nothing else; it writes down which cells were cut out."""

    def __init__(self, symbols):
        self._symbols = symbols
        self.shape = symbols.shape
        self.read = set()

    def __getitem__(self, part):
        columns, rows = (range(size)[one] for size, one in zip(self.shape, part, strict=True))
        self.read |= {(x, y) for x in columns for y in rows}
        return self._symbols[part]


class Keys(dict):
    """A dictionary that writes down which of its keys were asked for, and cannot be listed."""

    def __init__(self, info):
        super().__init__(info)
        self.asked = set()

    def __getitem__(self, key):
        self.asked.add(key)
        return super().__getitem__(key)

    def _refuse(self, *_):
        raise AssertionError("the eyes look around in the dictionary")

    __iter__ = keys = values = items = get = copy = _refuse


def view_of(place, shape=(64, 64)):
    """The nine by seven cells around a place, as far as there is a world."""
    return {
        (x, y)
        for x in range(place[0] - 4, place[0] + 5)
        for y in range(place[1] - 3, place[1] + 4)
        if 0 <= x < shape[0] and 0 <= y < shape[1]
    }


def garbled(info, dice):
    """What the game returned, with garbage in all that a player does not see."""
    symbols = dice.integers(1, 19, info["semantic"].shape).astype(np.uint8)
    for cell in view_of(tuple(info["player_pos"])):
        symbols[cell] = info["semantic"][cell]
    return {
        "semantic": symbols,
        "player_pos": info["player_pos"],
        "inventory": info["inventory"],
        "achievements": {name: int(dice.integers(9)) for name in info["achievements"]},
        "discount": float(dice.random()),
        "reward": float(dice.random()),
    }


# --- what is read -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def _made_before():
    """The one real world of this folder is made in the setting up of a module, if it is not there yet."""
    scenes.wander()


def test_only_the_view_is_read_of_the_symbols_and_four_keys_of_the_rest():
    moments, _ = scenes.wander()
    looking = Eyes()
    for moment in moments:
        info = Keys({**moment.info, "semantic": Watched(moment.info["semantic"])})
        looking.see(moment.picture, info)
        assert info["semantic"].read <= view_of(tuple(moment.info["player_pos"]))
        assert info.asked == {"semantic", "player_pos", "inventory"}


def test_garbage_outside_the_view_changes_nothing_that_is_seen():
    moments, _ = scenes.wander()
    dice = np.random.default_rng(1)
    one, other = Eyes(), Eyes()
    for moment in moments:
        true = one.see(moment.picture, moment.info)
        false = other.see(moment.picture, garbled(moment.info, dice))
        assert (true.cells == false.cells).all()
        assert (true.step, true.scrolled, true.is_asleep, true.inventory) == (
            false.step, false.scrolled, false.is_asleep, false.inventory
        )  # fmt: skip


def test_garbage_in_the_view_does_change_what_is_seen():
    """So the test above can fail."""
    moments, _ = scenes.wander()
    info = dict(moments[0].info)
    info["semantic"] = info["semantic"].copy()
    x, y = info["player_pos"]
    info["semantic"][x + 4, y + 3] += 1
    assert (
        Eyes().see(moments[0].picture, info).cells != Eyes().see(moments[0].picture, moments[0].info).cells
    ).sum() == 1


def test_where_the_world_lies_cannot_be_told():
    """The same episode somewhere else in a larger world looks the same: no place is taken, only how it changes."""
    moments, _ = scenes.wander()
    shift = np.array([9, 4])
    one, other = Eyes(), Eyes()
    other._at = tuple(32 + shift)
    for moment in moments:
        symbols = np.zeros((90, 80), np.uint8)
        symbols[9:73, 4:68] = moment.info["semantic"]
        x, y = moment.info["player_pos"]
        if not (4 <= x < 60 and 3 <= y < 61):
            continue
        true = one.see(moment.picture, moment.info)
        moved = other.see(moment.picture, {**moment.info, "semantic": symbols, "player_pos": np.array((x + 9, y + 4))})
        assert (true.cells == moved.cells).all()
        assert true.scrolled == moved.scrolled


class Curious(Action):
    """Goes to what it sees: what it does rests on its map and on who is about."""

    does = TOP
    utility = 0.1

    async def run(self, ctx, args):
        player = ctx.entity
        for thing in ("tree", "tree", "water", "tree"):
            found = player.atlas.nearest(player.reach, thing)
            goal = found or sites.frontier(player.atlas, player.reach)
            try:
                if found:
                    await legs.approach(player, found[0])
                    await player.act("do")
                else:
                    await legs.go(player, goal[0])
            except legs.CannotAct:
                await player.act("noop")
        if player.has("wood", 2):
            await player.act("place_table")
        await player.act(f"make_{ctx.random.choice(('wood_pickaxe', 'wood_sword'))}")
        await player.act(ctx.random.choice(("sleep", "do")))


class Blinkered(Eyes):
    """Eyes that are given garbage where they should not look."""

    def __init__(self):
        super().__init__()
        self.dice = np.random.default_rng(2)

    def see(self, picture, info):
        return super().see(picture, garbled(info, self.dice))


@pytest.mark.slow
def test_an_episode_with_garbage_outside_the_view_is_the_same(monkeypatch):
    """Whoever is deceived about all that it does not see does the very same things."""
    monkeypatch.setattr(game, "make_mind", lambda player: Agent(player, name="player", actions=[Curious]))
    digests, notes = [], []
    for kind in (Eyes, Blinkered):
        with scenes.worlds_are_remembered(), game.Episode(4, length=230) as episode:
            episode._eyes = kind()
            while not episode.is_over:
                episode.advance()
                episode._game._player.inventory["health"] = 9
            digests.append(episode.digest)
            made = hashlib.blake2b(episode.player.atlas.ground.tobytes(), digest_size=8)
            made.update(repr(sorted(episode.player.atlas.creatures.items())).encode())
            notes.append((made.hexdigest(), episode.player.diary.achieved, episode.player.place))
    assert episode.step == 230
    assert "collect_wood" in notes[0][1]
    assert digests[0] == digests[1]
    assert notes[0] == notes[1]


# --- what is seen -----------------------------------------------------------------------------------------------------


def drawn(textures, moment, cell, number):
    """How the game draws what stands in a cell, by day."""
    names = {PLAYER: {(-1, 0): "left", (1, 0): "right", (0, -1): "up", (0, 1): "down"}[moment.facing]}
    size = np.array((7, 7))
    ground = textures.get(NAMES[int(moment.ground[cell])], size)[..., :3].astype(float)
    if number in MATERIALS.values():
        return ground
    name = f"player-{names[PLAYER]}" if number == PLAYER else NAMES[number]
    above = textures.get(name, size).astype(float)
    share = above[..., 3:] / 255
    return share * above[..., :3] + (1 - share) * ground


def test_the_cells_are_those_of_the_picture():
    """At noon the picture is drawn without a tint. Each number is what is drawn in its cell of seven by seven pixels."""
    moments, played = scenes.wander()
    looking, kinds = Eyes(), set()
    for moment in moments[:66]:
        sight = looking.see(moment.picture, moment.info)
        if eyes.daylight(sight.step) < 0.9999 or moment.sleeping:
            continue
        x, y = moment.info["player_pos"]
        for i in range(VIEW[0]):
            for j in range(VIEW[1]):
                number = int(sight.cells[i, j])
                kinds.add(number)
                shown = moment.picture[7 * j : 7 * j + 7, 7 * i : 7 * i + 7].transpose(1, 0, 2)
                expected = drawn(played._textures, moment, (x - 4 + i, y - 3 + j), number)
                assert np.abs(shown - expected).max() <= 3, (sight.step, i, j, number)
    assert {MATERIALS[name] for name in ("water", "grass", "stone", "path", "sand", "tree")} | {PLAYER, COW} == kinds


@pytest.mark.parametrize(
    ("mark", "number"),
    [(mark, MATERIALS[name]) for mark, name in scenes.MARKS.items()]
    + [("C", COW), ("Z", ZOMBIE), ("S", SKELETON), ("P", PLANT)],
)
def test_each_thing_has_its_number(mark, number):
    with Scene(f"....... ..{mark}@... .......") as scene:
        assert scene.player.atlas.step == 1
        sight = scene.eyes.see(np.zeros((64, 64, 3)), scene.info)
        assert sight.cells[3, 3] == number
        assert sight.cells[4, 3] == PLAYER


def test_an_arrow_is_seen():
    with Scene("_____ S___@", alive=True) as scene:
        kinds = set()
        for _ in range(60):
            scene.step("noop")
            kinds |= set(scene.player.atlas.creatures.values())
        assert ARROW in kinds


def test_the_end_of_the_world_is_seen_as_such():
    with Scene("@", beyond="grass") as scene:
        for _ in range(32):
            scene.step("move_up")
        sight = scene.eyes.see(np.zeros((64, 64, 3)), scene.info)
        assert (sight.cells[:, :3] == EDGE).all()
        assert (sight.cells[:, 3:] != EDGE).all()
        for _ in range(33):
            scene.step("move_right")
        sight = scene.eyes.see(np.zeros((64, 64, 3)), scene.info)
        assert (sight.cells[5:] == EDGE).all()
        assert (sight.cells[:5, 3:] != EDGE).all()


def test_the_first_step_scrolls_too():
    with Scene("...@...") as scene:
        looking = Eyes()
        picture, _, _, info = scene.game.step(ACTIONS.index("move_left"))
        assert looking.see(picture, info).scrolled == (-1, 0)
        picture, _, _, info = scene.game.step(ACTIONS.index("move_right"))
        assert looking.see(picture, info).scrolled == (1, 0)
        picture, _, _, info = scene.game.step(ACTIONS.index("noop"))
        assert looking.see(picture, info).scrolled == (0, 0)


def test_sleep_is_seen_in_the_picture():
    moments, _ = scenes.wander()
    looking = Eyes()
    seen = [looking.see(moment.picture, moment.info).is_asleep for moment in moments]
    assert seen == [moment.sleeping for moment in moments]
    assert 20 < sum(seen) < len(seen) - 20
    by_night = [asleep for step, asleep in enumerate(seen, 1) if eyes.daylight(step) < 0.3]
    assert set(by_night) == {True, False}


# --- the night --------------------------------------------------------------------------------------------------------


def noise(step):
    """How much of each pixel of the view is noise, by the game's own code."""
    from crafter.engine import LocalView

    amount = 2 * max(0.0, 0.5 - eyes.daylight(step))
    return amount * LocalView._vignette.__wrapped__(None, (63, 49), 0.5)


def test_what_is_hidden_is_what_the_game_draws_noise_over():
    shares = np.array([noise(step).reshape(9, 7, 7, 7).mean(axis=(1, 3)) for step in range(DAY)])
    assert (eyes.darkness() == (shares > 0.75)).all()
    assert eyes.darkness()[MIDNIGHT].sum() == 63 - 3 * 7 - 2 * 5


def test_daylight_is_the_game_s():
    with Scene("@") as scene:
        for step in range(2, 700):
            scene.game._step = step
            scene.game._update_time()
            assert abs(scene.game._world.daylight - eyes.daylight(step)) < 1e-12


def test_by_midnight_seven_by_five_cells_are_left():
    with Scene("@", beyond="grass", steps=MIDNIGHT - 1) as scene:
        cells = scene.eyes.see(np.zeros((64, 64, 3)), scene.info).cells
        rows = ["".join("?" if cell == HIDDEN else "." for cell in cells[:, y]) for y in range(7)]
        assert rows == [
            "?????????",
            "??.....??",
            "?.......?",
            "?.......?",
            "?.......?",
            "??.....??",
            "?????????",
        ]


def test_it_is_day_for_most_of_the_day():
    hidden = [step for step in range(DAY) if eyes.darkness()[step].any()]
    assert (hidden[0], hidden[-1], len(hidden)) == (184, 236, 53)


def test_no_cell_is_near_the_limit():
    """The last bit of an exponential may differ between machines; by so much it does not matter."""
    amounts = np.array([noise(step).reshape(9, 7, 7, 7).mean(axis=(1, 3)) for step in range(DAY)])
    assert np.abs(amounts - 0.75).min() > 1e-6


def test_the_end_of_the_world_is_no_darker_by_night():
    with Scene("@", beyond="grass", steps=MIDNIGHT - 33) as scene:
        for _ in range(32):
            scene.step("move_up")
        cells = scene.eyes.see(np.zeros((64, 64, 3)), scene.info).cells
        assert (cells[:, :3] == EDGE).all()
        assert (cells == HIDDEN).any()
