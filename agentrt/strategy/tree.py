"""The task tree: what is being done for what, with the outcome of every node.

Two kinds of nodes take turns: what was asked for (a dependency), and the strategies that were tried for it. Below a
strategy stand the dependencies that it has solved, is solving, and is expected to need; what came up meanwhile hangs
below whoever was interrupted. The tree grows while it is executed, from top to bottom. Rules:

* A node is made when it is known of: a child that is only expected is *planned*, and marked as conditional if it is
  needed in some branches only. When it is asked for, that node becomes the real one.
* Outcomes are final. A node has ended when all below it have.
* The tree is bounded: of the children of one node that have ended, the oldest are counted and forgotten.

Source: seed 003, "Task Tree".

Records: what strategies said that they would cost, beside what they took.

For each strategy the times of those attempts count that were completed, each by its own time (``own_time``). Old ones
fade: each new one takes a tenth of the weight. From that comes a correction of future estimates
(``gameplay.corrects``):

* What a strategy said is what it said by itself, before it was corrected. (Beside the corrected cost, what is left of
  the mistake would be taken for all of it, and the correction would stay half-way for ever.)
* It moves slowly at first, because one bad day says little: three attempts that took what was said are assumed besides.
  After as many they fade, and sooner than others, so that in the end nothing counts but what happened.
* Who says 0 is corrected by adding, all others by a factor. That is kept in sixteenths (of how many times longer, or
  shorter), so that estimates hold while nothing much happens.

Source: seed 003, "Planning Ahead Using Probability": the actual result beside the estimated one; "Heuristic Based Task
Selection", question 2: what if the heuristics are vastly different from what they should be.

The story of a failure: what was tried for a dependency, and what became of it, in one error.

The sentence names who failed and who cannot, with their reasons; and before them the circle of needs, or the endless
regress, if there was nothing else that kept them. The story is the task tree below the dependency. A
tree may be long, an error is read by people: the middle of a long story is left out. The cause of the error is what
went wrong underneath, and not the failures in between, which the story tells already.

Source: seed 003, "Task Failure".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from agentrt.errors import DependencyFailedError
from agentrt.strategy.declare import label_of

if TYPE_CHECKING:
    from agentrt.activity.plan.tree import Unit
    from agentrt.strategy.attempt import Attempt
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.declare import Dependency, StrategySpec
    from agentrt.strategy.estimate import Offer

__all__ = [
    "Accuracy",
    "Records",
    "MOST_CHILDREN",
    "NodeKind",
    "Outcome",
    "TaskNode",
    "seconds",
    "failure_of",
    "regress_of",
    "told_path",
]

_FADE: Final = 0.9
_DOUBT: Final = 3  # attempts as expected that are assumed besides those that were seen
_DOUBT_FADES: Final = 0.7
_MOST: Final = 1000.0  # times what it says, and its inverse: more says that it means something else
_STEP: Final = 16.0


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What a strategy said and took.

    Attributes:
        strategy: its name.
        count: how many attempts were completed.
        expected: the mean of what it said, in game seconds; the newest count most.
        actual: the mean of what it took, in game seconds.
        ratio: how many times longer it took than it said; 1 if it said 0.
    """

    strategy: str
    count: int
    expected: float
    actual: float
    ratio: float


class _Record:
    """What is known of one strategy: sums, in which older attempts weigh less.

    Attributes:
        weight: of all of them.
        expected, actual: what it said and what it took.
        factor, more: how what it says is corrected.
    """

    __slots__ = ("actual", "count", "doubt", "expected", "factor", "more", "weight")

    def __init__(self) -> None:
        self.count = 0  # how many attempts there were
        self.weight = self.expected = self.actual = self.more = 0.0
        self.doubt = float(_DOUBT)  # the weight of attempts as expected that are assumed besides
        self.factor = 1.0

    def add(self, said: float, actual: float) -> bool:
        """One more; returns whether it is corrected otherwise now."""
        self.count += 1
        if self.count > _DOUBT:
            self.doubt *= _DOUBT_FADES
        self.weight = self.weight * _FADE + 1.0
        self.expected = self.expected * _FADE + said
        self.actual = self.actual * _FADE + actual
        before = (self.factor, self.more)
        if self.expected > 0:
            doubt = self.doubt * self.expected / self.weight
            self.factor, self.more = _stepped((self.actual + doubt) / (self.expected + doubt)), 0.0
        else:
            self.more = int(self.actual / (self.weight + self.doubt) * _STEP + 0.5) / _STEP
        return (self.factor, self.more) != before


