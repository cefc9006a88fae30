"""How long ticks take, and how much of that is thinking, as a clock tells that is moved by hand."""

from __future__ import annotations

from modules import load

from agentrt.inspect import live as composing
from agentrt.inspect.crowd import ThinkTimes
from agentrt.inspect.live import History, TickTimes
from agentrt.kernel.trace import TraceEvent, TraceHub, TraceRecord
from agentrt.record.ring import packed

of = load("tests/inspect/village.py")


class Times(TickTimes):
    def __init__(self):
        self.clock, self.tick, self.records = of.Clock(), 1, []
        super().__init__(self.clock)
        self.hub = TraceHub(lambda text, error: None)
        self.hub.keep(self.records.append, self.stamper)

    def after(self, milliseconds, event, *, is_in_tick=True, agent="Ann"):
        self.clock.now += milliseconds / 1000
        self.hub.emit(TraceRecord(self.tick if is_in_tick else self.tick - 1, agent, "top", event))

    def ends_after(self, milliseconds, think=None):
        self.clock.now += milliseconds / 1000
        self.end(self.tick, self.records, think)
        self.records.clear()
        self.stamps.clear()
        self.tick += 1
        figures = self.as_json()
        return figures["tick_ms"]["last"], figures["think_ms"]["last"]


def test_time_belongs_to_the_record_that_comes_after_it():
    times = Times()
    times.begin()
    times.after(1, TraceEvent.THINK)
    times.after(2, TraceEvent.READY)
    times.after(4, TraceEvent.RUN)
    times.after(8, TraceEvent.ELECT)
    times.after(16, TraceEvent.FINISH)
    assert times.ends_after(32) == (63.0, 11.0)


def test_a_tick_begins_with_its_first_record_or_with_its_drivers():
    times = Times()
    times.after(5, TraceEvent.ADDED)  # at an intake
    times.after(2, TraceEvent.NOTE)
    times.begin()
    assert times.ends_after(1) == (3.0, 0.0)
    times.clock.now += 1
    times.begin()
    times.after(2, TraceEvent.THINK)
    assert times.ends_after(1) == (3.0, 2.0)


def test_what_happens_between_ticks_belongs_to_none():
    times = Times()
    times.after(5, TraceEvent.THINK, is_in_tick=False)
    times.clock.now += 1
    times.begin()
    assert times.ends_after(3) == (3.0, 0.0)


def test_what_happened_between_ticks_comes_before_what_an_intake_tells():
    times = Times()
    times.after(5, TraceEvent.THINK, is_in_tick=False)
    times.after(4, TraceEvent.ADDED)
    times.after(2, TraceEvent.THINK)
    times.begin()
    times.after(1, TraceEvent.READY)
    assert times.ends_after(3) == (6.0, 3.0)


def test_who_thinks_how_long_is_told_of_what_is_in_the_tick():
    times, think = Times(), ThinkTimes(0.0, 1)
    times.after(5, TraceEvent.THINK, is_in_tick=False)
    times.begin()
    times.after(1, TraceEvent.THINK)
    times.after(2, TraceEvent.RUN)
    times.after(4, TraceEvent.READY, agent="Bob")
    times.after(8, TraceEvent.ELECT)
    times.ends_after(0, think)
    think.turn(1.0, 2)
    assert {name: round(nanoseconds / 1e6, 3) for name, nanoseconds in think.agents.items()} == {"Ann": 9.0, "Bob": 4.0}


def test_no_time_line_is_made_of_thinking():
    times, history = Times(), History()
    for event in (TraceEvent.ADDED, TraceEvent.THINK, TraceEvent.RUN, TraceEvent.ELECT, TraceEvent.FINISH):
        times.after(1, event)
    history.take(times.records, packed(times.records))
    assert [one[3] for one in history.records.since(0)] == ["added", "think", "run", "elect", "finish"]
    assert [one[3] for one in history.starts.since(0)] == ["run", "finish"]


def test_the_figures():
    times = Times()
    assert times.as_json() == {
        "tick_ms": {"last": 0.0, "mean": 0.0, "worst": 0.0},
        "think_ms": {"last": 0.0, "mean": 0.0, "worst": 0.0},
        "history": {"tick": [], "tick_ms": [], "think_ms": []},
    }
    times.end(0, [])  # a tick of which nothing was heard
    for tick in range(1, 301):
        times.begin()
        times.ends_after(8 if tick == 290 else 2)
    figures = times.as_json()
    assert figures["tick_ms"] == {"last": 2.0, "mean": 2.025, "worst": 8.0}
    assert figures["history"]["tick"] == list(range(61, 301))


def test_records_between_ticks_of_a_runtime(watched):
    client = watched.client()
    watched.tick(2)
    watched.runtime.note("between")
    watched.tick(2)  # an eighth of a second passes before each
    assert max(client.last("state")["history"]["tick_ms"]) == 0.0


def slow_to_show(watched, monkeypatch, seconds):
    real = composing.snapshot_agent

    def slow(agent):
        watched.clock.now += seconds
        return real(agent)

    monkeypatch.setattr(composing, "snapshot_agent", slow)


def test_looking_takes_a_small_part_of_the_time_at_most(watched, monkeypatch):
    slow_to_show(watched, monkeypatch, 0.05)
    client = watched.client(agent="Bob")
    begin = watched.clock.now
    watched.tick(400, seconds=0.01)
    passed = watched.clock.now - begin
    assert 0.03 < client.batches * 0.05 / passed < 0.05


def test_nobody_waits_long_for_a_page_that_took_long_once(watched, monkeypatch):
    slow_to_show(watched, monkeypatch, 0.5)
    client = watched.client(agent="Bob")
    watched.tick(400, seconds=0.01)
    assert client.batches == 3  # in four seconds, and what it took: of one part in 33 there would be one
