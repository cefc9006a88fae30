"""The line for a thing that is leased: first come, first served, nobody overtakes, and it costs the same for each."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual_loop import VirtualLoop

from agentrt import Action, ActionArgs, Agent, CompoundAction, Entity, Runtime, step
from agentrt.body import LeaseBook
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.traps import sleep_ticks
from agentrt.testing import Simulation, check_trace
from agentrt_actions.reserving import ReserveEntity

# --- coroutines -------------------------------------------------------------------------------------------------------


def test_take_serves_in_the_order_of_arrival_and_nobody_overtakes():
    kernel, book, log = Kernel(), LeaseBook(), []

    async def user(name, again):
        for _ in range(again):
            lease = await book.take("well", name)
            log.append((kernel.tick, name))
            await sleep_ticks(2)
            lease.release()

    for name, again in (("a", 3), ("b", 2), ("c", 1)):
        kernel.spawn(user(name, again), name)
    for _ in range(16):
        kernel.step_tick()
    assert log == [(1, "a"), (3, "b"), (5, "c"), (7, "a"), (9, "b"), (11, "a")]
    assert (len(book), book._lines, kernel.live) == (0, {}, 0)


steps = st.lists(
    st.tuples(st.sampled_from(("come", "come", "leave", "wait", "wait", "steal")), st.integers(0, 9)), max_size=60
)


@pytest.mark.states(
    "001: AI contexts: (decided) Who is refused a lease waits in line: first come, first served, nobody overtakes, "
    "and it is asked again when it is its turn",
    source="reject; design 3, Leases",
)
@pytest.mark.slow
@given(steps)
@settings(max_examples=150, deadline=None)
def test_who_waits_is_served_in_order_whoever_leaves(course):
    """Against a plain list: who has it, and who waits in which order."""
    kernel, book = Kernel(), LeaseBook()
    served, strands, model = [], {}, []

    async def user(name):
        try:
            lease = await book.take("well", name)
            served.append(name)
            try:
                await sleep_ticks(3)
            finally:
                lease.release()
        finally:
            model.remove(name)

    number = 0
    for what, which in course:
        if what == "come":
            number += 1
            model.append(number)
            strands[number] = kernel.spawn(user(number), str(number))
        elif what == "leave" and model:
            strands[model[which % len(model)]].stop("it left")
        elif what == "steal":
            holder = book.holder("well")
            stolen = book.acquire("well", "thief")
            assert (stolen is None) == (holder is not None)
            if stolen is not None:
                stolen.release()
        kernel.step_tick()
        holder = book.holder("well")
        assert holder == (model[0] if model else None)
        assert list(book.waiting("well")) == [name for name in model if name != holder or name not in served]
    for _ in range(4 * number + 4):
        kernel.step_tick()
    assert served == sorted(served)
    assert (model, len(book), book._lines, kernel.live) == ([], 0, {}, 0)


def test_a_destroyed_thing_is_nobodys_turn():
    kernel, book, log = Kernel(), LeaseBook(), []
    well = Entity("well")

    async def user(name):
        log.append((name, (await book.take(well, name)) is not None))

    for name in "abc":
        kernel.spawn(user(name), name)
    kernel.step_tick()
    well.destroy()
    kernel.step_tick()
    assert log == [("a", True), ("b", False), ("c", False)]
    kernel.step_tick()
    kernel.step_tick()
    kernel.step_tick()
    assert (len(book), book._lines) == (0, {})


def test_a_turn_that_is_not_used_is_lost_after_the_next_tick():
    kernel, book, told = Kernel(), LeaseBook(), []
    lease = book.acquire("well", "a")

    async def line_up():
        for name in "bc":
            book.line_up("well", name, lambda name=name: told.append((kernel.tick, name)))

    kernel.spawn(line_up())
    kernel.step_tick()
    lease.release()
    assert (book.holder("well"), book.can_acquire("well", "c"), book.waiting("well")) == ("b", False, ("b", "c"))
    for _ in range(6):
        kernel.step_tick()
    assert told == [(2, "b"), (3, "c")]
    assert book.holder("well") is None
    assert book._lines == {}


def test_a_turn_that_is_lost_is_news_for_who_does_not_stand_in_line():
    kernel, book, heard = Kernel(), LeaseBook(), []
    lease = book.acquire("well", "a")

    async def line_up():
        book.line_up("well", "b", lambda: None)

    kernel.spawn(line_up())
    kernel.step_tick()
    lease.release()
    book.changed.connect(lambda thing: heard.append((kernel.tick, thing)))
    for _ in range(6):
        kernel.step_tick()
    assert heard == [(3, "well")]


def test_who_gives_it_back_lets_others_have_it_and_is_told_if_nobody_wants_it():
    kernel, book, log = Kernel(), LeaseBook(), []

    async def greedy():
        lease = book.acquire("well", "a")
        assert book.acquire("well", "b") is None  # and b loses interest
        lease.release()
        assert book.acquire("well", "a") is None
        log.append(await book.changed.wait())
        assert book.acquire("well", "a") is not None
        log.append(kernel.tick)

    kernel.spawn(greedy())
    kernel.step_tick()
    kernel.step_tick()
    assert log == ["well", 2]


def test_who_gives_it_back_and_waits_for_it_again_keeps_its_place():
    """It is passed over in that tick, and is the first again in the next."""
    kernel, book, log = Kernel(), LeaseBook(), []

    async def user(name):
        lease = await book.take("well", name)
        log.append((kernel.tick, name))
        await sleep_ticks(2)
        lease.release()

    async def again():
        lease = book.acquire("well", "a")
        book.line_up("well", "a", lambda: log.append((kernel.tick, "a again")))
        await sleep_ticks(2)
        lease.release()

    kernel.spawn(again())
    for name in "bc":
        kernel.spawn(user(name), name)
    for _ in range(8):
        kernel.step_tick()
    assert log[:2] == [(3, "b"), (5, "a again")]


# --- agents -----------------------------------------------------------------------------------------------------------

WELL = Entity("well", name="well")


class Waits(Action):
    """Looks whether it can have it, and waits for news."""

    does = "agentrt:top"
    utility = 0.5
    served: list

    async def think(self, ctx, args):
        leases = ctx.entity[LeaseBook]
        while not leases.can_acquire(WELL, ctx.agent):
            await leases.changed.wait()
        ctx.set_think_output()

    def start(self, ctx, args):
        self.lease = ctx.entity[LeaseBook].acquire(WELL, ctx.agent)
        if self.lease is None:
            ctx.reject("taken")

    async def run(self, ctx, args):
        ctx.entity[list].append(ctx.agent.name)
        await ctx.sleep_ticks(3)

    def stop(self, ctx, args):
        if self.lease is not None:
            self.lease.release()


class Tries(Waits):
    """Thinks nothing of it, and is refused at the start."""

    does = "agentrt:top"
    utility = 0.5

    async def think(self, ctx, args):
        ctx.set_think_output()


class Use(Action):
    does = "use"
    utility = 0.5

    class Args(ActionArgs):
        thing: Entity

    async def run(self, ctx, args):
        ctx.entity[list].append(ctx.agent.name)
        await ctx.sleep_ticks(3)


class Reserves(CompoundAction):
    """By the standard action."""

    does = "agentrt:top"
    utility = 0.5
    steps = (step("agentrt:reserve_entity", entity=WELL), step("use", thing=WELL))


class Polls(Action):
    """Acquires it in run, and waits for news."""

    does = "agentrt:top"
    utility = 0.5

    async def run(self, ctx, args):
        leases = ctx.entity[LeaseBook]
        while (lease := leases.acquire(WELL, ctx.agent)) is None:
            await leases.changed.wait()
        ctx.entity[list].append(ctx.agent.name)
        try:
            await ctx.sleep_ticks(3)
        finally:
            lease.release()


class Takes(Action):
    """Waits in line in run."""

    does = "agentrt:top"
    utility = 0.5

    async def run(self, ctx, args):
        lease = await ctx.entity[LeaseBook].take(WELL, ctx.agent)
        ctx.entity[list].append(ctx.agent.name)
        try:
            await ctx.sleep_ticks(3)
        finally:
            lease.release()


WAYS = {
    "waits": (Waits,),
    "tries": (Tries,),
    "reserves": (Reserves, Use, ReserveEntity),
    "polls": (Polls,),
    "takes": (Takes,),
}


def contenders(runtime, actions, many):
    served = []
    for number in range(many):
        runtime.add(Agent(Entity("h", runtime.leases, served, name=f"a{number}"), actions=actions))
    return served


@pytest.mark.states("001: AI contexts: (decided) Who is refused a lease waits in line: first come, first served ...")
@pytest.mark.parametrize("way", WAYS)
def test_agents_are_served_in_turn(way):
    sim = Simulation()
    served = contenders(sim.runtime, WAYS[way], 10)
    sim.tick(3 * 40 + 12)
    assert served[:40] == [f"a{number % 10}" for number in range(40)]
    sim.close()
    for agent in {one.agent for one in sim.trace if one.agent}:
        assert [str(one) for one in check_trace(sim.trace, agent)] == []
    assert len(sim.runtime.leases) == 0


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_of_a_thousand_each_is_served_once_before_anybody_twice(way):
    runtime = Runtime(host="plain")
    served = contenders(runtime, WAYS[way], 1000)
    for _ in range(100):
        runtime.step()
    assert len(served) >= 25
    assert max(Counter(served).values()) == 1
    assert served == [f"a{number}" for number in range(len(served))]
    runtime.close()


def starts(way, many):
    sim = Simulation()
    contenders(sim.runtime, WAYS[way], many)
    sim.tick(40)
    count = sum(one.event.value in ("start", "refused") for one in sim.trace)
    sim.close()
    return count / many


@pytest.mark.states("001: AI contexts: (decided) Who is refused a lease waits in line: first come, first served ...")
@pytest.mark.slow
@pytest.mark.parametrize("way", ["waits", "tries", "reserves", "takes"])
def test_how_often_each_tries_does_not_grow_with_the_line(way):
    """It may choose something else, and is asked again at longer and longer intervals; nobody is asked at each turn."""
    assert starts(way, 50) < 20
    assert starts(way, 400) <= starts(way, 50)


class Fixed(Waits):
    """It does not think, so it has nothing to choose."""

    does = "agentrt:top"
    utility = 0.5
    think = Action.think


def test_who_has_nothing_to_choose_tries_only_when_it_is_its_turn():
    sim = Simulation()
    served = contenders(sim.runtime, (Fixed,), 6)
    sim.tick(3 * 18)
    assert served[:18] == [f"a{number % 6}" for number in range(18)]
    assert sum(one.event.value == "refused" for one in sim.trace) == 5 + 17  # at first, and after each turn
    sim.close()


def test_who_was_refused_at_the_start_chooses_something_else():
    """Two wells, and who comes too late for the one takes the other."""
    wells = [Entity("well", name=name) for name in "xy"]

    class Choose(Waits):
        does = "agentrt:top"
        utility = 0.5

        async def think(self, ctx, args):
            leases = ctx.entity[LeaseBook]
            self.well = next((well for well in wells if leases.can_acquire(well, ctx.agent)), None)
            if self.well is None:
                ctx.reject("none is free")
            ctx.set_think_output()

        def start(self, ctx, args):
            self.lease = ctx.entity[LeaseBook].acquire(self.well, ctx.agent)
            if self.lease is None:
                ctx.reject("taken")

        async def run(self, ctx, args):
            ctx.entity[list].append(ctx.agent.name)
            await ctx.sleep_ticks(100)

    sim = Simulation()
    served = contenders(sim.runtime, (Choose,), 2)
    sim.tick(2)
    assert served == ["a0", "a1"]
    assert sim.runtime.leases.waiting(wells[0]) == ()
    sim.close()


def test_who_leaves_the_line_is_passed_over():
    sim = Simulation()
    served = contenders(sim.runtime, WAYS["tries"], 6)
    agents = list(sim.runtime.agents)
    sim.tick(2)
    for number in (1, 3):
        sim.runtime.remove(agents[number])
    sim.tick(3 * 8)
    assert served[:8] == ["a0", "a2", "a4", "a5", "a0", "a2", "a4", "a5"]
    sim.close()


def test_a_refusal_for_another_reason_is_asked_again_as_ever():
    class Shy(Tries):
        does = "agentrt:top"
        utility = 0.5

        def start(self, ctx, args):
            super().start(ctx, args)
            if ctx.clock.tick < 6:
                self.lease.release()
                self.lease = None
                ctx.reject("not yet")

    sim = Simulation()
    served = contenders(sim.runtime, (Shy,), 1)
    sim.tick(10)
    assert served == ["a0"]
    sim.close()


def on_plain(runtime, ticks):
    for _ in range(ticks):
        runtime.step()
    runtime.close()


def on_asyncio(runtime, ticks):
    async def main():
        for _ in range(ticks):
            runtime.step()
            await asyncio.sleep(0)
        runtime.close()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())


def on_trio(runtime, ticks):
    trio = pytest.importorskip("trio")

    async def main():
        with trio.move_on_after(1000):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(runtime.run)
                while runtime.tick < ticks:
                    await trio.sleep(0.05)
                nursery.cancel_scope.cancel()

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


@pytest.mark.states("001: AI contexts: (decided) Who is refused a lease waits in line: first come, first served ...")
@pytest.mark.parametrize("way", WAYS)
def test_the_order_is_the_same_on_three_hosts(way):
    orders = []
    for host, drive in (("plain", on_plain), ("asyncio", on_asyncio), ("trio", on_trio)):
        runtime = Runtime(host=host)
        served = contenders(runtime, WAYS[way], 5)
        drive(runtime, 60)
        orders.append(served[:16])
    assert orders[0] == orders[1] == orders[2] == [f"a{number % 5}" for number in range(16)]
