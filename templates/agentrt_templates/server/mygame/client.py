"""A client that does not mind when the server dies: ``python -m mygame.client NAME``.

It numbers what is typed, connects again when the connection breaks, and sends again what was not kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Callable

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

FIRST_WAIT, LONGEST_WAIT = 0.5, 10.0  # seconds before it connects again


class Client:
    """One player, at whatever connection there is."""

    def __init__(self, name: str, hear: Callable[[str], object], port: int, first: int | None = None) -> None:
        self.unkept: dict[int, str] = {}  # what was typed and is not kept, by number
        self.refused = ""  # why the server does not let it in
        self._was_in = False  # then it is refused only as long as the server has not noticed that it is gone
        self._name = name
        self._hear = hear
        self._address = f"ws://127.0.0.1:{port}"
        # The inn knows the numbers of earlier evenings: a clock gives higher ones.
        self._number = time.time_ns() // 1_000_000 if first is None else first
        self._typed = asyncio.Event()

    def type(self, text: str) -> None:
        """The player types a line."""
        self._number += 1
        self.unkept[self._number] = text
        self._typed.set()

    async def play(self) -> None:
        """Be connected, again and again, until it is cancelled or refused."""
        wait = FIRST_WAIT
        while not self.refused:
            with contextlib.suppress(OSError, WebSocketException):
                async with connect(self._address, proxy=None) as connection:
                    wait = FIRST_WAIT
                    sending = asyncio.create_task(self._send(connection))
                    try:
                        async for message in connection:
                            self._take(json.loads(message))
                    finally:
                        sending.cancel()
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    async def _send(self, connection: ClientConnection) -> None:
        """Send what is not kept, from the first on, and then what is typed."""
        with contextlib.suppress(WebSocketException):  # who listens hears of that as well
            await connection.send(json.dumps({"name": self._name}))
            sent = 0
            while True:
                self._typed.clear()
                for number, text in list(self.unkept.items()):
                    if number > sent:
                        sent = number
                        await connection.send(json.dumps({"number": number, "text": text}))
                await self._typed.wait()

    def _take(self, message: dict[str, object]) -> None:
        kept = message.get("kept")
        if isinstance(kept, int):
            self.unkept.pop(kept, None)
        if "heard" in message:
            self._hear(str(message["heard"]))
        if "refused" in message and not self._was_in:
            self.refused = str(message["refused"])
        self._was_in = self._was_in or "heard" in message


async def main(name: str) -> None:
    """Play with the lines of standard input."""
    from mygame.server import PORT

    client = Client(name, print, PORT)
    playing = asyncio.create_task(client.play())
    playing.add_done_callback(lambda _: print(client.refused))
    while line := await asyncio.to_thread(sys.stdin.readline):
        client.type(line.strip())
    playing.cancel()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
