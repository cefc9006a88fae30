"""Whatever comes out of code of an author's, printable or not, ``Exception`` or not, ends that and nobody beside it.

Bombs are thrown, one kind after the other, out of each place in which an author's code is called; the crowd beside the broken
agent lives on as if it were not there, record by record, on every host. Only a request to end the program is passed on.
"""

from __future__ import annotations

import asyncio
import itertools
import math

import pytest
from crowd import Broken

from agentrt import (
    CALL,
    LOOK,
    MOVE,
    TOP,
    Action,
    ActionArgs,
    Agent,
    Cancelled,
    CompoundAction,
    Entity,
    Runtime,
    Signal,
    ThinkOutput,
    step,
)
from agentrt.goals import Goal, GoalSelector
from agentrt.kernel.signals import Signal as AnySignal
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_task

pytestmark = pytest.mark.untraced


def unprintable(kind):
    class Unprintable(kind):
        def __str__(self):
            raise self

        __repr__ = __str__

    return Unprintable


def _cancelled_result():
    """What ``task.result()`` of a cancelled task raises."""
    future = asyncio.Future(loop=_Loop())
    future.cancel()
    return future.result()


class _Loop:
    def get_debug(self):
        return False

    def call_soon(self, *args, **kwargs):
        pass


def _raise(kind):
    def bomb():
        raise kind()

    return bomb


BOMBS = {
    "an error that cannot be printed": _raise(unprintable(RuntimeError)),
    "a base exception that cannot be printed": _raise(unprintable(BaseException)),
    "the result of a cancelled task": _cancelled_result,
    "GeneratorExit": _raise(GeneratorExit),
    "StopIteration": _raise(StopIteration),
    "StopAsyncIteration": _raise(StopAsyncIteration),
    "a cancellation of ours": lambda: (_ for _ in ()).throw(Cancelled("by hand")),
    "a group with a cancellation": lambda: (_ for _ in ()).throw(
        BaseExceptionGroup("two", [asyncio.CancelledError(), unprintable(ValueError)()])
    ),
}


@pytest.fixture
def bomb():
    """Explodes in another way each time."""
    kinds = itertools.cycle(BOMBS.values())

    def explode():
        next(kinds)()

    return explode


def test_hooks_of_an_action(unchanged, bomb):
    """Each hook explodes in an action of its own, in turn."""

    class ThinksNot(Broken):
        def should_start_thinking(self, ctx, args):
            bomb()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

    class Thinks(Broken):
        async def think(self, ctx, args):
            bomb()

    class ThinksLater(Broken):
        async def think(self, ctx, args):
            await ctx.sleep_ticks(2)
            bomb()

    class IsNoCoroutine(Broken):
        async def think(self, ctx, args):
            pass

    IsNoCoroutine.think = lambda self, ctx, args: bomb()

    class CleansUp(Broken):
        utility = 0.9

        async def think(self, ctx, args):
            try:
                ctx.set_think_output()
                await ctx.sleep_ticks(50)
            finally:
                bomb()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

        def stop_thinking(self, ctx, args):
            bomb()

        def stop(self, ctx, args):
            bomb()

    events = unchanged(ThinksNot, Thinks, ThinksLater, IsNoCoroutine, CleansUp)
    assert "fault" in events


@pytest.mark.parametrize("hook", ["__init__", "start", "run", "run, later", "run, no coroutine", "run, in finally"])
def test_hooks_that_unwind(unchanged, bomb, hook):
    class Breaks(Broken):
        def __init__(self):
            if hook == "__init__":
                bomb()

        def start(self, ctx, args):
            if hook == "start":
                bomb()

        async def run(self, ctx, args):
            try:
                if hook == "run":
                    bomb()
                await ctx.sleep_ticks(2)
                if hook == "run, later":
                    bomb()
            finally:
                if hook == "run, in finally":
                    bomb()

    if hook == "run, no coroutine":
        Breaks.run = lambda self, ctx, args: bomb()
    events = unchanged(Breaks)
    assert "fault" in events or "abort" in events
    assert ("killed" in events) == (hook != "__init__")


