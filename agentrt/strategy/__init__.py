"""Strategies: ask for a thing, and the agent works out the rest.

The door for people who write strategies; ``agent.gameplay`` is the one for those who use them.

Source: seed 003; design section 6.
"""

from agentrt.strategy.asking import Ask
from agentrt.strategy.calls import Calls
from agentrt.strategy.context import Order, StrategyContext
from agentrt.strategy.dependency import Dependency
from agentrt.strategy.forecast import Foreseen
from agentrt.strategy.gameplay import Gameplay
from agentrt.strategy.interrupting import Interruption
from agentrt.strategy.offers import Offer
from agentrt.strategy.opportunities import Opportunity
from agentrt.strategy.params import Params
from agentrt.strategy.records import Accuracy
from agentrt.strategy.requests import Request
from agentrt.strategy.strategy import Branch, Interruptible, Strategy, strategy
from agentrt.strategy.supplies import tries_for
from agentrt.strategy.tree import NodeKind, Outcome, TaskNode
from agentrt.strategy.triggers import Trigger
from agentrt.strategy.views import GameplayView, OfferView, RequestView, TaskView

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
