"""The order of the kernel, compared with a reference model that is obviously right: one sorted list.

The model keeps what is pending as a list of (tick, phase, arrival, what), and always takes the smallest. It knows no
queues, buckets, heaps, chunks or sweeps. It is as slow as it looks.

A program is a list of scripts. A script is a list of operations; strands run scripts, on the kernel as coroutines and in the
model by an index into the list. Both write the same log, or the kernel is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt.kernel.signals import Signal
from agentrt.kernel.strand import Cancelled
from agentrt.kernel.traps import Agenda, Audience, sleep_ticks

TICKS = 14
SIGNALS = 3
MOST_STRANDS = 40
INTAKE, TIME, REST = range(3)  # the phases of a tick, as far as they order anything here
POSTED = ("say", "emit", "stop")


# --- on the kernel ----------------------------------------------------------------------------------------------------


def run_on_kernel(laboratory, program):  # noqa: C901 - one branch for each operation
    lab = laboratory()
    kernel, strands = lab.kernel, []
    signals = [Signal() for _ in range(SIGNALS)]

    def spawn(script):
        if len(strands) < MOST_STRANDS:
            number = len(strands)
            strands.append(None)
            strands[number] = lab.spawn(strand(number, script % len(program.scripts)), str(number))

    def stop(number):
        if strands:
            strands[number % len(strands)].stop()

    def perform(what, argument, number):
        if what == "say":
            lab.note(number, argument)
        elif what == "emit":
            signals[argument % SIGNALS].emit()
        elif what == "spawn":
            spawn(argument)
        elif what == "stop":
            stop(argument)
        elif what == "later":
            kernel.call_later(argument, lab.note, "timer of", number)
        elif what == "soon":
            kernel.call_soon(lab.note, "call of", number)
        elif what == "post":
            kernel.post(perform, POSTED[argument % 3], argument, number)

    async def strand(number, script):
        lab.note(number, "begins")
        try:
            for what, argument in program.scripts[script]:
                if what == "sleep":
                    await sleep_ticks(argument)
                elif what == "wait":
                    await signals[argument % SIGNALS].wait()
                else:
                    perform(what, argument, number)
        except Cancelled:
            lab.note(number, "cancelled")
            raise
        finally:
            lab.note(number, "ends")

    for script in program.first:
        spawn(script)
    for tick in range(1, TICKS + 1):
        for at, what, argument in program.between:
            if at == tick:
                perform(what, argument, "outside")
        kernel.step_tick()
    log = lab.take_log()
    lab.close()
    return log


# --- in the model -----------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class ModelStrand:
    number: int
    script: list
    position: int = 0
    state: str = "ready"  # ready, running, sleeping, waiting, done
    stopped: bool = False


@dataclass
class Model:
    """A sorted list, and the rules in words.

    Phases of a tick: 0 intake, 1 time, 2 the rest, in order of arrival. What becomes ready between two ticks comes before
    everything of the next one.
    """

    program: object
    tick: int = 0
    phase: int = INTAKE
    arrivals: int = 0
    log: list = field(default_factory=list)
    strands: list = field(default_factory=list)
    pending: list = field(default_factory=list)
    waiting: list = field(default_factory=list)
    posted: list = field(default_factory=list)

    def add(self, tick, phase, function, *args):
        self.arrivals += 1
        entry = (tick, phase, self.arrivals, function, args)
        self.pending.append(entry)
        return entry

    def make_ready(self, strand):
        strand.state = "ready"
        self.soon(self.step, strand)

    def soon(self, function, *args):
        self.add(self.tick, REST if self.phase == REST else INTAKE, function, *args)

    def note(self, *what):
        self.log.append((self.tick, *what))

    def spawn(self, script):
        if len(self.strands) < MOST_STRANDS:
            scripts = self.program.scripts
            strand = ModelStrand(len(self.strands), scripts[script % len(scripts)])
            self.strands.append(strand)
            self.make_ready(strand)

    def stop(self, number):
        if not self.strands:
            return
        strand = self.strands[number % len(self.strands)]
        if strand.stopped or strand.state == "done":
            return
        strand.stopped = True
        if strand.state == "running":
            # It is taken out of the wait into which it is about to go when the queue comes to this.
            self.soon(self.take_out, strand)
        else:
            self.take_out(strand)

    def take_out(self, strand):
        if strand.state == "sleeping":
            place = next(entry for entry in self.pending if entry[4] == (strand,))
            if place[0] > self.tick:  # else it is due, and keeps its place
                self.pending.remove(place)
                self.make_ready(strand)
        elif strand.state == "waiting":
            self.waiting = [pair for pair in self.waiting if pair[1] is not strand]
            self.make_ready(strand)

    def perform(self, what, argument, number):
        if what == "say":
            self.note(number, argument)
        elif what == "emit":
            woken = [strand for signal, strand in self.waiting if signal == argument % SIGNALS]
            self.waiting = [pair for pair in self.waiting if pair[1] not in woken]
            for strand in woken:
                self.make_ready(strand)
        elif what == "spawn":
            self.spawn(argument)
        elif what == "stop":
            self.stop(argument)
        elif what == "later":
            if argument == 0:
                self.soon(self.note, "timer of", number)
            else:
                self.add(self.tick + argument, TIME, self.note, "timer of", number)
        elif what == "soon":
            self.soon(self.note, "call of", number)
        elif what == "post":
            self.posted.append((POSTED[argument % 3], argument, number))

    def step(self, strand):
        if strand.stopped:
            if strand.position:  # else nothing of it has run
                self.note(strand.number, "cancelled")
                self.note(strand.number, "ends")
            strand.state = "done"
            return
        strand.state = "running"
        if strand.position == 0:
            self.note(strand.number, "begins")
            strand.position = 1
        while strand.position <= len(strand.script):
            what, argument = strand.script[strand.position - 1]
            strand.position += 1
            if what == "sleep" and argument:
                strand.state = "sleeping"
                self.add(self.tick + argument, TIME, self.step, strand)
                return
            if what == "wait":
                strand.state = "waiting"
                self.waiting.append((argument % SIGNALS, strand))
                return
            if what != "sleep":
                self.perform(what, argument, strand.number)
        self.note(strand.number, "ends")
        strand.state = "done"

    def run(self):
        for script in self.program.first:
            self.spawn(script)
        for tick in range(1, TICKS + 1):
            self.phase = INTAKE
            for at, what, argument in self.program.between:
                if at == tick:
                    self.perform(what, argument, "outside")
            self.tick = tick
            posted, self.posted = self.posted, []
            for operation in posted:
                self.perform(*operation)
            self.phase = REST
            while True:
                due = [entry for entry in self.pending if entry[0] <= tick]
                if not due:
                    break
                first = min(due, key=lambda entry: entry[:3])
                self.pending.remove(first)
                first[3](*first[4])
        return self.log


# --- programs ---------------------------------------------------------------------------------------------------------


@dataclass
class Program:
    scripts: list
    first: list
    between: list


small = st.integers(0, 7)
operations = st.one_of(
    st.tuples(st.just("sleep"), st.integers(0, 5)),
    st.tuples(st.just("wait"), small),
    st.tuples(st.just("emit"), small),
    st.tuples(st.just("spawn"), small),
    st.tuples(st.just("stop"), small),
    st.tuples(st.just("say"), small),
    st.tuples(st.just("later"), st.integers(0, 4)),
    st.tuples(st.sampled_from(["soon", "post"]), small),
)
outside = st.tuples(st.sampled_from(["emit", "spawn", "stop", "later", "soon", "post"]), small)
programs = st.builds(
    Program,
    scripts=st.lists(st.lists(operations, max_size=8), min_size=1, max_size=5),
    first=st.lists(small, min_size=1, max_size=6),
    between=st.lists(st.tuples(st.integers(1, TICKS), outside).map(lambda pair: (pair[0], *pair[1])), max_size=10),
)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(program=programs)
def test_the_kernel_is_a_sorted_list(laboratory, program):
    assert run_on_kernel(laboratory, program) == Model(program).run()


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(program=programs)
def test_the_same_program_gives_the_same_log(laboratory, program):
    assert run_on_kernel(laboratory, program) == run_on_kernel(laboratory, program)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(program=programs)
def test_sweeping_never_changes_the_order(laboratory, program):
    logs = []
    with pytest.MonkeyPatch.context() as patch:
        for often in (True, False):
            patch.setattr(Agenda, "_SWEEP_FROM", 0 if often else 10**9)
            patch.setattr(Agenda, "forget", forget_and_sweep if often else Agenda.forget)
            patch.setattr(Audience, "give_up", sweep_at_once if often else never_sweep)
            logs.append(run_on_kernel(laboratory, program))
    assert logs[0] == logs[1]


def forget_and_sweep(agenda, due, live):
    agenda._spoiled[due] = 1
    agenda._sweep()


def sweep_at_once(audience, _strand):
    audience.strands = audience._present()


def never_sweep(audience, _strand):
    audience._stale += 1
