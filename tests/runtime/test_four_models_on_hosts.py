"""All four models on one agent, on every host: one digest, coroutines that await what the host offers, any kind of end."""

from __future__ import annotations

import asyncio

import anyio
import pytest
from modules import load

from agentrt import MOVE, TOP, Action, Agent, Entity
from agentrt.behavior import BehaviorTree, behavior, decider, group
from agentrt.bridges import DriverAction
from agentrt.goals import Goal, GoalSelector
from agentrt.kernel.trace import TraceDigest
from agentrt.selection import LeafBehavior, SelectionLibrary
from agentrt.testing import Simulation

mixed = load("tests/runtime/mixed_agents.py")
courses = load("tests/runtime/mixed_courses.py")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_digest_is_the_same_on_all_hosts(play, seed):
    events = courses.random_events(seed, 40)
    sim = Simulation(seed=1)
    courses.Course(sim.runtime, events, (0, 1, 2, 0))
    sim.tick(40)
    sim.close()
    runtime = play.runtime(seed=1)
    digest = TraceDigest(runtime.trace)
    course = courses.Course(runtime, events, (0, 1, 2, 0))
    play.ticks(runtime, 40)
    course.check()
    assert digest.hexdigest() == sim.digest()


# --- what coroutines await --------------------------------------------------------------------------------------------


class Waiting:
    """Every callback that may be a coroutine, each awaiting something of the host in its own way."""

    def __init__(self, player):
        self.player = player
        self.log = []
        self.runtime = player.runtime(ticks_per_second=10)
        self.entity = Entity("ann")
        waiting = self

        class Goes(Goal):
            flags = {MOVE}
            is_wanted = True

            def can_use(self):
                return self.is_wanted

            async def start(self):
                await waiting.wait("goal start")

            async def run(self):
                await waiting.wait("goal run", 1000)

            async def stop(self):
                await waiting.wait("goal stop")

        class Leaf(LeafBehavior):
            async def constructor(self, ai):
                await waiting.wait("leaf constructor")

            async def run(self, ai):
                await waiting.wait("leaf run", 1000)

            def destructor(self, ai):
                waiting.tell("leaf destructor")

        class Inner(DriverAction):
            does = TOP
            utility = 0.5

            def make_driver(self, ctx, args):
                return waiting.tree.memory(name="inner")

        self.tree = BehaviorTree(
            group("ROOT")[
                decider(
                    "HOST",
                    self.host_behavior(),
                )
            ]
        )
        selector = GoalSelector()
        selector.add_goal(1, Goes())
        text = '<SelectionTree name="M"><Priority name="Root"><Leaf name="Leaf"/></Priority></SelectionTree>'
        state = SelectionLibrary.from_texts({"M.xml": text})["M"].state({"Leaf": Leaf})
        self.agent = Agent(self.entity, actions=[Inner], drivers=[state, selector, self.tree.memory()])

    def host_behavior(self):
        async def activate(at):
            await self.wait(f"{at.memory.name} activate")

        async def run(at):
            await self.wait(f"{at.memory.name} run", 1000)

        async def deactivate(at):
            await self.wait(f"{at.memory.name} deactivate")

        return behavior("HOST", activate=activate, run=run, deactivate=deactivate)

    def tell(self, words):
        self.log.append((self.runtime.tick, words))

    async def wait(self, words, seconds=0.1):
        self.tell(words)
        try:
            if "goal" in words:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(anyio.sleep, seconds)
                    tasks.start_soon(anyio.sleep, seconds / 2)
            elif "leaf" in words:
                await self.runtime.call(self.player.sleep, seconds)
            else:
                await self.player.sleep(seconds)
        except BaseException:
            self.tell(f"{words} is cancelled")
            raise


BEGINNING = [
    (1, "leaf constructor"),
    (1, "goal start"),
    (1, "tree activate"),
    (1, "inner activate"),
]
RUNNING = {"leaf run", "goal run", "tree run", "inner run"}
ENDING = {
    *("leaf run is cancelled", "goal run is cancelled", "tree run is cancelled", "inner run is cancelled"),
    *("leaf destructor", "goal stop", "tree deactivate", "inner deactivate"),
}


