"""Why goals, deciders and leaves are not active, in words; found out without calling anything of an author's."""

from __future__ import annotations

from enum import IntFlag, auto

import pytest
from cast import Stranger
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import load

from agentrt import LOOK, MOVE, Agent, Entity
from agentrt.behavior import BehaviorTree, Check, decider, group, reference
from agentrt.behavior.tree import MOST_LEVELS, MOST_NODES
from agentrt.body.driver import LoneBody
from agentrt.goals import Goal, GoalSelector
from agentrt.selection import LeafBehavior, SelectionLibrary
from agentrt.snapshot import AgentSnapshot, explain, outlines, summarize
from agentrt.testing import Simulation

courses = load("tests/runtime/mixed_courses.py")


@pytest.fixture
def sim():
    made = Simulation()
    yield made
    made.close()


def add(sim, *drivers, **options):
    agent = sim.add(Agent(Entity("human"), name="ada", drivers=list(drivers), **options))
    sim.tick()
    return agent


def told(agent):
    """What the explanation says of the models, out of a snapshot that was written and read again."""
    text = explain(AgentSnapshot.from_json(agent.snapshot().as_json()))
    assert text == explain(agent.snapshot())
    return [line.strip() for line in text.splitlines()[1:]]


# --- goals ------------------------------------------------------------------------------------------------------------


class Wish(Goal):
    def __init__(self, name, *flags, wants=True):
        self.name = name
        self.set_flags(flags)
        self.wants = wants
        self.asked = 0

    def can_use(self):
        self.asked += 1
        if self.wants is None:
            raise ValueError("no idea")
        return self.wants


class Fixed(Wish):
    is_interruptible = False


@pytest.mark.states("000: Ours: Of each goal that does not run it can be seen why, without asking it", source="(ours)")
def test_why_each_goal_does_not_run(sim):
    selector = GoalSelector()
    selector.disable_control_flag("JUMP")
    wishes = [
        (3, Wish("flee", MOVE)),
        (3, Wish("walk", MOVE)),
        (5, Fixed("stare", LOOK)),
        (1, Wish("peep", LOOK)),
        (2, Wish("sing", wants=False)),
        (4, Wish("hop", "JUMP")),
        (6, Wish("mutter", wants=None)),
    ]
    for priority, goal in wishes:
        selector.add_goal(priority, goal)
    agent = add(sim, selector)
    sim.tick(2)
    asked = [goal.asked for _, goal in wishes]
    assert told(agent)[1:] == [
        "flee: running, priority 3, MOVE, since tick 1",
        "stare: running, priority 5, LOOK, since tick 1",
        "mutter: disabled, priority 6, no flags",
        "disabled: JUMP",
        "walk does not run: MOVE is locked by flee, priority 3 against 3",
        "peep does not run: LOOK is locked by stare, which cannot be interrupted",
        "sing does not run: its can_use does not say yes",
        "hop does not run: the control flag JUMP is disabled",
        "mutter does not run: one of its callbacks raised",
        "MOVE is held by goals/flee since tick 1",
        "LOOK is held by goals/stare since tick 1",
    ]
    assert [goal.asked for _, goal in wishes] == asked
    (driver,) = agent.snapshot().drivers
    assert (driver.model, driver.active, driver.outline) == ("goals", ("goals/flee", "goals/stare"), "")
    assert summarize(agent).doing == "flee + stare"


@pytest.mark.states("000: Ours: Of each goal that does not run it can be seen why, without asking it ...")
def test_a_goal_that_others_keep_from_its_flags(sim):
    selector = GoalSelector()
    selector.add_goal(1, Wish("flee", MOVE))
    legs = GoalSelector(name="legs", rank=1)
    legs.add_goal(1, Wish("run", MOVE))
    agent = add(sim, legs, selector)
    assert "flee does not run: MOVE is held by legs/run, which came first, in tick 1, with precedence 0 against 0" in (
        told(agent)
    )
    assert [one.model for one in agent.snapshot().drivers] == ["targets", "goals"]
    assert summarize(agent).models == ("targets", "goals")
    assert summarize(agent).doing == ""  # who chooses targets does nothing that is seen


