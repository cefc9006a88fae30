"""Control flags of deciders, between a tree and others who want the same flags of one agent."""

from __future__ import annotations

import pytest
from modules import load

from agentrt.behavior import SCORED, BehaviorTree, decider, group, reference
from agentrt.body.flags import LOOK, MOVE
from agentrt.kernel.kernel import Kernel

worlds = load("tests/behavior/worlds.py")
leaf, branch, Creature, memory_of = worlds.leaf, worlds.branch, worlds.Creature, worlds.memory_of


class Other:
    """Somebody else who claims flags of the same agent."""

    runs_for = None
    is_interruptible = True

    def __init__(self, ledger, precedence=0, slow=False):
        self.ledger = ledger
        self.flag_name = "other"
        self.precedence = precedence
        self.slow = slow
        self.asked_by = []
        self.granted = 0

    def claim(self, *flags, wait=False):
        return self.ledger.claim(flags, self, 0, wait=wait)

    def give_way(self, flag, claimant):
        self.asked_by.append((flag, claimant))
        if not self.slow:
            self.ledger.release(self)

    def flags_granted(self):
        self.granted += 1


def holds(memory):
    return {flag: hold.name for flag, hold in memory.body.flags.holds().items()}


def tree_of(*children, **options):
    return BehaviorTree(group("ROOT", **options)[children])


def test_a_decider_holds_its_flags_while_it_is_active():
    creature = Creature("WALK")
    memory, _ = memory_of(tree_of(leaf("WALK", flags={MOVE}), leaf("REST", decide=None)), creature)
    memory.tick(0.1)
    assert holds(memory) == {"MOVE": "tree/ROOT/WALK"}
    creature.fails.add("WALK.tick")
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "REST")
    assert holds(memory) == {}


def test_an_activation_that_fails_gives_them_back():
    creature = Creature("WALK")
    creature.fails.add("WALK.activate")
    memory, _ = memory_of(tree_of(leaf("WALK", flags={MOVE}), leaf("REST", decide=None)), creature)
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "REST")
    assert holds(memory) == {}


@pytest.mark.states(
    "002: Ours: Control flags are a precondition: who is refused is passed over, before its Decide (ours)",
    source="S04",
)
def test_who_is_refused_is_passed_over_before_its_decide():
    creature = Creature("WALK", "REST")
    memory, _ = memory_of(tree_of(leaf("WALK", flags={MOVE}), leaf("REST")), creature)
    other = Other(memory.body.flags)
    other.claim(MOVE)
    memory.tick(0.1)
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "REST")
    assert creature.asked == ["REST"]
    assert [one.claimant for one in memory.body.flags.refusals()] == ["tree/ROOT/WALK"]
    memory.body.flags.release(other)
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "WALK")
    assert memory.body.flags.refusals() == []


@pytest.mark.states("002: Ours: Groups share theirs with their children (ours)", source="S04")
def test_children_share_the_flags_of_their_groups():
    creature = Creature("WALK", "HOME", "TURN")
    tree = tree_of(branch("WALK", flags={MOVE})[leaf("TURN", flags={MOVE, LOOK}), leaf("HOME", flags={MOVE})])
    memory, _ = memory_of(tree, creature)
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "WALK", "TURN")
    assert holds(memory) == {"MOVE": "tree/ROOT/WALK", "LOOK": "tree/ROOT/WALK/TURN"}
    creature.fails.add("TURN.tick")
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "WALK", "HOME")
    assert holds(memory) == {"MOVE": "tree/ROOT/WALK"}


def test_a_replacement_takes_them_over_with_nobody_in_between():
    creature = Creature("WALK")
    memory, _ = memory_of(tree_of(leaf("FLEE", flags={MOVE}), leaf("WALK", flags={MOVE, LOOK})), creature)
    other = Other(memory.body.flags)
    memory.tick(0.1)
    other.claim(MOVE, wait=True)
    creature.wants.add("FLEE")
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "FLEE")
    assert holds(memory) == {"MOVE": "tree/ROOT/FLEE"}
    assert other.granted == 0


