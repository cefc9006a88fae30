"""An episode: the game's own loop, with one tick of the runtime for each of its steps.

The loop belongs to the game, so nothing here is a coroutine and no event loop runs. In each step the runtime is stepped
by one tick, in which the player takes in what it saw last and whoever drives it decides; then the game is stepped with
what the player does. What the eyes saw is posted to the runtime like any other input.

Time is measured around four things: making the world, stepping the game, the eyes, and the mind (the tick itself). What
is ours is the last two.

A digest says what happened in an episode: all that was done, and what the world looked like at its end.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from typing import Any, Final

from agentrt import Agent, Runtime
from agentrt.minds import Mind
from examples.crafter import ordered
from examples.crafter.chart import draw
from examples.crafter.eyes import Eyes, Sight
from examples.crafter.mind import make_mind
from examples.crafter.player import Player
from examples.crafter.rules import ACTIONS
from examples.crafter.thoughts import Thinking, Thoughts, make_thoughts

__all__ = ["LENGTH", "Episode", "Spent"]

LENGTH: Final = 10_000  # steps, as published
_NUMBERS: Final = {name: number for number, name in enumerate(ACTIONS)}


@dataclass(slots=True)
class Spent:
    """Seconds of the wall clock.

    Attributes:
        world: for making the world.
        game: in the steps of the game.
        eyes: for looking at what it returned.
        mind: in the ticks of the runtime.
    """

    world: float = 0.0
    game: float = 0.0
    eyes: float = 0.0
    mind: float = 0.0

    @property
    def share(self) -> float:
        """The share of all this that is ours, from 0 to 1."""
        ours = self.eyes + self.mind
        whole = ours + self.world + self.game
        return ours / whole if whole else 0.0


@dataclass(slots=True)
class Episode:
    """One episode, and who plays it. A context manager: the runtime is closed at its end.

    Args:
        seed: of the world and of the player's own random numbers.
        host: what the runtime runs on; only ``plain`` can be stepped by ``advance`` wherever it is called.
        length: after how many steps it is over at the latest.
        thoughts: how the player thinks on top of its rules; None if it does not.

    Attributes:
        player: the body.
        agent: its mind.
        runtime: its clock.
        step: how many steps were played.
        is_over: whether the player died, or the time is up.
        did: what the player did in the last step.
        sight: what was seen after it; None before the first. The player takes it in at the beginning of the next one.
        spent: where the time went.
    """

    seed: int
    length: int = LENGTH
    thoughts: Thoughts | None = None
    player: Player = field(init=False)
    agent: Agent = field(init=False)
    runtime: Runtime = field(init=False)
    step: int = field(init=False, default=0)
    is_over: bool = field(init=False, default=False)
    did: str = field(init=False, default="noop")
    sight: Sight | None = field(init=False, default=None)
    spent: Spent = field(init=False, default_factory=Spent)
    _mind: Mind | None = field(init=False, default=None)
    _game: Any = field(init=False)
    _eyes: Eyes = field(init=False, default_factory=Eyes)
    _actions: bytearray = field(init=False, default_factory=bytearray)
    _last: dict[str, Any] = field(init=False, default_factory=dict)
    host: str = "plain"

    def __post_init__(self) -> None:
        import crafter

        ordered.install()
        began = time.perf_counter()
        self._game = crafter.Env(length=self.length, seed=self.seed)
        self._game.reset()
        self.spent.world = time.perf_counter() - began
        self.runtime = Runtime(self.seed, ticks_per_second=1, host=self.host)
        self.player = Player()
        if self.thoughts is not None:
            self.player.thinks_for = self.thoughts.delay
            self._mind = make_thoughts(self.runtime, self.thoughts, self.seed)
        self.agent = self.runtime.add(make_mind(self.player))
        self.runtime.drawing = lambda: draw(self.player, self.agent.name)

    def __enter__(self) -> Episode:
        return self

    def __exit__(self, *_: object) -> None:
        self.runtime.close()

    def play(self) -> None:
        """Play to the end."""
        while not self.is_over:
            self.advance()

    def advance(self) -> None:
        """Play one step."""
        began = time.perf_counter()
        self.runtime.step()
        self.spent.mind += time.perf_counter() - began
        sight = self.take_turn()
        self.runtime.post(self.player.perceive, sight, self.did)

    def take_turn(self) -> Sight:
        """Let the game take a step with what the player does; what is seen after it."""
        clock = time.perf_counter
        action = self.player.take_intention()
        decided = clock()
        picture, _, self.is_over, self._last = self._game.step(_NUMBERS[action])
        played = clock()
        self.did, self.sight = action, self._eyes.see(picture, self._last)
        self.spent.game += played - decided
        self.spent.eyes += clock() - played
        self.step += 1
        self._actions.append(_NUMBERS[action])
        return self.sight

    @property
    def is_dead(self) -> bool:
        """Whether the player died."""
        return bool(self._last) and self._last["discount"] == 0

    @property
    def achieved(self) -> dict[str, int]:
        """What the game itself has counted as achieved, and how often. For the score; the player has its own diary."""
        return {name: count for name, count in self._last.get("achievements", {}).items() if count}

    @property
    def thinking(self) -> Thinking | None:
        """What its thoughts have cost so far; None if it lives by rules alone."""
        return None if self._mind is None else Thinking.of(self._mind)

    def picture(self, size: int = 360) -> Any:
        """The game's own picture, for people: an array of ``size`` by ``size`` pixels of 3 bytes. No agent sees it.

        At night the game draws noise with the random numbers of its world, so to draw a picture more would change what
        happens next. They are put back afterwards.

        Args:
            size: pixels along each side.
        """
        numbers = self._game._world.random
        before = numbers.get_state()
        try:
            return self._game.render((size, size))
        finally:
            numbers.set_state(before)

    @property
    def digest(self) -> str:
        """What happened so far, in 32 hexadecimal digits."""
        made = hashlib.blake2b(bytes(self._actions), digest_size=16)
        if self._last:
            made.update(self._last["semantic"].tobytes())
            made.update(repr(sorted(self._last["inventory"].items())).encode())
            made.update(repr(sorted(self.achieved.items())).encode())
        return made.hexdigest()
