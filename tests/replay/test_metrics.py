"""Metrics: what is counted, in which units, whose labels are bounded; and that counting changes nothing."""

from __future__ import annotations

import math
import sys
from types import SimpleNamespace

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from agentrt import TOP, Action, Agent, Restart, Runtime
from agentrt.errors import MissingExtraError
from agentrt.kernel.trace import TraceDigest, TraceEvent, TraceRecord
from agentrt.record import PrometheusExport


class Ponder(Action):
    """Thinks for a second, acts for half of one; aborts if it is ill."""

    does = TOP
    utility = 0.5

    async def think(self, ctx, args):
        await ctx.sleep(1.0)
        ctx.set_think_output()

    async def run(self, ctx, args):
        if ctx.entity.is_ill:
            ctx.abort("ill")
        await ctx.sleep(0.5)


class Refuse(Action):
    """Says no after a fifth of a second."""

    does = TOP
    utility = 0.4

    async def think(self, ctx, args):
        await ctx.sleep(0.2)
        ctx.reject("no")


def agent(*actions, name="ann", is_ill=False):
    return Agent(SimpleNamespace(is_ill=is_ill), name=name, actions=list(actions))


@pytest.fixture
def registry():
    return CollectorRegistry()


@pytest.fixture
def value(registry):
    """The value of a sample; None if there is none."""
    return lambda name, **labels: registry.get_sample_value(f"agentrt_{name}", labels)


@pytest.fixture
def runtime():
    made = Runtime(host="plain", ticks_per_second=10)
    yield made
    made.close()


def step(runtime, ticks):
    for _ in range(ticks):
        runtime.step()


def test_names_kinds_and_help_follow_the_conventions(registry):
    PrometheusExport(registry)
    families = list(text_string_to_metric_families(generate_latest(registry).decode()))
    assert {one.name: one.type for one in families if not one.name.endswith("_created")} == {
        "agentrt_ticks": "counter",  # with the suffix _total, as every counter
        "agentrt_tick_lateness_seconds": "histogram",
        "agentrt_agents": "gauge",
        "agentrt_plan_aborts": "counter",
        "agentrt_agent_restarts": "counter",
        "agentrt_think_seconds": "histogram",
    }
    assert all(one.documentation.endswith(".") for one in families if not one.name.endswith("_created"))


def test_what_happens_is_counted(runtime, registry, value):
    runtime.add(agent(Ponder))
    step(runtime, 5)
    end = PrometheusExport(registry).watch(runtime)
    assert (value("ticks_total"), value("agents")) == (0, 1)
    step(runtime, 40)
    runtime.add(agent(Refuse, name="bob"))
    step(runtime, 1)
    assert (value("ticks_total"), value("agents")) == (41, 2)
    assert (value("plan_aborts_total"), value("agent_restarts_total")) == (0, 0)
    end()
    end()
    step(runtime, 10)
    assert (value("ticks_total"), value("agents")) == (41, 0)  # nobody that it knows of lives
    assert not runtime.trace.on


def test_aborts_and_restarts(registry, value):
    runtime = Runtime(host="plain", ticks_per_second=10, restart=Restart(first=1.0, most=3.0))
    PrometheusExport(registry).watch(runtime)

    class Fail(Ponder):
        async def think(self, ctx, args):
            ctx.set_think_output()

    runtime.add(agent(Fail, is_ill=True))
    step(runtime, 10)
    assert (value("plan_aborts_total"), value("agent_restarts_total")) == (10, 0)
    step(runtime, 11)
    assert (value("plan_aborts_total"), value("agent_restarts_total"), value("agents")) == (12, 1, 1)
    runtime.close()
    assert value("agents") == 0


def test_think_time_is_game_time_until_the_answer(runtime, registry, value):
    PrometheusExport(registry).watch(runtime)
    runtime.add(agent(Ponder))
    step(runtime, 9)
    assert value("think_seconds_count", activity=TOP) is None  # it still thinks
    step(runtime, 3)
    assert (value("think_seconds_count", activity=TOP), value("think_seconds_sum", activity=TOP)) == (1, 1.0)
    assert value("think_seconds_bucket", activity=TOP, le="0.5") == 0
    assert value("think_seconds_bucket", activity=TOP, le="1.0") == 1


