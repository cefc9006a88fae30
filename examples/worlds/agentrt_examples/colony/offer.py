"""What ``agentrt demo`` gets: the colony as a world, headless or live. Imports what it needs when it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.errors import MissingExtraError
from agentrt.worlds import nobody
from agentrt_examples.colony.setting import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentrt import Runtime
    from agentrt.worlds import Progress, Value, Watch, WorldReport

__all__ = ["ColonyWorld"]


class ColonyWorld:
    """The colony, as the entry-point group ``agentrt.worlds`` wants it.

    Attributes:
        name: what the command calls it.
        summary: what there is to see.
        parameters: what it can be made with.
    """

    name = "colony"
    summary = "Hearthlings farm, cook, heal and paint; wolves hunt; drakes guard their nest; soldiers stand by."

    parameters = PARAMETERS

    def make(self, *, seed: int, host: str, params: Mapping[str, Value] | None = None) -> Runtime:
        """Make a colony for whoever drives it.

        Args:
            seed: the seed of all that is random.
            host: ``"auto"``, ``"plain"``, ``"asyncio"`` or ``"trio"``.
            params: what is not as by default.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
        """
        try:
            from agentrt_examples.colony.saving import found
        except ModuleNotFoundError as error:
            raise MissingExtraError("demo", error.name or "tcod") from error
        return found(seed, host, params).runtime

    def measure(self, runtime: Runtime) -> Mapping[str, int | float | str]:
        """What a colony came to so far, and what there is in it.

        Args:
            runtime: of one that ``make`` made.

        Raises:
            ValueError: it is of another world.
        """
        from agentrt_examples.colony.colony import Colony
        from agentrt_examples.colony.report import measured

        if not isinstance(runtime.game, Colony):
            raise ValueError("this runtime is of another world: measure one that the colony made")
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
        """Run without a terminal.

        Args:
            ticks: how many ticks.
            seed: the seed of all that is random.
            host: ``"plain"``, ``"asyncio"`` or ``"trio"``.
            progress: called every hundred ticks.
            watch: called with the runtime before the first tick.
            params: what is not as by default.

        Returns:
            The digest, a table of actions, and what happened in the world.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
        """
        from agentrt_examples.colony.report import run_headless

        return run_headless(ticks=ticks, seed=seed, host=host, progress=progress, watch=watch, params=params)

    def run_live(
        self, *, seed: int, speed: float, watch: Watch = nobody, params: Mapping[str, Value] | None = None
    ) -> None:
        """Show it in the terminal until its user quits.

        Args:
            seed: the seed of all that is random.
            speed: game seconds for each real second.
            watch: called with the runtime before the first tick.
            params: what is not as by default.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
        """
        try:
            from agentrt_examples.colony.app import ColonyApp
        except ModuleNotFoundError as error:
            raise MissingExtraError("demo", error.name or "textual") from error
        app = ColonyApp(seed=seed, speed=speed, params=params)
        watch(app.colony.runtime)
        app.run()
