"""The shape of a snapshot: frozen, plain data, as JSON and back.

An ``AgentSummary`` is the one line of an agent that a list of a thousand shows; it costs a walk down the running
branch, and only where the plan runs nothing are the other models asked.

In the plan an activity (``FrameView``) has the actions that the agent knows for it (``UnitView``), and an action has
the activities that it is made of. What is shown is what is true now, and nothing that is left over: of an action that
is idle or not possible there is nothing below; of any other, all steps, where those that have not thought yet are idle
and have no actions. So equal states look equal, however they came about.

As JSON whatever has its default is left out, since most of a plan tree says nothing unusual; reading puts it in again.
A snapshot is versioned: ``as_json`` writes the version, and ``from_json`` reads that of this release, from a recording
or from anywhere else; it is hostile until it was read.

Source: ours; Stonehearth, AI, the AI inspector: activities in brackets, actions beneath them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, is_dataclass
from dataclasses import fields as fields_of
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from agentrt.activity.tasks.views import TaskGroupView
from agentrt.body.codec import JsonObject, View, told, view
from agentrt.body.driver import TARGETS
from agentrt.body.flags import Refusal, Waiting
from agentrt.body.views import ModelView
from agentrt.errors import DataFault
from agentrt.words import plain

if TYPE_CHECKING:
    from agentrt.snapshot.html import Line
    from agentrt.strategy.views import GameplayView


VERSION = 1
"""Of the shape of snapshots as JSON. It changes when something is renamed, removed, or means something else."""

_RUNS: Final = ("started", "running", "finished")
_RANGE: Final = "self.low != self.utility or self.high != self.utility"  # both are written if one is to be


def _state_json(state: object) -> Any:
    if isinstance(state, ModelView):
        return state.as_json()
    if is_dataclass(state) and not isinstance(state, type):  # of somebody's own: shallow, ``plain`` does the rest
        state = {one.name: getattr(state, one.name) for one in fields_of(state)}
    return plain(state)


def _read_state(fields: JsonObject) -> Any:
    """The view of a model of this library is made again; that of any other one stays plain."""
    model = fields.text("model", "")
    if model in ("goals", "targets"):
        from agentrt.goals.views import GoalSelectorView  # who has no such model does not load it

        return GoalSelectorView.read(fields.inner("state"))
    if model == "behavior":
        from agentrt.behavior.views import TreeView

        return TreeView.read(fields.inner("state"))
    if model == "selection":
        from agentrt.selection.views import SelectionView

        return SelectionView.read(fields.inner("state"))
    return fields.plain("state")


def _strategies(fields: JsonObject) -> GameplayView | None:
    if fields.is_null("strategies"):
        return None
    from agentrt.strategy.views import GameplayView  # who has no strategies does not load them

    return GameplayView.read(fields.inner("strategies"))


def check_version(fields: JsonObject) -> None:
    """Find out whether a snapshot can be read: whether it is of this version."""
    version = fields.whole("version")
    if version != VERSION:
        text = f"it is a snapshot of version {version}, and this release reads version {VERSION}."
        raise DataFault(f"{text} Use the release that wrote it.", pointer="/version")


class TaskPlace(NamedTuple):
    """Which task an action stands for."""

    group: str  # the name of its group
    number: int  # its number there
    args: tuple[tuple[str, str], ...] = ()  # what it is to be done with, in words


@view(sparse=True)
class UnitView(View):
    """An action at one place of a plan."""

    action: str  # the name of its class
    name: str  # what it calls itself; a task with what it is to be done with, cut short
    path: str  # its place, which is its stable id: the same in the trace, and in every equal run
    kind: str  # ``leaf``, ``compound``, ``group`` or ``task``
    state: str  # idle, thinking, ready, impossible, started, running or finished
    utility: float  # within its activity
    # with the sunk-cost boost, if it is the elected one and has run for a while
    boosted: float = told(like="utility", sparse=True)
    is_elected: bool = told(sparse=True)
    low: float = told(like="utility", when=_RANGE)  # the least utility that it can have
    high: float = told(like="utility", when=_RANGE)  # the greatest one
    # what sunk cost will add; 0 unless it is elected, runs, and does not have it yet
    boost: float = told(default=0.0, when="self.boost_at")
    boost_at: int = 0  # the tick from which on it will have it; 0 likewise
    weight: float = 1.0  # of several equals, how likely it is drawn
    since: int = 0  # the tick in which it began to think; once it runs, in which it began to run; 0 while it is idle
    again: int = 0  # the tick in which it is asked again; 0 if that is not known
    until: int = 0  # the tick at the end of which it has to be ready; 0 if there is no limit
    progress: str = ""  # what it says about itself, for debugging
    # why it is not possible or not ready, or does not take over though its utility is higher; else empty
    reason: str = ""
    waits: str = ""  # what it waits for, in words; empty if that is not known, or nothing
    flags: tuple[str, ...] = ()  # the control flags that it declares
    task: TaskPlace | None = None  # the task that it stands for
    # what its author put into ``ctx.get_debug_info_datastore()``, as plain values; entities by their names
    debug: dict[str, Any] = field(default_factory=dict)
    frames: tuple[FrameView, ...] = ()  # the activities below it
    restarts: int = 0  # how often its thinking was stopped before it had an answer, since it last had one
    restart_reason: str = ""  # why, the last time; empty if it was not
    restarts_since: int = 0  # the tick in which the first of these thoughts began; 0 likewise
    asked: int = 0  # the tick in which it asked a mind; 0 if it waits for no answer
    queued: int = 0  # its place in the mind's queue, from 1; 0 if it waits in none, or for something else than its turn
    # what its utility is made of, by its author's word, with the values; None for what nobody offers
    made_of: dict[str, Any] = field(default_factory=dict)

    def html_lines(self, depth: int = 0) -> Iterator[Line]:
        """The action and what is below it, as a notebook shows it."""
        worth = "" if self.state in ("idle", "impossible") else f"utility {self.boosted:.3g}"
        since = f"since tick {self.since}" if self.since else ""
        note = _noted(self.state, worth, since, self.progress, self.waits and f"waits {self.waits}", self.reason)
        runs = self.is_elected and self.state in _RUNS
        yield depth, self.name, note, "active" if runs else "" if self.is_elected else "weak"
        for frame in self.frames:
            if frame.state != "idle":
                yield from frame.html_lines(depth + 1)


@view(sparse=True)
class FrameView(View):
    """An activity at one place of a plan."""

    activity: str
    path: str  # its place, which is its stable id
    state: str  # idle, thinking, ready, started, running, finished or switching
    units: tuple[UnitView, ...]  # the actions that could perform it
    # what it is called with, in words; empty while it is idle
    args: tuple[tuple[str, str], ...] = told(default=(), by_name=True, sparse=True)
    since: int = 0  # the tick in which it began to think; 0 while it is idle
    until: int = 0  # the tick at the end of which an action has to be ready; 0 if there is no limit
    # whether later steps read its output, so that its action is not exchanged once it was started
    is_fixed: bool = False
    unasked: int = 0  # how many tasks of a group could perform it and were not asked, because that could change nothing
    unasked_reason: str = ""  # why not, in words; empty if there are none

    def html_lines(self, depth: int = 0) -> Iterator[Line]:
        """The activity and what is below it, as a notebook shows it: what is not elected is weak."""
        yield depth, f"<{self.activity}>", _noted(self.state, _called(self.args)), ""
        for unit in self.units:
            yield from unit.html_lines(depth + 1)
        if self.unasked:
            yield depth + 1, f"{self.unasked} more tasks are not asked", self.unasked_reason, "weak"

    def _repr_html_(self) -> str:
        from agentrt.snapshot.html import box

        return box(self.activity, "a plan", self.html_lines())


def _noted(*words: str) -> str:
    return ", ".join(word for word in words if word)


def _called(args: Sequence[tuple[str, str]]) -> str:
    return _noted(*(f"{name}={value}" for name, value in args))


class AgentSummary(NamedTuple):
    """An agent in one line."""

    name: str  # the agent's
    number: int  # the agent's number
    kind: str  # of its entity; empty if that has none
    status: str  # what it does, for players
    running: str  # the path of what it runs; empty while it only thinks
    # the name of the innermost running action; if there is none, the strategy that runs, or what its other models do
    doing: str
    # what drives it: ``plan``, ``strategies``, ``selection``, ``targets``, ``goals``, ``behavior``, names of other
    # drivers
    models: tuple[str, ...]
    aborts: int  # how many aborts there were in a row
    waiting: bool  # whether somebody waits for a control flag of it
    alive: bool  # whether it has not ended
    utility: float | None = None  # of the innermost running action, with its boost; None if there is none
    groups: tuple[str, ...] = ()  # the names of the task groups that it is in

    def as_json(self) -> dict[str, Any]:
        """The same as a dict of plain values."""
        return {**self._asdict(), "models": list(self.models), "groups": list(self.groups)}


def _runs(plan: FrameView | None) -> tuple[str, float | None]:
    """The name and the utility of the innermost action of a plan that runs."""
    name, utility, frame = "", None, plan
    while frame is not None:
        elected = next((unit for unit in frame.units if unit.is_elected), None)
        if elected is None or elected.state not in _RUNS:
            break
        name, utility = elected.name, elected.boosted
        frame = next((child for child in elected.frames if child.state in ("running", "switching")), None)
    return name, utility


def models_doing(views: Sequence[tuple[int, object]]) -> str:
    """What models do that act, by rank and view, in a few words: all but those that only choose targets."""
    words = [view.doing() for rank, view in views if isinstance(view, ModelView) and rank != TARGETS]
    return " + ".join(word for word in words if word)


_DEEPEST: Final = 100  # activities below each other
_PLAIN: Final[Mapping[str, type]] = {  # what a line is made of
    "name": str, "number": int, "kind": str, "status_text": str, "running": str, "drivers": list, "waiting": list,
    "groups": list, "aborts": int, "is_alive": bool,
}  # fmt: skip


def summary_of(data: Mapping[str, Any]) -> AgentSummary:
    """The one line of a snapshot that was written as JSON: what ``AgentSnapshot.from_json(data).summary()`` gives.

    For who needs that of thousands: a plan that runs is gone down, and nothing else of it is read.

    Raises:
        DataFault: it is no snapshot.
    """
    plan = data.get("plan")
    is_plain = all(type(data.get(key)) is kind for key, kind in _PLAIN.items()) and data.get("version") == VERSION
    is_driven = data.get("drivers") or data.get("strategies")
    found = _runs_in(plan) if is_plain and not is_driven else None
    if found is None or not all(type(one) is str for one in data["groups"]):
        return AgentSnapshot.from_json(data).summary()  # which knows models, and what is wrong
    return AgentSummary(
        data["name"], data["number"], data["kind"], data["status_text"], data["running"], found[0],
        ("plan",) if plan and plan["units"] else (), data["aborts"], waiting=bool(data["waiting"]),
        alive=data["is_alive"], utility=found[1], groups=tuple(data["groups"]),
    )  # fmt: skip


def _runs_in(frame: object) -> tuple[str, float | None] | None:
    """What ``_runs`` gives, of a plan as JSON; None if it is not as it should be."""
    found: tuple[str, float | None] = ("", None)
    for _ in range(_DEEPEST):
        if frame is None:
            return found
        units = frame.get("units") if isinstance(frame, dict) else None
        if not isinstance(units, list) or not all(type(one) is dict for one in units):
            return None
        elected = next((one for one in units if one.get("is_elected") is True), None)
        if elected is None or elected.get("state") not in _RUNS:
            return found
        name, utility = elected.get("name"), elected.get("boosted", elected.get("utility"))
        frames = elected.get("frames", [])
        if type(name) is not str or type(utility) not in (int, float) or type(frames) is not list:
            return None
        found = name, utility
        below = [one for one in frames if type(one) is dict and one.get("state") in ("running", "switching")]
        frame = below[0] if below else None
    return None


class FlagView(NamedTuple):
    """Who holds a control flag."""

    flag: str  # which
    holder: str  # who, by name
    since: int  # the tick in which it took it


class InjectionView(NamedTuple):
    """Something that an agent was taught."""

    source: str  # where it came from, in words
    actions: int  # how many action classes it taught
    teaches: tuple[str, ...]  # what else: the aliases of components, observers and task groups, the names of strategies


@view()
class DriverView(View):
    """What another model does with the agent."""

    name: str  # the driver's
    rank: int  # where it stands in a tick: 0 selection tree, 1 target selector, 2 goal selector, 3 behavior tree
    every: int  # in each so many-th tick it drives
    precedence: int  # of its claims for control flags
    state: object = told(write=_state_json, read=_read_state)  # what it is doing, as the model shows it: plain values
    lines: tuple[str, ...]  # the same in words
    model: str = ""  # ``goals``, ``targets``, ``behavior`` or ``selection``; empty for a model of somebody's own
    active: tuple[str, ...] = ()  # the paths of what is active, as in the trace
    outline: str = ""  # which outline its tree has; empty if it has none. Another outline has another id


@view(adds=("version", "seconds"), check=check_version)
class AgentSnapshot(View):
    """What an agent is doing."""

    version: ClassVar[int] = VERSION

    name: str  # the agent's
    kind: str  # of its entity; empty if that has none
    number: int  # the agent's number; see ``Agent.number``
    tick: int  # when
    ticks_per_second: int  # how many ticks make a game second; 0 outside a runtime
    is_alive: bool  # whether it has not ended
    is_ending: bool  # whether it was told to end
    error: str  # why it was killed; empty if it was not
    status_text: str  # what it does, for players: the text of the innermost running action that has one, translated
    status_key: str  # the key of that text; empty if no action has one
    status_args: dict[str, Any]  # what the text is filled with, as plain values; entities by their names
    running: str  # the path of what it runs, down to the leaf; empty while it only thinks
    plan: FrameView | None  # its plan tree; None outside a runtime
    # the tick in which it plans anew, after an abort or a plan that took no time; 0 if nothing is due
    again: int = told(missing=0)
    performances: tuple[FrameView, ...]  # what is performed beside the plan, as plan trees
    drivers: tuple[DriverView, ...]  # what the other models do that drive it, in the order of a tick
    flags: tuple[FlagView, ...]  # the control flags that are held, by whom and since when
    waiting: tuple[Waiting, ...]  # who waits for control flags, in the order in which they are served
    refusals: tuple[Refusal, ...]  # who was refused a control flag, and why
    aborts: int  # how many aborts there were in a row
    abort_reason: str  # the last one's reason
    observers: tuple[str, ...]  # the aliases of the observers that run
    groups: tuple[str, ...]  # the names of the task groups that it is in
    injections: tuple[InjectionView, ...]  # what it was taught, and where that came from
    # what it solves, and by which strategies; None if it has none
    strategies: GameplayView | None = told(default=None, sparse=True, read=_strategies)
    # what it offers besides: in groups, the values by their names; see ``offered``
    values: dict[str, Any] = told(default_factory=dict, sparse=True)

    @property
    def seconds(self) -> float:
        """When, in game seconds; 0 outside a runtime."""
        return self.tick / self.ticks_per_second if self.ticks_per_second else 0.0

    def _repr_html_(self) -> str:
        from agentrt.snapshot.html import box

        state = "ending" if self.is_alive and self.is_ending else "" if self.is_alive else "not alive"
        number = f"{self.kind} #{self.number}".strip()
        return box(self.name, _noted(number, f"tick {self.tick}", f"{self.seconds:g} s", state), self._html_lines())

    def _html_lines(self) -> Iterator[Line]:
        if self.error:
            yield 0, self.error, "", "bad"
        summary = self.summary()
        yield 0, summary.doing or "runs nothing", summary.status, "active" if summary.doing else "weak"
        if self.plan is not None:
            yield from self.plan.html_lines()
        for frame in self.performances:
            yield 0, "performed beside the plan", frame.path, ""
            yield from frame.html_lines(1)
        for driver in self.drivers:
            yield 0, driver.name, driver.model, ""
            for line in driver.lines:
                yield 1, line, "", ""
        for flag in self.flags:
            yield 0, flag.flag, f"held by {flag.holder} since tick {flag.since}", ""
        for claim in self.waiting:
            yield 0, " and ".join(claim.flags), f"{claim.claimant} waits since tick {claim.since}", ""
        for refusal in self.refusals:
            yield 0, refusal.text(), "", "weak"
        if self.aborts:
            yield 0, f"{self.aborts} aborts in a row", self.abort_reason, "bad"

    def summary(self) -> AgentSummary:
        """The same in one line of a list."""
        models: list[str] = ["plan"] if self.plan is not None and self.plan.units else []
        solving = ""
        if self.strategies is not None:
            models.append("strategies")
            solving = self.strategies.doing()
        models += dict.fromkeys(driver.model or driver.name for driver in self.drivers)
        runs, utility = _runs(self.plan)
        return AgentSummary(
            name=self.name,
            number=self.number,
            kind=self.kind,
            status=self.status_text,
            running=self.running,
            doing=runs or solving or models_doing([(one.rank, one.state) for one in self.drivers]),
            models=tuple(models),
            aborts=self.aborts,
            waiting=bool(self.waiting),
            alive=self.is_alive,
            utility=utility,
            groups=self.groups,
        )


class ThoughtView(NamedTuple):
    """Something that a mind was asked."""

    number: int  # which thought of its mind, from 1
    agent: str  # who asked, by name
    path: str  # from which place of the plan
    purpose: str  # what for; empty for nothing in particular
    model: str  # which model
    state: str  # queued, called, answered, failed or outpaced
    asked: int  # the tick in which it was asked
    began: int  # the tick in which its call began; 0 while it has none
    ended: int  # the tick in which it was over; 0 before
    place: int  # its place in the queue, from 1; 0 if it waits for something else than its turn
    words: str  # how it stands: its place in the queue, why it waits, why there is no answer
    tokens: int  # that its calls have used
    is_from_cache: bool  # whether no call was needed


class ThoughtText(NamedTuple):
    """What was asked in a thought and what came, as it was said. It is in no snapshot."""

    system: str  # who speaks to the model, and the rules
    prompt: str  # what there was to see, and what was wanted; of one that is asked again, what was wrong, too
    schema: Mapping[str, Any]  # what an answer has to look like
    answer: object  # what was taken; None if nothing was
    untaken: object  # the last answer that could not be taken; None if there was none
    why: str  # why not; empty if there was none


class MindView(NamedTuple):
    """How it stands with the mind of a runtime."""

    models: tuple[str, ...]  # their names
    at_once: int  # how many calls may be under way
    running: int  # how many are
    waiting: int  # how many thoughts wait
    calls: int  # how many calls were made
    hits: int  # how many the cache spared
    answers: int  # how many were taken, those from the cache included
    tokens: int  # that were used, or may have been: of a call that was cancelled nobody knows
    read: int  # how many of them were read, as the models said
    written: int  # and written
    tokens_left: int | None  # of the budget of all; None for any number
    calls_left: int | None  # likewise
    money: float  # what that cost, by the prices of the models
    rests_until: int  # the tick up to which it asks nobody, since the model failed; 0 if it does not rest
    overruns: int  # how many calls used more than they could, by their bound
    by_agent: dict[str, Any]  # of each agent that has asked, by name: its ``calls``, ``tokens`` and ``money``
    thoughts: tuple[ThoughtView, ...]  # those under way, those that wait, then those that are over, the newest first


@view(adds=("version",), check=check_version)
class RuntimeSnapshot(View):
    """What goes on in a runtime."""

    version: ClassVar[int] = VERSION

    tick: int  # when
    seconds: float  # the same in game seconds
    ticks_per_second: int  # how many ticks make a game second
    late_ticks: int  # how many ticks were left out because the machine could not keep up
    strands: int  # how many coroutines live
    is_paused: bool  # whether its gate is closed
    waits: dict[str, Any]  # how long tasks were available before somebody started them; the figures of ``WaitTimes``
    search_waits: dict[str, Any]  # how long search work waited for its part of the think budget; likewise
    think_budget: int | None  # units of search work in each tick; None for any number
    think_used: int  # how many of this tick were used
    think_waiting: int  # how many requests wait
    groups: tuple[TaskGroupView, ...]  # the task groups of all agents, each once, in the order of the agents
    agents: tuple[AgentSnapshot, ...]  # each agent, in the order in which they were added
    mind: MindView | None = told(default=None, sparse=True)  # what its language models are asked; None without a mind
