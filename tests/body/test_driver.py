"""A lone body and routines: reports once, ends once, and cleans up wherever it is cancelled, on every host."""

from __future__ import annotations

import gc
import warnings

import pytest

from agentrt import CancelScope, Runtime, sleep_ticks
from agentrt.body.driver import LoneBody, Routine, note, tick_of
from agentrt.errors import NotRunningError
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.trace import TraceEvent


class Told:
    """A body's reports, and the routines that ended."""

    def __init__(self, kernel):
        self.faults = []
        self.ended = []
        self.body = LoneBody(name="ann", kernel=kernel, report=lambda *what: self.faults.append(what))

    def routine(self, coro, hook="run"):
        return Routine(self.body, "goals/Panic", hook, coro, self.ended.append)


@pytest.fixture
def told():
    made = Told(Kernel())
    yield made
    for _ in range(5):
        made.body.kernel.step_tick()
    assert made.body.kernel.live == 0


# --- a lone body ------------------------------------------------------------------------------------------------------


def test_a_failure_is_reported_once_for_each_place_and_callback(told):
    for path, hook in (("a", "tick"), ("a", "tick"), ("a", "stop"), ("b", "tick"), ("a", "tick")):
        told.body.fault(path, hook, ValueError("no"))
    assert [(path, hook) for path, hook, _ in told.faults] == [("a", "tick"), ("a", "stop"), ("b", "tick")]


