"""Resuming: a recorded run goes on where its recording ends, and so does the recording.

A run that died is made again from its recording: replayed up to the last tick that was committed, and then left to
itself (``Replay.go_live``). Its recorder is there from the first tick on and retraces the file (see ``recorder``), so
that the file becomes what it would be had nothing happened; the header tells when it was resumed. Rules:

* If its world was rebuilt meanwhile (see ``agentrt.runtime.epochs``), it is replayed from the last save that the file
  keeps, and else from its beginning: how long that takes depends on how far away the last epoch is, and not on how long
  the run has lived. Into another file the whole run is recorded, from its beginning.

* The file is locked before anything else is done. Somebody who still writes it, or resumes it too, is told to us by
  SQLite, and is an error.
* Up to the last tick nothing is written, and another file that was begun is removed. If the replay differs, because the
  code is another one by now, the file stays as it is. A file is of one run: whoever wants the run as the code of now
  has it records it into another file (``into``), with all that came in, and does without the comparison. That is
  another run, so what came in need not fit it (see ``_AnewFeeder``): it comes in all the same, where somebody takes it.
* What came in and was not committed is lost, and whoever sent it sends it again (``Recorder.committed_tick``). So it
  comes in once if the sender numbers what it sends and the world passes over what it knows.
* Calls that wait are made again: at least once. Which call it is says ``call_key``.

It costs as much time as the recording of the part that is repeated took, without the pauses: the views are made again,
since what is written of the next one depends on those before.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentrt.errors import ENDS_PROGRAM, EpochLengthError, RecordingError, ReplayDifferenceError
from agentrt.kernel.hosts.loops import current_library
from agentrt.record.recorder import LIMITS, OWN_KEYS, Recorder, Retraced, check_limits, every_of
from agentrt.record.recording import RecordedInput, Recording
from agentrt.record.replay import Feeder, Replay
from agentrt.record.schema import DURABILITIES, Durability, connect_appender, discard, is_number
from agentrt.record.values import Unkept
from agentrt.runtime.intake import Codec, key_of
from agentrt.words import error_words

if TYPE_CHECKING:
    import sqlite3

    from agentrt.errors import EditError
    from agentrt.record.replay import Make
    from agentrt.runtime.intake import OutsideCall
    from agentrt.runtime.runtime import Runtime

_BEFORE = {"keep_ticks": None, "max_bytes": None, "commit_every": 1, "durability": "process"}
"""What holds for a file that an older agentrt has written, which did not say."""


class Resumption:
    """A run that is resumed. Made by ``resume``, which tells its arguments.

    ``with`` replays it on the plain host and gives the runtime, which stands after the last recorded tick; ``async
    with`` does so inside of an event loop. At the end the runtime is closed, and with it the recording.

    Raises, when it is entered:
        RecordingError: there is no recording, or it cannot be gone on with; somebody still writes it.
        ReplayError: it cannot be replayed.
        ReplayDifferenceError: the replay differs: the world, or what it is made of, is another one by now.
        EpochLengthError: its world is rebuilt after another number of ticks than the recorded one.
        UnknownWorldError: the world that it names is not installed.
    """

    def __init__(
        self,
        path: str | Path,
        make: Make | None,
        *,
        verify: bool,
        into: str | Path | None,
        codecs: Sequence[Codec],
        durability: Durability | None,
    ) -> None:
        if durability not in (None, *DURABILITIES):
            raise ValueError(f"durability is {durability!r}: choose one of {', '.join(DURABILITIES)}, or None")
        if not verify and into is None:
            raise ValueError("verify=False goes with into=: a file is of one run, and this would put another to it")
        self.path: Path = Path(path)
        self.into: Path | None = None if into is None else Path(into)
        self._make = make
        self._verify = verify
        self._codecs = codecs
        self._durability = durability
        self._stack = contextlib.ExitStack()  # what is open while it is replayed
        self._lock: sqlite3.Connection | None = None
        self._replay: Replay | None = None
        self._recorder: Recorder | None = None

    def __repr__(self) -> str:
        state = "not begun" if self._replay is None else f"at tick {self._replay.tick}"
        return f"<Resumption: {self.path}, {state}>"

    # --- the replay ---------------------------------------------------------------------------------------------------

    def _begin(self, host: str) -> Replay:
        self._lock = connect_appender(self.path)
        self._stack.callback(self._lock.close)
        recording = self._stack.enter_context(Recording.open(self.path, codecs=self._codecs))
        options = self._options(recording)
        since = _last_save(recording) if self.into is None else None
        feeder = Feeder if self._verify else _AnewFeeder
        self._replay = one = Replay(recording, self._make, host=host, verify=self._verify, feeder=feeder, since=since)
        one.opens_gates = True
        run = recording.meta.get("run")
        if isinstance(run, str):
            one.runtime.calls.run = run
        meta = {key: value for key, value in recording.meta.items() if key not in OWN_KEYS}
        if self.into is not None:
            meta["resumed_from"] = {"recording": self.path.name, "tick": one.last_tick}
            self._recorder = Recorder(one.runtime, self.into, meta=meta, codecs=self._codecs, **options)
        else:
            retraced = Retraced(self._lock, recording.meta["started"], recording.last_tick)
            if since is not None:
                restarts = {tick: one.restarts[tick] for tick in sorted(one.restarts) if tick <= since}
                digest = bytes.fromhex(recording.digest(since))
                retraced = retraced._replace(digest=digest, records=one.coming, restarts=restarts)
            self._recorder = Recorder(
                one.runtime, self.path, meta=meta, codecs=self._codecs, retraced=retraced, **options
            )
        return one

    def _options(self, recording: Recording) -> dict[str, Any]:
        """How it was recorded, as its header says, which anybody may have written."""
        meta, where = recording.meta, str(self.path)
        if self.into is None and not set(LIMITS) <= meta.keys():
            raise RecordingError(
                where,
                "an older agentrt wrote it, and did not note how",
                "Go on in another file: resume(path, make, into=...).",
            )
        limits = {key: meta.get(key, _BEFORE[key]) for key in LIMITS}
        options = {**limits, **{key: meta.get(key) for key in ("world", "params", "views", "drawings")}}
        try:
            check_limits(limits)
            for name in ("views", "drawings"):
                every_of(name, options[name])
        except ValueError as error:
            raise RecordingError(where, f"its header is broken: {error}") from None
        if self._durability is not None:
            options["durability"] = self._durability
        return options

    def _go_live(self, one: Replay) -> Runtime:
        recorder, recording = self._recorder, one.recording
        assert recorder is not None
        self._require_epochs(one)
        try:
            one.require(one.last_tick)
        except ReplayDifferenceError as error:
            error.add_note(
                "Nothing was written. To go on with the code of now, record the run anew into another file: "
                "resume(path, make, verify=False, into=...), or agentrt resume FILE --no-verify --into NEW."
            )
            raise
        if not recorder.is_open:
            raise RecordingError(str(recorder.path), recorder.stopped)
        meta = recording.meta
        runtime = one.go_live()
        if self.into is None:
            recording.close()  # a file without a log gets one now, and nobody may read it meanwhile
            recorder.go_on(meta)
            self._stack.pop_all()  # the lock is the recorder's from here on
        else:
            self._stack.close()
        return runtime

    def _require_epochs(self, one: Replay) -> None:
        """Its world is rebuilt as often as the recorded one: what differs may come later than all that was compared."""
        recorded, made = one.recording.meta.get("epoch"), one.runtime.epochs.every
        # An older agentrt did not note it.
        if self._verify and is_number(recorded, 0) and recorded != made:
            raise EpochLengthError(recorded, made, file=str(self.path))

    # --- entering and leaving -----------------------------------------------------------------------------------------

    def __enter__(self) -> Runtime:
        try:
            one = self._begin("plain")
            one.to()
            return self._go_live(one)
        except BaseException:
            with self._stack:
                if self._replay is not None:
                    self._replay.close()
            self._discard()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, *_rest: object) -> None:
        assert self._replay is not None
        self._close_recorder(error)
        self._replay.runtime.close()

    async def __aenter__(self) -> Runtime:
        try:
            one = self._begin(current_library())
            await one.run_to()
            return self._go_live(one)
        except BaseException:
            with self._stack:
                if self._replay is not None:
                    await self._replay.aclose()
            self._discard()
            raise

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, *_rest: object) -> None:
        assert self._replay is not None
        self._close_recorder(error)
        await self._replay.runtime.aclose()

    def _discard(self) -> None:
        """It did not come to where the recording ends: part of a run in another file is nothing to go on with."""
        if self.into is not None and self._recorder is not None:
            discard(None, Path(self.into))

    def _close_recorder(self, error: BaseException | None) -> None:
        """Before the runtime is closed, which would say why itself: an error is told."""
        if error is not None and not isinstance(error, ENDS_PROGRAM) and self._recorder is not None:
            self._recorder.close(error_words(error))


class _AnewFeeder(Feeder):
    """Feeds the run that the code of now makes of what came in, which is another one than was recorded.

    * What came in comes in again in its tick. If the intake is shorter than it was then, it comes in at the end.
    * A result is for the call of its number, if that is of a function of the same name and has the same key; it waits
      until that call is made. Others are nobody's. The outside is not asked before the run is live, as it may have been
      asked already: a call without a result waits until then.
    * What a script or a hand changed is changed if there is what it is about. Code that was edited meanwhile is the
      code of now.
    """

    def __init__(self, runtime: Runtime, inputs: Iterable[RecordedInput]) -> None:
        super().__init__(runtime, inputs)
        self._early: dict[int, RecordedInput] = {}  # results of calls that were not made yet, by their numbers

    def close(self) -> None:
        super().close()
        self._early.clear()

    def asked(self, call: OutsideCall) -> bool:
        one = self._early.pop(call.number, None)
        if one is None or not _is_of(one, call):
            return super().asked(call)
        self.answered += 1
        self.runtime.kernel.post(call.deliver, one.value, one.error)  # never at once: a result comes at an intake
        return True

    def feed_one(self, one: RecordedInput) -> str:
        if one.kind == "reloaded":
            return ""
        if one.kind == "answered":
            call = self.calls.get(one.number)
            if isinstance(one.value, Unkept) or (call is not None and not _is_of(one, call)):
                return ""
        return super().feed_one(one)

    def nobody_asked(self, one: RecordedInput, problem: str) -> str:
        if one.number >= self.runtime.calls.count:
            self._early[one.number] = one
        return ""

    def insert(self, place: int, fn: Callable[..., object], args: tuple[Any, ...], what: str) -> str:
        return super().insert(min(place, len(self.runtime.kernel.inbox)), fn, args, what)

    def change_failed(self, does: str, args: dict[str, Any], error: EditError) -> None:
        """The run has nothing of the kind."""


def _is_of(one: RecordedInput, call: OutsideCall) -> bool:
    """Whether a recorded result is one of this call: of the same function and, if it has a key, with that."""
    return one.name == call.what and key_of(one.value) in ("", call.key)


def _last_save(recording: Recording) -> int | None:
    """The tick of the newest save that a replay can begin with; None if that is its beginning."""
    started = recording.meta["started"]
    for tick in reversed(recording.saves):
        # An older agentrt did not keep the digest where it dropped the trace of that time.
        if tick > started and any(recording.digests(tick, tick)):
            return tick
    return None


def resume(
    path: str | Path,
    make: Make | None = None,
    *,
    verify: bool = True,
    into: str | Path | None = None,
    codecs: Sequence[Codec] = (),
    durability: Durability | None = None,
) -> Resumption:
    """Go on with a recorded run after its last tick, in the same file, on any host.

    ``with resume("run.sqlite", make) as runtime`` gives its runtime on the plain host, ``async with`` on the event loop
    that runs; ``runtime.recorder`` writes it down.

    Args:
        path: the recording.
        make: makes the world; None takes the installed world that the recording names.
        verify: whether the replay is compared with the recording; if not, ``into`` is needed, and what came in need not
            fit the run that the code of now makes: a call without a result is made when it is live.
        into: another file, which must not exist, to which the whole run is recorded as the code of now has it. None
            goes on in the same file.
        codecs: as they were given when it was recorded.
        durability: what a commit survives from now on, as ``Runtime.record`` takes it; None for what it did before.
    """
    return Resumption(path, make, verify=verify, into=into, codecs=codecs, durability=durability)
