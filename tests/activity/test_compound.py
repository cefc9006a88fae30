"""Compound actions: the order of think, start, run and stop; what a ready plan does when a step changes; outputs."""

from __future__ import annotations

import pytest

from agentrt import ARGS, BACK, CURRENT, OUT, PREV, Action, ActionArgs, CompoundAction, Event, ThinkOutput, output, step


@pytest.mark.states(
    "001: Overview, Compound action: A compound is a list of activities with bound arguments; each is done by an "
    "action that can",
)
@pytest.mark.states("001: start: A compound, which has no run, has a start")
@pytest.mark.states("001: start: In a plan each start comes before the first run, and may abort")
@pytest.mark.states("001: run: run may wait; it is finished when it returns ...")
@pytest.mark.states("001: stop: In a plan all stops come after the last run, in order")
@pytest.mark.states("001: Compound action, Methods: They have no run: it is that of each step ...")
@pytest.mark.states("001: Compound action, Methods: Its start comes before theirs, its stop after")
@pytest.mark.states("001: Step declarations: Steps are performed in order")
def test_the_order_of_everything(play, leaf, compound):
    """Own think, then the steps' in order; own start, then the steps' in order; runs in order; stops in order, own last."""

    async def think(self, ctx, args):
        play.note("Plan", "think")
        ctx.set_think_output()

    play.add(
        compound("Plan", step("a"), step("b"), think=think),
        leaf("A", does="a", think=1),
        leaf("B", does="b", think=1),
    )
    play.tick(5)
    assert play.log[: play.log.index((5, "Plan", "stop")) + 1] == [
        (1, "Plan", "think"),
        (1, "A", "think"),
        (2, "B", "think"),
        (3, "Plan", "start"),
        (3, "A", "start"),
        (3, "A", "stop_thinking"),
        (3, "B", "start"),
        (3, "B", "stop_thinking"),
        (3, "Plan", "stop_thinking"),
        (3, "A", "think ends"),
        (3, "B", "think ends"),
        (3, "A", "run"),
        (4, "A", "run ends"),
        (4, "B", "run"),
        (5, "B", "run ends"),
        (5, "A", "stop"),
        (5, "B", "stop"),
        (5, "Plan", "stop"),
    ]


def test_stop_of_a_step_comes_after_the_last_run(play, leaf, compound):
    """The seed's use of it: what the first step made is destroyed in its stop, after the walk is over."""
    play.add(
        compound("Walk", step("create"), step("go"), quiet=True),
        leaf("Create", does="create", run=None),
        leaf("Go", does="go", run=4),
    )
    play.tick(5)
    assert play.log[:7] == [
        (1, "Create", "start"),
        (1, "Create", "stop_thinking"),
        (1, "Go", "start"),
        (1, "Go", "stop_thinking"),
        (1, "Go", "run"),
        (5, "Go", "run ends"),
        (5, "Create", "stop"),
    ]


@pytest.mark.states("001: Making plans: Steps think in order; the compound is ready when all are")
@pytest.mark.states("001: Executing plans: Running a plan is running its leaves in order, however deep they lie")
@pytest.mark.states("001: start_thinking: All actions of an activity are asked when a compound or a group plans it")
@pytest.mark.states("001: run: When it returns, the next step comes, or the plan is finished")
def test_the_trace_of_a_plan_with_nested_plans(play, leaf, compound):
    play.add(
        compound("Outer", step("inner"), step("c"), quiet=True),
        compound("Inner", step("a"), step("b"), does="inner", quiet=True),
        leaf("A", does="a", quiet=True),
        leaf("B", does="b", think=1, quiet=True),
        leaf("C", does="c", run=None, quiet=True),
    )
    play.tick(4)
    trace = play.trace()
    assert trace[: trace.index((4, "top", "complete")) + 1] == [
        (1, "top/Outer", "think"),
        (1, "top/Outer/inner/Inner", "think"),
        (1, "top/Outer/inner/Inner/a/A", "ready"),
        (1, "top/Outer/inner/Inner/a", "elect"),
        (1, "top/Outer/inner/Inner/b/B", "think"),
        (2, "top/Outer/inner/Inner/b/B", "ready"),
        (2, "top/Outer/inner/Inner/b", "elect"),
        (2, "top/Outer/inner/Inner", "ready"),
        (2, "top/Outer/inner", "elect"),
        (2, "top/Outer/c/C", "ready"),
        (2, "top/Outer/c", "elect"),
        (2, "top/Outer", "ready"),
        (2, "top", "elect"),
        (2, "top/Outer", "start"),
        (2, "top/Outer/inner/Inner", "start"),
        (2, "top/Outer/inner/Inner/a/A", "start"),
        (2, "top/Outer/inner/Inner/a/A", "stop_thinking"),
        (2, "top/Outer/inner/Inner/b/B", "start"),
        (2, "top/Outer/inner/Inner/b/B", "stop_thinking"),
        (2, "top/Outer/inner/Inner", "stop_thinking"),
        (2, "top/Outer/c/C", "start"),
        (2, "top/Outer/c/C", "stop_thinking"),
        (2, "top/Outer", "stop_thinking"),
        (2, "top/Outer", "run"),
        (2, "top/Outer/inner/Inner", "run"),
        (2, "top/Outer/inner/Inner/a/A", "run"),
        (3, "top/Outer/inner/Inner/a/A", "finish"),
        (3, "top/Outer/inner/Inner/b/B", "run"),
        (4, "top/Outer/inner/Inner/b/B", "finish"),
        (4, "top/Outer/inner/Inner", "finish"),
        (4, "top/Outer/c/C", "run"),
        (4, "top/Outer/c/C", "finish"),
        (4, "top/Outer", "finish"),
        (4, "top/Outer/inner/Inner/a/A", "stop"),
        (4, "top/Outer/inner/Inner/b/B", "stop"),
        (4, "top/Outer/inner/Inner", "stop"),
        (4, "top/Outer/c/C", "stop"),
        (4, "top/Outer", "stop"),
        (4, "top", "complete"),
    ]


