"""The checker of traces: it takes sound ones, and finds whatever is left out, doubled or out of place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import load

from agentrt import Runtime
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.testing import check_trace
from agentrt.testing.chaos import play

village = load("tests/chaos/village.py").village

PAIRED = (
    *(
        TraceEvent.THINK,
        TraceEvent.STOP_THINKING,
        TraceEvent.START,
        TraceEvent.STOP,
        TraceEvent.RUN,
        TraceEvent.ACTIVATE,
        TraceEvent.DEACTIVATE,
    ),
    TraceEvent.FINISH,
)


def sound():
    """The lives of the people of a village, by name."""
    runtime = Runtime(5, host="plain")
    records = []
    runtime.trace.listen(records.append)
    play(runtime, 25, village(5)(runtime))
    lives = {}
    for record in records:
        if record.agent:
            lives.setdefault(record.agent, []).append(record)
    return lives


LIVES = sound()
LONG = sorted(name for name, life in LIVES.items() if sum(record.event in PAIRED for record in life) > 1)
PLACES = [(name, index) for name, life in LIVES.items() for index, record in enumerate(life) if record.event in PAIRED]


def test_sound_lives_are_sound():
    assert len(PLACES) > 300
    assert {LIVES[name][index].event for name, index in PLACES} == set(PAIRED)
    for name, life in LIVES.items():
        assert check_trace(life, name) == []


@given(st.sampled_from(PLACES))
def test_whatever_is_left_out_is_found(place):
    name, index = place
    life = LIVES[name]
    event = life[index].event
    found = check_trace([*life[:index], *life[index + 1 :]], name)
    kinds = (*PAIRED, TraceEvent.READY)
    later = next((one.event for one in life[index + 1 :] if one.path == life[index].path and one.event in kinds), None)
    if event is TraceEvent.FINISH:
        # What finished is stopped, as what did not. Only whoever runs before that finds it still running.
        assert {(one.rule, one.text) for one in found} <= {("one chain", f"{life[index].path} runs too")}
    elif found == []:
        # What is ready at once begins so, and may be ready again; what is stopped need not have run.
        assert (event, later) in (
            (TraceEvent.THINK, TraceEvent.READY),
            (TraceEvent.STOP_THINKING, TraceEvent.READY),
            (TraceEvent.RUN, TraceEvent.STOP),
        )


@given(st.sampled_from(PLACES))
def test_whatever_comes_twice_is_found(place):
    name, index = place
    life = LIVES[name]
    assert check_trace([*life[: index + 1], life[index], *life[index + 1 :]], name)


def test_a_strategy_that_is_judged_was_tried():
    """A try that is left out is found, if somebody was judged for it alone; so is whoever is judged twice."""
    tried = judged = 0
    for name, life in LIVES.items():
        for index, record in enumerate(life):
            if record.event in (TraceEvent.SOLVED, TraceEvent.FAILED) and dict(record.detail)["by"]:
                judged += 1
                assert check_trace([*life[: index + 1], record, *life[index + 1 :]], name)
            elif record.event is TraceEvent.TRY:
                before = {one.detail[:2] for one in life[:index] if one.path == record.path}
                later = next((one for one in life[index + 1 :] if one.path == record.path), record)
                if (
                    later.event in (TraceEvent.SOLVED, TraceEvent.FAILED)
                    and later.detail[:2] == record.detail[:2] not in before
                ):
                    tried += 1
                    found = check_trace([*life[:index], *life[index + 1 :]], name)
                    assert "one attempt" in {one.rule for one in found}
    assert tried > 10
    assert judged >= tried


@given(st.sampled_from(LONG), st.data())
def test_time_does_not_go_back(name, data):
    life = [record for record in LIVES[name] if record.event in PAIRED]
    index = data.draw(st.integers(1, len(life) - 1))
    earlier = life[index]._replace(tick=life[index - 1].tick - 1)
    assert "time" in {one.rule for one in check_trace([*life[:index], earlier, *life[index + 1 :]], name)}


def record(path, event, detail=(), tick=1):
    return TraceRecord(tick, "ann", path, event, detail)


def begun(path):
    return [
        record(path, event) for event in (TraceEvent.READY, TraceEvent.START, TraceEvent.STOP_THINKING, TraceEvent.RUN)
    ]


@pytest.mark.parametrize(
    ("rule", "records"),
    [
        ("one per frame", [*begun("top/A"), *begun("top/B")]),
        ("ready first", [record("top/A", event) for event in (TraceEvent.THINK, TraceEvent.START)]),
        ("inner first", [record("top/A", TraceEvent.READY), *begun("top/A/x/B")]),
        ("inner first", [*begun("top/A"), *begun("top/A/x/B"), record("top/A", TraceEvent.STOP)]),
        ("one chain", [*begun("top/A"), *begun("top/A/x/B"), *begun("top/A/y/C")]),
        ("order", [record("top/A", TraceEvent.UNREADY)]),
        ("order", [*begun("top/A"), record("top/A", TraceEvent.READY)]),
        (
            "best elected",
            [record("top", TraceEvent.ELECT, (("action", "A"), ("utility", 0.2), ("ready", "A 0.2, B 0.3")))],
        ),
        (
            "best elected",
            [record("top", TraceEvent.ELECT, (("action", "C"), ("utility", 0.5), ("ready", "A 0.2, B 0.3")))],
        ),
    ],
)
def test_each_rule(rule, records):
    assert rule in {one.rule for one in check_trace(records, "ann", has_ended=False)}


def test_plans_and_performances_run_side_by_side():
    records = [*begun("top/A"), *begun("performed/x/B"), *begun("goals/Wish/x/B")]
    assert check_trace(records, "ann", has_ended=False) == []


def test_a_violation_in_words():
    (violation,) = check_trace([record("top/A", TraceEvent.STOP)], "ann")
    assert str(violation) == "tick 1, ann, top/A: start pairs: it was not started"
