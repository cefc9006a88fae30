"""What reaches a state from outside: saved states, bad signals, values; and paths that name one place."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt import Agent, Entity, sleep_ticks
from agentrt.errors import DataFault, DefinitionError, InvalidSelectionError, UnknownVariableError
from agentrt.selection import LeafBehavior, SelectionLibrary

TREE = """<SelectionTree name="Grunt">
  <Variables><Variable name="a"/><Variable name="B" default="1"/><Variable name="c"/></Variables>
  <SignalVariables><Signal name="On" variable="a" value="1"/><Signal name="Off" variable="a" value="0"/></SignalVariables>
  <Priority name="R"><Leaf name="A" condition="a"/><Leaf name="C" condition="c"/><Leaf name="Idle"/></Priority>
</SelectionTree>"""


def tree(text=TREE, mode="strict"):
    return next(iter(SelectionLibrary.from_texts({"t.xml": text}, mode)))


def nodes(text, declared="a b"):
    variables = "".join(f'<Variable name="{name}"/>' for name in declared.split())
    return f'<SelectionTree name="T"><Variables>{variables}</Variables>{text}</SelectionTree>'


# --- saved states -----------------------------------------------------------------------------------------------------


class Hostile(Mapping):
    """A mapping that says something else whenever it is asked."""

    def __init__(self, size=3, fail=True):
        self.size = size
        self.fail = fail

    def __len__(self):
        return self.size

    def __iter__(self):
        if self.fail:
            raise RuntimeError("no")
        return (f"v{n}" for n in range(10**9))

    def __getitem__(self, name):
        return True


BAD = {
    "nothing": None,
    "a number": 3,
    "text": "saved",
    "a list": [1],
    "no tree": {"variables": {}},
    "another tree": {"tree": "Alien", "variables": {"a": True}},
    "a tree that is no text": {"tree": 3, "variables": {}},
    "no variables": {"tree": "Grunt"},
    "variables that are none": {"tree": "Grunt", "variables": [["a", True]]},
    "a value that is text": {"tree": "Grunt", "variables": {"a": True, "c": "true"}},
    "a value that is a number": {"tree": "Grunt", "variables": {"a": True, "c": 1}},
    "a value that is nothing": {"tree": "Grunt", "variables": {"a": True, "c": None}},
    "a value of one that is gone": {"tree": "Grunt", "variables": {"a": True, "gone": "x"}},
    "a name that is none": {"tree": "Grunt", "variables": {"a": True, 3: True}},
    "a name that is too long": {"tree": "Grunt", "variables": {"a": True, "x" * 5000: True}},
    "one variable twice": {"tree": "Grunt", "variables": {"a": True, "A": False}},
    "far too many": {"tree": "Grunt", "variables": {f"v{n}": True for n in range(10_001)}},
    "a mapping that raises": Hostile(),
    "variables that raise": {"tree": "Grunt", "variables": Hostile()},
    "variables without an end": {"tree": "Grunt", "variables": Hostile(10**9, fail=False)},
    "variables that lie about their end": {"tree": "Grunt", "variables": Hostile(3, fail=False)},
}


@pytest.mark.states(
    "004: Evaluation: Saved variables are read before they are taken over; what is no saved state of this tree "
    "changes nothing (ours)",
)
@pytest.mark.parametrize("bad", BAD)
def test_what_was_not_saved_is_refused_and_nothing_is_changed(bad):
    state = tree().state()
    before = state.variables
    if bad == "variables that lie about their end":
        state.restore(BAD[bad])  # no more than a tree has are looked at, and none of these is declared
    else:
        with pytest.raises(DataFault) as caught:
            state.restore(BAD[bad])
        assert len(str(caught.value)) < 500
    assert state.variables == before


def test_it_says_where_and_what_is_wrong():
    state = tree().state()
    with pytest.raises(DataFault, match=r"#/variables/c: here stands 'true'. Write true or false."):
        state.restore(BAD["a value that is text"])
    with pytest.raises(DataFault, match=r"#/tree: it was saved of the tree 'Alien', and this is 'Grunt'"):
        state.restore(BAD["another tree"])
    with pytest.raises(DataFault, match="it has more than 10000 entries"):
        state.restore(BAD["far too many"])


@pytest.mark.states("004: Evaluation: Saved variables are read before they are taken over; what is no saved state ...")
def test_what_was_saved_is_taken_over():
    """Case does not count, what is gone from the tree is left out, and what is not there stays."""
    state = tree().state()
    state.set_variable("c", True)
    state.restore({"tree": "GRUNT", "variables": {"A": True, "b": False, "gone": True}})
    assert state.variables == {"a": True, "B": False, "c": True}
    other = tree().state()
    other.restore(state.save())
    assert other.variables == state.variables


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "B", "tree", "variables", "x"]), inner),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.states("004: Evaluation: Saved variables are read before they are taken over; what is no saved state ...")
@pytest.mark.slow
@given(saved=json_values, variables=json_values)
def test_nothing_else_comes_out(saved, variables):
    for one in (saved, {"tree": "Grunt", "variables": saved}, {"tree": saved, "variables": variables}):
        state = tree().state()
        before = state.variables
        try:
            state.restore(one)
        except DataFault:
            assert state.variables == before


# --- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "004: The Selection Tree: Booleans are spelled alike in defaults, values and conditions (decided)",
    source="Selection Variables",
)
@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("true", True), (" TRUE ", True), ("0", False), ("False", False)]
)
def test_booleans_are_spelled_alike_everywhere(text, value):
    made = tree(
        f"""<SelectionTree name="T"><Variables><Variable name="a" default="{text}"/><Variable name="b"/></Variables>
        <SignalVariables><Signal name="Set" variable="b" value="{text}"/></SignalVariables>
        <Priority name="R"><Leaf name="X" condition="{text}"/><Leaf name="Y"/></Priority></SelectionTree>"""
    )
    assert made.variables == {"a": value, "b": False}
    assert made.select() == ("X" if value else "Y")
    state = made.state()
    state.set_variable("b", not value)
    state.signal("Set")
    assert state.is_set("b") is value


class Odd:
    def __eq__(self, other):
        raise RuntimeError("no")

    def __repr__(self):
        raise RuntimeError("no")

    __hash__ = None


@pytest.mark.parametrize("value", ["true", "1", None, 2, [], Odd(), float("nan"), pytest.param(10**5000, id="huge")])
def test_what_a_variable_cannot_be_set_to(value):
    state = tree().state()
    with pytest.raises(DefinitionError, match="it cannot be set to"):
        state.set_variable("a", value)


@pytest.mark.parametrize("name", [3, None, [], "x" * 10_000])
def test_what_names_no_variable(name):
    state = tree().state()
    for use in (state.is_set, lambda it: state.set_variable(it, True)):
        with pytest.raises((UnknownVariableError, TypeError)):
            use(name)


@pytest.mark.parametrize("given", [3, "Idle", [LeafBehavior], LeafBehavior, Entity("x")])
def test_behaviors_are_a_mapping(given):
    with pytest.raises(DefinitionError, match=r"its behaviors are .*Give a mapping of their names"):
        tree().state(given)


# --- one path for one place -------------------------------------------------------------------------------------------

TWICE = """<SelectionTree name="T"><Variables><Variable name="a"/><Variable name="b"/></Variables>
  <Blocks>
    <Block name="Fight"><Priority name="Fight" condition="a"><Leaf name="Bite" condition="b"/></Priority></Block>
    <Block name="Both"><Ref name="Fight"/><Leaf name="Flee" condition="b"/></Block>
  </Blocks>
  <Priority name="R"><Ref name="Fight"/><Ref name="Fight"/><Ref name="Both"/><Leaf name="Idle"/></Priority>
