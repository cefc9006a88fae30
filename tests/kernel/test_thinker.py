"""Who thinks and waits without a strand: the run is the same as if each had one from the beginning.

The peer is a host that makes strands at once, as those of event loops do; each scene is played on both, and compared.
"""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from agentrt.errors import LivelockError
from agentrt.kernel.kernel import Batch, PlainHost
from agentrt.kernel.signals import Signal
from agentrt.kernel.strand import CancelScope, Strand, current_strand, kill
from agentrt.kernel.thinker import ABSENT, Thinker
from agentrt.kernel.traps import Waiter, at_once, next_tick, park, sleep_ticks, suspend_on


class Spawning(PlainHost):
    """Makes a strand for each coroutine from the beginning."""

    steps_inline = False


@pytest.fixture(params=[PlainHost, Spawning], ids=["late", "at_once"])
def lab(laboratory, request):
    made = laboratory(host=request.param())
    yield made
    for strand in tuple(made.kernel.strays.strands):
        strand.stop("the test is over")
    made.close()
    assert made.faults == []


class Mind(Thinker):
    """Thinks one coroutine at a time, as a unit of a plan does."""

    def __init__(self, lab, name, think):
        super().__init__()
        self.lab = lab
        self.called = name
        self.think = think  # a coroutine function of the mind
        self.code = None

    @property
    def kernel(self):
        return self.lab.kernel

    def strand_name(self):
        return self.called

    def begin(self):
        """Think, in a batch of one."""
        self.code = asked = [self]
        Batch(self.kernel, asked).launch()

    def open(self, asked):
        if self.code is not asked:
            return None
        self.code = None
        return self.think(self)

    def waits(self, coro):
        if self.stepper is not ABSENT and self.leaving() is not None:
            return False
        if self.stepper is not ABSENT or self.code is not None:
            return False
        self.stepper, self.code = coro, self
        return True

    def on_strand_made(self, strand):
        self.code = strand

    def stop(self):
        """Think no more."""
        code, self.code = self.code, None
        if code is self:
            if self.kernel.current is self:
                self._dismiss(self.strand())
                self.code = None
            else:
                self.kernel.strays.take(self.leave("stopped"))
        elif isinstance(code, Strand):
            self._dismiss(code)

    def _dismiss(self, strand):
        if self.leaving() is None:
            self.stepper = strand
        self.kernel.strays.take(strand)
        strand.stop("stopped")

    def on_strand_end(self, strand, result, error):
        assert strand is self.code
        self.code = None
        self.lab.note(self.called, "ended", type(error).__name__)

    def thought_ended(self, error):
        assert self.code is self or self.code is None
        self.code = None
        self.lab.note(self.called, "ended", type(error).__name__)


def mind_of(lab, think, name="mind"):
    made = Mind(lab, name, think)
    made.begin()
    return made


def test_who_waits_for_a_signal_or_a_tick_has_no_strand(laboratory):
    lab, signal = laboratory(), Signal()

    async def listens(mind):
        lab.note("heard", await signal.wait())
        await sleep_ticks(2)
        await park()

    async def sleeps(mind):
        await next_tick()
        lab.note("slept")

    listener, sleeper = mind_of(lab, listens, "listener"), mind_of(lab, sleeps, "sleeper")
    lab.tick()
    assert (listener.code, sleeper.code, lab.kernel.live) == (listener, sleeper, 2)
    signal.emit("news")
    lab.tick()
    assert lab.take_log() == [(2, "heard", "news"), (2, "slept"), (2, "sleeper", "ended", "NoneType")]
    assert (sleeper.code, lab.kernel.live) == (None, 1)
    lab.tick(2)
    assert listener.code is listener  # it waits for a waiter now
    listener.stop()
    lab.tick()
    assert lab.kernel.live == 0


