"""What is said of many runs: figures that were computed elsewhere, tables word for word, pictures."""

from __future__ import annotations

import sys

import pytest

from agentrt.ensembles import Contrast, EnsembleReport, RunRow, Summary, report
from agentrt.errors import EnsembleError, MissingExtraError

FEW = [12.0, 9.0, 10.0, 13.0, 11.0]  # by seed
MANY = [20.0, 19.0, 17.0, 24.0, 20.0]


def rows_of(setting, values, **said):
    fields = {"world": "pond", "code": "1+a", "ticks": 9, "digest": "d", "faults": 0, "error": "", "seconds": 0.1}
    return [
        RunRow(**{**fields, "setting": setting, "seed": seed, "measures": {"swims": value}, **said})
        for seed, value in enumerate(values)
    ]


ROWS = rows_of('{"ducks": 2}', FEW) + rows_of('{"ducks": 4}', MANY)


def rounded(told):
    return type(told)._make(None if one is None else round(one, 6) for one in told)


@pytest.fixture(autouse=True)
def two_errors(request, monkeypatch):
    """Quick tests have intervals of two standard errors to each side, and need no SciPy, which is slow to import."""
    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setattr(report, "_quantile", lambda degrees: 2.0)


@pytest.mark.slow
def test_means_and_their_intervals():
    """As scipy.stats.t.interval(0.95, 4, mean, scipy.stats.sem(values)) has them."""
    told = EnsembleReport(ROWS)
    first, second = told.groups
    assert [group.about for group in told.groups] == [{"ducks": "2"}, {"ducks": "4"}]
    assert rounded(told.summary(first, "swims")) == Summary(5, 11.0, 1.963243, 1.581139, 9.0, 13.0)
    assert rounded(told.summary(second, "swims")) == Summary(5, 20.0, 3.165634, 2.54951, 17.0, 24.0)


@pytest.mark.slow
def test_what_a_setting_changes_in_two_ways():
    """As scipy.stats.ttest_ind(..., equal_var=False) and ttest_rel have their intervals, and pearsonr its figure."""
    told = EnsembleReport(ROWS)
    assert rounded(told.contrast(told.groups[1], "swims")) == Contrast(9.0, 3.203504, 5, 9.0, 1.963243, 0.806226)


def test_pairs_are_of_equal_seeds_alone():
    told = EnsembleReport(rows_of("{}", FEW[:3]) + rows_of('{"ducks": 4}', MANY)[1:])
    contrast = told.contrast(told.groups[1], "swims")
    assert (contrast.pairs, contrast.paired_difference) == (2, 8.5)
    assert contrast.difference == pytest.approx(20.0 - 31 / 3)


def test_what_does_not_vary_has_no_correlation_and_an_interval_of_nothing():
    told = EnsembleReport(rows_of("{}", [2, 2, 2]) + rows_of('{"ducks": 4}', [4, 4, 4]))
    assert told.contrast(told.groups[1], "swims") == Contrast(2.0, 0.0, 3, 2.0, 0.0, None)


def test_one_run_has_a_mean_and_no_more():
    told = EnsembleReport(rows_of("{}", [2]) + rows_of('{"ducks": 4}', [5]))
    assert told.summary(told.groups[0], "swims") == Summary(1, 2.0, None, None, 2, 2)
    assert told.contrast(told.groups[1], "swims") == Contrast(3.0, None, 1, 3.0, None, None)


def test_the_words():
    assert list(EnsembleReport(ROWS).lines()) == [
        "10 runs in 2 groups, 0 failed",
        "",
        "swims:",
        "  ducks  runs  mean  ± 95 %  deviation  least  most",
        "  2         5    11   1.414      1.581      9    13",
        "  4         5    20    2.28       2.55     17    24",
        "less that of the first:",
        "  ducks  difference  ± unpaired  pairs  difference of pairs  ± paired  correlation",
        "  4               9       2.683      5                    9     1.414       0.8062",
        "",
        "Equal seeds are no common random numbers: once a parameter changes how much is drawn, two runs draw otherwise.",
        "The paired interval is worth something where the correlation is well above 0.",
    ]


def test_failed_runs_texts_and_faults_are_told():
    failed = rows_of("{}", [0] * 9, digest="", error="ValueError: no water", measures={})[1:]
    moods = rows_of("{}", ["wet"], faults=3) + rows_of('{"rest": 0.5}', ["dry", "wet", "dry"])
    lines = list(EnsembleReport([*moods[:1], *failed, *moods[1:]]).lines())
    assert lines[:2] == ["4 runs in 2 groups, 8 failed", "  failed: seed 1: ValueError: no water"]
    assert lines[7:] == [
        "  and 2 more",
        "  hooks raised in 1 run: seed 0 has 3 faults",
        "",
        "swims:",
        "  rest     how often",
        "  default  wet: 1",
        "  0.5      dry: 2, wet: 1",
    ]


