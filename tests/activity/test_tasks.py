"""Tasks: from paused to completed or destroyed, who is told what in which order, and who may work on them."""

from __future__ import annotations

import pytest
from cast import careful

from agentrt import Action, ActionArgs, Entity
from agentrt.activity.tasks.group import TASK_TABLE
from agentrt.errors import ArgumentError, TaskError, WrongStateError
from agentrt.tasks import (
    TaskGroup,
    TaskGroupAction,
    TaskState,
    declare_multiple_tasks,
    declare_permanent_task,
    declare_task,
)


class Work(TaskGroupAction):
    """What most of these tests use."""

    does = "top"
    utility = 0.5
    tasks = (
        declare_task("dig", 0.5),
        declare_multiple_tasks("carry", (0.4, 0.8)),
        declare_task("think", 0.9),
    )


class Carry(Action):
    """Carries something for three ticks."""

    does = "carry"
    utility = 0.5

    class Args(ActionArgs):
        what: object = None

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3)


@pytest.fixture
def crew(play, leaf):
    """Make a group with so many members, who know all that there is."""

    def make(members, *, dig=3, think=None, **attributes):
        group = TaskGroup(type("Work", (Work,), attributes) if attributes else Work)
        Dig = leaf("Dig", 1.0, does="dig", run=dig, think=think, quiet=True)
        Think = leaf("Think", 1.0, does="think", run=3, quiet=True)
        for number in range(members):
            group.add(play.add(Dig, Carry, Think, name="abcdefgh"[number]))
        return group

    return make


def told(play, task):
    """Note what the task tells."""
    task.notify_completed(lambda one: play.note("completed", one.number))
    task.notify_interrupted(lambda one: play.note("interrupted", one.number))
    task.notify_destroyed(lambda one: play.note("destroyed", one.number))
    return task


# --- its life ---------------------------------------------------------------------------------------------------------


def test_the_table():
    assert {str(state): [str(one) for one in following] for state, following in TASK_TABLE.items()} == {
        "paused": ["started", "completed", "destroyed"],
        "started": ["paused", "completed", "destroyed"],
        "completed": [],
        "destroyed": [],
    }


@pytest.mark.states("001: Overview, Task group action: A task group action runs one of its declared tasks; which ...")
@pytest.mark.states("001: Tasks: A plain action is always an option; a task is one only when somebody says so")
@pytest.mark.states("001: Issuing tasks: A task starts paused; start dispatches it")
def test_it_begins_paused_and_nobody_considers_it(play, crew):
    group = crew(1)
    task = group.create_task("dig")
    play.tick(3)
    assert (task.state, task.workers, play.trace("run")) == (TaskState.PAUSED, (), [])


@pytest.mark.states("001: Issuing tasks: A task starts paused; start dispatches it ...")
@pytest.mark.states("001: Issuing tasks: times and once; without them it is done indefinitely ...")
def test_started_it_is_done_again_and_again(play, crew):
    group = crew(1)
    task = told(play, group.create_task("dig")).start()
    play.tick(8)
    assert [tick for tick, path, _ in play.trace("run") if path.endswith("/Dig")] == [1, 4, 7]
    assert (task.state, task.finished, task.remaining, play.log) == (TaskState.STARTED, 2, None, [])


@pytest.mark.states("001: Issuing tasks: times and once; without them it is done indefinitely ...")
@pytest.mark.states("001: Issuing tasks: Callbacks when completed, interrupted, destroyed")
def test_once(play, crew):
    group = crew(1)
    task = told(play, group.create_task("dig").once()).start()
    play.tick(8)
    assert [tick for tick, path, _ in play.trace("run") if path.endswith("/Dig")] == [1]
    assert play.log == [(4, "completed", 1), (4, "destroyed", 1)]
    assert (task.state, task.finished, task.remaining, task.is_over, group.tasks) == ("completed", 1, 0, True, ())


@pytest.mark.states("001: Issuing tasks: times and once; without them it is done indefinitely")
def test_times(play, crew):
    group = crew(1)
    told(play, group.create_task("dig").times(2)).start()
    play.tick(12)
    assert [tick for tick, path, _ in play.trace("run") if path.endswith("/Dig")] == [1, 4]
    assert play.log == [(7, "completed", 1), (7, "destroyed", 1)]


