"""Signals by name: made when first asked for, the same each time, on the entity or kept by the agent."""

from __future__ import annotations

from agentrt import Action, Entity


class Watch(Action):
    """Ready once its entity rings."""

    does = "top"
    utility = 0.5

    async def think(self, ctx, args):
        value = await ctx.signals["bell"].wait()
        ctx.agent.entity.heard = value
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(1)


class Ears(Entity):
    __slots__ = ("heard",)


class Stranger:
    """A type that knows nothing of agentrt."""

    name = "stranger"


def test_an_entity_makes_a_signal_once():
    entity = Entity("human")
    assert entity.signal("bell") is entity.signal("bell")
    assert entity.signal("bell") is not entity.signal("horn")
    assert entity.signal("destroyed") is entity.destroyed


def test_an_action_waits_for_a_signal_of_its_entity(play):
    entity = Ears("human")
    agent = play.add(Watch, entity=entity)
    play.tick(1)
    assert agent.signal("bell") is entity.signal("bell")
    entity.signal("bell").emit("ding")
    play.tick(1)
    assert entity.heard == "ding"


def test_the_agent_keeps_them_for_an_entity_of_a_type_without_any(play):
    entity = Stranger()
    agent = play.add(Watch, entity=entity)
    play.tick(1)
    agent.signal("bell").emit("dong")
    play.tick(1)
    assert entity.heard == "dong"
    assert agent.signal("bell") is agent.signal("bell")


def test_a_method_of_that_name_that_means_something_else_is_left_alone(play):
    class Trader(Stranger):
        def signal(self, name):
            return 7

    agent = play.add(Watch, entity=Trader())
    play.tick(1)
    agent.signal("bell").emit()
    play.tick(1)
    assert agent.entity.heard is None
