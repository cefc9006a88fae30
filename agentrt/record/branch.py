"""Branches: a recorded run goes on otherwise from some tick on, and what becomes of it is compared with what was.

A branch is a replay up to a tick, which has to be the recorded run up to there. Then something is changed: what comes
in (a script of edits), or anything at all (a function that is called with the runtime).

Rules after the branch:

* What came in from outside comes in again, in its tick and at its place, unless an edit says otherwise. If the intake
  is shorter than it was then, it comes in at the end.
* A call to the outside gets the recorded result while it is the same call: the same number, of a function of the same
  name, and with the same key if it has one (a model that is asked something else has not answered that). If it is made
  later than it was, the result comes in the next tick. So does the result of a call of another number, if that is of
  the same function with the same key: where a branch asks more or less than was asked, numbers shift, and equal prompts
  have equal answers all the same. A recorded result that nobody waits for is left over, and counted.
* Another call has no result. It is an error, unless the script has one, or the branch may call the outside itself
  (``calls="live"``), or who calls has something that stands in: a mind asks its ``stand_in`` unless it may ask anew.

A branch can be recorded. Its recording is one of a whole run, which can be replayed and branched; a function that
changed it is noted as posted from outside, which a replay cannot repeat.

A script is a JSON list of edits, which ``docs/how-to/replay.md`` lists. Each names the tick whose intake it is about,
and does one thing: ``send`` an input, ``drop`` or ``change`` what was recorded, ``answer`` a call without a result,
``set`` a number, a variable or a stimulus of what runs, ``inject`` or ``revoke`` a pack, ``disable``, ``force`` or
``free`` an action, goal, decider or leaf, ``abort`` a plan. All of these are inputs of reserved names, so that the
recording of a branch has them, too: numbers, variables and packs are tuned (see ``tuning``), the others are what a hand
does on a run that lives (see ``hands``), with its mark in the trace.

If a tick has several inputs of a name, the first is meant that no edit of the script has taken yet. A value that JSON
has no word for is written as in recordings, under a tag; so is an error that is to be of a certain class; an error that
is a text is raised as a ``RunFault``. An edit that finds nothing to change is an error: it was meant for something.
Scripts are untrusted: bounded in length and depth, every key is known, and only ``EditError`` comes out. What editors
need to know of them stands in ``script.schema.json``; a test keeps the two in step.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agentrt.errors import EditError, RecordingError, ReplayError, RunFault, UnansweredCallError, did_you_mean
from agentrt.kernel.kernel import name_of
from agentrt.record.compare import Difference, TraceComparison, TraceDifference, first_difference
from agentrt.record.hands import HAND, STEERS, lay_hands, read_hand
from agentrt.record.recording import RecordedInput, Recording
from agentrt.record.replay import Feeder, Make, Replay, require_host, run_on
from agentrt.record.tuning import TUNES, keys_of, read_change
from agentrt.record.values import Codecs, Unkept
from agentrt.runtime.intake import RESERVED, key_of
from agentrt.words import counted

if TYPE_CHECKING:
    from agentrt.runtime.intake import OutsideCall
    from agentrt.runtime.runtime import Runtime


_MOST_BYTES = 4 * 1024 * 1024
_MOST_EDITS = 10_000
_AT_THE_END = sys.maxsize
_DOES = ("send", "drop", "change", "answer", *TUNES, *STEERS, "abort")
_EXAMPLE = 'An edit is for example {"tick": 40, "send": "door_opened", "args": {"door": "north"}}.'


class Edit(NamedTuple):
    """One change."""

    tick: int  # the tick whose intake it is about
    does: str  # one of ``send``, ``drop``, ``change``, ``answer``, and those of ``tuning`` and ``hands``
    what: str | int  # the name of an input, the number of a call, what is set or steered, or the alias of a pack
    args: dict[str, Any] | None = None  # of an input; what is changed: see ``tuning`` and ``hands``
    value: object = None  # what the call returns
    error: BaseException | None = None  # what it raises, or None
    pointer: str = ""  # where it stands in its script


def script_schema() -> str:
    """The JSON Schema of scripts, for editors; ``agentrt replay --schema`` prints it."""
    return (Path(__file__).parent / "script.schema.json").read_text(encoding="utf-8")


def load_edits(path: Path | str, *, codecs: Codecs | None = None) -> tuple[Edit, ...]:
    """Read a script, a JSON file; ``codecs`` read values of one's own types in it.

    Raises:
        EditError: there is none, or something is wrong with it.
    """
    file = str(path)
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise EditError(f"the script cannot be read: {error.strerror or error}", "Check its name.", file=file) from None
    if len(raw) > _MOST_BYTES:
        raise EditError(f"the script is longer than {_MOST_BYTES} bytes", "Split the experiment.", file=file)
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise EditError(f"the script is no JSON: {error}", _EXAMPLE, file=file) from None
    return parse_edits(data, codecs=codecs, file=file)


def parse_edits(data: object, *, codecs: Codecs | None = None, file: str = "") -> tuple[Edit, ...]:
    """Make edits of what a script contained; see ``load_edits``. ``file`` is for errors.

    Raises:
        EditError: something is wrong with it.
    """
    if not isinstance(data, list) or len(data) > _MOST_EDITS:
        raise EditError(f"a script is a list of at most {_MOST_EDITS} edits", _EXAMPLE, file=file)
    return tuple(_EditReader(codecs or Codecs(), file, f"/{index}").edit(one) for index, one in enumerate(data))


class _EditReader:
    """Reads one edit."""

    def __init__(self, codecs: Codecs, file: str, pointer: str) -> None:
        self._codecs = codecs
        self._file = file
        self._pointer = pointer

    def fail(self, problem: str, remedy: str = _EXAMPLE) -> EditError:
        return EditError(problem, remedy, file=self._file, pointer=self._pointer)

    def edit(self, data: object) -> Edit:
        if not isinstance(data, dict):
            raise self.fail(f"this is a {type(data).__name__} and no edit")
        tick, does = data.get("tick"), [key for key in _DOES if key in data]
        if type(tick) is not int or tick < 1:
            raise self.fail("it has no 'tick', a whole number from 1")
        if len(does) != 1:
            raise self.fail(f"it does {' and '.join(does) or 'nothing'}, and not one of {', '.join(_DOES)}")
        what = data[does[0]]
        if _is_hand(does[0], what):
            return self._hand(tick, does[0], what, data)
        if does[0] in TUNES:
            return self._change(tick, does[0], what, data)
        is_call = type(what) is int and does[0] != "send"
        if not is_call and (type(what) is not str or does[0] == "answer"):
            raise self.fail(f"'{does[0]}' takes the name of an input, or the number of a call")
        self._require_keys(data, does[0], is_call=is_call)
        if not is_call:
            args = data.get("args", {})
            if not isinstance(args, dict):
                raise self.fail("'args' are an object: names and values")
            return Edit(tick, does[0], what, args=args, pointer=self._pointer)
        error = None
        if "error" in data:
            error = RunFault(data["error"]) if isinstance(data["error"], str) else self._value(data["error"])
            if not isinstance(error, BaseException):
                raise self.fail("'error' is a text, or an error as a recording writes it")
        return Edit(tick, does[0], what, value=self._value(data.get("value")), error=error, pointer=self._pointer)

    def _change(self, tick: int, does: str, what: object, data: dict[str, Any]) -> Edit:
        self._require_known(data, ("tick", does, *keys_of(does)))
        try:
            args = read_change(does, what, data)
        except EditError as error:
            raise self.fail(error.problem, error.remedy) from None
        return Edit(tick, does, str(what), args=args, pointer=self._pointer)

    def _hand(self, tick: int, does: str, what: object, data: dict[str, Any]) -> Edit:
        try:
            given = read_hand({key: value for key, value in data.items() if key != "tick"})
        except EditError as error:
            raise self.fail(error.problem, error.remedy) from None
        return Edit(tick, does, str(what), args=given, pointer=self._pointer)

    def _require_known(self, data: dict[str, Any], known: tuple[str, ...]) -> None:
        for key in data:
            if key not in known:
                raise self.fail(f"it has a key {key!r} that does not belong there.{did_you_mean(str(key), known)}")

    def _require_keys(self, data: dict[str, Any], does: str, *, is_call: bool) -> None:
        others = () if does == "drop" else ("value", "error") if is_call else ("args",)
        self._require_known(data, ("tick", does, *others))
        if does != "drop" and is_call and ("value" in data) == ("error" in data):
            raise self.fail("the result of a call is a 'value' or an 'error'")
        if does == "change" and not is_call and "args" not in data:
            raise self.fail("the 'args' are missing with which it comes in instead")

    def _value(self, data: object) -> Any:
        try:
            return self._codecs.read(json.dumps(data), self._file)
        except RecordingError as error:
            raise self.fail(str(error).rstrip("."), "Write it as a recording does.") from None


def _is_hand(does: str, what: object) -> bool:
    """Whether an edit does what a hand does on a run that lives, and is no tuning."""
    return does in STEERS or does == "abort" or (does == "set" and what == "stimulus")


def apply_edits(
    inputs: Iterable[RecordedInput], edits: Sequence[Edit], *, at: int, file: str = ""
) -> list[RecordedInput]:
    """What comes in instead of what was recorded after tick ``at``, in ascending order of tick and place.

    Raises:
        EditError: an edit is about a tick that is over, does nothing that is known, or finds nothing to change.
    """
    left = list(inputs)
    coming: list[RecordedInput] = []
    for edit in edits:
        if edit.tick <= at:
            raise EditError(
                f"tick {edit.tick} is before the branch, which begins after tick {at}",
                "Branch earlier, or edit a later tick.",
                file=file,
                pointer=edit.pointer,
            )
        if edit.does not in _DOES:  # a program may have made it, and no script
            problem = f"it does {edit.does!r}, and not one of {', '.join(_DOES)}"
            raise EditError(problem, _EXAMPLE, file=file, pointer=edit.pointer)
        if edit.does not in ("drop", "change"):
            coming.append(_added(edit))
        else:
            one = _take(edit, left, file)
            if edit.does == "change":
                coming.append(one._replace(args=edit.args or {}, value=edit.value, error=edit.error))
    # A stable order: what is sent comes as scripted.
    return sorted([*left, *coming], key=lambda one: (one.tick, one.place))


def _added(edit: Edit) -> RecordedInput:
    if edit.does == "send":
        return RecordedInput(edit.tick, _AT_THE_END, "sent", -1, str(edit.what), edit.args or {}, None, None)
    if _is_hand(edit.does, edit.what):
        return RecordedInput(edit.tick, _AT_THE_END, "sent", -1, HAND, {"edit": edit.args or {}}, None, None)
    if edit.does in TUNES:
        return RecordedInput(edit.tick, _AT_THE_END, "sent", -1, f"{RESERVED}{edit.does}", edit.args or {}, None, None)
    return RecordedInput(edit.tick, _AT_THE_END, "answered", int(edit.what), "", {}, edit.value, edit.error)


def _take(edit: Edit, left: list[RecordedInput], file: str) -> RecordedInput:
    """The recorded input that an edit is about; it is taken out, so that the next edit of its name finds the next."""
    for index, one in enumerate(left):
        if one.tick == edit.tick and edit.what == {"sent": one.name, "answered": one.number}.get(one.kind):
            return left.pop(index)
    what = f"the input {edit.what!r}" if isinstance(edit.what, str) else f"the result of call {edit.what}"
    there = [one for one in left if one.tick == edit.tick][:10]
    told = ", ".join(repr(one.name) if one.kind == "sent" else f"call {one.number}" for one in there)
    ticks = [str(one.tick) for one in left if edit.what in (one.name, one.number)]
    elsewhere = f" It comes in in tick {', '.join(ticks[:5])}." if ticks else ""
    raise EditError(
        f"there is nothing to {edit.does}: {what} does not come in in tick {edit.tick}",
        f"In that tick comes in: {told or 'nothing'}.{elsewhere}",
        file=file,
        pointer=edit.pointer,
    )


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
        # All of them now: an edit may be about any, and the branch may make a call sooner or later than it was made.
        every = list(inputs)
        before = [one for one in every if one.tick <= at]
        after = apply_edits([one for one in every if one.tick > at], edits, at=at, file=file)
        self.late: int = 0
        self.left_over: int = 0
        self.live: int = 0
        self.missing: UnansweredCallError | None = None
        self.wrong: EditError | None = None  # the first edit that found nothing, or does not fit what is there
        self._edits = edits
        self._at = at
        self._may_call = live
        self._file = file
        self._dropped = {edit.what for edit in edits if edit.does == "drop"}
        self._answers: dict[int, list[RecordedInput]] = {}
        self._keyed: dict[tuple[str, str], list[RecordedInput]] = {}  # the same by what was asked, if they have that
        for one in after:
            if one.kind == "answered" and not isinstance(one.value, Unkept):
                self._answers.setdefault(one.number, []).append(one)
                if one.name and (key := key_of(one.value)):
                    self._keyed.setdefault((one.name, key), []).append(one)
        super().__init__(runtime, chain(before, after))
        lay_hands(runtime).failed.append(self._hand_failed)

    def _hand_failed(self, args: dict[str, Any], error: BaseException) -> None:
        """Nothing came of a hand: what somebody did in the recorded run may fail here, what the script has may not."""
        tick = self.runtime.tick
        here = (one for one in self._edits if _is_hand(one.does, one.what) and (one.tick, one.args) == (tick, args))
        edit = next(here, None)
        if edit is not None and isinstance(error, EditError):
            self.change_failed(edit.does, args, error)

    def change_failed(self, does: str, args: dict[str, Any], error: EditError) -> None:
        if self.wrong is None:
            tick = self.runtime.tick  # which runs
            here = (one.pointer for one in self._edits if (one.tick, one.does, one.args) == (tick, does, args))
            pointer = next(here, "")
            self.wrong = EditError(f"{error.problem}, in tick {tick}", error.remedy, file=self._file, pointer=pointer)

    @property
    def _is_branch(self) -> bool:
        """Whether what is fed is the branch's: this is asked between two ticks, of the one that comes."""
        return self.runtime.tick >= self._at

    def asked(self, call: OutsideCall) -> bool:
        now = self.runtime.tick  # which runs: a call is made within it
        if now <= self._at:
            return super().asked(call)
        one = self._answer_of(call.number, call.what, call.key)
        if one is not None:
            self._use(one)
            if one.number == call.number and one.tick > now:
                return super().asked(call)  # its time is still to come
            self.late += one.number == call.number
            self.answered += 1
            self.left_over -= 1  # it was, or will be when its tick comes
            self.runtime.kernel.post(call.deliver, one.value, one.error)  # never at once: a result comes at an intake
            return True
        if call.number in self._dropped:
            return super().asked(call)  # for ever
        if self._may_call:
            self.live += 1
            return False
        if self.missing is None:  # the first one: what follows may be a consequence of it
            self.missing = UnansweredCallError(call.number, call.what, now, file=self._file)
        return True  # whoever called waits until the branch is broken off, at the end of this tick

    def has_answer(self, fn: Callable[..., object], *args: object) -> bool:
        if self.runtime.tick <= self._at:
            return True
        if self._may_call:
            return True  # from the outside, if nobody has recorded it
        number, key = self.runtime.calls.count, key_of(args[0] if args else None)
        return self._answer_of(number, name_of(fn), key) is not None

    def _answer_of(self, number: int, what: str, key: str) -> RecordedInput | None:
        """The result of a call that is made now.

        A scripted answer is for whatever is called; it may stand beside that of another function's call. A result that
        has a key is for that alone: what was asked otherwise then is no answer to what is asked now.
        """
        answers = self._answers.get(number, ())
        fits = (one for one in answers if one.name in ("", what) and (not one.name or key_of(one.value) in ("", key)))
        return next(fits, None) or next(iter(self._keyed.get((what, key), ())), None)

    def _use(self, one: RecordedInput) -> None:
        """A result is for one call."""
        self._answers[one.number].remove(one)
        same = self._keyed.get((one.name, key_of(one.value)), [])
        if one in same:
            same.remove(one)

    def nobody_asked(self, one: RecordedInput, problem: str) -> str:
        if not self._is_branch:
            return problem
        self.left_over += 1
        return ""

    def insert(self, place: int, fn: Callable[..., object], args: tuple[Any, ...], what: str) -> str:
        if self._is_branch:
            place = min(place, len(self.runtime.kernel.inbox))
        return super().insert(place, fn, args, what)


