"""Election: utility, ranges, weights, ties; who goes on thinking while another runs; sunk cost, to the tick."""

from __future__ import annotations

from collections import Counter

import pytest

from agentrt import Action, CompoundAction, Event, Signal, step
from agentrt.activity.author.utility import draw, remap
from agentrt.errors import WrongStateError
from agentrt.kernel.rng import Stream


def ran(play, *, agent="a"):
    """(tick, class) of what ran at the root."""
    return [(tick, path.split("/")[1]) for tick, path, _ in play.trace("run", agent=agent) if path.count("/") == 1]


# --- arithmetic -------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "001: Leaf action, Metadata: set_utility is remapped linearly into the range: 0, 0.5 and 1 are 0.2, 0.3 and 0.4 "
    "within (0.2, 0.4)",
)
@pytest.mark.parametrize(
    ("value", "low", "high", "result"),
    [
        (0.7, 0.4, 1.0, 0.82),
        (0.82, 0.0, 0.3, 0.246),
        (0.6, 0.0, 0.3, 0.18),
        (0.2, 0.0, 0.3, 0.06),
        (0.0, 0.2, 0.4, 0.2),
        (0.5, 0.2, 0.4, 0.3),
        (1.0, 0.2, 0.4, 0.4),
        (0.1, 0.0, 1.0, 0.1),
        (0.3, 0.3, 0.3, 0.3),
    ],
)
def test_remapping_is_exact(value, low, high, result):
    assert remap(value, low, high) == result


@pytest.mark.states("001: Comparing plans: The utility is fixed, or placed within a range while thinking or running")
@pytest.mark.states("001: set_utility: set_utility takes a number from 0 to 1, remapped into the range ...")
def test_set_utility_places_it_within_the_range(play):
    class Eat(Action):
        does = "top"
        utility = (0.4, 1.0)

        async def think(self, ctx, args):
            ctx.set_utility(0.7)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep(100)

    agent = play.add(Eat)
    play.tick(1)
    assert agent.snapshot().plan.units[0].utility == 0.82
    assert play.details("utility", "ready", "elect") == [
        (1, "top/Eat", "utility", {"utility": 0.82}),
        (1, "top/Eat", "ready", {"utility": 0.82}),
        (1, "top", "elect", {"action": "Eat", "utility": 0.82, "ready": "Eat 0.82"}),
    ]


@pytest.mark.states("001: Utility: The low end of a range counts until set_utility")
def test_the_low_end_counts_until_it_is_set(play, leaf):
    play.add(leaf("Range", (0.2, 0.9), think=0, run=9), leaf("Fixed", 0.3, run=9))
    play.tick(1)
    assert ran(play) == [(1, "Fixed")]


def test_the_low_end_counts_again_in_the_next_thinking(play):
    class Once(Action):
        does = "top"
        utility = (0.2, 0.9)

        async def think(self, ctx, args):
            if ctx.clock.tick == 1:
                ctx.set_utility(1)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

    play.add(Once)
    play.tick(2)
    assert [one[3]["utility"] for one in play.details("ready")] == [0.9, 0.2]


@pytest.mark.states("001: set_utility: It needs a range")
def test_a_fixed_utility_cannot_be_set(play):
    class Fixed(Action):
        does = "top"
        utility = 0.5

        async def think(self, ctx, args):
            try:
                ctx.set_utility(0.5)
            except WrongStateError as error:
                play.note(error.text)

    play.add(Fixed)
    play.tick(1)
    assert play.log == [
        (
            1,
            f"set_utility cannot be called while {Fixed.spec.subject} declares the fixed utility 0.5. "
            "Declare a range: utility = (low, high).",
        )
    ]


