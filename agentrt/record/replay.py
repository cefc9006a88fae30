"""Replay: a recorded run is run again, and compared with the recording while it runs.

A replay makes the world again, from the seed, and drives it tick by tick. Before each tick a ``Feeder`` puts what came
in from outside to its place; nothing outside is called. After each tick the digest of the whole trace so far is
compared with the recorded one, which costs nothing to read. Only when they differ the records of that tick are read,
and the first one that differs is shown with both sides. There it stops: what follows a difference says nothing. Rules:

* Who makes the world is named by the caller, or by the recording as the name of an *installed* world. Nothing in a file
  is imported or called.
* Equal means equal digests, on whichever host and Python either side ran.
* What was sent, and what the outside answered, stands at the very place of the very intake where it stood then. What
  the run posts to itself stands there already when the tick is about to begin, in the same order as then; what is fed
  goes in between, from the first place to the last.
* A call waits until its result comes in; which call a result belongs to says its number, and the name of the function
  has to be the same, or this is another run.
* A feeder never guesses. If the place for an input is not there, or nobody made the call that a result is for, it says
  so in words before the tick begins, and feeds nothing that comes after.
* A recording that does not hold the whole run cannot be replayed, and says why. One with functions that were posted
  from outside can, though nobody could write them down: perhaps they changed nothing. When the runs part, they are
  named as the likely cause.
* It begins where the recording does, or, told so, with one of the saves of which the world was rebuilt meanwhile (see
  ``agentrt.runtime.epochs``): the digests that follow are the same.
* A replay is a runtime like any other: it can be looked at, recorded, and driven on by hand. It can leave the recording
  behind (``go_live``): then nothing is fed any more, and the calls that still wait are made.

The last line of its report is the digest, so that two runs can be compared by a look.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from agentrt.agent.agent import Restart
from agentrt.errors import AgentRTError, EditError, ReplayDifferenceError, ReplayError, WrongStateError
from agentrt.kernel.trace import TraceDigest, TraceRecord
from agentrt.record.compare import Difference, first_difference
from agentrt.record.hands import hands_of, lay_hands
from agentrt.record.recording import PAST_WORDS, RecordedInput, Recording
from agentrt.record.tuning import put_up
from agentrt.record.values import Unkept
from agentrt.runtime.intake import RESERVED
from agentrt.words import counted
from agentrt.worlds import TakesModel, World, load_world, make_world

if TYPE_CHECKING:
    from agentrt.runtime.intake import OutsideCall
    from agentrt.runtime.runtime import Runtime


class Feeder:
    """Feeds a runtime that was just made with what came in, in ascending order of tick and place; answers its calls."""

    def __init__(self, runtime: Runtime, inputs: Iterable[RecordedInput]) -> None:
        self.runtime: Runtime = runtime
        self.sent: int = 0  # how many inputs it has fed
        self.answered: int = 0  # how many results of calls
        # the functions posted from outside that it had to leave out: the tick and the name, the first few
        self.opaque: list[tuple[int, str]] = []
        self.left_out: int = 0  # how many of them there were
        self.calls: dict[int, OutsideCall] = {}  # the calls that wait for their result, by their numbers
        self._places: dict[int, int] = {}  # how much was in the inbox when each of them was made
        self._others = frozenset(runtime.inputs)  # which are not this one's
        self._inputs: Iterator[RecordedInput] = iter(inputs)
        self._next = next(self._inputs, None)
        runtime.calls.answers = self
        put_up(runtime, self.change_failed)
        lay_hands(runtime)

    def close(self) -> None:
        """Feed nothing more, and let go of the recording."""
        self._next, self._inputs = None, iter(())

    def go_live(self) -> None:
        """Feed nothing more, and make the calls that wait, in the order in which they were made."""
        self.close()
        runtime, came = self.runtime, 0
        runtime.calls.answers, runtime.calls.recorded_host = None, ""
        self._take_down()
        for number, call in self.calls.items():
            # Without an event loop the function was called at once, before anybody could cancel it.
            if not call.is_cancelled or runtime.host == "plain":
                came += runtime.calls.ask_again(call, self._places[number] + came)
        self.calls.clear()

    def _take_down(self) -> None:
        """What this one has put up is not for whoever sends from now on, unless something of it is in force."""
        inputs, hands = self.runtime.intake.inputs, hands_of(self.runtime)
        for name in [name for name in inputs if name.startswith(RESERVED) and name not in self._others]:
            if hands is None or inputs[name] is not hands or not hands.touched:
                del inputs[name]

    def asked(self, call: OutsideCall) -> bool:
        self.calls[call.number] = call
        self._places[call.number] = len(self.runtime.kernel.inbox)
        return True

    def rebuilt(self) -> None:
        """The world is another one: nobody waits for what the one before has asked."""
        self.calls.clear()
        self._places.clear()

    def has_answer(self, fn: Callable[..., object], *args: object) -> bool:
        """Whether there is a result for a call, should it be made now."""
        return True

    def change_failed(self, does: str, args: dict[str, Any], error: EditError) -> None:
        """What a script changed in the recorded run cannot be changed here: it is a fault of the run."""
        raise error

    def feed(self) -> str:
        """Put what came in for the next tick into its intake; returns what stands against it, in words, if anything."""
        tick = self.runtime.tick + 1
        while self._next is not None and self._next.tick <= tick:
            one, self._next = self._next, next(self._inputs, None)
            if problem := self.feed_one(one):
                return problem
        return ""

    def feed_one(self, one: RecordedInput) -> str:
        """Feed one of what came in; returns what stands against it, in words, if anything."""
        if one.kind == "posted":
            self.left_out += 1
            if len(self.opaque) < _MOST_TOLD:
                self.opaque.append((one.tick, one.name))
            return ""
        if one.kind == "edited":
            return ""  # the code went on as it was
        if one.kind == "reloaded":
            changed = ", ".join(map(str, one.args.get("changed") or ())) or "nothing that was known"
            return f"the code was changed here: {one.name} ({changed}). What follows was run by other code than before"
        if one.kind == "sent":
            self.sent += 1
            what = f"the input {one.name!r}"
            # By the intake's own function: should the input fail, the fault names what was posted, as it was recorded.
            # As one from outside: whoever records the replay keeps it, too.
            return self.insert(one.place, self.runtime.intake.take, (one.name, one.args, True), what)
        return self._answer(one)

    def _answer(self, one: RecordedInput) -> str:
        what = f"the result of {one.name} (call {one.number})"
        call = self.calls.get(one.number)
        if call is None:
            return self.nobody_asked(one, f"{what} comes in, but the replay has not made this call")
        if one.name and call.what != one.name:  # a scripted answer is for whatever is called
            return self.nobody_asked(one, f"{what} comes in, but call {one.number} of the replay is of {call.what}")
        if isinstance(one.value, Unkept):
            return f"{what} comes in, a {one.value.type_name}, which the recording could not keep: {one.value.reason}"
        del self.calls[one.number], self._places[one.number]
        self.answered += 1
        return self.insert(one.place, call.deliver, (one.value, one.error), what)

    def nobody_asked(self, one: RecordedInput, problem: str) -> str:
        """A result comes in that no call of this run waits for; returns what stands against going on, if anything."""
        return problem

    def insert(self, place: int, fn: Callable[..., object], args: tuple[Any, ...], what: str) -> str:
        """Put something to its place in the next intake; returns what stands against it, in words, if anything."""
        inbox = self.runtime.kernel.inbox  # what the run posted to itself in the tick before, in the order of then
        if place > len(inbox):
            return f"{what} comes in as number {place + 1} of the intake, but only {len(inbox)} posts come before it"
        inbox.insert(place, (fn, args))
        return ""


_MOST_TOLD = 5


class ReplayReport(NamedTuple):
    """What a replay came to."""

    recording: str  # the file
    tick: int  # the last tick that was replayed
    wanted: int  # the tick that was to be reached
    digest: str  # of the replayed trace
    recorded_digest: str  # of the recorded trace at the same tick; empty if it was not kept
    compared: int  # how many ticks were compared
    sent: int  # how many inputs came in
    answered: int  # how many results of calls came in
    difference: Difference | None  # the first difference, or None
    notes: tuple[str, ...]  # what else there is to know

    @property
    def is_same(self) -> bool:
        """Whether it reached the tick that was wanted, and nothing was found to differ."""
        return self.difference is None and self.tick == self.wanted

    def as_text(self) -> str:
        """It in several lines."""
        came = f"{counted(self.sent, 'input')}, {counted(self.answered, 'result')} of calls"
        lines = [f"replayed {self.recording} up to tick {self.tick} of {self.wanted}: {came}", *self.notes]
        if self.difference is not None:
            lines.append(self.difference.as_text())
        elif self.compared:
            lines.append(f"the same as recorded, compared in {counted(self.compared, 'tick')}")
        lines.append(f"digest: {self.digest}")
        if self.recorded_digest and self.recorded_digest != self.digest:
            lines.append(f"recorded: {self.recorded_digest}")
        return "\n".join(lines)


Make: TypeAlias = "Callable[..., Runtime]"
"""Makes the world anew, as ``agentrt.worlds.World.make`` does: called with ``seed=`` and ``host=``.

