"""What an agent is doing, whole, as frozen, plain data: its plan, its other models, its control flags, what it knows.

A snapshot keeps nothing alive but numbers and words. It is versioned: ``as_json`` writes the version, and ``from_json``
reads that of this release, from a recording or from anywhere else; it is hostile until it was read.

Source: design section 7, "Snapshot".
"""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass
from dataclasses import fields as fields_of
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from agentrt.body.flags import Refusal, Waiting
from agentrt.body.model_views import ModelView
from agentrt.body.reading import Fields
from agentrt.errors import DataFault
from agentrt.snapshot.plan_views import FrameView
from agentrt.snapshot.summary import AgentSummary, doing_of
from agentrt.words import plain

if TYPE_CHECKING:
    from agentrt.strategy.views import GameplayView

__all__ = ["VERSION", "AgentSnapshot", "DriverView", "FlagView", "InjectionView", "check_version"]

VERSION = 1
"""Of the shape of snapshots as JSON. It changes when something is renamed, removed, or means something else."""


class FlagView(NamedTuple):
    """Who holds a control flag.

    Attributes:
        flag: which.
        holder: who, by name.
        since: the tick in which it took it.
    """

    flag: str
    holder: str
    since: int


class InjectionView(NamedTuple):
    """Something that an agent was taught.

    Attributes:
        source: where it came from, in words.
        actions: how many action classes it taught.
        teaches: what else: the aliases of components, observers and task groups, the names of strategies.
    """

    source: str
    actions: int
    teaches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DriverView:
    """What another model does with the agent.

    Attributes:
        name: the driver's.
        rank: where it stands in a tick: 0 selection tree, 1 target selector, 2 goal selector, 3 behavior tree.
        every: in each so many-th tick it drives.
        precedence: of its claims for control flags.
        state: what it is doing, as the model shows it: plain values.
        lines: the same in words.
        model: ``goals``, ``targets``, ``behavior`` or ``selection``; empty for a model of somebody's own.
        active: the paths of what is active, as in the trace.
        outline: which outline its tree has; empty if it has none. Another outline has another id.
    """

    name: str
    rank: int
    every: int
    precedence: int
    state: Any
    lines: tuple[str, ...]
    model: str = ""
    active: tuple[str, ...] = ()
    outline: str = ""

    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values."""
        return {
            "name": self.name,
            "model": self.model,
            "rank": self.rank,
            "every": self.every,
            "precedence": self.precedence,
            "active": list(self.active),
            "outline": self.outline,
            "state": _state_json(self.state),
            "lines": list(self.lines),
        }

    @classmethod
    def read(cls, fields: Fields) -> DriverView:
        """Read what ``as_json`` wrote.

        Args:
            fields: its object.

        Raises:
            DataFault: it is no such view.
        """
        model = fields.text("model")
        return cls(
            name=fields.text("name"),
            rank=fields.whole("rank"),
            every=fields.whole("every"),
            precedence=fields.whole("precedence"),
            state=_read_state(fields, model),
            lines=fields.texts("lines"),
            model=model,
            active=fields.texts("active"),
            outline=fields.text("outline", ""),
        )


def _state_json(state: Any) -> Any:
    if isinstance(state, ModelView):
        return state.as_json()
    if is_dataclass(state) and not isinstance(state, type):  # of somebody's own: shallow, ``plain`` does the rest
        state = {one.name: getattr(state, one.name) for one in fields_of(state)}
    return plain(state)


def _read_state(fields: Fields, model: str) -> Any:
    """The view of a model of this library is made again; that of any other one stays plain."""
    if model in ("goals", "targets"):
        from agentrt.goals.views import GoalSelectorView  # who has no such model does not load it

        return GoalSelectorView.read(fields.inner("state"))
    if model == "behavior":
        from agentrt.behavior.views import TreeView

        return TreeView.read(fields.inner("state"))
    if model == "selection":
        from agentrt.selection.view import SelectionView

        return SelectionView.read(fields.inner("state"))
    return fields.plain("state")


@dataclass(frozen=True, slots=True)
class AgentSnapshot:
    """What an agent is doing.

    Attributes:
        name: the agent's.
        kind: of its entity; empty if that has none.
        number: the agent's number; see ``Agent.number``.
        tick: when.
        ticks_per_second: how many ticks make a game second; 0 outside a runtime.
        is_alive: whether it has not ended.
        is_ending: whether it was told to end.
        error: why it was killed; empty if it was not.
        status_text: what it does, for players: the text of the innermost running action that has one, translated.
        status_key: the key of that text; empty if no action has one.
        status_args: what the text is filled with, as plain values; entities by their names.
        running: the path of what it runs, down to the leaf; empty while it only thinks.
        plan: its plan tree; None outside a runtime.
        again: the tick in which it plans anew, after an abort or a plan that took no time; 0 if nothing is due.
        performances: what is performed beside the plan, as plan trees.
        drivers: what the other models do that drive it, in the order of a tick.
        flags: the control flags that are held, by whom and since when.
        waiting: who waits for control flags, in the order in which they are served.
        refusals: who was refused a control flag, and why.
        aborts: how many aborts there were in a row.
        abort_reason: the last one's reason.
        observers: the aliases of the observers that run.
        groups: the names of the task groups that it is in.
        injections: what it was taught, and where that came from.
        strategies: what it solves, and by which strategies; None if it has none.
    """

    version: ClassVar[int] = VERSION

    name: str
    kind: str
    number: int
    tick: int
    ticks_per_second: int
    is_alive: bool
    is_ending: bool
    error: str
    status_text: str
    status_key: str
    status_args: dict[str, Any]
    running: str
    plan: FrameView | None
    again: int
    performances: tuple[FrameView, ...]
    drivers: tuple[DriverView, ...]
    flags: tuple[FlagView, ...]
    waiting: tuple[Waiting, ...]
    refusals: tuple[Refusal, ...]
    aborts: int
    abort_reason: str
    observers: tuple[str, ...]
    groups: tuple[str, ...]
    injections: tuple[InjectionView, ...]
    strategies: GameplayView | None = None

    @property
    def seconds(self) -> float:
        """When, in game seconds; 0 outside a runtime."""
        return self.tick / self.ticks_per_second if self.ticks_per_second else 0.0

    def summary(self) -> AgentSummary:
        """The same in one line of a list."""
        return AgentSummary(
            name=self.name,
            number=self.number,
            kind=self.kind,
            status=self.status_text,
            running=self.running,
            doing=doing_of(self.plan, self.drivers, "" if self.strategies is None else self.strategies.doing()),
            models=(("plan",) if self.plan is not None and self.plan.units else ())
            + (() if self.strategies is None else ("strategies",))
            + tuple(dict.fromkeys(driver.model or driver.name for driver in self.drivers)),
            aborts=self.aborts,
            waiting=bool(self.waiting),
            alive=self.is_alive,
        )

    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values."""
        data: dict[str, Any] = {
            "version": VERSION,
            "name": self.name,
            "kind": self.kind,
            "number": self.number,
            "tick": self.tick,
            "seconds": self.seconds,
            "ticks_per_second": self.ticks_per_second,
            "is_alive": self.is_alive,
            "is_ending": self.is_ending,
            "error": self.error,
            "status_text": self.status_text,
            "status_key": self.status_key,
            "status_args": self.status_args,
            "running": self.running,
            "plan": None if self.plan is None else self.plan.as_json(),
            "again": self.again,
            "performances": [frame.as_json() for frame in self.performances],
            "drivers": [driver.as_json() for driver in self.drivers],
            "flags": [one._asdict() for one in self.flags],
            "waiting": [{**one._asdict(), "flags": list(one.flags)} for one in self.waiting],
            "refusals": [one._asdict() for one in self.refusals],
            "aborts": self.aborts,
            "abort_reason": self.abort_reason,
            "observers": list(self.observers),
            "groups": list(self.groups),
            "injections": [{**one._asdict(), "teaches": list(one.teaches)} for one in self.injections],
        }
        if self.strategies is not None:
            data["strategies"] = self.strategies.as_json()
        return data

    @classmethod
    def from_json(cls, data: object) -> AgentSnapshot:
        """Read what ``as_json`` wrote.

        Args:
            data: plain values, from anywhere.

        Raises:
            DataFault: it is no snapshot of an agent, or of another version.
        """
        return cls.read(Fields(data))

    @classmethod
    def read(cls, fields: Fields) -> AgentSnapshot:
        """Read one out of something larger.

        Args:
            fields: its object.

        Raises:
            DataFault: it is no snapshot of an agent, or of another version.
        """
        check_version(fields)
        return cls(
            name=fields.text("name"),
            kind=fields.text("kind"),
            number=fields.whole("number"),
            tick=fields.whole("tick"),
            ticks_per_second=fields.whole("ticks_per_second"),
            is_alive=fields.flag("is_alive"),
            is_ending=fields.flag("is_ending"),
            error=fields.text("error"),
            status_text=fields.text("status_text"),
            status_key=fields.text("status_key"),
            status_args=fields.plain_object("status_args"),
            running=fields.text("running"),
            plan=None if fields.is_null("plan") else FrameView.read(fields.inner("plan")),
            again=fields.whole("again", 0),
            performances=fields.each("performances", FrameView.read),
            drivers=fields.each("drivers", DriverView.read),
            flags=fields.each("flags", _flag),
            waiting=fields.each("waiting", _waiting),
            refusals=fields.each("refusals", _refusal),
            aborts=fields.whole("aborts"),
            abort_reason=fields.text("abort_reason"),
            observers=fields.texts("observers"),
            groups=fields.texts("groups"),
            injections=fields.each("injections", _injection),
            strategies=None if fields.is_null("strategies") else _strategies(fields.inner("strategies")),
        )


