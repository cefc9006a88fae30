"""Figure 1 of the text, and its four walks as literal logs.

Whoever is named in ``agent.wants`` accepts, whose behavior is named in ``agent.tired`` returns false from its Tick; a
``?`` in the log is a Decide that was called, and ``!`` is one that accepted.
"""

from __future__ import annotations

import pytest
from modules import load

from agentrt.behavior import PRIORITIZED_LIST, SCORED, Behavior, BehaviorTree, behavior, decider, group, reference


class Creature:
    def __init__(self):
        self.wants = set()
        self.tired = set()
        self.then = set()  # who wants to as soon as somebody was tired
        self.log = []


def wants(name):
    def decide(memory):
        creature = memory.agent
        creature.log.append(f"{name}{'!' if name in creature.wants else '?'}")
        return float(name in creature.wants)

    return decide


class Acts(Behavior):
    """One behavior for all leaves: it says in the log what it is told to do, and where."""

    def activate(self, at):
        at.agent.log.append(f"activate {at.name}")

    def tick(self, at):
        at.agent.log.append(f"tick {at.name}")
        if at.name not in at.agent.tired:
            return True
        at.agent.wants |= at.agent.then
        return False

    def deactivate(self, at):
        at.agent.log.append(f"deactivate {at.name}")


class Watches(Behavior):
    """A group's own: without Tick, so that the walks stay as they are told."""

    activate = Acts.activate
    deactivate = Acts.deactivate


def act(name):
    return decider(name, Acts, decide=wants(name))


FIGHT = act("FIGHT")
REST = decider("REST", Acts)  # always accepts

FIGURE_1 = BehaviorTree(
    group("ROOT")[
        act("FLEE"),
        group("GUARD", behavior=Watches, decide=wants("GUARD"))[
            act("YELL_FOR_HELP"),
            FIGHT,
            act("PATROL"),
            REST,
        ],
        FIGHT,
        group("EAT", behavior=Watches, decide=wants("EAT"))[
            act("FIND_FOOD"),
            act("EAT_FOOD"),
        ],
        group("IDLE")[
            group("PLAY", decide=wants("PLAY"))[
                act("FLIP"),
                act("ROLL"),
                act("DANCE"),
            ],
            REST,
        ],
    ]
)


class Walk:
    """One creature in the tree."""

    def __init__(self):
        self.creature = Creature()
        self.memory = FIGURE_1.memory(self.creature)

    def tick(self, *wants, tired=(), then=()):
        """Returns: the log of the tick."""
        self.creature.log = []
        self.creature.wants = set(wants)
        self.creature.tired = set(tired)
        self.creature.then = set(then)
        assert self.memory.tick(0.1) is True
        return self.creature.log

    @property
    def path(self):
        return "->".join(self.memory.active_path)


@pytest.fixture
def walk():
    """The starred deciders of the figure are active."""
    walk = Walk()
    walk.tick("EAT", "EAT_FOOD")
    assert walk.path == "ROOT->EAT->EAT_FOOD"
    return walk


def drawing(decider):
    """A decider as the figure has it: a name, or a name with its box."""
    children = getattr(decider, "children", ())
    return (decider.name, [drawing(child) for child in children]) if children else decider.name


@pytest.mark.states("002: S01: A tree is made of arrays of deciders, which end in behaviors")
@pytest.mark.states(
    "002: S01: A group decider refers to other deciders, its children; a behavior decider refers to a behavior",
)
@pytest.mark.states("002: S01: A decider can be a child of several groups: the tree is a DAG")
@pytest.mark.states("002: S01: Figure 1")
@pytest.mark.states("002: S02, 1: The tree is declared statically, in a single block that shows its structure")
def test_it_is_declared_as_it_is_drawn():
    assert drawing(FIGURE_1.root) == (
        "ROOT",
        [
            "FLEE",
            ("GUARD", ["YELL_FOR_HELP", "FIGHT", "PATROL", "REST"]),
            "FIGHT",
            ("EAT", ["FIND_FOOD", "EAT_FOOD"]),
            ("IDLE", [("PLAY", ["FLIP", "ROLL", "DANCE"]), "REST"]),
        ],
    )
    root, guard, idle = FIGURE_1.root, FIGURE_1.root.children[1], FIGURE_1.root.children[4]
    assert root.children[2] is guard.children[1]
    assert idle.children[1] is guard.children[3]
    assert {root.policy, guard.policy, idle.policy} == {PRIORITIZED_LIST}


