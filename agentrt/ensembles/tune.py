"""A search for the parameters with which a measure is best, and whether they are any better than the defaults.

A *trial* is a setting, run with each of the search's seeds; its value is the mean of the measure. Optuna proposes the
settings, one after another, and is told what came of each. The first one has the defaults.

* Its sampler has a seed, and is told the same values: a search that is started again proposes the same settings, whose
  runs are in the file. So it goes on where it was, and needs no book of its own.
* What is best over some seeds is best by luck, too. So the best setting and the defaults are run with *held-out* seeds,
  which no trial has seen, and only those are reported.
* A trial with a run that failed, or whose measure is not finite, has no value, and is not proposed from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from agentrt.ensembles.design import Run, runs_of, seeds_of, setting_of
from agentrt.ensembles.store import RunRow, RunStore, is_reckoned
from agentrt.ensembles.subject import Subject
from agentrt.ensembles.sweep import SweepState, Told, carry_on
from agentrt.ensembles.workers import crew_of
from agentrt.errors import EnsembleError, MissingExtraError, did_you_mean
from agentrt.words import few
from agentrt.worlds import Parameter, TakesParameters, Value, World, checked_params

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import Trial as Proposal


class Trial(NamedTuple):
    """A setting that was tried."""

    params: dict[str, Value]  # what was set, and what was searched over
    value: float | None  # the mean of the measure; None if a run failed


class TuneResult(NamedTuple):
    """What a search came to."""

    trials: tuple[Trial, ...]  # in the order in which they were tried
    best: Trial
    held_out: tuple[RunRow, ...]  # runs with seeds that no trial had: first those by default, then those of the best


def tune(
    world: str = "",
    *,
    ticks: int,
    over: Mapping[str, object],
    measure: str,
    minimize: bool = False,
    trials: int = 40,
    seeds: str | Iterable[int] = "0:8",
    held_out: str | Iterable[int] = "1000:1020",
    params: Mapping[str, object] | None = None,
    out: str | Path,
    sampler_seed: int = 0,
    workers: int | None = None,
    ray: str = "",
    time_limit: float | None = None,
    app: str = "",
    told: Told | None = None,
    tried: Callable[[Trial], object] | None = None,
) -> TuneResult:
    """Search for the setting with which the mean of a measure is largest, and try it with seeds that it has not seen.

    Args:
        world: the name of a world; empty for that of the project.
        ticks: how many ticks each run has.
        over: by the name of a parameter what is searched over: a text such as ``"2:8"``, a list of values, or None for
            all that the parameter can be.
        measure: the name of a number that the world measures.
        minimize: whether the smallest is sought.
        trials: how many settings are tried.
        seeds: of the runs of each trial.
        held_out: of the runs that are reported; none of them is one of ``seeds``.
        params: parameters that are set to one value in all runs.
        out: the file that keeps the runs; it is made, or gone on with.
        sampler_seed: of the search itself.
        workers: as for ``sweep``.
        ray: likewise.
        time_limit: likewise.
        app: likewise.
        told: called after each run, with all runs of the search.
        tried: called after each trial.

    Returns:
        The trials, the best of them, and the runs with held-out seeds.

    Raises:
        EnsembleError: what is searched over is not right, no trial has a value, or the seeds overlap.
        ParameterError: the world does not take one of the parameters.
        MissingExtraError: the extra ``tune`` is not installed.

    Source: Optuna, the tree-structured Parzen estimator, by ask and tell.
    """
    subject = Subject.of(world, app)
    known, fixed = subject.world(), checked_params(subject.world(), params or {})
    trained, tested = seeds_of(seeds), seeds_of(held_out)
    axes = [_axis(known, name, given) for name, given in over.items()]
    _require_searchable(axes, fixed, trained, tested, trials)
    search, done = _Optuna(axes, sampler_seed, minimize), list[Trial]()
    total = trials * len(trained) + 2 * len(tested)
    with crew_of(subject, workers=workers, ray=ray, time_limit=time_limit) as crew, RunStore(Path(out)) as store:

        def carry_out(settings: Sequence[Mapping[str, Value]], seeds: list[int], before: int) -> tuple[RunRow, ...]:
            texts = dict.fromkeys(setting_of(checked_params(known, given)) for given in settings)
            runs = [Run(setting, seed, ticks) for setting in texts for seed in seeds]
            runs_of(known, {}, seeds, ticks)  # whose checks of seeds and ticks hold here, too
            return carry_on(store, subject, runs, crew, told=told and partial(_told_of_all, told, before, total)).rows

        for number in range(trials):
            proposal, chosen = search.ask()
            value = _value_of(carry_out([fixed | chosen], trained, number * len(trained)), measure)
            search.tell(proposal, value)
            done.append(Trial(fixed | chosen, value))
            if tried is not None:
                tried(done[-1])
        best = _best(done, minimize)
        rows = carry_out([fixed, best.params], tested, trials * len(trained))
    first = setting_of(fixed)
    return TuneResult(tuple(done), best, tuple(sorted(rows, key=lambda row: row.setting != first)))


def _best(trials: Sequence[Trial], minimize: bool) -> Trial:
    """The first of those that are best."""
    best: Trial | None = None
    for trial in trials:
        if trial.value is not None and (best is None or best.value is None or _is_better(trial, best, minimize)):
            best = trial
    if best is None:
        raise EnsembleError(
            "the search",
            "no trial has a value: in each a run failed, or measured a number that is infinite, NaN or too large",
            "See why: agentrt sweep report.",
        )
    return best


def _is_better(one: Trial, other: Trial, minimize: bool) -> bool:
    gain = (one.value or 0.0) - (other.value or 0.0)
    return gain < 0 if minimize else gain > 0


def _told_of_all(told: Told, before: int, total: int, state: SweepState) -> None:
    """Tell of the runs of one trial as of part of all; those that were in the file before count as done."""
    told(SweepState(before + state.done, total, state.failed))


def _require_searchable(
    axes: Sequence[_Axis], fixed: Mapping[str, Value], trained: list[int], tested: list[int], trials: int
) -> None:
    if not axes:
        raise EnsembleError("the search", "there is nothing to search over", "Name a parameter: --over wolves=2:8.")
    if both := [axis.name for axis in axes if axis.name in fixed]:
        raise EnsembleError(f"the parameter '{both[0]}'", "it is set and searched over", "Leave one of them out.")
    if shared := sorted(set(trained) & set(tested)):
        remedy = "Hold out seeds that no trial has: what was best with a seed is no test of it."
        raise EnsembleError("the held-out seeds", f"{shared[0]} is one of the search's", remedy)
    if trials < 1:
        raise EnsembleError("the search", f"{trials} is no number of trials", "Try 1 or more.")


def _value_of(rows: Sequence[RunRow], measure: str) -> float | None:
    """The mean of a measure; None if a run failed, or it is nothing to reckon with in one."""
    values = list[float]()
    for row in rows:
        if row.error:
            return None
        value = row.measures.get(measure)
        if not isinstance(value, int | float):
            known = [name for name, one in row.measures.items() if isinstance(one, int | float)]
            told = f"{did_you_mean(measure, known)} They are {few(known, 20)}." if known else "It measures none."
            raise EnsembleError("the search", f"the world measures no number '{measure}'", told.strip())
        if not is_reckoned(value):
            return None
        values.append(value)
    return fmean(values)


# --- what is searched over --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Axis:
    """What a parameter may be in a search."""

    name: str
    parameter: Parameter
    choices: tuple[Value, ...] = ()  # all values; none for a range of numbers
    low: float = 0.0
    high: float = 0.0

    def propose(self, proposal: Proposal) -> Value:
        """A value for a trial."""
        if self.choices:
            # Optuna is given the places: it takes equal values for one, and 1 and True are equal.
            return self.choices[int(proposal.suggest_categorical(self.name, range(len(self.choices))))]
        if type(self.parameter.default) is int:
            return proposal.suggest_int(self.name, int(self.low), int(self.high))
        return proposal.suggest_float(self.name, self.low, self.high)

    def default(self) -> Value | None:
        """What Optuna is to be told for the parameter's default; None if that is not searched over."""
        default = self.parameter.default
        if self.choices:
            return self.choices.index(default) if default in self.choices else None
        return default if not isinstance(default, str) and self.low <= default <= self.high else None