def _stepped(factor: float) -> float:
    """A factor in steps of a sixteenth; one below 1 in steps of its inverse."""
    factor = max(1.0 / _MOST, min(_MOST, factor))
    return int(factor * _STEP + 0.5) / _STEP if factor >= 1 else _STEP / int(_STEP / factor + 0.5)


class Records:
    """The records of one agent."""

    __slots__ = ("_records",)

    def __init__(self) -> None:
        self._records: dict[StrategySpec, _Record] = {}

    def add(self, spec: StrategySpec, said: float, actual: float) -> bool:
        """An attempt was completed.

        Args:
            said: what it said, before that was corrected, in game seconds.
            actual: what it took, in game seconds.

        Returns:
            Whether what it says is corrected otherwise now.
        """
        return self._records.setdefault(spec, _Record()).add(said, actual)

    def corrected(self, spec: StrategySpec, said: float) -> float:
        """What a strategy says, corrected.

        Returns:
            The game seconds that it is expected to take; what it said, if it was never completed.
        """
        record = self._records.get(spec)
        return said if record is None else said * record.factor + record.more

    def factor(self, spec: StrategySpec) -> float:
        """By what to multiply what a strategy says.

        Returns:
            Between a thousandth and a thousand; 1 for one that was never completed, or that says 0.
        """
        record = self._records.get(spec)
        return 1.0 if record is None else record.factor

    def all(self) -> tuple[Accuracy, ...]:
        """What is known of each strategy, in the order in which they were first completed."""
        found: list[Accuracy] = []
        for spec, record in self._records.items():
            ratio = record.actual / record.expected if record.expected > 0 else 1.0
            means = (record.expected / record.weight, record.actual / record.weight)
            found.append(Accuracy(spec.name, record.count, *means, ratio))
        return tuple(found)


MOST_CHILDREN = 48
"""How many children of a node that have ended are kept."""


class NodeKind(StrEnum):
    """What a node stands for."""

    DEPENDENCY = "dependency"
    STRATEGY = "strategy"
    OPTION = "option"  # an optional dependency, with what it was priced at
    INTERRUPTION = "interruption"
    ACTIVITY = "activity"  # a plain activity that a strategy executed


class Outcome(StrEnum):
    """What became of a node."""

    PLANNED = "planned"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    MET = "met"  # it held already: a shortcut
    FAILED = "failed"
    SKIPPED = "skipped"  # not worth it, or not needed after all
    CANCELLED = "cancelled"


_OPEN = (Outcome.PLANNED, Outcome.RUNNING, Outcome.PAUSED)


def seconds(value: float) -> str:
    """A cost for people: "2.5 s", "3230 s"."""
    return f"{value:.3g} s" if value < 999.5 else f"{value:.0f} s"


