"""The first place where a replay is not what was recorded: it has to be the right one, with both sides."""

from __future__ import annotations

import asyncio
import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import load

from agentrt.kernel.trace import TraceDigest, TraceEvent, TraceHub, TraceRecord
from agentrt.record import compare_recordings
from agentrt.record.compare import TraceComparison, first_difference
from agentrt.record.replay import replay

yard = load("tests/replay/yard.py")


def note(tick, agent="", text="", **detail):
    return TraceRecord(tick, agent, "", TraceEvent.NOTE, (("text", text), *detail.items()))


# --- of replays -------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Replay: A replay that differs stops at the first difference and prints both sides",
    source="design 7",
)
def test_a_world_with_dice_of_its_own_differs_where_they_fell_otherwise(record):
    """The dice are thrown in ticks 10, 20 and 30; the replay throws others."""
    dice = itertools.chain([1, 2, 3], [1, 5, 3])

    def throw(runtime):
        if runtime.tick % 10 == 0:
            runtime.note("dice", eyes=next(dice))

    made = yard.Yard(every_tick=throw, clerks=0)
    report = replay(record(made, ticks=35, between=yard.ringing), made)
    found = report.difference
    assert not report.is_same
    assert (report.tick, found.tick, found.place) == (20, 20, 0)
    assert found.expected == note(20, text="dice", eyes=2)
    assert found.got == note(20, text="dice", eyes=5)
    assert found.reason == "record 1 is another one: the same, but for eyes"
    assert report.as_text() == (
        f"replayed {report.recording} up to tick 20 of 35: 5 inputs, 0 results of calls\n"
        "first difference in tick 20: record 1 is another one: the same, but for eyes\n"
        "  - 20 note text='dice' eyes=2\n"
        "  + 20 note text='dice' eyes=5\n"
        "  (- as recorded, + as replayed)\n"
        f"digest: {report.digest}\n"
        f"recorded: {report.recorded_digest}"
    )


def test_unseeded_dice_are_found(record):
    def throw(runtime):
        runtime.note("dice", eyes=random.random())

    made = yard.Yard(every_tick=throw, clerks=0)
    found = replay(record(made, ticks=5), made).difference
    assert (found.tick, found.expected.detail[0], found.got.detail[0]) == (1, ("text", "dice"), ("text", "dice"))


@pytest.mark.states("tools: Replay: A replay that differs stops at the first difference and prints both sides ...")
def test_code_that_was_changed_is_found_where_it_first_matters(record):
    """Guards chase with another utility now: that shows when the first bell rings, and not before."""

    class Chase(yard.Chase):
        does = yard.TOP
        utility = 0.7

    report = replay(record(ticks=30, between=yard.ringing), yard.Yard(chase=Chase))
    found = report.difference
    assert (found.tick, found.agent) == (3, "guard 1")
    assert found.expected.line() == "3 guard 1 agentrt:top/Chase ready utility=0.6"
    assert found.got.line() == "3 guard 1 agentrt:top/Chase ready utility=0.7"
    assert found.reason == f"record {found.place + 1} is another one: the same, but for utility"
    assert found.before[-1].tick == 3
    assert [record.event.value for record in found.expected_after] == ["preempt", "stop", "elect"]
    assert "chase: running, utility 0.6" in found.expected_explained
    assert "chase: running, utility 0.7" in found.got_explained
    text = found.as_text()
    assert "\n  - 3 guard 1 agentrt:top/Chase ready utility=0.6\n" in text
    assert "\n  + 3 guard 1 agentrt:top/Chase ready utility=0.7\n" in text
    assert "\nas recorded, at the end of that tick:\n    guard 1 at tick 3: agentrt:top/Chase\n" in text
    assert "\nas replayed, at the end of that tick:\n    guard 1 at tick 3: agentrt:top/Chase\n" in text


def test_a_replay_that_does_less_or_more_is_found(record):
    def shout(words):
        said = iter(words)
        return lambda runtime: runtime.note("shout") if runtime.tick == 4 and next(said) else None

    recorded = record(yard.Yard(every_tick=shout([True]), clerks=0), ticks=6)
    found = replay(recorded, yard.Yard(clerks=0)).difference
    assert (found.tick, found.expected, found.got) == (4, note(4, text="shout"), None)
    assert found.reason == "the replay has no more records"
    assert "  - 4 note text='shout'\n  + nothing\n" in found.as_text()

    quiet = record(yard.Yard(clerks=0), ticks=6)
    found = replay(quiet, yard.Yard(every_tick=shout([True]), clerks=0)).difference
    assert (found.tick, found.expected, found.got) == (4, None, note(4, text="shout"))
    assert found.reason == "the replay has more records"


