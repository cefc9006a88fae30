"""Goal selectors: goals with priorities and control flags, decided anew in every second tick.

For whoever writes goals. A goal derives from ``Goal``; a ``GoalSelector`` decides which of its goals run; it drives an
agent (``agent.attach(selector)``), or is ticked by hand.

Source: Minecraft, goal selectors.
"""

from agentrt.body.driver import GOALS, TARGETS
from agentrt.body.flags import JUMP, LOOK, MOVE, TARGET
from agentrt.goals.goal import Goal
from agentrt.goals.selector import GoalSelector, WrappedGoal
from agentrt.goals.views import GoalSelectorView, GoalView

__all__ = [
    "GOALS",
    "JUMP",
    "LOOK",
    "MOVE",
    "TARGET",
    "TARGETS",
    "Goal",
    "GoalSelector",
    "GoalSelectorView",
    "GoalView",
    "WrappedGoal",
]
