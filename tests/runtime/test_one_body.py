"""A driver keeps the state of one body: it is given to one agent at a time, by one mechanism for all models."""

from __future__ import annotations

import pytest
from modules import load

from agentrt import TOP, Agent, CancelScope, Entity, Runtime, sleep_ticks
from agentrt.behavior import BehaviorTree, decider, group
from agentrt.body import LoneBody
from agentrt.bridges import DriverAction
from agentrt.errors import AgentRTError, DefinitionError, WrongStateError
from agentrt.goals import MOVE, Goal, GoalSelector
from agentrt.kernel.kernel import Kernel
from agentrt.selection import SelectionLibrary
from agentrt.testing import Simulation

fakes = load("tests/runtime/fake_drivers.py")
Fake = fakes.Fake
being = fakes.being

TREE = BehaviorTree(group("ROOT")[decider("ACT", lambda at: True)])
LIBRARY = SelectionLibrary.from_texts({"T.xml": '<SelectionTree name="T"><Leaf name="Idle"/></SelectionTree>'})


class Walk(Goal):
    flags = {MOVE}

    def can_use(self):
        return True


class Plain(Fake):
    """A driver of somebody else's, who knows nothing of the mark."""


def selector():
    made = GoalSelector()
    made.add_goal(1, Walk())
    return made


MODELS = {"goals": selector, "tree": TREE.memory, "selection": LIBRARY["T"].state, "fake": Plain}


@pytest.fixture(params=MODELS)
def driver(request):
    return MODELS[request.param]()


# --- who is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "000: Usage: (decided) A selector, like every driver, belongs to one body at a time, from when it is attached "
    "until it has left; a second one is refused",
)
def test_two_agents_that_are_made_with_it(driver):
    being("ann", [driver])
    with pytest.raises(
        WrongStateError, match=r"agent.attach cannot be called while it drives ann. .*attachment.detach"
    ):
        being("bob", [driver])


def test_an_agent_that_lives_and_one_that_attaches(driver, plain):
    runtime = plain.runtime()
    runtime.add(being("ann", [driver]))
    bob = runtime.add(being("bob"))
    runtime.step()
    with pytest.raises(WrongStateError, match="it drives ann"):
        bob.attach(driver)
    assert bob.attachments == ()
    runtime.close()


@pytest.mark.states("000: Usage: (decided) A selector, like every driver, belongs to one body at a time, from when ...")
def test_two_runtimes(driver):
    first, second = Simulation(), Simulation()
    first.add(being("ann", [driver]))
    first.tick()
    with pytest.raises(WrongStateError, match="it drives ann"):
        second.add(being("bob", [driver]))
    first.close()
    second.close()


def test_one_agent_twice(driver):
    ann = being("ann", [driver])
    with pytest.raises(WrongStateError, match="'ann' has a driver called"):
        ann.attach(driver)
    assert len(ann.attachments) == 1


@pytest.mark.states("000: Usage: (decided) A selector, like every driver, belongs to one body at a time, from when ...")
@pytest.mark.parametrize("model", ["goals", "tree", "selection"])
def test_a_body_by_hand_and_an_agent(model):
    kernel = Kernel()
    made = MODELS[model]()
    made.join(LoneBody(name="dummy", kernel=kernel))
    with pytest.raises(WrongStateError, match="agent.attach cannot be called while it drives dummy"):
        being("ann", [made])
    told = []
    made.leave("enough", lambda: told.append("left"))
    assert told == ["left"]
    ann = being("ann", [made])
    with pytest.raises(WrongStateError, match="drives"):
        made.join(LoneBody(name="dummy", kernel=kernel))
    assert made.given_to is ann


def test_a_selector_or_a_memory_that_was_ticked_by_hand():
    made, memory = selector(), TREE.memory()
    made.tick()
    memory.tick(0.1)
    for driver in (made, memory):
        with pytest.raises(WrongStateError, match="it drives body"):
            being("ann", [driver])
        driver.leave("enough", lambda: None)
        being("ann", [driver])


