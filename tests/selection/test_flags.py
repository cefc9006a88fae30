"""Control flags of leaf behaviors (ours): refused is passed over, waiting is told, giving way is leaving."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt import CancelScope
from agentrt.body.driver import LoneBody
from agentrt.body.flags import JUMP, LOOK, MOVE
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.traps import sleep_ticks
from agentrt.selection import LeafBehavior, SelectionLibrary

THREE = '<Priority name="R"><Leaf name="C" condition="c"/><Leaf name="B" condition="b"/><Leaf name="A"/></Priority>'


@pytest.fixture
def abc(tree_of):
    return tree_of(THREE, "a b c")


class Other:
    """Another model's holder; gives way at once, when it is told to, or never."""

    runs_for = None

    def __init__(self, body, name="plan", precedence=0, way="never"):
        self.body, self.flag_name, self.precedence, self.way = body, name, precedence, way
        self.granted = 0
        self.asked = []

    @property
    def is_interruptible(self):
        return self.way != "never"

    def claim(self, *flags, wait=False):
        return self.body.flags.claim(flags, self, 0, wait=wait)

    def give_way(self, flag, claimant):
        self.asked.append((flag, claimant))
        if self.way == "now":
            self.body.flags.release(self)

    def flags_granted(self):
        self.granted += 1


def holds(body):
    return {flag: hold.name for flag, hold in body.flags.holds().items()}


def holding(name, log, writing, *flags, **more):
    return type(name, (writing,), {"flags": set(flags), **more})(name, log)


def test_held_from_the_constructor_to_the_destructor(abc, state_of, body, log, writing):
    seen = []

    class B(writing):
        flags = {MOVE, LOOK}

        def constructor(self, ai):
            seen.append(holds(ai.body))

        def destructor(self, ai):
            seen.append(holds(ai.body))

    state = state_of(abc, {"B": B("B", log)})
    for value in (True, False):
        state.set_variable("b", value)
        state.drive()
    both = {"LOOK": "selection/R/B", "MOVE": "selection/R/B"}
    assert seen == [both, both]
    assert holds(body) == {}


def test_what_both_need_passes_from_the_one_to_the_other(abc, state_of, body, log, writing):
    state = state_of(abc, {"A": holding("A", log, writing, MOVE, LOOK), "B": holding("B", log, writing, MOVE, JUMP)})
    state.drive()
    waiting = Other(body)
    waiting.claim(MOVE, LOOK, wait=True)
    state.set_variable("b", True)
    state.drive()
    assert holds(body) == {"MOVE": "selection/R/B", "JUMP": "selection/R/B"}
    assert waiting.granted == 0  # nobody came in between
    state.set_variable("b", False)
    state.drive()
    assert (state.behavior, waiting.granted) == (None, 1)  # A needs LOOK, too, and who waits for it came first


@pytest.mark.states(
    "004: Evaluation: A behavior with control flags is selected when it can have all of them; else its leaf is passed "
    "over (ours)",
)
def test_refused_is_passed_over_and_told_when_it_can_have_them(abc, state_of, body, log, writing):
    plan = Other(body)
    plan.claim(MOVE)
    state = state_of(abc, {"C": holding("C", log, writing, MOVE, LOOK)})
    state.set_variable("c", True)
    state.drive()
    assert state.behavior == "A"
    assert state.view().waits_for == "C"
    assert "  would be C, whose control flags are held by somebody else" in state.view().lines()
    assert not state.is_stale  # nothing is asked again until the ledger tells
    body.flags.release(plan)
    assert state.is_stale
    assert state.behavior == "A"
    state.drive()
    assert state.behavior == "C"
    assert log == [("constructor", "A"), ("destructor", "A"), ("constructor", "C")]


def test_one_that_is_not_selected_any_more_waits_no_more(abc, state_of, body, log, writing):
    plan = Other(body)
    plan.claim(MOVE)
    state = state_of(abc, {"C": holding("C", log, writing, MOVE)})
    state.set_variable("c", True)
    state.drive()
    state.set_variable("c", False)
    state.drive()
    assert body.flags.waiting() == []
    body.flags.release(plan)
    assert holds(body) == {}