def check(waiting, last):
    assert waiting.log[:4] == BEGINNING
    words = [what for _, what in waiting.log]
    assert set(words[4:8]) == RUNNING
    assert set(words[8:]) == ENDING
    assert len(words) == 16
    assert waiting.agent.flags.is_free
    assert not waiting.agent.is_alive
    assert last is None or waiting.log[-1][0] <= last


def test_coroutines_of_all_models_await_the_host_and_end_when_the_runtime_is_closed(play_loop):
    waiting = Waiting(play_loop)

    async def main():
        waiting.runtime.add(waiting.agent)
        await waiting.runtime.run(6)
        await waiting.runtime.aclose()

    play_loop(main)
    check(waiting, 20)


def test_the_same_when_the_runtime_is_stopped_from_a_callback(play_loop):
    waiting = Waiting(play_loop)
    waiting.runtime.add(waiting.agent)
    waiting.runtime.every_tick(lambda: waiting.runtime.tick == 6 and waiting.runtime.stop())

    async def main():
        await waiting.runtime.run()
        await waiting.runtime.aclose()

    play_loop(main)
    check(waiting, 20)


def test_the_same_when_the_agent_is_removed(play_loop):
    waiting = Waiting(play_loop)
    waiting.runtime.add(waiting.agent)
    waiting.runtime.every_tick(lambda: waiting.runtime.tick == 6 and waiting.runtime.remove(waiting.agent))
    play_loop(waiting.agent.run)
    check(waiting, 20)


def test_the_same_when_agent_run_is_cancelled(play_loop):
    waiting = Waiting(play_loop)
    waiting.runtime.add(waiting.agent)

    async def main():
        assert await play_loop.cancel_after(0.62, waiting.agent.run)

    play_loop(main)
    check(waiting, None)


@pytest.mark.parametrize("tick", [1, 2, 3])
def test_closed_in_the_middle_of_the_beginning_what_began_ends(play_loop, tick):
    waiting = Waiting(play_loop)

    async def main():
        waiting.runtime.add(waiting.agent)
        await waiting.runtime.run(tick)
        await waiting.runtime.aclose()

    play_loop(main)
    words = [what for _, what in waiting.log]
    assert words[:4] == [what for _, what in BEGINNING]
    assert waiting.agent.flags.is_free
    assert not waiting.agent.is_alive
    for begun, ended in (("goal run", "goal stop"), ("tree run", "tree deactivate"), ("leaf run", "leaf destructor")):
        assert begun not in words or ended in words


# --- a host that cancels what they await --------------------------------------------------------------------------------


def test_what_a_stranger_cancels_on_the_host_begins_anew_or_is_over(asyncio_player):
    """A goal whose start, and a leaf whose constructor, was cancelled has not begun; it is asked again."""
    log = []
    runtime = asyncio_player.runtime(ticks_per_second=10)

    async def cancelled(words):
        log.append((runtime.tick, words))
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.1, future.cancel)
        await future

    class Goes(Goal):
        def can_use(self):
            return runtime.tick < 6

        async def start(self):
            await cancelled("start")

        async def run(self):
            log.append((runtime.tick, "run"))

        def stop(self):
            log.append((runtime.tick, "stop"))

    class Leaf(LeafBehavior):
        async def constructor(self, ai):
            if runtime.tick < 6:
                await cancelled("constructor")
            log.append((runtime.tick, "constructed"))

        def destructor(self, ai):
            log.append((runtime.tick, "destructor"))

    class Rest(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep(100)

    selector = GoalSelector()
    selector.add_goal(1, Goes())
    text = '<SelectionTree name="M"><Priority name="Root"><Leaf name="Leaf"/></Priority></SelectionTree>'
    state = SelectionLibrary.from_texts({"M.xml": text})["M"].state({"Leaf": Leaf})
    agent = Agent(Entity("ann"), actions=[Rest], drivers=[state, selector])

    async def main():
        runtime.add(agent)
        await runtime.run(12)
        assert state.phase == "active"
        await runtime.aclose()

    asyncio_player(main)
    words = [what for _, what in log]
    assert "run" not in words
    assert words.count("start") == words.count("stop") >= 2
    assert words.count("constructor") >= 2
    assert words.count("constructed") == words.count("destructor") == 1
