"""Task groups: what they declare, what they are worth, who is in them, and what comes and goes while members act."""

from __future__ import annotations

import pytest

from agentrt import Action, ActionArgs, Agent, Entity, step
from agentrt.errors import DefinitionError, WrongStateError
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_multiple_tasks, declare_permanent_task, declare_task
from agentrt.testing import Simulation


def group_of(*tasks, does="top", utility=1.0, label="Group", **attributes):
    return type(label, (TaskGroupAction,), {"does": does, "utility": utility, "tasks": list(tasks), **attributes})


def rated(label, does, value, ticks=50):
    """A leaf with the range (0, 1) that thinks itself to be worth a value."""

    async def think(self, ctx, args):
        ctx.set_utility(value)
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(ticks)

    return type(label, (Action,), {"does": does, "utility": (0.0, 1.0), "think": think, "run": run})


def utilities(agent, *path):
    """The utilities of the units at a place: the root, or below these actions."""
    frame = agent.snapshot().plan
    for action in path:
        unit = next(one for one in frame.units if one.action == action)
        frame = unit.frames[0]
    return {unit.action: unit.utility for unit in frame.units}


def running(agent):
    return agent.snapshot().running


# --- the figures of the seed ------------------------------------------------------------------------------------------


class BasicNeeds(TaskGroupAction):
    """The example of the seed."""

    does = "top"
    utility = (0, 0.3)
    tasks = (
        declare_task("sleep", 0.6),
        declare_multiple_tasks("eat", (0.4, 1.0)),
        declare_permanent_task("rest_when_injured", {}, 0.2),
    )


@pytest.fixture
def needs(play, leaf):
    """The example with one member: the group, and the agent."""
    agent = play.add(
        leaf("Sleep", 0.9, does="sleep", run=50, quiet=True),
        rated("Eat", "eat", 0.7),
        leaf("Rest", 1.0, does="rest_when_injured", run=50, quiet=True),
    )
    group = TaskGroup(BasicNeeds)
    group.add(agent)
    return group, agent


@pytest.mark.states("001: Task group example: The worked figures: 0.18 for sleep, 0.82 and 0.246 for eat, 0.06 for ...")
def test_a_permanent_task_of_02_makes_the_group_worth_006(play, needs):
    _group, agent = needs
    play.tick(1)
    assert utilities(agent, "BasicNeeds") == {"TaskAction#1": 0.2}
    assert utilities(agent) == {"BasicNeeds": 0.06}


@pytest.mark.states(
    "001: Task group example, Task declarations: A number ignores the utility of the action that does the task",
)
@pytest.mark.states(
    "001: Task group example: The worked figures: 0.18 for sleep, 0.82 and 0.246 for eat, 0.06 for rest",
)
def test_a_task_of_06_makes_it_worth_018_whatever_the_action_is_worth(play, needs):
    group, agent = needs
    group.create_task("sleep").start()
    play.tick(1)
    assert utilities(agent, "BasicNeeds") == {"TaskAction#1": 0.2, "TaskAction#2": 0.6}
    assert utilities(agent) == {"BasicNeeds": 0.18}


@pytest.mark.states(
    "001: Task group example, Task declarations: A range takes the utility of the action, remapped from 0 to 1",
)
@pytest.mark.states("001: Task group example: The worked figures: 0.18 for sleep, 0.82 and 0.246 for eat, 0.06 for ...")
def test_an_action_of_07_makes_its_task_worth_082_and_the_group_0246(play, needs):
    group, agent = needs
    group.create_task("eat").start()
    play.tick(1)
    assert utilities(agent, "BasicNeeds", "TaskAction#2") == {"Eat": 0.7}
    assert utilities(agent, "BasicNeeds") == {"TaskAction#1": 0.2, "TaskAction#2": 0.82}
    assert utilities(agent) == {"BasicNeeds": 0.246}


