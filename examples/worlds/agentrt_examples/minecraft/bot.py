"""The bot: a body on a real server, with the interface of the simulated one.

It is an entity that offers itself as a ``Gatherer``, so the strategies of the miner that find, go and mine drive it as
they are. What is known answers at once, from what was told last; what acts is a request to the bridge and takes as long
as it takes in the game.

Rules:

* Its state changes at intakes only: what the bridge tells is posted. So an agent sees one state throughout a tick, and
  a strategy that waits for a signal of the body is woken as by any other.
* Names are those of the miner's rules; ``_BLOCKS`` and ``_ITEMS`` say what the game calls otherwise.
* A motion that another one replaced is begun again when it is its turn: so it is with a strategy that was paused while
  something else made use of the legs.
* What an act meets is a ``CannotAct``, as everywhere. Only a bridge that is gone is another matter: then the entity is
  destroyed, and ``BridgeEnded`` passes through whoever acts.

On this server things cannot be crafted, so there is nothing here for it: see the README.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from agentrt import Entity, Runtime, move_on_after, next_tick, sleep
from agentrt_examples.minecraft.bridge import Bridge, Json, Refused
from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.gatherer import Gatherer
from agentrt_examples.miner.places import Place, eyes_of, squared
from agentrt_examples.miner.rules import BLOCKS, ITEMS

__all__ = ["Asks", "Bot", "connected"]

_BLOCKS = {"grass": "grass_block", "leaves": "oak_leaves", "planks": "oak_planks", "portal": "nether_portal"}
_ITEMS = {"planks": "oak_planks", "raw_iron": "iron_ore", "raw_beef": "beef", "raw_pork": "porkchop"}

_SIGHT = 32  # blocks to what is worth remembering one by one
_COMMON_SIGHT = 8  # and to what is everywhere
_REACH = 16  # the square of the distance from the eyes
_NEAR = 3  # blocks from the feet, from where a block of a tree is in reach
_LOOK_AFTER = 64  # the square of the way after which it looks around
_DROPS = 8  # blocks to what is picked up
_MOST_DROPS = 32
_ROUNDS = 2
_SECONDS_TO_FALL = 0.5
_SECONDS_TO_COLLECT = 1.0
_MOST_TURNS = 8  # how often a motion is begun again because another one replaced it
_REASONS = {"no_path": "way", "not_loaded": "way", "out_of_reach": "reach", "nothing_there": "missing"}


class Asks(Protocol):
    """Whoever carries out requests; a bridge."""

    async def request(self, do: str, /, **fields: Any) -> Json:
        """Ask for something and wait for the answer.

        Args:
            do: what.
            fields: what belongs to it.
        """
        ...


class Bot(Entity):
    """The body on the server.

    Args:
        runtime: whose clock counts, and that is told what happens.

    Attributes:
        place: where its feet are.
        health: from 0 to 20.
        food: from 0 to 20.
    """

    __slots__ = (
        "_bridge",
        "_clock",
        "_has_dug",
        "_looked_from",
        "_seen",
        "_shunned",
        "_stock",
        "food",
        "health",
        "place",
    )

    def __init__(self, runtime: Runtime) -> None:
        super().__init__("bot", name="bot")
        self.place: Place = (0, 0, 0)
        self.health: float = 20
        self.food: float = 20
        self._stock: dict[str, int] = {}
        self._clock = runtime.clock
        self._seen: dict[str, dict[Place, None]] = {}
        self._shunned: dict[Place, int] = {}
        self._looked_from: Place | None = None
        self._has_dug = False  # since it looked
        self._bridge: Asks | None = None
        self.add(self, Gatherer)

    def join(self, bridge: Asks) -> None:
        """Act through a bridge from now on.

        Args:
            bridge: which.
        """
        self._bridge = bridge

    # --- what it knows ------------------------------------------------------------------------------------------------

    @property
    def stock(self) -> dict[str, int]:
        """How many it carries of each kind of item; a copy."""
        return dict(self._stock)

    @property
    def uses(self) -> dict[str, int]:
        """How often the tools of each kind can still be used. On this server they do not wear: all count as new."""
        return {
            item: count * ITEMS[item].wear for item, count in self._stock.items() if item in ITEMS and ITEMS[item].wear
        }

    @property
    def has_looked(self) -> bool:
        """Whether it has looked around where it stands, so that looking again shows nothing new."""
        return self._looked_from == self.place and not self._has_dug

    def known(self, kind: str, limit: int = 1) -> list[Place]:
        """The blocks of a kind that it saw, the nearest first; what is shunned is left out.

        Args:
            kind: the name of the kind.
            limit: how many at most.
        """
        now = self._clock.tick
        places = [place for place in self._seen.get(kind, ()) if self._shunned.get(place, 0) <= now]
        return sorted(places, key=lambda place: (squared(place, self.place), place))[:limit]

    def shun(self, place: Place, seconds: float) -> None:
        """Leave a place out for a while.

        Args:
            place: which.
            seconds: of game time.
        """
        self._shunned[place] = self._clock.tick + self._clock.ticks(seconds)

    def want(self, item: str, count: int) -> None:
        """Keep so many of an item. It keeps all that it picks up, so there is nothing to do.

        Args:
            item: the kind of the item.
            count: how many.
        """

    def reaches(self, place: Place) -> bool:
        """Whether its hands reach a block. This server minds the distance only, not what stands in between.

        Args:
            place: where the block is.
        """
        return squared(eyes_of(self.place), place) <= _REACH

    # --- what it does -------------------------------------------------------------------------------------------------

    async def look_around(self) -> None:
        """See the blocks that have a face to the air: ores and logs from afar, what is everywhere from near."""
        self._looked_from, self._has_dug = self.place, False
        for kinds, within in (
            ([block.name for block in BLOCKS if block.landmark], _SIGHT),
            ([block.name for block in BLOCKS if block.dig and not block.landmark], _COMMON_SIGHT),
        ):
            found = await self._ask("find_blocks", kinds=[_BLOCKS.get(kind, kind) for kind in kinds], within=within)
            for kind in kinds:
                places = {_place(place): None for place in found["blocks"][_BLOCKS.get(kind, kind)]}
                before, self._seen[kind] = self._seen.get(kind, {}), places
                if any(place not in before for place in places):
                    self.signal("seen").emit(kind)

    async def go_to(self, place: Place) -> None:
        """Go somewhere.

        Args:
            place: where its feet shall be.

        Raises:
            CannotAct: there is no way.
        """
        await self._walk(place, within=0)

    async def approach(self, target: Place) -> None:
        """Go where its hands reach a block.

        Args:
            target: where the block is.

        Raises:
            CannotAct: there is no way.
        """
        if not self.reaches(target):
            await self._walk(target, within=_NEAR)

    async def mine(self, place: Place) -> None:
        """Dig a block within reach, with the best tool that it carries. What drops lies on the ground.

        Args:
            place: where the block is.

        Raises:
            CannotAct: it is out of reach or gone.
        """
        await self._move("dig", place)
        self._has_dug = True
        for places in self._seen.values():
            places.pop(place, None)

    async def pick_up(self) -> None:
        """Go to what lies around, and wait until it is collected; what cannot be had is left where it is.

        What drops falls and rolls for a while, so a thing that was not had is tried once more, where it lies then.
        """
        tried: set[Place] = set()
        rounds = 1
        for _ in range(_MOST_DROPS):
            found = await self._ask("drops", within=_DROPS)
            places = [_place(drop["place"]) for drop in found["drops"]]
            left = [place for place in places if place not in tried]
            if left:
                nearest = min(left, key=lambda place: (squared(place, self.place), place))
                tried.add(nearest)
                await self._collect(nearest)
            elif places and rounds < _ROUNDS:
                rounds += 1
                tried.clear()
                await sleep(_SECONDS_TO_FALL)
            else:
                break
        await next_tick()  # what was told until now is taken in

    async def _collect(self, place: Place) -> None:
        before = self._stock
        try:
            await self._walk(place, within=1)
        except CannotAct:
            return
        if self._stock is before:  # it may have been collected on the way
            with move_on_after(_SECONDS_TO_COLLECT):
                await self.signal("inventory").wait()

    async def server(self, do: str, **fields: Any) -> None:
        """Have the server do something to it, as its operator could: ``hurt``, ``give``, ``set_block``.

        Args:
            do: what.
            fields: what belongs to it.
        """
        await self._ask(f"server_{do}", **fields)

    async def _ask(self, do: str, **fields: Any) -> Json:
        try:
            return await self._connection.request(do, **fields)
        except Refused as refused:
            raise CannotAct(do, _REASONS.get(refused.code, "blocked"), str(refused)) from None

    @property
    def _connection(self) -> Asks:
        assert self._bridge is not None, "a bot acts while it is connected"
        return self._bridge

    async def _walk(self, place: Place, within: int) -> None:
        await self._move("walk", place, within=within)
        if self._looked_from is not None and squared(self.place, self._looked_from) >= _LOOK_AFTER:
            await self.look_around()

    async def _move(self, act: str, place: Place, **fields: Any) -> Json:
        turns = 0
        while True:
            try:
                done = await self._connection.request(act, place=place, **fields)
            except Refused as refused:
                turns += 1
                if refused.code == "replaced" and turns < _MOST_TURNS:
                    await next_tick()
                    continue
                raise CannotAct(act, _REASONS.get(refused.code, "blocked"), str(refused), place) from None
            await next_tick()  # what it met on its way is taken in
            return done

    # --- what happens to it -------------------------------------------------------------------------------------------

    def take(self, event: Json) -> None:
        """Take in what the bridge told; posted, so that it happens at an intake.

        Args:
            event: what happened.
        """
        match event["event"]:
            case "spawned":
                self._moved(event)
                self._carries(event)
                self.health, self.food = event["health"], event["food"]
            case "moved":
                self._moved(event)
            case "health":
                self.health, self.food = event["health"], event["food"]
            case "hurt":
                self.signal("hurt").emit(event["by"])
            case "inventory":
                self._carries(event)
            case "died":
                self.signal("died").emit()
            case "ended":
                self.destroy()

    def _moved(self, event: Json) -> None:
        self.place = _place(event["place"])
        self.signal("moved").emit(self.place)

    def _carries(self, event: Json) -> None:
        stock: dict[str, int] = {_ours(item): count for item, count in event["items"].items()}
        before, self._stock = self._stock, stock
        for item in {**before, **stock}:
            if before.get(item) != stock.get(item):
                self.signal("inventory").emit(item)


_OURS = {theirs: ours for ours, theirs in _ITEMS.items()}


def _ours(item: str) -> str:
    return _OURS.get(item, item)


def _place(parts: Iterable[int]) -> Place:
    x, y, z = parts
    return x, y, z


@asynccontextmanager
async def connected(runtime: Runtime, command: Sequence[str | Path]) -> AsyncIterator[Bot]:
    """Start a server with a bot on it; both are gone when this is over.

    Args:
        runtime: what happens is posted to it.
        command: how to start the bridge.

    Yields:
        The bot.

    Raises:
        BridgeEnded: the server did not start.
    """
    bot = Bot(runtime)
    async with Bridge(command, lambda event: runtime.post(bot.take, event)) as bridge:
        bot.join(bridge)
        bot.take(bridge.first)  # where it is, before anybody asks
        await bot.look_around()
        yield bot