class BranchReport(NamedTuple):
    """What a branch came to."""

    recording: str  # the file that was branched
    at: int  # the last tick that is the same
    tick: int  # the last tick of the branch
    digest: str  # of the whole trace of the branch
    sent: int  # how many inputs came in, all in all
    answered: int  # how many results of calls came in from the recording or the script
    late: int  # how many of them had to wait for their call
    left_over: int  # how many recorded results nobody waited for
    live: int  # how many calls went to the outside
    # how the branch differs from what was recorded; None if the recording ends where it begins
    difference: TraceDifference | None
    recorded: Path | None  # where it was recorded; None if it was not
    first: Difference | None = None  # the first place where they part, with what the agent did there in both
    notes: tuple[str, ...] = ()  # what else there is to know: who stood in for a model

    def as_json(self) -> dict[str, Any]:
        """It as plain values, for tools; how each of the counted things ran in both is part of it."""
        return {
            **self._asdict(),
            "recorded": None if self.recorded is None else str(self.recorded),
            "difference": None if self.difference is None else self.difference.as_json(),
            "first": None if self.first is None else self.first.as_json(),
        }

    def as_text(self) -> str:
        """It in several lines."""
        came = f"{counted(self.sent, 'input')}, {counted(self.answered, 'result')} of calls"
        lines = [f"branched {self.recording} after tick {self.at}, went on to tick {self.tick}: {came}"]
        for count, words in (
            (self.late, "came in later than recorded"),
            (self.left_over, "for nobody"),
            (self.live, "of calls asked for outside"),
        ):
            lines += [f"{counted(count, 'result')} {words}"] if count else []
        lines += self.notes
        if self.difference is not None:
            lines.append(self.difference.as_text())
        if self.first is not None:
            lines += self.first.explained_lines("in the recording", "in the branch")
        lines += [f"recorded: {self.recorded}"] if self.recorded is not None else []
        lines.append(f"digest: {self.digest}")
        return "\n".join(lines)


