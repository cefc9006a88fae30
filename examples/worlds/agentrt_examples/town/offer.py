"""What ``agentrt demo`` gets: the town as a world, headless or live, with its script or a language model.

Imports what it needs when it is run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.errors import MissingExtraError
from agentrt.worlds import nobody
from agentrt_examples.town.setting import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentrt import Runtime
    from agentrt.minds import Model
    from agentrt.worlds import Progress, Value, Watch, WorldReport
    from agentrt_examples.town.game import TownGame

__all__ = ["TownWorld"]


class TownWorld:
    """The town, as the entry-point group ``agentrt.worlds`` wants it.

    Args:
        model: what its people think by; None for the script that comes with it.

    Attributes:
        name: what the command calls it.
        summary: what there is to see.
        parameters: what it can be made with.
        model: as given.
    """

    name = "town"
    summary = "Twelve people work, eat, talk, quarrel and plan a party by a mind; news spread, and a wolf comes."

    parameters = PARAMETERS

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

    def game(self, *, seed: int, host: str, params: Mapping[str, Value] | None = None) -> TownGame:
        """Make a town for whoever drives it.

        Args:
            seed: the seed of all that is random.
            host: ``"plain"``, ``"asyncio"`` or ``"trio"``.
            params: what is not as by default.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
        """
        try:
            from agentrt_examples.town.game import TownGame
        except ModuleNotFoundError as error:
            raise MissingExtraError("demo", error.name or "tcod") from error
        return TownGame(seed=seed, host=host, model=self.model, params=params)

    def make(self, *, seed: int, host: str, params: Mapping[str, Value] | None = None) -> Runtime:
        """Make a town, and leave it to the caller to drive it."""
        return self.game(seed=seed, host=host, params=params).runtime

    def measure(self, runtime: Runtime) -> Mapping[str, int | float | str]:
        """What people did so far, how they are, and what was thought.

        Args:
            runtime: of a town that ``make`` made.

        Raises:
            ValueError: it is of another world.
        """
        from agentrt_examples.town.game import TownGame
        from agentrt_examples.town.report import measured

        if not isinstance(runtime.game, TownGame):
            raise ValueError("this runtime is of another world: measure one that the town made")
        return measured(runtime.game)

    def run_headless(
        self,
        *,
        ticks: int,
        seed: int,
        host: str,
        progress: Progress,
        watch: Watch = nobody,
        params: Mapping[str, Value] | None = None,
    ) -> WorldReport:
        """Run without a terminal: as fast as it goes, or with a language model in real time.

        Args:
            ticks: how many ticks.
            seed: the seed of all that is random.
            host: ``"plain"``, ``"asyncio"`` or ``"trio"``; a language model is asked on asyncio.
            progress: called every hundred ticks.
            watch: called with the runtime before the first tick.
            params: what is not as by default.

        Returns:
            The digest, a table of people, and what happened.
        """
        from agentrt_examples.town.report import run_headless

        game = self.game(seed=seed, host=host if self.model is None else "asyncio", params=params)
        return run_headless(game, ticks=ticks, seed=seed, progress=progress, watch=watch, params=params)

    def run_live(
        self, *, seed: int, speed: float, watch: Watch = nobody, params: Mapping[str, Value] | None = None
    ) -> None:
        """Show it in the terminal until its user quits with Ctrl-C.

        Args:
            seed: the seed of all that is random.
            speed: game seconds for each real second.
            watch: called with the runtime before the first tick.
            params: what is not as by default.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
        """
        game = self.game(seed=seed, host="asyncio", params=params)
        try:
            from agentrt_examples.town.screen import run_live
        except ModuleNotFoundError as error:
            raise MissingExtraError("demo", error.name or "rich") from error
        watch(game.runtime)
        run_live(game, speed)
