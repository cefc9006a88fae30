"""What bounds a tick, time that does not pass, stimuli that change while they run down, and slips in a declaration."""

from __future__ import annotations

import asyncio
import warnings

import pytest

from agentrt import Agent, CancelScope, Entity, sleep_ticks
from agentrt.behavior import (
    PRIORITIZED_LIST,
    RANDOM,
    SCORED,
    SEQUENTIAL,
    SHUFFLE,
    Behavior,
    BehaviorTree,
    RedecideLoopError,
    Stimuli,
    behavior,
    decider,
    group,
    reference,
)
from agentrt.behavior.declare import GroupPolicy
from agentrt.body.driver import LoneBody
from agentrt.errors import DefinitionError
from agentrt.kernel.kernel import Kernel


def fails(at):
    return False


def no(memory):
    return 0.0


def greedy(name, *children):
    """A group that lets in what its children do not."""
    return group(name)[*(children or (decider(f"{name}_D", fails, decide=no),))]


# --- long lists are no circles ----------------------------------------------------------------------------------------


@pytest.mark.states("002: S05: (decided) It counts how often one place of the tree fails, and not how many do")
@pytest.mark.parametrize("policy", GroupPolicy)
@pytest.mark.parametrize("count", [32, 101, 400])
@pytest.mark.untraced
def test_steps_that_end_at_once(policy, count):
    log = []
    if policy is SHUFFLE:
        count = 32
    steps = [decider(f"S{n}", behavior(f"B{n}", tick=lambda at: log.append(at.name) or False)) for n in range(count)]
    tree = BehaviorTree(group("ROOT")[group("DO", policy)[*steps], decider("REST", lambda at: True)])
    memory = tree.memory()
    assert memory.tick(0.1)
    assert memory.active_path == ("ROOT", "REST")
    assert sorted(log) == sorted(f"S{n}" for n in range(count))
    if policy in (PRIORITIZED_LIST, SEQUENTIAL, SCORED):
        assert log == [f"S{n}" for n in range(count)]


@pytest.mark.states("002: S05: (decided) It counts how often one place of the tree fails, and not how many do ...")
@pytest.mark.parametrize("count", [101, 400])
def test_leaves_that_decline_and_groups_that_let_in_what_their_children_do_not(count):
    leaves = [decider(f"L{n}", fails, decide=no) for n in range(count)]
    groups = [greedy(f"G{n}") for n in range(count)]
    memory = BehaviorTree(group("ROOT")[*leaves, *groups, decider("REST", lambda at: True)]).memory()
    assert memory.tick(0.1)
    assert memory.active_path == ("ROOT", "REST")


@pytest.mark.states("002: S05: (decided) It counts how often one place of the tree fails, and not how many do ...")
@pytest.mark.parametrize(("count", "delegates"), [(120, False), (400, False), (120, True)])
def test_nested_groups(count, delegates):
    """A delegation is a call within a call; that bounds how many may be nested."""
    inner = decider("LEAF", fails, decide=no)
    for n in range(count):
        inner = group(f"G{n}", delegate_decide_to_children=delegates)[inner]
    memory = BehaviorTree(group("ROOT")[inner, decider("REST", lambda at: True)]).memory()
    assert memory.tick(0.1)
    assert memory.active_path == ("ROOT", "REST")


@pytest.mark.states("002: S05: (decided) It counts how often one place of the tree fails, and not how many do ...")
def test_one_decider_at_many_places():
    """What fails in two hundred groups fails once at each of its places."""
    shared = decider("SHARED", fails)
    groups = [group(f"G{n}")[shared] for n in range(200)]
    memory = BehaviorTree(group("ROOT")[*groups, decider("REST", lambda at: True)]).memory()
    assert memory.tick(0.1)
    assert memory.active_path == ("ROOT", "REST")


# --- circles are -----------------------------------------------------------------------------------------------------


def circle(**options):
    stuck = behavior("FAILS", tick=fails)
    return BehaviorTree(
        group("ROOT")[
            group("A")[decider("X", stuck), reference("TO_Y", "Y")],
            group("B")[decider("Y", stuck), reference("TO_X", "X")],
            decider("REST", lambda at: True),
        ],
        **options,
    )


@pytest.mark.states(
    "002: S05: A count of redecides guards against a loop; when it fires the tick ends with an error, and no behavior "
    "may have been ticked",
)
def test_a_circle_is_found_named_and_left():
    log = []
    tree = circle()
    tree.debug_output.level, tree.debug_output.function = 2, log.append
    memory = tree.memory(name="mind")
    with pytest.raises(RedecideLoopError) as caught:
        memory.tick(0.1)
    error = caught.value
    assert (error.tree, error.group in "AB", 100 < error.count < 250) == ("ROOT", True, True)
    assert error.bound == "mind/ROOT/A/X failed more than 100 times"
    assert error.bound in str(error)
    assert len(log) < 2000


