"""What a goal's class can say, and what is wrong with one is said when it is defined."""

from __future__ import annotations

import copy

import pytest

from agentrt.body.driver import LoneBody
from agentrt.errors import DefinitionError, InternalError, NotRunningError, WrongStateError
from agentrt.goals import JUMP, LOOK, MOVE, TARGET, Goal, GoalSelector
from agentrt.goals.selector import STATE_NAMES, STATE_TABLE, move


class Plain(Goal):
    __slots__ = ()
    flags = {LOOK, "WINGS", MOVE, "CLAWS"}

    def can_use(self):
        return True


@pytest.mark.states("000: Flags: Flags mark what a goal uses: MOVE, LOOK, JUMP, TARGET, any combination or none")
def test_the_flags_of_a_set_have_the_order_of_the_seed_then_of_the_names():
    assert Plain().control_flags == (MOVE, LOOK, "CLAWS", "WINGS")
    assert Plain.flags == (MOVE, LOOK, "CLAWS", "WINGS")


@pytest.mark.states(
    "000: Flags: (decided) They are taken in a fixed order: as given in a sequence; of a set, the seed's four and "
    "then by name",
)
def test_the_flags_of_a_sequence_keep_their_order():
    class Leap(Plain):
        flags = [JUMP, MOVE, JUMP]

    assert Leap().control_flags == (JUMP, MOVE)


@pytest.mark.states("000: Flags: Flags mark what a goal uses: MOVE, LOOK, JUMP, TARGET, any combination or none ...")
def test_a_goal_without_flags():
    class Free(Goal):
        def can_use(self):
            return True

    assert Free().control_flags == ()
    assert repr(Free()) == "<Free: no flags>"


@pytest.mark.states("000: Flags: They are set in the constructor of the goal")
def test_one_goal_may_have_flags_of_its_own():
    class Tuned(Plain):
        def __init__(self, flags):
            self.set_flags(flags)

    assert Tuned({TARGET, MOVE}).control_flags == (MOVE, TARGET)
    assert Plain().control_flags == (MOVE, LOOK, "CLAWS", "WINGS")
    tuned = Tuned(())
    GoalSelector().add_goal(1, tuned)
    with pytest.raises(WrongStateError, match="Call it in __init__"):
        tuned.set_flags({LOOK})


def test_a_goal_with_slots_has_the_flags_of_its_class():
    class Small(Plain):
        __slots__ = ()
        flags = {JUMP}

    assert Small().control_flags == (JUMP,)
    assert not hasattr(Small(), "__dict__")
    with pytest.raises(DefinitionError, match="Leave __slots__ out"):
        Small().set_flags({MOVE})


@pytest.mark.states("000: Flags: (ours) Or for the whole class; what cannot be a flag is an error at definition")
@pytest.mark.parametrize("flags", ["MOVE", 7, [MOVE, 7], None])
def test_flags_are_names(flags):
    with pytest.raises(DefinitionError, match=r"Bad: flags is .* Write a set of names"):
        type("Bad", (Plain,), {"flags": flags})
    with pytest.raises(DefinitionError, match="Write a set of names"):
        Plain().set_flags(flags)


@pytest.mark.parametrize("name", ["can_use", "can_continue_to_use", "is_interruptible", "requires_update_every_tick"])
def test_a_question_is_no_coroutine(name):
    async def answer(self):
        return True

    with pytest.raises(DefinitionError, match=f"Bad: {name} is a coroutine"):
        type("Bad", (Plain,), {name: answer})


@pytest.mark.parametrize("name", ["start", "tick", "stop", "run"])
def test_a_callback_is_no_generator(name):
    def callback(self):
        yield

    async def another(self):
        yield

    for bad in (callback, another):
        with pytest.raises(DefinitionError, match=f"Bad: {name} uses yield"):
            type("Bad", (Plain,), {name: bad})


def test_run_is_a_coroutine():
    with pytest.raises(DefinitionError, match="async def run"):
        type("Bad", (Plain,), {"run": lambda self: None})


