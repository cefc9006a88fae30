"""The drivers of an agent: the order of their phase, cadences, attaching and detaching, agents that come and go."""

from __future__ import annotations

import pytest
from modules import load

from agentrt import Agent, Entity
from agentrt.errors import DefinitionError, WrongStateError

fakes = load("tests/runtime/fake_drivers.py")
at_phase = fakes.at_phase
being = fakes.being
driven = fakes.driven
Fail = fakes.Fail
Fake = fakes.Fake
Rest = fakes.Rest


# --- the order of a tick ----------------------------------------------------------------------------------------------


def test_ranks_then_the_order_of_attaching_then_agents(plain):
    log = []
    runtime = plain.runtime()
    for agent in ("ann", "bob"):
        drivers = [
            Fake(name, rank, log) for name, rank in (("tree", 3), ("b", 2), ("a", 2), ("targets", 1), ("sel", 0))
        ]
        runtime.add(being(agent, drivers))
    late = Fake("late", 1, log)
    runtime.agents[0].attach(late)
    plain.ticks(runtime, 1)
    order = [(agent, name) for tick, agent, name in driven(log, 1) if tick == 1]
    assert order == [
        *(("ann", name) for name in ("sel", "targets", "late", "b", "a", "tree")),
        *(("bob", name) for name in ("sel", "targets", "b", "a", "tree")),
    ]


def test_they_drive_before_the_plan_and_after_what_is_called_every_tick(plain):
    log = []

    class Walk(Rest):
        async def run(self, ctx, args):
            while True:
                log.append("plan")
                await ctx.sleep_ticks(1)

    runtime = plain.runtime()
    runtime.add(being(drivers=[Fake(when={"drive": lambda _: log.append("driver")}, log=[])], actions=[Walk]))
    runtime.every_tick(lambda: log.append("tick"))
    plain.ticks(runtime, 2)
    assert log[:6] == ["tick", "driver", "plan"] * 2


@pytest.mark.parametrize("number", range(1, 6))
def test_a_cadence_is_staggered_by_the_number_of_the_agent(plain, number):
    log = []
    runtime = plain.runtime()
    agent = being()
    agent.entity.id = number
    agent.attach(Fake(log=log), every=4)
    runtime.add(agent)
    plain.ticks(runtime, 12)
    ticks = [tick for tick, *_ in driven(log)]
    assert ticks == [tick for tick in range(1, 13) if (tick + number) % 4 == 0]


def test_a_crowd_is_spread_over_the_ticks(plain):
    log = []
    runtime = plain.runtime()
    for number in range(10):
        agent = being(f"a{number}")
        agent.attach(Fake(log=log), every=5)
        runtime.add(agent)
    plain.ticks(runtime, 10)
    ticks = [tick for tick, *_ in driven(log)]
    assert [ticks.count(tick) for tick in range(1, 11)] == [2] * 10


@pytest.mark.parametrize("every", [0, -1, 0.5, 2.5, float("inf"), float("nan")])
def test_a_cadence_is_a_number_of_ticks(every):
    agent = being()
    with pytest.raises(WrongStateError, match="Give a number of ticks"):
        agent.attach(Fake(), every=every)
    assert agent.attachments == ()


# --- attaching and detaching ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", ["intake", "every tick", "drivers", "strands", "publish", "between"])
def test_attached_in_any_phase_it_drives_from_the_next_intake_on(plain, phase):
    log = []
    runtime = plain.runtime()
    agent = runtime.add(being())
    new = Fake("new", 0, log)

    def attach(*_):
        if runtime.tick == 2 and not agent.attachments[1:]:
            agent.attach(new)

    agent.attach(Fake("old", 1, [], when={"drive": attach} if phase == "drivers" else {}))
    at_phase(runtime, phase, attach)
    plain.ticks(runtime, 5)
    assert log[:3] == [(3, "ann", "new", "join"), (3, "ann", "new", "drive"), (4, "ann", "new", "drive")]
    assert log[-1] == (6, "ann", "new", "leave")


