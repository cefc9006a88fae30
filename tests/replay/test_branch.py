"""Branches: a run goes on otherwise from a tick on, and is compared with what was recorded."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import load
from players import HOSTS

from agentrt.errors import EditError, ReplayDifferenceError, ReplayError, RunFault, UnansweredCallError
from agentrt.record.branch import Edit, apply_edits, branch, load_edits, parse_edits
from agentrt.record.recording import RecordedInput, Recording
from agentrt.record.replay import replay

yard = load("tests/replay/yard.py")


def edits(*script):
    return parse_edits(list(script))


def notes(records, agent=""):
    return [
        (one.tick, *[value for _, value in one.detail]) for one in records if (one.agent, one.event) == (agent, "note")
    ]


# --- what is changed --------------------------------------------------------------------------------------------------


def test_a_branch_where_nothing_is_changed_is_the_recorded_run(record):
    recording = record(ticks=40, between=yard.ringing)
    made = branch(recording, yard.Yard(), at=15)
    assert made.difference.is_empty
    assert made.digest == recording.digest()
    assert (made.at, made.tick, made.sent, made.answered, made.late, made.left_over) == (15, 40, 12, 12, 0, 0)
    assert made.as_text().splitlines()[1] == "the recording and the branch are the same in ticks 16 to 40"


@pytest.mark.states(
    "tools: Replay: A run is branched: replayed to a tick, an input is changed, it goes on, and the two traces are "
    "compared",
    source="design 7",
)
@pytest.mark.parametrize("host", HOSTS)
def test_something_more_comes_in(record, tmp_path, host):
    recording = record(ticks=30, between=yard.ringing)
    script = edits({"tick": 20, "send": "ring", "args": {"guard": 0, "loud": 7}})
    made = branch(recording, yard.Yard(), at=15, edits=script, host=host, record=tmp_path / "branch.sqlite")
    found = made.difference.agents
    assert [(one.agent, one.tick) for one in found] == [("", 20), ("guard 0", 20)]
    assert found[0].other.line() == "20 note text='rang' guard=0 loud=7"
    assert made.difference.events[0] == ("note", 6, 8)  # the bell, and its echo
    assert (made.difference.untouched, made.difference.gone, made.difference.come) == (1, (), ())
    with Recording.open(tmp_path / "branch.sqlite") as branched:
        assert branched.digest() == made.digest
        assert branched.meta["branched_from"] == {"recording": recording.path.name, "tick": 15}
        assert branched.digest(19) == recording.digest(19)
        assert replay(branched, yard.Yard()).is_same
        assert branch(branched, yard.Yard(), at=25, edits=edits({"tick": 26, "send": "say"})).tick == 30


@pytest.mark.states("tools: Replay: A run is branched: replayed to a tick, an input is changed, it goes on, and ...")
def test_something_does_not_come_in_or_comes_in_otherwise(record):
    recording = record(yard.Yard(clerks=0), ticks=30, between=yard.ringing)
    assert [(one.tick, one.name) for one in recording.inputs() if one.tick > 15] == [
        (17, "ring"), (22, "ring"), (22, "say"), (24, "ring"),
    ]  # fmt: skip
    script = edits(
        {"tick": 17, "drop": "ring"},
        {"tick": 22, "change": "say", "args": {"text": "changed"}},
        {"tick": 24, "change": "ring", "args": {"guard": 1, "loud": 3}},
    )
    path = recording.path.with_name("branch.sqlite")
    made = branch(recording, yard.Yard(clerks=0), at=15, edits=script, record=path)
    with Recording.open(path) as branched:
        assert notes(branched.records(16)) == [
            (22, "rang", 1, 2), (22, "changed"), (23, "echo"), (24, "rang", 1, 3), (25, "echo"),
        ]  # fmt: skip
        assert replay(branched, yard.Yard(clerks=0)).is_same
    assert made.difference.agents[0].tick == 17
    assert made.difference.agents[0].one.line() == "17 note text='rang' guard=1 loud=1"
    assert made.difference.agents[0].other is None


def test_a_function_may_change_anything(record, tmp_path):
    recording = record(yard.Yard(clerks=0), ticks=30)

    def add_a_guard(runtime):
        runtime.add(yard.Agent(yard.Person("late"), name="late", actions=[yard.Watch]))

    path = tmp_path / "branch.sqlite"
    made = branch(recording, yard.Yard(clerks=0), at=10, edit=add_a_guard, ticks=100, record=path)
    assert (made.tick, made.difference.come, made.difference.last_tick) == (110, ("late",), 30)
    assert "in the end only in the branch: late" in made.as_text()
    with Recording.open(path) as branched:
        assert len(branched.unreplayable) == 1  # it was posted from outside


def test_it_goes_on_where_the_recording_ends(record):
    recording = record(yard.Yard(clerks=0), ticks=10)
    made = branch(recording, yard.Yard(clerks=0), at=10, ticks=5, edits=edits({"tick": 12, "send": "ring"}))
    assert (made.tick, made.difference, made.sent) == (15, None, 1)


# --- calls ------------------------------------------------------------------------------------------------------------


def answers(recording):
    return {one.number: one for one in recording.inputs() if one.kind == "answered"}


@pytest.mark.states("tools: Replay: A run is branched: replayed to a tick, an input is changed, it goes on, and ...")
def test_a_call_gets_another_result(record):
    recording = record(yard.Yard(clerks=1), ticks=30)
    tick = answers(recording)[2].tick
    for change, noted in (
        ({"value": [1, "two"]}, "[1, 'two']"),
        ({"value": {"$": "tuple", "v": [1]}}, "(1,)"),
        ({"error": {"$": "raised", "name": "TimeoutError", "v": ["late"]}}, "'late'"),
    ):
        path = recording.path.with_name(f"branch {len(noted)}.sqlite")
        script = edits({"tick": tick, "change": 2, **change})
        branch(recording, yard.Yard(clerks=1), at=tick - 1, edits=script, record=path)
        with Recording.open(path) as branched:
            assert notes(branched.records(tick, tick)) == [(tick, "answered", "clerk 0", noted)]
            assert replay(branched, yard.Yard(clerks=1)).is_same


def test_an_error_in_words_is_raised_as_a_fault(record):
    recording = record(yard.Yard(clerks=1), ticks=30)
    tick = answers(recording)[2].tick
    script = edits({"tick": tick, "change": 2, "error": "it rained"})
    made = branch(recording, yard.Yard(clerks=1), at=tick - 1, edits=script, ticks=1)
    assert any("RunFault: [ART300] it rained" in str(one.other) for one in made.difference.agents)
    assert isinstance(script[0].error, RunFault)


def test_a_result_that_never_comes_leaves_the_caller_waiting(record):
    recording = record(yard.Yard(clerks=1), ticks=40)
    tick = answers(recording)[2].tick
    made = branch(recording, yard.Yard(clerks=1), at=tick - 1, edits=edits({"tick": tick, "drop": 2}))
    assert (made.answered, made.left_over) == (2, 3)
    assert "3 results for nobody" in made.as_text()


@pytest.mark.parametrize("later", [1, 30])
def test_a_call_that_is_made_later_gets_its_result_later(record, later):
    """The result of call 2 comes late: the calls after it are the same calls, made in the tick of their results, or
    after it."""
    recording = record(yard.Yard(clerks=1), ticks=40)
    tick = answers(recording)[2].tick
    script = edits({"tick": tick, "drop": 2}, {"tick": tick + later, "answer": 2, "value": "at last"})
    made = branch(recording, yard.Yard(clerks=1), at=tick - 1, edits=script, ticks=60)
    assert (made.answered, made.late, made.left_over) == (6, 3, 0)
    assert "3 results came in later than recorded" in made.as_text()


@pytest.mark.states(
    "tools: Replay: A call that the recording has no result for is an error, has a scripted one, or goes to the "
    "outside",
    source="design 7",
)
def test_another_call_is_an_error_or_has_a_scripted_result_or_goes_to_the_outside(record, outside):
    class Asker(yard.Clerk):
        async def run(self, ctx, args):
            for number in (0, 1):
                ctx.agent.runtime.note(repr(await ctx.call(self.function, number)))
            await ctx.entity.rung.wait()
            ctx.agent.runtime.note(repr(await ctx.call(self.function, 2)))
            await ctx.sleep_ticks(1000)

    class World(yard.Yard):
        def __call__(self, *, seed, host):
            runtime = super().__call__(seed=seed, host=host)
            runtime.on_input("wake", lambda: runtime.agents[2].entity.rung.emit())
            return runtime

    made = World(clerk=Asker, clerks=1)
    recording = record(made, ticks=20)
    assert outside.calls == 2
    wake = {"tick": 12, "send": "wake"}
    with pytest.raises(UnansweredCallError, match="in tick 12 the branch calls ask") as caught:
        branch(recording, made, at=10, edits=edits(wake))
    assert (caught.value.code, caught.value.number, caught.value.what, caught.value.tick) == ("ART236", 2, "ask", 12)
    path = recording.path.with_name("answered.sqlite")
    result = branch(recording, made, at=10, edits=edits(wake, {"tick": 15, "answer": 2, "value": 4}), record=path)
    assert (result.live, result.answered, outside.calls) == (0, 3, 2)
    outside.shut = False
    path = recording.path.with_name("live.sqlite")
    result = branch(recording, made, at=10, edits=edits(wake), calls="live", record=path)
    assert (result.live, result.answered, outside.calls) == (1, 2, 3)
    assert "1 result of calls asked for outside" in result.as_text()
    outside.shut = True
    with Recording.open(path) as branched:
        assert answers(branched)[2].value == {"number": 2, "words": ["yes", None, 2.5], "pair": (2, b"\x00")}
        assert replay(branched, made).is_same


def test_a_result_is_for_calls_of_the_same_function(record):
    """In the recording the third call is the fisher's; in the branch the asker wakes before, and makes it."""

    def fish():
        return "a carp"

    class Asker(yard.Clerk):
        async def run(self, ctx, args):
            await ctx.entity.rung.wait()
            ctx.agent.runtime.note(repr(await ctx.call(self.function, 0)))
            await ctx.sleep_ticks(1000)

    class Fisher(yard.Action):
        does = yard.TOP
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(14)
            ctx.agent.runtime.note(await ctx.call(fish))
            await ctx.sleep_ticks(1000)

    def make(*, seed, host):
        runtime = yard.Runtime(seed, host=host)
        asker = yard.Person("asker")
        runtime.add(yard.Agent(asker, name="asker", actions=[Asker]))
        runtime.add(yard.Agent(yard.Person("fisher"), name="fisher", actions=[Fisher]))
        runtime.on_input("wake", asker.rung.emit)
        return runtime

    recording = record(make, ticks=20)
    assert [(one.tick, one.number, one.name.rpartition(".")[2]) for one in recording.inputs()] == [(16, 0, "fish")]
    wake = {"tick": 12, "send": "wake"}
    with pytest.raises(UnansweredCallError, match=r"in tick 12 the branch calls ask \(call 0\)"):
        branch(recording, make, at=10, edits=edits(wake))
    with pytest.raises(UnansweredCallError, match=r"in tick 15 the branch calls .*fish \(call 1\)"):
        branch(
            recording,
            make,
            at=10,
            edits=edits(wake, {"tick": 14, "answer": 0, "value": 2}),
        )
    script = edits(wake, {"tick": 14, "answer": 0, "value": 2}, {"tick": 17, "answer": 1, "value": "a trout"})
    path = recording.path.with_name("branch.sqlite")
    made = branch(recording, make, at=10, edits=script, record=path)
    assert (made.answered, made.left_over) == (2, 1)
    with Recording.open(path) as branched:
        assert notes(branched.records()) == [(14, "2"), (17, "a trout")]


