"""A context is a handle: a call through it concerns its own action, from wherever it is called, and only while it lasts.

Every caller there is calls ``ctx.abort`` or ``ctx.reject`` of agent *a*. The call returns to whoever made it, *a* is told in
the same tick (by the next intake if nothing is stepped), and agent *b* does to the letter what it does without the call.
"""

from __future__ import annotations

import asyncio
import math
import threading

import pytest

from agentrt import TOP, Action, Agent, CancelScope, Entity, Signal, next_tick
from agentrt.bridges import DriverAction
from agentrt.goals import Goal, GoalSelector

WHEN = 3  # the tick in which the call is made


class World:
    """Who calls whom: what the actions below look for."""

    def __init__(self, method):
        self.method = method
        self.ctx = None  # of the action of a
        self.returned = []  # the ticks in which the call returned
        self.bell = Signal()
        self.hook = ""  # in which hook of b it is called

    def call(self, *_):
        getattr(self.ctx, self.method)("gone")
        self.returned.append(self.ctx.clock.tick)

    def in_hook(self, hook, ctx):
        if self.hook == hook and ctx.clock.tick == WHEN and not self.returned:
            self.call()


class Holds(Action):
    """Of a: runs, or thinks, and keeps its context where others find it."""

    does = TOP
    utility = 0.5
    world: World

    async def think(self, ctx, args):
        if self.world.ctx is None:
            self.world.ctx = ctx
        if self.world.method == "reject":
            await ctx.sleep(100)
        ctx.set_think_output()

    async def run(self, ctx, args):
        while self.world.hook == "own listener" and ctx.clock.tick < WHEN:
            await ctx.next_tick()
        if self.world.hook == "own listener" and not self.world.returned:
            self.world.bell.emit()
            self.world.returned.append(ctx.clock.tick)
        await ctx.sleep(100)


class Busy(Action):
    """Of b: something in every tick, with all hooks."""

    does = TOP
    utility = (0.3, 0.5)
    world: World

    def should_start_thinking(self, ctx, args):
        self.world.in_hook("should_start_thinking", ctx)
        return True

    async def think(self, ctx, args):
        self.world.in_hook("think", ctx)
        ctx.listen(self.world.bell, lambda _: self.world.in_hook("listen", ctx))
        ctx.set_think_output()

    def start(self, ctx, args):
        self.world.in_hook("start", ctx)
        ctx.listen(self.world.bell, lambda _: self.world.in_hook("listen", ctx))

    def stop_thinking(self, ctx, args):
        self.world.in_hook("stop_thinking", ctx)

    async def run(self, ctx, args):
        self.world.in_hook("run", ctx)
        await ctx.next_tick()

    def stop(self, ctx, args):
        self.world.in_hook("stop", ctx)


class Calls(Goal):
    def __init__(self, world):
        super().__init__()
        self.world = world

    def can_use(self):
        if self.world.ctx is not None and self.world.ctx.clock.tick == WHEN and not self.world.returned:
            self.world.call()
        return False


def in_strand(world, runtime):
    async def stranger():
        while runtime.tick < WHEN:
            await next_tick()
        world.call()

    runtime.spawn(stranger)


def at_tick(world, runtime, fn):
    """Call a function within a tick, from the drivers' phase."""

    def look():
        if runtime.tick == WHEN and not world.returned:
            fn()

    runtime.kernel.every_tick(look)


def destroyed(world, runtime):
    thing = Entity("thing")
    thing.destroyed.connect(world.call)
    at_tick(world, runtime, thing.destroy)


def by_listener(world, runtime):
    world.bell.connect(world.call)
    at_tick(world, runtime, world.bell.emit)


def by_own_listener(world, runtime):
    """The action itself emits what its listener hears: that is contained in the middle of its own stack."""
    world.hook = "own listener"
    world.bell.connect(lambda _: world.ctx.abort("gone"))


def by_goal(world, runtime):
    agent = next(one for one in runtime.agents if one.name == "b")
    selector = GoalSelector()
    selector.add_goal(1, Calls(world))
    agent.attach(selector)


