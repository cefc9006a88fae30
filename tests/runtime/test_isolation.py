"""One broken agent leaves every other agent's trace unchanged, on every host.

Each test runs a small crowd twice (see ``crowd``), with a broken agent in its middle and without, and compares the traces of
the others record by record.
"""

from __future__ import annotations

import asyncio

import pytest
import trio
from crowd import TICKS, Broken, Find, Wander, breaks

from agentrt import (
    TOP,
    Action,
    ActionArgs,
    CancelScope,
    CompoundAction,
    Manifest,
    Registry,
    Signal,
    park,
    step,
)
from agentrt.errors import DefinitionError, InvalidPackError, PackCycleError, UnknownAliasError

pytestmark = pytest.mark.untraced

# --- what may be broken ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("late", [False, True], ids=["at once", "later"])
def test_think_raises(unchanged, late):
    class Raises(Broken):
        async def think(self, ctx, args):
            if late:
                await ctx.sleep_ticks(3)
            breaks()

    events = unchanged(Raises)
    assert events.count("fault") >= 1
    assert events.count("disabled") >= 1


def test_start_raises(unchanged):
    class Raises(Broken):
        def start(self, ctx, args):
            breaks()

    events = unchanged(Raises)
    assert events.count("abort") == 10
    assert events[-1] == "killed"


@pytest.mark.parametrize("ticks", [0, 3])
def test_run_raises(unchanged, ticks):
    class Raises(Broken):
        async def run(self, ctx, args):
            await ctx.sleep_ticks(ticks)
            breaks()

    events = unchanged(Raises)
    assert events.count("abort") == 10
    assert events[-1] == "killed"


def test_stop_raises(unchanged):
    class Raises(Broken):
        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)

        def stop(self, ctx, args):
            breaks()

    events = unchanged(Raises)
    assert "fault" in events
    assert events.count("complete") > 10


def test_a_filter_raises(unchanged):
    """It keeps its activity out, once and for all; nobody else has to do with that."""

    class Raises(Broken):
        def should_start_thinking(self, ctx, args):
            breaks()

    assert unchanged(Raises) == ["added", "fault", "blocked", "removed"]


def test_the_small_hooks_raise(unchanged):
    class Raises(Broken):
        def stop_thinking(self, ctx, args):
            breaks()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)

    class Composes(CompoundAction):
        does = TOP
        utility = 0.9
        steps = [step("t:find")]

        def compose_utility(self, entity, self_utility, child_utilities, current_activity):
            breaks()

    events = unchanged(Raises, Composes)
    assert events.count("fault") > 3


def test_the_constructor_raises(unchanged):
    class Raises(Broken):
        def __init__(self):
            breaks()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)

    events = unchanged(Raises)
    assert "fault" in events


@pytest.mark.parametrize("connected", ["by ctx.listen", "by hand"])
def test_a_callback_of_a_shared_signal_raises(unchanged, connected):
    class Raises(Broken):
        def start(self, ctx, args):
            bell = ctx.entity.world.bell
            if connected == "by hand":
                bell.connect(lambda _: breaks())
            else:
                ctx.listen(bell, lambda _: breaks())

        async def run(self, ctx, args):
            await park()

    events = unchanged(Raises)
    assert ("abort" in events) == (connected == "by ctx.listen")


@pytest.mark.parametrize("error", [BaseException, GeneratorExit, StopAsyncIteration, RecursionError, MemoryError])
@pytest.mark.parametrize("hook", ["think", "run"])
def test_a_strange_error_is_raised(unchanged, hook, error):
    class Raises(Broken):
        async def think(self, ctx, args):
            ctx.set_think_output()
            await ctx.sleep_ticks(1)
            if hook == "think":
                raise error("strange")
            await park()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(3)
            if hook == "run":
                raise error("strange")

    events = unchanged(Raises)
    assert "fault" in events or hook == "think"


