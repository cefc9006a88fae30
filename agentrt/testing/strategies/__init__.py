"""Strategies for hypothesis: random packs, plans, goals, trees, catalogs and courses of events, all of them valid.

Needs the extra ``testing``; nothing else of the library imports hypothesis. What is drawn is a *case*: plain
data that says in its repr what it is, and makes the things themselves anew whenever it is asked, so that two runs of
one case share nothing. The hooks of all that is made are stubs, which write down what is called. All of them shrink: to
fewer parts, to the first of several names, to earlier ticks.
"""

from agentrt.errors import MissingExtraError as _MissingExtraError

try:
    import hypothesis as _hypothesis  # noqa: F401
except ImportError as _error:
    raise _MissingExtraError("testing", "hypothesis") from _error

from agentrt.testing.strategies.behavior import BehaviorCase, DeciderSpec, behavior_trees
from agentrt.testing.strategies.gameplays import GameplayCase, WaySpec, gameplays
from agentrt.testing.strategies.goals import GoalCase, GoalSpec, goal_selectors
from agentrt.testing.strategies.packs import PackCase, packs
from agentrt.testing.strategies.plans import PlanCase, StubActionSpec, plans
from agentrt.testing.strategies.schedules import Happening, play, schedules
from agentrt.testing.strategies.selection import NodeSpec, SelectionCase, conditions, selection_trees

__all__ = [
    "StubActionSpec",
    "BehaviorCase",
    "DeciderSpec",
    "GameplayCase",
    "GoalCase",
    "GoalSpec",
    "Happening",
    "NodeSpec",
    "PackCase",
    "PlanCase",
    "SelectionCase",
    "WaySpec",
    "behavior_trees",
    "conditions",
    "gameplays",
    "goal_selectors",
    "packs",
    "plans",
    "play",
    "schedules",
    "selection_trees",
]
