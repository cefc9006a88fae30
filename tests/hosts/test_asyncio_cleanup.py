"""Native cancellation and awaits of the loop on the asyncio host: what shields, scopes and cleanups may expect."""

from __future__ import annotations

import asyncio

from agentrt.kernel.strand import CancelScope, move_on_after
from agentrt.kernel.traps import next_tick, park


def test_a_stopped_strand_may_await_the_loop_in_its_cleanup_but_not_the_kernel(on_asyncio):
    async def action(stage):
        try:
            await park()
        finally:
            await asyncio.sleep(0)
            stage.note("closed the connection")
            try:
                await next_tick()
            finally:
                with CancelScope(shield=True):
                    await next_tick()
                    await asyncio.sleep(0)
                stage.note("shielded")
                await asyncio.sleep(0)
                stage.note("and the loop again")

    async def main(stage):
        strand = stage.spawn(action, stage)
        await stage.tick()
        strand.stop()
        await stage.until(lambda: strand.is_done)
        assert stage.notes == ["closed the connection", "shielded", "and the loop again"]
        assert stage.ends == {"action": "cancelled"}

    on_asyncio(main)


def test_a_shield_keeps_a_stop_away_from_an_await_of_the_loop_and_gives_it_to_the_next_one(on_asyncio):
    async def action(stage, event):
        with CancelScope(shield=True):
            await event.wait()
            stage.note("whole")
        await asyncio.sleep(1e6)

    async def main(stage):
        event = asyncio.Event()
        strand = stage.spawn(action, stage, event)
        await stage.tick()
        strand.stop("outside")
        assert strand.cancelling() == 0
        await stage.tick(2)
        event.set()
        await stage.tick(2)
        assert stage.notes == ["whole"]
        assert stage.ends == {"action": "cancelled"}

    on_asyncio(main)


def test_a_scope_that_is_cancelled_before_it_is_entered_cancels_the_first_await(on_asyncio):
    async def action(stage):
        scope = CancelScope()
        scope.cancel("already")
        with scope:
            await asyncio.sleep(1e6)
        return scope.cancelled_caught, asyncio.current_task().cancelling()

    async def main(stage):
        assert await stage.play(action, stage) == "returned (True, 0)"

    on_asyncio(main)


def test_each_cancelled_scope_interrupts_the_loops_awaits_once(on_asyncio):
    async def action(stage):
        with CancelScope() as outer:
            stage.outer = outer
            with CancelScope() as inner:
                try:
                    await asyncio.sleep(1e6)
                finally:
                    try:
                        await asyncio.sleep(1e6)
                    except asyncio.CancelledError as error:
                        stage.note(str(error))
                        await asyncio.sleep(0)
        stage.note(f"caught by the inner: {inner.cancelled_caught}, by the outer: {outer.cancelled_caught}")

    async def main(stage):
        strand = stage.spawn(action, stage)
        await stage.tick()
        strand.scope.cancel("inner")
        await stage.tick()
        assert stage.notes == []
        stage.outer.cancel("outer")
        await stage.until(lambda: strand.is_done)
        # The message is that of the innermost scope in force; which scope swallows it, the nesting decides.
        assert stage.notes == ["inner", "caught by the inner: False, by the outer: True"]

    on_asyncio(main)


def test_move_on_after_goes_on_natively_and_with_the_loop(on_asyncio):
    async def action():
        for wait in (park, asyncio.Event().wait):
            with move_on_after(0.1) as scope:
                await wait()
            assert scope.cancelled_caught
            await asyncio.sleep(0)
            await next_tick()
        return "went on"

    async def main(stage):
        assert await stage.play(action) == "returned 'went on'"

    on_asyncio(main)
