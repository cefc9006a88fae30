"""A callback that raises: reported once with its path, its behavior is out for this agent, and nothing else changes."""

# ruff: noqa: N802 - methods are named after signals
from __future__ import annotations

import pytest

from agentrt.body.driver import LoneBody
from agentrt.kernel.kernel import Kernel
from agentrt.selection import LeafBehavior

THREE = '<Priority name="R"><Leaf name="C" condition="c"/><Leaf name="B" condition="b"/><Leaf name="A"/></Priority>'


@pytest.fixture
def abc(tree_of):
    return tree_of(THREE, "a b c")


class Failing(LeafBehavior):
    """Raises in the callbacks that are named."""

    def __init__(self, log, *hooks, name="B"):
        self.log = log
        self.hooks = hooks
        self.name = name

    def _do(self, hook):
        self.log.append((hook, self.name))
        if hook in self.hooks:
            raise ValueError(hook)

    def constructor(self, ai):
        self._do("constructor")

    def destructor(self, ai):
        self._do("destructor")

    def OnHit(self, ai):
        self._do("OnHit")


def told(faults):
    return [(path, hook, str(error)) for path, hook, error in faults]


@pytest.mark.states(
    "004: Evaluation: A callback that raises is reported once; its behavior is out for this agent, and nothing else "
    "changes (ours)",
)
def test_a_constructor_that_raises_is_replaced_at_once_and_has_no_destructor(abc, state_of, log, faults):
    state = state_of(abc, {"B": Failing(log, "constructor")})
    state.set_variable("b", True)
    state.drive()
    assert log == [("constructor", "B"), ("constructor", "A")]
    assert told(faults) == [("selection/R/B", "constructor", "constructor")]
    state.set_variable("c", True)
    state.drive()
    state.set_variable("c", False)
    state.drive()
    assert log[2:] == [("destructor", "A"), ("constructor", "C"), ("destructor", "C"), ("constructor", "A")]
    assert len(faults) == 1
    assert state.view().out == (("B", "selection/R/B"),)
    assert state.view().lines()[-1] == "  B is out: it raised at selection/R/B"


@pytest.mark.states("004: Evaluation: A callback that raises is reported once; its behavior is out for this agent ...")
def test_a_method_of_a_signal_that_raises(abc, state_of, log, faults):
    state = state_of(abc, {"B": Failing(log, "OnHit")})
    state.set_variable("b", True)
    state.drive()
    state.signal("OnHit")
    assert state.behavior == "B"
    state.drive()
    assert log == [("constructor", "B"), ("OnHit", "B"), ("destructor", "B"), ("constructor", "A")]
    assert told(faults) == [("selection/R/B", "OnHit", "OnHit")]


@pytest.mark.states("004: Evaluation: A callback that raises is reported once; its behavior is out for this agent ...")
def test_a_destructor_that_raises_does_not_keep_the_next_one(abc, state_of, log, faults):
    state = state_of(abc, {"B": Failing(log, "destructor")})
    for value in (True, False, True, False):
        state.set_variable("b", value)
        state.drive()
    assert log == [("constructor", "B"), ("destructor", "B"), ("constructor", "A")]
    assert told(faults) == [("selection/R/B", "destructor", "destructor")]


def test_all_may_be_out(abc, body, log, faults):
    state = abc.state({name: Failing(log, "constructor", name=name) for name in "ABC"}, body=body)
    state.set_variable("b", True)
    state.drive()
    state.drive()
    assert log == [("constructor", "B"), ("constructor", "A")]
    assert (state.behavior, state.phase, len(faults)) == (None, "none", 2)
    state.set_variable("c", True)
    state.drive()
    assert len(faults) == 3


def test_a_factory_that_raises_or_makes_something_else(abc, state_of, log, faults):
    def broken():
        raise KeyError("no")

    state = state_of(abc, {"C": broken, "B": lambda: 3})
    for name in "cb":
        state.set_variable(name, True)
    state.drive()
    assert log == [("constructor", "A")]
    assert [str(error) for _, _, error in faults] == [
        "'no'",
        "[ART101] test_a_factory_that_raises_or_makes_something_else.<locals>.<lambda>: it made a int. Make a "
        "behavior: derive from LeafBehavior.",
    ]


