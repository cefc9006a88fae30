"""Protected arguments: what happens to an action when an entity that it was given is destroyed.

While it thinks, its thinking ends. When it is started and has not run yet, the plan is aborted. While it runs, nothing
happens: it may be the one that destroys it.
"""

from __future__ import annotations

import collections
import dataclasses

import pytest

from agentrt import PREV, Action, ActionArgs, CompoundAction, Entity, Signal, ThinkOutput, step
from agentrt.errors import ActivityImpossibleError, ArgumentError, WrongStateError
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_multiple_tasks


class Target(ActionArgs):
    target: Entity
    other: object = None


def plan(target, *steps, name="Plan", **body):
    return type(name, (CompoundAction,), {"does": "top", "utility": 0.5, "steps": steps, **body})


def user(play, *, does="use", thinks=50, runs=50, unprotect=(), protect=None, name="Use", destroys=None):
    class Use(Action):
        utility = 0.5
        Args = Target

        async def think(self, ctx, args):
            if "think" in unprotect:
                ctx.unprotect_argument(args.target)
            if protect is not None:
                ctx.protect_argument(protect)
            try:
                await ctx.sleep_ticks(thinks)
                ctx.set_think_output()
                await ctx.sleep(1000)
            finally:
                play.note(name, "think ends")

        def start(self, ctx, args):
            if "start" in unprotect:
                ctx.unprotect_argument(args.target)

        async def run(self, ctx, args):
            if destroys is not None:
                destroys.destroy()
            try:
                await ctx.sleep_ticks(runs)
            finally:
                play.note(name, "run ends")

        def stop(self, ctx, args):
            play.note(name, "stop")

    return type(name, (Use,), {"does": does})


def pause(ticks):
    async def run(self, ctx, args):
        await ctx.sleep_ticks(ticks)

    return type("Pause", (Action,), {"does": "pause", "utility": 0.5, "run": run})


@pytest.mark.states("001: protect_argument: All arguments are protected: destroyed while thinking, thinking ends")
def test_while_it_thinks_its_thinking_ends(play, idle):
    cow = Entity("cow")
    agent = play.add(plan(cow, step("use", target=cow)), user(play), idle)
    play.tick(2)
    cow.destroy()
    play.tick(1)
    assert play.details("reject") == [(2, "top/Plan/use/Use", "reject", {"reason": "the entity cow was destroyed"})]
    assert play.log == [(3, "Use", "think ends")]
    assert agent.snapshot().running == "top/Idle"
    assert play.trace("abort") == []


def test_while_it_is_ready_it_is_so_no_more(play):
    """A plan with a ready step and one that still thinks: the plan waits for another."""
    cow = Entity("cow")
    play.add(plan(cow, step("use", target=cow), step("wait")), user(play, thinks=0), slow())
    play.tick(2)
    cow.destroy()
    play.tick(1)
    assert play.trace("reject", "unready") == [(2, "top/Plan/use/Use", "unready"), (2, "top/Plan/use/Use", "reject")]


def slow():
    async def think(self, ctx, args):
        await ctx.sleep_ticks(50)
        ctx.set_think_output()

    return type("Slow", (Action,), {"does": "wait", "utility": 0.5, "think": think})


def test_the_plan_around_it_chooses_again(play):
    """Its argument is gone, so it counts as a rejection: the plan thinks again and takes what is still there."""
    cows = [Entity("cow", id=1), Entity("cow", id=2)]

    class Find(Action):
        does = "find"
        utility = 0.5

        class Output(ThinkOutput):
            cow: Entity

        async def think(self, ctx, args):
            ctx.set_think_output(cow=next(cow for cow in cows if not cow.is_destroyed))

    play.add(plan(None, step("find"), step("use", target=PREV.cow)), Find, user(play, thinks=3))
    play.tick(2)
    cows[0].destroy()
    play.tick(5)
    assert play.trace("reject", "think", "run")[3:] == [
        (2, "top/Plan/use/Use", "reject"),
        (4, "top/Plan", "think"),
        (4, "top/Plan/find/Find", "think"),
        (4, "top/Plan/use/Use", "think"),
        (7, "top/Plan", "run"),
        (7, "top/Plan/find/Find", "run"),
        (7, "top/Plan/use/Use", "run"),
    ]


