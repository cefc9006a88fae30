"""Floor 1: the deterministic scheduler. Pure: no socket, logger or third party; real time only in hosts.

``clock`` turns seconds into ticks; ``traps`` is the one door by which a strand suspends; ``strand`` is what runs, and
how it is cancelled; ``kernel`` holds time and steps it all; ``signals`` is what strands wait for; ``rng`` and ``trace``
stand beside. ``roles`` says what these are to each other. The host without an event loop stands in ``kernel``; those
with one lie in ``hosts`` and are imported only where they are used; ``foreign`` is what all of them do with what is not
the kernel's.

What authors await stands in ``agentrt``. From here they take the types of what they are given: the random numbers of an
agent, what listens to a signal, the records of a trace.
"""

from agentrt.kernel.rng import Stream
from agentrt.kernel.signals import Connection
from agentrt.kernel.trace import TraceEvent, TraceHub, TraceRecord

__all__ = ["Connection", "Stream", "TraceEvent", "TraceHub", "TraceRecord"]
