"""Deciders as they are declared: one block of code that reads like a drawing of the tree.

    group("ROOT")[
        decider("FLEE", Flee, decide=in_danger),
        group("EAT", decide=hungry)[
            decider("FIND_FOOD", FindFood, every=2.0),
            "EAT_FOOD",
        ],
        ...
    ]

A declaration is data. It decides nothing and knows no agent: the tree checks and compiles it at initialization. The
same decider may stand in several groups, as an object or by its name; the tree is then a directed acyclic graph. Only
a reference decider may lead back.

Rejected: building the tree by calls (``root.add_child(...)``), which hides its shape; one class for each policy (a
policy is one word of a group's declaration, and what it does stands in one module, ``choosing``).

Source: seed 002, "S01: Overview"; "S02: Design Principles", 1; "S04: How Deciders Decide".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum
from typing import Any

from agentrt.behavior.behaviors import Behavior, as_behavior
from agentrt.behavior.checks import Check
from agentrt.errors import LONGEST_NAME, DefinitionError, WrongStateError, did_you_mean
from agentrt.words import repr_of, type_name

__all__ = [
    "PRIORITIZED_LIST",
    "RANDOM",
    "SCORED",
    "SEQUENTIAL",
    "SHUFFLE",
    "BehaviorDecider",
    "Child",
    "Decider",
    "GroupDecider",
    "GroupPolicy",
    "ReferenceDecider",
    "decider",
    "group",
    "reference",
]


class GroupPolicy(StrEnum):
    """How a group chooses among its children; the module ``choosing`` says what each does.

    Source: seed 002, "S01: Overview".
    """

    PRIORITIZED_LIST = "kGroupPrioritizedList"
    SEQUENTIAL = "kGroupSequential"
    RANDOM = "kGroupRandom"
    SHUFFLE = "kGroupShuffle"
    SCORED = "kGroupScored"

    @classmethod
    def named(cls, given: object) -> GroupPolicy | None:
        """The policy of a name, in any case: as the text has it, as the constants are called, or short.

        Args:
            given: a policy, or what was written for one: ``kGroupSequential``, ``SEQUENTIAL``, ``sequential``.

        Returns:
            None if it is no name of one.
        """
        if not isinstance(given, str) or len(given) > LONGEST_NAME:
            return None
        plain = "".join(one for one in str(given).lower() if one.isalnum()).removeprefix("kgroup")
        return _POLICIES.get(plain)


_POLICIES: Mapping[str, GroupPolicy] = {
    "prioritizedlist": GroupPolicy.PRIORITIZED_LIST,
    "prioritized": GroupPolicy.PRIORITIZED_LIST,
    "prioritylist": GroupPolicy.PRIORITIZED_LIST,
    "priority": GroupPolicy.PRIORITIZED_LIST,
    "sequential": GroupPolicy.SEQUENTIAL,
    "sequence": GroupPolicy.SEQUENTIAL,
    "random": GroupPolicy.RANDOM,
    "shuffle": GroupPolicy.SHUFFLE,
    "shuffled": GroupPolicy.SHUFFLE,
    "scored": GroupPolicy.SCORED,
    "scoredcompetition": GroupPolicy.SCORED,
}

PRIORITIZED_LIST = GroupPolicy.PRIORITIZED_LIST
SEQUENTIAL = GroupPolicy.SEQUENTIAL
RANDOM = GroupPolicy.RANDOM
SHUFFLE = GroupPolicy.SHUFFLE
SCORED = GroupPolicy.SCORED


class Decider:
    """What all deciders declare. Made by ``group``, ``decider`` and ``reference``, which say what the fields mean."""

    __slots__ = (
        "behavior",
        "behavior_flags",
        "dblock",
        "decide",
        "decision",
        "every",
        "flags",
        "id",
        "interruptible",
        "name",
        "stimuli",
    )

    kind = ""

    def __init__(
        self,
        name: str,
        decide: Callable[..., float] | None,
        every: float | None,
        decision: Check | None,
        stimuli: Check | None,
        dblock: Callable[[], Any] | None,
        id: int | None,  # noqa: A002 - the word of the log
    ) -> None:
        given: object = name
        if not isinstance(given, str) or not given or "/" in given:
            raise DefinitionError(f"decider {name!r}", "its name is no name.", "Write text without a slash.")
        seconds: object = every
        if seconds is not None and not (isinstance(seconds, (int, float)) and seconds > 0 and math.isfinite(seconds)):
            raise DefinitionError(f"decider {name}", f"every={repr_of(every, 80)}.", "Write seconds, greater than 0.")
        if decide is not None and not callable(decide):
            raise DefinitionError(f"decider {name}", f"decide={decide!r}.", "Write a function of the memory.")
        for word, check in (("decision", decision), ("stimuli", stimuli)):
            if check is not None and not isinstance(check, Check):
                raise DefinitionError(f"decider {name}", f"{word}={check!r}.", f"Write {word}=Check(all_set=...).")
        self.name: str = name
        self.decide: Callable[..., float] | None = decide
        self.every: float | None = every
        self.decision: Check | None = decision
        self.stimuli: Check | None = stimuli
        self.dblock: Callable[[], Any] | None = dblock
        self.id: int | None = id
        self.behavior: Behavior | None = None
        self.behavior_flags: int = 0
        self.flags: tuple[str, ...] = ()
        self.interruptible: bool = True

    def _acts(
        self, given: object | None, behavior_flags: int, flags: Collection[str] | str, interruptible: bool
    ) -> None:
        self.behavior = None if given is None else as_behavior(given, f"decider {self.name}")
        self.behavior_flags = behavior_flags
        own = (flags,) if isinstance(flags, str) else tuple(flags)
        needed = () if self.behavior is None else tuple(self.behavior.flags)
        self.flags = tuple(sorted({*own, *needed}))
        self.interruptible = interruptible

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class BehaviorDecider(Decider):
    """A leaf of the tree: it decides whether its behavior runs."""

    __slots__ = ()

    kind = "kBehavior"


class GroupDecider(Decider):
    """A decider with children. ``group(...)[child, child]`` gives it them, once.

    Attributes:
        policy: how it chooses.
        children: deciders, or the names of deciders of the same tree, in order.
        delegate_decide_to_children: whether it asks its children whether it accepts.
        call_decide_on_redecide: whether its own Decide is called when one of its children failed.
    """

    __slots__ = ("call_decide_on_redecide", "children", "delegate_decide_to_children", "policy")

    kind = "kGroup"

    policy: GroupPolicy
    children: tuple[Decider | str, ...]
    delegate_decide_to_children: bool
    call_decide_on_redecide: bool

    def __getitem__(self, children: Child | tuple[Child, ...]) -> GroupDecider:
        if self.children:
            raise WrongStateError(
                f"group {self.name!r}[...]", "it has its children already", "Declare all of them in one place."
            )
        given = children if isinstance(children, tuple) else (children,)
        for child in given:
            if not isinstance(child, (Decider, str)):
                raise DefinitionError(f"group {self.name}", *_wrong_child(self.name, child))
        self.children = given
        return self


def _wrong_child(name: str, child: object) -> tuple[str, str]:
    """What is wrong with what stands in the place of a child, and what to write instead."""
    what = repr_of(child, 80)
    if isinstance(child, Iterable) and not isinstance(child, (type, bytes)):
        kind = type_name(child)
        return f"a {kind} stands in the place of a child.", f'Unpack it: group("{name}")[*children].'
    if isinstance(child, Behavior) or callable(child):
        return f"its child {what} is a behavior and no decider.", 'Write decider("NAME", behavior).'
    return f"its child {what} is no decider.", "Write a decider or the name of one."


class ReferenceDecider(Decider):
    """A jump to another part of the tree.

    Attributes:
        target: the decider that it leads to, or its name.
    """

    __slots__ = ("target",)

    kind = "kReference"

    target: Decider | str


Child = Decider | str
"""What a group takes as a child."""


def group(
    name: str,
    policy: GroupPolicy | str = PRIORITIZED_LIST,
    *,
    behavior: object | None = None,
    decide: Callable[..., float] | None = None,
    delegate_decide_to_children: bool = False,
    call_decide_on_redecide: bool = False,
    every: float | None = None,
    decision: Check | None = None,
    stimuli: Check | None = None,
    flags: Collection[str] = (),
    interruptible: bool = True,
    dblock: Callable[[], Any] | None = None,
    behavior_flags: int = 0,
    id: int | None = None,  # noqa: A002 - the word of the log
) -> GroupDecider:
    """A group decider: ``group("EAT", decide=hungry)[child, child]``.

    Args:
        name: what to call it; one of a kind in its tree.
        policy: how it chooses among its children; also as text: ``"sequential"``.
        behavior: what is activated, ticked and deactivated together with the group.
        decide: called with the memory (and the DBlock); accepts with a number greater than 0. None accepts always.
        delegate_decide_to_children: it accepts only if one of its children does, which is the one that is activated.
        call_decide_on_redecide: whether its Decide is called again when one of its children failed.
        every: seconds between two calls of its Decide, at least.
        decision: a check of the decision flags.
        stimuli: a check of the stimuli flags.
        flags: control flags that it takes from the agent's ledger, for itself and its children.
        interruptible: whether it gives its control flags to a claim of higher precedence.
        dblock: the type of its DBlock, made anew for each call of Decide.
        behavior_flags: bits for the behavior, which may serve several deciders.
        id: its number in logs; by default it is made of the name.

    Returns:
        The group, which wants its children in brackets.

    Raises:
        DefinitionError: an argument is not what it has to be.

    Source: seed 002, "S04: How Deciders Decide"; "S08: Behaviors".
    """
    made = GroupDecider(name, decide, every, decision, stimuli, dblock, id)
    found = GroupPolicy.named(policy)
    if found is None:
        short = [one.name.lower() for one in GroupPolicy]
        near = did_you_mean(str(policy).lower().removeprefix("kgroup"), short)
        raise DefinitionError(
            f"group {name}",
            f"there is no policy {repr_of(policy, 80)}.{near}",
            f"Write one of: {', '.join(GroupPolicy)}, or short: {', '.join(short)}.",
        )
    made.policy = found
    made.children = ()
    made.delegate_decide_to_children = delegate_decide_to_children
    made.call_decide_on_redecide = call_decide_on_redecide
    made._acts(behavior, behavior_flags, flags, interruptible)
    return made


def decider(
    name: str,
    behavior: object,
    *,
    decide: Callable[..., float] | None = None,
    every: float | None = None,
    decision: Check | None = None,
    stimuli: Check | None = None,
    flags: Collection[str] = (),
    interruptible: bool = True,
    dblock: Callable[[], Any] | None = None,
    behavior_flags: int = 0,
    id: int | None = None,  # noqa: A002 - the word of the log
) -> BehaviorDecider:
    """A behavior decider: a leaf of the tree.

    Args:
        name: what to call it; one of a kind in its tree.
        behavior: a behavior, a class of behaviors, or a function: a coroutine function is its ``run``, any other its
            ``tick``.
        decide: as for ``group``, like all that follow.
        every: seconds between two calls of its Decide, at least.
        decision: a check of the decision flags.
        stimuli: a check of the stimuli flags.
        flags: control flags, besides those of the behavior.
        interruptible: whether it gives its control flags to a claim of higher precedence.
        dblock: the type of its DBlock.
        behavior_flags: bits for the behavior.
        id: its number in logs.

    Raises:
        DefinitionError: an argument is not what it has to be.

    Source: seed 002, "S04: How Deciders Decide"; "S06: Preconditions & Stimuli".
    """
    made = BehaviorDecider(name, decide, every, decision, stimuli, dblock, id)
    made._acts(behavior, behavior_flags, flags, interruptible)
    if made.behavior is None:
        raise DefinitionError(f"decider {name}", "it has no behavior.", "Write one, or use group(...)[...].")
    return made


def reference(
    name: str,
    target: Decider | str,
    *,
    decide: Callable[..., float] | None = None,
    every: float | None = None,
    decision: Check | None = None,
    stimuli: Check | None = None,
    dblock: Callable[[], Any] | None = None,
    id: int | None = None,  # noqa: A002 - the word of the log
) -> ReferenceDecider:
    """A reference decider: when it is chosen, the tree jumps to another decider, at that one's own place.

    Args:
        name: what to call it; one of a kind in its tree.
        target: a group or behavior decider of the same tree, or its name.
        decide: as for ``group``, like all that follow.
        every: seconds between two calls of its Decide, at least.
        decision: a check of the decision flags.
        stimuli: a check of the stimuli flags.
        dblock: the type of its DBlock; the target gets it if it declares none.
        id: its number in logs.

    Raises:
        DefinitionError: an argument is not what it has to be.

    Source: seed 002, note 2.
    """
    made = ReferenceDecider(name, decide, every, decision, stimuli, dblock, id)
    if not isinstance(target, (Decider, str)):
        raise DefinitionError(f"reference {name}", f"its target is {target!r}.", "Write a decider or its name.")
    made.target = target
    return made
