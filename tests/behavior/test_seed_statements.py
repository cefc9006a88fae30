"""Statements of the text that have no place in the figure, the samples of the log, or the properties; by section."""

from __future__ import annotations

import pytest
from modules import load

from agentrt.behavior import (
    SCORED,
    Behavior,
    BehaviorTree,
    Check,
    Stimuli,
    behavior,
    decider,
    group,
    reference,
)
from agentrt.errors import DefinitionError, WrongStateError

parts = load("tests/behavior/parts.py")
goes_on, gives_up, ticked, asked = parts.goes_on, parts.gives_up, parts.ticked, parts.asked


# --- S01 Overview -----------------------------------------------------------------------------------------------------


@pytest.mark.states("002: S01: A tree is declared once and ticked for agents of any type, even for None")
@pytest.mark.parametrize("agent", [None, 7, "a string", object(), {"hp": 3}], ids=lambda agent: type(agent).__name__)
def test_an_agent_can_be_anything_even_nothing(agent):
    seen = []
    tree = BehaviorTree(
        group("ROOT")[decider("D", lambda at: seen.append(at.agent), decide=lambda memory: memory.agent is agent)]
    )
    assert tree.memory(agent).tick(0.1) is True
    assert seen == [agent]


def test_a_decider_alone_is_a_tree():
    log = []
    memory = BehaviorTree(decider("ROOT", ticked(log))).memory()
    assert memory.tick(0.1) is True
    assert (log, memory.active_path, memory.behavior) == (["ROOT"], ("ROOT",), "TICK")


@pytest.mark.states("002: S01: A behavior has Activate, Deactivate and Tick")
def test_the_life_of_a_behavior():
    log = []

    class Walk(Behavior):
        def activate(self, at):
            log.append("activate")

        def tick(self, at):
            log.append("tick")
            return at.time < 3

        def deactivate(self, at):
            log.append("deactivate")

    early = decider("WALK", Walk, decide=lambda memory: memory.time < 3)
    memory = BehaviorTree(group("ROOT")[early, decider("REST", ticked(log))]).memory()
    for _ in range(4):
        memory.tick(1.0)
    assert log == ["activate", "tick", "tick", "tick", "deactivate", "REST", "REST"]


@pytest.mark.states("002: S01: A behavior can be referred to by several deciders")
@pytest.mark.states(
    "002: S03: Deciders and behaviors are separate, so that a behavior is reused at several places and priorities",
)
def test_a_behavior_serves_several_deciders():
    log = []
    walk = behavior("WALK", tick=ticked(log, until=lambda at: at.time >= 1), activate=lambda at: log.append("begin"))
    tree = BehaviorTree(group("ROOT")[decider("HERE", walk), decider("THERE", walk)])
    memory = tree.memory()
    memory.tick(1.0)
    assert log == ["begin", "HERE", "begin", "THERE"]
    assert memory.active_path == ("ROOT",)


@pytest.mark.states(
    "002: S02, 3: The tree is data that needs no construction for each agent, and can be looked at with its names",
)
@pytest.mark.states("002: S07: The memory of an agent holds the current path")
@pytest.mark.states("002: S09: Each agent has a memory, stimuli and timers of its own")
def test_agents_share_the_tree_and_nothing_else():
    tree = BehaviorTree(
        group("ROOT")[
            decider("FIRST", goes_on, decide=lambda memory: memory.agent == "ann"),
            decider("SECOND", goes_on),
        ]
    )
    ann, ben = tree.memory("ann"), tree.memory("ben")
    ann.tick(0.1)
    ben.tick(0.1)
    assert (ann.active_path, ben.active_path) == (("ROOT", "FIRST"), ("ROOT", "SECOND"))
    assert ann.tree is ben.tree is tree


# --- S02 Design Principles, S12 Macros --------------------------------------------------------------------------------


