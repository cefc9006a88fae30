"""Waiting for several things on every host: who wins, who is cancelled, what is raised, and that nothing is left behind."""

from __future__ import annotations

import gc
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strands import fail, work

from agentrt.kernel.fork import Fork
from agentrt.kernel.kernel import ControlFlow
from agentrt.kernel.signals import Event, Queue, Signal
from agentrt.kernel.strand import CancelScope, current_strand, move_on_after
from agentrt.kernel.traps import next_tick, park, sleep_ticks

few = settings(max_examples=settings.default.max_examples // 4)  # each runs whole event loops


def first(stage, *waits):
    return Fork(stage.kernel, "first", waits).first()


def every(stage, *waits):
    return Fork(stage.kernel, "all", waits).all()


# --- who wins ---------------------------------------------------------------------------------------------------------


def test_the_first_one_wins_and_the_others_have_cleaned_up_before_it_goes_on(on_any):
    async def main(stage):
        async def action():
            stage.note(await first(stage, work(stage, "slow", 9, leave=2), work(stage, "quick", 3), Signal().wait()))
            return "done"

        assert await stage.play(action) == "returned 'done'"
        assert stage.log == [
            (1, "slow begins"),
            (1, "quick begins"),
            (4, "quick ends"),
            (6, "slow ends"),
            (6, (1, "quick")),
        ]
        assert stage.kernel.families == {}

    on_any(main)


def test_of_those_that_come_by_the_same_thing_the_earlier_argument_wins(on_any):
    async def main(stage):
        async def action():
            bell = Signal()
            stage.kernel.call_later(2, bell.emit, "ding")
            stage.note(await first(stage, sleep_ticks(3), sleep_ticks(3)))
            stage.note(await first(stage, bell.wait(), bell.wait(), sleep_ticks(1)))
            stage.kernel.call_later(2, bell.emit, "dong")
            stage.note(await first(stage, work(stage, "a", 5), bell.wait(), bell.wait()))

        await stage.play(action)
        assert stage.log == [
            (4, (0, None)),
            (5, (2, None)),
            (5, "a begins"),
            (7, "a ends"),
            (7, (1, "dong")),
        ]

    on_any(main)


def test_a_loser_takes_nothing_and_one_that_has_not_begun_never_does(on_any):
    async def main(stage):
        async def action():
            one, other = Queue(), Queue()
            one.put_nowait("apple")
            other.put_nowait("pear")
            stage.note(await first(stage, one.get(), other.get(), work(stage, "late", 1)))
            stage.note((len(one), len(other)))

            async def both():
                one.put_nowait("plum")
                other.put_nowait("fig")

            stage.kernel.call_later(1, lambda: stage.spawn(both))
            await other.get()
            stage.note(await first(stage, other.get(), one.get()))
            stage.note((len(one), len(other)))

        await stage.play(action)
        assert stage.log == [(1, (0, "apple")), (1, (0, 1)), (2, (1, "plum")), (2, (0, 1))]

    on_any(main)


def test_all_gives_the_values_in_the_order_of_the_arguments(on_any):
    async def main(stage):
        async def action():
            is_set = Event()
            is_set.set()
            waits = [work(stage, "a", 3), work(stage, "b", 1), sleep_ticks(0), is_set.wait()]
            stage.note(await every(stage, *waits))
            stage.note(await every(stage, first(stage, work(stage, "c", 2), park()), every(stage, work(stage, "d", 1))))

        await stage.play(action)
        assert [entry for entry in stage.log if not isinstance(entry[1], str)] == [
            (4, ["a", "b", None, None]),
            (6, [(0, "c"), ["d"]]),
        ]

    on_any(main)


# --- errors -----------------------------------------------------------------------------------------------------------


def test_an_error_cancels_the_others_and_is_raised_when_they_have_ended(on_any):
    async def main(stage):
        async def action():
            for way in (first, every):
                with pytest.raises(ValueError, match="bad") as caught:
                    await way(stage, work(stage, "a", 9, leave=1), fail(stage, "bad", 1), work(stage, "b", 9))
                stage.note(type(caught.value).__name__)

        await stage.play(action)
        assert stage.log == [
            (1, "a begins"),
            (1, "b begins"),
            (2, "bad fails"),
            (2, "b ends"),
            (3, "a ends"),
            (3, "ValueError"),
            (3, "a begins"),
            (3, "b begins"),
            (4, "bad fails"),
            (4, "b ends"),
            (5, "a ends"),
            (5, "ValueError"),
        ]

    on_any(main)


def test_several_errors_are_a_group_and_one_of_a_loser_counts(on_any):
    async def main(stage):
        async def torn(name):
            try:
                await park()
            finally:
                raise ValueError(name)

        async def action():
            with pytest.raises(ExceptionGroup, match="several waits of all failed") as group:
                await every(stage, torn("one"), fail(stage, "two", 1), torn("three"))
            stage.note([str(error) for error in group.value.exceptions])
            with pytest.raises(ValueError, match="loser"):
                await first(stage, sleep_ticks(1), torn("loser"))

        assert await stage.play(action) == "returned None"
        assert stage.notes == ["two fails", ["two", "one", "three"]]

    on_any(main)


def test_control_flow_is_raised_alone_and_the_errors_beside_it_are_reported(on_any):
    class Flow(ControlFlow):
        pass

    async def main(stage):
        faults = []
        stage.kernel.on_fault = lambda text, error: faults.append((text, str(error)))

        async def torn():
            try:
                await park()
            finally:
                raise ValueError("torn")

        async def flow():
            raise Flow

        async def action():
            with pytest.raises(Flow):
                await every(stage, torn(), flow())

        assert await stage.play(action) == "returned None"
        assert faults == [("a wait of all of 'action' raised", "torn")]

    on_any(main)


# --- cancellation -----------------------------------------------------------------------------------------------------


def test_who_is_cancelled_cancels_them_and_goes_when_they_have_ended(on_any):
    async def main(stage):
        async def action():
            with move_on_after(0.1) as scope:
                await first(stage, work(stage, "a", 9, leave=2), every(stage, work(stage, "b", 9), park()))
            stage.note(f"moved on: {scope.cancelled_caught}")
            await every(stage, work(stage, "c", 9, leave=1))

        strand = stage.spawn(action)
        await stage.tick(7)
        strand.stop("by a test")
        await stage.end(strand)
        assert stage.ends == {"action": "cancelled"}
        assert stage.log == [
            (1, "a begins"),
            (1, "b begins"),
            (3, "b ends"),
            (5, "a ends"),
            (5, "moved on: True"),
            (5, "c begins"),
            (9, "c ends"),
        ]

    on_any(main)


def test_what_they_raise_while_they_are_cancelled_takes_the_place_of_the_cancellation(on_any):
    async def main(stage):
        async def torn():
            try:
                await park()
            finally:
                raise ValueError("torn")

        async def action():
            with move_on_after(0.1):
                await first(stage, torn())

        assert await stage.play(action) == "raised ValueError"

    on_any(main)


def test_behind_a_shield_the_branches_are_behind_it_too(on_any):
    async def main(stage):
        async def action():
            with CancelScope(shield=True):
                stage.note(await every(stage, work(stage, "a", 3), shielded()))
            await next_tick()

        async def shielded():
            return current_strand().is_shielded

        strand = stage.spawn(action)
        await stage.tick(2)
        strand.stop("by a test")
        await stage.end(strand)
        assert stage.log == [(1, "a begins"), (4, "a ends"), (4, ["a", True])]
        assert stage.ends == {"action": "cancelled"}

    on_any(main)


def test_who_is_killed_leaves_strays_that_are_stopped(on_any):
    async def main(stage):
        faults = []
        stage.kernel.on_fault = lambda text, error: faults.append(text)

        async def action():
            await first(stage, work(stage, "a", 9, leave=2))

        async def endless():
            stage.spawn(action)
            await sleep_ticks(2)
            from agentrt.kernel.strand import kill

            kill(stage.strands[-1], RuntimeError("killed"))

        stage.spawn(endless)
        await stage.tick(9)
        assert stage.ends["action"] == "raised RuntimeError"
        assert stage.notes == ["a begins", "a ends"]
        assert stage.kernel.strays.strands == {}
        assert stage.kernel.families == {}
        assert faults == []

    on_any(main)


# --- what an author may do wrong --------------------------------------------------------------------------------------


def test_what_cannot_be_waited_for_is_refused_and_nothing_is_left_unawaited(on_any):
    async def main(stage):
        with pytest.raises(ValueError, match=r"^first\(\): it takes at least one wait, such as first\(ctx.sleep"):
            first(stage)
        with pytest.raises(TypeError, match=r"^all\(3\): it takes what can be awaited"):
            every(stage, work(stage, "a", 1), 3)
        twice = work(stage, "a", 1)
        with pytest.raises(ValueError, match="a coroutine is given twice"):
            first(stage, twice, twice)
        gc.collect()

    on_any(main)


def test_one_that_is_stopped_before_it_begins_leaves_nothing_unawaited(on_any):
    async def main(stage):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            waits = first(stage, work(stage, "a", 1), every(stage, work(stage, "b", 1)))
            strand = stage.kernel.spawn(waits, "unbegun")
            strand.stop("by a test")
            del waits
            await stage.tick()
            assert strand.is_done
            del strand
            gc.collect()
        assert told == []
        assert stage.log == []

    on_any(main)


def test_who_is_not_awaited_is_told_of_once(on_any):
    async def main(stage):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            first(stage, work(stage, "a", 1), every(stage, work(stage, "b", 1)))
            gc.collect()
        # the first line: in development mode it says where it was made, too
        lines = [str(warning.message).splitlines()[0] for warning in told]
        assert lines == ["coroutine 'Fork.first' was never awaited"]

    on_any(main)


def test_one_that_waits_for_nothing_again_and_again_is_killed_as_a_livelock(on):
    async def main(stage):
        async def action():
            while True:
                await first(stage, sleep_ticks(0))

        async def other():
            await sleep_ticks(3)
            stage.note("other goes on")

        faults = []
        stage.kernel.on_fault = lambda text, error: faults.append(type(error).__name__)
        stage.spawn(action)
        stage.spawn(other)
        await stage.tick(4)
        assert stage.log == [(4, "other goes on")]
        assert stage.ends["action"] == "raised LivelockError"
        assert faults == []

    on("plain", main)


# --- any tree ---------------------------------------------------------------------------------------------------------

leaves = st.tuples(st.sampled_from(("sleep", "bell", "fail", "stubborn", "item")), st.integers(0, 4))
trees = st.recursive(
    leaves,
    lambda inner: st.tuples(st.sampled_from(("first", "all", "limited")), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=8,
)


class Forest:
    """Runs a tree of waits, and books who began and who ended."""

    def __init__(self, stage):
        self.stage = stage
        self.bells = [Signal() for _ in range(5)]
        self.items = Queue()
        self.count = 0

    async def grow(self, tree):
        kind, inner = tree
        self.count += 1
        name = f"{self.count} {kind}"
        self.stage.note(f"begin {name}")
        try:
            if kind in ("first", "all"):
                waits = [self.grow(one) for one in inner]
                return await (first if kind == "first" else every)(self.stage, *waits)
            if kind == "limited":
                with move_on_after(0.1):
                    return await first(self.stage, *[self.grow(one) for one in inner])
                return None
            if kind == "bell":
                return await self.bells[inner].wait()
            if kind == "item":
                return await self.items.get()
            await sleep_ticks(inner)
            if kind == "fail":
                raise ValueError(name)
            return name
        finally:
            if kind == "stubborn":
                with CancelScope(shield=True):
                    await next_tick()
            self.stage.note(f"end {name}")


def run_tree(on, host, tree, stop_at):
    async def main(stage):
        forest = Forest(stage)
        for number, bell in enumerate(forest.bells):
            stage.kernel.call_later(number + 1, bell.emit, number)
            stage.kernel.call_later(number + 1, forest.items.put_nowait, number)

        async def action():
            stage.note(f"gives {await forest.grow(tree)}")

        strand = stage.spawn(action)
        await stage.tick(stop_at)
        strand.stop("by a test")
        await stage.end(strand)
        begun = sorted(note[6:] for note in stage.notes if note.startswith("begin "))
        assert begun == sorted(note[4:] for note in stage.notes if note.startswith("end "))
        assert stage.kernel.live == 0
        assert stage.kernel.families == {}
        return stage.log, stage.ends

    return on(host, main)


@given(trees, st.integers(1, 8))
def test_any_tree_of_waits_ends_whole_wherever_it_is_stopped(on, tree, stop_at):
    run_tree(on, "plain", tree, stop_at)


@given(trees, st.integers(1, 8))
@few
@pytest.mark.slow
def test_any_tree_of_waits_runs_the_same_on_every_host(on, tree, stop_at):
    plain = run_tree(on, "plain", tree, stop_at)
    assert run_tree(on, "asyncio", tree, stop_at) == plain
    assert run_tree(on, "trio", tree, stop_at) == plain
