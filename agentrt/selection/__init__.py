"""Selection trees: XML that says which behavior an agent is in, by boolean variables.

What authors use: ``SelectionLibrary`` (a folder of trees), ``SelectionTree`` (one of them, shared by all agents),
``SelectionState`` (the variables and the behavior of one agent, a driver of its body), ``LeafBehavior`` (what it does).

The way of a file, one module for each step:

* ``document``   bytes from anybody -> bounded elements with file and line;
* ``shape``      elements -> only those that have a meaning where they stand;
* ``blocks``     Refs -> what is in the blocks;
* ``condition``  expressions -> plain functions of the variables' bits;
* ``compiling``  the elements of a tree -> a ``program``, which is what is evaluated;
* ``library``    a folder -> trees by name; reading it again while agents use them;
* ``check``      the report behind ``agentrt selection check``.

``findings`` collects what is wrong on the way, all of it. The side of the agent is ``state``, with ``variables``,
``stage``, ``holding``, ``leaf`` and ``view``.

Source: seed 004.
"""

from __future__ import annotations

from agentrt.selection.conditions import Condition
from agentrt.selection.leaf import LeafBehavior
from agentrt.selection.library import ReloadReport, SelectionLibrary
from agentrt.selection.state import Phase, SelectionState
from agentrt.selection.tree import SelectionTree
from agentrt.selection.views import SelectionView
from agentrt.selection.xml import SelectionProblem

__all__ = [
    "Condition",
    "LeafBehavior",
    "Phase",
    "ReloadReport",
    "SelectionLibrary",
    "SelectionProblem",
    "SelectionState",
    "SelectionTree",
    "SelectionView",
]
