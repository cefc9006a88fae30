"""Ensembles: many runs of one world.

* ``sweep`` carries out a design (settings of parameters, times seeds), on all processors or on a cluster, and keeps a
  row of each run in a file; started again, it goes on where it was.
"""

from agentrt.ensembles.store import RunRow
from agentrt.ensembles.sweep import Sweep, SweepState, sweep

__all__ = ["RunRow", "Sweep", "SweepState", "sweep"]
