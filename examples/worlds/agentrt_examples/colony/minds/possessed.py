"""Possessed: one body, four minds. It lives as everybody does, by its plan; a wolf, dancers and the moon have a say.

=====  ==================  ===========================================================================================
rank   model               what it wants
=====  ==================  ===========================================================================================
0      selection tree      says, by ``data/selection/Possessed.xml``, who has the say: whose claims for control flags
                           have the higher precedence
2      goal selector       the wolf: to shudder (LOOK), to stagger a step aside and back (MOVE), to howl at night (LOOK)
3      behavior tree       the dancers: to flip, roll and dance when the moon is up (MOVE and LOOK)
after  the plan            to work, to eat, to sleep: whatever walks holds MOVE, whoever draws holds LOOK
=====  ==================  ===========================================================================================

They never drive the same legs, because all of them take their flags from one ledger. By day whoever comes first keeps
what it has; while the moon is up the dancers come first until they have danced, then the wolf until it has howled, and
so on; in danger the plan comes before both. Who is refused waits or is passed over, and the view of the body says so:
who holds MOVE, since when, who was refused and why.

Source: docs/explanation/architecture.md, control flags.
"""

from __future__ import annotations

from enum import IntFlag, auto

from agentrt import LOOK, MOVE, Agent, Entity, sleep_ticks
from agentrt.behavior import SHUFFLE, Activation, Behavior, BehaviorTree, Check, Memory, behavior, decider, group
from agentrt.body import Driver
from agentrt.goals import Goal, GoalSelector
from agentrt.selection import LeafBehavior, SelectionState
from agentrt_examples.colony.bodies import Health, Legs, Needs, Position
from agentrt_examples.colony.minds.perception import TREES, Perception
from agentrt_examples.colony.minds.wolves import HOWLED, Howl
from agentrt_examples.colony.terrain import Cell
from agentrt_examples.colony.town import Town

__all__ = ["DANCERS", "POSSESSED", "Moon", "Possession", "Shudder", "Stagger"]

POSSESSED = "possessed"
"""The trait of whom this happens to."""

DANCED = "danced"
"""The event of somebody in whom the dancers have danced."""

_TRANCE = 5.0  # game seconds


# --- the wolf ---------------------------------------------------------------------------------------------------------


class _NowAndThen(Goal):
    """Something that comes over one after a while, which is drawn when it is first asked, and goes on to its end."""

    pause = (1, 2)  # ticks, at least and at most

    def __init__(self) -> None:
        super().__init__()
        self._due = 0

    def can_use(self) -> bool:
        """Whether the moment has come."""
        town: Town = self.entity[Town]
        if not self._due:
            self._due = town.clock.tick + town.random.between(*self.pause)
        return town.clock.tick >= self._due

    def can_continue_to_use(self) -> bool:
        """To the end."""
        return True

    def start(self) -> None:
        """The next time is drawn later."""
        self._due = 0


class Shudder(_NowAndThen):
    """Shudder, now and then."""

    flags = frozenset({LOOK})
    name = "shudder"
    pause = (160, 320)

    async def run(self) -> None:
        """Shudder."""
        await self.entity[Town].effects.show(self.entity, "shudder")


class Stagger(_NowAndThen):
    """Stagger a step aside, and back again."""

    flags = frozenset({MOVE})
    name = "stagger"
    pause = (120, 240)

    def can_use(self) -> bool:
        """Whether the moment has come, and it is on its feet."""
        return super().can_use() and _is_up(self.entity)

    async def run(self) -> None:
        """Take the two steps."""
        town: Town = self.entity[Town]
        legs, here = self.entity[Legs], self.entity[Position].location
        aside: Cell = town.random.choice(town.finder.neighbors(here))
        for place in (aside, here):
            await sleep_ticks(legs.ticks_to(place))
            legs.step(place)


def _is_up(entity: Entity) -> bool:
    return not (entity[Health].is_down or entity[Needs].asleep)


def wolf() -> GoalSelector:
    """The wolf in somebody."""
    selector = GoalSelector(name="wolf")
    selector.add_goal(1, Stagger())
    selector.add_goal(2, Howl())
    selector.add_goal(3, Shudder())
    return selector


# --- the dancers ------------------------------------------------------------------------------------------------------


class Moon(IntFlag):
    """The decision flags of the dancers."""

    UP = auto()


def _moon(somebody: Entity) -> int:
    return Moon.UP if somebody[Town].daylight.phase in ("dusk", "night") else 0


class Trance(Behavior):
    """While it lasts they dance; it ends by failing its group."""

    def tick(self, at: Activation) -> bool:
        """Whether it lasts."""
        return at.duration < _TRANCE and _is_up(at.agent)

    def deactivate(self, at: Activation) -> None:
        """Tell the tree that says who has the say."""
        at.agent.signal(DANCED).emit()


def _figure(effect: str) -> Behavior:
    async def run(at: Activation) -> None:
        await at.agent[Town].effects.show(at.agent, effect)

    return behavior(effect.upper(), run=run)


def _can_dance(memory: Memory) -> bool:
    return _is_up(memory.agent)


DANCERS = BehaviorTree(
    group("ROOT")[
        group(
            "PLAY", SHUFFLE, behavior=Trance, decide=_can_dance, every=10.0, decision=Check(all_set=Moon.UP),
            flags=(MOVE, LOOK),
        )[
            decider("FLIP", _figure("flip")),
            decider("ROLL", _figure("roll")),
            decider("DANCE", _figure("dance")),
        ],
    ],
    name="dancers",
)  # fmt: skip
"""The tree of the dancers."""

DANCERS.initialize_tree_data()


# --- who has the say --------------------------------------------------------------------------------------------------


class HasTheSay(LeafBehavior):
    """While it is selected, claims have these precedences; those of the plan have 0.

    Args:
        possession: whose.
        wolf: the precedence of the wolf.
        dancers: that of the dancers.
    """

    def __init__(self, possession: Possession, wolf: int, dancers: int) -> None:
        self._possession = possession
        self._precedences = (wolf, dancers)

    def constructor(self, ai: SelectionState) -> None:
        """Give each its precedence.

        Args:
            ai: the state of the tree.
        """
        for driver, precedence in zip(self._possession.drivers, self._precedences, strict=True):
            driver.precedence = precedence


class Possession:
    """What possesses one body.

    Args:
        agent: whose.

    Attributes:
        drivers: the wolf and the dancers.
        senses: what the selection tree perceives.
    """

    def __init__(self, agent: Agent) -> None:
        self.drivers: tuple[Driver, ...] = (wolf(), DANCERS.memory(agent.entity, name="dancers", decision_flags=_moon))
        sayings = {
            "Afraid": HasTheSay(self, wolf=-1, dancers=-1),
            "Wolf": HasTheSay(self, wolf=1, dancers=0),
            "Dancers": HasTheSay(self, wolf=0, dancers=1),
            "Himself": HasTheSay(self, wolf=0, dancers=0),
        }
        self.senses = Perception(agent, TREES["Possessed"].state(sayings, name="moon"))
        for driver in self.drivers:
            agent.attach(driver)
        for event, signal in ((DANCED, "OnDanced"), (HOWLED, "OnHowled")):
            self._hear(agent, event, signal)

    def _hear(self, agent: Agent, event: str, signal: str) -> None:
        agent.signal(event).connect(lambda _value: self.senses.tell(signal))