def by_hook(hook):
    def arrange(world, runtime):
        world.hook = hook
        if hook == "listen":
            at_tick(world, runtime, world.bell.emit)

    return arrange


INSIDE = {
    "strand": in_strand,
    "every_tick": lambda world, runtime: at_tick(world, runtime, world.call),
    "destroyed": destroyed,
    "listener": by_listener,
    "own listener": by_own_listener,
    **{
        f"b's {hook}": by_hook(hook)
        for hook in ("should_start_thinking", "think", "start", "stop_thinking", "run", "stop")
    },
    "b's listener": by_hook("listen"),
    "b's goal": by_goal,
}


def agents(world, runtime):
    kinds = [type(base.__name__, (base,), {"world": world}) for base in (Holds, Busy)]
    for name, kind in zip("ab", kinds, strict=True):
        runtime.add(Agent(Entity("being"), name=name, actions=[kind]))


def seen(records, agent):
    return [
        (one.tick, one.event.value, dict(one.detail).get("reason"))
        for one in records
        if one.agent == agent
        and one.event.value in ("think", "start", "run", "stop", "abort", "reject", "stop_thinking", "fault")
    ]


def live(play, method, arrange=None, between=None, ticks=6):
    world = World(method)
    runtime = play.runtime()
    faults, records = [], []
    runtime.on_fault(faults.append)
    runtime.trace.listen(records.append)
    agents(world, runtime)
    if arrange is not None:
        arrange(world, runtime)

    async def main():
        await runtime.run(WHEN - 1, speed=math.inf, blocking_ms=None)
        if between is not None:
            await between(world, runtime)
        await runtime.run(ticks - runtime.tick, speed=math.inf, blocking_ms=None)
        running = len(runtime.agents)
        await runtime.aclose()
        return running

    assert play(main) == 2  # nobody was killed
    assert faults == []
    return world, records


END = [(WHEN, "stop", None)]
ABORTED = [
    (1, "think", None),
    (1, "start", None),
    (1, "stop_thinking", None),
    (1, "run", None),
    (WHEN, "abort", "gone"),
    *END,
]
REJECTED = [(1, "think", None), (WHEN, "reject", "gone"), (WHEN, "stop_thinking", None)]


def check(play, world, records, method):
    told = seen(records, "a")
    expected = ABORTED if method == "abort" else REJECTED
    assert told[: len(expected)] == expected
    if method == "abort":
        assert told[len(expected)] == (WHEN + 1, "think", None)
    _, others = live(play, method)
    assert seen(records, "b") == seen(others, "b")


@pytest.mark.states(
    "001: abort, reject: (decided) abort and reject concern their own action, from wherever they are called",
)
@pytest.mark.parametrize("method", ["abort", "reject"])
@pytest.mark.parametrize("caller", [name for name in INSIDE if name != "own listener"])
def test_a_call_from_inside_a_tick(play, caller, method):
    world, records = live(play, method, INSIDE[caller])
    assert world.returned == [WHEN]
    check(play, world, records, method)


def test_a_listener_that_the_action_itself_calls(play):
    """What is raised ends the listener, is contained by the signal, and reaches the action nevertheless; ``emit`` returns."""
    world, records = live(play, "abort", by_own_listener)
    assert world.returned == [WHEN]
    check(play, world, records, "abort")


def test_a_model_that_the_action_itself_drives(play):
    """A goal in the middle of the action's own stack aborts it: contained by the selector, it is no fault of the goal."""

    class Aborts(Goal):
        def can_use(self):
            if notes.runtime.tick >= WHEN and len(notes.contexts) == 1:
                notes.contexts[-1].abort("gone")
                notes.note("never")
            return False

    class Drives(DriverAction):
        does = TOP
        utility = 0.5

        def make_driver(self, ctx, args):
            notes.contexts.append(ctx)
            selector = GoalSelector()
            selector.add_goal(1, Aborts())
            return selector

    notes = Notes(play, utility=0.1, run=sleeps)
    notes.agent.inject(Drives)
    notes.live(5)
    assert [one.line() for one in notes.records if one.event.value == "abort"] == [
        "4 a agentrt:top/Drives abort reason='gone'"
    ]
    assert len(notes.contexts) == 2
    assert notes.faults == notes.log == []


