"""Epochs: a world that is rebuilt from what it saves, every so many ticks of every run of it.

A run is repeated from its beginning, which for one of ten hours takes hours. Plans are coroutines, which nobody can
write down; a world can. So a world may declare that at the end of each so many-th tick all of it ends and is made again
of its own save, *in every run*: whoever begins with such a save then goes on exactly as the run did that wrote it.
That changes the game, since plans begin anew, so it is part of how the world is made (``Runtime.rebuild_every``).

It is the runtime that does it, after the tick, whoever drives: so there is one door for all (a server, a replay, a
test), and hosts, recorders, the inspector and the senders of inputs keep their runtime. Rules:

* What a world is afterwards depends on its save alone. The save goes through JSON in every run, so that what JSON
  would lose is lost at the first epoch and not only by whoever restarts. All else that the runtime had of the world is
  gone: agents, coroutines, timers, leases, posted functions, inputs, what is called every tick. What stays belongs to
  who watches (listeners of the trace, ``after_tick``, the gate) or drives.
* Every random stream is another one from then on, derived from the seed and the tick: no position has to be saved, and
  nobody gets the numbers of the first day again.
* The clean-up of the old world takes ticks that are no part of the run: nobody hears of them, the clock stands again
  where it stood, and nobody outside is called. What is sent meanwhile waits for the new world.
* Names stay given; calls to the outside are numbered on; what a mind has used of its budgets stays used. All of it is
  written beside the world's own save.
* A record (``epoch``) has the hash of the save, so that two runs whose saves differ part there and not somewhere later.
  There digests begin anew from the digest so far: nobody needs the records of before to come to the same ones.
* To begin with a save, the world is made as ever, and rebuilt before its first tick: the very same steps.

Rejected: making a second runtime of the save, which is the same in fewer lines here and in many more everywhere else:
each host, recorder, page and client would have to let go of one and take hold of the other between two ticks. Carrying
random streams on by their positions: each one that a world forgets to save would make a restart differ.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol

from agentrt.errors import ENDS_PROGRAM, EpochError, RebuildError, WrongStateError
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.kernel.traps import running
from agentrt.runtime.names import Names
from agentrt.words import error_words, repr_of, type_name, unplain

if TYPE_CHECKING:
    from agentrt.agent.agent import Agent
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.trace import TraceHub
    from agentrt.runtime.intake import Intake, OutsideCall, OutsideCalls

_FORM = 1  # of what is saved


class Books(Protocol):
    """What the world's mind has used of its budgets."""

    def save(self) -> dict[str, Any]: ...

    def restore(self, saved: Mapping[str, Any]) -> None: ...


class Home(Protocol):
    """What a world is rebuilt in, as seen from here: a runtime."""

    kernel: Kernel
    trace: TraceHub
    intake: Intake
    calls: OutsideCalls
    names: Names

    @property
    def agents(self) -> tuple[Agent, ...]: ...

    @property
    def mind(self) -> Books | None: ...

    @property
    def tick(self) -> int: ...

    @property
    def start_tick(self) -> int: ...

    def forget_world(self) -> None:
        """Another one is about to be loaded."""


