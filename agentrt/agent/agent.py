"""An agent: an entity, what it knows, and what makes it act.

The agent is one character's life, and a face over four parts that do not know each other:

* its ``planner``, made anew for each runtime that it joins;
* its ``Knowledge``: what it was taught, and what it has from packs;
* its ``Drivers``: the other models that drive it, in each tick before the plan;
* its ``Gameplay``, if anybody asks for it: strategies (``agentrt.strategy``).

It costs nothing while its actions sleep: there is no task of its own, only the strands of the actions that think and
run, and those of its observers and drivers. The class itself knows what no part can: in which order they begin and
end, and to whom what fails is told.

It *begins* at the intake after it was added: observers, task groups, drivers, triggers, and last the plan, behind the
drivers as in every other tick. It *ends* in the opposite sense: its drivers leave, the plan is unwound, the observers
are stopped and clean up, what others have it perform is unwound, and then it leaves the task groups that it shares with
others, and its runtime. Each step begins when the one before has ended, however many ticks its clean-up takes. When its
entity is destroyed it ends by itself, at the next intake; one whose entity is gone before does not begin.

A runtime composes agents, and so stands above them; what an agent needs of whoever runs it is an ``AgentRuntime``.
Alone (``agent.run()`` of an agent that nobody added anywhere) it needs somebody who makes one: the runtime says who,
once, when agentrt is composed (``runs_alone``). Rejected: importing the runtime when it is needed, which is an import
upward all the same; a runtime that each such agent makes for itself, since two that are gathered would live on two
clocks.

*A driver* is one model at work on one agent: a goal selector, the memory of a behavior tree, the state of a selection
tree, or whatever else fulfills ``agentrt.body.driver.Driver``. Rules, from when it is attached until it has left:

* The drivers of an agent come in the order of their ranks (selection tree, target selector, goal selector, behavior
  tree), those of one rank in the order in which they were attached. Who has them drive in each tick is the runtime,
  which keeps those of all its agents in one list.
* A driver may have a cadence of its own: with ``every=4`` it drives in each fourth tick. Which of the four that is
  depends on the agent's number, so that a crowd does not think in one tick and rest in the three others.
* What is attached or detached while the agent lives takes effect at the next intake, since the drivers' phase must not
  change while it runs.
* A driver belongs to one agent, from when it is attached until it has left: see ``give`` in ``body.driver``. It has
  left when it was detached and nothing of it runs, or when its agent has ended. An agent that is added again takes its
  drivers up again, if nobody else has them by then.
* A driver that is detached stops all that runs; its coroutines clean up in the same tick, or as long as they take. It
  can be attached again, here or elsewhere, when it has left.
* A driver that raises is reported once, and the next one drives. One that raises when it is to join never drove, and
  is not attached any more; one that raises when it is to leave has left, and its coroutines are told to stop.
* An agent leaves its runtime when all of them have left, those too that were detached before.

An action may hand the body on to a driver of its own for a while (``lend``); that one is no attachment: the action has
it drive and has it leave, and here is only kept whose coroutines the action waits for.

It is one module, since an agent and what drives it begin and end together, and each tells the other when.

Source: Stonehearth, AI: "Injecting actions"; "Overview of the AI system", intelligent entity, and
section 3, "Body".
"""

from __future__ import annotations

import math
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, overload

from agentrt.activity import performances
from agentrt.activity.author.action import Numbers
from agentrt.activity.author.arguments import asked
from agentrt.activity.author.expected import StateReader, read_entity
from agentrt.activity.performances import perform
from agentrt.activity.plan.tree import Planner
from agentrt.activity.status import key_text, running_branch, status_of
from agentrt.agent.faults import Fault, FaultHub
from agentrt.agent.knowledge import (
    Injectable,
    Injection,
    Knowledge,
    Renewed,
    ai_of,
    asked_for,
    listed,
    packs_of,
    words_for,
)
from agentrt.agent.logs import Log, LogBridge, threshold_of
from agentrt.body.driver import give, given_to, number_in, take
from agentrt.body.entity import E_co, attribute_of, destroyed_signal, is_gone
from agentrt.body.flags import FlagLedger
from agentrt.errors import ENDS_PROGRAM, AgentKilled, DefinitionError, NotRunningError, WrongStateError, did_you_mean
from agentrt.kernel.hosts.loops import wait_outside
from agentrt.kernel.kernel import ControlFlow
from agentrt.kernel.rng import Stream
from agentrt.kernel.signals import Connection, Event, Signal
from agentrt.kernel.strand import meant as meant_error
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.kernel.traps import at_once
from agentrt.words import class_name, error_words, repr_of, type_name, words_of

if TYPE_CHECKING:
    from agentrt.activity.author.action import Action
    from agentrt.activity.author.expected import CurrentFields
    from agentrt.activity.author.utility import UtilityRange
    from agentrt.activity.status import Translator
    from agentrt.activity.tasks.group import Extension, TaskGroup
    from agentrt.body.budget import SearchWork, Share
    from agentrt.body.driver import DeclaredActivity, Driver, O_co, P
    from agentrt.body.flags import Holder
    from agentrt.body.leases import LeaseBook
    from agentrt.kernel.kernel import Kernel, Timer
    from agentrt.kernel.strand import Strand
    from agentrt.packs.registry import Registry
    from agentrt.snapshot import AgentSnapshot
    from agentrt.strategy.gameplay import Gameplay


_GONE = "its entity was destroyed"
_PATIENCE = 1.0  # game seconds in which an agent may be taught what it lacks, before that is told
_LONGEST_NAME = 200  # characters; it stands in every record and in the path of every view
_MOST_WEIGHT: Final = 1e6  # priorities multiply along a branch; more says no more than "all of it"

TOP = "agentrt:top"
"""The activity that every agent performs all the time, unless it says otherwise."""


