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

from agentrt.testing.strategies.cases import (
    BehaviorCase,
    DeciderSpec,
    GameplayCase,
    GoalCase,
    GoalSpec,
    Happening,
    NodeSpec,
    PackCase,
    PlanCase,
    SelectionCase,
    StubActionSpec,
    WaySpec,
    behavior_trees,
    conditions,
    gameplays,
    goal_selectors,
    packs,
    plans,
    play,
    schedules,
    selection_trees,
)

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
