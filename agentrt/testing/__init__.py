"""Tools for tests: worlds that are driven tick by tick, without waiting; what can be claimed of them; stubs; faults.

With pytest there are fixtures besides: see ``plugin``. Strategies for hypothesis stand in
``agentrt.testing.strategies``, which is not imported here: it needs a package that few programs have.
"""

from agentrt.errors import InjectedFault, InvariantError, TraceMismatch
from agentrt.kernel.trace import TraceDigest
from agentrt.testing.chaos import ChaosReport, Failure
from agentrt.testing.chaos_faults import Fault
from agentrt.testing.exhausting import exhaust
from agentrt.testing.invariants import Violation, check_trace
from agentrt.testing.matchers import Pattern, between, happened, in_order, never, pairs
from agentrt.testing.outside import AskedCall, StubOutside, StubService
from agentrt.testing.simulation import Simulation
from agentrt.testing.solving import course, failed, solved, tried
from agentrt.testing.solving_stubs import Have, StubBody, StubStrategy, stub_strategy
from agentrt.testing.stubs import HookCall, HookCalls, StubAction, StubPlan, stub_action, stub_plan

__all__ = [
    "AskedCall",
    "ChaosReport",
    "Failure",
    "Fault",
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
