"""Coroutine goals of an agent on all hosts: one literal log, awaiting what the host offers, and an orderly end."""

from __future__ import annotations

import asyncio

import pytest
import trio

from agentrt import TOP, Action, Agent, CancelScope, sleep_ticks
from agentrt.goals import LOOK, MOVE, TARGETS, Goal, GoalSelector


class Logged(Goal):
    """Writes into the log of its entity."""

    def __init__(self, name, flags=(), use=True):
        self.name = name
        self.use = use
        self.set_flags(flags)

    def note(self, text):
        self.entity.log.append((self.body.kernel.tick, f"{self.name} {text}"))

    def can_use(self):
        return self.use


class Walk(Logged):
    async def start(self):
        self.note("start")
        await sleep_ticks(1)
        self.note("started")

    async def run(self):
        self.note("runs")
        try:
            await sleep_ticks(1000)
        finally:
            with CancelScope(shield=True):
                await sleep_ticks(2)
            self.note("clean")

    async def stop(self):
        self.note("stop")
        await sleep_ticks(1)
        self.note("stopped")


class Flee(Logged):
    def start(self):
        self.note("start")

    def stop(self):
        self.note("stop")


class Wolf:
    name = "wolf"

    def __init__(self):
        self.log = []


def being(*goals, actions=(), **options):
    entity = Wolf()
    selector = GoalSelector(**options)
    for priority, goal in goals:
        selector.add_goal(priority, goal)
    agent = Agent(entity, actions=list(actions))
    agent.attach(selector)
    return agent, selector, entity.log


def at(runtime, tick, function):
    """Call a function in the drivers' phase of one tick."""
    runtime.every_tick(lambda: function() if runtime.tick == tick else None)


@pytest.mark.states("000: Usage: (decided) Those that are attached to an agent are ticked by it")
@pytest.mark.states(
    "000: Ours: (ours) The same on every host, where they await what the host offers",
    source="Operation",
)
def test_the_same_log_on_all_hosts(play):
    """Started, replaced, cleaned up, and only then followed; all of it in the same ticks everywhere."""
    flee = Flee("flee", [MOVE], use=False)
    agent, _, log = being((5, Walk("walk", [MOVE])), (1, flee))
    runtime = play.runtime()
    runtime.add(agent)
    at(runtime, 3, lambda: setattr(flee, "use", True))
    play.ticks(runtime, 10)
    assert log == [
        (1, "walk start"), (2, "walk started"), (2, "walk runs"),
        (6, "walk clean"), (6, "walk stop"), (7, "walk stopped"), (7, "flee start"),
        (11, "flee stop"),
    ]  # fmt: skip


def test_an_agent_that_ends_stops_its_goals(play):
    agent, _, log = being((1, Walk("walk", [MOVE])), (2, Flee("gaze", [LOOK])))
    runtime = play.runtime()
    runtime.add(agent)
    at(runtime, 4, lambda: runtime.remove(agent))
    play.ticks(runtime, 12)
    assert [text for _, text in log] == [
        "gaze start", "walk start", "walk started", "walk runs",
        "gaze stop", "walk clean", "walk stop", "walk stopped",
    ]  # fmt: skip
    assert agent.has_ended.is_set
    assert agent.flags.is_free


def test_a_runtime_that_is_closed_stops_them(play):
    agent, _, log = being((1, Walk("walk", [MOVE])))
    runtime = play.runtime()
    runtime.add(agent)
    play.ticks(runtime, 4)
    assert [text for _, text in log][-3:] == ["walk clean", "walk stop", "walk stopped"]


def test_it_is_detached(play):
    agent, selector, log = being((1, Walk("walk", [MOVE])))
    runtime = play.runtime()
    runtime.add(agent)
    at(runtime, 4, agent.attachments[0].detach)
    play.ticks(runtime, 12)
    assert [text for _, text in log][-3:] == ["walk clean", "walk stop", "walk stopped"]
    assert agent.attachments == ()
    assert selector.running_goals == ()


@pytest.mark.states("000: Ours: (ours) So does one whose coroutine raises, also while it cleans up ...")
@pytest.mark.parametrize("hook", ["start", "tick", "run", "stop"])
def test_a_coroutine_that_raises_takes_nobody_with_it(play, hook):
    async def fail(self):
        await sleep_ticks(1)
        raise ValueError("no")

    bad = type("Bad", (Logged,), {hook: fail})("bad", [MOVE])
    agent, selector, log = being((1, bad), (2, Flee("gaze", [LOOK])))
    runtime = play.runtime()
    runtime.add(agent)
    records = []
    runtime.trace.listen(records.append)
    at(runtime, 3, lambda: setattr(bad, "use", False))
    at(runtime, 7, lambda: log.append(selector.view().goals[0].state))
    play.ticks(runtime, 8)
    assert [(one.path, one.detail) for one in records if one.event == "disabled"] == [("goals/bad", (("hook", hook),))]
    assert [(one.path, one.detail) for one in records if one.event == "fault"] == [
        ("goals/bad", (("hook", hook), ("error", "ValueError: no")))
    ]
    assert "disabled" in log
    assert [entry[1] for entry in log if entry != "disabled"] == ["gaze start", "gaze stop"]


