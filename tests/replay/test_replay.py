"""Replays: the same run again from what came in, on every host, without calling the outside."""

from __future__ import annotations

import threading
import time

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import load
from players import HOSTS

from agentrt.errors import ReplayError, WrongStateError
from agentrt.record import Codec
from agentrt.record.recording import Recording
from agentrt.record.replay import Replay, replay

yard = load("tests/replay/yard.py")


@pytest.mark.states(
    "tools: Replay: A recorded run is run again from its seed and its inputs; the trace is the same on every host",
    source="design 7",
)
@pytest.mark.parametrize("host", HOSTS)
def test_what_was_sent_comes_in_again_and_nothing_is_called(record, outside, host):
    recording = record(ticks=60, between=yard.ringing)
    assert outside.calls == 12
    report = replay(recording, yard.Yard(), host=host)
    assert report.is_same
    assert report.digest == report.recorded_digest == recording.digest()
    assert (report.sent, report.answered) == (19, 12)
    assert (report.tick, report.wanted, report.compared) == (60, 60, 60)
    assert outside.calls == 12


@pytest.mark.states(
    "tools: Replay: Nothing outside is called: results come in from the journal, in the tick and at the place where "
    "they came in",
    source="designs 2 and 7",
)
@pytest.mark.slow
@pytest.mark.parametrize("clerk", [yard.Clerk, yard.AsyncClerk], ids=["threads", "coroutines"])
@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_results_come_in_where_they_came_in_whenever_that_was(record, outside, host, clerk):
    """Threads answer after a time that nobody knows, each with a clerk of its own; the replays have no event loop."""
    made = yard.Yard(clerk=clerk, clerks=4)
    recording = record(made, ticks=70, host=host, between=yard.ringing, speed=20.0)
    answers = [one for one in recording.inputs() if one.kind == "answered"]
    assert len(answers) == 24
    if clerk is yard.Clerk:
        assert any(isinstance(one.error, TimeoutError) for one in answers)
        assert {one.number for one in answers} == set(range(24))
    for other in HOSTS:
        report = replay(recording, made, host=other)
        assert report.is_same, report.as_text()
    assert outside.calls == 24


@pytest.mark.states("tools: Replay: Nothing outside is called: results come in from the journal, in the tick and ...")
@pytest.mark.slow
@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_what_other_threads_send_comes_in_where_it_came_in(record, host):
    """Three threads send as fast as they can, before, in and between ticks."""
    sent = []

    def talk(runtime, name):
        for number in range(40):
            runtime.send("say", text=f"{name} {number}")
            sent.append(number)
            time.sleep(0.0005)

    def between(runtime):
        if runtime.tick == 3:
            for name in "abc":
                threading.Thread(target=talk, args=(runtime, name), daemon=True).start()

    def own(runtime):
        for number in range(runtime.tick % 4):
            runtime.post(runtime.note, f"own {number}")

    made = yard.Yard(every_tick=own)
    recording = record(made, ticks=60, host=host, between=between, speed=20.0)
    assert len(sent) == 120
    assert sum(one.name == "say" for one in recording.inputs()) == 120
    for other in HOSTS:
        report = replay(recording, made, host=other)
        assert report.is_same, report.as_text()


@pytest.mark.states(
    "tools: Replay: What the run posts to itself stands between what comes in, as it did",
    source="design 2, A tick",
)
def test_what_a_run_posts_to_itself_stands_between_what_comes_in(record):
    """Some ticks have posts of the run's own and inputs, in every order."""

    def own(runtime):
        for number in range(runtime.tick % 3):
            runtime.post(runtime.note, f"own {number}")

    made = yard.Yard(every_tick=own)
    recording = record(made, ticks=60, between=yard.ringing)
    assert {one.place for one in recording.inputs() if one.kind == "sent"} > {0, 1, 2}
    assert replay(recording, made).is_same


def test_a_step_that_was_slow_takes_no_place_of_what_comes_in(record):
    """What the watchdog reports comes in at an intake, and the machine decides at which."""

    def between(runtime):
        runtime.kernel.post_report(told.append, runtime.tick)
        yard.ringing(runtime)

    told = []
    recording = record(ticks=60, between=between)
    assert told == list(range(60))
    report = replay(recording, yard.Yard())
    assert report.is_same, report.as_text()


