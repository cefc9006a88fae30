"""An agent: an entity, what it knows, and the drivers that make it act.

What it knows, and how it learns and forgets, stands in ``learning``, and how other models drive it in ``driven``; here
it lives: it joins a runtime, acts, and ends.

The agent itself costs nothing while its actions sleep: there is no task of its own, only the strands of the actions
that think and run, and those of its observers. Besides its plan, other models can drive it (``attach``), in each tick
before the plan. It ends in this order: its drivers leave, the plan is unwound, the observers are stopped and clean up,
what others have it perform is unwound, and then it leaves its runtime and the task groups that it shares with others.
When its entity is destroyed it ends by itself, at the next intake; one whose entity is gone before does not begin.

Source: seed 001, "Injecting actions"; "Overview of the AI system", intelligent entity.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING, Any

from agentrt.activity.current import StateReader, read_entity
from agentrt.activity.knowledge import index_actions
from agentrt.activity.planner import Planner
from agentrt.body.entity import destroyed_signal, is_gone
from agentrt.body.flags import FlagLedger
from agentrt.driven import Driven
from agentrt.errors import ENDS_PROGRAM, AgentKilled, NotRunningError
from agentrt.faults import Fault
from agentrt.injection import Injectable, Injection
from agentrt.kernel.rng import Stream, derive_seed
from agentrt.kernel.signals import Connection, Event, Signal
from agentrt.kernel.trace import Event as TraceEvent
from agentrt.kernel.trace import TraceRecord
from agentrt.logs import Log, threshold_of
from agentrt.snapshot import AgentSnapshot, explain, snapshot_agent
from agentrt.status import key_text, status_of
from agentrt.words import type_name, words_of

if TYPE_CHECKING:
    from agentrt.activity.action import Action
    from agentrt.activity.expected import CurrentFields
    from agentrt.activity.search import SearchWork
    from agentrt.body.driver import Driver
    from agentrt.kernel.strand import Strand
    from agentrt.packs.registry import Registry
    from agentrt.runtime import Runtime

__all__ = ["TOP", "Agent", "Injectable", "Injection"]

_GONE = "its entity was destroyed"
_LONGEST_NAME = 200  # characters; it stands in every record and in the path of every view

TOP = "agentrt:top"
"""The activity that every agent performs all the time, unless it says otherwise."""


class Agent(Driven):
    """An entity that acts.

    Args:
        entity: any object; its ``name`` is the agent's unless one is given. The packs that it lists as its own
            (``ai_packs``, see ``agentrt.bearers``) are known from the start.
        name: what traces and tools call it. A runtime adds a number if there ever was one of that name.
        actions: action classes that it knows from the start.
        packs: packs, aliases of packs, or contents of packs that it knows from the start.
        top: the activity that it performs all the time.
        read_state: how to read a field of the entity's state for CURRENT.
        expected: the fields of CURRENT with their types; None for any field.
        registry: where aliases are looked up; by default what the installed packages offer.
        seed: of its own random numbers; None takes the runtime's seed and its name.
        drivers: other models that drive it, besides its plan; see ``attach``.
        precedence: of its plan's claims for control flags; those of its drivers have one of their own.

    Attributes:
        runtime: the runtime that it is part of, or None.
        number: its entity's ``id``, if that is a number, else the number of its arrival in its runtime, from 1; 0
            before.
        flags: its ledger of control flags.
        precedence: as given.
        is_ending: whether it was told to end.
        has_ended: set when it has left its runtime or was killed.
        error: why it was killed, or None.
    """

    __slots__ = (
        "__weakref__",
        "_bond",
        "_log_level",
        "_random",
        "_read_state",
        "_seed",
        "_signals",
        "error",
        "expected",
        "flags",
        "given_name",
        "has_ended",
        "top",
    )

    planner: Planner | None

    def __init__(
        self,
        entity: Any,
        *,
        name: str | None = None,
        actions: tuple[type[Action], ...] | list[type[Action]] = (),
        packs: tuple[Injectable, ...] | list[Injectable] = (),
        top: str = TOP,
        read_state: StateReader = read_entity,
        expected: type[CurrentFields] | None = None,
        registry: Registry | None = None,
        seed: int | str | None = None,
        drivers: Iterable[Driver] = (),
        precedence: int = 0,
    ) -> None:
        self.given_name: str = words_of(
            name or getattr(entity, "name", None) or type_name(entity).lower(), _LONGEST_NAME
        )
        self.top: str = top
        self.flags: FlagLedger = FlagLedger()
        self.has_ended: Event | None = None
        self.error: AgentKilled | None = None
        self.expected: type[CurrentFields] | None = expected
        self._read_state = read_state
        self._seed = seed
        self._random: Stream | None = None
        self._log_level: str | None = None
        self._signals: dict[str, Signal] | None = None
        self._bond: Connection | None = None  # to its entity's end, while it lives
        super().__init__(entity, self.given_name, (*packs, *actions), registry)
        self._begin_driven(drivers, precedence)

    # --- living -------------------------------------------------------------------------------------------------------

    @property
    def is_alive(self) -> bool:
        """Whether it is part of a runtime and has not ended."""
        return self.planner is not None and self.has_ended is not None and not self.has_ended.is_set

    @property
    def random(self) -> Stream:
        """Its own stream of random numbers, from its own seed, or else from the runtime's seed and its name.

        Raises:
            NotRunningError: it is not part of a runtime.
        """
        if self._random is None:
            if self.runtime is None:
                raise NotRunningError(
                    "an agent has random numbers only in a runtime. Add it first: runtime.add(agent)."
                )
            own = self._seed
            self._random = (
                self.runtime.stream(f"agent {self.name}") if own is None else Stream(derive_seed(own, "agent"))
            )
        return self._random

    @property
    def search(self) -> SearchWork | None:
        """The search work of its runtime, which bounds what all agents look through in a tick; None outside one."""
        return None if self.runtime is None else self.runtime.search

    @property
    def read_state(self) -> StateReader:
        """How a field of the entity's state is read for CURRENT."""
        return self._read_state

    def signal(self, name: str) -> Signal:
        """A signal of its entity; made when it is first asked for. ``ctx.signals[name]`` is the same one.

        An entity of a type without a method ``signal(name)`` has no signals; the agent keeps them for it.

        Args:
            name: what happens to the entity, such as ``"ready_to_pose"``.

        Returns:
            The same signal each time.
        """
        find = getattr(self.entity, "signal", None)
        if callable(find):
            found = find(name)
            if isinstance(found, Signal):
                return found
        if self._signals is None:
            self._signals = {}
        kept = self._signals.get(name)
        if kept is None:
            kept = self._signals[name] = Signal()
        return kept

    def observer_strands(self) -> list[Strand]:
        """The strands of its observers that have not ended, in the order in which they began."""
        return [] if self._belongings is None else self._belongings.observers.strands

    @property
    def running_observers(self) -> tuple[str, ...]:
        """The aliases of its observers that have not ended, in the order in which they began."""
        return () if self._belongings is None else self._belongings.observers.running

    # --- the end ------------------------------------------------------------------------------------------------------

    def end(self, reason: str) -> None:
        """End, for good; called at an intake, by ``Runtime.remove``.

        Args:
            reason: why, in words.
        """
        planner = self.planner
        if planner is not None and self.runtime is not None and not self.is_ending:
            reason = words_of(reason)
            self.is_ending = True
            self._round_changed()
            self._leave_drivers(reason, lambda: planner.execution.end(reason))

    def _end(self, reason: str) -> None:
        """Its plan is unwound for good: stop its drivers and observers, and leave when they have ended."""
        self.is_ending = True
        if self._gameplay is not None:
            self._gameplay.triggers.end()
        self._round_changed()
        self._leave_drivers(reason, lambda: self._end_observers(reason))

    def _end_observers(self, reason: str) -> None:
        if self._belongings is None:
            self._end_performances(reason)
        else:
            self._belongings.observers.leave(reason, lambda: self._end_performances(reason))

    def _end_performances(self, reason: str) -> None:
        """What coroutines of the world have it perform ends last."""
        assert self.planner is not None
        for performance in self.planner.performances:
            if not performance.is_over:
                performance.then = lambda: self._end_performances(reason)
                performance.end(reason)
                return  # one after the other
        self._leave()

    def _leave(self) -> None:
        """It leaves its runtime, and the groups that it shares with others."""
        for group in tuple(self._groups or ()):
            if group.owner is not self:
                group.remove(self)
        assert self.runtime is not None
        if self._bond is not None:
            self._bond.close()
        self.runtime.agent_ended(self)
        if self._belongings is not None:
            self._belongings.settle_quietly()  # what was to be taken at an intake that never came

    def join(self, runtime: Runtime, name: str, number: int) -> None:
        """Become part of a runtime; called by ``Runtime.add``. Thinking begins at the next intake.

        Args:
            runtime: the runtime.
            name: a name that no other agent there has.
            number: how many agents have come there so far.
        """
        for group in self._groups or ():
            if group.runtime is None:
                group.begins_to_act(runtime.tick)
        self.runtime: Runtime | None = runtime
        self.name = name
        self.error = None
        self.has_ended = Event()
        if self._log_level is not None:
            runtime.logs.set_agent(name, self._log_level)
        self._random = None
        self.is_ending: bool = False
        own = _id_of(self.entity)
        self.number: int = own if isinstance(own, int) else number
        self.planner = planner = Planner(runtime.kernel, self, self.flags, self.top, self._read_state)
        planner.precedence = self.precedence
        planner.learn(index_actions(self.actions))
        if self._groups:
            planner.learn_groups(self._groups)
        if self._belongings is not None:
            self._belongings.observers.reset()
        destroyed = destroyed_signal(self.entity)
        self._bond = None if destroyed is None else destroyed.connect(self._entity_destroyed)
        runtime.post(self._begin)

    def _entity_destroyed(self, _entity: object) -> None:
        if self.runtime is not None:
            self.runtime.remove(self, _GONE)

    def _begin(self) -> None:
        if self.planner is not None:
            if self.planner.trace.on:
                self.planner.record("", TraceEvent.ADDED, ())
            if is_gone(self.entity):
                self.end(_GONE)
                return
            if self._belongings is not None:
                self._belongings.settle_quietly()  # its observers begin
            # What was told to its groups since it was added counts from the first thought on.
            for group in self._groups or ():
                group.publish()
            self._take_up_groups()
            self._join_drivers()
            if self._gameplay is not None:
                self._gameplay.triggers.begin()
            self.planner.kernel.call_soon(self.planner.execution.begin)  # after the drivers, as in every other tick

    async def run(self) -> None:
        """Act until the agent ends: it is removed or killed.

        Any number of agents may be run like this at a time. One of the callers drives the runtime, in turn, unless
        ``runtime.run()`` does. An agent that is in no runtime shares one with the others that are run like this on the
        same event loop; it is closed when the last of them has ended.

        When this is cancelled, the agent is removed, and all its actions are stopped before the cancellation is passed
        on. If nobody else is left to drive the runtime then, it is closed.

        Raises:
            AgentKilled: its planner gave up.
        """
        if self.runtime is not None:
            await self.runtime.run_agent(self)
        else:
            from agentrt.alone import run_alone  # a runtime composes agents

            await run_alone(self)

    # --- what the planner tells ---------------------------------------------------------------------------------------

    def planner_fault(self, text: str, path: str, error: BaseException, is_new: bool = True) -> None:
        """A hook raised: tell of it with its place, and log it the first time."""
        runtime = self.runtime
        if is_new:
            self.logger(path).error(text, tick=None if runtime is None else runtime.tick, exc_info=error)
        if runtime is not None:
            runtime.faults.tell(Fault(text, error, runtime.tick, self.name, path))

    def planner_killed(self, aborts: int, reason: str, path: str) -> None:
        """The planner gave up."""
        runtime = self.runtime
        assert runtime is not None
        log = self.logger(path)
        if runtime.restart is not None:
            assert self.planner is not None
            seconds = runtime.restart.seconds(self.planner.execution.kills)
            log.warning("the planner gave up", tick=runtime.tick, aborts=aborts, reason=reason, again_in=seconds)
            self.planner.execution.restart(seconds)
            return
        self.error = AgentKilled(aborts, reason, agent=self.name, path=path, tick=runtime.tick)
        log.error("the planner was killed", tick=runtime.tick, aborts=aborts, reason=reason)
        runtime.faults.tell(Fault("the planner was killed", self.error, runtime.tick, self.name, path))
        self._end("the agent was killed")

    def planner_ended(self) -> None:
        """The planner was told to end, and has."""
        runtime = self.runtime
        assert runtime is not None
        if runtime.trace.on:
            runtime.trace.emit(TraceRecord(runtime.tick, self.name, "", TraceEvent.REMOVED))
        self._end("the agent ended")

    def logger(self, path: str) -> Log:
        """A logger bound to the agent and a place in its plan; whatever it says carries the tick.

        Args:
            path: the place.
        """
        return Log(self, {"agent": self.name, "path": path})

    def log_state(self) -> tuple[int, int | None]:
        """From which level on its log speaks, and the tick; for its loggers."""
        runtime = self.runtime
        level = self._log_level
        if runtime is None:
            return threshold_of(level), None
        return threshold_of(runtime.log_level if level is None else level), runtime.tick

    @property
    def log_level(self) -> str | None:
        """From which level on its trace and its own loggers go to the log; None: as its runtime says. See ``logs``."""
        return self._log_level

    @log_level.setter
    def log_level(self, level: str | None) -> None:
        threshold_of(level)
        self._log_level = level
        if self.runtime is not None:
            self.runtime.logs.set_agent(self.name, level)

    def call(self, fn: Any, args: tuple[Any, ...]) -> Awaitable[Any]:
        """Call something outside the game; see ``Context.call``."""
        assert self.runtime is not None
        return self.runtime.call(fn, *args)

    # --- for people ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> AgentSnapshot:
        """What it is doing now, as plain data."""
        return snapshot_agent(self)

    def explain(self) -> str:
        """Why it does what it does, and why not something else, in words."""
        return explain(self.snapshot())

    @property
    def status_text(self) -> str:
        """What it does, for its players: the text of the innermost running action that has one."""
        if self.planner is None:
            return ""
        status = status_of(self.planner)
        return key_text(status) if self.runtime is None else self.runtime.texts.text(status)

    def __repr__(self) -> str:
        state = "killed" if self.error is not None else "alive" if self.is_alive else "not running"
        return f"<Agent {self.name!r}: {state}, knows {len(self.actions)} actions>"


def _id_of(entity: object) -> object:
    """What an entity calls itself; None if it cannot say."""
    try:
        return getattr(entity, "id", None)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # a property of the author's: it must not leave an agent that is half in its runtime
        return None