def test_a_cancellation_is_raised_by_hand(unchanged, play):
    class Raises(Broken):
        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)
            if play.host == "asyncio":
                raise asyncio.CancelledError
            if play.host == "trio":
                with trio.CancelScope() as scope:
                    scope.cancel()
                    await trio.sleep(1)
                ctx.abort("trio lets nobody make its Cancelled")
            from agentrt import Cancelled

            raise Cancelled("by hand")

    events = unchanged(Raises)
    assert "abort" in events


def test_it_never_returns(unchanged):
    class Endless(Broken):
        async def run(self, ctx, args):
            await park()

    class EndlessThinker(Broken):
        async def think(self, ctx, args):
            with CancelScope(shield=True):
                await ctx.sleep(1.5)
            await park()

    events = unchanged(Endless, EndlessThinker)
    assert events.count("run") == 1


@pytest.mark.slow
def test_it_lets_no_time_pass(unchanged):
    """Two strands of the agent wake each other for ever."""

    class Livelock(Broken):
        async def run(self, ctx, args):
            await ctx.sleep_ticks(3)
            while True:
                ctx.entity.ping.emit()
                await ctx.entity.pong.wait()

    class Echo(Action):
        does = TOP
        utility = 1.0

        async def think(self, ctx, args):
            ctx.entity.ping, ctx.entity.pong = Signal(), Signal()
            while True:
                await ctx.entity.ping.wait()
                ctx.entity.pong.emit()

    events = unchanged(Livelock, Echo)
    assert "fault" in events


def test_its_plans_take_no_time(unchanged):
    class Instant(Broken):
        async def run(self, ctx, args):
            pass

    class Flips(Action):
        does = "t:find"
        utility = 0.9
        Output = Find.Output

        async def think(self, ctx, args):
            for load in range(100):
                ctx.set_think_output(load=load)
                if load % 2:
                    ctx.clear_think_output()
            await ctx.sleep_ticks(1)
            ctx.set_think_output(load=1)

    events = unchanged(Instant, Flips)
    assert events.count("complete") == TICKS


@pytest.mark.slow
def test_it_awaits_after_it_was_cancelled(unchanged):
    class Clings(Broken):
        async def think(self, ctx, args):
            ctx.set_think_output()
            await ctx.entity.world.bell.wait()

        async def run(self, ctx, args):
            try:
                await ctx.sleep(100)
            finally:
                await ctx.sleep(100)

    class ClingsForEver(Action):
        does = TOP
        utility = 0.96

        async def think(self, ctx, args):
            await ctx.sleep_ticks(5)
            ctx.set_think_output()

        async def run(self, ctx, args):
            while True:
                try:
                    await ctx.sleep(100)
                except GeneratorExit:
                    raise
                except BaseException:
                    pass

    class Interrupts(Action):
        does = TOP
        utility = 1.0

        async def think(self, ctx, args):
            await ctx.sleep_ticks(10)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(3)

    events = unchanged(Clings, ClingsForEver, Interrupts)
    assert events.count("preempt") >= 2
    assert "fault" in events
    assert events.count("complete") >= 1


def test_it_awaits_what_the_host_cannot_wait_for(unchanged, play):
    class Foreign(Broken):
        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)
            if play.host == "trio":
                await asyncio.sleep(1)
            elif play.host == "asyncio":
                await trio.sleep(1)
            else:
                await asyncio.get_event_loop_policy().new_event_loop().create_future()

    class Odd(Broken):
        async def run(self, ctx, args):
            await Strange()

    class Strange:
        def __await__(self):
            yield "a word"

    loops = []
    if play.host == "plain":

        class Foreign(Broken):
            async def run(self, ctx, args):
                await ctx.sleep_ticks(2)
                loop = asyncio.new_event_loop()
                loops.append(loop)
                await loop.create_future()

    events = unchanged(Foreign, Odd)
    for loop in loops:
        loop.close()
    assert events[-1] == "killed"


def test_it_blocks_the_event_loop_for_a_second(unchanged, play):
    class Blocks(Broken):
        async def run(self, ctx, args):
            await ctx.sleep_ticks(3)
            if play.host == "asyncio":
                asyncio.get_running_loop().now += 1.0
            elif play.host == "trio":
                trio.lowlevel.current_clock().jump(1.0)

    events = unchanged(Blocks)
    assert events.count("complete") > 10


