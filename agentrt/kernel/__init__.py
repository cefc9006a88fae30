"""Floor 1: the deterministic scheduler. Pure: no wall clock, socket, logger or third party, except in ``hosts``.

``clock`` and ``agenda`` hold time; ``traps`` is the one door by which a strand suspends; ``strand``, ``scope`` and
``batch`` are what runs and how it is cancelled; ``kernel`` steps it all; ``signals`` is what strands wait for;
``rng`` and ``trace`` stand beside.
"""
