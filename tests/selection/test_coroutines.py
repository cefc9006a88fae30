"""Coroutines of leaf behaviors on all hosts: they begin with the behavior, are cancelled before the destructor, and who
follows waits until they have ended."""

# ruff: noqa: N802 - methods are named after signals
from __future__ import annotations

import asyncio

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from agentrt import CancelScope, sleep_ticks
from agentrt.body.driver import LoneBody
from agentrt.kernel.kernel import Kernel
from agentrt.selection import LeafBehavior, SelectionLibrary

THREE = '<Priority name="R"><Leaf name="C" condition="c"/><Leaf name="B" condition="b"/><Leaf name="A"/></Priority>'


@pytest.fixture
def abc(tree_of):
    return tree_of(THREE, "a b c")


@pytest.fixture
def stage(play, abc, faults):
    """A state on a runtime of the host, with a script: tick -> variables that are set at the end of that tick."""
    return staged(play, abc, faults)


@pytest.fixture
def stage_on_loop(play_loop, abc, faults):
    return staged(play_loop, abc, faults)


def staged(player, tree, faults):
    def make(behaviors, script, ticks):
        runtime = player.runtime(ticks_per_second=10)
        body = LoneBody("entity", kernel=runtime.kernel, report=lambda *told: faults.append((runtime.tick, *told)))
        state = tree.state(behaviors, body=body)

        def drive():
            if runtime.tick <= ticks:
                state.drive()
            for action in script.get(runtime.tick, ()):
                if callable(action):
                    action(state)
                else:
                    state.set_variable(action.strip("!"), not action.startswith("!"))

        runtime.every_tick(drive)
        runtime.every_tick(lambda: runtime.tick == ticks and state.leave("the end", lambda: None))
        make.now = lambda: runtime.tick
        if not make.paced:
            player.ticks(runtime, ticks + 3)
            return state

        async def main():
            await runtime.run(ticks + 3)
            await runtime.aclose()

        player(main)
        return state

    make.paced = False  # by the clock of the event loop

    return make


class Diary(LeafBehavior):
    """Writes a tick and a word for everything."""

    log: list
    name = "?"
    tail = 0  # ticks that its clean-up takes

    def note(self, ai, word):
        self.log.append((ai.body.kernel.tick, f"{self.name} {word}"))

    def constructor(self, ai):
        self.note(ai, "constructor")

    def destructor(self, ai):
        self.note(ai, "destructor")

    async def run(self, ai):
        self.note(ai, "runs")
        try:
            while True:
                await sleep_ticks(2)
                self.note(ai, "goes on")
        finally:
            self.note(ai, "cleans up")
            if self.tail:
                with CancelScope(shield=True):
                    await sleep_ticks(self.tail)
                    self.note(ai, "is clean")


def diary(name, log, base=Diary, **more):
    return type(f"Diary{name}", (base,), {"name": name, "log": log, **more})


@pytest.mark.states(
    "004: Evaluation: A behavior is a state that provides related actions; what it does may be a coroutine, cancelled "
    "before the destructor (ours)",
)
def test_run_begins_after_the_constructor_and_is_cancelled_before_the_destructor(stage, log):
    stage({"A": diary("A", log), "B": diary("B", log)}, {3: ["b"]}, 6)
    assert log == [
        (1, "A constructor"), (1, "A runs"), (3, "A goes on"),
        (4, "A cleans up"), (4, "A destructor"), (4, "B constructor"), (4, "B runs"),
        (6, "B cleans up"), (6, "B destructor"),
    ]  # fmt: skip


@pytest.mark.states("004: Evaluation: A behavior is a state that provides related actions; what it does may be a ...")
def test_who_follows_waits_for_the_clean_up_and_is_the_newest_decision(stage, log):
    stage({"A": diary("A", log, tail=3), "B": diary("B", log), "C": diary("C", log)}, {2: ["b"], 4: ["c"]}, 8)
    assert log == [
        (1, "A constructor"), (1, "A runs"), (3, "A cleans up"),
        (6, "A is clean"), (6, "A destructor"), (6, "C constructor"), (6, "C runs"),
        (8, "C cleans up"), (8, "C destructor"),
    ]  # fmt: skip