@pytest.mark.states("001: Issuing tasks: set_annotation and set_source are for debugging")
def test_annotation_and_source_are_for_debugging_tools(play, crew):
    group, field = crew(1), Entity("field")
    task = group.create_task("dig").set_annotation("north field").set_source(field).start()
    play.tick(1)
    unit = play.agents[0].snapshot().plan.units[0].frames[0].units[0]
    assert (task.annotation, task.source, unit.progress) == ("north field", field, "north field")
    assert "task 1: dig: running, utility 0.5 (north field)" in play.agents[0].explain()


@pytest.mark.states(
    "001: Task group example, Task declarations: declare_multiple_tasks: many at a time, with different arguments",
)
@pytest.mark.states("001: Issuing tasks: create_task takes the activity and the arguments")
def test_a_task_of_several_at_a_time_has_its_own_arguments(play, crew):
    group = crew(1)
    group.create_task("carry", what="stone").once().start()
    group.create_task("carry", {"what": "log"}).once().start()
    assert [task.args for task in group.tasks] == [{"what": "stone"}, {"what": "log"}]
    play.tick(8)
    assert group.tasks == ()


# --- pause ------------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Issuing tasks: (ours) max_workers, pause, wait ...")
def test_pause_stops_those_who_work_and_start_offers_it_again(play, crew):
    group = crew(2)
    task = told(play, group.create_task("dig")).start()
    play.tick(2)
    assert task.workers == ("a", "b")
    task.pause()
    play.tick(3)
    assert (task.workers, play.take_log()) == ((), [(3, "interrupted", 1), (3, "interrupted", 1)])
    assert [agent.snapshot().running for agent in play.agents] == ["", ""]
    task.start()
    play.tick(1)
    assert (task.workers, task.finished) == (("a", "b"), 0)


def test_offered_anew_while_its_worker_still_cleans_up_it_is_thought_of_when_that_is_over(play):
    """It is the same place of the plan: nobody thinks there while what ran there has not stopped."""
    Haul = careful(3, "Haul", does="carry", utility=0.5, runs=50)
    group = TaskGroup(Work)
    group.add(play.add(Haul))
    task = told(play, group.create_task("carry")).start()
    play.tick(2)
    task.pause()
    play.tick(1)
    task.start()
    play.tick(5)
    assert play.take_log() == [(6, "interrupted", 1)]
    assert [one for one in play.trace(since=3) if one[1] == "top/Work/tasks/TaskAction#1"] == [
        (3, "top/Work/tasks/TaskAction#1", "abort"),
        (6, "top/Work/tasks/TaskAction#1", "stop"),
        (7, "top/Work/tasks/TaskAction#1", "think"),
        (7, "top/Work/tasks/TaskAction#1", "ready"),
        (7, "top/Work/tasks/TaskAction#1", "start"),
        (7, "top/Work/tasks/TaskAction#1", "stop_thinking"),
        (7, "top/Work/tasks/TaskAction#1", "run"),
    ]


def test_pause_while_it_thinks(play, crew):
    group = crew(1, think=9)
    task = told(play, group.create_task("dig")).start()
    play.tick(2)
    task.pause()
    play.tick(1)
    assert play.trace(since=3) == [
        (3, "top/Work/tasks/TaskAction#1/dig/Dig", "stop_thinking"),
        (3, "top/Work/tasks/TaskAction#1", "stop_thinking"),
    ]
    assert play.log == []


def test_paused_and_started_between_two_ticks_nothing_happens(play, crew):
    group = crew(1, dig=9)
    task = told(play, group.create_task("dig")).start()
    play.tick(2)
    task.pause().start()
    play.tick(2)
    assert (task.workers, play.log) == (("a",), [])


# --- destroy ----------------------------------------------------------------------------------------------------------


def test_destroyed_before_it_was_started(play, crew):
    task = told(play, crew(1).create_task("dig"))
    task.destroy()
    task.destroy()
    play.tick(1)
    assert (task.state, play.log) == ("destroyed", [(1, "destroyed", 1)])