def test_a_selector_that_drives_nobody_is_given_no_body_by_being_looked_at():
    selector = GoalSelector()
    selector.add_goal(1, Wish("flee", MOVE))
    assert selector.view().reasons() == ["flee does not run: its can_use does not say yes"]
    assert selector._life.given is None


# --- behavior trees ---------------------------------------------------------------------------------------------------


class Sense(IntFlag):
    NOISE = auto()
    SMELL = auto()
    NIGHT = auto()


def never(memory):
    return 0.0


def raises(memory):
    raise ValueError("no idea")


def goes_on(at):
    return True


@pytest.mark.states("002: S11, 1: The active path is in every snapshot, as the state print and as data")
@pytest.mark.states(
    "002: S04, S06: Of each decider that is not active, though its group is, it can be seen which check failed, "
    "without calling a Decide",
)
def test_why_each_decider_is_not_active(sim):
    tree = BehaviorTree(
        group("ROOT")[
            decider("OFTEN", goes_on, decide=never, every=1.0),
            decider("DARK", goes_on, decision=Check(all_set=Sense.NIGHT, all_clear=Sense.NOISE)),
            decider("SNIFF", goes_on, stimuli=Check(any_set=Sense.SMELL)),
            decider("QUIET", goes_on, stimuli=Check(any_clear=Sense.NOISE, all_clear=Sense.SMELL)),
            decider("BROKEN", goes_on, decide=raises),
            decider("WALK", goes_on, flags={MOVE}),
            decider("NO", goes_on, decide=never),
            group("NEST", decide=never, delegate_decide_to_children=True)[decider("LAY", goes_on, decide=never)],
            reference("BACK_HOME", "HOME"),
            group("HOME", "kGroupSequential")[
                decider("SIT", goes_on), decider("STAND", goes_on), decider("LIE", goes_on)
            ],
            decider("IDLE", goes_on),
            decider("SLEEP", goes_on),
        ]
    )
    memory = tree.memory(decision_flags=Sense.NOISE)
    memory.stimuli.add(Sense.NOISE)
    agent = sim.add(Agent(Entity("human"), name="ada", drivers=[memory]))
    agent.flags.claim((MOVE,), Stranger(), 0)
    sim.tick(3)
    lines = told(agent)
    assert lines[1:4] == ["ROOT", "HOME", "SIT [GOES_ON]"]
    assert [line for line in lines if line.startswith("not ")] == [
        "not OFTEN: it is asked every 1 s at most, and again at 1.05 s",
        "not DARK: its decision flags do not fit: NIGHT has to be there, NOISE must not be there",
        "not SNIFF: its stimuli do not fit: one of SMELL has to be there",
        "not QUIET: its stimuli do not fit: one of NOISE must not be there",
        "not BROKEN: one of its functions raised",
        "not WALK: MOVE is held by a stranger",
        "not NO: its Decide does not accept",
        "not NEST: none of its children accepts",
        "not BACK_HOME: HOME, to which it leads, is active",
        "not IDLE, SLEEP: they come after HOME",
        "not STAND, LIE: nobody is asked while SIT is active",
    ]
    (driver,) = agent.snapshot().drivers
    assert driver.active == ("tree/ROOT", "tree/ROOT/HOME", "tree/ROOT/HOME/SIT")
    assert [one.verdict for one in driver.state.asked] == [
        *("time", "decision_flags", "stimuli_flags", "stimuli_flags", "disabled", "control_flags", "refused"),
        *("refused", "target", "after", "after", "not_asked", "not_asked"),
    ]
    assert driver.state.print == memory.debug_print_state()
    assert driver.state.print.startswith("*0:ROOT/0x")
    assert (summarize(agent).doing, summarize(agent).models) == ("SIT", ("behavior",))


def test_why_a_root_is_not_active():
    memory = BehaviorTree(group("ROOT", decide=never)[decider("A", goes_on),]).memory(body=LoneBody())
    memory.tick(0.1)
    assert memory.view().reasons() == ["not ROOT: its Decide does not accept"]
    memory = BehaviorTree(group("ROOT")[decider("A", goes_on, decide=never),]).memory(body=LoneBody())
    memory.tick(0.1)
    assert memory.view().reasons() == ["not A: its Decide does not accept"]
    assert memory.view().doing() == ""


