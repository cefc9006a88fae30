"""The shape of a file: which elements there are, what stands in which, and which attributes they take.

One table says it all. ``shaped`` goes over the elements of a file once, reports whatever does not fit, and takes it
out, so that everybody behind it can rely on the table: every element is known, stands where it may, and has the
attributes that it needs.

A ``Block`` may hold whatever a section may; what a block is fit for shows where it is spliced (see ``blocks``). ``Ref``
stands in every section and in every block.

A file is one ``SelectionTrees``, one ``SelectionTree`` (which may leave out its name: it has the file's, then), or one
``Blocks``. Source texts show only the sections; the elements around them are those of the engine's own files.

Source: seed 004, "The Behavior Selection Tree concept and anatomy", "Sharing Behavior Blocks".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agentrt.errors import did_you_mean
from agentrt.selection.document import Element
from agentrt.selection.findings import Findings, shown

__all__ = ["NODES", "ROOTS", "SHAPES", "Shape", "shaped"]


class Shape(NamedTuple):
    """What an element may have.

    Attributes:
        written: its tag, as the documentation writes it.
        required: attributes without which it has no meaning.
        optional: further ones.
        children: tags, in lower case.
    """

    written: str
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


NODES = ("priority", "leaf", "ref")
"""What a tree is made of."""

ROOTS = ("selectiontrees", "selectiontree", "blocks")
"""What a file may be."""

SHAPES: Mapping[str, Shape] = {
    "selectiontrees": Shape("SelectionTrees", children=("selectiontree",)),
    "selectiontree": Shape(
        "SelectionTree",
        ("name",),
        ("type",),
        ("variables", "signalvariables", "leaftranslations", "blocks", *NODES),
    ),
    "blocks": Shape("Blocks", children=("block",)),
    "block": Shape("Block", ("name",), (), ("variable", "signal", "map", *NODES)),
    "variables": Shape("Variables", children=("variable", "ref")),
    "signalvariables": Shape("SignalVariables", children=("signal", "ref")),
    "leaftranslations": Shape("LeafTranslations", children=("map", "ref")),
    "variable": Shape("Variable", ("name",), ("default",)),
    "signal": Shape("Signal", ("name", "variable", "value")),
    "map": Shape("Map", ("node", "target")),
    "priority": Shape("Priority", ("name",), ("condition",), NODES),
    "leaf": Shape("Leaf", ("name",), ("condition",)),
    "ref": Shape("Ref", ("name",)),
}


def shaped(root: Element, findings: Findings, stem: str) -> Element | None:
    """Check the shape of a file, and take out what does not fit.

    Args:
        root: its outermost element; it is changed.
        findings: told what does not fit.
        stem: the name of the file without folder and suffix, which names a tree that fills it.

    Returns:
        The element, or None if the file cannot be used at all.
    """
    if root.tag not in ROOTS:
        known = [SHAPES[tag].written for tag in ROOTS]
        text = f"a file is one of {_listed(known)}, and this is {_tag(root)}.{did_you_mean(root.written, known)}"
        findings.error(root.file, root.line, text)
        return None
    if root.tag == "selectiontree" and not root.name:
        root.attributes["name"] = stem
    return root if _fits(root, findings) else None


def _fits(element: Element, findings: Findings) -> bool:
    """Check an element and all below it; the document's own bound on depth bounds the recursion."""
    shape = SHAPES[element.tag]
    _check_attributes(element, shape, findings)
    if element.text_line:
        findings.lenient(
            element.file, element.text_line, f"text has no meaning here, inside {_tag(element)}. Remove it."
        )
    kept = []
    for child in element.children:
        if child.tag in shape.children:
            if _fits(child, findings):
                kept.append(child)
        else:
            findings.lenient(child.file, child.line, _misplaced(child, shape))
    element.children = kept
    missing = [name for name in shape.required if not element.attributes.get(name)]
    for name in missing:
        what = "an empty" if name in element.attributes else "no"
        findings.lenient(element.file, element.line, f"{_tag(element)} has {what} attribute '{name}'. Write it down.")
    return not missing


def _check_attributes(element: Element, shape: Shape, findings: Findings) -> None:
    known = (*shape.required, *shape.optional)
    for name in element.attributes:
        if name not in known:
            takes = f"It takes {_listed(known)}." if known else "It takes none."
            text = f"{_tag(element)} has no attribute {shown(name)}.{did_you_mean(name, known)} {takes}"
            findings.lenient(element.file, element.line, text)
    if element.repeated:
        text = (
            f"{_tag(element)} has the attribute {shown(element.repeated)} twice: names ignore case. Keep one of them."
        )
        findings.lenient(element.file, element.line, text)


def _misplaced(child: Element, shape: Shape) -> str:
    takes = [SHAPES[tag].written for tag in shape.children]
    may = f"It may hold {_listed(takes)}." if takes else "It holds nothing."
    if child.tag in SHAPES:
        return f"{_tag(child)} has no place in <{shape.written}>. {may}"
    known = [one.written for one in SHAPES.values()]
    return f"there is no element {_tag(child)}.{did_you_mean(child.written, known)} <{shape.written}>: {may}"


def _tag(element: Element) -> str:
    return f"<{shown(element.written)[1:-1]}>"


def _listed(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