@pytest.mark.states("002: S02, 1: A child may be named before it is declared (ours)")
def test_a_child_may_be_named_before_it_is_declared():
    tree = BehaviorTree(group("ROOT")[group("G")["LATER"], decider("LATER", goes_on)])
    assert tree.initialize_tree_data() is True
    assert list(tree.deciders) == ["ROOT", "G", "LATER"]


@pytest.mark.states("002: S02, 4: Nothing has to be written that does nothing: every function is optional")
@pytest.mark.states(
    "002: S12: Little is to be written by default, everything can be given, and functions can be shared",
)
@pytest.mark.parametrize("given", [{}, {"tick": goes_on}, {"activate": goes_on}, {"deactivate": goes_on}])
def test_nothing_has_to_be_written_that_does_nothing(given):
    """No behavior needs all functions, and one without Tick goes on until somebody interrupts it."""
    memory = BehaviorTree(group("ROOT")[decider("D", behavior("B", **given))]).memory()
    assert [memory.tick(1.0) for _ in range(3)] == [True] * 3
    assert memory.activation("D").duration == 2.0


@pytest.mark.states("002: S08: (decided) None is no objection; an activate that says False has no deactivate")
def test_a_hook_without_an_answer_goes_on():
    memory = BehaviorTree(
        group("ROOT")[decider("D", behavior("B", activate=lambda at: None, tick=lambda at: None))]
    ).memory()
    memory.tick(1.0)
    memory.tick(1.0)
    assert memory.activation("D").duration == 1.0


@pytest.mark.states("002: S02, 1: The code of behaviors may be anywhere")
@pytest.mark.states("002: S02, 5: There is more than one way to do a thing")
def test_there_is_more_than_one_way_to_write_a_behavior():
    class IdleWalk(Behavior):
        def tick(self, at):
            return True

    for given in (IdleWalk, IdleWalk(), IdleWalk().tick, behavior("IDLE_WALK", tick=goes_on)):
        memory = BehaviorTree(group("ROOT")[decider("D", given)]).memory()
        assert memory.tick(0.1) is True
    assert IdleWalk().name == "IDLE_WALK"


@pytest.mark.states("002: S05: Children may call the Decide of their parent")
@pytest.mark.states("002: S12: Little is to be written by default, everything can be given, and functions can be ...")
def test_functions_are_shared_between_deciders_and_groups_may_be_asked_by_their_children():
    """S05: "There is nothing stopping children from calling the parent's Decide directly"."""
    log = []
    near = asked(log, "near", lambda memory: memory.agent["near"])
    tree = BehaviorTree(
        group("ROOT")[
            group("GUARD", decide=near)[decider("GROWL", gives_up), decider("WATCH", goes_on, decide=near)],
            decider("REST", goes_on),
        ]
    )
    memory = tree.memory({"near": True})
    memory.tick(0.1)
    assert (log, memory.active_path) == (["near?", "near?"], ("ROOT", "GUARD", "WATCH"))


@pytest.mark.states("002: S02, 3: The tree is data that needs no construction for each agent, and can be looked at ...")
@pytest.mark.states("002: S11: Names of deciders and behaviors can be read, and kinds and policies have printed names")
def test_the_tree_can_be_looked_at():
    tree = BehaviorTree(
        group("ROOT", SCORED)[decider("D", behavior("B", tick=goes_on), id=7), reference("R", "E"), group("G")["E"]],
        name="creature",
    )
    with pytest.raises(DefinitionError, match="E"):
        tree.initialize_tree_data()
    leaf, jump, inner = tree.root.children
    assert (tree.name, tree.root.name, tree.root.policy.value, tree.root.kind) == (
        "creature",
        "ROOT",
        "kGroupScored",
        "kGroup",
    )
    assert (leaf.name, leaf.id, leaf.kind, leaf.behavior.name) == ("D", 7, "kBehavior", "B")
    assert (jump.target, jump.kind, inner.children) == ("E", "kReference", ("E",))


# --- S03 Differences from Halo ----------------------------------------------------------------------------------------


