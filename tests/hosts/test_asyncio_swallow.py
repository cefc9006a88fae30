"""Who swallows a native cancellation gets it again at the next wait of the event loop, too; who cleans up does not.

The same bodies run on asyncio and uvloop; what is true on trio as well is compared with it at the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys

import anyio
import pytest
import trio

from agentrt.kernel.strand import CancelScope, move_on_after
from agentrt.kernel.traps import sleep_ticks

EVER = 1_000_000.0


async def forever():
    await asyncio.get_running_loop().create_future()


def wait_of_the_loop(how):
    return {
        "future": forever,
        "sleep": lambda: asyncio.sleep(EVER),
        "turn": lambda: asyncio.sleep(0),
        "event": lambda: asyncio.Event().wait(),
        "queue": lambda: asyncio.Queue().get(),
        "task": lambda: asyncio.ensure_future(forever()),
        "gather": lambda: asyncio.gather(forever(), forever()),
        "shield": lambda: asyncio.shield(asyncio.sleep(3)),
        "wait_for": lambda: asyncio.wait_for(forever(), EVER),
        "anyio": lambda: anyio.sleep(EVER),
        "kernel": lambda: sleep_ticks(1_000_000),
        "thread": lambda: asyncio.to_thread(int),
    }[how]()


# Ways to swallow a cancellation.


async def bare(stage, wait):
    try:
        await wait()
    except BaseException:
        stage.note("swallowed")


async def named(stage, wait):
    try:
        await wait()
    except asyncio.CancelledError as error:
        stage.note(f"swallowed {error}")


async def suppressed(stage, wait):
    with contextlib.suppress(asyncio.CancelledError):
        await wait()
    stage.note("swallowed")


async def returned(stage, wait):
    async def inner():
        try:
            await wait()
        finally:
            return  # noqa: B012 - this is what swallows

    await inner()
    stage.note("swallowed")


async def translated(stage, wait):
    try:
        try:
            await wait()
        except asyncio.CancelledError:
            raise ValueError from None
    except ValueError:
        stage.note("swallowed")


async def generated(stage, wait):
    async def numbers():
        try:
            await wait()
        except asyncio.CancelledError:
            yield 1

    async for _ in numbers():
        stage.note("swallowed")


STYLES = (bare, named, suppressed, returned, translated, generated)


@pytest.mark.states(
    "tools: Faults: Who swallows a cancellation gets it again at the next wait, of the event loop too; clean-up may "
    "await it, and asyncio's own requests stay edges",
    source="design 2, cancellation",
)
@pytest.mark.parametrize("how", ["stop", "scope", "deadline"])
@pytest.mark.parametrize("style", STYLES)
def test_what_was_swallowed_is_raised_again_at_the_next_wait(on_asyncio, style, how):
    async def main(stage):
        async def action():
            with CancelScope() as scope, move_on_after(0.1 if how == "deadline" else EVER):
                stage.keep.append(scope)
                await style(stage, forever)
                try:
                    await asyncio.sleep(EVER)
                    stage.note("not reached")
                except asyncio.CancelledError:
                    stage.note("again")
                    raise
            stage.note("behind the scope")
            await asyncio.sleep(0)

        strand = stage.spawn(action)
        await stage.tick(2)
        if how == "stop":
            strand.stop("enough")
        elif how == "scope":
            stage.keep[0].cancel("enough")
        await stage.end(strand)
        assert stage.notes[0].startswith("swallowed")
        assert stage.notes[1:] == (["again"] if how == "stop" else ["again", "behind the scope"])
        assert stage.ends["action"] == ("cancelled" if how == "stop" else "returned None")

    on_asyncio(main)


@pytest.mark.states("tools: Faults: Who swallows a cancellation gets it again at the next wait, of the event loop ...")
@pytest.mark.parametrize("first", ["future", "kernel"])
@pytest.mark.parametrize(
    "second", ["future", "sleep", "turn", "event", "queue", "task", "gather", "wait_for", "anyio", "kernel", "thread"]
)
def test_whatever_it_waits_for(on_asyncio, first, second):
    async def main(stage):
        async def action():
            with contextlib.suppress(asyncio.CancelledError):
                await wait_of_the_loop(first)
            await wait_of_the_loop(second)
            stage.note("not reached")

        strand = stage.spawn(action)
        await stage.tick(2)
        strand.stop("enough")
        await stage.end(strand)
        assert stage.notes == []
        assert stage.ends["action"] == "cancelled"

    on_asyncio(main)


def test_again_and_again(on_asyncio):
    """Twice at once, then once in a tick: a loop that swallows does not end, and does not keep the loop busy."""

    async def main(stage):
        async def action():
            for number in range(6):
                try:
                    await asyncio.sleep(EVER)
                except asyncio.CancelledError:
                    stage.note(f"{number}")

        strand = stage.spawn(action)
        await stage.tick(2)
        strand.stop("enough")
        await stage.end(strand)
        ticks = [tick for tick, _ in stage.log]
        assert stage.notes == ["0", "1", "2", "3", "4", "5"]
        assert ticks[0] == ticks[1]
        assert len(set(ticks)) >= 3
        assert stage.ends["action"] == "returned None"

    on_asyncio(main)


def test_a_swallowing_loop_of_turns_gives_way(on_asyncio):
    """It waits for one turn of the loop each time; others go on, and it is stopped by being killed."""

    async def main(stage):
        async def action():
            while len(stage.log) < 50:
                try:
                    await asyncio.sleep(0)
                except asyncio.CancelledError:
                    stage.note("swallowed")

        async def other():
            for _ in range(5):
                await sleep_ticks(1)

        strand = stage.spawn(action)
        strand.stop("enough")
        await stage.end(stage.spawn(other))
        await stage.end(strand)

    on_asyncio(main)


# --- who cleans up ----------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Faults: Who swallows a cancellation gets it again at the next wait, of the event loop ...")
def test_clean_up_awaits_the_event_loop(on_asyncio):
    async def main(stage):
        async def nap(text):
            await asyncio.sleep(0)
            await asyncio.to_thread(int)
            stage.note(text)

        class Room:
            async def __aenter__(self):
                return self

            async def __aexit__(self, *_):
                await nap("__aexit__")

        @contextlib.asynccontextmanager
        async def door():
            try:
                yield
            finally:
                await nap("context manager")

        async def numbers():
            try:
                await forever()
                yield 1
            finally:
                await nap("generator")

        async def inside():
            try:
                async for _ in numbers():
                    pass
            finally:
                await nap("finally")

        async def action():
            try:
                async with Room(), door():
                    try:
                        await inside()
                    except BaseException:
                        await nap("except")
                        raise
            except asyncio.CancelledError as error:
                await nap("put aside")
                aside = error
            await nap("later")
            raise aside

        strand = stage.spawn(action)
        await stage.tick(2)
        strand.stop("enough")
        await stage.end(strand)
        assert stage.notes == [
            "generator",
            "finally",
            "except",
            "context manager",
            "__aexit__",
            "put aside",
            "later",
        ]
        assert stage.ends["action"] == "cancelled"

    on_asyncio(main)


def test_clean_up_that_was_translated(on_asyncio):
    async def main(stage):
        async def action():
            try:
                try:
                    await forever()
                except asyncio.CancelledError:
                    raise RuntimeError("what we say instead") from None
            finally:
                await asyncio.sleep(0)
                stage.note("cleaned up")

        strand = stage.spawn(action)
        await stage.tick(2)
        strand.stop("enough")
        await stage.end(strand)
        assert stage.notes == ["cleaned up"]
        assert stage.ends["action"] == "raised RuntimeError"

    on_asyncio(main)


def test_a_wait_of_the_kernel_in_clean_up_still_raises(on_asyncio):
    async def main(stage):
        async def action():
            try:
                await forever()
            finally:
                await asyncio.sleep(0)
                stage.note("the loop lets it")
                await sleep_ticks(1)
                stage.note("not reached")

        strand = stage.spawn(action)
        await stage.tick(2)
        strand.stop("enough")
        await stage.end(strand)
        assert stage.notes == ["the loop lets it"]

    on_asyncio(main)


def test_what_is_swallowed_in_clean_up_is_over_with_it(on_asyncio):
    """Clean-up may swallow what comes of itself; what it was called for is still on its way out."""

    async def main(stage):
        async def action():
            try:
                await forever()
            finally:
                with contextlib.suppress(BaseException):
                    await sleep_ticks(1)
                await asyncio.sleep(0)
                stage.note("cleaned up")

        strand = stage.spawn(action)
        await stage.tick(2)
        strand.stop("enough")
        await stage.end(strand)
        assert stage.notes == ["cleaned up"]
        assert stage.ends["action"] == "cancelled"

    on_asyncio(main)


# --- what asyncio itself does -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["in the body", "at its end", "while it cancels its children"])
def test_a_task_group_waits_for_its_children(on_asyncio, where):
    async def main(stage):
        async def child():
            try:
                await forever()
            finally:
                for _ in range(5):
                    await asyncio.sleep(0.01)
                stage.note("child cleaned up")

        async def fails():
            await asyncio.sleep(0.01)
            raise ValueError

        async def action():
            async with asyncio.TaskGroup() as group:
                group.create_task(child())
                await asyncio.sleep(0)
                if where == "while it cancels its children":
                    group.create_task(fails())
                elif where == "in the body":
                    await forever()

        strand = stage.spawn(action)
        await stage.tick(2)
        strand.stop("enough")
        await stage.end(strand)
        assert stage.notes == ["child cleaned up"]
        assert stage.ends["action"] in ("cancelled", "raised ExceptionGroup", "raised BaseExceptionGroup")

    on_asyncio(main)


def test_a_task_group_of_anyio_waits_for_its_children(on_asyncio):
    async def main(stage):
        async def child():
            try:
                await anyio.sleep(EVER)
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(0.05)
                stage.note("child cleaned up")

        async def action():
            async with anyio.create_task_group() as group:
                group.start_soon(child)

        strand = stage.spawn(action)
        await stage.tick(2)
        strand.stop("enough")
        await stage.end(strand)
        assert stage.notes == ["child cleaned up"]
        assert stage.ends["action"] == "cancelled"

    on_asyncio(main)


@pytest.mark.states("tools: Faults: Who swallows a cancellation gets it again at the next wait, of the event loop ...")
def test_an_asyncio_cancellation_stays_an_edge(on_asyncio):
    """``Task.cancel`` and a timeout: who swallows those goes on, as anywhere in asyncio."""

    async def main(stage):
        async def action():
            with contextlib.suppress(asyncio.CancelledError):
                await forever()
            await asyncio.sleep(0)
            stage.note("goes on")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.01):
                    with contextlib.suppress(asyncio.CancelledError):
                        await forever()
                    await asyncio.sleep(0)
                    stage.note("goes on in the timeout")
            await asyncio.sleep(0)
            return "done"

        strand = stage.spawn(action)
        await stage.tick(2)
        strand.cancel("edge")
        await stage.end(strand)
        assert stage.notes == ["goes on", "goes on in the timeout"]
        assert strand.value == "done"

    on_asyncio(main)


def test_a_timeout_inside_of_a_stopped_strand(on_asyncio):
    """Both are in force; the timeout is an error of its own, and the stop is raised at the next wait."""

    async def main(stage):
        async def action():
            try:
                async with asyncio.timeout(0.2):
                    with contextlib.suppress(asyncio.CancelledError):
                        await forever()
                    await asyncio.sleep(EVER)
            except TimeoutError:
                stage.note("timeout")
            except asyncio.CancelledError:
                stage.note("again")
                raise

        strand = stage.spawn(action)
        await stage.tick(2)
        strand.stop("enough")
        await stage.end(strand)
        assert stage.notes == ["again"]
        assert strand.cancelling() == 1  # the stop

    on_asyncio(main)


def test_a_shield_in_clean_up_and_one_around_what_swallowed(on_asyncio):
    async def main(stage):
        async def action():
            with contextlib.suppress(asyncio.CancelledError):
                await forever()
            with CancelScope(shield=True):
                await asyncio.sleep(0)
                await sleep_ticks(2)
                stage.note("behind a shield")
            await asyncio.sleep(0)
            stage.note("not reached")

        strand = stage.spawn(action)
        await stage.tick(2)
        strand.stop("enough")
        await stage.end(strand)
        assert stage.notes == ["behind a shield"]
        assert stage.ends["action"] == "cancelled"

    on_asyncio(main)


def test_trio_agrees_about_who_swallows(on_trio):
    async def main(stage):
        async def action():
            with contextlib.suppress(BaseException):
                await trio.sleep_forever()
            try:
                await trio.sleep_forever()
            except trio.Cancelled:
                stage.note("again")
                raise

        strand = stage.spawn(action)
        await stage.tick(2)
        strand.stop("enough")
        await stage.end(strand)
        assert stage.notes == ["again"]
        assert stage.ends["action"] == "cancelled"

    on_trio(main)


def test_nothing_is_asked_of_who_was_not_cancelled(on_asyncio, monkeypatch):
    module = sys.modules["agentrt.kernel.hosts.asyncio_"]

    def asked(_coro):
        raise AssertionError("nobody was cancelled")

    monkeypatch.setattr(module, "handles_cancellation", asked)

    async def main(stage):
        async def action():
            await asyncio.sleep(0)
            await asyncio.to_thread(int)
            await sleep_ticks(1)
            return "done"

        assert (await stage.end(stage.spawn(action))) == "done"

    on_asyncio(main)
