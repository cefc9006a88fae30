"""Leases end with whoever could give them back, and nobody who is gone gets one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt import TOP, Action, Agent, Entity, Runtime
from agentrt.body import LeaseBook
from agentrt.kernel.kernel import Kernel
from agentrt.testing import Simulation, stub_action


@pytest.mark.states("tools: Outside: A lease of an agent ends with it, after its `stop` hooks; who is gone gets ...")
def test_an_agent_that_ended_gets_no_lease():
    sim = Simulation()
    agent = sim.add(Agent(Entity("wolf"), actions=[stub_action(TOP, takes=2)]))
    sim.tick()
    book, bone = sim.runtime.leases, Entity("bone")
    sim.runtime.remove(agent)
    assert book.acquire(bone, agent) is not None  # it has not ended yet
    sim.tick()
    assert (agent.is_alive, len(book), book.holder(bone)) == (False, 0, None)
    assert book.acquire(bone, agent) is None
    assert not book.can_acquire(bone, agent)
    assert book.acquire(bone, "somebody else") is not None
    sim.close()


def test_who_is_gone_does_not_wait_in_line():
    sim = Simulation()
    agent = sim.add(Agent(Entity("wolf"), actions=[stub_action(TOP, takes=2)]))
    sim.tick()
    sim.runtime.remove(agent)
    sim.tick()
    book, bone, got = sim.runtime.leases, Entity("bone"), []

    async def takes():
        got.append(await book.take(bone, agent))

    book.acquire(bone, "somebody else")
    sim.runtime.spawn(takes)
    sim.tick(2)
    assert got == [None]
    assert book.waiting(bone) == ()
    sim.close()


@pytest.mark.states(
    "tools: Outside: A lease of an agent ends with it, after its `stop` hooks; who is gone gets none",
    source="design 3",
)
def test_what_it_holds_is_free_when_it_has_left_after_its_stop_hooks():
    seen = []

    class Gnaw(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            ctx.agent.runtime.leases.acquire(bones[0], ctx.agent)
            ctx.agent.runtime.leases.acquire(bones[1], ctx.agent)
            await ctx.sleep(60)

        def stop(self, ctx, args):
            seen.append(("stop", len(sim.runtime.leases)))
            sim.runtime.leases.acquire(bones[2], ctx.agent)

    bones = [Entity("bone", id=number) for number in range(3)]
    sim = Simulation()
    agent = sim.add(Agent(Entity("wolf"), actions=[Gnaw]))
    sim.runtime.leases.changed.connect(lambda bone: seen.append((bone.id, sim.runtime.leases.holder(bone))))
    sim.tick(2)
    sim.runtime.remove(agent)
    sim.tick()
    assert seen == [(0, agent), (1, agent), ("stop", 2), (2, agent), (0, None), (1, None), (2, None)]
    sim.close()


@pytest.mark.parametrize("how", ["killed", "closed", "removed"])
def test_however_it_ends(how):
    class Howl(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            sim.runtime.leases.acquire(bone, ctx.agent)
            if how == "killed":
                raise ValueError
            await ctx.sleep(60)

    bone = Entity("bone")
    sim = Simulation()
    agent = sim.add(Agent(Entity("wolf"), actions=[Howl]))
    sim.tick(2)
    if how == "removed":
        sim.runtime.remove(agent)
    if how == "closed":
        sim.close()
    else:
        sim.tick(3000)
    assert not agent.is_alive
    assert len(sim.runtime.leases) == 0
    sim.close()


def test_who_takes_what_becomes_free_is_not_the_one_who_left():
    runtime = Runtime(host="plain")
    agents = [runtime.add(Agent(Entity("wolf"), actions=[stub_action(TOP, takes=9)])) for _ in range(2)]
    bone, book = Entity("bone"), runtime.leases
    got = []
    book.acquire(bone, agents[0]).released.connect(
        lambda lease: got.extend(book.acquire(bone, agent) is not None for agent in agents)
    )
    runtime.step()
    runtime.remove(agents[0])
    runtime.step()
    assert got == [False, True]
    assert book.holder(bone) is agents[1]
    runtime.close()
    assert len(book) == 0


def test_an_agent_that_comes_again_may_hold_things_again():
    sim = Simulation()
    agent = sim.add(Agent(Entity("wolf"), actions=[stub_action(TOP, takes=2)]))
    bone = Entity("bone")
    sim.tick()
    sim.runtime.remove(agent)
    sim.tick()
    sim.add(agent)
    assert sim.runtime.leases.acquire(bone, agent) is not None
    sim.close()


def test_an_entity_that_is_destroyed_gets_none_and_what_it_holds_outlives_its_agent():
    sim = Simulation()
    wolf = Entity("wolf")
    agent = sim.add(Agent(wolf, actions=[stub_action(TOP, takes=2)]))
    bone, book = Entity("bone"), sim.runtime.leases
    book.acquire(bone, wolf)
    sim.tick()
    sim.runtime.remove(agent)
    sim.tick()
    assert book.holder(bone) is wolf
    wolf.destroy()
    assert (len(book), book.acquire(bone, wolf), book.can_acquire(bone, wolf)) == (0, None, False)
    sim.close()


class Owner:
    pass


@given(st.lists(st.tuples(st.sampled_from(["acquire", "release", "all"]), st.integers(0, 3), st.integers(0, 5))))
def test_the_two_books_agree(course):
    book, owners, things = LeaseBook(), [Owner() for _ in range(4)], [object() for _ in range(6)]
    held = {}
    for what, who, which in course:
        owner, thing = owners[who], things[which]
        if what == "acquire":
            lease = book.acquire(thing, owner)
            holder = held.get(thing)
            assert (lease is None) == (holder is not None and holder[0] is not owner)
            if lease is not None:
                held[thing] = (owner, lease)
        elif what == "release" and thing in held:
            lease = held[thing][1]
            lease.release()
            if not lease.is_held:
                del held[thing]
        elif what == "all":
            book.release_all(owner)
            held = {thing: one for thing, one in held.items() if one[0] is not owner}
        assert len(book) == len(held)
        assert sum(map(len, book._held.values())) == len(held)
        assert all(book.holder(thing) is one[0] for thing, one in held.items())


steps = st.sampled_from(["acquire", "release", "line up", "leave", "promise", "tick", "clear"])


@given(st.lists(st.tuples(steps, st.integers(0, 2), st.integers(0, 3)), max_size=40))
def test_what_is_reserved_for_somebody_is_what_it_holds_and_what_is_promised_to_it(course):
    """Against the other way round: who has each thing."""
    kernel, book, owners, things = Kernel(), LeaseBook(), [Owner() for _ in range(3)], [object() for _ in range(4)]
    leases, places = [], []

    async def line_up(thing, owner):
        places.append(book.line_up(thing, owner, lambda: None))

    for what, who, which in course:
        owner, thing = owners[who], things[which]
        if what == "acquire":
            leases.append(book.acquire(thing, owner))
        elif what == "release" and leases:
            lease = leases.pop(which % len(leases))
            _ = lease and lease.release()
        elif what == "line up":
            kernel.spawn(line_up(thing, owner))
        elif what == "leave" and places:
            places.pop(which % len(places)).close()
        elif what == "promise":
            book.promise(thing, owner, kernel, 1 + which)
        elif what == "clear":
            book.clear()
        if what in ("tick", "line up"):
            kernel.step_tick()
        for one in owners:
            found = book.reserved_for(one)
            assert sorted(map(things.index, found)) == [i for i in range(4) if book.holder(things[i]) is one]
            held = [book.is_leased(thing) for thing in found]
            assert held == sorted(held, reverse=True)
    for _ in range(100):
        kernel.step_tick()
    assert not book._promised
