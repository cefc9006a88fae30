"""What authors declare: deciders, the behaviors that they lead to, and the checks that stand before a Decide.

    group("ROOT")[
        decider("FLEE", Flee, decide=in_danger),
        group("EAT", decide=hungry)[
            decider("FIND_FOOD", FindFood, every=2.0),
            "EAT_FOOD",
        ],
        ...
    ]

One block of code that reads like a drawing of the tree. A declaration is data. It decides nothing and knows no agent:
the tree checks and compiles it at initialization. The same decider may stand in several groups, as an object or by its
name; the tree is then a directed acyclic graph. Only a reference decider may lead back.

A *behavior* is the code that acts, apart from the deciders that decide. It is shared by every agent and by every
decider that names it, so it has no state of its own: what it has to remember lies in the block of an activation, what
outlives that lies on the agent. A group decider may have one as well; it goes along with the group. Every hook is
optional. An answer of None is no objection: only what is false and not None fails. Which hooks there are and which are
coroutines is found out once, when the tree is compiled.

A *check* asks a word of flags, a whole number whose bits an application names, without calling a Decide: decision flags
(what the agent is: a herbivore, in a squad, dead) and stimuli flags (what it perceives). It has an AND part and an OR
part, which both have to hold; each names bits that have to be 1 and bits that have to be 0. ``check & check`` holds
when both do, so that there may be several OR parts: together these express every combination in conjunctive form.

The *number* of a thing, the ``0x2d5e207`` in ``ROOT/0x2d5e207``, is made of the name and of nothing else, so that it is
the same in every run, on every machine and after the tree was edited elsewhere: who searches yesterday's log finds
today's decider. It has 28 bits, as the numbers in the logs of the source have. Two names of one tree with one number
are an error at initialization; a number of one's own (``id=``) settles it, and is how the logs of another system are
reproduced.

Rejected: building the tree by calls (``root.add_child(...)``), which hides its shape; one class for each policy (a
policy is one word of a group's declaration, and what it does stands in one module, ``decide``).

Source: Spore, behavior trees: "S01: Overview"; "S02: Design Principles", 1 and 4; "S04: How Deciders Decide"; "S06:
Preconditions & Stimuli"; "S07: Memory & Blocks"; "S08: Behaviors"; "S11: Debugging".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import IntFlag, StrEnum
from hashlib import blake2b
from inspect import iscoroutinefunction
from typing import Any, ClassVar

from agentrt.body.slips import Hooks, check_class, check_hooks
from agentrt.errors import LONGEST_NAME, DefinitionError, WrongStateError, did_you_mean
from agentrt.words import repr_of, type_name

_MASK = (1 << 28) - 1  # see the module


def stable_number(kind: str, name: str) -> int:
    """The number of a thing. The kind counts: a decider and a behavior of one name have different numbers."""
    digest = blake2b(f"{kind}:{name}".encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") & _MASK


HOOKS = ("activate", "tick", "deactivate", "run")
_TAKES: Hooks = dict.fromkeys(HOOKS, ("activation",))
_STRANGE = {  # words that authors bring along, and what they are here
    "enter": "activate", "exit": "deactivate", "on_activate": "activate", "on_deactivate": "deactivate",
    "on_enter": "activate", "on_exit": "deactivate", "on_tick": "tick", "start": "activate", "stop": "deactivate",
    "update": "tick",
}  # fmt: skip


class Behavior:
    """The base of behaviors. A subclass writes the hooks that do something, and no others.

    Args:
        name: what to call it; by default the name of the class in capitals: ``IdleWalk`` is ``IDLE_WALK``.

    Source: Spore, behavior trees: "S08: Behaviors".
    """

    name: str = ""
    # A type of which each activation gets an instance, made without arguments. If the type has a method ``dispose``, it
    # is called when the activation is over.
    block: Callable[[], Any] | None = None
    flags: Collection[str] = ()  # the control flags that it needs
    id: int | None = None  # its number in logs; by default it is made of the name

    # The hooks, plain or coroutine functions of the activation; ``run`` is always a coroutine function.
    activate: Callable[..., Any] | None = None  # the decider was chosen. False: it cannot begin, and fails
    tick: Callable[..., Any] | None = (
        None  # in each tick, from that of the activation on. False: it has ended, and fails
    )
    deactivate: Callable[..., Any] | None = None  # it leaves the path; once for each activate that did not fail
    run: Callable[..., Any] | None = None  # all from activate to deactivate; when it returns, the behavior has ended

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        subject = f"behavior {cls.__qualname__}"
        check_class(cls, subject, _STRANGE, _TAKES)
        check_hooks(vars(cls), subject, _TAKES)

    def __init__(self, name: str = "") -> None:
        if name or not self.name:
            self.name = name or _capitals(type(self).__name__)

    def __repr__(self) -> str:
        return f"<Behavior {self.name}>"


def behavior(
    name: str,
    *,
    activate: Callable[..., Any] | None = None,
    tick: Callable[..., Any] | None = None,
    deactivate: Callable[..., Any] | None = None,
    run: Callable[..., Any] | None = None,
    block: Callable[[], Any] | None = None,
    flags: Collection[str] = (),
    id: int | None = None,  # noqa: A002 - the word of the log
) -> Behavior:
    """A behavior made of functions, which may be shared with others.

    Args:
        name: what to call it.
        activate, tick, deactivate, run, block, flags, id: as in ``Behavior``; hooks are called with the activation.

    Raises:
        DefinitionError: a hook cannot be called like that.

    Source: Spore, behavior trees: "S12: Macros".
    """
    hooks = {"activate": activate, "tick": tick, "deactivate": deactivate, "run": run}
    check_hooks(hooks, f"behavior {name}", _TAKES, first="")
    made = Behavior(name)
    made.block, made.flags, made.id = block, flags, id
    made.activate, made.tick, made.deactivate, made.run = activate, tick, deactivate, run
    return made


def as_behavior(given: object, decider: str) -> Behavior:
    """What stands where a behavior is expected: a behavior, a class of behaviors, or a function."""
    if isinstance(given, Behavior):
        return given
    if isinstance(given, type) and issubclass(given, Behavior):
        return given()
    if callable(given) and not isinstance(given, type):
        name = _capitals(getattr(given, "__name__", type(given).__name__))
        return behavior(name, run=given) if iscoroutinefunction(given) else behavior(name, tick=given)
    raise DefinitionError(
        decider, f"{given!r} is no behavior.", "Write a subclass of Behavior, an instance of one, or a function."
    )


def hook_of(one: Behavior, hook: str) -> tuple[Callable[..., Any] | None, bool]:
    """A hook of a behavior, and whether it is a coroutine function. What cannot be its hook is an error."""
    found: Callable[..., Any] | None = getattr(one, hook)
    if found is None:
        return None, False
    is_async = iscoroutinefunction(found) or iscoroutinefunction(getattr(found, "__call__", None))  # noqa: B004
    if not callable(found):
        raise DefinitionError(f"behavior {one.name}", f"its {hook} is {found!r}.", "Write a function.")
    if hook == "run" and not is_async:
        raise DefinitionError(
            f"behavior {one.name}",
            "its run is no coroutine function.",
            "Write 'async def run', or 'tick' for what is to be called in each tick.",
        )
    return found, is_async


def behavior_name(one: Behavior | None) -> str | None:
    """The name of a behavior, if there is one."""
    return None if one is None else one.name


def _capitals(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).strip("_<>").upper()


class Check:
    """A check of a word of flags.

    Args:
        all_set: bits that must all be 1.
        all_clear: bits that must all be 0.
        any_set: bits of which one being 1 is enough...
        any_clear: ...and bits of which one being 0 is enough.

    Raises:
        DefinitionError: a word is negative or no whole number, or a bit has to be both 0 and 1.

    Source: Spore, behavior trees: "S06: Preconditions & Stimuli".
    """

    __slots__ = ("mask", "names", "parts", "pattern")

    def __init__(self, all_set: int = 0, all_clear: int = 0, any_set: int = 0, any_clear: int = 0) -> None:
        words = {"all_set": all_set, "all_clear": all_clear, "any_set": any_set, "any_clear": any_clear}
        for name, word in words.items():
            given: object = word  # what stands there may be no number at all
            if not isinstance(given, int) or given < 0:
                raise DefinitionError("Check", f"{name} is {word!r}.", "Write bits: a whole number, 0 or greater.")
        self.mask: int = int(all_set) | int(all_clear)  # the bits that the AND part looks at
        self.pattern: int = int(all_set)  # what they have to be
        # the OR parts, each a pair of ``any_set`` and ``any_clear``
        self.parts: tuple[tuple[int, int], ...] = ((int(any_set), int(any_clear)),) if any_set or any_clear else ()
        self.names: dict[int, str] = {}  # what the bits are called, if they were given as members of an IntFlag
        for word in words.values():
            if isinstance(word, IntFlag):
                self.names.update((member.value, member.name) for member in type(word) if member.name)
        _require_possible(all_set & all_clear)

    def holds(self, word: int) -> bool:
        """Whether a word of flags passes."""
        if word & self.mask != self.pattern:
            return False
        for any_set, any_clear in self.parts:  # noqa: SIM110 - a generator in all() costs more than the check
            if not word & any_set and word & any_clear == any_clear:  # of an IntFlag, ~ is no complement
                return False
        return True

    def __and__(self, other: Check) -> Check:
        _require_possible((self.pattern ^ other.pattern) & self.mask & other.mask)
        both = Check()
        both.mask = self.mask | other.mask
        both.pattern = self.pattern | other.pattern
        both.parts = self.parts + other.parts
        both.names = {**other.names, **self.names}
        return both

    def words(self, word: int) -> str:
        """The bits of a word, for people: their names, or else numbers."""
        bits = (1 << place for place in range(word.bit_length()) if word >> place & 1)
        return " ".join(self.names.get(bit) or f"{bit:#x}" for bit in bits)

    def text(self) -> str:
        """What it asks for, in words; empty if it asks for nothing."""
        parts = [f"all of {self.words(self.pattern)}"] if self.pattern else []
        if self.mask & ~self.pattern:
            parts.append(f"none of {self.words(self.mask & ~self.pattern)}")
        for any_set, any_clear in self.parts:
            either = [f"one of {self.words(any_set)}"] if any_set else []
            if any_clear:
                either.append(f"not all of {self.words(any_clear)}")
            parts.append(" or ".join(either))
        return ", ".join(parts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Check):
            return NotImplemented
        return (self.mask, self.pattern, self.parts) == (other.mask, other.pattern, other.parts)

    def __hash__(self) -> int:
        return hash((self.mask, self.pattern, self.parts))

    def __repr__(self) -> str:
        parts = [f"all_set={self.pattern:#x}"] if self.pattern else []
        if self.mask & ~self.pattern:
            parts.append(f"all_clear={self.mask & ~self.pattern:#x}")
        for any_set, any_clear in self.parts:
            either = f"any_set={any_set:#x}, " if any_set else ""
            parts.append(f"{either}any_clear={any_clear:#x}" if any_clear else f"any_set={any_set:#x}")
        return f"<Check {'; '.join(parts) or 'of nothing'}>"


def _require_possible(clash: int) -> None:
    if clash:
        raise DefinitionError("Check", f"the bits {int(clash):#x} have to be 0 and 1 at once.", "Name them once.")


class GroupPolicy(StrEnum):
    """How a group chooses among its children; the module ``decide`` says what each does.

    Source: Spore, behavior trees: "S01: Overview".
    """

    PRIORITIZED_LIST = "kGroupPrioritizedList"
    SEQUENTIAL = "kGroupSequential"
    RANDOM = "kGroupRandom"
    SHUFFLE = "kGroupShuffle"
    SCORED = "kGroupScored"

    @classmethod
    def named(cls, given: object) -> GroupPolicy | None:
        """The policy of a name, in any case: ``kGroupSequential``, ``SEQUENTIAL``, ``sequential``; None if of none."""
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


@dataclass(eq=False, repr=False, slots=True, match_args=False)
class Decider:
    """What all deciders declare. Made by ``group``, ``decider`` and ``reference``, which say what the fields mean."""

    kind: ClassVar[str] = ""

    name: str
    decide: Callable[..., float] | None
    every: float | None
    decision: Check | None
    stimuli: Check | None
    dblock: Callable[[], Any] | None
    id: int | None
    behavior: Behavior | None = None
    behavior_flags: int = 0
    flags: tuple[str, ...] = ()
    interruptible: bool = True

    def __post_init__(self) -> None:
        name: object = self.name  # what stands in these may be anything
        if not isinstance(name, str) or not name or "/" in name:
            raise DefinitionError(f"decider {name!r}", "its name is no name.", "Write text without a slash.")
        every: object = self.every
        if every is not None and not (isinstance(every, (int, float)) and every > 0 and math.isfinite(every)):
            raise DefinitionError(f"decider {name}", f"every={repr_of(every, 80)}.", "Write seconds, greater than 0.")
        if self.decide is not None and not callable(self.decide):
            raise DefinitionError(f"decider {name}", f"decide={self.decide!r}.", "Write a function of the memory.")
        for word, check in (("decision", self.decision), ("stimuli", self.stimuli)):
            if check is not None and not isinstance(check, Check):
                raise DefinitionError(f"decider {name}", f"{word}={check!r}.", f"Write {word}=Check(all_set=...).")

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
    """A decider with children. ``group(...)[child, child]`` gives it them, once."""

    __slots__ = ("call_decide_on_redecide", "children", "delegate_decide_to_children", "policy")

    kind = "kGroup"

    policy: GroupPolicy
    children: tuple[Decider | str, ...]  # deciders, or the names of deciders of the same tree, in order
    delegate_decide_to_children: bool  # whether it asks its children whether it accepts
    call_decide_on_redecide: bool  # whether its own Decide is called when one of its children failed

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
    """A jump to another part of the tree."""

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

    Source: Spore, behavior trees: "S04: How Deciders Decide"; "S08: Behaviors".
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
        flags: control flags, besides those of the behavior.
        decide, every, decision, stimuli, interruptible, dblock, behavior_flags, id: as for ``group``.

    Raises:
        DefinitionError: an argument is not what it has to be.

    Source: Spore, behavior trees: "S04: How Deciders Decide"; "S06: Preconditions & Stimuli".
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
        decide, every, decision, stimuli, id: as for ``group``.
        dblock: the type of its DBlock; the target gets it if it declares none.

    Raises:
        DefinitionError: an argument is not what it has to be.

    Source: Spore, behavior trees, note 2.
    """
    made = ReferenceDecider(name, decide, every, decision, stimuli, dblock, id)
    if not isinstance(target, (Decider, str)):
        raise DefinitionError(f"reference {name}", f"its target is {target!r}.", "Write a decider or its name.")
    made.target = target
    return made
