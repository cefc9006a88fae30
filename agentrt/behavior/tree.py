"""The tree: static, shared by all agents, initialized once.

A tree is a declaration and what initialization makes of it. It keeps nothing about any agent; an agent's memory does.
Initialization checks the shape, counts the timers and compiles. The first memory that is made does it if nobody did, so
that every memory has room for its timers. (In the source the first tick does it, which is too late for them.) Here the
parts meet: a tree hands its memories the machine that ticks and shows them, and the compiler what looks after
coroutines.

The outline of a tree is all of its deciders as they were declared, for tools that show more than the active path. A
tree is a DAG, and an outline is a tree: a decider that stands at several places is there several times, each time with
another path. So there is a bound on how many are shown (``MOST_NODES``), and one on how deep: what would lie below is
left out, and the last one says so.

Source: Spore, behavior trees: "S02: Design Principles", 1; "S09: Initializing and Ticking the Behavior Tree"; "S11:
Debugging", 1: "either the active deciders or the entire tree".
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, ClassVar

from agentrt.behavior.compile import DeciderNode, compile_tree
from agentrt.behavior.debug import print_state, view_of
from agentrt.behavior.decide import delegate
from agentrt.behavior.declare import Decider, stable_number
from agentrt.behavior.memory import DebugOutput, Machine, Memory
from agentrt.behavior.stimuli import Stimuli
from agentrt.behavior.walk import in_full, look_after, settle, steady
from agentrt.body.driver import Body, number_in
from agentrt.body.views import Outline
from agentrt.errors import DefinitionError, WrongStateError, did_you_mean
from agentrt.kernel.rng import Stream

MOST_NODES = 2000
MOST_LEVELS = 60  # an outline is made, written and read by functions that call themselves
_MOST_OUTLINES = 64  # kept, of memories with names of their own

_MACHINE = Machine(steady, in_full, settle, delegate, view_of, print_state)


def _outline_of(root: DeciderNode, name: str) -> Outline:
    left = MOST_NODES - 1

    def outlined(node: DeciderNode, above: str, level: int) -> Outline:
        nonlocal left
        path = f"{above}/{node.name}"
        note = _note(node)
        left -= len(node.children)
        if node.children and (level >= MOST_LEVELS or left < 0):
            left += len(node.children)
            return Outline(path, node.name, node.kind, f"{note}; what lies below is left out")
        return Outline(path, node.name, node.kind, note, tuple(outlined(one, path, level + 1) for one in node.children))

    return outlined(root, name, 0)


def _note(node: DeciderNode) -> str:
    """What is to be known of a decider without any agent."""
    parts: list[str] = [] if node.policy is None else [node.policy.value]
    if node.behavior is not None:
        parts.append(f"behavior {node.behavior.name}")
    if node.target is not None:
        parts.append(f"leads to {node.target.name}")
    if node.timer >= 0:
        parts.append(f"every {node.every:g} s")
    for what, check in (("decision flags", node.decision), ("stimuli", node.stimuli)):
        if check is not None:
            parts.append(f"{what}: {check.text()}")
    if node.flags:
        parts.append(f"with {', '.join(node.flags)}")
    if node.delegates:
        parts.append("its children decide")
    return "; ".join(parts)


_TAKEN = ("root", "name", "max_redecides", "id", "nodes", "num_timers", "_by_name")


class BehaviorTree:
    """A behavior tree.

    Args:
        root: the group or behavior decider at the top.
        name: what to call it; by default what the root is called.
        max_redecides: how many deciders may fail in one tick, all together, before the tree gives up for that tick;
            None gives up when one and the same place of the tree fails again and again, however many there are.
        id: its number in logs; by default it is made of the name.

    Source: Spore, behavior trees: "S01: Overview"; "S09: Initializing and Ticking the Behavior Tree".
    """

    _machine: ClassVar[Machine] = _MACHINE  # what ticks its memories and shows them
    _attach_instead = "A tree is shared by all; attach a memory of it: tree.memory()."

    def __init__(
        self,
        root: Decider,
        *,
        name: str | None = None,
        max_redecides: int | None = None,
        id: int | None = None,  # noqa: A002 - the word of the log
    ) -> None:
        if not isinstance(root, Decider):
            raise DefinitionError("BehaviorTree", f"its root is {root!r}.", 'Write group("ROOT")[...].')
        if max_redecides is not None and not number_in(max_redecides, "BehaviorTree", "max_redecides") >= 1:
            raise DefinitionError("BehaviorTree", f"max_redecides={max_redecides!r}.", "Write 1 or more.")
        self.root: Decider = root
        self.name: str = root.name if name is None else name
        self.max_redecides: int | None = max_redecides
        self.id: int = stable_number("tree", self.name) if id is None else id
        self.debug_output: DebugOutput = DebugOutput()  # where the decision log goes
        self.nodes: tuple[DeciderNode, ...] = ()  # the compiled deciders; empty before it is initialized
        self.num_timers: int = 0  # how many deciders have a timer; 0 before it is initialized
        self._by_name: dict[str, DeciderNode] = {}
        self._outlines: dict[str, Outline] = {}  # by the name of the memory: most agents use one name

    @property
    def is_initialized(self) -> bool:
        """Whether it was checked and compiled."""
        return bool(self.nodes)

    def initialize_tree_data(self) -> bool:
        """Check the tree, count its timers, and compile it. A second call does nothing.

        Returns:
            True: it can be ticked.

        Raises:
            DefinitionError: it is not well formed; all problems in one text.

        Source: Spore, behavior trees: "S09: Initializing and Ticking the Behavior Tree".
        """
        if not self.nodes:
            self._use(compile_tree(self.name, self.root, look_after))
        return True

    def uses(self, classes: Collection[type]) -> bool:
        """Whether the behavior of a decider is of one of these classes."""
        return any(not set(type(node.behavior).__mro__).isdisjoint(classes) for node in self.nodes)

    def take_over(self, other: BehaviorTree) -> Callable[[], None]:
        """Be as another tree is, or be compiled again by itself; the memories have to be told (``Memory.reloaded``).

        Returns:
            A function that puts back what was.

        Raises:
            DefinitionError: the other one is not well formed; nothing has changed.
        """
        nodes = compile_tree(other.name, other.root, look_after)
        kept = {name: getattr(self, name) for name in _TAKEN}
        self.root, self.name, self.max_redecides, self.id = other.root, other.name, other.max_redecides, other.id
        self._use(nodes)

        def put_back() -> None:
            for name, value in kept.items():
                setattr(self, name, value)
            self._outlines.clear()

        return put_back

    def _use(self, nodes: tuple[DeciderNode, ...]) -> None:
        self.nodes = nodes
        self.num_timers = sum(node.timer >= 0 for node in nodes)
        self._by_name = {node.name: node for node in nodes}
        self._outlines.clear()

    @property
    def deciders(self) -> tuple[str, ...]:
        """The names of its deciders in the order of declaration, depth first; empty before it is initialized."""
        return tuple(node.name for node in self.nodes)

    def node(self, name: str) -> DeciderNode:
        """The compiled decider of a name.

        Raises:
            WrongStateError: the tree is not initialized.
            DefinitionError: there is none of that name.
        """
        if not self.nodes:
            raise WrongStateError("BehaviorTree.node", "it is not initialized", "Call initialize_tree_data() first.")
        node = self._by_name.get(name)
        if node is None:
            near = did_you_mean(name, self._by_name)
            raise DefinitionError(f"behavior tree {self.name}", f"it has no decider {name!r}.{near}", "Write its name.")
        return node

    def outline(self, name: str = "tree") -> Outline:
        """The whole tree as it was declared, for tools; the name of a memory begins the paths. Made once for each."""
        self.initialize_tree_data()
        if name not in self._outlines:
            if len(self._outlines) >= _MOST_OUTLINES:
                self._outlines.clear()
            self._outlines[name] = _outline_of(self.nodes[0], name)
        return self._outlines[name]

    def memory(
        self,
        agent: Any = None,
        *,
        body: Body | None = None,
        name: str = "tree",
        precedence: int = 0,
        stimuli: Stimuli | None = None,
        decision_flags: int | Callable[[Any], int] = 0,
        stream: Stream | None = None,
    ) -> Memory:
        """The memory of an agent: by it the tree is ticked, or attached to an agent.

        Args:
            agent: any object; what Decides and behaviors find as ``agent``. By default the entity of the body.
            body: whom to drive at once; without one, it joins the agent to which it is attached, or is ticked by hand.
            name: begins the paths of its deciders; the memories of one agent have different ones.
            precedence: of its claims for control flags.
            stimuli: the agent's stimuli, if it has them already.
            decision_flags: the word of decision flags, or a function of the agent that is asked for it in each tick in
                which the tree drives an agent.
            stream: random numbers; by default a stream of the agent's own, by its name.

        Raises:
            DefinitionError: the tree was not initialized, and is not well formed.

        Source: Spore, behavior trees: "S09: Initializing and Ticking the Behavior Tree".
        """
        self.initialize_tree_data()
        number_in(precedence, "BehaviorTree.memory", "precedence")
        memory = Memory(self, agent, name, precedence)
        if stimuli is not None:
            memory.stimuli = stimuli
        if callable(decision_flags):
            memory.state.rare.update_flags = decision_flags
        else:
            memory.decision_flags = decision_flags
        if stream is not None:
            memory.state.rare.stream = stream
        if body is not None:
            memory.join(body)
        return memory

    def __repr__(self) -> str:
        state = f"{len(self.nodes)} deciders" if self.nodes else "not initialized"
        return f"<BehaviorTree {self.name}: {state}>"
