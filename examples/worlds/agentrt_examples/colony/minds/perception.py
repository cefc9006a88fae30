"""Perception: what happens to somebody, told to its selection tree as signals. What the seed calls the AI system.

The trees of the colony are data, in ``data/selection``. A ``Perception`` belongs to one agent and one tree; it listens
to the body and speaks in signals, ``OnWolfSeen`` and ``OnRecovered``; whoever else has something to say, the captain,
say, does it through ``tell``. It speaks only when something changed, so that a quiet day costs nothing.

Source: CryEngine, selection trees: Overview ("The global AI System would take care of updating the AI's perception and
sending event signals"), "Signal Variables".
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentrt import Agent, Entity
from agentrt.kernel import Connection
from agentrt.selection import SelectionLibrary, SelectionState
from agentrt_examples.colony.bodies import Fear, Health
from agentrt_examples.colony.harm import BADLY_HURT

__all__ = ["TREES", "Perception"]

TREES = SelectionLibrary.load(Path(__file__).parents[1] / "data" / "selection")
"""The selection trees of the colony."""


class Perception:
    """The senses of one agent.

    Args:
        agent: whose.
        state: the state of its selection tree, which is attached to it.

    Attributes:
        state: as given.
    """

    def __init__(self, agent: Agent, state: SelectionState) -> None:
        self.state = state
        self._attachment = agent.attach(state)
        self._entity: Entity = agent.entity
        self._sees = False
        self._is_hurt = False
        fear, health = self._entity[Fear], self._entity[Health]
        self._connections: list[Connection] = [
            fear.changed.connect(lambda _value: self._look(fear)),
            health.changed.connect(lambda _value: self._feel(health)),
            self._entity.signal(BADLY_HURT).connect(lambda _value: self._hurts()),
        ]
        self._look(fear)

    def tell(self, signal: str) -> None:
        """Send a signal to the tree.

        Args:
            signal: its name, such as ``OnAlarm``.
        """
        self.state.signal(signal)

    def _look(self, fear: Fear) -> None:
        sees = bool(fear.nearby)
        if sees != self._sees:
            self._sees = sees
            self.tell("OnWolfSeen" if sees else "OnWolfLost")

    def _hurts(self) -> None:
        self._is_hurt = True
        self.tell("OnBadlyHurt")

    def _feel(self, health: Health) -> None:
        if self._is_hurt and not health.is_hurt:
            self._is_hurt = False
            self.tell("OnRecovered")

    # --- tomorrow -----------------------------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """The variables of the tree, as plain JSON."""
        return self.state.save()

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Have these variables; what the tree selects by them begins anew.

        Args:
            saved: what ``save`` gave.
        """
        self.state.restore(saved)
        self._is_hurt = self.state.is_set("BadlyHurt")
        self._sees = self.state.is_set("WolfNear")

    def end(self) -> None:
        """Perceive nothing more; the tree leaves the agent."""
        for connection in self._connections:
            connection.close()
        self._attachment.detach()
