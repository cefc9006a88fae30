"""Knowledge: what one agent knows, and how it learns and forgets.

It learns actions, and whatever else packs hold, by injections; each can be revoked, and a thing is known as long as
one injection holds it. While the agent is in no runtime that takes effect at once, else at the next intake; never in
the middle of a tick. All that is wrong with what is injected is an error of ``teach``, which then has changed nothing.

Task groups are found by name as soon as the agent is in them: personal ones when ``teach`` returns, others when
``TaskGroup.add`` does. What the agent has from packs besides actions stands in ``belongings``, which are made with the
first injection that holds any of it: most agents know actions alone.

Nobody is given the injection of what an agent is made with. If that is action classes alone, as mostly, the injection
is made when somebody looks.

The planner is told, and never asks: ``equip`` gives a new one all that there is, and each change is posted to it.

Source: Stonehearth, AI: "Injecting actions", "Tasks".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from agentrt.activity.author.action import Action
from agentrt.activity.plan.election import check_group, index_actions
from agentrt.agent.belongings import Belongings
from agentrt.agent.injection import Content, Injectable, Injection, Learner, named, resolve
from agentrt.agent.logs import get_logger
from agentrt.errors import AgentRTError, UnknownTaskGroupError, WrongStateError
from agentrt.kernel.trace import TraceEvent
from agentrt.packs.registry import Registry, default_registry

if TYPE_CHECKING:
    from agentrt.activity.plan.planner import Planner
    from agentrt.activity.tasks.group import TaskGroup
    from agentrt.strategy.declare import Strategy
    from agentrt.strategy.dependency import Dependency

__all__ = ["Knowledge", "known_here"]

_OWN: Final = "its own"


def known_here() -> Registry:
    """The registry of what is installed; what a package is broken in is logged, once."""
    registry = default_registry()
    for error in registry.take_untold():
        get_logger().error("a package is passed over", exc_info=error)
    return registry


class Knowledge:
    """What one agent knows."""

    __slots__ = ("_agent", "_given", "_injections", "_registry", "belongings", "groups")

    def __init__(self, agent: Learner, registry: Registry | None) -> None:
        self._agent = agent
        self._registry = registry  # where aliases are looked up; None for what the installed packages offer
        self._given: tuple[type[Action], ...] = ()  # what it was made with, until there is an injection of that
        self._injections: tuple[Injection, ...] = ()
        self.groups: tuple[TaskGroup, ...] = ()  # personal and shared ones, in the order in which they were joined
        self.belongings: Belongings | None = None  # made with the first injection that holds more than actions

    @property
    def registry(self) -> Registry:
        """Where aliases are looked up."""
        return known_here() if self._registry is None else self._registry

    # --- injections ---------------------------------------------------------------------------------------------------

    @property
    def injections(self) -> tuple[Injection, ...]:
        """What was taught and was not revoked, in that order."""
        if self._given:
            self._injections = (Injection(self._agent, Content(self._given), _OWN, None, None, self),)
            self._given = ()
        return self._injections

    def start_with(self, packs: tuple[Injectable, ...], own: tuple[Injectable, ...]) -> None:
        """An agent is made: it knows what its entity names, and what it is given."""
        if packs:
            self.teach(packs, "entity data", is_saved=False)
        elif all(isinstance(one, type) and issubclass(one, Action) for one in own):
            self._given = resolve(named(own), lambda: self.registry).actions
            index_actions(self._given)  # what does not fit is an error
            return
        if own:
            self.teach(own, _OWN, is_saved=False)

    def teach(
        self, what: tuple[Injectable, ...], source: str, *, is_saved: bool = True, bearer: object = None
    ) -> Injection:
        """Learn something. See ``Agent.inject``."""
        loaded = named(what)
        content = resolve(loaded, lambda: self.registry)
        # What does not fit is an error before all changes.
        known = index_actions([*self.actions, *content.actions, *_solvers_of(content)])
        for group in self.groups:
            check_group(known, group.spec)
        injection = Injection(self._agent, content, source, loaded if is_saved else None, bearer, self)
        if content.is_plain:
            self._add(injection)
        else:
            self._take(injection, content)
        self._agent.post(self._take_up, TraceEvent.INJECTED, injection)
        return injection

    def _take(self, injection: Injection, content: Content) -> None:
        """Take an injection that holds more than actions, or raise and be as before."""
        if self.belongings is None:
            self.belongings = Belongings(self._agent)
        belongings = self.belongings
        belongings.check(content)
        self._add(injection)
        try:
            if self._agent.kernel is None:
                belongings.settle()
            else:
                # Posted before the groups are joined, which post as well: members may need the components.
                self._agent.post(belongings.settle_quietly)
                belongings.take_groups()
        except AgentRTError:
            self._let_go(injection)
            injection.is_live = False
            belongings.give_back_groups()
            if self._agent.kernel is None:
                belongings.settle_quietly()
            raise

    def _add(self, injection: Injection) -> None:
        self._injections = (*self.injections, injection)

    def _let_go(self, injection: Injection) -> None:
        self._injections = tuple([one for one in self.injections if one is not injection])

    def forget(self, injection: Injection) -> None:
        """An injection was revoked; called by it."""
        self._let_go(injection)
        if injection.content is not None:
            assert self.belongings is not None
            if self._agent.kernel is None:
                self.belongings.settle_quietly()
            else:
                self._agent.post(self.belongings.settle_quietly)
        self._agent.post(self._take_up, TraceEvent.REVOKED, injection)

    def _take_up(self, event: TraceEvent, injection: Injection) -> None:
        planner = self._agent.planner
        if planner is not None and not planner.execution.is_stopped:
            content = injection.content
            if planner.trace.on:
                detail: tuple[tuple[str, str | int], ...] = (
                    ("source", injection.source),
                    ("actions", len(injection.actions)),
                )
                if content is not None:
                    kinds = ("components", "observers", "groups", "strategies")
                    detail += tuple((kind, len(getattr(content, kind))) for kind in kinds if getattr(content, kind))
                planner.record("", event, detail)
            planner.learn(index_actions(self.actions))
            if content is not None and content.groups:
                planner.learn_groups(self.groups)

    @property
    def actions(self) -> tuple[type[Action], ...]:
        """The actions, each once, in the order in which they were learned."""
        if self._given:
            return self._given
        injections = self.injections
        if len(injections) == 1:
            return injections[0].actions
        return tuple(dict.fromkeys(action for injection in injections for action in injection.actions))

    # --- task groups --------------------------------------------------------------------------------------------------

    def group(self, name: str) -> TaskGroup:
        """The task group of a name."""
        groups = {group.name: group for group in self.groups}
        if name not in groups:
            remedy = "Inject a pack that names it under 'task_groups', or add the agent to it."
            raise UnknownTaskGroupError(name, f"the agent {self._agent.name!r}", list(groups), remedy)
        return groups[name]

    def join_group(self, group: TaskGroup) -> None:
        """Become a member of a task group, whose activity no known action may take arguments for."""
        check_group(index_actions(self.actions), group.spec)
        if any(other.name == group.name for other in self.groups):
            raise WrongStateError(
                "group.add", f"{self._agent.name!r} is in another group called {group.name}", "Give it another name."
            )
        self.groups += (group,)
        self._agent.post(self._take_up_groups)

    def leave_group(self, group: TaskGroup) -> None:
        """Be a member of a task group no more."""
        if group in self.groups:
            self.groups = tuple([one for one in self.groups if one is not group])
            self._agent.post(self._take_up_groups)

    def _take_up_groups(self) -> None:
        planner = self._agent.planner
        if planner is not None and not planner.execution.is_stopped:
            planner.learn_groups(self.groups)

    # --- the life of the agent ----------------------------------------------------------------------------------------

    def enter(self, tick: int) -> None:
        """The agent is about to join a runtime: its groups begin to act, unless another member had them do so."""
        for group in self.groups:
            if group.runtime is None:
                group.begins_to_act(tick)

    def equip(self, planner: Planner) -> None:
        """Give a new planner all that there is; nobody thinks yet."""
        planner.learn(index_actions(self.actions))
        if self.groups:
            planner.learn_groups(self.groups)
        if self.belongings is not None:
            self.belongings.observers.reset()

    def begin(self) -> None:
        """The agent begins to live: so do its observers; what was told to its groups since it was added counts."""
        self.settle()
        for group in self.groups:
            group.publish()
        self._take_up_groups()

    def settle(self) -> None:
        """Take up at once what waits for an intake; when the agent has left, that never comes."""
        if self.belongings is not None:
            self.belongings.settle_quietly()

    def end_observers(self, reason: str, then: Callable[[], object]) -> None:
        """Stop the observers; ``then`` is called when none is left, at once if there is none."""
        if self.belongings is None:
            then()
        else:
            self.belongings.observers.leave(reason, then)

    def leave_shared_groups(self) -> None:
        """Leave the groups that the agent shares with others; its own ones stay, with their tasks."""
        for group in self.groups:
            if group.owner is not self._agent:
                group.remove(self._agent)

    def __repr__(self) -> str:
        return f"<Knowledge of {self._agent.name!r}: {len(self.actions)} actions, {len(self.groups)} task groups>"


def _solvers_of(content: Content) -> list[type[Action]]:
    """The actions by which a plan has solved what strategies provide."""
    if not content.strategies:
        return []
    from agentrt.strategy.requests import solver_of  # most agents have none

    return [solver_of(wanted) for strategy in content.strategies for wanted in _provided(strategy)]


def _provided(strategy: type[Strategy]) -> tuple[type[Dependency[Any]], ...]:
    spec = getattr(strategy, "spec", None)  # a base class has none, which is told later
    return () if spec is None else spec.provides
