"""An agent: an entity, what it knows, and the drivers that make it act.

An agent learns actions from packs or directly; each ``inject`` can be revoked, and an action is known as long as one
injection holds it. Before the agent joins a runtime, and between ticks, that takes effect at once or at the next
intake; never in the middle of a tick.

The agent itself costs nothing while its actions sleep: there is no task of its own, only the strands of the actions
that think and run.

Source: seed 001, "Injecting actions"; "Overview of the AI system", intelligent entity.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

from agentrt.activity.action import Action
from agentrt.activity.current import StateReader, read_entity
from agentrt.activity.knowledge import index_actions
from agentrt.activity.planner import Planner
from agentrt.body.flags import FlagLedger
from agentrt.errors import AgentKilled, DefinitionError, NotRunningError
from agentrt.kernel.signals import Event
from agentrt.kernel.trace import Event as TraceEvent
from agentrt.kernel.trace import TraceRecord
from agentrt.packs.closure import closure_of
from agentrt.packs.loader import Pack, load_pack
from agentrt.packs.registry import Registry, default_registry
from agentrt.snapshot import AgentSnapshot, explain, snapshot_agent

if TYPE_CHECKING:
    from agentrt.kernel.rng import Stream
    from agentrt.runtime import Runtime

__all__ = ["TOP", "Agent", "Injectable", "Injection"]

TOP = "agentrt:top"
"""The activity that every agent performs all the time, unless it says otherwise."""

Injectable = type[Action] | Pack | str | Mapping[str, Any]
"""What an agent can learn: an action class, a pack, a pack's alias, or the content of a pack as a mapping."""


class Injection:
    """What one ``Agent.inject`` taught.

    Attributes:
        agent: who learned it.
        actions: the action classes, in order.
        source: where it came from, in words.
        is_live: whether it was not revoked.
    """

    __slots__ = ("actions", "agent", "is_live", "source")

    def __init__(self, agent: Agent, actions: tuple[type[Action], ...], source: str) -> None:
        self.agent: Agent = agent
        self.actions: tuple[type[Action], ...] = actions
        self.source: str = source
        self.is_live: bool = True

    def revoke(self) -> None:
        """Take it back; an action that nothing else taught is forgotten. A second call does nothing."""
        if self.is_live:
            self.is_live = False
            self.agent._revoke(self)  # the two are one thing

    def __repr__(self) -> str:
        return f"<Injection of {len(self.actions)} actions{'' if self.is_live else ', revoked'}: {self.source}>"


