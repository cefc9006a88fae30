"""Everything on one body wants the same few parts: nobody uses what somebody else uses, and nobody is left out.

Actions, goals, behaviors and leaves come to want something and cease to at random, at random precedences, with
clean-ups of up to three ticks. They say themselves what they use: the ledger is not asked.
"""

from __future__ import annotations

import random

import pytest
from modules import load

Crowd = load("tests/runtime/crowded_body.py").Crowd


@pytest.mark.parametrize("seed", range(30))
def test_two_never_use_one_part(seed):
    draw = random.Random(seed)
    crowd = Crowd(draw)
    try:
        live(crowd, draw)
    finally:
        crowd.sim.close()
    assert crowd.use.by_part == {}


def live(crowd, draw):
    for _ in range(80):
        for name in draw.sample(crowd.names, 3):
            crowd.want(name, draw.random() < 0.5)
        crowd.tick(1)
    crowd.calm()
    for name in crowd.names:
        crowd.want(name, True)
        crowd.tick(12)
        assert name in crowd.use.by_part.values(), f"{name} is left out: {crowd.agent.explain()}"
        crowd.want(name, False)
        crowd.tick(12)
