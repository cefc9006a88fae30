"""An agent: an entity, what it knows, and the drivers that make it act.

What it knows, and how it learns and forgets, stands in ``learning``, and how other models drive it in ``driven``; here
it lives: it joins a runtime, acts, and ends.

The agent itself costs nothing while its actions sleep: there is no task of its own, only the strands of the actions
that think and run, and those of its observers. Besides its plan, other models can drive it (``attach``), in each tick
before the plan. It ends in this order: its drivers leave, the plan is unwound, the observers are stopped and clean up,
what others have it perform is unwound, and then it leaves its runtime and the task groups that it shares with others.
When its entity is destroyed it ends by itself, at the next intake; one whose entity is gone before does not begin.

Source: seed 001, "Injecting actions"; "Overview of the AI system", intelligent entity.

Being driven: the part of an agent that other models attach to, and that performs what coroutines ask of it.

``attachments`` has the drivers and the phase of the tick in which they drive; ``learning`` has what the agent knows,
``agent`` how it lives.

Source: design section 2, "A tick", and section 3, "Body".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from agentrt.activity.author.expected import StateReader, read_entity
from agentrt.activity.plan.knowledge import index_actions
from agentrt.activity.plan.planner import Planner
from agentrt.activity.plan.spawned import perform
from agentrt.agent.drivers import Attachment, attach, leave_all
from agentrt.agent.faults import Fault
from agentrt.agent.injection import Injectable, Injection
from agentrt.agent.learning import Learner
from agentrt.agent.logs import Log, threshold_of
from agentrt.body.driver import number_in, take
from agentrt.body.entity import destroyed_signal, is_gone
from agentrt.body.flags import FlagLedger
from agentrt.errors import ENDS_PROGRAM, AgentKilled, DefinitionError, NotRunningError
from agentrt.kernel.agenda import ControlFlow
from agentrt.kernel.hosts.loops import wait_outside
from agentrt.kernel.rng import Stream, derive_seed
from agentrt.kernel.signals import Connection, Event, Signal
from agentrt.kernel.trace import Event as TraceEvent
from agentrt.kernel.trace import TraceRecord
from agentrt.kernel.traps import at_once
from agentrt.snapshot import AgentSnapshot, explain, snapshot_agent
from agentrt.snapshot.take import key_text, status_of
from agentrt.words import repr_of, type_name, words_of

if TYPE_CHECKING:
    from agentrt.activity.author.action import Action
    from agentrt.activity.author.expected import CurrentFields
    from agentrt.activity.plan.search import SearchWork
    from agentrt.body.driver import Driver
    from agentrt.body.flags import Holder
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.strand import Strand
    from agentrt.packs.registry import Registry
    from agentrt.runtime.runtime import Runtime
    from agentrt.strategy.gameplay import Gameplay

__all__ = ["Driven", "TOP", "Agent", "Injectable", "Injection"]


class Driven(Learner, ABC):
    """An agent, as its drivers know it: a ``Body``. The base class of ``Agent`` alone.

    Attributes:
        number: its entity's ``id``, if that is a number, else the number of its arrival in its runtime, from 1; 0
            before.
        precedence: of its plan's claims for control flags.
        is_ending: whether it was told to end.
    """

    __slots__ = ("_attachments", "_lent_to", "is_ending", "number", "precedence")

    def _begin_driven(self, drivers: Iterable[Driver], precedence: int) -> None:
        """Set up the drivers. Not ``__init__``: what an agent knows comes first, and takes other arguments."""
        self.number: int = 0
        number_in(precedence, "Agent", "precedence")
        self.precedence: int = precedence
        self.is_ending: bool = False
        self._attachments: tuple[Attachment, ...] = ()
        self._lent_to: tuple[Driver, ...] = ()
        try:
            for driver in _each(drivers):
                self.attach(driver)
        except BaseException:
            self._give_up_drivers()  # nobody gets this agent, so they are nobody's
            raise

    @property
    @abstractmethod
    def is_alive(self) -> bool:
        """Whether it is part of a runtime and has not ended."""

    @abstractmethod
    def planner_fault(self, text: str, path: str, error: BaseException, is_new: bool = True) -> None:
        """A hook raised: tell of it with its place."""

    @property
    def holder(self) -> Holder | None:
        """None: an agent acts for nobody."""
        return None

    @property
    def kernel(self) -> Kernel | None:
        """Who steps its coroutines and keeps its time; None while it is in no runtime."""
        return None if self.runtime is None else self.runtime.kernel

    @property
    def gameplay(self) -> Gameplay:
        """Its strategies, and a call for everything that can be asked of them; made when it is first asked for."""
        if self._gameplay is None:
            from agentrt.strategy.gameplay import Gameplay  # most agents have no strategies

            self._gameplay = Gameplay(cast("Agent", self))
            if self.is_alive and not self.is_ending:
                self._gameplay.triggers.begin()
        return self._gameplay

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The drivers that it has besides its plan, in the order in which they drive it in a tick."""
        return self._attachments

    def attach(self, driver: Driver, *, every: int = 1, precedence: int | None = None) -> Attachment:
        """Have another model drive it, besides its plan; from the next intake on if it lives.

        Drivers come in the order of their ranks (selection tree, target selector, goal selector, behavior tree), then
        in the order in which they were attached, all of them before the plan.

        Args:
            driver: a goal selector, the memory of a behavior tree, the state of a selection tree, or another one.
            every: it drives in each so many-th tick.
            precedence: of its claims for control flags, the higher one wins; None leaves it as the driver has it.

        Returns:
            The attachment, which can be detached.

        Raises:
            DefinitionError: it is no driver.
            WrongStateError: it has a driver of that name, or the driver is another agent's.

        Source: design section 2, "A tick", and section 3, "Body".
        """
        if precedence is not None:
            number_in(precedence, "agent.attach", "precedence")
        attachments = self._attachments
        attachment, index = attach(attachments, cast("Agent", self), driver, every)
        self._attachments = (*attachments[:index], attachment, *attachments[index:])
        if precedence is not None:
            driver.precedence = precedence
        if self.runtime is not None:
            self.runtime.post(self._join_drivers)
        return attachment

    def _join_drivers(self) -> None:
        if self._attachments and self.is_alive and not self.is_ending:
            for attachment in self._attachments:
                if not attachment.join():
                    self._discard(attachment)
            self._round_changed()

    def detached(self, attachment: Attachment, reason: str) -> None:
        """A driver was detached; called by the attachment.

        Args:
            attachment: it.
            reason: why, in words.
        """

        def left() -> None:
            self._discard(attachment)
            self._round_changed()

        if self.runtime is None:
            left()
        else:
            self.runtime.post(attachment.leave, reason, left)
            self.runtime.post(self._round_changed)

    def _discard(self, attachment: Attachment) -> None:
        self._attachments = tuple(one for one in self._attachments if one is not attachment)
        take(attachment.driver, self)

    def _give_up_drivers(self) -> None:
        """It does not live, or not any more: its drivers may be given to others."""
        for attachment in self._attachments:
            take(attachment.driver, self)

    def _round_changed(self) -> None:
        if self.runtime is not None:
            self.runtime.round.change()

    def perform(
        self, activity: str, args: Mapping[str, Any] | None = None, holder: Holder | None = None, /, **more: Any
    ) -> Awaitable[Any]:
        """Perform an activity once, beside its plan. Await it in any coroutine that the runtime steps.

        Args:
            activity: what to perform.
            args: its arguments.
            holder: for whom: a goal or a behavior, whose control flags are shared.
            more: further arguments.

        Returns:
            An awaitable for the think output of the action that performed it. It raises ``ActivityImpossibleError`` if
            no action can perform it now, ``ActivityAbortedError`` if it was aborted or the agent ended.

        Raises:
            NotRunningError: it is in no runtime, or ends; also when it is awaited, if that is so by then.

        Source: design section 3, "Bridges".
        """
        self.require_life(activity)
        return self._perform(activity, {**(args or {}), **more}, holder)

    async def _perform(self, activity: str, args: Mapping[str, Any], holder: Holder | None) -> Any:
        await at_once()
        return await perform(self.require_life(activity), activity, args, holder)

    def require_life(self, activity: str) -> Planner:
        """Its planner, while it lives.

        Args:
            activity: what is to be performed.

        Raises:
            NotRunningError: it is in no runtime, or ends.
        """
        if self.planner is None or not self.is_alive or self.is_ending:
            raise NotRunningError(
                f"{self.name!r} cannot perform {activity!r}: it is in no runtime, or ends. Add it first: "
                f"runtime.add(agent)."
            )
        return self.planner

    def post(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a function at the next intake of its runtime, if it is in one. Safe from any thread.

        Args:
            fn: a plain function.
            args: what to call it with.
        """
        if self.runtime is not None:
            self.runtime.post(fn, *args)

    async def wait_outside(self, connect: Callable[[Callable[[], None]], object]) -> None:
        """Wait in a task of an event loop, and not in a coroutine that a runtime steps.

        Args:
            connect: given the function that ends the wait, which may be called in any thread.

        Raises:
            NotRunningError: no event loop steps the coroutine either.
        """
        await wait_outside(connect)

    def driver_strands(self) -> list[Strand]:
        """The strands of its drivers that have not ended, in the order in which they began."""
        return [strand for attachment in self._attachments for strand in attachment.driver.strands()]

    def lend(self, driver: Driver) -> None:
        """An action hands the body on to a driver.

        Args:
            driver: it; it has joined the body.
        """
        self._lent_to = (*self._lent_to, driver)

    def take_back(self, driver: Driver) -> None:
        """A driver to which an action handed the body has left it.

        Args:
            driver: it.
        """
        self._lent_to = tuple(one for one in self._lent_to if one is not driver)

    def lent_strands(self) -> list[Strand]:
        """The strands of the drivers to which actions handed the body; those actions cannot end before these."""
        return [strand for driver in self._lent_to for strand in driver.strands()]

    def fault(self, path: str, hook: str, error: BaseException) -> None:
        """A callback of a driver, or of whatever else has no place in the plan, raised: report it.

        Args:
            path: the place.
            hook: the callback.
            error: what it raised.
        """
        if isinstance(error, ControlFlow):
            error.send_on()  # an action drives it by hand, and is what was to be ended
        elif self.planner is None:
            self.planner_fault(f"{hook} raised {type_name(error)}", path, error)
        else:
            self.planner.report(path, hook, error)

    def _leave_drivers(self, reason: str, then: Callable[[], object]) -> None:
        def left() -> None:
            self._give_up_drivers()
            self._attachments = tuple(one for one in self._attachments if one.is_live)  # a leaf may have detached some
            then()

        leave_all(self._attachments, reason, left)


def _each(drivers: object) -> list[Any]:
    """The drivers that an agent is made with."""
    if isinstance(drivers, Iterable) and not isinstance(drivers, (str, type)):
        return list(drivers)
    raise DefinitionError("Agent(drivers=...)", f"{repr_of(drivers, 80)} is no list.", "Write drivers=[driver].")


_GONE = "its entity was destroyed"
_LONGEST_NAME = 200  # characters; it stands in every record and in the path of every view

TOP = "agentrt:top"
"""The activity that every agent performs all the time, unless it says otherwise."""


class Agent(Driven):
    """An entity that acts.

    Args:
        entity: any object; its ``name`` is the agent's unless one is given. The packs that it lists as its own
            (``ai_packs``, see ``agentrt.agent.belongings``) are known from the start.
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
            from agentrt.runtime.alone import run_alone  # a runtime composes agents

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
