"""Rejection: arguments that cannot be used, the plan that chooses again, its back-off; and refusals in start."""

from __future__ import annotations

from itertools import pairwise

import pytest

from agentrt import PREV, Action, ActionArgs, CompoundAction, Entity, Event, Signal, ThinkOutput, step
from agentrt.body import LeaseBook


class Thing(ActionArgs):
    thing: str


def finder(play, things):
    class Find(Action):
        does = "find"
        utility = 0.5

        class Output(ThinkOutput):
            thing: str

        async def think(self, ctx, args):
            thing = next(things)
            play.note("found", thing)
            ctx.set_think_output(thing=thing)

    return Find


def reserver(play, good, *, name="Reserve", utility=0.5):
    class Reserve(Action):
        Args = Thing

        async def think(self, ctx, args):
            if args.thing != good:
                ctx.reject(f"{args.thing} is taken")
            ctx.set_think_output()

        async def run(self, ctx, args):
            play.note("has", args.thing)
            await ctx.sleep(1000)

    return type(name, (Reserve,), {"does": "reserve", "utility": utility})


class FindAndReserve(CompoundAction):
    does = "top"
    utility = 0.5
    steps = [step("find"), step("reserve", thing=PREV.thing)]


@pytest.mark.states("001: reject: reject by all actions of a step: the compound thinks again after 20 ms, as a whole")
def test_the_plan_thinks_again_after_20_ms_and_chooses_something_else(play):
    """The classic use, at 20 ticks a second: 20 ms is one tick."""
    play.add(FindAndReserve, finder(play, iter(["cow", "pig"])), reserver(play, "pig"))
    play.tick(2)
    assert play.log == [(1, "found", "cow"), (2, "found", "pig"), (2, "has", "pig")]
    assert play.trace()[:9] == [
        (1, "top/FindAndReserve", "think"),
        (1, "top/FindAndReserve/find/Find", "think"),
        (1, "top/FindAndReserve/find/Find", "ready"),
        (1, "top/FindAndReserve/find", "elect"),
        (1, "top/FindAndReserve/reserve/Reserve", "think"),
        (1, "top/FindAndReserve/reserve/Reserve", "reject"),
        (1, "top/FindAndReserve/reserve/Reserve", "stop_thinking"),
        (2, "top/FindAndReserve/find/Find", "stop_thinking"),
        (2, "top/FindAndReserve", "stop_thinking"),
    ]
    assert play.details("reject") == [(1, "top/FindAndReserve/reserve/Reserve", "reject", {"reason": "cow is taken"})]


def always(thing):
    while True:
        yield thing


@pytest.mark.states(
    "001: reject: A loop of rejections does not harm: (decided) each repeat waits twice as long, up to 2 s",
)
def test_each_repeat_waits_twice_as_long_up_to_2_seconds(stage):
    """At 1,000 ticks a second: 20, 40, 80, ... 1280, 2000, 2000 ms; a storm is told from the fifth on."""
    play = stage(0, ticks_per_second=1000)
    play.add(FindAndReserve, finder(play, always("cow")), reserver(play, "pig"))
    play.tick(7000)
    ticks = [entry[0] for entry in play.log]
    assert [after - before for before, after in pairwise(ticks)] == [
        20,
        40,
        80,
        160,
        320,
        640,
        1280,
        2000,
        2000,
    ]
    assert [(one[0], one[3]["delay"]) for one in play.details("storm")] == [
        (301, 0.32),
        (621, 0.64),
        (1261, 1.28),
        (2541, 2.0),
        (4541, 2.0),
        (6541, 2.0),
    ]
    play.close()


def test_after_a_success_it_begins_at_20_ms_again(stage):
    play = stage(0, ticks_per_second=1000)

    class Reserve(Action):
        does = "reserve"
        utility = 0.5
        Args = Thing

        async def think(self, ctx, args):
            if args.thing != "pig":
                ctx.reject("taken")
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(5)

    play.add(FindAndReserve, finder(play, iter(["a", "b", "c", "pig", "d", "e", "pig"])), Reserve)
    play.tick(250)
    ticks = [entry[0] for entry in play.log]
    assert [after - before for before, after in pairwise(ticks)] == [20, 40, 80, 5, 20, 40]
    play.close()


@pytest.mark.states("001: reject: Not if one of them can")
def test_all_of_them_have_to_reject(play):
    """One of two can use it: no reason to choose again."""
    play.add(
        FindAndReserve,
        finder(play, iter(["cow"])),
        reserver(play, "pig", name="Fussy", utility=0.9),
        reserver(play, "cow", name="Easy", utility=0.1),
    )
    play.tick(3)
    assert play.log == [(1, "found", "cow"), (1, "has", "cow")]