def test_it_misuses_its_context(unchanged):
    class Misuses(Broken):
        async def think(self, ctx, args):
            ctx.set_utility(0.5)

    class Undeclared(Broken):
        async def think(self, ctx, args):
            ctx.set_think_output(nothing="declares it")

    class TooLate(Broken):
        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)
            ctx.set_think_output()

    class NoArguments(Broken):
        async def run(self, ctx, args):
            await ctx.execute("t:carry", weight=7)

    events = unchanged(Misuses, Undeclared, TooLate, NoArguments)
    assert events.count("disabled") >= 2
    assert events[-1] == "killed"


def test_it_is_a_step_of_itself(unchanged):
    class Recursive(CompoundAction):
        does = "t:self"
        utility = 0.9
        steps = [step("t:self")]

    class Begins(CompoundAction):
        does = TOP
        utility = 0.9
        steps = [step("t:self")]

    events = unchanged(Recursive, Begins)
    assert "fault" in events


def test_it_comes_and_goes(unchanged):
    """Removed, added again, and its knowledge changed in the middle of everything."""

    class Restless(Broken):
        async def run(self, ctx, args):
            await ctx.sleep_ticks(4)

    injections = []

    def disturb(runtime, agent):
        if runtime.tick % 6 == 2 and agent.runtime is not None:
            injections.append(agent.inject(Wander, source="again"))
        elif runtime.tick % 6 == 4 and injections:
            injections.pop().revoke()
        elif runtime.tick % 20 == 5 and agent.runtime is not None:
            runtime.remove(agent)
        elif runtime.tick % 20 == 7 and agent.runtime is None:
            runtime.add(agent)

    unchanged(Restless, disturb=disturb)


# --- broken packs ---------------------------------------------------------------------------------------------------------


def registry():
    packs = {"ai_pack:a": {"ai_packs": ["t:ai_pack:b"]}, "ai_pack:b": {"ai_packs": ["t:ai_pack:a"]}}
    return Registry([Manifest("t", {"actions:wander": Wander, **packs})])


@pytest.mark.parametrize(
    ("pack", "error", "text"),
    [
        ({"action": ["t:actions:wander"]}, InvalidPackError, "'actions'"),
        ({"actions": ["t:actions:wonder"]}, UnknownAliasError, "'t:actions:wander'"),
        ({"ai_packs": ["t:ai_pack:a"]}, PackCycleError, "t:ai_pack:a -> t:ai_pack:b -> t:ai_pack:a"),
        ("t:ai_pack:b", PackCycleError, "t:ai_pack:b -> t:ai_pack:a -> t:ai_pack:b"),
        ("t:ai_pack:c", UnknownAliasError, "nobody registered 't:ai_pack:c'"),
        ({"actions": 7}, InvalidPackError, "#/actions"),
    ],
    ids=["wrong key", "unknown action", "cycle", "alias of a cycle", "unknown pack", "wrong type"],
)
def test_a_pack_is_broken(unchanged, pack, error, text):
    raised = []
    known_packs = registry()

    def disturb(runtime, agent):
        if runtime.tick == 5:
            agent._knowledge._registry = known_packs
            known = agent.actions
            with pytest.raises(error) as info:
                agent.inject(pack)
            raised.append(str(info.value))
            assert agent.actions == known

    events = unchanged(Broken, disturb=disturb)
    assert text in raised[0]
    assert "injected" not in events


def test_an_injected_action_does_not_fit(unchanged):
    class OtherArgs(Action):
        does = "t:carry"
        utility = 0.5

        class Args(ActionArgs):
            weight: str

    def disturb(runtime, agent):
        if runtime.tick == 5:
            known = agent.actions
            with pytest.raises(DefinitionError, match="takes? the same arguments"):
                agent.inject(OtherArgs)
            with pytest.raises(DefinitionError, match="not an action"):
                agent.inject(dict)
            assert agent.actions == known

    unchanged(Broken, disturb=disturb)
