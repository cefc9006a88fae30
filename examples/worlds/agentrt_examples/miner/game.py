"""A run of the game: a runtime, a world, the miner in it, and what it is asked for.

Everything that is random comes from streams of the runtime's seed; what happens in the world goes into the trace as a
note. So one digest over the trace covers all of a run.
"""

from __future__ import annotations

from agentrt import Agent, Runtime
from agentrt.errors import DependencyFailedError
from agentrt.kernel import TraceEvent, TraceRecord
from agentrt_examples.miner.legs import Miner
from agentrt_examples.miner.mind import make_mind
from agentrt_examples.miner.outlook import Outlook
from agentrt_examples.miner.places import Place
from agentrt_examples.miner.realm import World
from agentrt_examples.miner.rules import BLOCKS
from agentrt_examples.miner.strategies.needs import Collect
from agentrt_examples.miner.terrain import Grown
from agentrt_examples.miner.times import RATE

__all__ = ["RESERVE", "Game"]

RESERVE = 12
"""How many uses of an iron pickaxe are left for diamonds."""


class Game:
    """A world with one miner, ready to run.

    Args:
        seed: of all that is random.
        host: what the runtime runs on: auto, plain, asyncio or trio.
        xray: whether the miner sees through rock.
        has_shop: whether the server has a shop.
        peaceful: whether nothing hostile appears.
        reserve: how many uses of saved pickaxes are left for what needs them.
        overworld: another overworld than the one that grows from the seed.

    Attributes:
        runtime: runs it; step it, or await its ``run``.
        world: the world.
        miner: who acts in it.
        agent: who thinks for it.
        counts: how often what happened, by the word of it: dug, crafted, ate, killed, struck, died, passed.
        item: what was asked for last; empty before that.
        outcome: what became of what was asked for last: a number of items, or why not; None until it is over.
    """

    def __init__(
        self,
        seed: int | str = 1,
        host: str = "plain",
        *,
        xray: bool = False,
        has_shop: bool = False,
        peaceful: bool = False,
        reserve: int = RESERVE,
        overworld: Grown | None = None,
    ) -> None:
        self.runtime = Runtime(seed=seed, ticks_per_second=RATE, host=host)
        self.world = World(self.runtime.clock, self.runtime.stream, has_shop=has_shop, overworld=overworld)
        self.runtime.game = self
        self.world.note = self._note
        self.world.fauna.is_peaceful = peaceful
        self.counts: dict[str, int] = {}
        self.miner = Miner(self.world, xray=xray)
        self.miner.reserve = reserve
        self.agent: Agent = self.runtime.add(make_mind(self.miner))
        self.item = ""
        self.outcome: int | DependencyFailedError | None = None
        self.runtime.drawing = Outlook(self.miner).draw
        self.runtime.every_tick(self.world.tick)

    def ask(self, item: str, count: int) -> None:
        """Ask the miner for something, from the first tick on.

        Args:
            item: the kind of the item.
            count: how many.
        """
        self.item, self.outcome = item, None
        self.runtime.spawn(self._collect, item, count, name="ask")

    async def _collect(self, item: str, count: int) -> None:
        try:
            self.outcome = await self.agent.gameplay.solve(Collect(item, count))
        except DependencyFailedError as failure:
            self.outcome = failure

    def run(self, ticks: int) -> bool:
        """Run until what was asked for is there, or not to be had.

        Args:
            ticks: how many at most.

        Returns:
            Whether it is there.
        """
        for _ in range(ticks):
            if self.outcome is not None:
                break
            self.runtime.step()
        return isinstance(self.outcome, int)

    def send(self, dimension: str) -> None:
        """Put the miner in front of the first portal of another dimension, as if it had passed it.

        Args:
            dimension: its name.
        """
        place = next(place for name, place in self.world.links if name == dimension)
        self.miner.move_to(place, self.world.dimensions[dimension])

    def build(self, kind: str, count: int) -> list[Place]:
        """Put blocks onto the ground around the miner.

        Args:
            kind: the name of their kind.
            count: how many.

        Returns:
            Where they are.
        """
        x, y, z = self.miner.place
        dimension = self.miner.dimension
        around = [(x + side_x, y, z + side_z) for side_x in range(-2, 3) for side_z in (2, 1, -1, -2)]
        places = [
            place
            for place in around
            if BLOCKS[dimension.at(place)].name == "air"
            and not BLOCKS[dimension.at((place[0], y - 1, place[2]))].passable
        ][:count]
        for place in places:
            self.world.put(dimension, place, kind)
        self.miner.look()
        return places

    def _note(self, word: str, text: str) -> None:
        self.counts[word] = self.counts.get(word, 0) + 1
        trace = self.runtime.trace
        if trace.on:
            detail = (("kind", word), ("text", text), ("place", ",".join(map(str, self.miner.place))))
            trace.emit(TraceRecord(self.runtime.tick, self.miner.name, "world", TraceEvent.NOTE, detail))