class TaskNode:
    """One node of a task tree.

    Args:
        kind: what it stands for.
        label: what it is called.
        parent: the node above it; None for the root.
        wanted: the dependency, if it is one.

    Attributes:
        kind, label, parent, wanted: as given.
        outcome: what became of it.
        reason: why it failed or was skipped; empty otherwise.
        began: the tick in which it began; 0 while it is planned.
        ended: the tick in which it ended; 0 before.
        cost: the game seconds that were expected when it was chosen; None if nobody asked.
        is_conditional: whether it is needed in some branches only.
        probability: how likely it is needed at all, as far as it was looked ahead.
        number: of a root, the request's: the requests of an agent are counted; of others, which child it is, counted as
            they were made. It stays when others are forgotten, or are not expected any more.
        offers: for a dependency, who offered to provide it at the last decision: label, cost (None: cannot), why not.
        children: the nodes below it, in order.
        forgotten: how many of its children that have ended were forgotten.
        seen: what whoever looks at it keeps of it, once it has ended and does not change any more; None until then.
    """

    __slots__ = (
        "_made",
        "began",
        "children",
        "cost",
        "ended",
        "forgotten",
        "is_conditional",
        "kind",
        "label",
        "number",
        "offers",
        "outcome",
        "parent",
        "probability",
        "reason",
        "seen",
        "wanted",
    )

    def __init__(
        self, kind: NodeKind, label: str, parent: TaskNode | None = None, wanted: Dependency[Any] | None = None
    ) -> None:
        self.kind: NodeKind = kind
        self.label: str = label
        self.parent: TaskNode | None = parent
        self.wanted: Dependency[Any] | None = wanted
        self.outcome: Outcome = Outcome.PLANNED
        self.reason: str = ""
        self.began: int = 0
        self.ended: int = 0
        self.cost: float | None = None
        self.is_conditional: bool = False
        self.probability: float = 1.0
        self.number: int = 0
        self.offers: tuple[tuple[str, float | None, str], ...] = ()
        self.children: list[TaskNode] = []
        self.forgotten: int = 0
        self.seen: Any = None
        self._made = 0
        if parent is not None:
            parent._add(self)

    def _add(self, child: TaskNode) -> None:
        child.number, self.seen = self._made, None
        self._made += 1
        self.children.append(child)
        if len(self.children) > MOST_CHILDREN:
            ended = next((one for one in self.children if one.outcome not in _OPEN), None)
            if ended is not None:
                self.children.remove(ended)
                self.forgotten += 1

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.outcome in _OPEN

    def begin(self, tick: int) -> None:
        """It is being done.

        Args:
            tick: when.
        """
        self.outcome = Outcome.RUNNING
        self.began = tick
        self.seen = None

    def end(self, outcome: Outcome, tick: int, reason: str = "") -> None:
        """It is over; so is whatever is still open below it.

        Args:
            outcome: what became of it.
            tick: when.
            reason: why, if it failed or was skipped.
        """
        for child in self.children:
            if child.is_open:
                was_planned = child.outcome is Outcome.PLANNED
                child.end(Outcome.SKIPPED if was_planned else Outcome.CANCELLED, tick, "" if was_planned else reason)
        self.outcome = outcome
        self.ended = tick
        self.reason = reason
        self.seen = None

    def planned(self, wanted: Dependency[Any]) -> TaskNode | None:
        """The planned child that stands for a dependency, if there is one.

        Args:
            wanted: the dependency.
        """
        for child in self.children:
            if child.outcome is Outcome.PLANNED and child.wanted == wanted:
                return child
        return None

    def walk(self, depth: int = 0) -> Iterator[tuple[int, TaskNode]]:
        """This node and all below it, from top to bottom, with their depths.

        Args:
            depth: its own.
        """
        yield depth, self
        for child in self.children:
            yield from child.walk(depth + 1)

    def render(self, ticks_per_second: int = 0) -> str:
        """The tree as text, one node a line, indented; planned children that are conditional begin with a star.

        Args:
            ticks_per_second: of the clock, to show how long each took beside what was expected; 0 shows no times.

        Source: seed 003, "Task Tree", the sample.
        """
        lines: list[str] = []
        for depth, node in self.walk():
            star = "* " if node.is_conditional else ""
            lines.append(f"{'   ' * depth}{star}{node.label}{node._became(ticks_per_second)}")
            if node.forgotten:
                lines.append(f"{'   ' * (depth + 1)}... {node.forgotten} earlier")
        return "\n".join(lines)

    def _became(self, rate: int) -> str:
        told = "" if self.outcome is Outcome.PLANNED else f" - {self.outcome}"
        if rate and self.ended and self.began and self.outcome in (Outcome.DONE, Outcome.FAILED):
            told += f" in {(self.ended - self.began) / rate:g} s"
        if rate and self.cost is not None:
            told += f" (expected {seconds(self.cost)})"
        return f"{told}: {self.reason}" if self.reason else told

    def __repr__(self) -> str:
        return f"<TaskNode {self.kind} {self.label}: {self.outcome}>"


