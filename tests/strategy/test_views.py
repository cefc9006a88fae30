"""Views: what an agent solves as plain data, whole, bounded, written and read again; and in words."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looked_at import Carve, Chop, Stage, again, beg, trade

from agentrt import TOP, Action, Agent, CompoundAction, Entity, step
from agentrt.body.codec import JsonObject
from agentrt.errors import DataFault
from agentrt.snapshot import AgentSnapshot, explain, summarize
from agentrt.strategy import Dependency, Interruptible, Order, Strategy, Trigger
from agentrt.strategy.ask import NodeKind, Outcome, TaskNode
from agentrt.strategy.views import GameplayView, OfferView, ProvidedView, TaskNodeView
from agentrt.testing import Have, Simulation, stub_strategy
from agentrt.testing.strategies import gameplays


@pytest.fixture
def stage(request):
    made = []

    def make(*args, **options):
        made.append(Stage(*args, **options))
        return made[-1]

    yield make
    for one in made:
        one.sim.close()


# --- as data ----------------------------------------------------------------------------------------------------------


def test_who_has_no_strategies_has_no_view_and_none_is_made_by_looking(stage):
    sim = Simulation()
    agent = sim.add(Agent(Entity("ann")))
    assert agent.snapshot().strategies is None
    assert "strategies" not in agent.snapshot().as_json()
    assert agent.gameplay_if_made is None
    assert agent.gameplay.running == ()  # somebody asked for it, and loaded nothing
    assert agent.snapshot().strategies is None
    sim.close()


@pytest.mark.states("003: Global Dependency Lists: Who needs something goes through the list and tests all in it ...")
def test_what_can_be_asked_for_and_how(stage):
    game = stage(Chop, Carve, beg)
    game.agent.gameplay.lookahead = 2
    game.agent.gameplay.takes_options = False
    game.agent.gameplay.order = Order.DEAREST

    class Silent:
        def __str__(self):
            raise ValueError

    game.agent.gameplay.set_params(xray=True, who=Silent())
    view = game.view
    assert (view.lookahead, view.takes_options, view.order) == (2, False, "dearest")
    assert view.params == (("xray", "True"), ("who", "<Silent: its text cannot be made (ValueError)>"))
    assert view.provided == (ProvidedView("stub:have", ("chop_tree", "carve", "beg")),)
    assert (view.strategies, view.requests, view.finished, view.triggers) == (3, (), (), ())
    again(game.agent.snapshot())


@pytest.mark.states("003: Task Tree: What is to be done is rendered as a tree ...")
@pytest.mark.states(
    "003: Views: The task tree can be seen at every moment, with the outcome of every node, in snapshots, as JSON and "
    "back",
    source="Task Tree; design 6, 7",
)
def test_a_request_with_its_tree(stage):
    game = stage(Chop, Carve, beg, trade).ask(Have("spoon"), ticks=3)
    (request,) = game.view.requests
    assert (request.wanted, request.attempts, request.stack) == ("Have [spoon, 1]", 4, ("Carve", "Chop Tree"))
    assert [(one.place, one.kind, one.label, one.outcome, one.cost) for one in request.tree.walk()] == [
        ("1", "dependency", "Have [spoon, 1]", "running", None),
        ("1.0", "strategy", "Beg", "failed", 2.0),
        ("1.1", "strategy", "Carve", "running", 3.0),
        ("1.1.0", "dependency", "Have [log, 1]", "running", None),
        ("1.1.0.0", "strategy", "Beg", "failed", 2.0),
        ("1.1.0.1", "strategy", "Chop Tree", "running", 4.0),
    ]
    assert request.tree.offers == (
        OfferView("Carve", 3.0),
        OfferView("Trade", 90.0),
        OfferView("Chop Tree", None, "it says that it cannot"),
    )
    assert [one.label for one in request.tree.under_way()] == ["Have [spoon, 1]", "Carve", "Have [log, 1]", "Chop Tree"]
    assert request.tree.children[0].reason == "nobody gave any"
    assert (request.tree.children[0].is_open, request.tree.children[0].is_under_way) == (False, False)
    again(game.agent.snapshot())


def test_requests_are_counted_and_those_that_are_over_stay_for_a_while(stage):
    game = stage(stub_strategy(takes=1, label="Make"))
    for item in "abcd":
        game.ask(Have(item), ticks=3)
    assert [(tree.place, tree.label, tree.outcome) for tree in game.view.finished] == [
        ("2", "Have [b, 1]", "done"), ("3", "Have [c, 1]", "done"), ("4", "Have [d, 1]", "done"),
    ]  # fmt: skip
    again(game.agent.snapshot())


def test_an_option_that_nobody_can_provide_has_no_cost_in_a_view(stage):
    class Lamp(Dependency[None], activity="stub:lamp"):
        pass

    class Read(Strategy):
        provides = Have
        cost = 1.0

        async def run(self, ctx, wanted):
            await ctx.solve_if_worth(Lamp(), [Have("light")])
            await ctx.sleep_ticks(9)

    game = stage(Read).ask(Have("news"))
    (option,) = game.view.requests[0].tree.children[0].children
    assert (option.kind, option.outcome, option.cost) == ("option", "skipped", None)
    again(game.agent.snapshot())
    assert any("Option Lamp: left out: " in line for line in game.words())


@pytest.mark.states("003: Views: It is said what is interrupted by what, and what came up and has to wait ...")
def test_what_came_up(stage):
    Flee = type("Flee", (Dependency,), {"__module__": __name__, "__qualname__": "Flee"}, activity="stub:flee")
    Careful = stub_strategy(takes=30, label="Careful", interruption=Interruptible.WAIT)
    game = stage(Careful, stub_strategy(Flee, takes=5, label="Run"))
    game.agent.gameplay.add_trigger(Trigger(name="attacked", on="attacked", solve=Flee()))
    game.ask(Have("log"))
    assert game.view.triggers == (("attacked", False),)
    game.agent.signal("attacked").emit("wolf")
    game.sim.tick(2)
    (request,) = game.view.requests
    assert (request.handled, request.pending, game.view.triggers) == ((), ("attacked",), (("attacked", True),))
    assert game.words()[-1] == "    came up, and waits: attacked"
    again(game.agent.snapshot())


# --- bounded ----------------------------------------------------------------------------------------------------------


def deep(levels, width):
    """The view of a tree in which each dependency has had so many attempts, of which the last goes on below."""
    game = Stage(Chop).ask(Have("log"))
    root = game.agent.gameplay.running[0].root
    node = root
    for level in range(levels):
        node.begin(1)
        for number in range(width):
            child = TaskNode(NodeKind.STRATEGY, f"S{number}", node)
            child.begin(1)
            below = TaskNode(NodeKind.DEPENDENCY, f"D{level}", child)
            below.begin(1)
            if number < width - 1:
                child.end(Outcome.FAILED, 2)
        node = below
    view = game.view.requests[0].tree
    again(game.agent.snapshot())
    lines = explain(game.agent.snapshot())
    game.agent.gameplay.running[0].root = TaskNode(NodeKind.DEPENDENCY, "x")
    game.sim.close()
    return root, view, lines


@pytest.mark.states(
    "003: Views: A tree of any size is seen bounded: all that is open first, then what is newest; what is left out is "
    "counted",
    source="design 7",
)
@pytest.mark.parametrize(("levels", "width"), [(2, 3), (20, 30), (40, 2), (150, 2)])
def test_a_view_is_bounded_and_shows_what_is_open_first(levels, width):
    root, view, _ = deep(levels, width)
    nodes = list(view.walk())
    assert len(nodes) <= 121
    total = sum(1 for _ in root.walk())
    assert (sum(node.left_out for node in nodes) == 0) == (len(nodes) == total) == (levels == 2)
    assert len(list(view.under_way())) == min(80, 2 * levels + 1)
    assert max(node.place.count(".") for node in nodes) <= 80
    assert len({node.place for node in nodes}) == len(nodes)
    inner = list(view.under_way())[-3]
    assert levels > 39 or inner.left_out == 0  # what is innermost is shown whole


@pytest.mark.parametrize(("width", "levels"), [(2, 3), (3, 2), (23, 1), (24, 0)])
def test_of_what_has_ended_as_many_levels_are_shown_as_fit(stage, width, levels):
    game = stage(Chop).ask(Have("log"))
    root = game.agent.gameplay.running[0].root

    def grow(node, left):
        node.begin(1)
        for number in range(width if left else 0):
            grow(TaskNode(NodeKind.STRATEGY, f"S{number}", node), left - 1)
        node.end(Outcome.FAILED, 2)

    grow(TaskNode(NodeKind.STRATEGY, "old", root), 4 if width < 4 else 2)
    old = next(child for child in game.view.requests[0].tree.children if child.label == "old")
    assert max(node.place.count(".") for node in old.walk()) - old.place.count(".") == levels
    again(game.agent.snapshot())


@pytest.mark.states("003: Views: A tree of any size is seen bounded: all that is open first, then what is newest ...")
def test_where_there_is_no_room_for_all_the_newest_is_shown(stage):
    game = stage(Chop).ask(Have("log"))
    root = game.agent.gameplay.running[0].root
    for number in range(40):
        child = TaskNode(NodeKind.STRATEGY, f"S{number}", root)
        for _ in range(20 if number == 30 else 4):
            TaskNode(NodeKind.DEPENDENCY, "D", child)
        child.end(Outcome.FAILED, 2)
    tree = game.view.requests[0].tree
    assert len(list(tree.walk())) == 120
    sizes = {one.label: len(list(one.walk())) for one in tree.children}
    assert list(sizes) == ["Chop Tree", *(f"S{number}" for number in range(18, 40))]
    assert {label for label, size in sizes.items() if size == 1} == {"Chop Tree", "S18", "S19"}
    assert sizes["S30"] == 21
    root.children[:] = root.children[:1]


def test_what_is_expected_is_bounded_too(stage):
    game = stage(Chop).ask(Have("log"))
    root = game.agent.gameplay.running[0].root
    for number in range(48):
        child = TaskNode(NodeKind.STRATEGY, f"S{number}", root)
        for _ in range(10):
            TaskNode(NodeKind.DEPENDENCY, "D", child)
    assert len(list(game.view.requests[0].tree.walk())) == 120
    root.children[:] = root.children[:1]


def test_the_tree_of_a_request_that_is_over_shows_what_is_near_the_root(stage):
    game = stage(Chop).ask(Have("log"))
    root = game.agent.gameplay.running[0].root
    for number in range(30):
        child = TaskNode(NodeKind.STRATEGY, f"S{number}", root)
        for _ in range(5):
            TaskNode(NodeKind.DEPENDENCY, "D", child)
    game.sim.tick(30)
    (tree,) = game.view.finished
    assert (len(tree.children), len(list(tree.walk()))) == (31, 40)
    assert tree.children[1].left_out == 0
    assert tree.children[-1].left_out == 5
    assert game.view.finished[0] is tree


@pytest.mark.states(
    "003: Views: A node is called the same in every tick, while others come, go and are forgotten",
    source="design 7, stable ids",
)
def test_places_stay_when_what_is_old_is_forgotten(stage):
    root = TaskNode(NodeKind.DEPENDENCY, "root")
    root.begin(1)
    game = stage(Chop).ask(Have("log"))
    solving = game.agent.gameplay.running[0]
    kept, solving.root = solving.root, root
    for number in range(60):
        child = TaskNode(NodeKind.STRATEGY, f"S{number}", root)
        child.begin(1)
        child.end(Outcome.FAILED, 2, "x" * 1000)
    tree = game.view.requests[0].tree
    assert (tree.left_out, tree.children[0].label, tree.children[0].place) == (12, "S12", "0.12")
    assert len(tree.children[0].reason) == 300
    solving.root = kept


def test_the_view_of_what_has_ended_is_made_once_and_again_when_it_changes(stage):
    game = stage(Chop, Carve, beg).ask(Have("spoon"), ticks=3)
    first, second = game.view.requests[0].tree, game.view.requests[0].tree
    assert first == second
    assert first.children[0] is second.children[0]  # Beg, which failed
    assert first.children[1] is not second.children[1]
    failed = game.agent.gameplay.running[0].root.children[0]
    failed.end(Outcome.CANCELLED, 3, "after all")
    assert game.view.requests[0].tree.children[0].reason == "after all"
    TaskNode(NodeKind.ACTIVITY, "late", failed)
    assert [one.label for one in game.view.requests[0].tree.children[0].children] == ["late"]


# --- hostile ----------------------------------------------------------------------------------------------------------


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@cache
def small():
    """The view of a small tree."""
    return deep(2, 2)[1]


@pytest.mark.states(
    "003: Views: A view that anybody may have written is a view or a fault with its place",
    source="design 10",
)
@pytest.mark.slow
@given(st.data())
@settings(max_examples=200)
def test_whatever_is_read_is_a_view_or_a_fault(data):
    written = small().as_json()
    keys = data.draw(st.lists(st.sampled_from(sorted(written)), max_size=3))
    changed = {**written, **{key: data.draw(JSON) for key in keys}}
    for key in data.draw(st.lists(st.sampled_from(sorted(written)), max_size=1)):
        changed.pop(key, None)
    try:
        assert isinstance(TaskNodeView.read(JsonObject(changed)), TaskNodeView)
    except DataFault:
        pass


def nested(stage, levels):
    written = stage(Chop).ask(Have("log")).agent.snapshot().as_json()
    node = None
    for level in range(levels):
        kind = "dependency" if level % 2 else "strategy"
        node = {"kind": kind, "label": "x", "outcome": "running", "place": "1", "children": [node] if node else []}
    written["strategies"]["requests"][0]["tree"] = node
    return written


def test_what_is_nested_as_deep_as_can_be_is_told_and_what_is_deeper_is_a_fault(stage):
    for levels in (100, 290):
        assert explain(AgentSnapshot.from_json(nested(stage, levels))).count("x") >= levels
    with pytest.raises(DataFault, match="nested too deep"):
        AgentSnapshot.from_json(nested(stage, 400))


@pytest.mark.states("003: Views: A view that anybody may have written is a view or a fault with its place ...")
@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"lookahead": "far"}, "/lookahead"),
        ({"requests": [{"wanted": "x", "attempts": 1, "stack": [], "tree": {}}]}, "/requests/0/tree"),
        ({"params": [["a", 1]]}, "/params/0/1"),
        ({"triggers": [["a", "yes"]]}, "/triggers/0/1"),
    ],
)
def test_a_fault_names_its_place(stage, change, text):
    written = stage(Chop).view.as_json()
    assert GameplayView.read(JsonObject(written)).as_json() == written
    with pytest.raises(DataFault) as caught:
        GameplayView.read(JsonObject({**written, **change}))
    assert text in str(caught.value)


# --- one line ---------------------------------------------------------------------------------------------------------


def test_the_summary_says_what_runs_innermost(stage):
    game = stage(Chop, Carve).ask(Have("spoon"))
    summary = summarize(game.agent)
    assert summary == again(game.agent.snapshot()).summary()
    assert (summary.doing, summary.models) == ("Chop Tree", ("strategies",))
    game.sim.tick(60)
    assert summarize(game.agent) == again(game.agent.snapshot()).summary()
    assert summarize(game.agent).doing == ""


@pytest.mark.states(
    "003: Views: A strategy says what it does for players, in a plan and beside it",
    source="seed 001, `status_text_key`; design 6",
)
def test_a_status_text_of_a_strategy_and_of_its_plan(stage):
    Silent = stub_strategy(cost=lambda ask, wanted: 1.0 if wanted.item == "log" else None, takes=5, label="Silent")
    Loud = stub_strategy(
        cost=lambda ask, wanted: 1.0 if wanted.item == "noise" else None,
        needs=[Have("log")],
        takes=5,
        label="Loud",
        status_text_key="status.loud",
    )
    game = stage(Loud, Silent).ask(Have("noise"))
    assert game.agent.status_text == "status.loud"  # what it needs is silent
    game.sim.tick(30)
    assert game.agent.status_text == ""


def test_a_plan_that_says_something_comes_before_what_is_solved_beside_it(stage):
    class Idle(Action):
        does = TOP
        utility = 0.1
        status_text_key = "status.idle"

        async def run(self, ctx, args):
            await ctx.sleep_ticks(50)

    Loud = stub_strategy(takes=5, label="Loud", status_text_key="status.loud")
    game = stage(Loud, actions=[Idle]).ask(Have("noise"))
    assert game.agent.status_text == "status.idle"


@pytest.mark.states("003: Views: The task tree can be seen at every moment, with the outcome of every node, in ...")
@pytest.mark.states("003: Views: A strategy says what it does for players, in a plan and beside it ...")
def test_in_a_plan(stage):
    class Live(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (step("stub:have", item="log", count=1),)

    Loud = stub_strategy(takes=5, label="Loud", status_text_key="status.loud")
    game = stage(Loud, actions=[Live])
    game.sim.tick(2)
    snapshot = again(game.agent.snapshot())
    assert snapshot.running.endswith("/stub:have/Loud")
    assert (snapshot.status_text, snapshot.summary().doing) == ("status.loud", "loud")
    assert [request.wanted for request in snapshot.strategies.requests] == ["Have [log, 1]"]


# --- always -----------------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Views: Looking at what is solved changes nothing", source="design 7")
@pytest.mark.slow
@given(gameplays())
@settings(max_examples=40)
def test_looking_changes_nothing_and_shows_a_tree_that_was_ended(case):
    digests = []
    for looks in (False, True):
        game = Stage(*case.strategies(), body=case.body())
        game.ask(case.wanted)
        for _ in range(60):
            game.sim.tick()
            if looks:
                again(game.agent.snapshot())
                game.agent.explain()
        for tree in game.view.finished:
            assert not any(node.is_open for node in tree.walk())
        game.sim.close()
        digests.append(game.sim.digest())
    assert digests[0] == digests[1]
