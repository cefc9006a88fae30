"""Interruptions: who hears of one and what may come of that, several of them, and that none is lost."""

from __future__ import annotations

import pytest
from wants import Build, Have, Know, Reach

from agentrt import move_on_after
from agentrt.strategy import Dependency, Interruptible, Interruption, Trigger
from agentrt.strategy.solve import Incident

PAUSE, RESTART, WAIT, TREE = Interruptible.PAUSE, Interruptible.RESTART, Interruptible.WAIT, Interruptible.TREE


def attack(agent, **options):
    agent.gameplay.running[-1].interruptions.add(Incident(Interruption("attack", 7), Reach("home"), **options))


# --- who hears of it ----------------------------------------------------------------------------------------------------


def _gives_up(who, how):
    def hears(label, ctx):
        if label == who:
            getattr(ctx, how)("no sense in it")

    return hears


@pytest.mark.states(
    "003: Pauseable/Cancelable Tasks, 2: Afterwards the world may be another: changes are checked for and handled",
)
@pytest.mark.parametrize("inner", [PAUSE, RESTART])
def test_who_hears_of_it_may_fail_and_all_below_is_unwound_first(game, walk, way, inner):
    agent, wish = walk(RESTART, inner, hears=_gives_up("Outer", "fail"))
    agent.gameplay.add_strategy(way("Buy", Build, cost=9))
    attack(agent)
    game.tick(10)
    assert wish.is_over
    assert wish.error is None
    seen = [one[:3] for one in game.log if one[0] >= 8 and one[1] != "Flee"]
    unwound = [(8, "Inner", "ends")] if inner is PAUSE else []
    assert seen == [
        (8, "Inner", "hears"), (8, "Outer", "hears"), *unwound, (8, "Outer", "ends"), (8, "Buy", "run"),
        (9, "Buy", "ends"),
    ]  # fmt: skip
    assert "   Outer - failed: no sense in it" in game.tree(agent)


@pytest.mark.parametrize("inner", [PAUSE, RESTART])
def test_the_interrupted_one_may_fail_too(game, walk, way, inner):
    agent, wish = walk(RESTART, inner, hears=_gives_up("Inner", "fail"))
    agent.gameplay.add_strategy(way("Borrow", cost=9))
    attack(agent)
    game.tick(10)
    assert wish.error is None
    assert "         Inner - failed: no sense in it" in game.tree(agent)
    assert game.log[-3:] == [(8, "Borrow", "run"), (9, "Borrow", "ends"), (10, "Outer", "ends")]


@pytest.mark.states(
    "003: Pauseable/Cancelable Tasks: All parents are told of an interruption, up to the root, so that they can check "
    "their state",
)
@pytest.mark.parametrize(("who", "runs"), [("Inner", 1), ("Outer", 2)])
def test_who_hears_of_it_may_begin_again(game, walk, who, runs):
    told = []

    def hears(label, ctx):
        if label == who and not told:
            told.append(label)
            ctx.restart()

    agent, wish = walk(RESTART, PAUSE, hears=hears)
    attack(agent)
    game.tick(30)
    assert wish.error is None
    assert len([one for one in game.log if one[1:3] == ("Outer", "run")]) == runs
    assert len([one for one in game.log if one[1:3] == ("Inner", "run")]) == 2


@pytest.mark.states("003: Pauseable/Cancelable Tasks: All parents are told of an interruption, up to the root, so ...")
def test_a_hook_that_raises_is_a_failure_of_its_strategy(game, walk, way):
    def hears(label, ctx):
        if label == "Inner":
            raise ValueError("oops")

    agent, wish = walk(RESTART, PAUSE, hears=hears)
    agent.gameplay.add_strategy(way("Borrow", cost=9))
    attack(agent)
    game.tick(10)
    assert wish.error is None
    assert "         Inner - failed: it raised ValueError when it was interrupted: oops" in game.tree(agent)
    assert game.faults() == [(8, "interrupted", "ValueError: oops")]


