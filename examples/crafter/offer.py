"""Crafter as a world that anybody can run: ``agentrt run --app examples.crafter:world``, a sweep, a replay.

``game.Episode.advance`` is the game's own loop, which steps the runtime. A world is made and then driven by whoever
made it: so here the runtime has the game take its step, in the intake of each tick, with what the player did in the
tick before; and what is seen after it the player perceives at once. An episode is one tick longer than its steps, since
in the first tick nobody has done anything yet. When it is over the player leaves; whatever ticks are left are empty.

It is the episode that ``play`` shows, in all that were compared. They need not be the same for ever: there the player
perceives after what was posted in the tick before, here ahead of it, and somewhere that may decide something.

Its thoughts (``--set thoughts=script``) are those of the script, which answers by the clock of the runtime: so they
hold nobody up, and a replay needs no network. What asks a language model are the commands ``play`` and ``score``.

The game is made when a world is; without the extra ``crafter`` this module can be imported all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from agentrt.errors import MissingExtraError
from agentrt.worlds import Parameter, SimpleWorld, Value

if TYPE_CHECKING:
    from agentrt import Runtime
    from examples.crafter.game import Episode

__all__ = ["WORTH", "world"]

WORTH: Final = {
    "strive.utility": ("Strive", True, Parameter(1.0, "What an ambition that is at hand is worth.", low=0.0, high=1.0)),
    "tend_farm.utility": ("TendFarm", False, Parameter(0.2, "What it is worth to have plants.", low=0.0, high=1.0)),
    "stock_up.utility": ("StockUp", False, Parameter(0.43, "What stones for the night are worth.", low=0.0, high=1.0)),
    "drink.utility": ("Drink", True, Parameter(1.0, "What water is worth to who dies of thirst.", low=0.0, high=1.0)),
    "rest.utility": ("Rest", True, Parameter(1.0, "What sleep is worth to who drops.", low=0.0, high=1.0)),
}
"""Numbers of the rules, by the names of their parameters: the action, and whether it places itself below the number."""

_LENGTH: Final = Parameter(10_000, "After how many steps it is over at the latest.", low=1, high=10_000)
_THOUGHTS: Final = Parameter(
    "none",
    "Who chooses what to strive for: the rules alone, or a mind by the example's script.",
    choices=("none", "script"),
)


def _make(*, seed: int, host: str, params: Mapping[str, Value]) -> Runtime:
    try:
        from examples.crafter.game import Episode
        from examples.crafter.thoughts import Thoughts
    except ModuleNotFoundError as error:
        raise MissingExtraError("crafter", error.name or "crafter") from error
    given: dict[str, Any] = dict(params)
    thoughts = Thoughts() if given["thoughts"] == "script" else None
    episode = Episode(seed, given["length"], thoughts, host=host)
    for name, (action, is_range, parameter) in WORTH.items():
        if given[name] != parameter.default:
            episode.agent.tune(action, utility=(0.0, given[name]) if is_range else given[name])
    episode.runtime.game = episode
    episode.runtime.every_tick(lambda: episode.runtime.post(_take_turn, episode))
    return episode.runtime


def _take_turn(episode: Episode) -> None:
    was_over = episode.is_over
    if not was_over:
        episode.player.perceive(episode.take_turn(), episode.did)
        if episode.is_over:
            episode.runtime.remove(episode.agent, "the episode is over")


def _measure(runtime: Runtime) -> Mapping[str, int | float | str]:
    from examples.crafter.game import Episode
    from examples.crafter.report import score
    from examples.crafter.rules import ACHIEVEMENTS

    episode = runtime.game
    if not isinstance(episode, Episode):
        raise ValueError("this runtime is of another world: measure one that Crafter's world made")
    achieved = episode.achieved
    return {
        "steps": episode.step,
        "died": int(episode.is_dead),
        "achievements": len(achieved),
        # The published score is of the success rates of many episodes; that of one weighs the same achievements.
        "score": score(100.0 * (name in achieved) for name in ACHIEVEMENTS),
        **{name: achieved.get(name, 0) for name in ACHIEVEMENTS},
    }


world = SimpleWorld(
    "crafter",
    _make,
    summary="An agent plays Crafter, a published survival benchmark: 22 achievements, 10,000 steps.",
    parameters={
        "length": _LENGTH,
        "thoughts": _THOUGHTS,
        **{name: parameter for name, (_, _, parameter) in WORTH.items()},
    },
    measure=_measure,
)