@pytest.mark.states("001: Issuing tasks: Tasks can be added at any time, to empty groups too")
def test_destroyed_without_any_member_it_is_told_at_once(play):
    task = told(play, TaskGroup(Work).create_task("dig"))
    task.destroy()
    assert play.log == [(0, "destroyed", 1)]


@pytest.mark.states("001: Issuing tasks: Callbacks when completed, interrupted, destroyed ...")
def test_destroyed_while_it_runs(play, crew):
    task = told(play, crew(2).create_task("dig")).start()
    play.tick(2)
    task.destroy()
    play.tick(2)
    assert play.log == [(3, "interrupted", 1), (3, "interrupted", 1), (3, "destroyed", 1)]
    assert [agent.snapshot().aborts for agent in play.agents] == [0, 0]


def test_destroyed_by_its_own_worker(play):
    class Dig(Action):
        does = "dig"
        utility = 1.0

        async def run(self, ctx, args):
            group.tasks[0].destroy()
            await ctx.sleep_ticks(5)

    group = TaskGroup(Work)
    group.add(play.add(Dig))
    told(play, group.create_task("dig")).start()
    play.tick(4)
    assert play.log == [(2, "interrupted", 1), (2, "destroyed", 1)]


def test_destroyed_is_told_when_a_clean_up_that_takes_time_is_over(play):
    Dig = careful(3, "Dig", does="dig", utility=1.0, runs=50)

    group = TaskGroup(Work)
    group.add(play.add(Dig))
    task = told(play, group.create_task("dig")).start()
    play.tick(2)
    task.destroy()
    play.tick(5)
    assert play.log == [(6, "interrupted", 1), (6, "destroyed", 1)]


def test_a_task_whose_argument_is_destroyed_is_destroyed(play, crew):
    stone = Entity("stone")
    task = told(play, crew(0).create_task("carry", what=stone)).start()
    stone.destroy()
    assert play.log == [(0, "destroyed", 1)]
    assert task.state == "destroyed"


def test_but_who_works_on_it_may_finish(play, crew):
    """It may be the worker that uses the thing up."""
    group, stone = crew(1), Entity("stone")
    told(play, group.create_task("carry", what=stone).once()).start()
    play.tick(2)
    stone.destroy()
    play.tick(3)
    assert play.log == [(4, "completed", 1), (4, "destroyed", 1)]


def test_and_if_it_does_not_the_task_is_gone(play, crew):
    group, stone = crew(1), Entity("stone")
    told(play, group.create_task("carry", what=stone).once()).start()
    play.tick(2)
    stone.destroy()
    group.create_task("think").once().start()
    play.tick(3)
    assert play.log == [(3, "interrupted", 1), (3, "destroyed", 1)]


# --- interrupted ------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Issuing tasks: Callbacks when completed, interrupted, destroyed ...")
def test_interrupted_by_a_better_task_and_taken_up_again(play, crew):
    group = crew(1, dig=9)
    told(play, group.create_task("dig").once()).start()
    play.tick(2)
    told(play, group.create_task("think").once()).start()
    play.tick(15)
    assert play.log == [
        (3, "interrupted", 1),
        (6, "completed", 2),
        (6, "destroyed", 2),
        (15, "completed", 1),
        (15, "destroyed", 1),
    ]


def test_interrupted_by_an_abort(play):
    class Dig(Action):
        does = "dig"
        utility = 1.0

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)
            if ctx.clock.tick < 4:
                ctx.abort("stone")

    group = TaskGroup(Work)
    group.add(play.add(Dig))
    told(play, group.create_task("dig").once()).start()
    play.tick(5)
    assert play.log == [(2, "interrupted", 1), (4, "completed", 1), (4, "destroyed", 1)]


def test_a_callback_that_raises_is_reported_and_the_others_are_called(play, crew):
    def fail(task):
        raise ValueError("no")

    group = crew(1)
    task = group.create_task("dig").once().notify_completed(fail)
    told(play, task).start()
    play.tick(5)
    assert play.log == [(4, "completed", 1), (4, "destroyed", 1)]
    assert [error for *_, error in play.faults()] == ["ValueError: no"]