</SelectionTree>"""


def paths(made):
    return [node.path for node in made.program.nodes]


@pytest.mark.states(
    "004: Sharing blocks: Every node has a path of its own, also what is in a block that stands in one place twice "
    "(decided)",
)
def test_a_block_that_stands_in_one_place_twice_has_two_paths():
    assert paths(tree(TWICE)) == [
        "R", "R/Fight", "R/Fight/Bite", "R/Fight#2", "R/Fight#2/Bite", "R/Fight#3", "R/Fight#3/Bite", "R/Flee", "R/Idle",
    ]  # fmt: skip
    outline = tree(TWICE).outline("mind")

    def below(one):
        return [one.path, *(path for child in one.children for path in below(child))]

    assert below(outline) == [f"mind/{path}" for path in paths(tree(TWICE))]


@pytest.mark.states("004: Sharing blocks: Every node has a path of its own, also what is in a block that stands in ...")
def test_leaves_of_one_name_have_paths_of_their_own_too():
    made = tree(nodes('<Priority name="R"><Leaf name="X" condition="a"/><Leaf name="X#2"/><Leaf name="x" condition="b"/>'
                      '<Leaf name="X"/></Priority>'))  # fmt: skip
    assert paths(made) == ["R", "R/X", "R/X#2", "R/x#2#2", "R/X#3"]
    state = made.state()
    assert state.tree.select(b=True) == "X#2"


@pytest.mark.states("004: Sharing blocks: Every node has a path of its own, also what is in a block that stands in ...")
@pytest.mark.parametrize("mode", ["strict", "compatible"])
@given(names=st.lists(st.sampled_from(["X", "x", "X#2", "Y"]), min_size=1, max_size=8))
def test_no_two_nodes_have_one_path(mode, names):
    leaves = "".join(f'<Leaf name="{name}" condition="a"/>' for name in names)
    found = [path.lower() for path in paths(tree(nodes(f'<Priority name="R">{leaves}</Priority>'), mode))]
    assert len(set(found)) == len(found)


def test_two_groups_of_one_name_are_two_in_old_files_and_an_error_otherwise():
    text = nodes('<Priority name="R"><Priority name="G"><Leaf name="X" condition="a"/></Priority>'
                 '<Priority name="g"><Leaf name="Y"/></Priority></Priority>')  # fmt: skip
    with pytest.raises(InvalidSelectionError, match="Rename one of them: a path names one place"):
        tree(text)
    assert paths(tree(text, "compatible")) == ["R", "R/G", "R/G/X", "R/g#2", "R/g#2/Y"]


# --- bounds say which one it was --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<Leaf " + " ".join(f'a{n}="1"' for n in range(17)) + "/>", "has 17 attributes; no element takes so many. At most 16"),
        (f'<SelectionTree type="{"x" * 5000}"/>', "is longer than 4096 characters. Shorten the attribute 'type'"),
        (f"<{'x' * 5000}/>", "is longer than 4096 characters. Shorten the tag"),
    ],
)  # fmt: skip
def test_a_bound_is_named(text, words):
    with pytest.raises(InvalidSelectionError) as caught:
        tree(text)
    assert words in str(caught.value)


@pytest.mark.slow
def test_the_bound_of_a_folder_is_named():
    block = f'<Blocks><Block name="x"><Priority name="P">{"""<Leaf name="L"/>""" * 5000}</Priority></Block></Blocks>'
    trees = "".join(f'<SelectionTree name="t{n}"><Ref name="x"/></SelectionTree>' for n in range(30))
    with pytest.raises(InvalidSelectionError, match="they have more than 100000 parts together"):
        SelectionLibrary.from_texts({"b.xml": block, "t.xml": f"<SelectionTrees>{trees}</SelectionTrees>"})


# --- signals that cannot be taken -------------------------------------------------------------------------------------


class Hit(LeafBehavior):
    """Cannot stand a payload without a number."""

    def __init__(self, log):
        self.log = log

    def constructor(self, ai):
        self.log.append(f"begin {ai.behavior}")

    def destructor(self, ai):
        self.log.append(f"end {ai.behavior}")

    def OnHit(self, ai, strength):  # noqa: N802 - named after the signal
        self.log.append(f"hit {strength + 1}")


@pytest.mark.states(
    "004: Evaluation: What raised in the method of a signal may be entered again when the variables have selected "
    "another behavior (ours)",
)
@pytest.mark.parametrize("payload", [{}, {"strength": "x"}, {"strength": None}, {"strength": 1, "more": 2}])
def test_a_bad_payload_costs_a_leaf_its_stay_and_no_more(body, faults, payload):
    log = []
    state = tree().state({name: Hit(log) for name in ("A", "C", "Idle")}, body=body)
    state.signal("On")
    state.drive()
    state.signal("OnHit", **payload)
    assert [(path, hook) for path, hook, _ in faults] == [("selection/R/A", "OnHit")]
    state.drive()
    assert state.behavior == "Idle"
    state.set_variable("B", False)  # what it has to do with is another thing
    state.drive()
    assert (state.behavior, [name for name, _ in state.view().out]) == ("Idle", ["A"])
    state.signal("Off")
    state.drive()
    state.signal("On")
    state.drive()
    assert (state.behavior, state.view().out) == ("A", ())
    state.signal("OnHit", strength=4)
    assert log == ["begin A", "end A", "begin Idle", "end Idle", "begin A", "hit 5"]


def test_one_that_is_preferred_brings_it_back_as_well(body, faults):
    log = []
    state = tree().state({name: Hit(log) for name in ("A", "C", "Idle")}, body=body)
    state.drive()
    state.signal("OnHit")
    state.drive()
    assert state.behavior is None
    state.set_variable("c", True)
    state.drive()
    assert state.behavior == "C"
    state.set_variable("c", False)
    state.drive()
    assert state.behavior == "Idle"
    assert len(faults) == 1


@pytest.mark.states("004: Evaluation: What raised in the method of a signal may be entered again when the ...")
def test_what_raised_in_its_own_hooks_stays_out(body, faults):
    class Broken(Hit):
        def destructor(self, ai):
            raise ValueError("no")

    log = []
    state = tree().state({"A": Broken(log), "Idle": Hit(log)}, body=body)
    state.signal("On")
    state.drive()
    state.signal("OnHit")
    for name in ("Off", "On", "Off", "On"):
        state.drive()
        state.signal(name)
    state.drive()
    assert state.behavior == "Idle"
    assert [name for name, _ in state.view().out] == ["A"]


@pytest.mark.states("004: Evaluation: What raised in the method of a signal may be entered again when the ...")
@pytest.mark.parametrize("late", [False, True])
def test_on_each_host_and_for_coroutines(play, late):
    """A signal whose method is a coroutine, and raises at once or two ticks later."""
    log = []

    class Slow(Hit):
        async def OnHit(self, ai, strength):  # noqa: N802 - named after the signal
            if late:
                await sleep_ticks(2)
            self.log.append(strength + 1)

        async def run(self, ai):
            try:
                await sleep_ticks(1000)
            finally:
                log.append(f"clean {ai.behavior}")

    state = tree().state({"A": Slow(log), "Idle": Hit(log)})
    runtime = play.runtime()
    runtime.add(Agent(Entity("ann"), drivers=[state]))
    todo = {2: ("OnHit", {"strength": None}), 6: ("Off", {}), 8: ("On", {}), 10: ("OnHit", {"strength": 1})}

    def act():
        if runtime.tick == 1:
            state.signal("On")
        if runtime.tick in todo:
            name, data = todo[runtime.tick]
            state.signal(name, **data)

    runtime.every_tick(act)
    play.ticks(runtime, 13)
    assert log == [
        "begin A", "clean A", "end A", "begin Idle", "end Idle", "begin A", 2, "clean A", "end A",
    ]  # fmt: skip