def test_the_next_best_may_hold_what_the_best_waits_for(abc, state_of, body, log, writing):
    """The lower leaf takes LOOK while the higher one waits for MOVE and LOOK, and hands it over."""
    plan = Other(body)
    plan.claim(MOVE)
    state = state_of(abc, {"C": holding("C", log, writing, MOVE, LOOK), "A": holding("A", log, writing, LOOK)})
    state.set_variable("c", True)
    state.drive()
    assert holds(body) == {"MOVE": "plan", "LOOK": "selection/R/A"}
    state.drive()
    body.flags.release(plan)
    state.drive()
    assert state.behavior == "C"
    assert holds(body) == {"MOVE": "selection/R/C", "LOOK": "selection/R/C"}
    state.leave("end", lambda: None)
    assert (holds(body), body.flags.waiting()) == ({}, [])


def test_a_second_one_that_is_refused_is_asked_at_every_update(abc, state_of, body, log, writing):
    plan, look = Other(body), Other(body, "look")
    plan.claim(MOVE)
    look.claim(LOOK)
    state = state_of(abc, {"C": holding("C", log, writing, MOVE), "B": holding("B", log, writing, LOOK)})
    state.set_variable("c", True)
    state.set_variable("b", True)
    state.drive()
    assert (state.behavior, state.is_stale) == ("A", True)
    body.flags.release(look)
    state.drive()
    assert state.behavior == "B"
    assert not state.is_stale
    body.flags.release(plan)
    state.drive()
    assert state.behavior == "C"


def test_higher_precedence_has_others_give_way(abc, body, log, writing):
    plan = Other(body, way="now")
    plan.claim(MOVE)
    state = abc.state({"C": holding("C", log, writing, MOVE)}, body=body, precedence=1)
    state.set_variable("c", True)
    state.drive()
    assert plan.asked == [("MOVE", "selection/R/C")]
    assert state.behavior == "C"


def test_others_may_take_their_time(abc, body, log, writing):
    plan = Other(body, way="later")
    plan.claim(MOVE)
    state = abc.state({"C": holding("C", log, writing, MOVE)}, body=body, precedence=1)
    state.set_variable("c", True)
    state.drive()
    assert (state.behavior, len(plan.asked)) == ("A", 1)
    body.flags.release(plan)
    again = Other(body)
    assert again.claim(MOVE) is not None  # it is kept for the leaf
    state.drive()
    assert state.behavior == "C"


def test_giving_way_is_leaving(abc, state_of, body, log, writing):
    state = state_of(abc, {"C": holding("C", log, writing, MOVE)})
    state.set_variable("c", True)
    state.drive()
    reflex = Other(body, "reflex", precedence=5)
    assert reflex.claim(MOVE) is None
    assert log == [("constructor", "C"), ("destructor", "C")]
    assert (state.behavior, state.phase) == (None, "none")
    state.drive()
    assert state.behavior == "A"
    body.flags.release(reflex)
    state.drive()
    assert state.behavior == "C"


def test_one_that_cannot_be_interrupted_stays(abc, state_of, body, log, writing):
    state = state_of(abc, {"C": holding("C", log, writing, MOVE, is_interruptible=False)})
    state.set_variable("c", True)
    state.drive()
    refusal = Other(body, "reflex", precedence=5).claim(MOVE)
    assert (refusal.holder, refusal.reason) == ("selection/R/C", "which cannot be interrupted")
    assert state.behavior == "C"


def test_a_constructor_that_raises_gives_them_back(abc, state_of, body, log, faults):
    class C(LeafBehavior):
        flags = {MOVE}

        def constructor(self, ai):
            raise ValueError

    state = state_of(abc, {"C": C})
    state.set_variable("c", True)
    state.drive()
    assert (holds(body), state.behavior, len(faults)) == ({}, "A", 1)