@pytest.mark.states("004: Evaluation: A callback that raises is reported once; its behavior is out for this agent ...")
@pytest.mark.states("004: Sharing Behavior Blocks: Behaviors are reused between trees")
def test_other_agents_and_shared_behaviors_go_on(abc, log, faults):
    class Shared(LeafBehavior):
        def constructor(self, ai):
            if ai.entity == "bad":
                raise ValueError

    behaviors = {"A": Shared()}
    states = [
        abc.state(behaviors, body=LoneBody(entity, report=lambda *one: faults.append(one)))
        for entity in ("bad", "good")
    ]
    for state in states:
        state.drive()
    assert [state.behavior for state in states] == [None, "A"]
    assert len(faults) == 1


def test_joining_a_body_again_forgets_what_was_out(abc, state_of, log):
    failing = Failing(log, "constructor")
    state = state_of(abc, {"B": failing})
    state.set_variable("b", True)
    state.drive()
    state.leave("done", lambda: None)
    failing.hooks = ()
    state.join(LoneBody())
    state.drive()
    assert state.behavior == "B"


def test_the_same_behavior_at_two_leaves_is_out_at_both(tree_of, state_of, log):
    tree = tree_of('<Priority name="R"><Leaf name="X" condition="a"/><Leaf name="Y"/></Priority>', "a",
                   maps='<Map node="X" target="B"/><Map node="Y" target="B"/>')  # fmt: skip
    state = state_of(tree, {"B": Failing(log, "OnHit")})
    state.drive()
    state.signal("OnHit")
    state.drive()
    state.set_variable("a", True)
    state.drive()
    assert log == [("constructor", "B"), ("OnHit", "B"), ("destructor", "B")]
    assert state.behavior is None


def test_a_signal_that_answers_itself_for_ever(abc, state_of, faults):
    class A(LeafBehavior):
        def Echo(self, ai):
            ai.signal("Echo")

    state = state_of(abc, {"A": A})
    state.drive()
    state.signal("Echo")
    state.drive()
    assert {type(error) for _, _, error in faults} == {RecursionError}
    assert state.behavior is None


@pytest.mark.parametrize("hook", ["constructor", "destructor", "OnHit"])
def test_control_flow_is_not_swallowed(abc, body, hook):
    class A(LeafBehavior):
        pass

    def stop(*_):
        raise KeyboardInterrupt

    A.signals = frozenset({"OnHit"})
    setattr(A, hook, stop)
    state = abc.state({"A": A, "B": LeafBehavior}, body=body)

    def live():
        state.drive()
        state.signal("OnHit")
        state.set_variable("b", True)
        state.drive()

    with pytest.raises(KeyboardInterrupt):
        live()


def test_the_trace_says_which_one_is_out(abc, log):
    kernel = Kernel()
    records = []
    kernel.trace.listen(records.append)
    body = LoneBody(kernel=kernel, report=lambda *fault: None)
    state = abc.state({"A": Failing(log, "constructor", name="A")}, body=body)
    state.drive()
    assert [(one.path, str(one.event), dict(one.detail)) for one in records] == [
        ("selection/R/A", "activate", {"behavior": "A"}),
        ("selection/R/A", "disabled", {"hook": "constructor"}),
        ("selection/R/A", "deactivate", {"reason": "its constructor raised"}),
    ]


def test_a_coroutine_without_anybody_to_step_it(abc, state_of, faults, log):
    class B(LeafBehavior):
        async def run(self, ai):
            log.append("ran")

    state = state_of(abc, {"B": B})
    state.set_variable("b", True)
    state.drive()
    state.drive()
    assert [(hook, type(error).__name__) for _, hook, error in faults] == [("run", "NotRunningError")]
    assert log == [("constructor", "A")]
