"""The last ticks of a run in memory: what is written of them is what a recorder would have written."""

from __future__ import annotations

import pytest
from modules import load
from players import HOSTS, play_on

from agentrt import Runtime
from agentrt.errors import RecordingError, ReplayError
from agentrt.kernel.trace import TraceDigest, TraceEvent, TraceRecord
from agentrt.record import replay
from agentrt.record.recording import Recording
from agentrt.record.ring import RingFile, RingRecorder, save_ring
from agentrt.record.views import UNSEEN
from agentrt.testing import TraceDigest as Digest

camp = load("tests/record/camp.py")
field = load("tests/record/test_drawings.py")


class Idle:
    """A clock that stands in ticks, and goes on between them: there is time for all."""

    now = 0.0

    def __call__(self):
        return self.now


class Busy(Idle):
    """One that moves whenever it is looked at: there is time for nothing."""

    def __call__(self):
        self.now += 1.0
        return self.now


def run_with_ring(runtime, ticks, clock=None, **options):
    """Run so many ticks; gives the ring and all records."""
    clock = clock or Idle()
    ring = RingRecorder(runtime, clock=clock, **options)
    runtime.after_tick(ring.end_tick)
    records = []
    runtime.trace.listen(records.append)
    for _ in range(ticks):
        clock.now += 1.0
        runtime.step()
    return ring, records


@pytest.mark.states("tools: Past: What is written of the last ticks is what a recorder would have written")
@pytest.mark.parametrize("keep", [100, 17, 1])
def test_what_is_written_is_what_was(tmp_path, keep):
    runtime = camp.camp(cooks=3)
    for _ in range(5):
        runtime.step()
    recorder = runtime.record(tmp_path / "whole.sqlite")
    ring, records = run_with_ring(runtime, 60, keep_ticks=keep)
    recorder.close()
    first = max(6, 65 - keep + 1)
    assert (ring.first_tick, ring.last_tick) == (first, 65)
    assert save_ring(ring, tmp_path / "saved.sqlite", 1000) == range(first, 66)
    with Recording.open(tmp_path / "saved.sqlite") as saved, Recording.open(tmp_path / "whole.sqlite") as whole:
        assert (saved.first_tick, saved.last_tick) == (first, 65)
        for tick in range(first, 66):
            assert saved.batch(tick) == whole.batch(tick)
            assert saved.agents(tick) == whole.agents(tick) == ("cook 1", "cook 2", "cook 3")
            for name in saved.agents(tick):
                if any(record.agent == name for record in whole.records(6, tick)):  # else they looked at other moments
                    assert saved.view(name, tick) == whole.view(name, tick)
    assert [one for one in records if one.tick >= first] == [
        TraceRecord(*one[:3], TraceEvent(one[3]), one[4]) for kept in ring.since(0)[0] for one in kept.records
    ]
    runtime.close()


def test_who_comes_and_goes(tmp_path):
    runtime = camp.camp(cooks=2)
    ring = RingRecorder(runtime, 10, clock=Idle())
    runtime.after_tick(ring.end_tick)
    first, second = [agent.name for agent in runtime.agents]
    for tick in range(1, 31):
        if tick == 23:
            runtime.remove(runtime.find(first))
        runtime.step()
    save_ring(ring, tmp_path / "saved.sqlite", 10)
    with Recording.open(tmp_path / "saved.sqlite") as saved:
        gone = next(tick for tick in range(21, 31) if saved.agents(tick) == (second,))
        assert 21 < gone <= 25
        assert saved.view(first, gone - 1) is not None
        assert saved.view(first, gone) is None
    for _ in range(20):
        runtime.step()
    assert first not in ring.since(0)[1].agents
    assert first not in ring.since(0)[1].views
    runtime.close()


def test_drawings(tmp_path):
    runtime = field.make_field()
    clock = Idle()
    ring = RingRecorder(runtime, 20, clock=clock)
    runtime.after_tick(ring.end_tick)
    truth = {}
    for _ in range(50):
        clock.now += 1.0
        runtime.step()
        truth[runtime.tick] = runtime.draw()
    save_ring(ring, tmp_path / "saved.sqlite", 20)
    with Recording.open(tmp_path / "saved.sqlite") as saved:
        for tick in range(31, 51):
            assert saved.drawing(tick) == truth[tick]
    runtime.close()