def test_they_are_held_until_its_coroutines_have_ended(abc, log, writing):
    kernel = Kernel()
    body = LoneBody(kernel=kernel)

    class C(writing):
        flags = {MOVE}

        async def run(self, ai):
            try:
                await sleep_ticks(100)
            finally:
                log.append(holds(ai.body))

    state = abc.state({"C": C("C", log), "A": LeafBehavior()}, body=body)
    kernel.every_tick(state.drive)
    state.set_variable("c", True)
    kernel.step_tick()
    reflex = Other(body, "reflex", precedence=5)
    assert reflex.claim(MOVE, wait=True).reason == "which is giving way"
    assert (state.phase, reflex.granted) == ("leaving", 0)
    kernel.step_tick()
    assert log == [("constructor", "C"), {"MOVE": "selection/R/C"}, ("destructor", "C")]
    assert (reflex.granted, state.behavior) == (1, None)
    kernel.step_tick()
    assert state.behavior == "A"


class Slow(LeafBehavior):
    """Cleans up for three ticks."""

    async def run(self, ai):
        try:
            await sleep_ticks(100)
        finally:
            with CancelScope(shield=True):
                await sleep_ticks(3)


def end(state, kernel):
    """It leaves, and its coroutines have time to."""
    left = []
    state.leave("the end", lambda: left.append(True))
    for _ in range(5):
        kernel.step_tick()
    assert left == [True]


def test_one_that_was_to_follow_and_does_not_gives_back_what_it_had_already(abc, log, writing):
    kernel = Kernel()
    body = LoneBody(kernel=kernel)
    state = abc.state({"C": holding("C", log, writing, MOVE), "A": Slow}, body=body)
    kernel.every_tick(state.drive)
    kernel.step_tick()
    state.set_variable("c", True)
    kernel.step_tick()
    assert (state.behavior, holds(body)) == ("A", {"MOVE": "selection/R/C"})
    state.set_variable("c", False)
    state.set_variable("b", True)
    kernel.step_tick()
    assert (state.behavior, holds(body)) == ("A", {})
    for _ in range(3):
        kernel.step_tick()
    assert (state.behavior, log) == ("B", [])


def test_one_that_was_granted_while_another_cleans_up_has_all_of_its_flags(abc, log, writing):
    """C is granted JUMP while it shares MOVE with B, which ends between two drives: MOVE is kept for C."""
    kernel = Kernel()
    body = LoneBody(kernel=kernel)
    flags = {"B": {MOVE}, "C": {MOVE, JUMP}}
    state = abc.state({"B": type("B", (Slow,), {"flags": flags["B"]}), "C": holding("C", log, writing, *flags["C"])})
    state.join(body)
    state.set_variable("b", True)
    state.drive()
    kernel.step_tick()
    plan, tree = Other(body), Other(body, "tree")
    plan.claim(JUMP)
    state.set_variable("b", False)
    state.set_variable("c", True)
    state.drive()
    assert (state.behavior, state.phase, state.view().waits_for) == ("B", "leaving", "C")
    body.flags.release(plan)
    assert holds(body) == {"MOVE": "selection/R/B", "JUMP": "selection/R/C"}
    assert tree.claim(MOVE, wait=True) is not None
    for _ in range(4):
        kernel.step_tick()
    assert (state.behavior, log) == ("A", [])
    assert (holds(body), tree.granted) == ({"MOVE": "selection/R/C", "JUMP": "selection/R/C"}, 0)
    state.drive()
    assert (state.behavior, log) == ("C", [("constructor", "C")])
    assert (holds(body), tree.granted) == ({"MOVE": "selection/R/C", "JUMP": "selection/R/C"}, 0)


