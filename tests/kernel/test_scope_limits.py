"""Cancel scopes with a shield or a deadline, and when exactly a cancellation arrives."""

from __future__ import annotations

import math

import pytest

from agentrt.kernel.signals import Signal
from agentrt.kernel.strand import Cancelled, CancelScope, current_strand, fail_after, move_on_after
from agentrt.kernel.traps import next_tick, park, sleep, sleep_ticks

# --- shield -----------------------------------------------------------------------------------------------------------


def test_a_shield_keeps_cancellation_from_outside_away_until_it_is_left(lab):
    scopes = {}

    async def strand():
        with CancelScope() as scopes["outer"]:
            with CancelScope(shield=True):
                await sleep_ticks(4)
                lab.note("slept to the end")
            lab.note("no wait yet")
            await next_tick()
            lab.note("never")
        lab.note("behind")

    shielded = lab.spawn(strand())
    lab.tick()
    scopes["outer"].cancel()
    assert shielded.state == "sleeping"
    lab.tick(5)
    assert lab.log == [(5, "slept to the end"), (5, "no wait yet"), (5, "behind")]


@pytest.mark.parametrize("moment", ["between ticks", "intake", "strands"])
def test_stopping_a_shielded_strand_does_not_wake_it(lab, moment):
    signal = Signal()

    async def strand():
        try:
            with CancelScope(shield=True):
                await sleep_ticks(3)
                lab.note("slept")
                lab.note(await signal.wait())
        finally:
            lab.note("finally")

    shielded = lab.spawn(strand())
    lab.tick(2)
    if moment == "between ticks":
        shielded.stop("later")
    elif moment == "intake":
        lab.kernel.post(shielded.stop, "later")
    else:
        lab.kernel.call_soon(shielded.stop, "later")
    lab.tick()
    assert repr(shielded) == "<Strand 'strand': sleeping until tick 4, told to stop: later>"
    lab.tick(3)
    assert shielded.state == "parked"
    signal.emit("value")
    lab.tick()
    assert lab.log == [(4, "slept"), (7, "value"), (7, "finally")]
    assert shielded.is_done


def test_a_shielded_scope_can_be_cancelled_itself(lab):
    scopes = {}

    async def strand():
        with CancelScope(shield=True) as scopes["shield"]:
            await park()
        lab.note("caught", scopes["shield"].cancelled_caught)

    lab.spawn(strand())
    lab.tick()
    scopes["shield"].cancel()
    lab.tick()
    assert lab.log == [(2, "caught", True)]


def test_a_scope_inside_a_shield_is_not_shielded_from_itself(lab):
    async def strand():
        with CancelScope() as outer:
            outer.cancel("outer")
            with CancelScope(shield=True):
                with move_on_after(0.1) as inner:
                    await park()
                lab.note("inner", inner.cancelled_caught)
                await next_tick()
                lab.note("still shielded")
            await next_tick()
        lab.note("outer", outer.cancelled_caught)

    lab.spawn(strand())
    lab.tick(5)
    assert lab.log == [(3, "inner", True), (4, "still shielded"), (4, "outer", True)]


def test_a_strand_stops_itself_behind_a_shield(lab):
    async def strand():
        this = current_strand()
        with CancelScope(shield=True):
            this.stop("enough")
            await sleep_ticks(2)
            lab.note("shielded")
        try:
            await park()
        except Cancelled as cancelled:
            lab.note(cancelled.reason)
            raise

    lab.spawn(strand())
    lab.tick(4)
    assert lab.log == [(3, "shielded"), (3, "enough")]


# --- deadlines --------------------------------------------------------------------------------------------------------


def test_move_on_after(lab):
    async def strand():
        with move_on_after(0.2) as scope:
            try:
                await park()
            except Cancelled as cancelled:
                lab.note(cancelled.reason)
                raise
        lab.note(scope.cancelled_caught, scope.expired)

    lab.spawn(strand())
    lab.tick(6)
    assert lab.log == [(5, "deadline passed"), (5, True, True)]


def test_a_deadline_that_is_not_reached_leaves_nothing_behind(lab):
    async def strand():
        with move_on_after(0.2) as scope:
            await next_tick()
        lab.note(scope.cancel_called, scope.expired)
        await park()

    lab.spawn(strand())
    lab.tick(10)
    assert lab.log == [(2, False, False)]
    assert lab.kernel.agenda.heap == []


def test_the_deadline_comes_first_when_both_are_due_in_one_tick(lab):
    async def deadline_first():
        with move_on_after(0.2) as scope:
            await sleep(0.2)
        lab.note("deadline was set first", scope.cancelled_caught)

    async def sleep_first():
        with CancelScope(0.1) as scope:
            await sleep(0.05)
            await sleep(0.05)
        lab.note("and is set first here as well", scope.cancelled_caught)

    lab.spawn(deadline_first())
    lab.spawn(sleep_first())
    lab.tick(6)
    assert lab.log == [(3, "and is set first here as well", True), (5, "deadline was set first", True)]


@pytest.mark.parametrize("seconds", [0, -1])
def test_a_deadline_in_the_past_cancels_at_the_first_wait(lab, seconds):
    async def strand():
        with move_on_after(seconds) as scope:
            lab.note("inside")
            await next_tick()
            lab.note("never")
        lab.note(scope.cancelled_caught)

    lab.spawn(strand())
    lab.tick(2)
    assert lab.log == [(1, "inside"), (1, True)]


