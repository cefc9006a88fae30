"""A selection tree as agents know it: a name, and the program that is read under it now.

A tree is shared by all agents that use it and holds nothing of theirs; what one agent has is a ``SelectionState``,
which is made here. Reading the folder again puts another program into the tree; whoever uses it sees that the program
is another one, and takes it over (see ``state``). So the tree knows no agents, and has nobody to tell.

Source: CryEngine, selection trees: "Behavior Selection Tree Evaluation", "not copied for each AI instance".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.selection.program import Program
from agentrt.selection.state import SelectionState
from agentrt.selection.views import mermaid, outline_of

if TYPE_CHECKING:
    from agentrt.body.driver import Body
    from agentrt.body.views import Outline
    from agentrt.selection.state import Behaviors

__all__ = ["SelectionTree"]

_MOST_OUTLINES = 64


class SelectionTree:
    """A selection tree of a library.

    Args:
        program: what the files say.
        file: the file in which the tree stands.

    Attributes:
        program: what it is now.
        version: how often it was replaced.
        file: as given.
    """

    __slots__ = ("_outlines", "file", "program", "version")

    def __init__(self, program: Program, file: str) -> None:
        self.program: Program = program
        self.version: int = 0
        self.file: str = file
        self._outlines: dict[str, tuple[Program, Outline]] = {}  # by the name of the state: most agents use one name

    @property
    def name(self) -> str:
        """As it was written."""
        return self.program.name

    @property
    def type(self) -> str:
        """The attribute ``type`` of the file; it means nothing here."""
        return self.program.type

    @property
    def variables(self) -> dict[str, bool]:
        """The declared variables and their defaults, in the order of declaration."""
        return self.program.values(self.program.defaults)

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals that set variables, in the order of the file."""
        return tuple(self.program.signals)

    @property
    def behaviors(self) -> tuple[str, ...]:
        """The names of the behaviors that its leaves select, after translation; each once, in the order of the file."""
        return tuple(dict.fromkeys(node.behavior for node in self.program.nodes if node.behavior is not None))

    def missing(self, behaviors: Behaviors) -> tuple[str, ...]:
        """The behaviors that somebody would have to register.

        Args:
            behaviors: those that are registered.
        """
        return tuple(name for name in self.behaviors if name not in behaviors)

    def select(self, **variables: bool) -> str | None:
        """What is selected for given variables, without any agent.

        Args:
            variables: by name, in any case; the others have their defaults.

        Returns:
            The behavior, or None if no leaf passes.

        Raises:
            UnknownVariableError: the tree declares no such variable; in the compatible mode it means nothing.

        Source: CryEngine, selection trees: "Behavior Selection Tree Evaluation".
        """
        bits = self.program.defaults
        for name, value in variables.items():
            mask = self.program.mask(name)
            bits = bits | mask if value else bits & ~mask
        leaf = self.program.select(bits)
        return None if leaf is None else leaf.behavior

    def state(
        self,
        behaviors: Behaviors | None = None,
        *,
        body: Body | None = None,
        name: str = "selection",
        precedence: int = 0,
    ) -> SelectionState:
        """Make the state of one agent, which drives its body by this tree.

        Args:
            behaviors: what the leaves select, by name. It is kept and not copied: agents may share it. A leaf whose
                behavior is not in it is selected like any other, and does nothing.
            body: whom it drives, at once; otherwise an agent attaches it.
            name: begins the paths of its leaves.
            precedence: of its claims for control flags.

        Returns:
            The state, a driver.

        Raises:
            DefinitionError: something in ``behaviors`` is neither a behavior nor makes one.
        """
        return SelectionState(self, behaviors, body=body, name=name, precedence=precedence)

    def diagram(self, current: str = "") -> str:
        """The tree as a Mermaid flowchart.

        Args:
            current: the path of a leaf that is marked.
        """
        return mermaid(self.program, current)

    def outline(self, name: str = "selection") -> Outline:
        """The whole tree as its file has it, for tools; made once for each name and version.

        Args:
            name: begins the paths: that of the state for which it is shown.
        """
        kept = self._outlines.get(name)
        if kept is None or kept[0] is not self.program:
            if len(self._outlines) >= _MOST_OUTLINES:
                self._outlines.clear()
            kept = self._outlines[name] = (self.program, outline_of(self.program, name))
        return kept[1]

    def replace(self, program: Program, file: str) -> bool:
        """Put another program in; called by its library.

        Args:
            program: the program.
            file: where it stands.

        Returns:
            Whether it means anything else than the one before.
        """
        self.file = file
        if program.says() == self.program.says():
            return False
        self.program = program
        self.version += 1
        return True

    def __repr__(self) -> str:
        return f"<SelectionTree {self.name}: {len(self.program.nodes)} nodes, version {self.version}>"
