"""Floor 1: the deterministic scheduler. Pure: no socket, logger or third party; real time only in hosts.

``clock`` and ``agenda`` hold time; ``traps`` is the one door by which a strand suspends; ``strand`` and ``batch`` are
what runs, and ``strand`` how it is cancelled; ``kernel`` steps it all; ``signals`` is what strands wait for; ``rng``
and ``trace`` stand beside. ``roles`` says what these are to each other. ``plain`` is the host without an event loop;
those with one lie in ``hosts`` and are imported only where they are used.
"""
