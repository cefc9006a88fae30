"""Which leaf a tree selects: order, nesting, backtracking, what is remembered; against the plain reference on random trees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import load

from agentrt.body.driver import LoneBody
from agentrt.selection import LeafBehavior, SelectionLibrary
from agentrt.selection import program as programs

reference = load("tests/selection/reference.py")

VARIABLES = ("a", "b", "c", "d")


@pytest.mark.states(
    "004: The Selection Tree: A leaf refers to a behavior, and has the condition under which it may be selected",
)
@pytest.mark.states(
    "004: The Selection Tree: Priority is the order of the file: of several that match, the first is selected",
)
def test_the_first_that_passes_in_the_order_of_the_file(tree_of):
    tree = tree_of('<Priority name="R"><Leaf name="A" condition="a"/><Leaf name="B" condition="b"/></Priority>', "a b")
    assert [tree.select(a=a, b=b) for a in (False, True) for b in (False, True)] == [None, "B", "A", "A"]


@pytest.mark.states(
    "004: The Selection Tree: A Priority whose condition holds, but none of whose children passes, is left again for "
    "its next sibling (decided)",
)
def test_a_group_that_passes_and_holds_no_leaf_that_does_is_left_again(tree_of):
    """The search goes back and on with the next sibling, however deep it was."""
    root = """<Priority name="R">
        <Priority name="P" condition="a"><Priority name="Q"><Leaf name="X" condition="b"/></Priority>
        <Leaf name="Y" condition="c"/></Priority>
        <Leaf name="Z"/></Priority>"""
    tree = tree_of(root, "a b c")
    assert [tree.select(a=True), tree.select(a=True, c=True), tree.select(a=True, b=True), tree.select(b=True)] == [
        "Z", "Y", "X", "Z",
    ]  # fmt: skip


@pytest.mark.states(
    "004: The Selection Tree: A node groups behaviors under a condition, which is needed for any of them",
)
def test_all_conditions_from_the_root_on_have_to_hold(tree_of):
    root = '<Priority name="R" condition="a"><Priority name="P" condition="b"><Leaf name="L" condition="c"/></Priority></Priority>'
    tree = tree_of(root, "a b c")
    assert [tree.select(a=a, b=b, c=c) for a in (0, 1) for b in (0, 1) for c in (0, 1)] == [None] * 7 + ["L"]


@pytest.mark.states("004: Evaluation: Changing behaviors is not expensive")
def test_what_is_remembered_is_bounded_and_right(tree_of, monkeypatch):
    monkeypatch.setattr(programs, "MOST_REMEMBERED", 3)
    tree = tree_of('<Priority name="R"><Leaf name="A" condition="a xor b xor c"/><Leaf name="B"/></Priority>', "a b c")
    for _ in range(2):
        for bits in range(8):
            leaf = tree.program.select(bits)
            assert leaf.behavior == ("A" if bits.bit_count() % 2 else "B")
            assert len(tree.program._selected) <= 3


def test_the_picture(tree_of):
    root = '<Priority name="R"><Leaf name="A" condition="a &lt; &quot;b&quot;"/><Leaf name="B"/></Priority>'
    tree = tree_of(root, "a", maps='<Map node="B" target="GruntB"/>', mode="compatible")
    assert tree.diagram("R/B").splitlines() == [
        "flowchart TD",
        '    n0["R"]',
        '    n1(["A"])',
        '    n0 -->|"a #lt; #quot;b#quot;"| n1',
        '    n2(["B: GruntB"])',
        "    n0 --> n2",
        "    style n2 stroke-width:4px",
    ]
    assert "style" not in tree.diagram()


# --- random trees -----------------------------------------------------------------------------------------------------

CONDITIONS = st.one_of(
    st.none(),
    st.sampled_from([*VARIABLES, "!a", "!b", "a and b", "a or b and c", "c != d", "!(a or d)", "a == b xor c", "true"]),
)


def xml_of(node, blocks, spliced):
    """A node as XML; every node whose number is in ``spliced`` goes into a block, and a Ref stands in its place."""
    name, condition, children = node
    asks = "" if condition is None else f' condition="{condition}"'
    inside = "".join(xml_of(child, blocks, spliced) for child in children or ())
    text = f'<Leaf name="{name}"{asks}/>' if children is None else f'<Priority name="{name}"{asks}>{inside}</Priority>'
    if int(name[1:]) in spliced:
        blocks.append(f'<Block name="Of{name}">{text}</Block>')
        return f'<Ref name="of{name}"/>'
    return text


@st.composite
def trees(draw):
    """Nested tuples with names that are unique: G1, L2, ..."""
    number = 0

    def node(depth):
        nonlocal number
        number += 1
        mine = number
        condition = draw(CONDITIONS)
        if depth == 0 or draw(st.integers(0, 2)) == 0:
            return (f"L{mine}", condition, None)
        return (f"G{mine}", condition, [node(depth - 1) for _ in range(draw(st.integers(0, 4)))])

    return node(3)


def leaves_of(node):
    name, _, children = node
    return [name] if children is None else [leaf for child in children for leaf in leaves_of(child)]


@pytest.mark.states(
    "004: Concept and anatomy: A tree says nothing about transitions: what is selected depends on the variables alone",
)
@pytest.mark.states("004: The Selection Tree: Priority is the order of the file: of several that match, the first ...")
@pytest.mark.states("004: Sharing Behavior Blocks: A tree selects the same however its nodes are cut into blocks")
@pytest.mark.slow
@given(tree=trees(), spliced=st.sets(st.integers(1, 40)))
def test_a_tree_selects_what_the_reference_does_however_its_files_are_cut(tree, spliced):
    blocks = []
    declared = "".join(f'<Variable name="{name}"/>' for name in VARIABLES)
    text = f"<SelectionTree><Variables>{declared}</Variables>{xml_of(tree, blocks, spliced)}</SelectionTree>"
    library = SelectionLibrary.from_texts({"t.xml": text, "b.xml": f"<Blocks>{''.join(blocks)}</Blocks>"})
    made = library["t"]
    for bits in range(1 << len(VARIABLES)):
        values = {name: bool(bits >> number & 1) for number, name in enumerate(VARIABLES)}
        expected = reference.select(tree, values)
        assert made.select(**values) == expected
        leaf = made.program.walk(bits)
        assert (None if leaf is None else leaf.behavior) == expected


EFFECTS = st.dictionaries(st.sampled_from(VARIABLES), st.booleans(), max_size=2)
STEPS = st.one_of(
    st.tuples(st.just("set"), st.sampled_from(VARIABLES), st.booleans()),
    st.tuples(st.just("signal"), st.sampled_from(["S", "T", "U"])),
    st.tuples(st.just("drive")),
    st.tuples(st.just("drive")),
)


class Scripted(LeafBehavior):
    """Does what the model's behavior does."""

    def __init__(self, name, model, log):
        self.name = name
        self.model = model
        self.log = log

    def _do(self, ai, what, effects):
        self.log.append((what, self.name))
        for variable, value in effects.items():
            ai.set_variable(variable, value)

    def constructor(self, ai):
        self._do(ai, "constructor", self.model.constructors.get(self.name, {}))
        if self.name in self.model.raising:
            raise ValueError(self.name)

    def destructor(self, ai):
        self._do(ai, "destructor", self.model.destructors.get(self.name, {}))

    def on_signal(self, ai, name, data):
        effects = self.model.handlers.get(self.name, {})
        if name in effects:
            self._do(ai, name, effects[name])


