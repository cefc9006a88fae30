"""Blocks, and the Refs that splice them.

A block is a piece of a section under a name. It stands in a file of blocks, where every tree of the folder can refer to
it, or in the ``Blocks`` of one tree, which alone can. A Ref stands for what is in the block, wherever it is, also
inside another block. The name is looked up in the scope of *the tree that is being made*, first, then among the global
ones: so a tree can put a block of its own in the place of one that shared blocks refer to.

Rules:

* A block that refers to itself, in however many steps, is an error that prints the circle.
* Refs can multiply: ten blocks that each name the next one ten times are ten billion nodes in a file of one page. What
  one tree splices is bounded (``MAX_SPLICED``), and the excess is an error at the tree.
* A Ref that means nothing is left out, and reported.
* One block may be spliced into one place more than once. Its nodes stand there as often, each with a path of its own
  (see ``compiling``).

Source: seed 004, "Sharing Behavior Blocks between Behavior Selection Trees"; design section 5, "Ref splices a block
anywhere, tree scope before global".
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrt.selection.document import Element
from agentrt.selection.findings import Findings, shown
from agentrt.selection.shape import SHAPES

__all__ = ["MAX_SPLICED", "BlockScope", "Budget", "Splicer"]

MAX_SPLICED = 10_000  # elements and references of one tree, after splicing
MAX_NESTED = 64  # blocks in blocks
MOST_PARTS = 100_000  # of all trees of a folder together


class Budget:
    """How much work the trees of one folder may still be, in parts of trees.

    Attributes:
        left: falls; below 0 it is used up.
    """

    __slots__ = ("left",)

    def __init__(self, left: int = MOST_PARTS) -> None:
        self.left: int = left


class BlockScope:
    """Blocks by name, which ignores case.

    Args:
        outer: where to look for what is not here; None for the outermost.
    """

    __slots__ = ("_blocks", "_outer")

    def __init__(self, outer: BlockScope | None = None) -> None:
        self._outer = outer
        self._blocks: dict[str, Element] = {}

    def add_all(self, blocks: Element, findings: Findings) -> None:
        """Take the blocks of one ``Blocks`` element.

        Args:
            blocks: the element.
            findings: told of names that are taken.
        """
        for block in blocks.children:
            first = self._blocks.setdefault(block.name.lower(), block)
            if first is not block:
                text = f"there is another block {shown(block.name)}, at {first.file}:{first.line}. Rename one of them."
                findings.lenient(block.file, block.line, text)

    def find(self, name: str) -> Element | None:
        """A block by name, here or further out.

        Args:
            name: in any case.
        """
        found = self._blocks.get(name.lower())
        if found is None and self._outer is not None:
            return self._outer.find(name)
        return found

    def names(self) -> Iterator[str]:
        """All names that can be referred to, as they were written."""
        for block in self._blocks.values():
            yield block.name
        if self._outer is not None:
            yield from self._outer.names()

    def blocks(self) -> list[Element]:
        """The blocks of this scope alone."""
        return list(self._blocks.values())


class Splicer:
    """Reads the children of elements as if every Ref were what is in its block. One for each tree.

    Args:
        scope: where blocks are looked up.
        findings: told of Refs that mean nothing.
        tree: the element of the tree.
        budget: of the folder.

    Attributes:
        used: the blocks that were spliced, by name in lower case.
    """

    __slots__ = ("_budget", "_findings", "_left", "_path", "_scope", "_tree", "used")

    def __init__(self, scope: BlockScope, findings: Findings, tree: Element, budget: Budget) -> None:
        self.used: set[str] = set()
        self._budget = budget
        self._scope = scope
        self._findings = findings
        self._tree = tree
        self._left = MAX_SPLICED
        self._path: list[Element] = []  # the blocks that are being read, the outermost first

    def children(self, element: Element, wanted: tuple[str, ...], section: str) -> Iterator[Element]:
        """What an element holds, with what its Refs stand for in their places.

        While what comes out of a block is being read, a Ref to that block is a circle; so a caller reads the children
        of a node that it was given before it asks for the next.

        Args:
            element: a section, or a node of the tree.
            wanted: the tags that may stand there, besides Ref.
            section: what the place is called, for people.

        Yields:
            The elements.
        """
        for child in element.children:
            self._left -= 1
            self._budget.left -= 1
            if self._left < 0 or self._budget.left < 0:
                self._too_many()
                return
            if child.tag == "ref":
                yield from self._of_block(child, wanted, section)
            elif child.tag in wanted:
                yield child
            elif element.tag == "block":  # else its shape was checked already
                takes = " and ".join(f"<{SHAPES[tag].written}>" for tag in wanted)
                text = f"the block {shown(element.name)} is spliced into {section}, which takes {takes}, not this."
                self._findings.lenient(child.file, child.line, text)

    def _of_block(self, ref: Element, wanted: tuple[str, ...], section: str) -> Iterator[Element]:
        block = self._scope.find(ref.name)
        if block is None:
            text = f"no block is called {shown(ref.name)}.{self._findings.near(ref.name, self._scope.names())}"
            text += f" The tree {shown(self._tree.name)} needs it: put it into a file of <Blocks> in the same folder."
            self._findings.lenient(ref.file, ref.line, text)
        elif any(one is block for one in self._path):
            first = next(index for index, one in enumerate(self._path) if one is block)
            circle = [*(one.name for one in self._path[first:]), block.name]
            told = [*circle[:8], "...", *circle[-2:]] if len(circle) > 12 else circle
            text = f"these blocks stand for each other in a circle: {' -> '.join(shown(name)[1:-1] for name in told)}."
            self._findings.lenient(ref.file, ref.line, f"{text} Take one of the Refs out.")
        elif len(self._path) >= MAX_NESTED:
            text = f"Refs lead through more than {MAX_NESTED} blocks here. Put some of these blocks together."
            self._findings.error(ref.file, ref.line, text)
        else:
            self.used.add(block.name.lower())
            self._path.append(block)
            yield from self.children(block, wanted, section)
            self._path.pop()

    def _too_many(self) -> None:
        if self._left >= 0:
            text = "the trees of this folder are too many, or too large when all Refs are resolved: they have more than"
            text += f" {MOST_PARTS} parts together (elements, Refs, and each 32 characters of a condition)."
            self._findings.error(self._tree.file, 0, f"{text} Split the folder.")
            return
        text = f"the tree {shown(self._tree.name)} has more than {MAX_SPLICED} parts when all its Refs are resolved."
        text += " Its blocks name each other too often."
        self._findings.error(self._tree.file, self._tree.line, text)