@pytest.mark.states("002: S03: Preconditions of an active decider are not checked")
def test_an_active_decider_is_not_checked_again():
    """Neither preconditions nor Decide: not by its flags, not by its timer."""
    log = []
    tree = BehaviorTree(
        group("ROOT")[
            decider(
                "HIT",
                ticked(log, until=lambda at: at.duration >= 2),
                decide=asked(log, "HIT", True),
                stimuli=Check(all_set=1),
                decision=Check(all_clear=1),
                every=100.0,
            ),
            decider("REST", ticked(log)),
        ]
    )
    memory = tree.memory()
    for stimuli, decision in ((1, 0), (0, 0), (0, 1), (1, 0)):
        memory.tick(1.0, decision_flags=decision, stimuli_flags=stimuli)
    assert log == ["HIT?", "HIT", "HIT", "HIT", "REST", "REST"]


# --- S04 How Deciders Decide ------------------------------------------------------------------------------------------


@pytest.mark.states("002: S01: (decided) The root is asked like a child while it is not active; when nobody below ...")
@pytest.mark.states("002: S04: Decide returns a number, and the policy says what it means")
@pytest.mark.parametrize(
    ("answer", "accepts"),
    [(1.0, True), (True, True), (0.001, True), (7, True), (0.0, False), (False, False), (-1.0, False)],
)
def test_what_counts_as_accepting(answer, accepts):
    memory = BehaviorTree(group("ROOT")[decider("D", goes_on, decide=lambda memory: answer)]).memory()
    assert memory.tick(0.1) is accepts


@pytest.mark.states("002: S04, 1: Without Decide it is as if 1.0 was returned")
@pytest.mark.parametrize(("others", "winner"), [((0.5, 0.9), "NONE"), ((1.5, 0.9), "A"), ((0.2, 1.1), "B")])
def test_a_decider_without_decide_answers_one(others, winner):
    a, b = others
    tree = BehaviorTree(
        group("ROOT", SCORED)[
            decider("A", goes_on, decide=lambda memory: a),
            decider("NONE", goes_on),
            decider("B", goes_on, decide=lambda memory: b),
        ]
    )
    memory = tree.memory()
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", winner)


def redeciding(log, *, on_redecide, near):
    tree = BehaviorTree(
        group("ROOT")[
            group("GUARD", decide=asked(log, "GUARD", near), call_decide_on_redecide=on_redecide)[
                decider("GROWL", ticked(log, until=lambda at: at.time >= 2)),
                decider("WATCH", ticked(log)),
            ],
            decider("REST", ticked(log)),
        ]
    )
    return tree.memory()


@pytest.mark.states("002: S04, 4: A flag says whether the group's Decide is called when a child failed")
def test_the_flag_says_whether_decide_is_called_on_redecide():
    log = []
    memory = redeciding(log, on_redecide=False, near=lambda memory: memory.time < 2)
    memory.tick(1.0)
    memory.tick(1.0)
    assert log == ["GUARD?", "GROWL", "GROWL", "WATCH"]

    log = []
    memory = redeciding(log, on_redecide=True, near=lambda memory: memory.time < 2)
    memory.tick(1.0)
    memory.tick(1.0)
    assert log == ["GUARD?", "GROWL", "GROWL", "GUARD?", "REST"]

    log = []
    memory = redeciding(log, on_redecide=True, near=True)
    memory.tick(1.0)
    memory.tick(1.0)
    assert log == ["GUARD?", "GROWL", "GROWL", "GUARD?", "WATCH"]


@pytest.mark.states("002: S04, 4: It is not called when somebody interrupts")
@pytest.mark.parametrize("level", [0, 5])  # the steady path, and walks in full
def test_the_flag_does_nothing_when_somebody_interrupts(level):
    """Only a failed child makes a group redecide."""
    log = []
    tree = BehaviorTree(
        group("ROOT")[
            group("GUARD", decide=asked(log, "GUARD", True), call_decide_on_redecide=True)[
                decider("YELL", ticked(log), decide=lambda memory: memory.time >= 2), decider("WATCH", ticked(log))
            ]
        ]
    )
    tree.debug_output.level = level
    memory = tree.memory()
    memory.tick(1.0)
    memory.tick(1.0)
    assert log == ["GUARD?", "WATCH", "YELL"]


