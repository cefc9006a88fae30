"""Effects: what is seen of an action, and how long it takes.

The board implements ``agentrt_actions.EffectPlayer``: it knows for each effect how many ticks it lasts, shows
who plays which, and calls back when an effect has ended. The calls are made from ``end_due``, once a tick and
in the order in which the effects began: never from within ``play``.
"""

from __future__ import annotations

from collections.abc import Callable

from agentrt import Entity, Event
from agentrt_examples.colony.bodies import Position
from agentrt_examples.colony.daylight import Clock
from agentrt_examples.colony.terrain import Cell

__all__ = ["EFFECTS", "EffectBoard", "Playing"]

# How many ticks each effect lasts.
EFFECTS: dict[str, int] = {
    "till": 16,
    "plant": 10,
    "harvest": 14,
    "cook": 50,
    "eat": 30,
    "bandage": 16,
    "draw_in_notebook": 60,
    "bite": 4,
    "lick_lips": 24,
    "aim": 8,
    "reload": 12,
    "graze": 24,
    "strike": 12,
    "wag": 20,
    "admire": 40,
    "scratch": 30,
    "yawn": 16,
    "tell": 60,
    "sing": 50,
    "hum": 30,
    "growl": 12,
    "snap": 6,
    "howl": 30,
    "call": 12,
    "flip": 16,
    "roll": 20,
    "dance": 40,
    "brood": 40,
    "shudder": 8,
}


class Playing:
    """One effect that is being played.

    Attributes:
        entity: on whom it is seen.
        effect: its name.
    """

    __slots__ = ("_board", "_done", "due", "effect", "entity")

    def __init__(self, board: EffectBoard, entity: Entity, effect: str, due: int, done: Callable[[], None]) -> None:
        self._board = board
        self._done = done
        self.entity = entity
        self.effect = effect
        self.due = due

    def stop(self) -> None:
        """End it now, without telling anybody; nothing happens if it ended already."""
        if self in self._board.playing:
            self._board.playing.remove(self)

    def finish(self) -> None:
        """End it, and tell who plays it."""
        self.stop()
        self._done()


class EffectBoard:
    """Plays effects.

    Args:
        clock: of the runtime.

    Attributes:
        playing: what is being played, in the order in which it began.
        begun: by who played it when the world was rebuilt: which effect, how many ticks are left of it, and where.
    """

    __slots__ = ("_clock", "begun", "playing")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.playing: list[Playing] = []
        self.begun: dict[Entity, tuple[str, int, Cell]] = {}

    def play(self, entity: Entity, effect: str, done: Callable[[], None]) -> Playing:
        """Begin an effect.

        Args:
            entity: on whom it is seen.
            effect: one of ``EFFECTS``.
            done: called when it has ended by itself.

        Returns:
            A handle that can end it.

        Raises:
            KeyError: there is no such effect.
        """
        ticks = EFFECTS[effect]
        if entity in self.begun:
            begun, left, place = self.begun.pop(entity)
            if begun == effect and place == entity[Position].location:
                ticks = left
        made = Playing(self, entity, effect, self._clock.tick + ticks, done)
        self.playing.append(made)
        return made

    async def show(self, entity: Entity, effect: str) -> None:
        """Play an effect to its end, in a coroutine that is no action.

        Args:
            entity: on whom it is seen.
            effect: one of ``EFFECTS``.
        """
        done = Event()
        playing = self.play(entity, effect, done.set)
        try:
            await done.wait()
        finally:
            playing.stop()

    def left_of(self, entity: Entity) -> tuple[str, int] | None:
        """Which effect is played on an entity, or was when the world was rebuilt, and how many ticks are left of it.

        Args:
            entity: who.
        """
        for playing in self.playing:
            if playing.entity is entity:
                return playing.effect, max(1, playing.due - self._clock.tick)
        begun = self.begun.get(entity)
        return None if begun is None or begun[2] != entity[Position].location else begun[:2]

    def effect_of(self, entity: Entity) -> str:
        """The name of the effect that is seen on an entity, or an empty string."""
        return next((playing.effect for playing in self.playing if playing.entity is entity), "")

    def end_due(self) -> None:
        """End what has lasted long enough."""
        tick = self._clock.tick
        for playing in [playing for playing in self.playing if playing.due <= tick]:
            if playing in self.playing:
                playing.finish()
