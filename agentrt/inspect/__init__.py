"""The inspector: a page in the browser that shows what a runtime does, live, or what a recording holds.

``Inspector`` is all that a program needs. ``write_html`` makes one file of the page and a recording, for who has no
server. What clients and server say to each other stands in ``protocol``.
"""

from agentrt.inspect.inspector import DEFAULT_PORT, Inspector
from agentrt.inspect.onefile import OneFile, write_html

__all__ = ["DEFAULT_PORT", "Inspector", "OneFile", "write_html"]
