"""The tables of states: what they say, that nothing else is possible, and that an illegal change changes nothing."""

from __future__ import annotations

import pytest

from agentrt import step
from agentrt.activity import states
from agentrt.activity.states import FRAME_NAMES, FRAME_TABLE, UNIT_NAMES, UNIT_TABLE, compile_table
from agentrt.errors import InternalError


def in_words(table, names):
    return {names[state]: [names[following] for following in nexts] for state, nexts in table.items()}


@pytest.mark.states("001: Leaf action, state machine: The states of an action")
def test_the_table_of_a_unit():
    assert in_words(UNIT_TABLE, UNIT_NAMES) == {
        "idle": ["thinking", "ready"],
        "thinking": ["ready", "impossible", "idle"],
        "ready": ["thinking", "impossible", "started", "idle"],
        "impossible": ["idle"],
        "started": ["running", "impossible", "idle"],
        "running": ["finished", "idle"],
        "finished": ["idle"],
    }


def test_the_table_of_a_frame():
    assert in_words(FRAME_TABLE, FRAME_NAMES) == {
        "idle": ["thinking"],
        "thinking": ["ready", "idle"],
        "ready": ["thinking", "started", "idle"],
        "started": ["running", "switching", "thinking", "ready", "idle"],
        "running": ["finished", "switching", "idle"],
        "switching": ["ready", "thinking", "idle"],
        "finished": ["idle"],
    }


@pytest.mark.parametrize("table", [UNIT_TABLE, FRAME_TABLE])
def test_every_state_can_be_reached_and_leads_back_to_idle(table):
    reached, new = {states.IDLE}, [states.IDLE]
    while new:
        for following in table[new.pop()]:
            if following not in reached:
                reached.add(following)
                new.append(following)
    assert reached == set(table)
    assert all(state == states.IDLE or states.IDLE in nexts for state, nexts in table.items())


@pytest.mark.parametrize("table", [UNIT_TABLE, FRAME_TABLE])
def test_the_masks_say_what_the_table_says(table):
    masks = compile_table(table)
    for state in table:
        for following in table:
            assert bool(masks[state] >> following & 1) is (following in table[state])


def test_an_illegal_change_of_a_unit_raises_and_changes_nothing(play, leaf):
    agent = play.add(leaf("A", run=9, quiet=True))
    play.tick(1)
    unit = agent.planner.execution.root.units[0]
    with pytest.raises(InternalError) as info:
        unit.move(states.READY)
    assert info.value.text == (
        "top/A cannot go from running to ready. This is a bug in agentrt: please report it with the trace of the run."
    )
    assert unit.state == states.RUNNING


def test_an_illegal_change_of_a_frame_raises_and_changes_nothing(play, leaf):
    agent = play.add(leaf("A", run=9, quiet=True))
    play.tick(1)
    frame = agent.planner.execution.root
    with pytest.raises(InternalError, match="top cannot go from running to started"):
        frame.move(states.STARTED)
    assert frame.state == states.RUNNING


def test_what_they_print(play, leaf, compound):
    agent = play.add(compound("Plan", step("a"), quiet=True), leaf("A", does="a", run=9, quiet=True))
    play.tick(1)
    execution = agent.planner.execution
    unit = execution.root.units[0]
    assert repr(execution) == "<Execution of top: 1 running, 0 aborts in a row>"
    assert repr(execution.root) == "<Frame top: running>"
    assert repr(unit) == "<Unit top/Plan: running, utility 0.5>"
    assert repr(unit.frames[0].active) == "<Unit top/Plan/a/A: running, utility 0.5>"