def test_steps_of_the_same_activity_have_paths_of_their_own(play, leaf, compound):
    play.add(
        compound("Plan", step("a"), step("b"), step("a"), quiet=True),
        leaf("A", does="a"),
        leaf("B", does="b", quiet=True),
    )
    play.tick(4)
    assert play.trace("run")[:4] == [
        (1, "top/Plan", "run"),
        (1, "top/Plan/a/A", "run"),
        (2, "top/Plan/b/B", "run"),
        (3, "top/Plan/a#3/A", "run"),
    ]


@pytest.mark.states("001: Leaf action, Methods: (decided) So does each place in its plan")
def test_each_place_has_an_instance_of_its_own(play):
    class Counting(Action):
        does = "a"
        utility = 0.5

        def __init__(self):
            self.count = 0

        async def run(self, ctx, args):
            self.count += 1
            play.note(self.count)
            await ctx.sleep_ticks(1)

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("a"), step("a")]

    play.add(Plan, Counting)
    play.tick(4)
    assert play.log == [(1, 1), (2, 1), (3, 2), (4, 2)]


def test_a_long_plan_that_answers_at_once_and_takes_no_time(play, leaf, compound):
    """Steps are thought and run in a loop: a long list is no deep stack."""
    play.add(
        compound("Long", *[step("a")] * 400, step("b"), quiet=True),
        leaf("A", does="a", run=None, quiet=True),
        leaf("B", does="b", run=5, quiet=True),
    )
    play.tick(1)
    assert play.trace("run")[-1] == (1, "top/Long/b/B", "run")


@pytest.mark.states("001: Overview: What an agent can do is the set of actions that it knows")
def test_an_unknown_activity_is_waited_for(play, idle, compound, leaf):
    agent = play.add(compound("Plan", step("unknown"), quiet=True), idle)
    play.tick(3)
    assert play.trace("run") == [(1, "top/Idle", "run")]
    agent.inject(leaf("Known", does="unknown", quiet=True))
    play.tick(1)
    assert play.trace("run")[1:] == [(4, "top/Plan", "run"), (4, "top/Plan/unknown/Known", "run")]


# --- steps that change while the plan is not started yet --------------------------------------------------------------


class Find(Action):
    """Finds one thing after the other, whenever it is told to; takes it back when it is told None."""

    does = "find"
    utility = 0.5
    script = ()

    class Output(ThinkOutput):
        thing: str

    async def think(self, ctx, args):
        for at, thing in self.script:
            await ctx.sleep_ticks(at - ctx.clock.tick)
            if thing is None:
                ctx.clear_think_output()
            else:
                ctx.set_think_output(thing=thing)
        await ctx.sleep(1000)


def finder(*script, name="Finder", utility=0.5):
    return type(name, (Find,), {"script": script, "utility": utility})


def user(play, *, think=0):
    class Use(Action):
        does = "use"
        utility = 0.5

        class Args(ActionArgs):
            thing: str

        async def think(self, ctx, args):
            play.note("think", args.thing)
            await ctx.sleep_ticks(think)
            ctx.set_think_output()

        def stop_thinking(self, ctx, args):
            play.note("stop_thinking", args.thing)

        async def run(self, ctx, args):
            play.note("run", args.thing)
            await ctx.sleep_ticks(1)

    return Use


class FindAndUse(CompoundAction):
    does = "top"
    utility = 0.5
    steps = [step("find"), step("use", thing=PREV.thing)]


