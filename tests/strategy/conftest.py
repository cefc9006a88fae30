"""A stage for strategies: one simulation, agents with a bag, a log of what the strategies noted, and a clean end.

Every test that uses ``game`` ends with claims, besides its own: all agents left, no strand is left, no fault was
reported that the test did not take with ``faults()``, the trace fulfills the invariants, every flag was given back,
nothing is being solved, and every node of every task tree has ended.
"""

from __future__ import annotations

import pytest
from mines import Digger
from wants import Bearer, Build, Have, Reach

from agentrt import Agent
from agentrt.strategy import Strategy
from agentrt.testing import Simulation, check_trace

ENDED = ("done", "met", "failed", "skipped", "cancelled")


class Wish:
    """Something that a coroutine of the world awaits.

    Attributes:
        value: what it gave.
        error: what it raised.
        is_over: whether it is over.
        since, until: the ticks in which it began and was over.
    """

    def __init__(self, game, awaitable):
        self.value = self.error = None
        self.is_over = False
        self.since, self.until = game.sim.now, None
        self.game = game
        self.awaitable = awaitable
        self.strand = game.kernel.spawn(self._await(), "wish", None)

    async def _await(self):
        try:
            self.value = await self.awaitable
        except Exception as error:
            self.error = error
        finally:
            self.is_over = True
            self.until = self.game.sim.now

    def cancel(self):
        self.strand.stop("nobody wishes it any more")


class Game:
    """A simulation under observation.

    Attributes:
        sim: the simulation.
        log: what was noted, as tuples that start with the tick.
        agents: what was added, in order.
    """

    def __init__(self, seed=0, **options):
        self.sim = Simulation(seed, **options)
        self.kernel = self.sim.runtime.kernel
        self.log = []
        self.agents = []
        self.taken = []  # faults that the test expected

    # --- playing ------------------------------------------------------------------------------------------------------

    def add(self, *strategies, name="a", entity=None, actions=(), **options):
        """An agent with strategies."""
        agent = Agent(entity or Bearer(), name=name, actions=list(actions), **options)
        agent.gameplay.add_strategy(*strategies)
        self.agents.append(agent)
        return self.sim.add(agent)

    def wish(self, awaitable):
        """Await something in a strand of the world, from the next tick on."""
        return Wish(self, awaitable)

    def solve(self, agent, wanted, ticks=400):
        """Have something solved, and tick until it is over."""
        wish = self.wish(agent.gameplay.solve(wanted))
        for _ in range(ticks):
            if wish.is_over:
                return wish
            self.tick()
        raise AssertionError(f"it is not over: {[one.root.render() for one in agent.gameplay.running]}")

    def tick(self, ticks=1):
        self.sim.tick(ticks)
        return self

    def note(self, *what):
        self.log.append((self.sim.now, *what))

    def take_log(self):
        log, self.log = self.log, []
        return log

    # --- looking ------------------------------------------------------------------------------------------------------

    def tree(self, agent, which=-1):
        """The lines of the task tree of a request that is over."""
        return agent.gameplay.finished[which].render().splitlines()

    def steps(self, agent="a", *kinds):
        """What was tried and what came of it: (tick, event, what for, by whom)."""
        kinds = kinds or ("try", "solved", "failed")
        found = []
        for one in self.sim.trace:
            if one.agent == agent and one.event.value in kinds:
                detail = dict(one.detail)
                found.append((one.tick, one.event.value, detail["wanted"], detail.get("by", "")))
        return found

    def faults(self):
        """(tick, hook, error) of what was reported since the last call; taking them makes them expected."""
        new = [one for one in self.sim.trace if one.event.value == "fault" and one not in self.taken]
        self.taken.extend(new)
        return [
            (one.tick, dict(one.detail).get("hook", dict(one.detail).get("text")), dict(one.detail)["error"])
            for one in new
        ]

    # --- the end ------------------------------------------------------------------------------------------------------

    def close(self):
        self.sim.close()
        if self.kernel.live:
            self.tick(5)  # clean-up that takes its time

    def check(self):
        """What must hold at the end of everything."""
        assert self.kernel.live == 0, self.kernel
        assert self.faults() == []
        for agent in self.agents:
            assert [str(one) for one in check_trace(self.sim.trace, agent.name)] == []
            assert agent.flags.holds() == {}
            gameplay = agent.gameplay
            assert gameplay.running == ()
            assert repr(gameplay.changes) == "<Signal: 0 waiting, 0 connected>"
            for root in gameplay.finished:
                open_nodes = [node for _, node in root.walk() if node.outcome not in ENDED]
                assert open_nodes == [], root.render()