@pytest.mark.parametrize("level", [0, 5])
def test_who_gives_way_at_once_is_no_obstacle(level):
    creature = Creature("WALK")
    tree = tree_of(leaf("WALK", flags={MOVE}), leaf("REST", decide=None))
    tree.debug_output.level, tree.debug_output.function = level, lambda line: None
    memory, _ = memory_of(tree, creature, precedence=1)
    other = Other(memory.body.flags)
    other.claim(MOVE)
    memory.tick(0.1)
    assert other.asked_by == [("MOVE", "tree/ROOT/WALK")]
    assert memory.active_path == ("ROOT", "WALK")


def test_who_needs_time_to_give_way_keeps_the_tree_waiting():
    creature = Creature("WALK")
    memory, _ = memory_of(tree_of(leaf("WALK", flags={MOVE}), leaf("REST", decide=None)), creature, precedence=1)
    other = Other(memory.body.flags, slow=True)
    other.claim(MOVE)
    for _ in range(3):
        memory.tick(0.1)
        assert memory.active_path == ("ROOT", "REST")
    assert creature.asked == ["WALK"]  # who waits is not asked again
    assert memory.view().waiting == ("tree/ROOT/WALK",)
    memory.body.flags.release(other)
    assert holds(memory) == {"MOVE": "tree/ROOT/WALK"}
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "WALK")
    assert creature.asked == ["WALK", "WALK"]


def test_the_timer_does_not_count_while_it_waits():
    creature = Creature("WALK")
    memory, _ = memory_of(
        tree_of(leaf("WALK", flags={MOVE}, every=100.0), leaf("REST", decide=None)), creature, precedence=1
    )
    other = Other(memory.body.flags, slow=True)
    other.claim(MOVE)
    memory.tick(0.1)
    memory.body.flags.release(other)
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "WALK")


@pytest.mark.parametrize("is_released_before", [True, False])
def test_a_claim_that_nobody_renews_is_given_back(is_released_before):
    creature = Creature("WALK")
    memory, _ = memory_of(
        tree_of(leaf("FLEE"), leaf("WALK", flags={MOVE}), leaf("REST", decide=None)), creature, precedence=1
    )
    other = Other(memory.body.flags, slow=True)
    other.claim(MOVE)
    memory.tick(0.1)
    creature.wants.add("FLEE")
    if is_released_before:
        memory.body.flags.release(other)
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "FLEE")
    assert memory.view().waiting == ()
    assert holds(memory) == ({} if is_released_before else {"MOVE": "other"})
    assert memory.body.flags.waiting() == []


@pytest.mark.states(
    "002: Ours: Who has to give way ends at once, and its group redecides in the next tick (ours)",
    source="S04",
)
def test_a_decider_gives_way_at_once_and_its_group_redecides_in_the_next_tick():
    creature = Creature("WALK", "STAND")
    memory, _ = memory_of(tree_of(leaf("WALK", flags={MOVE}), leaf("STAND"), leaf("REST", decide=None)), creature)
    memory.tick(0.1)
    creature.taken()
    other = Other(memory.body.flags, precedence=1)
    assert other.claim(MOVE) is None
    assert holds(memory) == {"MOVE": "other"}
    assert creature.taken() == ["WALK deactivate"]
    assert memory.active_path == ("ROOT",)
    creature.asked.clear()
    memory.tick(0.1)
    assert creature.asked == ["STAND"]
    assert memory.active_path == ("ROOT", "STAND")


def test_a_group_gives_way_with_all_that_is_below():
    creature = Creature("GUARD", "PATROL")
    tree = tree_of(branch("GUARD", flags={MOVE})[leaf("PATROL"),], leaf("REST", decide=None))
    memory, _ = memory_of(tree, creature)
    memory.tick(0.1)
    creature.taken()
    Other(memory.body.flags, precedence=1).claim(MOVE)
    assert creature.taken() == ["PATROL deactivate", "GUARD deactivate"]
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "REST")


def test_root_gives_way_and_comes_again():
    creature = Creature("A")
    memory, _ = memory_of(tree_of(leaf("A"), flags={MOVE}), creature)
    memory.tick(0.1)
    other = Other(memory.body.flags, precedence=1)
    other.claim(MOVE)
    assert memory.active_path == ()
    assert memory.tick(0.1) is False
    memory.body.flags.release(other)
    assert memory.tick(0.1) is True