def test_a_scope_that_is_opened_in_a_later_step_ends_its_wait(lab):
    signal, never = Signal(), Signal()

    async def thinks(mind):
        await signal.wait()
        with CancelScope() as scope:
            mind.scope = scope
            lab.note("inside", await never.wait())
        lab.note("behind", scope.cancelled_caught)
        await signal.wait()
        lab.note("again")

    mind = mind_of(lab, thinks)
    lab.tick()
    signal.emit()
    lab.tick()
    mind.scope.cancel()
    lab.tick()
    signal.emit()
    lab.tick()
    assert lab.log == [(3, "behind", True), (4, "again"), (4, "mind", "ended", "NoneType")]


@pytest.mark.parametrize("wait", ["audience", "ticks", "waiter", "nothing"])
def test_who_asks_for_its_strand_in_a_later_step_waits_on_as_it(lab, wait):
    signal, awaited, waiter = Signal(), Signal(), Waiter()

    async def thinks(mind):
        await signal.wait()
        assert current_strand() is mind.code
        lab.note(current_strand().name)
        if wait == "audience":
            await awaited.wait()
        elif wait == "ticks":
            await sleep_ticks(3)
        elif wait == "waiter":
            await suspend_on(waiter)
        lab.note("on")

    async def neighbor(name, before):
        await before
        lab.note(name)

    lab.spawn(neighbor("first", awaited.wait()))
    mind = mind_of(lab, thinks)
    lab.tick()
    signal.emit()
    lab.tick()
    lab.spawn(neighbor("last", awaited.wait()))
    lab.tick(2)
    awaited.emit()
    waiter.notify()
    lab.tick()
    on = {"audience": (5, "on"), "ticks": (5, "on"), "waiter": (5, "on"), "nothing": (2, "on")}[wait]
    assert on in lab.log
    if wait == "audience":  # its place among those who wait is that of its step
        assert [entry[1] for entry in lab.log] == ["mind", "first", "on", "mind", "last"]
    assert mind.code is None
    assert lab.kernel.live == 0


@pytest.mark.parametrize("woken", [False, True], ids=["waiting", "woken"])
@pytest.mark.parametrize("value", [None, "news"])
def test_who_is_stopped_is_cancelled_in_its_place_in_the_queue(lab, woken, value):
    signal = Signal()

    async def thinks(mind):
        try:
            await signal.wait()
        finally:
            lab.note(mind.called, "cleans up")

    async def neighbor(name):
        await signal.wait()
        lab.note(name)

    lab.spawn(neighbor("before"))
    mind = mind_of(lab, thinks)
    lab.tick()
    lab.spawn(neighbor("after"))
    lab.tick()
    if woken:
        signal.emit(value)
        mind.stop()
    else:
        mind.stop()
        signal.emit(value)
    lab.tick()
    order = ["before", "mind", "after"] if woken else ["mind", "before", "after"]
    assert [entry[1] for entry in lab.log] == order
    assert (mind.code, lab.kernel.live) == (None, 0)


@pytest.mark.parametrize("awaits", ["signal", "ticks"])
def test_it_may_wait_for_the_same_again_after_it_was_stopped(lab, awaits):
    """Its entry may still lie where it waited before, in a large audience or a bucket of the agenda."""
    signal, due = Signal(), 9

    async def thinks(mind):
        await (signal.wait() if awaits == "signal" else sleep_ticks(due - lab.kernel.tick))
        lab.note(mind.called)

    minds = [mind_of(lab, thinks, f"m{number}") for number in range(40)]
    lab.tick()
    for number in (3, 4):
        minds[number].stop()
    lab.tick()
    for number in (4, 3):
        minds[number].begin()
    lab.tick()
    if awaits == "signal":
        lab.tick(due - lab.kernel.tick - 1)
        signal.emit()
    lab.tick(due - lab.kernel.tick)
    told = [entry[1] for entry in lab.log if len(entry) == 2]
    assert told == [f"m{number}" for number in (*range(3), *range(5, 40), 4, 3)]
    assert lab.kernel.live == 0


