"""What a player can ask the colony for from outside: inputs by name, which a recording keeps and a replay hands in."""

from __future__ import annotations

import pytest

from agentrt.errors import InputError
from agentrt.record.branch import branch, parse_edits
from agentrt.record.replay import replay
from agentrt_examples.colony import world
from agentrt_examples.colony.captain import UNIT_CONTROL
from agentrt_examples.colony.colony import Colony


@pytest.fixture
def colony():
    colony = Colony(seed=7)
    colony.runtime.step()
    yield colony
    colony.runtime.close()


def faults(colony, name, **args):
    """What is reported when an input is taken."""
    told = []
    close = colony.runtime.trace.listen(lambda record: record.event.value == "fault" and told.append(record))
    colony.runtime.send(name, **args)
    colony.runtime.step()
    close()
    return [dict(record.detail)["error"] for record in told]


def test_wolves_come(colony):
    before = colony.town.census.count("wolf")
    assert faults(colony, "wolves", count=3) == []
    assert colony.town.census.count("wolf") == before + 3


def test_a_soldier_is_ordered_somewhere(colony):
    agent = colony.captain.soldiers[0]
    assert faults(colony, "order", soldier=agent.name, x=20, y=10) == []
    [task] = [task for task in agent.get_task_group(UNIT_CONTROL).tasks if task.activity == "colony:move_to"]
    assert task.args["location"] == (20, 10)


def test_a_wagon_brings_as_much_as_there_is_room_for(colony):
    before = colony.town.census.count("turnip")
    assert faults(colony, "wagon", kind="turnip", count=2) == []
    assert colony.town.census.count("turnip") == before + 2


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("wolves", {"count": -1}, "ValueError: count is -1: it takes a whole number from 0 to 20"),
        ("wolves", {"count": 1000000}, "ValueError: count is 1000000: it takes a whole number from 0 to 20"),
        ("order", {"soldier": "nobody", "x": 1, "y": 1}, "ValueError: no soldier is called 'nobody'; there are "),
        ("order", {"soldier": "", "x": -5, "y": 1}, "ValueError: no soldier is called ''; there are "),
        ("wagon", {"kind": "gold"}, "ValueError: no shelf is for 'gold', only for "),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_else_happens(colony, name, args, words):
    wolves = colony.town.census.count("wolf")
    [error] = faults(colony, name, **args)
    assert error.startswith(words)
    assert colony.town.census.count("wolf") == wolves


def test_nobody_is_ordered_where_nobody_can_stand(colony):
    [error] = faults(colony, "order", soldier=colony.captain.soldiers[0].name, x=-5, y=1)
    assert error == "ValueError: (-5, 1) is no place where anybody can stand"


def test_other_names_are_not_taken(colony):
    with pytest.raises(InputError, match="Did you mean 'wolves'"):
        colony.runtime.send("wolfes")


@pytest.mark.states(
    "tools: Intake: Players' wishes come into the colony by name; a recording keeps them and a branch asks for "
    "something else",
)
@pytest.mark.slow
def test_a_recording_keeps_them_and_a_branch_asks_for_something_else(tmp_path):
    colony = Colony(seed=7)
    recorder = colony.runtime.record(tmp_path / "colony.sqlite", world="colony")
    for tick in range(60):
        if tick == 20:
            colony.runtime.send("wolves", count=2)
        colony.runtime.step()
    recorder.close()
    colony.runtime.close()
    again = replay(tmp_path / "colony.sqlite", world.make)
    assert again.is_same
    without = branch(
        tmp_path / "colony.sqlite", world.make, at=15, edits=parse_edits([{"tick": 21, "drop": "wolves"}]), ticks=45
    )
    assert without.sent == 0
    assert without.difference.agents[0].tick == 21
