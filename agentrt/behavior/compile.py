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
tuples, children as nodes, the children that are of higher priority than each child. Two fields are there for the steady
path alone:

    ask    the Decide, if asking means calling it and nothing else (no precondition, no control flag, no DBlock)
    beat   what is called in each tick while the decider is active: the tick of its behavior, or, if coroutines are
           involved, the function that looks after them, which is handed in; None if there is nothing to call

Source: Spore, behavior trees: "S02: Design Principles", 2; "S09: Initializing and Ticking the Behavior Tree"; "S10:
Performance".
"""

from __future__ import annotations

from collections.abc import Callable
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

__all__ = [
    "CALL_DECIDE_ON_REDECIDE",
    "DELEGATE_DECIDE_TO_CHILDREN",
    "DeciderNode",
    "MAX_SHUFFLE_CHILDREN",
    "CompiledTree",
    "compile_tree",
]

CALL_DECIDE_ON_REDECIDE = 0x1
DELEGATE_DECIDE_TO_CHILDREN = 0x2


class DeciderNode:
    """A compiled decider."""

    __slots__ = (
        "activate",
        "ask",
        "beat",
        "behavior",
        "behavior_flags",
        "behavior_id",
        "block",
        "block_id",
        "calls_decide_on_redecide",
        "children",
        "dblock",
        "deactivate",
        "decide",
        "decider_flags",
        "decision",
        "delegates",
        "every",
        "flags",
        "higher",
        "id",
        "interruptible",
        "is_async",
        "kind",
        "name",
        "number",
        "policy",
        "run",
        "stimuli",
        "target",
        "tick",
        "timer",
        "way",
    )

    def __init__(self, number: int, name: str, kind: str, id: int) -> None:  # noqa: A002 - the word of the log
        self.number: int = number  # its place in the order of declaration, depth first; ROOT is 0
        self.name: str = name
        self.kind: str = kind  # ``kGroup``, ``kBehavior`` or ``kReference``
        self.id: int = id  # its number in logs
        self.decider_flags: int = 0  # the word of its flags in logs
        self.policy: GroupPolicy | None = None  # of a group
        self.children: tuple[DeciderNode, ...] = ()  # of a group
        # for each child, the children that are asked in each tick while it is active; ends with an empty
        # tuple, for a group without an active child
        self.higher: tuple[tuple[DeciderNode, ...], ...] = ((),)
        self.decide: Callable[..., float] | None = None
        self.ask: Callable[[Any], float] | None = None
        self.dblock: Callable[[], Any] | None = None  # the type of its DBlock
        self.timer: int = -1  # the number of its timer, or -1
        self.every: float = 0.0  # seconds between two calls of Decide
        self.decision: Check | None = None  # the check of the decision flags
        self.stimuli: Check | None = None  # the check of the stimuli flags
        self.flags: tuple[str, ...] = ()
        self.interruptible: bool = True  # whether it gives way
        self.calls_decide_on_redecide: bool = False
        self.delegates: bool = False
        self.behavior: Behavior | None = None
        self.behavior_flags: int = 0  # bits for it
        self.behavior_id: int = 0  # its number in logs
        self.block: Callable[[], Any] | None = None  # the type of its block
        self.block_id: int = 0  # the number of that type in logs; 0 without one
        self.activate: Callable[[Any], Any] | None = None
        self.tick: Callable[[Any], Any] | None = None
        self.deactivate: Callable[[Any], Any] | None = None
        self.run: Callable[[Any], Any] | None = None
        self.is_async: frozenset[str] = frozenset()  # which of activate, tick and deactivate are coroutine functions
        self.beat: Callable[[Any], Any] | None = None
        self.target: DeciderNode | None = None  # of a reference
        # of a reference: the children to take from ROOT down to the target, as pairs of a number and a node
        self.way: tuple[tuple[int, DeciderNode], ...] = ()

    def __repr__(self) -> str:
        return f"<Node {self.name}/{self.id:#x}>"


MAX_SHUFFLE_CHILDREN = 32
"""How many children a group may have that shuffles them."""


class CompiledTree:
    """What initialization makes of the declaration."""

    __slots__ = ("nodes", "num_timers", "numbers")

    def __init__(self, nodes: list[DeciderNode], num_timers: int) -> None:
        self.nodes: tuple[DeciderNode, ...] = tuple(nodes)  # by number; the first is ROOT
        self.numbers: dict[str, int] = {node.name: node.number for node in nodes}  # the number of each name
        self.num_timers: int = num_timers  # how many timers an agent needs


def compile_tree(name: str, root: Decider, look_after: Callable[[Any], Any]) -> CompiledTree:
    """Check and compile a declaration.

    Args:
        name: of the tree, for the error.
        look_after: what a tick does for a behavior with coroutines.

    Raises:
        DefinitionError: with all problems in one text.
    """
    declared = _Declared(root)
    if not declared.problems:
        declared.check_shape()
    if declared.problems:
        remedy = "Correct the declaration." if len(declared.problems) == 1 else "Correct each of them."
        text = "; ".join(declared.problems)
        raise DefinitionError(f"behavior tree {name}", text if text.endswith("?") else f"{text}.", remedy)
    return _compile(declared, look_after)


class _Declared:
    """The deciders of a declaration, each once, in the order of declaration."""

    def __init__(self, root: Decider) -> None:
        self.root = root
        self.problems: list[str] = []
        self.by_name: dict[str, Decider] = {}
        self.twice: set[str] = set()
        self._collect()
        self.children: dict[str, list[str]] = {}
        for name, one in self.by_name.items():
            given = one.children if isinstance(one, GroupDecider) else ()
            self.children[name] = [self._name(child, f"group {name}") for child in given]
        self.targets: dict[str, str] = {
            name: self._name(one.target, f"reference {name}")
            for name, one in self.by_name.items()
            if isinstance(one, ReferenceDecider)
        }
        self.order: list[str] = []  # depth first
        self.places: dict[str, tuple[int, str] | None] = {root.name: None}  # the number among, and name of, the parent

    def _collect(self) -> None:
        stack: list[Decider] = [self.root]
        while stack:
            one = stack.pop()
            known = self.by_name.get(one.name)
            if known is not None:
                if known is not one:
                    self.twice.add(one.name)
                    self.problems.append(f"two deciders are called {one.name}: give one of them another name")
                continue
            self.by_name[one.name] = one
            if isinstance(one, GroupDecider):
                stack += [child for child in reversed(one.children) if isinstance(child, Decider)]

    def _name(self, given: Decider | str, where: str) -> str:
        name = given if isinstance(given, str) else given.name
        known = self.by_name.get(name)
        is_other = isinstance(given, Decider) and known is not given and name not in self.twice
        if known is None or is_other:
            hint = did_you_mean(name, self.by_name)
            self.problems.append(f"{where} names {name}, which is not in the tree{'.' if hint else ''}{hint}")
        return name

    def check_shape(self) -> None:
        """Find what is wrong with groups, references and numbers."""
        if isinstance(self.root, ReferenceDecider):
            self.problems.append(f"its root {self.root.name} is a reference: write a group or a behavior decider")
        for name, children in self.children.items():
            one = self.by_name[name]
            if isinstance(one, GroupDecider):
                self._check_group(one, children)
        if self._find_circles():
            self._walk()
            self._check_references()
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

    def _find_circles(self) -> bool:
        """Whether there is none."""
        done: set[str] = set()
        way: dict[str, None] = {}  # an ordered set
        stack: list[tuple[str, int]] = [(self.root.name, 0)]
        way[self.root.name] = None
        while stack:
            name, index = stack.pop()
            children = self.children[name]
            if index == len(children):
                del way[name]
                done.add(name)
                continue
            stack.append((name, index + 1))
            child = children[index]
            if child in way:
                circle = [*list(way)[list(way).index(child) :], child]
                self.problems.append(f"{' -> '.join(circle)} is a circle: only a reference may lead back")
                return False
            if child not in done:
                way[child] = None
                stack.append((child, 0))
        return True

    def _walk(self) -> None:
        seen: set[str] = set()
        stack: list[tuple[str, tuple[int, str] | None]] = [(self.root.name, None)]
        while stack:
            name, place = stack.pop()
            if name in seen:
                continue
            seen.add(name)
            self.order.append(name)
            self.places[name] = place
            stack += [(child, (index, name)) for index, child in reversed(list(enumerate(self.children[name])))]

    def _check_references(self) -> None:
        for name, target in self.targets.items():
            if isinstance(self.by_name[target], ReferenceDecider):
                self.problems.append(f"reference {name} leads to {target}, a reference: name what that one leads to")
                continue
            inside, stack = {target}, [target]
            while stack:
                for child in self.children[stack.pop()]:
                    if child not in inside:
                        inside.add(child)
                        stack.append(child)
            if name in inside:
                self.problems.append(
                    f"reference {name} stands inside of {target}, to which it leads: it could never jump"
                )

    def _check_numbers(self) -> None:
        for kind, numbered in (
            ("deciders", [(one.name, number_of(one)) for one in self.by_name.values()]),
            ("behaviors", [(one.name, behavior_number(one)) for one in self.behaviors()]),
        ):
            names: dict[int, str] = {}
            for name, number in numbered:
                other = names.setdefault(number, name)
                if other != name:
                    self.problems.append(f"the {kind} {other} and {name} have the number {number:#x}: give one an id=")

    def behaviors(self) -> list[Behavior]:
        """The behaviors, in the order of declaration."""
        return [one.behavior for one in self.by_name.values() if one.behavior is not None]


def number_of(one: Decider) -> int:
    """The number of a decider in logs."""
    return stable_number("decider", one.name) if one.id is None else one.id


def behavior_number(one: Behavior) -> int:
    """The number of a behavior in logs."""
    return stable_number("behavior", one.name) if one.id is None else one.id


# --- the compiler -----------------------------------------------------------------------------------------------------


def _compile(declared: _Declared, look_after: Callable[[Any], Any]) -> CompiledTree:
    nodes: dict[str, DeciderNode] = {}
    timers = 0
    for number, name in enumerate(declared.order):
        one = declared.by_name[name]
        node = nodes[name] = DeciderNode(number, name, one.kind, number_of(one))
        _guard(node, one)
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
    return CompiledTree(list(nodes.values()), timers)


def _guard(node: DeciderNode, one: Decider) -> None:
    node.decide = one.decide
    node.dblock = one.dblock
    node.decision = one.decision
    node.stimuli = one.stimuli
    node.flags = one.flags
    node.interruptible = one.interruptible


def _equip(node: DeciderNode, one: Behavior, behavior_flags: int, look_after: Callable[[Any], Any]) -> None:
    """Resolve the hooks of a behavior."""
    found = {hook: hook_of(one, hook) for hook in HOOKS}
    node.behavior = one
    node.behavior_flags = behavior_flags
    node.behavior_id = behavior_number(one)
    node.activate = found["activate"][0]
    node.tick = found["tick"][0]
    node.deactivate = found["deactivate"][0]
    node.run = found["run"][0]
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
    node.decider_flags = CALL_DECIDE_ON_REDECIDE * node.calls_decide_on_redecide
    node.decider_flags |= DELEGATE_DECIDE_TO_CHILDREN * node.delegates


def _way(
    declared: _Declared, nodes: dict[str, DeciderNode], target: DeciderNode
) -> tuple[tuple[int, DeciderNode], ...]:
    """How to come from ROOT to the first place of a decider."""
    way: list[tuple[int, DeciderNode]] = []
    name = target.name
    while (place := declared.places[name]) is not None:
        way.append((place[0], nodes[name]))
        name = place[1]
    return tuple(reversed(way))


def _plain_ask(node: DeciderNode) -> Callable[[Any], float] | None:
    """The Decide, if asking means calling it and nothing else."""
    is_plain = (
        node.timer < 0
        and node.decision is None
        and node.stimuli is None
        and not node.flags
        and node.dblock is None
        and not node.delegates
        and node.target is None
    )
    if not is_plain:
        return None
    return _always if node.decide is None else node.decide


def _always(_memory: Any) -> float:
    return 1.0