@pytest.mark.states("001: Task group example, Methods: It concerns the task that is considered or run")
def test_they_stay_exact_when_a_better_task_takes_over(play, needs):
    """The utility of the group follows the task that it runs."""
    group, agent = needs
    play.tick(1)
    assert utilities(agent) == {"BasicNeeds": 0.06}
    group.create_task("eat").start()
    play.tick(1)
    assert running(agent) == "top/BasicNeeds/tasks/TaskAction#2/eat/Eat"
    assert utilities(agent) == {"BasicNeeds": 0.246}


@pytest.mark.states("001: Leaf action, Metadata: set_utility is remapped linearly into the range: 0, 0.5 and 1 are ...")
@pytest.mark.states(
    "001: Task group example, Methods: Without it the utility of the task is put into the group's range, if it is one",
)
@pytest.mark.parametrize(("value", "expected"), [(0.0, 0.2), (0.5, 0.3), (1.0, 0.4)])
def test_0_05_and_1_within_02_to_04(play, value, expected):
    agent = play.add(rated("Do", "do", value))
    group = TaskGroup(group_of(declare_task("do", (0.2, 0.4)), utility=(0, 1)))
    group.add(agent)
    group.create_task("do").start()
    play.tick(1)
    assert utilities(agent, "Group") == {"TaskAction#1": expected}
    assert utilities(agent) == {"Group": expected}


@pytest.mark.states("001: Task group example, Methods: Without it the utility of the task is put into the group's ...")
def test_a_group_with_a_fixed_utility_is_worth_that(play):
    agent = play.add(rated("Do", "do", 0.5))
    group = TaskGroup(group_of(declare_task("do", (0.0, 1.0)), utility=0.87))
    group.add(agent)
    group.create_task("do").start()
    play.tick(1)
    assert utilities(agent) == {"Group": 0.87}


@pytest.mark.states(
    "001: Task group example, Methods: Its only method is compose_utility, from the entity and the utility of the task",
)
@pytest.mark.states(
    "001: Task group example, Methods: (decided) What it returns is the utility of the group and is not remapped again",
)
def test_compose_utility_makes_the_utility_of_the_group(play):
    asked = []

    def compose_utility(self, entity, task_utility):
        asked.append((entity.name, task_utility))
        return task_utility * 0.5 + 0.25

    agent = play.add(rated("Do", "do", 0.5))
    group = TaskGroup(group_of(declare_task("do", (0.4, 1.0)), utility=(0.0, 0.1), compose_utility=compose_utility))
    group.add(agent)
    group.create_task("do").start()
    play.tick(1)
    assert utilities(agent) == {"Group": 0.6}
    assert set(asked) == {("human", 0.7)}


def test_a_compose_utility_that_raises_is_reported_and_the_declared_range_counts(play):
    def compose_utility(self, entity, task_utility):
        raise ValueError("no")

    agent = play.add(rated("Do", "do", 0.5))
    group = TaskGroup(group_of(declare_task("do", (0.0, 1.0)), utility=(0, 0.3), compose_utility=compose_utility))
    group.add(agent)
    group.create_task("do").start()
    play.tick(1)
    assert utilities(agent) == {"Group": 0.15}
    assert {(path, hook, error) for _, path, hook, error in play.faults()} == {
        ("top/Group", "compose_utility", "ValueError: no")
    }


# --- competing --------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "001: Task group example, Task declarations: The group competes with other actions by its own utility, whatever "
    "the task is worth within it",
)
def test_tasks_compete_within_the_group_and_the_group_with_other_actions(play, leaf):
    """A task of a group may be the best of its group, and the group worse than another action."""
    agent = play.add(
        leaf("Do", 1.0, does="do", run=3, quiet=True),
        leaf("Other", 1.0, does="other", run=3, quiet=True),
        leaf("Walk", 0.5, run=50, quiet=True),
    )
    group = TaskGroup(group_of(declare_task("do", 0.9), declare_task("other", 0.3), utility=(0.0, 0.5)))
    group.add(agent)
    play.tick(1)
    group.create_task("do").start()
    group.create_task("other").start()
    play.tick(2)
    assert running(agent) == "top/Walk"
    assert utilities(agent) == {"Walk": 0.5, "Group": 0.0}  # it could not beat what runs, and does not think


