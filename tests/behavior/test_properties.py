"""Random trees, answers, flags and times: the package makes the same calls as the reference, and keeps its promises."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from modules import load

from agentrt.behavior import (
    PRIORITIZED_LIST,
    RANDOM,
    SCORED,
    SEQUENTIAL,
    SHUFFLE,
    Behavior,
    BehaviorTree,
    Check,
    RedecideLoopError,
    decider,
    group,
    reference,
)
from agentrt.body.driver import LoneBody
from agentrt.kernel.rng import Stream

pytestmark = pytest.mark.slow

spec = load("tests/behavior/reference.py")

POLICIES = dict(zip(spec.POLICIES, (PRIORITIZED_LIST, SEQUENTIAL, RANDOM, SHUFFLE, SCORED), strict=True))
FLAGS = ("MOVE", "LOOK")


# --- random trees -----------------------------------------------------------------------------------------------------

checks = st.builds(
    spec.Checks,
    all=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), max_size=2).map(tuple),
    any=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), max_size=2).map(tuple),
).filter(lambda one: not any((bit, 1 - value) in one.all for bit, value in one.all))
control = st.frozensets(st.sampled_from(FLAGS), max_size=1)
functions = st.sampled_from(["atd", "t", "at", "td", "ad", "atd", "atd", ""])
rarely = st.sampled_from([True, False, False, False])
seldom = st.sampled_from([0.0, 0.0, 0.0, 0.5, 1.0, 2.5])


@st.composite
def behaviors(draw, prefix):
    return [spec.Behavior(f"{prefix}{i}", draw(functions), draw(control)) for i in range(draw(st.integers(1, 3)))]


@st.composite
def trees(draw, policies=spec.POLICIES, references=0, is_dag=True):
    """A DAG: each group has some of what was made before it, the root is made last. Or a tree, where nothing is shared."""
    used = set()

    def some(pool, least, most):
        free = [one for one in pool if is_dag or one.name not in used]
        least = min(least, len(free))
        found = draw(st.lists(st.sampled_from(free), min_size=least, max_size=most, unique_by=id)) if free else []
        used.update(one.name for one in found)
        return found

    def made(name, **fields):
        return spec.Decider(
            name,
            has_decide=not draw(rarely),
            every=draw(seldom),
            decision=draw(checks) if draw(rarely) else spec.Checks(),
            stimuli=draw(checks) if draw(rarely) else spec.Checks(),
            **fields,
        )

    own = draw(behaviors("OF_GROUP_"))
    acts = draw(behaviors("ACT_"))
    pool = [made(f"D{i}", behavior=draw(st.sampled_from(acts))) for i in range(draw(st.integers(2, 5)))]
    jumps = [made(f"R{i}") for i in range(references)]
    pool += jumps
    for i in range(draw(st.integers(1, 5))):
        children = some(pool[-6:], 2, 4)
        if not children:
            break
        pool.append(
            made(
                f"G{i}",
                policy=draw(st.sampled_from(policies)),
                children=tuple(children),
                behavior=draw(st.sampled_from([None, *own])),
                on_redecide=draw(rarely),
                delegates=draw(rarely),
            )
        )
    root = pool.pop()
    if draw(st.booleans()):
        root.has_decide, root.every, root.decision, root.stimuli = False, 0.0, spec.Checks(), spec.Checks()
    children = {one.name: one for one in (*root.children, *some(pool, 0, 3))}
    root.name, root.children = "ROOT", tuple(children.values())
    first = [
        one
        for one in jumps
        if one not in root.children and (one not in below(root) or (is_dag and draw(st.booleans())))
    ]
    root.children = (*first, *root.children)
    for one in below(root):
        if not one.policy and one.behavior is None:
            targets = [other for other in below(root) if (other.policy or other.behavior) and one not in below(other)]
            if targets:
                deep = [other for other in targets if other not in root.children]
                one.target, one.has_decide, one.every = draw(st.sampled_from(deep or targets)), True, 0.0
            else:
                one.behavior = acts[0]
    return root


def below(root):
    """All deciders below one, once each."""
    found = {}
    for child in root.children:
        for one in (child, *below(child)):
            found[id(one)] = one
    return list(found.values())


words = st.integers(0, 7)
ticks = st.lists(
    st.tuples(
        st.sampled_from([0.25, 0.5, 1.0]), words, words, st.sampled_from([set(), set(), set(), *map(set, FLAGS)])
    ),
    min_size=5,
    max_size=20,
)
seeds = st.integers(0, 99999)


# --- the same tree in the package -------------------------------------------------------------------------------------


def built_behavior(one, scripts):
    hooks = {}
    for function in ("activate", "tick", "deactivate"):
        if function[0] in one.functions:

            def hook(self, at, function=function):
                return scripts[at.agent].call(f"{at.name}:{one.name}", function)

            hooks[function] = hook
    return type(one.name, (Behavior,), {"name": one.name, "flags": tuple(sorted(one.control)), **hooks})()


def built_check(one):
    def mask(pairs, wanted):
        return sum({1 << bit for bit, value in pairs if value == wanted})

    return Check(
        all_set=mask(one.all, 1), all_clear=mask(one.all, 0), any_set=mask(one.any, 1), any_clear=mask(one.any, 0)
    )


def built(root, scripts, **options):
    """A tree as described; what its functions answer comes from the script of the agent that they are called for."""
    made, shared = {}, {}

    def make(one):
        if one.name not in made:
            made[one.name] = fresh(one)
        return made[one.name]

    def fresh(one):
        fields = {"decision": built_check(one.decision), "stimuli": built_check(one.stimuli)}
        if one.every:
            fields["every"] = one.every
        if one.has_decide:
            fields["decide"] = lambda memory: scripts[memory.agent].decide(one.name)
        if one.target is not None:
            return reference(one.name, one.target.name, **fields)
        behavior = None
        if one.behavior is not None:
            if one.behavior.name not in shared:
                shared[one.behavior.name] = built_behavior(one.behavior, scripts)
            behavior = shared[one.behavior.name]
        if not one.policy:
            return decider(one.name, behavior, **fields)
        return group(
            one.name,
            POLICIES[one.policy],
            behavior=behavior,
            call_decide_on_redecide=one.on_redecide,
            delegate_decide_to_children=one.delegates,
            **fields,
        )[tuple(make(child) for child in one.children)]

    tree = BehaviorTree(make(root), **options)
    tree.initialize_tree_data()
    return tree


class Foreigner:
    """Somebody of another model, who keeps what it has and takes nothing away."""

    precedence = 0
    is_interruptible = False
    runs_for = None

    def __init__(self, name):
        self.flag_name = name

    def give_way(self, flag, claimant):
        raise AssertionError

    def flags_granted(self):
        raise AssertionError


class Play:
    """One agent in the tree of the package and one in the reference, side by side."""

    def __init__(self, root, seed, *, faults=0, limit=100, agent="ann", tree=None, scripts=None):
        self.scripts = {} if scripts is None else scripts
        self.scripts[agent] = self.script = spec.Script(seed, faults=faults)
        self.tree = tree or built(root, self.scripts, max_redecides=limit)
        self.reports = []
        self.body = LoneBody(agent, agent, report=lambda *report: self.reports.append(report))
        self.memory = self.tree.memory(body=self.body, stream=Stream(seed))
        self.model = spec.Model(root, spec.Script(seed, faults=faults), Stream(seed), limit)
        self.foreigners = {flag: Foreigner(flag) for flag in FLAGS}

    def tick(self, dt, decision, stimuli, foreign):
        """Returns: what both did, as (answer, path, disabled, log)."""
        for flag, one in self.foreigners.items():
            self.body.flags.release(one)
            if flag in foreign:
                self.body.flags.claim((flag,), one, 0)
        holds = self.body.flags.holds().items()
        self.model.foreign = frozenset(flag for flag, hold in holds if hold.owner is self.foreigners[flag])
        self.script.begin()
        try:
            real = self.memory.tick(dt, decision, stimuli)
        except RedecideLoopError:
            real = "loop"
        try:
            expected = self.model.tick(dt, decision, stimuli)
        except spec.TooManyRedecidesError:
            expected = "loop"
        return (
            (real, list(self.memory.active_path), self.script.log),
            (expected, self.model.names(), self.model.script.log),
        )

    def run(self, steps):
        for step in steps:
            real, expected = self.tick(*step)
            assert real == expected


# --- the properties ---------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "002: S01, S09: How a group chooses is its policy: prioritized list, random, sequential, scored competition; "
    "shuffle, which S09 names",
)
@pytest.mark.states("002: S01: The active behavior is ticked in every tick, unless somebody of higher priority ...")
@pytest.mark.states(
    "002: S01: (decided) The root is asked like a child while it is not active; when nobody below it wants to, it "
    "stays active without a child",
)
@pytest.mark.states("002: S02, 2: The whole active path is ticked each time, and everybody of higher priority gets ...")
@pytest.mark.states("002: S06: All checks may be combined ...")
@given(trees(), seeds, ticks)
def test_the_same_calls_as_the_reference(root, seed, steps):
    Play(root, seed).run(steps)


@pytest.mark.states(
    "002: S01: (decided) What each policy does when it begins, while a child is active, and on redecide",
)
@pytest.mark.parametrize("policy", spec.POLICIES)
@given(data=st.data(), seed=seeds, steps=ticks)
def test_the_same_calls_with_one_policy(policy, data, seed, steps):
    Play(data.draw(trees([policy])), seed).run(steps)


@pytest.mark.states("002: note 2: A reference decider jumps from one part of the tree to another (planned there ...")
@pytest.mark.states("002: note 2: (decided) The target's own place counts; what the two paths share stays active ...")
@given(trees(references=2), seeds, ticks)
def test_the_same_calls_with_references(root, seed, steps):
    Play(root, seed).run(steps)


@pytest.mark.states("002: S04, S08: A function that raises disables its decider for that agent, is reported once ...")
@given(trees(references=1), seeds, ticks)
def test_the_same_calls_when_functions_raise(root, seed, steps):
    play = Play(root, seed, faults=10)
    play.run(steps)
    raised = {line.split(":")[0].split(".")[0] for line in play.script.log if line.endswith("raises")}
    assert {path.split("/")[-1] for path, _, _ in play.reports} == raised
    assert {path.split("/")[-1] for path in play.memory.disabled} == raised == play.model.disabled


@pytest.mark.states("002: S05: (ours) A tree may declare how many failures a tick may have, whichever they are ...")
@given(trees(references=1), seeds, ticks, st.integers(1, 3))
def test_the_same_calls_when_the_guard_fires(root, seed, steps, limit):
    Play(root, seed, limit=limit).run(steps)


@pytest.mark.states("002: S09: Each agent has a memory, stimuli and timers of its own ...")
@given(trees(references=1), seeds, seeds, ticks)
def test_agents_of_one_tree_do_not_notice_each_other(root, seed, other, steps):
    """Two in one tree, tick by tick in turns: each does what its own reference does."""
    ann = Play(root, seed)
    ben = Play(root, other, agent="ben", tree=ann.tree, scripts=ann.scripts)
    for step in steps:
        for play in (ann, ben):
            real, expected = play.tick(*step)
            assert real == expected


@pytest.mark.states("002: S01: (decided) Inner deciders are deactivated before outer ones; nothing is deactivated ...")
@pytest.mark.states("002: S08: (decided) None is no objection; an activate that says False has no deactivate ...")
@given(trees(references=1), seeds, ticks, st.sampled_from([0, 10]))
def test_what_begins_ends_once(root, seed, steps, faults):
    """Each activate that went well has its deactivate, inner before outer, and between them nobody else's."""
    play = Play(root, seed, faults=faults)
    for step in steps:
        play.tick(*step)
    play.memory.leave("the end", lambda: None)
    assert play.memory.active_path == ()
    assert set(play.body.flags.holds()) <= set(steps[-1][3])
    deactivates = {f"{one.name}:{one.behavior.name}" for one in (root, *below(root)) if has(one, "a") and has(one, "d")}
    stack = []
    for line in play.script.log:
        name, _, function = line.partition(" ")[0].rpartition(".")
        if name in deactivates and function == "activate" and line.endswith("True"):
            stack.append(name)
        elif name in deactivates and function == "deactivate":
            assert stack.pop() == name
    assert stack == []


