"""What is kept of an episode once it is over, and how an episode becomes that.

Rules:

* The game says what was achieved, never the player's own diary.
* No failure makes a score better. What raises ends the episode there and then: it counts with what was achieved until
  then, and says why it ended. What the runtime survives (an action that raised) does not end it; it is counted.
* Everything but ``spent`` is the same for the same seed and length, in whatever process it is played.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from examples.crafter.faults import Faults
from examples.crafter.game import Episode, Spent
from examples.crafter.story import Story
from examples.crafter.thoughts import Thinking, Thoughts

__all__ = ["Record", "play_one"]

_OFTEN: Final = 100  # steps after which one tells how far it is


@dataclass(frozen=True, slots=True)
class Record:
    """An episode that is over.

    Attributes:
        seed: of the world and of the player.
        steps: how many were played.
        died: whether the player died.
        achieved: its achievements, as the game counts them, and how often; without those that it has not.
        first: the step in which it had each of them for the first time.
        fate: how it ended, in words; what the player died of is a guess.
        digest: what happened, in 32 hexadecimal digits; empty if there is none.
        spent: seconds of the wall clock.
        faults: how often something in the mind raised and the runtime went on.
        error: what ended the episode too early, in one line; else empty.
        details: the traceback of the error, or that of the first fault; else empty.
        thinking: what its thoughts have cost; None if it had rules alone.
    """

    seed: int
    steps: int = 0
    died: bool = False
    achieved: dict[str, int] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    fate: str = "failed"
    digest: str = ""
    spent: Spent = field(default_factory=Spent)
    faults: int = 0
    error: str = ""
    details: str = ""
    thinking: Thinking | None = None

    def as_dict(self) -> dict[str, Any]:
        """The record as plain values, the seconds rounded to milliseconds."""
        made = asdict(self)
        if self.thinking is None:
            del made["thinking"]
        made["spent"] = {name: round(seconds, 3) for name, seconds in made["spent"].items()}
        return made


def play_one(seed: int, tell: Callable[[float], None], *, length: int, thoughts: Thoughts | None = None) -> Record:
    """Play an episode to its end.

    Args:
        seed: of the world and of the player.
        tell: called now and then with the share of the steps that are played, from 0 to 1.
        length: in steps, at most.
        thoughts: how the player thinks on top of its rules; None if it does not.

    Returns:
        What became of it, whatever that is.
    """
    story, faults, fate, error, details = None, None, "failed", "", ""
    try:
        with Episode(seed, length, thoughts) as episode:
            story, faults = Story(episode), Faults(episode.runtime)
            while not episode.is_over:
                episode.advance()
                story.note()
                if episode.step % _OFTEN == 0:
                    tell(episode.step / length)
            fate = story.fate
    except Exception as raised:
        error, details = _name(raised), traceback.format_exc()
    if story is None or faults is None:
        return Record(seed, error=error, details=details)
    episode = story.episode
    return Record(
        seed=seed,
        steps=episode.step,
        died=episode.is_dead,
        achieved=episode.achieved,
        first=story.achieved,
        fate=fate,
        digest=episode.digest,
        spent=episode.spent,
        faults=faults.count,
        error=error,
        details=details or faults.first,
        thinking=episode.thinking,
    )


def _name(error: Exception) -> str:
    """An error and its place, in one line."""
    places = traceback.extract_tb(error.__traceback__)
    words = " ".join(str(error).split())
    place = f" ({places[-1].filename.replace(chr(92), '/').rpartition('/')[2]}:{places[-1].lineno})" if places else ""
    return f"{type(error).__name__}{': ' if words else ''}{words}{place}"
