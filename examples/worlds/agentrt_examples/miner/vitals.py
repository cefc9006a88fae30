"""Health, hunger and effects of a body.

Rules: every act exhausts, and so does time; ``EXHAUSTED`` points of exhaustion take one point of food. Who is well fed
recovers; who has no food left is hurt, down to the last point. Poison hurts too, but does not kill; slowness doubles
the time of a step. Effects end by themselves.

A pulse comes once a second, so that a body that does nothing costs nothing in between.
"""

from __future__ import annotations

from agentrt import Signal

__all__ = ["EXHAUSTED", "FULL", "HEALING", "HUNGRY", "PULSE", "WELL_FED", "Vitals"]

FULL = 20
"""Points of health and of food that a body has at most."""

HUNGRY = 8
"""At so much food, or less, somebody is hungry."""

EXHAUSTED = 400
"""Points of exhaustion that cost one point of food."""

PULSE = 20
"""Ticks between two pulses."""

WELL_FED = 14
"""Who has so much food, or more, recovers."""

HEALING = 3
"""Pulses for a point of health."""

_OF_TIME = 3
_OF_HEALING = 40
_STARVING = 4
_POISONED = 2


class Vitals:
    """How somebody is.

    Attributes:
        health: from 0 (dead) to ``FULL``.
        food: from 0 to ``FULL``.
        exhaustion: points, less than ``EXHAUSTED``.
        effects: the tick at which each effect ends.
        hurt: emitted with the number of points that were lost.
        hungry: emitted when food falls to ``HUNGRY``, and with each point below.
        affected: emitted with the name of an effect that begins.
    """

    __slots__ = ("_pulses", "affected", "effects", "exhaustion", "food", "health", "hungry", "hurt")

    def __init__(self) -> None:
        self.health = FULL
        self.food = FULL
        self.exhaustion = 0
        self.effects: dict[str, int] = {}
        self.hurt = Signal()
        self.hungry = Signal()
        self.affected = Signal()
        self._pulses = 0

    @property
    def is_hungry(self) -> bool:
        """Whether somebody should eat."""
        return self.food <= HUNGRY

    def has(self, effect: str) -> bool:
        """Whether an effect is there.

        Args:
            effect: its name.
        """
        return effect in self.effects

    def exhaust(self, points: int) -> None:
        """An act cost strength.

        Args:
            points: how much.
        """
        self.exhaustion += points
        while self.exhaustion >= EXHAUSTED:
            self.exhaustion -= EXHAUSTED
            if self.food:
                self.food -= 1
                if self.is_hungry:
                    self.hungry.emit(self.food)

    def feed(self, points: int) -> None:
        """Something was eaten.

        Args:
            points: how much it feeds.
        """
        self.food = min(FULL, self.food + points)

    def lose(self, points: int) -> None:
        """Lose health.

        Args:
            points: how much.
        """
        lost = min(points, self.health)
        self.health -= lost
        if lost:
            self.hurt.emit(lost)

    def affect(self, effect: str, until: int) -> None:
        """An effect begins, or lasts longer.

        Args:
            effect: its name.
            until: the tick at which it ends.
        """
        begins = effect not in self.effects
        self.effects[effect] = max(until, self.effects.get(effect, 0))
        if begins:
            self.affected.emit(effect)

    def pulse(self, tick: int) -> None:
        """A second has passed.

        Args:
            tick: now.
        """
        self._pulses += 1
        if self.effects:
            self.effects = {effect: until for effect, until in self.effects.items() if until > tick}
        self.exhaust(_OF_TIME)
        if self.food >= WELL_FED and self.health < FULL and self._pulses % HEALING == 0:
            self.health += 1
            self.exhaust(_OF_HEALING)
        elif self.food == 0 and self.health > 1 and self._pulses % _STARVING == 0:
            self.lose(1)
        if "poison" in self.effects and self.health > 1 and self._pulses % _POISONED == 0:
            self.lose(1)

    def recover(self) -> None:
        """Begin anew, after a death."""
        self.health = FULL
        self.food = FULL // 2
        self.exhaustion = 0
        self.effects = {}

    def __repr__(self) -> str:
        effects = f", {', '.join(self.effects)}" if self.effects else ""
        return f"<Vitals: {self.health} health, {self.food} food{effects}>"