def test_inputs_that_find_nobody_any_more_fail_alike(record):
    def take_down(runtime):
        close = getattr(runtime, "close_door", None)
        if runtime.tick == 5:
            close()

    class Doors(yard.Yard):
        def __call__(self, *, seed, host):
            runtime = super().__call__(seed=seed, host=host)
            close = runtime.on_input("door", runtime.note)
            runtime.on_input("wall_up", lambda: runtime.post(close))
            return runtime

    def between(runtime):
        if runtime.tick == 3:
            runtime.send("wall_up")
        if runtime.tick == 4:
            runtime.send("door", text="knock")  # it is taken in tick 5, together with the end of the door
        if runtime.tick == 5:
            runtime.send("ring", nonsense=1)

    recording = record(Doors(), ticks=8, between=between)
    faults = [record.detail[1][1] for record in recording.records(events=["fault"])]
    assert [text.partition(":")[0] for text in faults] == ["InputError", "TypeError"]
    assert replay(recording, Doors()).is_same


def test_a_recording_can_be_replayed_up_to_a_tick(record):
    recording = record(ticks=30, between=yard.ringing)
    report = replay(recording, yard.Yard(), to=12)
    assert (report.tick, report.wanted, report.is_same) == (12, 12, True)
    assert report.digest == recording.digest(12)
    assert replay(recording, yard.Yard(), to=0).is_same


def test_a_replay_can_be_driven_by_hand_and_looked_at(record):
    recording = record(ticks=30, between=yard.ringing)
    with Replay(recording, yard.Yard()) as one:
        assert one.to(10) is None
        assert one.tick == one.runtime.tick == 10
        assert one.batch == recording.batch(10)
        assert [agent.name for agent in one.runtime.agents] == list(recording.agents(10))
        assert one.runtime.agents[0].explain() == recording.explain("guard 0", 10)
        assert one.to() is None
        assert len(one.feeder.calls) == one.runtime.calls.count - one.feeder.answered
        with pytest.raises(WrongStateError, match="tick 20 is over, the replay stands at 30"):
            one.to(20)
        with pytest.raises(ReplayError, match="tick 31 is after its last tick, 30"):
            one.to(31)
    assert [record.tick for record in one.batch if record.event == "removed"] == []  # closing is no part of it


def test_a_replay_stands_before_a_closed_gate_and_goes_on(record):
    recording = record(ticks=30, between=yard.ringing)
    with Replay(recording, yard.Yard()) as one:
        one.runtime.after_tick(lambda: one.runtime.gate.pause("look") if one.tick in (3, 11) else None)
        assert one.to() is None
        assert one.tick == 3
        one.runtime.gate.resume()
        one.to()
        assert one.tick == 11
        one.runtime.gate.resume()
        one.to()
        assert one.report().is_same


@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_inside_of_an_event_loop_it_does_not_wait_before_a_closed_gate(record, host):
    recording = record(ticks=20, between=yard.ringing)
    one = Replay(recording, yard.Yard(), host=host)

    async def main():
        async with one:
            await one.run_to(9)
            one.runtime.gate.pause("look")
            assert await one.run_to() is None
            assert one.tick == 9
            one.runtime.gate.resume()
            await one.run_to()
            return one.report()

    assert anyio.run(main, backend=host).is_same


def test_a_replay_can_be_recorded_again(record, tmp_path):
    recording = record(ticks=40, between=yard.ringing)
    with Replay(recording, yard.Yard()) as one, one.runtime.record(tmp_path / "again.sqlite"):
        one.to()
    with Recording.open(tmp_path / "again.sqlite") as again:
        assert [repr(one) for one in again.inputs()] == [repr(one) for one in recording.inputs()]
        assert again.digest() == recording.digest()
        assert replay(again, yard.Yard()).is_same


def test_a_replay_need_not_be_compared(record):
    recording = record(ticks=20)
    report = replay(recording, yard.Yard(clerks=1), verify=False)  # another world, and nobody looks
    assert (report.tick, report.compared, report.difference.reason[:22]) == (1, 0, "the result of ask (cal")
    report = replay(recording, yard.Yard(), verify=False)
    assert report.is_same
    assert report.compared == 0


def test_a_path_is_as_good_as_a_recording(record):
    recording = record(ticks=10)
    assert replay(recording.path, yard.Yard()).is_same
    assert replay(str(recording.path), yard.Yard()).is_same


