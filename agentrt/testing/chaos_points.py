"""Await points: where a fault can be injected, counted while a run goes on.

A *point* is a moment at which a strand has suspended: at one of its awaits, or before its first step. Whatever the
kernel drives has them: thinks, runs, observers, the coroutines of goals, behaviors and leaves, performances, coroutines
of the world, on every host. They are numbered in the order in which the run comes to them; equal runs come to equal
points, so that a number names a moment.

While points are counted, each new strand is given a *probe* instead of its coroutine. The probe is a coroutine that
hands on what is sent and thrown, sees when the real one suspends, and can raise an error at its await or have it go on
later. That is all that is changed: nothing of it is there while nobody counts, and counting alone changes no run.

* The seam is ``host.strand``, by which the kernel makes strands on every host. Rejected: wrapping ``strand.stepper``
  (what steps a strand differs between hosts, and changes while a cancellation is delivered).
* Where thinks make their first steps without a strand (the plain host), the probe comes in the middle: the first wait
  of such a think is looked at when the ready queue comes to it.
* What was under way before the count began is not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from inspect import CORO_CREATED, getcoroutinestate, iscoroutine
from typing import TYPE_CHECKING, Any, NamedTuple

from agentrt.kernel.strand import Strand, StrandOwner

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel

__all__ = ["Point", "Points", "Probe"]


class Point(NamedTuple):
    """A moment at which a strand has suspended.

    Attributes:
        number: from 1, in the order of the run.
        tick: when.
        agent: whose strand it is; empty for a coroutine of the world.
        strand: what the strand is called.
        wait: which await of that strand, from 1; 0 before its first step.
    """

    number: int
    tick: int
    agent: str
    strand: str
    wait: int

    def __str__(self) -> str:
        wait = "before its first step" if self.wait == 0 else f"await {self.wait}"
        return f"point {self.number} (tick {self.tick}, {self.agent or 'the world'}, {self.strand!r}, {wait})"


class Probe(Coroutine[Any, Any, Any]):
    """A coroutine that hands everything on to another one.

    Args:
        coro: that one.
        points: counts its suspensions.
        agent: whose it is; empty for the world.

    Attributes:
        agent: as given.
        strand: whose coroutine it is.
        waits: how often it suspended.
    """

    __slots__ = ("_coro", "_error", "_kept", "_late", "_points", "agent", "strand", "waits")

    strand: Strand

    def __init__(self, coro: Coroutine[Any, Any, Any], points: Points, agent: str) -> None:
        self._coro: Any = coro
        self._points = points
        self.agent: str = agent
        self._error: BaseException | None = None
        self._late = 0
        self._kept: object = None  # what it was woken with, while it is late
        self.waits: int = 0

    # --- what a coroutine does ----------------------------------------------------------------------------------------

    def send(self, value: Any) -> Any:
        """Go on, or raise what is to be raised, or go on later."""
        if self._error is not None:
            return self.throw(self._error)
        if self._late:
            ticks, self._late = self._late, 0
            self._kept = value
            return ticks
        if value is None:
            value, self._kept = self._kept, None
        return self._suspended(self._coro.send(value))

    def throw(self, *error: Any) -> Any:
        """Raise an error at its await."""
        self._error = self._kept = None
        self._late = 0
        return self._suspended(self._coro.throw(*error))

    def close(self) -> None:
        """Close it."""
        self._coro.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        """As the real one's."""
        awaited: Generator[Any, Any, Any] = self._coro.__await__()
        return awaited

    def _suspended(self, command: Any) -> Any:
        self.waits += 1
        self._points.reached(self)
        return command

    def __getattr__(self, name: str) -> Any:
        """What tools look at in a coroutine (``cr_frame``, ``cr_await``, ``__qualname__``): the real one's."""
        return getattr(self._coro, name)

    # --- faults -------------------------------------------------------------------------------------------------------

    def fail(self, error: BaseException) -> None:
        """Have its await raise: now if it waits for the kernel, else when what it waits for has come.

        Args:
            error: what.
        """
        strand = self.strand
        self._error = error
        # The plain way out on each host: what they add to it is for cancellations, which this is not.
        if not strand.is_done and Strand.detach(strand):
            strand.kernel.ready.append(strand)

    def delay(self, ticks: int) -> None:
        """Have its await end later than it would.

        Args:
            ticks: by how many ticks.
        """
        self._late = ticks


class Points:
    """Counts the points of a run.

    Args:
        kernel: whose strands.
        at: called with each point and the probe of its strand, in the middle of the step; it must not step anything.

    Attributes:
        count: how many there were.
    """

    def __init__(self, kernel: Kernel, at: Callable[[Point, Probe], object]) -> None:
        self._kernel = kernel
        self._at = at
        self._host = kernel.host
        self._make: Callable[..., Strand] = kernel.host.strand
        self.count: int = 0
        vars(kernel.host)["strand"] = self._make_strand

    def close(self) -> None:
        """Count no more; strands that have a probe keep it."""
        vars(self._host).pop("strand", None)
        self._at = _nothing

    def _make_strand(
        self, kernel: Kernel, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None
    ) -> Strand:
        probe = Probe(coro, self, agent_of(owner))
        strand = probe.strand = self._make(kernel, probe, name, owner)
        if not iscoroutine(coro) or getcoroutinestate(coro) == CORO_CREATED:
            self.reached(probe)
        else:
            kernel.call_soon(self._first_wait, probe)
        return strand

    def _first_wait(self, probe: Probe) -> None:
        if probe.waits == 0 and not probe.strand.is_done:
            probe.waits = 1
            self.reached(probe)

    def reached(self, probe: Probe) -> None:
        """A strand has suspended.

        Args:
            probe: in its place.
        """
        self.count += 1
        self._at(Point(self.count, self._kernel.tick, probe.agent, probe.strand.name, probe.waits), probe)


def agent_of(owner: Any) -> str:
    """The name of the agent whose strand it is; empty for the world's.

    Args:
        owner: of the strand.
    """
    for way in ("frame.planner.name", "_body.name", "_owner._agent.name"):
        found = owner
        for part in way.split("."):
            found = getattr(found, part, None)
        if isinstance(found, str):
            return found
    return ""


def _nothing(_point: Point, _probe: Probe) -> None:
    pass