@pytest.mark.states("001: set_utility: set_utility takes a number from 0 to 1, remapped into the range")
@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf")])
def test_set_utility_takes_a_number_from_0_to_1(play, value):
    class Wild(Action):
        does = "top"
        utility = (0.2, 0.4)

        async def think(self, ctx, args):
            try:
                ctx.set_utility(value)
            except ValueError as error:
                play.note(str(error))

    play.add(Wild)
    play.tick(1)
    assert play.log == [(1, f"set_utility({value!r}): it takes a number from 0 to 1, which is placed within the range")]


# --- equals -----------------------------------------------------------------------------------------------------------


def drawn(stage, weights, *, seed=0, rounds=300):
    """How often each of several equals is elected, by class name."""

    def action(label, weight):
        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

        return type(label, (Action,), {"does": "top", "utility": 0.5, "weight": weight, "run": run})

    play = stage(seed)
    play.add(*[action(f"W{weight}", weight) for weight in weights])
    play.tick(rounds)
    order = [name for _, name in ran(play)]
    play.close()
    return order


@pytest.mark.states("001: Leaf action, Metadata: Equals are drawn by weight, 1 by default")
def test_equals_are_drawn_by_weight(stage):
    order = drawn(stage, [1, 2, 7], rounds=500)
    counts = Counter(order)
    assert len(order) == 500
    # Expected 50, 100, 350; four standard deviations are about 27, 36, 41.
    assert counts["W1"] == pytest.approx(50, abs=27)
    assert counts["W2"] == pytest.approx(100, abs=36)
    assert counts["W7"] == pytest.approx(350, abs=41)


def test_the_draw_is_the_same_for_the_same_seed(stage):
    assert drawn(stage, [1, 2], seed=5, rounds=60) == drawn(stage, [1, 2], seed=5, rounds=60)
    assert drawn(stage, [1, 2], seed=5, rounds=60) != drawn(stage, [1, 2], seed=6, rounds=60)


def test_weight_0_is_never_drawn_beside_others(stage):
    assert set(drawn(stage, [0, 1], rounds=100)) == {"W1"}


def test_all_of_weight_0_are_equal():
    stream = Stream(0)
    counts = Counter(draw(["a", "b"], [0, 0], stream) for _ in range(1000))
    assert counts["a"] == pytest.approx(500, abs=64)


def test_a_single_candidate_costs_no_random_number():
    stream, other = Stream(0), Stream(0)
    assert draw(["a"], [1], stream) == "a"
    assert stream.random() == other.random()