def test_a_callback_may_create_the_next_task(play, crew):
    group = crew(1)

    def again(task):
        play.note("again", task.number)
        if task.number < 3:
            group.create_task("dig").once().notify_completed(again).start()

    group.create_task("dig").once().notify_completed(again).start()
    play.tick(12)
    assert play.log == [(4, "again", 1), (8, "again", 2), (12, "again", 3)]


# --- workers ----------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Tasks: A plain action is done by everybody on its own; a task is shared ...")
def test_a_task_to_be_done_once_is_done_by_one(play, crew):
    group = crew(3)
    task = group.create_task("dig").once().start()
    play.tick(2)
    assert task.workers == ("a",)
    assert [agent.snapshot().running[-3:] for agent in play.agents] == ["Dig", "", ""]


def test_never_more_workers_than_times_are_left(play, crew):
    group = crew(3)
    task = group.create_task("dig").times(4).start()
    seen = []
    for _ in range(9):
        play.tick(1)
        seen.append((task.remaining, len(task.workers)))
    assert seen == [(4, 3), (4, 3), (4, 3), (1, 1), (1, 1), (1, 1), (0, 0), (0, 0), (0, 0)]


@pytest.mark.states("001: Issuing tasks: (ours) max_workers, pause, wait")
def test_max_workers(play, crew):
    group = crew(3)
    task = group.create_task("dig").max_workers(2).start()
    play.tick(2)
    assert task.workers == ("a", "b")


def test_a_place_that_becomes_free_is_taken_in_the_same_tick(play, crew):
    group = crew(2, dig=9)
    task = group.create_task("dig").max_workers(1).start()
    play.tick(2)
    group.remove(play.agents[0])
    play.tick(1)
    assert (play.sim.now, task.workers) == (3, ("b",))


def test_nobody_is_interrupted_for_a_place_that_somebody_else_gets(play, crew):
    group = crew(3, dig=9)
    told(play, group.create_task("dig")).start()
    play.tick(2)
    think = group.create_task("think").once().start()
    play.tick(1)
    assert (think.workers, group.tasks[0].workers) == (("a",), ("b", "c"))
    assert play.log == [(3, "interrupted", 1)]
    assert play.sim.events("full") == [
        (3, "b", "top/Work/tasks/TaskAction#2", "full"),
        (3, "c", "top/Work/tasks/TaskAction#2", "full"),
    ]


def test_a_place_that_was_taken_and_is_not_needed_is_given_back(play, crew):
    """What was to take over withdraws while the old action cleans up."""

    Dig = careful(3, "Dig", does="dig", utility=1.0, runs=50)

    class Think(Action):
        does = "think"
        utility = 1.0

        async def think(self, ctx, args):
            ctx.set_think_output()
            await ctx.sleep_ticks(2)
            ctx.clear_think_output()
            await ctx.sleep_ticks(50)

        async def run(self, ctx, args):
            await ctx.sleep_ticks(50)

    group = TaskGroup(Work)
    group.add(play.add(Dig, Think))
    group.create_task("dig").start()
    play.tick(2)
    think = group.create_task("think").once().start()
    play.tick(1)
    assert (think.working != [], think.workers) == (True, ())
    play.tick(4)
    assert (think.working, [agent.snapshot().running[-3:] for agent in play.agents]) == ([], ["Dig"])


def rotated(group):
    """Members a, b, c, d in the order c, d, a, b."""
    for agent in list(group.members)[:2]:
        group.remove(agent)
        group.add(agent)
    return group


@pytest.mark.states("001: Issuing tasks: (ours) A task goes to the members who are ready first; who still thinks ...")
def test_of_agents_that_begin_the_first_that_came_takes_it(play, crew):
    group = rotated(crew(4))
    task = group.create_task("dig").once().start()
    play.tick(1)
    assert task.workers == ("a",)  # all begin to think in the same tick, in the order of their coming


@pytest.mark.states("001: Issuing tasks: (ours) A task goes to the members who are ready first; who still thinks ...")
def test_of_members_that_are_free_the_first_of_the_group_takes_it(play, crew):
    """They are told of a new task in the order in which they were added to the group."""
    group = rotated(crew(4))
    play.tick(5)
    task = group.create_task("dig").once().start()
    play.tick(1)
    assert task.workers == ("c",)


