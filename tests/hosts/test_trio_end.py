"""How strands end on the trio host: killed, refusing to be killed, left when trio ends, in a run after that."""

# Sleeping for zero seconds and bare coroutines are what is tested here.
# ruff: noqa: ASYNC105, ASYNC115

from __future__ import annotations

from contextlib import suppress

import trio
from cast import QuietOwner

from agentrt.kernel.hosts.loops import rest
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.signals import Signal
from agentrt.kernel.strand import kill
from agentrt.kernel.traps import next_tick, park, sleep_ticks


def test_a_strand_that_lets_no_time_pass_is_killed_and_its_nursery_is_closed(on_trio, monkeypatch):
    monkeypatch.setattr("agentrt.kernel.hosts.trio_.patience", lambda kernel: 50)

    async def child(stage):
        try:
            await trio.sleep_forever()
        finally:
            stage.note("child ended")

    async def action(stage):
        async with trio.open_nursery() as children:
            children.start_soon(child, stage)
            signal = Signal()
            while True:
                stage.kernel.call_soon(signal.emit)
                await signal.wait()

    async def main(stage):
        stage.kernel.livelock_steps = 20
        strand = stage.spawn(action, stage)
        other = stage.spawn(sleep_a_little)
        await stage.end(strand)
        await stage.end(other)
        assert stage.notes == ["child ended"]
        assert stage.ends == {"action": "raised LivelockError", "sleep_a_little": "returned None"}

    on_trio(main)


async def sleep_a_little():
    await sleep_ticks(3)


def test_a_strand_that_awaits_on_after_its_cancellation_is_killed(on_trio):
    async def action(stage):
        while not stage.is_over:
            try:
                await next_tick()
            except BaseException:
                pass

    async def main(stage):
        stage.kernel.livelock_steps = 20
        stage.is_over = False
        strand = stage.spawn(action, stage)
        other = stage.spawn(sleep_a_little)
        await stage.tick(2)
        strand.stop()
        await stage.tick()
        assert stage.ends == {"action": "raised LivelockError"}
        await stage.end(other)
        stage.is_over = True  # the garbage collector closes it once more

    on_trio(main)


def test_one_that_refuses_to_be_closed_with_an_open_nursery_stops_nobody_until_trio_ends():
    from agentrt.kernel.hosts.trio_ import TrioHost

    kernel = Kernel(host=TrioHost())
    kernel.livelock_steps = 5
    log = []

    async def child():
        try:
            await trio.sleep_forever()
        finally:
            log.append("its child ended")

    async def refuses():
        async with trio.open_nursery() as children:
            children.start_soon(child)
            while len(log) < 4:
                try:
                    await next_tick()
                except BaseException:
                    pass

    async def bystander():
        for number in range(3):
            log.append(number)
            await next_tick()

    async def main():
        kernel.spawn(bystander())
        strand = kernel.spawn(refuses(), owner=QuietOwner())
        await kernel.host.run_tick(kernel)
        kill(strand, LookupError("killed"))
        for _ in range(3):
            await kernel.host.run_tick(kernel)
            await rest(0.001)
        assert isinstance(strand.error, LookupError)
        log.remove("its child ended")  # trio decides when; it draws who of its tasks is next
        assert log == [0, 1, 2]
        log.append("all was asked")

    with suppress(
        trio.TrioInternalError
    ):  # nothing can mend it: trio tells so when the task ends, though 0.29 does not
        trio.run(main)
    assert log[-1] == "all was asked"
    ABANDONED.extend(kernel.abandoned)


ABANDONED = []  # the garbage collector would try to close them, and complain


def test_killed_while_it_waits(on_trio):
    async def main(stage):
        for wait in (park, trio.sleep_forever):
            strand = stage.spawn(wait)
            await stage.tick()
            kill(strand, LookupError("killed"))
            await stage.end(strand)
            assert isinstance(strand.error, LookupError)

    on_trio(main)


def test_strands_that_are_left_when_trio_ends_clean_up_quietly_and_in_order():
    from agentrt.kernel.hosts.trio_ import TrioHost

    log = []
    kernel = Kernel(host=TrioHost())

    async def action(name, wait, cleanup):
        try:
            await wait()
        finally:
            log.append(name)
            with trio.CancelScope(shield=True):
                await cleanup()
            log.append(f"{name} ended")

    async def main():
        for name, wait, cleanup in (
            ("sleeps", lambda: sleep_ticks(100), lambda: trio.sleep(0)),
            ("parks", park, lambda: trio.sleep(0)),
            ("never cleans up", park, park),
        ):
            kernel.spawn(action(name, wait, cleanup), name)
        kernel.spawn(trio.sleep_forever(), "foreign")
        for _ in range(3):
            await kernel.host.run_tick(kernel)

    trio.run(main)
    assert [entry for entry in log if "ended" not in entry] == ["sleeps", "parks", "never cleans up"]
    assert "never cleans up ended" not in log
    assert kernel.live == 0


def test_a_kernel_goes_on_in_another_run_of_trio():
    from agentrt.kernel.hosts.trio_ import TrioHost

    log = []
    kernel = Kernel(host=TrioHost())

    async def action(name):
        while True:
            log.append((kernel.tick, name))
            await trio.sleep(0)
            await next_tick()

    async def main(name):
        kernel.spawn(action(name), name)
        for _ in range(2):
            await kernel.host.run_tick(kernel)
            await rest(0.001)

    trio.run(main, "first")
    kernel.spawn(action("made between"), "made between")
    trio.run(main, "second")
    assert log == [
        (1, "first"),
        (2, "first"),
        (3, "made between"),
        (3, "second"),
        (4, "made between"),
        (4, "second"),
    ]
    assert kernel.live == 0
