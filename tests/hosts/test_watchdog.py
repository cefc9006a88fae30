"""The blocking guard: it looks from another thread, while a step blocks on an event that the test holds."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from agentrt.kernel.hosts.watchdog import BlockingGuard
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.traps import next_tick


class Blocked:
    """A kernel on a thread of its own, with a strand that blocks it until it is released."""

    def __init__(self):
        self.kernel = Kernel()
        self.reports = []
        self.guard = BlockingGuard(self.kernel, 0.1, self.reports.append)
        self.inside = threading.Event()
        self.release = threading.Event()
        self.thread = threading.Thread(target=self.kernel.step_tick)

    async def action(self):
        await next_tick()
        self.inside.set()
        self.release.wait()  # the line
        await next_tick()

    def __enter__(self):
        self.kernel.spawn(self.action(), "miner")
        self.kernel.step_tick()
        self.thread.start()
        self.guard._watched_thread = self.thread.ident
        assert self.inside.wait(5)
        return self

    def end_step(self):
        self.release.set()
        self.thread.join(5)

    def __exit__(self, *exc):
        self.end_step()
        self.kernel.step_tick()


def line_of(text):
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_it_says_in_which_line_a_step_blocks_and_for_how_long():
    with Blocked() as blocked:
        for now in (10.0, 10.05, 10.11, 10.3):
            blocked.guard.look(now)
        assert blocked.reports == []  # not before the step has ended
        blocked.end_step()
        blocked.guard.look(10.4)
        assert blocked.reports == []  # but at an intake, like every input
        blocked.kernel.step_tick()
    (report,) = blocked.reports
    assert (report.strand, report.tick) == ("miner", 2)
    assert report.seconds == pytest.approx(0.3)
    assert report.file == __file__
    assert report.line == line_of("# the line")
    assert report.function.endswith("Blocked.action")
    assert str(report) == (
        f"'miner' blocked the event loop for 0.30 s in tick 2, at {__file__}:{report.line} in {report.function}. Call "
        "it through 'await ctx.call(fn, *args)', which runs it in a worker thread, or let it await now and then."
    )


def test_a_step_below_the_threshold_is_not_reported():
    with Blocked() as blocked:
        blocked.guard.look(10.0)
        blocked.guard.look(10.09)
        blocked.end_step()
        blocked.guard.look(10.2)
        blocked.kernel.step_tick()
    assert blocked.reports == []


def test_it_counts_from_the_first_look_at_a_step():
    with Blocked() as blocked:
        blocked.guard.look(10.0)
        blocked.end_step()
        blocked.guard.look(20.0)  # nothing is stepped
        blocked.guard.look(30.0)
        blocked.kernel.step_tick()
    assert blocked.reports == []


def test_the_thread_reports_what_is_blocked_when_it_is_stopped_and_then_is_gone():
    before = threading.active_count()
    with Blocked() as blocked:
        guard = BlockingGuard(blocked.kernel, 0.004, blocked.reports.append)
        guard.start()
        guard._watched_thread = blocked.thread.ident
        while guard._place is None:
            threading.Event().wait(0.001)
        guard.stop()
        guard.stop()
        blocked.end_step()
        blocked.kernel.step_tick()
        assert [report.strand for report in blocked.reports] == ["miner"]
    assert threading.active_count() == before


def test_it_is_a_context_manager_and_can_be_started_again():
    guard = BlockingGuard(Kernel(), 10.0, print)
    for _ in range(2):
        with guard:
            guard.start()
            assert any(thread.name == "agentrt blocking guard" for thread in threading.enumerate())
        assert not any(thread.name == "agentrt blocking guard" for thread in threading.enumerate())


def test_the_threshold_must_be_above_zero():
    with pytest.raises(ValueError, match="a number above 0"):
        BlockingGuard(Kernel(), 0.0, print)


def test_a_blocking_call_of_the_library_is_reported_where_it_was_called():
    with Blocked() as blocked:
        guard = blocked.guard
        guard.look(0.0)
        guard.look(1.0)
        # The innermost frame is in threading.py; the report names the author's.
        assert guard._place[0] == __file__
