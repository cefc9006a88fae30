"""Selection trees: XML that says which behavior an agent is in, by boolean variables.

What authors use: ``SelectionLibrary`` (a folder of trees), ``SelectionTree`` (one of them, shared by all agents),
``SelectionState`` (the variables and the behavior of one agent, a driver of its body), ``LeafBehavior`` (what it does).

The way of a file, from one module to the next:

* ``xml``         bytes from anybody -> bounded elements that have a meaning where they stand, and all that is wrong;
* ``conditions``  expressions -> plain functions of the variables' bits;
* ``program``     the elements of a tree, with its blocks in place -> what is evaluated;
* ``library``     a folder -> trees by name; reading it again while agents use them; the report on a folder;
* ``state``       a tree under its name, and the state of one agent on it. ``views`` shows both.

Source: CryEngine, selection trees.
"""

from __future__ import annotations

from agentrt.selection.conditions import Condition
from agentrt.selection.library import ReloadReport, SelectionLibrary
from agentrt.selection.state import LeafBehavior, Phase, SelectionState, SelectionTree
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
