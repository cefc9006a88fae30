"""The inspector: a page in the browser that shows what a runtime does, live, or what a recording holds.

``Inspector`` is all that a program needs. What clients and server say to each other stands in ``protocol``.
"""

from agentrt.inspect.inspector import DEFAULT_PORT, Inspector

__all__ = ["DEFAULT_PORT", "Inspector"]