def test_hooks_of_a_compound(unchanged, bomb):
    class Composes(CompoundAction):
        does = TOP
        utility = (0.9, 0.95)
        steps = [step("t:find")]

        def compose_utility(self, entity, self_utility, child_utilities, current_activity):
            bomb()

    class Takes(Action):
        does = "t:take"
        utility = 1.0

        class Args(ActionArgs):
            what: object

    class Binds(CompoundAction):
        does = TOP
        utility = 0.94
        steps = [step("t:take", what=CALL(bomb))]

    class Rejected(CompoundAction):
        does = TOP
        utility = 0.93
        steps = [step("t:offer"), step("t:refuse")]

    class Offers(Action):
        does = "t:offer"
        utility = 1.0

        class Output(ThinkOutput):
            one: int

        async def think(self, ctx, args):
            ctx.candidates(self.choices())

        def choices(self):
            yield {"one": 1}
            bomb()

        def on_reject(self, ctx, args, reason):
            bomb()

    class Refuses(Action):
        does = "t:refuse"
        utility = 1.0

        async def think(self, ctx, args):
            ctx.reject("no")

    assert "fault" in unchanged(Composes, Takes, Binds, Rejected, Offers, Refuses)


@pytest.mark.parametrize("connected", ["by ctx.listen", "by hand", "to the end of an entity"])
def test_callbacks_of_signals(unchanged, bomb, connected):
    class Listens(Broken):
        def start(self, ctx, args):
            bell = ctx.entity.world.bell
            self.prop = Entity("prop")
            if connected == "by hand":
                bell.connect(lambda _: bomb())
            elif connected == "by ctx.listen":
                ctx.listen(bell, lambda _: bomb())
            else:
                self.prop.destroyed.connect(lambda _: bomb())

        async def run(self, ctx, args):
            await ctx.sleep_ticks(9)
            self.prop.destroy()
            await ctx.sleep_ticks(99)

    assert ("abort" in unchanged(Listens)) == (connected == "by ctx.listen")


def test_what_is_posted_and_sent_and_called(unchanged, bomb, play):
    class Posts(Broken):
        async def run(self, ctx, args):
            ctx.agent.post(bomb)
            runtime = ctx.agent.runtime
            if "boom" not in runtime.inputs:
                runtime.on_input("boom", bomb)
            runtime.send("boom")
            await ctx.sleep_ticks(2)
            await ctx.call(bomb)

    events = unchanged(Posts)
    assert "abort" in events or play.host != "plain"  # elsewhere a thread answers, perhaps after the last tick


def test_coroutines_of_the_world(unchanged, bomb):
    class Spawns(Broken):
        async def run(self, ctx, args):
            async def world():
                await ctx.sleep_ticks(1)
                bomb()

            ctx.agent.runtime.spawn(world)
            await ctx.sleep_ticks(5)

    unchanged(Spawns)


@pytest.mark.parametrize("attach", ["every_tick", "after_tick", "trace.listen", "on_fault"])
def test_functions_of_the_runtime(unchanged, bomb, attach):
    calls = []

    def explode(*_args):
        calls.append(1)
        bomb()

    class Attaches(Broken):
        async def run(self, ctx, args):
            runtime = ctx.agent.runtime
            if not calls:
                (runtime.trace.listen if attach == "trace.listen" else getattr(runtime, attach))(explode)
            await ctx.sleep_ticks(3)
            raise ValueError("told to on_fault")

    unchanged(Attaches)
    assert calls


GOAL_HOOKS = (
    "can_use",
    "can_continue_to_use",
    "start",
    "stop",
    "tick",
    "requires_update_every_tick",
    "is_interruptible",
    "run",
)


