"""The watch: it looks from another thread, while a step blocks on an event that the test holds, or computes for ever.

Most tests look by hand and give the time: nothing waits. ``Watch.begin`` would have the real thread look.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from types import SimpleNamespace

import pytest

from agentrt import Agent, Entity, Runtime
from agentrt.errors import LivelockError
from agentrt.goals import Goal, GoalSelector
from agentrt.kernel.hosts import watchdog
from agentrt.kernel.hosts.watchdog import Watch
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.traps import next_tick

not_traced = pytest.mark.skipif(
    sys.version_info < (3, 12) and threading.gettrace() is not None,
    reason="under a tracer Python 3.11 might freeze, so nothing is sent into another thread",
)


class Blocked:
    """A kernel on a thread of its own, with a strand that blocks it until it is released."""

    def __init__(self, limit=None, blocking=0.1):
        self.kernel = Kernel()
        self.kernel.on_fault = lambda text, error: self.faults.append((text, error))
        self.faults = []
        self.reports = []
        self.watch = Watch(self.kernel, self.reports.append, limit)
        self.watch.blocking = blocking
        self.watch.hanging = None
        self.inside = threading.Event()
        self.release = threading.Event()
        self.swallowed = threading.Event()
        self.thread = threading.Thread(target=self.kernel.step_tick)
        self.log = []

    async def action(self):
        await next_tick()
        self.inside.set()
        self.release.wait()  # the line
        await next_tick()

    def struck(self):
        """An error was sent to the step for the first time."""

    async def neighbor(self):
        while True:
            self.log.append(self.kernel.tick)
            await next_tick()

    def __enter__(self):
        self.kernel.spawn(self.action(), "miner")
        self.kernel.spawn(self.neighbor(), "neighbor")
        self.kernel.step_tick()
        self.thread.start()
        self.watch.thread = self.thread.ident
        self.watch.is_armed = True
        assert self.inside.wait(5)
        return self

    def end_step(self):
        self.release.set()
        self.thread.join(5)
        assert not self.thread.is_alive()

    def __exit__(self, *exc):
        self.end_step()
        self.kernel.step_tick()


def line_of(text):
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_it_says_in_which_line_a_step_blocks_and_for_how_long():
    with Blocked() as blocked:
        for now in (10.0, 10.05, 10.11, 10.3):
            blocked.watch.look(now)
        assert blocked.reports == []  # not before the step has ended
        blocked.end_step()
        blocked.watch.look(10.4)
        assert blocked.reports == []  # but at an intake
        assert not blocked.kernel.inbox  # where it takes no place of what comes in
        blocked.kernel.step_tick()
    (report,) = blocked.reports
    assert (report.what, report.tick, report.is_over) == ("miner", 2, True)
    assert report.seconds == pytest.approx(0.3)
    assert report.file == __file__
    assert report.line == line_of("# the line")
    assert report.function.endswith("Blocked.action")
    assert str(report) == (
        f"'miner' blocked the tick for 0.30 s in tick 2, at {__file__}:{report.line} in {report.function}. Let it await "
        "now and then; under runtime.run(), 'await ctx.call(fn, *args)' runs it in a worker thread."
    )
    assert str(report._replace(has_loop=True)) == (
        f"'miner' blocked the event loop for 0.30 s in tick 2, at {__file__}:{report.line} in {report.function}. Call "
        "it through 'await ctx.call(fn, *args)', which runs it in a worker thread, or let it await now and then."
    )


@pytest.mark.states(
    "tools: Hang: A step that does not end is seen while it lasts, with agent, path, file and line",
    source="design 12",
)
def test_a_step_that_hangs_is_reported_while_it_lasts_and_only_once():
    with Blocked() as blocked:
        blocked.watch.hanging = 1.0
        for now in (10.0, 10.5, 11.1, 12.0, 13.0):
            blocked.watch.look(now)
        (report,) = blocked.reports  # from this thread, while the step goes on
        assert (report.what, report.is_over, report.line) == ("miner", False, line_of("# the line"))
        assert "'miner' hangs: it has kept the thread for 1.10 s in tick 2, at" in str(report)
        blocked.end_step()
        blocked.watch.look(14.0)
        blocked.kernel.step_tick()
    assert blocked.reports == [report]


def test_a_step_below_the_threshold_is_not_reported():
    with Blocked() as blocked:
        blocked.watch.look(10.0)
        blocked.watch.look(10.09)
        blocked.end_step()
        blocked.watch.look(10.2)
        blocked.kernel.step_tick()
    assert blocked.reports == []


def test_it_counts_from_the_first_look_at_a_step():
    with Blocked() as blocked:
        blocked.watch.look(10.0)
        blocked.end_step()
        blocked.watch.look(20.0)  # nothing is stepped
        blocked.watch.look(30.0)
        blocked.kernel.step_tick()
    assert blocked.reports == []


def test_a_blocking_call_of_the_library_is_reported_where_it_was_called():
    with Blocked() as blocked:
        blocked.watch.look(0.0)
        blocked.watch.look(1.0)
        # The innermost frame is in threading.py; the report names the author's.
        assert blocked.watch._report.file == __file__


class Computes(Blocked):
    """It computes for ever."""

    async def action(self):
        await next_tick()
        self.inside.set()
        while True:  # for ever
            sum(range(100))


class Swallows(Blocked):
    """And does not mind errors."""

    async def action(self):
        await next_tick()
        while True:
            try:
                self.inside.set()
                while True:  # so that it hardly ever is anywhere else
                    sum(range(100))
            except Exception:
                self.log.append("swallowed")
                self.swallowed.set()

    def struck(self):
        # What comes next must not take the place of an error that was not raised yet: this machine may be busy.
        assert self.swallowed.wait(5)


def looks(blocked):
    """Look, as if a quarter of a second passed between two looks, until the step has ended."""
    now = 10.0
    while blocked.thread.is_alive() and now < 2000.0:
        now += 0.25
        blocked.watch._next_strike = 0.0
        blocked.watch.look(now)
        if blocked.watch._strikes == 1:
            blocked.struck()
        blocked.thread.join(0.002)
    assert not blocked.thread.is_alive()


@not_traced
@pytest.mark.parametrize("kind", [Computes, Swallows])
def test_a_limit_ends_the_step_in_whatever_thread_it_is_and_the_others_go_on(kind):
    with kind(limit=1.0) as blocked:
        looks(blocked)
        blocked.watch.end()
        blocked.kernel.step_tick()
    ((text, error),) = blocked.faults
    assert text == "the strand 'miner' raised"
    assert isinstance(error, LivelockError)
    assert (error.code, error.tick) == ("ART302", 2)
    assert error.path.startswith(f"miner ({__file__}:")
    assert "kept the thread for" in str(error)
    assert "hang_limit" in str(error)
    assert blocked.log[-3:] == [2, 3, 4]
    assert ("swallowed" in blocked.log) == (kind is Swallows)


@not_traced
def test_what_waits_in_c_ends_when_it_returns():
    with Blocked(limit=1.0) as blocked:
        blocked.watch.look(10.0)
        blocked.watch.look(11.5)
        blocked.end_step()
        blocked.watch.end()
    assert [type(error) for _, error in blocked.faults] == [LivelockError]
    assert blocked.log == [1, 2, 3]


@pytest.mark.states("tools: Hang: It is raised in no frame of the library's", source="design 12 (ours)")
def test_nothing_is_raised_where_the_kernel_itself_runs():
    kernel = Kernel()
    watch = Watch(kernel, print, 1.0)
    watch.thread = threading.get_ident()
    watch.is_armed = True
    watch._error = KeyError("never")
    watch.deliver(None)  # nothing is stepped
    kernel.calling = print
    watch._step = watchdog._step_of(kernel)
    kernel_frame = []

    def looks_from_inside():
        kernel_frame.append(sys._getframe(1))

    kernel.guarded(looks_from_inside)
    assert kernel_frame[0].f_code.co_name == "guarded"
    watch.deliver(kernel_frame[0])  # a frame of ours
    with pytest.raises(KeyError):
        watch.deliver(sys._getframe())


@not_traced
@pytest.mark.parametrize("looks_at_each", [1, 3])
def test_a_driver_of_many_functions_that_each_take_their_time_is_ended_nowhere(looks_at_each):
    """The same driver in the same tick, but another function of the author's at each look; unless one stays too long."""
    inside, ends = threading.Semaphore(0), []

    class Slow(Goal):
        def __init__(self):
            self.go_on = threading.Event()

        def can_use(self):
            return True

        def tick(self):
            inside.release()
            try:
                self.go_on.wait()
                ends.append("returned")
            except LivelockError:
                ends.append("ended")

    runtime = Runtime(host="plain")
    selector = GoalSelector()
    goals = [Slow() for _ in range(6)]
    for goal in goals:
        selector.add_goal(1, goal)
    runtime.add(Agent(Entity("slow"), name="slow", drivers=[selector]))
    thread = threading.Thread(target=runtime.kernel.step_tick)
    watch = Watch(runtime.kernel, print, 1.0)
    watch.hanging = None
    thread.start()
    watch.thread = thread.ident
    watch.is_armed = True
    now = 10.0
    for goal in goals:
        assert inside.acquire(timeout=100)
        for _ in range(looks_at_each):
            now += 0.6
            watch.look(now)
        goal.go_on.set()
    thread.join(5)
    watch.end()
    assert ends == (["returned"] if looks_at_each == 1 else ["ended"]) * 6