@pytest.mark.states(
    "001: protect_argument: (decided) Destroyed after the start and before the run, the plan is aborted; while it "
    "runs, nothing happens",
)
def test_started_and_not_running_yet_aborts_the_plan(play):
    cow = Entity("cow")
    play.add(plan(cow, step("pause"), step("use", target=cow)), pause(9), user(play, thinks=0))
    play.tick(3)
    cow.destroy()
    play.tick(1)
    assert play.details("abort") == [(3, "top/Plan/use/Use", "abort", {"reason": "the entity cow was destroyed"})]
    assert play.log == [(1, "Use", "think ends"), (4, "Use", "stop")]


@pytest.mark.states("001: protect_argument: (decided) Destroyed after the start and before the run, the plan is ...")
def test_while_it_runs_nothing_happens(play):
    cow = Entity("cow")
    play.add(plan(cow, step("use", target=cow)), user(play, thinks=0, runs=5))
    play.tick(3)
    cow.destroy()
    play.tick(3)
    assert play.trace("abort") == []
    assert play.trace("complete") == [(6, "top", "complete")]


def test_a_finished_step_is_not_concerned(play):
    cow = Entity("cow")
    play.add(plan(cow, step("use", target=cow), step("pause")), pause(9), user(play, thinks=0, runs=2))
    play.tick(5)
    cow.destroy()
    play.tick(7)
    assert play.trace("abort") == []
    assert play.trace("complete") == [(12, "top", "complete")]


@pytest.mark.states("001: unprotect_argument: An action may destroy its own argument")
def test_it_may_destroy_it_itself(play):
    cow = Entity("cow")
    play.add(plan(cow, step("use", target=cow)), user(play, thinks=0, runs=2, destroys=cow))
    play.tick(3)
    assert play.trace("abort") == []
    assert play.trace("complete") == [(3, "top", "complete")]


def test_the_compound_itself_is_protected_while_it_thinks_and_not_while_it_runs(play, idle):
    cow = Entity("cow")
    inner = plan(cow, step("pause"), name="Inner", does="inner", Args=Target)
    play.add(plan(cow, step("inner", target=cow)), inner, pause(5), idle)
    play.tick(2)
    cow.destroy()
    play.tick(3)
    assert play.trace("abort", "reject") == []


@pytest.mark.parametrize("when", ["think", "start"])
def test_unprotected_it_goes_on(play, when):
    cow = Entity("cow")
    play.add(
        plan(cow, step("pause"), step("use", target=cow)), pause(5), user(play, thinks=1, runs=3, unprotect=(when,))
    )
    play.tick(3)
    cow.destroy()
    play.tick(9)
    assert play.trace("abort") == []
    assert play.trace("complete") == [(10, "top", "complete")]


@pytest.mark.states("001: unprotect_argument: unprotect_argument")
def test_unprotected_while_it_thinks(play):
    cow = Entity("cow")
    play.add(plan(cow, step("use", target=cow)), user(play, thinks=4, runs=3, unprotect=("think",)))
    play.tick(2)
    cow.destroy()
    play.tick(6)
    assert play.trace("reject", "complete")[0] == (8, "top", "complete")


def test_unprotecting_concerns_that_action_alone(play):
    """Of two actions for the same activity one does not mind."""
    cow = Entity("cow")
    play.add(
        plan(cow, step("use", target=cow)),
        user(play, name="Minds", thinks=2),
        user(play, name="DoesNotMind", thinks=4, unprotect=("think",)),
    )
    play.tick(2)
    cow.destroy()
    play.tick(4)
    assert play.trace("reject", "start") == [
        (2, "top/Plan/use/Minds", "reject"),
        (5, "top/Plan", "start"),
        (5, "top/Plan/use/DoesNotMind", "start"),
    ]


@pytest.mark.states("001: protect_argument: protect_argument for other entities")
def test_another_entity_can_be_protected(play, idle):
    cow, barn = Entity("cow"), Entity("barn")
    play.add(plan(cow, step("use", target=cow)), user(play, protect=barn), idle)
    play.tick(2)
    barn.destroy()
    play.tick(1)
    assert play.details("reject") == [(2, "top/Plan/use/Use", "reject", {"reason": "the entity barn was destroyed"})]


