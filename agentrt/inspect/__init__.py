"""The inspector: a page in the browser that shows what a runtime does, live, or what a recording holds.

``Inspector`` is all that a program needs. What clients and server say to each other stands in ``protocol``; what a
program would have to say to draw a page of its own, in the documentation of the inspector.
"""

from agentrt.inspect.inspector import DEFAULT_PORT, Inspector

__all__ = ["DEFAULT_PORT", "Inspector"]
