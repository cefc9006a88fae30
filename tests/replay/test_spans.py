"""Spans: what lasted, folded from records. In one lane they lie beside or within each other, whatever happens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import load

from agentrt import TOP, Action, Agent, CompoundAction, Runtime, step
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.record.spans import Span, SpanBuilder

yard = load("tests/replay/yard.py")


def rec(tick, path, event, agent="Ann", **detail):
    return TraceRecord(tick, agent, path, TraceEvent(event), tuple(detail.items()))


def fold(records, **options):
    builder = SpanBuilder(**options)
    for record in records:
        builder.feed(record)
    return builder


def short(spans):
    return [(span.lane, span.depth, span.name, span.begin, span.end, span.outcome) for span in spans]


# --- the plan ---------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Replay: What ran lasts from its run to its finish or stop, on the lane of its model; spans of a lane "
    "never cross",
    source="design 7",
)
def test_an_action_lasts_from_run_to_finish_and_what_it_is_part_of_longer():
    spans = fold(
        [
            rec(1, "top/Paint", "start"),
            rec(1, "top/Paint/draw/Draw", "start"),
            rec(1, "top/Paint", "run"),
            rec(1, "top/Paint/walk/Walk", "run"),
            rec(5, "top/Paint/walk/Walk", "finish"),
            rec(5, "top/Paint/draw/Draw", "run"),
            rec(9, "top/Paint/draw/Draw", "finish"),
            rec(9, "top/Paint", "finish"),
            rec(9, "top/Paint/walk/Walk", "stop"),
            rec(9, "top/Paint/draw/Draw", "stop"),
            rec(9, "top/Paint", "stop"),
        ]
    ).spans("Ann")
    assert short(spans) == [
        ("plan", 1, "Walk", 1, 5, "finished"),
        ("plan", 1, "Draw", 5, 9, "finished"),
        ("plan", 0, "Paint", 1, 9, "finished"),
    ]
    assert spans[1] == Span("Ann", "plan", 1, "top/Paint/draw/Draw", "Draw", 5, 9, "finished", "", 1, 0)


def test_what_is_preempted_or_aborted_says_so_and_why():
    spans = fold(
        [
            rec(1, "top/Idle", "run"),
            rec(1, "top/Idle/stand/Stand", "run"),
            rec(3, "top/Idle", "preempt", by="Work", utility=0.5, against=0.1),
            rec(3, "top/Idle/stand/Stand", "stop"),
            rec(3, "top/Idle", "stop"),
            rec(3, "top/Work", "run"),
            rec(3, "top/Work/dig/Dig", "run"),
            rec(4, "top/Work/dig/Dig", "abort", reason="hit a stone"),
            rec(6, "top/Work/dig/Dig", "stop"),
            rec(6, "top/Work", "stop"),
            rec(7, "top/Idle", "run"),
            rec(8, "top/Idle", "stop"),
        ]
    ).spans("Ann")
    assert [(*one[1:], span.reason) for one, span in zip(short(spans), spans, strict=True)] == [
        (1, "Stand", 1, 3, "preempted", "preempted by Work"),
        (0, "Idle", 1, 3, "preempted", "preempted by Work"),
        (1, "Dig", 3, 6, "aborted", "hit a stone"),
        (0, "Work", 3, 6, "aborted", "hit a stone"),
        (0, "Idle", 7, 8, "stopped", ""),
    ]


def test_an_abort_ends_only_the_plan_or_performance_that_it_is_of():
    builder = fold(
        [
            rec(1, "goals/hunt", "start", priority=1),
            rec(1, "goals/hunt/mod:chase/Chase", "run"),
            rec(1, "mod:top/Idle", "run"),
            rec(2, "mod:top/Other/mod:x/X", "abort", reason="thought so"),
            rec(2, "mod:top/Idle", "stop"),
            rec(3, "goals/hunt/mod:chase", "abort", reason="cancelled"),
            rec(3, "goals/hunt/mod:chase/Chase", "stop"),
            rec(4, "goals/hunt", "stop", reason="replaced by goals/flee"),
        ]
    )
    assert short(builder.spans("Ann")) == [
        ("plan", 0, "Idle", 1, 2, "aborted"),
        ("goals", 1, "Chase", 1, 3, "aborted"),
        ("goals", 0, "hunt", 1, 4, "preempted"),
    ]


def test_what_was_to_be_preempted_may_finish_in_the_same_moment():
    spans = fold([rec(1, "top/A", "run"), rec(2, "top/A", "preempt", by="B"), rec(2, "top/A", "finish")]).spans("Ann")
    assert [(span.outcome, span.reason) for span in spans] == [("finished", "")]


# --- drivers ----------------------------------------------------------------------------------------------------------


def test_two_goals_that_run_together_have_lanes_of_their_own():
    builder = fold(
        [
            rec(1, "goals/walk", "start", priority=2),
            rec(2, "goals/sing", "start", priority=1),
            rec(2, "goals/sing/mod:hum/Hum", "run"),
            rec(3, "goals/walk", "stop", reason="it cannot continue"),
            rec(4, "goals/swim", "start", priority=2),
            rec(5, "goals/sing/mod:hum/Hum", "finish"),
            rec(6, "goals/sing", "stop", reason="replaced by goals/shout"),
        ]
    )
    assert short(builder.spans("Ann")) == [
        ("goals", 0, "walk", 1, 3, "finished"),
        ("goals 2", 1, "Hum", 2, 5, "finished"),
        ("goals 2", 0, "sing", 2, 6, "preempted"),
        ("goals", 0, "swim", 4, None, "open"),
    ]


def test_two_that_lie_within_the_same_and_beside_each_other_have_lanes_of_their_own():
    builder = fold(
        [
            rec(1, "tree/R", "activate", behavior=None),
            rec(2, "tree/R/S", "activate", behavior=None),
            rec(3, "tree/R/T", "activate", behavior=None),
            rec(4, "tree/R/S", "deactivate", reason="failed"),
            rec(5, "tree/R/T", "deactivate", reason="failed"),
            rec(6, "tree/R/S", "activate", behavior=None),
        ]
    )
    assert short(builder.spans("Ann")) == [
        ("tree", 1, "S", 2, 4, "stopped"),
        ("tree 2", 0, "T", 3, 5, "stopped"),
        ("tree", 0, "R", 1, None, "open"),
        ("tree", 1, "S", 6, None, "open"),
    ]
    assert_nested(builder.spans("Ann"))


def test_a_goal_that_was_stopped_is_there_until_its_clean_up_is_over():
    spans = fold(
        [
            rec(1, "goals/hunt", "start", priority=2),
            rec(1, "goals/hunt/mod:chase/Chase", "run"),
            rec(4, "goals/hunt", "stop", reason="its run raised"),
            rec(6, "goals/hunt/mod:chase/Chase", "stop"),
        ]
    ).spans("Ann")
    assert short(spans) == [("goals", 1, "Chase", 1, 6, "stopped"), ("goals", 0, "hunt", 1, 6, "aborted")]


def test_deciders_lie_within_each_other_and_leaves_follow_each_other():
    spans = fold(
        [
            rec(1, "tree/ROOT", "activate", behavior=None),
            rec(1, "tree/ROOT/GUARD", "activate", behavior="GUARD"),
            rec(1, "stance/Root/Calm", "activate", behavior="Calm"),
            rec(3, "stance/Root/Calm", "deactivate", reason="another one is selected"),
            rec(3, "stance/Root/Angry", "activate", behavior="Angry"),
            rec(4, "tree/ROOT/GUARD", "deactivate", behavior="GUARD", reason="gives MOVE to flee"),
            rec(4, "tree/ROOT/EAT", "activate", behavior="EAT"),
            rec(5, "tree/ROOT/EAT", "deactivate", behavior="EAT", reason="failed"),
        ]
    ).spans("Ann")
    assert short(spans) == [
        ("stance", 0, "Calm", 1, 3, "preempted"),
        ("tree", 1, "GUARD", 1, 4, "preempted"),
        ("tree", 1, "EAT", 4, 5, "stopped"),
        ("tree", 0, "ROOT", 1, None, "open"),
        ("stance", 0, "Angry", 3, None, "open"),
    ]


def test_a_plan_is_the_plan_whatever_its_top_is_called():
    records = [rec(1, "live/Work", "run"), rec(1, "live/Work/dig/Dig", "run"), rec(1, "performed/sing/Sing", "run")]
    assert [(span.lane, span.name) for span in fold(records).spans("Ann")] == [
        ("plan", "Work"), ("plan", "Dig"), ("performed", "Sing"),
    ]  # fmt: skip


def test_what_began_before_is_not_known_and_what_ends_for_good_is_closed():
    builder = fold(
        [
            rec(5, "top/A/b/B", "stop"),
            rec(5, "top/A", "finish"),
            rec(6, "top/C", "run"),
            rec(6, "top/C/d/D", "run"),
            rec(9, "", "removed"),
        ]
    )
    assert short(builder.spans("Ann")) == [("plan", 1, "D", 6, 9, "stopped"), ("plan", 0, "C", 6, 9, "stopped")]
    assert [span.reason for span in builder.spans("Ann")] == ["removed", "removed"]


def test_a_beginning_without_the_end_before_closes_what_was_there():
    spans = fold([rec(1, "top/A", "run"), rec(2, "top/A/b/B", "run"), rec(4, "top/A", "run")]).spans("Ann")
    assert short(spans) == [
        ("plan", 1, "B", 2, 4, "stopped"), ("plan", 0, "A", 1, 4, "stopped"), ("plan", 0, "A", 4, None, "open"),
    ]  # fmt: skip


# --- what is kept -----------------------------------------------------------------------------------------------------


def test_feeding_tells_what_ended_and_a_range_of_ticks_can_be_asked_for():
    builder = SpanBuilder()
    assert builder.feed(rec(1, "top/A", "run")) == []
    assert short(builder.feed(rec(4, "top/A", "finish"))) == [("plan", 0, "A", 1, 4, "finished")]
    builder.feed(rec(6, "top/B", "run"))
    assert [span.name for span in builder.open_spans("Ann")] == ["B"]
    assert builder.agents == ("Ann",)
    for first, last, names in ((1, 4, "A"), (4, 4, "A"), (5, 5, ""), (5, 6, "B"), (None, 5, "A"), (5, None, "B")):
        assert "".join(span.name for span in builder.spans("Ann", first, last)) == names
    assert builder.spans("nobody") == builder.open_spans("nobody") == []


def test_it_is_bounded_and_counts_what_it_dropped():
    records = [rec(tick, "top/A", event) for tick in range(1, 11) for event in ("run", "finish")]
    builder = fold(records, keep=3)
    assert [span.begin for span in builder.spans("Ann")] == [8, 9, 10]
    assert builder.dropped == 7
    builder = fold(rec(tick, "", "removed", agent=f"{tick}") for tick in range(300))
    assert (len(builder.agents), builder.agents[0]) == (200, "100")
    builder = fold(rec(1, f"top/{number}", "run") for number in range(1200))
    assert (len(builder.open_spans("Ann")), builder.dropped) == (1000, 200)


# --- always -----------------------------------------------------------------------------------------------------------


def assert_nested(spans):
    """In one lane two spans lie beside each other or one within the other; depth says how many lie around."""

    def key(span, at):
        return (at, span.first if at == span.begin else span.last)

    lanes = {}
    for span in spans:
        lanes.setdefault((span.agent, span.lane), []).append(span)
    for lane in lanes.values():
        for span in lane:
            begin, end = (span.begin, span.first), (1e9, 0) if span.end is None else (span.end, span.last)
            around = 0
            for other in lane:
                if other is span:
                    continue
                start, stop = (other.begin, other.first), (1e9, 0) if other.end is None else (other.end, other.last)
                assert (
                    stop <= begin
                    or end <= start
                    or (start <= begin and end <= stop)
                    or (begin <= start and stop <= end)
                )
                if start < begin and (end < stop or (end == stop and other.depth < span.depth)):
                    around += 1
            assert around == span.depth, span


paths = st.sampled_from(
    [
        "top/A",
        "top/A/b/B",
        "top/A/b/B/c/C",
        "top/D",
        "goals/x",
        "goals/x/m:p/P",
        "goals/y",
        "tree/R",
        "tree/R/S",
        "tree/R/T",
    ]
)
events = st.sampled_from(["run", "finish", "stop", "start", "activate", "deactivate", "preempt", "abort", "removed"])
courses = st.lists(
    st.builds(
        lambda later, path, event: (
            later,
            path,
            event,
            {"reason": "r"} if event in ("start", "stop") and "/" in path else {},
        ),
        st.integers(0, 1),
        paths,
        events,
    ),
    max_size=60,
)


@pytest.mark.states("tools: Replay: What ran lasts from its run to its finish or stop, on the lane of its model ...")
@pytest.mark.slow
@given(courses)
def test_whatever_is_fed_the_spans_of_a_lane_lie_within_or_beside_each_other(course):
    tick, records = 1, []
    for later, path, event, detail in course:
        tick += later
        records.append(rec(tick, path, event, **detail))
    builder = SpanBuilder(keep=None)
    ended = [span for record in records for span in builder.feed(record)]
    assert_nested([*ended, *builder.open_spans("Ann")])
    assert all(span.outcome != "open" and span.end >= span.begin for span in ended)
    assert sorted(ended) == sorted(span for span in builder.spans("Ann") if span.end is not None)


def test_a_run_of_an_agent_gives_the_spans_that_it_had():
    class Walk(Action):
        does = "mod:walk"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(3)

    class Draw(Walk):
        does = "mod:draw"

        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)
            if ctx.clock.tick > 8:
                ctx.abort("no paper")

    class Paint(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (step("mod:walk"), step("mod:draw"))

    class Flee(Walk):
        does = TOP
        utility = 0.9

        async def think(self, ctx, args):
            await ctx.sleep_ticks(max(0, 14 - ctx.clock.tick))
            ctx.set_think_output()

    runtime = Runtime(host="plain")
    builder = SpanBuilder()
    runtime.trace.listen(builder.feed)
    runtime.add(Agent(object(), name="Ann", actions=[Walk, Draw, Paint, Flee]))
    for _ in range(18):
        runtime.step()
    assert short(builder.spans("Ann")) == [
        ("plan", 1, "Walk", 1, 4, "finished"),
        ("plan", 1, "Draw", 4, 6, "finished"),
        ("plan", 0, "Paint", 1, 6, "finished"),
        ("plan", 1, "Walk", 6, 9, "finished"),
        ("plan", 1, "Draw", 9, 11, "aborted"),
        ("plan", 0, "Paint", 6, 11, "aborted"),
        ("plan", 1, "Walk", 12, 14, "preempted"),
        ("plan", 0, "Paint", 12, 14, "preempted"),
        ("plan", 0, "Flee", 14, 17, "finished"),
        ("plan", 0, "Flee", 17, None, "open"),
    ]
    assert_nested(builder.spans("Ann"))
    runtime.close()
