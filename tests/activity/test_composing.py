"""compose_utility: when it is asked, and with what."""

from __future__ import annotations

import asyncio
import math
from fractions import Fraction

import pytest

from agentrt import Action, CompoundAction, Signal, step
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_task


def composed(play, steps, compose=None, *, utility=(0.0, 1.0), **attributes):
    """A compound that notes what its hook is asked with."""

    def compose_utility(self, entity, self_utility, child_utilities, current_activity):
        play.note(self_utility, child_utilities[1], child_utilities[2], current_activity)
        return self_utility if compose is None else compose(self_utility, child_utilities)

    body = {"does": "top", "utility": utility, "steps": steps, "compose_utility": compose_utility, **attributes}
    return type("Plan", (CompoundAction,), body)


def ready_after(ticks, does, utility, name, run=20):
    async def think(self, ctx, args):
        await ctx.sleep_ticks(ticks)
        ctx.set_think_output()
        await ctx.sleep(1000)

    async def running(self, ctx, args):
        await ctx.sleep_ticks(run)

    return type(name, (Action,), {"does": does, "utility": utility, "think": think, "run": running})


# --- when it is asked -------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Compound action, Methods: A step's utility changes also by a take-over")
def test_asked_when_another_action_takes_the_running_step(play):
    """It has another utility: that is a change of the step's utility."""
    agent = play.add(
        composed(play, [step("a"), step("b")], lambda own, children: children["a"] / 2),
        ready_after(0, "a", 0.4, "Slow"),
        ready_after(3, "a", 0.8, "Fast"),
        ready_after(0, "b", 0.5, "B"),
    )
    play.tick(3)
    play.take_log()
    assert agent.snapshot().plan.units[0].utility == 0.2
    play.tick(1)
    assert play.log[-1] == (4, 0.0, 0.8, 0.5, "a")
    assert agent.snapshot().plan.units[0].utility == 0.4


def test_asked_when_another_action_takes_a_step_of_a_plan_that_is_ready(play, leaf):
    """Not elected yet: a better plan runs."""
    agent = play.add(
        composed(play, [step("a"), step("b")], lambda own, children: children["a"] / 2),
        ready_after(0, "a", 0.4, "Slow"),
        ready_after(3, "a", 0.8, "Fast"),
        ready_after(0, "b", 0.5, "B"),
        leaf("Best", 0.9, run=50, quiet=True),
    )
    play.tick(4)
    assert play.log == [(1, 0.0, 0.4, 0.5, None), (4, 0.0, 0.8, 0.5, None)]
    assert agent.snapshot().plan.units[0].utility == 0.4


def test_set_utility_of_a_running_plan_is_composed_and_may_cost_it_its_place(play, leaf):
    changed = Signal()

    class Own:
        def start(self, ctx, args):
            ctx.listen(changed, ctx.set_utility)

    agent = play.add(
        composed(
            play,
            [step("a"), step("b")],
            lambda own, children: own * children["a"],
            utility=(0.5, 1.0),
            start=Own.start,
        ),
        ready_after(0, "a", 0.8, "A"),
        ready_after(0, "b", 0.5, "B"),
        leaf("Other", 0.6, run=50, quiet=True),
    )
    play.tick(2)
    assert agent.snapshot().running == "top/Other"
    play.close()
    assert play.log[0] == (1, 0.5, 0.8, 0.5, None)


@pytest.mark.states("001: Compound action, Methods: Its own part is what set_utility made it, also while it runs")
def test_the_own_part_while_it_runs(play):
    changed = Signal()

    def start(self, ctx, args):
        ctx.listen(changed, ctx.set_utility)

    agent = play.add(
        composed(play, [step("a"), step("b")], lambda own, children: own * children["a"], start=start),
        ready_after(0, "a", 0.8, "A"),
        ready_after(0, "b", 0.5, "B"),
    )
    play.tick(2)
    play.take_log()
    changed.emit(0.5)
    play.tick(1)
    assert play.log == [(2, 0.5, 0.8, 0.5, "a")]
    assert agent.snapshot().plan.units[0].utility == 0.4


def test_a_running_plan_that_becomes_worse_is_left(play, leaf):
    """Compared again as its steps go: the last step is worth little, and somebody else is better then."""
    play.add(
        composed(play, [step("a"), step("b")], lambda own, children: 0.8 if children["a"] else 0.0),
        ready_after(0, "a", 0.8, "A", run=2),
        ready_after(0, "b", 0.5, "B"),
        leaf("Other", 0.6, run=50, quiet=True),
    )
    play.tick(4)
    assert play.trace("run")[-1] == (3, "top/Plan/b/B", "run")
    assert play.trace("preempt") == []


@pytest.mark.states("001: Compound action, Methods: The steps' utilities are found by activity; (ours) by number, too")
def test_steps_by_number_and_by_activity(play):
    """Of two steps of one activity the name means the first; the number tells them apart."""
    told = []

    def compose(own, children):
        told.append((children["a"], children[1], children[3], children.get("a"), children.get(9, 0.25)))
        return own

    class A(Action):
        does = "a"
        utility = (0.0, 1.0)
        made = 0

        async def think(self, ctx, args):
            type(self).made += 1
            ctx.set_utility(self.made / 4)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(3)

    play.add(composed(play, [step("a"), step("b"), step("a")], compose), A, ready_after(0, "b", 0.5, "B"))
    play.tick(1)
    assert told[0] == (0.25, 0.25, 0.5, 0.25, 0.25)


