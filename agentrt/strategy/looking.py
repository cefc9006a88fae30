"""The part of an agent's gameplay that looks ahead: its switches, and what came of it.

Apart from ``gameplay`` because it is asked for other reasons: how far, how much, and how well. Nothing here does
anything; ``estimating`` and ``foresight`` read the switches, and count.

Source: seed 003, "Planning Ahead Using Probability"; "Heuristic Based Task Selection", questions 3 and 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentrt.strategy.foresight import ForesightCounts
from agentrt.strategy.records import Accuracy, Records

if TYPE_CHECKING:
    from agentrt.strategy.owner import GameplayOwner
    from agentrt.strategy.strategy import StrategySpec

__all__ = ["LOOKAHEAD", "MOST_ASKS", "PREPARE_ASKS", "Looking"]

LOOKAHEAD: Final = 4
"""How many levels of needs are looked ahead, unless the agent says otherwise."""

MOST_ASKS: Final = 4_000
"""How many times strategies are asked for one decision, unless the agent says otherwise."""

PREPARE_ASKS: Final = 32
"""How many times strategies are asked in a tick for decisions that come later, unless the agent says otherwise."""


class Looking:
    """What ``agent.gameplay`` has for looking ahead.

    Args:
        agent: whose.

    Attributes:
        agent: as given.
        lookahead: how many levels of needs are looked ahead when a strategy is chosen; 0 takes the constants that
            strategies declare, and foresees, prepares and picks up nothing.
        most_asks: how many times strategies are asked for one decision; after that it looks ahead no further.
        prepare_asks: how many times strategies are asked in a tick, for each request, for decisions that come later; 0
            prepares nothing.
        corrects: whether what strategies say is corrected by what they took before.
        foreseen: how far what was foreseen came true.
        records: what strategies took, beside what they said.
        versions: topic to the number of its changes.
        stamp: how many changes there were.
    """

    def __init__(self, agent: GameplayOwner) -> None:
        self.agent: GameplayOwner = agent
        self.lookahead: int = LOOKAHEAD
        self.most_asks: int = MOST_ASKS
        self.prepare_asks: int = PREPARE_ASKS
        self.corrects: bool = False
        self.foreseen: ForesightCounts = ForesightCounts()
        self.records: Records = Records()
        self.versions: dict[str, int] = {}
        self.stamp: int = 0

    def accuracy(self) -> tuple[Accuracy, ...]:
        """What strategies said that they cost, beside what they took; of each that was completed."""
        return self.records.all()

    def took(self, spec: StrategySpec, said: float, actual: float) -> None:
        """A strategy was completed.

        Args:
            spec: which one.
            said: what it said, before that was corrected, in game seconds.
            actual: what it took of its own time, in game seconds.
        """
        if self.records.add(spec, said, actual) and self.corrects:
            self.count_change("accuracy")

    def count_change(self, *topics: str) -> None:
        """What was read of some topics does not hold any more.

        Args:
            topics: their names.
        """
        for topic in topics:
            self.versions[topic] = self.versions.get(topic, 0) + 1
        object.__setattr__(self, "stamp", self.stamp + 1)  # it is no setting, and each change comes by here

    def spare(self, units: int) -> bool:
        """Take units of the think budget of the runtime for work that can wait.

        Args:
            units: how many.

        Returns:
            Whether they were there; always, if there is no budget.
        """
        search, planner = self.agent.search, self.agent.planner
        return search is None or planner is None or search.spare(planner, units)