@pytest.mark.states(
    "tools: Replay: What cannot be repeated is named: functions that were posted, values that were not kept, what was "
    "awaited beside the game",
    source="design 7",
)
def test_what_was_posted_from_outside_is_named_as_the_likely_cause(record):
    def between(runtime):
        if runtime.tick in (4, 6):
            runtime.post(runtime.note, "posted")

    recording = record(ticks=12, between=between)
    report = replay(recording, yard.Yard())
    assert report.difference.tick == 5
    assert report.difference.reason.endswith(
        " (before, functions were posted from outside, which no recording keeps: Runtime.note in tick 5)"
    )
    assert "\nthe recording warns: before tick 5 the function Runtime.note was posted from outside" in report.as_text()


def test_what_was_posted_and_changed_nothing_makes_no_difference(record):
    def between(runtime):
        if runtime.tick == 4:
            runtime.post(lambda: None)

    recording = record(ticks=12, between=between)
    assert recording.unreplayable
    report = replay(recording, yard.Yard())
    assert report.is_same
    assert "\nnot repeated: 1 function posted from outside\n" in report.as_text()


@pytest.mark.states("tools: Replay: What cannot be repeated is named: functions that were posted, values that were ...")
@pytest.mark.slow
def test_what_somebody_awaited_that_is_not_the_games_is_a_difference_with_a_warning(record):
    """It comes back between two ticks, whenever that is: the replay is paced otherwise, and on another host."""

    class Sleeper(yard.Clerk):
        async def run(self, ctx, args):
            if ctx.agent.runtime.host == "asyncio":
                await asyncio.sleep(0.01)
                ctx.agent.runtime.note("slept")
            await ctx.sleep_ticks(1000)

    made = yard.Yard(clerk=Sleeper, clerks=1)
    recording = record(made, ticks=10, host="asyncio", speed=20.0)
    report = replay(recording, made)
    assert report.difference.expected.detail == (("text", "slept"),)
    assert report.difference.got is None
    assert "\nthe recording warns: something came in beside the inputs, the first time at tick " in report.as_text()


def test_a_result_for_a_call_that_was_not_made_is_a_difference(record):
    made = yard.Yard(questions=2)
    recording = record(made, ticks=12)
    report = replay(recording, yard.Yard(questions=1))
    assert (report.tick, report.difference.tick) == (3, 4)
    assert report.difference.reason == "the result of ask (call 2) comes in, but the replay has not made this call"
    assert report.as_text().splitlines()[1].startswith("first difference in tick 4: the result of ask (call 2)")


def test_a_call_of_another_function_is_a_difference(record):
    class Clerk(yard.Clerk):
        @staticmethod
        def function(number):
            raise AssertionError("a replay called it")

    report = replay(record(ticks=12), yard.Yard(clerk=Clerk))
    assert report.difference.tick == 2
    assert report.difference.reason.startswith("the result of ask (call 0) comes in, but call 0 of the replay is of ")


def test_an_intake_that_is_shorter_is_a_difference(record):
    """The run posted something to itself before the input was taken, and the replay posts nothing."""

    def own(runtime):
        if runtime.tick == 4:
            runtime.post(str)

    def between(runtime):
        if runtime.tick == 4:
            runtime.send("say", text="hello")

    report = replay(record(yard.Yard(every_tick=own), ticks=8, between=between), yard.Yard())
    assert report.difference.tick == 5
    assert report.difference.reason == (
        "the input 'say' comes in as number 2 of the intake, but only 0 posts come before it"
    )


@pytest.mark.slow
def test_where_the_records_were_dropped_the_digests_still_tell(record):
    def throw(runtime):
        runtime.note("tick", eyes=random.random() if runtime.tick == 400 else 0)

    made = yard.Yard(every_tick=throw, clerks=0)
    recording = record(made, ticks=1400, keep_ticks=100, views="none")
    assert recording.first_tick > 1000
    found = replay(recording, made).difference
    assert (found.tick, found.expected, found.got) == (1000, None, None)
    assert found.reason == "the digests differ; the records of this tick were dropped from the recording"