# --- the thread -------------------------------------------------------------------------------------------------------


def watchers():
    return [thread for thread in threading.enumerate() if thread.name == "agentrt watch"]


def test_there_is_one_thread_for_all_and_it_goes_when_nothing_is_stepped(monkeypatch):
    monkeypatch.setattr(watchdog, "_IDLE", 0.001)
    kernels = [Kernel() for _ in range(5)]
    watches = [Watch(kernel, print) for kernel in kernels]
    for watch in watches:
        watch.begin()
    (thread,) = watchers()
    assert thread.daemon
    for watch in watches:
        watch.end()
    thread.join(5)
    assert not thread.is_alive()
    with watches[0]:
        (again,) = watchers()
    again.join(5)


@pytest.fixture
def patrol(monkeypatch):
    """A patrol that no thread walks, and the time that it reads."""
    clock = [1000.0]
    monkeypatch.setattr(watchdog, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    patrol = watchdog.Patrol()
    monkeypatch.setattr(watchdog, "_patrol", patrol)
    patrol._thread = threading.current_thread()  # so that none is started
    return patrol, clock


def test_a_process_that_stood_still_does_not_hang(patrol):
    """It is suspended for an hour, while a step is about to end, in which somebody has asked the program to."""
    patrol, clock = patrol
    with Blocked(limit=1.0) as blocked:
        blocked.watch.hanging = 1.0
        patrol.admit(blocked.watch)
        pauses = [patrol.look()]
        blocked.watch._interrupted = patrol.now()
        clock[0] += 3600.0
        pauses.append(patrol.look())
        assert patrol.now() == pytest.approx(0.275)  # what was meant to pass, and the quarter that it may be late
        assert blocked.watch._strikes == 0
        blocked.end_step()
        clock[0] += 0.025
        patrol.look()
        blocked.kernel.step_tick()
    assert pauses == [0.025, 0.025]
    (report,) = blocked.reports
    assert report.is_over  # it was not told while it lasted
    assert report.seconds == pytest.approx(0.275)
    assert blocked.faults == []
    assert blocked.log == [1, 2, 3, 4]


@not_traced
def test_a_step_that_hangs_is_ended_though_the_process_stood_still_meanwhile(patrol):
    patrol, clock = patrol
    told = []
    with Computes(limit=1.0) as blocked:
        blocked.watch.hanging = 0.5
        patrol.admit(blocked.watch)
        patrol.look()
        clock[0] += 3600.0
        while blocked.thread.is_alive() and patrol.now() < 2000.0:
            patrol.look()
            told.append((round(patrol.now(), 3), len(blocked.reports), blocked.watch._strikes > 0))
            clock[0] += 0.1
            blocked.thread.join(0.002)
        assert told[:8] == [
            *((seen, 0, False) for seen in (0.275, 0.375, 0.475)),
            *((seen, 1, False) for seen in (0.575, 0.675, 0.775, 0.875, 0.975)),
        ]
        blocked.watch.end()
    assert [type(error) for _, error in blocked.faults] == [LivelockError]


def test_a_patrol_that_rests_goes_on_in_the_same_time(patrol):
    """Its thread ends when nothing is stepped, and another one begins much later."""
    patrol, clock = patrol
    assert patrol.now() == 0.0
    with Blocked() as blocked:
        patrol.admit(blocked.watch)
        assert patrol.look() == 0.025
        blocked.watch.is_armed = False
        assert patrol.look() == 1.0  # nobody is stepped
        clock[0] += 5000.0
        assert patrol.now() == 1.25
        blocked.watch.is_armed = True
        patrol.look()
        clock[0] += 0.05
        patrol.look()
        assert patrol.now() == pytest.approx(1.3)
        blocked.watch.is_armed = False
    assert blocked.reports == []


def test_it_is_not_what_keeps_a_kernel():
    kernel = Kernel()
    watch = Watch(kernel, print)
    with watch:
        pass
    dead = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert dead() is None


LATER_PROFILED = """
import sys, threading
from agentrt.kernel.hosts import watchdog

def nothing():
    pass

watchdog._take_back(threading.get_ident())
sys.setprofile(lambda *_: None)
nothing()
sys.setprofile(None)
"""


@pytest.mark.slow
def test_a_profiler_runs_after_an_error_was_taken_back():
    """Python 3.11 would stand still in front of the first function, so another process tries it."""
    subprocess.run([sys.executable, "-c", LATER_PROFILED], check=True, timeout=300)