def test_who_is_stopped_by_its_own_doing_is_cancelled_at_its_next_wait(lab):
    signal = Signal()

    async def thinks(mind):
        await signal.wait()
        mind.stop()
        mind.begin()
        try:
            await signal.wait()
        finally:
            lab.note("cleans up")

    mind = mind_of(lab, thinks)
    lab.tick()
    signal.emit()
    lab.tick()
    assert lab.take_log() == [(2, "cleans up")]
    assert mind.code is not None
    mind.stop()
    lab.tick()
    assert (lab.take_log(), lab.kernel.live) == ([], 0)  # the second thought had not come beyond its first wait


def test_what_it_cleans_up_behind_a_shield_goes_on_beside_its_next_thought(lab):
    signal = Signal()

    async def thinks(mind):
        try:
            await signal.wait()
            lab.note("heard")
        finally:
            with CancelScope(shield=True):
                await sleep_ticks(2)
            lab.note("cleaned up")

    mind = mind_of(lab, thinks)
    lab.tick()
    mind.stop()
    mind.begin()
    lab.tick()
    assert mind.leaving() is not None
    assert isinstance(mind.code, Strand)  # its entry is not free
    signal.emit()
    lab.tick(4)
    assert lab.log == [
        (3, "heard"),
        (4, "cleaned up"),
        (5, "cleaned up"),
        (5, "mind", "ended", "NoneType"),
    ]
    assert mind.leaving() is None


def test_what_it_raises_is_told_and_an_interruption_ends_the_tick(lab):
    signal = Signal()

    def raises(error):
        async def thinks(mind):
            await signal.wait()
            raise error

        return thinks

    async def neighbor():
        await signal.wait()
        lab.note("neighbor")

    mind_of(lab, raises(ValueError("its own")), "first")
    mind_of(lab, raises(KeyboardInterrupt()), "second")
    lab.tick()
    lab.spawn(neighbor())
    lab.tick()
    signal.emit()
    with pytest.raises(KeyboardInterrupt):
        lab.tick()
    lab.tick()
    assert lab.log == [
        (3, "first", "ended", "ValueError"),
        (3, "second", "ended", "KeyboardInterrupt"),
        (4, "neighbor"),
    ]
    assert lab.kernel.live == 0


def test_it_awaits_something_foreign_in_a_later_step(lab):
    import asyncio

    signal = Signal()

    async def thinks(mind):
        await signal.wait()
        try:
            await asyncio.sleep(0)
        except Exception as error:
            lab.note(type(error).__name__)

    mind_of(lab, thinks)
    lab.tick()
    signal.emit()
    lab.tick()
    assert lab.log == [(2, "ForeignAwaitError"), (2, "mind", "ended", "NoneType")]


def test_one_that_never_lets_time_pass_is_killed_alone(lab):
    mine, yours = Signal(), Signal()

    async def plays(mind):
        here, there = (mine, yours) if mind.called == "one" else (yours, mine)
        if mind.called == "two":
            await next_tick()
            there.emit()
        while True:
            await here.wait()
            there.emit()

    async def spins(mind):
        await next_tick()
        while True:
            await at_once()

    minds = [mind_of(lab, plays, "one"), mind_of(lab, plays, "two"), mind_of(lab, spins, "three")]
    lab.kernel.livelock_steps = 50
    lab.tick(4)
    ended = [entry[1:] for entry in lab.log]
    assert ("one", "ended", "LivelockError") in ended or ("two", "ended", "LivelockError") in ended
    assert ("three", "ended", "LivelockError") in ended
    for mind in minds:
        mind.stop()
    lab.tick()
    assert lab.kernel.live == 0


def test_one_that_is_being_stepped_while_it_has_another_killed(lab):
    signal, victims = Signal(), []

    async def victim():
        try:
            await park()
        finally:
            minds[0].stop()  # in the middle of its step

    async def thinks(mind):
        await signal.wait()
        kill(victims[0], LivelockError(1, path="victim", tick=lab.kernel.tick))
        lab.note("goes on")
        try:
            await signal.wait()
        finally:
            lab.note("cleans up")

    victims.append(lab.spawn(victim()))
    minds = [mind_of(lab, thinks)]
    lab.tick()
    signal.emit()
    lab.tick()
    signal.emit()
    lab.tick()
    assert lab.log == [(2, "goes on"), (3, "cleans up")]
    assert [name for _, name in lab.take_faults()] == ["LivelockError"]
    assert lab.kernel.live == 0