It is called with ``params=``, too, if the recording names any."""

_Result = TypeVar("_Result")


class Replay:
    """A run that repeats a recording.

    ``to`` drives it on the plain host; ``await run_to`` on any, inside of its event loop. Use it as a context manager,
    or close it.

    Its arguments are those of ``replay``; ``feeder`` makes what feeds it, by default the recorded inputs come in.

    Raises:
        ReplayError: the recording cannot be replayed, or ``make`` made another world.
        UnknownWorldError: the world that it names is not installed.
    """

    def __init__(
        self,
        recording: Recording,
        make: Make | None = None,
        *,
        host: str = "plain",
        verify: bool = True,
        feeder: Callable[[Runtime, Iterable[RecordedInput]], Feeder] | None = None,
        since: int | None = None,
    ) -> None:
        self.recording: Recording = recording
        # which policy held, from which tick on
        self.restarts: dict[int, Restart | None] = _restarts(recording)
        self.since: int = recording.meta["started"] if since is None else since  # the tick after which it begins
        self.runtime: Runtime = _make(recording, make, host)  # the run
        inputs = recording.inputs(self.since + 1)
        # what feeds it
        self.feeder: Feeder = Feeder(self.runtime, inputs) if feeder is None else feeder(self.runtime, inputs)
        self.runtime.calls.recorded_host = str(recording.meta.get("host", ""))
        self.difference: Difference | None = None  # the first difference, or None
        self.compared: int = 0  # how many ticks were compared
        self.batch: list[TraceRecord] = []  # what was emitted up to the last publish
        self.verify: bool = verify  # whether it is compared from here on
        # whether it opens the gate that the world itself closed, as whoever drove it has done; otherwise it stands
        # before a closed gate, for whoever looks on
        self.opens_gates: bool = False
        # the last tick to which it may be driven; that of the recording, unless it is to be left behind
        self.last_tick: int = recording.last_tick
        self.coming: list[TraceRecord] = []  # what was emitted since then
        self._hexdigest = ""
        if self.since == recording.meta["started"] and self.since:
            self._restore()  # of which the recording has no record
        self._digest = TraceDigest(self.runtime.trace, recording.digest(self.since))
        self._closers = [
            self._digest.close,
            self.runtime.trace.listen(self.coming.append),
            self.runtime.after_tick(self._publish),
            self.feeder.close,  # else the generator would keep the file's cursor open
        ]
        if self.runtime.tick != self.since:
            self._restore()
        self._expected = recording.digests(self.runtime.tick + 1)
        self._awaited = next(self._expected, None)

    def _restore(self) -> None:
        """Begin with a save. Nothing of the world has begun yet, so that no event loop is needed for it."""
        runtime, tick = self.runtime, self.since
        if tick in self.recording.saves:
            runtime.restore(self.recording.save(tick))
            held = [one for one in sorted(self.restarts) if one <= tick]
            if held:
                runtime.restart = self.restarts[held[-1]]
        if runtime.tick != tick:
            _refuse(runtime)
            raise ReplayError(
                f"it begins after tick {tick}, and nobody knows how the world was then",
                "Record a run from its beginning, or after runtime.restore. This one can be looked at.",
                file=str(self.recording.path),
            )

    @property
    def tick(self) -> int:
        """The last tick that was replayed."""
        return self.runtime.tick

    @property
    def digest(self) -> str:
        """The digest of the trace up to the last publish."""
        return self._hexdigest or self._digest.hexdigest()

    # --- driving ------------------------------------------------------------------------------------------------------

    def to(self, tick: int | None = None) -> Difference | None:
        """Replay up to a tick (None: the last one that was recorded), on the caller's stack.

        It stops before a closed gate, and at the first difference, which it returns, or None.
        """
        target = self._target(tick)
        while self._may_go_on(target):
            self.runtime.step()
            self._compare()
        return self.difference

    async def run_to(self, tick: int | None = None) -> Difference | None:
        """As ``to``, inside of the event loop of its host."""
        target = self._target(tick)
        while self._may_go_on(target):
            # One tick, since what is fed depends on the one before. It was not run, the recording says how it was.
            await self.runtime.run(1, speed=math.inf, blocking_ms=None, restart=None)
            self._compare()
        return self.difference

    def require(self, tick: int) -> None:
        """Raise ``ReplayDifferenceError`` if it has not come to ``tick`` without a difference."""
        if self.difference is not None:
            raise ReplayDifferenceError(
                self.difference.tick, tick, self.difference.as_text(), file=str(self.recording.path)
            )

    def _target(self, tick: int | None) -> int:
        last = self.last_tick
        if tick is None:
            return last
        if tick < self.tick:
            raise WrongStateError(
                "Replay.to", f"tick {tick} is over, the replay stands at {self.tick}", "Begin another replay."
            )
        if tick > last:
            raise ReplayError(
                f"tick {tick} is after its last tick, {last}",
                "Choose an earlier one; to go on from there, branch it.",
                file=str(self.recording.path),
            )
        return tick

    def _may_go_on(self, target: int) -> bool:
        """Prepare the next tick, if there is one to run."""
        if self.difference is not None or self.tick >= target:
            return False
        if self.runtime.gate.is_closed:
            if not self.opens_gates:
                return False
            self.runtime.gate.resume()
        if self.tick + 1 in self.restarts:
            self.runtime.restart = self.restarts[self.tick + 1]
        if problem := self.feeder.feed():
            self.difference = self._explained(Difference(self.tick + 1, problem, before=tuple(self.batch[-4:])))
        return not problem

    def go_live(self) -> Runtime:
        """Leave the recording behind: from here on it is a run like any other, which is driven and closed as such.

        Between two ticks; on an event loop, inside of it. What was recorded after this tick does not come in any more.
        Calls that wait for their result are made now: that is at least the second time. ``call_key`` tells the function
        which call it is.

        Returns:
            The run.

        Raises:
            ReplayDifferenceError: it is not the recorded run.
        """
        self.require(self.tick)
        self._forget()
        self.feeder.go_live()
        return self.runtime

    # --- comparing ----------------------------------------------------------------------------------------------------

    def _publish(self) -> None:
        self.batch = self.coming.copy()
        self.coming.clear()
        self._hexdigest = self._digest.hexdigest()  # now: what comes between two ticks belongs to the next one

    def _compare(self) -> None:
        tick = self.tick
        # Not every tick has a digest: those of ticks that were dropped are thinned out.
        while self._awaited is not None and self._awaited[0] < tick:
            self._awaited = next(self._expected, None)
        if not self.verify or self._awaited is None or self._awaited[0] != tick:
            return
        self.compared += 1
        if self._awaited[2] == self._hexdigest:
            return
        if tick < self.recording.first_tick:
            found = Difference(tick, "the digests differ; the records of this tick were dropped from the recording")
        else:
            recorded = self.recording.batch(tick)
            found = first_difference(tick, recorded, self.batch) or Difference(
                tick, "the digests differ, and the records that were kept do not: an earlier tick differs"
            )
        self.difference = self._explained(found)

    def _explained(self, found: Difference) -> Difference:
        """A difference with what the agent that it is about did and does, and with what may be behind it."""
        reason = found.reason
        if self.feeder.left_out:
            told = ", ".join(f"{name} in tick {tick}" for tick, name in self.feeder.opaque)
            more = " and more" if self.feeder.left_out > len(self.feeder.opaque) else ""
            reason += f" (before, functions were posted from outside, which no recording keeps: {told}{more})"
        if not found.agent:
            return found._replace(reason=reason)
        recorded = self.recording.explain(found.agent, found.tick)
        now = next((agent.explain() for agent in self.runtime.agents if agent.name == found.agent), "it is not there")
        return found._replace(reason=reason, expected_explained=recorded, got_explained=now)

    def report(self, wanted: int | None = None) -> ReplayReport:
        """What it came to so far; ``wanted`` is the tick that was to be reached, None the last recorded one."""
        try:
            recorded = self.recording.digest(self.tick)
        except AgentRTError:
            recorded = ""  # the recording thins out the digests of what it drops
        return ReplayReport(
            recording=str(self.recording.path),
            tick=self.tick,
            wanted=self.recording.last_tick if wanted is None else wanted,
            digest=self.digest,
            recorded_digest=recorded,
            compared=self.compared,
            sent=self.feeder.sent,
            answered=self.feeder.answered,
            difference=self.difference,
            notes=tuple(self._notes()),
        )

    def _notes(self) -> Iterable[str]:
        meta, here = self.recording.meta, platform.python_version()
        there, host = meta.get("python"), meta.get("host")
        if (there, host) != (here, self.runtime.host):
            yield f"recorded on Python {there}, {host} host; replayed on Python {here}, {self.runtime.host} host"
        if not self.recording.header("ended"):
            yield "the recording was broken off, or is still being written"
        if self.difference is not None:
            yield from (f"the recording warns: {reason}" for reason in self.recording.unreplayable)
        elif self.feeder.left_out:
            yield f"not repeated: {counted(self.feeder.left_out, 'function')} posted from outside"
        if self.runtime.mind is not None:
            yield from self.runtime.mind.notes()

    # --- the end ------------------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        for close in self._closers:
            close()
        self._closers.clear()

    def close(self) -> None:
        """End it: all agents are stopped."""
        self._forget()
        self.runtime.close("the replay is over")

    async def aclose(self) -> None:
        """As ``close``, inside of the event loop of its host."""
        self._forget()
        await self.runtime.aclose("the replay is over")

    def __enter__(self) -> Replay:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    async def __aenter__(self) -> Replay:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()


def replay(
    recording: Recording | Path | str,
    make: Make | None = None,
    *,
    to: int | None = None,
    host: str = "plain",
    verify: bool = True,
    since: int | None = None,
) -> ReplayReport:
    """Run a recorded run again, and compare the two; starts the event loop that it needs.

    Args:
        recording: a recording, or the path of one.
        make: makes the world; None takes the installed world that the recording names.
        to: the last tick to run; None for the last one that was recorded.
        host: ``"plain"``, ``"asyncio"`` or ``"trio"``.
        verify: whether to compare it.
        since: begin with the save of which the world was rebuilt after this tick, one of ``recording.saves``; None for
            the beginning.

    Returns:
        What it came to; ``is_same`` says whether anything differs.

    Raises:
        RecordingError: it is no recording.
        ReplayError: it cannot be replayed.
        UnknownWorldError: the world that it names is not installed.
    """
    require_host(host)
    if not isinstance(recording, Recording):
        with Recording.open(recording) as opened:
            return replay(opened, make, to=to, host=host, verify=verify, since=since)
    one = Replay(recording, make, host=host, verify=verify, since=since)
    one.opens_gates = True
    if host == "plain":
        with one:
            one.to(to)
            return one.report(to)

    async def whole() -> ReplayReport:
        async with one:
            await one.run_to(to)
            return one.report(to)

    return run_on(host, whole)


def require_host(host: str) -> None:
    """Raise ``ValueError`` if a run cannot be repeated on a host."""
    if host not in ("plain", "asyncio", "trio"):
        raise ValueError(f"host is {host!r}: choose 'plain', 'asyncio' or 'trio'")


def run_on(host: str, main: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
    """Run a coroutine function in an event loop of a host."""
    import anyio

    return anyio.run(main, backend=host)


def _restarts(recording: Recording) -> dict[int, Restart | None]:
    """What became of agents whose planner gave up, as the header of a recording says it: from which tick on."""
    given, file = recording.meta.get("restart", {}), str(recording.path)
    try:
        return {int(tick): None if one is None else Restart(**one) for tick, one in given.items()}
    except (AttributeError, TypeError, ValueError):
        raise ReplayError(f"its header says restart={given!r}", "Record the run again.", file=file) from None


def _takes_params(make: Make) -> bool:
    from inspect import signature

    try:
        signature(make).bind(seed=0, host="plain", params={})
    except TypeError:
        return False
    except ValueError:  # it does not say what it takes
        return True
    return True


def _refuse(runtime: Runtime) -> None:
    if runtime.host == "plain":  # on an event loop nothing of it can have begun, here outside of one
        runtime.close("it is not the world of the recording")


def _make(recording: Recording, make: Make | None, host: str) -> Runtime:
    meta, file = recording.meta, str(recording.path)
    if recording.is_past:
        raise ReplayError(
            f"{PAST_WORDS}. It holds the ticks {recording.first_tick} to {recording.last_tick}, to be looked at",
            "Look at it: agentrt inspect FILE. To replay a run, record all of it: agentrt run --record FILE.",
            file=file,
        )
    name = meta["world"]
    if make is None and not name:
        raise ReplayError(
            "it does not say which world it is of", "Name the world, or give make= what makes it.", file=file
        )
    if make is None:
        make = partial(make_world, thinks_as_recorded(load_world(name), meta))
    elif meta["params"] and not _takes_params(make):
        given = ", ".join(f"{one}={value!r}" for one, value in meta["params"].items())
        raise ReplayError(
            f"its world was made with {given}, and make= takes no params", "Have it take params=None.", file=file
        )
    runtime = make(seed=meta["seed"], host=host, **({"params": meta["params"]} if meta["params"] else {}))
    for what, wanted, is_there in (
        ("seed", meta["seed"], runtime.kernel.seed),
        ("ticks per second", meta["ticks_per_second"], runtime.clock.ticks_per_second),
        ("tick", 0 if not meta["started"] else runtime.tick, runtime.tick),  # one that began later begins with a save
    ):
        if wanted != is_there:
            _refuse(runtime)
            raise ReplayError(
                f"the world that was made has the {what} {is_there!r}, the recording {wanted!r}",
                "Replay it with the world that it was recorded of, made with the seed that is handed in.",
                file=file,
            )
    return _thinking_alike(recording, runtime)


def recorded_models(meta: Mapping[str, Any]) -> tuple[str, ...]:
    """By which models outside of the game agents thought, by the header of a recording."""
    names = meta.get("models")  # older ones do not say, and a file may hold anything
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


def thinks_as_recorded(world: World, meta: Mapping[str, Any]) -> World:
    """A world as a recording has it: with the model by which its agents thought, which a replay does not ask.

    Args:
        world: the one that the recording names.
        meta: the header of the recording.
    """
    models = recorded_models(meta)
    return world.with_model(models[0]) if models and isinstance(world, TakesModel) else world


def _thinking_alike(recording: Recording, runtime: Runtime) -> Runtime:
    """A runtime whose agents think by what they thought by then, or nobody would ask for what was answered."""
    recorded = recorded_models(recording.meta)
    here = () if runtime.mind is None else runtime.mind.outside
    if recorded and recorded != here:
        if runtime.host == "plain":
            runtime.close("it is not the world of the recording")
        raise ReplayError(
            f"its agents thought by {', '.join(recorded)}, and those of the world that was made do not",
            f"Name the model, which is not asked: agentrt replay FILE --model {recorded[0]}.",
            file=str(recording.path),
        )
    return runtime
