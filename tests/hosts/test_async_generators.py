"""An async generator that is broken off is closed in a strand of the kernel it was iterated on: quietly, and wholly.

All of it on each host, with whatever would say something on standard error turned into a finding.
"""

from __future__ import annotations

import asyncio
import gc
import math
import sys
import threading
import warnings

import pytest
from cast import QuietOwner
from players import HOSTS

from agentrt import TOP, Action, Agent, CancelScope, Entity, Runtime
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.traps import next_tick, sleep_ticks


@pytest.fixture(autouse=True)
def quiet(monkeypatch, caplog):
    """Nothing is said by the garbage collector, asyncio or trio."""
    said = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: said.append(f"{what.object!r}: {what.exc_value!r}"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield said
        gc.collect()
    said += [record.getMessage() for record in caplog.records if record.name in ("asyncio", "trio")]
    assert said == []


def run(host, make, ticks=6, close=True):
    """Drive a runtime on a host, from its first tick to its end; returns it."""
    runtime = Runtime(5, host=host)
    make(runtime)

    async def whole():
        await runtime.run(ticks, speed=math.inf)
        if close:
            await runtime.aclose()

    if host == "plain":
        for _ in range(ticks):
            runtime.step()
        if close:
            runtime.close()
    elif host == "asyncio":
        asyncio.run(whole())
    else:
        import trio

        trio.run(whole)
    return runtime


class Log(list):
    """What happens, with the tick."""

    def of(self, runtime):
        return lambda *what: self.append((runtime.tick, *what))


async def numbers(note, wait=0, error=None):
    """Counts for ever; its clean-up may wait, and may raise."""
    try:
        number = 0
        while True:
            yield number
            await next_tick()
            number += 1
    finally:
        note("closing")
        for _ in range(wait):
            await next_tick()
        note("closed")
        if error is not None:
            raise error


def breaking(how, note, **options):
    """A coroutine function that leaves the loop in one of the ways in which that is done."""

    async def breaks():
        async for number in numbers(note, **options):
            note(number)
            if number == 1:
                if how == "break":
                    break
                if how == "return":
                    return
                if how == "raise":
                    raise KeyError("its own")
                await sleep_ticks(60)  # and is cancelled there
        note("after")
        await sleep_ticks(60)

    return breaks


@pytest.mark.states(
    "tools: Outside: An async generator that is left half-iterated is closed in a strand, in the same tick on every "
    "host, and nobody says anything on standard error",
    source="design 2",
)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("wait", [0, 2])
@pytest.mark.parametrize("how", ["break", "return", "raise", "cancel"])
def test_it_is_closed_and_its_clean_up_may_wait(host, how, wait, caplog):
    log = Log()

    def make(runtime):
        note = log.of(runtime)
        strands = []

        async def world():
            strands.append(runtime.kernel.spawn(breaking(how, note, wait=wait)(), "breaks", QuietOwner()))
            await sleep_ticks(2)
            if how == "cancel":
                strands[0].stop("enough")

        runtime.spawn(world)

    run(host, make)
    closing = {"break": 2, "return": 2, "raise": 2, "cancel": 3}[how]
    after = [(2, "after")] if how == "break" else []
    rest = [(closing, "closing"), (closing + wait, "closed")]
    assert log == [(1, 0), (2, 1), *sorted([*after, *rest], key=lambda one: one[0])]


class Counts(Action):
    """What an author writes."""

    does = TOP
    utility = 0.5
    log: Log

    async def run(self, ctx, args):
        async for number in numbers(lambda *what: self.log.append((ctx.clock.tick, *what)), wait=1):
            self.log.append((ctx.clock.tick, number))
            await ctx.sleep_ticks(1 if number < 2 else 60)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("how", ["removed", "closed"])
def test_an_agent_that_is_removed_or_whose_runtime_is_closed(host, how, monkeypatch):
    log = Log()
    monkeypatch.setattr(Counts, "log", log, raising=False)

    def make(runtime):
        agent = runtime.add(Agent(Entity("clerk"), actions=[Counts]))
        if how == "removed":

            async def removes():
                await sleep_ticks(5)
                runtime.remove(agent)

            runtime.spawn(removes)

    runtime = run(host, make, ticks=9)
    assert [what for _, what in log] == [0, 1, 2, "closing", *(["closed"] if how == "removed" else [])]
    assert (runtime.kernel.live, runtime.kernel.strays.strands) == (0, {})


@pytest.mark.states("tools: Outside: An async generator that is left half-iterated is closed in a strand, in the ...")
@pytest.mark.parametrize("host", HOSTS)
def test_what_is_named_by_somebody_is_closed_with_the_runtime(host):
    log, kept = Log(), []

    def make(runtime):
        async def world():
            for wait in (0, 2):
                kept.append(numbers(log.of(runtime), wait))
                await kept[-1].__anext__()

        runtime.spawn(world)

    run(host, make, ticks=3)
    assert [what for _, what in log] == ["closing", "closed", "closing"]  # the second is stopped, like any other strand
    assert [one.ag_frame for one in kept] == [None, None]


@pytest.mark.parametrize("host", HOSTS)
def test_what_a_clean_up_raises_is_a_fault_and_told_once(host):
    told = []

    def make(runtime):
        runtime.on_fault(lambda fault: told.append((fault.tick, fault.text, fault.error.args)))
        runtime.spawn(breaking("break", lambda *_: None, error=KeyError("mine")))

    run(host, make)
    assert told == [(2, "the strand 'closing numbers' raised", ("mine",))]


async def stubborn(note):
    """Does not let itself be closed."""
    while True:
        try:
            yield 1
        except GeneratorExit:
            note("refuses")


@pytest.mark.parametrize("host", HOSTS)
def test_one_that_refuses_to_be_closed_is_a_fault(host):
    told, log = [], Log()

    def make(runtime):
        runtime.on_fault(lambda fault: told.append(str(fault.error)))

        async def world():
            async for _ in stubborn(log.of(runtime)):
                break

        runtime.spawn(world)

    run(host, make)
    assert told == ["async generator ignored GeneratorExit"]
    assert log[0] == (1, "refuses")


@pytest.mark.parametrize("host", HOSTS)
def test_a_clean_up_that_never_ends_is_killed_when_the_runtime_is_closed(host):
    told = []

    async def endless():
        try:
            yield
        finally:
            while True:
                try:
                    await next_tick()
                except BaseException:
                    pass

    def make(runtime):
        runtime.on_fault(lambda fault: told.append(str(fault.error)))

        async def world():
            async for _ in endless():
                break

        runtime.spawn(world)

    runtime = run(host, make, ticks=2)
    assert any("closing" in text and "endless" in text for text in told)
    assert runtime.kernel.live == 0


@pytest.mark.parametrize("host", HOSTS)
def test_a_clean_up_may_await_what_a_strand_may(host):
    told, log = [], Log()

    async def rests():
        try:
            yield
        finally:
            with CancelScope():
                if host == "trio":
                    import trio

                    await trio.lowlevel.checkpoint()
                else:
                    await asyncio.sleep(0)
            log.append("rested")

    def make(runtime):
        runtime.on_fault(lambda fault: told.append(type(fault.error).__name__))

        async def world():
            async for _ in rests():
                break
            await sleep_ticks(2)

        runtime.spawn(world)

    run(host, make)
    assert (told, log) == ((["ForeignAwaitError"], []) if host == "plain" else ([], ["rested"]))


@pytest.mark.parametrize("host", HOSTS)
def test_one_that_ends_by_itself_or_is_closed_by_hand_needs_nobody(host):
    log, spawned = Log(), []

    async def few():
        try:
            for number in range(3):
                yield number
                await next_tick()
        finally:
            log.append("closed")

    def make(runtime):
        spawn = runtime.kernel.spawn

        def noted(coro, name="strand", owner=None):
            spawned.append(name)
            return spawn(coro, name, owner)

        runtime.kernel.spawn = noted

        async def world():
            async for _ in few():
                pass
            by_hand = few()
            async for _ in by_hand:
                break
            await by_hand.aclose()
            never_begun = few()
            del never_begun

        runtime.spawn(world, name="world")

    runtime = run(host, make)
    assert (log, spawned) == (["closed"] * 2, ["world"])
    assert repr(runtime.kernel.generators) == "<Generators: 0 open>"


@pytest.mark.parametrize("host", HOSTS)
def test_generators_in_generators(host):
    log = Log()

    async def outer(note):
        try:
            async for number in numbers(note, wait=1):
                yield number
        finally:
            note("outer")

    def make(runtime):
        note = log.of(runtime)

        async def world():
            async for _ in outer(note):
                break
            await sleep_ticks(9)

        runtime.spawn(world)

    run(host, make)
    assert log == [(1, "outer"), (1, "closing"), (2, "closed")]


@pytest.mark.parametrize("host", HOSTS)
def test_a_runtime_that_nobody_closes_says_nothing(host):
    log = Log()

    def makes(runtime):
        runtime.spawn(breaking("cancel", lambda *what: log.append(what), wait=1))

    run(host, makes, ticks=4, close=False)
    gc.collect()


def test_the_garbage_collector_on_another_thread():
    log = Log()
    runtime = Runtime(host="plain")
    kept = []

    async def world():
        kept.append(numbers(log.of(runtime)))
        await kept[0].__anext__()

    runtime.spawn(world)
    runtime.step()
    thread = threading.Thread(target=kept.clear)
    thread.start()
    thread.join()
    assert log == []
    runtime.step()
    assert log == [(2, "closing"), (2, "closed")]
    kept.append(1)
    runtime.close()


def test_between_two_ticks_and_in_cycles():
    log = Log()
    runtime = Runtime(host="plain")
    kept = []

    class Holder:
        pass

    async def world():
        for _ in range(2):
            holder = Holder()
            holder.myself, holder.generator = holder, numbers(log.of(runtime), wait=1)
            await holder.generator.__anext__()
            kept.append(holder)

    runtime.spawn(world)
    runtime.step()
    kept[0].generator = None  # nobody names it any more, and no tick runs
    runtime.step()
    assert log == [(2, "closing")]
    runtime.step()
    kept.clear()
    gc.collect()
    runtime.close()
    assert log == [(2, "closing"), (3, "closed"), (4, "closing")]  # and there it is stopped


def test_the_hooks_of_others_are_left_alone():
    ours, theirs = [], []

    def first(generator):
        theirs.append("first")

    async def one():
        yield
        ours.append(sys.get_asyncgen_hooks())

    kernel = Kernel()

    async def strand():
        async for _ in one():
            pass
        inner = Kernel()  # a world within a world
        inner.spawn(strand_within())
        inner.step_tick()
        ours.append(sys.get_asyncgen_hooks())

    async def strand_within():
        ours.append(sys.get_asyncgen_hooks())

    outside = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(first, None)
    try:
        kernel.spawn(strand())
        kernel.step_tick()
        assert sys.get_asyncgen_hooks() == (first, None)
    finally:
        sys.set_asyncgen_hooks(*outside)
    assert theirs == []
    assert ours[0] == ours[2] == kernel.generators.hooks
    assert ours[1] not in (ours[0], (first, None))


@pytest.mark.parametrize("library", ["asyncio", "trio"])
def test_a_task_beside_the_runtime_has_its_own_generators(library):
    """What a task of the event loop breaks off is closed by that loop, while a runtime runs beside it."""
    log = []

    async def plain(sleep):
        try:
            while True:
                yield
                await sleep(0)
        finally:
            log.append("closed")

    async def beside(sleep):
        from contextlib import aclosing

        async with aclosing(plain(sleep)) as generator:
            async for _ in generator:
                break
        left = plain(sleep)
        await left.__anext__()
        log.append(left)

    if library == "asyncio":

        async def main():
            async with Runtime() as runtime:
                task = asyncio.create_task(beside(asyncio.sleep))
                await runtime.run(3, speed=math.inf)
                await task
            assert len(log) == 2

        asyncio.run(main())
    else:
        import trio

        async def main():
            async with Runtime() as runtime, trio.open_nursery() as nursery:
                nursery.start_soon(beside, trio.sleep)
                await runtime.run(3, speed=math.inf)
            assert len(log) == 2

        trio.run(main)
    assert log[2:] == ["closed"]  # at the end of the loop
