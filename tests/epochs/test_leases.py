"""What an agent had reserved is kept for it when its world is rebuilt, until its plans had time to come for it."""

from __future__ import annotations

import sys

import pytest

from agentrt import Agent, Entity, Runtime
from agentrt.errors import DefinitionError, RebuildError
from agentrt.rebuild import restore_leases, save_leases


class Camp:
    """Two agents and three things; which is reserved for whom is all that is saved."""

    def __init__(self, runtime, ticks=4):
        self.things = [Entity("thing", name=f"thing {number}") for number in range(3)]
        self.ticks = ticks
        self.agents = [runtime.add(Agent(Entity("being", name=name))) for name in ("Ann", "Bob")]
        runtime.game = self

    def save(self):
        return [save_leases(agent, self.encode) for agent in self.agents]

    def load(self, saved):
        for agent, leases in zip(self.agents, saved, strict=True):
            restore_leases(agent, leases, self.things.__getitem__, ticks=self.ticks)

    def encode(self, thing):
        return self.things.index(thing) if thing in self.things else None


def make(every=5):
    runtime = Runtime(1, host="plain")
    Camp(runtime)
    runtime.rebuild_every(every, lambda runtime: runtime.game.save(), lambda runtime, saved: Camp(runtime).load(saved))
    return runtime


def test_what_is_reserved_is_kept_over_an_epoch_for_its_holder_alone():
    runtime = make()
    ann, bob = runtime.game.agents
    for _ in range(4):
        runtime.step()
    assert runtime.leases.acquire(runtime.game.things[2], ann)
    assert runtime.leases.acquire(runtime.game.things[0], ann)
    assert runtime.leases.acquire(runtime.game.things[1], bob)
    assert runtime.leases.acquire("nothing of this world", bob)
    runtime.step()
    assert runtime.kernel.rebuilt == runtime.tick == 5
    assert runtime.game.save() == [[2, 0], [1]]  # a save of now says the same, in the same order
    camp, leases = runtime.game, runtime.leases
    ann, bob = camp.agents
    assert [leases.holder(thing) for thing in camp.things] == [ann, bob, ann]
    assert [leases.is_leased(thing) for thing in camp.things] == [False, False, False]
    assert leases.acquire(camp.things[0], bob) is None
    lease = leases.acquire(camp.things[0], ann)
    assert lease is not None
    for _ in range(3):
        runtime.step()
        assert [leases.holder(thing) for thing in camp.things] == [ann, bob, ann]
    runtime.step()
    assert runtime.tick == 9
    assert [leases.holder(thing) for thing in camp.things] == [ann, None, None]
    lease.release()
    assert leases.acquire(camp.things[0], bob) is not None
    runtime.close()


def test_what_is_gone_or_another_s_is_told_of_and_the_rest_is_kept():
    runtime = make(every=0)
    camp, told = runtime.game, []
    ann, bob = camp.agents
    camp.things[2].destroy()
    runtime.leases.acquire(camp.things[1], bob)
    kept = restore_leases(
        ann, [0, 1, 2, 9], camp.things.__getitem__, lost=lambda error: told.append((error.pointer, error.text))
    )
    assert kept == [camp.things[0]]
    assert [pointer for pointer, _ in told] == ["/1", "/2", "/3"]
    assert "what 'Ann' had reserved: somebody else has it, or it is destroyed." in told[0][1]
    assert "it is gone" in told[2][1]
    with pytest.raises(RebuildError, match="it is gone"):
        restore_leases(ann, [9], camp.things.__getitem__)
    with pytest.raises(RebuildError, match="and not a list"):
        restore_leases(ann, {}, camp.things.__getitem__)
    with pytest.raises(RebuildError, match="the agent is in no runtime"):
        restore_leases(Agent(Entity("being")), [], camp.things.__getitem__)
    with pytest.raises(ValueError, match="at least 1"):
        restore_leases(ann, [], camp.things.__getitem__, ticks=0)
    runtime.close()


def test_a_thing_that_json_cannot_say_is_told_of():
    runtime = make(every=0)
    ann = runtime.game.agents[0]
    runtime.leases.acquire(runtime.game.things[0], ann)
    with pytest.raises(DefinitionError, match=r"what 'Ann' has reserved.*encode made \{1\} of it"):
        save_leases(ann, lambda thing: {1})
    runtime.close()


def calls_of_a_save(many):
    """How often functions are entered, and generators gone on with, to save so many agents with a thing for each."""
    runtime, count = Runtime(1, host="plain"), 0
    agents = [runtime.add(Agent(Entity("being", name=f"being {number}"))) for number in range(many)]
    for number, agent in enumerate(agents):
        restore_leases(agent, [number], lambda number: f"thing {number}")

    def profile(_frame, event, _arg):
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        saved = [save_leases(agent, lambda thing: thing) for agent in agents]
    finally:
        sys.setprofile(None)
    assert saved == [[f"thing {number}"] for number in range(many)]
    runtime.close()
    return count


@pytest.mark.checkout
def test_to_save_twice_as_many_agents_takes_twice_as_long():
    few, many = calls_of_a_save(40), calls_of_a_save(80)
    assert 0 < many <= 2 * few