@pytest.mark.parametrize("hook", GOAL_HOOKS)
def test_hooks_of_a_goal(unchanged, bomb, hook):
    def explode(_self):
        bomb()

    async def explode_later(_self):
        bomb()

    class Usable(Goal):
        flags = {LOOK}
        used = 0

        def can_use(self):
            return True

        def can_continue_to_use(self):
            self.used += 1
            return self.used % 3 != 0

    body = {hook: explode_later if hook == "run" else explode}
    if hook in ("requires_update_every_tick", "is_interruptible"):
        body[hook] = property(explode)
    breaking = type("Breaking", (Usable,), body)

    class Hosts(Broken):
        async def run(self, ctx, args):
            selector = GoalSelector("broken goals")
            selector.add_goal(1, breaking())
            selector.add_goal(2, Usable())
            attachment = ctx.agent.attach(selector)
            await ctx.sleep_ticks(20)
            attachment.detach()
            await ctx.sleep_ticks(20)

    unchanged(Hosts)


@pytest.mark.parametrize("hook", ["view", "drive", "join", "leave", "name"])
def test_hooks_of_a_driver_of_ones_own(unchanged, bomb, hook):
    class Own:
        name = "own"
        rank = 50
        precedence = 0

        def join(self, body):
            if hook == "join":
                bomb()

        def drive(self):
            if hook == "drive":
                bomb()

        def leave(self, reason, then):
            if hook == "leave":
                bomb()
            then()

        def strands(self):
            return []

        def view(self):
            if hook == "view":
                bomb()
            return

    class Hosts(Broken):
        async def run(self, ctx, args):
            attachment = ctx.agent.attach(Own())
            await ctx.sleep_ticks(5)
            ctx.agent.snapshot()
            ctx.agent.explain()
            attachment.detach()
            await ctx.sleep_ticks(5)

    unchanged(Hosts)


def test_tasks_and_their_callbacks(unchanged, bomb):
    class Chores(TaskGroupAction):
        name = "chores"
        does = TOP
        utility = (0.9, 0.95)
        tasks = [declare_task("t:chore", utility=0.5)]

        def compose_utility(self, entity, task_utility):
            bomb()

    class Chore(Action):
        does = "t:chore"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)

    def disturb(runtime, agent):
        if runtime.tick == 2:
            group = TaskGroup(Chores)
            group.add(agent)
            for _ in range(3):
                group.create_task("t:chore").once().notify_completed(lambda _task: bomb()).start()

    unchanged(Chore, disturb=disturb)


# --- what is passed on, and what a caller is told ---------------------------------------------------------------------------


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_a_request_to_end_the_program_ends_it(play, end):
    runtime = play.runtime()
    runtime.every_tick(lambda: (_ for _ in ()).throw(end()))

    async def main():
        with pytest.raises(end):
            await runtime.run(3, speed=math.inf, blocking_ms=None)

    play(main)


def test_a_cancelled_result_does_not_end_run_but_its_own_cancellation_does(play, being):
    class Idles(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)

        def stop(self, ctx, args):
            _cancelled_result()

    runtime = play.runtime()
    agent = being([Idles], "anna")
    runtime.add(agent)
    runtime.every_tick(_cancelled_result)

    async def main():
        await runtime.run(10, speed=math.inf, blocking_ms=None)
        assert runtime.tick == 10
        assert agent.is_alive
        if play.host != "plain":
            assert await play.cancel_after(1.0, runtime.run)
        await runtime.aclose()

    play(main)


def test_a_leak_of_a_cancellation_breaks_off_a_tick_and_not_the_run(play, being, monkeypatch):
    """There is none that we know of: this is the net below."""
    if play.host != "asyncio":
        pytest.skip("only asyncio's can be had by anybody")
    runtime = play.runtime()
    told = []
    runtime.on_fault(lambda fault: told.append((fault.tick, fault.text)))
    taken = runtime.kernel.begin_tick

    def begin_tick():
        taken()
        if runtime.tick == 3:
            _cancelled_result()

    monkeypatch.setattr(runtime.kernel, "begin_tick", begin_tick)

    async def main():
        await runtime.run(6, speed=math.inf, blocking_ms=None)
        assert runtime.tick == 6
        await runtime.aclose()

    play(main)
    assert told == [(3, "a tick was broken off by a cancellation that concerns nobody here")]