@pytest.mark.states("001: reject: Not if one of them can ...")
def test_one_that_still_thinks_is_waited_for(play):
    gate = Event()

    class Waits(Action):
        does = "reserve"
        utility = 0.5
        Args = Thing

        async def think(self, ctx, args):
            await gate.wait()
            ctx.reject("not this either")

    play.add(FindAndReserve, finder(play, iter(["cow", "pig"])), reserver(play, "pig"), Waits)
    play.tick(5)
    assert play.log == [(1, "found", "cow")]
    gate.set()
    play.tick(2)
    assert play.log[1:] == [(7, "found", "pig"), (7, "has", "pig")]


@pytest.mark.states("001: reject: (decided) It is enough that none is left and one of them rejected")
@pytest.mark.parametrize("first", [True, False])
def test_one_that_is_not_possible_does_not_keep_the_others_from_being_heard(play, first):
    """Nobody is left, and one of them blamed the arguments: whichever came first."""

    class Unable(Action):
        does = "reserve"
        utility = 0.5
        Args = Thing

        async def think(self, ctx, args):
            await ctx.sleep_ticks(0 if first else 2)

    play.add(FindAndReserve, finder(play, iter(["cow", "pig"])), reserver(play, "pig"), Unable)
    play.tick(5)
    assert play.log[-1][1:] == ("has", "pig")


@pytest.mark.states("001: reject: (decided) It is enough that none is left and one of them rejected ...")
def test_all_unable_and_none_rejecting_is_no_rejection(play):
    class Unable(Action):
        does = "reserve"
        utility = 0.5
        Args = Thing

        async def think(self, ctx, args):
            """Not possible now."""

    play.add(FindAndReserve, finder(play, iter(["cow", "pig"])), Unable)
    play.tick(20)
    assert play.log == [(1, "found", "cow")]


def test_a_rejection_after_it_was_ready(play):
    """The plan is ready and not elected; what it has chosen is taken by somebody else."""
    gate = Event()

    class Reserve(Action):
        does = "reserve"
        utility = 0.5
        Args = Thing

        async def think(self, ctx, args):
            ctx.set_think_output()
            await gate.wait()
            if args.thing == "cow":
                ctx.reject("just taken")
            await ctx.sleep(1000)

    class Waits(Action):
        does = "wait"
        utility = 0.5

        async def think(self, ctx, args):
            await ctx.sleep_ticks(6)
            ctx.set_think_output()

    class Plan(FindAndReserve):
        steps = [*FindAndReserve.steps, step("wait")]

    play.add(Plan, finder(play, iter(["cow", "pig"])), Reserve, Waits)
    play.tick(2)
    gate.set()
    play.tick(7)
    assert play.log == [(1, "found", "cow"), (4, "found", "pig")]


def test_a_rejection_from_a_callback(play, idle):
    signal = Signal()

    class Reserve(Action):
        does = "reserve"
        utility = 0.5
        Args = Thing

        async def think(self, ctx, args):
            ctx.listen(signal, lambda value: ctx.reject(value))
            await ctx.sleep(1000)

    play.add(FindAndReserve, finder(play, iter(["cow", "pig"])), Reserve, idle)
    play.tick(2)
    signal.emit("gone")
    play.tick(3)
    assert play.log == [(1, "found", "cow"), (4, "found", "pig")]
    assert play.details("reject") == [(2, "top/FindAndReserve/reserve/Reserve", "reject", {"reason": "gone"})]


@pytest.mark.states("001: reject: The nearest compound thinks again, and not those around it")
def test_the_nearest_plan_thinks_again_and_not_those_around_it(play):
    class Outer(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("note"), step("inner")]

    class Inner(FindAndReserve):
        does = "inner"

    class Note(Action):
        does = "note"
        utility = 0.5

        async def think(self, ctx, args):
            play.note("outer thinks")
            ctx.set_think_output()

    play.add(Outer, Inner, Note, finder(play, iter(["cow", "pig"])), reserver(play, "pig"))
    play.tick(2)
    assert play.log == [(1, "outer thinks"), (1, "found", "cow"), (2, "found", "pig"), (2, "has", "pig")]