def test_an_infinite_deadline_never_comes(lab):
    async def strand():
        with move_on_after(math.inf):
            await next_tick()
        with fail_after(math.inf):
            await next_tick()
        lab.note("behind")

    lab.spawn(strand())
    lab.tick(3)
    assert lab.log == [(3, "behind")]


def test_a_deadline_that_is_not_a_number_opens_no_scope(lab):
    async def strand():
        with pytest.raises(ValueError, match="nan"), move_on_after(math.nan):
            pass
        assert current_strand().scope is None
        lab.note("checked")

    lab.spawn(strand())
    lab.tick()
    assert lab.log == [(1, "checked")]


def test_nested_deadlines(lab):
    async def strand():
        with move_on_after(0.2) as outer:
            with move_on_after(0.1) as inner:
                await park()
            lab.note("inner", inner.expired, inner.cancelled_caught)
            with move_on_after(10) as late:
                await park()
            lab.note("never")
        lab.note("outer", outer.expired, outer.cancelled_caught, late.cancelled_caught)

    lab.spawn(strand())
    lab.tick(6)
    assert lab.log == [(3, "inner", True, True), (5, "outer", True, True, False)]


def test_fail_after(lab):
    async def strand():
        try:
            with fail_after(0.1):
                await park()
        except TimeoutError as error:
            lab.note(str(error))
        with fail_after(0.1):
            await next_tick()
        lab.note("in time")

    lab.spawn(strand())
    lab.tick(5)
    assert lab.log == [(3, "not done within 0.1 game seconds"), (4, "in time")]


def test_fail_after_that_is_cancelled_by_hand_was_not_too_slow(lab):
    async def strand():
        with fail_after(1) as scope:
            scope.cancel("changed my mind")
            await park()
        lab.note(scope.cancelled_caught, scope.expired)

    lab.spawn(strand())
    lab.tick()
    assert lab.log == [(1, True, False)]


def test_fail_after_inside_a_cancelled_scope_does_not_raise_a_timeout(lab):
    scopes = {}

    async def strand():
        with CancelScope() as scopes["outer"], fail_after(0.1):
            await park()
        lab.note("behind", scopes["outer"].cancelled_caught)

    lab.spawn(strand())
    lab.tick(2)
    lab.kernel.post(scopes["outer"].cancel)
    lab.tick(2)
    assert lab.log == [(3, "behind", True)]


# --- when exactly -----------------------------------------------------------------------------------------------------


def test_a_strand_that_cancels_itself_runs_on_to_its_next_wait(lab):
    async def strand():
        with CancelScope() as scope:
            scope.cancel()
            lab.note("runs on")
            lab.kernel.call_soon(lab.note, "called while it is on its way")
            try:
                await sleep_ticks(5)
            finally:
                lab.note("cancelled")
        await sleep_ticks(1)
        lab.note("goes on")

    lab.spawn(strand())
    lab.tick(2)
    assert lab.log == [
        (1, "runs on"),
        (1, "called while it is on its way"),
        (1, "cancelled"),
        (2, "goes on"),
    ]


def test_a_cancellation_in_the_tick_of_a_wake_wins_if_it_comes_before_the_step(lab):
    signal = Signal()

    async def waits(name):
        try:
            lab.note(name, await signal.wait())
        except Cancelled:
            lab.note(name, "cancelled")
            raise

    strands = [lab.spawn(waits(name)) for name in "abc"]

    async def emits():
        await next_tick()
        signal.emit("value")
        strands[1].stop()

    lab.spawn(emits())
    lab.tick(2)
    assert lab.log == [(2, "a", "value"), (2, "b", "cancelled"), (2, "c", "value")]


@pytest.mark.parametrize("phase", ["between ticks", "intake", "driver", "timer"])
def test_a_sleeper_cancelled_in_the_tick_in_which_it_is_due(lab, phase):
    async def sleeper(name):
        try:
            await sleep_ticks(2)
            lab.note(name)
        except Cancelled:
            lab.note(name, "cancelled")
            raise

    lab.kernel.call_later(3, lambda: phase == "timer" and strands[1].stop())
    strands = [lab.spawn(sleeper(name)) for name in "abc"]
    lab.tick(2)
    if phase == "intake":
        lab.kernel.post(strands[1].stop)
    elif phase == "driver":
        lab.kernel.every_tick(strands[1].stop)
    elif phase == "between ticks":
        strands[1].stop()
    lab.tick()
    if phase == "between ticks":
        assert lab.log == [(3, "b", "cancelled"), (3, "a"), (3, "c")]
    else:
        assert lab.log == [(3, "a"), (3, "b", "cancelled"), (3, "c")]


def test_cancelled_strands_are_stepped_in_the_order_of_their_cancellation(lab):
    async def strand(name):
        try:
            await park()
        finally:
            lab.note(name)

    strands = [lab.spawn(strand(name)) for name in "abcd"]
    lab.tick()
    for index in (2, 0, 3, 1):
        strands[index].stop()
    lab.tick()
    assert lab.log == [(2, "c"), (2, "a"), (2, "d"), (2, "b")]


def test_the_finally_blocks_of_a_cancelled_strand_run_before_its_successor_starts(lab):
    async def action(name):
        lab.note(name, "start")
        try:
            await park()
        finally:
            lab.note(name, "stop")

    async def selector():
        old = lab.spawn(action("old"))
        await next_tick()
        old.stop()
        lab.spawn(action("new"))

    lab.spawn(selector())
    lab.tick(2)
    assert lab.log == [(1, "old", "start"), (2, "old", "stop"), (2, "new", "start")]