def _strategies(fields: Fields) -> GameplayView:
    from agentrt.strategy.views import GameplayView  # who has no strategies does not load them

    return GameplayView.read(fields)


def check_version(fields: Fields) -> None:
    """Find out whether a snapshot can be read.

    Args:
        fields: its object.

    Raises:
        DataFault: it is of another version, or has none.
    """
    version = fields.whole("version")
    if version != VERSION:
        text = f"it is a snapshot of version {version}, and this release reads version {VERSION}. Use the release that "
        raise DataFault(f"{text}wrote it.", pointer="/version")


def _flag(fields: Fields) -> FlagView:
    return FlagView(fields.text("flag"), fields.text("holder"), fields.whole("since"))


def _waiting(fields: Fields) -> Waiting:
    return Waiting(fields.text("claimant"), fields.texts("flags"), fields.whole("since"), fields.whole("precedence"))


def _refusal(fields: Fields) -> Refusal:
    return Refusal(
        fields.text("flag"),
        fields.text("claimant"),
        fields.text("holder"),
        fields.whole("tick"),
        fields.text("reason"),
        fields.flag("is_final", False),
    )


def _injection(fields: Fields) -> InjectionView:
    return InjectionView(fields.text("source"), fields.whole("actions"), fields.texts("teaches"))