@pytest.mark.states(
    "001: Compound action, Methods: (ours) Asking for a step that there is not is an error that names those that "
    "there are",
)
@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (
            lambda children: children["demo:pant"],
            "LookupError: child_utilities['demo:pant'] names no step. Did you mean 'demo:paint' or 'demo:walk'? "
            "It has: 'demo:walk' (1), 'demo:paint' (2)",
        ),
        (
            lambda children: children[3],
            "LookupError: child_utilities[3] names no step. It has: 'demo:walk' (1), 'demo:paint' (2)",
        ),
        (
            lambda children: children[0],
            "LookupError: child_utilities[0] names no step. It has: 'demo:walk' (1), 'demo:paint' (2)",
        ),
        (
            lambda children: children[True],
            "LookupError: child_utilities[True] names no step. It has: 'demo:walk' (1), 'demo:paint' (2)",
        ),
        (
            lambda children: children.paint,
            "AttributeError: child_utilities.paint: ask for a step by its activity, 'demo:walk' (1), 'demo:paint' (2)",
        ),
    ],
)
def test_a_step_that_there_is_not_is_an_error_that_names_those_that_there_are(play, leaf, ask, error):
    class Plan(CompoundAction):
        does = "top"
        utility = 0.4
        steps = [step("demo:walk"), step("demo:paint")]

        def compose_utility(self, entity, self_utility, child_utilities, current_activity):
            return ask(child_utilities)

    walk, paint = (leaf(name, does=f"demo:{name.lower()}", run=9, quiet=True) for name in ("Walk", "Paint"))
    agent = play.add(Plan, walk, paint)
    play.tick(1)
    assert agent.snapshot().plan.units[0].utility == 0.4
    assert {fault[1:] for fault in play.faults()} == {("top/Plan", "compose_utility", error)}


# --- what it may return -----------------------------------------------------------------------------------------------


class Half:
    def __float__(self):
        return 0.5


def broken(*_):
    raise ValueError("no")


def cancelled(*_):
    raise asyncio.CancelledError


NONSENSE = [
    broken,
    cancelled,
    lambda *_: math.nan,
    lambda *_: "0.5",
    lambda *_: True,
    lambda *_: None,
    lambda *_: [0.5],
    lambda *_: 10**400,
]


@pytest.mark.states(
    "001: Compound action, Methods: (ours) If it raises or returns no number, the compound is worth what set_utility "
    "placed in its range",
)
@pytest.mark.parametrize("compose", NONSENSE)
def test_nonsense_leaves_a_compound_where_set_utility_put_it(play, leaf, compose):
    async def think(self, ctx, args):
        ctx.set_utility(0.5)
        ctx.set_think_output()

    plan = composed(play, [step("a"), step("a")], utility=(0.2, 0.4), think=think)
    plan = type("Plan", (plan,), {"compose_utility": lambda self, *args: compose(*args)})
    agent = play.add(plan, leaf("A", does="a", run=2, quiet=True))
    for _ in range(4):
        play.tick(1)
        assert agent.snapshot().plan.units[0].utility == 0.3
    faults = play.faults()
    assert {fault[1:3] for fault in faults} == {("top/Plan", "compose_utility")}
    assert len(faults) > 1  # counted each time; the log has the first


@pytest.mark.states(
    "001: Task group example, Methods: (ours) If it raises or returns no number, the group is worth its task's "
    "utility in its declared range",
)
@pytest.mark.parametrize("compose", NONSENSE)
@pytest.mark.parametrize(("declared", "place"), [((0.0, 0.3), 0.18), ((0.5, 0.9), 0.74), (0.4, 0.4)])
def test_nonsense_leaves_a_group_at_its_declared_place(play, leaf, compose, declared, place):
    body = {
        "does": "top",
        "utility": declared,
        "tasks": [declare_task("do", 0.6)],
        "compose_utility": lambda self, *args: compose(*args),
    }
    group = TaskGroup(type("Group", (TaskGroupAction,), body))
    agent = play.add(leaf("Do", does="do", run=9, quiet=True))
    group.add(agent)
    group.create_task("do").start()
    play.tick(1)
    assert [unit.utility for unit in agent.snapshot().plan.units] == [place]
    assert {fault[1:3] for fault in play.faults()} == {("top/Group", "compose_utility")}


@pytest.mark.states("001: Compound action, Methods: (ours) If it raises or returns no number, the compound is ...")
@pytest.mark.parametrize(
    ("value", "utility"), [(Half(), 0.5), (Fraction(1, 4), 0.25), (1, 1.0), (math.inf, 1.0), (-math.inf, 0.0), (7, 1.0)]
)
def test_any_kind_of_number_will_do_and_is_kept_between_0_and_1(play, leaf, value, utility):
    agent = play.add(
        composed(play, [step("a"), step("a")], lambda own, children: value), leaf("A", does="a", run=9, quiet=True)
    )
    play.tick(1)
    assert agent.snapshot().plan.units[0].utility == utility