def test_what_is_left_when_one_gives_up_is_dealt_with_above_it(game, walk, way):
    agent, wish = walk(RESTART, PAUSE, hears=_gives_up("Inner", "fail"))
    agent.gameplay.add_strategy(way("Borrow", cost=9))
    attack(agent)
    attack(agent)
    game.tick(14)
    assert wish.error is None
    assert [one for one in game.log if one[0] >= 8] == [
        (8, "Flee", "ends"), (8, "Inner", "hears", "attack", 1), (8, "Outer", "hears", "attack", 1),
        (8, "Inner", "ends"), (8, "Flee", "run"), (12, "Flee", "ends"), (12, "Outer", "hears", "attack", 2),
        (12, "Borrow", "run"), (13, "Borrow", "ends"), (14, "Outer", "ends"),
    ]  # fmt: skip
    assert [line for line in game.tree(agent) if "attack" in line] == [
        "            attack - done",
        "         attack - done",
    ]


def test_what_goes_wrong_in_a_handling_is_not_the_fault_of_who_was_interrupted(game, way):
    class Odd(Dependency[None], activity="want:odd"):
        def guard_key(self):
            raise ValueError("oops")

    agent = game.add(way("Outer", Build, ticks=3, interruption=PAUSE), way("Do", Odd, cost=lambda ask, wanted: 1))
    wish = game.wish(agent.gameplay.build())
    game.tick(1)
    outcomes = []
    agent.gameplay.running[0].interruptions.add(Incident(Interruption("odd"), Odd(), then=outcomes.append))
    game.tick(5)
    assert (wish.error, wish.is_over, outcomes) == (None, True, ["failed"])
    assert [error for _, _, error in game.faults()] == ["ValueError: oops"]
    assert "      odd - failed: ValueError: oops" in game.tree(agent)


@pytest.mark.states(
    "003: Pauseable/Cancelable Tasks, 1: A child may take any time if it is interrupted, and that does not count as "
    "its own",
)
def test_time_that_an_interruption_takes_is_no_time_of_the_strategies(game, way):
    """Their patience is not used up; what they were interrupted for is counted."""
    seen = []

    async def run(self, ctx, wanted):
        await ctx.sleep_ticks(4)
        seen.append(ctx._attempt.time.left_out)

    outer = way("Outer", Build, needs=[Know("a")], patience=0.4)
    inner = way("Inner", Know, run=run, interruption=PAUSE, patience=0.4)
    agent = game.add(outer, inner, way("Flee", Reach, ticks=40))
    wish = game.wish(agent.gameplay.build())
    game.tick(2)
    attack(agent)
    game.tick(50)
    assert (wish.error, seen) == (None, [40])


# --- several of them ----------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Interrupting Tasks: What is more urgent interrupts what is done about the less urgent (ours)")
def test_what_is_more_urgent_interrupts_what_is_done_about_the_less_urgent(game, way):
    outer = way("Outer", Build, ticks=3, interruption=PAUSE)
    agent = game.add(outer, way("Eat", Know, ticks=3, interruption=PAUSE), way("Flee", Reach, ticks=2))
    game.wish(agent.gameplay.build())
    game.tick(1)
    solving = agent.gameplay.running[0]
    solving.interruptions.add(Incident(Interruption("hunger"), Know("food")))
    game.tick(1)
    attack(agent, priority=1)
    game.tick(1)
    assert solving.interruptions.handled == (Interruption("hunger"), Interruption("attack", 7))
    game.tick(6)
    assert game.log == [
        (1, "Outer", "run"),
        (2, "Eat", "run"),
        (3, "Flee", "run"),
        (5, "Flee", "ends"),
        (5, "Eat", "ends"),
        (5, "Outer", "ends"),
    ]
    assert game.tree(agent) == [
        "Build [house] - done",
        "   Outer - done",
        "      hunger - done",
        "         Know [food] - done",
        "            Eat - done",
        "               attack - done",
        "                  Reach [home] - done",
        "                     Flee - done",
    ]