@pytest.mark.states(
    "001: Overview, Task group action: A task group action runs one of its declared tasks; which are active is "
    "decided outside",
)
@pytest.mark.states("001: Task group example, Task declarations: The best of the tasks is selected")
def test_the_elected_task_is_the_best_ready_one(play, leaf):
    agent = play.add(leaf("Do", 1.0, does="do", run=2, quiet=True), leaf("Other", 1.0, does="other", run=2, quiet=True))
    group = TaskGroup(group_of(declare_task("do", 0.2), declare_task("other", 0.3)))
    group.add(agent)
    group.create_task("do").start()
    other = group.create_task("other").once().start()
    play.tick(4)
    assert [(tick, path) for tick, path, event in play.trace("run") if path.endswith(("Do", "Other"))] == [
        (1, "top/Group/tasks/TaskAction#2/other/Other"),
        (3, "top/Group/tasks/TaskAction#1/do/Do"),
    ]
    assert other.state == "completed"


@pytest.mark.states("001: Overview, Task action: A task action runs each task instance")
@pytest.mark.states("001: start_thinking: All actions of an activity are asked when a compound or a group plans it ...")
@pytest.mark.states("001: Tasks: It runs under the action of the group")
def test_the_trace_of_a_task(play, leaf):
    agent = play.add(leaf("Do", 1.0, does="do", run=1, quiet=True))
    group = TaskGroup(group_of(declare_task("do", 0.2)))
    group.add(agent)
    group.create_task("do").once().start()
    play.tick(2)
    assert play.trace() == [
        (1, "top/Group", "think"),
        (1, "top/Group/tasks/TaskAction#1", "think"),
        (1, "top/Group/tasks/TaskAction#1/do/Do", "ready"),
        (1, "top/Group/tasks/TaskAction#1/do", "elect"),
        (1, "top/Group/tasks/TaskAction#1", "ready"),
        (1, "top/Group/tasks", "elect"),
        (1, "top/Group", "ready"),
        (1, "top", "elect"),
        (1, "top/Group", "start"),
        (1, "top/Group/tasks/TaskAction#1", "start"),
        (1, "top/Group/tasks/TaskAction#1/do/Do", "start"),
        (1, "top/Group/tasks/TaskAction#1/do/Do", "stop_thinking"),
        (1, "top/Group/tasks/TaskAction#1", "stop_thinking"),
        (1, "top/Group", "stop_thinking"),
        (1, "top/Group", "run"),
        (1, "top/Group/tasks/TaskAction#1", "run"),
        (1, "top/Group/tasks/TaskAction#1/do/Do", "run"),
        (2, "top/Group/tasks/TaskAction#1/do/Do", "finish"),
        (2, "Group", "task"),
        (2, "top/Group/tasks/TaskAction#1", "finish"),
        (2, "top/Group", "finish"),
        (2, "top/Group/tasks/TaskAction#1/do/Do", "stop"),
        (2, "top/Group/tasks/TaskAction#1", "stop"),
        (2, "top/Group", "stop"),
        (2, "top", "complete"),
        (2, "top/Group", "think"),
        (2, "top/Group/tasks/TaskAction#1", "think"),
    ]


def test_a_group_may_be_a_step_of_a_compound(play, leaf, compound):
    agent = play.add(
        compound("Day", step("work"), step("play"), quiet=True),
        leaf("Do", 1.0, does="do", run=2, quiet=True),
        leaf("Play", 1.0, does="play", run=2, quiet=True),
    )
    group = TaskGroup(group_of(declare_task("do", 0.2), does="work"))
    group.add(agent)
    play.tick(2)
    assert running(agent) == ""
    group.create_task("do").once().start()
    play.tick(3)
    assert running(agent) == "top/Day/play/Play"


