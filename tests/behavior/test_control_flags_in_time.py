"""Control flags of deciders whose hooks are coroutines: who is chosen may have to wait, and then not come at all."""

from __future__ import annotations

import pytest
from modules import load

from agentrt import Agent, CancelScope, sleep_ticks
from agentrt.behavior import Behavior, decider, group, reference
from agentrt.body.flags import LOOK, MOVE
from agentrt.testing import Simulation

worlds = load("tests/behavior/worlds.py")
flags = load("tests/behavior/test_control_flags.py")
leaf, branch, wants, Creature = worlds.leaf, worlds.branch, worlds.wants, worlds.Creature
Other, tree_of = flags.Other, flags.tree_of


class Slow(Behavior):
    """Cleans up for some ticks."""

    def __init__(self, name, ticks):
        self.name = name
        self.ticks = ticks

    async def run(self, at):
        try:
            await sleep_ticks(1000)
        finally:
            with CancelScope(shield=True):
                await sleep_ticks(self.ticks)


class Opens(Behavior):
    """Is active after some ticks."""

    name = "OPEN"

    async def activate(self, at):
        await sleep_ticks(1)


class Being(Creature):
    """Whoever the tree of a simulated agent drives; ``course`` has the path and the flags after each tick."""

    def __init__(self, tree, *wants, **options):
        super().__init__(*wants)
        self.simulation = Simulation()
        self.memory = tree.memory(**options)
        self.body = self.simulation.add(Agent(self))
        self.body.attach(self.memory)
        self.flags = self.body.flags

    def course(self, ticks):
        found = []
        for _ in range(ticks):
            self.simulation.tick(1)
            names = {flag: hold.name.rpartition("/")[2] for flag, hold in self.flags.holds().items()}
            found.append((self.memory.active_path[1:], names))
        return found


def test_what_was_granted_is_given_back_while_a_tree_waits_for_a_clean_up():
    tree = tree_of(leaf("FLEE"), leaf("WALK", flags={MOVE}), decider("STARE", Slow("STARE", 4), flags={LOOK}))
    being = Being(tree, "WALK", precedence=1)
    other = Other(being.flags, slow=True)
    other.claim(MOVE)
    assert being.course(1) == [(("STARE",), {"MOVE": "other", "LOOK": "STARE"})]
    Other(being.flags, precedence=2).claim(LOOK, wait=True)
    being.flags.release(other)
    assert being.course(2) == [((), {"LOOK": "STARE"})] * 2


@pytest.mark.parametrize("ticks", [1, 2])  # after two, BAG is active, and A would be activated in the next one
def test_another_jump_into_a_group_that_just_opened_gives_back_what_the_first_was_to_have(ticks):
    tree = tree_of(
        reference("FIRST", "A", decide=wants("FIRST")),
        reference("SECOND", "B", decide=wants("SECOND")),
        group("BAG", behavior=Opens)[leaf("B", flags={LOOK}), leaf("A", flags={MOVE})],
    )
    being = Being(tree, "FIRST")
    assert being.course(ticks) == [(("BAG",), {"MOVE": "A"})] * ticks
    being.wants = {"SECOND"}
    assert being.course(4 - ticks)[-1] == (("BAG", "B"), {"LOOK": "B"})
    assert being.log == ["B activate", *["B tick"] * 2]


def test_it_takes_over_the_flags_of_the_first():
    tree = tree_of(
        reference("FIRST", "A", decide=wants("FIRST")),
        reference("SECOND", "B", decide=wants("SECOND")),
        group("BAG", behavior=Opens)[leaf("B", flags={MOVE, LOOK}), leaf("A", flags={MOVE})],
    )
    being = Being(tree, "FIRST")
    being.course(1)
    being.wants = {"SECOND"}
    assert being.course(1) == [(("BAG",), {"MOVE": "B", "LOOK": "B"})]
    assert being.course(1) == [(("BAG", "B"), {"MOVE": "B", "LOOK": "B"})]


def test_a_jump_that_is_dropped_leaves_the_flags_with_who_cleans_up():
    tree = tree_of(
        reference("JUMP", "B", decide=wants("JUMP")),
        branch("BAG")[decider("A", Slow("A", 3), flags={MOVE}), leaf("B", flags={MOVE})],
    )
    being = Being(tree, "BAG")
    assert being.course(1) == [(("BAG", "A"), {"MOVE": "A"})]
    being.wants.add("JUMP")
    being.fails.add("BAG.tick")
    assert being.course(4) == [((), {"MOVE": "A"})] * 3 + [((), {})]


def test_what_an_interrupted_walk_asked_for_is_given_back_unless_the_next_tick_asks_for_it():
    tree = tree_of(leaf("FLEE"), leaf("STARE"), leaf("WALK", flags={MOVE}), decider("DOZE", Slow("DOZE", 0)))
    being = Being(tree, precedence=1)
    being.course(1)
    Other(being.flags, slow=True).claim(MOVE)
    being.wants, being.fails = {"STARE", "WALK"}, {"STARE.activate"}
    assert being.course(1) == [(("DOZE",), {"MOVE": "other"})]
    assert being.asked[-4:] == ["FLEE", "STARE", "FLEE", "WALK"]
    assert being.memory.view().waiting == ("tree/ROOT/WALK",)
    being.wants.add("FLEE")
    being.course(1)
    assert being.memory.view().waiting == ()
