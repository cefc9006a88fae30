"""Batches: coroutines that are started together; a strand is made only for one that suspends or asks for it.

Everything here is run on two plain hosts, one that steps inline and one that makes every coroutine a strand, and has to
give the same log.
"""

from __future__ import annotations

import pytest

from agentrt.errors import LivelockError
from agentrt.kernel.kernel import Batch, Kernel, PlainHost
from agentrt.kernel.signals import Signal
from agentrt.kernel.strand import Cancelled, CancelScope, current_strand
from agentrt.kernel.traps import next_tick, park


class Spawning(PlainHost):
    """As the plain host, but every member of a batch is a strand, as on a host with an event loop."""

    steps_inline = False


@pytest.fixture(params=[PlainHost, Spawning], ids=["inline", "spawning"])
def lab(laboratory, request):
    made = laboratory(host=request.param())
    yield made
    made.close()
    assert made.faults == []


class Member:
    """Starts one coroutine and notes what it is told.

    Attributes:
        strand: its strand, once it has one.
        withdrawn: whether it does not want to start any more.
    """

    def __init__(self, lab, coro_function, name):
        self.lab = lab
        self.coro_function = coro_function
        self.name = name
        self.strand = None
        self.withdrawn = False
        self.stop_when_made = False

    def open(self, batch):
        return None if self.withdrawn else self.coro_function(self)

    def strand_name(self):
        return self.name

    def on_strand_made(self, strand):
        self.strand = strand
        self.lab.strands.append(strand)
        if self.stop_when_made:
            strand.stop("not wanted")

    def waits(self, coro):
        return False  # it has a strand as soon as it waits; who needs none: test_thinker.py

    def on_strand_end(self, strand, result, error):
        self.lab.note(self.name, "ended", repr(error))

    def thought_ended(self, error):
        self.on_strand_end(None, None, error)


def batch_of(lab, *coro_functions):
    return Batch(lab.kernel, [Member(lab, function, f"m{number}") for number, function in enumerate(coro_functions)])


async def answers(member):
    member.lab.note(member.name, "answers")
    return member.name


async def waits(member):
    member.lab.note(member.name, "waits")
    await next_tick()
    member.lab.note(member.name, "woke")


async def raises(member):
    raise ValueError(member.name)


def test_members_make_their_first_steps_in_order_then_the_rest_is_called(lab):
    async def neighbor(name):
        lab.note(name)

    lab.spawn(neighbor("before"))
    batch_of(lab, answers, waits, answers).launch(lab.note, "then")
    lab.spawn(neighbor("after"))
    lab.tick(2)
    assert lab.log == [
        (1, "before"),
        (1, "m0", "answers"),
        (1, "m0", "ended", "None"),
        (1, "m1", "waits"),
        (1, "m2", "answers"),
        (1, "m2", "ended", "None"),
        (1, "then"),
        (1, "after"),
        (2, "m1", "woke"),
        (2, "m1", "ended", "None"),
    ]


def test_what_the_first_steps_wake_comes_behind_the_batch(lab):
    signal = Signal()

    async def listens():
        lab.note("heard", await signal.wait())

    async def emits(member):
        lab.note(member.name)
        signal.emit(member.name)
        lab.kernel.call_soon(lab.note, "called by", member.name)

    lab.spawn(listens())
    lab.tick()
    batch_of(lab, emits, answers).launch()
    lab.tick()
    assert lab.log == [
        (2, "m0"),
        (2, "m0", "ended", "None"),
        (2, "m1", "answers"),
        (2, "m1", "ended", "None"),
        (2, "heard", "m0"),
        (2, "called by", "m0"),
    ]


def test_a_strand_is_made_for_who_suspends_or_asks(laboratory):
    async def asks(member):
        return current_strand().name

    async def opens_a_scope(member):
        with CancelScope() as scope:
            scope.cancel()
            await park()
        assert current_strand() is member.strand
        return "behind"

    lab = laboratory()
    batch = batch_of(lab, answers, waits, asks, opens_a_scope, raises)
    batch.launch()
    lab.tick(2)
    assert [member.strand and member.strand.name for member in batch.members] == [None, "m1", "m2", "m3", None]
    assert lab.kernel.live == 0
    assert (1, "m2", "ended", "None") in lab.log
    assert (1, "m3", "ended", "None") in lab.log


def test_a_member_that_raises_is_told_and_the_others_start(lab):
    batch_of(lab, raises, waits, raises, answers).launch()
    lab.tick(2)
    assert lab.log == [
        (1, "m0", "ended", "ValueError('m0')"),
        (1, "m1", "waits"),
        (1, "m2", "ended", "ValueError('m2')"),
        (1, "m3", "answers"),
        (1, "m3", "ended", "None"),
        (2, "m1", "woke"),
        (2, "m1", "ended", "None"),
    ]


def test_a_member_that_awaits_something_foreign(lab):
    import asyncio

    async def sleeps(member):
        try:
            await asyncio.sleep(0)
        except Exception as error:
            lab.note(type(error).__name__)

    async def needs_a_loop(member):
        await asyncio.sleep(1)

    batch_of(lab, sleeps, needs_a_loop, answers).launch()
    lab.tick()
    assert [entry[:3] for entry in lab.log] == [
        (1, "m1", "ended"),
        (1, "m2", "answers"),
        (1, "m2", "ended"),
        (1, "ForeignAwaitError"),
        (1, "m0", "ended"),
    ]
    assert "ART301" in lab.log[0][3]