_MOST_TOLD: Final = 80  # lines of a story
_MOST_NEEDS: Final = 6  # of a path
_REGRESS: Final = 3  # times that a strategy is run for the same kind of thing within itself, each time for another one


def failure_of(
    unit: Unit,
    wanted: Dependency[Any],
    node: TaskNode,
    offers: Sequence[Offer],
    failed: Mapping[Provider, Attempt],
) -> DependencyFailedError:
    """A dependency could not be solved: end its node, and make the error.

    Args:
        unit: below which action of the plan.
        offers: what those said who are left; nobody of them can.
        failed: the attempts of those who were tried.
    """
    planner = unit.frame.planner
    clock = planner.kernel.clock
    if not offers and not failed:
        reason = "no strategy provides it"
    else:
        told = [f"{provider.spec.label} failed ({attempt.reason})" for provider, attempt in failed.items()]
        told += [f"{offer.provider.spec.label} cannot ({offer.reason})" for offer in offers]
        reason = "; ".join(told)
    circles = [attempt.circle for attempt in failed.values()] + [offer.circle for offer in offers]
    circle = circles[0] if circles and all(circles) else ""
    node.end(Outcome.FAILED, clock.tick, reason)
    failure = DependencyFailedError(
        wanted,
        reason,
        label=node.label if node.wanted is wanted and node.kind is NodeKind.DEPENDENCY else label_of(wanted),
        circle=circle,
        story=_shortened(node.render(clock.ticks_per_second)),
        agent=planner.name,
        path=unit.path(),
        tick=clock.tick,
    )
    causes = [_cause(attempt.cause) for attempt in failed.values()]
    failure.__cause__ = next((one for one in reversed(causes) if one is not None), None)
    return failure


def told_path(path: Sequence[Dependency[Any]]) -> str:
    """Needs in words, each of the one before it: "Have [plank] needs Have [log]"."""
    told = [label_of(one) for one in path[:_MOST_NEEDS]]
    if len(path) > _MOST_NEEDS:
        told += ["...", label_of(path[-1])] if path[-1] in path[:_MOST_NEEDS] else ["..."]
    return " needs ".join(told)


def regress_of(chain: Sequence[tuple[Provider, Dependency[Any]]]) -> str:
    """Whether strategies need each other again and again, each time for something new, which nothing stops but depth.

    Args:
        chain: who is run, for what, the outermost first.

    Returns:
        The regress in words; empty if there is none.
    """
    kinds = [(provider, type(wanted)) for provider, wanted in chain]
    for index, kind in enumerate(kinds):
        if kinds.count(kind) >= _REGRESS:
            depth = len(kinds) - index
            return f"an endless regress, {depth} needs deep: {told_path([wanted for _, wanted in chain[index:]])}"
    return ""


def _cause(error: BaseException | None) -> BaseException | None:
    """What went wrong underneath: the story tells of the failures in between already."""
    return error.__cause__ if isinstance(error, DependencyFailedError) else error


def _shortened(story: str) -> str:
    """A story of which the middle is left out, if it is too long to be read."""
    lines = story.splitlines()
    left_out = len(lines) - _MOST_TOLD
    if left_out <= 0:
        return story
    return "\n".join((*lines[: _MOST_TOLD // 2], f"... {left_out} lines", *lines[-_MOST_TOLD // 2 :]))
