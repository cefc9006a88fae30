"""Joins: waiting for the end of a strand, its result, its error."""

from __future__ import annotations

import pytest
from cast import QuietOwner
from strands import parked

from agentrt.errors import WrongStateError
from agentrt.kernel.traps import next_tick


async def returns():
    return 42


async def raises():
    raise ValueError("broken")


def joiner(lab, name, strand):
    async def join():
        try:
            lab.note(name, await strand.join())
        except BaseException as error:
            lab.note(name, repr(error))
            raise

    return lab.spawn(join(), name, QuietOwner())


def test_joins_return_the_result_in_order(lab):
    async def late():
        await next_tick()
        return "result"

    strand = lab.spawn(late())
    for name in "ab":
        joiner(lab, name, strand)
    lab.tick(2)
    joiner(lab, "c", strand)
    lab.tick()
    assert lab.log == [(2, "a", "result"), (2, "b", "result"), (3, "c", "result")]


def test_joins_raise_the_error(lab):
    strand = lab.spawn(raises(), "bad", QuietOwner())
    for name in "ab":
        joiner(lab, name, strand)
    lab.tick()
    assert lab.log == [(1, "a", "ValueError('broken')"), (1, "b", "ValueError('broken')")]


def test_joins_raise_control_flow_that_is_not_a_cancellation(lab):
    class Abort(BaseException):
        pass

    async def aborts():
        raise Abort("now")

    strand = lab.spawn(aborts(), "aborts", QuietOwner())
    joiner(lab, "a", strand)
    lab.tick()
    assert lab.log == [(1, "a", "Abort('now')")]


def test_joining_a_cancelled_strand_returns_none(lab):
    strand = parked(lab)
    joiner(lab, "a", strand)
    lab.tick()
    strand.stop()
    lab.tick()
    assert lab.log == [(3, "a", None)]


def test_a_cancelled_join_leaves_nothing_behind(lab):
    strand = parked(lab)
    first, second = joiner(lab, "a", strand), joiner(lab, "b", strand)
    lab.tick()
    first.stop()
    lab.tick()
    assert len(strand._outcome) == 1
    strand.stop()
    second.stop()
    lab.tick()
    assert lab.log == [(3, "a", "Cancelled('stopped')"), (4, "b", "Cancelled('stopped')")]
    assert strand._outcome is strand.error  # and nobody who joins it


def test_a_join_that_is_woken_and_cancelled_in_one_tick_is_cancelled(lab):
    class StopsJoiner:
        def on_strand_end(self, strand, result, error):
            waiting.stop("too late")

    strand = lab.spawn(returns(), "s", StopsJoiner())
    waiting = joiner(lab, "a", strand)
    lab.kernel.ready.rotate()  # the joiner first
    lab.tick()
    assert lab.log == [(1, "a", "Cancelled('too late')")]


def test_a_strand_cannot_wait_for_its_own_end(lab):
    async def strand():
        with pytest.raises(
            WrongStateError, match=r"\[ART104\] Strand.join cannot be called while the strand itself runs"
        ):
            await this.join()
        lab.note("checked")

    this = lab.spawn(strand())
    lab.tick()
    assert lab.log == [(1, "checked")]


def test_a_strand_that_is_done_can_be_joined_without_suspending(lab):
    strand = lab.spawn(returns())
    lab.tick()
    joiner(lab, "a", strand)
    lab.kernel.call_soon(lab.note, "next")
    lab.tick()
    assert lab.log == [(2, "a", 42), (2, "next")]