def lending(driver):
    """An action that hands its body to a driver."""

    class Lend(DriverAction):
        does = TOP
        utility = 0.5

        def make_driver(self, ctx, args):
            return driver

    return Lend


def test_an_action_that_hands_its_body_to_one_that_is_an_agents_own(plain, logged):
    shared = Plain("shared")
    runtime = plain.runtime()
    runtime.add(being("ann", [shared]))
    runtime.add(Agent(Entity("bob"), actions=[lending(shared)]))
    plain.ticks(runtime, 1)
    assert [(agent, what) for _, agent, _, what in shared.log] == [("ann", "join"), ("ann", "drive"), ("ann", "leave")]
    assert any("it drives ann" in text for _, text in logged())


@pytest.mark.states("000: Usage: (decided) A selector, like every driver, belongs to one body at a time, from when ...")
def test_two_actions_that_make_one_driver(plain, logged):
    shared = Plain("shared")
    runtime = plain.runtime()
    for name in ("ann", "bob"):
        runtime.add(Agent(Entity(name), actions=[lending(shared)], name=name))
    plain.ticks(runtime, 1)
    assert {agent for _, agent, _, _ in shared.log} == {"ann"}
    assert shared.given_to is None


# --- who may have it again --------------------------------------------------------------------------------------------


@pytest.mark.states("000: Usage: (decided) A selector, like every driver, belongs to one body at a time, from when ...")
@pytest.mark.parametrize("way", ["detached", "removed", "closed", "killed"])
def test_when_it_has_left_somebody_else_may_have_it(driver, way, plain, logged):
    runtime = plain.runtime()
    ann = runtime.add(being("ann", [driver], actions=[fakes.Fail] if way == "killed" else [fakes.Rest]))
    runtime.step()
    if way == "detached":
        ann.attachments[0].detach()
    elif way == "removed":
        runtime.remove(ann)
    elif way == "closed":
        runtime.close()
        runtime = plain.runtime()
    for _ in range(12 if way == "killed" else 1):
        runtime.step()
    bob = runtime.add(being("bob", [driver]))
    runtime.step()
    assert driver.given_to is bob
    runtime.close()
    assert driver.given_to is None


def test_before_it_has_left_nobody_else_may(plain):
    runtime = plain.runtime()
    driver = Plain(clean_up=3)
    ann, bob = runtime.add(being("ann", [driver])), runtime.add(being("bob"))
    runtime.step()
    ann.attachments[0].detach()
    for _ in range(4):
        with pytest.raises(WrongStateError, match="it drives ann"):
            bob.attach(driver)
        runtime.step()
    bob.attach(driver)
    runtime.close()


def test_detached_before_the_agent_lived(driver):
    being("ann", [driver]).attachments[0].detach()
    assert driver.given_to is None
    being("bob", [driver])


def test_an_agent_that_was_never_made_keeps_nothing(driver):
    with pytest.raises(AgentRTError):
        Agent(Entity("ann"), drivers=[driver, 3])
    assert driver.given_to is None
    with pytest.raises(AgentRTError):
        being("ann").attach(driver, every=0)
    assert driver.given_to is None


@pytest.mark.states("000: Usage: (decided) A selector, like every driver, belongs to one body at a time, from when ...")
def test_an_agent_that_is_added_again_takes_its_drivers_up_again(driver, plain):
    runtime = plain.runtime()
    ann = runtime.add(being("ann", [driver]))
    runtime.step()
    runtime.remove(ann)
    runtime.step()
    assert driver.given_to is None
    runtime.add(ann)
    assert driver.given_to is ann
    runtime.remove(ann)
    runtime.step()
    bob = runtime.add(being("bob", [driver]))
    with pytest.raises(WrongStateError, match=r"runtime.add cannot be called while its driver '\w+' drives bob by now"):
        runtime.add(ann)
    assert ann.runtime is None
    assert driver.given_to is bob
    ann.attachments[0].detach()
    runtime.add(ann)
    runtime.step()
    runtime.close()