def test_an_agents_draw_does_not_depend_on_other_agents(stage):
    alone = drawn(stage, [1, 2], rounds=50)

    class Noisy(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            while True:
                ctx.random.random()
                await ctx.next_tick()

    play = stage(0)
    play.add(Noisy, name="noisy")

    def action(label, weight):
        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

        return type(label, (Action,), {"does": "top", "utility": 0.5, "weight": weight, "run": run})

    play.add(action("W1", 1), action("W2", 2))
    play.tick(50)
    assert [name for _, name in ran(play)] == alone
    play.close()


@pytest.mark.states("001: Comparing plans: (decided) A tie replaces nobody")
def test_a_tie_that_becomes_ready_later_does_not_preempt(play, leaf):
    play.add(leaf("Slow", 0.5, think=2, run=9), leaf("Quick", 0.5, think=0, run=9))
    play.tick(9)
    assert ran(play) == [(1, "Quick")]
    assert play.trace("preempt") == []


@pytest.mark.states("001: Comparing plans: (decided) A tie replaces nobody ...")
def test_a_tie_does_not_replace_the_elected_unit_of_a_ready_step(play, leaf, compound):
    play.add(
        compound("Top", step("first"), step("last"), quiet=True),
        leaf("One", does="first", think=0, quiet=True),
        leaf("Two", does="first", think=2, quiet=True),
        leaf("Last", does="last", think=4, quiet=True),
    )
    play.tick(5)
    assert [one[3]["action"] for one in play.details("elect") if one[1] == "top/Top/first"] == ["One"]


@pytest.mark.parametrize(("worth", "first"), [(0.5, "Settled"), (0.9, "Plan")])
def test_a_plan_whose_step_has_just_changed_is_waited_for_if_it_is_better(play, compound, worth, first):
    """It says in the same tick whether it is ready still; a tie is nothing to wait for, whatever the weights."""
    asked = Signal()

    class Changes(Action):
        does = "step"
        utility = 0.5

        async def think(self, ctx, args):
            await ctx.sleep_ticks(1)
            ctx.set_think_output()
            await asked.wait()
            ctx.set_think_output()
            await ctx.sleep(100)

    class Settled(Action):
        does = "top"
        utility = 0.5
        weight = 0

        async def think(self, ctx, args):
            await asked.wait()
            ctx.set_think_output()
            await ctx.sleep(100)

    def compose(self, entity, self_utility, child_utilities, current_activity):
        asked.emit(None)  # the plan is becoming ready
        return worth

    play.add(compound("Plan", step("step"), utility=(0, 1), compose_utility=compose, quiet=True), Settled, Changes)
    play.tick(2)
    assert play.trace("start")[0] == (2, f"top/{first}", "start")
    assert play.trace("preempt") == []


# --- who goes on thinking ---------------------------------------------------------------------------------------------


@pytest.mark.states("001: Comparing plans: (decided) Who could not beat the running one stops thinking meanwhile")
def test_who_could_still_win_goes_on_thinking_and_the_others_stop(play, leaf):
    agent = play.add(
        leaf("Equal", 0.5, think=50, quiet=True),
        leaf("Worse", 0.3, think=50, quiet=True),
        leaf("Range", (0.1, 0.6), think=50, quiet=True),
        leaf("Better", 0.6, think=50, quiet=True),
        leaf("ReadyRange", (0.1, 0.6), think=0, quiet=True),
        leaf("ReadyLow", (0.1, 0.5), think=0, quiet=True),
        leaf("Runs", 0.5, run=50, quiet=True),
    )
    play.tick(1)
    assert [(unit.action, unit.state) for unit in agent.snapshot().plan.units] == [
        ("Equal", "idle"),
        ("Worse", "idle"),
        ("Range", "thinking"),
        ("Better", "thinking"),
        ("ReadyRange", "ready"),
        ("ReadyLow", "idle"),
        ("Runs", "running"),
    ]


@pytest.mark.states("001: Making plans: (decided) Two more occasions: a step thinks again when what it was given ...")
@pytest.mark.states("001: Comparing plans: The utility is fixed, or placed within a range while thinking or ...")
def test_idle_thinkers_start_again_when_the_utility_of_the_running_one_falls(play, leaf):
    """Nothing happens while it falls to where nobody is better; then the one that is better thinks, is ready, and wins."""

    class Tiring(Action):
        does = "top"
        utility = (0.0, 1.0)
        sunk_cost_boost = 0

        async def think(self, ctx, args):
            ctx.set_utility(0.8 if ctx.clock.tick == 1 else 0.4)
            ctx.set_think_output()

        async def run(self, ctx, args):
            for value in (0.6, 0.5, 0.4):
                await ctx.sleep_ticks(2)
                ctx.set_utility(value)
            await ctx.sleep(100)

    play.add(Tiring, leaf("Other", 0.5, think=1, run=9, quiet=True))
    play.tick(9)
    assert play.trace("think", "stop_thinking", "utility", "ready", "preempt", "start") == [
        (1, "top/Tiring", "think"),
        (1, "top/Other", "think"),
        (1, "top/Tiring", "utility"),
        (1, "top/Tiring", "ready"),
        (1, "top/Tiring", "start"),
        (1, "top/Tiring", "stop_thinking"),
        (1, "top/Other", "stop_thinking"),
        (3, "top/Tiring", "utility"),
        (5, "top/Tiring", "utility"),
        (7, "top/Tiring", "utility"),
        (7, "top/Other", "think"),
        (8, "top/Other", "ready"),
        (8, "top/Tiring", "preempt"),
        (8, "top/Other", "start"),
        (8, "top/Other", "stop_thinking"),
        (8, "top/Tiring", "think"),
        (8, "top/Tiring", "utility"),
        (8, "top/Tiring", "ready"),
    ]


@pytest.mark.states("001: set_utility: It works while thinking and while running ...")
def test_they_stop_again_when_it_rises(play, leaf):
    class Moody(Action):
        does = "top"
        utility = (0.0, 1.0)

        async def think(self, ctx, args):
            ctx.set_utility(0.8)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)
            ctx.set_utility(0.3)
            await ctx.sleep_ticks(2)
            ctx.set_utility(0.9)
            await ctx.sleep(100)

    play.add(Moody, leaf("Other", 0.5, think=50, quiet=True))
    play.tick(9)
    assert play.trace("think", "stop_thinking")[-2:] == [(3, "top/Other", "think"), (5, "top/Other", "stop_thinking")]


