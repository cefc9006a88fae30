"""A server that is none: what the bridge would answer, in virtual time, for the tests of whoever acts through it.

Walking takes four ticks a block, along x and then along z; digging takes twenty. What drops falls into the place of the
block and is collected ten ticks later, or as soon as somebody comes within two blocks of it.
"""

from __future__ import annotations

import agentrt as art
from agentrt_examples.minecraft.bridge import Refused

_DROPS = {"grass_block": "dirt", "coal_ore": "coal"}


def squared(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


class Meadow:
    """Answers requests, and posts events to a bot.

    Args:
        runtime: whose time it is.
        bot: who is told.
        blocks: what stands where.
    """

    def __init__(self, runtime, bot, blocks):
        self.runtime, self.bot, self.blocks = runtime, bot, dict(blocks)
        self.place, self.health, self.items, self.lying = (0, 5, 0), 20, {}, {}
        self.motions = 0
        self.log = []
        bot.join(self)
        bot.take({"event": "spawned", "place": self.place, "health": 20, "food": 20, "items": {}})

    def tell(self, event, **fields):
        self.runtime.post(self.bot.take, {"event": event, **fields})

    def note(self, *words):
        self.log.append((self.runtime.tick, *words))

    async def request(self, do, /, **fields):
        if do not in ("walk", "dig"):
            return getattr(self, do)(**fields)
        self.note(do, tuple(fields["place"]))
        self.motions += 1
        try:
            answer = await getattr(self, do)(**fields)
        except (Exception, art.Cancelled) as error:
            self.note("canceled" if isinstance(error, art.Cancelled) else error.code)
            raise
        self.note("done")
        return answer

    async def pass_ticks(self, ticks):
        """Let time pass, unless another motion begins meanwhile."""
        own = self.motions
        await art.sleep_ticks(ticks)
        if own != self.motions:
            raise Refused("replaced", "the motion was replaced")

    # --- what acts ----------------------------------------------------------------------------------------------------

    async def walk(self, place, within):
        if self.blocks.get(tuple(place)) and not within:
            raise Refused("no_path", "something stands there")
        while squared(self.place, place) > within * within:
            x, y, z = self.place
            if x != place[0]:
                x += 1 if place[0] > x else -1
            elif z != place[2]:
                z += 1 if place[2] > z else -1
            else:
                raise Refused("no_path", "it is in the air")
            await self.pass_ticks(4)
            self.place = (x, y, z)
            self.tell("moved", place=self.place)
            self.collect()
        return {}

    async def dig(self, place):
        if tuple(place) not in self.blocks:
            raise Refused("nothing_there", "there is only air")
        await self.pass_ticks(20)
        kind = self.blocks.pop(tuple(place))
        self.lying[tuple(place)] = _DROPS.get(kind, kind)
        self.runtime.spawn(self.fall)
        return {"kind": kind}

    async def fall(self):
        await art.sleep_ticks(10)
        self.collect()

    def collect(self):
        for place in [place for place in self.lying if squared(place, self.place) <= 4]:
            item = self.lying.pop(place)
            self.items[item] = self.items.get(item, 0) + 1
            self.tell("collected", kind=item)
            self.tell("inventory", items=dict(self.items))

    # --- what answers at once -----------------------------------------------------------------------------------------

    def find_blocks(self, kinds, within):
        near = [place for place in self.blocks if squared(place, self.place) <= within * within]
        near.sort(key=lambda place: (squared(place, self.place), place))
        return {"blocks": {kind: [at for at in near if self.blocks[at] == kind] for kind in kinds}, "unknown": []}

    def drops(self, within):
        return {"drops": [{"kind": kind, "count": 1, "place": place} for place, kind in self.lying.items()]}

    def server_hurt(self, amount):
        self.health -= amount
        self.tell("health", health=self.health, food=20)
        self.tell("hurt", by=amount, health=self.health)
        return {}
