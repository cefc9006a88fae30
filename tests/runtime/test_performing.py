"""``await agent.perform(...)``: from observers, coroutines of the world and routines of drivers, on all hosts, to any end."""

from __future__ import annotations

import re

import pytest
from modules import load

from agentrt import (
    MOVE,
    Action,
    Agent,
    CancelScope,
    Entity,
    move_on_after,
    sleep_ticks,
)
from agentrt.errors import ActivityAbortedError, NotRunningError
from agentrt.testing import Simulation

performers = load("tests/runtime/performers.py")
Told = performers.Told
Rest = performers.Rest
Walk = performers.Walk
Watch = performers.Watch
Fetch = performers.Fetch
being = performers.being
words = performers.words
check = performers.check
Holding = performers.Holding
outcome = performers.outcome
begin = performers.begin
Scene = performers.Scene
scene = performers.scene


# --- three places to perform from, three hosts ------------------------------------------------------------------------


places = pytest.mark.parametrize("place", ["observer", "driver", "world"])


@places
def test_a_plan_is_performed_beside_the_plan(play, place):
    log = []
    runtime = play.runtime()
    agent = begin(runtime, place, lambda agent: outcome(log, agent, "fetch"))
    play.ticks(runtime, 8)
    assert words(agent, "Fetch", "Walk", "Watch") == [
        (1, "Fetch", "start"),
        (1, "Walk", "start"),
        (1, "Watch", "start"),
        (1, "Walk", "run"),
        (3, "Walk", "done"),
        (3, "Watch", "run"),
        (6, "Watch", "done"),
        (6, "Walk", "stop"),
        (6, "Watch", "stop"),
        (6, "Fetch", "stop"),
    ]
    assert [entry[:2] for entry in log] == [(6, "performed")]
    assert words(agent, "Rest") == [(1, "Rest", "start"), (1, "Rest", "run"), (9, "Rest", "stop")]
    check(agent)


@places
def test_it_returns_the_think_output(play, place):
    log = []
    runtime = play.runtime()
    agent = begin(runtime, place, lambda agent: outcome(log, agent, "find", {"what": "cat"}))
    play.ticks(runtime, 5)
    assert [(tick, what, result.found) for tick, what, result in log] == [(3, "performed", "the cat")]
    check(agent)


@places
def test_an_agent_that_is_removed_unwinds_it_first(play, place):
    log = []
    runtime = play.runtime()
    agent = begin(runtime, place, lambda agent: outcome(log, agent, "fetch"))
    runtime.every_tick(lambda: runtime.tick == 4 and runtime.remove(agent))
    play.ticks(runtime, 8)
    assert [word for word in words(agent) if word[0] == 5 and word[1] != "Rest"] == [
        (5, "Walk", "stop"),
        (5, "Watch", "stop"),
        (5, "Fetch", "stop"),
    ]
    if place == "world":
        assert log == [(5, "ActivityAbortedError", "the agent ended")]
    else:
        assert log == [(5, "cancelled", "")]
    assert agent.has_ended.is_set
    check(agent)


@places
def test_a_runtime_that_is_closed_unwinds_it(play, place):
    log = []
    runtime = play.runtime()
    agent = begin(runtime, place, lambda agent: outcome(log, agent, "patrol"))
    play.ticks(runtime, 2)
    assert len(log) == 1
    check(agent)


@places
def test_its_clean_up_is_awaited_before_the_cancellation_goes_on(play, place):
    class Slow(Walk):
        does = "slow"
        cleans = 3

    log = []
    runtime = play.runtime()

    async def main(agent):
        with move_on_after(0.1):  # two ticks
            await outcome(log, agent, "slow")
        log.append((runtime.tick, "goes on", ""))
        await sleep_ticks(100)

    agent = begin(runtime, place, main)
    agent.inject(Slow)
    play.ticks(runtime, 10)
    assert log == [(6, "cancelled", ""), (6, "goes on", "")]
    assert words(agent, "Slow")[-1] == (6, "Slow", "stop")
    check(agent)


@places
def test_what_goes_wrong_is_an_error_of_who_awaits_it(play, place, logged):
    log = []

    async def main(agent):
        for activity in ("fail", "abort", "refuse", "nothing"):
            await outcome(log, agent, activity)
        await outcome(log, agent, "find", {"what": 3})
        await outcome(log, agent, "find", {"size": "large"})

    runtime = play.runtime()
    agent = begin(runtime, place, main)
    play.ticks(runtime, 8)
    assert log == [
        (2, "ActivityAbortedError", "run raised ValueError: no"),
        (3, "ActivityAbortedError", "stumbled"),
        (3, "ActivityImpossibleError", ""),
        (3, "ActivityImpossibleError", ""),
        (3, "ArgumentError", ""),
        (3, "ArgumentError", ""),
    ]
    assert [re.search(r"\w+ raised \w+", text).group() for level, text in logged() if level == "ERROR"] == [
        "run raised ValueError"
    ]
    assert agent.snapshot().aborts == 0
    check(agent)


@places
def test_it_can_be_performed_again_and_again(play, place):
    log = []

    async def main(agent):
        for _ in range(3):
            await outcome(log, agent, "walk")

    runtime = play.runtime()
    agent = begin(runtime, place, main)
    play.ticks(runtime, 8)
    assert [tick for tick, *_ in log] == [3, 5, 7]
    check(agent)