def test_that_protection_ends_with_its_thinking(play, leaf):
    """It was protected in a thinking that is over; the next thinking has nothing to do with it."""
    barn = Entity("barn")

    class Once(Action):
        does = "top"
        utility = 0.9
        asks = "with each plan"

        async def think(self, ctx, args):
            if ctx.clock.tick == 1:
                ctx.protect_argument(barn)
                await ctx.sleep(1000)
            await ctx.sleep_ticks(3)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep(1000)

    play.add(Once, leaf("Short", 0.1, run=2, quiet=True), leaf("Long", 0.2, does="top", think=4, run=50, quiet=True))
    play.tick(4)
    barn.destroy()
    play.tick(4)
    assert play.trace("reject") == []
    assert len(barn.destroyed._connections or ()) == 0


def test_a_thing_of_any_type_with_a_destroyed_signal_is_protected(play, idle):
    class Crate:
        def __init__(self):
            self.destroyed = Signal()
            self.name = "crate 7"

    crate = Crate()
    play.add(plan(None, step("use", target=Entity("cow"), other=crate)), user(play), idle)
    play.tick(2)
    crate.destroyed.emit()
    assert play.details("reject") == [(2, "top/Plan/use/Use", "reject", {"reason": "the entity crate 7 was destroyed"})]


def test_a_thing_with_another_kind_of_destroyed_is_left_alone(play):
    class Wall:
        destroyed = False

    play.add(plan(None, step("use", target=Entity("cow"), other=Wall())), user(play, thinks=0))
    play.tick(1)
    assert play.trace("run")[-1] == (1, "top/Plan/use/Use", "run")


def test_an_entity_that_is_gone_before_thinking_begins_is_as_good_as_rejected(play, idle):
    """Nobody is asked; the plan around it chooses again, with back-off."""
    cow = Entity("cow")
    cow.destroy()
    agent = play.add(plan(cow, step("use", target=cow)), user(play, thinks=0), idle)
    play.tick(3)
    assert play.details("reject") == [
        (tick, "top/Plan/use", "reject", {"reason": "the entity cow is destroyed"}) for tick in (1, 2, 3)
    ]
    assert play.trace("think") == [(tick, "top/Plan", "think") for tick in (1, 2, 3)]
    assert agent.snapshot().running == "top/Idle"


def test_nothing_stays_connected(play):
    cow = Entity("cow")
    play.add(plan(cow, step("use", target=cow)), user(play, thinks=1, runs=2))
    play.tick(20)
    play.close()
    assert not cow.destroyed._connections


def test_destroyed_by_its_own_think(play, idle):
    """It takes its own argument away in its first step: its thinking ends, whatever it does then."""
    cow = Entity("cow")

    class Odd(Action):
        does = "use"
        utility = 0.5
        Args = Target

        async def think(self, ctx, args):
            cow.destroy()
            ctx.set_think_output()
            play.note("goes on until its next wait")
            try:
                await ctx.sleep_ticks(5)
            finally:
                play.note("ends")

        def stop_thinking(self, ctx, args):
            play.note("stop_thinking")

    agent = play.add(plan(cow, step("use", target=cow)), Odd, idle)
    play.tick(1)
    assert play.log == [(1, "stop_thinking"), (1, "goes on until its next wait"), (1, "ends")]
    assert agent.snapshot().running == "top/Idle"


