"""Random programs of everything at once: scopes, shields, deadlines, cancellation, joins, queues, errors.

There is no model of these; what is claimed is what holds for every program: run twice it gives the same log, every block
that was entered was left once and in the right order, nothing is left behind in any book, and no strand of the kernel's
own making fails.
"""

from __future__ import annotations

from hashlib import blake2b

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt.kernel.rng import Stream
from agentrt.kernel.signals import Condition, Event, Queue, Signal
from agentrt.kernel.strand import Cancelled, CancelScope, current_strand
from agentrt.kernel.traps import Agenda, Audience, next_tick, park, sleep, sleep_ticks

MOST_STRANDS = 30
MOST_STEPS = 300
TICKS = 25


class Expected(Exception):
    """What a program raises on purpose."""


class Machine:
    """Runs one program.

    A program is a list of blocks; a block is a list of operations; an operation is a pair of a name and an argument, where
    the argument of a compound operation is a block.
    """

    def __init__(self, lab, program):
        self.lab, self.program = lab, program
        self.signal, self.event, self.condition = Signal(), Event(), Condition()
        self.queue = Queue(limit=2)
        self.strands, self.scopes = [], []
        self.steps = 0
        self.open = {}

    def note(self, *what):
        self.lab.note(current_strand().name, *what)

    def spawn(self, block):
        if len(self.strands) < MOST_STRANDS:
            name = str(len(self.strands))
            self.open[name] = []
            self.strands.append(self.lab.spawn(self.strand(block), name, self))

    def on_strand_end(self, strand, result, error):
        self.lab.note(strand.name, "end", type(error).__name__)
        assert error is None or isinstance(error, (Cancelled, Expected)), error
        assert self.open[strand.name] == []
        assert strand.scope is None

    async def strand(self, block):
        self.note("begin")
        await self.block(block)

    async def block(self, block):
        open_blocks = self.open[current_strand().name]
        marker = object()
        open_blocks.append(marker)
        try:
            for what, argument in block:
                self.steps += 1
                if self.steps > MOST_STEPS:
                    return
                await getattr(self, f"do_{what}")(argument)
        finally:
            assert open_blocks.pop() is marker
            self.note("leave")

    # --- simple operations

    async def do_sleep(self, number):
        start, strand = self.lab.kernel.tick, current_strand()
        reason = None
        try:
            await sleep_ticks(number)
            assert self.lab.kernel.tick == start + number
        except Cancelled as cancelled:
            reason = cancelled.reason
            raise
        finally:
            # A wait raises when it is in a cancelled scope, and only then.
            assert not number or strand.pending() == reason
        self.note("slept", number)

    async def do_wait(self, which):
        wait = [self.signal.wait, self.event.wait, park, self.queue.get, lambda: self.queue.put("item"), next_tick]
        value = await wait[which % len(wait)]()
        self.note("waited", which % len(wait), value)

    async def do_condition(self, number):
        wanted = self.lab.kernel.tick + number
        await self.condition.wait_for(lambda: self.lab.kernel.tick >= wanted)
        self.note("condition")

    async def do_happen(self, which):
        happen = [
            self.signal.emit,
            self.event.set,
            self.event.clear,
            self.condition.notify_all,
            lambda: self.queue.put_nowait("extra"),
            lambda: self.lab.kernel.call_later(which, self.signal.emit, "later"),
            lambda: self.lab.kernel.post(self.condition.notify_all),
        ]
        happen[which % len(happen)]()

    async def do_stop(self, number):
        self.strands[number % len(self.strands)].stop(f"by {current_strand().name}")

    async def do_stop_soon(self, number):
        strand = self.strands[number % len(self.strands)]
        self.lab.kernel.call_later(number % 3, strand.stop, "soon")

    async def do_cancel(self, number):
        if self.scopes:
            self.scopes[number % len(self.scopes)].cancel(f"by {current_strand().name}")

    async def do_cancel_soon(self, number):
        if self.scopes:
            self.lab.kernel.call_later(number % 3, self.scopes[number % len(self.scopes)].cancel, "soon")

    async def do_join(self, number):
        strand = self.strands[number % len(self.strands)]
        if strand is not current_strand():
            self.note("joined", await strand.join())

    async def do_fail(self, number):
        raise Expected

    # --- compound operations

    async def do_spawn(self, block):
        self.spawn(block)

    async def do_scope(self, block):
        with CancelScope() as scope:
            self.scopes.append(scope)
            await self.block(block)
        self.note("scope", scope.cancel_called, scope.cancelled_caught)

    async def do_deadline(self, block):
        with CancelScope(0.05 * (len(block) % 4)) as scope:
            self.scopes.append(scope)
            await self.block(block)
        self.note("deadline", scope.expired, scope.cancelled_caught)

    async def do_shield(self, block):
        with CancelScope(shield=True) as scope:
            self.scopes.append(scope)
            await self.block(block)
        self.note("shield", scope.cancelled_caught)

    async def do_tidy(self, block):
        try:
            await sleep(0.1)
        finally:
            with CancelScope(0.15, shield=True):
                await self.block(block)

    async def do_swallow(self, block):
        try:
            await self.block(block)
        except (Cancelled, Expected) as error:
            self.note("swallowed", type(error).__name__)

    # --- the run

    def run(self):
        for block in self.program:
            self.spawn(block)
        self.lab.tick(TICKS)
        for tick in range(2 * TICKS):
            for strand in tuple(self.strands):
                strand.stop("the run is over")
            if tick > TICKS:
                for scope in self.scopes:
                    scope.cancel()  # what still waits behind a shield; it may open another one
            self.lab.tick()
        return self.lab.log


