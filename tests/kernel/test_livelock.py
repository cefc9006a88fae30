"""The livelock guard: whoever does not let time pass is found, only it dies, and no tick runs for ever."""

from __future__ import annotations

import pytest
from strands import GOOD_THREE_TICKS, wakes_itself, with_neighbors

from agentrt.errors import LivelockError
from agentrt.kernel.signals import Event, Queue, Signal
from agentrt.kernel.strand import Cancelled, CancelScope, current_strand, kill
from agentrt.kernel.traps import next_tick, park, sleep_ticks

# --- strands that run on and on ---------------------------------------------------------------------------------------


async def opens_cancelled_scopes(lab):
    while True:
        with CancelScope() as scope:
            scope.cancel()
            await next_tick()


async def swallows_its_own_cancellation(lab):
    current_strand().stop("by itself")
    while True:
        try:
            await park()
        except Cancelled:
            pass


@pytest.mark.parametrize("bad", [wakes_itself, opens_cancelled_scopes, swallows_its_own_cancellation])
def test_a_strand_that_never_lets_time_pass_is_killed_alone(lab, bad):
    strand = with_neighbors(lab, bad(lab))
    lab.tick(3)
    assert strand.is_done
    assert isinstance(strand.error, LivelockError)
    assert lab.take_faults() == [("the strand 'bad' raised", "LivelockError")]
    assert lab.log == GOOD_THREE_TICKS


def test_the_error_says_who_where_and_what_to_do(lab):
    strand = with_neighbors(lab, wakes_itself(lab))
    lab.tick()
    lab.take_faults()
    error = strand.error
    assert (error.code, error.steps, error.tick) == ("ART302", 1000, 1)
    assert error.path.startswith(f"bad ({wakes_itself.__code__.co_filename}:")
    assert "took 1000 steps within one tick without time passing. Put an 'await ctx.next_tick()'" in str(error)


@pytest.mark.parametrize("ties", ["signals", "queue"])
def test_of_two_strands_that_keep_each_other_awake_one_is_killed(lab, ties):
    """Which of the two is not for the kernel to know: it is the one that the count reaches first, the same in each run."""
    ping, pong, queue = Signal(), Signal(), Queue(limit=1)
    ended = []

    class Owner:
        def on_strand_end(self, strand, result, error):
            ended.append((strand.name, type(error).__name__))

    async def plays(mine, other):
        while True:
            other.emit()
            await mine.wait()

    async def puts():
        while True:
            await queue.put("item")

    async def gets():
        while True:
            await queue.get()

    first, second = (plays(ping, pong), plays(pong, ping)) if ties == "signals" else (puts(), gets())
    lab.spawn(first, "first", Owner())
    lab.spawn(second, "second", Owner())
    lab.tick(2)
    assert ended == [("second", "LivelockError")]
    assert lab.strands[0].state == "parked"


def test_the_limit_can_be_set(lab):
    lab.kernel.livelock_steps = 50
    strand = with_neighbors(lab, wakes_itself(lab))
    lab.tick()
    assert strand.error.steps == 50
    lab.take_faults()


@pytest.mark.parametrize(("steps", "lives"), [(50, True), (51, False)])
def test_who_takes_as_many_steps_as_the_limit_lives(lab, steps, lives):
    """Of those that are counted: when it is woken, another one has made the tick suspicious, and been killed."""
    lab.kernel.livelock_steps = 50
    gone, again = Event(), Signal()

    class Owner:
        def on_strand_end(self, strand, result, error):
            gone.set()

    def wake():  # calls are counted by name: these are no more of what woke the other one
        again.emit()

    async def counted():
        await gone.wait()
        for _ in range(steps - 1):
            lab.kernel.call_soon(wake)
            await again.wait()
        lab.note("lives")
        await park()

    lab.spawn(counted(), "counted")
    lab.spawn(wakes_itself(lab), "bad", Owner())
    lab.tick()
    assert [one[1] for one in lab.log if one[1] == "lives"] == ["lives"] * lives
    lab.take_faults()


def test_the_error_can_be_caught_and_ends_the_strand_all_the_same(lab):
    async def stubborn():
        try:
            await wakes_itself(lab)
        except LivelockError:
            lab.note("caught")
            await next_tick()
            lab.note("never")

    strand = with_neighbors(lab, stubborn())
    lab.tick(2)
    assert (1, "caught") in lab.log
    assert (2, "never") not in lab.log
    assert isinstance(strand.error, LivelockError)
    assert lab.take_faults() == [("the strand 'bad' raised", "LivelockError")]


def test_the_finally_blocks_of_a_killed_strand_run_as_its_own(lab):
    async def tidy():
        scope = CancelScope()
        try:
            with scope:
                await wakes_itself(lab)
        finally:
            lab.note(current_strand().name)
            with CancelScope(shield=True):
                await sleep_ticks(1)
                lab.note("never: a killed strand does not wait any more")

    bad = with_neighbors(lab, tidy())
    lab.tick(3)
    assert (1, "bad") in lab.log
    assert [strand.scope for strand in lab.strands] == [None, None, None]
    assert bad.is_done
    assert lab.take_faults() == [("the strand 'bad' raised", "LivelockError")]
    assert [entry for entry in lab.log if entry[1] != "bad"] == GOOD_THREE_TICKS