@pytest.mark.states("001: Tasks: A task belongs to one group, a character to any number of groups")
def test_an_agent_may_be_in_two_groups_of_one_class(play, leaf):
    agent = play.add(leaf("Do", 1.0, does="do", run=2, quiet=True))
    kind = group_of(declare_task("do", (0.0, 1.0)), utility=(0.0, 1.0))
    first, second = TaskGroup(kind, name="first"), TaskGroup(kind, name="second")
    for group in (first, second):
        group.add(agent)
    second.create_task("do").once().start()
    play.tick(3)
    assert [dict(one.detail)["what"] for one in play.sim.trace if one.path == "second"] == [
        "created",
        "started",
        "finished",
        "completed",
    ]
    assert [one for one in play.sim.trace if one.path == "first"] == []
    assert "top/second/tasks/TaskAction#1/do/Do" in {path for _, path, _ in play.trace("run")}
    with pytest.raises(WrongStateError, match="'a' is in another group called second"):
        TaskGroup(kind, name="second").add(agent)


# --- members ----------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Tasks: A task can be given to people who are not in the game yet")
@pytest.mark.states("001: Issuing tasks: Tasks can be added at any time, to empty groups too ...")
def test_a_task_waits_for_those_who_come_later(play, leaf):
    group = TaskGroup(group_of(declare_task("do", 0.2)))
    task = group.create_task("do").once().start()
    play.tick(3)
    agent = play.add(leaf("Do", 1.0, does="do", run=2, quiet=True))
    group.add(agent)
    play.tick(3)
    assert task.state == "completed"
    assert group.waits.count == 1


def test_a_member_that_joins_before_its_runtime(play, leaf):
    agent = Agent(Entity("human"), actions=[leaf("Do", 1.0, does="do", run=2, quiet=True)], top="top")
    group = TaskGroup(group_of(declare_task("do", 0.2)))
    group.add(agent)
    task = group.create_task("do").once().start()
    play.sim.add(agent)
    play.tick(3)
    assert task.state == "completed"


def joins(moment):
    """A member that comes while the other one thinks, is ready for something else, or runs the task."""
    return {"thinking": 1, "running": 3}[moment]


@pytest.mark.states("001: Tasks: A character that is added to a group gets its action")
@pytest.mark.parametrize("moment", ["thinking", "running"])
def test_a_member_joins(play, leaf, moment):
    do = leaf("Do", 1.0, does="do", think=2, run=5, quiet=True)
    first, second = play.add(do, name="a"), play.add(do, name="b")
    group = TaskGroup(group_of(declare_multiple_tasks("do", 0.2)))
    group.add(first)
    group.create_task("do").once().start()
    group.create_task("do").once().start()
    play.tick(joins(moment))
    group.add(second)
    play.tick(4)
    assert [running(one)[-5:] for one in (first, second)] == ["do/Do", "do/Do"]
    assert sorted(task.workers for task in group.tasks) == [("a",), ("b",)]


def test_a_member_leaves_while_it_thinks(play, leaf):
    agent = play.add(leaf("Do", 1.0, does="do", think=9, quiet=True))
    group = TaskGroup(group_of(declare_task("do", 0.2)))
    group.add(agent)
    group.create_task("do").start()
    play.tick(2)
    group.remove(agent)
    play.tick(1)
    assert play.trace(since=2) == [
        (3, "top/Group/tasks/TaskAction#1/do/Do", "stop_thinking"),
        (3, "top/Group/tasks/TaskAction#1", "stop_thinking"),
        (3, "top/Group", "stop_thinking"),
    ]


def test_a_member_leaves_while_it_is_ready(play, leaf, compound):
    agent = play.add(
        compound("Day", step("work"), step("wait"), quiet=True),
        leaf("Do", 1.0, does="do", quiet=True),
        leaf("Wait", 1.0, does="wait", think=9, quiet=True),
    )
    group = TaskGroup(group_of(declare_task("do", 0.2), does="work"))
    group.add(agent)
    group.create_task("do").start()
    play.tick(2)
    group.remove(agent)
    play.tick(1)
    assert play.trace(since=2) == [
        (3, "top/Day/work/Group/tasks/TaskAction#1/do/Do", "stop_thinking"),
        (3, "top/Day/work/Group/tasks/TaskAction#1", "stop_thinking"),
        (3, "top/Day/work/Group", "stop_thinking"),
        (3, "top/Day/wait/Wait", "stop_thinking"),
    ]