def test_a_file_that_is_written_on(tmp_path):
    runtime = camp.camp()
    ring = RingRecorder(runtime, 30, clock=Idle())
    runtime.after_tick(ring.end_tick)
    for _ in range(40):
        runtime.step()
    file = RingFile(tmp_path / "past.sqlite", ring)
    with Recording.open(file.path) as past:
        assert (past.first_tick, past.last_tick) == (11, 40)
        for _ in range(20):
            runtime.step()
        assert file.catch_up()
        assert past.last_tick == 60
        assert len(past.batch(55)) == len(ring.since(55)[0][0].records)
        for _ in range(31):
            runtime.step()
        assert not file.catch_up()  # tick 61 is not kept any more
    file.discard()
    assert list(tmp_path.iterdir()) == []
    runtime.close()


@pytest.mark.states("tools: Past: A saved past can be looked at and not replayed, and says so")
def test_it_can_be_looked_at_and_not_replayed(tmp_path):
    runtime = camp.camp()  # from the first tick on, and still: what came in is not in it
    ring, _ = run_with_ring(runtime, 20)
    save_ring(ring, tmp_path / "saved.sqlite", 100)
    with Recording.open(tmp_path / "saved.sqlite") as saved:
        assert saved.is_past
        assert saved.meta["started"] == 0
        assert saved.unreplayable == [
            "it was saved from the past of a live run, so that what came in from outside is not in it"
        ]
    with pytest.raises(ReplayError, match="what came in from outside is not in it. It holds the ticks 1 to 20, to be"):
        replay(tmp_path / "saved.sqlite", camp.camp)
    with pytest.raises(RecordingError, match="there is a file already"):
        save_ring(ring, tmp_path / "saved.sqlite", 100)
    runtime.close()


# --- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.untraced
def test_bytes_are_bounded_whatever_the_number_of_ticks():
    runtime = camp.camp(cooks=30)
    ring, _ = run_with_ring(runtime, 200, keep_ticks=1000, max_bytes=300_000)
    assert 1 < len(ring.since(0)[0]) < 200
    assert ring.size <= 300_000
    runtime.close()


@pytest.mark.slow
@pytest.mark.parametrize(("rest", "measured"), [(0.0, 6), (0.002, 100)])
def test_of_ticks_without_a_rest_some_are_measured(rest, measured):
    """To ask for the processor's time is a call of the system; a game that rests has each of its ticks measured."""
    runtime, now = camp.camp(cooks=1), [0.0]

    def works():
        now[0] += 0.0005

    ring = RingRecorder(runtime, 200, clock=lambda: now[0], working=lambda: now[0] / 2)
    runtime.after_tick(works)
    runtime.after_tick(ring.end_tick)
    ticks = []
    for _ in range(100):
        runtime.step()
        now[0] += rest
        ticks += [runtime.tick] * ring._is_measured
    assert len(ticks) == pytest.approx(measured, abs=1)
    assert ring._busy == pytest.approx(0.00025)
    runtime.close()


@pytest.mark.untraced
def test_what_it_says_that_it_takes_is_what_it_takes():
    import tracemalloc

    runtime = camp.camp(cooks=40)
    for _ in range(50):
        runtime.step()
    ring = RingRecorder(runtime, 10_000, clock=Busy())  # no views: they are counted by their bytes
    runtime.after_tick(ring.end_tick)
    tracemalloc.start()
    for _ in range(400):
        runtime.step()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.4 * taken < ring.size < 2.5 * taken
    runtime.close()


@pytest.mark.slow
@pytest.mark.states("tools: Past: Memory is bounded in a world of 2,000 agents")
def test_two_thousand_agents_take_no_more_than_was_said():
    most = 4 * 1024 * 1024
    runtime = camp.camp(cooks=2000)
    ring, _ = run_with_ring(runtime, 14, keep_ticks=2000, max_bytes=most)
    assert ring.size <= most
    assert (ring.first_tick > 1, ring.last_tick) == (True, 14)  # the oldest went, because of their bytes
    assert len(ring._views._last) <= 256
    runtime.close()


