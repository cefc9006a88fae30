"""Tools for tests: worlds that are driven tick by tick, without waiting."""

from agentrt.kernel.trace import TraceDigest
from agentrt.testing.simulation import Simulation

__all__ = ["Simulation", "TraceDigest"]