def test_a_member_leaves_while_it_works(play, leaf, idle):
    agent = play.add(leaf("Do", 1.0, does="do", run=9, quiet=True), idle)
    group = TaskGroup(group_of(declare_task("do", 0.2)))
    group.add(agent)
    task = group.create_task("do").start()
    play.tick(2)
    group.remove(agent)
    play.tick(2)
    assert running(agent) == "top/Idle"
    assert task.workers == ()
    assert agent.snapshot().aborts == 0  # it was no failure of the agent's
    assert play.trace("abort", "stop", since=2) == [
        (3, "top/Group", "abort"),
        (3, "top/Group/tasks/TaskAction#1/do/Do", "stop"),
        (3, "top/Group/tasks/TaskAction#1", "stop"),
        (3, "top/Group", "stop"),
    ]


def test_an_agent_that_leaves_its_runtime_leaves_the_groups_that_it_shares(play, leaf):
    agent = play.add(leaf("Do", 1.0, does="do", run=9, quiet=True))
    group, own = TaskGroup(group_of(), name="all"), TaskGroup(group_of(), name="own", owner=agent)
    group.add(agent)
    own.add(agent)
    play.tick(1)
    play.sim.runtime.remove(agent)
    play.tick(1)
    assert (group.members, own.members) == ((), (agent,))


@pytest.mark.states("001: Personal task groups: Personal groups hold their owner alone")
def test_a_personal_group_takes_nobody_else(play, leaf):
    agent, other = play.add(name="a"), play.add(name="b")
    own = TaskGroup(group_of(), name="solo", owner=agent)
    with pytest.raises(WrongStateError) as caught:
        own.add(other)
    assert str(caught.value) == (
        "[ART104] group.add cannot be called while solo is the personal group of 'a'. Make another TaskGroup."
    )


def test_all_members_act_in_one_runtime(play):
    group = TaskGroup(group_of())
    group.add(play.add())
    stranger = Simulation().add(Agent(Entity("human"), name="stranger"))
    with pytest.raises(WrongStateError, match="the members of Group act in another runtime"):
        group.add(stranger)


def test_a_group_takes_no_arguments_and_so_nothing_else_does_that_performs_the_same(play):
    class Dig(Action):
        does = "top"
        utility = 0.5

        class Args(ActionArgs):
            depth: int

    agent = Agent(Entity("human"), name="digger", actions=[Dig], top="idle")
    group = TaskGroup(group_of())
    with pytest.raises(DefinitionError, match=r"All actions of one activity take the same arguments"):
        group.add(agent)
    assert group.members == ()


@pytest.mark.states("001: Ad hoc task groups: Ad hoc groups come and go; the example: a party in a fight ...")
def test_a_destroyed_group_is_gone(play, leaf, idle):
    agent = play.add(leaf("Do", 1.0, does="do", run=9, quiet=True), idle)
    group = TaskGroup(group_of(declare_permanent_task("do", {}, 0.2)))
    group.add(agent)
    play.tick(2)
    task = group.tasks[0]
    group.destroy()
    group.destroy()
    play.tick(2)
    assert (running(agent), group.members, group.tasks, task.state) == ("top/Idle", (), (), "destroyed")
    with pytest.raises(WrongStateError, match=r"group\.create_task cannot be called while Group is destroyed"):
        group.create_task("do")


# --- extension --------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Tasks: (ours) Groups are open to packs and to code ...")
def test_a_group_can_be_extended_after_it_was_made_and_while_it_works(play, leaf):
    agent = play.add(leaf("Do", 1.0, does="do", run=9, quiet=True), leaf("Other", 1.0, does="other", run=9, quiet=True))
    group = TaskGroup(group_of(declare_permanent_task("do", {}, 0.2)))
    group.add(agent)
    play.tick(2)
    extension = group.declare_task("other", 0.7)
    group.create_task("other").start()
    play.tick(1)
    assert running(agent) == "top/Group/tasks/TaskAction#2/other/Other"
    extension.revoke()
    extension.revoke()
    play.tick(2)
    assert running(agent) == "top/Group/tasks/TaskAction#1/do/Do"
    assert [one.activity for one in group.declarations] == ["do"]