def test_without_a_report_it_is_a_warning():
    body = LoneBody()
    with pytest.warns(RuntimeWarning, match="goals/Panic: can_use raised ValueError: no"):
        body.fault("goals/Panic", "can_use", ValueError("no"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        body.fault("goals/Panic", "can_use", ValueError("no"))


def test_it_performs_nothing():
    with pytest.raises(NotRunningError, match="Attach the model to an agent"):
        LoneBody().perform("walk", {}, None)


def test_time_and_trace_are_those_of_its_kernel():
    body, kernel = LoneBody(name="ann"), Kernel()
    note(body, "goals/Panic", TraceEvent.START)
    assert tick_of(body) == 0
    body.kernel = kernel
    kernel.step_tick()
    note(body, "goals/Panic", TraceEvent.START)  # nobody listens
    records = []
    kernel.trace.listen(records.append)
    note(body, "goals/Panic", TraceEvent.STOP, (("reason", "over"),))
    assert tick_of(body) == 1
    assert [(one.tick, one.agent, one.path, one.event, one.detail) for one in records] == [
        (1, "ann", "goals/Panic", TraceEvent.STOP, (("reason", "over"),))
    ]


# --- a routine --------------------------------------------------------------------------------------------------------


def test_without_a_kernel_there_is_no_routine():
    async def work():
        raise AssertionError("it is never stepped")

    coro = work()
    with pytest.raises(NotRunningError, match="give the lone body a kernel"):
        Routine(LoneBody(), "goals/Panic", "run", coro, lambda _: None)
    assert coro.cr_frame is None


def test_it_ends_with_what_it_returned(told):
    async def work():
        await sleep_ticks(2)
        return "done"

    routine = told.routine(work())
    for _ in range(2):
        told.body.kernel.step_tick()
        assert not routine.strand.is_done
        assert told.ended == []
    told.body.kernel.step_tick()
    assert told.ended == [routine]
    assert (routine.strand.is_done, routine.strand.stop_reason, routine.value, routine.error) == (
        True,
        None,
        "done",
        None,
    )
    assert told.faults == []


def test_what_it_raises_is_reported_before_its_end_is_told(told):
    order = []

    async def work():
        raise ValueError("no")

    told.body._report = lambda *what: order.append("reported")
    routine = Routine(told.body, "goals/Panic", "run", work(), lambda _: order.append("ended"))
    told.body.kernel.step_tick()
    assert order == ["reported", "ended"]
    assert isinstance(routine.error, ValueError)
    assert routine.strand.stop_reason is None


def test_the_second_routine_that_fails_alike_is_not_reported(told):
    async def work():
        raise ValueError("no")

    for _ in range(2):
        told.routine(work())
    told.body.kernel.step_tick()
    assert [what[:2] for what in told.faults] == [("goals/Panic", "run")]
    assert len(told.ended) == 2
    assert all(isinstance(one.error, ValueError) for one in told.ended)


def test_stopped_before_its_first_step_it_never_begins(told):
    began = []

    async def work():
        began.append(True)

    routine = told.routine(work())
    routine.stop("not needed")
    assert routine.strand.stop_reason is not None
    told.body.kernel.step_tick()
    assert began == []
    assert told.ended == [routine]
    assert (routine.error, told.faults) == (None, [])


def test_what_its_clean_up_raises_is_an_error(told):
    async def work():
        try:
            await sleep_ticks(100)
        finally:
            raise ValueError("spilled")

    routine = told.routine(work(), "tick")
    told.body.kernel.step_tick()
    routine.stop("enough")
    told.body.kernel.step_tick()
    assert [what[:2] for what in told.faults] == [("goals/Panic", "tick")]
    assert told.ended == [routine]
    assert routine.strand.stop_reason is not None


def test_it_may_be_stopped_by_itself_and_by_its_own_end(told):
    async def work():
        routine.stop("I have had enough")
        routine.stop("really")
        await sleep_ticks(1)
        raise AssertionError("the first wait ends it")

    routine = told.routine(work())
    told.body.kernel.step_tick()
    routine.stop("too late")
    assert told.ended == [routine]
    assert told.faults == []


def test_one_that_does_not_let_time_pass_is_ended_and_reported(told):
    """It waits for routines that end at once, again and again."""
    told.body.kernel.livelock_steps = 50

    async def nothing():
        pass

    async def spin():
        while True:
            await told.routine(nothing()).strand.join()

    routine = told.routine(spin(), "spin")
    told.body.kernel.step_tick()
    assert routine.strand.is_done
    assert [what[:2] for what in told.faults] == [("goals/Panic", "spin")]


def test_an_ended_callback_that_raises_is_a_fault_of_the_kernel(told):
    faults = []
    told.body.kernel.on_fault = lambda text, error: faults.append((text, str(error)))

    async def work():
        pass

    def ended(routine):
        raise ValueError("model")

    Routine(told.body, "goals/Panic", "run", work(), ended)
    told.body.kernel.step_tick()
    assert faults == [("the owner of 'ann: goals/Panic' raised when it ended", "model")]


# --- on every host, cancelled at every await --------------------------------------------------------------------------


class World:
    """Blocks that must be left in the reverse order, each once."""

    def __init__(self):
        self.open = []
        self.left = 0
        self.waits = 0

    def __call__(self, name):
        self.open.append(name)
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.open.pop()
        self.left += 1

    async def wait(self, ticks=1):
        self.waits += 1
        await sleep_ticks(ticks)


async def nested(world):
    with world("outer"):
        await world.wait()
        with world("inner"):
            await world.wait(2)
        await world.wait()


async def with_a_shield(world):
    with world("outer"):
        try:
            await world.wait(3)
        finally:
            with world("shield"), CancelScope(shield=True):
                await world.wait(2)
        await world.wait()


async def with_scopes(world):
    with world("outer"):
        with CancelScope(0.1), world("scope"):
            await world.wait(20)
        with CancelScope() as scope, world("second"):
            scope.cancel()
            await world.wait()
        await world.wait()


@pytest.mark.parametrize("work", [nested, with_a_shield, with_scopes])
@pytest.mark.parametrize("tick", range(1, 9))
def test_cancelled_in_any_tick_every_block_is_left_once(play, work, tick):
    runtime = play.runtime()
    told, world = Told(runtime.kernel), World()
    routine = told.routine(work(world))
    runtime.every_tick(lambda: runtime.tick == tick and routine.stop("enough"))
    entered = []
    runtime.after_tick(lambda: entered.append(len(world.open)))
    play.ticks(runtime, 14)
    assert world.open == []
    assert told.ended == [routine]
    assert told.faults == []
    assert routine.strand.is_done
    assert max(entered, default=0) <= world.left


def test_it_may_await_what_the_host_offers(play_loop):
    runtime = play_loop.runtime(ticks_per_second=10)
    told = Told(runtime.kernel)
    log = []

    async def work():
        try:
            await play_loop.sleep(0.25)
            log.append("slept")
            await play_loop.sleep(1000)
        finally:
            log.append("left")

    async def main():
        routine = told.routine(work())
        runtime.every_tick(lambda: runtime.tick == 6 and routine.stop("enough"))
        await runtime.run(8)
        await runtime.aclose()

    play_loop(main)
    assert log == ["slept", "left"]
    assert len(told.ended) == 1
    assert told.faults == []


def test_what_a_task_group_of_the_host_raises_is_reported_once(play_loop):
    runtime = play_loop.runtime()
    told = Told(runtime.kernel)

    async def fail():
        raise ValueError("no")

    async def work():
        await play_loop.together(fail, fail)

    async def main():
        told.routine(work())
        await runtime.run(4)
        await runtime.aclose()

    play_loop(main)
    assert [what[:2] for what in told.faults] == [("goals/Panic", "run")]
    assert len(told.ended) == 1


def test_a_routine_that_nobody_steps_any_more_is_closed_quietly():
    runtime = Runtime(host="plain")
    told = Told(runtime.kernel)

    async def work():
        await sleep_ticks(100)

    routine = told.routine(work())
    runtime.step()
    coro = routine.strand.coro
    coro.close()
    del coro, routine
    gc.collect()
    assert told.faults == []
