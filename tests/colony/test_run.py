"""A run of the whole colony: what must happen, and that it happens alike."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from agentrt.kernel import TraceEvent, TraceHub, TraceRecord
from agentrt.testing import TraceDigest
from agentrt.worlds import World, load_world
from agentrt_examples.colony import world
from agentrt_examples.colony.colony import Colony
from agentrt_examples.colony.decisions import DecisionTable
from agentrt_examples.colony.report import ActionTable, describe, run_headless


def quiet(tick, ticks, words):
    """Progress that nobody sees."""


def digest_of(ticks, seed):
    colony = Colony(seed=seed)
    digest = TraceDigest(colony.runtime.trace)
    for _ in range(ticks):
        colony.runtime.step()
    digest.close()
    colony.runtime.close()
    return digest.hexdigest()


def test_the_entry_point_offers_the_colony():
    assert load_world("colony") is world
    assert isinstance(world, World)
    assert world.name == "colony"


@pytest.mark.slow
def test_in_two_days_everything_happens():
    colony = Colony(seed=11)  # in about half of all towns no wolf comes within reach of a sword in that time
    killed, last_run = [], {}

    def listen(record):
        if record.event in ("killed", "fault", "disabled"):
            killed.append(record)
        elif record.event in ("added", "run", "activate", "start"):
            last_run[record.agent] = record.tick

    colony.runtime.trace.listen(listen)
    for _ in range(2000):
        colony.runtime.step()
    counts = colony.town.chronicle.counts
    agents = [agent.name for agent in colony.population.agents]
    colony.runtime.close()
    assert killed == []
    assert [name for name in agents if last_run[name] < 1500] == []  # nobody is stuck
    missing = [
        kind
        for kind in (
            "plots tilled", "plots planted", "crops ripened", "crops harvested", "items stored", "meals cooked",
            "meals eaten", "nights slept", "bites", "wounds healed", "pictures painted", "wolves arrived", "shots fired",
            "wolves driven off", "watches kept", "parties formed", "blows struck", "growls", "wolves bitten", "eggs laid",
        )
        if not counts[kind]
    ]  # fmt: skip
    assert missing == []
    assert counts["crops harvested"] >= 20
    assert counts["meals eaten"] >= 10


@pytest.mark.slow
def test_equal_seeds_give_equal_runs_and_others_do_not():
    first = digest_of(150, 7)
    assert digest_of(150, 7) == first
    assert digest_of(150, 8) != first


@pytest.mark.slow
@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_every_host_gives_the_same_run(host):
    reports = [run_headless(ticks=120, seed=7, host=name, progress=quiet) for name in ("plain", host)]
    assert reports[0].digest == reports[1].digest
    assert reports[0].rows == reports[1].rows
    assert reports[0].notes == reports[1].notes


@pytest.mark.slow
def test_the_hash_seed_changes_nothing():
    code = (
        "from agentrt_examples.colony.report import run_headless;"
        "print(run_headless(ticks=100, seed=7, host='plain', progress=lambda *words: None).digest)"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "random")
    }
    assert len(digests) == 1


@pytest.mark.slow
def test_a_report_tells_what_was_done():
    told = []
    report = run_headless(ticks=200, seed=7, host="plain", progress=lambda *words: told.append(words))
    assert report.columns == ("action", "ran", "completed", "preempted", "aborted")
    assert report.title == "colony: 200 ticks, seed 7, plain host"
    assert [(tick, ticks) for tick, ticks, _ in told] == [(100, 200), (200, 200)]
    table = {row[0]: row[1:] for row in report.rows}
    assert table["HarvestPlot"][0] > 3
    for ran, completed, preempted, aborted in table.values():
        assert ran >= completed + preempted + aborted
    assert report.notes[0].startswith("plots tilled ")
    models = report.notes[report.notes.index("models:") + 1 : report.notes.index("decisions:")]
    assert [line.partition(":")[0].strip() for line in models if not line.startswith("    ")] == [
        "Ivo (PSGB)", "Jorun (PS)", "Kaspar (PS)", "drake 142 (B)", "drake 143 (B)",
    ]  # fmt: skip
    assert "    S moon: Himself" in models
    decisions = report.notes[report.notes.index("decisions:") + 1 : report.notes.index("tasks:")]
    assert [line.partition(":")[0].strip() for line in decisions] == [
        "selection trees", "target selectors", "goal selectors", "behavior trees", "refused control flags",
    ]  # fmt: skip
    assert "GUARD_NEST_PATROL 1" in decisions[3]
    tasks = report.notes[report.notes.index("tasks:") + 1 : -2]
    assert [line.partition(":")[0].strip() for line in tasks] == [
        "healing", "cooking", "farming", "hauling", "commissions", "party",
    ]  # fmt: skip
    assert tasks[2].startswith("  farming: done ")
    assert report.notes[-2].startswith("work waited ")
    assert report.notes[-1].startswith("a search waited ")
    assert len(report.digest) == 32


def test_a_table_counts_how_actions_ended(field):
    from agentrt import Action, CompoundAction, step

    class Long(Action):
        does = "test:long"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(10)

    class Fails(Action):
        does = "test:fails"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.next_tick()
            if ctx.clock.tick > 28:
                ctx.abort("enough")

    class Plan(CompoundAction):
        does = "agentrt:top"
        utility = 0.5
        steps = (step("test:long"), step("test:fails"))

    class Alarm(Action):
        does = "agentrt:top"
        utility = 0.9

        async def think(self, ctx, args):
            if ctx.clock.tick == 12:
                await ctx.sleep_ticks(4)
                ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)

    table = ActionTable(field.runtime.trace)
    field.person(actions=(Plan, Long, Fails, Alarm))
    field.sim.tick(32)
    table.close()
    field.sim.tick(5)
    assert table.rows() == (
        ("Long", 4, 2, 1, 0),
        ("Plan", 4, 1, 1, 1),
        ("Fails", 2, 1, 0, 1),
        ("Alarm", 1, 1, 0, 0),
    )


def test_a_description_is_one_line(colony):
    colony.runtime.step()
    assert describe(colony) == "day 1, day: 25 agents, 2 wolves, 8 turnips, 4 meals, 0 pictures"


def test_what_happens_in_the_world_is_in_the_trace(colony):
    heard = []
    colony.runtime.trace.listen(lambda record: heard.append(record) if record.path == "world" else None)
    colony.population.wolf()
    (record,) = heard
    assert record.event == "note"
    assert record.detail == (("kind", "wolves arrived"), ("text", "came out of the woods"))


def test_decisions_are_counted_by_model():
    heard = []
    hub = TraceHub(lambda text, error: heard.append(error))
    table = DecisionTable(hub)
    flag, reason = (("flag", "MOVE"), ("holder", "march")), (("reason", "plot 3 was reserved by somebody else"),)
    for path, event, detail in (
        ("stance/Root/Combat/Attack", "activate", ()),
        ("targets/choose prey", "start", ()),
        ("goals/attack", "start", ()),
        ("goals/attack", "start", ()),
        ("goals/howl", "start", ()),
        ("goals/attack/agentrt:chase_entity/ChaseEntity", "start", ()),
        ("tree/ROOT/EAT", "activate", ()),
        ("tree/ROOT/EAT", "deactivate", ()),
        ("agentrt:top/Work", "start", ()),
        ("goals/attack", "refused", flag),
        ("goals/attack/agentrt:chase_entity/ChaseEntity", "refused", flag),
        ("agentrt:top/Work", "refused", flag),
        ("agentrt:top/Work", "refused", reason),
        ("tree/ROOT/EAT", "refused", flag),
    ):
        hub.emit(TraceRecord(1, "wolf", path, TraceEvent(event), detail))
    table.close()
    hub.emit(TraceRecord(1, "wolf", "goals/attack", TraceEvent.START))
    assert list(table.lines()) == [
        "decisions:",
        "  selection trees: Attack 1",
        "  target selectors: choose prey 1",
        "  goal selectors: attack 2, howl 1",
        "  behavior trees: EAT 1",
        "  refused control flags: behavior trees 1, goal selectors 1, plans 2",
    ]
    assert heard == []
