"""Faults: what chaos does at an await point, and how it chooses.

============ ========================================================================================================
``cancel``   the strand is told to stop, as if whoever runs it had thought better of it
``uproot``   its task is cancelled in the event loop, past all of our shields; asyncio only, and nothing elsewhere
``raise``    what it awaits raises: now if it waits for the kernel, else when what it waits for has come
``burst``    it raises what nobody foresees: no ``Exception``, or an error without a text, or both
``delay``    what it awaits comes some ticks later
``destroy``  the entity of its agent is destroyed
``remove``   its agent is removed from the runtime, at the next intake
============ ========================================================================================================

Each comes at one of three moments: ``inside``, on the strand's own stack, while it suspends (what it called turned
against it); ``soon``, in the same tick, when the ready queue comes to it (somebody else did it); ``intake``, at the
next one (the outside did it). A strand of the world has no agent: there the fault hits an agent that is chosen by the
number of the point. What cannot be done (to destroy an entity without ``destroy``, to raise before the first await) is
not counted.

What bursts is chosen by the number of the point: a ``BaseException`` and an ``Exception`` whose texts cannot be made, a
``CancelledError`` of asyncio that nobody asked for, and a group of the first. Rejected: ``GeneratorExit`` at an await.
Python closes what is awaited instead of raising there, so that no clean-up may wait; that is no mistake of anybody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from agentrt.kernel.rng import Stream, derive_seed

if TYPE_CHECKING:
    from agentrt.agent import Agent
    from agentrt.runtime import Runtime
    from agentrt.testing.chaos_points import Point, Probe

__all__ = [
    "FAULTS", "MOMENTS", "Burst", "Fault", "MuteError", "Plan", "RandomPlan", "bursting", "check_faults", "inject"
]  # fmt: skip

FAULTS: Final = ("cancel", "uproot", "raise", "burst", "delay", "destroy", "remove")
MOMENTS: Final = ("inside", "soon", "intake")

_REASON = "chaos"


class _Mute:
    """Has no text."""

    def __str__(self) -> str:
        raise ArithmeticError("there is no text of it")

    __repr__ = __str__


class MuteError(_Mute, Exception):
    """An error whose text cannot be made."""


class Burst(_Mute, BaseException):
    """No ``Exception``, and without a text."""


class Fault(NamedTuple):
    """One fault.

    Attributes:
        kind: one of ``FAULTS``.
        moment: one of ``MOMENTS``.
        ticks: of a delay: by how many ticks.
    """

    kind: str
    moment: str = "soon"
    ticks: int = 1

    def __str__(self) -> str:
        return f"{self.kind} by {self.ticks}" if self.kind == "delay" else f"{self.kind}, {self.moment}"


Plan = Callable[["Point"], Fault | None]
"""Says what is to happen at a point; None for nothing."""


def check_faults(faults: Sequence[str]) -> None:
    """Raise if one of them is none.

    Args:
        faults: names.

    Raises:
        ValueError: there is no such fault, or none at all.
    """
    unknown = [name for name in faults if name not in FAULTS]
    if unknown or not faults:
        raise ValueError(f"faults is {tuple(faults)!r}: choose from {', '.join(FAULTS)}")


class RandomPlan:
    """A fault now and then, from a seed.

    Args:
        seed: of the choice.
        rate: how likely a point is to be hit, from 0 to 1.
        faults: which kinds; one that is named twice comes twice as often.
    """

    __slots__ = ("_faults", "_rate", "_stream")

    def __init__(self, seed: int | str, rate: float, faults: Sequence[str]) -> None:
        self._stream = Stream(derive_seed(seed, "chaos"))
        self._rate = rate
        self._faults = tuple(faults)

    def __call__(self, point: Point) -> Fault | None:
        """What is to happen at a point."""
        stream = self._stream
        if stream.random() >= self._rate:
            return None
        return Fault(stream.choice(self._faults), stream.choice(MOMENTS), stream.between(1, 4))


def bursting(number: int) -> BaseException:
    """What ``burst`` raises at a point.

    Args:
        number: of the point.
    """
    turn = number % 4
    if turn == 1:
        return MuteError()
    if turn == 2:
        return asyncio.CancelledError("nobody asked for it")
    if turn == 3:
        return BaseExceptionGroup("a burst of several", [Burst(), MuteError()])
    return Burst()


def inject(runtime: Runtime, fault: Fault, point: Point, probe: Probe, error: Callable[[str], BaseException]) -> bool:
    """Do it.

    Args:
        runtime: the runtime.
        fault: what.
        point: where.
        probe: of the strand there.
        error: makes what ``raise`` raises, from the point in words.

    Returns:
        Whether it can be done there.
    """
    kernel, strand = runtime.kernel, probe.strand
    act: Callable[[], object]
    if fault.kind == "delay":
        probe.delay(fault.ticks)
        return True
    if fault.kind == "cancel":
        act = partial(strand.stop, _REASON)
    elif fault.kind == "uproot":
        cancel = getattr(strand, "cancel", None)
        if cancel is None:
            return False
        act = partial(cancel, _REASON)
    elif fault.kind == "raise" or fault.kind == "burst":
        if point.wait == 0:
            return False  # nothing is awaited yet
        act = partial(probe.fail, error(str(point)) if fault.kind == "raise" else bursting(point.number))
    else:
        agent = _victim(runtime, point)
        if agent is None:
            return False
        if fault.kind == "remove":
            runtime.remove(agent, _REASON)
            return True
        destroy = getattr(agent.entity, "destroy", None)
        if not callable(destroy):
            return False
        act = destroy
    if fault.moment == "intake":
        kernel.post(act)
    elif fault.moment == "inside" and kernel.current is strand and fault.kind not in ("raise", "burst"):
        act()
    else:
        kernel.call_soon(act)
    return True


def _victim(runtime: Runtime, point: Point) -> Agent | None:
    agents = runtime.agents
    for agent in agents:
        if agent.name == point.agent:
            return agent
    return None if point.agent or not agents else agents[point.number % len(agents)]
