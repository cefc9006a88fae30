"""Spans of strategies: a lane of their own, from what is tried to what became of it, whatever happens in between."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt import Agent, move_on_after
from agentrt.errors import AgentRTError
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.record.export import SpanFold, Timeline
from agentrt.record.spans import FAILED, STRATEGIES, SpanBuilder
from agentrt.strategy import Interruptible, Trigger
from agentrt.testing import Have, Simulation, stub_strategy
from agentrt.testing.strategies import gameplays, schedules
from agentrt.testing.strategies import play as play_schedule

NEED = "top/Live"
WAY = "top/Live/mod:get/TheWay"


def rec(tick, path, event, **detail):
    return TraceRecord(tick, "Ann", path, TraceEvent(event), tuple(detail.items()))


def tried(tick, path=NEED, wanted="Get", by="The Way"):
    return rec(tick, path, "try", wanted=wanted, by=by)


def judged(tick, event="solved", path=NEED, wanted="Get", by="The Way", **detail):
    return rec(tick, path, event, wanted=wanted, by=by, **detail)


def fold(*records):
    builder = SpanBuilder()
    ended = [span for record in records for span in builder.feed(record)]
    assert ended == [span for span in builder.spans("Ann") if span.end is not None]
    return builder


def short(builder):
    return [(span.lane, span.depth, span.name, span.begin, span.end, span.outcome) for span in builder.spans("Ann")]


LIVES = rec(1, NEED, "run")


@pytest.mark.states(
    "003: Views: Strategies have a lane of their own in time lines and exports, each from its run to what became of "
    "it; spans of a lane never cross",
    source="design 7",
)
def test_a_strategy_lasts_until_it_is_known_what_became_of_it():
    builder = fold(LIVES, tried(2), rec(2, WAY, "run"), rec(5, WAY, "finish"), rec(5, WAY, "stop"), judged(5))
    assert short(builder) == [
        ("strategies", 0, "Get by The Way", 2, 5, "finished"),
        ("plan", 0, "Live", 1, None, "open"),
    ]
    assert builder.spans("Ann")[0].path == WAY


def test_what_failed_says_why_though_its_action_came_to_its_end():
    builder = fold(
        LIVES,
        tried(2),
        rec(2, WAY, "run"),
        rec(5, WAY, "finish"),
        rec(5, WAY, "stop"),
        judged(5, "failed", reason="no"),
    )
    assert [(span.outcome, span.reason) for span in builder.spans("Ann")[:1]] == [(FAILED, "no")]


def test_what_begins_again_was_stopped_in_the_tick_in_which_it_ended():
    records = [LIVES, tried(2), rec(2, WAY, "run"), rec(4, WAY, "finish"), rec(4, WAY, "stop")]
    records += [tried(6), rec(6, WAY, "run"), rec(9, WAY, "finish"), judged(9)]
    assert short(fold(*records))[:2] == [
        ("strategies", 0, "Get by The Way", 2, 4, "stopped"),
        ("strategies", 0, "Get by The Way", 6, 9, "finished"),
    ]


def test_begins_again_in_the_same_tick():
    records = [LIVES, tried(2), rec(2, WAY, "run"), rec(2, WAY, "stop"), tried(2), rec(2, WAY, "run"), judged(3)]
    assert short(fold(*records))[0] == ("strategies", 0, "Get by The Way", 2, 2, "stopped")


def test_needs_and_what_is_executed_lie_within():
    inner = f"{WAY}/mod:part/Other#2"
    records = [LIVES, tried(2), rec(2, WAY, "run"), tried(3, WAY, "Part", "Other"), rec(3, inner, "run")]
    records += [rec(3, f"{inner}/mod:walk/Walk", "run"), rec(4, f"{inner}/mod:walk/Walk", "finish")]
    records += [rec(5, inner, "finish"), judged(5, "solved", WAY, "Part", "Other"), rec(6, WAY, "finish"), judged(6)]
    assert short(fold(*records))[:3] == [
        ("strategies", 2, "Walk", 3, 4, "finished"),
        ("strategies", 1, "Part by Other", 3, 5, "finished"),
        ("strategies", 0, "Get by The Way", 2, 6, "finished"),
    ]


def test_an_action_of_another_name_is_no_strategy():
    walk = f"{NEED}/mod:walk/Walk"
    assert short(fold(LIVES, tried(2), rec(2, walk, "run"), rec(3, walk, "finish")))[0] == (
        "plan", 1, "Walk", 2, 3, "finished",
    )  # fmt: skip


def test_an_abort_below_a_strategy_ends_that_one_alone():
    walk = f"{WAY}/mod:walk/Walk"
    records = [LIVES, tried(2), rec(2, WAY, "run"), rec(3, walk, "run"), rec(4, walk, "abort", reason="lost")]
    records += [rec(4, walk, "stop"), rec(4, WAY, "stop"), judged(4, "failed", reason="lost")]
    builder = fold(*records, rec(9, NEED, "stop"))
    assert [(span.name, span.outcome, span.reason) for span in builder.spans("Ann")] == [
        ("Walk", "aborted", "lost"), ("Get by The Way", "failed", "lost"), ("Live", "stopped", ""),
    ]  # fmt: skip


def test_who_is_not_judged_and_followed_by_another():
    other = f"{NEED}/mod:get/Other"
    records = [LIVES, tried(2), rec(2, WAY, "run"), rec(2, WAY, "stop"), tried(2, by="Other"), rec(2, other, "run")]
    builder = fold(*records, rec(2, other, "finish"), judged(2, by="Other"))
    assert [span[2:] for span in short(builder)[:2]] == [
        ("Get by The Way", 2, 2, "stopped"), ("Get by Other", 2, 2, "finished"),
    ]  # fmt: skip


def test_an_abort_below_a_need_is_not_that_of_who_needs_it():
    inner = f"{WAY}/mod:part/Other"
    records = [LIVES, tried(2), rec(2, WAY, "run"), tried(3, WAY, "Part", "Other"), rec(3, inner, "run")]
    records += [rec(4, inner, "abort", reason="lost"), rec(4, inner, "stop")]
    records += [judged(4, "failed", WAY, "Part", "Other", reason="lost"), rec(6, WAY, "stop"), rec(7, NEED, "stop")]
    assert [(span[2], span[5]) for span in short(fold(*records))] == [
        ("Part by Other", "failed"), ("Get by The Way", "stopped"), ("Live", "stopped"),
    ]  # fmt: skip


def test_who_failed_before_he_ran_gives_nobody_else_his_name():
    records = [
        LIVES,
        tried(2),
        judged(2, "failed", reason="it cannot begin"),
        rec(3, WAY, "run"),
        rec(4, WAY, "finish"),
    ]
    assert short(fold(*records))[0] == ("plan", 1, "TheWay", 3, 4, "finished")


def test_who_is_removed_meanwhile():
    records = [LIVES, tried(2), rec(2, WAY, "run"), rec(3, WAY, "stop"), rec(3, "", "removed"), tried(3), judged(4)]
    assert {span.outcome for span in fold(*records).spans("Ann")} == {"stopped"}


def test_exports_tell_a_failure_as_an_error():
    otel = pytest.importorskip("opentelemetry.sdk.trace")
    from agentrt.record.export import OtelExport

    told = []

    class Exporter:
        def export(self, spans):
            told.extend(spans)

        def shutdown(self):
            pass

    export = OtelExport(Exporter(), ticks_per_second=20)
    way = [tried(2), rec(2, WAY, "run"), rec(5, WAY, "finish")]
    for record in (LIVES, *way, judged(5, "failed", reason="no"), rec(6, NEED, "finish")):
        export.feed(record)
    export.close()
    failed = next(span for span in told if span.name == "Get by The Way")
    assert (failed.status.status_code, failed.status.description) == (
        otel.Status(otel.StatusCode.ERROR).status_code,
        "no",
    )


def test_what_came_up_is_a_moment_of_who_was_interrupted():
    fold_ = SpanFold(Timeline(20))
    records = [LIVES, tried(2), rec(2, WAY, "run"), rec(3, WAY, "interrupted", by="rain"), rec(4, WAY, "resumed")]
    told = [one for record in [*records, rec(5, WAY, "finish"), judged(5)] for one in fold_.feed(record)]
    assert [record.event.value for _, record in told[0].moments] == ["interrupted", "resumed"]


# --- whatever happens -------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Views: Strategies have a lane of their own in time lines and exports, each from its run ...")
@pytest.mark.slow
@given(gameplays(), schedules(st.sampled_from(["ask", "rain", "spend", "limit"]), ticks=30, max_size=8))
@settings(max_examples=60)
def test_lanes_nest_and_each_strategy_that_ran_has_its_end(case, happenings):
    sim = Simulation()
    agent = sim.add(Agent(case.body(), name="Ann"))
    agent.gameplay.add_strategy(*case.strategies(), stub_strategy(cost=9.0, takes=4, label="Last", interruption=WAIT))
    agent.gameplay.add_trigger(Trigger(name="rain", on="rain", solve=Have("d"), priority=1))

    async def ask(seconds):
        try:
            with move_on_after(seconds):
                await agent.gameplay.solve(case.wanted)
        except AgentRTError:
            pass

    def do(what):
        if what == "ask":
            sim.runtime.spawn(ask, 100.0)
        elif what == "limit":
            sim.runtime.spawn(ask, 0.2)
        elif what == "spend":
            agent.entity.goods.clear()
        else:
            agent.signal("rain").emit()

    play_schedule(sim, happenings, do, ticks=120)
    sim.close()
    builder = SpanBuilder(keep=None)
    for record in sim.trace:
        builder.feed(record)
    spans = builder.spans("Ann")
    assert all(span.end is not None for span in spans)
    lanes = [span for span in spans if span.lane.startswith(STRATEGIES)]
    assert len([span for span in lanes if " by " in span.name]) == len(runs_of_strategies(sim.trace))
    outcomes = [span.outcome for span in lanes]
    assert outcomes.count(FAILED) <= sum(record.event is TraceEvent.FAILED for record in sim.trace)
    assert_nested(lanes)


WAIT = Interruptible.WAIT


def runs_of_strategies(trace):
    """The runs of strategies, by their names: what else runs in these worlds is the request itself."""
    return [record for record in trace if record.event is TraceEvent.RUN and not record.path.endswith("/SolveRequest")]


def assert_nested(spans):
    for lane in {span.lane for span in spans}:
        open_ = []
        for span in sorted((one for one in spans if one.lane == lane), key=lambda one: (one.begin, one.first)):
            while open_ and (open_[-1].end, open_[-1].last) <= (span.begin, span.first):
                open_.pop()
            assert len(open_) == span.depth
            if open_:
                assert (span.end, span.last) <= (open_[-1].end, open_[-1].last)
            open_.append(span)
