"""Who thinks for a player, and what that costs: a mind beside its rules, of a language model or of a script.

``Thoughts`` says how: it is plain data, and goes to whatever process plays an episode. Without it a player lives by its
rules alone.

*The game has no clock of its own*, so it can wait. A model is asked in the midst of a step, which stands still until
the answer is there, and no step of the game passes. How long a server takes is therefore nothing that an episode could
depend on: equal answers, equal episodes. Whoever wants a game that goes on meanwhile says how many steps a thought
takes (``delay``): for so long the rules go on while the server is asked, and the answer counts then, be it quick or
slow; only a server that is not done by then is waited for.

*Answers can be kept* (``Kept``): in a folder, a file for each seed, by the hash of what was asked. The same episode
asks the same again, and so a second run asks nobody, needs no network, and has the same digest.

*A mind without an answer changes nothing*: its server down, its budget used up, the player does what its rules say, to
the step.
"""

from __future__ import annotations

import json
import re
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agentrt.minds import Budget, Mind, Model
from examples.crafter.script import scripted

if TYPE_CHECKING:
    from agentrt import Runtime

__all__ = ["TOKENS", "Kept", "Thinking", "Thoughts", "make_thoughts"]

TOKENS: Final = 200_000  # that an episode may use, if nobody says otherwise
_SOME: Final = Budget(calls=40, per=1000.0)  # of an episode: in any thousand steps
_BACK_OFF: Final = (20.0, 500.0)  # steps after which a server that failed is asked again


@dataclass(frozen=True, slots=True)
class Thoughts:
    """How a player is to think.

    Attributes:
        model: who answers; None for the script of this example.
        delay: how many steps a thought takes at the least.
        tokens: how many of them an episode may use.
        folder: where the answers of a model are kept, and looked up; None for nowhere.
    """

    model: Model | None = None
    delay: int = 0
    tokens: int = TOKENS
    folder: Path | None = None

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values, for files."""
        model = "the script" if self.model is None else self.model.label
        return {"model": model, "delay": self.delay, "tokens": self.tokens}


@dataclass(frozen=True, slots=True)
class Thinking:
    """What the thoughts of an episode, or of several, have cost.

    Attributes:
        decisions: how many answers were taken.
        calls: how often a model was asked.
        read: how many tokens it read.
        written: how many it wrote.
        money: what that costs by the price that was given.
    """

    decisions: int = 0
    calls: int = 0
    read: int = 0
    written: int = 0
    money: float = 0.0

    def __add__(self, other: Thinking) -> Thinking:
        return Thinking(
            self.decisions + other.decisions,
            self.calls + other.calls,
            self.read + other.read,
            self.written + other.written,
            round(self.money + other.money, 6),
        )

    @classmethod
    def of(cls, mind: Mind) -> Thinking:
        """What a mind has come to so far."""
        view = mind.snapshot()
        return cls(view.answers, view.calls, view.read, view.written, view.money)


def make_thoughts(runtime: Runtime, thoughts: Thoughts, seed: int) -> Mind:
    """Give a runtime the mind that thoughts ask for."""
    model = thoughts.model
    if model is not None and thoughts.folder is not None:
        name = re.sub(r"[^\w.-]+", "_", model.label)
        model = Kept(**vars(model), file=thoughts.folder / f"{name}-{seed}.jsonl")
    return Mind(
        runtime,
        model or scripted(),
        budget=Budget(tokens=thoughts.tokens),
        each=_SOME,
        backoff=_BACK_OFF,
        cache=0,  # each question names its step
        delay=thoughts.delay,
    )


@dataclass(frozen=True)
class Kept(Model):
    """A model whose answers are kept in a file, and not asked for again.

    Args:
        file: where; its folder is there. One line is one call, in the order in which they were made.
    """

    file: Path = Path()
    _known: dict[str, deque[dict[str, Any]]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.file.exists():
            for line in self.file.read_text(encoding="utf-8", errors="replace").splitlines():
                reply = _read(line)
                if reply is not None:
                    self._known.setdefault(reply["key"], deque()).append(reply)

    def ask_here(self, data: dict[str, Any], keeps: bool = False) -> dict[str, Any]:
        """The answer of then, or a call."""
        known = self._known.get(data["key"])
        if known:
            return known.popleft()
        reply = super().ask_here(data, keeps)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(reply, ensure_ascii=False) + "\n")
        return reply


def _read(line: str) -> dict[str, Any] | None:
    """A line of the file; None for one that was cut off or is none of ours."""
    try:
        reply = json.loads(line)
    except ValueError:
        return None
    return reply if isinstance(reply, dict) and isinstance(reply.get("key"), str) else None
