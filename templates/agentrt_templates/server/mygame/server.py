"""The sockets: a task for each connection, which hands in what is typed and writes what is heard.

What is heard is written when the tick in which it happened is kept: a crash takes back nothing that anybody heard. A
line that begins with a number, as in "#7 say hello", is acknowledged by "#7" when it is kept.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import agentrt as art

from mygame.inn import Inn

PORT = 4000
LONGEST_LINE = 200  # characters
LONGEST_NAME = 20
MOST_UNREAD = 64 * 1024  # bytes; who does not read what is written is cut off
PATIENCE = 30.0  # seconds after a crash in which a guest has to come back
NUMBERED = re.compile(r"#(\d{1,15}) (.*)")


class Post:
    """Holds back what is told until the tick that it tells of is kept, or is over if nobody records the inn."""

    def __init__(self, runtime: art.Runtime) -> None:
        self._held: list[tuple[int, Callable[[str], None], str]] = []
        if runtime.recorder is None:
            runtime.after_tick(lambda: self._send(runtime.tick))
        else:
            runtime.recorder.on_commit(self._send)

    def put(self, tick: int, tell: Callable[[str], None], text: str) -> None:
        """Tell somebody something when a tick is kept."""
        self._held.append((tick, tell, text))

    def _send(self, kept: int) -> None:
        held, self._held = self._held, []
        for tick, tell, text in held:
            if tick <= kept:
                tell(text)
            else:
                self._held.append((tick, tell, text))


async def serve(runtime: art.Runtime, speed: float = 1.0) -> None:
    """Serve the inn of a runtime until that is stopped."""
    post = Post(runtime)
    guests = {asyncio.create_task(see_off(runtime))}

    def come(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        guest = asyncio.create_task(welcome(runtime, post, reader, writer))
        guests.add(guest)
        guest.add_done_callback(guests.discard)

    try:
        server = await asyncio.start_server(come, "127.0.0.1", PORT, limit=4 * LONGEST_LINE)
    except OSError as error:
        raise SystemExit(f"the inn stays shut: {error}. Does it run twice? The port is PORT in {__file__}.") from None
    print(f"the inn is open: telnet 127.0.0.1 {PORT}")
    try:
        await runtime.run(speed=speed)
    finally:
        server.close()
        for guest in guests:
            guest.cancel()


def inn_of(runtime: art.Runtime) -> Inn:
    """The inn that a runtime runs."""
    keeper = runtime.find("keeper")
    assert keeper is not None
    inn: Inn = keeper.entity.inn
    return inn


async def see_off(runtime: art.Runtime) -> None:
    """After a crash the guests are there, and their connections are not: who does not come back leaves."""
    if runtime.tick:
        await asyncio.sleep(PATIENCE)
        inn = inn_of(runtime)
        for name in set(inn.guests) - set(inn.listeners):
            runtime.send("leave", name=name)


async def welcome(runtime: art.Runtime, post: Post, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Attend to a connection, however it ends."""
    try:
        await attend(runtime, post, reader, writer)
    except (ConnectionError, ValueError):  # it broke, or a line was far too long
        pass
    finally:
        writer.close()


async def attend(runtime: art.Runtime, post: Post, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Attend to one guest, from coming in to leaving."""
    inn = inn_of(runtime)

    def tell(text: str) -> None:
        writer.write(f"{text}\r\n".encode())
        if writer.transport.get_write_buffer_size() > MOST_UNREAD:
            writer.transport.abort()

    tell("What is your name?")
    name = shown(await reader.readline(), LONGEST_NAME)
    if not name or name in inn.listeners:
        tell("Nobody can come in by that name.")
        return
    inn.listeners[name] = lambda text: post.put(runtime.tick, tell, text)
    runtime.send("join", name=name)
    try:
        async for line in reader:
            text = shown(line, LONGEST_LINE)
            if numbered := NUMBERED.fullmatch(text):
                runtime.send("type", name=name, text=numbered[2], number=int(numbered[1]))
                post.put(runtime.tick + 1, tell, f"#{numbered[1]}")  # the next tick takes it
            elif text:
                runtime.send("type", name=name, text=text)
    finally:
        del inn.listeners[name]
        runtime.send("leave", name=name)


def shown(line: bytes, longest: int) -> str:
    """What a line says, without whatever would do something to the terminals of others."""
    text = "".join(one for one in line.decode(errors="replace") if one.isprintable())
    return text.strip()[:longest]
