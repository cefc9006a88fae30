"""Random trees whose hooks are coroutines, and somebody who takes control flags away: what begins ends, once, in order.

Hooks take as long as they like, also when they are cancelled. Whatever happens, for each agent:

* who is active is one path: nobody begins before everybody who is not above it has ended, clean-up included
* an activation goes through activate, run and tick, deactivate; nothing of it happens twice or out of that order
* when the tree has left, nothing is left: no coroutine, no activation, no control flag
"""

from __future__ import annotations

from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import load

from agentrt.behavior import Behavior, RedecideLoopError
from agentrt.body.driver import LoneBody
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.rng import Stream
from agentrt.kernel.strand import CancelScope
from agentrt.kernel.traps import sleep_ticks

pytestmark = pytest.mark.slow

properties = load("tests/behavior/test_properties.py")
spec = properties.spec


class Watch:
    """Looks at each call of a hook, and raises when it may not come now."""

    def __init__(self, seed, faults):
        self.seed = seed
        self.faults = faults
        self.count = 0
        self.running = []  # pairs of an activation and a hook that has not ended
        self.active = []  # activations that may need a deactivate, or have something running
        self.done = []
        self.wrong = []

    def draw(self, limit):
        self.count += 1
        return (crc32(f"{self.seed}/{self.count}".encode()) >> 7) % limit

    def begins(self, at, hook):
        above = list(at.upward())
        strangers = [one for one in self.active if one not in above and (hook == "activate" or at not in one.upward())]
        mine = [other for one, other in self.running if one is at]
        if strangers:
            self.wrong.append(f"{at.path}.{hook} while {[one.path for one in strangers]} are active")
        if at in self.done:
            self.wrong.append(f"{at.path}.{hook} after its end")
        if hook != "tick" and mine and mine != ["tick"]:
            self.wrong.append(f"{at.path}.{hook} while {mine}")
        if hook == "tick" and ("activate" in mine or "tick" in mine):
            self.wrong.append(f"{at.path}.tick while {mine}")
        if hook == "deactivate" and mine:
            self.wrong.append(f"{at.path}.deactivate while {mine}")
        if hook == "deactivate" and self.active and self.active[-1] is not at:
            self.wrong.append(f"{at.path}.deactivate before {self.active[-1].path}")
        if at not in self.active:
            self.active.append(at)
        self.running.append((at, hook))

    def ends(self, at, hook, went_well):
        self.running.remove((at, hook))
        if hook == "deactivate" or (hook == "activate" and not went_well):
            self.finish(at)

    def finish(self, at):
        self.active.remove(at)
        self.done.append(at)

    def answer(self, hook):
        if self.draw(100) < self.faults:
            raise ValueError(hook)
        return hook == "deactivate" or self.draw(10) > 2


def plain(watch, hook):
    def call(self, at):
        watch.begins(at, hook)
        went_well = False
        try:
            went_well = watch.answer(hook)
        finally:
            watch.ends(at, hook, went_well)
        return went_well

    return call


def slow(watch, hook):
    async def call(self, at):
        watch.begins(at, hook)
        went_well = False
        try:
            await sleep_ticks(watch.draw(3))
            went_well = watch.answer(hook)
        finally:
            with CancelScope(shield=True):
                await sleep_ticks(watch.draw(3) * watch.draw(2))
            watch.ends(at, hook, went_well)
        return went_well

    return call


def behavior_of(one, watch):
    """A behavior with the same functions, some of them coroutines, and always with activate and deactivate."""
    kinds = {hook: (slow if watch.draw(3) == 0 else plain)(watch, hook) for hook in ("activate", "tick", "deactivate")}
    if "t" not in one.functions:
        del kinds["tick"]
    if watch.draw(3) == 0:
        kinds["run"] = slow(watch, "run")
    return type(one.name, (Behavior,), {"name": one.name, "flags": tuple(sorted(one.control)), **kinds})()


class Grabber(properties.Foreigner):
    """Takes control flags away, and waits for them."""

    precedence = 1

    def flags_granted(self):
        pass


class Run:
    def __init__(self, root, seed, faults):
        self.watch = Watch(seed, faults)
        self.kernel = Kernel()
        self.reports = []
        self.body = LoneBody("ann", "ann", kernel=self.kernel, report=lambda *report: self.reports.append(report))
        original, properties.built_behavior = properties.built_behavior, lambda one, _: behavior_of(one, self.watch)
        try:
            self.tree = properties.built(root, {"ann": spec.Script(seed)})
        finally:
            properties.built_behavior = original
        self.memory = self.tree.memory(stream=Stream(seed))
        self.grabber = Grabber("grabber")
        self.has_left = True
        self.is_driven = False
        self.kernel.every_tick(self.drive)

    def drive(self):
        if self.is_driven:
            try:
                self.memory.drive()
            except RedecideLoopError as error:
                self.watch.wrong.append(str(error))

    def step(self, action):
        if action == "leave" and self.is_driven:
            self.is_driven, self.has_left = False, False
            self.memory.leave("told to", self.left)
        elif action == "join" and not self.is_driven and self.has_left:
            self.memory.join(self.body)
            self.is_driven = True
        elif action in properties.FLAGS:
            self.body.flags.claim((action,), self.grabber, self.kernel.tick, wait=True)
        elif action == "release":
            self.body.flags.release(self.grabber)
        self.kernel.step_tick()
        assert self.watch.wrong == []

    def left(self):
        assert not self.has_left
        self.has_left = True


actions = st.lists(
    st.sampled_from(["", "", "", "", "", "", "leave", "join", "join", "MOVE", "LOOK", "release"]),
    min_size=1,
    max_size=30,
)


@pytest.mark.states(
    "002: S01, S08: Whatever hooks do and how long they take: what begins ends once, and one after the other (ours)",
)
@given(properties.trees(references=1), properties.seeds, actions, st.sampled_from([0, 0, 5]))
def test_what_begins_ends_once_and_one_after_the_other(root, seed, steps, faults):
    run = Run(root, seed, faults)
    run.step("join")
    for action in steps:
        run.step(action)
    run.step("leave")
    run.step("release")
    for _ in range(60):
        run.step("")
    assert run.has_left
    assert run.watch.running == []
    assert run.watch.active == []
    assert run.memory.strands() == []
    assert run.memory.active_path == ()
    assert run.body.flags.holds() == {}
    assert run.body.flags.waiting() == []
    if not faults:
        assert run.reports == []
