"""Requests: handles that can be paused, resumed, begun again, cancelled and awaited, from anywhere."""

from __future__ import annotations

import asyncio
import threading

import pytest
import trio
import trio.testing
from virtual_loop import VirtualLoop
from wants import Bearer, Build, Have, Know, Reach

from agentrt import MOVE, Agent, CancelScope, sleep_ticks
from agentrt.errors import (
    ActivityAbortedError,
    ArgumentError,
    DependencyFailedError,
    NotRunningError,
    WrongStateError,
)
from agentrt.runtime.runtime import Runtime
from agentrt.strategy import Interruptible, Interruption, Strategy
from agentrt.strategy.solve import Incident

PAUSE, RESTART, WAIT = Interruptible.PAUSE, Interruptible.RESTART, Interruptible.WAIT


class Slow(Strategy):
    """Takes four ticks."""

    provides = Have
    cost = 1

    async def run(self, ctx, wanted):
        await sleep_ticks(4)
        ctx.entity.put(wanted.item, wanted.count)
        return wanted.count


# --- beginning and ending -----------------------------------------------------------------------------------------------


def test_it_begins_without_anybody_who_awaits_it_and_tells_what_became_of_it(game, way):
    agent = game.add(way("Saw", ticks=3))
    request = agent.gameplay.begin(Have("plank", 2))
    assert (repr(request), request.is_done, request.is_paused) == ("<Request Have [plank, 2]: running>", False, False)
    with pytest.raises(WrongStateError, match="it is not over"):
        _ = request.value
    game.tick(5)
    assert (request.is_done, request.value, request.error) == (True, 2, None)
    assert repr(request) == "<Request Have [plank, 2]: done>"
    assert request.render() == "Have [plank, 2] - done in 0.15 s\n   Saw - done in 0.15 s (expected 1 s)"
    assert request.tree is agent.gameplay.finished[-1]
    assert agent.planner.performances == ()


def test_one_that_fails_has_the_story_and_no_value(game, way):
    agent = game.add(way("Saw", fails="blunt"))
    request = agent.gameplay.begin(Have("plank"))
    game.tick(4)
    assert (request.outcome, type(request.error)) == ("failed", DependencyFailedError)
    with pytest.raises(DependencyFailedError, match="blunt"):
        _ = request.value


def test_it_takes_other_global_parameters(game, way):
    async def run(self, ctx, wanted):
        return ctx.params.light

    agent = game.add(way("Look", Know, run=run))
    agent.gameplay.set_params(light="torch")
    one, other = agent.gameplay.begin(Know("it")), agent.gameplay.begin(Know("it"), light="moon")
    game.tick(3)
    assert (one.value, other.value) == ("torch", "moon")


def test_an_agent_that_lives_nowhere_takes_none(way):
    agent = Agent(Bearer(), name="nowhere")
    agent.gameplay.add_strategy(Slow)
    with pytest.raises(NotRunningError, match="is in no runtime"):
        agent.gameplay.begin(Have("plank"))


def test_one_whose_agent_leaves_before_the_intake_is_over(game):
    agent = game.add(Slow)
    game.tick()
    game.sim.runtime.remove(agent)
    request = agent.gameplay.begin(Have("plank"))
    game.tick(2)
    assert (request.outcome, type(request.error)) == ("cancelled", NotRunningError)


def test_one_is_over_when_its_agent_ends_all_of_it_unwound(game, way):
    agent = game.add(way("Outer", Build, needs=[Have("plank")]), way("Saw", ticks=9, flags=(MOVE,)))
    request = agent.gameplay.begin(Build())
    game.tick(3)
    game.sim.runtime.remove(agent)
    game.tick(2)
    assert (request.outcome, type(request.error)) == ("cancelled", ActivityAbortedError)
    assert game.log[-2:] == [(4, "Saw", "ends"), (4, "Outer", "ends")]


