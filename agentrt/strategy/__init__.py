"""Strategies: ask for a thing, and the agent works out the rest.

The door for people who write strategies; ``agent.gameplay`` is the one for those who use them.

Source: seed 003; design section 6.
"""

from agentrt.strategy.catalog import Calls
from agentrt.strategy.context import Order, StrategyContext
from agentrt.strategy.declare import Branch, Dependency, Interruptible, Params, Strategy, strategy
from agentrt.strategy.estimate import Ask, Offer
from agentrt.strategy.gameplay import Gameplay
from agentrt.strategy.interrupt import Interruption
from agentrt.strategy.lookahead import Foreseen
from agentrt.strategy.requests import Request
from agentrt.strategy.tree import Accuracy, NodeKind, Outcome, TaskNode
from agentrt.strategy.triggers import Opportunity, Trigger
from agentrt.strategy.views import GameplayView, OfferView, RequestView, TaskView
from agentrt.strategy.worlds import tries_for

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
    "TaskView",
    "Trigger",
    "strategy",
    "tries_for",
]