@pytest.mark.parametrize("phase", ["intake", "every tick", "drivers", "strands", "publish"])
def test_detached_in_any_phase_it_leaves_at_the_next_intake(plain, phase):
    log = []
    runtime = plain.runtime()
    agent = runtime.add(being())

    def detach(*_):
        if runtime.tick == 2:
            attachment.detach()

    agent.attach(Fake("old", 1, [], when={"drive": detach} if phase == "drivers" else {}))
    attachment = agent.attach(Fake("new", 2, log))
    at_phase(runtime, phase, detach)
    plain.ticks(runtime, 5)
    assert log == [
        (1, "ann", "new", "join"),
        (1, "ann", "new", "drive"),
        (2, "ann", "new", "drive"),
        (3, "ann", "new", "leave"),
    ]
    assert not attachment.is_live


def test_an_attachment_that_never_joined_just_goes(plain):
    log = []
    runtime = plain.runtime()
    agent = being()
    agent.attach(Fake("never", log=log)).detach()
    assert agent.attachments == ()
    runtime.add(agent)
    plain.ticks(runtime, 1)
    assert log == []


def test_attached_and_detached_before_the_intake(plain):
    log = []
    runtime = plain.runtime()
    agent = runtime.add(being())
    runtime.step()
    attachment = agent.attach(Fake(log=log))
    attachment.detach()
    attachment.detach()
    runtime.step()
    assert agent.attachments == ()
    assert log == []
    runtime.close()


def test_a_name_is_free_again_when_it_was_detached(plain):
    log = []
    runtime = plain.runtime()
    agent = runtime.add(being())
    first = agent.attach(Fake("goals", log=log))
    with pytest.raises(WrongStateError, match="'ann' has a driver called 'goals'"):
        agent.attach(Fake("goals", log=log))
    runtime.step()
    first.detach()
    agent.attach(Fake("goals", log=log))
    runtime.step()
    assert [(tick, what) for tick, _, _, what in log] == [
        (1, "join"),
        (1, "drive"),
        (2, "leave"),
        (2, "join"),
        (2, "drive"),
    ]
    runtime.close()


def test_the_same_driver_joins_again_only_when_it_has_left(plain):
    runtime = plain.runtime()
    agent = runtime.add(being())
    driver = Fake(clean_up=3)
    attachment = agent.attach(driver)
    runtime.step()
    runtime.step()
    attachment.detach()
    with pytest.raises(WrongStateError, match="let it leave"):
        agent.attach(driver)
    for _ in range(3):
        runtime.step()
        assert attachment.is_leaving
    runtime.step()
    assert agent.attachments == ()
    agent.attach(driver)
    runtime.step()
    assert [what for *_, what in driver.log] == ["join", "drive", "drive", "leave", "clean", "join", "drive"]
    runtime.close()


def test_while_it_leaves_it_does_not_drive(plain):
    runtime = plain.runtime()
    driver = Fake(clean_up=4)
    agent = runtime.add(being(drivers=[driver]))
    attachment = agent.attachments[0]
    runtime.step()
    attachment.detach("enough")
    for _ in range(6):
        runtime.step()
    assert [what for *_, what in driver.log] == ["join", "drive", "leave", "clean"]
    assert driver.log[-1][0] == 6
    runtime.close()


def test_a_precedence_is_given_with_the_attachment():
    agent, one, two = being(), Fake("one", precedence=3), Fake("two", precedence=3)
    agent.attach(one)
    agent.attach(two, precedence=7)
    assert (one.precedence, two.precedence) == (3, 7)


def test_a_second_life_of_the_agent_has_the_same_drivers(plain):
    log = []
    runtime = plain.runtime()
    agent = runtime.add(being(drivers=[Fake("one", log=log)]))
    runtime.step()
    runtime.remove(agent)
    runtime.step()
    agent.attach(Fake("two", 1, log=log))
    runtime.add(agent)
    runtime.step()
    assert [(tick, name, what) for tick, _, name, what in log] == [
        (1, "one", "join"),
        (1, "one", "drive"),
        (2, "one", "leave"),
        (3, "two", "join"),
        (3, "one", "join"),
        (3, "two", "drive"),
        (3, "one", "drive"),
    ]
    runtime.close()


# --- agents come and go -----------------------------------------------------------------------------------------------


def test_an_agent_that_is_removed_in_the_phase_drives_on_until_the_intake(plain):
    log = []
    runtime = plain.runtime()
    first = runtime.add(being("ann", [Fake(log=log, when={"drive": lambda _: runtime.remove(runtime.agents[-1])})]))
    last = runtime.add(being("bob", [Fake(log=log)]))
    plain.ticks(runtime, 1)
    assert [what for what in log if what[1] == "bob"] == [
        (1, "bob", "fake", "join"),
        (1, "bob", "fake", "drive"),
        (2, "bob", "fake", "leave"),
    ]
    assert not first.is_alive
    assert not last.is_alive