@pytest.mark.states("003: Left open, requests: A request can be paused, resumed, begun again and cancelled, as its ...")
def test_cancelling_unwinds_inner_first_and_a_second_time_does_nothing(game, way):
    agent = game.add(way("Outer", Build, needs=[Have("plank")]), way("Saw", ticks=9))
    request = agent.gameplay.begin(Build())
    game.tick(3)
    request.cancel("never mind")
    game.tick(1)
    request.cancel("again")
    request.pause()
    request.restart()
    game.tick(1)
    assert game.log == [(1, "Outer", "run"), (1, "Saw", "run"), (4, "Saw", "ends"), (4, "Outer", "ends")]
    assert "never mind" in str(request.error)
    assert not request.is_paused


def test_callbacks_are_called_inside_a_tick_also_of_one_that_is_over(game):
    agent = game.add(Slow)
    request = agent.gameplay.begin(Have("plank"))
    request.then(lambda one: game.note("then", one.value, game.kernel.in_tick))
    game.tick(6)
    request.then(lambda one: game.note("late", one is request))
    game.tick(1)
    game.sim.runtime.remove(agent)
    game.tick(2)
    request.then(lambda one: game.note("later"))
    game.tick(1)
    assert game.log == [(5, "then", 1, True), (7, "late", True), (10, "later")]


def test_a_callback_that_raises_is_reported_and_the_next_is_called(game):
    agent = game.add(Slow)
    request = agent.gameplay.begin(Have("plank"))
    request.then(lambda one: 1 / 0)
    request.then(lambda one: game.note("called"))
    game.tick(6)
    assert game.log == [(5, "called")]
    assert [error for _, _, error in game.faults()] == ["ZeroDivisionError: division by zero"]


# --- pausing ------------------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Pauseable/Cancelable Tasks: A task is paused and resumed, where it supports that ...")
@pytest.mark.states(
    "003: Left open, requests: A request can be paused, resumed, begun again and cancelled, as its strategies support "
    "it",
    source="Pauseable/Cancelable Tasks",
)
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (PAUSE, [(1, "run"), (10, "ends")]),
        (RESTART, [(1, "run"), (3, "ends"), (10, "run"), (14, "ends")]),
        (WAIT, [(1, "run"), (5, "ends")]),
    ],
)
def test_it_stands_still_as_its_strategies_support_it(game, way, kind, expected):
    agent = game.add(way("Saw", ticks=4, interruption=kind))
    request = agent.gameplay.begin(Have("plank"))
    game.tick(2)
    request.pause()
    game.tick(1)
    assert request.is_paused
    assert (repr(request), request.is_done) == ("<Request Have [plank, 1]: paused>", False)
    game.tick(6)
    request.resume()
    game.tick(6)
    assert [(tick, what) for tick, _, what in game.log] == expected
    assert request.value == 1
    assert not request.is_paused


def test_one_that_waits_to_be_completed_pauses_when_it_is(game, way):
    agent = game.add(way("Saw", ticks=4, interruption=WAIT))
    request = agent.gameplay.begin(Have("plank"))
    game.tick(2)
    request.pause()
    game.tick(6)
    assert (agent.entity.bag, request.is_done) == ({"plank": 1}, False)
    assert request.render().splitlines()[-1] == "   pause - running"
    request.resume()
    game.tick(1)
    assert request.value == 1


def test_no_time_of_its_strategies_passes_while_it_is_paused(game, way):
    agent = game.add(way("Saw", ticks=6, interruption=PAUSE, patience=0.5), way("Flee", Reach, ticks=2))
    request = agent.gameplay.begin(Have("plank"))
    game.tick(2)
    request.pause()
    game.tick(1)
    agent.gameplay.running[0].interruptions.add(Incident(Interruption("attack"), Reach("home")))
    game.tick(40)
    request.resume()
    game.tick(2)
    assert request.value == 1