@pytest.mark.states("002: S01, S05: (decided) Who was activated is ticked in the same tick")
def test_the_first_tick_finds_the_starred_path():
    walk = Walk()
    assert walk.tick("EAT", "EAT_FOOD") == [
        "FLEE?",
        "GUARD?",
        "FIGHT?",
        "EAT!",
        "activate EAT",
        "FIND_FOOD?",
        "EAT_FOOD!",
        "activate EAT_FOOD",
        "tick EAT_FOOD",
    ]


@pytest.mark.states("002: S01: A tick begins at the root, and finds a new path or goes on along the active one")
@pytest.mark.states(
    "002: S01: Prioritized list: the children before the active one are asked in order, until one accepts or the "
    "active one is reached, which is entered",
)
@pytest.mark.states("002: S01: Hysteresis: the Decide of an active decider is not called")
@pytest.mark.states("002: S01: The first walk: FLEE, GUARD and FIGHT are asked, none accepts, EAT is entered unasked")
@pytest.mark.states(
    "002: S02, 2: The whole active path is ticked each time, and everybody of higher priority gets a chance to "
    "interrupt",
)
def test_walk_one_down_the_active_path(walk):
    """FLEE, GUARD and FIGHT are asked, because they stand before EAT. EAT is not: it is active."""
    assert walk.tick("EAT_FOOD") == ["FLEE?", "GUARD?", "FIGHT?", "FIND_FOOD?", "tick EAT_FOOD"]
    assert walk.path == "ROOT->EAT->EAT_FOOD"


@pytest.mark.states(
    "002: S01: The active behavior is ticked in every tick, unless somebody of higher priority interrupts it",
)
@pytest.mark.states("002: S01: The second: FIND_FOOD is asked and does not want to, EAT_FOOD's behavior is ticked")
def test_walk_two_nobody_else_wants_to(walk):
    """Hysteresis: EAT and EAT_FOOD would not begin now, and go on all the same. So does the next tick, and the next."""
    for _ in range(3):
        assert walk.tick() == ["FLEE?", "GUARD?", "FIGHT?", "FIND_FOOD?", "tick EAT_FOOD"]
        assert walk.path == "ROOT->EAT->EAT_FOOD"


def test_walk_two_find_food_takes_over(walk):
    assert walk.tick("FIND_FOOD") == [
        "FLEE?",
        "GUARD?",
        "FIGHT?",
        "FIND_FOOD!",
        "deactivate EAT_FOOD",
        "activate FIND_FOOD",
        "tick FIND_FOOD",
    ]
    assert walk.path == "ROOT->EAT->FIND_FOOD"
    assert walk.tick() == ["FLEE?", "GUARD?", "FIGHT?", "tick FIND_FOOD"]


@pytest.mark.states(
    "002: S01: Decide looks at the world and says whether the decider is to activate; in a group the children decide "
    "next",
)
@pytest.mark.states("002: S01: A behavior decider activates its behavior when it activates")
@pytest.mark.states(
    "002: S01: The third: GUARD accepts, the old path is deactivated, GUARD is activated, its children decide, one is "
    "activated",
)
@pytest.mark.states("002: S01: After that only FLEE is asked in ROOT")
@pytest.mark.states(
    "002: S01: (decided) Inner deciders are deactivated before outer ones; nothing is deactivated before somebody "
    "accepts",
)
def test_walk_three_guard_accepts(walk):
    """The path below ROOT is left, EAT_FOOD first; then GUARD is activated, and then its children are asked."""
    assert walk.tick("GUARD", "PATROL") == [
        "FLEE?",
        "GUARD!",
        "deactivate EAT_FOOD",
        "deactivate EAT",
        "activate GUARD",
        "YELL_FOR_HELP?",
        "FIGHT?",
        "PATROL!",
        "activate PATROL",
        "tick PATROL",
    ]
    assert walk.path == "ROOT->GUARD->PATROL"
    # Of ROOT's children only FLEE is asked now: nobody else has a higher priority than GUARD.
    assert walk.tick() == ["FLEE?", "YELL_FOR_HELP?", "FIGHT?", "tick PATROL"]
    assert walk.path == "ROOT->GUARD->PATROL"