def run(laboratory, program):
    lab = laboratory()
    machine = Machine(lab, program)
    log = machine.run()
    kernel = lab.kernel
    assert lab.faults == []
    assert [strand for strand in machine.strands if not strand.is_done] == []
    assert (kernel.live, len(kernel.ready)) == (0, 0)
    assert [line for line in (machine.queue._getters, machine.queue._putters) if line.promised or len(line)] == []
    kernel.agenda.take_due(10**9, kernel.ready)
    assert kernel.agenda.stale == 0
    assert sum(entry[2] == "begin" for entry in log) <= sum(entry[2] == "end" for entry in log) == len(machine.strands)
    return log


small = st.integers(0, 9)
simple = st.tuples(
    st.sampled_from(
        ["sleep", "wait", "condition", "happen", "stop", "stop_soon", "cancel", "cancel_soon", "join", "fail"]
    ),
    small,
)
compound = st.sampled_from(["spawn", "scope", "deadline", "shield", "tidy", "swallow"])
blocks = st.recursive(
    st.lists(simple, max_size=4),
    lambda inner: st.lists(simple | st.tuples(compound, inner), min_size=1, max_size=5),
    max_leaves=8,
)
programs = st.lists(blocks, min_size=1, max_size=5)


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(program=programs)
def test_random_programs_run_twice(laboratory, program):
    assert run(laboratory, program) == run(laboratory, program)


def grown(stream, depth=0):
    """A program from a seeded stream: longer and deeper than hypothesis likes to make them."""
    kinds = ["sleep", "wait", "condition", "happen", "stop", "stop_soon", "cancel", "cancel_soon", "join", "fail"]
    weights = [5, 5, 1, 4, 1, 1, 2, 2, 1, 0.3]
    compounds = ["spawn", "scope", "deadline", "shield", "tidy", "swallow"]
    block = []
    for _ in range(stream.between(1, 6)):
        if depth < 4 and stream.below(3) == 0:
            block.append((stream.choice(compounds), grown(stream, depth + 1)))
        else:
            block.append((stream.weighted(kinds, weights), stream.below(10)))
    return block


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_grown_programs_run_twice_and_with_sweeping_all_the_time(laboratory, part, monkeypatch):
    for seed in range(50):
        stream = Stream(1000 * part + seed)
        program = [grown(stream) for _ in range(6)]
        log = run(laboratory, program)
        assert log == run(laboratory, program)
        with monkeypatch.context() as patch:
            patch.setattr(Agenda, "forget", forget_and_sweep)
            patch.setattr(Audience, "give_up", sweep_at_once)
            assert run(laboratory, program) == log
            patch.setattr(Audience, "give_up", never_sweep)
            assert run(laboratory, program) == log


def test_golden_logs(laboratory):
    """The same on every Python version, hash seed and machine; it changes only when the order of the kernel does."""
    logs = []
    for seed in range(40):
        stream = Stream(5000 + seed)
        logs.append(run(laboratory, [grown(stream) for _ in range(6)]))
    assert sum(map(len, logs)) == 1820
    assert blake2b(repr(logs).encode(), digest_size=16).hexdigest() == "0c09690a1ef163df8c3604433a4a9c7e"


def forget_and_sweep(agenda, due, live):
    agenda._spoiled[due] = 1
    agenda._sweep()


def sweep_at_once(audience, _strand):
    audience.strands = audience._present()


def never_sweep(audience, _strand):
    audience._stale += 1