@pytest.mark.states("003: Interrupting Tasks: What is more urgent interrupts what is done about the less urgent ...")
def test_what_is_as_urgent_waits_its_turn_and_the_more_urgent_comes_first(game, way):
    outer = way("Outer", Build, ticks=3, interruption=PAUSE)
    agent = game.add(outer, way("Learn", Know, ticks=2), way("Flee", Reach, ticks=2))
    game.wish(agent.gameplay.build())
    game.tick(1)
    solving = agent.gameplay.running[0]
    for name, priority in (("first", 0), ("second", 0), ("third", 0)):
        solving.interruptions.add(Incident(Interruption(name), Know(name), priority=priority))
    game.tick(1)
    solving.interruptions.add(Incident(Interruption("more"), Reach("more"), priority=-1))
    solving.interruptions.add(Incident(Interruption("fourth"), Know("fourth")))
    game.tick(20)
    told = [dict(one.detail)["by"] for one in game.sim.trace if one.event.value == "interrupted"]
    assert told == ["first", "second", "third", "fourth", "more"]
    assert [one[1] for one in game.log if one[2] == "run"] == ["Outer", "Learn", "Learn", "Learn", "Learn", "Flee"]


@pytest.mark.states("003: Pauseable/Cancelable Tasks: After the subtask the original is resumed or restarted ...")
@pytest.mark.states("003: Left open, requests: What cannot be helped does not keep the agent from all else ...")
def test_a_handling_that_fails_is_recorded_and_the_original_goes_on(game, way):
    agent = game.add(way("Outer", Build, ticks=3, interruption=PAUSE), way("Flee", Reach, fails="no way out"))
    wish = game.wish(agent.gameplay.build())
    game.tick(1)
    outcomes = []
    attack(agent, then=outcomes.append)
    game.tick(5)
    assert (wish.error, outcomes) == (None, ["failed"])
    assert game.tree(agent)[2:] == [
        "      attack - failed: Flee failed (no way out)",
        "         Reach [home] - failed: Flee failed (no way out)",
        "            Flee - failed: no way out",
    ]
    last = [one for one in game.sim.trace if one.event.value == "resumed"][-1]
    assert dict(last.detail) == {"by": "attack", "outcome": "failed"}


@pytest.mark.states(
    "003: Left open, requests: An interruption that was cut short is not lost",
    source="Interrupting Tasks",
)
def test_what_was_cut_short_with_a_part_of_the_request_is_dealt_with_again(game, way):
    """Somebody above begins again while the interruption is handled below: it is not forgotten."""
    outer = way("Outer", Build, needs=[Know("a")])
    inner = way("Inner", Know, ticks=3, interruption=PAUSE)
    agent = game.add(outer, inner, way("Flee", Reach, ticks=4))
    wish = game.wish(agent.gameplay.build())
    game.tick(2)
    outcomes = []
    attack(agent, then=outcomes.append)
    game.tick(2)
    assert game.log[-1] == (3, "Flee", "run")
    agent.gameplay.running[0].restart()
    game.tick(12)
    assert wish.error is None
    assert game.log[3:] == [
        (5, "Flee", "ends"),
        (5, "Inner", "ends"),
        (5, "Outer", "ends"),
        (5, "Flee", "run"),
        (9, "Flee", "ends"),
        (9, "Outer", "run"),
        (9, "Inner", "run"),
        (12, "Inner", "ends"),
        (13, "Outer", "ends"),
    ]
    assert outcomes == ["done"]


@pytest.mark.states("003: Left open, requests: An interruption that was cut short is not lost ...")
def test_what_a_cancelled_request_leaves_goes_to_another_one_or_is_solved_by_itself(game, way):
    agent = game.add(way("Outer", Build, ticks=9, interruption=WAIT), way("Flee", Reach, ticks=2))
    wish = game.wish(agent.gameplay.build())
    game.tick(2)
    outcomes = []
    attack(agent, then=outcomes.append)
    game.tick(1)
    wish.cancel()
    game.tick(4)
    assert game.log == [(1, "Outer", "run"), (4, "Outer", "ends"), (4, "Flee", "run"), (6, "Flee", "ends")]
    assert outcomes == ["done"]
    assert game.tree(agent) == ["Reach [home] - done", "   Flee - done"]


def test_when_the_agent_ends_what_was_to_be_dealt_with_is_told_so(game, way):
    agent = game.add(way("Outer", Build, ticks=9, interruption=WAIT), way("Flee", Reach, ticks=2))
    game.wish(agent.gameplay.build())
    game.tick(2)
    outcomes = []
    attack(agent, then=outcomes.append)
    game.tick(1)
    game.sim.runtime.remove(agent)
    game.tick(3)
    assert outcomes == ["cancelled"]
    assert "Flee" not in {one[1] for one in game.log}


