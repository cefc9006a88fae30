"""Random worlds of plain and coroutine goals, two selectors, and others who hold flags: what holds whatever happens.

* Starts and stops alternate; the coroutines of a goal have ended when its ``stop`` is called.
* No two of those who run, or clean up, use one flag; each holds all of its flags in the ledger from its start until its
  stop has returned.
* Nothing waits for ever: when all others have let go, a goal that can be used runs unless somebody is in its way.
* When all is over nothing is left.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import load

from agentrt.body.flags import FlagLedger
from agentrt.goals.selector import ENDING
from agentrt.kernel.strand import CancelScope
from agentrt.kernel.traps import sleep_ticks

worlds = load("tests/goals/worlds.py")

FLAGS = ("MOVE", "LOOK", "JUMP")
TICKS = 40


class Wild(worlds.Noted):
    """A goal that checks whenever it is called that nobody else uses what it uses."""

    def __init__(self, world, name, flags, dice):
        super().__init__(world.stage, name, flags, use=dice.random() < 0.6)
        self.cont = dice.choice([None, None, True])
        self.world = world
        self.dice = dice
        self.is_interruptible = dice.random() < 0.8
        self.requires_update_every_tick = dice.random() < 0.5
        self.open = 0  # coroutines under way

    def wrapped(self):
        return self.last if self._place is None else self._place.holder_of(self)

    def began(self):
        self.last = self._place.holder_of(self)
        assert self not in self.world.using
        for other in self.world.using:
            assert not set(other.control_flags) & set(self.control_flags), (other.name, self.name)
        self.world.using.append(self)
        self.world.check()
        self.note("start")

    def ended(self):
        assert self in self.world.using
        self.note("stop")

    def gone(self):
        self.world.check()
        self.world.using.remove(self)

    def maybe(self, likely):
        if self.dice.random() < likely:
            self.world.meddle(self.dice)
        if self.dice.random() < likely / 4:
            raise worlds.Boom

    async def wait(self, ticks):
        self.open += 1
        try:
            await sleep_ticks(ticks)
            self.maybe(0.1)
        finally:
            with CancelScope(shield=True):
                await sleep_ticks(self.dice.choice([0, 0, 1, 3]))
            self.open -= 1


class Plain(Wild):
    def can_use(self):
        self.maybe(0.05)
        return self.use

    def start(self):
        self.began()
        self.maybe(0.1)

    def tick(self):
        assert self in self.world.using
        self.maybe(0.1)

    def stop(self):
        self.ended()
        try:
            self.maybe(0.1)
        finally:
            self.gone()


class Running(Wild):
    def start(self):
        self.began()

    async def run(self):
        await self.wait(self.dice.randrange(8))

    def stop(self):
        assert self.open == 0
        self.ended()
        self.gone()


class Slow(Wild):
    async def start(self):
        self.began()
        await self.wait(self.dice.randrange(3))

    async def tick(self):
        assert self.open == 0
        await self.wait(self.dice.randrange(3))

    async def stop(self):
        assert self.open == 0
        self.ended()
        try:
            await sleep_ticks(self.dice.randrange(3))
        finally:
            self.gone()


class World:
    """Two selectors and some others on one body, with dice."""

    def __init__(self, seed):
        self.dice = dice = random.Random(seed)
        self.stage = stage = worlds.Stage(number=dice.randrange(4))
        self.using = []
        self.count = 0
        self.selectors = [stage.selector(name=name, precedence=dice.randrange(3)) for name in ("goals", "targets")]
        self.others = [
            worlds.Other(
                stage, f"other{number}", dice.randrange(4),
                interruptible=dice.random() < 0.7, slow=dice.choice([None, 0, 1, 4]),
            )
            for number in range(3)
        ]  # fmt: skip
        for _ in range(6):
            self.add(dice)

    def add(self, dice):
        self.count += 1
        kind = dice.choice([Plain, Running, Slow])
        flags = dice.sample(FLAGS, dice.randrange(4))
        goal = kind(self, f"g{self.count}", flags, random.Random(dice.random()))
        dice.choice(self.selectors).add_goal(dice.randrange(4), goal)

    def check(self):
        ledger = self.stage.body.flags
        for goal in self.using:
            for flag in goal.control_flags:
                hold = ledger.holder(flag)
                assert hold is not None, (goal.name, flag)
                assert hold.owner is goal.last, (goal.name, flag, hold.name)

    def meddle(self, dice):
        """Something happens, within a callback or between two ticks."""
        selector = dice.choice(self.selectors)
        goals = [wrapped.goal for wrapped in selector.available_goals]
        what = dice.randrange(10)
        if what < 3 and goals:
            dice.choice(goals).use ^= True
        elif what == 3 and goals:
            selector.remove_goal(dice.choice(goals))
        elif what == 4 and self.count < 15:
            self.add(dice)
        elif what == 5:
            selector.set_control_flag(dice.choice(FLAGS), dice.random() < 0.6)
        elif what < 8:
            dice.choice(self.others).claim(*dice.sample(FLAGS, dice.randrange(1, 3)), wait=dice.random() < 0.5)
        elif what == 8:
            dice.choice(self.others).release()
        elif dice.random() < 0.1:
            self.leave(selector)

    def leave(self, selector):
        if not selector.is_away:
            selector.leave("for a while", lambda: self.stage.kernel.call_later(3, self.join, selector))

    def join(self, selector):
        if not self.stage.is_closing:
            selector.join(self.stage.body)

    def play(self):
        for _ in range(TICKS):
            if self.dice.random() < 0.6:
                self.meddle(self.dice)
            self.stage.tick()
            self.check()
        return self

    def calm_down(self):
        """Everybody lets go, everything may run, and nothing happens any more."""
        for goal in [wrapped.goal for selector in self.selectors for wrapped in selector.available_goals]:
            goal.use = True
            goal.maybe = lambda likely: None
        for selector in self.selectors:
            for flag in FLAGS:
                selector.enable_control_flag(flag)
        for _ in range(20):
            for other in self.others:
                other.release()
            self.stage.tick()


@pytest.mark.states("000: Ours: (ours) Every start has exactly one stop, whatever happens ...")
@pytest.mark.states("000: Ours: (ours) Nobody uses what somebody else uses, and nothing waits for ever", source="Flags")
@pytest.mark.slow
@given(st.integers(0, 10**9))
def test_nobody_uses_what_somebody_else_uses(seed):
    World(seed).play().stage.close()


@pytest.mark.states("000: Ours: (ours) Nobody uses what somebody else uses, and nothing waits for ever ...")
@pytest.mark.slow
@given(st.integers(0, 10**9))
def test_nothing_waits_for_ever(seed):
    world = World(seed).play()
    world.calm_down()
    ledger = world.stage.body.flags
    for selector in world.selectors:
        if not selector.is_away:
            selector.tick()
        for goal in selector.view().goals:
            if goal.state == "idle":
                taken = {*ledger.holds(), *selector.locked_flags, *(f for one in ledger.waiting() for f in one.flags)}
                assert taken & set(goal.flags), goal
            elif goal.state == "pending":
                holders = [ledger.holder(flag).owner for flag in goal.flags if ledger.holder(flag)]
                assert any(holder.state == ENDING for holder in holders), goal
    world.stage.close()


@pytest.mark.slow
@given(st.integers(0, 10**9))
def test_the_same_seed_gives_the_same_run(seed):
    first, second = World(seed).play().stage, World(seed).play().stage
    assert first.records == second.records
    assert first.log == second.log
    first.close()
    second.close()


def test_the_ledger_of_a_calm_world_is_free():
    world = World(7)
    world.stage.close()
    assert isinstance(world.stage.body.flags, FlagLedger)
    assert world.stage.body.flags.is_free
