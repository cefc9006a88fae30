"""Strands for a laboratory (see the kernel's conftest): good ones that note each tick, bad ones between them, waiters."""

from __future__ import annotations

from agentrt.kernel.signals import Signal
from agentrt.kernel.strand import CancelScope
from agentrt.kernel.traps import next_tick, park, sleep_ticks

GOOD_THREE_TICKS = [(tick, name) for tick in (1, 2, 3) for name in ("before", "after")]


async def good(lab, name):
    """Notes its name in each tick."""
    while True:
        lab.note(name)
        await next_tick()


def with_neighbors(lab, coro, owner=None):
    """A bad strand between two good ones."""
    lab.spawn(good(lab, "before"), "before")
    bad = lab.spawn(coro, "bad", owner)
    lab.spawn(good(lab, "after"), "after")
    return bad


async def wakes_itself(lab):
    """Never lets time pass."""
    signal = Signal()
    while True:
        lab.kernel.call_soon(signal.emit)
        await signal.wait()


def waiter(lab, name, source):
    """Notes what it is given by a signal, an event, a queue or an audience."""

    async def wait():
        lab.note(name, await source.wait())

    return lab.spawn(wait(), name)


def parked(lab):
    """A strand that has parked."""
    strand = lab.spawn(park(), "s")
    lab.tick()
    return strand


async def work(stage, name, ticks, leave=0):
    """Takes some ticks, and some more to clean up."""
    stage.note(f"{name} begins")
    try:
        await sleep_ticks(ticks)
        return name
    finally:
        if leave:
            with CancelScope(shield=True):
                await sleep_ticks(leave)
        stage.note(f"{name} ends")


async def fail(stage, name, ticks=0):
    try:
        await sleep_ticks(ticks)
        raise ValueError(name)
    finally:
        stage.note(f"{name} fails")
