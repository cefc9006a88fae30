"""The frontier: caravans cross borders, trade and are robbed, and no gold is made or lost, in calm and in storm."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from agentrt.shards import LocalShards, Shards
from examples.frontier import world
from examples.frontier.__main__ import main
from examples.frontier.chart import Chart

SMALL = {"columns": 8, "rows": 4, "caravans": 24, "bands": 6}


def run(windows=8, shards=4, **params):
    with Shards(world, shards, seed=2, params={**SMALL, **params}, places=[LocalShards(), LocalShards()]) as run:
        run.run(windows)
        return run.digest, run.agents, run.measure(), run.messages


@pytest.mark.parametrize(("road", "epoch"), [(40, 0), (3, 0), (3, 30)], ids=["calm", "storm", "storm with epochs"])
def test_no_gold_and_nobody_is_lost(road, epoch):
    digest, agents, measures, messages = run(road=road, epoch=epoch)
    assert agents == 30
    assert sum(one["gold"] for one in measures) == 32 * 100 + 24 * 20
    assert messages["sent"] == messages["taken"] + messages["waiting"]
    assert run(road=road, epoch=epoch)[0] == digest


def test_all_that_happens_happens():
    _, _, measures, _ = run(windows=16, road=2)
    totals = {name: sum(one[name] for one in measures) for name in ("trades", "robberies", "warnings", "tax taken")}
    assert totals == {"trades": 438, "robberies": 110, "warnings": 212, "tax taken": 20}


@pytest.mark.parametrize("shards", [1, 2, 3, 5, 8])
def test_each_village_is_in_one_strip_and_is_seen_by_its_neighbors(shards):
    chart = Chart(8, 3, shards)
    assert [village for shard in range(shards) for village in chart.strip(shard)] == list(range(24))
    for village in range(chart.villages):
        here = chart.owner(village)
        assert village in chart.strip(here)
        for other in chart.neighbors(village):
            assert village in chart.neighbors(other)
            there = chart.owner(other)
            assert (other in chart.borders(there).get(here, [])) == (here != there)


def test_it_is_run_from_the_command_line():
    result = CliRunner().invoke(main, ["run", "--size", "small", "--windows", "2"])
    assert result.exit_code == 0
    assert result.output.splitlines()[-3] == "gold in all: 17600"