def test_values_of_ones_own_come_in_by_codecs(record):
    class Stone:
        def __init__(self, weight):
            self.weight = weight

        def __repr__(self):
            return f"Stone({self.weight})"

    codecs = [Codec("stone", Stone, lambda stone: stone.weight, Stone)]

    class Finder(yard.Clerk):
        function = staticmethod(lambda number: Stone(number))

    made = yard.Yard(clerk=Finder)
    recording = record(made, ticks=20, codecs=codecs)
    with Recording.open(recording.path, codecs=codecs) as opened:
        assert replay(opened, made).is_same


@pytest.mark.states("tools: Replay: What cannot be repeated is named: functions that were posted, values that were ...")
def test_a_value_that_was_not_kept_stops_the_replay_and_says_so(record):
    class Finder(yard.Clerk):
        function = staticmethod(lambda number: threading.Lock())

    made = yard.Yard(clerk=Finder, clerks=1)
    report = replay(record(made, ticks=20), made)
    assert not report.is_same
    assert report.tick == 1
    assert (
        report.difference.reason.startswith(
            "the result of Finder.<lambda> (call 0) comes in, a lock, which the recording could not keep:"
        )
        or "a lock, which the recording could not keep" in report.difference.reason
    )


# --- what cannot be replayed ------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Replay: A recording that begins later, or is of another world, is not replayed",
    source="design 7",
)
def test_a_recording_that_begins_later_cannot_be_replayed(record, tmp_path):
    runtime = yard.Yard()(seed=1, host="plain")
    for _ in range(5):
        runtime.step()
    with runtime.record(tmp_path / "late.sqlite"):
        runtime.step()
    runtime.close()
    with pytest.raises(ReplayError, match=r"late.sqlite: it cannot be replayed: it begins after tick 5") as caught:
        replay(tmp_path / "late.sqlite", yard.Yard())
    assert caught.value.code == "ART233"


def test_a_replay_needs_a_host_that_it_can_start():
    with pytest.raises(ValueError, match="host is 'auto': choose 'plain', 'asyncio' or 'trio'"):
        replay("nowhere.sqlite", host="auto")


def test_without_a_world_somebody_has_to_make_it(record):
    with pytest.raises(ReplayError, match="it does not say which world it is of. Name the world, or give make="):
        replay(record(ticks=3))


@pytest.mark.states("tools: Replay: A recording that begins later, or is of another world, is not replayed ...")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda seed, host: yard.Yard()(seed=seed + 1, host=host), "has the seed 4, the recording 3"),
        (
            lambda seed, host: yard.Runtime(seed, host=host, ticks_per_second=7),
            "the ticks per second 7, the recording 20",
        ),
        (lambda seed, host: stepped(yard.Yard()(seed=seed, host=host)), "has the tick 1, the recording 0"),
    ],
)
def test_a_world_that_is_another_one_is_not_driven(record, change, words):
    recording = record(ticks=3)
    for host in HOSTS if "tick 1" not in words else ["plain"]:
        with pytest.raises(ReplayError, match=words):
            replay(recording, change, host=host)


def stepped(runtime):
    runtime.step()
    return runtime


# --- in any order -----------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Replay: A recorded run is run again from its seed and its inputs; the trace is the ...")
@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 25), st.sampled_from(["ring", "say", "loud"]), st.integers(0, 1)), max_size=20),
    st.integers(0, 2),
    st.integers(0, 3),
)
def test_any_course_of_inputs_and_calls_repeats_itself(tmp_path_factory, course, own, clerks):
    def between(runtime):
        for tick, what, guard in course:
            if tick == runtime.tick + 1:
                if what == "say":
                    runtime.send("say", text=f"{guard}")
                else:
                    runtime.send("ring", guard=guard, loud=2 if what == "loud" else 1)

    def every_tick(runtime):
        for number in range(own):
            runtime.post(runtime.note, f"own {number}")

    yard.outside.shut = False
    made = yard.Yard(every_tick=every_tick, clerks=clerks, questions=3)
    path = tmp_path_factory.mktemp("course") / "run.sqlite"
    runtime = made(seed=5, host="plain")
    runtime.record(path, views="none")
    yard.drive(runtime, 25, between=between)
    yard.outside.shut = True
    report = replay(path, made)
    assert report.is_same, report.as_text()
    assert report.sent == len(course)
