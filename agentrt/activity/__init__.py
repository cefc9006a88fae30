"""Floor 3: the activity planner.

Three rooms, each of which imports downward only:

* ``author``  what authors write, and what their hooks are given. It knows of the plan what the module ``seat`` asks.
* ``plan``    the machine that thinks, elects, runs and unwinds.
* ``tasks``   task groups: activities that somebody schedules from outside. Built on the plan, which knows nothing of
  them but that a spec may make its own units.

``states`` stands below them all: the tables of both state machines.

What authors write stands in ``agentrt``. From here they take the types of what a context hands them.
"""

from agentrt.activity.author.expected import CurrentFields, ExpectedStorage
from agentrt.activity.author.overlay import Overlay
from agentrt.activity.author.seat import ChildUtilities, Node, SpawnedFrame

__all__ = ["ChildUtilities", "CurrentFields", "ExpectedStorage", "Node", "Overlay", "SpawnedFrame"]
