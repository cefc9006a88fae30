"""Crafter as a world: it is the same episode, can be recorded and replayed, and each parameter changes it."""

from __future__ import annotations

import pytest
from modules import load

pytest.importorskip("crafter")

from agentrt.errors import ParameterError
from agentrt.record import replay
from agentrt.worlds import World, make_world, measure_world, project_world
from examples.crafter.game import Episode
from examples.crafter.offer import world

scenes = load("tests/crafter/scenes.py")

pytestmark = pytest.mark.slow


def ran(ticks, seed=8, **params):
    with scenes.worlds_are_remembered():
        runtime = make_world(world, seed=seed, host="plain", params=params)
        for _ in range(ticks):
            runtime.step()
    told = measure_world(world, runtime)
    runtime.close()
    return told


def test_it_is_found_in_the_clone():
    assert project_world("examples.crafter:world") is world
    assert isinstance(world, World)
    assert list(world.parameters) == [
        "length", "thoughts", "strive.utility", "tend_farm.utility", "stock_up.utility", "drink.utility", "rest.utility",
    ]  # fmt: skip


def test_it_is_the_episode_that_play_shows(tmp_path):
    with scenes.worlds_are_remembered():
        with Episode(4, 60) as episode:
            episode.play()
        runtime = make_world(world, seed=4, host="plain", params={"length": 60})
        with runtime.record(tmp_path / "crafter.sqlite", params={"length": 60}):
            for _ in range(70):  # the last ones are empty
                runtime.step()
        again = runtime.game
        assert (again.digest, again.step, runtime.agents) == (episode.digest, 60, ())
        assert measure_world(world, runtime)["steps"] == 60
        runtime.close()
        assert replay(tmp_path / "crafter.sqlite", world.make).is_same


def test_with_thoughts_of_the_script_it_has_a_mind_and_is_replayed(tmp_path):
    params = {"length": 60, "thoughts": "script"}
    with scenes.worlds_are_remembered():
        with Episode(8, 60) as alone:
            alone.play()
        runtime = make_world(world, seed=8, host="plain", params=params)
        with runtime.record(tmp_path / "crafter.sqlite", params=params):
            for _ in range(61):
                runtime.step()
        assert runtime.game.digest != alone.digest
        assert runtime.game.thinking.decisions == 1
        runtime.close()
        assert replay(tmp_path / "crafter.sqlite", world.make).is_same


@pytest.mark.parametrize("given", ["yes", "", "Script"])
def test_other_thoughts_than_the_script_are_refused(given):
    with pytest.raises(ParameterError, match=r"is not one of none \| script"):
        make_world(world, seed=8, host="plain", params={"thoughts": given})


def test_what_is_measured():
    told = ran(41, seed=4)
    assert {name: value for name, value in told.items() if value} == {
        "steps": 40, "achievements": 5, "score": pytest.approx(1.854, abs=0.001), "collect_wood": 4,
        "collect_sapling": 1, "make_wood_pickaxe": 1, "make_wood_sword": 1, "place_table": 1,
    }  # fmt: skip
    assert len(told) == 4 + 22
    runtime = make_world(world, seed=4, host="plain")
    runtime.game = None
    with pytest.raises(ValueError, match="this runtime is of another world"):
        measure_world(world, runtime)


@pytest.fixture(scope="module")
def by_default():
    return ran(150)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("strive.utility", 0.1),
        ("tend_farm.utility", 0.9),
        ("stock_up.utility", 0.0),
        ("drink.utility", 0.1),
        ("rest.utility", 0.1),
    ],
)
def test_each_parameter_changes_it(by_default, name, value):
    assert by_default["achievements"] == 14
    assert ran(150, **{name: value}) != by_default