def test_one_that_waits_for_flags_that_others_give_up(sim):
    class Slow(Stranger):
        precedence = -1

        def give_way(self, flag, claimant):
            pass

    memory = BehaviorTree(group("ROOT")[decider("WALK", goes_on, flags={MOVE}), decider("IDLE", goes_on)]).memory()
    agent = sim.add(Agent(Entity("human"), name="ada", drivers=[memory]))
    agent.flags.claim((MOVE,), Slow(), 0)
    sim.tick(2)
    assert "not WALK: MOVE is held by a stranger and it waits" in told(agent)


def test_a_check_in_words():
    check = Check(all_set=Sense.NOISE | Sense.SMELL, all_clear=8, any_set=Sense.NIGHT, any_clear=16)
    assert check.text() == "all of NOISE SMELL, none of 0x8, one of NIGHT or not all of 0x10"
    assert (check & Check(any_set=32)).text() == f"{check.text()}, one of 0x20"
    assert Check().text() == ""


@pytest.mark.states("002: S04, S06: Of each decider that is not active, though its group is, it can be seen which ...")
@pytest.mark.slow
@given(st.integers(0, 10_000))
@settings(max_examples=4)
def test_every_child_of_an_active_group_is_active_or_says_why_not(seed):
    """Whatever happened; and looking calls nobody: a Decide that is asked tells it to a diary."""
    sim = Simulation(seed=1)
    courses.Course(sim.runtime, courses.random_events(seed, 25), ticks=25)
    for _ in range(25):
        sim.tick()
        for agent in sim.runtime.agents:
            before = len(agent.entity.diary) if hasattr(agent.entity, "diary") else 0
            trees = outlines(agent)
            for driver in agent.snapshot().drivers:
                if driver.model == "behavior" and driver.active:
                    nodes = {node.path: node for node in walked(trees[driver.name])}
                    children = {one.path for path in driver.active for one in nodes[path].children}
                    asked = [one.path for one in driver.state.asked]
                    assert len(set(asked)) == len(asked)
                    assert children == {*asked, *driver.active[1:]}
                    assert not set(asked) & set(driver.active)
            assert before == (len(agent.entity.diary) if hasattr(agent.entity, "diary") else 0)
    sim.close()


def walked(outline):
    yield outline
    for child in outline.children:
        yield from walked(child)


@pytest.mark.states("002: S11, 1: The entire tree can be shown as data, too: an outline, with the paths of the trace")
def test_an_outline_of_a_tree():
    tree = BehaviorTree(
        group("ROOT")[
            decider("DARK", goes_on, every=2.0, decision=Check(all_set=Sense.NIGHT), stimuli=Check(any_set=4)),
            reference("JUMP", "WALK"),
            group("NEST", "kGroupScored", flags={MOVE}, delegate_decide_to_children=True)[decider("WALK", goes_on),],
        ],
        name="life",
    )
    assert [(one.path, one.kind, one.note) for one in walked(tree.outline())] == [
        ("tree/ROOT", "kGroup", "kGroupPrioritizedList"),
        (
            "tree/ROOT/DARK",
            "kBehavior",
            "behavior GOES_ON; every 2 s; decision flags: all of NIGHT; stimuli: one of 0x4",
        ),
        ("tree/ROOT/JUMP", "kReference", "leads to WALK"),
        ("tree/ROOT/NEST", "kGroup", "kGroupScored; with MOVE; its children decide"),
        ("tree/ROOT/NEST/WALK", "kBehavior", "behavior GOES_ON"),
    ]


def test_an_outline_is_bounded():
    made = BehaviorTree(wide(6)).outline()
    count = sum(1 for _ in walked(made))
    assert count <= MOST_NODES
    assert any(one.note.endswith("what lies below is left out") for one in walked(made))
    deep = decider("LEAF", goes_on)
    for number in range(MOST_LEVELS + 40):
        deep = group(f"D{number}")[deep,]
    assert sum(1 for _ in walked(BehaviorTree(deep).outline())) == MOST_LEVELS + 1


