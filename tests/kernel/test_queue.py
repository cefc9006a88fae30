"""Queues: first in, first out for items, first come, first served for strands, and no turn is ever lost."""

from __future__ import annotations

import pytest

from agentrt.kernel.signals import Queue
from agentrt.kernel.traps import next_tick


def getter(lab, queue, name):
    async def get():
        lab.note(name, "got", await queue.get())

    return lab.spawn(get(), name)


def putter(lab, queue, name, item=None):
    async def put():
        await queue.put(name if item is None else item)
        lab.note(name, "put")

    return lab.spawn(put(), name)


def drained(lab, queue):
    """What is left in the queue, taken out by a strand of its own."""
    left = []

    async def drain():
        while len(queue):
            left.append(await queue.get())

    lab.spawn(drain())
    lab.tick()
    return left


def test_items_go_first_in_first_out(lab):
    queue = Queue()
    for item in range(3):
        assert queue.put_nowait(item)
    assert len(queue) == 3
    for name in "abc":
        getter(lab, queue, name)
    lab.tick()
    assert lab.log == [(1, "a", "got", 0), (1, "b", "got", 1), (1, "c", "got", 2)]


def test_getters_are_served_in_order(lab):
    queue = Queue()
    for name in "abc":
        getter(lab, queue, name)
    lab.tick()
    assert repr(queue) == "<Queue: 0 items, 3 getting, 0 putting>"
    queue.put_nowait(1)
    queue.put_nowait(2)
    lab.tick()
    queue.put_nowait(3)
    lab.tick()
    assert lab.log == [(2, "a", "got", 1), (2, "b", "got", 2), (3, "c", "got", 3)]


def test_putters_are_served_in_order(lab):
    queue = Queue(limit=1)
    for name in "abc":
        putter(lab, queue, name)
    lab.tick()
    assert repr(queue) == "<Queue: 1 of 1 items, 0 getting, 2 putting>"
    for name in "xyz":
        getter(lab, queue, name)
    lab.tick()
    assert lab.log == [
        (1, "a", "put"),
        (2, "x", "got", "a"),
        (2, "b", "put"),
        (2, "y", "got", "b"),
        (2, "c", "put"),
        (2, "z", "got", "c"),
    ]


def test_put_nowait_says_whether_there_was_room():
    queue = Queue(limit=2)
    assert [queue.put_nowait(item) for item in "abc"] == [True, True, False]
    assert len(queue) == 2


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_at_least_one(limit):
    with pytest.raises(ValueError, match=rf"Queue\(limit={limit}\)"):
        Queue(limit)


def test_an_item_that_is_none_is_an_item(lab):
    queue = Queue()
    getter(lab, queue, "a")
    lab.tick()
    queue.put_nowait(None)
    lab.tick()
    assert lab.log == [(2, "a", "got", None)]


# --- fairness ---------------------------------------------------------------------------------------------------------


def test_a_newcomer_does_not_take_what_a_woken_getter_was_promised(lab):
    queue = Queue()

    async def greedy():
        await next_tick()
        queue.put_nowait("first")
        lab.note("greedy waits")
        lab.note("greedy", "got", await queue.get())

    for name in "ab":
        getter(lab, queue, name)
    lab.spawn(greedy())
    lab.tick(2)
    queue.put_nowait("second")
    queue.put_nowait("third")
    lab.tick()
    assert lab.log == [
        (2, "greedy waits"),
        (2, "a", "got", "first"),
        (3, "b", "got", "second"),
        (3, "greedy", "got", "third"),
    ]


def test_a_newcomer_takes_the_first_item_that_is_not_promised(lab):
    queue = Queue()

    async def greedy():
        await next_tick()
        queue.put_nowait("for a")
        queue.put_nowait("for anybody")
        queue.put_nowait("left")
        lab.note("greedy", "got", await queue.get())

    getter(lab, queue, "a")
    lab.spawn(greedy())
    lab.tick(2)
    assert lab.log == [(2, "greedy", "got", "for anybody"), (2, "a", "got", "for a")]
    assert drained(lab, queue) == ["left"]