@pytest.mark.states(
    "001: Making plans: (decided) Two more occasions: a step thinks again when what it was given changes, and who "
    "stopped because it could not win starts again when the running one is worth less",
)
@pytest.mark.states("001: set_think_output: set_think_output makes the action ready; later steps get the output")
@pytest.mark.states("001: set_think_output: It is for thinking only. (decided) Ours may be repeated while ready ...")
def test_a_refreshed_output_makes_the_steps_after_it_think_again(play):
    play.add(FindAndUse, finder((2, "cow"), (4, "pig")), user(play, think=5))
    play.tick(9)
    assert play.log == [
        (2, "think", "cow"),
        (4, "stop_thinking", "cow"),
        (4, "think", "pig"),
        (9, "stop_thinking", "pig"),
        (9, "run", "pig"),
    ]


def test_an_output_that_is_set_twice_in_one_step_counts_once(play):
    play.add(FindAndUse, finder((2, "cow"), (2, "pig")), user(play, think=5))
    play.tick(3)
    assert play.log == [(2, "think", "pig")]


@pytest.mark.states("001: Comparing plans: Whoever becomes ready and is better replaces the best one")
def test_a_better_action_of_a_step_replaces_the_elected_one(play):
    play.add(
        FindAndUse,
        finder((2, "cow"), name="Near"),
        finder((4, "horse"), name="Far", utility=0.9),
        user(play, think=5),
    )
    play.tick(9)
    assert [entry for entry in play.log if entry[1] != "stop_thinking"] == [
        (2, "think", "cow"),
        (4, "think", "horse"),
        (9, "run", "horse"),
    ]


def test_a_worse_action_of_a_step_changes_nothing(play):
    play.add(
        FindAndUse, finder((2, "cow")), finder((4, "hen"), (6, "goose"), name="Worse", utility=0.4), user(play, think=5)
    )
    play.tick(7)
    assert play.log == [(2, "think", "cow"), (7, "stop_thinking", "cow"), (7, "run", "cow")]


def test_when_the_elected_action_withdraws_the_next_best_takes_its_place(play):
    play.add(
        FindAndUse,
        finder((2, "cow"), (4, None), name="Best", utility=0.9),
        finder((2, "hen"), name="Second", utility=0.6),
        finder((2, "fly"), name="Third", utility=0.3),
        user(play, think=9),
    )
    play.tick(5)
    assert play.log == [(2, "think", "cow"), (4, "stop_thinking", "cow"), (4, "think", "hen")]


@pytest.mark.states("001: clear_think_output: clear_think_output takes it back, and the action thinks on ...")
def test_when_nothing_is_left_the_steps_after_it_stop_thinking(play):
    play.add(FindAndUse, finder((2, "cow"), (4, None), (6, "pig")), user(play, think=3))
    play.tick(9)
    assert play.log == [
        (2, "think", "cow"),
        (4, "stop_thinking", "cow"),
        (6, "think", "pig"),
        (9, "stop_thinking", "pig"),
        (9, "run", "pig"),
    ]


class Ready(CompoundAction):
    """A plan that could beat what runs, but does not: it goes on thinking."""

    does = "top"
    utility = (0.2, 1.0)
    steps = [step("find"), step("use", thing=PREV.thing)]


def test_a_plan_that_is_ready_but_not_better_follows_its_steps(play, leaf):
    play.add(
        Ready, finder((2, "cow"), (4, None), (6, "pig"), (8, "hen")), user(play), leaf("Runs", 0.5, run=50, quiet=True)
    )
    play.tick(9)
    assert [one for one in play.trace("ready", "unready") if one[1] == "top/Ready"] == [
        (2, "top/Ready", "ready"),
        (4, "top/Ready", "unready"),
        (6, "top/Ready", "ready"),
        (8, "top/Ready", "unready"),
        (8, "top/Ready", "ready"),
    ]


class Tiring(Action):
    """Falls to nothing in tick 4 and wakes who waits for the gate, in one step."""

    does = "top"
    utility = (0.0, 1.0)
    gate = Event()

    async def think(self, ctx, args):
        ctx.set_utility(0.5 if ctx.clock.tick == 1 else 0.0)
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3)
        ctx.set_utility(0.0)
        self.gate.set()
        await ctx.sleep(1000)


class Gated(Find):
    """Its thing is a cow; behind the gate it is another, or none."""

    then = None

    async def think(self, ctx, args):
        ctx.set_think_output(thing="cow")
        if ctx.clock.tick == 1:
            await Tiring.gate.wait()
            if self.then is None:
                ctx.clear_think_output()
            else:
                ctx.set_think_output(thing=self.then)
        await ctx.sleep(1000)


