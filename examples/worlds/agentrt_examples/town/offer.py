"""What ``agentrt demo`` gets: the town as a world, headless or live, with its script or a language model.

Imports what it needs when it is run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.errors import MissingExtraError
from agentrt.worlds import nobody

if TYPE_CHECKING:
    from agentrt import Runtime
    from agentrt.minds import Model
    from agentrt.worlds import Progress, Watch, WorldReport
    from agentrt_examples.town.game import TownGame

__all__ = ["TownWorld"]


class TownWorld:
    """The town, as the entry-point group ``agentrt.worlds`` wants it.

    Args:
        model: what its people think by; None for the script that comes with it.

    Attributes:
        name: what the command calls it.
        summary: what there is to see.
        model: as given.
    """

    name = "town"
    summary = "Twelve people work, eat, talk, quarrel and plan a party by a mind; news spread, and a wolf comes."

    def __init__(self, model: Model | None = None) -> None:
        self.model = model

    def with_model(self, name: str, base_url: str = "") -> TownWorld:
        """The same, whose people think by a language model.

        Args:
            name: of the model at its server, such as ``"openai:gpt-5-mini"``.
            base_url: where the server is; empty for OpenAI's own.

        Raises:
            MissingExtraError: the extra ``llm`` is not installed.
        """
        from agentrt.minds import Model

        model = Model(name, base_url)
        model.require()
        return TownWorld(model)

    def game(self, *, seed: int, host: str) -> TownGame:
        """Make a town for whoever drives it.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
        """
        try:
            from agentrt_examples.town.game import TownGame
        except ModuleNotFoundError as error:
            raise MissingExtraError("demo", error.name or "tcod") from error
        return TownGame(seed=seed, host=host, model=self.model)

    def make(self, *, seed: int, host: str) -> Runtime:
        """Make a town, and leave it to the caller to drive it."""
        return self.game(seed=seed, host=host).runtime

    def run_headless(
        self, *, ticks: int, seed: int, host: str, progress: Progress, watch: Watch = nobody
    ) -> WorldReport:
        """Run without a terminal: as fast as it goes, or with a language model in real time.

        Args:
            ticks: how many ticks.
            seed: the seed of all that is random.
            host: ``"plain"``, ``"asyncio"`` or ``"trio"``; a language model is asked on asyncio.
            progress: called every hundred ticks.
            watch: called with the runtime before the first tick.

        Returns:
            The digest, a table of people, and what happened.
        """
        from agentrt_examples.town.report import run_headless

        game = self.game(seed=seed, host=host if self.model is None else "asyncio")
        return run_headless(game, ticks=ticks, seed=seed, progress=progress, watch=watch)

    def run_live(self, *, seed: int, speed: float, watch: Watch = nobody) -> None:
        """Show it in the terminal until its user quits with Ctrl-C.

        Args:
            seed: the seed of all that is random.
            speed: game seconds for each real second.
            watch: called with the runtime before the first tick.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
        """
        game = self.game(seed=seed, host="asyncio")
        try:
            from agentrt_examples.town.screen import run_live
        except ModuleNotFoundError as error:
            raise MissingExtraError("demo", error.name or "rich") from error
        watch(game.runtime)
        run_live(game, speed)
