"""The colony's drawing: who is there, what is reserved, and that looking changes nothing."""

from __future__ import annotations

import pytest

from agentrt.testing import TraceDigest
from agentrt_examples.colony.bodies import Position
from agentrt_examples.colony.colony import Colony


@pytest.mark.states(
    "tools: World: The colony, the miner and Crafter offer theirs; terminal views are made of the same ..."
)
def test_each_agent_stands_where_it_is(colony):
    for _ in range(60):
        colony.runtime.step()
    marks = {mark.agent: mark for mark in colony.runtime.draw().marks.values() if mark.agent}
    assert sorted(marks) == sorted(agent.name for agent in colony.runtime.agents)
    for agent in colony.runtime.agents:
        mark = marks[agent.name]
        assert (mark.x, mark.y) == agent.entity[Position].location
    assert marks["Alva"].label == "Alva"


def test_what_is_reserved_names_who_has_it(colony):
    for _ in range(60):
        colony.runtime.step()
    leases, census = colony.runtime.leases, colony.town.census
    held = {entity.name: leases.holder(entity).name for entity in census.find("plot") if leases.is_leased(entity)}
    drawn = colony.runtime.draw().marks
    found = {entity.name: drawn[f"{entity.id:05}"].holder for entity in census.find("plot")}
    assert held
    assert {name: holder for name, holder in found.items() if holder} == held


@pytest.mark.untraced
@pytest.mark.states("tools: World: Drawing changes nothing: a run that is drawn has the digest of one that is not ...")
def test_looking_changes_nothing():
    digests = []
    for looks in (False, True):
        colony = Colony(seed=7)
        digest = TraceDigest(colony.runtime.trace)
        for _ in range(250):
            colony.runtime.step()
            if looks:
                colony.runtime.draw()
        digests.append(digest.hexdigest())
        assert colony.runtime.drawing is not None  # no drawing failed
        colony.runtime.close()
    assert digests[0] == digests[1]
