"""An agent ends with its entity: wherever that is destroyed, everything unwinds, the inner first, and the agent is gone."""

from __future__ import annotations

import math
import threading

import pytest
from modules import load

from agentrt import TOP, Action, Agent, CancelScope, CompoundAction, Entity, Restart, Signal, sleep_ticks, step

mixed = load("tests/runtime/mixed_agents.py")
fakes = load("tests/runtime/fake_drivers.py")


class Cow:
    """Somebody's own type: what it has is the signal."""

    def __init__(self, name="cow"):
        self.name = name
        self.destroyed = Signal()

    def destroy(self):
        self.destroyed.emit(self)


class Noted:
    log: list

    def start(self, ctx, args):
        self.log.append((ctx.clock.tick, type(self).__name__, "start"))

    def stop(self, ctx, args):
        self.log.append((ctx.clock.tick, type(self).__name__, "stop"))


def herd(log, *, destroy_at=None, clean_up=0):
    """The actions of an agent: a plan of two steps, of which the second executes a third."""

    class Plan(Noted, CompoundAction):
        does = TOP
        utility = 0.5
        steps = [step("graze"), step("chew")]

    class Graze(Noted, Action):
        does = "graze"
        utility = 0.5

    class Chew(Noted, Action):
        does = "chew"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.execute("swallow")

    class Swallow(Noted, Action):
        does = "swallow"
        utility = 0.5

        async def run(self, ctx, args):
            try:
                if destroy_at is not None:
                    await ctx.sleep_ticks(destroy_at - ctx.clock.tick)
                    ctx.entity.destroy()
                    log.append((ctx.clock.tick, "goes on"))
                await ctx.sleep_ticks(1000)
            finally:
                if clean_up:
                    with CancelScope(shield=True):
                        await ctx.sleep_ticks(clean_up)
                log.append((ctx.clock.tick, "Swallow", "run ends"))

    Noted.log = log
    return [Plan, Graze, Chew, Swallow]


BEGUN = [(1, name, "start") for name in ("Plan", "Graze", "Chew", "Swallow")]


def ended(tick):
    return [
        (tick, "Swallow", "stop"),
        (tick, "Graze", "stop"),
        (tick, "Chew", "stop"),
        (tick, "Plan", "stop"),
    ]


entities = pytest.mark.parametrize("entity_of", [lambda: Entity("cow"), Cow], ids=["entity", "own type"])


@pytest.mark.states("001: protect_argument: (ours) An agent ends with its own entity, at the next intake")
@entities
def test_from_within_its_own_action(play, entity_of):
    """The action goes on until the tick is over; at the next intake the agent ends."""
    log = []
    runtime = play.runtime()
    agent = runtime.add(Agent(entity_of(), actions=herd(log, destroy_at=3)))
    play(agent.run)
    assert log == [*BEGUN, (3, "goes on"), (4, "Swallow", "run ends"), *ended(4)]
    assert agent.error is None
    assert agent.runtime is None
    assert not agent.entity.destroyed._connections


@pytest.mark.states("001: protect_argument: (ours) An agent ends with its own entity, at the next intake ...")
@entities
def test_between_two_ticks(play, entity_of):
    log = []
    runtime = play.runtime()
    agent = runtime.add(Agent(entity_of(), actions=herd(log)))

    async def main():
        await runtime.run(2, speed=math.inf)
        agent.entity.destroy()
        assert runtime.agents == (agent,)  # until the next intake
        await runtime.run(1, speed=math.inf)

    play(main)
    assert log == [*BEGUN, (3, "Swallow", "run ends"), *ended(3)]
    assert agent.has_ended.is_set


def test_by_another_agent(play):
    log = []
    cow = Entity("cow")

    class Eat(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)
            cow.destroy()
            log.append((ctx.clock.tick, "eaten"))
            await ctx.sleep_ticks(2)
            log.append((ctx.clock.tick, "digested"))

    runtime = play.runtime()
    agents = [runtime.add(Agent(cow, name=name, actions=herd(log))) for name in "ab"]  # two agents, one body
    runtime.add(Agent(Entity("wolf"), actions=[Eat]))
    play.ticks(runtime, 6)
    assert sorted(log) == sorted([*BEGUN, (4, "Swallow", "run ends"), *ended(4)] * 2 + [(3, "eaten"), (5, "digested")])
    assert all(agent.runtime is None for agent in agents)


def test_from_another_thread(play):
    log = []
    runtime = play.runtime()
    agent = runtime.add(Agent(Cow(), actions=herd(log)))

    def destroy():
        thread = threading.Thread(target=agent.entity.destroy)
        thread.start()
        thread.join()

    runtime.every_tick(lambda: runtime.tick == 2 and destroy())
    play.ticks(runtime, 5)
    assert log[-1] == (3, "Plan", "stop")


@pytest.mark.states("001: protect_argument: (ours) An agent ends with its own entity, at the next intake ...")
@entities
@pytest.mark.parametrize("when", ["before it is added", "before it begins"])
def test_before_it_begins_nothing_is_asked(play, entity_of, when):
    log = []
    runtime = play.runtime()
    records = []
    runtime.trace.listen(records.append)
    agent = Agent(entity_of(), name="cow", actions=herd(log), drivers=[fakes.Fake(log=log)])
    if when == "before it is added":
        agent.entity.destroy()
    runtime.add(agent)
    agent.entity.destroy()
    play(agent.run)
    assert log == []
    assert [(one.tick, one.event.value) for one in records] == [(1, "added"), (1, "removed")]


