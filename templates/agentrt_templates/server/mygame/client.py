"""A client that does not mind when the server dies: ``python -m mygame.client NAME``.

It numbers what is typed, connects again when the connection breaks, and sends again what was not acknowledged.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable

from mygame.server import PORT

FIRST_WAIT, LONGEST_WAIT = 0.5, 10.0  # seconds before it connects again


class Client:
    """One player, at whatever connection there is."""

    def __init__(self, name: str, hear: Callable[[str], object], port: int = PORT, first: int | None = None) -> None:
        self.unkept: dict[int, str] = {}  # what was typed and not acknowledged, by number
        self._name = name
        self._hear = hear
        self.port = port  # where the server is
        # The inn knows the numbers of earlier evenings: a clock gives higher ones.
        self._number = time.time_ns() // 1_000_000 if first is None else first
        self._writer: asyncio.StreamWriter | None = None

    def type(self, text: str) -> None:
        """The player types a line."""
        self._number += 1
        self.unkept[self._number] = text
        if self._writer is not None:
            self._send(self._writer, self._number)

    async def play(self) -> None:
        """Be connected, again and again, until it is cancelled."""
        wait = FIRST_WAIT
        while True:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                wait = FIRST_WAIT
                try:
                    await self._listen(reader, writer)
                finally:
                    self._writer = None
                    writer.close()
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    async def _listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"{self._name}\n".encode())
        for number in self.unkept:
            self._send(writer, number)
        self._writer = writer
        async for line in reader:
            text = line.decode(errors="replace").strip()
            if text[:1] == "#" and text[1:].isdecimal():
                self.unkept.pop(int(text[1:]), None)
            else:
                self._hear(text)

    def _send(self, writer: asyncio.StreamWriter, number: int) -> None:
        writer.write(f"#{number} {self.unkept[number]}\n".encode())


async def main(name: str) -> None:
    """Play with the lines of standard input."""
    client = Client(name, print)
    playing = asyncio.create_task(client.play())
    while line := await asyncio.to_thread(sys.stdin.readline):
        client.type(line.strip())
    playing.cancel()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