def test_who_cannot_be_interrupted_keeps_its_flags():
    creature = Creature("WALK")
    memory, _ = memory_of(tree_of(leaf("WALK", flags={MOVE}, interruptible=False)), creature)
    memory.tick(0.1)
    refusal = Other(memory.body.flags, precedence=1).claim(MOVE)
    assert refusal.reason == "which cannot be interrupted"
    assert memory.active_path == ("ROOT", "WALK")


def test_a_claim_in_the_middle_of_its_tick_is_served_at_the_end():
    creature = Creature()
    seen = []

    def walk(at):
        if not seen:
            seen.append(other.claim(MOVE, wait=True).reason)
            seen.append(at.memory.active_path)
        return True

    memory, _ = memory_of(tree_of(decider("WALK", walk, flags={MOVE})), creature)
    other = Other(memory.body.flags, precedence=1)
    memory.tick(0.1)
    assert seen == ["which is giving way", ("ROOT", "WALK")]
    assert memory.active_path == ("ROOT",)
    assert (holds(memory), other.granted) == ({"MOVE": "other"}, 1)


def test_a_jump_claims_for_all_newcomers_or_is_passed_over():
    creature = Creature("R", "B", "BAG")
    tree = tree_of(reference("R", "B"), leaf("A", decide=None), branch("BAG", flags={LOOK})[leaf("B", flags={MOVE})])
    memory, _ = memory_of(tree, creature)
    other = Other(memory.body.flags)
    other.claim(MOVE)
    memory.tick(0.1)
    assert (memory.active_path, holds(memory)) == (("ROOT", "A"), {"MOVE": "other"})
    memory.body.flags.release(other)
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "BAG", "B")
    assert holds(memory) == {"LOOK": "tree/ROOT/BAG", "MOVE": "tree/ROOT/BAG/B"}


def test_a_refusal_is_in_the_trace_once():
    kernel = Kernel()
    records = []
    kernel.trace.listen(records.append)
    creature = Creature("WALK")
    memory, _ = memory_of(tree_of(leaf("WALK", flags={MOVE}), leaf("REST", decide=None)), creature)
    memory.body.kernel = kernel
    other = Other(memory.body.flags)
    for _ in range(2):
        other.claim(MOVE)
        memory.tick(0.1)
        memory.tick(0.1)
        memory.body.flags.release(other)
        memory.tick(0.1)  # granted
        creature.fails.add("WALK.tick")
        memory.tick(0.1)
        creature.fails.clear()
    refused = [(one.path, one.detail) for one in records if one.event == "refused"]
    assert refused == [("tree/ROOT/WALK", (("flag", "MOVE"), ("holder", "other")))] * 2


def test_two_trees_of_one_agent_share_one_ledger():
    creature = Creature("WALK")
    one, _ = memory_of(tree_of(leaf("WALK", flags={MOVE})), creature)
    other = tree_of(decider("RUN", lambda at: True, flags={MOVE}), leaf("REST", decide=None)).memory(
        body=one.body, name="other"
    )
    one.tick(0.1)
    other.tick(0.1)
    assert other.active_path == ("ROOT", "REST")
    assert holds(one) == {"MOVE": "tree/ROOT/WALK"}


# --- what the ledger granted ------------------------------------------------------------------------------------------


def granted(tree, creature, *flags, then=lambda: None, **options):
    """A tree that waited for the flags of somebody slow, and was granted them after its first tick."""
    memory, _ = memory_of(tree, creature, precedence=1, **options)
    other = Other(memory.body.flags, slow=True)
    other.claim(*flags)
    memory.tick(0.1)
    then()
    memory.body.flags.release(other)
    return memory


@pytest.mark.parametrize("level", [0, 5])
@pytest.mark.parametrize("every", [None, 0.1, 100.0])
def test_what_was_granted_is_given_back_when_its_decider_wants_nothing_any_more(level, every):
    creature = Creature("WALK")
    tree = tree_of(leaf("WALK", flags={MOVE}, every=every), leaf("REST", decide=None))
    tree.debug_output.level, tree.debug_output.function = level, lambda line: None
    memory = granted(tree, creature, MOVE)
    assert holds(memory) == {"MOVE": "tree/ROOT/WALK"}
    creature.wants.clear()
    memory.tick(0.1)
    assert (holds(memory), memory.view().waiting) == ({}, ())
    assert (memory.active_path, creature.asked) == (("ROOT", "REST"), ["WALK", "WALK"])