def test_the_owner_of_a_killed_strand_is_told(lab):
    class Owner:
        def on_strand_end(self, strand, result, error):
            lab.note(strand.name, type(error).__name__)

    with_neighbors(lab, wakes_itself(lab), Owner())
    lab.tick()
    assert lab.log == [(1, "before"), (1, "after"), (1, "bad", "LivelockError")]


# --- strands that do not take no for an answer ------------------------------------------------------------------------


def test_a_strand_that_swallows_its_cancellation_and_waits_again_is_killed(lab):
    async def swallows():
        while True:
            try:
                await next_tick()
            except Cancelled:
                pass

    bad = with_neighbors(lab, swallows())
    lab.tick(2)
    bad.stop("enough")
    lab.tick()
    assert isinstance(bad.error, LivelockError)
    assert lab.take_faults() == [("the strand 'bad' raised", "LivelockError")]
    assert lab.log == GOOD_THREE_TICKS


def test_a_strand_that_swallows_everything_a_few_hundred_times_may_go_on(lab):
    async def swallows():
        for _ in range(400):
            try:
                await next_tick()
            except Cancelled:
                pass
        return "gave in"

    bad = with_neighbors(lab, swallows())
    lab.tick()
    bad.stop("enough")
    lab.tick()
    assert bad.value == "gave in"


def refuses(lab, times):
    """A coroutine that catches whatever is thrown at it, so many times after it was told of the livelock."""

    async def refuse():
        left = times
        while left:
            try:
                await park()
            except BaseException as error:
                if not isinstance(error, Cancelled):
                    lab.note(type(error).__name__)
                    left -= 1

    return refuse()


def test_a_strand_that_catches_the_livelock_error_is_closed(lab):
    bad = with_neighbors(lab, refuses(lab, 2))
    lab.tick()
    bad.stop()
    lab.tick(2)
    assert isinstance(bad.error, LivelockError)
    assert [entry for entry in lab.log if entry[1] not in ("before", "after")] == [
        (2, "LivelockError"),
        (2, "GeneratorExit"),
    ]
    assert lab.take_faults() == [("the strand 'bad' raised", "LivelockError")]
    assert lab.kernel.abandoned == []


def test_a_strand_that_refuses_to_be_closed_is_abandoned_where_it_stands(lab):
    bad = with_neighbors(lab, refuses(lab, 3))
    coro = bad.coro
    lab.tick()
    bad.stop()
    lab.tick(2)
    assert bad.is_done
    assert isinstance(bad.error, LivelockError)
    assert "coroutine ignored GeneratorExit" in str(bad.error.__context__)
    assert lab.take_faults() == [("the strand 'bad' raised", "LivelockError")]
    assert lab.kernel.abandoned == [coro]
    assert [entry for entry in lab.log if entry[1] in ("before", "after")] == GOOD_THREE_TICKS
    coro.close()  # its third refusal was its last


def test_a_strand_that_answers_the_livelock_error_with_another_error(lab):
    async def answers():
        while True:
            try:
                await park()
            except Cancelled:
                pass
            except LivelockError as error:
                raise KeyError("answer") from error

    bad = with_neighbors(lab, answers())
    lab.tick()
    bad.stop()
    lab.tick()
    assert isinstance(bad.error, LivelockError)
    assert repr(bad.error.__context__) == "KeyError('answer')"
    assert lab.take_faults() == [("the strand 'bad' raised", "LivelockError")]


def test_a_parked_strand_that_is_killed_takes_nobody_elses_turn(lab):
    """Killing from outside: the waits that the strand was in forget it."""
    queue = Queue()

    async def gets(name):
        lab.note(name, await queue.get())

    first, second = lab.spawn(gets("a"), "a"), lab.spawn(gets("b"), "b")
    sleeper = lab.spawn(sleep_then(lab, 3), "sleeper")
    lab.tick()
    kill(first, LivelockError(1))
    kill(sleeper, LivelockError(1))
    kill(sleeper, LivelockError(1))
    queue.put_nowait("item")
    lab.tick(4)
    assert lab.log == [(2, "b", "item")]
    assert second.is_done
    assert lab.kernel.agenda.stale == 0
    assert lab.take_faults() == [
        ("the strand 'a' raised", "LivelockError"),
        ("the strand 'sleeper' raised", "LivelockError"),
    ]


async def sleep_then(lab, ticks):
    await sleep_ticks(ticks)
    lab.note("never")


def test_with_the_default_fault_handler_a_kill_raises_once(laboratory):
    lab = laboratory()

    def fault(text, error):
        raise error

    lab.kernel.on_fault = fault
    event = Event()

    async def swallows():
        while True:
            try:
                await event.wait()
            except Cancelled:
                pass

    strand = lab.spawn(swallows())
    lab.tick()
    strand.stop()
    with pytest.raises(LivelockError):
        lab.tick()
    assert lab.kernel.live == 0
    lab.tick()