@pytest.mark.states("002: S05: (decided) It counts how often one place of the tree fails, and not how many do ...")
def test_groups_that_are_shared_in_exponentially_many_ways():
    """Twenty layers of two, each of which leads to both of the next: a million places."""
    below = [decider("LEAF", fails)]
    for n in range(20):
        below = [group(f"A{n}")[*below], group(f"B{n}")[*below]]
    tree = BehaviorTree(group("ROOT")[*below])
    with pytest.raises(RedecideLoopError, match=r"more than 100 for each of its 42 deciders"):
        tree.memory().tick(0.1)


def test_what_an_author_declares_is_counted_whatever_fails():
    tree = BehaviorTree(group("ROOT")[*(decider(f"S{n}", fails) for n in range(5))], max_redecides=3)
    with pytest.raises(RedecideLoopError, match=r"after 4 redecides \(max_redecides=3\)"):
        tree.memory().tick(0.1)
    for wrong in (0, -1, "3", float("nan"), True):
        with pytest.raises(DefinitionError, match="max_redecides"):
            BehaviorTree(group("ROOT")["A"], max_redecides=wrong)


@pytest.mark.states("002: S05: A count of redecides guards against a loop; when it fires the tick ends with an ...")
@pytest.mark.parametrize("coroutine", [False, True])
def test_it_hurts_that_tree_alone(play, coroutine):
    """On each host, with and without coroutines among its behaviors: everybody else drives in every tick."""
    log = []

    async def rest(at):
        with CancelScope(shield=True):
            await sleep_ticks(1)

    stuck = behavior("FAILS", tick=fails)
    bad = BehaviorTree(
        group("ROOT")[
            group("A")[decider("X", stuck), reference("TO_Y", "Y")],
            group("B")[decider("Y", stuck), reference("TO_X", "X")],
            decider("REST", rest if coroutine else lambda at: True),
        ]
    )
    good = BehaviorTree(group("ROOT")[decider("TOLD", lambda at: log.append(at.agent.name))])
    runtime = play.runtime()
    faults = []
    runtime.trace.listen(lambda one: faults.append((one.tick, one.path)) if one.event == "fault" else None)
    for name in ("ann", "bob"):
        memories = [bad.memory(name="bad"), good.memory(name="good")]
        runtime.add(Agent(Entity(name, name=name), drivers=memories))
    play.ticks(runtime, 3)
    assert log == ["ann", "bob"] * 3
    assert faults == [(1, "bad"), (1, "bad"), (2, "bad"), (2, "bad"), (3, "bad"), (3, "bad")]


# --- time ------------------------------------------------------------------------------------------------------------

NO_TIMES = [-0.1, -1, float("nan"), float("inf"), -float("inf"), "1", None, True, object()]


@pytest.mark.states(
    "002: S06: (decided) Time that is negative, NaN, endless or no number is refused, and changes nothing",
    source="S09",
)
@pytest.mark.parametrize("dt", [one for one in NO_TIMES if one is not True])
def test_time_that_does_not_pass(dt):
    memory = BehaviorTree(group("ROOT")[decider("ACT", lambda at: True)]).memory()
    memory.tick(0.5)
    memory.stimuli.add(1, timeout=3.0)
    for use in (memory.tick, memory.stimuli.update):
        with pytest.raises(DefinitionError, match=r"dt is .*Write seconds"):
            use(dt)
    if dt is not None:
        with pytest.raises(DefinitionError, match="time is"):
            memory.tick(0.1, time=dt)
        with pytest.raises(DefinitionError, match="its timeout is"):
            memory.stimuli.add(2, timeout=dt)
    assert (memory.time, memory.dt, memory.stimuli.get(1).remaining) == (0.5, 0.5, 3.0)
    memory.tick(0, time=0.5)
    memory.tick(1)
    assert memory.time == 1.5


@pytest.mark.states("002: S06: (decided) Time that is negative, NaN, endless or no number is refused, and changes ...")
def test_time_does_not_go_back():
    memory = BehaviorTree(group("ROOT")[decider("ACT", lambda at: True)]).memory()
    memory.tick(0.1, time=9.0)
    with pytest.raises(DefinitionError, match=r"time is 8.0, after 9.0 in the last tick. Time never goes back"):
        memory.tick(0.1, time=8.0)
    assert memory.time == 9.0


