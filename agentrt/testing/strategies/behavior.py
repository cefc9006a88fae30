"""Behavior trees at random: groups of all policies, with deciders whose Decides and behaviors are switches.

A case holds what can change while it is played: ``wants``, the names of the deciders that accept, at first all of them,
and ``fails``, those whose behavior fails in its next tick. All memories of one tree read the same switches. A group
accepts as soon as one of its children would: that is the Subset Rule, so that no tree runs in circles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from hypothesis import strategies as st

from agentrt.behavior.declare import Decider, GroupPolicy, behavior, decider, group
from agentrt.behavior.tree import BehaviorTree
from agentrt.testing.strategies.schedules import Brief

__all__ = ["BehaviorCase", "DeciderSpec", "behavior_trees"]


@dataclass(frozen=True, repr=False)
class DeciderSpec(Brief):
    """One decider of a case."""

    name: str
    policy: str = ""  # of a group; empty for a behavior decider
    children: tuple[DeciderSpec, ...] = ()  # of a group

    def below(self) -> Iterator[DeciderSpec]:
        """This one, and all below it."""
        yield self
        for child in self.children:
            yield from child.below()


@dataclass
class BehaviorCase:
    """A behavior tree, and its switches."""

    root: DeciderSpec
    wants: set[str] = field(default_factory=set, repr=False)  # the names of the behavior deciders that accept
    fails: set[str] = field(default_factory=set, repr=False)  # the names of those whose behavior fails
    calls: list[tuple[str, str]] = field(default_factory=list, repr=False)  # (name, ``activate``), (name, ``tick``)...

    def __post_init__(self) -> None:
        self.wants = set(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the behavior deciders, in the order of the tree."""
        return tuple(spec.name for spec in self.root.below() if not spec.policy)

    def tree(self) -> BehaviorTree:
        """The tree, made anew: ``agent.attach(case.tree().memory())``."""
        return BehaviorTree(self._decider(self.root))

    def _decider(self, spec: DeciderSpec) -> Decider:
        names = [one.name for one in spec.below() if not one.policy]

        def decide(_memory: object) -> float:
            return float(sum(name in self.wants for name in names))

        if spec.policy:
            children = tuple(self._decider(child) for child in spec.children)
            return group(spec.name, spec.policy, decide=decide)[children]

        def hook(word: str) -> Any:
            def call(_at: object) -> bool:
                self.calls.append((spec.name, word))
                return word == "deactivate" or spec.name not in self.fails

            return call

        acts = behavior(
            f"{spec.name}_ACTS", activate=hook("activate"), tick=hook("tick"), deactivate=hook("deactivate")
        )
        return decider(spec.name, acts, decide=decide)


def behavior_trees(*, max_leaves: int = 8) -> st.SearchStrategy[BehaviorCase]:
    """Behavior trees of so many behavior deciders at most."""
    policies = st.sampled_from([policy.value for policy in GroupPolicy])
    leaf: st.SearchStrategy[Any] = st.none()
    inner = st.recursive(
        leaf, lambda below: st.tuples(policies, st.lists(below, min_size=1, max_size=3)), max_leaves=max_leaves
    )
    return st.tuples(policies, st.lists(inner, min_size=1, max_size=3)).map(_case)


def _case(drawn: tuple[str, list[Any]]) -> BehaviorCase:
    numbers = count(1)

    def named(one: tuple[str, list[Any]] | None) -> DeciderSpec:
        number = next(numbers)
        if one is None:
            return DeciderSpec(f"D{number}")
        return DeciderSpec(f"G{number}", one[0], tuple(named(child) for child in one[1]))

    return BehaviorCase(DeciderSpec("ROOT", drawn[0], tuple(named(child) for child in drawn[1])))