def wide(levels):
    """A tree in which each of six groups is below each of the six groups above it."""
    below = tuple(decider(f"L{number}", goes_on) for number in range(6))
    for level in range(levels):
        below = tuple(group(f"G{level}_{number}")[below] for number in range(6))
    return group("ROOT")[below]


# --- selection trees --------------------------------------------------------------------------------------------------

GRUNT = """<SelectionTree name="Grunt">
<Variables><Variable name="Alert"/><Variable name="Hurt"/><Variable name="Armed" default="true"/></Variables>
<Priority name="Root">
  <Priority name="Fight" condition="Alert and !Hurt">
    <Leaf name="Shoot" condition="Armed"/>
  </Priority>
  <Leaf name="Hide" condition="Alert xor (Armed == HURT)"/>
  <Leaf name="Idle"/>
  <Leaf name="After" condition="Hurt and !Hurt"/>
</Priority>
</SelectionTree>"""


def grunt():
    return SelectionLibrary.from_texts({"Grunt.xml": GRUNT})["Grunt"]


@pytest.mark.states(
    '004: debug information: "No Behavior" and which conditions did not hold, with the values of their variables, are '
    "in the debug information",
)
def test_why_each_leaf_before_the_current_one_is_passed_over(sim):
    class Idle(LeafBehavior):
        pass

    state = grunt().state({"Idle": Idle})
    agent = add(sim, state)
    assert told(agent) == [
        "selection:",
        "Grunt: Root/Idle selects Idle",
        "true: Armed",
        "not selection/Root/Fight: Alert and !Hurt does not hold: Alert is false, Hurt is false",
        "not selection/Root/Hide: Alert xor (Armed == HURT) does not hold: Alert is false, Armed is true, HURT is false",
    ]
    (driver,) = agent.snapshot().drivers
    assert (driver.model, driver.outline) == ("selection", "Grunt@0")
    assert driver.active == ("selection/Root", "selection/Root/Idle")
    assert (summarize(agent).doing, summarize(agent).models) == ("Idle", ("selection",))


@pytest.mark.states('004: debug information: "No Behavior" and which conditions did not hold, with the values of ...')
@given(st.booleans(), st.booleans(), st.booleans())
def test_what_is_passed_over_is_what_does_not_hold(alert, hurt, armed):
    tree = grunt()
    state = tree.state(body=LoneBody())
    for name, value in (("Alert", alert), ("Hurt", hurt), ("Armed", armed)):
        state.set_variable(name, value)
    state.drive()
    expected = []
    if not alert or hurt:
        expected.append("selection/Root/Fight")
    elif not armed:
        expected.append("selection/Root/Fight/Shoot")
    if state.behavior == "Idle":
        expected.append("selection/Root/Hide")
    assert state.behavior == (
        "Shoot" if alert and not hurt and armed else "Hide" if alert != (armed == hurt) else "Idle"
    )
    assert [one.path for one in state.view().failed] == expected


def test_the_outline_of_a_selection_tree_follows_its_versions():
    library = SelectionLibrary.from_texts({"Grunt.xml": GRUNT})
    tree = library["Grunt"]
    state = tree.state(name="mind")
    outline = state.outline()
    assert state.outline() is outline
    assert [(one.path, one.kind, one.note) for one in walked(outline)] == [
        ("mind/Root", "priority", ""),
        ("mind/Root/Fight", "priority", "if Alert and !Hurt"),
        ("mind/Root/Fight/Shoot", "leaf", "if Armed, selects Shoot"),
        ("mind/Root/Hide", "leaf", "if Alert xor (Armed == HURT), selects Hide"),
        ("mind/Root/Idle", "leaf", "selects Idle"),
        ("mind/Root/After", "leaf", "if Hurt and !Hurt, selects After"),
    ]
    other = SelectionLibrary.from_texts({"Grunt.xml": GRUNT.replace("Idle", "Rest")})["Grunt"]
    assert tree.replace(other.program, "Grunt.xml")
    assert [one.name for one in walked(state.outline())][-2] == "Rest"
    assert state.view().outline_id == "Grunt@1"
    for number in range(100):
        tree.outline(f"mind {number}")
    assert state.outline().path == "mind/Root"
