"""Floor 3: the activity planner.

What authors write: ``action``, ``fields``, ``placeholders``, ``context``. What runs it: ``frame`` (an activity at one
place of a plan, and the election in it), ``unit`` and ``compound`` (an action there), ``execution`` (the stack,
unwinding, aborts), ``planner`` (what all of these share). ``states`` holds the tables of both state machines.
"""