def test_a_memory_that_was_ticked_by_hand_besides_follows_its_agent_again():
    kernel = Kernel(ticks_per_second=10)
    memory = BehaviorTree(group("ROOT")[decider("ACT", lambda at: True)]).memory(body=LoneBody(kernel=kernel))
    memory.tick(5.0)
    for _ in range(2):
        kernel.step_tick()
        memory.drive()
    assert (memory.time, round(memory.dt, 6)) == (0.2, 0.1)


# --- stimuli ---------------------------------------------------------------------------------------------------------


def changing(act):
    log = []

    def changed(token, is_on):
        log.append((int(token), is_on))
        act(stimuli, token, is_on)

    stimuli = Stimuli(changed)
    for token in (1, 2, 4):
        stimuli.add(token, f"old {token}", timeout=1.0)
    stimuli.add(8, "longer", timeout=3.0)
    stimuli.add(16, "for good")
    log.clear()
    return stimuli, log


def left(stimuli):
    return {one.token: (one.data, one.remaining) for one in stimuli}


@pytest.mark.states(
    "002: S06: (decided) Whoever is told of a change may change others: an update is right all the same",
)
def test_whoever_is_told_removes_others():
    stimuli, log = changing(
        lambda stimuli, token, is_on: (stimuli.remove(4), stimuli.remove(8)) if token == 1 else None
    )
    assert stimuli.update(1.0) == 16
    assert log == [(1, False), (4, False), (8, False), (2, False)]
    assert left(stimuli) == {16: ("for good", None)}
    assert stimuli.all_flags == 16


@pytest.mark.states("002: S06: (decided) Whoever is told of a change may change others: an update is right all the ...")
def test_whoever_is_told_renews_others():
    """What is renewed in an update stays, with all of its time; it did not go."""

    def act(stimuli, token, is_on):
        if token == 1 and not is_on:
            stimuli.add(2, "new", timeout=5.0)
            stimuli.add(8, "new", timeout=0.5)

    stimuli, log = changing(act)
    assert stimuli.update(1.0) == 2 | 8 | 16
    assert log == [(1, False), (4, False)]
    assert left(stimuli) == {2: ("new", 5.0), 8: ("new", 0.5), 16: ("for good", None)}


@pytest.mark.states("002: S06: (decided) Whoever is told of a change may change others: an update is right all the ...")
def test_whoever_is_told_adds_one_or_has_it_come_back():
    def act(stimuli, token, is_on):
        if not is_on and token in (1, 2):
            stimuli.add(token, "back", timeout=2.0)
            stimuli.add(32, "another", timeout=0.1)

    stimuli, log = changing(act)
    assert stimuli.update(1.0) == 1 | 2 | 8 | 16 | 32
    assert log == [(1, False), (1, True), (32, True), (2, False), (2, True), (4, False)]
    assert left(stimuli)[1] == ("back", 2.0)
    assert left(stimuli)[32] == ("another", 0.1)
    assert left(stimuli)[8] == ("longer", 2.0)


def test_whoever_is_told_clears_or_updates():
    stimuli, _ = changing(lambda stimuli, token, is_on: stimuli.clear() if token == 1 and not is_on else None)
    assert stimuli.update(1.0) == 0
    assert left(stimuli) == {}
    stimuli, _ = changing(lambda stimuli, token, is_on: stimuli.update(0.5) if token == 1 and not is_on else None)
    assert stimuli.update(0.9) == 1 | 2 | 4 | 8 | 16
    assert stimuli.update(0.1) == 8 | 16
    assert left(stimuli)[8][1] == pytest.approx(1.6)  # what was done to it in between counts, and is all that is done


@pytest.mark.states("002: S06: (decided) Whoever is told of a change may change others: an update is right all the ...")
def test_whoever_is_told_raises():
    """It comes out, and time has passed for all of them."""
    raised = []

    def changed(token, is_on):
        raised.append((token, is_on))
        if not is_on:
            raise ValueError(token)

    stimuli = Stimuli(changed)
    for token in (1, 2):
        stimuli.add(token, timeout=1.0)
    stimuli.add(4, timeout=3.0)
    with pytest.raises(ValueError, match="1"):
        stimuli.update(1.0)
    assert left(stimuli) == {4: (None, 2.0)}
    assert raised[-2:] == [(1, False), (2, False)]


# --- slips, and names -------------------------------------------------------------------------------------------------


AS_TEXT = [
    (("prioritized_list", "PRIORITIZED_LIST", "PrioritizedList", "prioritized list", "kGroupPrioritizedList"), PRIORITIZED_LIST),
    (("sequential", "SEQUENTIAL", "kGroupSequential", "Sequential"), SEQUENTIAL),
    (("random", "RANDOM", "kGroupRandom"), RANDOM),
    (("shuffle", "SHUFFLE", "kgroupshuffle"), SHUFFLE),
    (("scored", "SCORED", "kGroupScored", "scored competition"), SCORED),
]  # fmt: skip


