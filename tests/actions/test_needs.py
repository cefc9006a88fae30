"""Basic needs: the seed's task group, the observers that issue its tasks, and the pack that brings it all."""

from __future__ import annotations

import pytest

from agentrt_actions import BASIC_NEEDS, Consumable, IdleAtTop, Located, Needs, Sleeper, StandIdle


def inhabitant(grid, *actions):
    return grid.agent(*actions, IdleAtTop, StandIdle, packs=["agentrt:ai_pack:basic_needs"], place=(0, 2))


def at_root(grid):
    """The utilities that the group had at the root activity, each once, in order."""
    told = [
        dict(record.detail)["utility"]
        for record in grid.sim.trace
        if record.event in ("ready", "utility")
        and record.path.startswith("agentrt:top/")
        and record.path.count("/") == 1
        and "IdleAtTop" not in record.path
    ]
    return list(dict.fromkeys(told))


def a_bed(grid, place=(2, 2)):
    bed = grid.thing("bed", place, name="bed")
    grid.tags.put("bed", bed)
    return bed


def test_who_needs_nothing_idles(grid):
    agent = inhabitant(grid)
    grid.sim.tick(5)
    assert "IdleAtTop" in agent.snapshot().running
    assert [task.activity for task in agent.get_task_group(BASIC_NEEDS).tasks] == ["agentrt:rest_when_injured"]


@pytest.mark.states(
    "001: Task group example: The same with bodies that have needs: a tired one sleeps, a hungry one eats, an injured "
    "one rests at the least",
)
@pytest.mark.states("001: Task group example: An observer asks for sleep, the consumption side for eating")
def test_a_tired_body_sleeps_in_a_bed_until_it_is_not_tired_any_more(grid):
    bed = a_bed(grid)
    agent = inhabitant(grid)
    body = agent.entity[Needs]
    body.feel(sleep=0.5)
    grid.sim.tick(3)
    assert "IdleAtTop" in agent.snapshot().running
    body.feel(sleep=0.7)
    grid.sim.tick(12)
    assert agent.entity[Located].location == (2, 2)
    assert agent.entity[Sleeper].lies_on == "bed"
    assert grid.leases.holder(bed) is agent
    assert at_root(grid) == [0.18]
    body.feel(sleep=0.3)
    grid.sim.tick(3)
    assert agent.entity[Sleeper].lies_on == "bed"
    body.feel(sleep=0.0)
    grid.sim.tick(3)
    assert agent.entity[Sleeper].lies_on is None
    assert grid.leases.holder(bed) is None
    assert [task.activity for task in agent.get_task_group(BASIC_NEEDS).tasks] == ["agentrt:rest_when_injured"]


def test_without_a_bed_it_sleeps_on_the_ground(grid):
    agent = inhabitant(grid)
    agent.entity[Needs].feel(sleep=1.0)
    grid.sim.tick(4)
    assert agent.entity[Sleeper].lies_on == "the ground"


@pytest.mark.states("001: Task group example: The same with bodies that have needs: a tired one sleeps, a hungry ...")
def test_a_hungry_body_eats_and_the_meal_decides_how_much_it_wants_to(grid):
    cake = grid.cake((1, 2))
    grid.tags.put("food", cake)
    cake.destroyed.connect(lambda gone: grid.tags.take("food", gone))
    agent = inhabitant(grid)
    group = agent.get_task_group(BASIC_NEEDS)
    group.create_task("agentrt:eat", {"food": "food", "rating": lambda _cake: 0.7}).once().start()
    grid.sim.tick(60)
    assert cake[Consumable].eaten_by == ["Ada"]
    assert at_root(grid)[0] == 0.246  # 0.7 within (0.4, 1.0) is 0.82; that within (0, 0.3)
    assert grid.aborts() == []


@pytest.mark.states("001: Task group example: An observer asks for sleep, the consumption side for eating ...")
@pytest.mark.states("001: Personal task groups: The examples: basic needs, and orders to a soldier")
def test_hunger_issues_the_task(grid):
    cake = grid.cake((1, 2))
    grid.tags.put("food", cake)
    cake.destroyed.connect(lambda gone: grid.tags.take("food", gone))
    agent = inhabitant(grid)
    body = agent.entity[Needs]
    cake.destroyed.connect(lambda _gone: body.feel(hunger=0.0))
    body.feel(hunger=0.5)
    grid.sim.tick(60)
    assert cake[Consumable].eaten_by == ["Ada"]
    assert [task.activity for task in agent.get_task_group(BASIC_NEEDS).tasks] == ["agentrt:rest_when_injured"]


@pytest.mark.states("001: Task group example: The same with bodies that have needs: a tired one sleeps, a hungry ...")
def test_an_injured_body_rests_at_the_least_utility(grid):
    a_bed(grid)
    agent = inhabitant(grid)
    body = agent.entity[Needs]
    body.feel(recovery=0.2)
    grid.sim.tick(8)
    assert agent.entity[Sleeper].lies_on == "bed"
    assert at_root(grid) == [0.06]
    body.feel(sleep=1.0)  # sleep is worth more
    grid.sim.tick(3)
    assert "agentrt:sleep" in agent.snapshot().running
    body.feel(sleep=0.0, recovery=0.0)
    grid.sim.tick(3)
    assert agent.entity[Sleeper].lies_on is None


def test_a_bed_that_is_destroyed_under_the_sleeper(grid):
    bed = a_bed(grid)
    bed.destroyed.connect(lambda gone: grid.tags.take("bed", gone))
    agent = inhabitant(grid)
    agent.entity[Needs].feel(sleep=1.0)
    grid.sim.tick(10)
    assert agent.entity[Sleeper].lies_on == "bed"
    bed.destroy()
    grid.sim.tick(3)
    assert grid.aborts() == ["bed was destroyed"]
    assert agent.entity[Sleeper].lies_on == "the ground"  # the task is not done, and the ground is left


@pytest.mark.states("001: Personal task groups: They come and go with their pack ...")
def test_the_pack_can_be_taken_back(grid):
    agent = grid.agent(IdleAtTop, StandIdle, place=(0, 2))
    injection = agent.inject("agentrt:ai_pack:basic_needs")
    agent.entity[Needs].feel(sleep=1.0)
    grid.sim.tick(5)
    assert agent.entity[Sleeper].lies_on == "the ground"
    injection.revoke()
    grid.sim.tick(3)
    assert agent.entity[Sleeper].lies_on is None
    assert "IdleAtTop" in agent.snapshot().running
    with pytest.raises(Exception, match="basic_needs"):
        agent.get_task_group(BASIC_NEEDS)


def test_a_task_that_somebody_else_issued_will_do(grid):
    agent = inhabitant(grid)
    group = agent.get_task_group(BASIC_NEEDS)
    task = group.create_task("agentrt:sleep")
    body = agent.entity[Needs]
    body.feel(sleep=1.0)
    grid.sim.tick(5)
    assert agent.entity[Sleeper].lies_on is None  # it is paused
    task.once().start()
    grid.sim.tick(3)
    assert agent.entity[Sleeper].lies_on == "the ground"
    body.feel(sleep=0.0)
    grid.sim.tick(3)
    assert task.state == "completed"
    body.feel(sleep=1.0)
    grid.sim.tick(4)
    assert agent.entity[Sleeper].lies_on == "the ground"
    assert not [record for record in grid.sim.trace if record.event == "fault"]