# --- random scenes ----------------------------------------------------------------------------------------------------

_MINDS, _SIGNALS = 4, 3
_step = st.one_of(
    st.tuples(st.just("wait"), st.integers(0, _SIGNALS - 1)),
    st.tuples(st.just("sleep"), st.integers(1, 3)),
    st.tuples(st.just("emit"), st.integers(0, _SIGNALS - 1)),
    st.tuples(st.just("tell"), st.integers(0, _SIGNALS - 1)),
    st.tuples(st.just("strand"), st.just(0)),
    st.tuples(st.just("scope"), st.integers(1, 3)),
    st.tuples(st.just("shield"), st.integers(1, 2)),
    st.tuples(st.just("stop"), st.integers(0, _MINDS - 1)),
    st.tuples(st.just("begin"), st.integers(0, _MINDS - 1)),
    st.tuples(st.just("raise"), st.just(0)),
)
_program = st.lists(_step, max_size=6)


class Scene:
    """Minds, each with its program."""

    def __init__(self, lab, programs):
        self.lab = lab
        self.signals = [Signal() for _ in range(_SIGNALS)]
        self.programs = dict(zip((f"m{number}" for number in range(_MINDS)), programs, strict=True))
        self.minds = [Mind(lab, name, self.think) for name in self.programs]

    async def think(self, mind):
        await next_tick()  # what is stopped in its very first step is the owner's affair
        for place, (what, number) in enumerate(self.programs[mind.called]):
            self.lab.note(mind.called, place, what)
            try:
                await self.step(mind, place, what, number)
            finally:
                self.lab.note(mind.called, place, "left")
                if what == "shield":
                    with CancelScope(shield=True):
                        await sleep_ticks(number)

    async def step(self, mind, place, what, number):
        if what == "wait":
            self.lab.note(mind.called, place, await self.signals[number].wait())
        elif what == "sleep":
            await sleep_ticks(number)
        elif what == "strand":
            assert current_strand().name == mind.called
        elif what == "scope":
            with CancelScope(number / 20):
                await self.signals[0].wait()
        elif what == "raise":
            raise ValueError(mind.called)
        else:
            self.do(what, number)

    def do(self, what, number):
        if what == "emit":
            self.signals[number].emit()
        elif what == "tell":
            self.signals[number].emit(f"told {number}")
        elif what == "stop":
            self.minds[number].stop()
        elif what == "begin" and self.minds[number].code is None and self.lab.kernel.tick < 12:
            self.minds[number].begin()


def _play(laboratory, host, programs, outside):
    """Play a scene, and what is done from outside between two ticks; what was noted."""
    lab = laboratory(host=host)
    scene = Scene(lab, programs)
    for mind in scene.minds:
        mind.begin()
    for things in outside:
        lab.tick()
        for thing in things:
            scene.do(*thing)
    for _ in range(20):
        for mind in scene.minds:
            mind.stop()
        for strand in tuple(lab.kernel.strays.strands):
            strand.stop("over")
        lab.tick()
    assert lab.kernel.live == 0
    return lab.log, lab.take_faults()


_outside = st.lists(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from(["emit", "tell"]), st.integers(0, _SIGNALS - 1)),
            st.tuples(st.sampled_from(["stop", "begin"]), st.integers(0, _MINDS - 1)),
        ),
        max_size=4,
    ),
    max_size=8,
)


@given(st.lists(_program, min_size=_MINDS, max_size=_MINDS), _outside)
@settings(max_examples=150, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_the_run_does_not_depend_on_who_has_a_strand(laboratory, programs, outside):
    late = _play(laboratory, PlainHost(), programs, outside)
    assert late == _play(laboratory, Spawning(), programs, outside)
