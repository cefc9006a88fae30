"""A behavior tree, declared in one block that has the shape of the tree.

It is shared by all creatures; ``memory`` is what one creature has of it. A decider says whether somebody wants to, by
flags that are checked or by its ``decide``; its behavior acts, and says False when it has had enough: then the others
are asked. What stands higher may interrupt what stands lower; what is active is not asked again.
"""

from __future__ import annotations

from enum import IntFlag

from agentrt.behavior import RANDOM, Activation, Behavior, BehaviorTree, Check, decider, group


class Sense(IntFlag):
    """What a creature perceives, for a while."""

    HIT = 1
    INVITED = 2
    ENEMY = 4


class Creature:
    """What outlives a behavior."""

    hunger = 3.0
    has_food = False


def find_food(at: Activation) -> bool:
    at.agent.has_food = at.duration >= 1
    return not at.agent.has_food


def eat_food(at: Activation) -> bool:
    at.agent.hunger -= 2
    at.agent.has_food = at.agent.hunger > 0
    return bool(at.agent.has_food)


def act(at: Activation) -> bool:
    return at.duration < 1


CREATURE = BehaviorTree(
    group("ROOT")[
        decider("FLEE", act, stimuli=Check(all_set=Sense.HIT)),
        group("GUARD", stimuli=Check(all_set=Sense.ENEMY))[
            decider("YELL_FOR_HELP", act, every=30.0),
            decider("FIGHT", act, stimuli=Check(all_set=Sense.ENEMY, all_clear=Sense.HIT)),
            decider("PATROL", act),
            decider("REST", Behavior("REST")),  # nothing to do, and no end to it
        ],
        "FIGHT",
        group("EAT", decide=lambda memory: memory.agent.hunger > 4, call_decide_on_redecide=True)[
            decider("FIND_FOOD", find_food, decide=lambda memory: not memory.agent.has_food),
            decider("EAT_FOOD", eat_food, decide=lambda memory: memory.agent.has_food),
        ],
        group("IDLE")[
            group("PLAY", RANDOM, stimuli=Check(all_set=Sense.INVITED))[
                decider("FLIP", act), decider("ROLL", act), decider("DANCE", act)
            ],
            "REST",
        ],
    ]
)

if __name__ == "__main__":
    memory = CREATURE.memory(Creature())
    told = {0.5: (Sense.INVITED, 2.0), 7.0: (Sense.ENEMY, 3.5), 9.0: (Sense.HIT, 1.5)}
    CREATURE.debug_output.function = print
    CREATURE.debug_output.level = 1
    for _ in range(50):
        if stimulus := told.get(memory.time):
            memory.stimuli.add(stimulus[0], timeout=stimulus[1])
        memory.agent.hunger += 0.25
        memory.tick(0.25, stimuli_flags=memory.stimuli.update(0.25))
    print(memory.debug_print_state(whole_tree=True))