# --- what stands against it -------------------------------------------------------------------------------------------


def test_a_branch_begins_where_the_replay_is_the_same(record):
    class Chase(yard.Chase):
        does = yard.TOP
        utility = 0.7

    recording = record(ticks=30, between=yard.ringing)
    with pytest.raises(ReplayDifferenceError, match="the replay differs in tick 3, before tick 20") as caught:
        branch(recording, yard.Yard(chase=Chase), at=20)
    assert (caught.value.code, caught.value.tick) == ("ART234", 3)
    assert "  - 3 guard 1 agentrt:top/Chase ready utility=0.6\n" in str(caught.value)


@pytest.mark.parametrize("at", [-1, 31])
def test_a_branch_begins_within_the_recording(record, at):
    with pytest.raises(ReplayError, match=f"it has no tick {at} to branch at. Choose one from 0 to 30"):
        branch(record(ticks=30), yard.Yard(), at=at)


def test_calls_are_recorded_or_live(record):
    with pytest.raises(ValueError, match="calls is 'never': choose 'recorded' or 'live'"):
        branch("nowhere", at=1, calls="never")


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (
            {"tick": 17, "drop": "say"},
            "nothing to drop: the input 'say' does not come in in tick 17. In that tick comes in: 'ring'",
        ),
        (
            {"tick": 18, "change": "ring", "args": {}},
            "the input 'ring' does not come in in tick 18. In that tick comes in: nothing",
        ),
        ({"tick": 17, "drop": 99}, "nothing to drop: the result of call 99 does not come in in tick 17"),
        ({"tick": 15, "send": "say"}, "tick 15 is before the branch, which begins after tick 15"),
    ],
)
def test_an_edit_that_finds_nothing_is_an_error(record, edit, words):
    with pytest.raises(EditError, match=words) as caught:
        branch(
            record(yard.Yard(clerks=0), ticks=30, between=yard.ringing), yard.Yard(clerks=0), at=15, edits=edits(edit)
        )
    assert caught.value.pointer == "/0"