@pytest.mark.states("001: set_utility: It works while thinking and while running")
def test_a_rival_may_raise_its_utility_while_it_thinks_or_is_ready(play, leaf):
    now, later = Event(), Event()

    class Rival(Action):
        does = "top"
        utility = (0.0, 1.0)

        async def think(self, ctx, args):
            ctx.set_utility(0.2)
            ctx.set_think_output()
            await now.wait()
            ctx.set_utility(0.5)
            await later.wait()
            ctx.set_utility(0.51)

        async def run(self, ctx, args):
            await ctx.sleep(100)

    play.add(Rival, leaf("Runs", 0.5, run=50, quiet=True))
    play.tick(2)
    now.set()
    play.tick(2)
    later.set()
    play.tick(2)
    assert ran(play) == [(1, "Runs"), (5, "Rival")]


def test_set_utility_without_being_ready_starts_no_election(play, leaf):
    class Rival(Action):
        does = "top"
        utility = (0.0, 1.0)

        async def think(self, ctx, args):
            ctx.set_utility(1.0)
            await Signal().wait()

    play.add(Rival, leaf("Runs", 0.5, run=5, quiet=True))
    play.tick(3)
    assert ran(play) == [(1, "Runs")]


# --- sunk cost --------------------------------------------------------------------------------------------------------


def sunk(play, leaf, at, *, boost=None, better=0.53, runs_since=1, utility=0.5):
    """What runs in the end when a rival becomes ready at a tick."""
    attributes = {} if boost is None else {"sunk_cost_boost": boost}
    play.add(
        leaf("Runs", utility, run=500, quiet=True, **attributes),
        leaf("Rival", better, think=at - 1, run=500, quiet=True),
    )
    play.tick(at + 1)
    return [name for _, name in ran(play)]


@pytest.mark.states("001: Utility: The boost sets in after 500 ms of game time")
def test_half_a_second_is_ten_ticks(play, leaf):
    """It runs since tick 1; in tick 10 it has run for 9 ticks, in tick 11 for 10: half a second at 20 ticks a second."""
    assert sunk(play, leaf, 10) == ["Runs", "Rival"]


@pytest.mark.states("001: Comparing plans: Its boost makes that rarer")
def test_after_half_a_second_it_costs_more_to_interrupt(play, leaf):
    assert sunk(play, leaf, 11) == ["Runs"]


@pytest.mark.states("001: Leaf action, Metadata: sunk_cost_boost, 0.05 by default ...")
@pytest.mark.states("001: Utility: It adds 0.05, or what the action says")
def test_the_boost_has_to_be_beaten_not_met(play, leaf):
    assert sunk(play, leaf, 11, better=0.55) == ["Runs"]


@pytest.mark.states("001: Comparing plans: A running action is interrupted by a better one ...")
@pytest.mark.states("001: Utility: It adds 0.05, or what the action says ...")
def test_more_than_the_boost_interrupts(play, leaf):
    assert sunk(play, leaf, 11, better=0.56) == ["Runs", "Rival"]


