"""Failures outside any action: functions of the tick, posts, trace listeners. Recorded, logged, survived."""

from __future__ import annotations

import logging
import math
import threading

import pytest

from agentrt import TOP, Action
from agentrt.kernel import TraceRecord
from agentrt.testing import Simulation


def broken(*args):
    raise ValueError("broken")


@pytest.fixture
def sim():
    made = Simulation()
    yield made
    made.close()


def faults(sim):
    return [(record.tick, *record.detail) for record in sim.trace if record.event.value == "fault"]


@pytest.mark.parametrize("phase", ["every_tick", "after_tick"])
def test_a_function_of_the_tick_that_raises_is_traced_each_time_and_the_tick_is_whole(
    sim, being, actions, logged, phase
):
    agent = sim.add(being([actions.Work]))
    seen = []
    getattr(sim.runtime, phase)(broken)
    getattr(sim.runtime, phase)(lambda: seen.append(sim.now))
    sim.tick(4)
    assert agent.entity.diary[:3] == [(1, "start"), (1, "run"), (4, "done")]
    assert seen == [1, 2, 3, 4]
    assert [fault[0] for fault in faults(sim)] == [1, 2, 3, 4]
    assert faults(sim)[0][2] == ("error", "ValueError: broken")
    assert len(logged()) == 1


def test_a_function_of_the_tick_is_ended_by_what_it_got(sim):
    seen = []
    end = sim.runtime.every_tick(lambda: seen.append(("before", sim.now)))
    end_after = sim.runtime.after_tick(lambda: seen.append(("after", sim.now)))
    sim.tick()
    end()
    sim.tick()
    end()
    end_after()
    sim.tick()
    assert seen == [("before", 1), ("after", 1), ("after", 2)]


def test_a_post_that_raises_does_not_keep_the_next_from_being_made(sim, logged):
    seen = []
    sim.runtime.post(broken)
    sim.runtime.post(seen.append, "next")
    sim.tick()
    assert seen == ["next"]
    assert [fault[0] for fault in faults(sim)] == [1]
    assert [level for level, _ in logged()] == ["ERROR"]


def test_a_fault_is_logged_with_its_traceback(sim, caplog):
    sim.runtime.post(broken)
    sim.tick()
    (record,) = caplog.records
    assert (record.levelno, record.name) == (logging.ERROR, "agentrt")
    text = record.getMessage()
    assert "a function of the tick raised" in text
    assert "tick=1" in text
    assert "ValueError: broken" in text
    assert "test_faults.py" in text


# --- listeners ------------------------------------------------------------------------------------------------------------


def test_a_listener_that_raises_is_dropped_and_changes_nothing(being, actions, logged):
    def digest(*listeners):
        sim = Simulation(3)
        heard = []
        for listener in listeners:
            sim.runtime.trace.listen(listener)
        sim.runtime.trace.listen(heard.append)
        sim.add(being([actions.Work]))
        sim.tick(20)
        sim.close()
        assert heard == sim.trace
        return sim.digest()

    calls = []

    def raises_at_the_third(record):
        calls.append(record)
        if len(calls) == 3:
            raise ValueError("listener")

    healthy = digest()
    assert logged() == []
    assert digest(broken, raises_at_the_third) == healthy
    assert len(calls) == 3
    assert [level for level, _ in logged()] == ["ERROR", "ERROR"]
    assert "a trace listener raised and was dropped" in logged()[0][1]


def test_a_listener_hears_what_happens_on_the_thread_of_the_runtime(play, being, actions):
    heard = []
    runtime = play.runtime()
    close = runtime.trace.listen(lambda record: heard.append((record, threading.current_thread())))
    runtime.add(being([actions.Work]))
    play.ticks(runtime, 2)
    assert {thread for _, thread in heard} == {threading.current_thread()}
    assert all(isinstance(record, TraceRecord) for record, _ in heard)
    close()
    assert not runtime.trace.on


# --- the log --------------------------------------------------------------------------------------------------------------


def test_what_an_action_raises_is_logged_once_with_agent_path_and_tick(play, being, caplog):
    class Breaks(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)
            raise ValueError("broken")

    runtime = play.runtime()
    runtime.add(being([Breaks], "smith"))
    play.ticks(runtime, 12)
    lines = [record.getMessage() for record in caplog.records if "blocked" not in record.getMessage()]
    assert len(lines) == 1
    assert "run raised ValueError" in lines[0]
    assert "agent='smith'" in lines[0]
    assert "path='agentrt:top/Breaks'" in lines[0]
    assert "tick=3" in lines[0]
    assert "test_faults.py" in lines[0]


def test_an_author_logs_with_the_place_of_the_action(sim, being, caplog):
    class Speaks(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            ctx.get_log().warning("hello", number=7)
            ctx.get_log().debug("not heard")
            await ctx.sleep_ticks(100)

    sim.add(being([Speaks], "speaker"))
    sim.tick()
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    said = "event='hello' agent='speaker' path='agentrt:top/Speaks' tick=1 entity='speaker' number=7"
    assert record.getMessage() == said


def test_a_configured_structlog_gets_the_events_in_its_own_way(sim):
    import structlog

    structlog.reset_defaults()
    try:
        with structlog.testing.capture_logs() as captured:
            structlog.configure(processors=structlog.get_config()["processors"])
            sim.runtime.post(broken)
            sim.tick()
    finally:
        structlog.reset_defaults()
    (event,) = captured
    assert event["log_level"] == "error"
    assert event["tick"] == 1
    assert isinstance(event["exc_info"], ValueError)


# --- a step that blocks ---------------------------------------------------------------------------------------------------


def test_a_step_that_keeps_the_event_loop_from_working_is_reported_with_its_line(
    asyncio_player, being, actions, caplog
):
    """No sleeping: the action blocks until the guard has looked, which a test tells it by an event."""
    import agentrt.kernel.hosts.watchdog as watchdog
    import agentrt.runtime.runtime

    looked = threading.Event()

    class Impatient(watchdog.Watch):
        """Tells when it has found a step that stands still."""

        def look(self, now):
            super().look(now)
            if self._report is not None:
                looked.set()

    class Blocks(actions.Work):
        async def run(self, ctx, args):
            assert looked.wait(10)  # the line that is named
            await ctx.sleep_ticks(5)
            ctx.agent.runtime.stop()
            await ctx.sleep_ticks(100)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agentrt.runtime.runtime, "Watch", Impatient)
        runtime = asyncio_player.runtime()
        runtime.add(being([Blocks], "blocker"))
        healthy = runtime.add(being([actions.Work], "healthy"))
        asyncio_player(lambda: runtime.run(speed=math.inf, blocking_ms=2))
    texts = [
        record.getMessage() for record in caplog.records if "'blocks' of agent 'blocker' at" in record.getMessage()
    ]
    assert len(texts) == 1
    assert "test_faults.py" in texts[0]
    assert "run. Call it through" in texts[0]
    assert "tick=" in texts[0]
    assert healthy.entity.diary[:3] == [(1, "start"), (1, "run"), (4, "done")]


def test_nobody_watches_if_not_asked_to(play, being, actions):
    runtime = play.runtime()
    watch = runtime._conductor.watch
    watched = []
    runtime.every_tick(lambda: watched.append((watch.is_armed, watch.blocking)))
    runtime.add(being([actions.Work]))

    async def main():
        await runtime.run(1, speed=math.inf, blocking_ms=None)
        await runtime.run(1, speed=math.inf)
        assert watched == [(False, None), (True, 0.1)]
        assert not watch.is_armed
        await runtime.aclose()

    play(main)
