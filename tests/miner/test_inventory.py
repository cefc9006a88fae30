"""What is carried: nothing is made or lost, whatever is done with it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.inventory import Inventory
from agentrt_examples.miner.rules import ITEMS

NAMES = ("stick", "coal", "cobblestone", "wooden_pickaxe", "stone_pickaxe", "sand")


def slots(inventory):
    return [None if stack is None else (stack.item, stack.count, stack.used) for stack in inventory.slots]


def test_stacks_fill_up_and_tools_lie_alone():
    inventory = Inventory(4)
    assert [inventory.take_in("coal", 50), inventory.take_in("coal", 30), inventory.take_in("stone_pickaxe", 2)] == [
        0,
        0,
        0,
    ]
    assert slots(inventory) == [("coal", 64, 0), ("coal", 16, 0), ("stone_pickaxe", 1, 0), ("stone_pickaxe", 1, 0)]
    assert inventory.take_in("stick", 1) == 1
    assert inventory.take_in("coal", 60) == 12
    assert (inventory.room("coal"), inventory.room("stick")) == (0, 0)


def test_no_more_is_kept_than_is_wanted():
    inventory = Inventory()
    assert inventory.take_in("sand", 5) == 5  # the rules: nobody wants sand
    assert inventory.take_in("cobblestone", 200) == 200 - ITEMS["cobblestone"].keep
    inventory.keep["sand"] = 3
    assert inventory.take_in("sand", 5) == 2
    assert inventory.counts() == {"cobblestone": ITEMS["cobblestone"].keep, "sand": 3}


def test_all_or_nothing_is_taken_out():
    inventory = Inventory()
    inventory.take_in("coal", 70)
    with pytest.raises(CannotAct, match=r"cannot take: there are 70 of 71 coal") as caught:
        inventory.remove("coal", 71)
    assert caught.value.reason == "missing"
    assert inventory.count("coal") == 70
    inventory.remove("coal", 10)
    assert slots(inventory)[:2] == [("coal", 60, 0), None]  # the smaller stack goes first


def test_a_tool_wears_and_breaks():
    inventory = Inventory()
    inventory.take_in("wooden_pickaxe", 2)
    first, second = inventory.tools("pickaxe")
    uses = [inventory.use(first) for _ in range(40)]
    assert uses == [False] * 39 + [True]
    assert slots(inventory)[:2] == [None, ("wooden_pickaxe", 1, 0)]
    assert inventory.uses_left("pickaxe") == second.left == 40
    inventory.use(second)
    inventory.take_in("wooden_pickaxe", 1)
    inventory.remove("wooden_pickaxe")
    assert inventory.uses_left("pickaxe") == 40  # the one that was used more is the first to go


def test_whoever_listens_hears_of_each_change():
    inventory, heard = Inventory(), []
    inventory.changed.connect(heard.append)
    inventory.take_in("coal", 3)
    inventory.take_in("sand", 3)
    inventory.remove("coal", 2)
    inventory.empty()
    assert heard == ["coal", "coal", ""]


def test_it_says_what_it_holds():
    inventory = Inventory()
    assert repr(inventory) == "<Inventory: empty>"
    inventory.take_in("stick", 2)
    inventory.take_in("iron_pickaxe", 1)
    assert repr(inventory) == "<Inventory: 1 iron_pickaxe, 2 stick>"
    assert [repr(stack) for stack in inventory.slots[:2]] == [
        "<Stack: 2 stick>",
        "<Stack: 1 iron_pickaxe, 180 uses left>",
    ]


ACTS = st.lists(
    st.tuples(st.sampled_from(["take_in", "remove", "use"]), st.sampled_from(NAMES), st.integers(1, 90)), max_size=40
)


@pytest.mark.states(
    "003: The miner: (ours) The world makes nothing out of nothing: inventory, wear, furnaces, and what lies on the "
    "ground",
    source="-",
)
@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(ACTS, st.integers(1, 5))
def test_nothing_is_made_or_lost(acts, size):
    inventory = Inventory(size)
    given_, taken, broken, used = dict.fromkeys(NAMES, 0), dict.fromkeys(NAMES, 0), dict.fromkeys(NAMES, 0), 0
    for act, item, count in acts:
        if act == "take_in":
            given_[item] += count - inventory.take_in(item, count)
        elif act == "remove":
            try:
                inventory.remove(item, count)
                taken[item] += count
            except CannotAct:
                assert inventory.count(item) < count
        elif (tool := next(inventory.tools("pickaxe"), None)) is not None:
            used += 1
            left = inventory.uses_left("pickaxe")
            broken[tool.item] += inventory.use(tool)
            assert inventory.uses_left("pickaxe") == left - 1
        stacks = [stack for stack in inventory.slots if stack is not None]
        assert len(inventory.slots) == size
        assert all(0 < stack.count <= ITEMS[stack.item].stack for stack in stacks)
        for name in NAMES:
            assert inventory.count(name) == sum(stack.count for stack in stacks if stack.item == name)
            assert inventory.count(name) == given_[name] - taken[name] - broken[name]
            assert 0 <= ITEMS[name].keep <= 128 or ITEMS[name].keep == -1
            assert ITEMS[name].keep < 0 or inventory.count(name) <= ITEMS[name].keep
