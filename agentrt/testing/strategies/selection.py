"""Selection trees at random: XML that loads strictly, and conditions in all spellings of the language.

A case is a tree with variables and signals; some of its nodes stand in blocks, which is how files of games are cut.
Every leaf selects the behavior of its own name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from hypothesis import strategies as st

from agentrt.selection.library import SelectionLibrary
from agentrt.selection.state import SelectionTree
from agentrt.testing.strategies.schedules import Brief

__all__ = ["NodeSpec", "SelectionCase", "conditions", "selection_trees"]

_VARIABLES = ("a", "b", "c", "d")
_SIGNALS = ("S", "T")
_JOINTS = (" and ", " or ", " xor ", " AND ")
_COMPARISONS = (" == ", " != ")


@dataclass(frozen=True, repr=False)
class NodeSpec(Brief):
    """One node of a case."""

    name: str
    condition: str = ""  # its condition; empty for none
    children: tuple[NodeSpec, ...] | None = None  # of a Priority; None for a Leaf
    in_block: bool = False  # whether it stands in a block of its own, and a Ref in its place

    def below(self) -> Iterator[NodeSpec]:
        """This one, and all below it."""
        yield self
        for child in self.children or ():
            yield from child.below()

    def xml(self, *, may_refer: bool = True) -> str:
        """The node as it stands in its place; without ``may_refer``, as it stands in its block."""
        if self.in_block and may_refer:
            return f'<Ref name="Of{self.name}"/>'
        asks = f' condition="{self.condition}"' if self.condition else ""
        if self.children is None:
            return f'<Leaf name="{self.name}"{asks}/>'
        return f'<Priority name="{self.name}"{asks}>{"".join(one.xml() for one in self.children)}</Priority>'


@dataclass(frozen=True, repr=False)
class SelectionCase(Brief):
    """A selection tree."""

    root: NodeSpec
    variables: dict[str, bool]  # its variables and their defaults
    signals: tuple[tuple[str, str, str], ...] = ()  # what its signals set: (signal, variable, expression)

    @property
    def leaves(self) -> tuple[str, ...]:
        """The names of its leaves, in order."""
        return tuple(one.name for one in self.root.below() if one.children is None)

    @property
    def xml(self) -> str:
        """The file."""
        variables = "".join(
            f'<Variable name="{name}" default="{str(value).lower()}"/>' for name, value in self.variables.items()
        )
        signals = "".join(
            f'<Signal name="{signal}" variable="{variable}" value="{value}"/>'
            for signal, variable, value in self.signals
        )
        own = [one for one in self.root.below() if one.in_block]
        blocks = "".join(f'<Block name="Of{one.name}">{one.xml(may_refer=False)}</Block>' for one in own)
        sections = f"<Variables>{variables}</Variables>"
        sections += f"<SignalVariables>{signals}</SignalVariables>" if signals else ""
        sections += f"<Blocks>{blocks}</Blocks>" if blocks else ""
        return f'<SelectionTree name="Drawn">{sections}{self.root.xml()}</SelectionTree>'

    def tree(self) -> SelectionTree:
        """The tree, read anew, strictly."""
        return SelectionLibrary.from_texts({"Drawn.xml": self.xml})["Drawn"]


def conditions(variables: tuple[str, ...] = _VARIABLES) -> st.SearchStrategy[str]:
    """Expressions of some variables that can stand in a condition."""

    @st.composite
    def texts(draw: st.DrawFn) -> str:
        def operand(depth: int) -> str:
            kinds = [*variables, "true", "false"] + (["("] if depth else [])
            kind = draw(st.sampled_from(kinds))
            text = f"({chain(depth - 1)})" if kind == "(" else kind
            return f"!{text}" if draw(st.booleans()) else text

        def comparison(depth: int) -> str:
            text = operand(depth)
            return text + draw(st.sampled_from(_COMPARISONS)) + operand(depth) if draw(st.booleans()) else text

        def chain(depth: int) -> str:
            text = comparison(depth)
            for _ in range(draw(st.integers(0, 2))):
                text += draw(st.sampled_from(_JOINTS)) + comparison(depth)
            return text

        return chain(2)

    return texts()


def selection_trees(*, max_leaves: int = 8) -> st.SearchStrategy[SelectionCase]:
    """Selection trees of so many leaves at most."""
    asks = st.one_of(st.just(""), conditions())
    leaf: st.SearchStrategy[Any] = st.tuples(asks, st.just(None), st.booleans())
    nodes = st.recursive(
        leaf, lambda below: st.tuples(asks, st.lists(below, max_size=3), st.booleans()), max_leaves=max_leaves
    )
    signal = st.tuples(st.sampled_from(_SIGNALS), st.sampled_from(_VARIABLES), conditions())
    variables = st.fixed_dictionaries({name: st.booleans() for name in _VARIABLES})
    return st.builds(SelectionCase, nodes.map(_named), variables, st.lists(signal, max_size=3).map(tuple))


def _named(drawn: tuple[str, list[Any] | None, bool]) -> NodeSpec:
    numbers = count(1)

    def named(one: tuple[str, list[Any] | None, bool]) -> NodeSpec:
        number = next(numbers)
        condition, children, in_block = one
        if children is None:
            return NodeSpec(f"L{number}", condition, None, in_block)
        return NodeSpec(f"P{number}", condition, tuple(named(child) for child in children), in_block)

    return named(drawn)