async def sleeps(self, ctx, args):
    await ctx.sleep(100)


async def posted(world, runtime):
    runtime.post(world.call)


async def directly(world, runtime):
    world.call()


async def in_a_thread(world, runtime):
    thread = threading.Thread(target=world.call)
    thread.start()
    thread.join()


async def by_a_signal_between_ticks(world, runtime):
    world.bell.connect(world.call)
    world.bell.emit()


@pytest.mark.states("001: abort, reject: (decided) abort and reject concern their own action, from wherever they ...")
@pytest.mark.parametrize("method", ["abort", "reject"])
@pytest.mark.parametrize("between", [posted, directly, in_a_thread, by_a_signal_between_ticks])
def test_a_call_from_between_two_ticks_is_taken_by_the_next_intake(play, between, method):
    world, records = live(play, method, between=between)
    assert world.returned == [WHEN if between is posted else WHEN - 1]
    check(play, world, records, method)


@pytest.mark.states("001: abort, reject: (decided) abort and reject concern their own action, from wherever they ...")
def test_a_callback_of_the_event_loop(play):
    if play.host == "plain":
        pytest.skip("it has none")

    async def between(world, runtime):
        if play.host == "asyncio":
            asyncio.get_running_loop().call_soon(world.call)
            await asyncio.sleep(0)
        else:

            async def task():
                world.call()

            await play.together(task)

    world, records = live(play, "abort", between=between)
    assert world.returned == [WHEN - 1]
    check(play, world, records, "abort")


@pytest.mark.parametrize("times", [2, 5])
def test_once_is_enough(play, times):
    def arrange(world, runtime):
        def often():
            for _ in range(times):
                world.call()

        at_tick(world, runtime, often)

    world, records = live(play, "abort", arrange)
    assert world.returned == [WHEN] * times
    check(play, world, records, "abort")


# --- one thinking and one run -----------------------------------------------------------------------------------------


class Notes:
    """An agent with one action whose contexts are kept; the trace of it."""

    def __init__(self, play, **body):
        self.play = play
        self.contexts = []
        self.log = []
        self.runtime = play.runtime()
        self.records = []
        self.faults = []
        self.runtime.on_fault(self.faults.append)
        self.runtime.trace.listen(self.records.append)
        kind = type("Does", (Action,), {"does": TOP, "utility": 0.5, **body})
        self.agent = self.runtime.add(Agent(Entity("being"), name="a", actions=[kind]))

    def note(self, *what):
        self.log.append((self.runtime.tick, *what))

    def live(self, ticks, then=None):
        async def main():
            await self.runtime.run(ticks, speed=math.inf, blocking_ms=None)
            told = None if then is None else then()
            await self.runtime.aclose()
            return told

        return self.play(main)

    def late(self):
        return [(one.tick, dict(one.detail)["method"]) for one in self.records if one.event.value == "late"]


@pytest.mark.states(
    "001: AI contexts: (decided) A context belongs to one thinking and one run; what comes through an older one is "
    "late",
)
def test_an_answer_for_a_thinking_that_is_over_does_not_answer_for_the_next(play):
    async def think(self, ctx, args):
        notes.contexts.append(ctx)
        if len(notes.contexts) == 1:
            ctx.set_think_output()
        else:
            notes.contexts[0].set_think_output()  # a search of the first thinking is done
            await ctx.sleep(100)

    async def run(self, ctx, args):
        await ctx.next_tick()

    notes = Notes(play, think=think, run=run)
    state = notes.live(5, lambda: notes.agent.snapshot().plan.units[0].state)
    assert state == "thinking"
    assert notes.late() == [(2, "set_think_output")]
    assert notes.contexts[0] is not notes.contexts[1]