def test_one_that_raises_when_it_joins_is_nobodys(plain, logged):
    driver = Plain(raises=("join",))
    runtime = plain.runtime()
    runtime.add(being("ann", [driver]))
    runtime.step()
    assert driver.given_to is None
    runtime.close()


def test_a_class_without_room_for_the_mark_takes_no_part(plain):
    class Narrow:
        __slots__ = ()
        name = "narrow"
        rank = 2
        precedence = 0

        def join(self, body):
            pass

        drive = strands = view = lambda self: []

        def leave(self, reason, then):
            then()

    one = Narrow()
    being("ann", [one])
    being("bob", [one])


class March(Goal):
    """A goal whose coroutine takes three ticks to clean up."""

    flags = {MOVE}

    def can_use(self):
        return True

    async def run(self):
        try:
            await sleep_ticks(1000)
        finally:
            with CancelScope(shield=True):
                await sleep_ticks(3)


@pytest.mark.states("000: Usage: (decided) A selector, like every driver, belongs to one body at a time, from when ...")
def test_a_second_agent_has_to_wait_for_the_coroutines_of_the_first(play):
    """Each tick of a run on each host: refused while they clean up, and driven from the next intake on."""
    made = GoalSelector()
    made.add_goal(1, March())
    runtime = play.runtime()
    ann, bob = runtime.add(being("ann", [made])), runtime.add(being("bob"))
    log = []

    def look():
        if runtime.tick == 3:
            ann.attachments[0].detach()
        if runtime.tick > 2 and not bob.attachments:
            try:
                bob.attach(made)
            except WrongStateError:
                log.append(runtime.tick)

    runtime.every_tick(look)
    runtime.after_tick(
        lambda: log.append(f"bob in {runtime.tick}") if runtime.tick == 9 and made.given_to is bob else 0
    )
    play.ticks(runtime, 9)
    assert log == [3, 4, 5, 6, 7, "bob in 9"]


# --- whom it drives, from the moment in which that is known -------------------------------------------------------------


@pytest.mark.states("000: Usage: (decided) Whose it is, is known from the moment in which the agent is made")
def test_whose_it_is_is_known_as_soon_as_the_agent_is_made():
    goal = Walk()
    made, memory, state = GoalSelector(), TREE.memory(), LIBRARY["T"].state()
    made.add_goal(1, goal)
    assert made.body.name == "body"  # looking makes a body of its own, which is nobody's
    cow = Entity("cow")
    ann = Agent(cow, drivers=[made, memory, state])
    assert (made.body, made.ledger, goal.body, goal.entity) == (ann, ann.flags, ann, cow)
    assert (memory.body, memory.agent) == (ann, cow)
    assert (state.body, state.entity) == (ann, cow)
    late = Walk()
    made.add_goal(1, late)
    assert late.entity is cow
    for attachment in ann.attachments:
        attachment.detach()
    hen = Entity("hen")
    bob = Agent(hen, drivers=[made, memory, state])
    assert (made.body, goal.entity, memory.agent, state.entity) == (bob, hen, hen, hen)


def test_a_memory_that_has_an_agent_of_its_own_keeps_it():
    memory = TREE.memory("its own")
    ann = Agent(Entity("cow"), drivers=[memory])
    assert (memory.agent, memory.body) == ("its own", ann)


# --- slips ------------------------------------------------------------------------------------------------------------


SLIPS = {
    "a tree": (TREE, "attach a memory of it: tree.memory()"),
    "a selection tree": (LIBRARY["T"], "attach a state of it: tree.state(behaviors)"),
    "a library": (LIBRARY, 'library["Name"].state(behaviors)'),
    "a goal": (Walk(), "selector.add_goal(1, goal)"),
    "a class of goals": (Walk, "Walk is a class"),
    "a class of drivers": (GoalSelector, r"Attach an object of it: GoalSelector(...)"),
    "an agent": (being("x"), "An agent drives its own entity"),
    "a list": ([selector()], "Attach one after the other"),
    "nothing": (None, "None is no driver. Give a goal selector"),
    "a function": (lambda: None, "is no driver. Give a goal selector"),
    "the method, not called": (TREE.memory, "is no driver. Give a goal selector"),
}


