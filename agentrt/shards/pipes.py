"""Shards in a process of their own on this machine, over its standard input and output.

One line of JSON goes in with all that is asked of the place, one comes out with the answers. The first line says which
world it is; the process imports it as commands do, by its name: installed, or of the project of the working directory.
Nothing else that is read is imported or called.

* The process ends with whoever started it, at once, whichever way that ends: a thread watches standard input.
* What the world prints goes to standard error, where errors go as well.
* An error of ours, or of the world's, is an answer: it would come again. A process that ends is lost.
* One that is alive and silent is ended when its time is over, if a time was given, and is lost as well. The time is for
  a window: to come back takes as long as the run took, which nobody knows beforehand.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from queue import SimpleQueue
from typing import TYPE_CHECKING, BinaryIO

from agentrt.errors import ENDS_PROGRAM, AgentRTError, DefinitionError, ShardError, ShardLostError
from agentrt.shards.places import ShardAnswer, ShardRequest, Tenancy, Tenants
from agentrt.shards.shard import ShardedWorld
from agentrt.words import error_words, repr_of, type_name
from agentrt.worlds import load_world

if TYPE_CHECKING:
    from pathlib import Path

_CODE = "from agentrt.shards.pipes import serve; serve()"


class PipeShards:
    """Shards in another process of this machine; several of these work at the same time.

    Args:
        cwd: the working directory of the process, where the project of the world is; None for the one here.
        limit: real seconds that it has for one window of all its shards, from when the others are waited for no more;
            one that takes longer is ended, and comes back by its journals. None waits for ever.

    Raises:
        DefinitionError: the limit is no number of seconds.
    """

    def __init__(self, *, cwd: str | Path | None = None, limit: float | None = None) -> None:
        self._cwd = cwd
        self._limit = checked_limit("PipeShards", limit)
        self._is_timed = False  # whether what was asked are windows
        self._is_late = False  # whether it was ended for that
        self._process: subprocess.Popen[bytes] | None = None
        self._asked = 0

    @property
    def pid(self) -> int:
        """The number of its process; 0 if there is none."""
        return 0 if self._process is None else self._process.pid

    def start(self, world: ShardedWorld, tenancy: Tenancy) -> None:
        """See ``ShardPlace``."""
        self.close()
        self._is_timed = self._is_late = False
        command = [sys.executable, "-c", _CODE]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self._cwd)  # noqa: S603 - our own
        self._write(tenancy)

    def ask(self, requests: Sequence[ShardRequest]) -> None:
        """See ``ShardPlace``."""
        self._asked = len(requests)
        self._is_timed = all(one["inbound"] is not None for one in requests)
        if requests:
            with self._timed(self._process):
                self._write(list(requests))

    def _write(self, message: object) -> None:
        assert self._process is not None, "it was not started"
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode("ascii") + b"\n")
            self._process.stdin.flush()
        except OSError:  # it is gone: whoever waits for its answers is told
            self._process.kill()

    def answers(self) -> list[ShardAnswer]:
        """See ``ShardPlace``."""
        if not self._asked:
            return []
        assert self._process is not None, "it was not started"
        assert self._process.stdout is not None
        with self._timed(self._process):
            line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            self._process.kill()  # one that only closed its end, too
            code = self._process.wait()
            raise ShardLostError(None, self._how_lost(self._process.pid, code))
        told = json.loads(line)
        if isinstance(told, dict):
            raise ShardError(told["shard"], told["error"])
        return list(told)

    @contextlib.contextmanager
    def _timed(self, process: subprocess.Popen[bytes] | None) -> Iterator[None]:
        """End the process if it takes longer than it may; whoever waits for it then finds its end."""
        if self._limit is None or not self._is_timed:
            yield
            return
        timer = threading.Timer(self._limit, self._end_late, (process,))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _end_late(self, process: subprocess.Popen[bytes]) -> None:
        self._is_late = True
        process.kill()

    def _how_lost(self, pid: int, code: int) -> str:
        if self._is_late:
            return f"the process {pid} with shards did not answer within {self._limit:g} s, and was ended"
        return f"the process {pid} with shards ended, with code {code}"

    def close(self) -> None:
        """See ``ShardPlace``."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        self._is_timed = True  # to close takes no longer than a window
        try:
            with self._timed(process):
                process.stdin.write(b"\n")
                process.stdin.flush()
                process.stdout.read()  # until it has closed its journals
        except OSError:
            process.kill()
        with contextlib.suppress(OSError):  # what is still to be written, to one that is gone
            process.stdin.close()
        process.stdout.close()
        process.wait()


# --- the other end ----------------------------------------------------------------------------------------------------


def serve() -> None:
    """Answer what is asked on standard input, until an empty line; the other end of ``PipeShards``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all of a terminal: who leads ends this one
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    lines: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, lines), daemon=True).start()
    tenancy: Tenancy = json.loads(lines.get())
    try:
        tenants = Tenants(found_world(tenancy), tenancy)
        while request := lines.get().strip():
            _tell(out, answered(tenants, json.loads(request)))
        tenants.close()
    except AgentRTError as error:  # there is no such world
        lines.get()
        _tell(out, failure(None, error))
    out.close()
    os._exit(0)  # the thread still reads, and threads of the world's own keep nobody waiting


def _read(source: BinaryIO, lines: SimpleQueue[bytes]) -> None:
    for line in source:
        lines.put(line)
    os._exit(3)  # whoever started it is gone: nothing more may be written down


def _tell(out: BinaryIO, message: object) -> None:
    out.write(json.dumps(message).encode("ascii") + b"\n")
    out.flush()


def found_world(tenancy: Tenancy) -> ShardedWorld:
    """The world of a run, as another process finds it.

    Raises:
        ShardError: it cannot be run in shards.
    """
    world = load_world(tenancy["world"], tenancy["app"])
    if not isinstance(world, ShardedWorld):
        raise ShardError(None, f"the world '{tenancy['world']}' is a {type_name(world)}, and no ShardedWorld")
    return world


def answered(tenants: Tenants, requests: Sequence[ShardRequest]) -> list[ShardAnswer] | dict[str, object]:
    """The answers to some requests, or what went wrong: plain data, for who is not here."""
    answers: list[ShardAnswer] = []
    for request in requests:
        try:
            answers.append(tenants.answer(request))
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # whatever a world raises
            return failure(request["shard"], error)
    return answers


def checked_limit(what: str, limit: object) -> float | None:
    """The real seconds that a place has for a window.

    Raises:
        DefinitionError: it is no number above 0.
    """
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 < limit <= threading.TIMEOUT_MAX:
        problem = f"its limit is {repr_of(limit, 80)}."
        raise DefinitionError(what, problem, "Give seconds above 0, or None for no limit.")
    return float(limit)


def failure(shard: int | None, error: BaseException) -> dict[str, object]:
    """What went wrong, as it is told."""
    if isinstance(error, ShardError):
        return {"shard": error.shard, "error": error.problem}
    return {"shard": shard, "error": error_words(error)}
