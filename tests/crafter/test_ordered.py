"""Sets that keep their order: what they can do, that the game uses them, and that equal seeds are equal everywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import load

pytest.importorskip("crafter")

from crafter import engine, objects

from examples.crafter import ordered
from examples.crafter.ordered import OrderedSet

scenes = load("tests/crafter/scenes.py")
Scene = scenes.Scene


def test_it_iterates_in_the_order_of_arrival():
    members = OrderedSet()
    for member in (3, 1, 2, 1):
        members.add(member)
    assert list(members) == [3, 1, 2]
    members.remove(3)
    members.add(3)
    assert list(members) == [1, 2, 3]
    assert len(members) == 3
    assert 2 in members
    assert 4 not in members


def test_who_is_not_there_cannot_be_taken_out():
    with pytest.raises(KeyError):
        OrderedSet().remove("nobody")


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5))))
def test_it_has_the_members_of_a_set(changes):
    ours, theirs = OrderedSet(), set()
    for is_new, member in changes:
        if is_new:
            ours.add(member)
            theirs.add(member)
        elif member in theirs:
            ours.remove(member)
            theirs.remove(member)
        assert set(ours) == theirs
        assert len(ours) == len(theirs)
        assert all(member in ours for member in theirs)


# --- in the game ------------------------------------------------------------------------------------------------------


class Placed(objects.Cow):
    """A cow whose place in a set is chosen: its address, as it were."""

    def __init__(self, world, pos, address):
        super().__init__(world, pos)
        self.address = address

    def __hash__(self):
        return self.address

    __eq__ = object.__eq__


def cows_of(addresses):
    """The order in which the game goes through four cows that came one after the other."""
    game = scenes.make_game()
    game._world.reset(seed=1)
    for x, address in enumerate(addresses):
        game._world.add(Placed(game._world, (x, 0), address))
    [(_, members)] = game._world.chunks.items()
    return [int(cow.pos[0]) for cow in members]


def test_the_game_goes_through_creatures_in_the_order_of_arrival():
    assert cows_of([4, 3, 2, 1]) == [0, 1, 2, 3]
    assert cows_of([1, 2, 3, 4]) == [0, 1, 2, 3]


def test_without_this_it_goes_by_their_addresses(monkeypatch):
    original = engine.World.reset.__closure__[0].cell_contents
    monkeypatch.setattr(engine.World, "reset", original)
    assert cows_of([4, 3, 2, 1]) == [3, 2, 1, 0]
    assert cows_of([1, 2, 3, 4]) == [0, 1, 2, 3]


def test_a_second_time_nothing_is_installed():
    ordered.install()
    once = engine.World.reset
    ordered.install()
    assert engine.World.reset is once
    assert once.keeps_order


def test_creatures_move_from_part_to_part_as_before():
    """Into the next part of the world, and out of it when they die: the parts hold those who are there."""
    with Scene("C" + "." * 30 + "@" + "." * 30 + "C", alive=True) as scene:
        world = scene.game._world
        cow = scene.garden.creatures[0]
        for _ in range(40):
            if cow.is_free((cow.pos[0] + 1, cow.pos[1])):
                cow.move((1, 0))
            for chunk, members in world.chunks.items():
                assert all(world.chunk_key(one.pos) == chunk for one in members)
        assert sum(len(members) for members in world.chunks.values()) == 3
        world.remove(cow)
        assert sum(len(members) for members in world.chunks.values()) == 2


# --- in two processes -------------------------------------------------------------------------------------------------

PLAY = """
import hashlib, random, crafter
from crafter import objects, worldgen
from examples.crafter import ordered

def meadow(world, player):
    world._mat_map[:] = world._mat_ids["grass"]
    for x in range(3, 64, 4):
        for y in range(3, 64, 4):
            world.add(objects.Zombie(world, (x, y), player))

worldgen.generate_world = meadow  # by noon most of them have vanished, one by one
ordered.install()
game = crafter.Env(seed=5)
junk = [objects.Zombie(game._world, (0, 0), None) for _ in range(5000)]
random.shuffle(junk)  # without a seed: the holes, and so the addresses to come, are others in each process
del junk[2500:]
game.reset()
dice = random.Random(5)
made = hashlib.blake2b(digest_size=16)
for _ in range(60):
    picture, _, _, info = game.step(dice.randrange(17))
    game._player.inventory["health"] = 9
    made.update(info["semantic"].tobytes())
    made.update(picture.tobytes())
print(made.hexdigest())
"""


@pytest.mark.states("003: Crafter: Equal seeds give equal runs in other processes, with other hash seeds, of an ...")
@pytest.mark.slow
def test_equal_seeds_are_equal_in_two_processes(root):
    running = scenes.in_two_processes(root, PLAY)
    told = [one.communicate(timeout=100) for one in running]
    assert [error for _, error in told] == ["", ""]
    assert len({out for out, _ in told}) == 1
    assert len(told[0][0].strip()) == 32