def test_a_plan_is_not_started_when_its_step_withdraws_in_the_tick_of_its_election(play):
    """The plan is to take over; then its step has nothing any more; the old action comes back."""
    Tiring.gate.clear()
    play.add(Ready, type("Finder", (Gated,), {}), user(play), Tiring)
    play.tick(8)
    assert play.trace("preempt", "unready", "start", "abort") == [
        (1, "top/Tiring", "start"),
        (4, "top/Tiring", "preempt"),
        (4, "top/Ready/find/Finder", "unready"),
        (4, "top/Ready", "unready"),
        (4, "top/Tiring", "start"),
    ]


def test_a_plan_is_not_started_with_what_its_step_has_replaced(play):
    """Its step has another output in the tick of its election: the steps after it think again, and then it starts."""
    Tiring.gate.clear()
    play.add(Ready, type("Finder", (Gated,), {"then": "pig"}), user(play, think=2), Tiring)
    play.tick(9)
    assert [entry for entry in play.log if entry[1] != "stop_thinking"] == [
        (1, "think", "cow"),
        (4, "think", "pig"),
        (6, "run", "pig"),
        (7, "think", "cow"),
        (9, "run", "cow"),
    ]
    assert play.trace("abort") == []


# --- own think --------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "001: Compound action, Methods: The compound thinks before its steps, and they only when it has succeeded",
)
def test_the_steps_think_after_the_own_think_and_again_when_it_changes(play):
    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("use", thing=PREV.thing)]

        class Output(ThinkOutput):
            thing: str

        async def think(self, ctx, args):
            await ctx.sleep_ticks(1)
            ctx.set_think_output(thing="cow")
            await ctx.sleep_ticks(1)
            ctx.clear_think_output()
            await ctx.sleep_ticks(1)
            ctx.set_think_output(thing="pig")

    play.add(Plan, user(play, think=3))
    play.tick(7)
    assert play.log == [
        (2, "think", "cow"),
        (3, "stop_thinking", "cow"),
        (4, "think", "pig"),
        (7, "stop_thinking", "pig"),
        (7, "run", "pig"),
    ]


@pytest.mark.states("001: Compound action, Methods: The compound thinks before its steps, and they only when it ...")
def test_own_think_that_ends_without_an_output(play, idle, leaf):
    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("a")]

        async def think(self, ctx, args):
            await ctx.sleep_ticks(1)

        def stop_thinking(self, ctx, args):
            play.note("stop_thinking")

    agent = play.add(Plan, leaf("A", does="a", quiet=True), idle)
    play.tick(3)
    assert play.log == [(2, "stop_thinking")]
    assert [unit.state for unit in agent.snapshot().plan.units] == ["impossible", "running"]


@pytest.mark.states("001: Step declarations: (decided) In step k, BACK(k) is the compound's own think output")
def test_back_reaches_the_own_output(play):
    """Element 0: BACK(k) in step k, and PREV in the first step."""
    seen = []

    class Take(Action):
        does = "take"
        utility = 0.5

        class Args(ActionArgs):
            own: str
            prev: str = ""

        class Output(ThinkOutput):
            taken: str

        async def think(self, ctx, args):
            seen.append((args.own, args.prev))
            ctx.set_think_output(taken=f"taken {len(seen)}")

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [
            step("take", own=PREV.own),
            step("take", own=BACK(2).own, prev=PREV.taken),
            step("take", own=BACK(3).own, prev=BACK(2).taken),
        ]

        class Output(ThinkOutput):
            own: str

        async def think(self, ctx, args):
            ctx.set_think_output(own="mine")

    play.add(Plan, Take)
    play.tick(1)
    assert seen == [("mine", ""), ("mine", "taken 1"), ("mine", "taken 1")]


# --- output -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "given"),
    [
        (None, {"place": "barn"}),
        (output(path=PREV.thing), {"path": "cow"}),
        (output(path=[OUT["it"].thing, ARGS.place], fixed=5), {"path": ["cow", "barn"], "fixed": 5}),
        (output(where=CURRENT.location), {"where": (1, 1)}),
        (output(), {}),
    ],
)
def test_what_a_compound_gives_as_its_output(play, declared, given):
    class Inner(CompoundAction):
        does = "inner"
        utility = 0.5
        steps = [step("find", name="it")]
        output = declared

        class Args(ActionArgs):
            place: str

    class Finder(Find):
        async def think(self, ctx, args):
            ctx.CURRENT.location = (1, 1)
            ctx.set_think_output(thing="cow")

    class Top(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            play.note(dict(**await ctx.execute("inner", place="barn")))
            await ctx.sleep(100)

    play.add(Top, Inner, Finder)
    play.tick(1)
    assert play.log == [(1, given)]