def test_it_is_given_back_when_nobody_is_active():
    creature = Creature("WALK")
    memory = granted(tree_of(leaf("WALK", flags={MOVE})), creature, MOVE, then=creature.wants.clear)
    assert memory.active_path == ("ROOT",)
    assert memory.tick(0.1) is False
    assert holds(memory) == {}


def test_it_is_given_back_to_who_waits_for_it():
    creature = Creature("WALK")
    memory = granted(tree_of(leaf("WALK", flags={MOVE})), creature, MOVE, then=creature.wants.clear)
    third = Other(memory.body.flags)
    third.claim(MOVE, wait=True)
    memory.tick(0.1)
    assert (third.granted, holds(memory)) == (1, {"MOVE": "other"})


def test_it_is_given_back_when_another_one_wins():
    creature = Creature("WALK", "RUN")
    scores = {"WALK": 2.0, "RUN": 1.0}

    def scored(name):
        return leaf(name, flags={MOVE} if name == "WALK" else {LOOK}, decide=lambda memory: scores[name])

    memory = granted(tree_of(branch("GO", SCORED, decide=None)[scored("WALK"), scored("RUN")]), creature, MOVE, LOOK)
    assert memory.view().waiting == ("tree/ROOT/GO/WALK", "tree/ROOT/GO/RUN")
    scores["RUN"] = 3.0
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "GO", "RUN")
    assert holds(memory) == {"LOOK": "tree/ROOT/GO/RUN"}


def test_it_is_given_back_when_the_memory_leaves():
    creature = Creature("WALK")
    memory = granted(tree_of(leaf("WALK", flags={MOVE})), creature, MOVE)
    ledger = memory.body.flags
    memory.leave("the end", lambda: None)
    assert ledger.is_free


def delegating(**options):
    return branch("GUARD", delegate_decide_to_children=True, **options)


def test_a_group_keeps_its_flags_while_a_child_waits_for_its_own():
    creature = Creature("GUARD", "WALK")
    tree = tree_of(delegating(flags={LOOK})[leaf("WALK", flags={MOVE}),], leaf("REST", decide=None))
    memory = granted(tree, creature, LOOK)
    legs = Other(memory.body.flags, slow=True)
    legs.claim(MOVE)
    memory.tick(0.1)
    memory.tick(0.1)
    assert memory.view().waiting == ("tree/ROOT/GUARD", "tree/ROOT/GUARD/WALK")
    assert holds(memory) == {"LOOK": "tree/ROOT/GUARD", "MOVE": "other"}
    memory.body.flags.release(legs)
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "GUARD", "WALK")
    assert holds(memory) == {"LOOK": "tree/ROOT/GUARD", "MOVE": "tree/ROOT/GUARD/WALK"}


def test_and_gives_them_back_when_it_wants_nothing_any_more_or_somebody_keeps_the_flags_of_the_child():
    creature = Creature("GUARD", "WALK")
    tree = tree_of(delegating(flags={LOOK})[leaf("WALK", flags={MOVE}),], leaf("REST", decide=None))
    memory = granted(tree, creature, LOOK)
    strong = Other(memory.body.flags, precedence=2)
    strong.claim(MOVE)
    memory.tick(0.1)
    assert (holds(memory), memory.view().waiting) == ({"MOVE": "other"}, ())
    memory.body.flags.release(strong)

    memory = granted(tree, creature, LOOK)
    legs = Other(memory.body.flags, slow=True)
    legs.claim(MOVE)
    memory.tick(0.1)
    assert memory.view().waiting == ("tree/ROOT/GUARD", "tree/ROOT/GUARD/WALK")
    creature.wants.remove("GUARD")
    memory.tick(0.1)
    assert (holds(memory), memory.view().waiting) == ({"MOVE": "other"}, ())


def test_a_group_takes_over_what_its_child_was_granted_before():
    creature = Creature("GUARD", "WALK")
    tree = tree_of(delegating(flags={MOVE})[leaf("WALK", flags={MOVE, LOOK}),], leaf("REST", decide=None))
    memory = granted(tree, creature, LOOK)
    assert memory.view().waiting == ("tree/ROOT/GUARD/WALK",)
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "GUARD", "WALK")
    assert holds(memory) == {"LOOK": "tree/ROOT/GUARD/WALK", "MOVE": "tree/ROOT/GUARD"}