def test_at_the_root_nobody_could_choose_otherwise(play, idle):
    class Rejects(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            play.note("think")
            ctx.reject("no")

    agent = play.add(Rejects, idle)
    play.tick(20)
    assert play.log == [(1, "think")]
    assert agent.snapshot().running == "top/Idle"


@pytest.mark.states("001: reject: A loop of rejections does not harm: (decided) each repeat waits twice as long ...")
def test_a_rejecting_plan_does_not_keep_the_agent_from_something_else(play, idle):
    agent = play.add(FindAndReserve, finder(play, always("cow")), reserver(play, "pig"), idle)
    play.tick(3)
    assert agent.snapshot().running == "top/Idle"


def test_reject_in_run_is_an_abort(play):
    class Wrong(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            ctx.reject("too late")

    play.add(Wrong)
    play.tick(1)
    assert play.details("abort") == [(1, "top/Wrong", "abort", {"reason": "run raised Reject: too late"})]
    assert len(play.faults()) == 1


# --- refusals in start ------------------------------------------------------------------------------------------------


def refuser(play, *, until=None, utility=0.9, does="top", name="Refuser", think=False):
    """Refuses to be started before a tick; None for ever."""

    class Refuser(Action):
        def start(self, ctx, args):
            play.note(name, "start")
            if until is None or ctx.clock.tick < until:
                ctx.reject("just taken")

        async def run(self, ctx, args):
            play.note(name, "run")
            await ctx.sleep(1000)

        def stop_thinking(self, ctx, args):
            play.note(name, "stop_thinking")

        def stop(self, ctx, args):
            play.note(name, "stop")

    body = {"does": does, "utility": utility}
    if think:

        async def thinking(self, ctx, args):
            play.note(name, "think")
            ctx.set_think_output()

        body["think"] = thinking
    return type(name, (Refuser,), body)


@pytest.mark.states(
    "001: start: (decided) It may also refuse with reject: the next best takes its place, and nothing is aborted",
)
def test_the_next_best_takes_its_place_in_the_same_tick(play, leaf):
    agent = play.add(refuser(play), leaf("Second", 0.5, run=50))
    play.tick(1)
    assert play.log == [
        (1, "Refuser", "start"),
        (1, "Refuser", "stop_thinking"),
        (1, "Refuser", "stop"),
        (1, "Second", "start"),
        (1, "Second", "stop_thinking"),
        (1, "Second", "run"),
    ]
    assert play.details("refused") == [(1, "top/Refuser", "refused", {"reason": "just taken"})]
    assert agent.snapshot().aborts == 0
    assert [unit.state for unit in agent.snapshot().plan.units] == ["impossible", "running"]


def test_with_nobody_else_it_is_asked_again_with_back_off(stage):
    play = stage(0, ticks_per_second=1000)
    agent = play.add(refuser(play))
    play.tick(3000)
    ticks = [entry[0] for entry in play.log if entry[2] == "start"]
    assert [after - before for before, after in pairwise(ticks)] == [
        20,
        40,
        80,
        160,
        320,
        640,
        1280,
    ]
    assert agent.is_alive
    assert agent.snapshot().aborts == 0
    assert [one[0] for one in play.details("storm")] == [301, 621, 1261, 2541]
    play.close()


def test_it_gets_its_turn_when_it_does_not_refuse_any_more(play, leaf):
    """Something worse runs meanwhile, and is preempted then."""
    play.add(refuser(play, until=2, think=True), leaf("Second", 0.5, run=50))
    play.tick(3)
    assert play.log == [
        (1, "Refuser", "think"),
        (1, "Refuser", "start"),
        (1, "Refuser", "stop_thinking"),
        (1, "Refuser", "stop"),
        (1, "Second", "start"),
        (1, "Second", "stop_thinking"),
        (1, "Second", "run"),
        (2, "Refuser", "think"),
        (2, "Second", "run ends"),
        (2, "Second", "stop"),
        (2, "Refuser", "start"),
        (2, "Refuser", "stop_thinking"),
        (2, "Refuser", "run"),
    ]


def test_what_it_preempted_in_vain_goes_on(play, leaf):
    """The refusal comes when the old one is stopped already: it starts again in the same tick, and nothing is aborted."""
    agent = play.add(refuser(play), leaf("Second", 0.5, run=50))
    play.tick(2)
    assert play.trace("preempt", "refused", "start", "stop", "abort", since=2) == [
        (2, "top/Second", "preempt"),
        (2, "top/Second", "stop"),
        (2, "top/Refuser", "start"),
        (2, "top/Refuser", "refused"),
        (2, "top/Refuser", "stop"),
        (2, "top/Second", "start"),
    ]
    assert agent.snapshot().aborts == 0


def test_in_a_step_the_next_best_of_the_step(play, leaf, compound):
    play.add(
        compound("Plan", step("a"), step("b"), quiet=True),
        leaf("A", does="a", quiet=True),
        refuser(play, does="b"),
        leaf("B", does="b", quiet=True),
    )
    play.tick(1)
    assert play.trace("start", "stop") == [
        (1, "top/Plan", "start"),
        (1, "top/Plan/a/A", "start"),
        (1, "top/Plan/b/Refuser", "start"),
        (1, "top/Plan/b/Refuser", "stop"),
        (1, "top/Plan/b/B", "start"),
    ]


def test_in_a_step_with_nobody_else_the_whole_plan_is_refused(play, leaf, compound):
    """What was started of it is stopped; the next best plan takes its place; the refused one is asked again."""
    play.add(
        compound("Plan", step("a"), step("b"), utility=0.9),
        leaf("A", does="a"),
        refuser(play, does="b", until=2),
        leaf("Other", 0.5, run=50, quiet=True),
    )
    play.tick(2)
    assert play.trace("start", "stop", "refused", "run") == [
        (1, "top/Plan", "start"),
        (1, "top/Plan/a/A", "start"),
        (1, "top/Plan/b/Refuser", "start"),
        (1, "top/Plan/b/Refuser", "refused"),
        (1, "top/Plan/b/Refuser", "stop"),
        (1, "top/Plan", "refused"),
        (1, "top/Plan/a/A", "stop"),
        (1, "top/Plan", "stop"),
        (1, "top/Other", "start"),
        (1, "top/Other", "run"),
        (2, "top/Other", "stop"),
        (2, "top/Plan", "start"),
        (2, "top/Plan/a/A", "start"),
        (2, "top/Plan/b/Refuser", "start"),
        (2, "top/Plan", "run"),
        (2, "top/Plan/a/A", "run"),
    ]
    assert play.details("refused")[1] == (1, "top/Plan", "refused", {"reason": "step 2 (b) was refused"})


def test_a_step_that_is_read_later_is_not_exchanged(play, compound, leaf):
    """Another action for it would have given another output: the plan is refused."""

    class Give(Action):
        refuses = False

        class Output(ThinkOutput):
            thing: str

        async def think(self, ctx, args):
            ctx.set_think_output(thing=self.name)

        def start(self, ctx, args):
            if self.refuses:
                ctx.reject("no")

    def give(label, utility, *, refuses):
        return type(label, (Give,), {"does": "give", "utility": utility, "refuses": refuses})

    class Use(Action):
        does = "use"
        utility = 0.5
        Args = Thing

    play.add(
        compound("Plan", step("give"), step("use", thing=PREV.thing), quiet=True),
        give("First", 0.9, refuses=True),
        give("Second", 0.5, refuses=False),
        Use,
    )
    play.tick(1)
    assert play.trace("start", "refused") == [
        (1, "top/Plan", "start"),
        (1, "top/Plan/give/First", "start"),
        (1, "top/Plan/give/First", "refused"),
        (1, "top/Plan", "refused"),
    ]


def test_a_better_action_for_a_running_step_that_refuses(play, leaf, compound):
    """The step goes on with the action that it had; the plan is not aborted."""

    class Better(Action):
        does = "long"
        utility = 0.9

        async def think(self, ctx, args):
            if ctx.clock.tick > 4:
                return
            await ctx.sleep_ticks(2)
            ctx.set_think_output()

        def start(self, ctx, args):
            ctx.reject("no")

    agent = play.add(
        compound("Plan", step("long"), step("last"), quiet=True),
        leaf("Long", 0.5, does="long", run=5, quiet=True),
        Better,
        leaf("Last", does="last", run=2, quiet=True),
    )
    play.tick(8)
    assert play.trace("preempt", "refused", "start", "run", "abort", "finish")[5:] == [
        (3, "top/Plan/long/Long", "preempt"),
        (3, "top/Plan/long/Better", "start"),
        (3, "top/Plan/long/Better", "refused"),
        (3, "top/Plan/long/Long", "start"),
        (3, "top/Plan/long/Long", "run"),
        (6, "top/Plan/long/Long", "preempt"),
        (6, "top/Plan/long/Better", "start"),
        (6, "top/Plan/long/Better", "refused"),
        (6, "top/Plan/long/Long", "start"),
        (6, "top/Plan/long/Long", "run"),
    ]
    assert agent.snapshot().aborts == 0


def test_one_lease_and_two_agents(play):
    """Both elect the same item in the same tick: the first gets it, the second is refused and does something else."""
    book = LeaseBook()
    item = Entity("log")

    class Take(Action):
        does = "top"
        utility = 0.9

        def start(self, ctx, args):
            self.lease = book.acquire(item, ctx.agent)
            if self.lease is None:
                ctx.reject(f"held by {book.holder(item).name}")

        async def run(self, ctx, args):
            await ctx.sleep_ticks(4)

        def stop(self, ctx, args):
            if self.lease is not None:
                self.lease.release()

    class Stroll(Action):
        does = "top"
        utility = 0.1

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

    for name in ("a", "b"):
        play.add(Take, Stroll, name=name)
    play.tick(3)
    assert play.trace("run") == [(1, "top/Take", "run")]
    assert play.details("refused", agent="b")[0] == (1, "top/Take", "refused", {"reason": "held by a"})
    assert all(path == "top/Stroll" for _, path, _ in play.trace("run", agent="b"))