def test_destroyed_while_it_executes(play):
    """An executed activity's argument, while that thinks: nobody can do it any more, and the caller is told."""
    cow = Entity("cow")

    class Top(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            try:
                await ctx.execute("use", target=cow)
            except ActivityImpossibleError:
                play.note("impossible")
            await ctx.sleep(1000)

    play.add(Top, user(play, thinks=50))
    play.tick(2)
    cow.destroy()
    play.tick(1)
    assert play.log == [(3, "Use", "think ends"), (3, "impossible")]


# --- gone already -----------------------------------------------------------------------------------------------------


def gone(name):
    entity = Entity("thing", name=name)
    entity.destroy()
    return entity


class Thing:
    """Somebody's own type, with a signal and nothing else that would tell."""

    def __init__(self, name="thing"):
        self.name = name
        self.destroyed = Signal()


def destroyed_thing(name="thing"):
    thing = Thing(name)
    thing.destroyed.emit()
    return thing


@pytest.mark.states(
    "001: protect_argument: (decided) An entity that is gone when it is to be protected is the loss at once, each "
    "time it is thought",
)
@pytest.mark.parametrize("make", [gone, destroyed_thing])
def test_what_is_gone_is_lost_at_once_and_again_when_it_is_thought_again(play, idle, make):
    barn = make("barn")
    short = type("Short", (idle,), {"run": pause(3).run})

    class Use(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            play.note("think")
            ctx.protect_argument(barn)
            ctx.set_think_output()  # too late
            await ctx.sleep_ticks(1)
            play.note("not reached")

        def stop_thinking(self, ctx, args):
            play.note("stop_thinking")

    agent = play.add(Use, short)
    play.tick(5)
    assert play.log == [(1, "think"), (1, "stop_thinking"), (4, "think"), (4, "stop_thinking")]
    assert agent.snapshot().plan.units[0].reason == "rejected: the entity barn was destroyed"
    assert agent.snapshot().running == "top/Short"


@pytest.mark.slow
def test_a_thing_that_says_that_it_is_there_again_is_there(play):
    """A pool of things, which are destroyed and used again."""
    thing = destroyed_thing()
    thing.is_destroyed = False
    play.add(plan(None, step("use", target=Entity("cow"), other=thing)), user(play, thinks=0, protect=thing))
    play.tick(1)
    assert play.trace("run")[-1] == (1, "top/Plan/use/Use", "run")


def test_what_does_not_answer_is_no_entity(play):
    class Odd:
        @property
        def destroyed(self):
            raise RuntimeError("not yet")

    class Odder(Thing):
        @property
        def is_destroyed(self):
            raise RuntimeError("not yet")

        @property
        def name(self):
            raise RuntimeError("not yet")

        @name.setter
        def name(self, name):
            pass

    class Method(Thing):
        def is_destroyed(self):
            raise AssertionError("nobody calls what nobody knows")

    things = [Odd(), Odder(), Method()]
    play.add(plan(None, step("use", target=Entity("cow"), other=things)), user(play, thinks=0, protect=things))
    play.tick(1)
    assert play.trace("run")[-1] == (1, "top/Plan/use/Use", "run")


@pytest.mark.states("001: protect_argument: (decided) An entity that is gone when it is to be protected is the ...")
@pytest.mark.parametrize("hook", ["start", "stop_thinking", "callback", "on_reject", "candidates", "late"])
def test_in_whichever_hook_it_is_to_be_protected(play, idle, hook):
    """While it thinks or is ready that is a rejection; from its start on, it is an abort."""
    barn, bell = gone("barn"), Signal()

    class Use(Action):
        does = "use"
        utility = 0.9

        async def think(self, ctx, args):
            ctx.listen(bell, lambda _: self.protect(ctx, "callback"))
            ctx.candidates(self.choices(ctx))
            bell.emit()
            await ctx.sleep_ticks(1 if hook == "late" else 1000)
            self.protect(ctx, "late")

        def protect(self, ctx, here):
            if hook == here:
                ctx.protect_argument(barn)

        def choices(self, ctx):
            self.protect(ctx, "candidates")
            yield {}

        def on_reject(self, ctx, args, reason):
            self.protect(ctx, "on_reject")

        def start(self, ctx, args):
            self.protect(ctx, "start")

        def stop_thinking(self, ctx, args):
            self.protect(ctx, "stop_thinking")

        async def run(self, ctx, args):
            play.note("not reached")

    class No(Action):
        does = "no"
        utility = 0.5

        class Args(ActionArgs):
            target: object

        async def think(self, ctx, args):
            if hook == "on_reject":
                ctx.reject("no")
            await ctx.sleep_ticks(5 if hook == "late" else 0)
            ctx.set_think_output()

    agent = play.add(plan(None, step("use"), step("no", target=PREV)), Use, No, idle)
    play.tick(3)
    assert play.log == []
    if hook in ("start", "stop_thinking"):
        assert play.details("abort")[0] == (
            1,
            "top/Plan/use/Use",
            "abort",
            {"reason": "the entity barn was destroyed"},
        )
    else:
        assert play.details("reject")[-1][1:] == (
            "top/Plan/use/Use",
            "reject",
            {"reason": "the entity barn was destroyed"},
        )
        assert agent.snapshot().running == "top/Idle"
    assert not barn.destroyed._connections


def test_where_nothing_is_protected_nothing_is_lost(play, leaf):
    """In a filter, and once it runs, for good reasons."""
    barn = gone("barn")

    class Use(Action):
        does = "top"
        utility = 0.9

        def should_start_thinking(self, ctx, args):
            ctx.protect_argument(barn)
            return True

        async def run(self, ctx, args):
            with pytest.raises(WrongStateError):
                ctx.protect_argument(barn)
            await ctx.sleep(1000)

    agent = play.add(Use)
    play.tick(2)
    assert agent.snapshot().running == "top/Use"


@pytest.mark.states("001: protect_argument: (decided) An entity that is gone when it is to be protected is the ...")
def test_an_argument_that_went_while_an_action_did_not_think_is_lost_when_it_begins_to(play):
    """It could not beat what runs, until that is worth less; by then the argument is gone."""
    cow = Entity("cow")

    class First(Action):
        does = "use"
        utility = (0.1, 0.9)
        Args = Target

        async def think(self, ctx, args):
            ctx.set_utility(1.0)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(4)
            ctx.set_utility(0.0)
            await ctx.sleep_ticks(4)

    class Second(Action):
        does = "use"
        utility = 0.5
        Args = Target

        async def think(self, ctx, args):
            play.note("Second thinks")
            await ctx.sleep(1000)

    class Third(Action):
        does = "use"
        utility = 0.4
        Args = Target

    play.add(plan(cow, step("use", target=cow)), First, Second, Third)
    play.tick(2)
    cow.destroy()
    play.tick(4)
    assert play.log == [(1, "Second thinks")]
    assert play.details("reject") == [
        (5, f"top/Plan/use/{name}", "reject", {"reason": "the entity cow was destroyed"})
        for name in ("Second", "Third")
    ]
    play.tick(4)
    assert play.trace("complete") == [(9, "top", "complete")]


def test_one_that_goes_between_the_answer_and_the_start(play, idle):
    """The start of the step before destroys it."""
    cow = Entity("cow")
    first = type("First", (Action,), {"does": "first", "utility": 0.5, "start": lambda *_: cow.destroy()})
    play.add(plan(cow, step("first"), step("use", target=cow)), first, user(play, thinks=0), idle)
    play.tick(1)
    assert play.trace("reject", "refused", "run") == [
        (1, "top/Plan/use/Use", "reject"),
        (1, "top/Plan", "refused"),
        (1, "top/Idle", "run"),
    ]


# --- inside of other things -------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Herd:
    first: object
    others: tuple = ()
    count: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Pair:
    left: object
    right: object = None


class Pen(ThinkOutput):
    animals: list


def nested(entity, levels):
    for _ in range(levels):
        entity = [entity]
    return entity


def in_a_circle(entity):
    circle = [entity]
    circle.append({"circle": circle})
    return circle


HOLDERS = {
    "list": lambda cow: [None, cow],
    "tuple": lambda cow: (1, cow),
    "set": lambda cow: {cow, Entity("hen")},
    "frozenset": lambda cow: frozenset({cow}),
    "dict": lambda cow: {"first": cow},
    "keys": lambda cow: {cow: 1},
    "named tuple": lambda cow: collections.namedtuple("Two", "a b")(1, cow),
    "dataclass": Herd,
    "frozen dataclass": lambda cow: Pair("a", cow),
    "record": lambda cow: Pen(animals=[cow]),
    "all of them": lambda cow: [{"a": Herd(1, ({"b": frozenset({Pair(cow)})},))}],
    "deep": lambda cow: nested(cow, 8),
    "circle": in_a_circle,
    "among numbers": lambda cow: [*range(5000), cow],
}


@pytest.mark.states("001: protect_argument: (ours) So are entities inside lists, tuples, sets, dicts and dataclasses")
@pytest.mark.parametrize("make", HOLDERS.values(), ids=HOLDERS)
@pytest.mark.parametrize("protect", ["argument", "by value", "by name"])
def test_an_entity_inside_of_something_is_protected_like_others(play, idle, make, protect):
    cow = Entity("cow")
    held = make(cow)

    class Use(Action):
        does = "use"
        utility = 0.5
        Args = Target

        async def think(self, ctx, args):
            if protect == "by value":
                ctx.protect_argument(held)
            elif protect == "by name":
                ctx.unprotect_argument("other")
                ctx.protect_argument("other")
            await ctx.sleep_ticks(50)

    other = None if protect == "by value" else held
    agent = play.add(plan(None, step("use", target=Entity("barn"), other=other)), Use, idle)
    play.tick(2)
    cow.destroy()
    play.tick(1)
    assert play.details("reject")[0] == (2, "top/Plan/use/Use", "reject", {"reason": "the entity cow was destroyed"})
    assert agent.snapshot().running == "top/Idle"
    play.close()
    assert not cow.destroyed._connections


@pytest.mark.parametrize("make", HOLDERS.values(), ids=HOLDERS)
def test_unprotected_inside_of_something(play, make):
    cow = Entity("cow")

    class Use(Action):
        does = "use"
        utility = 0.5
        Args = Target

        async def think(self, ctx, args):
            ctx.unprotect_argument(args.other)
            await ctx.sleep_ticks(4)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(3)

    play.add(plan(None, step("use", target=Entity("barn"), other=make(cow))), Use)
    play.tick(2)
    cow.destroy()
    play.tick(6)
    assert play.trace("complete", "reject")[0] == (8, "top", "complete")


@pytest.mark.states("001: protect_argument: (ours) So are entities inside lists, tuples, sets, dicts and ...")
@pytest.mark.parametrize("make", HOLDERS.values(), ids=HOLDERS)
def test_inside_of_something_and_gone_before(play, idle, make):
    play.add(plan(None, step("use", target=Entity("barn"), other=make(gone("cow")))), user(play, thinks=0), idle)
    play.tick(1)
    assert play.details("reject") == [(1, "top/Plan/use", "reject", {"reason": "the entity cow is destroyed"})]


@pytest.mark.states("001: protect_argument: (ours) So are entities inside lists, tuples, sets, dicts and ...")
@pytest.mark.parametrize(
    "make",
    [
        lambda cow: nested(cow, 9),
        lambda cow: [*range(20_000), cow],
        lambda cow: {"the cow's own": [type("Owner", (Thing,), {"cow": cow})()]},
        lambda cow: type("Opaque", (), {"cow": cow})(),
        lambda cow: [[*range(4000)], [*range(4000)], [*range(4000)], [cow]],
    ],
    ids=["too deep", "too many", "inside of an entity", "in what nobody knows", "too many on a level"],
)
def test_there_is_an_end_to_looking_for_entities(play, make):
    cow = Entity("cow")
    play.add(plan(None, step("use", target=Entity("barn"), other=make(cow))), user(play, thinks=3, runs=2))
    play.tick(2)
    cow.destroy()
    play.tick(4)
    assert play.trace("complete", "reject")[0] == (6, "top", "complete")


def test_of_several_that_are_gone_the_first_by_name_is_told(play, idle):
    """Not the first of a set: its order is nobody's."""
    things = {gone("c"), gone("a"), gone("b"), Entity("d")}
    play.add(plan(None, step("use", target=Entity("barn"), other=things)), user(play, thinks=0), idle)
    play.tick(1)
    assert play.details("reject") == [(1, "top/Plan/use", "reject", {"reason": "the entity a is destroyed"})]


def test_a_task_with_an_entity_inside_of_its_arguments(play, idle):
    """It can never be done when that is gone: it is destroyed, as for an argument that is one."""
    cows = [Entity("cow", id=1), Entity("cow", id=2)]
    body = {"does": "top", "utility": 0.9, "tasks": [declare_multiple_tasks("use", 0.5)]}
    group = TaskGroup(type("Group", (TaskGroupAction,), body))
    agent = play.add(user(play, thinks=90), idle)
    group.add(agent)
    task = group.create_task("use", target=Entity("barn"), other=cows).start()
    play.tick(2)
    cows[1].destroy()
    play.tick(1)
    assert str(task.state) == "destroyed"
    with pytest.raises(ArgumentError, match="<Entity 'cow 2', destroyed> is destroyed already"):
        group.create_task("use", target=Entity("barn"), other=cows)
