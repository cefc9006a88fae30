"""Simulations never wait; what the bot tried for what can be claimed, and so can what came of it."""

from __future__ import annotations

from agentrt.testing import Simulation, solved, tried

from mygame import world
from mygame.collector import Have
from mygame.grid import Grid
from mygame.session import distance


def simulate(seed: int = 1) -> Simulation:
    return Simulation(runtime=world.make(seed=seed, host="plain"))


def test_it_works_out_that_a_gem_takes_a_pick() -> None:
    sim = simulate()
    bo = sim.agent("Bo").entity
    sim.run_until(lambda: bo.sight.bag["gem"], limit=400)
    assert tried(sim, Have("pick")) == ["Make Pick"]
    assert solved(sim, Have("pick")).tick < solved(sim, Have("gem")).tick
    sim.close()


def test_it_collects_all_of_them() -> None:
    sim = simulate()
    bo = sim.agent("Bo").entity
    sim.run_until(lambda: "gem" not in bo.sight.things.values(), limit=2000)
    assert bo.sight.bag["gem"] == 6
    sim.close()


def test_the_cat_keeps_away() -> None:
    sim = simulate()
    sim.run_until_running("Tom", "KeepAway", limit=400)
    bo, tom = sim.agent("Bo").entity, sim.agent("Tom").entity
    before = distance(bo.sight.at, tom.sight.at)
    sim.tick(3)
    assert distance(bo.sight.at, tom.sight.at) >= before
    sim.close()


def test_the_game_lets_nobody_take_a_gem_with_bare_hands() -> None:
    game = Grid(seed=1)
    sight = game.reset(["Ann"])["Ann"]
    (x, y), _ = next((place, kind) for place, kind in sight.things.items() if kind == "gem")
    for move, times in (("west", 16), ("north", 16), ("east", x), ("south", y), ("take", 1)):
        for _ in range(times):
            sight = game.step({"Ann": move})["Ann"]
    assert sight.at == (x, y)
    assert sight.bag["gem"] == 0


def test_the_same_seed_gives_the_same_run() -> None:
    digests = set()
    for seed in (1, 1, 2):
        sim = simulate(seed)
        sim.tick(200)
        sim.close()
        digests.add(sim.digest())
    assert len(digests) == 2
