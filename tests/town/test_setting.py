"""The parameters of the town: each changes the run, and none of them does at its default."""

from __future__ import annotations

import pytest

from agentrt.errors import ParameterError
from agentrt.testing import TraceDigest
from agentrt.worlds import make_world, measure_world
from agentrt_examples.town import world
from agentrt_examples.town.setting import PARAMETERS

pytestmark = pytest.mark.slow


def ran(ticks, begins=0, tired=0, **params):
    """The digest of a run, and what is measured of it."""
    runtime = make_world(world, seed=0, host="plain", params=params)
    runtime.clock.tick = begins
    for person in runtime.game.town.people.values():
        person.need(rest=tired)
    digest = TraceDigest(runtime.trace)
    for _ in range(ticks):
        runtime.step()
    told = digest.hexdigest(), measure_world(world, runtime)
    runtime.close()
    return told


@pytest.fixture(scope="module")
def by_default():
    return ran(300)


def test_all_at_their_defaults_is_the_town_as_ever(by_default):
    assert ran(300, **{name: one.default for name, one in PARAMETERS.items()}) == by_default


@pytest.mark.parametrize(
    ("name", "value", "measure", "was", "is_now"),
    [
        ("people", 4, "people", 12, 4),
        ("first_wolf", 0, "escapes", 0, 6),
        ("hunger", 500, "meals", 0, 5),
        ("company", 900, "tokens", 15644, 12368),
        ("stock", 0, "bread", 25, 0),
        ("calls", 1, "calls", 42, 10),
        ("townsman.work.utility", 0.1, "worked", 5, 0),
        ("townsman.free_time.utility", 0.0, "lines_said", 20, 0),
    ],
)
def test_what_changes_by_the_middle_of_the_morning(by_default, name, value, measure, was, is_now):
    assert by_default[1][measure] == was
    assert ran(300, **{name: value})[1][measure] == is_now


def test_whoever_does_not_eat_does_not_and_wolves_come_again():
    told = ran(900, **{"townsman.eat.utility": 0.0, "wolf_hours": 1, "first_wolf": 0})[1]
    assert (told["meals"], told["wolves_left"]) == (0, 5)


def test_nobody_sleeps_whose_sleep_is_worth_nothing():
    assert ran(100, begins=2500, tired=500)[1]["slept_hours"] == 8.0
    assert ran(100, begins=2500, tired=500, **{"townsman.sleep.utility": 0.0})[1]["slept_hours"] == 0


def test_what_is_none_is_refused_and_other_runtimes_are_not_measured():
    with pytest.raises(ParameterError, match="13 is not 2 to 12"):
        make_world(world, seed=0, host="plain", params={"people": 13})
    runtime = make_world(world, seed=0, host="plain")
    runtime.game = None
    with pytest.raises(ValueError, match="this runtime is of another world"):
        measure_world(world, runtime)
    runtime.close()