def test_a_newcomer_does_not_take_the_place_that_a_woken_putter_was_promised(lab):
    queue = Queue(limit=1)
    queue.put_nowait("zero")

    async def greedy():
        await next_tick()
        lab.note("greedy", "got", await queue.get())
        assert not queue.put_nowait("overtaking")
        await queue.put("greedy's")
        lab.note("greedy", "put")

    for name in "ab":
        putter(lab, queue, name)
    lab.spawn(greedy())
    lab.tick(2)
    for name in "xyz":
        getter(lab, queue, name)
    lab.tick()
    assert lab.log == [
        (2, "greedy", "got", "zero"),
        (2, "a", "put"),
        (3, "x", "got", "a"),
        (3, "b", "put"),
        (3, "y", "got", "b"),
        (3, "greedy", "put"),
        (3, "z", "got", "greedy's"),
    ]


def test_cancelling_a_getter_does_not_change_the_order_of_the_others(lab):
    queue = Queue()
    strands = [getter(lab, queue, name) for name in "abcd"]
    lab.tick()
    strands[0].stop()
    strands[2].stop()
    lab.tick()
    queue.put_nowait(1)
    queue.put_nowait(2)
    lab.tick()
    assert lab.log == [(3, "b", "got", 1), (3, "d", "got", 2)]


def test_cancelling_a_putter_does_not_change_the_order_of_the_others(lab):
    queue = Queue(limit=1)
    queue.put_nowait("zero")
    strands = [putter(lab, queue, name) for name in "abcd"]
    lab.tick()
    strands[0].stop()
    strands[2].stop()
    lab.tick()
    for name in "xyz":
        getter(lab, queue, name)
    lab.tick()
    assert lab.log == [
        (3, "x", "got", "zero"),
        (3, "b", "put"),
        (3, "y", "got", "b"),
        (3, "d", "put"),
        (3, "z", "got", "d"),
    ]


# --- cancelled after it was woken -------------------------------------------------------------------------------------


def test_a_turn_to_get_goes_on_to_the_next_in_line(lab):
    queue = Queue()
    strands = [getter(lab, queue, name) for name in "abc"]
    lab.tick()
    queue.put_nowait(1)
    strands[0].stop()
    queue.put_nowait(2)
    lab.tick()
    assert lab.log == [(2, "b", "got", 1), (2, "c", "got", 2)]


def test_a_turn_to_get_that_nobody_wants_leaves_the_item_in_its_place(lab):
    queue = Queue()
    strands = [getter(lab, queue, name) for name in "ab"]
    lab.tick()
    for item in range(4):
        queue.put_nowait(item)
    for strand in strands:
        strand.stop()
    lab.tick()
    assert lab.log == []
    assert drained(lab, queue) == [0, 1, 2, 3]


def test_a_turn_to_put_goes_on_to_the_next_in_line_and_the_cancelled_item_is_not_put(lab):
    queue = Queue(limit=1)
    queue.put_nowait("zero")
    strands = [putter(lab, queue, name) for name in "ab"]
    lab.tick()

    async def take_and_cancel():
        lab.note("got", await queue.get())
        strands[0].stop()

    lab.spawn(take_and_cancel())
    lab.tick()
    assert lab.log == [(2, "got", "zero"), (2, "b", "put")]
    assert drained(lab, queue) == ["b"]


def test_a_turn_to_put_that_nobody_wants_leaves_the_place_free(lab):
    queue = Queue(limit=1)
    queue.put_nowait("zero")
    only = putter(lab, queue, "a")
    lab.tick()

    async def take_and_cancel():
        await queue.get()
        only.stop()

    lab.spawn(take_and_cancel())
    lab.tick()
    assert len(queue) == 0
    assert queue.put_nowait("again")


def test_a_getter_and_a_putter_of_one_queue_never_both_wait_for_nothing(lab):
    """Producers and consumers of which every third is cancelled at a bad moment: all items come out, in order."""
    queue = Queue(limit=2)
    got = []

    async def produce():
        for item in range(60):
            await queue.put(item)

    async def consume():
        while True:
            item = await queue.get()
            got.append(item)

    lab.spawn(produce())
    consumers = [lab.spawn(consume()) for _ in range(3)]
    for tick in range(60):
        victim = consumers.pop(0)
        lab.kernel.post(victim.stop) if tick % 2 else lab.kernel.call_soon(victim.stop)
        consumers.append(lab.spawn(consume()))
        lab.tick()
    assert got == list(range(60))