@pytest.mark.parametrize(("words", "policy"), AS_TEXT)
def test_policies_as_text(words, policy):
    for word in (*words, policy):
        assert group("A", word).policy is policy


@pytest.mark.parametrize(
    ("word", "near"), [("sequental", "sequential"), ("kGroupRandm", "random"), ("SHUFFLY", "shuffle")]
)
def test_policies_that_are_misspelt(word, near):
    with pytest.raises(DefinitionError, match=f"Did you mean '{near}'.* Write one of: kGroupPrioritizedList"):
        group("A", word)


@pytest.mark.parametrize("word", [3, None, ["random"], "", "x" * 10_000, SEQUENTIAL.__class__])
def test_what_is_no_policy(word):
    with pytest.raises(DefinitionError, match="there is no policy"):
        group("A", word)


@pytest.mark.parametrize("make", [list, set, iter, lambda them: (one for one in them), lambda them: {"a": them}])
def test_computed_children_are_unpacked(make):
    children = [decider("X", fails), decider("Y", fails)]
    for given in (make(children), (decider("Z", fails), make(children))):
        with pytest.raises(DefinitionError) as caught:
            group("A")[given]
        assert 'Unpack it: group("A")[*children].' in str(caught.value)
    assert len(group("A")[*children].children) == 2
    assert len(group("A")[tuple(children)].children) == 2


class Walk(Behavior):
    def tick(self, at):
        return True


@pytest.mark.parametrize("given", [Walk, Walk(), fails])
def test_a_behavior_in_place_of_a_decider(given):
    with pytest.raises(DefinitionError, match=r'Write decider\("NAME", behavior\)'):
        group("A")[given]


class Sheep:
    def __init__(self, name):
        self.name = name


def test_the_log_names_who_is_ticked_by_hand():
    log = []
    tree = BehaviorTree(group("ROOT")[decider("ACT", lambda at: True)])
    tree.debug_output.level, tree.debug_output.function = 3, log.append
    for memory in (
        tree.memory(Sheep("Dolly")),
        tree.memory(Sheep("Molly\x1b[2J")),
        tree.memory(name="mind"),
        tree.memory(body=LoneBody(name="wolf")),
        tree.memory(body=LoneBody(Sheep("x"), "numbered", 7)),
    ):
        memory.tick(0.1)
    begins = [line.split(" @ ")[0].partition(" ")[2] for line in log if "starting tree" in line]
    assert begins == ["Dolly", r"Molly\x1b[2J", "mind", "wolf", "0x00000007"]
    assert next(line for line in log if "starting tree" in line).endswith(f"for Dolly {'*' * 16}")


def test_reports_name_who_is_ticked_by_hand():
    def broken(at):
        raise ValueError("no")

    tree = BehaviorTree(group("ROOT")[decider("ACT", broken)])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        tree.memory(Sheep("Dolly")).tick(0.1)
        tree.memory().tick(0.1)
    assert [str(one.message) for one in told] == [
        "Dolly: tree/ROOT/ACT: tick raised ValueError: no",
        "tree/ROOT/ACT: tick raised ValueError: no",
    ]
    with pytest.raises(RedecideLoopError, match=r"\(at Dolly, tree/ROOT"):
        circle(max_redecides=1).memory(Sheep("Dolly")).tick(0.1)


def test_what_is_cancelled_elsewhere_and_raised_in_a_tick_is_contained():
    reports = []

    def cancelled(memory):
        raise asyncio.CancelledError

    kernel = Kernel()
    other = BehaviorTree(group("ROOT")[decider("B", lambda at: True)]).memory(
        body=LoneBody(kernel=kernel, report=lambda *one: reports.append(one)), decision_flags=cancelled
    )
    kernel.step_tick()
    other.drive()
    assert [(path, hook) for path, hook, _ in reports] == [("tree", "decision_flags")]
    assert other.active_path == ("ROOT", "B")


def test_an_answer_whose_comparison_has_no_truth_is_the_fault_of_its_decider_alone():
    class NoTruth:
        def __bool__(self):
            raise RuntimeError("neither")

    class Answer:
        def __gt__(self, other):
            return NoTruth()

    faults, ticked = [], []
    tree = BehaviorTree(
        group("ROOT")[decider("A", lambda at: True, decide=lambda memory: Answer()), decider("B", ticked.append)]
    )
    memory = tree.memory(body=LoneBody("ox", report=lambda *one: faults.append(one[1])))
    memory.tick(1.0)
    assert (memory.active_path, len(ticked), faults) == (("ROOT", "B"), 1, ["decide"])