class Epochs:
    """How the world of one runtime is saved and rebuilt, and when."""

    __slots__ = ("_failed", "_runtime", "every", "is_on", "last", "load", "save")

    def __init__(self, runtime: Home) -> None:
        self.is_on: bool = False  # whether ``is_due`` has to be asked before and after each tick
        self.every: int = 0  # after how many ticks it is rebuilt; 0 for never
        self.last: str = ""  # the save of which it was made last, as JSON; empty if it was not
        self.save: Callable[..., object] | None = None  # what the world declared; see ``Runtime.rebuild_every``
        self.load: Callable[..., object] | None = None
        self._runtime = runtime
        self._failed: EpochError | None = None

    def declare(self, every: object, save: Callable[..., object], load: Callable[..., object]) -> None:
        if type(every) is not int or every < 0:
            raise ValueError(f"rebuild_every({repr_of(every, 80)}): it takes a whole number of ticks, or 0 for never")
        for name, fn in (("save", save), ("load", load)):
            if not callable(fn):
                raise ValueError(f"rebuild_every: {name} is a {type_name(fn)}: it takes a plain function")
        self.every, self.save, self.load = every, save, load
        self.is_on = every > 0

    def is_due(self) -> bool:
        """Whether the world is to be rebuilt before another tick runs."""
        if self._failed is not None:
            return True  # which then says why it cannot be
        tick = self._runtime.tick
        return (
            self.every > 0
            and tick % self.every == 0
            and tick not in (self._runtime.kernel.rebuilt, self._runtime.start_tick)
        )

    # --- what is saved ------------------------------------------------------------------------------------------------

    def write(self) -> str:
        """The world and what the runtime has to know beside it, as JSON."""
        import json  # which only few programs need

        runtime = self._runtime
        if self.save is None:
            raise WrongStateError(
                "runtime.save", "its world never said how it is saved", "Say it: runtime.rebuild_every(0, save, load)."
            )
        if self._failed is not None:
            raise self._failed
        try:
            game = self.save(runtime)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            remedy = "Have it write down the world as it can be at any tick."
            raise EpochError("save", error_words(error), remedy, tick=runtime.tick) from error
        if problem := unplain(game):
            remedy = "Have it give plain JSON: dicts with texts as keys, lists, texts, numbers, True, False and None."
            raise EpochError("save", problem, remedy, tick=runtime.tick)
        saved = {
            "form": _FORM,
            "tick": runtime.tick,
            "seed": runtime.kernel.seed,
            "calls": runtime.calls.count,
            "names": runtime.names.save(),
            "game": game,
        }
        if runtime.mind is not None:
            saved["mind"] = runtime.mind.save()
        return json.dumps(saved, separators=(",", ":"))

    def read(self, saved: object) -> str:
        """The same, of what ``Runtime.save`` gave or JSON made of it; ``RebuildError`` if it is none."""
        import json

        if self.load is None:
            raise WrongStateError(
                "runtime.restore", "its world never said how", "Say it: runtime.rebuild_every(0, save, load)."
            )
        try:
            text = json.dumps(saved, separators=(",", ":"), allow_nan=False)
            _check(json.loads(text), self._runtime.kernel.seed)
        except (TypeError, ValueError, KeyError, OverflowError, RecursionError) as error:
            raise RebuildError("the saved world", f"this is nothing that runtime.save gave: {error}.") from None
        return text

    # --- rebuilding ---------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def rebuilding(self, saved: str = "") -> Iterator[None]:
        """A block in which whoever drives ends all that lives, if anything does; after it the new world is there.

        Args:
            saved: of which it is made; empty for what it saves now.
        """
        runtime = self._runtime
        if self._failed is not None:
            raise self._failed
        text = saved or self.write()
        intake, kernel = runtime.intake, runtime.kernel
        journal, intake.journal = intake.journal, None  # what is done in here is no part of the run
        intake.kept = []
        if kernel.thread:  # what is sent before the first tick belongs to how the world is made
            intake.keep_what_was_sent()
        kernel.forget_hooks()  # the systems of the old world: nobody may act in it any more
        answers, intake.calls.answers = intake.calls.answers, _Nobody()
        try:
            with kernel.aside():
                yield
            if kernel.thread:
                intake.keep_what_was_sent()
            self._make(text)
        except BaseException as error:
            # Also whoever ends the program in here: half a world must not go on by itself.
            self.is_on = True
            self._failed = error if isinstance(error, EpochError) else _broken_off(error, runtime.tick)
            raise
        finally:
            intake.calls.answers = answers
            intake.journal = journal
            intake.give_what_was_kept()
        if answers is not None:
            answers.rebuilt()
        if journal is not None:
            journal.rebuilt(text)

    def _make(self, text: str) -> None:
        import json

        runtime = self._runtime
        saved = json.loads(text)
        tick = saved["tick"]
        runtime.forget_world()
        runtime.kernel.forget_all(tick)
        runtime.calls.count = saved["calls"]
        self.last = text
        if runtime.trace.on:
            mark = blake2b(text.encode(), digest_size=8).hexdigest()
            runtime.trace.emit(TraceRecord(tick, "", "", TraceEvent.EPOCH, (("save", mark),)))
        assert self.load is not None
        outer, running.kernel = running.kernel, runtime.kernel  # what is posted and sent now the world does, every time
        try:
            self.load(runtime, saved["game"])
            if runtime.mind is not None and "mind" in saved:
                runtime.mind.restore(saved["mind"])
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            remedy = "Have load make the world of what save gave, through JSON, with nothing left over from before."
            raise EpochError("load", error_words(error), remedy, tick=tick) from error
        finally:
            running.kernel = outer
        # Only now: until here everybody was given the name that he had, since none was given.
        runtime.names.restore(saved["names"])
        for agent in runtime.agents:
            runtime.names.take(agent.name)


class _Nobody:
    """Who answers calls while an old world is cleaned up: they are refused, for a replay would not make them."""

    def has_answer(self, fn: Callable[..., object], *args: object) -> bool:
        return False

    def rebuilt(self) -> None:
        pass

    def asked(self, call: OutsideCall) -> bool:
        raise WrongStateError(
            "ctx.call", f"its world is being rebuilt, and {call.what} would be asked twice", "Ask while it lives."
        )


def _broken_off(error: BaseException, tick: int) -> EpochError:
    return EpochError("the clean-up", error_words(error), "Make the world anew, or begin with a save.", tick=tick)


def _check(saved: dict[str, Any], seed: int | str) -> None:
    """Raise what tells in words what is wrong with something that ought to be a save."""
    if saved["form"] != _FORM:
        raise ValueError(f"its form is {saved['form']!r}, and not {_FORM}")
    if saved["seed"] != seed:
        raise ValueError(f"it is of a run with the seed {saved['seed']!r}, and here it is {seed!r}")
    for name in ("tick", "calls"):
        if type(saved[name]) is not int or not 0 <= saved[name] < 1 << 53:
            raise ValueError(f"its {name!r} is {repr_of(saved[name], 80)}")
    Names().restore(saved["names"])
    if "game" not in saved:
        raise ValueError("there is no world in it")