@pytest.mark.states(
    "002: S01: The fourth: Tick returns false; the other children are asked, the failed one is masked; if one accepts "
    "the old path is deactivated and the new child activated",
)
def test_walk_four_a_sibling_takes_over(walk):
    """EAT_FOOD's Tick returns false: FIND_FOOD is given a chance, EAT_FOOD is not asked, and then its path is left."""
    assert walk.tick("EAT", tired=["EAT_FOOD"], then=["FIND_FOOD", "EAT_FOOD"]) == [
        "FLEE?",
        "GUARD?",
        "FIGHT?",
        "FIND_FOOD?",
        "tick EAT_FOOD",
        "FIND_FOOD!",
        "deactivate EAT_FOOD",
        "activate FIND_FOOD",
        "tick FIND_FOOD",
    ]
    assert walk.path == "ROOT->EAT->FIND_FOOD"


@pytest.mark.states(
    "002: S01: If none accepts the group fails in its turn, and the group above asks its others: EAT is masked for "
    "this tick, and IDLE gets a chance",
)
@pytest.mark.states("002: S01: (decided) Inner deciders are deactivated before outer ones; nothing is deactivated ...")
@pytest.mark.states(
    "002: S04, 1: A decider without Decide accepts always, as the last of a list, or together with other conditions",
)
def test_walk_four_it_pops_up_to_the_root(walk):
    """Nobody else in EAT accepts; ROOT asks the others once more, without EAT, which would want to, and IDLE gets it.

    The old path is left only then.
    """
    assert walk.tick("EAT", "EAT_FOOD", tired=["EAT_FOOD"]) == [
        "FLEE?",
        "GUARD?",
        "FIGHT?",
        "FIND_FOOD?",
        "tick EAT_FOOD",
        "FIND_FOOD?",
        "FLEE?",
        "GUARD?",
        "FIGHT?",
        "deactivate EAT_FOOD",
        "deactivate EAT",
        "PLAY?",
        "activate REST",
        "tick REST",
    ]
    assert walk.path == "ROOT->IDLE->REST"
    # The mask was for that tick: now EAT is asked again, and takes over.
    assert walk.tick("EAT", "EAT_FOOD") == [
        "FLEE?",
        "GUARD?",
        "FIGHT?",
        "EAT!",
        "deactivate REST",
        "activate EAT",
        "FIND_FOOD?",
        "EAT_FOOD!",
        "activate EAT_FOOD",
        "tick EAT_FOOD",
    ]


@pytest.mark.states("002: S01: A decider can be a child of several groups: the tree is a DAG ...")
def test_a_shared_decider_is_active_in_one_place_at_a_time(walk):
    """FIGHT gives up in GUARD, nobody else there wants to but REST, which is taken; with REST gone ROOT's FIGHT is."""
    walk.tick("GUARD", "FIGHT")
    assert walk.path == "ROOT->GUARD->FIGHT"
    assert walk.tick("FLEE")[-2:] == ["activate FLEE", "tick FLEE"]
    assert walk.tick("FIGHT", tired=["FLEE"])[-3:] == ["deactivate FLEE", "activate FIGHT", "tick FIGHT"]
    assert walk.path == "ROOT->FIGHT"
    assert walk.tick("GUARD", "FIGHT") == [
        "FLEE?",
        "GUARD!",
        "deactivate FIGHT",
        "activate GUARD",
        "YELL_FOR_HELP?",
        "FIGHT!",
        "activate FIGHT",
        "tick FIGHT",
    ]
    assert walk.path == "ROOT->GUARD->FIGHT"


# --- the picture in the documentation ---------------------------------------------------------------------------------


def test_the_page_shows_the_tree_of_the_example(root):
    tool = load("tools/behavior_diagram.py")
    page = (root / "docs" / "tutorials" / "behavior.md").read_text(encoding="utf-8")
    assert tool.updated(page) == page, "run: python tools/behavior_diagram.py"


def test_how_a_tree_is_drawn():
    tree = BehaviorTree(
        group("ROOT", SCORED, behavior=Watches)[
            reference("JUMP", "REST"), decider("REST", behavior("NAP")), group("G")["REST"]
        ]
    )
    assert load("tools/behavior_diagram.py").diagram(tree).splitlines() == [
        "```mermaid",
        "flowchart LR",
        '    ROOT[["ROOT<br/>Scored<br/>WATCHES"]]',
        '    JUMP>"JUMP"]',
        '    REST("REST<br/>NAP")',
        '    G[["G<br/>PrioritizedList"]]',
        "    ROOT -->|0| JUMP",
        "    ROOT -->|1| REST",
        "    ROOT -->|2| G",
        "    JUMP -.-> REST",
        "    G -->|0| REST",
        "```",
    ]


def test_a_page_without_a_place_for_the_picture_is_refused():
    with pytest.raises(ValueError, match="0 places"):
        load("tools/behavior_diagram.py").updated("# Nothing here\n")