# --- whoever runs it --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """What becomes of an agent whose planner gave up: it begins again, after a while.

    It is given to a runtime, and holds for all of its agents. The wait is game time, the same in every equal run. It
    grows each time, until a plan that takes time has run to its end.

    Source: Stonehearth, AI: `abort` (there the agent is lost).
    """

    first: float = 1.0  # game seconds until the first restart
    factor: float = 2.0  # how many times longer each further wait is
    most: float = 60.0  # the longest wait, in game seconds

    def __post_init__(self) -> None:
        if not (0 < self.first <= self.most < math.inf and 1 <= self.factor < math.inf):
            raise ValueError(f"{self!r}: it takes 0 < first <= most, and a factor of at least 1")

    def seconds(self, kills: int) -> float:
        """How long to wait, in game seconds, when the planner gave up so many times in a row, from 1."""
        wait = self.first
        for _ in range(kills - 1):
            if wait >= self.most or self.factor == 1:
                break
            wait *= self.factor
        return min(wait, self.most)


class Rounds(Protocol):
    """Who has the drivers of many agents drive, in each tick."""

    def change(self) -> None:
        """Somebody came or went."""


class AgentRuntime(Protocol):
    """Whoever runs agents, as an agent sees it: a runtime."""

    kernel: Kernel  # steps its coroutines, and keeps its time
    round: Rounds  # has the drivers of all its agents drive
    search: SearchWork  # of all its agents
    faults: FaultHub  # is told of failures that nobody handled
    leases: LeaseBook  # what is reserved, and for whom
    logs: LogBridge  # hands the trace to the log
    texts: Translator  # makes the status texts
    told: set[str]  # what was told in the log once, and is not told again
    lacking: dict[Agent, Timer]  # who lacks an action as they came, until that is told

    @property
    def restart(self) -> Restart | None:
        """What becomes of an agent whose planner gave up; None: it is killed."""
        ...

    def stream(self, name: str) -> Stream:
        """A random stream for a name."""
        ...

    def post(self, fn: Callable[..., object], *args: object) -> None:
        """Call a function at the next intake; from any thread."""

    def call(self, fn: Callable[..., Any], *args: object) -> Awaitable[Any]:
        """Call something outside the game."""
        ...

    def remove(self, agent: Agent, reason: str) -> None:
        """End an agent at the next intake."""

    async def run_agent(self, agent: Agent) -> None:
        """Wait until an agent has ended, driving all if nobody else does."""

    def agent_ended(self, agent: Agent) -> None:
        """An agent has ended: it is nobody's from now on."""


_alone: list[Callable[[Agent], Awaitable[None]]] = []


def runs_alone(run: Callable[[Agent], Awaitable[None]]) -> Callable[[Agent], Awaitable[None]]:
    """Say who runs an agent that is in no runtime: a decorator, for the one function that does."""
    _alone[:] = [run]
    return run


# --- the agent --------------------------------------------------------------------------------------------------------


