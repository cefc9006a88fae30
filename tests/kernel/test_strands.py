"""Strands: their states and reprs as a table, stopping, how they end, and who is told."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
from strands import parked

from agentrt.kernel.kernel import Kernel
from agentrt.kernel.signals import Signal
from agentrt.kernel.strand import Cancelled, CancelScope
from agentrt.kernel.traps import next_tick, park, sleep_ticks


class Owner:
    def __init__(self, lab):
        self.lab = lab

    def on_strand_end(self, strand, result, error):
        self.lab.note(strand.name, "ended", result, repr(error))


async def sleeps():
    await sleep_ticks(9)


async def returns():
    return 42


async def raises():
    raise ValueError("broken")


# --- states -----------------------------------------------------------------------------------------------------------


def fresh(lab):
    return lab.spawn(park(), "s")


def ready_again(lab):
    signal = Signal()

    async def hears():
        await signal.wait()

    strand = lab.spawn(hears(), "s")
    lab.tick()
    signal.emit()
    return strand


def sleeping(lab):
    strand = lab.spawn(sleeps(), "s")
    lab.tick()
    return strand


def stopped_while_ready(lab):
    strand = fresh(lab)
    strand.stop("why not")
    return strand


def stopped_while_asleep(lab):
    strand = sleeping(lab)
    strand.stop("why not")
    return strand


def stopped_while_parked(lab):
    strand = parked(lab)
    strand.stop("why not")
    return strand


def stopped_behind_a_shield(lab):
    async def shielded():
        with CancelScope(shield=True):
            await sleep_ticks(9)

    strand = lab.spawn(shielded(), "s")
    lab.tick()
    strand.stop("why not")
    return strand


def returned(lab):
    strand = lab.spawn(returns(), "s")
    lab.tick()
    return strand


def raised(lab):
    strand = lab.spawn(raises(), "s")
    lab.tick()
    assert lab.take_faults() == [("the strand 's' raised", "ValueError")]
    return strand


def cancelled(lab):
    strand = stopped_while_parked(lab)
    lab.tick()
    return strand


@pytest.mark.parametrize(
    ("bring_about", "state", "is_done", "words"),
    [
        (fresh, "ready", False, "<Strand 's': ready>"),
        (ready_again, "ready", False, "<Strand 's': ready>"),
        (sleeping, "sleeping", False, "<Strand 's': sleeping until tick 10>"),
        (parked, "parked", False, "<Strand 's': parked>"),
        (stopped_while_ready, "ready", False, "<Strand 's': ready, told to stop: why not>"),
        (stopped_while_asleep, "ready", False, "<Strand 's': ready, told to stop: why not>"),
        (stopped_while_parked, "ready", False, "<Strand 's': ready, told to stop: why not>"),
        (
            stopped_behind_a_shield,
            "sleeping",
            False,
            "<Strand 's': sleeping until tick 10, told to stop: why not>",
        ),
        (returned, "done", True, "<Strand 's': done>"),
        (raised, "done", True, "<Strand 's': done: ValueError: broken>"),
        (cancelled, "done", True, "<Strand 's': done: Cancelled: why not>"),
    ],
)
def test_states(lab, bring_about, state, is_done, words):
    strand = bring_about(lab)
    assert strand.state == state
    assert strand.is_done is is_done
    assert repr(strand) == words


def test_a_strand_that_runs_says_so(lab):
    async def strand():
        lab.note(this.state, repr(this))
        await next_tick()
        lab.note(this.state)
        this.stop("enough")
        lab.note(repr(this))

    this = lab.spawn(strand(), "s")
    lab.tick(2)
    assert lab.log == [
        (1, "running", "<Strand 's': running>"),
        (2, "running"),
        (2, "<Strand 's': running, told to stop: enough>"),
    ]


def test_a_sleeper_is_ready_in_the_tick_in_which_it_is_due(lab):
    strand = lab.spawn(sleeps(), "s")
    lab.tick(9)
    assert strand.state == "sleeping"
    states = []
    lab.kernel.post(lambda: states.append(strand.state))
    lab.kernel.every_tick(lambda: states.append(strand.state))
    lab.tick()
    assert states == ["ready", "ready"]
    assert strand.state == "done"


def test_where_names_the_line_of_the_author(lab):
    signal = Signal()

    async def inner():
        await signal.wait()  # here

    async def outer():
        await inner()

    strand = lab.spawn(outer())
    lab.tick()
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if text.endswith("# here"))
    assert strand.where() == f"{__file__}:{line}"
    strand.stop()
    lab.tick()
    assert strand.where() == ""


# --- stopping ---------------------------------------------------------------------------------------------------------


def test_stop_before_the_first_step_runs_nothing_of_it(lab):
    async def strand():
        lab.note("never")
        try:
            await park()
        finally:
            lab.note("never")

    stopped = lab.spawn(strand(), "s", Owner(lab))
    stopped.stop("not needed")
    lab.tick()
    assert lab.log == [(1, "s", "ended", None, "Cancelled('not needed')")]


def test_the_first_reason_counts(lab):
    strand = parked(lab)
    strand.stop("first")
    strand.stop("second")
    lab.tick()
    strand.stop("third")
    assert strand.stop_reason == "first"
    assert strand.error.reason == "first"


def test_stopping_a_strand_that_is_done_does_nothing(lab):
    strand = returned(lab)
    strand.stop()
    lab.tick()
    assert strand.stop_reason is None
    assert (strand.value, strand.error) == (42, None)


def test_a_stop_that_is_swallowed_by_returning_is_a_result(lab):
    async def strand():
        try:
            await park()
        except Cancelled:
            return "tidied up"

    swallows = lab.spawn(strand())
    lab.tick()
    swallows.stop()
    lab.tick()
    assert (swallows.value, swallows.error) == ("tidied up", None)


def test_a_stop_whose_finally_block_raises_is_an_error(lab):
    async def strand():
        try:
            await park()
        finally:
            raise KeyError("in finally")

    broken = lab.spawn(strand(), "s")
    lab.tick()
    broken.stop()
    lab.tick()
    assert repr(broken) == "<Strand 's': done: KeyError: 'in finally'>"
    assert lab.take_faults() == [("the strand 's' raised", "KeyError")]


def test_a_stop_is_a_level(lab):
    async def strand():
        for _ in range(3):
            try:
                await sleep_ticks(5)
            except Cancelled:
                lab.note("raised")

    stopped = lab.spawn(strand())
    lab.tick()
    stopped.stop()
    lab.tick()
    assert lab.log == [(2, "raised")] * 3
    assert stopped.is_done


def test_an_own_scope_does_not_catch_the_stop(lab):
    async def strand():
        with CancelScope() as scope:
            await park()
        lab.note("never", scope)

    stopped = lab.spawn(strand())
    lab.tick()
    stopped.stop("whole strand")
    lab.tick()
    assert lab.log == []
    assert isinstance(stopped.error, Cancelled)


def test_strands_that_stop_each_other(lab):
    async def strand(name, other):
        try:
            await next_tick()
            strands[other].stop(f"by {name}")
            await next_tick()
            lab.note(name, "never")
        finally:
            lab.note(name, "ends")

    strands = {}
    strands["a"] = lab.spawn(strand("a", "b"))
    strands["b"] = lab.spawn(strand("b", "a"))
    lab.tick(3)
    # b is stopped before it comes to stop a.
    assert lab.log == [(2, "b", "ends"), (3, "a", "never"), (3, "a", "ends")]


# --- the end ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("coro", "result", "error"),
    [(returns, 42, "None"), (raises, None, "ValueError('broken')"), (park, None, "Cancelled('enough')")],
)
def test_the_owner_is_told(lab, coro, result, error):
    strand = lab.spawn(coro(), "s", Owner(lab))
    lab.tick()
    strand.stop("enough")
    lab.tick()
    tick = 2 if coro is park else 1
    assert lab.log == [(tick, "s", "ended", result, error)]


def test_the_owner_sees_a_strand_that_is_done_and_may_spawn_its_successor(lab):
    class Successor:
        def on_strand_end(self, strand, result, error):
            lab.note(strand.state, strand.value, lab.kernel.live)
            if result < 2:
                lab.spawn(next_one(result + 1), "s", self)

    async def next_one(number):
        return number

    lab.spawn(next_one(0), "s", Successor())
    lab.tick()
    assert lab.log == [(1, "done", 0, 0), (1, "done", 1, 0), (1, "done", 2, 0)]


def test_an_error_without_an_owner_is_reported_and_takes_nobody_with_it(lab):
    async def good(name):
        for _ in range(2):
            lab.note(name)
            await next_tick()

    lab.spawn(good("before"))
    lab.spawn(raises(), "bad")
    lab.spawn(good("after"))
    lab.tick(2)
    assert lab.log == [(1, "before"), (1, "after"), (2, "before"), (2, "after")]
    assert lab.take_faults() == [("the strand 'bad' raised", "ValueError")]


def test_a_cancelled_strand_without_an_owner_is_no_fault(lab):
    strand = parked(lab)
    strand.stop()
    lab.tick()
    assert lab.faults == []


def test_an_owner_that_raises_is_reported(lab):
    class Broken:
        def on_strand_end(self, strand, result, error):
            raise LookupError("broken owner")

    lab.spawn(returns(), "s", Broken())
    lab.spawn(returns(), "t", Owner(lab))
    lab.tick()
    assert lab.take_faults() == [("the owner of 's' raised when it ended", "LookupError")]
    assert lab.log == [(1, "t", "ended", 42, "None")]


def test_live_counts_the_strands_that_have_not_ended(lab):
    kernel = lab.kernel
    strands = [fresh(lab), fresh(lab), lab.spawn(returns())]
    assert kernel.live == 3
    lab.tick()
    assert kernel.live == 2
    strands[0].stop()
    assert kernel.live == 2
    lab.tick()
    assert kernel.live == 1


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_of_the_program_passes_through_the_kernel(interruption):
    kernel = Kernel()

    async def interrupted():
        raise interruption

    async def other():
        return "goes on"

    strand = kernel.spawn(interrupted())
    behind = kernel.spawn(other())
    with pytest.raises(interruption):
        kernel.step_tick()
    assert strand.is_done
    kernel.step_tick()
    assert behind.value == "goes on"
    assert kernel.live == 0


def test_by_default_a_fault_raises_where_the_kernel_is_driven_and_the_rest_goes_on_in_the_next_tick():
    kernel = Kernel()
    behind = None

    async def other():
        return kernel.tick

    kernel.spawn(raises())
    behind = kernel.spawn(other())
    with pytest.raises(ValueError, match="broken"):
        kernel.step_tick()
    kernel.step_tick()
    assert behind.value == 2


def test_a_cancelled_strand_holds_on_to_nothing(lab):
    class Big:
        pass

    seen = []

    async def strand():
        big = Big()
        seen.append(weakref.ref(big))
        await park()

    stopped = lab.spawn(strand())
    lab.tick()
    gc.disable()
    try:
        stopped.stop()
        lab.tick()
        assert seen[0]() is None
    finally:
        gc.enable()