@pytest.mark.states(
    "001: Issuing tasks: (ours) A task goes to the members who are ready first; who still thinks is not waited for; "
    "of those who are asked at once, in the order of the group",
)
@pytest.mark.parametrize(("think", "expected"), [({"a": 3}, "b"), ({"a": 3, "b": 5, "c": 2, "d": 2}, "c")])
def test_nobody_is_waited_for_who_still_thinks(play, think, expected):
    """Whoever is ready first takes it, whatever the order of the members; of those at once, whoever began first."""

    class Dig(Action):
        does = "dig"
        utility = 1.0

        async def think(self, ctx, args):
            await ctx.sleep_ticks(think.get(ctx.agent.name, 0))
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(9)

    group = TaskGroup(Work)
    for name in "abcd":
        group.add(play.add(Dig, name=name))
    play.tick(5)
    task = group.create_task("dig").once().start()
    play.tick(6)
    assert task.workers == (expected,)


@pytest.mark.states("001: Issuing tasks: (ours) A task goes to the members who are ready first; who still thinks ...")
def test_a_member_that_comes_to_think_first_is_ready_first(play, crew):
    """It has thought since tick 1, the other one since tick 2."""
    group = crew(2, think=4)
    first, second = group.members
    group.remove(first)
    task = group.create_task("dig").once().start()
    play.tick(1)
    group.add(first)
    play.tick(3)
    assert task.workers == ()
    play.tick(2)
    assert task.workers == (second.name,)


# --- how long work waits ----------------------------------------------------------------------------------------------


def test_how_long_a_task_waited(play, crew):
    group = crew(1)
    group.create_task("think").once().start()
    group.create_task("dig").once().start()
    play.tick(10)
    assert (group.waits.count, group.waits.longest) == (2, 3)
    assert play.sim.runtime.waits.count == 2


def test_a_permanent_task_is_no_work_that_waits(play, crew):
    group = crew(1, tasks=(declare_permanent_task("dig", {}, 0.2), declare_task("think", 0.5)))
    group.create_task("think").once().start()
    play.tick(9)
    assert group.waits.count == 1


# --- waiting for it ---------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Issuing tasks: (ours) max_workers, pause, wait ...")
def test_wait_returns_whether_it_was_completed(play, crew):
    group = crew(1)
    done = group.create_task("dig").once().start()
    lost = group.create_task("think")

    async def watch(task):
        play.note(task.number, await task.wait())
        play.note(task.number, await task.wait())

    for task in (done, lost):
        play.sim.runtime.spawn(watch, task)
    play.tick(5)
    lost.destroy()
    play.tick(1)
    assert play.log == [(4, 1, True), (4, 1, True), (6, 2, False), (6, 2, False)]


# --- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Task group example, Task declarations: Only activities that the group declares can be tasks")
@pytest.mark.states("001: Issuing tasks: Only declared activities, and one at a time unless declared as multiple")
def test_an_activity_that_is_not_declared(crew):
    with pytest.raises(TaskError) as caught:
        crew(0).create_task("dog")
    assert str(caught.value) == (
        "[ART109] Work: the activity 'dog' is not declared there. Did you mean 'dig'? Declare it in the group, or with "
        "group.declare_task; declared: dig, carry, think."
    )


@pytest.mark.states(
    "001: Task group example, Task declarations: declare_task: one at a time, arguments given at run time",
)
@pytest.mark.states("001: Issuing tasks: Only declared activities, and one at a time unless declared as multiple ...")
def test_a_second_task_of_a_declaration_for_one(crew):
    group = crew(0)
    group.create_task("dig")
    with pytest.raises(TaskError) as caught:
        group.create_task("dig")
    assert str(caught.value) == (
        "[ART109] Work: there is a task that does 'dig' already: <Task 1 of Work: dig, paused>. Destroy that one first, "
        "or declare the activity with declare_multiple_tasks."
    )


