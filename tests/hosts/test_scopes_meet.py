"""Scopes of the kernel, of asyncio, of trio and of anyio, nested in any order and cancelled at the same moment.

Whatever the nesting: the outermost scope that was cancelled ends the block, those around it notice nothing, and the
strand is clean afterwards, for waits on the kernel and on the loop.
"""

# Sleeping for zero seconds, bare coroutines and task groups that raise are what is tested here.
# ruff: noqa: ASYNC115, ASYNC116

from __future__ import annotations

import asyncio

import anyio
import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentrt.kernel.strand import CancelScope
from agentrt.kernel.traps import next_tick, park, sleep_ticks

few = settings(max_examples=settings.default.max_examples // 4)  # each runs whole event loops


class Native:
    def __init__(self):
        self.scope = CancelScope()

    async def __aenter__(self):
        self.scope.__enter__()

    async def __aexit__(self, *exc):
        return self.scope.__exit__(*exc)

    def fire(self):
        self.scope.cancel("fired")


class OfAnyio(Native):
    def __init__(self):
        self.scope = anyio.CancelScope()

    def fire(self):
        self.scope.cancel()


class OfTrio(OfAnyio):
    def __init__(self):
        self.scope = trio.CancelScope()


class OfAsyncio:
    """A timeout that expires when it is told to."""

    def __init__(self):
        self.scope = asyncio.timeout(None)

    async def __aenter__(self):
        await self.scope.__aenter__()

    async def __aexit__(self, *exc):
        try:
            return await self.scope.__aexit__(*exc)
        except TimeoutError:
            return True

    def fire(self):
        self.scope._on_timeout()


class Group:
    """A task group of anyio's with a child that waits."""

    async def __aenter__(self):
        self.group = anyio.create_task_group()
        await self.group.__aenter__()
        self.group.start_soon(anyio.sleep, 1e6)

    async def __aexit__(self, *exc):
        if exc[0] is None:
            self.group.cancel_scope.cancel()
        return await self.group.__aexit__(*exc)

    def fire(self):
        self.group.cancel_scope.cancel()


class GroupOfAsyncio:
    """A task group of asyncio's. It is never fired: it has to let through what others cancelled."""

    async def __aenter__(self):
        self.group = asyncio.TaskGroup()
        await self.group.__aenter__()
        self.child = self.group.create_task(asyncio.sleep(1e6))

    async def __aexit__(self, *exc):
        self.child.cancel()
        return await self.group.__aexit__(*exc)

    fire = None


WAITS = {
    "park": park,
    "sleep_ticks": lambda: sleep_ticks(10**6),
    "foreign": lambda: anyio.sleep(1e6),
    "foreign, shielded from nothing": lambda: anyio.Event().wait(),
}


async def nest(stage, scopes, wait, level=0):
    if level == len(scopes):
        await wait()
        return
    async with scopes[level]:
        await nest(stage, scopes, wait, level + 1)
        # Anyio may learn only here that its scope is to raise: another kind was quicker.
        await anyio.sleep(0)
        await next_tick()
        stage.note(f"end of block {level}")


async def action(stage, scopes, wait):
    await nest(stage, scopes, wait)
    for _ in range(2):
        await next_tick()
        await anyio.sleep(0)
    stage.note("clean")


def expected(fired):
    return [*(f"end of block {level}" for level in reversed(range(min(fired)))), "clean"]


def nested(kinds):
    """Some kinds nested, which of them are fired and in which order, how the strand waits, and whether inside a tick."""
    return st.lists(st.sampled_from(kinds), min_size=1, max_size=4).flatmap(
        lambda chosen: st.tuples(
            st.just(chosen),
            st.lists(
                st.sampled_from([level for level, kind in enumerate(chosen) if kind.fire is not None] or [None]),
                min_size=1,
                unique=True,
            ),
            st.sampled_from(sorted(WAITS)),
            st.booleans(),
        )
    )


def is_lost_by_the_libraries(kinds, fired):
    """Asyncio's timeout inside a scope of anyio's, both cancelled, a group inside: a real task does not survive it either."""
    return any(
        kinds[inner] is OfAsyncio and kinds[outer] in (OfAnyio, Group)
        for inner in fired
        for outer in fired
        if outer < inner
    )


def cancel_case(host, on, case):
    kinds, fired, wait, in_tick = case
    if fired == [None] or is_lost_by_the_libraries(kinds, fired):
        return

    async def main(stage):
        scopes = [kind() for kind in kinds]

        def fire():
            for level in fired:
                scopes[level].fire()

        strand = stage.spawn(action, stage, scopes, WAITS[wait])
        await stage.tick(2)
        if in_tick:
            stage.kernel.post(fire)
        else:
            fire()
        await stage.end(strand)
        assert stage.ends == {"action": "returned None"}
        assert stage.notes == expected(fired)
        if hasattr(strand, "cancelling"):
            assert (strand.cancelling(), strand._must_cancel) == (0, False)

    on(host, main)


@few
@given(nested([Native, OfAsyncio, OfAnyio, Group, GroupOfAsyncio]))
@example(([Native, GroupOfAsyncio], [0], "park", False))
@example(([OfAnyio, Native], [1, 0], "park", False))
@example(([OfAnyio, Native], [1, 0], "foreign", False))
@example(([OfAnyio, Native, Group], [1, 0], "foreign", False))
@example(([OfAsyncio, OfAnyio, Native], [2, 1, 0], "foreign", True))
def test_on_asyncio(on, case):
    cancel_case("asyncio", on, case)


@few
@given(nested([Native, OfTrio, OfAnyio, Group]))
@example(([OfTrio, Native, Group], [2, 1, 0], "park", True))
def test_on_trio(on, case):
    cancel_case("trio", on, case)


@few
@given(nested([Native, OfAsyncio, OfAnyio, Group, GroupOfAsyncio]))
@example(([OfAsyncio], [0], "park", False))
def test_stopped_at_the_same_moment_the_strand_ends_on_asyncio(on, case):
    stop_case("asyncio", on, case)


@few
@given(nested([Native, OfTrio, OfAnyio, Group]))
def test_stopped_at_the_same_moment_the_strand_ends_on_trio(on, case):
    stop_case("trio", on, case)


def stop_case(host, on, case):
    """Nothing that is cancelled inside a strand swallows the stop of the strand."""
    kinds, fired, wait, in_tick = case

    async def main(stage):
        scopes = [kind() for kind in kinds]

        def fire():
            for level in fired:
                if level is not None:
                    scopes[level].fire()
            strand.stop("stopped too")

        strand = stage.spawn(action, stage, scopes, WAITS[wait])
        await stage.tick(2)
        if in_tick:
            stage.kernel.post(fire)
        else:
            fire()
        await stage.end(strand)
        assert stage.ends == {"action": "cancelled"}
        assert stage.notes == []

    on(host, main)


@pytest.mark.parametrize("first", ["child", "deadline"])
def test_a_task_group_fails_while_a_native_scope_around_it_is_cancelled(on_virtual_asyncio, first):
    async def child(event):
        try:
            await event.wait()
        finally:  # also if the scope is cancelled first, and the group with it
            raise LookupError

    async def grouped(stage, event):
        with CancelScope() as scope:
            stage.scope = scope
            async with asyncio.TaskGroup() as group:
                group.create_task(child(event))
                await park()

    async def whole(stage, event):
        with pytest.raises(ExceptionGroup):
            await grouped(stage, event)
        # The error went through the cancelled scope. Nothing of the cancellation is left behind.
        assert asyncio.current_task().cancelling() == 0
        await next_tick()
        await asyncio.sleep(0)
        return "clean"

    async def main(stage):
        event = asyncio.Event()
        strand = stage.spawn(whole, stage, event)
        await stage.tick(2)
        if first == "child":
            event.set()
            await asyncio.sleep(0)
            stage.scope.cancel("deadline")
        else:
            stage.scope.cancel("deadline")
            event.set()
            await asyncio.sleep(0)
        await stage.end(strand)
        assert stage.ends == {"whole": "returned 'clean'"}

    on_virtual_asyncio(main)
