"""What if: the branches of one recording that clients asked for, each run in a process of its own.

A client says after which tick, what is to change (a script of edits, see ``agentrt.record.branch``), and for how many
ticks. It names no file, no module and no world: the recording does, and the files of a branch are called by its number,
in one folder. So nothing is written elsewhere, and nothing is run that is not installed here.

Rules:

* Bounds: so many run at once, so many are kept (the oldest that is over goes for a new one), so many ticks, edits and
  bytes. One that tells nothing for a minute, or takes too long, is ended, and its row says so.
* A process ends with its inspector, whichever way that ends: it watches its standard input (see ``child``).
* A thread for each process hears what it tells and waits for its end. Everything else here is called on the thread of
  the recording; what the two share is one ``AskedBranch``, whose fields are replaced and never changed in place.
* The folder is the caller's, or a temporary one that goes when the inspector ends.

What clients are told, beside errors:

* ``branches``: a row for each, with its number, span, state and progress; ``branched``: the number of the one that the
  client has just asked for;
* ``branch``: one of them with its script, what came of it (``BranchReport.as_json``), and the command that does the
  same;
* ``sides``: the time lines of one agent in both runs, from some ticks before the branch on, as far as they were read;
* ``inputs``: what came in after the tick that the client looks at, so that it can be changed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from agentrt.errors import EditError, InspectorError
from agentrt.inspect.naming import LineNames
from agentrt.inspect.protocol import span_rows
from agentrt.installed import called
from agentrt.record.branch import parse_edits
from agentrt.record.recording import RecordedInput, Recording
from agentrt.record.spans import FOLDED, SpanBuilder
from agentrt.words import counted, repr_of

MOST_TICKS = 100_000
MOST_EDITS = 200
_MOST_RUNNING = 2
_MOST_KEPT = 12
_SILENCE = 60.0  # real seconds; making a large world takes some
_LONGEST_RUN = 900.0  # real seconds
_LOOKS = 0.25  # real seconds between two looks at a process
_LONGEST_LINE = 8 * 1024 * 1024  # bytes of what a process tells
_LINE_TICKS, _LINE_SECONDS = 200, 0.03  # read for time lines in one go, spent on it in one round
_BEFORE = 400  # ticks before the branch from which on time lines are folded
_MOST_INPUTS = 100
_LONGEST_ARGS = 400  # characters of what came in, as clients are told
_FOLDED = sorted(FOLDED)

OF_A_PAST = (
    "No branch can be run of this: it was saved from the past of a live run, so that what came in before is not in it. "
    "Record the run from its first tick, agentrt run --record FILE."
)
WATCHING_ONLY = "Watching only: start it with its controls, agentrt inspect RECORDING --controls."


@dataclass(eq=False, slots=True)
class AskedBranch:
    """One branch: what was asked for, how far it is, what came of it."""

    number: int
    at: int  # the last tick that is the same
    last: int  # up to which it goes
    ticks: int | None  # how many ticks that are, if it was said
    edits: list[dict[str, Any]]  # its script
    files: Path  # its script and its recording, without their endings
    process: subprocess.Popen[bytes]
    state: str = "running"  # then ``done``, ``failed`` or ``canceled``
    tick: int = 0  # the last one that it told of
    error: str = ""  # why it failed
    report: dict[str, Any] | None = None  # what came of it; see ``BranchReport.as_json``
    heard: float = 0.0  # when it told something last
    begun: float = 0.0

    @property
    def recording(self) -> Path:
        return self.files.with_suffix(".sqlite")

    @property
    def script(self) -> Path:
        return self.files.with_suffix(".json")


@dataclass(slots=True)
class _Sides:
    """The time lines of one agent in both runs, as far as they were read."""

    key: tuple[int, str]  # which branch and which agent
    recording: Recording  # of the branch
    builders: tuple[SpanBuilder, SpanBuilder] = field(default_factory=lambda: (SpanBuilder(5000), SpanBuilder(5000)))
    names: tuple[LineNames, LineNames] = field(default_factory=lambda: (LineNames(), LineNames()))
    unread: int = 0


class Branches:
    """The branches of one recording; ``refusal`` says why there can be none, and is empty if there can."""

    def __init__(self, recording: str, folder: str | None, app: str, *, controls: bool) -> None:
        self.refusal: str = "" if controls else WATCHING_ONLY
        self._path = str(Path(recording).resolve())
        self._given = folder
        self._app = app
        self._folder: Path | None = None
        self._all: dict[int, AskedBranch] = {}
        self._next = 1
        self._sides: _Sides | None = None
        self._lock = threading.Lock()  # between two threads that end

    # --- beginning and ending one -------------------------------------------------------------------------------------

    def start(self, at: int, ticks: int | None, edits: list[Any], reach: tuple[int, int]) -> int:
        """Begin a branch; its number.

        Raises:
            EditError: something is wrong with the script.
            InspectorError: there can be none, or too many run.
        """
        if self.refusal:
            raise InspectorError("no branch can be run", self.refusal)
        running = [one for one in self._all.values() if one.state == "running"]
        if len(running) >= _MOST_RUNNING:
            raise InspectorError(f"{counted(len(running), 'branch', 'branches')} run already", "Wait, or end one.")
        if not 0 <= at <= reach[1]:
            raise InspectorError(f"it has no tick {at} to branch at", f"Choose one from 0 to {reach[1]}.")
        if len(edits) > MOST_EDITS:
            raise EditError(
                f"there are {len(edits)} edits", f"{MOST_EDITS} can be run from here, more by agentrt replay."
            )
        checked = parse_edits(edits, file="the script")
        last = reach[1] if ticks is None else at + min(ticks, MOST_TICKS)
        if last <= at:
            raise InspectorError("nothing is left to run", "Branch earlier, or go on for more ticks.")
        outside = next((one for one in checked if not at < one.tick <= last), None)
        if outside is not None:
            problem = f"tick {outside.tick} is not one of the branch, which are ticks {at + 1} to {last}"
            raise EditError(problem, "Edit one of those.", file="the script", pointer=outside.pointer)
        while len(self._all) >= _MOST_KEPT:
            self.drop(next(one.number for one in self._all.values() if one.state != "running"))
        one = self._begun(at, ticks, last, edits)
        self._all[one.number] = one
        return one.number

    def _begun(self, at: int, ticks: int | None, last: int, edits: list[Any]) -> AskedBranch:
        files = self._free_files()
        task = {
            "recording": self._path, "script": str(files.with_suffix(".json")), "at": at, "ticks": last - at,
            "record": str(files.with_suffix(".sqlite")), "app": self._app,
        }  # fmt: skip
        try:
            with files.with_suffix(".json").open("x", encoding="utf-8") as file:
                file.write(script_text(edits))
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "agentrt.inspect.child"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise InspectorError(f"no branch can be run: {error.strerror or error}", "Make room for it.") from error
        now = time.monotonic()
        one = AskedBranch(self._next, at, last, ticks, edits, files, process, heard=now, begun=now)
        self._next += 1
        assert process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended already, which is told by and by
            process.stdin.write(json.dumps(task).encode("ascii") + b"\n")
            process.stdin.flush()
        threading.Thread(target=self._hear, args=(one,), name="agentrt inspector: branch", daemon=True).start()
        threading.Thread(target=self._guard, args=(one,), name="agentrt inspector: guard", daemon=True).start()
        return one

    def _free_files(self) -> Path:
        """The name of the files of the next branch: nothing that is there is written over."""
        if self._folder is None:
            try:
                if self._given is None:
                    self._folder = Path(tempfile.mkdtemp(prefix="agentrt-branches-"))
                else:
                    self._folder = Path(self._given).resolve()
                    self._folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                problem = f"the folder for branches cannot be used: {error.strerror or error}"
                raise InspectorError(problem, "Name another one.") from error
        stem = Path(self._path).stem
        while True:
            files = self._folder / f"{stem}-branch-{self._next}"
            if not any(files.with_suffix(ending).exists() for ending in (".json", ".sqlite")):
                return files
            self._next += 1

    def drop(self, number: int) -> None:
        """End a branch that runs; let go of one that is over. Its files stay in a folder of the caller's."""
        one = self._all.get(number)
        if one is None:
            return
        if one.state == "running":
            self._end(one, "canceled", "")
            return
        del self._all[number]
        if self._sides is not None and self._sides.key[0] == number:
            self._forget_sides()
        if self._given is None:
            for file in (one.recording, one.script):
                file.unlink(missing_ok=True)

    def close(self) -> None:
        """End all of them; a temporary folder goes."""
        for one in tuple(self._all.values()):
            if one.state == "running":
                self._end(one, "canceled", "the inspector ended")
        for one in self._all.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                one.process.wait(5.0)
        self._all.clear()
        self._forget_sides()
        if self._given is None and self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _end(self, one: AskedBranch, state: str, error: str) -> None:
        with self._lock:
            if one.state == "running":
                one.error, one.state = error, state
        if one.process.poll() is not None:
            return  # its number may be another's by now
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(one.process.pid, signal.SIGKILL)  # what the world started goes with it
            else:
                one.process.kill()

    # --- threads of their own -----------------------------------------------------------------------------------------

    def _hear(self, one: AskedBranch) -> None:
        assert one.process.stdout is not None
        with one.process.stdout as source:
            while line := source.readline(_LONGEST_LINE):
                try:
                    told = json.loads(line)
                    kind = told["is"]
                    if kind == "progress":
                        one.tick, one.heard = int(told["tick"]), time.monotonic()
                    elif kind == "done":
                        one.report, one.tick = told["report"], int(told["report"]["tick"])
                    else:
                        one.error = str(told["error"])
                except (ValueError, KeyError, TypeError, RecursionError):
                    self._end(one, "failed", "its process told something that nobody understands")
        code = one.process.wait()
        with self._lock:
            if one.state == "running":
                if one.report is None and not one.error:
                    how = f"by signal {-code}" if code < 0 else f"with the code {code}"
                    one.error = f"its process ended {how} in tick {one.tick + 1}, and said nothing"
                one.state = "failed" if one.error else "done"
        with contextlib.suppress(OSError):
            if one.process.stdin is not None:
                one.process.stdin.close()

    def _guard(self, one: AskedBranch) -> None:
        while one.state == "running":
            with contextlib.suppress(subprocess.TimeoutExpired):
                one.process.wait(_LOOKS)
                return
            now = time.monotonic()
            if now - one.heard > _SILENCE:
                words = f"it hung: after tick {one.tick} nothing was heard for {_SILENCE:g} s, and it was ended"
                self._end(one, "failed", words)
            elif now - one.begun > _LONGEST_RUN:
                self._end(one, "failed", f"it took more than {_LONGEST_RUN:g} s, and was ended in tick {one.tick}")

    # --- what clients are told ----------------------------------------------------------------------------------------

    def rows(self) -> list[dict[str, Any]]:
        """All of them, the oldest first."""
        return [
            {
                "id": one.number, "at": one.at, "last": one.last, "tick": one.tick, "state": one.state,
                "error": one.error[:4000], "edits": len(one.edits), "saved": str(one.files) if self._given else "",
            }
            for one in self._all.values()
        ]  # fmt: skip

    def report(self, number: int) -> dict[str, Any] | None:
        """One of them with its script and what came of it; None if there is none of that number."""
        one = self._all.get(number)
        if one is None:
            return None
        # What repeats it elsewhere, with the script that the page gives.
        command = called("replay", self._path, "--to", one.at, "--ticks", one.last - one.at, "--edit", one.script.name)
        return {
            "is": "branch", "id": number, "state": one.state, "at": one.at, "last": one.last, "edits": one.edits,
            "ticks": one.ticks, "error": one.error, "report": one.report, "command": command,
            "file": one.script.name,
        }  # fmt: skip

    def lines(self, number: int, agent: str, recording: Recording) -> dict[str, Any] | None:
        """The time lines of an agent in both runs, as far as they were read; a little more is read in each round."""
        one = self._all.get(number)
        if one is None or one.state != "done":
            return None
        sides = self._sides
        first = max(recording.first_tick, one.at - _BEFORE, 1)
        if sides is None or sides.key != (number, agent):
            self._forget_sides()
            sides = self._sides = _Sides((number, agent), Recording.open(one.recording), unread=first)
        begin = time.perf_counter()
        while sides.unread <= one.last and time.perf_counter() - begin < _LINE_SECONDS:
            to = min(sides.unread + _LINE_TICKS - 1, one.last)
            for source, builder in zip((recording, sides.recording), sides.builders, strict=True):
                for record in source.records(sides.unread, to, agent=agent, events=_FOLDED):
                    builder.feed(record)
            sides.unread = to + 1
        rows = []
        is_whole = sides.unread > one.last
        for source, builder, names in zip((recording, sides.recording), sides.builders, sides.names, strict=True):
            spans, are_named = names.name(source, agent, builder.spans(agent, first, one.last), _LINE_SECONDS)
            rows.append(span_rows(spans))
            is_whole = is_whole and are_named
        return {
            "is": "sides", "id": number, "agent": agent, "first": max(first, one.at - 40), "at": one.at,
            "last": one.last, "recorded": min(recording.last_tick, one.last), "read": sides.unread - 1,
            "one": rows[0], "other": rows[1], "whole": is_whole,
        }  # fmt: skip

    def _forget_sides(self) -> None:
        sides, self._sides = self._sides, None
        if sides is not None:
            sides.recording.close()


def script_text(edits: Sequence[dict[str, Any]]) -> str:
    """A script as people read it: an edit on each line."""
    lines = ",\n".join(f"  {json.dumps(edit, ensure_ascii=False)}" for edit in edits)
    return f"[\n{lines}\n]\n" if lines else "[]\n"


def inputs_message(recording: Recording, tick: int) -> dict[str, Any]:
    """What came in after a tick, for who wants to change it: the first so many."""
    found = list(islice(recording.inputs(tick + 1), _MOST_INPUTS + 1))
    rows = [_input_row(one) for one in found[:_MOST_INPUTS] if one.kind in ("sent", "answered")]
    return {"is": "inputs", "tick": tick, "rows": rows, "more": len(found) > _MOST_INPUTS}


def _input_row(one: RecordedInput) -> list[Any]:
    try:
        text = json.dumps(one.args if one.kind == "sent" else one.value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        text = repr_of(one.args if one.kind == "sent" else one.value, _LONGEST_ARGS)
    return [one.tick, one.kind, one.name, one.number, text[:_LONGEST_ARGS], len(text) > _LONGEST_ARGS]
