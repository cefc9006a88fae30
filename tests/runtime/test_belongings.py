"""What an agent has from packs besides actions: components, observers, personal task groups. They come and go."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt import (
    TOP,
    Action,
    ActionArgs,
    Agent,
    CancelScope,
    Entity,
    Manifest,
    Registry,
    Restart,
    Runtime,
    sleep_ticks,
)
from agentrt.errors import (
    ComponentError,
    DefinitionError,
    InvalidPackError,
    UnknownAliasError,
    UnknownTaskGroupError,
    WrongStateError,
)
from agentrt.tasks import TaskGroupAction, declare_multiple_tasks, declare_permanent_task, declare_task
from agentrt.testing import Simulation, check_trace

LOG = []


class Stomach:
    """A component that says what becomes of it."""

    def __init__(self, entity, *, size=1, contents=()):
        self.name = entity.name
        self.size = size
        self.contents = contents
        LOG.append(f"{self.name} has a stomach of {size}")

    def close(self):
        LOG.append(f"{self.name} has no stomach")


class Collar:
    def __init__(self, entity):
        self.entity = entity


def make_stomach(entity, **settings):
    return Stomach(entity, **settings)


async def hunger(agent):
    LOG.append("hunger begins")
    try:
        while True:
            await sleep_ticks(2)
            LOG.append(f"hunger at {agent.runtime.tick}")
    finally:
        LOG.append(f"hunger ends with {'a' if Stomach in agent.entity else 'no'} stomach")


async def slow_end(agent):
    try:
        await sleep_ticks(1000)
    finally:
        with CancelScope(shield=True):
            await sleep_ticks(2)
            LOG.append(f"slow end at {agent.runtime.tick} with {'a' if Stomach in agent.entity else 'no'} stomach")


async def broken(agent):
    await sleep_ticks(1)
    raise ValueError("no such thing")


async def feeder(agent):
    """What an observer is for: it creates a task when there is reason to."""
    group = agent.get_task_group("m:task_groups:solo:needs")
    while True:
        task = group.create_task("m:eat", food="apple").once().start()
        LOG.append(f"wants to eat at {agent.runtime.tick}")
        LOG.append(f"ate: {await task.wait()} at {agent.runtime.tick}")
        await sleep_ticks(3)


class Needs(TaskGroupAction):
    does = TOP
    utility = (0, 0.3)
    tasks = (
        declare_task("m:sleep", 0.6),
        declare_multiple_tasks("m:eat", (0.4, 1.0)),
        declare_permanent_task("m:rest", {}, 0.2),
    )


class Note(Action):
    utility = 0.5

    async def run(self, ctx, args):
        LOG.append(f"{type(self).__name__.lower()} at {ctx.clock.tick}")
        await ctx.sleep_ticks(2)


class Rest(Note):
    does = "m:rest"


class Sleep(Note):
    does = "m:sleep"

    async def think(self, ctx, args):
        await ctx.sleep_ticks(2)
        ctx.set_think_output()
        await ctx.sleep_ticks(1)
        ctx.clear_think_output()
        await ctx.sleep_ticks(1)
        ctx.set_think_output()


async def dreamer(agent):
    """One task after another, which think for a while."""
    while True:
        task = agent.get_task_group("m:task_groups:solo:needs").create_task("m:sleep").times(2).start()
        try:
            await task.wait()
        finally:
            task.destroy()  # an observer that is revoked takes back what it wanted
        await sleep_ticks(1)


class Eat(Note):
    does = "m:eat"

    class Args(ActionArgs):
        food: str


class Digest(Action):
    """Needs the component until its very end."""

    does = TOP
    utility = 0.9

    async def run(self, ctx, args):
        await ctx.sleep_ticks(1000)

    def stop(self, ctx, args):
        LOG.append(f"digestion stops with {'a' if Stomach in ctx.entity else 'no'} stomach")


EXTENSION = {
    "task_groups": {
        "m:task_groups:more": {
            "extends": "m:task_groups:solo:needs",
            "tasks": [{"activity": "m:drink", "utility": 0.1}, {"activity": "m:bask", "utility": 0, "permanent": True}],
        },
        "m:task_groups:again": {
            "extends": "m:task_groups:solo:needs",
            "tasks": [{"activity": "m:sleep", "utility": 0.1}],
        },
    }
}

PACKS = {
    "stomach": {"components": {"m:components:stomach": {"size": 3}}},
    "plain_stomach": {"components": ["m:components:stomach"]},
    "made_stomach": {"components": {"m:components:made_stomach": {"size": 5}}},
    "hunger": {"observers": ["m:observers:hunger"], "ai_packs": ["m:ai_pack:stomach"]},
    "slow": {"observers": ["m:observers:slow_end"], "ai_packs": ["m:ai_pack:stomach"]},
    "digest": {"actions": ["m:actions:digest"], "ai_packs": ["m:ai_pack:stomach"]},
    "needs": {"task_groups": ["m:task_groups:solo:needs"], "actions": ["m:actions:rest", "m:actions:eat"]},
    "feeder": {"observers": ["m:observers:feeder"], "ai_packs": ["m:ai_pack:needs"]},
    "dreamer": {"observers": ["m:observers:dreamer"], "actions": ["m:actions:sleep"], "ai_packs": ["m:ai_pack:needs"]},
    "more": {"task_groups": ["m:task_groups:more"]},
    "again": {"task_groups": ["m:task_groups:again"]},
    "whole": {"task_groups": ["m:task_groups:more"], "ai_packs": ["m:ai_pack:needs"]},
    "broken": {"observers": ["m:observers:broken"]},
}

REGISTRY = Registry(
    [
        Manifest(
            "m",
            {
                "actions:rest": Rest,
                "actions:sleep": Sleep,
                "actions:eat": Eat,
                "actions:digest": Digest,
                "components:stomach": Stomach,
                "components:made_stomach": make_stomach,
                "components:collar": Collar,
                "components:bad": 7,
                "components:raises": lambda entity: {}["no"],
                "observers:hunger": hunger,
                "observers:slow_end": slow_end,
                "observers:broken": broken,
                "observers:feeder": feeder,
                "observers:dreamer": dreamer,
                "observers:plain": len,
                "observers:wide": make_stomach,
                "task_groups:solo:needs": Needs,
                "task_groups:more": EXTENSION,
                "task_groups:again": EXTENSION,
                **{f"ai_pack:{name}": pack for name, pack in PACKS.items()},
            },
        )
    ]
)


async def two_arguments(agent, other):
    pass


@pytest.fixture(autouse=True)
def log():
    LOG.clear()
    return LOG


@pytest.fixture
def sim():
    simulation = Simulation()
    yield simulation
    simulation.close()
    assert simulation.runtime.kernel.live == 0


def make(*packs, entity=None, **options):
    return Agent(entity or Entity("ann"), packs=list(packs), registry=REGISTRY, **options)


def taken(log):
    told = list(log)
    log.clear()
    return told


# --- components -------------------------------------------------------------------------------------------------------


def test_a_component_is_there_at_once_when_the_agent_is_in_no_runtime(log):
    agent = make("m:ai_pack:stomach")
    assert agent.entity[Stomach].size == 3
    assert taken(log) == ["ann has a stomach of 3"]


@pytest.mark.states("001: Injecting actions: Packs list components")
def test_it_comes_and_goes_at_the_intake_while_the_agent_acts(sim, log):
    agent = sim.add(make())
    sim.tick()
    injection = agent.inject("m:ai_pack:stomach")
    assert Stomach not in agent.entity
    sim.tick()
    assert Stomach in agent.entity
    injection.revoke()
    assert Stomach in agent.entity
    sim.tick()
    assert Stomach not in agent.entity
    assert taken(log) == ["ann has a stomach of 3", "ann has no stomach"]


def test_it_is_found_under_the_protocols_that_it_names():
    class Warm:
        """A protocol."""

    class Coat:
        also_as = (Warm,)

        def __init__(self, entity):
            self.entity = entity

    registry = Registry([Manifest("m", {"components:coat": Coat})])
    agent = Agent(Entity("ann"), registry=registry)
    injection = agent.inject({"components": ["m:components:coat"]})
    assert agent.entity[Warm] is agent.entity[Coat]
    injection.revoke()
    assert (Warm in agent.entity, Coat in agent.entity) == (False, False)


def test_what_two_injections_name_stays_until_both_are_revoked(log):
    agent = make("m:ai_pack:stomach")
    second = agent.inject("m:ai_pack:plain_stomach")
    agent.injections[0].revoke()
    assert agent.entity[Stomach].size == 3  # the first that named it made it
    second.revoke()
    assert Stomach not in agent.entity
    assert taken(log) == ["ann has a stomach of 3", "ann has no stomach"]


def test_components_are_given_back_in_the_opposite_order(log):
    class Heart(Stomach):
        def close(self):
            LOG.append(f"{self.name} has no heart")

    registry = Registry([Manifest("m", {"components:stomach": Stomach, "components:heart": Heart})])
    agent = Agent(Entity("ann"), registry=registry)
    injection = agent.inject({"components": ["m:components:stomach", "m:components:heart"]})
    taken(log)
    injection.revoke()
    assert taken(log) == ["ann has no heart", "ann has no stomach"]


def test_what_the_entity_had_is_left_alone(log):
    entity = Entity("ann")
    own = entity.add(Stomach(entity, size=9))
    log.clear()
    agent = make("m:ai_pack:stomach", entity=entity)
    agent.injections[0].revoke()
    assert entity[Stomach] is own
    assert taken(log) == []


def test_a_factory_tells_what_it_makes_by_making_it(log):
    """Two aliases for one class: the second finds what the first made, and keeps it alive."""
    agent = make("m:ai_pack:stomach")
    agent.inject("m:ai_pack:made_stomach")
    assert taken(log) == ["ann has a stomach of 3", "ann has a stomach of 5", "ann has no stomach"]
    assert agent.entity[Stomach].size == 3
    agent.injections[0].revoke()
    assert agent.entity[Stomach].size == 3
    agent.injections[0].revoke()
    assert Stomach not in agent.entity


def test_what_somebody_put_in_its_place_stays():
    agent = make("m:ai_pack:stomach")
    other = agent.entity.add(Stomach(agent.entity, size=8))
    agent.injections[0].revoke()
    assert agent.entity[Stomach] is other


def test_settings_are_each_agents_own():
    packs = {"components": {"m:components:stomach": {"contents": ["grass"]}}}
    one, two = make(packs), make(packs)
    one.entity[Stomach].contents.append("hay")
    assert two.entity[Stomach].contents == ["grass"]


def test_settings_that_do_not_fit(log):
    agent = make()
    with pytest.raises(ComponentError) as caught:
        agent.inject({"components": {"m:components:stomach": {"depth": 3}}})
    assert str(caught.value) == (
        "[ART206] #/components/m:components:stomach: the component 'm:components:stomach' cannot be made: it does not take "
        "what it is given: got an unexpected keyword argument 'depth'. Correct the settings that the pack gives it, or "
        "the factory that is registered under the alias."
    )
    assert agent.injections == ()


def test_a_factory_that_raises():
    agent = make()
    with pytest.raises(ComponentError, match=r"#/components/0: .*making it raised KeyError: 'no'\."):
        agent.inject({"components": ["m:components:raises"], "actions": ["m:actions:rest"]})
    assert (agent.injections, agent.actions) == ((), ())


def test_a_factory_that_raises_while_the_agent_acts_is_reported_and_the_rest_is_taken(sim, log):
    agent = sim.add(make())
    sim.tick()
    agent.inject(
        {"components": ["m:components:raises"], "actions": ["m:actions:rest"], "ai_packs": ["m:ai_pack:hunger"]}
    )
    sim.tick()
    assert agent.actions == (Rest,)
    assert taken(log) == ["ann has a stomach of 3", "hunger begins"]
    agent.inject("m:ai_pack:needs").revoke()  # it is not tried again
    sim.tick()
    assert [(one.tick, one.path, dict(one.detail)["error"][:14]) for one in sim.trace if one.event == "fault"] == [
        (2, "packs", "ComponentError")
    ]


def test_an_entity_that_holds_no_components():
    class Stone:
        name = "stone"

    with pytest.raises(DefinitionError) as caught:
        make("m:ai_pack:stomach", entity=Stone())
    assert caught.value.text == (
        "m:components:stomach: the entity, a Stone, holds no components: it has no method 'add'. "
        "Use agentrt.Entity, or give it the methods add(component), get(type) and remove(type)."
    )


@pytest.mark.parametrize(
    ("pack", "text"),
    [
        ({"components": ["m:components:bad"]}, "m:components:bad: it names 7, which cannot be called."),
        (
            {"observers": ["m:observers:plain"]},
            "m:observers:plain: it names <built-in function len>, which is no corou",
        ),
        ({"observers": ["m:observers:wide"]}, "m:observers:wide: it names <function make_stomach"),
    ],
)
def test_what_is_not_of_its_kind(pack, text):
    with pytest.raises(DefinitionError) as caught:
        make(pack)
    assert caught.value.text.startswith(text)


def test_an_observer_that_does_not_fit_the_call():
    registry = Registry([Manifest("m", {"observers:two": two_arguments})])
    with pytest.raises(
        DefinitionError, match=r"it cannot be called with an agent: missing a required argument: 'other'"
    ):
        Agent(Entity("ann"), packs=[{"observers": ["m:observers:two"]}], registry=registry)


def test_a_name_that_nobody_registered_changes_nothing():
    agent = make()
    with pytest.raises(UnknownAliasError):
        agent.inject({"components": ["m:components:stomach"], "observers": ["m:observers:hungry"]})
    assert Stomach not in agent.entity


# --- observers --------------------------------------------------------------------------------------------------------


def test_an_observer_lives_from_the_intake_to_the_revocation(sim, log):
    agent = sim.add(make())
    sim.tick()
    injection = agent.inject("m:ai_pack:hunger")
    assert taken(log) == []
    sim.tick(4)
    assert taken(log) == ["ann has a stomach of 3", "hunger begins", "hunger at 4"]
    injection.revoke()
    assert taken(log) == []
    sim.tick()
    assert taken(log) == ["hunger ends with a stomach", "ann has no stomach"]


def test_it_begins_with_the_agent_and_ends_with_it(sim, log):
    agent = make("m:ai_pack:hunger")
    assert taken(log) == ["ann has a stomach of 3"]
    sim.add(agent)
    sim.tick(3)
    assert taken(log) == ["hunger begins", "hunger at 3"]
    sim.runtime.remove(agent)
    sim.tick()
    assert taken(log) == ["hunger ends with a stomach"]
    assert not agent.is_alive
    sim.add(agent)  # and begins anew
    sim.tick()
    assert taken(log) == ["hunger begins"]
    assert Stomach in agent.entity


@pytest.mark.states("001: Injecting actions: (decided) Observers live as long as they are injected and their agent ...")
def test_the_agent_ends_when_its_observers_have(sim, log):
    agent = sim.add(make("m:ai_pack:slow"))
    sim.tick(2)
    sim.runtime.remove(agent)
    sim.tick()
    assert agent in sim.runtime.agents
    sim.tick(2)
    assert agent not in sim.runtime.agents
    assert taken(log) == ["ann has a stomach of 3", "slow end at 5 with a stomach"]
    assert sim.events("removed") == [(3, "ann", "", "removed")]


def test_a_component_waits_for_the_observers_that_may_use_it(sim, log):
    agent = sim.add(make())
    injection = agent.inject("m:ai_pack:slow")
    sim.tick(2)
    injection.revoke()
    sim.tick(4)
    assert taken(log) == ["ann has a stomach of 3", "slow end at 5 with a stomach", "ann has no stomach"]


def test_what_is_taught_again_while_it_cleans_up_begins_anew_when_it_has(sim, log):
    agent = sim.add(make())
    injection = agent.inject("m:ai_pack:slow")
    sim.tick(2)
    injection.revoke()
    sim.tick()
    injection = agent.inject("m:ai_pack:slow")
    sim.tick()
    assert len(agent.observer_strands()) == 1
    sim.tick(2)
    assert len(agent.observer_strands()) == 1
    assert taken(log) == ["ann has a stomach of 3", "slow end at 5 with a stomach"]
    injection.revoke()
    sim.tick(5)
    assert agent.observer_strands() == []
    assert taken(log) == ["slow end at 9 with a stomach", "ann has no stomach"]


def test_a_component_waits_for_the_plan_that_may_use_it(sim, log):
    agent = sim.add(make())
    injection = agent.inject("m:ai_pack:digest")
    sim.tick(2)
    injection.revoke()
    sim.tick(2)
    assert taken(log) == ["ann has a stomach of 3", "digestion stops with a stomach", "ann has no stomach"]


def test_a_component_waits_for_the_thinking_that_may_use_it(sim, log):
    class Ponder(Action):
        does = TOP
        utility = 0.9

        async def think(self, ctx, args):
            try:
                await ctx.sleep(1000)
            finally:
                log.append(f"thinking ends with {'a' if Stomach in ctx.entity else 'no'} stomach")

    agent = sim.add(make())
    injection = agent.inject(Ponder, "m:ai_pack:stomach")
    sim.tick(2)
    injection.revoke()
    sim.tick()
    assert taken(log) == ["ann has a stomach of 3", "thinking ends with a stomach", "ann has no stomach"]


def test_what_it_raises_is_recorded_and_takes_nobody_with_it(sim, log, caplog):
    agent = sim.add(make("m:ai_pack:broken", "m:ai_pack:hunger"))
    other = sim.add(make("m:ai_pack:hunger", name="bob"))
    sim.tick(4)
    assert [(one.tick, one.agent, one.path, dict(one.detail)) for one in sim.trace if one.event == "fault"] == [
        (2, "ann", "observers/m:observers:broken", {"hook": "observe", "error": "ValueError: no such thing"})
    ]
    assert (agent.is_alive, other.is_alive) == (True, True)
    assert log.count("hunger at 3") == 2
    assert len(agent.observer_strands()) == 1
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_a_killed_agent_takes_its_observers_with_it(sim, log, caplog):
    class Hopeless(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            ctx.abort("no")

    agent = sim.add(make("m:ai_pack:hunger", actions=[Hopeless]))
    sim.tick(12)
    assert (agent.is_alive, agent.error is None) == (False, False)
    assert taken(log)[-1] == "hunger ends with a stomach"


def test_closing_the_runtime_kills_an_observer_that_does_not_end(log, caplog):
    async def stubborn(agent):
        while True:
            with CancelScope(shield=True):
                await sleep_ticks(1)

    registry = Registry([Manifest("m", {"observers:stubborn": stubborn})])
    sim = Simulation()
    agent = sim.add(Agent(Entity("ann"), packs=[{"observers": ["m:observers:stubborn"]}], registry=registry))
    sim.tick(2)
    sim.close()
    assert (sim.runtime.kernel.live, sim.runtime.agents, agent.is_alive) == (0, (), False)


# --- personal task groups ---------------------------------------------------------------------------------------------


@pytest.mark.states("001: Injecting actions: Packs list personal task groups")
@pytest.mark.states("001: Personal task groups: They are declared in packs and found by get_task_group")
def test_a_group_is_there_when_inject_returns():
    agent = make("m:ai_pack:needs")
    group = agent.get_task_group("m:task_groups:solo:needs")
    assert (group.name, group.owner, group.members) == ("m:task_groups:solo:needs", agent, (agent,))
    assert agent.task_groups == (group,)
    assert [task.activity for task in group.tasks] == ["m:rest"]


def test_its_owner_stays_in_it():
    agent = make("m:ai_pack:needs")
    with pytest.raises(WrongStateError) as caught:
        agent.get_task_group("m:task_groups:solo:needs").remove(agent)
    assert str(caught.value) == (
        "[ART104] group.remove cannot be called while m:task_groups:solo:needs is the personal group of 'ann'. Revoke "
        "what brought it."
    )


def test_for_a_group_that_was_destroyed_it_gets_another_one_with_the_next_injection():
    agent = make("m:ai_pack:needs")
    agent.get_task_group("m:task_groups:solo:needs").destroy()
    assert agent.task_groups == ()
    injection = agent.inject("m:ai_pack:needs")
    group = agent.get_task_group("m:task_groups:solo:needs")
    assert (group.members, [task.activity for task in group.tasks]) == ((agent,), ["m:rest"])
    injection.revoke()
    assert agent.task_groups == (group,)  # its first injection lives


def test_a_group_of_another_name():
    with pytest.raises(UnknownTaskGroupError) as caught:
        make("m:ai_pack:needs").get_task_group("m:task_groups:solo:need")
    assert str(caught.value) == (
        "[ART108] the agent 'ann' has no task group 'm:task_groups:solo:need'. Did you mean 'm:task_groups:solo:needs'? "
        "There: m:task_groups:solo:needs. Inject a pack that names it under 'task_groups', or add the agent to it."
    )
    with pytest.raises(UnknownTaskGroupError, match=r"There is none\."):
        make().get_task_group("g")


@pytest.mark.states(
    "001: Injecting actions: Packs list observers, which create tasks when something is the case; (decided) an "
    "observer is a coroutine",
)
def test_an_observer_creates_tasks_in_it(sim, log):
    agent = sim.add(make())
    sim.tick()
    agent.inject("m:ai_pack:feeder")
    sim.tick(7)
    assert taken(log) == [
        "wants to eat at 2",
        "rest at 2",
        "eat at 3",
        "rest at 5",
        "ate: True at 5",
        "rest at 7",
        "wants to eat at 8",
    ]


@pytest.mark.states("001: Personal task groups: They come and go with their pack")
def test_it_works_and_is_destroyed_with_the_last_injection(sim, log):
    agent = sim.add(make())
    sim.tick()
    one, two = agent.inject("m:ai_pack:needs"), agent.inject("m:ai_pack:needs")
    group = agent.get_task_group("m:task_groups:solo:needs")
    sim.tick(2)
    one.revoke()
    sim.tick(2)
    assert taken(log) == ["rest at 2", "rest at 4"]
    assert agent.get_task_group("m:task_groups:solo:needs") is group
    two.revoke()
    assert agent.get_task_group("m:task_groups:solo:needs") is group  # until the next intake
    sim.tick(5)
    assert (agent.task_groups, group.tasks, group.members) == ((), (), ())
    assert taken(log) == []
    rest = f"{TOP}/m:task_groups:solo:needs"
    assert [tick for tick, _, path, _ in sim.events("stop") if path == rest] == [4, 6]


def test_revoked_and_taught_again_before_the_intake_it_is_the_same_group():
    sim = Simulation()
    agent = sim.add(make())
    injection = agent.inject("m:ai_pack:needs")
    sim.tick()
    group = agent.get_task_group("m:task_groups:solo:needs")
    injection.revoke()
    agent.inject("m:ai_pack:needs")
    sim.tick(2)
    assert agent.get_task_group("m:task_groups:solo:needs") is group
    sim.close()


@pytest.mark.states("001: Tasks: (ours) Groups are open to packs and to code")
def test_a_pack_extends_the_agents_own_group():
    agent = make("m:ai_pack:needs")
    group = agent.get_task_group("m:task_groups:solo:needs")
    injection = agent.inject("m:ai_pack:more")
    assert [one.activity for one in group.declarations] == ["m:sleep", "m:eat", "m:rest", "m:drink", "m:bask"]
    assert [task.activity for task in group.tasks] == ["m:rest", "m:bask"]
    injection.revoke()
    assert [one.activity for one in group.declarations] == ["m:sleep", "m:eat", "m:rest"]
    assert [task.activity for task in group.tasks] == ["m:rest"]


def test_one_pack_may_give_a_group_and_extend_it():
    agent = make("m:ai_pack:whole")
    assert len(agent.get_task_group("m:task_groups:solo:needs").declarations) == 5


def test_a_group_that_is_extended_must_be_there():
    agent = make()
    with pytest.raises(InvalidPackError) as caught:
        agent.inject("m:ai_pack:more")
    assert caught.value.text == (
        "m:ai_pack:more#/task_groups/0: 'm:task_groups:more' extends the task group 'm:task_groups:solo:needs', which this "
        "agent has not. Inject a pack that lists that group first, or list it in this pack as well."
    )
    assert (agent.injections, agent.task_groups) == ((), ())


def test_an_extension_that_does_not_fit_its_group():
    agent = make("m:ai_pack:needs")
    group = agent.get_task_group("m:task_groups:solo:needs")
    with pytest.raises(
        InvalidPackError, match=r"again#/task_groups/m:task_groups:again: .*'m:sleep' is declared there"
    ):
        agent.inject("m:ai_pack:again")
    assert (len(agent.injections), len(group.declarations)) == (1, 3)


def test_an_extension_comes_back_with_its_group(sim):
    agent = sim.add(make())
    base = agent.inject("m:ai_pack:needs")
    agent.inject("m:ai_pack:more")
    sim.tick()
    base.revoke()
    sim.tick()
    assert agent.task_groups == ()
    agent.inject("m:ai_pack:needs")
    sim.tick()
    assert len(agent.get_task_group("m:task_groups:solo:needs").declarations) == 5


def test_actions_that_do_not_fit_the_groups_are_an_error():
    class WithArgs(Action):
        does = TOP
        utility = 0.5

        class Args(ActionArgs):
            where: str

    agent = make("m:ai_pack:needs")
    with pytest.raises(DefinitionError, match="All actions of one activity take the same arguments"):
        agent.inject(WithArgs)
    agent = make(actions=[WithArgs])
    with pytest.raises(DefinitionError, match="All actions of one activity take the same arguments"):
        agent.inject("m:ai_pack:needs")
    assert (agent.task_groups, len(agent.injections)) == ((), 1)


def test_a_personal_group_goes_with_its_owner_into_the_next_runtime(log):
    agent = make("m:ai_pack:needs")
    group = agent.get_task_group("m:task_groups:solo:needs")
    group.create_task("m:eat", food="apple").times(2).start()
    for _ in range(2):
        sim = Simulation()
        sim.add(agent)
        sim.tick(2)
        sim.close()
    sim = Simulation()
    sim.add(agent)
    sim.tick(6)
    assert (agent.task_groups, [task.activity for task in group.tasks]) == ((group,), ["m:rest"])
    assert taken(log) == ["eat at 1", "eat at 1", "eat at 1", "eat at 3", "rest at 5"]
    sim.close()


def test_a_planner_that_gave_up_and_begins_again_keeps_its_observers(log, caplog):
    class Hopeless(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            ctx.abort("no")

    sim = Simulation(runtime=Runtime(host="plain", restart=Restart(first=0.5)))
    agent = sim.add(make("m:ai_pack:hunger", actions=[Hopeless]))
    sim.tick(25)
    assert agent.is_alive
    assert log.count("hunger begins") == 1
    assert log[-1] == "hunger at 25"
    sim.close()
    assert log[-1] == "hunger ends with a stomach"


# --- mixins, packs in place, the trace --------------------------------------------------------------------------------


@pytest.mark.states("001: Injecting actions: Packs may be written in place, and mixed in ...")
def test_mixins_and_packs_in_place_through_injection():
    def registry(rule):
        return Registry(
            [
                Manifest(
                    "m",
                    {
                        "actions:rest": Rest,
                        "actions:sleep": Sleep,
                        "components:stomach": Stomach,
                        "components:collar": Collar,
                        "ai_pack:base": {"actions": ["m:actions:rest"], "components": ["m:components:stomach"]},
                    },
                ),
                Manifest(
                    "other",
                    mixins={
                        "m:ai_pack:base": {
                            "actions": ["m:actions:sleep"],
                            "ai_packs": [{"components": ["m:components:collar"]}],
                            "mixintypes": {"actions": rule},
                        }
                    },
                ),
            ]
        )

    def learn(rule):
        agent = Agent(Entity("ann"), packs=["m:ai_pack:base"], registry=registry(rule))
        return [action.__name__ for action in agent.actions], [type(one).__name__ for one in agent.entity.components()]

    assert learn("append") == (["Rest", "Sleep"], ["Collar", "Stomach"])
    assert learn("override") == (["Sleep"], ["Collar", "Stomach"])


def test_the_trace_says_what_was_taught(sim):
    agent = sim.add(make())
    sim.tick()
    agent.inject("m:ai_pack:feeder", {"components": ["m:components:collar"]}, source="a collar").revoke()
    sim.tick()
    detail = {"source": "a collar", "actions": 2, "components": 1, "observers": 1, "groups": 1}
    assert [
        (one.tick, one.event.value, dict(one.detail)) for one in sim.trace if one.event in ("injected", "revoked")
    ] == [
        (2, "injected", detail),
        (2, "revoked", detail),
    ]


# --- any order --------------------------------------------------------------------------------------------------------

_CHOICES = ("stomach", "plain_stomach", "hunger", "slow", "needs", "whole", "feeder", "digest", "dreamer")


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(st.sampled_from(["inject", "revoke", "tick", "tick"]), st.integers(0, len(_CHOICES) - 1)), max_size=14
    ),
    st.integers(0, 6),
)
def test_in_whatever_order_injections_come_and_go_the_agent_has_what_the_live_ones_name(program, joins):
    LOG.clear()
    sim = Simulation()
    agent = make()
    live = []
    for number, (kind, choice) in enumerate(program):
        if number == joins:
            sim.add(agent)
        if kind == "inject":
            live.append((_CHOICES[choice], agent.inject(f"m:ai_pack:{_CHOICES[choice]}")))
        elif kind == "revoke" and live:
            live.pop(choice % len(live))[1].revoke()
        else:
            sim.tick(choice % 3 + 1)
    sim.tick(8)
    names = {name for name, _ in live}
    assert (Stomach in agent.entity) is bool(names & {"stomach", "plain_stomach", "hunger", "slow", "digest"})
    assert bool(agent.task_groups) is bool(names & {"needs", "whole", "feeder", "dreamer"})
    if agent.task_groups:
        assert len(agent.task_groups[0].declarations) == (5 if "whole" in names else 3)
    if agent.runtime is not None:
        expected = {"hunger": "hunger", "slow": "slow_end", "feeder": "feeder", "dreamer": "dreamer"}
        wanted = sorted(f"ann: observers/m:observers:{expected[name]}" for name in names & set(expected))
        assert sorted(strand.name for strand in agent.observer_strands()) == wanted
    for _, injection in live:
        injection.revoke()
    sim.close()
    assert (sim.runtime.kernel.live, list(agent.entity.components()), agent.task_groups) == (0, [], ())
    assert sum("has a stomach" in line for line in LOG) == sum("has no stomach" in line for line in LOG)
    assert [one for one in sim.trace if one.event == "fault"] == []
    assert [str(one) for one in check_trace(sim.trace, "ann")] == []
