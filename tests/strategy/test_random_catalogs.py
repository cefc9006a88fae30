"""Random catalogs: who is tried is what the rules say, everything ends, and equal runs are equal everywhere."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from modules import load

catalogs = load("tests/strategy/catalogs.py")

PRICES = st.sampled_from([None, 0.0, 1.0, 2.0, 2.0, 7.5])


@st.composite
def plans(draw):
    count = draw(st.integers(1, 5))
    return [
        catalogs.Plan(
            can="".join(sorted(draw(st.sets(st.sampled_from(catalogs.THINGS), min_size=1)))),
            price=draw(PRICES),
            needs="".join(draw(st.lists(st.sampled_from(catalogs.THINGS), max_size=2))),
            ticks=draw(st.integers(0, 2)),
            fails=draw(st.booleans()),
            spoils=tuple(draw(st.lists(st.tuples(st.integers(0, count - 1), PRICES), max_size=2))),
            tells=draw(st.booleans()),
        )
        for _ in range(count)
    ]


def check(given_plans, wishes):
    reference = catalogs.Reference(given_plans)
    expected = [reference.solve(what) for what in wishes]
    if len(reference.log) >= catalogs.TOO_MANY:
        return False
    world = catalogs.World(given_plans)
    assert [world.solve(what) for what in wishes] == expected
    assert world.log == reference.log
    gameplay = world.agent.gameplay
    assert gameplay.running == ()
    for root in gameplay.finished:
        for _, node in root.walk():
            assert not node.is_open
            if node.kind == "dependency":
                tried = [child.label for child in node.children]
                assert len(tried) == len(set(tried)), root.render()
                assert (node.outcome == "done") == bool(node.children and node.children[-1].outcome == "done")
    world.sim.close()
    assert world.sim.runtime.kernel.live == 0
    assert world.sim.faults() == []
    return True


@pytest.mark.states("003: Hierarchy: It goes on until the given task is complete, or has clearly failed")
@pytest.mark.states("003: Heuristic Based Task Selection: Which task suits best at that time is decided by ...")
@pytest.mark.states("003: Global Dependency Lists: The others are sorted by cost, and the best is executed ...")
@pytest.mark.states("003: Task Failure: With fresh estimates (decided) ...")
@pytest.mark.states("003: Task Tree: It is executed from top to bottom; a task is finished when all below it are ...")
@pytest.mark.slow
@given(plans(), st.text(catalogs.THINGS, min_size=1, max_size=3))
def test_who_is_tried_is_what_the_rules_say(given_plans, wishes):
    assume(check(given_plans, wishes))


@pytest.mark.states("003: Hierarchy: Any number of strategies can be added, and the tree may be much bigger")
@pytest.mark.states("003: Task Failure: It corrects its course all the time, whatever comes, and gets out of dead ends")
@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 400, 100))
def test_many_drawn_catalogs(start):
    assert sum(check(catalogs.draw(seed), catalogs.THINGS) for seed in range(start, start + 100)) > 90


@pytest.mark.states("003: Ours: Equal runs are equal, whatever the hash seed", source="design section 6")
@pytest.mark.slow
def test_equal_runs_are_equal_whatever_the_hash_seed(root):
    told = []
    for seed in ("0", "1", "4711"):
        command = [sys.executable, str(root / "tests" / "strategy" / "catalogs.py"), "40"]
        done = subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True, timeout=300
        )
        told.append(done.stdout.split())
    assert len(told[0]) == 40
    assert len(set(told[0])) > 30
    assert told[0] == told[1] == told[2]