# --- of records -------------------------------------------------------------------------------------------------------

records = st.lists(
    st.builds(
        note,
        st.integers(1, 2),
        st.sampled_from(["", "Ann", "Bob"]),
        text=st.sampled_from(["a", "b"]),
        value=st.sampled_from([0, False, 0.0, -0.0, float("nan"), None, "0"]),
    ),
    max_size=6,
)


def digest(records):
    hub = TraceHub(lambda *_: None)
    made = TraceDigest(hub)
    for record in records:
        hub.emit(record)
    return made.hexdigest()


@pytest.mark.states("tools: Replay: A replay that differs stops at the first difference and prints both sides ...")
@pytest.mark.slow
@given(records, records)
def test_records_differ_exactly_if_their_digests_do(one, other):
    found = first_difference(7, one, other)
    assert (found is None) == (digest(one) == digest(other))
    if found is not None:
        assert digest(one[: found.place]) == digest(other[: found.place])
        assert digest(one[: found.place + 1]) != digest(other[: found.place + 1])
        assert (
            found.expected == (one[found.place] if found.place < len(one) else None)
            or found.expected is one[found.place]
        )
        assert (found.tick, found.as_text()[:26]) == (7, "first difference in tick 7")


@pytest.mark.slow
@given(records, st.data())
def test_a_change_is_found_at_its_place(one, data):
    if not one:
        return
    place = data.draw(st.integers(0, len(one) - 1))
    other = list(one)
    other[place] = other[place]._replace(path="elsewhere")
    found = first_difference(1, one, other)
    assert found.place == place
    assert found.reason == f"record {place + 1} is another one: another path"


def test_two_runs_that_are_meant_to_part_are_compared_agent_by_agent():
    run = TraceRecord(3, "Ann", "top/Eat", TraceEvent.RUN)
    comparison = TraceComparison(("before", "after"))
    comparison.feed(2, [note(2, "Bob", "b")], [note(2, "Bob", "b")])
    comparison.feed(3, [note(3, "Cid", "x"), run], [run, note(3, "Cid", "y")])
    comparison.feed(4, [note(4, "Ann", "late")], [run._replace(tick=4), run._replace(tick=4)])
    found = comparison.result(["Ann", "Bob", "Cid"], ["Ann", "Bob", "Dot"])
    assert [(one.agent, one.tick) for one in found.agents] == [("Cid", 3), ("Ann", 4)]
    assert (found.untouched, found.ran, found.gone, found.come) == (1, (("Eat", 1, 3),), ("Cid",), ("Dot",))
    assert found.as_text() == (
        "before (-) and after (+) in ticks 2 to 4: 2 agents with other records, 1 with the same\n"
        "Cid from tick 3 on:\n"
        "  - 3 Cid note text='x'\n"
        "  + 3 Cid note text='y'\n"
        "Ann from tick 4 on:\n"
        "  - 4 Ann note text='late'\n"
        "  + 4 Ann top/Eat run\n"
        "ran: Eat 1 → 3\n"
        "records: run 1 → 3, note 3 → 2\n"
        "in the end only in before: Cid\n"
        "in the end only in after: Dot"
    )


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_different_agents_in_a_tick_is_no_difference_of_theirs(order):
    comparison = TraceComparison()
    both = [note(1, "Ann"), note(1, "Bob")]
    comparison.feed(1, both, both[::order])
    assert comparison.result([], []).is_empty


# --- of recordings ----------------------------------------------------------------------------------------------------


def test_as_long_as_the_digests_are_the_same_nothing_is_read(record, monkeypatch):
    one = record(yard.Yard(clerks=0), ticks=20, between=yard.ringing)
    other = record(
        yard.Yard(clerks=0, every_tick=lambda runtime: runtime.note("psst") if runtime.tick == 15 else None),
        ticks=25,
        between=yard.ringing,
    )
    read = []
    batch = type(one).batch
    monkeypatch.setattr(type(one), "batch", lambda recording, tick: read.append(tick) or batch(recording, tick))
    assert compare_recordings(one, one).is_empty
    assert read == []
    found = compare_recordings(one, other)
    assert (found.first_tick, found.last_tick, min(read), max(read)) == (1, 20, 15, 20)
    assert [(found.agent, found.tick, found.one, found.other.tick) for found in found.agents] == [("", 15, None, 15)]
    assert compare_recordings(other, one).agents[0].other is None
