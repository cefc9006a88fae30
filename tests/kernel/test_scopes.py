"""Cancel scopes: one and nested; cancelling is a level, has a reason, and is delivered at the next wait."""

from __future__ import annotations

import pytest

from agentrt.errors import NotRunningError, WrongStateError
from agentrt.kernel.signals import Signal
from agentrt.kernel.strand import Cancelled, CancelScope, current_strand
from agentrt.kernel.traps import next_tick, park, sleep, sleep_ticks

# --- one scope --------------------------------------------------------------------------------------------------------


def test_a_scope_that_is_cancelled_from_outside(lab):
    scopes = []

    async def strand():
        with CancelScope() as scope:
            scopes.append(scope)
            try:
                await park()
            except Cancelled as cancelled:
                lab.note("cancelled", cancelled.reason)
                raise
        lab.note("behind", scope.cancel_called, scope.cancelled_caught, scope.reason)
        await next_tick()
        lab.note("goes on")

    lab.spawn(strand())
    lab.tick()
    scopes[0].cancel("no longer needed")
    scopes[0].cancel("a second reason")
    lab.tick(2)
    assert lab.log == [
        (2, "cancelled", "no longer needed"),
        (2, "behind", True, True, "no longer needed"),
        (3, "goes on"),
    ]


def test_a_scope_that_is_not_cancelled(lab):
    async def strand():
        with CancelScope() as scope:
            await next_tick()
        lab.note(scope.cancel_called, scope.cancelled_caught)

    lab.spawn(strand())
    lab.tick(2)
    assert lab.log == [(2, False, False)]


def test_a_cancelled_scope_that_did_not_wait_again_caught_nothing(lab):
    async def strand():
        with CancelScope() as scope:
            scope.cancel()
            lab.note("still inside")
        lab.note(scope.cancel_called, scope.cancelled_caught)
        await next_tick()
        lab.note("goes on")

    lab.spawn(strand())
    lab.tick(2)
    assert lab.log == [(1, "still inside"), (1, True, False), (2, "goes on")]


async def raises_when_cancelled():
    try:
        await next_tick()
    finally:
        raise KeyError


def test_a_scope_lets_errors_pass(lab):
    async def strand():
        scope = CancelScope()
        scope.cancel()
        with pytest.raises(KeyError), scope:
            await raises_when_cancelled()
        assert not scope.cancelled_caught
        await next_tick()
        lab.note("goes on")

    lab.spawn(strand())
    lab.tick(2)
    assert lab.log == [(2, "goes on")]


def test_a_scope_cancelled_before_it_is_entered(lab):
    async def strand():
        scope = CancelScope()
        scope.cancel("from the start")
        with scope:
            lab.note("inside")
            await next_tick()
            lab.note("never")
        lab.note("behind", scope.cancelled_caught)

    lab.spawn(strand())
    lab.tick(2)
    assert lab.log == [(1, "inside"), (1, "behind", True)]


def test_cancelling_a_scope_that_was_left_changes_nothing(lab):
    scopes = []

    async def strand():
        with CancelScope() as scope:
            scopes.append(scope)
        await sleep_ticks(3)
        lab.note("slept")

    lab.spawn(strand())
    lab.tick()
    scopes[0].cancel()
    lab.tick(3)
    scopes[0].cancel()
    assert lab.log == [(4, "slept")]


def test_a_scope_serves_one_with(lab):
    async def strand():
        scope = CancelScope()
        with scope:
            with pytest.raises(WrongStateError, match=r"\[ART104\].*Make a new scope for each 'with'"), scope:
                pass
            assert current_strand().scope is scope
        with pytest.raises(WrongStateError), scope:
            pass
        assert current_strand().scope is None
        lab.note("checked")

    lab.spawn(strand())
    lab.tick()
    assert lab.log == [(1, "checked")]


def test_scopes_are_left_in_reverse_order(lab):
    async def strand():
        outer, inner = CancelScope(), CancelScope()
        outer.__enter__()
        inner.__enter__()
        with pytest.raises(RuntimeError, match="reverse order"):
            outer.__exit__(None, None, None)
        inner.__exit__(None, None, None)
        outer.__exit__(None, None, None)
        assert current_strand().scope is None
        lab.note("checked")

    lab.spawn(strand())
    lab.tick()
    assert lab.log == [(1, "checked")]


def test_a_scope_needs_a_strand():
    with pytest.raises(NotRunningError), CancelScope():
        pass