class Agent(Generic[E_co]):
    """An entity that acts.

    Args:
        entity: any object; its ``name`` is the agent's unless one is given. The packs that it lists as its own
            (``ai_packs``, see ``agentrt.agent.knowledge``) are known from the start.
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
    """

    __slots__ = (
        "__weakref__", "_attachments", "_bond", "_known", "_random", "_seldom", "entity", "flags_if_made", "given_name",
        "is_ending", "name", "number", "planner", "runtime",
    )  # fmt: skip

    holder: Holder | None = None  # an agent acts for nobody

    def __init__(
        self,
        entity: E_co,
        *,
        name: str | None = None,
        actions: Sequence[type[Action]] = (),
        packs: tuple[Injectable, ...] | list[Injectable] = (),
        top: str = TOP,
        read_state: StateReader = read_entity,
        expected: type[CurrentFields] | None = None,
        registry: Registry | None = None,
        seed: int | str | None = None,
        drivers: Iterable[Driver] = (),
        precedence: int = 0,
    ) -> None:
        if isinstance(entity, type):
            raise DefinitionError(
                "Agent", f"its entity is the class {class_name(entity)}.", f"Make one of it: {entity.__name__}(...)."
            )
        self.entity: E_co = entity
        called = name or getattr(entity, "name", None) or sys.intern(type_name(entity).lower())
        self.given_name: str = words_of(called, _LONGEST_NAME)
        self.name: str = self.given_name
        self.number: int = (
            0  # its entity's ``id``, if that is a number, else that of its arrival in its runtime, from 1
        )
        self.runtime: AgentRuntime | None = None  # the runtime that it is part of
        self.planner: Planner | None = None
        self.is_ending: bool = False  # whether it was told to end
        self.flags_if_made: FlagLedger | None = None  # its ledger of control flags, for who only looks
        self._seldom: Seldom = _NOTHING_SELDOM  # what most never need
        number_in(precedence, "Agent", "precedence")
        is_usual = read_state is read_entity and seed is None and expected is None and top == TOP and precedence == 0
        if not is_usual:
            more = self._more()
            more.read_state, more.seed, more.expected, more.top = read_state, seed, expected, top
            more.precedence = precedence
        self._random: Stream | None = None
        self._bond: Connection | None = None  # to its entity's end, while it lives
        self._attachments: tuple[Attachment, ...] = ()  # the business of ``Drivers``, like ``Seldom.lent_to``
        knowledge = Knowledge(self, registry)
        # what it knows; no more than the actions that it was made with, while that is all, as of most
        self._known: Knowledge | tuple[type[Action], ...] = knowledge
        knowledge.start_with(packs_of(entity), (*listed("packs", packs), *listed("actions", actions)))
        self._known = knowledge.in_short()
        self.drivers.attach_all(drivers)

    def _more(self) -> Seldom:
        """Room for what most never need, to write into."""
        if self._seldom is _NOTHING_SELDOM:
            self._seldom = Seldom()
        return self._seldom

    # --- living -------------------------------------------------------------------------------------------------------

    @property
    def error(self) -> AgentKilled | None:
        """Why it was killed."""
        return self._seldom.error

    @property
    def top(self) -> str:
        """The activity that it performs all the time."""
        return self._seldom.top

    @top.setter
    def top(self, top: str) -> None:
        self._more().top = top

    @property
    def expected(self) -> type[CurrentFields] | None:
        """The fields of CURRENT with their types; None for any field."""
        return self._seldom.expected

    @expected.setter
    def expected(self, expected: type[CurrentFields] | None) -> None:
        self._more().expected = expected

    @property
    def precedence(self) -> int:
        """Of its plan's claims for control flags: the higher one wins."""
        return self._seldom.precedence

    @precedence.setter
    def precedence(self, precedence: int) -> None:
        if precedence != self.precedence:
            self._more().precedence = precedence

    @property
    def values(self) -> Callable[[], Mapping[str, object]] | None:
        """Says what it offers to whoever watches (needs, attributes), between two ticks, and changes nothing.

        It returns names with numbers, texts and truth values, or with mappings of such.
        """
        return self._seldom.values

    @values.setter
    def values(self, values: Callable[[], Mapping[str, object]] | None) -> None:
        self._more().values = values

    @property
    def flags(self) -> FlagLedger:
        """Its ledger of control flags, made when somebody first takes some; who only looks asks ``flags_if_made``."""
        ledger = self.flags_if_made
        if ledger is None:
            ledger = self.flags_if_made = FlagLedger()
        return ledger

    @property
    def gameplay_if_made(self) -> Gameplay | None:
        """Its gameplay, for who only looks; a pack may ask for it, too."""
        return self._seldom.gameplay

    @property
    def is_alive(self) -> bool:
        """Whether it is part of a runtime and has not ended."""
        return self.planner is not None and self.runtime is not None

    @property
    def has_ended(self) -> Event | None:
        """Set when it has left its runtime or was killed; None before it was in one."""
        ended = self._seldom.ended
        if ended is None and self.planner is not None:
            ended = self._more().ended = Event()
            if self.runtime is None:
                ended.set()
        return ended

    @property
    def kernel(self) -> Kernel | None:
        """Who steps its coroutines and keeps its time; None while it is in no runtime."""
        return None if self.runtime is None else self.runtime.kernel

    @property
    def drivers(self) -> Drivers:
        """What drives it besides its plan, as the machine sees it. It holds nothing itself: most agents have none."""
        return Drivers(self)

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
            own, kernel = self._seldom.seed, self.runtime.kernel
            self._random = kernel.stream(f"agent {self.name}") if own is None else kernel.stream_of(own, "agent")
        return self._random

    @property
    def search(self) -> SearchWork | None:
        """The search work of its runtime, which bounds what all agents look through in a tick; None outside one."""
        return None if self.runtime is None else self.runtime.search

    @property
    def share(self) -> Share | None:
        """Its place in the think budget; None until it asked for work."""
        return self._seldom.share

    @share.setter
    def share(self, share: Share | None) -> None:
        self._more().share = share

    def search_weight(self) -> float:
        """Its weight in the think budget at this moment: the priorities along the branch that runs, multiplied."""
        planner = self.planner
        branch = () if planner is None else running_branch(planner.execution.root)
        return min(math.prod([unit.spec.scheduler_priority for unit in branch], start=1.0), _MOST_WEIGHT)

    def signal(self, name: str) -> Signal:
        """A signal of its entity, such as ``"ready_to_pose"``; made when it is first asked for, and the same each time.

        ``ctx.signals[name]`` is the same one. An entity of a type without a method ``signal(name)`` has no signals; the
        agent keeps them for it.
        """
        find = getattr(self.entity, "signal", None)
        if callable(find):
            found = find(name)
            if isinstance(found, Signal):
                return found
        signals = self._more().signals
        kept = signals.get(name)
        if kept is None:
            kept = signals[name] = Signal()
        return kept

    # --- what it knows ------------------------------------------------------------------------------------------------

    @property
    def _knowledge(self) -> Knowledge:
        """All that it knows, to be asked for more than its actions, or to be changed."""
        known = self._known
        if isinstance(known, tuple):
            known = self._known = Knowledge(self, None, known)
        return known

    def inject(self, *what: Injectable, source: str = "code", is_saved: bool = True) -> Injection:
        """Teach the agent actions, strategies, and whatever else packs hold.

        Takes effect at the next intake if it is running. Personal task groups are there at once.

        Args:
            what: action classes, strategies, packs, aliases of packs, contents of packs.
            source: where they come from, in words, such as ``"equipment: pet collar"``.
            is_saved: whether ``save_packs`` is to know of it; False for what somebody gives again after loading.

        Returns:
            The injection, which can be revoked.

        Raises:
            DefinitionError: the actions or the strategies do not fit together, or an alias names something that is not
                of its kind.
            DataFault: a pack is not valid, or names what nobody registered, or gives a component wrong settings.

        Source: Stonehearth, AI: "Injecting actions".
        """
        return self._knowledge.teach(what, source, is_saved=is_saved)

    def tune(
        self,
        which: str | type[Action],
        *,
        utility: float | UtilityRange | None = None,
        weight: float | None = None,
        sunk_cost_boost: float | None = None,
    ) -> int:
        """Change numbers of its actions, for this agent alone and while it lives; those left out stay.

        Call it between two ticks or at an intake. What thinks or runs goes on: an action that has placed itself in its
        range stands at the same place of the new one, and who can win now is asked.

        Args:
            which: a class, or what paths or debugging tools call the action.
            utility: a number from 0 to 1; for an action that declares a range, also another one.
            weight, sunk_cost_boost: as an action declares them.

        Returns:
            How many of its actions were meant; 0 if it knows none.

        Raises:
            DefinitionError: a number does not fit; nothing is changed then.

        Source: ours; Stonehearth, AI: "Writing actions".
        """
        return self._knowledge.tune(which, Numbers(utility, weight, sunk_cost_boost))

    def steer(self, disabled: frozenset[str], forced: frozenset[str]) -> None:
        """Say which of its actions are out by hand, and which have their activity for themselves, by their names.

        It replaces what was said before, takes effect at once, and is called between two ticks or at an intake. What is
        out and runs is unwound, and counts as no failure.
        """
        self._knowledge.steer(disabled, forced)

    def inject_from(self, bearer: object, *, source: str | None = None) -> Injection:
        """Teach the agent what a thing bears: a piece of equipment, a buff, the abilities of a job.

        Args:
            bearer: any object or mapping with ``injected_ai``, of its own or on one of its components: a pack written
                in place, the alias of one, or a list of them.
            source: where it comes from, in words; the bearer's name by default.

        Returns:
            The injection; revoke it when the thing is taken off.

        Raises:
            DefinitionError: it bears no AI, or as for ``inject``.
            DataFault: as for ``inject``.

        Source: Stonehearth, AI: "Injecting actions", `injected_ai`.
        """
        return self._knowledge.teach(ai_of(bearer), words_for(bearer) if source is None else source, bearer=bearer)

    def learn_solver(self, action: type[Action]) -> Callable[[], None]:
        """Have the plan know an action for the activity of a dependency, until what is returned is called."""
        return self._knowledge.teach((action,), "gameplay", is_saved=False).revoke

    @property
    def registry_if_known(self) -> Registry | None:
        """Where it looks up aliases, if it was told."""
        return self._knowledge.own_registry

    def pack_files(self) -> set[str]:
        """The real paths of the packs that it was given, read from files."""
        return self._knowledge.pack_files()

    def relearn(self, renewed: Renewed) -> Callable[[], bool] | None:
        """Check what it knows against what was read again; see ``Knowledge.relearn``."""
        return self._knowledge.relearn(renewed)

    @property
    def registry(self) -> Registry:
        """Where it looks up aliases."""
        return self._knowledge.registry

    @property
    def injections(self) -> tuple[Injection, ...]:
        """What it was taught and was not revoked, in that order."""
        return self._knowledge.injections

    @property
    def actions(self) -> tuple[type[Action], ...]:
        """The actions that it knows, each once, in the order in which it learned them."""
        known = self._known
        return known if isinstance(known, tuple) else known.actions

    def observer_strands(self) -> list[Strand]:
        """The strands of its observers that have not ended, in the order in which they began."""
        has = self._knowledge.belongings
        return [] if has is None else has.observers.strands

    @property
    def running_observers(self) -> tuple[str, ...]:
        """The aliases of its observers that have not ended, in the order in which they began."""
        has = self._knowledge.belongings
        return () if has is None else has.observers.running

    # --- task groups --------------------------------------------------------------------------------------------------

    @property
    def task_groups(self) -> tuple[TaskGroup, ...]:
        """The task groups that it is in, personal and shared ones, in the order in which it joined them."""
        return self._knowledge.groups

    def get_task_group(self, name: str) -> TaskGroup:
        """A task group that it is in, shared or personal; the name of a personal one is the alias in the pack.

        Raises:
            UnknownTaskGroupError: it is in no such group.

        Source: Stonehearth, AI: "Personal task groups".
        """
        return self._knowledge.group(name)

    @property
    def group_extensions(self) -> tuple[Extension, ...]:
        """What packs add to its personal task groups, in that order."""
        has = self._knowledge.belongings
        return () if has is None else has.extensions

    def group_joined(self, group: TaskGroup) -> None:
        """It becomes a member of a task group; called by ``TaskGroup.add``."""
        self._knowledge.join_group(group)

    def group_changed(self, group: TaskGroup) -> None:
        """A task group of its is another action to it; called by ``TaskGroup.redeclare``."""
        self._knowledge.take_up_groups()

    def group_left(self, group: TaskGroup) -> None:
        """It is a member of a task group no more; called by ``TaskGroup.remove``."""
        self._knowledge.leave_group(group)

    # --- what drives it -----------------------------------------------------------------------------------------------

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

        Source: ours, and section 3, "Body".
        """
        return self.drivers.attach(driver, every, precedence)

    # --- what others have it do ---------------------------------------------------------------------------------------

    @property
    def read_state(self) -> StateReader:
        """How to read a field of the entity's state."""
        return self._seldom.read_state

    @property
    def gameplay(self) -> Gameplay:
        """Its strategies, and a call for everything that can be asked of them; made when it is first asked for."""
        made = self._seldom.gameplay
        if made is None:
            from agentrt.strategy.gameplay import Gameplay  # most agents have no strategies

            made = self._more().gameplay = Gameplay(self)
            if self.is_alive and not self.is_ending:
                made.triggers.begin()
        return made

    @overload
    def perform(self, activity: DeclaredActivity[P, O_co], /, *args: P.args, **more: P.kwargs) -> Awaitable[O_co]: ...
    @overload
    def perform(
        self, activity: str, args: Mapping[str, Any] | None = None, holder: Holder | None = None, /, **more: object
    ) -> Awaitable[Any]: ...

    def perform(  # type: ignore[misc]  # fields have names, so nothing else is given by its place
        self,
        activity: str | DeclaredActivity[..., Any],
        args: Mapping[str, Any] | None = None,
        holder: Holder | None = None,
        /,
        **more: Any,
    ) -> Awaitable[Any]:
        """Perform an activity once, beside its plan. Await it in any coroutine that the runtime steps.

        Args:
            activity: what to perform: its name, or a declared one, of which types are known.
            args: its arguments.
            holder: for whom: a goal or a behavior, whose control flags are shared.
            more: further arguments.

        Returns:
            An awaitable for the think output of the action that performed it. It raises ``ActivityImpossibleError`` if
            no action can perform it now, ``ActivityAbortedError`` if it was aborted or the agent ended.

        Raises:
            NotRunningError: it is in no runtime, or ends; also when it is awaited, if that is so by then.
        """
        name, given = asked(activity, args, more)
        self.require_life(name)
        return self._perform(name, given, holder)

    async def _perform(self, activity: str, args: Mapping[str, Any], holder: Holder | None) -> Any:
        await at_once()
        return await perform(self.require_life(activity), activity, args, holder)

    def require_life(self, activity: str) -> Planner:
        """Its planner, which is to perform an activity.

        Raises:
            NotRunningError: it is in no runtime, or ends.
        """
        if self.planner is None or not self.is_alive or self.is_ending:
            raise NotRunningError(
                f"{self.name!r} cannot perform {activity!r}: it is in no runtime, or ends. Add it first: "
                f"runtime.add(agent)."
            )
        return self.planner

    # --- the end ------------------------------------------------------------------------------------------------------

    def end(self, reason: str) -> None:
        """End, for good; called at an intake, by ``Runtime.remove``."""
        planner = self.planner
        if planner is not None and self.runtime is not None and not self.is_ending:
            reason = words_of(reason)
            self.is_ending = True
            self.drivers.change()
            self.drivers.leave(reason, lambda: planner.execution.end(reason, self._plan_ended))

    def _end(self, reason: str) -> None:
        """Its plan is unwound for good: stop its drivers and observers, and leave when they have ended."""
        # Who was killed comes here without ``end``; else its drivers have left already, and that is over at once.
        self.is_ending = True
        if self.gameplay_if_made is not None:
            self.gameplay_if_made.triggers.end()
        self.drivers.change()
        self.drivers.leave(
            reason, lambda: self._knowledge.end_observers(reason, lambda: self._end_performances(reason))
        )

    def _end_performances(self, reason: str) -> None:
        """What coroutines of the world have it perform ends last."""
        assert self.planner is not None
        for performance in self.planner.performances:
            if not performance.is_over:
                performance.end(reason, lambda: self._end_performances(reason))
                return  # one after the other
        self._leave()

    def _leave(self) -> None:
        """It leaves its runtime, and the groups that it shares with others."""
        self._knowledge.leave_shared_groups()
        self._knowledge.steer(frozenset(), frozenset())  # what was out by hand is so while it lives
        assert self.runtime is not None
        if self._bond is not None:
            self._bond.close()
        self.runtime.agent_ended(self)
        self._knowledge.settle()  # what was to be taken at an intake that never came

    def join(self, runtime: AgentRuntime, name: str, number: int) -> None:
        """Become part of a runtime, with a name of its own there, as the so many-th; called by ``Runtime.add``."""
        # Before it is there itself: a group asks whether a member acts already.
        self._knowledge.enter(runtime.kernel.tick)
        self.runtime = runtime
        self.name = name
        seldom = self._seldom
        if seldom is not _NOTHING_SELDOM:
            seldom.error = seldom.ended = seldom.share = None
            seldom.told = set()
            if seldom.log_level is not None:
                runtime.logs.set_agent(name, seldom.log_level)
        self._random = None  # another one with another name or seed
        self.is_ending = False
        own = attribute_of(self.entity, "id")  # a property that raises must not leave an agent half in its runtime
        self.number = own if isinstance(own, int) else number
        self.planner = planner = Planner(runtime.kernel, self, self.top, performances)
        self._knowledge.equip(planner)
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
            self._knowledge.begin()
            self.drivers.join()
            if self.gameplay_if_made is not None:
                self.gameplay_if_made.triggers.begin()
            self.planner.kernel.call_soon(self._look_for_unperformed)
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
            await _alone[0](self)

    # --- what the planner and other parts tell ------------------------------------------------------------------------

    def fault(self, path: str, hook: str, error: BaseException) -> None:
        """A callback of a driver, or of whatever else has no place in the plan, raised: report it."""
        if isinstance(error, ControlFlow):
            error.send_on()  # an action drives it by hand, and is what was to be ended
        else:
            self.report(path, hook, error)

    def report(self, path: str, hook: str, error: BaseException) -> None:
        """Code of an author raised: tell of it with its place, and log it the first time."""
        error = meant_error(error)
        planner = self.planner
        if planner is not None and planner.trace.on:
            planner.record(path, TraceEvent.FAULT, (("hook", hook), ("error", error_words(error))))
        self._tell_fault(f"{hook} raised {type_name(error)}", path, error, is_new=self._is_new(path, hook))

    def _is_new(self, path: str, what: str) -> bool:
        """Whether something is said for the first time; it is remembered."""
        if self.planner is None:
            return True  # it is in no runtime, and begins anew with the next one
        told = self._more().told
        is_new = (path, what) not in told
        told.add((path, what))
        return is_new

    def _tell_fault(self, text: str, path: str, error: BaseException, *, is_new: bool = True) -> None:
        runtime = self.runtime
        if is_new:
            self.logger(path).error(text, tick=None if runtime is None else runtime.kernel.tick, exc_info=error)
        if runtime is not None:
            runtime.faults.tell(Fault(text, error, runtime.kernel.tick, self.name, path))

    def planner_killed(self, aborts: int, reason: str, path: str) -> None:
        """The planner gave up."""
        runtime, planner = self.runtime, self.planner
        assert runtime is not None
        assert planner is not None
        if planner.trace.on:
            planner.record(path, TraceEvent.KILLED, (("aborts", aborts), ("reason", reason)))
        log = self.logger(path)
        if runtime.restart is not None:
            seconds = runtime.restart.seconds(planner.execution.seldom.kills)
            log.warning("the planner gave up", tick=runtime.kernel.tick, aborts=aborts, reason=reason, again_in=seconds)
            planner.execution.restart(seconds)
            return
        error = self._more().error = AgentKilled(aborts, reason, agent=self.name, path=path, tick=runtime.kernel.tick)
        log.error("the planner was killed", tick=runtime.kernel.tick, aborts=aborts, reason=reason)
        runtime.faults.tell(Fault("the planner was killed", error, runtime.kernel.tick, self.name, path))
        self._end("the agent was killed")

    def planner_idles(self, path: str, times: int) -> None:
        """Its plans take no time, in tick after tick: somebody forgot to wait. It is no part of the run."""
        if not self._is_new(path, ""):
            return
        remedy = "Let its run await what takes time, such as ctx.sleep, or its think wait until there is work."
        self._warn(path, "the plan ends in the tick in which it begins, again and again", times=times, remedy=remedy)

    def unperformed(self) -> list[str]:
        """What none of its actions can ever do, as things stand, though it is asked for: in words, with what is meant.

        Nothing is said of an agent that is in no runtime.
        """
        planner = self.planner
        if planner is None:
            return []
        told: list[str] = []
        for subject, activity in asked_for(self.actions):
            if not planner.performers(activity):
                near = did_you_mean(activity, [*planner.known, *planner.groups])
                told.append(f"no known action performs '{activity}', which {subject} asks for.{near}")
        top = planner.execution.root.activity
        if self.actions and not planner.performers(top) and not (self.attachments or self.gameplay_if_made):
            told.append(
                f"none of its actions performs '{top}', with which its plan begins. Write does = TOP in the action "
                f"that begins, or Agent(..., top={next(iter(planner.known))!r})."
            )
        return told

    def _look_for_unperformed(self) -> None:
        """What is missing now may be taught in one of the next ticks, by who has put the agent there."""
        self._known = self._knowledge.in_short()  # its life has begun, for which all of it was needed
        if self.runtime is not None and not self.is_ending and self.unperformed():
            kernel = self.runtime.kernel
            ticks = kernel.clock.ticks(_PATIENCE)
            self.runtime.lacking[self] = kernel.call_later(ticks, self._tell_unperformed)

    def _tell_unperformed(self) -> None:
        """Once in a runtime, for each of them."""
        if self.runtime is not None and not self.is_ending:
            del self.runtime.lacking[self]
            for text in self.unperformed():
                if text not in self.runtime.told:
                    self.runtime.told.add(text)
                    self._warn("", text)

    def _warn(self, path: str, text: str, **values: object) -> None:
        tick = None if self.runtime is None else self.runtime.kernel.tick
        try:
            self.logger(path).warning(text, tick=tick, **values)
        except ENDS_PROGRAM:
            raise
        except BaseException:  # a log that is broken itself must not take the plan with it
            return

    def _plan_ended(self) -> None:
        runtime = self.runtime
        assert runtime is not None
        trace = runtime.kernel.trace
        if trace.on:
            trace.emit(TraceRecord(runtime.kernel.tick, self.name, "", TraceEvent.REMOVED))
        self._end("the agent ended")

    def logger(self, path: str) -> Log:
        """A logger bound to the agent and a place in its plan; whatever it says carries the tick."""
        return Log(self, {"agent": self.name, "path": path})

    def log_state(self) -> tuple[int, int | None]:
        """From which level on its log speaks, and the tick; for its loggers."""
        runtime = self.runtime
        level = self._seldom.log_level
        if runtime is None:
            return threshold_of(level), None
        return threshold_of(runtime.logs.level if level is None else level), runtime.kernel.tick

    @property
    def log_level(self) -> str | None:
        """From which level on its trace and its own loggers go to the log; None: as its runtime says. See ``logs``."""
        return self._seldom.log_level

    @log_level.setter
    def log_level(self, level: str | None) -> None:
        threshold_of(level)
        self._more().log_level = level
        if self.runtime is not None:
            self.runtime.logs.set_agent(self.name, level)

    def post(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a plain function at the next intake of its runtime, if it is in one. Safe from any thread."""
        if self.runtime is not None:
            self.runtime.post(fn, *args)

    async def wait_outside(self, connect: Callable[[Callable[[], None]], object]) -> None:
        """Wait in a task of an event loop, which no runtime steps; see ``hosts.loops``."""
        await wait_outside(connect)

    def call(self, fn: Any, args: tuple[Any, ...]) -> Awaitable[Any]:
        """Call something outside the game; see ``Context.call``."""
        assert self.runtime is not None
        return self.runtime.call(fn, *args)

    # --- for people ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> AgentSnapshot:
        """What it is doing now, as plain data."""
        from agentrt.snapshot import snapshot_agent  # who looks at nothing loads no views

        return snapshot_agent(self)

    def ask_values(self) -> Mapping[str, object]:
        """What its hook ``values`` says now; nothing if it has none.

        For who watches. A hook that raises, steps or closes the runtime, or returns something else, is dropped and
        reported.
        """
        hook, kernel = self.values, self.kernel
        if hook is None:
            return {}
        outer = False
        if kernel is not None:
            # Else a hook that steps would be asked again by the tick that it makes, until the game's stack is full.
            outer, kernel.in_tick = kernel.in_tick, True
        self.values = None  # likewise, of one that looks at the agent itself
        try:
            found: object = hook()
            if isinstance(found, Mapping):
                self.values = hook
                return found
            problem = f"it returned a {type_name(found)}."
            raise DefinitionError("agent.values", problem, 'Return a mapping, such as {"hunger": 0.7}.')
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            # A failure of who watches: it is no part of the run, so the trace has nothing of it.
            self._tell_fault("the hook that says its values failed; it is not asked again", "values", error)
            return {}
        finally:
            if kernel is not None:
                kernel.in_tick = outer

    def explain(self) -> str:
        """Why it does what it does, and why not something else, in words."""
        from agentrt.snapshot import explain
        from agentrt.snapshot.take import places_of

        return explain(self.snapshot(), places_of(self))

    @property
    def status_text(self) -> str:
        """What it does, for its players: the text of the innermost running action that has one."""
        status = status_of(self.planner)
        return key_text(status) if self.runtime is None else self.runtime.texts.text(status)

    def _repr_html_(self) -> str:
        return self.snapshot()._repr_html_()

    def __repr__(self) -> str:
        state = "killed" if self.error is not None else "alive" if self.is_alive else "not running"
        return f"<Agent {self.name!r}: {state}, knows {len(self.actions)} actions>"


# --- what drives it besides its plan ----------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Seldom:
    """What most agents never need."""

    ended: Event | None = None  # made when somebody asks for it
    error: AgentKilled | None = None  # why it was killed
    expected: type[CurrentFields] | None = None  # the fields of CURRENT with their types; None for any field
    gameplay: Gameplay | None = None
    lent_to: tuple[Driver, ...] = ()  # the business of ``Drivers``
    log_level: str | None = None
    precedence: int = 0  # of its plan's claims for control flags
    read_state: StateReader = read_entity
    seed: int | str | None = None
    share: Share | None = None  # its place in the think budget; None until it asked for work
    signals: dict[str, Signal] = field(default_factory=dict)
    told: set[tuple[str, str]] = field(default_factory=set)  # the places of which something was said, and what
    top: str = TOP  # the activity that it performs all the time
    values: Callable[[], Mapping[str, object]] | None = None


_NOTHING_SELDOM: Final = Seldom()  # of all who never needed any; nobody writes into it, see ``Agent._more``


@dataclass(eq=False, slots=True)
class Attachment:
    """A driver of an agent. Made by ``agent.attach``."""

    agent: Agent  # whom it drives
    driver: Driver
    every: int  # it drives in each tick whose number this divides, shifted by the agent's number
    is_live: bool = True  # whether it was not detached
    _has_joined: bool = False
    _then: list[Callable[[], object]] | None = None  # while it leaves: who is to be told

    @property
    def drives(self) -> bool:
        """Whether it drives the agent now: it was attached, and not told to leave."""
        return self._has_joined and self._then is None

    @property
    def is_leaving(self) -> bool:
        """Whether it was told to leave, and its coroutines still clean up."""
        return self._then is not None

    def detach(self, reason: str = "detached") -> None:
        """Take the driver from its agent, at the next intake if that one lives. A second call does nothing."""
        if self.is_live:
            self.is_live = False
            self.agent.drivers.detach(self, words_of(reason))

    def join(self) -> bool:
        """The agent lives: begin to drive it, unless it was detached meanwhile; False if it is attached no more."""
        if self.is_live and not self._has_joined:
            self._has_joined = True
            try:
                self.driver.join(self.agent)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self._has_joined = self.is_live = False
                self.agent.fault(self.driver.name, "join", error)
                return False
        return True

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """Stop driving; ``then`` is called when all has stopped."""
        if self._then is not None:
            self._then.append(then)
        elif not self._has_joined:
            then()
        else:
            self._then = [then]
            try:
                self.driver.leave(reason, self._left)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self.agent.fault(self.driver.name, "leave", error)
                try:
                    for strand in self.driver.strands():
                        strand.stop(reason)
                finally:
                    self._left()

    def drive_in_turn(self) -> None:
        """Have it drive, if this tick is one of its own."""
        kernel = self.agent.kernel
        if kernel is not None and (kernel.clock.tick + self.agent.number) % self.every == 0:
            self.driver.drive()

    def _left(self) -> None:
        """It has left; a driver that says so twice is heard once."""
        told, self._then = self._then, None
        if told is not None:
            self._has_joined = False
            if self.agent.flags_if_made is not None:
                self.agent.flags_if_made.forget_refusals(self.driver.name)
            for then in told:
                then()

    def __repr__(self) -> str:
        state = "driving" if self.drives else "leaving" if self.is_leaving else "attached" if self.is_live else "off"
        return f"<Attachment of {self.driver.name!r} to {self.agent.name!r}: {state}>"


class Drivers:
    """The drivers of one agent."""

    __slots__ = ("_agent",)

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """In the order of a tick."""
        return self._agent._attachments

    @attachments.setter
    def attachments(self, attachments: tuple[Attachment, ...]) -> None:
        self._agent._attachments = attachments

    def attach_all(self, drivers: object) -> None:
        """Attach what an agent is made with, or nothing."""
        if not isinstance(drivers, Iterable) or isinstance(drivers, (str, type)):
            raise DefinitionError(
                "Agent(drivers=...)", f"{repr_of(drivers, 80)} is no list.", "Write drivers=[driver]."
            )
        try:
            for driver in drivers:
                self.attach(driver)
        except BaseException:
            self._give_back()  # nobody gets this agent, so they are nobody's
            raise

    def attach(self, driver: Driver, every: int = 1, precedence: int | None = None) -> Attachment:
        """Have a driver drive the agent. See ``Agent.attach``."""
        if precedence is not None:
            number_in(precedence, "agent.attach", "precedence")
        name, rank = _require_driver(driver)
        cadence: object = every
        if not isinstance(cadence, (int, float)) or not cadence >= 1 or cadence % 1 != 0:
            raise WrongStateError(
                "agent.attach", f"every is {repr_of(every, 80)}", "Give a number of ticks, 1 or more."
            )
        attachments = self.attachments
        for other in attachments:
            if other.driver is driver or (other.is_live and other.driver.name == name):
                raise WrongStateError(
                    "agent.attach",
                    f"{self._agent.name!r} has a driver called {name!r}",
                    "Detach that one first and let it leave, or give this one a name of its own.",
                )
        give(driver, self._agent, "agent.attach")
        index = len(attachments)
        while index and attachments[index - 1].driver.rank > rank:
            index -= 1
        attachment = Attachment(self._agent, driver, every)
        self.attachments = (*attachments[:index], attachment, *attachments[index:])
        if precedence is not None:
            driver.precedence = precedence
        if self._agent.runtime is not None:
            self._agent.runtime.post(self.join)
        return attachment

    def take_up(self) -> None:
        """The agent is to live: they are its own again, if it had ended before; all of them, or it raises."""
        agent = self._agent
        for attachment in self.attachments:
            other = given_to(attachment.driver)
            if other is not None and other is not agent:
                whom = words_of(getattr(other, "name", other), 80)
                raise WrongStateError(
                    "runtime.add",
                    f"its driver {attachment.driver.name!r} drives {whom} by now",
                    "Detach it here, attachment.detach(), or there, and let it leave.",
                )
        for attachment in self.attachments:
            give(attachment.driver, agent, "runtime.add")

    def join(self) -> None:
        if self.attachments and self._agent.is_alive and not self._agent.is_ending:
            for attachment in self.attachments:
                if not attachment.join():
                    self._discard(attachment)
            self.change()

    def detach(self, attachment: Attachment, reason: str) -> None:
        """A driver was detached: it leaves at the next intake; at once while the agent does not live."""

        def left() -> None:
            self._discard(attachment)
            self.change()

        runtime = self._agent.runtime
        if runtime is None:
            left()
        else:
            runtime.post(attachment.leave, reason, left)
            runtime.post(self.change)

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """The agent ends: all stop driving, the last one first, since those that drive first decide for the others.

        ``then`` is called when all have left.
        """
        open_ones = [one for one in reversed(self.attachments) if one.drives or one.is_leaving]
        count = len(open_ones) + 1  # and this call, so that it comes to an end where nobody has to leave, too

        def left() -> None:
            nonlocal count
            count -= 1
            if count == 0:
                self._give_back()
                # Some may have been detached just now, by what left with them: a selection leaf detaches its own.
                self.attachments = tuple([one for one in self.attachments if one.is_live])
                then()

        for attachment in open_ones:
            attachment.leave(reason, left)
        left()

    def change(self) -> None:
        if self._agent.runtime is not None:
            self._agent.runtime.round.change()

    def _discard(self, attachment: Attachment) -> None:
        self.attachments = tuple([one for one in self.attachments if one is not attachment])
        take(attachment.driver, self._agent)

    def _give_back(self) -> None:
        """The agent does not live, or not any more: its drivers may be given to others."""
        for attachment in self.attachments:
            take(attachment.driver, self._agent)

    def strands(self) -> list[Strand]:
        """The strands of the drivers that have not ended, in the order in which they began."""
        return [strand for attachment in self.attachments for strand in attachment.driver.strands()]

    # --- what an action hands the body on to --------------------------------------------------------------------------

    def lend(self, driver: Driver) -> None:
        """An action hands the body on to a driver, which has joined it."""
        more = self._agent._more()
        more.lent_to = (*more.lent_to, driver)

    def take_back(self, driver: Driver) -> None:
        """A driver to which an action handed the body has left it."""
        more = self._agent._more()
        more.lent_to = tuple([one for one in more.lent_to if one is not driver])

    @property
    def all(self) -> tuple[Driver, ...]:
        """The drivers that are attached, in the order of a tick, and those to which actions handed the body."""
        return (*(attachment.driver for attachment in self.attachments), *self._agent._seldom.lent_to)

    def lent_strands(self) -> list[Strand]:
        """The strands of those drivers; the actions cannot end before these."""
        return [strand for driver in self._agent._seldom.lent_to for strand in driver.strands()]

    def __repr__(self) -> str:
        return f"<Drivers of {self._agent.name!r}: {', '.join(one.driver.name for one in self.attachments) or 'none'}>"


_HOOKS = ("join", "drive", "leave")


class _NoDriver(DefinitionError, AttributeError):
    """What has nothing of a driver; also what Python says of an object that lacks what is asked for."""


def _require_driver(driver: object) -> tuple[str, float]:
    """The name and the rank of a driver; tell an author who slipped what was meant."""
    what = repr_of(driver, 80)
    if isinstance(driver, type):
        raise DefinitionError(
            "agent.attach", f"{driver.__name__} is a class.", f"Attach an object of it: {driver.__name__}(...)."
        )
    try:
        meant = _meant(driver)
        name: object = getattr(driver, "name", None)
        rank: object = getattr(driver, "rank", None)
        is_one = isinstance(name, str) and all(callable(getattr(driver, hook, None)) for hook in _HOOKS)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        raise DefinitionError(
            "agent.attach", f"{what} cannot be asked: {error_words(error, 80)}.", "See agentrt.body.driver.Driver."
        ) from error
    if meant:
        raise DefinitionError("agent.attach", f"{what} is no driver.", meant)
    if not is_one:
        raise _NoDriver(
            "agent.attach",
            f"{what} is no driver.",
            "Give a goal selector, the memory of a behavior tree, the state of a selection tree, or what has the name, "
            "the rank and the methods of agentrt.body.driver.Driver.",
        )
    return str(name), number_in(rank, "agent.attach", f"the rank of {what}")


def _meant(driver: object) -> str:
    """What to write for something that is near to a driver; empty if it is not."""
    instead: object = getattr(driver, "_attach_instead", None)  # said by what is of a model and drives nobody
    if isinstance(instead, str):
        return instead
    if callable(getattr(driver, "attach", None)):
        return "An agent drives its own entity: runtime.add(agent)."
    if isinstance(driver, (list, tuple)):
        return "Attach one after the other, or write Agent(..., drivers=[...])."
    return ""