def delegating(log, policy, **answers):
    children = tuple(decider(name, ticked(log), decide=asked(log, name, answer)) for name, answer in answers.items())
    return BehaviorTree(
        group("ROOT")[group("TIDY", policy, delegate_decide_to_children=True)[children], decider("REST", ticked(log))]
    ).memory()


@pytest.mark.states("002: S05: A subgroup that only tidies up a list delegates")
def test_a_group_can_delegate_its_decision_to_its_children():
    """It accepts if one of them does, and that one is not asked twice."""
    log = []
    memory = delegating(log, "kGroupPrioritizedList", A=False, B=True, C=True)
    memory.tick(0.1)
    assert (log, memory.active_path) == (["A?", "B?", "B"], ("ROOT", "TIDY", "B"))

    log = []
    memory = delegating(log, "kGroupPrioritizedList", A=False, B=False)
    memory.tick(0.1)
    assert (log, memory.active_path) == (["A?", "B?", "REST"], ("ROOT", "REST"))


@pytest.mark.states(
    "002: S04: (decided) or by a flag of the group, after the group's own Decide; the answer is that of the child, "
    "which is not asked twice",
    source="S04, 3; S05",
)
def test_a_delegated_decision_has_the_value_of_the_child():
    tree = BehaviorTree(
        group("ROOT", SCORED)[
            decider("ALONE", goes_on, decide=lambda memory: 0.6),
            group("TIDY", SCORED, decide=lambda memory: 0.1, delegate_decide_to_children=True)[
                decider("LOW", goes_on, decide=lambda memory: 0.5), decider("HIGH", goes_on, decide=lambda memory: 0.7)
            ],
        ]
    )
    memory = tree.memory()
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "TIDY", "HIGH")


@pytest.mark.states("002: S04: (decided) or by a flag of the group, after the group's own Decide; the answer is ...")
def test_a_delegating_group_asks_its_own_decide_first():
    log = []
    tree = BehaviorTree(
        group("ROOT")[
            group("TIDY", decide=asked(log, "TIDY"), delegate_decide_to_children=True)[
                decider("A", goes_on, decide=asked(log, "A", True))
            ],
            decider("REST", goes_on),
        ]
    )
    tree.memory().tick(0.1)
    assert log == ["TIDY?"]


@pytest.mark.states("002: S04: (decided) or by a flag of the group, after the group's own Decide; the answer is ...")
def test_delegation_restarts_the_timer_of_a_child_once():
    """If it were asked for the group and then again for itself, its own timer would refuse it."""
    tree = BehaviorTree(
        group("ROOT")[group("TIDY", delegate_decide_to_children=True)[decider("A", goes_on, every=5.0)]]
    )
    memory = tree.memory()
    assert memory.tick(0.1) is True
    assert memory.active_path == ("ROOT", "TIDY", "A")


@pytest.mark.states("002: S04, 3: A Decide can delegate its decision to its children, by a call")
def test_a_decide_can_delegate_by_a_call():
    """DelegateDecideToChildren is a function there; what it found is activated without being asked again."""
    log = []

    def tidy(memory):
        log.append("TIDY")
        return 0.5 * memory.delegate_decide_to_children()

    tree = BehaviorTree(
        group("ROOT", SCORED)[
            decider("ALONE", goes_on, decide=lambda memory: memory.agent["alone"]),
            group("TIDY", decide=tidy)[
                decider("A", goes_on, decide=asked(log, "A")), decider("B", goes_on, decide=asked(log, "B", True))
            ],
        ]
    )
    memory = tree.memory({"alone": 0.4})
    memory.tick(0.1)
    assert (memory.active_path, log) == (("ROOT", "TIDY", "B"), ["TIDY", "A?", "B?"])
    memory = tree.memory({"alone": 0.6})
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "ALONE")