def test_what_comes_up_while_it_is_paused_is_dealt_with_then(game, way):
    agent = game.add(way("Saw", ticks=3, interruption=PAUSE), way("Flee", Reach, ticks=2))
    request = agent.gameplay.begin(Have("plank"))
    game.tick(1)
    request.pause()
    game.tick(3)
    agent.gameplay.running[0].interruptions.add(Incident(Interruption("attack"), Reach("home")))
    game.tick(6)
    assert game.log == [(1, "Saw", "run"), (5, "Flee", "run"), (7, "Flee", "ends")]
    request.resume()
    game.tick(1)
    assert game.log[-1] == (11, "Saw", "ends")
    assert request.render().splitlines()[2].strip().startswith("pause - done")


def test_pausing_lets_what_is_dealt_with_come_to_its_end(game, way):
    agent = game.add(way("Saw", ticks=3, interruption=PAUSE), way("Flee", Reach, ticks=4))
    request = agent.gameplay.begin(Have("plank"))
    game.tick(1)
    agent.gameplay.running[0].interruptions.add(Incident(Interruption("attack"), Reach("home")))
    game.tick(1)
    request.pause()
    game.tick(8)
    assert game.log[1:] == [(2, "Flee", "run"), (6, "Flee", "ends")]
    request.resume()
    game.tick(1)
    assert game.log[-1] == (11, "Saw", "ends")


def test_one_that_is_paused_before_it_begins_does_not_begin(game, way):
    agent = game.add(way("Saw", ticks=3))
    request = agent.gameplay.begin(Have("plank"))
    request.pause()
    game.tick(5)
    assert game.log == []
    request.resume()
    game.tick(5)
    assert game.log[0] == (6, "Saw", "run")
    assert request.value == 1


def test_to_pause_and_resume_in_one_tick_changes_nothing(game, way):
    agent = game.add(way("Saw", ticks=4, interruption=PAUSE))
    request = agent.gameplay.begin(Have("plank"))
    game.tick(2)
    request.pause()
    request.resume()
    game.tick(4)
    assert (game.log, request.value) == ([(1, "Saw", "run"), (5, "Saw", "ends")], 1)


def test_one_that_is_paused_can_be_cancelled(game, way):
    agent = game.add(way("Saw", ticks=4, interruption=PAUSE), way("Outer", Build, needs=[Have("plank")]))
    request = agent.gameplay.begin(Build())
    game.tick(2)
    request.pause()
    game.tick(2)
    request.cancel()
    game.tick(1)
    assert request.outcome == "cancelled"
    assert game.log[-2:] == [(5, "Saw", "ends"), (5, "Outer", "ends")]


# --- beginning again ----------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Pauseable/Cancelable Tasks: It begins anew from the world as it is: what was done ...")
@pytest.mark.states("003: Left open, requests: A request can be paused, resumed, begun again and cancelled, as its ...")
@pytest.mark.parametrize("kind", [PAUSE, RESTART, WAIT])
def test_it_begins_again_from_the_very_beginning_whatever_its_strategies_support(game, way, kind):
    outer = way("Outer", Build, needs=[Know("how"), Have("plank")], interruption=kind)
    agent = game.add(outer, way("Saw", ticks=4, interruption=kind), way("Look", Know, ticks=1))
    request = agent.gameplay.begin(Build())
    game.tick(4)
    request.restart()
    game.tick(12)
    assert [who for _, who, what in game.log if what == "run"] == ["Outer", "Look", "Saw", "Outer", "Look", "Saw"]
    assert request.is_done
    assert request.error is None
    assert request.tree.children[0].reason == "it begins again"


def test_who_failed_before_may_be_tried_again_then(game, way):
    agent = game.add(way("First", cost=1, ticks=1, fails="no"), way("Second", cost=2, ticks=6))
    request = agent.gameplay.begin(Have("plank"))
    game.tick(4)
    request.restart()
    game.tick(12)
    assert [who for _, who, what in game.log if what == "run"] == ["First", "Second", "First", "Second"]
    assert request.value == 1


# --- awaiting -----------------------------------------------------------------------------------------------------------


