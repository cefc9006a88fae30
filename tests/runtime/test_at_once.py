"""Code that cannot suspend is stepped where it stands, without a strand and without a turn of its own; on each host alike.

What is shown: who is taken for such code and who is not; that nothing else changes by it (control flow, errors, contexts,
whose stack it is); and that whoever asks for a strand after all gets one.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt import (
    TOP,
    Action,
    Agent,
    CancelScope,
    CompoundAction,
    Entity,
    Restart,
    Runtime,
    Signal,
    ThinkOutput,
    move_on_after,
    next_tick,
    park,
    step,
)
from agentrt.activity.author.action import code_without_waits
from agentrt.kernel.strand import Strand, current_strand
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_multiple_tasks
from agentrt.testing import Simulation


class Being:
    def __init__(self, name="being"):
        self.name = name
        self.diary = []
        self.bell = Signal()


def lived(play, actions, ticks=3, **options):
    """One agent that lives for some ticks, and its records in short."""
    runtime = play.runtime(**options)
    records, faults = [], []
    runtime.trace.listen(records.append)
    runtime.on_fault(faults.append)
    being = Being()
    runtime.add(Agent(being, actions=actions))
    play.ticks(runtime, ticks)
    said = [f"{one.tick} {one.path.rpartition('/')[2].removeprefix('agentrt:')} {one.event.value}" for one in records]
    return being, said, faults


# --- who is taken for it --------------------------------------------------------------------------------------------------


async def says_nothing():
    return 1


async def awaits():
    await next_tick()


async def iterates():
    async for _ in agen():
        pass


async def enters():
    async with manager():
        pass


async def collects():
    return [one async for one in agen()]


async def asks_the_loop():
    return asyncio.current_task()


async def opens_a_scope():
    with move_on_after(1):
        pass


async def agen():
    yield 1


def manager():
    return None


def plain_function():
    return None


def wrapped(function):
    @functools.wraps(function)
    async def inner(*args):
        return await function(*args)

    return inner


@pytest.mark.parametrize(
    ("hook", "is_quick"),
    [
        (says_nothing, True),
        (awaits, False),
        (iterates, False),
        (enters, False),
        (collects, False),
        (asks_the_loop, False),
        (opens_a_scope, False),
        (agen, False),
        (plain_function, False),
        (wrapped(says_nothing), False),
        (functools.partial(says_nothing), False),
    ],
)
def test_who_cannot_suspend_is_seen_in_the_code(hook, is_quick):
    assert code_without_waits(hook) is (hook.__code__ if is_quick else None)


# --- nothing else changes by it --------------------------------------------------------------------------------------------


class Quick(Action):
    does = TOP
    utility = (0.0, 1.0)

    class Output(ThinkOutput):
        number: int

    async def think(self, ctx, args):
        ctx.set_utility(0.5)
        ctx.set_think_output(number=1)

    def start(self, ctx, args):
        ctx.entity.diary.append((ctx.clock.tick, "start"))

    async def run(self, ctx, args):
        ctx.entity.diary.append((ctx.clock.tick, "run"))

    def stop(self, ctx, args):
        ctx.entity.diary.append((ctx.clock.tick, "stop"))


class Worse(Quick):
    async def think(self, ctx, args):
        ctx.set_utility(0.4)
        ctx.set_think_output(number=2)


def test_a_plan_thinks_runs_and_stops_in_one_turn(play):
    being, said, faults = lived(play, [Worse, Quick], ticks=2)
    assert being.diary == [(1, "start"), (1, "run"), (1, "stop"), (2, "start"), (2, "run"), (2, "stop")]
    cycle = [
        "Worse think",
        "Quick think",
        "Worse utility",
        "Worse ready",
        "Quick utility",
        "Quick ready",
        "top elect",
        "Quick start",
        "Quick stop_thinking",
        "Quick run",
        "Quick finish",
        "Worse stop_thinking",
        "Quick stop",
        "top complete",
    ]
    assert said[1:-1] == [f"{tick} {event}" for tick in (1, 2) for event in cycle]
    assert faults == []


def test_no_strand_is_made(play, monkeypatch):
    made = []
    runtime = play.runtime()
    host = runtime.kernel.host
    strand = host.strand
    monkeypatch.setattr(host, "strand", lambda *args: made.append(args[2]) or strand(*args), raising=False)
    runtime.add(Agent(Being(), actions=[Quick, Worse]))
    play.ticks(runtime, 5)
    assert made == []


class Raises(Quick):
    utility = 0.9
    Output = None

    async def think(self, ctx, args):
        raise ValueError("no idea")


class Rejects(Raises):
    async def think(self, ctx, args):
        ctx.reject("not with that")


class SaysNothing(Raises):
    async def think(self, ctx, args):
        pass


@pytest.mark.parametrize(
    ("action", "events"),
    [
        (Raises, ["think", "unready", "disabled", "fault"]),
        (Rejects, ["think", "reject", "stop_thinking"]),
        (SaysNothing, ["think", "stop_thinking"]),
    ],
)
def test_who_is_out_lets_the_others_be_elected(play, action, events):
    being, said, faults = lived(play, [action, Quick], ticks=1)
    assert being.diary == [(1, "start"), (1, "run"), (1, "stop")]
    mine = [line.split()[2] for line in said if line.split()[1] == action.__name__]
    assert [event for event in mine if event in events] == [event for event in events if event in mine]
    assert len(faults) == (action is Raises)


class RunRaises(Quick):
    async def run(self, ctx, args):
        raise ValueError("it broke")


class RunAborts(Quick):
    async def run(self, ctx, args):
        ctx.abort("it cannot go on")


@pytest.mark.parametrize("action", [RunRaises, RunAborts])
def test_a_run_that_fails_unwinds_the_plan_once(play, action):
    being, said, faults = lived(play, [action], ticks=1)
    assert being.diary == [(1, "start"), (1, "stop")]
    assert [line for line in said if "abort" in line or "complete" in line] == [f"1 {action.__name__} abort"]
    assert len(faults) == (action is RunRaises)


class Stubborn(BaseException):
    """Nobody's exception."""