def test_one_that_was_granted_and_does_not_begin_gives_all_of_them_back(abc):
    kernel = Kernel()
    body = LoneBody(kernel=kernel)
    state = abc.state({"B": type("B", (Slow,), {"flags": {MOVE}}), "C": type("C", (Slow,), {"flags": {MOVE, JUMP}})})
    state.join(body)
    state.set_variable("b", True)
    state.drive()
    kernel.step_tick()
    plan = Other(body)
    plan.claim(JUMP)
    state.set_variable("b", False)
    state.set_variable("c", True)
    state.drive()
    body.flags.release(plan)
    for _ in range(4):
        kernel.step_tick()
    state.set_variable("c", False)
    assert holds(body) == {"MOVE": "selection/R/C", "JUMP": "selection/R/C"}
    state.drive()
    assert (state.behavior, holds(body), body.flags.waiting()) == ("A", {}, [])


def test_a_better_one_takes_over_what_the_next_one_had_already(abc):
    """B is to follow A, which cleans up, and holds MOVE; C comes before it, and nobody gets in between."""
    kernel = Kernel()
    body = LoneBody(kernel=kernel)
    flags = {"A": set(), "B": {MOVE}, "C": {MOVE, LOOK}}
    state = abc.state({name: type(name, (Slow,), {"flags": flags[name]}) for name in "ABC"}, body=body)
    state.drive()
    kernel.step_tick()
    state.set_variable("b", True)
    state.drive()
    plan = Other(body)
    plan.claim(MOVE, wait=True)
    assert holds(body) == {"MOVE": "selection/R/B"}
    state.set_variable("c", True)
    state.drive()
    assert (holds(body), plan.granted) == ({"MOVE": "selection/R/C", "LOOK": "selection/R/C"}, 0)
    for _ in range(4):
        kernel.step_tick()
    assert (state.behavior, plan.granted) == ("C", 0)
    end(state, kernel)
    assert (holds(body), plan.granted) == ({"MOVE": "plan"}, 1)


def test_one_that_gives_way_while_others_are_asked_leaves_in_that_drive(abc, log, writing):
    body = LoneBody()
    reflex = Other(body, "reflex", precedence=5)

    class Plan(Other):
        def give_way(self, flag, claimant):
            reflex.claim(LOOK, wait=True)

    Plan(body, way="later").claim(MOVE)
    behaviors = {"C": holding("C", log, writing, MOVE), "A": holding("A", log, writing, LOOK)}
    state = abc.state(behaviors, body=body, precedence=1)
    state.drive()
    assert holds(body) == {"MOVE": "plan", "LOOK": "selection/R/A"}
    state.set_variable("c", True)
    state.drive()  # C asks the plan, which has the reflex ask A
    assert log == [("constructor", "A"), ("destructor", "A")]
    assert (state.behavior, reflex.granted, holds(body)) == (None, 1, {"MOVE": "plan", "LOOK": "reflex"})


def test_the_next_best_has_its_own_when_the_best_is_served_first(abc, log, writing):
    """The plan gives way when B asks, too: C is served, and B, which shares MOVE with C, begins; MOVE is B's."""
    body = LoneBody()

    class Plan(Other):
        def give_way(self, flag, claimant):
            self.asked.append(claimant)
            if len(self.asked) == 2:
                body.flags.release(self)

    plan = Plan(body, way="later")
    plan.claim(MOVE)
    behaviors = {"C": holding("C", log, writing, MOVE), "B": holding("B", log, writing, MOVE, LOOK)}
    state = abc.state({**behaviors, "A": LeafBehavior}, body=body, precedence=1)
    for name in "bc":
        state.set_variable(name, True)
    state.drive()
    assert plan.asked == ["selection/R/C", "selection/R/B"]
    assert (state.behavior, holds(body)) == ("B", {"MOVE": "selection/R/B", "LOOK": "selection/R/B"})
    state.drive()
    assert (state.behavior, holds(body)) == ("C", {"MOVE": "selection/R/C"})