@pytest.mark.states("001: Leaf action, Metadata: A boost of 0.2 has to be exceeded by more than 0.2 ...")
@pytest.mark.parametrize(("utility", "boost", "tie"), [(0.7, 0.1, 0.8), (0.1, 0.2, 0.3), (0.6, 0.3, 0.9)])
def test_a_tie_with_the_boost_is_a_tie_whatever_binary_fractions_say(play, leaf, utility, boost, tie):
    assert sunk(play, leaf, 20, utility=utility, boost=boost, better=tie) == ["Runs"]


def test_a_boost_of_0_is_legal(play, leaf):
    assert sunk(play, leaf, 20, boost=0, better=0.501) == ["Runs", "Rival"]


@pytest.mark.states("001: Leaf action, Metadata: With a boost of 1.0 nothing that does the same interrupts")
def test_with_a_boost_of_1_nothing_that_does_the_same_interrupts(play, leaf):
    assert sunk(play, leaf, 20, boost=1.0, better=1.0, utility=0.0) == ["Runs"]


@pytest.mark.states("001: Utility: The boost sets in after 500 ms of game time ...")
def test_half_a_second_at_another_rate(stage):
    for at, result in ((50, ["Runs", "Rival"]), (51, ["Runs"])):
        play = stage(0, ticks_per_second=100)

        async def run(self, ctx, args):
            await ctx.sleep_ticks(500)

        async def think(self, ctx, args, at=at):
            await ctx.sleep_ticks(at - 1)
            ctx.set_think_output()

        play.add(
            type("Runs", (Action,), {"does": "top", "utility": 0.5, "run": run}),
            type("Rival", (Action,), {"does": "top", "utility": 0.53, "run": run, "think": think}),
        )
        play.tick(60)
        assert [name for _, name in ran(play)] == result
        play.close()


@pytest.mark.states("001: Utility: It is added where actions are compared, and is no part of what the action reports")
def test_the_boost_is_not_part_of_the_utility(play, leaf):
    """The seed's: it is added when comparing; what the action reports, and what others see of it, stays."""
    agent = play.add(leaf("Runs", 0.5, run=500, quiet=True))
    play.tick(20)
    unit = agent.snapshot().plan.units[0]
    assert (unit.utility, unit.boosted) == (0.5, 0.55)


@pytest.mark.states("001: Leaf action, Metadata: The compound around it can still be interrupted")
def test_each_node_of_the_tree_has_its_own(play, leaf, compound):
    """A step's 1.0 protects the step, not the plan around it; the plan's own clock began with the plan."""
    play.add(
        compound("Plan", step("short"), step("long"), utility=0.5, quiet=True),
        leaf("Short", does="short", run=8, quiet=True),
        leaf("Long", does="long", utility=0.2, run=500, sunk_cost_boost=1.0, quiet=True),
        leaf("LongRival", does="long", utility=0.9, think=30, quiet=True),
        leaf("Urgent", 0.6, think=40, quiet=True),
    )
    play.tick(42)
    assert play.trace("preempt") == [(41, "top/Plan", "preempt")]


def test_the_clock_of_a_step_begins_with_the_step(play, leaf, compound):
    """The step runs since tick 9; its rival comes in tick 18, when the plan has run for long and the step has not."""
    play.add(
        compound("Plan", step("short"), step("long"), utility=0.5, quiet=True),
        leaf("Short", does="short", run=8, quiet=True),
        leaf("Long", does="long", utility=0.5, run=500, quiet=True),
        leaf("LongRival", does="long", utility=0.53, think=17, quiet=True),
        leaf("TopRival", 0.53, think=17, quiet=True),
    )
    play.tick(20)
    assert play.trace("preempt") == [(18, "top/Plan/long/Long", "preempt")]


# --- compose_utility --------------------------------------------------------------------------------------------------


