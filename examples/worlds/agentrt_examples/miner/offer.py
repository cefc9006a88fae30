"""What ``agentrt demo`` gets: the miner as a world, headless or live. Imports what it needs when it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentrt.errors import MissingExtraError, ParameterError, did_you_mean
from agentrt.worlds import Parameter, nobody

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentrt import Runtime
    from agentrt.worlds import Progress, Value, Watch, WorldReport
    from agentrt_examples.miner.game import Game

__all__ = ["GOAL", "PARAMETERS", "MinerWorld"]

GOAL = ("diamond", 7)
"""What the miner is asked for."""

PARAMETERS = {
    "item": Parameter(GOAL[0], "What it is asked for, by the name of its kind, such as iron_ingot."),
    "count": Parameter(GOAL[1], "How many.", low=1, high=640),
    "xray": Parameter(False, "Whether it sees through rock."),
    "shop": Parameter(False, "Whether there is a shop on the server."),
    "peaceful": Parameter(False, "Whether nothing hostile appears."),
    "reserve": Parameter(12, "Uses of an iron pickaxe that are left for diamonds.", low=0, high=250),
}


class MinerWorld:
    """The miner, as the entry-point group ``agentrt.worlds`` wants it.

    Attributes:
        name: what the command calls it.
        summary: what there is to see.
        parameters: what it can be made with.
    """

    name = "miner"
    summary = "A miner is asked for seven diamonds, with empty hands, and works out the rest."

    parameters = PARAMETERS

    @staticmethod
    def game(seed: int, host: str, params: Mapping[str, Value] | None = None) -> Game:
        """A game in which something is asked for, by default seven diamonds.

        Args:
            seed: the seed of all that is random.
            host: ``"auto"``, ``"plain"``, ``"asyncio"`` or ``"trio"``.
            params: what is not as by default.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
            ParameterError: there is no such item.
        """
        try:
            from agentrt_examples.miner.game import Game
        except ModuleNotFoundError as error:
            raise MissingExtraError("demo", error.name or "tcod") from error
        from agentrt_examples.miner.rules import ITEMS

        given: dict[str, Any] = {name: one.default for name, one in PARAMETERS.items()} | dict(params or {})
        if given["item"] not in ITEMS:
            near = did_you_mean(given["item"], ITEMS).strip()
            raise ParameterError("miner", "item", f"there is no item {given['item'][:80]!r}", near)
        made = Game(
            seed, host, xray=given["xray"], has_shop=given["shop"], peaceful=given["peaceful"], reserve=given["reserve"]
        )
        made.ask(given["item"], given["count"])
        return made

    def make(self, *, seed: int, host: str, params: Mapping[str, Value] | None = None) -> Runtime:
        """Make a world for whoever drives it.

        Args:
            seed: the seed of all that is random.
            host: ``"auto"``, ``"plain"``, ``"asyncio"`` or ``"trio"``.
            params: what is not as by default.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
            ParameterError: there is no such item.
        """
        return self.game(seed, host, params).runtime

    def measure(self, runtime: Runtime) -> Mapping[str, int | float | str]:
        """What a run came to so far.

        Args:
            runtime: of a game that ``make`` made.

        Raises:
            ValueError: it is of another world.
        """
        from agentrt_examples.miner.game import Game
        from agentrt_examples.miner.report import measured

        if not isinstance(runtime.game, Game):
            raise ValueError("this runtime is of another world: measure one that the miner's world made")
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
        """Run without a terminal, until the diamonds are there or the ticks are over.

        Args:
            ticks: how many ticks at most.
            seed: the seed of all that is random.
            host: ``"plain"``, ``"asyncio"`` or ``"trio"``.
            progress: called every thousand ticks.
            watch: called with the runtime before the first tick.
            params: what is not as by default.

        Returns:
            The digest, a table of what each strategy was tried for, and the task tree.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
        """
        from agentrt_examples.miner.report import run_headless

        game = self.game(seed, host, params)
        return run_headless(game, ticks=ticks, host=host, progress=progress, watch=watch, params=params)

    def run_live(
        self, *, seed: int, speed: float, watch: Watch = nobody, params: Mapping[str, Value] | None = None
    ) -> None:
        """Print the task tree in the terminal, again and again, until the diamonds are there.

        Args:
            seed: the seed of all that is random.
            speed: game seconds for each real second.
            watch: called with the runtime before the first tick.
            params: what is not as by default.

        Raises:
            MissingExtraError: the extra ``demo`` is not installed.
        """
        from agentrt_examples.miner.report import run_live

        run_live(self.game(seed, "asyncio", params), speed=speed, watch=watch)