@st.composite
def runs(draw):
    """A model, and what happens to it."""
    tree = draw(trees())
    behaviors = draw(st.permutations(["X", "Y", "Z", "W"]))
    leaves = leaves_of(tree)
    targets = {leaf: draw(st.sampled_from(behaviors)) for leaf in leaves if draw(st.booleans())}
    names = sorted({targets.get(leaf, leaf) for leaf in leaves})
    of_each = st.dictionaries(st.sampled_from(names), EFFECTS, max_size=3) if names else st.just({})
    told = st.dictionaries(st.sampled_from(["S", "T", "U"]), EFFECTS, max_size=2)
    value = st.sampled_from(["true", "false", "!a", "a and b", "b != c"])
    model = reference.Model(
        tree,
        {name: draw(st.booleans()) for name in VARIABLES},
        draw(st.lists(st.tuples(st.sampled_from(["S", "T"]), st.sampled_from(VARIABLES), value), max_size=4)),
        targets,
        draw(of_each),
        draw(of_each),
        draw(st.dictionaries(st.sampled_from(names), told, max_size=4)) if names else {},
        draw(st.sets(st.sampled_from(names), max_size=2)) if names else set(),
    )
    return model, draw(st.lists(STEPS, max_size=25))


def as_file(model):
    declared = "".join(f'<Variable name="{name}" default="{value}"/>' for name, value in model.variables.items())
    signals = "".join(f'<Signal name="{s}" variable="{v}" value="{value}"/>' for s, v, value in model.signals)
    maps = "".join(f'<Map node="{leaf}" target="{target}"/>' for leaf, target in model.targets.items())
    return (
        f"<SelectionTree><Variables>{declared}</Variables><SignalVariables>{signals}</SignalVariables>"
        f"<LeafTranslations>{maps}</LeafTranslations>{xml_of(model.tree, [], ())}</SelectionTree>"
    )


@pytest.mark.states("004: Overview: A tree is a set of rules that keeps an agent in a valid behavior at all times ...")
@pytest.mark.states("004: Concept and anatomy: At any moment an agent has one behavior at most, which matches its ...")
@pytest.mark.states("004: Evaluation: If it is another, the destructor of the current one is called, then it ...")
@pytest.mark.slow
@given(run=runs())
def test_a_run_calls_what_the_reference_calls(run):
    """Variables, signals, constructors and destructors that set variables, constructors that raise: equal logs."""
    model, steps = run
    log, told = [], []
    tree = SelectionLibrary.from_texts({"t.xml": as_file(model)})["t"]
    behaviors = {name: Scripted(name, model, log) for name in tree.behaviors}
    state = tree.state(behaviors, body=LoneBody(report=lambda *fault: told.append(fault[1])))
    for kind, *rest in [*steps, ("drive",)]:
        if kind == "set":
            state.set_variable(*rest)
            model.variables[rest[0]] = rest[1]
        elif kind == "signal":
            state.signal(*rest)
            model.signal(*rest)
        else:
            state.drive()
            model.update()
            assert state.behavior == model.current
        assert log == model.log
        assert state.variables == model.variables
    assert len(told) == len(model.known_to_raise)
    begun = [name for what, name in log if what == "constructor" and name not in model.raising]
    ended = [name for what, name in log if what == "destructor"]
    assert begun == ended + ([model.current] if model.current is not None else [])