def test_the_last_word_of_a_think_that_was_cancelled(play):
    """``finally: ctx.set_think_output()`` of one that was stopped: neither the next thinking nor the run hears of it."""
    better = Signal()

    async def think(self, ctx, args):
        notes.note("think")
        notes.contexts.append(ctx)
        if len(notes.contexts) == 3:
            await ctx.sleep(100)
        try:
            ctx.set_think_output()
            await better.wait()
        finally:
            ctx.set_think_output()
            notes.note("left")

    async def run(self, ctx, args):
        await ctx.next_tick()

    notes = Notes(play, think=think, run=run)
    assert notes.live(5, lambda: notes.agent.snapshot().plan.units[0].state) == "thinking"
    assert notes.log[:5] == [(1, "think"), (1, "left"), (2, "think"), (2, "left"), (3, "think")]
    assert notes.late()[:2] == [(1, "set_think_output"), (2, "set_think_output")]
    assert notes.faults == []


def test_a_resume_that_was_kept_does_not_end_the_wait_of_the_next_run(play):
    async def run(self, ctx, args):
        notes.contexts.append(ctx)
        notes.contexts[0].resume("kept")
        notes.note(await ctx.suspend())
        await ctx.next_tick()

    notes = Notes(play, run=run)
    notes.live(6)
    assert notes.log == [(1, "kept")]
    assert notes.late() == [(2, "resume")]


@pytest.mark.states("001: AI contexts: (decided) A context belongs to one thinking and one run; what comes through ...")
def test_nothing_of_one_that_is_over_reaches_anybody(play):
    """All methods at once, in the hooks of the next run and from outside."""
    calls = ("abort", "reject", "set_utility", "clear_think_output", "candidates", "resume", "listen", "call_later")
    arguments = {
        "abort": ("x",),
        "reject": ("x",),
        "set_utility": (1.0,),
        "candidates": ([],),
        "call_later": (0.1, print),
    }
    bell = Signal()
    arguments["listen"] = (bell, lambda _: notes.note("heard"))

    def call_all():
        for method in calls:
            getattr(notes.contexts[0], method)(*arguments.get(method, ()))

    async def run(self, ctx, args):
        notes.contexts.append(ctx)
        if len(notes.contexts) == 2:
            call_all()
            bell.emit()
            notes.note("went on")
        await ctx.next_tick()

    notes = Notes(play, run=run, utility=(0.2, 0.6))
    notes.live(3)
    assert notes.log == [(2, "went on")]
    assert notes.late() == [(2, method) for method in calls]
    assert [one for one in notes.records if one.event.value in ("abort", "reject", "fault")] == []


@pytest.mark.states(
    "001: AI contexts: (decided) One instance thinks once at a time: a new think waits until the one before has "
    "cleaned up",
    source="stop_thinking",
)
def test_a_new_think_waits_until_the_one_before_is_gone(play):
    """Its ``finally`` is shielded and takes three ticks; the action has run, and is asked again, meanwhile."""

    async def think(self, ctx, args):
        notes.note("think")
        notes.contexts.append(ctx)
        try:
            ctx.set_think_output()
            await Signal().wait()
        finally:
            with CancelScope(shield=True):
                await ctx.sleep_ticks(3)
            notes.note("left")

    async def run(self, ctx, args):
        await ctx.next_tick()

    notes = Notes(play, think=think, run=run)

    async def main():
        await notes.runtime.run(3, speed=math.inf, blocking_ms=None)
        told = notes.agent.explain()
        await notes.runtime.run(5, speed=math.inf, blocking_ms=None)
        await notes.runtime.run(8, speed=math.inf, blocking_ms=None)
        await notes.runtime.aclose()
        return told

    told = play(main)
    assert notes.log[:5] == [(1, "think"), (4, "left"), (4, "think"), (7, "left"), (7, "think")]
    assert "not ready since tick 2, waits until its thinking before has ended" in told
    assert notes.faults == []


