"""Tools for tests: worlds that are driven tick by tick, without waiting; what can be claimed of them; stubs; faults.

With pytest there are fixtures besides: see ``plugin``. Strategies for hypothesis stand in
``agentrt.testing.strategies``, which is not imported here: it needs a package that few programs have.
"""

from agentrt.errors import InjectedFault, InvariantError, TraceMismatch
from agentrt.kernel.trace import TraceDigest
from agentrt.testing.chaos import ChaosFault, ChaosReport, Failure, exhaust
from agentrt.testing.invariants import Violation, check_trace
from agentrt.testing.matchers import Pattern, between, happened, in_order, never, pairs
from agentrt.testing.simulation import Simulation
from agentrt.testing.solving import Have, StubBody, StubStrategy, course, failed, solved, stub_strategy, tried
from agentrt.testing.stubs import (
    AskedCall,
    HookCall,
    HookCalls,
    StubAction,
    StubOutside,
    StubPlan,
    StubService,
    stub_action,
    stub_plan,
)

__all__ = [
    "AskedCall",
    "ChaosReport",
    "Failure",
    "ChaosFault",
    "Have",
    "HookCall",
    "HookCalls",
    "InjectedFault",
    "InvariantError",
    "Pattern",
    "Simulation",
    "StubAction",
    "StubBody",
    "StubOutside",
    "StubPlan",
    "StubService",
    "StubStrategy",
    "TraceDigest",
    "TraceMismatch",
    "Violation",
    "between",
    "check_trace",
    "course",
    "exhaust",
    "failed",
    "happened",
    "in_order",
    "never",
    "pairs",
    "solved",
    "stub_action",
    "stub_plan",
    "stub_strategy",
    "tried",
]
