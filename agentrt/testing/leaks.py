"""What must be gone when an agent has ended, and when a runtime was closed.

The trace tells what began and ended; this looks at what is left in the books: control flags, strands, performances,
places of the plan, requests that are being solved, workers of tasks, connections to signals, timers, leases, calls. It
asks at the end of a life and at the end of the run, and changes nothing.

Connections are seen by having ``Signal.add`` noted while it watches; only those count that the library itself
opened for an action (listeners, protected arguments). What a user's code connects for itself is its own affair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from agentrt.kernel.calls import Timer, name_of
from agentrt.kernel.signals import Connection, Signal
from agentrt.testing.invariants import Violation

if TYPE_CHECKING:
    from agentrt.activity.task_group import TaskGroup
    from agentrt.agent import Agent
    from agentrt.runtime import Runtime
    from agentrt.strategy.gameplay import Gameplay

__all__ = ["Leaks"]

_OURS = "agentrt."
_LASTING = ("agentrt.activity.task_work", "agentrt.body.leases")  # as long as a task, or its lease, is there


class Leaks:
    """Looks for what is left.

    Args:
        runtime: whose.

    Attributes:
        violations: what was found so far.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.violations: list[Violation] = []
        self._lives: dict[str, Agent] = {}
        self._all: dict[Agent, None] = {}
        self._groups: dict[TaskGroup, None] = {}
        self._connections: list[Connection] = []
        self._leases = runtime.leases.left.connect(lambda lease: self._found("nothing left", "", f"{lease!r}"))
        self._add = Signal.add
        self._patch(self._noting(self._add))

    def _patch(self, add: Callable[[Signal, Connection], None]) -> None:
        setattr(Signal, "add", add)  # noqa: B010 - the type checkers would object to the assignment

    def _noting(self, add: Callable[[Signal, Connection], None]) -> Callable[[Signal, Connection], None]:
        def noted(signal: Signal, connection: Connection) -> None:
            add(signal, connection)
            function = connection._function
            module = getattr(getattr(function, "func", function), "__module__", "")  # of a part: the whole function's
            if module.startswith(_OURS) and module not in _LASTING:
                self._connections.append(connection)

        return noted

    def stop(self) -> None:
        """Note no more connections."""
        self._patch(self._add)
        self._leases.close()

    def _found(self, rule: str, agent: str, text: str) -> None:
        self.violations.append(Violation(rule, self._runtime.tick, agent, "", text))

    # --- an agent -----------------------------------------------------------------------------------------------------

    def look(self) -> list[str]:
        """Look at who came and who has ended; call it after each tick.

        Returns:
            The names of those who have ended since the last time.
        """
        present = {agent.name: agent for agent in self._runtime.agents}
        for agent in present.values():
            self._all[agent] = None
            for group in agent.task_groups:
                self._groups[group] = None
        ended = [name for name in self._lives if name not in present]
        for name in ended:
            agent = self._lives[name]
            if agent.runtime is None:
                for text in _left_of(agent):
                    self._found("nothing left", name, text)
        self._lives = present
        return ended

    # --- the runtime --------------------------------------------------------------------------------------------------

    def closed(self) -> None:
        """The runtime was closed: look at all that is left."""
        runtime = self._runtime
        kernel = runtime.kernel
        texts: list[str] = [f"{agent.name} has not ended" for agent in runtime.agents]
        if kernel.live:
            texts.append(f"{kernel.live} strands have not ended: {kernel.strays!r}")
        texts += [f"a coroutine was abandoned: {coro!r}" for coro in kernel.abandoned]
        texts += [f"a call is still under way: {call.what}" for call in runtime.calls.running]
        for group in self._groups:
            for task in group.tasks:
                texts += [f"{unit!r} still is a worker of {task!r}" for unit in task.working]
                texts += [f"{unit!r} still considers {task!r}" for unit in task.units]
        for connection in self._connections:
            if connection._signal is not None:
                texts.append(f"a connection is still open: {_name_of(connection)}")
        texts += [f"a timer is still set: {name}" for name in self._timers()]
        for lease in runtime.leases._leases.values():
            if any(lease.owner is agent or lease.owner is agent.entity for agent in self._all):
                texts.append(f"{lease!r}")
        for text in texts:
            self._found("nothing left", "", text)

    def _timers(self) -> Iterator[str]:
        """Timers that the library set and that are still to come; the world may have some of its own."""
        for due, bucket in self._runtime.kernel.agenda.buckets.items():
            for entry in bucket:
                if isinstance(entry, Timer) and entry.waiting == due:
                    module = getattr(entry.fn, "__module__", "") or ""
                    if module.startswith(_OURS):
                        yield entry.name


def _left_of(agent: Agent) -> Iterator[str]:
    """What an agent that has ended still has, in words."""
    flags = agent.flags
    if not flags.is_free:
        yield f"control flags: {flags.holds()!r}, waiting: {flags.waiting()!r}"
    for what, strands in (
        ("of a driver", agent.driver_strands()),
        ("that an action lent", agent.lent_strands()),
        ("of an observer", agent.observer_strands()),
    ):
        for strand in strands:
            yield f"a strand {what}: {strand!r}"
    planner = agent.planner
    if planner is not None:
        for performance in planner.performances:
            if not performance.is_over:  # else whoever awaits it has not gone on yet
                yield f"a performance: {performance!r}"
        for unit in planner.execution.runs:
            yield f"on the stack of what runs: {unit!r}"
        if planner.busy_frames:
            yield f"{planner.busy_frames} places of its plan that are not idle"
        for place in planner.group_places():
            yield f"a place where a task group is considered: {place!r}"
    if agent._gameplay is not None:
        yield from _unsolved(agent._gameplay)


def _unsolved(gameplay: Gameplay) -> Iterator[str]:
    """What an agent that has ended still has solved, in words."""
    for solving in gameplay.running:
        yield f"a request is still being solved: {solving}"
    for root in gameplay.finished:
        for _, node in root.walk():
            if node.is_open:
                yield f"of a request that is over, a node is open: {node!r}"


def _name_of(connection: Connection) -> str:
    """What is connected: of a listener of an action, its author's function."""
    function: Any = connection._function
    return name_of(function.args[0] if isinstance(function, partial) and function.args else function)
