"""What signals, events and conditions are made of, which is audiences, and what queues are: turns."""

from __future__ import annotations

import pytest
from strands import waiter

from agentrt.kernel.signals import Signal, Turns
from agentrt.kernel.strand import CancelScope
from agentrt.kernel.traps import Audience, next_tick

# --- audiences --------------------------------------------------------------------------------------------------------


def test_notify_all_tells_how_many_there_were(lab):
    audience = Audience()
    assert audience.notify_all() == 0
    strands = [waiter(lab, name, audience) for name in "abc"]
    lab.tick()
    strands[1].stop()
    assert audience.notify_all("now") == 2
    assert audience.notify_all("again") == 0
    lab.tick()
    assert lab.log == [(2, "a", "now"), (2, "c", "now")]


@pytest.mark.parametrize("value", [None, 0, "", (1, 2), StopIteration(3), ValueError("no error, but a value")])
def test_a_wait_returns_whatever_its_audience_was_notified_with(lab, value):
    audience = Audience()
    heard = []

    async def hears():
        heard.append(await audience.wait())

    strand = lab.spawn(hears())
    lab.tick()
    audience.notify_all(value)
    assert strand.state == "ready"
    lab.tick()
    assert heard == [value]
    assert strand.is_done


def test_a_value_is_told_once(lab):
    audience, silent = Audience(), Audience()

    async def hears():
        lab.note(await audience.wait())
        lab.note(await silent.wait())
        await next_tick()
        lab.note(await audience.wait())

    lab.spawn(hears())
    lab.tick()
    audience.notify_all("told")
    lab.tick()
    silent.notify_all()
    lab.tick(2)
    audience.notify_all()
    lab.tick()
    assert lab.log == [(2, "told"), (3, None), (5, None)]


def test_a_value_that_comes_together_with_a_cancellation_is_not_told(lab):
    audience = Audience()

    async def hears():
        with CancelScope() as scope:
            scopes.append(scope)
            lab.note("heard", await audience.wait())
        lab.note("left", await audience.wait())

    scopes = []
    strand = lab.spawn(hears())
    lab.tick()
    audience.notify_all("lost")
    scopes[0].cancel("too late")
    lab.tick()
    assert strand.state == "parked"
    audience.notify_all()
    lab.tick()
    assert lab.log == [(3, "left", None)]


def test_a_value_reaches_who_was_to_be_interrupted_and_left_the_scope(lab):
    audience = Audience()

    async def hears():
        with CancelScope() as scope:
            scope.cancel()  # while it runs: a call that interrupts it stands in the ready queue now
        lab.note(await audience.wait())

    lab.spawn(hears())
    lab.kernel.call_soon(audience.notify_all, "told")  # this one stands before that
    lab.tick()
    assert lab.log == [(1, "told")]


@pytest.mark.parametrize("number", [10, 100])
def test_waits_that_gave_up_are_swept_and_the_order_stays(lab, number):
    audience = Audience()
    strands = {name: waiter(lab, name, audience) for name in range(number)}
    lab.tick()
    for name in range(number):
        if name % 5:
            strands[name].stop()
    lab.tick()
    assert len(audience) == number // 5
    assert len(audience.strands) <= 2 * len(audience)
    audience.notify_all("now")
    lab.tick()
    assert [entry[1] for entry in lab.log] == list(range(0, number, 5))


@pytest.mark.parametrize("number", [3, 30])
def test_who_gives_up_and_comes_back_stands_at_the_end(lab, number):
    audience = Audience()

    async def comes_back():
        with CancelScope() as scope:
            scopes.append(scope)
            await audience.wait()
        lab.note("back", await audience.wait())

    scopes = []
    lab.spawn(comes_back())
    for name in range(number):
        waiter(lab, name, audience)
    lab.tick()
    scopes[0].cancel()
    lab.tick()
    assert len(audience) == number + 1
    assert audience.notify_all("now") == number + 1
    lab.tick()
    assert [entry[1] for entry in lab.log] == [*range(number), "back"]


def test_a_small_audience_forgets_at_once_who_gives_up(lab):
    audience = Audience()
    strands = [waiter(lab, name, audience) for name in "abc"]
    lab.tick()
    strands[1].stop()
    assert audience.strands == [strands[0], strands[2]]


def test_an_audience_of_which_everybody_gives_up_does_not_grow(lab):
    audience = Audience()
    for name in range(16):
        waiter(lab, name, audience)
    for _ in range(300):
        strand = waiter(lab, "impatient", audience)
        lab.tick()
        strand.stop()
        lab.tick()
    assert len(audience.strands) <= 2 * 16 + 2


def test_a_wait_that_was_notified_and_cancelled_does_not_count_as_given_up(lab):
    audience = Audience()
    strands = [waiter(lab, name, audience) for name in range(20)]
    lab.tick()
    audience.notify_all()
    for strand in strands:
        strand.stop()
    lab.tick()
    assert lab.log == []
    assert (audience.strands, audience._stale) == ([], 0)


def test_a_wait_that_is_never_awaited_waits_for_nothing(lab):
    audience = Audience()
    audience.wait()
    assert len(audience) == 0


def test_a_wait_that_is_started_like_a_coroutine_is_an_error(lab):
    lab.spawn(Signal().wait())
    lab.tick()
    assert lab.take_faults() == [("the strand 'strand' raised", "TypeError")]


# --- turns ------------------------------------------------------------------------------------------------------------


def test_a_turn_goes_to_the_longest_waiting_and_passes_over_who_gave_up(lab):
    turns = Turns()
    strands = [waiter(lab, name, turns) for name in "abcde"]
    lab.tick()
    strands[0].stop()
    strands[2].stop()
    assert len(turns) == 3
    assert turns.give()
    assert len(turns._line) == 3  # the one before it, who gave up, is forgotten with it
    lab.tick()
    assert [turns.give() for _ in range(3)] == [True, True, False]
    assert turns.promised == 2
    lab.tick()
    assert lab.log == [(2, "b", None), (3, "d", None), (3, "e", None)]
    assert (len(turns), turns.promised) == (0, 0)


def test_turns_that_were_given_up_are_forgotten_and_the_order_stays(lab):
    turns = Turns()
    strands = {name: waiter(lab, name, turns) for name in range(100)}
    lab.tick()
    for name in range(100):
        if name % 10:
            strands[name].stop()
    lab.tick()
    assert len(turns) == 10
    assert len(turns._line) == 10
    while turns.give():
        pass
    lab.tick()
    assert [entry[1] for entry in lab.log] == list(range(0, 100, 10))


def test_turns_that_everybody_gives_up_do_not_grow(lab):
    turns = Turns()
    for _ in range(300):
        strand = waiter(lab, "impatient", turns)
        lab.tick()
        strand.stop()
        lab.tick()
    assert len(turns._line) == 0


def test_a_turn_that_was_given_and_cancelled_does_not_count_as_given_up(lab):
    turns = Turns()
    strands = [waiter(lab, name, turns) for name in "abc"]
    lab.tick()
    for strand in strands:
        turns.give()
        strand.stop()
    lab.tick()
    assert lab.log == []
    assert (len(turns._line), turns.promised) == (0, 0)
