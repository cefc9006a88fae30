"""Selection trees at random: XML that loads strictly, and conditions in all spellings of the language.

A case is a tree with variables and signals; some of its nodes stand in blocks, which is how files of games are cut.
Every leaf selects the behavior of its own name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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
    """One node of a case.

    Attributes:
        name: its name.
        condition: its condition; empty for none.
        children: of a Priority; None for a Leaf.
        in_block: whether it stands in a block of its own, and a Ref in its place.
    """

    name: str
    condition: str = ""
    children: tuple[NodeSpec, ...] | None = None
    in_block: bool = False

    def below(self) -> Iterator[NodeSpec]:
        """This one, and all below it."""
        yield self
        for child in self.children or ():
            yield from child.below()

    def xml(self, *, may_refer: bool = True) -> str:
        """The node as it stands in its place.

        Args:
            may_refer: whether a Ref stands there if it is in a block.
        """
        if self.in_block and may_refer:
            return f'<Ref name="Of{self.name}"/>'
        asks = f' condition="{self.condition}"' if self.condition else ""
        if self.children is None:
            return f'<Leaf name="{self.name}"{asks}/>'
        return f'<Priority name="{self.name}"{asks}>{"".join(one.xml() for one in self.children)}</Priority>'


@dataclass(frozen=True, repr=False)
class SelectionCase(Brief):
    """A selection tree.

    Attributes:
        root: its root.
        variables: its variables and their defaults.
        signals: what its signals set: (signal, variable, expression).
    """

    root: NodeSpec
    variables: dict[str, bool]
    signals: tuple[tuple[str, str, str], ...] = ()

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
        blocks = "".join(
            f'<Block name="Of{one.name}">{one.xml(may_refer=False)}</Block>'
            for one in self.root.below()
            if one.in_block
        )
        sections = f"<Variables>{variables}</Variables>"
        sections += f"<SignalVariables>{signals}</SignalVariables>" if signals else ""
        sections += f"<Blocks>{blocks}</Blocks>" if blocks else ""
        return f'<SelectionTree name="Drawn">{sections}{self.root.xml()}</SelectionTree>'

    def tree(self) -> SelectionTree:
        """The tree, read anew, strictly."""
        return SelectionLibrary.from_texts({"Drawn.xml": self.xml})["Drawn"]


def conditions(variables: tuple[str, ...] = _VARIABLES) -> st.SearchStrategy[str]:
    """Expressions that can stand in a condition.

    Args:
        variables: the names that may stand in them.
    """

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
    """Selection trees.

    Args:
        max_leaves: how many leaves there are at most.
    """
    asks = st.one_of(st.just(""), conditions())
    leaf = st.tuples(asks, st.just(None), st.booleans())
    nodes = st.recursive(
        leaf,
        lambda below: st.tuples(asks, st.lists(below, max_size=3), st.booleans()),
        max_leaves=max_leaves,
    )
    signal = st.tuples(st.sampled_from(_SIGNALS), st.sampled_from(_VARIABLES), conditions())
    return st.builds(
        lambda drawn, defaults, signals: SelectionCase(
            _named(drawn), dict(zip(_VARIABLES, defaults, strict=True)), tuple(signals)
        ),
        nodes,
        st.tuples(*[st.booleans() for _ in _VARIABLES]),
        st.lists(signal, max_size=3),
    )


def _named(drawn: tuple[str, list[tuple[str, object, bool]] | None, bool]) -> NodeSpec:
    number = 0

    def named(one: tuple[str, list[tuple[str, object, bool]] | None, bool]) -> NodeSpec:
        nonlocal number
        number += 1
        mine = number
        condition, children, in_block = one
        if children is None:
            return NodeSpec(f"L{mine}", condition, None, in_block)
        return NodeSpec(f"P{mine}", condition, tuple(named(child) for child in children), in_block)  # type: ignore[arg-type]

    return named(drawn)
