"""What ``agentrt demo`` gets: the colony as a world, headless or live. Imports what it needs when it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.errors import MissingExtraError

if TYPE_CHECKING:
    from agentrt.worlds import Progress, WorldReport

__all__ = ["ColonyWorld"]


class ColonyWorld:
    """The colony, as the entry-point group ``agentrt.worlds`` wants it.

    Attributes:
        name: what the command calls it.
        summary: what there is to see.
    """

    name = "colony"
    summary = "Hearthlings farm, cook, heal and paint; wolves hunt; drakes guard their nest; soldiers stand by."

    def run_headless(self, *, ticks: int, seed: int, host: str, progress: Progress) -> WorldReport:
        """Run without a terminal.

        Args:
            ticks: how many ticks.
            seed: the seed of all that is random.
            host: ``"plain"``, ``"asyncio"`` or ``"trio"``.
            progress: called every hundred ticks.

        Returns:
            The digest, a table of actions, and what happened in the world.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
        """
        from agentrt_examples.colony.report import run_headless

        return run_headless(ticks=ticks, seed=seed, host=host, progress=progress)

    def run_live(self, *, seed: int, speed: float) -> None:
        """Show it in the terminal until its user quits.

        Args:
            seed: the seed of all that is random.
            speed: game seconds for each real second.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
        """
        try:
            from agentrt_examples.colony.app import ColonyApp
        except ModuleNotFoundError as error:
            raise MissingExtraError("demo", error.name or "textual") from error
        ColonyApp(seed=seed, speed=speed).run()
