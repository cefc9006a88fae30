"""What became of an episode, for people: which achievements in which step, what the player died of, the summary.

It looks at an episode from outside, after each step, and never acts. Achievements are those that the game itself has
counted: this is for the reader and for films, the player has its own diary. The last lines of a summary say where the
two differ.

What a player died of is nowhere to be read, so it is worked out from what was seen last: the bars before the last step
and after it, the ground where it stood then, and who was near. That is why the words are "probably".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from agentrt.words import counted
from examples.crafter.eyes import VIEW, Sight
from examples.crafter.player import Player
from examples.crafter.rules import ACHIEVEMENTS, ARROW, BARS, MATERIALS, SKELETON, UNKNOWN, ZOMBIE

if TYPE_CHECKING:
    from examples.crafter.game import Episode

__all__ = ["Story", "cause_of_death", "words"]

_HERE: Final = (VIEW[0] // 2, VIEW[1] // 2)
_WANTS: Final = {"food": "hunger", "drink": "thirst", "energy": "exhaustion"}
_SHOT_FROM: Final = 5  # cells away


class Story:
    """What happens in an episode.

    Args:
        episode: which; ``note`` is called after each of its steps.

    Attributes:
        episode: as given.
        achieved: each achievement, and the step in which the game counted it for the first time.
    """

    def __init__(self, episode: Episode) -> None:
        self.episode: Episode = episode
        self.achieved: dict[str, int] = {}

    def note(self) -> list[str]:
        """Look at what the last step has brought.

        Returns:
            What was achieved in it for the first time.
        """
        counted = self.episode.achieved
        if len(counted) == len(self.achieved):
            return []
        new = [name for name in counted if name not in self.achieved]
        for name in new:
            self.achieved[name] = self.episode.step
        return new

    @property
    def fate(self) -> str:
        """How it ended, in words."""
        episode = self.episode
        if episode.is_dead and episode.sight is not None:
            return f"died, probably of {cause_of_death(episode.player, episode.did, episode.sight)}"
        return "the time was up" if episode.is_over else "stopped"

    def summary(self) -> Iterator[str]:
        """The episode in lines of text."""
        episode = self.episode
        yield f"seed {episode.seed}, {episode.step} steps: {self.fate}"
        if episode.sight is not None:
            yield "bars at the end: " + ", ".join(f"{bar} {episode.sight.inventory[bar]}" for bar in BARS)
        yield f"achievements: {len(self.achieved)} of {len(ACHIEVEMENTS)}"
        for name, step in self.achieved.items():
            yield f"  {step:>5}  {words(name)}"
        missing = [words(name) for name in ACHIEVEMENTS if name not in self.achieved]
        if missing:
            yield f"missing: {', '.join(missing)}"
        yield from self._differences()
        thinking = episode.thinking
        if thinking is not None:
            made = f"{counted(thinking.decisions, 'decision')} by {counted(thinking.calls, 'call')}"
            cost = f", cost {thinking.money:.4f}" if thinking.money else ""
            yield f"thoughts: {made}, {thinking.read} tokens read, {thinking.written} written{cost}"
        yield f"digest: {episode.digest}"
        yield f"share of the time that is the agent's: {100 * episode.spent.share:.1f} %"

    def _differences(self) -> Iterator[str]:
        """Where the player is wrong about itself. What the last step brought it has not taken in yet."""
        believed, step = self.episode.player.diary.achieved, self.episode.step
        unnoticed = [words(name) for name, when in self.achieved.items() if name not in believed and when < step]
        imagined = [words(name) for name in believed if name not in self.achieved]
        if unnoticed:
            yield f"which the player has not noticed: {', '.join(unnoticed)}"
        if imagined:
            yield f"which the player believes besides: {', '.join(imagined)}"


def words(name: str) -> str:
    """A name of the game as people write it.

    Args:
        name: with underscores.
    """
    return name.replace("_", " ")


def cause_of_death(player: Player, did: str, sight: Sight) -> str:
    """What a player probably died of.

    Args:
        player: as it was before its last step, which it has not taken in yet.
        did: what it did in that step.
        sight: what was seen after it.
    """
    x, y = player.place
    ground = player.atlas.ground[x + sight.scrolled[0], y + sight.scrolled[1]]
    if did.startswith("move_") and sight.scrolled != (0, 0):
        if ground == MATERIALS["lava"]:
            return "lava"
        if ground == UNKNOWN:
            return "lava that it had not seen"
    lost = player.inventory["health"]
    wants = [_WANTS[bar] for bar in BARS[1:] if sight.inventory[bar] == 0]
    killer = _killer(sight)
    if killer and player.is_asleep:
        killer += " while it slept"
    if killer and (lost > 1 or not wants):
        return f"{killer}, weakened by {' and '.join(wants)}" if wants else killer
    return " and ".join(wants) or "something that it did not see"


def _killer(sight: Sight) -> str:
    """Who was near enough to strike; empty: nobody."""
    near: dict[int, int] = {}
    for x in range(VIEW[0]):
        for y in range(VIEW[1]):
            kind, far = int(sight.cells[x, y]), abs(x - _HERE[0]) + abs(y - _HERE[1])
            near[kind] = min(far, near.get(kind, far))
    if near.get(ZOMBIE, _SHOT_FROM) <= 1:
        return "a zombie"
    if min(near.get(ARROW, _SHOT_FROM), near.get(SKELETON, _SHOT_FROM)) < _SHOT_FROM:
        return "an arrow"
    return ""
