"""Observers: coroutines of an agent that watch its world, and typically create tasks when something is the case.

An observer runs as a strand of its own from the intake after its injection until nothing that names it is injected any
more, or until its agent ends. It is cancelled then; its ``finally`` blocks run, and the agent counts as ended only when
all of its observers have. It may await whatever the host of the runtime can wait for.

Rules:

* One that returns is not begun again, and one that raises takes nobody with it: the error is recorded and logged once,
  under the path ``observers/<alias>``.
* One that is wanted again while it still cleans up is begun anew when it has ended; there are never two of one alias.
* An agent that joins a runtime again begins all of them from the start.

Source: seed 001, "Injecting actions", Observers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentrt.agent import Agent
    from agentrt.injection import GivenObserver
    from agentrt.kernel.strand import Strand

__all__ = ["Observers"]


class _Observer:
    """One of them. ``strand`` is None once it has ended."""

    __slots__ = ("_owner", "alias", "strand")

    def __init__(self, owner: Observers, alias: str) -> None:
        self._owner = owner
        self.alias: str = alias
        self.strand: Strand | None = None

    def on_strand_end(self, strand: Strand, result: Any, error: BaseException | None) -> None:
        """Its strand ended."""
        self.strand = None
        self._owner.ended(self, strand, error)


class Observers:
    """The observers of one agent.

    Args:
        agent: whose they are.
        settled: called when one that was told to stop has ended.
    """

    __slots__ = ("_agent", "_begun", "_settled", "_then")

    def __init__(self, agent: Agent, settled: Callable[[], object]) -> None:
        self._agent = agent
        self._settled = settled
        self._begun: dict[str, _Observer] = {}
        self._then: Callable[[], object] | None = None

    @property
    def strands(self) -> list[Strand]:
        """Those that have not ended, in the order in which they began."""
        return [one.strand for one in self._begun.values() if one.strand is not None]

    @property
    def running(self) -> tuple[str, ...]:
        """The aliases of those that have not ended, likewise."""
        return tuple(alias for alias, one in self._begun.items() if one.strand is not None)

    @property
    def is_stopping(self) -> bool:
        """Whether one that was told to stop has not ended."""
        return any(strand.stop_reason is not None for strand in self.strands)

    def keep(self, wanted: Mapping[str, GivenObserver], reason: str) -> None:
        """Stop all but the wanted ones.

        Args:
            wanted: by alias.
            reason: why, in words.
        """
        for alias, one in tuple(self._begun.items()):
            if alias not in wanted:
                if one.strand is None:
                    del self._begun[alias]
                else:
                    one.strand.stop(reason)

    def begin(self, wanted: Mapping[str, GivenObserver]) -> None:
        """Begin the wanted ones that were not begun; their first steps come in this tick, in order.

        Args:
            wanted: by alias.
        """
        runtime = self._agent.runtime
        if runtime is None or self._then is not None:
            return
        for alias, given in wanted.items():
            if alias not in self._begun:
                self._begun[alias] = one = _Observer(self, alias)
                name = f"{self._agent.name}: observers/{alias}"
                one.strand = runtime.kernel.spawn(given.observe(self._agent), name, one)

    def reset(self) -> None:
        """The agent joins a runtime: all begin from the start."""
        self._begun = {}
        self._then = None

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """The agent ends: stop them all.

        Args:
            reason: why, in words.
            then: called when none is left; at once if there is none.
        """
        self._then = then
        strands = self.strands
        for strand in strands:
            strand.stop(reason)
        if not strands:
            then()

    def ended(self, one: _Observer, strand: Strand, error: BaseException | None) -> None:
        """One of them ended; called by it.

        Args:
            one: the observer.
            strand: its strand.
            error: what it raised.
        """
        if error is not None and not isinstance(error, strand.kernel.host.cancelled_type):
            planner = self._agent.planner
            assert planner is not None  # it has been in a runtime
            planner.report(f"observers/{one.alias}", "observe", error)
        if strand.stop_reason is not None and self._begun.get(one.alias) is one:
            del self._begun[one.alias]
        then = self._then
        if then is None:
            if strand.stop_reason is not None:
                self._settled()
        elif not self.strands:
            then()

    def __repr__(self) -> str:
        return f"<Observers: {', '.join(self._begun) or 'none'}>"