# --- scripts ----------------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Replay: Scripts of edits are untrusted: bounded, every key known, one kind of error ...")
@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "a script is a list of at most 10000 edits"),
        ([3], "/0: this is a int and no edit"),
        ([{"send": "x"}], "it has no 'tick', a whole number from 1"),
        ([{"tick": True, "send": "x"}], "it has no 'tick'"),
        ([{"tick": 0, "send": "x"}], "it has no 'tick'"),
        ([{"tick": 1}], "it does nothing, and not one of send, drop, change, answer"),
        ([{"tick": 1, "send": "x", "drop": "y"}], "it does send and drop, and not one of"),
        ([{"tick": 1, "send": 3}], "'send' takes the name of an input"),
        ([{"tick": 1, "answer": "x"}], "'answer' takes the name of an input, or the number of a call"),
        ([{"tick": 1, "send": "x", "arg": {}}], "it has a key 'arg' that does not belong there. Did you mean 'args'?"),
        ([{"tick": 1, "send": "x", "args": []}], "'args' are an object"),
        ([{"tick": 1, "change": "x"}], "the 'args' are missing"),
        ([{"tick": 1, "change": 3}], "the result of a call is a 'value' or an 'error'"),
        ([{"tick": 1, "change": 3, "value": 1, "error": "x"}], "the result of a call is a 'value' or an 'error'"),
        ([{"tick": 1, "change": 3, "error": 7}], "'error' is a text, or an error as a recording writes it"),
        ([{"tick": 1, "answer": 3, "value": {"$": "pickle"}}], "nobody knows the tag 'pickle'"),
        ([{"tick": 1, "drop": "x", "args": {}}], "it has a key 'args'"),
    ],
)
def test_a_script_that_is_not_right_says_where(data, words):
    with pytest.raises(EditError, match="ART235") as caught:
        parse_edits(data, file="script.json")
    assert words in str(caught.value)
    assert caught.value.file == "script.json"