def test_an_incident_without_anything_to_solve_is_heard_of_only(game, walk):
    agent, wish = walk(RESTART, PAUSE)
    agent.gameplay.triggers.interrupt(Incident(Interruption("thunder")))
    game.tick(8)
    assert wish.is_over
    assert [one for one in game.log if "thunder" in one] == [
        (4, "Inner", "hears", "thunder", 1),
        (4, "Outer", "hears", "thunder", 1),
    ]


def test_one_that_nobody_is_there_to_hear_of_is_over(game):
    agent = game.add()
    game.tick(1)
    outcomes = []
    agent.gameplay.triggers.interrupt(Incident(Interruption("thunder"), then=outcomes.append))
    assert outcomes == ["done"]


def test_the_handling_of_what_is_also_being_solved_above_is_no_circle(game, way):
    """It is not the strategy that needs it: the recursion guard begins anew."""
    agent = game.add(way("Saw", ticks=4, interruption=PAUSE))
    wish = game.wish(agent.gameplay.have("plank"))
    game.tick(2)
    agent.gameplay.running[0].interruptions.add(Incident(Interruption("more"), Have("plank", 1)))
    game.tick(12)
    assert wish.error is None
    assert game.tree(agent)[-1] == "            Saw - done"


# --- what is asked for within it ----------------------------------------------------------------------------------------


async def ask_the_agent(ctx):
    await ctx.agent.gameplay.solve(Have("door"))


async def ask_a_plan(ctx):
    await ctx.execute("want:have", item="door")


async def ask_by_performing(ctx):
    await ctx.agent.perform("want:have", item="door")


async def ask_itself(ctx):
    await ctx.solve(Have("door"))


@pytest.mark.parametrize("ask", [ask_itself, ask_the_agent, ask_a_plan, ask_by_performing])
def test_what_is_less_urgent_interrupts_nothing_of_what_is_more_so(game, way, ask):
    async def run(self, ctx, wanted):
        await ask(ctx)
        game.note("Flee", "ends")

    agent = game.add(
        way("Main", Know, ticks=20, interruption=PAUSE),
        way("Flee", Reach, run=run),
        way("Door", ticks=6, interruption=PAUSE),
        way("Eat", Build, ticks=4),
    )
    agent.gameplay.add_trigger(Trigger(name="howl", on="howl", solve=Reach("home"), priority=10))
    agent.gameplay.add_trigger(Trigger(name="hungry", on="hungry", solve=Build("meal"), priority=1))
    request = agent.gameplay.begin(Know("x"))
    game.tick(3)
    agent.entity.signal("howl").emit(1)
    game.tick(3)
    agent.entity.signal("hungry").emit(1)
    game.tick(30)
    assert request.outcome == "done"
    assert [one[1:] for one in game.log] == [
        ("Main", "run"),
        ("Door", "run"),
        ("Door", "ends"),
        ("Flee", "ends"),
        ("Eat", "run"),
        ("Eat", "ends"),
        ("Main", "ends"),
    ]


def test_what_is_only_begun_within_it_is_as_any_other_when_it_is_over(game, way):
    async def run(self, ctx, wanted):
        ctx.agent.gameplay.begin(Have("door"))

    agent = game.add(way("Flee", Reach, run=run), way("Door", ticks=9, interruption=PAUSE), way("Eat", Build, ticks=2))
    agent.gameplay.add_trigger(Trigger(name="howl", on="howl", solve=Reach("home"), priority=10))
    agent.gameplay.add_trigger(Trigger(name="hungry", on="hungry", solve=Build("meal"), priority=1))
    game.tick(1)
    agent.entity.signal("howl").emit(1)
    game.tick(3)
    agent.entity.signal("hungry").emit(1)
    game.tick(1)
    assert [one.interruptions.handled for one in agent.gameplay.running] == [(Interruption("hungry", 1),)]
    game.tick(12)
    assert [one[1:] for one in game.log] == [("Door", "run"), ("Eat", "run"), ("Eat", "ends"), ("Door", "ends")]


# --- a function of the author's that raises -----------------------------------------------------------------------------


def broken(outcome):
    raise RuntimeError(f"broken: {outcome}")