class Far(Action):
    does = "path"
    utility = (0.0, 1.0)
    value = 0.5

    async def think(self, ctx, args):
        ctx.set_utility(self.value)
        ctx.set_think_output()
        await changed.wait()
        ctx.set_utility(0.9)

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3)
        ctx.set_utility(0.0)
        await ctx.sleep_ticks(3)


changed = Event()


def painter(play, compose):
    class Paint(Action):
        does = "paint"
        utility = 0.25

        async def run(self, ctx, args):
            await ctx.sleep_ticks(3)

    class Painter(CompoundAction):
        does = "top"
        utility = (0.3, 0.7)
        steps = [step("path"), step("paint")]
        compose_utility = compose

        async def think(self, ctx, args):
            ctx.set_utility(0.5)
            ctx.set_think_output()

    return play.add(Painter, Far, Paint)


@pytest.mark.states(
    "001: Compound action, Methods: It is asked when the utility of a step changes, and at each change of steps while "
    "running",
)
@pytest.mark.states("001: Compound action, Methods: It gets the entity, the own utility, the steps' and the ...")
def test_compose_utility_is_asked_when_a_step_changes_and_at_each_step(play):
    changed.clear()

    def compose(self, entity, self_utility, child_utilities, current_activity):
        play.note(
            self_utility, child_utilities["path"], child_utilities[2], child_utilities.get("nowhere"), current_activity
        )
        return self_utility + child_utilities["path"] * 0.1 + child_utilities["paint"] * 0.4

    agent = painter(play, compose)
    play.tick(1)
    assert play.log == [(1, 0.5, 0.5, 0.25, 0.0, None), (1, 0.5, 0.5, 0.25, 0.0, "path")]
    assert agent.snapshot().plan.units[0].utility == 0.65
    play.take_log()
    play.tick(3)
    assert play.take_log() == [(4, 0.5, 0.0, 0.25, 0.0, "path")]
    assert agent.snapshot().plan.units[0].utility == 0.6
    play.tick(3)
    assert play.take_log() == [(7, 0.5, 0.0, 0.25, 0.0, "paint")]


@pytest.mark.states(
    "001: Compound action, Methods: It gets the entity, the own utility, the steps' and the current activity, if any",
)
def test_compose_utility_gets_the_entity(play):
    def compose(self, entity, self_utility, child_utilities, current_activity):
        play.note(entity)
        return 0.5

    agent = painter(play, compose)
    play.tick(1)
    assert play.log[0] == (1, agent.entity)


def test_a_steps_utility_makes_a_plan_that_is_not_elected_better(play, leaf):
    changed.clear()

    def compose(self, entity, self_utility, child_utilities, current_activity):
        return child_utilities["path"]

    painter(play, compose).inject(leaf("Other", 0.6, run=50, quiet=True))
    play.tick(3)
    assert ran(play) == [(1, "Other")]
    changed.set()
    play.tick(1)
    assert ran(play) == [(1, "Other"), (4, "Painter")]


@pytest.mark.states("001: Utility: A value from 0 to 1; a number, or a range and set_utility or compose_utility ...")
@pytest.mark.parametrize(("value", "utility"), [(7, 1.0), (-1, 0.0), (0.1 + 0.2, 0.3)])
def test_what_compose_utility_returns_is_kept_between_0_and_1(play, value, utility):
    agent = painter(play, lambda *_: value)
    play.tick(1)
    assert agent.snapshot().plan.units[0].utility == utility


@pytest.mark.states("001: Compound action, Methods: (decided) Without it a compound is worth its own utility")
def test_without_compose_utility_a_compound_has_its_own(play, leaf, compound):
    agent = play.add(compound("Plan", step("x"), utility=0.4, quiet=True), leaf("X", 0.9, does="x", run=9, quiet=True))
    play.tick(1)
    assert agent.snapshot().plan.units[0].utility == 0.4
