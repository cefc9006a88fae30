"""What the beings of the colony offer to whoever watches, and that looking at it changes nothing."""

from __future__ import annotations

import pytest

from agentrt.expressions import Expression
from agentrt.snapshot import offered, values_by_name
from agentrt.testing import TraceDigest
from agentrt_examples.colony.bodies import Health, Needs
from agentrt_examples.colony.colony import Colony


def units(frame):
    for unit in frame.units:
        yield unit
        for child in unit.frames:
            yield from units(child)


@pytest.mark.states("tools: Values: The colony, the miner and Crafter offer theirs", source="design 7")
def test_each_being_says_how_it_is(colony):
    for _ in range(60):
        colony.runtime.step()
    for agent in colony.runtime.agents:
        needs, health = agent.entity.get(Needs), agent.entity.get(Health)
        values = values_by_name(offered(agent.snapshot().as_json()))
        if needs is not None:
            assert values["hunger"] == needs.hunger
            assert values["Needs.satiety"] == needs.satiety
            assert Expression("abs(1 - hunger - satiety / 1000) < 0.001").value(values) is True
        if health is not None:
            assert values["health"] == health.points / health.most
        assert agent.values is not None


def test_eating_shows_the_hunger_behind_it(colony):
    seen = 0
    while seen < 3:
        colony.runtime.step()
        assert colony.runtime.tick < 1500, "nobody was hungry"
        for agent in colony.runtime.agents if colony.runtime.tick % 20 == 0 else ():
            snapshot = agent.snapshot()
            for unit in units(snapshot.plan):
                if unit.action == "Eat" and unit.is_elected:
                    seen += 1
                    assert unit.made_of == {"hunger": snapshot.values[""]["hunger"]}
                    assert f"(of hunger {unit.made_of['hunger']:g})" in agent.explain()


@pytest.mark.slow
def test_looking_changes_nothing():
    digests = []
    for looks in (False, True):
        colony = Colony(seed=7)
        digest = TraceDigest(colony.runtime.trace)
        for _ in range(40):
            colony.runtime.step()
            if looks and colony.runtime.tick % 10 == 0:
                assert all(offered(agent.snapshot().as_json()) for agent in colony.runtime.agents)
        digests.append(digest.hexdigest())
        colony.runtime.close()
    assert digests[0] == digests[1]
