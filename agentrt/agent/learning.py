"""Learning: the half of an agent that knows things. ``agent`` has the half that lives.

An agent learns actions, and whatever else packs hold, by ``inject``; each injection can be revoked, and a thing is
known as long as one injection holds it. While the agent is in no runtime that takes effect at once, else at the next
intake; never in the middle of a tick. All that is wrong with what is injected is an error of ``inject``, which then
has changed nothing.

Task groups are found by name as soon as the agent is in them: personal ones when ``inject`` returns, others when
``TaskGroup.add`` does. What an agent has from packs besides actions: see ``belongings``.

Source: seed 001, "Injecting actions", "Tasks".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from agentrt.activity.plan.knowledge import check_group, index_actions
from agentrt.agent.belongings import Belongings, ai_of, packs_of, words_for
from agentrt.agent.injection import Content, Injectable, Injection, named, resolve
from agentrt.agent.logs import get_logger
from agentrt.errors import AgentRTError, UnknownTaskGroupError, WrongStateError
from agentrt.kernel.trace import Event as TraceEvent
from agentrt.packs.registry import Registry, default_registry

if TYPE_CHECKING:
    from agentrt.activity.author.action import Action
    from agentrt.activity.plan.planner import Planner
    from agentrt.activity.tasks.group import Extension, TaskGroup
    from agentrt.agent.agent import Agent
    from agentrt.runtime.runtime import Runtime
    from agentrt.strategy.declare import Dependency, Strategy
    from agentrt.strategy.gameplay import Gameplay

__all__ = ["Learner", "known_here"]


def known_here() -> Registry:
    """The registry of what is installed; what a package is broken in is logged, once."""
    registry = default_registry()
    for error in registry.take_untold():
        get_logger().error("a package is passed over", exc_info=error)
    return registry


class Learner:
    """What an agent knows. The base class of ``Agent`` alone.

    Args:
        entity: whose agent it is; the packs that it lists as its own are learned first.
        name: what to call it.
        what: what it knows besides.
        registry: where aliases are looked up; None for what the installed packages offer.
    """

    __slots__ = (
        "_belongings",
        "_gameplay",
        "_groups",
        "_injections",
        "_registry",
        "entity",
        "name",
        "planner",
        "runtime",
    )

    def __init__(self, entity: Any, name: str, what: tuple[Injectable, ...], registry: Registry | None) -> None:
        self.entity: Any = entity
        self.name: str = name
        self.runtime: Runtime | None = None
        self.planner: Planner | None = None
        self._registry = registry
        self._injections: list[Injection] = []
        self._groups: list[TaskGroup] | None = None  # all that it is in, in the order of joining
        self._belongings: Belongings | None = None  # made with the first injection that holds more than actions
        self._gameplay: Gameplay | None = None  # made when it is first asked for; a pack may
        listed = packs_of(entity)
        if listed:
            self._learn(listed, "entity data", is_saved=False)
        if what:
            self._learn(what, "its own", is_saved=False)

    # --- injections ---------------------------------------------------------------------------------------------------

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

        Source: seed 001, "Injecting actions".
        """
        return self._learn(what, source, is_saved=is_saved)

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

        Source: seed 001, "Injecting actions", `injected_ai`.
        """
        return self._learn(ai_of(bearer), words_for(bearer) if source is None else source, bearer=bearer)

    def learn_solver(self, action: type[Action]) -> Callable[[], None]:
        """Have the plan know how to perform the activity of a dependency; called by the gameplay.

        Args:
            action: the action that does.

        Returns:
            A function that undoes it.
        """
        return self._learn((action,), "gameplay", is_saved=False).revoke

    def _learn(
        self, what: tuple[Injectable, ...], source: str, *, is_saved: bool = True, bearer: object = None
    ) -> Injection:
        loaded = named(what)
        content = resolve(loaded, self._table)
        # What does not fit is an error before all changes.
        known = index_actions([*self.actions, *content.actions, *_solvers_of(content)])
        for group in self._groups or ():
            check_group(known, group.spec)
        injection = Injection(cast("Agent", self), content, source, loaded if is_saved else None, bearer)
        if not content.is_plain:
            self._take(injection, content)
        else:
            self._injections.append(injection)
        self._changed(TraceEvent.INJECTED, injection)
        return injection

    def _take(self, injection: Injection, content: Content) -> None:
        """Take an injection that holds more than actions, or raise and be as before."""
        if self._belongings is None:
            self._belongings = Belongings(cast("Agent", self))
        belongings = self._belongings
        belongings.check(content)
        self._injections.append(injection)
        try:
            if self.runtime is None:
                belongings.settle()
            else:
                self.runtime.post(belongings.settle_quietly)  # before the groups: members may need the components
                belongings.take_groups()
        except AgentRTError:
            self._injections.remove(injection)
            injection.is_live = False
            belongings.give_back_groups()
            if self.runtime is None:
                belongings.settle_quietly()
            raise

    def _table(self) -> Registry:
        return known_here() if self._registry is None else self._registry

    @property
    def registry(self) -> Registry:
        """Where it looks up aliases."""
        return self._table()

    def _revoke(self, injection: Injection) -> None:
        self._injections.remove(injection)
        if injection.content is not None:
            assert self._belongings is not None
            if self.runtime is None:
                self._belongings.settle_quietly()
            else:
                self.runtime.post(self._belongings.settle_quietly)
        self._changed(TraceEvent.REVOKED, injection)

    def _changed(self, event: TraceEvent, injection: Injection) -> None:
        runtime = self.runtime
        if runtime is not None and self.planner is not None:
            runtime.post(self._take_up, event, injection)

    def _take_up(self, event: TraceEvent, injection: Injection) -> None:
        planner = self.planner
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
                planner.learn_groups(self._groups or ())

    @property
    def injections(self) -> tuple[Injection, ...]:
        """What it was taught and was not revoked, in that order."""
        return tuple(self._injections)

    @property
    def actions(self) -> tuple[type[Action], ...]:
        """The actions that it knows, each once, in the order in which it learned them."""
        injections = self._injections
        if len(injections) == 1:
            return injections[0].actions
        return tuple(dict.fromkeys(action for injection in injections for action in injection.actions))

    # --- task groups --------------------------------------------------------------------------------------------------

    @property
    def task_groups(self) -> tuple[TaskGroup, ...]:
        """The task groups that it is in, personal and shared ones, in the order in which it joined them."""
        return tuple(self._groups or ())

    def get_task_group(self, name: str) -> TaskGroup:
        """A task group that it is in, personal or shared.

        Args:
            name: the group's; for a personal one the alias that the pack names.

        Raises:
            UnknownTaskGroupError: it is in no such group.

        Source: seed 001, "Personal task groups".
        """
        groups = self._groups or ()
        for group in groups:
            if group.name == name:
                return group
        raise UnknownTaskGroupError(
            name,
            f"the agent {self.name!r}",
            [group.name for group in groups],
            "Inject a pack that names it under 'task_groups', or add the agent to it.",
        )

    @property
    def group_extensions(self) -> tuple[Extension, ...]:
        """What packs add to its personal task groups, in that order."""
        return () if self._belongings is None else self._belongings.extensions

    def group_joined(self, group: TaskGroup) -> None:
        """It becomes a member of a task group; called by ``TaskGroup.add``.

        Args:
            group: the group.

        Raises:
            DefinitionError: it knows actions with arguments for what the group does.
            WrongStateError: it is in another group of that name.
        """
        check_group(index_actions(self.actions), group.spec)
        if self._groups is None:
            self._groups = []
        if any(other.name == group.name for other in self._groups):
            raise WrongStateError(
                "group.add", f"{self.name!r} is in another group called {group.name}", "Give it another name."
            )
        self._groups.append(group)
        self._groups_changed()

    def group_left(self, group: TaskGroup) -> None:
        """It is a member of a task group no more; called by ``TaskGroup.remove``.

        Args:
            group: the group.
        """
        if self._groups is not None and group in self._groups:
            self._groups.remove(group)
            self._groups_changed()

    def _groups_changed(self) -> None:
        if self.runtime is not None and self.planner is not None:
            self.runtime.post(self._take_up_groups)

    def _take_up_groups(self) -> None:
        planner = self.planner
        if planner is not None and not planner.execution.is_stopped:
            planner.learn_groups(self._groups or ())


def _solvers_of(content: Content) -> list[type[Action]]:
    """The actions by which a plan has solved what strategies provide."""
    if not content.strategies:
        return []
    from agentrt.strategy.requests import solver_of  # most agents have none

    return [solver_of(wanted) for strategy in content.strategies for wanted in _provided(strategy)]


def _provided(strategy: type[Strategy]) -> tuple[type[Dependency[Any]], ...]:
    spec = getattr(strategy, "spec", None)  # a base class has none, which is told later
    return () if spec is None else spec.provides
