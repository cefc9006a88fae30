"""What the miner knows, as the drawing that its world offers."""

from __future__ import annotations

import pytest

from agentrt.testing import TraceDigest
from agentrt_examples.miner.game import Game
from agentrt_examples.miner.paths import Step


@pytest.fixture(scope="module")
def played():
    """A game in the rock, and what was drawn on the way there; the digest of all of it."""
    game = Game(1)
    digest = TraceDigest(game.runtime.trace)
    game.ask("diamond", 7)
    drawn = {}
    for _ in range(1500):
        game.runtime.step()
        if game.runtime.tick % 10 == 0:
            drawn[game.runtime.tick] = game.runtime.draw()
    yield game, drawn, digest.hexdigest()
    game.runtime.close()


def at(drawing, mark):
    tile = drawing.tiles.palette[drawing.tiles.rows[mark.y][mark.x]]
    return tile.ground, tile.sign


@pytest.mark.slow
@pytest.mark.states(
    "tools: World: The colony, the miner and Crafter offer theirs; terminal views are made of the same ..."
)
def test_it_shows_where_the_miner_is_and_what_it_goes_for(played):
    game, drawn, _ = played
    assert game.runtime.drawing is not None  # no drawing failed
    ways = aims = 0
    for drawing in drawn.values():
        assert (drawing.width, drawing.height) == (64, 48)
        miner = drawing.marks["miner"]
        assert miner.agent == "miner"
        assert 8 <= miner.x < 56
        ways += "way" in drawing.marks
        aims += "aim" in drawing.marks
    assert ways > 20
    assert aims > 5
    first = next(iter(drawn.values())).tiles.palette
    assert all(drawing.tiles.palette == first for drawing in drawn.values())  # so it is sent once


@pytest.mark.slow
@pytest.mark.states("tools: World: Drawing changes nothing: a run that is drawn has the digest of one that is not ...")
def test_drawing_it_changes_nothing(played):
    game = Game(1)
    digest = TraceDigest(game.runtime.trace)
    game.ask("diamond", 7)
    for _ in range(1500):
        game.runtime.step()
    assert digest.hexdigest() == played[2]
    game.runtime.close()


def test_under_the_sky_one_sees_the_ground_and_in_the_rock_the_level():
    game = Game(1)
    miner = game.miner
    drawing = game.runtime.draw()
    me = drawing.marks["miner"]
    assert at(drawing, me)[0] == "#38632b"  # grass, a little darker: it lies below its head
    hidden = sum(row.count(" ") for row in drawing.tiles.rows)
    assert 0 < hidden < 64 * 48
    x, y, z = miner.place
    miner.place = (x, y - 12, z)
    below = game.runtime.draw()
    assert sum(row.count(" ") for row in below.tiles.rows) > hidden  # of the rock it knows nothing
    assert below.marks["miner"].label == f"miner, at height {y - 12} of the overworld"
    game.runtime.close()


def test_the_way_what_is_dug_on_it_and_what_it_is_after():
    game = Game(1)
    miner = game.miner
    x, y, z = miner.place
    miner.way = (Step((x + 1, y, z), ()), Step((x + 2, y - 1, z), ((x + 2, y - 1, z), (x + 2, y, z))))
    miner.aim = (x + 4, y, z + 1)
    drawing = game.runtime.draw()
    me = drawing.marks["miner"]
    way = drawing.marks["way"]
    assert [(way.x, way.y), *way.to] == [(me.x + 1, me.y), (me.x + 2, me.y)]
    assert [key for key in drawing.marks if key.startswith("dig")] == ["dig 000", "dig 001"]
    aim = drawing.marks["aim"]
    assert (aim.x, aim.y, aim.shape) == (me.x + 4, me.y + 1, "ring")
    assert aim.label.startswith("what it is after: ")
    game.runtime.close()


@pytest.mark.states("tools: Values: The colony, the miner and Crafter offer theirs ...")
def test_it_says_how_it_is_and_what_it_carries():
    game = Game(1)
    game.miner.inventory.take_in("oak_log", 3)
    game.miner.vitals.affect("poison", 100)
    values = game.agent.snapshot().values
    assert values[""] == {"health": 20, "food": 20, "exhaustion": 0, "is_hungry": False}
    assert values["effects"] == {"poison": True}
    assert values["carries"]["oak_log"] == 3
    game.runtime.close()