def _axis(world: World, name: str, given: object) -> _Axis:
    parameter = world.parameters.get(name) if isinstance(world, TakesParameters) else None
    if parameter is None:
        checked_params(world, {name: ""})  # raises, and says which there are
        raise AssertionError(name)
    about = f"the parameter '{name}'"
    is_number = type(parameter.default) in (int, float)
    if given is None or given == "":
        return _whole(name, parameter)
    if isinstance(given, str) and is_number and ":" in given:
        low, high = (_read(about, parameter, part) for part in given.split(":", 1))
        if not float(low) < float(high):
            raise EnsembleError(about, f"the range {given} is empty", "Write the lower one first.")
        return _Axis(name, parameter, low=float(low), high=float(high))
    values = given.split(",") if isinstance(given, str) else given if isinstance(given, Iterable) else [given]
    choices = tuple(dict.fromkeys(_read(about, parameter, value) for value in values))
    if len(choices) < 2:
        raise EnsembleError(about, "there is one value to search over", "Name several, or a range, as in wolves=2:8.")
    return _Axis(name, parameter, choices)


def _read(about: str, parameter: Parameter, given: object) -> Value:
    try:
        return parameter.read(given.strip() if isinstance(given, str) else given)
    except ValueError as error:
        raise EnsembleError(
            about, str(error), "Name a range, as in wolves=2:8, or values, as in wolves=2,4,8."
        ) from None


def _whole(name: str, parameter: Parameter) -> _Axis:
    """All that a parameter can be."""
    if type(parameter.default) is bool:
        return _Axis(name, parameter, (False, True))
    if len(parameter.choices) > 1:
        return _Axis(name, parameter, parameter.choices)
    if parameter.low is None or parameter.high is None or not parameter.low < parameter.high:
        raise EnsembleError(f"the parameter '{name}'", "it has no bounds of its own", f"Name a range: {name}=2:8.")
    return _Axis(name, parameter, low=parameter.low, high=parameter.high)


# --- Optuna -----------------------------------------------------------------------------------------------------------


class _Optuna:
    """Optuna, asked and told."""

    def __init__(self, axes: Sequence[_Axis], sampler_seed: int, minimize: bool) -> None:
        try:
            import optuna
        except ModuleNotFoundError as error:
            raise MissingExtraError("tune", error.name or "optuna") from error
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._axes = axes
        self._failed = optuna.trial.TrialState.FAIL
        sampler = optuna.samplers.TPESampler(seed=sampler_seed)
        self._study: Study = optuna.create_study(sampler=sampler, direction="minimize" if minimize else "maximize")
        defaults = {axis.name: axis.default() for axis in axes}
        self._study.enqueue_trial({name: value for name, value in defaults.items() if value is not None})

    def ask(self) -> tuple[Proposal, dict[str, Value]]:
        proposal = self._study.ask()
        return proposal, {axis.name: axis.propose(proposal) for axis in self._axes}

    def tell(self, proposal: Proposal, value: float | None) -> None:
        self._study.tell(proposal, value, state=self._failed if value is None else None)
