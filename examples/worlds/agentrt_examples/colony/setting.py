"""The setting: the numbers that a colony can be made with, and those of its agents' minds that can be turned.

``Setting`` has a field for each number of the world; the parameter that a command line sees stands beside its default.
``TUNED`` has a row for each number of a mind: which actions of which kind of being it is for. Those are set by
``Agent.tune``, or as the priority of a goal, when a being joins, whenever that is, so that who is born later is like
the others; a row that was not given touches nothing. A colony of the default setting is the colony as ever, to the last
bit.

How long a day is and where things stand is no number here: the charts and the tests of the colony are made for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from agentrt import Agent
from agentrt.goals import GoalSelector
from agentrt.worlds import Parameter, Value

__all__ = ["PARAMETERS", "TUNED", "Setting", "Tuned"]


def _number(default: int, told: str, high: int, low: int = 0) -> Any:
    return field(default=default, metadata={"parameter": Parameter(default, told, low=low, high=high)})


@dataclass(frozen=True, slots=True)
class Setting:
    """The numbers of one colony; those of people and goods are for each part of the ground.

    Attributes:
        tuned: what was given for numbers of minds, by the name of the parameter.
    """

    hearthlings: int = _number(9, "Hearthlings at first, besides the soldiers.", high=9)
    soldiers: int = _number(2, "Soldiers at first.", high=6)
    critters: int = _number(6, "Critters at first.", high=6)
    drakes: int = _number(2, "Drakes at first, in each nest.", high=4)
    wolves: int = _number(2, "Wolves at first.", high=40)
    wolves_at_dusk: int = _number(4, "At dusk wolves come until there are so many.", high=40)
    wolf_health: int = _number(110, "What a wolf can take.", low=1, high=1000)
    meals: int = _number(4, "Meals in store at first.", high=40)
    turnips: int = _number(8, "Turnips in store at first.", high=60)
    think_budget: int = _number(200, "Units of search work in a tick, for all agents together.", low=1, high=100_000)
    epoch: int = _number(0, "After so many ticks, each time, it is rebuilt of its save; 0 for never.", high=1_000_000)
    tuned: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, params: Mapping[str, Value]) -> Setting:
        """The setting of some parameters, the others at their defaults.

        Args:
            params: values that were checked, by the names of ``PARAMETERS``.
        """
        given: dict[str, Any] = {name: value for name, value in params.items() if name not in TUNED}
        return cls(**given, tuned={name: float(value) for name, value in params.items() if name in TUNED})

    def tune(self, agent: Agent) -> None:
        """Turn the numbers of a being's mind that were given; may be called again when it has learned more.

        Args:
            agent: of the being.
        """
        for name, value in self.tuned.items():
            tuned = TUNED[name]
            if agent.entity.kind == tuned.kind:
                tuned.turn(agent, value)


class Tuned(NamedTuple):
    """A number of the minds of one kind of being.

    Attributes:
        kind: whose mind.
        of: the name of the action or of the goal.
        parameter: what a command line sees.
        is_range: whether the action places itself between 0 and the number, and is not always worth the number.
    """

    kind: str
    of: str
    parameter: Parameter
    is_range: bool = False

    def turn(self, agent: Agent, value: float) -> None:
        """Give somebody this number.

        Args:
            agent: of a being of the kind.
            value: the number.
        """
        if type(self.parameter.default) is float:
            agent.tune(self.of, utility=(0.0, value) if self.is_range else value)
            return
        for driver in agent.drivers.all:
            if isinstance(driver, GoalSelector):
                for wrapped in driver.available_goals:
                    if wrapped.goal.name == self.of:
                        wrapped.priority = int(value)


def _worth(kind: str, action: str, most: float, told: str, *, is_range: bool = False) -> Tuned:
    return Tuned(kind, action, Parameter(most, told, low=0.0, high=1.0), is_range)


TUNED: dict[str, Tuned] = {
    "hearthling.eat.utility": _worth("hearthling", "eat", 1.0, "What eating is worth to who starves.", is_range=True),
    "hearthling.sleep.utility": _worth(
        "hearthling", "sleep", 1.0, "What sleep is worth to who is tired out.", is_range=True
    ),
    "hearthling.sit_by_the_fire.utility": _worth("hearthling", "sit by the fire", 0.55, "What a seat there is worth."),
    "critter.graze.utility": _worth("critter", "graze", 0.3, "What grazing is worth to the hungry."),
    "wolf.leave.priority": Tuned("wolf", "leave", Parameter(0, "Attack has 2: with more it stays.", low=0, high=9)),
}

PARAMETERS: dict[str, Parameter] = {
    **{one.name: one.metadata["parameter"] for one in fields(Setting) if one.metadata},
    **{name: tuned.parameter for name, tuned in TUNED.items()},
}