def test_reprs(lab):
    async def strand():
        with CancelScope(shield=True) as shielded, CancelScope() as scope:
            assert repr(scope) == "<CancelScope: open>"
            assert repr(shielded) == "<CancelScope: open, shielded>"
            scope.cancel("why not")
            shielded.cancel()
            assert repr(scope) == "<CancelScope: cancelled: why not>"
            assert repr(shielded) == "<CancelScope: cancelled: cancelled, shielded>"
            lab.note("checked")

    lab.spawn(strand())
    lab.tick()
    assert lab.log == [(1, "checked")]


# --- a level, not an edge ---------------------------------------------------------------------------------------------


def test_every_wait_in_a_cancelled_scope_raises(lab):
    signal = Signal()

    async def strand():
        with CancelScope() as scope:
            scope.cancel("level")
            for wait in (next_tick, park, signal.wait, lambda: sleep(3)):
                try:
                    await wait()
                except Cancelled as cancelled:
                    lab.note(cancelled.reason)
            await sleep_ticks(0)
            lab.note("what does not suspend does not raise")
        await next_tick()
        lab.note("outside")

    lab.spawn(strand())
    lab.tick(2)
    assert lab.log == [(1, "level")] * 4 + [(1, "what does not suspend does not raise"), (2, "outside")]


def test_a_finally_block_waits_behind_a_shield(lab):
    async def strand():
        with CancelScope() as scope:
            scope.cancel()
            try:
                await park()
            finally:
                with CancelScope(shield=True):
                    await sleep_ticks(3)
                    lab.note("tidied up")
                lab.note("not suspended")
                try:
                    await next_tick()
                except Cancelled:
                    lab.note("raises again")
                    raise
        lab.note("behind", scope.cancelled_caught)

    lab.spawn(strand())
    lab.tick(5)
    assert lab.log == [(4, "tidied up"), (4, "not suspended"), (4, "raises again"), (4, "behind", True)]


def test_swallowing_the_cancellation_and_leaving_the_scope(lab):
    async def strand():
        with CancelScope() as scope:
            scope.cancel()
            try:
                await park()
            except Cancelled:
                lab.note("swallowed")
        lab.note(scope.cancelled_caught)
        await next_tick()
        lab.note("goes on")

    lab.spawn(strand())
    lab.tick(2)
    assert lab.log == [(1, "swallowed"), (1, False), (2, "goes on")]


# --- nesting ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("which", "log"),
    [
        ("inner", [(2, "inner", True), (3, "middle", False), (4, "outer", False)]),
        ("middle", [(2, "inner", False), (2, "middle", True), (3, "outer", False)]),
        ("outer", [(2, "inner", False), (2, "middle", False), (2, "outer", True)]),
    ],
)
def test_the_scope_that_was_cancelled_catches(lab, which, log):
    scopes = {}

    async def strand():
        with CancelScope() as scopes["outer"]:
            try:
                with CancelScope() as scopes["middle"]:
                    try:
                        with CancelScope() as scopes["inner"]:
                            await park()
                    finally:
                        lab.note("inner", scopes["inner"].cancelled_caught)
                    await next_tick()
            finally:
                lab.note("middle", scopes["middle"].cancelled_caught)
            await next_tick()
        lab.note("outer", scopes["outer"].cancelled_caught)

    lab.spawn(strand())
    lab.tick()
    scopes[which].cancel()
    lab.tick(3)
    assert lab.log == log


def test_when_both_are_cancelled_the_outer_one_catches_and_each_says_its_reason(lab):
    scopes = {}

    async def strand():
        with CancelScope() as scopes["outer"]:
            with CancelScope() as scopes["inner"]:
                try:
                    await park()
                except Cancelled as cancelled:
                    lab.note("inside", cancelled.reason)
                    raise
            lab.note("never")
        lab.note(scopes["inner"].cancelled_caught, scopes["outer"].cancelled_caught)

    lab.spawn(strand())
    lab.tick()
    scopes["inner"].cancel("inner reason")
    scopes["outer"].cancel("outer reason")
    lab.tick()
    assert lab.log == [(2, "inside", "inner reason"), (2, False, True)]


def test_the_outer_reason_is_raised_behind_the_inner_scope(lab):
    scopes = {}

    async def strand():
        with CancelScope() as scopes["outer"]:
            with CancelScope() as scopes["inner"]:
                try:
                    await park()
                except Cancelled as cancelled:
                    lab.note(cancelled.reason)
            try:
                await park()
            except Cancelled as cancelled:
                lab.note(cancelled.reason)

    lab.spawn(strand())
    lab.tick()
    scopes["outer"].cancel("outer reason")
    scopes["inner"].cancel("inner reason")
    lab.tick()
    assert lab.log == [(2, "inner reason"), (2, "outer reason")]
