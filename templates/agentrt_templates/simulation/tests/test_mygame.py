"""A simulation is a function of its seed: what it measures can be compared exactly, and in any number of runs."""

from __future__ import annotations

from agentrt.testing import Simulation, happened

from mygame import make_shop
from mygame.study import run, study


def test_a_customer_is_served_before_its_patience_is_over() -> None:
    shop = make_shop(seed=1)
    sim = Simulation(runtime=shop.runtime)
    sim.run_until(lambda: shop.measures.served, limit=2000)
    happened(sim, "preempt", agent="clerk 1")  # of tidying up
    assert shop.measures.lost == 0
    sim.close()


def test_without_clerks_everybody_leaves() -> None:
    shop, _ = run(seed=1, clerks=0, ticks=4000)
    assert shop.measures.served == 0
    assert shop.measures.lost > 5


def test_more_clerks_lose_fewer_customers() -> None:
    one, three = (run(seed=1, clerks=clerks, ticks=4000)[0].measures for clerks in (1, 3))
    assert one.lost > three.lost
    assert one.served < three.served


def test_the_study_has_a_row_for_each_number_of_clerks() -> None:
    report = study(seeds=2, ticks=400)
    assert [row[0] for row in report.rows] == [1, 2, 3, 4]
    assert report.digest == study(seeds=2, ticks=400).digest


def test_the_same_seed_gives_the_same_run() -> None:
    assert run(seed=1, clerks=2, ticks=1000)[1] == run(seed=1, clerks=2, ticks=1000)[1]
    assert run(seed=1, clerks=2, ticks=1000)[1] != run(seed=2, clerks=2, ticks=1000)[1]
