"""Feeding: what came in from outside comes in again, out of a recording.

Two rules make a run repeat itself:

* What was sent, and what the outside answered, stands at the very place of the very intake where it stood in the
  recorded run. What the run posts to itself stands there already when the tick is about to begin, in the same order as
  then; what is fed goes in between, from the first place to the last.
* Nothing is called. A call waits until its result comes in; which call a result belongs to says its number, and the
  name of the function has to be the same, or this is another run.

A feeder never guesses. If the place for an input is not there, or nobody made the call that a result is for, it says so
in words before the tick begins, and feeds nothing that comes after.

Functions that were posted from outside cannot be fed: nobody could write them down. They are counted, because they are
the likely cause when the runs part.

Source: design section 7, "Journal and replay".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from agentrt.record.values import Unkept

if TYPE_CHECKING:
    from agentrt.calls import OutsideCall
    from agentrt.record.recording import RecordedInput
    from agentrt.runtime import Runtime

__all__ = ["Feeder"]


class Feeder:
    """Feeds one runtime; it answers the runtime's calls from the moment on when it is made.

    Args:
        runtime: whose intakes it feeds; nothing has been driven.
        inputs: what came in, in ascending order of tick and place.

    Attributes:
        runtime: as given.
        sent: how many inputs it has fed.
        answered: how many results of calls.
        opaque: the functions posted from outside that it had to leave out: the tick and the name, the first few.
        left_out: how many of them there were.
        calls: the calls that wait for their result, by their numbers.
    """

    def __init__(self, runtime: Runtime, inputs: Iterable[RecordedInput]) -> None:
        self.runtime: Runtime = runtime
        self.sent: int = 0
        self.answered: int = 0
        self.opaque: list[tuple[int, str]] = []
        self.left_out: int = 0
        self.calls: dict[int, OutsideCall] = {}
        self._inputs: Iterator[RecordedInput] = iter(inputs)
        self._next = next(self._inputs, None)
        runtime.calls.answers = self

    def close(self) -> None:
        """Feed nothing more, and let go of the recording."""
        self._next, self._inputs = None, iter(())

    def asked(self, call: OutsideCall) -> bool:
        """The run calls something outside: the result will be fed.

        Args:
            call: which call.
        """
        self.calls[call.number] = call
        return True

    def feed(self) -> str:
        """Put what came in before the next tick into its intake.

        Returns:
            What stands against it, in words; an empty string if everything has its place.
        """
        tick = self.runtime.tick + 1
        while self._next is not None and self._next.tick <= tick:
            one = self._next
            self._next = next(self._inputs, None)
            problem = self._feed(one)
            if problem:
                return problem
        return ""

    def _feed(self, one: RecordedInput) -> str:
        if one.kind == "posted":
            self.left_out += 1
            if len(self.opaque) < _MOST_TOLD:
                self.opaque.append((one.tick, one.name))
            return ""
        if one.kind == "sent":
            self.sent += 1
            return self.insert(one.place, self.runtime.take, (one.name, one.args, True), f"the input {one.name!r}")
        return self._answer(one)

    def _answer(self, one: RecordedInput) -> str:
        what = f"the result of {one.name} (call {one.number})"
        call = self.calls.get(one.number)
        if call is None:
            return self.nobody_asked(f"{what} comes in, but the replay has not made this call")
        if one.name and call.what != one.name:  # a scripted answer is for whatever is called
            return self.nobody_asked(f"{what} comes in, but call {one.number} of the replay is of {call.what}")
        if isinstance(one.value, Unkept):
            return f"{what} comes in, a {one.value.type_name}, which the recording could not keep: {one.value.reason}"
        del self.calls[one.number]
        self.answered += 1
        return self.insert(one.place, call.deliver, (one.value, one.error), what)

    def nobody_asked(self, problem: str) -> str:
        """A result comes in that no call of this run waits for.

        Args:
            problem: that, in words.

        Returns:
            What stands against going on; an empty string if nothing does.
        """
        return problem

    def insert(self, place: int, fn: Callable[..., object], args: tuple[Any, ...], what: str) -> str:
        """Put something to its place in the next intake.

        Args:
            place: its place, from 0.
            fn: what the intake calls.
            args: what with.
            what: what it is, in words.

        Returns:
            What stands against it, in words; an empty string if the place is there.
        """
        inbox = self.runtime.kernel.inbox
        if place > len(inbox):
            return f"{what} comes in as number {place + 1} of the intake, but only {len(inbox)} posts come before it"
        inbox.insert(place, (fn, args))
        return ""


_MOST_TOLD = 5
