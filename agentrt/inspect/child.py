"""One branch of a recording, in a process of its own: what ``branches`` starts, as ``python -m agentrt.inspect.child``.

It is told what to do in one line of JSON on standard input, and tells in lines of JSON on standard output how far it
has come and what came of it. Standard input stays open as long as whoever started it lives: when it ends, however it
ended, this process ends at once.

What is run is the world that the recording names, installed or of the project here, as ``agentrt replay`` runs it.
Nothing else is imported, whatever the recording or the script says. What the world prints goes nowhere. Memory and the
size of files are bounded by the system where it can.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from agentrt.errors import AgentRTError
from agentrt.record.branch import branch, load_edits
from agentrt.record.recording import Recording
from agentrt.record.replay import thinks_as_recorded
from agentrt.words import repr_of, words_of
from agentrt.worlds import Value, load_world, make_world

if TYPE_CHECKING:
    from agentrt.runtime.runtime import Runtime

MOST_BYTES = 256 * 1024 * 1024  # of the recording of a branch
_MOST_MEMORY = 8 * 1024**3
_MOST_ROWS = 500  # of counts, and of agents that differ
_LONGEST_SIDE = 20_000  # characters of what an agent did, in words
_EVERY = 0.2  # real seconds from one line to the next


def main() -> None:
    """Do what standard input says, and tell what came of it."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    source = sys.stdin.buffer
    task: dict[str, Any] = json.loads(source.readline())
    threading.Thread(target=_end_with_whoever_started_it, args=(source,), daemon=True).start()
    _bound()
    progress = _Progress(out)
    try:
        told = {"is": "done", "report": _branched(task, progress)}
    except AgentRTError as error:
        told = {"is": "failed", "error": words_of(error, _LONGEST_SIDE), "code": error.code}
    except MemoryError:
        told = {"is": "failed", "error": f"it needed more than {_MOST_MEMORY >> 30} GiB of memory", "code": ""}
    except BaseException as error:  # whatever a world raises
        told = {"is": "failed", "error": f"the world raised {repr_of(error, 2000)}", "code": ""}
    progress.close()
    _tell(out, told)
    os._exit(0)  # threads of the world's own keep nobody waiting


def _end_with_whoever_started_it(source: BinaryIO) -> None:
    with contextlib.suppress(OSError, ValueError):
        while source.read(1):
            pass
    os._exit(3)


def _bound() -> None:
    try:
        import resource
    except ImportError:  # not on every system
        return
    for kind, most in ((resource.RLIMIT_AS, _MOST_MEMORY), (resource.RLIMIT_FSIZE, 2 * MOST_BYTES)):
        with contextlib.suppress(ValueError, OSError):  # there may be a lower one already
            resource.setrlimit(kind, (most, most))


def _tell(out: BinaryIO, message: dict[str, Any]) -> None:
    out.write(json.dumps(message).encode("ascii") + b"\n")


class _Progress:
    """Tells how far it has come, from a thread of its own: so the last tick is known, also if that one never ends."""

    def __init__(self, out: BinaryIO) -> None:
        self.tick: int = 0  # the last one that is over
        self._out = out
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        told = 0
        while not self._is_over.wait(_EVERY):
            tick = self.tick
            if tick != told:  # who tells nothing new is taken for one that hangs
                told = tick
                _tell(self._out, {"is": "progress", "tick": tick})

    def close(self) -> None:
        """What is told from here on stands on a line of its own."""
        self._is_over.set()
        self._thread.join()


def _branched(task: dict[str, Any], progress: _Progress) -> dict[str, Any]:
    with Recording.open(task["recording"]) as recording:
        name = str(recording.meta["world"] or "")
        world = thinks_as_recorded(load_world(name, task["app"]), recording.meta) if name else None

        def make(*, seed: int, host: str, params: Mapping[str, Value] | None = None) -> Runtime:
            assert world is not None
            runtime = make_world(world, seed=seed, host=host, params=params)
            runtime.log_level = "off"
            runtime.after_tick(lambda: setattr(progress, "tick", runtime.tick))
            return runtime

        report = branch(
            recording,
            None if world is None else make,
            at=task["at"],
            edits=load_edits(Path(task["script"])),
            ticks=task["ticks"],
            record=Path(task["record"]),
            max_bytes=MOST_BYTES,
        )
    return _bounded(report.as_json())


def _bounded(told: dict[str, Any]) -> dict[str, Any]:
    """A report of which no part is without end, however many agents differ."""
    difference, first = told["difference"], told["first"]
    if difference is not None:
        for name in ("agents", "counts", "ran", "events", "gone", "come"):
            difference[f"{name}_more"] = max(0, len(difference[name]) - _MOST_ROWS)
            difference[name] = difference[name][:_MOST_ROWS]
    if first is not None:
        for name in ("expected_explained", "got_explained"):
            first[name] = first[name][:_LONGEST_SIDE]
    return told


if __name__ == "__main__":
    main()