def test_a_claim_that_shared_a_flag_which_the_path_has_lost_is_worth_nothing():
    creature = Creature("WALK")
    memory, _ = memory_of(
        tree_of(leaf("DANCE", flags={MOVE, LOOK}), leaf("WALK", flags={MOVE})), creature, precedence=1
    )
    memory.tick(0.1)
    eyes = Other(memory.body.flags, slow=True)
    eyes.claim(LOOK)
    creature.wants.add("DANCE")
    memory.tick(0.1)
    memory.body.flags.release(eyes)
    assert holds(memory) == {"MOVE": "tree/ROOT/WALK", "LOOK": "tree/ROOT/DANCE"}
    strong = Other(memory.body.flags, precedence=2)
    strong.claim(MOVE)
    memory.tick(0.1)
    assert (memory.active_path, holds(memory)) == (("ROOT",), {"MOVE": "other"})
    memory.body.flags.release(strong)
    memory.tick(0.1)
    assert (memory.active_path, set(holds(memory).values())) == (("ROOT", "DANCE"), {"tree/ROOT/DANCE"})


@pytest.mark.parametrize("runs_for_somebody", [False, True])
def test_what_was_granted_is_kept_beside_flags_that_are_shared(runs_for_somebody):
    creature = Creature("DANCE") if runs_for_somebody else Creature("WALK")
    tree = tree_of(leaf("DANCE", flags={MOVE, LOOK}), leaf("WALK", flags={MOVE}))
    memory, _ = memory_of(tree, creature, precedence=1)
    ledger = memory.body.flags
    owner, eyes, rival = Other(ledger), Other(ledger, slow=True), Other(ledger, precedence=1)
    if runs_for_somebody:
        memory.body.holder = owner
        owner.claim(MOVE)
    else:
        memory.tick(0.1)
    eyes.claim(LOOK)
    creature.wants.add("DANCE")
    memory.tick(0.1)
    rival.claim(LOOK, wait=True)
    ledger.release(eyes)
    memory.tick(0.1)
    assert (memory.active_path, rival.granted) == (("ROOT", "DANCE"), 0)


# --- between ticks ----------------------------------------------------------------------------------------------------


def test_a_claim_keeps_its_place_while_another_decider_gives_way():
    creature = Creature("WALK", "STARE")
    memory, _ = memory_of(tree_of(leaf("WALK", flags={MOVE}), leaf("STARE", flags={LOOK})), creature, precedence=1)
    other, weak = Other(memory.body.flags, slow=True), Other(memory.body.flags)
    other.claim(MOVE)
    memory.tick(0.1)
    weak.claim(MOVE, wait=True)
    Other(memory.body.flags, precedence=2).claim(LOOK)
    assert (memory.active_path, memory.view().waiting) == (("ROOT",), ("tree/ROOT/WALK",))
    memory.body.flags.release(other)
    memory.tick(0.1)
    assert (memory.active_path, weak.granted) == (("ROOT", "WALK"), 0)


@pytest.mark.parametrize("leaves", [False, True])
def test_who_is_served_while_a_tree_gives_way_may_want_more_of_it(leaves):
    kernel = Kernel()
    records = []
    kernel.trace.listen(records.append)
    creature = Creature("GUARD", "WALK")
    tree = tree_of(branch("GUARD", flags={MOVE})[leaf("WALK", flags={LOOK}, interruptible=False),])
    memory, _ = memory_of(tree, creature)
    memory.body.kernel = kernel
    ledger = memory.body.flags
    memory.tick(0.1)
    eyes, legs = Other(ledger, precedence=1), Other(ledger, precedence=1)
    eyes.claim(LOOK, wait=True)
    eyes.flags_granted = lambda: legs.claim(MOVE, wait=True)  # while GUARD is being taken down, after WALK
    creature.taken()
    if leaves:
        memory.leave("the end", lambda: creature.write("left"))
    else:
        Other(ledger, precedence=1).claim(MOVE)
    assert creature.taken() == ["WALK deactivate", "GUARD deactivate", *["left"] * leaves]
    ended = [one.path.rpartition("/")[2] for one in records if one.event == "deactivate"]
    assert ended == ["WALK", "GUARD", *["ROOT"] * leaves]
