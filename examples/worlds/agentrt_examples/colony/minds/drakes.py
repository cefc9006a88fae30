"""Drakes: a kind of animal that guards its nest, by a behavior tree that all drakes share.

The tree is declared in one block, below. It reads *decision flags* (``State``: badly hurt, night), and *stimuli*
(``Sense``): what happened a moment ago. The drake was hit, somebody calls for help; and, as notes to itself, it growled
or found a pasture. Stimuli are a component of the drake, not of its memory of the tree, and are saved with the game.

* Two drakes share a nest; one is on watch, the other eats and sleeps. The group's behavior ``GuardNest`` tells the nest
  who is on watch, and ends the watch by failing its group: then the deciders below get their turn.
* Whoever growls or fights calls the other. A helper enters the group as well, and leaves it when the call has faded.
* A foe is chosen in Decide and handed to the behavior in a DBlock, so that it is looked for once.
* What takes time is a coroutine; running, walking and fleeing are activities of the standard library.

Source: Spore, behavior trees: S01 (Figure 1), S06, S07, S08, S11 (GUARD_NEST_GROUP and its children).
"""

from __future__ import annotations

from agentrt import Entity
from agentrt.behavior import BehaviorTree, Check, Memory, Stimuli, decider, group
from agentrt_examples.colony.bodies import Fear, Needs
from agentrt_examples.colony.minds.drake_behaviors import (
    Brood,
    EatFood,
    Fight,
    FindFood,
    Flee,
    Growl,
    GuardNest,
    Help,
    Loiter,
    Patrol,
    Sleep,
)
from agentrt_examples.colony.minds.drake_senses import (
    Foe,
    Sense,
    State,
    is_at_nest,
    may_be_fought,
    nest_of,
    state_of,
    steps_to,
)

__all__ = ["DRAKE", "mind"]

_NEAR = 3  # steps: who comes so near is bitten
_HUNGRY = 450  # of 1,000
_TIRED = 350
_SLEEPY = 700


def _in_danger(memory: Memory) -> bool:
    return bool(memory.agent[Fear].nearby)


def _should_guard(memory: Memory) -> bool:
    return Sense.HELP in memory.stimuli or nest_of(memory.agent).is_turn_of(memory.agent)


def _can_help(memory: Memory, foe: Foe) -> bool:
    intruder: Entity | None = memory.stimuli.data(Sense.HELP)
    foe.entity = intruder
    drake = memory.agent
    return intruder is not None and may_be_fought(drake, intruder) and steps_to(drake, intruder) > _NEAR


def _foe_is_near(memory: Memory, foe: Foe) -> bool:
    drake: Entity = memory.agent
    for wolf in drake[Fear].nearby:
        if may_be_fought(drake, wolf) and (steps_to(drake, wolf) <= _NEAR or is_at_nest(drake, wolf, 1)):
            foe.entity = wolf
            return True
    hit: Entity | None = memory.stimuli.data(Sense.HIT)
    foe.entity = hit
    return hit is not None and may_be_fought(drake, hit) and steps_to(drake, hit) <= _NEAR


def _foe_is_in_sight(memory: Memory, foe: Foe) -> bool:
    nearby = memory.agent[Fear].nearby
    foe.entity = nearby[0] if nearby else None
    return bool(nearby)


def _is_hungry(memory: Memory) -> bool:
    return bool(memory.agent[Needs].satiety < _HUNGRY)


def _is_tired(memory: Memory) -> bool:
    return bool(memory.agent[Needs].rest < _TIRED)


def _is_sleepy(memory: Memory) -> bool:
    return bool(memory.agent[Needs].rest < _SLEEPY)


DRAKE = BehaviorTree(
    group("ROOT")[
        decider("FLEE", Flee, decide=_in_danger, decision=Check(all_set=State.HURT)),
        group("GUARD_NEST_GROUP", behavior=GuardNest, decide=_should_guard, call_decide_on_redecide=True)[
            decider("GUARD_NEST_HELP", Help, decide=_can_help, stimuli=Check(all_set=Sense.HELP), dblock=Foe),
            decider("GUARD_NEST_FIGHT", Fight, decide=_foe_is_near, dblock=Foe),
            decider(
                "GUARD_NEST_GROWL", Growl, decide=_foe_is_in_sight, stimuli=Check(all_clear=Sense.GROWLED), dblock=Foe
            ),
            decider("GUARD_NEST_PATROL", Patrol, every=12.0),
            decider("GUARD_NEST_IDLE", Brood),
        ],
        group("EAT", decide=_is_hungry)[
            decider("FIND_FOOD", FindFood, stimuli=Check(all_clear=Sense.PASTURE)),
            decider("EAT_FOOD", EatFood),
        ],
        decider("SLEEP", Sleep, decide=_is_tired),
        decider("DOZE", Sleep, decide=_is_sleepy, decision=Check(all_set=State.NIGHT)),
        decider("IDLE", Loiter),
    ],
    name="drake",
)
"""The tree of all drakes."""

DRAKE.initialize_tree_data()


def mind(drake: Entity) -> Memory:
    """What drives one drake.

    Args:
        drake: who; it has ``Stimuli``.
    """
    return DRAKE.memory(drake, stimuli=drake[Stimuli], decision_flags=state_of)