# --- time -------------------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Past: A view that is older than what happened says so")
def test_without_time_views_are_put_off_and_say_so(tmp_path):
    runtime = camp.camp(cooks=4)
    names = [agent.name for agent in runtime.agents]
    clock = Idle()
    ring = RingRecorder(runtime, 100, clock=clock)
    ring.watched = frozenset([names[2]])
    runtime.after_tick(ring.end_tick)
    clock.now += 1.0
    runtime.step()  # all are looked at
    real, seen = ring._views.look_at, []

    def look_at(tick, name):
        clock.now += 10.0  # it takes very long
        seen.append((tick, name))
        return real(tick, name)

    ring._views.look_at = look_at
    for _ in range(39):
        runtime.step()
    assert len(seen) == 1  # and then there is nothing left of what was saved up
    save_ring(ring, tmp_path / "saved.sqlite", 100)
    with Recording.open(tmp_path / "saved.sqlite") as saved:
        old = [name for name in names if UNSEEN in saved.view(name, 40)]
        assert old == names
        since = saved.view(names[0], 40)[UNSEEN]
        assert UNSEEN not in saved.view(names[0], since - 1)
        assert any(record.tick == since for record in saved.records(agent=names[0]))
        assert saved.view(names[0], 40)["running"] == saved.view(names[0], 1)["running"] != ""
    ring._views.look_at = real
    for _ in range(30):
        clock.now += 1.0
        runtime.step()
    save_ring(ring, tmp_path / "later.sqlite", 100)
    with Recording.open(tmp_path / "later.sqlite") as saved:
        assert [name for name in names if UNSEEN in saved.view(name, 70)] == []
        now = {agent.name: agent.snapshot().running for agent in runtime.agents}
        assert {name: saved.view(name, 70)["running"] for name in names} == now
    runtime.close()


def test_what_fails_ends_it_and_not_the_run(logged):
    runtime = camp.camp()
    ring = RingRecorder(runtime, 100, clock=Idle())
    runtime.after_tick(ring.end_tick)
    runtime.step()
    ring._views.due = lambda tick, names: 1 / 0
    for _ in range(5):
        runtime.step()
    assert (runtime.tick, ring.is_open, ring.last_tick) == (6, False, 1)
    assert logged() == ["event='the last ticks of the run are not kept any longer' tick=2"]
    assert not runtime.trace.on
    runtime.close()


def test_ticks_that_it_was_not_told_of_leave_no_hole(tmp_path):
    runtime = camp.camp()
    ring = RingRecorder(runtime, 100, clock=Idle())
    for tick in range(30):
        runtime.step()
        if tick not in (10, 11):
            ring.end_tick()
    assert (ring.first_tick, ring.last_tick) == (13, 30)
    save_ring(ring, tmp_path / "saved.sqlite", 100)
    with Recording.open(tmp_path / "saved.sqlite") as saved:
        assert saved.explain(runtime.agents[0].name, 30).startswith("cook 1 at tick 30: agentrt:top/")
    runtime.close()


# --- the run ----------------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Past: The ring changes no digest, on every host", source="design 7")
@pytest.mark.parametrize("host", HOSTS)
def test_it_changes_no_digest(host):
    digests = []

    def main_with(has_ring):
        async def main():
            runtime = camp.camp(host=host, cooks=4)
            digest = TraceDigest(runtime.trace)
            if has_ring:
                runtime.after_tick(RingRecorder(runtime, 10).end_tick)
            await runtime.run(80, speed=float("inf"))
            digests.append(digest.hexdigest())
            await runtime.aclose()

        return main

    play_on(host, main_with(has_ring=False))
    play_on(host, main_with(has_ring=True))
    assert digests[0] == digests[1]


@pytest.mark.slow
@pytest.mark.states("tools: Past: The ring changes no digest, on every host ...")
def test_it_changes_no_digest_of_the_colony():
    from agentrt_examples.colony import world

    digests = []
    for has_ring in (False, True):
        runtime: Runtime = world.make(seed=7, host="plain")
        digest = Digest(runtime.trace)
        if has_ring:
            runtime.after_tick(RingRecorder(runtime, 50).end_tick)
        for _ in range(150):
            runtime.step()
        digests.append(digest.hexdigest())
        runtime.close()
    assert digests[0] == digests[1]
