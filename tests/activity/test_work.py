"""ctx.work: search in slices, fair between agents, at every budget the same plan in the end."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt import Action, Agent, CompoundAction, Entity, Runtime, step
from agentrt.testing import Simulation


class World:
    """Searchers under observation: who did which piece of work when."""

    def __init__(self, budget, **options):
        self.sim = Simulation(runtime=Runtime(host="plain", think_budget=budget, **options))
        self.log = []
        self.budget = self.sim.runtime.search.budget

    def searcher(self, name, pieces, units=1, *others, priority=None):
        """An agent that looks through pieces, and notes each; it is idle meanwhile, with a priority if need be."""
        world = self

        class Search(Action):
            does = "top"
            utility = 0.9

            async def think(self, ctx, args):
                for _ in range(pieces):
                    await ctx.work(units)
                    world.log.append((world.sim.now, ctx.agent.name))
                ctx.set_think_output()

            async def run(self, ctx, args):
                world.log.append((world.sim.now, ctx.agent.name, "found"))
                await ctx.sleep(1000)

        actions = [Search, *others]
        if priority is not None:

            class Idle(Action):
                does = "top"
                utility = 0.1
                scheduler_priority = priority

                async def run(self, ctx, args):
                    await ctx.sleep(1000)

            actions.append(Idle)
        return self.sim.add(Agent(Entity("human"), name=name, actions=actions, top="top"))

    def per_tick(self):
        """Tick to agent to pieces."""
        table = {}
        for tick, name, *rest in self.log:
            if not rest:
                row = table.setdefault(tick, {})
                row[name] = row.get(name, 0) + 1
        return table

    def close(self):
        self.sim.close()
        assert self.sim.runtime.kernel.live == 0
        if self.budget is not None:
            assert self.budget.is_idle
            assert self.budget.waiting == 0


@pytest.fixture
def world():
    made = []

    def make(*args, **options):
        made.append(World(*args, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_without_a_budget_it_costs_nothing(world):
    stage = world(None)
    stage.searcher("a", 1000)
    stage.sim.tick()
    assert stage.log[-1] == (1, "a", "found")
    assert (stage.budget, stage.sim.runtime.search_waits.count) == (None, 0)


def test_a_search_is_cut_into_ticks(world):
    stage = world(10)
    stage.searcher("a", 25)
    stage.sim.tick(4)
    assert stage.per_tick() == {1: {"a": 10}, 2: {"a": 10}, 3: {"a": 5}}
    assert stage.log[-1] == (3, "a", "found")


def test_agents_share_a_tick_as_soon_as_one_has_to_wait(world):
    stage = world(10)
    for name in "ab":
        stage.searcher(name, 20)
    stage.sim.tick(5)
    assert stage.per_tick() == {1: {"a": 10}, 2: {"a": 5, "b": 5}, 3: {"a": 5, "b": 5}, 4: {"b": 10}}


def test_nothing_is_kept_from_who_waits(world):
    """What one agent was dealt and does not use, the other gets in the same tick."""
    stage = world(10)
    stage.searcher("a", 11)
    stage.searcher("b", 29)
    stage.sim.tick(4)
    assert stage.per_tick() == {1: {"a": 10}, 2: {"a": 1, "b": 9}, 3: {"b": 10}, 4: {"b": 10}}


@pytest.mark.states(
    "001: Leaf action, Metadata: scheduler_priority multiplies the search resources while the action runs",
)
def test_scheduler_priority_multiplies_the_share(world):
    stage = world(10)
    stage.searcher("idle", 100, priority=4)
    stage.searcher("busy", 100, priority=1)
    stage.sim.tick(4)
    assert stage.per_tick() == {
        1: {"idle": 10},
        2: {"idle": 8, "busy": 2},
        3: {"idle": 8, "busy": 2},
        4: {"idle": 8, "busy": 2},
    }


@pytest.mark.states("001: Leaf action, Metadata: scheduler_priority multiplies the search resources while the ...")
def test_priorities_multiply_along_the_running_branch(world):
    stage = world(12)

    class Inner(Action):
        does = "inner"
        utility = 0.5
        scheduler_priority = 2.5

        async def run(self, ctx, args):
            await ctx.sleep(1000)

    class Outer(CompoundAction):
        does = "top"
        utility = 0.1
        scheduler_priority = 2
        steps = [step("inner")]

    stage.searcher("five", 100, 1, Outer, Inner)
    stage.searcher("one", 100)
    stage.sim.tick(3)
    assert stage.per_tick() == {1: {"five": 12}, 2: {"five": 10, "one": 2}, 3: {"five": 10, "one": 2}}


def test_a_priority_of_nothing_still_gets_a_little(world):
    """Whatever nobody else wants, for one; and a share is never owed for ever."""
    stage = world(10)
    stage.searcher("lazy", 15, priority=0)
    stage.searcher("keen", 15)
    stage.sim.tick(4)
    assert stage.log[-1][1:] == ("lazy", "found")


def test_a_piece_that_is_larger_than_a_tick_takes_several(world):
    stage = world(10)
    stage.searcher("a", 1, 25)
    stage.searcher("b", 3)
    stage.sim.tick(4)
    assert stage.log == [(2, "b"), (2, "b"), (2, "b"), (2, "b", "found"), (3, "a"), (3, "a", "found")]


def test_it_works_while_running_too(world):
    stage = world(2)

    class Dig(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            for _ in range(4):
                await ctx.work()
                stage.log.append(stage.sim.now)
            await ctx.sleep(1000)

    stage.sim.add(Agent(Entity("human"), actions=[Dig], top="top"))
    stage.sim.tick(3)
    assert stage.log == [1, 1, 2, 2]


def test_how_long_it_waited_is_counted(world):
    stage = world(10)
    for name in "abc":
        stage.searcher(name, 1, 10)
    stage.sim.tick(5)
    waits = stage.sim.runtime.search_waits
    assert (waits.count, waits.total, waits.longest) == (3, 4, 2)


def test_a_search_that_is_given_up_leaves_nothing(world):
    """The searcher is interrupted while it waits; the others get the whole budget from then on."""
    stage = world(10)
    gone = stage.searcher("a", 1000)
    stage.searcher("b", 1000)
    stage.sim.tick(2)
    stage.sim.runtime.remove(gone)
    stage.log.clear()
    stage.sim.tick(2)
    assert stage.per_tick() == {3: {"b": 10}, 4: {"b": 10}}
    assert stage.budget.waiting == 1


def test_who_gives_up_in_the_moment_of_being_served_takes_nothing_away(world):
    stage = world(1)

    class Hasty(Action):
        does = "top"
        utility = 0.5

        async def think(self, ctx, args):
            ctx.listen(ctx.signals["enough"], lambda _: ctx.reject("enough"))
            await ctx.work(1)
            await ctx.work(1)
            stage.log.append("never")

    agent = stage.sim.add(Agent(Entity("human"), name="h", actions=[Hasty], top="top"))
    stage.sim.tick(1)
    agent.signal("enough").emit()
    stage.searcher("s", 2)
    stage.sim.tick(3)
    assert stage.log == [(2, "s"), (3, "s"), (3, "s", "found")]
    assert stage.budget.granted == 3


@pytest.mark.parametrize("units", [-1, 1.5, "many"])
def test_what_is_not_a_number_of_units_is_an_error(world, units):
    stage = world(10)

    class Wrong(Action):
        does = "top"
        utility = 0.5

        async def think(self, ctx, args):
            try:
                await ctx.work(units)
            except ValueError as error:
                stage.log.append(str(error))

    stage.sim.add(Agent(Entity("human"), actions=[Wrong], top="top"))
    stage.sim.tick(1)
    assert stage.log == [f"ctx.work({units!r}): it takes a whole number of units, 0 or more"]


def test_no_units_are_granted_at_once(world):
    stage = world(1)
    stage.searcher("a", 5, 0)
    stage.sim.tick(1)
    assert stage.log[-1] == (1, "a", "found")
    assert stage.sim.runtime.search_waits.count == 0


def test_a_budget_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="at least 1 in each tick"):
        Runtime(think_budget=0)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 12),
    st.lists(
        st.tuples(st.integers(0, 12), st.integers(1, 15), st.sampled_from([None, 0, 0.5, 1, 4])), min_size=1, max_size=4
    ),
    st.integers(0, 12),
)
def test_any_searches_are_served_in_time_and_within_the_budget(units, searches, remove_at):
    stage = World(units)
    agents = [
        stage.searcher(f"s{number}", pieces, size, priority=priority)
        for number, (pieces, size, priority) in enumerate(searches)
    ]
    wanted = sum(pieces * size for pieces, size, _ in searches)
    runtime = stage.sim.runtime
    for tick in range(1, wanted // units + 3):
        if tick == remove_at:
            runtime.remove(agents[0])
        stage.sim.tick()
        budget = stage.budget
        assert runtime.search.used <= units
        assert budget.granted <= units * tick
        assert budget.is_idle or budget.used == units
    left = agents[1:] if remove_at else agents
    assert {entry[1] for entry in stage.log if entry[2:]} >= {agent.name for agent in left}
    stage.close()


def test_with_the_last_who_waits_goes_the_look_at_the_next_tick(world):
    w = world(1)
    agents = [w.searcher(name, 5) for name in ("ann", "bob")]
    w.sim.tick()
    kernel = w.sim.runtime.kernel

    def looks():
        timers = [entry for due, bucket in kernel.agenda.buckets.items() for entry in bucket if entry.waiting == due]
        return [entry.name for entry in timers if "SearchWork" in entry.name]

    assert (w.budget.waiting, looks()) == (2, ["SearchWork._tick_has_come"])
    for agent in agents:
        agent.end("it is gone")
    kernel.drain(None)  # in the same tick
    assert (w.budget.waiting, looks()) == (0, [])