@pytest.mark.states("001: Task group example, Task declarations: declare_task: one at a time, arguments given at ...")
def test_after_the_first_is_over_there_may_be_another(play, crew):
    group = crew(1)
    group.create_task("dig").once().start()
    play.tick(4)
    assert group.create_task("dig").number == 2


@pytest.mark.states("001: Issuing tasks: create_task takes the activity and the arguments ...")
def test_arguments_that_do_not_fit(play, crew):
    group = crew(1)
    play.tick(1)
    with pytest.raises(ArgumentError, match="which"):
        group.create_task("carry", which="stone")


def test_an_argument_that_is_destroyed_already(crew):
    stone = Entity("stone")
    stone.destroy()
    with pytest.raises(ArgumentError, match="is destroyed already"):
        crew(0).create_task("carry", what=stone)


def test_arguments_that_no_member_could_check_disable_the_task(play, crew):
    group = crew(0)
    group.create_task("carry", which="stone").start()
    agent = play.add(Carry)
    group.add(agent)
    play.tick(2)
    assert [(hook, error[:13]) for *_, hook, error in play.faults()] == [("step 1 (carry)", "ArgumentError")]
    assert agent.is_alive


@pytest.mark.states("001: Issuing tasks: (decided) How often and by how many is settled before start")
@pytest.mark.parametrize("method", ["times", "max_workers"])
def test_configured_when_it_is_under_way(crew, method):
    task = crew(0).create_task("dig").start()
    with pytest.raises(WrongStateError, match=f"{method} cannot be called while"):
        getattr(task, method)(1)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2"])
def test_counts_are_whole_numbers_from_1(crew, count):
    with pytest.raises(ValueError, match="it takes a whole number from 1"):
        crew(0).create_task("dig").times(count)


@pytest.mark.parametrize("method", ["start", "pause"])
def test_what_is_over_stays_over(crew, method):
    task = crew(0).create_task("dig")
    task.destroy()
    with pytest.raises(WrongStateError, match="is destroyed"):
        getattr(task, method)()


@pytest.mark.states("001: Task group example, Task declarations: declare_permanent_task: created with the group ...")
def test_a_permanent_task_is_there_for_ever(crew):
    group = crew(0, tasks=(declare_permanent_task("dig", {}, 0.2),))
    task = group.tasks[0]
    assert (task.is_permanent, task.state) == (True, "started")
    for call in (task.destroy, task.pause().once):
        with pytest.raises(WrongStateError, match="is permanent"):
            call()
    with pytest.raises(TaskError, match="already"):
        group.create_task("dig")


# --- seen from outside ------------------------------------------------------------------------------------------------


def test_a_group_as_plain_data(play, crew):
    group = crew(2)
    group.create_task("dig").times(2).set_annotation("north field").set_source(Entity("field")).start()
    group.create_task("carry", what=Entity("stone", id=3)).max_workers(1)
    play.tick(2)
    assert group.snapshot().as_json() == {
        "name": "Work",
        "activity": "top",
        "members": ["a", "b"],
        "tasks": [
            {
                "number": 1,
                "activity": "dig",
                "args": {},
                "state": "started",
                "is_permanent": False,
                "finished": 0,
                "remaining": 2,
                "worker_limit": None,
                "workers": ["a", "b"],
                "annotation": "north field",
                "source": "field",
            },
            {
                "number": 2,
                "activity": "carry",
                "args": {"what": "stone 3"},
                "state": "paused",
                "is_permanent": False,
                "finished": 0,
                "remaining": None,
                "worker_limit": 1,
                "workers": [],
                "annotation": "",
                "source": "",
            },
        ],
        "waits": group.waits.as_json(),
    }


def test_what_is_told_before_the_first_tick_counts_from_the_first_thought_on(play, crew):
    """Not: it begins with what was there when it was added, and is interrupted in the same tick."""
    group = crew(1)
    told(play, group.create_task("dig")).start()
    group.create_task("think").once().start()
    play.tick(1)
    assert play.log == []
    assert [path for _, path, _ in play.trace("run")] == [
        "top/Work",
        "top/Work/tasks/TaskAction#2",
        "top/Work/tasks/TaskAction#2/think/Think",
    ]