@pytest.mark.states("002: S11, 2: Watching changes nothing (ours)")
@given(trees(references=1), seeds, ticks, st.integers(1, 5))
def test_watching_changes_nothing(root, seed, steps, level):
    """The same calls with a decision log as the reference makes, and each line at its level."""
    play = Play(root, seed)
    lines = []
    play.tree.debug_output.function = lines.append
    play.tree.debug_output.level = level
    play.run(steps)
    assert {int(line[6]) for line in lines} <= set(range(1, level + 1))


def has(one, letter):
    return one.behavior is not None and letter in one.behavior.functions


@pytest.mark.states("002: S01: Hysteresis: the Decide of an active decider is not called ...")
@given(trees(is_dag=False), seeds, ticks)
def test_nobody_who_is_active_is_asked(root, seed, steps):
    """Hysteresis: as long as nothing failed, the deciders of the path are not asked."""
    play = Play(root, seed)
    for step in steps:
        path = list(play.memory.active_path)
        before = len(play.script.log)
        play.tick(*step)
        for line in play.script.log[before + 1 :]:
            name, _, function = line.partition(" ")[0].rpartition(".")
            if function != "decide":
                break
            assert name not in path


@pytest.mark.states(
    "002: S01: Shuffle: (decided) while the group is active, everybody has a turn before anybody has a second one",
    source="S09",
)
@given(seeds, st.integers(2, 6), st.integers(2, 5))
def test_a_shuffling_group_gives_everybody_a_turn(seed, count, rounds):
    """Children that always want to and last one tick: each comes once in a round, and rounds differ from each other."""
    turns = []

    def take(at):
        turns.append(at.name)
        return len(turns) % 2 == 1  # every second call fails, so that the group redecides

    children = tuple(decider(f"D{i}", take) for i in range(count))
    memory = BehaviorTree(group("ROOT", SHUFFLE)[children]).memory("ann", stream=Stream(seed))
    while len(set_of_turns(turns)) < count * rounds:
        memory.tick(1.0)
    order = set_of_turns(turns)
    for start in range(0, count * rounds, count):
        assert sorted(order[start : start + count]) == sorted(child.name for child in children)


