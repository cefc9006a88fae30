"""Floor 2: what all decision models share: entities with components, control flags, leases.

From here take what a world shares between agents (``LeaseBook``), what a decision model of your own needs (``Driver``,
``LoneBody``), and the types of what an agent and its entity have.
"""

from agentrt.body.budget import WaitTimes
from agentrt.body.driver import Driver, LoneBody
from agentrt.body.entity import NamedSignals
from agentrt.body.flags import FlagLedger, Refusal
from agentrt.body.leases import Lease, LeaseBook

__all__ = ["Driver", "FlagLedger", "Lease", "LeaseBook", "LoneBody", "NamedSignals", "Refusal", "WaitTimes"]
