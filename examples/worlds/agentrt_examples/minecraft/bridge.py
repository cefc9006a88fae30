"""The bridge process, seen from asyncio: requests with answers, and events.

A bridge is a process that speaks JSON lines (see ``bridge/bridge.mjs``). This module knows its form and none of the
words: what may be asked for is the business of ``bot``.

Rules:

* ``request`` can be awaited by an agent's action as it is, on the asyncio host. Whoever stops waiting, by a time limit
  or because the action was interrupted, takes the request back: the process is told to cancel it. So a bot whose agent
  was interrupted stands still, and nobody had to think of it.
* Events are handed out as they arrive, outside of the runtime: whoever takes them posts them (``runtime.post``).
* Everything from the process is bounded and checked; a process that says nonsense is ended, like one that dies: every
  open request fails with ``BridgeEnded``, which carries the last lines that it wrote to standard error, and the last
  event is ``ended``, with the reason, whether or not the process found the time to say so.
* There is no task here, only what the event loop calls (a subprocess protocol): so nothing has to be awaited to be
  read, and the order of answers and events is that of the lines.

The process ends when its standard input does, so it does not survive this one, however this one dies.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self, cast

__all__ = ["Bridge", "BridgeEnded", "Json", "Refused"]

Json = dict[str, Any]

_LONGEST_LINE = 1 << 20  # bytes; the longest that the bridge has to say is far below
_LAST_LINES = 20
_GRACE = 5.0  # seconds for the process to end by itself


class Refused(Exception):
    """A request was answered with an error, or not in time.

    Attributes:
        code: what a program can tell cases apart by: ``no_path``, ``out_of_reach``, ``timeout``, ...
    """

    code: str

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class BridgeEnded(Exception):
    """The process is gone: what it said last is in the text."""


class Bridge:
    """A bridge process.

    Used as ``async with``: the process is started at its beginning and ended at its end.

    Args:
        command: how to start the process.
        on_event: takes each event, a JSON object with the key ``event``; called by the event loop.
        patience: seconds that the process has for its first event.

    Attributes:
        first: the first event: what the process said when it was ready.
    """

    def __init__(
        self, command: Sequence[str | Path], on_event: Callable[[Json], object], patience: float = 60.0
    ) -> None:
        self.first: Json = {}
        self._command = [str(part) for part in command]
        self._on_event = on_event
        self._patience = patience
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Future[Json]] = {}
        self._is_ready = asyncio.Event()  # or will never be
        self._why = ""  # it cannot be used, and why
        self._process = _Process(self._take, self._fail)

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        try:
            await loop.subprocess_exec(lambda: self._process, *self._command)
            async with asyncio.timeout(self._patience):
                await self._is_ready.wait()
        except TimeoutError:
            self._fail(f"it was not ready within {self._patience:g} s")
        except BaseException:
            await self.close()
            raise
        if self._why:
            await self._process.end()
            raise self._ended()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the process: it is asked to, and killed if it does not. No event comes any more. Safe to call again."""
        self._on_event = lambda _event: None
        self._fail("it was closed")
        await self._process.end()

    async def request(self, do: str, /, *, timeout: float = 30.0, **fields: Any) -> Json:  # noqa: ASYNC109
        """Ask for something and wait for the answer. Whoever is cancelled here takes the request back.

        Args:
            do: what, a word of the bridge.
            timeout: real seconds to wait for it.
            fields: what belongs to it, JSON values.

        Returns:
            The answer.

        Raises:
            Refused: the answer is an error, or there was none in time (code ``timeout``).
            BridgeEnded: the process is gone.
        """
        if self._why:
            raise self._ended()
        number = next(self._numbers)
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._open[number] = answer
        self._process.send({"id": number, "do": do, **fields})
        # No 'asyncio.timeout': that would cancel whoever waits, also an action that is paused at this moment.
        late = Refused("timeout", f"{do!r} was not answered within {timeout:g} s")
        timer = asyncio.get_running_loop().call_later(timeout, self._take_back, number, late)
        try:
            return await answer
        finally:
            timer.cancel()
            self._take_back(number, None)

    def _take_back(self, number: int, error: Refused | None) -> None:
        """Nobody wants an answer any more, if there was none."""
        answer = self._open.pop(number, None)
        if answer is not None:
            self._process.send({"id": next(self._numbers), "do": "cancel", "of": number})
            if error is not None and not answer.done():
                answer.set_exception(error)

    def _take(self, line: bytes) -> None:
        """The process said something."""
        if self._why:
            return
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            self._fail(f"it wrote {line[:80]!r}, which is no JSON object")
        elif message.get("event") == "ended":
            self._fail(str(message.get("reason")))
        elif "event" in message:
            if not self.first:
                self.first = message
                self._is_ready.set()
            self._on_event(message)
        else:
            self._answered(message)

    def _answered(self, message: Json) -> None:
        answer = self._open.pop(message.get("id", 0), None)
        if answer is None or answer.done():  # nobody waits for it any more
            return
        error = message.get("error")
        if error is None:
            answer.set_result(message.get("ok", {}))
        else:
            answer.set_exception(Refused(str(error.get("code")), str(error.get("text"))))

    def _fail(self, why: str) -> None:
        """It cannot be used any more."""
        if self._why:
            return
        self._why = why
        self._is_ready.set()
        for answer in self._open.values():
            if not answer.done():
                answer.set_exception(self._ended())
        self._open.clear()
        self._on_event({"event": "ended", "reason": why})

    def _ended(self) -> BridgeEnded:
        said = "".join(f"\n  {line}" for line in self._process.last_lines)
        return BridgeEnded(f"the bridge process cannot be used: {self._why}{said}")


class _Process(asyncio.SubprocessProtocol):
    """The process and its pipes: takes what it writes apart into lines, and knows when it is gone.

    Args:
        on_line: takes each line of its standard output.
        on_end: is told why nothing will come any more.
    """

    def __init__(self, on_line: Callable[[bytes], None], on_end: Callable[[str], None]) -> None:
        self.last_lines: deque[str] = deque(maxlen=_LAST_LINES)
        self._on_line = on_line
        self._on_end = on_end
        self._rest = b""
        self._transport: asyncio.SubprocessTransport | None = None
        self._gone = asyncio.Event()

    def send(self, message: Json) -> None:
        assert self._transport is not None, "a bridge is used inside its 'async with'"
        stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))
        if not stdin.is_closing():
            stdin.write(json.dumps(message).encode() + b"\n")

    async def end(self) -> None:
        transport = self._transport
        if transport is None:
            return
        try:
            stdin = transport.get_pipe_transport(0)
            if stdin is not None:
                stdin.close()
            async with asyncio.timeout(_GRACE):
                await self._gone.wait()
        except TimeoutError:
            transport.kill()
            await self._gone.wait()
        finally:
            transport.close()  # kills it, if somebody would not let us wait

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != 1:
            self.last_lines.extend(data.decode(errors="replace").splitlines())
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._on_line(line)
        if len(self._rest) > _LONGEST_LINE:
            self._rest = b""
            self._on_end(f"it wrote a line of more than {_LONGEST_LINE} bytes")

    def connection_lost(self, exc: Exception | None) -> None:
        assert self._transport is not None
        self._on_end(f"it ended with code {self._transport.get_returncode()}")
        self._gone.set()