def test_signals_outside_of_any_kernel_raise_what_was_raised():
    signal = AnySignal()
    heard = []
    signal.connect(lambda _: _cancelled_result())
    signal.connect(heard.append)
    with pytest.raises(asyncio.CancelledError):
        signal.emit(1)
    assert heard == [1]
    signal.connect(lambda _: 1 / 0)
    with pytest.raises(BaseExceptionGroup):
        signal.emit(2)
    assert heard == [1, 2]


def test_an_error_that_cannot_be_printed_has_its_type_in_every_place(play, being, logged):
    bomb = BOMBS["an error that cannot be printed"]

    class Breaks(Action):
        does = TOP
        utility = 0.5

        def start(self, ctx, args):
            bomb()

    runtime = play.runtime()
    agent = being([Breaks], "anna")
    runtime.add(agent)
    runtime.every_tick(bomb)
    records = []
    runtime.trace.listen(records.append)

    async def main():
        await runtime.run(12, speed=math.inf, blocking_ms=None)
        await runtime.aclose()

    play(main)
    said = "Unprintable: <Unprintable: its text cannot be made (Unprintable)>"
    assert {dict(record.detail)["error"] for record in records if record.event == "fault"} == {said}
    assert {dict(record.detail)["reason"] for record in records if record.event == "abort"} == {f"start raised {said}"}
    assert said in str(agent.error)
    assert runtime.kernel.live == 0
    assert "every_tick" in "".join(line for _, line in logged()) or logged()


def test_names_of_what_was_called_are_never_asked_twice_for_trouble(play):
    class Sly:
        def __getattribute__(self, name):
            raise asyncio.CancelledError

        def __call__(self):
            raise unprintable(ValueError)

    runtime = Runtime(host="plain")
    told = []
    runtime.on_fault(lambda fault: told.append(fault.text))
    runtime.post(Sly())
    runtime.step()
    runtime.step()
    runtime.close()
    assert told == ["a function of the tick raised: Sly"]
    assert Agent(Entity("anna")).name == "anna"
    assert Signal is AnySignal
    assert MOVE


class Unreadable(Exception):
    """Not even its class can be asked for, as ``isinstance`` does, nor its traceback."""

    def __getattribute__(self, name):
        raise RuntimeError(f"no {name}")


class ThinksUnreadably(Broken):
    async def think(self, ctx, args):
        raise Unreadable


class ThinksUnreadablyLater(Broken):
    async def think(self, ctx, args):
        await ctx.sleep_ticks(2)
        raise Unreadable


class RunsUnreadably(Broken):
    async def run(self, ctx, args):
        raise Unreadable


class CleansUpUnreadably(Broken):
    async def run(self, ctx, args):
        try:
            await ctx.sleep(1000)
        finally:
            raise Unreadable


def _raise_unreadable():
    raise Unreadable


class AsksUnreadably(Broken):
    async def run(self, ctx, args):
        await ctx.call(_raise_unreadable)


@pytest.mark.parametrize(
    "action", [ThinksUnreadably, ThinksUnreadablyLater, RunsUnreadably, CleansUpUnreadably, AsksUnreadably]
)
def test_an_error_that_cannot_be_read(unchanged, action):
    """Whatever is asked of it raises: the books are closed all the same, and the others go on."""
    events = unchanged(action, disturb=lambda runtime, agent: runtime.tick == 9 and runtime.remove(agent))
    assert "fault" in events or action is AsksUnreadably  # in real time, which may be too late
    assert events[-1] in ("removed", "killed")


def test_an_entity_that_cannot_tell_its_number(play):
    class Nobody:
        name = "nobody"

        @property
        def id(self):
            raise RuntimeError

    runtime = play.runtime()
    agent = runtime.add(Agent(Nobody(), actions=[ThinksUnreadably]))
    assert agent.number == 1
    play.ticks(runtime, 3)
