"""The mind of the miner: an agent, what it looks out for, and what it tells its memo of estimates.

Its strategies come with the pack of its entity (``packs/miner.json``), and with whatever other packages mix into that.
Nothing here knows how anything is done. What may come up is declared once, for the agent; no strategy says a word about
being attacked, hungry or poisoned.

Source: prismarine-gameplay: "Interrupting Tasks".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from agentrt import Agent, Entity
from agentrt.strategy import Dependency, Opportunity, Trigger
from agentrt_examples import everything
from agentrt_examples.miner.places import steps_apart
from agentrt_examples.miner.rules import BLOCK_NUMBERS, BLOCKS, ITEMS, dig_ticks
from agentrt_examples.miner.strategies.needs import Collect, Feed, Recover, Survive
from agentrt_examples.miner.times import RATE

if TYPE_CHECKING:
    from agentrt_examples.miner.legs import Miner

__all__ = ["OPPORTUNITY", "TRIGGERS", "by_the_way", "make_mind", "offers", "tell"]

_BY_THE_WAY = {"oak_log": "oak_log", "iron_ore": "raw_iron", "coal_ore": "coal"}
_STEPS = 5
_STEP = 0.3  # seconds for a step
_WEAK = 7  # health below which it rests
_WELL = 12  # health until which it does


def _remedy(effect: str) -> Dependency[Any] | None:
    return Recover(1, effect) if effect == "poison" else None


TRIGGERS: tuple[Trigger, ...] = (
    Trigger(name="attacked", on="attacked", solve=Survive, priority=2),
    Trigger(name="hurt", when=lambda agent: agent.entity.vitals.health < _WEAK, solve=Recover(_WELL), again_after=30.0),
    Trigger(name="an effect", on="affected", solve=_remedy),
    Trigger(name="hungry", on="hungry", solve=Feed(), priority=1, again_after=120.0),
)
"""What it looks out for."""


def by_the_way(agent: Any) -> Iterator[tuple[Dependency[Any], float]]:
    """What lies within a few steps and may be needed later, with the detour in game seconds.

    Args:
        agent: whose.
    """
    miner: Miner = agent.entity
    for kind, item in _BY_THE_WAY.items():
        block = BLOCKS[BLOCK_NUMBERS[kind]]
        tool = miner.tool_for(block)
        for place in miner.known(kind):
            apart = steps_apart(place, miner.place)
            if apart <= _STEPS and (not block.tier or tool is not None):
                ticks = dig_ticks(None if tool is None else ITEMS[tool.item], block)
                yield Collect(item, miner.stock.get(item, 0) + 1), 2 * apart * _STEP + ticks / RATE


OPPORTUNITY = Opportunity(name="by the way", find=by_the_way, every=4.0, again_after=4.0)
"""What it takes along."""


def tell(agent: Agent, entity: Entity) -> None:
    """Have the signals of a body make estimates forget what rests on them.

    Args:
        agent: whose estimates.
        entity: whose signals: ``inventory``, ``seen``, ``moved``, ``dimension``, ``hurt``, ``hungry``.
    """
    topics = {
        "inventory": ("inventory", "stock", "uses"),
        "seen": ("memory",),
        "moved": ("place",),
        "dimension": ("place", "where", "memory"),
        "hurt": ("vitals",),
        "hungry": ("vitals",),
    }
    for signal, changed in topics.items():
        entity.signal(signal).connect(_forgetting(agent, changed))


def _forgetting(agent: Agent, topics: tuple[str, ...]) -> Callable[[Any], None]:
    return lambda _: agent.gameplay.changed(*topics)


def offers(miner: Miner) -> dict[str, object]:
    """What a miner offers to whoever watches: how it is, and what it carries.

    Args:
        miner: its entity.
    """
    vitals = miner.vitals
    own = {"health": vitals.health, "food": vitals.food, "exhaustion": vitals.exhaustion, "is_hungry": vitals.is_hungry}
    return {**own, "effects": dict.fromkeys(vitals.effects, True), "carries": miner.inventory.counts()}


def make_mind(miner: Miner) -> Agent:
    """Make the agent of a miner.

    Args:
        miner: its entity.

    Returns:
        The agent, which knows the strategies of its packs and looks out for all triggers.
    """
    agent = Agent(miner, name=miner.name, registry=everything())
    agent.values = lambda: offers(miner)
    # The branches of a search differ in how long it takes and not in what it needs: to prepare the others pays little.
    agent.gameplay.prepare_asks = 0
    for trigger in TRIGGERS:
        agent.gameplay.add_trigger(trigger)
    agent.gameplay.add_opportunity(OPPORTUNITY)
    tell(agent, miner)
    return agent
