"""Programs: a selection tree as it is evaluated, shared by all agents that use it, never changed; and how it is made.

The variables of an agent are one integer with a bit for each; that is all that the tree knows about an agent. The nodes
stand in one tuple in the order of the file, each with the index at which it goes on when its condition does not hold.
The first leaf that is reached is selected; so a Priority whose children all fail goes on with its next sibling, without
a stack. What a tree selects depends on nothing but the bits, so it is remembered: an agent whose variables are as
somebody's were before costs one look into a dict. That memory is bounded (``MOST_REMEMBERED``) and begins anew when it
is full. Leaves that are out for one agent are walked around, without memory; that is rare.

A program is compiled from the elements of one tree in the order of what they need: variables, then leaf translations,
then signals and nodes, whose expressions name variables. Where the sections stand in the file does not matter, except
that the order of the nodes is their priority, and that the variables of one signal are set in the order of the file.
Names that stand only in files (variables, blocks, trees, the nodes of leaf translations) ignore case. Names that leave
the files, signals and behaviors, do not: somebody else looks them up.

On the way *blocks* are spliced in. A block is a piece of a section under a name; a Ref stands for what is in it,
wherever it is, also inside another block. The name is looked up in the scope of *the tree that is being made* first,
then among the global ones: so a tree can put a block of its own in the place of one that shared blocks refer to.

* Refs can multiply: ten blocks that each name the next one ten times are ten billion nodes in a file of one page. So
  what one tree splices is bounded (``MAX_SPLICED``).
* One block may be spliced into one place more than once. Its nodes stand there as often, each with a path of its own.

A tree with an error has no program. In the compatible mode little is an error: what means nothing is left out and
reported, the first of two equal names stays, a condition is read as far as it goes. A condition that does not begin as
an expression is an error in both modes: nobody can say what it asks.

Source: CryEngine, selection trees: "Behavior Selection Tree Evaluation", "The Behavior Selection Tree concept and
anatomy", "Sharing Behavior Blocks between Behavior Selection Trees"; section 9.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from agentrt.errors import ConditionSyntaxError, UnknownVariableError
from agentrt.selection.conditions import ALWAYS, CompiledCondition, Term, Test, compile_condition, is_name, problem_of
from agentrt.selection.xml import MAX_DEPTH, NODES, SHAPES, STRICT, Element, Findings, shown

MOST_REMEMBERED = 4096


class Variable(NamedTuple):
    """A declared variable."""

    name: str  # as it was written
    default: bool  # what it is in the beginning
    mask: int


class SignalVariable(NamedTuple):
    """What one signal does to one variable."""

    variable: str  # the name, as it was declared
    mask: int  # the variable's bit
    test: Test  # its new value
    text: str  # the expression, for people


@dataclass(slots=True, eq=False)
class SelectionNode:
    """A Priority or a Leaf."""

    name: str  # as it was written
    label: str  # its part of paths: its name, and a number if it is not the first of that name in its place
    above: SelectionNode | None  # the Priority that it stands in; None for the root
    terms: tuple[Term, ...]  # its condition as alternatives, any of which is enough
    test: Test | None  # its condition, if it cannot be written as terms
    condition: str  # the expression, for people; empty if it has none
    behavior: str | None  # what a leaf selects, after translation; None for a Priority
    skip: int  # the index of the node that follows when the condition does not hold

    @property
    def path(self) -> str:
        """The labels from the root on, joined by ``/``. Composed when somebody asks: few do, and it may be long."""
        names = [self.label]
        above = self.above
        while above is not None:
            names.append(above.label)
            above = above.above
        return "/".join(reversed(names))

    def holds(self, bits: int) -> bool:
        """Whether its own condition holds; ``Program.walk`` has the same written out."""
        if any(bits & mask == value for mask, value in self.terms):
            return True
        return self.test is not None and self.test(bits)

    def __repr__(self) -> str:
        return f"<Node {self.path}{' -> ' + self.behavior if self.behavior is not None else ''}>"


@dataclass(slots=True, eq=False, repr=False)
class Program:
    """A compiled tree."""

    name: str
    type: str  # its attribute, as the file has it; it means nothing here
    variables: tuple[Variable, ...]
    signals: Mapping[str, tuple[SignalVariable, ...]]  # what each does, in the order of the file
    nodes: tuple[SelectionNode, ...]  # in the order of the file, the root first
    is_strict: bool  # whether a variable that is not declared is an error at run time, too
    masks: dict[str, int] = field(init=False)  # by name of the variable, as written and in lower case
    defaults: int = field(init=False)  # the bits of a new agent
    _selected: dict[int, SelectionNode | None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.masks = {name: one.mask for one in self.variables for name in (one.name, one.name.lower())}
        self.defaults = sum(one.mask for one in self.variables if one.default)

    def mask(self, name: str) -> int:
        """The bit of a variable; 0 in the compatible mode for one that is not declared, which is an error else."""
        given: object = name
        mask = 0
        if isinstance(given, str):
            mask = self.masks.get(given) or self.masks.get(str.lower(given), 0)
        if not mask and self.is_strict:
            raise UnknownVariableError(name, self.name, [one.name for one in self.variables])
        return mask

    def select(self, bits: int) -> SelectionNode | None:
        """The first leaf for which all conditions from the root on hold, if there is one."""
        selected = self._selected
        try:
            return selected[bits]  # None is an answer, too
        except KeyError:
            if len(selected) >= MOST_REMEMBERED:
                selected.clear()
            leaf = selected[bits] = self.walk(bits)
            return leaf

    def walk(self, bits: int, without: Collection[str] = ()) -> SelectionNode | None:
        """The same, node by node; leaves of some behaviors are passed over."""
        nodes = self.nodes
        index, end = 0, len(nodes)
        while index < end:
            node = nodes[index]
            for mask, value in node.terms:
                if bits & mask == value:
                    break
            else:
                if node.test is None or not node.test(bits):
                    index = node.skip
                    continue
            if node.behavior is None or node.behavior in without:
                index += 1
            else:
                return node
        return None

    def says(self) -> object:
        """All that the tree means, without the places: equal for two readings of files that mean the same."""
        variables = tuple((one.name, one.default) for one in self.variables)
        signals = tuple(
            (name, tuple((one.variable, one.text) for one in effects)) for name, effects in self.signals.items()
        )
        nodes = tuple((one.name, one.condition, one.behavior, one.skip) for one in self.nodes)
        return self.name, self.type, variables, signals, nodes

    def values(self, bits: int) -> dict[str, bool]:
        return {one.name: bits & one.mask != 0 for one in self.variables}

    def translated(self, bits: int, old: Program) -> int:
        """The bits here for those of an agent under an older program: names keep their values, new ones the default."""
        new = 0
        for one in self.variables:
            mask = old.masks.get(one.name.lower())
            if one.default if mask is None else bits & mask:
                new |= one.mask
        return new


MAX_SPLICED = 10_000  # elements and references of one tree, after splicing
MAX_NESTED = 64  # blocks in blocks
MOST_PARTS = 100_000  # of all trees of a folder together


Blocks: TypeAlias = "ChainMap[str, Element]"
"""By name in lower case: the blocks of one tree, before those that all share."""


def add_blocks(scope: Blocks, blocks: Element, findings: Findings) -> None:
    """Take the blocks of one ``Blocks`` element into the innermost scope."""
    for block in blocks.children:
        first = scope.maps[0].setdefault(block.name.lower(), block)
        if first is not block:
            text = f"there is another block {shown(block.name)}, at {first.file}:{first.line}. Rename one of them."
            findings.lenient(block.file, block.line, text)


@dataclass(slots=True, eq=False)
class Folder:
    """What the trees of one folder share while they are compiled."""

    findings: Findings
    blocks: Blocks = field(default_factory=ChainMap[str, Element])
    used: set[str] = field(default_factory=set)  # the blocks that were spliced, by name in lower case
    left: int = MOST_PARTS  # how much work they may still be, in parts of trees; below 0 it is used up


_CHARACTERS = 32  # of conditions count as one part of a tree
_PARTS = ("variable", "signal", "map", "priority", "leaf")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def compile_tree(tree: Element, folder: Folder) -> Program | None:
    """Compile one tree, unless there is an error in it."""
    return _Compiler(tree, folder).program()


def check_blocks(folder: Folder) -> None:
    """Check the global blocks that no tree uses, as far as they mean anything without one: expressions and Refs."""
    for name, block in folder.blocks.items():
        if name not in folder.used:
            _Compiler(block, folder).check_block()


class _Compiler:
    """What is known of a tree while it is compiled. Its children are read as if each Ref were what is in its block."""

    def __init__(self, tree: Element, folder: Folder) -> None:
        self._tree = tree
        self._folder = folder
        self._findings = findings = folder.findings
        self._scope = folder.blocks.new_child()
        for element in tree.children:
            if element.tag == "blocks":
                add_blocks(self._scope, element, findings)
        self._errors = findings.errors
        self._left = MAX_SPLICED
        self._path: list[Element] = []  # the blocks that are being read, the outermost first
        self._compiled: dict[str, CompiledCondition] = {}  # by text
        self._variables: dict[str, Variable] = {}  # by name in lower case, as the masks
        self._masks: dict[str, int] = {}
        self._targets: dict[str, tuple[str, Element]] = {}  # node, in lower case -> behavior, and the Map
        self._translated: set[str] = set()  # those of them that a leaf used
        self._signals: dict[str, list[SignalVariable]] = {}
        self._nodes: list[SelectionNode] = []

    def program(self) -> Program | None:
        for element in self._parts("variables", "variable"):
            self._declare(element)
        self._masks = {name: one.mask for name, one in self._variables.items()}
        for element in self._parts("leaftranslations", "map"):
            self._translate(element)
        for element in self._parts("signalvariables", "signal"):
            self._signal(element)
        self._read_nodes()
        self._check_translations()
        if self._findings.errors > self._errors:
            return None
        return Program(
            self._tree.name,
            self._tree.attributes.get("type", ""),
            tuple(self._variables.values()),
            {name: tuple(effects) for name, effects in self._signals.items()},
            tuple(self._nodes),
            self._findings.mode == STRICT,
        )

    def _parts(self, tag: str, wanted: str) -> Iterator[Element]:
        """What stands in a section of the tree; in all of them, if it is written more than once."""
        written = f"<{SHAPES[tag].written}>"
        found = [element for element in self._tree.children if element.tag == tag]
        for extra in found[1:]:
            text = f"the tree {shown(self._tree.name)} has {written} already, in line {found[0].line}."
            self._findings.lenient(extra.file, extra.line, f"{text} Put them together.")
        for section in found:
            yield from self._children(section, (wanted,), written)

    # --- blocks -------------------------------------------------------------------------------------------------------

    def _children(self, element: Element, wanted: tuple[str, ...], section: str) -> Iterator[Element]:
        """What a section or a node holds of the wanted tags, with what its Refs stand for in their places.

        While what comes out of a block is being read, a Ref to that block is a circle; so a caller reads the children
        of a node that it was given before it asks for the next.
        """
        for child in element.children:
            self._left -= 1
            self._folder.left -= 1
            if self._left < 0 or self._folder.left < 0:
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
        block = self._scope.get(ref.name.lower())
        if block is None:
            known = (one.name for scope in self._scope.maps for one in scope.values())
            text = f"no block is called {shown(ref.name)}.{self._findings.near(ref.name, known)}"
            text += f" The tree {shown(self._tree.name)} needs it: put it into a file of <Blocks> in the same folder."
            self._findings.lenient(ref.file, ref.line, text)
        elif block in self._path:  # elements are equal to none but themselves
            circle = [*(one.name for one in self._path[self._path.index(block) :]), block.name]
            told = [*circle[:8], "...", *circle[-2:]] if len(circle) > 12 else circle
            text = f"these blocks stand for each other in a circle: {' -> '.join(shown(name)[1:-1] for name in told)}."
            self._findings.lenient(ref.file, ref.line, f"{text} Take one of the Refs out.")
        elif len(self._path) >= MAX_NESTED:
            text = f"Refs lead through more than {MAX_NESTED} blocks here. Put some of these blocks together."
            self._findings.error(ref.file, ref.line, text)
        else:
            self._folder.used.add(block.name.lower())
            self._path.append(block)
            yield from self._children(block, wanted, section)
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

    # --- variables, translations, signals -----------------------------------------------------------------------------

    def _declare(self, element: Element) -> None:
        name, written = element.name, element.attributes.get("default", "false")
        where = (element.file, element.line)
        default = _BOOLEANS.get(written.strip().lower())
        if default is None:
            text = f"the default of {shown(name)} is {shown(written)}. Write 'true' or 'false'."
            self._findings.lenient(*where, text)
        if not is_name(name):
            text = f"no condition can name a variable {shown(name)}. A name has letters, digits, '_' and '.', begins"
            self._findings.lenient(*where, f"{text} with a letter or '_', and is no word such as 'and' or 'true'.")
        if name.lower() in self._variables:
            text = f"the variable {shown(name)} is declared twice in the tree {shown(self._tree.name)}. Remove one."
            self._findings.lenient(*where, text)
            return
        self._variables[name.lower()] = Variable(name, bool(default), 1 << len(self._variables))

    def _translate(self, element: Element) -> None:
        node = element.attributes["node"]
        if node.lower() in self._targets:
            text = f"the node {shown(node)} is translated twice in the tree {shown(self._tree.name)}. Remove one <Map>."
            self._findings.lenient(element.file, element.line, text)
            return
        self._targets[node.lower()] = (element.attributes["target"], element)

    def _signal(self, element: Element) -> None:
        variable = self._variables.get(element.attributes["variable"].lower())
        compiled = self._compile(element, element.attributes["value"])
        if variable is None:
            self._undeclared(element, element.attributes["variable"], "sets the variable")
        elif compiled is not None:
            effect = SignalVariable(variable.name, variable.mask, compiled.test, element.attributes["value"])
            self._signals.setdefault(element.name, []).append(effect)

    def _compile(self, element: Element, text: str) -> CompiledCondition | None:
        """Compile an expression of an element; None if there is an error in it."""
        findings, where = self._findings, (element.file, element.line)
        try:
            compiled = self._compile_once(text)
        except ConditionSyntaxError as error:
            findings.error(*where, problem_of(error))
            return None
        if compiled.ignored:
            told = " ".join(compiled.ignored[:8]) + (" ..." if len(compiled.ignored) > 8 else "")
            findings.lenient(*where, f"{shown(told)} follows the complete condition {shown(text)} and has no effect.")
        for name in compiled.undeclared:
            self._undeclared(element, name, f"the condition {shown(text)} asks for the variable")
        return compiled

    def _compile_once(self, text: str) -> CompiledCondition:
        compiled = self._compiled.get(text)
        if compiled is None:
            self._folder.left -= len(text) // _CHARACTERS
            constant = _BOOLEANS.get(text.strip().lower())  # spelled as in the default of a variable
            expression = text if constant is None else str(constant)
            compiled = self._compiled[text] = compile_condition(expression, self._masks)
        return compiled

    def _undeclared(self, element: Element, name: str, what: str) -> None:
        near = self._findings.near(name, (one.name for one in self._variables.values()))
        text = f"{what} {shown(name)}, which the tree {shown(self._tree.name)} does not declare.{near}"
        self._findings.lenient(element.file, element.line, f"{text} Add it to the <Variables>.")

    def check_block(self) -> None:
        """Check a block for itself; variables are those of whoever will use it."""
        self._check_parts(self._children(self._tree, _PARTS, "nothing"))

    def _check_parts(self, elements: Iterator[Element]) -> None:
        for element in elements:
            text = element.attributes.get("value" if element.tag == "signal" else "condition")
            if text is not None:
                try:
                    self._compile_once(text)
                except ConditionSyntaxError as error:
                    self._findings.error(element.file, element.line, problem_of(error))
            self._check_parts(self._children(element, _PARTS, "nothing"))

    # --- nodes --------------------------------------------------------------------------------------------------------

    def _read_nodes(self) -> None:
        tree, findings = self._tree, self._findings
        roots = 0
        for element in self._children(_roots_of(tree), ("priority", "leaf"), "the tree"):
            roots += 1
            if roots == 1:
                self._read(element, None, 0)
            else:
                text = f"the tree {shown(tree.name)} has a root already. Put both into one <Priority>."
                findings.lenient(element.file, element.line, text)
        if not roots:
            text = f"the tree {shown(tree.name)} has no root. Give it a <Priority> that holds its leaves."
            findings.lenient(tree.file, tree.line, text)

    def _read(self, element: Element, above: SelectionNode | None, depth: int) -> None:
        name = element.name
        if depth >= MAX_DEPTH:
            text = f"the node {shown(name)} is nested deeper than {MAX_DEPTH} levels when all Refs are resolved."
            self._findings.error(element.file, element.line, text)
            return
        condition = element.attributes.get("condition")
        compiled = None if condition is None else self._compile(element, condition)
        behavior = self._target(name) if element.tag == "leaf" else None
        terms = ALWAYS if compiled is None else compiled.terms
        test = compiled.test if compiled is not None and terms is None else None
        node = SelectionNode(name, name, above, terms or (), test, condition or "", behavior, len(self._nodes) + 1)
        self._nodes.append(node)
        if element.tag == "priority":
            self._read_children(element, node, depth + 1)
            node.skip = len(self._nodes)

    def _read_children(self, element: Element, node: SelectionNode, depth: int) -> None:
        findings = self._findings
        groups: dict[str, Element] = {}
        labels: dict[str, int] = {}  # in lower case -> how often it was wanted
        certain: Element | None = None
        for child in self._children(element, ("priority", "leaf"), f"the node {shown(element.name)}"):
            if certain is not None:
                text = f"{shown(child.name)} is never selected: {shown(certain.name)} before it has no condition."
                findings.warning(child.file, child.line, text)
            if child.tag == "priority":
                first = groups.setdefault(child.name.lower(), child)
                if first is not child:
                    text = f"{shown(element.name)} has another group {shown(child.name)}, at {first.file}:{first.line}."
                    findings.lenient(child.file, child.line, f"{text} Rename one of them: a path names one place.")
            elif "condition" not in child.attributes:
                certain = certain or child
            before = len(self._nodes)
            self._read(child, node, depth)
            if len(self._nodes) > before:
                self._nodes[before].label = _own_label(child.name, labels)
        if self._nodes[-1] is node:
            text = f"the group {shown(element.name)} is empty: it selects nothing."
            findings.warning(element.file, element.line, text)

    def _target(self, name: str) -> str:
        found = self._targets.get(name.lower())
        if found is None:
            return name
        self._translated.add(name.lower())
        return found[0]

    def _check_translations(self) -> None:
        for node, (_, element) in self._targets.items():
            if node not in self._translated and self._findings.errors == self._errors:
                text = f"no leaf of the tree {shown(self._tree.name)} is called {shown(element.attributes['node'])}."
                self._findings.warning(element.file, element.line, text)


def _own_label(name: str, taken: dict[str, int]) -> str:
    """What to call a node in paths, where some names are taken: leaves of one name, or what is in a block, again."""
    label = name
    while (key := label.lower()) in taken:
        taken[key] += 1
        label = f"{label}#{taken[key]}"
    taken[key] = 1
    return label


def _roots_of(tree: Element) -> Element:
    """The nodes at the top of a tree, as an element of their own."""
    roots = Element("SelectionTree", tree.attributes, tree.file, tree.line)
    roots.children = [child for child in tree.children if child.tag in NODES]
    return roots