def test_one_that_is_selected_again_while_it_leaves_begins_anew(stage, log):
    stage({"A": diary("A", log, tail=3)}, {2: ["b"], 4: ["!b"]}, 7)
    assert log == [
        (1, "A constructor"), (1, "A runs"), (3, "A cleans up"),
        (6, "A is clean"), (6, "A destructor"), (6, "A constructor"), (6, "A runs"),
        (7, "A cleans up"), (10, "A is clean"), (10, "A destructor"),
    ]  # fmt: skip


def test_signals_reach_nobody_while_a_behavior_leaves(stage, log):
    class A(Diary):
        tail = 3

        def Hit(self, ai):
            self.note(ai, "is hit")

    stage(
        {"A": diary("A", log, A)},
        {1: [lambda state: state.signal("Hit")], 2: ["b"], 4: [lambda state: state.signal("Hit")]},
        6,
    )
    assert [what for _, what in log if "hit" in what] == ["A is hit"]


def test_a_run_that_returns_leaves_the_leaf_as_it_is(stage, log):
    class A(Diary):
        async def run(self, ai):
            await sleep_ticks(1)
            self.note(ai, "is done")

    state = stage({"A": diary("A", log, A)}, {4: [lambda state: log.append((state.leaf, state.strands()))]}, 5)
    assert log == [(1, "A constructor"), (2, "A is done"), ("R/A", []), (5, "A destructor")]
    assert state.behavior is None


def test_a_run_that_raises_puts_the_behavior_out(stage, log, faults):
    class B(Diary):
        async def run(self, ai):
            await sleep_ticks(1)
            raise ValueError("tripped")

    stage({"A": diary("A", log), "B": diary("B", log, B)}, {1: ["b"]}, 5)
    assert log == [
        (1, "A constructor"), (1, "A runs"), (2, "A cleans up"), (2, "A destructor"), (2, "B constructor"),
        (4, "B destructor"), (4, "A constructor"), (4, "A runs"), (5, "A cleans up"), (5, "A destructor"),
    ]  # fmt: skip
    assert [(tick, path, hook, str(error)) for tick, path, hook, error in faults] == [
        (3, "selection/R/B", "run", "tripped")
    ]


class Slow(Diary):
    """Begins for two ticks."""

    async def constructor(self, ai):
        self.note(ai, "begins")
        try:
            await sleep_ticks(2)
        except BaseException:
            self.note(ai, "never began")
            raise
        self.note(ai, "has begun")


@pytest.mark.states(
    "004: Evaluation: A constructor may be a coroutine, and has no destructor if it did not return (ours)",
)
def test_a_constructor_may_take_time(stage, log):
    phases = []
    watch = {tick: [lambda state: phases.append(str(state.phase))] for tick in range(1, 6)}
    stage({"A": diary("A", log, Slow)}, watch, 5)
    assert log == [
        (1, "A begins"), (3, "A has begun"), (3, "A runs"), (5, "A cleans up"), (5, "A destructor"),
    ]  # fmt: skip
    assert phases == ["beginning", "beginning", "beginning", "active", "active"]


@pytest.mark.states("004: Evaluation: A constructor may be a coroutine, and has no destructor if it did not return ...")
def test_one_that_never_began_is_not_destructed(stage, log):
    stage({"A": diary("A", log, Slow), "B": diary("B", log)}, {1: ["b"]}, 3)
    assert log == [
        (1, "A begins"), (2, "A never began"), (2, "B constructor"), (2, "B runs"), (3, "B cleans up"), (3, "B destructor"),
    ]  # fmt: skip


