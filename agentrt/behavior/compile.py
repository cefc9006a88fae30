"""From declared deciders to what a tick looks at: the checks of initialization, and the compiler.

Everything that can be wrong with the shape of a tree is found here, before any agent is there, and told in one error:
names that are no decider's, two deciders of one name, groups without children, a decider twice in one group, circles,
groups that are too large to shuffle, references that lead to a reference or to what contains them, two deciders or
behaviors with one number.

The order of declaration, depth first, is the order of everything: the numbers of deciders and of timers, and the
*place* of a decider that stands at several places, which is its first one. All walks keep their own stack: a tree may
be deeper than Python's.

A ``DeciderNode`` is a decider as the tree runs it, shared by all agents, and never changed after initialization. It
holds what a tick looks at, resolved as far as it can be before any agent is there: hooks without a look-up, checks as
tuples, children as nodes, the children that are of higher priority than each child.

Source: Spore, behavior trees: "S02: Design Principles", 2; "S09: Initializing and Ticking the Behavior Tree"; "S10:
Performance".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentrt.behavior.declare import (
    HOOKS,
    PRIORITIZED_LIST,
    SHUFFLE,
    Behavior,
    Decider,
    GroupDecider,
    ReferenceDecider,
    hook_of,
    stable_number,
)
from agentrt.errors import DefinitionError, did_you_mean

if TYPE_CHECKING:
    from agentrt.behavior.declare import Check, GroupPolicy

MAX_SHUFFLE_CHILDREN = 32
"""How many children a group may have that shuffles them."""

_CALL_DECIDE_ON_REDECIDE = 0x1  # in the word of a decider's flags, as the source's logs show it
_DELEGATE_DECIDE_TO_CHILDREN = 0x2


@dataclass(slots=True, eq=False)
class DeciderNode:
    """A compiled decider."""

    number: int  # its place in the order of declaration, depth first; ROOT is 0
    name: str
    kind: str  # ``kGroup``, ``kBehavior`` or ``kReference``
    id: int  # its number in logs

    # whether it accepts
    decide: Callable[..., float] | None
    dblock: Callable[[], Any] | None  # the type of its DBlock
    decision: Check | None  # the check of the decision flags
    stimuli: Check | None  # the check of the stimuli flags
    flags: tuple[str, ...]  # control flags
    interruptible: bool  # whether it gives way
    timer: int = -1  # the number of its timer, or -1
    every: float = 0.0  # seconds between two calls of Decide
    # the Decide, if asking means calling it and nothing else; the steady path calls it without looking at the above
    ask: Callable[[Any], float] | None = None

    # its behavior
    behavior: Behavior | None = None
    behavior_flags: int = 0  # bits for it
    behavior_id: int = 0  # its number in logs
    block: Callable[[], Any] | None = None  # the type of its block
    block_id: int = 0  # the number of that type in logs; 0 without one
    activate: Callable[[Any], Any] | None = None
    tick: Callable[[Any], Any] | None = None
    deactivate: Callable[[Any], Any] | None = None
    run: Callable[[Any], Any] | None = None
    is_async: frozenset[str] = frozenset()  # which of activate, tick and deactivate are coroutine functions
    # what the steady path calls in each tick while the decider is active: the tick of its behavior, or what looks after
    # coroutines, if there are any; None if there is nothing to call
    beat: Callable[[Any], Any] | None = None

    # of a group
    policy: GroupPolicy | None = None
    children: tuple[DeciderNode, ...] = ()
    # for each child, those that are asked in each tick while it is active; last an empty tuple, which the index -1 of a
    # group without an active child finds
    higher: tuple[tuple[DeciderNode, ...], ...] = ((),)
    calls_decide_on_redecide: bool = False
    delegates: bool = False
    decider_flags: int = 0  # the word of both for logs

    # of a reference
    target: DeciderNode | None = None
    way: tuple[DeciderNode, ...] = ()  # the children to take from ROOT down to the target

    def __repr__(self) -> str:
        return f"<Node {self.name}/{self.id:#x}>"


def compile_tree(name: str, root: Decider, look_after: Callable[[Any], Any]) -> tuple[DeciderNode, ...]:
    """Check and compile the declaration of a tree of that name: its deciders by number, of which the first is ROOT.

    What a tick does for a behavior with coroutines, ``look_after``, is handed in: it stands above.
    """
    declared = _Shape(root)
    if not declared.problems:
        declared.check()
    if declared.problems:
        remedy = "Correct the declaration." if len(declared.problems) == 1 else "Correct each of them."
        text = "; ".join(declared.problems)
        raise DefinitionError(f"behavior tree {name}", text if text.endswith("?") else f"{text}.", remedy)
    return _compile(declared, look_after)


# --- the checks -------------------------------------------------------------------------------------------------------


class _Shape:
    """The deciders of a declaration, each once, and what is wrong with them."""

    def __init__(self, root: Decider) -> None:
        self.root = root
        self.problems: list[str] = []
        self.twice: set[str] = set()
        self.by_name: dict[str, Decider] = self._collect()
        self.children: dict[str, list[str]] = {}
        for name, one in self.by_name.items():
            given = one.children if isinstance(one, GroupDecider) else ()
            self.children[name] = [self._name(child, f"group {name}") for child in given]
        self.targets: dict[str, str] = {
            name: self._name(one.target, f"reference {name}")
            for name, one in self.by_name.items()
            if isinstance(one, ReferenceDecider)
        }
        self.parents: dict[str, str | None] = {root.name: None}  # in the order of declaration, depth first

    def _collect(self) -> dict[str, Decider]:
        found: dict[str, Decider] = {}
        stack: list[Decider] = [self.root]
        while stack:
            one = stack.pop()
            known = found.get(one.name)
            if known is None:
                found[one.name] = one
                if isinstance(one, GroupDecider):
                    stack += [child for child in reversed(one.children) if isinstance(child, Decider)]
            elif known is not one:
                self.twice.add(one.name)
                self.problems.append(f"two deciders are called {one.name}: give one of them another name")
        return found

    def _name(self, given: Decider | str, where: str) -> str:
        name = given if isinstance(given, str) else given.name
        known = self.by_name.get(name)
        # Of two that share a name the second is told once, as a double, and not as missing, too.
        is_other = isinstance(given, Decider) and known is not given and name not in self.twice
        if known is None or is_other:
            hint = did_you_mean(name, self.by_name)
            self.problems.append(f"{where} names {name}, which is not in the tree{'.' if hint else ''}{hint}")
        return name

    def check(self) -> None:
        """Find what is wrong with groups, references and numbers. All names are known."""
        if isinstance(self.root, ReferenceDecider):
            self.problems.append(f"its root {self.root.name} is a reference: write a group or a behavior decider")
        for one in self.by_name.values():
            if isinstance(one, GroupDecider):
                self._check_group(one, self.children[one.name])
        if self._put_in_order():
            self._check_references()  # which goes down from each target, and would never end in a circle
        self._check_numbers()

    def _check_group(self, one: GroupDecider, children: list[str]) -> None:
        if not children:
            self.problems.append(f"group {one.name} has no children: write them in brackets after it")
        for child in sorted({name for name in children if children.count(name) > 1}):
            self.problems.append(f"group {one.name} has {child} twice")
        if one.policy is SHUFFLE and len(children) > MAX_SHUFFLE_CHILDREN:
            self.problems.append(
                f"group {one.name} shuffles {len(children)} children: at most {MAX_SHUFFLE_CHILDREN} are possible"
            )

    def _put_in_order(self) -> bool:
        """Find the place of each; returns whether no group is in a circle."""
        way: dict[str, None] = {self.root.name: None}  # an ordered set
        stack: list[tuple[str, int]] = [(self.root.name, 0)]
        while stack:
            name, index = stack.pop()
            if index == len(self.children[name]):
                del way[name]
                continue
            stack.append((name, index + 1))
            child = self.children[name][index]
            if child in way:
                circle = [*list(way)[list(way).index(child) :], child]
                self.problems.append(f"{' -> '.join(circle)} is a circle: only a reference may lead back")
                return False
            if child not in self.parents:
                self.parents[child] = name
                way[child] = None
                stack.append((child, 0))
        return True

    def _check_references(self) -> None:
        for name, target in self.targets.items():
            if isinstance(self.by_name[target], ReferenceDecider):
                self.problems.append(f"reference {name} leads to {target}, a reference: name what that one leads to")
                continue
            inside, stack = {target}, [target]
            while stack:
                fresh = [child for child in self.children[stack.pop()] if child not in inside]
                inside.update(fresh)
                stack += fresh
            if name in inside:
                self.problems.append(
                    f"reference {name} stands inside of {target}, to which it leads: it could never jump"
                )

    def _check_numbers(self) -> None:
        deciders = list(self.by_name.values())
        behaviors = [one.behavior for one in deciders if one.behavior is not None]
        for kind, numbered in (("decider", deciders), ("behavior", behaviors)):
            names: dict[int, str] = {}
            for one in numbered:
                number = _number(kind, one)
                other = names.setdefault(number, one.name)
                if other != one.name:
                    self.problems.append(
                        f"the {kind}s {other} and {one.name} have the number {number:#x}: give one an id="
                    )


def _number(kind: str, one: Decider | Behavior) -> int:
    """The number of a decider or a behavior in logs."""
    return stable_number(kind, one.name) if one.id is None else one.id


# --- the compiler -----------------------------------------------------------------------------------------------------


def _compile(declared: _Shape, look_after: Callable[[Any], Any]) -> tuple[DeciderNode, ...]:
    nodes: dict[str, DeciderNode] = {}
    timers = 0
    for number, name in enumerate(declared.parents):
        one = declared.by_name[name]
        node = nodes[name] = DeciderNode(
            number,
            name,
            one.kind,
            _number("decider", one),
            one.decide,
            one.dblock,
            one.decision,
            one.stimuli,
            one.flags,
            one.interruptible,
        )
        if one.behavior is not None:
            _equip(node, one.behavior, one.behavior_flags, look_after)
        if one.every is not None:
            node.timer, node.every = timers, one.every
            timers += 1
    for name, node in nodes.items():
        one = declared.by_name[name]
        if isinstance(one, GroupDecider):
            _join(node, one, tuple(nodes[child] for child in declared.children[name]))
        if name in declared.targets:
            node.target = nodes[declared.targets[name]]
            node.way = _way(declared, nodes, node.target)
        node.ask = _plain_ask(node)
    return tuple(nodes.values())


def _equip(node: DeciderNode, one: Behavior, behavior_flags: int, look_after: Callable[[Any], Any]) -> None:
    """Resolve the hooks of a behavior."""
    found = {hook: hook_of(one, hook) for hook in HOOKS}
    node.behavior = one
    node.behavior_flags = behavior_flags
    node.behavior_id = _number("behavior", one)
    node.activate, node.tick, node.deactivate, node.run = (found[hook][0] for hook in HOOKS)
    node.is_async = frozenset(hook for hook, (_, is_async) in found.items() if is_async and hook != "run")
    node.beat = look_after if node.run is not None or node.is_async & {"activate", "tick"} else node.tick
    if one.block is not None:
        node.block = one.block
        node.block_id = stable_number("block", getattr(one.block, "__qualname__", type(one.block).__qualname__))


def _join(node: DeciderNode, one: GroupDecider, children: tuple[DeciderNode, ...]) -> None:
    """Give a group its children and its policy."""
    node.policy = one.policy
    node.children = children
    if one.policy is PRIORITIZED_LIST:
        node.higher = (*(children[:index] for index in range(len(children))), ())
    else:
        node.higher = ((),) * (len(children) + 1)
    node.calls_decide_on_redecide = one.call_decide_on_redecide
    node.delegates = one.delegate_decide_to_children
    node.decider_flags = _CALL_DECIDE_ON_REDECIDE * node.calls_decide_on_redecide
    node.decider_flags |= _DELEGATE_DECIDE_TO_CHILDREN * node.delegates


def _way(declared: _Shape, nodes: dict[str, DeciderNode], target: DeciderNode) -> tuple[DeciderNode, ...]:
    """How to come from ROOT to the first place of a decider."""
    way: list[DeciderNode] = []
    name = target.name
    while (above := declared.parents[name]) is not None:
        way.append(nodes[name])
        name = above
    return tuple(reversed(way))


def _plain_ask(node: DeciderNode) -> Callable[[Any], float] | None:
    """The Decide, if asking means calling it and nothing else."""
    is_plain = node.timer < 0 and node.decision is None and node.stimuli is None and not node.flags
    if not is_plain or node.dblock is not None or node.delegates or node.target is not None:
        return None
    return _always if node.decide is None else node.decide


def _always(_memory: object) -> float:
    return 1.0