def test_one_that_waits_for_the_think_before_can_be_stopped_itself(play):
    """Each thinking is cut off while the first one still cleans up: none begins before it is gone, and one does then."""
    events = []

    async def think(self, ctx, args):
        events.append((ctx.clock.tick, "think"))
        try:
            await Signal().wait()
        finally:
            with CancelScope(shield=True):
                await ctx.sleep_ticks(6)
            events.append((ctx.clock.tick, "left"))

    class Interrupts(Action):
        does = TOP
        utility = 0.9

        async def think(self, ctx, args):
            await ctx.sleep_ticks(1)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.next_tick()

    notes = Notes(play, think=think)
    notes.agent.inject(Interrupts)
    notes.live(9)
    assert events[:3] == [(1, "think"), (8, "left"), (8, "think")] or events[:3] == [
        (2, "think"),
        (9, "left"),
        (9, "think"),
    ]
    assert notes.faults == []


# --- from another thread ----------------------------------------------------------------------------------------------


def test_what_is_noted_in_a_thread_is_taken_by_the_next_intake(play):
    async def think(self, ctx, args):
        notes.contexts.append(ctx)
        await ctx.sleep(100)

    async def run(self, ctx, args):
        await ctx.sleep(100)

    notes = Notes(play, think=think, run=run, utility=(0.2, 0.6))
    wrong = []

    def search(ctx):
        for call in (lambda: ctx.spawn("t:it"), lambda: ctx.listen(Signal(), print)):
            try:
                call()
            except Exception as error:
                wrong.append(type(error).__name__)
        ctx.set_utility(0.5)
        ctx.set_debug_progress("found it")
        ctx.set_think_output()

    async def main():
        await notes.runtime.run(2, speed=math.inf, blocking_ms=None)
        thread = threading.Thread(target=search, args=(notes.contexts[0],))
        thread.start()
        thread.join()
        before = [one.event.value for one in notes.records if one.tick > 1]
        await notes.runtime.run(1, speed=math.inf, blocking_ms=None)
        await notes.runtime.aclose()
        return before

    assert play(main) in ([], ["utility"])
    told = [(one.tick, one.event.value) for one in notes.records if one.event.value in ("progress", "ready", "run")]
    assert told == [(3, "progress"), (3, "ready"), (3, "run")]
    assert wrong == ["WrongStateError", "WrongStateError"]


def test_what_comes_too_late_from_a_thread_is_told_by_the_next_intake(play):
    async def run(self, ctx, args):
        notes.contexts.append(ctx)
        await ctx.sleep(100)

    notes = Notes(play, run=run)
    before = []

    def answer():
        if notes.runtime.tick == 2:
            thread = threading.Thread(target=notes.contexts[0].set_think_output)
            thread.start()
            thread.join()
            before.extend(one for one in notes.records if one.event.value == "late")

    notes.runtime.every_tick(answer)

    async def main():
        await notes.runtime.run(4, speed=math.inf, blocking_ms=None)
        await notes.runtime.aclose()

    play(main)
    assert before == []
    assert [one.tick for one in notes.records if one.event.value == "late"] == [3]


# --- a think that has returned ----------------------------------------------------------------------------------------


@pytest.mark.states(
    "001: Making plans: start_thinking may set up listeners and return; they answer later",
    source="start_thinking",
)
def test_who_returns_with_a_listener_open_goes_on_thinking(play):
    """The pattern of the source text: set up listeners, return, and be ready when one of them hears."""
    poses = Signal()

    async def think(self, ctx, args):
        ctx.listen(poses, lambda _: ctx.set_think_output())

    async def run(self, ctx, args):
        await ctx.sleep(100)

    notes = Notes(play, think=think, run=run)

    async def main():
        await notes.runtime.run(3, speed=math.inf, blocking_ms=None)
        told = notes.agent.explain()
        notes.runtime.post(poses.emit)
        await notes.runtime.run(1, speed=math.inf, blocking_ms=None)
        running = notes.agent.snapshot().running
        await notes.runtime.aclose()
        return told, running

    told, running = play(main)
    assert "does: not ready since tick 1, waits for a listener" in told
    assert running.endswith("Does")
    assert repr(poses) == "<Signal: 0 waiting, 0 connected>"