@pytest.mark.states("002: S04, 3: A Decide can delegate its decision to its children, by a call ...")
def test_delegating_by_a_call_is_for_the_decide_of_a_group():
    tree = BehaviorTree(group("ROOT")[decider("A", goes_on)])
    with pytest.raises(WrongStateError, match="delegate_decide_to_children"):
        tree.memory().delegate_decide_to_children()


# --- S06 Preconditions and Stimuli ------------------------------------------------------------------------------------


@pytest.mark.states("002: S06: A time check lets Decide be called every so many seconds")
@pytest.mark.states("002: S06: It counts from the last call of Decide, not from Deactivate")
def test_a_timer_counts_from_the_last_decide_not_from_deactivate():
    log = []
    tree = BehaviorTree(
        group("ROOT")[
            decider(
                "YELL",
                ticked(log, until=lambda at: at.duration >= 2),
                decide=asked(log, "YELL", True),
                every=5.0,
            ),
            decider("REST", goes_on),
        ]
    )
    memory = tree.memory()
    ticks = []
    for _ in range(8):
        memory.tick(1.0)
        ticks.append(" ".join(log))
        log.clear()
    # Asked at 1 s, it gives up at 3 s; at 6 s, five seconds after the question, it is asked again.
    assert ticks == ["YELL? YELL", "YELL", "YELL", "", "", "YELL? YELL", "YELL", "YELL"]


@pytest.mark.states("002: S06: It counts from the last call of Decide, not from Deactivate ...")
def test_a_refusal_restarts_the_timer_and_a_failed_check_does_not():
    log = []
    tree = BehaviorTree(
        group("ROOT")[
            decider("A", goes_on, decide=asked(log, "A"), every=3.0, decision=Check(all_set=1)),
            decider("REST", goes_on),
        ]
    )
    memory = tree.memory()
    for flags in (0, 0, 1, 1, 1, 1, 1):
        log.append(memory.time)
        memory.tick(1.0, decision_flags=flags)
    assert log == [0.0, 1.0, 2.0, "A?", 3.0, 4.0, 5.0, "A?", 6.0]


CHECKS = [
    (Check(), 0b000, True),
    (Check(all_set=0b011), 0b111, True),
    (Check(all_set=0b011), 0b001, False),
    (Check(all_clear=0b011), 0b100, True),
    (Check(all_clear=0b011), 0b101, False),
    (Check(any_set=0b011), 0b001, True),
    (Check(any_set=0b011), 0b100, False),
    (Check(any_clear=0b011), 0b001, True),
    (Check(any_clear=0b011), 0b111, False),
    (Check(any_set=0b001, any_clear=0b010), 0b010, False),
    (Check(any_set=0b001, any_clear=0b010), 0b011, True),
    (Check(any_set=0b001, any_clear=0b010), 0b000, True),
    (Check(all_set=0b001, all_clear=0b010, any_set=0b100), 0b101, True),
    (Check(all_set=0b001, all_clear=0b010, any_set=0b100), 0b001, False),
    (Check(all_set=0b001, all_clear=0b010, any_set=0b100), 0b111, False),
    (Check(any_set=0b001) & Check(any_set=0b110), 0b001, False),
    (Check(any_set=0b001) & Check(any_set=0b110), 0b011, True),
]


@pytest.mark.states("002: S02, 2: Flags and masks let a tick go on without calling functions")
@pytest.mark.states("002: S06: Checks of flags: AND and OR, with bits that have to be 0 or 1")
@pytest.mark.states("002: S06: Decision flags are passed to the tick and switch deciders on and off")
@pytest.mark.states("002: S06: Stimuli flags are checked in the same way")
@pytest.mark.states("002: S06: Decide is not called when a check fails")
@pytest.mark.parametrize("word", ["decision", "stimuli"])
@pytest.mark.parametrize(("check", "flags", "passes"), CHECKS)
def test_checks_of_both_words(word, check, flags, passes):
    """Decide is called only if the check passes."""
    log = []
    tree = BehaviorTree(group("ROOT")[decider("D", goes_on, decide=asked(log, "D", True), **{word: check})])
    words = {"decision_flags": 0, "stimuli_flags": 0, f"{word}_flags": flags}
    assert tree.memory().tick(0.1, **words) is passes
    assert log == (["D?"] if passes else [])