def test_can_use_has_to_be_written():
    with pytest.raises(TypeError, match="can_use"):
        type("Bad", (Goal,), {})()


def test_a_goal_is_called_what_its_class_is_called_unless_it_says_otherwise():
    class Panic(Plain):
        pass

    class Named(Panic):
        name = "run for it"

    class Derived(Named):
        pass

    assert [Panic().name, Named().name, Derived().name] == ["Panic", "run for it", "Derived"]


def test_an_init_that_does_not_call_that_of_goal_is_fine():
    class Careless(Plain):
        def __init__(self, value):
            self.value = value

    goal = copy.copy(Careless(3))
    assert goal.value == 3
    GoalSelector().add_goal(1, goal)


@pytest.mark.states(
    "000: Operation 1: Whether it can continue is the same as whether it can be used, unless it says otherwise",
)
def test_continuing_is_using_by_default():
    class Once(Plain):
        flags = ()
        use = True

        def can_use(self):
            return self.use

    goal = Once()
    assert goal.can_continue_to_use()
    goal.use = False
    assert not goal.can_continue_to_use()


def test_the_callbacks_do_nothing_by_default():
    goal = Plain()
    assert [goal.start(), goal.tick(), goal.stop()] == [None, None, None]
    assert (goal.is_interruptible, goal.requires_update_every_tick) == (True, False)


def test_it_knows_the_entity_of_whom_it_drives_from_when_that_is_known():
    class Body(LoneBody):
        pass

    early, late = Plain(), Plain()
    selector = GoalSelector()
    selector.add_goal(1, early)
    with pytest.raises(
        WrongStateError, match="goal.entity.hunger cannot be called while the goal drives nobody. Add it"
    ):
        _ = early.entity.hunger
    selector.join(Body("wolf"))
    selector.add_goal(1, late)
    assert (early.entity, late.entity) == ("wolf", "wolf")
    selector.remove_goal(late)
    assert repr(late.entity) == "<nobody: the goal drives nobody yet>"
    with pytest.raises(AttributeError):
        _ = late.entity.__wrapped__


def test_perform_needs_somebody_with_a_planner():
    goal = Plain()
    with pytest.raises(WrongStateError, match="in no selector"):
        goal.perform("mod:walk")
    GoalSelector(LoneBody()).add_goal(1, goal)
    with pytest.raises(NotRunningError, match="cannot perform 'mod:walk'"):
        goal.perform("mod:walk", speed=2)


def test_perform_is_done_for_the_wrapped_goal():
    class Body(LoneBody):
        def perform(self, *given):
            return given

    selector = GoalSelector(Body())
    wrapped = selector.add_goal(1, Plain())
    assert wrapped.goal.perform("mod:walk", speed=2) == ("mod:walk", {"speed": 2}, wrapped)


def test_an_illegal_change_of_state_changes_nothing():
    for state, name in enumerate(STATE_NAMES):
        for following, other in enumerate(STATE_NAMES):
            wrapped = GoalSelector().add_goal(1, Plain())
            wrapped.state = state
            if following in STATE_TABLE[state]:
                move(wrapped, following)
                assert wrapped.state == following
            else:
                with pytest.raises(InternalError, match=f"from {name} to {other}"):
                    move(wrapped, following)
                assert wrapped.state == state


def test_a_wrapper_knows_its_selector_and_whom_that_drives_until_the_goal_is_removed():
    body, goal = LoneBody(name="sheep"), Plain()
    one, other = GoalSelector(body), GoalSelector(LoneBody(name="wolf"))
    wrapped = one.add_goal(1, goal)
    assert (wrapped.selector, wrapped.body, wrapped.flag_name) == (one, body, "goals/Plain")
    one.remove_goal(goal)
    other.add_goal(2, goal)
    assert (wrapped.selector, wrapped.flag_name, wrapped.precedence, wrapped.runs_for) == (None, "Plain", 0, None)
    assert goal.body.name == "wolf"
    with pytest.raises(WrongStateError, match=r"WrappedGoal\.body cannot be called while the goal is in no selector"):
        _ = wrapped.body
