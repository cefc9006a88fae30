"""The task tree: what is being done for what, with the outcome of every node.

Two kinds of nodes take turns: what was asked for (a dependency), and the strategies that were tried for it. Below a
strategy stand the dependencies that it has solved, is solving, and is expected to need; what came up meanwhile hangs
below whoever was interrupted. The tree grows while it is executed, from top to bottom. Rules:

* A node is made when it is known of: a child that is only expected is *planned*, and marked as conditional if it is
  needed in some branches only. When it is asked for, that node becomes the real one.
* Outcomes are final. A node has ended when all below it have.
* The tree is bounded: of the children of one node that have ended, the oldest are counted and forgotten.

Source: prismarine-gameplay: "Task Tree".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from agentrt.strategy.dependency import Dependency, label_of

MOST_CHILDREN = 48  # of a node that have ended are kept


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


OPEN = (Outcome.PLANNED, Outcome.RUNNING, Outcome.PAUSED)  # of what has not ended


def seconds(value: float) -> str:
    """A cost for people: "2.5 s", "3230 s"."""
    return f"{value:.3g} s" if value < 999.5 else f"{value:.0f} s"


@dataclass(slots=True, eq=False, repr=False)
class TaskNode:
    """One node of a task tree; below another one, unless it is the root."""

    kind: NodeKind
    _label: str | None  # of a dependency None until somebody asks: most are never read
    parent: TaskNode | None = None
    wanted: Dependency[Any] | None = None  # the dependency, if it is one
    outcome: Outcome = Outcome.PLANNED
    reason: str = ""  # why it failed or was skipped
    began: int = 0  # the tick; 0 while it is planned
    ended: int = 0  # the tick; 0 before
    cost: float | None = None  # the game seconds expected when it was chosen; None if nobody asked
    is_conditional: bool = False  # whether it is needed in some branches only
    probability: float = 1.0  # how likely it is needed at all, as far as it was looked ahead
    # of a root, the request's: the requests of an agent are counted; of others, which child it is, counted as they were
    # made. It stays when others are forgotten, or are not expected any more: ids in views are made of it
    number: int = 0
    # for a dependency, who offered to provide it at the last decision: label, cost (None: cannot), why not
    offers: tuple[tuple[str, float | None, str], ...] = ()
    children: list[TaskNode] = field(default_factory=list)  # the nodes below it, in order
    forgotten: int = 0  # how many of its children that have ended are not kept
    seen: object = None  # what whoever looks at it keeps of it, once it has ended and does not change any more
    _made: int = 0  # how many children it ever had

    def __post_init__(self) -> None:
        if self.parent is not None:
            self.parent._add(self)

    @property
    def label(self) -> str:
        """What it is called."""
        if self._label is None:
            assert self.wanted is not None
            self._label = label_of(self.wanted)
        return self._label

    def _add(self, child: TaskNode) -> None:
        child.number, self.seen = self._made, None
        self._made += 1
        self.children.append(child)
        if len(self.children) > MOST_CHILDREN:
            ended = next((one for one in self.children if one.outcome not in OPEN), None)
            if ended is not None:
                self.children.remove(ended)
                self.forgotten += 1

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.outcome in OPEN

    def begin(self, tick: int) -> None:
        """It is being done, from this tick on."""
        self.outcome = Outcome.RUNNING
        self.began = tick
        self.seen = None

    def end(self, outcome: Outcome, tick: int, reason: str = "") -> None:
        """It is over in this tick; so is whatever is still open below it."""
        for child in self.children:
            if child.is_open:
                was_planned = child.outcome is Outcome.PLANNED
                child.end(Outcome.SKIPPED if was_planned else Outcome.CANCELLED, tick, "" if was_planned else reason)
        self.outcome = outcome
        self.ended = tick
        self.reason = reason
        self.seen = None

    def planned(self, wanted: Dependency[Any]) -> TaskNode | None:
        """The planned child that stands for a dependency, if there is one."""
        for child in self.children:
            if child.outcome is Outcome.PLANNED and child.wanted == wanted:
                return child
        return None

    def walk(self, depth: int = 0) -> Iterator[tuple[int, TaskNode]]:
        """This node and all below it, from top to bottom, with their depths, from its own on."""
        yield depth, self
        for child in self.children:
            yield from child.walk(depth + 1)

    def render(self, ticks_per_second: int = 0) -> str:
        """The tree as text, one node a line, indented; planned children that are conditional begin with a star.

        With the ``ticks_per_second`` of the clock it shows how long each took, beside what was expected.

        Source: prismarine-gameplay: "Task Tree", the sample.
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