def test_the_clean_up_of_an_action_may_wait_for_the_host(play_loop):
    class Real(Walk):
        does = "real"

        async def run(self, ctx, args):
            try:
                await ctx.sleep_ticks(1_000_000)
            finally:
                with CancelScope(shield=True):
                    await play_loop.sleep(0.2)
                    self.write(ctx, "clean")

    log = []
    runtime = play_loop.runtime(ticks_per_second=10)

    async def main(agent):
        with move_on_after(0.2):
            await outcome(log, agent, "real")
        log.append((runtime.tick, "goes on", ""))

    agent = begin(runtime, "world", main)
    agent.inject(Real)

    async def whole():
        await runtime.run(9)
        await runtime.aclose()

    play_loop(whole)
    assert [what for _, what, _ in log] == ["cancelled", "goes on"]
    assert [word for *_, word in words(agent, "Real")] == ["start", "clean", "stop"]
    check(agent)


# --- the end of the agent ---------------------------------------------------------------------------------------------


def test_performing_for_an_agent_that_ended_meanwhile(scene):
    """It was asked for while the agent lived, and is awaited afterwards."""
    log = []

    async def late():
        asked = scene.agent.perform("walk")
        await sleep_ticks(3)
        try:
            await asked
        except NotRunningError as error:
            log.append(str(error))

    scene.runtime.spawn(late)
    scene.tick(2)
    scene.runtime.remove(scene.agent)
    scene.tick(5)
    assert len(log) == 1
    assert "cannot perform 'walk'" in log[0]
    assert words(scene.agent, "Walk") == []


def test_who_performs_again_when_the_agent_ends_is_told(scene):
    log = []

    async def stubborn():
        while True:
            try:
                await scene.agent.perform("patrol")
            except ActivityAbortedError:
                log.append("aborted")
            except NotRunningError:
                log.append("not running")
                return

    scene.runtime.spawn(stubborn)
    scene.tick(3)
    scene.runtime.remove(scene.agent)
    scene.tick(2)
    assert log == ["aborted", "not running"]
    assert scene.agent.has_ended.is_set


def test_three_that_run_when_the_agent_ends_end_one_after_the_other(scene):
    class Slow(Told):
        does = "slow"
        runs = 50
        cleans = 2

    scene.agent.inject(Slow)
    scene.tick()
    for _ in range(3):
        scene.perform("slow")
    scene.tick(2)
    scene.runtime.remove(scene.agent)
    scene.tick(10)
    assert [(tick, word) for tick, _, word in words(scene.agent, "Slow") if word == "stop"] == [
        (6, "stop"),
        (8, "stop"),
        (10, "stop"),
    ]
    assert scene.agent.has_ended.is_set


def test_one_that_has_not_begun_when_the_agent_ends(scene):
    scene.tick()
    goal = Holding(scene.agent, precedence=1)
    scene.perform("walk")
    scene.tick()
    goal.claim(MOVE, wait=True)
    scene.runtime.remove(scene.agent)
    scene.tick(2)
    assert scene.log[0][1] == "ActivityAbortedError"
    assert scene.agent.has_ended.is_set
    goal.end()


def test_an_agent_whose_planner_gives_up_aborts_them(logged):
    class GiveUp(Told):
        utility = 0.9

        async def run(self, ctx, args):
            ctx.abort("no luck")

    class Long(Told):
        does = "long"
        runs = 100

    scene = Scene([GiveUp, Long])
    scene.perform("long")
    scene.tick(15)
    assert scene.agent.error is not None
    assert scene.log == [(10, "ActivityAbortedError", "the agent was killed")]
    scene.close()


def test_closing_kills_what_does_not_end(play, logged):
    class Stubborn(Told):
        does = "stubborn"
        runs = 1_000_000
        cleans = 1_000_000

    log = []
    runtime = play.runtime()
    agent = begin(runtime, "world", lambda agent: outcome(log, agent, "stubborn"))
    agent.inject(Stubborn)
    play.ticks(runtime, 3)
    assert agent.has_ended.is_set
    assert [word for *_, word in words(agent, "Stubborn")] == ["start", "run", "stop"]
    check(agent)


def test_it_is_awaited_in_a_coroutine_of_the_runtime(asyncio_player):
    """In a task of the event loop there is nobody to step it; it says so, and nothing is begun."""
    runtime = asyncio_player.runtime()
    agent = runtime.add(being())

    async def main():
        await runtime.run(2, speed=float("inf"))
        with pytest.raises(NotRunningError):
            await agent.perform("walk")
        await runtime.run(2, speed=float("inf"))
        await runtime.aclose()

    asyncio_player(main)
    assert words(agent, "Walk") == []
    check(agent)


def test_an_action_that_performs_itself_comes_to_an_end_in_the_same_tick():
    class Mirror(Action):
        does = "mirror"
        utility = 1.0

        async def run(self, ctx, args):
            depths.append(len(ctx.agent.planner.performances))
            await ctx.agent.perform("mirror")

    depths, log = [], []
    sim = Simulation()
    agent = sim.add(Agent(Entity("human"), name="a", actions=[Mirror]))
    sim.runtime.kernel.spawn(outcome(log, agent, "mirror"), "world", None)
    sim.tick(1)
    sim.tick(1)
    assert depths == list(range(1, 65))
    assert len(log) == 1
    assert any("ART305" in dict(one.detail)["error"] for one in sim.faults())
    assert agent.snapshot().is_alive
    sim.close()
