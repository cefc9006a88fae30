"""Strategies: ask for a thing, and the agent works out the rest.

The door for people who write strategies; ``agent.gameplay`` is the one for those who use them.

Source: prismarine-gameplay.
"""

from agentrt.strategy.ask import (
    Accuracy,
    Ask,
    Branch,
    Calls,
    Dependency,
    Foreseen,
    Interruptible,
    Interruption,
    NodeKind,
    Offer,
    Order,
    Outcome,
    Params,
    Strategy,
    StrategyContext,
    TaskNode,
    strategy,
    tries_for,
)
from agentrt.strategy.gameplay import Gameplay, Opportunity, Trigger
from agentrt.strategy.solve import Request
from agentrt.strategy.views import GameplayView, OfferView, RequestView, TaskNodeView

__all__ = [
    "Accuracy",
    "Ask",
    "Branch",
    "Calls",
    "Dependency",
    "Foreseen",
    "Gameplay",
    "GameplayView",
    "Interruptible",
    "Interruption",
    "NodeKind",
    "Offer",
    "OfferView",
    "Opportunity",
    "Order",
    "Outcome",
    "Params",
    "Request",
    "RequestView",
    "Strategy",
    "StrategyContext",
    "TaskNode",
    "TaskNodeView",
    "Trigger",
    "strategy",
    "tries_for",
]