class Agent:
    """An entity that acts.

    Args:
        entity: any object; its ``name`` is the agent's unless one is given.
        name: what traces and tools call it. A runtime adds a number if there ever was one of that name.
        actions: action classes that it knows from the start.
        packs: packs, aliases of packs, or contents of packs that it knows from the start.
        top: the activity that it performs all the time.
        read_state: how to read a field of the entity's state for CURRENT.
        registry: where aliases are looked up; by default what the installed packages offer.

    Attributes:
        runtime: the runtime that it is part of, or None.
        flags: its ledger of control flags.
        has_ended: set when it has left its runtime or was killed.
        error: why it was killed, or None.
    """

    __slots__ = (
        "__weakref__",
        "_injections",
        "_random",
        "_read_state",
        "_registry",
        "entity",
        "error",
        "flags",
        "given_name",
        "has_ended",
        "name",
        "planner",
        "runtime",
        "top",
    )

    def __init__(
        self,
        entity: Any,
        *,
        name: str | None = None,
        actions: tuple[type[Action], ...] | list[type[Action]] = (),
        packs: tuple[Injectable, ...] | list[Injectable] = (),
        top: str = TOP,
        read_state: StateReader = read_entity,
        registry: Registry | None = None,
    ) -> None:
        self.entity: Any = entity
        self.given_name: str = name or str(getattr(entity, "name", None) or type(entity).__name__.lower())
        self.name: str = self.given_name
        self.top: str = top
        self.runtime: Runtime | None = None
        self.planner: Planner | None = None
        self.flags: FlagLedger = FlagLedger()
        self.has_ended: Event | None = None
        self.error: AgentKilled | None = None
        self._registry = registry
        self._read_state = read_state
        self._random: Stream | None = None
        self._injections: list[Injection] = []
        if actions or packs:
            self.inject(*packs, *actions, source="its own")

    # --- knowing ------------------------------------------------------------------------------------------------------

    def inject(self, *what: Injectable, source: str = "code") -> Injection:
        """Teach the agent actions. Takes effect at the next intake if it is running.

        Args:
            what: action classes, packs, aliases of packs, contents of packs.
            source: where they come from, in words, such as ``"equipment: pet collar"``.

        Returns:
            The injection, which can be revoked.

        Raises:
            DefinitionError: the actions do not fit together.
            DataFault: a pack is not valid, or names what nobody registered.
        """
        actions: list[type[Action]] = []
        for one in what:
            if isinstance(one, type):
                if not issubclass(one, Action):
                    raise DefinitionError(one.__qualname__, "it is not an action.", "Derive it from agentrt.Action.")
                actions.append(one)
            else:
                actions.extend(self._resolve(one))
        injection = Injection(self, tuple(dict.fromkeys(actions)), source)
        index_actions([*self.actions, *injection.actions])  # whatever does not fit is an error before anything changed
        self._injections.append(injection)
        self._changed(TraceEvent.INJECTED, injection)
        return injection

    def _resolve(self, pack: Pack | str | Mapping[str, Any]) -> tuple[type[Action], ...]:
        registry = default_registry() if self._registry is None else self._registry
        if not isinstance(pack, (Pack, str)):
            pack = load_pack(pack)
        closure = closure_of([pack], registry)
        for kind in ("observers", "components", "task_groups"):
            listed = getattr(closure, kind)
            if listed:
                raise DefinitionError(
                    str(listed[0]),
                    f"the pack lists it under '{kind}'.",
                    "This version runs the actions of a pack only.",
                )
        actions = []
        for alias in closure.actions:
            found = registry.get(alias)
            if not (isinstance(found, type) and issubclass(found, Action)):
                raise DefinitionError(alias, f"it names {found!r}.", "Register a class derived from agentrt.Action.")
            actions.append(found)
        return tuple(actions)

    def _revoke(self, injection: Injection) -> None:
        self._injections.remove(injection)
        self._changed(TraceEvent.REVOKED, injection)

    def _changed(self, event: TraceEvent, injection: Injection) -> None:
        runtime = self.runtime
        if runtime is not None and self.planner is not None:
            runtime.post(self._take_up, event, injection)

    def _take_up(self, event: TraceEvent, injection: Injection) -> None:
        planner = self.planner
        if planner is not None and not planner.execution.is_stopped:
            if planner.trace.on:
                detail = (("source", injection.source), ("actions", len(injection.actions)))
                planner.record("", event, detail)
            planner.learn(index_actions(self.actions))

    @property
    def actions(self) -> tuple[type[Action], ...]:
        """The actions that it knows, each once, in the order in which it learned them."""
        injections = self._injections
        if len(injections) == 1:
            return injections[0].actions
        return tuple(dict.fromkeys(action for injection in injections for action in injection.actions))

    # --- living -------------------------------------------------------------------------------------------------------

    @property
    def is_alive(self) -> bool:
        """Whether it is part of a runtime and has not ended."""
        return self.planner is not None and self.has_ended is not None and not self.has_ended.is_set

    @property
    def random(self) -> Stream:
        """Its own stream of random numbers, from the runtime's seed and its name.

        Raises:
            NotRunningError: it is not part of a runtime.
        """
        if self._random is None:
            if self.runtime is None:
                raise NotRunningError(
                    "an agent has random numbers only in a runtime. Add it first: runtime.add(agent)."
                )
            self._random = self.runtime.stream(f"agent {self.name}")
        return self._random

    def join(self, runtime: Runtime, name: str) -> None:
        """Become part of a runtime; called by ``Runtime.add``. Thinking begins at the next intake.

        Args:
            runtime: the runtime.
            name: a name that no other agent there has.
        """
        self.runtime = runtime
        self.name = name
        self.error = None
        self.has_ended = Event()
        self._random = None
        self.planner = planner = Planner(runtime.kernel, self, self.flags, self.top, self._read_state)
        planner.learn(index_actions(self.actions))
        runtime.post(self._begin)

    def _begin(self) -> None:
        if self.planner is not None:
            if self.planner.trace.on:
                self.planner.record("", TraceEvent.ADDED, ())
            self.planner.execution.begin()

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

    def planner_fault(self, text: str, path: str, error: BaseException) -> None:
        """A hook raised: log it with its place."""
        runtime = self.runtime
        tick = None if runtime is None else runtime.tick
        self.logger(path).error(text, tick=tick, exc_info=error)

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
        runtime.agent_ended(self)

    def planner_ended(self) -> None:
        """The planner was told to end, and has."""
        runtime = self.runtime
        assert runtime is not None
        if runtime.trace.on:
            runtime.trace.emit(TraceRecord(runtime.tick, self.name, "", TraceEvent.REMOVED))
        runtime.agent_ended(self)

    def logger(self, path: str) -> Any:
        """A logger bound to the agent and a place in its plan.

        Args:
            path: the place.
        """
        from agentrt.logs import get_logger

        return get_logger(agent=self.name, path=path)

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
        return self.snapshot().status_text

    def __repr__(self) -> str:
        state = "killed" if self.error is not None else "alive" if self.is_alive else "not running"
        return f"<Agent {self.name!r}: {state}, knows {len(self.actions)} actions>"