def test_one_that_was_served_and_lost_what_it_shares_keeps_nothing(abc):
    """C is served LOOK, and shares MOVE with B, which is to follow A; then B gives MOVE to the reflex."""
    kernel = Kernel()
    body = LoneBody(kernel=kernel)
    reflex = Other(body, "reflex", precedence=5)

    class Plan(Other):
        def give_way(self, flag, claimant):
            body.flags.release(self)
            reflex.claim(MOVE, wait=True)

    Plan(body, way="now").claim(LOOK)
    flags = {"A": set(), "B": {MOVE}, "C": {MOVE, LOOK}}
    behaviors = {name: type(name, (Slow,), {"flags": flags[name]}) for name in "ABC"}
    state = abc.state(behaviors, body=body, precedence=1)
    state.drive()
    kernel.step_tick()
    for name in "bc":
        state.set_variable(name, True)
        state.drive()
    assert holds(body) == {"MOVE": "reflex"}
    assert (state.behavior, state.phase, state.is_stale) == ("A", "leaving", True)
    body.flags.release(reflex)
    for _ in range(5):
        state.drive()
        kernel.step_tick()
    assert (state.behavior, holds(body)) == ("C", {"MOVE": "selection/R/C", "LOOK": "selection/R/C"})
    end(state, kernel)
    assert holds(body) == {}


def test_one_whose_flags_are_gone_before_it_begins_is_passed_over(abc, state_of, body, log, writing):
    """C gives MOVE back when B is selected; who was waiting for it has the reflex take LOOK from B."""
    reflex = Other(body, "reflex", precedence=5)

    class Tree(Other):
        def flags_granted(self):
            reflex.claim(LOOK)

    plan, tree = Other(body), Tree(body, "tree")
    plan.claim(MOVE)
    state = state_of(abc, {"C": holding("C", log, writing, MOVE), "B": holding("B", log, writing, LOOK)})
    state.set_variable("c", True)
    state.drive()
    body.flags.release(plan)
    tree.claim(MOVE, wait=True)
    state.set_variable("c", False)
    state.set_variable("b", True)
    state.drive()
    assert (state.behavior, log) == ("A", [("constructor", "A")])
    assert holds(body) == {"MOVE": "tree", "LOOK": "reflex"}
    body.flags.release(reflex)
    state.drive()
    assert state.behavior == "B"


def test_leaving_the_body_gives_up_what_was_to_follow_at_once(abc, log, writing):
    kernel = Kernel()
    body = LoneBody(kernel=kernel)
    state = abc.state({"C": holding("C", log, writing, MOVE), "A": Slow}, body=body)
    state.drive()
    kernel.step_tick()
    state.set_variable("c", True)
    state.drive()
    state.leave("the end", lambda: log.append("left"))
    assert holds(body) == {}
    state.drive()  # nothing is decided any more
    assert holds(body) == {}
    for _ in range(6):
        kernel.step_tick()
    assert log == ["left"]


def test_giving_way_within_a_callback_that_is_a_coroutine(abc, log):
    """It is cancelled before its first step, so nobody waits for it."""
    kernel = Kernel()
    body = LoneBody(kernel=kernel)
    reflex = Other(body, "reflex", precedence=5)

    class C(LeafBehavior):
        flags = {MOVE}

        def OnHit(self, ai):  # noqa: N802 - named after the signal
            reflex.claim(MOVE, wait=True)
            return sleep_long()

        def destructor(self, ai):
            log.append("destructor")

    async def sleep_long():
        log.append("begins")
        await sleep_ticks(1000)

    state = abc.state({"C": C}, body=body)
    state.set_variable("c", True)
    state.drive()
    state.signal("OnHit")
    kernel.step_tick()
    assert (log, reflex.granted) == (["destructor"], 1)
    assert holds(body) == {"MOVE": "reflex"}