def test_one_that_runs_alone(play_loop):
    log = []
    agent = Agent(Cow(), actions=herd(log, destroy_at=3))
    gone = Agent(Cow("gone"), actions=herd(log))
    gone.entity.destroy()
    play_loop(lambda: play_loop.together(agent.run, gone.run))
    assert log == [*BEGUN, (3, "goes on"), (4, "Swallow", "run ends"), *ended(4)]


def test_clean_up_may_take_its_time(play):
    log = []
    runtime = play.runtime()
    agent = runtime.add(Agent(Entity("cow"), actions=herd(log, destroy_at=3, clean_up=4)))
    play(agent.run)
    assert log[-5:] == [(8, "Swallow", "run ends"), *ended(8)]


def test_a_second_end_while_it_ends_changes_nothing(play):
    log = []
    runtime = play.runtime()
    agent = runtime.add(Agent(Cow(), actions=herd(log, destroy_at=3, clean_up=4)))
    runtime.every_tick(lambda: runtime.tick in (4, 5) and agent.entity.destroy())
    runtime.every_tick(lambda: runtime.tick in (4, 6) and runtime.remove(agent))
    play(agent.run)
    assert log[-5:] == [(8, "Swallow", "run ends"), *ended(8)]


def test_while_its_planner_waits_to_begin_again(play):
    class Stumble(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            ctx.abort("a stone")

    runtime = play.runtime(restart=Restart(first=50.0))
    agent = runtime.add(Agent(Entity("cow"), actions=[Stumble]))
    runtime.log_level = "off"
    runtime.every_tick(lambda: runtime.tick == 20 and agent.entity.destroy())
    play(agent.run)
    assert runtime.tick == 21
    assert agent.error is None


def test_what_is_performed_beside_the_plan_is_unwound(play):
    log = []
    runtime = play.runtime()
    agent = runtime.add(Agent(Cow(), actions=herd(log)[2:]))

    async def world():
        try:
            await agent.perform("chew")
        except BaseException as error:
            log.append((runtime.tick, type(error).__name__))

    runtime.spawn(world)
    runtime.every_tick(lambda: runtime.tick == 3 and agent.entity.destroy())
    play.ticks(runtime, 6)
    assert log == [
        (1, "Chew", "start"),
        (1, "Swallow", "start"),
        (4, "Swallow", "run ends"),
        (4, "Swallow", "stop"),
        (4, "Chew", "stop"),
        (4, "ActivityAbortedError"),
    ]


@pytest.mark.states("001: protect_argument: (ours) An agent ends with its own entity, at the next intake ...")
@pytest.mark.parametrize("tick", [1, 2, 5, 9])
def test_all_models_stop(play, tick):
    """Four models on one agent: everything that began ends, and the agent is gone within the time of its clean-up."""
    runtime = play.runtime(seed=3)
    agent = runtime.add(mixed.possessed())
    agent.entity.wishes |= {"graze", "panic", "strike", "A", "glance", "target"}
    runtime.every_tick(lambda: runtime.tick == tick and agent.entity.destroy())

    async def main():
        await runtime.run(tick + 6, speed=math.inf, blocking_ms=None)
        assert runtime.agents == ()
        await runtime.aclose()

    play(main)
    assert agent.attachments
    assert not any(attachment.drives for attachment in agent.attachments)
    assert mixed.unpaired(agent.entity.diary) == []
    assert agent.flags.holds() == {}


def test_an_agent_whose_entity_lives_again_may_be_added_again(play):
    """A pool of bodies: ``is_destroyed`` says how it is, whatever the signal told before."""
    log = []
    cow = Cow()
    cow.is_destroyed = False

    def destroy():
        cow.is_destroyed = True
        cow.destroy()

    runtime = play.runtime()
    agent = runtime.add(Agent(cow, actions=herd(log)))
    runtime.every_tick(lambda: runtime.tick == 2 and destroy())

    async def main():
        await agent.run()
        cow.is_destroyed = False
        runtime.add(agent)
        await runtime.run(2, speed=math.inf)
        await runtime.aclose()

    play(main)
    assert [entry for entry in log if entry[1] == "Plan"] == [
        (1, "Plan", "start"),
        (3, "Plan", "stop"),
        (4, "Plan", "start"),
        (6, "Plan", "stop"),
    ]


def test_a_body_without_an_end_of_its_own(play):
    """Any object can be an entity; one that cannot be destroyed never is."""

    class Odd:
        @property
        def destroyed(self):
            raise RuntimeError("not for you")

    runtime = play.runtime()
    agents = [runtime.add(Agent(entity, name="a", actions=[fakes.Rest])) for entity in (object(), Odd())]
    alive = []
    runtime.every_tick(lambda: alive.append([agent.is_alive for agent in agents]))
    play.ticks(runtime, 3)
    assert alive[:3] == [[True, True]] * 3


def test_its_neighbors_notice_nothing(play):
    def run(*, dies):
        log = []
        runtime = play.runtime(seed=2)
        agent = runtime.add(Agent(Entity("cow"), actions=herd([], clean_up=2)))

        async def live():
            while True:
                log.append((runtime.tick, runtime.stream("world").below(100)))
                await sleep_ticks(1)

        runtime.spawn(live)
        if dies:
            runtime.every_tick(lambda: runtime.tick == 2 and agent.entity.destroy())
        play.ticks(runtime, 8)
        return log

    assert run(dies=True) == run(dies=False)
