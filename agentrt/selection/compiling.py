"""Compiling: the elements of one tree, with its blocks in place, become a program.

The sections are read in the order of what they need: variables, then leaf translations, then signals and nodes, whose
expressions name variables. Where they stand in the file does not matter, except that the order of the nodes is their
priority, and that the variables of one signal are set in the order of the file.

Names that stand only in files (variables, blocks, trees, the nodes of leaf translations) ignore case. Names that leave
the files, signals and behaviors, do not: somebody else looks them up.

A tree with an error has no program. In the compatible mode little is an error: what means nothing is left out and
reported, the first of two equal names stays, a condition is read as far as it goes. A condition that does not begin as
an expression is an error in both modes: nobody can say what it asks.

Source: seed 004, "The Behavior Selection Tree concept and anatomy"; design section 5, "Selection tree".
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrt.errors import ConditionSyntaxError
from agentrt.selection.blocks import BlockScope, Budget, Splicer
from agentrt.selection.condition import Compiled, compile_condition, is_name, problem_of
from agentrt.selection.document import MAX_DEPTH, Element
from agentrt.selection.findings import STRICT, Findings, shown
from agentrt.selection.program import Node, Program, SignalVariable, Variable

__all__ = ["check_blocks", "compile_tree"]

_CHARACTERS = 32  # of conditions count as one part of a tree
_PARTS = ("variable", "signal", "map", "priority", "leaf")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def compile_tree(
    tree: Element, blocks: BlockScope, findings: Findings, budget: Budget, used: set[str]
) -> Program | None:
    """Compile one tree.

    Args:
        tree: its element.
        blocks: the global blocks.
        findings: told of everything that is wrong.
        budget: of the folder.
        used: the names of the blocks that it used are added.

    Returns:
        The program, or None if there was an error.
    """
    compiler = _Compiler(tree, blocks, findings, budget)
    program = compiler.program()
    used |= compiler.used
    return program


def check_blocks(blocks: BlockScope, used: set[str], findings: Findings, budget: Budget) -> None:
    """Check the global blocks that no tree uses, as far as they mean anything without a tree.

    Args:
        blocks: the global blocks.
        used: the names of those that were checked with a tree, in lower case.
        findings: told of expressions that are none, of Refs to nothing, and of circles.
        budget: of the folder.
    """
    for block in blocks.blocks():
        if block.name.lower() not in used:
            checker = _Compiler(block, blocks, findings, budget)
            checker.check_block()
            used |= checker.used


class _Compiler:
    """What is known of a tree while it is compiled."""

    def __init__(self, tree: Element, blocks: BlockScope, findings: Findings, budget: Budget) -> None:
        self._tree = tree
        self._findings = findings
        scope = BlockScope(blocks)
        for element in tree.children:
            if element.tag == "blocks":
                scope.add_all(element, findings)
        self._budget = budget
        self._errors = findings.errors
        self._splicer = Splicer(scope, findings, tree, budget)
        self._compiled: dict[str, Compiled] = {}  # by text
        self._variables: dict[str, Variable] = {}
        self._masks: dict[str, int] = {}
        self._targets: dict[str, tuple[str, Element]] = {}  # node, in lower case -> behavior, and the Map
        self._translated: set[str] = set()  # those of them that a leaf used
        self._signals: dict[str, list[SignalVariable]] = {}
        self._nodes: list[Node] = []

    @property
    def used(self) -> set[str]:
        """The names of the blocks that were spliced."""
        return self._splicer.used

    def program(self) -> Program | None:
        for section in self._sections("variables", "<Variables>"):
            for element in self._splicer.children(section, ("variable",), "<Variables>"):
                self._declare(element)
        self._masks = {name: one.mask for name, one in self._variables.items()}
        for section in self._sections("leaftranslations", "<LeafTranslations>"):
            for element in self._splicer.children(section, ("map",), "<LeafTranslations>"):
                self._translate(element)
        for section in self._sections("signalvariables", "<SignalVariables>"):
            for element in self._splicer.children(section, ("signal",), "<SignalVariables>"):
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

    def _sections(self, tag: str, written: str) -> list[Element]:
        found = [element for element in self._tree.children if element.tag == tag]
        for extra in found[1:]:
            text = (
                f"the tree {shown(self._tree.name)} has {written} already, in line {found[0].line}. Put them together."
            )
            self._findings.lenient(extra.file, extra.line, text)
        return found

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

    def _compile(self, element: Element, text: str) -> Compiled | None:
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

    def _compile_once(self, text: str) -> Compiled:
        compiled = self._compiled.get(text)
        if compiled is None:
            self._budget.left -= len(text) // _CHARACTERS
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
        self._check_parts(self._splicer.children(self._tree, _PARTS, "nothing"))

    def _check_parts(self, elements: Iterator[Element]) -> None:
        for element in elements:
            text = element.attributes.get("value" if element.tag == "signal" else "condition")
            if text is not None:
                try:
                    self._compile_once(text)
                except ConditionSyntaxError as error:
                    self._findings.error(element.file, element.line, problem_of(error))
            self._check_parts(self._splicer.children(element, _PARTS, "nothing"))

    # --- nodes --------------------------------------------------------------------------------------------------------

    def _read_nodes(self) -> None:
        tree, findings = self._tree, self._findings
        roots = 0
        for element in self._splicer.children(_roots_of(tree), ("priority", "leaf"), "the tree"):
            roots += 1
            if roots == 1:
                self._read(element, None, 0)
            else:
                text = f"the tree {shown(tree.name)} has a root already. Put both into one <Priority>."
                findings.lenient(element.file, element.line, text)
        if not roots:
            text = f"the tree {shown(tree.name)} has no root. Give it a <Priority> that holds its leaves."
            findings.lenient(tree.file, tree.line, text)

    def _read(self, element: Element, above: Node | None, depth: int) -> None:
        """Append a node and all below it."""
        name = element.name
        if depth >= MAX_DEPTH:
            text = f"the node {shown(name)} is nested deeper than {MAX_DEPTH} levels when all Refs are resolved."
            self._findings.error(element.file, element.line, text)
            return
        condition = element.attributes.get("condition")
        compiled = None if condition is None else self._compile(element, condition)
        behavior = self._target(name) if element.tag == "leaf" else None
        index = len(self._nodes)
        node = Node(name, above, compiled, condition or "", behavior, index + 1, element.file, element.line)
        self._nodes.append(node)
        if element.tag == "priority":
            self._read_children(element, node, depth + 1)
            node.skip = len(self._nodes)

    def _read_children(self, element: Element, node: Node, depth: int) -> None:
        findings = self._findings
        groups: dict[str, Element] = {}
        labels: dict[str, int] = {}  # in lower case -> how often it was wanted
        certain: Element | None = None
        for child in self._splicer.children(element, ("priority", "leaf"), f"the node {shown(element.name)}"):
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
            findings.warning(
                element.file, element.line, f"the group {shown(element.name)} is empty: it selects nothing."
            )

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
    roots.children = [child for child in tree.children if child.tag in ("priority", "leaf", "ref")]
    return roots