@pytest.mark.parametrize(
    ("raw", "words"),
    [(b"[", "the script is no JSON"), (b"\xff", "the script is no JSON"), (b"[" * 100_000, "the script is no JSON")],
)
def test_a_file_that_is_no_script(tmp_path, raw, words):
    (tmp_path / "script.json").write_bytes(raw)
    with pytest.raises(EditError, match=words):
        load_edits(tmp_path / "script.json")
    with pytest.raises(EditError, match="the script cannot be read: No such file"):
        load_edits(tmp_path / "none.json")


def test_a_file_may_not_be_huge(tmp_path):
    (tmp_path / "script.json").write_bytes(b" " * (4 * 1024 * 1024) + b"[]")
    with pytest.raises(EditError, match="longer than 4194304 bytes"):
        load_edits(tmp_path / "script.json")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.sampled_from(["x", "tuple", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["tick", "send", "drop", "change", "answer", "args", "value", "error", "$", "v"]), inner
        )
    ),
    max_leaves=12,
)


@pytest.mark.states(
    "tools: Replay: Scripts of edits are untrusted: bounded, every key known, one kind of error",
    source="design 10",
)
@pytest.mark.slow
@given(json_values)
def test_whatever_a_script_holds_only_an_edit_error_comes_out(data):
    data = json.loads(json.dumps(data))
    for script in (data, [data]):
        try:
            assert all(isinstance(one, Edit) for one in parse_edits(script))
        except EditError:
            pass