def set_of_turns(turns):
    """Who had a turn, in order: the calls in a row are one turn."""
    return [name for i, name in enumerate(turns) if i == 0 or turns[i - 1] != name]


@pytest.mark.states("002: S01: Random: each child may be the one; the choice comes from the agent's stream")
@given(seeds)
def test_a_random_group_is_as_random_as_its_stream(seed):
    def drawn(seed):
        seen = []
        children = tuple(decider(f"D{i}", lambda at: seen.append(at.name) or False) for i in range(4))
        memory = BehaviorTree(group("ROOT", RANDOM)[children]).memory("ann", stream=Stream(seed))
        for _ in range(30):
            memory.tick(1.0)
        return seen

    first = drawn(seed)
    assert first == drawn(seed)
    assert set(first) == {"D0", "D1", "D2", "D3"}
    assert all(sorted(first[i : i + 4]) == ["D0", "D1", "D2", "D3"] for i in range(0, len(first), 4))
    starts = [first[i] for i in range(0, len(first), 4)]
    assert len(set(starts)) > 1


@pytest.mark.states("002: S01, S04: Scored: the highest answer wins; (decided) of equal ones the first")
@pytest.mark.states("002: S04: Decide returns a number, and the policy says what it means ...")
@example([3, 1, 2])
@given(st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_the_highest_score_wins_and_the_first_of_equals(values):
    children = tuple(decider(f"D{i}", lambda at: True, decide=lambda _, v=v: float(v)) for i, v in enumerate(values))
    memory = BehaviorTree(group("ROOT", SCORED)[children]).memory("ann")
    assert memory.tick(1.0) is (max(values) > 0)
    winner = () if max(values) == 0 else (f"D{values.index(max(values))}",)
    assert memory.active_path == ("ROOT", *winner)