def test_one_that_was_cancelled_and_returned_nevertheless_has_begun(stage, log):
    class Stubborn(Diary):
        async def constructor(self, ai):
            with CancelScope(shield=True):
                await sleep_ticks(2)
            self.note(ai, "has begun")

    stage({"A": diary("A", log, Stubborn), "B": diary("B", log)}, {1: ["b"]}, 4)
    assert log == [
        (3, "A has begun"), (3, "A destructor"), (3, "B constructor"), (3, "B runs"), (4, "B cleans up"), (4, "B destructor"),
    ]  # fmt: skip


def test_a_slow_constructor_that_raises(stage, log, faults):
    class Broken(Diary):
        async def constructor(self, ai):
            await sleep_ticks(1)
            raise ValueError("no")

    stage({"A": diary("A", log), "B": diary("B", log, Broken)}, {1: ["b"]}, 5)
    assert [what for _, what in log] == [
        "A constructor", "A runs", "A cleans up", "A destructor", "A constructor", "A runs", "A cleans up", "A destructor",
    ]  # fmt: skip
    assert [(tick, hook) for tick, _, hook, _ in faults] == [(3, "constructor")]


def test_a_method_of_a_signal_may_be_a_coroutine(stage, log):
    class A(LeafBehavior):
        async def Hit(self, ai, hard):
            log.append((ai.body.kernel.tick, "hit", hard))
            try:
                await sleep_ticks(2)
                ai.set_variable("b", True)
            finally:
                log.append((ai.body.kernel.tick, "recovers"))

        def destructor(self, ai):
            log.append((ai.body.kernel.tick, "destructor"))

    script = {2: [lambda state: state.signal("Hit", hard=True), lambda state: state.signal("Hit", hard=False)]}
    stage({"A": A}, script | {3: [lambda state: log.append(state.view().routines)]}, 8)
    assert log == [
        (2, "hit", True),
        (2, "hit", False),
        ("Hit", "Hit"),
        (4, "recovers"),
        (4, "recovers"),
        (5, "destructor"),
    ]


def test_cancelled_methods_end_before_the_destructor(stage, log):
    class A(LeafBehavior):
        async def Hit(self, ai):
            try:
                await sleep_ticks(50)
            finally:
                log.append((ai.body.kernel.tick, "recovers"))

        def destructor(self, ai):
            log.append((ai.body.kernel.tick, "destructor"))

    stage({"A": A}, {1: [lambda state: state.signal("Hit")], 3: ["b"]}, 6)
    assert log == [(4, "recovers"), (4, "destructor")]


def test_its_own_coroutine_may_have_it_leave(stage, log):
    class A(Diary):
        async def run(self, ai):
            await sleep_ticks(1)
            ai.leave("tired", lambda: log.append((stage.now(), "left")))
            self.note(ai, "still here")
            await sleep_ticks(1)
            self.note(ai, "never")

    stage({"A": diary("A", log, A)}, {}, 5)
    assert log == [(1, "A constructor"), (2, "A still here"), (2, "A destructor"), (2, "left")]


def test_leaving_waits_for_the_clean_up(stage, log):
    def leave(state):
        state.leave("enough", lambda: log.append((stage.now(), "left")))
        log.append((stage.now(), "told"))

    stage({"A": diary("A", log, tail=2)}, {2: [leave]}, 6)
    assert log == [
        (1, "A constructor"), (1, "A runs"), (2, "told"), (2, "A cleans up"), (4, "A is clean"), (4, "A destructor"),
        (4, "left"),
    ]  # fmt: skip


