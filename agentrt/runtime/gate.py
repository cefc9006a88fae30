"""The gate before each tick: what pauses a runtime, steps it, and changes its speed.

Whoever drives a runtime asks the gate before each tick. An open gate costs one look. A closed one lets through as many
ticks as were asked for by ``step``, and then none: ``runtime.run()`` waits in front of it, ``runtime.step()`` gives 0
back. So time stands still for the world and for nobody else. The gate decides *when* a tick runs and never what
happens in it: a run that was paused has the same trace as one that was not. Closing a runtime does not ask, and while
an agent has to end because its ``run()`` was cancelled, ``runtime.run()`` and ``agent.run()`` do not ask either.

Every method can be called from any thread.
"""

from __future__ import annotations

from collections.abc import Callable

from agentrt.kernel.kernel import Callbacks
from agentrt.words import words_of


class Gate:
    """The gate of one runtime."""

    __slots__ = ("_attendants", "_steps", "is_closed", "pace", "reason")

    def __init__(self) -> None:
        self.is_closed: bool = False  # whether ticks run only as ``step`` asks for them
        self.reason: str = ""  # why it is closed, in words; empty while it is open
        self.pace: float = 1.0  # the speed, for who reads it in every tick; set it by ``speed``, which looks at it
        self._attendants: Callbacks[Callable[[], object]] = Callbacks()
        self._steps = 0

    @property
    def speed(self) -> float:
        """What multiplies the pace of ``runtime.run``: a number above 0, or ``math.inf``."""
        return self.pace

    @speed.setter
    def speed(self, speed: float) -> None:
        if not speed > 0:
            raise ValueError(f"speed is {speed!r}: it takes a number above 0, or math.inf. To stop, pause the gate.")
        self.pace = speed

    def pause(self, reason: str = "paused") -> None:
        """Let no more ticks begin; one that runs ends."""
        self._steps = 0
        self.reason = words_of(reason)
        self.is_closed = True

    def resume(self) -> None:
        self.is_closed = False
        self.reason = ""
        self._steps = 0

    def step(self, ticks: int = 1) -> None:
        """Let a number of ticks run, and pause again; pauses a runtime that is not paused."""
        if ticks < 1:
            raise ValueError(f"step({ticks!r}): it takes a number of ticks of 1 or more")
        if not self.is_closed:
            self.pause("stepping")
        self._steps += ticks

    def attend(self, fn: Callable[[], object]) -> Callable[[], None]:
        """Have a function called while somebody stands before the closed gate, again and again, on the driver's thread.

        What wants to look at a paused runtime is served like this. It must not raise, and may open the gate. Returns a
        function that ends it; calling that twice does nothing.
        """
        return self._attendants.add(fn)

    def admit(self) -> bool:
        """Whether the next tick may run; asked once for each tick, by whoever drives."""
        if not self.is_closed:
            return True
        for attendant in self._attendants:
            attendant()  # before the steps are looked at: it may have asked for some
        if self._steps > 0:
            self._steps -= 1
            return True
        return not self.is_closed

    def __repr__(self) -> str:
        state = f"closed: {self.reason}, {self._steps} steps to go" if self.is_closed else "open"
        return f"<Gate: {state}, speed {self.speed:g}>"