def test_an_agent_that_is_added_in_the_phase_drives_from_the_next_tick_on(plain):
    log = []
    runtime = plain.runtime()

    def add(driver):
        if len(runtime.agents) == 1:
            runtime.add(being("bob", [Fake(log=log)]))

    runtime.add(being("ann", [Fake(log=[], when={"drive": add})]))
    plain.ticks(runtime, 2)
    assert log == [(2, "bob", "fake", "join"), (2, "bob", "fake", "drive"), (3, "bob", "fake", "leave")]


def test_the_last_one_leaves_first(plain):
    log = []
    runtime = plain.runtime()
    agent = runtime.add(being(drivers=[Fake("tree", 3, log), Fake("sel", 0, log), Fake("goals", 2, log)]))
    plain.ticks(runtime, 1)
    assert [name for *_, name, what in log if what == "leave"] == ["tree", "goals", "sel"]
    assert agent.has_ended.is_set


def test_the_plan_goes_on_until_the_slowest_driver_has_left(plain):
    log = []

    class Walk(Rest):
        def stop(self, ctx, args):
            log.append((ctx.clock.tick, "ann", "plan", "stop"))

    runtime = plain.runtime()
    agent = runtime.add(being(drivers=[Fake("a", log=log, clean_up=3), Fake("b", log=log, clean_up=1)], actions=[Walk]))
    runtime.step()
    runtime.remove(agent)
    for _ in range(5):
        runtime.step()
    assert [(tick, name, what) for tick, _, name, what in log if tick > 1] == [
        (2, "b", "leave"),
        (2, "a", "leave"),
        (3, "b", "clean"),
        (5, "a", "clean"),
        (5, "plan", "stop"),
    ]
    assert not agent.is_alive


def test_an_agent_does_not_leave_before_a_driver_that_was_detached_has(plain):
    runtime = plain.runtime()
    driver = Fake(clean_up=5)
    agent = runtime.add(being(drivers=[driver]))
    runtime.step()
    agent.attachments[0].detach()
    runtime.step()
    runtime.remove(agent)
    runtime.step()
    assert agent.is_alive
    runtime.close()
    assert driver.log[-1] == (7, "ann", "fake", "clean")
    assert agent.attachments == ()


def test_an_agent_that_is_killed_while_its_drivers_leave_waits_for_them(plain, logged):
    """Its plan aborts for the tenth time while a driver cleans up; the agent is out when both are done."""
    runtime = plain.runtime()
    driver = Fake(clean_up=12)
    agent = runtime.add(being(drivers=[driver], actions=[Fail]))
    for _ in range(5):
        runtime.step()
    runtime.remove(agent)
    for _ in range(10):
        runtime.step()
    assert agent.error is not None
    assert agent.is_alive
    for _ in range(5):
        runtime.step()
    assert not agent.is_alive
    assert driver.log[-1][3] == "clean"


def test_an_agent_that_is_killed_has_its_drivers_leave(plain, logged):
    log = []
    runtime = plain.runtime()
    agent = runtime.add(being(drivers=[Fake(log=log)], actions=[Fail]))
    for _ in range(12):
        runtime.step()
    assert agent.error is not None
    assert log[-1] == (10, "ann", "fake", "leave")
    assert len(driven(log)) == 10


def test_who_attaches_while_the_agent_ends_attaches_for_its_next_life(plain):
    log = []
    runtime = plain.runtime()
    agent = runtime.add(being())
    agent.attach(Fake("first", when={"leave": lambda _: agent.attach(Fake("second", log=log))}))
    runtime.step()
    runtime.remove(agent)
    runtime.step()
    runtime.step()
    assert log == []
    assert [one.driver.name for one in agent.attachments] == ["first", "second"]


@pytest.mark.parametrize("precedence", ["1", None, float("nan"), True, b"1"])
def test_the_precedence_of_a_plan_is_a_number_too(precedence):
    with pytest.raises(DefinitionError, match=r"Agent: precedence is .*\. Write a number"):
        Agent(Entity("ox"), precedence=precedence)