@pytest.mark.states("004: Evaluation: A behavior is a state that provides related actions; what it does may be a ...")
def test_it_awaits_what_the_host_offers(stage_on_loop, play_loop, log):
    class A(Diary):
        async def constructor(self, ai):
            await play_loop.sleep(0.2)
            self.note(ai, "constructor")

        async def run(self, ai):
            try:
                await play_loop.sleep(1000)
            except (asyncio.CancelledError, trio.Cancelled):
                self.note(ai, "cancelled")
                raise

    stage_on_loop.paced = True
    stage_on_loop({"A": diary("A", log, A), "B": diary("B", log)}, {5: ["b"]}, 7)
    assert log == [
        (2, "A constructor"), (6, "A cancelled"), (6, "A destructor"), (6, "B constructor"), (6, "B runs"), (7, "B cleans up"), (7, "B destructor"),
    ]  # fmt: skip


# --- pairing, whatever happens ----------------------------------------------------------------------------------------


class Random(LeafBehavior):
    """Waits as long as its plan says, in its constructor, while it runs, and while it cleans up; may raise."""

    def __init__(self, name, plan, log):
        self.name, self.plan, self.log = name, plan, log

    async def constructor(self, ai):
        self.log.append(("begins", self.name))
        if self.plan["constructor"]:
            await sleep_ticks(self.plan["constructor"])
        if self.plan["raises"] == "constructor":
            raise ValueError
        self.log.append(("constructor", self.name))

    async def run(self, ai):
        self.log.append(("runs", self.name))
        try:
            await sleep_ticks(self.plan["run"])
            if self.plan["raises"] == "run":
                raise ValueError
            await sleep_ticks(100)
        finally:
            if self.plan["tail"]:
                with CancelScope(shield=True):
                    await sleep_ticks(self.plan["tail"])
            self.log.append(("ran", self.name))

    def destructor(self, ai):
        self.log.append(("destructor", self.name))


PLAN = st.fixed_dictionaries(
    {
        "constructor": st.integers(0, 2),
        "run": st.integers(0, 3),
        "tail": st.integers(0, 2),
        "raises": st.sampled_from(["", "", "", "run", "constructor"]),
    }
)


@pytest.mark.states(
    "004: Concept and anatomy: At any moment an agent has one behavior at most, which matches its state",
)
@pytest.mark.slow
@given(
    plans=st.tuples(PLAN, PLAN, PLAN),
    script=st.lists(st.sampled_from(["", "", "", "b", "c", "!b", "!c", "leave"]), max_size=25),
)
def test_callbacks_are_paired_and_never_overlap(plans, script):
    log = []
    kernel = Kernel()
    tree = SelectionLibrary.from_texts(
        {
            "t.xml": f'<SelectionTree><Variables><Variable name="b"/><Variable name="c"/></Variables>{THREE}</SelectionTree>'
        }
    )["t"]
    body = LoneBody(kernel=kernel, report=lambda *fault: None)
    behaviors = {name: Random(name, plan, log) for name, plan in zip("ABC", plans, strict=True)}
    state = tree.state(behaviors, body=body)
    driving = kernel.every_tick(state.drive)
    leaving = []

    def left():
        log.append("left")
        leaving.clear()
        state.join(body)

    for step in script:
        kernel.step_tick()
        if step == "leave":
            if not leaving:
                leaving.append(True)
                state.leave("script", left)
        elif step:
            state.set_variable(step.strip("!"), not step.startswith("!"))
    for _ in range(8):
        kernel.step_tick()
    driving()
    state.leave("the end", lambda: log.append("left"))
    for _ in range(8):
        kernel.step_tick()
    assert log[-1] == "left"
    assert kernel.live == 0
    check(log)


def check(log):
    """At each moment at most one behavior is between its beginning and its end; each callback has its pair."""
    current = stage = None
    for entry in log:
        if entry == "left":
            assert stage is None or stage == "begins"
            continue
        what, name = entry
        if what == "begins":  # one whose constructor was cancelled, or raised, has just vanished
            assert stage in (None, "begins")
        else:
            assert name == current
            allowed = {
                "constructor": ("begins",),
                "runs": ("constructor",),
                "ran": ("runs",),
                "destructor": ("constructor", "ran"),
            }
            assert stage in allowed[what]
        current, stage = (None, None) if what == "destructor" else (name, what)
