"""Posing: what an animal has that now and then stands still to be drawn. Of the seed's example, the animal's side.

An animal becomes ready to pose and stops being ready as it likes; while somebody draws it, it is frozen and
stays where it is. Several may draw one animal: it is frozen until the last of them unfreezes it.

Source: Stonehearth, AI: "Leaf action example" (ready_to_pose, freeze_animal, get_photogenicity).
"""

from __future__ import annotations

from agentrt import Entity, Signal
from agentrt_examples.colony.census import Census

__all__ = ["Models", "Poser", "is_animal"]


class Poser:
    """Standing still to be drawn.

    Args:
        photogenicity: how good it looks, from 0 to 100.

    Attributes:
        due: in which tick it will be in the mood again.
        ready_to_pose: emitted when it becomes ready.
        changed: emitted when it becomes ready or stops being ready.
        is_ready: whether it is.
    """

    __slots__ = ("_frozen", "_photogenicity", "changed", "due", "is_ready", "ready_to_pose")

    def __init__(self, photogenicity: int) -> None:
        self._photogenicity = photogenicity
        self._frozen = 0
        self.due = 0
        self.is_ready = False
        self.ready_to_pose = Signal()
        self.changed = Signal()

    @property
    def photogenicity(self) -> float:
        """How good it looks, from 0.0 to 1.0."""
        return self._photogenicity / 100

    @property
    def is_frozen(self) -> bool:
        """Whether somebody draws it."""
        return self._frozen > 0

    def pose(self, ready: bool) -> None:
        """Begin or end to be ready.

        Args:
            ready: which of the two.
        """
        if ready != self.is_ready:
            self.is_ready = ready
            self.changed.emit(ready)
            if ready:
                self.ready_to_pose.emit()

    def freeze(self) -> None:
        """Somebody begins to draw it."""
        self._frozen += 1

    def unfreeze(self) -> None:
        """Somebody is done with it."""
        self._frozen = max(0, self._frozen - 1)


def is_animal(entity: Entity) -> bool:
    """Whether an entity can be drawn as an animal."""
    return entity.get(Poser) is not None


class Models:
    """Which animal is the best to draw. Every artist asks the same, so the answer is kept until something changes.

    Args:
        census: where animals stand under the tag ``animal``; it is told when one begins or ends to pose.
    """

    __slots__ = ("_best", "_census", "_is_known")

    def __init__(self, census: Census) -> None:
        self._census = census
        self._best: Entity | None = None
        self._is_known = False
        census.changed("animal").connect(self._forget)

    def _forget(self, _change: object) -> None:
        self._is_known = False

    @property
    def best(self) -> Entity | None:
        """Of those that are ready to pose the most photogenic; of all, if none is ready; None if there is none."""
        if not self._is_known:
            self._is_known = True
            self._best = None
            for animal in self._census.find("animal"):
                if self._best is None or _appeal(animal) > _appeal(self._best):
                    self._best = animal
        return self._best


def _appeal(animal: Entity) -> tuple[bool, float]:
    poser = animal[Poser]
    return poser.is_ready, poser.photogenicity
