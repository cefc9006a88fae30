"""The sockets: a task for each connection, which hands in what is typed and writes what is heard."""

from __future__ import annotations

import asyncio

import agentrt as art

from mygame.inn import Inn

PORT = 4000
LONGEST_LINE = 200  # characters
LONGEST_NAME = 20
MOST_UNREAD = 64 * 1024  # bytes; who does not read what is written is cut off


async def serve(runtime: art.Runtime, speed: float = 1.0) -> None:
    """Serve the inn of a runtime until that is stopped."""
    guests: set[asyncio.Task[None]] = set()

    def come(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        guest = asyncio.create_task(welcome(runtime, reader, writer))
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


async def welcome(runtime: art.Runtime, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Attend to a connection, however it ends."""
    keeper = runtime.find("keeper")
    assert keeper is not None
    try:
        await attend(runtime, keeper.entity.inn, reader, writer)
    except (ConnectionError, ValueError):  # it broke, or a line was far too long
        pass
    finally:
        writer.close()


async def attend(runtime: art.Runtime, inn: Inn, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Attend to one guest, from coming in to leaving."""

    def tell(text: str) -> None:
        writer.write(f"{text}\r\n".encode())
        if writer.transport.get_write_buffer_size() > MOST_UNREAD:
            writer.transport.abort()

    tell("What is your name?")
    name = shown(await reader.readline(), LONGEST_NAME)
    if not name or name in inn.listeners:
        tell("Nobody can come in by that name.")
        return
    inn.listeners[name] = tell
    runtime.send("join", name=name)
    try:
        async for line in reader:
            if text := shown(line, LONGEST_LINE):
                runtime.send("type", name=name, text=text)
    finally:
        del inn.listeners[name]
        runtime.send("leave", name=name)


def shown(line: bytes, longest: int) -> str:
    """What a line says, without whatever would do something to the terminals of others."""
    text = "".join(one for one in line.decode(errors="replace") if one.isprintable())
    return text.strip()[:longest]