@pytest.mark.slow
def test_what_is_changed_keeps_its_place():
    inputs = [RecordedInput(5, place, "sent", -1, name, {}, None, None) for place, name in enumerate("abc")]
    script = edits({"tick": 5, "change": "b", "args": {"n": 1}}, {"tick": 5, "change": "a", "args": {"n": 2}})
    assert [(one.name, one.args) for one in apply_edits(inputs, script, at=4)] == [
        ("a", {"n": 2}),
        ("b", {"n": 1}),
        ("c", {}),
    ]


def test_an_edit_of_a_program_that_does_nothing_that_is_known():
    with pytest.raises(EditError, match="it does 'forget', and not one of send, drop, change, answer"):
        apply_edits([], [Edit(5, "forget", "a")], at=4)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(5, 8), st.sampled_from(["a", "b"])), max_size=8), st.data())
def test_dropping_all_and_sending_all_leaves_the_same_in_the_same_order(course, data):
    """For each tick: what is dropped and sent again comes in the order of the script, all else keeps its place."""
    places = {}
    inputs = []
    for tick, name in sorted(course, key=lambda one: one[0]):
        places[tick] = places.get(tick, -1) + 1
        inputs.append(RecordedInput(tick, places[tick], "sent", -1, name, {"n": len(inputs)}, None, None))
    again = data.draw(st.lists(st.sampled_from(inputs), unique_by=id, max_size=len(inputs)) if inputs else st.just([]))
    again = sorted(again, key=inputs.index)
    script = []
    for one in again:
        script += [{"tick": one.tick, "drop": one.name}, {"tick": one.tick, "send": one.name, "args": {"n": "new"}}]
    result = apply_edits(inputs, edits(*script), at=4)
    assert sorted((one.tick, one.name) for one in result) == sorted((one.tick, one.name) for one in inputs)
    assert [(one.tick, one.place) for one in result] == sorted((one.tick, one.place) for one in result)
    kept = [one for one in result if one.args["n"] != "new"]
    assert kept == sorted(kept, key=inputs.index)
    assert len(kept) == len(inputs) - len(again)


# --- edits that would do nothing ----------------------------------------------------------------------------------------


def test_a_dropped_result_of_a_call_that_is_made_after_the_branch_never_comes(record):
    recording = record(yard.Yard(clerks=1), ticks=40)
    tick = answers(recording)[3].tick
    made = branch(recording, yard.Yard(clerks=1), at=2, edits=edits({"tick": tick, "drop": 3}))
    assert made.answered == 3


def test_an_input_that_nobody_takes_is_an_error(record):
    recording = record(ticks=20)
    with pytest.raises(EditError, match="nobody takes inputs of the name 'rnig'. The world takes ring, say"):
        branch(recording, yard.Yard(), at=5, edits=edits({"tick": 7, "send": "rnig"}))


def test_an_edit_after_the_end_is_an_error(record):
    recording = record(ticks=20)
    with pytest.raises(EditError, match="tick 21 is after the end of the branch, tick 20"):
        branch(recording, yard.Yard(), at=5, edits=edits({"tick": 21, "send": "ring"}))
    branch(recording, yard.Yard(), at=5, edits=edits({"tick": 21, "send": "ring"}), ticks=20)
