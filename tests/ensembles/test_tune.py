"""A search: what it tries, that it goes on where it was, and what it says of the best with seeds that it has not seen."""

from __future__ import annotations

import sys

import pytest

from agentrt.ensembles import SweepState, tune
from agentrt.errors import EnsembleError, MissingExtraError, ParameterError


def search(over, **more):
    options = {"ticks": 20, "measure": "swims", "trials": 5, "seeds": "0:2", "held_out": "10:13", "workers": 0}
    return tune("pond", **{**options, "over": over, "out": "runs.sqlite", **more})


@pytest.mark.slow  # Optuna is slow to import
class TestSearching:
    def test_the_best_is_run_with_seeds_that_no_trial_had(self, pond):
        states = []
        tuned = search({"ducks": None, "rest": "0.2:1"}, told=states.append)
        assert tuned.trials[0].params == {"ducks": 2, "rest": 1.0}  # the defaults
        assert tuned.best == max(tuned.trials, key=lambda trial: trial.value)
        assert tuned.best.params["ducks"] > 4
        assert [(row.seed, row.params) for row in tuned.held_out] == [
            *((seed, {}) for seed in (10, 11, 12)),
            *((seed, tuned.best.params) for seed in (10, 11, 12)),
        ]
        assert states[-1] == SweepState(16, 16, 0)
        again = search({"ducks": None, "rest": "0.2:1"}, told=states.append)
        assert again == tuned
        assert states[-1].done == 10  # nothing was left to do after what the trials had
        more = search({"ducks": None, "rest": "0.2:1"}, trials=7)
        assert more.trials[:5] == tuned.trials

    def test_the_smallest_of_few_values_with_something_set(self, pond):
        tuned = search({"ducks": "2,9,5"}, minimize=True, params={"rest": 0.5}, trials=6)
        assert tuned.best.params == {"rest": 0.5, "ducks": 2}
        assert {trial.params["ducks"] for trial in tuned.trials} <= {2, 5, 9}
        assert [row.params for row in tuned.held_out[:3]] == [{"rest": 0.5}] * 3

    def test_flags_and_texts(self, pond):
        tuned = search({"wet": None, "kind": "", "trouble": ["fail 8", "fail 9"]}, trials=3, seeds=[0])
        assert {type(trial.params["wet"]) for trial in tuned.trials} == {bool}
        assert {trial.params["kind"] for trial in tuned.trials} <= {"mallard", "teal"}

    def test_a_trial_that_failed_has_no_value(self, pond):
        tuned = search({"trouble": ["fail 1", ""]}, trials=4)
        assert {(trial.params["trouble"], trial.value is None) for trial in tuned.trials} == {
            ("fail 1", True),
            ("", False),
        }
        assert tuned.best.params == {"trouble": ""}
        with pytest.raises(EnsembleError, match="no trial has a value: in each a run failed"):
            search({"ducks": "1:9"}, params={"trouble": "fail 1"}, trials=2)

    def test_a_trial_whose_measure_is_not_finite_has_no_value(self, pond, world, monkeypatch):
        monkeypatch.setattr(
            world, "_measure", lambda runtime: {"swims": float("inf") if len(runtime.agents) > 4 else 1}
        )
        tuned = search({"ducks": "9,2"}, trials=4)
        assert {(trial.params["ducks"], trial.value) for trial in tuned.trials} == {(9, None), (2, 1.0)}
        assert tuned.best.params == {"ducks": 2}

    def test_what_is_no_number_cannot_be_best(self, pond):
        with pytest.raises(
            EnsembleError, match="the world measures no number 'swim'. Did you mean 'swims'[?] They are"
        ):
            search({"ducks": "1:9"}, measure="swim")
        with pytest.raises(EnsembleError, match="the world measures no number 'mood'"):
            search({"ducks": "1:9"}, measure="mood")


@pytest.mark.parametrize(
    ("over", "more", "said"),
    [
        ({}, {}, "there is nothing to search over"),
        ({"ducks": "9:1"}, {}, "the range 9:1 is empty"),
        ({"ducks": "1:20"}, {}, "20 is not 1 to 9. Name a range"),
        ({"ducks": "1:x"}, {}, "'x' is no whole number"),
        ({"ducks": "3"}, {}, "there is one value to search over"),
        ({"ducks": 3}, {}, "there is one value to search over"),
        ({"rest": None}, {}, "it has no bounds of its own. Name a range: rest=2:8"),
        ({"trouble": ""}, {}, "it has no bounds of its own"),
        ({"ducks": "1:9"}, {"params": {"ducks": 2}}, "it is set and searched over"),
        ({"ducks": "1:9"}, {"held_out": "1:5"}, "1 is one of the search's. Hold out seeds that no trial has"),
        ({"ducks": "1:9"}, {"trials": 0}, "0 is no number of trials"),
    ],
)
def test_what_cannot_be_searched(pond, over, more, said):
    with pytest.raises(EnsembleError) as raised:
        search(over, **more)
    assert said in str(raised.value)


def test_what_the_world_does_not_take(pond):
    with pytest.raises(ParameterError, match="Did you mean 'ducks'"):
        search({"duck": "1:9"})


def test_searching_is_an_extra(pond, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError) as raised:
        search({"ducks": "1:9"})
    assert raised.value.extra == "tune"