def test_a_refusal_is_an_answer_and_a_thought_that_was_stopped_has_none(runtime, registry, value):
    PrometheusExport(registry).watch(runtime)
    runtime.add(agent(Refuse))
    step(runtime, 4)
    assert value("think_seconds_count", activity=TOP) == 1
    assert value("think_seconds_sum", activity=TOP) == pytest.approx(0.2)
    (ann,) = runtime.agents
    bob = runtime.add(agent(Ponder, name="bob"))
    step(runtime, 5)
    runtime.remove(ann)
    runtime.remove(bob)
    step(runtime, 10)
    assert value("think_seconds_count", activity=TOP) == 1
    assert value("agents") == 0


def test_the_step_of_a_compound_action_is_no_part_of_the_label(runtime, registry, value):
    PrometheusExport(registry).watch(runtime)
    for path in ("top/A/eat#3/Eat", "top/A/eat/Eat"):
        for tick, event in ((1, TraceEvent.THINK), (6, TraceEvent.READY)):
            runtime.trace.emit(TraceRecord(tick, "ann", path, event))
    assert value("think_seconds_count", activity="eat") == 2
    assert value("think_seconds_sum", activity="eat") == 1.0


def test_the_number_of_labels_has_a_bound(runtime, registry, value):
    PrometheusExport(registry).watch(runtime)
    for number in range(1000):
        for event in (TraceEvent.THINK, TraceEvent.READY):
            runtime.trace.emit(TraceRecord(1, "ann", f'top/A/{number}\n"/B', event))
    (family,) = [one for one in registry.collect() if one.name == "agentrt_think_seconds"]
    assert len({sample.labels["activity"] for sample in family.samples}) == 201
    assert value("think_seconds_count", activity="other") == 800
    generate_latest(registry)


def test_several_runtimes_add_up_and_registries_stay_apart(registry, value):
    export, other = PrometheusExport(registry), CollectorRegistry()
    PrometheusExport(other)
    one, two = Runtime(host="plain"), Runtime(host="plain")
    ends = [export.watch(one), export.watch(two)]
    one.add(agent(Ponder))
    two.add(agent(Ponder))
    two.add(agent(Ponder))
    step(one, 2)
    step(two, 3)
    assert (value("ticks_total"), value("agents")) == (5, 3)
    ends[1]()
    assert (value("ticks_total"), value("agents")) == (5, 1)
    assert other.get_sample_value("agentrt_ticks_total") == 0
    one.close()
    two.close()
    with pytest.raises(ValueError, match="agentrt_ticks"):
        PrometheusExport(registry)


def test_lateness_is_that_of_the_pace(asyncio_player, registry, value):
    """A tick that takes 1.05 s of the loop's time: the next four begin late, by less and less."""
    runtime = asyncio_player.runtime(ticks_per_second=10)
    PrometheusExport(registry).watch(runtime)
    late = []
    runtime.after_tick(lambda: late.append(round(runtime.lateness, 6)))

    async def main():
        import asyncio

        loop = asyncio.get_running_loop()
        runtime.every_tick(lambda: setattr(loop, "now", loop.now + 1.05) if runtime.tick == 2 else None)
        await runtime.run(7, catch_up=3)
        await runtime.aclose()

    asyncio_player(main)
    assert late[:7] == [0.0, 0.0, 0.35, 0.25, 0.15, 0.05, 0.0]
    assert value("tick_lateness_seconds_count") >= 7
    assert value("tick_lateness_seconds_bucket", le="0.25") >= 5


def test_who_steps_is_never_late(runtime, registry, value):
    PrometheusExport(registry).watch(runtime)
    step(runtime, 3)
    assert (runtime.lateness, value("tick_lateness_seconds_count"), value("ticks_total")) == (0.0, 0, 3)


@pytest.mark.states("tools: Outside: Metrics for Prometheus: watching changes no digest, on any host")
def test_watching_changes_no_digest(play, registry):
    digests = []
    for is_watched in (False, True):
        runtime = play.runtime(seed=3, ticks_per_second=10, restart=Restart(first=0.5, most=1.0))
        runtime.add(agent(Ponder, Refuse, is_ill=True))
        runtime.add(agent(Ponder, Refuse, name="bob"))
        digest = TraceDigest(runtime.trace)
        if is_watched:
            PrometheusExport(registry).watch(runtime)

        async def main(runtime=runtime):
            await runtime.run(400, speed=math.inf, blocking_ms=None)
            await runtime.aclose()

        play(main)
        digests.append((digest.hexdigest(), digest.records))
    assert digests[0] == digests[1]
    assert registry.get_sample_value("agentrt_agent_restarts_total") >= 1


def test_without_the_package_the_error_says_which_extra(monkeypatch, registry):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(MissingExtraError) as raised:
        PrometheusExport(registry)
    assert (raised.value.extra, raised.value.package) == ("metrics", "prometheus_client")