class _Branching(Replay):
    """One branch while it is made: a replay that leaves its recording behind."""

    feeder: _BranchFeeder  # pyright: ignore[reportIncompatibleVariableOverride] - a narrower one, which is set once

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
        max_bytes: int | None,
    ) -> None:
        self._max_bytes = max_bytes
        last = recording.last_tick
        file = str(recording.path)
        if not 0 <= at <= last:
            raise ReplayError(
                f"it has no tick {at} to branch at", f"Choose one from 0 to {last}, its last tick.", file=file
            )
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
        self._comparison = TraceComparison(("the recording", "the branch"))
        self._agents: tuple[str, ...] | None = None
        self._first: Difference | None = None
        super().__init__(
            recording, make, host=host, feeder=partial(_BranchFeeder, at=at, edits=edits, live=live, file=file)
        )
        self.opens_gates = True

    def record(self, path: Path | None) -> AbstractContextManager[object]:
        if path is None:
            return nullcontext()
        meta = {"branched_from": {"recording": self.recording.path.name, "tick": self._at}}
        world, params = self.recording.meta["world"], self.recording.meta["params"]
        return self.runtime.record(path, world=world, params=params, max_bytes=self._max_bytes, meta=meta)

    def leave(self) -> range:
        """It stands where the branch begins: the ticks to go on with."""
        self.require(self._at)
        for edit in self._edits:
            if edit.does == "send" and edit.what not in self.runtime.inputs:
                taken = [name for name in self.runtime.inputs if not name.startswith(RESERVED)]
                raise EditError(
                    f"nobody takes inputs of the name {edit.what!r}",
                    f"The world takes {', '.join(taken) or 'none'}.",
                    file=str(self.recording.path),
                    pointer=edit.pointer,
                )
        self.verify = False  # from here on it is meant to differ; ``compare`` tells how
        self.last_tick = max(self.last_tick, self._end)
        if self._edit is not None:
            # As anybody's from outside: a recording of the branch notes it, since a replay of that cannot repeat it.
            self.runtime.post(self._edit, self.runtime)
        return range(self._at + 1, self._end + 1)

    def compare(self) -> None:
        """A tick of the branch is over."""
        if self.feeder.wrong is not None:
            raise self.feeder.wrong
        if self.feeder.missing is not None:
            raise self.feeder.missing  # here, and not where the call was made: an action would contain it
        self.require(self._end)
        tick, last = self.tick, self.recording.last_tick
        if tick <= last:
            recorded = self.recording.batch(tick)
            self._comparison.feed(tick, recorded, self.batch)
            # Of an agent, if one parts in the same tick: it can be asked why, and the runtime cannot.
            if self._first is None and (agent := self._comparison.first_agent) is not None:
                sides = ([one for one in records if one.agent == agent] for records in (recorded, self.batch))
                found = first_difference(tick, *sides)
                self._first = None if found is None else self._explained(found)
        if tick == min(last, self._end):
            # Now: the branch may go on after the last tick that was recorded, and they are compared with who was there.
            self._agents = tuple(agent.name for agent in self.runtime.agents)

    def outcome(self, path: Path | None) -> BranchReport:
        feeder = self.feeder
        difference = None
        if self._agents is not None:
            last = min(self.recording.last_tick, self._end)
            difference = self._comparison.result(self.recording.agents(last), self._agents)
        return BranchReport(
            recording=str(self.recording.path),
            at=self._at,
            tick=self.tick,
            digest=self.digest,
            sent=feeder.sent,
            answered=feeder.answered,
            late=feeder.late,
            left_over=feeder.left_over,
            live=feeder.live,
            difference=difference,
            recorded=path,
            first=self._first,
            notes=() if self.runtime.mind is None else self.runtime.mind.notes(),
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
    max_bytes: int | None = None,
) -> BranchReport:
    """Replay a recording up to a tick, change something, and go on; starts the event loop that it needs.

    Args:
        recording, make, host: as ``replay`` takes them.
        at: the last tick that is to be as it was; the branch begins after it.
        edits: what is changed in what comes in; see ``agentrt.record.branch``.
        edit: called with the runtime at the next intake, to change what cannot be scripted.
        ticks: how many ticks to go on; None up to the last one that was recorded.
        calls: ``"recorded"``, or ``"live"`` to let calls without a recorded result go to the outside.
        record: where to record the branch; a file that does not exist.
        max_bytes: how large that file may become; None for any size. The oldest ticks go first.

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
                opened, make, at=at, edits=edits, edit=edit, ticks=ticks, host=host, calls=calls, record=record,
                max_bytes=max_bytes,
            )  # fmt: skip
    path = None if record is None else Path(record)
    work = _Branching(
        recording, make, at=at, edits=edits, edit=edit, ticks=ticks, host=host, live=calls == "live",
        max_bytes=max_bytes,
    )  # fmt: skip
    if host == "plain":
        with work, work.record(path):
            work.to(at)
            for tick in work.leave():
                work.to(tick)
                work.compare()
            return work.outcome(path)

    async def whole() -> BranchReport:
        async with work:
            with work.record(path):
                await work.run_to(at)
                for tick in work.leave():
                    await work.run_to(tick)
                    work.compare()
                return work.outcome(path)

    return run_on(host, whole)
