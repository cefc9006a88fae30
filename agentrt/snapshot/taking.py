"""Taking a snapshot: what an agent is doing now, asked of its parts.

Nothing is changed by it and nothing is kept alive. A driver that cannot be looked at says so in its view; whatever
else an author's own object does when it is asked for its name or its text is caught where it happens.

Source: design section 7, "Snapshot".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.activity.search import running_branch
from agentrt.body.driver import TARGETS
from agentrt.body.model_views import ModelView, Outline
from agentrt.errors import ENDS_PROGRAM
from agentrt.snapshot.agent_views import AgentSnapshot, DriverView, FlagView, InjectionView
from agentrt.snapshot.places import frame_view
from agentrt.snapshot.summary import AgentSummary, models_doing
from agentrt.status import SILENT, status_of
from agentrt.words import error_words, plain, words_of

if TYPE_CHECKING:
    from agentrt.activity.execution import Execution
    from agentrt.agent import Agent
    from agentrt.attachments import Attachment
    from agentrt.body.driver import Driver
    from agentrt.injection import Injection
    from agentrt.strategy.gameplay import Gameplay
    from agentrt.strategy.views import GameplayView

__all__ = ["outlines", "snapshot_agent", "summarize"]


def snapshot_agent(agent: Agent) -> AgentSnapshot:
    """Take a snapshot of an agent.

    Args:
        agent: the agent.
    """
    planner = agent.planner
    execution = None if planner is None else planner.execution
    status = SILENT if planner is None else status_of(planner)
    flags = agent.flags
    clock = None if planner is None else planner.kernel.clock  # it is kept when the agent is removed or killed
    return AgentSnapshot(
        name=agent.name,
        kind=_kind(agent),
        number=agent.number,
        tick=0 if clock is None else clock.tick,
        ticks_per_second=0 if clock is None else clock.ticks_per_second,
        is_alive=agent.is_alive,
        is_ending=agent.is_ending,
        error="" if agent.error is None else words_of(agent.error),
        status_text=agent.status_text,
        status_key=status.key,
        status_args=plain(status.args),
        running=_running(execution)[0],
        plan=None if execution is None else frame_view(execution.root, execution.root.path()),
        again=0 if execution is None else execution.due,
        performances=()
        if planner is None
        else tuple(frame_view(one.root, one.root.path()) for one in planner.performances),
        drivers=tuple(_driver_view(attachment) for attachment in agent.attachments),
        flags=tuple(FlagView(flag, hold.name, hold.since) for flag, hold in flags.holds().items()),
        waiting=tuple(flags.waiting()),
        refusals=tuple(flags.refusals()),
        aborts=0 if execution is None else execution.aborts,
        abort_reason="" if execution is None else execution.abort_reason,
        observers=agent.running_observers,
        groups=tuple(group.name for group in agent.task_groups),
        injections=tuple(_injection_view(injection) for injection in agent.injections),
        strategies=_strategies(agent),
    )


def summarize(agent: Agent) -> AgentSummary:
    """An agent in one line, without a snapshot: for long lists.

    Args:
        agent: the agent.
    """
    execution = None if agent.planner is None else agent.planner.execution
    running, doing = _running(execution)
    attachments, gameplay = agent.attachments, _gameplay(agent)
    models: tuple[str, ...] = ("plan",) if execution is not None and execution.root.units else ()
    if gameplay is not None:
        models += ("strategies",)
        doing = doing or " + ".join(one.stack[-1].provider.spec.label for one in gameplay.running if one.stack)
    if attachments:
        models += tuple(dict.fromkeys(_model(one.driver) or one.driver.name for one in attachments))
        doing = doing or models_doing([(one.driver.rank, _looked_at(one.driver)[0]) for one in attachments])
    return AgentSummary(
        name=agent.name,
        number=agent.number,
        kind=_kind(agent),
        status=agent.status_text,
        running=running,
        doing=doing,
        models=models,
        aborts=0 if execution is None else execution.aborts,
        waiting=bool(agent.flags.waiting()),
        alive=agent.is_alive,
    )


def outlines(agent: Agent) -> dict[str, Outline]:
    """The trees that drive an agent, whole, by the names of its drivers; models without a tree are left out.

    Args:
        agent: the agent.
    """
    found: dict[str, Outline] = {}
    for attachment in agent.attachments:
        outline = getattr(attachment.driver, "outline", None)
        made = outline() if callable(outline) else None
        if isinstance(made, Outline):
            found[attachment.driver.name] = made
    return found


def _kind(agent: Agent) -> str:
    kind = getattr(agent.entity, "kind", "")
    return kind if isinstance(kind, str) else ""


def _running(execution: Execution | None) -> tuple[str, str]:
    """The path and the name of the innermost unit that runs; empty if none does."""
    if execution is None:
        return "", ""
    innermost = None
    for unit in running_branch(execution.root):
        innermost = unit
    return ("", "") if innermost is None else (innermost.path(), innermost.spec.name)


# --- other models -----------------------------------------------------------------------------------------------------


def _driver_view(attachment: Attachment) -> DriverView:
    driver = attachment.driver
    view, lines = _looked_at(driver)
    return DriverView(
        name=driver.name,
        rank=driver.rank,
        every=attachment.every,
        precedence=driver.precedence,
        state=view,
        lines=lines,
        model=_model(driver),
        active=view.active() if isinstance(view, ModelView) else (),
        outline=view.outline_id if isinstance(view, ModelView) else "",
    )


def _looked_at(driver: Driver) -> tuple[object, tuple[str, ...]]:
    view = None
    try:
        view = driver.view()
        return view, tuple(view.lines())
    except ENDS_PROGRAM:
        raise
    except BaseException as error:  # whoever looks must not be stopped by a driver that cannot be looked at
        return view, (f"its view raised {error_words(error)}",)


def _model(driver: Driver) -> str:
    """What a model is called; empty for one of somebody's own."""
    kind = getattr(type(driver), "view_type", None)
    if not isinstance(kind, type) or not issubclass(kind, ModelView):
        return ""
    return "targets" if kind.model == "goals" and driver.rank == TARGETS else kind.model


# --- strategies -------------------------------------------------------------------------------------------------------


def _gameplay(agent: Agent) -> Gameplay | None:
    """Its gameplay, if it has one that can be asked for something; it is not made by looking for it."""
    gameplay = agent._gameplay
    is_empty = gameplay is None or not (gameplay.catalog.providers or gameplay.running or gameplay.finished)
    return None if is_empty else gameplay


def _strategies(agent: Agent) -> GameplayView | None:
    gameplay = _gameplay(agent)
    if gameplay is None:
        return None
    from agentrt.strategy.viewing import view_of  # who has no strategies does not load them

    return view_of(gameplay)


# --- what it knows ----------------------------------------------------------------------------------------------------


def _injection_view(injection: Injection) -> InjectionView:
    content = injection.content
    given: list[str] = []
    if content is not None:
        given = [one.alias for one in content.components]
        given += [one.alias for one in content.observers]
        given += [one.alias for one in content.groups]
        given += [one.spec.name for one in content.strategies]
    return InjectionView(injection.source, len(injection.actions), tuple(given))