def test_any_number_may_await_it_and_who_is_cancelled_leaves_it_alone(game):
    agent = game.add(Slow)
    request = agent.gameplay.begin(Have("plank"))
    wishes = [game.wish(request) for _ in range(3)]
    game.tick(2)
    wishes[1].cancel()
    game.tick(4)
    assert [wish.value for wish in wishes] == [1, None, 1]
    assert [wish.until for wish in wishes] == [5, 3, 5]
    assert game.solve(agent, Have("plank")).value == 1  # and a call is the same, for its caller alone
    late = game.wish(request.wait())
    game.tick()
    assert late.value == 1


def test_a_call_that_is_cancelled_is_unwound_before_the_cancellation_goes_on(game, way):
    async def run(self, ctx, wanted):
        try:
            await ctx.sleep_ticks(9)
        finally:
            with CancelScope(shield=True):
                await ctx.sleep_ticks(3)
            game.note("clean")

    agent = game.add(way("Saw", run=run))
    wish = game.wish(agent.gameplay.have("plank"))
    game.tick(2)
    wish.cancel()
    game.tick(4)
    assert game.log == [(6, "clean")]
    assert wish.until == 6
    assert agent.gameplay.running == ()


def test_outside_of_a_runtime_and_of_an_event_loop_nobody_can_await_it(game):
    agent = game.add(Slow)
    game.tick()
    for made in (agent.gameplay.begin(Have("plank")).wait(), agent.gameplay.have("plank")):
        with pytest.raises(NotRunningError, match="in a task of an event loop"):
            made.send(None)
    game.tick(6)
    assert [root.outcome for root in agent.gameplay.finished] == ["done"]  # the call was cancelled with its caller


LIBRARIES = ("asyncio", "trio")


def _sleep(library):
    return (trio if library == "trio" else asyncio).sleep


def serve(library, host, handler):
    """A server: a runtime that paces itself, and a handler in a task beside it."""

    async def asyncio_main():
        runtime, agent = make()
        async with asyncio.TaskGroup() as group:
            running = group.create_task(runtime.run())
            await handler(runtime, agent)
            runtime.stop()
        await running

    async def trio_main():
        runtime, agent = make()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(runtime.run)
            await handler(runtime, agent)
            runtime.stop()

    def make():
        runtime = Runtime(seed=1, host=host)
        agent = Agent(Bearer(), name="a")
        agent.gameplay.add_strategy(Slow)
        return runtime, runtime.add(agent)

    if library == "trio":
        trio.run(trio_main, clock=trio.testing.MockClock(autojump_threshold=0))
    else:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(asyncio_main())


@pytest.mark.states(
    "003: Left open, requests: A task of a server awaits a request or a generated call; its cancellation is passed on "
    "for the call alone",
    source="design 6, generated calls",
)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("own_host", [False, True])
def test_a_task_of_a_server_awaits_it(library, own_host):
    found = []

    async def handler(runtime, agent):
        request = agent.gameplay.begin(Have("plank", 2))
        found.append(await request)
        found.append(await agent.gameplay.have("log", 3))
        found.append(await request.wait())
        await _sleep(library)(0.1)
        found.append(agent.gameplay.running)

    serve(library, library if own_host else "plain", handler)
    assert found == [2, 3, 2, ()]


@pytest.mark.states("003: Left open, requests: A task of a server awaits a request or a generated call; its ...")
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_task_that_is_cancelled_cancels_its_call_and_leaves_a_request_alone(library):
    found = []

    async def handler(runtime, agent):
        request = agent.gameplay.begin(Have("plank"))
        for made in (request.wait(), agent.gameplay.have("log")):
            if library == "trio":
                with trio.move_on_after(0.07):
                    await made
            else:
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.07):
                        await made
        await _sleep(library)(1)
        found.extend((request.outcome.value, [root.outcome.value for root in agent.gameplay.finished]))

    serve(library, library, handler)
    assert found == ["done", ["cancelled", "done"]] or found == ["done", ["done", "cancelled"]]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_task_hears_of_a_failure(library):
    async def handler(runtime, agent):
        with pytest.raises(DependencyFailedError):
            await agent.gameplay.solve(Know("nobody knows"))

    serve(library, library, handler)


