"""Tasks that an action makes by the means of its event loop: they are strands of it, whatever they wait for."""

# Bare tasks, nobody's tasks and task groups that raise are what is tested here.
# ruff: noqa: RUF006, PT012

from __future__ import annotations

import asyncio
import gc

import anyio
import anyio.lowlevel
import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from strands import fail, work

from agentrt.kernel.fork import Fork
from agentrt.kernel.signals import Event, Queue, Signal
from agentrt.kernel.strand import CancelScope, current_strand, move_on_after
from agentrt.kernel.traps import next_tick, park, sleep_ticks

few = settings(max_examples=settings.default.max_examples // 4)  # each runs whole event loops


def faults_of(stage):
    faults = []
    stage.kernel.on_fault = lambda text, error: faults.append((stage.kernel.tick, text, str(error)))
    return faults


# --- asyncio ----------------------------------------------------------------------------------------------------------


def test_gather_goes_on_in_the_tick_in_which_the_last_one_has_ended(on_asyncio):
    async def main(stage):
        async def action():
            stage.note(await asyncio.gather(work(stage, "a", 3), work(stage, "b", 1), sleep_ticks(2)))
            return current_strand().name

        assert await stage.play(action) == "returned 'action'"
        assert stage.log == [(1, "a begins"), (1, "b begins"), (2, "b ends"), (4, "a ends"), (4, ["a", "b", None])]

    on_asyncio(main)


def test_without_a_turn_of_the_loop_a_run_is_the_same(on_asyncio):
    async def main(stage):
        async def action():
            stage.note(await asyncio.gather(work(stage, "a", 2), work(stage, "b", 1)))
            task = asyncio.create_task(work(stage, "c", 1))
            stage.note(await task)
            done, _ = await asyncio.wait([asyncio.create_task(work(stage, "d", 1))])
            stage.note([one.result() for one in done])
            async with asyncio.TaskGroup() as group:
                group.create_task(work(stage, "e", 1))
            stage.note("over")

        stage.spawn(action)
        for _ in range(8):
            stage.kernel.step_tick()
        assert [entry for entry in stage.log if " " not in entry[1]] == [
            (3, ["a", "b"]),
            (4, "c"),
            (5, ["d"]),
            (6, "over"),
        ]

    on_asyncio(main)


def test_a_group_whose_child_fails_cancels_the_others_in_a_fixed_order(on_asyncio):
    async def main(stage):
        async def action():
            with pytest.raises(ExceptionGroup) as group:
                async with asyncio.TaskGroup() as tasks:
                    for number in range(9):
                        tasks.create_task(work(stage, f"{number}", 9, leave=1))
                    tasks.create_task(fail(stage, "bad", 1))
                    await park()
            stage.note([str(error) for error in group.value.exceptions])

        await stage.play(action)
        ends = [(tick, note) for tick, note in stage.log if "begins" not in note]
        assert ends[0] == (2, "bad fails")
        assert ends[-1] == (3, ["bad"])
        assert [note for _, note in ends[1:-1]] == [f"{number} ends" for number in range(9)]
        assert {tick for tick, _ in ends[1:-1]} == {3}

    on_asyncio(main)


def test_who_is_stopped_takes_its_tasks_along_also_those_it_forgot(on_asyncio):
    async def main(stage):
        faults = faults_of(stage)

        async def action():
            asyncio.create_task(work(stage, "forgotten", 99, leave=2))
            await asyncio.gather(work(stage, "a", 99), work(stage, "b", 99, leave=1))

        strand = stage.spawn(action)
        await stage.tick(3)
        strand.stop("by a test")
        await stage.end(strand)
        assert stage.ends == {"action": "cancelled"}
        assert stage.log[3:] == [(4, "a ends"), (5, "b ends"), (6, "forgotten ends")]
        assert faults == []

    on_asyncio(main)


def test_what_is_left_when_it_returns_is_cancelled_and_reported_once(on_asyncio):
    async def main(stage):
        faults = faults_of(stage)

        async def action():
            asyncio.create_task(work(stage, "one", 99), name="one")
            await next_tick()
            asyncio.create_task(work(stage, "two", 99), name="two")
            return "done"

        assert await stage.play(action) == "returned 'done'"
        assert stage.log == [(1, "one begins"), (2, "one ends")]
        ((tick, text, error),) = faults
        assert (tick, text) == (2, "'action' left tasks behind")
        assert error.startswith("[ART314] ended before tasks that it had made: one, two. They waited for the runtime")

    on_asyncio(main)


def test_what_only_waits_for_the_loop_may_go_on_until_it_waits_for_the_kernel(on_asyncio):
    async def main(stage):
        faults = faults_of(stage)
        is_over = asyncio.Event()

        async def library():
            await is_over.wait()
            stage.note("the library has ended")

        async def intruder():
            await is_over.wait()
            try:
                await next_tick()
            finally:
                stage.note("the intruder is cancelled")

        async def action():
            stage.keep = [asyncio.create_task(library()), asyncio.create_task(intruder(), name="intruder")]
            await next_tick()

        assert await stage.play(action) == "returned None"
        assert faults == []
        is_over.set()
        await stage.tick(2)
        assert sorted(stage.notes) == ["the intruder is cancelled", "the library has ended"]
        assert [text for _, text, _ in faults] == ["'intruder' left tasks behind"]

    on_asyncio(main)


def test_what_nobody_asks_about_is_reported_when_its_maker_ends(on_asyncio):
    async def main(stage):
        faults = faults_of(stage)

        async def action():
            asyncio.create_task(fail(stage, "unasked", 1), name="unasked")
            asked = asyncio.create_task(fail(stage, "asked", 1), name="asked")
            with pytest.raises(ValueError, match="asked"):
                await asked
            assert faults == []
            await next_tick()

        assert await stage.play(action) == "returned None"
        assert faults == [(3, "the task 'unasked' raised, and nobody asked", "unasked")]

    on_asyncio(main)


def test_wait_for_and_timeout_and_shield_and_as_completed(on_asyncio):
    async def main(stage):
        async def action():
            stage.note(await asyncio.wait_for(work(stage, "a", 2), 60))
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(work(stage, "b", 999), stage.beat * 3)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(stage.beat * 3):
                    await asyncio.gather(work(stage, "c", 999), park())
            stage.note(await asyncio.shield(work(stage, "d", 1)))
            for one in asyncio.as_completed([work(stage, "e", 2), work(stage, "f", 1)]):
                stage.note(await one)

        assert await stage.play(action) == "returned None"
        notes = [note for note in stage.notes if "begins" not in note]
        assert notes == ["a ends", "a", "b ends", "c ends", "d ends", "d", "f ends", "f", "e ends", "e"]

    on_asyncio(main)


def test_tasks_of_tasks_belong_to_the_same_action(on_asyncio):
    async def main(stage):
        async def grandchild():
            stage.note(current_strand().root.name)
            with move_on_after(0.1):
                await park()
            return await Fork(stage.kernel, "first", (work(stage, "x", 1), park())).first()

        async def child():
            async with asyncio.TaskGroup() as group:
                task = group.create_task(grandchild())
            return task.result()

        async def action():
            async def branch():
                return await asyncio.create_task(child())

            stage.note(await Fork(stage.kernel, "all", (branch(), asyncio.create_task(child()))).all())

        assert await stage.play(action) == "returned None"
        assert [note for note in stage.notes if "x" not in note] == ["action", "action", [(0, "x"), (0, "x")]]
        assert stage.kernel.tick <= 5

    on_asyncio(main)


def test_contexts_are_inherited_as_in_any_task(on_asyncio):
    import contextvars

    color = contextvars.ContextVar("color", default="none")

    async def main(stage):
        async def child():
            before = color.get()
            color.set("changed")
            await next_tick()
            return before, color.get()

        async def action():
            color.set("red")
            own = contextvars.copy_context()
            own.run(color.set, "blue")
            stage.note(await asyncio.create_task(child()))
            stage.note(await asyncio.create_task(child(), context=own))
            stage.note((color.get(), own[color]))

        assert await stage.play(action) == "returned None"
        assert stage.notes == [("red", "changed"), ("blue", "changed"), ("red", "changed")]

    on_asyncio(main)


def test_the_factory_of_the_loop_is_its_own_again_between_ticks(on_asyncio):
    async def main(stage):
        loop = asyncio.get_running_loop()
        made = []

        def factory(loop, coro, **options):
            made.append(coro.__name__)
            return asyncio.Task(coro, loop=loop, **options)

        loop.set_task_factory(factory)

        async def outside():
            await asyncio.sleep(0)

        async def action():
            stage.kernel.call_soon(lambda: stage.keep.append(asyncio.ensure_future(outside())))
            await asyncio.create_task(next_tick_in_a_task())

        async def next_tick_in_a_task():
            await next_tick()

        assert await stage.play(action) == "returned None"
        assert loop.get_task_factory() is factory
        assert made == ["outside"]
        await stage.keep.pop()
        loop.set_task_factory(None)

    on_asyncio(main)


def test_a_task_of_the_loop_may_await_one_of_an_action(on_asyncio):
    async def main(stage):
        async def action():
            stage.keep = [asyncio.create_task(work(stage, "a", 2)), asyncio.create_task(work(stage, "b", 99))]
            await next_tick()

            await Event().wait()

        stage.spawn(action)
        await stage.tick()
        outside = asyncio.create_task(asyncio.wait(stage.keep, return_when="FIRST_COMPLETED"))
        waits = asyncio.create_task(asyncio.wait_for(stage.keep[0], 60))
        await stage.tick(5)
        assert await waits == "a"
        done, pending = await outside
        assert (done, pending) == ({stage.keep[0]}, {stage.keep[1]})
        assert stage.keep[1].cancel()
        await stage.tick()
        assert stage.keep[1].cancelled()
        with pytest.raises(asyncio.CancelledError):
            await stage.keep[1]

    on_asyncio(main)


def test_one_that_is_killed_leaves_its_tasks_as_strays_that_are_stopped(on_asyncio):
    from agentrt.kernel.strand import kill

    async def main(stage):
        faults_of(stage)

        async def action():
            asyncio.create_task(work(stage, "a", 99, leave=2))
            await work(stage, "b", 99, leave=1)

        strand = stage.spawn(action)
        await stage.tick(2)
        stage.kernel.call_later(1, kill, strand, RuntimeError("killed"))
        await stage.tick(6)
        assert stage.ends == {"action": "raised RuntimeError"}
        assert stage.notes[-1] == "a ends"
        assert stage.kernel.strays.strands == {}

    on_asyncio(main)


def test_no_task_is_kept_when_it_has_ended(on_asyncio):
    async def main(stage):
        async def child():
            await next_tick()

        async def chain(left):
            await next_tick()
            if left:
                asyncio.create_task(chain(left - 1))

        async def action():
            for _ in range(20):
                await asyncio.create_task(child())
            asyncio.create_task(chain(20))
            await sleep_ticks(30)
            gc.collect()
            return sum(type(one).__name__ == "TaskStrand" for one in gc.get_objects())

        assert await stage.play(action) == "returned 0"

    on_asyncio(main)


@pytest.mark.parametrize("wait", ["signal", "event", "queue"])
def test_a_task_that_was_made_outside_is_told_what_to_do(on_loop, wait):
    async def main(stage):
        waits = {"signal": Signal().wait, "event": Event().wait, "queue": Queue().get}

        async def outside():
            with pytest.raises(
                (RuntimeError, TypeError), match=r"\[ART105\] a task waits for the runtime that was made"
            ):
                await waits[wait]()
            stage.note("told")

        async with anyio.create_task_group() as group:
            group.start_soon(outside)
        assert stage.notes == ["told"]

    on_loop(main)


# --- any event loop ---------------------------------------------------------------------------------------------------


def test_a_task_group_of_anyio(on_loop):
    async def main(stage):
        async def action():
            bell = Signal()

            async def listen(name, task_status=anyio.TASK_STATUS_IGNORED):
                task_status.started(name)
                stage.note(f"{name} hears {await bell.wait()}")

            async with anyio.create_task_group() as group:
                for number in range(3):
                    group.start_soon(work, stage, f"{number}", 3 - number)
                stage.note(await group.start(listen, "ear"))
                stage.kernel.call_later(4, bell.emit, "ding")
            stage.note("over")

        assert await stage.play(action) == "returned None"
        assert [entry for entry in stage.log if "begins" not in entry[1] and entry[1] != "ear"] == [
            (2, "2 ends"),
            (3, "1 ends"),
            (4, "0 ends"),
            (5, "ear hears ding"),
            (5, "over"),
        ]
        assert [note for note in stage.notes if "begins" in note] == ["0 begins", "1 begins", "2 begins"]

    on_loop(main)


def test_a_task_group_of_anyio_whose_child_fails_or_which_is_stopped(on_loop):
    async def main(stage):
        async def action():
            with pytest.raises(ExceptionGroup):
                async with anyio.create_task_group() as group:
                    for number in range(5):
                        group.start_soon(work, stage, f"{number}", 99)
                    group.start_soon(fail, stage, "bad", 1)
            stage.note("caught")
            async with anyio.create_task_group() as group:
                group.start_soon(work, stage, "x", 99)
                group.start_soon(work, stage, "y", 99)
                await park()

        strand = stage.spawn(action)
        await stage.tick(5)
        strand.stop("by a test")
        await stage.end(strand)
        assert stage.ends == {"action": "cancelled"}
        assert [note for note in stage.notes if "begins" not in note] == [
            "bad fails",
            *[f"{number} ends" for number in range(5)],
            "caught",
            "x ends",
            "y ends",
        ]

    on_loop(main)


# --- trio -------------------------------------------------------------------------------------------------------------


def test_a_nursery_of_trio(on_trio):
    async def main(stage):
        async def action():
            async with trio.open_nursery() as nursery:
                for number in range(5):
                    nursery.start_soon(work, stage, f"{number}", 1 + number % 2)
                await sleep_ticks(2)
                stage.note(current_strand().name)
            stage.note("over")

        stage.kernel.call_later(3, stage.note, "the callback of tick 3")
        assert await stage.play(action) == "returned None"
        assert stage.log == [
            *[(1, f"{number} begins") for number in range(5)],
            *[(2, f"{number} ends") for number in (0, 2, 4)],
            (3, "the callback of tick 3"),
            (3, "action"),
            (3, "1 ends"),
            (3, "3 ends"),
            (3, "over"),
        ]

    on_trio(main)


def test_a_nursery_whose_child_fails_or_which_is_stopped(on_trio):
    async def main(stage):
        async def action():
            with pytest.raises(ExceptionGroup):
                async with trio.open_nursery() as nursery:
                    for number in range(9):
                        nursery.start_soon(work, stage, f"{number}", 99, 1)
                    nursery.start_soon(fail, stage, "bad", 1)
                    try:
                        await park()
                    finally:
                        stage.note("the body ends")
            stage.note("caught")
            async with trio.open_nursery() as nursery:
                nursery.start_soon(work, stage, "x", 99, 2)
                nursery.start_soon(work, stage, "y", 99)

        strand = stage.spawn(action)
        await stage.tick(5)
        strand.stop("by a test")
        await stage.end(strand)
        assert stage.ends == {"action": "cancelled"}
        assert [entry for entry in stage.log if "begins" not in entry[1]] == [
            (2, "bad fails"),
            (2, "the body ends"),
            *[(3, f"{number} ends") for number in range(9)],
            (3, "caught"),
            (6, "y ends"),
            (8, "x ends"),
        ]

    on_trio(main)


def test_a_child_of_a_nursery_is_of_the_action_and_may_wait_for_anything(on_trio):
    async def main(stage):
        async def child(is_set):
            stage.note(current_strand().root.name)
            await trio.sleep(stage.beat * 1.5)
            with trio.move_on_after(stage.beat * 2), CancelScope():
                await park()
            stage.note(await Fork(stage.kernel, "first", (work(stage, "x", 1), park())).first())
            async with trio.open_nursery() as inner:
                inner.start_soon(work, stage, "y", 1)
                await inner.start(announce)
            is_set.set()

        async def announce(task_status=trio.TASK_STATUS_IGNORED):
            await next_tick()
            task_status.started()
            await next_tick()

        async def action():
            is_set = trio.Event()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(child, is_set)
                await is_set.wait()
            return "done"

        assert await stage.play(action) == "returned 'done'"
        assert stage.notes == ["action", "x begins", "x ends", (0, "x"), "y begins", "y ends"]

    on_trio(main)


def test_a_child_is_stopped_by_a_scope_of_trio_and_by_the_kernel(on_trio):
    async def main(stage):
        async def action():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(work, stage, "a", 99)
                await next_tick()
                nursery.cancel_scope.cancel()
            stage.note("left")
            async with trio.open_nursery() as nursery:
                nursery.start_soon(named, "b")
                await next_tick()
                children["b"].stop("natively")
            stage.note("left")

        async def named(name):
            children[name] = current_strand()
            await work(stage, name, 99)

        children = {}
        assert await stage.play(action) == "returned None"
        assert stage.notes == ["a begins", "a ends", "left", "b begins", "b ends", "left"]

    on_trio(main)


def test_a_child_that_raises_what_cannot_be_read_does_not_crash_trio(on_trio):
    class MuteError(Exception):
        def __repr__(self):
            raise LookupError("nothing to say")

    async def main(stage):
        async def mute():
            raise MuteError

        async def action():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(mute)

        async def outer():
            with pytest.raises(ExceptionGroup) as caught:
                await action()
            stage.note(str(caught.value.exceptions[0]))

        assert await stage.play(outer) == "returned None"
        assert stage.notes == ["[ART300] an error of type MuteError was raised that cannot be read (LookupError)"]

    on_trio(main)


def test_a_nursery_outside_of_any_strand_is_trios_own(on_trio):
    async def main(stage):
        async def outside():
            await trio.sleep(stage.beat)
            stage.note("outside")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(outside)
            await stage.tick(3)
        assert stage.notes == ["outside"]
        assert stage.kernel.live == 0

    on_trio(main)


# --- any program ------------------------------------------------------------------------------------------------------

leaves = st.tuples(st.sampled_from(("sleep", "bell", "fail", "spawn")), st.integers(0, 4))
programs = st.recursive(
    leaves,
    lambda inner: st.tuples(st.sampled_from(("group", "first", "limited")), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=8,
)


class Program:
    """Runs a tree of groups and waits, and books who began and who ended."""

    def __init__(self, stage):
        self.stage = stage
        self.bells = [Signal() for _ in range(5)]
        self.count = 0

    async def run(self, tree):
        kind, inner = tree
        self.count += 1
        name = f"{self.count} {kind}"
        self.stage.note(f"begin {name}")
        try:
            if kind == "group":
                async with anyio.create_task_group() as group:
                    for one in inner:
                        group.start_soon(self.run, one)
            elif kind == "first":
                await Fork(self.stage.kernel, "first", tuple([self.run(one) for one in inner])).first()
            elif kind == "limited":
                with move_on_after(0.1):
                    for one in inner:
                        await self.run(one)
            elif kind == "bell":
                await self.bells[inner].wait()
            elif kind == "spawn" and self.stage.name == "asyncio":
                task = asyncio.create_task(self.run(("sleep", inner)))
                await asyncio.wait([task, asyncio.create_task(self.run(("bell", inner)))])
            else:
                await sleep_ticks(inner)
                if kind == "fail":
                    raise ValueError(name)
        finally:
            self.stage.note(f"end {name}")


def run_program(on, host, tree, stop_at, turns=0):
    async def main(stage):
        stage.kernel.on_fault = lambda text, error: None
        program = Program(stage)
        for number, bell in enumerate(program.bells):
            stage.kernel.call_later(number + 1, bell.emit)

        async def action():
            await program.run(tree)

        strand = stage.spawn(action)
        await stage.tick(stop_at)
        for _ in range(turns):
            await anyio.lowlevel.checkpoint()
        strand.stop("by a test")
        await stage.end(strand)
        begun = sorted(note[6:] for note in stage.notes if note.startswith("begin "))
        assert begun == sorted(note[4:] for note in stage.notes if note.startswith("end "))
        assert stage.kernel.live == 0
        assert stage.kernel.families == {}
        return stage.log, stage.ends

    return on(host, main)


@given(programs, st.integers(1, 8), st.integers(0, 3))
@few
@pytest.mark.slow
def test_any_program_ends_whole_wherever_it_is_stopped_and_is_the_same_again(on, tree, stop_at, turns):
    assert run_program(on, "asyncio", tree, stop_at) == run_program(on, "asyncio", tree, stop_at, turns)
    once = run_program(on, "trio", tree, stop_at)
    for _ in range(4):  # trio rolls dice for the order of its tasks
        assert run_program(on, "trio", tree, stop_at) == once