def test_what_differs_besides_the_setting_makes_groups_too():
    told = EnsembleReport(rows_of("{}", FEW) + rows_of("{}", FEW, code="1+b") + rows_of("{}", FEW, ticks=20))
    assert [group.about for group in told.groups] == [
        {"code": "1+a", "ticks": "9"},
        {"code": "1+b", "ticks": "9"},
        {"code": "1+a", "ticks": "20"},
    ]


def test_a_world_that_measures_nothing():
    lines = list(EnsembleReport(rows_of("{}", [0], measures={})).lines())
    assert lines[-1] == "This world measures nothing: give it a method measure, or SimpleWorld(..., measure=...)."


def test_what_is_not_there():
    with pytest.raises(EnsembleError, match="there are no runs. Carry some out"):
        EnsembleReport([])
    with pytest.raises(EnsembleError, match="no run has a measure 'swim'. Did you mean 'swims'[?] They are swims."):
        EnsembleReport(ROWS, ["swim"])


def test_without_scipy_there_are_means(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setattr(report, "_quantile", report._quantile.__wrapped__)
    lines = list(EnsembleReport(ROWS).lines())
    assert lines[3:6] == [
        "  ducks  runs  mean  ± 95 %  deviation  least  most",
        "  2         5    11              1.581      9    13",
        "  4         5    20               2.55     17    24",
    ]
    assert lines[-1].startswith("Intervals need the extra 'ensembles'. ")


@pytest.mark.slow  # Matplotlib is slow to import
def test_pictures(tmp_path):
    more = [row._replace(measures={**row.measures, "mood": "wet"}) for row in ROWS]
    assert EnsembleReport(more).draw(tmp_path / "a") == [tmp_path / "a" / "swims.svg"]
    EnsembleReport(ROWS).draw(tmp_path / "b")
    drawn = (tmp_path / "a" / "swims.svg").read_text()
    assert drawn == (tmp_path / "b" / "swims.svg").read_text()
    assert "<!-- ducks -->" in drawn
    odd = [row._replace(setting='{"kind": "teal"}', measures={"../x y": 1}) for row in ROWS[:2]]
    assert EnsembleReport(odd).draw(tmp_path / "c") == [tmp_path / "c" / "..-x-y.svg"]
    (tmp_path / "file").touch()
    with pytest.raises(EnsembleError, match="it cannot be written"):
        EnsembleReport(ROWS).draw(tmp_path / "file")


def test_pictures_need_an_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError):
        EnsembleReport(ROWS).draw(tmp_path)


BEYOND = [10**400, float("inf"), float("nan"), 1e300]


@pytest.mark.parametrize("value", BEYOND, ids=["whole", "inf", "nan", "large"])
def test_a_number_that_is_beyond_reckoning_costs_no_report(value):
    rows = rows_of('{"ducks": 2}', [1.0, value, 3.0]) + rows_of('{"ducks": 4}', [value, 2.0, value])
    told = list(EnsembleReport(rows).lines())
    assert told[4].split()[:4] == ["2", "2", "2", "2"]  # ducks, runs, mean, margin
    assert told[5].split()[:3] == ["4", "1", "2"]
    assert told[6] == "  without 3 runs in which it is infinite, NaN or beyond 1e+100"


@pytest.mark.parametrize("unit", [1e99, 1e-90, 5e-324], ids=["large", "small", "least"])
def test_numbers_whose_squares_are_no_floats_any_more_are_compared(unit):
    told = EnsembleReport(
        rows_of("{}", [unit, 2 * unit, 4 * unit]) + rows_of('{"ducks": 4}', [3 * unit, 3 * unit, 0.0])
    )
    contrast = told.contrast(told.groups[1], "swims")
    assert contrast.difference == pytest.approx(-unit / 3)
    assert len([*told.lines()]) == 12


@pytest.mark.slow  # Matplotlib is slow to import
def test_pictures_of_numbers_that_are_beyond_reckoning(tmp_path):
    rows = [
        row for value in BEYOND for row in rows_of(f'{{"ducks": {value!r}}}'.replace("inf", "Infinity"), [1e99, value])
    ]
    rows = [row._replace(setting=row.setting.replace("nan", "NaN")) for row in rows]
    assert EnsembleReport(rows).draw(tmp_path) == [tmp_path / "swims.svg"]