@pytest.mark.states(
    "003: Left open, requests: A request can be begun and used from outside of a tick and from another thread",
    source="design 2, Inputs may be posted from any thread or task",
)
def test_another_thread_may_begin_one_pause_it_and_await_it():
    """The thread has a loop of its own, which is woken from the thread of the runtime."""
    runtime = Runtime(seed=1, host="plain")
    agent = Agent(Bearer(), name="a")
    agent.gameplay.add_strategy(Slow)
    runtime.add(agent)
    runtime.step()
    found, begun, paused, resumed = [], threading.Event(), threading.Event(), threading.Event()

    async def main():
        request = agent.gameplay.begin(Have("plank", 2))
        begun.set()
        paused.wait(10)
        request.pause()
        resumed.set()
        await asyncio.sleep(0)
        request.resume()
        found.append(await request)

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    begun.wait(10)
    runtime.step()
    runtime.step()
    paused.set()
    resumed.wait(10)
    while thread.is_alive():
        runtime.step()
        thread.join(0.001)
    assert found == [2]
    runtime.close()


@pytest.mark.states("003: Left open, requests: A request can be begun and used from outside of a tick and from ...")
def test_what_is_posted_from_outside_is_told_to_a_journal(game):
    posted = []
    agent = game.add(Slow)
    game.tick()
    runtime = game.sim.runtime

    class Journal:
        def posted(self, what):
            posted.append(what)

        def closing(self, reason):
            pass

    runtime.journal = Journal()
    agent.gameplay.begin(Have("plank"))
    game.tick(6)
    runtime.journal = None
    assert posted == ["Request._begin"]


def test_a_parameter_that_nobody_declared_is_refused_at_once(game):
    from agentrt import ActionArgs

    class Declared(ActionArgs):
        light: str = "torch"

    agent = game.add(Slow)
    agent.gameplay.set_params(Declared)
    game.tick()
    with pytest.raises(ArgumentError, match="lihgt"):
        agent.gameplay.begin(Have("plank"), lihgt="moon")


@pytest.mark.parametrize("way", ["alone", "together", "nested"])
def test_what_a_strategy_waits_for_together_stands_still_with_it(game, way):
    class Watch(Strategy):
        provides = Have
        cost = 1
        interruption = PAUSE

        async def run(self, ctx, wanted):
            async def looks(name):
                for _ in range(3):
                    await ctx.sleep_ticks(2)
                    game.note(name)

            if way == "alone":
                await looks("left")
            elif way == "together":
                await ctx.all(looks("left"), looks("right"))
            else:
                await ctx.all(ctx.first(looks("left")), ctx.all(looks("right"), ctx.sleep(0)))
            game.note("has")

    agent = game.add(Watch)
    request = agent.gameplay.begin(Have("plank"))
    game.tick(3)
    request.pause()
    game.tick(10)
    request.resume()
    game.tick(7)
    names = ("left",) if way == "alone" else ("left", "right")
    assert game.log == [*[(tick, name) for tick in (3, 14, 16) for name in names], (16, "has")]
    assert request.is_done


def test_a_strategy_fails_in_one_of_several_waits_and_the_next_one_is_tried(game, way):
    class Splits(Strategy):
        provides = Have
        cost = 1

        async def run(self, ctx, wanted):
            async def fails():
                await ctx.sleep_ticks(1)
                ctx.fail("it splits")

            await ctx.first(ctx.sleep(60), fails(), ctx.solve(Build()))

    agent = game.add(Splits, way("Saw", ticks=1), way("Builder", Build, ticks=9))
    agent.gameplay.begin(Have("plank"))
    game.tick(6)
    assert game.log == [(1, "Builder", "run"), (2, "Builder", "ends"), (2, "Saw", "run"), (3, "Saw", "ends")]