@pytest.mark.states("000: Usage: (ours) What is no driver, and what is no agent, is refused with what was meant")
@pytest.mark.parametrize("slip", SLIPS)
def test_what_is_no_driver_says_what_was_meant(slip):
    what, words = SLIPS[slip]
    for attach in (being("ann").attach, lambda it: being("ann", [it])):
        with pytest.raises(DefinitionError) as caught:
            attach(what)
        assert words in str(caught.value)


def test_a_driver_that_cannot_be_asked_or_printed():
    class Evil:
        def __getattr__(self, name):
            raise RuntimeError("no")

        def __repr__(self):
            raise RuntimeError("no")

    with pytest.raises(AgentRTError):
        being("ann").attach(Evil())


@pytest.mark.states("000: Usage: (ours) What is no driver, and what is no agent, is refused with what was meant ...")
@pytest.mark.parametrize("drivers", [3, "goals", GoalSelector, None])
def test_drivers_are_a_list(drivers):
    with pytest.raises(DefinitionError, match=r"Write drivers=\[driver\]"):
        Agent(Entity("ann"), drivers=drivers)


def test_one_driver_in_place_of_a_list():
    for driver in (selector(), TREE.memory(), LIBRARY["T"].state()):
        with pytest.raises(DefinitionError, match=r"Write drivers=\[driver\]"):
            Agent(Entity("ann"), drivers=driver)


@pytest.mark.states("000: Usage: (ours) What is no driver, and what is no agent, is refused with what was meant ...")
@pytest.mark.parametrize(
    ("what", "words"),
    [
        (Entity("cow", name="bess"), "Agent(entity, actions=[...])"),
        (Agent, "Agent is a class. Write Agent(...)."),
        (Entity, "Entity is a class"),
        (None, "None is no agent"),
        ([being("x")], "is no agent"),
        (selector(), "Agent(entity, drivers=[driver])"),
        (TREE.memory(), "Agent(entity, drivers=[driver])"),
        ("ann", "'ann' is no agent"),
    ],
)
def test_what_is_no_agent_says_what_was_meant(what, words):
    sim = Simulation()
    for use in (sim.add, Runtime().add, Runtime().remove):
        with pytest.raises(DefinitionError) as caught:
            use(what)
        assert words in str(caught.value)
    sim.close()


@pytest.mark.parametrize("value", ["1", None, float("nan"), float("inf"), True, object()])
def test_numbers_that_put_in_order(value):
    if value is not None:
        with pytest.raises(DefinitionError, match="precedence is"):
            being("ann").attach(selector(), precedence=value)
    for make in (
        lambda: GoalSelector(precedence=value),
        lambda: TREE.memory(precedence=value),
        lambda: LIBRARY["T"].state(precedence=value),
    ):
        with pytest.raises(DefinitionError, match="precedence is"):
            make()
    with pytest.raises(DefinitionError, match="the rank of"):
        being("ann").attach(Plain(rank=value))


@pytest.mark.parametrize("every", ["2", None, [], 0])
def test_a_cadence_is_a_number(every):
    with pytest.raises(WrongStateError, match="Give a number of ticks"):
        being("ann").attach(selector(), every=every)


@pytest.mark.parametrize("body", [Entity("cow"), "cow", Walk()])
def test_what_is_no_body(body):
    for make in (GoalSelector, lambda it: TREE.memory(body=it), lambda it: LIBRARY["T"].state(body=it)):
        with pytest.raises(DefinitionError, match=r"is no body that could be driven. .*LoneBody\(entity\)"):
            make(body)
