"""The sockets: a connection for each guest (WebSocket), which hands in what is typed and sends what is heard.

Each message is one JSON object. A client begins with ``{"name": "Ann"}``, and numbers what is typed: ``{"number": 7,
"text": "say hello"}``. The server says what is heard, ``{"heard": "Ann: hello"}``, and what is kept: ``{"kept": 7}``.
It says both when the tick in which it happened is kept: a crash takes back nothing that anybody was told. So a client
that sends again, in their order, what was not kept loses nothing; numbers that the inn knows it passes over.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from functools import partial

import agentrt as art
from websockets.asyncio import server
from websockets.exceptions import ConnectionClosed

from mygame.inn import Inn

PORT = int(os.environ.get("INN_PORT", "4000"))
LONGEST_LINE = 200  # characters
LONGEST_NAME = 20
LONGEST_MESSAGE = 4096  # bytes
MOST_UNREAD = 64 * 1024  # bytes; who does not read what is sent is cut off
HIGHEST_NUMBER = 2**53
PATIENCE = 30.0  # seconds in which a guest who was cut off has to come back


class Post:
    """Holds back what is told until the tick that it tells of is kept, or is over if nobody records the inn."""

    def __init__(self, runtime: art.Runtime) -> None:
        self._held: list[tuple[int, Callable[[dict[str, object]], None], dict[str, object]]] = []
        if runtime.recorder is None:
            runtime.after_tick(lambda: self._send(runtime.tick))
        else:
            runtime.recorder.on_commit(self._send)

    def put(self, tick: int, tell: Callable[[dict[str, object]], None], message: dict[str, object]) -> None:
        """Tell somebody something when a tick is kept."""
        self._held.append((tick, tell, message))

    def _send(self, kept: int) -> None:
        held, self._held = self._held, []
        for tick, tell, message in held:
            if tick <= kept:
                tell(message)
            else:
                self._held.append((tick, tell, message))


async def serve(runtime: art.Runtime, speed: float = 1.0) -> None:
    """Serve the inn of a runtime until that is stopped."""
    leaving = asyncio.create_task(see_off(runtime))
    try:
        inn = await open_inn(runtime, PORT)
    except OSError as error:
        raise SystemExit(
            f"the inn stays shut: {error}. Does it run twice? Another port: INN_PORT=4001 agentrt run"
        ) from None
    print(f"the inn is open: python -m mygame.client NAME, or ws://127.0.0.1:{PORT}")
    try:
        await runtime.run(speed=speed)
    finally:
        leaving.cancel()
        inn.close()


async def open_inn(runtime: art.Runtime, port: int) -> server.Server:
    """Let guests come in; port 0 is any that is free."""
    attending = partial(attend, runtime, Post(runtime))
    return await server.serve(attending, "127.0.0.1", port, max_size=LONGEST_MESSAGE, compression=None)


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
        for name in sorted(set(inn.guests) - set(inn.listeners)):
            runtime.send("leave", name=name)


async def attend(runtime: art.Runtime, post: Post, connection: server.ServerConnection) -> None:
    """Attend to one guest, from coming in to leaving."""
    inn = inn_of(runtime)

    def tell(message: dict[str, object]) -> None:
        server.broadcast([connection], json.dumps(message))  # which waits for nobody
        if connection.transport.get_write_buffer_size() > MOST_UNREAD:
            connection.transport.abort()

    try:
        name = shown(read(await connection.recv()).get("name"), LONGEST_NAME)
    except ConnectionClosed:
        return
    if not name or name in inn.listeners:
        tell({"refused": "Nobody can come in by that name."})
        return
    inn.listeners[name] = lambda text: post.put(runtime.tick, tell, {"heard": text})
    runtime.send("join", name=name)
    patience = 0.0
    try:
        async for message in connection:
            typed = read(message)
            number, text = typed.get("number"), shown(typed.get("text"), LONGEST_LINE)
            if type(number) is int and 0 < number < HIGHEST_NUMBER:
                runtime.send("type", name=name, text=text, number=number)
                post.put(runtime.tick + 1, tell, {"kept": number})  # the next tick takes it
    except ConnectionClosed:  # without a word
        patience = PATIENCE
    finally:
        del inn.listeners[name]
    await asyncio.sleep(patience)
    if name not in inn.listeners:
        runtime.send("leave", name=name)


def read(message: str | bytes) -> dict[str, object]:
    """What a message says; nothing if it says nothing that can be read."""
    try:
        said = json.loads(message)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def shown(text: object, longest: int) -> str:
    """A text without whatever would do something to the terminals of others; an empty one if it is no text."""
    return "".join(one for one in str(text) if one.isprintable()).strip()[:longest] if isinstance(text, str) else ""