@pytest.mark.parametrize("hook", ["think", "run"])
def test_a_base_exception_concerns_the_action_and_the_next_one_is_stepped_as_before(play, hook):
    async def raises(self, ctx, args):
        raise Stubborn("whatever")

    broken = type("Broken", (Quick,), {hook: raises, "does": TOP, **({"Output": None} if hook == "think" else {})})
    being, _said, faults = lived(play, [broken, Worse] if hook == "think" else [broken], ticks=2)
    assert [(fault.tick, repr(fault.error)) for fault in faults] == [(tick, "Stubborn('whatever')") for tick in (1, 2)]
    if hook == "think":
        assert [word for _, word in being.diary] == ["start", "run", "stop"] * 2
    else:
        assert [word for _, word in being.diary] == ["start", "stop"] * 2


@pytest.mark.parametrize("hook", ["think", "run"])
def test_an_interruption_of_the_program_comes_out_and_the_others_go_on(hook):
    interruptions = [KeyboardInterrupt()]

    async def interrupted(self, ctx, args):
        if interruptions:
            raise interruptions.pop()
        if hook == "think":
            ctx.set_think_output(number=3)

    runtime = Runtime(host="plain")
    one, other = Being("one"), Being("other")
    runtime.add(Agent(one, actions=[type("Interrupted", (Quick,), {hook: interrupted, "does": TOP})]))
    runtime.add(Agent(other, actions=[Quick]))
    with pytest.raises(KeyboardInterrupt):
        runtime.step()
    runtime.step()
    runtime.step()
    assert [entry for entry in other.diary if entry[1] == "run"] != []
    assert [word for _, word in other.diary] == ["start", "run", "stop"] * (len(other.diary) // 3)
    runtime.close()


# --- whose stack it is -----------------------------------------------------------------------------------------------------


def asks_for_its_strand(ctx):
    """What an author's helper may do, of which the code of the hook says nothing."""
    with move_on_after(1):
        strand = current_strand()
    ctx.entity.diary.append((ctx.clock.tick, strand.name, isinstance(strand, Strand)))
    return strand


def test_a_helper_that_asks_for_its_strand_gets_that_of_the_action_it_is_called_by(play):
    strands = []

    class First(Quick):
        async def think(self, ctx, args):
            strands.append(asks_for_its_strand(ctx))
            ctx.set_think_output(number=1)

    class Second(Quick):
        async def think(self, ctx, args):
            strands.append(asks_for_its_strand(ctx))
            ctx.set_utility(0.9)
            ctx.set_think_output(number=2)

        async def run(self, ctx, args):
            strands.append(asks_for_its_strand(ctx))

    being, _said, faults = lived(play, [First, Second], ticks=1)
    assert faults == []
    assert [entry for entry in being.diary if len(entry) == 3] == [
        (1, "first", True),
        (1, "second", True),
        (1, "second", True),
    ]
    assert len(set(map(id, strands))) == 3
    assert all(strand.is_done for strand in strands)


def test_control_flow_asked_for_by_somebody_else_is_not_raised_on_this_stack(play):
    """A quick think rings a bell; another action listens, and its callback aborts its own plan, and not this one."""
    handles = {}

    class Listens(Action):
        does = TOP
        utility = 0.5

        def start(self, ctx, args):
            handles["listener"] = ctx
            ctx.listen(ctx.entity.bell, lambda _: ctx.abort("it rang"))

        async def run(self, ctx, args):
            await ctx.sleep(100)

    class Rings(Quick):
        async def think(self, ctx, args):
            handles["bell"].emit()
            ctx.entity.diary.append((ctx.clock.tick, "went on"))
            ctx.set_think_output(number=1)

    runtime = play.runtime()
    listener, ringer = Being("listener"), Being("ringer")
    handles["bell"] = listener.bell
    records = []
    runtime.trace.listen(records.append)
    runtime.add(Agent(listener, actions=[Listens]))
    runtime.add(Agent(ringer, actions=[Rings]))
    play.ticks(runtime, 1)
    assert ringer.diary == [(1, "went on"), (1, "start"), (1, "run"), (1, "stop")]
    assert [(one.tick, one.agent) for one in records if one.event.value == "abort"] == [(1, "listener")]


def test_what_a_quick_run_begins_on_its_own_stack_waits_for_its_end(play):
    """A spawned frame is told to think by a run that cannot suspend: nothing of it thinks on that run's stack."""

    class Below(Quick):
        does = "t:below"

        async def think(self, ctx, args):
            ctx.entity.diary.append((ctx.clock.tick, "below thinks"))
            ctx.set_think_output(number=1)

    class Above(Quick):
        async def run(self, ctx, args):
            frame = ctx.spawn("t:below")
            frame.start_thinking()
            ctx.entity.diary.append((ctx.clock.tick, "run ends"))

    being, _said, faults = lived(play, [Above, Below], ticks=1)
    assert being.diary == [(1, "start"), (1, "run ends"), (1, "stop")]  # it was stopped before its turn came
    assert faults == []


# --- contexts, instances, refusals -----------------------------------------------------------------------------------------

MOOD = contextvars.ContextVar("MOOD", default="none")


def test_what_a_quick_hook_sets_in_its_context_is_not_there_for_the_world(play_loop):
    class Moody(Quick):
        async def think(self, ctx, args):
            MOOD.set("thinking")
            ctx.set_think_output(number=1)

        async def run(self, ctx, args):
            ctx.entity.diary.append(MOOD.get())
            MOOD.set("running")

    runtime = play_loop.runtime()
    being, seen = Being(), []
    runtime.every_tick(lambda: seen.append(MOOD.get()))
    runtime.after_tick(lambda: seen.append(MOOD.get()))
    runtime.add(Agent(being, actions=[Moody]))
    play_loop.ticks(runtime, 2)
    assert being.diary[1::3] == ["none", "none"]
    assert set(seen) == {"none"}


@pytest.mark.parametrize("where", ["instance", "class"])
@pytest.mark.parametrize("hook", ["think", "run"])
def test_a_hook_that_was_replaced_by_one_that_suspends(play, monkeypatch, where, hook):
    """What the class declared when it was made is not what is called: that is a strand, as any hook that may suspend."""

    async def slow(self, ctx, args):
        await ctx.next_tick()
        ctx.entity.diary.append((ctx.clock.tick, f"slow {hook}"))
        if hook == "think":
            ctx.set_think_output(number=7)

    class Replaced(Quick):
        def __init__(self):
            if where == "instance":
                setattr(self, hook, functools.partial(slow, self))

    if where == "class":
        monkeypatch.setattr(Replaced, hook, slow)
    being, _said, faults = lived(play, [Replaced], ticks=2)
    assert faults == []
    assert (2, f"slow {hook}") in being.diary
    begun = [word for _, word in being.diary if word == "start"]
    assert len(begun) == [word for _, word in being.diary].count("stop")


def test_a_refusal_of_a_lease_is_not_taken_for_that_of_the_next_one(play):
    """Two thinks of one round: the first is refused a lease and says nothing; the second rejects for another reason."""
    runtime = play.runtime()
    thing, being = Being("thing"), Being()
    units = []

    class Asks(Quick):
        async def think(self, ctx, args):
            runtime.leases.can_acquire(thing, ctx.agent)

    class Rejecting(Quick):
        async def think(self, ctx, args):
            ctx.reject("something else")

    agent = runtime.add(Agent(being, actions=[Asks, Rejecting]))
    runtime.leases.acquire(thing, Being("other"))
    runtime.after_tick(lambda: units.extend(agent.snapshot().plan.units if runtime.tick == 1 else ()))
    play.ticks(runtime, 1)
    assert [unit.reason for unit in units] == ["it ended thinking without an output", "rejected: something else"]


# --- compounds and properties ----------------------------------------------------------------------------------------------


class Plan(CompoundAction):
    does = TOP
    utility = 0.5
    steps = [step("t:one"), step("t:two")]

    async def think(self, ctx, args):
        ctx.entity.diary.append("plan")
        ctx.set_think_output()


def leaf(activity, name):
    async def think(self, ctx, args):
        ctx.entity.diary.append(f"think {name}")
        ctx.set_think_output()

    async def run(self, ctx, args):
        ctx.entity.diary.append(f"run {name}")

    return type(name, (Action,), {"does": activity, "utility": 0.5, "think": think, "run": run})


def test_a_whole_plan_is_thought_and_run_before_the_next_agent_has_its_turn(play):
    runtime = play.runtime()
    diary = []
    actions = [Plan, leaf("t:one", "One"), leaf("t:two", "Two")]
    for name in ("a", "b"):
        being = Being(name)
        being.diary = diary
        runtime.add(Agent(being, actions=actions))
    play.ticks(runtime, 2)
    whole = ["plan", "think One", "think Two", "run One", "run Two"]
    assert diary[-10:] == whole * 2  # in the first tick agents are added, and asked when the ready queue comes to them


KINDS = st.lists(
    st.tuples(
        st.sampled_from(["quick", "slow", "none"]), st.sampled_from(["quick", "slow", "none"]), st.integers(0, 9)
    ),
    min_size=1,
    max_size=5,
)


def _made(number, thinks, runs, utility, log):
    async def quick_think(self, ctx, args):
        ctx.set_think_output()

    async def slow_think(self, ctx, args):
        await ctx.sleep(0)
        ctx.set_think_output()

    async def quick_run(self, ctx, args):
        log.append((ctx.clock.tick, number, "run"))

    async def slow_run(self, ctx, args):
        log.append((ctx.clock.tick, number, "run"))
        await ctx.next_tick()

    def start(self, ctx, args):
        log.append((ctx.clock.tick, number, "start"))

    def stop(self, ctx, args):
        log.append((ctx.clock.tick, number, "stop"))

    hooks = {"does": TOP, "utility": utility / 10, "start": start, "stop": stop, "weight": 1}
    if thinks != "none":
        hooks["think"] = quick_think if thinks == "quick" else slow_think
    if runs != "none":
        hooks["run"] = quick_run if runs == "quick" else slow_run
    return type(f"A{number}", (Action,), hooks)


@given(KINDS)
def test_who_is_elected_does_not_depend_on_who_can_suspend(kinds):
    """The same actions once as they are, and once with hooks that may suspend: the same are elected, start with stop."""

    def outcome(force):
        log = []
        actions = [
            _made(number, "slow" if force and thinks == "quick" else thinks, runs, utility, log)
            for number, (thinks, runs, utility) in enumerate(kinds)
        ]
        sim = Simulation(seed=3)
        sim.add(Agent(Being(), actions=actions))
        sim.tick(4)
        sim.close()
        return log

    mixed, slow = outcome(force=False), outcome(force=True)
    for log in (mixed, slow):
        begun = [entry[1] for entry in log if entry[2] == "start"]
        assert begun == [entry[1] for entry in log if entry[2] == "stop"]
    assert mixed == slow


# --- what a quick think may do to the plan around it ------------------------------------------------------------------------


@pytest.mark.parametrize("waits", [True, False])
def test_a_step_that_takes_the_plan_around_it_out_stops_the_asking(play, waits):
    """A compound's step thinks while its neighbors are begun; its bell has the outer compound reject."""

    class Outer(CompoundAction):
        does = TOP
        utility = 0.5
        steps = [step("t:x")]

        async def think(self, ctx, args):
            ctx.listen(ctx.entity.bell, lambda _: ctx.reject("heard"))
            ctx.set_think_output()

    class Inner(CompoundAction):
        does = "t:x"
        utility = 0.5
        steps = [step("t:y")]

    class Neighbor(Action):
        does = "t:x"
        utility = 0.5

        async def think(self, ctx, args):
            ctx.entity.diary.append("thinks")
            if waits:
                await park()

        def stop_thinking(self, ctx, args):
            ctx.entity.diary.append("stops thinking")

    class Rings(Action):
        does = "t:y"
        utility = 0.5

        async def think(self, ctx, args):
            if waits or ctx.clock.tick == 1:
                ctx.entity.bell.emit()

    class Idle(Action):
        does = TOP
        utility = 0.1

        async def run(self, ctx, args):
            await ctx.next_tick()

    being, _said, faults = lived(play, [Outer, Inner, Neighbor, Rings, Idle], ticks=3)
    assert being.diary.count("thinks") <= being.diary.count("stops thinking")
    assert faults == []


def _raises(ctx):
    raise ValueError("too late to matter")


ENDS = {
    "nothing": lambda ctx: None,
    "an answer": lambda ctx: ctx.set_think_output(),
    "a utility": lambda ctx: ctx.set_utility(1),
    "a rejection": lambda ctx: ctx.reject("not this time"),
    "an error": _raises,
}


@pytest.mark.parametrize("is_watched", [False, True])
@pytest.mark.parametrize("end", ENDS)
def test_a_think_in_which_its_place_is_begun_anew_does_not_answer_for_the_new_thinking(play, end, is_watched):
    """Nothing that an author may call does it on the stack of a think; whoever calls the machine itself may."""

    class Mark(Action):
        does = TOP
        utility = (0, 0.5)

        async def think(self, ctx, args):
            ctx.entity.diary.append("asked")
            if len(ctx.entity.diary) == 1:
                place = ctx.holder.frame
                place.stop()
                place.begin({}, None)
                ENDS[end](ctx)
            else:
                ctx.set_think_output()

        async def run(self, ctx, args):
            ctx.entity.diary.append(ctx.holder.utility)
            await ctx.sleep(100)

    runtime, being, faults = play.runtime(), Being(), []
    if is_watched:
        runtime.trace.listen(lambda record: None)
    runtime.on_fault(lambda fault: faults.append(str(fault.error)))
    runtime.add(Agent(being, actions=[Mark]))
    play.ticks(runtime, 1)
    assert being.diary == ["asked", "asked", 0.0]
    assert faults == ["too late to matter"] * (end == "an error")


def test_a_compound_that_is_answered_for_by_anothers_quick_hook_goes_on(play):
    class Plan(CompoundAction):
        does = TOP
        utility = 0.5
        steps = [step("t:one")]

        async def think(self, ctx, args):
            ctx.listen(ctx.entity.bell, lambda _: ctx.set_think_output())

    class One(Action):
        does = "t:one"
        utility = 0.5

        async def run(self, ctx, args):
            ctx.entity.diary.append(ctx.clock.tick)
            await ctx.sleep(100)

    listener, ringer = Being("listener"), Being("ringer")

    class Ring(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            if ctx.clock.tick >= 3:
                listener.bell.emit()

    runtime = play.runtime()
    runtime.add(Agent(listener, actions=[Plan, One]))
    runtime.add(Agent(ringer, actions=[Ring]))
    play.ticks(runtime, 6)
    assert listener.diary == [3]


def test_a_think_that_ends_before_its_turn_came_leaves_nothing_on_any_host(play):
    """Who is asked again and stopped before its first step is quick again in the next plan."""
    hop, first, second, log = Signal(), Signal(), Signal(), []

    class A(Action):
        does = TOP
        utility = (0.1, 0.9)

        async def think(self, ctx, args):
            log.append((ctx.clock.tick, "A thinks"))
            ctx.set_utility(1)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.next_tick()
            ctx.set_utility(0)
            await first.wait()

    class B(Action):
        does = TOP
        utility = 0.5

        async def think(self, ctx, args):
            log.append((ctx.clock.tick, "B thinks"))
            ctx.set_think_output()

    runtime = play.runtime()

    async def rings():
        await next_tick()
        hop.emit()

    async def hears():
        await hop.wait()
        first.emit()
        second.emit()

    async def world():
        await second.wait()
        log.append((runtime.tick, "world"))

    for one in (rings, hears, world):
        runtime.spawn(one)
    runtime.add(Agent(Being(), actions=[A, B]))
    play.ticks(runtime, 3)
    assert [what for tick, what in log if tick == 2] == ["A thinks", "B thinks", "world"]


@pytest.mark.parametrize("last", range(9))
def test_a_killed_plan_rests_for_as_long_as_it_is_told_and_then_runs_once_a_tick(last):
    """The abort comes from a kept thought, before the plan's own turn in a tick or after it, when it pauses already."""
    bell, hops, log, records = Signal(), [Signal() for _ in range(9)], [], []

    class Instant(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            log.append(ctx.clock.tick)

    class Keeps(Action):
        does = TOP
        utility = 0.4
        asks = "when changed"

        async def think(self, ctx, args):
            ctx.listen(bell, lambda _: ctx.abort("no"))

    runtime = Runtime(host="plain", restart=Restart(first=1.0))
    runtime.trace.listen(records.append)
    runtime.add(Agent(Being(), actions=[Instant, Keeps]))

    def relay(number):
        async def hands_on():
            while True:
                await hops[number].wait()
                (hops[number + 1] if number < last else bell).emit()

        return hands_on

    async def world():
        while runtime.tick < 12:
            await next_tick()
            hops[0].emit()

    for number in range(last + 1):
        runtime.spawn(relay(number))
    runtime.spawn(world)
    for _ in range(45):
        runtime.step()
    runtime.close()
    ends = [(one.tick, one.event.value) for one in records if one.event.value in ("killed", "restarted")]
    assert ends == [(11, "killed"), (31, "restarted")]
    assert [tick for tick in log if tick > 12] == list(range(31, 46))


def test_a_plan_that_is_killed_in_the_tick_in_which_its_pause_is_over_rests_as_well():
    """The abort comes with the intake, so that the plan's own entry of that tick stands behind the end of it."""
    handles, log, records = [], [], []

    class Instant(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            log.append(ctx.clock.tick)

    class Keeps(Action):
        does = TOP
        utility = 0.4
        asks = "when changed"

        async def think(self, ctx, args):
            handles.append(ctx)
            await park()

    runtime = Runtime(host="plain", restart=Restart(first=1.0))
    runtime.trace.listen(records.append)
    runtime.add(Agent(Being(), actions=[Instant, Keeps]))
    for tick in range(60):
        if handles and tick < 30:
            handles[-1].abort("no")
        runtime.step()
    runtime.close()
    ends = [(one.tick, one.event.value) for one in records if one.event.value in ("killed", "restarted")]
    assert ends == [(11, "killed"), (31, "restarted")]
    assert [tick for tick in log if tick > 11] == list(range(31, 61))


@pytest.mark.parametrize("where", ["beside a compound", "below one"])
def test_an_agent_goes_on_after_an_interruption_of_the_program(where):
    interruptions = [KeyboardInterrupt()]
    is_below = where == "below one"

    async def answers(self, ctx, args):
        ctx.set_think_output()

    async def interrupted(self, ctx, args):
        if interruptions:
            raise interruptions.pop()
        ctx.set_think_output()

    async def run(self, ctx, args):
        ctx.entity.diary.append((ctx.clock.tick, type(self).__name__))
        await ctx.next_tick()

    one = {"does": "t:one", "utility": 0.5, "run": run, **({"think": interrupted} if is_below else {})}
    plan = {"does": TOP, "utility": 0.9, "steps": [step("t:one")], **({} if is_below else {"think": answers})}
    other = {"does": TOP, "utility": 0.5, "run": run, **({} if is_below else {"think": interrupted})}
    actions = [type("Plan", (CompoundAction,), plan), type("One", (Action,), one), type("Other", (Action,), other)]
    being = Being()
    runtime = Runtime(host="plain")
    runtime.add(Agent(being, actions=actions))
    for _ in range(6):
        try:
            runtime.step()
        except KeyboardInterrupt:
            being.diary.append("interrupted")
    runtime.close()
    assert being.diary[0] == "interrupted"
    assert {name for _, name in being.diary[1:]} == {"One"}
    assert len(being.diary) >= 5


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("hook", ["think", "run"])
def test_a_scope_that_is_left_open_concerns_its_action_and_no_neighbor(play, hook, raises):
    def helper():
        scope = CancelScope()
        scope.__enter__()
        scope.cancel()

    async def leaves_it_open(self, ctx, args):
        helper()
        if raises:
            raise ValueError("and it raised")
        if hook == "think":
            ctx.set_think_output()

    class Neighbor(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            ctx.entity.diary.append(ctx.clock.tick)
            await ctx.next_tick()

    runtime = play.runtime()
    faults = []
    runtime.on_fault(faults.append)
    bad, good = Being("bad"), Being("good")
    runtime.add(Agent(bad, actions=[type("Bad", (Action,), {"does": TOP, "utility": 0.5, hook: leaves_it_open})]))
    runtime.add(Agent(good, actions=[Neighbor]))
    play.ticks(runtime, 4)
    assert good.diary[:4] == [1, 2, 3, 4]
    assert bool(faults) == (raises or play.host == "trio")


def test_a_helper_finds_a_task_of_asyncios_and_may_open_a_scope_of_anyios():
    found = []

    def helper():
        task = asyncio.current_task()
        with anyio.CancelScope():  # noqa: ASYNC100 - that it can be entered is what is tested
            found.append((task is not None, task.get_name(), task.done()))

    class Asks(Action):
        does = TOP
        utility = 0.5

        async def think(self, ctx, args):
            helper()
            ctx.set_think_output()

        async def run(self, ctx, args):
            helper()
            await_nothing(ctx)

    def await_nothing(ctx):
        ctx.entity.diary.append("ran")

    async def main():
        runtime = Runtime()
        faults = []
        runtime.on_fault(faults.append)
        being = Being()
        runtime.add(Agent(being, actions=[Asks]))
        await runtime.run(1, speed=float("inf"), blocking_ms=None)
        await runtime.aclose()
        assert faults == []
        assert being.diary == ["ran"]

    asyncio.run(main())
    assert found == [(True, "asks", False)] * 2


@pytest.mark.parametrize("hook", ["think", "run"])
def test_a_spawned_frame_is_stopped_at_once_by_the_code_that_is_stepped(play, hook):
    async def stops_it(self, ctx, args):
        frame = ctx.spawn("t:below")
        frame.start_thinking()
        frame.stop()
        ctx.entity.diary.append(frame.state)
        frame.start_thinking()
        if hook == "think":
            ctx.set_think_output()

    below = type("Below", (Action,), {"does": "t:below", "utility": 0.5})
    above = type("Above", (Action,), {"does": TOP, "utility": 0.5, hook: stops_it})
    being, _said, faults = lived(play, [above, below], ticks=1)
    assert being.diary == ["idle"]
    assert faults == []


def test_an_error_of_a_think_that_is_out_already_is_told(play):
    class Lost(Action):
        does = TOP
        utility = 0.5

        async def think(self, ctx, args):
            gone = Entity("gone")
            gone.destroy()
            ctx.protect_argument(gone)
            raise ValueError("and it raised")

    _being, _said, faults = lived(play, [Lost], ticks=1)
    assert [repr(fault.error) for fault in faults] == ["ValueError('and it raised')"]


def _raises_stop(self, ctx, args):
    raise StopIteration("a mock is used up")


def _gives_nothing(self, ctx, args):
    return None


@pytest.mark.parametrize("given", [_raises_stop, _gives_nothing])
@pytest.mark.parametrize("hook", ["think", "run"])
def test_a_replaced_hook_that_is_no_coroutine_harms_nobody(play, monkeypatch, hook, given):
    class Replaced(Quick):
        utility = 0.6
        Output = None

        async def think(self, ctx, args):
            ctx.set_think_output()

    monkeypatch.setattr(Replaced, hook, given)
    runtime = play.runtime()
    runtime.on_fault(lambda _fault: None)
    neighbor = Being("neighbor")
    runtime.add(Agent(Being(), actions=[Replaced]))
    runtime.add(Agent(neighbor, actions=[Quick]))
    play.ticks(runtime, 3)
    assert [tick for tick, word in neighbor.diary if word == "run"][:3] == [1, 2, 3]


# --- watching changes nothing -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_watched", [False, True])
def test_a_group_stops_thinking_whether_anybody_looks_or_not(play, is_watched):
    """The quick ways past who need not be told are taken only while nobody listens to the trace."""
    log, alarm, never = [], Signal(), Signal()

    class Till(Action):
        does = "x:till"
        utility = 0.5

        async def think(self, ctx, args):
            ctx.set_think_output()
            try:
                await never.wait()
            finally:
                log.append(ctx.clock.tick)

        async def run(self, ctx, args):
            await ctx.sleep(1)

    class Farm(TaskGroupAction):
        name = "farm"
        does = TOP
        utility = (0.3, 0.9)
        tasks = (declare_multiple_tasks("x:till", utility=(0, 1)),)

    class Soon(Action):
        does = TOP
        utility = 0.95

        async def think(self, ctx, args):
            await ctx.sleep(0.2)
            ctx.set_think_output()
            await never.wait()

        async def run(self, ctx, args):
            await ctx.sleep(1)

    class Alarm(Action):
        does = TOP
        utility = 1.0

        async def think(self, ctx, args):
            await alarm.wait()
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep(1)

    runtime = play.runtime()
    faults = []
    runtime.on_fault(faults.append)
    if is_watched:
        runtime.trace.listen(lambda _record: None)
    group = TaskGroup(Farm)
    agent = runtime.add(Agent(Being(), actions=[Till, Soon, Alarm]))
    group.add(agent)
    group.create_task("x:till").start()
    runtime.every_tick(lambda: runtime.tick % 40 == 5 and alarm.emit())
    play.ticks(runtime, 120)
    assert log[:5] == [1, 25, 49, 73, 105]
    assert faults == []


@given(KINDS)
def test_a_trace_that_is_listened_to_changes_nothing(kinds):
    def outcome(is_watched):
        log = []
        actions = [_made(number, thinks, runs, utility, log) for number, (thinks, runs, utility) in enumerate(kinds)]
        runtime = Runtime(3, host="plain")
        if is_watched:
            runtime.trace.listen(lambda _record: None)
        runtime.add(Agent(Being(), actions=actions))
        for _ in range(4):
            runtime.step()
        runtime.close()
        return log

    assert outcome(is_watched=False) == outcome(is_watched=True)