@pytest.mark.parametrize("inner", [PAUSE, RESTART, WAIT])
def test_one_that_is_told_how_it_ended_and_raises_harms_nobody(game, walk, inner):
    agent, wish = walk(RESTART, inner)
    attack(agent, then=broken)
    outcomes = []
    agent.gameplay.running[0].interruptions.add(Incident(Interruption("more"), None, then=outcomes.append))
    game.tick(20)
    assert wish.error is None
    assert wish.is_over
    assert outcomes == ["done"]
    assert [(hook, error) for _, hook, error in game.faults()] == [("then", "RuntimeError: broken: done")]


def test_one_that_raises_at_the_end_of_a_request_keeps_nothing_else_from_being_dealt_with(game, way):
    agent = game.add(way("Main", Know, ticks=10, interruption=WAIT), way("Flee", Reach, ticks=2))
    agent.gameplay.add_trigger(Trigger(name="howl", on="howl", solve=Reach("home")))
    request = agent.gameplay.begin(Know("x"))
    game.tick(3)
    agent.gameplay.running[0].interruptions.add(Incident(Interruption("thunder"), None, then=broken))
    agent.entity.signal("howl").emit(1)
    game.tick(1)
    request.cancel()
    game.tick(5)
    assert [hook for _, hook, _ in game.faults()] == ["then"]
    assert agent.gameplay.triggers.busy == ()
    assert [one[1:] for one in game.log if one[1] == "Flee"] == [("Flee", "run"), ("Flee", "ends")]


# --- between two ticks, and at the very end -----------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["pause", "trigger", "restart"])
def test_what_comes_up_while_the_next_attempt_waits_for_its_tick_is_not_missed(game, way, what):
    """So many attempts begin in one tick, and no more."""
    fast = [way(f"F{number}", Know, cost=number, ticks=0, fails="no", quiet=True) for number in range(32)]
    agent = game.add(
        *fast, way("Long", Know, cost=100, ticks=50, interruption=WAIT), way("Flee", Reach, ticks=3, quiet=True)
    )
    agent.gameplay.add_trigger(Trigger(name="howl", on="howl", solve=Reach("home")))
    request = agent.gameplay.begin(Know("x"))
    game.tick(1)
    if what == "trigger":
        agent.entity.signal("howl").emit(1)
    else:
        getattr(request, what)()
    game.tick(20)
    assert game.log == {"pause": [], "trigger": [(5, "Long", "run")], "restart": [(3, "Long", "run")]}[what]
    assert request.is_paused == (what == "pause")


def test_one_that_begins_again_and_waits_for_its_tick_misses_nothing(game, way):
    """What is dealt with takes all attempts of the tick, and the next thing comes up before there are more."""

    async def run(self, ctx, wanted):
        for _ in range(31):  # and itself
            await ctx.solve(Have("air"))
            ctx.entity.bag.clear()

    agent = game.add(
        way("Main", Know, ticks=9, interruption=RESTART),
        way("Many", Reach, run=run),
        way("Air", ticks=0, quiet=True),
        way("Eat", Build, ticks=2),
    )
    agent.gameplay.add_trigger(Trigger(name="howl", on="howl", solve=Reach("home")))
    agent.gameplay.add_trigger(Trigger(name="hungry", on="hungry", solve=Build("meal")))
    agent.gameplay.begin(Know("x"))
    game.tick(3)
    agent.entity.signal("howl").emit(1)
    game.tick(1)
    game.take_log()
    agent.entity.signal("hungry").emit(1)
    game.tick(20)
    assert game.log == [(5, "Eat", "run"), (7, "Eat", "ends"), (7, "Main", "run"), (16, "Main", "ends")]


@pytest.mark.parametrize("is_paused", [True, False])
def test_a_request_that_is_told_to_begin_again_does_also_when_its_strategy_has_just_ended(game, way, is_paused):
    """A deadline of the author's own ends a strategy that stands still."""

    async def run(self, ctx, wanted):
        game.note("run")
        with move_on_after(0.2):
            await ctx.sleep(100)
        return 1

    agent = game.add(way("Main", Know, run=run, interruption=PAUSE))
    request = agent.gameplay.begin(Know("x"))
    game.tick(2)
    request.pause()
    game.tick(10)
    if is_paused:
        request.restart()
    request.resume()
    game.tick(10)
    assert request.outcome == "done"
    assert game.log == ([(1, "run"), (13, "run")] if is_paused else [(1, "run")])
