"""Ensembles: many runs of one world, to see what is chance, what a parameter changes, and which numbers are best.

* ``sweep`` carries out a design (settings of parameters, times seeds) on all processors or on a cluster, and keeps a
  row of each run in a file; started again, it goes on where it was.
* ``RunStore`` reads that file, ``EnsembleReport`` says what it means, ``write_csv`` and ``write_parquet`` hand it to
  other tools.
* ``tune`` searches for the parameters with which a measure is best, and tries them with seeds that it has not seen.
"""

from agentrt.ensembles.report import Contrast, EnsembleReport, RunGroup, Summary
from agentrt.ensembles.store import RunRow, RunStore, write_csv, write_parquet
from agentrt.ensembles.sweep import SweepResult, SweepState, sweep
from agentrt.ensembles.tune import Trial, TuneResult, tune

__all__ = [
    "Contrast",
    "RunGroup",
    "EnsembleReport",
    "RunRow",
    "RunStore",
    "Summary",
    "SweepResult",
    "SweepState",
    "Trial",
    "TuneResult",
    "sweep",
    "tune",
    "write_csv",
    "write_parquet",
]