def test_a_member_that_is_withdrawn_before_its_turn_is_passed_over(laboratory):
    lab = laboratory()
    batch = batch_of(lab, answers, answers, answers)

    async def withdraws(member):
        batch.members[2].withdrawn = True

    batch.members[0].coro_function = withdraws
    batch.launch(lab.note, "then")
    lab.tick()
    assert [entry[1] for entry in lab.log] == ["m0", "m1", "m1", "then"]


def test_a_member_that_is_stopped_while_it_makes_its_first_step(lab):
    """Its owner hears of the strand only when it is made, and stops it then: it must not stay in the wait that it entered."""
    signal = Signal()

    async def listens(member):
        member.stop_when_made = True
        if member.strand is not None:
            member.strand.stop("not wanted")
        try:
            lab.note(await signal.wait())
        finally:
            lab.note("finally")

    batch_of(lab, listens, answers).launch()
    lab.tick()
    assert lab.log == [
        (1, "m1", "answers"),
        (1, "m1", "ended", "None"),
        (1, "finally"),
        (1, "m0", "ended", "Cancelled('not wanted')"),
    ]
    assert repr(signal) == "<Signal: 0 waiting, 0 connected>"


def test_the_strand_of_a_member_is_cancelled_like_any_other(lab):
    batch = batch_of(lab, waits)
    batch.launch()
    lab.tick()
    batch.members[0].strand.stop("enough")
    lab.tick()
    assert lab.log == [(1, "m0", "waits"), (2, "m0", "ended", "Cancelled('enough')")]


def test_an_owner_that_raises_and_a_member_that_cannot_be_opened_are_reported(lab):
    class Broken(Member):
        def on_strand_end(self, strand, result, error):
            raise LookupError("owner")

    def cannot(member):
        raise TypeError("cannot be called")

    batch = batch_of(lab, answers, cannot, answers)
    batch.members[0] = Broken(lab, answers, "broken")
    batch.members.insert(1, Broken(lab, raises, "broken too"))
    batch.launch(lab.note, "then")
    lab.tick()
    assert lab.log[-3:] == [(1, "m2", "answers"), (1, "m2", "ended", "None"), (1, "then")]
    assert sorted(lab.take_faults()) == [
        ("'m1' could not be started", "TypeError"),
        ("the owner of 'broken too' raised when it ended", "LookupError"),
        ("the owner of 'broken' raised when it ended", "LookupError"),
    ]


@pytest.mark.parametrize("host", [PlainHost, Spawning])
def test_with_the_default_fault_handler_the_others_go_on_in_the_next_tick(laboratory, host):
    class Broken(Member):
        def on_strand_end(self, strand, result, error):
            raise LookupError("owner")

    lab = laboratory(host=host())
    lab.kernel.on_fault = Kernel().on_fault
    batch = batch_of(lab, answers, answers)
    batch.members.insert(0, Broken(lab, answers, "broken"))
    batch.launch(lab.note, "then")
    with pytest.raises(LookupError):
        lab.tick()
    assert lab.take_log() == [(1, "broken", "answers")]
    lab.tick()
    assert [entry[:2] for entry in lab.log] == [(2, "m0"), (2, "m0"), (2, "m1"), (2, "m1"), (2, "then")]


def test_an_interruption_of_the_program_leaves_the_others_to_the_next_tick(lab):
    async def interrupts(member):
        raise KeyboardInterrupt

    batch_of(lab, interrupts, answers).launch()
    with pytest.raises(KeyboardInterrupt):
        lab.tick()
    lab.tick()
    assert lab.log == [
        (1, "m0", "ended", "KeyboardInterrupt()"),
        (2, "m1", "answers"),
        (2, "m1", "ended", "None"),
    ]


def test_a_batch_launched_by_a_member_of_a_batch(lab):
    async def launches(member):
        lab.note("launches")
        batch_of(lab, waits, answers).launch(lab.note, "then inner")

    batch_of(lab, launches, answers).launch(lab.note, "then outer")
    lab.tick(2)
    assert lab.log == [
        (1, "launches"),
        (1, "m0", "ended", "None"),
        (1, "m1", "answers"),
        (1, "m1", "ended", "None"),
        (1, "then outer"),
        (1, "m0", "waits"),
        (1, "m1", "answers"),
        (1, "m1", "ended", "None"),
        (1, "then inner"),
        (2, "m0", "woke"),
        (2, "m0", "ended", "None"),
    ]


def test_batches_that_launch_batches_are_a_livelock_and_are_put_off(lab):
    async def again(member):
        ticks.append(lab.kernel.tick)
        if not stop:
            batch_of(lab, again).launch()

    class Quiet(Member):
        pass

    ticks, stop = [], []
    lab.note = lambda *what: None
    batch_of(lab, again).launch()
    lab.tick(2)
    stop.append(True)
    lab.tick()
    assert set(ticks) == {1, 2, 3}
    assert {type(error) for _, error in lab.faults} == {LivelockError}
    assert len(lab.take_faults()) == 2


def test_an_empty_batch_calls_the_rest(lab):
    batch_of(lab).launch(lab.note, "then")
    lab.tick()
    assert lab.log == [(1, "then")]


def test_names(lab):
    assert batch_of(lab).name == "an empty batch"
    assert batch_of(lab, answers).name == "the batch of m0"


def test_a_think_that_swallows_its_cancellation(lab):
    async def swallows(member):
        try:
            await park()
        except Cancelled:
            return "swallowed"

    batch = batch_of(lab, swallows)
    batch.launch()
    lab.tick()
    batch.members[0].strand.stop()
    lab.tick()
    assert lab.log == [(2, "m0", "ended", "None")]
