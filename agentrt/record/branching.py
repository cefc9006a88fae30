"""Branches: a recorded run goes on otherwise from some tick on, and what becomes of it is compared with what was.

A branch is a replay up to a tick, which has to be the recorded run up to there. Then something is changed: what comes
in (a script of edits), or anything at all (a function that is called with the runtime). It goes on for so many ticks;
the two traces are compared tick by tick.

Rules after the branch:

* What came in from outside comes in again, in its tick and at its place, unless an edit says otherwise. If the intake
  is shorter than it was then, it comes in at the end.
* A call to the outside gets the recorded result while it is the same call: the same number, of a function of the same
  name. If it is made later than it was, the result comes in the next tick. A recorded result that nobody waits for is
  left over, and counted.
* Another call has no result. It is an error, unless the script has one, or the branch may call the outside itself
  (``calls="live"``).

A branch can be recorded. Its recording is one of a whole run, which can be replayed and branched; a function that
changed it is noted as posted from outside, which a replay cannot repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentrt.errors import EditError, ReplayError, UnansweredCallError
from agentrt.record.differences import TraceComparison
from agentrt.record.edits import Edit, apply_edits
from agentrt.record.feeding import Feeder
from agentrt.record.recording import Recording
from agentrt.record.replaying import Make, Replay, require_host, run_on
from agentrt.record.reports import BranchReport
from agentrt.record.values import Unkept

if TYPE_CHECKING:
    from agentrt.calls import OutsideCall
    from agentrt.record.recording import RecordedInput
    from agentrt.runtime import Runtime

__all__ = ["branch"]

_MOST_TICKS = 10_000_000


class _BranchFeeder(Feeder):
    """Feeds a branch: strict up to its beginning, as the rules say from there on."""

    def __init__(
        self,
        runtime: Runtime,
        inputs: Iterable[RecordedInput],
        *,
        at: int,
        edits: Sequence[Edit],
        live: bool,
        file: str,
    ) -> None:
        before: list[RecordedInput] = []
        after: list[RecordedInput] = []
        for one in inputs:
            (before if one.tick <= at else after).append(one)
        after = apply_edits(after, edits, at=at, file=file)
        self.late: int = 0
        self.left_over: int = 0
        self.live: int = 0
        self.missing: UnansweredCallError | None = None
        self._at = at
        self._may_call = live
        self._file = file
        self._dropped = {edit.what for edit in edits if edit.does == "drop"}
        self._answers: dict[int, list[RecordedInput]] = {}
        for one in after:
            if one.kind == "answered" and not isinstance(one.value, Unkept):
                self._answers.setdefault(one.number, []).append(one)
        super().__init__(runtime, chain(before, after))

    @property
    def _is_branch(self) -> bool:
        return self.runtime.tick >= self._at

    def asked(self, call: OutsideCall) -> bool:
        now = self.runtime.tick
        if now <= self._at:
            return super().asked(call)
        # A scripted answer is for whatever is called; it may stand beside that of another function's call.
        answers = self._answers.get(call.number, ())
        one = next((one for one in answers if one.name in ("", call.what)), None)
        if one is not None:
            if one.tick > now:
                return super().asked(call)
            self.late += 1
            self.answered += 1
            self.left_over -= 1  # it was, until now
            self.runtime.kernel.post(call.deliver, one.value, one.error)
            return True
        if call.number in self._dropped:
            return super().asked(call)  # for ever
        if self._may_call:
            self.live += 1
            return False
        if self.missing is None:
            self.missing = UnansweredCallError(call.number, call.what, now, file=self._file)
        return True

    def nobody_asked(self, problem: str) -> str:
        if not self._is_branch:
            return problem
        self.left_over += 1
        return ""

    def insert(self, place: int, fn: Callable[..., object], args: tuple[Any, ...], what: str) -> str:
        if self._is_branch:
            place = min(place, len(self.runtime.kernel.inbox))
        return super().insert(place, fn, args, what)


class _Branching:
    """One branch while it is made."""

    def __init__(
        self,
        recording: Recording,
        make: Make | None,
        *,
        at: int,
        edits: Sequence[Edit],
        edit: Callable[[Runtime], object] | None,
        ticks: int | None,
        host: str,
        live: bool,
    ) -> None:
        last = recording.last_tick
        file = str(recording.path)
        if not 0 <= at <= last:
            raise ReplayError(
                f"it has no tick {at} to branch at", f"Choose one from 0 to {last}, its last tick.", file=file
            )
        self._recording = recording
        self._at = at
        self._edit = edit
        self._edits = edits
        self._end = last if ticks is None else at + min(ticks, _MOST_TICKS)
        late = next((one for one in edits if one.tick > self._end), None)
        if late is not None:
            raise EditError(
                f"tick {late.tick} is after the end of the branch, tick {self._end}",
                "Go on for more ticks, or edit an earlier one.",
                file=file,
                pointer=late.pointer,
            )
        self._make = partial(
            Replay, recording, make, host=host,
            feeder=partial(_BranchFeeder, at=at, edits=edits, live=live, file=file),
        )  # fmt: skip
        self._comparison = TraceComparison(("the recording", "the branch"))
        self._agents: tuple[str, ...] | None = None

    def begin(self) -> Replay:
        replay = self._make()
        replay.opens_gates = True
        return replay

    def record(self, replay: Replay, path: Path | None) -> AbstractContextManager[object]:
        if path is None:
            return nullcontext()
        meta = {"branched_from": {"recording": self._recording.path.name, "tick": self._at}}
        return replay.runtime.record(path, world=self._recording.meta["world"], meta=meta)

    def leave(self, replay: Replay) -> range:
        """The replay stands where the branch begins: the ticks to go on with."""
        replay.require(self._at)
        for edit in self._edits:
            if edit.does == "send" and edit.what not in replay.runtime.inputs:
                raise EditError(
                    f"nobody takes inputs of the name {edit.what!r}",
                    f"The world takes {', '.join(replay.runtime.inputs) or 'none'}.",
                    file=str(self._recording.path),
                    pointer=edit.pointer,
                )
        replay.verify = False
        replay.last_tick = max(replay.last_tick, self._end)
        if self._edit is not None:
            replay.runtime.post(self._edit, replay.runtime)
        return range(self._at + 1, self._end + 1)

    def compare(self, replay: Replay) -> None:
        """A tick of the branch is over."""
        feeder = replay.feeder
        assert isinstance(feeder, _BranchFeeder)
        if feeder.missing is not None:
            raise feeder.missing
        replay.require(self._end)
        tick, last = replay.tick, self._recording.last_tick
        if tick <= last:
            self._comparison.feed(tick, self._recording.batch(tick), replay.batch)
        if tick == min(last, self._end):
            self._agents = tuple(agent.name for agent in replay.runtime.agents)

    def report(self, replay: Replay, path: Path | None) -> BranchReport:
        feeder = replay.feeder
        assert isinstance(feeder, _BranchFeeder)
        difference = None
        if self._agents is not None:
            last = min(self._recording.last_tick, self._end)
            difference = self._comparison.result(self._recording.agents(last), self._agents)
        return BranchReport(
            recording=str(self._recording.path),
            at=self._at,
            tick=replay.tick,
            digest=replay.digest,
            sent=feeder.sent,
            answered=feeder.answered,
            late=feeder.late,
            left_over=feeder.left_over,
            live=feeder.live,
            difference=difference,
            recorded=path,
        )


def branch(
    recording: Recording | Path | str,
    make: Make | None = None,
    *,
    at: int,
    edits: Sequence[Edit] = (),
    edit: Callable[[Runtime], object] | None = None,
    ticks: int | None = None,
    host: str = "plain",
    calls: str = "recorded",
    record: Path | str | None = None,
) -> BranchReport:
    """Replay a recording up to a tick, change something, and go on; starts the event loop that it needs.

    Args:
        recording: a recording, or the path of one.
        make: makes the world; None takes the installed world that the recording names.
        at: the last tick that is to be as it was; the branch begins after it.
        edits: what is changed in what comes in; see ``agentrt.record.edits``.
        edit: called with the runtime at the next intake, to change what cannot be scripted.
        ticks: how many ticks to go on; None up to the last one that was recorded.
        host: ``"plain"``, ``"asyncio"`` or ``"trio"``.
        calls: ``"recorded"``, or ``"live"`` to let calls without a recorded result go to the outside.
        record: where to record the branch; a file that does not exist.

    Returns:
        What it came to, and how it differs from what was recorded.

    Raises:
        RecordingError: it is no recording, or the branch cannot be recorded there.
        ReplayError: it cannot be replayed.
        ReplayDifferenceError: the replay differs before the branch begins.
        EditError: an edit finds nothing to change.
        UnansweredCallError: a call has no recorded result.
    """
    require_host(host)
    if calls not in ("recorded", "live"):
        raise ValueError(f"calls is {calls!r}: choose 'recorded' or 'live'")
    if not isinstance(recording, Recording):
        with Recording.open(recording) as opened:
            return branch(
                opened, make, at=at, edits=edits, edit=edit, ticks=ticks, host=host, calls=calls, record=record
            )
    path = None if record is None else Path(record)
    work = _Branching(recording, make, at=at, edits=edits, edit=edit, ticks=ticks, host=host, live=calls == "live")
    if host == "plain":
        with work.begin() as replay, work.record(replay, path):
            replay.to(at)
            for tick in work.leave(replay):
                replay.to(tick)
                work.compare(replay)
            return work.report(replay, path)

    async def whole() -> BranchReport:
        async with work.begin() as replay:
            with work.record(replay, path):
                await replay.run_to(at)
                for tick in work.leave(replay):
                    await replay.run_to(tick)
                    work.compare(replay)
                return work.report(replay, path)

    return run_on(host, whole)