@pytest.fixture(scope="session")
def stage():
    """The class, for tests that need several simulations, or one for each example of hypothesis."""
    return Game


@pytest.fixture
def game():
    made = Game()
    yield made
    made.close()
    made.check()


def make_way(game, label, *provides, cost=1.0, ticks=1, needs=(), fails="", gives=None, quiet=False, **attributes):
    """A strategy that notes when it runs and when its run ends.

    Args:
        game: whose log.
        label: the name of the class.
        provides: the dependencies; ``Have`` by default.
        cost: a number, or what ``estimate`` is to do: a function of (ask, wanted).
        ticks: how many ticks it takes, after its needs.
        needs: what it has solved first: dependencies, or a function of (wanted) that gives them.
        fails: why it fails in the end; empty if it does not.
        gives: what it returns; what was wanted of ``Have`` is put into the bag.
        quiet: whether it notes nothing.
        attributes: more of the class.
    """
    note = (lambda *_: None) if quiet else game.note

    async def run(self, ctx, wanted):
        note(label, "run")
        try:
            for need in needs(wanted) if callable(needs) else needs:
                await ctx.solve(need)
            if ticks:
                await ctx.sleep_ticks(ticks)
            if fails:
                ctx.fail(fails)
            if isinstance(wanted, Have):
                ctx.entity.put(wanted.item, wanted.count)
                return wanted.count if gives is None else gives
            return gives
        finally:
            note(label, "ends")

    body = {"provides": provides or (Have,), "run": run, **attributes}
    if callable(cost):
        body.setdefault("estimate", lambda self, ask, wanted: cost(ask, wanted))
    else:
        body.setdefault("cost", cost)
    return type(label, (Strategy,), body)


@pytest.fixture
def way(game):
    """Make a strategy of this game: see ``make_way``."""

    def make(label, *provides, **options):
        return make_way(game, label, *provides, **options)

    return make


@pytest.fixture(scope="session")
def ways():
    """Make a strategy of any game: the first argument is the game."""
    return make_way


@pytest.fixture
def walk(game, way):
    """A house (Outer) that needs a plank (Inner, six ticks in two halves), and a way to be safe (Flee, four ticks)."""

    def make(outer, inner, *, flags=(), hears=None, **more):
        def hear(label):
            def interrupted(self, ctx, interruption):
                game.note(label, "hears", interruption.name, ctx.interruptions)
                if hears is not None:
                    hears(label, ctx)

            return interrupted

        async def halves(self, ctx, wanted):
            game.note("Inner", "run", ctx.interruptions)
            try:
                await ctx.sleep_ticks(3)
                game.note("Inner", "half")
                await ctx.sleep_ticks(3)
                ctx.entity.put(wanted.item)
            finally:
                game.note("Inner", "ends")

        strategies = (
            way("Outer", Build, needs=[Have("plank")], interruption=outer, interrupted=hear("Outer"), **more),
            way("Inner", run=halves, interruption=inner, interrupted=hear("Inner"), flags=flags),
            way("Flee", Reach, ticks=4, flags=flags),
        )
        agent = game.add(*strategies)
        wish = game.wish(agent.gameplay.build())
        game.tick(3)
        return agent, wish

    return make


@pytest.fixture
def digger(game):
    """Add a digger who knows strategies."""

    def add(*strategies, **options):
        entity = Digger()
        agent = game.add(*strategies, entity=entity, **options)
        entity.gameplay = agent.gameplay
        return agent

    return add