@pytest.mark.states("000: Ours: (ours) The same on every host, where they await what the host offers ...")
def test_it_awaits_what_the_host_offers(play_loop):
    class Ask(Logged):
        async def run(self):
            for _ in range(2):
                await play_loop.sleep(0.1)
                self.note(f"at {round(play_loop.now() - begun, 3)}")

    agent, _, log = being((1, Ask("ask")))
    runtime = play_loop.runtime(ticks_per_second=10)
    runtime.add(agent)
    begun = 0.0

    async def main():
        nonlocal begun
        begun = play_loop.now()
        await runtime.run(5)
        await runtime.aclose()

    play_loop(main)
    assert [text for _, text in log[:2]] == ["ask at 0.1", "ask at 0.2"]


@pytest.mark.states("000: Ours: (ours) The same on every host, where they await what the host offers ...")
@pytest.mark.parametrize("hook", ["start", "tick", "run"])
def test_cancelled_while_it_waits_for_the_host(play_loop, hook):
    async def wait(self):
        try:
            await play_loop.sleep(1000)
        except (asyncio.CancelledError, trio.Cancelled):
            self.note("cancelled")
            raise

    goal = type("Waiter", (Flee,), {hook: wait})("waiter", [MOVE])
    agent, _, log = being((1, goal))
    runtime = play_loop.runtime()
    runtime.add(agent)
    at(runtime, 4, lambda: setattr(goal, "use", False))
    play_loop.ticks(runtime, 8)
    assert [text for _, text in log if text != "waiter start"] == ["waiter cancelled", "waiter stop"]
    assert agent.flags.is_free


def test_agent_run_returns_when_its_goals_have_stopped(play_loop):
    agent, _, log = being((1, Walk("walk", [MOVE])))
    runtime = play_loop.runtime()
    runtime.add(agent)
    at(runtime, 5, lambda: runtime.remove(agent))

    async def main():
        await agent.run()
        log.append((0, "returned"))

    play_loop(main)
    assert [text for _, text in log][-3:] == ["walk stop", "walk stopped", "returned"]


class Step(Action):
    does = "wolf:step"
    utility = 0.5
    flags = {MOVE}
    ticks = 3

    async def run(self, ctx, args):
        ctx.entity.log.append((ctx.clock.tick, "step"))
        try:
            await ctx.sleep_ticks(self.ticks)
            ctx.entity.log.append((ctx.clock.tick, "step done"))
        finally:
            ctx.entity.log.append((ctx.clock.tick, "step over"))


class LongStep(Step):
    ticks = 1000


class Stroll(Logged):
    async def run(self):
        self.note("runs")
        await self.perform("wolf:step")
        self.note("performed")

    def stop(self):
        self.note("stop")


@pytest.mark.states(
    "000: Ours: (ours) A goal performs an activity of the planner with its own flags; it is unwound with the goal",
    source="Operation",
)
def test_a_goal_performs_an_activity_with_its_own_flags(play):
    agent, _, log = being((1, Stroll("stroll", [MOVE])), actions=[Step])
    runtime = play.runtime()
    runtime.add(agent)
    play.ticks(runtime, 5)
    assert [text for _, text in log][:6] == [
        "stroll runs",
        "step",
        "step done",
        "step over",
        "stroll performed",
        "stroll stop",
    ]
    assert agent.flags.refusals() == []


@pytest.mark.states("000: Ours: (ours) A goal performs an activity of the planner with its own flags; it is ...")
def test_what_a_goal_performs_is_unwound_when_it_is_replaced(play):
    flee = Flee("flee", [MOVE], use=False)
    agent, _, log = being((5, Stroll("stroll", [MOVE])), (1, flee), actions=[LongStep])
    runtime = play.runtime()
    runtime.add(agent)
    at(runtime, 3, lambda: setattr(flee, "use", True))
    play.ticks(runtime, 6)
    assert [text for _, text in log][:5] == ["stroll runs", "step", "step over", "stroll stop", "flee start"]


class Doze(Action):
    does = TOP
    utility = 0.5
    flags = {MOVE}

    async def run(self, ctx, args):
        ctx.entity.log.append((ctx.clock.tick, "doze"))
        try:
            await ctx.sleep_ticks(1000)
        finally:
            ctx.entity.log.append((ctx.clock.tick, "doze over"))


@pytest.mark.states("000: Ours: (ours) Goals give way to a claim of higher precedence, and others to theirs; until ...")
@pytest.mark.parametrize(("precedence", "expected"), [(0, []), (1, ["doze over", "flee start"])])
def test_a_plan_keeps_its_flags_or_gives_way_by_precedence(play, precedence, expected):
    flee = Flee("flee", [MOVE], use=False)
    agent, _, log = being((1, flee), actions=[Doze], precedence=precedence)
    runtime = play.runtime()
    runtime.add(agent)
    at(runtime, 3, lambda: setattr(flee, "use", True))
    at(runtime, 6, lambda: runtime.remove(agent))
    play.ticks(runtime, 8)
    texts = [text for tick, text in log if tick < 6]
    assert texts == ["doze", *expected]


@pytest.mark.states("000: Usage: (decided) The one for targets comes first in a tick, by its rank")
def test_target_selectors_come_first(play):
    """By rank, whatever the order of attaching."""
    agent, _, log = being((1, Flee("bite", [MOVE])))
    targets = GoalSelector(name="targets", rank=TARGETS)
    targets.add_goal(1, Flee("choose", ["TARGET"]))
    agent.attach(targets)
    runtime = play.runtime()
    runtime.add(agent)
    play.ticks(runtime, 3)
    assert [text for _, text in log][:2] == ["choose start", "bite start"]