@pytest.mark.states(
    "002: S04, 2: Preconditions are checked before Decide is called: a time, decision flags, stimuli flags",
)
@pytest.mark.states("002: S06: All checks may be combined")
@pytest.mark.parametrize("stimuli", [0, 1])
@pytest.mark.parametrize("decision", [0, 1])
@pytest.mark.parametrize("is_due", [False, True])
def test_all_preconditions_at_once(stimuli, decision, is_due):
    log = []
    tree = BehaviorTree(
        group("ROOT")[
            decider(
                "D", gives_up, every=2.0, decision=Check(all_set=1), stimuli=Check(any_set=1), decide=asked(log, "D")
            )
        ]
    )
    memory = tree.memory()
    memory.tick(1.0, 1, 1)
    memory.tick(2.0 if is_due else 1.0, decision, stimuli)
    assert len(log) == 1 + (is_due and decision and stimuli)


@pytest.mark.states(
    "002: S03: Impulses and stimulus behaviors are in the tree from the start, and fire when their conditions hold",
)
@pytest.mark.states("002: S04, 1: A decider without Decide accepts always, as the last of a list, or together with ...")
@pytest.mark.states("002: S06: Often no Decide is needed")
def test_preconditions_alone_can_decide():
    tree = BehaviorTree(group("ROOT")[decider("FLEE", goes_on, stimuli=Check(all_set=4)), decider("REST", goes_on)])
    memory = tree.memory()
    memory.tick(0.1, 0, 0)
    assert memory.active_path == ("ROOT", "REST")
    memory.tick(0.1, 0, 4)
    assert memory.active_path == ("ROOT", "FLEE")


@pytest.mark.states("002: S06: A stimulus is a token with optional data and a timeout")
def test_a_stimulus_has_a_token_data_and_a_timeout():
    stimuli = Stimuli()
    stimuli.add(1, "a stick", timeout=1.0)
    stimuli.add(4)
    assert [(one.token, one.data, one.remaining) for one in stimuli] == [(1, "a stick", 1.0), (4, None, None)]
    assert stimuli.update(0.5) == 5
    assert (1 in stimuli, stimuli.data(1), stimuli.get(1).remaining) == (True, "a stick", 0.5)
    assert stimuli.update(0.5) == 4
    assert (1 in stimuli, stimuli.get(1), stimuli.all_flags) == (False, None, 4)


@pytest.mark.states("002: S06: It invites somebody to play, tells of a hit, or keeps something from being repeated")
@pytest.mark.states("002: S07: What lasts is kept on the agent; behaviors tell each other through it")
@pytest.mark.states(
    "002: S09: In each tick decision flags are passed, stimuli updated, and what update returns is passed",
)
def test_a_stimulus_is_told_from_outside_and_by_behaviors():
    """An invitation, and a behavior that sets something on itself so that it is not repeated."""
    log = []

    def play(at):
        log.append(at.stimuli.data(1))
        at.stimuli.add(2, timeout=2.0)  # no more playing for a while
        return False

    tree = BehaviorTree(
        group("ROOT")[decider("PLAY", play, stimuli=Check(all_set=1, all_clear=2)), decider("REST", goes_on)]
    )
    memory = tree.memory()
    memory.stimuli.add(1, "with Ben")
    for _ in range(5):
        memory.tick(1.0, stimuli_flags=memory.stimuli.update(1.0))
    assert log == ["with Ben"] * 3  # at 1, 3 and 5 s
