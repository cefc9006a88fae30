"""The policies: which child of a group is chosen, when, and what a redecide does.

A group *begins* when it has no active child: it was activated, or it is ROOT and found nobody before. It *redecides*
when its active child failed. Children that failed in this tick are masked: they are not asked again.

    policy                 begins                           while a child is active     redecides
    kGroupPrioritizedList  the first in order that accepts  those before it are asked;  the first in order that
                                                            the first that accepts      accepts, from the beginning
                                                            takes over
    kGroupSequential       the first in order that accepts  nobody is asked             the next after the failed one
                                                                                        that accepts; after the last,
                                                                                        the group fails
    kGroupRandom           children are drawn, each as      nobody is asked             as when it begins
                           likely as the other, until one
                           accepts
    kGroupShuffle          all are put into a random        nobody is asked             the next in that order; after
                           order; the first in it that                                  the last a new order, once
                           accepts
    kGroupScored           all are asked; the highest       nobody is asked             as when it begins
                           answer wins, of equal ones the
                           first

That an active child is not interrupted by its siblings in the last four, and that its score does not defend it, is
hysteresis: what begins a behavior is another question than what continues it. To let something interrupt such a group,
put it above the group in a prioritized list.

A group that delegates its decision is asked together with its children, by its policy; whom it would choose is
remembered and activated without being asked again. (Asking twice would run timers down and double the work, which are
the caveats of the source.)

Source: seed 002, "S01: Overview"; "S04: How Deciders Decide", 3; "S05: Subset Rule".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentrt.behavior.asking import ask, chosen
from agentrt.behavior.choices import Choice
from agentrt.behavior.claiming import candidate, secure
from agentrt.behavior.deciders import PRIORITIZED_LIST, RANDOM, SCORED, SEQUENTIAL
from agentrt.errors import WrongStateError

if TYPE_CHECKING:
    from agentrt.behavior.activation import Activation
    from agentrt.behavior.debugging import Log
    from agentrt.behavior.memory import Memory
    from agentrt.behavior.nodes import Node

__all__ = ["Round", "accepted", "attempt", "delegate"]


def attempt(
    memory: Memory, parent: Activation | None, index: int, node: Node, log: Log | None, *, secures: bool = True
) -> Choice | None:
    """Ask one decider, its children if it delegates to them, and take the control flags of who accepted.

    Args:
        memory: whose tree.
        parent: the group that asks; None for ROOT.
        index: its number among the children.
        node: the decider.
        log: who writes it down.
        secures: whether to take the flags; False where the answer alone is wanted.

    Returns:
        None if it refuses, or somebody keeps a flag.
    """
    trail: list[str] | None = [] if log is not None and log.wants_all else None
    choice = ask(memory, parent, index, node, trail)
    if choice is not None and node.delegates and choice.newcomers[-1].at.node is node:
        choice = _delegated(memory, choice, log)
        if trail is not None:
            trail.append(f"children returned {0.0 if choice is None else choice.value:.6f}")
    if choice is not None and secures and not secure(memory, choice):
        choice = None
        if trail is not None:
            trail.append("failed ControlFlags check")
    if log is not None and trail is not None:
        log.child(parent, index, node, trail)
    return choice


def _delegated(memory: Memory, choice: Choice, log: Log | None) -> Choice | None:
    at = choice.newcomers[-1].at
    inner = Round(memory, at, log, secures=False).choose(-1)
    return None if inner is None else choice.and_then(inner, inner.value)


def delegate(memory: Memory) -> float:
    """Within the Decide of a group: ask its children, and remember whom it would choose.

    Args:
        memory: whose tree.

    Raises:
        WrongStateError: no Decide of a group is being called.
    """
    node, parent = memory.asked, memory.asked_by
    if node is None or not node.children:
        raise WrongStateError(
            "Memory.delegate_decide_to_children",
            "no Decide of a group is being called",
            "Call it within the Decide of a group decider.",
        )
    rare = memory.rare
    at, failed = rare.redeciding, -1
    if at is None:
        at = candidate(memory, node, parent)
    else:
        failed, rare.redeciding = at.index, None
    choice = Round(memory, at, memory.log, secures=False).choose(failed)
    memory.asked, memory.asked_by = node, parent
    memory.remember(at, choice)
    return 0.0 if choice is None else choice.value


def accepted(memory: Memory, parent: Activation, index: int, node: Node) -> Choice | None:
    """Who is to be activated for a child whose Decide was called, and accepted.

    Args:
        memory: whose tree.
        parent: the group that asked.
        index: its number among the children.
        node: the child; it needs no control flags for itself.

    Returns:
        None if its Decide delegated to its children, and somebody keeps a control flag that one of them needs.
    """
    choice = chosen(memory, parent, index, node, 1.0)
    return choice if secure(memory, choice) else None


class Round:
    """One decision of a group.

    Args:
        memory: whose tree.
        at: the group.
        log: who writes it down.
        secures: whether to take the control flags of who is chosen.
    """

    __slots__ = ("_at", "_children", "_log", "_memory", "_secures")

    def __init__(self, memory: Memory, at: Activation, log: Log | None, *, secures: bool = True) -> None:
        self._memory = memory
        self._at = at
        self._children = at.node.children
        self._log = log
        self._secures = secures

    def interrupting(self, first: int = 0) -> Choice | None:
        """Who takes over from the active child, if anybody does.

        Args:
            first: with whom to begin.
        """
        return self._first(range(first, len(self._at.node.higher[self._at.index])))

    def choose(self, failed: int) -> Choice | None:
        """Choose among all.

        Args:
            failed: the number of the child that failed, for a redecide; -1 to begin.

        Returns:
            None if nobody accepts.
        """
        policy = self._at.node.policy
        count = len(self._children)
        if policy is PRIORITIZED_LIST:
            return self._first(range(count))
        if policy is SEQUENTIAL:
            return self._first(range(failed + 1, count))
        if policy is RANDOM:
            return self._drawn()
        if policy is SCORED:
            return self._best()
        return self._shuffled(failed)

    def _try(self, index: int, *, secures: bool) -> Choice | None:
        at = self._at
        node = self._children[index]
        if at.mask >> index & 1:
            if self._log is not None:
                self._log.child(at, index, node, ["masked"])
            return None
        return attempt(self._memory, at, index, node, self._log, secures=secures)

    def _first(self, indices: Iterable[int]) -> Choice | None:
        for index in indices:
            choice = self._try(index, secures=self._secures)
            if choice is not None:
                return choice
        return None

    def _drawn(self) -> Choice | None:
        pool = [index for index in range(len(self._children)) if not self._at.mask >> index & 1]
        while pool:
            choice = self._try(pool.pop(self._memory.random.below(len(pool))), secures=self._secures)
            if choice is not None:
                return choice
        return None

    def _shuffled(self, failed: int) -> Choice | None:
        order = self._at.order
        if failed >= 0 and order is not None:
            choice = self._first(order[order.index(failed) + 1 :])
            if choice is not None:
                return choice
        order = list(range(len(self._children)))
        self._memory.random.shuffle(order)
        # Who failed in this tick comes last, so that nobody loses the turn of a round.
        order.sort(key=lambda index: self._at.mask >> index & 1)
        self._at.more().order = order
        return self._first(order)

    def _best(self) -> Choice | None:
        choices = [self._try(index, secures=False) for index in range(len(self._children))]
        accepted = [choice for choice in choices if choice is not None]
        for choice in sorted(accepted, key=lambda one: -one.value):
            if not self._secures or secure(self._memory, choice):
                return choice
        return None
