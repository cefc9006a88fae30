"""The design of an ensemble: which runs it has. Settings of a world's parameters, times seeds.

A *setting* is what a world is given, written as JSON with sorted names: one text for equal settings, which a file keeps
and two programs can compare. Parameters that are not given stay at their defaults and are not in it. A *run* is a
setting, a seed and a number of ticks; all else follows from the code.

Texts are read as a command line has them: ``0:200`` or ``1,5,9`` for seeds, ``2,8`` or ``0.3:0.9:7`` (from, to, how
many) for the values of a parameter. Steps are computed as fractions: 0.3:0.9:7 has 0.6 in it and not
0.6000000000000001.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Final

from agentrt.errors import EnsembleError
from agentrt.words import repr_of
from agentrt.worlds import Parameter, TakesParameters, Value, World, checked_params

MOST_RUNS: Final = 1_000_000  # of one design: more is a slip, such as a zero too many
MOST_VALUES: Final = 10_000  # of one parameter between two numbers
MOST_DIGITS: Final = 18  # of a seed, which SQLite keeps in 64 bits

_SEEDS = re.compile(r"(-?\d{1,18})(?::(-?\d{1,18}))?")
_SPREAD = re.compile(r"([^:]+):([^:]+):(\d{1,7})")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of an ensemble."""

    setting: str  # the parameters that are given, as JSON
    seed: int
    ticks: int

    @property
    def params(self) -> dict[str, Value]:
        """The parameters that are given."""
        return dict(json.loads(self.setting))


def setting_of(params: Mapping[str, Value]) -> str:
    """Parameters as one text."""
    return json.dumps(dict(sorted(params.items())))


def runs_of(world: World, params: Mapping[str, object], seeds: str | Iterable[int], ticks: int) -> list[Run]:
    """All runs of a design: each setting with each seed, in the order in which they are given.

    Raises:
        ParameterError: the world does not take one of the parameters.
        EnsembleError: there are no seeds, no values, too many runs, or a text cannot be read.
    """
    if type(ticks) is not int or ticks < 1:
        raise EnsembleError("the ticks of each run", f"{repr_of(ticks, 80)} is no number of ticks", "Run 1 or more.")
    chosen = seeds_of(seeds)
    choices = {name: _choices(world, name, given) for name, given in params.items()}
    count = len(chosen) * prod(map(len, choices.values()))
    if count > MOST_RUNS:
        raise EnsembleError("the design", f"it has {count} runs", f"Have {MOST_RUNS} or fewer.")
    settings = [
        setting_of(checked_params(world, dict(zip(choices, values, strict=True))))
        for values in itertools.product(*choices.values())
    ]
    return [Run(setting, seed, ticks) for setting in dict.fromkeys(settings) for seed in chosen]


def seeds_of(given: str | Iterable[int]) -> list[int]:
    """Seeds, each once: of numbers, or of a text such as ``0:200`` (without 200) or ``1,5,9``."""
    if isinstance(given, str):
        chosen = [seed for part in given.split(",") for seed in _seeds_in(part.strip())]
    else:
        chosen = list(itertools.islice(given, MOST_RUNS + 1))
    for seed in chosen:
        if type(seed) is not int or abs(seed) >= 10**MOST_DIGITS:
            raise EnsembleError("the seeds", f"{repr_of(seed, 80)} is no seed", "Use whole numbers of 18 digits.")
    if not chosen:
        raise EnsembleError("the seeds", "there are none", "Write 0:20 for twenty of them.")
    return list(dict.fromkeys(chosen))


def _seeds_in(part: str) -> Iterable[int]:
    read = _SEEDS.fullmatch(part)
    if read is None:
        remedy = "Write 0:200 for 0 to 199, or 1,5,9."
        raise EnsembleError("the seeds", f"{repr_of(part, 80)} is no seed and no range of seeds", remedy)
    first, end = int(read[1]), read[2]
    if end is None:
        return [first]
    if not first < int(end):
        raise EnsembleError(
            "the seeds", f"the range {part} is empty", "Write the lower one first; the last is left out."
        )
    if int(end) - first > MOST_RUNS:
        raise EnsembleError("the seeds", f"the range {part} is too long", f"Have {MOST_RUNS} or fewer.")
    return range(first, int(end))


def _choices(world: World, name: str, given: object) -> list[object]:
    """The values of one parameter, in the order in which they are given; not checked yet."""
    parameter = world.parameters.get(name) if isinstance(world, TakesParameters) else None
    if isinstance(given, str):
        values = [value for part in given.split(",") for value in _values_in(part.strip(), name, parameter)]
    elif isinstance(given, Iterable):
        values = list(itertools.islice(given, MOST_RUNS + 1))
    else:
        values = [given]
    if not values:
        raise EnsembleError(f"the parameter '{name}'", "it is given no value", "Give one, or leave it out.")
    return values


def _values_in(part: str, name: str, parameter: Parameter | None) -> list[object]:
    """What one part of a text stands for: a value, or several between two numbers."""
    if parameter is None or type(parameter.default) not in (int, float):
        return [part]  # a text may have colons in it
    read = _SPREAD.fullmatch(part)
    if read is None:
        return [part]
    about = f"the parameter '{name}'"
    try:
        low, high, count = Fraction(read[1]), Fraction(read[2]), int(read[3])
    except (ValueError, ZeroDivisionError):
        remedy = "Write 0.3:0.9:7 for seven values from 0.3 to 0.9."
        raise EnsembleError(about, f"{repr_of(part, 80)} is no range of numbers", remedy) from None
    if not (2 <= count <= MOST_VALUES and low < high):
        remedy = f"Write the lower one first, and 2 to {MOST_VALUES} values."
        raise EnsembleError(about, f"the range {part} is none", remedy)
    values = [low + (high - low) * step / (count - 1) for step in range(count)]
    if type(parameter.default) is float:
        return [float(value) for value in values]
    if any(value.denominator != 1 for value in values):
        raise EnsembleError(about, f"not all of {part} are whole numbers", "Take another number of values.")
    return [int(value) for value in values]
