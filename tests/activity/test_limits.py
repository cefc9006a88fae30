"""Plans without end: recursion, plans that take no time, actions that overtake each other, and floods."""

from __future__ import annotations

from agentrt import Action, ActionArgs, CompoundAction, Event, step
from agentrt.activity.plan.tree import MAX_DEPTH


def test_an_activity_that_is_a_step_of_itself(play, idle, compound):
    """The deepest one is disabled; nothing hangs, and something else runs."""
    agent = play.add(compound("Ouroboros", step("top"), utility=0.9, quiet=True), idle)
    play.tick(1)
    [(tick, path, hook, error)] = play.faults()
    assert (tick, path.count("/"), hook) == (1, 2 * MAX_DEPTH + 1, "step 1 (top)")
    assert error == (
        f"ActivityRecursionError: [ART305] the plan is nested {MAX_DEPTH + 1} levels deep. An activity seems to be a step "
        f"of itself; break the circle with a filter or a condition in 'think'. (at a, top, tick 1)"
    )
    assert agent.is_alive


def test_recursion_that_ends_by_its_arguments_is_fine(play):
    class Count(ActionArgs):
        left: int

    class Down(CompoundAction):
        does = "count"
        utility = 0.9
        Args = Count
        steps = [step("minus", left=0)]

        def should_start_thinking(self, ctx, args):
            return True

    class Minus(Action):
        does = "minus"
        utility = 0.5
        Args = Count

        async def run(self, ctx, args):
            if args.left < 20:
                await ctx.execute("minus", left=args.left + 1)
            else:
                play.note("reached")
                await ctx.sleep(1000)

    class Top(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("count", left=0)]

    play.add(Top, Down, Minus)
    play.tick(1)
    assert play.log == [(1, "reached")]


def test_an_activity_that_executes_itself_without_end(play, idle):
    class Dig(Action):
        does = "dig"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.execute("dig")

    class Top(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.execute("dig")

    agent = play.add(Top, Dig)
    play.tick(1)
    assert agent.is_alive
    assert agent.snapshot().aborts == 1
    [(_, path, hook, error)] = play.faults()
    assert (path.count("/dig/Dig"), hook) == (MAX_DEPTH, "run")
    assert error.startswith("ActivityRecursionError: [ART305]")


def test_recursion_that_branches_is_cut_before_it_has_filled_the_world(play, idle, compound, monkeypatch):
    """Two plans, each a step of itself: without a limit on places that would be two to the power of 64 of them."""
    monkeypatch.setattr("agentrt.activity.plan.tree.MAX_FRAMES", 100)
    agent = play.add(
        compound("Left", step("top"), utility=0.9, quiet=True),
        compound("Right", step("top"), utility=0.8, quiet=True),
        idle,
    )
    play.tick(1)
    assert agent.planner.busy_frames <= 100
    faults = play.faults()
    assert any("nested 65 levels" in fault[3] for fault in faults)
    assert any("100 places at a time" in fault[3] for fault in faults)


def test_the_places_are_counted_and_given_back(play, leaf, compound):
    agent = play.add(
        compound("Plan", step("a"), step("b"), quiet=True),
        leaf("A", does="a", run=2, quiet=True),
        leaf("B", does="b", quiet=True),
    )
    play.tick(1)
    assert agent.planner.busy_frames == 3
    play.tick(20)
    assert agent.planner.busy_frames == 3
    play.close()
    assert agent.planner is None or agent.planner.busy_frames == 0


def test_a_plan_that_takes_no_time_runs_once_a_tick(play, leaf):
    play.add(leaf("Instant", run=None))
    play.tick(4)
    assert [entry for entry in play.log if entry[-1] == "start"] == [
        (tick, "Instant", "start") for tick in (1, 2, 3, 4)
    ]


def test_a_plan_of_steps_that_take_no_time_runs_once_a_tick(play, leaf, compound):
    play.add(compound("Plan", *[step("a")] * 3), leaf("A", does="a", run=0, quiet=True))
    play.tick(3)
    assert [entry for entry in play.log if entry[-1] == "start"] == [(tick, "Plan", "start") for tick in (1, 2, 3)]


def test_two_actions_that_overtake_each_other_wait_for_the_next_tick(play):
    """Each is best while it thinks and worst while it runs. Time passes all the same, for all agents."""

    def vain(label):
        async def think(self, ctx, args):
            ctx.set_utility(1.0)
            ctx.set_think_output()

        async def run(self, ctx, args):
            play.note(label)
            ctx.set_utility(0.0)
            await ctx.sleep(1000)

        return type(label, (Action,), {"does": "top", "utility": (0.0, 1.0), "think": think, "run": run})

    agent = play.add(vain("Left"), vain("Right"))
    play.tick(3)
    ticks = [tick for tick, _ in play.log]
    assert 2 <= ticks.count(1) <= 20
    assert ticks.count(3) <= 20
    assert agent.is_alive
    assert {one[3]["reason"] for one in play.details("storm")} == {"too many preemptions in one tick"}


def test_a_think_that_never_lets_time_pass_is_found(play, idle, monkeypatch):
    monkeypatch.setattr("agentrt.kernel.kernel.patience", lambda self: 100)
    play.sim.runtime.kernel.livelock_steps = 50

    class Spins(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            while True:
                event = Event()
                play.sim.runtime.kernel.call_soon(event.set)
                await event.wait()

    agent = play.add(Spins, idle)
    play.tick(2)
    assert agent.snapshot().running == "top/Idle"
    [(tick, path, hook, error)] = play.faults()
    assert (tick, path, hook) == (1, "top/Spins", "think")
    assert error.startswith("LivelockError: [ART302] took 50 steps within one tick without time passing.")


def test_many_candidates(play, leaf):
    """A hundred actions for one activity, half of them slow."""
    actions = [leaf(f"A{number}", number / 100, think=number % 2 * 5, run=50, quiet=True) for number in range(100)]
    play.add(*actions)
    play.tick(6)
    assert play.trace("start") == [(1, "top/A98", "start"), (6, "top/A99", "start")]
