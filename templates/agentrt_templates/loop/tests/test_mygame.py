"""Simulations never wait: a minute of the game takes no time, and the same seed gives the same run."""

from __future__ import annotations

from agentrt.testing import Simulation, happened

from mygame import world
from mygame.meadow import FAR


def simulate(seed: int = 1) -> Simulation:
    return Simulation(runtime=world.make(seed=seed, host="plain"))


def test_a_sheep_that_strays_is_brought_back() -> None:
    sim = simulate()
    sim.run_until_running("Rex", "Herd")
    strayed = sim.agent("Rex").entity.meadow.strayed()
    assert strayed.steps == FAR
    sim.run_until(lambda: strayed.steps == 0, limit=40)
    sim.close()


def test_thunder_sends_them_home() -> None:
    sim = simulate()
    sim.run_until_running("Rex", "Herd")
    sim.runtime.send("thunder")
    sim.run_until_running("Ada", "RunHome", limit=2)
    happened(sim, "preempt", agent="Ada")
    sim.close()


def test_the_same_seed_gives_the_same_run() -> None:
    digests = set()
    for seed in (1, 1, 2):
        sim = simulate(seed)
        sim.tick(400)
        sim.close()
        digests.add(sim.digest())
    assert len(digests) == 2
