"""Which runs a design has, and what is said of one that cannot be read."""

from __future__ import annotations

import pytest

from agentrt.ensembles.design import Run, runs_of, seeds_of, setting_of
from agentrt.errors import EnsembleError, ParameterError


@pytest.mark.parametrize(
    ("given", "seeds"),
    [
        ("0:4", [0, 1, 2, 3]),
        ("7", [7]),
        ("1, 5,9", [1, 5, 9]),
        ("-2:1,0:2", [-2, -1, 0, 1]),
        (range(3), [0, 1, 2]),
        ([3, 1, 3], [3, 1]),
        (iter([5]), [5]),
    ],
)
def test_seeds(given, seeds):
    assert seeds_of(given) == seeds


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "'' is no seed and no range of seeds"),
        ("a:b", "'a:b' is no seed"),
        ("1:2:3", "'1:2:3' is no seed"),
        ("5:5", "the range 5:5 is empty"),
        ("9:1", "the range 9:1 is empty"),
        ("0:9999999", "the range 0:9999999 is too long"),
        ("9" * 30, "is no seed and no range"),
        ([], "there are none"),
        ([True], "True is no seed"),
        ([10**18], "is no seed. Use whole numbers of 18 digits"),
        (["1"], "'1' is no seed"),
    ],
)
def test_what_is_no_seed(given, said):
    with pytest.raises(EnsembleError, match="ART240.*the seeds: ") as raised:
        seeds_of(given)
    assert said in str(raised.value)


def settings(world, **params):
    return [run.params for run in runs_of(world, params, [0], 5)]


def test_a_setting_is_one_text_whatever_the_order_of_its_names(world):
    assert setting_of({"b": 1, "a": 0.5}) == setting_of({"a": 0.5, "b": 1}) == '{"a": 0.5, "b": 1}'


def test_all_settings_with_all_seeds_in_the_order_in_which_they_are_given(world):
    runs = runs_of(world, {"rest": "0.5,0.25", "ducks": [3]}, "4,2", 10)
    assert runs == [
        Run('{"ducks": 3, "rest": 0.5}', 4, 10),
        Run('{"ducks": 3, "rest": 0.5}', 2, 10),
        Run('{"ducks": 3, "rest": 0.25}', 4, 10),
        Run('{"ducks": 3, "rest": 0.25}', 2, 10),
    ]
    assert runs_of(world, {}, "0", 1) == [Run("{}", 0, 1)]


def test_values_of_parameters(world):
    assert settings(world, ducks="2,8") == [{"ducks": 2}, {"ducks": 8}]
    assert settings(world, ducks="2:8:4") == [{"ducks": 2}, {"ducks": 4}, {"ducks": 6}, {"ducks": 8}]
    assert [one["rest"] for one in settings(world, rest="0.3:0.9:7")] == [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    assert settings(world, rest=2) == [{"rest": 2.0}]  # of the parameter's type: equal settings are equal texts
    assert settings(world, rest=["2", 2.0]) == [{"rest": 2.0}]
    assert settings(world, wet="true,false") == [{"wet": True}, {"wet": False}]
    assert settings(world, trouble="1:2:3") == [{"trouble": "1:2:3"}]  # a text may have colons
    assert settings(world, trouble=["a,b"]) == [{"trouble": "a,b"}]  # and commas, in a list


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"ducks": "2:8:5"}, "not all of 2:8:5 are whole numbers"),
        ({"ducks": "8:2:3"}, "the range 8:2:3 is none"),
        ({"ducks": "2:8:1"}, "the range 2:8:1 is none"),
        ({"rest": "a:1:3"}, "'a:1:3' is no range of numbers"),
        ({"rest": "1/0:1:3"}, "'1/0:1:3' is no range of numbers"),
        ({"rest": []}, "it is given no value"),
        ({"rest": "1:2:10001"}, "Write the lower one first, and 2 to 10000 values"),
    ],
)
def test_values_that_cannot_be_read(world, params, said):
    with pytest.raises(EnsembleError) as raised:
        runs_of(world, params, "0", 5)
    assert said in str(raised.value)


def test_a_design_that_is_too_large(world):
    with pytest.raises(EnsembleError, match="the design: it has 4500000 runs. Have 1000000 or fewer"):
        runs_of(world, {"rest": "1:2:500", "ducks": "1:9:9"}, "0:1000", 5)


@pytest.mark.parametrize("params", [{"duck": 2}, {"ducks": "10"}, {"ducks": ""}, {"ducks": "2,,4"}, {"wet": "1"}])
def test_values_that_the_world_does_not_take(world, params):
    with pytest.raises(ParameterError):
        runs_of(world, params, "0", 5)


@pytest.mark.parametrize("ticks", [0, -1, 1.5, True])
def test_what_is_no_number_of_ticks(world, ticks):
    with pytest.raises(EnsembleError, match="is no number of ticks. Run 1 or more"):
        runs_of(world, {}, "0", ticks)
