"""A small laboratory around a kernel on the plain host: spawn, tick, a log of (tick, what), and a clean end.

Every strand that a test spawns through the laboratory is told to stop when the test is over and must then end: a test
leaves no suspended coroutine to the garbage collector. A fault that no test took is a failure.
"""

from __future__ import annotations

import pytest

from agentrt.kernel.kernel import Kernel


class Laboratory:
    """A kernel under observation.

    Attributes:
        kernel: the kernel.
        log: what was noted, as tuples that start with the tick.
        faults: pairs of a text and an error: what the kernel reported.
        strands: what was spawned here, in order.
    """

    def __init__(self, **options):
        self.kernel = Kernel(**options)
        self.kernel.on_fault = self._fault
        self.log = []
        self.faults = []
        self.strands = []

    def _fault(self, text, error):
        self.faults.append((text, error))

    def note(self, *what):
        self.log.append((self.kernel.tick, *what))

    def spawn(self, coro, name="strand", owner=None):
        strand = self.kernel.spawn(coro, name, owner)
        self.strands.append(strand)
        return strand

    def tick(self, times=1):
        for _ in range(times):
            self.kernel.step_tick()

    def run_until_quiet(self, limit=1000):
        for _ in range(limit):
            if not self.kernel.live and not self.kernel.ready:
                return
            self.kernel.step_tick()
        pytest.fail(f"still {self.kernel.live} strands after {limit} ticks")

    def take_log(self):
        log, self.log = self.log, []
        return log

    def take_faults(self):
        faults, self.faults = self.faults, []
        return [(text, type(error).__name__) for text, error in faults]

    def close(self):
        for strand in tuple(self.strands):
            strand.stop("the test is over")
        for _ in range(100):
            if not self.kernel.live:
                break
            self.kernel.step_tick()
        assert self.kernel.live == 0
        assert all(strand.is_done for strand in self.strands)


@pytest.fixture(scope="session")
def laboratory():
    """The class, for tests that make several or that make one for each example of hypothesis."""
    return Laboratory


@pytest.fixture
def lab():
    made = Laboratory()
    yield made
    made.close()
    assert made.faults == []