def test_an_extension_is_of_that_group_alone():
    kind = group_of(declare_task("do", 0.2))
    first, second = TaskGroup(kind), TaskGroup(kind)
    first.declare_multiple_tasks("other", (0.0, 1.0))
    assert ([one.activity for one in first.declarations], [one.activity for one in second.declarations]) == (
        ["do", "other"],
        ["do"],
    )
    assert [str(one) for one in first.extensions] == ["<Extension of Group: other>"]


def test_a_permanent_task_that_is_declared_later(play, leaf):
    agent = play.add(leaf("Do", 1.0, does="do", run=2, quiet=True))
    group = TaskGroup(group_of())
    group.add(agent)
    play.tick(2)
    extension = group.declare_permanent_task("do", {}, 0.2)
    play.tick(1)
    assert running(agent) == "top/Group/tasks/TaskAction#1/do/Do"
    extension.revoke()
    play.tick(2)
    assert (running(agent), group.tasks) == ("", ())


def test_what_is_declared_twice(play):
    group = TaskGroup(group_of(declare_task("do", 0.2)))
    with pytest.raises(DefinitionError) as caught:
        group.declare_task("do", 0.3)
    assert str(caught.value) == "[ART101] extension of Group: 'do' is declared there already. Leave it out."


# --- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Task group example, Metadata: It takes no arguments")
@pytest.mark.states("001: Task group example, Methods: Its only method is compose_utility, from the entity and the ...")
@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: declare_task("", 0.5),
            "declare_task(''): this is no activity. Write an activity such as 'demo:sleep'.",
        ),
        (
            lambda: declare_task("do", 1.5),
            "declare_task('do'): utility is 1.5. Write a number from 0 to 1, or a pair (low, high) within that.",
        ),
        (
            lambda: declare_permanent_task("do", 3, 0.5),
            "declare_permanent_task('do'): its arguments are 3. Write a mapping: {} for none.",
        ),
        (
            lambda: group_of(declare_task("do", 0.1), declare_task("do", 0.2)),
            "test_task_groups.Group: it declares 'do' twice. Keep one of the declarations.",
        ),
        (
            lambda: group_of("do"),
            "test_task_groups.Group: its tasks contain 'do'. Write a list: tasks = [declare_task('activity', 0.5), ...].",
        ),
        (
            lambda: group_of(start=lambda self, ctx, args: None),
            "test_task_groups.Group: a task group has no start of its own. Move it into an action that performs one of "
            "its tasks.",
        ),
        (
            lambda: group_of(Args=type("Args", (ActionArgs,), {"__annotations__": {"x": int}})),
            "test_task_groups.Group: a task group takes no arguments. Leave Args out; its tasks take arguments.",
        ),
        (
            lambda: group_of(compose_utility=lambda self, entity: 1),
            "test_task_groups.Group: compose_utility of a task group cannot be called: too many positional arguments. "
            "Write compose_utility(self, entity, task_utility).",
        ),
        (
            lambda: TaskGroup(Entity),
            "Entity: it is not a task group action. Derive a class from agentrt.tasks.TaskGroupAction, with 'does' and "
            "'utility'.",
        ),
    ],
)
def test_wrong_groups(make, text):
    with pytest.raises(DefinitionError) as caught:
        make()
    assert text in str(caught.value)


def test_reprs():
    group = TaskGroup(group_of(declare_task("do", 0.2)), name="work")
    task = group.create_task("do").set_annotation("in the yard")
    assert repr(group) == "<TaskGroup work: 1 tasks, 0 members>"
    assert repr(task) == "<Task 1 of work: do, paused, in the yard>"