def test_what_a_coroutine_performs_shares_them(abc, body):
    asked = []

    class C(LeafBehavior):
        flags = {MOVE}

        def constructor(self, ai):
            ai.perform("demo:walk", to="there")

    state = abc.state({"C": C, "A": LeafBehavior}, body=type("Body", (), {
        "perform": lambda self, *args: asked.append(args), "flags": body.flags, "flags_if_made": body.flags,
        "kernel": None, "entity": None, "name": "b", "number": 0, "fault": body.fault,
    })())  # fmt: skip
    state.set_variable("c", True)
    state.drive()
    ((activity, args, holder),) = asked
    assert (activity, args, holder.flag_name) == ("demo:walk", {"to": "there"}, "selection/R/C")


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.sampled_from("bc"), st.booleans()),
        st.tuples(st.just("take"), st.integers(0, 2), st.booleans()),
        st.tuples(st.just("drop"), st.integers(0, 2)),
        st.tuples(st.just("drive")),
        st.tuples(st.just("rejoin")),
    ),
    max_size=30,
)
FLAGS = st.lists(st.sampled_from([MOVE, LOOK, JUMP]), unique=True, max_size=2)


@pytest.mark.states("004: Evaluation: A behavior with control flags is selected when it can have all of them; else ...")
@pytest.mark.slow
@given(
    needs=st.tuples(FLAGS, FLAGS, FLAGS),
    others=st.tuples(*[st.tuples(FLAGS, st.integers(-1, 1), st.sampled_from(["never", "now", "later"]))] * 3),
    steps=STEPS,
)
def test_a_behavior_that_is_current_holds_all_of_its_flags_and_nothing_is_left_behind(needs, others, steps):
    body = LoneBody()
    text = f'<SelectionTree><Variables><Variable name="b"/><Variable name="c"/></Variables>{THREE}</SelectionTree>'
    flags = {name: set(need) for name, need in zip("ABC", needs, strict=True)}
    behaviors = {name: type(name, (LeafBehavior,), {"flags": flags[name]}) for name in "ABC"}
    state = SelectionLibrary.from_texts({"t.xml": text})["t"].state(behaviors, body=body)
    models = [Other(body, f"other{n}", precedence, way) for n, (_, precedence, way) in enumerate(others)]

    def held_by(name):
        return {flag for flag, hold in body.flags.holds().items() if hold.name == name}

    for kind, *rest in steps:
        if kind == "set":
            state.set_variable(*rest)
        elif kind == "take":
            models[rest[0]].claim(*others[rest[0]][0], wait=rest[1])
        elif kind == "drop":
            body.flags.release(models[rest[0]])
        elif kind == "rejoin":
            state.leave("script", lambda: None)
            assert not any(hold.name.startswith("selection/") for hold in body.flags.holds().values())
            assert not any(one.claimant.startswith("selection/") for one in body.flags.waiting())
            state.join(body)
        else:
            state.drive()
        if state.behavior is not None:
            assert held_by(f"selection/{state.leaf}") == flags[state.behavior]
    # When everybody else has gone, the best leaf is current after two updates at most.
    for model in models:
        body.flags.release(model)
    state.drive()
    state.drive()
    assert state.behavior == state.tree.select(**state.variables)
    state.leave("the end", lambda: None)
    assert (holds(body), body.flags.waiting()) == ({}, [])


@pytest.mark.parametrize("as_property", [True, False])
def test_one_that_cannot_say_whether_it_gives_way_gives_way_and_the_fault_is_its_own(abc, as_property):
    class NoTruth:
        def __bool__(self):
            raise RuntimeError("neither")

    def raising(self):
        raise RuntimeError("neither")

    faults = []
    body = LoneBody("grunt", report=lambda *one: faults.append(one[:2]))
    answer = property(raising) if as_property else NoTruth()
    holder = type("A", (LeafBehavior,), {"flags": {MOVE}, "is_interruptible": answer})
    state = abc.state({"A": holder(), "B": LeafBehavior(), "C": LeafBehavior()}, body=body)
    state.drive()
    assert holds(body) == {MOVE: "selection/R/A"}
    plan = Other(body, precedence=1)
    plan.claim(MOVE, wait=True)
    state.drive()
    assert holds(body) == {MOVE: "plan"}
    assert set(faults) == {("selection/R/A", "is_interruptible")}
