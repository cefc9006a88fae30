"""``python -m mygame``: the program, without any command of agentrt."""

from __future__ import annotations

import asyncio
import contextlib

from mygame import world
from mygame.program import play

if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(play(world.make(seed=0, host="asyncio")))
