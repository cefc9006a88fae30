"""What ``agentrt demo`` gets: the miner as a world, headless or live. Imports what it needs when it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.errors import MissingExtraError
from agentrt.worlds import nobody

if TYPE_CHECKING:
    from agentrt import Runtime
    from agentrt.worlds import Progress, Watch, WorldReport
    from agentrt_examples.miner.game import Game

__all__ = ["GOAL", "MinerWorld"]

GOAL = ("diamond", 7)
"""What the miner is asked for."""


class MinerWorld:
    """The miner, as the entry-point group ``agentrt.worlds`` wants it.

    Attributes:
        name: what the command calls it.
        summary: what there is to see.
    """

    name = "miner"
    summary = "A miner is asked for seven diamonds, with empty hands, and works out the rest."

    @staticmethod
    def game(seed: int, host: str) -> Game:
        """A game in which seven diamonds are asked for.

        Args:
            seed: the seed of all that is random.
            host: ``"auto"``, ``"plain"``, ``"asyncio"`` or ``"trio"``.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
        """
        try:
            from agentrt_examples.miner.game import Game
        except ModuleNotFoundError as error:
            raise MissingExtraError("demo", error.name or "tcod") from error
        made = Game(seed, host)
        made.ask(*GOAL)
        return made

    def make(self, *, seed: int, host: str) -> Runtime:
        """Make a world for whoever drives it.

        Args:
            seed: the seed of all that is random.
            host: ``"auto"``, ``"plain"``, ``"asyncio"`` or ``"trio"``.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
        """
        return self.game(seed, host).runtime

    def run_headless(
        self, *, ticks: int, seed: int, host: str, progress: Progress, watch: Watch = nobody
    ) -> WorldReport:
        """Run without a terminal, until the diamonds are there or the ticks are over.

        Args:
            ticks: how many ticks at most.
            seed: the seed of all that is random.
            host: ``"plain"``, ``"asyncio"`` or ``"trio"``.
            progress: called every thousand ticks.
            watch: called with the runtime before the first tick.

        Returns:
            The digest, a table of what each strategy was tried for, and the task tree.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
        """
        from agentrt_examples.miner.report import run_headless

        return run_headless(self.game(seed, host), ticks=ticks, host=host, progress=progress, watch=watch)

    def run_live(self, *, seed: int, speed: float, watch: Watch = nobody) -> None:
        """Print the task tree in the terminal, again and again, until the diamonds are there.

        Args:
            seed: the seed of all that is random.
            speed: game seconds for each real second.
            watch: called with the runtime before the first tick.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
        """
        from agentrt_examples.miner.report import run_live

        run_live(self.game(seed, "asyncio"), speed=speed, watch=watch)
